/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * NUMA balancing: what scans make inaccessible, and which hint faults move a page.
 */
#include "tests/lib/cm.h"
#include "tests/lib/rig.h"

#include <reclaimsim/trace.h>

enum { FILLER, DATA };
#define MS 1000000ull
#define NODE_PAGES 4096u

#define TWO_NODES                                                                                  \
	"numa.nodes", "2", "node0.memory", "16M", "node1.memory", "16M", "memory.max", "max",      \
		"vm.min_free_kbytes", "256", "numa_balancing.scan_delay_ms", "30",                 \
		"numa_balancing.scan_period_min_ms", "100"
#define TIERED "kernel.numa_balancing", "2", "node1.cpus", "0"

static void compute(struct rig *r, uint64_t ms)
{
	rig_record(r, (struct rs_record){ .op = RS_OP_CPU, .value = ms * MS }, NULL);
}

static void let_pass(struct rig *r, uint64_t ms)
{
	rig_record(r, (struct rs_record){ .op = RS_OP_SLEEP, .value = ms * MS }, NULL);
}

static uint8_t nid_of(const struct rig *r, uint32_t page)
{
	return rig_folio(r, rig_page(r, DATA, page))->nid;
}

/* Pages of DATA that have come to node 1 because node 0 was full; then node 0 is empty. */
static struct rig *start(const char *const *settings, uint32_t pages)
{
	struct rig *r = rig_new("6.12", "classic", settings);

	rig_map_anon(r, FILLER, NODE_PAGES);
	rig_store(r, FILLER, 0, NODE_PAGES - 20);
	rig_map_anon(r, DATA, pages);
	rig_store(r, DATA, 0, pages);
	rig_record(r, (struct rs_record){ .op = RS_OP_MUNMAP, .object = FILLER }, NULL);
	rig_drain(r);
	for (uint32_t page = 0; page < pages; page++)
		assert_int_equal(nid_of(r, page), 1);
	return r;
}

/* Not before the address space is 30 ms old, and a thread has used as much CPU time. */
static void a_scan_makes_pages_of_the_slow_node_inaccessible(void **state)
{
	static const char *const settings[] = { TWO_NODES, TIERED, NULL };
	struct rig *r = start(settings, 600);

	compute(r, 10);
	assert_int_equal(rig_vmstat(r, RS_NUMA_PTE_UPDATES), 0);
	compute(r, 40);
	assert_int_equal(rig_vmstat(r, RS_NUMA_PTE_UPDATES), 600);
	for (uint32_t page = 0; page < 600; page++)
		assert_true(*rig_pte(r, DATA, page) & RS_PTE_PROTNONE);
	assert_int_equal(rig_mm(r)->rss[RS_ANON], 600);
	rig_check(r);
	rig_free(r);
}

static void a_page_used_soon_after_its_scan_is_promoted(void **state)
{
	static const char *const settings[] = { TWO_NODES, TIERED, NULL };
	struct rig *r = start(settings, 600);
	uint64_t usage;

	compute(r, 50);
	usage = r->ctx->m.memcg[r->memcg].usage;
	rig_load(r, DATA, 7, 1);
	assert_int_equal(nid_of(r, 7), 0);
	assert_int_equal(nid_of(r, 8), 1);
	assert_true(*rig_pte(r, DATA, 7) & RS_PTE_WRITE);
	assert_false(*rig_pte(r, DATA, 7) & RS_PTE_PROTNONE);
	assert_int_equal(rig_vmstat(r, RS_NUMA_HINT_FAULTS), 1);
	assert_int_equal(rig_vmstat(r, RS_NUMA_HINT_FAULTS_LOCAL), 0);
	assert_int_equal(rig_vmstat(r, RS_PGPROMOTE_CANDIDATE), 1);
	assert_int_equal(rig_vmstat(r, RS_PGPROMOTE_SUCCESS), 1);
	assert_int_equal(rig_vmstat(r, RS_PGMIGRATE_SUCCESS), 1);
	assert_int_equal(rig_vmstat(r, RS_NUMA_PAGES_MIGRATED), 1);
	assert_int_equal(r->ctx->m.memcg[r->memcg].usage, usage);
	rig_check(r);
	rig_free(r);
}

/* The hot threshold is 1000 ms. */
static void a_page_used_late_stays(void **state)
{
	static const char *const settings[] = { TWO_NODES, TIERED, NULL };
	struct rig *r = start(settings, 600);

	compute(r, 50);
	let_pass(r, 900);
	rig_load(r, DATA, 7, 1);
	assert_int_equal(nid_of(r, 7), 0);
	let_pass(r, 100);
	rig_load(r, DATA, 8, 1);
	assert_int_equal(nid_of(r, 8), 1);
	assert_int_equal(rig_vmstat(r, RS_NUMA_HINT_FAULTS), 2);
	assert_int_equal(rig_vmstat(r, RS_PGPROMOTE_CANDIDATE), 1);
	rig_free(r);
}

/*
 * 1 MiB a second: at the 256th candidate of the first second the limit is reached. Kernel:
 * numa_promotion_rate_limit() compares after it has counted.
 */
static void the_rate_limit_holds_promotions_back(void **state)
{
	static const char *const settings[] = { TWO_NODES, TIERED,
						"kernel.numa_balancing_promote_rate_limit_MBps",
						"1", NULL };
	struct rig *r = start(settings, 600);

	compute(r, 50);
	rig_load(r, DATA, 0, 600);
	assert_int_equal(rig_vmstat(r, RS_PGPROMOTE_CANDIDATE), 600);
	assert_int_equal(rig_vmstat(r, RS_PGPROMOTE_SUCCESS), 255);
	assert_int_equal(nid_of(r, 254), 0);
	assert_int_equal(nid_of(r, 255), 1);
	rig_check(r);
	rig_free(r);
}

/* Mode 1: whatever a thread uses comes to it. Nothing is scanned that is there already. */
static void pages_come_to_the_node_of_their_thread(void **state)
{
	static const char *const settings[] = { TWO_NODES, "kernel.numa_balancing",
						"1",	   "cpus",
						"2",	   NULL };
	struct rig *r = start(settings, 100);

	compute(r, 50);
	assert_int_equal(rig_vmstat(r, RS_NUMA_PTE_UPDATES), 100);
	rig_store(r, DATA, 0, 60);
	assert_int_equal(rig_vmstat(r, RS_NUMA_PAGES_MIGRATED), 60);
	assert_int_equal(rig_vmstat(r, RS_PGPROMOTE_SUCCESS), 0);
	assert_int_equal(rig_vmstat(r, RS_NUMA_HINT_FAULTS_LOCAL), 0);
	for (uint32_t page = 0; page < 100; page++)
		assert_int_equal(nid_of(r, page), page >= 60);
	compute(r, 300);
	assert_int_equal(rig_vmstat(r, RS_NUMA_PTE_UPDATES), 100);
	rig_check(r);
	rig_free(r);
}

/* The task faults on a page that a scan has made inaccessible. */
static void hint_fault(struct rig *r, struct task *t, uint32_t page)
{
	struct mm *mm = rig_task(r)->mm;
	uint64_t vpn = mm->regions[DATA].start + page;

	r->ctx->cur = t;
	*rig_pte(r, DATA, page) |= RS_PTE_PROTNONE;
	do_numa_page(r->ctx, mm, mm_find_vma(mm, vpn), vpn);
	r->ctx->cur = NULL;
}

/* A page of two threads moves when the same node has faulted on it twice in a row. */
static void a_shared_page_moves_at_the_second_fault_of_a_node(void **state)
{
	static const char *const settings[] = { TWO_NODES, "kernel.numa_balancing",
						"1",	   "cpus",
						"2",	   NULL };
	static const uint8_t user[] = { 1, 0, 0, 1, 1 }, nid[] = { 1, 1, 0, 0, 1 };
	struct rig *r = start(settings, 100);
	struct task other = *rig_task(r);

	other.id++;
	other.nid = 1;
	for (unsigned i = 0; i < G_N_ELEMENTS(user); i++) {
		hint_fault(r, user[i] ? &other : rig_task(r), 3);
		assert_int_equal(nid_of(r, 3), nid[i]);
	}
	assert_int_equal(rig_vmstat(r, RS_NUMA_PAGES_MIGRATED), 2);
	assert_int_equal(rig_vmstat(r, RS_NUMA_HINT_FAULTS_LOCAL), 1);
	rig_check(r);
	rig_free(r);
}

/* Kernel: vma_policy_mof(). */
static void an_explicit_policy_is_left_alone(void **state)
{
	static const char *const settings[] = { TWO_NODES, TIERED, NULL };
	struct rig *r = start(settings, 100);

	rig_record(r,
		   (struct rs_record){
			   .op = RS_OP_MBIND, .object = DATA, .arg = RS_MPOL_BIND, .value = 2 },
		   NULL);
	compute(r, 300);
	assert_int_equal(rig_vmstat(r, RS_NUMA_PTE_UPDATES), 0);
	rig_free(r);
}

static void mprotect_takes_the_hint_away(void **state)
{
	static const char *const settings[] = { TWO_NODES, TIERED, NULL };
	struct rig *r = start(settings, 100);

	compute(r, 50);
	rig_record(r,
		   (struct rs_record){ .op = RS_OP_MPROTECT,
				       .object = DATA,
				       .arg = VM_READ | VM_WRITE,
				       .page = 10,
				       .count = 1 },
		   NULL);
	assert_false(*rig_pte(r, DATA, 10) & RS_PTE_PROTNONE);
	assert_true(*rig_pte(r, DATA, 10) & RS_PTE_WRITE);
	assert_true(*rig_pte(r, DATA, 11) & RS_PTE_PROTNONE);
	rig_free(r);
}

/*
 * The whole circle: the fast node is full of what is not used any more, what is used lies on the
 * slow one. Promotion finds no room and wakes kswapd, which demotes the cold pages; then the hot
 * ones come up.
 */
static uint32_t on_node_1(const struct rig *r, uint32_t region, uint32_t pages)
{
	uint32_t n = 0;

	for (uint32_t page = 0; page < pages; page++)
		n += rig_folio(r, rig_page(r, region, page))->nid;
	return n;
}

static void hot_pages_rise_and_cold_ones_sink(void **state)
{
	static const char *const settings[] = { TWO_NODES,
						TIERED,
						"numa.demotion_enabled",
						"true",
						"node1.memory",
						"32M",
						"vm.watermark_scale_factor",
						"1000",
						NULL };

	for (unsigned k = 0; k < 2; k++) {
		struct rig *r = rig_new("6.12", k ? "mglru" : "classic", settings);
		uint32_t cold;

		rig_map_anon(r, FILLER, NODE_PAGES);
		rig_store(r, FILLER, 0, NODE_PAGES - 20);
		rig_map_anon(r, DATA, 500);
		rig_store(r, DATA, 0, 500);
		cold = on_node_1(r, FILLER, NODE_PAGES - 20);
		assert_int_equal(on_node_1(r, DATA, 500), 500);
		for (unsigned round = 0; round < 40; round++) {
			compute(r, 50);
			rig_load(r, DATA, 0, 500);
		}
		assert_int_equal(on_node_1(r, DATA, 500), 0);
		assert_int_equal(rig_vmstat(r, RS_PGPROMOTE_SUCCESS), 500);
		cold = on_node_1(r, FILLER, NODE_PAGES - 20) - cold;
		assert_in_range(cold, 500, 2000);
		assert_int_equal(rig_vmstat(r, RS_PGDEMOTE_KSWAPD), cold);
		assert_int_equal(rig_vmstat(r, RS_PGDEMOTE_DIRECT), 0);
		assert_int_equal(rig_vmstat(r, RS_PSWPOUT), 0);
		rig_check(r);
		rig_free(r);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_scan_makes_pages_of_the_slow_node_inaccessible),
		cmocka_unit_test(a_page_used_soon_after_its_scan_is_promoted),
		cmocka_unit_test(a_page_used_late_stays),
		cmocka_unit_test(the_rate_limit_holds_promotions_back),
		cmocka_unit_test(pages_come_to_the_node_of_their_thread),
		cmocka_unit_test(a_shared_page_moves_at_the_second_fault_of_a_node),
		cmocka_unit_test(an_explicit_policy_is_left_alone),
		cmocka_unit_test(mprotect_takes_the_hint_away),
		cmocka_unit_test(hot_pages_rise_and_cold_ones_sink),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
