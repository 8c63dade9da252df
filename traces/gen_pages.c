/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gen_pages.c - which pages of which objects were touched, as bits in chunks of 32768 pages.
 */
#include "traces/gen.h"

#include <string.h>

#define CHUNK_SHIFT 15
#define MAX_CHUNKS (1u << 17) /* 512 MiB of bits, 16 TiB of pages */
#define CHUNK_WORDS ((1u << CHUNK_SHIFT) / 64)

void gen_pages_init(struct gen_pages *s)
{
	s->chunks = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, g_free);
	s->last = s->overflow = NULL;
	s->last_key = UINT64_MAX;
	s->nr = 0;
}

void gen_pages_done(struct gen_pages *s)
{
	g_clear_pointer(&s->chunks, g_hash_table_destroy);
	g_clear_pointer(&s->overflow, g_free);
}

static uint64_t *chunk_of(struct gen_pages *s, uint32_t object, uint64_t page)
{
	uint64_t key = (uint64_t)object << 32 | page >> CHUNK_SHIFT;

	if (s->last && s->last_key == key)
		return s->last;
	s->last_key = key;
	s->last = g_hash_table_lookup(s->chunks, &key);
	if (!s->last && g_hash_table_size(s->chunks) >= MAX_CHUNKS) {
		/* Beyond that pages are counted each time. */
		s->overflow = s->overflow ? s->overflow : g_new0(uint64_t, CHUNK_WORDS);
		memset(s->overflow, 0, CHUNK_WORDS * sizeof(uint64_t));
		s->last_key = UINT64_MAX;
		return s->overflow;
	}
	if (!s->last) {
		s->last = g_new0(uint64_t, CHUNK_WORDS);
		g_hash_table_insert(s->chunks, g_memdup2(&key, sizeof(key)), s->last);
	}
	return s->last;
}

void gen_pages_add(struct gen_pages *s, uint32_t object, uint64_t page, uint64_t count)
{
	while (count) {
		uint64_t n = MIN(64 - page % 64, count);
		uint64_t bits = (n == 64 ? UINT64_MAX : (UINT64_C(1) << n) - 1) << (page % 64);
		uint64_t *word = &chunk_of(s, object, page)[page % (1u << CHUNK_SHIFT) / 64];

		s->nr += (uint64_t)__builtin_popcountll(bits & ~*word);
		*word |= bits;
		page += n;
		count -= n;
	}
}
