/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * result_trace.c - what the result says about its trace.
 */
#include "sim/report/result.h"

void rs_result_set_trace(struct rs_result *result, const struct rs_trace *trace, uint64_t records)
{
	const char *key;

	g_free(result->trace_digest);
	result->trace_digest = g_strdup(rs_trace_digest(trace));
	result->trace_records = records;
	for (uint32_t i = 0; (key = rs_trace_provenance_key(trace, i)); i++) {
		g_ptr_array_add(result->provenance, g_strdup(key));
		g_ptr_array_add(result->provenance, g_strdup(rs_trace_provenance(trace, key)));
	}
}
