/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * trace_random.h - small random traces for the differential test, the same for the same seed.
 */
#ifndef TRACE_RANDOM_H
#define TRACE_RANDOM_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

/* Sizes in pages, 0 = none of it; shares in per cent of the operations. */
struct trace_shape {
	uint32_t anon, mapped, exec, data;			 /* sizes */
	uint32_t map_share, exec_share, read_share, write_share; /* the rest goes to anon */
	uint32_t store_share;					 /* of the accesses to anon */
	uint32_t max_read;					 /* pages of one read */
	uint32_t skew;	      /* page = the least of this many draws: 1 is uniform */
	uint32_t unmap_every; /* operations between two unmaps of the anonymous region, 0 = never */
	uint32_t sync_every;  /* operations between two fdatasync, 0 = never */
	bool place; /* regions begin at 1 GiB boundaries instead of where mmap() puts them */
	uint32_t nr_ops;
};

GString *trace_random(const struct trace_shape *shape, uint64_t seed);

#endif
