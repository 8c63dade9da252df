/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * mglru_pid.c - the feedback of refaults on eviction.
 *
 * Per type and tier the controller knows how much was evicted or protected and how much of it came
 * back, in the generation being evicted and, decaying by half with each generation, before. It
 * evicts the type, and of that type the tiers, that come back least.
 */
#include "mglru.h"

struct ctrl_pos {
	uint64_t refaulted, total;
	unsigned gain;
};

_Static_assert(MAX_NR_TIERS == 4 && RS_NR_TYPES == 2, "MGLRU_COUNTERS has a row for each");
const struct rs_counter mglru_counters[] = { MGLRU_COUNTERS, { 0 } };

void mglru_count_tier(struct rs_ctx *ctx, enum mglru_tier_count what, enum rs_type type,
		      unsigned tier, uint64_t nr)
{
	rs_count_own(ctx, ((unsigned)what * RS_NR_TYPES + type) * MAX_NR_TIERS + tier, nr);
}

/* Sums the tiers first..last. Kernel: vmscan.c read_ctrl_pos(). */
static struct ctrl_pos read_ctrl_pos(const struct mglru_lruvec *v, enum rs_type type,
				     unsigned first, unsigned last, unsigned gain)
{
	struct ctrl_pos pos = { .gain = gain };

	for (unsigned tier = first; tier <= last; tier++) {
		pos.refaulted += v->avg_refaulted[type][tier] + v->refaulted[type][tier];
		pos.total += v->avg_total[type][tier] + v->evicted[type][tier] +
			     v->protected[type][tier];
	}
	return pos;
}

/* May the process variable be evicted, being no worse than the set point? positive_ctrl_err(). */
static bool positive(struct ctrl_pos sp, struct ctrl_pos pv)
{
	return pv.refaulted < MIN_LRU_BATCH ||
	       pv.refaulted * (sp.total + MIN_LRU_BATCH) * sp.gain <=
		       (sp.refaulted + 1) * pv.total * pv.gain;
}

/*
 * A generation is closed: its counts go into the averages. One history only (NR_HIST_GENS 1), so
 * the counts start again at zero. Kernel: vmscan.c reset_ctrl_pos().
 */
void mglru_reset_ctrl_pos(struct mglru_lruvec *v, enum rs_type type)
{
	for (unsigned tier = 0; tier < MAX_NR_TIERS; tier++) {
		struct ctrl_pos now = read_ctrl_pos(v, type, tier, tier, 0);

		v->avg_refaulted[type][tier] = now.refaulted / 2;
		v->avg_total[type][tier] = now.total / 2;
		v->refaulted[type][tier] = 0;
		v->evicted[type][tier] = 0;
		v->protected[type][tier] = 0;
	}
}

static unsigned last_evictable_tier(const struct mglru_lruvec *v, enum rs_type type,
				    struct ctrl_pos sp, unsigned gain)
{
	unsigned tier;

	for (tier = 1; tier < MAX_NR_TIERS; tier++)
		if (!positive(sp, read_ctrl_pos(v, type, tier, tier, gain)))
			break;
	return tier - 1;
}

/* The last tier of a type to evict, measured by its first tier. Kernel: get_tier_idx(). */
unsigned mglru_tier_idx(const struct mglru *m, const struct mglru_lruvec *v, enum rs_type type)
{
	bool split = m->d->refs == REFS_BEHIND_REFERENCED;

	return last_evictable_tier(v, type, read_ctrl_pos(v, type, 0, 0, split ? 2 : 1),
				   split ? 3 : 2);
}

/* Kernel: vmscan.c get_type_to_scan() of 6.14 and newer. */
static enum rs_type type_by_sums(const struct mglru_lruvec *v, int swappiness)
{
	const unsigned last = MAX_NR_TIERS - 1;

	if (swappiness <= 1)
		return RS_FILE;
	if (swappiness >= SWAPPINESS_MAX)
		return RS_ANON;
	return positive(read_ctrl_pos(v, RS_ANON, 0, last, (unsigned)swappiness),
			read_ctrl_pos(v, RS_FILE, 0, last, (unsigned)(SWAPPINESS_MAX - swappiness)))
		       ? RS_FILE
		       : RS_ANON;
}

/*
 * Kernel: vmscan.c get_type_to_scan() up to 6.12. The tiers of the chosen type are measured by the
 * first tier of the other one.
 */
static enum rs_type type_by_first_tiers(const struct mglru_lruvec *v, int swappiness, int *ret_tier)
{
	unsigned gain[RS_NR_TYPES] = { (unsigned)swappiness,
				       (unsigned)(SWAPPINESS_MAX - swappiness) };
	enum rs_type type, other;

	type = positive(read_ctrl_pos(v, RS_ANON, 0, 0, gain[RS_ANON]),
			read_ctrl_pos(v, RS_FILE, 0, 0, gain[RS_FILE]))
		       ? RS_FILE
		       : RS_ANON;
	other = type == RS_FILE ? RS_ANON : RS_FILE;
	*ret_tier = (int)last_evictable_tier(v, type, read_ctrl_pos(v, other, 0, 0, gain[other]),
					     gain[type]);
	return type;
}

/*
 * Which type to scan first. ret_tier: the last tier to evict of it, -1 if mglru_tier_idx() says.
 * Kernel: vmscan.c isolate_folios().
 */
enum rs_type mglru_type_to_scan(const struct mglru *m, const struct mglru_lruvec *v, bool gfp_io,
				int swappiness, int *ret_tier)
{
	*ret_tier = -1;
	if (m->d->refs == REFS_BEHIND_REFERENCED)
		return type_by_sums(v, swappiness);
	if (!swappiness)
		return RS_FILE;
	if (v->min_seq[RS_ANON] < v->min_seq[RS_FILE])
		return RS_ANON;
	if (swappiness == 1)
		return RS_FILE;
	if (swappiness >= SWAPPINESS_MAX)
		return RS_ANON;
	if (m->d->loop == LOOP_6_12 && !gfp_io)
		return RS_FILE;
	return type_by_first_tiers(v, swappiness, ret_tier);
}
