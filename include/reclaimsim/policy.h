/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * policy.h - the specification of a reclaim policy and the services it may call.
 *
 * A policy decides where a folio stands and which go; the engine does the work (unmapping,
 * writing, freeing, charging) and prices it. A policy is a const struct rs_policy_ops; private
 * state lives in areas that the engine allocates and zeroes. Contract:
 *  - Ops are called from engine steps and run to completion; they may be suspended inside a
 *    service that waits (locks, throttling), and are never entered twice for the same task.
 *  - A folio is the policy's from add() until del(), or until the policy itself takes it off with
 *    rs_isolate(). A folio sits on exactly one of the policy's lists. Handles are pfn_t.
 *  - May write: its private areas, folio.priv, PG_referenced, PG_active, PG_workingset, PG_reclaim
 *    of folios, and its lists. Everything else goes through services. One exception: a MADV_FREE
 *    folio found dirty on a file list gets PG_swapbacked again from the policy that meets it.
 *  - No allocation after init() and lruvec_init(), no I/O, no host clock, no static mutable data.
 */
#ifndef RECLAIMSIM_POLICY_H
#define RECLAIMSIM_POLICY_H

#include <reclaimsim/folio.h>
#include <reclaimsim/types.h>

#define RS_POLICY_ABI 0u /* 0 = unstable */

struct rs_ctx; /* one simulation as the policy sees it; valid for the whole run */
struct rs_exit_info;

/* ---- parameters and counters: declarative tables, ending in a row without name ---- */

enum rs_param_type { RS_PARAM_BOOL, RS_PARAM_INT };
struct rs_param {
	const char *name;
	enum rs_param_type type;
	uint32_t offset; /* of an int64_t in the policy's parameter struct */
	int64_t def, min, max;
	const char *doc;
};
struct rs_counter {
	const char *name, *doc; /* a policy's own counters; exported with the prefix sim_ */
};

/* ---- what a policy sees of the machine ---- */

/*
 * A mechanism that the setting model.disable switches off, to see that the comparison with real
 * kernels would notice its loss. Nothing else may depend on it.
 */
enum rs_mechanism {
	RS_MECH_NONE,
	RS_MECH_TIER_PROTECTION,  /* the scan moves no folio on because of its tier */
	RS_MECH_PID,		  /* the refault controller sees no refault */
	RS_MECH_BLOOM,		  /* walks look at every page table */
	RS_MECH_LOOK_AROUND,	  /* a young folio at eviction does not vouch for its neighbours */
	RS_MECH_BATCHES,	  /* folio batches hold one entry */
	RS_MECH_REFAULT_DISTANCE, /* classic: no refault is near enough to activate */
	RS_MECH_COST_BALANCING,	  /* classic: reclaim of either type costs nothing */
	RS_MECH_SWAP_CACHE_REUSE, /* a swapped-in page leaves the swap cache at once */
	RS_NR_MECHS
};

/* Tunables a policy may read. Kernel: /proc/sys/vm, /sys/kernel/mm/lru_gen. */
struct rs_tunables {
	enum rs_kernel kernel;
	uint32_t lru_gen_enabled; /* bit 0 on, 1 page-table walks clear young, 2 non-leaf young */
	ns_t lru_gen_min_ttl_ns;
	uint32_t batch_size;	  /* entries of a CPU's folio batch: 15 (6.1) or 31 */
	bool exec_prefault_young; /* fault-around PTEs start young (x86) or old (arm64) */
	bool sort_dirty;	  /* MGLRU: dirty and writeback folios are sorted, not isolated */
	bool memory_tiering;	  /* numa_balancing bit 1: kswapd works up to the promo mark */
	uint16_t nr_nodes;
	enum rs_mechanism disabled;
};

/* (memcg, node): what the lists hang on. Kernel: struct lruvec. */
struct rs_lruvec {
	void *priv;  /* policy_ops.lruvec_size bytes, zeroed */
	pfn_t lists; /* head of list 0; list i is lists + i */
	uint32_t id;
	uint16_t memcg;
	uint8_t nid;
};

/* VMA flags. */
enum rs_vm_flag {
	VM_READ = 1u << 0,
	VM_WRITE = 1u << 1,
	VM_EXEC = 1u << 2,
	VM_SHARED = 1u << 3,
	VM_ANON = 1u << 4, /* no file (model only) */
	VM_SEQ_READ = 1u << 5,
	VM_RAND_READ = 1u << 6,
	VM_LOCKED = 1u << 7,
	VM_SPECIAL = 1u << 8,
	VM_NOREUSE = 1u << 9, /* file opened with POSIX_FADV_NOREUSE (6.3 and newer) */
	VM_HUGEPAGE = 1u << 10,
	VM_NOHUGEPAGE = 1u << 11,
	VM_STACK = 1u << 12,
};

struct rs_vma {
	uint64_t start, end;   /* virtual page numbers, end excluded */
	uint64_t pgoff;	       /* page offset of start within the object */
	uint32_t flags;	       /* enum rs_vm_flag */
	uint32_t object;       /* file number, or anon_vma once has_object (anon) */
	bool has_object;       /* an anonymous VMA gets its anon_vma at its first fault */
	uint8_t policy;	       /* enum rs_mempolicy */
	uint16_t handle;       /* of a file: the open file that was mapped. Kernel: vma->vm_file */
	uint32_t policy_nodes; /* bit mask */
	uint32_t mm;
	uint32_t cow_anon_vma; /* family of the copies in a private file mapping, 0 = none yet */
	/* Swap read-ahead of this VMA. Kernel: vma->swap_readahead_info. */
	uint64_t ra_addr;
	uint32_t ra_win, ra_hits;
	/* Per-VMA lock: faults inside, and the mark of a writer (engine/vma_lock.c). */
	uint32_t vm_lock_readers, vm_lock_seq;
};

/* An address space. Kernel: struct mm_struct. */
struct rs_mm {
	uint32_t id;
	uint16_t memcg;
	bool exiting;
	uint64_t rss[RS_NR_TYPES]; /* mapped pages */
	uint32_t nr_vmas;
	struct rs_vma **vmas; /* by address */
	void *priv;	      /* policy_ops.mm_size bytes, zeroed */
};

/* PTE word (present): P Y D W N | pfn << 5. Absent: 0, or a swap entry. See rs_pte_*(). */
#define RS_PTE_PRESENT 1u
#define RS_PTE_YOUNG 2u
#define RS_PTE_DIRTY 4u
#define RS_PTE_WRITE 8u
#define RS_PTE_PROTNONE 16u /* hint fault pending */
#define RS_PTE_PFN_SHIFT 5
static inline pfn_t rs_pte_pfn(uint32_t pte)
{
	return pte >> RS_PTE_PFN_SHIFT; /* 0 = the zero page, never a folio */
}
/* PMD byte, one a page table. */
#define RS_PMD_YOUNG 1u
/* Maps one order-9 folio: PTE 0 of the table holds its word, young included. */
#define RS_PMD_LEAF 2u

/* One PTE that maps a folio, as met by a reverse map walk. Kernel: struct page_vma_mapped_walk. */
struct rs_pvmw {
	struct rs_mm *mm;
	struct rs_vma *vma;
	uint64_t vpn;
	uint32_t table; /* page table number */
	uint32_t *pte;	/* the word, inside rs_ptes(table) */
	pfn_t pfn;	/* head of the folio */
};

/* ---- scan control. Kernel: mm/vmscan.c struct scan_control ---- */
struct rs_scan {
	uint64_t nr_to_reclaim, nr_reclaimed, nr_scanned;
	uint16_t target_memcg; /* 0 = root: global reclaim */
	bool cgroup_reclaim;   /* a limit (or memory.reclaim on a group) is the cause */
	bool kswapd, proactive;
	bool gfp_io, gfp_fs;
	int8_t priority, order, reclaim_idx; /* reclaim_idx: highest enum rs_zone */
	bool may_writepage, may_unmap, may_swap;
	bool memcg_low_reclaim, memcg_low_skipped, memcg_full_walk, no_demotion;
	bool skipped_deactivate, force_deactivate;
	bool no_cache_trim_mode, cache_trim_mode_failed;
	bool want_oom;	/* out: the policy asks for an OOM kill (min_ttl) */
	int swappiness; /* proactive override, else -1 */
	struct {
		uint32_t dirty, unqueued_dirty, congested, writeback, immediate, taken, file_taken;
	} nr;
	uint64_t priv[8]; /* the policy's own fields for this run, zero at its start */
};

/* Result of one rs_shrink_folios(). Kernel: struct reclaim_stat. All in pages. */
struct rs_reclaim_stat {
	uint32_t nr_dirty, nr_unqueued_dirty, nr_congested, nr_writeback, nr_immediate;
	uint32_t nr_pageout, nr_activate[RS_NR_TYPES], nr_ref_keep, nr_unmap_fail;
};

/* Folios taken off their lists, oldest first. Fixed size: no kernel batch isolates more. */
#define RS_ISOLATED_MAX 128u
struct rs_isolated {
	uint32_t n;
	pfn_t pfn[RS_ISOLATED_MAX];
};

enum rs_verdict { RS_RECLAIM, RS_RECLAIM_CLEAN, RS_KEEP, RS_ACTIVATE };

/* LRU lists as counted by the kernel (enum lru_list); the policy keeps the sizes true. */
enum rs_lru {
	RS_INACTIVE_ANON,
	RS_ACTIVE_ANON,
	RS_INACTIVE_FILE,
	RS_ACTIVE_FILE,
	RS_NR_LRU /* the unevictable list is the engine's */
};

/*
 * Shadow entry: 64 bits left behind by an evicted page. Same contents as the kernel's, wider token.
 * Kernel: mm/workingset.c pack_shadow(). Never 0.
 */
struct rs_shadow {
	uint64_t token; /* the policy's, up to RS_SHADOW_TOKEN_BITS */
	uint16_t memcg;
	uint8_t nid;
	bool workingset;
};
#define RS_SHADOW_TOKEN_BITS 36

/* A generation as the result shows it. Kernel: debugfs lru_gen. */
struct rs_lru_gen_row {
	uint64_t seq, age_ms;
	int64_t nr_pages[RS_NR_TYPES];
};

/* ---- the operations ---- */
struct rs_policy_ops {
	uint32_t abi, size; /* RS_POLICY_ABI, sizeof(struct rs_policy_ops) */
	const char *name, *summary;
	const struct rs_param *params;					     /* may be NULL */
	const struct rs_counter *counters;				     /* may be NULL */
	uint32_t params_size, policy_size, lruvec_size, mm_size, folio_size; /* private state */
	uint32_t nr_lists; /* lists a lruvec, set up empty */
	bool is_lru_gen;   /* classic decisions of the engine step back: costs, snapshots, ... */

	/* Once, before the first access. Parameters are in rs_params(). */
	bool (*init)(struct rs_ctx *, GError **);
	void (*exit)(struct rs_ctx *);
	void (*lruvec_init)(struct rs_ctx *, struct rs_lruvec *);

	/*
	 * The folio enters the lruvec: a batch is drained, or reclaim puts it back. tail: rotation
	 * at the end of writeback. The policy puts it on a list and accounts with
	 * rs_lru_size_add(). Required. Kernel: lruvec_add_folio(), lruvec_add_folio_tail().
	 */
	void (*add)(struct rs_ctx *, struct rs_lruvec *, pfn_t, bool tail);
	/*
	 * Off its list: freed outside reclaim, or about to be re-added. MGLRU leaves PG_active set
	 * if the folio was in an active generation, so a mover that means "inactive" (rotation,
	 * deactivation, MADV_FREE, mlock) clears PG_active between del() and add(), as the kernel's
	 * do. Required. Kernel: lruvec_del_folio().
	 */
	void (*del)(struct rs_ctx *, struct rs_lruvec *, pfn_t);

	/*
	 * Before it enters the lru_add batch, inside a page fault of vma: the faulting folio, COW
	 * copies and everything read ahead by that fault; not by a task in reclaim. Kernel:
	 * folio_add_lru().
	 */
	void (*fault_add)(struct rs_ctx *, pfn_t, const struct rs_vma *);
	/* read(), tmpfs, munmap of a young file PTE. Kernel: swap.c folio_mark_accessed(). */
	void (*mark_accessed)(struct rs_ctx *, pfn_t);

	/* Evicted for target memcg: the shadow to leave. NULL: no shadow. workingset_eviction(). */
	struct rs_shadow (*evict)(struct rs_ctx *, pfn_t, uint16_t target_memcg);
	/*
	 * Found a shadow; the folio is charged, not yet in a batch. in_fault: inside a page fault
	 * of a VMA with recency (rs_vma_has_recency()). Kernel: workingset_refault().
	 */
	void (*refault)(struct rs_ctx *, pfn_t, const struct rs_shadow *, bool in_fault);

	/*
	 * Reclaim from one lruvec: adds to sc->nr_reclaimed. The engine holds a block plug around
	 * the call, so asynchronous swap writes complete behind it. Required. Kernel:
	 * shrink_lruvec().
	 */
	void (*shrink_lruvec)(struct rs_ctx *, struct rs_lruvec *, struct rs_scan *);
	/* Before the groups of a node are visited. Kernel: prepare_scan_control(). */
	void (*prepare)(struct rs_ctx *, uint8_t nid, struct rs_scan *);
	/*
	 * Replaces the walk over groups in reclaim of the root (target_memcg 0), memory.reclaim on
	 * the root included; one plug around the call. False: not here, the engine walks the
	 * groups. Kernel: lru_gen_shrink_node().
	 */
	bool (*shrink_root)(struct rs_ctx *, uint8_t nid, struct rs_scan *);
	/* kswapd, before each pass. Kernel: kswapd_age_node(). */
	void (*age_node)(struct rs_ctx *, uint8_t nid, struct rs_scan *);
	/* The end of a reclaim run, on the target's lruvec. Kernel: snapshot_refaults(). */
	void (*snapshot)(struct rs_ctx *, struct rs_lruvec *);

	/* shrink_folio_list(): true = keep at once, no look at its references (6.1, 6.12 MGLRU). */
	bool (*keep_early)(struct rs_ctx *, pfn_t);
	/* shrink_folio_list(): the verdict. NULL: reclaim all. Kernel: folio_check_references(). */
	enum rs_verdict (*check_references)(struct rs_ctx *, pfn_t, struct rs_scan *);
	/*
	 * rmap walk of rs_folio_referenced() at one PTE: clear its young bit, say whether it was
	 * young. NULL: just that. MGLRU looks around here. Kernel: folio_referenced_one().
	 */
	bool (*referenced_one)(struct rs_ctx *, struct rs_pvmw *, struct rs_scan *);

	/*
	 * Address spaces come, go, are switched to (every switch of a CPU to one of its tasks, from
	 * a kernel thread too, and exec), move between groups (mm->memcg is the new one). Kernel:
	 * lru_gen_add_mm(), lru_gen_del_mm(), lru_gen_use_mm(), lru_gen_migrate_mm().
	 */
	void (*mm_add)(struct rs_ctx *, struct rs_mm *);
	void (*mm_del)(struct rs_ctx *, struct rs_mm *);
	void (*mm_switch)(struct rs_ctx *, struct rs_mm *);
	void (*mm_migrate)(struct rs_ctx *, struct rs_mm *, uint16_t old_memcg);

	/*
	 * Groups, the root included. memcg_offline: before 7.2 the folios stay. In 7.2 the policy
	 * moves its lists and their sizes to the parent's lruvecs here (all nodes); the engine then
	 * charges the folios to the parent without del() and add(). Kernel:
	 * lru_gen_reparent_memcg().
	 */
	void (*memcg_online)(struct rs_ctx *, uint16_t memcg);
	void (*memcg_offline)(struct rs_ctx *, uint16_t memcg);

	/* MADV_COLD, MADV_FREE, ... after the engine's common part: is the folio to be re-added? */
	bool (*deactivate)(struct rs_ctx *, pfn_t);

	/* Generations for the result, oldest first: up to max rows, returns how many. NULL: none.
	 */
	unsigned (*lru_gen)(struct rs_ctx *, struct rs_lruvec *, unsigned max,
			    struct rs_lru_gen_row *);
	/* Debug builds, after every reclaim: is the private state sound? Appends the reason if not.
	 */
	bool (*check)(struct rs_ctx *, struct rs_lruvec *, GString *why);
};

/* A plug-in exports: const struct rs_policy_ops rs_policy_ops. */

/* ==== services ==== */

/* ---- state ---- */
struct folio *rs_folios(struct rs_ctx *);    /* the array, indexed by pfn */
void *rs_policy_priv(struct rs_ctx *);	     /* policy_size bytes */
void *rs_params(struct rs_ctx *);	     /* params_size bytes */
void *rs_folio_priv(struct rs_ctx *, pfn_t); /* folio_size bytes */
const struct rs_tunables *rs_tunables(struct rs_ctx *);
ns_t rs_now(struct rs_ctx *);	     /* clock of the running task */
uint64_t rs_random(struct rs_ctx *); /* the policy's own stream */
bool rs_task_is_kswapd(struct rs_ctx *);

/* ---- groups and lruvecs. memcg 0 is the root. ---- */
struct rs_lruvec *rs_lruvec(struct rs_ctx *, uint16_t memcg, uint8_t nid);
struct rs_lruvec *rs_folio_lruvec(struct rs_ctx *, pfn_t);
#define RS_MEMCG_NONE UINT16_MAX
uint16_t rs_memcg_parent(struct rs_ctx *, uint16_t memcg); /* RS_MEMCG_NONE above the root */
bool rs_memcg_exists(struct rs_ctx *, uint16_t memcg);	   /* its id still resolves (shadows) */
bool rs_memcg_online(struct rs_ctx *, uint16_t memcg);
/* Pre-order over the subtree of root: pass RS_MEMCG_NONE first; RS_MEMCG_NONE at the end. */
uint16_t rs_memcg_next(struct rs_ctx *, uint16_t root, uint16_t prev);
bool rs_memcg_is_descendant(struct rs_ctx *, uint16_t memcg, uint16_t root);
bool rs_memcg_below_min(struct rs_ctx *, uint16_t target, uint16_t memcg);
bool rs_memcg_below_low(struct rs_ctx *, uint16_t target, uint16_t memcg);
/* Effective protection in pages; usage and the two values from one read. */
void rs_memcg_protection(struct rs_ctx *, uint16_t target, uint16_t memcg, uint64_t *min,
			 uint64_t *low, uint64_t *usage);
uint64_t rs_memcg_swap_free(struct rs_ctx *, uint16_t memcg); /* free swap pages for the group */
int rs_swappiness(struct rs_ctx *, uint16_t memcg, const struct rs_scan *);
bool rs_can_demote(struct rs_ctx *, uint8_t nid, const struct rs_scan *);
bool rs_swap_exists(struct rs_ctx *);

/* ---- sizes and statistics ---- */
/* Move nr_pages (may be negative) into the counters of a list. Kernel: update_lru_size(). */
void rs_lru_size_add(struct rs_ctx *, struct rs_lruvec *, enum rs_lru, enum rs_zone, int64_t nr);
uint64_t rs_lru_size(struct rs_ctx *, struct rs_lruvec *, enum rs_lru,
		     enum rs_zone highest); /* exact */
uint64_t rs_lru_size_flushed(struct rs_ctx *, struct rs_lruvec *,
			     enum rs_lru); /* subtree, as last flushed */
enum rs_event {
#define RS_EVENT(id, name, where, doc) RS_##id,
#include <reclaimsim/vmstat.def>
#undef RS_EVENT
	RS_NR_EVENTS
};
/* Count for the lruvec's group, its ancestors and the machine. Kernel: mod_lruvec_state(). */
void rs_count(struct rs_ctx *, struct rs_lruvec *, enum rs_event, uint64_t nr);
/* Count reclaim: as rs_count(), but vmstat leaves out limit reclaim where the kernel does. */
void rs_count_reclaim(struct rs_ctx *, struct rs_lruvec *, const struct rs_scan *, enum rs_event,
		      uint64_t nr);
uint64_t rs_event_flushed(struct rs_ctx *, struct rs_lruvec *,
			  enum rs_event);			   /* subtree, as last flushed */
void rs_count_own(struct rs_ctx *, unsigned counter, uint64_t nr); /* index into policy counters */
void rs_flush_stats_ratelimited(struct rs_ctx *); /* mem_cgroup_flush_stats[_ratelimited]() */

/* ---- nodes and zones ---- */
uint64_t rs_zone_managed(struct rs_ctx *, uint8_t nid, enum rs_zone);
uint64_t rs_zone_free(struct rs_ctx *, uint8_t nid, enum rs_zone);
enum rs_wmark { RS_WMARK_MIN, RS_WMARK_LOW, RS_WMARK_HIGH, RS_WMARK_PROMO };
uint64_t rs_zone_wmark(struct rs_ctx *, uint8_t nid, enum rs_zone, enum rs_wmark);
/* Kernel: zone_watermark_ok(zone, order, mark, highest_idx, 0). */
bool rs_zone_watermark_ok(struct rs_ctx *, uint8_t nid, enum rs_zone, unsigned order, uint64_t mark,
			  enum rs_zone highest);

/* ---- reclaim ---- */
void rs_lru_add_drain(struct rs_ctx *);
/* Shadow nodes of one group: for shrink_root(); the engine's own walk does it itself. */
void rs_shrink_slab(struct rs_ctx *, struct rs_lruvec *, struct rs_scan *);
/*
 * Take a folio the policy has just unlinked out of the LRU (clears PG_lru, sets PG_isolated).
 * False: it cannot be isolated now; the policy puts it where its kernel does.
 */
bool rs_isolate(struct rs_ctx *, pfn_t);
/*
 * Try to free the folios. The survivors stay in the array, oldest first, PG_active as the verdict
 * left it, and must be given back with rs_putback(). Returns pages freed.
 * Kernel: shrink_folio_list().
 */
uint32_t rs_shrink_folios(struct rs_ctx *, uint8_t nid, struct rs_isolated *, struct rs_scan *,
			  struct rs_reclaim_stat *, bool ignore_references);
/*
 * Back to the LRU: the engine's unevictable list or ops.add(). Takes no lock: the caller holds the
 * lruvec's for the whole batch. Kernel: move_folios_to_lru().
 */
void rs_putback(struct rs_ctx *, pfn_t);
/* Queue in this CPU's activate batch; PGACTIVATE when it drains. Kernel: folio_activate(). */
void rs_folio_activate(struct rs_ctx *, pfn_t);
bool rs_folio_in_add_batch(struct rs_ctx *, pfn_t); /* waits in this CPU's lru_add batch */
/*
 * Reverse map walk: number of VMAs with a young PTE, which is cleared; -1 if the lock is
 * contended. ret_vm_flags: union of their flags. Kernel: rmap.c folio_referenced().
 */
int rs_folio_referenced(struct rs_ctx *, pfn_t, struct rs_scan *, uint32_t *ret_vm_flags);
bool rs_folio_mapped(struct rs_ctx *, pfn_t);
void rs_folio_mark_dirty(struct rs_ctx *, pfn_t); /* a dirty PTE bit moves to the folio */
void rs_wakeup_flusher(struct rs_ctx *);
void rs_throttle(struct rs_ctx *, uint8_t nid, const char *reason); /* reclaim_throttle() */
/* Send off the swap writes held back so far. Kernel: blk_finish_plug(). */
void rs_flush_plug(struct rs_ctx *);
bool rs_has_fatal_signal(struct rs_ctx *);
/* For people: goes into the result's warnings, once. */
void rs_warn(struct rs_ctx *, const char *text);

/* ---- page tables ---- */
struct rs_mm *rs_mm(struct rs_ctx *, uint32_t id);		     /* NULL: gone */
uint32_t rs_mm_table(struct rs_ctx *, struct rs_mm *, uint64_t vpn); /* 0: no page table there */
uint32_t *rs_ptes(struct rs_ctx *, uint32_t table);		     /* 512 words */
uint8_t *rs_pmd(struct rs_ctx *, uint32_t table);
pfn_t rs_pfn_head(struct rs_ctx *, pfn_t); /* folio of a page frame */
bool rs_vma_has_recency(struct rs_ctx *, const struct rs_vma *);
bool rs_mmap_read_trylock(struct rs_ctx *, struct rs_mm *);
void rs_mmap_read_unlock(struct rs_ctx *, struct rs_mm *);
bool rs_need_resched(struct rs_ctx *);

/* ---- prices and locks ---- */
enum rs_cost {
#define RS_COST(id, name, def, cls, activity, doc) RS_COST_##id,
#include <reclaimsim/cost.def>
#undef RS_COST
	RS_NR_COSTS
};
void rs_charge(struct rs_ctx *, enum rs_cost, uint64_t n);
/* The LRU lock of a lruvec. Held inside one step only: time passes for those who wait. */
void rs_lru_lock(struct rs_ctx *, struct rs_lruvec *);
void rs_lru_unlock(struct rs_ctx *, struct rs_lruvec *, uint64_t nr_pages);

#endif
