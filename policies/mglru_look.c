/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * mglru_look.c - the reference check of a folio about to be evicted, and what its neighbours in the
 * page table are found to be on that occasion (look-around).
 *
 * Differs: PTE locks are never contended, so look-around always takes place.
 */
#include "mglru.h"

/*
 * Taken for reclaim, then found young by a walk or by the look-around of another folio of its
 * batch: kept without an rmap walk of its own. Kernel: vmscan.c shrink_folio_list().
 */
bool mglru_keep_early(struct rs_ctx *ctx, pfn_t pfn)
{
	return mglru(ctx)->d->keeps_young_target && (rs_folios(ctx)[pfn].flags & PG_referenced) &&
	       rs_folio_mapped(ctx, pfn);
}

/* Kernel: vmscan.c folio_check_references(), up to 6.12 the same for both LRUs. */
static enum rs_verdict verdict_by_count(struct folio *f, int young_vmas, bool referenced, bool exec)
{
	bool file = folio_lru_type(f) == RS_FILE;

	if (!young_vmas)
		return referenced && file ? RS_RECLAIM_CLEAN : RS_RECLAIM;
	f->flags |= PG_referenced;
	if (referenced || young_vmas > 1 || (exec && file))
		return RS_ACTIVATE;
	return RS_KEEP;
}

enum rs_verdict mglru_check_references(struct rs_ctx *ctx, pfn_t pfn, struct rs_scan *sc)
{
	const struct mglru *m = mglru(ctx);
	struct folio *f = &rs_folios(ctx)[pfn];
	uint32_t vm_flags = 0;
	int young_vmas = rs_folio_referenced(ctx, pfn, sc, &vm_flags);
	bool referenced = f->flags & PG_referenced;

	/* Look-around may have set PG_referenced on the target itself, so it is read only now. */
	if (!m->d->two_touch)
		f->flags &= ~PG_referenced;
	if (vm_flags & VM_LOCKED)
		return RS_ACTIVATE;
	if (young_vmas < 0)
		return RS_KEEP;
	if (!m->d->two_touch)
		return verdict_by_count(f, young_vmas, referenced, vm_flags & VM_EXEC);
	if (!young_vmas)
		return RS_RECLAIM;
	return mglru_set_refs(ctx, pfn, vm_flags) ? RS_ACTIVATE : RS_KEEP;
}

/* PTEs [start, end) around the target, at most MIN_LRU_BATCH, in its table and area. */
struct window {
	uint64_t start, end;
	uint32_t *ptes; /* of start */
};

static struct window look_window(const struct rs_pvmw *pvmw)
{
	const uint64_t half = MIN_LRU_BATCH / 2, mask = RS_PTRS_PER_TABLE - 1;
	uint64_t start = MAX(pvmw->vpn & ~mask, pvmw->vma->start);
	uint64_t end = MIN((pvmw->vpn | mask) + 1, pvmw->vma->end);

	if (end - start > MIN_LRU_BATCH) {
		if (pvmw->vpn - start < half) {
			end = start + MIN_LRU_BATCH;
		} else if (end - pvmw->vpn < half) {
			start = end - MIN_LRU_BATCH;
		} else {
			start = pvmw->vpn - half;
			end = pvmw->vpn + half;
		}
	}
	return (struct window){ start, end, pvmw->pte - (pvmw->vpn - start) };
}

/* The folio of a young PTE, if it belongs to the target's lruvec. */
static pfn_t young_neighbour(struct rs_ctx *ctx, const struct rs_lruvec *lruvec, uint32_t pte)
{
	const struct folio *f;
	pfn_t pfn;

	if (!(pte & RS_PTE_PRESENT) || !(pte & RS_PTE_YOUNG) || !rs_pte_pfn(pte))
		return RS_PFN_NONE;
	pfn = rs_pfn_head(ctx, rs_pte_pfn(pte));
	f = &rs_folios(ctx)[pfn];
	return f->nid == lruvec->nid && f->memcg == lruvec->memcg ? pfn : RS_PFN_NONE;
}

static void report(struct rs_ctx *ctx, struct rs_lruvec *lruvec, const struct rs_pvmw *pvmw,
		   const struct window *w, unsigned young)
{
	struct mglru_lruvec *v = mglru_lruvec(lruvec);
	unsigned total = (unsigned)(w->end - w->start);

	rs_charge(ctx, RS_COST_LOOK_AROUND_PTE, total);
	rs_charge(ctx, RS_COST_PTE_YOUNG, young);
	if (mglru_suitable_to_scan(total, young))
		mglru_bloom_set(&v->mm_state, v->max_seq, mglru_pmd_key(pvmw->mm, pvmw->vpn));
}

/* The neighbours that look-around of 6.1 found below the youngest generation. */
static void promote_found(struct rs_ctx *ctx, struct rs_lruvec *lruvec, struct mglru_walk *walk,
			  const pfn_t *found, unsigned n, uint32_t vm_flags)
{
	unsigned gen = gen_from_seq(mglru_lruvec(lruvec)->max_seq);

	if (!walk && n < rs_tunables(ctx)->batch_size) {
		for (unsigned i = 0; i < n; i++)
			rs_folio_activate(ctx, found[i]);
		return;
	}
	if (!walk)
		rs_lru_lock(ctx, lruvec);
	for (unsigned i = 0; i < n; i++) {
		const struct folio *f = &rs_folios(ctx)[found[i]];
		int old_gen = mglru_update_gen(ctx, found[i], gen, vm_flags);

		if (old_gen < 0 || old_gen == (int)gen)
			continue;
		if (walk)
			mglru_batch(walk, lruvec, f, old_gen, gen);
		else
			mglru_update_size(ctx, lruvec, f, old_gen, (int)gen);
	}
	if (!walk)
		rs_lru_unlock(ctx, lruvec, n);
}

/*
 * Look-around of 6.1: the target's own PTE is one of the window, so the target, which is isolated,
 * gets PG_referenced like every isolated folio met. Kernel: vmscan.c lru_gen_look_around() (6.1).
 */
static void look_around_with_target(struct rs_ctx *ctx, const struct rs_pvmw *pvmw,
				    struct rs_lruvec *lruvec, struct mglru_walk *walk)
{
	struct window w = look_window(pvmw);
	unsigned gen = gen_from_seq(mglru_lruvec(lruvec)->max_seq), young = 0, n = 0;
	pfn_t found[MIN_LRU_BATCH];

	for (uint64_t i = 0; i < w.end - w.start; i++) {
		pfn_t pfn = young_neighbour(ctx, lruvec, w.ptes[i]);
		struct folio *f = &rs_folios(ctx)[pfn];

		if (pfn == RS_PFN_NONE ||
		    (walk && !walk->swappiness && folio_lru_type(f) == RS_ANON))
			continue;
		w.ptes[i] &= ~RS_PTE_YOUNG;
		young++;
		rs_note(ctx, pfn, RS_NOTE_YOUNG_LOOK, 0, 0);
		if (w.ptes[i] & RS_PTE_DIRTY)
			mglru_take_dirty(ctx, pfn);
		if (folio_gen(f) < 0)
			f->flags |= PG_referenced;
		else if (folio_gen(f) != (int)gen)
			found[n++] = pfn;
	}
	report(ctx, lruvec, pvmw, &w, young);
	promote_found(ctx, lruvec, walk, found, n, pvmw->vma->flags);
}

/* One young neighbour in 6.12. */
static void look_at_neighbour(struct rs_ctx *ctx, struct rs_lruvec *lruvec, struct mglru_walk *walk,
			      pfn_t pfn, unsigned gen, bool dirty)
{
	struct folio *f = &rs_folios(ctx)[pfn];

	if (walk) {
		mglru_young_folio(ctx, walk, lruvec, pfn, gen, dirty, 0);
		return;
	}
	if (dirty)
		mglru_take_dirty(ctx, pfn);
	if (folio_gen(f) < 0) {
		f->flags |= PG_referenced;
	} else if (folio_gen(f) != (int)gen) {
		if (mglru(ctx)->d->active_add_clears)
			mglru_clear_refs(mglru(ctx), f);
		rs_folio_activate(ctx, pfn);
	}
}

/*
 * Look-around since 6.12: the target's PTE has been cleared already. 6.12 leaves anonymous
 * neighbours of a file folio alone; 6.14 and newer take the PTEs of one folio as one reference and
 * pass over folios that are on no list. Kernel: vmscan.c lru_gen_look_around().
 */
static void look_around(struct rs_ctx *ctx, const struct rs_pvmw *pvmw, struct rs_lruvec *lruvec,
			struct mglru_walk *walk)
{
	bool runs = mglru(ctx)->d->walk_runs, dirty = false;
	bool file = folio_lru_type(&rs_folios(ctx)[pvmw->pfn]) == RS_FILE;
	struct window w = look_window(pvmw);
	unsigned gen = gen_from_seq(mglru_lruvec(lruvec)->max_seq), young = 1;
	pfn_t run = RS_PFN_NONE;

	for (uint64_t i = 0; i < w.end - w.start; i++) {
		pfn_t pfn = young_neighbour(ctx, lruvec, w.ptes[i]);
		const struct folio *f = &rs_folios(ctx)[pfn];

		if (pfn == RS_PFN_NONE ||
		    (runs ? folio_gen(f) < 0 : file && folio_lru_type(f) == RS_ANON))
			continue;
		w.ptes[i] &= ~RS_PTE_YOUNG;
		young++;
		rs_note(ctx, pfn, RS_NOTE_YOUNG_LOOK, 0, 0);
		if (!runs) {
			look_at_neighbour(ctx, lruvec, walk, pfn, gen, w.ptes[i] & RS_PTE_DIRTY);
			continue;
		}
		if (run != RS_PFN_NONE && run != pfn) {
			mglru_young_folio(ctx, walk, lruvec, run, gen, dirty, pvmw->vma->flags);
			dirty = false;
		}
		run = pfn;
		dirty |= (w.ptes[i] & RS_PTE_DIRTY) != 0;
	}
	if (run != RS_PFN_NONE)
		mglru_young_folio(ctx, walk, lruvec, run, gen, dirty, pvmw->vma->flags);
	report(ctx, lruvec, pvmw, &w, young);
}

/* One PTE of the target, met by the rmap walk. Kernel: rmap.c folio_referenced_one(). */
bool mglru_referenced_one(struct rs_ctx *ctx, struct rs_pvmw *pvmw, struct rs_scan *sc)
{
	const struct mglru *m = mglru(ctx);
	struct rs_lruvec *lruvec = rs_folio_lruvec(ctx, pvmw->pfn);
	struct mglru_walk *walk = sc ? mglru_scan_walk(sc) : NULL;
	uint32_t vma_flags = pvmw->vma->flags;
	bool leaf = *rs_pmd(ctx, pvmw->table) & RS_PMD_LEAF;

	if (!(*pvmw->pte & RS_PTE_YOUNG))
		return false;
	if (m->look_around && !leaf && m->d->look_includes_target &&
	    !(vma_flags & (VM_SEQ_READ | VM_RAND_READ | VM_SPECIAL)))
		look_around_with_target(ctx, pvmw, lruvec, walk);
	*pvmw->pte &= ~RS_PTE_YOUNG;

	if (m->look_around && !leaf && !m->d->look_includes_target && !(vma_flags & VM_SPECIAL)) {
		struct window w = look_window(pvmw);

		if (w.end - w.start > 1)
			look_around(ctx, pvmw, lruvec, walk);
	}
	/* Up to 6.1 such areas are walked, but a young bit there says nothing. */
	return rs_tunables(ctx)->kernel >= RS_KERNEL_6_12 || !(vma_flags & VM_SEQ_READ);
}
