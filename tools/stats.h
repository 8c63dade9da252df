/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stats.h - what a comparison over seeds may claim.
 *
 * Runs are paired: both policies saw the same trace, machine and seed. The mean of the differences
 * is resampled (bootstrap); rows of one table are corrected together (Holm).
 */
#ifndef TOOLS_STATS_H
#define TOOLS_STATS_H

#include <stdbool.h>
#include <stdint.h>

#define STATS_RESAMPLES 10000u

struct interval {
	double mean, low, high; /* 95 % */
	double p;		/* two-sided, of mean == 0; not below 1 / STATS_RESAMPLES */
};

double stats_mean(const double *x, unsigned n);
double stats_deviation(const double *x, unsigned n); /* sample; 0 if n < 2 */
/* Bootstrap of the mean of x; same input, same numbers. */
struct interval stats_bootstrap(const double *x, unsigned n);
/* Holm: significant[i] says whether p[i] holds among all n at level alpha. */
void stats_holm(const double *p, bool *significant, unsigned n, double alpha);

#endif
