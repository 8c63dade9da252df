/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Parameters of the multi-gen LRU's policies: HitShield's constants, and look-around on 5.18.
 */
#include "tests/lib/cm.h"
#include "tests/lib/mglru_rig.h"

#define REGION 1u

static unsigned hits_of(const struct rig *r, pfn_t pfn)
{
	return (r->ctx->m.folios[pfn].priv & FOLIO_HIT_MASK) >> FOLIO_HIT_SHIFT;
}

/* One page of 6.12, promoted by that many walks. */
static struct rig *promoted(const char *policy, unsigned walks, pfn_t *ret_pfn)
{
	struct rig *r = mglru_rig(K_6_12, policy, NULL);

	rig_map_anon(r, REGION, 1);
	rig_store(r, REGION, 0, 1);
	rig_drain(r);
	*ret_pfn = rig_page(r, REGION, 0);
	for (unsigned i = 0; i < walks; i++) {
		rig_load(r, REGION, 0, 1);
		age(r);
	}
	return r;
}

/* Its turn to be evicted, cold. Returns the oldest generation as it was. */
static uint64_t meet_at_tail(struct rig *r, pfn_t pfn)
{
	uint64_t oldest = mglru_lruvec(rig_lruvec(r))->max_seq - MIN_NR_GENS;

	reopen(r);
	make_old(r, REGION, 0);
	place(r, pfn, oldest);
	evict(r);
	return oldest;
}

static void expect_armed_after(const char *policy, unsigned walks)
{
	for (unsigned n = walks - 1; n <= walks; n++) {
		pfn_t pfn;
		struct rig *r = promoted(policy, n, &pfn);

		assert_int_equal(hits_of(r, pfn), n < walks ? n + 1 : 0);
		rig_free(r);
	}
}

static void the_threshold_is_how_many_promotions_arm(void **state)
{
	expect_armed_after("hitshield", 4);
	expect_armed_after("hitshield:threshold=1", 1);
	expect_armed_after("hitshield:threshold=2", 2);
	expect_armed_after("hitshield:threshold=7", 7);
}

static void grace_is_how_many_generations_a_spared_page_moves(void **state)
{
	static const char *const policy[] = { "hitshield", "hitshield:grace=2",
					      "hitshield:grace=3" };
	static const unsigned moved[] = { 1, 2, 2 }; /* the youngest is two away */

	for (unsigned i = 0; i < G_N_ELEMENTS(policy); i++) {
		pfn_t pfn;
		struct rig *r = promoted(policy[i], 4, &pfn);
		uint64_t oldest = meet_at_tail(r, pfn);

		assert_int_equal(rig_vmstat(r, RS_PGSCAN_ANON), 0);
		assert_int_equal(seq_of(r, pfn), oldest + moved[i]);
		rig_check(r);
		rig_free(r);
	}
}

/* Off its list and on again, as an activation does it. */
static void readd(struct rig *r, pfn_t pfn)
{
	mglru_del(r->ctx, rig_lruvec(r), pfn);
	mglru_add(r->ctx, rig_lruvec(r), pfn, false);
}

static void an_add_resets_the_count_unless_told_otherwise(void **state)
{
	pfn_t pfn;
	struct rig *r = promoted("hitshield", 2, &pfn);

	readd(r, pfn);
	assert_int_equal(hits_of(r, pfn), 1);
	rig_free(r);

	r = promoted("hitshield:reset_on_add=0", 2, &pfn);
	readd(r, pfn);
	assert_int_equal(hits_of(r, pfn), 3);
	rig_free(r);
}

static void a_spared_page_counts_anew_unless_told_otherwise(void **state)
{
	pfn_t pfn;
	struct rig *r = promoted("hitshield", 4, &pfn);

	meet_at_tail(r, pfn);
	meet_at_tail(r, pfn);
	assert_int_equal(rig_vmstat(r, RS_PSWPOUT), 1);
	rig_free(r);

	r = promoted("hitshield:reset_on_spare=0", 4, &pfn);
	meet_at_tail(r, pfn);
	meet_at_tail(r, pfn);
	assert_int_equal(rig_vmstat(r, RS_PSWPOUT), 0);
	rig_free(r);
}

/* Every walk opens a generation, so the next one promotes: nothing is ever counted. */
static void a_promotion_resets_the_count_if_told_so(void **state)
{
	pfn_t pfn;
	struct rig *r = promoted("hitshield:reset_on_promotion=1", 4, &pfn);

	assert_int_equal(hits_of(r, pfn), 1);
	mglru_update_gen(r->ctx, pfn, (unsigned)folio_gen(&r->ctx->m.folios[pfn]), 0);
	assert_int_equal(hits_of(r, pfn), 2);
	rig_free(r);
}

static void a_spared_page_carries_the_reclaim_flag_unless_told_otherwise(void **state)
{
	pfn_t pfn;
	struct rig *r = promoted("hitshield", 4, &pfn);

	meet_at_tail(r, pfn);
	assert_true(r->ctx->m.folios[pfn].flags & PG_reclaim);
	rig_free(r);

	r = promoted("hitshield:mark_reclaim=0", 4, &pfn);
	meet_at_tail(r, pfn);
	assert_int_equal(rig_vmstat(r, RS_PSWPOUT), 0);
	assert_false(r->ctx->m.folios[pfn].flags & PG_reclaim);
	rig_free(r);
}

/*
 * 5.18: four young pages in one table, the first at the tail. Returns how many of the others are in
 * the youngest generation afterwards, with their young bits cleared.
 */
static unsigned looked_at_in_5_18(const char *policy)
{
	struct rig *r = rig_new("5.18", policy, NULL);
	struct mglru_lruvec *v = mglru_lruvec(rig_lruvec(r));
	unsigned n = 0;

	v->max_seq = 10;
	v->min_seq[RS_ANON] = v->min_seq[RS_FILE] = 8;
	rig_map_anon(r, REGION, 4);
	rig_store(r, REGION, 0, 4);
	rig_drain(r);
	place(r, rig_page(r, REGION, 0), 8);
	for (uint32_t page = 1; page < 4; page++)
		place(r, rig_page(r, REGION, page), 9);
	evict(r);
	for (uint32_t page = 1; page < 4; page++)
		n += seq_of(r, rig_page(r, REGION, page)) == 10 &&
		     !(*rig_pte(r, REGION, page) & RS_PTE_YOUNG);
	assert_int_equal(rig_vmstat(r, RS_PSWPOUT), 0);
	rig_check(r);
	rig_free(r);
	return n;
}

static void the_first_posting_looks_around_only_when_told_so(void **state)
{
	assert_int_equal(looked_at_in_5_18("mglru"), 0);
	assert_int_equal(looked_at_in_5_18("mglru:look_around=0"), 0);
	assert_int_equal(looked_at_in_5_18("mglru:look_around=1"), 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_threshold_is_how_many_promotions_arm),
		cmocka_unit_test(grace_is_how_many_generations_a_spared_page_moves),
		cmocka_unit_test(an_add_resets_the_count_unless_told_otherwise),
		cmocka_unit_test(a_spared_page_counts_anew_unless_told_otherwise),
		cmocka_unit_test(a_promotion_resets_the_count_if_told_so),
		cmocka_unit_test(a_spared_page_carries_the_reclaim_flag_unless_told_otherwise),
		cmocka_unit_test(the_first_posting_looks_around_only_when_told_so),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
