/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cmd_compare.c - one trace under several policies and machine variants, side by side.
 */
#include "tools/compare.h"
#include "tools/report.h"
#include "tools/scenario_options.h"
#include "tools/simulate.h"
#include "tools/tools.h"
#include "sim/base/units.h"

#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

static char **policies, **variants;
static char *output_path, *report_dir, *counters, *format_name, *seeds_text, *jobs_text;
static gboolean as_json, quiet, exit_code;

static const GOptionEntry options[] = {
	{ "policy", 'p', 0, G_OPTION_ARG_STRING_ARRAY, &policies,
	  "a policy; the first one is the base, give at least two columns",
	  "NAME[:PARAM=VALUE,...]" },
	{ "variant", 0, 0, G_OPTION_ARG_STRING_ARRAY, &variants,
	  "columns for each policy with these settings; may be repeated", "KEY=VALUE[,...]" },
	SCENARIO_OPTIONS,
	{ "counters", 'c', 0, G_OPTION_ARG_STRING, &counters,
	  "rows: counters, patterns or groups (main fault refault swap scan lru ...)", "LIST" },
	{ "seeds", 0, 0, G_OPTION_ARG_STRING, &seeds_text,
	  "run with N seeds and test the differences", "N" },
	{ "format", 'f', 0, G_OPTION_ARG_STRING, &format_name, "text, markdown, csv or json", "F" },
	{ "json", 0, 0, G_OPTION_ARG_NONE, &as_json, "short for --format json", NULL },
	{ "output", 'o', 0, G_OPTION_ARG_FILENAME, &output_path,
	  "write there instead of standard output", "FILE" },
	{ "report", 0, 0, G_OPTION_ARG_FILENAME, &report_dir,
	  "also write DIR/index.html: tables, pictures, settings on one page", "DIR" },
	{ "jobs", 'j', 0, G_OPTION_ARG_STRING, &jobs_text, "runs at once (default: one a CPU)",
	  "N" },
	{ "exit-code", 0, 0, G_OPTION_ARG_NONE, &exit_code, "exit with 1 if any row differs",
	  NULL },
	{ "quiet", 'q', 0, G_OPTION_ARG_NONE, &quiet, "no progress", NULL },
	PROGRESS_OPTION,
	{ 0 },
};

/* Column = policy x variant; each has a scenario for every seed. */
struct plan {
	unsigned nr_columns, nr_seeds;
	char **labels;
	const char **column_policy;
	struct rs_scenario **scenarios; /* [column * nr_seeds + seed] */
};

static void plan_clear(struct plan *plan)
{
	for (unsigned i = 0; i < plan->nr_columns * plan->nr_seeds; i++)
		rs_scenario_free(plan->scenarios[i]);
	g_free(plan->scenarios);
	g_free(plan->column_policy);
	g_strfreev(plan->labels);
}

static struct rs_scenario *variant_scenario(const struct rs_scenario *base, const char *variant,
					    GError **error)
{
	struct rs_scenario *scenario = rs_scenario_copy(base);
	char **words = g_strsplit(variant ? variant : "", ",", -1);
	bool ok = true;

	for (unsigned i = 0; words[i] && ok; i++)
		ok = scenario_apply(scenario, words[i], error);
	ok = ok && rs_scenario_check(scenario, error);
	g_strfreev(words);
	if (ok)
		return scenario;
	rs_scenario_free(scenario);
	return NULL;
}

/* One column, seed after seed: the scenario's own seed, and the ones that follow it. */
static bool plan_column(struct plan *plan, unsigned column, const struct rs_scenario *base,
			const char *policy, const char *variant, GError **error)
{
	plan->column_policy[column] = policy;
	plan->labels[column] =
		variant ? g_strdup_printf("%s %s", policy, variant) : g_strdup(policy);
	for (unsigned s = 0; s < plan->nr_seeds; s++) {
		struct rs_scenario *scenario = variant_scenario(base, variant, error);
		char *seed;

		plan->scenarios[column * plan->nr_seeds + s] = scenario;
		if (!scenario)
			return false;
		if (plan->nr_seeds == 1)
			continue;
		seed = g_strdup_printf("%u", s + 1);
		rs_scenario_set(scenario, "seed", seed, NULL);
		g_free(seed);
	}
	return true;
}

static bool plan_make(struct plan *plan, const struct rs_scenario *base, GError **error)
{
	unsigned nr_policies = policies ? g_strv_length(policies) : 0;
	unsigned nr_variants = variants ? g_strv_length(variants) : 1;
	bool ok = true;

	plan->nr_columns = nr_policies * nr_variants;
	if (plan->nr_columns < 2 || plan->nr_columns > 24) {
		plan->nr_columns = 0;
		g_set_error(error, RS_ERROR, RS_ERROR_USAGE,
			    "give two to 24 columns, for example --policy classic --policy mglru");
		return false;
	}
	plan->labels = g_new0(char *, plan->nr_columns + 1);
	plan->column_policy = g_new0(const char *, plan->nr_columns);
	plan->scenarios = g_new0(struct rs_scenario *, plan->nr_columns * plan->nr_seeds);
	for (unsigned i = 0; i < plan->nr_columns && ok; i++)
		ok = plan_column(plan, i, base, policies[i / nr_variants],
				 variants ? variants[i % nr_variants] : NULL, error);
	return ok;
}

/* Run everything; the results as JSON, NULL if a run failed. */
static json_t **plan_run(const struct plan *plan, const char *trace, unsigned parallel,
			 GError **error)
{
	unsigned nr = plan->nr_columns * plan->nr_seeds;
	struct job *jobs = g_new0(struct job, nr);
	json_t **results = NULL;

	for (unsigned i = 0; i < nr; i++) {
		jobs[i].trace = trace;
		jobs[i].policy = plan->column_policy[i / plan->nr_seeds];
		jobs[i].scenario = plan->scenarios[i];
	}
	if (simulate_all(jobs, nr, parallel, !quiet)) {
		results = g_new0(json_t *, nr);
		for (unsigned i = 0; i < nr; i++)
			results[i] = json_loads(jobs[i].text, 0, NULL);
	}
	for (unsigned i = 0; i < nr && !results; i++) {
		if (jobs[i].error) {
			g_propagate_error(error, g_steal_pointer(&jobs[i].error));
			break;
		}
	}
	jobs_clear(jobs, nr);
	g_free(jobs);
	return results;
}

static void print_head(const struct comparison *c, const char *trace, FILE *stream)
{
	json_t *settings = json_object_get(c->results[0], "settings");
	json_t *limit = json_object_get(settings, "memory.max");
	char *memory = json_is_integer(limit) ? format_count(json_integer_value(limit) >> 10)
					      : g_strdup("no limit");

	fprintf(stream, "reclaimsim %s, kernel %s, trace %s,\nmemory.max %s%s, %s\n\n", RS_VERSION,
		json_string_value(json_object_get(c->results[0], "kernel")), trace, memory,
		json_is_integer(limit) ? " kB" : "",
		c->exact ? (c->nr_seeds > 1 ? "exact (all seeds gave the same)" : "exact (n=1)")
			 : "paired by seed");
	g_free(memory);
}

static void print_foot(const struct comparison *c, int format, FILE *stream)
{
	if (c->exact)
		return;
	fprintf(stream, "\nn=%u seeds; +-: half of the 95%% interval of the mean.\n", c->nr_seeds);
	if (c->nr_seeds < 5)
		fprintf(stream, "Fewer than 5 seeds: no difference is claimed.\n");
	else
		fprintf(stream,
			"%s* the paired difference is not 0 (bootstrap, 10,000 resamples, 95%%,\n"
			"  Holm-corrected for %u rows) and at least %g%%; ~ no difference shown.\n",
			format == TABLE_MARKDOWN ? "\\" : "", c->rows->len, 100 * c->min_effect);
}

static bool print_comparison(const struct comparison *c, const char *trace, int format,
			     GError **error)
{
	struct output *output = output_open(output_path, error);
	FILE *stream;

	if (!output)
		return false;
	stream = output_stream(output);
	if (format == 3) {
		json_t *object = comparison_json(c);
		char *text = json_dumps(object, 0);

		fprintf(stream, "%s\n", text);
		free(text);
		json_decref(object);
	} else {
		if (format != TABLE_CSV)
			print_head(c, trace, stream);
		comparison_print(c, (enum table_format)format, stream);
		if (format != TABLE_CSV)
			print_foot(c, format, stream);
	}
	return output_close(output, error);
}

static bool differs(const struct comparison *c)
{
	for (guint r = 0; r < c->rows->len; r++) {
		const struct row *row = g_ptr_array_index(c->rows, r);

		for (unsigned column = 1; column < c->nr_columns; column++) {
			if (c->exact ? row->difference[column].mean != 0 : row->significant[column])
				return true;
		}
	}
	return false;
}

static int compare(const struct rs_scenario *base, const char *trace, int format, unsigned nr_seeds,
		   unsigned parallel)
{
	struct plan plan = { .nr_seeds = nr_seeds };
	struct comparison *c = NULL;
	json_t **results = NULL;
	GError *error = NULL;
	int code = EXIT_FINE;

	if (plan_make(&plan, base, &error))
		results = plan_run(&plan, trace, parallel, &error);
	if (results)
		c = comparison_new(plan.nr_columns, plan.nr_seeds, g_strdupv(plan.labels), results,
				   counters, &error);
	if (!c || !print_comparison(c, trace, format, &error) ||
	    (report_dir && !report_write(c, report_dir, trace, &error)))
		code = command_fail(error);
	else if (exit_code && differs(c))
		code = EXIT_NO;
	comparison_free(c);
	plan_clear(&plan);
	return code;
}

static bool parse_format(int *ret)
{
	static const char *const names[] = { "text", "markdown", "csv", "json" };

	if (as_json) {
		*ret = 3;
		return true;
	}
	for (int i = 0; i < 4; i++) {
		if (!strcmp(format_name ? format_name : "text", names[i])) {
			*ret = i;
			return true;
		}
	}
	return false;
}

static int run(int argc, char **argv)
{
	struct rs_scenario *base;
	unsigned parallel;
	int64_t nr_seeds = 1;
	GError *error = NULL;
	char *spool = NULL;
	int format, code;

	if (argc != 2)
		return command_usage("%s, see \"reclaimsim compare --help\"",
				     argc < 2 ? "the trace is missing" : "one trace is enough");
	if (!parse_format(&format))
		return command_usage("--format %s: text, markdown, csv or json", format_name);
	if (seeds_text && !rs_parse_int(seeds_text, 1, 1000, &nr_seeds, &error))
		return command_fail(error);
	if (!parse_parallel(jobs_text, &parallel, &error))
		return command_fail(error);
	if (!strcmp(argv[1], "-"))
		spool = simulate_spool_stdin(&error);
	base = error ? NULL : scenario_from_options(spool ? spool : argv[1], &error);
	if (!base)
		code = command_fail(error);
	else
		code = compare(base, spool ? spool : argv[1], format, (unsigned)nr_seeds, parallel);
	if (spool)
		g_unlink(spool);
	g_free(spool);
	rs_scenario_free(base);
	return code;
}

const struct rs_command cmd_compare = {
	.name = "compare",
	.arguments = "TRACE --policy P --policy P... [OPTION...]",
	.summary = "replay a trace under several policies and print them side by side",
	.about = "The first column is the base. Rows: the kernel's counters at the end of the "
		 "trace,\n"
		 "then simulated time, CPU time spent in reclaim, and CPU time by activity.\n"
		 "pgscan and pgsteal are the sums over anon and file. A recorded trace under a\n"
		 "deterministic machine gives exact numbers; with --seeds differences are tested.",
	.example =
		"  reclaimsim compare build.trace --policy classic --policy mglru --policy opt \\\n"
		"      --set memory.max=64M --format markdown",
	.options = options,
	.run = run,
};
