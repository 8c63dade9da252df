/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * baseline.h - the numbers a suite is held against, one JSON file that is committed beside it.
 */
#ifndef TOOLS_BASELINE_H
#define TOOLS_BASELINE_H

#include <glib.h>
#include <jansson.h>
#include <stdbool.h>

struct baseline {
	json_t *cases; /* "SCENARIO/COLUMN": {"trace": SHA-256, "counters": {NAME: NUMBER}} */
};

struct baseline *baseline_new(void);
/* A file that is not there gives an empty baseline. */
struct baseline *baseline_load(const char *path, GError **error);
void baseline_free(struct baseline *baseline); /* NULL is fine */

/* False: nothing stored. The digest is NULL if unknown. */
bool baseline_get(const struct baseline *baseline, const char *name, const char *counter,
		  double *ret, const char **ret_trace);
void baseline_set(struct baseline *baseline, const char *name, const char *trace,
		  const char *counter, double value);
/* Sorted, one number a line, so that a change is easy to review. */
bool baseline_save(const struct baseline *baseline, const char *path, GError **error);

#endif
