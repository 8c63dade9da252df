/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * format.h - the container of the native format: a file head, chunks, a foot. FORMAT.md.
 *
 *   head | 'H' provenance | 'B' block | 'B' block | ... | 'E' totals, digest, index | foot
 */
#ifndef TRACES_FORMAT_H
#define TRACES_FORMAT_H

#include <string.h>

#include "traces/provenance.h"
#include "traces/varint.h"

#define FORMAT_MAGIC "\x89RST\r\n\x1a\n" /* 8 bytes, as PNG's: shows text-mode damage */
#define FORMAT_END_MAGIC "\x89RSTEND\n"	 /* 8 bytes */
#define FORMAT_VERSION 1u
#define FORMAT_HEAD_BYTES 16u		 /* magic, u32 version, u32 0 */
#define FORMAT_FOOT_BYTES 16u		 /* u64 offset of the end chunk, magic */
#define FORMAT_CHUNK_BYTES 16u		 /* u32 type, u32 packed size, u32 raw size, u32 records */
#define FORMAT_MAX_PROVENANCE (2u << 20) /* raw bytes */
#define FORMAT_DIGEST_BYTES 32u

enum chunk_type { CHUNK_HEADER = 'H', CHUNK_BLOCK = 'B', CHUNK_END = 'E' };

static inline uint32_t get_u32(const uint8_t *from)
{
	uint32_t n;

	memcpy(&n, from, sizeof(n));
	return GUINT32_FROM_LE(n);
}

static inline void put_u32(uint8_t *to, uint32_t n)
{
	n = GUINT32_TO_LE(n);
	memcpy(to, &n, sizeof(n));
}

/* Entries from first on, and back. */
void format_put_provenance(GByteArray *, const struct provenance *, uint32_t first);
bool format_get_provenance(struct cursor *, struct provenance *);

#endif
