/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * test_gen_dist.c - the random ranks follow the distributions that they are named after.
 *
 * Draws are counted in bins and compared with exact probabilities by a chi-square test with
 * GSL's distribution functions. Seeds are fixed, so a test passes always or never.
 */
#include "lib/cm.h"

#include <math.h>
#include <stdlib.h>

#include "traces/gen_dist.h"
#include "traces/gen_fio_rand.h"
#include "traces/gen_math.h"

#ifdef HAVE_GSL
#include <gsl/gsl_cdf.h>
#include <gsl/gsl_sf_zeta.h>
#endif

#define DRAWS 150000u
#define BINS 64u

#ifdef HAVE_GSL
/* Chi-square of counts against probabilities; p-value of a fit as bad or worse. */
static double p_value(const uint64_t *count, const double *p, unsigned n, uint64_t draws)
{
	double chi2 = 0, expected = 0, seen = 0;
	unsigned merged = 0;

	/* Bins of less than 10 expected draws are joined with the next; the last takes the rest. */
	for (unsigned i = 0; i < n; i++) {
		expected += p[i] * (double)draws;
		seen += (double)count[i];
		if (expected < 10 && i + 1 < n)
			continue;
		if (expected > 0)
			chi2 += (seen - expected) * (seen - expected) / expected;
		expected = seen = 0;
		merged++;
	}
	assert_true(merged > 1);
	return gsl_cdf_chisq_Q(chi2, merged - 1);
}

static void draw(struct gen_dist *d, uint64_t seed, uint64_t *count, unsigned bins)
{
	struct rs_rng rng;

	rs_rng_init(&rng, seed, "test");
	memset(count, 0, bins * sizeof(*count));
	for (unsigned i = 0; i < DRAWS; i++) {
		uint64_t rank = gen_dist_next(d, &rng);

		assert_true(rank < d->n);
		count[rank < bins - 1 ? rank : bins - 1]++;
	}
}

/* The first bins - 1 ranks one by one, the rest in one bin. */
static void zipf_probabilities(uint64_t n, double theta, double *p, unsigned bins)
{
	double sum = 0, tail = 1;

	if (theta > 1 && n > 1000000)
		sum = gsl_sf_hzeta(theta, 1) - gsl_sf_hzeta(theta, (double)n + 1);
	else
		for (uint64_t k = n; k >= 1; k--)
			sum += pow((double)k, -theta);
	for (unsigned i = 0; i + 1 < bins; i++) {
		p[i] = pow(i + 1.0, -theta) / sum;
		tail -= p[i];
	}
	p[bins - 1] = tail;
}

static void zipf_ranks_have_their_probabilities(void **state)
{
	static const double thetas[] = { 0, 0.2, 0.5, 0.9, 0.99, 1, 1.01, 1.2, 2, 3 };
	static const uint64_t sizes[] = { 100, 5000, 300000 };

	for (unsigned t = 0; t < G_N_ELEMENTS(thetas); t++)
		for (unsigned s = 0; s < G_N_ELEMENTS(sizes); s++) {
			/* Few bins where single ranks are rare. */
			unsigned bins = sizes[s] == 100	  ? 20
					: thetas[t] < 0.5 ? 2
					: thetas[t] > 1.5 ? 12
							  : 32;
			uint64_t count[BINS];
			double p[BINS], value;
			struct gen_dist d;

			if (thetas[t] < 0.5 && sizes[s] > 5000)
				continue;
			gen_dist_zipf(&d, sizes[s], thetas[t]);
			draw(&d, 11 * t + s, count, bins);
			zipf_probabilities(sizes[s], thetas[t], p, bins);
			value = p_value(count, p, bins, DRAWS);
			if (value < 1e-4)
				fail_msg("zipf %g of %lu: p = %g", thetas[t],
					 (unsigned long)sizes[s], value);
		}
}

static void zipf_over_a_huge_range_has_its_probabilities(void **state)
{
	uint64_t count[BINS];
	double p[BINS];
	struct gen_dist d;

	gen_dist_zipf(&d, UINT64_C(1) << 40, 1.1);
	draw(&d, 3, count, 40);
	zipf_probabilities(UINT64_C(1) << 40, 1.1, p, 40);
	assert_true(p_value(count, p, 40, DRAWS) > 1e-4);
}

static void uniform_ranks_are_equally_likely(void **state)
{
	uint64_t count[BINS] = { 0 };
	double p[BINS];
	struct gen_dist d;

	gen_dist_uniform(&d, 61);
	draw(&d, 5, count, 61);
	for (unsigned i = 0; i < 61; i++)
		p[i] = 1.0 / 61;
	assert_true(p_value(count, p, 61, DRAWS) > 1e-4);
}

static void pareto_follows_its_power_law(void **state)
{
	static const double hs[] = { 0.1, 0.2, 0.3, 0.5, 0.8 };

	for (unsigned k = 0; k < G_N_ELEMENTS(hs); k++) {
		uint64_t count[BINS];
		double p[BINS], power = log(1 - hs[k]) / log(hs[k]);
		struct gen_dist d;

		gen_dist_pareto(&d, 40, hs[k]);
		draw(&d, 70 + k, count, 40);
		for (unsigned i = 0; i < 40; i++)
			p[i] = pow((i + 1) / 40.0, power) - pow(i / 40.0, power);
		assert_true(p_value(count, p, 40, DRAWS) > 1e-4);
	}
}

static void normal_is_the_bell_cut_at_both_ends(void **state)
{
	static const double mean[] = { 25, 40, 3 }, deviation[] = { 8, 30, 10 };

	for (unsigned k = 0; k < G_N_ELEMENTS(mean); k++) {
		uint64_t count[BINS];
		double p[BINS], all, low = gsl_cdf_gaussian_P(-mean[k], deviation[k]);
		struct gen_dist d;
		unsigned n = 50;

		all = gsl_cdf_gaussian_P(n - mean[k], deviation[k]) - low;
		gen_dist_normal(&d, n, mean[k], deviation[k]);
		draw(&d, 90 + k, count, n);
		for (unsigned i = 0; i < n; i++)
			p[i] = (gsl_cdf_gaussian_P(i + 1 - mean[k], deviation[k]) -
				gsl_cdf_gaussian_P(i - mean[k], deviation[k])) /
			       all;
		assert_true(p_value(count, p, n, DRAWS) > 1e-4);
	}
}

static void hot_set_gets_its_share(void **state)
{
	uint64_t count[BINS];
	double p[BINS];
	struct gen_dist d;

	gen_dist_hotset(&d, 50, 10, 0.8);
	draw(&d, 7, count, 50);
	for (unsigned i = 0; i < 50; i++)
		p[i] = i < 10 ? 0.08 : 0.005;
	assert_true(p_value(count, p, 50, DRAWS) > 1e-4);
}

/*
 * fio's method approximates zipf: after two exact ranks, rank k - 1 holds the numbers u with
 * k - 1 <= n (eta u - eta + 1)^alpha < k.
 */
static void fio_zipf_ranks_follow_its_formula(void **state)
{
	const uint64_t n = 4096;
	enum { bins = 30 };
	uint64_t count[bins] = { 0 };
	double p[bins], edge[bins + 1];
	struct fio_dist d;

	fio_dist_init(&d, FIO_DIST_ZIPF, n, 1.2, 0, 99);
	d.no_hash = true;
	for (unsigned i = 0; i < DRAWS; i++) {
		uint64_t rank = fio_dist_next(&d);

		count[MIN(rank, bins - 1)]++;
	}
	edge[0] = 0;
	edge[1] = 1 / d.zeta_n;
	edge[2] = d.zeta2 / d.zeta_n;
	for (unsigned k = 3; k < bins; k++)
		edge[k] = (pow((double)k / (double)n, 1 / d.alpha) - 1 + d.eta) / d.eta;
	edge[bins] = 1;
	for (unsigned i = 0; i < bins; i++)
		p[i] = edge[i + 1] - edge[i];
	assert_true(p_value(count, p, bins, DRAWS) > 1e-4);
}
#endif

static void logarithms_and_powers_agree_with_the_c_library(void **state)
{
	struct rs_rng rng;

	rs_rng_init(&rng, 1, "math");
	for (int i = 0; i < 100000; i++) {
		double x = exp((rs_rng_double(&rng) - 0.5) * 40),
		       y = (rs_rng_double(&rng) - 0.5) * 10;

		assert_true(fabs(gen_pow(x, y) / pow(x, y) - 1) < 4e-16);
		assert_true(fabs(gen_log(x) - log(x)) <= 2.3e-16 * fabs(log(x)) + 1e-300);
		assert_true(fabs(gen_exp(y) / exp(y) - 1) < 4e-16);
	}
	assert_true(gen_pow(0, 0.3) == 0);
	assert_true(gen_pow(5, 0) == 1);
	assert_true(gen_powm1_over(7, 0) == gen_log(7));
}

/* Fixed values: they must be the same on every platform and never change. */
static void sequences_are_fixed(void **state)
{
	struct gen_dist d;
	struct rs_rng rng;
	struct fio_rand r;
	uint64_t sum = 0;

	rs_rng_init(&rng, 42, "fixed");
	gen_dist_zipf(&d, 1000000, 0.9);
	for (int i = 0; i < 100000; i++)
		sum = sum * 31 + gen_dist_next(&d, &rng);
	gen_dist_normal(&d, 1000, 300, 50);
	for (int i = 0; i < 100000; i++)
		sum = sum * 31 + gen_dist_next(&d, &rng);
	gen_dist_pareto(&d, 1000, 0.2);
	for (int i = 0; i < 100000; i++)
		sum = sum * 31 + gen_dist_next(&d, &rng);
	assert_int_equal(sum, UINT64_C(0x1ed7241c0451ec81));
	/* Seeded as in fio 3.33. */
	fio_rand_init(&r, 1, false);
	assert_int_equal(fio_rand_next(&r), 2634262343);
	fio_rand_init(&r, 1, true);
	assert_int_equal(fio_rand_next(&r), UINT64_C(0x9a715e32609bf724));
}

static void scatter_is_a_permutation(void **state)
{
	static const uint64_t sizes[] = { 1, 2, 3, 100, 4096, 5000 };
	struct rs_rng rng;

	rs_rng_init(&rng, 9, "scatter");
	for (unsigned s = 0; s < G_N_ELEMENTS(sizes); s++) {
		g_autofree bool *seen = g_new0(bool, sizes[s]);
		struct gen_scatter sc;

		gen_scatter_init(&sc, sizes[s], &rng);
		for (uint64_t i = 0; i < sizes[s]; i++) {
			uint64_t x = gen_scatter(&sc, i);

			assert_true(x < sizes[s]);
			assert_false(seen[x]);
			seen[x] = true;
		}
	}
}

static void a_random_map_gives_every_block_once(void **state)
{
	struct fio_map *m = fio_map_new(1000);
	struct fio_rand r;
	unsigned n = 0;

	fio_rand_init(&r, 5, false);
	for (;;) {
		uint64_t b = fio_rand_scaled(&r, 1000);

		if (fio_map_done(m, b))
			b = fio_map_next_free(m, b);
		if (b == UINT64_MAX)
			break;
		assert_int_equal(fio_map_mark(m, b, 1), 1);
		assert_int_equal(fio_map_mark(m, b, 1), 0);
		n++;
	}
	assert_int_equal(n, 1000);
	fio_map_reset(m);
	assert_int_equal(fio_map_mark(m, 500, 8), 8);
	assert_int_equal(fio_map_mark(m, 495, 8), 5);
	assert_int_equal(fio_map_next_free(m, 999), 0);
	fio_map_free(m);
}

static void a_shift_register_gives_every_block_once(void **state)
{
	static const uint64_t sizes[] = { 5, 8, 100, 1023, 1024, 4097 };

	for (unsigned s = 0; s < G_N_ELEMENTS(sizes); s++) {
		g_autofree bool *seen = g_new0(bool, sizes[s]);
		struct fio_lfsr l;
		uint64_t x, n = 0;

		assert_true(fio_lfsr_init(&l, sizes[s], 12345 + s));
		while (fio_lfsr_next(&l, &x)) {
			assert_true(x < sizes[s]);
			seen[x] = true;
			n++;
		}
		assert_int_equal(n, sizes[s]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#ifdef HAVE_GSL
		cmocka_unit_test(zipf_ranks_have_their_probabilities),
		cmocka_unit_test(zipf_over_a_huge_range_has_its_probabilities),
		cmocka_unit_test(uniform_ranks_are_equally_likely),
		cmocka_unit_test(pareto_follows_its_power_law),
		cmocka_unit_test(normal_is_the_bell_cut_at_both_ends),
		cmocka_unit_test(hot_set_gets_its_share),
		cmocka_unit_test(fio_zipf_ranks_follow_its_formula),
#endif
		cmocka_unit_test(logarithms_and_powers_agree_with_the_c_library),
		cmocka_unit_test(sequences_are_fixed),
		cmocka_unit_test(scatter_is_a_permutation),
		cmocka_unit_test(a_random_map_gives_every_block_once),
		cmocka_unit_test(a_shift_register_gives_every_block_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
