/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * mapops.c - mmap, munmap, mprotect, madvise, mlock, mbind of the trace's regions.
 * Kernel: mm/mmap.c, mm/memory.c zap_pte_range(), mm/madvise.c, mm/mlock.c.
 */
#include "sim/engine/observe.h"

/* ---- unmapping pages ---- */

/* Kernel: zap_pte_range(): a young file PTE counts as an access, unless its VMA has no recency. */
static void zap_present(struct rs_ctx *ctx, struct mm *mm, const struct rs_vma *vma, uint32_t word)
{
	pfn_t pfn;
	struct folio *f;

	if (!rs_pte_pfn(word))
		return; /* the zero page */
	pfn = rs_pfn_head(ctx, rs_pte_pfn(word));
	f = &ctx->m.folios[pfn];
	if (f->flags & PG_anon) {
		mm->pub.rss[RS_ANON]--;
		folio_remove_rmap(ctx, pfn);
		/* Its last mapping: the slot goes too. Kernel: free_swap_cache(). */
		if (!f->mapcount && (f->flags & PG_swapcache) && !(f->flags & PG_locked))
			folio_free_swap(ctx, pfn);
		folio_free_if_unused(ctx, pfn);
		return;
	}
	if ((word & RS_PTE_DIRTY) && !(f->flags & PG_dirty))
		folio_mark_dirty(ctx, pfn);
	if ((word & RS_PTE_YOUNG) && rs_vma_has_recency(ctx, vma))
		folio_mark_accessed(ctx, pfn);
	mm->pub.rss[RS_FILE]--;
	folio_remove_rmap(ctx, pfn);
	if ((vma->flags & VM_LOCKED) && !f->mapcount)
		folio_mlock(ctx, pfn, false);
}

static void zap_pte(struct rs_ctx *ctx, struct mm *mm, const struct rs_vma *vma, uint32_t table, uint32_t *pte)
{
	uint32_t word = *pte;

	if (!word)
		return;
	pte_set(&ctx->m, table, pte, 0);
	charge(ctx, RS_COST_ZAP_PAGE, 1);
	if (word & RS_PTE_PRESENT) {
		zap_present(ctx, mm, vma, word);
	} else if (pte_is_swap(word)) {
		mm->nr_swap_ptes--;
		swap_free_entry(ctx, pte_slot(word));
	}
}

/* Pages of [start, end), which lies in one VMA. */
static void zap_vma_range(struct rs_ctx *ctx, struct mm *mm, const struct rs_vma *vma, uint64_t start, uint64_t end)
{
	for (uint64_t vpn = start; vpn < end;) {
		uint64_t next = MIN((vpn | 511) + 1, end);
		uint32_t table = mm_table(&ctx->m, mm, vpn);

		if (table && (ctx->m.pmd[table] & RS_PMD_LEAF)) {
			if (vpn == (vpn & ~511ull) && next - vpn == 512) {
				zap_huge(ctx, mm, table);
				vpn = next;
				continue;
			}
			split_huge_pmd(ctx, mm, table);
		}
		if (!table || !ctx->m.table[table].nr_used) {
			vpn = next;
			continue;
		}
		for (; vpn < next; vpn++)
			zap_pte(ctx, mm, vma, table, table_ptes(&ctx->m, table) + (vpn & 511));
	}
}

void zap_range(struct rs_ctx *ctx, struct mm *mm, uint64_t start, uint64_t end)
{
	for (uint32_t i = mm_vma_index(mm, start); i < mm->pub.nr_vmas; i++) {
		struct rs_vma *vma = mm->pub.vmas[i];

		if (vma->start >= end)
			break;
		zap_vma_range(ctx, mm, vma, MAX(start, vma->start), MIN(end, vma->end));
	}
}

/* ---- mmap, munmap ---- */

bool op_mmap(struct rs_ctx *ctx, struct task *t, uint32_t id, const struct rs_map *map, uint16_t handle)
{
	struct mm *mm = t->mm;
	uint64_t start = map->address;

	if (map->file != RS_MAP_FILE_NONE)
		file_grow(&ctx->m.file[map->file], map->pgoff + map->pages);
	mmap_write_lock(ctx, mm);
	if (!start)
		start = mm_unmapped_area(&ctx->m, mm, map);
	if (!start || start + map->pages > (1ull << 35)) {
		sched_fail(ctx, RS_ERROR_INPUT, "%s: no room for a mapping of %" PRIu64 " pages",
			   trace_place(ctx), map->pages);
	} else if (map->address && mm_vma_index(mm, start) < mm->pub.nr_vmas &&
		   mm->pub.vmas[mm_vma_index(mm, start)]->start < start + map->pages) {
		sched_fail(ctx, RS_ERROR_INPUT, "%s: page %#" PRIx64 " is mapped already",
			   trace_place(ctx), start);
	} else {
		mm_map(&ctx->m, mm, start, map, handle);
		region_set(mm_region(mm, id), start, map->pages);
		if (OBSERVED(ctx))
			observe_mmap(ctx, mm, id, map);
	}
	charge(ctx, RS_COST_MMAP_WRITE_HOLD, 1);
	mmap_write_unlock(ctx, mm);
	return !ctx->error;
}

/* Page range [page, page + n) of a region as addresses; n = 0 means to its end. */
static bool region_range(struct rs_ctx *ctx, struct task *t, uint32_t id, uint64_t page, uint64_t n,
			 uint64_t *start, uint64_t *end)
{
	struct region *r = mm_region(t->mm, id);

	if (!r->mapped || page > r->pages || n > r->pages - page) {
		sched_fail(ctx, RS_ERROR_INPUT, "%s: the region is not mapped or not that long",
			   trace_place(ctx));
		return false;
	}
	*start = r->start + page;
	*end = n ? *start + n : r->start + r->pages;
	return true;
}

bool op_munmap(struct rs_ctx *ctx, struct task *t, uint32_t id, uint64_t page, uint64_t n)
{
	struct mm *mm = t->mm;
	uint64_t start, end;

	if (!region_range(ctx, t, id, page, n, &start, &end))
		return false;
	mmap_write_lock(ctx, mm);
	mm_split(&ctx->m, mm, start, end);
	charge(ctx, RS_COST_MMAP_WRITE_HOLD, 1);
	rs_lru_add_drain(ctx);
	zap_range(ctx, mm, start, end);
	mm_remove_vmas(&ctx->m, mm, start, end);
	mm_free_tables(&ctx->m, mm, start, end);
	if (!page && (!n || n == mm_region(mm, id)->pages))
		region_clear(mm_region(mm, id));
	mmap_write_unlock(ctx, mm);
	return true;
}

/* ---- changes of VMAs ---- */

static void write_protect(struct rs_ctx *ctx, struct mm *mm, uint64_t start, uint64_t end)
{
	for (uint64_t vpn = start; vpn < end; vpn++) {
		uint32_t *pte = mm_pte(&ctx->m, mm, vpn);

		if (!pte)
			vpn |= 511;
		else if (*pte & RS_PTE_PRESENT)
			*pte &= ~RS_PTE_WRITE;
	}
}

static void change_flags(struct rs_ctx *ctx, struct mm *mm, uint64_t start, uint64_t end, uint32_t clear, uint32_t set)
{
	mm_split(&ctx->m, mm, start, end);
	for (uint32_t i = mm_vma_index(mm, start); i < mm->pub.nr_vmas && mm->pub.vmas[i]->start < end; i++)
		mm->pub.vmas[i]->flags = (mm->pub.vmas[i]->flags & ~clear) | set;
}

static void unlock_merged(struct rs_ctx *ctx, struct mm *mm, uint64_t start, uint64_t end)
{
	mm_merge(&ctx->m, mm, start, end);
	charge(ctx, RS_COST_MMAP_WRITE_HOLD, 1);
	mmap_write_unlock(ctx, mm);
}

bool op_mprotect(struct rs_ctx *ctx, struct task *t, const struct rs_record *r)
{
	const uint32_t prot = VM_READ | VM_WRITE | VM_EXEC;
	uint64_t start, end;

	if (!region_range(ctx, t, r->object, r->page, r->count, &start, &end))
		return false;
	mmap_write_lock(ctx, t->mm);
	change_flags(ctx, t->mm, start, end, prot, r->arg & prot);
	if (!(r->arg & VM_WRITE))
		write_protect(ctx, t->mm, start, end);
	unlock_merged(ctx, t->mm, start, end);
	return true;
}

/* Fault the pages in and lock them. Kernel: mm/mlock.c do_mlock(), populate_vma_page_range(). */
bool op_mlock(struct rs_ctx *ctx, struct task *t, const struct rs_record *r)
{
	struct region *region = mm_region(t->mm, r->object);
	uint64_t start, end;

	if (!region_range(ctx, t, r->object, r->page, r->count, &start, &end))
		return false;
	rs_lru_add_drain(ctx);
	mmap_write_lock(ctx, t->mm);
	change_flags(ctx, t->mm, start, end, VM_LOCKED, r->arg ? VM_LOCKED : 0);
	unlock_merged(ctx, t->mm, start, end);
	for (uint64_t vpn = start; vpn < end && !ctx->error && !t->killed; vpn++) {
		uint32_t *pte = mm_pte(&ctx->m, t->mm, vpn);
		const struct rs_vma *vma = mm_find_vma(t->mm, vpn);
		pfn_t pfn;

		while (r->arg && (!pte || !(*pte & RS_PTE_PRESENT)) && !ctx->error && !t->killed) {
			handle_fault(ctx, region, vpn - region->start, vma->flags & VM_WRITE && !(vma->flags & VM_SHARED));
			pte = mm_pte(&ctx->m, t->mm, vpn);
		}
		pfn = pte && (*pte & RS_PTE_PRESENT) && rs_pte_pfn(*pte) ? rs_pfn_head(ctx, rs_pte_pfn(*pte)) : 0;
		if (pfn)
			folio_mlock(ctx, pfn, r->arg);
	}
	return true;
}

bool op_mbind(struct rs_ctx *ctx, struct task *t, const struct rs_record *r)
{
	struct region *region = mm_region(t->mm, r->object);

	if (!region->mapped) {
		sched_fail(ctx, RS_ERROR_INPUT, "%s: the region is not mapped", trace_place(ctx));
		return false;
	}
	mmap_write_lock(ctx, t->mm);
	mm_split(&ctx->m, t->mm, region->start, region->start + region->pages);
	for (uint32_t i = mm_vma_index(t->mm, region->start);
	     i < t->mm->pub.nr_vmas && t->mm->pub.vmas[i]->start < region->start + region->pages; i++) {
		t->mm->pub.vmas[i]->policy = r->arg;
		t->mm->pub.vmas[i]->policy_nodes = r->value;
	}
	unlock_merged(ctx, t->mm, region->start, region->start + region->pages);
	return true;
}
