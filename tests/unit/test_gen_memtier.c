/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * test_gen_memtier.c - memtier_benchmark command lines as the memory of the server they drive.
 */
#include "lib/gentrace.h"

#define M "memtier_benchmark "

static json_t *line_of(const struct gentrace *t, unsigned i)
{
	return json_array_get(json_object_get(t->summary, "lines"), i);
}

static int64_t model(const struct gentrace *t, const char *key)
{
	return json_integer_value(
		json_object_get(json_object_get(t->summary, "memory_model"), key));
}

static void sample_lines_have_the_expected_values(void **state)
{
	g_autofree char *path = g_strdup_printf("%s/tests/data/gen/commands.txt", RS_SOURCE_DIR);
	g_autofree char *expect = g_strdup_printf("%s.expect.json", path);
	struct rs_generate_options options = { .path = path };
	json_t *expected = json_load_file(expect, 0, NULL), *summary, *line, *value;
	GError *error = NULL;
	const char *key;
	size_t i;

	rs_generate(&options, NULL, &summary, NULL, &error);
	assert_no_error(error);
	assert_int_equal(json_integer_value(json_object_get(summary, "records")), 5);
	json_array_foreach(json_object_get(expected, "lines"), i, line) json_object_foreach(
		line, key,
		value) if (strcmp(key, "note") &&
			   !json_equal(json_object_get(
					       json_array_get(json_object_get(summary, "lines"), i),
					       key),
				       value)) fail_msg("line %zu: %s differs", i + 1, key);
	json_decref(expected);
	json_decref(summary);
}

static void a_parallel_load_sets_each_key_once(void **state)
{
	struct gentrace *t =
		gentrace(M "--key-pattern=P:P --key-minimum=1 --key-maximum=999 --ratio=1:0 "
			   "-n allkeys -c 3 -t 4 -d 100\n");

	assert_int_equal(model(t, "sets"), 999);
	assert_int_equal(model(t, "keys_present"), 999);
	gentrace_free(t);
}

static void sets_and_gets_follow_the_ratio(void **state)
{
	struct gentrace *t = gentrace(M "--ratio 2:3 --key-maximum=50 -n 1000 -c 2 -t 1\n");

	assert_int_equal(model(t, "sets"), 800);
	assert_int_equal(model(t, "hits") + model(t, "misses"), 1200);
	gentrace_free(t);
}

static void without_distinct_seeds_all_clients_draw_the_same_keys(void **state)
{
	struct gentrace *same = gentrace(M "--ratio=1:0 --key-maximum=1000000 -n 500 -c 10 -t 1\n");
	struct gentrace *own = gentrace(M "--ratio=1:0 --key-maximum=1000000 -n 500 -c 10 -t 1 "
					  "--distinct-client-seed\n");

	assert_true(model(same, "keys_present") <= 500);
	assert_true(model(own, "keys_present") > 4900);
	gentrace_free(same);
	gentrace_free(own);
}

/* 2000 items of 56 + 11 + 1 + 1000 + 2 bytes in chunks of the next slab class, in pages of 1 MiB.
 */
static void memcached_items_fill_slabs(void **state)
{
	struct gentrace *t = gentrace(
		M "-P memcache_text --key-pattern=P:P --key-minimum=1000 --key-maximum=2999 "
		  "--ratio=1:0 -n allkeys -c 1 -t 1 -d 1000\n");

	assert_int_equal(model(t, "keys_present"), 2000);
	assert_true(model(t, "allocated_bytes") > 2000 * 1070);
	assert_true(model(t, "allocated_bytes") < 2000 * 1070 * 1.25 + (1 << 20));
	assert_int_equal(model(t, "heap_bytes") % (1 << 20), 0);
	assert_int_equal(gentrace_int(t, "threads"), 4);
	gentrace_free(t);
}

static void memory_limit_makes_memcached_evict(void **state)
{
	static const char *const two_mib[] = { "memory=2", "server=memcached", NULL };
	struct gentrace *t =
		gentrace_with(M "--key-pattern=S:S --key-minimum=1 --key-maximum=5000 --ratio=1:0 "
				"-n allkeys -c 1 -t 1 -d 1000\n",
			      two_mib);

	assert_true(model(t, "evicted") > 2000);
	assert_true(model(t, "allocated_bytes") <= 2 << 20);
	gentrace_free(t);
}

static void expired_keys_are_missed(void **state)
{
	static const char *const slow[] = { "rate=100", NULL };
	struct gentrace *t = gentrace_with(
		M "--key-pattern=S:S --key-minimum=1 --key-maximum=1000 --ratio=1:0 "
		  "-n allkeys -c 1 -t 1 --expiry-range=1-1\n" M
		  "--key-pattern=S:S --key-minimum=1 --key-maximum=100 --ratio=0:1 -n 100 "
		  "-c 1 -t 1\n",
		slow);

	assert_int_equal(model(t, "misses"), 100);
	assert_int_equal(gentrace_count(t, RS_OP_MARK), 2);
	gentrace_free(t);
}

static void a_time_limit_takes_the_rate(void **state)
{
	static const char *const rate[] = { "rate=1000", NULL };
	struct gentrace *t = gentrace_with(M "--test-time=2 --key-maximum=100 --ratio=1:0\n", rate);

	assert_int_equal(model(t, "sets"), 2000);
	assert_true(json_is_null(json_object_get(line_of(t, 0), "total_requests")));
	gentrace_free(t);
}

static void zipf_and_normal_keys_prefer_their_place(void **state)
{
	struct gentrace *z = gentrace(
		M "--key-pattern=Z:Z --key-zipf-exp=1.2 --key-maximum=100000 --ratio=1:0 -n 5000 "
		  "-c 1 -t 1\n");
	struct gentrace *g = gentrace(
		M "--key-pattern=G:G --key-stddev=100 --key-median=5000 --key-maximum=100000 "
		  "--ratio=1:0 -n 5000 -c 1 -t 1\n");

	assert_true(model(z, "keys_present") < 1600);
	assert_true(model(g, "keys_present") > 300 && model(g, "keys_present") < 700);
	gentrace_free(z);
	gentrace_free(g);
}

static void mistakes_are_named_with_their_place(void **state)
{
	static const char *const cases[][2] = {
		{ M "--bogus\n", "spec:1: unknown option \"--bogus\"" },
		{ "\n" M "-n\n", "spec:2: option -n needs a value" },
		{ M "--ratio=0:0\n", "asks for nothing" },
		{ M "--key-pattern=X:R\n", "valid is SET:GET" },
		{ M "--key-minimum=10 --key-maximum=5\n", "is below --key-minimum" },
		{ M "--data-import=x\n", "not supported" },
		{ M "--command=\"LPUSH a b\"\n", "only commands that set or get" },
		{ M "-n 1 --test-time=1\n", "exclude one another" },
		{ M "--data-size-range=9-1\n", "the first size is the smaller" },
		{ M "'\n", "spec:1:" },
	};

	for (unsigned i = 0; i < G_N_ELEMENTS(cases); i++)
		assert_generate_error(cases[i][0], cases[i][1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sample_lines_have_the_expected_values),
		cmocka_unit_test(a_parallel_load_sets_each_key_once),
		cmocka_unit_test(sets_and_gets_follow_the_ratio),
		cmocka_unit_test(without_distinct_seeds_all_clients_draw_the_same_keys),
		cmocka_unit_test(memcached_items_fill_slabs),
		cmocka_unit_test(memory_limit_makes_memcached_evict),
		cmocka_unit_test(expired_keys_are_missed),
		cmocka_unit_test(a_time_limit_takes_the_rate),
		cmocka_unit_test(zipf_and_normal_keys_prefer_their_place),
		cmocka_unit_test(mistakes_are_named_with_their_place),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
