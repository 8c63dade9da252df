/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * reuse.c - Mattson's LRU stack on a Fenwick tree. Every touch takes the next slot; the distance is
 * the number of used slots behind the page's old one.
 *
 * A discarded page leaves a hole, which stands for memory that is free. The next page that comes
 * from below the hole, or from outside, falls into it: pages below the hole do not move down. So
 * the curve is exact for programs that free memory, too.
 */
#include "traces/reuse.h"

#include <string.h>

#define FIRST_SLOTS 4096u

static void tree_add(struct reuse *r, uint32_t slot, uint32_t n)
{
	for (uint32_t i = slot + 1; i <= r->nr_slots; i += i & -i)
		r->tree[i] += n;
}

/* Used slots up to and with this one. */
static uint32_t tree_sum(const struct reuse *r, uint32_t slot)
{
	uint32_t sum = 0;

	for (uint32_t i = slot + 1; i; i -= i & -i)
		sum += r->tree[i];
	return sum;
}

void reuse_init(struct reuse *r)
{
	memset(r, 0, sizeof(*r));
	r->slot_of = g_array_new(FALSE, TRUE, sizeof(uint32_t));
	r->holes = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	r->nr_slots = FIRST_SLOTS;
	r->page_of = g_new(uint32_t, r->nr_slots);
	r->tree = g_new0(uint32_t, r->nr_slots + 1);
}

void reuse_done(struct reuse *r)
{
	g_array_free(r->slot_of, TRUE);
	g_array_free(r->holes, TRUE);
	g_free(r->page_of);
	g_free(r->tree);
}

#define HOLE UINT32_MAX /* in page_of */
#define FREE (UINT32_MAX - 1)

static uint32_t *slot_of(struct reuse *r, uint32_t page)
{
	if (page >= r->slot_of->len)
		g_array_set_size(r->slot_of, page + 1);
	return &g_array_index(r->slot_of, uint32_t, page);
}

/* Give the used slots numbers from 0 on, in their order, and room for as many again. */
static void renumber(struct reuse *r)
{
	uint32_t n = 0, size = MAX(FIRST_SLOTS, 2 * r->nr_used);
	uint32_t *page_of = g_new(uint32_t, size);

	g_array_set_size(r->holes, 0);
	for (uint32_t i = r->next_slot; i-- > 0;)
		if (r->page_of[i] == HOLE)
			g_array_append_val(r->holes, i); /* latest first: a heap already */
	for (uint32_t i = 0, hole = r->holes->len; i < r->next_slot; i++) {
		if (r->page_of[i] == FREE)
			continue;
		if (r->page_of[i] == HOLE)
			g_array_index(r->holes, uint32_t, --hole) = n;
		else
			*slot_of(r, r->page_of[i]) = n + 1;
		page_of[n++] = r->page_of[i];
	}
	g_free(r->page_of);
	g_free(r->tree);
	r->page_of = page_of;
	r->nr_slots = size;
	r->next_slot = n;
	r->tree = g_new0(uint32_t, size + 1);
	for (uint32_t i = 1; i <= size; i++) {
		r->tree[i] += i <= n;
		if (i + (i & -i) <= size)
			r->tree[i + (i & -i)] += r->tree[i];
	}
}

static void push_hole(struct reuse *r, uint32_t slot)
{
	g_array_append_val(r->holes, slot);
	uint32_t *heap = (void *)r->holes->data, i = r->holes->len - 1;
	for (; i && heap[(i - 1) / 2] < slot; i = (i - 1) / 2)
		heap[i] = heap[(i - 1) / 2];
	heap[i] = slot;
	r->page_of[slot] = HOLE;
}

static uint32_t pop_hole(struct reuse *r)
{
	uint32_t *heap = (void *)r->holes->data, n = r->holes->len - 1, top = heap[0],
		 last = heap[n], i = 0;

	g_array_set_size(r->holes, n);
	while (2 * i + 1 < n) {
		uint32_t child = 2 * i + 1;

		if (child + 1 < n && heap[child + 1] > heap[child])
			child++;
		if (heap[child] <= last)
			break;
		heap[i] = heap[child];
		i = child;
	}
	if (n)
		heap[i] = last;
	return top;
}

static void free_slot(struct reuse *r, uint32_t slot)
{
	r->page_of[slot] = FREE;
	tree_add(r, slot, -1);
	r->nr_used--;
}

/*
 * The page leaves slot old (-1 = it comes from outside) for the top. If the latest hole is above
 * old, the hole's memory takes what moves down, and old is a hole now.
 */
static void leave(struct reuse *r, int64_t old)
{
	if (r->holes->len && g_array_index(r->holes, uint32_t, 0) > old) {
		free_slot(r, pop_hole(r));
		if (old >= 0)
			push_hole(r, old);
	} else if (old >= 0) {
		free_slot(r, old);
	}
}

uint32_t reuse_touch(struct reuse *r, uint32_t page)
{
	uint32_t distance = REUSE_COLD;

	if (r->next_slot == r->nr_slots)
		renumber(r);
	uint32_t *slot = slot_of(r, page);
	if (*slot)
		distance = r->nr_used - tree_sum(r, *slot - 1);
	leave(r, (int64_t)*slot - 1);
	r->page_of[r->next_slot] = page;
	tree_add(r, r->next_slot, 1);
	r->nr_used++;
	*slot = ++r->next_slot;
	return distance;
}

void reuse_discard(struct reuse *r, uint32_t page)
{
	uint32_t *slot = slot_of(r, page);

	if (*slot)
		push_hole(r, *slot - 1);
	*slot = 0;
}
