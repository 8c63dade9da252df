/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * simulate.h - runs the simulator on cases, as a program of its own, a few at a time.
 */
#ifndef FIDELITY_SIMULATE_H
#define FIDELITY_SIMULATE_H

#include "truth.h"

struct simulate_options {
	const char *binary, *data, *machine;
	char **settings; /* more KEY=VALUE for every run; may be NULL */
	unsigned jobs, timeout_s;
};

/* What differs between two boots of one guest. */
struct boot {
	gint64 phase_ns; /* when statistics are first flushed; below 0: as the machine file says */
	guint slow_percent; /* of the machine file's costs; 0: as it says */
	/* Pages above the trace's regions: random in every boot; decides which share a page table.
	 */
	gint64 layout_pages;
};

/* Fills case.sim, or case.error, of every case. False: error is set (no case was run). */
bool simulate_all(GPtrArray *cases, const struct simulate_options *options, GError **error);
/*
 * Fills case.phases: one run for each of nr boots. They differ in the time of the first statistics
 * flush within its period, in speed (repeats of one run differ by a factor of two in wall time:
 * truth/README.md, wall_s), and in where the address space of the trace begins in a page table.
 */
bool simulate_phases(GPtrArray *cases, const struct simulate_options *options, unsigned nr,
		     GError **error);
/*
 * Fills case.sim with the mean over nr boots of one speed, as the kernel's value is the mean over
 * its repeats. A boot whose trace did not end (an OOM kill, as the kernel's too) is left out.
 */
bool simulate_boots(GPtrArray *cases, const struct simulate_options *options, unsigned nr,
		    GError **error);

#endif
