/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * mglru_rig.h - the rig with the multi-gen LRU in a known state: generations 8, 9 and 10 of both
 * types, empty, and single batches and ageings on demand.
 */
#ifndef TESTS_LIB_MGLRU_RIG_H
#define TESTS_LIB_MGLRU_RIG_H

#include "policies/mglru.h"
#include "tests/lib/rig.h"

/* The kernels of the worked traces. 6.12 as measured is stable update 113. */
enum column { K_6_1, K_6_12, K_6_12_117, K_6_14, K_7_2, NR_COLUMNS };

struct rig *mglru_rig(enum column, const char *policy, const char *const *settings);
/*
 * Eviction closes a generation that it empties. With one or two folios that is at once: a test that
 * goes on opens it again (three generations), or fills it first with cold, unreferenced folios that
 * go in place of what the test looks at.
 */
void reopen(struct rig *);
#define ANCHORS (MIN_LRU_BATCH + 8) /* one batch and some */
#define ANCHOR_ID 9u		    /* region and file they are of */
void anchor(struct rig *, enum rs_type, uint64_t seq);
uint64_t seq_of(const struct rig *, pfn_t);
unsigned refs_of(const struct rig *, pfn_t);
/* PG_referenced and PG_workingset. */
uint32_t marks_of(const struct rig *, pfn_t);
void set_marks(struct rig *, pfn_t, uint32_t marks);
/* Put a folio at the tail of a generation, where eviction meets it first. */
void place(struct rig *, pfn_t, uint64_t seq);
void make_old(struct rig *, uint32_t region, uint32_t page); /* clear its young bit */
/* One batch, with what it wrote and activated settled afterwards. Returns pages freed. */
uint64_t evict(struct rig *);
uint64_t evict_with(struct rig *, struct rs_scan *, uint64_t nr_to_scan); /* limits 7.2 only */
void age(struct rig *); /* walk the page tables, open a generation */

#endif
