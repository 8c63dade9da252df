/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gen_sink.c - what a generator's threads do, as trace records and counts.
 */
#include "traces/gen.h"

#include <errno.h>
#include <string.h>

void gen_fail(struct gen *g, enum rs_error code, const char *format, ...)
{
	va_list args;

	if (g->error)
		return;
	va_start(args, format);
	g->error = g_error_new_valist(RS_ERROR, code, format, args);
	va_end(args);
}

void gen_warn(struct gen *g, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	g_string_append_vprintf(g->warnings, format, args);
	va_end(args);
	g_string_append_c(g->warnings, '\n');
}

bool gen_reserve(struct gen *g, uint64_t bytes)
{
	if (bytes > g->memory_limit - MIN(g->reserved, g->memory_limit)) {
		gen_fail(g, RS_ERROR_INPUT,
			 "this description needs more than %" G_GUINT64_FORMAT
			 " MiB of memory to be followed; --with max_memory=BYTES allows more",
			 g->memory_limit >> 20);
		return false;
	}
	g->reserved += bytes;
	return true;
}

const char *gen_with(const struct gen *g, const char *key)
{
	const char *const *with = g->options->with;
	size_t n = strlen(key);

	for (; with && *with; with++)
		if (!strncmp(*with, key, n) && (*with)[n] == '=')
			return *with + n + 1;
	return NULL;
}

uint64_t gen_with_number(struct gen *g, const char *key, uint64_t def, uint64_t min, uint64_t max)
{
	const char *text = gen_with(g, key);
	char *end;
	uint64_t n;

	if (!text)
		return def;
	errno = 0;
	n = g_ascii_strtoull(text, &end, 10);
	if (!g_ascii_isdigit(*text) || *end || errno || n < min || n > max) {
		gen_fail(g, RS_ERROR_USAGE,
			 "--with %s=%s: valid are whole numbers from %" G_GUINT64_FORMAT
			 " to %" G_GUINT64_FORMAT,
			 key, text, min, max);
		return def;
	}
	return n;
}

static uint32_t number_of(struct gen *g, enum rs_name_kind kind, const char *name)
{
	gpointer found;
	GHashTable *table = g->names[kind];

	if (g->out)
		return rs_trace_intern(g->out, kind, name);
	found = g_hash_table_lookup(table, name);
	if (!found) {
		found = GUINT_TO_POINTER(g_hash_table_size(table) + 1);
		g_hash_table_insert(table, g_strdup(name), found);
	}
	return GPOINTER_TO_UINT(found) - 1;
}

static void put(struct gen *g, const struct rs_record *r, const struct rs_map *map)
{
	if (g->error)
		return;
	if (++g->counts.records > g->limit) {
		gen_fail(g, RS_ERROR_INPUT,
			 "the trace would have more than %" G_GUINT64_FORMAT " records", g->limit);
		return;
	}
	if (g->out)
		rs_trace_put(g->out, r, map, &g->error);
}

static void put_object(struct gen *g, enum rs_op op, uint32_t object, unsigned arg)
{
	put(g, &(struct rs_record){ .op = op, .object = object, .arg = (uint16_t)arg }, NULL);
}

static void put_value(struct gen *g, enum rs_op op, uint32_t object, unsigned arg, uint64_t value)
{
	put(g,
	    &(struct rs_record){ .op = op, .object = object, .arg = (uint16_t)arg, .value = value },
	    NULL);
}

/* False after an error: then nothing is to be counted. */
static bool put_pages(struct gen *g, enum rs_op op, uint32_t object, unsigned arg, uint64_t page,
		      uint64_t count)
{
	if (page > UINT32_MAX || count > UINT32_MAX || page + count > UINT32_MAX)
		gen_fail(g, RS_ERROR_INPUT,
			 "pages %" G_GUINT64_FORMAT " + %" G_GUINT64_FORMAT
			 " are past the end of what a trace can hold",
			 page, count);
	put(g,
	    &(struct rs_record){ .op = op,
				 .object = object,
				 .arg = (uint16_t)arg,
				 .page = (uint32_t)page,
				 .count = (uint32_t)count },
	    NULL);
	return !g->error;
}

/* ---- threads and processes ---- */

static uint32_t process_number(struct gen *g, const char *process)
{
	uint32_t id = number_of(g, RS_NAME_PROCESS, process);

	if (id > UINT16_MAX)
		gen_fail(g, RS_ERROR_INPUT,
			 "more than %u processes; this is the limit of one trace", UINT16_MAX + 1);
	return id;
}

uint32_t gen_thread(struct gen *g, const char *thread, const char *process)
{
	uint32_t id = number_of(g, RS_NAME_THREAD, thread);

	put_object(g, RS_OP_THREAD, id, process_number(g, process));
	g->counts.threads++;
	g->thread = id;
	g->alive = true;
	return id;
}

void gen_switch(struct gen *g, uint32_t thread)
{
	if (thread == g->thread && g->alive)
		return;
	put_object(g, RS_OP_THREAD, thread, 0);
	g->thread = thread;
	g->alive = true;
}

uint32_t gen_fork(struct gen *g, const char *thread, const char *process)
{
	uint32_t id = number_of(g, RS_NAME_THREAD, thread);

	put_object(g, RS_OP_FORK, id, process_number(g, process));
	g->counts.threads++;
	g->counts.processes++;
	g->counts.forks++;
	return id;
}

void gen_exec(struct gen *g)
{
	put_object(g, RS_OP_EXEC, 0, 0);
	g->counts.execs++;
}

void gen_exit(struct gen *g)
{
	put_object(g, RS_OP_EXIT, 0, 0);
	g->alive = false;
}

void gen_wait(struct gen *g, uint32_t thread)
{
	put_object(g, RS_OP_WAIT, thread, 0);
}

void gen_memcg(struct gen *g, const char *path)
{
	put_object(g, RS_OP_MEMCG, number_of(g, RS_NAME_MEMCG, path), 0);
}

/* ---- files and memory ---- */

uint32_t gen_file(struct gen *g, const char *name, uint64_t pages, bool is_new)
{
	uint32_t id = number_of(g, RS_NAME_FILE, name);

	put_value(g, RS_OP_FILE, id, is_new, pages);
	return id;
}

uint32_t gen_map(struct gen *g, const char *name, uint32_t file, uint32_t prot, uint64_t pages,
		 uint64_t pgoff)
{
	return gen_map_open(g, name, file, 0, prot, pages, pgoff);
}

uint32_t gen_map_open(struct gen *g, const char *name, uint32_t file, unsigned open_file,
		      uint32_t prot, uint64_t pages, uint64_t pgoff)
{
	uint32_t id = number_of(g, RS_NAME_REGION, name);
	struct rs_map map = { .file = file, .prot = prot, .pages = pages, .pgoff = pgoff };

	put(g, &(struct rs_record){ .op = RS_OP_MMAP, .arg = (uint16_t)open_file, .object = id },
	    &map);
	return id;
}

void gen_unmap(struct gen *g, uint32_t region)
{
	put_pages(g, RS_OP_MUNMAP, region, 0, 0, 0);
}

void gen_protect(struct gen *g, uint32_t region, uint64_t page, uint64_t count, uint32_t prot)
{
	put_pages(g, RS_OP_MPROTECT, region, prot, page, count);
}

void gen_load(struct gen *g, uint32_t region, uint64_t page, uint64_t count)
{
	if (!put_pages(g, RS_OP_LOAD, region, 0, page, count))
		return;
	gen_pages_add(&g->map_pages, region, page, count);
	g->counts.reads++;
	g->counts.load_pages += count;
}

void gen_store(struct gen *g, uint32_t region, uint64_t page, uint64_t count)
{
	if (!put_pages(g, RS_OP_STORE, region, 0, page, count))
		return;
	gen_pages_add(&g->map_pages, region, page, count);
	g->counts.writes++;
	g->counts.store_pages += count;
}

void gen_read(struct gen *g, uint32_t file, unsigned open_file, uint64_t page, uint64_t count)
{
	if (!put_pages(g, RS_OP_READ, file, open_file, page, count))
		return;
	gen_pages_add(&g->file_pages, file, page, count);
	g->counts.reads++;
	g->counts.read_pages += count;
}

void gen_write(struct gen *g, uint32_t file, unsigned open_file, uint64_t page, uint64_t count)
{
	if (!put_pages(g, RS_OP_WRITE, file, open_file, page, count))
		return;
	gen_pages_add(&g->file_pages, file, page, count);
	g->counts.writes++;
	g->counts.write_pages += count;
}

void gen_fadvise(struct gen *g, uint32_t file, unsigned open_file, enum rs_advice advice,
		 uint64_t page, uint64_t count)
{
	put_pages(g, RS_OP_FADVISE, file, RS_FADVISE_ARG(advice, open_file), page, count);
}

void gen_open(struct gen *g, uint32_t file, unsigned open_file)
{
	put_object(g, RS_OP_OPEN, file, (uint16_t)open_file);
}

void gen_madvise(struct gen *g, uint32_t region, enum rs_advice advice)
{
	put_pages(g, RS_OP_MADVISE, region, advice, 0, 0);
}

void gen_fsync(struct gen *g, uint32_t file)
{
	put_object(g, RS_OP_FSYNC, file, 0);
}

void gen_truncate(struct gen *g, uint32_t file, uint64_t pages)
{
	put_pages(g, RS_OP_TRUNCATE, file, 0, pages, 0);
}

/* ---- marks and time ---- */

void gen_mark(struct gen *g, const char *name)
{
	put_object(g, RS_OP_MARK, number_of(g, RS_NAME_MARK, name), 0);
}

void gen_cpu(struct gen *g, ns_t ns)
{
	if (ns)
		put_value(g, RS_OP_CPU, 0, 0, ns);
}

void gen_sleep(struct gen *g, ns_t ns)
{
	if (ns)
		put_value(g, RS_OP_SLEEP, 0, 0, ns);
}

void gen_time(struct gen *g, ns_t since_start)
{
	put_value(g, RS_OP_TIME, 0, 0, since_start);
}
