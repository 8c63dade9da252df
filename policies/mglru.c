/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * mglru.c - the multi-gen LRU as a policy: what each kernel does differently, set-up, and a check
 * that the private state is sound.
 */
#include "mglru.h"

#define DIALECT_5_18                                                                               \
	.refs = REFS_BOTH_FLAGS, .place = PLACE_OLDEST, .loop = LOOP_5_18,                         \
	.protect_activates = true, .protect_counts_saturated = true, .culls_unevictable = true,    \
	.sorts_lazyfree = true, .isolates_by_control = true

#define DIALECT_6_1                                                                                \
	.refs = REFS_BEHIND_WORKINGSET, .place = PLACE_SECOND_LAST, .page_tables = true,           \
	.inc_min_moves = true, .protect_counts_saturated = true, .all_zones = true,                \
	.keeps_young_target = true

#define DIALECT_6_14                                                                               \
	.refs = REFS_BEHIND_REFERENCED, .page_tables = true, .two_touch = true,                    \
	.min_seq_split = true, .inc_min_moves = true, .inc_min_protects = true,                    \
	.protect_head = true, .all_zones = true, .force_skips_nonleaf = true,                      \
	.nowalk_forgets = true, .walk_runs = true, .walk_for_proactive = true, .memcg_lru = true,  \
	.recent_by_distance = true, .refault_by_lruvec = true

#define DIALECT_6_12                                                                               \
	DIALECT_6_1, .loop = LOOP_6_12, .wakes_flusher = true, .force_skips_nonleaf = true,        \
		     .nowalk_forgets = true, .walk_for_proactive = true, .memcg_lru = true,        \
		     .refault_by_lruvec = true

static const struct mglru_dialect dialects[RS_NR_KERNELS] = {
	/* The first posting: no page-table walks, no look-around, ageing by kswapd. */
	[RS_KERNEL_5_18] = { DIALECT_5_18 },
	[RS_KERNEL_6_1] = { DIALECT_6_1, .loop = LOOP_6_1, .protect_activates = true,
			    .sorts_lazyfree = true, .isolates_by_control = true,
			    .look_includes_target = true, .skips_small_mm = true },
	[RS_KERNEL_6_12] = { DIALECT_6_12, .culls_unevictable = true },
	[RS_KERNEL_6_14] = { DIALECT_6_14, .place = PLACE_BY_DISTANCE, .loop = LOOP_6_12,
			     .culls_unevictable = true, .wakes_flusher = true },
	[RS_KERNEL_7_2] = { DIALECT_6_14, .place = PLACE_REFERENCED, .loop = LOOP_7_2,
			    .fault_references = true, .refs_climb = true,
			    .isolates_without_io = true, .keeps_reclaim = true,
			    .shared_writeback = true, .reparents = true },
};

/*
 * 6.12 as of stable update 117: dirty folios are no longer sorted, and the changes that came with
 * that one. Update 113, the one that was measured, has none of them.
 */
static const struct mglru_dialect dialect_6_12_117 = {
	DIALECT_6_12,
	.active_add_clears = true,
	.keeps_reclaim = true,
};

/*
 * The first posting with the patch of the series that looks around: the target is one of its
 * window, as in 6.1, and there is no walk that could batch promotions.
 */
static const struct mglru_dialect dialect_5_18_look = {
	DIALECT_5_18,
	.look_includes_target = true,
	.keeps_young_target = true,
};

const struct mglru_dialect *mglru_dialect(enum rs_kernel kernel, bool sort_dirty)
{
	if (kernel == RS_KERNEL_6_12 && !sort_dirty)
		return &dialect_6_12_117;
	return &dialects[kernel];
}

const struct rs_param mglru_params[] = { MGLRU_PARAMS, { 0 } };

/* For the init() of every policy built on the multi-gen LRU. */
bool mglru_setup(struct rs_ctx *ctx, const struct mglru_hooks *hooks, GError **error)
{
	const struct rs_tunables *t = rs_tunables(ctx);
	const struct mglru_params *params = rs_params(ctx);
	struct mglru *m = mglru(ctx);

	if (t->nr_nodes > MGLRU_MAX_NODES) {
		g_set_error(error, RS_ERROR, RS_ERROR_USAGE,
			    "mglru: %u nodes; up to %u are possible", t->nr_nodes, MGLRU_MAX_NODES);
		return false;
	}
	m->d = mglru_dialect(t->kernel, t->sort_dirty);
	m->hooks = hooks;
	m->walks = (t->lru_gen_enabled & 2) && params->page_table_walks;
	m->nonleaf_young = t->lru_gen_enabled & 4;
	m->look_around = (params->look_around < 0 ? m->d->page_tables : params->look_around) &&
			 t->disabled != RS_MECH_LOOK_AROUND;
	if (m->look_around && t->kernel == RS_KERNEL_5_18)
		m->d = &dialect_5_18_look;
	return true;
}

/* Kernel: vmscan.c lru_gen_init_lruvec(). */
void mglru_lruvec_init(struct rs_ctx *ctx, struct rs_lruvec *lruvec)
{
	struct mglru_lruvec *v = mglru_lruvec(lruvec);

	v->max_seq = MIN_NR_GENS + 1;
	for (unsigned gen = 0; gen < MAX_NR_GENS; gen++)
		v->timestamps[gen] = rs_now(ctx);
	v->mm_state.seq = MIN_NR_GENS;
	v->mm_state.head = v->mm_state.tail = MM_NONE;
}

/* Kernel: vmscan.c lru_gen_seq_show(). */
unsigned mglru_rows(struct rs_ctx *ctx, struct rs_lruvec *lruvec, unsigned max,
		    struct rs_lru_gen_row *rows)
{
	const struct mglru_lruvec *v = mglru_lruvec(lruvec);
	uint64_t seq = MIN(v->min_seq[RS_ANON], v->min_seq[RS_FILE]);
	unsigned n = 0;

	for (; seq <= v->max_seq && n < max; seq++, n++) {
		unsigned gen = gen_from_seq(seq);

		rows[n] = (struct rs_lru_gen_row){
			.seq = seq, .age_ms = (rs_now(ctx) - v->timestamps[gen]) / 1000000
		};
		for (enum rs_type type = 0; type < RS_NR_TYPES; type++)
			for (unsigned zone = 0; zone < RS_NR_ZONES; zone++)
				rows[n].nr_pages[type] += MAX(v->nr_pages[gen][type][zone], 0);
	}
	return n;
}

/* ---- consistency ---- */

static bool check_window(struct rs_ctx *ctx, const struct mglru_lruvec *v, GString *why)
{
	for (enum rs_type type = 0; type < RS_NR_TYPES; type++)
		if (v->min_seq[type] > v->max_seq || nr_gens(v, type) < MIN_NR_GENS ||
		    nr_gens(v, type) > MAX_NR_GENS) {
			g_string_append_printf(why, "type %d has generations %" PRIu64 "..%" PRIu64,
					       type, v->min_seq[type], v->max_seq);
			return false;
		}
	if (!mglru(ctx)->d->min_seq_split && v->min_seq[RS_ANON] > v->min_seq[RS_FILE]) {
		g_string_append(why, "the oldest generation of anon leads that of file");
		return false;
	}
	return true;
}

/* Each folio of one list; counted by the generation it says it is of. */
static bool check_list(struct rs_ctx *ctx, const struct rs_lruvec *lruvec, unsigned gen,
		       enum rs_type type, unsigned zone, int64_t sizes[MAX_NR_GENS], GString *why)
{
	const struct folio *folios = rs_folios(ctx);
	pfn_t head = gen_list(lruvec, gen, type, zone);

	for (pfn_t pfn = folios[head].next; pfn != head; pfn = folios[pfn].next) {
		const struct folio *f = &folios[pfn];

		if (folio_gen(f) < 0 || folio_lru_type(f) != type || f->zone != zone ||
		    (f->flags & (PG_active | PG_unevictable)) || !(f->flags & PG_lru)) {
			g_string_append_printf(why,
					       "folio %u on list gen %u type %d zone %u has gen %d "
					       "zone %u flags %#x",
					       pfn, gen, type, zone, folio_gen(f), f->zone,
					       f->flags);
			return false;
		}
		sizes[folio_gen(f)] += folio_nr_pages(f);
	}
	return true;
}

/* Promotions that a walk has not yet applied move pages between generations only. */
static bool check_sizes(const struct mglru_lruvec *v, enum rs_type type, unsigned zone,
			const int64_t sizes[MAX_NR_GENS], GString *why)
{
	int64_t listed = 0, counted = 0;

	for (unsigned gen = 0; gen < MAX_NR_GENS; gen++) {
		listed += sizes[gen];
		counted += v->nr_pages[gen][type][zone];
		if (!v->nr_batched && sizes[gen] != v->nr_pages[gen][type][zone]) {
			g_string_append_printf(
				why,
				"gen %u type %d zone %u: %" PRId64 " pages on lists, "
				"%" PRId64 " counted",
				gen, type, zone, sizes[gen], v->nr_pages[gen][type][zone]);
			return false;
		}
	}
	if (listed != counted)
		g_string_append_printf(
			why, "type %d zone %u: %" PRId64 " pages on lists, %" PRId64 " counted",
			type, zone, listed, counted);
	return listed == counted;
}

bool mglru_check(struct rs_ctx *ctx, struct rs_lruvec *lruvec, GString *why)
{
	const struct mglru_lruvec *v = mglru_lruvec(lruvec);

	if (!check_window(ctx, v, why))
		return false;
	if (!rs_list_empty(rs_folios(ctx), lruvec->lists + MGLRU_LIST_ASIDE)) {
		g_string_append(why, "folios were left aside by a scan");
		return false;
	}
	for (enum rs_type type = 0; type < RS_NR_TYPES; type++)
		for (unsigned zone = 0; zone < RS_NR_ZONES; zone++) {
			int64_t sizes[MAX_NR_GENS] = { 0 };

			for (unsigned gen = 0; gen < MAX_NR_GENS; gen++)
				if (!check_list(ctx, lruvec, gen, type, zone, sizes, why))
					return false;
			if (!check_sizes(v, type, zone, sizes, why))
				return false;
		}
	return true;
}

/* ---- the policy ---- */

static const struct mglru_hooks no_hooks;

static bool init(struct rs_ctx *ctx, GError **error)
{
	return mglru_setup(ctx, &no_hooks, error);
}

const struct rs_policy_ops mglru_policy = {
	MGLRU_OPS,
	.name = "mglru",
	.summary = "multi-gen LRU of the modelled kernel",
	.counters = mglru_counters,
	.init = init,
};
