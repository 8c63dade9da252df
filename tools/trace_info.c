/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * trace_info.c - "trace info": what a trace holds, as text or JSON.
 */
#include <reclaimsim/trace_stats.h>

#include <jansson.h>
#include <string.h>

#include "tools/table.h"
#include "tools/trace_commands.h"

static char *sample_text;
static gboolean as_json, all_objects;

static const GOptionEntry options[] = {
	{ "json", 0, 0, G_OPTION_ARG_NONE, &as_json, "print JSON", NULL },
	{ "sample", 0, 0, G_OPTION_ARG_STRING, &sample_text,
	  "reuse distances of one of N pages only (for big traces)", "N" },
	{ "all", 'a', 0, G_OPTION_ARG_NONE, &all_objects, "list all regions, files and processes",
	  NULL },
	{ 0 },
};

#define LISTED 12 /* objects in a list without --all */

static const char *const op_names[RS_NR_OPS] = {
	[RS_OP_LOAD] = "load",	       [RS_OP_STORE] = "store",	      [RS_OP_READ] = "read",
	[RS_OP_WRITE] = "write",       [RS_OP_FILE] = "file",	      [RS_OP_MMAP] = "mmap",
	[RS_OP_MUNMAP] = "munmap",     [RS_OP_MPROTECT] = "mprotect", [RS_OP_MADVISE] = "madvise",
	[RS_OP_MLOCK] = "mlock",       [RS_OP_FADVISE] = "fadvise",   [RS_OP_FSYNC] = "fsync",
	[RS_OP_TRUNCATE] = "truncate", [RS_OP_MARK] = "mark",	      [RS_OP_THREAD] = "thread",
	[RS_OP_FORK] = "fork",	       [RS_OP_EXEC] = "exec",	      [RS_OP_EXIT] = "exit",
	[RS_OP_MEMCG] = "memcg",       [RS_OP_CPU] = "cpu",	      [RS_OP_SLEEP] = "sleep",
	[RS_OP_TIME] = "time",	       [RS_OP_MBIND] = "mbind",	      [RS_OP_WAIT] = "wait",
	[RS_OP_OPEN] = "open",
};

/* The sizes at which the curve is told: eight to a doubling, up to the whole footprint. */
static GArray *curve_sizes(const struct rs_trace_stats *s)
{
	GArray *sizes = g_array_new(FALSE, FALSE, sizeof(uint64_t));
	uint64_t last = (uint64_t)s->distances->len * s->sample;

	for (uint64_t base = 1; base < last; base *= 2)
		for (uint64_t j = 0; j < MIN(base, 8); j++) {
			uint64_t size = base + base * j / MIN(base, 8);

			if (size < last)
				g_array_append_val(sizes, size);
		}
	if (last)
		g_array_append_val(sizes, last);
	return sizes;
}

static double ratio(const struct rs_trace_stats *s, uint64_t misses)
{
	return s->touches ? (double)misses / s->touches : 0;
}

/* ---- JSON ---- */

static json_t *count_json(uint64_t n)
{
	return json_integer((json_int_t)n);
}

/* Names are bytes: what is no UTF-8 is shown with replacement characters. */
static json_t *name_json(const char *name)
{
	g_autofree char *valid = g_utf8_make_valid(name ? name : "", -1);

	return json_string(valid);
}

static json_t *use_json(const char *name, const struct rs_trace_use *u, bool with_pages)
{
	json_t *o = json_object();

	if (name)
		json_object_set_new(o, "name", name_json(name));
	json_object_set_new(o, "loads", count_json(u->loads));
	json_object_set_new(o, "stores", count_json(u->stores));
	json_object_set_new(o, "read_calls", count_json(u->read_calls));
	json_object_set_new(o, "read_pages", count_json(u->read_pages));
	json_object_set_new(o, "write_calls", count_json(u->write_calls));
	json_object_set_new(o, "written_pages", count_json(u->written_pages));
	if (with_pages)
		json_object_set_new(o, "distinct_pages", count_json(u->pages));
	return o;
}

static json_t *uses_json(const struct rs_trace *t, enum rs_name_kind kind, const GArray *uses,
			 bool with_pages)
{
	json_t *list = json_array();

	for (uint32_t i = 0; i < uses->len; i++)
		json_array_append_new(list, use_json(rs_trace_name(t, kind, i),
						     &g_array_index(uses, struct rs_trace_use, i),
						     with_pages));
	return list;
}

static json_t *records_json(const struct rs_trace_stats *s)
{
	json_t *o = json_object();

	for (int op = 0; op < RS_NR_OPS; op++)
		if (s->records[op])
			json_object_set_new(o, op_names[op], count_json(s->records[op]));
	return o;
}

static json_t *marks_json(const struct rs_trace *t, const struct rs_trace_stats *s)
{
	json_t *list = json_array();

	for (uint32_t i = 0; i < s->marks->len; i++) {
		const struct rs_trace_mark *m = &g_array_index(s->marks, struct rs_trace_mark, i);
		json_t *o = json_object();

		json_object_set_new(o, "name", name_json(rs_trace_name(t, RS_NAME_MARK, m->name)));
		json_object_set_new(o, "op", count_json(m->op));
		json_array_append_new(list, o);
	}
	return list;
}

static json_t *provenance_json(const struct rs_trace *t)
{
	json_t *o = json_object();
	const char *key;

	for (uint32_t i = 0; (key = rs_trace_provenance_key(t, i)); i++) {
		g_autofree char *valid = g_utf8_make_valid(key, -1);

		json_object_set_new(o, valid, name_json(rs_trace_provenance(t, key)));
	}
	return o;
}

static uint64_t at(const GArray *counts, uint64_t i)
{
	return i < counts->len ? g_array_index(counts, uint64_t, i) : 0;
}

/* Touches at distances from..to-1, both kinds. */
static uint64_t touches_between(const struct rs_trace_stats *s, uint64_t from, uint64_t to)
{
	uint64_t n = 0, end = MIN(to, MAX(s->distances->len, s->free_distances->len));

	for (uint64_t d = from; d < end; d++)
		n += at(s->distances, d) + at(s->free_distances, d);
	return n;
}

static json_t *histogram_json(const struct rs_trace_stats *s)
{
	json_t *list = json_array();
	uint64_t length = MAX(s->distances->len, s->free_distances->len);

	for (uint64_t from = 0, to = 1; from < length; from = to, to *= 2) {
		json_t *o = json_object();

		json_object_set_new(o, "from", count_json(from * s->sample));
		json_object_set_new(o, "below", count_json(to * s->sample));
		json_object_set_new(o, "touches", count_json(touches_between(s, from, to)));
		json_array_append_new(list, o);
	}
	return list;
}

static json_t *curve_json(const struct rs_trace_stats *s)
{
	json_t *list = json_array();
	GArray *sizes = curve_sizes(s);

	for (uint32_t i = 0; i < sizes->len; i++) {
		uint64_t size = g_array_index(sizes, uint64_t, i),
			 misses = rs_trace_lru_misses(s, size);
		json_t *o = json_object();

		json_object_set_new(o, "pages", count_json(size));
		json_object_set_new(o, "misses", count_json(misses));
		json_object_set_new(o, "ratio", json_real(ratio(s, misses)));
		json_array_append_new(list, o);
	}
	g_array_free(sizes, TRUE);
	return list;
}

static json_t *reuse_json(const struct rs_trace_stats *s)
{
	json_t *o = json_object();

	json_object_set_new(o, "sample", count_json(s->sample));
	json_object_set_new(o, "touches", count_json(s->touches));
	json_object_set_new(o, "cold_misses", count_json(s->cold_misses));
	json_object_set_new(o, "first_touches", count_json(s->first_touches));
	json_object_set_new(o, "histogram", histogram_json(s));
	return o;
}

static void print_json(const char *path, const struct rs_trace *t, const struct rs_trace_stats *s)
{
	json_t *o = json_object();

	json_object_set_new(o, "schema", json_string("reclaimsim.trace-info/1"));
	json_object_set_new(o, "trace", name_json(path));
	json_object_set_new(o, "format", json_string(rs_trace_is_native(t) ? "native" : "text"));
	json_object_set_new(o, "digest", json_string(rs_trace_digest(t)));
	json_object_set_new(o, "provenance", provenance_json(t));
	json_object_set_new(o, "records", count_json(s->nr_records));
	json_object_set_new(o, "records_by_kind", records_json(s));
	json_object_set_new(o, "accesses", use_json(NULL, &s->all, true));
	json_object_set_new(o, "anon_pages", count_json(s->anon_pages));
	json_object_set_new(o, "file_pages", count_json(s->file_pages));
	json_object_set_new(o, "zero_page_loads", count_json(s->zero_loads));
	json_object_set_new(o, "threads", count_json(s->nr_threads));
	json_object_set_new(o, "time_ns", count_json(s->time_ns));
	json_object_set_new(o, "processes", uses_json(t, RS_NAME_PROCESS, s->processes, false));
	json_object_set_new(o, "regions", uses_json(t, RS_NAME_REGION, s->regions, true));
	json_object_set_new(o, "files", uses_json(t, RS_NAME_FILE, s->files, true));
	json_object_set_new(o, "marks", marks_json(t, s));
	json_object_set_new(o, "reuse", reuse_json(s));
	json_object_set_new(o, "lru", curve_json(s));
	char *text = json_dumps(o, JSON_INDENT(1) | JSON_REAL_PRECISION(6));
	puts(text);
	free(text);
	json_decref(o);
}

/* ---- text ---- */

static void add_count(struct table *table, uint64_t n)
{
	table_add(table, format_count((int64_t)n));
}

static void print_uses(const char *head, const struct rs_trace *t, enum rs_name_kind kind,
		       const GArray *uses, bool with_pages)
{
	const char *const heads[] = { head,	    "loads",	     "stores",
				      "pages read", "pages written", "distinct" };
	struct table *table = table_new(with_pages ? 6 : 5);
	uint32_t nr = all_objects ? uses->len : MIN(uses->len, LISTED);

	for (int i = 0; i < (with_pages ? 6 : 5); i++)
		table_add(table, g_strdup(heads[i]));
	for (uint32_t i = 0; i < nr; i++) {
		const struct rs_trace_use *u = &g_array_index(uses, struct rs_trace_use, i);
		const char *name = rs_trace_name(t, kind, i);

		table_add(table, g_strescape(name ? name : "", NULL));
		add_count(table, u->loads);
		add_count(table, u->stores);
		add_count(table, u->read_pages);
		add_count(table, u->written_pages);
		if (with_pages)
			add_count(table, u->pages);
	}
	if (uses->len) {
		putchar('\n');
		table_print(table, TABLE_TEXT, stdout);
	}
	if (nr < uses->len)
		printf("... and %u more (--all)\n", uses->len - nr);
	table_free(table);
}

static void print_curve(const struct rs_trace_stats *s)
{
	struct table *table = table_new(3);
	uint64_t last = (uint64_t)s->distances->len * s->sample;

	table_add(table, g_strdup("LRU memory, pages"));
	table_add(table, g_strdup("demand misses"));
	table_add(table, g_strdup("of touches"));
	for (uint64_t size = MIN(16, last), done = 0; last && !done; size *= 2) {
		size = MIN(size, last);
		done = size == last;
		uint64_t misses = rs_trace_lru_misses(s, size);

		table_add(table, format_count((int64_t)size));
		add_count(table, misses);
		table_add(table, g_strdup_printf("%.4f", ratio(s, misses)));
	}
	putchar('\n');
	table_print(table, TABLE_TEXT, stdout);
	table_free(table);
	if (s->sample > 1)
		printf("estimated from one of %u pages\n", s->sample);
}

static void print_text(const struct rs_trace *t, const struct rs_trace_stats *s)
{
	const char *key;

	printf("format     %s\ndigest     %s\n", rs_trace_is_native(t) ? "native" : "text",
	       rs_trace_digest(t));
	for (uint32_t i = 0; (key = rs_trace_provenance_key(t, i)); i++) {
		g_autofree char *k = g_strescape(key, NULL);
		g_autofree char *v = g_strescape(rs_trace_provenance(t, key), NULL);

		printf("%-10s %s\n", k, v);
	}
	printf("records   ");
	for (int op = 0; op < RS_NR_OPS; op++)
		if (s->records[op])
			printf(" %s %" G_GUINT64_FORMAT, op_names[op], s->records[op]);
	printf("\nfootprint  %" G_GUINT64_FORMAT " pages: %" G_GUINT64_FORMAT
	       " anonymous, %" G_GUINT64_FORMAT " of files\n",
	       s->all.pages, s->anon_pages, s->file_pages);
	printf("threads    %u\n", s->nr_threads);
	for (uint32_t i = 0; i < s->marks->len; i++) {
		const struct rs_trace_mark *m = &g_array_index(s->marks, struct rs_trace_mark, i);
		g_autofree char *name = g_strescape(rs_trace_name(t, RS_NAME_MARK, m->name), NULL);

		printf("mark       %s at %" G_GUINT64_FORMAT "\n", name, m->op);
	}
	print_uses("process", t, RS_NAME_PROCESS, s->processes, false);
	print_uses("region", t, RS_NAME_REGION, s->regions, true);
	print_uses("file", t, RS_NAME_FILE, s->files, true);
	print_curve(s);
}

static int run(int argc, char **argv)
{
	struct rs_trace_stats stats;
	uint64_t sample = 1;
	GError *error = NULL;

	if (argc != 2)
		return command_usage("valid is: reclaimsim trace info TRACE [--json] [--sample N]");
	if (!trace_number("sample", sample_text, &sample))
		return EXIT_BAD_USE;
	if (!sample || sample > 1000000)
		return command_usage("--sample %s: valid are 1 to 1000000", sample_text);
	struct rs_trace *t = rs_trace_open(argv[1], &error);
	if (!t || !rs_trace_stats(t, sample, &stats, &error)) {
		rs_trace_free(t);
		return command_fail(error);
	}
	trace_warn_skipped(t, argv[1]);
	if (as_json)
		print_json(argv[1], t, &stats);
	else
		print_text(t, &stats);
	rs_trace_stats_clear(&stats);
	rs_trace_free(t);
	return EXIT_FINE;
}

const struct rs_command trace_info = {
	.name = "info",
	.arguments = "TRACE [--json] [--sample N]",
	.summary = "what a trace holds: records, footprint, miss-ratio curve",
	.about = "The curve tells the demand misses of an LRU memory of each size: pages read from "
		 "a file\n"
		 "or from swap. First touches of anonymous pages and whole-page writes cost "
		 "nothing.",
	.example = "  reclaimsim trace info build.rst\n"
		   "  reclaimsim trace info big.rst --sample 100 --json",
	.options = options,
	.run = run,
};
