/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * yardstick.h - the two speeds that replay is measured against, and a clock.
 *
 * Yardstick 1 sets a bit in a flat array for every page number of an array in memory. Yardstick 2
 * decodes a native trace from a file and does the same.
 */
#ifndef TESTS_BENCH_YARDSTICK_H
#define TESTS_BENCH_YARDSTICK_H

#include <reclaimsim/trace.h>

double bench_seconds(void); /* CPU time of the process: other load does not count */

/*
 * Write a trace of one anonymous region: stores to every page in order, then nr_accesses accesses
 * zipf(exponent) over shuffled ranks, 30 % stores. False: message on standard error.
 */
bool bench_write_zipf(const char *path, uint32_t pages, uint32_t nr_accesses, double exponent);

struct bench_speed {
	uint64_t accesses;
	double seconds; /* the best of the repeats */
};

/* From page numbers in memory; they are read from the trace first, outside the clock. */
bool yardstick_memory(const char *path, unsigned repeats, struct bench_speed *ret);
/* From the trace, file cache warm. */
bool yardstick_decode(const char *path, unsigned repeats, struct bench_speed *ret);

#endif
