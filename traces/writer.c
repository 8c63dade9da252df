/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * writer.c - writes either format. Names get their numbers in the order in which they first
 * appear in a record, whatever order they were interned in: so the same trace has the same bytes
 * and the same digest wherever it comes from.
 */
#include <zstd.h>

#include "traces/block.h"
#include "traces/digest.h"
#include "traces/format.h"
#include "traces/sink.h"
#include "traces/print.h"
#include "traces/record.h"

#define ZSTD_LEVEL 6
#define TEXT_FLUSH (256u << 10)

struct rs_trace_writer {
	char *path;
	enum rs_trace_format format;
	struct sink *out;
	struct trace_state state;
	struct digest digest;
	struct provenance provenance;
	struct names interned[NR_NAME_KINDS];
	GArray *number[NR_NAME_KINDS]; /* interned -> number in the trace, NAME_NONE = none yet */
	uint32_t nr_written[NR_NAME_KINDS]; /* names that the blocks so far hold */
	bool begun, failed;
	uint32_t nr_provenance; /* in the header */
	uint64_t nr_records, nr_blocks, offset;
	GString *text;
	struct block_encoder *encoder;
	ZSTD_CCtx *zstd;
	GByteArray *raw, *packed, *index;
};

struct rs_trace_writer *rs_trace_create(const char *path, enum rs_trace_format format,
					GError **error)
{
	struct sink *out = sink_open(path, error);

	if (!out)
		return NULL;
	struct rs_trace_writer *w = g_new0(struct rs_trace_writer, 1);
	w->out = out;
	w->path = g_strdup(path);
	w->format = format;
	state_init(&w->state);
	digest_init(&w->digest);
	provenance_init(&w->provenance);
	for (int i = 0; i < NR_NAME_KINDS; i++) {
		names_init(&w->interned[i]);
		w->number[i] = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	}
	w->nr_written[RS_NAME_THREAD] = w->nr_written[RS_NAME_PROCESS] = 1;
	rs_trace_intern(w, RS_NAME_THREAD, "0");
	rs_trace_intern(w, RS_NAME_PROCESS, "0");
	w->text = g_string_new(NULL);
	w->encoder = block_encoder_new();
	w->zstd = ZSTD_createCCtx();
	w->raw = g_byte_array_new();
	w->packed = g_byte_array_new();
	w->index = g_byte_array_new();
	return w;
}

static void writer_free(struct rs_trace_writer *w)
{
	state_done(&w->state);
	digest_done(&w->digest);
	provenance_done(&w->provenance);
	for (int i = 0; i < NR_NAME_KINDS; i++) {
		names_done(&w->interned[i]);
		g_array_free(w->number[i], TRUE);
	}
	g_string_free(w->text, TRUE);
	block_encoder_free(w->encoder);
	ZSTD_freeCCtx(w->zstd);
	g_byte_array_unref(w->raw);
	g_byte_array_unref(w->packed);
	g_byte_array_unref(w->index);
	g_free(w->path);
	g_free(w);
}

void rs_trace_set_provenance(struct rs_trace_writer *w, const char *key, const char *value)
{
	/* What stands in the header already is not changed any more. */
	if (!w->begun || !provenance_get(&w->provenance, key))
		provenance_set(&w->provenance, key, value);
}

uint32_t rs_trace_intern(struct rs_trace_writer *w, enum rs_name_kind kind, const char *name)
{
	uint32_t id = names_add(&w->interned[kind], name);

	if (id == w->number[kind]->len) {
		uint32_t number = names_find(&w->state.names[kind], name);

		g_array_append_val(w->number[kind], number);
	}
	return id;
}

static bool emit(struct rs_trace_writer *w, const void *bytes, size_t size, GError **error)
{
	w->offset += size;
	if (sink_write(w->out, bytes, size, error))
		return true;
	w->failed = true;
	return false;
}

static bool emit_text(struct rs_trace_writer *w, GError **error)
{
	bool fine = emit(w, w->text->str, w->text->len, error);

	g_string_truncate(w->text, 0);
	return fine;
}

/* Pack w->raw and write it as a chunk. */
static bool emit_chunk(struct rs_trace_writer *w, enum chunk_type type, uint32_t records,
		       GError **error)
{
	g_byte_array_set_size(w->packed, FORMAT_CHUNK_BYTES + ZSTD_compressBound(w->raw->len));
	ZSTD_CCtx_setParameter(w->zstd, ZSTD_c_compressionLevel, ZSTD_LEVEL);
	ZSTD_CCtx_setParameter(w->zstd, ZSTD_c_checksumFlag, 1);
	size_t size =
		ZSTD_compress2(w->zstd, w->packed->data + FORMAT_CHUNK_BYTES,
			       w->packed->len - FORMAT_CHUNK_BYTES, w->raw->data, w->raw->len);
	if (ZSTD_isError(size)) {
		w->failed = true;
		g_set_error(error, RS_ERROR, RS_ERROR_OUTPUT, "%s: cannot compress: %s", w->path,
			    ZSTD_getErrorName(size));
		return false;
	}
	put_u32(w->packed->data, type);
	put_u32(w->packed->data + 4, size);
	put_u32(w->packed->data + 8, w->raw->len);
	put_u32(w->packed->data + 12, records);
	g_byte_array_set_size(w->raw, 0);
	if (type == CHUNK_BLOCK) {
		w->nr_blocks++;
		put_varint(w->index, size);
		put_varint(w->index, records);
	}
	return emit(w, w->packed->data, FORMAT_CHUNK_BYTES + size, error);
}

/* What stands before the first record. */
static bool begin(struct rs_trace_writer *w, GError **error)
{
	uint8_t head[FORMAT_HEAD_BYTES] = FORMAT_MAGIC;

	if (w->begun)
		return true;
	w->begun = true;
	w->nr_provenance = w->provenance.keys->len;
	if (w->format == RS_TRACE_TEXT) {
		for (uint32_t i = 0; i < w->nr_provenance; i++)
			rs_provenance_print(w->text, g_ptr_array_index(w->provenance.keys, i),
					    g_ptr_array_index(w->provenance.values, i));
		return true;
	}
	put_u32(head + 8, FORMAT_VERSION);
	put_u32(head + 12, 0);
	format_put_provenance(w->raw, &w->provenance, 0);
	return emit(w, head, sizeof(head), error) && emit_chunk(w, CHUNK_HEADER, 0, error);
}

/* The number of an object in the trace; a name that is met first gets the next one. */
static bool number_of(struct rs_trace_writer *w, enum rs_name_kind kind, uint32_t id, bool defines,
		      uint32_t *ret, GError **error)
{
	if (id >= w->number[kind]->len) {
		g_set_error(error, RS_ERROR, RS_ERROR_INPUT, "object %u was never named", id);
		return false;
	}
	uint32_t *number = &g_array_index(w->number[kind], uint32_t, id);
	if (*number == NAME_NONE && defines)
		*number = names_add(&w->state.names[kind], names_get(&w->interned[kind], id));
	if (*number != NAME_NONE) {
		*ret = *number;
		return true;
	}
	g_set_error(error, RS_ERROR, RS_ERROR_INPUT, "%s \"%.80s\" is used before it %s",
		    kind == RS_NAME_REGION ? "region"
		    : kind == RS_NAME_FILE ? "file"
					   : "thread",
		    names_get(&w->interned[kind], id),
		    kind == RS_NAME_REGION ? "is mapped"
		    : kind == RS_NAME_FILE ? "is defined"
					   : "begins");
	return false;
}

static bool defines(uint8_t op)
{
	return op == RS_OP_FILE || op == RS_OP_MMAP || op == RS_OP_THREAD || op == RS_OP_FORK ||
	       op == RS_OP_MARK || op == RS_OP_MEMCG;
}

/* The record with the trace's numbers instead of the interned ones. */
static bool translate(struct rs_trace_writer *w, struct rs_record *r, struct rs_map *map,
		      GError **error)
{
	int kind = r->op < RS_NR_OPS ? rs_record_object_kind(r->op) : -1;
	uint32_t process;

	if (kind >= 0 && !number_of(w, kind, r->object, defines(r->op), &r->object, error))
		return false;
	if (map && map->file != RS_MAP_FILE_NONE &&
	    !number_of(w, RS_NAME_FILE, map->file, false, &map->file, error))
		return false;
	if (r->op != RS_OP_THREAD && r->op != RS_OP_FORK)
		return true;
	if (r->op == RS_OP_THREAD && state_thread_alive(&w->state, r->object)) {
		r->arg = 0;
		return true;
	}
	if (!number_of(w, RS_NAME_PROCESS, r->arg, true, &process, error))
		return false;
	if (process >= TRACE_MAX_PROCESSES) {
		g_set_error(error, RS_ERROR, RS_ERROR_INPUT, "more than %u names of processes",
			    TRACE_MAX_PROCESSES);
		return false;
	}
	r->arg = process;
	return true;
}

/* Names whose record was refused are forgotten. */
static void forget_names(struct rs_trace_writer *w)
{
	for (int kind = 0; kind < NR_NAME_KINDS; kind++) {
		uint32_t nr = w->state.nr_seen[kind];

		if (w->state.names[kind].names->len == nr)
			continue;
		names_truncate(&w->state.names[kind], nr);
		for (uint32_t i = 0; i < w->number[kind]->len; i++)
			if (g_array_index(w->number[kind], uint32_t, i) >= nr)
				g_array_index(w->number[kind], uint32_t, i) = NAME_NONE;
	}
}

static bool flush_block(struct rs_trace_writer *w, GError **error)
{
	uint32_t records = block_nr_records(w->encoder);

	if (!records)
		return true;
	block_finish(w->encoder, w->raw);
	return emit_chunk(w, CHUNK_BLOCK, records, error);
}

static bool put_native(struct rs_trace_writer *w, const struct rs_record *r,
		       const struct rs_map *map, GError **error)
{
	if (!block_add(w->encoder, r, map)) {
		if (!flush_block(w, error))
			return false;
		block_add(w->encoder, r, map);
	}
	if (!defines(r->op))
		return true;
	for (int kind = 0; kind < NR_NAME_KINDS; kind++)
		while (w->nr_written[kind] < w->state.nr_seen[kind])
			block_add_name(w->encoder, kind,
				       names_get(&w->state.names[kind], w->nr_written[kind]++));
	return true;
}

/* A file is as large as its largest definition: others are no records, as in the text. */
static bool defines_nothing(const struct rs_trace_writer *w, const struct rs_record *r)
{
	const GArray *files = w->state.files;

	return r->object < files->len && !r->arg &&
	       r->value <= g_array_index(files, struct file_state, r->object).pages;
}

/*
 * The short way of the bulk of an imported trace: an access whose region has its number and that
 * needs no closer look. False: the long way has to look at it.
 */
static bool put_access(struct rs_trace_writer *w, const struct rs_record *record)
{
	const GArray *numbers = w->number[RS_NAME_REGION];
	struct rs_record r = *record;

	if (w->format != RS_TRACE_NATIVE || !w->begun || r.arg || r.flags ||
	    r.object >= numbers->len)
		return false;
	r.object = g_array_index(numbers, uint32_t, r.object);
	if (r.object == NAME_NONE || !state_access_ok(&w->state, &r) ||
	    !block_add(w->encoder, &r, NULL))
		return false;
	w->nr_records++;
	digest_add(&w->digest, &r, 1, NULL, 0);
	return true;
}

bool rs_trace_put(struct rs_trace_writer *w, const struct rs_record *record,
		  const struct rs_map *map, GError **error)
{
	if ((record->op == RS_OP_LOAD || record->op == RS_OP_STORE) && !map &&
	    put_access(w, record))
		return true;
	struct rs_record r = *record;
	struct rs_map own = map ? *map : (struct rs_map){ 0 };
	size_t text = w->text->len;

	if (r.op == RS_OP_MMAP)
		r.value = 0;
	if (!begin(w, error))
		return false;
	bool access = (r.op == RS_OP_LOAD || r.op == RS_OP_STORE) && !r.arg && !r.flags;
	if (!translate(w, &r, map ? &own : NULL, error)) {
		forget_names(w);
		return false;
	}
	if (r.op == RS_OP_FILE && defines_nothing(w, &r))
		return true;
	GError *why = NULL;
	if (w->format == RS_TRACE_TEXT && rs_record_check(&r, map ? &own : NULL, &why))
		print_record(w->text, &w->state, &r, &own);
	if (why || ((!access || !state_access_ok(&w->state, &r)) &&
		    !state_apply(&w->state, &r, map ? &own : NULL, &why))) {
		g_propagate_error(error, why);
		g_string_truncate(w->text, text);
		forget_names(w);
		return false;
	}
	w->nr_records++;
	digest_add(&w->digest, &r, 1, &own, map ? 1 : 0);
	if (w->format == RS_TRACE_NATIVE)
		return put_native(w, &r, map ? &own : NULL, error);
	return w->text->len < TEXT_FLUSH || emit_text(w, error);
}

static bool finish_text(struct rs_trace_writer *w, GError **error)
{
	for (uint32_t i = w->nr_provenance; i < w->provenance.keys->len; i++)
		rs_provenance_print(w->text, g_ptr_array_index(w->provenance.keys, i),
				    g_ptr_array_index(w->provenance.values, i));
	if (!w->offset && !w->text->len) /* an empty file would be no trace */
		g_string_append(w->text, "# no records\n");
	return emit_text(w, error);
}

static bool finish_native(struct rs_trace_writer *w, GError **error)
{
	uint8_t foot[FORMAT_FOOT_BYTES];

	if (!flush_block(w, error))
		return false;
	uint64_t offset = w->offset;
	g_autofree char *hex = digest_finish(&w->digest, &w->state);
	put_varint(w->raw, w->nr_records);
	for (uint32_t i = 0; i < FORMAT_DIGEST_BYTES; i++) {
		uint8_t byte = g_ascii_xdigit_value(hex[2 * i]) << 4 |
			       g_ascii_xdigit_value(hex[2 * i + 1]);

		g_byte_array_append(w->raw, &byte, 1);
	}
	format_put_provenance(w->raw, &w->provenance, w->nr_provenance);
	put_varint(w->raw, w->nr_blocks);
	g_byte_array_append(w->raw, w->index->data, w->index->len);
	put_u32(foot, offset);
	put_u32(foot + 4, offset >> 32);
	memcpy(foot + 8, FORMAT_END_MAGIC, 8);
	return emit_chunk(w, CHUNK_END, 0, error) && emit(w, foot, sizeof(foot), error);
}

bool rs_trace_writer_close(struct rs_trace_writer *w, GError **error)
{
	bool fine = !w->failed && begin(w, error) &&
		    (w->format == RS_TRACE_TEXT ? finish_text(w, error) : finish_native(w, error));

	if (w->failed && error && !*error)
		g_set_error(error, RS_ERROR, RS_ERROR_OUTPUT,
			    "%s: not written: an earlier write failed", w->path);
	if (fine)
		fine = sink_close(w->out, error);
	else
		sink_abort(w->out);
	writer_free(w);
	return fine;
}

void rs_trace_writer_abort(struct rs_trace_writer *w)
{
	if (!w)
		return;
	sink_abort(w->out);
	writer_free(w);
}
