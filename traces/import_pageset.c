/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * import_pageset.c - how many different (space, page) pairs there are.
 *
 * Hash tables of (space, page / 64) -> 64 bits, 16 bytes a word. 64 parts by the hash's upper bits
 * grow one at a time, so that growing does not double the memory. At the cap (128 MiB in all) new
 * words are no longer counted and the total becomes a lower bound.
 */
#include "traces/import.h"

#include <string.h>

#define PART_MAX_SLOTS (1u << 17)

struct pageset_word {
	uint64_t key; /* (space << 44 | page / 64) + 1; 0 = empty */
	uint64_t bits;
};

static uint64_t mix(uint64_t x)
{
	x ^= x >> 32;
	x *= 0xd6e8feb86659fd93u;
	x ^= x >> 32;
	x *= 0xd6e8feb86659fd93u;
	return x ^ x >> 32;
}

static struct pageset_word *find(struct pageset_part *part, uint64_t key, uint64_t hash)
{
	uint32_t at = (uint32_t)hash & (part->slots - 1);

	while (part->words[at].key && part->words[at].key != key)
		at = (at + 1) & (part->slots - 1);
	return &part->words[at];
}

static void grow(struct pageset_part *part)
{
	struct pageset_part wide = { .slots = part->slots ? part->slots * 2 : 64 };

	wide.words = g_new0(struct pageset_word, wide.slots);
	for (uint32_t i = 0; i < part->slots; i++)
		if (part->words[i].key)
			*find(&wide, part->words[i].key, mix(part->words[i].key)) = part->words[i];
	wide.used = part->used;
	g_free(part->words);
	*part = wide;
}

static void add_word(struct pageset *set, uint64_t key, uint64_t bits)
{
	uint64_t hash = mix(key);
	struct pageset_part *part = &set->parts[hash >> 58];
	struct pageset_word *word;

	if (part->used >= part->slots - part->slots / 4) {
		if (part->slots < PART_MAX_SLOTS) {
			grow(part);
		} else if (!find(part, key, hash)->key) {
			set->full = true;
			return;
		}
	}
	word = find(part, key, hash);
	if (!word->key) {
		word->key = key;
		part->used++;
	}
	set->pages += (uint64_t)__builtin_popcountll(bits & ~word->bits);
	word->bits |= bits;
}

void pageset_add(struct pageset *set, uint32_t space, uint64_t page, uint64_t count)
{
	while (count) {
		unsigned first = page & 63;
		unsigned n = (unsigned)MIN(count, 64 - first);
		uint64_t bits = (n == 64 ? UINT64_MAX : (1ull << n) - 1) << first;

		add_word(set, ((uint64_t)space << 44 | page >> 6) + 1, bits);
		page += n;
		count -= n;
	}
}

void pageset_clear(struct pageset *set)
{
	for (unsigned i = 0; i < G_N_ELEMENTS(set->parts); i++)
		g_free(set->parts[i].words);
	memset(set, 0, sizeof(*set));
}
