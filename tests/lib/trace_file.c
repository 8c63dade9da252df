/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * trace_file.c - see trace_file.h. Copies through the public interface with a table of numbers of
 * its own, so that it does not depend on the tools.
 */
#include "lib/trace_file.h"

#include <glib/gstdio.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define KINDS (RS_NAME_PROCESS + 1)

char *trace_file_name(void)
{
	/* In memory where that is possible: some tests make thousands of files. */
	const char *base = access("/dev/shm", W_OK) ? g_get_tmp_dir() : "/dev/shm";
	g_autofree char *folder = g_build_filename(base, "reclaimsim-XXXXXX", NULL);

	g_assert_nonnull(g_mkdtemp(folder));
	return g_build_filename(folder, "trace", NULL);
}

char *trace_file_bytes(const void *bytes, size_t size)
{
	char *path = trace_file_name();
	FILE *file = fopen(path, "wb"); /* g_file_set_contents() would sync: slow */

	g_assert_nonnull(file);
	g_assert_cmpuint(fwrite(bytes, 1, size, file), ==, size);
	g_assert_cmpint(fclose(file), ==, 0);
	return path;
}

char *trace_file_text(const char *text)
{
	return trace_file_bytes(text, strlen(text));
}

void trace_file_remove(char *path)
{
	g_autofree char *folder = g_path_get_dirname(path);

	g_unlink(path);
	g_rmdir(folder);
	g_free(path);
}

static uint32_t number(struct rs_trace *from, struct rs_trace_writer *to, enum rs_name_kind kind,
		       uint32_t id)
{
	return rs_trace_intern(to, kind, rs_trace_name(from, kind, id));
}

static bool copy_record(struct rs_trace *from, struct rs_trace_writer *to,
			const struct rs_batch *batch, uint32_t i, GError **error)
{
	struct rs_record r = batch->records[i];
	struct rs_map map = { 0 };
	int kind = rs_record_object_kind(r.op);

	if (r.op == RS_OP_MMAP) {
		map = batch->maps[r.value];
		if (map.file != RS_MAP_FILE_NONE)
			map.file = number(from, to, RS_NAME_FILE, map.file);
	}
	if (kind >= 0)
		r.object = number(from, to, kind, r.object);
	if (r.op == RS_OP_THREAD || r.op == RS_OP_FORK)
		r.arg = number(from, to, RS_NAME_PROCESS, r.arg);
	return rs_trace_put(to, &r, r.op == RS_OP_MMAP ? &map : NULL, error);
}

static void copy_provenance(struct rs_trace *from, struct rs_trace_writer *to, uint32_t first,
			    uint32_t end)
{
	const char *key;

	for (uint32_t i = first; i < end && (key = rs_trace_provenance_key(from, i)); i++)
		rs_trace_set_provenance(to, key, rs_trace_provenance(from, key));
}

static bool copy(struct rs_trace *from, struct rs_trace_writer *to, GError **error)
{
	struct rs_batch batch;
	bool first = true;
	int r;

	while ((r = rs_trace_next(from, &batch, error)) > 0) {
		if (first)
			copy_provenance(from, to, 0, rs_trace_nr_head_provenance(from));
		first = false;
		for (uint32_t i = 0; i < batch.nr_records; i++)
			if (!copy_record(from, to, &batch, i, error))
				return false;
	}
	copy_provenance(from, to, first ? 0 : rs_trace_nr_head_provenance(from), UINT32_MAX);
	return r == 0;
}

static bool convert(const char *from, const char *to, enum rs_trace_format format,
		    char **ret_digest, GError **error)
{
	struct rs_trace *in = rs_trace_open(from, error);
	struct rs_trace_writer *out = in ? rs_trace_create(to, format, error) : NULL;
	bool fine = false;

	if (out && copy(in, out, error))
		fine = rs_trace_writer_close(out, error);
	else
		rs_trace_writer_abort(out);
	if (fine && ret_digest)
		*ret_digest = g_strdup(rs_trace_digest(in));
	rs_trace_free(in);
	return fine;
}

bool trace_file_convert(const char *from, const char *to, enum rs_trace_format format,
			GError **error)
{
	return convert(from, to, format, NULL, error);
}

bool trace_file_read(const char *path, char **ret_digest, char **ret_text, GError **error)
{
	char *copy = trace_file_name();
	bool fine = convert(path, copy, RS_TRACE_TEXT, ret_digest, error);

	if (fine && ret_text)
		fine = g_file_get_contents(copy, ret_text, NULL, error);
	trace_file_remove(copy);
	return fine;
}
