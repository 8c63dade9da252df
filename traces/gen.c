/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gen.c - which kind of description it is, told from its content, and the common part of every
 * generator's summary.
 */
#include "traces/gen.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define MAX_SPEC_SIZE (64u << 20)

const struct rs_generator rs_generators[] = {
	{ "mix",
	  "JSON: processes with phases of uniform, zipf, pareto, normal, hotset, scan, loop, "
	  "stride, chase and grow accesses" },
	{ "kernel-build",
	  "JSON: make -jN, compilers that share executables, libraries and headers" },
	{ "ycsb", "JSON: YCSB load and workloads A to F on a key-value server" },
	{ "app-switch", "JSON: a phone's apps that are launched and switched" },
	{ "launch-threads", "JSON: threads that map, touch and unmap small areas" },
	{ "fio", "a fio job file" },
	{ "memtier", "memtier_benchmark command lines, in a file or behind --" },
	{ NULL, NULL },
};

static const struct {
	const char *name;
	gen_json_fn *run;
} json_generators[] = { { "mix", gen_mix },
			{ "kernel-build", gen_kbuild },
			{ "ycsb", gen_ycsb },
			{ "app-switch", gen_apps },
			{ "launch-threads", gen_launch } };

static json_t *run_json(struct gen *g, const char *text, size_t size, const char *name)
{
	json_error_t where;
	json_t *root = json_loadb(text, size, JSON_REJECT_DUPLICATES, &where), *summary = NULL;
	struct gen_object o;
	const char *kind;

	if (!root) {
		gen_fail(g, RS_ERROR_INPUT, "%s:%d:%d: %s", name, where.line, where.column,
			 where.text);
		return NULL;
	}
	if (gen_object_init(&o, g, name, "", root)) {
		kind = gen_string(&o, "generator", "mix");
		gen_member(&o, "description");
		g->seed = gen_int(&o, "seed", 1, 0, INT64_MAX);
		if (g->options->seed_given)
			g->seed = g->options->seed;
		for (unsigned i = 0; i < G_N_ELEMENTS(json_generators); i++)
			if (!strcmp(kind, json_generators[i].name) && !gen_failed(g))
				summary = json_generators[i].run(g, &o);
		if (!summary && !gen_failed(g))
			gen_object_fail(&o, "generator",
					"unknown generator \"%s\"; valid are mix, kernel-build, "
					"ycsb, app-switch, launch-threads",
					kind);
	}
	gen_object_done(&o);
	json_decref(root);
	return summary;
}

static json_t *run_text(struct gen *g, const char *text, size_t size, const char *name)
{
	size_t at = 0;

	if (size >= 3 && !memcmp(text, "\xef\xbb\xbf", 3)) {
		text += 3;
		size -= 3;
	}
	while (at < size && g_ascii_isspace(text[at]))
		at++;
	if (at < size && text[at] == '{')
		return run_json(g, text, size, name);
	if (gen_memtier_probe(text, size))
		return gen_memtier(g, text, size, name);
	if (gen_fio_probe(text, size))
		return gen_fio(g, text, size, name);
	gen_fail(g, RS_ERROR_INPUT,
		 "%s: neither a JSON spec (begins with {), a fio job file (begins with a "
		 "[section]) nor a "
		 "memtier_benchmark command line",
		 name);
	return NULL;
}

static void add_counts(const struct gen *g, json_t *summary)
{
	const struct gen_counts *c = &g->counts;
	const struct {
		const char *key;
		uint64_t value;
	} rows[] = { { "trace_records", c->records },
		     { "processes", c->processes },
		     { "threads", c->threads },
		     { "forks", c->forks },
		     { "execs", c->execs },
		     { "load_pages", c->load_pages },
		     { "store_pages", c->store_pages },
		     { "read_pages", c->read_pages },
		     { "write_pages", c->write_pages },
		     { "distinct_file_pages", g->file_pages.nr },
		     { "distinct_mapped_pages", g->map_pages.nr } };

	for (unsigned i = 0; i < G_N_ELEMENTS(rows); i++)
		json_object_set_new(summary, rows[i].key, json_integer((json_int_t)rows[i].value));
}

static void gen_init(struct gen *g, const struct rs_generate_options *options,
		     struct rs_trace_writer *out)
{
	g->options = options;
	g->seed = options->seed_given ? options->seed : 1;
	g->out = out;
	g->warnings = g_string_new(NULL);
	gen_pages_init(&g->file_pages);
	gen_pages_init(&g->map_pages);
	for (int i = 0; i <= RS_NAME_PROCESS; i++)
		g->names[i] = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	/* Thread 0 of process 0 exists, both named "0". */
	g_hash_table_insert(g->names[RS_NAME_THREAD], g_strdup("0"), GUINT_TO_POINTER(1));
	g_hash_table_insert(g->names[RS_NAME_PROCESS], g_strdup("0"), GUINT_TO_POINTER(1));
	g->alive = true;
	g->counts.processes = g->counts.threads = 1;
	g->limit = GEN_MAX_RECORDS;
	g->memory_limit = gen_with_number(g, "max_memory", GEN_MAX_MEMORY, 0, UINT64_C(1) << 40);
	g->limit = gen_with_number(g, "max_records", GEN_MAX_RECORDS, 1, GEN_MAX_RECORDS);
}

static bool gen_finish(struct gen *g, json_t *summary, json_t **ret_summary, char **ret_warnings,
		       GError **error)
{
	bool ok = !g->error;

	for (int i = 0; i <= RS_NAME_PROCESS; i++)
		g_hash_table_unref(g->names[i]);
	if (ok && ret_summary) {
		add_counts(g, summary);
		*ret_summary = json_incref(summary);
	}
	json_decref(summary);
	gen_pages_done(&g->file_pages);
	gen_pages_done(&g->map_pages);
	if (ok && ret_warnings)
		*ret_warnings = g_string_free(g->warnings, FALSE);
	else
		g_string_free(g->warnings, TRUE);
	if (!ok)
		g_propagate_error(error, g->error);
	return ok;
}

bool rs_generate_text(const char *text, size_t size, const char *name,
		      const struct rs_generate_options *options, struct rs_trace_writer *out,
		      json_t **ret_summary, char **ret_warnings, GError **error)
{
	struct gen g = { 0 };
	json_t *summary = NULL;

	gen_init(&g, options, out);
	if (!gen_failed(&g))
		summary = run_text(&g, text, size, name);
	return gen_finish(&g, summary, ret_summary, ret_warnings, error);
}

/* A whole file or standard input, up to MAX_SPEC_SIZE. */
static GString *read_all(const char *path, GError **error)
{
	bool standard = !strcmp(path, "-");
	FILE *f = standard ? stdin : fopen(path, "rb");
	GString *s = g_string_new(NULL);
	char buffer[65536];
	size_t n = 0;

	if (f)
		while (s->len <= MAX_SPEC_SIZE && (n = fread(buffer, 1, sizeof(buffer), f)) > 0)
			g_string_append_len(s, buffer, (gssize)n);
	if (f && !ferror(f) && s->len <= MAX_SPEC_SIZE) {
		if (!standard)
			fclose(f);
		return s;
	}
	if (f && !ferror(f))
		g_set_error(error, RS_ERROR, RS_ERROR_INPUT,
			    "%s: a description of more than 64 MiB", path);
	else
		g_set_error(error, RS_ERROR, RS_ERROR_INPUT, "%s: %s", path, g_strerror(errno));
	if (f && !standard)
		fclose(f);
	g_string_free(s, TRUE);
	return NULL;
}

bool rs_generate(const struct rs_generate_options *options, struct rs_trace_writer *out,
		 json_t **ret_summary, char **ret_warnings, GError **error)
{
	GString *text;
	bool ok;

	if (!options->path) {
		struct gen g = { 0 };
		json_t *summary = NULL;

		gen_init(&g, options, out);
		if (!gen_failed(&g))
			summary = gen_memtier_words(&g, options->words);
		return gen_finish(&g, summary, ret_summary, ret_warnings, error);
	}
	text = read_all(options->path, error);
	if (!text)
		return false;
	ok = rs_generate_text(text->str, text->len, options->path, options, out, ret_summary,
			      ret_warnings, error);
	g_string_free(text, TRUE);
	return ok;
}
