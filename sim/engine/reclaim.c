/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * reclaim.c - direct reclaim and reclaim at a group's limit: priorities, nodes, groups, stop
 * conditions, throttling. Kernel: mm/vmscan.c do_try_to_free_pages(), shrink_node().
 */
#include "sim/engine/observe.h"
#include "sim/engine/timeline.h"

#include <string.h>

#define HZ_NS 1000000000ull

#ifdef RS_DEBUG_VM
static void check_now(struct rs_ctx *ctx)
{
	g_autoptr(GString) why = g_string_new(NULL);
	bool ok = machine_check(&ctx->m, why);

	for (uint32_t i = 0; ok && ctx->ops->check && i < ctx->m.nr_memcgs * ctx->m.nr_nodes; i++)
		ok = ctx->ops->check(ctx, &ctx->m.lruvec[i]->pub, why);
	if (!ok)
		g_error("invariant broken at %" G_GUINT64_FORMAT " ns: %s", ctx->cur->now,
			why->str);
}
#endif

/* Debug builds: the whole machine after every reclaim. */
void reclaim_check(struct rs_ctx *ctx)
{
#ifdef RS_DEBUG_VM
	/* A check looks at every frame: on a big machine not every reclaim is followed by one. */
	static const uint64_t full = 16384;
	uint64_t every = 1 + ctx->m.nr_frames / full * 8;

	if (ctx->nr_reclaims++ % every)
		return;
	check_now(ctx);
#endif
}

/* ---- groups below the target ---- */

/* One group of one node; the plug holds its swap writes back until it ends. */
static void shrink_memcg(struct rs_ctx *ctx, uint16_t memcg, uint8_t nid, struct rs_scan *sc)
{
	struct plug plug;

	plug_start(ctx, &plug);
	ctx->cur->shrink_plug = &plug;
	ctx->ops->shrink_lruvec(ctx, &lruvec_of(&ctx->m, memcg, nid)->pub, sc);
	ctx->cur->shrink_plug = NULL;
	plug_finish(ctx, &plug);
	task_checkpoint(ctx);
}

/* Kernel: mem_cgroup_below_min(), mem_cgroup_below_low() in shrink_node_memcgs(). */
static bool protected(struct rs_ctx *ctx, uint16_t memcg, struct rs_scan *sc)
{
	if (rs_memcg_below_min(ctx, sc->target_memcg, memcg))
		return true;
	if (rs_memcg_below_low(ctx, sc->target_memcg, memcg) && !sc->memcg_low_reclaim) {
		sc->memcg_low_skipped = true;
		return true;
	}
	return false;
}

/*
 * 6.12: direct and limit reclaim share an iterator per (target, node) and stop when they have
 * enough; kswapd and the full walk visit all. 6.1 always visits all.
 */
static void shrink_node_memcgs(struct rs_ctx *ctx, uint8_t nid, struct rs_scan *sc)
{
	struct machine *m = &ctx->m;
	struct memcg *target = &m->memcg[sc->target_memcg];
	bool partial = m->kernel >= RS_KERNEL_6_12 && !sc->kswapd && !sc->memcg_full_walk;
	uint16_t start = partial ? memcg_next(m, sc->target_memcg, target->reclaim_iter[nid])
				 : sc->target_memcg;
	uint16_t memcg = start == RS_MEMCG_NONE ? sc->target_memcg : start;

	memcg_update_protection(m, sc->target_memcg);
	start = memcg;
	do {
		if (!protected(ctx, memcg, sc))
			shrink_memcg(ctx, memcg, nid, sc);
		if (partial) {
			target->reclaim_iter[nid] = memcg;
			if (sc->nr_reclaimed >= sc->nr_to_reclaim)
				return;
		}
		memcg = memcg_next(m, sc->target_memcg, memcg);
		if (memcg == RS_MEMCG_NONE)
			memcg = sc->target_memcg;
	} while (memcg != start && !ctx->error);
	target->reclaim_iter[nid] = RS_MEMCG_NONE;
}

/* ---- one node ---- */

/* What the dirty and writeback pages met mean for the next time. */
static void writeback_feedback(struct rs_ctx *ctx, uint8_t nid, struct rs_scan *sc)
{
	struct lruvec *target = lruvec_of(&ctx->m, sc->target_memcg, nid);

	if (sc->kswapd) {
		if (sc->nr.writeback && sc->nr.writeback == sc->nr.taken)
			ctx->pgdat[nid].wb_flag = true;
		if (sc->nr.unqueued_dirty == sc->nr.file_taken) /* 0 == 0 included, as there */
			ctx->pgdat[nid].dirty_flag = true;
		if (sc->nr.immediate)
			rs_throttle(ctx, nid, "writeback");
	}
	if ((sc->kswapd || sc->cgroup_reclaim) && sc->nr.dirty && sc->nr.dirty == sc->nr.congested)
		target->congested = true;
	if (!sc->kswapd && target->congested)
		rs_throttle(ctx, nid, "congested");
}

static void end_shrink(struct rs_ctx *ctx, uint8_t nid, const struct rs_scan *sc, uint64_t before)
{
	if (sc->nr_reclaimed > before)
		ctx->pgdat[nid].failures = 0;
	reclaim_check(ctx);
	span_end(ctx, "reclaimed", sc->nr_reclaimed - before);
	if (TIMELINE(ctx))
		timeline_counters(ctx, ctx->cur->now);
}

void shrink_node(struct rs_ctx *ctx, uint8_t nid, struct rs_scan *sc)
{
	uint64_t before = sc->nr_reclaimed;

	span_begin(ctx, "reclaim", "shrink node");
	memset(&sc->nr, 0, sizeof(sc->nr));
	if (!sc->target_memcg && ctx->ops->shrink_root) {
		struct plug plug;
		bool done;

		plug_start(ctx, &plug);
		done = ctx->ops->shrink_root(ctx, nid, sc);
		plug_finish(ctx, &plug);
		if (done) {
			end_shrink(ctx, nid, sc, before);
			return;
		}
	}
	if (ctx->ops->prepare)
		ctx->ops->prepare(ctx, nid, sc);
	shrink_node_memcgs(ctx, nid, sc);
	writeback_feedback(ctx, nid, sc);
	end_shrink(ctx, nid, sc, before);
}

/* ---- all nodes ---- */

/* Kernel: consider_reclaim_throttle(). */
static void consider_throttle(struct rs_ctx *ctx, uint8_t nid, struct rs_scan *sc)
{
	if (sc->nr_reclaimed > sc->nr_scanned >> 3)
		return; /* others that wait for progress are woken by their timer */
	if (sc->kswapd || sc->cgroup_reclaim)
		return;
	if (sc->priority == 1 && !sc->nr_reclaimed)
		rs_throttle(ctx, nid, "noprogress");
}

static void shrink_zones(struct rs_ctx *ctx, uint8_t local, struct rs_scan *sc)
{
	for (unsigned i = 0; i < ctx->m.node[local].nr_fallback; i++) {
		uint8_t nid = ctx->m.node[local].fallback[i];

		if (!ctx->m.node[nid].zone[RS_ZONE_DMA].managed &&
		    !ctx->m.node[nid].zone[RS_ZONE_DMA32].managed &&
		    !ctx->m.node[nid].zone[RS_ZONE_NORMAL].managed)
			continue;
		shrink_node(ctx, nid, sc);
	}
	consider_throttle(ctx, local, sc);
}

static void snapshot_refaults(struct rs_ctx *ctx, struct rs_scan *sc)
{
	for (uint32_t n = 0; n < ctx->m.nr_nodes; n++) {
		struct lruvec *l = lruvec_of(&ctx->m, sc->target_memcg, n);

		if (ctx->ops->snapshot)
			ctx->ops->snapshot(ctx, &l->pub);
		if (sc->cgroup_reclaim)
			l->congested = false;
	}
}

static uint64_t do_try_to_free_pages(struct rs_ctx *ctx, uint8_t nid, struct rs_scan *sc)
{
	for (;;) {
		sc->priority = RS_DEF_PRIORITY;
		if (!sc->cgroup_reclaim)
			ctx->m.vmstat[RS_ALLOCSTALL_MOVABLE]++;
		do {
			sc->nr_scanned = 0;
			shrink_zones(ctx, nid, sc);
			if (sc->nr_reclaimed >= sc->nr_to_reclaim || ctx->error)
				break;
			if (sc->priority < RS_DEF_PRIORITY - 2)
				sc->may_writepage = true;
		} while (--sc->priority >= 0);
		snapshot_refaults(ctx, sc);
		if (sc->nr_reclaimed || ctx->error)
			return sc->nr_reclaimed;
		if (ctx->m.kernel >= RS_KERNEL_6_12 && !sc->memcg_full_walk) {
			sc->memcg_full_walk = true;
		} else if (sc->skipped_deactivate) {
			sc->force_deactivate = true;
			sc->skipped_deactivate = false;
		} else if (sc->memcg_low_skipped) {
			sc->force_deactivate = false;
			sc->memcg_low_reclaim = true;
			sc->memcg_low_skipped = false;
		} else {
			return 0;
		}
	}
}

static uint64_t run(struct rs_ctx *ctx, uint8_t nid, struct rs_scan *sc)
{
	struct task *t = ctx->cur;
	bool was = t->memalloc;
	ns_t from = t->now;
	uint64_t freed;

	if (OBSERVED(ctx))
		trace_reclaim_begin(ctx, sc);
	span_begin(ctx, "reclaim",
		   sc->proactive	? "proactive reclaim"
		   : sc->cgroup_reclaim ? "memcg reclaim"
					: "direct reclaim");
	t->memalloc = true;
	freed = do_try_to_free_pages(ctx, nid, sc);
	t->memalloc = was;
	if (OBSERVED(ctx))
		trace_reclaim_end(ctx, sc, freed);
	t->reclaim_ns += t->now - from;
	ctx->reclaim_ns += t->now - from;
	span_end(ctx, "reclaimed", freed);
	if (!sc->proactive)
		note_latency(ctx,
			     sc->cgroup_reclaim ? RS_LATENCY_MEMCG_RECLAIM
						: RS_LATENCY_DIRECT_RECLAIM,
			     from);
	return freed;
}

/* ---- throttling ---- */

/* Kernel: allow_direct_reclaim(): is kswapd keeping up? */
bool allow_direct_reclaim(struct rs_ctx *ctx, uint8_t nid)
{
	uint64_t free = 0, min = 0;

	if (ctx->pgdat[nid].failures >= 16)
		return true;
	for (unsigned z = 0; z < RS_NR_ZONES; z++) {
		const struct zone *zone = &ctx->m.node[nid].zone[z];

		if (!zone->managed || !zone_reclaimable(&ctx->m, zone))
			continue;
		min += zone->wmark[RS_WMARK_MIN];
		free += zone->free;
	}
	if (!min || free > min / 2)
		return true;
	wakeup_kswapd(ctx, nid, 0, RS_ZONE_NORMAL);
	return false;
}

/* Kernel: throttle_direct_reclaim(). Direct reclaimers wait until kswapd has got somewhere. */
static void throttle_direct_reclaim(struct rs_ctx *ctx, uint8_t nid)
{
	if (allow_direct_reclaim(ctx, nid))
		return;
	ctx->m.vmstat[RS_PGSCAN_DIRECT_THROTTLE]++;
	while (!allow_direct_reclaim(ctx, nid) && !ctx->cur->killed) {
		ctx->cur->killable = true;
		g_queue_push_tail(&ctx->throttled, ctx->cur);
		task_wait(ctx, WAIT_THROTTLE, "kswapd (pfmemalloc_wait)");
		g_queue_remove(&ctx->throttled, ctx->cur);
		ctx->cur->killable = false;
	}
}

void wake_throttled(struct rs_ctx *ctx)
{
	for (GList *l = ctx->throttled.head; l; l = l->next)
		task_wake(ctx, l->data, ctx->cur->now);
}

/* Kernel: skip_throttle_noprogress(). */
static bool skip_throttle(struct rs_ctx *ctx, uint8_t nid)
{
	uint64_t reclaimable = 0;

	if (ctx->pgdat[nid].failures >= 16)
		return true;
	for (unsigned z = 0; z < RS_NR_ZONES; z++)
		reclaimable += zone_reclaimable(&ctx->m, &ctx->m.node[nid].zone[z]);
	return 2 * (ctx->m.nr_dirty + ctx->m.nr_writeback) <= reclaimable;
}

/* Kernel: reclaim_throttle(). Differs: waits its time, early wake-ups are not modelled. */
void rs_throttle(struct rs_ctx *ctx, uint8_t nid, const char *reason)
{
	ns_t ns = HZ_NS / 50;

	if (!g_strcmp0(reason, "writeback"))
		ns = HZ_NS / 10;
	else if (!g_strcmp0(reason, "congested") || !g_strcmp0(reason, "noprogress"))
		ns = skip_throttle(ctx, nid) ? 0 : HZ_NS / 250;
	if (ns)
		task_sleep(ctx, ns, WAIT_THROTTLE, reason);
	if (ns && OBSERVED(ctx))
		trace_throttled(ctx, nid, ns, reason);
}

/* ---- entries ---- */

uint64_t try_to_free_pages(struct rs_ctx *ctx, uint8_t nid, unsigned order, enum rs_zone highest)
{
	struct rs_scan sc = { .nr_to_reclaim = RS_SWAP_CLUSTER_MAX,
			      .order = order,
			      .reclaim_idx = highest,
			      .gfp_io = true,
			      .gfp_fs = true,
			      .may_writepage = true,
			      .may_unmap = true,
			      .may_swap = true,
			      .swappiness = -1 };

	throttle_direct_reclaim(ctx, nid);
	if (ctx->cur->killed)
		return 1; /* the victim takes from the reserves instead */
	return run(ctx, nid, &sc);
}

uint64_t try_to_free_mem_cgroup_pages(struct rs_ctx *ctx, uint16_t memcg, uint64_t nr,
				      bool may_swap, bool proactive)
{
	struct rs_scan sc = { .nr_to_reclaim = MAX(nr, RS_SWAP_CLUSTER_MAX),
			      .target_memcg = memcg,
			      .cgroup_reclaim = memcg != 0,
			      .proactive = proactive,
			      .reclaim_idx = RS_NR_ZONES - 1,
			      .gfp_io = true,
			      .gfp_fs = true,
			      .may_writepage = true,
			      .may_unmap = true,
			      .may_swap = may_swap,
			      .swappiness = -1 };

	return run(ctx, ctx->cur->nid, &sc);
}

/* Kernel: reclaim_pages() for MADV_PAGEOUT: these folios, whoever referenced them. */
uint32_t reclaim_folio_list(struct rs_ctx *ctx, struct rs_isolated *list)
{
	struct rs_scan sc = { .nr_to_reclaim = list->n,
			      .reclaim_idx = RS_NR_ZONES - 1,
			      .gfp_io = true,
			      .gfp_fs = true,
			      .may_writepage = true,
			      .may_unmap = true,
			      .may_swap = true,
			      .no_demotion = true,
			      .swappiness = -1 };
	struct rs_reclaim_stat stat = { 0 };
	uint32_t freed;

	if (!list->n)
		return 0;
	freed = rs_shrink_folios(ctx, ctx->m.folios[list->pfn[0]].nid, list, &sc, &stat, true);
	for (uint32_t i = 0; i < list->n; i++) {
		ctx->m.folios[list->pfn[i]].flags &= ~(uint32_t)PG_active;
		rs_putback(ctx, list->pfn[i]);
	}
	return freed;
}
