/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * trace_file.h - traces for tests: in temporary files, and read back as text.
 */
#ifndef TESTS_LIB_TRACE_FILE_H
#define TESTS_LIB_TRACE_FILE_H

#include <reclaimsim/trace.h>

/* A temporary file with these bytes; its path. Remove with trace_file_remove(). */
char *trace_file_bytes(const void *bytes, size_t size);
char *trace_file_text(const char *text);
/* A path in a temporary folder where no file is. */
char *trace_file_name(void);
void trace_file_remove(char *path); /* frees it, too */

/* Read to the end: true, or false and the error. The digest and the text may be NULL. */
bool trace_file_read(const char *path, char **ret_digest, char **ret_text, GError **error);
/* Copy a trace to a file in that format. */
bool trace_file_convert(const char *from, const char *to, enum rs_trace_format format,
			GError **error);

#endif
