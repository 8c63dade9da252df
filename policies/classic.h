/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * classic.h - active/inactive LRU: private state and what its files share.
 */
#ifndef POLICIES_CLASSIC_H
#define POLICIES_CLASSIC_H

#include <reclaimsim/policy.h>

struct classic_lruvec {
	uint64_t anon_cost, file_cost;
	uint64_t nonresident_age;
	uint64_t refaults[RS_NR_TYPES]; /* WORKINGSET_ACTIVATE_* at the end of the last reclaim run
					 */
};

/* A run's own fields of struct rs_scan, in its priv[]. */
enum classic_scan { MAY_DEACTIVATE, CACHE_TRIM_MODE, FILE_IS_TINY, ANON_COST, FILE_COST };
#define DEACTIVATE_BIT(type) (1u << (type))

static inline struct classic_lruvec *classic(struct rs_lruvec *l)
{
	return l->priv;
}

static inline enum rs_lru classic_lru(enum rs_type type, bool active)
{
	return (enum rs_lru)(type * 2 + active);
}

/* classic_workingset.c */
void classic_age_nonresident(struct rs_ctx *, struct rs_lruvec *, uint64_t nr);
struct rs_shadow classic_evict(struct rs_ctx *, pfn_t, uint16_t target);
void classic_refault(struct rs_ctx *, pfn_t, const struct rs_shadow *, bool in_fault);
void classic_snapshot(struct rs_ctx *, struct rs_lruvec *);
void classic_mark_accessed(struct rs_ctx *, pfn_t);

/* classic_balance.c */
void classic_note_cost(struct rs_ctx *, struct rs_lruvec *, enum rs_type, uint64_t nr_io,
		       uint64_t nr_rotated);
bool classic_inactive_is_low(struct rs_ctx *, struct rs_lruvec *, enum rs_type);
void classic_prepare(struct rs_ctx *, uint8_t nid, struct rs_scan *);
void classic_scan_count(struct rs_ctx *, struct rs_lruvec *, struct rs_scan *,
			uint64_t nr[RS_NR_LRU]);

#endif
