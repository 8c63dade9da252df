/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * demote.c - reclaim to a slower node instead of out of memory. Kernel: mm/vmscan.c can_demote(),
 * demote_folio_list(). The target is the nearest node without CPUs that is slower.
 */
#include "sim/engine/observe.h"

static int demotion_target(struct rs_ctx *ctx, uint8_t nid)
{
	const struct node *n = &ctx->m.node[nid];

	if (!ctx->cfg.demotion_enabled || !node_is_toptier(ctx, nid))
		return -1;
	for (unsigned i = 0; i < n->nr_fallback; i++)
		if (n->fallback[i] != nid && !node_is_toptier(ctx, n->fallback[i]))
			return n->fallback[i];
	return -1;
}

bool rs_can_demote(struct rs_ctx *ctx, uint8_t nid, const struct rs_scan *sc)
{
	return !(sc && sc->no_demotion) && demotion_target(ctx, nid) >= 0;
}

bool demote_folio(struct rs_ctx *ctx, uint8_t nid, pfn_t pfn, struct rs_scan *sc)
{
	int target = demotion_target(ctx, nid);
	struct lruvec *l = folio_lruvec(&ctx->m, pfn);

	if (target < 0 || sc->no_demotion)
		return false;
	ctx->m.folios[pfn].flags &= ~(uint32_t)PG_active;
	if (!migrate_folio(ctx, pfn, target, RS_NOTE_DEMOTED))
		return false;
	lruvec_count(&ctx->m, l, sc->kswapd ? RS_PGDEMOTE_KSWAPD : RS_PGDEMOTE_DIRECT, 1);
	return true;
}
