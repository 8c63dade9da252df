/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * classic_workingset.c - refault distance, and accesses through descriptors.
 * Kernel: mm/workingset.c, mm/swap.c folio_mark_accessed().
 */
#include "policies/classic.h"

#include <reclaimsim/observe.h>

/* Kernel: workingset_age_nonresident(). The group and every ancestor. */
void classic_age_nonresident(struct rs_ctx *ctx, struct rs_lruvec *l, uint64_t nr)
{
	for (uint16_t g = l->memcg; g != RS_MEMCG_NONE; g = rs_memcg_parent(ctx, g))
		classic(rs_lruvec(ctx, g, l->nid))->nonresident_age += nr;
}

/* The clock is that of the group whose limit evicts. Kernel: workingset_eviction(). */
struct rs_shadow classic_evict(struct rs_ctx *ctx, pfn_t pfn, uint16_t target)
{
	const struct folio *f = &rs_folios(ctx)[pfn];
	struct rs_lruvec *l = rs_lruvec(ctx, target, f->nid);
	struct rs_shadow s = { .memcg = target,
			       .nid = f->nid,
			       .token = classic(l)->nonresident_age,
			       .workingset = f->flags & PG_workingset };

	classic_age_nonresident(ctx, l, folio_nr_pages(f));
	return s;
}

/* Pages that could have made room for it, had it been active. Sizes as last flushed. */
static uint64_t workingset_size(struct rs_ctx *ctx, struct rs_lruvec *evictor, uint16_t folio_memcg,
				enum rs_type type)
{
	bool v6_12 = rs_tunables(ctx)->kernel >= RS_KERNEL_6_12;
	uint64_t size = rs_lru_size_flushed(ctx, evictor, RS_ACTIVE_FILE);

	if (type == RS_ANON)
		size += rs_lru_size_flushed(ctx, evictor, RS_INACTIVE_FILE);
	if (rs_memcg_swap_free(ctx, v6_12 ? evictor->memcg : folio_memcg) > 0) {
		size += rs_lru_size_flushed(ctx, evictor, RS_ACTIVE_ANON);
		if (type == RS_FILE)
			size += rs_lru_size_flushed(ctx, evictor, RS_INACTIVE_ANON);
	}
	return size;
}

/* Kernel: workingset_refault(), workingset_test_recent(). */
void classic_refault(struct rs_ctx *ctx, pfn_t pfn, const struct rs_shadow *s, bool in_fault)
{
	struct folio *f = &rs_folios(ctx)[pfn];
	struct rs_lruvec *l = rs_folio_lruvec(ctx, pfn), *evictor;
	enum rs_type type = folio_lru_type(f);
	uint32_t nr = folio_nr_pages(f);
	bool v6_12 = rs_tunables(ctx)->kernel >= RS_KERNEL_6_12,
	     alive = rs_memcg_exists(ctx, s->memcg);
	uint64_t distance, size;

	if (v6_12 || alive)
		rs_count(ctx, l, RS_WORKINGSET_REFAULT_ANON + type, nr);
	if (!alive)
		return;
	if (v6_12)
		rs_flush_stats_ratelimited(ctx);
	evictor = rs_lruvec(ctx, s->memcg, s->nid);
	distance = (classic(evictor)->nonresident_age - s->token) &
		   ((1ull << RS_SHADOW_TOKEN_BITS) - 1);
	size = workingset_size(ctx, evictor, l->memcg, type);
	rs_note(ctx, pfn, RS_NOTE_REFAULT, (int64_t)distance, (int64_t)size);
	if (distance > size || rs_tunables(ctx)->disabled == RS_MECH_REFAULT_DISTANCE)
		return;
	f->flags |= PG_active;
	classic_age_nonresident(ctx, l, nr);
	rs_count(ctx, l, RS_WORKINGSET_ACTIVATE_ANON + type, nr);
	if (!s->workingset)
		return;
	f->flags |= PG_workingset;
	classic_note_cost(ctx, l, type, nr, 0);
	rs_count(ctx, l, RS_WORKINGSET_RESTORE_ANON + type, nr);
}

/* Kernel: snapshot_refaults(). */
void classic_snapshot(struct rs_ctx *ctx, struct rs_lruvec *l)
{
	classic(l)->refaults[RS_ANON] = rs_event_flushed(ctx, l, RS_WORKINGSET_ACTIVATE_ANON);
	classic(l)->refaults[RS_FILE] = rs_event_flushed(ctx, l, RS_WORKINGSET_ACTIVATE_FILE);
}

/*
 * First use sets the referenced flag, the second activates: through the batch when the folio is on
 * a list, in place when it still waits in this CPU's lru_add batch, not at all elsewhere.
 */
void classic_mark_accessed(struct rs_ctx *ctx, pfn_t pfn)
{
	struct folio *f = &rs_folios(ctx)[pfn];

	if (!(f->flags & PG_referenced)) {
		f->flags |= PG_referenced;
		return;
	}
	if (f->flags & (PG_active | PG_unevictable))
		return;
	if (f->flags & PG_lru)
		rs_folio_activate(ctx, pfn);
	else if (rs_folio_in_add_batch(ctx, pfn))
		f->flags |= PG_active;
	f->flags &= ~(uint32_t)PG_referenced;
	classic_age_nonresident(ctx, rs_folio_lruvec(ctx, pfn), folio_nr_pages(f));
}
