/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * writeback.c - dirty file pages: their limits and the flusher thread. Writers that wait are in
 * dirty.c. Kernel: fs/fs-writeback.c, mm/page-writeback.c.
 */
#include "sim/engine/timeline.h"

#define REQUEST_PAGES 256u

/* What no allocation leaves to page cache. Kernel: calculate_totalreserve_pages(). */
static uint64_t zone_reserve(const struct zone *zone)
{
	uint64_t most = 0;

	for (unsigned z = 0; z < RS_NR_ZONES; z++)
		most = MAX(most, zone->lowmem_reserve[z]);
	return MIN(most + zone->wmark[RS_WMARK_HIGH], zone->managed);
}

/*
 * Dirtyable memory is what is free above the reserves plus the file lists.
 * Kernel: global_dirtyable_memory(), domain_dirty_limits().
 */
void dirty_thresholds(struct rs_ctx *ctx, uint64_t *ret_background, uint64_t *ret_limit)
{
	uint64_t free = 0, reserve = 0, dirtyable = 0;

	for (uint32_t n = 0; n < ctx->m.nr_nodes; n++) {
		for (unsigned z = 0; z < RS_NR_ZONES; z++) {
			const struct zone *zone = &ctx->m.node[n].zone[z];

			free += zone->free;
			reserve += zone_reserve(zone);
			dirtyable += zone->nr_lru[RS_INACTIVE_FILE] + zone->nr_lru[RS_ACTIVE_FILE];
		}
	}
	dirtyable += free > reserve ? free - reserve : 0;
	*ret_limit = dirtyable * ctx->cfg.dirty_ratio / 100;
	*ret_background = dirtyable * ctx->cfg.dirty_background_ratio / 100;
	if (*ret_background >= *ret_limit)
		*ret_background = *ret_limit / 2;
}

/* Up to max dirty pages of the file in index order, in requests of neighbours. */
void writeback_file(struct rs_ctx *ctx, uint32_t id, uint64_t max)
{
	pfn_t run[REQUEST_PAGES];
	uint32_t n = 0;
	uint64_t last = 0, done = 0;

	for (uint64_t c = 0;
	     c < ctx->m.file[id].nr_chunks && ctx->m.file[id].nr_dirty && done < max; c++) {
		for (uint32_t i = 0; i < CACHE_CHUNK && done < max; i++) {
			struct cache_chunk *chunk = ctx->m.file[id].chunk[c];
			uint64_t index = c * CACHE_CHUNK + i;
			pfn_t pfn;

			if (!chunk || !chunk->nr_dirty)
				break;
			pfn = file_page(&ctx->m.file[id], index);
			if (!pfn || (ctx->m.folios[pfn].flags &
				     (PG_dirty | PG_writeback | PG_locked)) != PG_dirty)
				continue;
			if (n && (index != last + 1 || n == REQUEST_PAGES)) {
				/* May wait for a request: the page has to be looked at again. */
				device_write(ctx, &ctx->disk_dev, run, n);
				n = 0;
				i--;
				continue;
			}
			folio_clear_dirty(ctx, pfn);
			clean_ptes(ctx, pfn);
			folio_start_writeback(ctx, pfn);
			run[n++] = pfn;
			last = index;
			done++;
		}
	}
	if (n)
		device_write(ctx, &ctx->disk_dev, run, n);
	ctx->m.file[id].disk_pages = MAX(ctx->m.file[id].disk_pages, ctx->m.file[id].pages);
}

static void flusher_timer(struct rs_ctx *ctx, void *arg, uint64_t value)
{
	(void)arg;
	if (value != ctx->flusher_timer)
		return;
	ctx->flusher_timer = 0;
	task_wake(ctx, ctx->flusher, ctx->now);
}

/* One timer at a time, set when there is something to write. Kernel: wb_wakeup_delayed(). */
void start_flusher_timer(struct rs_ctx *ctx, ns_t now)
{
	ns_t period = ctx->cfg.dirty_writeback_centisecs * 10000000ull;

	if (!ctx->m.nr_dirty || ctx->flusher_timer || !period)
		return;
	ctx->flusher_timer = ++ctx->flusher_timers;
	event_add(ctx, now + period, flusher_timer, NULL, ctx->flusher_timer);
}

/* At once: a timer that runs is taken back. Kernel: wb_wakeup(). */
void wakeup_flusher(struct rs_ctx *ctx)
{
	ctx->flusher_wanted = true;
	ctx->flusher_timer = 0;
	if (ctx->flusher->state == TASK_WAITING)
		task_wake(ctx, ctx->flusher, ctx->cur ? ctx->cur->now : ctx->now);
}

static void write_files(struct rs_ctx *ctx, bool all, ns_t older_than)
{
	span_begin(ctx, "writeback", "write back");
	for (uint32_t id = 0; id < ctx->m.nr_files; id++) {
		const struct file *f = &ctx->m.file[id];

		if (f->nr_dirty && (all || f->dirtied_at <= older_than))
			writeback_file(ctx, id, UINT64_MAX);
		task_checkpoint(ctx);
	}
	span_end(ctx, NULL, 0);
}

void flusher_main(struct task *t)
{
	struct rs_ctx *ctx = t->ctx;
	ns_t expire = ctx->cfg.dirty_expire_centisecs * 10000000ull;

	for (;;) {
		uint64_t background, limit;
		bool wanted = ctx->flusher_wanted;

		ctx->flusher_wanted = false;
		dirty_thresholds(ctx, &background, &limit);
		if (wanted || ctx->m.nr_dirty > background)
			write_files(ctx, true, 0);
		else if (t->now > expire)
			write_files(ctx, false, t->now - expire);
		if (ctx->flusher_wanted)
			continue;
		start_flusher_timer(ctx, t->now);
		task_wait(ctx, WAIT_SLEEP, "dirty pages");
	}
}
