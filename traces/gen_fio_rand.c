/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gen_fio_rand.c - see gen_fio_rand.h.
 */
#include "traces/gen_fio_rand.h"

#include <math.h>
#include <string.h>

#include <glib.h>

#include "traces/gen_math.h"

#define GOLDEN_RATIO_64 UINT64_C(0x61c8864680b583eb)
#define RAND32_RANGE 4294967296.0
#define RAND64_RANGE 18446744073709551616.0

/* ---- generators ---- */

/* Shifts q, right, left and the low bits that a component drops. */
struct component {
	uint8_t q, right, left, dropped;
};
static const struct component taus88[3] = { { 13, 19, 12, 1 }, { 2, 25, 4, 3 }, { 3, 11, 17, 4 } };
static const struct component lfsr258[5] = {
	{ 1, 53, 10, 1 }, { 24, 50, 5, 9 }, { 3, 23, 29, 12 }, { 5, 24, 23, 17 }, { 3, 33, 8, 23 }
};

static uint32_t step32(uint32_t s, const struct component *c)
{
	return (s >> c->dropped << c->dropped) << c->left ^ ((s << c->q ^ s) >> c->right);
}

static uint64_t step64(uint64_t s, const struct component *c)
{
	return (s >> c->dropped << c->dropped) << c->left ^ ((s << c->q ^ s) >> c->right);
}

uint64_t fio_rand_next(struct fio_rand *r)
{
	uint64_t x = 0;

	if (r->use64) {
		for (int i = 0; i < 5; i++)
			x ^= r->s[i] = step64(r->s[i], &lfsr258[i]);
	} else {
		for (int i = 0; i < 3; i++)
			x ^= r->s[i] = step32((uint32_t)r->s[i], &taus88[i]);
	}
	return x;
}

/*
 * Each component's state must have a bit set among those it keeps. The start value 53 is what
 * fio's expression of powers yields.
 */
void fio_rand_init(struct fio_rand *r, uint64_t seed, bool use64)
{
	static const uint8_t least[5] = { 1, 7, 15, 33, 49 };
	uint64_t x = 53;

	memset(r, 0, sizeof(*r));
	r->use64 = use64;
	for (int i = 0; i < (use64 ? 5 : 3); i++) {
		x = use64 ? x * UINT64_C(6906969069) ^ seed
			  : (uint32_t)(x * 69069) ^ (uint32_t)seed;
		if (x < least[i])
			x += least[i];
		r->s[i] = x;
	}
	for (int i = 0; i < 6; i++)
		fio_rand_next(r);
}

uint64_t fio_rand_scaled(struct fio_rand *r, double n)
{
	return (uint64_t)(n *
			  ((double)fio_rand_next(r) / (r->use64 ? RAND64_RANGE : RAND32_RANGE)));
}

uint64_t fio_rand_between(struct fio_rand *r, uint64_t first, uint64_t last)
{
	return first + fio_rand_scaled(r, (double)(last - first + 1));
}

/* ---- distributions ---- */

/*
 * Sum of k^-theta for k = 1 .. n: the head term by term, the tail by the Euler-Maclaurin formula.
 * fio stops at 10 million terms, however large the file.
 */
static double zeta(uint64_t n, double theta)
{
	const double head = 1000;
	double sum = 0, end = fmin((double)n, 1e7), fh, fe;

	for (double k = 1; k <= fmin(end, head); k++)
		sum += gen_pow(1 / k, theta);
	if (end <= head)
		return sum;
	fh = gen_pow(head, -theta);
	fe = gen_pow(end, -theta);
	sum += fh * head * gen_powm1_over(end / head, 1 - theta) + (fe - fh) / 2;
	sum -= theta * (fe / end - fh / head) / 12;
	sum += theta * (theta + 1) * (theta + 2) *
	       (fe / (end * end * end) - fh / (head * head * head)) / 720;
	return sum;
}

static void init_zipf(struct fio_dist *d, double theta)
{
	double n = (double)d->n;

	d->theta = theta;
	d->zeta2 = 1 + gen_pow(0.5, theta);
	d->zeta_n = zeta(d->n, theta);
	d->alpha = 1 / (1 - theta);
	d->eta = (1 - gen_pow(2 / n, 1 - theta)) / (1 - d->zeta2 / d->zeta_n);
}

void fio_dist_init(struct fio_dist *d, enum fio_dist_kind kind, uint64_t n, double value,
		   double center, uint32_t seed)
{
	memset(d, 0, sizeof(*d));
	d->kind = kind;
	d->n = n;
	fio_rand_init(&d->rand, seed, false);
	if (kind == FIO_DIST_NORMAL) {
		if (value != 0)
			d->deviation =
				(unsigned)fmin(ceil((double)n * value / 100), (double)(n / 2));
		if (center >= 0)
			d->shift = (uint32_t)(int64_t)((double)n *
						       (center - 0.5)); /* 32 bits in fio */
		return;
	}
	d->shift = fio_rand_next(&d->rand);
	if (center >= 0)
		d->shift = (uint64_t)((double)n * center);
	if (kind == FIO_DIST_ZIPF)
		init_zipf(d, value);
	else
		d->power = gen_log(value) / gen_log(1 - value);
}

static uint64_t zipf_rank(struct fio_dist *d)
{
	double u = (double)fio_rand_next(&d->rand) / (RAND32_RANGE - 1), z = u * d->zeta_n;

	if (z < 1)
		return 0;
	if (z < d->zeta2)
		return 1;
	return (uint64_t)((double)d->n * gen_pow(d->eta * u - d->eta + 1, d->alpha));
}

static uint64_t pareto_rank(struct fio_dist *d)
{
	double u = (double)fio_rand_next(&d->rand) / (RAND32_RANGE - 1);

	return (uint64_t)((double)(d->n - 1) * gen_pow(u, d->power));
}

/* The mean of twelve uniform numbers, moved by a uniform one of the given width. */
static uint64_t normal_rank(struct fio_dist *d)
{
	uint64_t sum = 0;

	for (int i = 0; i < 12; i++)
		sum += fio_rand_next(&d->rand) % (d->n + 1);
	sum = (sum + 11) / 12;
	if (d->deviation) {
		int dev = (int)fio_rand_scaled(&d->rand, d->deviation) - (int)(d->deviation / 2);

		while ((uint64_t)dev + sum >= d->n && dev)
			dev /= 2;
		sum += (uint64_t)dev;
	}
	return sum;
}

uint64_t fio_dist_next(struct fio_dist *d)
{
	uint64_t rank = d->kind == FIO_DIST_ZIPF     ? zipf_rank(d)
			: d->kind == FIO_DIST_PARETO ? pareto_rank(d)
						     : normal_rank(d);

	if (!d->no_hash)
		rank *= GOLDEN_RATIO_64;
	return (rank + d->shift) % d->n;
}

/* ---- the map of blocks done ---- */

static uint64_t nr_words(uint64_t bits)
{
	return (bits + 63) / 64;
}

struct fio_map *fio_map_new(uint64_t n)
{
	struct fio_map *m = g_new0(struct fio_map, 1);

	m->n = n;
	m->words = g_new0(uint64_t, nr_words(n) + 1);
	m->full = g_new0(uint64_t, nr_words(nr_words(n)) + 1);
	return m;
}

void fio_map_free(struct fio_map *m)
{
	if (!m)
		return;
	g_free(m->words);
	g_free(m->full);
	g_free(m);
}

void fio_map_reset(struct fio_map *m)
{
	memset(m->words, 0, nr_words(m->n) * 8);
	memset(m->full, 0, nr_words(nr_words(m->n)) * 8);
}

bool fio_map_done(const struct fio_map *m, uint64_t block)
{
	return block < m->n && m->words[block / 64] >> (block % 64) & 1;
}

/* First clear bit at or behind from, below n; UINT64_MAX if there is none. */
static uint64_t first_clear(const uint64_t *words, uint64_t from, uint64_t n)
{
	while (from < n) {
		uint64_t clear = ~words[from / 64] >> (from % 64);

		if (clear) {
			from += (uint64_t)__builtin_ctzll(clear);
			return from < n ? from : UINT64_MAX;
		}
		from = (from / 64 + 1) * 64;
	}
	return UINT64_MAX;
}

static uint64_t free_from(const struct fio_map *m, uint64_t from)
{
	uint64_t end = MIN((from / 64 + 1) * 64, m->n), word;
	uint64_t block = first_clear(m->words, from, end);

	if (block != UINT64_MAX)
		return block;
	word = first_clear(m->full, from / 64 + 1, nr_words(m->n));
	return word == UINT64_MAX ? word : first_clear(m->words, word * 64, m->n);
}

uint64_t fio_map_next_free(const struct fio_map *m, uint64_t block)
{
	uint64_t next;

	if (block >= m->n)
		return UINT64_MAX;
	next = block + 1 == m->n ? 0 : block + 1;
	block = free_from(m, next);
	return block == UINT64_MAX && next ? free_from(m, 0) : block;
}

uint64_t fio_map_mark(struct fio_map *m, uint64_t block, uint64_t count)
{
	for (uint64_t i = 0; i < count; i++, block++) {
		if (block >= m->n)
			continue; /* a part of a block at the end of the file */
		if (fio_map_done(m, block))
			return i;
		m->words[block / 64] |= UINT64_C(1) << (block % 64);
		if (m->words[block / 64] == UINT64_MAX ||
		    (block / 64 == nr_words(m->n) - 1 && m->n % 64 &&
		     m->words[block / 64] == (UINT64_C(1) << m->n % 64) - 1))
			m->full[block / 64 / 64] |= UINT64_C(1) << (block / 64 % 64);
	}
	return count;
}

/* ---- shift register ---- */

/*
 * Feedback taps of maximal registers of 3, 4, ... bits, bit i for stage i + 1. Source: P. Alfke,
 * "Efficient shift registers, LFSR counters, and long pseudo-random sequence generators" (1996).
 */
static const uint64_t lfsr_taps[] = {
	0x6,	       0xc,	      0x14,	      0x30,	      0x60,
	0xb8,	       0x110,	      0x240,	      0x500,	      0x829,
	0x100d,	       0x2015,	      0x6000,	      0xd008,	      0x12000,
	0x20400,       0x40023,	      0x90000,	      0x140000,	      0x300000,
	0x420000,      0xe10000,      0x1200000,      0x2000023,      0x4000013,
	0x9000000,     0x14000000,    0x20000029,     0x48000000,     0xd0000001,
	0x100080000,   0x204000003,   0x500000000,    0x801000000,    0x100000001f,
	0x2000000031,  0x4400000000,  0xa000140000,   0x12000000000,  0x300000c0000,
	0x63000000000, 0xc0000030000, 0x1b0000000000, 0x300003000000, 0x420000000000,
	0xc00000180000
};

bool fio_lfsr_init(struct fio_lfsr *l, uint64_t blocks, uint64_t seed)
{
	unsigned bits = 3;

	while (bits - 3 < G_N_ELEMENTS(lfsr_taps) && UINT64_C(1) << bits <= blocks)
		bits++;
	if (bits - 3 >= G_N_ELEMENTS(lfsr_taps) || blocks == 0)
		return false;
	*l = (struct fio_lfsr){
		.xormask = lfsr_taps[bits - 3],
		.top_bit = UINT64_C(1) << (bits - 1),
		.max = blocks - 1,
		.seed = seed,
	};
	return fio_lfsr_reset(l);
}

bool fio_lfsr_reset(struct fio_lfsr *l)
{
	uint64_t mask = (l->top_bit << 1) - 1;

	l->count = 0;
	l->last = l->seed & mask;
	return l->last != mask; /* all ones is the state that is never left */
}

static void lfsr_step(struct fio_lfsr *l)
{
	uint64_t flip = l->last & 1 ? 0 : l->xormask;

	l->last = (l->last >> 1 | l->top_bit) ^ flip;
}

bool fio_lfsr_next(struct fio_lfsr *l, uint64_t *ret)
{
	if (l->count++ > l->max)
		return false;
	if (!l->started) { /* fio takes two steps at the very first number */
		l->started = true;
		lfsr_step(l);
	}
	do
		lfsr_step(l);
	while (l->last > l->max);
	*ret = l->last;
	return true;
}

/* ---- Bob Jenkins' hash of a name (public domain), on single bytes of each word as fio has it ----
 */

static uint32_t rol(uint32_t x, unsigned n)
{
	return x << n | x >> (32 - n);
}

static void hash_mix(uint32_t h[3])
{
	static const uint8_t turns[6] = { 4, 6, 8, 16, 19, 4 };

	for (int i = 0; i < 6; i++) {
		uint32_t *a = &h[i % 3], *b = &h[(i + 1) % 3], *c = &h[(i + 2) % 3];

		*a -= *c;
		*a ^= rol(*c, turns[i]);
		*c += *b;
	}
}

static void hash_final(uint32_t h[3])
{
	static const uint8_t turns[7] = { 14, 11, 25, 16, 4, 14, 24 };

	for (int i = 0; i < 7; i++) {
		uint32_t *x = &h[(i + 2) % 3], y = h[(i + 1) % 3];

		*x ^= y;
		*x -= rol(y, turns[i]);
	}
}

uint32_t fio_name_hash(const char *name)
{
	const uint8_t *k = (const uint8_t *)name;
	uint32_t length = (uint32_t)strlen(name), h[3];

	h[0] = h[1] = h[2] = 0x61c88647u + length;
	for (; length > 12; length -= 12, k += 12) {
		for (int i = 0; i < 3; i++)
			h[i] += k[4 * i];
		hash_mix(h);
	}
	if (length == 0)
		return h[2];
	for (uint32_t i = 0; i < length; i++)
		h[i / 4] += (uint32_t)k[i] << (i % 4 * 8);
	hash_final(h);
	return h[2];
}
