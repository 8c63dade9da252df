/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * timeline.h - run --timeline: what went on when, in the format of Chrome's trace events, which
 * Perfetto and chrome://tracing show.
 */
#ifndef TOOLS_TIMELINE_H
#define TOOLS_TIMELINE_H

#include <reclaimsim/sim.h>
#include <reclaimsim/timeline.h>

struct timeline_file;

struct timeline_file *timeline_file_new(const char *path, const char *trace, const char *policy,
					const struct rs_scenario *, GError **error);
void timeline_file_start(struct timeline_file *, struct rs_sim *);
/* The file appears. Frees. */
bool timeline_file_finish(struct timeline_file *, GError **error);
void timeline_file_abort(struct timeline_file *); /* may be NULL */

#endif
