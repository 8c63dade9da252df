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

/* Fills case.sim, or case.error, of every case. False: error is set (no case was run). */
bool simulate_all(GPtrArray *cases, const struct simulate_options *options, GError **error);
/* Fills case.phases: one run for each of nr times of the first statistics flush in its period. */
bool simulate_phases(GPtrArray *cases, const struct simulate_options *options, unsigned nr,
		     GError **error);

#endif
