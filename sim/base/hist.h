/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hist.h - a histogram of durations with buckets as fio's: each power of two has 32 buckets of
 * equal width, so that every value is known to about 3 %; below 64 exactly.
 */
#ifndef SIM_BASE_HIST_H
#define SIM_BASE_HIST_H

#include <reclaimsim/types.h>

#define RS_HIST_BITS 5u
#define RS_HIST_BUCKETS ((64u - RS_HIST_BITS + 1) << RS_HIST_BITS)

struct rs_hist {
	uint64_t n, sum, min, max; /* min, max: 0 while it is empty */
	uint64_t count[RS_HIST_BUCKETS];
};

void rs_hist_add(struct rs_hist *, uint64_t value);
unsigned rs_hist_bucket(uint64_t value);
uint64_t rs_hist_first(unsigned bucket); /* smallest value of the bucket */
uint64_t rs_hist_last(unsigned bucket);	 /* largest */
/*
 * The value that per_mille of all values do not exceed, up to the width of its bucket above. 0
 * while it is empty.
 */
uint64_t rs_hist_percentile(const struct rs_hist *, unsigned per_mille);

#endif
