/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kswapd.c - background reclaim, one thread a node: woken below the low watermark, works until the
 * high one. Kernel: mm/vmscan.c kswapd(), balance_pgdat(), kswapd_try_to_sleep().
 * Differs: no watermark boost and no compaction.
 */
#include "sim/engine/observe.h"
#include "sim/engine/psi.h"
#include "sim/engine/timeline.h"

#define NAP_NS 100000000u /* HZ / 10 */
#define MAX_FAILURES 16

static bool pgdat_balanced(struct rs_ctx *ctx, uint8_t nid, unsigned order, enum rs_zone highest)
{
	bool any = false;

	for (unsigned z = 0; z <= highest; z++) {
		const struct zone *zone = &ctx->m.node[nid].zone[z];
		enum rs_wmark mark = ctx->tun.memory_tiering ? RS_WMARK_PROMO : RS_WMARK_HIGH;

		if (!zone->managed)
			continue;
		any = true;
		if (zone_watermark_ok(&ctx->m, nid, z, order, zone->wmark[mark], highest))
			return true;
	}
	return !any;
}

bool wakeup_kswapd(struct rs_ctx *ctx, uint8_t nid, unsigned order, enum rs_zone highest)
{
	struct task *k = ctx->kswapd[nid];

	ctx->pgdat[nid].order = MAX(ctx->pgdat[nid].order, (int)order);
	ctx->pgdat[nid].highest_zoneidx = MAX(ctx->pgdat[nid].highest_zoneidx, (int)highest);
	if (k->state != TASK_WAITING || !ctx->pgdat[nid].asleep)
		return false;
	if (ctx->pgdat[nid].failures >= MAX_FAILURES || pgdat_balanced(ctx, nid, order, highest))
		return false;
	ctx->pgdat[nid].wakeups++;
	if (OBSERVED(ctx))
		observe_event(ctx, "mm_vmscan_wakeup_kswapd",
			      "nid=%d order=%u gfp_flags=GFP_HIGHUSER_MOVABLE", nid, order);
	task_wake(ctx, k, ctx->cur->now);
	return true;
}

static uint64_t pages_to_reclaim(struct rs_ctx *ctx, uint8_t nid, enum rs_zone highest)
{
	uint64_t n = 0;

	for (unsigned z = 0; z <= highest; z++)
		if (ctx->m.node[nid].zone[z].managed)
			n += MAX(ctx->m.node[nid].zone[z].wmark[RS_WMARK_HIGH],
				 RS_SWAP_CLUSTER_MAX);
	return n;
}

/* One pass of a run. Returns pages reclaimed in it; raise tells whether the priority goes up. */
static uint64_t one_pass(struct rs_ctx *ctx, uint8_t nid, struct rs_scan *sc, bool *raise)
{
	uint64_t before = sc->nr_reclaimed, pass;

	if (ctx->ops->age_node) {
		memcg_update_protection(&ctx->m, 0);
		ctx->ops->age_node(ctx, nid, sc);
	}
	if (sc->want_oom) {
		sc->want_oom = false;
		oom_kill(ctx, 0);
	}
	sc->nr_scanned = 0;
	sc->nr_to_reclaim = pages_to_reclaim(ctx, nid, sc->reclaim_idx);
	shrink_node(ctx, nid, sc);
	if (sc->order && sc->nr_reclaimed >= 2ull << sc->order)
		sc->order = 0;
	pass = sc->nr_reclaimed - before;
	if (MAX(sc->nr_scanned, ctx->m.kernel >= RS_KERNEL_6_12 ? pass : 0) >= sc->nr_to_reclaim)
		*raise = false;
	return pass;
}

/*
 * Passes from the lowest priority up, until the node is balanced (true) or the priorities are used
 * up. Kernel: the loop of balance_pgdat().
 */
static bool all_priorities(struct rs_ctx *ctx, uint8_t nid, enum rs_zone highest,
			   struct rs_scan *sc)
{
	for (sc->priority = RS_DEF_PRIORITY; sc->priority >= 1 && !ctx->error;) {
		bool raise = true;
		uint64_t pass;

		if (pgdat_balanced(ctx, nid, sc->order, highest))
			return true;
		pass = one_pass(ctx, nid, sc, &raise);
		if (allow_direct_reclaim(ctx, nid))
			wake_throttled(ctx);
		if (raise || !pass)
			sc->priority--;
	}
	return false;
}

/* Kernel: balance_pgdat(). */
static void balance(struct rs_ctx *ctx, uint8_t nid, unsigned order, enum rs_zone highest)
{
	struct rs_scan sc = { .order = order,
			      .reclaim_idx = highest,
			      .kswapd = true,
			      .gfp_io = true,
			      .gfp_fs = true,
			      .may_unmap = true,
			      .may_swap = true,
			      .may_writepage = true,
			      .swappiness = -1 };
	bool balanced, was_inside = psi_memstall_enter(ctx);

	ctx->m.vmstat[RS_PAGEOUTRUN]++;
	balanced = all_priorities(ctx, nid, highest, &sc);
	if (!balanced && !sc.nr_reclaimed && sc.cache_trim_mode_failed && !sc.no_cache_trim_mode) {
		sc.no_cache_trim_mode = true;
		balanced = all_priorities(ctx, nid, highest, &sc);
	}
	if (!balanced && !sc.nr_reclaimed)
		ctx->pgdat[nid].failures++;
	if (ctx->ops->snapshot)
		ctx->ops->snapshot(ctx, &lruvec_of(&ctx->m, 0, nid)->pub);
	psi_memstall_leave(ctx, was_inside);
}

/* Kernel: prepare_kswapd_sleep(). */
static bool may_sleep(struct rs_ctx *ctx, uint8_t nid, unsigned order, enum rs_zone highest)
{
	wake_throttled(ctx);
	if (ctx->pgdat[nid].failures >= MAX_FAILURES)
		return true;
	if (!pgdat_balanced(ctx, nid, order, highest))
		return false;
	ctx->pgdat[nid].wb_flag = ctx->pgdat[nid].dirty_flag = false;
	lruvec_of(&ctx->m, 0, nid)->congested = false;
	return true;
}

/* A nap first, to see whether the node stays balanced. Kernel: kswapd_try_to_sleep(). */
static void try_to_sleep(struct rs_ctx *ctx, uint8_t nid, unsigned order, enum rs_zone highest)
{
	bool early = false;

	if (may_sleep(ctx, nid, order, highest)) {
		ns_t from = ctx->cur->now;

		ctx->pgdat[nid].asleep = true;
		task_sleep(ctx, NAP_NS, WAIT_SLEEP, "kswapd's nap");
		ctx->pgdat[nid].asleep = false;
		early = ctx->cur->ready_at < from + NAP_NS;
	}
	if (!early && may_sleep(ctx, nid, order, highest)) {
		if (OBSERVED(ctx))
			observe_event(ctx, "mm_vmscan_kswapd_sleep", "nid=%d", nid);
		ctx->pgdat[nid].asleep = true;
		task_wait(ctx, WAIT_SLEEP, "work for kswapd");
		ctx->pgdat[nid].asleep = false;
		return;
	}
	ctx->m.vmstat[early ? RS_KSWAPD_LOW_WMARK_HIT_QUICKLY : RS_KSWAPD_HIGH_WMARK_HIT_QUICKLY]++;
}

/* Kernel: kswapd(). It has slept for long when the trace begins. */
void kswapd_main(struct task *t)
{
	struct rs_ctx *ctx = t->ctx;
	uint8_t nid = t->nid;
	unsigned order;
	enum rs_zone highest;

	t->memalloc = true;
	ctx->pgdat[nid].asleep = true;
	task_wait(ctx, WAIT_SLEEP, "work for kswapd");
	ctx->pgdat[nid].asleep = false;
	for (;;) {
		ns_t from;

		/* Those who wake it from now on ask for another run. */
		order = ctx->pgdat[nid].order;
		highest = ctx->pgdat[nid].highest_zoneidx ? ctx->pgdat[nid].highest_zoneidx
							  : RS_NR_ZONES - 1;
		ctx->pgdat[nid].order = 0;
		ctx->pgdat[nid].highest_zoneidx = 0;
		from = t->now;
		if (OBSERVED(ctx))
			observe_event(ctx, "mm_vmscan_kswapd_wake", "nid=%d order=%u", nid, order);
		span_begin(ctx, "reclaim", "balance node");
		balance(ctx, nid, order, highest);
		span_end(ctx, NULL, 0);
		t->reclaim_ns += t->now - from;
		ctx->reclaim_ns += t->now - from;
		task_checkpoint(ctx);
		try_to_sleep(ctx, nid, 0, highest);
	}
}
