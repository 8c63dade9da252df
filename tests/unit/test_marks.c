/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A mark is a snapshot, wherever it stands in the trace.
 */
#include "reclaimsim/sim.h"
#include "reclaimsim/trace.h"
#include "tests/lib/cm.h"
#include "tests/lib/trace_file.h"

#include <jansson.h>

/* The names of the snapshots, each followed by a space. */
static char *marks_of(const char *trace_text)
{
	GError *error = NULL;
	char *path = trace_file_text(trace_text);
	struct rs_trace *trace = rs_trace_open(path, &error);
	struct rs_scenario *scenario = rs_scenario_new();
	struct rs_result *result = NULL;
	GString *names = g_string_new(NULL);
	json_t *json, *snapshot;
	struct rs_sim *sim;
	char *text;
	size_t i;

	assert_no_error(error);
	sim = rs_sim_new(scenario, "classic", &error);
	assert_no_error(error);
	rs_sim_run(sim, trace, &result, &error);
	assert_no_error(error);
	text = rs_result_json(result);
	json = json_loads(text, 0, NULL);
	json_array_foreach(json_object_get(json, "snapshots"), i, snapshot)
		g_string_append_printf(names, "%s ",
				       json_string_value(json_object_get(snapshot, "name")));
	json_decref(json);
	g_free(text);
	rs_result_free(result);
	rs_sim_free(sim);
	rs_scenario_free(scenario);
	rs_trace_free(trace);
	trace_file_remove(path);
	return g_string_free(names, FALSE);
}

static void expect(const char *text, const char *names)
{
	g_autofree char *got = marks_of(text);

	assert_string_equal(got, names);
}

static void marks_behind_the_end_of_a_thread_are_taken(void **state)
{
	expect("region r anon 4\ns r 0\nm before\nexit\nm one\nm two\n", "before one two end ");
}

static void marks_between_one_threads_end_and_the_next_thread_are_taken(void **state)
{
	expect("region r anon 4\ns r 0\nt 1 1\nregion q anon 4\ns q 0\nexit\nm between\nt 0\nwait 1\ns r "
	       "1\nm last\n",
	       "between last end ");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(marks_behind_the_end_of_a_thread_are_taken),
		cmocka_unit_test(marks_between_one_threads_end_and_the_next_thread_are_taken),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
