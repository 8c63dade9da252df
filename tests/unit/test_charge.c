/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Charging pages to a group: the stock, the limit's sawtooth, memory.high, the group's OOM.
 */
#include "tests/lib/cm.h"
#include "tests/lib/rig.h"

enum { ANON };

static struct memcg *group(struct rig *r)
{
	return &r->ctx->m.memcg[r->memcg];
}

static struct rig *start(const char *const *settings)
{
	struct rig *r = rig_new("6.1", "classic", settings);

	rig_map_anon(r, ANON, 8192);
	return r;
}

static void charges_are_taken_64_at_a_time(void **state)
{
	struct rig *r = start(NULL);

	rig_store(r, ANON, 0, 1);
	assert_int_equal(group(r)->usage, 64);
	assert_int_equal(r->ctx->cpus[0].stock, 63);
	rig_store(r, ANON, 1, 63);
	assert_int_equal(group(r)->usage, 64);
	assert_int_equal(r->ctx->cpus[0].stock, 0);
	rig_store(r, ANON, 64, 1);
	assert_int_equal(group(r)->usage, 128);
	rig_free(r);
}

static void freed_pages_leave_the_counter_not_the_stock(void **state)
{
	struct rig *r = start(NULL);

	rig_store(r, ANON, 0, 100);
	rig_drain(r);
	rig_record(r, (struct rs_record){ .op = RS_OP_MUNMAP, .object = ANON }, NULL);
	assert_int_equal(group(r)->usage, 28);
	assert_int_equal(r->ctx->cpus[0].stock, 28);
	rig_free(r);
}

static void the_root_group_is_not_charged(void **state)
{
	static const char *const none[] = { "memory.max", "max", NULL };
	struct rig *r = start(none);

	assert_int_equal(r->memcg, 0);
	rig_store(r, ANON, 0, 100);
	assert_int_equal(group(r)->usage, 0);
	assert_int_equal(r->ctx->cpus[0].stock, 0);
	rig_free(r);
}

/* Near the limit 64 do not fit any more: single pages, and the stock stays empty. */
static void the_limit_is_reached_to_the_page_without_an_event(void **state)
{
	static const char *const limit[] = { "memory.max", "1000p", NULL };
	struct rig *r = start(limit);

	rig_store(r, ANON, 0, 961);
	assert_int_equal(group(r)->usage, 961);
	assert_int_equal(r->ctx->cpus[0].stock, 0);
	rig_store(r, ANON, 961, 39);
	assert_int_equal(group(r)->usage, 1000);
	assert_int_equal(group(r)->nr_max_events, 0);
	rig_free(r);
}

/*
 * One event a reclaim; it frees 32 pages at least, and the next event comes when they are used. The
 * first looks at young pages only and frees none.
 */
static void reclaim_at_the_limit_makes_a_sawtooth(void **state)
{
	static const char *const limit[] = { "memory.max", "1000p", NULL };
	struct rig *r = start(limit);
	uint64_t events, margin;
	uint32_t page = 1001;

	rig_store(r, ANON, 0, 1001);
	assert_int_equal(group(r)->nr_max_events, 2);
	for (unsigned tooth = 0; tooth < 20; tooth++) {
		events = group(r)->nr_max_events;
		assert_int_equal(events, 2 + tooth);
		margin = memcg_margin(&r->ctx->m, r->memcg) + r->ctx->cpus[0].stock;
		assert_in_range(margin, 31, 1000);
		rig_store(r, ANON, page, margin);
		assert_int_equal(group(r)->nr_max_events, events);
		assert_int_equal(group(r)->usage, 1000);
		page += margin;
		rig_store(r, ANON, page++, 1);
	}
	rig_check(r);
	rig_free(r);
}

static void a_group_is_reclaimed_where_its_parent_is_full(void **state)
{
	static const char *const limits[] = { "memory.max", "max", "memory.low", "1p", NULL };
	struct rig *r = start(limits);

	r->ctx->m.memcg[0].max = 500;
	rig_store(r, ANON, 0, 600);
	assert_true(r->ctx->m.memcg[0].nr_max_events > 0);
	assert_int_equal(group(r)->nr_max_events, 0);
	assert_true(r->ctx->m.memcg[0].usage <= 500);
	rig_free(r);
}

static void a_full_group_without_swap_kills_its_process(void **state)
{
	static const char *const limit[] = { "memory.max", "300p", "swap", "none", NULL };
	struct rig *r = start(limit);

	rig_store(r, ANON, 0, 301);
	assert_int_equal(group(r)->nr_oom_kills, 1);
	assert_int_equal(rig_vmstat(r, RS_OOM_KILL), 1);
	assert_int_equal(rig_task(r)->state, TASK_DEAD);
	assert_int_equal(rig_lru(r, RS_INACTIVE_ANON), 0);
	rig_free(r);
}

/* ---- memory.high ---- */

static void memory_high_reclaims_on_the_way_back(void **state)
{
	static const char *const high[] = { "memory.max", "max", "memory.high", "1000p", NULL };
	struct rig *r = start(high);

	rig_store(r, ANON, 0, 3000);
	assert_true(group(r)->nr_high_events > 0);
	assert_int_equal(group(r)->nr_max_events, 0);
	assert_in_range(group(r)->usage, 900, 1100);
	rig_free(r);
}

/*
 * 24 pages above 1000, in parts of 2^20: 25165; squared, times HZ = 250, through 2^34: 9 jiffies
 * for a charge of 64. That is more than HZ / 100 = 2 jiffies, so the task sleeps them.
 */
static void what_cannot_be_reclaimed_is_waited_for(void **state)
{
	static const char *const high[] = { "memory.max", "max",  "memory.high", "1000p",
					    "swap",	  "none", NULL };
	struct rig *r = start(high);

	rig_store(r, ANON, 0, 960);
	assert_int_equal(group(r)->usage, 960);
	assert_int_equal(rig_task(r)->wait_ns[WAIT_THROTTLE], 0);
	rig_store(r, ANON, 960, 1);
	assert_int_equal(group(r)->usage, 1024);
	assert_int_equal(rig_task(r)->wait_ns[WAIT_THROTTLE], 9 * 4000000);
	rig_free(r);
}

/* 11 pages: 11534^2 * 250 >> 34 = 1 jiffy, not worth a sleep. */
static void a_small_excess_is_not_waited_for(void **state)
{
	static const char *const high[] = { "memory.max", "max",  "memory.high", "1013p",
					    "swap",	  "none", NULL };
	struct rig *r = start(high);

	rig_store(r, ANON, 0, 961);
	assert_int_equal(group(r)->usage, 1024);
	assert_true(group(r)->nr_high_events > 0);
	assert_int_equal(rig_task(r)->wait_ns[WAIT_THROTTLE], 0);
	rig_free(r);
}

/* Four times the excess of a small limit: no more than two seconds at a time. */
static void a_wait_is_two_seconds_at_most(void **state)
{
	static const char *const high[] = { "memory.max", "max",  "memory.high", "16p",
					    "swap",	  "none", NULL };
	struct rig *r = start(high);

	rig_store(r, ANON, 0, 1);
	assert_int_equal(group(r)->usage, 64);
	assert_int_equal(rig_task(r)->wait_ns[WAIT_THROTTLE], 2000000000);
	rig_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(charges_are_taken_64_at_a_time),
		cmocka_unit_test(freed_pages_leave_the_counter_not_the_stock),
		cmocka_unit_test(the_root_group_is_not_charged),
		cmocka_unit_test(the_limit_is_reached_to_the_page_without_an_event),
		cmocka_unit_test(reclaim_at_the_limit_makes_a_sawtooth),
		cmocka_unit_test(a_group_is_reclaimed_where_its_parent_is_full),
		cmocka_unit_test(a_full_group_without_swap_kills_its_process),
		cmocka_unit_test(memory_high_reclaims_on_the_way_back),
		cmocka_unit_test(what_cannot_be_reclaimed_is_waited_for),
		cmocka_unit_test(a_small_excess_is_not_waited_for),
		cmocka_unit_test(a_wait_is_two_seconds_at_most),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
