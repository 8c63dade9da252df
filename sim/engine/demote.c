/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * demote.c - reclaim to a slower node instead of out of memory. Kernel: mm/vmscan.c can_demote(),
 * demote_folio_list(). The target is the nearest node without CPUs that is slower.
 */
#include "sim/engine/observe.h"

static int demotion_target(struct rs_ctx *ctx, uint8_t nid)
{
	const struct node *n = &ctx->m.node[nid];

	if (!ctx->cfg.demotion_enabled || !ctx->cfg.node[nid].cpus)
		return -1;
	for (unsigned i = 0; i < n->nr_fallback; i++)
		if (n->fallback[i] != nid && !ctx->cfg.node[n->fallback[i]].cpus)
			return n->fallback[i];
	return -1;
}

bool rs_can_demote(struct rs_ctx *ctx, uint8_t nid, const struct rs_scan *sc)
{
	return !(sc && sc->no_demotion) && demotion_target(ctx, nid) >= 0;
}

struct move {
	pfn_t to;
};

/* Every PTE of the old frame maps the new one. */
static void remap(struct rs_ctx *ctx, pfn_t from, pfn_t to)
{
	struct vma_set *set = folio_vma_set(&ctx->m, &ctx->m.folios[from]);

	for (uint32_t i = 0; i < set->nr; i++) {
		uint64_t vpn = vma_address(set->vma[i], &ctx->m.folios[from]);
		uint32_t *pte =
			vpn == UINT64_MAX ? NULL : mm_pte(&ctx->m, ctx->m.mm[set->vma[i]->mm], vpn);

		if (pte && (*pte & RS_PTE_PRESENT) && rs_pte_pfn(*pte) == from)
			*pte = make_pte(to, *pte & 31u);
	}
}

/* An idle order-0 folio to another node's frame; charges and counters follow. */
bool migrate_folio(struct rs_ctx *ctx, pfn_t from, pfn_t to)
{
	struct folio *f = &ctx->m.folios[from], *n = &ctx->m.folios[to];
	uint8_t nid = n->nid, zone = n->zone;

	if (f->refs || f->order || (f->flags & (PG_writeback | PG_locked)))
		return false;
	if (f->mapcount)
		remap(ctx, from, to);
	*n = *f;
	n->nid = nid;
	n->zone = zone;
	if (f->flags & PG_swapcache) {
		uint32_t slot = folio_slot(&ctx->m, from);

		ctx->m.swap.slot[slot].cached = to;
		ctx->m.swap.slot_of[from] = 0;
		ctx->m.swap.slot_of[to] = slot;
	} else if (!(f->flags & PG_anon)) {
		file_set_slot(&ctx->m.file[f->object], f->index, (uint64_t)to << 1);
	}
	f->flags &= ~(uint32_t)(PG_swapcache | PG_dirty | PG_isolated | PG_lru);
	f->mapcount = 0;
	f->memcg = 0; /* the charge has moved with it */
	if (OBSERVED(ctx))
		observe_moved(ctx, from, to);
	return true;
}

bool demote_folio(struct rs_ctx *ctx, uint8_t nid, pfn_t pfn, struct rs_scan *sc)
{
	int target = demotion_target(ctx, nid);
	enum rs_type type = folio_lru_type(&ctx->m.folios[pfn]);
	struct lruvec *l = folio_lruvec(&ctx->m, pfn);
	pfn_t to = RS_PFN_NONE;

	if (target < 0 || sc->no_demotion)
		return false;
	for (unsigned z = RS_NR_ZONES; z-- > 0 && !to;)
		if (ctx->m.node[target].zone[z].managed &&
		    zone_watermark_ok(&ctx->m, target, z, 0,
				      ctx->m.node[target].zone[z].wmark[RS_WMARK_LOW],
				      RS_ZONE_NORMAL))
			to = zone_alloc(&ctx->m, target, z, 0);
	if (!to) {
		wakeup_kswapd(ctx, target, 0, RS_ZONE_NORMAL);
		return false;
	}
	if (!migrate_folio(ctx, pfn, to)) {
		zone_free(&ctx->m, to, 0);
		return false;
	}
	charge(ctx, RS_COST_LIST_MOVE, 4); /* copying a page */
	ctx->m.node[nid].nr_isolated[type]--;
	ctx->m.folios[to].flags &= ~(uint32_t)(PG_isolated | PG_active);
	lruvec_count(&ctx->m, l, sc->kswapd ? RS_PGDEMOTE_KSWAPD : RS_PGDEMOTE_DIRECT, 1);
	lru_add(ctx, to, false);
	zone_free(&ctx->m, pfn, 0);
	return true;
}
