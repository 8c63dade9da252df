/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * compare.h - the rules, and what the cases give under them.
 */
#ifndef FIDELITY_COMPARE_H
#define FIDELITY_COMPARE_H

#include "truth.h"

/* When a value is right: within the largest of per cent of the mean, 1.5 half ranges, and floor. */
struct tolerance {
	unsigned classes; /* enum obs_class; 0 ends a list */
	const char *title;
	double percent;
	int64_t floor;
	double need_total,
		need_each; /* per cent of right values: in total, per kernel and policy */
};

struct rule {
	const char *name;
	int64_t min_events; /* values count when kernel or simulator has more */
	bool marks;	    /* snapshots at marks count as well as the end */
	struct tolerance tolerance[4];
	/* Two policies on one kernel: judged where they differ by more than this, per cent. */
	double difference_percent;
	double difference_points; /* how far the relative difference may be off; 0: sign only */
	double need_difference;	  /* per cent of these that must be within the points */
};

const struct rule *rule_find(const char *name); /* NULL: no such rule */
const char *rule_names(void);

/* Repeats of one value. */
struct spread {
	double mean, half_range;
	int64_t min, max;
	bool present;
};
struct spread spread_of(const struct truth_case *c, guint snapshot, unsigned counter);

struct row {
	const struct truth_case *c;
	const char *snapshot;
	const struct tolerance *tolerance;
	unsigned counter;
	struct spread kernel;
	int64_t sim;
	double badness; /* error as a part of what is allowed: right up to 1 */
	bool at_end;
};
/* struct row, worst first. */
GArray *compare_rows(const GPtrArray *cases, const struct rule *rule);

/* The relative difference of a policy to its baseline, per cent of the baseline. */
struct difference_row {
	const struct truth_case *base, *other;
	unsigned counter;
	double kernel, sim, spread; /* per cent */
	bool sign_wrong, size_wrong;
};
/* struct difference_row: classic to MGLRU, and an own kernel's MGLRU to its patched one. */
GArray *compare_differences(const GPtrArray *cases, const struct rule *rule);

#endif
