/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fault.c - the page fault: lock, find the VMA, dispatch, and what happens on the way back.
 * Kernel: arch/x86/mm/fault.c do_user_addr_fault(), mm/memory.c handle_mm_fault().
 */
#include "sim/engine/observe.h"
#include "sim/engine/timeline.h"

void count_fault(struct rs_ctx *ctx, struct mm *mm, enum rs_event event)
{
	memcg_count(&ctx->m, mm->pub.memcg, event, 1);
	if (event == RS_PGMAJFAULT)
		ctx->cur->majflt++;
	else
		ctx->cur->minflt++;
}

/* An anonymous VMA gets its anon_vma when its first page comes. Kernel: __anon_vma_prepare(). */
static void make_anon_vma(struct rs_ctx *ctx, struct rs_vma *vma)
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

bool anon_vma_prepare(struct rs_ctx *ctx, struct mm *mm, struct rs_vma *vma)
{
	bool has = vma->flags & VM_ANON ? vma->has_object : vma->cow_anon_vma != 0;

	if (has || !ctx->cur->vma_lock)
		return true; /* without: made when the page comes, under mmap_lock */
	if (!vma_lock_suffices(ctx, VMA_FAULT_ANON_FIRST))
		return false;
	if (vma->flags & VM_ANON)
		make_anon_vma(ctx, vma);
	else
		cow_family(ctx, vma);
	return true;
}

void set_anon_rmap(struct rs_ctx *ctx, pfn_t pfn, struct rs_vma *vma, uint64_t vpn)
{
	struct folio *f = &ctx->m.folios[pfn];

	if (vma->flags & VM_ANON) {
		make_anon_vma(ctx, vma);
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

void map_page(struct rs_ctx *ctx, struct mm *mm, struct rs_vma *vma, uint64_t vpn, pfn_t pfn,
	      uint32_t bits)
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
	struct task *t = ctx->cur;

	t->in_fault = false;
	if (t->vma_lock) {
		vma_end_read(ctx, mm, t->vma_lock);
		t->vma_lock = NULL;
		folio_wait_locked(ctx, pfn);
	} else {
		mmap_read_unlock(ctx, mm, LOCK_FAULT);
		folio_wait_locked(ctx, pfn);
		mmap_read_lock(ctx, mm, LOCK_FAULT);
	}
	t->in_fault = true;
}

static enum fault_result handle_pte_fault(struct rs_ctx *ctx, struct mm *mm, struct rs_vma *vma,
					  uint64_t vpn, bool write, bool tried)
{
	uint32_t *pte, table = mm_table(&ctx->m, mm, vpn), w;

	if (ctx->cfg.thp_always && (vma->flags & VM_ANON) &&
	    (!table || !ctx->m.table[table].nr_used) &&
	    do_huge_anonymous(ctx, mm, vma, vpn) == FAULT_DONE)
		return FAULT_DONE;
	/* Looked up only now: while memory was sought, others may have been here. */
	table = mm_table(&ctx->m, mm, vpn);
	pte = mm_pte(&ctx->m, mm, vpn);
	if (table && (ctx->m.pmd[table] & RS_PMD_LEAF) && leaf_access(ctx, mm, vpn, write))
		return FAULT_DONE;
	w = pte ? *pte : 0;
	if (w & RS_PTE_PROTNONE) {
		do_numa_page(ctx, mm, vma, vpn);
		return FAULT_DONE;
	}
	if (w & RS_PTE_PRESENT) {
		if (write && !(w & RS_PTE_WRITE))
			return do_wp_page(ctx, mm, vma, vpn);
		*pte |= RS_PTE_YOUNG | (write ? RS_PTE_DIRTY : 0);
		return FAULT_DONE;
	}
	if (pte_is_swap(w))
		return vma_lock_suffices(ctx, VMA_FAULT_SWAP)
			       ? do_swap_page(ctx, mm, vma, vpn, write)
			       : FAULT_RETRY;
	if (!(vma->flags & VM_ANON))
		return do_file_fault(ctx, mm, vma, vpn, write, tried);
	return do_anonymous_page(ctx, mm, vma, vpn, write);
}

/* The VMA that allows the access; a trace that goes elsewhere is in error. */
static struct rs_vma *checked_vma(struct rs_ctx *ctx, struct mm *mm, uint64_t vpn, bool write)
{
	struct rs_vma *vma = mm_find_vma(mm, vpn);

	if (vma && (vma->flags & (write ? VM_WRITE : VM_READ | VM_WRITE | VM_EXEC)))
		return vma;
	sched_fail(ctx, RS_ERROR_INPUT, "%s: %s of a page that is %s", trace_place(ctx),
		   write ? "store" : "load",
		   vma ? "mapped without permission for it" : "not mapped");
	return NULL;
}

/*
 * The region remembers the page table, so that the next access is a hit. It may be gone by now, or
 * lie elsewhere.
 */
static void remember_table(struct rs_ctx *ctx, struct mm *mm, uint32_t region, uint64_t vpn)
{
	struct region *r = mm_region(mm, region);

	if (r->mapped && vpn >= r->start && vpn - r->start < r->pages)
		r->table[(vpn >> 9) - (r->start >> 9)] = mm_table(&ctx->m, mm, vpn);
}

/* One go of the handler with a lock held. */
static enum fault_result fault_once(struct rs_ctx *ctx, struct mm *mm, struct rs_vma *vma,
				    uint64_t vpn, bool write, bool tried, bool counted)
{
	ctx->cur->fault_vma = vma;
	/* 6.1 counts the second go of a fault that had to wait again. */
	if (!counted || ctx->m.kernel < RS_KERNEL_6_12)
		count_fault(ctx, mm, RS_PGFAULT);
	return handle_pte_fault(ctx, mm, vma, vpn, write, tried);
}

/* True: served. Kernel: do_user_addr_fault() from lock_vma_under_rcu() to its lock_mmap label. */
static bool fault_under_vma_lock(struct rs_ctx *ctx, struct mm *mm, uint64_t vpn, bool write,
				 bool *tried, bool *counted)
{
	struct task *t = ctx->cur;
	uint64_t majflt = t->majflt;
	enum fault_result result;
	struct rs_vma *vma;

	task_sync(ctx);
	vma = vma_lock_fault(ctx, mm, vpn);
	if (!vma)
		return false;
	/* An access error ends the run; the other way says which. */
	t->vma_lock = vma;
	t->in_fault = true;
	result = vma->flags & (write ? VM_WRITE : VM_READ | VM_WRITE | VM_EXEC)
			 ? fault_once(ctx, mm, vma, vpn, write, false, false)
			 : FAULT_RETRY;
	t->in_fault = false;
	t->fault_vma = NULL;
	if (t->vma_lock)
		vma_end_read(ctx, mm, t->vma_lock);
	t->vma_lock = NULL;
	if (result != FAULT_RETRY) {
		ctx->m.vmstat[RS_VMA_LOCK_SUCCESS]++;
		return true;
	}
	ctx->m.vmstat[RS_VMA_LOCK_RETRY]++;
	charge(ctx, RS_COST_VMA_LOCK_RETRY, 1);
	*tried = t->majflt != majflt;
	*counted = true;
	return t->killed;
}

static void fault_under_mmap_lock(struct rs_ctx *ctx, struct mm *mm, uint64_t vpn, bool write,
				  bool tried, bool counted)
{
	struct task *t = ctx->cur;
	enum fault_result result;

	mmap_read_lock(ctx, mm, LOCK_FAULT);
	t->in_fault = true;
	do {
		struct rs_vma *vma = checked_vma(ctx, mm, vpn, write);

		if (!vma)
			break;
		result = fault_once(ctx, mm, vma, vpn, write, tried, counted);
		tried = counted = true;
	} while (result == FAULT_RETRY && !t->killed && !ctx->error);
	t->in_fault = false;
	t->fault_vma = NULL;
	mmap_read_unlock(ctx, mm, LOCK_FAULT);
}

bool handle_fault(struct rs_ctx *ctx, uint32_t region, uint64_t page, bool write)
{
	struct task *t = ctx->cur;
	struct mm *mm = t->mm;
	struct region *r = mm_region(mm, region);
	uint64_t vpn = r->start + page;
	bool tried = false, counted = false, leaf = false;
	uint64_t majflt = t->majflt;
	ns_t from = t->now;
	uint32_t table;

	/* Not a fault at all: only the region does not know the page table yet. */
	if (!r->table[(vpn >> 9) - (r->start >> 9)] && mm_table(&ctx->m, mm, vpn)) {
		remember_table(ctx, mm, region, vpn);
		return false;
	}
	span_begin(ctx, "fault", "page fault");
	if (ctx->cfg.per_vma_lock == PVL_OFF ||
	    !fault_under_vma_lock(ctx, mm, vpn, write, &tried, &counted))
		fault_under_mmap_lock(ctx, mm, vpn, write, tried, counted);
	if (!ctx->error && !t->killed) {
		remember_table(ctx, mm, region, vpn);
		table = mm_table(&ctx->m, mm, vpn);
		leaf = table && ctx->m.pmd[table] & RS_PMD_LEAF;
	}
	note_latency(ctx, t->majflt == majflt ? RS_LATENCY_FAULT_MINOR : RS_LATENCY_FAULT_MAJOR,
		     from);
	span_end(ctx, "major", t->majflt - majflt);
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
