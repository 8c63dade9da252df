/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * trace_convert.c - "trace convert": reads either format and writes either.
 */
#include "tools/trace_commands.h"
#include "tools/trace_copy.h"

#include <string.h>

static char *to;

static const GOptionEntry options[] = {
	{ "to", 0, 0, G_OPTION_ARG_STRING, &to,
	  "native or text (default: the one that IN is not in)", "FORMAT" },
	{ 0 },
};

static bool target_format(bool native, enum rs_trace_format *ret)
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

static bool copy_all(struct rs_trace *from, struct rs_trace_writer *writer, GError **error)
{
	struct trace_copy copy;
	struct rs_batch batch;
	bool fine = true;
	int r = 0;

	trace_copy_init(&copy, from, writer);
	while (fine && (r = rs_trace_next(from, &batch, error)) > 0) {
		trace_copy_provenance(&copy, false);
		for (uint32_t i = 0; fine && i < batch.nr_records; i++)
			fine = trace_copy_record(&copy, &batch, i, error);
	}
	trace_copy_provenance(&copy, true);
	trace_copy_done(&copy);
	return fine && r == 0;
}

static int run(int argc, char **argv)
{
	enum rs_trace_format format;
	GError *error = NULL;

	if (argc != 3)
		return command_usage("valid is: reclaimsim trace convert IN OUT [--to FORMAT]");
	struct rs_trace *in = rs_trace_open(argv[1], &error);
	if (!in)
		return command_fail(error);
	struct rs_trace_writer *out = NULL;
	int code = EXIT_FINE;
	if (!target_format(rs_trace_is_native(in), &format))
		code = command_usage("--to %s is unknown; valid are native and text", to);
	else if (!(out = rs_trace_create(argv[2], format, &error)) || !copy_all(in, out, &error))
		code = command_fail(error);
	else
		trace_warn_skipped(in, argv[1]);
	if (code)
		rs_trace_writer_abort(out);
	else if (!rs_trace_writer_close(out, &error))
		code = command_fail(error);
	rs_trace_free(in);
	return code;
}

const struct rs_command trace_convert = {
	.name = "convert",
	.arguments = "IN OUT [--to FORMAT]",
	.summary = "rewrite a trace in native format or as trace text",
	.about = "The format of IN is told from its content; it may be compressed with zstd. \"-\" "
		 "is\n"
		 "standard input or output. Both formats hold the same things.",
	.example = "  reclaimsim trace convert build.trace.zst build.rst\n"
		   "  reclaimsim trace convert build.rst -",
	.options = options,
	.run = run,
};
