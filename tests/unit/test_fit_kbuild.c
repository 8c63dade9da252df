/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * test_fit_kbuild.c - the parameters fitted to a generated build are those it was generated from.
 */
#include "lib/gentrace.h"

#include <sys/wait.h>

static json_t *fit(const char *trace)
{
	g_autofree char *out = NULL;
	char *argv[] = { RS_BINARY, "trace", "fit-kbuild", (char *)trace, NULL };
	GError *error = NULL;
	json_t *spec;
	int status;

	g_spawn_sync(NULL, argv, NULL, 0, NULL, NULL, &out, NULL, &status, &error);
	assert_no_error(error);
	assert_int_equal(status, 0);
	spec = json_loads(out, 0, NULL);
	assert_non_null(spec);
	return spec;
}

static double number(json_t *spec, const char *key)
{
	json_t *v = json_object_get(spec, key);

	assert_non_null(v);
	return json_is_string(v) ? g_ascii_strtod(json_string_value(v), NULL)
				 : json_number_value(v);
}

static void assert_within(double x, double want, double share)
{
	if (x < want * (1 - share) || x > want * (1 + share))
		fail_msg("%g is not within %g %% of %g", x, share * 100, want);
}

static void fitted_parameters_are_those_of_the_generator(void **state)
{
	struct gentrace *t = gentrace(
		"{\"generator\": \"kernel-build\", \"jobs\": 3, \"units\": 150, \"headers\": 400, "
		"\"headers_per_unit\": 100, \"header_theta\": 0.8, \"header_size\": \"3p\", "
		"\"source_size\": \"5p\", "
		"\"object_size\": \"10p\", \"temporary_size\": \"20p\", \"driver\": \"50p\", "
		"\"compiler\": \"900p\", "
		"\"assembler\": \"60p\", \"linker\": \"70p\", \"anon\": \"500p\", "
		"\"anon_deviation\": 0.4, "
		"\"assembler_anon\": \"40p\"}");
	json_t *spec = fit(t->path);

	assert_int_equal(number(spec, "jobs"), 3);
	assert_int_equal(number(spec, "units"), 150);
	assert_within(number(spec, "headers"), 400, 0.02);
	assert_within(number(spec, "headers_per_unit"), 100, 0.1);
	assert_within(number(spec, "header_theta"), 0.8, 0.05);
	assert_int_equal(number(spec, "compiler"), 900);
	assert_int_equal(number(spec, "assembler"), 60);
	assert_int_equal(number(spec, "linker"), 70);
	assert_within(number(spec, "anon"), 500, 0.1);
	assert_within(number(spec, "anon_deviation"), 0.4, 0.15);
	assert_int_equal(number(spec, "assembler_anon"), 40);
	assert_within(number(spec, "header_size"), 3, 0.34);
	assert_within(number(spec, "object_size"), 10, 0.25);
	assert_within(number(spec, "temporary_size"), 20, 0.25);
	json_decref(spec);
	gentrace_free(t);
}

static void a_trace_without_compilers_is_refused(void **state)
{
	struct gentrace *t = gentrace("[j]\nsize=64k\n");
	char *argv[] = { RS_BINARY, "trace", "fit-kbuild", t->path, NULL };
	g_autofree char *message = NULL;
	int status;

	assert_true(g_spawn_sync(NULL, argv, NULL, G_SPAWN_STDOUT_TO_DEV_NULL, NULL, NULL, NULL,
				 &message, &status, NULL));
	assert_int_equal(WEXITSTATUS(status), 2);
	assert_non_null(strstr(message, "no process runs cc1"));
	gentrace_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fitted_parameters_are_those_of_the_generator),
		cmocka_unit_test(a_trace_without_compilers_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
