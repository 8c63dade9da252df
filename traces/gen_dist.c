/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gen_dist.c - see gen_dist.h.
 *
 * Zipf by rejection-inversion: W. Hoermann, G. Derflinger, "Rejection-inversion to generate
 * variates from monotone discrete distributions" (ACM TOMACS 6, 1996): no table, any n, any
 * exponent, and hardly ever a second try.
 */
#include "traces/gen_dist.h"

#include <math.h>
#include <stddef.h>

#include "traces/gen_math.h"

const char *gen_dist_name(enum gen_dist_kind kind)
{
	static const char *const names[GEN_NR_DISTS] = { "uniform", "zipf", "pareto", "normal",
							 "hotset" };

	return kind < GEN_NR_DISTS ? names[kind] : NULL;
}

void gen_dist_uniform(struct gen_dist *d, uint64_t n)
{
	*d = (struct gen_dist){ .kind = GEN_UNIFORM, .n = n };
}

/* H(x), an integral of x^-theta, and its inverse. */
static double zipf_h(const struct gen_dist *d, double x)
{
	return gen_powm1_over(x, 1 - d->theta);
}

static double zipf_h_inverse(const struct gen_dist *d, double y)
{
	double p = 1 - d->theta, base = 1 + y * p;

	if (p == 0)
		return gen_exp(y);
	/* Close to theta = 1 the power loses digits: take log(1 + yp) / p by its series. */
	if (fabs(y * p) < 1e-5)
		return gen_exp(y * (1 - y * p * (0.5 - y * p / 3)));
	return base > 0 ? gen_pow(base, 1 / p) : 1;
}

void gen_dist_zipf(struct gen_dist *d, uint64_t n, double theta)
{
	*d = (struct gen_dist){ .kind = GEN_ZIPF, .n = n, .theta = theta };
	d->h_first = zipf_h(d, 1.5) - 1;
	d->h_last = zipf_h(d, (double)n + 0.5);
	d->accept = 2 - zipf_h_inverse(d, zipf_h(d, 2.5) - gen_pow(2, -theta));
}

static uint64_t next_zipf(struct gen_dist *d, struct rs_rng *rng)
{
	for (;;) {
		double u = d->h_last + rs_rng_double(rng) * (d->h_first - d->h_last);
		double x = zipf_h_inverse(d, u), k = floor(x + 0.5);

		if (k < 1)
			k = 1;
		else if (k > (double)d->n)
			k = (double)d->n;
		if (k - x <= d->accept || u >= zipf_h(d, k + 0.5) - gen_pow(k, -d->theta))
			return (uint64_t)k - 1;
	}
}

void gen_dist_pareto(struct gen_dist *d, uint64_t n, double h)
{
	*d = (struct gen_dist){ .kind = GEN_PARETO, .n = n };
	d->power = gen_log(h) / gen_log(1 - h);
}

static uint64_t next_pareto(struct gen_dist *d, struct rs_rng *rng)
{
	uint64_t k = (uint64_t)((double)d->n * gen_pow(rs_rng_double(rng), d->power));

	return k < d->n ? k : d->n - 1;
}

void gen_dist_normal(struct gen_dist *d, uint64_t n, double mean, double deviation)
{
	*d = (struct gen_dist){ .kind = GEN_NORMAL, .n = n, .mean = mean, .deviation = deviation };
}

/* Marsaglia's polar method. */
static double standard_normal(struct gen_dist *d, struct rs_rng *rng)
{
	double u, v, s;

	if (d->has_spare) {
		d->has_spare = false;
		return d->spare;
	}
	do {
		u = 2 * rs_rng_double(rng) - 1;
		v = 2 * rs_rng_double(rng) - 1;
		s = u * u + v * v;
	} while (s >= 1 || s == 0);
	s = sqrt(-2 * gen_log(s) / s);
	d->spare = v * s;
	d->has_spare = true;
	return u * s;
}

static uint64_t next_normal(struct gen_dist *d, struct rs_rng *rng)
{
	/* A mean far outside would be rejected for ever: after a while the nearest end is taken. */
	for (int tries = 0; tries < 1000; tries++) {
		double x = floor(d->mean + d->deviation * standard_normal(d, rng));

		if (x >= 0 && x < (double)d->n)
			return (uint64_t)x;
	}
	return d->mean < 0 ? 0 : d->n - 1;
}

void gen_dist_hotset(struct gen_dist *d, uint64_t n, uint64_t hot_n, double hot_p)
{
	*d = (struct gen_dist){ .kind = GEN_HOTSET, .n = n, .hot_n = hot_n, .hot_p = hot_p };
}

static uint64_t next_hotset(struct gen_dist *d, struct rs_rng *rng)
{
	bool hot = rs_rng_double(rng) < d->hot_p;

	if (d->hot_n == 0 || d->hot_n >= d->n)
		return rs_rng_below(rng, d->n);
	return hot ? rs_rng_below(rng, d->hot_n) : d->hot_n + rs_rng_below(rng, d->n - d->hot_n);
}

uint64_t gen_dist_next(struct gen_dist *d, struct rs_rng *rng)
{
	if (d->n <= 1)
		return 0;
	switch (d->kind) {
	case GEN_ZIPF:
		return next_zipf(d, rng);
	case GEN_PARETO:
		return next_pareto(d, rng);
	case GEN_NORMAL:
		return next_normal(d, rng);
	case GEN_HOTSET:
		return next_hotset(d, rng);
	default:
		return rs_rng_below(rng, d->n);
	}
}

void gen_scatter_init(struct gen_scatter *s, uint64_t n, struct rs_rng *rng)
{
	unsigned bits = n > 1 ? 64 - (unsigned)__builtin_clzll(n - 1) : 1;

	s->n = n;
	s->half_bits = (bits + 1) / 2;
	for (int i = 0; i < 4; i++)
		s->key[i] = rs_rng_next(rng);
}

static uint64_t feistel(const struct gen_scatter *s, uint64_t x)
{
	uint64_t mask = (UINT64_C(1) << s->half_bits) - 1, left = x >> s->half_bits,
		 right = x & mask;

	for (int i = 0; i < 4; i++) {
		uint64_t state = right ^ s->key[i];
		uint64_t next = left ^ (rs_splitmix64(&state) & mask);

		left = right;
		right = next;
	}
	return left << s->half_bits | right;
}

uint64_t gen_scatter(const struct gen_scatter *s, uint64_t rank)
{
	uint64_t x = rank;

	if (s->n <= 1)
		return 0;
	do
		x = feistel(s, x);
	while (x >= s->n);
	return x;
}
