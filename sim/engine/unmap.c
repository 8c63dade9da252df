/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unmap.c - reverse map walks: who referenced a folio, taking its mappings away, cleaning them.
 * Kernel: mm/rmap.c folio_referenced(), try_to_unmap(), folio_mkclean().
 */
#include "sim/engine/observe.h"

/* Calls fn for every PTE that maps the folio, VMA by VMA; fn says whether to go on. */
typedef bool pte_fn(struct rs_ctx *, struct rs_pvmw *, void *arg);

static bool walk_vma(struct rs_ctx *ctx, struct rs_vma *vma, pfn_t pfn, pte_fn *fn, void *arg)
{
	struct machine *m = &ctx->m;
	struct folio *f = &m->folios[pfn];
	uint64_t vpn = vma_address(vma, f), end;
	struct mm *mm = m->mm[vma->mm];

	if (vpn == UINT64_MAX)
		return true;
	end = MIN(vma->start + (uint32_t)(f->index + folio_nr_pages(f) - (uint32_t)vma->pgoff),
		  vma->end);
	while (vpn < end) {
		struct rs_pvmw pvmw = { .mm = &mm->pub, .vma = vma, .vpn = vpn, .pfn = pfn };
		uint64_t next = (vpn | 511) + 1;

		pvmw.table = mm_table(m, mm, vpn);
		if (!pvmw.table) {
			vpn = next;
			continue;
		}
		if (m->pmd[pvmw.table] & RS_PMD_LEAF) {
			pvmw.pte = table_ptes(m, pvmw.table);
			if (rs_pte_pfn(*pvmw.pte) == pfn && !fn(ctx, &pvmw, arg))
				return false;
			vpn = next;
			continue;
		}
		pvmw.pte = table_ptes(m, pvmw.table) + (vpn & 511);
		if ((*pvmw.pte & RS_PTE_PRESENT) && rs_pte_pfn(*pvmw.pte) &&
		    rs_pfn_head(ctx, rs_pte_pfn(*pvmw.pte)) == pfn && !fn(ctx, &pvmw, arg))
			return false;
		vpn++;
	}
	return true;
}

static void rmap_walk(struct rs_ctx *ctx, pfn_t pfn, pte_fn *fn, void *arg)
{
	struct vma_set *set = folio_vma_set(&ctx->m, &ctx->m.folios[pfn]);
	uint32_t visited = 0;

	for (uint32_t i = 0; i < set->nr; i++) {
		if (vma_address(set->vma[i], &ctx->m.folios[pfn]) == UINT64_MAX)
			continue;
		charge(ctx, visited++ ? RS_COST_RMAP_PER_MAP : RS_COST_RMAP_FIXED, 1);
		if (!walk_vma(ctx, set->vma[i], pfn, fn, arg))
			break;
	}
}

/* ---- folio_referenced() ---- */

struct referenced {
	struct rs_scan *sc;
	const struct rs_vma *last_vma;
	bool last_young;
	int count;
	uint32_t vm_flags;
};

static bool clear_young(struct rs_ctx *ctx, struct rs_pvmw *pvmw)
{
	bool young = *pvmw->pte & RS_PTE_YOUNG;

	*pvmw->pte &= ~RS_PTE_YOUNG;
	if (young)
		charge(ctx, RS_COST_PTE_YOUNG, 1);
	return young;
}

/* A VMA counts once, however many of its PTEs are young. */
static bool referenced_pte(struct rs_ctx *ctx, struct rs_pvmw *pvmw, void *arg)
{
	struct referenced *r = arg;
	bool young;

	if (pvmw->vma->flags & VM_LOCKED) {
		r->vm_flags |= VM_LOCKED;
		r->count = MAX(r->count, 0);
		return false;
	}
	/* Under a limit only mappings of the group itself count. */
	if (r->sc->cgroup_reclaim &&
	    !memcg_is_descendant(&ctx->m, pvmw->mm->memcg, r->sc->target_memcg))
		return true;
	if (ctx->m.kernel >= RS_KERNEL_6_12 && !rs_vma_has_recency(ctx, pvmw->vma))
		return true;
	if (ctx->ops->referenced_one)
		young = ctx->ops->referenced_one(ctx, pvmw, r->sc);
	else
		young = clear_young(ctx, pvmw);
	/* 6.1 only ignores what a sequential reader touched. */
	if (ctx->m.kernel < RS_KERNEL_6_12 && (pvmw->vma->flags & VM_SEQ_READ))
		young = false;
	if (r->last_vma != pvmw->vma) {
		r->last_vma = pvmw->vma;
		r->last_young = false;
	}
	if (young && !r->last_young) {
		r->last_young = true;
		r->count++;
		r->vm_flags |= pvmw->vma->flags;
	}
	return true;
}

int rs_folio_referenced(struct rs_ctx *ctx, pfn_t pfn, struct rs_scan *sc, uint32_t *ret_vm_flags)
{
	struct referenced r = { .sc = sc };

	*ret_vm_flags = 0;
	if (!ctx->m.folios[pfn].mapcount)
		return 0;
	rmap_walk(ctx, pfn, referenced_pte, &r);
	*ret_vm_flags = r.vm_flags;
	note(ctx, pfn, RS_NOTE_REFERENCED, r.count, 0);
	return r.count;
}

bool rs_folio_mapped(struct rs_ctx *ctx, pfn_t pfn)
{
	return ctx->m.folios[pfn].mapcount > 0;
}

/* ---- try_to_unmap() ---- */

static bool unmap_pte(struct rs_ctx *ctx, struct rs_pvmw *pvmw, void *arg)
{
	struct folio *f = &ctx->m.folios[pvmw->pfn];
	struct mm *mm = (struct mm *)pvmw->mm;
	uint32_t old = *pvmw->pte, new = 0;

	if (pvmw->vma->flags & VM_LOCKED) {
		folio_mlock(ctx, pvmw->pfn, true);
		return false;
	}
	charge(ctx, RS_COST_UNMAP, 1);
	if (old & RS_PTE_DIRTY)
		folio_mark_dirty(ctx, pvmw->pfn);
	if ((f->flags & PG_anon) && (f->flags & PG_swapbacked)) {
		uint32_t slot = folio_slot(&ctx->m, pvmw->pfn);

		ctx->m.swap.slot[slot].count++;
		mm->nr_swap_ptes++;
		new = make_swap_pte(slot) | (f->flags & PG_anon_exclusive ? PTE_SWP_EXCLUSIVE : 0);
	} else if ((f->flags & PG_anon) && (f->flags & PG_dirty)) {
		/* MADV_FREE page that was written again: back to anonymous. */
		f->flags |= PG_swapbacked;
		return false;
	}
	pte_set(&ctx->m, pvmw->table, pvmw->pte, new);
	mm->pub.rss[f->flags & PG_anon ? RS_ANON : RS_FILE]--;
	folio_remove_rmap(ctx, pvmw->pfn);
	return f->mapcount > 0;
}

/* True: nothing maps it any more. */
bool try_to_unmap(struct rs_ctx *ctx, pfn_t pfn)
{
	if (ctx->m.folios[pfn].mapcount)
		rmap_walk(ctx, pfn, unmap_pte, NULL);
	if (!ctx->m.folios[pfn].mapcount)
		ctx->m.folios[pfn].flags &= ~(uint32_t)PG_anon_exclusive;
	return !ctx->m.folios[pfn].mapcount;
}

static bool zap_file_pte(struct rs_ctx *ctx, struct rs_pvmw *pvmw, void *arg)
{
	pte_set(&ctx->m, pvmw->table, pvmw->pte, 0);
	pvmw->mm->rss[RS_FILE]--;
	folio_remove_rmap(ctx, pvmw->pfn);
	return ctx->m.folios[pvmw->pfn].mapcount > 0;
}

void unmap_file_page(struct rs_ctx *ctx, pfn_t pfn)
{
	if (ctx->m.folios[pfn].mapcount)
		rmap_walk(ctx, pfn, zap_file_pte, NULL);
}

static bool clean_pte(struct rs_ctx *ctx, struct rs_pvmw *pvmw, void *arg)
{
	if (pvmw->vma->flags & VM_SHARED)
		*pvmw->pte &= ~(RS_PTE_DIRTY | RS_PTE_WRITE);
	return true;
}

void clean_ptes(struct rs_ctx *ctx, pfn_t pfn)
{
	if (ctx->m.folios[pfn].mapcount)
		rmap_walk(ctx, pfn, clean_pte, NULL);
}
