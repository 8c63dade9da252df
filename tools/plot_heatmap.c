/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * plot_heatmap.c - accesses of a trace by page and by progress, as users of DAMON know it.
 *
 * Regions and files are stacked in the order in which the trace names them; the time axis is the
 * number of accesses so far, since a trace need not have times.
 */
#include "tools/plots.h"

#include <math.h>
#include <reclaimsim/sim.h>
#include <string.h>

#define COLUMNS 300u
#define ROWS 200u
/* Objects that get a label need this share of the height. */
#define LABEL_SHARE 0.04
#define MAX_OBJECTS (1u << 20)

/* A region or a file on the address axis. */
struct object {
	bool file;
	uint32_t id;
	uint64_t base, pages;
	char *name;
};

struct heat {
	GArray *objects;    /* struct object */
	GHashTable *by_key; /* file << 32 | id -> place + 1 */
	uint64_t pages, accesses;
	uint64_t *cells; /* second pass: [row][column] */
};

static struct object *find_object(struct heat *heat, bool file, uint32_t id)
{
	uint64_t key = (uint64_t)file << 32 | id;
	guint place = GPOINTER_TO_UINT(g_hash_table_lookup(heat->by_key, &key));

	return place ? &g_array_index(heat->objects, struct object, place - 1) : NULL;
}

static void grow_object(struct heat *heat, const struct rs_trace *trace, bool file, uint32_t id,
			uint64_t pages)
{
	struct object *object = find_object(heat, file, id);

	if (!object && heat->objects->len < MAX_OBJECTS) {
		struct object fresh = { .file = file, .id = id };
		const char *name = rs_trace_name(trace, file ? RS_NAME_FILE : RS_NAME_REGION, id);
		uint64_t *key = g_new(uint64_t, 1);

		*key = (uint64_t)file << 32 | id;
		fresh.name = g_strdup(name ? name : "?");
		g_array_append_val(heat->objects, fresh);
		g_hash_table_insert(heat->by_key, key, GUINT_TO_POINTER(heat->objects->len));
		object = &g_array_index(heat->objects, struct object, heat->objects->len - 1);
	}
	if (object)
		object->pages = MAX(object->pages, pages);
}

static bool is_call(const struct rs_record *r)
{
	return r->op == RS_OP_READ || r->op == RS_OP_WRITE;
}

static bool is_access(const struct rs_record *r)
{
	return is_call(r) || r->op == RS_OP_LOAD || r->op == RS_OP_STORE;
}

/* First pass: how large everything is. */
static void measure(struct heat *heat, const struct rs_trace *trace, const struct rs_batch *batch)
{
	for (uint32_t i = 0; i < batch->nr_records; i++) {
		const struct rs_record *r = &batch->records[i];

		if (!is_access(r))
			continue;
		grow_object(heat, trace, is_call(r), r->object, (uint64_t)r->page + r->count);
		heat->accesses += r->count;
	}
}

/* Second pass: count. A record's pages are spread over rows in one go. */
static void count(struct heat *heat, const struct rs_batch *batch, uint64_t *at)
{
	for (uint32_t i = 0; i < batch->nr_records; i++) {
		const struct rs_record *r = &batch->records[i];
		const struct object *object;

		if (!is_access(r))
			continue;
		object = find_object(heat, is_call(r), r->object);
		for (uint64_t n = 0; object && n < r->count; n++) {
			double row =
				(double)(object->base + r->page + n) * ROWS / (double)heat->pages;
			double column = (double)(*at + n) * COLUMNS / (double)heat->accesses;

			heat->cells[(uint64_t)row * COLUMNS + (uint64_t)column]++;
		}
		*at += r->count;
	}
}

static bool read_trace(struct heat *heat, const char *path, bool second, GError **error)
{
	struct rs_trace *trace = rs_trace_open(path, error);
	struct rs_batch batch;
	uint64_t at = 0;
	int more = trace ? 1 : -1;

	while (more > 0 && (more = rs_trace_next(trace, &batch, error)) > 0) {
		if (second)
			count(heat, &batch, &at);
		else
			measure(heat, trace, &batch);
	}
	rs_trace_free(trace);
	return more == 0;
}

static void write_cells(struct figure *figure, const struct heat *heat)
{
	for (unsigned row = 0; row < ROWS; row++) {
		for (unsigned column = 0; column < COLUMNS; column++) {
			double x = (column + 0.5) * (double)heat->accesses / COLUMNS;
			double y = (row + 0.5) * (double)heat->pages / ROWS / 256;

			g_string_append_printf(figure->data, "%.8g\t%.8g\t%" PRIu64 "\n", x, y,
					       heat->cells[row * COLUMNS + column]);
		}
	}
	figure_end_block(figure);
}

/* Names at the right, in the middle of what is large enough to carry one. */
static void label_objects(struct figure *figure, const struct heat *heat)
{
	GString *s = figure->script;
	const char *comma = "";

	g_string_append(s, "set y2tics scale 0 noenhanced (");
	for (guint i = 0; i < heat->objects->len; i++) {
		const struct object *object = &g_array_index(heat->objects, struct object, i);
		char *name;

		if ((double)object->pages < LABEL_SHARE * (double)heat->pages)
			continue;
		name = figure_quote(object->name);
		g_string_append_printf(s, "%s%s %.8g", comma, name,
				       ((double)object->base + (double)object->pages / 2) / 256);
		g_free(name);
		comma = ", ";
	}
	g_string_append_printf(s, ")\nset y2range [0:%.8g]\n", (double)heat->pages / 256);
}

static struct figure *draw(const struct heat *heat, const struct plot_options *options)
{
	struct figure *figure = figure_new(900, 640);

	plot_begin(figure, options);
	g_string_append_printf(
		figure->script,
		"unset grid\nunset key\nset border 15\nset xrange [0:%.10g]\nset yrange [0:%.8g]\n"
		"set xlabel 'accesses so far'\nset ylabel 'regions and files, stacked (MiB)'\n"
		"set format x '%%.0s%%c'\nset cblabel 'accesses a cell'\nset rmargin 26\n"
		"set colorbox user origin 0.9,0.2 size 0.02,0.6\nset logscale cb\n"
		/* dark = cold; lightness rises all the way */
		"set palette defined (0 '#000004', 1 '#3b0f70', 2 '#8c2981', 3 '#de4968', "
		"4 '#fe9f6d', 5 '#fcfdbf')\n",
		(double)heat->accesses, (double)heat->pages / 256);
	label_objects(figure, heat);
	g_string_append(figure->script, "set object 1 rectangle from graph 0,0 to graph 1,1 "
					"behind fc rgb '#000004'\n"
					"plot 'plot.dat' using 1:2:($3 > 0 ? $3 : 1/0) with image "
					"notitle\n");
	write_cells(figure, heat);
	return figure;
}

struct figure *plot_heatmap(const char *trace, const struct plot_options *options, GError **error)
{
	struct heat heat = { 0 };
	struct figure *figure = NULL;

	heat.objects = g_array_new(FALSE, TRUE, sizeof(struct object));
	heat.by_key = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
	heat.cells = g_new0(uint64_t, (COLUMNS + 1) * (ROWS + 1));
	if (read_trace(&heat, trace, false, error)) {
		for (guint i = 0; i < heat.objects->len; i++) {
			struct object *object = &g_array_index(heat.objects, struct object, i);

			object->base = heat.pages;
			heat.pages += object->pages;
		}
		if (!heat.accesses)
			g_set_error(error, RS_ERROR, RS_ERROR_INPUT, "%s: no accesses", trace);
		else if (read_trace(&heat, trace, true, error))
			figure = draw(&heat, options);
	}
	for (guint i = 0; i < heat.objects->len; i++)
		g_free(g_array_index(heat.objects, struct object, i).name);
	g_array_unref(heat.objects);
	g_hash_table_unref(heat.by_key);
	g_free(heat.cells);
	return figure;
}
