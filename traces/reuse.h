/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * reuse.h - reuse distances: how many other pages were touched since a page was last touched. An
 * LRU memory of C pages holds the page if the distance is below C.
 */
#ifndef TRACES_REUSE_H
#define TRACES_REUSE_H

#include <reclaimsim/types.h>

#define REUSE_COLD UINT32_MAX

struct reuse {
	GArray *slot_of;   /* uint32_t: of each page, + 1; 0 = not in the stack */
	uint32_t *page_of; /* of each slot */
	uint32_t *tree;	   /* Fenwick tree over the slots: 1 for one that is in use */
	uint32_t nr_slots, next_slot, nr_used;
	GArray *holes; /* uint32_t: slots of discarded pages, a heap with the latest on top */
};

void reuse_init(struct reuse *);
void reuse_done(struct reuse *);
/* The distance, or REUSE_COLD for a page that is not in the stack. */
uint32_t reuse_touch(struct reuse *, uint32_t page);
/* The page's memory is free from now on. */
void reuse_discard(struct reuse *, uint32_t page);

#endif
