/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * mglru_place.c - where a folio enters the generations, how references are kept on it, how it is
 * promoted, and the sizes that follow.
 */
#include "mglru.h"

/* References through descriptors beyond the first, 0..4. Kernel: mm_inline.h folio_lru_refs(). */
unsigned mglru_refs(const struct mglru *m, const struct folio *f)
{
	bool referenced = f->flags & PG_referenced, workingset = f->flags & PG_workingset;

	switch (m->d->refs) {
	case REFS_BOTH_FLAGS:
		return referenced && workingset ? folio_ref_bits(f) + 1 : 0;
	case REFS_BEHIND_WORKINGSET:
		return folio_ref_bits(f) + workingset;
	case REFS_BEHIND_REFERENCED:
		return referenced ? folio_ref_bits(f) + 1 : 0;
	}
	return 0;
}

static unsigned order_base_2(unsigned n)
{
	unsigned order = 0;

	while ((1u << order) < n)
		order++;
	return order;
}

/* Kernel: mm_inline.h lru_tier_from_refs(). */
unsigned mglru_tier_from_refs(const struct mglru *m, unsigned refs, bool workingset)
{
	if (m->d->refs == REFS_BEHIND_REFERENCED)
		return workingset ? MAX_NR_TIERS - 1 : order_base_2(refs);
	return order_base_2(refs + 1);
}

unsigned mglru_tier(const struct mglru *m, const struct folio *f)
{
	return mglru_tier_from_refs(m, mglru_refs(m, f), f->flags & PG_workingset);
}

/* Referenced as often as can be told: protected whatever the controller says. */
bool mglru_saturated(const struct mglru *m, const struct folio *f)
{
	unsigned refs = mglru_refs(m, f);

	if (m->d->refs == REFS_BEHIND_REFERENCED)
		return refs == LRU_REFS_MAX + 1 && (f->flags & PG_workingset);
	return m->d->refs == REFS_BEHIND_WORKINGSET && refs == LRU_REFS_MAX + 1;
}

/* Forget the references, as promotion and protection do. 6.14 and newer keep PG_workingset. */
void mglru_clear_refs(const struct mglru *m, struct folio *f)
{
	folio_set_ref_bits(f, 0);
	f->flags &= ~PG_referenced;
	if (m->d->refs != REFS_BEHIND_REFERENCED)
		f->flags &= ~PG_workingset;
}

/*
 * One more reference through a descriptor. False: it was already referenced as often as is counted.
 * Kernel: swap.c folio_inc_refs(), lru_gen_inc_refs().
 */
bool mglru_inc_refs(const struct mglru *m, struct folio *f)
{
	bool split = m->d->refs == REFS_BEHIND_REFERENCED;

	if (f->flags & PG_unevictable)
		return false;
	if (!(f->flags & PG_referenced)) {
		f->flags |= PG_referenced;
		if (split)
			folio_set_ref_bits(f, 0);
		return true;
	}
	if (!split && !(f->flags & PG_workingset)) {
		f->flags |= PG_workingset;
		return true;
	}
	if (folio_ref_bits(f) < LRU_REFS_MAX) {
		folio_set_ref_bits(f, folio_ref_bits(f) + 1);
		return true;
	}
	if (split && !(f->flags & PG_workingset)) {
		f->flags |= PG_workingset;
		return true;
	}
	return false;
}

void mglru_mark_accessed(struct rs_ctx *ctx, pfn_t pfn)
{
	mglru_inc_refs(mglru(ctx), &rs_folios(ctx)[pfn]);
}

/*
 * Before the folio waits in the lru_add batch: whatever a fault brings in is hot.
 * Kernel: swap.c folio_add_lru().
 */
void mglru_fault_add(struct rs_ctx *ctx, pfn_t pfn, const struct rs_vma *vma)
{
	const struct mglru *m = mglru(ctx);
	struct folio *f = &rs_folios(ctx)[pfn];

	if ((f->flags & PG_unevictable) || !rs_vma_has_recency(ctx, vma))
		return;
	if (!m->d->fault_references || (f->flags & PG_workingset)) {
		f->flags |= PG_active;
	} else if (!(f->flags & PG_referenced)) {
		f->flags |= PG_referenced;
		folio_set_ref_bits(f, 0);
	}
}

static bool written_for_reclaim(const struct folio *f)
{
	return (f->flags & PG_reclaim) && (f->flags & (PG_dirty | PG_writeback));
}

static uint64_t seq_by_distance(const struct mglru *m, const struct mglru_lruvec *v,
				const struct folio *f, bool tail)
{
	enum rs_type type = folio_lru_type(f);
	bool workingset = f->flags & PG_workingset;
	bool referenced = m->d->place == PLACE_REFERENCED && (f->flags & PG_referenced);
	unsigned distance;
	uint64_t seq;

	if (f->flags & PG_active)
		distance = workingset ? 0 : 1;
	else if (tail)
		distance = 3;
	else if ((type == RS_ANON && !(f->flags & PG_swapcache)) || written_for_reclaim(f))
		distance = 1;
	else
		distance = workingset || referenced ? 2 : 3;

	seq = v->max_seq - distance;
	return MAX(seq, v->min_seq[type]);
}

/*
 * The generation a folio enters now. tail: rotated at the end of its writeback.
 * Kernel: mm_inline.h lru_gen_add_folio(), lru_gen_folio_seq().
 */
uint64_t mglru_folio_seq(const struct mglru *m, const struct mglru_lruvec *v, const struct folio *f,
			 bool tail)
{
	enum rs_type type = folio_lru_type(f);

	if (m->d->place >= PLACE_BY_DISTANCE)
		return seq_by_distance(m, v, f, tail);
	if (f->flags & PG_active)
		return v->max_seq;
	if ((type == RS_ANON && !(f->flags & PG_swapcache)) || written_for_reclaim(f))
		return v->max_seq - 1;
	if (m->d->place == PLACE_OLDEST || tail || v->min_seq[type] + MIN_NR_GENS >= v->max_seq)
		return v->min_seq[type];
	return v->min_seq[type] + 1;
}

static bool gen_is_active(const struct mglru_lruvec *v, unsigned gen)
{
	return gen == gen_from_seq(v->max_seq) || gen == gen_from_seq(v->max_seq - 1);
}

static enum rs_lru gen_lru(const struct mglru_lruvec *v, unsigned gen, enum rs_type type)
{
	enum rs_lru lru = type == RS_ANON ? RS_INACTIVE_ANON : RS_INACTIVE_FILE;

	return gen_is_active(v, gen) ? lru + 1 : lru;
}

/*
 * A folio goes from one generation to another; -1 is off the lists.
 * Kernel: mm_inline.h lru_gen_update_size().
 */
void mglru_update_size(struct rs_ctx *ctx, struct rs_lruvec *lruvec, const struct folio *f,
		       int old_gen, int new_gen)
{
	struct mglru_lruvec *v = mglru_lruvec(lruvec);
	enum rs_type type = folio_lru_type(f);
	int64_t nr = folio_nr_pages(f);

	if (old_gen >= 0) {
		v->nr_pages[old_gen][type][f->zone] -= nr;
		rs_lru_size_add(ctx, lruvec, gen_lru(v, old_gen, type), f->zone, -nr);
	}
	if (new_gen >= 0) {
		v->nr_pages[new_gen][type][f->zone] += nr;
		rs_lru_size_add(ctx, lruvec, gen_lru(v, new_gen, type), f->zone, nr);
	}
}

/* For observers: generations are told by number, not by index. */
void mglru_note_move(struct rs_ctx *ctx, struct rs_lruvec *lruvec, pfn_t pfn, enum rs_note what,
		     int from, int to)
{
	const struct mglru_lruvec *v;

	if (!rs_observed(ctx))
		return;
	v = mglru_lruvec(lruvec ? lruvec : rs_folio_lruvec(ctx, pfn));
	rs_note(ctx, pfn, what, (int64_t)seq_from_gen(v, (unsigned)from),
		(int64_t)seq_from_gen(v, (unsigned)to));
}

/* Kernel: mm_inline.h lru_gen_add_folio(). */
void mglru_add(struct rs_ctx *ctx, struct rs_lruvec *lruvec, pfn_t pfn, bool tail)
{
	const struct mglru *m = mglru(ctx);
	struct folio *folios = rs_folios(ctx), *f = &folios[pfn];
	unsigned gen = gen_from_seq(mglru_folio_seq(m, mglru_lruvec(lruvec), f, tail));
	pfn_t list = gen_list(lruvec, gen, folio_lru_type(f), f->zone);

	if (m->d->active_add_clears && (f->flags & PG_active)) {
		f->flags &= ~PG_referenced;
		folio_set_ref_bits(f, 0);
	}
	f->flags &= ~PG_active;
	folio_set_gen(f, (int)gen);
	mglru_update_size(ctx, lruvec, f, -1, (int)gen);
	if (m->hooks->add)
		m->hooks->add(ctx, pfn);

	if (tail)
		rs_list_add_tail(folios, list, pfn);
	else
		rs_list_add(folios, list, pfn);
	mglru_note_move(ctx, lruvec, pfn, RS_NOTE_GENERATION, (int)gen,
			(int)gen_from_seq(mglru_lruvec(lruvec)->max_seq));
}

/*
 * Off its list. Unless reclaim takes it, PG_active remembers a young generation for whoever adds
 * it again. Kernel: mm_inline.h lru_gen_del_folio().
 */
void mglru_take_off(struct rs_ctx *ctx, struct rs_lruvec *lruvec, pfn_t pfn, bool reclaiming)
{
	struct folio *folios = rs_folios(ctx), *f = &folios[pfn];
	int gen = folio_gen(f);

	if (!reclaiming && gen_is_active(mglru_lruvec(lruvec), gen))
		f->flags |= PG_active;
	folio_set_gen(f, -1);
	mglru_update_size(ctx, lruvec, f, gen, -1);
	rs_list_del(folios, pfn);
}

void mglru_del(struct rs_ctx *ctx, struct rs_lruvec *lruvec, pfn_t pfn)
{
	mglru_take_off(ctx, lruvec, pfn, false);
}

/* To a list of the generation that its bits already name. */
void mglru_move(struct rs_ctx *ctx, struct rs_lruvec *lruvec, pfn_t pfn, unsigned gen, bool tail)
{
	struct folio *folios = rs_folios(ctx), *f = &folios[pfn];
	pfn_t list = gen_list(lruvec, gen, folio_lru_type(f), f->zone);

	rs_list_del(folios, pfn);
	if (tail)
		rs_list_add_tail(folios, list, pfn);
	else
		rs_list_add(folios, list, pfn);
	rs_charge(ctx, RS_COST_LIST_MOVE, 1);
}

/* True: neither mark is set yet and nothing makes the first touch count. */
static bool first_touch_only_marks(struct rs_ctx *ctx, pfn_t pfn, uint32_t vm_flags)
{
	const struct mglru_hooks *hooks = mglru(ctx)->hooks;

	if (rs_folios(ctx)[pfn].flags & (PG_referenced | PG_workingset))
		return false;
	return !(hooks->first_use && hooks->first_use(ctx, pfn, vm_flags));
}

/*
 * A young PTE was found: promote. Returns the generation it leaves, -1 if it moves nowhere. Only
 * the bits change; list and sizes follow later. Kernel: vmscan.c folio_update_gen().
 */
int mglru_update_gen(struct rs_ctx *ctx, pfn_t pfn, unsigned gen, uint32_t vm_flags)
{
	const struct mglru *m = mglru(ctx);
	struct folio *f = &rs_folios(ctx)[pfn];
	int old_gen = folio_gen(f);

	if (m->d->two_touch) {
		if (first_touch_only_marks(ctx, pfn, vm_flags)) {
			f->flags |= PG_referenced;
			folio_set_ref_bits(f, 0);
			rs_note(ctx, pfn, RS_NOTE_MARKED, 0, 0);
			return -1;
		}
		if (old_gen < 0)
			return -1;
		f->flags |= PG_workingset;
	}
	if (old_gen < 0) {
		f->flags |= PG_referenced; /* for keep_early() */
	} else {
		mglru_clear_refs(m, f);
		folio_set_gen(f, (int)gen);
		if (old_gen != (int)gen)
			mglru_note_move(ctx, NULL, pfn, RS_NOTE_PROMOTED, old_gen, (int)gen);
	}
	if (m->hooks->update_gen)
		m->hooks->update_gen(ctx, pfn, old_gen);
	return old_gen;
}

/*
 * A young PTE was found at eviction, or by look-around without a walk: is the folio hot by now?
 * Kernel: vmscan.c lru_gen_set_refs().
 */
bool mglru_set_refs(struct rs_ctx *ctx, pfn_t pfn, uint32_t vm_flags)
{
	const struct mglru *m = mglru(ctx);
	struct folio *f = &rs_folios(ctx)[pfn];
	bool marked = f->flags & (PG_referenced | PG_workingset);

	if (first_touch_only_marks(ctx, pfn, vm_flags)) {
		f->flags |= PG_referenced;
		folio_set_ref_bits(f, 0);
		rs_note(ctx, pfn, RS_NOTE_MARKED, 0, 0);
		return false;
	}
	if (m->d->refs_climb && marked && mglru_refs(m, f) < 2) {
		mglru_inc_refs(m, f);
		return true;
	}
	f->flags |= PG_workingset;
	mglru_clear_refs(m, f);
	return true;
}

/*
 * One generation on, unless it was promoted meanwhile. Returns its generation; the caller moves it.
 * Kernel: vmscan.c folio_inc_gen().
 */
unsigned mglru_inc_gen(struct rs_ctx *ctx, struct rs_lruvec *lruvec, pfn_t pfn, bool reclaiming)
{
	const struct mglru *m = mglru(ctx);
	struct folio *f = &rs_folios(ctx)[pfn];
	unsigned old_gen = gen_from_seq(mglru_lruvec(lruvec)->min_seq[folio_lru_type(f)]);
	int gen = folio_gen(f);

	if (gen != (int)old_gen)
		return (unsigned)gen;

	gen = (int)((old_gen + 1) % MAX_NR_GENS);
	folio_set_gen(f, gen);
	mglru_clear_refs(m, f);
	if (reclaiming)
		f->flags |= PG_reclaim;
	mglru_note_move(ctx, lruvec, pfn, RS_NOTE_SORTED, (int)old_gen, gen);
	mglru_update_size(ctx, lruvec, f, (int)old_gen, gen);
	return (unsigned)gen;
}

/* Kernel: vmscan.c update_batch_size(). */
void mglru_batch(struct mglru_walk *walk, struct rs_lruvec *lruvec, const struct folio *f,
		 int old_gen, unsigned new_gen)
{
	enum rs_type type = folio_lru_type(f);
	int32_t nr = (int32_t)folio_nr_pages(f);

	walk->batched++;
	mglru_lruvec(lruvec)->nr_batched++;
	walk->nr_pages[old_gen][type][f->zone] -= nr;
	walk->nr_pages[new_gen][type][f->zone] += nr;
}

/* Under the LRU lock. Kernel: vmscan.c reset_batch_size(). */
void mglru_apply_batch(struct rs_ctx *ctx, struct mglru_walk *walk, struct rs_lruvec *lruvec)
{
	struct mglru_lruvec *v = mglru_lruvec(lruvec);

	v->nr_batched -= walk->batched;
	walk->batched = 0;
	for (unsigned gen = 0; gen < MAX_NR_GENS; gen++)
		for (enum rs_type type = 0; type < RS_NR_TYPES; type++)
			for (unsigned zone = 0; zone < RS_NR_ZONES; zone++) {
				int32_t delta = walk->nr_pages[gen][type][zone];

				if (!delta)
					continue;
				walk->nr_pages[gen][type][zone] = 0;
				v->nr_pages[gen][type][zone] += delta;
				rs_lru_size_add(ctx, lruvec, gen_lru(v, gen, type), zone, delta);
			}
}

/*
 * MADV_COLD and the like. Up to 6.12 the folio is always added anew; later its marks are cleared
 * and a folio of the oldest generation stays. Kernel: swap.c lru_gen_clear_refs().
 */
bool mglru_deactivate(struct rs_ctx *ctx, pfn_t pfn)
{
	const struct mglru *m = mglru(ctx);
	struct folio *f = &rs_folios(ctx)[pfn];
	const struct mglru_lruvec *v;

	if (m->d->refs != REFS_BEHIND_REFERENCED || folio_gen(f) < 0)
		return true;
	folio_set_ref_bits(f, 0);
	f->flags &= ~(PG_referenced | PG_workingset);
	v = mglru_lruvec(rs_folio_lruvec(ctx, pfn));
	return folio_gen(f) != (int)gen_from_seq(v->min_seq[folio_lru_type(f)]);
}
