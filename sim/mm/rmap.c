/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rmap.c - from a folio to the VMAs that may map it.
 *
 * Differs: one anon_vma a family of forked VMAs instead of the kernel's chains; a walk visits the
 * VMAs whose range holds the page either way.
 */
#include "sim/mm/machine.h"

#include <string.h>

uint32_t anon_vma_new(struct machine *m)
{
	uint32_t id = m->free_anon_vma;

	if (id) {
		m->free_anon_vma = m->anon_vma[id].next_free;
	} else {
		if (!m->nr_anon_vmas)
			m->nr_anon_vmas = 1;
		if (m->nr_anon_vmas >= m->cap_anon_vmas) {
			uint32_t cap = MAX(64, m->cap_anon_vmas * 2);

			m->anon_vma = g_renew(struct anon_vma, m->anon_vma, cap);
			memset(m->anon_vma + m->cap_anon_vmas, 0,
			       (cap - m->cap_anon_vmas) * sizeof(*m->anon_vma));
			m->cap_anon_vmas = cap;
		}
		id = m->nr_anon_vmas++;
	}
	m->anon_vma[id].used = true;
	m->anon_vma[id].vmas.nr = 0;
	return id;
}

void vma_set_add(struct vma_set *set, struct rs_vma *vma)
{
	if (set->nr == set->cap) {
		set->cap = MAX(4, set->cap * 2);
		set->vma = g_renew(struct rs_vma *, set->vma, set->cap);
	}
	set->vma[set->nr++] = vma;
}

void vma_set_del(struct vma_set *set, struct rs_vma *vma)
{
	for (uint32_t i = set->nr; i-- > 0;) {
		if (set->vma[i] != vma)
			continue;
		set->nr--;
		memmove(set->vma + i, set->vma + i + 1, (set->nr - i) * sizeof(*set->vma));
		return;
	}
	g_assert_not_reached();
}

struct vma_set *vma_object_set(struct machine *m, const struct rs_vma *vma)
{
	if (!vma->has_object)
		return NULL;
	return vma->flags & VM_ANON ? &m->anon_vma[vma->object].vmas : &m->file[vma->object].vmas;
}

struct vma_set *folio_vma_set(struct machine *m, const struct folio *f)
{
	return f->flags & PG_anon ? &m->anon_vma[f->object].vmas : &m->file[f->object].vmas;
}

void vma_link_object(struct machine *m, struct rs_vma *vma)
{
	struct vma_set *set = vma_object_set(m, vma);

	if (set)
		vma_set_add(set, vma);
	if (vma->cow_anon_vma)
		vma_set_add(&m->anon_vma[vma->cow_anon_vma].vmas, vma);
}

static void leave_family(struct machine *m, uint32_t family, struct rs_vma *vma)
{
	struct anon_vma *a = &m->anon_vma[family];

	vma_set_del(&a->vmas, vma);
	if (a->vmas.nr)
		return;
	a->used = false;
	a->next_free = m->free_anon_vma;
	m->free_anon_vma = family;
}

/* Folios of a family whose last VMA goes are unmapped before, so its number can be used again. */
void vma_unlink_object(struct machine *m, struct rs_vma *vma)
{
	if (vma->cow_anon_vma)
		leave_family(m, vma->cow_anon_vma, vma);
	if (!vma->has_object)
		return;
	if (vma->flags & VM_ANON)
		leave_family(m, vma->object, vma);
	else
		vma_set_del(&m->file[vma->object].vmas, vma);
}
