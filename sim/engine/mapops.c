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

static void zap_pte(struct rs_ctx *ctx, struct mm *mm, const struct rs_vma *vma, uint32_t table,
		    uint32_t *pte)
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
static void zap_vma_range(struct rs_ctx *ctx, struct mm *mm, const struct rs_vma *vma,
			  uint64_t start, uint64_t end)
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

/* The neighbours that the new mapping will be merged with change. Kernel: vma_prepare(). */
static void lock_neighbours(struct rs_ctx *ctx, struct mm *mm, uint64_t start,
			    const struct rs_map *map, uint16_t handle)
{
	uint32_t i = mm_vma_index(mm, start);
	struct rs_vma new = { 0 };

	vma_fill(&new, mm, start, map, handle);
	if (i && vma_can_merge(mm->pub.vmas[i - 1], &new))
		vma_start_write(ctx, mm, mm->pub.vmas[i - 1], LOCK_MMAP);
	if (i < mm->pub.nr_vmas && vma_can_merge(&new, mm->pub.vmas[i]))
		vma_start_write(ctx, mm, mm->pub.vmas[i], LOCK_MMAP);
}

bool op_mmap(struct rs_ctx *ctx, struct task *t, uint32_t id, const struct rs_map *map,
	     uint16_t handle)
{
	struct mm *mm = t->mm;
	uint64_t start = map->address;

	if (map->file != RS_MAP_FILE_NONE)
		file_grow(&ctx->m.file[map->file], map->pgoff + map->pages);
	mmap_write_lock(ctx, mm, LOCK_MMAP);
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
		lock_neighbours(ctx, mm, start, map, handle);
		vma_start_write(ctx, mm, mm_map(&ctx->m, mm, start, map, handle), LOCK_MMAP);
		region_clear(mm_region(mm, id));
		region_set(mm_region(mm, id), start, map->pages);
		if (OBSERVED(ctx))
			observe_mmap(ctx, mm, id, map);
	}
	charge(ctx, RS_COST_MMAP_WRITE_HOLD, 1);
	mmap_write_unlock(ctx, mm, LOCK_MMAP);
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

	mmap_write_lock(ctx, mm, LOCK_MUNMAP);
	if (!region_range(ctx, t, id, page, n, &start, &end)) {
		mmap_write_unlock(ctx, mm, LOCK_MUNMAP);
		return false;
	}
	vma_start_write_range(ctx, mm, start, end, LOCK_MUNMAP);
	split_vmas(ctx, mm, start, end);
	charge(ctx, RS_COST_MMAP_WRITE_HOLD, 1);
	/* Nothing runs between the downgrade and the last change: the VMAs are detached by then. */
	mmap_write_downgrade(ctx, mm, LOCK_MUNMAP);
	rs_lru_add_drain(ctx);
	zap_range(ctx, mm, start, end);
	mm_remove_vmas(&ctx->m, mm, start, end);
	mm_free_tables(&ctx->m, mm, start, end);
	if (!page && (!n || n == mm_region(mm, id)->pages))
		region_clear(mm_region(mm, id));
	mmap_read_unlock(ctx, mm, LOCK_MUNMAP);
	return true;
}

/* ---- changes of VMAs ---- */

/* Kernel: change_protection(): a hint fault that was pending is off as well. */
static void clear_pte_bits(struct rs_ctx *ctx, struct mm *mm, uint64_t start, uint64_t end,
			   uint32_t bits)
{
	for (uint64_t vpn = start; vpn < end; vpn++) {
		uint32_t *pte = mm_pte(&ctx->m, mm, vpn);

		if (!pte)
			vpn |= 511;
		else if (*pte & RS_PTE_PRESENT)
			*pte &= ~bits;
	}
}

static void change_flags(struct rs_ctx *ctx, struct mm *mm, uint64_t start, uint64_t end,
			 uint32_t clear, uint32_t set, enum lock_op op)
{
	vma_start_write_range(ctx, mm, start, end, op);
	split_vmas(ctx, mm, start, end);
	for (uint32_t i = mm_vma_index(mm, start);
	     i < mm->pub.nr_vmas && mm->pub.vmas[i]->start < end; i++)
		mm->pub.vmas[i]->flags = (mm->pub.vmas[i]->flags & ~clear) | set;
}

/* Join what has become equal, neighbours included, and end the write section. */
void mmap_write_unlock_merged(struct rs_ctx *ctx, struct mm *mm, uint64_t start, uint64_t end,
			      enum lock_op op)
{
	uint32_t first = mm_vma_index(mm, start), last = mm_vma_index(mm, end - 1);

	if (first && first < mm->pub.nr_vmas &&
	    vma_can_merge(mm->pub.vmas[first - 1], mm->pub.vmas[first]))
		vma_start_write(ctx, mm, mm->pub.vmas[first - 1], op);
	if (last + 1 < mm->pub.nr_vmas && vma_can_merge(mm->pub.vmas[last], mm->pub.vmas[last + 1]))
		vma_start_write(ctx, mm, mm->pub.vmas[last + 1], op);
	mm_merge(&ctx->m, mm, start, end);
	charge(ctx, RS_COST_MMAP_WRITE_HOLD, 1);
	mmap_write_unlock(ctx, mm, op);
}

bool op_mprotect(struct rs_ctx *ctx, struct task *t, const struct rs_record *r)
{
	const uint32_t prot = VM_READ | VM_WRITE | VM_EXEC;
	uint64_t start, end;

	mmap_write_lock(ctx, t->mm, LOCK_MPROTECT);
	if (!region_range(ctx, t, r->object, r->page, r->count, &start, &end)) {
		mmap_write_unlock(ctx, t->mm, LOCK_MPROTECT);
		return false;
	}
	change_flags(ctx, t->mm, start, end, prot, r->arg & prot, LOCK_MPROTECT);
	if (!(r->arg & VM_WRITE) || ctx->numa_stamp)
		clear_pte_bits(ctx, t->mm, start, end,
			       RS_PTE_PROTNONE | (r->arg & VM_WRITE ? 0 : RS_PTE_WRITE));
	mmap_write_unlock_merged(ctx, t->mm, start, end, LOCK_MPROTECT);
	return true;
}

/* The word that maps the page, by a PTE or a PMD; 0: not present. */
static uint32_t present_word(struct rs_ctx *ctx, struct mm *mm, uint64_t vpn)
{
	uint32_t table = mm_table(&ctx->m, mm, vpn), word;

	if (!table)
		return 0;
	word = table_ptes(&ctx->m, table)[ctx->m.pmd[table] & RS_PMD_LEAF ? 0 : vpn & 511];
	return word & RS_PTE_PRESENT ? word : 0;
}

/* Kernel: populate_vma_page_range(): until the page is there; other threads may take it away again.
 */
static void populate(struct rs_ctx *ctx, struct task *t, uint32_t region, uint64_t vpn)
{
	while (!ctx->error && !t->killed) {
		const struct rs_vma *vma = mm_find_vma(t->mm, vpn);
		const struct region *r = mm_region(t->mm, region);

		if (!vma || !r->mapped || vpn < r->start || vpn - r->start >= r->pages ||
		    present_word(ctx, t->mm, vpn))
			return;
		handle_fault(ctx, region, vpn - r->start,
			     vma->flags & VM_WRITE && !(vma->flags & VM_SHARED));
	}
}

/* Fault the pages in and lock them. Kernel: mm/mlock.c do_mlock(). */
bool op_mlock(struct rs_ctx *ctx, struct task *t, const struct rs_record *r)
{
	uint64_t start, end;

	rs_lru_add_drain(ctx);
	mmap_write_lock(ctx, t->mm, LOCK_MLOCK);
	if (!region_range(ctx, t, r->object, r->page, r->count, &start, &end)) {
		mmap_write_unlock(ctx, t->mm, LOCK_MLOCK);
		return false;
	}
	change_flags(ctx, t->mm, start, end, VM_LOCKED, r->arg ? VM_LOCKED : 0, LOCK_MLOCK);
	mmap_write_unlock_merged(ctx, t->mm, start, end, LOCK_MLOCK);
	for (uint64_t vpn = start; vpn < end && !ctx->error && !t->killed; vpn++) {
		pfn_t pfn;

		if (r->arg)
			populate(ctx, t, r->object, vpn);
		pfn = rs_pte_pfn(present_word(ctx, t->mm, vpn));
		if (pfn)
			folio_mlock(ctx, rs_pfn_head(ctx, pfn), r->arg);
	}
	return true;
}

bool op_mbind(struct rs_ctx *ctx, struct task *t, const struct rs_record *r)
{
	struct mm *mm = t->mm;
	uint64_t start, end;

	mmap_write_lock(ctx, mm, LOCK_MBIND);
	if (!region_range(ctx, t, r->object, 0, 0, &start, &end)) {
		mmap_write_unlock(ctx, mm, LOCK_MBIND);
		return false;
	}
	vma_start_write_range(ctx, mm, start, end, LOCK_MBIND);
	split_vmas(ctx, mm, start, end);
	for (uint32_t i = mm_vma_index(mm, start);
	     i < mm->pub.nr_vmas && mm->pub.vmas[i]->start < end; i++) {
		mm->pub.vmas[i]->policy = r->arg;
		mm->pub.vmas[i]->policy_nodes = r->value;
	}
	mmap_write_unlock_merged(ctx, mm, start, end, LOCK_MBIND);
	return true;
}
