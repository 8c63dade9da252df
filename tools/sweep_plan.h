/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sweep_plan.h - building a plan piece by piece (between sweep_spec.c and sweep_plan.c).
 */
#ifndef TOOLS_SWEEP_PLAN_H
#define TOOLS_SWEEP_PLAN_H

#include "tools/sweep.h"

struct sweep_plan *sweep_plan_new(void);
struct sweep_axis *sweep_axis_add(struct sweep_plan *plan, const char *key);
/* digest NULL: read the file. */
bool sweep_trace_add(struct sweep_plan *plan, const char *path, const char *digest, GError **error);
/* Count the footprints that axes of shares need. */
bool sweep_plan_footprints(struct sweep_plan *plan, GError **error);
bool sweep_base_set(struct sweep_plan *plan, const char *key, const char *value, GError **error);
bool sweep_base_machine(struct sweep_plan *plan, const char *path, GError **error);
/* Fill in nr_cells; false: none, or too many. */
bool sweep_plan_count(struct sweep_plan *plan, GError **error);

#endif
