/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * test_result.c - the result object: what is printed, what is absent, look-up by name.
 */
#include "lib/cm.h"
#include "sim/report/result.h"

#include <jansson.h>

static const struct rs_counter own_counters[] = {
	{ "walks", "page-table walks" },
	{ "sim_hits", "hits" },
	{ NULL, NULL },
};
static unsigned no_gens(struct rs_ctx *ctx, struct rs_lruvec *lruvec, unsigned max,
			struct rs_lru_gen_row *rows)
{
	return 0;
}
static const struct rs_policy_ops mglru_like = { .name = "mglru",
						 .counters = own_counters,
						 .lru_gen = no_gens };
static const struct rs_policy_ops classic_like = { .name = "classic" };

static struct rs_result *make(const struct rs_policy_ops *ops, const char *kernel, const char *swap)
{
	struct rs_scenario *scenario = rs_scenario_new();
	struct rs_result *result;

	assert_true(rs_scenario_set(scenario, "kernel", kernel, NULL));
	assert_true(rs_scenario_set(scenario, "swap", swap, NULL));
	result = rs_result_new(scenario, ops->name, ops);
	rs_scenario_free(scenario);
	return result;
}

static void add_end(struct rs_result *result)
{
	struct rs_snapshot *end = rs_result_add_snapshot(result, "end", 42, 1000000);
	struct rs_group_stat *group = rs_snapshot_add_group(end, "");
	struct rs_lru_gen_row row = { .seq = 3, .age_ms = 12, .nr_pages = { 5, 6 } };

	end->vmstat[RS_PGMAJFAULT] = 7;
	group->events[RS_PGSCAN_KSWAPD] = 2;
	group->events[RS_PGSCAN_DIRECT] = 3;
	group->sizes[RS_MEMCG_ANON] = 8192;
	rs_snapshot_add_gen(end, &row);
	end->own[0] = 11;
	if (result->nr_own > 1)
		end->own[1] = 12;
}

static json_t *parse(const struct rs_result *result)
{
	char *text = rs_result_json(result);
	json_t *json = json_loads(text, JSON_REJECT_DUPLICATES, NULL);

	assert_non_null(json);
	assert_true(g_str_has_suffix(text, "}\n"));
	g_free(text);
	return json;
}

static json_t *end_of(json_t *json)
{
	json_t *snapshots = json_object_get(json, "snapshots");

	return json_array_get(snapshots, json_array_size(snapshots) - 1);
}

static void the_keys_stand_in_the_order_of_the_contract(void **state)
{
	static const char *const expected[] = { "schema", "version",  "trace",	   "policy",
						"kernel", "settings", "snapshots", "cost",
						"time",	  "locks",    "psi",	   "devices",
						"nodes",  "latency",  "warnings" };
	struct rs_result *result = make(&mglru_like, "6.12", "null");
	json_t *json, *value;
	const char *key;
	unsigned i = 0;

	add_end(result);
	json = parse(result);
	json_object_foreach(json, key, value)
	{
		assert_true(i < G_N_ELEMENTS(expected));
		assert_string_equal(key, expected[i++]);
	}
	assert_int_equal(i, G_N_ELEMENTS(expected));
	json_decref(json);
	rs_result_free(result);
}

static void counters_stand_where_the_kernel_has_them(void **state)
{
	struct rs_result *result = make(&mglru_like, "6.12", "null");
	json_t *json, *end, *memcg, *vmstat;

	add_end(result);
	json = parse(result);
	end = end_of(json);
	memcg = json_object_get(end, "memcg");
	vmstat = json_object_get(end, "vmstat_delta");
	assert_int_equal(json_integer_value(json_object_get(memcg, "pgscan")), 5);
	assert_int_equal(json_integer_value(json_object_get(memcg, "anon")), 8192);
	assert_null(json_object_get(memcg, "pswpin"));
	assert_null(json_object_get(memcg, "pgscan_anon"));
	assert_int_equal(json_integer_value(json_object_get(vmstat, "pgmajfault")), 7);
	assert_non_null(json_object_get(vmstat, "pswpin"));
	assert_null(json_object_get(vmstat, "pgscan_proactive"));
	assert_null(json_object_get(vmstat, "numa_hit"));
	assert_int_equal(json_integer_value(json_array_get(
				 json_array_get(json_object_get(end, "lru_gen"), 0), 3)),
			 6);
	assert_int_equal(
		json_integer_value(json_object_get(json_object_get(end, "policy"), "sim_walks")),
		11);
	assert_non_null(json_object_get(json_object_get(end, "policy"), "sim_hits"));
	json_decref(json);
	rs_result_free(result);
}

static void what_machine_or_policy_lack_is_absent(void **state)
{
	struct rs_result *result = make(&classic_like, "7.2", "none");
	json_t *json, *end;

	add_end(result);
	json = parse(result);
	end = end_of(json);
	assert_null(json_object_get(end, "lru_gen"));
	assert_null(json_object_get(end, "policy"));
	assert_null(json_object_get(json_object_get(end, "vmstat_delta"), "pswpout"));
	assert_non_null(json_object_get(json_object_get(end, "vmstat_delta"), "pgscan_proactive"));
	json_decref(json);
	rs_result_free(result);
}

static void costs_are_summed_by_activity(void **state)
{
	struct rs_result *result = make(&classic_like, "6.12", "null");
	json_t *json, *rmap;

	add_end(result);
	result->cost_calls[RS_COST_RMAP_FIXED] = 3;
	result->cost_ns[RS_COST_RMAP_FIXED] = 1500;
	result->cost_calls[RS_COST_RMAP_PER_MAP] = 1;
	result->cost_ns[RS_COST_RMAP_PER_MAP] = 250;
	json = parse(result);
	rmap = json_object_get(json_object_get(json_object_get(json, "cost"), "by_activity"),
			       "rmap_walk");
	assert_int_equal(json_integer_value(json_object_get(rmap, "calls")), 4);
	assert_int_equal(json_integer_value(json_object_get(rmap, "ns")), 1750);
	json_decref(json);
	rs_result_free(result);
}

static void counters_are_found_by_scope_and_name(void **state)
{
	struct rs_result *result = make(&classic_like, "6.12", "null");
	struct rs_group_stat *other;
	int64_t value = -1;

	assert_false(rs_result_counter(result, "vmstat", "pgmajfault", &value));
	add_end(result);
	other = rs_snapshot_add_group(g_ptr_array_index(result->snapshots, 0), "/web");
	other->events[RS_PGFAULT] = 99;
	rs_result_add_sample(result, 50, 2000000);
	assert_true(rs_result_counter(result, "vmstat", "pgmajfault", &value));
	assert_int_equal(value, 7);
	assert_true(rs_result_counter(result, "memcg:/web", "pgfault", &value));
	assert_int_equal(value, 99);
	assert_true(rs_result_counter(result, "memcg", "anon", &value));
	assert_int_equal(value, 8192);
	assert_false(rs_result_counter(result, "memcg", "pswpin", &value));
	assert_false(rs_result_counter(result, "memcgx", "anon", &value));
	assert_false(rs_result_counter(result, "memcg:/db", "anon", &value));
	rs_result_free(result);
}

static void names_of_any_bytes_give_valid_json(void **state)
{
	struct rs_result *result = make(&classic_like, "6.12", "null");
	json_t *json;

	rs_result_add_snapshot(result, "\xff\"\n", 1, 1);
	rs_result_warn(result, "twice");
	rs_result_warn(result, "twice");
	json = parse(result);
	assert_non_null(json_object_get(end_of(json), "name"));
	assert_int_equal(json_array_size(json_object_get(json, "warnings")), 1);
	json_decref(json);
	rs_result_free(result);
}

static void latencies_are_those_that_occurred_with_percentiles_and_buckets(void **state)
{
	struct rs_result *result = make(&classic_like, "6.12", "null");
	json_t *json, *row;

	add_end(result);
	for (uint64_t ns = 1; ns <= 100; ns++)
		rs_hist_add(&result->latency[RS_LATENCY_FAULT_MAJOR], ns * 1000);
	json = parse(result);
	assert_int_equal(json_object_size(json_object_get(json, "latency")), 1);
	row = json_object_get(json_object_get(json, "latency"), "fault_major");
	assert_int_equal(json_integer_value(json_object_get(row, "count")), 100);
	assert_int_equal(json_integer_value(json_object_get(row, "sum_ns")), 5050000);
	assert_int_equal(json_integer_value(json_object_get(row, "min_ns")), 1000);
	/* 50000 and 99000 lie in buckets that end with 50175 and 100351; 100000 is the largest. */
	assert_int_equal(json_integer_value(json_object_get(row, "p50_ns")), 50175);
	assert_int_equal(json_integer_value(json_object_get(row, "p99_ns")), 100000);
	assert_int_equal(json_integer_value(json_object_get(row, "max_ns")), 100000);
	assert_int_equal(json_integer_value(json_array_get(
				 json_array_get(json_object_get(row, "buckets"), 0), 2)),
			 1);
	json_decref(json);
	rs_result_free(result);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(latencies_are_those_that_occurred_with_percentiles_and_buckets),
		cmocka_unit_test(the_keys_stand_in_the_order_of_the_contract),
		cmocka_unit_test(counters_stand_where_the_kernel_has_them),
		cmocka_unit_test(what_machine_or_policy_lack_is_absent),
		cmocka_unit_test(costs_are_summed_by_activity),
		cmocka_unit_test(counters_are_found_by_scope_and_name),
		cmocka_unit_test(names_of_any_bytes_give_valid_json),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
