/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * plot_series.c - one run over simulated time: memory, refaults, pressure; generations.
 *
 * The points are the snapshots at marks and, where the run took them, the samples.
 */
#include "tools/metric.h"
#include "tools/plots.h"

#include <reclaimsim/types.h>
#include <string.h>

static double number(json_t *object, const char *section, const char *name)
{
	return json_number_value(json_object_get(json_object_get(object, section), name));
}

static double time_of(json_t *point)
{
	return json_number_value(json_object_get(point, "time_ns")) / 1e9;
}

static int by_time(const void *a, const void *b)
{
	json_t *const *p = a, *const *q = b;
	double x = time_of(*p), y = time_of(*q);

	return x < y ? -1 : x > y;
}

/* Snapshots and samples in order of time; at least two, or an error. */
static GPtrArray *points_of(GPtrArray *results, GError **error)
{
	GPtrArray *points = g_ptr_array_new();
	const struct plot_result *result = g_ptr_array_index(results, 0);
	json_t *point;
	size_t i;

	if (results->len != 1) {
		g_set_error(error, RS_ERROR, RS_ERROR_USAGE, "this kind of plot takes one result");
		g_ptr_array_unref(points);
		return NULL;
	}
	json_array_foreach(json_object_get(result->json, "samples"), i, point)
		g_ptr_array_add(points, point);
	json_array_foreach(json_object_get(result->json, "snapshots"), i, point)
		g_ptr_array_add(points, point);
	g_ptr_array_sort(points, by_time);
	if (points->len < 2 || time_of(g_ptr_array_index(points, points->len - 1)) <= 0) {
		g_set_error(error, RS_ERROR, RS_ERROR_INPUT,
			    "fewer than two points in time: the trace needs marks, or the run "
			    "--set sample_ns=10ms");
		g_ptr_array_unref(points);
		return NULL;
	}
	return points;
}

static const char *const gauges[] = { "nr_free_pages", "nr_inactive_anon", "nr_active_anon",
				      "nr_inactive_file", "nr_active_file" };
static const char *const refaults[] = { "workingset_refault_anon", "workingset_refault_file" };
static const char *const resources[] = { "memory", "io", "cpu" };
static const char *const kinds[] = { "some", "full" };

/* Columns of plot.dat. */
enum {
	COLUMN_TIME = 1,
	COLUMN_MEMORY,
	COLUMN_REFAULTS = COLUMN_MEMORY + 5,
	COLUMN_THROUGHPUT = 9,
	COLUMN_PSI
};

/* Time lost so far, in microseconds. Pressure on memory stands at the top, the others below it. */
static double psi_total(json_t *point, const char *resource, const char *kind)
{
	json_t *psi = json_object_get(point, "psi"), *other = json_object_get(psi, resource);

	return number(strcmp(resource, "memory") ? other : psi, kind, "total");
}

static double accesses_of(json_t *point)
{
	return json_number_value(json_object_get(point, "accesses"));
}

/* For axes: gnuplot calls a range of zeros empty. */
struct highest {
	double refaults, accesses;
};

/* What has changed since the point before, dt seconds ago, by the second. */
static void write_rates(struct figure *figure, json_t *point, json_t *before, double dt,
			struct highest *most)
{
	double accesses = accesses_of(point) - accesses_of(before);

	for (unsigned r = 0; r < G_N_ELEMENTS(refaults); r++) {
		double change = number(point, "vmstat_delta", refaults[r]) -
				number(before, "vmstat_delta", refaults[r]);

		most->refaults = MAX(most->refaults, change);
		g_string_append_printf(figure->data, "\t%.6g", dt > 0 ? change / dt : 0);
	}
	most->accesses = MAX(most->accesses, accesses);
	g_string_append_printf(figure->data, "\t%.6g", dt > 0 ? accesses / dt / 1e6 : 0);
	for (unsigned r = 0; r < G_N_ELEMENTS(resources); r++) {
		for (unsigned k = 0; k < G_N_ELEMENTS(kinds); k++) {
			double lost = psi_total(point, resources[r], kinds[k]) -
				      psi_total(before, resources[r], kinds[k]);

			g_string_append_printf(figure->data, "\t%.6g",
					       dt > 0 ? lost / dt / 1e4 : 0);
		}
	}
}

static bool is_sample(json_t *point)
{
	return !g_strcmp0(json_string_value(json_object_get(point, "name")), "sample");
}

/* time, five sizes in MiB, refaults/s anon and file, accesses/s, six pressures in % */
static void write_points(struct figure *figure, GPtrArray *points, struct highest *most)
{
	double span = time_of(g_ptr_array_index(points, points->len - 1)) -
		      time_of(g_ptr_array_index(points, 0));
	unsigned nr_samples = 0;
	json_t *before = NULL;
	bool sampled;

	for (guint i = 0; i < points->len; i++)
		nr_samples += is_sample(g_ptr_array_index(points, i));
	sampled = nr_samples > 1;
	for (guint i = 0; i < points->len; i++) {
		json_t *point = g_ptr_array_index(points, i);
		double dt = before ? time_of(point) - time_of(before) : time_of(point);

		/* A mark right behind another point would make a rate out of nothing, and samples
		 * have a pressure of their own. */
		if ((before && dt < 0.2 * span / points->len) || (sampled && !is_sample(point)))
			continue;
		g_string_append_printf(figure->data, "%.9g", time_of(point));
		for (unsigned g = 0; g < G_N_ELEMENTS(gauges); g++)
			g_string_append_printf(figure->data, "\t%.6g",
					       number(point, "vmstat_now", gauges[g]) / 256);
		write_rates(figure, point, before, dt, most);
		g_string_append_c(figure->data, '\n');
		before = point;
	}
	figure_end_block(figure);
}

/* More points than this are no points any more but a line. */
#define MAX_MARKERS 40u

static void append_line(GString *s, const char *first, unsigned column, unsigned style,
			const char *title, bool markers)
{
	char *text = figure_line_style(style);

	if (!markers)
		text[strcspn(text, "p")] = '\0'; /* without "pt" and "ps" */
	g_string_append_printf(s, "%s'plot.dat' using 1:%u with %s %s title '%s'", first, column,
			       markers ? "linespoints" : "lines", text, title);
	g_free(text);
}

/* One of the pictures on top of each other. */
static void panel(struct figure *figure, const char *label, const char *range,
		  const char *const *titles, unsigned n, unsigned column, unsigned style,
		  bool markers)
{
	g_string_append_printf(figure->script, "set ylabel '%s'\nset yrange %s\nplot ", label,
			       range);
	for (unsigned i = 0; i < n; i++)
		append_line(figure->script, i ? ", " : "", column + i, style + i, titles[i],
			    markers);
	g_string_append(figure->script, "\nunset title\n");
}

struct figure *plot_series(GPtrArray *results, const struct plot_options *options, GError **error)
{
	static const char *const accesses[] = { "accesses" };
	static const char *const labels[] = { "memory PSI (%)", "I/O PSI (%)", "CPU PSI (%)" };
	GPtrArray *points = points_of(results, error);
	struct figure *figure;
	struct highest rates = { 0 };
	unsigned limited;
	bool markers;

	if (!points)
		return NULL;
	markers = points->len <= MAX_MARKERS;
	figure = figure_new(900, 1320);
	plot_begin(figure, options);
	g_string_append(figure->script,
			"set key outside right center vertical noenhanced width -2\n"
			"set multiplot layout 6,1\nset lmargin 12\nset rmargin 30\n"
			"set xlabel 'simulated time (s)'\n");
	/* Below a limit the machine's free memory says nothing and would dwarf the rest. */
	limited = json_is_integer(json_object_get(
		json_object_get(((struct plot_result *)g_ptr_array_index(results, 0))->json,
				"settings"),
		"memory.max"));
	write_points(figure, points, &rates);
	panel(figure, "memory (MiB)", "[0:*]", gauges + limited, G_N_ELEMENTS(gauges) - limited,
	      COLUMN_MEMORY + limited, limited, markers);
	panel(figure, "accesses (millions/s)", rates.accesses > 0 ? "[0:*]" : "[0:1]", accesses, 1,
	      COLUMN_THROUGHPUT, 0, markers);
	panel(figure, "refaults (pages/s)", rates.refaults > 0 ? "[0:*]" : "[0:1]", refaults, 2,
	      COLUMN_REFAULTS, 0, markers);
	for (unsigned r = 0; r < G_N_ELEMENTS(resources); r++)
		panel(figure, labels[r], "[0:100]", kinds, 2, COLUMN_PSI + 2 * r, 0, markers);
	g_string_append(figure->script, "unset multiplot\n");
	g_ptr_array_unref(points);
	return figure;
}

/* ---- tiers ---- */

#define NR_TIERS 4u
/* A share of less says nothing; the controller ignores it, too (MIN_LRU_BATCH). */
#define MIN_PAGES 64
static const char *const tier_types[] = { "anon", "file" };

/* Pages of a tier: refaulted, or evicted and protected; since the start. */
static double tier_count(json_t *point, const char *what, const char *type, unsigned tier)
{
	g_autofree char *name = g_strdup_printf("sim_%s_%s_tier%u", what, type, tier);

	return number(point, "policy", name);
}

/* time, then per cent of refaults of anon's four tiers and of file's, in the step before */
static void write_tiers(struct figure *figure, GPtrArray *points)
{
	for (guint i = 1; i < points->len; i++) {
		json_t *now = g_ptr_array_index(points, i),
		       *before = g_ptr_array_index(points, i - 1);

		g_string_append_printf(figure->data, "%.9g", time_of(now));
		for (unsigned c = 0; c < 2 * NR_TIERS; c++) {
			const char *type = tier_types[c / NR_TIERS];
			unsigned t = c % NR_TIERS;
			double out = tier_count(now, "evicted", type, t) +
				     tier_count(now, "protected", type, t) -
				     tier_count(before, "evicted", type, t) -
				     tier_count(before, "protected", type, t);
			double back = tier_count(now, "refaulted", type, t) -
				      tier_count(before, "refaulted", type, t);

			if (out >= MIN_PAGES)
				g_string_append_printf(figure->data, "\t%.6g", 100 * back / out);
			else
				g_string_append(figure->data, "\tNaN");
		}
		g_string_append_c(figure->data, '\n');
	}
	figure_end_block(figure);
}

struct figure *plot_tiers(GPtrArray *results, const struct plot_options *options, GError **error)
{
	GPtrArray *points = points_of(results, error);
	struct figure *figure;

	if (!points)
		return NULL;
	if (!json_object_get(json_object_get(g_ptr_array_index(points, 0), "policy"),
			     "sim_refaulted_anon_tier0")) {
		g_set_error(error, RS_ERROR, RS_ERROR_INPUT,
			    "the result has no tiers: run a policy of the MGLRU family");
		g_ptr_array_unref(points);
		return NULL;
	}
	figure = figure_new(900, 700);
	plot_begin(figure, options);
	g_string_append(figure->script,
			"set key outside right center vertical\nset multiplot layout 2,1\n"
			"set lmargin 12\nset rmargin 14\nset xlabel 'simulated time (s)'\n"
			"set yrange [0:*]\n");
	for (unsigned k = 0; k < 2; k++) {
		g_string_append_printf(figure->script,
				       "set ylabel '%s: refaults of pages out (%%)'\nplot ",
				       tier_types[k]);
		for (unsigned t = 0; t < NR_TIERS; t++) {
			g_autofree char *title = g_strdup_printf("tier %u", t);

			append_line(figure->script, t ? ", " : "", 2 + k * NR_TIERS + t, t, title,
				    true);
		}
		g_string_append(figure->script, "\nunset title\n");
	}
	g_string_append(figure->script, "unset multiplot\n");
	write_tiers(figure, points);
	g_ptr_array_unref(points);
	return figure;
}

/* ---- generations ---- */

#define MAX_GENS 4u

/* Sizes in MiB summed up from the oldest generation on. The youngest stands last, always. */
static void write_generations(struct figure *figure, GPtrArray *points)
{
	for (guint i = 0; i < points->len; i++) {
		json_t *point = g_ptr_array_index(points, i);
		json_t *rows = json_object_get(point, "lru_gen");
		size_t n = MIN(json_array_size(rows), MAX_GENS);
		double sum = 0;

		g_string_append_printf(figure->data, "%.9g\t0", time_of(point));
		for (size_t g = 0; g < MAX_GENS; g++) {
			json_t *row =
				g < MAX_GENS - n ? NULL : json_array_get(rows, g - (MAX_GENS - n));

			sum += (json_number_value(json_array_get(row, 2)) +
				json_number_value(json_array_get(row, 3))) /
			       256;
			g_string_append_printf(figure->data, "\t%.6g", sum);
		}
		g_string_append_c(figure->data, '\n');
	}
	figure_end_block(figure);
}

struct figure *plot_generations(GPtrArray *results, const struct plot_options *options,
				GError **error)
{
	static const char *const blues[] = { "#c6dbef", "#6baed6", "#2171b5", "#08306b" };
	static const char *const titles[] = { "oldest", "older", "younger", "youngest" };
	GPtrArray *points = points_of(results, error);
	struct figure *figure;

	if (!points)
		return NULL;
	if (!json_is_array(
		    json_object_get(g_ptr_array_index(points, points->len - 1), "lru_gen"))) {
		g_set_error(error, RS_ERROR, RS_ERROR_INPUT,
			    "the result has no generations: run a "
			    "policy of the MGLRU family");
		g_ptr_array_unref(points);
		return NULL;
	}
	figure = figure_new(900, 560);
	plot_begin(figure, options);
	g_string_append(figure->script, "set xlabel 'simulated time (s)'\nset ylabel 'pages by "
					"generation (MiB)'\nset yrange [0:*]\n"
					"set key outside right center vertical invert\nplot ");
	for (unsigned g = 0; g < MAX_GENS; g++)
		g_string_append_printf(figure->script,
				       "%s'plot.dat' using 1:%u:%u with filledcurves lc rgb '%s' "
				       "fs solid 1 title '%s'",
				       g ? ", " : "", 2 + g, 3 + g, blues[g], titles[g]);
	g_string_append_c(figure->script, '\n');
	write_generations(figure, points);
	g_ptr_array_unref(points);
	return figure;
}
