/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pagemap.h - (object, page) -> dense number. Open addressing: a tenth of GHashTable's cost.
 */
#ifndef TRACES_PAGEMAP_H
#define TRACES_PAGEMAP_H

#include <reclaimsim/types.h>

#define PAGE_NONE UINT32_MAX

struct pagemap {
	uint64_t *keys; /* object << 32 | page, plus 1 so that 0 is free */
	uint32_t *values;
	uint32_t mask, nr_used; /* used: with those removed since */
};

void pagemap_init(struct pagemap *);
void pagemap_done(struct pagemap *);
/* The place of the number; PAGE_NONE is there when the page is new. Valid until the next call. */
uint32_t *pagemap_at(struct pagemap *, uint32_t object, uint32_t page);
uint32_t pagemap_get(const struct pagemap *, uint32_t object, uint32_t page); /* PAGE_NONE: none */
/* Forget the numbers of pages first to first + count - 1, and tell them; forgotten may be NULL. */
void pagemap_forget(struct pagemap *, uint32_t object, uint32_t first, uint32_t count,
		    void (*forgotten)(void *arg, uint32_t value), void *arg);

#endif
