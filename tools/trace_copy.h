/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * trace_copy.h - carries records from a reader to a writer, which number objects differently.
 */
#ifndef TOOLS_TRACE_COPY_H
#define TOOLS_TRACE_COPY_H

#include <reclaimsim/trace.h>

struct trace_copy {
	struct rs_trace *from;
	struct rs_trace_writer *to;
	const char *prefix; /* put before all names but those of files and groups; NULL = none */
	const char *file_prefix;	     /* before names of files */
	GArray *number[RS_NAME_PROCESS + 1]; /* the writer's number + 1; 0 = not known yet */
	uint32_t nr_provenance;
};

void trace_copy_init(struct trace_copy *, struct rs_trace *from, struct rs_trace_writer *to);
void trace_copy_done(struct trace_copy *);
/* The writer's number of an object of the reader. */
uint32_t trace_copy_number(struct trace_copy *, enum rs_name_kind, uint32_t id);
/* Translate in place. */
void trace_copy_translate(struct trace_copy *, struct rs_record *, struct rs_map *);
bool trace_copy_record(struct trace_copy *, const struct rs_batch *, uint32_t i, GError **);
/* Provenance of the header, or all of it, that was not copied yet. */
void trace_copy_provenance(struct trace_copy *, bool all);

#endif
