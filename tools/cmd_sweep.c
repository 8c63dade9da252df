/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cmd_sweep.c - a sweep in one shot, or its steps: plan, exec, submit, status, collect.
 */
#include "tools/metric.h"
#include "tools/simulate.h"
#include "tools/sweep.h"
#include "tools/table.h"
#include "tools/tools.h"
#include "sim/base/units.h"

#include <string.h>

static char *dir, *executor_text, *jobs_text, *chunk_text, *cell_text, *chunks_text, *output_path;
static char *counters;
static gboolean dry_run, detach, quiet, as_json, list_cells;

#define ENGINE_OPTIONS                                                                                \
	{ "executor",                                                                                 \
	  'e',                                                                                        \
	  0,                                                                                          \
	  G_OPTION_ARG_STRING,                                                                        \
	  &executor_text,                                                                             \
	  "local (default), parallel or slurm",                                                       \
	  "E" },                                                                                      \
		{ "jobs", 'j', 0, G_OPTION_ARG_STRING, &jobs_text, "runs at once", "N" },             \
		{ "chunks",                                                                           \
		  0,                                                                                  \
		  0,                                                                                  \
		  G_OPTION_ARG_STRING,                                                                \
		  &chunks_text,                                                                       \
		  "tasks the cells are shared among (default: by their number)",                      \
		  "N" },                                                                              \
		{ "dry-run", 'n', 0, G_OPTION_ARG_NONE, &dry_run, "print what would be done", NULL }, \
		{ "detach", 0, 0, G_OPTION_ARG_NONE, &detach, "do not wait for the engine", NULL },   \
	{                                                                                             \
		"quiet", 'q', 0, G_OPTION_ARG_NONE, &quiet, "no progress", NULL                       \
	}

static const GOptionEntry one_shot_options[] = {
	{ "output", 'o', 0, G_OPTION_ARG_FILENAME, &dir, "folder of the sweep", "DIR" },
	ENGINE_OPTIONS,
	{ 0 },
};
static const GOptionEntry plan_options[] = {
	{ "output", 'o', 0, G_OPTION_ARG_FILENAME, &dir, "folder of the sweep", "DIR" },
	{ "dry-run", 'n', 0, G_OPTION_ARG_NONE, &dry_run, "print the axes, write nothing", NULL },
	{ 0 },
};
static const GOptionEntry exec_options[] = {
	{ "chunk", 0, 0, G_OPTION_ARG_STRING, &chunk_text,
	  "cells with number % N == K (default: all)", "K/N" },
	{ "cell", 0, 0, G_OPTION_ARG_STRING, &cell_text, "one cell by its number", "NUMBER" },
	{ "jobs", 'j', 0, G_OPTION_ARG_STRING, &jobs_text, "runs at once (default: one a CPU)",
	  "N" },
	{ "quiet", 'q', 0, G_OPTION_ARG_NONE, &quiet, "no progress", NULL },
	PROGRESS_OPTION,
	{ 0 },
};
static const GOptionEntry submit_options[] = { ENGINE_OPTIONS, { 0 } };
static const GOptionEntry status_options[] = {
	{ "list", 'l', 0, G_OPTION_ARG_NONE, &list_cells, "list failed and missing cells", NULL },
	{ "json", 0, 0, G_OPTION_ARG_NONE, &as_json, "print JSON", NULL },
	{ 0 },
};
static const GOptionEntry collect_options[] = {
	{ "output", 'o', 0, G_OPTION_ARG_FILENAME, &output_path,
	  "write there instead of standard output", "FILE" },
	{ "counters", 'c', 0, G_OPTION_ARG_STRING, &counters,
	  "CSV of these counters instead of all results as JSON lines", "LIST" },
	{ 0 },
};

static struct sweep_plan *load_plan(int argc, char **argv, GError **error)
{
	if (argc == 2)
		return sweep_plan_load(argv[1], error);
	g_set_error(error, RS_ERROR, RS_ERROR_USAGE, "%s, see \"reclaimsim %s --help\"",
		    argc < 2 ? "the folder of the sweep is missing" : "one folder is enough",
		    command_name());
	return NULL;
}

static bool parse_submission(struct sweep_submission *ret, GError **error)
{
	int64_t chunks = 0;

	memset(ret, 0, sizeof(*ret));
	if (!sweep_parse_executor(executor_text, &ret->executor, error) ||
	    !parse_parallel(jobs_text, &ret->jobs, error))
		return false;
	if (chunks_text && !rs_parse_int(chunks_text, 1, 1000000, &chunks, error)) {
		g_prefix_error(error, "--chunks: ");
		return false;
	}
	ret->chunks = (uint64_t)chunks;
	ret->engine_options = command_rest;
	ret->dry_run = dry_run;
	ret->detach = detach;
	ret->quiet = quiet;
	return true;
}

/* One line, and the exit code: complete or not. */
static int report_status(const struct sweep_plan *plan, const char *folder, FILE *stream)
{
	struct sweep_counts counts;
	GError *error = NULL;

	if (!sweep_status(plan, folder, &counts, &error))
		return command_fail(error);
	fprintf(stream,
		"%" PRIu64 " of %" PRIu64 " cells done, %" PRIu64 " failed, %" PRIu64 " missing\n",
		counts.done, plan->nr_cells, counts.failed, counts.missing);
	return counts.failed || counts.missing ? EXIT_UNFINISHED : EXIT_FINE;
}

/* ---- plan ---- */

static void print_axes(const struct sweep_plan *plan)
{
	for (guint a = 0; a < plan->axes->len; a++) {
		const struct sweep_axis *axis = g_ptr_array_index(plan->axes, a);

		printf("%-16s %u:", axis->key, axis->values->len);
		for (guint v = 0; v < MIN(axis->values->len, 6); v++)
			printf(" %s", (const char *)g_ptr_array_index(axis->values, v));
		printf("%s\n", axis->values->len > 6 ? " ..." : "");
	}
	printf("%-16s %" PRIu64 "\n", "cells", plan->nr_cells);
}

/* Time of one cell a trace, the first, times the cells of that trace. */
static void print_estimate(const struct sweep_plan *plan, unsigned parallel)
{
	uint64_t cells_a_trace = plan->nr_cells / plan->traces->len;
	unsigned slots = parallel ? parallel : g_get_num_processors();
	double seconds = 0;

	for (guint t = 0; t < plan->traces->len; t++) {
		gint64 start = g_get_monotonic_time();
		struct sweep_cell cell;
		GError *error = NULL;
		char *text = NULL;

		if (sweep_cell_init(plan, t * cells_a_trace, &cell, &error)) {
			text = simulate(cell.trace, cell.scenario, cell.policy, &error);
			sweep_cell_clear(&cell);
		}
		if (error)
			command_warn("%s", error->message);
		g_clear_error(&error);
		g_free(text);
		seconds += (double)(g_get_monotonic_time() - start) / 1e6 * (double)cells_a_trace;
	}
	printf("%-16s %.0f s of CPU time, %.0f s on %u CPUs (one cell a trace was run)\n",
	       "estimate", seconds, seconds / slots, slots);
}

static int run_plan(int argc, char **argv)
{
	struct sweep_plan *plan;
	GError *error = NULL;
	int code = EXIT_FINE;

	if (argc != 2 || (!dir && !dry_run))
		return command_usage("%s, see \"reclaimsim sweep plan --help\"",
				     argc != 2 ? "one spec is needed" : "-o DIR is missing");
	plan = sweep_plan_from_spec(argv[1], &error);
	if (plan && (dry_run || sweep_plan_save(plan, dir, &error))) {
		print_axes(plan);
		if (dry_run)
			print_estimate(plan, 0);
	} else {
		code = command_fail(error);
	}
	sweep_plan_free(plan);
	return code;
}

/* ---- exec ---- */

static bool parse_chunk(const struct sweep_plan *plan, uint64_t *ret_chunk, uint64_t *ret_of,
			GError **error)
{
	const char *task = g_getenv("SLURM_ARRAY_TASK_ID");
	char **parts;
	bool ok;

	*ret_chunk = 0;
	*ret_of = 1;
	if (cell_text) {
		*ret_of = plan->nr_cells;
		return rs_parse_u64(cell_text, ret_chunk, error);
	}
	if (!chunk_text)
		return true;
	parts = g_strsplit(chunk_text, "/", 2);
	/* "/N" takes K from the array task it runs in. */
	ok = parts[0] && parts[1] &&
	     rs_parse_u64(*parts[0] ? parts[0]
			  : task    ? task
				    : "",
			  ret_chunk, NULL) &&
	     rs_parse_u64(parts[1], ret_of, NULL) && *ret_of && *ret_chunk < *ret_of;
	g_strfreev(parts);
	if (!ok)
		g_set_error(error, RS_ERROR, RS_ERROR_USAGE,
			    "--chunk %s: write K/N with K below N, as in 0/16", chunk_text);
	return ok;
}

static int run_exec(int argc, char **argv)
{
	uint64_t chunk, of, done = 0, failed = 0;
	GError *error = NULL;
	struct sweep_plan *plan = load_plan(argc, argv, &error);
	unsigned parallel;
	int code;

	if (plan && parse_chunk(plan, &chunk, &of, &error) &&
	    parse_parallel(jobs_text, &parallel, &error) &&
	    sweep_exec(plan, argv[1], chunk, of, parallel, !quiet, &done, &failed, &error)) {
		printf("%" PRIu64 " done, %" PRIu64 " failed\n", done, failed);
		code = failed ? EXIT_UNFINISHED : EXIT_FINE;
	} else {
		code = command_fail(error);
	}
	sweep_plan_free(plan);
	return code;
}

/* ---- submit, status, collect ---- */

static int run_submit(int argc, char **argv)
{
	struct sweep_submission submission;
	GError *error = NULL;
	struct sweep_plan *plan = load_plan(argc, argv, &error);
	int code;

	if (!plan || !parse_submission(&submission, &error) ||
	    !sweep_submit(plan, argv[1], &submission, &error))
		code = command_fail(error);
	else
		code = dry_run || detach ? EXIT_FINE : report_status(plan, argv[1], stdout);
	sweep_plan_free(plan);
	return code;
}

static bool list_unfinished(const struct sweep_plan *plan, const char *folder, json_t *list,
			    GError **error)
{
	for (uint64_t i = 0; i < plan->nr_cells; i++) {
		struct sweep_cell cell;
		char *path, *why = NULL;

		if (!sweep_cell_init(plan, i, &cell, error))
			return false;
		if (!sweep_cell_done(folder, cell.id)) {
			path = sweep_cell_path(folder, cell.id, "failed");
			g_file_get_contents(path, &why, NULL, NULL);
			json_array_append_new(list, json_pack("{s:I, s:s, s:s, s:o}", "cell",
							      (json_int_t)i, "id", cell.id, "state",
							      why ? g_strchomp(why) : "missing",
							      "axes", sweep_cell_axes(plan, i)));
			g_free(why);
			g_free(path);
		}
		sweep_cell_clear(&cell);
	}
	return true;
}

static void print_unfinished(json_t *list)
{
	json_t *row;
	size_t i;

	json_array_foreach(list, i, row)
	{
		char *axes = json_dumps(json_object_get(row, "axes"), JSON_COMPACT);

		printf("cell %" JSON_INTEGER_FORMAT " %s: %s\n",
		       json_integer_value(json_object_get(row, "cell")), axes,
		       json_string_value(json_object_get(row, "state")));
		free(axes);
	}
}

static int status_json(const struct sweep_plan *plan, const char *folder, json_t *list)
{
	struct sweep_counts counts;
	GError *error = NULL;
	json_t *object;
	char *text;

	if (!sweep_status(plan, folder, &counts, &error))
		return command_fail(error);
	object = json_pack("{s:s, s:s, s:I, s:I, s:I, s:I, s:O}", "schema", "reclaimsim.status/1",
			   "sweep", plan->name, "cells", (json_int_t)plan->nr_cells, "done",
			   (json_int_t)counts.done, "failed", (json_int_t)counts.failed, "missing",
			   (json_int_t)counts.missing, "unfinished", list);
	text = json_dumps(object, JSON_INDENT(1));
	puts(text);
	free(text);
	json_decref(object);
	return counts.failed || counts.missing ? EXIT_UNFINISHED : EXIT_FINE;
}

static int run_status(int argc, char **argv)
{
	GError *error = NULL;
	struct sweep_plan *plan = load_plan(argc, argv, &error);
	json_t *list = json_array();
	int code;

	if (!plan || ((list_cells || as_json) && !list_unfinished(plan, argv[1], list, &error))) {
		code = command_fail(error);
	} else if (as_json) {
		code = status_json(plan, argv[1], list);
	} else {
		print_unfinished(list);
		code = report_status(plan, argv[1], stdout);
	}
	json_decref(list);
	sweep_plan_free(plan);
	return code;
}

static void collect_json(const struct sweep_plan *plan, const struct sweep_cell *cell,
			 json_t *result, FILE *stream)
{
	json_t *object =
		json_pack("{s:I, s:s, s:o, s:O}", "cell", (json_int_t)cell->index, "id", cell->id,
			  "axes", sweep_cell_axes(plan, cell->index), "result", result);
	char *text = json_dumps(object, JSON_COMPACT);

	fprintf(stream, "%s\n", text);
	free(text);
	json_decref(object);
}

static void csv_cell(const char *text, FILE *stream)
{
	bool quote = strpbrk(text, ",\"\n") != NULL;

	fputs(quote ? "\"" : "", stream);
	for (; *text; text++)
		fprintf(stream, *text == '"' ? "\"\"" : "%c", *text);
	fputs(quote ? "\"" : "", stream);
}

/* Axes, then counters; head before the first row. */
static bool collect_csv(const struct sweep_plan *plan, const struct sweep_cell *cell,
			json_t *result, GPtrArray **names, FILE *stream, GError **error)
{
	json_t *axes = sweep_cell_axes(plan, cell->index), *value;
	const char *key, *comma = "";

	if (!*names) {
		*names = metric_select(&result, 1, counters, error);
		for (guint a = 0; *names && a < plan->axes->len; a++) {
			fputs(a ? "," : "", stream);
			csv_cell(((struct sweep_axis *)g_ptr_array_index(plan->axes, a))->key,
				 stream);
		}
		for (guint n = 0; *names && n < (*names)->len; n++)
			fprintf(stream, ",%s", (const char *)g_ptr_array_index(*names, n));
		fputs(*names ? "\n" : "", stream);
	}
	json_object_foreach(axes, key, value)
	{
		fputs(comma, stream);
		csv_cell(json_string_value(value), stream);
		comma = ",";
	}
	for (guint n = 0; *names && n < (*names)->len; n++) {
		struct metric metric;

		if (!metric_value(result, NULL, g_ptr_array_index(*names, n), &metric))
			fputs(",", stream);
		else if (metric.integer)
			fprintf(stream, ",%" PRId64, metric.count);
		else
			fprintf(stream, ",%g", metric.value);
	}
	fputs("\n", stream);
	json_decref(axes);
	return *names != NULL;
}

static bool collect_all(const struct sweep_plan *plan, const char *folder, FILE *stream,
			uint64_t *ret_missing, GError **error)
{
	GPtrArray *names = NULL;
	bool ok = true;

	*ret_missing = 0;
	for (uint64_t i = 0; i < plan->nr_cells && ok; i++) {
		struct sweep_cell cell;
		char *path;
		json_t *result;

		if (!sweep_cell_init(plan, i, &cell, error))
			return false;
		path = sweep_cell_path(folder, cell.id, "json");
		result = sweep_cell_done(folder, cell.id) ? json_load_file(path, 0, NULL) : NULL;
		if (!result)
			++*ret_missing;
		else if (counters)
			ok = collect_csv(plan, &cell, result, &names, stream, error);
		else
			collect_json(plan, &cell, result, stream);
		json_decref(result);
		g_free(path);
		sweep_cell_clear(&cell);
	}
	if (names)
		g_ptr_array_unref(names);
	return ok;
}

static int run_collect(int argc, char **argv)
{
	GError *error = NULL;
	struct sweep_plan *plan = load_plan(argc, argv, &error);
	struct output *output = plan ? output_open(output_path, &error) : NULL;
	uint64_t missing = 0;
	int code = EXIT_FINE;

	if (output && !collect_all(plan, argv[1], output_stream(output), &missing, &error)) {
		output_abort(output);
		code = command_fail(error);
	} else if (!output || !output_close(output, &error)) {
		code = command_fail(error);
	} else if (missing) {
		command_usage("%" PRIu64 " of %" PRIu64 " cells have no result", missing,
			      plan->nr_cells);
		code = EXIT_UNFINISHED;
	}
	sweep_plan_free(plan);
	return code;
}

/* ---- one shot ---- */

static int run_one_shot(int argc, char **argv)
{
	struct sweep_submission submission;
	struct sweep_plan *plan;
	GError *error = NULL;
	int code;

	if (argc != 2 || (!dir && !dry_run))
		return command_usage("%s, see \"reclaimsim sweep --help\"",
				     argc != 2 ? "one spec is needed" : "-o DIR is missing");
	if (!parse_submission(&submission, &error))
		return command_fail(error);
	plan = sweep_plan_from_spec(argv[1], &error);
	if (!plan)
		return command_fail(error);
	if (dry_run) {
		print_axes(plan);
		print_estimate(plan, submission.jobs);
		code = EXIT_FINE;
	} else if (!sweep_plan_save(plan, dir, &error) ||
		   !sweep_submit(plan, dir, &submission, &error)) {
		code = command_fail(error);
	} else {
		code = detach ? EXIT_FINE : report_status(plan, dir, stderr);
	}
	sweep_plan_free(plan);
	return code;
}

static const struct rs_command sweep_plan = {
	.name = "plan",
	.arguments = "SPEC.json -o DIR",
	.summary = "expand a spec into the cells of a sweep",
	.example = "  reclaimsim sweep plan sweep.json -o sweep",
	.options = plan_options,
	.run = run_plan,
};
static const struct rs_command sweep_exec_command = {
	.name = "exec",
	.arguments = "DIR [--chunk K/N | --cell NUMBER] [OPTION...]",
	.summary = "run cells that have no result yet, on this host",
	.about = "\"--chunk /N\" takes K from $SLURM_ARRAY_TASK_ID. Exit code 0 only if every cell "
		 "of\n"
		 "the chunk has a result.",
	.example = "  reclaimsim sweep exec sweep --chunk 0/16",
	.options = exec_options,
	.run = run_exec,
};
static const struct rs_command sweep_submit_command = {
	.name = "submit",
	.arguments = "DIR [--executor E] [OPTION...] [-- ENGINE-OPTION...]",
	.summary = "hand the cells to this host, GNU parallel or Slurm",
	.about = "What stands behind \"--\" goes to parallel or sbatch unchanged. Writes "
		 "DIR/job.sh.",
	.example =
		"  reclaimsim sweep submit sweep --executor slurm -- --partition=long --account=mm",
	.options = submit_options,
	.takes_rest = true,
	.run = run_submit,
};
static const struct rs_command sweep_status_command = {
	.name = "status",
	.arguments = "DIR [OPTION...]",
	.summary = "count cells that are done, failed, missing",
	.example = "  reclaimsim sweep status sweep --list",
	.options = status_options,
	.run = run_status,
};
static const struct rs_command sweep_collect = {
	.name = "collect",
	.arguments = "DIR [-o FILE] [--counters LIST]",
	.summary = "all results in one file: JSON lines, or CSV of some counters",
	.example = "  reclaimsim sweep collect sweep --counters pgmajfault,pswpin -o sweep.csv",
	.options = collect_options,
	.run = run_collect,
};
static const struct rs_command *const steps[] = {
	&sweep_plan,	       &sweep_exec_command, &sweep_submit_command,
	&sweep_status_command, &sweep_collect,	    NULL,
};

const struct rs_command cmd_sweep = {
	.name = "sweep",
	.arguments = "SPEC.json -o DIR [OPTION...] [-- ENGINE-OPTION...]",
	.summary = "run many cells: policies x settings x traces x seeds",
	.about = "Plans, runs, waits and says whether all cells have a result. Run it again to go "
		 "on\n"
		 "where it stopped: finished cells are left alone, failed ones tried again.",
	.example = "  reclaimsim sweep sweep.json -o sweep --executor slurm -- --partition=long\n"
		   "  reclaimsim plot curve sweep -o curve.svg",
	.options = one_shot_options,
	.subcommands = steps,
	.takes_rest = true,
	.run = run_one_shot,
};
