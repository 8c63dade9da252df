/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hist.c - see hist.h.
 */
#include "sim/base/hist.h"

#include <glib.h>

#define SUB (1u << RS_HIST_BITS)

unsigned rs_hist_bucket(uint64_t value)
{
	unsigned shift;

	if (value < SUB)
		return (unsigned)value;
	shift = 63u - (unsigned)__builtin_clzll(value) - RS_HIST_BITS;
	return (shift << RS_HIST_BITS) + (unsigned)(value >> shift);
}

uint64_t rs_hist_first(unsigned bucket)
{
	unsigned shift = bucket < 2 * SUB ? 0 : (bucket >> RS_HIST_BITS) - 1;

	return (uint64_t)(bucket - (shift << RS_HIST_BITS)) << shift;
}

uint64_t rs_hist_last(unsigned bucket)
{
	return bucket + 1 < RS_HIST_BUCKETS ? rs_hist_first(bucket + 1) - 1 : UINT64_MAX;
}

void rs_hist_add(struct rs_hist *h, uint64_t value)
{
	h->min = h->n ? MIN(h->min, value) : value;
	h->max = MAX(h->max, value);
	h->n++;
	h->sum += value;
	h->count[rs_hist_bucket(value)]++;
}

uint64_t rs_hist_percentile(const struct rs_hist *h, unsigned per_mille)
{
	uint64_t rank = h->n / 1000 * per_mille + (h->n % 1000 * per_mille + 999) / 1000, seen = 0;

	rank = MAX(rank, 1);
	for (unsigned b = 0; h->n && b < RS_HIST_BUCKETS; b++) {
		seen += h->count[b];
		if (seen >= rank)
			return MIN(rs_hist_last(b), h->max);
	}
	return 0;
}
