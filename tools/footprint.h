/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * footprint.h - limits as shares of what a trace touches: 50% is half of its different pages.
 */
#ifndef TOOLS_FOOTPRINT_H
#define TOOLS_FOOTPRINT_H

#include <reclaimsim/sim.h>

/* Is this a limit of a group, and its value a share? */
bool footprint_is_share(const char *key, const char *value);

/*
 * Different pages that the trace touches, 1 at least. A load (a generator's spec) is generated with
 * the scenario's seed; its footprint then stands for all seeds, so that all have the same memory.
 */
bool footprint_count(const char *trace, const struct rs_scenario *scenario, uint64_t *ret_pages,
		     GError **error);

/* "50%" of that many pages -> "11280p", rounded up; g_free(). NULL: no share. */
char *footprint_share(uint64_t pages, const char *value, GError **error);

#endif
