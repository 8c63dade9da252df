/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * import_strace_file.c - descriptors, offsets and files of an strace log.
 *
 * A file is its path, made absolute and plain as far as the log allows; strace -y gives the path
 * behind each descriptor, else open, dup, fork and close are followed. Sizes: what stat calls say,
 * and the highest byte read, written or mapped. O_TRUNC, unlink and a rename over a file drop its
 * cached pages. What is no file of a disk (pipes, sockets, /dev, /proc, /sys) is passed over, and
 * O_DIRECT calls, which do not touch the page cache.
 */
#include "traces/import_strace.h"
#include "traces/import_text.h"

/* ---- descriptor tables ---- */

static void ofd_free(struct sofd *ofd)
{
	struct sfile *file;

	if (ofd->file != STRACE_NO_FILE) {
		file = strace_file(ofd->st, ofd->file);
		if (!file->free_numbers)
			file->free_numbers = g_array_new(FALSE, FALSE, sizeof(uint16_t));
		g_array_append_val(file->free_numbers, ofd->number);
	}
	g_free(ofd);
}

void strace_ofd_put(struct sofd *ofd)
{
	if (!--ofd->refs)
		ofd_free(ofd);
}

static void fd_free(void *data)
{
	struct sfd *fd = data;

	strace_ofd_put(fd->ofd);
	g_free(fd);
}

struct sfds *strace_fds_new(void)
{
	struct sfds *fds = g_new0(struct sfds, 1);

	fds->refs = 1;
	fds->table = g_hash_table_new_full(NULL, NULL, NULL, fd_free);
	return fds;
}

static void fds_set(struct sfds *fds, uint64_t number, struct sofd *ofd, bool cloexec)
{
	struct sfd *fd;

	if (number >= STRACE_MAX_FDS) {
		if (!ofd->refs)
			ofd_free(ofd);
		return;
	}
	fd = g_new(struct sfd, 1);
	fd->ofd = ofd;
	fd->cloexec = cloexec;
	ofd->refs++;
	g_hash_table_replace(fds->table, GUINT_TO_POINTER((guint)number), fd);
}

struct sfds *strace_fds_copy(const struct sfds *from)
{
	struct sfds *fds = strace_fds_new();
	GHashTableIter iter;
	void *key, *value;

	g_hash_table_iter_init(&iter, from->table);
	while (g_hash_table_iter_next(&iter, &key, &value)) {
		const struct sfd *fd = value;

		fds_set(fds, GPOINTER_TO_UINT(key), fd->ofd, fd->cloexec);
	}
	return fds;
}

void strace_fds_put(struct sfds *fds)
{
	if (!fds || --fds->refs)
		return;
	g_hash_table_destroy(fds->table);
	g_free(fds);
}

static gboolean is_cloexec(void *key, void *value, void *unused)
{
	return ((struct sfd *)value)->cloexec;
}

void strace_fds_exec(struct sfds *fds)
{
	g_hash_table_foreach_remove(fds->table, is_cloexec, NULL);
}

/* Numbers of open files are used again, since each costs the simulator memory. */
struct sofd *strace_ofd_new(struct import *im, uint32_t file)
{
	struct strace *st = im->priv;
	struct sofd *ofd = g_new0(struct sofd, 1);
	struct sfile *f;

	ofd->st = st;
	ofd->file = file;
	if (file == STRACE_NO_FILE)
		return ofd;
	f = strace_file(st, file);
	if (f->free_numbers && f->free_numbers->len) {
		ofd->number = g_array_index(f->free_numbers, uint16_t, f->free_numbers->len - 1);
		g_array_set_size(f->free_numbers, f->free_numbers->len - 1);
		ofd->stale = true;
	} else {
		/* More at once share the last one. */
		ofd->number = (uint16_t)MIN(f->nr_numbers, RS_MAX_HANDLE);
		f->nr_numbers++;
	}
	return ofd;
}

uint16_t strace_ofd_number(struct import *im, struct sofd *ofd)
{
	struct rs_record record = { .op = RS_OP_OPEN, .arg = ofd->number };

	if (ofd->stale) {
		ofd->stale = false;
		import_file_at(im, ofd->file)->used = true;
		record.object = import_file_at(im, ofd->file)->id;
		import_put_timed(im, &record, NULL);
	}
	return ofd->number;
}

/* ---- paths ---- */

char *strace_string(const struct scall *c, unsigned arg, size_t *n)
{
	const char *p, *end;
	GString *text;

	if (arg >= c->nr_args || c->arg_end[arg] - c->arg[arg] < 2 || *c->arg[arg] != '"')
		return NULL;
	p = c->arg[arg] + 1;
	end = c->arg_end[arg];
	text = g_string_new(NULL);
	while (p < end && *p != '"') {
		static const char plain[] = "nrtvf", value[] = "\n\r\t\v\f";
		const char *special;
		unsigned octal = 0, digits = 0;

		if (*p != '\\' || p + 1 >= end) {
			g_string_append_c(text, *p++);
			continue;
		}
		p++;
		while (digits < 3 && p < end && *p >= '0' && *p <= '7') {
			octal = octal * 8 + (unsigned)(*p++ - '0');
			digits++;
		}
		if (digits) {
			g_string_append_c(text, (char)octal);
			continue;
		}
		special = memchr(plain, *p, sizeof(plain) - 1);
		g_string_append_c(text, special ? value[special - plain] : *p);
		p++;
	}
	*n = text->len;
	return g_string_free(text, FALSE);
}

/* Absolute if the folder is known; "." and ".." undone. */
static char *canonical(const struct stask *task, const char *dir, const char *path, size_t n)
{
	char *whole, *result, *copy = g_strndup(path, n);

	if (*copy == '/')
		whole = g_strdup(copy);
	else if (dir || task->cwd)
		whole = g_strdup_printf("%s/%s", dir ? dir : task->cwd, copy);
	else
		whole = g_strdup(copy);
	g_free(copy);
	if (*whole != '/')
		return whole;
	result = g_canonicalize_filename(whole, "/");
	g_free(whole);
	return result;
}

/* The <...> of a descriptor argument, without " (deleted)". */
static bool arg_path(const struct scall *c, unsigned arg, const char **path, size_t *n)
{
	const char *open, *close;

	if (arg >= c->nr_args)
		return false;
	open = memchr(c->arg[arg], '<', (size_t)(c->arg_end[arg] - c->arg[arg]));
	close = open ? memrchr(open, '>', (size_t)(c->arg_end[arg] - open)) : NULL;
	if (!close)
		return false;
	*path = open + 1;
	*n = (size_t)(close - open - 1);
	if (*n > 10 && !memcmp(*path + *n - 10, " (deleted)", 10))
		*n -= 10;
	return true;
}

static bool on_disk(const char *path)
{
	return *path && !g_str_has_prefix(path, "/dev/") && !g_str_has_prefix(path, "/proc/") &&
	       !g_str_has_prefix(path, "/sys/") && !(*path != '/' && strchr(path, ':'));
}

/* The file of a canonical path; makes it. */
static uint32_t file_number(struct import *im, const char *path)
{
	struct strace *st = im->priv;
	void *found = g_hash_table_lookup(st->paths, path);
	uint32_t file;
	char *name;

	if (found)
		return GPOINTER_TO_UINT(found) - 1;
	if (!on_disk(path))
		return STRACE_NO_FILE;
	if (g_hash_table_contains(im->file_names, path)) {
		/* The name went to another file by rename. */
		name = g_strdup_printf("%s#%u", path, ++st->renamed);
		file = import_file(im, name, strlen(name));
		g_free(name);
	} else {
		file = import_file(im, path, strlen(path));
	}
	if (file == UINT32_MAX)
		return STRACE_NO_FILE;
	g_hash_table_insert(st->paths, g_strdup(path), GUINT_TO_POINTER(file + 1));
	strace_file(st, file);
	return file;
}

/* A program's file. */
uint32_t strace_path_file(struct import *im, const struct stask *task, const char *path, size_t n)
{
	char *whole = canonical(task, NULL, path, n);
	uint64_t pages = 0;
	const char *listed = strace_listed_program(im->priv, whole, &pages);
	uint32_t file = file_number(im, listed ? listed : whole);

	if (listed && pages && file != STRACE_NO_FILE && !import_file_at(im, file)->resized) {
		strace_file(im->priv, file)->known = true;
		import_file_reaches(im, file, pages, false);
	}
	g_free(whole);
	return file;
}

/* Path of argument path_arg, relative to the folder of dir_arg (-1: the current one). */
static char *path_of(const struct stask *task, const struct scall *c, int dir_arg,
		     unsigned path_arg)
{
	size_t n, dir_n;
	const char *in;
	char *dir = NULL, *result, *text = strace_string(c, path_arg, &n);

	if (!text)
		return NULL;
	if (dir_arg >= 0 && arg_path(c, (unsigned)dir_arg, &in, &dir_n))
		dir = g_strndup(in, dir_n);
	result = canonical(task, dir, text, n);
	g_free(text);
	g_free(dir);
	return result;
}

/* ---- descriptors of calls ---- */

struct sofd *strace_fd(struct import *im, const struct stask *task, const struct scall *c,
		       unsigned arg)
{
	struct sfd *fd;
	const char *path;
	size_t n;
	uint64_t number;
	uint32_t file;
	char *whole;

	if (!scall_number(c, arg, &number) || number >= STRACE_MAX_FDS)
		return NULL;
	fd = g_hash_table_lookup(task->fds->table, GUINT_TO_POINTER((guint)number));
	if (!arg_path(c, arg, &path, &n))
		return fd ? fd->ofd : NULL;
	whole = g_strndup(path, n);
	file = *whole == '/' ? file_number(im, whole) : STRACE_NO_FILE;
	g_free(whole);
	if (!fd || fd->ofd->file != file) {
		fds_set(task->fds, number, strace_ofd_new(im, file), false);
		fd = g_hash_table_lookup(task->fds->table, GUINT_TO_POINTER((guint)number));
	}
	return fd->ofd;
}

static void drop_file(struct import *im, struct stask *task, uint32_t file)
{
	struct strace *st = im->priv;
	struct sfile *f = strace_file(st, file);

	if (f->nr_maps) {
		import_skip(im, "removal of a file that is mapped (its pages stay)");
		return;
	}
	f->size = 0;
	f->known = true;
	if (strace_switch(im, task))
		import_truncate(im, file, 0);
}

static void make_file(struct import *im, struct stask *task, uint32_t file)
{
	struct import_file *f = import_file_at(im, file);

	if (f->used) {
		drop_file(im, task, file);
		return;
	}
	f->used = f->created = f->resized = true;
	strace_file(im->priv, file)->known = true;
}

static void opened(struct import *im, struct stask *task, const struct scall *c, int dir_arg)
{
	struct strace *st = im->priv;
	unsigned path_arg = (unsigned)(dir_arg + 1), flags = path_arg + 1;
	size_t n = path_arg < c->nr_args ? (size_t)(c->arg_end[path_arg] - c->arg[path_arg]) : 0;
	bool creat = scall_is(c, "creat");
	struct sofd *ofd;
	uint32_t file;
	char *path;

	st->opens++;
	if (n)
		objects_number(im, &st->opened, objects_hash(c->arg[path_arg], n, 0));
	path = c->path ? g_strndup(c->path, (size_t)(c->path_end - c->path))
		       : path_of(task, c, dir_arg, path_arg);
	file = path && !scall_has(c, flags, "O_DIRECTORY") && !scall_has(c, flags, "O_PATH")
		       ? file_number(im, path)
		       : STRACE_NO_FILE;
	g_free(path);
	ofd = strace_ofd_new(im, file);
	ofd->append = scall_has(c, flags, "O_APPEND");
	ofd->direct = scall_has(c, flags, "O_DIRECT");
	fds_set(task->fds, c->result, ofd, scall_has(c, flags, "O_CLOEXEC"));
	if (file == STRACE_NO_FILE)
		return;
	if (scall_has(c, flags, "O_EXCL") || creat ||
	    (scall_has(c, flags, "O_CREAT") && scall_has(c, flags, "O_TRUNC")))
		make_file(im, task, file);
	else if (scall_has(c, flags, "O_TRUNC"))
		drop_file(im, task, file);
}

/* ---- reading and writing ---- */

static void transfer(struct import *im, struct stask *task, const struct scall *c, bool write,
		     int offset_arg)
{
	struct strace *st = im->priv;
	struct sofd *ofd = strace_fd(im, task, c, 0);
	struct sfile *file;
	uint64_t offset;

	if (write)
		st->bytes_written += c->result;
	else
		st->bytes_read += c->result;
	if (!ofd) {
		import_skip(im,
			    "reads and writes of descriptors of unknown origin (use strace -y)");
		return;
	}
	if (ofd->file == STRACE_NO_FILE || !c->result)
		return;
	file = strace_file(st, ofd->file);
	offset = write && ofd->append ? file->size : ofd->offset;
	if (offset_arg >= 0 && !scall_number(c, (unsigned)offset_arg, &offset))
		return;
	if (offset > 1ull << 62 || c->result > IMPORT_MAX_IO)
		return;
	if (offset_arg < 0)
		ofd->offset = offset + c->result;
	file->size = MAX(file->size, offset + c->result);
	if (ofd->direct) {
		import_skip(im, "O_DIRECT calls (no page cache)");
		return;
	}
	if (!strace_switch(im, task))
		return;
	im->open_file = strace_ofd_number(im, ofd);
	import_io(im, ofd->file, write, offset, c->result);
	im->open_file = 0;
}

/* st_size= of what a stat call returned, for regular files. */
static void sized(struct import *im, struct stask *task, const struct scall *c)
{
	const char *line = c->arg[0], *end = c->arg_end[c->nr_args - 1], *at;
	uint32_t file = STRACE_NO_FILE;
	uint64_t bytes;
	struct sofd *ofd;
	struct sfile *f;

	if (!text_find(line, end, "S_IFREG", NULL) ||
	    !(text_find(line, end, "st_size=", &at) || text_find(line, end, "stx_size=", &at)))
		return;
	at = (const char *)memchr(at, '=', (size_t)(end - at)) + 1;
	if (!text_u64(&at, end, &bytes) || bytes > 1ull << 43)
		return;
	ofd = strace_fd(im, task, c, 0);
	if (ofd)
		file = ofd->file;
	if (file == STRACE_NO_FILE)
		return;
	f = strace_file(im->priv, file);
	f->known = true;
	f->size = MAX(f->size, bytes);
	import_file_reaches(im, file, (bytes + RS_PAGE_SIZE - 1) >> RS_PAGE_SHIFT, true);
}

static void renamed(struct import *im, struct stask *task, char *from, char *to)
{
	struct strace *st = im->priv;
	void *old = from ? g_hash_table_lookup(st->paths, from) : NULL;
	void *over = to ? g_hash_table_lookup(st->paths, to) : NULL;

	if (over && over != old)
		drop_file(im, task, GPOINTER_TO_UINT(over) - 1);
	if (to && old && over != old) {
		g_hash_table_remove(st->paths, from);
		g_hash_table_replace(st->paths, g_strdup(to), old);
	}
	g_free(from);
	g_free(to);
}

static void unlinked(struct import *im, struct stask *task, char *path)
{
	struct strace *st = im->priv;
	void *found = path ? g_hash_table_lookup(st->paths, path) : NULL;

	if (found)
		drop_file(im, task, GPOINTER_TO_UINT(found) - 1);
	g_free(path);
}

static void duplicated(struct import *im, struct stask *task, const struct scall *c)
{
	struct sofd *ofd = strace_fd(im, task, c, 0);
	bool control = scall_is(c, "fcntl");

	if (control && scall_has(c, 1, "F_SETFD")) {
		uint64_t number;
		struct sfd *fd = scall_number(c, 0, &number) && number < STRACE_MAX_FDS
					 ? g_hash_table_lookup(task->fds->table,
							       GUINT_TO_POINTER((guint)number))
					 : NULL;
		if (fd)
			fd->cloexec = scall_has(c, 2, "FD_CLOEXEC");
	}
	if (!ofd || (control && !scall_has(c, 1, "F_DUPFD") && !scall_has(c, 1, "F_DUPFD_CLOEXEC")))
		return;
	fds_set(task->fds, c->result, ofd,
		scall_has(c, 1, "F_DUPFD_CLOEXEC") || scall_has(c, 2, "O_CLOEXEC"));
}

static void synced(struct import *im, struct stask *task, const struct scall *c)
{
	struct sofd *ofd = strace_fd(im, task, c, 0);
	struct rs_record record = { .op = RS_OP_FSYNC };

	if (!ofd || ofd->file == STRACE_NO_FILE || !import_file_at(im, ofd->file)->used ||
	    !strace_switch(im, task))
		return;
	record.object = import_file_at(im, ofd->file)->id;
	import_put_timed(im, &record, NULL);
}

static void advised(struct import *im, struct stask *task, const struct scall *c)
{
	static const struct {
		const char *name;
		uint16_t advice;
	} advices[] = { { "POSIX_FADV_NORMAL", RS_ADV_NORMAL },
			{ "POSIX_FADV_RANDOM", RS_ADV_RANDOM },
			{ "POSIX_FADV_SEQUENTIAL", RS_ADV_SEQUENTIAL },
			{ "POSIX_FADV_WILLNEED", RS_ADV_WILLNEED },
			{ "POSIX_FADV_DONTNEED", RS_ADV_DONTNEED },
			{ "POSIX_FADV_NOREUSE", RS_ADV_NOREUSE } };
	struct sofd *ofd = strace_fd(im, task, c, 0);
	struct rs_record record = { .op = RS_OP_FADVISE };
	uint64_t offset, length, first, end;

	if (!ofd || ofd->file == STRACE_NO_FILE || !scall_number(c, 1, &offset) ||
	    !scall_number(c, 2, &length) || offset > 1ull << 43 || length > 1ull << 43)
		return;
	first = offset >> RS_PAGE_SHIFT;
	end = length ? (offset + length + RS_PAGE_SIZE - 1) >> RS_PAGE_SHIFT : 0;
	for (unsigned i = 0; i < G_N_ELEMENTS(advices); i++) {
		if (!scall_has(c, 3, advices[i].name) || !strace_switch(im, task))
			continue;
		import_file_at(im, ofd->file)->used = true;
		record.object = import_file_at(im, ofd->file)->id;
		record.arg = RS_FADVISE_ARG(advices[i].advice, strace_ofd_number(im, ofd));
		record.page = end || first ? (uint32_t)first : 0;
		record.count = end     ? (uint32_t)(end - first)
			       : first ? UINT32_MAX - (uint32_t)first
				       : 0;
		import_put_timed(im, &record, NULL);
	}
}

static void truncated(struct import *im, struct stask *task, const struct scall *c)
{
	struct sofd *ofd = scall_is(c, "ftruncate") ? strace_fd(im, task, c, 0) : NULL;
	uint32_t file = ofd ? ofd->file : STRACE_NO_FILE;
	char *path = ofd ? NULL : path_of(task, c, -1, 0);
	uint64_t bytes;

	if (path)
		file = file_number(im, path);
	g_free(path);
	if (file == STRACE_NO_FILE || !scall_number(c, 1, &bytes) || bytes > 1ull << 43 ||
	    strace_file(im->priv, file)->nr_maps || !strace_switch(im, task))
		return;
	strace_file(im->priv, file)->size = bytes;
	import_truncate(im, file, bytes);
}

/* Descriptors that are no files: pipe, socket, ...: they end what had the number before. */
static void other_descriptor(struct import *im, struct stask *task, const struct scall *c)
{
	static const char *const makers[] = { "socket",		"accept",	"accept4",
					      "eventfd2",	"eventfd",	"epoll_create1",
					      "timerfd_create", "memfd_create", "signalfd4",
					      "inotify_init1",	"pidfd_open" };
	uint64_t first, second;
	const char *p;

	for (unsigned i = 0; i < G_N_ELEMENTS(makers); i++)
		if (scall_is(c, makers[i]))
			fds_set(task->fds, c->result, strace_ofd_new(im, STRACE_NO_FILE), false);
	if ((!scall_is(c, "pipe") && !scall_is(c, "pipe2")) || !c->nr_args)
		return;
	p = c->arg[0];
	if (!text_char(&p, c->arg_end[0], '[') || !text_u64(&p, c->arg_end[0], &first))
		return;
	p = memchr(p, ',', (size_t)(c->arg_end[0] - p));
	if (!p || !text_word(&p, c->arg_end[0], ", ") || !text_u64(&p, c->arg_end[0], &second))
		return;
	if (first < STRACE_MAX_FDS)
		fds_set(task->fds, first, strace_ofd_new(im, STRACE_NO_FILE),
			scall_has(c, 1, "O_CLOEXEC"));
	if (second < STRACE_MAX_FDS)
		fds_set(task->fds, second, strace_ofd_new(im, STRACE_NO_FILE),
			scall_has(c, 1, "O_CLOEXEC"));
}

static void closed(struct stask *task, const struct scall *c)
{
	uint64_t first, last;

	if (!scall_number(c, 0, &first) || first >= STRACE_MAX_FDS)
		return;
	last = first;
	if (scall_is(c, "close_range") && !scall_number(c, 1, &last))
		return;
	last = MIN(last, STRACE_MAX_FDS - 1);
	for (uint64_t i = first; i <= last && g_hash_table_size(task->fds->table); i++)
		g_hash_table_remove(task->fds->table, GUINT_TO_POINTER((guint)i));
}

static void changed_folder(struct stask *task, const struct scall *c)
{
	const char *in;
	size_t n;
	char *path = NULL;

	if (scall_is(c, "chdir"))
		path = path_of(task, c, -1, 0);
	else if (arg_path(c, 0, &in, &n))
		path = g_strndup(in, n);
	if (path) {
		g_free(task->cwd);
		task->cwd = path;
	}
}

static bool reads_or_writes(struct import *im, struct stask *task, const struct scall *c)
{
	static const struct {
		const char *name;
		bool write;
		int offset;
	} calls[] = { { "read", false, -1 },   { "write", true, -1 },  { "pread64", false, 3 },
		      { "pwrite64", true, 3 }, { "readv", false, -1 }, { "writev", true, -1 },
		      { "preadv", false, 3 },  { "pwritev", true, 3 }, { "preadv2", false, 3 },
		      { "pwritev2", true, 3 }, { "pread", false, 3 },  { "pwrite", true, 3 } };

	for (unsigned i = 0; i < G_N_ELEMENTS(calls); i++)
		if (scall_is(c, calls[i].name)) {
			transfer(im, task, c, calls[i].write, calls[i].offset);
			return true;
		}
	return false;
}

void strace_files_call(struct import *im, struct stask *task, const struct scall *c)
{
	struct sofd *ofd;

	if (c->failed || c->unknown || reads_or_writes(im, task, c))
		return;
	if (scall_is(c, "openat") || scall_is(c, "openat2"))
		opened(im, task, c, 0);
	else if (scall_is(c, "open") || scall_is(c, "creat"))
		opened(im, task, c, -1);
	else if (scall_is(c, "close") || scall_is(c, "close_range"))
		closed(task, c);
	else if (scall_is(c, "lseek") || scall_is(c, "_llseek")) {
		ofd = strace_fd(im, task, c, 0);
		if (ofd)
			ofd->offset = c->result;
	} else if (c->name_n > 3 && (text_find(c->name, c->name + c->name_n, "stat", NULL)) &&
		   c->nr_args)
		sized(im, task, c);
	else if (scall_is(c, "dup") || scall_is(c, "dup2") || scall_is(c, "dup3") ||
		 scall_is(c, "fcntl"))
		duplicated(im, task, c);
	else if (scall_is(c, "unlink"))
		unlinked(im, task, path_of(task, c, -1, 0));
	else if (scall_is(c, "unlinkat"))
		unlinked(im, task, path_of(task, c, 0, 1));
	else if (scall_is(c, "rename"))
		renamed(im, task, path_of(task, c, -1, 0), path_of(task, c, -1, 1));
	else if (scall_is(c, "renameat") || scall_is(c, "renameat2"))
		renamed(im, task, path_of(task, c, 0, 1), path_of(task, c, 2, 3));
	else if (scall_is(c, "fsync") || scall_is(c, "fdatasync"))
		synced(im, task, c);
	else if (scall_is(c, "fadvise64"))
		advised(im, task, c);
	else if (scall_is(c, "ftruncate") || scall_is(c, "truncate"))
		truncated(im, task, c);
	else if (scall_is(c, "chdir") || scall_is(c, "fchdir"))
		changed_folder(task, c);
	else
		other_descriptor(im, task, c);
}
