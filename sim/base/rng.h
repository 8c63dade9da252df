/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rng.h - reproducible random numbers: xoshiro256** seeded by splitmix64 (Blackman and Vigna).
 *
 * Every consumer has a stream of its own, seeded from the run's seed and its name, so that a new
 * consumer does not shift the numbers of the others. The sequences are part of the file formats'
 * promise: they never change.
 */
#ifndef SIM_BASE_RNG_H
#define SIM_BASE_RNG_H

#include <stdint.h>

struct rs_rng {
	uint64_t s[4];
};

/* One step of splitmix64. */
static inline uint64_t rs_splitmix64(uint64_t *state)
{
	uint64_t z = (*state += 0x9e3779b97f4a7c15u);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

static inline uint64_t rs_rotl64(uint64_t x, unsigned k)
{
	return (x << k) | (x >> (64 - k));
}

/* 64 random bits. */
static inline uint64_t rs_rng_next(struct rs_rng *rng)
{
	uint64_t *s = rng->s;
	uint64_t result = rs_rotl64(s[1] * 5, 7) * 9;
	uint64_t t = s[1] << 17;

	s[2] ^= s[0];
	s[3] ^= s[1];
	s[1] ^= s[2];
	s[0] ^= s[3];
	s[2] ^= t;
	s[3] = rs_rotl64(s[3], 45);
	return result;
}

/* Uniform in [0, 1) with 53 bits. */
static inline double rs_rng_double(struct rs_rng *rng)
{
	return (double)(rs_rng_next(rng) >> 11) * 0x1p-53;
}

/* Start the stream of that name. Same seed and name: same numbers. */
void rs_rng_init(struct rs_rng *rng, uint64_t seed, const char *name);
/* Uniform in [0, n), without bias; n > 0. */
uint64_t rs_rng_below(struct rs_rng *rng, uint64_t n);

#endif
