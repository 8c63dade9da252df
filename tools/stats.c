/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stats.c - mean, bootstrap interval, Holm's correction.
 */
#include "tools/stats.h"
#include "sim/base/rng.h"

#include <glib.h>
#include <math.h>

double stats_mean(const double *x, unsigned n)
{
	double sum = 0;

	for (unsigned i = 0; i < n; i++)
		sum += x[i];
	return n ? sum / n : 0;
}

double stats_deviation(const double *x, unsigned n)
{
	double mean = stats_mean(x, n), sum = 0;

	if (n < 2)
		return 0;
	for (unsigned i = 0; i < n; i++)
		sum += (x[i] - mean) * (x[i] - mean);
	return sqrt(sum / (n - 1));
}

static int compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

struct interval stats_bootstrap(const double *x, unsigned n)
{
	struct interval result = { .mean = stats_mean(x, n), .p = 1 };
	double *means = g_new(double, STATS_RESAMPLES);
	unsigned not_above = 0, not_below = 0;
	struct rs_rng rng;

	rs_rng_init(&rng, 1, "bootstrap");
	for (unsigned r = 0; r < STATS_RESAMPLES; r++) {
		double sum = 0;

		for (unsigned i = 0; i < n; i++)
			sum += x[rs_rng_below(&rng, n)];
		means[r] = sum / n;
		not_above += means[r] <= 0;
		not_below += means[r] >= 0;
	}
	qsort(means, STATS_RESAMPLES, sizeof(*means), compare_doubles);
	result.low = means[STATS_RESAMPLES / 40];
	result.high = means[STATS_RESAMPLES - 1 - STATS_RESAMPLES / 40];
	result.p = MIN(1.0, 2.0 * MAX(MIN(not_above, not_below), 1) / STATS_RESAMPLES);
	g_free(means);
	return result;
}

void stats_holm(const double *p, bool *significant, unsigned n, double alpha)
{
	unsigned left = n;

	for (unsigned i = 0; i < n; i++)
		significant[i] = false;
	for (; left; left--) {
		int best = -1;

		for (unsigned i = 0; i < n; i++) {
			if (!significant[i] && (best < 0 || p[i] < p[best]))
				best = (int)i;
		}
		if (p[best] > alpha / left)
			return;
		significant[best] = true;
	}
}
