/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * trace_cut.c - "trace cut": a part of a trace.
 *
 * Of what stands before the part, everything is kept that decides what its records mean: files,
 * mappings, processes, groups, lasting advice. What only used pages or time is left out, so the
 * part begins with an empty memory. Times count from the last one before the part.
 */
#include "tools/trace_commands.h"
#include "tools/trace_copy.h"

static char *from_text, *to_text;
static gboolean as_text;

static const GOptionEntry options[] = {
	{ "from", 0, 0, G_OPTION_ARG_STRING, &from_text, "first record (they count from 0)", "OP" },
	{ "to", 0, 0, G_OPTION_ARG_STRING, &to_text, "record to stop before (default: to the end)",
	  "OP" },
	{ "text", 0, 0, G_OPTION_ARG_NONE, &as_text, "write trace text instead of native format",
	  NULL },
	{ 0 },
};

struct cut {
	struct trace_copy copy;
	uint64_t op, from, to;
	uint64_t time; /* the latest before the part */
	uint32_t thread;
	GArray *size; /* uint64_t: of each file so far */
	GHashTable *alive,
		*waited; /* threads; waited: alive, and somebody in the part waits for it */
};

static bool put(struct cut *c, struct rs_record r, GError **error)
{
	trace_copy_translate(&c->copy, &r, NULL);
	return rs_trace_put(c->copy.to, &r, NULL, error);
}

/* A write() before the part may have made its file longer. */
static bool keep_size(struct cut *c, const struct rs_record *r, GError **error)
{
	/* The count of RS_OP_TRUNCATE is 0. */
	uint64_t end = r->op == RS_OP_FILE ? r->value : (uint64_t)r->page + r->count;

	if (r->object >= c->size->len)
		g_array_set_size(c->size, r->object + 1);
	uint64_t *size = &g_array_index(c->size, uint64_t, r->object);
	if (r->op == RS_OP_WRITE && end <= *size)
		return true;
	*size = end;
	if (r->op != RS_OP_WRITE)
		return true;
	struct rs_record file = { .op = RS_OP_FILE, .object = r->object };
	file.value = end;
	return put(c, file, error);
}

static bool lasting_advice(const struct rs_record *r)
{
	switch (r->op == RS_OP_FADVISE ? RS_FADVISE_ADVICE(r->arg) : r->arg) {
	case RS_ADV_WILLNEED:
	case RS_ADV_DONTNEED:
	case RS_ADV_FREE:
	case RS_ADV_COLD:
	case RS_ADV_PAGEOUT:
		return false;
	default:
		return true;
	}
}

static bool kept_before(const struct rs_record *r)
{
	switch (r->op) {
	case RS_OP_LOAD:
	case RS_OP_STORE:
	case RS_OP_READ:
	case RS_OP_WRITE:
	case RS_OP_FSYNC:
	case RS_OP_MARK:
	case RS_OP_CPU:
	case RS_OP_SLEEP:
	case RS_OP_TIME:
	case RS_OP_WAIT:
		return false;
	case RS_OP_MADVISE:
	case RS_OP_FADVISE:
		return lasting_advice(r);
	default:
		return true;
	}
}

static bool cut_record(struct cut *c, const struct rs_batch *batch, uint32_t i, GError **error)
{
	const struct rs_record *r = &batch->records[i];
	bool inside = c->op++ >= c->from;

	if (r->op == RS_OP_THREAD)
		c->thread = r->object;
	if (r->op == RS_OP_EXIT) {
		g_hash_table_remove(c->waited, GUINT_TO_POINTER(c->thread));
		g_hash_table_remove(c->alive, GUINT_TO_POINTER(c->thread));
	}
	if (r->op == RS_OP_THREAD || r->op == RS_OP_FORK)
		g_hash_table_add(c->alive, GUINT_TO_POINTER(r->object));
	if (inside && r->op == RS_OP_WAIT &&
	    g_hash_table_contains(c->alive, GUINT_TO_POINTER(r->object)))
		g_hash_table_add(c->waited, GUINT_TO_POINTER(r->object));
	if (inside && r->op == RS_OP_TIME) {
		struct rs_record moved = *r;

		moved.value = r->value > c->time ? r->value - c->time : 0;
		return put(c, moved, error);
	}
	if (inside)
		return trace_copy_record(&c->copy, batch, i, error);
	if (r->op == RS_OP_TIME)
		c->time = MAX(c->time, r->value);
	if ((r->op == RS_OP_FILE || r->op == RS_OP_WRITE || r->op == RS_OP_TRUNCATE) &&
	    !keep_size(c, r, error))
		return false;
	return !kept_before(r) || trace_copy_record(&c->copy, batch, i, error);
}

static int by_number(gconstpointer a, gconstpointer b)
{
	guint x = GPOINTER_TO_UINT(a), y = GPOINTER_TO_UINT(b);

	return x < y ? -1 : x > y;
}

/* Threads that somebody in the part waits for, and that end behind it, end with it. */
static bool end_waited(struct cut *c, GError **error)
{
	g_autoptr(GList) threads = g_list_sort(g_hash_table_get_keys(c->waited), by_number);
	bool fine = true;

	for (GList *t = threads; fine && t; t = t->next)
		fine = put(c,
			   (struct rs_record){ .op = RS_OP_THREAD,
					       .object = GPOINTER_TO_UINT(t->data) },
			   error) &&
		       put(c, (struct rs_record){ .op = RS_OP_EXIT }, error);
	return fine;
}

static bool cut_all(struct cut *c, GError **error)
{
	struct rs_batch batch;
	bool fine = true;
	int r = 1;

	while (fine && c->op < c->to && (r = rs_trace_next(c->copy.from, &batch, error)) > 0) {
		trace_copy_provenance(&c->copy, false);
		for (uint32_t i = 0; fine && i < batch.nr_records && c->op < c->to; i++)
			fine = cut_record(c, &batch, i, error);
	}
	if (!fine || r < 0)
		return false;
	if (c->op <= c->from) {
		g_set_error(error, RS_ERROR, RS_ERROR_USAGE,
			    "--from %s is behind the end of the trace, which has %" G_GUINT64_FORMAT
			    " records",
			    from_text, c->op);
		return false;
	}
	return end_waited(c, error);
}

static int cut(struct cut *c, struct rs_trace *in, const char *target)
{
	GError *error = NULL;
	struct rs_trace_writer *out =
		rs_trace_create(target, as_text ? RS_TRACE_TEXT : RS_TRACE_NATIVE, &error);

	if (!out)
		return command_fail(error);
	trace_copy_init(&c->copy, in, out);
	c->size = g_array_new(FALSE, TRUE, sizeof(uint64_t));
	c->waited = g_hash_table_new(NULL, NULL);
	c->alive = g_hash_table_new(NULL, NULL);
	g_hash_table_add(c->alive, GUINT_TO_POINTER(0));
	bool fine = cut_all(c, &error);
	g_array_free(c->size, TRUE);
	g_hash_table_destroy(c->waited);
	g_hash_table_destroy(c->alive);
	trace_copy_done(&c->copy);
	if (!fine)
		rs_trace_writer_abort(out);
	else
		fine = rs_trace_writer_close(out, &error);
	return fine ? EXIT_FINE : command_fail(error);
}

static int run(int argc, char **argv)
{
	struct cut c = { .to = UINT64_MAX };
	GError *error = NULL;

	if (argc != 3)
		return command_usage("valid is: reclaimsim trace cut IN OUT [--from OP] [--to OP]");
	if (!trace_number("from", from_text, &c.from) || !trace_number("to", to_text, &c.to))
		return EXIT_BAD_USE;
	if (c.from >= c.to)
		return command_usage("--to must be behind --from");
	struct rs_trace *in = rs_trace_open(argv[1], &error);
	if (!in)
		return command_fail(error);
	int code = cut(&c, in, argv[2]);
	trace_warn_skipped(in, argv[1]);
	rs_trace_free(in);
	return code;
}

const struct rs_command trace_cut = {
	.name = "cut",
	.arguments = "IN OUT [--from OP] [--to OP]",
	.summary = "a part of a trace that is a valid trace again",
	.about = "Files, mappings, processes and lasting advice from before the part are kept; "
		 "accesses,\n"
		 "marks and times are not: the part begins with an empty memory.",
	.example = "  reclaimsim trace cut build.rst middle.rst --from 100000 --to 200000",
	.options = options,
	.run = run,
};
