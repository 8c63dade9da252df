/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * test_rng.c - random streams: known values, independence by name, bounds.
 */
#include "lib/cm.h"
#include "sim/base/rng.h"

/* Vigna's splitmix64.c from state 1234567. */
static void splitmix64_gives_the_published_sequence(void **state)
{
	static const uint64_t expected[] = { 6457827717110365317u, 3203168211198807973u,
					     9817491932198370423u, 4593380528125082431u,
					     16408922859458223821u };
	uint64_t s = 1234567;

	for (unsigned i = 0; i < G_N_ELEMENTS(expected); i++)
		assert_int_equal(rs_splitmix64(&s), expected[i]);
}

/* First outputs of xoshiro256** from state 1, 2, 3, 4. */
static void xoshiro_gives_the_published_sequence(void **state)
{
	static const uint64_t expected[] = { 11520u, 0u, 1509978240u, 1215971899390074240u };
	struct rs_rng rng = { { 1, 2, 3, 4 } };

	for (unsigned i = 0; i < G_N_ELEMENTS(expected); i++)
		assert_int_equal(rs_rng_next(&rng), expected[i]);
}

static void streams_differ_by_seed_and_by_name(void **state)
{
	struct rs_rng a, b, c, d;

	rs_rng_init(&a, 1, "policy");
	rs_rng_init(&b, 1, "policy");
	rs_rng_init(&c, 1, "device");
	rs_rng_init(&d, 2, "policy");
	assert_int_equal(rs_rng_next(&a), rs_rng_next(&b));
	assert_int_not_equal(rs_rng_next(&b), rs_rng_next(&c));
	assert_int_not_equal(rs_rng_next(&a), rs_rng_next(&d));
}

static void bounded_numbers_stay_below_and_are_even(void **state)
{
	unsigned count[7] = { 0 };
	struct rs_rng rng;

	rs_rng_init(&rng, 1, "test");
	for (unsigned i = 0; i < 70000; i++) {
		uint64_t value = rs_rng_below(&rng, 7);

		assert_true(value < 7);
		count[value]++;
	}
	for (unsigned i = 0; i < 7; i++)
		assert_in_range(count[i], 9600, 10400);
	assert_int_equal(rs_rng_below(&rng, 1), 0);
}

static void doubles_lie_in_the_unit_interval(void **state)
{
	struct rs_rng rng;
	double sum = 0;

	rs_rng_init(&rng, 1, "test");
	for (unsigned i = 0; i < 10000; i++) {
		double value = rs_rng_double(&rng);

		assert_true(value >= 0 && value < 1);
		sum += value;
	}
	assert_true(sum > 4800 && sum < 5200);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(splitmix64_gives_the_published_sequence),
		cmocka_unit_test(xoshiro_gives_the_published_sequence),
		cmocka_unit_test(streams_differ_by_seed_and_by_name),
		cmocka_unit_test(bounded_numbers_stay_below_and_are_even),
		cmocka_unit_test(doubles_lie_in_the_unit_interval),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
