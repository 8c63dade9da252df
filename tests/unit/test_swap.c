/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Slots of the swap area: clusters in columns, slots given back 64 at a time, the swap cache.
 */
#include "tests/lib/bare.h"

#define CLUSTER 256u

static struct bare *start(const char *kernel, const char *size)
{
	return bare_new(kernel, SETTINGS("swap", "null", "swap.size", size, "swap.cluster", "256"));
}

static pfn_t folio(struct bare *b, uint16_t memcg)
{
	pfn_t pfn = zone_alloc(&b->m, 0, RS_ZONE_DMA32, 0);

	b->m.folios[pfn].flags |= PG_anon | PG_swapbacked;
	b->m.folios[pfn].memcg = memcg;
	return pfn;
}

/* 128 MiB are 128 clusters in two rows of 64: 64, then 1, 65, 2, ... Cluster 0 holds the header. */
static void clusters_are_taken_column_by_column(void **state)
{
	struct bare *b = start("6.1", "128M");
	static const uint32_t order[] = { 64, 1, 65, 2, 66 };

	for (unsigned k = 0; k < G_N_ELEMENTS(order); k++)
		for (uint32_t i = 0; i < CLUSTER; i++)
			assert_int_equal(swap_take_slot(&b->m), order[k] * CLUSTER + i);
	bare_free(b);
}

static void a_small_area_is_one_cluster_without_its_header(void **state)
{
	struct bare *b = start("6.1", "64K");

	for (uint32_t i = 1; i < 16; i++)
		assert_int_equal(swap_take_slot(&b->m), i);
	assert_int_equal(b->m.swap.nr_free, 0);
	assert_int_equal(swap_take_slot(&b->m), 0);
	bare_free(b);
}

static void every_slot_is_taken_once_before_swap_is_full(void **state)
{
	struct bare *b = start("6.1", "5M"); /* five clusters, one row */
	g_autofree bool *seen = g_new0(bool, 1280);
	uint32_t slot, n = 0;

	while ((slot = swap_take_slot(&b->m))) {
		assert_in_range(slot, 1, 1279);
		assert_false(seen[slot]);
		seen[slot] = true;
		n++;
	}
	assert_int_equal(n, 1279);
	bare_free(b);
}

static void slots_come_back_when_64_others_have_gathered(void **state)
{
	struct bare *b = start("6.1", "1M");
	uint64_t free;

	for (unsigned i = 0; i < 200; i++)
		swap_take_slot(&b->m);
	free = b->m.swap.nr_free;
	for (uint32_t slot = 1; slot <= 64; slot++)
		swap_release_slot(&b->m, slot);
	assert_int_equal(b->m.swap.nr_free, free);
	swap_release_slot(&b->m, 65);
	assert_int_equal(b->m.swap.nr_free, free + 64);
	assert_int_equal(b->m.swap.nr_ret, 1);
	bare_free(b);
}

static void slots_come_back_at_once_in_7_2(void **state)
{
	struct bare *b = start("7.2", "1M");
	uint64_t free;

	swap_take_slot(&b->m);
	free = b->m.swap.nr_free;
	swap_release_slot(&b->m, 1);
	assert_int_equal(b->m.swap.nr_free, free + 1);
	bare_free(b);
}

/*
 * 7.2: the cluster that holds the header is partly used from the start and comes first; then free
 * ones in the order of their slots, the first behind those used before the trace.
 */
static void a_7_2_area_starts_in_the_header_s_cluster(void **state)
{
	struct bare *b = bare_new("7.2", SETTINGS("swap", "null", "swap.size", "8M", "swap.cluster",
						  "256", "swap.used_clusters", "3"));
	static const uint32_t order[] = { 0, 4, 5, 6, 7, 1, 2, 3 };

	for (unsigned k = 0; k < G_N_ELEMENTS(order); k++)
		for (uint32_t i = k ? 0 : 1; i < CLUSTER; i++)
			assert_int_equal(swap_take_slot(&b->m), order[k] * CLUSTER + i);
	assert_int_equal(swap_take_slot(&b->m), 0);
	bare_free(b);
}

/* 7.2: a cluster that got slots back goes before a free one, but the CPU finishes its own first. */
static void given_back_slots_go_before_free_clusters_in_7_2(void **state)
{
	struct bare *b = start("7.2", "8M");

	for (uint32_t i = 1; i < 3 * CLUSTER - 1; i++)
		swap_take_slot(&b->m);
	swap_release_slot(&b->m, 30);
	swap_release_slot(&b->m, 20);
	assert_int_equal(swap_take_slot(&b->m), 3 * CLUSTER - 1);
	assert_int_equal(swap_take_slot(&b->m), 20);
	assert_int_equal(swap_take_slot(&b->m), 30);
	assert_int_equal(swap_take_slot(&b->m), 3 * CLUSTER);
	bare_free(b);
}

/* 7.2: what became free behind the CPU's place waits until it comes by the list. */
static void a_7_2_cpu_does_not_look_back(void **state)
{
	struct bare *b = start("7.2", "4M"); /* four clusters */

	for (uint32_t i = 1; i < 100; i++)
		swap_take_slot(&b->m);
	swap_release_slot(&b->m, 10);
	for (uint32_t i = 100; i < CLUSTER; i++)
		assert_int_equal(swap_take_slot(&b->m), i);
	for (uint32_t i = CLUSTER; i < 4 * CLUSTER; i++)
		assert_int_equal(swap_take_slot(&b->m), i);
	assert_int_equal(swap_take_slot(&b->m), 10);
	assert_int_equal(swap_take_slot(&b->m), 0);
	bare_free(b);
}

static void the_cache_keeps_a_slot_and_a_pte_keeps_it_too(void **state)
{
	struct bare *b = start("7.2", "1M");
	uint16_t a = bare_memcg(b, "/a");
	pfn_t pfn = folio(b, a);
	uint32_t slot = swap_take_slot(&b->m);

	swap_cache_add(&b->m, pfn, slot);
	assert_int_equal(folio_slot(&b->m, pfn), slot);
	assert_true(b->m.folios[pfn].flags & PG_swapcache);
	assert_int_equal(b->m.memcg[a].swap_usage, 1);
	assert_int_equal(b->m.memcg[0].swap_usage, 1);
	b->m.swap.slot[slot].count = 1;
	swap_cache_del(&b->m, pfn, 99);
	assert_true(b->m.swap.slot[slot].used);
	assert_int_equal(b->m.swap.slot[slot].shadow, 99);
	assert_int_equal(b->m.memcg[a].swap_usage, 1);
	/* Read again: the shadow is consumed, the group that pays stays the same. */
	b->m.folios[pfn].memcg = 0;
	swap_cache_add(&b->m, pfn, slot);
	assert_int_equal(b->m.swap.slot[slot].shadow, 0);
	assert_int_equal(b->m.memcg[a].swap_usage, 1);
	swap_put(&b->m, slot);
	assert_true(b->m.swap.slot[slot].used);
	swap_cache_del(&b->m, pfn, 0);
	assert_false(b->m.swap.slot[slot].used);
	assert_int_equal(b->m.memcg[a].swap_usage, 0);
	bare_free(b);
}

/* vm_swap_full(): less than half is free. */
static void swap_is_full_when_less_than_half_is_free(void **state)
{
	struct bare *b = start("6.1", "1M");

	b->m.swap.nr_free = 128;
	assert_false(memcg_swap_full(&b->m, 0));
	b->m.swap.nr_free = 127;
	assert_true(memcg_swap_full(&b->m, 0));
	bare_free(b);
}

static void a_group_is_full_at_half_its_limit(void **state)
{
	struct bare *b =
		bare_new("6.1", SETTINGS("swap", "null", "memcg:/a.memory.swap.max", "100p"));
	uint16_t a = bare_memcg(b, "/a"), ab = bare_memcg(b, "/a/b");

	b->m.memcg[a].swap_usage = 49;
	assert_false(memcg_swap_full(&b->m, ab));
	assert_int_equal(memcg_swap_free(&b->m, ab), 51);
	b->m.memcg[a].swap_usage = 50;
	assert_true(memcg_swap_full(&b->m, ab));
	b->m.memcg[a].swap_usage = 120;
	assert_int_equal(memcg_swap_free(&b->m, ab), 0);
	b->m.swap.nr_free = 7;
	assert_int_equal(memcg_swap_free(&b->m, 0), 7);
	bare_free(b);
}

static void without_a_swap_device_there_is_no_slot(void **state)
{
	struct bare *b = bare_new("6.1", SETTINGS("swap", "none"));

	assert_int_equal(swap_take_slot(&b->m), 0);
	assert_int_equal(memcg_swap_free(&b->m, 0), 0);
	bare_free(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(clusters_are_taken_column_by_column),
		cmocka_unit_test(a_small_area_is_one_cluster_without_its_header),
		cmocka_unit_test(every_slot_is_taken_once_before_swap_is_full),
		cmocka_unit_test(slots_come_back_when_64_others_have_gathered),
		cmocka_unit_test(slots_come_back_at_once_in_7_2),
		cmocka_unit_test(a_7_2_area_starts_in_the_header_s_cluster),
		cmocka_unit_test(given_back_slots_go_before_free_clusters_in_7_2),
		cmocka_unit_test(a_7_2_cpu_does_not_look_back),
		cmocka_unit_test(the_cache_keeps_a_slot_and_a_pte_keeps_it_too),
		cmocka_unit_test(swap_is_full_when_less_than_half_is_free),
		cmocka_unit_test(a_group_is_full_at_half_its_limit),
		cmocka_unit_test(without_a_swap_device_there_is_no_slot),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
