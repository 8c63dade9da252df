/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cmd_plot.c - pictures of results and traces through gnuplot.
 */
#include "tools/plots.h"
#include "tools/tools.h"
#include "sim/base/units.h"

#include <string.h>

static char *output_path, *keep, *prologue, *terminal;
static struct plot_options plot_options;
static gboolean data_only;

static const GOptionEntry options[] = {
	{ "output", 'o', 0, G_OPTION_ARG_FILENAME, &output_path,
	  "picture: .png, .svg, .pdf or .txt", "FILE" },
	{ "counter", 'c', 0, G_OPTION_ARG_STRING, (void *)&plot_options.counter,
	  "counter to draw; bars take a list", "NAME" },
	{ "axis", 'x', 0, G_OPTION_ARG_STRING, (void *)&plot_options.axis,
	  "setting on the x axis of a curve (default memory.max)", "SETTING" },
	{ "by", 0, 0, G_OPTION_ARG_STRING, (void *)&plot_options.by,
	  "lines of their own for each value of the setting", "SETTING" },
	{ "lru", 0, 0, G_OPTION_ARG_FILENAME, (void *)&plot_options.lru,
	  "add the misses of an exact LRU on that trace to a curve", "TRACE" },
	{ "title", 0, 0, G_OPTION_ARG_STRING, (void *)&plot_options.title, "text above", "TEXT" },
	{ "keep", 0, 0, G_OPTION_ARG_FILENAME, &keep, "keep plot.gp and plot.dat there", "DIR" },
	{ "data-only", 0, 0, G_OPTION_ARG_NONE, &data_only, "with --keep: do not run gnuplot",
	  NULL },
	{ "gnuplot-prologue", 0, 0, G_OPTION_ARG_FILENAME, &prologue,
	  "gnuplot commands to put first", "FILE" },
	{ "terminal", 0, 0, G_OPTION_ARG_STRING, &terminal,
	  "png, svg, pdf or dumb, whatever the file's name is", "T" },
	{ 0 },
};

static const struct kind {
	const char *name, *doc;
	struct figure *(*results)(GPtrArray *, const struct plot_options *, GError **);
	struct figure *(*trace)(const char *, const struct plot_options *, GError **);
} kinds[] = {
	{ "curve", "a counter against memory or another setting", plot_curve, NULL },
	{ "bars", "counters of policies side by side", plot_bars, NULL },
	{ "series", "memory, refaults and pressure over time", plot_series, NULL },
	{ "generations", "sizes of MGLRU's generations over time", plot_generations, NULL },
	{ "tiers", "what comes back of MGLRU's tiers (PID) over time", plot_tiers, NULL },
	{ "locks", "waiting for locks against threads", plot_locks, NULL },
	{ "throughput", "accesses a second against threads", plot_throughput, NULL },
	{ "heatmap", "accesses of a trace by page and time", NULL, plot_heatmap },
};

static const struct kind *find_kind(const char *name, GError **error)
{
	const char *names[G_N_ELEMENTS(kinds) + 1] = { NULL };
	const char *nearest;

	for (unsigned i = 0; i < G_N_ELEMENTS(kinds); i++) {
		names[i] = kinds[i].name;
		if (!strcmp(kinds[i].name, name))
			return &kinds[i];
	}
	nearest = rs_nearest(name, names);
	g_set_error(error, RS_ERROR, RS_ERROR_USAGE,
		    "no plot is called \"%s\"; there are curve, bars, series, generations, tiers, "
		    "locks, "
		    "throughput, heatmap%s%s%s",
		    name, nearest ? ", did you mean \"" : "", nearest ? nearest : "",
		    nearest ? "\"?" : "");
	return NULL;
}

static struct figure *make_figure(const struct kind *kind, char **files, int nr, GError **error)
{
	struct figure *figure = NULL;
	GPtrArray *results;
	bool ok = true;

	if (kind->trace) {
		if (nr == 1)
			return kind->trace(files[0], &plot_options, error);
		g_set_error(error, RS_ERROR, RS_ERROR_USAGE, "%s takes one trace", kind->name);
		return NULL;
	}
	results = plot_input_new();
	for (int i = 0; i < nr && ok; i++)
		ok = plot_input_load(results, files[i], error);
	if (ok && plot_options.by)
		ok = plot_input_by(results, plot_options.by, error);
	if (ok && !results->len)
		g_set_error(error, RS_ERROR, RS_ERROR_INPUT, "%s holds no results", files[0]);
	else if (ok)
		figure = kind->results(results, &plot_options, error);
	g_ptr_array_unref(results);
	return figure;
}

static int run(int argc, char **argv)
{
	struct figure_options figure_options = { .output = output_path,
						 .terminal = terminal,
						 .keep = keep,
						 .prologue = prologue,
						 .data_only = data_only };
	const struct kind *kind;
	struct figure *figure = NULL;
	GError *error = NULL;
	int code = EXIT_FINE;

	if (argc < 3)
		return command_usage("%s, see \"reclaimsim plot --help\"",
				     argc < 2 ? "the kind of plot is missing"
					      : "the file is missing");
	if (!output_path || (data_only && !keep))
		return command_usage("%s", output_path ? "--data-only needs --keep DIR"
						       : "-o FILE is missing");
	kind = find_kind(argv[1], &error);
	if (kind)
		figure = make_figure(kind, argv + 2, argc - 2, &error);
	if (!figure || !figure_draw(figure, &figure_options, &error))
		code = command_fail(error);
	figure_free(figure);
	return code;
}

const struct rs_command cmd_plot = {
	.name = "plot",
	.arguments = "KIND RESULT... -o FILE.(png|svg|pdf|txt) [OPTION...]",
	.summary = "draw results or a trace through gnuplot",
	.about = "Kinds:\n"
		 "  curve        a counter against memory or another setting, one line a policy\n"
		 "  bars         counters of policies side by side\n"
		 "  series       memory, refaults and pressure of one run over time\n"
		 "  generations  sizes of MGLRU's generations of one run over time\n"
		 "  tiers        what comes back of MGLRU's tiers (PID) over time\n"
		 "  locks        waiting for locks against the number of threads\n"
		 "  throughput   accesses a second against the number of threads\n"
		 "  heatmap      accesses of a trace (not a result) by page and time\n"
		 "RESULT is a result, a comparison (both JSON), collected cells (.jsonl) or the\n"
		 "folder of a sweep.",
	.example = "  reclaimsim compare build.trace -p classic -p mglru -m 64M --json -o c.json\n"
		   "  reclaimsim plot bars c.json -o bars.png\n"
		   "  reclaimsim plot curve sweep --counter workingset_refault_file -o curve.svg",
	.options = options,
	.run = run,
};
