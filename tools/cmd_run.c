/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cmd_run.c - one trace under one policy.
 */
#include "tools/metric.h"
#include "tools/observe.h"
#include "tools/scenario_options.h"
#include "tools/simulate.h"
#include "tools/table.h"
#include "tools/timeline.h"
#include "tools/tools.h"

#include <string.h>

static char *policy, *output_path, *counters, *events_path, *timeline_path;
static char **watches;
static gboolean as_json, show_config;

static const GOptionEntry options[] = {
	{ "policy", 'p', 0, G_OPTION_ARG_STRING, &policy,
	  "reclaim policy, see \"reclaimsim list policies\"", "NAME[:PARAM=VALUE,...]" },
	SCENARIO_OPTIONS,
	{ "json", 0, 0, G_OPTION_ARG_NONE, &as_json, "print the whole result as JSON", NULL },
	{ "output", 'o', 0, G_OPTION_ARG_FILENAME, &output_path,
	  "write the result there instead of standard output", "FILE" },
	{ "counters", 'c', 0, G_OPTION_ARG_STRING, &counters,
	  "counters, patterns or groups of the table (default: all that are not 0)", "LIST" },
	{ "watch", 'w', 0, G_OPTION_ARG_STRING_ARRAY, &watches,
	  "tell the life of these pages; the counters then need -o; may be repeated",
	  "REGION:PAGE[-PAGE]|file:NAME:PAGE[-PAGE]" },
	{ "events", 0, 0, G_OPTION_ARG_FILENAME, &events_path,
	  "write the kernel's trace events there, as tracefs' trace file has them", "FILE" },
	{ "timeline", 0, 0, G_OPTION_ARG_FILENAME, &timeline_path,
	  "write what went on when there, for Perfetto (ui.perfetto.dev) or chrome://tracing: "
	  "threads, CPUs, waits, faults, reclaim, aging, I/O, free memory",
	  "FILE" },
	{ "show-config", 0, 0, G_OPTION_ARG_NONE, &show_config,
	  "print the settings in force as a machine file and stop", NULL },
	{ 0 },
};

/* Columns: the last marks that fit 80 columns, "end" the last of them. */
#define MAX_MARKS 4u

static char *cell(json_t *result, const char *snapshot, const char *name)
{
	struct metric metric;

	if (!metric_value(result, snapshot, name, &metric))
		return g_strdup("-");
	return metric.integer ? format_count(metric.count) : g_strdup_printf("%.1f", metric.value);
}

static bool all_zero(json_t *result, const char *name)
{
	struct metric metric;

	return !metric_value(result, NULL, name, &metric) || metric.value == 0;
}

static void print_counters(json_t *result, GPtrArray *names, bool zeros, FILE *stream)
{
	json_t *snapshots = json_object_get(result, "snapshots");
	size_t n = json_array_size(snapshots), first = n > MAX_MARKS ? n - MAX_MARKS : 0;
	struct table *table = table_new(1 + (unsigned)(n - first));

	table_add(table, g_strdup(""));
	for (size_t i = first; i < n; i++)
		table_add(table, g_strdup(json_string_value(
					 json_object_get(json_array_get(snapshots, i), "name"))));
	for (guint r = 0; r < names->len; r++) {
		const char *name = g_ptr_array_index(names, r);

		if (!zeros && all_zero(result, name))
			continue;
		table_add(table, g_strdup(name));
		for (size_t i = first; i < n; i++) {
			const char *mark = json_string_value(
				json_object_get(json_array_get(snapshots, i), "name"));

			table_add(table, cell(result, i + 1 == n ? NULL : mark, name));
		}
	}
	table_print(table, TABLE_TEXT, stream);
	table_free(table);
	if (first)
		fprintf(stream, "(the last %u of %zu snapshots; --json has them all)\n", MAX_MARKS,
			n);
}

static void print_costs(json_t *result, FILE *stream)
{
	json_t *activities = json_object_get(json_object_get(result, "cost"), "by_activity"), *row;
	struct table *table = table_new(3);
	const char *name;

	table_add(table, g_strdup("CPU time"));
	table_add(table, g_strdup("ms"));
	table_add(table, g_strdup("calls"));
	json_object_foreach(activities, name, row)
	{
		json_int_t ns = json_integer_value(json_object_get(row, "ns"));
		json_int_t calls = json_integer_value(json_object_get(row, "calls"));

		if (!calls)
			continue;
		table_add(table, g_strdup(name));
		table_add(table, g_strdup_printf("%.3f", (double)ns / 1e6));
		table_add(table, format_count(calls));
	}
	fputc('\n', stream);
	table_print(table, TABLE_TEXT, stream);
	table_free(table);
}

/* Durations in microseconds: half of them, 99 % of them, all of them are not longer. */
static void print_latencies(json_t *result, FILE *stream)
{
	static const char *const columns[] = { "p50_ns", "p99_ns", "max_ns" };
	json_t *latencies = json_object_get(result, "latency"), *row;
	struct table *table;
	const char *name;

	if (!json_object_size(latencies))
		return;
	table = table_new(5);
	table_add(table, g_strdup("latency (us)"));
	table_add(table, g_strdup("p50"));
	table_add(table, g_strdup("p99"));
	table_add(table, g_strdup("max"));
	table_add(table, g_strdup("count"));
	json_object_foreach(latencies, name, row)
	{
		table_add(table, g_strdup(name));
		for (unsigned c = 0; c < G_N_ELEMENTS(columns); c++)
			table_add(table, g_strdup_printf("%.1f", json_number_value(json_object_get(
									 row, columns[c])) /
									 1e3));
		table_add(table, format_count(json_integer_value(json_object_get(row, "count"))));
	}
	fputc('\n', stream);
	table_print(table, TABLE_TEXT, stream);
	table_free(table);
}

/* Time under pressure so far, as a share of the run. */
static void print_pressure(json_t *result, double elapsed_ns, FILE *stream)
{
	static const char *const names[] = { "memory", "io", "cpu" };
	static const char *const kinds[] = { "some", "full" };
	json_t *psi = json_object_get(result, "psi");
	struct table *table = table_new(5);

	table_add(table, g_strdup("pressure (ms)"));
	for (unsigned k = 0; k < G_N_ELEMENTS(kinds); k++) {
		table_add(table, g_strdup(kinds[k]));
		table_add(table, g_strdup("%"));
	}
	for (unsigned r = 0; r < G_N_ELEMENTS(names); r++) {
		json_t *row = r ? json_object_get(psi, names[r]) : psi;

		table_add(table, g_strdup(names[r]));
		for (unsigned k = 0; k < G_N_ELEMENTS(kinds); k++) {
			double us = json_number_value(
				json_object_get(json_object_get(row, kinds[k]), "total"));

			table_add(table, g_strdup_printf("%.3f", us / 1e3));
			table_add(table,
				  g_strdup_printf("%.1f",
						  elapsed_ns > 0 ? us * 1e5 / elapsed_ns : 0));
		}
	}
	fputc('\n', stream);
	table_print(table, TABLE_TEXT, stream);
	table_free(table);
}

static bool print_text(json_t *result, const char *trace, FILE *stream, GError **error)
{
	GPtrArray *names = metric_select(&result, 1, counters ? counters : "all", error);
	struct metric elapsed, cpu;

	if (!names)
		return false;
	fprintf(stream, "reclaimsim %s, trace %s, policy %s, kernel %s\n\n", RS_VERSION, trace,
		json_string_value(json_object_get(result, "policy")),
		json_string_value(json_object_get(result, "kernel")));
	print_counters(result, names, counters != NULL, stream);
	g_ptr_array_unref(names);
	if (!metric_value(result, NULL, "elapsed_ns", &elapsed) ||
	    !metric_value(result, NULL, "reclaim_cpu_ns", &cpu))
		return true; /* the clairvoyant bound knows no time */
	fprintf(stream, "\nsimulated time    %.3f ms\nreclaim CPU time  %.3f ms\n",
		elapsed.value / 1e6, cpu.value / 1e6);
	if (json_object_get(result, "oom"))
		fprintf(stream, "OOM kill          %s\n",
			json_string_value(json_object_get(result, "oom")));
	print_pressure(result, elapsed.value, stream);
	print_latencies(result, stream);
	print_costs(result, stream);
	return true;
}

static void print_warnings(json_t *result)
{
	json_t *warning;
	size_t i;

	json_array_foreach(json_object_get(result, "warnings"), i, warning)
		command_warn("%s", json_string_value(warning));
}

static bool print_result(const char *text, const char *trace, GError **error)
{
	struct output *output = output_open(output_path, error);
	json_t *result;
	bool ok = true;

	if (!output)
		return false;
	result = json_loads(text, 0, NULL);
	print_warnings(result);
	if (as_json)
		fputs(text, output_stream(output));
	else
		ok = print_text(result, trace, output_stream(output), error);
	json_decref(result);
	if (ok)
		return output_close(output, error);
	output_abort(output);
	return false;
}

static int print_config(const struct rs_scenario *scenario)
{
	char *text = rs_scenario_settings_json(scenario);
	json_t *object = json_loads(text, 0, NULL);
	char *pretty = json_dumps(object, JSON_INDENT(2));

	puts(pretty);
	free(pretty);
	json_decref(object);
	g_free(text);
	return EXIT_FINE;
}

/* The run, with somebody looking on if that is asked for. Lives go where the counters would. */
static bool run_trace(const char *trace, const struct rs_scenario *scenario, GError **error)
{
	struct observing *observing = NULL;
	struct timeline_file *timeline = NULL;
	char *text = NULL;
	bool ok = true;

	if (watches || events_path) {
		observing = observing_new(watches, stdout, events_path, error);
		if (!observing)
			return false;
	}
	if (timeline_path) {
		timeline = timeline_file_new(timeline_path, trace, policy, scenario, error);
		ok = timeline != NULL;
	}
	if (ok)
		text = simulate_observed(trace, scenario, policy, observing, timeline, error);
	ok = text && (!observing || observing_finish(observing, error));
	if (ok && timeline)
		ok = timeline_file_finish(g_steal_pointer(&timeline), error);
	if (ok && (!watches || output_path))
		ok = print_result(text, trace, error);
	timeline_file_abort(timeline);
	observing_free(observing);
	g_free(text);
	return ok;
}

static int run(int argc, char **argv)
{
	GError *error = NULL;
	struct rs_scenario *scenario;
	int code = EXIT_FINE;

	if (argc != 2 && !show_config)
		return command_usage("%s, see \"reclaimsim run --help\"",
				     argc < 2 ? "the trace is missing" : "one trace is enough");
	if (!policy && !show_config)
		return command_usage("--policy is missing, for example --policy mglru");
	if (watches && as_json && !output_path)
		return command_usage("--watch and --json both want standard output: add -o FILE");
	if ((watches || events_path || timeline_path) && !g_strcmp0(policy, "opt"))
		return command_usage(
			"opt is a bound: nothing happens under it that could be watched");
	scenario = scenario_from_options(argc > 1 ? argv[1] : NULL, &error);
	if (!scenario)
		return command_fail(error);
	if (show_config) {
		code = print_config(scenario);
	} else {
		if (!run_trace(argv[1], scenario, &error))
			code = command_fail(error);
	}
	rs_scenario_free(scenario);
	return code;
}

const struct rs_command cmd_run = {
	.name = "run",
	.arguments = "TRACE --policy P [OPTION...]",
	.summary = "replay a trace under one policy and report the counters",
	.about = "TRACE is a file in the native format or in trace text, either may be compressed\n"
		 "with zstd; \"-\" is standard input. Counters are those of the kernel: vmstat "
		 "names\n"
		 "in pages since the start of the trace, one column for each of the last marks.",
	.example = "  reclaimsim run build.trace --policy mglru --kernel 6.12 \\\n"
		   "      --set memory.max=64M --set vm.swappiness=60 --json -o mglru.json",
	.options = options,
	.run = run,
};
