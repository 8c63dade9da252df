/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * vmcheck.c - the invariants of the whole machine. Slow on purpose: for debug builds and tests.
 */
#include "sim/mm/machine.h"

#include <string.h>

struct check {
	struct machine *m;
	GString *why;
	uint32_t *mapped;  /* by pfn: PTEs found */
	uint32_t *swapped; /* by slot: swap PTEs found */
	uint64_t *charged; /* by group: pages of folios */
};

static bool fail(struct check *c, const char *fmt, ...) G_GNUC_PRINTF(2, 3);
static bool fail(struct check *c, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	g_string_append_vprintf(c->why, fmt, ap);
	va_end(ap);
	return false;
}

/* Every frame is free (in a block of its zone's lists) or part of a folio; the sums agree. */
static bool check_zone(struct check *c, const struct node *n, unsigned z)
{
	const struct zone *zone = &n->zone[z];
	uint64_t free = 0;
	pfn_t p = zone->first;

	while (p < zone->end) {
		const struct folio *f = &c->m->folios[p];

		if (f->flags & PG_tail)
			return fail(c, "frame %u is a tail without a head", p);
		if (f->nid != n->nid || f->zone != z)
			return fail(c, "frame %u thinks it is on node %u zone %u", p, f->nid,
				    f->zone);
		if (f->flags & PG_free)
			free += 1u << f->order;
		p += 1u << f->order;
	}
	if (free != zone->free)
		return fail(c, "node %u zone %u: %" PRIu64 " frames free, counted %" PRIu64, n->nid,
			    z, free, zone->free);
	return true;
}

static bool check_word(struct check *c, struct mm *mm, uint64_t vpn, uint32_t word)
{
	const struct rs_vma *vma = mm_find_vma(mm, vpn);
	pfn_t pfn;

	if (!vma)
		return fail(c, "mm %u maps page %#" PRIx64 " outside of its VMAs", mm->pub.id, vpn);
	if (pte_is_swap(word)) {
		if (pte_slot(word) >= c->m->swap.nr_slots)
			return fail(c, "swap PTE with slot %u", pte_slot(word));
		c->swapped[pte_slot(word)]++;
		return true;
	}
	if (!(word & RS_PTE_PRESENT))
		return fail(c, "PTE %#x of page %#" PRIx64, word, vpn);
	pfn = rs_pte_pfn(word);
	if (!pfn)
		return true;
	if (pfn >= c->m->nr_frames || (c->m->folios[pfn].flags & PG_free))
		return fail(c, "page %#" PRIx64 " of mm %u maps free frame %u", vpn, mm->pub.id,
			    pfn);
	if (c->m->folios[pfn].flags & PG_tail)
		pfn = c->m->folios[pfn].object;
	c->mapped[pfn]++;
	return true;
}

static bool check_table(struct check *c, struct mm *mm, uint32_t table)
{
	const uint32_t *pte = table_ptes(c->m, table);
	uint32_t used = 0;

	if (c->m->table[table].mm != mm->pub.id)
		return fail(c, "page table %u belongs to mm %u and %u", table,
			    c->m->table[table].mm, mm->pub.id);
	for (uint32_t i = 0; i < RS_PTRS_PER_TABLE; i++) {
		if (!pte[i])
			continue;
		used++;
		if (!check_word(c, mm, c->m->table[table].vpn + i, pte[i]))
			return false;
	}
	if (used != c->m->table[table].nr_used)
		return fail(c, "page table %u: %u words used, counted %u", table, used,
			    c->m->table[table].nr_used);
	return true;
}

static bool check_mm(struct check *c, struct mm *mm)
{
	for (uint32_t i = 1; i < mm->pub.nr_vmas; i++)
		if (mm->pub.vmas[i - 1]->end > mm->pub.vmas[i]->start)
			return fail(c, "VMAs %u and %u of mm %u overlap", i - 1, i, mm->pub.id);
	for (uint32_t i = 0; i < mm->nr_puds; i++)
		for (uint32_t k = 0; k < RS_PTRS_PER_TABLE; k++)
			if (mm->puds[i]->table[k] && !check_table(c, mm, mm->puds[i]->table[k]))
				return false;
	return true;
}

static bool check_folio(struct check *c, pfn_t pfn)
{
	const struct folio *f = &c->m->folios[pfn];

	if (f->mapcount != c->mapped[pfn])
		return fail(c, "folio %u: %u mappings, counted %u", pfn, c->mapped[pfn],
			    f->mapcount);
	if (!!(f->flags & PG_lru) + !!(f->flags & PG_isolated) + !!(f->flags & PG_in_batch) > 1)
		return fail(c, "folio %u is on a list and isolated or in a batch: flags %#x", pfn,
			    f->flags);
	if ((f->flags & PG_swapcache) && c->m->swap.slot[folio_slot(c->m, pfn)].cached != pfn)
		return fail(c, "folio %u is not in the swap cache where it thinks", pfn);
	/* A truncated page stays on its list while somebody holds it. */
	if (!(f->flags & PG_anon) && (f->flags & PG_lru) && !f->refs &&
	    file_page(&c->m->file[f->object], f->index) != pfn)
		return fail(c, "folio %u is not in the page cache where it thinks", pfn);
	if ((f->flags & PG_dirty) && (f->flags & PG_free))
		return fail(c, "folio %u is free and dirty", pfn);
	c->charged[f->memcg] += folio_nr_pages(f);
	return true;
}

static bool check_folios(struct check *c)
{
	for (uint32_t n = 0; n < c->m->nr_nodes; n++) {
		for (unsigned z = 0; z < RS_NR_ZONES; z++) {
			const struct zone *zone = &c->m->node[n].zone[z];

			for (pfn_t p = zone->first; p < zone->end; p += 1u << c->m->folios[p].order)
				if (!(c->m->folios[p].flags & PG_free) && !check_folio(c, p))
					return false;
		}
	}
	return true;
}

static bool check_swap(struct check *c)
{
	struct swap_area *s = &c->m->swap;

	for (uint32_t i = 1; i < s->nr_slots; i++) {
		if (s->slot[i].count != c->swapped[i])
			return fail(c, "slot %u: %u PTEs, counted %u", i, c->swapped[i],
				    s->slot[i].count);
		if (s->slot[i].cached && !(c->m->folios[s->slot[i].cached].flags & PG_swapcache))
			return fail(c, "slot %u caches folio %u that does not know", i,
				    s->slot[i].cached);
		if (!s->slot[i].used && i % s->cluster_size == 0 &&
		    s->cluster_free[i / s->cluster_size] == s->cluster_size)
			i += s->cluster_size - 1;
	}
	return true;
}

/* A group has charged its folios, those of its descendants and what waits in stocks. */
static bool check_memcgs(struct check *c)
{
	for (uint32_t i = c->m->nr_memcgs; i-- > 1;) {
		uint16_t parent = c->m->memcg[i].parent;

		if (c->m->memcg[i].usage < c->charged[i])
			return fail(c, "group %s: %" PRIu64 " pages in folios, charged %" PRIu64,
				    c->m->memcg[i].path, c->charged[i], c->m->memcg[i].usage);
		c->charged[parent] += c->charged[i];
	}
	return true;
}

static bool check_sizes(struct check *c)
{
	for (uint32_t i = 0; i < c->m->nr_memcgs * c->m->nr_nodes; i++)
		for (unsigned z = 0; z < RS_NR_ZONES; z++)
			for (unsigned l = 0; l < NR_LISTS_LRU; l++)
				if (c->m->lruvec[i]->size[z][l] < 0)
					return fail(c, "lruvec %u list %u has size %" PRId64, i, l,
						    c->m->lruvec[i]->size[z][l]);
	return true;
}

bool machine_check(struct machine *m, GString *why)
{
	struct check c = { m, why, g_new0(uint32_t, m->nr_frames),
			   g_new0(uint32_t, m->swap.nr_slots), g_new0(uint64_t, m->nr_memcgs) };
	bool ok = true;

	for (uint32_t n = 0; ok && n < m->nr_nodes; n++)
		for (unsigned z = 0; ok && z < RS_NR_ZONES; z++)
			ok = check_zone(&c, &m->node[n], z);
	for (uint32_t i = 1; ok && i < m->nr_mms; i++)
		ok = !m->mm[i] || check_mm(&c, m->mm[i]);
	ok = ok && check_folios(&c) && check_swap(&c) && check_memcgs(&c) && check_sizes(&c);
	g_free(c.mapped);
	g_free(c.swapped);
	g_free(c.charged);
	return ok;
}
