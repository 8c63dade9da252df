/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Files: pages and shadows in place, growth, open files; shadow entries.
 */
#include "tests/lib/bare.h"

static void a_slot_holds_nothing_a_page_or_a_shadow(void **state)
{
	struct bare *b = bare_new("6.12", NULL);
	const struct rs_shadow s = { .token = 77, .memcg = 3 };
	struct file *f;

	machine_define_file(&b->m, 0, 2000, true, NULL);
	f = &b->m.file[0];
	assert_int_equal(file_slot(f, 1999), 0);
	file_set_slot(f, 1999, (uint64_t)42 << 1);
	assert_int_equal(file_page(f, 1999), 42);
	assert_int_equal(file_page(f, 1998), RS_PFN_NONE);
	file_set_slot(f, 1999, shadow_pack(&s));
	assert_int_equal(file_page(f, 1999), RS_PFN_NONE);
	assert_true(SLOT_IS_SHADOW(file_slot(f, 1999)));
	/* Behind the end there is nothing, and asking is allowed. */
	assert_int_equal(file_slot(f, 2000000), 0);
	bare_free(b);
}

static void only_touched_chunks_exist(void **state)
{
	struct bare *b = bare_new("6.12", NULL);
	struct file *f;

	machine_define_file(&b->m, 0, 10 * CACHE_CHUNK, true, NULL);
	f = &b->m.file[0];
	file_set_slot(f, 5 * CACHE_CHUNK, 0);
	assert_null(f->chunk[5]);
	file_set_slot(f, 5 * CACHE_CHUNK, 84);
	assert_non_null(f->chunk[5]);
	assert_null(f->chunk[4]);
	bare_free(b);
}

static void a_file_grows_and_keeps_what_it_has(void **state)
{
	struct bare *b = bare_new("6.12", NULL);
	struct file *f;

	machine_define_file(&b->m, 0, 1, true, NULL);
	f = &b->m.file[0];
	file_set_slot(f, 0, 84);
	file_grow(f, 5000);
	assert_int_equal(f->pages, 5000);
	assert_int_equal(file_page(f, 0), 42);
	file_set_slot(f, 4999, 20);
	file_grow(f, 10);
	assert_int_equal(f->pages, 5000);
	/* What was written is not on disk before it is written back. */
	assert_int_equal(f->disk_pages, 1);
	bare_free(b);
}

static void a_file_defined_again_keeps_the_larger_size(void **state)
{
	struct bare *b = bare_new("6.12", NULL);

	machine_define_file(&b->m, 5, 100, true, NULL);
	machine_define_file(&b->m, 5, 50, true, NULL);
	assert_int_equal(b->m.file[5].pages, 100);
	machine_define_file(&b->m, 5, 200, false, NULL);
	assert_int_equal(b->m.file[5].pages, 200);
	assert_int_equal(b->m.file[5].disk_pages, 100);
	assert_false(b->m.file[4].defined);
	bare_free(b);
}

static void files_out_of_range_are_refused(void **state)
{
	struct bare *b = bare_new("6.12", NULL);
	GError *error = NULL;

	assert_false(machine_define_file(&b->m, 1u << 24, 1, true, &error));
	assert_error(&error, "at most 16 M files");
	assert_false(machine_define_file(&b->m, 0, 1ull << 32, true, &error));
	assert_error(&error, "of 4294967296 pages");
	bare_free(b);
}

static void a_new_open_file_has_read_nothing(void **state)
{
	struct bare *b = bare_new("6.12", NULL);

	machine_define_file(&b->m, 0, 10, true, NULL);
	assert_int_equal(b->m.file[0].nr_open, 1);
	assert_true(file_handle(&b->m.file[0], 3)->ra.prev_index == UINT64_MAX);
	assert_int_equal(b->m.file[0].nr_open, 4);
	file_handle(&b->m.file[0], 2)->ra.prev_index = 9;
	assert_int_equal(file_handle(&b->m.file[0], 2)->ra.prev_index, 9);
	bare_free(b);
}

static void a_shadow_comes_back_as_it_was_packed(void **state)
{
	const uint64_t most = (1ull << RS_SHADOW_TOKEN_BITS) - 1;
	const struct rs_shadow in = {
		.token = most - 5, .memcg = 0xfffe, .nid = 7, .workingset = true
	};
	struct rs_shadow out = shadow_unpack(shadow_pack(&in));

	assert_true(out.token == in.token);
	assert_int_equal(out.memcg, in.memcg);
	assert_int_equal(out.nid, in.nid);
	assert_true(out.workingset);
	/* The clock wraps; a shadow of nothing is still no empty slot. */
	out = shadow_unpack(shadow_pack(&(struct rs_shadow){ .token = most + 3 }));
	assert_int_equal(out.token, 2);
	assert_int_not_equal(shadow_pack(&(struct rs_shadow){ 0 }), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_slot_holds_nothing_a_page_or_a_shadow),
		cmocka_unit_test(only_touched_chunks_exist),
		cmocka_unit_test(a_file_grows_and_keeps_what_it_has),
		cmocka_unit_test(a_file_defined_again_keeps_the_larger_size),
		cmocka_unit_test(files_out_of_range_are_refused),
		cmocka_unit_test(a_new_open_file_has_read_nothing),
		cmocka_unit_test(a_shadow_comes_back_as_it_was_packed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
