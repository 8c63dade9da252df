/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * test_suite.c - reading suites, telling verdicts, storing baselines.
 */
#include "lib/cm.h"
#include "tools/baseline.h"
#include "tools/suite.h"
#include "tools/verdict.h"

#include "sim/base/config.h"

#include <glib/gstdio.h>

static char *folder;

static int make_folder(void **state)
{
	folder = g_dir_make_tmp("rs-suite-XXXXXX", NULL);
	return folder ? 0 : -1;
}

static int remove_folder(void **state)
{
	GDir *dir = g_dir_open(folder, 0, NULL);
	const char *name;

	while ((name = g_dir_read_name(dir))) {
		char *path = g_build_filename(folder, name, NULL);

		g_unlink(path);
		g_free(path);
	}
	g_dir_close(dir);
	g_rmdir(folder);
	g_free(folder);
	return 0;
}

static struct suite *load(const char *text, GError **error)
{
	char *path = g_build_filename(folder, "suite.json", NULL);
	struct suite *suite;

	assert_true(g_file_set_contents(path, text, -1, NULL));
	suite = suite_load(path, error);
	g_free(path);
	return suite;
}

static void a_suite_has_scenarios_with_columns_and_checks(void **state)
{
	GError *error = NULL;
	struct suite *suite = load(
		"{\"suite\": \"s\", \"baseline\": \"base.json\", \"scenarios\": [{\n"
		" \"name\": \"a\", \"trace\": \"a.trace\", \"kernel\": \"6.1\", \"seeds\": 3,\n"
		" \"set\": {\"memory.max\": \"64M\", \"vm.swappiness\": 10},\n"
		" \"policies\": [\"exec-promote\", {\"name\": \"m\", \"policy\": \"mglru\",\n"
		"   \"set\": {\"vm.swappiness\": 20}}],\n"
		" \"checks\": [\"m.pswpin <= exec_promote.pswpin\"],\n"
		" \"metrics\": {\"pgmajfault\": {\"rel\": 0.02, \"direction\": \"lower\"}}}]}",
		&error);
	const struct suite_scenario *scenario;
	const struct suite_column *column;
	const struct suite_metric *metric;

	assert_no_error(error);
	assert_true(g_str_has_suffix(suite->baseline, "/base.json"));
	scenario = g_ptr_array_index(suite->scenarios, 0);
	assert_true(g_str_has_prefix(scenario->trace, folder));
	assert_int_equal(scenario->columns->len, 2);
	column = g_ptr_array_index(scenario->columns, 0);
	assert_string_equal(column->name, "exec_promote");
	assert_int_equal(rs_scenario_config(column->scenarios[0])->swappiness, 10);
	column = g_ptr_array_index(scenario->columns, 1);
	assert_string_equal(column->name, "m");
	assert_int_equal(rs_scenario_config(column->scenarios[2])->swappiness, 20);
	assert_int_equal(rs_scenario_config(column->scenarios[2])->seed, 3);
	assert_int_equal(rs_scenario_config(column->scenarios[2])->kernel, RS_KERNEL_6_1);
	metric = g_ptr_array_index(scenario->metrics, 0);
	assert_int_equal(metric->direction, DIRECTION_LOWER);
	suite_free(suite);
}

#define ONE(members)                                                                               \
	"{\"suite\": \"s\", \"scenarios\": [{\"name\": \"a\", \"trace\": \"t\",\n" members "}]}"

static void mistakes_in_suites_have_their_place(void **state)
{
	static const struct {
		const char *text, *part;
	} table[] = {
		{ "{}", "suite.json:1:1: a suite is an object" },
		{ "{\"suite\": \"s\", \"scenarios\": [{}]}", "at least \"name\"" },
		{ ONE("\"policies\": []"), "suite.json:2:1: \"policies\" is a list" },
		{ ONE("\"policies\": [\"a\", 1]"), "suite.json:2:19: a policy is" },
		{ ONE("\"policies\": [\"a\", \"a\"]"), "two policies are called \"a\"" },
		{ ONE("\"policies\": [\"a\"], \"chekcs\": []"), "did you mean \"checks\"?" },
		{ ONE("\"policies\": [\"a\"],\n\"checks\": [\"a.x ~ 1\"]"), ":3:12: \"a.x ~ 1\"" },
		{ ONE("\"policies\": [\"a\"], \"set\": {\"memory.mx\": 1}"), "\"memory.max\"?" },
		{ ONE("\"policies\": [\"a\"], \"seeds\": 0"), "\"seeds\" is 1 to" },
		{ ONE("\"policies\": [\"a\"], \"metrics\": {\"x\": {\"rel\": \"1\"}}"),
		  "a tolerance is" },
		{ ONE("\"policies\": [\"a\"], \"metrics\": {\"x\": {\"direction\": \"up\"}}"),
		  "lower, higher or either" },
		{ ONE("\"policies\": [\"a\"], \"machine\": \"nosuch.json\""), "cannot open" },
		{ ONE("\"policies\": [\"a\"], \"kernel\": \"2.6\""), "5.18, 6.1" },
	};

	for (unsigned i = 0; i < G_N_ELEMENTS(table); i++) {
		GError *error = NULL;

		assert_null(load(table[i].text, &error));
		assert_error(&error, table[i].part);
	}
}

static char *printed(const GPtrArray *verdicts, enum verdict_format format)
{
	char *text = NULL;
	size_t size;
	FILE *stream = open_memstream(&text, &size);

	verdicts_print(verdicts, "s<1>", format, stream);
	fclose(stream);
	return text;
}

static void contains(char *text, const char *part)
{
	if (!strstr(text, part))
		fail_msg("\"%s\" is not in:\n%s", part, text);
}

static void verdicts_are_told_in_every_form(void **state)
{
	GPtrArray *verdicts = g_ptr_array_new_with_free_func(verdict_free);
	char *text;

	verdict_new(verdicts, VERDICT_PASS, "one", "a.x <= b.x", g_strdup("left 1, right 2"));
	verdict_new(verdicts, VERDICT_FAIL, "one", "a.y < 1|2 & \"3\" #", g_strdup("left 5\x01"));
	verdict_new(verdicts, VERDICT_NEW, "two", "a.z", g_strdup("nothing stored"));
	text = printed(verdicts, VERDICTS_TEXT);
	contains(text, "PASS   one: a.x <= b.x\n");
	contains(text, "FAIL   one: ");
	contains(text, "1 pass, 1 fail, 1 new\n");
	free(text);
	text = printed(verdicts, VERDICTS_TAP);
	contains(text, "1..3\nok 1 - one: a.x <= b.x\nnot ok 2 - one: ");
	contains(text, "# SKIP no baseline");
	free(text);
	text = printed(verdicts, VERDICTS_MARKDOWN);
	contains(text, "| FAIL | one | a.y \\< 1\\|2 & ");
	free(text);
	text = printed(verdicts, VERDICTS_JUNIT);
	contains(text, "<testsuites name=\"s&lt;1&gt;\">");
	contains(text, "tests=\"2\" failures=\"1\" errors=\"0\" skipped=\"0\"");
	contains(text, "<failure message=\"left 5?\"/>");
	free(text);
	g_ptr_array_unref(verdicts);
}

static void baselines_read_back_what_was_written(void **state)
{
	char *path = g_build_filename(folder, "base.json", NULL);
	GError *error = NULL;
	struct baseline *baseline = baseline_load(path, &error);
	const char *trace;
	double value;

	assert_non_null(baseline); /* no file: empty */
	assert_false(baseline_get(baseline, "s/a", "pgmajfault", &value, &trace));
	baseline_set(baseline, "s/a", "abc", "pgmajfault", 1200);
	baseline_set(baseline, "s/a", "abc", "steal/scan", 12.25);
	assert_true(baseline_save(baseline, path, &error));
	baseline_free(baseline);
	baseline = baseline_load(path, &error);
	assert_true(baseline_get(baseline, "s/a", "pgmajfault", &value, &trace));
	assert_string_equal(trace, "abc");
	assert_float_equal(value, 1200, 0);
	assert_true(baseline_get(baseline, "s/a", "steal/scan", &value, &trace));
	assert_float_equal(value, 12.25, 0);
	baseline_free(baseline);
	assert_true(g_file_set_contents(path, "{\n}", -1, NULL));
	assert_null(baseline_load(path, &error));
	assert_error(&error, "base.json:1:1: a baseline is");
	g_free(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_suite_has_scenarios_with_columns_and_checks),
		cmocka_unit_test(mistakes_in_suites_have_their_place),
		cmocka_unit_test(verdicts_are_told_in_every_form),
		cmocka_unit_test(baselines_read_back_what_was_written),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
