/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * huge.c - anonymous folios of 2 MiB: fault, access, split. Kernel: mm/huge_memory.c.
 *
 * A huge mapping is a page table whose PMD byte says LEAF; word 0 stands for the PMD entry.
 * Differs: mapped as a whole or split for good; no khugepaged; a huge folio is split before it is
 * swapped out, as the kernel does when no cluster of 512 slots is free.
 */
#include "sim/engine/observe.h"

enum fault_result do_huge_anonymous(struct rs_ctx *ctx, struct mm *mm, struct rs_vma *vma,
				    uint64_t vpn)
{
	uint64_t base = vpn & ~(uint64_t)511;
	uint32_t table, *pte;
	struct folio *f;
	pfn_t pfn;

	if (base < vma->start || base + 512 > vma->end ||
	    (vma->flags & (VM_NOHUGEPAGE | VM_LOCKED)))
		return FAULT_OOM;
	if (!anon_vma_prepare(ctx, mm, vma))
		return FAULT_OOM; /* a small page will find the same */
	pfn = alloc_folio(ctx, MAX_ORDER, vma, base);
	if (!pfn)
		return FAULT_OOM;
	if (!charge_folio(ctx, pfn, mm->pub.memcg)) {
		folio_free(ctx, pfn);
		return FAULT_OOM;
	}
	table = mm_table_alloc(&ctx->m, mm, base);
	if (ctx->m.table[table].nr_used) {
		folio_free(ctx, pfn);
		return FAULT_RETRY;
	}
	f = &ctx->m.folios[pfn];
	f->flags |= PG_anon | PG_swapbacked | PG_uptodate | PG_anon_exclusive;
	set_anon_rmap(ctx, pfn, vma, base);
	f->flags |= PG_locked;
	folio_add_lru(ctx, pfn);
	f->flags &= ~(uint32_t)PG_locked;
	pte = table_ptes(&ctx->m, table);
	pte_set(&ctx->m, table, pte, make_pte(pfn, RS_PTE_YOUNG | RS_PTE_DIRTY | RS_PTE_WRITE));
	ctx->m.pmd[table] |= RS_PMD_LEAF | RS_PMD_YOUNG;
	f->mapcount = 1;
	mm->pub.rss[RS_ANON] += 512;
	ctx->m.nr_anon_mapped += 512;
	memcg_gauge(&ctx->m, f->memcg, GAUGE_ANON, 512);
	charge(ctx, RS_COST_FAULT_MINOR_ANON, 64); /* zeroing 2 MiB */
	return FAULT_DONE;
}

/* A hit of a huge mapping. False: the slow path has to look. */
bool leaf_access(struct rs_ctx *ctx, struct mm *mm, uint64_t vpn, bool write)
{
	uint32_t *pte = table_ptes(&ctx->m, mm_table(&ctx->m, mm, vpn));

	if (write && !(*pte & RS_PTE_WRITE)) {
		split_huge_pmd(ctx, mm, mm_table(&ctx->m, mm, vpn));
		return false;
	}
	*pte |= RS_PTE_YOUNG | (write ? RS_PTE_DIRTY : 0);
	charge_remote(ctx, rs_pte_pfn(*pte), 1);
	return true;
}

/* Map the folio by 512 PTEs instead; it stays one folio. Kernel: __split_huge_pmd(). */
void split_huge_pmd(struct rs_ctx *ctx, struct mm *mm, uint32_t table)
{
	uint32_t *pte = table_ptes(&ctx->m, table), word = *pte;
	pfn_t pfn = rs_pte_pfn(word);

	ctx->m.pmd[table] &= ~RS_PMD_LEAF;
	for (uint32_t i = 0; i < 512; i++)
		pte_set(&ctx->m, table, pte + i, make_pte(pfn + i, word & 31u));
	ctx->m.folios[pfn].mapcount += 511;
}

void split_huge_range(struct rs_ctx *ctx, struct mm *mm, uint64_t start, uint64_t end)
{
	for (uint64_t vpn = start & ~511ull; vpn < end; vpn += 512) {
		uint32_t table = mm_table(&ctx->m, mm, vpn);

		if (table && (ctx->m.pmd[table] & RS_PMD_LEAF) && (vpn < start || vpn + 512 > end))
			split_huge_pmd(ctx, mm, table);
	}
}

/* Start and end are borders of VMAs from here on. Kernel: __split_vma(), vma_adjust_trans_huge(). */
void split_vmas(struct rs_ctx *ctx, struct mm *mm, uint64_t start, uint64_t end)
{
	split_huge_range(ctx, mm, start, end);
	mm_split(&ctx->m, mm, start, end);
}

void zap_huge(struct rs_ctx *ctx, struct mm *mm, uint32_t table)
{
	uint32_t *pte = table_ptes(&ctx->m, table);
	pfn_t pfn = rs_pte_pfn(*pte);

	ctx->m.pmd[table] = 0;
	pte_set(&ctx->m, table, pte, 0);
	charge(ctx, RS_COST_ZAP_PAGE, 1);
	mm->pub.rss[RS_ANON] -= 512;
	folio_remove_rmap(ctx, pfn);
	folio_free_if_unused(ctx, pfn);
}

/* How many PTEs map each page of the folio. */
static void count_mappings(struct rs_ctx *ctx, pfn_t pfn, uint16_t *count)
{
	struct folio *f = &ctx->m.folios[pfn];
	struct vma_set *set = folio_vma_set(&ctx->m, f);

	for (uint32_t v = 0; v < set->nr; v++) {
		struct rs_vma *vma = set->vma[v];
		struct mm *mm = ctx->m.mm[vma->mm];

		for (uint32_t i = 0; i < 1u << f->order; i++) {
			uint64_t vpn = vma->start + (uint32_t)(f->index + i - (uint32_t)vma->pgoff);
			uint32_t *pte;

			if (vpn >= vma->end)
				continue;
			pte = mm_pte(&ctx->m, mm, vpn);
			if (pte && (*pte & RS_PTE_PRESENT) && rs_pte_pfn(*pte) == pfn + i)
				count[i]++;
		}
	}
}

static void split_pmds(struct rs_ctx *ctx, pfn_t pfn)
{
	struct folio *f = &ctx->m.folios[pfn];
	struct vma_set *set = folio_vma_set(&ctx->m, f);

	for (uint32_t v = 0; v < set->nr; v++) {
		uint64_t vpn = vma_address(set->vma[v], f);
		struct mm *mm = ctx->m.mm[set->vma[v]->mm];
		uint32_t table = vpn == UINT64_MAX ? 0 : mm_table(&ctx->m, mm, vpn);

		if (table && (ctx->m.pmd[table] & RS_PMD_LEAF) &&
		    rs_pte_pfn(*table_ptes(&ctx->m, table)) == pfn)
			split_huge_pmd(ctx, mm, table);
	}
}

/*
 * An isolated huge folio becomes 512 folios; the first stays isolated, the others that are still
 * mapped go back to the LRU. Kernel: split_folio_to_list() in shrink_folio_list().
 * Differs: the kernel tries the others in the same batch.
 */
bool split_folio(struct rs_ctx *ctx, pfn_t pfn)
{
	struct folio head, *folios = ctx->m.folios;
	uint16_t count[512] = { 0 };
	uint32_t nr;

	if (folios[pfn].refs)
		return false;
	split_pmds(ctx, pfn);
	count_mappings(ctx, pfn, count);
	if (OBSERVED(ctx))
		observe_split(ctx, pfn);
	head = folios[pfn];
	nr = 1u << head.order;
	ctx->m.node[head.nid].nr_isolated[folio_lru_type(&head)] -= nr - 1;
	for (uint32_t i = 0; i < nr; i++) {
		struct folio *f = &folios[pfn + i];

		*f = head;
		f->order = 0;
		f->index = head.index + i;
		f->mapcount = count[i];
		f->flags &= ~(uint32_t)(PG_head | (i ? PG_isolated : 0));
		if (!count[i]) {
			ctx->m.nr_anon_mapped--;
			memcg_gauge(&ctx->m, f->memcg, GAUGE_ANON, -1);
		}
		if (!i)
			continue;
		if (count[i])
			lru_add(ctx, pfn + i, false);
		else
			folio_free(ctx, pfn + i);
	}
	return true;
}
