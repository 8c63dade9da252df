/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * batch.c - the CPU's folio batches: folios wait here until there are enough to take the LRU lock
 * for. Kernel: mm/swap.c. An entry pins its folio; a batch is drained by the entry that fills it,
 * by a large folio, or by lru_add_drain().
 */
#include "sim/engine/observe.h"

typedef void move_fn(struct rs_ctx *, pfn_t);

static struct folio *folio_of(struct rs_ctx *ctx, pfn_t pfn)
{
	return &ctx->m.folios[pfn];
}

/* Kernel: lru_add(). */
static void move_add(struct rs_ctx *ctx, pfn_t pfn)
{
	struct folio *f = folio_of(ctx, pfn);

	f->flags &= ~(uint32_t)PG_in_batch;
	if (!folio_evictable(f) && !(f->flags & PG_unevictable))
		ctx->m.vmstat[RS_UNEVICTABLE_PGCULLED] += folio_nr_pages(f);
	lru_add(ctx, pfn, false);
}

/* Kernel: lru_activate(). */
static void move_activate(struct rs_ctx *ctx, pfn_t pfn)
{
	struct folio *f = folio_of(ctx, pfn);

	if (f->flags & (PG_active | PG_unevictable))
		return;
	note(ctx, pfn, RS_NOTE_ACTIVATED, 0, 0);
	lru_del(ctx, pfn);
	f->flags |= PG_active;
	lru_add(ctx, pfn, false);
	lruvec_count(&ctx->m, folio_lruvec(&ctx->m, pfn), RS_PGACTIVATE, folio_nr_pages(f));
}

/* Kernel: lru_move_tail(). */
static void move_tail(struct rs_ctx *ctx, pfn_t pfn)
{
	struct folio *f = folio_of(ctx, pfn);

	if (f->flags & PG_unevictable)
		return;
	note(ctx, pfn, RS_NOTE_ROTATED, 0, 0);
	lru_del(ctx, pfn);
	f->flags &= ~(uint32_t)PG_active;
	lru_add(ctx, pfn, true);
	ctx->m.vmstat[RS_PGROTATED] += folio_nr_pages(f);
}

/* MADV_COLD and friends. Kernel: lru_deactivate(). */
static void move_deactivate(struct rs_ctx *ctx, pfn_t pfn)
{
	struct folio *f = folio_of(ctx, pfn);

	if (f->flags & PG_unevictable || !(f->flags & PG_active || ctx->ops->is_lru_gen))
		return;
	if (ctx->ops->deactivate && !ctx->ops->deactivate(ctx, pfn))
		return;
	note(ctx, pfn, RS_NOTE_DEACTIVATED, 0, 0);
	lru_del(ctx, pfn);
	f->flags &= ~(uint32_t)(PG_active | PG_referenced);
	lru_add(ctx, pfn, false);
	lruvec_count(&ctx->m, folio_lruvec(&ctx->m, pfn), RS_PGDEACTIVATE, folio_nr_pages(f));
}

/* Invalidation that could not free the page. Kernel: lru_deactivate_file(). */
static void move_deactivate_file(struct rs_ctx *ctx, pfn_t pfn)
{
	struct folio *f = folio_of(ctx, pfn);
	bool was_active = f->flags & PG_active, busy = f->flags & (PG_dirty | PG_writeback);

	if (f->flags & PG_unevictable || f->mapcount)
		return;
	note(ctx, pfn, RS_NOTE_DEACTIVATED, 0, 0);
	lru_del(ctx, pfn);
	f->flags &= ~(uint32_t)(PG_active | PG_referenced);
	if (busy)
		f->flags |= PG_reclaim;
	lru_add(ctx, pfn, !busy);
	if (!busy)
		ctx->m.vmstat[RS_PGROTATED] += folio_nr_pages(f);
	if (was_active)
		lruvec_count(&ctx->m, folio_lruvec(&ctx->m, pfn), RS_PGDEACTIVATE,
			     folio_nr_pages(f));
}

/* MADV_FREE: to the file lists. Kernel: lru_lazyfree(). */
static void move_lazyfree(struct rs_ctx *ctx, pfn_t pfn)
{
	struct folio *f = folio_of(ctx, pfn);

	if (!(f->flags & PG_anon) || !(f->flags & PG_swapbacked) ||
	    f->flags & (PG_swapcache | PG_unevictable))
		return;
	lru_del(ctx, pfn);
	f->flags &= ~(uint32_t)(PG_active | PG_referenced | PG_swapbacked);
	lru_add(ctx, pfn, false);
	lruvec_count(&ctx->m, folio_lruvec(&ctx->m, pfn), RS_PGLAZYFREE, folio_nr_pages(f));
}

/* Moves all; one lock hold for a run of folios of the same lruvec. */
static void drain(struct rs_ctx *ctx, struct folio_batch *b, move_fn *move)
{
	struct folio_batch todo = *b;
	struct lruvec *locked = NULL;
	uint64_t held = 0;

	b->n = 0;
	for (uint32_t i = 0; i < todo.n; i++) {
		pfn_t pfn = todo.pfn[i];
		struct lruvec *l = folio_lruvec(&ctx->m, pfn);

		/* Lost the lru flag meanwhile: isolated by reclaim. */
		if (move != move_add && !(folio_of(ctx, pfn)->flags & PG_lru))
			continue;
		if (l != locked) {
			if (locked)
				rs_lru_unlock(ctx, &locked->pub, held);
			rs_lru_lock(ctx, &l->pub);
			locked = l;
			held = 0;
		}
		move(ctx, pfn);
		held++;
	}
	if (locked)
		rs_lru_unlock(ctx, &locked->pub, held);
	for (uint32_t i = 0; i < todo.n; i++)
		folio_put(ctx, todo.pfn[i]);
}

static void push(struct rs_ctx *ctx, struct folio_batch *b, pfn_t pfn, move_fn *move)
{
	folio_of(ctx, pfn)->refs++;
	b->pfn[b->n++] = pfn;
	if (b->n == ctx->tun.batch_size || folio_of(ctx, pfn)->order)
		drain(ctx, b, move);
}

/* Kernel: folio_add_lru(). */
void folio_add_lru(struct rs_ctx *ctx, pfn_t pfn)
{
	struct task *t = ctx->cur;

	if (ctx->ops->fault_add && t->in_fault && !t->memalloc &&
	    rs_vma_has_recency(ctx, t->fault_vma))
		ctx->ops->fault_add(ctx, pfn, t->fault_vma);
	charge(ctx, RS_COST_LRU_ADD_PAGE, 1);
	folio_of(ctx, pfn)->flags |= PG_in_batch;
	push(ctx, &this_cpu(ctx)->add, pfn, move_add);
}

void rs_folio_activate(struct rs_ctx *ctx, pfn_t pfn)
{
	if ((folio_of(ctx, pfn)->flags & (PG_lru | PG_active | PG_unevictable)) == PG_lru)
		push(ctx, &this_cpu(ctx)->activate, pfn, move_activate);
}

void folio_rotate_reclaimable(struct rs_ctx *ctx, pfn_t pfn)
{
	if ((folio_of(ctx, pfn)->flags & (PG_locked | PG_dirty | PG_unevictable | PG_lru)) ==
	    PG_lru)
		push(ctx, &this_cpu(ctx)->rotate, pfn, move_tail);
}

void folio_deactivate(struct rs_ctx *ctx, pfn_t pfn)
{
	if ((folio_of(ctx, pfn)->flags & (PG_lru | PG_unevictable)) == PG_lru)
		push(ctx, &this_cpu(ctx)->deactivate, pfn, move_deactivate);
}

void folio_deactivate_file(struct rs_ctx *ctx, pfn_t pfn)
{
	if ((folio_of(ctx, pfn)->flags & (PG_lru | PG_unevictable)) == PG_lru)
		push(ctx, &this_cpu(ctx)->deactivate_file, pfn, move_deactivate_file);
}

void folio_mark_lazyfree(struct rs_ctx *ctx, pfn_t pfn)
{
	if ((folio_of(ctx, pfn)->flags & (PG_lru | PG_unevictable)) == PG_lru)
		push(ctx, &this_cpu(ctx)->lazyfree, pfn, move_lazyfree);
}

/*
 * Kernel: mm/mlock.c mlock_folio(), munlock_folio(). Differs: moved at once, the kernel has one
 * more batch here.
 */
void folio_mlock(struct rs_ctx *ctx, pfn_t pfn, bool lock)
{
	struct folio *f = folio_of(ctx, pfn);
	bool was = f->flags & PG_mlocked;

	if (was == lock)
		return;
	if (f->flags & PG_lru)
		lru_del(ctx, pfn);
	f->flags ^= PG_mlocked;
	ctx->m.vmstat[lock ? RS_UNEVICTABLE_PGMLOCKED : RS_UNEVICTABLE_PGMUNLOCKED] +=
		folio_nr_pages(f);
	if (f->flags & (PG_in_batch | PG_isolated))
		return;
	if (!lock) {
		ctx->m.vmstat[RS_UNEVICTABLE_PGRESCUED] += folio_nr_pages(f);
		f->flags &= ~(uint32_t)(PG_active | PG_unevictable);
	}
	lru_add(ctx, pfn, false);
}

void lru_add_drain_cpu(struct rs_ctx *ctx, struct cpu *cpu)
{
	drain(ctx, &cpu->add, move_add);
	drain(ctx, &cpu->rotate, move_tail);
	drain(ctx, &cpu->deactivate_file, move_deactivate_file);
	drain(ctx, &cpu->deactivate, move_deactivate);
	drain(ctx, &cpu->lazyfree, move_lazyfree);
	drain(ctx, &cpu->activate, move_activate);
}

void rs_lru_add_drain(struct rs_ctx *ctx)
{
	lru_add_drain_cpu(ctx, this_cpu(ctx));
}

bool rs_folio_in_add_batch(struct rs_ctx *ctx, pfn_t pfn)
{
	const struct folio_batch *b = &this_cpu(ctx)->add;

	if (!(folio_of(ctx, pfn)->flags & PG_in_batch))
		return false;
	for (uint32_t i = b->n; i-- > 0;)
		if (b->pfn[i] == pfn)
			return true;
	return false;
}
