/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Address spaces: split and merge, and where mmap() puts what has no address.
 */
#include "tests/lib/bare.h"

#define RW (VM_READ | VM_WRITE)
#define BASE (0x7ffff7fff000ull >> RS_PAGE_SHIFT)

static struct rs_map anon(uint64_t pages)
{
	return (struct rs_map){ .file = RS_MAP_FILE_NONE, .prot = RW, .pages = pages };
}

/* Map where mmap() would. */
static uint64_t place(struct bare *b, struct mm *mm, struct rs_map map)
{
	uint64_t at = mm_unmapped_area(&b->m, mm, &map);

	if (at)
		mm_map(&b->m, mm, at, &map, 0);
	return at;
}

static void assert_vma(const struct mm *mm, uint32_t i, uint64_t start, uint64_t end)
{
	assert_true(i < mm->pub.nr_vmas);
	assert_int_equal(mm->pub.vmas[i]->start, start);
	assert_int_equal(mm->pub.vmas[i]->end, end);
}

/* ---- split, merge, remove ---- */

static void equal_neighbours_become_one(void **state)
{
	struct bare *b = bare_new("6.12", NULL);
	struct mm *mm = mm_new(&b->m, 0);

	bare_map(b, mm, 100, 10, RW);
	bare_map(b, mm, 120, 10, RW);
	assert_int_equal(mm->pub.nr_vmas, 2);
	bare_map(b, mm, 110, 10, RW);
	assert_int_equal(mm->pub.nr_vmas, 1);
	assert_vma(mm, 0, 100, 130);
	assert_int_equal(mm->total_pages, 30);
	bare_free(b);
}

static void other_flags_keep_neighbours_apart(void **state)
{
	struct bare *b = bare_new("6.12", NULL);
	struct mm *mm = mm_new(&b->m, 0);

	bare_map(b, mm, 100, 10, RW);
	bare_map(b, mm, 110, 10, VM_READ);
	bare_map(b, mm, 120, 10, RW);
	assert_int_equal(mm->pub.nr_vmas, 3);
	bare_free(b);
}

static void file_neighbours_merge_only_where_the_file_goes_on(void **state)
{
	struct bare *b = bare_new("6.12", NULL);
	struct mm *mm = mm_new(&b->m, 0);
	struct rs_map map = { .file = 0, .prot = VM_READ, .pages = 10, .pgoff = 5 };

	machine_define_file(&b->m, 0, 100, true, NULL);
	mm_map(&b->m, mm, 100, &map, 0);
	map.pgoff = 15;
	mm_map(&b->m, mm, 110, &map, 0);
	assert_int_equal(mm->pub.nr_vmas, 1);
	map.pgoff = 26;
	mm_map(&b->m, mm, 120, &map, 0);
	assert_int_equal(mm->pub.nr_vmas, 2);
	assert_int_equal(b->m.file[0].vmas.nr, 2);
	bare_free(b);
}

static void different_families_do_not_merge_and_one_is_adopted(void **state)
{
	struct bare *b = bare_new("6.12", NULL);
	struct mm *mm = mm_new(&b->m, 0);
	struct rs_vma *vma;

	for (unsigned k = 0; k < 2; k++) {
		vma = bare_map(b, mm, 100 + k * 20, 10, RW);
		vma->object = anon_vma_new(&b->m);
		vma->has_object = true;
		vma_link_object(&b->m, vma);
	}
	/* The new one between them goes to the lower; the two families stay apart. */
	bare_map(b, mm, 110, 10, RW);
	assert_int_equal(mm->pub.nr_vmas, 2);
	assert_vma(mm, 0, 100, 120);
	assert_vma(mm, 1, 120, 130);
	/* In front of a family: the whole has it. */
	vma = bare_map(b, mm, 90, 10, RW);
	assert_vma(mm, 0, 90, 120);
	assert_true(vma->has_object);
	assert_int_equal(b->m.anon_vma[vma->object].vmas.nr, 1);
	assert_ptr_equal(b->m.anon_vma[vma->object].vmas.vma[0], vma);
	bare_free(b);
}

static void a_split_keeps_offsets_and_merges_back(void **state)
{
	struct bare *b = bare_new("6.12", NULL);
	struct mm *mm = mm_new(&b->m, 0);
	const struct rs_map map = { .file = 0, .prot = VM_READ, .pages = 30, .pgoff = 7 };

	machine_define_file(&b->m, 0, 100, true, NULL);
	mm_map(&b->m, mm, 200, &map, 0);
	mm_split(&b->m, mm, 210, 220);
	assert_int_equal(mm->pub.nr_vmas, 3);
	assert_vma(mm, 1, 210, 220);
	assert_int_equal(mm->pub.vmas[1]->pgoff, 17);
	assert_int_equal(mm->pub.vmas[2]->pgoff, 27);
	assert_int_equal(b->m.file[0].vmas.nr, 3);
	mm_merge(&b->m, mm, 210, 220);
	assert_int_equal(mm->pub.nr_vmas, 1);
	assert_vma(mm, 0, 200, 230);
	assert_int_equal(b->m.file[0].vmas.nr, 1);
	bare_free(b);
}

static void unmapping_the_middle_leaves_both_ends(void **state)
{
	struct bare *b = bare_new("6.12", NULL);
	struct mm *mm = mm_new(&b->m, 0);

	bare_map(b, mm, 100, 30, RW);
	mm_remove_vmas(&b->m, mm, 110, 120);
	assert_int_equal(mm->pub.nr_vmas, 2);
	assert_vma(mm, 0, 100, 110);
	assert_vma(mm, 1, 120, 130);
	assert_int_equal(mm->total_pages, 20);
	assert_null(mm_find_vma(mm, 110));
	assert_null(mm_find_vma(mm, 119));
	assert_non_null(mm_find_vma(mm, 109));
	assert_non_null(mm_find_vma(mm, 120));
	bare_free(b);
}

static void the_index_is_that_of_the_first_vma_that_ends_behind(void **state)
{
	struct bare *b = bare_new("6.12", NULL);
	struct mm *mm = mm_new(&b->m, 0);

	bare_map(b, mm, 100, 10, RW);
	bare_map(b, mm, 200, 10, RW);
	assert_int_equal(mm_vma_index(mm, 0), 0);
	assert_int_equal(mm_vma_index(mm, 109), 0);
	assert_int_equal(mm_vma_index(mm, 110), 1);
	assert_int_equal(mm_vma_index(mm, 210), 2);
	bare_free(b);
}

/* ---- where mmap() puts it ---- */

static void mappings_grow_down_from_the_base_and_join(void **state)
{
	struct bare *b = bare_new("6.12", NULL);
	struct mm *mm = mm_new(&b->m, 0);

	assert_int_equal(place(b, mm, anon(10)), BASE - 10);
	assert_int_equal(place(b, mm, anon(5)), BASE - 15);
	assert_int_equal(mm->pub.nr_vmas, 1);
	bare_free(b);
}

static void the_highest_hole_that_fits_is_taken(void **state)
{
	struct bare *b = bare_new("6.12", NULL);
	struct mm *mm = mm_new(&b->m, 0);

	place(b, mm, anon(100));
	mm_remove_vmas(&b->m, mm, BASE - 20, BASE - 10);
	mm_remove_vmas(&b->m, mm, BASE - 60, BASE - 40);
	assert_int_equal(place(b, mm, anon(15)), BASE - 55);
	assert_int_equal(place(b, mm, anon(10)), BASE - 20);
	assert_int_equal(place(b, mm, anon(10)), BASE - 110);
	assert_int_equal(place(b, mm, anon(5)), BASE - 60);
	bare_free(b);
}

static void what_is_mapped_above_counts_as_an_offset(void **state)
{
	struct bare *b = bare_new("6.12", SETTINGS("mm.mmap_base_offset", "1000"));
	struct mm *mm = mm_new(&b->m, 0);

	assert_int_equal(place(b, mm, anon(10)), BASE - 1010);
	bare_free(b);
}

static void a_mapping_by_hand_above_the_base_is_no_border(void **state)
{
	struct bare *b = bare_new("6.12", NULL);
	struct mm *mm = mm_new(&b->m, 0);

	bare_map(b, mm, BASE + 100, 50, RW);
	assert_int_equal(place(b, mm, anon(10)), BASE - 10);
	bare_free(b);
	b = bare_new("6.12", NULL);
	mm = mm_new(&b->m, 0);
	bare_map(b, mm, BASE - 30, 60, RW);
	assert_int_equal(place(b, mm, anon(10)), BASE - 40);
	bare_free(b);
}

static void no_room_is_no_address(void **state)
{
	struct bare *b = bare_new("6.12", NULL);
	struct mm *mm = mm_new(&b->m, 0);
	struct rs_map map = anon(BASE - 16);

	assert_int_equal(mm_unmapped_area(&b->m, mm, &map), 16);
	map.pages++;
	assert_int_equal(mm_unmapped_area(&b->m, mm, &map), 0);
	bare_free(b);
}

/* Since 6.7, and only for multiples of 2 MiB. */
static void anonymous_multiples_of_2_mib_are_aligned_by_new_kernels(void **state)
{
	for (unsigned k = 0; k < 2; k++) {
		struct bare *b = bare_new(k ? "6.12" : "6.1", NULL);
		struct mm *mm = mm_new(&b->m, 0);
		uint64_t at;

		place(b, mm, anon(3));
		at = place(b, mm, anon(1024));
		if (k) {
			assert_int_equal(at % 512, 0);
			assert_true(at + 1024 <= BASE - 3 && at + 1024 + 512 > BASE - 3);
		} else {
			assert_int_equal(at, BASE - 3 - 1024);
		}
		/* The space left above the aligned one is used by what fits. */
		at = place(b, mm, anon(1023));
		assert_int_not_equal(at % 512, 0);
		bare_free(b);
	}
}

/* The page at each multiple of 2 MiB in the file lies at one in memory. */
static void large_file_mappings_are_aligned_to_the_file(void **state)
{
	struct bare *b = bare_new("6.1", NULL);
	struct mm *mm = mm_new(&b->m, 0);
	struct rs_map map = { .file = 0, .prot = VM_READ, .pages = 2000, .pgoff = 3 };
	uint64_t at;

	machine_define_file(&b->m, 0, 10000, true, NULL);
	at = place(b, mm, map);
	assert_int_equal((at - 3) % 512, 0);
	bare_free(b);
}

/* A file mapping that holds no whole aligned 2 MiB gains nothing: not aligned. */
static void a_file_mapping_without_a_whole_2_mib_is_not_aligned(void **state)
{
	struct bare *b = bare_new("6.1", NULL);
	struct mm *mm = mm_new(&b->m, 0);
	const struct rs_map map = { .file = 0, .prot = VM_READ, .pages = 600, .pgoff = 100 };

	machine_define_file(&b->m, 0, 10000, true, NULL);
	assert_int_equal(place(b, mm, map), BASE - 600);
	bare_free(b);
}

static void an_exactly_aligned_hole_is_used_from_its_end_by_new_kernels(void **state)
{
	for (unsigned k = 0; k < 2; k++) {
		struct bare *b = bare_new(k ? "6.12" : "6.1", NULL);
		struct mm *mm = mm_new(&b->m, 0);
		const struct rs_map map = { .file = 0, .prot = VM_READ, .pages = 512 };

		machine_define_file(&b->m, 0, 10000, true, NULL);
		/* A border at a multiple of 2 MiB: the padded hole begins at one. */
		place(b, mm, anon(BASE % 512));
		assert_int_equal(place(b, mm, map), BASE / 512 * 512 - (k ? 512 : 1024));
		bare_free(b);
	}
}

static void a_region_knows_how_many_page_tables_it_crosses(void **state)
{
	struct bare *b = bare_new("6.12", NULL);
	struct mm *mm = mm_new(&b->m, 0);
	struct region *r = mm_region(mm, 7);

	assert_false(r->mapped);
	region_set(r, 511, 2);
	assert_int_equal(r->nr_tables, 2);
	region_clear(r);
	region_set(r, 512, 512);
	assert_int_equal(r->nr_tables, 1);
	bare_free(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_neighbours_become_one),
		cmocka_unit_test(other_flags_keep_neighbours_apart),
		cmocka_unit_test(file_neighbours_merge_only_where_the_file_goes_on),
		cmocka_unit_test(different_families_do_not_merge_and_one_is_adopted),
		cmocka_unit_test(a_split_keeps_offsets_and_merges_back),
		cmocka_unit_test(unmapping_the_middle_leaves_both_ends),
		cmocka_unit_test(the_index_is_that_of_the_first_vma_that_ends_behind),
		cmocka_unit_test(mappings_grow_down_from_the_base_and_join),
		cmocka_unit_test(the_highest_hole_that_fits_is_taken),
		cmocka_unit_test(what_is_mapped_above_counts_as_an_offset),
		cmocka_unit_test(a_mapping_by_hand_above_the_base_is_no_border),
		cmocka_unit_test(no_room_is_no_address),
		cmocka_unit_test(anonymous_multiples_of_2_mib_are_aligned_by_new_kernels),
		cmocka_unit_test(large_file_mappings_are_aligned_to_the_file),
		cmocka_unit_test(a_file_mapping_without_a_whole_2_mib_is_not_aligned),
		cmocka_unit_test(an_exactly_aligned_hole_is_used_from_its_end_by_new_kernels),
		cmocka_unit_test(a_region_knows_how_many_page_tables_it_crosses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
