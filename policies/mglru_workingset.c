/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * mglru_workingset.c - what an evicted folio leaves behind, and what is made of it on its return.
 *
 * The token is the oldest generation at eviction and how often the folio was referenced. Refaults
 * and evictions are counted by tier in the lruvec of the folio's own group, never the evictor's.
 */
#include "mglru.h"

#define TOKEN_REFS_WIDTH 2
#define TOKEN_REFS_MASK ((1u << TOKEN_REFS_WIDTH) - 1)
#define TOKEN_SEQ_MASK ((1ull << (RS_SHADOW_TOKEN_BITS - TOKEN_REFS_WIDTH)) - 1)

/* Kernel: workingset.c lru_gen_eviction(). */
struct rs_shadow mglru_eviction(struct rs_ctx *ctx, pfn_t pfn, uint16_t target_memcg)
{
	const struct mglru *m = mglru(ctx);
	const struct folio *f = &rs_folios(ctx)[pfn];
	struct mglru_lruvec *v = mglru_lruvec(rs_folio_lruvec(ctx, pfn));
	enum rs_type type = folio_lru_type(f);
	unsigned refs = mglru_refs(m, f);
	unsigned kept = m->d->refs == REFS_BOTH_FLAGS ? folio_ref_bits(f) : refs ? refs - 1 : 0;

	v->evicted[type][mglru_tier(m, f)] += folio_nr_pages(f);
	mglru_count_tier(ctx, TIER_EVICTED, type, mglru_tier(m, f), folio_nr_pages(f));
	return (struct rs_shadow){
		.token = (v->min_seq[type] & TOKEN_SEQ_MASK) << TOKEN_REFS_WIDTH | kept,
		.memcg = f->memcg,
		.nid = f->nid,
		.workingset = m->d->refs == REFS_BEHIND_WORKINGSET
				      ? refs != 0
				      : (f->flags & PG_workingset) != 0,
	};
}

static bool is_recent(const struct mglru *m, const struct mglru_lruvec *v, enum rs_type type,
		      uint64_t token_seq)
{
	uint64_t max_seq = v->max_seq & TOKEN_SEQ_MASK;

	if (!m->d->recent_by_distance)
		return token_seq == (v->min_seq[type] & TOKEN_SEQ_MASK);
	return (max_seq > token_seq ? max_seq - token_seq : token_seq - max_seq) < MAX_NR_GENS;
}

/* 6.14 and newer: a folio that was hot when it was evicted is hot again. */
static void restore_by_flag(struct rs_ctx *ctx, struct rs_lruvec *lruvec, struct folio *f,
			    const struct rs_shadow *shadow, bool in_fault)
{
	enum rs_type type = folio_lru_type(f);
	unsigned nr = folio_nr_pages(f);

	if (in_fault && (shadow->workingset || !mglru(ctx)->d->fault_references))
		rs_count(ctx, lruvec, RS_WORKINGSET_ACTIVATE_ANON + type, nr);
	if (shadow->workingset) {
		f->flags |= PG_workingset;
		rs_count(ctx, lruvec, RS_WORKINGSET_RESTORE_ANON + type, nr);
	} else {
		folio_set_ref_bits(f, shadow->token & TOKEN_REFS_MASK);
	}
}

/* Up to 6.12: a fault means thrashing, three references would have been protected. */
static void restore_by_refs(struct rs_ctx *ctx, struct rs_lruvec *lruvec, struct folio *f,
			    unsigned refs, bool in_fault)
{
	if (!in_fault && refs < LRU_REFS_MAX)
		return;
	folio_set_ref_bits(f, LRU_REFS_MAX);
	f->flags |= PG_workingset;
	rs_count(ctx, lruvec, RS_WORKINGSET_RESTORE_ANON + folio_lru_type(f), folio_nr_pages(f));
}

/* Kernel: workingset.c lru_gen_refault(), lru_gen_test_recent(). */
void mglru_refault(struct rs_ctx *ctx, pfn_t pfn, const struct rs_shadow *shadow, bool in_fault)
{
	const struct mglru *m = mglru(ctx);
	struct folio *f = &rs_folios(ctx)[pfn];
	struct rs_lruvec *lruvec = rs_folio_lruvec(ctx, pfn);
	struct mglru_lruvec *v = mglru_lruvec(lruvec);
	enum rs_type type = folio_lru_type(f);
	bool split = m->d->refs == REFS_BEHIND_REFERENCED;
	bool exists = rs_memcg_exists(ctx, shadow->memcg);
	/* A group that is gone resolves to the root, but its id no longer equals anybody's. */
	uint16_t memcg = exists ? shadow->memcg : m->d->refault_by_lruvec ? 0 : RS_MEMCG_NONE;
	bool recent = is_recent(m, v, type, shadow->token >> TOKEN_REFS_WIDTH);
	unsigned refs = (shadow->token & TOKEN_REFS_MASK) + (split ? 1 : shadow->workingset), tier;

	if (shadow->nid != f->nid || memcg != f->memcg)
		return;
	rs_note(ctx, pfn, recent ? RS_NOTE_REFAULT_GEN : RS_NOTE_NOT_RECENT,
		(int64_t)(shadow->token >> TOKEN_REFS_WIDTH), (int64_t)v->min_seq[type]);
	if (recent || m->d->refault_by_lruvec)
		rs_count(ctx, lruvec, RS_WORKINGSET_REFAULT_ANON + type, folio_nr_pages(f));
	if (!recent)
		return;

	tier = mglru_tier_from_refs(m, refs, shadow->workingset);
	if (rs_tunables(ctx)->disabled != RS_MECH_PID)
		v->refaulted[type][tier] += folio_nr_pages(f);
	mglru_count_tier(ctx, TIER_REFAULTED, type, tier, folio_nr_pages(f));
	if (split) {
		restore_by_flag(ctx, lruvec, f, shadow, in_fault);
		return;
	}
	if (m->d->refault_by_lruvec)
		rs_count(ctx, lruvec, RS_WORKINGSET_ACTIVATE_ANON + type, folio_nr_pages(f));
	restore_by_refs(ctx, lruvec, f, refs, in_fault);
}
