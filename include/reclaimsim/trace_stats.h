/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * trace_stats.h - what a trace holds: records, footprint, and how an LRU memory would do on it.
 */
#ifndef RECLAIMSIM_TRACE_STATS_H
#define RECLAIMSIM_TRACE_STATS_H

#include <reclaimsim/trace.h>

/* Page accesses through mappings and calls; of the trace, a region, a file or a process. */
struct rs_trace_use {
	uint64_t loads, stores;
	uint64_t read_calls, read_pages, write_calls, written_pages;
	uint64_t pages; /* different ones touched (not of processes) */
};

struct rs_trace_mark {
	uint32_t name;
	uint64_t op; /* records before it, RS_OP_FILE not counted */
};

/*
 * Demand misses and reuse distances as in opt.h: first touches of anonymous pages and whole-page
 * writes cost nothing. With a sample rate below 1, misses, reuse and pages are estimates.
 */
struct rs_trace_stats {
	uint64_t records[RS_NR_OPS], nr_records;
	struct rs_trace_use all;
	uint64_t anon_pages, file_pages, first_touches, zero_loads;
	GArray *regions, *files, *processes; /* struct rs_trace_use, by number */
	GArray *marks;			     /* struct rs_trace_mark */
	uint32_t nr_threads;
	ns_t time_ns;		       /* the latest RS_OP_TIME */
	uint32_t sample;	       /* 1 of so many pages was followed */
	uint64_t touches, cold_misses; /* page touches; those of file pages never met before */
	GArray *distances; /* uint64_t: touches at each reuse distance that would cost a read */
	GArray *free_distances; /* and of those that would not */
};

/* Read the trace to its end. sample: 1 = exact; n = follow one of n pages. */
bool rs_trace_stats(struct rs_trace *, uint32_t sample, struct rs_trace_stats *ret, GError **);
/* Demand misses of an LRU memory of that many pages. */
uint64_t rs_trace_lru_misses(const struct rs_trace_stats *, uint64_t pages);
void rs_trace_stats_clear(struct rs_trace_stats *);

#endif
