/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ref.h - a naive second implementation of the machine, to be compared with the simulator.
 *
 * It models what the ground-truth runs do (one task, one CPU, one node, one memory cgroup with a
 * hard limit) under the classic active/inactive lists and under plain FIFO. It shares no code with
 * the simulator: GLib hash tables and queues, one call per access, no batching, no clock. Where
 * it follows a kernel function the comment names it.
 *
 *   ref_trace.c       trace text to a list of operations
 *   ref_machine.c     page tables, page cache, faults, read and write, charge
 *   ref_readahead.c   file read-ahead
 *   ref_swap.c        swap slots, swap cache, block plug, end of writeback
 *   ref_lru.c         lists, folio batches, mark_accessed
 *   ref_reclaim.c     scan targets, the inactive and active scan
 *   ref_workingset.c  shadow entries, nonresident age, memcg statistics and their flush
 *   ref.c             options, marks, the JSON object
 */
#ifndef REF_H
#define REF_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

enum ref_lru { INACTIVE_ANON, ACTIVE_ANON, INACTIVE_FILE, ACTIVE_FILE, NR_LRU };

/* Values that decisions read through the flushed memcg statistics. */
enum ref_stat {
	STAT_LRU, /* the four list sizes */
	STAT_ACTIVATE_ANON = NR_LRU,
	STAT_ACTIVATE_FILE,
	STAT_FILE_DIRTY,
	NR_STAT,
	STAT_OTHER, /* only counted as an update */
};

enum ref_event {
	PGFAULT,
	PGMAJFAULT,
	PSWPIN,
	PSWPOUT,
	PGSCAN_ANON,
	PGSCAN_FILE,
	PGSTEAL_ANON,
	PGSTEAL_FILE,
	PGREFILL,
	PGACTIVATE,
	PGDEACTIVATE,
	PGROTATED,
	PGREUSE,
	REFAULT_ANON,
	REFAULT_FILE,
	ACTIVATE_ANON,
	ACTIVATE_FILE,
	RESTORE_ANON,
	RESTORE_FILE,
	VMSCAN_WRITE,
	VMSCAN_IMMEDIATE,
	MEMCG_MAX,
	OOM_KILL,
	NR_EVENT
};

struct ref_file;

struct ref_folio {
	GList lru;   /* link in a list, or in an isolated chain */
	int on_list; /* enum ref_lru, or -1 */
	int refs;    /* cache + mappings + batches + isolation */
	bool anon;
	bool locked; /* its read has not been issued yet */
	bool pg_lru, active, referenced, workingset, reclaim, dirty, writeback;
	struct ref_slot *slot; /* swap cache */
	struct ref_file *file; /* page cache, NULL once removed */
	uint64_t index;
	GPtrArray *ptes; /* struct ref_pte that map it */
};

/* What a page of a file or a swap slot keeps when the folio is gone. */
struct ref_shadow {
	bool valid, workingset;
	uint64_t eviction;
};

struct ref_cache { /* one page of a file */
	struct ref_folio *folio;
	struct ref_shadow shadow;
};

struct ref_file {
	char *name;
	uint64_t nr_pages;
	GHashTable *pages;  /* index -> struct ref_cache */
	uint64_t prev_page; /* in which the last read on the file ended, or UINT64_MAX */
	uint64_t ra_start, ra_size, ra_async, mmap_miss; /* struct file_ra_state */
};

struct ref_slot {
	uint64_t nr;
	struct ref_folio *folio; /* swap cache */
	struct ref_shadow shadow;
	unsigned int count; /* PTEs that hold the entry */
};

struct ref_pte {
	struct ref_region *region;
	struct ref_folio *folio; /* present */
	struct ref_slot *slot;	 /* swapped out */
	bool zero, young, dirty, write;
};

struct ref_region {
	struct ref_file *file; /* NULL: anonymous */
	uint64_t nr_pages;
	bool exec;
	GHashTable *ptes;				  /* page -> struct ref_pte */
	uint64_t swap_ra_page, swap_ra_win, swap_ra_hits; /* vma->swap_readahead_info */
};

struct ref_batch {
	struct ref_folio *folio[31];
	unsigned int nr;
};

struct ref_request {
	bool read;
	GPtrArray *folios; /* by slot */
};

struct ref_options {
	bool v612; /* 6.12 instead of 6.1 */
	bool fifo;
	bool sync_swap, no_swap;
	uint64_t limit, swappiness, swap_pages;
	uint64_t swap_window;		 /* 1 << page_cluster */
	uint64_t ra_pages, fault_around; /* in pages; fault_around 1: off */
	uint64_t cluster_slots;		 /* SWAPFILE_CLUSTER: 512 with CONFIG_THP_SWAP, else 256 */
	uint64_t stat_flush_ops; /* 6.12: operations between two periodic flushes, 0 = never */
};

struct ref_machine {
	struct ref_options opt;
	uint64_t ev[NR_EVENT];

	/* memory cgroup */
	uint64_t usage, stock;
	GQueue list[NR_LRU]; /* head = most recent */
	uint64_t cost[2], age, refaults[2];

	/* memcg statistics */
	int64_t stat[NR_STAT], flushed[NR_STAT];
	uint64_t stat_updates, flush_threshold;

	/* per CPU batches */
	unsigned int batch_size;
	struct ref_batch lru_add, rotate, activate;

	/* swap */
	uint64_t next_slot, swap_used, free_slots_cached;
	GPtrArray *plug; /* struct ref_request, oldest first; NULL: no plug */
	unsigned int plug_depth;

	GHashTable *files, *regions;
	GQueue dirty;	     /* dirty folios of files, oldest first; each entry holds a reference */
	uint64_t nr_dirtied; /* by the task since it last looked at the limits */
	uint64_t dirty_poll; /* pages between two looks, 0: 32 */
	bool flusher_woken, oom;
	uint64_t nr_ops;
};

/* ref_trace.c */
struct ref_op {
	char kind;     /* l s r w u f m, R region */
	uint32_t n;    /* pages of r and w */
	uint64_t page; /* or number of pages of a region */
	char *id;      /* region, file or mark; interned */
	char *file;    /* R: file or NULL; interned */
	bool exec;
};
GArray *ref_trace_read(const char *path, GHashTable *ret_files, GError **error);

/* ref_machine.c */
struct ref_machine *ref_machine_new(const struct ref_options *opt, GHashTable *file_sizes);
void ref_machine_run(struct ref_machine *m, const struct ref_op *op);
struct ref_folio *ref_folio_new(void);
void ref_folio_get(struct ref_folio *folio);
void ref_folio_put(struct ref_machine *m, struct ref_folio *folio);
void ref_unmap(struct ref_machine *m, struct ref_pte *pte);
void ref_uncharge(struct ref_machine *m, uint64_t nr);
void ref_folio_free_all(struct ref_machine *m, GQueue *folios);
bool ref_charge(struct ref_machine *m);

struct ref_folio *ref_cached(struct ref_file *file, uint64_t page);
struct ref_folio *ref_add_to_cache(struct ref_machine *m, struct ref_file *file, uint64_t page,
				   bool for_write);

/* ref_readahead.c */
void ref_readahead_sync(struct ref_machine *m, struct ref_file *file, uint64_t index, uint64_t req);
void ref_readahead_async(struct ref_machine *m, struct ref_folio *folio, uint64_t req);
void ref_readahead_fault(struct ref_machine *m, struct ref_file *file, uint64_t index);

/* ref_swap.c */
bool ref_add_to_swap(struct ref_machine *m, struct ref_folio *folio);
void ref_swap_cache_add(struct ref_machine *m, struct ref_slot *slot, struct ref_folio *folio);
void ref_swap_cache_del(struct ref_machine *m, struct ref_folio *folio);
void ref_slot_put(struct ref_machine *m, struct ref_slot *slot);
bool ref_folio_free_swap(struct ref_machine *m, struct ref_folio *folio);
void ref_swap_write(struct ref_machine *m, struct ref_folio *folio);
void ref_swap_read(struct ref_machine *m, struct ref_folio *folio);
void ref_plug_start(struct ref_machine *m);
void ref_plug_finish(struct ref_machine *m);
bool ref_swap_device(const struct ref_machine *m);
bool ref_swap_left(const struct ref_machine *m);
bool ref_swap_half_full(const struct ref_machine *m);
void ref_end_writeback(struct ref_machine *m, struct ref_folio *folio);

/* ref_lru.c */
void ref_list_add(struct ref_machine *m, struct ref_folio *folio, bool tail);
void ref_list_del(struct ref_machine *m, struct ref_folio *folio);
void ref_lru_add(struct ref_machine *m, struct ref_folio *folio);
void ref_lru_add_drain(struct ref_machine *m);
void ref_rotate_reclaimable(struct ref_machine *m, struct ref_folio *folio);
void ref_mark_accessed(struct ref_machine *m, struct ref_folio *folio);

/* ref_reclaim.c */
uint64_t ref_reclaim(struct ref_machine *m, uint64_t nr_pages);

/* ref_workingset.c */
void ref_stat(struct ref_machine *m, int item, int64_t delta);
void ref_stat_flush(struct ref_machine *m);
void ref_stat_flush_pending(struct ref_machine *m);
struct ref_shadow ref_eviction(struct ref_machine *m, const struct ref_folio *folio);
void ref_refault(struct ref_machine *m, struct ref_folio *folio, struct ref_shadow *shadow);
void ref_note_cost(struct ref_machine *m, bool file, uint64_t nr_io, uint64_t nr_rotated);

#endif
