/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cmd_trace.c - "reclaimsim trace": table of its subcommands, and what they share.
 */
#include "tools/trace_commands.h"

#include <errno.h>

static const struct rs_command import_command = {
	.name = "import",
	.arguments = "[--format F] FILE... [-o OUT] [--json] [--strict]",
	.summary = "make a trace from another tool's record",
	.run = trace_import,
	.own_options = true,
};

static const struct rs_command *const subcommands[] = {
	&import_command, &trace_gen, &trace_fit_kbuild, &trace_info,  &trace_cat,
	&trace_convert,	 &trace_cut, &trace_merge,	&trace_scale, NULL,
};

const struct rs_command cmd_trace = {
	.name = "trace",
	.arguments = "COMMAND [OPTION...] [ARGUMENT...]",
	.summary = "look at traces and make new ones",
	.subcommands = subcommands,
};

bool trace_number(const char *option, const char *text, uint64_t *ret)
{
	char *end;

	if (!text)
		return true;
	errno = 0;
	uint64_t n = g_ascii_strtoull(text, &end, 10);
	if (!g_ascii_isdigit(*text) || *end || errno) {
		command_usage("--%s %s: valid is a whole number", option, text);
		return false;
	}
	*ret = n;
	return true;
}

void trace_warn_skipped(const struct rs_trace *trace, const char *path)
{
	uint64_t line, n = rs_trace_nr_skipped(trace, &line);

	if (n)
		command_warn("%s: %" G_GUINT64_FORMAT
			     " accesses right behind the first region were left "
			     "out, the first in line %" G_GUINT64_FORMAT,
			     path, n, line);
}
