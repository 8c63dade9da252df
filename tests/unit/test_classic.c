/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The decisions of the classic LRU, each against the kernel's table or a worked number.
 */
#include "policies/classic.h"
#include "tests/lib/cm.h"
#include "tests/lib/rig.h"

enum { ANON, FILE_REGION };
enum { DATA };

static struct rig *start(const char *kernel)
{
	return rig_new(kernel, "classic", NULL);
}

static struct classic_lruvec *state_of(const struct rig *r)
{
	return classic(rig_lruvec(r));
}

/* Pretend: pages on a list, seen by whoever asks for its size. */
static void pretend(struct rig *r, enum rs_lru lru, int64_t pages)
{
	struct lruvec *l = lruvec_of(&r->ctx->m, r->memcg, 0);

	lruvec_size_add(&r->ctx->m, l, lru, RS_ZONE_DMA32, pages - l->lru[lru]);
	memcg_flush_stats(&r->ctx->m);
}

static void set_flag(struct rig *r, pfn_t pfn, uint32_t flag, bool on)
{
	struct folio *f = rig_folio(r, pfn);

	f->flags = on ? f->flags | flag : f->flags & ~flag;
}

/* ---- 1. references ---- */

struct row {
	bool marked; /* PG_referenced before */
	bool young;
	enum rs_verdict verdict;
	bool marked_after;
};

static void check_rows(struct rig *r, pfn_t pfn, uint32_t region, const struct row *row, unsigned n)
{
	struct rs_scan sc = rig_limit_scan(r);

	rig_enter(r);
	for (unsigned i = 0; i < n; i++) {
		uint32_t *pte = rig_pte(r, region, 0);

		*pte = row[i].young ? *pte | RS_PTE_YOUNG : *pte & ~RS_PTE_YOUNG;
		set_flag(r, pfn, PG_referenced, row[i].marked);
		assert_int_equal(r->ctx->ops->check_references(r->ctx, pfn, &sc), row[i].verdict);
		assert_int_equal(!!(rig_folio(r, pfn)->flags & PG_referenced), row[i].marked_after);
		assert_false(*pte & RS_PTE_YOUNG);
	}
	rig_leave(r);
}

static void references_of_an_anonymous_page(void **state)
{
	static const struct row rows[] = {
		{ false, false, RS_RECLAIM, false },
		{ true, false, RS_RECLAIM, false },
		{ false, true, RS_KEEP, true },
		{ true, true, RS_ACTIVATE, true },
	};
	struct rig *r = start("6.12");

	rig_map_anon(r, ANON, 1);
	rig_store(r, ANON, 0, 1);
	check_rows(r, rig_page(r, ANON, 0), ANON, rows, G_N_ELEMENTS(rows));
	rig_free(r);
}

static struct rig *mapped_file(const char *kernel, uint32_t prot)
{
	struct rig *r = start(kernel);

	rig_file(r, DATA, 1);
	rig_map_file(r, FILE_REGION, DATA, 1, prot | VM_SHARED);
	rig_load(r, FILE_REGION, 0, 1);
	return r;
}

static void references_of_a_file_page(void **state)
{
	static const struct row rows[] = {
		{ false, false, RS_RECLAIM, false },
		{ true, false, RS_RECLAIM_CLEAN, false },
		{ false, true, RS_KEEP, true },
		{ true, true, RS_ACTIVATE, true },
	};
	struct rig *r = mapped_file("6.12", VM_READ);

	check_rows(r, rig_page(r, FILE_REGION, 0), FILE_REGION, rows, G_N_ELEMENTS(rows));
	rig_free(r);
}

static void executable_file_pages_are_activated_by_one_reference(void **state)
{
	static const struct row rows[] = {
		{ false, false, RS_RECLAIM, false },
		{ false, true, RS_ACTIVATE, true },
	};
	struct rig *r = mapped_file("6.12", VM_READ | VM_EXEC);

	check_rows(r, rig_page(r, FILE_REGION, 0), FILE_REGION, rows, G_N_ELEMENTS(rows));
	rig_free(r);
}

/* The walk stops at the locked VMA: its bit stays. */
static void a_locked_vma_activates_and_leaves_no_mark(void **state)
{
	struct rig *r = mapped_file("6.12", VM_READ);
	struct rs_scan sc = rig_limit_scan(r);
	pfn_t pfn = rig_page(r, FILE_REGION, 0);

	rig_mm(r)->vmas[0]->flags |= VM_LOCKED;
	rig_enter(r);
	set_flag(r, pfn, PG_referenced, true);
	assert_int_equal(r->ctx->ops->check_references(r->ctx, pfn, &sc), RS_ACTIVATE);
	assert_false(rig_folio(r, pfn)->flags & PG_referenced);
	assert_true(*rig_pte(r, FILE_REGION, 0) & RS_PTE_YOUNG);
	rig_leave(r);
	rig_free(r);
}

/* Each VMA with a young PTE counts once: two of them are enough. */
static void two_referencing_vmas_activate(void **state)
{
	struct rig *r = mapped_file("6.12", VM_READ);
	struct rs_scan sc = rig_limit_scan(r);
	uint32_t vm_flags;
	pfn_t pfn;

	rig_map_file(r, FILE_REGION + 1, DATA, 1, VM_READ);
	rig_load(r, FILE_REGION + 1, 0, 1);
	pfn = rig_page(r, FILE_REGION, 0);
	assert_int_equal(rig_folio(r, pfn)->mapcount, 2);
	rig_enter(r);
	set_flag(r, pfn, PG_referenced, false);
	assert_int_equal(r->ctx->ops->check_references(r->ctx, pfn, &sc), RS_ACTIVATE);
	assert_int_equal(rs_folio_referenced(r->ctx, pfn, &sc, &vm_flags), 0);
	rig_leave(r);
	rig_free(r);
}

/* ---- 2. accesses through descriptors ---- */

static void second_use_activates_and_ages_the_clock(void **state)
{
	struct rig *r = start("6.12");
	uint64_t age;
	pfn_t pfn;

	rig_file(r, DATA, 4);
	rig_read(r, DATA, 0, 2);
	rig_drain(r);
	pfn = rig_file_page(r, DATA, 0);
	age = state_of(r)->nonresident_age;
	rig_enter(r);
	assert_true(rig_folio(r, pfn)->flags & PG_referenced);
	r->ctx->ops->mark_accessed(r->ctx, pfn);
	assert_false(rig_folio(r, pfn)->flags & (PG_referenced | PG_active));
	assert_int_equal(state_of(r)->nonresident_age, age + 1);
	assert_int_equal(classic(rs_lruvec(r->ctx, 0, 0))->nonresident_age, age + 1);
	/* Still queued: two more marks queue and age it again. */
	r->ctx->ops->mark_accessed(r->ctx, pfn);
	r->ctx->ops->mark_accessed(r->ctx, pfn);
	assert_int_equal(state_of(r)->nonresident_age, age + 2);
	rs_lru_add_drain(r->ctx);
	assert_true(rig_folio(r, pfn)->flags & PG_active);
	assert_int_equal(rig_vmstat(r, RS_PGACTIVATE), 1);
	/* Active: the mark is set once, then nothing. */
	r->ctx->ops->mark_accessed(r->ctx, pfn);
	r->ctx->ops->mark_accessed(r->ctx, pfn);
	assert_true(rig_folio(r, pfn)->flags & PG_referenced);
	assert_int_equal(state_of(r)->nonresident_age, age + 2);
	rig_leave(r);
	rig_free(r);
}

static void off_the_lists_second_use_only_ages(void **state)
{
	struct rig *r = start("6.12");
	uint64_t age;
	pfn_t pfn;

	rig_file(r, DATA, 1);
	rig_read(r, DATA, 0, 1);
	rig_drain(r);
	pfn = rig_file_page(r, DATA, 0);
	age = state_of(r)->nonresident_age;
	rig_enter(r);
	r->ctx->ops->del(r->ctx, rig_lruvec(r), pfn);
	rs_isolate(r->ctx, pfn);
	r->ctx->ops->mark_accessed(r->ctx, pfn);
	assert_false(rig_folio(r, pfn)->flags & (PG_referenced | PG_active));
	assert_int_equal(state_of(r)->nonresident_age, age + 1);
	rs_putback(r->ctx, pfn);
	rig_leave(r);
	rig_check(r);
	rig_free(r);
}

static void a_write_does_not_mark_the_page(void **state)
{
	struct rig *r = start("6.12");

	rig_file(r, DATA, 4);
	rig_write(r, DATA, 0, 1);
	rig_write(r, DATA, 0, 1);
	assert_false(rig_folio(r, rig_file_page(r, DATA, 0))->flags & (PG_referenced | PG_active));
	rig_free(r);
}

/* ---- 3. scan counts ---- */

static void scan(struct rig *r, struct rs_scan *sc, uint64_t anon, uint64_t anon_active,
		 uint64_t file, uint64_t file_active)
{
	uint64_t nr[RS_NR_LRU];

	classic_scan_count(r->ctx, rig_lruvec(r), sc, nr);
	assert_int_equal(nr[RS_INACTIVE_ANON], anon);
	assert_int_equal(nr[RS_ACTIVE_ANON], anon_active);
	assert_int_equal(nr[RS_INACTIVE_FILE], file);
	assert_int_equal(nr[RS_ACTIVE_FILE], file_active);
}

/* The measured row: 17980 pages at swappiness 60, priorities 12 to 7. */
static void anon_is_scanned_by_swappiness_and_priority(void **state)
{
	static const uint64_t pages[] = { 1, 2, 5, 10, 21, 42 };
	struct rig *r = start("6.12");
	struct rs_scan sc = rig_limit_scan(r);

	pretend(r, RS_INACTIVE_ANON, 17980);
	for (unsigned i = 0; i < G_N_ELEMENTS(pages); i++) {
		sc.priority = RS_DEF_PRIORITY - (int)i;
		scan(r, &sc, pages[i], 0, 0, 0);
	}
	/* Priority 0: equal, the whole list. */
	sc.priority = 0;
	scan(r, &sc, 17980, 0, 0, 0);
	rig_free(r);
}

static void active_and_inactive_get_the_same_fraction(void **state)
{
	struct rig *r = start("6.12");
	struct rs_scan sc = rig_limit_scan(r);

	pretend(r, RS_INACTIVE_ANON, 40960);
	pretend(r, RS_ACTIVE_ANON, 20480);
	pretend(r, RS_INACTIVE_FILE, 81920);
	pretend(r, RS_ACTIVE_FILE, 4095);
	/* 60 : 140 without costs; a list smaller than 2^priority is not scanned. */
	scan(r, &sc, 10 * 60 / 200, 5 * 60 / 200, 20 * 140 / 200, 0);
	rig_free(r);
}

/* ac = 100, fc = 0: T 100, A 200, F 100, S 300; ap = 60 * 301 / 201 = 89, fp = 140 * 301 / 101 =
 * 417. */
static void costs_tilt_the_balance(void **state)
{
	struct rig *r = start("6.12");
	struct rs_scan sc = rig_limit_scan(r);

	pretend(r, RS_INACTIVE_ANON, 4096000);
	pretend(r, RS_INACTIVE_FILE, 4096000);
	sc.priv[ANON_COST] = 100;
	scan(r, &sc, 1000 * 89 / 506, 0, 1000 * 417 / 506, 0);
	sc.priv[ANON_COST] = 0;
	sc.priv[FILE_COST] = 100;
	/* ap = 60 * 301 / 101 = 178, fp = 140 * 301 / 201 = 209 */
	scan(r, &sc, 1000 * 178 / 387, 0, 1000 * 209 / 387, 0);
	rig_free(r);
}

static void the_first_case_that_fits_decides(void **state)
{
	struct rig *r = start("6.12");
	struct rs_scan sc = rig_limit_scan(r);

	pretend(r, RS_INACTIVE_ANON, 4096 * 100);
	pretend(r, RS_INACTIVE_FILE, 4096 * 10);
	scan(r, &sc, 30, 0, 7, 0);
	sc.priv[CACHE_TRIM_MODE] = 1; /* lots of file pages: those only */
	scan(r, &sc, 0, 0, 10, 0);
	sc.priv[FILE_IS_TINY] = 1; /* before that: hardly any left */
	scan(r, &sc, 100, 0, 0, 0);
	sc.priority = 0; /* before that: nearly out of memory */
	scan(r, &sc, 4096 * 100, 0, 4096 * 10, 0);
	sc.may_swap = false; /* before all */
	scan(r, &sc, 0, 0, 4096 * 10, 0);
	rig_free(r);
}

static void swappiness_0_spares_anon_of_a_group_at_every_priority(void **state)
{
	static const char *const zero[] = { "vm.swappiness", "0", NULL };
	struct rig *r = rig_new("6.12", "classic", zero);
	struct rs_scan sc = rig_limit_scan(r);

	pretend(r, RS_INACTIVE_ANON, 4096 * 100);
	pretend(r, RS_INACTIVE_FILE, 4096 * 10);
	scan(r, &sc, 0, 0, 10, 0);
	sc.priority = 0;
	scan(r, &sc, 0, 0, 4096 * 10, 0);
	/* Of the machine: by fraction, also at priority 0. */
	sc.cgroup_reclaim = false;
	scan(r, &sc, 0, 0, 4096 * 10, 0);
	rig_free(r);
}

static void without_swap_only_files_are_scanned(void **state)
{
	static const char *const none[] = { "swap", "none", NULL };
	struct rig *r = rig_new("6.12", "classic", none);
	struct rs_scan sc = rig_limit_scan(r);

	pretend(r, RS_INACTIVE_ANON, 4096 * 100);
	pretend(r, RS_INACTIVE_FILE, 4096 * 10);
	scan(r, &sc, 0, 0, 10, 0);
	rig_free(r);
}

static void an_offline_group_is_scanned_to_the_last_page(void **state)
{
	struct rig *r = start("6.12");
	struct rs_scan sc = rig_limit_scan(r);

	pretend(r, RS_INACTIVE_ANON, 100);
	pretend(r, RS_INACTIVE_FILE, 10);
	scan(r, &sc, 0, 0, 0, 0);
	r->ctx->m.memcg[r->memcg].online = false;
	/* min(size, 32), the fraction rounded up: 32 * 0.3 and 10 * 0.7. */
	scan(r, &sc, 10, 0, 7, 0);
	rig_free(r);
}

/* ---- 4. preparation ---- */

static void deactivation_is_allowed_by_a_refault_or_a_low_list(void **state)
{
	struct rig *r = start("6.1");
	struct rs_scan sc = rig_limit_scan(r);

	pretend(r, RS_INACTIVE_FILE, 100);
	pretend(r, RS_ACTIVE_FILE, 100);
	rig_map_anon(r, ANON, 1);
	rig_enter(r);
	classic_prepare(r->ctx, 0, &sc);
	assert_int_equal(sc.priv[MAY_DEACTIVATE], 0);
	rig_leave(r);
	pretend(r, RS_ACTIVE_FILE, 101); /* inactive is low now */
	rig_enter(r);
	classic_prepare(r->ctx, 0, &sc);
	assert_int_equal(sc.priv[MAY_DEACTIVATE], DEACTIVATE_BIT(RS_FILE));
	rs_count(r->ctx, rig_lruvec(r), RS_WORKINGSET_ACTIVATE_ANON, 1);
	memcg_flush_stats(&r->ctx->m);
	classic_prepare(r->ctx, 0, &sc);
	assert_int_equal(sc.priv[MAY_DEACTIVATE],
			 DEACTIVATE_BIT(RS_FILE) | DEACTIVATE_BIT(RS_ANON));
	classic_snapshot(r->ctx, rig_lruvec(r));
	classic_prepare(r->ctx, 0, &sc);
	assert_int_equal(sc.priv[MAY_DEACTIVATE], DEACTIVATE_BIT(RS_FILE));
	sc.force_deactivate = true;
	classic_prepare(r->ctx, 0, &sc);
	assert_int_equal(sc.priv[MAY_DEACTIVATE],
			 DEACTIVATE_BIT(RS_FILE) | DEACTIVATE_BIT(RS_ANON));
	rig_leave(r);
	rig_free(r);
}

static void cache_is_trimmed_while_its_list_is_long_and_calm(void **state)
{
	struct rig *r = start("6.1");
	struct rs_scan sc = rig_limit_scan(r);

	rig_map_anon(r, ANON, 1);
	pretend(r, RS_INACTIVE_FILE, 4095);
	rig_enter(r);
	classic_prepare(r->ctx, 0, &sc);
	assert_int_equal(sc.priv[CACHE_TRIM_MODE], 0);
	sc.priority = 11;
	classic_prepare(r->ctx, 0, &sc);
	assert_int_equal(sc.priv[CACHE_TRIM_MODE], 1);
	sc.force_deactivate = true;
	classic_prepare(r->ctx, 0, &sc);
	assert_int_equal(sc.priv[CACHE_TRIM_MODE], 0);
	rig_leave(r);
	rig_free(r);
}

/* sqrt(10 * GiB): 1, 3, 10. */
static void the_inactive_share_shrinks_with_size(void **state)
{
	struct rig *r = start("6.1");
	const int64_t gib = 1 << 18;

	pretend(r, RS_INACTIVE_ANON, 1000);
	pretend(r, RS_ACTIVE_ANON, 1000);
	assert_false(classic_inactive_is_low(r->ctx, rig_lruvec(r), RS_ANON));
	pretend(r, RS_ACTIVE_ANON, 1001);
	assert_true(classic_inactive_is_low(r->ctx, rig_lruvec(r), RS_ANON));
	/* 1 GiB in all: 1 : 3 */
	pretend(r, RS_INACTIVE_ANON, gib / 4);
	pretend(r, RS_ACTIVE_ANON, gib / 4 * 3);
	assert_false(classic_inactive_is_low(r->ctx, rig_lruvec(r), RS_ANON));
	pretend(r, RS_ACTIVE_ANON, gib / 4 * 3 + 1);
	assert_true(classic_inactive_is_low(r->ctx, rig_lruvec(r), RS_ANON));
	/* 10 GiB: 1 : 10 */
	pretend(r, RS_INACTIVE_ANON, gib);
	pretend(r, RS_ACTIVE_ANON, gib * 10);
	assert_false(classic_inactive_is_low(r->ctx, rig_lruvec(r), RS_ANON));
	pretend(r, RS_ACTIVE_ANON, gib * 10 + 1);
	assert_true(classic_inactive_is_low(r->ctx, rig_lruvec(r), RS_ANON));
	rig_free(r);
}

/* ---- 5. cost ---- */

static void costs_go_to_the_group_and_its_ancestors_and_halve(void **state)
{
	struct rig *r = start("6.1");
	struct classic_lruvec *root = classic(rs_lruvec(r->ctx, 0, 0));

	pretend(r, RS_INACTIVE_FILE, 400);
	classic_note_cost(r->ctx, rig_lruvec(r), RS_ANON, 60, 999);
	assert_int_equal(state_of(r)->anon_cost, 60); /* 6.1 has no price for rotations */
	assert_int_equal(root->anon_cost, 60);
	classic_note_cost(r->ctx, rig_lruvec(r), RS_FILE, 40, 0);
	assert_int_equal(state_of(r)->file_cost, 40);
	/* 101 is more than a quarter of 400: both halve, once. */
	classic_note_cost(r->ctx, rig_lruvec(r), RS_FILE, 1, 0);
	assert_int_equal(state_of(r)->file_cost, 20);
	assert_int_equal(state_of(r)->anon_cost, 30);
	classic_note_cost(r->ctx, rig_lruvec(r), RS_ANON, 1000, 0);
	assert_int_equal(state_of(r)->anon_cost, 515);
	rig_free(r);
}

static void io_costs_32_rotations_since_6_12(void **state)
{
	struct rig *r = start("6.12");

	pretend(r, RS_INACTIVE_FILE, 40000);
	classic_note_cost(r->ctx, rig_lruvec(r), RS_ANON, 3, 7);
	assert_int_equal(state_of(r)->anon_cost, 3 * 32 + 7);
	rig_free(r);
}

/* Before the first flush every list is empty: each event halves, an event without cost, too. */
static void an_event_without_cost_still_halves(void **state)
{
	struct rig *r = start("6.1");

	state_of(r)->file_cost = 40;
	classic_note_cost(r->ctx, rig_lruvec(r), RS_ANON, 0, 0);
	assert_int_equal(state_of(r)->file_cost, 20);
	rig_free(r);
}

/* ---- 6. the cut in proportion ---- */

/* Old pages that nobody has referenced. */
static struct rig *old_pages(uint32_t anon, uint32_t file)
{
	struct rig *r = start("6.1");

	rig_map_anon(r, ANON, anon);
	rig_store(r, ANON, 0, anon);
	rig_file(r, DATA, file);
	rig_read(r, DATA, 0, file);
	rig_drain(r);
	for (uint32_t page = 0; page < anon; page++)
		*rig_pte(r, ANON, page) &= ~RS_PTE_YOUNG;
	return r;
}

static void shrink(struct rig *r, int priority)
{
	struct rs_scan sc = rig_limit_scan(r);
	struct plug plug;

	sc.priority = priority;
	rig_enter(r);
	plug_start(r->ctx, &plug);
	r->ctx->ops->shrink_lruvec(r->ctx, rig_lruvec(r), &sc);
	plug_finish(r->ctx, &plug);
	rig_leave(r);
	rig_check(r);
}

/*
 * 320 anon, 640 file, all to be scanned. One round frees 32 file pages: the goal. Anon has 288 of
 * 321 left, 89 %, and stops; file may go on to 11 % of 640 = 70, less the 32 done: 38, of which
 * one round takes 32; then anon has nothing left, and that is the end.
 */
static void when_enough_is_freed_the_larger_rest_is_cut_to_the_smallers_share(void **state)
{
	struct rig *r = old_pages(320, 640);

	shrink(r, 0);
	assert_int_equal(rig_vmstat(r, RS_PGSCAN_ANON), 32);
	assert_int_equal(rig_vmstat(r, RS_PGSCAN_FILE), 64);
	assert_int_equal(rig_vmstat(r, RS_PGSTEAL_FILE), 64);
	rig_free(r);
}

static void the_cut_works_the_other_way_round_too(void **state)
{
	struct rig *r = old_pages(640, 320);

	shrink(r, 0);
	assert_int_equal(rig_vmstat(r, RS_PGSCAN_ANON), 64);
	assert_int_equal(rig_vmstat(r, RS_PGSCAN_FILE), 32);
	rig_free(r);
}

/* ---- 7. refaults ---- */

static bool refault_activates(struct rig *r, pfn_t pfn, uint64_t distance, bool workingset)
{
	const struct rs_shadow s = { .memcg = r->memcg,
				     .token = state_of(r)->nonresident_age - distance,
				     .workingset = workingset };
	bool active;

	rig_enter(r);
	set_flag(r, pfn, PG_active, false);
	r->ctx->ops->refault(r->ctx, pfn, &s, false);
	active = rig_folio(r, pfn)->flags & PG_active;
	set_flag(r, pfn, PG_active, false);
	rig_leave(r);
	return active;
}

/* The window: the active list of the type, and all of the other type. */
static void a_refault_within_the_other_lists_activates(void **state)
{
	struct rig *r = start("6.1");
	pfn_t file, anon;

	rig_map_anon(r, ANON, 1);
	rig_store(r, ANON, 0, 1);
	rig_file(r, DATA, 1);
	rig_read(r, DATA, 0, 1);
	anon = rig_page(r, ANON, 0);
	file = rig_file_page(r, DATA, 0);
	pretend(r, RS_INACTIVE_ANON, 1000);
	pretend(r, RS_ACTIVE_ANON, 200);
	pretend(r, RS_INACTIVE_FILE, 4000);
	pretend(r, RS_ACTIVE_FILE, 50);
	state_of(r)->nonresident_age = 1u << 20;
	assert_true(refault_activates(r, file, 50 + 1000 + 200, false));
	assert_int_equal(state_of(r)->nonresident_age, (1u << 20) + 1);
	assert_false(refault_activates(r, file, 50 + 1000 + 200 + 1, false));
	assert_true(refault_activates(r, anon, 200 + 4000 + 50, false));
	assert_false(refault_activates(r, anon, 200 + 4000 + 50 + 1, false));
	assert_int_equal(rig_vmstat(r, RS_WORKINGSET_REFAULT_FILE), 2);
	assert_int_equal(rig_vmstat(r, RS_WORKINGSET_ACTIVATE_FILE), 1);
	assert_int_equal(rig_vmstat(r, RS_WORKINGSET_ACTIVATE_ANON), 1);
	assert_int_equal(rig_vmstat(r, RS_PGACTIVATE), 0);
	/* Without swap, anonymous memory could not have made room. */
	r->ctx->m.swap.nr_free = 0;
	assert_true(refault_activates(r, file, 50, false));
	assert_false(refault_activates(r, file, 51, false));
	rig_free(r);
}

static void a_page_of_the_working_set_is_restored_at_a_cost(void **state)
{
	static const uint64_t cost[] = { 1, 32 };

	for (unsigned k = 0; k < 2; k++) {
		struct rig *r = start(k ? "6.12" : "6.1");
		pfn_t pfn;

		rig_file(r, DATA, 1);
		rig_read(r, DATA, 0, 1);
		pfn = rig_file_page(r, DATA, 0);
		pretend(r, RS_ACTIVE_FILE, 1000);
		assert_true(refault_activates(r, pfn, 5, true));
		assert_true(rig_folio(r, pfn)->flags & PG_workingset);
		assert_int_equal(rig_vmstat(r, RS_WORKINGSET_RESTORE_FILE), 1);
		assert_int_equal(state_of(r)->file_cost, cost[k]);
		assert_false(refault_activates(r, pfn, 5000, true));
		assert_int_equal(rig_vmstat(r, RS_WORKINGSET_RESTORE_FILE), 1);
		rig_free(r);
	}
}

static void an_eviction_leaves_the_time_and_then_lets_it_pass(void **state)
{
	struct rig *r = start("6.1");
	struct rs_shadow s;
	pfn_t pfn;

	rig_file(r, DATA, 1);
	rig_read(r, DATA, 0, 1);
	pfn = rig_file_page(r, DATA, 0);
	set_flag(r, pfn, PG_workingset, true);
	state_of(r)->nonresident_age = 500;
	s = r->ctx->ops->evict(r->ctx, pfn, r->memcg);
	assert_int_equal(s.token, 500);
	assert_int_equal(s.memcg, r->memcg);
	assert_true(s.workingset);
	assert_int_equal(state_of(r)->nonresident_age, 501);
	/* Evicted for the machine's sake: the root's clock. */
	classic(rs_lruvec(r->ctx, 0, 0))->nonresident_age = 9000;
	s = r->ctx->ops->evict(r->ctx, pfn, 0);
	assert_int_equal(s.token, 9000);
	assert_int_equal(state_of(r)->nonresident_age, 501);
	rig_free(r);
}

/* The clock has 36 bits in a shadow. */
static void the_distance_survives_the_wrap_of_the_clock(void **state)
{
	struct rig *r = start("6.1");
	struct rs_shadow s = { .token = (1ull << RS_SHADOW_TOKEN_BITS) - 10 };
	pfn_t pfn;

	rig_file(r, DATA, 1);
	rig_read(r, DATA, 0, 1);
	pfn = rig_file_page(r, DATA, 0);
	pretend(r, RS_ACTIVE_FILE, 20);
	s.memcg = r->memcg;
	state_of(r)->nonresident_age = (1ull << RS_SHADOW_TOKEN_BITS) + 10;
	rig_enter(r);
	r->ctx->ops->refault(r->ctx, pfn, &s, false);
	rig_leave(r);
	assert_true(rig_folio(r, pfn)->flags & PG_active);
	rig_free(r);
}

/* ---- 8. deactivation ---- */

static void deactivated_pages_carry_the_working_set_flag(void **state)
{
	struct rig *r = start("6.1");
	struct rs_scan sc = rig_limit_scan(r);
	pfn_t pfn;

	rig_file(r, DATA, 4);
	rig_read(r, DATA, 0, 4);
	rig_drain(r);
	rig_enter(r);
	for (uint32_t page = 0; page < 4; page++)
		rs_folio_activate(r->ctx, rig_file_page(r, DATA, page));
	rs_lru_add_drain(r->ctx);
	assert_int_equal(rig_lru(r, RS_ACTIVE_FILE), 4);
	sc.priority = 0;
	sc.priv[MAY_DEACTIVATE] = DEACTIVATE_BIT(RS_FILE);
	r->ctx->ops->shrink_lruvec(r->ctx, rig_lruvec(r), &sc);
	rig_leave(r);
	assert_int_equal(rig_lru(r, RS_ACTIVE_FILE), 0);
	assert_int_equal(rig_lru(r, RS_INACTIVE_FILE), 4);
	assert_int_equal(rig_vmstat(r, RS_PGDEACTIVATE), 4);
	/* Refill by limit reclaim stands in memory.stat only. */
	assert_int_equal(rig_memcg_stat(r, RS_PGREFILL), 4);
	assert_int_equal(rig_vmstat(r, RS_PGREFILL), 0);
	pfn = rig_file_page(r, DATA, 0);
	assert_true(rig_folio(r, pfn)->flags & PG_workingset);
	rig_free(r);
}

static void without_permission_active_pages_stay(void **state)
{
	struct rig *r = start("6.1");
	struct rs_scan sc = rig_limit_scan(r);

	rig_file(r, DATA, 4);
	rig_read(r, DATA, 0, 4);
	rig_drain(r);
	rig_enter(r);
	for (uint32_t page = 0; page < 4; page++)
		rs_folio_activate(r->ctx, rig_file_page(r, DATA, page));
	rs_lru_add_drain(r->ctx);
	sc.priority = 0;
	r->ctx->ops->shrink_lruvec(r->ctx, rig_lruvec(r), &sc);
	rig_leave(r);
	assert_int_equal(rig_lru(r, RS_ACTIVE_FILE), 4);
	assert_true(sc.skipped_deactivate);
	rig_free(r);
}

static void referenced_executable_pages_stay_active(void **state)
{
	struct rig *r = start("6.1");
	struct rs_scan sc = rig_limit_scan(r);

	rig_file(r, DATA, 2);
	rig_map_file(r, FILE_REGION, DATA, 2, VM_READ | VM_EXEC);
	rig_load(r, FILE_REGION, 0, 2);
	rig_drain(r);
	rig_enter(r);
	for (uint32_t page = 0; page < 2; page++)
		rs_folio_activate(r->ctx, rig_file_page(r, DATA, page));
	rs_lru_add_drain(r->ctx);
	*rig_pte(r, FILE_REGION, 1) &= ~RS_PTE_YOUNG;
	sc.priority = 0;
	sc.priv[MAY_DEACTIVATE] = DEACTIVATE_BIT(RS_FILE);
	r->ctx->ops->shrink_lruvec(r->ctx, rig_lruvec(r), &sc);
	rig_leave(r);
	assert_true(rig_folio(r, rig_file_page(r, DATA, 0))->flags & PG_active);
	assert_false(rig_folio(r, rig_file_page(r, DATA, 1))->flags & PG_active);
	assert_int_equal(rig_vmstat(r, RS_PGDEACTIVATE), 1);
	rig_check(r);
	rig_free(r);
}

/* ---- 9. against what kernels count ---- */

#define LIMIT 18000u

static uint64_t scanned(const struct rig *r)
{
	return rig_vmstat(r, RS_PGSCAN_ANON) + rig_vmstat(r, RS_PGSCAN_FILE);
}

static struct rig *at_limit(const char *swap)
{
	const char *const settings[] = { "memory.max", "18000p", "swap", swap, NULL };

	return rig_new("6.1", "classic", settings);
}

/* Young at first, written at second, freed at third sight: pgscan = L + 2E. */
static void anonymous_fill_is_scanned_three_times(void **state)
{
	struct rig *r = at_limit("null");
	uint64_t freed, written;

	rig_map_anon(r, ANON, LIMIT + 2000);
	rig_store(r, ANON, 0, LIMIT + 2000);
	freed = rig_vmstat(r, RS_PGSTEAL_ANON);
	written = rig_vmstat(r, RS_PSWPOUT);
	assert_in_range(freed, 2000, 2080);
	assert_in_range(written, freed, freed + 32);
	assert_in_range(rig_vmstat(r, RS_PGROTATED), written - 32, written);
	assert_in_range(scanned(r), LIMIT + 2 * freed - 64, LIMIT + 2 * freed + 64);
	assert_int_equal(rig_vmstat(r, RS_PGACTIVATE), 0);
	assert_int_equal(rig_vmstat(r, RS_PGDEACTIVATE), 0);
	assert_int_equal(rig_memcg_stat(r, RS_PGREFILL), 0);
	rig_check(r);
	rig_free(r);
}

/* A synchronous device frees at second sight: L + E. */
static void a_synchronous_device_needs_no_rotation(void **state)
{
	struct rig *r = at_limit("zram");
	uint64_t freed;

	rig_map_anon(r, ANON, LIMIT + 2000);
	rig_store(r, ANON, 0, LIMIT + 2000);
	freed = rig_vmstat(r, RS_PGSTEAL_ANON);
	assert_int_equal(rig_vmstat(r, RS_PSWPOUT), freed);
	assert_int_equal(rig_vmstat(r, RS_PGROTATED), 0);
	assert_in_range(scanned(r), LIMIT + freed - 64, LIMIT + freed + 64);
	rig_free(r);
}

static void a_clean_mapped_fill_is_scanned_twice(void **state)
{
	struct rig *r = at_limit("null");
	uint64_t freed;

	rig_file(r, DATA, LIMIT + 2000);
	rig_map_file(r, FILE_REGION, DATA, LIMIT + 2000, VM_READ | VM_SHARED);
	rig_load(r, FILE_REGION, 0, LIMIT + 2000);
	freed = rig_vmstat(r, RS_PGSTEAL_FILE);
	assert_in_range(freed, 2000, 2080);
	assert_in_range(scanned(r), LIMIT + freed - 64, LIMIT + freed + 64);
	assert_int_equal(rig_vmstat(r, RS_PSWPOUT), 0);
	rig_free(r);
}

static void use_once_reads_are_scanned_once(void **state)
{
	struct rig *r = at_limit("null");

	rig_file(r, DATA, LIMIT + 5000);
	rig_read(r, DATA, 0, LIMIT + 5000);
	assert_in_range(rig_vmstat(r, RS_PGSTEAL_FILE), 5000, 5080);
	assert_int_equal(scanned(r), rig_vmstat(r, RS_PGSTEAL_FILE));
	rig_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(references_of_an_anonymous_page),
		cmocka_unit_test(references_of_a_file_page),
		cmocka_unit_test(executable_file_pages_are_activated_by_one_reference),
		cmocka_unit_test(a_locked_vma_activates_and_leaves_no_mark),
		cmocka_unit_test(two_referencing_vmas_activate),
		cmocka_unit_test(second_use_activates_and_ages_the_clock),
		cmocka_unit_test(off_the_lists_second_use_only_ages),
		cmocka_unit_test(a_write_does_not_mark_the_page),
		cmocka_unit_test(anon_is_scanned_by_swappiness_and_priority),
		cmocka_unit_test(active_and_inactive_get_the_same_fraction),
		cmocka_unit_test(costs_tilt_the_balance),
		cmocka_unit_test(the_first_case_that_fits_decides),
		cmocka_unit_test(swappiness_0_spares_anon_of_a_group_at_every_priority),
		cmocka_unit_test(without_swap_only_files_are_scanned),
		cmocka_unit_test(an_offline_group_is_scanned_to_the_last_page),
		cmocka_unit_test(deactivation_is_allowed_by_a_refault_or_a_low_list),
		cmocka_unit_test(cache_is_trimmed_while_its_list_is_long_and_calm),
		cmocka_unit_test(the_inactive_share_shrinks_with_size),
		cmocka_unit_test(costs_go_to_the_group_and_its_ancestors_and_halve),
		cmocka_unit_test(io_costs_32_rotations_since_6_12),
		cmocka_unit_test(an_event_without_cost_still_halves),
		cmocka_unit_test(when_enough_is_freed_the_larger_rest_is_cut_to_the_smallers_share),
		cmocka_unit_test(the_cut_works_the_other_way_round_too),
		cmocka_unit_test(a_refault_within_the_other_lists_activates),
		cmocka_unit_test(a_page_of_the_working_set_is_restored_at_a_cost),
		cmocka_unit_test(an_eviction_leaves_the_time_and_then_lets_it_pass),
		cmocka_unit_test(the_distance_survives_the_wrap_of_the_clock),
		cmocka_unit_test(deactivated_pages_carry_the_working_set_flag),
		cmocka_unit_test(without_permission_active_pages_stay),
		cmocka_unit_test(referenced_executable_pages_stay_active),
		cmocka_unit_test(anonymous_fill_is_scanned_three_times),
		cmocka_unit_test(a_synchronous_device_needs_no_rotation),
		cmocka_unit_test(a_clean_mapped_fill_is_scanned_twice),
		cmocka_unit_test(use_once_reads_are_scanned_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
