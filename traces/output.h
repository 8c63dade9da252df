/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * output.h - a file that appears under its name only when it is complete.
 */
#ifndef TRACES_OUTPUT_H
#define TRACES_OUTPUT_H

#include <reclaimsim/types.h>

struct output;
struct output *output_open(const char *path, GError **); /* "-" = standard output */
bool output_write(struct output *, const void *, size_t, GError **);
bool output_close(struct output *, GError **); /* renames; also frees it */
void output_abort(struct output *);	       /* removes what was written; NULL is fine */

#endif
