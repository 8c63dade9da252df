/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * machine.h - what the machine is: frames, zones, groups, address spaces, caches, swap. State and
 * its invariants only; no time and no policy. Who does what when lives in sim/engine.
 */
#ifndef SIM_MM_MACHINE_H
#define SIM_MM_MACHINE_H

#include "sim/base/config.h"

#define MAX_ORDER 9u /* one PMD: the largest folio */
#define NR_LISTS_LRU 5u
#define LRU_UNEVICTABLE 4u /* behind enum rs_lru */
#define MAX_MEMCGS 4096u

/* ---- frames, zones, nodes (node.c) ---- */

struct zone {
	uint64_t managed, free;
	uint64_t wmark[4]; /* enum rs_wmark */
	uint64_t lowmem_reserve[RS_NR_ZONES];
	pfn_t first, end; /* its frames */
	pfn_t free_list[MAX_ORDER + 1];
	int64_t nr_lru[NR_LISTS_LRU]; /* pages on LRU lists of this zone */
};

/* Events of a node under the names of sysfs. Kernel: mm/vmstat.c, drivers/base/node.c. */
enum numastat {
	NUMASTAT_HIT,
	NUMASTAT_MISS,
	NUMASTAT_FOREIGN,
	NUMASTAT_INTERLEAVE,
	NUMASTAT_LOCAL,
	NUMASTAT_OTHER,
	NR_NUMASTATS
};

struct node {
	uint8_t nid;
	struct zone zone[RS_NR_ZONES];
	uint8_t distance[RS_MAX_NODES];
	uint8_t fallback[RS_MAX_NODES]; /* nodes to allocate from, nearest first */
	uint8_t nr_fallback;
	pfn_t end; /* behind its last frame; node n begins where n - 1 ends */
	int64_t nr_isolated[RS_NR_TYPES];
	uint64_t numastat[NR_NUMASTATS];
};

/* ---- groups and lruvecs (memcg.c, lruvec.c) ---- */

struct lruvec {
	struct rs_lruvec pub;			 /* first: the policy's view casts to and fro */
	int64_t size[RS_NR_ZONES][NR_LISTS_LRU]; /* own folios only, exact */
	/* Of the group and its descendants: live, and as the last flush left them. */
	int64_t lru[NR_LISTS_LRU], lru_flushed[NR_LISTS_LRU];
	uint64_t event[RS_NR_EVENTS], event_flushed[RS_NR_EVENTS];
	pfn_t unevictable; /* list head */
	bool congested;
};

/* Gauges of memory.stat, pages, of the group and its descendants. */
enum gauge {
	GAUGE_ANON,
	GAUGE_FILE,
	GAUGE_FILE_MAPPED,
	GAUGE_FILE_DIRTY,
	GAUGE_FILE_WRITEBACK,
	GAUGE_SWAPCACHED,
	NR_GAUGES
};

struct memcg {
	char *path;
	uint16_t id, parent, first_child, next_sibling; /* RS_MEMCG_NONE: none */
	bool online;
	uint64_t max, high, min, low, swap_max; /* pages; RS_UNLIMITED */
	uint64_t usage, swap_usage, peak;
	int64_t swappiness;
	uint64_t effective_min, effective_low;
	int64_t gauge[NR_GAUGES], gauge_flushed[NR_GAUGES];
	uint64_t event[RS_NR_EVENTS]; /* of the subtree, all nodes */
	uint64_t nr_max_events, nr_high_events, nr_oom_events, nr_oom_kills;
	uint32_t nr_procs;
	uint16_t reclaim_iter[RS_MAX_NODES]; /* where shared partial walks go on (6.12) */
};

/* ---- address spaces (vma.c, pgtable.c, rmap.c) ---- */

struct pte_table {
	uint32_t mm;
	uint32_t nr_used; /* nonzero words */
	uint64_t vpn;	  /* first page it maps */
	uint32_t next_free;
};

/* 1 GiB of an address space: its page tables. */
struct pud_page {
	uint64_t index; /* vpn >> 18 */
	uint32_t nr_tables;
	uint32_t table[RS_PTRS_PER_TABLE];
};

/* Where a region of the trace lies in one address space. */
struct region {
	bool mapped;
	uint64_t start, pages; /* virtual page numbers */
	uint32_t nr_tables;
	uint32_t *table; /* page table numbers, by 2 MiB of the region; 0 = look it up */
};

struct mm {
	struct rs_mm pub; /* first */
	uint32_t cap_vmas;
	struct pud_page **puds; /* by index */
	uint32_t nr_puds, last_pud;
	struct region *regions;
	uint32_t nr_regions;
	uint32_t users; /* threads */
	uint64_t total_pages, nr_swap_ptes;
	bool oom_victim;
	/* Scans for hint faults: when the next may begin (0: none yet), where it goes on, rounds.
	 */
	ns_t numa_next_scan;
	uint64_t numa_scan_offset;
	uint32_t numa_scan_seq;
	void *lock; /* the engine's mmap_lock */
};

/* All VMAs that may map pages of an object: the kernel's anon_vma or i_mmap tree. */
struct vma_set {
	struct rs_vma **vma;
	uint32_t nr, cap;
};
struct anon_vma {
	struct vma_set vmas;
	uint32_t next_free;
	bool used;
};

/* ---- page cache (pagecache.c) ---- */

#define CACHE_CHUNK 512u
struct cache_chunk {
	uint64_t slot[CACHE_CHUNK]; /* 0, pfn << 1, or shadow | 1 */
	uint32_t nr_dirty;
};
/* Read-ahead state of an open file. Kernel: struct file_ra_state. */
struct file_ra {
	uint64_t start, prev_index; /* prev_index: page the last read ended in; UINT64_MAX = none */
	uint32_t size, async_size, mmap_miss;
};
struct open_file {
	struct file_ra ra;
	uint8_t advice; /* enum rs_advice: normal, random, sequential, noreuse */
};
struct file {
	bool defined;
	uint64_t pages, disk_pages; /* size; how much of it exists on disk */
	uint64_t disk_start;	    /* where on the disk it begins, in pages */
	uint64_t nr_chunks;
	struct cache_chunk **chunk;
	struct vma_set vmas;
	struct open_file *open;
	uint32_t nr_open;
	uint64_t nr_cached, nr_dirty;
	ns_t dirtied_at; /* of the oldest dirtying since it was last clean */
};

/* ---- swap (swap.c) ---- */

struct swap_slot {
	uint32_t count; /* swap PTEs */
	pfn_t cached;	/* folio in the swap cache, or 0 */
	uint64_t shadow;
	uint16_t memcg; /* charged to */
	bool used;	/* taken by a PTE, the cache or a CPU's slot cache */
	bool stored;	/* zram: holds compressed data */
};
#define SLOTS_CACHE 64u
/* Kernel (7.2): enum swap_cluster_flags; a CPU may use those up to SWAP_CLUSTER_FRAG. */
enum swap_cluster_list {
	SWAP_CLUSTER_FREE,
	SWAP_CLUSTER_NONFULL, /* slots came back since it was last used */
	SWAP_CLUSTER_FRAG,    /* in use, or left with holes */
	SWAP_CLUSTER_FULL,
	SWAP_CLUSTER_LISTS,
	SWAP_CLUSTER_OFF_LIST
};
#define SWAP_NO_CLUSTER UINT32_MAX
struct swap_cluster {
	uint32_t prev, next;
	enum swap_cluster_list list;
};
struct swap_area {
	struct swap_slot *slot; /* index 0 unused, as on disk */
	uint32_t nr_slots, nr_free;
	uint32_t *slot_of;		     /* by pfn: slot of a folio in the swap cache */
	uint32_t cluster_size;		     /* slots, a power of two */
	uint32_t *cluster_free;		     /* free slots in each cluster */
	struct swap_cluster *cluster_link;   /* their lists (7.2), else NULL */
	uint32_t nr_clusters, cluster, next; /* the CPU's current cluster and where to go on */
	uint32_t position;		     /* of that cluster in the order they are taken */
	uint32_t nr_ret, ret[SLOTS_CACHE];   /* given back, not yet free (before 6.14) */
};

/* Compressed pages, in frames of the machine (zram.c). Kernel: struct zs_pool. */
struct zram {
	uint32_t page_bytes;			   /* of one compressed page */
	uint32_t objects_per_zspage, zspage_pages; /* of its size class */
	uint64_t nr_objects, max_frames;
	GArray *frames; /* pfn_t */
};

struct machine {
	const struct rs_config *cfg;
	enum rs_kernel kernel;
	uint32_t nr_lists; /* policy's lists of a lruvec */

	struct folio *folios;
	pfn_t nr_frames, next_head, max_head; /* list heads come behind the frames */
	uint32_t nr_nodes;
	struct node node[RS_MAX_NODES];

	struct memcg *memcg;
	uint32_t nr_memcgs;
	struct lruvec **lruvec; /* [memcg * nr_nodes + nid] */
	uint16_t trace_memcg;

	uint32_t *pte; /* table << 9 | index; table 0 is empty for ever */
	uint8_t *pmd;
	struct pte_table *table;
	uint32_t nr_tables, max_tables, free_table;

	struct mm **mm; /* by id; NULL: gone. Id 0 is never used */
	uint32_t nr_mms, cap_mms;

	struct anon_vma *anon_vma; /* 0 is never used */
	uint32_t nr_anon_vmas, cap_anon_vmas, free_anon_vma;

	struct file *file;
	uint32_t nr_files;
	uint64_t disk_end; /* behind the last file: files lie one behind the other */

	struct swap_area swap;
	struct zram zram;

	uint64_t vmstat[RS_NR_EVENTS];
	uint64_t stat_updates, stat_threshold; /* pending memcg statistics: units, 64 units */
	uint64_t nr_file_mapped, nr_anon_mapped, nr_dirty, nr_writeback, nr_swapcached,
		nr_file_pages;
};

/* machine.c */
bool machine_init(struct machine *, const struct rs_config *, uint32_t nr_lists, GError **);
void machine_clear(struct machine *);
void *reserve_array(size_t nr, size_t size); /* zeroed, sparse: untouched parts cost nothing */
void release_array(void *, size_t nr, size_t size);
pfn_t machine_new_heads(struct machine *, uint32_t n);

/* node.c */
uint64_t machine_total_frames(const struct rs_config *);
void nodes_init(struct machine *);
/* A block of 1 << order frames of that zone, or RS_PFN_NONE. Does not look at watermarks. */
pfn_t zone_alloc(struct machine *, uint8_t nid, enum rs_zone, unsigned order);
void zone_free(struct machine *, pfn_t, unsigned order);
static inline struct zone *folio_zone(struct machine *m, pfn_t pfn)
{
	return &m->node[m->folios[pfn].nid].zone[m->folios[pfn].zone];
}
/* Which node has the frame, without a look at its folio. */
static inline uint8_t pfn_to_nid(const struct machine *m, pfn_t pfn)
{
	uint8_t nid = 0;

	while (pfn >= m->node[nid].end)
		nid++;
	return nid;
}
bool zone_watermark_ok(const struct machine *, uint8_t nid, enum rs_zone, unsigned order,
		       uint64_t mark, enum rs_zone highest);
uint64_t zone_reclaimable(const struct machine *, const struct zone *);

/* memcg.c */
uint16_t memcg_find(const struct machine *, const char *path);	      /* RS_MEMCG_NONE if missing */
uint16_t memcg_create(struct machine *, const char *path, GError **); /* with its ancestors */
static inline struct lruvec *lruvec_of(const struct machine *m, uint16_t memcg, uint8_t nid)
{
	return m->lruvec[(uint32_t)memcg * m->nr_nodes + nid];
}
static inline struct lruvec *folio_lruvec(const struct machine *m, pfn_t pfn)
{
	return lruvec_of(m, m->folios[pfn].memcg, m->folios[pfn].nid);
}
/* Charge the group and its ancestors; at the first full one nothing is charged. */
bool memcg_try_charge(struct machine *, uint16_t memcg, uint64_t nr, uint16_t *ret_over);
void memcg_force_charge(struct machine *, uint16_t memcg, uint64_t nr);
void memcg_uncharge(struct machine *, uint16_t memcg, uint64_t nr);
uint64_t memcg_margin(const struct machine *, uint16_t memcg);
uint16_t memcg_next(const struct machine *, uint16_t root, uint16_t prev);
bool memcg_is_descendant(const struct machine *, uint16_t memcg, uint16_t root);
void memcg_gauge(struct machine *, uint16_t memcg, enum gauge, int64_t nr);
void memcg_count(struct machine *, uint16_t memcg, enum rs_event, uint64_t nr);
void memcg_update_protection(struct machine *, uint16_t root);
/* Memcg statistics wait in per-CPU counters until they are flushed. Kernel: memcg_rstat_updated()
 */
void memcg_stat_updated(struct machine *, uint64_t units);
void memcg_flush_stats(struct machine *);

/* lruvec.c */
void lruvec_size_add(struct machine *, struct lruvec *, unsigned lru, unsigned zone, int64_t nr);
void lruvec_count(struct machine *, struct lruvec *, enum rs_event, uint64_t nr);
bool event_is_vmstat(enum rs_event);
bool event_is_memcg(const struct machine *, enum rs_event);
const char *event_name(enum rs_event);

/* pgtable.c */
uint32_t mm_table(struct machine *, struct mm *, uint64_t vpn); /* 0: none */
uint32_t mm_table_alloc(struct machine *, struct mm *, uint64_t vpn);
void mm_free_tables(struct machine *, struct mm *, uint64_t start, uint64_t end);
static inline uint32_t *table_ptes(const struct machine *m, uint32_t table)
{
	return m->pte + ((size_t)table << 9);
}
static inline uint32_t *mm_pte(struct machine *m, struct mm *mm, uint64_t vpn)
{
	uint32_t table = mm_table(m, mm, vpn);

	return table ? table_ptes(m, table) + (vpn & 511) : NULL;
}
void pte_set(struct machine *, uint32_t table, uint32_t *pte, uint32_t value);

#define PTE_SWAP 2u	     /* absent PTE: slot << 5 | PTE_SWAP [| PTE_SWP_EXCLUSIVE] */
#define PTE_SWP_EXCLUSIVE 4u /* nobody else can have the slot: no fork since */
static inline bool pte_is_swap(uint32_t pte)
{
	return !(pte & RS_PTE_PRESENT) && (pte & PTE_SWAP);
}
static inline uint32_t pte_slot(uint32_t pte)
{
	return pte >> RS_PTE_PFN_SHIFT;
}
static inline uint32_t make_swap_pte(uint32_t slot)
{
	return slot << RS_PTE_PFN_SHIFT | PTE_SWAP;
}
static inline uint32_t make_pte(pfn_t pfn, uint32_t bits)
{
	return pfn << RS_PTE_PFN_SHIFT | RS_PTE_PRESENT | bits;
}

/* vma.c */
struct mm *mm_new(struct machine *, uint16_t memcg);
void mm_free(struct machine *, struct mm *);		     /* its pages are gone already */
struct rs_vma *mm_find_vma(const struct mm *, uint64_t vpn); /* the VMA that holds it, or NULL */
uint32_t mm_vma_index(const struct mm *, uint64_t vpn);	     /* first VMA with end > vpn */
struct rs_vma *mm_map(struct machine *, struct mm *, uint64_t start, const struct rs_map *,
		      uint16_t handle);
bool vma_can_merge(const struct rs_vma *, const struct rs_vma *next);
void vma_fill(struct rs_vma *, struct mm *, uint64_t start, const struct rs_map *,
	      uint16_t handle); /* zeroed before */
/* Cut VMAs so that start and end are borders. */
void mm_split(struct machine *, struct mm *, uint64_t start, uint64_t end);
/* Join equal neighbours around [start, end). */
void mm_merge(struct machine *, struct mm *, uint64_t start, uint64_t end);
void mm_remove_vmas(struct machine *, struct mm *, uint64_t start, uint64_t end);
struct rs_vma *mm_copy_vma(struct machine *, struct mm *, const struct rs_vma *);
struct region *mm_region(struct mm *, uint32_t id); /* grows the array */
void region_set(struct region *, uint64_t start, uint64_t pages);
void region_clear(struct region *);

/* unmapped_area.c: where mmap puts a mapping without address; 0 = no room. */
uint64_t mm_unmapped_area(const struct machine *, const struct mm *, const struct rs_map *);

/* rmap.c */
uint32_t anon_vma_new(struct machine *);
void vma_set_add(struct vma_set *, struct rs_vma *);
void vma_set_del(struct vma_set *, struct rs_vma *);
struct vma_set *vma_object_set(struct machine *, const struct rs_vma *); /* NULL: no object yet */
struct vma_set *folio_vma_set(struct machine *, const struct folio *);
void vma_link_object(struct machine *, struct rs_vma *);
void vma_unlink_object(struct machine *, struct rs_vma *);
/*
 * The first page of the folio in that VMA, or UINT64_MAX if it lies outside. A folio keeps the low
 * 32 bits of its offset: no VMA is longer than that.
 */
static inline uint64_t vma_address(const struct rs_vma *vma, const struct folio *f)
{
	uint64_t n = vma->end - vma->start;
	uint32_t offset = f->index - (uint32_t)vma->pgoff;

	if (offset < n)
		return vma->start + offset;
	/* A large folio that begins in front of the VMA. */
	return (uint64_t)(uint32_t)(offset + folio_nr_pages(f) - 1) < folio_nr_pages(f) - 1u
		       ? vma->start
		       : UINT64_MAX;
}

/* pagecache.c */
#define SLOT_IS_SHADOW(s) ((s)&1u)
uint64_t file_slot(const struct file *, uint64_t index);
pfn_t file_page(const struct file *, uint64_t index); /* cached folio or RS_PFN_NONE */
void file_set_slot(struct file *, uint64_t index, uint64_t slot);
void file_grow(struct file *, uint64_t pages);
struct open_file *file_handle(struct file *, uint32_t handle);
void file_reopen(struct file *, uint32_t handle); /* a new struct file under that number */
bool machine_define_file(struct machine *, uint32_t id, uint64_t pages, bool on_disk, GError **);

/* swap.c */
bool swap_init(struct machine *);
/* swap_cluster.c */
void swap_clusters_init(struct swap_area *, uint32_t nr_used);
uint32_t swap_clusters_take(struct swap_area *); /* 0: full */
void swap_clusters_freed(struct swap_area *, uint32_t slot);

uint32_t swap_take_slot(struct machine *); /* 0: full. The next one of the CPU's cluster */
void swap_release_slot(struct machine *, uint32_t slot);
void swap_cache_add(struct machine *, pfn_t, uint32_t slot);
void swap_cache_del(struct machine *, pfn_t, uint64_t shadow); /* frees the slot if unused */
void swap_put(struct machine *, uint32_t slot); /* one swap PTE less; frees with the last user */
void swap_uncharge(struct machine *, uint32_t slot);
uint64_t memcg_swap_free(const struct machine *, uint16_t memcg);
bool memcg_swap_full(const struct machine *, uint16_t memcg);
static inline uint32_t folio_slot(const struct machine *m, pfn_t pfn)
{
	return m->swap.slot_of[pfn];
}

/* zram.c */
void zram_init(struct machine *);
void zram_clear(struct machine *);
uint32_t zram_frames_wanted(const struct machine *, uint32_t slot); /* before slot can be stored */
void zram_add_frame(struct machine *, pfn_t);
void zram_store(struct machine *, uint32_t slot);
void zram_free(struct machine *, uint32_t slot);

/* shadow.c */
uint64_t shadow_pack(const struct rs_shadow *);
struct rs_shadow shadow_unpack(uint64_t);

/* vmcheck.c: every invariant of the state; false with the reason in why. */
bool machine_check(struct machine *, GString *why);

#endif
