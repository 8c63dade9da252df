/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Frames, zones and watermarks, with numbers worked by hand from the kernel's formulas.
 */
#include "tests/lib/bare.h"

static struct zone *zone(struct bare *b, enum rs_zone z)
{
	return &b->m.node[0].zone[z];
}

static void assert_wmarks(const struct zone *z, uint64_t min, uint64_t low, uint64_t high)
{
	assert_int_equal(z->wmark[RS_WMARK_MIN], min);
	assert_int_equal(z->wmark[RS_WMARK_LOW], low);
	assert_int_equal(z->wmark[RS_WMARK_HIGH], high);
	assert_int_equal(z->wmark[RS_WMARK_PROMO], high + (high - low));
}

/* min_free_kbytes = isqrt(262144 * 16) = 2048, so 512 pages, shared by 4096 : 61440. */
static void watermarks_of_256_megabytes(void **state)
{
	struct bare *b = bare_new("6.12", NULL);

	assert_int_equal(zone(b, RS_ZONE_DMA)->managed, 4096);
	assert_int_equal(zone(b, RS_ZONE_DMA32)->managed, 61440);
	assert_int_equal(zone(b, RS_ZONE_NORMAL)->managed, 0);
	assert_wmarks(zone(b, RS_ZONE_DMA), 32, 40, 48);
	assert_wmarks(zone(b, RS_ZONE_DMA32), 480, 600, 720);
	bare_free(b);
}

/* isqrt(8388608 * 16) = 11585 kB = 2896 pages, half of them Normal's; 0.1 % of it is the gap. */
static void the_scale_factor_sets_the_gap_of_a_large_zone(void **state)
{
	struct bare *b = bare_new("6.12", SETTINGS("node0.memory", "8G"));

	assert_int_equal(zone(b, RS_ZONE_NORMAL)->managed, 1048576);
	assert_wmarks(zone(b, RS_ZONE_NORMAL), 1448, 1448 + 1048, 1448 + 2 * 1048);
	bare_free(b);
	b = bare_new("6.12", SETTINGS("node0.memory", "8G", "vm.watermark_scale_factor", "100"));
	assert_wmarks(zone(b, RS_ZONE_NORMAL), 1448, 1448 + 10485, 1448 + 2 * 10485);
	bare_free(b);
}

static void min_free_kbytes_overrides_the_square_root(void **state)
{
	struct bare *b = bare_new("6.12", SETTINGS("vm.min_free_kbytes", "4096"));

	assert_int_equal(zone(b, RS_ZONE_DMA32)->wmark[RS_WMARK_MIN], 960);
	bare_free(b);
}

/* 64M: isqrt(65536 * 16) = 1024 kB; 1M: isqrt(1024 * 16) = 128, the least there is. */
static void min_free_kbytes_has_a_floor(void **state)
{
	struct bare *b = bare_new("6.12", SETTINGS("node0.memory", "256K"));

	assert_int_equal(zone(b, RS_ZONE_DMA)->wmark[RS_WMARK_MIN], 32);
	bare_free(b);
}

static void zones_given_by_hand_are_the_only_ones(void **state)
{
	struct bare *b = bare_new(
		"6.12", SETTINGS("node0.zone.DMA32.managed", "9000", "node0.zone.DMA32.free",
				 "8000", "node0.zone.DMA32.min", "100", "node0.zone.DMA32.low",
				 "150", "node0.zone.DMA32.high", "210"));

	assert_int_equal(zone(b, RS_ZONE_DMA)->managed, 0);
	assert_int_equal(zone(b, RS_ZONE_NORMAL)->managed, 0);
	assert_int_equal(zone(b, RS_ZONE_DMA32)->managed, 9000);
	assert_int_equal(zone(b, RS_ZONE_DMA32)->free, 8000);
	assert_int_equal(zone(b, RS_ZONE_DMA32)->wmark[RS_WMARK_MIN], 100);
	assert_int_equal(zone(b, RS_ZONE_DMA32)->wmark[RS_WMARK_LOW], 150);
	assert_int_equal(zone(b, RS_ZONE_DMA32)->wmark[RS_WMARK_HIGH], 210);
	bare_free(b);
}

static void used_memory_is_taken_from_the_highest_zone_first(void **state)
{
	struct bare *b = bare_new("6.12", SETTINGS("node0.managed", "20000", "node0.free", "3000"));

	assert_int_equal(zone(b, RS_ZONE_DMA)->managed, 4096);
	assert_int_equal(zone(b, RS_ZONE_DMA)->free, 3000);
	assert_int_equal(zone(b, RS_ZONE_DMA32)->managed, 15904);
	assert_int_equal(zone(b, RS_ZONE_DMA32)->free, 0);
	bare_free(b);
}

/* What higher allocations may not take: managed pages above, through 256, 256 and 32. */
static void lowmem_reserve_protects_low_zones(void **state)
{
	struct bare *b = bare_new("6.12", SETTINGS("node0.memory", "8G"));

	assert_int_equal(zone(b, RS_ZONE_DMA)->lowmem_reserve[RS_ZONE_DMA], 0);
	assert_int_equal(zone(b, RS_ZONE_DMA)->lowmem_reserve[RS_ZONE_DMA32], 1044480 / 256);
	assert_int_equal(zone(b, RS_ZONE_DMA)->lowmem_reserve[RS_ZONE_NORMAL],
			 (1044480 + 1048576) / 256);
	assert_int_equal(zone(b, RS_ZONE_DMA32)->lowmem_reserve[RS_ZONE_NORMAL], 1048576 / 256);
	assert_int_equal(zone(b, RS_ZONE_NORMAL)->lowmem_reserve[RS_ZONE_NORMAL], 0);
	bare_free(b);
}

static void a_watermark_has_to_be_exceeded(void **state)
{
	struct bare *b = bare_new("6.12", NULL);
	uint64_t free = zone(b, RS_ZONE_DMA32)->free;

	assert_true(zone_watermark_ok(&b->m, 0, RS_ZONE_DMA32, 0, free - 1, RS_ZONE_DMA32));
	assert_false(zone_watermark_ok(&b->m, 0, RS_ZONE_DMA32, 0, free, RS_ZONE_DMA32));
	/* DMA keeps 61440 / 256 = 240 from allocations that DMA32 could serve. */
	free = zone(b, RS_ZONE_DMA)->free;
	assert_true(zone_watermark_ok(&b->m, 0, RS_ZONE_DMA, 0, free - 241, RS_ZONE_DMA32));
	assert_false(zone_watermark_ok(&b->m, 0, RS_ZONE_DMA, 0, free - 240, RS_ZONE_DMA32));
	bare_free(b);
}

static void a_watermark_of_an_order_needs_a_block_of_it(void **state)
{
	struct bare *b = bare_new("6.12", SETTINGS("node0.zone.DMA.managed", "16"));
	pfn_t pfn[16];

	for (unsigned i = 0; i < 16; i++)
		pfn[i] = zone_alloc(&b->m, 0, RS_ZONE_DMA, 0);
	for (unsigned i = 0; i < 16; i++)
		if (pfn[i] & 1)
			zone_free(&b->m, pfn[i], 0);
	assert_int_equal(zone(b, RS_ZONE_DMA)->free, 8);
	assert_true(zone_watermark_ok(&b->m, 0, RS_ZONE_DMA, 0, 0, RS_ZONE_DMA));
	assert_false(zone_watermark_ok(&b->m, 0, RS_ZONE_DMA, 1, 0, RS_ZONE_DMA));
	bare_free(b);
}

static void every_frame_is_given_once_and_blocks_join_again(void **state)
{
	struct bare *b = bare_new("6.12", SETTINGS("node0.zone.DMA.managed", "4096"));
	g_autofree bool *seen = g_new0(bool, 4097);
	unsigned blocks = 0;
	pfn_t pfn;

	for (unsigned i = 0; i < 4096; i++) {
		pfn = zone_alloc(&b->m, 0, RS_ZONE_DMA, 0);
		assert_in_range(pfn, 1, 4096);
		assert_false(seen[pfn]);
		seen[pfn] = true;
		b->m.folios[pfn].flags |= PG_uptodate;
	}
	assert_int_equal(zone_alloc(&b->m, 0, RS_ZONE_DMA, 0), RS_PFN_NONE);
	assert_int_equal(zone(b, RS_ZONE_DMA)->free, 0);
	for (unsigned i = 0; i < 4096; i++)
		zone_free(&b->m, 1 + i * 1365 % 4096, 0); /* 1365 and 4096 have no common factor */
	assert_int_equal(zone(b, RS_ZONE_DMA)->free, 4096);
	while (zone_alloc(&b->m, 0, RS_ZONE_DMA, MAX_ORDER))
		blocks++;
	/* Frames 1 to 4096 hold seven blocks that begin at a multiple of 512. */
	assert_int_equal(blocks, 7);
	bare_free(b);
}

/* "its head has PG_free and the order; the other frames have no flag" */
static void a_freed_frame_keeps_no_flag(void **state)
{
	struct bare *b = bare_new("6.12", SETTINGS("node0.zone.DMA.managed", "64"));
	pfn_t pfn[64];

	for (unsigned i = 0; i < 64; i++) {
		pfn[i] = zone_alloc(&b->m, 0, RS_ZONE_DMA, 0);
		b->m.folios[pfn[i]].flags |= PG_uptodate | PG_referenced;
	}
	for (unsigned i = 0; i < 64; i++)
		zone_free(&b->m, pfn[i], 0);
	for (pfn_t p = 1; p <= 64; p++)
		assert_true(b->m.folios[p].flags == 0 || b->m.folios[p].flags == PG_free);
	bare_free(b);
}

static void a_large_folio_has_a_head_and_tails_that_know_it(void **state)
{
	struct bare *b = bare_new("6.12", NULL);
	pfn_t pfn = zone_alloc(&b->m, 0, RS_ZONE_DMA32, MAX_ORDER);
	uint64_t free = zone(b, RS_ZONE_DMA32)->free;

	assert_int_equal(pfn % 512, 0);
	assert_true(b->m.folios[pfn].flags & PG_head);
	assert_int_equal(folio_nr_pages(&b->m.folios[pfn]), 512);
	for (unsigned i = 1; i < 512; i++) {
		assert_true(b->m.folios[pfn + i].flags & PG_tail);
		assert_int_equal(b->m.folios[pfn + i].object, pfn);
	}
	zone_free(&b->m, pfn, MAX_ORDER);
	assert_int_equal(zone(b, RS_ZONE_DMA32)->free, free + 512);
	for (unsigned i = 1; i < 512; i++)
		assert_int_equal(b->m.folios[pfn + i].flags, 0);
	bare_free(b);
}

static void nodes_fall_back_to_the_nearest(void **state)
{
	struct bare *b =
		bare_new("6.12", SETTINGS("numa.nodes", "3", "node1.memory", "64M", "node2.memory",
					  "64M", "node0.distance.2", "15"));
	const struct node *n = &b->m.node[0];

	assert_int_equal(n->nr_fallback, 3);
	assert_int_equal(n->fallback[0], 0);
	assert_int_equal(n->fallback[1], 2);
	assert_int_equal(n->fallback[2], 1);
	/* Equal distances: by number, starting behind the node. */
	assert_int_equal(b->m.node[1].fallback[0], 1);
	assert_int_equal(b->m.node[1].fallback[1], 2);
	assert_int_equal(b->m.node[1].fallback[2], 0);
	bare_free(b);
}

static void anonymous_pages_are_reclaimable_while_there_is_swap(void **state)
{
	struct bare *b = bare_new("6.12", SETTINGS("swap", "none"));
	struct zone *z = zone(b, RS_ZONE_DMA32);

	z->nr_lru[RS_INACTIVE_ANON] = 100;
	z->nr_lru[RS_ACTIVE_FILE] = 20;
	z->nr_lru[RS_INACTIVE_FILE] = 3;
	z->nr_lru[LRU_UNEVICTABLE] = 1000;
	assert_int_equal(zone_reclaimable(&b->m, z), 23);
	b->m.swap.nr_free = 1;
	assert_int_equal(zone_reclaimable(&b->m, z), 123);
	bare_free(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(watermarks_of_256_megabytes),
		cmocka_unit_test(the_scale_factor_sets_the_gap_of_a_large_zone),
		cmocka_unit_test(min_free_kbytes_overrides_the_square_root),
		cmocka_unit_test(min_free_kbytes_has_a_floor),
		cmocka_unit_test(zones_given_by_hand_are_the_only_ones),
		cmocka_unit_test(used_memory_is_taken_from_the_highest_zone_first),
		cmocka_unit_test(lowmem_reserve_protects_low_zones),
		cmocka_unit_test(a_watermark_has_to_be_exceeded),
		cmocka_unit_test(a_watermark_of_an_order_needs_a_block_of_it),
		cmocka_unit_test(every_frame_is_given_once_and_blocks_join_again),
		cmocka_unit_test(a_freed_frame_keeps_no_flag),
		cmocka_unit_test(a_large_folio_has_a_head_and_tails_that_know_it),
		cmocka_unit_test(nodes_fall_back_to_the_nearest),
		cmocka_unit_test(anonymous_pages_are_reclaimable_while_there_is_swap),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
