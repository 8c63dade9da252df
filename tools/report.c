/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * report.c - the HTML page. Pictures are SVG inside <img> as base64: gnuplot's inline SVGs would
 * repeat each other's ids.
 */
#include "tools/report.h"
#include "tools/plots.h"
#include "tools/tools.h"

#include <errno.h>
#include <glib/gstdio.h>
#include <string.h>

static void put(FILE *stream, const char *text)
{
	char *valid = g_utf8_make_valid(text, -1), *escaped = g_markup_escape_text(valid, -1);

	fputs(escaped, stream);
	g_free(escaped);
	g_free(valid);
}

static void put_head(FILE *stream, const char *trace)
{
	fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>",
	      stream);
	put(stream, trace);
	fputs("</title>\n<style>\n"
	      "body { font: 15px/1.4 sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 "
	      "1rem }\n"
	      "table { border-collapse: collapse; margin: 1rem 0 }\n"
	      "th, td { padding: .15rem .6rem; text-align: right; border-bottom: 1px solid #ddd;\n"
	      "         font-variant-numeric: tabular-nums }\n"
	      "th:first-child, td:first-child { text-align: left; font-family: monospace }\n"
	      "tr.gap td { border-top: 2px solid #888 }\n"
	      "img { max-width: 100%; height: auto }\n"
	      "</style>\n</head>\n<body>\n",
	      stream);
}

static void put_cell(FILE *stream, const char *tag, char *text)
{
	fprintf(stream, "<%s>", tag);
	put(stream, text);
	fprintf(stream, "</%s>", tag);
	g_free(text);
}

static void put_table(FILE *stream, const struct comparison *c)
{
	fputs("<h2>Counters, time, costs</h2>\n<table>\n<tr><th></th>", stream);
	for (unsigned column = 0; column < c->nr_columns; column++) {
		put_cell(stream, "th", g_strdup(c->labels[column]));
		if (column)
			fputs("<th>change</th>", stream);
	}
	fputs("</tr>\n", stream);
	for (guint r = 0; r < c->rows->len; r++) {
		const struct row *row = g_ptr_array_index(c->rows, r);

		fputs(row->gap_before ? "<tr class=\"gap\">" : "<tr>", stream);
		put_cell(stream, "td", g_strdup(row->label));
		for (unsigned column = 0; column < c->nr_columns; column++) {
			put_cell(stream, "td", comparison_value_text(c, row, column));
			if (column)
				put_cell(stream, "td", comparison_change_text(c, row, column));
		}
		fputs("</tr>\n", stream);
	}
	fputs("</table>\n<p>", stream);
	if (c->exact)
		fputs("Exact: the model gives the same numbers every time.", stream);
	else
		fprintf(stream,
			"%u seeds, paired. +-: half of the 95%% interval of the mean; *: the "
			"difference is not 0 (bootstrap, Holm-corrected) and at least %g%%; ~: no "
			"difference shown.",
			c->nr_seeds, 100 * c->min_effect);
	fputs("</p>\n", stream);
}

/* Draw into a file of its own, put it in, delete it. Kinds that have nothing to show are left out.
 */
static bool put_figure(FILE *stream, struct figure *figure, const char *caption, const char *dir,
		       GError **error)
{
	char *path = g_build_filename(dir, "figure.svg", NULL), *bytes = NULL, *base64;
	struct figure_options options = { .output = path };
	gsize size;
	bool ok;

	if (!figure) {
		g_clear_error(error);
		g_free(path);
		return true;
	}
	ok = figure_draw(figure, &options, error) &&
	     g_file_get_contents(path, &bytes, &size, error);
	if (ok) {
		base64 = g_base64_encode((const guchar *)bytes, size);
		fputs("<h2>", stream);
		put(stream, caption);
		fputs("</h2>\n<p><img alt=\"", stream);
		put(stream, caption);
		fprintf(stream, "\" src=\"data:image/svg+xml;base64,%s\"></p>\n", base64);
		g_free(base64);
	}
	g_unlink(path);
	g_free(bytes);
	g_free(path);
	figure_free(figure);
	return ok;
}

static GPtrArray *results_of(const struct comparison *c, unsigned first, unsigned nr)
{
	GPtrArray *results = plot_input_new();

	for (unsigned i = first; i < first + nr; i++) {
		struct plot_result *result = g_new0(struct plot_result, 1);

		result->label = g_strdup(c->labels[i / c->nr_seeds]);
		result->json = json_incref(c->results[i]);
		g_ptr_array_add(results, result);
	}
	return results;
}

static bool put_figures(FILE *stream, const struct comparison *c, const char *dir, GError **error)
{
	struct plot_options options = { 0 };
	GPtrArray *all = results_of(c, 0, c->nr_columns * c->nr_seeds);
	GError *nothing = NULL;
	struct figure *bars = plot_bars(all, &options, &nothing);
	bool ok = put_figure(stream, bars, "Counters side by side", dir, bars ? error : &nothing);

	g_ptr_array_unref(all);
	for (unsigned column = 0; column < c->nr_columns && ok; column++) {
		/* Of several seeds the first stands for all. */
		GPtrArray *one = results_of(c, column * c->nr_seeds, 1);
		char *series = g_strdup_printf("%s over time", c->labels[column]);
		char *gens = g_strdup_printf("Generations of %s", c->labels[column]);
		struct figure *figure = plot_series(one, &options, &nothing);

		ok = put_figure(stream, figure, series, dir, figure ? error : &nothing);
		figure = ok ? plot_generations(one, &options, &nothing) : NULL;
		ok = ok && put_figure(stream, figure, gens, dir, figure ? error : &nothing);
		g_free(series);
		g_free(gens);
		g_ptr_array_unref(one);
	}
	return ok;
}

/* Settings that all columns share, and those that differ. */
static void put_settings(FILE *stream, const struct comparison *c)
{
	json_t *base = json_object_get(c->results[0], "settings"), *value;
	const char *key;

	fputs("<h2>Settings</h2>\n<table>\n<tr><th></th>", stream);
	for (unsigned column = 0; column < c->nr_columns; column++)
		put_cell(stream, "th", g_strdup(c->labels[column]));
	fputs("</tr>\n", stream);
	json_object_foreach(base, key, value)
	{
		fputs("<tr>", stream);
		put_cell(stream, "td", g_strdup(key));
		for (unsigned column = 0; column < c->nr_columns; column++) {
			json_t *own = json_object_get(c->results[column * c->nr_seeds], "settings");
			char *text = json_dumps(json_object_get(own, key),
						JSON_ENCODE_ANY | JSON_COMPACT);

			put_cell(stream, "td", g_strdup(text ? text : "-"));
			free(text);
		}
		fputs("</tr>\n", stream);
	}
	fputs("</table>\n", stream);
}

static void put_provenance(FILE *stream, const struct comparison *c)
{
	char *text = json_dumps(json_object_get(c->results[0], "trace"), JSON_INDENT(2));

	fputs("<h2>Trace</h2>\n<pre>", stream);
	put(stream, text);
	fputs("</pre>\n", stream);
	free(text);
}

bool report_write(const struct comparison *c, const char *dir, const char *trace, GError **error)
{
	char *path = g_build_filename(dir, "index.html", NULL);
	struct output *output = NULL;
	FILE *stream;
	bool ok = false;

	if (g_mkdir_with_parents(dir, 0777) != 0)
		g_set_error(error, RS_ERROR, RS_ERROR_OUTPUT, "cannot make %s: %s", dir,
			    g_strerror(errno));
	else
		output = output_open(path, error);
	g_free(path);
	if (!output)
		return false;
	stream = output_stream(output);
	put_head(stream, trace);
	fputs("<h1>", stream);
	put(stream, trace);
	fprintf(stream, "</h1>\n<p>reclaimsim %s, kernel %s</p>\n", RS_VERSION,
		json_string_value(json_object_get(c->results[0], "kernel")));
	put_table(stream, c);
	ok = put_figures(stream, c, dir, error);
	put_settings(stream, c);
	put_provenance(stream, c);
	fputs("</body>\n</html>\n", stream);
	if (ok)
		return output_close(output, error);
	output_abort(output);
	return false;
}
