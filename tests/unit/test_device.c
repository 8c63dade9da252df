/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Devices: when a request is done, by channels, latency and bandwidth; what is counted.
 */
#include "tests/lib/cm.h"
#include "tests/lib/rig.h"

enum { DATA };
#define PAGES 16u

struct bench {
	struct rig *r;
	pfn_t pfn[PAGES];
};

/* Pages of a file to read into; the rig's own timers are out of the way. */
static void bench_init(struct bench *b, const char *const *settings)
{
	b->r = rig_new("6.12", "classic", settings);
	rig_file(b->r, DATA, PAGES);
	rig_write(b->r, DATA, 0, PAGES);
	rig_drain(b->r);
	for (uint32_t page = 0; page < PAGES; page++)
		b->pfn[page] = rig_file_page(b->r, DATA, page);
	g_array_set_size(b->r->ctx->events, 0);
	rig_enter(b->r);
	b->r->ctx->cur->now = 1000000000;
	b->r->ctx->cur->limit = UINT64_MAX;
}

static void bench_done(struct bench *b)
{
	rig_leave(b->r);
	rig_free(b->r);
}

static bool locked(const struct bench *b, unsigned i)
{
	return rig_folio(b->r, b->pfn[i])->flags & PG_locked;
}

/* Time from the start to the end of the next request; it ends. */
static ns_t next_done(struct bench *b)
{
	ns_t when = 0;

	assert_true(event_peek(b->r->ctx, &when));
	event_run_next(b->r->ctx);
	return when - 1000000000;
}

#define FREE_COST "cost.submit_io", "0"

static void a_null_device_is_done_at_once(void **state)
{
	static const char *const settings[] = { "disk", "null", NULL };
	struct bench b;

	bench_init(&b, settings);
	device_read(b.r->ctx, &b.r->ctx->disk_dev, b.pfn, 2);
	assert_false(locked(&b, 0) || locked(&b, 1));
	assert_int_equal(b.r->ctx->events->len, 0);
	assert_int_equal(b.r->ctx->disk_dev.nr_reads, 1);
	assert_int_equal(b.r->ctx->disk_dev.bytes_read, 8192);
	assert_int_equal(rig_vmstat(b.r, RS_PGPGIN), 8);
	bench_done(&b);
}

static void a_request_takes_its_latency_and_locks_its_pages(void **state)
{
	static const char *const settings[] = { "disk",		 "ssd", "disk.read_ns",	  "1000",
						"disk.channels", "2",	"disk.bandwidth", "1T",
						FREE_COST,	 NULL };
	struct bench b;

	bench_init(&b, settings);
	rig_folio(b.r, b.pfn[0])->flags &= ~(uint32_t)PG_uptodate;
	device_read(b.r->ctx, &b.r->ctx->disk_dev, b.pfn, 2);
	assert_true(locked(&b, 0) && locked(&b, 1));
	assert_int_equal(next_done(&b), 1000);
	assert_false(locked(&b, 0) || locked(&b, 1));
	assert_true(rig_folio(b.r, b.pfn[0])->flags & PG_uptodate);
	bench_done(&b);
}

/* Two channels: the third waits for the first, the fourth for the second. */
static void requests_wait_for_a_free_channel(void **state)
{
	static const char *const settings[] = { "disk",		 "ssd", "disk.read_ns",	  "1000",
						"disk.channels", "2",	"disk.bandwidth", "1T",
						FREE_COST,	 NULL };
	static const ns_t done[] = { 1000, 1000, 2000, 2000, 3000 };
	struct bench b;

	bench_init(&b, settings);
	for (unsigned i = 0; i < G_N_ELEMENTS(done); i++)
		device_read(b.r->ctx, &b.r->ctx->disk_dev, &b.pfn[i], 1);
	for (unsigned i = 0; i < G_N_ELEMENTS(done); i++) {
		assert_true(locked(&b, i));
		assert_int_equal(next_done(&b), done[i]);
		assert_false(locked(&b, i));
	}
	assert_int_equal(b.r->ctx->disk_dev.wait_ns, 1000 + 1000 + 2000);
	bench_done(&b);
}

/* 4096 bytes at 4096000 a second are 1 ms; channels share it. */
static void bandwidth_is_shared_by_the_channels(void **state)
{
	static const char *const settings[] = { "disk",		 "ssd", "disk.read_ns",	  "1000",
						"disk.channels", "8",	"disk.bandwidth", "4096000",
						FREE_COST,	 NULL };
	struct bench b;

	bench_init(&b, settings);
	for (unsigned i = 0; i < 3; i++)
		device_read(b.r->ctx, &b.r->ctx->disk_dev, &b.pfn[i], 1);
	for (unsigned i = 1; i <= 3; i++)
		assert_int_equal(next_done(&b), i * 1000000);
	bench_done(&b);
}

static void a_write_ends_writeback_at_its_own_latency(void **state)
{
	static const char *const settings[] = { "disk",		 "ssd",	 "disk.read_ns",   "1",
						"disk.write_ns", "7000", "disk.bandwidth", "1T",
						FREE_COST,	 NULL };
	struct bench b;

	bench_init(&b, settings);
	for (unsigned i = 0; i < 2; i++) {
		folio_clear_dirty(b.r->ctx, b.pfn[i]);
		folio_start_writeback(b.r->ctx, b.pfn[i]);
	}
	device_write(b.r->ctx, &b.r->ctx->disk_dev, b.pfn, 2);
	assert_int_equal(b.r->ctx->m.nr_writeback, 2);
	assert_int_equal(next_done(&b), 7000);
	assert_int_equal(b.r->ctx->m.nr_writeback, 0);
	assert_int_equal(b.r->ctx->disk_dev.bytes_written, 8192);
	assert_int_equal(rig_vmstat(b.r, RS_PGPGOUT), 8);
	assert_int_equal(rig_vmstat(b.r, RS_NR_WRITTEN), 2);
	bench_done(&b);
}

/* zram: no I/O, CPU time of the caller, by algorithm: lzo-rle 100 %, zstd 259 %. */
static void a_synchronous_device_works_in_the_callers_time(void **state)
{
	static const char *const algorithm[] = { "lzo-rle", "zstd" };
	static const ns_t ns[] = { 1000, 2590 };

	for (unsigned k = 0; k < 2; k++) {
		const char *const settings[] = {
			"swap", "zram", "zram.algorithm", algorithm[k], "cost.decompress",
			"1000", NULL
		};
		struct bench b;
		ns_t from;

		bench_init(&b, settings);
		from = b.r->ctx->cur->now;
		device_read(b.r->ctx, &b.r->ctx->swap_dev, b.pfn, 1);
		assert_int_equal(b.r->ctx->cur->now - from, ns[k]);
		assert_false(locked(&b, 0));
		assert_int_equal(b.r->ctx->events->len, 0);
		bench_done(&b);
	}
}

static void a_reader_sleeps_until_its_page_is_there(void **state)
{
	static const char *const settings[] = { "disk", "ssd", "disk.read_ns", "8000000", NULL };
	struct rig *r = rig_new("6.12", "classic", settings);

	rig_file(r, DATA, 2);
	rig_read(r, DATA, 0, 1);
	assert_in_range(rig_task(r)->wait_ns[WAIT_IO], 8000000, 8100000);
	assert_true(rig_task(r)->now >= 8000000);
	rig_free(r);
}

/*
 * The arm starts in the middle: 1 ms and 7.5 ms times the root of 3/2, half a revolution, and
 * 4096 bytes at 150 MB/s. A neighbour then costs the transfer alone, the way back the same again.
 */
static void a_disk_seeks_turns_and_transfers(void **state)
{
	static const char *const settings[] = { "disk", "hdd", FREE_COST, NULL };
	const ns_t transfer = 4096000000000 / 150000000;
	struct bench b;
	struct device *d;
	ns_t seek;

	bench_init(&b, settings);
	d = &b.r->ctx->disk_dev;
	seek = disk_position_ns(d, 0);
	assert_in_range(seek, 1000000 + 9185000 + 4166667 - 10000, 1000000 + 9186000 + 4166667);
	device_read(b.r->ctx, d, &b.pfn[0], 1);
	assert_int_equal(next_done(&b), seek + transfer);
	assert_int_equal(d->arm, 1);
	assert_int_equal(disk_position_ns(d, 1), 0);
	/* An average seek is a third of the disk. */
	assert_in_range(disk_position_ns(d, 1 + (1u << 28) / 3), 8490000 + 4166667,
			8500000 + 4166667);
	bench_done(&b);
}

/* Reads in ascending order from where the arm is, whatever the order they came in. */
static void a_disk_sorts_its_requests(void **state)
{
	static const char *const settings[] = { "disk", "hdd", FREE_COST, NULL };
	static const unsigned came[] = { 4, 9, 2, 6 }, served[] = { 4, 6, 9, 2 };
	struct bench b;

	bench_init(&b, settings);
	for (unsigned i = 0; i < G_N_ELEMENTS(came); i++)
		device_read(b.r->ctx, &b.r->ctx->disk_dev, &b.pfn[came[i]], 1);
	assert_int_equal(b.r->ctx->disk_dev.max_waiting, 3);
	for (unsigned i = 0; i < G_N_ELEMENTS(served); i++) {
		assert_true(locked(&b, served[i]));
		next_done(&b);
		assert_false(locked(&b, served[i]));
	}
	assert_int_equal(b.r->ctx->disk_dev.in_flight, 0);
	bench_done(&b);
}

static void write_page(struct bench *b, unsigned i)
{
	folio_clear_dirty(b->r->ctx, b->pfn[i]);
	folio_start_writeback(b->r->ctx, b->pfn[i]);
	device_write(b->r->ctx, &b->r->ctx->disk_dev, &b->pfn[i], 1);
}

/* A write is passed over twice by reads, then its turn has come. */
static void reads_go_before_writes_twice(void **state)
{
	static const char *const settings[] = { "disk", "hdd", FREE_COST, NULL };
	struct bench b;

	bench_init(&b, settings);
	device_read(b.r->ctx, &b.r->ctx->disk_dev, &b.pfn[0], 1);
	write_page(&b, 1);
	for (unsigned i = 4; i < 8; i++)
		device_read(b.r->ctx, &b.r->ctx->disk_dev, &b.pfn[i], 1);
	for (unsigned i = 0; i < 3; i++)
		next_done(&b);
	assert_false(locked(&b, 0) || locked(&b, 4) || locked(&b, 5));
	assert_int_equal(b.r->ctx->m.nr_writeback, 1);
	next_done(&b);
	assert_int_equal(b.r->ctx->m.nr_writeback, 0);
	assert_true(locked(&b, 6) && locked(&b, 7));
	for (unsigned i = 0; i < 2; i++)
		next_done(&b);
	bench_done(&b);
}

/*
 * One channel of 1 ms and two requests at most: a reader of six single pages waits for its third
 * request until the first is done.
 */
static void who_has_no_request_waits(void **state)
{
	static const char *const settings[] = {
		"disk",		  "ssd", "disk.read_ns",     "1000000", "disk.channels", "1",
		"disk.bandwidth", "1T",	 "disk.nr_requests", "2",	FREE_COST,	 NULL
	};
	struct rig *r = rig_new("6.12", "classic", settings);

	rig_file(r, DATA, 100);
	for (uint32_t page = 0; page < 4; page++) {
		rig_record(r,
			   (struct rs_record){ .op = RS_OP_FADVISE,
					       .object = DATA,
					       .arg = RS_ADV_WILLNEED,
					       .page = page * 20,
					       .count = 1 },
			   NULL);
		assert_true(r->ctx->disk_dev.in_flight <= 2);
	}
	assert_in_range(rig_task(r)->wait_ns[WAIT_IO], 1990000, 2000000);
	assert_int_equal(r->ctx->disk_dev.nr_reads, 4);
	rig_free(r);
}

/*
 * 20 pages that are no neighbours, 1 ms each, on 64 channels: fsync() has half of 16 writes in
 * flight, so they go in three rounds; without throttling in one.
 */
static void writes_are_throttled(void **state)
{
	static const char *const lat[] = { "2000", "0" };
	static const ns_t least[] = { 3000000, 1000000 };

	for (unsigned k = 0; k < 2; k++) {
		const char *const settings[] = { "disk",
						 "virtio",
						 "disk.wbt_lat_usec",
						 lat[k],
						 "disk.write_ns",
						 "1000000",
						 "disk.bandwidth",
						 "1T",
						 NULL };
		struct rig *r = rig_new("6.12", "classic", settings);
		ns_t from;

		rig_file(r, DATA, 100);
		for (uint32_t page = 0; page < 40; page += 2)
			rig_write(r, DATA, page, 1);
		from = rig_task(r)->now;
		rig_record(r, (struct rs_record){ .op = RS_OP_FSYNC, .object = DATA }, NULL);
		assert_in_range(rig_task(r)->now - from, least[k], least[k] + 200000);
		assert_int_equal(r->ctx->disk_dev.nr_writes, 20);
		assert_int_equal(r->ctx->disk_dev.writes_in_flight, 0);
		rig_free(r);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_null_device_is_done_at_once),
		cmocka_unit_test(a_request_takes_its_latency_and_locks_its_pages),
		cmocka_unit_test(requests_wait_for_a_free_channel),
		cmocka_unit_test(bandwidth_is_shared_by_the_channels),
		cmocka_unit_test(a_write_ends_writeback_at_its_own_latency),
		cmocka_unit_test(a_synchronous_device_works_in_the_callers_time),
		cmocka_unit_test(a_reader_sleeps_until_its_page_is_there),
		cmocka_unit_test(a_disk_seeks_turns_and_transfers),
		cmocka_unit_test(a_disk_sorts_its_requests),
		cmocka_unit_test(reads_go_before_writes_twice),
		cmocka_unit_test(who_has_no_request_waits),
		cmocka_unit_test(writes_are_throttled),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
