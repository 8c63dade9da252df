/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The rules of the multi-gen LRU that need no machine: references and tiers, where a folio enters,
 * the refault controller, when to age, Bloom filters.
 */
#include "policies/mglru.h"
#include "tests/lib/cm.h"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

static struct mglru rules(enum rs_kernel kernel)
{
	return (struct mglru){ .d = mglru_dialect(kernel, kernel < RS_KERNEL_7_2) };
}

/* Generations 8, 9, 10 of both types, as in the worked traces of the notes. */
static struct mglru_lruvec three_generations(void)
{
	return (struct mglru_lruvec){ .max_seq = 10, .min_seq = { 8, 8 } };
}

/* ---- references and tiers ---- */

static void expect_ladder(enum rs_kernel kernel, const unsigned tier[7], const unsigned refs[7],
			  unsigned saturated_at)
{
	struct mglru m = rules(kernel);
	struct folio f = { 0 };

	for (unsigned reads = 0; reads < 7; reads++) {
		assert_int_equal(mglru_tier(&m, &f), tier[reads]);
		assert_int_equal(mglru_refs(&m, &f), refs[reads]);
		assert_int_equal(mglru_saturated(&m, &f), reads >= saturated_at);
		mglru_inc_refs(&m, &f);
	}
}

static void reads_climb_the_tiers_of_6_1_and_6_12(void **state)
{
	static const unsigned refs[7] = { 0, 0, 1, 2, 3, 4, 4 }, tier[7] = { 0, 0, 1, 2, 2, 3, 3 };

	expect_ladder(RS_KERNEL_6_1, tier, refs, 5);
	expect_ladder(RS_KERNEL_6_12, tier, refs, 5);
}

static void reads_climb_the_tiers_of_6_14_and_7_2(void **state)
{
	static const unsigned refs[7] = { 0, 1, 2, 3, 4, 4, 4 }, tier[7] = { 0, 0, 1, 2, 2, 3, 3 };

	expect_ladder(RS_KERNEL_6_14, tier, refs, 5);
	expect_ladder(RS_KERNEL_7_2, tier, refs, 5);
}

static void reads_count_in_5_18_only_behind_both_flags(void **state)
{
	static const unsigned refs[7] = { 0, 0, 1, 2, 3, 4, 4 }, tier[7] = { 0, 0, 1, 2, 2, 3, 3 };

	expect_ladder(RS_KERNEL_5_18, tier, refs, 99);
}

static void a_first_read_wipes_restored_bits_from_6_14_on(void **state)
{
	struct mglru m = rules(RS_KERNEL_6_14);
	struct folio f = { .priv = 3u << FOLIO_REFS_SHIFT };

	assert_int_equal(mglru_refs(&m, &f), 0);
	mglru_inc_refs(&m, &f);
	assert_int_equal(mglru_refs(&m, &f), 1);
}

static void unevictable_folios_take_no_references(void **state)
{
	struct mglru m = rules(RS_KERNEL_6_12);
	struct folio f = { .flags = PG_unevictable };

	mglru_inc_refs(&m, &f);
	assert_int_equal(f.flags, PG_unevictable);
}

static void clearing_references_keeps_workingset_from_6_14_on(void **state)
{
	struct mglru old = rules(RS_KERNEL_6_12), new = rules(RS_KERNEL_6_14);
	struct folio f = { .flags = PG_referenced | PG_workingset | PG_dirty,
			   .priv = 2u << FOLIO_REFS_SHIFT | 1 };
	struct folio g = f;

	mglru_clear_refs(&old, &f);
	assert_int_equal(f.flags, PG_dirty);
	assert_int_equal(f.priv, 1);
	mglru_clear_refs(&new, &g);
	assert_int_equal(g.flags, PG_dirty | PG_workingset);
	assert_int_equal(g.priv, 1);
}

/* ---- placement ---- */

#define ANON PG_swapbacked
#define CACHED (PG_swapbacked | PG_swapcache)

/* Columns: 5.18, 6.1, 6.12, 6.14, 7.2. */
static const struct {
	const char *what;
	uint32_t flags;
	bool tail;
	uint64_t three[RS_NR_KERNELS]; /* generations 8..10 */
	uint64_t four[RS_NR_KERNELS];  /* generations 7..10 */
} placement[] = {
	{ "fault-in", PG_active, false, { 10, 10, 10, 9, 9 }, { 10, 10, 10, 9, 9 } },
	{ "fault-in of working set",
	  PG_active | PG_workingset,
	  false,
	  { 10, 10, 10, 10, 10 },
	  { 10, 10, 10, 10, 10 } },
	{ "anon", ANON, false, { 9, 9, 9, 9, 9 }, { 9, 9, 9, 9, 9 } },
	{ "clean swap cache", CACHED, false, { 8, 8, 8, 8, 8 }, { 7, 8, 8, 7, 7 } },
	{ "swap cache being written",
	  CACHED | PG_reclaim | PG_writeback,
	  false,
	  { 9, 9, 9, 9, 9 },
	  { 9, 9, 9, 9, 9 } },
	{ "dirty file to be written",
	  PG_reclaim | PG_dirty,
	  false,
	  { 9, 9, 9, 9, 9 },
	  { 9, 9, 9, 9, 9 } },
	{ "clean file with a readahead mark",
	  PG_reclaim,
	  false,
	  { 8, 8, 8, 8, 8 },
	  { 7, 8, 8, 7, 7 } },
	{ "read() page", 0, false, { 8, 8, 8, 8, 8 }, { 7, 8, 8, 7, 7 } },
	{ "read() page, referenced", PG_referenced, false, { 8, 8, 8, 8, 8 }, { 7, 8, 8, 7, 8 } },
	{ "read() page of working set",
	  PG_workingset,
	  false,
	  { 8, 8, 8, 8, 8 },
	  { 7, 8, 8, 8, 8 } },
	{ "rotated", CACHED, true, { 8, 8, 8, 8, 8 }, { 7, 7, 7, 7, 7 } },
};

static void folios_enter_where_their_kernel_puts_them(void **state)
{
	for (enum rs_kernel k = 0; k < RS_NR_KERNELS; k++)
		for (size_t i = 0; i < ARRAY_SIZE(placement); i++) {
			struct mglru m = rules(k);
			struct mglru_lruvec v = three_generations();
			struct folio f = { .flags = placement[i].flags };
			uint64_t three = mglru_folio_seq(&m, &v, &f, placement[i].tail), four;

			v.min_seq[RS_ANON] = v.min_seq[RS_FILE] = 7;
			four = mglru_folio_seq(&m, &v, &f, placement[i].tail);
			if (three != placement[i].three[k] || four != placement[i].four[k])
				fail_msg("%s, kernel %d: %d and %d", placement[i].what, (int)k,
					 (int)three, (int)four);
		}
}

/* ---- controller ---- */

static void tiers_are_evictable_while_few_refaults_are_known(void **state)
{
	struct mglru m = rules(RS_KERNEL_6_12);
	struct mglru_lruvec v = three_generations();

	for (unsigned tier = 0; tier < MAX_NR_TIERS; tier++) {
		v.refaulted[RS_FILE][tier] = 63;
		v.evicted[RS_FILE][tier] = 63;
	}
	assert_int_equal(mglru_tier_idx(&m, &v, RS_FILE), 3);
}

/* Tier 1 comes back with rate 0.4, tier 0 with 0.25: more than 1:1, less than 2:1. */
static void a_tier_is_protected_from_twice_the_rate_of_the_first(void **state)
{
	struct mglru old = rules(RS_KERNEL_6_1), new = rules(RS_KERNEL_6_14);
	struct mglru_lruvec v = three_generations();

	v.refaulted[RS_FILE][0] = 250;
	v.evicted[RS_FILE][0] = 1000;
	v.refaulted[RS_FILE][1] = 400;
	v.evicted[RS_FILE][1] = 1000;
	assert_int_equal(mglru_tier_idx(&old, &v, RS_FILE), 3); /* gain 1:2 */
	assert_int_equal(mglru_tier_idx(&new, &v, RS_FILE), 0); /* gain 2:3 */
	v.refaulted[RS_FILE][1] = 600;
	assert_int_equal(mglru_tier_idx(&old, &v, RS_FILE), 0);
}

static void protected_folios_count_as_not_refaulted(void **state)
{
	struct mglru m = rules(RS_KERNEL_6_12);
	struct mglru_lruvec v = three_generations();

	v.refaulted[RS_FILE][0] = 250;
	v.evicted[RS_FILE][0] = 1000;
	v.refaulted[RS_FILE][2] = 600;
	v.evicted[RS_FILE][2] = 1000;
	assert_int_equal(mglru_tier_idx(&m, &v, RS_FILE), 1);
	v.protected[RS_FILE][2] = 1000;
	assert_int_equal(mglru_tier_idx(&m, &v, RS_FILE), 3);
}

static void a_closed_generation_counts_half(void **state)
{
	struct mglru_lruvec v = three_generations();

	v.avg_refaulted[RS_ANON][1] = 11;
	v.avg_total[RS_ANON][1] = 20;
	v.refaulted[RS_ANON][1] = 10;
	v.evicted[RS_ANON][1] = 30;
	v.protected[RS_ANON][1] = 41;
	mglru_reset_ctrl_pos(&v, RS_ANON);
	assert_int_equal(v.avg_refaulted[RS_ANON][1], 10);
	assert_int_equal(v.avg_total[RS_ANON][1], 45);
	assert_int_equal(v.refaulted[RS_ANON][1], 0);
	assert_int_equal(v.evicted[RS_ANON][1], 0);
	assert_int_equal(v.protected[RS_ANON][1], 0);
}

static void expect_type(const struct mglru *m, const struct mglru_lruvec *v, int swappiness,
			bool gfp_io, enum rs_type type, int tier_idx)
{
	int tier = 99;

	assert_int_equal(mglru_type_to_scan(m, v, gfp_io, swappiness, &tier), type);
	assert_int_equal(tier, tier_idx);
}

static void the_type_follows_swappiness_and_the_oldest_generation(void **state)
{
	struct mglru m = rules(RS_KERNEL_6_12), old = rules(RS_KERNEL_6_1);
	struct mglru_lruvec v = three_generations();

	expect_type(&m, &v, 0, true, RS_FILE, -1);
	expect_type(&m, &v, 1, true, RS_FILE, -1);
	expect_type(&m, &v, 200, true, RS_ANON, -1);
	expect_type(&m, &v, 60, true, RS_FILE, 3);
	expect_type(&m, &v, 60, false, RS_FILE, -1);
	expect_type(&old, &v, 60, false, RS_FILE, 3);
	v.min_seq[RS_ANON] = 7;
	expect_type(&m, &v, 1, true, RS_ANON, -1);
	expect_type(&m, &v, 0, true, RS_FILE, -1);
}

/* File comes back at 0.5, anon never: with equal gains anon is evicted. */
static void the_type_that_comes_back_less_is_evicted(void **state)
{
	struct mglru m = rules(RS_KERNEL_6_12), new = rules(RS_KERNEL_6_14);
	struct mglru_lruvec v = three_generations();

	v.evicted[RS_ANON][0] = 1000;
	v.evicted[RS_FILE][0] = 1000;
	v.refaulted[RS_FILE][0] = 500;
	expect_type(&m, &v, 100, true, RS_ANON, 3);
	expect_type(&new, &v, 100, true, RS_ANON, -1);
	/* The sums of 6.14 see what tier 0 does not tell. */
	v.refaulted[RS_FILE][0] = 0;
	v.refaulted[RS_FILE][3] = 500;
	v.evicted[RS_FILE][3] = 500;
	expect_type(&m, &v, 100, true, RS_FILE, 2);
	expect_type(&new, &v, 100, true, RS_ANON, -1);
}

static void anon_only_exists_from_6_14_on(void **state)
{
	struct mglru m = rules(RS_KERNEL_6_14);
	struct mglru_lruvec v = { .max_seq = 10, .min_seq = { 8, 7 } };

	expect_type(&m, &v, SWAPPINESS_ANON_ONLY, true, RS_ANON, -1);
	assert_int_equal(mglru_evictable_min_seq(&m, &v, SWAPPINESS_ANON_ONLY), 8);
	assert_int_equal(mglru_evictable_min_seq(&m, &v, 60), 7);
	assert_int_equal(mglru_evictable_min_seq(&m, &v, 0), 7);
	assert_false(type_evictable(RS_FILE, SWAPPINESS_ANON_ONLY));
}

/* ---- ageing ---- */

static struct mglru_lruvec sized(uint64_t min_seq, int64_t oldest, int64_t middle, int64_t youngest)
{
	struct mglru_lruvec v = { .max_seq = 10, .min_seq = { min_seq, min_seq } };

	v.nr_pages[gen_from_seq(8)][RS_FILE][RS_ZONE_NORMAL] = oldest;
	v.nr_pages[gen_from_seq(9)][RS_FILE][RS_ZONE_DMA32] = middle;
	v.nr_pages[gen_from_seq(10)][RS_ANON][RS_ZONE_NORMAL] = youngest;
	return v;
}

static void two_generations_force_ageing_and_four_forbid_it(void **state)
{
	for (enum rs_kernel k = 0; k < RS_NR_KERNELS; k++) {
		struct mglru m = rules(k);
		struct mglru_lruvec two = sized(9, 0, 500, 500), four = sized(7, 0, 0, 1000);

		assert_true(mglru_should_run_aging(&m, &two, 60));
		assert_false(mglru_should_run_aging(&m, &four, 60));
	}
}

static void three_generations_age_by_size_up_to_6_12(void **state)
{
	struct mglru m = rules(RS_KERNEL_6_12), old = rules(RS_KERNEL_5_18);
	struct mglru new = rules(RS_KERNEL_6_14);
	struct mglru_lruvec even = sized(8, 250, 250, 500), young = sized(8, 250, 249, 501);
	struct mglru_lruvec few_old = sized(8, 249, 251, 500);

	assert_false(mglru_should_run_aging(&m, &even, 60));
	assert_true(mglru_should_run_aging(&m, &young, 60));
	assert_true(mglru_should_run_aging(&m, &few_old, 60));
	assert_false(mglru_should_run_aging(&old, &few_old, 60));
	assert_true(mglru_should_run_aging(&new, &even, 60));
	/* Without swap the anonymous half does not count. */
	assert_false(mglru_should_run_aging(&m, &young, 0));
	assert_int_equal(mglru_total(&m, &young, 0), 499);
	assert_int_equal(mglru_total(&m, &young, 60), 1000);
}

static void negative_sizes_count_as_nothing(void **state)
{
	struct mglru m = rules(RS_KERNEL_6_12);
	struct mglru_lruvec v = sized(8, -5, 100, 50);

	assert_int_equal(mglru_total(&m, &v, 60), 150);
}

/* ---- Bloom filters ---- */

static void a_table_is_dense_from_one_young_pte_in_eight(void **state)
{
	assert_true(mglru_suitable_to_scan(512, 64));
	assert_false(mglru_suitable_to_scan(512, 63));
	assert_true(mglru_suitable_to_scan(8, 1));
	assert_false(mglru_suitable_to_scan(9, 1));
	assert_true(mglru_suitable_to_scan(0, 0));
}

static void a_filter_never_filled_passes_everything(void **state)
{
	struct mglru_mm_state *s = g_new0(struct mglru_mm_state, 1);
	struct rs_mm mm = { .id = 3 };
	uint64_t key = mglru_pmd_key(&mm, 0x7f1234567);

	assert_true(mglru_bloom_test(s, 5, key));
	mglru_bloom_set(s, 5, key);
	s->filter_used[1] = true;
	assert_false(mglru_bloom_test(s, 5, key));
	g_free(s);
}

static void a_filter_remembers_its_own_generation_only(void **state)
{
	struct mglru_mm_state *s = g_new0(struct mglru_mm_state, 1);
	struct rs_mm a = { .id = 1 }, b = { .id = 2 };
	unsigned false_hits = 0;

	s->filter_used[0] = s->filter_used[1] = true;
	for (uint64_t table = 0; table < 1000; table++)
		mglru_bloom_set(s, 4, mglru_pmd_key(&a, table * 512));
	for (uint64_t table = 0; table < 1000; table++) {
		assert_true(mglru_bloom_test(s, 4, mglru_pmd_key(&a, table * 512 + 511)));
		assert_true(mglru_bloom_test(s, 6, mglru_pmd_key(&a, table * 512)));
		assert_false(mglru_bloom_test(s, 5, mglru_pmd_key(&a, table * 512)));
		false_hits += mglru_bloom_test(s, 4, mglru_pmd_key(&b, table * 512));
	}
	assert_true(false_hits < 50); /* 2000 of 32768 bits: 0.4 % expected */
	g_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_climb_the_tiers_of_6_1_and_6_12),
		cmocka_unit_test(reads_climb_the_tiers_of_6_14_and_7_2),
		cmocka_unit_test(reads_count_in_5_18_only_behind_both_flags),
		cmocka_unit_test(a_first_read_wipes_restored_bits_from_6_14_on),
		cmocka_unit_test(unevictable_folios_take_no_references),
		cmocka_unit_test(clearing_references_keeps_workingset_from_6_14_on),
		cmocka_unit_test(folios_enter_where_their_kernel_puts_them),
		cmocka_unit_test(tiers_are_evictable_while_few_refaults_are_known),
		cmocka_unit_test(a_tier_is_protected_from_twice_the_rate_of_the_first),
		cmocka_unit_test(protected_folios_count_as_not_refaulted),
		cmocka_unit_test(a_closed_generation_counts_half),
		cmocka_unit_test(the_type_follows_swappiness_and_the_oldest_generation),
		cmocka_unit_test(the_type_that_comes_back_less_is_evicted),
		cmocka_unit_test(anon_only_exists_from_6_14_on),
		cmocka_unit_test(two_generations_force_ageing_and_four_forbid_it),
		cmocka_unit_test(three_generations_age_by_size_up_to_6_12),
		cmocka_unit_test(negative_sizes_count_as_nothing),
		cmocka_unit_test(a_table_is_dense_from_one_young_pte_in_eight),
		cmocka_unit_test(a_filter_never_filled_passes_everything),
		cmocka_unit_test(a_filter_remembers_its_own_generation_only),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
