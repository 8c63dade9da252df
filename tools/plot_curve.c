/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * plot_curve.c - a counter against memory or another setting; lock waits against threads.
 */
#include "tools/metric.h"
#include "tools/plots.h"
#include "tools/stats.h"

#include <math.h>
#include <reclaimsim/trace_stats.h>
#include <string.h>

struct point {
	double x;
	GArray *y; /* double, one a seed */
};

/* A line of the curve: points by ascending x. */
struct line {
	char *label;
	GPtrArray *points;
};

void plot_begin(struct figure *figure, const struct plot_options *options)
{
	GString *s = figure->script;

	g_string_append(s, "set datafile separator '\\t'\n"
			   "set border 3 lc rgb '#444444'\n"
			   "set tics nomirror out\n"
			   "set grid ytics lt 1 dt solid lc rgb '#d8d8d8' lw 1\n"
			   "set key outside top center horizontal noenhanced maxcols 3\n");
	if (options->title) {
		char *title = figure_quote(options->title);

		g_string_append_printf(s, "set title %s noenhanced\n", title);
		g_free(title);
	}
}

static void point_free(void *data)
{
	struct point *point = data;

	g_array_unref(point->y);
	g_free(point);
}

static void line_free(void *data)
{
	struct line *line = data;

	g_ptr_array_unref(line->points);
	g_free(line->label);
	g_free(line);
}

static void add_value(GPtrArray *lines, const char *label, double x, double y)
{
	struct line *line = NULL;
	struct point *point = NULL;

	for (guint i = 0; i < lines->len && !line; i++) {
		struct line *candidate = g_ptr_array_index(lines, i);

		line = strcmp(candidate->label, label) ? NULL : candidate;
	}
	if (!line) {
		line = g_new0(struct line, 1);
		line->label = g_strdup(label);
		line->points = g_ptr_array_new_with_free_func(point_free);
		g_ptr_array_add(lines, line);
	}
	for (guint i = 0; i < line->points->len && !point; i++) {
		struct point *candidate = g_ptr_array_index(line->points, i);

		point = candidate->x == x ? candidate : NULL;
	}
	if (!point) {
		point = g_new0(struct point, 1);
		point->x = x;
		point->y = g_array_new(FALSE, FALSE, sizeof(double));
		g_ptr_array_add(line->points, point);
	}
	g_array_append_val(point->y, y);
}

static int by_x(const void *a, const void *b)
{
	const struct point *const *p = a, *const *q = b;

	return (*p)->x < (*q)->x ? -1 : (*p)->x > (*q)->x;
}

/* x, mean, and the 95 % interval of the mean; true if any interval is wider than a point. */
static bool write_lines(struct figure *figure, GPtrArray *lines)
{
	bool bands = false;

	for (guint l = 0; l < lines->len; l++) {
		struct line *line = g_ptr_array_index(lines, l);

		g_ptr_array_sort(line->points, by_x);
		for (guint p = 0; p < line->points->len; p++) {
			const struct point *point = g_ptr_array_index(line->points, p);
			struct interval i = stats_bootstrap(
				(const double *)(const void *)point->y->data, point->y->len);

			g_string_append_printf(figure->data, "%.10g\t%.10g\t%.10g\t%.10g\n",
					       point->x, i.mean, i.low, i.high);
			bands = bands || i.high > i.low;
		}
		figure_end_block(figure);
	}
	return bands;
}

static void plot_lines(struct figure *figure, GPtrArray *lines, bool bands)
{
	GString *s = figure->script;

	g_string_append(s, "plot ");
	for (guint l = 0; l < lines->len; l++) {
		const struct line *line = g_ptr_array_index(lines, l);
		char *label = figure_quote(line->label), *style = figure_line_style(l);
		char *colour = g_strndup(style, strlen("lc rgb '#000000'"));

		if (bands)
			g_string_append_printf(
				s,
				"%s'plot.dat' index %u using 1:3:4 with filledcurves %s "
				"fs transparent solid 0.2 notitle",
				l ? ", " : "", l, colour);
		g_string_append_printf(
			s, "%s'plot.dat' index %u using 1:2 with linespoints %s title %s",
			l || bands ? ", " : "", l, style, label);
		g_free(colour);
		g_free(style);
		g_free(label);
	}
	g_string_append_c(s, '\n');
}

/* A log2 axis with a tick at every power of two in range, if two at least are in it. */
static void doubling_axis(struct figure *figure, GPtrArray *lines, const char *label)
{
	double low = INFINITY, high = 0;

	for (guint l = 0; l < lines->len; l++) {
		const struct line *line = g_ptr_array_index(lines, l);

		for (guint p = 0; p < line->points->len; p++) {
			const struct point *point = g_ptr_array_index(line->points, p);

			low = fmin(low, point->x);
			high = fmax(high, point->x);
		}
	}
	g_string_append_printf(figure->script, "set xlabel '%s'\n", label);
	if (low <= 0 || high < 4 * low)
		return;
	g_string_append_printf(figure->script,
			       "set logscale x 2\nset xrange [%.10g:%.10g]\n"
			       "set xtics (",
			       low / 1.08, high * 1.08);
	for (double tick = exp2(ceil(log2(low / 1.08))), first = tick; tick <= high * 1.08;
	     tick *= 2)
		g_string_append_printf(figure->script, "%s%.6g", tick == first ? "" : ", ", tick);
	g_string_append(figure->script, ")\n");
}

void plot_number_format(struct figure *figure, const char *axis, double max)
{
	g_string_append_printf(figure->script, "set format %s '%s'\n", axis,
			       max >= 1e6  ? "%.1s%c"
			       : max >= 10 ? "%.0f"
					   : "%g");
}

static double highest(GPtrArray *lines)
{
	double high = 0;

	for (guint l = 0; l < lines->len; l++) {
		const struct line *line = g_ptr_array_index(lines, l);

		for (guint p = 0; p < line->points->len; p++) {
			const struct point *point = g_ptr_array_index(line->points, p);

			for (guint y = 0; y < point->y->len; y++)
				high = fmax(high, g_array_index(point->y, double, y));
		}
	}
	return high;
}

static bool x_of(json_t *json, const char *axis, double *ret)
{
	char *name = g_strconcat("settings.", axis, NULL);
	struct metric metric;
	bool ok = metric_value(json, NULL, name, &metric);

	g_free(name);
	if (ok)
		*ret = strcmp(axis, "memory.max") ? metric.value : metric.value / (1 << 20);
	return ok;
}

static struct figure *draw_lines(GPtrArray *lines, const struct plot_options *options,
				 const char *y, const char *x)
{
	struct figure *figure = figure_new(900, 560);
	char *ylabel = figure_quote(y), *xlabel = figure_quote(x);

	plot_begin(figure, options);
	g_string_append_printf(figure->script,
			       "set ylabel %s noenhanced\nset xlabel %s noenhanced\n"
			       "set yrange [0:*]\n",
			       ylabel, xlabel);
	plot_number_format(figure, "y", highest(lines));
	if (!strcmp(x, "memory.max"))
		doubling_axis(figure, lines, "memory.max (MiB)");
	if (!strcmp(x, "threads"))
		doubling_axis(figure, lines, x);
	plot_lines(figure, lines, write_lines(figure, lines));
	g_free(ylabel);
	g_free(xlabel);
	return figure;
}

static struct figure *draw_counter(GPtrArray *lines, const struct plot_options *options,
				   const char *counter, const char *axis)
{
	const char *unit = metric_unit(counter);
	char *label = g_strdup_printf("%s (%s)", counter, *unit ? unit : "pages");
	struct figure *figure = draw_lines(lines, options, label, axis);

	g_free(label);
	return figure;
}

/* Misses of a memory that knows the exact order of use, at every size the other lines have. */
static bool add_lru(GPtrArray *lines, const char *path, const char *counter, GError **error)
{
	double unit = strcmp(counter, "pgpgin") ? 1 : RS_PAGE_SIZE / 1024;
	struct rs_trace *trace = rs_trace_open(path, error);
	struct rs_trace_stats stats;
	bool ok = trace && rs_trace_stats(trace, 1, &stats, error);
	guint nr = lines->len;

	for (guint l = 0; ok && l < nr; l++) {
		const struct line *line = g_ptr_array_index(lines, l);

		for (guint p = 0; p < line->points->len; p++) {
			double x = ((const struct point *)g_ptr_array_index(line->points, p))->x;

			add_value(lines, "exact LRU", x,
				  unit * (double)rs_trace_lru_misses(&stats, (uint64_t)(x * 256)));
		}
	}
	if (ok)
		rs_trace_stats_clear(&stats);
	rs_trace_free(trace);
	return ok;
}

struct figure *plot_curve(GPtrArray *results, const struct plot_options *options, GError **error)
{
	const char *counter = options->counter ? options->counter : "pgmajfault";
	const char *axis = options->axis ? options->axis : "memory.max";
	GPtrArray *lines = g_ptr_array_new_with_free_func(line_free);
	struct figure *figure = NULL;

	for (guint i = 0; i < results->len; i++) {
		const struct plot_result *result = g_ptr_array_index(results, i);
		struct metric metric;
		double x;

		if (x_of(result->json, axis, &x) &&
		    metric_value(result->json, NULL, counter, &metric))
			add_value(lines, result->label, x, metric.value);
	}
	if (lines->len && options->lru && !add_lru(lines, options->lru, counter, error))
		; /* the trace cannot be read */
	else if (lines->len)
		figure = draw_counter(lines, options, counter, axis);
	else
		g_set_error(error, RS_ERROR, RS_ERROR_INPUT,
			    "no result has both %s as a number and a counter %s", axis, counter);
	g_ptr_array_unref(lines);
	return figure;
}

/* ---- against threads ---- */

/* Those that did something: the thread that starts the others may not. */
static unsigned threads_of(const struct plot_result *result)
{
	json_t *thread, *time = json_object_get(result->json, "time");
	unsigned nr = 0;
	size_t i;

	json_array_foreach(json_object_get(time, "per_thread"), i, thread) nr +=
		json_integer_value(json_object_get(thread, "accesses")) > 0;
	return nr;
}

static struct figure *draw_threads(GPtrArray *lines, const struct plot_options *options,
				   const char *ylabel, const char *missing, GError **error)
{
	struct figure *figure = NULL;

	if (lines->len)
		figure = draw_lines(lines, options, ylabel, "threads");
	else
		g_set_error(error, RS_ERROR, RS_ERROR_INPUT, "no result says anything about %s",
			    missing);
	g_ptr_array_unref(lines);
	return figure;
}

struct figure *plot_locks(GPtrArray *results, const struct plot_options *options, GError **error)
{
	GPtrArray *lines = g_ptr_array_new_with_free_func(line_free);

	for (guint i = 0; i < results->len; i++) {
		const struct plot_result *result = g_ptr_array_index(results, i);
		json_t *locks = json_object_get(result->json, "locks"), *lock;
		unsigned threads = threads_of(result);
		const char *name;

		json_object_foreach(locks, name, lock)
		{
			double wait = json_number_value(json_object_get(lock, "wait_ns"));
			g_autofree char *label = g_strdup_printf("%s %s", result->label, name);

			if (threads && json_integer_value(json_object_get(lock, "acquired")))
				add_value(lines, label, (double)threads, wait / 1e6);
		}
	}
	return draw_threads(lines, options, "waiting for locks (ms)", "locks", error);
}

struct figure *plot_throughput(GPtrArray *results, const struct plot_options *options,
			       GError **error)
{
	GPtrArray *lines = g_ptr_array_new_with_free_func(line_free);

	for (guint i = 0; i < results->len; i++) {
		const struct plot_result *result = g_ptr_array_index(results, i);
		json_t *time = json_object_get(result->json, "time");
		double accesses = json_number_value(json_object_get(time, "accesses"));
		double ns = json_number_value(json_object_get(time, "elapsed_ns"));
		unsigned threads = threads_of(result);

		if (threads && ns > 0)
			add_value(lines, result->label, (double)threads, accesses / ns * 1e9);
	}
	return draw_threads(lines, options, "accesses a second of simulated time", "time", error);
}
