/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * mglru_loop.c - reclaim from one lruvec: how much to scan, whether to age first, when to stop.
 */
#include "mglru.h"

/* ---- the walk of a run ---- */

struct mglru_walk *mglru_scan_walk(const struct rs_scan *sc)
{
	return (struct mglru_walk *)(uintptr_t)sc->priv[SCAN_WALK];
}

/*
 * kswapd has a walk of its node at all times (not in 5.18), others once they have aged
 * (memory.reclaim of 6.12 and newer at once). Look-around batches its promotions when there is one.
 * storage lives until mglru_scan_end(). Kernel: vmscan.c set_mm_walk().
 */
void mglru_scan_begin(struct rs_ctx *ctx, uint8_t nid, struct rs_scan *sc,
		      struct mglru_walk *storage)
{
	struct mglru *m = mglru(ctx);

	memset(storage, 0, sizeof(*storage));
	sc->priv[SCAN_WALK] = 0;
	sc->priv[SCAN_WALK_STORAGE] = (uintptr_t)storage;
	if (sc->kswapd && m->d->page_tables)
		sc->priv[SCAN_WALK] = (uintptr_t)&m->node[nid].kswapd_walk;
	else if (sc->proactive && m->d->walk_for_proactive)
		sc->priv[SCAN_WALK] = (uintptr_t)storage;
}

void mglru_scan_end(struct rs_scan *sc)
{
	sc->priv[SCAN_WALK] = 0;
	sc->priv[SCAN_WALK_STORAGE] = 0;
}

/* ---- what there is to do ---- */

/*
 * 0: file only. 6.1 lets a run that must not swap evict anonymous memory last, unless a limit is
 * the cause. Kernel: vmscan.c get_swappiness().
 */
int mglru_swappiness(struct rs_ctx *ctx, struct rs_lruvec *lruvec, const struct rs_scan *sc)
{
	bool old = mglru(ctx)->d->loop <= LOOP_6_1;
	int swappiness;

	if (!old && !sc->may_swap)
		return 0;
	if (!rs_can_demote(ctx, lruvec->nid, sc) &&
	    rs_memcg_swap_free(ctx, lruvec->memcg) < MIN_LRU_BATCH)
		return 0;
	swappiness = rs_swappiness(ctx, lruvec->memcg, sc);
	if (old && !sc->may_swap)
		return !sc->cgroup_reclaim && swappiness ? 1 : 0;
	return swappiness;
}

static uint64_t gen_size(const struct mglru_lruvec *v, uint64_t seq, enum rs_type type)
{
	uint64_t size = 0;

	for (unsigned zone = 0; zone < RS_NR_ZONES; zone++)
		size += (uint64_t)MAX(v->nr_pages[gen_from_seq(seq)][type][zone], 0);
	return size;
}

/* Pages of the types that can be evicted. */
uint64_t mglru_total(const struct mglru *m, const struct mglru_lruvec *v, int swappiness)
{
	uint64_t total = 0;

	for (enum rs_type type = 0; type < RS_NR_TYPES; type++)
		if (type_evictable(type, swappiness))
			for (uint64_t seq = v->min_seq[type]; seq <= v->max_seq; seq++)
				total += gen_size(v, seq, type);
	return total;
}

static uint64_t size_of_seq(const struct mglru_lruvec *v, uint64_t seq, int swappiness)
{
	uint64_t size = 0;

	for (enum rs_type type = 0; type < RS_NR_TYPES; type++)
		if (type_evictable(type, swappiness) && seq >= v->min_seq[type])
			size += gen_size(v, seq, type);
	return size;
}

/*
 * With two generations left nothing can be evicted; three is the ideal number, but up to 6.12 they
 * should be of like size. Kernel: vmscan.c should_run_aging().
 */
bool mglru_should_run_aging(const struct mglru *m, const struct mglru_lruvec *v, int swappiness)
{
	uint64_t min_seq = m->d->loop == LOOP_5_18 ? v->min_seq[RS_FILE]
						   : mglru_evictable_min_seq(m, v, swappiness);
	uint64_t total;

	if (min_seq + MIN_NR_GENS != v->max_seq)
		return min_seq + MIN_NR_GENS > v->max_seq;
	if (m->d->refs == REFS_BEHIND_REFERENCED)
		return true;
	total = mglru_total(m, v, swappiness);
	if (size_of_seq(v, v->max_seq, swappiness) * MIN_NR_GENS > total)
		return true;
	return m->d->loop != LOOP_5_18 &&
	       size_of_seq(v, v->max_seq - MIN_NR_GENS, swappiness) * (MIN_NR_GENS + 2) < total;
}

static bool protected_group(struct rs_ctx *ctx, struct rs_lruvec *lruvec, const struct rs_scan *sc)
{
	return rs_memcg_below_min(ctx, sc->target_memcg, lruvec->memcg) ||
	       (!sc->memcg_low_reclaim && rs_memcg_below_low(ctx, sc->target_memcg, lruvec->memcg));
}

/* ---- 5.18 and 6.1 ---- */

/* Kernel: vmscan.c get_nr_to_scan() of the first posting. */
static uint64_t nr_to_scan_5_18(struct rs_ctx *ctx, struct rs_lruvec *lruvec, struct rs_scan *sc,
				int swappiness, uint64_t total, bool need_aging)
{
	const struct mglru_lruvec *v = mglru_lruvec(lruvec);

	if (!need_aging)
		return total;
	if (sc->kswapd)
		return 0;
	/* Try other groups before this one is aged. */
	if (!sc->cgroup_reclaim && !sc->force_deactivate) {
		sc->skipped_deactivate = true;
		return 0;
	}
	if (mglru_try_to_inc_max_seq(ctx, lruvec, sc, v->max_seq, swappiness))
		return total;
	return v->min_seq[RS_FILE] + MIN_NR_GENS <= v->max_seq ? total : 0;
}

/* Kernel: vmscan.c get_nr_to_scan() (6.1). */
static uint64_t nr_to_scan_6_1(struct rs_ctx *ctx, struct rs_lruvec *lruvec, struct rs_scan *sc,
			       int swappiness, bool *ret_need_aging)
{
	const struct mglru *m = mglru(ctx);
	const struct mglru_lruvec *v = mglru_lruvec(lruvec);
	uint64_t min_seq = mglru_evictable_min_seq(m, v, swappiness), max_seq = v->max_seq, nr;

	if (protected_group(ctx, lruvec, sc))
		return 0;
	*ret_need_aging = mglru_should_run_aging(m, v, swappiness);
	nr = mglru_total(m, v, swappiness);
	if (rs_memcg_online(ctx, lruvec->memcg))
		nr >>= sc->priority;
	if (m->d->loop == LOOP_5_18)
		return nr_to_scan_5_18(ctx, lruvec, sc, swappiness, nr, *ret_need_aging);
	if (!*ret_need_aging)
		return nr;
	if (sc->priority != RS_DEF_PRIORITY) {
		if (sc->kswapd) /* left to age_node() */
			return 0;
		if (mglru_try_to_inc_max_seq(ctx, lruvec, sc, max_seq, swappiness))
			return nr;
	}
	return min_seq + MIN_NR_GENS <= max_seq ? nr : 0;
}

static bool zones_are_safe(struct rs_ctx *ctx, uint8_t nid, const struct rs_scan *sc)
{
	enum rs_wmark mark = sc->kswapd ? RS_WMARK_HIGH : RS_WMARK_LOW;

	for (int zone = 0; zone <= sc->reclaim_idx; zone++)
		if (rs_zone_managed(ctx, nid, zone) &&
		    rs_zone_wmark(ctx, nid, zone, mark) > rs_zone_free(ctx, nid, zone))
			return false;
	return true;
}

/* Kernel: vmscan.c should_abort_scan() (6.1). start_seq: max_seq when the lruvec was entered. */
static bool should_abort_6_1(struct rs_ctx *ctx, struct rs_lruvec *lruvec, struct rs_scan *sc,
			     uint64_t start_seq, bool swapped)
{
	if (!sc->kswapd) {
		if (mglru_lruvec(lruvec)->max_seq - start_seq > 1)
			return true;
		if (sc->nr_reclaimed >= sc->nr_to_reclaim && swapped)
			return true;
		if (rs_has_fatal_signal(ctx)) {
			sc->nr_reclaimed += MIN_LRU_BATCH;
			return true;
		}
		if (sc->cgroup_reclaim)
			return false;
	} else if (sc->nr_reclaimed - sc->priv[SCAN_LAST_RECLAIMED] < sc->nr_to_reclaim) {
		return false;
	}
	if (sc->priority > RS_DEF_PRIORITY - 2 || !zones_are_safe(ctx, lruvec->nid, sc))
		return false;
	sc->nr_reclaimed += MIN_LRU_BATCH;
	return true;
}

/* Kernel: vmscan.c lru_gen_shrink_lruvec() (6.1). */
static void shrink_6_1(struct rs_ctx *ctx, struct rs_lruvec *lruvec, struct rs_scan *sc)
{
	uint64_t scanned = 0, reclaimed = sc->nr_reclaimed;
	uint64_t start_seq = mglru_lruvec(lruvec)->max_seq;
	bool old = mglru(ctx)->d->loop == LOOP_5_18, need_aging = false, swapped = false;

	for (;;) {
		int swappiness = mglru_swappiness(ctx, lruvec, sc);
		uint64_t nr = nr_to_scan_6_1(ctx, lruvec, sc, swappiness, &need_aging), delta;

		if (!nr)
			return;
		delta = mglru_evict_folios(ctx, lruvec, sc, swappiness, nr, &swapped);
		if (!delta)
			return;
		scanned += delta;
		if (scanned >= nr)
			break;
		if (!old && should_abort_6_1(ctx, lruvec, sc, start_seq, swapped))
			break;
	}
	/* Spares kswapd's next pass the ageing. */
	if (sc->nr_reclaimed - reclaimed >= MIN_LRU_BATCH && !need_aging)
		sc->priv[SCAN_NEED_AGING] = false;
}

/* ---- 6.12 and newer ---- */

/* Kernel: compaction.h compact_gap(). */
static uint64_t compact_gap(const struct rs_scan *sc)
{
	return 2ull << sc->order;
}

/* Kernel: vmscan.c should_abort_scan(). */
bool mglru_should_abort(struct rs_ctx *ctx, struct rs_lruvec *lruvec, const struct rs_scan *sc)
{
	enum rs_wmark mark = rs_tunables(ctx)->memory_tiering ? RS_WMARK_PROMO : RS_WMARK_HIGH;

	if (mglru(ctx)->d->loop == LOOP_7_2) {
		if (sc->proactive && rs_has_fatal_signal(ctx))
			return true;
	} else if (sc->target_memcg) {
		return false;
	}
	if (sc->nr_reclaimed >= MAX(sc->nr_to_reclaim, compact_gap(sc)))
		return true;
	if (!sc->kswapd || sc->order)
		return false;
	for (int zone = 0; zone <= sc->reclaim_idx; zone++) {
		uint64_t wanted = rs_zone_wmark(ctx, lruvec->nid, zone, mark) + MIN_LRU_BATCH;

		if (rs_zone_managed(ctx, lruvec->nid, zone) &&
		    !rs_zone_watermark_ok(ctx, lruvec->nid, zone, 0, wanted, sc->reclaim_idx))
			return false;
	}
	return true;
}

/* -1: stop, and the group was aged or is protected. Kernel: vmscan.c get_nr_to_scan(). */
static int64_t nr_to_scan_6_12(struct rs_ctx *ctx, struct rs_lruvec *lruvec, struct rs_scan *sc,
			       int swappiness)
{
	const struct mglru *m = mglru(ctx);
	const struct mglru_lruvec *v = mglru_lruvec(lruvec);
	uint64_t max_seq = v->max_seq, nr = 0;
	bool need_aging;

	if (rs_memcg_below_min(ctx, sc->target_memcg, lruvec->memcg))
		return -1;
	need_aging = mglru_should_run_aging(m, v, swappiness);
	if (mglru_evictable_min_seq(m, v, swappiness) + MIN_NR_GENS <= max_seq)
		nr = mglru_total(m, v, swappiness);
	if (nr && !rs_memcg_online(ctx, lruvec->memcg))
		return (int64_t)nr;
	if (!need_aging || sc->priority == RS_DEF_PRIORITY)
		return (int64_t)(nr >> sc->priority);
	return mglru_try_to_inc_max_seq(ctx, lruvec, sc, max_seq, swappiness) ? -1 : 0;
}

/* Kernel: vmscan.c try_to_shrink_lruvec() (6.12 to 6.14). True: rotate the group. */
static bool shrink_6_12(struct rs_ctx *ctx, struct rs_lruvec *lruvec, struct rs_scan *sc)
{
	int swappiness = mglru_swappiness(ctx, lruvec, sc);
	uint64_t scanned = 0, delta;
	int64_t nr;

	for (;;) {
		nr = nr_to_scan_6_12(ctx, lruvec, sc, swappiness);
		if (nr <= 0)
			break;
		delta = mglru_evict_folios(ctx, lruvec, sc, swappiness, (uint64_t)nr, NULL);
		if (!delta)
			break;
		scanned += delta;
		if (scanned >= (uint64_t)nr || mglru_should_abort(ctx, lruvec, sc))
			break;
	}
	if (sc->nr.unqueued_dirty && sc->nr.unqueued_dirty == sc->nr.file_taken)
		rs_wakeup_flusher(ctx);
	return nr < 0;
}

/* Protected pages are left out before the priority is applied. apply_proportional_protection(). */
static uint64_t unprotected_total(struct rs_ctx *ctx, struct rs_lruvec *lruvec, struct rs_scan *sc,
				  uint64_t total)
{
	uint64_t min, low, usage, prot;

	rs_memcg_protection(ctx, sc->target_memcg, lruvec->memcg, &min, &low, &usage);
	if (!min && !low)
		return total;
	prot = min;
	if (!sc->memcg_low_reclaim && low > min) {
		prot = low;
		sc->memcg_low_skipped = true;
	}
	usage = MAX(usage, prot);
	total -= total * prot / (usage + 1);
	return MAX(total, RS_SWAP_CLUSTER_MAX);
}

/* Kernel: vmscan.c should_run_aging() (7.2): at the default priority only when it must be. */
static bool must_age_7_2(const struct mglru *m, const struct mglru_lruvec *v,
			 const struct rs_scan *sc, int swappiness)
{
	uint64_t min_seq = mglru_evictable_min_seq(m, v, swappiness);

	return min_seq + MIN_NR_GENS > v->max_seq ||
	       (sc->priority < RS_DEF_PRIORITY && min_seq + MIN_NR_GENS == v->max_seq);
}

/* Kernel: vmscan.c try_to_shrink_lruvec() (7.2). True: rotate the group. */
static bool shrink_7_2(struct rs_ctx *ctx, struct rs_lruvec *lruvec, struct rs_scan *sc)
{
	const struct mglru *m = mglru(ctx);
	const struct mglru_lruvec *v = mglru_lruvec(lruvec);
	int swappiness = mglru_swappiness(ctx, lruvec, sc);
	uint64_t n = mglru_total(m, v, swappiness), delta;
	bool aged = false, rotate = false;

	if (rs_memcg_online(ctx, lruvec->memcg))
		n = unprotected_total(ctx, lruvec, sc, n) >> sc->priority;
	while (n > 0) {
		if (rs_memcg_below_min(ctx, sc->target_memcg, lruvec->memcg))
			return true;
		if (must_age_7_2(m, v, sc, swappiness)) {
			aged = true;
			rotate |= mglru_try_to_inc_max_seq(ctx, lruvec, sc, v->max_seq, swappiness);
		}
		delta = mglru_evict_folios(ctx, lruvec, sc, swappiness, n, NULL);
		if (!delta || mglru_should_abort(ctx, lruvec, sc) || (aged && !sc->target_memcg))
			break;
		n -= MIN(n, delta);
	}
	return rotate;
}

/* True: the group is to be rotated in the memcg LRU. */
bool mglru_try_to_shrink(struct rs_ctx *ctx, struct rs_lruvec *lruvec, struct rs_scan *sc)
{
	if (mglru(ctx)->d->loop == LOOP_7_2)
		return shrink_7_2(ctx, lruvec, sc);
	return shrink_6_12(ctx, lruvec, sc);
}

/* Kernel: vmscan.c lru_gen_shrink_lruvec(). */
void mglru_shrink_lruvec(struct rs_ctx *ctx, struct rs_lruvec *lruvec, struct rs_scan *sc)
{
	struct mglru_walk storage;

	rs_lru_add_drain(ctx);
	mglru_scan_begin(ctx, lruvec->nid, sc, &storage);
	if (mglru(ctx)->d->loop <= LOOP_6_1)
		shrink_6_1(ctx, lruvec, sc);
	else if (mglru_try_to_shrink(ctx, lruvec, sc))
		mglru_rotate_memcg(ctx, lruvec, MEMCG_LRU_YOUNG);
	mglru_scan_end(sc);
}
