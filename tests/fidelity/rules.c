/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rules.c - how exact the simulator has to be, and for which values.
 */
#include "compare.h"

#include <string.h>

static const struct rule rules[] = {
	{
		/* The first step: the counters of the main job at the end of a trace. */
		.name = "main",
		.min_events = 200,
		.tolerance = { { OBS_CORE, "main counters", 10, 0, 85, 85 } },
		.difference_percent = 5,
	},
	{
		/* The counters that users read, at every mark. */
		.name = "strict",
		.min_events = 64,
		.marks = true,
		.tolerance = { { OBS_CORE | OBS_ACTIVATE, "events", 3, 64, 95, 90 },
			       { OBS_SCAN, "scans", 5, 64, 90, 0 },
			       { OBS_LIST | OBS_GEN, "lists and generations", 5, 64, 0, 0 } },
		.difference_percent = 3,
		.difference_points = 3,
		.need_difference = 90,
	},
	{
		/* Global mode and the variants of devices and read-ahead. */
		.name = "variant",
		.min_events = 64,
		.tolerance = { { OBS_CORE | OBS_ACTIVATE | OBS_SCAN, "all counters", 10, 64, 90,
				 0 } },
		.difference_percent = 10,
	},
	{
		/* Own builds: their repeats share a boot, so 3 % counts as their least spread. */
		.name = "own",
		.min_events = 64,
		.tolerance = { { OBS_CORE, "main counters", 5, 64, 90, 90 } },
		.difference_percent = 3,
	},
	{
		/*
		 * Workloads on which a patch acts (tests/claims/guests): the sign of each
		 * difference, and the size of most. Some of these hang on when ageing falls.
		 */
		.name = "patch",
		.min_events = 64,
		.tolerance = { { OBS_CORE, "main counters", 10, 64, 75, 0 } },
		.difference_percent = 3,
		.difference_points = 6,
		.need_difference = 50,
	},
};

const struct rule *rule_find(const char *name)
{
	for (unsigned i = 0; i < G_N_ELEMENTS(rules); i++) {
		if (!strcmp(rules[i].name, name))
			return &rules[i];
	}
	return NULL;
}

const char *rule_names(void)
{
	return "main, strict, variant, own, patch";
}
