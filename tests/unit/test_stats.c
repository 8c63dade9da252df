/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * test_stats.c - bootstrap intervals and Holm's correction.
 */
#include "lib/cm.h"
#include "tools/stats.h"

static void the_mean_and_deviation_are_right(void **state)
{
	static const double x[] = { 2, 4, 4, 4, 5, 5, 7, 9 };

	assert_float_equal(stats_mean(x, 8), 5, 1e-12);
	assert_float_equal(stats_deviation(x, 8), 2.138089935, 1e-9);
	assert_float_equal(stats_deviation(x, 1), 0, 0);
}

static void a_clear_difference_has_an_interval_without_zero(void **state)
{
	static const double x[] = { 9.5, 10, 10.5, 11, 9, 10.2, 9.8, 10.1 };
	struct interval interval = stats_bootstrap(x, 8);

	assert_true(interval.low > 9 && interval.high < 11);
	assert_true(interval.low < interval.mean && interval.mean < interval.high);
	assert_true(interval.p < 0.001);
}

/* Standard error of the mean is 0.374: the interval is near +-1.96 of it, a little narrower. */
static void the_interval_has_the_width_theory_gives(void **state)
{
	static const double x[] = { -2, -1.5, -1, -0.5, -0.1, 0.1, 0.5, 1, 1.5, 2 };
	struct interval interval = stats_bootstrap(x, 10);
	double expected = 2 * 1.96 * stats_deviation(x, 10) / 3.1622776602;

	assert_true(interval.high - interval.low < expected);
	assert_true(interval.high - interval.low > 0.85 * expected);
	assert_true(interval.p > 0.5);
}

static void equal_samples_have_a_point_for_an_interval(void **state)
{
	static const double x[] = { 3, 3, 3, 3, 3 };
	struct interval interval = stats_bootstrap(x, 5);

	assert_float_equal(interval.low, 3, 0);
	assert_float_equal(interval.high, 3, 0);
}

static void the_same_sample_gives_the_same_numbers(void **state)
{
	static const double x[] = { 1, 2, 3, 4, 5, 6 };
	struct interval a = stats_bootstrap(x, 6), b = stats_bootstrap(x, 6);

	assert_memory_equal(&a, &b, sizeof(a));
}

/* Holm 1979: 0.01 <= 0.05/4, 0.02 > 0.05/3, so the rest falls as well. */
static void holm_steps_down_and_stops(void **state)
{
	static const double p[] = { 0.04, 0.01, 0.02, 0.03 };
	bool significant[4];

	stats_holm(p, significant, 4, 0.05);
	assert_false(significant[0]);
	assert_true(significant[1]);
	assert_false(significant[2]);
	assert_false(significant[3]);
}

static void holm_keeps_all_when_all_are_small(void **state)
{
	static const double p[] = { 0.001, 0.002, 0.049 };
	bool significant[3];

	stats_holm(p, significant, 3, 0.05);
	assert_true(significant[0] && significant[1] && significant[2]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_mean_and_deviation_are_right),
		cmocka_unit_test(a_clear_difference_has_an_interval_without_zero),
		cmocka_unit_test(the_interval_has_the_width_theory_gives),
		cmocka_unit_test(equal_samples_have_a_point_for_an_interval),
		cmocka_unit_test(the_same_sample_gives_the_same_numbers),
		cmocka_unit_test(holm_steps_down_and_stops),
		cmocka_unit_test(holm_keeps_all_when_all_are_small),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
