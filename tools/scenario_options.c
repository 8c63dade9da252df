/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * scenario_options.c - defaults, then the user's configuration, then machine files, then --set, then
 * --kernel and --memory.
 */
#include "tools/scenario_options.h"
#include "sim/base/config.h"
#include "sim/base/units.h"
#include "tools/footprint.h"

#include <string.h>

struct scenario_options scenario_options;

/* ---- shares of the footprint ---- */

static const char *trace_path;
static uint64_t footprint; /* pages, 0: not counted yet */

static bool set_value(struct rs_scenario *scenario, const char *key, const char *value,
		      GError **error)
{
	g_autofree char *pages = NULL;

	if (!footprint_is_share(key, value))
		return rs_scenario_set(scenario, key, value, error);
	/* A wrong share is told before the trace is read. */
	pages = footprint_share(footprint, value, error);
	if (pages && !footprint) {
		g_clear_pointer(&pages, g_free);
		if (footprint_count(trace_path, scenario, &footprint, error))
			pages = footprint_share(footprint, value, error);
	}
	return pages && rs_scenario_set(scenario, key, pages, error);
}

/* ---- the user's configuration ---- */

/*
 * $RECLAIMSIM_CONFIG (empty: none), or reclaimsim/config in the XDG folder if it is there: settings
 * as in a machine file.
 */
static bool load_config(struct rs_scenario *scenario, GError **error)
{
	const char *named = g_getenv("RECLAIMSIM_CONFIG");
	g_autofree char *path =
		g_build_filename(g_get_user_config_dir(), "reclaimsim", "config", NULL);

	if (named)
		return !*named || rs_scenario_load(scenario, named, error);
	return !g_file_test(path, G_FILE_TEST_EXISTS) || rs_scenario_load(scenario, path, error);
}

/* ---- all of it ---- */

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
	ok = set_value(scenario, key, equals + 1, error);
	g_free(key);
	return ok;
}

static bool apply_all(struct rs_scenario *scenario, GError **error)
{
	char **machines = scenario_options.machines, **settings = scenario_options.settings;

	if (!load_config(scenario, error))
		return false;
	for (; machines && *machines; machines++) {
		if (!rs_scenario_load(scenario, *machines, error))
			return false;
	}
	for (; settings && *settings; settings++) {
		if (!scenario_apply(scenario, *settings, error))
			return false;
	}
	if (scenario_options.memory &&
	    !set_value(scenario, "memory.max", scenario_options.memory, error))
		return false;
	if (scenario_options.kernel &&
	    !rs_scenario_set_kernel(scenario, scenario_options.kernel, error))
		return false;
	return rs_scenario_check(scenario, error);
}

struct rs_scenario *scenario_from_options(const char *trace, GError **error)
{
	struct rs_scenario *scenario = rs_scenario_new();

	trace_path = trace;

	if (apply_all(scenario, error))
		return scenario;
	rs_scenario_free(scenario);
	return NULL;
}
