/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * digest.c - SHA-256 over a summary of the records, the names and the mappings.
 *
 * SHA-256 over every record would cost more than decoding it does. So the records go through four
 * accumulators first, record i through number i % 4, which multiply its two words and fold the
 * product; SHA-256 is taken over those. That tells traces apart; it is no protection from somebody
 * who forges one.
 */
#include "traces/digest.h"

#include <string.h>

static const uint64_t first_lane[4] = {
	UINT64_C(0x9e3779b97f4a7c15), /* the first steps of splitmix64's counter from 0 */
	UINT64_C(0x3c6ef372fe94f82a),
	UINT64_C(0xdaa66d2c7ddf743f),
	UINT64_C(0x78dde6e5fd29f054),
};

void digest_init(struct digest *d)
{
	memset(d, 0, sizeof(*d));
	memcpy(d->lane, first_lane, sizeof(d->lane));
	d->maps = g_checksum_new(G_CHECKSUM_SHA256);
}

/* A record's first word never equals the constant, since its flags are 0: no product of 0. */
static inline uint64_t mix(uint64_t lane, const struct rs_record *r)
{
	uint64_t w[2];

	memcpy(w, r, sizeof(*r));
	unsigned __int128 product =
		(unsigned __int128)(GUINT64_FROM_LE(w[0]) ^ UINT64_C(0xbf58476d1ce4e5b9)) *
		(GUINT64_FROM_LE(w[1]) ^ lane);
	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static void put_word(GChecksum *c, uint64_t word)
{
	word = GUINT64_TO_LE(word);
	g_checksum_update(c, (const guchar *)&word, sizeof(word));
}

void digest_add(struct digest *d, const struct rs_record *r, uint32_t n, const struct rs_map *maps,
		uint32_t nr_maps)
{
	uint32_t i = 0;

	if (n == 1 && !nr_maps) {
		uint64_t *one = &d->lane[d->nr_records++ % 4];

		*one = mix(*one, r);
		return;
	}
	for (; i < n && (d->nr_records + i) % 4; i++)
		d->lane[(d->nr_records + i) % 4] = mix(d->lane[(d->nr_records + i) % 4], &r[i]);
	/* Four variables rather than an array: compilers keep those in registers. */
	uint64_t lane0 = d->lane[0], lane1 = d->lane[1], lane2 = d->lane[2], lane3 = d->lane[3];
	for (; i + 4 <= n; i += 4) {
		lane0 = mix(lane0, &r[i]);
		lane1 = mix(lane1, &r[i + 1]);
		lane2 = mix(lane2, &r[i + 2]);
		lane3 = mix(lane3, &r[i + 3]);
	}
	memcpy(d->lane, (uint64_t[4]){ lane0, lane1, lane2, lane3 }, sizeof(d->lane));
	for (uint32_t j = 0; i < n; i++, j++)
		d->lane[j] = mix(d->lane[j], &r[i]);
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
	static const char label[] = "reclaimsim trace 1";
	GChecksum *sum = g_checksum_new(G_CHECKSUM_SHA256);
	guint8 maps[32];
	gsize size = sizeof(maps);

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
