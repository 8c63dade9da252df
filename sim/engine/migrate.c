/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * migrate.c - a folio gets a frame of another node; charges, cache entries and mappings follow.
 * Kernel: mm/migrate.c migrate_pages(), migrate_misplaced_folio(). Differs: order 0 only; what
 * cannot be moved at once is not tried again.
 */
#include "sim/engine/observe.h"

#include <string.h>

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

static void move_cache_entry(struct rs_ctx *ctx, pfn_t from, pfn_t to)
{
	const struct folio *f = &ctx->m.folios[from];

	if (f->flags & PG_swapcache) {
		uint32_t slot = folio_slot(&ctx->m, from);

		ctx->m.swap.slot[slot].cached = to;
		ctx->m.swap.slot_of[from] = 0;
		ctx->m.swap.slot_of[to] = slot;
	} else if (!(f->flags & PG_anon)) {
		file_set_slot(&ctx->m.file[f->object], f->index, (uint64_t)to << 1);
	}
}

static void move_policy_state(struct rs_ctx *ctx, pfn_t from, pfn_t to)
{
	size_t size = ctx->ops->folio_size;
	char *priv = ctx->folio_priv;

	if (size)
		memcpy(priv + to * size, priv + from * size, size);
}

static bool move_folio(struct rs_ctx *ctx, pfn_t from, pfn_t to)
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
	move_cache_entry(ctx, from, to);
	move_policy_state(ctx, from, to);
	numa_stamp_moved(ctx, from, to);
	f->flags &= ~(uint32_t)(PG_swapcache | PG_dirty | PG_isolated | PG_lru);
	f->mapcount = 0;
	f->memcg = 0; /* the charge has moved with it */
	return true;
}

/* Truncated while it was isolated. Kernel: migrate_folio_unmap() finds it freed. */
static bool is_truncated(struct rs_ctx *ctx, pfn_t pfn)
{
	const struct folio *f = &ctx->m.folios[pfn];

	return !(f->flags & PG_anon) && file_page(&ctx->m.file[f->object], f->index) != pfn;
}

/*
 * The isolated folio to a frame of the node, back on its lists there. RS_PFN_NONE: it stays where
 * it is, isolated, because the node has no frame above its low watermark, or the folio is in use
 * or truncated.
 */
pfn_t migrate_folio(struct rs_ctx *ctx, pfn_t from, uint8_t nid, enum rs_note note)
{
	enum rs_type type = folio_lru_type(&ctx->m.folios[from]);
	uint8_t old = ctx->m.folios[from].nid;
	pfn_t to;

	if (is_truncated(ctx, from))
		return RS_PFN_NONE;
	to = alloc_on_node(ctx, nid, note == RS_NOTE_DEMOTED);
	if (!to)
		return RS_PFN_NONE;
	if (!move_folio(ctx, from, to)) {
		zone_free(&ctx->m, to, 0);
		ctx->m.vmstat[RS_PGFREE]++;
		ctx->m.vmstat[RS_PGMIGRATE_FAIL]++;
		return RS_PFN_NONE;
	}
	if (OBSERVED(ctx))
		observe_moved(ctx, from, to, note);
	charge(ctx, RS_COST_MIGRATE_PAGE, 1);
	ctx->m.vmstat[RS_PGMIGRATE_SUCCESS]++;
	ctx->m.node[old].nr_isolated[type]--;
	ctx->m.folios[to].flags &= ~(uint32_t)PG_isolated;
	lru_add(ctx, to, false);
	zone_free(&ctx->m, from, 0);
	ctx->m.vmstat[RS_PGFREE]++;
	return to;
}

/* Kernel: migrate_balanced_pgdat(): the move must not wake kswapd. */
static bool has_room(struct rs_ctx *ctx, uint8_t nid)
{
	for (unsigned z = RS_NR_ZONES; z-- > 0;) {
		const struct zone *zone = &ctx->m.node[nid].zone[z];

		if (zone->managed &&
		    zone_watermark_ok(&ctx->m, nid, z, 0, zone->wmark[RS_WMARK_HIGH] + 1,
				      RS_ZONE_NORMAL))
			return true;
	}
	return false;
}

/* Kernel: migrate_misplaced_folio_prepare(). */
static bool may_migrate(const struct folio *f, const struct rs_vma *vma)
{
	if (!(f->flags & PG_lru) || f->order)
		return false;
	if (folio_lru_type(f) == RS_ANON)
		return true;
	return !(f->flags & PG_dirty) && !(f->mapcount != 1 && (vma->flags & VM_EXEC));
}

/* After a hint fault. RS_PFN_NONE: it stays. */
pfn_t migrate_misplaced(struct rs_ctx *ctx, const struct rs_vma *vma, pfn_t pfn, uint8_t nid)
{
	struct lruvec *l = folio_lruvec(&ctx->m, pfn);
	bool slow = !node_is_toptier(ctx, ctx->m.folios[pfn].nid);
	pfn_t to;

	if (!may_migrate(&ctx->m.folios[pfn], vma))
		return RS_PFN_NONE;
	if (!has_room(ctx, nid)) {
		if (ctx->cfg.numa_balancing & NUMA_BALANCING_TIERING)
			wakeup_kswapd(ctx, nid, 0, RS_ZONE_NORMAL);
		return RS_PFN_NONE;
	}
	lru_del(ctx, pfn);
	ctx->m.folios[pfn].flags |= PG_isolated;
	ctx->m.node[ctx->m.folios[pfn].nid].nr_isolated[folio_lru_type(&ctx->m.folios[pfn])]++;
	to = migrate_folio(ctx, pfn, nid, RS_NOTE_MIGRATED);
	if (!to) {
		rs_putback(ctx, pfn);
		return RS_PFN_NONE;
	}
	ctx->m.vmstat[RS_NUMA_PAGES_MIGRATED]++;
	/* 6.1 counts a promotion whatever the mode is. */
	if (slow && node_is_toptier(ctx, nid) &&
	    (ctx->m.kernel < RS_KERNEL_6_12 || (ctx->cfg.numa_balancing & NUMA_BALANCING_TIERING)))
		lruvec_count(&ctx->m, l, RS_PGPROMOTE_SUCCESS, 1);
	return to;
}
