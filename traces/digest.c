/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * digest.c - SHA-256 over a summary of the records, the names and the mappings.
 *
 * SHA-256 over every record would cost more than decoding it does. So the records go through the
 * four accumulators of XXH64, which take two records at a time, and SHA-256 is taken over those.
 * That tells traces apart; it is no protection from somebody who forges one.
 */
#include "traces/digest.h"

#include <string.h>

#define PRIME_1 UINT64_C(0x9e3779b185ebca87)
#define PRIME_2 UINT64_C(0xc2b2ae3d27d4eb4f)

static inline uint64_t mix(uint64_t lane, uint64_t word)
{
	lane += word * PRIME_2;
	lane = lane << 31 | lane >> 33;
	return lane * PRIME_1;
}

void digest_init(struct digest *d)
{
	memset(d, 0, sizeof(*d));
	d->lane[0] = PRIME_1 + PRIME_2;
	d->lane[1] = PRIME_2;
	d->lane[3] = 0 - PRIME_1;
	d->maps = g_checksum_new(G_CHECKSUM_SHA256);
}

static inline void stripe(uint64_t lane[4], const struct rs_record *a, const struct rs_record *b)
{
	uint64_t w[4];

	memcpy(w, a, sizeof(*a));
	memcpy(w + 2, b, sizeof(*b));
	for (int i = 0; i < 4; i++)
		lane[i] = mix(lane[i], w[i]);
}

static void put_word(GChecksum *c, uint64_t word)
{
	word = GUINT64_TO_LE(word);
	g_checksum_update(c, (const guchar *)&word, sizeof(word));
}

void digest_add(struct digest *d, const struct rs_record *r, uint32_t n, const struct rs_map *maps,
		uint32_t nr_maps)
{
	uint64_t lane[4];
	uint32_t i = 0;

	memcpy(lane, d->lane, sizeof(lane));
	if (n && d->nr_records & 1)
		stripe(lane, &d->pending, &r[i++]);
	for (; i + 1 < n; i += 2)
		stripe(lane, &r[i], &r[i + 1]);
	if (i < n)
		d->pending = r[i];
	memcpy(d->lane, lane, sizeof(lane));
	d->nr_records += n;
	for (i = 0; i < nr_maps; i++) {
		put_word(d->maps, maps[i].file);
		put_word(d->maps, maps[i].prot);
		put_word(d->maps, maps[i].pages);
		put_word(d->maps, maps[i].pgoff);
		put_word(d->maps, maps[i].address);
	}
}

char *digest_finish(struct digest *d, const struct trace_state *s)
{
	static const struct rs_record none;
	static const char label[] = "reclaimsim trace 1";
	GChecksum *sum = g_checksum_new(G_CHECKSUM_SHA256);
	guint8 maps[32];
	gsize size = sizeof(maps);

	if (d->nr_records & 1)
		stripe(d->lane, &d->pending, &none);
	g_checksum_update(sum, (const guchar *)label, sizeof(label));
	put_word(sum, d->nr_records);
	for (int i = 0; i < 4; i++)
		put_word(sum, d->lane[i]);
	for (int kind = 0; kind < NR_NAME_KINDS; kind++) {
		const GPtrArray *names = s->names[kind].names;

		put_word(sum, names->len);
		for (uint32_t i = 0; i < names->len; i++) {
			const char *name = g_ptr_array_index(names, i);

			g_checksum_update(sum, (const guchar *)name, strlen(name) + 1);
		}
	}
	g_checksum_get_digest(d->maps, maps, &size);
	g_checksum_update(sum, maps, size);
	char *hex = g_strdup(g_checksum_get_string(sum));
	g_checksum_free(sum);
	return hex;
}

void digest_done(struct digest *d)
{
	g_clear_pointer(&d->maps, g_checksum_free);
}
