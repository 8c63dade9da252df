/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * trace_merge.c - "trace merge": several traces become processes of one.
 *
 * Threads, processes, regions and marks of input number k get the prefix "k:". The inputs take
 * turns, or the one with the earliest time goes on; either way the simulator runs the threads side
 * by side by its own clock.
 */
#include "tools/trace_commands.h"
#include "tools/trace_copy.h"

#include <string.h>

static char *target, *by_text, *turn_text;
static gboolean share_files, as_text;

static const GOptionEntry options[] = {
	{ "output", 'o', 0, G_OPTION_ARG_FILENAME, &target, "trace to write", "OUT" },
	{ "by", 0, 0, G_OPTION_ARG_STRING, &by_text,
	  "turns (default), or time: of the \"time\" records", "ORDER" },
	{ "turn", 0, 0, G_OPTION_ARG_STRING, &turn_text, "records in a turn (default 64)", "N" },
	{ "share-files", 0, 0, G_OPTION_ARG_NONE, &share_files,
	  "files of the same name are the same (default: each input has its own)", NULL },
	{ "text", 0, 0, G_OPTION_ARG_NONE, &as_text, "write trace text instead of native format",
	  NULL },
	{ 0 },
};

struct input {
	struct rs_trace *trace;
	struct trace_copy copy;
	struct rs_batch batch;
	uint32_t at; /* next record of the batch */
	bool ended;
	uint64_t time;
	uint32_t thread;
	bool thread_alive;
	GHashTable *process_of; /* live thread -> process */
	char prefix[16];
};

struct merge {
	struct input *inputs;
	uint32_t nr, last;
	bool by_time;
	uint64_t turn;
	struct rs_trace_writer *out;
	GHashTable *size; /* file number of the writer -> its size, if files are shared */
};

static bool fetch(struct input *in, GError **error)
{
	while (!in->ended && in->at == in->batch.nr_records) {
		int r = rs_trace_next(in->trace, &in->batch, error);

		if (r < 0)
			return false;
		in->ended = r == 0;
		in->at = 0;
	}
	return true;
}

/* The input's thread goes on, unless it has exited. */
static bool switch_to(struct merge *m, struct input *in, GError **error)
{
	gpointer process = g_hash_table_lookup(in->process_of, GUINT_TO_POINTER(in->thread));
	struct rs_record r = { .op = RS_OP_THREAD,
			       .object = in->thread,
			       .arg = GPOINTER_TO_UINT(process) };

	if (!in->thread_alive)
		return true;
	trace_copy_translate(&in->copy, &r, NULL);
	return rs_trace_put(m->out, &r, NULL, error);
}

/* A shared file is defined again only to grow. */
static bool defines_nothing(struct merge *m, struct input *in, const struct rs_record *r)
{
	if (!share_files)
		return false;
	gpointer file = GUINT_TO_POINTER(trace_copy_number(&in->copy, RS_NAME_FILE, r->object));
	uint64_t size = GPOINTER_TO_SIZE(g_hash_table_lookup(m->size, file));
	uint64_t wanted = r->op == RS_OP_FILE ? r->value + 1 : (uint64_t)r->page + r->count + 1;
	if (wanted <= size)
		return r->op == RS_OP_FILE;
	g_hash_table_insert(m->size, file, GSIZE_TO_POINTER(wanted));
	return false;
}

static bool merge_record(struct merge *m, struct input *in, GError **error)
{
	const struct rs_record *r = &in->batch.records[in->at];
	gpointer thread = GUINT_TO_POINTER(r->object);

	if ((r->op == RS_OP_THREAD || r->op == RS_OP_FORK) &&
	    !g_hash_table_contains(in->process_of, thread))
		g_hash_table_insert(in->process_of, thread, GUINT_TO_POINTER((guint)r->arg));
	if (r->op == RS_OP_THREAD) {
		in->thread = r->object;
		in->thread_alive = true;
	}
	if (r->op == RS_OP_EXIT) {
		g_hash_table_remove(in->process_of, GUINT_TO_POINTER(in->thread));
		in->thread_alive = false;
	}
	if (r->op == RS_OP_TIME)
		in->time = r->value;
	if ((r->op == RS_OP_FILE || r->op == RS_OP_WRITE) && defines_nothing(m, in, r)) {
		in->at++;
		return true;
	}
	return trace_copy_record(&in->copy, &in->batch, in->at++, error);
}

/* Whose turn it is; nr = all have ended. */
static uint32_t next_input(const struct merge *m)
{
	uint32_t best = m->nr;

	for (uint32_t i = 1; i <= m->nr; i++) {
		uint32_t k = (m->last + i) % m->nr;

		if (m->inputs[k].ended)
			continue;
		if (!m->by_time)
			return k;
		if (best == m->nr || m->inputs[k].time < m->inputs[best].time)
			best = k;
	}
	return best;
}

static bool merge_turn(struct merge *m, uint32_t k, bool changed, GError **error)
{
	struct input *in = &m->inputs[k];

	if (changed && !switch_to(m, in, error))
		return false;
	m->last = k;
	for (uint64_t n = 0; n < m->turn && !in->ended; n++)
		if (!merge_record(m, in, error) || !fetch(in, error))
			return false;
	return true;
}

static bool merge_all(struct merge *m, GError **error)
{
	uint32_t k, last = m->nr;

	for (uint32_t i = 0; i < m->nr; i++)
		if (!fetch(&m->inputs[i], error))
			return false;
	for (m->last = m->nr - 1; (k = next_input(m)) < m->nr; last = k)
		if (!merge_turn(m, k, k != last, error))
			return false;
	return true;
}

static bool open_input(struct merge *m, uint32_t k, const char *path, GError **error)
{
	struct input *in = &m->inputs[k];

	in->trace = rs_trace_open(path, error);
	if (!in->trace)
		return false;
	g_snprintf(in->prefix, sizeof(in->prefix), "%u:", k + 1);
	trace_copy_init(&in->copy, in->trace, m->out);
	in->copy.prefix = in->prefix;
	in->copy.file_prefix = share_files ? NULL : in->prefix;
	in->process_of = g_hash_table_new(NULL, NULL);
	in->thread_alive = true;
	g_hash_table_insert(in->process_of, GUINT_TO_POINTER(0), GUINT_TO_POINTER(0));
	return true;
}

static bool merge(struct merge *m, char **paths, GError **error)
{
	bool fine = true;

	m->inputs = g_new0(struct input, m->nr);
	m->size = g_hash_table_new(NULL, NULL);
	for (uint32_t k = 0; fine && k < m->nr; k++)
		fine = open_input(m, k, paths[k], error);
	fine = fine && merge_all(m, error);
	for (uint32_t k = 0; k < m->nr && m->inputs[k].trace; k++) {
		trace_warn_skipped(m->inputs[k].trace, paths[k]);
		trace_copy_done(&m->inputs[k].copy);
		rs_trace_free(m->inputs[k].trace);
		g_hash_table_destroy(m->inputs[k].process_of);
	}
	g_hash_table_destroy(m->size);
	g_free(m->inputs);
	return fine;
}

static int run(int argc, char **argv)
{
	struct merge m = { .nr = argc - 1, .turn = 64 };
	GError *error = NULL;

	if (argc < 2 || !target)
		return command_usage("valid is: reclaimsim trace merge TRACE... -o OUT");
	if (by_text && strcmp(by_text, "turns") && strcmp(by_text, "time"))
		return command_usage("--by %s: valid are turns and time", by_text);
	m.by_time = by_text && !strcmp(by_text, "time");
	if (!trace_number("turn", turn_text, &m.turn))
		return EXIT_BAD_USE;
	if (!m.turn)
		return command_usage("--turn 0: valid is 1 and more");
	if (m.by_time)
		m.turn = 1;
	m.out = rs_trace_create(target, as_text ? RS_TRACE_TEXT : RS_TRACE_NATIVE, &error);
	if (!m.out)
		return command_fail(error);
	if (merge(&m, argv + 1, &error)) {
		if (rs_trace_writer_close(m.out, &error))
			return EXIT_FINE;
	} else {
		rs_trace_writer_abort(m.out);
	}
	return command_fail(error);
}

const struct rs_command trace_merge = {
	.name = "merge",
	.arguments = "TRACE... -o OUT",
	.summary = "several traces as processes that run side by side",
	.about = "Names of input number k get the prefix \"k:\". The simulator runs the processes "
		 "side by\n"
		 "side by its own clock; --by orders the records in the file.",
	.example = "  reclaimsim trace merge build.rst redis.rst -o both.rst",
	.options = options,
	.run = run,
};
