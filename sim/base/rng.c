/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rng.c - seeding by name and bounded numbers.
 */
#include "sim/base/rng.h"

/* FNV-1a: the name's contribution to the seed. */
static uint64_t hash_name(const char *name)
{
	uint64_t hash = 0xcbf29ce484222325u;

	for (; *name; name++)
		hash = (hash ^ (unsigned char)*name) * 0x100000001b3u;
	return hash;
}

void rs_rng_init(struct rs_rng *rng, uint64_t seed, const char *name)
{
	/* Mixed once before the name goes in, or seeds and names of equal sum would collide. */
	uint64_t state = rs_splitmix64(&seed) ^ hash_name(name);

	for (unsigned i = 0; i < 4; i++)
		rng->s[i] = rs_splitmix64(&state);
}

uint64_t rs_rng_below(struct rs_rng *rng, uint64_t n)
{
	/* Lemire's method: the high half of a 128-bit product, rejecting the uneven remainder. */
	unsigned __int128 product = (unsigned __int128)rs_rng_next(rng) * n;

	if ((uint64_t)product < n) {
		uint64_t threshold = -n % n;

		while ((uint64_t)product < threshold)
			product = (unsigned __int128)rs_rng_next(rng) * n;
	}
	return (uint64_t)(product >> 64);
}
