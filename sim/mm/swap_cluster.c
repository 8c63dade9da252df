/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * swap_cluster.c - where the next swap slot is, from 7.2 on: clusters on lists by how full they
 * are. A CPU goes forward through its cluster; at its end it takes the first cluster with slots
 * given back since it was last used, only then a free one, and at last one with holes in it.
 * Kernel: mm/swapfile.c alloc_swap_scan_cluster(), cluster_alloc_swap_entry().
 * Differs: one CPU's place for all; slots of idle swap cache are not reclaimed when swap is full.
 */
#include "sim/mm/machine.h"

/* Lists are rings of cluster numbers; their heads come behind the clusters. */
static uint32_t head_of(const struct swap_area *s, enum swap_cluster_list list)
{
	return s->nr_clusters + list;
}

static void unlink_cluster(struct swap_area *s, uint32_t c)
{
	struct swap_cluster *l = s->cluster_link;

	if (l[c].list != SWAP_CLUSTER_OFF_LIST) {
		l[l[c].prev].next = l[c].next;
		l[l[c].next].prev = l[c].prev;
	}
	l[c].list = SWAP_CLUSTER_OFF_LIST;
}

/* To the tail. Kernel: move_cluster(). */
static void move_cluster(struct swap_area *s, uint32_t c, enum swap_cluster_list list)
{
	struct swap_cluster *l = s->cluster_link;
	uint32_t head = head_of(s, list);

	unlink_cluster(s, c);
	l[c] = (struct swap_cluster){ .prev = l[head].prev, .next = head, .list = list };
	l[l[head].prev].next = c;
	l[head].prev = c;
}

/* Off the head of a list; SWAP_NO_CLUSTER if it is empty. Kernel: isolate_lock_cluster(). */
static uint32_t isolate_cluster(struct swap_area *s, enum swap_cluster_list list)
{
	uint32_t head = head_of(s, list), c = s->cluster_link[head].next;

	if (c == head)
		return SWAP_NO_CLUSTER;
	unlink_cluster(s, c);
	return c;
}

/*
 * Clusters in the order of their slots, those used before last. One that has unusable slots, as the
 * first has its header and the last what lies beyond the end, counts as partly used.
 * Kernel: setup_swap_clusters_info().
 */
void swap_clusters_init(struct swap_area *s, uint32_t nr_used)
{
	s->cluster_link = g_new0(struct swap_cluster, s->nr_clusters + SWAP_CLUSTER_LISTS);
	for (unsigned list = 0; list < SWAP_CLUSTER_LISTS; list++) {
		uint32_t head = head_of(s, list);

		s->cluster_link[head].prev = s->cluster_link[head].next = head;
	}
	for (uint32_t i = 0; i < s->nr_clusters; i++) {
		uint32_t c = (i + 1 + nr_used) % s->nr_clusters;

		s->cluster_link[c].list = SWAP_CLUSTER_OFF_LIST;
		move_cluster(s, c,
			     s->cluster_free[c] == s->cluster_size ? SWAP_CLUSTER_FREE
								   : SWAP_CLUSTER_NONFULL);
	}
	s->next = 0; /* the CPU has no cluster yet */
}

/* After an allocation was tried. Kernel: relocate_cluster(). */
static void relocate_cluster(struct swap_area *s, uint32_t c)
{
	enum swap_cluster_list list = SWAP_CLUSTER_FRAG;

	if (!s->cluster_free[c])
		list = SWAP_CLUSTER_FULL;
	else if (s->cluster_free[c] == s->cluster_size)
		list = SWAP_CLUSTER_FREE;
	if (s->cluster_link[c].list != list)
		move_cluster(s, c, list);
}

/*
 * The first free slot from there on to the end of the cluster; where the CPU goes on is noted.
 * Kernel: alloc_swap_scan_cluster().
 */
static uint32_t scan_cluster(struct swap_area *s, uint32_t c, uint32_t from)
{
	uint32_t end = MIN((c + 1) * s->cluster_size, s->nr_slots), found = 0;

	s->next = 0;
	for (uint32_t slot = MAX(from, 1); s->cluster_free[c] && slot < end; slot++) {
		if (s->slot[slot].used)
			continue;
		found = slot;
		s->slot[slot].used = true;
		s->nr_free--;
		if (--s->cluster_free[c] && slot + 1 < end)
			s->next = slot + 1;
		break;
	}
	relocate_cluster(s, c);
	return found;
}

static uint32_t scan_list(struct swap_area *s, enum swap_cluster_list list, bool all)
{
	uint32_t c, found = 0;

	while (!found && (c = isolate_cluster(s, list)) != SWAP_NO_CLUSTER) {
		found = scan_cluster(s, c, c * s->cluster_size);
		if (!all)
			break;
	}
	return found;
}

/* 0: swap is full. Kernel: swap_alloc_fast(), cluster_alloc_swap_entry(). */
uint32_t swap_clusters_take(struct swap_area *s)
{
	uint32_t found = 0;

	if (s->next) {
		uint32_t c = s->next / s->cluster_size;

		/* A cluster that was given back as a whole belongs to nobody. */
		if (s->cluster_link[c].list <= SWAP_CLUSTER_FRAG &&
		    s->cluster_link[c].list != SWAP_CLUSTER_FREE)
			found = scan_cluster(s, c, s->next);
	}
	if (!found)
		found = scan_list(s, SWAP_CLUSTER_NONFULL, true);
	if (!found)
		found = scan_list(s, SWAP_CLUSTER_FREE, false);
	if (!found)
		found = scan_list(s, SWAP_CLUSTER_FRAG, false);
	return found;
}

/* A slot came back. Kernel: __swap_cluster_free_entries(). */
void swap_clusters_freed(struct swap_area *s, uint32_t slot)
{
	uint32_t c = slot / s->cluster_size;

	if (s->cluster_free[c] == s->cluster_size)
		move_cluster(s, c, SWAP_CLUSTER_FREE);
	else if (s->cluster_link[c].list != SWAP_CLUSTER_NONFULL)
		move_cluster(s, c, SWAP_CLUSTER_NONFULL);
}
