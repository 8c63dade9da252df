/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the multi-gen LRU of 7.2 does differently, decision by decision; where 6.14 decides
 * otherwise it stands beside it. Also the two patches. Start: generations 8, 9, 10 of both types.
 */
#include "tests/lib/cm.h"
#include "tests/lib/mglru_rig.h"

enum { REGION, OTHER };
enum { DATA };

static struct rig *start(void)
{
	return mglru_rig(K_7_2, "mglru", NULL);
}

static pfn_t mapped_file_page(struct rig *r, uint32_t region, uint32_t file, uint32_t prot)
{
	rig_file(r, file, 1);
	rig_map_file(r, region, file, 1, prot);
	rig_load(r, region, 0, 1);
	rig_drain(r);
	return rig_file_page(r, file, 0);
}

/* T1. A page touched once is promoted by the first walk and remembered as working set. */
static void an_anonymous_page_touched_once_comes_back_as_working_set(void **state)
{
	struct rig *r = start();
	struct mglru_lruvec *v = mglru_lruvec(rig_lruvec(r));
	pfn_t pfn;

	rig_map_anon(r, REGION, 1);
	rig_store(r, REGION, 0, 1);
	rig_drain(r);
	pfn = rig_page(r, REGION, 0);
	assert_int_equal(seq_of(r, pfn), 9);
	assert_int_equal(refs_of(r, pfn), 1);

	age(r);
	assert_int_equal(seq_of(r, pfn), 10);
	assert_int_equal(marks_of(r, pfn), PG_workingset);
	age(r);
	assert_int_equal(v->max_seq, 12);

	place(r, pfn, 10); /* off the list it was promoted from, at the tail of the oldest */
	reopen(r);
	assert_int_equal(evict(r), 0);
	reopen(r);
	place(r, pfn, 10);
	assert_int_equal(evict(r), 1);
	assert_int_equal(v->evicted[RS_ANON][3], 1);
	reopen(r);

	rig_store(r, REGION, 0, 1);
	rig_drain(r);
	assert_int_equal(rig_vmstat(r, RS_WORKINGSET_REFAULT_ANON), 1);
	assert_int_equal(rig_vmstat(r, RS_WORKINGSET_ACTIVATE_ANON), 1);
	assert_int_equal(rig_vmstat(r, RS_WORKINGSET_RESTORE_ANON), 1);
	assert_int_equal(v->refaulted[RS_ANON][3], 1);
	assert_int_equal(seq_of(r, rig_page(r, REGION, 0)), 12);
	rig_free(r);
}

/* T3. Always young at its visits to the tail, never seen by a walk. */
static void a_mapped_file_page_climbs_with_every_visit_to_the_tail(void **state)
{
	static const struct {
		uint64_t seq;
		unsigned refs;
		uint32_t workingset;
	} ladder[] = { { 9, 2, 0 },
		       { 10, 0, PG_workingset },
		       { 10, 1, PG_workingset },
		       { 10, 2, PG_workingset },
		       { 10, 0, PG_workingset } };
	struct rig *r = start();
	pfn_t pfn = mapped_file_page(r, REGION, DATA, VM_READ | VM_SHARED);

	struct rs_scan sc = rig_limit_scan(r);

	anchor(r, RS_FILE, 8);
	assert_int_equal(seq_of(r, pfn), 8);
	assert_int_equal(refs_of(r, pfn), 1);
	for (size_t visit = 0; visit < G_N_ELEMENTS(ladder); visit++) {
		rig_load(r, REGION, 0, 1);
		place(r, pfn, 8);
		assert_int_equal(evict_with(r, &sc, 1), 0);
		assert_int_equal(seq_of(r, pfn), ladder[visit].seq);
		assert_int_equal(refs_of(r, pfn), ladder[visit].refs);
		assert_int_equal(marks_of(r, pfn) & PG_workingset, ladder[visit].workingset);
	}
	rig_free(r);
}

static void a_first_visit_is_forgotten_only_in_the_oldest_generation(void **state)
{
	for (unsigned generations = 3; generations <= 4; generations++) {
		struct rig *r = start();
		pfn_t pfn = mapped_file_page(r, REGION, DATA, VM_READ | VM_SHARED);
		struct mglru_lruvec *v = mglru_lruvec(rig_lruvec(r));
		struct rs_scan sc = rig_limit_scan(r);

		set_marks(r, pfn, 0);
		v->min_seq[RS_ANON] = v->min_seq[RS_FILE] = 11 - generations;
		anchor(r, RS_FILE, 11 - generations);
		place(r, pfn, 11 - generations);
		assert_int_equal(evict_with(r, &sc, 1), 0);
		assert_int_equal(seq_of(r, pfn), generations == 3 ? 9 : 8);
		assert_int_equal(refs_of(r, pfn), generations == 3 ? 0 : 1);
		rig_free(r);
	}
}

/* T4. Four anonymous pages in one table: the target and neighbours A, B, C. */
static void look_around(bool walk, const uint64_t seq[3], const unsigned refs[3],
			unsigned activated)
{
	static const uint32_t marks[3] = { 0, PG_referenced, PG_workingset };
	struct rig *r = start();
	struct rs_scan sc = rig_limit_scan(r);
	pfn_t neighbour[3];

	rig_map_anon(r, REGION, 4);
	rig_store(r, REGION, 0, 4);
	rig_drain(r);
	place(r, rig_page(r, REGION, 0), 8);
	set_marks(r, rig_page(r, REGION, 0), 0);
	for (unsigned i = 0; i < 3; i++) {
		neighbour[i] = rig_page(r, REGION, 1 + i);
		place(r, neighbour[i], 9);
		set_marks(r, neighbour[i], marks[i]);
	}
	sc.proactive = walk; /* has a walk from the start */
	evict_with(r, &sc, 1);
	for (unsigned i = 0; i < 3; i++) {
		assert_int_equal(seq_of(r, neighbour[i]), seq[i]);
		assert_int_equal(refs_of(r, neighbour[i]), refs[i]);
		assert_false(*rig_pte(r, REGION, 1 + i) & RS_PTE_YOUNG);
	}
	assert_int_equal(rig_vmstat(r, RS_PGACTIVATE), activated);
	rig_free(r);
}

static void look_around_without_a_walk_activates_hot_neighbours(void **state)
{
	look_around(false, (const uint64_t[]){ 9, 9, 10 }, (const unsigned[]){ 1, 2, 1 }, 2);
}

static void look_around_with_a_walk_promotes_them(void **state)
{
	look_around(true, (const uint64_t[]){ 9, 10, 10 }, (const unsigned[]){ 1, 0, 0 }, 0);
}

static void look_around_leaves_isolated_neighbours_alone(void **state)
{
	struct rig *r = start();
	struct rs_scan sc = rig_limit_scan(r);

	rig_map_anon(r, REGION, 2);
	rig_store(r, REGION, 0, 2);
	rig_drain(r);
	anchor(r, RS_ANON, 8);
	for (unsigned i = 0; i < 2; i++) {
		place(r, rig_page(r, REGION, i), 8);
		set_marks(r, rig_page(r, REGION, i), PG_referenced);
	}
	assert_int_equal(evict_with(r, &sc, 2), 0);
	/* Each was found young by its own check and climbed by one. */
	assert_int_equal(refs_of(r, rig_page(r, REGION, 0)), 2);
	assert_int_equal(refs_of(r, rig_page(r, REGION, 1)), 2);
	rig_free(r);
}

/* T5. 512, 512 and 1024 clean file pages fill the group; one more page is read. */
static struct rig *small_group_at_its_limit(enum column k)
{
	static const char *const settings[] = { "memory.max", "2048p", "swap", "none", NULL };
	struct rig *r = mglru_rig(k, "mglru", settings);

	rig_file(r, DATA, 2049);
	rig_read(r, DATA, 0, 2048);
	rig_drain(r);
	for (uint32_t page = 0; page < 2048; page++) {
		set_marks(r, rig_file_page(r, DATA, page), 0);
		place(r, rig_file_page(r, DATA, page), page < 512 ? 8 : page < 1024 ? 9 : 10);
	}
	assert_int_equal(rig_memcg_stat(r, RS_PGSTEAL_DIRECT), 0);
	rig_read(r, DATA, 2048, 1);
	rig_check(r);
	return r;
}

static void a_small_group_takes_many_priorities_and_ages(void **state)
{
	struct rig *r = small_group_at_its_limit(K_7_2);

	/* 1, 1, 3, 7, 15 and 31 pages at priorities 11 to 6, ageing at 11. */
	assert_int_equal(rig_memcg_stat(r, RS_PGSCAN_DIRECT), 58);
	assert_int_equal(rig_memcg_stat(r, RS_PGSTEAL_DIRECT), 58);
	assert_int_equal(mglru_lruvec(rig_lruvec(r))->max_seq, 11);
	rig_free(r);
}

static void a_small_group_of_6_12_takes_one_batch(void **state)
{
	struct rig *r = small_group_at_its_limit(K_6_12);

	assert_int_equal(rig_memcg_stat(r, RS_PGSTEAL_DIRECT), MIN_LRU_BATCH);
	assert_int_equal(mglru_lruvec(rig_lruvec(r))->max_seq, 10);
	rig_free(r);
}

/* T9. A new group is filled by faults; every PTE is young when its limit is hit. */
static struct rig *fresh_anonymous_group(enum column k)
{
	static const char *const settings[] = { "memory.max", "40000p", "swap", "zram", NULL };
	struct rig *r = mglru_rig(k, "mglru", settings);
	struct mglru_lruvec *v = mglru_lruvec(rig_lruvec(r));

	v->max_seq = 3;
	v->min_seq[RS_ANON] = v->min_seq[RS_FILE] = 0;
	v->mm_state.seq = 2;
	rig_map_anon(r, REGION, 40001);
	rig_store(r, REGION, 0, 40001);
	rig_check(r);
	return r;
}

static void the_first_limit_hit_of_7_2_moves_every_promoted_page(void **state)
{
	struct rig *r = fresh_anonymous_group(K_7_2);

	assert_int_equal(rig_memcg_stat(r, RS_PGREFILL), 40000);
	assert_int_equal(rig_vmstat(r, RS_PGSCAN_ANON), MIN_LRU_BATCH);
	assert_int_equal(rig_vmstat(r, RS_PGSTEAL_ANON), MIN_LRU_BATCH);
	assert_int_equal(rig_vmstat(r, RS_PSWPOUT), MIN_LRU_BATCH);
	assert_int_equal(mglru_lruvec(rig_lruvec(r))->evicted[RS_ANON][3], MIN_LRU_BATCH);
	assert_int_equal(mglru_lruvec(rig_lruvec(r))->max_seq, 6);
	rig_free(r);
}

static void the_first_limit_hit_of_6_14_swaps_two_batches(void **state)
{
	struct rig *r = fresh_anonymous_group(K_6_14);

	assert_int_equal(rig_memcg_stat(r, RS_PGREFILL), 0);
	assert_int_equal(rig_vmstat(r, RS_PSWPOUT), 2 * MIN_LRU_BATCH);
	assert_int_equal(mglru_lruvec(rig_lruvec(r))->evicted[RS_ANON][0], 2 * MIN_LRU_BATCH);
	assert_int_equal(mglru_lruvec(rig_lruvec(r))->max_seq, 5);
	rig_free(r);
}

/* T6. 6.14 sorts a dirty page, 7.2 isolates it, marks it and wakes the flusher. */
static void a_dirty_file_page_at_the_tail(void **state)
{
	for (enum column k = K_6_14; k <= K_7_2; k++) {
		struct rig *r = mglru_rig(k, "mglru", NULL);
		pfn_t pfn;

		rig_file(r, DATA, 1);
		rig_write(r, DATA, 0, 1);
		rig_drain(r);
		pfn = rig_file_page(r, DATA, 0);
		assert_int_equal(seq_of(r, pfn), 8);
		assert_int_equal(evict(r), 0);
		assert_int_equal(seq_of(r, pfn), 9);
		assert_true(r->ctx->m.folios[pfn].flags & PG_reclaim);
		assert_int_equal(rig_vmstat(r, RS_PGSCAN_FILE), k == K_7_2);
		assert_int_equal(rig_memcg_stat(r, RS_PGREFILL), k == K_6_14);
		assert_int_equal(rig_vmstat(r, RS_NR_VMSCAN_IMMEDIATE), k == K_7_2);
		assert_int_equal(rig_vmstat(r, RS_PGACTIVATE), k == K_7_2);
		rig_free(r);
	}
}

/* T8. X was cached by read(), Y by its own fault. */
static void walk_over_executable_pages(const char *policy, enum column k, uint64_t x_seq,
				       uint64_t y_seq)
{
	struct rig *r = mglru_rig(k, policy, NULL);
	pfn_t x, y;

	rig_file(r, DATA, 2);
	rig_read(r, DATA, 0, 1);
	rig_drain(r);
	x = rig_file_page(r, DATA, 0);
	set_marks(r, x, 0);
	rig_map_file(r, REGION, DATA, 2, VM_READ | VM_EXEC);
	rig_load(r, REGION, 0, 2);
	rig_drain(r);
	y = rig_file_page(r, DATA, 1);
	age(r);
	assert_int_equal(seq_of(r, x), x_seq);
	assert_int_equal(seq_of(r, y), y_seq);
	assert_int_equal(marks_of(r, x), k < K_6_14    ? 0
					 : x_seq == 10 ? PG_workingset
						       : PG_referenced);
	rig_free(r);
}

static void exec_promotion_acts_on_the_first_young_pte(void **state)
{
	walk_over_executable_pages("mglru", K_7_2, 8, 10);
	walk_over_executable_pages("exec-promote", K_7_2, 10, 10);
	walk_over_executable_pages("mglru", K_6_14, 8, 9);
	walk_over_executable_pages("exec-promote", K_6_14, 10, 10);
}

static void exec_promotion_changes_nothing_before_6_14(void **state)
{
	walk_over_executable_pages("mglru", K_6_12, 10, 10);
	walk_over_executable_pages("exec-promote", K_6_12, 10, 10);
}

static void exec_promotion_needs_an_executable_mapping(void **state)
{
	struct rig *r = mglru_rig(K_6_14, "exec-promote", NULL);
	pfn_t pfn = mapped_file_page(r, REGION, DATA, VM_READ | VM_SHARED);

	age(r);
	assert_int_equal(seq_of(r, pfn), 9);
	assert_int_equal(marks_of(r, pfn), PG_referenced);
	rig_free(r);
}

static void exec_promotion_at_the_tail(void **state)
{
	static const struct {
		const char *policy;
		uint64_t seq;
		uint32_t marks;
	} cases[] = { { "mglru", 9, 0 }, { "exec-promote", 10, PG_workingset } };

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		struct rig *r = mglru_rig(K_7_2, cases[i].policy, NULL);
		pfn_t pfn = mapped_file_page(r, REGION, DATA, VM_READ | VM_EXEC);

		set_marks(r, pfn, 0);
		place(r, pfn, 8);
		assert_int_equal(evict(r), 0);
		assert_int_equal(seq_of(r, pfn), cases[i].seq);
		assert_int_equal(marks_of(r, pfn), cases[i].marks);
		rig_free(r);
	}
}

/* ---- HitShield ---- */

static unsigned hits_of(const struct rig *r, pfn_t pfn)
{
	return (r->ctx->m.folios[pfn].priv & FOLIO_HIT_MASK) >> FOLIO_HIT_SHIFT;
}

static void hitshield_spares_a_page_promoted_four_times(void **state)
{
	struct rig *r = mglru_rig(K_6_12, "hitshield", NULL);
	pfn_t pfn;
	uint64_t oldest;

	rig_map_anon(r, REGION, 1);
	rig_store(r, REGION, 0, 1);
	rig_drain(r);
	pfn = rig_page(r, REGION, 0);
	assert_int_equal(hits_of(r, pfn), 1);
	for (unsigned walk = 1; walk <= 4; walk++) {
		rig_load(r, REGION, 0, 1);
		age(r);
		assert_int_equal(hits_of(r, pfn), (walk + 1) % 5);
	}
	rig_load(r, REGION, 0, 1);
	age(r);
	assert_int_equal(hits_of(r, pfn), 0); /* stays armed */

	oldest = mglru_lruvec(rig_lruvec(r))->max_seq - MIN_NR_GENS;
	reopen(r);
	place(r, pfn, oldest);
	assert_int_equal(evict(r), 0);
	assert_int_equal(rig_vmstat(r, RS_PGSCAN_ANON), 0);
	assert_int_equal(rig_memcg_stat(r, RS_PGREFILL), 1);
	assert_int_equal(seq_of(r, pfn), oldest + 1);
	assert_int_equal(hits_of(r, pfn), 1);
	assert_true(r->ctx->m.folios[pfn].flags & PG_reclaim);
	rig_free(r);
}

static void hitshield_lets_others_go(void **state)
{
	struct rig *r = mglru_rig(K_6_12, "hitshield", NULL);
	pfn_t pfn;

	rig_map_anon(r, REGION, 1);
	rig_store(r, REGION, 0, 1);
	rig_drain(r);
	pfn = rig_page(r, REGION, 0);
	make_old(r, REGION, 0);
	place(r, pfn, 8);
	evict(r);
	assert_int_equal(rig_vmstat(r, RS_PSWPOUT), 1);
	rig_free(r);
}

static void hitshield_does_not_count_marks_from_6_14_on(void **state)
{
	struct rig *r = mglru_rig(K_6_14, "hitshield", NULL);
	pfn_t pfn;

	rig_map_anon(r, REGION, 1);
	rig_store(r, REGION, 0, 1);
	rig_drain(r);
	pfn = rig_page(r, REGION, 0);
	age(r);
	assert_int_equal(marks_of(r, pfn), PG_referenced);
	assert_int_equal(hits_of(r, pfn), 1);
	rig_load(r, REGION, 0, 1);
	age(r);
	assert_int_equal(hits_of(r, pfn), 2);
	rig_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_anonymous_page_touched_once_comes_back_as_working_set),
		cmocka_unit_test(a_mapped_file_page_climbs_with_every_visit_to_the_tail),
		cmocka_unit_test(a_first_visit_is_forgotten_only_in_the_oldest_generation),
		cmocka_unit_test(look_around_without_a_walk_activates_hot_neighbours),
		cmocka_unit_test(look_around_with_a_walk_promotes_them),
		cmocka_unit_test(look_around_leaves_isolated_neighbours_alone),
		cmocka_unit_test(a_small_group_takes_many_priorities_and_ages),
		cmocka_unit_test(a_small_group_of_6_12_takes_one_batch),
		cmocka_unit_test(the_first_limit_hit_of_7_2_moves_every_promoted_page),
		cmocka_unit_test(the_first_limit_hit_of_6_14_swaps_two_batches),
		cmocka_unit_test(a_dirty_file_page_at_the_tail),
		cmocka_unit_test(exec_promotion_acts_on_the_first_young_pte),
		cmocka_unit_test(exec_promotion_changes_nothing_before_6_14),
		cmocka_unit_test(exec_promotion_needs_an_executable_mapping),
		cmocka_unit_test(exec_promotion_at_the_tail),
		cmocka_unit_test(hitshield_spares_a_page_promoted_four_times),
		cmocka_unit_test(hitshield_lets_others_go),
		cmocka_unit_test(hitshield_does_not_count_marks_from_6_14_on),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
