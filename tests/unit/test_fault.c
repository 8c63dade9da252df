/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Page faults: the zero page, copies on write, swap-in by kernel, private file mappings.
 */
#include "tests/lib/cm.h"
#include "tests/lib/rig.h"

enum { ANON, PRIVATE };
enum { DATA };

static struct rig *start(const char *kernel, const char *swap)
{
	const char *const settings[] = { "swap", swap, NULL };
	struct rig *r = rig_new(kernel, "classic", settings);

	rig_map_anon(r, ANON, 600);
	return r;
}

static uint32_t bits(const struct rig *r, uint32_t region, uint32_t page)
{
	return *rig_pte(r, region, page) &
	       (RS_PTE_PRESENT | RS_PTE_YOUNG | RS_PTE_DIRTY | RS_PTE_WRITE);
}

#define READ_ONLY (RS_PTE_PRESENT | RS_PTE_YOUNG)
#define WRITABLE (READ_ONLY | RS_PTE_WRITE)
#define WRITTEN (WRITABLE | RS_PTE_DIRTY)

/* ---- anonymous ---- */

static void a_load_of_new_memory_maps_the_zero_page(void **state)
{
	struct rig *r = start("6.12", "null");

	rig_load(r, ANON, 0, 1);
	assert_int_equal(bits(r, ANON, 0), READ_ONLY);
	assert_int_equal(rig_page(r, ANON, 0), RS_PFN_NONE);
	assert_int_equal(rig_mm(r)->rss[RS_ANON], 0);
	assert_int_equal(r->ctx->m.memcg[r->memcg].usage, 0);
	assert_int_equal(rig_vmstat(r, RS_PGFAULT), 1);
	/* The store replaces it. */
	rig_store(r, ANON, 0, 1);
	assert_int_equal(bits(r, ANON, 0), WRITTEN);
	assert_int_not_equal(rig_page(r, ANON, 0), RS_PFN_NONE);
	assert_int_equal(rig_mm(r)->rss[RS_ANON], 1);
	assert_int_equal(rig_vmstat(r, RS_PGFAULT), 2);
	assert_int_equal(rig_vmstat(r, RS_PGMAJFAULT), 0);
	rig_check(r);
	rig_free(r);
}

static void a_store_gets_a_page_and_a_second_access_is_no_fault(void **state)
{
	struct rig *r = start("6.12", "null");

	rig_store(r, ANON, 0, 1);
	rig_store(r, ANON, 0, 1);
	rig_load(r, ANON, 0, 1);
	assert_int_equal(bits(r, ANON, 0), WRITTEN);
	assert_int_equal(rig_vmstat(r, RS_PGFAULT), 1);
	rig_free(r);
}

/* ---- fork ---- */

static struct rig *forked(void)
{
	struct rig *r = start("6.12", "null");

	rig_store(r, ANON, 0, 2);
	rig_drain(r);
	rig_fork(r, 1);
	return r;
}

static struct mm *child_mm(struct rig *r)
{
	return r->ctx->thread[1].task->mm;
}

static void sleep_for(struct rig *r, ns_t ns)
{
	rig_record(r, (struct rs_record){ .op = RS_OP_SLEEP, .value = ns }, NULL);
}

/* The child's records run while the parent sleeps; then it sleeps itself, or it is gone. */
static void let_child_run(struct rig *r)
{
	rig_thread(r, 0);
	sleep_for(r, 1000000000);
}

static void fork_shares_pages_read_only(void **state)
{
	struct rig *r = forked();
	pfn_t pfn = rig_page(r, ANON, 0);
	uint32_t *pte = mm_pte(&r->ctx->m, child_mm(r), child_mm(r)->regions[ANON].start);

	assert_int_equal(rig_folio(r, pfn)->mapcount, 2);
	assert_int_equal(rs_pte_pfn(*pte), pfn);
	assert_false(*pte & RS_PTE_WRITE);
	assert_false(*rig_pte(r, ANON, 0) & RS_PTE_WRITE);
	assert_int_equal(child_mm(r)->pub.rss[RS_ANON], 2);
	rig_check(r);
	rig_free(r);
}

static void the_first_to_store_copies_and_the_last_reuses(void **state)
{
	struct rig *r = forked();
	pfn_t pfn = rig_page(r, ANON, 0), copy;
	uint64_t faults = rig_vmstat(r, RS_PGFAULT);

	rig_thread(r, 1);
	rig_store(r, ANON, 0, 1);
	sleep_for(r, 1000000000000);
	let_child_run(r);
	copy = rs_pte_pfn(*mm_pte(&r->ctx->m, child_mm(r), child_mm(r)->regions[ANON].start));
	assert_int_not_equal(copy, pfn);
	assert_int_equal(rig_folio(r, pfn)->mapcount, 1);
	assert_int_equal(rig_vmstat(r, RS_PGFAULT), faults + 1);
	assert_int_equal(rig_vmstat(r, RS_PGREUSE), 0);
	rig_drain(r); /* the batch's reference would force a copy */
	rig_store(r, ANON, 0, 1);
	assert_int_equal(rig_page(r, ANON, 0), pfn);
	assert_int_equal(bits(r, ANON, 0), WRITTEN);
	assert_int_equal(rig_vmstat(r, RS_PGREUSE), 1);
	rig_check(r);
	rig_free(r);
}

static void a_child_that_ends_leaves_the_parent_alone(void **state)
{
	struct rig *r = forked();
	pfn_t pfn = rig_page(r, ANON, 0);

	rig_thread(r, 1);
	rig_record(r, (struct rs_record){ .op = RS_OP_EXIT }, NULL);
	let_child_run(r);
	assert_int_equal(rig_folio(r, pfn)->mapcount, 1);
	rig_store(r, ANON, 0, 1);
	assert_int_equal(rig_page(r, ANON, 0), pfn);
	rig_check(r);
	rig_free(r);
}

/* ---- swap ---- */

/* 64 pages stored and gone to swap. */
static struct rig *swapped(const char *kernel, const char *swap)
{
	struct rig *r = start(kernel, swap);

	rig_store(r, ANON, 0, 64);
	rig_drain(r);
	for (unsigned i = 0; i < 3; i++) {
		rig_madvise(r, ANON, RS_ADV_PAGEOUT, 0, 64);
		rig_drain(r);
	}
	for (uint32_t page = 0; page < 64; page++)
		assert_true(pte_is_swap(*rig_pte(r, ANON, page)));
	assert_int_equal(rig_vmstat(r, RS_PSWPOUT), 64);
	assert_int_equal(rig_mm(r)->rss[RS_ANON], 0);
	assert_int_equal(r->ctx->m.memcg[r->memcg].swap_usage, 64);
	rig_check(r);
	return r;
}

/* From 7.2 on the test for it comes when the page is mapped writable already. */
static void a_store_keeps_the_slot_of_an_exclusive_page_in_7_2(void **state)
{
	struct rig *r = swapped("7.2", "null");
	uint32_t slot = pte_slot(*rig_pte(r, ANON, 0));
	pfn_t pfn;

	rig_store(r, ANON, 0, 1);
	pfn = rig_page(r, ANON, 0);
	assert_int_equal(bits(r, ANON, 0), WRITTEN);
	assert_true(rig_folio(r, pfn)->flags & PG_swapcache);
	assert_int_equal(r->ctx->m.memcg[r->memcg].swap_usage, 64);
	/* Written again, to the same slot. */
	rig_madvise(r, ANON, RS_ADV_PAGEOUT, 0, 1);
	rig_drain(r);
	rig_madvise(r, ANON, RS_ADV_PAGEOUT, 0, 1);
	assert_int_equal(rig_vmstat(r, RS_PSWPOUT), 65);
	assert_int_equal(r->ctx->m.swap.slot[slot].count, 1);
	rig_check(r);
	rig_free(r);
}

static void a_store_frees_the_slot_and_dirties_the_page(void **state)
{
	static const char *const kernel[] = { "6.1", "6.12", "6.14" };

	for (unsigned k = 0; k < G_N_ELEMENTS(kernel); k++) {
		struct rig *r = swapped(kernel[k], "null");
		pfn_t pfn;

		rig_store(r, ANON, 0, 1);
		pfn = rig_page(r, ANON, 0);
		assert_int_equal(bits(r, ANON, 0), WRITTEN);
		assert_false(rig_folio(r, pfn)->flags & PG_swapcache);
		assert_true(rig_folio(r, pfn)->flags & PG_dirty);
		assert_int_equal(r->ctx->m.memcg[r->memcg].swap_usage, 63);
		assert_int_equal(rig_vmstat(r, RS_PGMAJFAULT), 1);
		assert_int_equal(rig_vmstat(r, RS_PSWPIN), 1);
		/* The batches were drained to drop their reference. */
		assert_true(rig_folio(r, pfn)->flags & PG_lru);
		rig_check(r);
		rig_free(r);
	}
}

/* 6.1 maps read-only: the store that follows is a minor fault, reused in place; 6.12: none. */
static void a_load_keeps_the_slot_and_the_store_behind_it_costs_a_fault_in_6_1(void **state)
{
	static const char *const kernel[] = { "6.1", "6.12" };
	static const uint32_t first[] = { READ_ONLY, WRITABLE };

	for (unsigned k = 0; k < 2; k++) {
		struct rig *r = swapped(kernel[k], "null");
		uint64_t faults;
		uint32_t slot;
		pfn_t pfn;

		rig_load(r, ANON, 0, 1);
		pfn = rig_page(r, ANON, 0);
		slot = folio_slot(&r->ctx->m, pfn);
		assert_int_equal(bits(r, ANON, 0), first[k]);
		assert_true(rig_folio(r, pfn)->flags & PG_swapcache);
		assert_false(rig_folio(r, pfn)->flags & PG_dirty);
		faults = rig_vmstat(r, RS_PGFAULT);
		rig_store(r, ANON, 0, 1);
		assert_int_equal(rig_page(r, ANON, 0), pfn);
		assert_int_equal(bits(r, ANON, 0), WRITTEN);
		assert_int_equal(rig_vmstat(r, RS_PGFAULT) - faults, k == 0);
		assert_int_equal(rig_vmstat(r, RS_PGREUSE), k == 0);
		assert_int_equal(folio_slot(&r->ctx->m, pfn), slot);
		rig_check(r);
		rig_free(r);
	}
}

static void a_page_only_loaded_is_evicted_without_a_write(void **state)
{
	struct rig *r = swapped("6.12", "null");
	uint32_t slot = pte_slot(*rig_pte(r, ANON, 0));
	uint64_t written = rig_vmstat(r, RS_PSWPOUT);

	rig_load(r, ANON, 0, 1);
	rig_drain(r);
	rig_madvise(r, ANON, RS_ADV_PAGEOUT, 0, 1);
	assert_int_equal(*rig_pte(r, ANON, 0),
			 make_swap_pte(slot) | (*rig_pte(r, ANON, 0) & PTE_SWP_EXCLUSIVE));
	assert_int_equal(rig_vmstat(r, RS_PSWPOUT), written);
	/* Loaded and stored to: written again, to the same slot. */
	rig_load(r, ANON, 0, 1);
	rig_store(r, ANON, 0, 1);
	rig_drain(r);
	for (unsigned i = 0; i < 3; i++) {
		rig_madvise(r, ANON, RS_ADV_PAGEOUT, 0, 1);
		rig_drain(r);
	}
	assert_int_equal(pte_slot(*rig_pte(r, ANON, 0)), slot);
	assert_int_equal(rig_vmstat(r, RS_PSWPOUT), written + 1);
	rig_free(r);
}

static void a_load_frees_the_slot_when_swap_is_more_than_half_full(void **state)
{
	struct rig *r = swapped("6.12", "null");

	r->ctx->m.swap.nr_free = r->ctx->m.swap.nr_slots / 2 - 10;
	rig_load(r, ANON, 0, 1);
	assert_false(rig_folio(r, rig_page(r, ANON, 0))->flags & PG_swapcache);
	assert_true(rig_folio(r, rig_page(r, ANON, 0))->flags & PG_dirty);
	rig_free(r);
}

/* zram: one page past the swap cache, slot free, every later eviction writes. */
static void a_synchronous_device_is_read_past_the_swap_cache(void **state)
{
	struct rig *r = swapped("6.12", "zram");

	rig_load(r, ANON, 0, 1);
	assert_false(rig_folio(r, rig_page(r, ANON, 0))->flags & PG_swapcache);
	assert_int_equal(r->ctx->m.memcg[r->memcg].swap_usage, 63);
	assert_int_equal(rig_vmstat(r, RS_PGMAJFAULT), 1);
	assert_int_equal(rig_vmstat(r, RS_PSWPIN), 1);
	assert_int_equal(rig_vmstat(r, RS_SWAP_RA), 0);
	rig_drain(r);
	rig_madvise(r, ANON, RS_ADV_PAGEOUT, 0, 1);
	assert_int_equal(rig_vmstat(r, RS_PSWPOUT), 65);
	rig_check(r);
	rig_free(r);
}

static void a_refault_from_swap_is_counted_where_a_shadow_lies(void **state)
{
	struct rig *r = swapped("6.12", "null");

	rig_load(r, ANON, 0, 5);
	assert_int_equal(rig_vmstat(r, RS_WORKINGSET_REFAULT_ANON), 5);
	/* Mapped, it is read no more. */
	rig_load(r, ANON, 0, 5);
	assert_int_equal(rig_vmstat(r, RS_WORKINGSET_REFAULT_ANON), 5);
	rig_free(r);
}

static void unmapping_gives_swap_back(void **state)
{
	struct rig *r = swapped("7.2", "null");

	rig_load(r, ANON, 0, 8);
	rig_record(r, (struct rs_record){ .op = RS_OP_MUNMAP, .object = ANON }, NULL);
	rig_drain(r);
	assert_int_equal(r->ctx->m.memcg[r->memcg].swap_usage, 0);
	assert_int_equal(r->ctx->m.swap.nr_free, r->ctx->m.swap.nr_slots - 1);
	rig_check(r);
	rig_free(r);
}

/* Child and parent have the slot; who stores gets a page of his own. */
static void a_slot_shared_by_fork_is_copied_by_a_store(void **state)
{
	struct rig *r = swapped("6.12", "null");
	uint32_t slot = pte_slot(*rig_pte(r, ANON, 0));

	rig_fork(r, 1);
	assert_int_equal(r->ctx->m.swap.slot[slot].count, 2);
	rig_thread(r, 1);
	sleep_for(r, 1000000000000);
	rig_thread(r, 0);
	rig_store(r, ANON, 0, 1);
	assert_int_equal(bits(r, ANON, 0), WRITTEN);
	assert_int_equal(r->ctx->m.swap.slot[slot].count, 1);
	assert_int_not_equal(rig_page(r, ANON, 0), r->ctx->m.swap.slot[slot].cached);
	rig_check(r);
	rig_free(r);
}

/* ---- files ---- */

static struct rig *mapped(uint32_t prot)
{
	struct rig *r = start("6.12", "null");

	rig_file(r, DATA, 32);
	rig_map_file(r, PRIVATE, DATA, 32, prot);
	return r;
}

static void a_file_load_that_misses_is_a_major_fault(void **state)
{
	struct rig *r = mapped(VM_READ | VM_WRITE);

	rig_load(r, PRIVATE, 3, 1);
	assert_int_equal(rig_page(r, PRIVATE, 3), rig_file_page(r, DATA, 3));
	assert_int_equal(rig_vmstat(r, RS_PGMAJFAULT), 1);
	assert_int_equal(rig_vmstat(r, RS_PGPGIN), 4);
	assert_int_equal(bits(r, PRIVATE, 3), READ_ONLY);
	assert_int_equal(rig_mm(r)->rss[RS_FILE], 1);
	rig_free(r);
}

static void a_store_to_a_private_mapping_copies_the_page(void **state)
{
	struct rig *r = mapped(VM_READ | VM_WRITE);
	pfn_t cached;

	/* At once, and of a page that is mapped already. */
	rig_load(r, PRIVATE, 1, 1);
	rig_store(r, PRIVATE, 0, 2);
	for (uint32_t page = 0; page < 2; page++) {
		cached = rig_file_page(r, DATA, page);
		assert_int_not_equal(cached, RS_PFN_NONE);
		assert_int_not_equal(rig_page(r, PRIVATE, page), cached);
		assert_int_equal(rig_folio(r, cached)->mapcount, 0);
		assert_false(rig_folio(r, cached)->flags & PG_dirty);
		assert_true(rig_folio(r, rig_page(r, PRIVATE, page))->flags & PG_anon);
		assert_int_equal(bits(r, PRIVATE, page), WRITTEN);
	}
	assert_int_equal(rig_mm(r)->rss[RS_ANON], 2);
	assert_int_equal(rig_mm(r)->rss[RS_FILE], 0);
	assert_int_equal(rig_vmstat(r, RS_PGMAJFAULT), 2);
	rig_check(r);
	rig_free(r);
}

static void a_copy_of_a_file_page_goes_to_swap_and_comes_back(void **state)
{
	struct rig *r = mapped(VM_READ | VM_WRITE);

	rig_store(r, PRIVATE, 0, 1);
	rig_drain(r);
	for (unsigned i = 0; i < 3; i++) {
		rig_madvise(r, PRIVATE, RS_ADV_PAGEOUT, 0, 1);
		rig_drain(r);
	}
	assert_true(pte_is_swap(*rig_pte(r, PRIVATE, 0)));
	rig_load(r, PRIVATE, 0, 1);
	assert_true(rig_folio(r, rig_page(r, PRIVATE, 0))->flags & PG_anon);
	assert_int_equal(rig_vmstat(r, RS_PSWPIN), 1);
	rig_check(r);
	rig_free(r);
}

static void a_store_to_a_shared_mapping_dirties_the_cached_page(void **state)
{
	struct rig *r = mapped(VM_READ | VM_WRITE | VM_SHARED);
	pfn_t pfn;

	rig_load(r, PRIVATE, 0, 1);
	assert_int_equal(bits(r, PRIVATE, 0), READ_ONLY);
	rig_store(r, PRIVATE, 0, 1);
	pfn = rig_file_page(r, DATA, 0);
	assert_int_equal(rig_page(r, PRIVATE, 0), pfn);
	assert_true(rig_folio(r, pfn)->flags & PG_dirty);
	assert_int_equal(r->ctx->m.nr_dirty, 1);
	assert_int_equal(rig_vmstat(r, RS_PGFAULT), 2 + 0);
	rig_check(r);
	rig_free(r);
}

static void fault_around_maps_what_is_cached_in_its_window(void **state)
{
	static const char *const around[] = { "fault_around_bytes", "65536", NULL };
	struct rig *r = rig_new("6.12", "classic", around);

	rig_file(r, DATA, 64);
	rig_read(r, DATA, 0, 40);
	rig_map_file(r, PRIVATE, DATA, 64, VM_READ);
	rig_load(r, PRIVATE, 20, 1);
	for (uint32_t page = 0; page < 64; page++) {
		uint32_t *pte = rig_pte(r, PRIVATE, page);
		/* The window is aligned by address, not by file page. */
		bool in = (rig_mm(r)->vmas[0]->start + page) / 16 ==
			  (rig_mm(r)->vmas[0]->start + 20) / 16;

		assert_int_equal(pte && *pte, in && page < 40);
	}
	assert_int_equal(rig_vmstat(r, RS_PGMAJFAULT), 0);
	assert_int_equal(rig_vmstat(r, RS_PGFAULT), 1);
	/* A store maps one page only, and a private one copies it. */
	rig_free(r);
}

static void prefaulted_ptes_are_young_on_x86_and_old_on_arm64(void **state)
{
	static const char *const arch[] = { "x86", "arm64" };

	for (unsigned k = 0; k < 2; k++) {
		const char *const settings[] = { "fault_around_bytes", "65536", "arch", arch[k],
						 NULL };
		struct rig *r = rig_new("6.12", "classic", settings);
		uint64_t start;
		uint32_t page, neighbour;

		rig_file(r, DATA, 64);
		rig_read(r, DATA, 0, 64);
		rig_map_file(r, PRIVATE, DATA, 64, VM_READ);
		start = rig_mm(r)->vmas[0]->start;
		page = 16 - start % 16; /* the first of a window */
		neighbour = page + 1;
		rig_load(r, PRIVATE, page, 1);
		assert_true(*rig_pte(r, PRIVATE, page) & RS_PTE_YOUNG);
		assert_int_equal(!!(*rig_pte(r, PRIVATE, neighbour) & RS_PTE_YOUNG), k == 0);
		rig_free(r);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_load_of_new_memory_maps_the_zero_page),
		cmocka_unit_test(a_store_gets_a_page_and_a_second_access_is_no_fault),
		cmocka_unit_test(fork_shares_pages_read_only),
		cmocka_unit_test(the_first_to_store_copies_and_the_last_reuses),
		cmocka_unit_test(a_child_that_ends_leaves_the_parent_alone),
		cmocka_unit_test(a_store_frees_the_slot_and_dirties_the_page),
		cmocka_unit_test(a_store_keeps_the_slot_of_an_exclusive_page_in_7_2),
		cmocka_unit_test(
			a_load_keeps_the_slot_and_the_store_behind_it_costs_a_fault_in_6_1),
		cmocka_unit_test(a_page_only_loaded_is_evicted_without_a_write),
		cmocka_unit_test(a_load_frees_the_slot_when_swap_is_more_than_half_full),
		cmocka_unit_test(a_synchronous_device_is_read_past_the_swap_cache),
		cmocka_unit_test(a_refault_from_swap_is_counted_where_a_shadow_lies),
		cmocka_unit_test(unmapping_gives_swap_back),
		cmocka_unit_test(a_slot_shared_by_fork_is_copied_by_a_store),
		cmocka_unit_test(a_file_load_that_misses_is_a_major_fault),
		cmocka_unit_test(a_store_to_a_private_mapping_copies_the_page),
		cmocka_unit_test(a_copy_of_a_file_page_goes_to_swap_and_comes_back),
		cmocka_unit_test(a_store_to_a_shared_mapping_dirties_the_cached_page),
		cmocka_unit_test(fault_around_maps_what_is_cached_in_its_window),
		cmocka_unit_test(prefaulted_ptes_are_young_on_x86_and_old_on_arm64),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
