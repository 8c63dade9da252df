/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * print.h - records as canonical lines of trace text. Grammar: FORMAT.md.
 */
#ifndef TRACES_PRINT_H
#define TRACES_PRINT_H

#include "traces/state.h"

extern const char *const advice_names[RS_NR_ADVICE];
extern const char *const mempolicy_names[RS_MPOL_PREFERRED + 1];

/* Append the line; the state is that before the record. */
void print_record(GString *, const struct trace_state *, const struct rs_record *,
		  const struct rs_map *);
/* Append a name with blanks, control bytes and % as %XX. */
void print_name(GString *, const char *name);
/* Undo that in place. */
void unescape_name(char *name);

#endif
