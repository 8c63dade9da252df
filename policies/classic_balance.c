/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * classic_balance.c - how much of which list to scan: costs, ratios, the four cases.
 */
#include "policies/classic.h"

static uint64_t isqrt(uint64_t n)
{
	uint64_t r = 0;

	while ((r + 1) * (r + 1) <= n)
		r++;
	return r;
}

/*
 * What it cost to reclaim this type here, passed on to every ancestor; both halve when they grow
 * beyond a quarter of the lists. Kernel: mm/swap.c lru_note_cost().
 */
void classic_note_cost(struct rs_ctx *ctx, struct rs_lruvec *l, enum rs_type type, uint64_t nr_io,
		       uint64_t nr_rotated)
{
	bool v6_12 = rs_tunables(ctx)->kernel >= RS_KERNEL_6_12;
	uint64_t cost = v6_12 ? nr_io * RS_SWAP_CLUSTER_MAX + nr_rotated : nr_io;
	uint16_t memcg = l->memcg;

	if (rs_tunables(ctx)->disabled == RS_MECH_COST_BALANCING)
		return;
	for (; memcg != RS_MEMCG_NONE; memcg = rs_memcg_parent(ctx, memcg)) {
		struct rs_lruvec *p = rs_lruvec(ctx, memcg, l->nid);
		struct classic_lruvec *c = classic(p);
		uint64_t size = 0;

		for (unsigned lru = 0; lru < RS_NR_LRU; lru++)
			size += rs_lru_size_flushed(ctx, p, lru);
		*(type == RS_FILE ? &c->file_cost : &c->anon_cost) += cost;
		if (c->file_cost + c->anon_cost > size / 4) {
			c->file_cost /= 2;
			c->anon_cost /= 2;
		}
	}
}

/* Kernel: mm/vmscan.c inactive_is_low(). Sizes as last flushed. */
bool classic_inactive_is_low(struct rs_ctx *ctx, struct rs_lruvec *l, enum rs_type type)
{
	uint64_t inactive = rs_lru_size_flushed(ctx, l, classic_lru(type, false));
	uint64_t active = rs_lru_size_flushed(ctx, l, classic_lru(type, true));
	uint64_t gb = (inactive + active) >> (30 - RS_PAGE_SHIFT);

	return inactive * (gb ? isqrt(10 * gb) : 1) < active;
}

static bool may_deactivate(struct rs_ctx *ctx, struct rs_lruvec *target, enum rs_type type)
{
	enum rs_event e =
		type == RS_ANON ? RS_WORKINGSET_ACTIVATE_ANON : RS_WORKINGSET_ACTIVATE_FILE;

	return rs_event_flushed(ctx, target, e) != classic(target)->refaults[type] ||
	       classic_inactive_is_low(ctx, target, type);
}

/* Of the whole node, all groups. */
static uint64_t node_lru(struct rs_ctx *ctx, uint8_t nid, enum rs_lru lru)
{
	uint64_t n = 0;
	uint16_t g = RS_MEMCG_NONE;

	while ((g = rs_memcg_next(ctx, 0, g)) != RS_MEMCG_NONE)
		n += rs_lru_size(ctx, rs_lruvec(ctx, g, nid), lru, RS_NR_ZONES - 1);
	return n;
}

static bool file_is_tiny(struct rs_ctx *ctx, uint8_t nid, const struct rs_scan *sc)
{
	uint64_t high = 0, free = 0, file;

	for (unsigned z = 0; z < RS_NR_ZONES; z++) {
		if (!rs_zone_managed(ctx, nid, z))
			continue;
		high += rs_zone_wmark(ctx, nid, z, RS_WMARK_HIGH);
		free += rs_zone_free(ctx, nid, z);
	}
	file = node_lru(ctx, nid, RS_ACTIVE_FILE) + node_lru(ctx, nid, RS_INACTIVE_FILE);
	return file + free <= high && !(sc->priv[MAY_DEACTIVATE] & DEACTIVATE_BIT(RS_ANON)) &&
	       node_lru(ctx, nid, RS_INACTIVE_ANON) >> sc->priority;
}

/* Kernel: prepare_scan_count() (6.1), prepare_scan_control(). On the target of the reclaim. */
void classic_prepare(struct rs_ctx *ctx, uint8_t nid, struct rs_scan *sc)
{
	struct rs_lruvec *target = rs_lruvec(ctx, sc->target_memcg, nid);
	uint64_t bits = 0;

	rs_flush_stats_ratelimited(ctx);
	sc->priv[ANON_COST] = classic(target)->anon_cost;
	sc->priv[FILE_COST] = classic(target)->file_cost;
	for (unsigned type = 0; type < RS_NR_TYPES; type++)
		if (sc->force_deactivate || may_deactivate(ctx, target, type))
			bits |= DEACTIVATE_BIT(type);
	sc->priv[MAY_DEACTIVATE] = bits;
	sc->priv[CACHE_TRIM_MODE] =
		rs_lru_size_flushed(ctx, target, RS_INACTIVE_FILE) >> sc->priority &&
		!(bits & DEACTIVATE_BIT(RS_FILE)) && !sc->no_cache_trim_mode;
	sc->priv[FILE_IS_TINY] = !sc->cgroup_reclaim && file_is_tiny(ctx, nid, sc);
}

enum scan_balance { SCAN_EQUAL, SCAN_FRACT, SCAN_ANON, SCAN_FILE };

static bool can_reclaim_anon(struct rs_ctx *ctx, struct rs_lruvec *l, struct rs_scan *sc)
{
	return rs_memcg_swap_free(ctx, l->memcg) > 0 || rs_can_demote(ctx, l->nid, sc);
}

/* First match wins. */
static enum scan_balance pick_balance(struct rs_ctx *ctx, struct rs_lruvec *l, struct rs_scan *sc,
				      int swappiness)
{
	if (!sc->may_swap || !can_reclaim_anon(ctx, l, sc))
		return SCAN_FILE;
	if (sc->cgroup_reclaim && !swappiness)
		return SCAN_FILE;
	/* memory.reclaim with swappiness=max (7.2). */
	if (swappiness > 200)
		return SCAN_ANON;
	if (!sc->priority && swappiness)
		return SCAN_EQUAL;
	if (sc->priv[FILE_IS_TINY])
		return SCAN_ANON;
	if (sc->priv[CACHE_TRIM_MODE])
		return SCAN_FILE;
	return SCAN_FRACT;
}

/* Weights by cost, tilted by swappiness; no side can outweigh the other more than 2:1 by cost. */
static void fractions(const struct rs_scan *sc, int swappiness, uint64_t fraction[RS_NR_TYPES],
		      uint64_t *denominator)
{
	uint64_t total = sc->priv[ANON_COST] + sc->priv[FILE_COST];
	uint64_t anon = total + sc->priv[ANON_COST], file = total + sc->priv[FILE_COST];

	total = anon + file;
	fraction[RS_ANON] = (uint64_t)swappiness * (total + 1) / (anon + 1);
	fraction[RS_FILE] = (uint64_t)(200 - swappiness) * (total + 1) / (file + 1);
	*denominator = fraction[RS_ANON] + fraction[RS_FILE];
}

/* What memory.min and memory.low leave of a list. */
static uint64_t after_protection(struct rs_ctx *ctx, struct rs_lruvec *l, struct rs_scan *sc,
				 uint64_t size)
{
	uint64_t min, low, usage, protection;

	rs_memcg_protection(ctx, sc->target_memcg, l->memcg, &min, &low, &usage);
	if (!min && !low)
		return size;
	protection = min;
	if (!sc->memcg_low_reclaim && low > min) {
		protection = low;
		sc->memcg_low_skipped = true;
	}
	usage = MAX(usage, protection);
	size -= (unsigned __int128)size * protection / (usage + 1);
	return MAX(size, RS_SWAP_CLUSTER_MAX);
}

/* Kernel: mm/vmscan.c get_scan_count(). */
void classic_scan_count(struct rs_ctx *ctx, struct rs_lruvec *l, struct rs_scan *sc,
			uint64_t nr[RS_NR_LRU])
{
	int swappiness = rs_swappiness(ctx, l->memcg, sc);
	enum scan_balance balance = pick_balance(ctx, l, sc, swappiness);
	uint64_t fraction[RS_NR_TYPES] = { 0 }, denominator = 1;
	bool online = rs_memcg_online(ctx, l->memcg);

	if (balance == SCAN_FRACT)
		fractions(sc, swappiness, fraction, &denominator);
	for (unsigned lru = 0; lru < RS_NR_LRU; lru++) {
		enum rs_type type = lru / 2;
		uint64_t size = rs_lru_size(ctx, l, lru, sc->reclaim_idx);
		uint64_t scan = after_protection(ctx, l, sc, size) >> sc->priority;

		if (!scan && !online)
			scan = MIN(size, RS_SWAP_CLUSTER_MAX);
		if (balance == SCAN_FRACT)
			scan = online ? scan * fraction[type] / denominator
				      : (scan * fraction[type] + denominator - 1) / denominator;
		else if (balance == (type == RS_ANON ? SCAN_FILE : SCAN_ANON))
			scan = 0;
		nr[lru] = scan;
	}
}
