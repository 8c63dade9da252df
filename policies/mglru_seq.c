/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * mglru_seq.c - opening a new youngest generation and closing oldest ones.
 */
#include "mglru.h"

/*
 * The oldest generation that can be evicted under this swappiness.
 * Kernel: evictable_min_seq() since 6.14, min_seq[!can_swap] before.
 */
uint64_t mglru_evictable_min_seq(const struct mglru *m, const struct mglru_lruvec *v,
				 int swappiness)
{
	if (!swappiness)
		return v->min_seq[RS_FILE];
	if (!m->d->min_seq_split || swappiness == SWAPPINESS_ANON_ONLY)
		return v->min_seq[RS_ANON];
	return MIN(v->min_seq[RS_ANON], v->min_seq[RS_FILE]);
}

/* One folio of a generation that is about to close. */
static void carry_folio(struct rs_ctx *ctx, struct rs_lruvec *lruvec, pfn_t pfn)
{
	const struct mglru *m = mglru(ctx);
	struct mglru_lruvec *v = mglru_lruvec(lruvec);
	const struct folio *f = &rs_folios(ctx)[pfn];
	enum rs_type type = folio_lru_type(f);
	bool saturated = mglru_saturated(m, f);
	unsigned tier = mglru_tier(m, f);

	mglru_move(ctx, lruvec, pfn, mglru_inc_gen(ctx, lruvec, pfn, false), true);
	if (m->d->inc_min_protects && !saturated) {
		v->protected[type][tier] += folio_nr_pages(f);
		mglru_count_tier(ctx, TIER_PROTECTED, type, tier, folio_nr_pages(f));
	}
}

/*
 * Close the oldest generation of a type; what it still holds goes to the tail of the next one. Up
 * to MAX_LRU_BATCH folios a time: false if some are left. A type that cannot be evicted just
 * advances, and its folios then stand in the youngest generation. Kernel: vmscan.c inc_min_seq().
 */
static bool inc_min_seq(struct rs_ctx *ctx, struct rs_lruvec *lruvec, enum rs_type type,
			int swappiness)
{
	const struct mglru *m = mglru(ctx);
	struct mglru_lruvec *v = mglru_lruvec(lruvec);
	unsigned gen = gen_from_seq(v->min_seq[type]), remaining = MAX_LRU_BATCH;
	struct folio *folios = rs_folios(ctx);

	if (m->d->inc_min_moves && type_evictable(type, swappiness))
		for (unsigned zone = 0; zone < RS_NR_ZONES; zone++) {
			pfn_t list = gen_list(lruvec, gen, type, zone);

			while (!rs_list_empty(folios, list)) {
				carry_folio(ctx, lruvec, rs_list_tail(folios, list));
				if (!--remaining)
					return false;
			}
		}
	mglru_reset_ctrl_pos(v, type);
	v->min_seq[type]++;
	return true;
}

static bool gen_is_empty(struct rs_ctx *ctx, const struct rs_lruvec *lruvec, unsigned gen,
			 enum rs_type type)
{
	for (unsigned zone = 0; zone < RS_NR_ZONES; zone++)
		if (!rs_list_empty(rs_folios(ctx), gen_list(lruvec, gen, type, zone)))
			return false;
	return true;
}

/* Keep the two types within reach of each other. */
static void limit_skew(const struct mglru *m, const struct mglru_lruvec *v, int swappiness,
		       uint64_t min_seq[RS_NR_TYPES])
{
	uint64_t three_left = v->max_seq - MIN_NR_GENS;

	if (!swappiness || swappiness > SWAPPINESS_MAX)
		return;
	if (!m->d->min_seq_split) {
		min_seq[RS_ANON] = MIN(min_seq[RS_ANON], min_seq[RS_FILE]);
		min_seq[RS_FILE] = MAX(min_seq[RS_ANON], v->min_seq[RS_FILE]);
	} else if (min_seq[RS_ANON] > three_left && min_seq[RS_FILE] < three_left) {
		min_seq[RS_ANON] = three_left;
	} else if (min_seq[RS_FILE] > three_left && min_seq[RS_ANON] < three_left) {
		min_seq[RS_FILE] = three_left;
	}
}

/*
 * Close the oldest generations that eviction has emptied. True if any was closed.
 * Kernel: vmscan.c try_to_inc_min_seq().
 */
bool mglru_try_to_inc_min_seq(struct rs_ctx *ctx, struct rs_lruvec *lruvec, int swappiness)
{
	struct mglru_lruvec *v = mglru_lruvec(lruvec);
	uint64_t min_seq[RS_NR_TYPES] = { v->min_seq[RS_ANON], v->min_seq[RS_FILE] };
	bool advanced = false;

	for (enum rs_type type = 0; type < RS_NR_TYPES; type++)
		while (type_evictable(type, swappiness) &&
		       min_seq[type] + MIN_NR_GENS <= v->max_seq &&
		       gen_is_empty(ctx, lruvec, gen_from_seq(min_seq[type]), type))
			min_seq[type]++;

	limit_skew(mglru(ctx), v, swappiness, min_seq);

	for (enum rs_type type = 0; type < RS_NR_TYPES; type++) {
		if (!type_evictable(type, swappiness) || min_seq[type] <= v->min_seq[type])
			continue;
		mglru_reset_ctrl_pos(v, type);
		v->min_seq[type] = min_seq[type];
		advanced = true;
	}
	return advanced;
}

/*
 * The generation before the youngest turns inactive, the new one active. The new one's lists are
 * empty unless a type that cannot be evicted has just wrapped around.
 */
static void shift_active(struct rs_ctx *ctx, struct rs_lruvec *lruvec)
{
	struct mglru_lruvec *v = mglru_lruvec(lruvec);
	unsigned prev = gen_from_seq(v->max_seq - 1), next = gen_from_seq(v->max_seq + 1);

	for (enum rs_type type = 0; type < RS_NR_TYPES; type++)
		for (unsigned zone = 0; zone < RS_NR_ZONES; zone++) {
			int64_t delta =
				v->nr_pages[prev][type][zone] - v->nr_pages[next][type][zone];
			enum rs_lru lru = type == RS_ANON ? RS_INACTIVE_ANON : RS_INACTIVE_FILE;

			if (!delta)
				continue;
			rs_lru_size_add(ctx, lruvec, lru, zone, delta);
			rs_lru_size_add(ctx, lruvec, lru + 1, zone, -delta);
		}
}

/*
 * Open a new youngest generation, if seq still is the youngest. Kernel: vmscan.c inc_max_seq().
 */
bool mglru_inc_max_seq(struct rs_ctx *ctx, struct rs_lruvec *lruvec, uint64_t seq, int swappiness)
{
	struct mglru_lruvec *v = mglru_lruvec(lruvec);

	rs_lru_lock(ctx, lruvec);
	if (seq != v->max_seq) {
		rs_lru_unlock(ctx, lruvec, 0);
		return false;
	}
	for (int type = RS_NR_TYPES - 1; type >= 0; type--)
		while (nr_gens(v, type) == MAX_NR_GENS &&
		       !inc_min_seq(ctx, lruvec, type, swappiness)) {
			rs_lru_unlock(ctx, lruvec, MAX_LRU_BATCH);
			rs_lru_lock(ctx, lruvec);
		}
	shift_active(ctx, lruvec);
	v->timestamps[gen_from_seq(v->max_seq + 1)] = rs_now(ctx);
	v->max_seq++;
	rs_note_aged(ctx, lruvec, v->max_seq);
	rs_lru_unlock(ctx, lruvec, 0);
	return true;
}

/*
 * A group of 7.2 goes away: its lists are joined to the cold ends of the parent's, by generation
 * index and not by age. The parent first gets all four generations.
 * Kernel: vmscan.c max_lru_gen_memcg(), lru_gen_reparent_memcg().
 */
void mglru_reparent(struct rs_ctx *ctx, struct rs_lruvec *child, struct rs_lruvec *parent)
{
	struct mglru_lruvec *p = mglru_lruvec(parent);
	struct folio *folios = rs_folios(ctx);

	while (nr_gens(p, RS_ANON) < MAX_NR_GENS || nr_gens(p, RS_FILE) < MAX_NR_GENS)
		mglru_inc_max_seq(ctx, parent, p->max_seq, SWAPPINESS_MAX);

	for (unsigned gen = 0; gen < MAX_NR_GENS; gen++)
		for (enum rs_type type = 0; type < RS_NR_TYPES; type++)
			for (unsigned zone = 0; zone < RS_NR_ZONES; zone++) {
				pfn_t from = gen_list(child, gen, type, zone);
				pfn_t to = gen_list(parent, gen, type, zone);

				while (folios[from].next != from) {
					pfn_t pfn = folios[from].next;
					int own_gen = folio_gen(&folios[pfn]);

					mglru_update_size(ctx, child, &folios[pfn], own_gen, -1);
					mglru_update_size(ctx, parent, &folios[pfn], -1, own_gen);
					rs_list_del(folios, pfn);
					rs_list_add_tail(folios, to, pfn);
				}
			}
}
