/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ref_workingset.c - shadow entries, the nonresident age and the memcg statistics.
 *
 * Statistics live twice: as they are, and as last flushed. Every change is also counted in units
 * of pages, because 6.1 flushes when two times 64 units have gathered.
 */
#include "ref.h"

/* Kernel: mm/memcontrol.c memcg_rstat_updated(); one CPU. */
void ref_stat(struct ref_machine *m, int item, int64_t delta)
{
	if (item < NR_STAT)
		m->stat[item] += delta;
	m->stat_updates += delta < 0 ? -delta : delta;
	if (m->opt.v612) {
		if (m->stat_updates < 64)
			return;
		if (m->flush_threshold <= 64)
			m->flush_threshold += m->stat_updates;
	} else {
		if (m->stat_updates <= 64)
			return;
		if (m->flush_threshold <= 1)
			m->flush_threshold += m->stat_updates / 64;
	}
	m->stat_updates = 0;
}

void ref_stat_flush(struct ref_machine *m)
{
	for (int i = 0; i < NR_STAT; i++)
		m->flushed[i] = m->stat[i];
	m->flush_threshold = 0;
}

/* Kernel: mem_cgroup_flush_stats(): only when enough has changed. */
void ref_stat_flush_pending(struct ref_machine *m)
{
	if (m->flush_threshold > (m->opt.v612 ? 64 : 1))
		ref_stat_flush(m);
}

/* Kernel: mm/workingset.c workingset_eviction(). */
struct ref_shadow ref_eviction(struct ref_machine *m, const struct ref_folio *folio)
{
	return (struct ref_shadow){ .valid = true,
				    .workingset = folio->workingset,
				    .eviction = m->age++ };
}

/* Kernel: mm/swap.c lru_note_cost(). */
void ref_note_cost(struct ref_machine *m, bool file, uint64_t nr_io, uint64_t nr_rotated)
{
	int64_t lrusize = 0;

	m->cost[file] += m->opt.v612 ? nr_io * 32 + nr_rotated : nr_io;
	for (int lru = 0; lru < NR_LRU; lru++)
		lrusize += m->flushed[lru];
	if (m->cost[0] + m->cost[1] > (uint64_t)lrusize / 4) {
		m->cost[0] /= 2;
		m->cost[1] /= 2;
	}
}

/* Kernel: mm/workingset.c workingset_refault(). */
void ref_refault(struct ref_machine *m, struct ref_folio *folio, struct ref_shadow *shadow)
{
	const bool file = !folio->anon;
	int64_t size = m->flushed[ACTIVE_FILE];

	m->ev[REFAULT_ANON + file]++;
	ref_stat(m, STAT_OTHER, 1);
	if (m->opt.fifo)
		return;
	if (!file)
		size += m->flushed[INACTIVE_FILE];
	if (ref_swap_left(m)) {
		size += m->flushed[ACTIVE_ANON];
		if (file)
			size += m->flushed[INACTIVE_ANON];
	}
	if (m->age - shadow->eviction > (uint64_t)size)
		return;
	folio->active = true;
	m->age++;
	m->ev[ACTIVATE_ANON + file]++;
	ref_stat(m, STAT_ACTIVATE_ANON + file, 1);
	if (shadow->workingset) {
		folio->workingset = true;
		ref_note_cost(m, file, 1, 0);
		m->ev[RESTORE_ANON + file]++;
		ref_stat(m, STAT_OTHER, 1);
	}
}
