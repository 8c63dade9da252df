/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * swap.c - slots of the swap area and the swap cache.
 *
 * A CPU takes slots one after the other inside a cluster of 512, so evictions in a row lie side by
 * side; when the cluster is used up it goes to the next free one, then to partly used ones.
 * Kernel: mm/swapfile.c scan_swap_map_try_ssd_cluster(), mm/swap_slots.c.
 * Differs: one set of clusters for all CPUs.
 */
#include "sim/mm/machine.h"

bool swap_init(struct machine *m)
{
	struct swap_area *s = &m->swap;
	uint64_t slots = m->cfg->swap == DEV_NONE ? 1 : (m->cfg->swap_size >> RS_PAGE_SHIFT);

	s->nr_slots = CLAMP(slots, 1, (1u << 27) - 1);
	s->nr_free = s->nr_slots - 1;
	s->cluster_size = m->cfg->swap_cluster;
	s->nr_clusters = (s->nr_slots + s->cluster_size - 1) / s->cluster_size;
	s->slot = reserve_array(s->nr_slots, sizeof(*s->slot));
	s->slot_of = reserve_array(m->nr_frames, sizeof(*s->slot_of));
	s->cluster_free = g_new(uint32_t, s->nr_clusters);
	for (uint32_t i = 0; i < s->nr_clusters; i++)
		s->cluster_free[i] = MIN(s->cluster_size, s->nr_slots - i * s->cluster_size);
	s->cluster_free[0]--; /* slot 0 is the header */
	s->next =
		MIN(s->cluster_size, s->nr_slots); /* cluster 0 holds the header: not a free one */
	if (m->kernel >= RS_KERNEL_7_2)
		swap_clusters_init(s, m->cfg->swap_used_clusters);
	s->position = m->cfg->swap_used_clusters;
	return s->slot && s->slot_of;
}

/*
 * Clusters are taken column by column, so that two in a row never lie side by side.
 * Kernel: setup_swap_map_and_extents(), SWAP_CLUSTER_COLS.
 */
#define CLUSTER_COLUMNS 64u
static uint32_t nth_cluster(const struct swap_area *s, uint32_t n)
{
	uint32_t rows = (s->nr_clusters + CLUSTER_COLUMNS - 1) / CLUSTER_COLUMNS;
	uint32_t c = n % rows * CLUSTER_COLUMNS + n / rows;

	return c;
}

/* A free cluster behind the current one if there is any, else one with a free slot. */
static bool next_cluster(struct swap_area *s)
{
	uint32_t places =
		(s->nr_clusters + CLUSTER_COLUMNS - 1) / CLUSTER_COLUMNS * CLUSTER_COLUMNS;

	for (int pass = 0; pass < 2; pass++) {
		for (uint32_t i = 1; i <= places; i++) {
			uint32_t n = (s->position + i) % places, c = nth_cluster(s, n);

			if (c >= s->nr_clusters ||
			    (pass ? !s->cluster_free[c] : s->cluster_free[c] != s->cluster_size))
				continue;
			s->position = n;
			s->cluster = c;
			s->next = c * s->cluster_size;
			return true;
		}
	}
	return false;
}

uint32_t swap_take_slot(struct machine *m)
{
	struct swap_area *s = &m->swap;

	if (!s->nr_free)
		return 0;
	if (s->cluster_link)
		return swap_clusters_take(s);
	for (;;) {
		uint32_t end = MIN((s->cluster + 1) * s->cluster_size, s->nr_slots);

		while (s->next < end && (s->slot[s->next].used || !s->next))
			s->next++;
		if (s->next < end)
			break;
		if (!next_cluster(s))
			return 0;
	}
	s->slot[s->next].used = true;
	s->nr_free--;
	s->cluster_free[s->cluster]--;
	return s->next++;
}

static void release_now(struct machine *m, uint32_t slot)
{
	struct swap_area *s = &m->swap;

	zram_free(m, slot);
	s->slot[slot] = (struct swap_slot){ 0 };
	s->nr_free++;
	s->cluster_free[slot / s->cluster_size]++;
	if (s->cluster_link)
		swap_clusters_freed(s, slot);
}

/* Freed slots are given back 64 at a time. Kernel: mm/swap_slots.c free_swap_slot(), until 6.14. */
void swap_release_slot(struct machine *m, uint32_t slot)
{
	struct swap_area *s = &m->swap;

	g_assert(s->slot[slot].used && !s->slot[slot].count && !s->slot[slot].cached);
	if (m->kernel >= RS_KERNEL_6_14) {
		release_now(m, slot);
		return;
	}
	if (s->nr_ret == SLOTS_CACHE) {
		for (uint32_t i = 0; i < s->nr_ret; i++) {
			release_now(m, s->ret[i]);
			memcg_stat_updated(m, 1);
		}
		s->nr_ret = 0;
	}
	s->ret[s->nr_ret++] = slot;
}

void swap_uncharge(struct machine *m, uint32_t slot)
{
	struct swap_slot *s = &m->swap.slot[slot];

	for (uint16_t i = s->memcg; i != RS_MEMCG_NONE; i = m->memcg[i].parent)
		m->memcg[i].swap_usage--;
}

static void free_if_unused(struct machine *m, uint32_t slot)
{
	struct swap_slot *s = &m->swap.slot[slot];

	if (s->count || s->cached)
		return;
	swap_uncharge(m, slot);
	swap_release_slot(m, slot);
}

/* The slot is charged to the folio's group from here on. Kernel: add_to_swap_cache(). */
void swap_cache_add(struct machine *m, pfn_t pfn, uint32_t slot)
{
	struct folio *f = &m->folios[pfn];
	struct swap_slot *s = &m->swap.slot[slot];

	g_assert(s->used && !s->cached);
	if (!s->count) {
		s->memcg = f->memcg;
		for (uint16_t i = s->memcg; i != RS_MEMCG_NONE; i = m->memcg[i].parent)
			m->memcg[i].swap_usage++;
		memcg_stat_updated(m, 1);
	}
	s->cached = pfn;
	s->shadow = 0;
	m->swap.slot_of[pfn] = slot;
	f->flags |= PG_swapcache;
	m->nr_swapcached++;
	memcg_gauge(m, f->memcg, GAUGE_SWAPCACHED, 1);
}

void swap_cache_del(struct machine *m, pfn_t pfn, uint64_t shadow)
{
	struct folio *f = &m->folios[pfn];
	uint32_t slot = m->swap.slot_of[pfn];
	struct swap_slot *s = &m->swap.slot[slot];

	g_assert(s->cached == pfn);
	s->cached = RS_PFN_NONE;
	s->shadow = shadow;
	m->swap.slot_of[pfn] = 0;
	f->flags &= ~(uint32_t)PG_swapcache;
	m->nr_swapcached--;
	memcg_gauge(m, f->memcg, GAUGE_SWAPCACHED, -1);
	free_if_unused(m, slot);
}

void swap_put(struct machine *m, uint32_t slot)
{
	g_assert(m->swap.slot[slot].count);
	m->swap.slot[slot].count--;
	free_if_unused(m, slot);
}

/* Kernel: mem_cgroup_get_nr_swap_pages(). */
uint64_t memcg_swap_free(const struct machine *m, uint16_t memcg)
{
	uint64_t n = m->swap.nr_free;

	for (uint16_t i = memcg; i != RS_MEMCG_NONE; i = m->memcg[i].parent) {
		const struct memcg *g = &m->memcg[i];

		if (g->swap_max != RS_UNLIMITED)
			n = MIN(n, g->swap_max > g->swap_usage ? g->swap_max - g->swap_usage : 0);
	}
	return n;
}

/* Kernel: mem_cgroup_swap_full(), vm_swap_full(). */
bool memcg_swap_full(const struct machine *m, uint16_t memcg)
{
	if ((uint64_t)m->swap.nr_free * 2 < m->swap.nr_slots - 1)
		return true;
	for (uint16_t i = memcg; i != RS_MEMCG_NONE; i = m->memcg[i].parent)
		if (m->memcg[i].swap_max != RS_UNLIMITED &&
		    m->memcg[i].swap_usage * 2 >= m->memcg[i].swap_max)
			return true;
	return false;
}
