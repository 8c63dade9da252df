/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * import_damon.h - what DAMON saw, as sampled accesses (internal).
 *
 * nr_accesses counts the sampling intervals in which the one page looked at in a region was found
 * accessed. The model: in that aggregation interval each page of the region is touched with
 * probability nr_accesses / samples (20; --with samples=N), through the page table, by loads, at
 * the interval's end, in ascending order. Which pages is decided by a hash of page and interval,
 * so the same record gives the same trace. The result is synthetic and labelled so.
 */
#ifndef TRACES_IMPORT_DAMON_H
#define TRACES_IMPORT_DAMON_H

#include "traces/import.h"

#define DAMON_MAX_TOUCHES (1u << 18) /* of one region in one interval */

struct damon {
	struct tally *targets;
	uint64_t samples, snapshots, nr_accesses_sum, nr_accesses_max, pages, without_age, fake;
	uint64_t lowest, highest;
	/* text of damo */
	char base_time[64];
	uint64_t announced, seen, wrong_counts, target;
	/* JSON */
	struct damon_json *json;
	uint64_t bytes, record_objects;
};

bool damon_begin(struct import *, GError **);
void damon_end(struct import *);
/* One region of one snapshot. False: malformed. */
bool damon_region(struct import *, uint64_t target, uint64_t start, uint64_t end, uint64_t n);
void damon_report(struct import *, json_t *);

#endif
