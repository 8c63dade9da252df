/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * test_opt_result.c - policy "opt": a known sequence, its misses at marks, bad limits.
 */
#include "lib/cm.h"

#include <reclaimsim/sim.h>

#include <glib/gstdio.h>
#include <jansson.h>

static char *path;
static struct rs_scenario *scenario;
static GError *error;

/* Pages 0 1 2 0 1 2 of a file in two pages of memory: MIN misses 3 at the mark, 4 at the end. */
static int set_up(void **state)
{
	int fd = g_file_open_tmp("rs-opt-XXXXXX.trace", &path, NULL);

	g_close(fd, NULL);
	g_file_set_contents(path,
			    "region a file f 3\nl a 0\nl a 1\nl a 2\nm half\nl a 0\nl a 1\nl a 2\n",
			    -1, NULL);
	scenario = rs_scenario_new();
	return 0;
}

static int tear_down(void **state)
{
	g_unlink(path);
	g_free(path);
	rs_scenario_free(scenario);
	return 0;
}

static void misses_stand_in_pgmajfault_and_at_marks(void **state)
{
	struct rs_result *result = NULL;
	json_t *json, *snapshots;
	char *text;
	int64_t value;

	assert_true(rs_scenario_set(scenario, "memory.max", "2p", NULL));
	rs_opt_run(scenario, path, &result, &error);
	assert_no_error(error);
	assert_true(rs_result_counter(result, "vmstat", "pgmajfault", &value));
	assert_int_equal(value, 4);
	assert_false(rs_result_counter(result, "vmstat", "pswpout", &value));
	text = rs_result_json(result);
	json = json_loads(text, 0, NULL);
	snapshots = json_object_get(json, "snapshots");
	assert_int_equal(json_array_size(snapshots), 2);
	assert_string_equal(
		json_string_value(json_object_get(json_array_get(snapshots, 0), "name")), "half");
	assert_int_equal(json_integer_value(json_object_get(
				 json_object_get(json_array_get(snapshots, 0), "vmstat_delta"),
				 "pgmajfault")),
			 3);
	assert_int_equal(json_integer_value(json_object_get(json_array_get(snapshots, 1), "op")),
			 8);
	assert_null(json_object_get(json, "cost"));
	json_decref(json);
	g_free(text);
	rs_result_free(result);
}

static void without_a_limit_each_page_is_read_once(void **state)
{
	struct rs_result *result = NULL;
	int64_t value;

	assert_true(rs_opt_run(scenario, path, &result, &error));
	assert_true(rs_result_counter(result, "vmstat", "pgmajfault", &value));
	assert_int_equal(value, 3);
	rs_result_free(result);
}

static void a_limit_of_zero_and_a_missing_trace_are_errors(void **state)
{
	struct rs_result *result = NULL;

	assert_false(rs_opt_run(scenario, "/nonexistent", &result, &error));
	assert_error(&error, "/nonexistent");
	assert_true(rs_scenario_set(scenario, "memory.max", "0", NULL));
	assert_false(rs_opt_run(scenario, path, &result, &error));
	assert_error(&error, "memory.max");
	assert_null(result);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(misses_stand_in_pgmajfault_and_at_marks, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(without_a_limit_each_page_is_read_once, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(a_limit_of_zero_and_a_missing_trace_are_errors,
						set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
