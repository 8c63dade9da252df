/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cmd_check.c - run a suite, judge its assertions, compare with the baseline.
 */
#include "tools/baseline.h"
#include "tools/metric.h"
#include "tools/simulate.h"
#include "tools/stats.h"
#include "tools/suite.h"
#include "tools/table.h"
#include "tools/tools.h"
#include "tools/verdict.h"

#include <math.h>
#include <string.h>

static char *baseline_path, *junit_path, *tap_path, *markdown_path, *json_path, *only, *jobs_text,
	*color;
static gboolean update, strict, bisect, quiet;

static const GOptionEntry options[] = {
	{ "baseline", 'b', 0, G_OPTION_ARG_FILENAME, &baseline_path,
	  "stored numbers (default: what the suite names)", "FILE" },
	{ "update", 0, 0, G_OPTION_ARG_NONE, &update, "write the baseline anew", NULL },
	{ "strict", 0, 0, G_OPTION_ARG_NONE, &strict,
	  "improvements beyond the tolerance fail as well", NULL },
	{ "only", 0, 0, G_OPTION_ARG_STRING, &only, "scenarios that match the pattern", "PATTERN" },
	{ "junit", 0, 0, G_OPTION_ARG_FILENAME, &junit_path, "write JUnit XML", "FILE" },
	{ "tap", 0, 0, G_OPTION_ARG_FILENAME, &tap_path, "write TAP", "FILE" },
	{ "markdown", 0, 0, G_OPTION_ARG_FILENAME, &markdown_path, "write a Markdown summary",
	  "FILE" },
	{ "json", 0, 0, G_OPTION_ARG_FILENAME, &json_path, "write the verdicts as JSON", "FILE" },
	{ "bisect", 0, 0, G_OPTION_ARG_NONE, &bisect,
	  "exit with 125 instead of 2 and 3: git bisect skips the commit", NULL },
	{ "jobs", 'j', 0, G_OPTION_ARG_STRING, &jobs_text, "runs at once (default: one a CPU)",
	  "N" },
	{ "quiet", 'q', 0, G_OPTION_ARG_NONE, &quiet, "no progress", NULL },
	{ "color", 0, 0, G_OPTION_ARG_STRING, &color,
	  "auto (on a terminal, unless NO_COLOR is set; the default), always or never", "WHEN" },
	PROGRESS_OPTION,
	{ 0 },
};

/* All runs of a scenario: [column * nr_seeds + seed], NULL where a run failed. */
struct runs {
	const struct suite_scenario *scenario;
	struct job *jobs;
	json_t **results;
	unsigned nr;
};

static bool selected(const struct suite_scenario *scenario)
{
	return !only || g_pattern_match_simple(only, scenario->name);
}

/* ---- running ---- */

static struct runs *make_runs(const struct suite *suite, GArray *jobs)
{
	struct runs *runs = g_new0(struct runs, suite->scenarios->len);

	for (guint i = 0; i < suite->scenarios->len; i++) {
		const struct suite_scenario *scenario = g_ptr_array_index(suite->scenarios, i);

		runs[i].scenario = scenario;
		if (!selected(scenario))
			continue;
		runs[i].nr = scenario->columns->len * scenario->nr_seeds;
		for (unsigned n = 0; n < runs[i].nr; n++) {
			const struct suite_column *column =
				g_ptr_array_index(scenario->columns, n / scenario->nr_seeds);
			struct job job = { .trace = scenario->trace,
					   .policy = column->policy,
					   .scenario = column->scenarios[n % scenario->nr_seeds] };

			g_array_append_val(jobs, job);
		}
	}
	return runs;
}

static void collect(struct runs *runs, guint nr, GArray *jobs)
{
	struct job *job = (struct job *)(void *)jobs->data;

	for (guint i = 0; i < nr; i++) {
		runs[i].jobs = job;
		runs[i].results = g_new0(json_t *, runs[i].nr + 1);
		for (unsigned n = 0; n < runs[i].nr; n++, job++)
			runs[i].results[n] = job->text ? json_loads(job->text, 0, NULL) : NULL;
	}
}

/* ---- assertions ---- */

struct seed_view {
	const struct runs *runs;
	unsigned seed;
};

static bool look_up(void *arg, const char *column, const char *metric, const char *snapshot,
		    double *ret, GError **error)
{
	const struct seed_view *view = arg;
	const struct suite_scenario *scenario = view->runs->scenario;
	struct metric value;

	for (guint c = 0; c < scenario->columns->len; c++) {
		const struct suite_column *candidate = g_ptr_array_index(scenario->columns, c);
		json_t *result = view->runs->results[c * scenario->nr_seeds + view->seed];

		if (strcmp(candidate->name, column) != 0)
			continue;
		if (!metric_value(result, snapshot, metric, &value)) {
			g_set_error(error, RS_ERROR, RS_ERROR_INPUT, "%s has no %s%s%s", column,
				    metric, snapshot ? " at mark " : "", snapshot ? snapshot : "");
			return false;
		}
		*ret = value.value;
		return true;
	}
	g_set_error(error, RS_ERROR, RS_ERROR_INPUT, "no policy is called \"%s\"", column);
	return false;
}

static char *number(double value)
{
	return value == floor(value) && fabs(value) < 9e15 ? format_count((int64_t)value)
							   : g_strdup_printf("%.4g", value);
}

static char *describe_sides(const double *left, const double *right, unsigned nr_seeds)
{
	char *l = number(stats_mean(left, nr_seeds)), *r = number(stats_mean(right, nr_seeds));
	char *change = format_change(stats_mean(right, nr_seeds), stats_mean(left, nr_seeds));
	char *text = g_strdup_printf("left %s, right %s (%s)%s", l, r, change,
				     nr_seeds > 1 ? ", means; the 95% interval must hold" : "");

	g_free(l);
	g_free(r);
	g_free(change);
	return text;
}

static void judge_assertion(const struct runs *runs, const struct suite_assertion *assertion,
			    GPtrArray *verdicts)
{
	const struct suite_scenario *scenario = runs->scenario;
	unsigned n = scenario->nr_seeds;
	double *left = g_new0(double, n), *right = g_new0(double, n),
	       *difference = g_new0(double, n);
	struct interval interval;
	double tolerance = 0;
	GError *error = NULL;

	for (unsigned s = 0; s < n && !error; s++) {
		struct seed_view view = { runs, s };
		struct expr_sides sides;

		if (!expr_evaluate(assertion->expr, look_up, &view, &sides, &error))
			break;
		left[s] = sides.left;
		right[s] = sides.right;
		difference[s] = sides.left - sides.right;
		tolerance += sides.tolerance / n;
	}
	if (error) {
		verdict_new(verdicts, VERDICT_ERROR, scenario->name, assertion->text,
			    g_strdup(error->message));
		g_error_free(error);
	} else {
		bool holds;

		interval = stats_bootstrap(difference, n);
		holds = n == 1 ? expr_holds(assertion->expr, *difference, *difference, tolerance)
			       : expr_holds(assertion->expr, interval.low, interval.high,
					    tolerance);
		verdict_new(verdicts, holds ? VERDICT_PASS : VERDICT_FAIL, scenario->name,
			    assertion->text, describe_sides(left, right, n));
	}
	g_free(left);
	g_free(right);
	g_free(difference);
}

/* ---- baseline ---- */

static enum verdict_kind judge_change(const struct suite_metric *metric, double expected,
				      double found)
{
	double allowed = fmax(metric->absolute, metric->relative * fabs(expected));
	bool better = metric->direction == DIRECTION_LOWER    ? found < expected
		      : metric->direction == DIRECTION_HIGHER ? found > expected
							      : false;

	if (fabs(found - expected) <= allowed)
		return VERDICT_PASS;
	return better && !strict ? VERDICT_IMPROVED : VERDICT_FAIL;
}

static char *describe_change(const struct suite_metric *metric, double expected, double found)
{
	char *e = number(expected), *f = number(found), *change = format_change(expected, found);
	char *text = g_strdup_printf("%s, expected %s +- %g%% (%s)", f, e, 100 * metric->relative,
				     change);

	g_free(e);
	g_free(f);
	g_free(change);
	return text;
}

static bool mean_over_seeds(const struct runs *runs, guint column, const char *name, double *ret)
{
	unsigned n = runs->scenario->nr_seeds;
	double sum = 0;

	for (unsigned s = 0; s < n; s++) {
		struct metric metric;

		if (!metric_value(runs->results[column * n + s], NULL, name, &metric))
			return false;
		sum += metric.value;
	}
	*ret = sum / n;
	return true;
}

static bool anybody_counts(const struct runs *runs, const char *name)
{
	double value;

	for (guint c = 0; c < runs->scenario->columns->len; c++) {
		if (mean_over_seeds(runs, c, name, &value))
			return true;
	}
	return false;
}

static bool judge_metric(const struct runs *runs, guint c, const struct suite_metric *metric,
			 struct baseline *old, struct baseline *fresh, GPtrArray *verdicts,
			 GError **error)
{
	const struct suite_scenario *scenario = runs->scenario;
	const struct suite_column *column = g_ptr_array_index(scenario->columns, c);
	json_t *result = runs->results[c * scenario->nr_seeds];
	const char *digest =
		json_string_value(json_object_get(json_object_get(result, "trace"), "sha256"));
	char *name = g_strdup_printf("%s/%s", scenario->name, column->name);
	char *what = g_strdup_printf("%s.%s", column->name, metric->name);
	const char *stored_digest;
	double expected, found;
	bool stored = baseline_get(old, name, metric->name, &expected, &stored_digest);
	bool ok = true;

	if (!mean_over_seeds(runs, c, metric->name, &found)) {
		/* Policies differ in what they count; what was there once must still be there. */
		if (stored && !update)
			verdict_new(verdicts, VERDICT_ERROR, scenario->name, what,
				    g_strdup_printf("%s has no %s any more", column->name,
						    metric->name));
	} else if (!stored) {
		verdict_new(verdicts, VERDICT_NEW, scenario->name, what,
			    g_strdup("nothing stored, see --update"));
	} else if (!update && stored_digest && digest && strcmp(stored_digest, digest) != 0) {
		g_set_error(error, RS_ERROR, RS_ERROR_INPUT,
			    "%s: the baseline was made with another trace, see --update", name);
		ok = false;
	} else {
		verdict_new(verdicts, judge_change(metric, expected, found), scenario->name, what,
			    describe_change(metric, expected, found));
	}
	if (ok && mean_over_seeds(runs, c, metric->name, &found))
		baseline_set(fresh, name, digest, metric->name, found);
	g_free(name);
	g_free(what);
	return ok;
}

/* ---- all of it ---- */

static bool judge_scenario(const struct runs *runs, struct baseline *old, struct baseline *fresh,
			   GPtrArray *verdicts, GError **error)
{
	const struct suite_scenario *scenario = runs->scenario;

	for (unsigned n = 0; n < runs->nr; n++) {
		const struct suite_column *column =
			g_ptr_array_index(scenario->columns, n / scenario->nr_seeds);

		if (runs->results[n])
			continue;
		verdict_new(verdicts, VERDICT_ERROR, scenario->name, column->name,
			    g_strdup(runs->jobs[n].error->message));
		return true; /* the rest of the scenario says nothing */
	}
	for (guint i = 0; i < scenario->assertions->len; i++)
		judge_assertion(runs, g_ptr_array_index(scenario->assertions, i), verdicts);
	for (guint i = 0; i < scenario->metrics->len; i++) {
		const struct suite_metric *metric = g_ptr_array_index(scenario->metrics, i);

		if (!anybody_counts(runs, metric->name))
			verdict_new(verdicts, VERDICT_ERROR, scenario->name, metric->name,
				    g_strdup("no policy has this counter"));
		for (guint c = 0; c < scenario->columns->len; c++) {
			if (!judge_metric(runs, c, g_ptr_array_index(scenario->metrics, i), old,
					  fresh, verdicts, error))
				return false;
		}
	}
	return true;
}

static bool write_report(const GPtrArray *verdicts, const char *suite, const char *path,
			 enum verdict_format format, GError **error)
{
	struct output *output;

	if (!path)
		return true;
	output = output_open(path, error);
	if (!output)
		return false;
	verdicts_print(verdicts, suite, format, output_stream(output));
	return output_close(output, error);
}

static bool write_reports(const GPtrArray *verdicts, const char *suite, GError **error)
{
	verdicts_print(verdicts, suite, VERDICTS_TEXT, stdout);
	return write_report(verdicts, suite, junit_path, VERDICTS_JUNIT, error) &&
	       write_report(verdicts, suite, tap_path, VERDICTS_TAP, error) &&
	       write_report(verdicts, suite, markdown_path, VERDICTS_MARKDOWN, error) &&
	       write_report(verdicts, suite, json_path, VERDICTS_JSON, error);
}

static int exit_code_of(const GPtrArray *verdicts)
{
	if (verdict_count(verdicts, VERDICT_FAIL))
		return EXIT_NO;
	if (verdict_count(verdicts, VERDICT_ERROR))
		return EXIT_UNFINISHED;
	if (verdict_count(verdicts, VERDICT_NEW) && !update)
		return EXIT_UNFINISHED;
	return EXIT_FINE;
}

/* Scenarios of the suite that did not run keep what was stored; what is no more is dropped. */
static void keep_stored(const struct suite *suite, const struct baseline *stored,
			struct baseline *fresh)
{
	const char *name;
	json_t *entry;

	json_object_foreach(stored->cases, name, entry)
	{
		for (guint i = 0; i < suite->scenarios->len; i++) {
			const struct suite_scenario *s = g_ptr_array_index(suite->scenarios, i);
			size_t length = strlen(s->name);

			if (!selected(s) && !strncmp(name, s->name, length) && name[length] == '/')
				json_object_set(fresh->cases, name, entry);
		}
	}
}

static int check(const struct suite *suite, const struct baseline *stored, const char *path,
		 unsigned parallel)
{
	GArray *jobs = g_array_new(FALSE, TRUE, sizeof(struct job));
	GPtrArray *verdicts = g_ptr_array_new_with_free_func(verdict_free);
	struct runs *runs = make_runs(suite, jobs);
	struct baseline *fresh = baseline_new();
	GError *error = NULL;
	bool ok = true;
	int code;

	simulate_all((struct job *)(void *)jobs->data, jobs->len, parallel, !quiet);
	collect(runs, suite->scenarios->len, jobs);
	for (guint i = 0; i < suite->scenarios->len && ok; i++)
		ok = !runs[i].nr ||
		     judge_scenario(&runs[i], (struct baseline *)stored, fresh, verdicts, &error);
	ok = ok && write_reports(verdicts, suite->name, &error);
	if (ok && update && path) {
		keep_stored(suite, stored, fresh);
		ok = baseline_save(fresh, path, &error);
	}
	code = ok ? exit_code_of(verdicts) : command_fail(error);
	if (ok && !jobs->len)
		code = command_usage("no scenario matches --only %s", only);
	for (guint i = 0; i < suite->scenarios->len; i++) {
		for (unsigned n = 0; n < runs[i].nr; n++)
			json_decref(runs[i].results[n]);
		g_free(runs[i].results);
	}
	jobs_clear((struct job *)(void *)jobs->data, jobs->len);
	baseline_free(fresh);
	g_free(runs);
	g_array_unref(jobs);
	g_ptr_array_unref(verdicts);
	return code;
}

static int run_suite(const char *path)
{
	GError *error = NULL;
	struct suite *suite = suite_load(path, &error);
	struct baseline *stored = NULL;
	const char *where = baseline_path;
	unsigned parallel;
	int code;

	if (suite && !where)
		where = suite->baseline;
	if (suite && command_color(color, &verdicts_color, &error) &&
	    parse_parallel(jobs_text, &parallel, &error)) {
		if (update && !where)
			g_set_error(&error, RS_ERROR, RS_ERROR_USAGE,
				    "--update: neither the suite nor --baseline names a file");
		else
			stored = where ? baseline_load(where, &error) : baseline_new();
	}
	code = stored ? check(suite, stored, where, parallel) : command_fail(error);
	baseline_free(stored);
	suite_free(suite);
	return code;
}

static int run(int argc, char **argv)
{
	int code;

	if (argc != 2)
		return command_usage("%s, see \"reclaimsim check --help\"",
				     argc < 2 ? "the suite is missing" : "one suite is enough");
	code = run_suite(argv[1]);
	return bisect && code >= EXIT_BAD_USE ? 125 : code;
}

const struct rs_command cmd_check = {
	.name = "check",
	.arguments = "SUITE.json [OPTION...]",
	.summary = "run a suite of scenarios and judge its assertions",
	.about = "Exit codes: 0 all hold, 1 one fails or a counter left its tolerance, 2 the suite "
		 "or\n"
		 "its input is wrong, 3 something could not be run or has no baseline yet. With "
		 "seeds\n"
		 "an assertion must hold for the whole 95% interval of the difference.",
	.example =
		"  reclaimsim check tools/suites/reclaim.json --junit junit.xml --markdown sum.md\n"
		"  git bisect run reclaimsim check --bisect suite.json",
	.options = options,
	.run = run,
};
