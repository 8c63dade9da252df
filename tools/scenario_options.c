/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * scenario_options.c - defaults, then machine files, then --set, then --kernel and --memory.
 */
#include "tools/scenario_options.h"

#include <string.h>

struct scenario_options scenario_options;

bool scenario_apply(struct rs_scenario *scenario, const char *assignment, GError **error)
{
	const char *equals = strchr(assignment, '=');
	char *key;
	bool ok;

	if (!equals || equals == assignment) {
		g_set_error(error, RS_ERROR, RS_ERROR_USAGE,
			    "\"%s\" is no setting: write KEY=VALUE, as in memory.max=64M",
			    assignment);
		return false;
	}
	key = g_strndup(assignment, (gsize)(equals - assignment));
	ok = rs_scenario_set(scenario, key, equals + 1, error);
	g_free(key);
	return ok;
}

static bool apply_all(struct rs_scenario *scenario, GError **error)
{
	char **machines = scenario_options.machines, **settings = scenario_options.settings;

	for (; machines && *machines; machines++) {
		if (!rs_scenario_load(scenario, *machines, error))
			return false;
	}
	for (; settings && *settings; settings++) {
		if (!scenario_apply(scenario, *settings, error))
			return false;
	}
	if (scenario_options.memory &&
	    !rs_scenario_set(scenario, "memory.max", scenario_options.memory, error))
		return false;
	if (scenario_options.kernel &&
	    !rs_scenario_set_kernel(scenario, scenario_options.kernel, error))
		return false;
	return rs_scenario_check(scenario, error);
}

struct rs_scenario *scenario_from_options(GError **error)
{
	struct rs_scenario *scenario = rs_scenario_new();

	if (apply_all(scenario, error))
		return scenario;
	rs_scenario_free(scenario);
	return NULL;
}
