/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Windows of file read-ahead, 32 pages at most, by read() and by faults; 6.1 and 6.12 side by side.
 */
#include "tests/lib/cm.h"
#include "tests/lib/rig.h"

enum { REGION };
enum { DATA };
#define NO_MARKER UINT32_MAX

static struct rig *start(const char *kernel)
{
	static const char *const ra[] = { "read_ahead_kb", "128", NULL };
	struct rig *r = rig_new(kernel, "classic", ra);

	rig_file(r, DATA, 4000);
	return r;
}

/* Of [0, 4000) exactly [from, to) is cached besides what was before; marker has the flag. */
static void assert_window(const struct rig *r, uint32_t from, uint32_t to, uint32_t marker)
{
	for (uint32_t page = from; page < to; page++)
		if (!rig_file_page(r, DATA, page))
			fail_msg("page %u of [%u, %u) is not cached", page, from, to);
	if (rig_file_page(r, DATA, to))
		fail_msg("page %u is cached, behind [%u, %u)", to, from, to);
	for (uint32_t page = from; page < to; page++)
		if (!!(rig_folio(r, rig_file_page(r, DATA, page))->flags & PG_readahead) !=
		    (page == marker))
			fail_msg("page %u: marker expected at %u", page, marker);
}

static const char *const kernels[] = { "6.1", "6.12" };
#define FOR_KERNELS(k) for (const char *const *k = kernels; k < kernels + 2; k++)

/* 4, then 8, 16, 32, 32: each when the marker, its first page, is reached. */
static void a_sequence_of_single_pages_doubles_its_window(void **state)
{
	FOR_KERNELS(k)
	{
		struct rig *r = start(*k);

		rig_read(r, DATA, 0, 1);
		assert_window(r, 0, 4, 1);
		rig_read(r, DATA, 1, 1);
		assert_window(r, 1, 12, 4);
		rig_read(r, DATA, 2, 2);
		assert_window(r, 2, 12, 4);
		rig_read(r, DATA, 4, 1);
		assert_window(r, 4, 28, 12);
		rig_read(r, DATA, 5, 8);
		assert_window(r, 12, 60, 28);
		rig_read(r, DATA, 13, 16);
		assert_window(r, 28, 92, 60);
		rig_free(r);
	}
}

/* The first window by the size of the request: 4n up to max/32, 2n up to max/4, else max. */
static void the_first_window_follows_the_request(void **state)
{
	static const struct {
		uint32_t req, size, marker;
	} row[] = { { 1, 4, 1 },  { 2, 4, 2 },	{ 3, 8, 3 },  { 4, 8, 4 },
		    { 5, 16, 5 }, { 8, 16, 8 }, { 9, 32, 9 }, { 16, 32, 16 } };

	FOR_KERNELS(k)
	{
		for (unsigned i = 0; i < G_N_ELEMENTS(row); i++) {
			struct rig *r = start(*k);
			struct open_file *of;

			rig_map_anon(r, REGION, 1);
			rig_enter(r);
			of = file_handle(&r->ctx->m.file[DATA], 0);
			page_cache_sync_ra(r->ctx, DATA, of, 0, row[i].req);
			rig_leave(r);
			assert_window(r, 0, row[i].size, row[i].marker);
			rig_free(r);
		}
	}
}

static void a_whole_window_at_once_marks_its_half(void **state)
{
	FOR_KERNELS(k)
	{
		struct rig *r = start(*k);

		rig_map_anon(r, REGION, 1);
		rig_enter(r);
		page_cache_sync_ra(r->ctx, DATA, file_handle(&r->ctx->m.file[DATA], 0), 0, 32);
		rig_leave(r);
		assert_window(r, 0, 32, 16);
		rig_free(r);
	}
}

static void a_random_page_is_read_alone_and_leaves_the_window(void **state)
{
	FOR_KERNELS(k)
	{
		struct rig *r = start(*k);
		struct file_ra before;

		rig_read(r, DATA, 0, 1);
		before = r->ctx->m.file[DATA].open[0].ra;
		rig_read(r, DATA, 1000, 1);
		assert_window(r, 1000, 1001, NO_MARKER);
		assert_int_equal(r->ctx->m.file[DATA].open[0].ra.start, before.start);
		assert_int_equal(r->ctx->m.file[DATA].open[0].ra.size, before.size);
		rig_free(r);
	}
}

/* The page behind the last read, which was random: a sequence begins. */
static void two_pages_in_a_row_begin_a_sequence(void **state)
{
	FOR_KERNELS(k)
	{
		struct rig *r = start(*k);

		rig_read(r, DATA, 1000, 1);
		rig_read(r, DATA, 1001, 1);
		assert_window(r, 1001, 1005, 1002);
		rig_free(r);
	}
}

/* Another open file without history: the run of cached pages before it speaks for it. */
static void cached_pages_in_front_count_as_history(void **state)
{
	FOR_KERNELS(k)
	{
		struct rig *r = start(*k);

		for (uint32_t page = 500; page < 506; page++)
			rig_record(r,
				   (struct rs_record){ .op = RS_OP_READ,
						       .object = DATA,
						       .arg = 10 + page,
						       .page = page,
						       .count = 1 },
				   NULL);
		/* 500 alone; 501: one page in front is not more than asked for; 502: two are. */
		assert_non_null(GUINT_TO_POINTER(rig_file_page(r, DATA, 502)));
		assert_int_equal(file_handle(&r->ctx->m.file[DATA], 511)->ra.size, 0);
		assert_int_equal(file_handle(&r->ctx->m.file[DATA], 512)->ra.start, 502);
		assert_int_equal(file_handle(&r->ctx->m.file[DATA], 512)->ra.size, 3);
		assert_int_equal(file_handle(&r->ctx->m.file[DATA], 512)->ra.async_size, 1);
		rig_free(r);
	}
}

static void the_window_ends_with_the_file(void **state)
{
	FOR_KERNELS(k)
	{
		struct rig *r = start(*k);

		rig_read(r, DATA, 3990, 1);
		rig_read(r, DATA, 3991, 5);
		for (uint32_t page = 3990; page < 4000; page++)
			assert_int_not_equal(rig_file_page(r, DATA, page), RS_PFN_NONE);
		rig_check(r);
		rig_free(r);
	}
}

static void a_random_file_reads_what_is_asked_for(void **state)
{
	FOR_KERNELS(k)
	{
		struct rig *r = start(*k);

		rig_record(r,
			   (struct rs_record){
				   .op = RS_OP_FADVISE, .object = DATA, .arg = RS_ADV_RANDOM },
			   NULL);
		rig_read(r, DATA, 0, 3);
		assert_window(r, 0, 3, NO_MARKER);
		rig_free(r);
	}
}

static void a_sequential_file_doubles_the_window(void **state)
{
	FOR_KERNELS(k)
	{
		struct rig *r = start(*k);

		rig_record(r,
			   (struct rs_record){
				   .op = RS_OP_FADVISE, .object = DATA, .arg = RS_ADV_SEQUENTIAL },
			   NULL);
		rig_map_anon(r, REGION, 1);
		rig_enter(r);
		page_cache_sync_ra(r->ctx, DATA, file_handle(&r->ctx->m.file[DATA], 0), 0, 32);
		rig_leave(r);
		assert_window(r, 0, 64, 32);
		rig_free(r);
	}
}

static void without_read_ahead_a_read_reads_page_by_page(void **state)
{
	struct rig *r = rig_new("6.12", "classic", NULL);

	rig_file(r, DATA, 100);
	rig_read(r, DATA, 0, 3);
	assert_window(r, 0, 3, NO_MARKER);
	assert_int_equal(r->ctx->disk_dev.nr_reads, 3);
	rig_free(r);
}

/* ---- faults ---- */

/* 32 pages around the fault, from 16 in front; a quarter of them is the marked tail. */
static void a_fault_reads_around(void **state)
{
	FOR_KERNELS(k)
	{
		struct rig *r = start(*k);

		rig_map_file(r, REGION, DATA, 4000, VM_READ);
		rig_load(r, REGION, 1000, 1);
		assert_window(r, 984, 1016, 1008);
		assert_int_equal(rig_file_page(r, DATA, 983), RS_PFN_NONE);
		assert_int_equal(rig_vmstat(r, RS_PGMAJFAULT), 1);
		rig_free(r);
	}
}

static void near_the_start_it_reads_from_the_start(void **state)
{
	FOR_KERNELS(k)
	{
		struct rig *r = start(*k);

		rig_map_file(r, REGION, DATA, 4000, VM_READ);
		rig_load(r, REGION, 5, 1);
		assert_window(r, 0, 32, 24);
		rig_free(r);
	}
}

static void after_a_hundred_misses_it_reads_single_pages(void **state)
{
	FOR_KERNELS(k)
	{
		struct rig *r = start(*k);
		struct file_ra *ra;

		rig_map_file(r, REGION, DATA, 4000, VM_READ);
		ra = &r->ctx->m.file[DATA].open[0].ra;
		ra->mmap_miss = 101;
		rig_load(r, REGION, 2000, 1);
		assert_window(r, 2000, 2001, NO_MARKER);
		/* A miss counts up, the second look at the page that is there counts down again. */
		assert_in_range(ra->mmap_miss, 101, 102);
		ra->mmap_miss = 98;
		rig_load(r, REGION, 3000, 1);
		assert_window(r, 2984, 3016, 3008);
		rig_free(r);
	}
}

static void a_random_mapping_reads_single_pages(void **state)
{
	FOR_KERNELS(k)
	{
		struct rig *r = start(*k);

		rig_map_file(r, REGION, DATA, 4000, VM_READ);
		rig_madvise(r, REGION, RS_ADV_RANDOM, 0, 4000);
		rig_load(r, REGION, 1000, 1);
		assert_window(r, 1000, 1001, NO_MARKER);
		rig_free(r);
	}
}

static void a_sequential_mapping_reads_forward(void **state)
{
	FOR_KERNELS(k)
	{
		struct rig *r = start(*k);

		rig_map_file(r, REGION, DATA, 4000, VM_READ);
		rig_madvise(r, REGION, RS_ADV_SEQUENTIAL, 0, 4000);
		rig_load(r, REGION, 0, 1);
		assert_window(r, 0, 32, 16);
		rig_free(r);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_sequence_of_single_pages_doubles_its_window),
		cmocka_unit_test(the_first_window_follows_the_request),
		cmocka_unit_test(a_whole_window_at_once_marks_its_half),
		cmocka_unit_test(a_random_page_is_read_alone_and_leaves_the_window),
		cmocka_unit_test(two_pages_in_a_row_begin_a_sequence),
		cmocka_unit_test(cached_pages_in_front_count_as_history),
		cmocka_unit_test(the_window_ends_with_the_file),
		cmocka_unit_test(a_random_file_reads_what_is_asked_for),
		cmocka_unit_test(a_sequential_file_doubles_the_window),
		cmocka_unit_test(without_read_ahead_a_read_reads_page_by_page),
		cmocka_unit_test(a_fault_reads_around),
		cmocka_unit_test(near_the_start_it_reads_from_the_start),
		cmocka_unit_test(after_a_hundred_misses_it_reads_single_pages),
		cmocka_unit_test(a_random_mapping_reads_single_pages),
		cmocka_unit_test(a_sequential_mapping_reads_forward),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
