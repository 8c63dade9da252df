/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * state.c - the life of regions, files, threads and processes along a trace. Messages say what is
 * wrong and what would be valid; the callers know the place.
 */
#include "traces/state.h"

#include <reclaimsim/policy.h>
#include <string.h>

#include "traces/record.h"
#include "traces/region.h"

static bool bad(GError **error, const char *format, ...) G_GNUC_PRINTF(2, 3);
static bool bad(GError **error, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	g_autofree char *text = g_strdup_vprintf(format, args);
	va_end(args);
	g_set_error_literal(error, RS_ERROR, RS_ERROR_INPUT, text);
	return false;
}

/* The name as a message may show it: printable and not too long. */
static char *shown(const struct trace_state *s, enum rs_name_kind kind, uint32_t id)
{
	const char *name = names_get(&s->names[kind], id);

	if (!name)
		return g_strdup_printf("%u", id);
	g_autofree char *cut = g_strndup(name, 80);
	return g_strescape(cut, NULL);
}

void state_init(struct trace_state *s)
{
	struct thread_state first = { 0, true };

	memset(s, 0, sizeof(*s));
	for (int i = 0; i < NR_NAME_KINDS; i++)
		names_init(&s->names[i]);
	s->processes = g_ptr_array_new_with_free_func((GDestroyNotify)process_free);
	s->threads = g_array_new(FALSE, FALSE, sizeof(struct thread_state));
	s->files = g_array_new(FALSE, FALSE, sizeof(struct file_state));
	names_add(&s->names[RS_NAME_THREAD], "0");
	names_add(&s->names[RS_NAME_PROCESS], "0");
	s->nr_seen[RS_NAME_THREAD] = s->nr_seen[RS_NAME_PROCESS] = 1;
	s->current = process_new();
	s->current->nr_threads = 1;
	g_ptr_array_add(s->processes, s->current);
	g_array_append_val(s->threads, first);
}

void state_done(struct trace_state *s)
{
	if (!s->processes)
		return;
	for (int i = 0; i < NR_NAME_KINDS; i++)
		names_done(&s->names[i]);
	g_ptr_array_free(s->processes, TRUE);
	g_array_free(s->threads, TRUE);
	g_array_free(s->files, TRUE);
	s->processes = NULL;
}

const struct region_state *state_region(const struct trace_state *s, uint32_t id)
{
	return s->current ? process_region(s->current, id) : NULL;
}

/*
 * The object appears for the first time only with the next free number, so that a trace has one
 * numbering whatever wrote it.
 */
static bool appears(struct trace_state *s, enum rs_name_kind kind, uint32_t id, GError **error)
{
	if (id > s->nr_seen[kind])
		return bad(error, "object %u appears before object %u of its kind", id,
			   s->nr_seen[kind]);
	if (id == s->nr_seen[kind])
		s->nr_seen[kind]++;
	return true;
}

static struct file_state *file_of(struct trace_state *s, uint32_t id, GError **error)
{
	if (id < s->files->len)
		return &g_array_index(s->files, struct file_state, id);
	g_autofree char *name = shown(s, RS_NAME_FILE, id);
	bad(error, "file \"%s\" is not defined; \"file NAME PAGES\" must come first", name);
	return NULL;
}

static const struct region_state *mapped(const struct trace_state *s, uint32_t id, GError **error)
{
	const struct region_state *r = state_region(s, id);

	if (r)
		return r;
	g_autofree char *name = shown(s, RS_NAME_REGION, id);
	bad(error, "region \"%s\" is not mapped; a \"region\" line must come first", name);
	return NULL;
}

static bool apply_access(struct trace_state *s, const struct rs_record *rec, GError **error)
{
	const struct region_state *r = mapped(s, rec->object, error);

	if (!r)
		return false;
	uint64_t end = (uint64_t)rec->page + rec->count;
	bool store = rec->op == RS_OP_STORE;
	if (end <= r->limit[store])
		return true;
	g_autofree char *name = shown(s, RS_NAME_REGION, rec->object);
	if (end > r->pages)
		return bad(error,
			   "page %" G_GUINT64_FORMAT
			   " is outside region \"%s\", which has pages 0 to %u",
			   end - 1, name, r->pages - 1);
	if (r->file != RS_MAP_FILE_NONE && end + r->pgoff > file_of(s, r->file, NULL)->pages)
		return bad(error,
			   "page %" G_GUINT64_FORMAT
			   " of region \"%s\" is past the end of its file, "
			   "which has %u pages",
			   end - 1, name, file_of(s, r->file, NULL)->pages);
	switch (region_access(r, rec->page, rec->count, store)) {
	case REGION_FINE:
		return true;
	case REGION_HOLE:
		return bad(error, "a page of region \"%s\" is unmapped in page %u + %u", name,
			   rec->page, rec->count);
	default:
		return bad(error, "region \"%s\" is not %s in page %u + %u", name,
			   store ? "writable" : "readable", rec->page, rec->count);
	}
}

/* The size of a file changed: mappings of it in every process end elsewhere. */
static void file_resized(struct trace_state *s, uint32_t id, struct file_state *f)
{
	bool clipped = false;

	for (uint32_t i = 0; f->mapped && i < s->processes->len; i++) {
		struct process *p = g_ptr_array_index(s->processes, i);

		if (p && process_file_resized(p, id, f->pages))
			clipped = true;
	}
	f->clipped = clipped;
}

static bool apply_call(struct trace_state *s, const struct rs_record *rec, GError **error)
{
	struct file_state *f = file_of(s, rec->object, error);
	uint64_t end = (uint64_t)rec->page + rec->count;

	if (!f)
		return false;
	if (end <= f->pages)
		return true;
	if (rec->op != RS_OP_WRITE) {
		g_autofree char *name = shown(s, RS_NAME_FILE, rec->object);

		return bad(error,
			   "page %" G_GUINT64_FORMAT
			   " is past the end of file \"%s\", which has %u pages",
			   end - 1, name, f->pages);
	}
	f->pages = end;
	if (f->clipped)
		file_resized(s, rec->object, f);
	return true;
}

static bool apply_file(struct trace_state *s, const struct rs_record *rec, GError **error)
{
	if (!appears(s, RS_NAME_FILE, rec->object, error))
		return false;
	if (rec->object == s->files->len) {
		struct file_state f = { .pages = rec->value };

		g_array_append_val(s->files, f);
		return true;
	}
	struct file_state *f = file_of(s, rec->object, NULL);
	if (rec->value <= f->pages || rec->arg) {
		g_autofree char *name = shown(s, RS_NAME_FILE, rec->object);

		return bad(error, "file \"%s\" has %u pages already and cannot be defined with %s",
			   name, f->pages, rec->arg ? "\"new\"" : "no more");
	}
	f->pages = rec->value;
	if (f->clipped)
		file_resized(s, rec->object, f);
	return true;
}

static bool apply_truncate(struct trace_state *s, const struct rs_record *rec, GError **error)
{
	struct file_state *f = file_of(s, rec->object, error);

	if (!f)
		return false;
	f->pages = rec->page;
	file_resized(s, rec->object, f);
	return true;
}

static bool apply_mmap(struct trace_state *s, const struct rs_record *rec, const struct rs_map *map,
		       GError **error)
{
	struct file_state *f = NULL;

	if (map->file != RS_MAP_FILE_NONE && !(f = file_of(s, map->file, error)))
		return false;
	if (state_region(s, rec->object)) {
		g_autofree char *name = shown(s, RS_NAME_REGION, rec->object);

		return bad(error, "region \"%s\" is mapped already; \"u %s\" must come first", name,
			   name);
	}
	if (f && map->pgoff + map->pages > f->pages) {
		g_autofree char *name = shown(s, RS_NAME_FILE, map->file);

		return bad(error,
			   "a mapping of pages up to %" G_GUINT64_FORMAT
			   " of file \"%s\", which has %u",
			   map->pgoff + map->pages, name, f->pages);
	}
	if (!appears(s, RS_NAME_REGION, rec->object, error))
		return false;
	struct region_state r = { .pages = map->pages,
				  .prot = map->prot & (VM_READ | VM_WRITE | VM_EXEC),
				  .file = map->file,
				  .pgoff = map->pgoff };
	region_set_limits(&r, f ? f->pages : TRACE_MAX_PAGES);
	process_map(s->current, rec->object, &r);
	if (f)
		f->mapped = true;
	return true;
}

/* munmap(), mprotect(), madvise(), mlock(): on pages of a mapped region. */
static bool apply_range(struct trace_state *s, const struct rs_record *rec, GError **error)
{
	const struct region_state *r = mapped(s, rec->object, error);

	if (!r)
		return false;
	uint32_t count = rec->count ? rec->count : r->pages;
	g_autofree char *name = shown(s, RS_NAME_REGION, rec->object);
	if ((uint64_t)rec->page + count > r->pages)
		return bad(error, "page %u + %u is outside region \"%s\", which has pages 0 to %u",
			   rec->page, count, name, r->pages - 1);
	if (rec->op != RS_OP_MUNMAP && rec->op != RS_OP_MPROTECT)
		return true;
	if (rec->op == RS_OP_MPROTECT && rec->count &&
	    region_access(r, rec->page, count, false) == REGION_HOLE)
		return bad(error, "a page of region \"%s\" is unmapped in page %u + %u", name,
			   rec->page, count);
	uint32_t prot = rec->op == RS_OP_MUNMAP ? REGION_UNMAP : rec->arg;
	uint32_t file_pages =
		r->file == RS_MAP_FILE_NONE ? TRACE_MAX_PAGES : file_of(s, r->file, NULL)->pages;
	if (!process_change(s->current, rec->object, rec->page, count, prot, file_pages))
		return bad(error, "region \"%s\" falls into more than %u pieces", name,
			   TRACE_MAX_SEGMENTS);
	return true;
}

/* A thread that is not alive begins: in a live process, or as the first one of a new process. */
static bool begin_thread(struct trace_state *s, uint32_t id, uint32_t process, bool fork,
			 GError **error)
{
	struct thread_state t = { process, true };

	struct process *p =
		process < s->processes->len ? g_ptr_array_index(s->processes, process) : NULL;

	if (p && fork) {
		g_autofree char *name = shown(s, RS_NAME_PROCESS, process);

		return bad(error, "process \"%s\" is alive and cannot be forked anew", name);
	}
	if (!appears(s, RS_NAME_PROCESS, process, error) || !appears(s, RS_NAME_THREAD, id, error))
		return false;
	if (process >= s->processes->len)
		g_ptr_array_set_size(s->processes, process + 1);
	if (!p)
		s->processes->pdata[process] = p = fork ? process_fork(s->current) : process_new();
	p->nr_threads++;
	if (id == s->threads->len)
		g_array_append_val(s->threads, t);
	g_array_index(s->threads, struct thread_state, id) = t;
	return true;
}

bool state_thread_alive(const struct trace_state *s, uint32_t id)
{
	return id < s->threads->len && g_array_index(s->threads, struct thread_state, id).alive;
}

static bool apply_thread(struct trace_state *s, const struct rs_record *rec, GError **error)
{
	if (!state_thread_alive(s, rec->object)) {
		if (!begin_thread(s, rec->object, rec->arg, false, error))
			return false;
	} else if (rec->arg) {
		g_autofree char *name = shown(s, RS_NAME_THREAD, rec->object);

		return bad(error,
			   "thread \"%s\" exists: its process is known and cannot be given again",
			   name);
	}
	s->thread = rec->object;
	s->process = g_array_index(s->threads, struct thread_state, s->thread).process;
	s->current = g_ptr_array_index(s->processes, s->process);
	return true;
}

static bool apply_fork(struct trace_state *s, const struct rs_record *rec, GError **error)
{
	if (!state_thread_alive(s, rec->object))
		return begin_thread(s, rec->object, rec->arg, true, error);
	g_autofree char *name = shown(s, RS_NAME_THREAD, rec->object);
	return bad(error, "thread \"%s\" exists; fork needs a new one", name);
}

static bool apply_exec(struct trace_state *s, GError **error)
{
	if (s->current->nr_threads > 1)
		return bad(error,
			   "exec while the process has %u threads: the others must exit first",
			   s->current->nr_threads);
	process_clear(s->current);
	return true;
}

static bool apply_exit(struct trace_state *s)
{
	g_array_index(s->threads, struct thread_state, s->thread).alive = false;
	if (--s->current->nr_threads == 0) {
		process_free(s->current);
		s->processes->pdata[s->process] = NULL;
	}
	s->current = NULL;
	return true;
}

static bool apply_wait(struct trace_state *s, const struct rs_record *rec, GError **error)
{
	if (rec->object < s->threads->len && rec->object != s->thread)
		return true;
	g_autofree char *name = shown(s, RS_NAME_THREAD, rec->object);
	return bad(error, "cannot wait for thread \"%s\": %s", name,
		   rec->object == s->thread ? "it is the one that would wait" : "it has not begun");
}

bool state_apply(struct trace_state *s, const struct rs_record *rec, const struct rs_map *map,
		 GError **error)
{
	if (!rs_record_check(rec, map, error))
		return false;
	if (!s->current && rec->op != RS_OP_THREAD && rec->op != RS_OP_MARK &&
	    rec->op != RS_OP_FILE)
		return bad(error, "the current thread has exited; \"t THREAD\" must come first");
	switch (rec->op) {
	case RS_OP_LOAD:
	case RS_OP_STORE:
		return apply_access(s, rec, error);
	case RS_OP_READ:
	case RS_OP_WRITE:
		return apply_call(s, rec, error);
	case RS_OP_FILE:
		return apply_file(s, rec, error);
	case RS_OP_MMAP:
		return apply_mmap(s, rec, map, error);
	case RS_OP_MUNMAP:
	case RS_OP_MPROTECT:
	case RS_OP_MADVISE:
	case RS_OP_MLOCK:
		return apply_range(s, rec, error);
	case RS_OP_MBIND:
		return mapped(s, rec->object, error);
	case RS_OP_FADVISE:
	case RS_OP_FSYNC:
	case RS_OP_OPEN:
		return file_of(s, rec->object, error);
	case RS_OP_TRUNCATE:
		return apply_truncate(s, rec, error);
	case RS_OP_MARK:
		return appears(s, RS_NAME_MARK, rec->object, error);
	case RS_OP_MEMCG:
		return appears(s, RS_NAME_MEMCG, rec->object, error);
	case RS_OP_THREAD:
		return apply_thread(s, rec, error);
	case RS_OP_FORK:
		return apply_fork(s, rec, error);
	case RS_OP_EXEC:
		return apply_exec(s, error);
	case RS_OP_EXIT:
		return apply_exit(s);
	case RS_OP_WAIT:
		return apply_wait(s, rec, error);
	default:
		return true; /* CPU, SLEEP, TIME: bounds only */
	}
}
