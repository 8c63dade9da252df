/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * observe.h - what the suite compares: one list of counters, read the same way from a kernel's
 * result and from the simulator's, since both use the same names (contract, section 4).
 */
#ifndef FIDELITY_OBSERVE_H
#define FIDELITY_OBSERVE_H

#include <glib.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

/* A rule names the classes of counters it judges. */
enum obs_class {
	OBS_CORE = 1u << 0,	/* faults, swap, steals, refaults */
	OBS_ACTIVATE = 1u << 1, /* activations */
	OBS_SCAN = 1u << 2,	/* pages looked at */
	OBS_EXTRA = 1u << 3,	/* shown, judged by no rule */
	OBS_LIST = 1u << 4,	/* sizes of the LRU lists, in pages */
	OBS_GEN = 1u << 5,	/* generations of the multi-gen LRU, in pages, youngest = 0 */
};

struct obs_counter {
	const char *name;
	enum obs_class class;
};

#define OBS_MAX 32u
#define OBS_ABSENT INT64_MIN
extern const struct obs_counter obs_counters[];
extern const unsigned obs_nr_counters;

struct obs_snapshot {
	char *name;
	int64_t op;
	int64_t value[OBS_MAX]; /* OBS_ABSENT where the run does not have it */
};

/* Snapshots of one run, marks first, "end" last: array of struct obs_snapshot. */
GArray *obs_read(const json_t *snapshots, bool memcg_mode);
/* The values as JSON, and back: what is kept of the simulator's results between two commands. */
json_t *obs_save(const GArray *snapshots);
GArray *obs_load(const json_t *saved);

#endif
