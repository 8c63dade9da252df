/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * device.c - where swap and files lie: channels, latency and bandwidth, a limit of requests, and
 * writeback throttling. `null` is asynchronous for the kernel and free; `zram` works in the
 * caller's time; a rotating disk has an arm (disk.c).
 * Differs: only a rotating disk sorts its requests; requests are those of the plug or of one
 * read-ahead window.
 */
#include "sim/engine/psi.h"
#include "sim/engine/timeline.h"

#include <string.h>

/*
 * Latencies and bandwidth: cost-model.md section 2. virtio: assumed, a disk image in host memory.
 * nr_requests as in /sys/block/X/queue: the ring of virtio-blk, the tags of NVMe, twice the 32 tags
 * of SATA under mq-deadline.
 */
static const struct {
	uint32_t channels, nr_requests;
	ns_t read_ns, write_ns;
	uint64_t bandwidth;
} by_kind[DEV_NR_KINDS] = {
	[DEV_VIRTIO] = { 64, 256, 100000, 100000, 1000000000 },
	[DEV_SSD] = { 32, 64, 150000, 60000, 400000000 },
	[DEV_NVME] = { 128, 1023, 90000, 25000, 3000000000 },
	[DEV_HDD] = { 1, 64, 0, 0, 150000000 },
};

/* Cost of (de)compression relative to lzo-rle, in per cent. cost-model.md section 2. */
static const uint32_t compress_percent[ZRAM_NR] = { 83, 100, 133, 400 };
static const uint32_t decompress_percent[ZRAM_NR] = { 77, 100, 109, 259 };

static void device_init(struct device *d, const char *name, enum rs_device_kind kind,
			const struct device_config *set)
{
	d->name = name;
	d->kind = kind;
	d->sync = kind == DEV_ZRAM;
	d->free = kind == DEV_NULL;
	/* null_blk: BLK_SAFE_MAX_SECTORS in whole pages; else BLK_MAX_SEGMENTS. */
	d->max_pages = kind == DEV_NULL ? 31 : 128;
	d->nr_channels = set->channels > 0 ? set->channels : MAX(by_kind[kind].channels, 1);
	d->nr_requests = set->nr_requests > 0 ? set->nr_requests : by_kind[kind].nr_requests;
	d->read_ns = set->read_ns >= 0 ? (ns_t)set->read_ns : by_kind[kind].read_ns;
	d->write_ns = set->write_ns >= 0 ? (ns_t)set->write_ns : by_kind[kind].write_ns;
	d->bandwidth = set->bandwidth >= 0 ? (uint64_t)set->bandwidth : by_kind[kind].bandwidth;
	d->throttle_writes = set->wbt_lat_usec != 0;
	d->channel_free = g_new0(ns_t, d->nr_channels);
	g_queue_init(&d->waiters);
	/* Latencies of one's own stand for the arm. */
	if (kind == DEV_HDD && set->read_ns < 0 && set->write_ns < 0)
		disk_init(d);
}

void devices_init(struct rs_ctx *ctx)
{
	device_init(&ctx->swap_dev, "swap", ctx->cfg.swap, &ctx->cfg.swap_dev);
	device_init(&ctx->disk_dev, "disk", ctx->cfg.disk, &ctx->cfg.disk_dev);
}

static void device_clear(struct device *d)
{
	g_free(d->channel_free);
	g_queue_clear(&d->waiters);
	disk_clear(d);
}

void devices_clear(struct rs_ctx *ctx)
{
	device_clear(&ctx->swap_dev);
	device_clear(&ctx->disk_dev);
}

static ns_t completion(struct rs_ctx *ctx, struct device *d, bool write, uint64_t bytes)
{
	ns_t now = ctx->cur->now, latency = write ? d->write_ns : d->read_ns;
	uint32_t best = 0;
	ns_t start, done;

	for (uint32_t i = 1; i < d->nr_channels; i++)
		if (d->channel_free[i] < d->channel_free[best])
			best = i;
	start = MAX(now, d->channel_free[best]);
	done = start + latency;
	if (d->bandwidth) {
		d->bus_free = MAX(start, d->bus_free) + bytes * 1000000000 / d->bandwidth;
		done = MAX(done, d->bus_free);
	}
	d->wait_ns += start - now;
	d->busy_ns += done - start;
	d->channel_free[best] = done;
	if (TIMELINE(ctx))
		timeline_io(ctx, d, best, write, bytes, start, done);
	return done;
}

/* ---- limits ---- */

/*
 * Buffered writes in flight. Kernel: block/blk-wbt.c get_limit(): all 16 of RWB_DEF_DEPTH for swap,
 * and for files when a writer has been held back within a second; else a quarter of them in the
 * background or within 100 ms of a read, else half. Differs: the depth is not scaled by latencies.
 */
#define WBT_DEPTH 16u
static uint32_t write_limit(struct rs_ctx *ctx, const struct device *d)
{
	ns_t now = ctx->cur->now;

	if (d == &ctx->swap_dev || (ctx->dirty_sleep && now - ctx->dirty_sleep <= 1000000000))
		return WBT_DEPTH;
	if (ctx->cur->class == CLASS_FLUSHER ||
	    (d->nr_reads && now - MIN(now, d->last_read) <= 100000000))
		return (WBT_DEPTH + 3) / 4;
	return (WBT_DEPTH + 1) / 2;
}

static bool may_submit(struct rs_ctx *ctx, const struct device *d, bool write)
{
	if (d->in_flight >= d->nr_requests)
		return false;
	return !write || !d->throttle_writes || d->writes_in_flight < write_limit(ctx, d);
}

/*
 * The task has to wait for a free request, as in blk_mq_get_tag() and wbt_wait(). Differs: a task
 * that goes to sleep and leaves its plug does not; there the kernel has its requests already.
 */
static void wait_for_request(struct rs_ctx *ctx, struct device *d, bool write)
{
	while (!ctx->cur->parking && !ctx->error && !may_submit(ctx, d, write)) {
		g_queue_push_tail(&d->waiters, ctx->cur);
		task_wait(ctx, WAIT_IO, "a free request of the device");
		g_queue_remove(&d->waiters, ctx->cur);
	}
}

/* ---- requests ---- */

/* The request is over. Its memory goes. */
void io_done(struct rs_ctx *ctx, void *arg, uint64_t unused)
{
	struct io *io = arg;
	struct device *d = io->dev;

	d->in_flight--;
	d->writes_in_flight -= io->write;
	for (uint32_t i = 0; i < io->n; i++) {
		if (io->write)
			folio_end_writeback(ctx, io->pfn[i]);
		else
			folio_unlock(ctx, io->pfn[i]);
	}
	if (!io->write)
		d->last_read = ctx->now;
	disk_next(ctx, d, io);
	g_free(io);
	for (GList *l = d->waiters.head; l; l = l->next)
		task_wake(ctx, l->data, ctx->now);
}

void event_discard(struct event *e)
{
	if (e->fn == io_done)
		g_free(e->arg);
}

/* Where on the device a folio lies, in pages. */
static uint64_t folio_place(struct rs_ctx *ctx, const struct device *d, pfn_t pfn)
{
	const struct folio *f = &ctx->m.folios[pfn];

	return d == &ctx->swap_dev ? folio_slot(&ctx->m, pfn)
				   : ctx->m.file[f->object].disk_start + f->index;
}

static void submit(struct rs_ctx *ctx, struct device *d, const pfn_t *pfn, uint32_t n,
		   uint64_t bytes, bool write)
{
	struct io *io;
	ns_t now;

	wait_for_request(ctx, d, write);
	io = g_malloc(sizeof(*io) + n * sizeof(*pfn));
	now = ctx->cur->now;
	*io = (struct io){ .dev = d,
			   .write = write,
			   .place = folio_place(ctx, d, pfn[0]),
			   .bytes = bytes,
			   .submitted = now,
			   .n = n };
	memcpy(io->pfn, pfn, n * sizeof(*pfn));
	d->in_flight++;
	d->writes_in_flight += write;
	d->max_waiting = MAX(d->max_waiting, d->in_flight - MIN(d->in_flight, d->nr_channels));
	if (d->has_arm)
		disk_submit(ctx, d, io, now);
	else
		event_add(ctx, completion(ctx, d, write, bytes), io_done, io, 0);
}

static uint64_t total_bytes(struct rs_ctx *ctx, const pfn_t *pfn, uint32_t n)
{
	uint64_t pages = 0;

	for (uint32_t i = 0; i < n; i++)
		pages += folio_nr_pages(&ctx->m.folios[pfn[i]]);
	return pages * RS_PAGE_SIZE;
}

static void charge_zram(struct rs_ctx *ctx, enum rs_cost cost, uint64_t pages, int64_t set,
			uint32_t percent)
{
	ns_t before = ctx->cfg.cost[cost];

	ctx->cfg.cost[cost] =
		set >= 0 ? (ns_t)set * ctx->cfg.cost_scale_percent / 100 : before * percent / 100;
	charge(ctx, cost, pages);
	ctx->cfg.cost[cost] = before;
}

static void zram_read(struct rs_ctx *ctx, uint64_t pages)
{
	enum rs_zram_algorithm a = ctx->cfg.zram_algorithm;

	charge_zram(ctx, RS_COST_DECOMPRESS, pages, ctx->cfg.zram_decompress_ns[a],
		    decompress_percent[a]);
}

static void zram_write(struct rs_ctx *ctx, const pfn_t *pfn, uint32_t n, uint64_t pages)
{
	enum rs_zram_algorithm a = ctx->cfg.zram_algorithm;

	charge_zram(ctx, RS_COST_COMPRESS, pages, ctx->cfg.zram_compress_ns[a],
		    compress_percent[a]);
	for (uint32_t i = 0; i < n; i++)
		zram_store(&ctx->m, folio_slot(&ctx->m, pfn[i]));
}

/*
 * Memory for one more compressed page, from the reserves if need be. False: there is none.
 * Kernel: zs_malloc() in zram_write_page(), called from reclaim with PF_MEMALLOC.
 */
bool zram_reserve(struct rs_ctx *ctx, pfn_t folio)
{
	uint32_t slot = folio_slot(&ctx->m, folio);
	bool was = ctx->cur->memalloc, ok = true;

	if (!ctx->swap_dev.sync)
		return true;
	ctx->cur->memalloc = true;
	while (ok && zram_frames_wanted(&ctx->m, slot)) {
		pfn_t pfn = alloc_folio(ctx, 0, NULL, 0);

		if (pfn)
			zram_add_frame(&ctx->m, pfn);
		ok = pfn;
	}
	ctx->cur->memalloc = was;
	return ok;
}

/*
 * Submitting is a memory stall if a page was in use when it went.
 * Kernel: swap_read_folio(), read_pages().
 */
static bool thrashing(struct rs_ctx *ctx, const pfn_t *pfn, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (ctx->m.folios[pfn[i]].flags & PG_workingset)
			return true;
	return false;
}

/* One request; the folios are locked until it is done. */
void device_read(struct rs_ctx *ctx, struct device *d, const pfn_t *pfn, uint32_t n)
{
	uint64_t bytes = total_bytes(ctx, pfn, n);
	bool was_inside = !thrashing(ctx, pfn, n) || psi_memstall_enter(ctx);

	d->nr_reads++;
	d->bytes_read += bytes;
	ctx->m.vmstat[RS_PGPGIN] += bytes / 1024;
	for (uint32_t i = 0; i < n; i++)
		ctx->m.folios[pfn[i]].flags |= PG_locked;
	if (d->sync)
		zram_read(ctx, bytes / RS_PAGE_SIZE);
	else
		charge(ctx, RS_COST_SUBMIT_IO, 1);
	psi_memstall_leave(ctx, was_inside);
	if (!d->sync && !d->free) {
		submit(ctx, d, pfn, n, bytes, false);
		return;
	}
	for (uint32_t i = 0; i < n; i++)
		folio_unlock(ctx, pfn[i]);
}

/* One request of folios already marked PG_writeback. */
void device_write(struct rs_ctx *ctx, struct device *d, const pfn_t *pfn, uint32_t n)
{
	uint64_t bytes = total_bytes(ctx, pfn, n);

	d->nr_writes++;
	d->bytes_written += bytes;
	ctx->m.vmstat[RS_PGPGOUT] += bytes / 1024;
	if (d->sync)
		zram_write(ctx, pfn, n, bytes / RS_PAGE_SIZE);
	else
		charge(ctx, RS_COST_SUBMIT_IO, 1);
	if (!d->sync && !d->free) {
		submit(ctx, d, pfn, n, bytes, true);
		return;
	}
	for (uint32_t i = 0; i < n; i++)
		folio_end_writeback(ctx, pfn[i]);
}
