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
	static const char *const settings[] = { "disk", "hdd", NULL };
	struct rig *r = rig_new("6.12", "classic", settings);

	rig_file(r, DATA, 2);
	rig_read(r, DATA, 0, 1);
	assert_in_range(rig_task(r)->wait_ns[WAIT_IO], 8000000, 8100000);
	assert_true(rig_task(r)->now >= 8000000);
	rig_free(r);
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
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
