/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * timeline.h - what goes on when, as spans on tracks: a track for each thread, CPU and channel of a
 * device, and counters. Nothing here changes what the simulation does; without a listener every
 * report is one test of a pointer.
 */
#ifndef RECLAIMSIM_TIMELINE_H
#define RECLAIMSIM_TIMELINE_H

#include <reclaimsim/types.h>

struct rs_sim;

/* Groups of tracks; processes of the trace come behind them, each with its threads. */
enum rs_track_group {
	RS_TRACK_KERNEL,
	RS_TRACK_CPUS,
	RS_TRACK_SWAP,
	RS_TRACK_DISK,
	RS_TRACK_MACHINE, /* counters */
	RS_TRACK_PROCESSES
};

enum rs_timeline_kind {
	RS_TIMELINE_TRACK, /* a new track: name and group_name say what it is */
	RS_TIMELINE_BEGIN, /* spans of a thread nest */
	RS_TIMELINE_END,   /* of the innermost one; its values are those of the whole span */
	RS_TIMELINE_WHOLE, /* a span without others inside, told at its end */
	RS_TIMELINE_INSTANT,
	RS_TIMELINE_COUNTER, /* its values hold from now on */
};

struct rs_timeline_value {
	const char *name;
	uint64_t value;
};

struct rs_timeline_event {
	enum rs_timeline_kind kind;
	uint32_t group, track; /* track: number within the group */
	ns_t time, duration;   /* duration: of a WHOLE */
	const char *name, *group_name;
	const char *category; /* "wait.io", "wait.lock", ..., "fault", "reclaim", "io"; static */
	const struct rs_timeline_value *values;
	unsigned nr_values;
};

typedef void rs_timeline_fn(void *arg, const struct rs_timeline_event *);

/* Before the first batch. Events of one track come in order of time, save for WHOLEs. */
void rs_sim_timeline(struct rs_sim *, rs_timeline_fn *, void *arg);

#endif
