/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * trace_commands.h - the subcommands of "reclaimsim trace". A new one is a function in a file
 * tools/trace_NAME.c and a line in the table of cmd_trace.c.
 */
#ifndef TOOLS_TRACE_COMMANDS_H
#define TOOLS_TRACE_COMMANDS_H

#include <stdbool.h>

#include <reclaimsim/trace.h>

struct trace_command {
	const char *name, *summary;
	int (*run)(int argc, char **argv); /* argv[0] = its name; returns the exit code */
};

int trace_info(int argc, char **argv);
int trace_cat(int argc, char **argv);
int trace_convert(int argc, char **argv);
int trace_cut(int argc, char **argv);
int trace_merge(int argc, char **argv);
int trace_scale(int argc, char **argv);

/*
 * Parse the options; what remains in argv are operands, which must be min to max. Prints a message
 * and returns false if not. --help prints and exits.
 */
bool trace_options(const char *command, const char *operands, const char *description,
		   const GOptionEntry *, int *argc, char ***argv, int min, int max);
/* Print "reclaimsim trace NAME: message" and free the error. Returns 2. */
int trace_fail(const char *command, GError *);
int trace_usage(const char *command, const char *format, ...) G_GNUC_PRINTF(2, 3);
/* A whole decimal number without sign. */
bool trace_number(const char *text, uint64_t *ret);

#endif
