/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * plot_bars.c - counters side by side. Several counters differ by orders of magnitude, so they are
 * drawn in per cent of the first policy; a single one is drawn as it is.
 */
#include "tools/metric.h"
#include "tools/plots.h"
#include "tools/stats.h"

#include <reclaimsim/types.h>
#include <string.h>

/* Share of a group's width that its bars take. */
#define GROUP_WIDTH 0.8

/* Values of a counter over the results of one label. */
static GArray *values_of(GPtrArray *results, const char *label, const char *counter)
{
	GArray *values = g_array_new(FALSE, FALSE, sizeof(double));

	for (guint i = 0; i < results->len; i++) {
		const struct plot_result *result = g_ptr_array_index(results, i);
		struct metric metric;

		if (!strcmp(result->label, label) &&
		    metric_value(result->json, NULL, counter, &metric))
			g_array_append_val(values, metric.value);
	}
	return values;
}

static const double *numbers(const GArray *values)
{
	return (const double *)(const void *)values->data;
}

/* Counters whose base is not 0 (a share of nothing cannot be drawn), or the only one. */
static GPtrArray *choose_counters(GPtrArray *results, const char *base, const char *choice,
				  GError **error)
{
	json_t **list = g_new(json_t *, results->len);
	GPtrArray *names;

	for (guint i = 0; i < results->len; i++)
		list[i] = ((const struct plot_result *)g_ptr_array_index(results, i))->json;
	names = metric_select(list, results->len, choice ? choice : "brief", error);
	g_free(list);
	for (guint i = names ? names->len : 0; i > 0 && names->len > 1; i--) {
		GArray *values = values_of(results, base, g_ptr_array_index(names, i - 1));

		if (!values->len || stats_mean(numbers(values), values->len) == 0)
			g_ptr_array_remove_index(names, i - 1);
		g_array_unref(values);
	}
	return names;
}

/* One block a policy: place, value, low, high. */
static void write_bars(struct figure *figure, GPtrArray *results, GPtrArray *labels,
		       GPtrArray *names)
{
	double width = GROUP_WIDTH / labels->len;

	for (guint l = 0; l < labels->len; l++) {
		for (guint n = 0; n < names->len; n++) {
			const char *name = g_ptr_array_index(names, n);
			GArray *base = values_of(results, g_ptr_array_index(labels, 0), name);
			GArray *values = values_of(results, g_ptr_array_index(labels, l), name);
			double scale =
				names->len > 1 ? 100 / stats_mean(numbers(base), base->len) : 1;

			if (values->len) {
				struct interval i = stats_bootstrap(numbers(values), values->len);

				g_string_append_printf(figure->data, "%.6f\t%.10g\t%.10g\t%.10g\n",
						       n + (l + 0.5) * width - GROUP_WIDTH / 2,
						       i.mean * scale, i.low * scale,
						       i.high * scale);
			}
			g_array_unref(base);
			g_array_unref(values);
		}
		figure_end_block(figure);
	}
}

static void plot_commands(struct figure *figure, GPtrArray *labels, GPtrArray *names)
{
	static const char *const fills[] = { "solid 0.85", "pattern 4", "pattern 5",
					     "solid 0.35", "pattern 2", "pattern 7" };
	GString *s = figure->script;

	g_string_append(s, "set xtics scale 0 rotate by 30 right noenhanced (");
	for (guint n = 0; n < names->len; n++) {
		char *name = figure_quote(g_ptr_array_index(names, n));

		g_string_append_printf(s, "%s%s %u", n ? ", " : "", name, n);
		g_free(name);
	}
	g_string_append_printf(s, ")\nset xrange [-0.6:%.1f]\nset boxwidth %.4f\nplot ",
			       names->len - 0.4, 0.92 * GROUP_WIDTH / labels->len);
	for (guint l = 0; l < labels->len; l++) {
		char *label = figure_quote(g_ptr_array_index(labels, l));
		char *style = figure_line_style(l);

		g_string_append_printf(
			s,
			"%s'plot.dat' index %u using 1:2 with boxes lc rgb '%.7s' fs %s "
			"border lc rgb '%.7s' title %s, "
			"'' index %u using 1:3:(0):($4-$3) with vectors "
			"heads size screen 0.005,90 lc rgb '#222222' notitle",
			l ? ", " : "", l, style + strlen("lc rgb '"),
			fills[l % G_N_ELEMENTS(fills)], style + strlen("lc rgb '"), label, l);
		g_free(style);
		g_free(label);
	}
	g_string_append_c(s, '\n');
}

struct figure *plot_bars(GPtrArray *results, const struct plot_options *options, GError **error)
{
	GPtrArray *labels = plot_input_labels(results);
	GPtrArray *names =
		choose_counters(results, g_ptr_array_index(labels, 0), options->counter, error);
	struct figure *figure = NULL;
	const char *unit;
	char *text, *ylabel;

	if (names && names->len) {
		figure = figure_new(MAX(700, 140 + 110 * names->len), 560);
		plot_begin(figure, options);
		unit = metric_unit(g_ptr_array_index(names, 0));
		text = names->len > 1 ? g_strdup_printf("per cent of %s",
							(const char *)g_ptr_array_index(labels, 0))
				      : g_strdup_printf("%s (%s)",
							(const char *)g_ptr_array_index(names, 0),
							*unit ? unit : "pages");
		ylabel = figure_quote(text);
		g_string_append_printf(
			figure->script,
			"set ylabel %s noenhanced\nset yrange [0:*]\n"
			"set xlabel 'counter'\nset bmargin 10\nset offsets 0, 0, graph 0.05, 0\n",
			ylabel);
		write_bars(figure, results, labels, names);
		plot_commands(figure, labels, names);
		g_free(ylabel);
		g_free(text);
	} else if (names) {
		g_set_error(error, RS_ERROR, RS_ERROR_INPUT,
			    "every counter of the first policy is 0");
	}
	if (names)
		g_ptr_array_unref(names);
	g_ptr_array_unref(labels);
	return figure;
}
