/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * mglru_memcg.c - reclaim of a whole node: the order in which groups are visited, kswapd's part in
 * ageing, the initial priority, the protection of young memory (min_ttl).
 *
 * Since 6.12 the groups of a node are themselves in generations, each of eight bins. Global reclaim
 * visits the old generation only, from a random bin on, and moves groups to the young one as they
 * have given enough. Kernel: struct lru_gen_memcg.
 */
#include "mglru.h"

/* ---- the memcg LRU ---- */

static struct mglru_lruvec *group(struct rs_ctx *ctx, uint16_t ref, uint8_t nid)
{
	return mglru_lruvec(rs_lruvec(ctx, (uint16_t)(ref - 1), nid));
}

static void list_add(struct rs_ctx *ctx, struct rs_lruvec *lruvec, unsigned gen, unsigned bin,
		     bool head)
{
	struct mglru_node *n = &mglru(ctx)->node[lruvec->nid];
	struct mglru_lruvec *v = mglru_lruvec(lruvec);
	uint16_t ref = (uint16_t)(lruvec->memcg + 1);
	uint16_t *first = &n->fifo[gen][bin].first, *last = &n->fifo[gen][bin].last;

	v->memcg_gen = (uint8_t)gen;
	v->memcg_bin = (uint8_t)bin;
	v->memcg_listed = true;
	v->memcg_next = head ? *first : 0;
	v->memcg_prev = head ? 0 : *last;
	if (v->memcg_next)
		group(ctx, v->memcg_next, lruvec->nid)->memcg_prev = ref;
	else
		*last = ref;
	if (v->memcg_prev)
		group(ctx, v->memcg_prev, lruvec->nid)->memcg_next = ref;
	else
		*first = ref;
	n->nr_memcgs[gen]++;
}

/* The old generation advances when its last group leaves. */
static void list_del(struct rs_ctx *ctx, struct rs_lruvec *lruvec)
{
	struct mglru_node *n = &mglru(ctx)->node[lruvec->nid];
	struct mglru_lruvec *v = mglru_lruvec(lruvec);
	unsigned gen = v->memcg_gen, bin = v->memcg_bin;

	if (v->memcg_next)
		group(ctx, v->memcg_next, lruvec->nid)->memcg_prev = v->memcg_prev;
	else
		n->fifo[gen][bin].last = v->memcg_prev;
	if (v->memcg_prev)
		group(ctx, v->memcg_prev, lruvec->nid)->memcg_next = v->memcg_next;
	else
		n->fifo[gen][bin].first = v->memcg_next;
	v->memcg_listed = false;
	n->nr_memcgs[gen]--;
}

static void advance_if_empty(struct mglru_node *n, unsigned gen)
{
	if (!n->nr_memcgs[gen] && gen == n->seq % MEMCG_NR_GENS)
		n->seq++;
}

/* Kernel: vmscan.c lru_gen_rotate_memcg(). */
void mglru_rotate_memcg(struct rs_ctx *ctx, struct rs_lruvec *lruvec, enum mglru_rotate op)
{
	struct mglru_node *n = &mglru(ctx)->node[lruvec->nid];
	struct mglru_lruvec *v = mglru_lruvec(lruvec);
	unsigned bin = rs_random(ctx) % MEMCG_NR_BINS, old = v->memcg_gen, new = old;

	if (!v->memcg_listed)
		return;
	v->memcg_seg = op == MEMCG_LRU_HEAD || op == MEMCG_LRU_TAIL ? (uint8_t)op : 0;
	if (op == MEMCG_LRU_OLD)
		new = n->seq % MEMCG_NR_GENS;
	else if (op == MEMCG_LRU_YOUNG)
		new = (n->seq + 1) % MEMCG_NR_GENS;
	list_del(ctx, lruvec);
	list_add(ctx, lruvec, new, bin, op == MEMCG_LRU_HEAD || op == MEMCG_LRU_OLD);
	advance_if_empty(n, old);
}

/* Kernel: vmscan.c lru_gen_online_memcg(). */
void mglru_memcg_online(struct rs_ctx *ctx, uint16_t memcg)
{
	unsigned bin;

	if (!mglru(ctx)->d->memcg_lru)
		return;
	bin = rs_random(ctx) % MEMCG_NR_BINS;
	for (uint8_t nid = 0; nid < rs_tunables(ctx)->nr_nodes; nid++) {
		struct mglru_node *n = &mglru(ctx)->node[nid];

		list_add(ctx, rs_lruvec(ctx, memcg, nid), n->seq % MEMCG_NR_GENS, bin, false);
	}
}

/* Kernel: vmscan.c lru_gen_offline_memcg(), lru_gen_reparent_memcg(). */
void mglru_memcg_offline(struct rs_ctx *ctx, uint16_t memcg)
{
	const struct mglru *m = mglru(ctx);
	uint16_t parent = rs_memcg_parent(ctx, memcg);

	for (uint8_t nid = 0; nid < rs_tunables(ctx)->nr_nodes; nid++) {
		struct rs_lruvec *lruvec = rs_lruvec(ctx, memcg, nid);

		if (m->d->memcg_lru)
			mglru_rotate_memcg(ctx, lruvec, MEMCG_LRU_OLD);
		if (m->d->reparents && parent != RS_MEMCG_NONE)
			mglru_reparent(ctx, lruvec, rs_lruvec(ctx, parent, nid));
	}
}

/* Kernel: vmscan.c lru_gen_release_memcg(). */
static void release_memcg(struct rs_ctx *ctx, struct rs_lruvec *lruvec)
{
	unsigned gen = mglru_lruvec(lruvec)->memcg_gen;

	list_del(ctx, lruvec);
	advance_if_empty(&mglru(ctx)->node[lruvec->nid], gen);
}

/* ---- global reclaim since 6.12 ---- */

/* Large enough to be worth another look at this priority? Kernel: lruvec_is_sizable(). */
static bool is_sizable(struct rs_ctx *ctx, struct rs_lruvec *lruvec, const struct rs_scan *sc)
{
	uint64_t total =
		mglru_total(mglru(ctx), mglru_lruvec(lruvec), mglru_swappiness(ctx, lruvec, sc));

	return rs_memcg_online(ctx, lruvec->memcg) ? total >> sc->priority : total;
}

/* Reclaim from one group; returns how to move it. Kernel: vmscan.c shrink_one(). */
static enum mglru_rotate shrink_one(struct rs_ctx *ctx, struct rs_lruvec *lruvec,
				    struct rs_scan *sc)
{
	const struct mglru_lruvec *v = mglru_lruvec(lruvec);
	bool rotate;

	if (rs_memcg_below_min(ctx, 0, lruvec->memcg))
		return MEMCG_LRU_YOUNG;
	if (rs_memcg_below_low(ctx, 0, lruvec->memcg) && v->memcg_seg != MEMCG_LRU_TAIL)
		return MEMCG_LRU_TAIL;

	rotate = mglru_try_to_shrink(ctx, lruvec, sc);
	rs_shrink_slab(ctx, lruvec, sc);

	if (rotate && rs_memcg_online(ctx, lruvec->memcg))
		return MEMCG_LRU_YOUNG;
	if (!rotate && is_sizable(ctx, lruvec, sc))
		return MEMCG_LRU_NOP;
	return v->memcg_seg != MEMCG_LRU_TAIL ? MEMCG_LRU_TAIL : MEMCG_LRU_YOUNG;
}

/*
 * One bin of the old generation. A group is rotated after the next one has been found, or at the
 * end. True: reclaim is to stop. Differs: when another task has moved the group meanwhile, the bin
 * is left; the kernel starts it again.
 */
static bool shrink_bin(struct rs_ctx *ctx, uint8_t nid, struct rs_scan *sc, unsigned gen,
		       unsigned bin)
{
	uint16_t ref = mglru(ctx)->node[nid].fifo[gen][bin].first;
	bool stop = false;

	while (ref && !stop) {
		struct rs_lruvec *lruvec = rs_lruvec(ctx, (uint16_t)(ref - 1), nid);
		struct mglru_lruvec *v = mglru_lruvec(lruvec);
		enum mglru_rotate op;

		if (!rs_memcg_exists(ctx, lruvec->memcg)) {
			ref = v->memcg_next;
			release_memcg(ctx, lruvec);
			continue;
		}
		op = shrink_one(ctx, lruvec, sc);
		stop = mglru_should_abort(ctx, lruvec, sc);
		ref = v->memcg_gen == gen && v->memcg_bin == bin ? v->memcg_next : 0;
		if (op != MEMCG_LRU_NOP)
			mglru_rotate_memcg(ctx, lruvec, op);
	}
	return stop;
}

/* Kernel: vmscan.c shrink_many(). */
static void shrink_many(struct rs_ctx *ctx, uint8_t nid, struct rs_scan *sc)
{
	unsigned gen = mglru(ctx)->node[nid].seq % MEMCG_NR_GENS;
	unsigned first_bin = rs_random(ctx) % MEMCG_NR_BINS;

	for (unsigned i = 0; i < MEMCG_NR_BINS; i++)
		if (shrink_bin(ctx, nid, sc, gen, (first_bin + i) % MEMCG_NR_BINS))
			return;
}

static unsigned fls_long(uint64_t x)
{
	return x ? 64u - (unsigned)__builtin_clzll(x) : 0;
}

static uint64_t node_size(struct rs_ctx *ctx, uint8_t nid, enum rs_lru lru)
{
	uint64_t size = 0;

	for (uint16_t memcg = rs_memcg_next(ctx, 0, RS_MEMCG_NONE); memcg != RS_MEMCG_NONE;
	     memcg = rs_memcg_next(ctx, 0, memcg))
		size += rs_lru_size(ctx, rs_lruvec(ctx, memcg, nid), lru, RS_ZONE_NORMAL);
	return size;
}

/*
 * Large targets need not start at the default priority: aim at (total >> priority) * inactive /
 * total = nr_to_reclaim. Kernel: vmscan.c set_initial_priority().
 */
static void set_initial_priority(struct rs_ctx *ctx, uint8_t nid, struct rs_scan *sc)
{
	uint64_t reclaimable;
	int priority;

	if (sc->priority != RS_DEF_PRIORITY || sc->nr_to_reclaim < MIN_LRU_BATCH)
		return;
	reclaimable = node_size(ctx, nid, RS_INACTIVE_FILE);
	if (rs_memcg_swap_free(ctx, 0) > 0 || rs_can_demote(ctx, nid, sc))
		reclaimable += node_size(ctx, nid, RS_INACTIVE_ANON);
	priority = (int)fls_long(reclaimable) - 1 - (int)fls_long(sc->nr_to_reclaim - 1);
	sc->priority = (int8_t)CLAMP(priority, RS_DEF_PRIORITY / 2, RS_DEF_PRIORITY);
}

/* Kernel: vmscan.c lru_gen_shrink_node(). Before 6.12 there is none. */
bool mglru_shrink_root(struct rs_ctx *ctx, uint8_t nid, struct rs_scan *sc)
{
	uint64_t reclaimed = sc->nr_reclaimed;
	struct mglru_walk storage;

	if (!mglru(ctx)->d->memcg_lru)
		return false;
	if (!sc->may_writepage || !sc->may_unmap)
		return true;
	rs_lru_add_drain(ctx);
	mglru_scan_begin(ctx, nid, sc, &storage);
	set_initial_priority(ctx, nid, sc);
	if (sc->kswapd)
		sc->nr_reclaimed = 0;
	shrink_many(ctx, nid, sc);
	if (sc->kswapd)
		sc->nr_reclaimed += reclaimed;
	mglru_scan_end(sc);
	return true;
}

/* ---- kswapd, before each pass ---- */

static bool younger_than(struct rs_ctx *ctx, const struct mglru_lruvec *v, ns_t ttl)
{
	return v->timestamps[gen_from_seq(v->min_seq[RS_FILE])] + ttl > rs_now(ctx);
}

/* Kernel: vmscan.c age_lruvec() (6.1 and before). True: counts as reclaimable. */
static bool age_lruvec(struct rs_ctx *ctx, struct rs_lruvec *lruvec, struct rs_scan *sc,
		       ns_t min_ttl)
{
	const struct mglru *m = mglru(ctx);
	struct mglru_lruvec *v = mglru_lruvec(lruvec);
	bool old = m->d->loop == LOOP_5_18;
	int swappiness;
	uint64_t nr;

	if (rs_memcg_below_min(ctx, 0, lruvec->memcg) ||
	    (old && rs_memcg_below_low(ctx, 0, lruvec->memcg)))
		return false;
	swappiness = !rs_can_demote(ctx, lruvec->nid, sc) &&
				     rs_memcg_swap_free(ctx, lruvec->memcg) < MIN_LRU_BATCH
			     ? 0
			     : rs_swappiness(ctx, lruvec->memcg, sc);
	nr = mglru_total(m, v, swappiness);
	if (rs_memcg_online(ctx, lruvec->memcg))
		nr >>= sc->priority;
	if (old && !nr)
		return false;
	if (min_ttl && (younger_than(ctx, v, min_ttl) || (!nr && sc->priority != RS_DEF_PRIORITY)))
		return false;
	if (mglru_should_run_aging(m, v, swappiness))
		mglru_try_to_inc_max_seq(ctx, lruvec, sc, v->max_seq, swappiness);
	return true;
}

/*
 * 6.1: kswapd ages here and nowhere else, every second pass unless eviction found enough without.
 * Kernel: vmscan.c lru_gen_age_node() (6.1).
 */
static void age_all(struct rs_ctx *ctx, uint8_t nid, struct rs_scan *sc)
{
	const struct mglru *m = mglru(ctx);
	ns_t min_ttl = m->d->loop == LOOP_5_18 ? 0 : rs_tunables(ctx)->lru_gen_min_ttl_ns;
	struct mglru_walk storage;
	bool reclaimable = false;

	sc->priv[SCAN_LAST_RECLAIMED] = sc->nr_reclaimed;
	if (m->d->loop == LOOP_6_1 && !sc->priv[SCAN_NEED_AGING]) {
		sc->priv[SCAN_NEED_AGING] = true;
		return;
	}
	mglru_scan_begin(ctx, nid, sc, &storage);
	for (uint16_t memcg = rs_memcg_next(ctx, 0, RS_MEMCG_NONE); memcg != RS_MEMCG_NONE;
	     memcg = rs_memcg_next(ctx, 0, memcg))
		reclaimable |= age_lruvec(ctx, rs_lruvec(ctx, memcg, nid), sc, min_ttl);
	mglru_scan_end(sc);
	if (!reclaimable && min_ttl && !sc->order)
		sc->want_oom = true;
}

/* Kernel: vmscan.c lruvec_is_reclaimable(). */
static bool is_reclaimable(struct rs_ctx *ctx, struct rs_lruvec *lruvec, struct rs_scan *sc,
			   ns_t min_ttl)
{
	const struct mglru *m = mglru(ctx);
	const struct mglru_lruvec *v = mglru_lruvec(lruvec);
	uint64_t seq = m->d->min_seq_split
			       ? mglru_evictable_min_seq(m, v, mglru_swappiness(ctx, lruvec, sc))
			       : v->min_seq[RS_FILE];

	return !rs_memcg_below_min(ctx, 0, lruvec->memcg) && is_sizable(ctx, lruvec, sc) &&
	       v->timestamps[gen_from_seq(seq)] + min_ttl < rs_now(ctx);
}

/* Kernel: vmscan.c lru_gen_age_node(). */
void mglru_age_node(struct rs_ctx *ctx, uint8_t nid, struct rs_scan *sc)
{
	ns_t min_ttl = rs_tunables(ctx)->lru_gen_min_ttl_ns;
	bool reclaimable = !min_ttl;

	if (mglru(ctx)->d->loop <= LOOP_6_1) {
		age_all(ctx, nid, sc);
		return;
	}
	set_initial_priority(ctx, nid, sc);
	for (uint16_t memcg = rs_memcg_next(ctx, 0, RS_MEMCG_NONE);
	     memcg != RS_MEMCG_NONE && !reclaimable; memcg = rs_memcg_next(ctx, 0, memcg))
		reclaimable = is_reclaimable(ctx, rs_lruvec(ctx, memcg, nid), sc, min_ttl);
	if (!reclaimable)
		sc->want_oom = true;
}
