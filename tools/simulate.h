/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * simulate.h - runs of the simulator: one here, or many in processes of their own.
 */
#ifndef TOOLS_SIMULATE_H
#define TOOLS_SIMULATE_H

#include <reclaimsim/sim.h>

#include <jansson.h>

/* One trace under one policy ("opt": the clairvoyant bound); the result's JSON text; g_free(). */
char *simulate(const char *trace, const struct rs_scenario *scenario, const char *policy,
	       GError **error);

struct job {
	const char *trace, *policy;
	const struct rs_scenario *scenario;
	/* afterwards: the result's text, or why there is none */
	char *text;
	GError *error;
};

/*
 * Run them all, at most parallel at once (0: as many as CPUs), each in a process of its own: a
 * crash takes only its own run along. progress: count finished jobs on standard error. Jobs that
 * failed have error set; true if none did.
 */
bool simulate_all(struct job *jobs, unsigned nr, unsigned parallel, bool progress);
void jobs_clear(struct job *jobs, unsigned nr);

/* Several runs read the trace: standard input is copied to a file first. g_free(), then unlink. */
char *simulate_spool_stdin(GError **error);

/* -j N; 0 if text is NULL. */
bool parse_parallel(const char *text, unsigned *ret, GError **error);

#endif
