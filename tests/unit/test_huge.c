/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A VMA that covers a part of a huge mapping has its own PTEs.
 */
#include "tests/lib/cm.h"
#include "tests/lib/rig.h"

enum { HEAP, HUGE = 512 };

static struct rig *start(void)
{
	static const char *const settings[] = { "memory.max", "max", "transparent_hugepage",
						"always", NULL };
	static const struct rs_map map = { .file = RS_MAP_FILE_NONE,
					   .pages = 2 * HUGE,
					   .prot = VM_READ | VM_WRITE,
					   .address = UINT64_C(1) << 20 };
	struct rig *r = rig_new("6.12", "classic", settings);

	rig_record(r, (struct rs_record){ .op = RS_OP_MMAP, .object = HEAP }, &map);
	rig_store(r, HEAP, 0, 1);
	assert_int_equal(rig_mm(r)->rss[RS_ANON], HUGE);
	return r;
}

/* The first page table is a PMD entry that maps the folio. */
static bool is_leaf(struct rig *r)
{
	uint64_t vpn = UINT64_C(1) << 20;

	return r->ctx->m.pmd[mm_table(&r->ctx->m, rig_task(r)->mm, vpn)] & RS_PMD_LEAF;
}

static void range(struct rig *r, uint8_t op, uint32_t page, uint32_t count, uint32_t arg)
{
	rig_record(r,
		   (struct rs_record){
			   .op = op, .object = HEAP, .page = page, .count = count, .arg = arg },
		   NULL);
}

static void mlock_of_a_part_ends_and_locks_what_is_there(void **state)
{
	struct rig *r = start();

	range(r, RS_OP_MLOCK, 2, 10, 1);
	assert_false(is_leaf(r));
	assert_true(*rig_pte(r, HEAP, 2) & RS_PTE_PRESENT);
	assert_true(rig_folio(r, rig_page(r, HEAP, 0))->flags & PG_mlocked);
	rig_check(r);
	rig_free(r);
}

static void mlock_of_all_leaves_it_huge(void **state)
{
	struct rig *r = start();

	range(r, RS_OP_MLOCK, 0, HUGE, 1);
	assert_true(is_leaf(r));
	assert_true(rig_folio(r, rig_page(r, HEAP, 0))->flags & PG_mlocked);
	assert_int_equal(rig_vmstat(r, RS_UNEVICTABLE_PGMLOCKED), HUGE);
	rig_check(r);
	rig_free(r);
}

static void mprotect_of_a_part_protects_that_part(void **state)
{
	struct rig *r = start();

	range(r, RS_OP_MPROTECT, 8, 8, VM_READ);
	assert_true(*rig_pte(r, HEAP, 7) & RS_PTE_WRITE);
	assert_false(*rig_pte(r, HEAP, 8) & RS_PTE_WRITE);
	assert_true(*rig_pte(r, HEAP, 16) & RS_PTE_WRITE);
	rig_store(r, HEAP, 0, 8);
	rig_check(r);
	rig_free(r);
}

static void mprotect_of_all_protects_every_page(void **state)
{
	struct rig *r = start();

	range(r, RS_OP_MPROTECT, 0, HUGE, VM_READ);
	assert_false(*rig_pte(r, HEAP, 0) & RS_PTE_WRITE);
	assert_true(is_leaf(r));
	rig_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(mlock_of_a_part_ends_and_locks_what_is_there),
		cmocka_unit_test(mlock_of_all_leaves_it_huge),
		cmocka_unit_test(mprotect_of_a_part_protects_that_part),
		cmocka_unit_test(mprotect_of_all_protects_every_page),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
