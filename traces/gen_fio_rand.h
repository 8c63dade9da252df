/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gen_fio_rand.h - fio's random numbers, distributions and map of blocks done.
 *
 * With the generators and seeds of fio 3.33, a job file gives the very sequence of offsets that
 * fio gives. Sources: P. L'Ecuyer, "Maximally equidistributed combined Tausworthe generators"
 * (1996) and "Tables of maximally equidistributed combined LFSR generators" (1999) for the
 * generators; J. Gray et al., "Quickly generating billion-record synthetic databases" (1994) for
 * zipf and pareto; fio's documentation and its behaviour for seeds and hashing.
 */
#ifndef TRACES_GEN_FIO_RAND_H
#define TRACES_GEN_FIO_RAND_H

#include <stdbool.h>
#include <stdint.h>

/* Combined Tausworthe generator of 32 bits (three words) or 64 bits (five). */
struct fio_rand {
	bool use64;
	uint64_t s[5];
};
void fio_rand_init(struct fio_rand *, uint64_t seed, bool use64);
uint64_t fio_rand_next(struct fio_rand *);
/* The fraction next / 2^32 or 2^64 of n, rounded down. */
uint64_t fio_rand_scaled(struct fio_rand *, double n);
uint64_t fio_rand_between(struct fio_rand *, uint64_t first, uint64_t last);

enum fio_dist_kind {
	FIO_DIST_RANDOM, /* uniform, with or without the map */
	FIO_DIST_ZIPF,
	FIO_DIST_PARETO,
	FIO_DIST_NORMAL,
	FIO_DIST_ZONED,
	FIO_DIST_ZONED_ABS,
};

/*
 * zipf, pareto or normal over n blocks. A rank r becomes block (r * golden ratio + shift) mod n:
 * hot blocks are strewn over the file, several ranks may share a block, others get none.
 */
struct fio_dist {
	enum fio_dist_kind kind;
	uint64_t n, shift;
	double theta, zeta2, zeta_n, eta, alpha, power;
	unsigned deviation;
	bool no_hash;
	struct fio_rand rand;
};
/* value: theta, h or deviation in percent; center: 0 to 1, or -1 for none. */
void fio_dist_init(struct fio_dist *, enum fio_dist_kind, uint64_t n, double value, double center,
		   uint32_t seed);
uint64_t fio_dist_next(struct fio_dist *);

/* Which blocks were done in this pass: with it a random pass meets every block once. */
struct fio_map {
	uint64_t n, *words;
	uint64_t *full; /* one bit a word of words: all its blocks are done */
};
struct fio_map *fio_map_new(uint64_t n);
void fio_map_free(struct fio_map *); /* NULL is fine */
void fio_map_reset(struct fio_map *);
bool fio_map_done(const struct fio_map *, uint64_t block);
/* First block not done behind block, round the end; UINT64_MAX: none. */
uint64_t fio_map_next_free(const struct fio_map *, uint64_t block);
/* Mark up to count blocks, stopping at one already done. Returns how many were marked. */
uint64_t fio_map_mark(struct fio_map *, uint64_t block, uint64_t count);

/* random_generator=lfsr: every block once, in the order of a linear feedback shift register. */
struct fio_lfsr {
	uint64_t xormask, top_bit, last, max, count, seed;
	bool started;
};
bool fio_lfsr_init(struct fio_lfsr *, uint64_t blocks, uint64_t seed);
bool fio_lfsr_reset(struct fio_lfsr *);
bool fio_lfsr_next(struct fio_lfsr *, uint64_t *ret); /* false: all done */

/* Hash of a file's name that seeds its distribution. */
uint32_t fio_name_hash(const char *name);

#endif
