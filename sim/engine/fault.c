/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fault.c - the page fault: lock, find the VMA, dispatch, and what happens on the way back.
 * Kernel: arch/x86/mm/fault.c do_user_addr_fault(), mm/memory.c handle_mm_fault().
 */
#include "sim/engine/observe.h"

void count_fault(struct rs_ctx *ctx, struct mm *mm, enum rs_event event)
{
	memcg_count(&ctx->m, mm->pub.memcg, event, 1);
	if (event == RS_PGMAJFAULT)
		ctx->cur->majflt++;
	else
		ctx->cur->minflt++;
}

/* An anonymous VMA gets its anon_vma when its first page comes. Kernel: anon_vma_prepare(). */
static void prepare_anon_vma(struct rs_ctx *ctx, struct rs_vma *vma)
{
	if (vma->has_object)
		return;
	vma->object = anon_vma_new(&ctx->m);
	vma->has_object = true;
	vma_link_object(&ctx->m, vma);
}

/* Pages copied from a private file mapping have the file VMA's own family. */
static uint32_t cow_family(struct rs_ctx *ctx, struct rs_vma *vma)
{
	if (!vma->cow_anon_vma) {
		vma->cow_anon_vma = anon_vma_new(&ctx->m);
		vma_set_add(&ctx->m.anon_vma[vma->cow_anon_vma].vmas, vma);
	}
	return vma->cow_anon_vma;
}

void set_anon_rmap(struct rs_ctx *ctx, pfn_t pfn, struct rs_vma *vma, uint64_t vpn)
{
	struct folio *f = &ctx->m.folios[pfn];

	if (vma->flags & VM_ANON) {
		prepare_anon_vma(ctx, vma);
		f->object = vma->object;
	} else {
		f->object = cow_family(ctx, vma);
	}
	f->index = vma->pgoff + (vpn - vma->start);
	if (OBSERVED(ctx))
		observe_anon(ctx, pfn, vma, vpn);
}

/*
 * A new anonymous page goes to the LRU and is mapped. It is locked meanwhile, so that a drained
 * batch does not take it for a page that nobody uses.
 */
void add_and_map(struct rs_ctx *ctx, struct mm *mm, struct rs_vma *vma, uint64_t vpn, pfn_t pfn)
{
	ctx->m.folios[pfn].flags |= PG_locked;
	folio_add_lru(ctx, pfn);
	map_page(ctx, mm, vma, vpn, pfn, RS_PTE_YOUNG | RS_PTE_DIRTY | RS_PTE_WRITE);
	ctx->m.folios[pfn].flags &= ~(uint32_t)PG_locked;
}

void map_page(struct rs_ctx *ctx, struct mm *mm, struct rs_vma *vma, uint64_t vpn, pfn_t pfn, uint32_t bits)
{
	struct machine *m = &ctx->m;
	uint32_t table = mm_table_alloc(m, mm, vpn);
	uint32_t *pte = table_ptes(m, table) + (vpn & 511);
	pfn_t head;
	struct folio *f;

	pte_set(m, table, pte, make_pte(pfn, bits));
	m->pmd[table] |= bits & RS_PTE_YOUNG ? RS_PMD_YOUNG : 0;
	if (!pfn)
		return;
	head = rs_pfn_head(ctx, pfn);
	f = &m->folios[head];
	mm->pub.rss[f->flags & PG_anon ? RS_ANON : RS_FILE]++;
	if (f->mapcount++ == 0) {
		int64_t nr = folio_nr_pages(f);

		*(f->flags & PG_anon ? &m->nr_anon_mapped : &m->nr_file_mapped) += nr;
		memcg_gauge(m, f->memcg, f->flags & PG_anon ? GAUGE_ANON : GAUGE_FILE_MAPPED, nr);
	}
	if ((vma->flags & VM_LOCKED) && !(f->flags & PG_mlocked))
		folio_mlock(ctx, head, true);
}

/* Kernel: folio_lock_or_retry(): a fault does not wait for a page under the lock. */
void fault_wait_folio(struct rs_ctx *ctx, struct mm *mm, pfn_t pfn)
{
	ctx->cur->in_fault = false;
	mmap_read_unlock(ctx, mm);
	folio_wait_locked(ctx, pfn);
	mmap_read_lock(ctx, mm);
	ctx->cur->in_fault = true;
}

static enum fault_result handle_pte_fault(struct rs_ctx *ctx, struct mm *mm, struct rs_vma *vma,
					  uint64_t vpn, bool write, bool tried)
{
	uint32_t *pte = mm_pte(&ctx->m, mm, vpn), table = mm_table(&ctx->m, mm, vpn), w;

	if (table && (ctx->m.pmd[table] & RS_PMD_LEAF) && leaf_access(ctx, mm, vpn, write))
		return FAULT_DONE;
	w = pte ? *pte : 0;
	if (w & RS_PTE_PRESENT) {
		if (write && !(w & RS_PTE_WRITE))
			return do_wp_page(ctx, mm, vma, vpn);
		*pte |= RS_PTE_YOUNG | (write ? RS_PTE_DIRTY : 0);
		return FAULT_DONE;
	}
	if (pte_is_swap(w))
		return do_swap_page(ctx, mm, vma, vpn, write);
	if (!(vma->flags & VM_ANON))
		return do_file_fault(ctx, mm, vma, vpn, write, tried);
	if (ctx->cfg.thp_always && (!table || !ctx->m.table[table].nr_used) &&
	    do_huge_anonymous(ctx, mm, vma, vpn) == FAULT_DONE)
		return FAULT_DONE;
	return do_anonymous_page(ctx, mm, vma, vpn, write);
}

/* The VMA that allows the access; a trace that goes elsewhere is in error. */
static struct rs_vma *checked_vma(struct rs_ctx *ctx, struct mm *mm, uint64_t vpn, bool write)
{
	struct rs_vma *vma = mm_find_vma(mm, vpn);

	if (vma && (vma->flags & (write ? VM_WRITE : VM_READ | VM_WRITE | VM_EXEC)))
		return vma;
	sched_fail(ctx, RS_ERROR_INPUT, "%s: %s of a page that is %s", trace_place(ctx),
		   write ? "store" : "load", vma ? "mapped without permission for it" : "not mapped");
	return NULL;
}

/* The region remembers the page table, so that the next access is a hit. */
static void remember_table(struct rs_ctx *ctx, struct mm *mm, struct region *r, uint64_t vpn)
{
	r->table[(vpn >> 9) - (r->start >> 9)] = mm_table(&ctx->m, mm, vpn);
}

bool handle_fault(struct rs_ctx *ctx, struct region *r, uint64_t page, bool write)
{
	struct task *t = ctx->cur;
	struct mm *mm = t->mm;
	uint64_t vpn = r->start + page;
	enum fault_result result;
	bool tried = false, leaf = false;

	/* Not a fault at all: only the region does not know the page table yet. */
	if (!r->table[(vpn >> 9) - (r->start >> 9)] && mm_table(&ctx->m, mm, vpn)) {
		remember_table(ctx, mm, r, vpn);
		return false;
	}
	mmap_read_lock(ctx, mm);
	t->in_fault = true;
	do {
		struct rs_vma *vma = checked_vma(ctx, mm, vpn, write);

		if (!vma)
			break;
		t->fault_vma = vma;
		/* 6.1 counts the second go of a fault that had to wait again. */
		if (!tried || ctx->m.kernel < RS_KERNEL_6_12)
			count_fault(ctx, mm, RS_PGFAULT);
		result = handle_pte_fault(ctx, mm, vma, vpn, write, tried);
		tried = true;
	} while (result == FAULT_RETRY && !t->killed);
	t->in_fault = false;
	t->fault_vma = NULL;
	mmap_read_unlock(ctx, mm);
	if (!ctx->error && !t->killed) {
		remember_table(ctx, mm, r, vpn);
		leaf = ctx->m.pmd[mm_table(&ctx->m, mm, vpn)] & RS_PMD_LEAF;
	}
	return_to_user(ctx);
	return leaf;
}

void return_to_user(struct rs_ctx *ctx)
{
	struct task *t = ctx->cur;

	if (t->nr_pages_over_high && !t->killed)
		handle_memory_high(ctx);
	if (t->killed)
		op_exit(ctx, t);
	task_checkpoint(ctx);
}
