/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hitshield.c - the multi-gen LRU with the HitShield patch: a folio promoted through page tables
 * four times since it was added is spared once when its turn to be evicted comes.
 *
 * The counter starts at 1 with every add, counts promotions modulo 5 and stays at 0, which is the
 * armed shield. The spared folio goes to the head of the next generation, not to the youngest, and
 * carries PG_reclaim. Since 6.14 a young PTE that only sets PG_referenced does not count.
 *
 * Every constant of the idea is a parameter; their defaults are the patch.
 */
#include "mglru.h"

struct hitshield_params {
	struct mglru_params mglru;
	int64_t threshold, grace, reset_on_add, reset_on_spare, reset_on_promotion, mark_reclaim;
};

static const struct hitshield_params *params(struct rs_ctx *ctx)
{
	return rs_params(ctx);
}

static unsigned hits(const struct folio *f)
{
	return (f->priv & FOLIO_HIT_MASK) >> FOLIO_HIT_SHIFT;
}

static void set_hits(struct folio *f, unsigned n)
{
	f->priv = (f->priv & ~FOLIO_HIT_MASK) | n << FOLIO_HIT_SHIFT;
}

/* The folio comes to a list: for the first time, from reclaim, an activation, a rotation. */
static void start_counting(struct rs_ctx *ctx, pfn_t pfn)
{
	struct folio *f = &rs_folios(ctx)[pfn];

	if (params(ctx)->reset_on_add || !(f->priv & FOLIO_HIT_SEEN))
		set_hits(f, 1);
	f->priv |= FOLIO_HIT_SEEN;
}

/* from: the generation it left, -1 while it is isolated. */
static void count_hit(struct rs_ctx *ctx, pfn_t pfn, int from)
{
	struct folio *f = &rs_folios(ctx)[pfn];

	if (params(ctx)->reset_on_promotion && from >= 0 && from != folio_gen(f))
		set_hits(f, 1);
	else if (hits(f))
		set_hits(f, (hits(f) + 1) % ((unsigned)params(ctx)->threshold + 1));
}

/* One generation on, or more, but not beyond the youngest. */
static unsigned lift(struct rs_ctx *ctx, struct rs_lruvec *lruvec, pfn_t pfn)
{
	const struct mglru_lruvec *v = mglru_lruvec(lruvec);
	struct folio *f = &rs_folios(ctx)[pfn];
	uint64_t seq = v->min_seq[folio_lru_type(f)] + (uint64_t)params(ctx)->grace;
	unsigned next = mglru_inc_gen(ctx, lruvec, pfn, params(ctx)->mark_reclaim);
	unsigned gen = gen_from_seq(MIN(seq, v->max_seq));

	if (gen == next)
		return next;
	folio_set_gen(f, (int)gen);
	mglru_note_move(ctx, lruvec, pfn, RS_NOTE_SORTED, (int)next, (int)gen);
	mglru_update_size(ctx, lruvec, f, (int)next, (int)gen);
	return gen;
}

static bool spare(struct rs_ctx *ctx, struct rs_lruvec *lruvec, pfn_t pfn)
{
	struct folio *f = &rs_folios(ctx)[pfn];

	if (hits(f))
		return false;
	if (params(ctx)->reset_on_spare)
		set_hits(f, 1);
	mglru_move(ctx, lruvec, pfn, lift(ctx, lruvec, pfn), false);
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

#define PARAM(name, type, def, min, max, doc)                                                      \
	{                                                                                          \
#name, type, offsetof(struct hitshield_params, name), def, min, max, doc           \
	}

static const struct rs_param param_table[] = {
	MGLRU_PARAMS,
	PARAM(threshold, RS_PARAM_INT, 4, 1, 254,
	      "promotions through page tables that arm the shield; it then stays armed"),
	PARAM(grace, RS_PARAM_INT, 1, 1, 3,
	      "generations a spared page moves on, the youngest at most"),
	PARAM(reset_on_add, RS_PARAM_BOOL, 1, 0, 1,
	      "count anew whenever the page comes to a list (back from reclaim, activated, "
	      "rotated); "
	      "0: only when it comes to memory"),
	PARAM(reset_on_spare, RS_PARAM_BOOL, 1, 0, 1,
	      "count anew once spared; 0: an armed page is spared every time"),
	PARAM(reset_on_promotion, RS_PARAM_BOOL, 0, 0, 1,
	      "count anew when a promotion changes the generation: only uses seen in the youngest "
	      "count"),
	PARAM(mark_reclaim, RS_PARAM_BOOL, 1, 0, 1,
	      "a spared page carries PG_reclaim, as the patch has it"),
	{ 0 },
};

const struct rs_policy_ops hitshield_policy = {
	MGLRU_OPS_WITH(param_table, struct hitshield_params),
	.name = "hitshield",
	.summary = "multi-gen LRU with HitShield: pages promoted four times are spared once",
	.init = init,
	.counters = counters,
};
