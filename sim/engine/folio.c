/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * folio.c - the life of a folio outside the lists: mapped, dirty, under writeback, freed.
 */
#include "sim/engine/observe.h"
#include "sim/engine/psi.h"

static struct folio *folio_of(struct rs_ctx *ctx, pfn_t pfn)
{
	return &ctx->m.folios[pfn];
}

bool folio_evictable(const struct folio *f)
{
	return !(f->flags & PG_mlocked);
}

/* Onto the LRU: the engine's unevictable list or one of the policy's. */
void lru_add(struct rs_ctx *ctx, pfn_t pfn, bool tail)
{
	struct folio *f = folio_of(ctx, pfn);
	struct lruvec *l = folio_lruvec(&ctx->m, pfn);

	f->flags |= PG_lru;
	if (folio_evictable(f)) {
		f->flags &= ~(uint32_t)PG_unevictable;
		ctx->ops->add(ctx, &l->pub, pfn, tail);
		return;
	}
	f->flags = (f->flags & ~(uint32_t)PG_active) | PG_unevictable;
	rs_list_add(ctx->m.folios, l->unevictable, pfn);
	lruvec_size_add(&ctx->m, l, LRU_UNEVICTABLE, f->zone, folio_nr_pages(f));
}

void lru_del(struct rs_ctx *ctx, pfn_t pfn)
{
	struct folio *f = folio_of(ctx, pfn);
	struct lruvec *l = folio_lruvec(&ctx->m, pfn);

	g_assert(f->flags & PG_lru);
	if (f->flags & PG_unevictable) {
		rs_list_del(ctx->m.folios, pfn);
		lruvec_size_add(&ctx->m, l, LRU_UNEVICTABLE, f->zone, -(int64_t)folio_nr_pages(f));
	} else {
		ctx->ops->del(ctx, &l->pub, pfn);
	}
	f->flags &= ~(uint32_t)PG_lru;
}

void folio_free(struct rs_ctx *ctx, pfn_t pfn)
{
	struct folio *f = folio_of(ctx, pfn);
	unsigned order = f->order;

	g_assert(!f->mapcount && !f->refs && !(f->flags & (PG_swapcache | PG_writeback)));
	note(ctx, pfn, RS_NOTE_FREED, 0, 0);
	if (f->flags & PG_lru)
		lru_del(ctx, pfn);
	uncharge_folio(ctx, pfn);
	if (!ctx->freeing_list)
		memcg_stat_updated(&ctx->m, 1); /* PGPGOUT of a list of one */
	charge(ctx, RS_COST_PAGE_FREE, 1);
	ctx->m.vmstat[RS_PGFREE] += 1u << order;
	zone_free(&ctx->m, pfn, order);
}

/* Is anybody still able to reach it? Page cache folios are reached through their file. */
bool folio_in_use(struct rs_ctx *ctx, pfn_t pfn)
{
	const struct folio *f = folio_of(ctx, pfn);

	if (f->mapcount || f->refs ||
	    (f->flags & (PG_swapcache | PG_writeback | PG_isolated | PG_locked)))
		return true;
	return !(f->flags & PG_anon) && file_page(&ctx->m.file[f->object], f->index) == pfn;
}

void folio_free_if_unused(struct rs_ctx *ctx, pfn_t pfn)
{
	if (!folio_in_use(ctx, pfn))
		folio_free(ctx, pfn);
}

void folio_put(struct rs_ctx *ctx, pfn_t pfn)
{
	struct folio *f = folio_of(ctx, pfn);

	g_assert(f->refs);
	if (!--f->refs)
		folio_free_if_unused(ctx, pfn);
}

/* One mapping less. Kernel: mm/rmap.c page_remove_rmap(). */
void folio_remove_rmap(struct rs_ctx *ctx, pfn_t pfn)
{
	struct folio *f = folio_of(ctx, pfn);
	int64_t nr = folio_nr_pages(f);

	g_assert(f->mapcount);
	if (--f->mapcount)
		return;
	if (f->flags & PG_anon) {
		ctx->m.nr_anon_mapped -= nr;
		memcg_gauge(&ctx->m, f->memcg, GAUGE_ANON, -nr);
	} else {
		ctx->m.nr_file_mapped -= nr;
		memcg_gauge(&ctx->m, f->memcg, GAUGE_FILE_MAPPED, -nr);
	}
}

static struct cache_chunk *folio_chunk(struct rs_ctx *ctx, const struct folio *f)
{
	return ctx->m.file[f->object].chunk[f->index / CACHE_CHUNK];
}

/* Kernel: folio_mark_dirty(), folio_account_dirtied(). */
void folio_mark_dirty(struct rs_ctx *ctx, pfn_t pfn)
{
	struct folio *f = folio_of(ctx, pfn);
	struct file *file;

	if (f->flags & PG_dirty)
		return;
	f->flags |= PG_dirty;
	if (f->flags & PG_anon)
		return;
	file = &ctx->m.file[f->object];
	if (!file->nr_dirty++)
		file->dirtied_at = ctx->cur ? ctx->cur->now : ctx->now;
	folio_chunk(ctx, f)->nr_dirty++;
	ctx->m.nr_dirty++;
	if (ctx->cur)
		ctx->cur->nr_dirtied++;
	ctx->m.vmstat[RS_NR_DIRTIED]++;
	memcg_gauge(&ctx->m, f->memcg, GAUGE_FILE_DIRTY, 1);
}

void folio_clear_dirty(struct rs_ctx *ctx, pfn_t pfn)
{
	struct folio *f = folio_of(ctx, pfn);

	if (!(f->flags & PG_dirty))
		return;
	f->flags &= ~(uint32_t)PG_dirty;
	if (f->flags & PG_anon)
		return;
	ctx->m.file[f->object].nr_dirty--;
	folio_chunk(ctx, f)->nr_dirty--;
	ctx->m.nr_dirty--;
	memcg_gauge(&ctx->m, f->memcg, GAUGE_FILE_DIRTY, -1);
}

void folio_start_writeback(struct rs_ctx *ctx, pfn_t pfn)
{
	struct folio *f = folio_of(ctx, pfn);

	g_assert(!(f->flags & PG_writeback));
	f->flags |= PG_writeback;
	ctx->m.nr_writeback += folio_nr_pages(f);
	if (f->flags & PG_anon)
		memcg_stat_updated(&ctx->m, 1);
	else
		memcg_gauge(&ctx->m, f->memcg, GAUGE_FILE_WRITEBACK, 1);
}

static void wake_folio_waiters(struct rs_ctx *ctx, pfn_t pfn)
{
	for (uint32_t i = 0; i < ctx->nr_tasks; i++) {
		struct task *t = ctx->tasks[i];

		if (t->wait_pfn == pfn && t->state == TASK_WAITING) {
			t->wait_pfn = RS_PFN_NONE;
			task_wake(ctx, t, ctx->cur ? ctx->cur->now : ctx->now);
		}
	}
}

/* Kernel: mm/filemap.c folio_end_writeback(). */
void folio_end_writeback(struct rs_ctx *ctx, pfn_t pfn)
{
	struct folio *f = folio_of(ctx, pfn);

	if (f->flags & PG_reclaim) {
		f->flags &= ~(uint32_t)PG_reclaim;
		folio_rotate_reclaimable(ctx, pfn);
	}
	note(ctx, pfn, RS_NOTE_WRITTEN, 0, 0);
	f->flags &= ~(uint32_t)PG_writeback;
	ctx->m.nr_writeback -= folio_nr_pages(f);
	ctx->m.vmstat[RS_NR_WRITTEN] += folio_nr_pages(f);
	if (f->flags & PG_anon)
		memcg_stat_updated(&ctx->m, 1);
	else
		memcg_gauge(&ctx->m, f->memcg, GAUGE_FILE_WRITEBACK, -1);
	ctx->dirty.written += !(f->flags & PG_anon);
	wake_folio_waiters(ctx, pfn);
	folio_free_if_unused(ctx, pfn);
}

/* The read has ended. */
void folio_unlock(struct rs_ctx *ctx, pfn_t pfn)
{
	struct folio *f = folio_of(ctx, pfn);

	f->flags = (f->flags & ~(uint32_t)PG_locked) | PG_uptodate;
	wake_folio_waiters(ctx, pfn);
}

static void wait_folio(struct rs_ctx *ctx, pfn_t pfn, const char *what)
{
	ns_t from = ctx->cur->now;

	ctx->cur->wait_pfn = pfn;
	task_wait(ctx, WAIT_IO, what);
	ctx->cur->wait_pfn = RS_PFN_NONE;
	note_latency(ctx, RS_LATENCY_PAGE_WAIT, from);
}

/* Waits for a page that was in use when it went: for memory, then. */
static bool thrashing(const struct folio *f)
{
	return (f->flags & (PG_locked | PG_workingset | PG_uptodate)) ==
	       (PG_locked | PG_workingset);
}

/* Kernel: mm/filemap.c folio_wait_bit_common(). */
static void wait_locked(struct rs_ctx *ctx, pfn_t pfn)
{
	bool was_inside = !thrashing(folio_of(ctx, pfn)) || psi_memstall_enter(ctx);

	while ((folio_of(ctx, pfn)->flags & PG_locked) && !(ctx->cur->killable && ctx->cur->killed))
		wait_folio(ctx, pfn, "a page read");
	psi_memstall_leave(ctx, was_inside);
}

/* Ends early if the task is killed. Kernel: folio_wait_locked_killable(). */
void folio_wait_locked(struct rs_ctx *ctx, pfn_t pfn)
{
	ctx->cur->killable = true;
	wait_locked(ctx, pfn);
	ctx->cur->killable = false;
}

void folio_lock_wait(struct rs_ctx *ctx, pfn_t pfn)
{
	wait_locked(ctx, pfn);
}

void folio_wait_writeback(struct rs_ctx *ctx, pfn_t pfn)
{
	while (folio_of(ctx, pfn)->flags & PG_writeback)
		wait_folio(ctx, pfn, "page writeback");
}

void folio_mark_accessed(struct rs_ctx *ctx, pfn_t pfn)
{
	note(ctx, pfn, RS_NOTE_ACCESSED, 0, 0);
	if (ctx->ops->mark_accessed)
		ctx->ops->mark_accessed(ctx, pfn);
}

void workingset_refault(struct rs_ctx *ctx, pfn_t pfn, uint64_t shadow)
{
	struct rs_shadow s = shadow_unpack(shadow);
	const struct task *t = ctx->cur;

	if (ctx->ops->refault)
		ctx->ops->refault(ctx, pfn, &s,
				  t->in_fault && rs_vma_has_recency(ctx, t->fault_vma));
}
