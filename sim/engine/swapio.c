/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * swapio.c - pages to swap and back: slots from the CPU's cache, the swap cache, the block plug,
 * swap read-ahead. Kernel: mm/swap_slots.c, mm/swap_state.c, mm/page_io.c, block/blk-mq.c.
 */
#include "sim/engine/observe.h"

#define PLUG_FLUSH_PAGES 32u  /* BLK_PLUG_FLUSH_SIZE, 128 KiB */
#define PLUG_MAX_REQUESTS 32u /* BLK_MAX_REQUEST_COUNT */

/* ---- the plug: swap writes wait here and merge with their neighbours ---- */

void plug_start(struct rs_ctx *ctx, struct plug *plug)
{
	plug->nr_requests = plug->n = 0;
	if (!ctx->cur->plug)
		ctx->cur->plug = plug;
}

static void issue_request(struct rs_ctx *ctx, struct plug *p, uint32_t i)
{
	uint32_t n = p->start[i + 1] - p->start[i];

	if (p->read[i])
		device_read(ctx, &ctx->swap_dev, p->pfn + p->start[i], n);
	else
		device_write(ctx, &ctx->swap_dev, p->pfn + p->start[i], n);
}

/*
 * Requests leave in the order they were made; before 6.12 the youngest first, since the plug was a
 * stack (block/blk-mq.c blk_add_rq_to_plug()).
 */
void plug_flush(struct rs_ctx *ctx)
{
	struct plug *p = ctx->cur->plug, todo;

	if (!p || !p->n)
		return;
	todo = *p;
	todo.start[todo.nr_requests] = todo.n;
	p->nr_requests = p->n = 0;
	for (uint32_t i = 0; i < todo.nr_requests; i++)
		issue_request(ctx, &todo,
			      ctx->m.kernel < RS_KERNEL_6_12 ? todo.nr_requests - 1 - i : i);
}

void plug_finish(struct rs_ctx *ctx, struct plug *plug)
{
	if (ctx->cur->plug != plug)
		return;
	plug_flush(ctx);
	ctx->cur->plug = NULL;
}

static void plug_add(struct rs_ctx *ctx, pfn_t pfn, uint32_t slot, bool read)
{
	struct plug *p = ctx->cur->plug;
	uint32_t nr = folio_nr_pages(&ctx->m.folios[pfn]);

	if (p->n && p->read[p->nr_requests - 1] == read && p->last_slot + 1 == slot &&
	    p->last_pages + nr <= ctx->swap_dev.max_pages && p->n < PLUG_FOLIOS) {
		p->last_pages += nr;
	} else {
		if (p->nr_requests >= PLUG_MAX_REQUESTS || p->n == PLUG_FOLIOS ||
		    (p->n && p->last_pages >= PLUG_FLUSH_PAGES))
			plug_flush(ctx);
		p->read[p->nr_requests] = read;
		p->start[p->nr_requests++] = p->n;
		p->last_pages = nr;
	}
	p->last_slot = slot + nr - 1;
	p->pfn[p->n++] = pfn;
}

/* Kernel: mm/page_io.c swap_writepage(). The folio is in the swap cache and clean by now. */
void swap_writepage(struct rs_ctx *ctx, pfn_t pfn)
{
	struct folio *f = &ctx->m.folios[pfn];

	lruvec_count(&ctx->m, folio_lruvec(&ctx->m, pfn), RS_PSWPOUT, folio_nr_pages(f));
	folio_start_writeback(ctx, pfn);
	if (ctx->cur->plug && !ctx->swap_dev.sync)
		plug_add(ctx, pfn, folio_slot(&ctx->m, pfn), false);
	else
		device_write(ctx, &ctx->swap_dev, &pfn, 1);
}

/* ---- slots ---- */

/* Kernel: mm/swap_slots.c folio_alloc_swap(); 7.2 has no cache. */
static uint32_t alloc_slot(struct rs_ctx *ctx)
{
	struct cpu *cpu = this_cpu(ctx);

	if (ctx->m.kernel >= RS_KERNEL_7_2)
		return swap_take_slot(&ctx->m);
	if (!cpu->nr_slots) {
		uint32_t slot;

		while (cpu->nr_slots < SLOTS_CACHE && (slot = swap_take_slot(&ctx->m)))
			cpu->slot[cpu->nr_slots++] = slot;
		cpu->next_slot = 0;
		if (!cpu->nr_slots)
			return 0;
	}
	cpu->nr_slots--;
	return cpu->slot[cpu->next_slot++];
}

/* Kernel: mm/swap_state.c add_to_swap(). False: no slot, or the group may not swap more. */
bool add_to_swap(struct rs_ctx *ctx, pfn_t pfn)
{
	struct folio *f = &ctx->m.folios[pfn];
	uint32_t slot;

	if (ctx->cfg.swap == DEV_NONE)
		return false;
	slot = alloc_slot(ctx);
	if (!slot)
		return false;
	for (uint16_t i = f->memcg; i != RS_MEMCG_NONE; i = ctx->m.memcg[i].parent) {
		const struct memcg *g = &ctx->m.memcg[i];

		if (g->swap_max != RS_UNLIMITED && g->swap_usage + 1 > g->swap_max) {
			swap_release_slot(&ctx->m, slot);
			return false;
		}
	}
	charge(ctx, RS_COST_SWAP_SLOT, 1);
	swap_cache_add(&ctx->m, pfn, slot);
	note(ctx, pfn, RS_NOTE_SWAP_SLOT, slot, 0);
	folio_mark_dirty(ctx, pfn);
	return true;
}

/* Out of the swap cache if no swap PTE is left; the page then exists in memory only. */
bool folio_free_swap(struct rs_ctx *ctx, pfn_t pfn)
{
	struct folio *f = &ctx->m.folios[pfn];

	if (!(f->flags & PG_swapcache) || (f->flags & PG_writeback) ||
	    ctx->m.swap.slot[folio_slot(&ctx->m, pfn)].count)
		return false;
	swap_cache_del(&ctx->m, pfn, 0);
	folio_mark_dirty(ctx, pfn);
	return true;
}

/* A swap PTE goes with its process. Kernel: mm/swapfile.c free_swap_and_cache(). */
void swap_free_entry(struct rs_ctx *ctx, uint32_t slot)
{
	pfn_t cached = ctx->m.swap.slot[slot].cached;

	swap_put(&ctx->m, slot);
	if (cached && !ctx->m.folios[cached].mapcount &&
	    !(ctx->m.folios[cached].flags & PG_locked) && folio_free_swap(ctx, cached))
		folio_free_if_unused(ctx, cached);
}

/* ---- swap-in ---- */

/*
 * Allocate, charge, insert, refault, LRU; then read. The page learns whose it is when it is mapped.
 * Kernel: __read_swap_cache_async().
 */
static pfn_t read_swap_cache(struct rs_ctx *ctx, const struct rs_vma *vma, uint64_t vpn,
			     uint32_t slot)
{
	struct swap_slot *s = &ctx->m.swap.slot[slot];
	uint64_t shadow;
	pfn_t pfn;

	if (s->cached || !s->count)
		return s->cached;
	pfn = alloc_folio(ctx, 0, vma, vpn);
	if (!pfn)
		return RS_PFN_NONE;
	if (!charge_folio(ctx, pfn, s->memcg)) {
		folio_free(ctx, pfn);
		return RS_PFN_NONE;
	}
	/* Somebody else may have read it, or its owner gone, while we reclaimed. */
	if (s->cached || !s->count) {
		folio_free(ctx, pfn);
		return s->cached;
	}
	ctx->m.folios[pfn].flags |= PG_anon | PG_swapbacked | PG_locked;
	shadow = s->shadow;
	charge(ctx, RS_COST_SWAP_SLOT, 1);
	swap_cache_add(&ctx->m, pfn, slot);
	if (OBSERVED(ctx))
		observe_swapin(ctx, pfn, slot);
	if (shadow)
		workingset_refault(ctx, pfn, shadow);
	folio_add_lru(ctx, pfn);
	lruvec_count(&ctx->m, folio_lruvec(&ctx->m, pfn), RS_PSWPIN, 1);
	if (ctx->cur->plug && !ctx->swap_dev.sync)
		plug_add(ctx, pfn, slot, true); /* locked until it is issued */
	else
		device_read(ctx, &ctx->swap_dev, &pfn, 1);
	return pfn;
}

/*
 * Size of the window in pages from the hits of the last one. The VMA variant cannot tell adjacency
 * of slots, the caller gives it. Kernel: mm/swap_state.c __swapin_nr_pages().
 */
static uint32_t window_size(uint64_t hits, bool adjacent, uint32_t max, uint32_t prev_win)
{
	uint32_t pages = hits + 2;

	if (pages == 2) {
		if (!adjacent)
			pages = 1;
	} else {
		uint32_t p = 4;

		while (p < pages)
			p <<= 1;
		pages = p;
	}
	pages = MIN(pages, max);
	return MAX(pages, prev_win / 2);
}

static void read_ahead_slot(struct rs_ctx *ctx, const struct rs_vma *vma, uint64_t vpn,
			    uint32_t slot)
{
	pfn_t pfn;

	if (ctx->m.swap.slot[slot].cached || !ctx->m.swap.slot[slot].count)
		return;
	pfn = read_swap_cache(ctx, vma, vpn, slot);
	if (!pfn)
		return;
	ctx->m.folios[pfn].flags |= PG_readahead;
	ctx->m.vmstat[RS_SWAP_RA]++;
}

/* Window of the VMA variant: [start, end), within the VMA and the page table. */
static uint32_t vma_window(struct rs_ctx *ctx, struct rs_vma *vma, uint64_t vpn, uint64_t *start,
			   uint64_t *end)
{
	uint32_t max = 1u << MIN(ctx->cfg.page_cluster, 5), win, left;
	uint64_t prev = vma->ra_addr;
	bool fresh = !prev && !vma->ra_win && !vma->ra_hits; /* Kernel: GET_SWAP_RA_VAL() */

	win = max == 1 ? 1
		       : window_size(fresh ? 4 : vma->ra_hits, vpn == prev + 1 || vpn + 1 == prev,
				     max, vma->ra_win);
	vma->ra_addr = vpn;
	vma->ra_win = win;
	vma->ra_hits = 0;
	left = vpn == prev + 1 ? 0 : vpn + 1 == prev ? win - 1 : (win - 1) / 2;
	*start = vpn >= left ? vpn - left : 0;
	*end = vpn - left + win;
	*start = MAX(*start, MAX(vma->start, vpn & ~(uint64_t)511));
	*end = MIN(*end, MIN(vma->end, (vpn | 511) + 1));
	return win;
}

/* Kernel: swap_vma_readahead(). */
static pfn_t vma_readahead(struct rs_ctx *ctx, struct mm *mm, struct rs_vma *vma, uint64_t vpn,
			   uint32_t slot)
{
	uint64_t start, end;
	struct plug plug;

	if (vma_window(ctx, vma, vpn, &start, &end) == 1)
		return read_swap_cache(ctx, vma, vpn, slot);
	plug_start(ctx, &plug);
	for (uint64_t v = start; v < end; v++) {
		uint32_t *pte = mm_pte(&ctx->m, mm, v);

		if (v == vpn)
			read_swap_cache(ctx, vma, vpn, slot);
		else if (pte && pte_is_swap(*pte))
			read_ahead_slot(ctx, vma, v, pte_slot(*pte));
	}
	plug_finish(ctx, &plug);
	rs_lru_add_drain(ctx);
	return read_swap_cache(ctx, vma, vpn, slot);
}

/* Rotating disks: the aligned block of slots around the entry. Kernel: swap_cluster_readahead(). */
static pfn_t cluster_readahead(struct rs_ctx *ctx, struct rs_vma *vma, uint64_t vpn, uint32_t slot)
{
	uint32_t max = 1u << ctx->cfg.page_cluster, win, first, last;
	bool adjacent = slot == ctx->swap_ra_prev + 1 || slot + 1 == ctx->swap_ra_prev;

	win = max == 1 ? 1 : window_size(ctx->swap_ra_hits, adjacent, max, ctx->swap_ra_win);
	ctx->swap_ra_prev = slot;
	ctx->swap_ra_win = win;
	ctx->swap_ra_hits = 0;
	if (win == 1)
		return read_swap_cache(ctx, vma, vpn, slot);
	first = MAX(slot & ~(win - 1), 1);
	last = MIN(slot | (win - 1), ctx->m.swap.nr_slots - 1);
	for (uint32_t s = first; s <= last; s++) {
		if (s == slot)
			read_swap_cache(ctx, vma, vpn, slot);
		else
			read_ahead_slot(ctx, vma, vpn, s);
	}
	rs_lru_add_drain(ctx);
	return read_swap_cache(ctx, vma, vpn, slot);
}

static bool rotating(const struct rs_ctx *ctx)
{
	/* virtio-blk says that it rotates. */
	return ctx->swap_dev.kind == DEV_HDD || ctx->swap_dev.kind == DEV_VIRTIO;
}

/* The faulting page and perhaps its neighbours, through the swap cache. 0: no memory. */
pfn_t swapin_readahead(struct rs_ctx *ctx, struct mm *mm, struct rs_vma *vma, uint64_t vpn,
		       uint32_t slot)
{
	if (rotating(ctx))
		return cluster_readahead(ctx, vma, vpn, slot);
	return vma_readahead(ctx, mm, vma, vpn, slot);
}

/* A lookup that finds the page: bookkeeping of read-ahead hits. Kernel: swap_cache_get_folio(). */
pfn_t swap_cache_lookup(struct rs_ctx *ctx, struct rs_vma *vma, uint64_t vpn, uint32_t slot)
{
	pfn_t pfn = ctx->m.swap.slot[slot].cached;
	bool marked;

	if (!pfn)
		return pfn;
	marked = ctx->m.folios[pfn].flags & PG_readahead;
	ctx->m.folios[pfn].flags &= ~(uint32_t)PG_readahead;
	if (!rotating(ctx)) {
		if (!vma->ra_addr && !vma->ra_win && !vma->ra_hits)
			vma->ra_hits = 4; /* Kernel: GET_SWAP_RA_VAL() */
		vma->ra_addr = vpn;
		if (marked)
			vma->ra_hits = MIN(vma->ra_hits + 1, 63);
	}
	if (marked) {
		ctx->m.vmstat[RS_SWAP_RA_HIT]++;
		ctx->swap_ra_hits += rotating(ctx);
	}
	return pfn;
}
