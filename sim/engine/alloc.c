/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * alloc.c - page allocation: watermarks, waking kswapd, direct reclaim, the machine's OOM.
 * Kernel: mm/page_alloc.c get_page_from_freelist(), __alloc_pages_slowpath().
 * Differs: no per-CPU page lists, no compaction: a huge page that is not there is not waited for.
 */
#include "sim/engine/psi.h"

#define MAX_RECLAIM_RETRIES 16
#define PAGE_ALLOC_COSTLY_ORDER 3

enum mark { MARK_LOW, MARK_MIN, MARK_NONE };

/* Kernel: zone_statistics(): one event an allocation, whatever its order. */
static void count_numa(struct rs_ctx *ctx, uint8_t got, uint8_t wanted)
{
	if (got == wanted) {
		numa_count(ctx, got, NUMASTAT_HIT);
	} else {
		numa_count(ctx, got, NUMASTAT_MISS);
		numa_count(ctx, wanted, NUMASTAT_FOREIGN);
	}
	numa_count(ctx, got, got == numa_node_id(ctx) ? NUMASTAT_LOCAL : NUMASTAT_OTHER);
}

static void count_alloc(struct rs_ctx *ctx, pfn_t pfn, uint8_t wanted)
{
	static const enum rs_event by_zone[] = { RS_PGALLOC_DMA, RS_PGALLOC_DMA32,
						 RS_PGALLOC_NORMAL };
	const struct folio *f = &ctx->m.folios[pfn];

	ctx->m.vmstat[by_zone[f->zone]] += folio_nr_pages(f);
	count_numa(ctx, f->nid, wanted);
	numa_stamp_reset(ctx, pfn);
}

static pfn_t from_freelist(struct rs_ctx *ctx, unsigned order, uint8_t nid, uint32_t nodes,
			   enum mark mark)
{
	struct machine *m = &ctx->m;

	for (unsigned i = 0; i < m->node[nid].nr_fallback; i++) {
		uint8_t n = m->node[nid].fallback[i];

		if (!(nodes & 1u << n))
			continue;
		for (unsigned z = RS_NR_ZONES; z-- > 0;) {
			const struct zone *zone = &m->node[n].zone[z];
			uint64_t limit = mark == MARK_LOW ? zone->wmark[RS_WMARK_LOW]
							  : zone->wmark[RS_WMARK_MIN];
			pfn_t pfn;

			if (!zone->managed)
				continue;
			if (mark != MARK_NONE &&
			    !zone_watermark_ok(m, n, z, order, limit, RS_ZONE_NORMAL))
				continue;
			pfn = zone_alloc(m, n, z, order);
			if (pfn) {
				count_alloc(ctx, pfn, nid);
				return pfn;
			}
		}
	}
	return RS_PFN_NONE;
}

static void wake_all_kswapds(struct rs_ctx *ctx, uint32_t nodes, unsigned order)
{
	for (uint32_t n = 0; n < ctx->m.nr_nodes; n++)
		if (nodes & 1u << n)
			wakeup_kswapd(ctx, n, order, RS_ZONE_NORMAL);
}

/* Kernel: should_reclaim_retry(): could the watermark be met if everything went? */
static bool worth_retrying(struct rs_ctx *ctx, uint32_t nodes, unsigned order)
{
	for (uint32_t n = 0; n < ctx->m.nr_nodes; n++) {
		if (!(nodes & 1u << n))
			continue;
		for (unsigned z = 0; z < RS_NR_ZONES; z++) {
			const struct zone *zone = &ctx->m.node[n].zone[z];

			if (zone->managed && zone->free + zone_reclaimable(&ctx->m, zone) >
						     zone->wmark[RS_WMARK_MIN] +
							     zone->lowmem_reserve[RS_ZONE_NORMAL])
				return true;
		}
	}
	return false;
}

/* Kernel: __alloc_pages_direct_reclaim(): reclaim, look, drain all CPUs once, look again. */
static pfn_t direct_reclaim(struct rs_ctx *ctx, unsigned order, uint8_t nid, uint32_t nodes,
			    uint64_t *progress)
{
	bool was_inside = psi_memstall_enter(ctx);
	pfn_t pfn;

	*progress = try_to_free_pages(ctx, nid, order, RS_ZONE_NORMAL);
	pfn = from_freelist(ctx, order, nid, nodes, MARK_MIN);
	if (!pfn) {
		for (uint32_t i = 0; i < ctx->nr_cpus; i++)
			lru_add_drain_cpu(ctx, &ctx->cpus[i]);
		pfn = from_freelist(ctx, order, nid, nodes, MARK_MIN);
	}
	psi_memstall_leave(ctx, was_inside);
	return pfn;
}

static pfn_t reclaim_until_there(struct rs_ctx *ctx, unsigned order, uint8_t nid, uint32_t nodes,
				 bool *stalled)
{
	int no_progress = 0;

	wake_all_kswapds(ctx, nodes, order);
	for (;;) {
		pfn_t pfn = from_freelist(ctx, order, nid, nodes, MARK_MIN);
		uint64_t progress;

		if (pfn)
			return pfn;
		if (ctx->cur->memalloc || ctx->cur->killed)
			return from_freelist(ctx, order, nid, nodes, MARK_NONE);
		if (order > PAGE_ALLOC_COSTLY_ORDER)
			return RS_PFN_NONE;
		*stalled = true;
		pfn = direct_reclaim(ctx, order, nid, nodes, &progress);
		if (pfn)
			return pfn;
		no_progress = progress ? 0 : no_progress + 1;
		if (no_progress <= MAX_RECLAIM_RETRIES && worth_retrying(ctx, nodes, order)) {
			wake_all_kswapds(ctx, nodes, order);
			continue;
		}
		if (!oom_kill(ctx, 0))
			return RS_PFN_NONE;
		no_progress = 0;
	}
}

static pfn_t slow_path(struct rs_ctx *ctx, unsigned order, uint8_t nid, uint32_t nodes)
{
	ns_t from = ctx->cur->now;
	bool stalled = false;
	pfn_t pfn = reclaim_until_there(ctx, order, nid, nodes, &stalled);

	if (stalled)
		note_latency(ctx, RS_LATENCY_ALLOC_STALL, from);
	return pfn;
}

static pfn_t alloc_on(struct rs_ctx *ctx, unsigned order, uint8_t nid, uint32_t nodes)
{
	pfn_t pfn;

	charge(ctx, RS_COST_PAGE_ALLOC, 1);
	pfn = from_freelist(ctx, order, nid, nodes, MARK_LOW);
	return pfn ? pfn : slow_path(ctx, order, nid, nodes);
}

/*
 * For migration: one frame of that node, without reclaim. RS_PFN_NONE: it is down to its minimum.
 * Kernel: alloc_migrate_folio() with GFP_NOWAIT, alloc_misplaced_dst_folio().
 */
pfn_t alloc_on_node(struct rs_ctx *ctx, uint8_t nid, bool wake)
{
	pfn_t pfn = from_freelist(ctx, 0, nid, 1u << nid, MARK_LOW);

	if (pfn)
		return pfn;
	if (wake)
		wakeup_kswapd(ctx, nid, 0, RS_ZONE_NORMAL);
	return from_freelist(ctx, 0, nid, 1u << nid, MARK_MIN);
}

/* The nearest of the nodes: where the zonelist of the local one begins under their mask. */
static uint8_t nearest_node(struct rs_ctx *ctx, uint8_t from, uint32_t nodes)
{
	const struct node *n = &ctx->m.node[from];
	unsigned i = 0;

	while (!(nodes & 1u << n->fallback[i]))
		i++;
	return n->fallback[i];
}

/* Kernel: mm/mempolicy.c interleave_nid(): by page offset in the VMA. */
static uint8_t interleave_node(const struct rs_vma *vma, uint64_t vpn, uint32_t nodes)
{
	uint64_t nth = (vma->pgoff + vpn - vma->start) % (unsigned)__builtin_popcount(nodes);
	uint8_t nid = 0;

	while (!(nodes & 1u << nid) || nth--)
		nid++;
	return nid;
}

pfn_t alloc_folio(struct rs_ctx *ctx, unsigned order, const struct rs_vma *vma, uint64_t vpn)
{
	uint32_t all = (1u << ctx->m.nr_nodes) - 1, nodes;
	uint8_t nid = numa_node_id(ctx);
	pfn_t pfn;

	if (!vma || !vma->policy)
		return alloc_on(ctx, order, nid, all);
	nodes = vma->policy_nodes & all ? vma->policy_nodes & all : all;
	switch (vma->policy) {
	case RS_MPOL_INTERLEAVE:
		nid = interleave_node(vma, vpn, nodes);
		pfn = alloc_on(ctx, order, nid, all);
		if (pfn && ctx->m.folios[pfn].nid == nid)
			numa_count(ctx, nid, NUMASTAT_INTERLEAVE);
		return pfn;
	case RS_MPOL_PREFERRED:
		return alloc_on(ctx, order, __builtin_ctz(nodes), all);
	default:
		return alloc_on(ctx, order, nearest_node(ctx, nid, nodes), nodes);
	}
}
