/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lruvec.c - sizes and event counts of (group, node), kept for the group and its ancestors.
 */
#include "sim/mm/machine.h"

enum { V = 1, M = 2, VM = V | M };

static const struct {
	const char *name;
	uint8_t where;
} events[RS_NR_EVENTS] = {
#define RS_EVENT(id, name, where, doc) [RS_##id] = { name, where },
#include <reclaimsim/vmstat.def>
#undef RS_EVENT
};

bool event_is_vmstat(enum rs_event e)
{
	return events[e].where & V;
}

/* memory.stat has no swap traffic before 6.14. */
bool event_is_memcg(const struct machine *m, enum rs_event e)
{
	if ((e == RS_PSWPIN || e == RS_PSWPOUT) && m->kernel < RS_KERNEL_6_14)
		return false;
	return events[e].where & M;
}

const char *event_name(enum rs_event e)
{
	return events[e].name;
}

static struct lruvec *parent_lruvec(const struct machine *m, const struct lruvec *l)
{
	uint16_t parent = m->memcg[l->pub.memcg].parent;

	return parent == RS_MEMCG_NONE ? NULL : lruvec_of(m, parent, l->pub.nid);
}

/* Kernel: mm_inline.h update_lru_size(). */
void lruvec_size_add(struct machine *m, struct lruvec *l, unsigned lru, unsigned zone, int64_t nr)
{
	l->size[zone][lru] += nr;
	m->node[l->pub.nid].zone[zone].nr_lru[lru] += nr;
	for (struct lruvec *p = l; p; p = parent_lruvec(m, p))
		p->lru[lru] += nr;
	memcg_stat_updated(m, nr < 0 ? -nr : nr);
}

void lruvec_count(struct machine *m, struct lruvec *l, enum rs_event event, uint64_t nr)
{
	if (event_is_vmstat(event))
		m->vmstat[event] += nr;
	for (struct lruvec *p = l; p; p = parent_lruvec(m, p)) {
		p->event[event] += nr;
		m->memcg[p->pub.memcg].event[event] += nr;
	}
	if (event_is_memcg(m, event))
		memcg_stat_updated(m, nr);
}
