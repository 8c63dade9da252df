/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * trace_cat.c - "trace cat": records as trace text. With a choice of records the output need not be
 * a valid trace: "trace cut" makes one.
 */
#include "tools/trace_commands.h"

#include <errno.h>
#include <string.h>

static char *thread_name, *process_name, *file_name, *region_name, *from_text, *to_text, *from_time,
	*to_time;

static const GOptionEntry options[] = {
	{ "thread", 't', 0, G_OPTION_ARG_STRING, &thread_name, "only records of this thread",
	  "NAME" },
	{ "process", 'p', 0, G_OPTION_ARG_STRING, &process_name, "only records of this process",
	  "NAME" },
	{ "file", 'f', 0, G_OPTION_ARG_STRING, &file_name, "only records about this file", "NAME" },
	{ "region", 'r', 0, G_OPTION_ARG_STRING, &region_name, "only records about this region",
	  "NAME" },
	{ "from", 0, 0, G_OPTION_ARG_STRING, &from_text, "first record (they count from 0)", "OP" },
	{ "to", 0, 0, G_OPTION_ARG_STRING, &to_text, "record to stop before", "OP" },
	{ "from-time", 0, 0, G_OPTION_ARG_STRING, &from_time,
	  "from this time on (\"time\" records)", "NS" },
	{ "to-time", 0, 0, G_OPTION_ARG_STRING, &to_time, "until before this time", "NS" },
	{ 0 },
};

struct cat {
	struct rs_trace *trace;
	uint64_t from, to, from_time, to_time;
	uint64_t op, now;
	uint32_t thread;
	GHashTable *process_of; /* live thread -> process */
	GString *out;
};

static bool named(const struct cat *c, enum rs_name_kind kind, uint32_t id, const char *wanted)
{
	const char *name = rs_trace_name(c->trace, kind, id);

	return !wanted || (name && !strcmp(name, wanted));
}

static uint32_t process_of(const struct cat *c, uint32_t thread)
{
	return GPOINTER_TO_UINT(g_hash_table_lookup(c->process_of, GUINT_TO_POINTER(thread)));
}

/* Whether the record is one about the file: by number, or a mapping of it. */
static bool about_file(const struct cat *c, const struct rs_record *r, const struct rs_map *map)
{
	if (!file_name)
		return true;
	if (map)
		return map->file != RS_MAP_FILE_NONE &&
		       named(c, RS_NAME_FILE, map->file, file_name);
	return rs_record_object_kind(r->op) == RS_NAME_FILE &&
	       named(c, RS_NAME_FILE, r->object, file_name);
}

static bool wanted(const struct cat *c, const struct rs_record *r, const struct rs_map *map)
{
	if (c->op < c->from || c->op >= c->to || c->now < c->from_time || c->now >= c->to_time)
		return false;
	if (!named(c, RS_NAME_THREAD, c->thread, thread_name) ||
	    !named(c, RS_NAME_PROCESS, process_of(c, c->thread), process_name))
		return false;
	if (region_name && (rs_record_object_kind(r->op) != RS_NAME_REGION ||
			    !named(c, RS_NAME_REGION, r->object, region_name)))
		return false;
	return about_file(c, r, map);
}

static bool flush(struct cat *c, GError **error)
{
	if (fwrite(c->out->str, 1, c->out->len, stdout) != c->out->len) {
		g_set_error(error, RS_ERROR, RS_ERROR_OUTPUT, "cannot write to standard output: %s",
			    g_strerror(errno));
		return false;
	}
	g_string_truncate(c->out, 0);
	return true;
}

static void cat_record(struct cat *c, const struct rs_batch *batch, uint32_t i)
{
	const struct rs_record *r = &batch->records[i];
	const struct rs_map *map = r->op == RS_OP_MMAP ? &batch->maps[r->value] : NULL;
	gpointer thread = GUINT_TO_POINTER(r->object);
	bool begins = (r->op == RS_OP_THREAD || r->op == RS_OP_FORK) &&
		      !g_hash_table_contains(c->process_of, thread);

	if (begins)
		g_hash_table_insert(c->process_of, thread, GUINT_TO_POINTER((guint)r->arg));
	if (r->op == RS_OP_THREAD)
		c->thread = r->object;
	if (r->op == RS_OP_TIME)
		c->now = r->value;
	if (wanted(c, r, map))
		rs_record_print(c->out, c->trace, r, map, begins);
	if (r->op == RS_OP_EXIT)
		g_hash_table_remove(c->process_of, GUINT_TO_POINTER(c->thread));
	c->op++;
}

static bool cat_all(struct cat *c, GError **error)
{
	struct rs_batch batch;
	int r = 1;

	while (c->op < c->to && (r = rs_trace_next(c->trace, &batch, error)) > 0) {
		const char *key;

		for (uint32_t i = 0; !c->op && i < rs_trace_nr_head_provenance(c->trace); i++) {
			key = rs_trace_provenance_key(c->trace, i);
			rs_provenance_print(c->out, key, rs_trace_provenance(c->trace, key));
		}
		for (uint32_t i = 0; i < batch.nr_records; i++)
			cat_record(c, &batch, i);
		if (!flush(c, error))
			return false;
	}
	return r >= 0;
}

static int run(int argc, char **argv)
{
	struct cat c = { .to = UINT64_MAX, .to_time = UINT64_MAX };
	GError *error = NULL;

	if (argc != 2)
		return command_usage("valid is: reclaimsim trace cat TRACE [OPTION...]");
	if (!trace_number("from", from_text, &c.from) || !trace_number("to", to_text, &c.to) ||
	    !trace_number("from-time", from_time, &c.from_time) ||
	    !trace_number("to-time", to_time, &c.to_time))
		return EXIT_BAD_USE;
	c.trace = rs_trace_open(argv[1], &error);
	if (!c.trace)
		return command_fail(error);
	c.process_of = g_hash_table_new(NULL, NULL);
	g_hash_table_insert(c.process_of, GUINT_TO_POINTER(0), GUINT_TO_POINTER(0));
	c.out = g_string_new(NULL);
	const char *key;
	bool fine = cat_all(&c, &error);
	if (fine && c.op < c.to) /* the whole trace was read */
		for (uint32_t i = rs_trace_nr_head_provenance(c.trace);
		     (key = rs_trace_provenance_key(c.trace, i)); i++)
			rs_provenance_print(c.out, key, rs_trace_provenance(c.trace, key));
	fine = fine && flush(&c, &error);
	trace_warn_skipped(c.trace, argv[1]);
	rs_trace_free(c.trace);
	g_hash_table_destroy(c.process_of);
	g_string_free(c.out, TRUE);
	return fine ? EXIT_FINE : command_fail(error);
}

const struct rs_command trace_cat = {
	.name = "cat",
	.arguments = "TRACE [OPTION...]",
	.summary = "print records as trace text, all or some",
	.about = "Records that are chosen by thread, file, region or time need not be a valid "
		 "trace by\n"
		 "themselves: for that there is \"trace cut\".",
	.example = "  reclaimsim trace cat build.rst --file /usr/include/stdio.h\n"
		   "  reclaimsim trace cat build.rst --from 1000 --to 1020",
	.options = options,
	.run = run,
};
