/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * trace_scale.c - "trace scale": a smaller trace that behaves like the large one in a memory that
 * is smaller by the same factor.
 *
 * Of F neighbouring pages one is kept, with all its accesses, and the pages that are left move
 * together: page p becomes p / F. So hot pages stay hot, runs stay runs, and reuse distances
 * shrink by F, with F times fewer accesses. Times and computing stay as they are.
 */
#include "tools/trace_commands.h"
#include "tools/trace_copy.h"

#include <string.h>

#define UNIT UINT64_C(1000) /* factors have three decimals */

static char *factor_text;
static gboolean as_text;

static const GOptionEntry options[] = {
	{ "factor", 'f', 0, G_OPTION_ARG_STRING, &factor_text,
	  "how many times smaller: 1 to 1000000", "F" },
	{ "text", 0, 0, G_OPTION_ARG_NONE, &as_text, "write trace text instead of native format",
	  NULL },
	{ 0 },
};

struct scale {
	struct trace_copy copy;
	uint64_t factor; /* in 1/UNIT */
	GArray *size;	 /* uint64_t: of each file so far, in the large trace */
};

/* "2", "2.5" or "2.125" in thousandths. */
static bool parse_factor(const char *text, uint64_t *ret)
{
	uint64_t n = 0;
	int decimals = -1;

	for (; *text; text++) {
		if (*text == '.' && decimals < 0) {
			decimals = 0;
			continue;
		}
		if (!g_ascii_isdigit(*text) || decimals == 3 || n > UINT64_C(1000000) * UNIT)
			return false;
		n = n * 10 + (*text - '0');
		decimals += decimals >= 0;
	}
	for (int i = MAX(decimals, 0); i < 3; i++)
		n *= 10;
	*ret = n;
	return n >= UNIT && n <= UINT64_C(1000000) * UNIT;
}

static uint64_t down(const struct scale *s, uint64_t pages)
{
	return pages * UNIT / s->factor;
}

static uint64_t up(const struct scale *s, uint64_t pages)
{
	return (pages * UNIT + s->factor - 1) / s->factor;
}

static bool put(struct scale *s, struct rs_record r, const struct rs_map *map, GError **error)
{
	struct rs_map own;

	if (map)
		own = *map;
	trace_copy_translate(&s->copy, &r, map ? &own : NULL);
	return rs_trace_put(s->copy.to, &r, map ? &own : NULL, error);
}

/* Sizes are rounded up, written pages down: a file that a write() made longer is told its size. */
static bool grow_file(struct scale *s, uint32_t file, uint64_t end, GError **error)
{
	struct rs_record r = { .op = RS_OP_FILE, .object = file };

	if (file >= s->size->len)
		g_array_set_size(s->size, file + 1);
	uint64_t *size = &g_array_index(s->size, uint64_t, file);
	if (end <= *size)
		return true;
	r.value = up(s, end);
	bool grows = r.value > up(s, *size);
	*size = end;
	return !grows || put(s, r, NULL, error);
}

static bool scale_file(struct scale *s, struct rs_record r, GError **error)
{
	if (r.object >= s->size->len)
		g_array_set_size(s->size, r.object + 1);
	g_array_index(s->size, uint64_t, r.object) = r.op == RS_OP_FILE ? r.value : r.page;
	if (r.op == RS_OP_FILE)
		r.value = up(s, r.value);
	else
		r.page = up(s, r.page);
	return put(s, r, NULL, error);
}

static bool scale_map(struct scale *s, const struct rs_record *r, struct rs_map map, GError **error)
{
	map.pages = MAX(down(s, map.pages), 1);
	map.pgoff = down(s, map.pgoff);
	map.address = 0; /* regions have other sizes: their places would overlap or lie apart */
	return put(s, *r, &map, error);
}

static bool scale_pages(struct scale *s, struct rs_record r, GError **error)
{
	uint64_t first = down(s, r.page), end = down(s, (uint64_t)r.page + r.count);

	if (r.op == RS_OP_WRITE && !grow_file(s, r.object, (uint64_t)r.page + r.count, error))
		return false;
	if (!r.count) /* all pages */
		return put(s, r, NULL, error);
	if (first == end)
		return true;
	r.page = first;
	r.count = end - first;
	return put(s, r, NULL, error);
}

static bool scale_record(struct scale *s, const struct rs_batch *batch, uint32_t i, GError **error)
{
	const struct rs_record *r = &batch->records[i];

	switch (r->op) {
	case RS_OP_LOAD:
	case RS_OP_STORE:
	case RS_OP_READ:
	case RS_OP_WRITE:
	case RS_OP_MUNMAP:
	case RS_OP_MPROTECT:
	case RS_OP_MADVISE:
	case RS_OP_MLOCK:
	case RS_OP_FADVISE:
		return scale_pages(s, *r, error);
	case RS_OP_FILE:
	case RS_OP_TRUNCATE:
		return scale_file(s, *r, error);
	case RS_OP_MMAP:
		return scale_map(s, r, batch->maps[r->value], error);
	default:
		return put(s, *r, NULL, error);
	}
}

static bool scale_all(struct scale *s, GError **error)
{
	struct rs_batch batch;
	bool fine = true;
	int r = 0;

	rs_trace_set_provenance(s->copy.to, "scale", factor_text);
	while (fine && (r = rs_trace_next(s->copy.from, &batch, error)) > 0) {
		trace_copy_provenance(&s->copy, false);
		for (uint32_t i = 0; fine && i < batch.nr_records; i++)
			fine = scale_record(s, &batch, i, error);
	}
	return fine && r == 0;
}

static int run(int argc, char **argv)
{
	struct scale s = { 0 };
	GError *error = NULL;

	if (argc != 3 || !factor_text)
		return command_usage("valid is: reclaimsim trace scale IN OUT --factor F");
	if (!parse_factor(factor_text, &s.factor))
		return command_usage(
			"--factor %s: valid are 1 to 1000000, with up to three decimals",
			factor_text);
	struct rs_trace *in = rs_trace_open(argv[1], &error);
	if (!in)
		return command_fail(error);
	struct rs_trace_writer *out =
		rs_trace_create(argv[2], as_text ? RS_TRACE_TEXT : RS_TRACE_NATIVE, &error);
	bool fine = out;
	if (fine) {
		trace_copy_init(&s.copy, in, out);
		s.size = g_array_new(FALSE, TRUE, sizeof(uint64_t));
		fine = scale_all(&s, &error);
		g_array_free(s.size, TRUE);
		trace_copy_done(&s.copy);
		trace_warn_skipped(in, argv[1]);
		if (!fine)
			rs_trace_writer_abort(out);
		else
			fine = rs_trace_writer_close(out, &error);
	}
	rs_trace_free(in);
	return fine ? EXIT_FINE : command_fail(error);
}

const struct rs_command trace_scale = {
	.name = "scale",
	.arguments = "IN OUT --factor F",
	.summary = "the same behaviour with fewer pages, for a smaller memory",
	.about = "Keeps one of F neighbouring pages with all its accesses. Shrink memory.max by F, "
		 "too.\n"
		 "Addresses given by hand (@ADDRESS) are dropped.",
	.example = "  reclaimsim trace scale big.rst small.rst --factor 8",
	.options = options,
	.run = run,
};
