/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * native.c - reader of the native format. Reads forward only, so a pipe will do. Every size is
 * bounded before it is allocated, and a file that ends early or differs from its totals is an
 * error.
 */
#include <zstd.h>

#include "traces/block.h"
#include "traces/format.h"
#include "traces/record.h"
#include "traces/trace_internal.h"

#define MAX_PACKED(raw) ((raw) + ((raw) >> 7) + 1024u) /* above ZSTD_compressBound() */

struct native_reader {
	struct block_decoder *decoder;
	ZSTD_DCtx *zstd;
	uint8_t *packed, *raw;
	size_t packed_room, raw_room;
	uint64_t offset; /* of the next byte */
	uint64_t nr_blocks, nr_records;
};

struct chunk {
	uint32_t type, packed, raw, records;
	uint64_t offset;
};

bool native_magic(const uint8_t *bytes, size_t n)
{
	return n >= strlen(FORMAT_MAGIC) && !memcmp(bytes, FORMAT_MAGIC, strlen(FORMAT_MAGIC));
}

static int fail(const struct rs_trace *t, GError **error, const char *what)
{
	g_set_error(error, RS_ERROR, RS_ERROR_INPUT, "%s: byte %" G_GUINT64_FORMAT ": %s",
		    input_name(t->in), t->native ? t->native->offset : 0, what);
	return -1;
}

static bool get_bytes(struct rs_trace *t, struct native_reader *n, void *to, size_t size,
		      GError **error)
{
	gssize got = input_read(t->in, to, size, error);

	if (got < 0)
		return false;
	n->offset += got;
	if ((size_t)got == size)
		return true;
	g_set_error(error, RS_ERROR, RS_ERROR_INPUT,
		    "%s: truncated at byte %" G_GUINT64_FORMAT ": the end of the trace is missing",
		    input_name(t->in), n->offset);
	return false;
}

static void reserve(uint8_t **buffer, size_t *room, size_t size)
{
	if (size <= *room)
		return;
	g_free(*buffer);
	*buffer = g_malloc0(size);
	*room = size;
}

/* Read a chunk's head and bytes; unpacked they are in n->raw. */
static bool get_chunk(struct rs_trace *t, struct native_reader *n, struct chunk *ret,
		      GError **error)
{
	uint8_t head[FORMAT_CHUNK_BYTES];

	ret->offset = n->offset;
	if (!get_bytes(t, n, head, sizeof(head), error))
		return false;
	ret->type = get_u32(head);
	ret->packed = get_u32(head + 4);
	ret->raw = get_u32(head + 8);
	ret->records = get_u32(head + 12);
	uint64_t max = ret->type == CHUNK_HEADER  ? FORMAT_MAX_PROVENANCE
		       : ret->type == CHUNK_BLOCK ? BLOCK_MAX_RAW
		       : ret->type == CHUNK_END	  ? FORMAT_MAX_PROVENANCE + 1024 + n->nr_blocks * 16
						  : 0;
	bool has_records = ret->type == CHUNK_BLOCK;
	if (!max || ret->raw > max || !ret->packed || ret->packed > MAX_PACKED(max) ||
	    (ret->records != 0) != has_records || ret->records > BLOCK_RECORDS)
		return fail(t, error, "damaged: no valid chunk begins here") > 0;
	reserve(&n->packed, &n->packed_room, ret->packed);
	reserve(&n->raw, &n->raw_room, (size_t)ret->raw + BLOCK_PADDING);
	if (!get_bytes(t, n, n->packed, ret->packed, error))
		return false;
	size_t got = ZSTD_decompressDCtx(n->zstd, n->raw, ret->raw, n->packed, ret->packed);
	if (ZSTD_isError(got)) {
		g_set_error(error, RS_ERROR, RS_ERROR_INPUT,
			    "%s: chunk at byte %" G_GUINT64_FORMAT ": damaged: %s",
			    input_name(t->in), ret->offset, ZSTD_getErrorName(got));
		return false;
	}
	return got == ret->raw ||
	       fail(t, error, "damaged: a chunk has another size than it says") > 0;
}

static bool read_head(struct rs_trace *t, struct native_reader *n, GError **error)
{
	uint8_t head[FORMAT_HEAD_BYTES];
	struct chunk chunk;

	if (!get_bytes(t, n, head, sizeof(head), error))
		return false;
	uint32_t version = get_u32(head + 8);
	if (version != FORMAT_VERSION || get_u32(head + 12)) {
		g_set_error(error, RS_ERROR, RS_ERROR_INPUT,
			    "%s: native format of version %u, which is unknown; valid is %u",
			    input_name(t->in), version, FORMAT_VERSION);
		return false;
	}
	if (!get_chunk(t, n, &chunk, error))
		return false;
	struct cursor c = { n->raw, n->raw + chunk.raw };
	if (chunk.type != CHUNK_HEADER || !format_get_provenance(&c, &t->provenance) ||
	    c.at != c.end)
		return fail(t, error, "damaged: bad provenance") > 0;
	t->nr_head_provenance = t->provenance.keys->len;
	return true;
}

struct native_reader *native_open(struct rs_trace *t, GError **error)
{
	struct native_reader *n = g_new0(struct native_reader, 1);

	n->decoder = block_decoder_new();
	n->zstd = ZSTD_createDCtx();
	if (read_head(t, n, error))
		return n;
	native_free(n);
	return NULL;
}

void native_free(struct native_reader *n)
{
	if (!n)
		return;
	block_decoder_free(n->decoder);
	ZSTD_freeDCtx(n->zstd);
	g_free(n->packed);
	g_free(n->raw);
	g_free(n);
}

static int read_block(struct rs_trace *t, const struct chunk *chunk, GError **error)
{
	struct native_reader *n = t->native;
	GError *why = NULL;
	uint32_t at;

	t->line = n->nr_records;
	if (!block_decode(n->decoder, n->raw, chunk->raw, chunk->records, &t->state, t->records,
			  t->maps, t->map_places, &at, &why)) {
		g_set_error(error, RS_ERROR, RS_ERROR_INPUT, "%s: record %" G_GUINT64_FORMAT ": %s",
			    input_name(t->in), t->line + at, why->message);
		g_error_free(why);
		return -1;
	}
	t->nr_records = chunk->records;
	n->nr_records += chunk->records;
	n->nr_blocks++;
	return 1;
}

/* Skip the index, which only a reader that seeks needs. */
static bool get_index(struct cursor *c, uint64_t nr_blocks)
{
	uint64_t n, size, records;

	if (!get_varint(c, nr_blocks, &n) || n != nr_blocks)
		return false;
	while (n--)
		if (!get_varint(c, UINT32_MAX, &size) || !get_varint(c, BLOCK_RECORDS, &records))
			return false;
	return c->at == c->end;
}

static int read_end(struct rs_trace *t, const struct chunk *chunk, GError **error)
{
	struct native_reader *n = t->native;
	struct cursor c = { n->raw, n->raw + chunk->raw };
	char hex[2 * FORMAT_DIGEST_BYTES + 1];
	uint8_t foot[FORMAT_FOOT_BYTES], more;
	uint64_t records;

	if (!get_varint(&c, UINT64_MAX, &records) || records != n->nr_records ||
	    (size_t)(c.end - c.at) < FORMAT_DIGEST_BYTES)
		return fail(t, error,
			    "damaged: the number of records differs from that at the end");
	for (uint32_t i = 0; i < FORMAT_DIGEST_BYTES; i++)
		g_snprintf(hex + 2 * i, 3, "%02x", *c.at++);
	if (!format_get_provenance(&c, &t->provenance) || !get_index(&c, n->nr_blocks))
		return fail(t, error, "damaged: bad index");
	if (!get_bytes(t, n, foot, sizeof(foot), error))
		return -1;
	if (get_u32(foot) != (uint32_t)chunk->offset || get_u32(foot + 4) != chunk->offset >> 32 ||
	    memcmp(foot + 8, FORMAT_END_MAGIC, 8))
		return fail(t, error, "damaged: bad foot");
	gssize extra = input_read(t->in, &more, 1, error);
	if (extra)
		return extra < 0 ? -1 : fail(t, error, "data behind the end of the trace");
	t->hex = digest_finish(&t->digest, &t->state);
	if (strcmp(hex, t->hex))
		return fail(t, error, "damaged: the digest differs from that at the end");
	return 0;
}

int native_next(struct rs_trace *t, GError **error)
{
	struct chunk chunk;

	if (!get_chunk(t, t->native, &chunk, error))
		return -1;
	if (chunk.type == CHUNK_BLOCK)
		return read_block(t, &chunk, error);
	if (chunk.type == CHUNK_END)
		return read_end(t, &chunk, error);
	return fail(t, error, "damaged: a second header");
}
