/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * import_fio_iolog.c - fio's own log of a job's I/O (write_iolog), versions 2 and 3.
 *
 * Each log is one job, a process; several logs are merged by time, all starting at 0 (fio's clocks
 * are a job's own), or, --with stonewall=1, follow one another. What the log does not say is
 * modelled by these defaults, each of them a --with setting with the meaning it has for job files
 * (gen_fio.c): invalidate=1    every open drops the file's cached pages; fadvise_hint=1  a job that
 * mostly goes on where it stopped advises SEQUENTIAL, else RANDOM; own_pages, shared_pages,
 * hot_pages   fio's own memory, see fio_memory.h; engine=psync    mmap: the I/O goes through a
 * mapping of the file, with madvise() as the hint; direct=0        1: the I/O bypasses the page
 * cache and is counted only. Names are not quoted and may hold blanks, so lines are taken apart
 * from the right.
 */
#include "traces/fio_memory.h"
#include "traces/import.h"
#include "traces/import_text.h"

#define BUFFER_PAGES 256u

enum fio_op {
	FIO_ADD,
	FIO_OPEN,
	FIO_CLOSE,
	FIO_WAIT,
	FIO_READ,
	FIO_WRITE,
	FIO_SYNC,
	FIO_DATASYNC,
	FIO_TRIM,
	FIO_NR_OPS
};
static const char *const op_names[FIO_NR_OPS] = { "add",   "open", "close",    "wait", "read",
						  "write", "sync", "datasync", "trim" };

/* What is known of a file, by its number. */
struct fio_file {
	uint32_t input; /* + 1 that added or opened it last */
	uint64_t end;	/* of its last I/O */
	uint64_t onward, jumps;
	uint32_t region, mapped_by;  /* engine=mmap: input + 1 that mapped it last */
	uint32_t opened_by, used_by; /* input + 1 */
	uint32_t users;
	uint16_t handle;
};

struct fio {
	unsigned version;
	uint32_t input; /* whose header was read, + 1 */
	uint64_t ops[FIO_NR_OPS], wait_us, trim_bytes, io_before_open;
	uint64_t base_us, last_us; /* a second header starts at 0 again */
	bool invalidate, hint, mmap, direct, stonewall;
	uint64_t own_pages, shared_pages, hot_pages, ios;
	uint32_t own_region, buffer_region;
	GArray *files;
};

static unsigned fio_probe(const char *head, size_t n)
{
	const char *p = head, *end = head + n;

	return text_word(&p, end, "fio version ") ? 100 : 0;
}

static bool fio_begin(struct import *im, GError **error)
{
	struct fio *fio = im->priv;
	const char *engine = import_with(im, "engine");
	uint64_t invalidate, hint, direct, stonewall;

	fio->files = g_array_new(FALSE, TRUE, sizeof(struct fio_file));
	fio->mmap = engine && !strcmp(engine, "mmap");
	if (!import_with_number(im, "invalidate", 1, 1, &invalidate, error) ||
	    !import_with_number(im, "fadvise_hint", 1, 1, &hint, error) ||
	    !import_with_number(im, "direct", 0, 1, &direct, error) ||
	    !import_with_number(im, "stonewall", 0, 1, &stonewall, error) ||
	    !import_with_number(im, "shared_pages", FIO_SHARED_PAGES, 1u << 20, &fio->shared_pages,
				error) ||
	    !import_with_number(im, "own_pages", FIO_OWN_PAGES, 1u << 20, &fio->own_pages, error) ||
	    !import_with_number(im, "hot_pages", FIO_HOT_PAGES, 1u << 20, &fio->hot_pages, error))
		return false;
	fio->invalidate = invalidate;
	fio->hint = hint;
	fio->direct = direct;
	fio->stonewall = im->one_spool = stonewall;
	fio->hot_pages = MIN(fio->hot_pages, fio->own_pages);
	return true;
}

static struct fio_file *file_at(struct fio *fio, uint32_t i)
{
	if (i >= fio->files->len)
		g_array_set_size(fio->files, i + 1);
	return &g_array_index(fio->files, struct fio_file, i);
}

/* Cuts the last word off s..*end. */
static bool last_word(const char *s, const char **end, const char **word, size_t *n)
{
	const char *e = *end, *w;

	while (e > s && e[-1] == ' ')
		e--;
	w = e;
	while (w > s && w[-1] != ' ')
		w--;
	*word = w;
	*n = (size_t)(e - w);
	*end = w;
	return e > w;
}

static int op_of(const char *s, size_t n)
{
	for (int i = 0; i < FIO_NR_OPS; i++)
		if (text_is(s, n, op_names[i]))
			return i;
	return -1;
}

static bool whole_number(const char *s, size_t n, uint64_t *ret)
{
	const char *p = s;

	return text_u64(&p, s + n, ret) && p == s + n;
}

static void put(struct import *im, uint8_t op, uint32_t object, uint32_t page, uint64_t count)
{
	struct rs_record record = {
		.op = op, .object = object, .page = page, .count = (uint32_t)count
	};

	if (count)
		import_put_timed(im, &record, NULL);
}

static uint32_t put_map(struct import *im, uint32_t file, uint16_t handle, uint32_t prot,
			uint64_t pages)
{
	struct rs_record record = { .op = RS_OP_MMAP, .arg = handle, .object = import_region(im) };
	struct rs_map map = { .file = file, .prot = prot | VM_READ | VM_WRITE, .pages = pages };

	import_put(im, &record, &map);
	return record.object;
}

/* fio's main process writes its memory and forks the job. */
static void start_job(struct import *im)
{
	struct fio *fio = im->priv;
	uint64_t job = im->input + 1;

	if (!fio->own_pages) {
		import_thread(im, im->input, im->input);
		return;
	}
	import_thread(im, 0, 0);
	if (!im->input) {
		fio->own_region = put_map(im, RS_MAP_FILE_NONE, 0, 0, fio->own_pages);
		put(im, RS_OP_STORE, fio->own_region, 0, fio->own_pages);
		if (fio->shared_pages)
			put(im, RS_OP_STORE,
			    put_map(im, RS_MAP_FILE_NONE, 0, VM_SHARED, fio->shared_pages), 0,
			    fio->shared_pages);
	} else if (fio->stonewall) {
		import_wait(im, job - 1, job - 1);
	}
	import_fork(im, job, job);
	import_thread(im, job, job);
	fio->buffer_region = put_map(im, RS_MAP_FILE_NONE, 0, 0, BUFFER_PAGES);
}

/* The process's own memory: the I/O buffer and a few pages of data, now and then. */
static void touch_own(struct import *im, uint64_t length)
{
	struct fio *fio = im->priv;
	uint64_t pages = (length + RS_PAGE_SIZE - 1) >> RS_PAGE_SHIFT;

	if (!fio->own_pages || fio->ios++ % FIO_TOUCH_EVERY)
		return;
	put(im, RS_OP_STORE, fio->buffer_region, 0, MIN(pages, BUFFER_PAGES));
	put(im, RS_OP_STORE, fio->own_region, 0, fio->hot_pages);
}

static bool header(struct import *im, const char *s, const char *end)
{
	struct fio *fio = im->priv;
	uint64_t version;

	s += strlen("fio version ");
	if (!text_u64(&s, end, &version) || !text_word(&s, end, " iolog") || s != end)
		return import_bad(im, "a damaged header");
	if (version != 2 && version != 3) {
		g_set_error(&im->error, RS_ERROR, RS_ERROR_INPUT,
			    "%s:%" G_GUINT64_FORMAT ": fio iolog version %" G_GUINT64_FORMAT
			    " is not supported; valid are 2 and 3",
			    im->path, im->line_no, version);
		return true;
	}
	/* The log is opened for appending: a second run goes on behind the first. */
	if (fio->input == im->input + 1 || fio->stonewall)
		fio->base_us += fio->last_us;
	else
		fio->base_us = 0;
	if (fio->input != im->input + 1)
		start_job(im);
	fio->last_us = 0;
	fio->version = (unsigned)version;
	fio->input = im->input + 1;
	im->c.header_lines++;
	return true;
}

/* Each job opens a file for itself; the number of that open file. */
static uint16_t handle_of(const struct import *im, uint32_t i)
{
	struct fio_file *file = file_at(im->priv, i);

	if (file->used_by != im->input + 1) {
		file->handle = (uint16_t)MIN(file->users, RS_MAX_HANDLE);
		file->users++;
	}
	file->used_by = im->input + 1;
	return file->handle;
}

static void put_advice(struct import *im, uint32_t i, uint16_t advice)
{
	struct rs_record record = { .op = RS_OP_FADVISE,
				    .arg = RS_FADVISE_ARG(advice, handle_of(im, i)),
				    .object = import_file_at(im, i)->id };

	import_file_at(im, i)->used = true;
	import_put_timed(im, &record, NULL);
}

/* engine=mmap: the whole file, once a process; its size is known at the end of the log. */
static void map_file(struct import *im, uint32_t i)
{
	struct fio *fio = im->priv;
	struct fio_file *file = file_at(fio, i);
	struct rs_record hint = { .op = RS_OP_MADVISE,
				  .arg = IMPORT_ADV_HINT,
				  .page = import_file_at(im, i)->id,
				  .count = handle_of(im, i) };

	if (file->mapped_by == im->input + 1)
		return;
	file->mapped_by = im->input + 1;
	import_file_at(im, i)->used = true;
	file->region = put_map(im, import_file_at(im, i)->id, handle_of(im, i), VM_SHARED, 0);
	hint.object = file->region;
	if (fio->hint)
		import_put(im, &hint, NULL);
}

static void put_reopen(struct import *im, uint32_t i)
{
	struct rs_record record = { .op = RS_OP_OPEN,
				    .arg = handle_of(im, i),
				    .object = import_file_at(im, i)->id };

	import_file_at(im, i)->used = true;
	import_put_timed(im, &record, NULL);
}

static void file_op(struct import *im, int op, const char *name, size_t n)
{
	struct fio *fio = im->priv;
	uint32_t i = import_file(im, name, n);

	if (i == UINT32_MAX)
		return;
	file_at(fio, i)->input = im->input + 1;
	if (op != FIO_OPEN)
		return;
	if (file_at(fio, i)->opened_by == im->input + 1)
		put_reopen(im, i);
	file_at(fio, i)->opened_by = im->input + 1;
	if (fio->invalidate)
		put_advice(im, i, RS_ADV_DONTNEED);
	if (fio->hint)
		put_advice(im, i, IMPORT_ADV_HINT);
	if (fio->mmap)
		map_file(im, i);
}

/* The pages of a read or write. */
static void put_io(struct import *im, uint32_t i, bool write, uint64_t offset, uint64_t length)
{
	struct fio *fio = im->priv;
	uint64_t first = offset >> RS_PAGE_SHIFT, last = (offset + length - 1) >> RS_PAGE_SHIFT;

	if (!length || fio->direct)
		return;
	touch_own(im, length);
	if (!fio->mmap || last >= IMPORT_MAX_PAGE) {
		im->open_file = handle_of(im, i);
		import_io_record(im, i, write, offset, length);
		im->open_file = 0;
		return;
	}
	map_file(im, i);
	import_file_reaches(im, i, last + 1, false);
	put(im, write ? RS_OP_STORE : RS_OP_LOAD, file_at(fio, i)->region, (uint32_t)first,
	    last - first + 1);
}

static bool data_op(struct import *im, int op, const char *name, size_t n, uint64_t offset,
		    uint64_t length)
{
	struct fio *fio = im->priv;
	uint32_t i = import_file(im, name, n);
	struct fio_file *file;
	struct rs_record sync = { .op = RS_OP_FSYNC };

	if (i == UINT32_MAX)
		return true;
	file = file_at(fio, i);
	if (op == FIO_WAIT)
		fio->wait_us += offset;
	if (op == FIO_SYNC || op == FIO_DATASYNC) {
		sync.object = import_file_at(im, i)->id;
		import_file_at(im, i)->used = true;
		import_put_timed(im, &sync, NULL);
	}
	if (op == FIO_TRIM) {
		fio->trim_bytes += length;
		import_discard(im, i, offset, length);
	}
	if (op != FIO_READ && op != FIO_WRITE)
		return true;
	if (!import_io_count(im, i, op == FIO_WRITE, offset, length))
		return false;
	put_io(im, i, op == FIO_WRITE, offset, length);
	fio->io_before_open += file->input != im->input + 1;
	if (offset == file->end)
		file->onward++;
	else
		file->jumps++;
	file->end = offset + length;
	return true;
}

static bool fio_line(struct import *im, const char *s, size_t n)
{
	struct fio *fio = im->priv;
	const char *end = s + n, *word, *stamp = s;
	size_t len;
	uint64_t us = 0, offset = 0, length = 0;
	int op;

	if (n > 12 && !memcmp(s, "fio version ", 12))
		return header(im, s, end);
	if (fio->input != im->input + 1) {
		g_set_error(&im->error, RS_ERROR, RS_ERROR_INPUT,
			    "%s:%" G_GUINT64_FORMAT ": no header; a fio iolog begins with \"fio "
			    "version 2 iolog\" or 3 (version 1 has none and is not supported)",
			    im->path, im->line_no);
		return true;
	}
	if (fio->version == 3) {
		if (!text_u64(&s, end, &us) || !text_char(&s, end, ' '))
			return import_bad(im, "no time stamp");
		len = (size_t)(s - 1 - stamp);
	} else {
		len = 0;
	}
	n = len;
	if (!last_word(s, &end, &word, &len))
		return import_bad(im, "no action");
	op = op_of(word, len);
	if (op < 0 || op > FIO_CLOSE) {
		if (!whole_number(word, len, &length) || !last_word(s, &end, &word, &len) ||
		    !whole_number(word, len, &offset) || !last_word(s, &end, &word, &len))
			return import_bad(im, "no offset and length");
		op = op_of(word, len);
		if (op < FIO_WAIT || (op == FIO_WAIT && fio->version == 3))
			return import_bad(im, "not an action");
	}
	if (end == s || end[-1] != ' ' || end - 1 == s)
		return import_bad(im, "no file name");
	end--;
	if (us > UINT64_MAX / 2000 || (op == FIO_TRIM && length > 1ull << 62))
		return import_bad(im, "a number that is too large");
	if (fio->version == 3) {
		import_time(im, stamp, n, (fio->base_us + us) * 1000);
		fio->last_us = us;
	} else if (op == FIO_WAIT) {
		if (offset > 1ull << 50 || fio->wait_us > 1ull << 50)
			return import_bad(im, "a wait that is too long");
		import_time_at(im, (fio->wait_us + offset) * 1000);
	}
	if (op <= FIO_CLOSE)
		file_op(im, op, s, (size_t)(end - s));
	else if (!data_op(im, op, s, (size_t)(end - s), offset, length))
		return false;
	fio->ops[op]++;
	im->c.records++;
	return true;
}

static void fio_input_end(struct import *im)
{
	struct fio *fio = im->priv;

	for (guint i = 0; i < fio->files->len; i++) {
		struct fio_file *file = file_at(fio, i);

		if (file->used_by != im->input + 1)
			continue;
		import_hint(im, i, handle_of(im, i),
			    file->onward >= file->jumps ? RS_ADV_SEQUENTIAL : RS_ADV_RANDOM);
		file->onward = file->jumps = file->end = 0;
	}
	if (fio->input == im->input + 1 && fio->own_pages)
		import_exit(im);
}

static void fio_report(struct import *im, json_t *o)
{
	struct fio *fio = im->priv;
	json_t *ops = json_object();

	for (unsigned i = 0; i < FIO_NR_OPS; i++)
		if (fio->ops[i])
			json_object_set_new(ops, op_names[i],
					    json_integer((json_int_t)fio->ops[i]));
	json_object_set_new(o, "own_pages", json_integer((json_int_t)fio->own_pages));
	json_object_set_new(o, "version", json_integer(fio->version));
	json_object_set_new(o, "ops", ops);
	json_object_set_new(o, "files", json_integer(im->files->len));
	json_object_set_new(o, "trim_bytes", json_integer((json_int_t)fio->trim_bytes));
	json_object_set_new(o, "io_before_open", json_integer((json_int_t)fio->io_before_open));
	json_object_set_new(o, "wait_microseconds", json_integer((json_int_t)fio->wait_us));
}

static void fio_end(struct import *im)
{
	struct fio *fio = im->priv;

	if (fio->files)
		g_array_free(fio->files, TRUE);
}

const struct rs_importer import_fio_iolog = {
	.name = "fio_iolog",
	.summary = "fio write_iolog, versions 2 and 3; several logs are merged by time (--with "
		   "invalidate=0, fadvise_hint=0, own_pages=N, shared_pages=N, hot_pages=N, "
		   "stonewall=1, engine=mmap, direct=1)",
	.valid = "TIME FILE add|open|close, TIME FILE read|write|sync|datasync|trim OFFSET LENGTH "
		 "(version 2: without TIME)",
	.time_unit = "microseconds since the job began",
	.number_time = true,
	.hash_comments = true,
	.priv_size = sizeof(struct fio),
	.probe = fio_probe,
	.begin = fio_begin,
	.line = fio_line,
	.input_end = fio_input_end,
	.report = fio_report,
	.end = fio_end,
};
