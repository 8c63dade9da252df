/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From a folio to the VMAs that may map it, and the address it would have there.
 */
#include "tests/lib/bare.h"

#define RW (VM_READ | VM_WRITE)

static void a_family_is_all_vmas_that_joined_it(void **state)
{
	struct bare *b = bare_new("6.12", NULL);
	struct mm *parent = mm_new(&b->m, 0), *child = mm_new(&b->m, 0);
	struct rs_vma *vma = bare_map(b, parent, 100, 10, RW), *copy;
	struct folio folio = { .flags = PG_anon };

	assert_null(vma_object_set(&b->m, vma));
	vma->object = folio.object = anon_vma_new(&b->m);
	vma->has_object = true;
	vma_link_object(&b->m, vma);
	copy = mm_copy_vma(&b->m, child, vma);
	assert_int_equal(folio_vma_set(&b->m, &folio)->nr, 2);
	assert_ptr_equal(folio_vma_set(&b->m, &folio)->vma[0], vma);
	assert_ptr_equal(folio_vma_set(&b->m, &folio)->vma[1], copy);
	mm_remove_vmas(&b->m, parent, 100, 110);
	assert_int_equal(folio_vma_set(&b->m, &folio)->nr, 1);
	bare_free(b);
}

static void the_number_of_a_family_without_vmas_is_used_again(void **state)
{
	struct bare *b = bare_new("6.12", NULL);
	struct mm *mm = mm_new(&b->m, 0);
	struct rs_vma *vma = bare_map(b, mm, 100, 10, RW);
	uint32_t id = anon_vma_new(&b->m);

	assert_int_not_equal(id, 0);
	vma->object = id;
	vma->has_object = true;
	vma_link_object(&b->m, vma);
	assert_int_not_equal(anon_vma_new(&b->m), id);
	mm_remove_vmas(&b->m, mm, 100, 110);
	assert_false(b->m.anon_vma[id].used);
	assert_int_equal(anon_vma_new(&b->m), id);
	bare_free(b);
}

static void a_private_file_vma_is_in_its_files_set_and_its_family(void **state)
{
	struct bare *b = bare_new("6.12", NULL);
	struct mm *mm = mm_new(&b->m, 0);
	const struct rs_map map = { .file = 3, .prot = RW, .pages = 10 };
	struct rs_vma *vma;
	uint32_t family;

	machine_define_file(&b->m, 3, 100, true, NULL);
	vma = mm_map(&b->m, mm, 100, &map, 0);
	family = vma->cow_anon_vma = anon_vma_new(&b->m);
	vma_set_add(&b->m.anon_vma[family].vmas, vma);
	mm_split(&b->m, mm, 104, 110);
	assert_int_equal(b->m.file[3].vmas.nr, 2);
	assert_int_equal(b->m.anon_vma[family].vmas.nr, 2);
	mm_remove_vmas(&b->m, mm, 100, 110);
	assert_int_equal(b->m.file[3].vmas.nr, 0);
	assert_false(b->m.anon_vma[family].used);
	bare_free(b);
}

static void a_page_has_the_address_of_its_offset(void **state)
{
	const struct rs_vma vma = { .start = 1000, .end = 1010, .pgoff = 50 };
	struct folio f = { .index = 50 };

	assert_int_equal(vma_address(&vma, &f), 1000);
	f.index = 59;
	assert_int_equal(vma_address(&vma, &f), 1009);
	f.index = 60;
	assert_true(vma_address(&vma, &f) == UINT64_MAX);
	f.index = 49;
	assert_true(vma_address(&vma, &f) == UINT64_MAX);
}

/* Anonymous offsets are addresses of 36 bits, a folio keeps 32 of them. */
static void offsets_are_compared_in_32_bits(void **state)
{
	const struct rs_vma vma = { .start = 0x7fffffff0ull,
				    .end = 0x800000010ull,
				    .pgoff = 0x7fffffff0ull };
	struct folio f = { .index = (uint32_t)0x800000005ull };

	assert_true(vma_address(&vma, &f) == 0x800000005ull);
}

static void a_large_folio_that_begins_in_front_starts_with_the_vma(void **state)
{
	const struct rs_vma vma = { .start = 1000, .end = 1600, .pgoff = 100 };
	struct folio f = { .index = 0, .order = 9, .flags = PG_head };

	assert_int_equal(vma_address(&vma, &f), 1000);
	f.order = 6; /* pages 0 to 63 */
	assert_true(vma_address(&vma, &f) == UINT64_MAX);
	f.order = 7; /* 0 to 127 */
	assert_int_equal(vma_address(&vma, &f), 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_family_is_all_vmas_that_joined_it),
		cmocka_unit_test(the_number_of_a_family_without_vmas_is_used_again),
		cmocka_unit_test(a_private_file_vma_is_in_its_files_set_and_its_family),
		cmocka_unit_test(a_page_has_the_address_of_its_offset),
		cmocka_unit_test(offsets_are_compared_in_32_bits),
		cmocka_unit_test(a_large_folio_that_begins_in_front_starts_with_the_vma),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
