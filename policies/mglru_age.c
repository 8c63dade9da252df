/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * mglru_age.c - ageing: before a new generation is opened, the page tables of the group's address
 * spaces are walked, young PTEs are cleared and their folios promoted.
 *
 * A walk visits only tables that the walk before found dense, or that look-around has reported: two
 * Bloom filters, one read by this walk, one filled for the next.
 *
 * Differs: a walk is one step of the simulation, so there is one walker a lruvec at a time, nobody
 * waits for another's walk (6.1), and PTE locks are never contended.
 */
#include "mglru.h"

#define TABLE_MASK ((uint64_t)RS_PTRS_PER_TABLE - 1)
#define PUD_SHIFT 18 /* page numbers in 1 GiB */

/* ---- Bloom filters ---- */

/*
 * What a PMD entry is hashed by. Differs: the kernel hashes its address, which no trace knows; this
 * is the address it would have if the page tables of an address space lay in one piece.
 */
uint64_t mglru_pmd_key(const struct rs_mm *mm, uint64_t vpn)
{
	return ((uint64_t)mm->id << 36 ^ vpn / RS_PTRS_PER_TABLE) << 3;
}

/* Kernel: hash.h hash_long(), vmscan.c get_item_key(). */
static void item_key(uint64_t key, uint32_t bit[2])
{
	uint32_t hash = (uint32_t)(key * 0x61C8864680B583EBull >> (64 - 2 * BLOOM_FILTER_SHIFT));

	bit[0] = hash & ((1u << BLOOM_FILTER_SHIFT) - 1);
	bit[1] = hash >> BLOOM_FILTER_SHIFT;
}

/* A filter that was never filled passes everything and takes nothing. */
bool mglru_bloom_test(const struct mglru_mm_state *s, uint64_t seq, uint64_t key)
{
	const uint32_t *filter = s->filter[seq % 2];
	uint32_t bit[2];

	if (!s->filter_used[seq % 2])
		return true;
	item_key(key, bit);
	return (filter[bit[0] / 32] >> bit[0] % 32 & 1) && (filter[bit[1] / 32] >> bit[1] % 32 & 1);
}

void mglru_bloom_set(struct mglru_mm_state *s, uint64_t seq, uint64_t key)
{
	uint32_t *filter = s->filter[seq % 2];
	uint32_t bit[2];

	if (!s->filter_used[seq % 2])
		return;
	item_key(key, bit);
	filter[bit[0] / 32] |= 1u << bit[0] % 32;
	filter[bit[1] / 32] |= 1u << bit[1] % 32;
}

static void bloom_reset(struct mglru_mm_state *s, uint64_t seq)
{
	memset(s->filter[seq % 2], 0, sizeof(s->filter[0]));
	s->filter_used[seq % 2] = true;
}

/* At least one young PTE in a cache line of eight. */
bool mglru_suitable_to_scan(unsigned total, unsigned young)
{
	return young * 8 >= total;
}

/* ---- the list of a group's address spaces ---- */

static struct mglru_lruvec *mm_list(struct rs_ctx *ctx, uint16_t memcg)
{
	return mglru_lruvec(rs_lruvec(ctx, memcg, 0));
}

static struct mglru_mm *mm_priv(struct rs_ctx *ctx, uint32_t ref)
{
	return rs_mm(ctx, ref - 1)->priv;
}

static uint32_t mm_next(struct rs_ctx *ctx, uint16_t memcg, uint32_t ref)
{
	return ref == MM_FIFO ? mm_list(ctx, memcg)->mm_first : mm_priv(ctx, ref)->next;
}

void mglru_mm_add(struct rs_ctx *ctx, struct rs_mm *mm)
{
	struct mglru_lruvec *list = mm_list(ctx, mm->memcg);
	struct mglru_mm *p = mm->priv;
	uint32_t ref = mm->id + 1;

	for (uint8_t nid = 0; nid < rs_tunables(ctx)->nr_nodes; nid++) {
		struct mglru_mm_state *s = &mglru_lruvec(rs_lruvec(ctx, mm->memcg, nid))->mm_state;

		if (s->tail == MM_FIFO) /* the first addition since the last iteration */
			s->tail = ref;
	}
	p->memcg = mm->memcg;
	p->listed = true;
	p->next = MM_FIFO;
	p->prev = list->mm_last;
	if (list->mm_last != MM_FIFO)
		mm_priv(ctx, list->mm_last)->next = ref;
	else
		list->mm_first = ref;
	list->mm_last = ref;
}

static void mm_unlist(struct rs_ctx *ctx, struct rs_mm *mm)
{
	struct mglru_mm *p = mm->priv;
	struct mglru_lruvec *list = mm_list(ctx, p->memcg);
	uint32_t ref = mm->id + 1;

	for (uint8_t nid = 0; nid < rs_tunables(ctx)->nr_nodes; nid++) {
		struct mglru_mm_state *s = &mglru_lruvec(rs_lruvec(ctx, p->memcg, nid))->mm_state;

		if (s->head == ref)
			s->head = p->prev;
		if (s->tail == ref)
			s->tail = p->next;
	}
	if (p->prev != MM_FIFO)
		mm_priv(ctx, p->prev)->next = p->next;
	else
		list->mm_first = p->next;
	if (p->next != MM_FIFO)
		mm_priv(ctx, p->next)->prev = p->prev;
	else
		list->mm_last = p->prev;
	p->listed = false;
}

void mglru_mm_del(struct rs_ctx *ctx, struct rs_mm *mm)
{
	struct mglru_mm *p = mm->priv;

	if (p->listed)
		mm_unlist(ctx, mm);
}

void mglru_mm_migrate(struct rs_ctx *ctx, struct rs_mm *mm, uint16_t old_memcg)
{
	struct mglru_mm *p = mm->priv;

	if (!p->listed || p->memcg == mm->memcg)
		return;
	mm_unlist(ctx, mm);
	mglru_mm_add(ctx, mm);
}

/* Kernel: mm_types.h lru_gen_use_mm(). */
void mglru_mm_switch(struct rs_ctx *ctx, struct rs_mm *mm)
{
	struct mglru_mm *p = mm->priv;

	p->nodes = UINT32_MAX;
}

/* Kernel: vmscan.c should_skip_mm(), get_next_mm(). */
static bool should_skip_mm(struct rs_ctx *ctx, struct rs_mm *mm, const struct mglru_walk *walk)
{
	struct mglru_mm *p = mm->priv;
	uint32_t node = 1u << walk->lruvec->nid % 32;
	uint64_t size = mm->rss[RS_FILE] + (walk->swappiness ? mm->rss[RS_ANON] : 0);

	if (!walk->force_scan && !(p->nodes & node))
		return true;
	p->nodes &= ~node;
	if (mglru(ctx)->d->skips_small_mm && size < MIN_LRU_BATCH)
		return true;
	return mm->exiting;
}

/*
 * The next address space of this iteration, NULL at its end; ret_last then says whether this
 * walker reached the end itself. Those added since the last iteration are walked whatever the
 * filters say, and so is everything behind them. Kernel: vmscan.c iterate_mm_list().
 */
static struct rs_mm *iterate_mm_list(struct rs_ctx *ctx, struct mglru_walk *walk, bool *ret_last)
{
	struct mglru_mm_state *s = &mglru_lruvec(walk->lruvec)->mm_state;
	uint16_t memcg = walk->lruvec->memcg;
	bool first = s->head == MM_NONE || s->head == MM_FIFO;
	struct rs_mm *mm;

	*ret_last = false;
	if (walk->seq <= s->seq)
		return NULL;
	if (s->head == MM_NONE)
		s->head = MM_FIFO;
	do {
		s->head = mm_next(ctx, memcg, s->head);
		if (s->head == MM_FIFO) {
			s->seq++;
			*ret_last = true;
			return NULL;
		}
		if (s->tail == MM_NONE || s->tail == s->head) {
			s->tail = mm_next(ctx, memcg, s->head);
			walk->force_scan = true;
		}
		mm = rs_mm(ctx, s->head - 1);
	} while (should_skip_mm(ctx, mm, walk));

	if (first)
		bloom_reset(s, walk->seq + 1);
	return mm;
}

/* Kernel: vmscan.c iterate_mm_list_nowalk(). */
static bool iterate_mm_list_nowalk(const struct mglru *m, struct mglru_mm_state *s, uint64_t seq)
{
	if (seq <= s->seq)
		return false;
	if (m->d->nowalk_forgets)
		s->head = s->tail = MM_NONE;
	s->seq++;
	return true;
}

/* ---- the walk ---- */

/* A dirty PTE whose young bit was cleared: the folio must not be taken for clean. */
void mglru_take_dirty(struct rs_ctx *ctx, pfn_t pfn)
{
	uint32_t flags = rs_folios(ctx)[pfn].flags;
	bool own_anon = (flags & PG_anon) && (flags & PG_swapbacked) && !(flags & PG_swapcache);

	if (!(flags & PG_dirty) && !own_anon)
		rs_folio_mark_dirty(ctx, pfn);
}

/*
 * A folio was found young. With a walk it is promoted and its size batched; without one
 * (look-around since 6.14) it is queued for activation once it is hot. Kernel: vmscan.c
 * walk_update_folio().
 */
void mglru_young_folio(struct rs_ctx *ctx, struct mglru_walk *walk, struct rs_lruvec *lruvec,
		       pfn_t pfn, unsigned gen, bool dirty, uint32_t vm_flags)
{
	const struct folio *f = &rs_folios(ctx)[pfn];
	int old_gen;

	if (dirty)
		mglru_take_dirty(ctx, pfn);
	if (walk) {
		old_gen = mglru_update_gen(ctx, pfn, gen, vm_flags);
		if (old_gen >= 0 && old_gen != (int)gen)
			mglru_batch(walk, lruvec, f, old_gen, gen);
	} else if (mglru_set_refs(ctx, pfn, vm_flags)) {
		old_gen = folio_gen(f);
		if (old_gen >= 0 && old_gen != (int)gen)
			rs_folio_activate(ctx, pfn);
	}
}

/* Kernel: vmscan.c should_skip_vma(). */
static bool should_skip_vma(struct rs_ctx *ctx, const struct rs_vma *vma, int swappiness)
{
	if (!(vma->flags & (VM_READ | VM_WRITE | VM_EXEC)))
		return true;
	if (!rs_vma_has_recency(ctx, vma) || (vma->flags & (VM_LOCKED | VM_SPECIAL)))
		return true;
	return !type_evictable(vma->flags & VM_ANON ? RS_ANON : RS_FILE, swappiness);
}

/* The folio of a young PTE, if this walk is about it. Kernel: get_pte_pfn(), get_pfn_folio(). */
static pfn_t walk_folio(struct rs_ctx *ctx, const struct mglru_walk *walk, uint32_t pte)
{
	const struct folio *f;
	pfn_t pfn;

	if (!(pte & RS_PTE_PRESENT) || !(pte & RS_PTE_YOUNG) || !rs_pte_pfn(pte))
		return RS_PFN_NONE;
	pfn = rs_pfn_head(ctx, rs_pte_pfn(pte));
	f = &rs_folios(ctx)[pfn];
	if (f->nid != walk->lruvec->nid || f->memcg != walk->lruvec->memcg)
		return RS_PFN_NONE;
	if (mglru(ctx)->d->walk_runs)
		return folio_gen(f) < 0 ? RS_PFN_NONE : pfn;
	return folio_lru_type(f) == RS_ANON && !walk->swappiness ? RS_PFN_NONE : pfn;
}

/* PTEs [start, end) of one table; returns how many were young. Kernel: walk_pte_range(). */
static unsigned walk_ptes(struct rs_ctx *ctx, struct mglru_walk *walk, const struct rs_vma *vma,
			  uint32_t *ptes, unsigned start, unsigned end)
{
	bool runs = mglru(ctx)->d->walk_runs, dirty = false;
	unsigned gen = gen_from_seq(mglru_lruvec(walk->lruvec)->max_seq), young = 0;
	pfn_t run = RS_PFN_NONE;

	for (unsigned i = start; i < end; i++) {
		pfn_t pfn = walk_folio(ctx, walk, ptes[i]);

		if (pfn == RS_PFN_NONE)
			continue;
		if (run != RS_PFN_NONE && (!runs || pfn != run)) {
			mglru_young_folio(ctx, walk, walk->lruvec, run, gen, dirty, vma->flags);
			dirty = false;
		}
		run = pfn;
		rs_note(ctx, pfn, RS_NOTE_YOUNG_WALK, 0, 0);
		ptes[i] &= ~RS_PTE_YOUNG;
		dirty |= (ptes[i] & RS_PTE_DIRTY) != 0;
		young++;
	}
	if (run != RS_PFN_NONE)
		mglru_young_folio(ctx, walk, walk->lruvec, run, gen, dirty, vma->flags);
	rs_charge(ctx, RS_COST_PTE_SCAN, end - start);
	rs_charge(ctx, RS_COST_PTE_YOUNG, young);
	return young;
}

/* All of the table's PTEs that lie in areas worth it, from area i on. True: a dense table. */
static bool walk_table(struct rs_ctx *ctx, struct mglru_walk *walk, const struct rs_mm *mm,
		       uint32_t i, uint64_t vpn, uint32_t table)
{
	uint64_t table_start = vpn & ~TABLE_MASK, table_end = table_start + RS_PTRS_PER_TABLE;
	unsigned total = 0, young = 0;

	rs_charge(ctx, RS_COST_PTE_TABLE_FIXED, 1);
	for (; i < mm->nr_vmas && mm->vmas[i]->start < table_end; i++) {
		const struct rs_vma *vma = mm->vmas[i];
		uint64_t start = MAX(MAX(vma->start, vpn), table_start);
		uint64_t end = MIN(vma->end, table_end);

		if (start >= end || should_skip_vma(ctx, vma, walk->swappiness))
			continue;
		total += (unsigned)(end - start);
		young += walk_ptes(ctx, walk, vma, rs_ptes(ctx, table),
				   (unsigned)(start - table_start), (unsigned)(end - table_start));
	}
	return mglru_suitable_to_scan(total, young);
}

/* A PMD that maps a huge folio. Kernel: walk_pmd_range_locked(). */
static void walk_leaf(struct rs_ctx *ctx, struct mglru_walk *walk, const struct rs_vma *vma,
		      uint32_t *pte)
{
	pfn_t pfn = walk_folio(ctx, walk, *pte);

	if (pfn == RS_PFN_NONE)
		return;
	*pte &= ~RS_PTE_YOUNG;
	rs_note(ctx, pfn, RS_NOTE_YOUNG_WALK, 0, 0);
	rs_charge(ctx, RS_COST_PTE_YOUNG, 1);
	mglru_young_folio(ctx, walk, walk->lruvec, pfn,
			  gen_from_seq(mglru_lruvec(walk->lruvec)->max_seq), *pte & RS_PTE_DIRTY,
			  vma->flags);
}

/* One 2 MiB range, first met at vpn in area i. Kernel: vmscan.c walk_pmd_range(). */
static void walk_pmd(struct rs_ctx *ctx, struct mglru_walk *walk, struct rs_mm *mm, uint32_t i,
		     uint64_t vpn)
{
	const struct mglru *m = mglru(ctx);
	struct mglru_mm_state *s = &mglru_lruvec(walk->lruvec)->mm_state;
	uint32_t table = rs_mm_table(ctx, mm, vpn);
	uint64_t key = mglru_pmd_key(mm, vpn);
	uint8_t *pmd;

	if (!table)
		return;
	pmd = rs_pmd(ctx, table);
	if (*pmd & RS_PMD_LEAF) {
		walk_leaf(ctx, walk, mm->vmas[i], rs_ptes(ctx, table));
		return;
	}
	if (m->nonleaf_young && !(m->d->force_skips_nonleaf && walk->force_scan)) {
		if (!(*pmd & RS_PMD_YOUNG))
			return;
		*pmd &= (uint8_t)~RS_PMD_YOUNG;
	}
	if (!walk->force_scan && rs_tunables(ctx)->disabled != RS_MECH_BLOOM &&
	    !mglru_bloom_test(s, walk->seq, key))
		return;
	if (walk_table(ctx, walk, mm, i, vpn, table))
		mglru_bloom_set(s, walk->seq + 1, key);
}

/*
 * From walk->next_vpn on. True: stopped at the end of a 1 GiB unit, because many promotions have
 * gathered or another task wants the CPU. Kernel: vmscan.c walk_pud_range().
 */
static bool walk_range(struct rs_ctx *ctx, struct mglru_walk *walk, struct rs_mm *mm)
{
	uint64_t vpn = walk->next_vpn, unit = UINT64_MAX;

	for (uint32_t i = 0; i < mm->nr_vmas;) {
		const struct rs_vma *vma = mm->vmas[i];

		if (vma->end <= vpn || should_skip_vma(ctx, vma, walk->swappiness)) {
			i++;
			continue;
		}
		vpn = MAX(vpn, vma->start);
		if (unit != UINT64_MAX && unit != vpn >> PUD_SHIFT &&
		    (walk->batched >= MAX_LRU_BATCH || rs_need_resched(ctx))) {
			walk->next_vpn = vpn;
			return true;
		}
		unit = vpn >> PUD_SHIFT;
		walk_pmd(ctx, walk, mm, i, vpn);
		vpn = (vpn | TABLE_MASK) + 1;
	}
	return false;
}

/* Kernel: vmscan.c walk_mm(). */
static void walk_mm(struct rs_ctx *ctx, struct mglru_walk *walk, struct rs_mm *mm)
{
	const struct mglru_lruvec *v = mglru_lruvec(walk->lruvec);
	bool more = true;

	walk->next_vpn = 0;
	rs_charge(ctx, RS_COST_MM_WALK_START, 1);
	while (more && walk->seq == v->max_seq && rs_mmap_read_trylock(ctx, mm)) {
		more = walk_range(ctx, walk, mm);
		rs_mmap_read_unlock(ctx, mm);
		if (walk->batched) {
			uint32_t nr = walk->batched;

			rs_lru_lock(ctx, walk->lruvec);
			mglru_apply_batch(ctx, walk, walk->lruvec);
			rs_lru_unlock(ctx, walk->lruvec, nr);
		}
	}
}

/*
 * Age: walk what is to be walked, then open the next generation. False if somebody else is at it.
 * Kernel: vmscan.c try_to_inc_max_seq().
 */
bool mglru_try_to_inc_max_seq(struct rs_ctx *ctx, struct rs_lruvec *lruvec, struct rs_scan *sc,
			      uint64_t seq, int swappiness)
{
	const struct mglru *m = mglru(ctx);
	struct mglru_mm_state *s = &mglru_lruvec(lruvec)->mm_state;
	struct mglru_walk *walk;
	struct rs_mm *mm;
	bool last;

	if (!m->d->page_tables)
		return mglru_inc_max_seq(ctx, lruvec, seq, swappiness);
	if (seq <= s->seq)
		return false;
	if (!m->walks)
		return iterate_mm_list_nowalk(m, s, seq) &&
		       mglru_inc_max_seq(ctx, lruvec, seq, swappiness);

	/* From here on look-around batches its promotions, too. */
	if (!sc->priv[SCAN_WALK])
		sc->priv[SCAN_WALK] = sc->priv[SCAN_WALK_STORAGE];
	walk = mglru_scan_walk(sc);
	walk->lruvec = lruvec;
	walk->seq = seq;
	walk->swappiness = swappiness;
	walk->force_scan = false;

	while ((mm = iterate_mm_list(ctx, walk, &last)) != NULL)
		walk_mm(ctx, walk, mm);
	return last && mglru_inc_max_seq(ctx, lruvec, seq, swappiness);
}
