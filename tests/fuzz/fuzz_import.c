/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fuzz_import.c - any bytes through any importer: no crash, no leak, no trace that the writer
 * refuses (which would be an error of the importer, not of the input).
 *
 * The first byte chooses the importer by its place in the table (255: told from the content), bit 0
 * of the second is strict; the rest is the input.
 */
#include <stdlib.h>
#include <string.h>

#include "traces/import.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *format_of(uint8_t byte)
{
	unsigned n = 0;

	while (rs_importers[n])
		n++;
	return byte < n ? rs_importers[byte]->name : NULL;
}

/* Errors of the input name its place; "memory" is the name of it. */
static void judge(GError *error)
{
	if (!error)
		return;
	if (strncmp(error->message, "memory", 6)) {
		g_printerr("the writer refused: %s\n", error->message);
		abort();
	}
	g_error_free(error);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct import_options options = { 0 };
	struct rs_trace_writer *out;
	json_t *summary = NULL;
	GError *error = NULL;

	if (size < 2)
		return 0;
	options.format = format_of(data[0]);
	options.strict = data[1] & 1;
	options.memory = data + 2;
	options.memory_size = size - 2;
	out = rs_trace_create("/dev/null", RS_TRACE_TEXT, NULL);
	if (!out)
		return 0;
	if (rs_import(&options, out, &summary, NULL, &error)) {
		char *text = json_dumps(summary, 0);

		if (!text)
			abort();
		free(text);
		json_decref(summary);
		if (!rs_trace_writer_close(out, NULL))
			abort();
	} else {
		rs_trace_writer_abort(out);
	}
	judge(error);
	return 0;
}
