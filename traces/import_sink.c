/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * import_sink.c - what an importer says about threads, files and memory, as trace records.
 *
 * Files: sizes are the end of the highest byte used, which is known only when all inputs are read;
 * so records wait in a spool, one an input, and finish() writes RS_OP_FILE of every file first and
 * then merges the spools by time. Within a spool the order is that of the input.
 *
 * Memory: an address trace says nothing of mappings. Each 2 MiB that is touched becomes an
 * anonymous region of its own at its true address, made where it is first touched. The first access
 * to a page is recorded as a store even if it was a load: a load would map the zero page, which
 * reclaim never sees, while the recorded program's page had contents.
 */
#include "traces/import.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define SPOOL_BUFFER (1u << 20)

/* Records, each RS_OP_MMAP followed by its map. */
struct import_spool {
	uint8_t *buffer;
	size_t used, at;
	FILE *file;
	/* while merging */
	struct rs_record record;
	struct rs_map map;
	uint64_t time;
	struct rs_record thread;
	bool more;
};

static void spool_free(void *data)
{
	struct import_spool *spool = data;

	if (spool->file)
		fclose(spool->file);
	g_free(spool->buffer);
	g_free(spool);
}

static void spool_error(struct import *im, const char *doing)
{
	if (!im->error)
		g_set_error(&im->error, RS_ERROR, RS_ERROR_OUTPUT,
			    "cannot %s a temporary file in %s: %s (TMPDIR says where it goes)",
			    doing, g_get_tmp_dir(), g_strerror(errno));
}

static bool spool_flush(struct import *im, struct import_spool *spool)
{
	if (!spool->file) {
		char *path = NULL;
		int fd = g_file_open_tmp("reclaimsim-import-XXXXXX", &path, &im->error);

		if (fd < 0)
			return false;
		remove(path);
		g_free(path);
		spool->file = fdopen(fd, "w+b");
		if (!spool->file) {
			spool_error(im, "open");
			return false;
		}
		setvbuf(spool->file, NULL, _IONBF, 0);
	}
	if (fwrite(spool->buffer, 1, spool->used, spool->file) != spool->used) {
		spool_error(im, "write");
		return false;
	}
	spool->used = 0;
	return true;
}

static void spool_put(struct import *im, const void *data, size_t n)
{
	struct import_spool *spool = im->spool;

	if (spool->used + n > SPOOL_BUFFER && !spool_flush(im, spool))
		return;
	memcpy(spool->buffer + spool->used, data, n);
	spool->used += n;
}

static size_t spool_take(struct import *im, struct import_spool *spool, void *data, size_t n)
{
	if (spool->at + n > spool->used && spool->file) {
		size_t rest = spool->used - spool->at;

		memmove(spool->buffer, spool->buffer + spool->at, rest);
		spool->used =
			rest + fread(spool->buffer + rest, 1, SPOOL_BUFFER - rest, spool->file);
		spool->at = 0;
		if (ferror(spool->file))
			spool_error(im, "read");
	}
	if (spool->at + n > spool->used)
		return 0;
	memcpy(data, spool->buffer + spool->at, n);
	spool->at += n;
	return n;
}

void import_put(struct import *im, const struct rs_record *record, const struct rs_map *map)
{
	if (im->error)
		return;
	if (im->ops->direct) {
		rs_trace_put(im->out, record, map, &im->error);
		return;
	}
	spool_put(im, record, sizeof(*record));
	if (record->op == RS_OP_MMAP)
		spool_put(im, map, sizeof(*map));
}

/* ---- files ---- */

uint32_t import_file(struct import *im, const char *name, size_t len)
{
	char *key;
	void *found;
	struct import_file file = { 0 };

	if (len > 4000)
		len = 4000;
	key = g_strndup(name, len);
	if (!*key) {
		g_free(key);
		key = g_strdup("_");
	}
	found = g_hash_table_lookup(im->file_names, key);
	if (found) {
		g_free(key);
		return GPOINTER_TO_UINT(found) - 1;
	}
	if (im->files->len >= IMPORT_MAX_FILES) {
		g_set_error(&im->error, RS_ERROR, RS_ERROR_INPUT,
			    "%s: more than %u different files; this is the limit of one trace",
			    im->path, IMPORT_MAX_FILES);
		g_free(key);
		return UINT32_MAX;
	}
	file.name = key;
	file.key = im->files->len;
	file.id = rs_trace_intern(im->out, RS_NAME_FILE, key);
	g_array_append_val(im->files, file);
	g_hash_table_insert(im->file_names, key, GUINT_TO_POINTER(im->files->len));
	return im->files->len - 1;
}

/* ---- threads and time ---- */

static uint32_t process_number(struct import *im, uint64_t pid)
{
	uint64_t key = pid;
	void *found = g_hash_table_lookup(im->process_keys, &key);
	uint64_t *copy;

	if (found)
		return GPOINTER_TO_UINT(found) - 1;
	if (im->nr_processes >= IMPORT_MAX_PROCESSES) {
		if (!im->error)
			g_set_error(&im->error, RS_ERROR, RS_ERROR_INPUT,
				    "%s: more than %u processes; this is the limit of one trace",
				    im->path, IMPORT_MAX_PROCESSES);
		return 0;
	}
	copy = g_memdup2(&key, sizeof(key));
	g_hash_table_insert(im->process_keys, copy, GUINT_TO_POINTER(++im->nr_processes));
	return im->nr_processes - 1;
}

static uint32_t thread_number(struct import *im, uint64_t pid, uint64_t tid)
{
	char name[64];
	char *key;
	void *found;
	struct import_thread thread;

	g_snprintf(name, sizeof(name), "%" G_GUINT64_FORMAT ".%" G_GUINT64_FORMAT, pid, tid);
	found = g_hash_table_lookup(im->thread_keys, name);
	if (found)
		return GPOINTER_TO_UINT(found) - 1;
	if (im->threads->len >= IMPORT_MAX_THREADS) {
		g_set_error(&im->error, RS_ERROR, RS_ERROR_INPUT,
			    "%s: more than %u threads; this is the limit of one trace", im->path,
			    IMPORT_MAX_THREADS);
		return 0;
	}
	key = g_strdup(name);
	thread.space = process_number(im, pid);
	/* A record of one process without a number is thread 0 of process 0, which every trace has.
	 */
	if (!pid && !tid)
		strcpy(name, "0");
	thread.id = rs_trace_intern(im->out, RS_NAME_THREAD, name);
	*strchrnul(name, '.') = 0;
	thread.process = (uint16_t)rs_trace_intern(im->out, RS_NAME_PROCESS, name);
	g_array_append_val(im->threads, thread);
	g_hash_table_insert(im->thread_keys, key, GUINT_TO_POINTER(im->threads->len));
	return im->threads->len - 1;
}

static void thread_record(struct import *im)
{
	const struct import_thread *t =
		&g_array_index(im->threads, struct import_thread, im->thread);
	struct rs_record record = { .op = RS_OP_THREAD, .arg = t->process, .object = t->id };

	import_put(im, &record, NULL);
}

void import_thread(struct import *im, uint64_t pid, uint64_t tid)
{
	uint32_t number;

	if (im->error || (im->have_thread && pid == im->thread_pid && tid == im->thread_tid))
		return;
	number = thread_number(im, pid, tid);
	if (im->error)
		return;
	if (!im->have_thread || number != im->thread) {
		im->thread = number;
		thread_record(im);
		im->time_due = true;
	}
	im->have_thread = true;
	im->thread_pid = pid;
	im->thread_tid = tid;
}

uint32_t import_space(const struct import *im)
{
	if (!im->have_thread || im->thread >= im->threads->len)
		return 0;
	return g_array_index(im->threads, struct import_thread, im->thread).space;
}

/* The record that follows happens at clock.now; the time never goes back within a thread. */
static inline void time_record(struct import *im)
{
	struct rs_record record = { .op = RS_OP_TIME, .value = im->clock.now };

	if (!im->clock.running || (!im->time_due && im->clock.now == im->time_written))
		return;
	im->time_due = false;
	im->time_written = im->clock.now;
	import_put(im, &record, NULL);
}

void import_put_timed(struct import *im, const struct rs_record *record, const struct rs_map *map)
{
	time_record(im);
	import_put(im, record, map);
}

void import_fork(struct import *im, uint64_t pid, uint64_t tid)
{
	uint32_t number = thread_number(im, pid, tid);
	const struct import_thread *t;
	struct rs_record record = { .op = RS_OP_FORK };

	if (im->error)
		return;
	t = &g_array_index(im->threads, struct import_thread, number);
	record.object = t->id;
	record.arg = t->process;
	import_put_timed(im, &record, NULL);
}

void import_exit(struct import *im)
{
	struct rs_record record = { .op = RS_OP_EXIT };

	import_put_timed(im, &record, NULL);
	im->have_thread = false;
}

void import_wait(struct import *im, uint64_t pid, uint64_t tid)
{
	uint32_t number = thread_number(im, pid, tid);
	struct rs_record record = { .op = RS_OP_WAIT };

	if (im->error || number == im->thread)
		return;
	record.object = g_array_index(im->threads, struct import_thread, number).id;
	import_put_timed(im, &record, NULL);
}

/* ---- descriptor calls ---- */

/*
 * The file has at least so many pages. Until it is truncated this says how large it was from the
 * start, or, if it is new, what has been written; after that a read behind its end means that
 * somebody wrote there unseen, and the file is defined anew with that size.
 */
void import_file_reaches(struct import *im, uint32_t i, uint64_t pages, bool write)
{
	struct import_file *file = import_file_at(im, i);
	struct rs_record record = { .op = RS_OP_FILE, .object = file->id, .value = pages };

	file->used = true;
	if (!file->resized) {
		file->pages = MAX(file->pages, pages);
		return;
	}
	if (pages <= file->now)
		return;
	file->now = pages;
	if (!write)
		import_put(im, &record, NULL);
}

void import_truncate(struct import *im, uint32_t i, uint64_t bytes)
{
	struct import_file *file = import_file_at(im, i);
	uint64_t pages = MIN((bytes + RS_PAGE_SIZE - 1) >> RS_PAGE_SHIFT, IMPORT_MAX_PAGE);
	struct rs_record record = { .op = RS_OP_TRUNCATE,
				    .object = file->id,
				    .page = (uint32_t)pages };

	file->used = file->resized = true;
	file->now = pages;
	import_put(im, &record, NULL);
}

void import_io_record(struct import *im, uint32_t i, bool write, uint64_t offset, uint64_t length)
{
	struct import_file *file = import_file_at(im, i);
	uint64_t first = offset >> RS_PAGE_SHIFT, last = (offset + length - 1) >> RS_PAGE_SHIFT;
	struct rs_record record = { .op = write ? RS_OP_WRITE : RS_OP_READ,
				    .arg = im->open_file,
				    .object = file->id };

	if (!length)
		return;
	if (last >= IMPORT_MAX_PAGE) {
		import_skip(im, "access above 16 TiB of a file (no record, but counted)");
		return;
	}
	import_file_reaches(im, i, last + 1, write);
	record.page = (uint32_t)first;
	record.count = (uint32_t)(last - first + 1);
	record.flags = im->mark;
	time_record(im);
	import_put(im, &record, NULL);
}

bool import_io_count(struct import *im, uint32_t i, bool write, uint64_t offset, uint64_t length)
{
	uint64_t first, last;

	if (length > IMPORT_MAX_IO)
		return import_bad(im, "the length is above 4 GiB");
	if (offset > (1ull << 63) - 1 - length)
		return import_bad(im, "the end of the access is above 2^63");
	if (i == UINT32_MAX)
		return true;
	if (write) {
		im->c.writes++;
		im->c.bytes_written += length;
	} else {
		im->c.reads++;
		im->c.bytes_read += length;
	}
	im->c.highest_byte = MAX(im->c.highest_byte, offset + length);
	if (!length) {
		im->c.zero_length++;
		return true;
	}
	first = offset >> RS_PAGE_SHIFT;
	last = (offset + length - 1) >> RS_PAGE_SHIFT;
	im->c.page_accesses += last - first + 1;
	pageset_add(&im->pages, import_file_at(im, i)->key, first, last - first + 1);
	return true;
}

bool import_io(struct import *im, uint32_t i, bool write, uint64_t offset, uint64_t length)
{
	if (!import_io_count(im, i, write, offset, length))
		return false;
	if (i != UINT32_MAX)
		import_io_record(im, i, write, offset, length);
	return true;
}

void import_discard(struct import *im, uint32_t i, uint64_t offset, uint64_t length)
{
	struct import_file *file;
	uint64_t first, end;
	struct rs_record record = { .op = RS_OP_FADVISE, .arg = RS_ADV_DONTNEED };

	if (i == UINT32_MAX || im->error || offset > (1ull << 63) || length > (1ull << 62))
		return;
	file = import_file_at(im, i);
	/* Only pages that lie wholly inside die. */
	first = (offset + RS_PAGE_SIZE - 1) >> RS_PAGE_SHIFT;
	end = (offset + length) >> RS_PAGE_SHIFT;
	end = MIN(end, IMPORT_MAX_PAGE);
	if (first >= end)
		return;
	file->used = true;
	file->pages = MAX(file->pages, end);
	record.object = file->id;
	record.page = (uint32_t)first;
	record.count = (uint32_t)(end - first);
	time_record(im);
	import_put(im, &record, NULL);
}

/* ---- memory ---- */

uint32_t import_region(struct import *im)
{
	char name[16];

	g_snprintf(name, sizeof(name), "%x", im->nr_regions++);
	return rs_trace_intern(im->out, RS_NAME_REGION, name);
}

static uint32_t chunk_hash(const struct import *im, uint64_t key)
{
	return (uint32_t)((key * 0x9e3779b97f4a7c15u) >> 40) & (im->chunk_slots - 1);
}

static void chunk_grow_index(struct import *im)
{
	im->chunk_slots = im->chunk_slots ? im->chunk_slots * 2 : 1024;
	g_free(im->chunk_index);
	im->chunk_index = g_new0(uint32_t, im->chunk_slots);
	for (uint32_t i = 0; i < im->nr_chunks; i++) {
		uint32_t at = chunk_hash(im, im->chunks[i].key);

		while (im->chunk_index[at])
			at = (at + 1) & (im->chunk_slots - 1);
		im->chunk_index[at] = i + 1;
	}
}

static void chunk_map(struct import *im, struct import_chunk *chunk, uint64_t address, bool exec)
{
	struct rs_record record = { .op = RS_OP_MMAP };
	struct rs_map map = {
		.file = RS_MAP_FILE_NONE,
		.prot = VM_READ | VM_WRITE | (exec ? VM_EXEC : 0),
		.pages = RS_PTRS_PER_TABLE,
		.address = address >> 21 << 9,
	};

	/* The first page of memory cannot be mapped; the chunk begins behind it. */
	if (!map.address) {
		map.address = 1;
		map.pages--;
	}
	chunk->region = import_region(im);
	record.object = chunk->region;
	time_record(im);
	import_put(im, &record, &map);
}

static struct import_chunk *chunk_new(struct import *im, uint64_t key, uint64_t address, bool exec)
{
	struct import_chunk *chunk;
	uint32_t at;

	if (im->nr_chunks >= IMPORT_MAX_REGIONS) {
		if (!im->error)
			g_set_error(&im->error, RS_ERROR, RS_ERROR_INPUT,
				    "%s:%" G_GUINT64_FORMAT ": the addresses lie in more than %u "
				    "different 2 MiB blocks; this is the limit of one trace",
				    im->path, im->line_no, IMPORT_MAX_REGIONS);
		return NULL;
	}
	if (im->nr_chunks >= im->chunk_slots / 2)
		chunk_grow_index(im);
	if (im->nr_chunks >= im->cap_chunks) {
		im->cap_chunks = im->cap_chunks ? im->cap_chunks * 2 : 64;
		im->chunks = g_renew(struct import_chunk, im->chunks, im->cap_chunks);
	}
	chunk = &im->chunks[im->nr_chunks];
	memset(chunk, 0, sizeof(*chunk));
	chunk->key = key;
	chunk->special = address >= IMPORT_MAX_ADDRESS;
	at = chunk_hash(im, key);
	while (im->chunk_index[at])
		at = (at + 1) & (im->chunk_slots - 1);
	im->chunk_index[at] = ++im->nr_chunks;
	if (!chunk->special)
		chunk_map(im, chunk, address, exec);
	return chunk;
}

static struct import_chunk *chunk_of(struct import *im, uint64_t address, bool exec)
{
	uint64_t key = (uint64_t)import_space(im) << 43 | address >> 21;
	uint32_t *cached = &im->chunk_cache[(address >> 21 ^ (uint64_t)exec << 5) & 63];
	uint32_t at;
	struct import_chunk *chunk;

	if (*cached < im->nr_chunks && im->chunks[*cached].key == key)
		return &im->chunks[*cached];
	if (im->chunk_slots) {
		for (at = chunk_hash(im, key); im->chunk_index[at];
		     at = (at + 1) & (im->chunk_slots - 1)) {
			chunk = &im->chunks[im->chunk_index[at] - 1];
			if (chunk->key == key) {
				*cached = (uint32_t)(chunk - im->chunks);
				return chunk;
			}
		}
	}
	chunk = chunk_new(im, key, address, exec);
	if (chunk)
		*cached = (uint32_t)(chunk - im->chunks);
	return chunk;
}

static void touch_page(struct import *im, uint64_t address, enum import_touch kind)
{
	struct import_chunk *chunk = chunk_of(im, address, kind == TOUCH_EXEC);
	unsigned page = address >> RS_PAGE_SHIFT & (RS_PTRS_PER_TABLE - 1);
	uint64_t bit = 1ull << (page & 63);
	struct rs_record record = { .op = RS_OP_LOAD, .page = page, .count = 1 };

	if (!chunk)
		return;
	if (kind == TOUCH_WRITE || !(chunk->touched[page >> 6] & bit))
		record.op = RS_OP_STORE;
	chunk->touched[page >> 6] |= bit;
	if (kind != TOUCH_EXEC)
		chunk->data[page >> 6] |= bit;
	if (chunk->special) {
		import_skip(im, "address outside the user half (no record, but counted)");
		return;
	}
	if (address >> 21 == 0) {
		/* Page 0 of the region is page 1 of memory. */
		if (!page) {
			import_skip(im, "address in the first page (no record, but counted)");
			return;
		}
		record.page--;
	}
	record.object = chunk->region;
	time_record(im);
	import_put(im, &record, NULL);
}

bool import_touch(struct import *im, uint64_t address, uint64_t length, enum import_touch kind)
{
	uint64_t end = address + length;

	if (end < address)
		return import_bad(im, "the access wraps round the end of the address space");
	if (length > IMPORT_MAX_IO)
		return import_bad(im, "the length is above 4 GiB");
	if (!length) {
		im->c.zero_length++;
		return true;
	}
	for (uint64_t at = address; at < end && !im->error; at = (at | (RS_PAGE_SIZE - 1)) + 1) {
		im->c.page_accesses++;
		touch_page(im, at, kind);
		if ((at | (RS_PAGE_SIZE - 1)) == UINT64_MAX)
			break;
	}
	return true;
}

uint64_t import_touched_pages(const struct import *im, bool data)
{
	uint64_t pages = 0;

	for (uint32_t i = 0; i < im->nr_chunks; i++)
		for (unsigned w = 0; w < 8; w++)
			pages += (uint64_t)__builtin_popcountll(data ? im->chunks[i].data[w]
								     : im->chunks[i].touched[w]);
	return pages;
}

/* ---- life ---- */

bool import_sink_open(struct import *im, struct rs_trace_writer *out)
{
	im->out = out;
	im->file_names = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	im->files = g_array_new(FALSE, TRUE, sizeof(struct import_file));
	im->hints = g_hash_table_new(NULL, NULL);
	im->thread_keys = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	im->process_keys = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
	im->threads = g_array_new(FALSE, FALSE, sizeof(struct import_thread));
	im->spools = g_ptr_array_new_with_free_func(spool_free);
	memset(im->chunk_cache, 0xff, sizeof(im->chunk_cache));
	return true;
}

void import_sink_next_input(struct import *im)
{
	im->have_thread = false;
	im->time_due = true;
	im->clock.now = im->clock.last_ns = 0;
	if (im->ops->direct || (im->one_spool && im->spool))
		return;
	im->spool = g_new0(struct import_spool, 1);
	im->spool->buffer = g_malloc(SPOOL_BUFFER);
	g_ptr_array_add(im->spools, im->spool);
}

/* The spool's next record; threads and times are kept aside. */
static void spool_next(struct import *im, struct import_spool *spool)
{
	spool->more = spool_take(im, spool, &spool->record, sizeof(spool->record)) &&
		      (spool->record.op != RS_OP_MMAP ||
		       spool_take(im, spool, &spool->map, sizeof(spool->map)));
	if (spool->more && spool->record.op == RS_OP_TIME)
		spool->time = spool->record.value;
	if (spool->more && spool->record.op == RS_OP_THREAD)
		spool->thread = spool->record;
}

static bool spool_start(struct import *im, struct import_spool *spool)
{
	if (spool->file) {
		if (!spool_flush(im, spool))
			return false;
		if (fseeko(spool->file, 0, SEEK_SET)) {
			spool_error(im, "read");
			return false;
		}
	}
	spool_next(im, spool);
	return true;
}

static bool files_write(struct import *im)
{
	for (uint32_t i = 0; i < im->files->len && !im->error; i++) {
		const struct import_file *file = import_file_at(im, i);
		struct rs_record record = { .op = RS_OP_FILE,
					    .object = file->id,
					    .arg = file->created,
					    .value = file->pages };

		if (file->used)
			rs_trace_put(im->out, &record, NULL, &im->error);
	}
	return !im->error;
}

/* The writer numbers files in the order in which they were named here. */
static const struct import_file *file_by_id(const struct import *im, uint32_t id)
{
	static const struct import_file none = { .pages = 1 };

	return id < im->files->len && import_file_at(im, id)->id == id ? import_file_at(im, id)
								       : &none;
}

static uint32_t hint_key(uint32_t id, uint32_t handle)
{
	return id << 12 | handle;
}

void import_hint(struct import *im, uint32_t file, uint16_t handle, enum rs_advice advice)
{
	g_hash_table_insert(im->hints,
			    GUINT_TO_POINTER(hint_key(import_file_at(im, file)->id, handle)),
			    GUINT_TO_POINTER(advice + 1u));
}

static enum rs_advice hint_of(const struct import *im, uint32_t id, uint32_t handle)
{
	guint found = GPOINTER_TO_UINT(
		g_hash_table_lookup(im->hints, GUINT_TO_POINTER(hint_key(id, handle))));

	return found ? (enum rs_advice)(found - 1) : RS_ADV_NORMAL;
}

/* Puts in what was not known when the record was made. */
static void complete(const struct import *im, struct import_spool *spool)
{
	struct rs_record *record = &spool->record;

	record->flags = 0;
	if (record->op == RS_OP_FADVISE && RS_FADVISE_ADVICE(record->arg) == IMPORT_ADV_HINT)
		record->arg =
			RS_FADVISE_ARG(hint_of(im, record->object, RS_FADVISE_HANDLE(record->arg)),
				       RS_FADVISE_HANDLE(record->arg));
	if (record->op == RS_OP_MADVISE && record->arg == IMPORT_ADV_HINT) {
		record->arg = (uint16_t)hint_of(im, record->page, record->count);
		record->page = record->count = 0;
	}
	if (record->op == RS_OP_MMAP && !spool->map.pages)
		spool->map.pages = MAX(file_by_id(im, spool->map.file)->pages, 1);
}

bool import_sink_finish(struct import *im)
{
	struct import_spool *last = NULL;

	if (im->error || !files_write(im))
		return false;
	for (guint i = 0; i < im->spools->len; i++)
		if (!spool_start(im, im->spools->pdata[i]))
			return false;
	while (!im->error) {
		struct import_spool *least = NULL;

		for (guint i = 0; i < im->spools->len; i++) {
			struct import_spool *spool = im->spools->pdata[i];

			if (spool->more && (!least || spool->time < least->time))
				least = spool;
		}
		if (!least)
			break;
		if (last && least != last && least->thread.op && least->record.op != RS_OP_THREAD)
			rs_trace_put(im->out, &least->thread, NULL, &im->error);
		last = least;
		if (least->record.flags && im->drop_marked) {
			spool_next(im, least);
			continue;
		}
		complete(im, least);
		if (!im->error)
			rs_trace_put(im->out, &least->record,
				     least->record.op == RS_OP_MMAP ? &least->map : NULL,
				     &im->error);
		spool_next(im, least);
	}
	return !im->error;
}

void import_sink_free(struct import *im)
{
	if (!im->files)
		return;
	g_hash_table_destroy(im->file_names);
	g_hash_table_destroy(im->hints);
	g_array_free(im->files, TRUE);
	g_hash_table_destroy(im->thread_keys);
	g_hash_table_destroy(im->process_keys);
	g_array_free(im->threads, TRUE);
	g_ptr_array_free(im->spools, TRUE);
	pageset_clear(&im->pages);
	g_free(im->chunks);
	g_free(im->chunk_index);
}
