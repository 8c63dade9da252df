/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * memcg.c - the tree of control groups: charges, protection, statistics with their delayed flush.
 * Group 0 is the root and has no limit.
 */
#include "sim/mm/machine.h"

#include <string.h>

uint16_t memcg_find(const struct machine *m, const char *path)
{
	for (uint32_t i = 0; i < m->nr_memcgs; i++)
		if (m->memcg[i].online && !strcmp(m->memcg[i].path, path))
			return i;
	return RS_MEMCG_NONE;
}

static void apply_settings(struct machine *m, struct memcg *g)
{
	for (uint32_t i = 0; i < m->cfg->nr_memcgs; i++) {
		const struct memcg_config *c = &m->cfg->memcgs[i];

		if (strcmp(c->path, g->path))
			continue;
		g->max = c->max == RS_UNLIMITED ? RS_UNLIMITED : c->max >> RS_PAGE_SHIFT;
		g->high = c->high == RS_UNLIMITED ? RS_UNLIMITED : c->high >> RS_PAGE_SHIFT;
		g->min = c->min >> RS_PAGE_SHIFT;
		g->low = c->low >> RS_PAGE_SHIFT;
		g->swap_max =
			c->swap_max == RS_UNLIMITED ? RS_UNLIMITED : c->swap_max >> RS_PAGE_SHIFT;
		g->swappiness = c->swappiness;
	}
}

static void new_lruvecs(struct machine *m, uint16_t id)
{
	for (uint32_t nid = 0; nid < m->nr_nodes; nid++) {
		struct lruvec *l = g_new0(struct lruvec, 1);

		l->pub.memcg = id;
		l->pub.nid = nid;
		l->pub.id = (uint32_t)id * m->nr_nodes + nid;
		l->pub.lists = machine_new_heads(m, m->nr_lists + 1);
		l->unevictable = l->pub.lists + m->nr_lists;
		m->lruvec[l->pub.id] = l;
	}
}

static uint16_t new_memcg(struct machine *m, const char *path, uint16_t parent)
{
	uint16_t id = m->nr_memcgs++, *link;
	struct memcg *g = &m->memcg[id];

	*g = (struct memcg){ .path = g_strdup(path),
			     .id = id,
			     .parent = parent,
			     .first_child = RS_MEMCG_NONE,
			     .next_sibling = RS_MEMCG_NONE,
			     .online = true,
			     .max = RS_UNLIMITED,
			     .high = RS_UNLIMITED,
			     .swap_max = RS_UNLIMITED,
			     .swappiness = -1 };
	for (unsigned i = 0; i < RS_MAX_NODES; i++)
		g->reclaim_iter[i] = RS_MEMCG_NONE;
	apply_settings(m, g);
	if (parent != RS_MEMCG_NONE) {
		for (link = &m->memcg[parent].first_child; *link != RS_MEMCG_NONE;)
			link = &m->memcg[*link].next_sibling;
		*link = id;
	}
	new_lruvecs(m, id);
	return id;
}

uint16_t memcg_create(struct machine *m, const char *path, GError **error)
{
	g_autofree char *parent_path = NULL;
	uint16_t id = memcg_find(m, path), parent = RS_MEMCG_NONE;

	if (id != RS_MEMCG_NONE)
		return id;
	if (path[0] != '/' || (path[1] && path[strlen(path) - 1] == '/')) {
		g_set_error(error, RS_ERROR, RS_ERROR_INPUT,
			    "bad group path '%s': it begins with / and ends without one", path);
		return RS_MEMCG_NONE;
	}
	if (m->nr_memcgs == MAX_MEMCGS) {
		g_set_error(error, RS_ERROR, RS_ERROR_INPUT, "more than %u groups", MAX_MEMCGS);
		return RS_MEMCG_NONE;
	}
	if (path[1]) {
		parent_path = g_path_get_dirname(path);
		parent = memcg_create(m, parent_path, error);
		if (parent == RS_MEMCG_NONE)
			return RS_MEMCG_NONE;
	}
	return new_memcg(m, path, parent);
}

bool memcg_try_charge(struct machine *m, uint16_t memcg, uint64_t nr, uint16_t *ret_over)
{
	for (uint16_t i = memcg; i != RS_MEMCG_NONE; i = m->memcg[i].parent) {
		struct memcg *g = &m->memcg[i];

		if (g->max != RS_UNLIMITED && g->usage + nr > g->max) {
			*ret_over = i;
			return false;
		}
	}
	memcg_force_charge(m, memcg, nr);
	return true;
}

void memcg_force_charge(struct machine *m, uint16_t memcg, uint64_t nr)
{
	for (uint16_t i = memcg; i != RS_MEMCG_NONE; i = m->memcg[i].parent) {
		m->memcg[i].usage += nr;
		m->memcg[i].peak = MAX(m->memcg[i].peak, m->memcg[i].usage);
	}
}

void memcg_uncharge(struct machine *m, uint16_t memcg, uint64_t nr)
{
	for (uint16_t i = memcg; i != RS_MEMCG_NONE; i = m->memcg[i].parent) {
		g_assert(m->memcg[i].usage >= nr);
		m->memcg[i].usage -= nr;
	}
}

uint64_t memcg_margin(const struct machine *m, uint16_t memcg)
{
	const struct memcg *g = &m->memcg[memcg];

	return g->max == RS_UNLIMITED ? RS_UNLIMITED : g->usage < g->max ? g->max - g->usage : 0;
}

/* Pre-order over the subtree, children in order of creation. */
uint16_t memcg_next(const struct machine *m, uint16_t root, uint16_t prev)
{
	uint16_t i = prev;

	if (prev == RS_MEMCG_NONE)
		return root;
	if (m->memcg[i].first_child != RS_MEMCG_NONE)
		return m->memcg[i].first_child;
	while (i != root) {
		if (m->memcg[i].next_sibling != RS_MEMCG_NONE)
			return m->memcg[i].next_sibling;
		i = m->memcg[i].parent;
	}
	return RS_MEMCG_NONE;
}

bool memcg_is_descendant(const struct machine *m, uint16_t memcg, uint16_t root)
{
	if (root == 0)
		return true;
	for (uint16_t i = memcg; i != RS_MEMCG_NONE; i = m->memcg[i].parent)
		if (i == root)
			return true;
	return false;
}

/*
 * Kernel: mm/memcontrol.c memcg_rstat_updated().
 * Differs: one counter for all CPUs.
 */
void memcg_stat_updated(struct machine *m, uint64_t units)
{
	m->stat_updates += units;
	if (m->stat_updates <= 64)
		return;
	if (m->stat_threshold <= m->cfg->cpus)
		m->stat_threshold += m->stat_updates / 64;
	m->stat_updates = 0;
}

void memcg_gauge(struct machine *m, uint16_t memcg, enum gauge gauge, int64_t nr)
{
	for (uint16_t i = memcg; i != RS_MEMCG_NONE; i = m->memcg[i].parent)
		m->memcg[i].gauge[gauge] += nr;
	memcg_stat_updated(m, nr < 0 ? -nr : nr);
}

void memcg_count(struct machine *m, uint16_t memcg, enum rs_event event, uint64_t nr)
{
	for (uint16_t i = memcg; i != RS_MEMCG_NONE; i = m->memcg[i].parent)
		m->memcg[i].event[event] += nr;
	if (event_is_memcg(m, event))
		memcg_stat_updated(m, nr);
	if (event_is_vmstat(event))
		m->vmstat[event] += nr;
}

void memcg_flush_stats(struct machine *m)
{
	for (uint32_t i = 0; i < m->nr_memcgs * m->nr_nodes; i++) {
		struct lruvec *l = m->lruvec[i];

		memcpy(l->lru_flushed, l->lru, sizeof(l->lru));
		memcpy(l->event_flushed, l->event, sizeof(l->event));
	}
	for (uint32_t i = 0; i < m->nr_memcgs; i++)
		memcpy(m->memcg[i].gauge_flushed, m->memcg[i].gauge, sizeof(m->memcg[i].gauge));
	m->stat_threshold = 0;
}

/*
 * Effective protection of every group below root, from the top down.
 * Usage stands for itself; a parent's protection is shared in proportion.
 * Kernel: mm/page_counter.c page_counter_calculate_protection(), effective_protection().
 * Differs: as mounted without memory_recursiveprot.
 */
void memcg_update_protection(struct machine *m, uint16_t root)
{
	for (uint16_t i = memcg_next(m, root, RS_MEMCG_NONE); i != RS_MEMCG_NONE;
	     i = memcg_next(m, root, i)) {
		struct memcg *g = &m->memcg[i], *p;
		uint64_t min_sum = 0, low_sum = 0;

		if (i == root || g->parent == RS_MEMCG_NONE) {
			g->effective_min = g->effective_low = 0;
			continue;
		}
		p = &m->memcg[g->parent];
		if (g->parent == root) {
			g->effective_min = g->min;
			g->effective_low = g->low;
			continue;
		}
		for (uint16_t c = p->first_child; c != RS_MEMCG_NONE;
		     c = m->memcg[c].next_sibling) {
			min_sum += MIN(m->memcg[c].usage, m->memcg[c].min);
			low_sum += MIN(m->memcg[c].usage, m->memcg[c].low);
		}
		g->effective_min = MIN(g->usage, g->min);
		g->effective_low = MIN(g->usage, g->low);
		if (min_sum > p->effective_min)
			g->effective_min =
				(__uint128_t)g->effective_min * p->effective_min / min_sum;
		if (low_sum > p->effective_low)
			g->effective_low =
				(__uint128_t)g->effective_low * p->effective_low / low_sum;
	}
}
