/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pgtable.c - the lower levels of the page tables: PTE words and PMD bytes in flat arrays, page
 * tables numbered densely and recycled; an address space finds them by 1 GiB pages of numbers.
 */
#include "sim/mm/machine.h"

#include <string.h>

/* Position of the PUD page with that index, or where it would be inserted. */
static uint32_t pud_position(struct mm *mm, uint64_t index, bool *ret_found)
{
	uint32_t lo = 0, hi = mm->nr_puds;

	if (mm->last_pud < hi && mm->puds[mm->last_pud]->index == index) {
		*ret_found = true;
		return mm->last_pud;
	}
	while (lo < hi) {
		uint32_t mid = (lo + hi) / 2;

		if (mm->puds[mid]->index < index)
			lo = mid + 1;
		else
			hi = mid;
	}
	*ret_found = lo < mm->nr_puds && mm->puds[lo]->index == index;
	if (*ret_found)
		mm->last_pud = lo;
	return lo;
}

uint32_t mm_table(struct machine *m, struct mm *mm, uint64_t vpn)
{
	bool found;
	uint32_t i = pud_position(mm, vpn >> 18, &found);

	return found ? mm->puds[i]->table[vpn >> 9 & 511] : 0;
}

static uint32_t take_table(struct machine *m)
{
	uint32_t t = m->free_table;

	if (t) {
		m->free_table = m->table[t].next_free;
		return t;
	}
	g_assert(m->nr_tables < m->max_tables);
	return m->nr_tables++;
}

uint32_t mm_table_alloc(struct machine *m, struct mm *mm, uint64_t vpn)
{
	bool found;
	uint32_t i = pud_position(mm, vpn >> 18, &found), *t;

	if (!found) {
		mm->puds = g_renew(struct pud_page *, mm->puds, mm->nr_puds + 1);
		memmove(mm->puds + i + 1, mm->puds + i, (mm->nr_puds - i) * sizeof(*mm->puds));
		mm->puds[i] = g_new0(struct pud_page, 1);
		mm->puds[i]->index = vpn >> 18;
		mm->nr_puds++;
		mm->last_pud = i;
	}
	t = &mm->puds[i]->table[vpn >> 9 & 511];
	if (!*t) {
		*t = take_table(m);
		m->table[*t] = (struct pte_table){ .mm = mm->pub.id, .vpn = vpn & ~(uint64_t)511 };
		m->pmd[*t] = 0;
		mm->puds[i]->nr_tables++;
	}
	return *t;
}

static void free_table(struct machine *m, struct pud_page *pud, uint32_t *t)
{
	g_assert(m->table[*t].nr_used == 0);
	m->table[*t] = (struct pte_table){ .next_free = m->free_table };
	m->free_table = *t;
	m->pmd[*t] = 0;
	*t = 0;
	pud->nr_tables--;
}

/* Regions remember table numbers: forget one that goes. */
static void forget_table(struct mm *mm, uint64_t vpn)
{
	for (uint32_t i = 0; i < mm->nr_regions; i++) {
		struct region *r = &mm->regions[i];
		uint64_t first = r->start >> 9, t = vpn >> 9;

		if (r->table && t >= first && t - first < r->nr_tables)
			r->table[t - first] = 0;
	}
}

/*
 * Free the tables of [start, end) that map nothing else. Kernel: free_pgtables().
 */
void mm_free_tables(struct machine *m, struct mm *mm, uint64_t start, uint64_t end)
{
	uint64_t vpn = start & ~(uint64_t)511;

	while (vpn < end) {
		bool found;
		uint32_t i = pud_position(mm, vpn >> 18, &found), *t;

		if (!found) {
			if (i == mm->nr_puds)
				break;
			vpn = MAX(vpn, mm->puds[i]->index << 18);
			continue;
		}
		t = &mm->puds[i]->table[vpn >> 9 & 511];
		if (*t) {
			uint32_t v = mm_vma_index(mm, vpn);

			if (v == mm->pub.nr_vmas || mm->pub.vmas[v]->start >= vpn + 512) {
				forget_table(mm, vpn);
				free_table(m, mm->puds[i], t);
			}
		}
		vpn += 512;
	}
}

void pte_set(struct machine *m, uint32_t table, uint32_t *pte, uint32_t value)
{
	if (!*pte && value)
		m->table[table].nr_used++;
	else if (*pte && !value)
		m->table[table].nr_used--;
	*pte = value;
}
