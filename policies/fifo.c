/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fifo.c - first in, first out: the smallest policy there is, and the one to begin with.
 *
 * Each lruvec has two lists, anonymous and file pages. New folios enter at the head; reclaim takes
 * the oldest from the tail, whoever used them since. Anonymous pages go when they are the longer
 * list and swap is there, file pages otherwise.
 */
#include <reclaimsim/observe.h>
#include <reclaimsim/policy.h>

static void fifo_account(struct rs_ctx *ctx, struct rs_lruvec *lruvec, const struct folio *f,
			 int sign)
{
	rs_lru_size_add(ctx, lruvec,
			folio_lru_type(f) == RS_ANON ? RS_INACTIVE_ANON : RS_INACTIVE_FILE, f->zone,
			sign * (int64_t)folio_nr_pages(f));
}

static void fifo_add(struct rs_ctx *ctx, struct rs_lruvec *lruvec, pfn_t pfn, bool tail)
{
	struct folio *folios = rs_folios(ctx), *f = &folios[pfn];
	pfn_t list = lruvec->lists + folio_lru_type(f);

	f->flags &= ~(uint32_t)PG_active;
	if (tail)
		rs_list_add_tail(folios, list, pfn);
	else
		rs_list_add(folios, list, pfn);
	rs_note(ctx, pfn, RS_NOTE_LIST, 2 * folio_lru_type(f), 0);
	fifo_account(ctx, lruvec, f, 1);
}

static void fifo_del(struct rs_ctx *ctx, struct rs_lruvec *lruvec, pfn_t pfn)
{
	rs_list_del(rs_folios(ctx), pfn);
	fifo_account(ctx, lruvec, &rs_folios(ctx)[pfn], -1);
}

/* A shadow that only says that the page has been here: refaults are counted, nothing is decided. */
static struct rs_shadow fifo_evict(struct rs_ctx *ctx, pfn_t pfn, uint16_t target)
{
	return (struct rs_shadow){ .memcg = target };
}

static void fifo_refault(struct rs_ctx *ctx, pfn_t pfn, const struct rs_shadow *shadow,
			 bool in_fault)
{
	enum rs_type type = folio_lru_type(&rs_folios(ctx)[pfn]);

	rs_count(ctx, rs_folio_lruvec(ctx, pfn),
		 type == RS_ANON ? RS_WORKINGSET_REFAULT_ANON : RS_WORKINGSET_REFAULT_FILE, 1);
}

static enum rs_type fifo_pick(struct rs_ctx *ctx, struct rs_lruvec *lruvec)
{
	uint64_t anon = rs_lru_size(ctx, lruvec, RS_INACTIVE_ANON, RS_NR_ZONES - 1);
	uint64_t file = rs_lru_size(ctx, lruvec, RS_INACTIVE_FILE, RS_NR_ZONES - 1);

	return anon > file && rs_memcg_swap_free(ctx, lruvec->memcg) ? RS_ANON : RS_FILE;
}

/* One batch a priority step: up to 32 folios from the tail. */
static void fifo_shrink(struct rs_ctx *ctx, struct rs_lruvec *lruvec, struct rs_scan *sc)
{
	struct folio *folios = rs_folios(ctx);
	struct rs_isolated batch = { 0 };
	struct rs_reclaim_stat stat = { 0 };
	enum rs_type type = fifo_pick(ctx, lruvec);
	uint32_t taken, freed;

	rs_lru_add_drain(ctx);
	rs_lru_lock(ctx, lruvec);
	while (batch.n < RS_SWAP_CLUSTER_MAX && !rs_list_empty(folios, lruvec->lists + type)) {
		pfn_t pfn = rs_list_tail(folios, lruvec->lists + type);

		fifo_del(ctx, lruvec, pfn);
		rs_isolate(ctx, pfn);
		batch.pfn[batch.n++] = pfn;
	}
	taken = batch.n;
	rs_lru_unlock(ctx, lruvec, taken);
	freed = rs_shrink_folios(ctx, lruvec->nid, &batch, sc, &stat, true);
	for (uint32_t i = 0; i < batch.n; i++)
		rs_putback(ctx, batch.pfn[i]);
	rs_count_reclaim(ctx, lruvec, sc, sc->kswapd ? RS_PGSCAN_KSWAPD : RS_PGSCAN_DIRECT, taken);
	rs_count_reclaim(ctx, lruvec, sc, sc->kswapd ? RS_PGSTEAL_KSWAPD : RS_PGSTEAL_DIRECT,
			 freed);
	rs_count(ctx, lruvec, type == RS_ANON ? RS_PGSCAN_ANON : RS_PGSCAN_FILE, taken);
	rs_count(ctx, lruvec, type == RS_ANON ? RS_PGSTEAL_ANON : RS_PGSTEAL_FILE, freed);
	sc->nr_reclaimed += freed;
}

const struct rs_policy_ops fifo_policy = {
	.abi = RS_POLICY_ABI,
	.size = sizeof(struct rs_policy_ops),
	.name = "fifo",
	.summary = "first in, first out; the tutorial policy",
	.nr_lists = RS_NR_TYPES,
	.add = fifo_add,
	.del = fifo_del,
	.evict = fifo_evict,
	.refault = fifo_refault,
	.shrink_lruvec = fifo_shrink,
};
