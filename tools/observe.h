/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * observe.h - run --watch and --events: the lives of chosen pages, and a log of trace events.
 */
#ifndef TOOLS_OBSERVE_H
#define TOOLS_OBSERVE_H

#include <reclaimsim/observe.h>
#include <reclaimsim/sim.h>

#include <stdio.h>

struct observing;

/*
 * watches: "REGION:PAGE[-PAGE]" or "file:NAME:PAGE[-PAGE]", may be NULL; told to lives. events:
 * file to write, may be NULL. NULL with error set if one of them is no good.
 */
struct observing *observing_new(char **watches, FILE *lives, const char *events, GError **error);
void observing_start(struct observing *, struct rs_sim *);
/* After the run: the sums, and the file of events appears. False: a watch has met nothing. */
bool observing_finish(struct observing *, GError **error);
void observing_free(struct observing *);

/* life.c: what a note says, in words. */
void life_describe(const struct rs_folio_note *, GString *);

#endif
