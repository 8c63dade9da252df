/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * node.c - nodes, zones, their free frames (a buddy allocator) and watermarks.
 *
 * Frames that the kernel itself uses are not modelled one by one: a zone has as many frames as it
 * has free pages at the start, and watermarks follow from its managed pages.
 */
#include "sim/mm/machine.h"

#include <string.h>

#define DMA_PAGES 4096u	       /* the first 16 MiB */
#define DMA32_PAGES (1u << 20) /* up to 4 GiB */
static const uint64_t lowmem_ratio[RS_NR_ZONES] = { 256, 256, 32 };

/* Managed pages of a node's zone. Node 0 has DMA and DMA32; others only Normal. */
static uint64_t zone_managed_pages(const struct rs_config *cfg, uint32_t nid, unsigned z)
{
	const struct node_config *n = &cfg->node[nid];
	uint64_t pages = n->managed >= 0 ? (uint64_t)n->managed : n->memory >> RS_PAGE_SHIFT;
	uint64_t low = nid ? 0 : MIN(pages, DMA_PAGES),
		 mid = nid ? 0 : MIN(pages - low, DMA32_PAGES - DMA_PAGES);

	if (n->zone[z].managed >= 0)
		return n->zone[z].managed;
	/* When zones are given one by one, those not named do not exist. */
	for (unsigned i = 0; i < RS_NR_ZONES; i++)
		if (n->zone[i].managed >= 0)
			return 0;
	return z == RS_ZONE_DMA ? low : z == RS_ZONE_DMA32 ? mid : pages - low - mid;
}

/* Frames that can be allocated in it: what is free at the start. */
static uint64_t zone_frames(const struct rs_config *cfg, uint32_t nid, unsigned z)
{
	const struct node_config *n = &cfg->node[nid];
	uint64_t managed = zone_managed_pages(cfg, nid, z), total = 0;

	if (n->zone[z].free >= 0)
		return n->zone[z].free;
	if (n->free < 0)
		return managed;
	for (unsigned i = 0; i < RS_NR_ZONES; i++)
		total += zone_managed_pages(cfg, nid, i);
	/* The kernel's own pages come out of the highest zone first. */
	uint64_t used = total > (uint64_t)n->free ? total - n->free : 0;
	for (unsigned i = RS_NR_ZONES; i-- > z;) {
		uint64_t take = MIN(used, zone_managed_pages(cfg, nid, i));

		if (i == z)
			return managed - take;
		used -= take;
	}
	return managed;
}

uint64_t machine_total_frames(const struct rs_config *cfg)
{
	uint64_t total = 0;

	for (uint32_t nid = 0; nid < cfg->nr_nodes; nid++)
		for (unsigned z = 0; z < RS_NR_ZONES; z++)
			total += zone_frames(cfg, nid, z);
	return total;
}

static uint64_t isqrt(uint64_t n)
{
	uint64_t r = 0, bit = 1ull << 62;

	while (bit > n)
		bit >>= 2;
	for (; bit; bit >>= 2) {
		if (n >= r + bit) {
			n -= r + bit;
			r = (r >> 1) + bit;
		} else {
			r >>= 1;
		}
	}
	return r;
}

/* Kernel: mm/page_alloc.c calculate_min_free_kbytes(), __setup_per_zone_wmarks(). */
static void init_watermarks(struct machine *m)
{
	uint64_t lowmem = 0, min_kb, min_pages;

	for (uint32_t nid = 0; nid < m->nr_nodes; nid++)
		for (unsigned z = 0; z < RS_NR_ZONES; z++)
			lowmem += m->node[nid].zone[z].managed;
	min_kb = m->cfg->min_free_kbytes >= 0 ? (uint64_t)m->cfg->min_free_kbytes
					      : CLAMP(isqrt(lowmem * 4 * 16), 128, 262144);
	min_pages = min_kb / 4;
	for (uint32_t nid = 0; nid < m->nr_nodes; nid++) {
		for (unsigned z = 0; z < RS_NR_ZONES; z++) {
			struct zone *zone = &m->node[nid].zone[z];
			const struct zone_config *zc = &m->cfg->node[nid].zone[z];
			uint64_t min = lowmem ? min_pages * zone->managed / lowmem : 0;
			uint64_t gap = MAX(min / 4,
					   zone->managed * m->cfg->watermark_scale_factor / 10000);

			zone->wmark[RS_WMARK_MIN] = zc->min >= 0 ? (uint64_t)zc->min : min;
			min = zone->wmark[RS_WMARK_MIN];
			zone->wmark[RS_WMARK_LOW] = zc->low >= 0 ? (uint64_t)zc->low : min + gap;
			zone->wmark[RS_WMARK_HIGH] = zc->high >= 0
							     ? (uint64_t)zc->high
							     : zone->wmark[RS_WMARK_LOW] + gap;
			zone->wmark[RS_WMARK_PROMO] = zone->wmark[RS_WMARK_HIGH] + gap;
		}
	}
}

/* Kernel: setup_per_zone_lowmem_reserve(). */
static void init_lowmem_reserve(struct node *n)
{
	for (unsigned i = 0; i < RS_NR_ZONES; i++) {
		uint64_t above = 0;

		for (unsigned j = i + 1; j < RS_NR_ZONES; j++) {
			above += n->zone[j].managed;
			n->zone[i].lowmem_reserve[j] = above / lowmem_ratio[i];
		}
	}
}

static void init_fallback(struct machine *m, struct node *n)
{
	for (uint32_t d = 0; d < m->nr_nodes; d++) {
		int64_t set = m->cfg->node[n->nid].distance[d];

		n->distance[d] = set > 0 ? set : d == n->nid ? 10 : 20;
	}
	/* Nearest first; equal distances by number, starting behind this node. */
	for (uint32_t k = 0; k < m->nr_nodes; k++) {
		int best = -1;

		for (uint32_t i = 0; i < m->nr_nodes; i++) {
			uint32_t c = (n->nid + i) % m->nr_nodes;
			bool taken = memchr(n->fallback, c, n->nr_fallback) != NULL;

			if (!taken && (best < 0 || n->distance[c] < n->distance[best]))
				best = c;
		}
		n->fallback[n->nr_fallback++] = best;
	}
}

void nodes_init(struct machine *m)
{
	pfn_t pfn = 1;

	for (uint32_t nid = 0; nid < m->nr_nodes; nid++) {
		struct node *n = &m->node[nid];

		n->nid = nid;
		init_fallback(m, n);
		for (unsigned z = 0; z < RS_NR_ZONES; z++) {
			struct zone *zone = &n->zone[z];
			uint64_t frames = zone_frames(m->cfg, nid, z);

			zone->managed = zone_managed_pages(m->cfg, nid, z);
			zone->first = pfn;
			zone->end = pfn + frames;
			pfn = zone->end;
			zone->free_list[0] = machine_new_heads(m, MAX_ORDER + 1);
			for (unsigned o = 1; o <= MAX_ORDER; o++)
				zone->free_list[o] = zone->free_list[0] + o;
			for (pfn_t p = zone->first; p < zone->end;) {
				unsigned o = MAX_ORDER;

				while (o && ((p & ((1u << o) - 1)) || p + (1u << o) > zone->end))
					o--;
				m->folios[p].nid = nid;
				m->folios[p].zone = z;
				zone_free(m, p, o);
				p += 1u << o;
			}
		}
		n->end = pfn;
		init_lowmem_reserve(n);
	}
	init_watermarks(m);
}

/* A free block: its head has PG_free and the order; the other frames have no flag. */
void zone_free(struct machine *m, pfn_t pfn, unsigned order)
{
	struct zone *zone = folio_zone(m, pfn);
	uint8_t nid = m->folios[pfn].nid, z = m->folios[pfn].zone;

	zone->free += 1u << order;
	for (unsigned i = 1; (m->folios[pfn].flags & PG_head) && i < 1u << order; i++)
		m->folios[pfn + i].flags = 0;
	m->folios[pfn].flags = 0; /* a lower buddy may become the head */
	while (order < MAX_ORDER) {
		pfn_t buddy = pfn ^ (1u << order);
		struct folio *b = &m->folios[buddy];

		if (buddy < zone->first || buddy + (1u << order) > zone->end ||
		    !(b->flags & PG_free) || b->order != order)
			break;
		rs_list_del(m->folios, buddy);
		b->flags = 0;
		pfn = MIN(pfn, buddy);
		order++;
	}
	m->folios[pfn] = (struct folio){ .flags = PG_free, .nid = nid, .zone = z, .order = order };
	rs_list_add(m->folios, zone->free_list[order], pfn);
}

pfn_t zone_alloc(struct machine *m, uint8_t nid, enum rs_zone z, unsigned order)
{
	struct zone *zone = &m->node[nid].zone[z];
	unsigned o = order;
	pfn_t pfn;

	while (o <= MAX_ORDER && rs_list_empty(m->folios, zone->free_list[o]))
		o++;
	if (o > MAX_ORDER)
		return RS_PFN_NONE;
	pfn = m->folios[zone->free_list[o]].next;
	rs_list_del(m->folios, pfn);
	while (o > order) {
		pfn_t upper;

		o--;
		upper = pfn + (1u << o);
		m->folios[upper] =
			(struct folio){ .flags = PG_free, .nid = nid, .zone = z, .order = o };
		rs_list_add(m->folios, zone->free_list[o], upper);
	}
	zone->free -= 1u << order;
	for (unsigned i = 1; i < 1u << order; i++)
		m->folios[pfn + i] =
			(struct folio){ .nid = nid, .zone = z, .flags = PG_tail, .object = pfn };
	m->folios[pfn] = (struct folio){
		.nid = nid, .zone = z, .order = order, .flags = order ? PG_head : 0
	};
	return pfn;
}

/* Kernel: mm/page_alloc.c __zone_watermark_ok(). Differs: no highatomic or CMA reserve. */
bool zone_watermark_ok(const struct machine *m, uint8_t nid, enum rs_zone z, unsigned order,
		       uint64_t mark, enum rs_zone highest)
{
	const struct zone *zone = &m->node[nid].zone[z];
	uint64_t need = mark + zone->lowmem_reserve[highest] + (1u << order) - 1;

	if (zone->free <= need)
		return false;
	if (!order)
		return true;
	for (unsigned o = order; o <= MAX_ORDER; o++)
		if (!rs_list_empty(m->folios, zone->free_list[o]))
			return true;
	return false;
}

/* Kernel: mm/vmscan.c zone_reclaimable_pages(). */
uint64_t zone_reclaimable(const struct machine *m, const struct zone *zone)
{
	int64_t n = zone->nr_lru[RS_INACTIVE_FILE] + zone->nr_lru[RS_ACTIVE_FILE];

	if (m->swap.nr_free)
		n += zone->nr_lru[RS_INACTIVE_ANON] + zone->nr_lru[RS_ACTIVE_ANON];
	return MAX(n, 0);
}
