/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * trace_convert.c - "trace convert": reads either format and writes either.
 */
#include <string.h>

#include "tools/trace_commands.h"
#include "tools/trace_copy.h"

/* Without --to: text becomes native, native becomes text. */
static bool target_format(const char *to, bool native, enum rs_trace_format *ret)
{
	if (!to)
		*ret = native ? RS_TRACE_TEXT : RS_TRACE_NATIVE;
	else if (!strcmp(to, "native"))
		*ret = RS_TRACE_NATIVE;
	else if (!strcmp(to, "text"))
		*ret = RS_TRACE_TEXT;
	else
		return false;
	return true;
}

static bool copy_all(struct rs_trace *from, struct rs_trace_writer *to, GError **error)
{
	struct trace_copy copy;
	struct rs_batch batch;
	bool fine = true;
	int r = 0;

	trace_copy_init(&copy, from, to);
	while (fine && (r = rs_trace_next(from, &batch, error)) > 0) {
		trace_copy_provenance(&copy);
		for (uint32_t i = 0; fine && i < batch.nr_records; i++)
			fine = trace_copy_record(&copy, &batch, i, error);
	}
	trace_copy_provenance(&copy);
	trace_copy_done(&copy);
	return fine && r == 0;
}

int trace_convert(int argc, char **argv)
{
	char *to = NULL;
	const GOptionEntry entries[] = {
		{"to", 0, 0, G_OPTION_ARG_STRING, &to, "format to write: native or text (default: the other one)",
		 "FORMAT"},
		{0},
	};
	enum rs_trace_format format;
	GError *error = NULL;

	if (!trace_options("convert", "IN OUT", "Rewrites a trace; \"-\" is standard input or output.", entries,
			   &argc, &argv, 2, 2))
		return 2;
	g_autofree char *own = to;
	struct rs_trace *in = rs_trace_open(argv[1], &error);
	if (!in)
		return trace_fail("convert", error);
	struct rs_trace_writer *out = NULL;
	int code = 0;
	if (!target_format(to, rs_trace_is_native(in), &format))
		code = trace_usage("convert", "--to %s is unknown; valid are native and text", to);
	else if (!(out = rs_trace_create(argv[2], format, &error)) || !copy_all(in, out, &error))
		code = trace_fail("convert", error);
	if (code)
		rs_trace_writer_abort(out);
	else if (out && !rs_trace_writer_close(out, &error))
		code = trace_fail("convert", error);
	rs_trace_free(in);
	return code;
}
