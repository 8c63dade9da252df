/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * test_min_ttl.c - lru_gen.min_ttl_ms: kswapd kills a process rather than evict what has been used
 * a moment ago. Kernel: vmscan.c lru_gen_age_node(), lruvec_is_reclaimable().
 */
#include "policies/mglru.h"
#include "tests/lib/cm.h"
#include "tests/lib/rig.h"

#define MS 1000000ull
static const char *const kernels[] = { "6.1", "6.12", "6.14", "7.2" };

/* A machine of 96 MiB without a limit, so that it is kswapd who reclaims. */
static struct rig *machine(const char *kernel, const char *policy, const char *ttl)
{
	const char *const settings[] = {
		"memory.max", "max",  "node0.memory", "96M",  "lru_gen.min_ttl_ms",
		ttl,	      "swap", "nvme",	      "cpus", "2",
		NULL
	};

	return rig_new(kernel, policy, settings);
}

/* Touches more than there is, for a while. */
static void overflow(struct rig *r)
{
	rig_map_anon(r, 1, 30000);
	for (unsigned i = 0; i < 3; i++)
		rig_store(r, 1, 0, 26000);
}

static void memory_younger_than_min_ttl_costs_a_process_its_life(void **state)
{
	for (unsigned k = 0; k < G_N_ELEMENTS(kernels); k++) {
		struct rig *r = machine(kernels[k], "mglru", "1000000");

		overflow(r);
		assert_int_equal(rig_vmstat(r, RS_OOM_KILL), 1);
		assert_true(rig_task(r)->killed);
		assert_non_null(strstr(r->ctx->result->oom, "min_ttl"));
		rig_free(r);
	}
}

static void without_min_ttl_it_is_swapped_out(void **state)
{
	for (unsigned k = 0; k < G_N_ELEMENTS(kernels); k++) {
		struct rig *r = machine(kernels[k], "mglru", "0");

		overflow(r);
		assert_int_equal(rig_vmstat(r, RS_OOM_KILL), 0);
		assert_true(rig_vmstat(r, RS_PSWPOUT) > 10000);
		rig_free(r);
	}
}

static void the_classic_lru_knows_no_min_ttl(void **state)
{
	struct rig *r = machine("6.12", "classic", "1000000");

	overflow(r);
	assert_int_equal(rig_vmstat(r, RS_OOM_KILL), 0);
	rig_free(r);
}

/* Half of memory was last used a second ago, as long as nobody walks the page tables. */
static void memory_older_than_min_ttl_is_swapped_out(void **state)
{
	for (unsigned k = 0; k < G_N_ELEMENTS(kernels); k++) {
		struct rig *r = machine(kernels[k], "mglru", "100");

		rig_map_anon(r, 1, 20000);
		rig_store(r, 1, 0, 20000);
		rig_record(r, (struct rs_record){ .op = RS_OP_SLEEP, .value = 1000 * MS }, NULL);
		rig_map_anon(r, 2, 20000);
		rig_store(r, 2, 0, 8000);
		assert_int_equal(rig_vmstat(r, RS_OOM_KILL), 0);
		assert_true(rig_vmstat(r, RS_PSWPOUT) > 0);
		rig_free(r);
	}
}

/* ---- the condition, at its limit ---- */

static bool wants_oom(struct rig *r, ns_t age, unsigned order)
{
	struct mglru_lruvec *v = mglru_lruvec(rs_lruvec(r->ctx, 0, 0));
	struct rs_scan sc = rig_limit_scan(r);

	sc.target_memcg = 0;
	sc.cgroup_reclaim = false;
	sc.kswapd = true;
	sc.order = order;
	sc.priv[SCAN_NEED_AGING] = true;
	rig_enter(r);
	for (unsigned g = 0; g < MAX_NR_GENS; g++)
		v->timestamps[g] = rs_now(r->ctx) - age;
	r->ctx->ops->age_node(r->ctx, 0, &sc);
	rig_leave(r);
	return sc.want_oom;
}

static struct rig *with_pages(const char *kernel, const char *ttl)
{
	struct rig *r = machine(kernel, "mglru", ttl);

	rig_map_anon(r, 1, 6000);
	rig_store(r, 1, 0, 6000);
	rig_record(r, (struct rs_record){ .op = RS_OP_SLEEP, .value = 1000 * MS }, NULL);
	rig_drain(r);
	return r;
}

/* 6.1: time_is_after_jiffies(birth + ttl) protects; newer: time_is_before_jiffies() does not. */
static void the_oldest_generation_must_be_older_than_min_ttl(void **state)
{
	for (unsigned k = 0; k < G_N_ELEMENTS(kernels); k++) {
		struct rig *r = with_pages(kernels[k], "50");

		assert_true(wants_oom(r, 49 * MS, 0));
		assert_true(wants_oom(r, 50 * MS, 0) == (k > 0));
		assert_false(wants_oom(r, 51 * MS, 0));
		rig_free(r);
	}
}

static void a_search_for_large_pages_kills_nobody_in_6_1(void **state)
{
	struct rig *r = with_pages("6.1", "50");

	assert_true(wants_oom(r, 1 * MS, 0));
	assert_false(wants_oom(r, 1 * MS, 9));
	rig_free(r);
}

/* Old pages of a group that memory.min protects are none that could be had instead. */
static void groups_below_memory_min_do_not_count(void **state)
{
	static const char *const settings[] = { "memory.max",	      "max", "memory.min", "64M",
						"lru_gen.min_ttl_ms", "50",  NULL };
	struct rig *r = rig_new("6.12", "mglru", settings);
	struct rs_scan sc = rig_limit_scan(r);

	rig_map_anon(r, 1, 6000);
	rig_store(r, 1, 0, 6000);
	rig_record(r, (struct rs_record){ .op = RS_OP_SLEEP, .value = 1000 * MS }, NULL);
	rig_drain(r);
	assert_int_not_equal(r->memcg, 0);
	sc.kswapd = true;
	sc.target_memcg = 0;
	sc.cgroup_reclaim = false;
	rig_enter(r);
	memcg_update_protection(&r->ctx->m, 0);
	r->ctx->ops->age_node(r->ctx, 0, &sc);
	rig_leave(r);
	assert_true(sc.want_oom);
	rig_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(memory_younger_than_min_ttl_costs_a_process_its_life),
		cmocka_unit_test(without_min_ttl_it_is_swapped_out),
		cmocka_unit_test(the_classic_lru_knows_no_min_ttl),
		cmocka_unit_test(memory_older_than_min_ttl_is_swapped_out),
		cmocka_unit_test(the_oldest_generation_must_be_older_than_min_ttl),
		cmocka_unit_test(a_search_for_large_pages_kills_nobody_in_6_1),
		cmocka_unit_test(groups_below_memory_min_do_not_count),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
