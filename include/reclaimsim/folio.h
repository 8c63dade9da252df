/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * folio.h - one unit of page memory (1 << order pages) and the lists it can be on.
 *
 * Folios live in one array indexed by the number of their first page frame, so a handle is a
 * pfn_t and no pointer is ever kept. Lists are circular; a list head is a reserved entry behind
 * the last page frame of the same array, so adding and deleting has no branch.
 *
 *   0          8          16         24         32 bytes
 *   +-----+-----+-----+----+-----+-----+-----+----+
 *   |next |prev |flags|memcg|object|index|priv |map |
 *   |     |     |     |nid.o|      |     |     |refs|
 *   +-----+-----+-----+----+-----+-----+-----+----+
 */
#ifndef RECLAIMSIM_FOLIO_H
#define RECLAIMSIM_FOLIO_H

#include <reclaimsim/types.h>

/* Page flags under the kernel's names (include/linux/page-flags.h). */
enum rs_page_flag {
	PG_locked = 1u << 0,
	PG_referenced = 1u << 1,
	PG_uptodate = 1u << 2,
	PG_dirty = 1u << 3,
	PG_lru = 1u << 4,
	PG_active = 1u << 5,
	PG_workingset = 1u << 6,
	PG_writeback = 1u << 7,
	PG_reclaim = 1u << 8, /* the same bit is PG_readahead, as in the kernel */
	PG_readahead = PG_reclaim,
	PG_swapbacked = 1u << 9, /* anon LRU lists; clear: file LRU lists (also MADV_FREE anon) */
	PG_swapcache = 1u << 10,
	PG_anon = 1u << 11, /* object is an anon_vma, else a file */
	PG_unevictable = 1u << 12,
	PG_mlocked = 1u << 13,
	PG_anon_exclusive = 1u << 14, /* Differs: one bit a folio, the kernel has one a page */
	PG_in_batch = 1u << 15,	      /* waits in a CPU's lru_add batch (model only) */
	PG_free = 1u << 16,	      /* on the free list (model only) */
	PG_isolated = 1u << 17,	      /* taken off the LRU by reclaim (model only) */
	PG_head = 1u << 18,	      /* order > 0 */
	PG_tail = 1u << 19,	      /* further frame of such a folio; object = pfn of the head */
};

struct folio {
	pfn_t next, prev;
	uint32_t flags; /* enum rs_page_flag */
	uint16_t memcg; /* group it is charged to, 0 = root */
	uint8_t nid;
	uint8_t order : 4;
	uint8_t zone : 4;
	uint32_t object;   /* anon_vma or file number */
	uint32_t index;	   /* page offset within the object */
	uint32_t priv;	   /* the policy's: generation, reference bits, ... */
	uint16_t mapcount; /* PTEs that map it (saturates) */
	uint16_t refs;	   /* pins besides cache and mappings: CPU batches, I/O */
};
_Static_assert(sizeof(struct folio) == 32, "a folio is half a cache line");

static inline unsigned folio_nr_pages(const struct folio *f)
{
	return 1u << f->order;
}

/* Kernel: mm_inline.h folio_is_file_lru(). */
static inline enum rs_type folio_lru_type(const struct folio *f)
{
	return f->flags & PG_swapbacked ? RS_ANON : RS_FILE;
}

/* ---- lists: head is the array index of the list's reserved entry ---- */

static inline void rs_list_init(struct folio *folios, pfn_t head)
{
	folios[head].next = folios[head].prev = head;
}

static inline bool rs_list_empty(const struct folio *folios, pfn_t head)
{
	return folios[head].next == head;
}

/* Youngest entry first: add at the head, reclaim from the tail. */
static inline void rs_list_add(struct folio *folios, pfn_t head, pfn_t pfn)
{
	pfn_t first = folios[head].next;

	folios[pfn].next = first;
	folios[pfn].prev = head;
	folios[first].prev = pfn;
	folios[head].next = pfn;
}

static inline void rs_list_add_tail(struct folio *folios, pfn_t head, pfn_t pfn)
{
	pfn_t last = folios[head].prev;

	folios[pfn].prev = last;
	folios[pfn].next = head;
	folios[last].next = pfn;
	folios[head].prev = pfn;
}

static inline void rs_list_del(struct folio *folios, pfn_t pfn)
{
	folios[folios[pfn].prev].next = folios[pfn].next;
	folios[folios[pfn].next].prev = folios[pfn].prev;
}

static inline pfn_t rs_list_tail(const struct folio *folios, pfn_t head)
{
	return folios[head].prev; /* == head when empty */
}

#endif
