/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * verdict.h - how many values are right, in total and for each kernel and policy.
 */
#ifndef FIDELITY_VERDICT_H
#define FIDELITY_VERDICT_H

#include "compare.h"

struct tally {
	char *group; /* "6.12 classic", "own-exec 7.2 mglru"; "total" comes last */
	const struct tolerance *tolerance;
	unsigned nr, right;
	double need; /* per cent; 0: nothing is asked */
	bool enough;
};

/* struct tally, by tolerance and group; free with verdict_free(). */
GArray *verdict_of(const GArray *rows, const struct rule *rule, bool end_only);
void verdict_free(GArray *tallies);
bool verdict_enough(const GArray *tallies);
bool differences_enough(const GArray *differences, const struct rule *rule);

#endif
