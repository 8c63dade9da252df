/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fault_file.c - faults in file mappings: fault-around, read-ahead, shared and private stores.
 * Kernel: mm/memory.c do_read_fault(), do_shared_fault(), do_cow_fault(); mm/filemap.c
 * filemap_fault(), filemap_map_pages().
 */
#include "sim/engine/engine.h"

static uint64_t vma_index(const struct rs_vma *vma, uint64_t vpn)
{
	return vma->pgoff + (vpn - vma->start);
}

/* Kernel: filemap_map_pages() gives some of mmap_miss back. */
static void forgive_miss(struct rs_ctx *ctx, struct rs_vma *vma, uint32_t n)
{
	struct file_ra *ra = &file_handle(&ctx->m.file[vma->object], vma->handle)->ra;

	ra->mmap_miss -= MIN(ra->mmap_miss, n);
}

static bool mappable(const struct folio *f)
{
	return (f->flags & PG_uptodate) && !(f->flags & (PG_locked | PG_readahead));
}

/* Map what is cached around the address. True: the address itself is mapped now. */
static bool fault_around(struct rs_ctx *ctx, struct mm *mm, struct rs_vma *vma, uint64_t vpn)
{
	uint64_t nr = ctx->cfg.fault_around_bytes >> RS_PAGE_SHIFT, start, end;
	struct file *f = &ctx->m.file[vma->object];
	uint32_t seen = 0;
	bool done = false;

	start = MAX(vpn & ~(nr - 1), vma->start);
	end = MIN(MIN(start + nr, (start | 511) + 1), vma->end);
	for (uint64_t v = start; v < end; v++) {
		uint64_t index = vma_index(vma, v);
		pfn_t pfn = index < f->pages ? file_page(f, index) : RS_PFN_NONE;
		uint32_t *pte = mm_pte(&ctx->m, mm, v);
		bool young = v == vpn || ctx->tun.exec_prefault_young;

		if (!pfn || !mappable(&ctx->m.folios[pfn]))
			continue;
		if (ctx->m.kernel < RS_KERNEL_6_12 || !(ctx->m.folios[pfn].flags & PG_workingset))
			seen++;
		if (pte && *pte)
			continue;
		map_page(ctx, mm, vma, v, pfn, young ? RS_PTE_YOUNG : 0);
		done |= v == vpn;
	}
	/* 7.2: one, and only when the address itself was mapped. */
	if (ctx->m.kernel >= RS_KERNEL_7_2)
		seen = done && !(vma->flags & (VM_EXEC | VM_SEQ_READ));
	forgive_miss(ctx, vma, seen);
	return done;
}

/* The page in the cache, read if need be; RS_PFN_NONE with the result otherwise. */
static pfn_t get_page(struct rs_ctx *ctx, struct mm *mm, struct rs_vma *vma, uint64_t vpn,
		      bool tried, enum fault_result *ret)
{
	uint64_t index = vma_index(vma, vpn);
	uint32_t file = vma->object;
	pfn_t pfn = file_page(&ctx->m.file[file], index);
	bool retry = false;

	if (pfn) {
		ctx->m.folios[pfn].refs++; /* the fault holds it while read-ahead reclaims */
		retry = !tried && mmap_async_ra(ctx, file, vma, index, pfn);
		folio_put(ctx, pfn);
	} else {
		retry = true;
		charge(ctx, RS_COST_FAULT_SW_MAJOR, 1);
		count_fault(ctx, mm, RS_PGMAJFAULT);
		mmap_sync_ra(ctx, file, vma, index);
		pfn = file_page(&ctx->m.file[file], index);
		if (!pfn) {
			file_read_pages(ctx, file, index, 1, UINT64_MAX);
			pfn = file_page(&ctx->m.file[file], index);
		}
	}
	if (!pfn) {
		*ret = FAULT_OOM;
	} else if (ctx->m.folios[pfn].flags & PG_locked) {
		fault_wait_folio(ctx, mm, pfn);
		retry = true;
	}
	/* The lock was dropped for the I/O: everything is looked up again. Kernel: VM_FAULT_RETRY.
	 */
	if (pfn && retry) {
		*ret = FAULT_RETRY;
		pfn = RS_PFN_NONE;
	}
	return pfn;
}

static bool pte_taken(struct rs_ctx *ctx, struct mm *mm, uint64_t vpn)
{
	uint32_t *pte = mm_pte(&ctx->m, mm, vpn);

	return pte && *pte;
}

/* Store to a private mapping: the copy is allocated and charged first, then the page is read. */
static enum fault_result cow_fault(struct rs_ctx *ctx, struct mm *mm, struct rs_vma *vma,
				   uint64_t vpn, bool tried)
{
	enum fault_result result = FAULT_DONE;
	pfn_t copy, page;

	if (!vma_lock_suffices(ctx, VMA_FAULT_FILE) || !anon_vma_prepare(ctx, mm, vma))
		return FAULT_RETRY;
	copy = alloc_folio(ctx, 0, vma, vpn);
	if (!copy)
		return FAULT_OOM;
	if (!charge_folio(ctx, copy, mm->pub.memcg)) {
		folio_free(ctx, copy);
		return FAULT_OOM;
	}
	page = get_page(ctx, mm, vma, vpn, tried, &result);
	if (!page || pte_taken(ctx, mm, vpn)) {
		folio_free(ctx, copy);
		return page ? FAULT_RETRY : result;
	}
	ctx->m.folios[copy].flags |= PG_anon | PG_swapbacked | PG_uptodate | PG_anon_exclusive;
	set_anon_rmap(ctx, copy, vma, vpn);
	charge(ctx, RS_COST_FAULT_MINOR_ANON, 1);
	add_and_map(ctx, mm, vma, vpn, copy);
	return FAULT_DONE;
}

enum fault_result do_file_fault(struct rs_ctx *ctx, struct mm *mm, struct rs_vma *vma, uint64_t vpn,
				bool write, bool tried)
{
	enum fault_result result = FAULT_DONE;
	pfn_t pfn;

	if (vma_index(vma, vpn) >= ctx->m.file[vma->object].pages) {
		sched_fail(ctx, RS_ERROR_INPUT, "%s: access behind the end of the mapped file",
			   trace_place(ctx));
		return FAULT_DONE;
	}
	if (write && !(vma->flags & VM_SHARED))
		return cow_fault(ctx, mm, vma, vpn, tried);
	charge(ctx, RS_COST_FAULT_MINOR_FILE, 1);
	if (!write && ctx->cfg.fault_around_bytes > RS_PAGE_SIZE && fault_around(ctx, mm, vma, vpn))
		return FAULT_DONE;
	if (!vma_lock_suffices(ctx, VMA_FAULT_FILE))
		return FAULT_RETRY;
	pfn = get_page(ctx, mm, vma, vpn, tried, &result);
	if (!pfn)
		return result;
	if (pte_taken(ctx, mm, vpn))
		return FAULT_RETRY;
	map_page(ctx, mm, vma, vpn, pfn, RS_PTE_YOUNG | (write ? RS_PTE_DIRTY | RS_PTE_WRITE : 0));
	if (write) {
		folio_mark_dirty(ctx, pfn);
		balance_dirty_pages(ctx);
	}
	return FAULT_DONE;
}
