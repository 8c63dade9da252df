/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hitshield.c - the multi-gen LRU with the HitShield patch: a folio promoted through page tables
 * four times since it was added is spared once when its turn to be evicted comes.
 *
 * The counter starts at 1 with every add, counts promotions modulo 5 and stays at 0, which is the
 * armed shield. The spared folio goes to the head of the next generation, not to the youngest, and
 * carries PG_reclaim. Since 6.14 a young PTE that only sets PG_referenced does not count.
 */
#include "mglru.h"

#define HIT_MODULO 5u

static unsigned hits(const struct folio *f)
{
	return (f->priv & FOLIO_HIT_MASK) >> FOLIO_HIT_SHIFT;
}

static void set_hits(struct folio *f, unsigned n)
{
	f->priv = (f->priv & ~FOLIO_HIT_MASK) | n << FOLIO_HIT_SHIFT;
}

static void start_counting(struct rs_ctx *ctx, pfn_t pfn)
{
	set_hits(&rs_folios(ctx)[pfn], 1);
}

static void count_hit(struct rs_ctx *ctx, pfn_t pfn)
{
	struct folio *f = &rs_folios(ctx)[pfn];

	if (hits(f))
		set_hits(f, (hits(f) + 1) % HIT_MODULO);
}

static bool spare(struct rs_ctx *ctx, struct rs_lruvec *lruvec, pfn_t pfn)
{
	struct folio *f = &rs_folios(ctx)[pfn];

	if (hits(f))
		return false;
	set_hits(f, 1);
	mglru_move(ctx, lruvec, pfn, mglru_inc_gen(ctx, lruvec, pfn, true), false);
	rs_count_own(ctx, MGLRU_NR_COUNTERS, folio_nr_pages(f));
	return true;
}

static const struct mglru_hooks hooks = {
	.add = start_counting,
	.update_gen = count_hit,
	.sort_last = spare,
};

static bool init(struct rs_ctx *ctx, GError **error)
{
	if (rs_tunables(ctx)->kernel < RS_KERNEL_6_1) {
		g_set_error(
			error, RS_ERROR, RS_ERROR_USAGE,
			"hitshield: kernel 5.18 has no page-table promotions; use 6.1 or newer");
		return false;
	}
	return mglru_setup(ctx, &hooks, error);
}

static const struct rs_counter counters[] = {
	MGLRU_COUNTERS,
	{ "hitshield_spared", "pages spared once more at the end of the oldest generation" },
	{ 0 },
};

const struct rs_policy_ops hitshield_policy = {
	MGLRU_OPS,
	.name = "hitshield",
	.summary = "multi-gen LRU with HitShield: pages promoted four times are spared once",
	.init = init,
	.counters = counters,
};
