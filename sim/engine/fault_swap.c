/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fault_swap.c - swap-in: from the swap cache, past it (synchronous devices), or through it.
 * Kernel: mm/memory.c do_swap_page().
 */
#include "sim/engine/observe.h"

static bool bypasses(const struct rs_ctx *ctx, uint32_t slot)
{
	return ctx->swap_dev.sync && ctx->m.kernel < RS_KERNEL_7_2 &&
	       ctx->m.swap.slot[slot].count == 1 && !ctx->m.swap.slot[slot].cached;
}

/* One page without the swap cache; the slot is free after the fault. Until 7.2. */
static pfn_t swapin_bypass(struct rs_ctx *ctx, struct mm *mm, struct rs_vma *vma, uint64_t vpn,
			   uint32_t slot)
{
	uint32_t old = *mm_pte(&ctx->m, mm, vpn);
	struct swap_slot *s = &ctx->m.swap.slot[slot];
	pfn_t pfn = alloc_folio(ctx, 0, vma, vpn);
	uint64_t shadow;

	if (!pfn)
		return RS_PFN_NONE;
	if (!charge_folio(ctx, pfn, s->memcg)) {
		folio_free(ctx, pfn);
		return RS_PFN_NONE;
	}
	/* Another thread may have brought the page in while we reclaimed. Kernel:
	 * swapcache_prepare(). */
	if (*mm_pte(&ctx->m, mm, vpn) != old || !bypasses(ctx, slot)) {
		folio_free(ctx, pfn);
		return RS_PFN_NONE;
	}
	ctx->m.folios[pfn].flags |= PG_anon | PG_swapbacked | PG_locked;
	shadow = s->shadow;
	if (OBSERVED(ctx))
		observe_swapin(ctx, pfn, slot);
	if (shadow)
		workingset_refault(ctx, pfn, shadow);
	folio_add_lru(ctx, pfn);
	lruvec_count(&ctx->m, folio_lruvec(&ctx->m, pfn), RS_PSWPIN, 1);
	device_read(ctx, &ctx->swap_dev, &pfn, 1);
	return pfn;
}

/*
 * A store by the only user frees the slot. From 7.2 on the test comes after the page was mapped,
 * and a page mapped writable by its exclusive marker counts as loaded by then: it keeps its slot
 * and is written to it again. Kernel: should_try_to_free_swap(), the end of do_swap_page().
 */
static bool store_frees_slot(const struct rs_ctx *ctx, const struct rs_vma *vma, uint32_t old,
			     bool write)
{
	bool mapped_writable = (old & PTE_SWP_EXCLUSIVE) && (vma->flags & VM_WRITE);

	return write && !(ctx->m.kernel >= RS_KERNEL_7_2 && mapped_writable);
}

/* Kernel: should_try_to_free_swap(). */
static bool should_free_swap(struct rs_ctx *ctx, const struct rs_vma *vma, pfn_t pfn, bool write)
{
	const struct folio *f = &ctx->m.folios[pfn];

	if (!(f->flags & PG_swapcache))
		return false;
	if (ctx->tun.disabled == RS_MECH_SWAP_CACHE_REUSE)
		return true;
	if (memcg_swap_full(&ctx->m, f->memcg) || (vma->flags & VM_LOCKED) ||
	    (f->flags & PG_mlocked))
		return true;
	if (ctx->swap_dev.sync && ctx->m.kernel >= RS_KERNEL_7_2)
		return true;
	return write && !f->refs && !f->mapcount;
}

static uint32_t swapin_pte_bits(struct rs_ctx *ctx, const struct rs_vma *vma, bool exclusive,
				bool write)
{
	uint32_t bits = RS_PTE_YOUNG;

	if (!exclusive)
		return bits;
	if (write)
		return bits | RS_PTE_DIRTY | RS_PTE_WRITE;
	/* 6.1 maps a load read-only: the first store costs one more minor fault. */
	if (ctx->m.kernel >= RS_KERNEL_6_12 && (vma->flags & VM_WRITE))
		bits |= RS_PTE_WRITE;
	return bits;
}

static void install(struct rs_ctx *ctx, struct mm *mm, struct rs_vma *vma, uint64_t vpn, pfn_t pfn,
		    uint32_t old, bool write)
{
	struct folio *f = &ctx->m.folios[pfn];
	uint32_t table = mm_table(&ctx->m, mm, vpn);
	bool exclusive;

	swap_put(&ctx->m, pte_slot(old));
	mm->nr_swap_ptes--;
	if (should_free_swap(ctx, vma, pfn, store_frees_slot(ctx, vma, old, write)))
		folio_free_swap(ctx, pfn);
	exclusive = (old & PTE_SWP_EXCLUSIVE) ||
		    (!(f->flags & PG_swapcache) && !f->mapcount && !f->refs);
	if (!f->mapcount)
		set_anon_rmap(ctx, pfn, vma, vpn);
	if (exclusive)
		f->flags |= PG_anon_exclusive;
	pte_set(&ctx->m, table, table_ptes(&ctx->m, table) + (vpn & 511), 0);
	map_page(ctx, mm, vma, vpn, pfn, swapin_pte_bits(ctx, vma, exclusive, write));
}

enum fault_result do_swap_page(struct rs_ctx *ctx, struct mm *mm, struct rs_vma *vma, uint64_t vpn,
			       bool write)
{
	uint32_t old = *mm_pte(&ctx->m, mm, vpn), slot = pte_slot(old);
	pfn_t pfn = swap_cache_lookup(ctx, vma, vpn, slot);
	bool bypass = false;

	if (!pfn) {
		charge(ctx, RS_COST_FAULT_SW_MAJOR, 1);
		bypass = bypasses(ctx, slot);
		pfn = bypass ? swapin_bypass(ctx, mm, vma, vpn, slot)
			     : swapin_readahead(ctx, mm, vma, vpn, slot);
		if (!pfn)
			return *mm_pte(&ctx->m, mm, vpn) == old && !ctx->m.swap.slot[slot].cached
				       ? FAULT_OOM
				       : FAULT_RETRY;
		count_fault(ctx, mm, RS_PGMAJFAULT);
	} else {
		charge(ctx, RS_COST_FAULT_MINOR_ANON, 1);
	}
	if (ctx->m.folios[pfn].flags & PG_locked) {
		fault_wait_folio(ctx, mm, pfn);
		return FAULT_RETRY;
	}
	if (write && !bypass && !(ctx->m.folios[pfn].flags & PG_lru))
		rs_lru_add_drain(ctx);
	if (*mm_pte(&ctx->m, mm, vpn) != old || (!bypass && ctx->m.swap.slot[slot].cached != pfn)) {
		folio_free_if_unused(ctx, pfn);
		return FAULT_RETRY;
	}
	install(ctx, mm, vma, vpn, pfn, old, write);
	if (write && !(*mm_pte(&ctx->m, mm, vpn) & RS_PTE_WRITE))
		return do_wp_page(ctx, mm, vma, vpn);
	return FAULT_DONE;
}
