/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The worked traces of the multi-gen LRU, decision by decision, on the real machine. Start: one
 * group, swap on, generations 8, 9 and 10 of both types.
 */
#include "tests/lib/cm.h"
#include "tests/lib/mglru_rig.h"

/* Regions and files of the traces. */
enum { ANON_REGION, FILE_REGION };
enum { DATA };

static struct rig *start(enum column column)
{
	return mglru_rig(column, "mglru", NULL);
}

/* ---- a, b, c: where folios enter ---- */

static void a_anonymous_fault(void **state)
{
	static const uint64_t seq[NR_COLUMNS] = { 10, 10, 10, 9, 9 };

	for (enum column k = 0; k < NR_COLUMNS; k++) {
		struct rig *r = start(k);

		rig_map_anon(r, ANON_REGION, 1);
		rig_store(r, ANON_REGION, 0, 1);
		rig_drain(r);
		assert_int_equal(seq_of(r, rig_page(r, ANON_REGION, 0)), seq[k]);
		rig_free(r);
	}
}

/* The page is marked before its batch is drained: 7.2 finds it referenced. */
static void b_read_of_a_new_page(void **state)
{
	for (enum column k = 0; k < NR_COLUMNS; k++) {
		struct rig *r = start(k);

		rig_file(r, DATA, 4);
		rig_read(r, DATA, 0, 1);
		rig_drain(r);
		assert_int_equal(seq_of(r, rig_file_page(r, DATA, 0)), 8);
		rig_free(r);
	}
}

static struct rig *file_fault_with_read_around(enum column k)
{
	static const char *const read_around[] = { "read_ahead_kb", "64", "fault_around_bytes",
						   "65536", NULL };
	struct rig *r = mglru_rig(k, "mglru", read_around);

	/* 6.1 passes over address spaces of less than 64 pages. */
	rig_map_anon(r, ANON_REGION, 64);
	rig_store(r, ANON_REGION, 0, 64);
	rig_file(r, DATA, 128);
	rig_map_file(r, FILE_REGION, DATA, 128, VM_READ | VM_WRITE | VM_SHARED);
	rig_load(r, FILE_REGION, 56, 1);
	rig_drain(r);
	return r;
}

static void c_file_fault_takes_its_read_around_along(void **state)
{
	static const uint64_t seq[NR_COLUMNS] = { 10, 10, 10, 9, 8 };

	for (enum column k = 0; k < NR_COLUMNS; k++) {
		struct rig *r = file_fault_with_read_around(k);

		for (uint32_t page = 48; page < 64; page++)
			assert_int_equal(seq_of(r, rig_file_page(r, DATA, page)), seq[k]);
		assert_int_equal(rig_file_page(r, DATA, 47), RS_PFN_NONE);
		rig_free(r);
	}
}

/* ---- d, e: the page-table walk ---- */

static void d_e_young_ptes_seen_by_two_walks(void **state)
{
	static const uint64_t first[NR_COLUMNS] = { 10, 10, 10, 9, 10 };
	static const uint32_t flags[NR_COLUMNS] = { 0, 0, 0, PG_referenced, PG_workingset };
	static const uint32_t later[NR_COLUMNS] = { 0, 0, 0, PG_workingset, PG_workingset };

	for (enum column k = 0; k < NR_COLUMNS; k++) {
		struct rig *r = file_fault_with_read_around(k);
		pfn_t pfn = rig_file_page(r, DATA, 56);

		place(r, pfn, k <= K_6_12_117 ? 10 : 9);
		age(r);
		assert_int_equal(seq_of(r, pfn), first[k]);
		assert_int_equal(marks_of(r, pfn), flags[k]);
		assert_false(*rig_pte(r, FILE_REGION, 56) & RS_PTE_YOUNG);

		rig_load(r, FILE_REGION, 48, 14);
		age(r);
		assert_int_equal(seq_of(r, pfn), 11);
		assert_int_equal(marks_of(r, pfn), later[k]);
		rig_free(r);
	}
}

/* ---- f, g, h: young at the tail ---- */

static void f_young_file_page_at_the_tail(void **state)
{
	static const uint64_t seq[NR_COLUMNS] = { 10, 10, 10, 9, 9 };
	static const uint64_t activated[NR_COLUMNS] = { 1, 0, 0, 0, 1 };

	for (enum column k = 0; k < NR_COLUMNS; k++) {
		struct rig *r = start(k);
		pfn_t pfn;

		rig_file(r, DATA, 1);
		rig_map_file(r, FILE_REGION, DATA, 1, VM_READ | VM_SHARED);
		rig_load(r, FILE_REGION, 0, 1);
		rig_drain(r);
		pfn = rig_file_page(r, DATA, 0);
		anchor(r, RS_FILE, 8);
		place(r, pfn, 8);
		assert_int_equal(evict(r), MIN_LRU_BATCH - 1);
		assert_int_equal(seq_of(r, pfn), seq[k]);
		assert_int_equal(rig_vmstat(r, RS_PGACTIVATE), activated[k]);
		assert_int_equal(rig_vmstat(r, RS_PGSCAN_FILE), MIN_LRU_BATCH);
		/* 6.14 wipes the mark of the first touch, 7.2 has counted a second one. */
		assert_int_equal(marks_of(r, pfn), k == K_7_2 ? PG_referenced : 0);
		rig_free(r);
	}
}

static void g_h_young_anonymous_page_twice_at_the_tail(void **state)
{
	static const uint64_t first[NR_COLUMNS] = { 10, 10, 10, 9, 9 };
	static const uint64_t again[NR_COLUMNS] = { 10, 10, 10, 10, 10 };

	for (enum column k = 0; k < NR_COLUMNS; k++) {
		struct rig *r = start(k);
		pfn_t pfn;

		rig_map_anon(r, ANON_REGION, 1);
		rig_store(r, ANON_REGION, 0, 1);
		rig_drain(r);
		pfn = rig_page(r, ANON_REGION, 0);
		anchor(r, RS_ANON, 8);
		place(r, pfn, 8);
		assert_int_equal(evict(r), 0);
		assert_int_equal(seq_of(r, pfn), first[k]);
		assert_int_equal(marks_of(r, pfn), k >= K_6_14 ? PG_referenced : 0);

		rig_load(r, ANON_REGION, 0, 1);
		place(r, pfn, 8);
		assert_int_equal(evict(r), MIN_LRU_BATCH - 1);
		assert_int_equal(seq_of(r, pfn), again[k]);
		assert_int_equal(marks_of(r, pfn), k >= K_6_14 ? PG_workingset : 0);
		assert_int_equal(rig_page(r, ANON_REGION, 0), pfn);
		rig_free(r);
	}
}

/* ---- i, j: protection by tier ---- */

/* Page 0 was read several times and is alone at the tail of the oldest generation. */
static struct rig *file_page_with_reads(enum column k, unsigned reads, pfn_t *ret_pfn)
{
	struct rig *r = start(k);

	rig_file(r, DATA, 8);
	for (unsigned i = 0; i < reads; i++) {
		rig_read(r, DATA, 0, 1);
		rig_read(r, DATA, 1, 1); /* a read in the page of the last one would not count */
	}
	rig_drain(r);
	*ret_pfn = rig_file_page(r, DATA, 0);
	place(r, rig_file_page(r, DATA, 1), 9);
	place(r, *ret_pfn, 8);
	return r;
}

static void i_five_reads_protect_whatever_the_controller_says(void **state)
{
	for (enum column k = 0; k < NR_COLUMNS; k++) {
		pfn_t pfn;
		struct rig *r = file_page_with_reads(k, 5, &pfn);
		struct rs_lruvec *lruvec = rig_lruvec(r);
		pfn_t list = gen_list(lruvec, gen_from_seq(9), RS_FILE, r->ctx->m.folios[pfn].zone);
		bool split = k >= K_6_14;

		mglru_lruvec(lruvec)->evicted[RS_FILE][3] = 1;
		assert_int_equal(evict(r), 0);
		assert_int_equal(seq_of(r, pfn), 9);
		assert_int_equal(rig_memcg_stat(r, RS_PGREFILL), 1);
		assert_int_equal(rig_vmstat(r, RS_PGSCAN_FILE), 0);
		assert_int_equal(marks_of(r, pfn), split ? PG_workingset : 0);
		assert_int_equal(folio_ref_bits(&r->ctx->m.folios[pfn]), 0);
		assert_int_equal(rs_list_tail(r->ctx->m.folios, list) == pfn, !split);
		/* The emptied generation was closed: half of 1, and 1 if it counts as protected. */
		assert_int_equal(mglru_lruvec(lruvec)->avg_total[RS_FILE][3], !split);
		assert_int_equal(rig_vmstat(r, RS_WORKINGSET_ACTIVATE_FILE), k == K_6_1);
		rig_free(r);
	}
}

static void j_a_tier_above_the_limit_is_moved_on(void **state)
{
	for (enum column k = 0; k < NR_COLUMNS; k++) {
		pfn_t pfn;
		struct rig *r = file_page_with_reads(k, 3, &pfn);
		struct mglru_lruvec *v = mglru_lruvec(rig_lruvec(r));

		v->evicted[RS_FILE][0] = 1000;
		v->refaulted[RS_FILE][2] = 100;
		v->evicted[RS_FILE][2] = 101;
		assert_int_equal(evict(r), 0);
		assert_int_equal(seq_of(r, pfn), 9);
		assert_int_equal(rig_memcg_stat(r, RS_PGREFILL), 1);
		assert_int_equal(v->avg_total[RS_FILE][2], 51);
		rig_free(r);
	}
}

/* Without refaults the same page goes. */
static void j_a_tier_within_the_limit_is_evicted(void **state)
{
	for (enum column k = 0; k < NR_COLUMNS; k++) {
		pfn_t pfn;
		struct rig *r = file_page_with_reads(k, 3, &pfn);

		assert_int_equal(evict(r), 1);
		assert_int_equal(rig_file_page(r, DATA, 0), RS_PFN_NONE);
		assert_int_equal(rig_vmstat(r, RS_PGSTEAL_FILE), 1);
		rig_free(r);
	}
}

/* ---- k, l: refaults ---- */

/* An anonymous page that is in swap only, with this shadow. */
static struct rig *swapped_out(enum column k, uint64_t token_seq, bool workingset)
{
	struct rig *r = start(k);
	struct rs_shadow shadow = { .token = token_seq << 2, .workingset = workingset };

	pfn_t pfn;

	rig_map_anon(r, ANON_REGION, 1);
	rig_store(r, ANON_REGION, 0, 1);
	rig_drain(r);
	pfn = rig_page(r, ANON_REGION, 0);
	make_old(r, ANON_REGION, 0);
	/* Written, then freed. */
	for (unsigned i = 0; i < 2; i++) {
		reopen(r);
		place(r, pfn, 8);
		evict(r);
	}
	assert_true(pte_is_swap(*rig_pte(r, ANON_REGION, 0)));
	assert_int_equal(rig_vmstat(r, RS_PGSTEAL_ANON), 1);
	reopen(r);
	shadow.memcg = r->memcg;
	r->ctx->m.swap.slot[pte_slot(*rig_pte(r, ANON_REGION, 0))].shadow = shadow_pack(&shadow);
	return r;
}

static void expect_refault(struct rig *r, unsigned refaults, unsigned activates, unsigned restores)
{
	rig_store(r, ANON_REGION, 0, 1);
	rig_drain(r);
	assert_int_equal(rig_vmstat(r, RS_PGMAJFAULT), 1);
	assert_int_equal(rig_vmstat(r, RS_WORKINGSET_REFAULT_ANON), refaults);
	assert_int_equal(rig_vmstat(r, RS_WORKINGSET_ACTIVATE_ANON), activates);
	assert_int_equal(rig_vmstat(r, RS_WORKINGSET_RESTORE_ANON), restores);
}

static void k_anonymous_refault_from_the_current_oldest_generation(void **state)
{
	static const unsigned refs[NR_COLUMNS] = { 4, 4, 1, 0, 1 };
	static const uint64_t seq[NR_COLUMNS] = { 10, 10, 10, 9, 8 };

	for (enum column k = 0; k < NR_COLUMNS; k++) {
		struct rig *r = swapped_out(k, 8, false);
		pfn_t pfn;

		expect_refault(r, 1, k != K_6_1 && k != K_7_2, k <= K_6_12_117);
		pfn = rig_page(r, ANON_REGION, 0);
		assert_int_equal(seq_of(r, pfn), seq[k]);
		assert_int_equal(refs_of(r, pfn), refs[k]);
		assert_int_equal(mglru_lruvec(rig_lruvec(r))->refaulted[RS_ANON][0], 1);
		rig_free(r);
	}
}

static void k_a_working_set_refault_goes_to_the_youngest_generation(void **state)
{
	for (enum column k = K_6_14; k < NR_COLUMNS; k++) {
		struct rig *r = swapped_out(k, 8, true);

		expect_refault(r, 1, 1, 1);
		assert_int_equal(seq_of(r, rig_page(r, ANON_REGION, 0)), 10);
		assert_int_equal(mglru_lruvec(rig_lruvec(r))->refaulted[RS_ANON][3], 1);
		rig_free(r);
	}
}

static void l_anonymous_refault_from_an_older_generation(void **state)
{
	static const uint64_t seq[NR_COLUMNS] = { 10, 10, 10, 9, 8 };

	for (enum column k = 0; k < NR_COLUMNS; k++) {
		struct rig *r = swapped_out(k, 7, false);

		expect_refault(r, k != K_6_1, k == K_6_14, 0);
		assert_int_equal(seq_of(r, rig_page(r, ANON_REGION, 0)), seq[k]);
		rig_free(r);
	}
}

static void l_four_generations_back_is_not_recent(void **state)
{
	for (enum column k = K_6_14; k < NR_COLUMNS; k++) {
		struct rig *r = swapped_out(k, 6, true);

		expect_refault(r, 1, 0, 0);
		rig_free(r);
	}
}

/* ---- m, n, o: asynchronous swap ---- */

static void m_a_written_page_is_scanned_twice(void **state)
{
	for (enum column k = 0; k < NR_COLUMNS; k++) {
		struct rig *r = start(k);
		struct rs_scan sc = rig_limit_scan(r);
		struct plug plug;
		pfn_t pfn;

		rig_map_anon(r, ANON_REGION, 1);
		rig_store(r, ANON_REGION, 0, 1);
		rig_drain(r);
		pfn = rig_page(r, ANON_REGION, 0);
		place(r, pfn, 8);
		make_old(r, ANON_REGION, 0);

		rig_enter(r);
		plug_start(r->ctx, &plug);
		mglru_evict_folios(r->ctx, rig_lruvec(r), &sc, 60, 64, NULL);
		assert_int_equal(rig_vmstat(r, RS_PGSCAN_ANON), 1);
		assert_int_equal(rig_vmstat(r, RS_PSWPOUT), 1);
		assert_int_equal(sc.nr_reclaimed, 0);
		assert_int_equal(seq_of(r, pfn), 9);
		reopen(r);
		plug_finish(r->ctx, &plug);
		rs_lru_add_drain(r->ctx);
		rig_leave(r);
		assert_int_equal(seq_of(r, pfn), 8);
		assert_int_equal(rig_vmstat(r, RS_PGROTATED), 1);

		assert_int_equal(evict(r), 1);
		assert_int_equal(rig_vmstat(r, RS_PGSCAN_ANON), 2);
		assert_int_equal(rig_vmstat(r, RS_PSWPOUT), 1);
		rig_free(r);
	}
}

static void n_clean_swap_cache_goes_without_a_write(void **state)
{
	for (enum column k = 0; k < NR_COLUMNS; k++) {
		struct rig *r = swapped_out(k, 8, false);
		pfn_t pfn;

		rig_load(r, ANON_REGION, 0, 1);
		rig_drain(r);
		pfn = rig_page(r, ANON_REGION, 0);
		assert_true(r->ctx->m.folios[pfn].flags & PG_swapcache);
		set_marks(r, pfn, 0);
		place(r, pfn, 8);
		make_old(r, ANON_REGION, 0);
		assert_int_equal(evict(r), 1);
		assert_int_equal(rig_vmstat(r, RS_PSWPOUT), 1);
		assert_int_equal(rig_vmstat(r, RS_PGSTEAL_ANON), 2);
		rig_free(r);
	}
}

static void o_a_fault_finds_the_page_before_it_is_freed(void **state)
{
	static const uint64_t seq[NR_COLUMNS] = { 10, 10, 10, 9, 9 };

	for (enum column k = 0; k < NR_COLUMNS; k++) {
		struct rig *r = start(k);
		pfn_t pfn;

		rig_map_anon(r, ANON_REGION, 1);
		rig_store(r, ANON_REGION, 0, 1);
		rig_drain(r);
		pfn = rig_page(r, ANON_REGION, 0);
		place(r, pfn, 8);
		make_old(r, ANON_REGION, 0);
		assert_int_equal(evict(r), 0);
		reopen(r);
		place(r, pfn, 8);

		rig_load(r, ANON_REGION, 0, 1);
		assert_int_equal(rig_vmstat(r, RS_PGMAJFAULT), 0);
		assert_int_equal(rig_page(r, ANON_REGION, 0), pfn);
		assert_int_equal(seq_of(r, pfn), 8);
		assert_int_equal(evict(r), 0);
		assert_int_equal(seq_of(r, pfn), seq[k]);
		rig_free(r);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_anonymous_fault),
		cmocka_unit_test(b_read_of_a_new_page),
		cmocka_unit_test(c_file_fault_takes_its_read_around_along),
		cmocka_unit_test(d_e_young_ptes_seen_by_two_walks),
		cmocka_unit_test(f_young_file_page_at_the_tail),
		cmocka_unit_test(g_h_young_anonymous_page_twice_at_the_tail),
		cmocka_unit_test(i_five_reads_protect_whatever_the_controller_says),
		cmocka_unit_test(j_a_tier_above_the_limit_is_moved_on),
		cmocka_unit_test(j_a_tier_within_the_limit_is_evicted),
		cmocka_unit_test(k_anonymous_refault_from_the_current_oldest_generation),
		cmocka_unit_test(k_a_working_set_refault_goes_to_the_youngest_generation),
		cmocka_unit_test(l_anonymous_refault_from_an_older_generation),
		cmocka_unit_test(l_four_generations_back_is_not_recent),
		cmocka_unit_test(m_a_written_page_is_scanned_twice),
		cmocka_unit_test(n_clean_swap_cache_goes_without_a_write),
		cmocka_unit_test(o_a_fault_finds_the_page_before_it_is_freed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
