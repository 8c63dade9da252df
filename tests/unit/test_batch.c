/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The CPU's folio batches: when they are drained, and what an access to a waiting folio does.
 */
#include "tests/lib/cm.h"
#include "tests/lib/rig.h"

enum { ANON, DATA = 0 };

static struct rig *start(const char *kernel)
{
	struct rig *r = rig_new(kernel, "classic", NULL);

	rig_map_anon(r, ANON, 512);
	rig_file(r, DATA, 512);
	return r;
}

static void assert_flags(const struct rig *r, pfn_t pfn, uint32_t set, uint32_t clear)
{
	assert_int_not_equal(pfn, RS_PFN_NONE);
	assert_int_equal(rig_folio(r, pfn)->flags & (set | clear), set);
}

static void the_entry_that_fills_a_batch_drains_it(void **state)
{
	static const struct {
		const char *kernel;
		uint32_t size;
	} by_kernel[] = {
		{ "5.18", 15 }, { "6.1", 15 }, { "6.12", 31 }, { "6.14", 31 }, { "7.2", 31 }
	};

	for (unsigned k = 0; k < G_N_ELEMENTS(by_kernel); k++) {
		struct rig *r = start(by_kernel[k].kernel);

		rig_store(r, ANON, 0, by_kernel[k].size - 1);
		assert_int_equal(rig_lru(r, RS_INACTIVE_ANON), 0);
		assert_flags(r, rig_page(r, ANON, 0), PG_in_batch, PG_lru);
		rig_store(r, ANON, by_kernel[k].size - 1, 1);
		assert_int_equal(rig_lru(r, RS_INACTIVE_ANON), by_kernel[k].size);
		assert_flags(r, rig_page(r, ANON, 0), PG_lru, PG_in_batch);
		rig_check(r);
		rig_free(r);
	}
}

static void an_entry_holds_its_folio(void **state)
{
	struct rig *r = start("6.12");

	rig_store(r, ANON, 0, 1);
	assert_int_equal(rig_folio(r, rig_page(r, ANON, 0))->refs, 1);
	rig_drain(r);
	assert_int_equal(rig_folio(r, rig_page(r, ANON, 0))->refs, 0);
	rig_free(r);
}

static void a_drain_empties_the_batches_of_its_own_cpu_only(void **state)
{
	static const char *const two[] = { "cpus", "2", NULL };
	struct rig *r = rig_new("6.12", "classic", two);
	uint32_t cpu;
	pfn_t pfn;

	rig_map_anon(r, ANON, 8);
	rig_store(r, ANON, 0, 1);
	pfn = rig_page(r, ANON, 0);
	rig_enter(r);
	cpu = r->ctx->cur->cpu;
	r->ctx->cur->cpu = !cpu;
	rs_lru_add_drain(r->ctx);
	assert_flags(r, pfn, PG_in_batch, PG_lru);
	assert_false(rs_folio_in_add_batch(r->ctx, pfn));
	r->ctx->cur->cpu = cpu;
	assert_true(rs_folio_in_add_batch(r->ctx, pfn));
	rs_lru_add_drain(r->ctx);
	assert_flags(r, pfn, PG_lru, PG_in_batch);
	rig_leave(r);
	rig_free(r);
}

static void a_large_folio_is_not_kept_waiting(void **state)
{
	static const char *const thp[] = { "transparent_hugepage", "always", NULL };
	struct rig *r = rig_new("6.12", "classic", thp);

	rig_map_anon(r, ANON, 512);
	rig_store(r, ANON, 5, 1);
	assert_int_equal(rig_lru(r, RS_INACTIVE_ANON), 512);
	rig_check(r);
	rig_free(r);
}

/* ---- an access to a folio that waits ---- */

static void a_second_read_activates_in_place_while_the_page_waits(void **state)
{
	struct rig *r = start("6.12");
	pfn_t pfn;

	rig_read(r, DATA, 0, 2);
	pfn = rig_file_page(r, DATA, 0);
	assert_flags(r, pfn, PG_in_batch | PG_referenced, PG_active);
	rig_read(r, DATA, 0, 1);
	assert_flags(r, pfn, PG_in_batch | PG_active, PG_referenced);
	rig_drain(r);
	assert_int_equal(rig_lru(r, RS_ACTIVE_FILE), 1);
	assert_int_equal(rig_vmstat(r, RS_PGACTIVATE), 0);
	rig_free(r);
}

static void a_second_read_of_a_listed_page_activates_at_the_flush(void **state)
{
	struct rig *r = start("6.12");
	pfn_t pfn;

	rig_read(r, DATA, 0, 2);
	rig_drain(r);
	pfn = rig_file_page(r, DATA, 0);
	rig_read(r, DATA, 0, 1);
	assert_flags(r, pfn, PG_lru, PG_active | PG_referenced);
	assert_int_equal(rig_vmstat(r, RS_PGACTIVATE), 0);
	rig_drain(r);
	assert_flags(r, pfn, PG_lru | PG_active, PG_referenced);
	assert_int_equal(rig_vmstat(r, RS_PGACTIVATE), 1);
	assert_int_equal(rig_memcg_stat(r, RS_PGACTIVATE), 1);
	rig_check(r);
	rig_free(r);
}

/* Queued three times, it moves once. */
static void the_flush_skips_what_is_active_already(void **state)
{
	struct rig *r = start("6.12");
	pfn_t pfn;

	rig_read(r, DATA, 0, 1);
	rig_drain(r);
	pfn = rig_file_page(r, DATA, 0);
	rig_enter(r);
	rs_folio_activate(r->ctx, pfn);
	rs_folio_activate(r->ctx, pfn);
	assert_int_equal(rig_folio(r, pfn)->refs, 2);
	rs_lru_add_drain(r->ctx);
	rig_leave(r);
	assert_int_equal(rig_vmstat(r, RS_PGACTIVATE), 1);
	rig_free(r);
}

static void the_flush_passes_over_what_lost_its_list(void **state)
{
	struct rig *r = start("6.12");
	pfn_t pfn;

	rig_read(r, DATA, 0, 1);
	rig_drain(r);
	pfn = rig_file_page(r, DATA, 0);
	rig_enter(r);
	rs_folio_activate(r->ctx, pfn);
	lru_del(r->ctx, pfn);
	rs_lru_add_drain(r->ctx);
	assert_flags(r, pfn, 0, PG_lru | PG_active);
	assert_int_equal(rig_folio(r, pfn)->refs, 0);
	assert_int_equal(rig_vmstat(r, RS_PGACTIVATE), 0);
	lru_add(r->ctx, pfn, false);
	rig_leave(r);
	rig_check(r);
	rig_free(r);
}

/* ---- the other moves ---- */

static void of_several_rotations_the_last_is_reclaimed_first(void **state)
{
	struct rig *r = start("6.12");
	pfn_t head, tail;

	rig_read(r, DATA, 0, 4);
	rig_drain(r);
	rig_enter(r);
	folio_rotate_reclaimable(r->ctx, rig_file_page(r, DATA, 1));
	folio_rotate_reclaimable(r->ctx, rig_file_page(r, DATA, 3));
	assert_int_equal(rig_vmstat(r, RS_PGROTATED), 0);
	rs_lru_add_drain(r->ctx);
	rig_leave(r);
	assert_int_equal(rig_vmstat(r, RS_PGROTATED), 2);
	head = rig_lruvec(r)->lists + RS_INACTIVE_FILE;
	tail = rs_list_tail(r->ctx->m.folios, head);
	assert_int_equal(tail, rig_file_page(r, DATA, 3));
	assert_int_equal(rig_folio(r, tail)->prev, rig_file_page(r, DATA, 1));
	rig_free(r);
}

static void a_rotation_takes_an_active_page_to_the_inactive_tail(void **state)
{
	struct rig *r = start("6.12");
	pfn_t pfn;

	rig_read(r, DATA, 0, 2);
	rig_read(r, DATA, 0, 1);
	rig_drain(r);
	pfn = rig_file_page(r, DATA, 0);
	assert_flags(r, pfn, PG_active, 0);
	rig_enter(r);
	folio_rotate_reclaimable(r->ctx, pfn);
	rs_lru_add_drain(r->ctx);
	rig_leave(r);
	assert_flags(r, pfn, PG_lru, PG_active);
	assert_int_equal(rs_list_tail(r->ctx->m.folios, rig_lruvec(r)->lists + RS_INACTIVE_FILE),
			 pfn);
	rig_check(r);
	rig_free(r);
}

static void a_dirty_page_is_not_rotated(void **state)
{
	struct rig *r = start("6.12");

	rig_write(r, DATA, 0, 1);
	rig_drain(r);
	rig_enter(r);
	folio_rotate_reclaimable(r->ctx, rig_file_page(r, DATA, 0));
	rs_lru_add_drain(r->ctx);
	rig_leave(r);
	assert_int_equal(rig_vmstat(r, RS_PGROTATED), 0);
	rig_free(r);
}

static void madv_free_moves_to_the_file_lists(void **state)
{
	struct rig *r = start("6.12");

	rig_store(r, ANON, 0, 40);
	rig_drain(r);
	rig_madvise(r, ANON, RS_ADV_FREE, 0, 8);
	rig_drain(r);
	assert_int_equal(rig_lru(r, RS_INACTIVE_ANON), 32);
	assert_int_equal(rig_lru(r, RS_INACTIVE_FILE), 8);
	assert_int_equal(rig_vmstat(r, RS_PGLAZYFREE), 8);
	assert_flags(r, rig_page(r, ANON, 0), PG_anon | PG_lru, PG_swapbacked);
	rig_check(r);
	rig_free(r);
}

static void madv_cold_takes_active_pages_off(void **state)
{
	struct rig *r = start("6.12");

	rig_store(r, ANON, 0, 2);
	rig_drain(r);
	rig_enter(r);
	rs_folio_activate(r->ctx, rig_page(r, ANON, 0));
	rs_lru_add_drain(r->ctx);
	rig_leave(r);
	assert_int_equal(rig_lru(r, RS_ACTIVE_ANON), 1);
	rig_madvise(r, ANON, RS_ADV_COLD, 0, 2);
	rig_drain(r);
	assert_int_equal(rig_lru(r, RS_ACTIVE_ANON), 0);
	/* Only what was active counts. */
	assert_int_equal(rig_vmstat(r, RS_PGDEACTIVATE), 1);
	rig_check(r);
	rig_free(r);
}

static void locked_pages_lie_on_the_unevictable_list(void **state)
{
	struct rig *r = start("6.12");
	struct lruvec *l;

	rig_store(r, ANON, 0, 4);
	rig_record(r,
		   (struct rs_record){
			   .op = RS_OP_MLOCK, .object = ANON, .arg = 1, .page = 0, .count = 2 },
		   NULL);
	rig_drain(r);
	l = lruvec_of(&r->ctx->m, r->memcg, 0);
	assert_int_equal(l->lru[LRU_UNEVICTABLE], 2);
	assert_int_equal(rig_lru(r, RS_INACTIVE_ANON), 2);
	rig_record(r,
		   (struct rs_record){
			   .op = RS_OP_MLOCK, .object = ANON, .arg = 0, .page = 0, .count = 2 },
		   NULL);
	rig_drain(r);
	assert_int_equal(l->lru[LRU_UNEVICTABLE], 0);
	assert_int_equal(rig_lru(r, RS_INACTIVE_ANON), 4);
	rig_check(r);
	rig_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_entry_that_fills_a_batch_drains_it),
		cmocka_unit_test(an_entry_holds_its_folio),
		cmocka_unit_test(a_drain_empties_the_batches_of_its_own_cpu_only),
		cmocka_unit_test(a_large_folio_is_not_kept_waiting),
		cmocka_unit_test(a_second_read_activates_in_place_while_the_page_waits),
		cmocka_unit_test(a_second_read_of_a_listed_page_activates_at_the_flush),
		cmocka_unit_test(the_flush_skips_what_is_active_already),
		cmocka_unit_test(the_flush_passes_over_what_lost_its_list),
		cmocka_unit_test(of_several_rotations_the_last_is_reclaimed_first),
		cmocka_unit_test(a_rotation_takes_an_active_page_to_the_inactive_tail),
		cmocka_unit_test(a_dirty_page_is_not_rotated),
		cmocka_unit_test(madv_free_moves_to_the_file_lists),
		cmocka_unit_test(madv_cold_takes_active_pages_off),
		cmocka_unit_test(locked_pages_lie_on_the_unevictable_list),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
