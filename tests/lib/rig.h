/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rig.h - a small machine with one group, one process and one thread, for tests that step through
 * single decisions of a policy. Records are fed one by one; between them the test looks into the
 * machine, and calls what the thread could call.
 */
#ifndef TESTS_LIB_RIG_H
#define TESTS_LIB_RIG_H

#include "sim/engine/engine.h"

struct rig {
	struct rs_ctx *ctx;
	struct rs_scenario *scenario;
	uint16_t memcg;
};

/*
 * settings: pairs of key and value, ended by NULL. Without any: 20000 pages of memory.max, swap and
 * disk without cost, no read-ahead, no fault-around.
 */
struct rig *rig_new(const char *kernel, const char *policy, const char *const *settings);
void rig_free(struct rig *);

/* Any record; map for RS_OP_MMAP. */
void rig_record(struct rig *, struct rs_record, const struct rs_map *);
/* Records; ids are the caller's, small numbers. */
void rig_map_anon(struct rig *, uint32_t region, uint64_t pages);
void rig_map_file(struct rig *, uint32_t region, uint32_t file, uint64_t pages, uint32_t prot);
void rig_load(struct rig *, uint32_t region, uint32_t page, uint32_t count);
void rig_store(struct rig *, uint32_t region, uint32_t page, uint32_t count);
void rig_file(struct rig *, uint32_t file, uint64_t pages);
void rig_read(struct rig *, uint32_t file, uint32_t page, uint32_t count);
void rig_write(struct rig *, uint32_t file, uint32_t page, uint32_t count);

void rig_fork(struct rig *, uint32_t thread);	/* into a process of the same number */
void rig_thread(struct rig *, uint32_t thread); /* whose records the following are */
void rig_madvise(struct rig *, uint32_t region, enum rs_advice, uint32_t page, uint32_t count);

/* Between the two the test acts as the thread. What is called must not block. */
void rig_enter(struct rig *);
void rig_leave(struct rig *);
void rig_drain(struct rig *); /* lru_add_drain() */
/* The machine and the policy are sound. */
void rig_check(struct rig *);

struct rs_lruvec *rig_lruvec(const struct rig *);
struct rs_mm *rig_mm(const struct rig *);
struct folio *rig_folio(const struct rig *, pfn_t);
struct task *rig_task(const struct rig *);	  /* of thread 0 */
int64_t rig_lru(const struct rig *, enum rs_lru); /* pages on the group's list */
uint32_t *rig_pte(const struct rig *, uint32_t region, uint32_t page);
pfn_t rig_page(const struct rig *, uint32_t region, uint32_t page); /* RS_PFN_NONE: not mapped */
pfn_t rig_file_page(const struct rig *, uint32_t file, uint32_t page);
uint64_t rig_vmstat(const struct rig *, enum rs_event);
uint64_t rig_memcg_stat(const struct rig *, enum rs_event);
struct rs_scan rig_limit_scan(const struct rig *); /* as reclaim at the group's limit begins */

#endif
