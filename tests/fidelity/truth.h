/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * truth.h - the kernels' results: one case per combination of trace, kernel, policy and settings,
 * with its repeats.
 */
#ifndef FIDELITY_TRUTH_H
#define FIDELITY_TRUTH_H

#include "observe.h"

struct truth_case {
	char *key; /* unique; what results are kept under */
	char *trace, *kernel, *lru, *variant;
	bool memcg_mode;
	int64_t limit_pages, swappiness, page_cluster, ra_kb, fault_around, mem_mb;
	char *swap, *disk;
	json_t *zones;	    /* global mode: zones_start of the first repeat */
	GPtrArray *repeats; /* GArray of struct obs_snapshot each */
	/* Filled by simulate.c: */
	GArray *sim;	   /* struct obs_snapshot; NULL: not run, or failed */
	char *error;	   /* why it failed */
	GPtrArray *phases; /* as sim, one per phase of the statistics flush; NULL: not asked for */
};

struct truth_filter {
	char **variants;		  /* NULL: all that are modelled */
	const char *trace, *kernel, *lru; /* glob or NULL */
};

/* Every case below DIR/results (*.json, *.json.zst) that the filter lets through, sorted by key. */
GPtrArray *truth_read(const char *dir, const struct truth_filter *filter, GError **error);
/* The case that differs from this one in lru (and variant) only; NULL: there is none. */
const struct truth_case *truth_partner(const GPtrArray *cases, const struct truth_case *of,
				       const char *variant, const char *lru);

#endif
