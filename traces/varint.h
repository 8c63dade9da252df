/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * varint.h - numbers of 7 bits a byte, low bits first, and signed ones folded onto unsigned.
 */
#ifndef TRACES_VARINT_H
#define TRACES_VARINT_H

#include <reclaimsim/types.h>

static inline void put_varint(GByteArray *to, uint64_t n)
{
	uint8_t bytes[10];
	guint len = 0;

	for (; n >= 0x80; n >>= 7)
		bytes[len++] = n | 0x80;
	bytes[len++] = n;
	g_byte_array_append(to, bytes, len);
}

struct cursor {
	const uint8_t *at, *end;
};

/* False: the bytes end, the number has more than 64 bits or exceeds max. */
static inline bool get_varint(struct cursor *c, uint64_t max, uint64_t *ret)
{
	uint64_t n = 0;

	for (uint32_t shift = 0; c->at < c->end && shift < 64; shift += 7) {
		uint8_t byte = *c->at++;

		if (shift == 63 && byte > 1)
			return false;
		n |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80)) {
			*ret = n;
			return n <= max;
		}
	}
	return false;
}

static inline uint64_t fold64(uint64_t n)
{
	return n << 1 ^ (0 - (n >> 63));
}

static inline uint64_t unfold64(uint64_t n)
{
	return n >> 1 ^ (0 - (n & 1));
}

static inline uint32_t fold32(uint32_t n)
{
	return n << 1 ^ (0 - (n >> 31));
}

static inline uint32_t unfold32(uint32_t n)
{
	return n >> 1 ^ (0 - (n & 1));
}

#endif
