/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * test_compare.c - numbers by name, rows of a comparison, tables.
 */
#include "lib/cm.h"
#include "tools/compare.h"
#include "tools/metric.h"

static json_t *result(int majfault, int scan_anon, int elapsed)
{
	json_t *json = json_pack("{s:[{s:s, s:{s:i}}, {s:s, s:{s:i, s:i, s:i, s:i, s:i, s:i, s:i}, "
				 "s:{s:i}, s:{s:i}}],"
				 " s:{s:i, s:{s:{s:i, s:i}}}, s:{s:i}, s:{s:{s:i}}, s:{s:i}, s:s}",
				 "snapshots", "name", "fill", "vmstat_delta", "pgmajfault", 1,
				 "name", "end", "vmstat_delta", "pgmajfault", majfault,
				 "pgscan_anon", scan_anon, "pgscan_file", 10, "pgsteal_anon", 20,
				 "pgsteal_file", 5, "workingset_refault_anon", 3, "oom_kill", 0,
				 "policy", "sim_walks", 4, "memcg", "anon", 8192, "cost",
				 "reclaim_cpu_ns", 2000000, "by_activity", "rmap_walk", "calls", 7,
				 "ns", 3500000, "time", "elapsed_ns", elapsed, "locks", "mmap_lock",
				 "wait_ns", 77, "settings", "memory.max", 4096, "kernel", "6.12");

	assert_non_null(json);
	return json;
}

static int64_t count(json_t *json, const char *snapshot, const char *name)
{
	struct metric metric;

	if (!metric_value(json, snapshot, name, &metric))
		fail_msg("no %s", name);
	return metric.count;
}

static void numbers_are_found_by_name_and_path(void **state)
{
	json_t *json = result(100, 40, 9000000);
	struct metric metric;

	assert_int_equal(count(json, NULL, "pgmajfault"), 100);
	assert_int_equal(count(json, "fill", "pgmajfault"), 1);
	assert_int_equal(count(json, NULL, "pgscan"), 50);
	assert_int_equal(count(json, NULL, "sim_walks"), 4);
	assert_int_equal(count(json, NULL, "anon"), 8192);
	assert_int_equal(count(json, NULL, "cost.rmap_walk"), 3500000);
	assert_int_equal(count(json, NULL, "cost.rmap_walk.calls"), 7);
	assert_int_equal(count(json, NULL, "locks.mmap_lock.wait_ns"), 77);
	assert_int_equal(count(json, NULL, "settings.memory.max"), 4096);
	assert_int_equal(count(json, NULL, "elapsed_ns"), 9000000);
	assert_true(metric_value(json, NULL, "steal/scan", &metric));
	assert_float_equal(metric.value, 50, 1e-9);
	assert_false(metric_value(json, NULL, "pswpin", &metric));
	assert_false(metric_value(json, "nosuch", "pgmajfault", &metric));
	json_decref(json);
}

static void rows_are_chosen_by_name_pattern_and_group(void **state)
{
	json_t *json = result(1, 1, 1);
	GError *error = NULL;
	GPtrArray *names = metric_select(&json, 1, "pgmajfault,pgsteal_*,policy", &error);

	assert_no_error(error);
	assert_int_equal(names->len, 4);
	assert_string_equal(g_ptr_array_index(names, 1), "pgsteal_anon");
	assert_string_equal(g_ptr_array_index(names, 3), "sim_walks");
	g_ptr_array_unref(names);
	assert_null(metric_select(&json, 1, "pgmajfalt", &error));
	assert_error(&error, "did you mean \"pgmajfault\"?");
	json_decref(json);
}

static struct comparison *compare(unsigned nr_seeds, const int *base, const int *other)
{
	json_t **results = g_new0(json_t *, 2 * nr_seeds);
	char *labels[] = { (char *)"classic", (char *)"mglru", NULL };
	struct comparison *c;

	for (unsigned s = 0; s < nr_seeds; s++) {
		results[s] = result(base[s], 40, 9000000);
		results[nr_seeds + s] = result(other[s], 40, 8000000);
	}
	c = comparison_new(2, nr_seeds, g_strdupv(labels), results, NULL, NULL);
	assert_non_null(c);
	return c;
}

static char *printed(const struct comparison *c, enum table_format format)
{
	char *text = NULL;
	size_t size;
	FILE *stream = open_memstream(&text, &size);

	comparison_print(c, format, stream);
	fclose(stream);
	return text;
}

static void contains(const char *text, const char *part)
{
	if (!strstr(text, part))
		fail_msg("\"%s\" is not in:\n%s", part, text);
}

static void one_run_each_is_exact(void **state)
{
	static const int base[] = { 200 }, other[] = { 150 };
	struct comparison *c = compare(1, base, other);
	char *text = printed(c, TABLE_TEXT);

	assert_true(c->exact);
	contains(text, "pgmajfault                   200    150  -25.0%\n");
	contains(text, "simulated time (ms)        9.000  8.000  -11.1%\n");
	contains(text, "cost.rmap_walk");
	assert_null(strstr(text, "oom_kill")); /* zero everywhere */
	assert_null(strstr(text, "*"));
	free(text);
	comparison_free(c);
}

static void seeds_give_intervals_and_stars(void **state)
{
	static const int base[] = { 200, 210, 190, 205, 195, 201, 199 };
	static const int other[] = { 150, 161, 139, 154, 146, 152, 149 };
	struct comparison *c = compare(7, base, other);
	char *text = printed(c, TABLE_TEXT);

	assert_false(c->exact);
	contains(text, "200 +-");
	contains(text, "-24.9% *");
	contains(text, "workingset_refault_anon");
	contains(text, "~");
	free(text);
	comparison_free(c);
}

static void fewer_than_five_seeds_claim_nothing(void **state)
{
	static const int base[] = { 200, 210, 190 }, other[] = { 100, 110, 90 };
	struct comparison *c = compare(3, base, other);
	char *text = printed(c, TABLE_TEXT);

	assert_null(strstr(text, "*"));
	free(text);
	comparison_free(c);
}

static void markdown_and_csv_have_the_same_cells(void **state)
{
	static const int base[] = { 200 }, other[] = { 150 };
	struct comparison *c = compare(1, base, other);
	char *text = printed(c, TABLE_MARKDOWN);

	contains(text, "| :-- | --: | --: | --: |\n");
	contains(text, "| pgmajfault | 200 | 150 | -25.0% |\n");
	contains(text, "| workingset\\_refault\\_anon |");
	free(text);
	text = printed(c, TABLE_CSV);
	contains(text, "pgmajfault,200,150,-25.0%\n");
	free(text);
	comparison_free(c);
}

static void numbers_are_formatted_for_people(void **state)
{
	static const struct {
		int64_t value;
		const char *text;
	} table[] = { { 0, "0" },	   { 999, "999" },   { 1000, "1,000" },
		      { -1000, "-1,000" }, { -100, "-100" }, { 1234567, "1,234,567" } };

	for (unsigned i = 0; i < G_N_ELEMENTS(table); i++) {
		char *text = format_count(table[i].value);

		assert_string_equal(text, table[i].text);
		g_free(text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_are_found_by_name_and_path),
		cmocka_unit_test(rows_are_chosen_by_name_pattern_and_group),
		cmocka_unit_test(one_run_each_is_exact),
		cmocka_unit_test(seeds_give_intervals_and_stars),
		cmocka_unit_test(fewer_than_five_seeds_claim_nothing),
		cmocka_unit_test(markdown_and_csv_have_the_same_cells),
		cmocka_unit_test(numbers_are_formatted_for_people),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
