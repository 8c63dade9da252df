/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * result_trace.c - what the result says about its trace.
 */
#include "sim/report/result.h"

void rs_result_set_trace(struct rs_result *result, const struct rs_trace *trace, uint64_t records)
{
	static const char *const keys[] = { "source", "command", "generator", "seed" };

	g_free(result->trace_digest);
	result->trace_digest = g_strdup(rs_trace_digest(trace));
	result->trace_records = records;
	for (unsigned i = 0; i < G_N_ELEMENTS(keys); i++) {
		const char *value = rs_trace_provenance(trace, keys[i]);

		if (!value)
			continue;
		g_ptr_array_add(result->provenance, g_strdup(keys[i]));
		g_ptr_array_add(result->provenance, g_strdup(value));
	}
}
