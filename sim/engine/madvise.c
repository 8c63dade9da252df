/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * madvise.c - hints about regions and files. Kernel: mm/madvise.c, mm/fadvise.c.
 */
#include "sim/engine/engine.h"

/* The folio an order-0 PTE maps, or 0. */
static pfn_t pte_folio(struct rs_ctx *ctx, const uint32_t *pte)
{
	if (!pte || !(*pte & RS_PTE_PRESENT) || !rs_pte_pfn(*pte))
		return RS_PFN_NONE;
	return rs_pfn_head(ctx, rs_pte_pfn(*pte));
}

/* Kernel: madvise_cold_or_pageout_pte_range(): only pages of this process alone. */
static void cold(struct rs_ctx *ctx, struct mm *mm, uint64_t start, uint64_t end)
{
	rs_lru_add_drain(ctx);
	for (uint64_t vpn = start; vpn < end; vpn++) {
		uint32_t *pte = mm_pte(&ctx->m, mm, vpn);
		pfn_t pfn = pte_folio(ctx, pte);

		if (!pfn || ctx->m.folios[pfn].mapcount != 1)
			continue;
		*pte &= ~RS_PTE_YOUNG;
		ctx->m.folios[pfn].flags &= ~(uint32_t)PG_referenced;
		folio_deactivate(ctx, pfn);
	}
}

static void pageout(struct rs_ctx *ctx, struct mm *mm, uint64_t start, uint64_t end)
{
	struct rs_isolated list = { 0 };

	rs_lru_add_drain(ctx);
	for (uint64_t vpn = start; vpn < end; vpn++) {
		uint32_t *pte = mm_pte(&ctx->m, mm, vpn);
		pfn_t pfn = pte_folio(ctx, pte);
		struct folio *f = &ctx->m.folios[pfn];

		if (!pfn || f->mapcount != 1 || !(f->flags & PG_lru) || (f->flags & PG_unevictable))
			continue;
		*pte &= ~RS_PTE_YOUNG;
		f->flags &= ~(uint32_t)PG_referenced;
		lru_del(ctx, pfn);
		f->flags |= PG_lru;
		rs_isolate(ctx, pfn);
		list.pfn[list.n++] = pfn;
		if (list.n == 32) {
			reclaim_folio_list(ctx, &list);
			list.n = 0;
		}
	}
	reclaim_folio_list(ctx, &list);
}

/* Kernel: madvise_free_pte_range(). */
static void lazyfree(struct rs_ctx *ctx, struct mm *mm, uint64_t start, uint64_t end)
{
	rs_lru_add_drain(ctx);
	for (uint64_t vpn = start; vpn < end; vpn++) {
		uint32_t *pte = mm_pte(&ctx->m, mm, vpn);
		pfn_t pfn = pte_folio(ctx, pte);
		struct folio *f = &ctx->m.folios[pfn];

		if (pte && pte_is_swap(*pte)) {
			uint32_t slot = pte_slot(*pte);

			pte_set(&ctx->m, mm_table(&ctx->m, mm, vpn), pte, 0);
			mm->nr_swap_ptes--;
			swap_free_entry(ctx, slot);
			continue;
		}
		if (!pfn || !(f->flags & PG_anon) || f->mapcount != 1)
			continue;
		if (f->flags & PG_swapcache) {
			if ((f->flags & PG_locked) || !folio_free_swap(ctx, pfn))
				continue;
		}
		folio_clear_dirty(ctx, pfn);
		*pte &= ~(RS_PTE_YOUNG | RS_PTE_DIRTY);
		folio_mark_lazyfree(ctx, pfn);
	}
}

/* Read what is not there yet. Kernel: madvise_willneed(). */
static void willneed(struct rs_ctx *ctx, struct mm *mm, uint64_t start, uint64_t end)
{
	for (uint64_t vpn = start; vpn < end; vpn++) {
		struct rs_vma *vma = mm_find_vma(mm, vpn);
		uint32_t *pte = mm_pte(&ctx->m, mm, vpn);

		if (vma && !(vma->flags & VM_ANON))
			file_read_pages(ctx, vma->object, vma->pgoff + (vpn - vma->start), 1,
					UINT64_MAX);
		else if (vma && pte && pte_is_swap(*pte))
			swapin_readahead(ctx, mm, vma, vpn, pte_slot(*pte));
	}
	rs_lru_add_drain(ctx);
}

static uint32_t advice_flags(unsigned advice, uint32_t *clear)
{
	*clear = 0;
	switch (advice) {
	case RS_ADV_NORMAL:
		*clear = VM_RAND_READ | VM_SEQ_READ;
		return 0;
	case RS_ADV_RANDOM:
		*clear = VM_SEQ_READ;
		return VM_RAND_READ;
	case RS_ADV_SEQUENTIAL:
		*clear = VM_RAND_READ;
		return VM_SEQ_READ;
	case RS_ADV_HUGEPAGE:
		*clear = VM_NOHUGEPAGE;
		return VM_HUGEPAGE;
	case RS_ADV_NOHUGEPAGE:
		*clear = VM_HUGEPAGE;
		return VM_NOHUGEPAGE;
	default:
		return 0;
	}
}

static void set_advice(struct rs_ctx *ctx, struct mm *mm, uint64_t start, uint64_t end,
		       unsigned advice)
{
	uint32_t clear, set = advice_flags(advice, &clear);

	vma_start_write_range(ctx, mm, start, end, LOCK_MADVISE);
	split_vmas(ctx, mm, start, end);
	for (uint32_t i = mm_vma_index(mm, start);
	     i < mm->pub.nr_vmas && mm->pub.vmas[i]->start < end; i++)
		mm->pub.vmas[i]->flags = (mm->pub.vmas[i]->flags & ~clear) | set;
	mmap_write_unlock_merged(ctx, mm, start, end, LOCK_MADVISE);
}

static bool sets_flags(unsigned advice)
{
	return advice == RS_ADV_NORMAL || advice == RS_ADV_RANDOM || advice == RS_ADV_SEQUENTIAL ||
	       advice == RS_ADV_HUGEPAGE || advice == RS_ADV_NOHUGEPAGE;
}

static void advise_range(struct rs_ctx *ctx, struct mm *mm, uint64_t start, uint64_t end,
			 unsigned advice)
{
	split_huge_range(ctx, mm, start, end);
	switch (advice) {
	case RS_ADV_DONTNEED:
		rs_lru_add_drain(ctx);
		zap_range(ctx, mm, start, end);
		break;
	case RS_ADV_FREE:
		lazyfree(ctx, mm, start, end);
		break;
	case RS_ADV_COLD:
		cold(ctx, mm, start, end);
		break;
	case RS_ADV_PAGEOUT:
		pageout(ctx, mm, start, end);
		break;
	case RS_ADV_WILLNEED:
		willneed(ctx, mm, start, end);
		break;
	default:
		break;
	}
}

/* Kernel: madvise_need_mmap_write(). Differs: 7.2 takes only the VMA's lock for some. */
bool op_madvise(struct rs_ctx *ctx, struct task *t, const struct rs_record *r)
{
	struct mm *mm = t->mm;
	bool write = sets_flags(r->arg);
	struct region *region;
	uint64_t start, end;

	if (write)
		mmap_write_lock(ctx, mm, LOCK_MADVISE);
	else
		mmap_read_lock(ctx, mm, LOCK_MADVISE);
	region = mm_region(mm, r->object);
	start = region->start + r->page;
	end = r->count ? start + r->count : region->start + region->pages;
	if (!region->mapped || end > region->start + region->pages) {
		sched_fail(ctx, RS_ERROR_INPUT, "%s: the region is not mapped or not that long",
			   trace_place(ctx));
		return false;
	}
	if (write) {
		set_advice(ctx, mm, start, end, r->arg);
	} else {
		advise_range(ctx, mm, start, end, r->arg);
		mmap_read_unlock(ctx, mm, LOCK_MADVISE);
	}
	return true;
}

void op_fadvise(struct rs_ctx *ctx, const struct rs_record *r)
{
	struct file *f = &ctx->m.file[r->object];
	uint64_t end = r->count ? (uint64_t)r->page + r->count : f->pages;

	switch (RS_FADVISE_ADVICE(r->arg)) {
	case RS_ADV_DONTNEED:
		if (f->nr_dirty)
			writeback_file(ctx, r->object, UINT64_MAX);
		file_drop(ctx, r->object, r->page, end, false);
		break;
	case RS_ADV_WILLNEED:
		file_read_pages(ctx, r->object, r->page, end > r->page ? end - r->page : 0,
				UINT64_MAX);
		break;
	case RS_ADV_NORMAL:
	case RS_ADV_RANDOM:
	case RS_ADV_SEQUENTIAL:
	case RS_ADV_NOREUSE:
		file_handle(f, RS_FADVISE_HANDLE(r->arg))->advice = RS_FADVISE_ADVICE(r->arg);
		break;
	default:
		break;
	}
}
