/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * test_open_files.c - read-ahead state and hints belong to an open file, not to the file.
 */
#include "tests/lib/cm.h"
#include "tests/lib/rig.h"

enum { DATA };
enum { FIRST, SECOND };
#define PAGES 4096u

static struct rig *start(const char *kernel)
{
	static const char *const settings[] = { "memory.max",	 "20000p", "swap",
						"null",		 "disk",   "null",
						"read_ahead_kb", "128",	   "fault_around_bytes",
						"4096",		 NULL };
	struct rig *r = rig_new(kernel, "classic", settings);

	rig_file(r, DATA, PAGES);
	return r;
}

static void read_one(struct rig *r, uint16_t handle, uint32_t page)
{
	rig_record(
		r,
		(struct rs_record){
			.op = RS_OP_READ, .arg = handle, .object = DATA, .page = page, .count = 1 },
		NULL);
}

static void advise(struct rig *r, uint16_t handle, enum rs_advice advice)
{
	rig_record(r,
		   (struct rs_record){ .op = RS_OP_FADVISE,
				       .object = DATA,
				       .arg = RS_FADVISE_ARG(advice, handle) },
		   NULL);
}

static void map_open(struct rig *r, uint32_t region, uint16_t handle)
{
	const struct rs_map map = { .file = DATA, .prot = VM_READ | VM_SHARED, .pages = PAGES };

	rig_record(r, (struct rs_record){ .op = RS_OP_MMAP, .arg = handle, .object = region },
		   &map);
}

static unsigned cached(struct rig *r, uint32_t from, uint32_t to)
{
	unsigned n = 0;

	for (uint32_t page = from; page < to; page++)
		n += rig_file_page(r, DATA, page) != RS_PFN_NONE;
	return n;
}

static void advice_holds_for_its_open_file_only(void **state)
{
	struct rig *r = start("6.12");

	advise(r, 1, RS_ADV_RANDOM);
	/* The start of a file begins a window, unless it was advised RANDOM. */
	read_one(r, 1, 0);
	assert_int_equal(cached(r, 0, PAGES), 1);
	advise(r, 1, RS_ADV_DONTNEED);
	assert_int_equal(cached(r, 0, PAGES), 0);
	read_one(r, 2, 0);
	assert_int_equal(cached(r, 0, PAGES), 4);
	rig_free(r);
}

static void two_readers_of_one_file_are_sequential_each(void **state)
{
	struct rig *r = start("6.12");

	/* Taken turns with, a single state would see jumps. */
	for (uint32_t i = 0; i < 64; i++) {
		read_one(r, 1, i);
		read_one(r, 2, 2048 + i);
	}
	assert_true(cached(r, 64, 128) >= 16);
	assert_true(cached(r, 2048 + 64, 2048 + 128) >= 16);
	rig_free(r);
}

static void an_open_file_that_begins_anew_has_no_hint(void **state)
{
	struct rig *r = start("6.12");

	advise(r, 1, RS_ADV_RANDOM);
	rig_record(r, (struct rs_record){ .op = RS_OP_OPEN, .arg = 1, .object = DATA }, NULL);
	read_one(r, 1, 0);
	assert_int_equal(cached(r, 0, PAGES), 4);
	rig_free(r);
}

/* After 100 misses read-around is given up, by that open file. Kernel: MMAP_LOTSAMISS. */
static void mappings_count_misses_by_open_file(void **state)
{
	struct rig *r = start("6.12");

	map_open(r, FIRST, 1);
	map_open(r, SECOND, 2);
	for (uint32_t i = 0; i < 101; i++)
		rig_load(r, FIRST, 40 * i % PAGES, 1);
	advise(r, 0, RS_ADV_DONTNEED); /* mapped pages stay */
	rig_load(r, FIRST, 4090, 1);
	assert_int_equal(cached(r, 4080, PAGES), 1);
	rig_load(r, SECOND, 4093, 1);
	assert_true(cached(r, 4080, PAGES) > 10);
	rig_free(r);
}

static void noreuse_is_known_to_mappings_of_that_open_file(void **state)
{
	struct rig *r = start("6.12"), *old = start("6.1");

	map_open(r, FIRST, 1);
	map_open(r, SECOND, 2);
	map_open(old, FIRST, 1);
	advise(r, 1, RS_ADV_NOREUSE);
	advise(old, 1, RS_ADV_NOREUSE);
	assert_false(rs_vma_has_recency(r->ctx, rig_mm(r)->vmas[0]) &&
		     rs_vma_has_recency(r->ctx, rig_mm(r)->vmas[1]));
	assert_true(rs_vma_has_recency(r->ctx, rig_mm(r)->vmas[0]) ||
		    rs_vma_has_recency(r->ctx, rig_mm(r)->vmas[1]));
	assert_true(rs_vma_has_recency(old->ctx, rig_mm(old)->vmas[0]));
	rig_free(r);
	rig_free(old);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(advice_holds_for_its_open_file_only),
		cmocka_unit_test(two_readers_of_one_file_are_sequential_each),
		cmocka_unit_test(an_open_file_that_begins_anew_has_no_hint),
		cmocka_unit_test(mappings_count_misses_by_open_file),
		cmocka_unit_test(noreuse_is_known_to_mappings_of_that_open_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
