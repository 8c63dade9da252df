/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Page tables: found by address, counted, freed when nothing is mapped near them, used again.
 */
#include "tests/lib/bare.h"

#define RW (VM_READ | VM_WRITE)

static void a_table_serves_its_2_mib(void **state)
{
	struct bare *b = bare_new("6.12", NULL);
	struct mm *mm = mm_new(&b->m, 0);
	uint32_t t;

	assert_int_equal(mm_table(&b->m, mm, 1000), 0);
	assert_null(mm_pte(&b->m, mm, 1000));
	t = mm_table_alloc(&b->m, mm, 1000);
	assert_int_not_equal(t, 0);
	assert_int_equal(mm_table_alloc(&b->m, mm, 1023), t);
	assert_int_equal(mm_table(&b->m, mm, 512), t);
	assert_int_equal(mm_table(&b->m, mm, 511), 0);
	assert_int_equal(mm_table(&b->m, mm, 1024), 0);
	assert_int_equal(b->m.table[t].vpn, 512);
	assert_int_equal(b->m.table[t].mm, mm->pub.id);
	assert_ptr_equal(mm_pte(&b->m, mm, 515), table_ptes(&b->m, t) + 3);
	bare_free(b);
}

static void address_spaces_do_not_share_tables(void **state)
{
	struct bare *b = bare_new("6.12", NULL);
	struct mm *one = mm_new(&b->m, 0), *two = mm_new(&b->m, 0);

	assert_int_not_equal(mm_table_alloc(&b->m, one, 0), mm_table_alloc(&b->m, two, 0));
	bare_free(b);
}

static void tables_are_found_whatever_order_they_came_in(void **state)
{
	static const uint64_t gib[] = { 5, 1, 9, 0, 7, 3 };
	struct bare *b = bare_new("6.12", NULL);
	struct mm *mm = mm_new(&b->m, 0);
	uint32_t t[G_N_ELEMENTS(gib)];

	for (unsigned i = 0; i < G_N_ELEMENTS(gib); i++)
		t[i] = mm_table_alloc(&b->m, mm, gib[i] << 18);
	for (unsigned i = 0; i < G_N_ELEMENTS(gib); i++)
		assert_int_equal(mm_table(&b->m, mm, (gib[i] << 18) + 511), t[i]);
	assert_int_equal(mm_table(&b->m, mm, 2ull << 18), 0);
	for (unsigned i = 1; i < mm->nr_puds; i++)
		assert_true(mm->puds[i - 1]->index < mm->puds[i]->index);
	bare_free(b);
}

static void used_words_are_counted(void **state)
{
	struct bare *b = bare_new("6.12", NULL);
	struct mm *mm = mm_new(&b->m, 0);
	uint32_t t = mm_table_alloc(&b->m, mm, 0), *pte = table_ptes(&b->m, t);

	pte_set(&b->m, t, pte, make_pte(7, RS_PTE_YOUNG));
	pte_set(&b->m, t, pte + 1, make_swap_pte(9));
	assert_int_equal(b->m.table[t].nr_used, 2);
	pte_set(&b->m, t, pte, make_swap_pte(3));
	assert_int_equal(b->m.table[t].nr_used, 2);
	pte_set(&b->m, t, pte, 0);
	pte_set(&b->m, t, pte, 0);
	pte_set(&b->m, t, pte + 1, 0);
	assert_int_equal(b->m.table[t].nr_used, 0);
	bare_free(b);
}

static void the_largest_slot_and_frame_fit_into_a_word(void **state)
{
	const uint32_t most = (1u << 27) - 1;

	assert_true(pte_is_swap(make_swap_pte(most)));
	assert_int_equal(pte_slot(make_swap_pte(most)), most);
	assert_int_equal(pte_slot(make_swap_pte(most) | PTE_SWP_EXCLUSIVE), most);
	assert_false(pte_is_swap(make_pte(most, RS_PTE_YOUNG | RS_PTE_DIRTY | RS_PTE_WRITE)));
	assert_int_equal(rs_pte_pfn(make_pte(most, 0)), most);
	assert_false(pte_is_swap(0));
}

static void a_table_goes_when_no_vma_is_left_in_its_2_mib(void **state)
{
	struct bare *b = bare_new("6.12", NULL);
	struct mm *mm = mm_new(&b->m, 0);
	uint32_t t, again;

	bare_map(b, mm, 512, 10, RW);
	bare_map(b, mm, 600, 10, VM_READ);
	region_set(mm_region(mm, 0), 512, 10);
	t = mm_table_alloc(&b->m, mm, 512);
	mm->regions[0].table[0] = t;
	mm_remove_vmas(&b->m, mm, 512, 522);
	mm_free_tables(&b->m, mm, 512, 522);
	assert_int_equal(mm_table(&b->m, mm, 512), t);
	assert_int_equal(mm->regions[0].table[0], t);
	mm_remove_vmas(&b->m, mm, 600, 610);
	mm_free_tables(&b->m, mm, 600, 610);
	assert_int_equal(mm_table(&b->m, mm, 512), 0);
	/* Whoever remembered it forgets it: the number is used again. */
	assert_int_equal(mm->regions[0].table[0], 0);
	again = mm_table_alloc(&b->m, mm, 1ull << 20);
	assert_int_equal(again, t);
	assert_int_equal(b->m.table[again].vpn, 1ull << 20);
	bare_free(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_table_serves_its_2_mib),
		cmocka_unit_test(address_spaces_do_not_share_tables),
		cmocka_unit_test(tables_are_found_whatever_order_they_came_in),
		cmocka_unit_test(used_words_are_counted),
		cmocka_unit_test(the_largest_slot_and_frame_fit_into_a_word),
		cmocka_unit_test(a_table_goes_when_no_vma_is_left_in_its_2_mib),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
