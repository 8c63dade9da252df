/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Background reclaim: when kswapd wakes, how far it goes, how it sleeps, when it gives up.
 */
#include "tests/lib/cm.h"
#include "tests/lib/rig.h"

enum { ANON, DATA = 0 };
#define MANAGED 4000u
#define MIN_MARK 100u
#define LOW_MARK 200u
#define HIGH_MARK 300u

/* One zone, no group limit. */
static struct rig *start(const char *kernel, const char *swap)
{
	const char *const settings[] = {
		"memory.max",
		"max",
		"swap",
		swap,
		"node0.zone.DMA32.managed",
		"4000",
		"node0.zone.DMA32.free",
		"4000",
		"node0.zone.DMA32.min",
		"100",
		"node0.zone.DMA32.low",
		"200",
		"node0.zone.DMA32.high",
		"300",
		NULL,
	};
	struct rig *r = rig_new(kernel, "classic", settings);

	rig_map_anon(r, ANON, 8192);
	rig_file(r, DATA, 8192);
	return r;
}

static uint64_t free_pages(const struct rig *r)
{
	return r->ctx->m.node[0].zone[RS_ZONE_DMA32].free;
}

static struct task *kswapd(const struct rig *r)
{
	return r->ctx->kswapd[0];
}

static void let_pass(struct rig *r, ns_t ns)
{
	rig_record(r, (struct rs_record){ .op = RS_OP_SLEEP, .value = ns }, NULL);
}

static void kswapd_sleeps_while_low_is_exceeded(void **state)
{
	struct rig *r = start("6.12", "null");

	rig_read(r, DATA, 0, MANAGED - LOW_MARK - 1);
	assert_true(free_pages(r) > LOW_MARK);
	assert_int_equal(r->ctx->pgdat[0].wakeups, 0);
	assert_int_equal(rig_vmstat(r, RS_PAGEOUTRUN), 0);
	rig_free(r);
}

static void below_low_it_wakes_and_works_until_high(void **state)
{
	struct rig *r = start("6.12", "null");

	rig_read(r, DATA, 0, MANAGED - LOW_MARK + 1);
	let_pass(r, 50000000);
	assert_int_equal(r->ctx->pgdat[0].wakeups, 1);
	assert_int_equal(rig_vmstat(r, RS_PAGEOUTRUN), 1);
	assert_true(free_pages(r) > HIGH_MARK);
	assert_int_equal(rig_vmstat(r, RS_PGSCAN_DIRECT), 0);
	assert_int_equal(rig_vmstat(r, RS_ALLOCSTALL_MOVABLE), 0);
	assert_true(rig_vmstat(r, RS_PGSTEAL_KSWAPD) >= HIGH_MARK - LOW_MARK);
	assert_int_equal(rig_vmstat(r, RS_PGSTEAL_KSWAPD), rig_vmstat(r, RS_PGSTEAL_FILE));
	rig_check(r);
	rig_free(r);
}

static void woken_in_its_nap_it_notes_the_low_mark(void **state)
{
	struct rig *r = start("6.12", "null");

	rig_read(r, DATA, 0, MANAGED - LOW_MARK + 1);
	let_pass(r, 20000000); /* the nap takes 100 ms */
	rig_read(r, DATA, 4000, free_pages(r) - LOW_MARK + 1);
	let_pass(r, 20000000);
	assert_int_equal(rig_vmstat(r, RS_KSWAPD_LOW_WMARK_HIT_QUICKLY), 1);
	assert_int_equal(rig_vmstat(r, RS_KSWAPD_HIGH_WMARK_HIT_QUICKLY), 0);
	assert_int_equal(rig_vmstat(r, RS_PAGEOUTRUN), 2);
	rig_free(r);
}

static void a_nap_that_ends_below_high_is_noted_and_work_goes_on(void **state)
{
	struct rig *r = start("6.12", "null");

	rig_read(r, DATA, 0, MANAGED - LOW_MARK + 1);
	let_pass(r, 20000000);
	/* Between high and low: nobody wakes it. */
	rig_read(r, DATA, 4000, free_pages(r) - HIGH_MARK + 10);
	assert_in_range(free_pages(r), LOW_MARK + 1, HIGH_MARK);
	let_pass(r, 200000000);
	assert_int_equal(rig_vmstat(r, RS_KSWAPD_HIGH_WMARK_HIT_QUICKLY), 1);
	assert_int_equal(rig_vmstat(r, RS_KSWAPD_LOW_WMARK_HIT_QUICKLY), 0);
	assert_int_equal(rig_vmstat(r, RS_PAGEOUTRUN), 2);
	assert_true(free_pages(r) > HIGH_MARK);
	rig_free(r);
}

static void a_quiet_nap_ends_in_sleep(void **state)
{
	struct rig *r = start("6.12", "null");

	rig_read(r, DATA, 0, MANAGED - LOW_MARK + 1);
	let_pass(r, 500000000);
	assert_int_equal(rig_vmstat(r, RS_KSWAPD_LOW_WMARK_HIT_QUICKLY), 0);
	assert_int_equal(rig_vmstat(r, RS_KSWAPD_HIGH_WMARK_HIT_QUICKLY), 0);
	assert_int_equal(rig_vmstat(r, RS_PAGEOUTRUN), 1);
	assert_int_equal(kswapd(r)->state, TASK_WAITING);
	assert_true(r->ctx->pgdat[0].asleep);
	rig_free(r);
}

/*
 * Nothing can be reclaimed: every run fails and counts a HIGH mark missed without a nap, until the
 * sixteenth. Then it sleeps, and nobody wakes it.
 */
static void after_sixteen_failures_it_gives_up(void **state)
{
	struct rig *r = start("6.12", "none");

	rig_store(r, ANON, 0, MANAGED - LOW_MARK + 1);
	let_pass(r, 500000000);
	assert_int_equal(r->ctx->pgdat[0].failures, 16);
	assert_int_equal(rig_vmstat(r, RS_PAGEOUTRUN), 16);
	assert_int_equal(rig_vmstat(r, RS_KSWAPD_HIGH_WMARK_HIT_QUICKLY), 15);
	rig_store(r, ANON, MANAGED - LOW_MARK + 1, 10);
	let_pass(r, 500000000);
	assert_int_equal(rig_vmstat(r, RS_PAGEOUTRUN), 16);
	assert_int_equal(kswapd(r)->state, TASK_WAITING);
	rig_free(r);
}

/* Kernel: balance_pgdat() leaves by "out" when it is balanced. */
static void a_run_that_finds_the_node_balanced_is_no_failure(void **state)
{
	struct rig *r = start("6.12", "null");

	rig_read(r, DATA, 0, 100);
	for (unsigned i = 1; i <= 20; i++) {
		let_pass(r, 200000000);
		assert_true(r->ctx->pgdat[0].asleep);
		task_wake(r->ctx, kswapd(r), r->ctx->now);
		let_pass(r, 200000000);
		assert_int_equal(rig_vmstat(r, RS_PAGEOUTRUN), i);
		assert_int_equal(r->ctx->pgdat[0].failures, 0);
	}
	rig_free(r);
}

static void what_direct_reclaim_frees_revives_kswapd(void **state)
{
	struct rig *r = start("6.12", "null");

	rig_read(r, DATA, 0, 1000);
	rig_drain(r);
	r->ctx->pgdat[0].failures = 16;
	rig_enter(r);
	assert_true(try_to_free_pages(r->ctx, 0, 0, RS_ZONE_NORMAL) >= 32);
	rig_leave(r);
	assert_int_equal(r->ctx->pgdat[0].failures, 0);
	assert_int_equal(rig_vmstat(r, RS_ALLOCSTALL_MOVABLE), 1);
	rig_free(r);
}

/* Half of min is gone: allocators wait for kswapd, unless it has given up. */
static void direct_reclaim_is_let_in_above_half_of_min(void **state)
{
	struct rig *r = start("6.12", "null");
	struct zone *zone = &r->ctx->m.node[0].zone[RS_ZONE_DMA32];

	rig_read(r, DATA, 0, 1000);
	rig_drain(r);
	rig_enter(r);
	zone->free = MIN_MARK / 2 + 1;
	assert_true(allow_direct_reclaim(r->ctx, 0));
	zone->free = MIN_MARK / 2;
	assert_false(allow_direct_reclaim(r->ctx, 0));
	r->ctx->pgdat[0].failures = 16;
	assert_true(allow_direct_reclaim(r->ctx, 0));
	rig_leave(r);
	rig_free(r);
}

/* Only kswapd and group limits note congestion; a direct reclaimer of the machine does not. */
static void only_kswapd_and_limits_mark_a_node_congested(void **state)
{
	struct rig *r = start("6.12", "null");
	struct lruvec *l = lruvec_of(&r->ctx->m, 0, 0);
	struct rs_scan sc = rig_limit_scan(r);

	for (unsigned kswapd = 0; kswapd < 2; kswapd++) {
		rig_write(r, DATA, 0, 64);
		rig_drain(r);
		rig_enter(r);
		for (uint32_t page = 0; page < 64; page++) {
			pfn_t pfn = rig_file_page(r, DATA, page);

			folio_clear_dirty(r->ctx, pfn);
			folio_start_writeback(r->ctx, pfn);
			rig_folio(r, pfn)->flags |= PG_reclaim;
		}
		sc.target_memcg = 0;
		sc.cgroup_reclaim = false;
		sc.kswapd = kswapd;
		sc.priority = 0;
		shrink_node(r->ctx, 0, &sc);
		assert_int_equal(sc.nr.congested, 64);
		assert_int_equal(sc.nr.dirty, 64);
		assert_int_equal(l->congested, kswapd);
		for (uint32_t page = 0; page < 64; page++)
			folio_end_writeback(r->ctx, rig_file_page(r, DATA, page));
		rig_leave(r);
	}
	rig_check(r);
	rig_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kswapd_sleeps_while_low_is_exceeded),
		cmocka_unit_test(below_low_it_wakes_and_works_until_high),
		cmocka_unit_test(woken_in_its_nap_it_notes_the_low_mark),
		cmocka_unit_test(a_nap_that_ends_below_high_is_noted_and_work_goes_on),
		cmocka_unit_test(a_quiet_nap_ends_in_sleep),
		cmocka_unit_test(after_sixteen_failures_it_gives_up),
		cmocka_unit_test(a_run_that_finds_the_node_balanced_is_no_failure),
		cmocka_unit_test(what_direct_reclaim_frees_revives_kswapd),
		cmocka_unit_test(direct_reclaim_is_let_in_above_half_of_min),
		cmocka_unit_test(only_kswapd_and_limits_mark_a_node_congested),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
