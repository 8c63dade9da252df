/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rig.c - a small machine for tests that step through single decisions.
 */
#include "tests/lib/rig.h"

#include "tests/lib/cm.h"

struct rig *rig_new(const char *kernel, const char *policy, const char *const *settings)
{
	static const char *const defaults[] = {
		"memory.max",
		"20000p",
		"node0.memory",
		"256M",
		"swap",
		"null",
		"disk",
		"null",
		"vm.page-cluster",
		"0",
		"read_ahead_kb",
		"0",
		"fault_around_bytes",
		"4096",
		NULL,
	};
	struct rig *r = g_new0(struct rig, 1);
	GError *error = NULL;

	r->scenario = rs_scenario_new();
	rs_scenario_set_kernel(r->scenario, kernel, &error);
	assert_no_error(error);
	for (const char *const *s = defaults; *s; s += 2)
		if (!rs_scenario_set(r->scenario, s[0], s[1], &error))
			assert_no_error(error);
	for (const char *const *s = settings; s && *s; s += 2)
		if (!rs_scenario_set(r->scenario, s[0], s[1], &error))
			assert_no_error(error);
	r->ctx = (struct rs_ctx *)rs_sim_new(r->scenario, policy, &error);
	assert_no_error(error);
	r->memcg = r->ctx->m.trace_memcg;
	return r;
}

void rig_free(struct rig *r)
{
	rs_sim_free((struct rs_sim *)r->ctx);
	rs_scenario_free(r->scenario);
	g_free(r);
}

static void feed_one(struct rig *r, struct rs_record record, const struct rs_map *map)
{
	const struct rs_batch batch = {
		.records = &record, .nr_records = 1, .maps = map, .nr_maps = map ? 1 : 0, .line = 1
	};
	GError *error = NULL;

	rs_sim_feed((struct rs_sim *)r->ctx, NULL, &batch, &error);
	assert_no_error(error);
}

static void access_pages(struct rig *r, enum rs_op op, uint32_t object, uint32_t page,
			 uint32_t count)
{
	feed_one(r, (struct rs_record){ .op = op, .object = object, .page = page, .count = count },
		 NULL);
}

void rig_map_anon(struct rig *r, uint32_t region, uint64_t pages)
{
	rig_map_file(r, region, RS_MAP_FILE_NONE, pages, VM_READ | VM_WRITE);
}

void rig_map_file(struct rig *r, uint32_t region, uint32_t file, uint64_t pages, uint32_t prot)
{
	const struct rs_map map = { .file = file, .prot = prot, .pages = pages };

	feed_one(r, (struct rs_record){ .op = RS_OP_MMAP, .object = region }, &map);
}

void rig_load(struct rig *r, uint32_t region, uint32_t page, uint32_t count)
{
	access_pages(r, RS_OP_LOAD, region, page, count);
}

void rig_store(struct rig *r, uint32_t region, uint32_t page, uint32_t count)
{
	access_pages(r, RS_OP_STORE, region, page, count);
}

void rig_file(struct rig *r, uint32_t file, uint64_t pages)
{
	feed_one(r, (struct rs_record){ .op = RS_OP_FILE, .object = file, .value = pages }, NULL);
}

void rig_read(struct rig *r, uint32_t file, uint32_t page, uint32_t count)
{
	access_pages(r, RS_OP_READ, file, page, count);
}

void rig_write(struct rig *r, uint32_t file, uint32_t page, uint32_t count)
{
	access_pages(r, RS_OP_WRITE, file, page, count);
}

void rig_record(struct rig *r, struct rs_record record, const struct rs_map *map)
{
	feed_one(r, record, map);
}

void rig_fork(struct rig *r, uint32_t thread)
{
	rig_record(r, (struct rs_record){ .op = RS_OP_FORK, .object = thread, .arg = thread },
		   NULL);
}

void rig_thread(struct rig *r, uint32_t thread)
{
	rig_record(r, (struct rs_record){ .op = RS_OP_THREAD, .object = thread }, NULL);
}

void rig_madvise(struct rig *r, uint32_t region, enum rs_advice advice, uint32_t page,
		 uint32_t count)
{
	rig_record(r,
		   (struct rs_record){ .op = RS_OP_MADVISE,
				       .object = region,
				       .arg = advice,
				       .page = page,
				       .count = count },
		   NULL);
}

void rig_enter(struct rig *r)
{
	assert_null(r->ctx->cur);
	r->ctx->cur = r->ctx->thread[0].task;
	assert_non_null(r->ctx->cur);
}

void rig_leave(struct rig *r)
{
	r->ctx->cur = NULL;
}

void rig_drain(struct rig *r)
{
	rig_enter(r);
	rs_lru_add_drain(r->ctx);
	rig_leave(r);
}

void rig_check(struct rig *r)
{
	g_autoptr(GString) why = g_string_new(NULL);

	if (!machine_check(&r->ctx->m, why) || !r->ctx->ops->check(r->ctx, rig_lruvec(r), why))
		fail_msg("%s", why->str);
}

struct rs_lruvec *rig_lruvec(const struct rig *r)
{
	return rs_lruvec(r->ctx, r->memcg, 0);
}

struct folio *rig_folio(const struct rig *r, pfn_t pfn)
{
	return &r->ctx->m.folios[pfn];
}

struct task *rig_task(const struct rig *r)
{
	return r->ctx->thread[0].task;
}

int64_t rig_lru(const struct rig *r, enum rs_lru lru)
{
	return rs_lru_size(r->ctx, rig_lruvec(r), lru, RS_NR_ZONES - 1);
}

static struct mm *process(const struct rig *r)
{
	return r->ctx->thread[0].task->mm;
}

struct rs_mm *rig_mm(const struct rig *r)
{
	return &process(r)->pub;
}

uint32_t *rig_pte(const struct rig *r, uint32_t region, uint32_t page)
{
	return mm_pte(&r->ctx->m, process(r), process(r)->regions[region].start + page);
}

pfn_t rig_page(const struct rig *r, uint32_t region, uint32_t page)
{
	const uint32_t *pte = rig_pte(r, region, page);

	return pte && (*pte & RS_PTE_PRESENT) ? rs_pte_pfn(*pte) : RS_PFN_NONE;
}

pfn_t rig_file_page(const struct rig *r, uint32_t file, uint32_t page)
{
	return file_page(&r->ctx->m.file[file], page);
}

uint64_t rig_vmstat(const struct rig *r, enum rs_event e)
{
	return r->ctx->m.vmstat[e];
}

uint64_t rig_memcg_stat(const struct rig *r, enum rs_event e)
{
	return r->ctx->m.memcg[r->memcg].event[e];
}

struct rs_scan rig_limit_scan(const struct rig *r)
{
	return (struct rs_scan){ .nr_to_reclaim = RS_SWAP_CLUSTER_MAX,
				 .target_memcg = r->memcg,
				 .cgroup_reclaim = true,
				 .gfp_io = true,
				 .gfp_fs = true,
				 .priority = RS_DEF_PRIORITY,
				 .reclaim_idx = RS_NR_ZONES - 1,
				 .may_writepage = true,
				 .may_unmap = true,
				 .may_swap = true,
				 .swappiness = -1 };
}
