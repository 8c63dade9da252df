/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * services.c - what policy.h promises to policies and is not done elsewhere: views of the machine
 * and its counters.
 */
#include "sim/engine/engine.h"

/* ---- state ---- */

struct folio *rs_folios(struct rs_ctx *ctx)
{
	return ctx->m.folios;
}

void *rs_policy_priv(struct rs_ctx *ctx)
{
	return ctx->policy_priv;
}

void *rs_params(struct rs_ctx *ctx)
{
	return ctx->params;
}

void *rs_folio_priv(struct rs_ctx *ctx, pfn_t pfn)
{
	return (char *)ctx->folio_priv + (size_t)pfn * ctx->ops->folio_size;
}

const struct rs_tunables *rs_tunables(struct rs_ctx *ctx)
{
	return &ctx->tun;
}

ns_t rs_now(struct rs_ctx *ctx)
{
	return ctx->cur ? ctx->cur->now : ctx->now;
}

uint64_t rs_random(struct rs_ctx *ctx)
{
	return rs_rng_next(&ctx->policy_rng);
}

bool rs_task_is_kswapd(struct rs_ctx *ctx)
{
	return ctx->cur && ctx->cur->class == CLASS_KSWAPD;
}

void rs_flush_plug(struct rs_ctx *ctx)
{
	/* blk_finish_plug() does nothing inside the plug of swap read-ahead. */
	if (ctx->cur->plug == ctx->cur->shrink_plug)
		plug_flush(ctx);
}

void rs_warn(struct rs_ctx *ctx, const char *text)
{
	rs_result_warn(ctx->result, "%s", text);
}

bool rs_has_fatal_signal(struct rs_ctx *ctx)
{
	return ctx->cur && ctx->cur->killed;
}

bool rs_need_resched(struct rs_ctx *ctx)
{
	return ctx->cur && ctx->cur->now >= ctx->cur->limit;
}

/* ---- groups ---- */

struct rs_lruvec *rs_lruvec(struct rs_ctx *ctx, uint16_t memcg, uint8_t nid)
{
	return &lruvec_of(&ctx->m, memcg, nid)->pub;
}

struct rs_lruvec *rs_folio_lruvec(struct rs_ctx *ctx, pfn_t pfn)
{
	return &folio_lruvec(&ctx->m, pfn)->pub;
}

uint16_t rs_memcg_parent(struct rs_ctx *ctx, uint16_t memcg)
{
	return ctx->m.memcg[memcg].parent;
}

bool rs_memcg_exists(struct rs_ctx *ctx, uint16_t memcg)
{
	return memcg < ctx->m.nr_memcgs;
}

bool rs_memcg_online(struct rs_ctx *ctx, uint16_t memcg)
{
	return memcg < ctx->m.nr_memcgs && ctx->m.memcg[memcg].online;
}

uint16_t rs_memcg_next(struct rs_ctx *ctx, uint16_t root, uint16_t prev)
{
	return memcg_next(&ctx->m, root, prev);
}

bool rs_memcg_is_descendant(struct rs_ctx *ctx, uint16_t memcg, uint16_t root)
{
	return memcg_is_descendant(&ctx->m, memcg, root);
}

/* The target of a reclaim is never protected from it. Kernel: mem_cgroup_unprotected(). */
static bool unprotected(struct rs_ctx *ctx, uint16_t target, uint16_t memcg)
{
	return !memcg || memcg == target;
}

bool rs_memcg_below_min(struct rs_ctx *ctx, uint16_t target, uint16_t memcg)
{
	const struct memcg *g = &ctx->m.memcg[memcg];

	return !unprotected(ctx, target, memcg) && g->effective_min >= g->usage;
}

bool rs_memcg_below_low(struct rs_ctx *ctx, uint16_t target, uint16_t memcg)
{
	const struct memcg *g = &ctx->m.memcg[memcg];

	return !unprotected(ctx, target, memcg) && g->effective_low >= g->usage;
}

void rs_memcg_protection(struct rs_ctx *ctx, uint16_t target, uint16_t memcg, uint64_t *min,
			 uint64_t *low, uint64_t *usage)
{
	const struct memcg *g = &ctx->m.memcg[memcg];
	bool none = unprotected(ctx, target, memcg);

	*min = none ? 0 : g->effective_min;
	*low = none ? 0 : g->effective_low;
	*usage = g->usage;
}

uint64_t rs_memcg_swap_free(struct rs_ctx *ctx, uint16_t memcg)
{
	return memcg_swap_free(&ctx->m, memcg);
}

int rs_swappiness(struct rs_ctx *ctx, uint16_t memcg, const struct rs_scan *sc)
{
	if (sc && sc->proactive && sc->swappiness >= 0)
		return sc->swappiness;
	return ctx->m.memcg[memcg].swappiness >= 0 ? ctx->m.memcg[memcg].swappiness
						   : ctx->cfg.swappiness;
}

bool rs_swap_exists(struct rs_ctx *ctx)
{
	return ctx->cfg.swap != DEV_NONE;
}

/* ---- sizes and counters ---- */

void rs_lru_size_add(struct rs_ctx *ctx, struct rs_lruvec *l, enum rs_lru lru, enum rs_zone zone,
		     int64_t nr)
{
	lruvec_size_add(&ctx->m, (struct lruvec *)l, lru, zone, nr);
}

uint64_t rs_lru_size(struct rs_ctx *ctx, struct rs_lruvec *l, enum rs_lru lru, enum rs_zone highest)
{
	const struct lruvec *v = (const struct lruvec *)l;
	int64_t n = 0;

	for (unsigned z = 0; z <= highest && z < RS_NR_ZONES; z++)
		n += v->size[z][lru];
	return MAX(n, 0);
}

uint64_t rs_lru_size_flushed(struct rs_ctx *ctx, struct rs_lruvec *l, enum rs_lru lru)
{
	return MAX(((struct lruvec *)l)->lru_flushed[lru], 0);
}

void rs_count(struct rs_ctx *ctx, struct rs_lruvec *l, enum rs_event e, uint64_t nr)
{
	lruvec_count(&ctx->m, (struct lruvec *)l, e, nr);
}

/*
 * pgscan_*, pgsteal_* and pgrefill of reclaim at a limit are left out of /proc/vmstat before 7.2.
 * Kernel: mm/vmscan.c, __count_vm_events() under !cgroup_reclaim(sc).
 */
void rs_count_reclaim(struct rs_ctx *ctx, struct rs_lruvec *l, const struct rs_scan *sc,
		      enum rs_event e, uint64_t nr)
{
	uint64_t vmstat = ctx->m.vmstat[e];

	lruvec_count(&ctx->m, (struct lruvec *)l, e, nr);
	if (sc->cgroup_reclaim && ctx->m.kernel < RS_KERNEL_7_2)
		ctx->m.vmstat[e] = vmstat;
}

uint64_t rs_event_flushed(struct rs_ctx *ctx, struct rs_lruvec *l, enum rs_event e)
{
	return ((struct lruvec *)l)->event_flushed[e];
}

void rs_count_own(struct rs_ctx *ctx, unsigned counter, uint64_t nr)
{
	ctx->own_counter[counter] += nr;
}

/*
 * 6.1: flushed when enough is pending, in practice always fresh. 6.12 and newer: only when the
 * worker is two periods late. Kernel: mem_cgroup_flush_stats(), _ratelimited().
 */
void rs_flush_stats_ratelimited(struct rs_ctx *ctx)
{
	ns_t late = ctx->last_flush + 2 * ctx->cfg.stat_flush_period_ns;

	if (ctx->m.kernel < RS_KERNEL_6_12 ? ctx->m.stat_threshold > ctx->nr_cpus
					   : rs_now(ctx) > late) {
		memcg_flush_stats(&ctx->m);
		ctx->last_flush = rs_now(ctx);
	}
}

/* ---- zones ---- */

uint64_t rs_zone_managed(struct rs_ctx *ctx, uint8_t nid, enum rs_zone z)
{
	return ctx->m.node[nid].zone[z].managed;
}

uint64_t rs_zone_free(struct rs_ctx *ctx, uint8_t nid, enum rs_zone z)
{
	return ctx->m.node[nid].zone[z].free;
}

uint64_t rs_zone_wmark(struct rs_ctx *ctx, uint8_t nid, enum rs_zone z, enum rs_wmark w)
{
	return ctx->m.node[nid].zone[z].wmark[w];
}

bool rs_zone_watermark_ok(struct rs_ctx *ctx, uint8_t nid, enum rs_zone z, unsigned order,
			  uint64_t mark, enum rs_zone highest)
{
	return zone_watermark_ok(&ctx->m, nid, z, order, mark, highest);
}

/* ---- page tables ---- */

struct rs_mm *rs_mm(struct rs_ctx *ctx, uint32_t id)
{
	return id < ctx->m.nr_mms && ctx->m.mm[id] ? &ctx->m.mm[id]->pub : NULL;
}

uint32_t rs_mm_table(struct rs_ctx *ctx, struct rs_mm *mm, uint64_t vpn)
{
	return mm_table(&ctx->m, (struct mm *)mm, vpn);
}

uint32_t *rs_ptes(struct rs_ctx *ctx, uint32_t table)
{
	return table_ptes(&ctx->m, table);
}

uint8_t *rs_pmd(struct rs_ctx *ctx, uint32_t table)
{
	return &ctx->m.pmd[table];
}

pfn_t rs_pfn_head(struct rs_ctx *ctx, pfn_t pfn)
{
	return ctx->m.folios[pfn].flags & PG_tail ? ctx->m.folios[pfn].object : pfn;
}

/* Kernel: vma_has_recency(); 6.1 has only the two VMA flags. */
bool rs_vma_has_recency(struct rs_ctx *ctx, const struct rs_vma *vma)
{
	if (vma->flags & (VM_SEQ_READ | VM_RAND_READ))
		return false;
	if (ctx->m.kernel < RS_KERNEL_6_12 || (vma->flags & VM_ANON))
		return true;
	return file_handle(&ctx->m.file[vma->object], vma->handle)->advice != RS_ADV_NOREUSE;
}

void rs_folio_mark_dirty(struct rs_ctx *ctx, pfn_t pfn)
{
	folio_mark_dirty(ctx, pfn);
}

void rs_wakeup_flusher(struct rs_ctx *ctx)
{
	wakeup_flusher(ctx);
}

/* Shadow nodes are part of the page cache's index and not modelled as memory of their own. */
void rs_shrink_slab(struct rs_ctx *ctx, struct rs_lruvec *l, struct rs_scan *sc)
{
}
