/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ref_trace.c - reads the plain trace text (region, file, l, s, r, w, u, f, m), zstd or not.
 */
#include "ref.h"

#include <stdlib.h>
#include <string.h>
#include <zstd.h>

static GString *unpack(char *data, gsize size)
{
	ZSTD_DStream *stream = ZSTD_createDStream();
	ZSTD_inBuffer in = { data, size, 0 };
	GString *text = g_string_new(NULL);
	char *block = g_malloc(1 << 20);

	while (in.pos < in.size) {
		ZSTD_outBuffer out = { block, 1 << 20, 0 };

		if (ZSTD_isError(ZSTD_decompressStream(stream, &out, &in)))
			break;
		g_string_append_len(text, block, out.pos);
	}
	ZSTD_freeDStream(stream);
	g_free(block);
	return text;
}

static GString *load(const char *path, GError **error)
{
	char *data;
	gsize size;
	GString *text;

	if (!g_file_get_contents(path, &data, &size, error))
		return NULL;
	if (size > 4 && !memcmp(data, "\x28\xb5\x2f\xfd", 4))
		text = unpack(data, size);
	else
		text = g_string_new_len(data, size);
	g_free(data);
	return text;
}

static void add_file(GHashTable *files, const char *name, uint64_t pages)
{
	uint64_t *size = g_hash_table_lookup(files, name);

	if (!size) {
		size = g_new0(uint64_t, 1);
		g_hash_table_insert(files, (gpointer)name, size);
	}
	*size = MAX(*size, pages);
}

/* False when the line is not of the format. */
static bool parse(char **word, guint nr, GHashTable *files, struct ref_op *op)
{
	const char kind = word[0][1] ? 0 : word[0][0];

	op->kind = kind;
	if (nr < 2)
		return false;
	op->id = (char *)g_intern_string(word[1]);
	if (!strcmp(word[0], "region") && nr >= 4) {
		bool file = !strcmp(word[2], "file");

		op->kind = 'R';
		op->page = strtoull(word[3 + file], NULL, 10);
		if (file) {
			op->file = (char *)g_intern_string(word[3]);
			op->exec = nr > 5 && !strcmp(word[5], "x");
			add_file(files, op->file, op->page);
		}
		return true;
	}
	if (nr >= 3)
		op->page = strtoull(word[2], NULL, 10);
	if (!strcmp(word[0], "file") && nr == 3) {
		add_file(files, op->id, op->page);
		op->kind = 0;
		return true;
	}
	op->n = nr == 4 ? strtoul(word[3], NULL, 10) : 1;
	return (nr == 2 && kind && strchr("ufm", kind)) ||
	       (nr == 3 && kind && strchr("ls", kind)) || (nr == 4 && kind && strchr("rw", kind));
}

/* Keeps the set of mapped regions; false when the line names a region or file that is not there. */
static bool known(GHashTable *regions, GHashTable *files, const struct ref_op *op)
{
	if (op->kind == 'R')
		return g_hash_table_add(regions, op->id);
	if (op->kind == 'u')
		return g_hash_table_remove(regions, op->id);
	if (op->kind == 'l' || op->kind == 's')
		return g_hash_table_contains(regions, op->id);
	return !op->kind || op->kind == 'm' || g_hash_table_contains(files, op->id);
}

GArray *ref_trace_read(const char *path, GHashTable *ret_files, GError **error)
{
	GString *text = load(path, error);
	GArray *ops = g_array_new(false, true, sizeof(struct ref_op));
	GHashTable *regions = g_hash_table_new(g_str_hash, g_str_equal);
	uint64_t line = 0;
	bool good = text;

	for (char *at = text ? text->str : NULL; good && at && *at; line++) {
		char *end = strchr(at, '\n');
		struct ref_op op = { 0 };
		char **word;

		if (end)
			*end = '\0';
		if (*at && *at != '#') {
			word = g_strsplit(at, " ", 0);
			good = parse(word, g_strv_length(word), ret_files, &op) &&
			       known(regions, ret_files, &op);
			if (!good)
				g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_INVAL,
					    "%s:%" G_GUINT64_FORMAT ": not a trace line: %s", path,
					    line + 1, at);
			else if (op.kind)
				g_array_append_val(ops, op);
			g_strfreev(word);
		}
		at = end ? end + 1 : NULL;
	}
	if (text)
		g_string_free(text, true);
	g_hash_table_destroy(regions);
	if (!good) {
		g_array_free(ops, true);
		return NULL;
	}
	return ops;
}
