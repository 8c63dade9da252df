/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fileio.c - read(), write(), fsync() and truncation over the page cache.
 * Kernel: mm/filemap.c filemap_read(), generic_perform_write(), filemap_add_folio().
 */
#include "sim/engine/observe.h"

/*
 * A new page of the file: allocated, charged, inserted (which yields the shadow), refault, LRU.
 * 0: no memory. A page that somebody else put there meanwhile is returned instead.
 */
pfn_t file_add_page(struct rs_ctx *ctx, uint32_t id, uint64_t index, bool for_write)
{
	struct machine *m = &ctx->m;
	uint64_t slot;
	pfn_t pfn = alloc_folio(ctx, 0, NULL, 0);

	if (!pfn)
		return RS_PFN_NONE;
	if (!charge_folio(ctx, pfn, ctx->cur->mm->pub.memcg)) {
		folio_free(ctx, pfn);
		return RS_PFN_NONE;
	}
	slot = file_slot(&m->file[id], index);
	if (slot && !SLOT_IS_SHADOW(slot)) {
		folio_free(ctx, pfn);
		return slot >> 1;
	}
	m->folios[pfn].object = id;
	m->folios[pfn].index = index;
	file_set_slot(&m->file[id], index, (uint64_t)pfn << 1);
	m->file[id].nr_cached++;
	m->nr_file_pages++;
	memcg_gauge(m, m->folios[pfn].memcg, GAUGE_FILE, 1);
	if (OBSERVED(ctx))
		observe_cache_add(ctx, pfn, slot != 0);
	/* Kernel: filemap_add_folio() ignores the shadow of an allocation with __GFP_WRITE. */
	if (slot && !for_write)
		workingset_refault(ctx, pfn, slot);
	folio_add_lru(ctx, pfn);
	return pfn;
}

/* Pages of the read are taken in runs of what is on disk; holes need no I/O. */
static void submit_run(struct rs_ctx *ctx, uint32_t id, const pfn_t *pfn, uint32_t n)
{
	if (n)
		device_read(ctx, &ctx->disk_dev, pfn, n);
}

/*
 * Bring [start, start + n) into the cache; what is there stays. The page at marker gets the
 * read-ahead flag. Kernel: mm/readahead.c page_cache_ra_unbounded().
 */
void file_read_pages(struct rs_ctx *ctx, uint32_t id, uint64_t start, uint64_t n, uint64_t marker)
{
	pfn_t run[256];
	uint32_t nr = 0;

	for (uint64_t i = start; i < start + n && i < ctx->m.file[id].pages; i++) {
		pfn_t pfn = file_page(&ctx->m.file[id], i);

		if (pfn) {
			submit_run(ctx, id, run, nr);
			nr = 0;
			continue;
		}
		pfn = file_add_page(ctx, id, i, false);
		if (!pfn)
			break;
		/* Somebody else was faster: nothing is left to do for it. */
		if (ctx->m.folios[pfn].flags & (PG_locked | PG_uptodate)) {
			submit_run(ctx, id, run, nr);
			nr = 0;
			continue;
		}
		if (i == marker)
			ctx->m.folios[pfn].flags |= PG_readahead;
		if (i >= ctx->m.file[id].disk_pages) {
			ctx->m.folios[pfn].flags |= PG_uptodate;
			continue;
		}
		ctx->m.folios[pfn].flags |= PG_locked;
		run[nr++] = pfn;
		if (nr == G_N_ELEMENTS(run)) {
			submit_run(ctx, id, run, nr);
			nr = 0;
		}
	}
	submit_run(ctx, id, run, nr);
}

/* Cached pages from index on, at most a batch of them. */
static uint32_t read_batch(struct rs_ctx *ctx, uint32_t id, uint64_t index, uint64_t end,
			   pfn_t *pfn)
{
	uint32_t n = 0;

	while (n < ctx->tun.batch_size && index < end) {
		pfn_t p = file_page(&ctx->m.file[id], index++);

		if (!p)
			break;
		pfn[n++] = p;
		/* Read-ahead is done at a marked page, so the batch ends with it. */
		if (ctx->m.folios[p].flags & PG_readahead)
			break;
	}
	return n;
}

/* Kernel: filemap_get_pages(). Returns how many of pfn[] are there and readable. */
static uint32_t get_pages(struct rs_ctx *ctx, uint32_t id, uint32_t handle, uint64_t index,
			  uint64_t end, pfn_t *pfn)
{
	struct open_file *of = file_handle(&ctx->m.file[id], handle);
	uint32_t n = read_batch(ctx, id, index, end, pfn);

	if (!n) {
		page_cache_sync_ra(ctx, id, of, index, end - index);
		of = file_handle(&ctx->m.file[id], handle);
		n = read_batch(ctx, id, index, end, pfn);
	}
	if (!n) {
		file_read_pages(ctx, id, index, 1, UINT64_MAX);
		n = read_batch(ctx, id, index, index + 1, pfn);
	}
	/* The batch holds its pages: the read-ahead below may have to reclaim. */
	for (uint32_t i = 0; i < n; i++)
		ctx->m.folios[pfn[i]].refs++;
	if (n && (ctx->m.folios[pfn[n - 1]].flags & PG_readahead))
		page_cache_async_ra(ctx, id, file_handle(&ctx->m.file[id], handle), index + n - 1,
				    end - (index + n - 1), pfn[n - 1]);
	for (uint32_t i = 0; i < n; i++)
		folio_wait_locked(ctx, pfn[i]);
	return n;
}

/* One call of n whole pages on an open file. */
void file_read(struct rs_ctx *ctx, uint32_t id, uint32_t handle, uint64_t page, uint32_t n)
{
	uint64_t end = MIN(page + n, ctx->m.file[id].pages);
	pfn_t pfn[BATCH_MAX];

	while (page < end && !ctx->cur->killed && !ctx->error) {
		uint32_t got = get_pages(ctx, id, handle, page, end, pfn);
		struct open_file *of;

		if (!got)
			return; /* ENOMEM */
		of = file_handle(&ctx->m.file[id], handle);
		for (uint32_t i = 0; i < got; i++) {
			/* A page read several times in a row counts once. */
			if (i || of->ra.prev_index != page)
				folio_mark_accessed(ctx, pfn[i]);
			charge(ctx, RS_COST_SYSCALL_READ_PAGE, 1);
			charge_remote(ctx, pfn[i], 1);
			of->ra.prev_index = page++;
		}
		for (uint32_t i = 0; i < got; i++)
			folio_put(ctx, pfn[i]);
	}
}

/*
 * write() does not mark pages accessed. Kernel: mm/filemap.c generic_perform_write().
 * Differs: whole pages are written, so nothing has to be read first.
 */
void file_write(struct rs_ctx *ctx, uint32_t id, uint32_t handle, uint64_t page, uint32_t n)
{
	for (uint32_t i = 0; i < n && !ctx->cur->killed && !ctx->error; i++, page++) {
		pfn_t pfn;

		/* One page at a time, as the kernel does: the file may be truncated meanwhile. */
		file_grow(&ctx->m.file[id], page + 1);
		pfn = file_page(&ctx->m.file[id], page);
		if (!pfn)
			pfn = file_add_page(ctx, id, page, true);
		if (!pfn)
			return;
		ctx->m.folios[pfn].refs++;
		folio_wait_locked(ctx, pfn);
		if (ctx->cur->killed ||
		    file_page(&ctx->m.file[id], page) != pfn) { /* truncated meanwhile */
			folio_put(ctx, pfn);
			return;
		}
		ctx->m.folios[pfn].flags |= PG_uptodate;
		charge(ctx, RS_COST_SYSCALL_READ_PAGE, 1);
		charge_remote(ctx, pfn, 1);
		folio_mark_dirty(ctx, pfn);
		folio_put(ctx, pfn);
		balance_dirty_pages(ctx);
	}
}

void file_fsync(struct rs_ctx *ctx, uint32_t id)
{
	writeback_file(ctx, id, UINT64_MAX);
	for (uint64_t c = 0; c < ctx->m.file[id].nr_chunks && ctx->m.nr_writeback; c++) {
		for (uint32_t i = 0; ctx->m.file[id].chunk[c] && i < CACHE_CHUNK; i++) {
			pfn_t pfn = file_page(&ctx->m.file[id], c * CACHE_CHUNK + i);

			if (pfn)
				folio_wait_writeback(ctx, pfn);
		}
	}
}

/* Take a page out of the cache without a shadow. Kernel: filemap_remove_folio(). */
void file_remove_page(struct rs_ctx *ctx, pfn_t pfn, uint64_t shadow)
{
	struct folio *f = &ctx->m.folios[pfn];
	struct file *file = &ctx->m.file[f->object];

	if (OBSERVED(ctx))
		trace_page_cache(ctx, pfn, false);
	folio_clear_dirty(ctx, pfn);
	file_set_slot(file, f->index, shadow);
	file->nr_cached--;
	ctx->m.nr_file_pages--;
	memcg_gauge(&ctx->m, f->memcg, GAUGE_FILE, -1);
}

/* Drop [from, to) of the cache: truncation takes all, fadvise(DONTNEED) only what is idle. */
void file_drop(struct rs_ctx *ctx, uint32_t id, uint64_t from, uint64_t to, bool truncate)
{
	struct file *f = &ctx->m.file[id];

	rs_lru_add_drain(ctx);
	to = MIN(to, f->nr_chunks * CACHE_CHUNK);
	for (uint64_t i = from; i < to; i++) {
		uint64_t slot;
		pfn_t pfn;

		if (!f->chunk[i / CACHE_CHUNK]) {
			i |= CACHE_CHUNK - 1;
			continue;
		}
		slot = file_slot(f, i);
		if (truncate && SLOT_IS_SHADOW(slot))
			file_set_slot(f, i, 0);
		pfn = file_page(f, i);
		if (!pfn)
			continue;
		if (!truncate &&
		    (ctx->m.folios[pfn].mapcount || ctx->m.folios[pfn].refs ||
		     ctx->m.folios[pfn].flags & (PG_dirty | PG_writeback | PG_locked))) {
			folio_deactivate_file(ctx, pfn);
			continue;
		}
		/* Held, since another thread may truncate, too, while this one waits. */
		ctx->m.folios[pfn].refs++;
		if (truncate) {
			folio_lock_wait(ctx, pfn);
			folio_wait_writeback(ctx, pfn);
			f = &ctx->m.file[id];
			if (file_page(f, i) != pfn) { /* gone while we waited: look again */
				i--;
				continue;
			}
			unmap_file_page(ctx, pfn);
		}
		f = &ctx->m.file[id];
		if (file_page(f, i) == pfn)
			file_remove_page(ctx, pfn, 0);
		folio_put(ctx, pfn);
	}
}

void file_truncate(struct rs_ctx *ctx, uint32_t id, uint64_t pages)
{
	struct file *f = &ctx->m.file[id];
	uint64_t old = f->pages;

	/* The size first: who comes while this thread waits for pages sees the shorter file. */
	file_grow(f, pages);
	f->pages = pages;
	f->disk_pages = MIN(f->disk_pages, pages);
	if (pages < old)
		file_drop(ctx, id, pages, old, true);
}
