/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fuzz_trace.c - any bytes as a trace: refused with a message, or read; and what is read can be
 * written in both formats and has the same digest then.
 */
#include <glib.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/trace_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define check(condition)                                                                           \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			fprintf(stderr, "line %d: %s\n", __LINE__, #condition);                    \
			abort();                                                                   \
		}                                                                                  \
	} while (0)

/* Bytes as a file in memory that can be opened by name. */
static char *in_memory(const uint8_t *data, size_t size, int *ret_fd)
{
	*ret_fd = memfd_create("fuzz", MFD_CLOEXEC);
	check(*ret_fd >= 0 && write(*ret_fd, data, size) == (ssize_t)size);
	return g_strdup_printf("/proc/self/fd/%d", *ret_fd);
}

static void check_format(const char *from, const char *digest, enum rs_trace_format format)
{
	char *to = trace_file_name(), *again = NULL;
	GError *error = NULL;

	check(trace_file_convert(from, to, format, &error));
	check(trace_file_read(to, &again, NULL, &error));
	check(!strcmp(digest, again));
	g_free(again);
	trace_file_remove(to);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	GError *error = NULL;
	struct rs_batch batch;
	int fd, r = -1;
	char *path = in_memory(data, size, &fd);
	struct rs_trace *t = rs_trace_open(path, &error);

	while (t && (r = rs_trace_next(t, &batch, &error)) > 0)
		check(batch.nr_records > 0);
	check((r < 0) == (error != NULL));
	if (error) {
		check(error->domain == RS_ERROR && !strchr(error->message, '\n'));
		g_error_free(error);
	} else {
		check_format(path, rs_trace_digest(t), RS_TRACE_NATIVE);
		check_format(path, rs_trace_digest(t), RS_TRACE_TEXT);
	}
	rs_trace_free(t);
	close(fd);
	g_free(path);
	return 0;
}
