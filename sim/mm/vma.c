/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * vma.c - address spaces: VMAs by address, split and merged as mmap and munmap do, and where the
 * regions of the trace lie in them.
 */
#include "sim/mm/machine.h"

#include <string.h>

struct mm *mm_new(struct machine *m, uint16_t memcg)
{
	struct mm *mm = g_new0(struct mm, 1);

	if (!m->nr_mms)
		m->nr_mms = 1;
	if (m->nr_mms >= m->cap_mms) {
		uint32_t cap = MAX(64, m->cap_mms * 2);

		m->mm = g_renew(struct mm *, m->mm, cap);
		memset(m->mm + m->cap_mms, 0, (cap - m->cap_mms) * sizeof(*m->mm));
		m->cap_mms = cap;
	}
	mm->pub.id = m->nr_mms++;
	mm->pub.memcg = memcg;
	m->mm[mm->pub.id] = mm;
	m->memcg[memcg].nr_procs++;
	return mm;
}

void mm_free(struct machine *m, struct mm *mm)
{
	for (uint32_t i = 0; i < mm->pub.nr_vmas; i++) {
		vma_unlink_object(m, mm->pub.vmas[i]);
		g_free(mm->pub.vmas[i]);
	}
	for (uint32_t i = 0; i < mm->nr_regions; i++)
		region_clear(&mm->regions[i]);
	for (uint32_t i = 0; i < mm->nr_puds; i++)
		g_free(mm->puds[i]);
	m->memcg[mm->pub.memcg].nr_procs--;
	m->mm[mm->pub.id] = NULL;
	g_free(mm->pub.vmas);
	g_free(mm->regions);
	g_free(mm->puds);
	g_free(mm->pub.priv);
	g_free(mm);
}

uint32_t mm_vma_index(const struct mm *mm, uint64_t vpn)
{
	uint32_t lo = 0, hi = mm->pub.nr_vmas;

	while (lo < hi) {
		uint32_t mid = (lo + hi) / 2;

		if (mm->pub.vmas[mid]->end <= vpn)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

struct rs_vma *mm_find_vma(const struct mm *mm, uint64_t vpn)
{
	uint32_t i = mm_vma_index(mm, vpn);

	return i < mm->pub.nr_vmas && mm->pub.vmas[i]->start <= vpn ? mm->pub.vmas[i] : NULL;
}

static void insert_vma(struct mm *mm, uint32_t at, struct rs_vma *vma)
{
	if (mm->pub.nr_vmas == mm->cap_vmas) {
		mm->cap_vmas = MAX(8, mm->cap_vmas * 2);
		mm->pub.vmas = g_renew(struct rs_vma *, mm->pub.vmas, mm->cap_vmas);
	}
	memmove(mm->pub.vmas + at + 1, mm->pub.vmas + at,
		(mm->pub.nr_vmas - at) * sizeof(*mm->pub.vmas));
	mm->pub.vmas[at] = vma;
	mm->pub.nr_vmas++;
}

static void drop_vma(struct machine *m, struct mm *mm, uint32_t at)
{
	vma_unlink_object(m, mm->pub.vmas[at]);
	g_free(mm->pub.vmas[at]);
	mm->pub.nr_vmas--;
	memmove(mm->pub.vmas + at, mm->pub.vmas + at + 1,
		(mm->pub.nr_vmas - at) * sizeof(*mm->pub.vmas));
}

void vma_fill(struct rs_vma *vma, struct mm *mm, uint64_t start, const struct rs_map *map,
	      uint16_t handle)
{
	vma->start = start;
	vma->end = start + map->pages;
	vma->flags = map->prot;
	vma->mm = mm->pub.id;
	if (map->file == RS_MAP_FILE_NONE) {
		vma->flags |= VM_ANON;
		vma->pgoff = start;
	} else {
		vma->pgoff = map->pgoff;
		vma->object = map->file;
		vma->handle = handle;
		vma->has_object = true;
	}
}

/* An anonymous VMA takes the anon_vma of a neighbour it could merge with at its first fault. */
struct rs_vma *mm_map(struct machine *m, struct mm *mm, uint64_t start, const struct rs_map *map,
		      uint16_t handle)
{
	struct rs_vma *vma = g_new0(struct rs_vma, 1);

	vma_fill(vma, mm, start, map, handle);
	insert_vma(mm, mm_vma_index(mm, start), vma);
	vma_link_object(m, vma);
	mm->total_pages += map->pages;
	mm_merge(m, mm, start, start + map->pages);
	return mm_find_vma(mm, start);
}

struct rs_vma *mm_copy_vma(struct machine *m, struct mm *mm, const struct rs_vma *from)
{
	struct rs_vma *vma = g_memdup2(from, sizeof(*from));

	vma->mm = mm->pub.id;
	vma->vm_lock_readers = vma->vm_lock_seq = 0;
	insert_vma(mm, mm_vma_index(mm, vma->start), vma);
	vma_link_object(m, vma);
	mm->total_pages += vma->end - vma->start;
	return vma;
}

static void split_at(struct machine *m, struct mm *mm, uint64_t vpn)
{
	struct rs_vma *vma = mm_find_vma(mm, vpn), *upper;

	if (!vma || vma->start == vpn)
		return;
	upper = g_memdup2(vma, sizeof(*vma));
	upper->pgoff += vpn - vma->start;
	upper->start = vpn;
	vma->end = vpn;
	insert_vma(mm, mm_vma_index(mm, vpn), upper);
	vma_link_object(m, upper);
}

void mm_split(struct machine *m, struct mm *mm, uint64_t start, uint64_t end)
{
	split_at(m, mm, start);
	split_at(m, mm, end);
}

/* Kernel: mm/mmap.c can_vma_merge_after(), is_mergeable_anon_vma(). */
bool vma_can_merge(const struct rs_vma *a, const struct rs_vma *b)
{
	if (a->end != b->start || a->flags != b->flags || a->policy != b->policy ||
	    a->policy_nodes != b->policy_nodes || a->pgoff + (a->end - a->start) != b->pgoff)
		return false;
	if (a->cow_anon_vma != b->cow_anon_vma && a->cow_anon_vma && b->cow_anon_vma)
		return false;
	if (a->has_object && b->has_object)
		return a->object == b->object && a->handle == b->handle;
	return a->flags & VM_ANON;
}

/* a swallows b: pages of b keep their family. */
static void adopt_family(struct machine *m, struct rs_vma *a, const struct rs_vma *b)
{
	if (!a->has_object && b->has_object) {
		a->has_object = true;
		a->object = b->object;
		vma_set_add(vma_object_set(m, a), a);
	}
	if (!a->cow_anon_vma && b->cow_anon_vma) {
		a->cow_anon_vma = b->cow_anon_vma;
		vma_set_add(&m->anon_vma[a->cow_anon_vma].vmas, a);
	}
}

void mm_merge(struct machine *m, struct mm *mm, uint64_t start, uint64_t end)
{
	uint32_t i = start ? mm_vma_index(mm, start - 1) : 0;

	while (i + 1 < mm->pub.nr_vmas && mm->pub.vmas[i]->start <= end) {
		struct rs_vma *a = mm->pub.vmas[i], *b = mm->pub.vmas[i + 1];

		if (!vma_can_merge(a, b)) {
			i++;
			continue;
		}
		adopt_family(m, a, b);
		a->end = b->end;
		drop_vma(m, mm, i + 1);
	}
}

void mm_remove_vmas(struct machine *m, struct mm *mm, uint64_t start, uint64_t end)
{
	uint32_t i;

	mm_split(m, mm, start, end);
	i = mm_vma_index(mm, start);
	while (i < mm->pub.nr_vmas && mm->pub.vmas[i]->start < end) {
		mm->total_pages -= mm->pub.vmas[i]->end - mm->pub.vmas[i]->start;
		drop_vma(m, mm, i);
	}
}

struct region *mm_region(struct mm *mm, uint32_t id)
{
	if (id >= mm->nr_regions) {
		uint32_t n = MAX(id + 1, mm->nr_regions * 2);

		mm->regions = g_renew(struct region, mm->regions, n);
		memset(mm->regions + mm->nr_regions, 0,
		       (n - mm->nr_regions) * sizeof(*mm->regions));
		mm->nr_regions = n;
	}
	return &mm->regions[id];
}

void region_set(struct region *r, uint64_t start, uint64_t pages)
{
	g_free(r->table); /* of a mapping that went away piece by piece */
	*r = (struct region){ .mapped = true, .start = start, .pages = pages };
	r->nr_tables = ((start + pages - 1) >> 9) - (start >> 9) + 1;
	r->table = g_new0(uint32_t, r->nr_tables);
}

void region_clear(struct region *r)
{
	g_free(r->table);
	*r = (struct region){ 0 };
}
