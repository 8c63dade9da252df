/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * device.c - where swap and files lie: channels, latency and bandwidth. The time of completion is
 * known at submission. `null` is asynchronous for the kernel and free; `zram` works in the
 * caller's time.
 * Differs: no I/O scheduler; requests are those of the plug or of one read-ahead window.
 */
#include "sim/engine/psi.h"
#include "sim/engine/timeline.h"

#include <string.h>

/* Latencies and bandwidth: cost-model.md section 2. virtio: assumed, a disk image in host memory.
 */
static const struct {
	uint32_t channels;
	ns_t read_ns, write_ns;
	uint64_t bandwidth;
} by_kind[DEV_NR_KINDS] = {
	[DEV_VIRTIO] = { 64, 100000, 100000, 1000000000 },
	[DEV_SSD] = { 32, 150000, 60000, 400000000 },
	[DEV_NVME] = { 128, 90000, 25000, 3000000000 },
	[DEV_HDD] = { 1, 8000000, 8000000, 150000000 },
};

/* Cost of (de)compression relative to lzo-rle, in per cent. cost-model.md section 2. */
static const uint32_t compress_percent[ZRAM_NR] = { 83, 100, 133, 400 };
static const uint32_t decompress_percent[ZRAM_NR] = { 77, 100, 109, 259 };

static void device_init(struct device *d, const char *name, enum rs_device_kind kind,
			const int64_t set[4])
{
	d->name = name;
	d->kind = kind;
	d->sync = kind == DEV_ZRAM;
	d->free = kind == DEV_NULL;
	/* null_blk: BLK_SAFE_MAX_SECTORS in whole pages; else BLK_MAX_SEGMENTS. */
	d->max_pages = kind == DEV_NULL ? 31 : 128;
	d->nr_channels = set[0] > 0 ? set[0] : MAX(by_kind[kind].channels, 1);
	d->read_ns = set[1] >= 0 ? (ns_t)set[1] : by_kind[kind].read_ns;
	d->write_ns = set[2] >= 0 ? (ns_t)set[2] : by_kind[kind].write_ns;
	d->bandwidth = set[3] >= 0 ? (uint64_t)set[3] : by_kind[kind].bandwidth;
	d->channel_free = g_new0(ns_t, d->nr_channels);
}

void devices_init(struct rs_ctx *ctx)
{
	const struct rs_config *c = &ctx->cfg;

	device_init(&ctx->swap_dev, "swap", c->swap,
		    (int64_t[]){ c->swap_channels, c->swap_read_ns, c->swap_write_ns,
				 c->swap_bandwidth });
	device_init(&ctx->disk_dev, "disk", c->disk,
		    (int64_t[]){ c->disk_channels, c->disk_read_ns, c->disk_write_ns,
				 c->disk_bandwidth });
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

struct io {
	uint32_t n;
	pfn_t pfn[];
};

static void read_done(struct rs_ctx *ctx, void *arg, uint64_t unused)
{
	struct io *io = arg;

	for (uint32_t i = 0; i < io->n; i++)
		folio_unlock(ctx, io->pfn[i]);
	g_free(io);
}

static void write_done(struct rs_ctx *ctx, void *arg, uint64_t unused)
{
	struct io *io = arg;

	for (uint32_t i = 0; i < io->n; i++)
		folio_end_writeback(ctx, io->pfn[i]);
	g_free(io);
}

void event_discard(struct event *e)
{
	if (e->fn == read_done || e->fn == write_done)
		g_free(e->arg);
}

static void submit(struct rs_ctx *ctx, struct device *d, const pfn_t *pfn, uint32_t n,
		   uint64_t bytes, bool write)
{
	struct io *io = g_malloc(sizeof(*io) + n * sizeof(*pfn));

	io->n = n;
	memcpy(io->pfn, pfn, n * sizeof(*pfn));
	event_add(ctx, completion(ctx, d, write, bytes), write ? write_done : read_done, io, 0);
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
