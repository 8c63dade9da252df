/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Several nodes: what an access costs by distance, where pages come from, and numastat.
 */
#include "tests/lib/cm.h"
#include "tests/lib/rig.h"

#include <reclaimsim/trace.h>

enum { ANON };

#define TWO_NODES                                                                                  \
	"numa.nodes", "2", "cpus", "2", "node0.memory", "16M", "node1.memory", "16M",              \
		"memory.max", "max", "cost.hit", "1"

static void bind_region(struct rig *r, uint32_t region, enum rs_mempolicy policy, uint64_t nodes)
{
	rig_record(r,
		   (struct rs_record){
			   .op = RS_OP_MBIND, .object = region, .arg = policy, .value = nodes },
		   NULL);
}

static uint8_t nid_of(const struct rig *r, uint32_t page)
{
	return rig_folio(r, rig_page(r, ANON, page))->nid;
}

/* Time of 100 loads of pages that are there. */
static ns_t hits(struct rig *r, uint32_t page)
{
	ns_t from = rig_task(r)->now;

	rig_load(r, ANON, page, 100);
	return rig_task(r)->now - from;
}

/* 1 ns a hit and 80 ns more at distance 20; at distance 17 seven tenths of that. */
static void an_access_costs_by_distance(void **state)
{
	static const char *const distance[] = { "20", "17", "10" };
	static const ns_t extra[] = { 80, 56, 0 };

	for (unsigned k = 0; k < 3; k++) {
		const char *const settings[] = { TWO_NODES, "node0.distance.1", distance[k], NULL };
		struct rig *r = rig_new("6.12", "classic", settings);
		uint64_t remote;

		rig_map_anon(r, ANON, 1024);
		rig_store(r, ANON, 0, 100);
		bind_region(r, ANON, RS_MPOL_BIND, 2);
		rig_store(r, ANON, 512, 100);
		assert_int_equal(nid_of(r, 0), 0);
		assert_int_equal(nid_of(r, 512), 1);
		remote = r->ctx->activity_ns[RS_COST_REMOTE_ACCESS];
		assert_int_equal(hits(r, 0), 100);
		assert_int_equal(r->ctx->activity_ns[RS_COST_REMOTE_ACCESS], remote);
		assert_int_equal(hits(r, 512), 100 * (1 + extra[k]));
		assert_int_equal(r->ctx->activity_ns[RS_COST_REMOTE_ACCESS] - remote,
				 100 * extra[k]);
		rig_check(r);
		rig_free(r);
	}
}

/* Interleaved pages alternate; every second access is remote. */
static void interleaved_pages_are_remote_by_half(void **state)
{
	static const char *const settings[] = { TWO_NODES, NULL };
	struct rig *r = rig_new("6.12", "classic", settings);

	rig_map_anon(r, ANON, 512);
	bind_region(r, ANON, RS_MPOL_INTERLEAVE, 3);
	rig_store(r, ANON, 0, 100);
	for (uint32_t page = 0; page < 100; page++)
		assert_int_equal(nid_of(r, page), page % 2);
	assert_int_equal(hits(r, 0), 100 + 50 * 80);
	assert_int_equal(rig_vmstat(r, RS_NUMA_HIT), 100);
	assert_int_equal(rig_vmstat(r, RS_NUMA_INTERLEAVE_HIT), 100);
	assert_int_equal(rig_vmstat(r, RS_NUMA_LOCAL), 50);
	assert_int_equal(rig_vmstat(r, RS_NUMA_OTHER), 50);
	assert_int_equal(r->ctx->m.node[1].numastat[NUMASTAT_HIT], 50);
	assert_int_equal(r->ctx->m.node[1].numastat[NUMASTAT_INTERLEAVE], 50);
	assert_int_equal(r->ctx->m.node[1].numastat[NUMASTAT_OTHER], 50);
	assert_int_equal(r->ctx->m.node[0].numastat[NUMASTAT_LOCAL], 50);
	rig_free(r);
}

/* What does not fit on the own node is a miss there where it lands, and foreign where it was
 * wanted. Kernel: zone_statistics(). */
static void a_full_node_makes_misses(void **state)
{
	static const char *const settings[] = { TWO_NODES, NULL };
	struct rig *r = rig_new("6.12", "classic", settings);
	const struct node *node = r->ctx->m.node;
	uint64_t on_1 = 0;

	rig_map_anon(r, ANON, 6000);
	rig_store(r, ANON, 0, 6000); /* node 0 has 4096 */
	for (uint32_t page = 0; page < 6000; page++)
		on_1 += nid_of(r, page);
	assert_in_range(on_1, 1900, 2100);
	assert_int_equal(node[1].numastat[NUMASTAT_MISS], on_1);
	assert_int_equal(node[0].numastat[NUMASTAT_FOREIGN], on_1);
	assert_int_equal(node[1].numastat[NUMASTAT_OTHER], on_1);
	assert_int_equal(node[0].numastat[NUMASTAT_HIT], 6000 - on_1);
	assert_int_equal(node[0].numastat[NUMASTAT_MISS], 0);
	assert_int_equal(node[1].numastat[NUMASTAT_HIT], 0);
	rig_check(r);
	rig_free(r);
}

/* A binding that leaves the own node out wants the nearest of its nodes: no miss. */
static void a_bound_allocation_wants_its_nearest_node(void **state)
{
	static const char *const settings[] = { "numa.nodes",
						"3",
						"node0.memory",
						"16M",
						"node1.memory",
						"16M",
						"node2.memory",
						"16M",
						"memory.max",
						"max",
						"node0.distance.1",
						"30",
						"node0.distance.2",
						"20",
						NULL };
	struct rig *r = rig_new("6.12", "classic", settings);

	rig_map_anon(r, ANON, 512);
	bind_region(r, ANON, RS_MPOL_BIND, 6);
	rig_store(r, ANON, 0, 10);
	assert_int_equal(nid_of(r, 0), 2);
	assert_int_equal(r->ctx->m.node[2].numastat[NUMASTAT_HIT], 10);
	assert_int_equal(r->ctx->m.node[2].numastat[NUMASTAT_OTHER], 10);
	assert_int_equal(rig_vmstat(r, RS_NUMA_MISS), 0);
	rig_free(r);
}

/* One event, whatever the order. */
static void a_huge_page_is_one_event(void **state)
{
	static const char *const settings[] = { "numa.nodes",
						"2",
						"node0.memory",
						"16M",
						"node1.memory",
						"16M",
						"memory.max",
						"max",
						"transparent_hugepage",
						"always",
						NULL };
	struct rig *r = rig_new("6.12", "classic", settings);

	rig_map_anon(r, ANON, 2048);
	rig_store(r, ANON, 1024, 1);
	assert_int_equal(rig_vmstat(r, RS_NUMA_HIT), 1);
	rig_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_access_costs_by_distance),
		cmocka_unit_test(interleaved_pages_are_remote_by_half),
		cmocka_unit_test(a_full_node_makes_misses),
		cmocka_unit_test(a_bound_allocation_wants_its_nearest_node),
		cmocka_unit_test(a_huge_page_is_one_event),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
