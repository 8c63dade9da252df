/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * footprint.c - limits as shares of what a trace touches.
 */
#include "tools/footprint.h"
#include "sim/base/config.h"
#include "sim/base/units.h"
#include "tools/simulate.h"

#include <reclaimsim/trace_stats.h>

#include <glib/gstdio.h>
#include <inttypes.h>
#include <string.h>

bool footprint_is_share(const char *key, const char *value)
{
	static const char *const keys[] = { "memory.max", "memory.high", "memory.low",
					    "memory.min" };

	for (unsigned i = 0; i < G_N_ELEMENTS(keys); i++)
		if (g_str_has_suffix(key, keys[i]))
			return g_str_has_suffix(value, "%");
	return false;
}

static bool count_pages(const char *path, uint64_t *ret_pages, GError **error)
{
	struct rs_trace_stats stats = { 0 };
	struct rs_trace *trace = rs_trace_open(path, error);
	bool ok = trace && rs_trace_stats(trace, 1, &stats, error);

	if (ok) {
		*ret_pages = MAX(stats.anon_pages + stats.file_pages, 1);
		rs_trace_stats_clear(&stats);
	}
	rs_trace_free(trace);
	return ok;
}

bool footprint_count(const char *trace, const struct rs_scenario *scenario, uint64_t *ret_pages,
		     GError **error)
{
	g_autofree char *generated = NULL;
	bool ok;

	if (!trace || !strcmp(trace, "-")) {
		g_set_error(error, RS_ERROR, RS_ERROR_USAGE,
			    "a share of the trace's footprint needs the trace as a file");
		return false;
	}
	if (!simulate_is_spec(trace))
		return count_pages(trace, ret_pages, error);
	generated = simulate_generate(trace, scenario, error);
	ok = generated && count_pages(generated, ret_pages, error);
	if (generated)
		g_unlink(generated);
	return ok;
}

char *footprint_share(uint64_t pages, const char *value, GError **error)
{
	g_autofree char *digits = g_strndup(value, strlen(value) - 1);
	int64_t percent;

	if (!rs_parse_int(digits, 1, 10000, &percent, error)) {
		g_prefix_error(error, "\"%s\": a share of the footprint: ", value);
		return NULL;
	}
	return g_strdup_printf("%" PRIu64 "p", (pages * (uint64_t)percent + 99) / 100);
}
