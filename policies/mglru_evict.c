/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * mglru_evict.c - one batch: the oldest generation of a type is scanned from its tail; what was
 * promoted, is protected or cannot go now is sorted into another generation, the rest is isolated
 * and handed to the engine; what survives is put back.
 */
#include "mglru.h"

static enum rs_event by_reclaimer(const struct mglru *m, const struct rs_scan *sc,
				  enum rs_event kswapd, enum rs_event direct,
				  enum rs_event proactive)
{
	if (sc->kswapd)
		return kswapd;
	return sc->proactive && m->d->loop == LOOP_7_2 ? proactive : direct;
}

/* MADV_FREE pages written to since: anonymous again. */
static void sort_lazyfree(struct rs_ctx *ctx, struct rs_lruvec *lruvec, pfn_t pfn)
{
	mglru_take_off(ctx, lruvec, pfn, true);
	rs_folios(ctx)[pfn].flags |= PG_swapbacked;
	mglru_add(ctx, lruvec, pfn, true);
}

static void cull_unevictable(struct rs_ctx *ctx, struct rs_lruvec *lruvec, pfn_t pfn)
{
	mglru_take_off(ctx, lruvec, pfn, true);
	rs_isolate(ctx, pfn);
	rs_putback(ctx, pfn);
}

/* Kernel: the "protected" case of vmscan.c sort_folio(). */
static void sort_protected(struct rs_ctx *ctx, struct rs_lruvec *lruvec, pfn_t pfn,
			   unsigned tier_idx)
{
	const struct mglru *m = mglru(ctx);
	struct mglru_lruvec *v = mglru_lruvec(lruvec);
	const struct folio *f = &rs_folios(ctx)[pfn];
	enum rs_type type = folio_lru_type(f);
	unsigned tier = mglru_tier(m, f);
	bool counts = m->d->protect_counts_saturated || !mglru_saturated(m, f);

	rs_note(ctx, pfn, RS_NOTE_PROTECTED, tier, tier_idx);
	mglru_move(ctx, lruvec, pfn, mglru_inc_gen(ctx, lruvec, pfn, false), !m->d->protect_head);
	if (counts) {
		v->protected[type][tier] += folio_nr_pages(f);
		mglru_count_tier(ctx, TIER_PROTECTED, type, tier, folio_nr_pages(f));
	}
	if (m->d->protect_activates)
		rs_count(ctx, lruvec, RS_WORKINGSET_ACTIVATE_ANON + type, folio_nr_pages(f));
}

/* The dirty branch of sort_folio(); 6.12 and newer tell the flusher's condition of it. */
static bool sort_unclean(struct rs_ctx *ctx, struct rs_lruvec *lruvec, pfn_t pfn,
			 struct rs_scan *sc)
{
	const struct mglru *m = mglru(ctx);
	const struct folio *f = &rs_folios(ctx)[pfn];
	bool dirty_file = folio_lru_type(f) == RS_FILE && (f->flags & PG_dirty);

	if (dirty_file && m->d->wakes_flusher) {
		sc->nr.file_taken += folio_nr_pages(f);
		if (!(f->flags & PG_writeback))
			sc->nr.unqueued_dirty += folio_nr_pages(f);
	}
	if (!dirty_file && !(f->flags & (PG_writeback | PG_locked)))
		return false;
	mglru_move(ctx, lruvec, pfn, mglru_inc_gen(ctx, lruvec, pfn, true), false);
	return true;
}

/* True: the folio has left the oldest generation, or never was of it. Kernel: sort_folio(). */
static bool sort_folio(struct rs_ctx *ctx, struct rs_lruvec *lruvec, pfn_t pfn, struct rs_scan *sc,
		       unsigned tier_idx)
{
	const struct mglru *m = mglru(ctx);
	const struct folio *f = &rs_folios(ctx)[pfn];
	enum rs_type type = folio_lru_type(f);
	unsigned gen = (unsigned)folio_gen(f);

	if (!folio_evictable(f)) {
		if (m->d->culls_unevictable)
			cull_unevictable(ctx, lruvec, pfn);
		return m->d->culls_unevictable;
	}
	if (m->d->sorts_lazyfree && type == RS_FILE && (f->flags & PG_anon) &&
	    (f->flags & PG_dirty)) {
		sort_lazyfree(ctx, lruvec, pfn);
		return true;
	}
	if (gen != gen_from_seq(mglru_lruvec(lruvec)->min_seq[type])) {
		mglru_note_move(ctx, lruvec, pfn, RS_NOTE_SPARED, (int)gen, (int)gen);
		mglru_move(ctx, lruvec, pfn, gen, false);
		return true;
	}
	if ((mglru_tier(m, f) > tier_idx || mglru_saturated(m, f)) &&
	    rs_tunables(ctx)->disabled != RS_MECH_TIER_PROTECTION) {
		sort_protected(ctx, lruvec, pfn, tier_idx);
		return true;
	}
	if (f->zone > (unsigned)sc->reclaim_idx) {
		mglru_move(ctx, lruvec, pfn, mglru_inc_gen(ctx, lruvec, pfn, false), true);
		return true;
	}
	if (rs_tunables(ctx)->sort_dirty && sort_unclean(ctx, lruvec, pfn, sc))
		return true;
	return m->hooks->sort_last && m->hooks->sort_last(ctx, lruvec, pfn);
}

static bool may_isolate(struct rs_ctx *ctx, pfn_t pfn, const struct rs_scan *sc)
{
	const struct mglru *m = mglru(ctx);
	const struct folio *f = &rs_folios(ctx)[pfn];
	bool needs_slot = (f->flags & PG_anon) && !(f->flags & PG_swapcache);
	bool dirty = f->flags & PG_dirty;

	if (m->d->isolates_without_io)
		return true;
	if (m->d->isolates_by_control)
		return (sc->may_unmap || !rs_folio_mapped(ctx, pfn)) &&
		       ((sc->may_writepage && sc->gfp_io) || (!dirty && !needs_slot));
	if (!rs_tunables(ctx)->sort_dirty)
		dirty = dirty && folio_lru_type(f) == RS_ANON;
	return sc->gfp_io || (!dirty && !needs_slot);
}

/* Stale references do not outlive the isolation. Kernel: vmscan.c isolate_folio(). */
static bool isolate_folio(struct rs_ctx *ctx, struct rs_lruvec *lruvec, pfn_t pfn,
			  const struct rs_scan *sc)
{
	const struct mglru *m = mglru(ctx);
	struct folio *f = &rs_folios(ctx)[pfn];

	if (!may_isolate(ctx, pfn, sc))
		return false;
	mglru_take_off(ctx, lruvec, pfn, true);
	rs_isolate(ctx, pfn);

	if (m->d->refs == REFS_BEHIND_REFERENCED) {
		if (!(f->flags & PG_referenced))
			folio_set_ref_bits(f, 0);
	} else {
		if (!(f->flags & PG_referenced))
			mglru_clear_refs(m, f);
		f->flags &= ~PG_referenced;
	}
	if (!m->d->keeps_reclaim)
		f->flags &= ~PG_reclaim;
	return true;
}

struct scan {
	enum rs_type type;
	unsigned tier_idx;
	uint32_t remaining; /* folios that may still be looked at */
	uint32_t scanned, sorted, isolated, skipped;
};

/* Not to be isolated now: back to the young end of their list. */
static void splice_aside(struct folio *folios, pfn_t aside, pfn_t list)
{
	while (!rs_list_empty(folios, aside)) {
		pfn_t pfn = rs_list_tail(folios, aside);

		rs_list_del(folios, pfn);
		rs_list_add(folios, list, pfn);
	}
}

/* One zone's list of the oldest generation. */
static void scan_zone(struct rs_ctx *ctx, struct rs_lruvec *lruvec, struct rs_scan *sc,
		      struct scan *s, unsigned zone, struct rs_isolated *batch)
{
	struct folio *folios = rs_folios(ctx);
	unsigned gen = gen_from_seq(mglru_lruvec(lruvec)->min_seq[s->type]);
	pfn_t list = gen_list(lruvec, gen, s->type, zone);
	pfn_t aside = lruvec->lists + MGLRU_LIST_ASIDE;
	uint32_t skipped = 0;

	while (!rs_list_empty(folios, list)) {
		pfn_t pfn = rs_list_tail(folios, list);
		uint32_t nr = folio_nr_pages(&folios[pfn]);

		s->scanned += nr;
		if (sort_folio(ctx, lruvec, pfn, sc, s->tier_idx)) {
			s->sorted += nr;
		} else if (isolate_folio(ctx, lruvec, pfn, sc)) {
			batch->pfn[batch->n++] = pfn;
			s->isolated += nr;
		} else {
			rs_list_del(folios, pfn);
			rs_list_add(folios, aside, pfn);
			skipped += nr;
		}
		if (!--s->remaining || MAX(s->isolated, skipped) >= MIN_LRU_BATCH)
			break;
	}
	s->skipped += skipped;
	if (skipped) {
		splice_aside(folios, aside, list);
		rs_count(ctx, lruvec, RS_PGSCAN_SKIP_DMA + zone, skipped);
	}
}

/*
 * Returns the pages looked at; up to 6.14 nothing isolated within the budget counts as nothing at
 * all, so that the other type is tried. Kernel: vmscan.c scan_folios().
 */
static uint32_t scan_folios(struct rs_ctx *ctx, struct rs_lruvec *lruvec, struct rs_scan *sc,
			    struct scan *s, struct rs_isolated *batch)
{
	const struct mglru *m = mglru(ctx);
	unsigned zones = m->d->all_zones ? RS_NR_ZONES : (unsigned)sc->reclaim_idx + 1;

	if (nr_gens(mglru_lruvec(lruvec), s->type) == MIN_NR_GENS)
		return 0;
	/* Downwards from reclaim_idx, then the zones above it. */
	for (unsigned i = 0; i < zones; i++) {
		unsigned zone = ((unsigned)sc->reclaim_idx + RS_NR_ZONES - i) % RS_NR_ZONES;

		scan_zone(ctx, lruvec, sc, s, zone, batch);
		if (!s->remaining || s->isolated >= MIN_LRU_BATCH)
			break;
	}
	rs_count_reclaim(
		ctx, lruvec, sc,
		by_reclaimer(m, sc, RS_PGSCAN_KSWAPD, RS_PGSCAN_DIRECT, RS_PGSCAN_PROACTIVE),
		s->isolated);
	rs_count_reclaim(ctx, lruvec, sc, RS_PGREFILL, s->sorted);
	rs_count(ctx, lruvec, RS_PGSCAN_ANON + s->type, s->isolated);
	if (s->type == RS_FILE && m->d->wakes_flusher)
		sc->nr.file_taken += s->isolated;
	/* The event came with 6.12. */
	if (rs_tunables(ctx)->kernel >= RS_KERNEL_6_12)
		rs_trace_lru_isolate(ctx, sc, MAX_LRU_BATCH, s->scanned, s->skipped, s->isolated,
				     s->type == RS_ANON ? RS_INACTIVE_ANON : RS_INACTIVE_FILE);

	if (m->d->loop == LOOP_7_2)
		return s->scanned;
	return s->isolated || !s->remaining ? s->scanned : 0;
}

static enum rs_type other_type(enum rs_type type)
{
	return type == RS_ANON ? RS_FILE : RS_ANON;
}

/* Kernel: vmscan.c isolate_folios(). */
static struct scan isolate_folios(struct rs_ctx *ctx, struct rs_lruvec *lruvec, struct rs_scan *sc,
				  int swappiness, uint64_t nr_to_scan, struct rs_isolated *batch)
{
	const struct mglru *m = mglru(ctx);
	const struct mglru_lruvec *v = mglru_lruvec(lruvec);
	bool small = m->d->loop == LOOP_7_2;
	unsigned tries = swappiness && swappiness != SWAPPINESS_ANON_ONLY ? 2 : 1;
	uint32_t budget = small ? (uint32_t)MIN(nr_to_scan, MIN_LRU_BATCH) : MAX_LRU_BATCH;
	uint32_t total = 0;
	struct scan s = { 0 };
	int tier_idx;
	enum rs_type type = mglru_type_to_scan(m, v, sc->gfp_io, swappiness, &tier_idx);

	for (unsigned i = 0; i < tries; i++) {
		if (tier_idx < 0)
			tier_idx = (int)mglru_tier_idx(m, v, type);
		s = (struct scan){ .type = type,
				   .tier_idx = (unsigned)tier_idx,
				   .remaining = budget };
		s.scanned = scan_folios(ctx, lruvec, sc, &s, batch);
		total += s.scanned;
		if (small ? s.isolated != 0 : s.scanned != 0)
			break;
		if (!small || !s.scanned)
			type = other_type(type);
		tier_idx = -1;
	}
	s.scanned = total;
	return s;
}

/* ---- survivors ---- */

/* May have lost its turn at the end of a writeback while it was isolated: clean by now. */
static bool worth_retry(struct rs_ctx *ctx, pfn_t pfn)
{
	const struct mglru *m = mglru(ctx);
	uint32_t flags = rs_folios(ctx)[pfn].flags;
	uint32_t busy = PG_active | PG_dirty | PG_writeback;

	if (m->d->loop == LOOP_5_18)
		return false;
	if (m->d->refs != REFS_BEHIND_REFERENCED)
		busy |= PG_referenced | PG_locked;
	return !(flags & busy) && !rs_folio_mapped(ctx, pfn);
}

/* Up to 6.12: rejected folios go to the youngest generation, those being written one below. */
static void mark_rejected(const struct mglru *m, struct folio *f)
{
	bool written = (f->flags & PG_reclaim) && (f->flags & (PG_dirty | PG_writeback));
	bool in_cache = folio_lru_type(f) == RS_FILE || (f->flags & PG_swapcache);

	if (written) {
		if (m->d->loop != LOOP_5_18 && (f->flags & PG_workingset))
			f->flags |= PG_referenced; /* as it was before the isolation */
		return;
	}
	mglru_clear_refs(m, f);
	if (m->d->loop != LOOP_5_18 || in_cache)
		f->flags |= PG_active;
}

/* 6.14 and newer: only what would fall into the oldest generation is lifted. */
static void lift_from_oldest(const struct mglru *m, const struct mglru_lruvec *v, struct folio *f,
			     enum rs_type type)
{
	if (mglru_folio_seq(m, v, f, false) != v->min_seq[type])
		return;
	folio_set_ref_bits(f, 0);
	f->flags &= ~PG_referenced;
	f->flags |= PG_active;
}

/* Those worth another try stay in the batch, the others are put back. */
static void put_back_survivors(struct rs_ctx *ctx, struct rs_lruvec *lruvec,
			       struct rs_isolated *batch, enum rs_type type, bool retried)
{
	const struct mglru *m = mglru(ctx);
	struct folio *folios = rs_folios(ctx);
	uint32_t again = 0;
	bool split = m->d->refs == REFS_BEHIND_REFERENCED;

	for (uint32_t i = 0; i < batch->n; i++) {
		pfn_t pfn = batch->pfn[i];
		struct folio *f = &folios[pfn];
		bool written = (f->flags & PG_reclaim) && (f->flags & (PG_dirty | PG_writeback));

		if (folio_evictable(f)) {
			if (!retried && !(written && !split) && worth_retry(ctx, pfn)) {
				batch->pfn[again++] = pfn;
				continue;
			}
			if (split)
				lift_from_oldest(m, mglru_lruvec(lruvec), f, type);
			else
				mark_rejected(m, f);
		}
		rs_putback(ctx, pfn);
	}
	batch->n = again;
}

/*
 * What the batch tells of dirty memory. 6.1 does not look at it at all.
 * Kernel: vmscan.c handle_reclaim_writeback() (7.2), evict_folios() (6.12, 6.14).
 */
static void note_writeback(struct rs_ctx *ctx, struct rs_scan *sc, const struct rs_reclaim_stat *st,
			   uint32_t taken)
{
	const struct mglru_dialect *d = mglru(ctx)->d;

	if (d->wakes_flusher)
		sc->nr.unqueued_dirty += st->nr_unqueued_dirty;
	if (!d->shared_writeback)
		return;
	if (st->nr_unqueued_dirty == taken)
		rs_wakeup_flusher(ctx);
	sc->nr.dirty += st->nr_dirty;
	sc->nr.congested += st->nr_congested;
	sc->nr.writeback += st->nr_writeback;
	sc->nr.immediate += st->nr_immediate;
	sc->nr.taken += taken;
}

static void shrink_batch(struct rs_ctx *ctx, struct rs_lruvec *lruvec, struct rs_scan *sc,
			 struct rs_isolated *batch, enum rs_type type, uint64_t scanned)
{
	const struct mglru *m = mglru(ctx);
	bool retried = false;

	while (batch->n) {
		struct mglru_walk *walk;
		struct rs_reclaim_stat stat = { 0 };
		uint32_t taken = 0, reclaimed;

		for (uint32_t i = 0; i < batch->n; i++)
			taken += folio_nr_pages(&rs_folios(ctx)[batch->pfn[i]]);
		reclaimed = rs_shrink_folios(ctx, lruvec->nid, batch, sc, &stat, false);
		sc->nr_reclaimed += reclaimed;
		if (!retried || !m->d->shared_writeback)
			note_writeback(ctx, sc, &stat, taken);
		if (rs_tunables(ctx)->kernel >= RS_KERNEL_6_12)
			rs_trace_lru_shrink_inactive(ctx, lruvec->nid, scanned, reclaimed, &stat,
						     sc, type);

		rs_lru_lock(ctx, lruvec);
		put_back_survivors(ctx, lruvec, batch, type, retried);
		walk = mglru_scan_walk(sc);
		if (walk && walk->batched)
			mglru_apply_batch(ctx, walk, lruvec);
		rs_count_reclaim(ctx, lruvec, sc,
				 by_reclaimer(m, sc, RS_PGSTEAL_KSWAPD, RS_PGSTEAL_DIRECT,
					      RS_PGSTEAL_PROACTIVE),
				 reclaimed);
		rs_count(ctx, lruvec, RS_PGSTEAL_ANON + type, reclaimed);
		rs_lru_unlock(ctx, lruvec, taken - reclaimed);
		retried = true;
	}
}

/*
 * Evict one batch. Returns the pages looked at, 0: no use in going on. ret_anon is set if anonymous
 * folios were isolated. nr_to_scan limits the look (7.2). Kernel: vmscan.c evict_folios().
 */
uint64_t mglru_evict_folios(struct rs_ctx *ctx, struct rs_lruvec *lruvec, struct rs_scan *sc,
			    int swappiness, uint64_t nr_to_scan, bool *ret_anon)
{
	const struct mglru *m = mglru(ctx);
	const struct mglru_lruvec *v = mglru_lruvec(lruvec);
	struct rs_isolated batch;
	struct scan s;
	uint64_t scanned;

	batch.n = 0;
	rs_lru_lock(ctx, lruvec);
	if (m->d->loop == LOOP_7_2) {
		mglru_try_to_inc_min_seq(ctx, lruvec, swappiness);
		s = isolate_folios(ctx, lruvec, sc, swappiness, nr_to_scan, &batch);
		if (s.scanned)
			mglru_try_to_inc_min_seq(ctx, lruvec, swappiness);
		scanned = s.scanned;
	} else {
		s = isolate_folios(ctx, lruvec, sc, swappiness, nr_to_scan, &batch);
		scanned = s.scanned + mglru_try_to_inc_min_seq(ctx, lruvec, swappiness);
		if (mglru_evictable_min_seq(m, v, swappiness) + MIN_NR_GENS > v->max_seq)
			scanned = 0;
	}
	rs_lru_unlock(ctx, lruvec, s.scanned);

	if (batch.n) {
		if (ret_anon && s.type == RS_ANON)
			*ret_anon = true;
		shrink_batch(ctx, lruvec, sc, &batch, s.type, scanned);
	}
	return scanned;
}
