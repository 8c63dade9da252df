/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Dirty file pages: thresholds, the flusher's reasons, fsync, writers that wait.
 */
#include "tests/lib/cm.h"
#include "tests/lib/rig.h"

enum { DATA, OTHER };

/* One zone with 500 as its high mark. */
static struct rig *start_with(const char *disk, const char *bandwidth)
{
	const char *settings[] = {
		"memory.max",
		"max",
		"disk",
		disk,
		"node0.zone.DMA32.managed",
		"10000",
		"node0.zone.DMA32.min",
		"100",
		"node0.zone.DMA32.low",
		"200",
		"node0.zone.DMA32.high",
		"500",
		bandwidth ? "disk.bandwidth" : NULL,
		bandwidth,
		NULL,
	};
	struct rig *r = rig_new("6.12", "classic", settings);

	rig_file(r, DATA, 8000);
	rig_file(r, OTHER, 8000);
	return r;
}

static struct rig *start(const char *disk)
{
	return start_with(disk, NULL);
}

static void let_pass(struct rig *r, ns_t ns)
{
	rig_record(r, (struct rs_record){ .op = RS_OP_SLEEP, .value = ns }, NULL);
}

/* Free above the high mark: 9500 pages, 10 and 20 % of them; files count, anonymous memory not. */
static void thresholds_are_shares_of_dirtyable_memory(void **state)
{
	struct rig *r = start("null");
	uint64_t background, limit;

	dirty_thresholds(r->ctx, &background, &limit);
	assert_int_equal(background, 950);
	assert_int_equal(limit, 1900);
	rig_read(r, DATA, 0, 4000);
	rig_drain(r);
	dirty_thresholds(r->ctx, &background, &limit);
	assert_int_equal(limit, 1900);
	rig_map_anon(r, 0, 4000);
	rig_store(r, 0, 0, 4000);
	rig_drain(r);
	dirty_thresholds(r->ctx, &background, &limit);
	assert_int_equal(limit, 1100);
	assert_int_equal(background, 550);
	rig_free(r);
}

static void the_background_stays_below_the_limit(void **state)
{
	static const char *const settings[] = {
		"memory.max", "max", "vm.dirty_ratio", "10", "vm.dirty_background_ratio", "30", NULL
	};
	struct rig *r = rig_new("6.12", "classic", settings);
	uint64_t background, limit;

	dirty_thresholds(r->ctx, &background, &limit);
	assert_int_equal(background, limit / 2);
	rig_free(r);
}

/* What no allocation may take is not dirtyable: lowmem_reserve, and no more than there is. */
static void reserved_memory_is_not_dirtyable(void **state)
{
	static const char *const settings[] = {
		"memory.max",
		"max",
		"node0.zone.DMA.managed",
		"1000",
		"node0.zone.DMA.high",
		"30",
		"node0.zone.DMA32.managed",
		"256000",
		"node0.zone.DMA32.high",
		"6000",
		NULL,
	};
	struct rig *r = rig_new("6.12", "classic", settings);
	uint64_t background, limit;

	/* DMA keeps 256000 / 256 + 30 of its 1000: all. */
	dirty_thresholds(r->ctx, &background, &limit);
	assert_int_equal(limit, 250000 / 5);
	rig_free(r);
}

static void a_few_dirty_pages_wait_for_their_age(void **state)
{
	struct rig *r = start("null");

	rig_write(r, DATA, 0, 10);
	assert_int_equal(r->ctx->m.nr_dirty, 10);
	let_pass(r, 29000000000);
	assert_int_equal(r->ctx->m.nr_dirty, 10);
	/* 30 s old, and the flusher looks every 5 s. */
	let_pass(r, 7000000000);
	assert_int_equal(r->ctx->m.nr_dirty, 0);
	assert_int_equal(rig_vmstat(r, RS_NR_WRITTEN), 10);
	assert_int_equal(rig_vmstat(r, RS_PGPGOUT), 40);
	rig_free(r);
}

static void above_the_background_they_do_not_wait(void **state)
{
	struct rig *r = start("null");

	rig_write(r, DATA, 0, 940);
	let_pass(r, 1000000);
	assert_int_equal(r->ctx->m.nr_dirty, 940);
	rig_write(r, DATA, 940, 60);
	let_pass(r, 10000000);
	assert_in_range(r->ctx->m.nr_dirty, 0, 60);
	rig_check(r);
	rig_free(r);
}

/* The timer is set by the first dirty page and not run down at once; there is one, not one a page.
 */
static void the_flusher_sleeps_a_period_from_the_first_dirty_page_on(void **state)
{
	static const char *const settings[] = {
		"memory.max", "max", "disk", "null", "vm.dirty_background_ratio", "0", NULL
	};
	struct rig *r = rig_new("6.1", "classic", settings);

	rig_file(r, DATA, 100);
	let_pass(r, 3000000000);
	rig_write(r, DATA, 0, 1);
	let_pass(r, 4900000000);
	assert_int_equal(r->ctx->m.nr_dirty, 1);
	rig_write(r, DATA, 1, 1);
	let_pass(r, 200000000);
	assert_int_equal(r->ctx->m.nr_dirty, 0);
	assert_int_equal(rig_vmstat(r, RS_NR_WRITTEN), 2);
	rig_free(r);
}

static void fsync_writes_one_file_and_waits_for_it(void **state)
{
	struct rig *r = start("ssd");
	ns_t before;

	rig_write(r, DATA, 0, 20);
	rig_write(r, OTHER, 0, 30);
	before = rig_task(r)->now;
	rig_record(r, (struct rs_record){ .op = RS_OP_FSYNC, .object = DATA }, NULL);
	assert_int_equal(r->ctx->m.file[DATA].nr_dirty, 0);
	assert_int_equal(r->ctx->m.file[OTHER].nr_dirty, 30);
	assert_int_equal(r->ctx->m.nr_writeback, 0);
	assert_int_equal(r->ctx->disk_dev.bytes_written, 20 * 4096);
	/* Neighbours go in one request. */
	assert_int_equal(r->ctx->disk_dev.nr_writes, 1);
	assert_true(rig_task(r)->now - before >= r->ctx->disk_dev.write_ns);
	rig_free(r);
}

static void pages_that_are_no_neighbours_are_requests_of_their_own(void **state)
{
	struct rig *r = start("null");

	rig_write(r, DATA, 0, 2);
	rig_write(r, DATA, 3, 1);
	rig_write(r, DATA, 600, 1);
	rig_record(r, (struct rs_record){ .op = RS_OP_FSYNC, .object = DATA }, NULL);
	assert_int_equal(r->ctx->disk_dev.nr_writes, 3);
	rig_free(r);
}

static void written_pages_are_on_disk_and_are_read_from_there(void **state)
{
	struct rig *r = start("null");

	rig_record(r, (struct rs_record){ .op = RS_OP_FILE, .object = 2, .value = 10, .arg = 1 },
		   NULL);
	rig_write(r, 2, 0, 10);
	assert_int_equal(r->ctx->m.file[2].disk_pages, 0);
	rig_record(r, (struct rs_record){ .op = RS_OP_FSYNC, .object = 2 }, NULL);
	assert_int_equal(r->ctx->m.file[2].disk_pages, 10);
	rig_free(r);
}

/* A mapped page that is written becomes clean and write-protected: the next store is a fault. */
static void writing_protects_mapped_pages(void **state)
{
	struct rig *r = start("null");
	uint64_t faults;

	rig_map_file(r, 0, DATA, 8, VM_READ | VM_WRITE | VM_SHARED);
	rig_store(r, 0, 0, 1);
	assert_int_equal(r->ctx->m.nr_dirty, 1);
	rig_record(r, (struct rs_record){ .op = RS_OP_FSYNC, .object = DATA }, NULL);
	assert_int_equal(r->ctx->m.nr_dirty, 0);
	assert_false(*rig_pte(r, 0, 0) & (RS_PTE_WRITE | RS_PTE_DIRTY));
	faults = rig_vmstat(r, RS_PGFAULT);
	rig_store(r, 0, 0, 1);
	assert_int_equal(rig_vmstat(r, RS_PGFAULT), faults + 1);
	assert_int_equal(r->ctx->m.nr_dirty, 1);
	rig_check(r);
	rig_free(r);
}

/* A disk of 1 MB/s cannot follow: the writer is held back, and dirty memory near the limit. */
static void a_writer_waits_for_a_slow_disk(void **state)
{
	struct rig *r = start_with("hdd", "1000000");

	rig_write(r, DATA, 0, 4000);
	assert_true(rig_task(r)->wait_ns[WAIT_DIRTY] > 1000000000);
	assert_in_range(r->ctx->m.nr_dirty + r->ctx->m.nr_writeback, 1000, 2000);
	rig_free(r);
}

/* 1 at the setpoint, 0 at the limit, nearly 2 as far below; in between the third power. */
static void the_position_decides_about_the_rate(void **state)
{
	assert_int_equal(dirty_pos_polynom(1000, 1000, 2000), 1024);
	assert_int_equal(dirty_pos_polynom(1000, 2001, 2001), 0);
	assert_int_equal(dirty_pos_polynom(1000, 0, 2000), 1024 + 1018);
	/* x = 500 * 1024 / 1001 = 511: 1024 - 511^3 / 2^20, rounded down each time. */
	assert_int_equal(dirty_pos_polynom(1000, 1500, 2000), 1024 - 128);
	assert_int_equal(dirty_pos_polynom(1000, 500, 2000), 1024 + 127);
}

/*
 * A disk of 4 MiB/s, 1024 pages: a writer comes down from the 100 MiB/s it is thought to have at
 * first to what the disk takes, and dirty memory stays below the limit.
 */
static void a_writer_is_held_to_the_rate_of_the_disk(void **state)
{
	static const char *const settings[] = {
		"memory.max",
		"max",
		"disk",
		"ssd",
		"disk.bandwidth",
		"4M",
		"node0.zone.DMA32.managed",
		"20000",
		"node0.zone.DMA32.min",
		"100",
		"node0.zone.DMA32.low",
		"200",
		"node0.zone.DMA32.high",
		"500",
		NULL,
	};
	struct rig *r = rig_new("6.12", "classic", settings);
	ns_t from;

	rig_file(r, DATA, 60000);
	rig_write(r, DATA, 0, 45000);
	assert_in_range(r->ctx->dirty.avg_write_bandwidth, 900, 1300);
	assert_in_range(r->ctx->dirty.ratelimit, 500, 2000);
	from = rig_task(r)->now;
	for (uint32_t page = 45000; page < 55000; page += 100) {
		rig_write(r, DATA, page, 100);
		assert_in_range(r->ctx->m.nr_dirty + r->ctx->m.nr_writeback, 2000, 4000);
	}
	/* 10000 pages at 1024 a second. */
	assert_in_range(rig_task(r)->now - from, 8500000000, 11500000000);
	rig_free(r);
}

static void truncation_forgets_dirty_pages(void **state)
{
	struct rig *r = start("null");

	rig_write(r, DATA, 0, 20);
	rig_drain(r);
	rig_record(r, (struct rs_record){ .op = RS_OP_TRUNCATE, .object = DATA, .page = 5 }, NULL);
	assert_int_equal(r->ctx->m.nr_dirty, 5);
	assert_int_equal(r->ctx->m.file[DATA].nr_cached, 5);
	assert_int_equal(r->ctx->m.file[DATA].pages, 5);
	assert_int_equal(r->ctx->disk_dev.nr_writes, 0);
	rig_check(r);
	rig_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(thresholds_are_shares_of_dirtyable_memory),
		cmocka_unit_test(the_background_stays_below_the_limit),
		cmocka_unit_test(reserved_memory_is_not_dirtyable),
		cmocka_unit_test(a_few_dirty_pages_wait_for_their_age),
		cmocka_unit_test(above_the_background_they_do_not_wait),
		cmocka_unit_test(the_flusher_sleeps_a_period_from_the_first_dirty_page_on),
		cmocka_unit_test(fsync_writes_one_file_and_waits_for_it),
		cmocka_unit_test(pages_that_are_no_neighbours_are_requests_of_their_own),
		cmocka_unit_test(written_pages_are_on_disk_and_are_read_from_there),
		cmocka_unit_test(writing_protects_mapped_pages),
		cmocka_unit_test(a_writer_waits_for_a_slow_disk),
		cmocka_unit_test(the_position_decides_about_the_rate),
		cmocka_unit_test(a_writer_is_held_to_the_rate_of_the_disk),
		cmocka_unit_test(truncation_forgets_dirty_pages),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
