/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ref_reclaim.c - reclaim of the group at its limit. Kernel: mm/vmscan.c.
 */
#include "ref.h"

struct scan {
	uint64_t nr_to_reclaim, nr_reclaimed;
	uint64_t cost[2];
	int priority;
	bool may_deactivate[2], skipped_deactivate, force_deactivate, cache_trim_mode;
};

struct result { /* struct reclaim_stat */
	uint64_t reclaimed, pageout, unqueued_dirty;
};

enum verdict { RECLAIM, KEEP, ACTIVATE };

/* Takes up to nr folios off a list, oldest first. Kernel: isolate_lru_folios(). */
static uint64_t isolate(struct ref_machine *m, int lru, uint64_t nr, GQueue *ret)
{
	uint64_t taken = 0;

	g_queue_init(ret);
	while (taken < nr && m->list[lru].length) {
		GList *link = g_queue_pop_tail_link(&m->list[lru]);
		struct ref_folio *folio = link->data;

		folio->on_list = -1;
		folio->pg_lru = false;
		ref_folio_get(folio);
		g_queue_push_tail_link(ret, link);
		taken++;
	}
	ref_stat(m, lru, -(int64_t)taken);
	return taken;
}

/* Puts survivors back, oldest first, and drops the isolation's reference. */
static uint64_t putback(struct ref_machine *m, GQueue *folios)
{
	uint64_t nr = folios->length;
	GList *link;

	while ((link = g_queue_pop_head_link(folios))) {
		struct ref_folio *folio = link->data;

		folio->pg_lru = true;
		if (m->opt.fifo)
			folio->active = false;
		ref_list_add(m, folio, false);
		if (folio->active)
			m->age++;
		ref_folio_put(m, folio);
	}
	return nr;
}

/* Kernel: mm/rmap.c folio_referenced(). */
static unsigned int referenced(const struct ref_folio *folio, bool *ret_exec)
{
	unsigned int nr = 0;

	*ret_exec = false;
	for (unsigned int i = 0; i < folio->ptes->len; i++) {
		struct ref_pte *pte = g_ptr_array_index(folio->ptes, i);

		if (!pte->young)
			continue;
		pte->young = false;
		*ret_exec |= pte->region->exec;
		nr++;
	}
	return nr;
}

/* Kernel: folio_check_references(). */
static enum verdict check_references(struct ref_folio *folio)
{
	bool exec;
	unsigned int ptes = referenced(folio, &exec);
	bool seen = folio->referenced;

	folio->referenced = false;
	if (!ptes)
		return RECLAIM;
	folio->referenced = true;
	if (seen || ptes > 1 || (exec && !folio->anon))
		return ACTIVATE;
	return KEEP;
}

static void try_to_unmap(struct ref_machine *m, struct ref_folio *folio)
{
	while (folio->ptes->len) {
		struct ref_pte *pte = g_ptr_array_index(folio->ptes, folio->ptes->len - 1);

		ref_unmap(m, pte);
		if (folio->anon) {
			pte->slot = folio->slot;
			folio->slot->count++;
		}
		ref_folio_put(m, folio);
	}
}

/* Kernel: __remove_mapping(). Leaves only the isolation's reference. */
static bool remove_mapping(struct ref_machine *m, struct ref_folio *folio)
{
	if (folio->refs != 2 || folio->dirty)
		return false;
	if (folio->anon) {
		folio->slot->shadow = ref_eviction(m, folio);
		ref_swap_cache_del(m, folio);
	} else {
		struct ref_cache *cache = g_hash_table_lookup(folio->file->pages, &folio->index);

		cache->shadow = ref_eviction(m, folio);
		cache->folio = NULL;
		folio->file = NULL;
		ref_stat(m, STAT_OTHER, -1);
		ref_folio_put(m, folio);
	}
	return true;
}

/* One folio of shrink_folio_list(): RECLAIM means that it can be freed now. */
static enum verdict shrink_folio(struct ref_machine *m, struct ref_folio *folio, struct result *res)
{
	enum verdict verdict;

	if (folio->locked)
		return KEEP;
	if (!folio->anon && folio->dirty && !folio->writeback)
		res->unqueued_dirty++;
	if (folio->writeback) {
		folio->reclaim = true;
		return ACTIVATE;
	}
	verdict = m->opt.fifo ? RECLAIM : check_references(folio);
	if (verdict != RECLAIM)
		return verdict;
	if (folio->anon && !folio->slot && !ref_add_to_swap(m, folio))
		return ACTIVATE;
	try_to_unmap(m, folio);
	if (folio->dirty) {
		if (!folio->anon) {
			m->ev[VMSCAN_IMMEDIATE]++;
			folio->reclaim = true;
			return ACTIVATE;
		}
		if (folio->refs != 2)
			return KEEP;
		ref_swap_write(m, folio);
		res->pageout++;
		if (folio->writeback)
			return KEEP;
	}
	return remove_mapping(m, folio) ? RECLAIM : KEEP;
}

/* Kernel: shrink_folio_list(). The folios that stay are left in the queue. */
static void shrink_folio_list(struct ref_machine *m, GQueue *folios, struct result *res)
{
	GQueue stay = G_QUEUE_INIT, freed = G_QUEUE_INIT;
	uint64_t activated = 0;
	GList *link;

	while ((link = g_queue_pop_head_link(folios))) {
		struct ref_folio *folio = link->data;
		enum verdict verdict = shrink_folio(m, folio, res);

		if (verdict == RECLAIM) {
			res->reclaimed++;
			g_queue_push_tail_link(&freed, link);
			continue;
		}
		if (verdict == ACTIVATE) {
			if (ref_swap_half_full(m))
				ref_folio_free_swap(m, folio);
			folio->active = true;
			activated++;
			ref_stat(m, STAT_OTHER, 1);
		}
		g_queue_push_tail_link(&stay, link);
	}
	ref_folio_free_all(m, &freed);
	m->ev[PGACTIVATE] += activated;
	*folios = stay;
}

/* Kernel: shrink_inactive_list(). */
static uint64_t shrink_inactive_list(struct ref_machine *m, int lru, uint64_t nr)
{
	const bool file = lru == INACTIVE_FILE;
	struct result res = { 0 };
	GQueue folios;
	uint64_t taken;

	ref_lru_add_drain(m);
	taken = isolate(m, lru, nr, &folios);
	m->ev[PGSCAN_ANON + file] += taken;
	ref_stat(m, STAT_OTHER, taken);
	if (!taken)
		return 0;
	shrink_folio_list(m, &folios, &res);
	putback(m, &folios);
	m->ev[PGSTEAL_ANON + file] += res.reclaimed;
	ref_stat(m, STAT_OTHER, res.reclaimed);
	ref_note_cost(m, file, res.pageout, taken - res.reclaimed);
	if (res.unqueued_dirty == taken)
		m->flusher_woken = true;
	return res.reclaimed;
}

/* Kernel: shrink_active_list(). */
static void shrink_active_list(struct ref_machine *m, int lru, uint64_t nr)
{
	GQueue folios, active = G_QUEUE_INIT, inactive = G_QUEUE_INIT;
	uint64_t taken, rotated, deactivated;
	GList *link;

	ref_lru_add_drain(m);
	taken = isolate(m, lru, nr, &folios);
	m->ev[PGREFILL] += taken;
	ref_stat(m, STAT_OTHER, taken);
	while ((link = g_queue_pop_head_link(&folios))) {
		struct ref_folio *folio = link->data;
		bool exec;

		if (referenced(folio, &exec) && exec && !folio->anon) {
			g_queue_push_tail_link(&active, link);
			continue;
		}
		folio->active = false;
		folio->workingset = true;
		g_queue_push_tail_link(&inactive, link);
	}
	rotated = putback(m, &active);
	deactivated = putback(m, &inactive);
	m->ev[PGDEACTIVATE] += deactivated;
	ref_stat(m, STAT_OTHER, deactivated);
	if (m->opt.v612 && rotated)
		ref_note_cost(m, lru == ACTIVE_FILE, 0, rotated);
}

/* Kernel: inactive_is_low(); below 1 GiB the ratio is 1. */
static uint64_t isqrt(uint64_t n)
{
	uint64_t root = 0;

	while ((root + 1) * (root + 1) <= n)
		root++;
	return root;
}

static bool inactive_is_low(const struct ref_machine *m, bool file)
{
	uint64_t inactive = m->flushed[file ? INACTIVE_FILE : INACTIVE_ANON];
	uint64_t active = m->flushed[file ? ACTIVE_FILE : ACTIVE_ANON];
	uint64_t gb = (inactive + active) >> 18;

	return inactive * (gb ? isqrt(10 * gb) : 1) < active;
}

/* Kernel: prepare_scan_count() of 6.1, prepare_scan_control() of 6.12. */
static void prepare_scan(struct ref_machine *m, struct scan *sc)
{
	if (!m->opt.v612)
		ref_stat_flush_pending(m);
	for (int file = 0; file < 2; file++) {
		sc->cost[file] = m->cost[file];
		sc->may_deactivate[file] =
			sc->force_deactivate ||
			(uint64_t)m->flushed[STAT_ACTIVATE_ANON + file] != m->refaults[file] ||
			inactive_is_low(m, file);
	}
	sc->cache_trim_mode = m->flushed[INACTIVE_FILE] >> sc->priority && !sc->may_deactivate[1];
}

/* Kernel: get_scan_count(). */
static void get_scan_count(const struct ref_machine *m, const struct scan *sc, uint64_t nr[NR_LRU])
{
	const uint64_t swappiness = m->opt.swappiness;
	uint64_t total = sc->cost[0] + sc->cost[1];
	uint64_t sum = (total + sc->cost[0]) + (total + sc->cost[1]);
	uint64_t fraction[2] = { swappiness * (sum + 1) / (total + sc->cost[0] + 1),
				 (200 - swappiness) * (sum + 1) / (total + sc->cost[1] + 1) };
	bool only_file = !ref_swap_left(m) || !swappiness;
	bool equal = !only_file && !sc->priority;

	only_file |= !equal && sc->cache_trim_mode;
	for (int lru = 0; lru < NR_LRU; lru++) {
		bool file = lru >= INACTIVE_FILE;

		nr[lru] = m->list[lru].length >> sc->priority;
		if (only_file)
			nr[lru] = file ? nr[lru] : 0;
		else if (!equal)
			nr[lru] = nr[lru] * fraction[file] / (fraction[0] + fraction[1]);
	}
}

static uint64_t shrink_list(struct ref_machine *m, struct scan *sc, int lru, uint64_t nr)
{
	if (lru == INACTIVE_ANON || lru == INACTIVE_FILE)
		return shrink_inactive_list(m, lru, nr);
	if (sc->may_deactivate[lru == ACTIVE_FILE])
		shrink_active_list(m, lru, nr);
	else
		sc->skipped_deactivate = true;
	return 0;
}

static void rescale(const uint64_t targets[NR_LRU], uint64_t nr[NR_LRU], int lru, uint64_t percent)
{
	uint64_t done = targets[lru] - nr[lru];

	nr[lru] = targets[lru] * (100 - percent) / 100;
	nr[lru] -= MIN(nr[lru], done);
}

/* The proportional part of shrink_lruvec(); false when the loop ends here. */
static bool balance(const uint64_t targets[NR_LRU], uint64_t nr[NR_LRU])
{
	uint64_t file = nr[INACTIVE_FILE] + nr[ACTIVE_FILE];
	uint64_t anon = nr[INACTIVE_ANON] + nr[ACTIVE_ANON];
	int stop = file > anon ? INACTIVE_ANON : INACTIVE_FILE;
	int go = file > anon ? INACTIVE_FILE : INACTIVE_ANON;
	uint64_t percent;

	if (!file || !anon)
		return false;
	percent = MIN(file, anon) * 100 / (targets[stop] + targets[stop + 1] + 1);
	nr[stop] = nr[stop + 1] = 0;
	rescale(targets, nr, go, percent);
	rescale(targets, nr, go + 1, percent);
	return true;
}

/* Kernel: shrink_lruvec(). */
static void shrink_lruvec(struct ref_machine *m, struct scan *sc)
{
	uint64_t nr[NR_LRU], targets[NR_LRU];
	uint64_t reclaimed = 0;

	get_scan_count(m, sc, nr);
	for (int lru = 0; lru < NR_LRU; lru++)
		targets[lru] = nr[lru];
	ref_plug_start(m);
	while (nr[INACTIVE_ANON] || nr[ACTIVE_FILE] || nr[INACTIVE_FILE]) {
		for (int lru = 0; lru < NR_LRU; lru++) {
			uint64_t n = MIN(nr[lru], 32);

			nr[lru] -= n;
			if (n)
				reclaimed += shrink_list(m, sc, lru, n);
		}
		if (reclaimed >= sc->nr_to_reclaim && !balance(targets, nr))
			break;
	}
	ref_plug_finish(m);
	sc->nr_reclaimed += reclaimed;
	if (ref_swap_device(m) && inactive_is_low(m, false))
		shrink_active_list(m, ACTIVE_ANON, 32);
}

/* First in, first out: one batch from the tail of the longer list, whoever used the pages. */
static void shrink_fifo(struct ref_machine *m, struct scan *sc)
{
	bool anon = m->list[INACTIVE_ANON].length > m->list[INACTIVE_FILE].length;

	ref_plug_start(m);
	sc->nr_reclaimed += shrink_inactive_list(
		m, anon && ref_swap_left(m) ? INACTIVE_ANON : INACTIVE_FILE, 32);
	ref_plug_finish(m);
}

/* One pass from the start priority down; Kernel: do_try_to_free_pages(). */
static void shrink(struct ref_machine *m, struct scan *sc)
{
	for (sc->priority = 12; sc->priority >= 0; sc->priority--) {
		if (m->opt.fifo) {
			shrink_fifo(m, sc);
		} else {
			prepare_scan(m, sc);
			shrink_lruvec(m, sc);
		}
		if (sc->nr_reclaimed >= sc->nr_to_reclaim)
			break;
	}
	for (int file = 0; file < 2; file++)
		m->refaults[file] = m->flushed[STAT_ACTIVATE_ANON + file];
}

uint64_t ref_reclaim(struct ref_machine *m, uint64_t nr_pages)
{
	struct scan sc = { .nr_to_reclaim = MAX(nr_pages, 32) };

	shrink(m, &sc);
	if (!sc.nr_reclaimed && m->opt.v612)
		shrink(m, &sc);
	if (!sc.nr_reclaimed && sc.skipped_deactivate) {
		sc.force_deactivate = true;
		sc.skipped_deactivate = false;
		shrink(m, &sc);
	}
	return sc.nr_reclaimed;
}
