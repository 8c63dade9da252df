/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * test_units.c - numbers, sizes, times and near words as users write them.
 */
#include "lib/cm.h"
#include "sim/base/units.h"

static void sizes_use_powers_of_1024_and_p_is_a_page(void **state)
{
	static const struct {
		const char *text;
		uint64_t bytes;
	} table[] = {
		{ "0", 0 },
		{ "4096", 4096 },
		{ "1K", 1024 },
		{ "2m", 2u << 20 },
		{ "3GiB", 3ull << 30 },
		{ "1T", 1ull << 40 },
		{ "16000p", 65536000 },
		{ "18446744073709551615", UINT64_MAX },
	};

	for (unsigned i = 0; i < G_N_ELEMENTS(table); i++) {
		GError *error = NULL;
		uint64_t bytes = 1;

		assert_true(rs_parse_size(table[i].text, &bytes, &error));
		assert_int_equal(bytes, table[i].bytes);
	}
}

static void decimal_units_are_refused_with_a_hint(void **state)
{
	GError *error = NULL;
	uint64_t bytes = 7;

	assert_false(rs_parse_size("512MB", &bytes, &error));
	assert_error(&error, "write 512M for powers of 1024");
	assert_int_equal(bytes, 7);
}

static void nonsense_is_no_size(void **state)
{
	static const char *const table[] = { "",	 "x",  "-1",   "+1",
					     " 1",	 "1 ", "1.5G", "0x10",
					     "1KK",	 "K",  "1%",   "18446744073709551616",
					     "99999999T" };

	for (unsigned i = 0; i < G_N_ELEMENTS(table); i++) {
		GError *error = NULL;
		uint64_t bytes;

		assert_false(rs_parse_size(table[i], &bytes, &error));
		assert_non_null(error);
		g_clear_error(&error);
	}
}

static void plain_numbers_of_pages_are_pages(void **state)
{
	uint64_t pages;

	assert_true(rs_parse_pages("24000", &pages, NULL));
	assert_int_equal(pages, 24000);
	assert_true(rs_parse_pages("64M", &pages, NULL));
	assert_int_equal(pages, 16384);
}

static void times_have_units(void **state)
{
	ns_t ns;

	assert_true(rs_parse_time("15", &ns, NULL));
	assert_int_equal(ns, 15);
	assert_true(rs_parse_time("2us", &ns, NULL));
	assert_int_equal(ns, 2000);
	assert_true(rs_parse_time("1min", &ns, NULL));
	assert_int_equal(ns, 60000000000);
	assert_false(rs_parse_time("1h", &ns, NULL));
}

static void integers_are_decimal_and_in_range(void **state)
{
	GError *error = NULL;
	int64_t value;

	assert_true(rs_parse_int("010", 0, 200, &value, NULL));
	assert_int_equal(value, 10);
	assert_true(rs_parse_int("-1", -1, 1, &value, NULL));
	assert_int_equal(value, -1);
	assert_false(rs_parse_int("201", 0, 200, &value, &error));
	assert_error(&error, "0 to 200");
	assert_false(rs_parse_int("99999999999999999999", 0, 200, &value, NULL));
}

static void formatted_sizes_read_back(void **state)
{
	static const uint64_t table[] = { 0, 1, 4096, 12345, 65536000, 1ull << 30, 3ull << 40 };

	for (unsigned i = 0; i < G_N_ELEMENTS(table); i++) {
		char *text = rs_format_size(table[i]);
		uint64_t bytes;

		assert_true(rs_parse_size(text, &bytes, NULL));
		assert_int_equal(bytes, table[i]);
		g_free(text);
	}
}

static void the_nearest_word_is_found_and_strangers_are_not(void **state)
{
	static const char *const words[] = { "run", "compare", "sweep", "memory.max", NULL };

	assert_string_equal(rs_nearest("comapre", words), "compare");
	assert_string_equal(rs_nearest("memory.mx", words), "memory.max");
	assert_string_equal(rs_nearest("ruin", words), "run");
	assert_null(rs_nearest("zzzzzz", words));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sizes_use_powers_of_1024_and_p_is_a_page),
		cmocka_unit_test(decimal_units_are_refused_with_a_hint),
		cmocka_unit_test(nonsense_is_no_size),
		cmocka_unit_test(plain_numbers_of_pages_are_pages),
		cmocka_unit_test(times_have_units),
		cmocka_unit_test(integers_are_decimal_and_in_range),
		cmocka_unit_test(formatted_sizes_read_back),
		cmocka_unit_test(the_nearest_word_is_found_and_strangers_are_not),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
