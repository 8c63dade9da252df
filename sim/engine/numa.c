/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * numa.c - what it means that memory lies on several nodes: the time of an access by distance, and
 * the events of numastat.
 *
 * An access to another node takes cost.remote_access longer for every 10 by which its distance is
 * above 10, the local one: firmware's distances are relative latencies (ACPI, SLIT). The default
 * is what the authors of TPP (ASPLOS 2023) give for the other socket: 180 ns after 100 ns. A page
 * copied by read() or write() is one access: the processor prefetches the rest.
 */
#include "sim/engine/engine.h"

#define LOCAL_DISTANCE 10u

void numa_init(struct rs_ctx *ctx)
{
	for (uint32_t from = 0; from < ctx->m.nr_nodes; from++)
		for (uint32_t to = 0; to < ctx->m.nr_nodes; to++)
			ctx->remote_ns[from][to] =
				ctx->cfg.cost[RS_COST_REMOTE_ACCESS] *
				(ctx->m.node[from].distance[to] - LOCAL_DISTANCE) / 10;
}

/* Kernel: mm/memory-tiers.c. The nodes that have CPUs are the top tier. */
bool node_is_toptier(const struct rs_ctx *ctx, uint8_t nid)
{
	return ctx->cfg.node[nid].cpus != 0;
}

uint8_t numa_node_id(const struct rs_ctx *ctx)
{
	return ctx->cur ? ctx->cur->nid : 0;
}

/* Kernel: __count_numa_event(). */
void numa_count(struct rs_ctx *ctx, uint8_t nid, enum numastat item)
{
	static const enum rs_event event[NR_NUMASTATS] = {
		[NUMASTAT_HIT] = RS_NUMA_HIT,
		[NUMASTAT_MISS] = RS_NUMA_MISS,
		[NUMASTAT_FOREIGN] = RS_NUMA_FOREIGN,
		[NUMASTAT_INTERLEAVE] = RS_NUMA_INTERLEAVE_HIT,
		[NUMASTAT_LOCAL] = RS_NUMA_LOCAL,
		[NUMASTAT_OTHER] = RS_NUMA_OTHER,
	};

	ctx->m.node[nid].numastat[item]++;
	ctx->m.vmstat[event[item]]++;
}

void charge_remote(struct rs_ctx *ctx, pfn_t pfn, uint64_t n)
{
	ns_t ns = n * ctx->remote_ns[numa_node_id(ctx)][pfn_to_nid(&ctx->m, pfn)];

	if (!ns)
		return;
	ctx->activity_calls[RS_COST_REMOTE_ACCESS] += n;
	ctx->activity_ns[RS_COST_REMOTE_ACCESS] += ns;
	ctx->cur->now += ns;
}
