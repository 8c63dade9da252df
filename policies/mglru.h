/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * mglru.h - the multi-gen LRU, shared by its files: private state, dialects, hooks.
 *
 * A lruvec's folios live in up to four generations per type. Generations are numbered by sequence
 * numbers that only grow (max_seq is shared, min_seq is per type); a generation's lists are found
 * by its number modulo four. Ageing makes a new youngest generation, eviction takes from the
 * oldest. A promoted folio only has its generation bits changed and is moved when the scan of the
 * oldest generation meets it, so the list a folio is on and its generation may differ.
 *
 *   mglru_place.c       where a folio enters, leaves, moves; references through descriptors
 *   mglru_workingset.c  shadow entries
 *   mglru_pid.c         refault controller: which type to scan, which tiers to protect
 *   mglru_seq.c         opening and closing generations
 *   mglru_age.c         the list of address spaces, the Bloom filters, the page-table walk
 *   mglru_look.c        reference checks at eviction and look-around
 *   mglru_evict.c       scan, sort, isolate, evict
 *   mglru_loop.c        how much to scan, when to age, when to stop
 *   mglru_memcg.c       global reclaim: groups by the memcg LRU, kswapd's ageing, min_ttl
 *   mglru.c             dialects, operations, consistency check
 */
#ifndef POLICIES_MGLRU_H
#define POLICIES_MGLRU_H

#include <inttypes.h>
#include <string.h>

#include <reclaimsim/observe.h>
#include <reclaimsim/policy.h>

#define MIN_NR_GENS 2u
#define MAX_NR_GENS 4u
#define MAX_NR_TIERS 4u
#define LRU_REFS_MAX 3u /* what two reference bits hold */
#define MIN_LRU_BATCH 64u
#define MAX_LRU_BATCH 4096u
#define BLOOM_FILTER_SHIFT 15u
#define MEMCG_NR_GENS 3u
#define MEMCG_NR_BINS 8u
#define MGLRU_MAX_NODES 8u
#define SWAPPINESS_MAX 200
#define SWAPPINESS_ANON_ONLY 201

/*
 * folio.priv:
 *
 *    31     17   16  15       8 7     5 4   3 2     0
 *   +---------+----+----------+-------+-----+-------+
 *   | unused  |seen| HitShield| unused| refs|gen + 1|
 *   +---------+----+----------+-------+-----+-------+
 *
 * gen + 1 is 0 while the folio is on no list. refs counts accesses through descriptors beyond those
 * that PG_referenced and PG_workingset stand for (the order differs by dialect). seen: HitShield
 * has met the folio before.
 */
#define FOLIO_GEN_MASK 7u
#define FOLIO_REFS_SHIFT 3
#define FOLIO_REFS_MASK (3u << FOLIO_REFS_SHIFT)
#define FOLIO_HIT_SHIFT 8
#define FOLIO_HIT_MASK (0xffu << FOLIO_HIT_SHIFT)
#define FOLIO_HIT_SEEN (1u << 16)
_Static_assert(MAX_NR_GENS <= FOLIO_GEN_MASK, "gen + 1 fits its bits");

/* Lists of a lruvec: [generation][type][zone], and one for what a scan sets aside. */
#define MGLRU_LIST(gen, type, zone) (((gen)*RS_NR_TYPES + (type)) * RS_NR_ZONES + (zone))
#define MGLRU_LIST_ASIDE (MAX_NR_GENS * RS_NR_TYPES * RS_NR_ZONES)
#define MGLRU_NR_LISTS (MGLRU_LIST_ASIDE + 1)

/* How references through descriptors are kept. */
enum mglru_refs {
	REFS_BEHIND_WORKINGSET, /* 6.1, 6.12: referenced, workingset, then the bits */
	REFS_BOTH_FLAGS,	/* 5.18: the same, but they count only with both flags set */
	REFS_BEHIND_REFERENCED, /* 6.14 and newer: referenced, the bits, then workingset */
};

/* Where a folio enters. The cases are in folio_seq(). */
enum mglru_place {
	PLACE_OLDEST,	   /* 5.18: by default the oldest generation */
	PLACE_SECOND_LAST, /* 6.1, 6.12: with four generations the second oldest */
	PLACE_BY_DISTANCE, /* 6.14: a fixed distance from the youngest */
	PLACE_REFERENCED,  /* 7.2: the same, PG_referenced counts as one generation */
};

enum mglru_loop { LOOP_5_18, LOOP_6_1, LOOP_6_12, LOOP_7_2 };

/* What tells the kernels apart. Everything else follows from rs_tunables. */
struct mglru_dialect {
	enum mglru_refs refs;
	enum mglru_place place;
	enum mglru_loop loop;
	bool page_tables;	/* page-table walks and look-around exist */
	bool two_touch;		/* a first young PTE marks, only a second promotes */
	bool fault_references;	/* a fault marks new folios referenced, not active */
	bool refs_climb;	/* a second touch at eviction is one more reference (7.2) */
	bool active_add_clears; /* an active add clears the references, look-around before one, too
				 */
	bool min_seq_split;	/* min_seq of anon and file move independently */
	bool inc_min_moves;	/* closing a generation moves its folios on */
	bool inc_min_protects;	/* ... and counts them as protected */
	bool protect_head;	/* a protected folio goes to the head of the next generation */
	bool protect_activates; /* ... and counts as WORKINGSET_ACTIVATE */
	bool protect_counts_saturated;
	bool culls_unevictable; /* the scan sends unevictable folios to their list itself */
	bool keeps_reclaim;	/* isolation leaves PG_reclaim alone */
	bool sorts_lazyfree;	/* the scan turns dirty MADV_FREE folios back into anonymous ones */
	bool all_zones;		/* zones above reclaim_idx are scanned too, and sorted */
	bool isolates_by_control; /* may_unmap, may_writepage refuse isolation */
	bool isolates_without_io; /* GFP_IO does not matter at isolation */
	bool shared_writeback;	  /* writeback feedback as in the classic path (7.2) */
	bool wakes_flusher;	  /* after a lruvec whose file folios were all dirty */
	bool keeps_young_target; /* 6.1 and 6.12: PG_referenced on an isolated mapped folio keeps it
				  */
	bool look_includes_target; /* look-around treats the target as one of its window */
	bool skips_small_mm;	   /* walks pass over address spaces below 64 pages */
	bool force_skips_nonleaf;  /* a forced walk does not look at the PMD's young bit */
	bool nowalk_forgets;	   /* ageing without a walk forgets where the last one ended */
	bool walk_runs; /* PTEs of one folio are one reference; off-list folios are skipped */
	bool walk_for_proactive; /* memory.reclaim has a walk from the start */
	bool memcg_lru;		 /* global reclaim goes by the memcg LRU */
	bool recent_by_distance; /* a refault is recent within four generations */
	bool refault_by_lruvec;	 /* counted whenever the shadow's lruvec is the folio's */
	bool reparents;		 /* folios of an offline group move to the parent */
};

struct mglru_lruvec;

/*
 * Hooks for experimental patches; each may be NULL. update_gen: the folio was promoted through page
 * tables, from that generation (-1: would be, were it not isolated). sort_last: after all tests of
 * the scan; true: moved. first_use: does the first young PTE of a folio with neither reference mark
 * promote?
 */
struct mglru_hooks {
	void (*add)(struct rs_ctx *, pfn_t);
	void (*update_gen)(struct rs_ctx *, pfn_t, int from);
	bool (*sort_last)(struct rs_ctx *, struct rs_lruvec *, pfn_t);
	bool (*first_use)(struct rs_ctx *, pfn_t, uint32_t vm_flags);
};

struct mglru_params {
	int64_t look_around; /* 0, 1; -1: as the kernel has it */
	int64_t page_table_walks;
};

/* Sizes of promotions that are not yet in the lruvec. Kernel: struct lru_gen_mm_walk. */
struct mglru_walk {
	struct rs_lruvec *lruvec;
	uint64_t seq; /* the max_seq the walk was started for */
	uint64_t next_vpn;
	int swappiness;
	bool force_scan;
	uint32_t batched;
	int32_t nr_pages[MAX_NR_GENS][RS_NR_TYPES][RS_NR_ZONES];
};

/*
 * One reclaim run as the multi-gen LRU sees it; rs_scan.priv[] of that run.
 * Kernel: current->reclaim_state->mm_walk, scan_control.
 */
enum mglru_scan_priv {
	SCAN_WALK,	     /* struct mglru_walk * once the run has one */
	SCAN_WALK_STORAGE,   /* struct mglru_walk * that becomes it when the run ages */
	SCAN_NEED_AGING,     /* memcgs_need_aging (6.1) */
	SCAN_LAST_RECLAIMED, /* last_reclaimed (6.1) */
};

/* References to address spaces: 0 is the head of the list, id + 1 an entry. */
#define MM_FIFO 0u
#define MM_NONE UINT32_MAX

struct mglru_mm {
	uint32_t next, prev;
	uint32_t nodes; /* bit by node: scheduled in since the last walk there */
	uint16_t memcg;
	bool listed;
};

/* Kernel: struct lru_gen_mm_state. */
struct mglru_mm_state {
	uint64_t seq;	     /* last generation for which all address spaces were visited */
	uint32_t head, tail; /* where this iteration is, where the last one ended */
	bool filter_used[2];
	uint32_t filter[2][(1u << BLOOM_FILTER_SHIFT) / 32];
};

/* Kernel: struct lru_gen_folio. */
struct mglru_lruvec {
	uint64_t max_seq, min_seq[RS_NR_TYPES];
	ns_t timestamps[MAX_NR_GENS];
	int64_t nr_pages[MAX_NR_GENS][RS_NR_TYPES][RS_NR_ZONES]; /* may be negative for a while */
	uint32_t nr_batched; /* promotions whose sizes are still in some walk */

	uint64_t avg_refaulted[RS_NR_TYPES][MAX_NR_TIERS];
	uint64_t avg_total[RS_NR_TYPES][MAX_NR_TIERS];
	uint64_t refaulted[RS_NR_TYPES][MAX_NR_TIERS];
	uint64_t evicted[RS_NR_TYPES][MAX_NR_TIERS];
	uint64_t protected[RS_NR_TYPES][MAX_NR_TIERS];

	struct mglru_mm_state mm_state;
	/* Address spaces of the group, in order of creation; only on node 0. */
	uint32_t mm_first, mm_last;

	/* The memcg LRU of the node: group + 1, 0 = end. */
	uint16_t memcg_next, memcg_prev;
	uint8_t memcg_gen, memcg_bin, memcg_seg;
	bool memcg_listed;
};

/* Kernel: struct lru_gen_memcg, struct pglist_data mm_walk. */
struct mglru_node {
	uint64_t seq;
	uint32_t nr_memcgs[MEMCG_NR_GENS];
	struct {
		uint16_t first, last;
	} fifo[MEMCG_NR_GENS][MEMCG_NR_BINS];
	struct mglru_walk kswapd_walk;
};

struct mglru {
	const struct mglru_dialect *d;
	const struct mglru_hooks *hooks;
	bool walks, nonleaf_young, look_around;
	struct mglru_node node[MGLRU_MAX_NODES];
};

static inline struct mglru *mglru(struct rs_ctx *ctx)
{
	return rs_policy_priv(ctx);
}

static inline struct mglru_lruvec *mglru_lruvec(const struct rs_lruvec *lruvec)
{
	return lruvec->priv;
}

static inline unsigned gen_from_seq(uint64_t seq)
{
	return seq % MAX_NR_GENS;
}

/* The generation of that index among the youngest MAX_NR_GENS. */
static inline uint64_t seq_from_gen(const struct mglru_lruvec *v, unsigned gen)
{
	return v->max_seq - (v->max_seq + MAX_NR_GENS - gen) % MAX_NR_GENS;
}

static inline unsigned nr_gens(const struct mglru_lruvec *v, enum rs_type type)
{
	return (unsigned)(v->max_seq - v->min_seq[type] + 1);
}

/* -1: not on a list of the multi-gen LRU. Kernel: folio_lru_gen(). */
static inline int folio_gen(const struct folio *f)
{
	return (int)(f->priv & FOLIO_GEN_MASK) - 1;
}

static inline void folio_set_gen(struct folio *f, int gen)
{
	f->priv = (f->priv & ~FOLIO_GEN_MASK) | (uint32_t)(gen + 1);
}

static inline unsigned folio_ref_bits(const struct folio *f)
{
	return (f->priv & FOLIO_REFS_MASK) >> FOLIO_REFS_SHIFT;
}

static inline void folio_set_ref_bits(struct folio *f, unsigned refs)
{
	f->priv = (f->priv & ~FOLIO_REFS_MASK) | refs << FOLIO_REFS_SHIFT;
}

static inline bool folio_evictable(const struct folio *f)
{
	return !(f->flags & (PG_unevictable | PG_mlocked));
}

static inline pfn_t gen_list(const struct rs_lruvec *lruvec, unsigned gen, enum rs_type type,
			     unsigned zone)
{
	return lruvec->lists + MGLRU_LIST(gen, type, zone);
}

/* Kernel: for_each_evictable_type(). Anon only at swappiness 201, file only at 0. */
static inline bool type_evictable(enum rs_type type, int swappiness)
{
	return type == RS_ANON ? swappiness != 0 : swappiness != SWAPPINESS_ANON_ONLY;
}

/* mglru_place.c */
unsigned mglru_refs(const struct mglru *, const struct folio *);
unsigned mglru_tier_from_refs(const struct mglru *, unsigned refs, bool workingset);
unsigned mglru_tier(const struct mglru *, const struct folio *);
bool mglru_saturated(const struct mglru *, const struct folio *);
bool mglru_inc_refs(const struct mglru *, struct folio *);
void mglru_clear_refs(const struct mglru *, struct folio *);
uint64_t mglru_folio_seq(const struct mglru *, const struct mglru_lruvec *, const struct folio *,
			 bool tail);
void mglru_update_size(struct rs_ctx *, struct rs_lruvec *, const struct folio *, int old_gen,
		       int new_gen);
void mglru_take_off(struct rs_ctx *, struct rs_lruvec *, pfn_t, bool reclaiming);
void mglru_note_move(struct rs_ctx *, struct rs_lruvec *, pfn_t, enum rs_note, int from, int to);
int mglru_update_gen(struct rs_ctx *, pfn_t, unsigned gen, uint32_t vm_flags);
bool mglru_set_refs(struct rs_ctx *, pfn_t, uint32_t vm_flags);
unsigned mglru_inc_gen(struct rs_ctx *, struct rs_lruvec *, pfn_t, bool reclaiming);
void mglru_batch(struct mglru_walk *, struct rs_lruvec *, const struct folio *, int old_gen,
		 unsigned new_gen);
void mglru_apply_batch(struct rs_ctx *, struct mglru_walk *, struct rs_lruvec *);
void mglru_move(struct rs_ctx *, struct rs_lruvec *, pfn_t, unsigned gen, bool tail);
void mglru_add(struct rs_ctx *, struct rs_lruvec *, pfn_t, bool tail);
void mglru_del(struct rs_ctx *, struct rs_lruvec *, pfn_t);
void mglru_fault_add(struct rs_ctx *, pfn_t, const struct rs_vma *);
void mglru_mark_accessed(struct rs_ctx *, pfn_t);
bool mglru_deactivate(struct rs_ctx *, pfn_t);

/* mglru_workingset.c */
struct rs_shadow mglru_eviction(struct rs_ctx *, pfn_t, uint16_t target_memcg);
void mglru_refault(struct rs_ctx *, pfn_t, const struct rs_shadow *, bool in_fault);

/* mglru_pid.c */
/*
 * What the controller is fed, by type and tier, since the start: the rows of MGLRU_COUNTERS. A
 * policy's own counters come behind them.
 */
enum mglru_tier_count { TIER_REFAULTED, TIER_EVICTED, TIER_PROTECTED };
void mglru_count_tier(struct rs_ctx *, enum mglru_tier_count, enum rs_type, unsigned tier,
		      uint64_t nr);
#define MGLRU_NR_COUNTERS (3u * RS_NR_TYPES * MAX_NR_TIERS)
#define MGLRU_TIER_ROWS(what, type)                                                                \
	{ #what "_" #type "_tier0", "pages of " #type " " #what " in tier 0 (PID controller)" },   \
		{ #what "_" #type "_tier1", "the same in tier 1" },                                \
		{ #what "_" #type "_tier2", "the same in tier 2" },                                \
	{                                                                                          \
#what "_" #type "_tier3", "the same in tier 3"                                     \
	}
#define MGLRU_COUNTERS                                                                             \
	MGLRU_TIER_ROWS(refaulted, anon), MGLRU_TIER_ROWS(refaulted, file),                        \
		MGLRU_TIER_ROWS(evicted, anon), MGLRU_TIER_ROWS(evicted, file),                    \
		MGLRU_TIER_ROWS(protected, anon), MGLRU_TIER_ROWS(protected, file)
extern const struct rs_counter mglru_counters[];
void mglru_reset_ctrl_pos(struct mglru_lruvec *, enum rs_type);
unsigned mglru_tier_idx(const struct mglru *, const struct mglru_lruvec *, enum rs_type);
enum rs_type mglru_type_to_scan(const struct mglru *, const struct mglru_lruvec *, bool gfp_io,
				int swappiness, int *ret_tier);

/* mglru_seq.c */
uint64_t mglru_evictable_min_seq(const struct mglru *, const struct mglru_lruvec *, int swappiness);
bool mglru_try_to_inc_min_seq(struct rs_ctx *, struct rs_lruvec *, int swappiness);
bool mglru_inc_max_seq(struct rs_ctx *, struct rs_lruvec *, uint64_t seq, int swappiness);
void mglru_reparent(struct rs_ctx *, struct rs_lruvec *child, struct rs_lruvec *parent);

/* mglru_age.c */
uint64_t mglru_pmd_key(const struct rs_mm *, uint64_t vpn);
void mglru_bloom_set(struct mglru_mm_state *, uint64_t seq, uint64_t key);
bool mglru_bloom_test(const struct mglru_mm_state *, uint64_t seq, uint64_t key);
bool mglru_suitable_to_scan(unsigned total, unsigned young);
bool mglru_try_to_inc_max_seq(struct rs_ctx *, struct rs_lruvec *, struct rs_scan *, uint64_t seq,
			      int swappiness);
void mglru_young_folio(struct rs_ctx *, struct mglru_walk *, struct rs_lruvec *, pfn_t,
		       unsigned gen, bool dirty, uint32_t vm_flags);
void mglru_take_dirty(struct rs_ctx *, pfn_t);
void mglru_mm_add(struct rs_ctx *, struct rs_mm *);
void mglru_mm_del(struct rs_ctx *, struct rs_mm *);
void mglru_mm_switch(struct rs_ctx *, struct rs_mm *);
void mglru_mm_migrate(struct rs_ctx *, struct rs_mm *, uint16_t old_memcg);

/* mglru_look.c */
bool mglru_keep_early(struct rs_ctx *, pfn_t);
enum rs_verdict mglru_check_references(struct rs_ctx *, pfn_t, struct rs_scan *);
bool mglru_referenced_one(struct rs_ctx *, struct rs_pvmw *, struct rs_scan *);

/* mglru_evict.c */
uint64_t mglru_evict_folios(struct rs_ctx *, struct rs_lruvec *, struct rs_scan *, int swappiness,
			    uint64_t nr_to_scan, bool *ret_anon);

/* mglru_loop.c */
struct mglru_walk *mglru_scan_walk(const struct rs_scan *);
void mglru_scan_begin(struct rs_ctx *, uint8_t nid, struct rs_scan *, struct mglru_walk *storage);
void mglru_scan_end(struct rs_scan *);
int mglru_swappiness(struct rs_ctx *, struct rs_lruvec *, const struct rs_scan *);
uint64_t mglru_total(const struct mglru *, const struct mglru_lruvec *, int swappiness);
bool mglru_should_run_aging(const struct mglru *, const struct mglru_lruvec *, int swappiness);
bool mglru_should_abort(struct rs_ctx *, struct rs_lruvec *, const struct rs_scan *);
bool mglru_try_to_shrink(struct rs_ctx *, struct rs_lruvec *, struct rs_scan *);
void mglru_shrink_lruvec(struct rs_ctx *, struct rs_lruvec *, struct rs_scan *);

/* mglru_memcg.c */
enum mglru_rotate { MEMCG_LRU_NOP, MEMCG_LRU_HEAD, MEMCG_LRU_TAIL, MEMCG_LRU_OLD, MEMCG_LRU_YOUNG };
void mglru_rotate_memcg(struct rs_ctx *, struct rs_lruvec *, enum mglru_rotate);
void mglru_memcg_online(struct rs_ctx *, uint16_t memcg);
void mglru_memcg_offline(struct rs_ctx *, uint16_t memcg);
bool mglru_shrink_root(struct rs_ctx *, uint8_t nid, struct rs_scan *);
void mglru_age_node(struct rs_ctx *, uint8_t nid, struct rs_scan *);

/* mglru.c */
const struct mglru_dialect *mglru_dialect(enum rs_kernel, bool sort_dirty);
bool mglru_setup(struct rs_ctx *, const struct mglru_hooks *, GError **);
void mglru_lruvec_init(struct rs_ctx *, struct rs_lruvec *);
unsigned mglru_rows(struct rs_ctx *, struct rs_lruvec *, unsigned max, struct rs_lru_gen_row *);
bool mglru_check(struct rs_ctx *, struct rs_lruvec *, GString *why);
extern const struct rs_param mglru_params[];
/* For the tables of policies that have more; their structs begin with struct mglru_params. */
#define MGLRU_PARAMS                                                                               \
	{ "look_around",                                                                           \
	  RS_PARAM_INT,                                                                            \
	  offsetof(struct mglru_params, look_around),                                              \
	  -1,                                                                                      \
	  -1,                                                                                      \
	  1,                                                                                       \
	  "look at neighbouring PTEs when a folio about to be evicted is found young; -1: as the " \
	  "kernel does, all but 5.18" },                                                           \
	{                                                                                          \
		"page_table_walks", RS_PARAM_BOOL,                                                 \
			offsetof(struct mglru_params, page_table_walks), 1, 0, 1,                  \
			"walk page tables before a new generation; lru_gen.enabled bit 1 can "     \
			"forbid it, too"                                                           \
	}

/* The operations that every policy built on the multi-gen LRU shares; init is its own. */
#define MGLRU_OPS MGLRU_OPS_WITH(mglru_params, struct mglru_params)
#define MGLRU_OPS_WITH(table, type)                                                                \
	.abi = RS_POLICY_ABI, .size = sizeof(struct rs_policy_ops), .params = (table),             \
	.params_size = sizeof(type), .policy_size = sizeof(struct mglru),                          \
	.lruvec_size = sizeof(struct mglru_lruvec), .mm_size = sizeof(struct mglru_mm),            \
	.nr_lists = MGLRU_NR_LISTS, .is_lru_gen = true, .lruvec_init = mglru_lruvec_init,          \
	.add = mglru_add, .del = mglru_del, .fault_add = mglru_fault_add,                          \
	.mark_accessed = mglru_mark_accessed, .evict = mglru_eviction, .refault = mglru_refault,   \
	.shrink_lruvec = mglru_shrink_lruvec, .shrink_root = mglru_shrink_root,                    \
	.age_node = mglru_age_node, .keep_early = mglru_keep_early,                                \
	.check_references = mglru_check_references, .referenced_one = mglru_referenced_one,        \
	.mm_add = mglru_mm_add, .mm_del = mglru_mm_del, .mm_switch = mglru_mm_switch,              \
	.mm_migrate = mglru_mm_migrate, .memcg_online = mglru_memcg_online,                        \
	.memcg_offline = mglru_memcg_offline, .deactivate = mglru_deactivate,                      \
	.lru_gen = mglru_rows, .check = mglru_check

#endif
