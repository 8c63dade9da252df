/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gen_mix.h - a spec of the generator "mix" in memory (internal).
 */
#ifndef TRACES_GEN_MIX_H
#define TRACES_GEN_MIX_H

#include "traces/gen.h"
#include "traces/gen_dist.h"

enum mix_pattern { MIX_DIST, MIX_SCAN, MIX_LOOP, MIX_STRIDE, MIX_CHASE, MIX_GROW };

struct mix_file {
	char *name;
	uint64_t pages;
	bool is_new;
	uint32_t id;
};

struct mix_region {
	char *name;
	int file; /* index into files, -1 = anonymous */
	uint32_t prot;
	uint64_t pages, pgoff;
	bool populate;
	int advice; /* enum rs_advice, -1 none */
};

/* One stream of accesses within a phase. */
struct mix_stream {
	int region, file; /* one of the two, else -1 */
	enum mix_pattern pattern;
	struct gen_dist dist;
	bool scatter;
	double weight, write;
	uint64_t first, pages; /* the part it goes to */
	uint64_t unit, stride, shift;
};

struct mix_phase {
	char *name;
	struct mix_stream *streams;
	unsigned nr_streams;
	double weights;
	uint64_t accesses; /* UINT64_MAX: until all scans and growing are through */
	uint64_t repeat;
	ns_t duration, think, sleep, cost;
	bool mark;
	int *unmap; /* regions, by index */
	unsigned nr_unmap;
	int fsync; /* file, -1 none */
};

struct mix_process {
	char *name, *memcg;
	uint64_t count, threads;
	struct mix_region *regions;
	unsigned nr_regions;
	struct mix_phase *phases;
	unsigned nr_phases;
	ns_t start;
};

struct mix {
	struct mix_file *files;
	unsigned nr_files;
	struct mix_process *processes;
	unsigned nr_processes;
	ns_t quantum;
};

bool mix_parse(struct gen *, struct mix *, struct gen_object *root);
void mix_clear(struct mix *);

#endif
