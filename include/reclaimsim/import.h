/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * import.h - make a trace from the records of another tool.
 */
#ifndef RECLAIMSIM_IMPORT_H
#define RECLAIMSIM_IMPORT_H

#include <jansson.h>

#include <reclaimsim/trace.h>

struct import_options {
	const char *format;	  /* NULL: told from the content */
	const char *const *paths; /* NULL-terminated */
	const void *memory;	  /* instead of paths: tests and fuzzing */
	size_t memory_size;
	const char *const *with; /* NULL-terminated KEY=VALUE, may be NULL */
	const char *command;	 /* for the provenance */
	bool strict;
};

struct rs_import_format {
	const char *name, *summary;
};
/* Format i; false behind the last. */
bool rs_import_format(unsigned i, struct rs_import_format *ret);
/*
 * Import into a writer, which is left open. The summary is the contract's object; notes (may be
 * NULL) receives the first malformed lines for people.
 */
bool rs_import(const struct import_options *, struct rs_trace_writer *, json_t **ret_summary,
	       char **ret_notes, GError **);

#endif
