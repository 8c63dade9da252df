/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * classic.c - the active/inactive LRU: two lists a type, the inactive tail goes.
 * Kernel: mm/vmscan.c shrink_lruvec(), shrink_inactive_list(), shrink_active_list().
 */
#include "policies/classic.h"

#include <reclaimsim/observe.h>

/* ---- lists ---- */

static enum rs_lru folio_lru(const struct folio *f)
{
	return classic_lru(folio_lru_type(f), f->flags & PG_active);
}

static void classic_add(struct rs_ctx *ctx, struct rs_lruvec *l, pfn_t pfn, bool tail)
{
	struct folio *folios = rs_folios(ctx), *f = &folios[pfn];
	enum rs_lru lru = folio_lru(f);

	if (tail)
		rs_list_add_tail(folios, l->lists + lru, pfn);
	else
		rs_list_add(folios, l->lists + lru, pfn);
	rs_lru_size_add(ctx, l, lru, f->zone, folio_nr_pages(f));
	rs_note(ctx, pfn, RS_NOTE_LIST, lru, 0);
}

static void classic_del(struct rs_ctx *ctx, struct rs_lruvec *l, pfn_t pfn)
{
	struct folio *f = &rs_folios(ctx)[pfn];

	rs_list_del(rs_folios(ctx), pfn);
	rs_lru_size_add(ctx, l, folio_lru(f), f->zone, -(int64_t)folio_nr_pages(f));
}

/*
 * Up to nr pages off the tail; folios of zones above reclaim_idx go to the head and count only in
 * the total. Returns that total. Kernel: isolate_lru_folios().
 */
static uint64_t isolate(struct rs_ctx *ctx, struct rs_lruvec *l, enum rs_lru lru, uint64_t nr,
			struct rs_scan *sc, struct rs_isolated *out, uint64_t *ret_taken)
{
	static const enum rs_event skip[] = { RS_PGSCAN_SKIP_DMA, RS_PGSCAN_SKIP_DMA32,
					      RS_PGSCAN_SKIP_NORMAL };
	struct folio *folios = rs_folios(ctx);
	uint64_t scan = 0, total = 0, size = rs_lru_size(ctx, l, lru, RS_NR_ZONES - 1);
	int64_t by_zone[RS_NR_ZONES] = { 0 };
	pfn_t head = l->lists + lru;

	*ret_taken = 0;
	while (scan < nr && total < size && out->n < RS_ISOLATED_MAX &&
	       !rs_list_empty(folios, head)) {
		pfn_t pfn = rs_list_tail(folios, head);
		struct folio *f = &folios[pfn];
		uint32_t pages = folio_nr_pages(f);

		total += pages;
		if (f->zone > sc->reclaim_idx) {
			rs_list_del(folios, pfn);
			rs_list_add(folios, head, pfn);
			rs_count(ctx, l, skip[f->zone], pages);
			continue;
		}
		scan += pages;
		if (!sc->may_unmap && rs_folio_mapped(ctx, pfn)) {
			rs_list_del(folios, pfn);
			rs_list_add(folios, head, pfn);
			continue;
		}
		rs_list_del(folios, pfn);
		by_zone[f->zone] += pages;
		rs_isolate(ctx, pfn);
		out->pfn[out->n++] = pfn;
		*ret_taken += pages;
	}
	for (unsigned z = 0; z < RS_NR_ZONES; z++)
		if (by_zone[z])
			rs_lru_size_add(ctx, l, lru, z, -by_zone[z]);
	rs_trace_lru_isolate(ctx, sc, nr, total, total - scan, *ret_taken, lru);
	return total;
}

/* Kernel: move_folios_to_lru(). Active survivors age the nonresident clock. */
static void putback(struct rs_ctx *ctx, struct rs_lruvec *l, const struct rs_isolated *list)
{
	for (uint32_t i = 0; i < list->n; i++) {
		const struct folio *f = &rs_folios(ctx)[list->pfn[i]];
		uint32_t pages = folio_nr_pages(f);
		bool active = f->flags & PG_active;

		rs_putback(ctx, list->pfn[i]);
		if (active)
			classic_age_nonresident(ctx, l, pages);
	}
}

/* ---- inactive lists ---- */

/* Kernel: folio_check_references(). */
static enum rs_verdict classic_check_references(struct rs_ctx *ctx, pfn_t pfn, struct rs_scan *sc)
{
	struct folio *f = &rs_folios(ctx)[pfn];
	bool file = folio_lru_type(f) == RS_FILE, marked = f->flags & PG_referenced;
	uint32_t vm_flags;
	int ptes = rs_folio_referenced(ctx, pfn, sc, &vm_flags);

	f->flags &= ~(uint32_t)PG_referenced;
	if (vm_flags & VM_LOCKED)
		return RS_ACTIVATE;
	if (ptes < 0)
		return RS_KEEP;
	if (ptes) {
		f->flags |= PG_referenced;
		if (marked || ptes > 1 || (file && (vm_flags & VM_EXEC)))
			return RS_ACTIVATE;
		return RS_KEEP;
	}
	return marked && file ? RS_RECLAIM_CLEAN : RS_RECLAIM;
}

/* By who reclaims, as vmstat knows them: kswapd, memory.reclaim (7.2), anybody else. */
struct by_reclaimer {
	enum rs_event kswapd, proactive, direct, anon, file;
};
static const struct by_reclaimer scan_events = { RS_PGSCAN_KSWAPD, RS_PGSCAN_PROACTIVE,
						 RS_PGSCAN_DIRECT, RS_PGSCAN_ANON, RS_PGSCAN_FILE };
static const struct by_reclaimer steal_events = { RS_PGSTEAL_KSWAPD, RS_PGSTEAL_PROACTIVE,
						  RS_PGSTEAL_DIRECT, RS_PGSTEAL_ANON,
						  RS_PGSTEAL_FILE };

static void count_pages(struct rs_ctx *ctx, struct rs_lruvec *l, struct rs_scan *sc,
			enum rs_type type, const struct by_reclaimer *events, uint64_t nr)
{
	enum rs_event e = events->direct;

	if (sc->kswapd)
		e = events->kswapd;
	else if (sc->proactive && rs_tunables(ctx)->kernel >= RS_KERNEL_7_2)
		e = events->proactive;
	rs_count_reclaim(ctx, l, sc, e, nr);
	rs_count(ctx, l, type == RS_ANON ? events->anon : events->file, nr);
}

static void add_stat(struct rs_scan *sc, const struct rs_reclaim_stat *s, enum rs_type type,
		     uint64_t taken)
{
	sc->nr.dirty += s->nr_dirty;
	sc->nr.congested += s->nr_congested;
	sc->nr.unqueued_dirty += s->nr_unqueued_dirty;
	sc->nr.writeback += s->nr_writeback;
	sc->nr.immediate += s->nr_immediate;
	sc->nr.taken += taken;
	if (type == RS_FILE)
		sc->nr.file_taken += taken;
}

/*
 * Pages freed of up to nr scanned. Kernel: shrink_inactive_list().
 * Differs: nobody waits because too many pages are isolated.
 */
static uint64_t shrink_inactive(struct rs_ctx *ctx, struct rs_lruvec *l, enum rs_type type,
				uint64_t nr, struct rs_scan *sc)
{
	struct rs_isolated list = { 0 };
	struct rs_reclaim_stat stat = { 0 };
	uint64_t scanned, taken, freed;

	rs_lru_add_drain(ctx);
	rs_lru_lock(ctx, l);
	scanned = isolate(ctx, l, classic_lru(type, false), nr, sc, &list, &taken);
	count_pages(ctx, l, sc, type, &scan_events, scanned);
	rs_lru_unlock(ctx, l, list.n);
	if (!taken)
		return 0;
	freed = rs_shrink_folios(ctx, l->nid, &list, sc, &stat, false);
	rs_lru_lock(ctx, l);
	putback(ctx, l, &list);
	rs_lru_unlock(ctx, l, list.n);
	count_pages(ctx, l, sc, type, &steal_events, freed);
	classic_note_cost(ctx, l, type, stat.nr_pageout, scanned - freed);
	if (stat.nr_unqueued_dirty == taken)
		rs_wakeup_flusher(ctx);
	add_stat(sc, &stat, type, taken);
	rs_trace_lru_shrink_inactive(ctx, l->nid, scanned, freed, &stat, sc, type);
	return freed;
}

/* ---- active lists ---- */

/* Executable file pages that were used stay; all others become inactive. Kernel:
 * shrink_active_list(). */
static void shrink_active(struct rs_ctx *ctx, struct rs_lruvec *l, enum rs_type type, uint64_t nr,
			  struct rs_scan *sc)
{
	struct rs_isolated list = { 0 }, stay = { 0 }, leave = { 0 };
	uint64_t taken, scanned, rotated = 0, deactivated = 0;

	rs_lru_add_drain(ctx);
	rs_lru_lock(ctx, l);
	scanned = isolate(ctx, l, classic_lru(type, true), nr, sc, &list, &taken);
	rs_count_reclaim(ctx, l, sc, RS_PGREFILL, scanned);
	rs_lru_unlock(ctx, l, list.n);
	for (uint32_t i = 0; i < list.n; i++) {
		pfn_t pfn = list.pfn[i];
		struct folio *f = &rs_folios(ctx)[pfn];
		uint32_t vm_flags = 0;

		if (rs_folio_referenced(ctx, pfn, sc, &vm_flags) && (vm_flags & VM_EXEC) &&
		    folio_lru_type(f) == RS_FILE) {
			rotated += folio_nr_pages(f);
			stay.pfn[stay.n++] = pfn;
			continue;
		}
		f->flags = (f->flags & ~(uint32_t)PG_active) | PG_workingset;
		deactivated += folio_nr_pages(f);
		leave.pfn[leave.n++] = pfn;
	}
	rs_lru_lock(ctx, l);
	putback(ctx, l, &stay);
	putback(ctx, l, &leave);
	rs_lru_unlock(ctx, l, list.n);
	rs_count(ctx, l, RS_PGDEACTIVATE, deactivated);
	if (rotated && rs_tunables(ctx)->kernel >= RS_KERNEL_6_12)
		classic_note_cost(ctx, l, type, 0, rotated);
	rs_trace_lru_shrink_active(ctx, l->nid, taken, rotated, deactivated, rotated, sc, type);
}

/* ---- a lruvec ---- */

static uint64_t shrink_list(struct rs_ctx *ctx, struct rs_lruvec *l, enum rs_lru lru, uint64_t nr,
			    struct rs_scan *sc)
{
	enum rs_type type = lru / 2;

	if (!(lru & 1))
		return shrink_inactive(ctx, l, type, nr, sc);
	if (sc->priv[MAY_DEACTIVATE] & DEACTIVATE_BIT(type))
		shrink_active(ctx, l, type, nr, sc);
	else
		sc->skipped_deactivate = true;
	return 0;
}

/*
 * The target is met: stop scanning the type with less left, and cut the other to the share of its
 * target that the first has reached. False: nothing is left to balance.
 */
static bool proportional_cut(uint64_t nr[RS_NR_LRU], const uint64_t targets[RS_NR_LRU])
{
	uint64_t file = nr[RS_INACTIVE_FILE] + nr[RS_ACTIVE_FILE];
	uint64_t anon = nr[RS_INACTIVE_ANON] + nr[RS_ACTIVE_ANON], percent, target;
	enum rs_type small = file > anon ? RS_ANON : RS_FILE, other = !small;

	if (!file || !anon)
		return false;
	target = targets[classic_lru(small, false)] + targets[classic_lru(small, true)] + 1;
	percent = (small == RS_ANON ? anon : file) * 100 / target;
	nr[classic_lru(small, false)] = nr[classic_lru(small, true)] = 0;
	for (unsigned active = 0; active < 2; active++) {
		enum rs_lru lru = classic_lru(other, active);
		uint64_t done = targets[lru] - nr[lru];

		nr[lru] = targets[lru] * (100 - percent) / 100;
		nr[lru] -= MIN(nr[lru], done);
	}
	return true;
}

static void classic_shrink_lruvec(struct rs_ctx *ctx, struct rs_lruvec *l, struct rs_scan *sc)
{
	bool proportional = !sc->cgroup_reclaim && !sc->kswapd && sc->priority == RS_DEF_PRIORITY;
	uint64_t nr[RS_NR_LRU], targets[RS_NR_LRU], reclaimed = 0;

	classic_scan_count(ctx, l, sc, nr);
	for (unsigned lru = 0; lru < RS_NR_LRU; lru++)
		targets[lru] = nr[lru];
	while (nr[RS_INACTIVE_ANON] || nr[RS_ACTIVE_FILE] || nr[RS_INACTIVE_FILE]) {
		for (unsigned lru = 0; lru < RS_NR_LRU; lru++) {
			uint64_t n = MIN(nr[lru], RS_SWAP_CLUSTER_MAX);

			if (!n)
				continue;
			nr[lru] -= n;
			reclaimed += shrink_list(ctx, l, lru, n, sc);
		}
		if (reclaimed < sc->nr_to_reclaim || proportional)
			continue;
		if (!proportional_cut(nr, targets))
			break;
	}
	rs_flush_plug(ctx);
	sc->nr_reclaimed += reclaimed;
	if ((rs_swap_exists(ctx) || rs_can_demote(ctx, l->nid, sc)) &&
	    classic_inactive_is_low(ctx, l, RS_ANON))
		shrink_active(ctx, l, RS_ANON, RS_SWAP_CLUSTER_MAX, sc);
}

/* Background ageing of anonymous memory. Kernel: age_active_anon(), kswapd_age_node(). */
static void classic_age_node(struct rs_ctx *ctx, uint8_t nid, struct rs_scan *sc)
{
	uint16_t g = RS_MEMCG_NONE;

	if (!rs_swap_exists(ctx) || !classic_inactive_is_low(ctx, rs_lruvec(ctx, 0, nid), RS_ANON))
		return;
	while ((g = rs_memcg_next(ctx, 0, g)) != RS_MEMCG_NONE)
		shrink_active(ctx, rs_lruvec(ctx, g, nid), RS_ANON, RS_SWAP_CLUSTER_MAX, sc);
}

static bool classic_check(struct rs_ctx *ctx, struct rs_lruvec *l, GString *why)
{
	const struct folio *folios = rs_folios(ctx);

	for (unsigned lru = 0; lru < RS_NR_LRU; lru++) {
		uint64_t n = 0;

		for (pfn_t p = folios[l->lists + lru].next; p != l->lists + lru;
		     p = folios[p].next) {
			if (!(folios[p].flags & PG_lru) || folio_lru(&folios[p]) != lru) {
				g_string_append_printf(
					why, "classic: folio %u, flags %#x, is on list %u", p,
					folios[p].flags, lru);
				return false;
			}
			n += folio_nr_pages(&folios[p]);
		}
		if (n != rs_lru_size(ctx, l, lru, RS_NR_ZONES - 1)) {
			g_string_append_printf(
				why, "classic: list %u holds %" PRIu64 " pages, counted %" PRIu64,
				lru, n, rs_lru_size(ctx, l, lru, RS_NR_ZONES - 1));
			return false;
		}
	}
	return true;
}

const struct rs_policy_ops classic_policy = {
	.abi = RS_POLICY_ABI,
	.size = sizeof(struct rs_policy_ops),
	.name = "classic",
	.summary = "active and inactive lists, balanced by cost and refault distance",
	.lruvec_size = sizeof(struct classic_lruvec),
	.nr_lists = RS_NR_LRU,
	.add = classic_add,
	.del = classic_del,
	.mark_accessed = classic_mark_accessed,
	.evict = classic_evict,
	.refault = classic_refault,
	.shrink_lruvec = classic_shrink_lruvec,
	.prepare = classic_prepare,
	.age_node = classic_age_node,
	.snapshot = classic_snapshot,
	.check_references = classic_check_references,
	.check = classic_check,
};
