/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * test_hist.c - histograms: the buckets' limits, and percentiles against sorted values.
 */
#include "sim/base/hist.h"
#include "sim/base/rng.h"
#include "tests/lib/cm.h"

#include <stdlib.h>

static struct rs_hist hist;

static int set_up(void **state)
{
	hist = (struct rs_hist){ 0 };
	return 0;
}

static void buckets_follow_each_other_without_a_gap(void **state)
{
	for (unsigned b = 0; b < RS_HIST_BUCKETS; b++) {
		assert_int_equal(rs_hist_bucket(rs_hist_first(b)), b);
		assert_int_equal(rs_hist_bucket(rs_hist_last(b)), b);
		if (b + 1 < RS_HIST_BUCKETS)
			assert_int_equal(rs_hist_last(b) + 1, rs_hist_first(b + 1));
	}
	assert_int_equal(rs_hist_first(0), 0);
	assert_true(rs_hist_last(RS_HIST_BUCKETS - 1) == UINT64_MAX);
}

/* 64 and 65 share a bucket, as 1024 to 1055 do. */
static void small_values_are_exact_and_large_ones_to_a_thirty_second(void **state)
{
	for (uint64_t v = 0; v < 64; v++)
		assert_int_equal(rs_hist_first(rs_hist_bucket(v)), rs_hist_last(rs_hist_bucket(v)));
	assert_int_equal(rs_hist_bucket(64), rs_hist_bucket(65));
	assert_int_equal(rs_hist_first(rs_hist_bucket(1030)), 1024);
	assert_int_equal(rs_hist_last(rs_hist_bucket(1030)), 1055);
	for (uint64_t v = 64; v < UINT64_MAX / 4; v = v * 3 + 1) {
		unsigned b = rs_hist_bucket(v);

		assert_true(rs_hist_last(b) - rs_hist_first(b) < rs_hist_first(b) / 32 + 1);
	}
}

static void an_empty_histogram_says_zero(void **state)
{
	assert_int_equal(rs_hist_percentile(&hist, 500), 0);
	assert_int_equal(rs_hist_percentile(&hist, 1000), 0);
}

static void percentiles_of_one_to_ten_are_the_nearest_ranks(void **state)
{
	for (uint64_t v = 1; v <= 10; v++)
		rs_hist_add(&hist, v);
	assert_int_equal(rs_hist_percentile(&hist, 0), 1);
	assert_int_equal(rs_hist_percentile(&hist, 500), 5);
	assert_int_equal(rs_hist_percentile(&hist, 501), 6);
	assert_int_equal(rs_hist_percentile(&hist, 900), 9);
	assert_int_equal(rs_hist_percentile(&hist, 999), 10);
	assert_int_equal(hist.min, 1);
	assert_int_equal(hist.max, 10);
	assert_int_equal(hist.sum, 55);
}

static void no_percentile_is_above_the_largest_value(void **state)
{
	rs_hist_add(&hist, 1000000);
	assert_int_equal(rs_hist_percentile(&hist, 500), 1000000);
	assert_int_equal(rs_hist_percentile(&hist, 1000), 1000000);
}

static int by_value(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static void percentiles_are_within_a_bucket_of_sorted_values(void **state)
{
	static const unsigned per_mille[] = { 1, 100, 500, 900, 990, 999, 1000 };
	enum { N = 10000 };
	uint64_t *value = g_new(uint64_t, N);
	struct rs_rng rng;

	rs_rng_init(&rng, 1, "hist");
	for (unsigned i = 0; i < N; i++) {
		value[i] = rs_rng_next(&rng) >> (rs_rng_next(&rng) % 60);
		rs_hist_add(&hist, value[i]);
	}
	qsort(value, N, sizeof(*value), by_value);
	for (unsigned p = 0; p < G_N_ELEMENTS(per_mille); p++) {
		uint64_t exact = value[N / 1000 * per_mille[p] - 1];

		assert_int_equal(rs_hist_bucket(rs_hist_percentile(&hist, per_mille[p])),
				 rs_hist_bucket(exact));
		assert_true(rs_hist_percentile(&hist, per_mille[p]) >= exact);
	}
	g_free(value);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(buckets_follow_each_other_without_a_gap, set_up),
		cmocka_unit_test_setup(small_values_are_exact_and_large_ones_to_a_thirty_second,
				       set_up),
		cmocka_unit_test_setup(an_empty_histogram_says_zero, set_up),
		cmocka_unit_test_setup(percentiles_of_one_to_ten_are_the_nearest_ranks, set_up),
		cmocka_unit_test_setup(no_percentile_is_above_the_largest_value, set_up),
		cmocka_unit_test_setup(percentiles_are_within_a_bucket_of_sorted_values, set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
