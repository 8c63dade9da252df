/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * output.c - results go to standard output, or to a file that appears only when it is complete.
 *
 * A file is written beside its target under a temporary name, synced and renamed. What is no
 * regular file (/dev/stdout, a pipe, /dev/full) is written in place.
 */
#include "tools/tools.h"

#include <errno.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct output {
	FILE *stream;
	char *path;	 /* NULL: standard output */
	char *temporary; /* NULL: written in place */
};

static void set_error(GError **error, const char *path, int code)
{
	g_set_error(error, RS_ERROR, RS_ERROR_OUTPUT, "cannot write %s: %s",
		    path ? path : "standard output", g_strerror(code));
}

struct output *output_open(const char *path, GError **error)
{
	struct output *output = g_new0(struct output, 1);
	struct stat st;

	if (!path || !strcmp(path, "-")) {
		output->stream = stdout;
		return output;
	}
	output->path = g_strdup(path);
	if (stat(path, &st) == 0 && !S_ISREG(st.st_mode)) {
		output->stream = fopen(path, "wb");
	} else {
		/* The process number keeps two writers of one target apart. */
		output->temporary = g_strdup_printf("%s.tmp.%d", path, (int)getpid());
		output->stream = fopen(output->temporary, "wb");
	}
	if (!output->stream) {
		set_error(error, path, errno);
		g_free(output->temporary);
		g_free(output->path);
		g_free(output);
		return NULL;
	}
	return output;
}

FILE *output_stream(struct output *output)
{
	return output->stream;
}

static void output_free(struct output *output)
{
	g_free(output->temporary);
	g_free(output->path);
	g_free(output);
}

bool output_close(struct output *output, GError **error)
{
	int code = 0;

	errno = 0;
	if (fflush(output->stream) != 0 || ferror(output->stream))
		code = errno ? errno : EIO;
	if (!code && output->temporary && fsync(fileno(output->stream)) != 0)
		code = errno;
	if (output->path && fclose(output->stream) != 0 && !code)
		code = errno;
	if (!code && output->temporary && g_rename(output->temporary, output->path) != 0)
		code = errno;
	if (code) {
		set_error(error, output->path, code);
		if (output->temporary)
			g_unlink(output->temporary);
		clearerr(stdout); /* said once is enough */
	}
	output_free(output);
	return code == 0;
}

void output_abort(struct output *output)
{
	if (!output)
		return;
	if (output->path)
		fclose(output->stream);
	if (output->temporary)
		g_unlink(output->temporary);
	output_free(output);
}

bool output_write(const char *path, const char *text, GError **error)
{
	struct output *output = output_open(path, error);

	if (!output)
		return false;
	fputs(text, output_stream(output));
	return output_close(output, error);
}
