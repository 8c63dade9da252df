/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sink.c - writes to a temporary file beside the target and renames it at the end. What is no
 * regular file (a pipe, a device) is written directly.
 */
#include "traces/sink.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct sink {
	char *path;
	char *temporary; /* NULL = written directly */
	int fd;
};

static bool sink_error(const struct sink *o, GError **error, const char *what)
{
	g_set_error(error, RS_ERROR, RS_ERROR_OUTPUT, "%s: %s: %s", o->path, what,
		    g_strerror(errno));
	return false;
}

static void sink_free(struct sink *o)
{
	g_free(o->path);
	g_free(o->temporary);
	g_free(o);
}

struct sink *sink_open(const char *path, GError **error)
{
	struct sink *o = g_new0(struct sink, 1);
	struct stat st;

	if (!strcmp(path, "-")) {
		o->path = g_strdup("(standard output)");
		o->fd = STDOUT_FILENO;
		return o;
	}
	o->path = g_strdup(path);
	if (!stat(path, &st) && !S_ISREG(st.st_mode)) {
		o->fd = open(path, O_WRONLY | O_CLOEXEC);
	} else {
		o->temporary = g_strdup_printf("%s.XXXXXX", path);
		o->fd = g_mkstemp_full(o->temporary, O_WRONLY | O_CLOEXEC, 0666);
	}
	if (o->fd >= 0)
		return o;
	sink_error(o, error, "cannot create");
	sink_free(o);
	return NULL;
}

bool sink_write(struct sink *o, const void *bytes, size_t size, GError **error)
{
	const char *at = bytes;

	while (size) {
		ssize_t n = write(o->fd, at, size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return sink_error(o, error, "cannot write");
		at += n;
		size -= n;
	}
	return true;
}

bool sink_close(struct sink *o, GError **error)
{
	bool fine = true;

	if (o->fd != STDOUT_FILENO && close(o->fd))
		fine = sink_error(o, error, "cannot write");
	if (o->temporary && fine && rename(o->temporary, o->path))
		fine = sink_error(o, error, "cannot create");
	if (o->temporary && !fine)
		unlink(o->temporary);
	sink_free(o);
	return fine;
}

void sink_abort(struct sink *o)
{
	if (!o)
		return;
	if (o->fd != STDOUT_FILENO)
		close(o->fd);
	if (o->temporary)
		unlink(o->temporary);
	sink_free(o);
}
