/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fault_anon.c - first touch of anonymous memory and stores to write-protected pages.
 * Kernel: mm/memory.c do_anonymous_page(), do_wp_page(), wp_page_copy().
 */
#include "sim/engine/engine.h"

/* A new page for vpn: allocated, charged, known to the reverse map. 0: no memory. */
static pfn_t new_anon_folio(struct rs_ctx *ctx, struct mm *mm, struct rs_vma *vma, uint64_t vpn)
{
	pfn_t pfn = alloc_folio(ctx, 0, vma, vpn);

	if (!pfn)
		return RS_PFN_NONE;
	if (!charge_folio(ctx, pfn, mm->pub.memcg)) {
		folio_free(ctx, pfn);
		return RS_PFN_NONE;
	}
	ctx->m.folios[pfn].flags |= PG_anon | PG_swapbacked | PG_uptodate | PG_anon_exclusive;
	set_anon_rmap(ctx, pfn, vma, vpn);
	return pfn;
}

enum fault_result do_anonymous_page(struct rs_ctx *ctx, struct mm *mm, struct rs_vma *vma,
				    uint64_t vpn, bool write)
{
	pfn_t pfn;

	charge(ctx, RS_COST_FAULT_MINOR_ANON, 1);
	if (!write) {
		/* The shared zero page: nothing is charged. */
		map_page(ctx, mm, vma, vpn, RS_PFN_NONE, RS_PTE_YOUNG);
		return FAULT_DONE;
	}
	if (!anon_vma_prepare(ctx, mm, vma))
		return FAULT_RETRY;
	pfn = new_anon_folio(ctx, mm, vma, vpn);
	if (!pfn)
		return FAULT_OOM;
	/* Another thread was faster while we reclaimed. */
	if (mm_pte(&ctx->m, mm, vpn) && *mm_pte(&ctx->m, mm, vpn)) {
		folio_free(ctx, pfn);
		return FAULT_DONE;
	}
	add_and_map(ctx, mm, vma, vpn, pfn);
	return FAULT_DONE;
}

static enum fault_result reuse(struct rs_ctx *ctx, struct mm *mm, uint64_t vpn)
{
	*mm_pte(&ctx->m, mm, vpn) |= RS_PTE_YOUNG | RS_PTE_DIRTY | RS_PTE_WRITE;
	ctx->m.vmstat[RS_PGREUSE]++;
	charge(ctx, RS_COST_UNMAP, 1);
	return FAULT_DONE;
}

static enum fault_result copy(struct rs_ctx *ctx, struct mm *mm, struct rs_vma *vma, uint64_t vpn,
			      uint32_t old)
{
	uint32_t *pte, table;
	pfn_t pfn;

	if (!anon_vma_prepare(ctx, mm, vma))
		return FAULT_RETRY;
	pfn = new_anon_folio(ctx, mm, vma, vpn);
	if (!pfn)
		return FAULT_OOM;
	pte = mm_pte(&ctx->m, mm, vpn);
	if (!pte || *pte != old) {
		folio_free(ctx, pfn);
		return FAULT_RETRY;
	}
	charge(ctx, RS_COST_FAULT_MINOR_ANON, 1);
	table = mm_table(&ctx->m, mm, vpn);
	if (rs_pte_pfn(old)) {
		pfn_t head = rs_pfn_head(ctx, rs_pte_pfn(old));

		mm->pub.rss[ctx->m.folios[head].flags & PG_anon ? RS_ANON : RS_FILE]--;
		folio_remove_rmap(ctx, head);
		folio_free_if_unused(ctx, head);
	}
	pte_set(&ctx->m, table, pte, 0);
	add_and_map(ctx, mm, vma, vpn, pfn);
	return FAULT_DONE;
}

/* Kernel: do_wp_page() for anonymous folios: is this PTE its only user? */
static bool can_reuse(struct rs_ctx *ctx, pfn_t pfn)
{
	struct folio *f = &ctx->m.folios[pfn];

	if (f->flags & PG_anon_exclusive)
		return true;
	if (!(f->flags & PG_lru))
		rs_lru_add_drain(ctx);
	if (f->flags & PG_swapcache)
		folio_free_swap(ctx, pfn);
	if (f->mapcount != 1 || f->refs || (f->flags & (PG_swapcache | PG_isolated)))
		return false;
	f->flags |= PG_anon_exclusive;
	return true;
}

enum fault_result do_wp_page(struct rs_ctx *ctx, struct mm *mm, struct rs_vma *vma, uint64_t vpn)
{
	uint32_t old = *mm_pte(&ctx->m, mm, vpn);
	pfn_t pfn = rs_pte_pfn(old) ? rs_pfn_head(ctx, rs_pte_pfn(old)) : RS_PFN_NONE;

	if (!pfn)
		return copy(ctx, mm, vma, vpn, old);
	if (ctx->m.folios[pfn].flags & PG_anon)
		return can_reuse(ctx, pfn) ? reuse(ctx, mm, vpn) : copy(ctx, mm, vma, vpn, old);
	if (!(vma->flags & VM_SHARED))
		return copy(ctx, mm, vma, vpn, old);
	/* Shared file page: the file system is told. Kernel: wp_page_shared(). */
	folio_mark_dirty(ctx, pfn);
	reuse(ctx, mm, vpn);
	balance_dirty_pages(ctx);
	return FAULT_DONE;
}
