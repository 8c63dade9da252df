/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pagemap.c - a hash table that is never more than half full. Removed pages keep their key with
 * the value PAGE_NONE.
 */
#include "traces/pagemap.h"

#include <string.h>

#define FIRST_SIZE 1024u

static void allocate(struct pagemap *m, uint32_t size)
{
	m->keys = g_new0(uint64_t, size);
	m->values = g_new(uint32_t, size);
	m->mask = size - 1;
	m->nr_used = 0;
}

void pagemap_init(struct pagemap *m)
{
	allocate(m, FIRST_SIZE);
}

void pagemap_done(struct pagemap *m)
{
	g_free(m->keys);
	g_free(m->values);
	m->keys = NULL;
	m->values = NULL;
}

/* Keys are never 0: objects stay below 2^32 - 1. */
static uint64_t key_of(uint32_t object, uint32_t page)
{
	return ((uint64_t)object << 32 | page) + 1;
}

static uint32_t place(const struct pagemap *m, uint64_t key)
{
	uint32_t i = (key * UINT64_C(0x9e3779b97f4a7c15)) >> 32 & m->mask;

	while (m->keys[i] && m->keys[i] != key)
		i = (i + 1) & m->mask;
	return i;
}

static void grow(struct pagemap *m)
{
	struct pagemap old = *m;

	allocate(m, 2 * (old.mask + 1));
	for (uint32_t i = 0; i <= old.mask; i++) {
		if (!old.keys[i] || old.values[i] == PAGE_NONE)
			continue;
		uint32_t at = place(m, old.keys[i]);

		m->keys[at] = old.keys[i];
		m->values[at] = old.values[i];
		m->nr_used++;
	}
	pagemap_done(&old);
}

uint32_t *pagemap_at(struct pagemap *m, uint32_t object, uint32_t page)
{
	uint64_t key = key_of(object, page);
	uint32_t i = place(m, key);

	if (m->keys[i])
		return &m->values[i];
	if (m->nr_used > m->mask / 2) {
		grow(m);
		i = place(m, key);
	}
	m->keys[i] = key;
	m->values[i] = PAGE_NONE;
	m->nr_used++;
	return &m->values[i];
}

uint32_t pagemap_get(const struct pagemap *m, uint32_t object, uint32_t page)
{
	uint32_t i = place(m, key_of(object, page));

	return m->keys[i] ? m->values[i] : PAGE_NONE;
}

static void forget(struct pagemap *m, uint32_t i, void (*forgotten)(void *, uint32_t), void *arg)
{
	if (!m->keys[i] || m->values[i] == PAGE_NONE)
		return;
	if (forgotten)
		forgotten(arg, m->values[i]);
	m->values[i] = PAGE_NONE;
}

/* The order in which values are told follows the page numbers or the table: both are repeatable. */
void pagemap_forget(struct pagemap *m, uint32_t object, uint32_t first, uint32_t count,
		    void (*forgotten)(void *, uint32_t), void *arg)
{
	uint64_t low = key_of(object, first), high = low + count;

	if (count <= m->mask) {
		for (uint64_t key = low; key < high; key++)
			forget(m, place(m, key), forgotten, arg);
		return;
	}
	for (uint32_t i = 0; i <= m->mask; i++)
		if (m->keys[i] >= low && m->keys[i] < high)
			forget(m, i, forgotten, arg);
}
