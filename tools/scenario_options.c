/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * scenario_options.c - defaults, then the user's configuration, then machine files, then --set,
 * then
 * --kernel and --memory.
 */
#include "tools/scenario_options.h"
#include "sim/base/config.h"
#include "sim/base/units.h"
#include "tools/simulate.h"

#include <reclaimsim/trace_stats.h>

#include <glib/gstdio.h>
#include <inttypes.h>
#include <string.h>

struct scenario_options scenario_options;

/* ---- shares of the footprint ---- */

static const char *trace_path;
static uint64_t footprint; /* pages, 0: not counted yet */

static bool is_share(const char *key, const char *value)
{
	static const char *const keys[] = { "memory.max", "memory.high", "memory.low",
					    "memory.min" };

	for (unsigned i = 0; i < G_N_ELEMENTS(keys); i++)
		if (g_str_has_suffix(key, keys[i]))
			return g_str_has_suffix(value, "%");
	return false;
}

/* Different pages that the trace touches. */
static bool count_pages(const char *path, GError **error)
{
	struct rs_trace_stats stats = { 0 };
	struct rs_trace *trace = rs_trace_open(path, error);
	bool ok = trace && rs_trace_stats(trace, 1, &stats, error);

	footprint = ok ? MAX(stats.anon_pages + stats.file_pages, 1) : 0;
	if (ok)
		rs_trace_stats_clear(&stats);
	rs_trace_free(trace);
	return ok;
}

/* A load's footprint is that of its first seed, so that all seeds have the same memory. */
static bool count_footprint(const struct rs_scenario *scenario, GError **error)
{
	g_autofree char *generated = NULL;
	bool ok;

	if (footprint)
		return true;
	if (!trace_path || !strcmp(trace_path, "-")) {
		g_set_error(error, RS_ERROR, RS_ERROR_USAGE,
			    "a share of the trace's footprint needs the trace as a file");
		return false;
	}
	if (!simulate_is_spec(trace_path))
		return count_pages(trace_path, error);
	generated = simulate_generate(trace_path, scenario, error);
	ok = generated && count_pages(generated, error);
	if (generated)
		g_unlink(generated);
	return ok;
}

/* "50%" -> "11280p", rounded up; g_free(). */
static char *share(const struct rs_scenario *scenario, const char *value, GError **error)
{
	g_autofree char *digits = g_strndup(value, strlen(value) - 1);
	int64_t percent;

	if (!rs_parse_int(digits, 1, 10000, &percent, error)) {
		g_prefix_error(error, "\"%s\": a share of the footprint: ", value);
		return NULL;
	}
	if (!count_footprint(scenario, error))
		return NULL;
	return g_strdup_printf("%" PRIu64 "p", (footprint * (uint64_t)percent + 99) / 100);
}

static bool set_value(struct rs_scenario *scenario, const char *key, const char *value,
		      GError **error)
{
	g_autofree char *pages = NULL;

	if (!is_share(key, value))
		return rs_scenario_set(scenario, key, value, error);
	pages = share(scenario, value, error);
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
