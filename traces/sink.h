/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sink.h - a file that appears under its name only when it is complete.
 */
#ifndef TRACES_SINK_H
#define TRACES_SINK_H

#include <reclaimsim/types.h>

struct sink;
struct sink *sink_open(const char *path, GError **); /* "-" = standard output */
bool sink_write(struct sink *, const void *, size_t, GError **);
bool sink_close(struct sink *, GError **); /* renames; also frees it */
void sink_abort(struct sink *);		   /* removes what was written; NULL is fine */

#endif
