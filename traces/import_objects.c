/* SPDX-License-Identifier: GPL-2.0-or-later */
/* import_objects.c - see import_objects.h. Open addressing, 12 bytes a slot. */
#include "traces/import_objects.h"

#include <string.h>

uint64_t objects_hash(const void *data, size_t n, uint64_t seed)
{
	const uint8_t *p = data;
	uint64_t h = seed ^ n * 0x9e3779b97f4a7c15u, word;

	for (; n >= 8; p += 8, n -= 8) {
		memcpy(&word, p, 8);
		h = (h ^ GUINT64_FROM_LE(word)) * 0xd6e8feb86659fd93u;
		h ^= h >> 32;
	}
	for (word = 0; n; n--)
		word = word << 8 | p[n - 1];
	h = (h ^ word) * 0xd6e8feb86659fd93u;
	h ^= h >> 32;
	h *= 0xd6e8feb86659fd93u;
	h ^= h >> 32;
	return h ? h : 1;
}

static uint32_t place(const struct objects *o, uint64_t hash)
{
	uint32_t at = (uint32_t)hash & (o->slots - 1);

	while (o->hashes[at] && o->hashes[at] != hash)
		at = (at + 1) & (o->slots - 1);
	return at;
}

static void grow(struct objects *o)
{
	struct objects wide = { .slots = o->slots ? o->slots * 2 : 1024, .used = o->used };

	wide.hashes = g_new0(uint64_t, wide.slots);
	wide.numbers = g_new(uint32_t, wide.slots);
	for (uint32_t i = 0; i < o->slots; i++) {
		uint32_t at;

		if (!o->hashes[i])
			continue;
		at = place(&wide, o->hashes[i]);
		wide.hashes[at] = o->hashes[i];
		wide.numbers[at] = o->numbers[i];
	}
	objects_clear(o);
	*o = wide;
}

uint32_t objects_number(struct import *im, struct objects *o, uint64_t hash)
{
	uint32_t at;

	if (o->used >= o->slots - o->slots / 4)
		grow(o);
	at = place(o, hash);
	if (o->hashes[at])
		return o->numbers[at];
	if (o->used >= OBJECTS_MAX) {
		if (!im->error)
			g_set_error(&im->error, RS_ERROR, RS_ERROR_INPUT,
				    "%s:%" G_GUINT64_FORMAT ": more than %u different objects or "
				    "keys; this is the limit of one import",
				    im->path, im->line_no, OBJECTS_MAX);
		return OBJECTS_NONE;
	}
	o->hashes[at] = hash;
	o->numbers[at] = o->used;
	return o->used++;
}

void objects_clear(struct objects *o)
{
	g_free(o->hashes);
	g_free(o->numbers);
	memset(o, 0, sizeof(*o));
}
