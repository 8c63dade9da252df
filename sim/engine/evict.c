/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * evict.c - try to free a batch of isolated folios, each through the kernel's row of tests.
 * Kernel: mm/vmscan.c shrink_folio_list(), pageout(), __remove_mapping().
 */
#include "sim/engine/observe.h"

enum outcome { GO_ON, FREED, KEEP, ACTIVATE, MOVED };

struct evict {
	struct rs_scan *sc;
	struct rs_reclaim_stat *stat;
	uint8_t nid;
	bool ignore_references;
	enum rs_why why;   /* the last folio was not freed; for observers */
	uint32_t unmapped; /* pages whose TLB entries are still to be flushed */
};

static struct folio *folio_of(struct rs_ctx *ctx, pfn_t pfn)
{
	return &ctx->m.folios[pfn];
}

/* Dirty and writeback as the folio's lists see them. Kernel: folio_check_dirty_writeback(). */
static void count_dirty(struct rs_ctx *ctx, struct evict *e, const struct folio *f)
{
	bool dirty, writeback;

	/* Anonymous pages, and MADV_FREE ones, are not the flusher's business. */
	if (folio_lru_type(f) == RS_ANON || (f->flags & PG_anon))
		return;
	dirty = f->flags & PG_dirty;
	writeback = f->flags & PG_writeback;
	if (dirty || writeback)
		e->stat->nr_dirty += folio_nr_pages(f);
	if (dirty && !writeback)
		e->stat->nr_unqueued_dirty += folio_nr_pages(f);
	if (writeback && (f->flags & PG_reclaim))
		e->stat->nr_congested += folio_nr_pages(f);
}

static enum outcome under_writeback(struct rs_ctx *ctx, struct evict *e, struct folio *f)
{
	if (e->sc->kswapd && (f->flags & PG_reclaim) && ctx->pgdat[e->nid].wb_flag) {
		e->stat->nr_immediate += folio_nr_pages(f);
		return ACTIVATE;
	}
	f->flags |= PG_reclaim;
	e->stat->nr_writeback += folio_nr_pages(f);
	return ACTIVATE;
}

/* A page that reclaim has to leave to the flusher. False: kswapd may write it itself (before 7.2).
 */
static bool dirty_file_waits(struct rs_ctx *ctx, struct evict *e, pfn_t pfn)
{
	struct folio *f = folio_of(ctx, pfn);

	if (ctx->m.kernel < RS_KERNEL_7_2 && e->sc->kswapd && (f->flags & PG_reclaim) &&
	    ctx->pgdat[e->nid].dirty_flag)
		return false;
	ctx->m.vmstat[RS_NR_VMSCAN_IMMEDIATE] += folio_nr_pages(f);
	f->flags |= PG_reclaim;
	return true;
}

static void flush_tlb(struct rs_ctx *ctx, struct evict *e)
{
	if (!e->unmapped)
		return;
	charge(ctx, ctx->nr_cpus > 1 ? RS_COST_TLB_FLUSH_BATCH : RS_COST_TLB_FLUSH_LOCAL, 1);
	if (ctx->nr_cpus > 1)
		charge(ctx, RS_COST_TLB_FLUSH_CPU, ctx->nr_cpus - 1);
	e->unmapped = 0;
}

/* Start the write. Kernel: pageout(), shmem and swap only since 7.2. */
static bool pageout(struct rs_ctx *ctx, struct evict *e, pfn_t pfn)
{
	struct folio *f = folio_of(ctx, pfn);

	if (f->refs || ((f->flags & PG_anon) && !zram_reserve(ctx, pfn)))
		return false;
	if (OBSERVED(ctx))
		trace_write_folio(ctx, pfn);
	note(ctx, pfn, RS_NOTE_PAGEOUT, 0, 0);
	flush_tlb(ctx, e);
	folio_clear_dirty(ctx, pfn);
	f->flags |= PG_reclaim;
	ctx->m.vmstat[RS_NR_VMSCAN_WRITE] += folio_nr_pages(f);
	e->stat->nr_pageout += folio_nr_pages(f);
	if (f->flags & PG_anon) {
		swap_writepage(ctx, pfn);
	} else {
		clean_ptes(ctx, pfn);
		folio_start_writeback(ctx, pfn);
		device_write(ctx, &ctx->disk_dev, &pfn, 1);
	}
	/* A synchronous device is done by now. Kernel: clears PG_reclaim when no writeback is left.
	 */
	if (!(f->flags & PG_writeback))
		f->flags &= ~(uint32_t)PG_reclaim;
	return true;
}

/* Cut the last tie: cache entry -> shadow. False: somebody holds it. Kernel: __remove_mapping(). */
static bool remove_mapping(struct rs_ctx *ctx, struct evict *e, pfn_t pfn)
{
	struct folio *f = folio_of(ctx, pfn);
	uint64_t shadow = 0;

	if (f->refs || (f->flags & PG_dirty))
		return false;
	/* Truncated while it was isolated: only its reclaimer still has it. */
	if (!(f->flags & PG_anon) && file_page(&ctx->m.file[f->object], f->index) != pfn)
		return true;
	if ((f->flags & PG_anon) && !(f->flags & PG_swapbacked)) {
		lruvec_count(&ctx->m, folio_lruvec(&ctx->m, pfn), RS_PGLAZYFREED,
			     folio_nr_pages(f));
		return true;
	}
	if (ctx->ops->evict) {
		struct rs_shadow s = ctx->ops->evict(ctx, pfn, e->sc->target_memcg);

		shadow = shadow_pack(&s);
	}
	if (f->flags & PG_swapcache)
		swap_cache_del(&ctx->m, pfn, shadow);
	else
		file_remove_page(ctx, pfn, shadow);
	return true;
}

/* Kernel: the activate_locked label. */
static enum outcome activate(struct rs_ctx *ctx, struct evict *e, pfn_t pfn)
{
	struct folio *f = folio_of(ctx, pfn);

	if ((f->flags & PG_swapcache) &&
	    (memcg_swap_full(&ctx->m, f->memcg) || (f->flags & PG_mlocked)))
		folio_free_swap(ctx, pfn);
	if (f->flags & PG_mlocked)
		return KEEP;
	f->flags |= PG_active;
	e->stat->nr_activate[folio_lru_type(f)] += folio_nr_pages(f);
	lruvec_count(&ctx->m, folio_lruvec(&ctx->m, pfn), RS_PGACTIVATE, folio_nr_pages(f));
	return ACTIVATE;
}

/* Write it, then free it if that is already over. */
static enum outcome write_out(struct rs_ctx *ctx, struct evict *e, pfn_t pfn,
			      enum rs_verdict verdict)
{
	struct folio *f = folio_of(ctx, pfn);

	e->why = RS_WHY_DIRTY;
	if (folio_lru_type(f) == RS_FILE && !(f->flags & PG_anon) && dirty_file_waits(ctx, e, pfn))
		return activate(ctx, e, pfn);
	if (verdict == RS_RECLAIM_CLEAN)
		return KEEP;
	if (!e->sc->gfp_fs && !(f->flags & PG_anon))
		return KEEP;
	if (!e->sc->may_writepage || !pageout(ctx, e, pfn))
		return KEEP;
	e->why = RS_WHY_BEING_WRITTEN;
	if (f->flags & (PG_writeback | PG_dirty))
		return KEEP;
	return FREED;
}

/* Swap slot, unmapping. */
static enum outcome prepare(struct rs_ctx *ctx, struct evict *e, pfn_t pfn)
{
	struct folio *f = folio_of(ctx, pfn);

	e->why = RS_WHY_NO_SWAP;
	if ((f->flags & PG_anon) && (f->flags & PG_swapbacked) && !(f->flags & PG_swapcache)) {
		if (!e->sc->gfp_io)
			return KEEP;
		if (f->order && !split_folio(ctx, pfn))
			return ACTIVATE;
		if (!add_to_swap(ctx, pfn))
			return ACTIVATE;
	}
	e->why = RS_WHY_UNMAP;
	if (f->mapcount) {
		e->unmapped += folio_nr_pages(f);
		if (!try_to_unmap(ctx, pfn)) {
			e->stat->nr_unmap_fail += folio_nr_pages(f);
			return ACTIVATE;
		}
	}
	return GO_ON;
}

static enum rs_verdict references(struct rs_ctx *ctx, struct evict *e, pfn_t pfn)
{
	if (e->ignore_references || !ctx->ops->check_references)
		return RS_RECLAIM;
	return ctx->ops->check_references(ctx, pfn, e->sc);
}

static enum outcome try_one(struct rs_ctx *ctx, struct evict *e, pfn_t pfn)
{
	struct folio *f = folio_of(ctx, pfn);
	enum rs_verdict verdict;
	enum outcome step;

	e->why = RS_WHY_LOCKED;
	if (f->flags & PG_locked)
		return KEEP;
	e->why = RS_WHY_UNEVICTABLE;
	if (!folio_evictable(f))
		return activate(ctx, e, pfn);
	e->why = RS_WHY_MAPPED;
	if (!e->sc->may_unmap && f->mapcount)
		return KEEP;
	e->why = RS_WHY_YOUNG_MEANWHILE;
	if (!e->ignore_references && ctx->ops->keep_early && ctx->ops->keep_early(ctx, pfn))
		return KEEP;
	count_dirty(ctx, e, f);
	e->why = RS_WHY_WRITEBACK;
	if (f->flags & PG_writeback) {
		under_writeback(ctx, e, f);
		return activate(ctx, e, pfn);
	}
	verdict = references(ctx, e, pfn);
	e->why = RS_WHY_REFERENCED;
	if (verdict == RS_ACTIVATE)
		return activate(ctx, e, pfn);
	if (verdict == RS_KEEP) {
		e->stat->nr_ref_keep += folio_nr_pages(f);
		return KEEP;
	}
	if (demote_folio(ctx, e->nid, pfn, e->sc))
		return MOVED;
	step = prepare(ctx, e, pfn);
	if (step != GO_ON)
		return step == ACTIVATE ? activate(ctx, e, pfn) : step;
	if (f->flags & PG_dirty) {
		enum outcome w = write_out(ctx, e, pfn, verdict);

		if (w != FREED)
			return w;
	}
	e->why = RS_WHY_HELD;
	if (!remove_mapping(ctx, e, pfn))
		return KEEP;
	e->why = RS_WHY_NONE;
	return FREED;
}

static void note_outcome(struct rs_ctx *ctx, pfn_t pfn, enum outcome o, const struct evict *e)
{
	const struct rs_scan *sc = e->sc;

	if (o == FREED)
		observe_note(ctx, pfn, RS_NOTE_EVICTED,
			     sc->kswapd		  ? RS_BY_KSWAPD
			     : sc->proactive	  ? RS_BY_PROACTIVE
			     : sc->cgroup_reclaim ? RS_BY_LIMIT
						  : RS_BY_DIRECT,
			     sc->priority);
	else if (o == KEEP || o == ACTIVATE)
		observe_note(ctx, pfn, RS_NOTE_VERDICT,
			     o == KEEP ? RS_OUTCOME_KEPT : RS_OUTCOME_ACTIVATED, e->why);
}

uint32_t rs_shrink_folios(struct rs_ctx *ctx, uint8_t nid, struct rs_isolated *list,
			  struct rs_scan *sc, struct rs_reclaim_stat *stat, bool ignore_references)
{
	struct evict e = {
		.sc = sc, .stat = stat, .nid = nid, .ignore_references = ignore_references
	};
	pfn_t freed[RS_ISOLATED_MAX];
	uint32_t nr_freed = 0, kept = 0, pages = 0;

	for (uint32_t i = 0; i < list->n; i++) {
		pfn_t pfn = list->pfn[i];
		uint32_t nr = folio_nr_pages(folio_of(ctx, pfn));
		enum outcome o = try_one(ctx, &e, pfn);

		sc->nr_scanned += nr;
		if (OBSERVED(ctx))
			note_outcome(ctx, pfn, o, &e);
		if (o == FREED) {
			freed[nr_freed++] = pfn;
			pages += nr;
		} else if (o == KEEP || o == ACTIVATE) {
			list->pfn[kept++] = pfn;
		} else {
			pages += nr; /* demoted: this node has it no more */
		}
	}
	list->n = kept;
	flush_tlb(ctx, &e);
	ctx->freeing_list = true;
	for (uint32_t i = 0; i < nr_freed; i++) {
		struct folio *f = folio_of(ctx, freed[i]);

		ctx->m.node[f->nid].nr_isolated[folio_lru_type(f)] -= folio_nr_pages(f);
		f->flags &= ~(uint32_t)PG_isolated;
		folio_free(ctx, freed[i]);
	}
	ctx->freeing_list = false;
	if (nr_freed)
		memcg_stat_updated(&ctx->m, nr_freed); /* PGPGOUT, once a list */
	task_checkpoint(ctx);			       /* cond_resched() */
	return pages;
}

/* ---- isolation ---- */

bool rs_isolate(struct rs_ctx *ctx, pfn_t pfn)
{
	struct folio *f = folio_of(ctx, pfn);

	g_assert(f->flags & PG_lru);
	f->flags = (f->flags & ~(uint32_t)PG_lru) | PG_isolated;
	ctx->m.node[f->nid].nr_isolated[folio_lru_type(f)] += folio_nr_pages(f);
	note(ctx, pfn, RS_NOTE_ISOLATED, 0, 0);
	return true;
}

void rs_putback(struct rs_ctx *ctx, pfn_t pfn)
{
	struct folio *f = folio_of(ctx, pfn);

	g_assert(f->flags & PG_isolated);
	f->flags &= ~(uint32_t)PG_isolated;
	ctx->m.node[f->nid].nr_isolated[folio_lru_type(f)] -= folio_nr_pages(f);
	/* Its last user may have gone while it was isolated. */
	if (folio_in_use(ctx, pfn))
		lru_add(ctx, pfn, false);
	else
		folio_free(ctx, pfn);
}
