/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gen_memtier.h - what a memtier_benchmark command line asks for (internal).
 */
#ifndef TRACES_GEN_MEMTIER_H
#define TRACES_GEN_MEMTIER_H

#include "traces/gen.h"

#define MEMTIER_MAX_COMMANDS 32

struct memtier_command {
	bool set;
	uint64_t ratio;
	char pattern; /* G R S P Z */
};

struct memtier_size {
	uint64_t bytes, weight;
};

struct memtier {
	unsigned line;
	bool memcached;
	struct memtier_command commands[MEMTIER_MAX_COMMANDS]; /* done in turn, ratio times each */
	unsigned nr_commands;
	bool own_commands; /* --command was given */
	uint64_t key_min, key_max, clients, threads, requests, test_time, pipeline, rate_limit;
	bool all_keys, distinct_seed, pipeline_given, requests_given;
	char *key_prefix;
	double stddev, median, zipf;
	uint64_t size, size_min, size_max, size_list_sum;
	GArray *size_list; /* struct memtier_size */
	bool size_by_key;  /* --data-size-pattern=S */
	uint64_t expiry_min, expiry_max;
};

bool memtier_parse(struct gen *, struct memtier *, const char *const *words, const char *name,
		   unsigned line);
void memtier_clear(struct memtier *);
uint64_t memtier_nr_keys(const struct memtier *);
uint64_t memtier_per_client(const struct memtier *); /* requests; UINT64_MAX: by time */

#endif
