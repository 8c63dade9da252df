/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * random_ops.h - random traces of every operation, and random small machines to run them on. The
 * same seed gives the same.
 */
#ifndef PROPERTY_RANDOM_OPS_H
#define PROPERTY_RANDOM_OPS_H

#include <reclaimsim/sim.h>

/* A case: what is run on what. Free with random_case_clear(). */
struct random_case {
	char *trace; /* path of the trace, a temporary file */
	struct rs_scenario *scenario;
	GString *settings; /* as options of `reclaimsim run`, for messages */
	const char *kernel, *policy;
};

void random_case_make(struct random_case *, uint64_t seed);
void random_case_clear(struct random_case *);

#endif
