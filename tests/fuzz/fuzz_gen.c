/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fuzz_gen.c - any text as a description of a workload (JSON spec, fio job file, memtier command
 * lines): no crash, no leak, no trace that the writer refuses.
 */
#include <stdlib.h>
#include <string.h>

#include <reclaimsim/generate.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* An error is of the description: it names it, or a limit. */
static void judge(GError *error)
{
	static const char *const known[] = {
		"fuzz",	   "the trace would", "this description needs", "more than", "pages ",
		"region ", "--with"
	};

	for (unsigned i = 0; i < G_N_ELEMENTS(known); i++)
		if (g_str_has_prefix(error->message, known[i])) {
			g_error_free(error);
			return;
		}
	g_printerr("the writer refused: %s\n", error->message);
	abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const with[] = { "max_records=5000", "max_memory=33554432", NULL };
	struct rs_generate_options options = { .with = with };
	struct rs_trace_writer *out = rs_trace_create("/dev/null", RS_TRACE_TEXT, NULL);
	json_t *summary = NULL;
	char *warnings = NULL;
	GError *error = NULL;

	if (!out)
		return 0;
	if (rs_generate_text((const char *)data, size, "fuzz", &options, out, &summary, &warnings,
			     &error)) {
		json_decref(summary);
		g_free(warnings);
		if (!rs_trace_writer_close(out, NULL))
			abort();
	} else {
		rs_trace_writer_abort(out);
		judge(error);
	}
	return 0;
}
