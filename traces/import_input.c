/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * import_input.c - bytes of an input file, decompressed.
 *
 * libarchive undoes gzip, bzip2, xz, zstd, lz4 and zip (the entries of a zip follow one
 * another: DynamoRIO's chunks). Bare zlib streams, which it does not know (damo record), are undone
 * here. Only filters that need no outside program are enabled.
 */
#include "traces/import.h"

#include <archive.h>
#include <errno.h>
#include <string.h>
#include <zlib.h>

#define INPUT_BLOCK (256u << 10)

struct import_input {
	struct archive *archive;
	char *path;
	const uint8_t *memory;
	size_t memory_size;
	bool entry_end, end;

	bool probed, zlib;
	z_stream z;
	uint8_t *block; /* raw bytes not yet handed out */
	size_t at, filled;
};

static bool next_entry(struct import_input *in, GError **error)
{
	struct archive_entry *entry;
	int rc = archive_read_next_header(in->archive, &entry);

	if (rc == ARCHIVE_EOF) {
		in->end = true;
		return true;
	}
	if (rc < ARCHIVE_WARN) {
		g_set_error(error, RS_ERROR, RS_ERROR_INPUT, "%s: %s", in->path,
			    archive_error_string(in->archive));
		return false;
	}
	in->entry_end = false;
	return true;
}

struct import_input *import_open(const char *path, GError **error)
{
	struct import_input *in = g_new0(struct import_input, 1);
	bool piped = !strcmp(path, "-");
	int rc;

	in->path = g_strdup(piped ? "standard input" : path);
	in->block = g_malloc(INPUT_BLOCK);
	in->archive = archive_read_new();
	archive_read_support_filter_gzip(in->archive);
	archive_read_support_filter_bzip2(in->archive);
	archive_read_support_filter_xz(in->archive);
	archive_read_support_filter_zstd(in->archive);
	archive_read_support_filter_lz4(in->archive);
	archive_read_support_format_raw(in->archive);
	archive_read_support_format_empty(in->archive);
	archive_read_support_format_zip(in->archive);
	if (piped)
		rc = archive_read_open_fd(in->archive, 0, INPUT_BLOCK);
	else
		rc = archive_read_open_filename(in->archive, path, INPUT_BLOCK);
	if (rc != ARCHIVE_OK) {
		const char *why = archive_error_string(in->archive);

		g_set_error(error, RS_ERROR, RS_ERROR_INPUT, "%s: cannot read: %s", in->path,
			    why ? why : "no reason known");
		import_close(in);
		return NULL;
	}
	if (!next_entry(in, error)) {
		import_close(in);
		return NULL;
	}
	return in;
}

struct import_input *import_memory(const void *data, size_t n)
{
	struct import_input *in = g_new0(struct import_input, 1);

	in->path = g_strdup("memory");
	in->memory = data;
	in->memory_size = n;
	return in;
}

void import_close(struct import_input *in)
{
	if (!in)
		return;
	if (in->zlib)
		inflateEnd(&in->z);
	if (in->archive)
		archive_read_free(in->archive);
	g_free(in->block);
	g_free(in->path);
	g_free(in);
}

/* At least one byte unless the input ends. */
static ssize_t read_some(struct import_input *in, void *buffer, size_t n, GError **error)
{
	while (!in->end) {
		la_ssize_t got = archive_read_data(in->archive, buffer, n);

		if (got > 0)
			return got;
		if (got == ARCHIVE_RETRY)
			continue;
		if (got < 0) {
			g_set_error(error, RS_ERROR, RS_ERROR_INPUT, "%s: %s", in->path,
				    archive_error_string(in->archive));
			return -1;
		}
		if (!next_entry(in, error))
			return -1;
	}
	return 0;
}

static bool fill(struct import_input *in, GError **error)
{
	ssize_t got = read_some(in, in->block, INPUT_BLOCK, error);

	if (got < 0)
		return false;
	in->at = 0;
	in->filled = (size_t)got;
	return true;
}

/* zlib's two header bytes are a multiple of 31. */
static bool probe_zlib(struct import_input *in, GError **error)
{
	static const char seconds[] = "\x01\x5e\x9c\xda";
	const uint8_t *b;

	in->probed = true;
	if (!fill(in, error))
		return false;
	b = in->block;
	if (in->filled < 2 || b[0] != 0x78 || !b[1] || !strchr(seconds, b[1]))
		return true;
	in->zlib = inflateInit(&in->z) == Z_OK;
	return true;
}

static ssize_t read_zlib(struct import_input *in, void *buffer, size_t n, GError **error)
{
	in->z.next_out = buffer;
	in->z.avail_out = (uInt)MIN(n, 1u << 30);
	while (in->z.avail_out) {
		int rc;

		if (in->at == in->filled && !fill(in, error))
			return -1;
		in->z.next_in = in->block + in->at;
		in->z.avail_in = (uInt)(in->filled - in->at);
		rc = inflate(&in->z, Z_NO_FLUSH);
		in->at = in->filled - in->z.avail_in;
		if (rc == Z_STREAM_END)
			break;
		if (rc != Z_OK || (!in->filled && in->z.avail_out)) {
			g_set_error(error, RS_ERROR, RS_ERROR_INPUT,
				    "%s: the zlib data are cut or damaged", in->path);
			return -1;
		}
	}
	return (ssize_t)((uint8_t *)in->z.next_out - (uint8_t *)buffer);
}

ssize_t import_read(struct import_input *in, void *buffer, size_t n, GError **error)
{
	size_t done = 0;

	if (in->memory) {
		done = MIN(n, in->memory_size - in->at);
		memcpy(buffer, in->memory + in->at, done);
		in->at += done;
		return (ssize_t)done;
	}
	if (!in->archive)
		return 0;
	if (!in->probed && !probe_zlib(in, error))
		return -1;
	if (in->zlib)
		return read_zlib(in, buffer, n, error);
	while (done < n) {
		ssize_t got;

		if (in->at < in->filled) {
			size_t part = MIN(n - done, in->filled - in->at);

			memcpy((uint8_t *)buffer + done, in->block + in->at, part);
			in->at += part;
			done += part;
			continue;
		}
		got = read_some(in, (uint8_t *)buffer + done, n - done, error);
		if (got < 0)
			return done ? (ssize_t)done : -1;
		if (!got)
			break;
		done += (size_t)got;
	}
	return (ssize_t)done;
}
