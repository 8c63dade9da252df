/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gen_dist.h - random ranks from 0 to n - 1 under the distributions that workloads are described
 * with. Rank 0 is the most popular one (except normal: the middle is).
 *
 * The same parameters and random stream give the same ranks on every platform: uniform numbers
 * are integers or 53-bit fractions, and every function of them comes from gen_math.h.
 */
#ifndef TRACES_GEN_DIST_H
#define TRACES_GEN_DIST_H

#include "sim/base/rng.h"

#include <stdbool.h>
#include <stdint.h>

enum gen_dist_kind {
	GEN_UNIFORM,
	GEN_ZIPF,   /* P(rank k) proportional to (k + 1)^-theta, theta >= 0 */
	GEN_PARETO, /* P(rank < x n) = x^p, where the share h of the ranks gets 1 - h of the draws
		     */
	GEN_NORMAL, /* cut at both ends */
	GEN_HOTSET, /* hot_n first ranks get the share hot_p; uniform inside and outside */
	GEN_NR_DISTS
};

struct gen_dist {
	enum gen_dist_kind kind;
	uint64_t n;
	/* zipf */
	double theta, h_first, h_last, accept;
	/* pareto: rank = n u^power */
	double power;
	/* normal, in ranks; the polar method yields two numbers at once */
	double mean, deviation, spare;
	bool has_spare;
	/* hot set */
	uint64_t hot_n;
	double hot_p;
};

void gen_dist_uniform(struct gen_dist *, uint64_t n);
void gen_dist_zipf(struct gen_dist *, uint64_t n, double theta);
void gen_dist_pareto(struct gen_dist *, uint64_t n, double h); /* 0 < h < 1 */
void gen_dist_normal(struct gen_dist *, uint64_t n, double mean, double deviation);
void gen_dist_hotset(struct gen_dist *, uint64_t n, uint64_t hot_n, double hot_p);
uint64_t gen_dist_next(struct gen_dist *, struct rs_rng *);

/* Name of a kind as specs write it, or NULL. */
const char *gen_dist_name(enum gen_dist_kind);

/*
 * A random permutation of 0 .. n - 1, computed and not stored: neighbouring ranks become pages far
 * apart. Four rounds of a Feistel network over the next even number of bits, walked until the
 * result is below n.
 */
struct gen_scatter {
	uint64_t n, key[4];
	unsigned half_bits;
};
void gen_scatter_init(struct gen_scatter *, uint64_t n, struct rs_rng *);
uint64_t gen_scatter(const struct gen_scatter *, uint64_t rank);

#endif
