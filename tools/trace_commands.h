/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * trace_commands.h - the subcommands of "reclaimsim trace". A new one is a command in a file
 * tools/trace_NAME.c, declared here, and a line in the table of cmd_trace.c.
 */
#ifndef TOOLS_TRACE_COMMANDS_H
#define TOOLS_TRACE_COMMANDS_H

#include "tools/tools.h"

extern const struct rs_command trace_fit_kbuild;
extern const struct rs_command trace_gen;
extern const struct rs_command trace_info;
extern const struct rs_command trace_cat;
extern const struct rs_command trace_convert;
extern const struct rs_command trace_cut;
extern const struct rs_command trace_merge;
extern const struct rs_command trace_scale;

int trace_import(int argc, char **argv);

/* A whole decimal number without sign; text NULL leaves *ret as it is. False: message printed. */
bool trace_number(const char *option, const char *text, uint64_t *ret);
/* Warn if the reader left accesses out. */
void trace_warn_skipped(const struct rs_trace *, const char *path);

#endif
