/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * simulate.h - runs of the simulator: one here, or many in processes of their own.
 */
#ifndef TOOLS_SIMULATE_H
#define TOOLS_SIMULATE_H

#include <reclaimsim/sim.h>

#include <jansson.h>

/*
 * One trace under one policy ("opt": the clairvoyant bound); the result's JSON text; g_free(). A
 * trace that is a generator's spec (JSON) is generated with the scenario's seed first.
 */
char *simulate(const char *trace, const struct rs_scenario *scenario, const char *policy,
	       GError **error);

/* A JSON object, not a trace: the description of a load, to be generated with the run's seed. */
bool simulate_is_spec(const char *path);
/* Generated into a temporary file; unlink, g_free(). */
char *simulate_generate(const char *spec, const struct rs_scenario *scenario, GError **error);
/* The same with somebody looking on, see tools/observe.h and timeline.h; both may be NULL. */
struct observing;
struct timeline_file;
char *simulate_observed(const char *trace, const struct rs_scenario *scenario, const char *policy,
			struct observing *observing, struct timeline_file *timeline,
			GError **error);

struct job {
	const char *trace, *policy;
	const struct rs_scenario *scenario;
	uint64_t number; /* the caller's */
	void *data;	 /* the caller's */
	/* afterwards: the result's text, or why there is none */
	char *text;
	GError *error;
};

/*
 * A pool of processes, at most parallel at once (0: as many as CPUs). next() gives a job or says
 * that there are no more; done() takes over the finished job's text or error.
 */
typedef bool (*job_next)(void *arg, struct job *ret);
typedef void (*job_done)(void *arg, struct job *job);
void simulate_pool(unsigned parallel, job_next next, job_done done, void *arg);

/* --progress; a row for tables of options. Checked by parse_parallel(). */
extern char *progress_option;
#define PROGRESS_OPTION                                                                            \
	{                                                                                          \
		"progress", 0, 0, G_OPTION_ARG_STRING, &progress_option,                           \
			"auto (on a terminal, the default), always or never", "WHEN"               \
	}

/* "sweep: 3 of 20 runs done" on standard error, as --progress says. */
void simulate_progress(bool progress, uint64_t done, uint64_t nr);

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
