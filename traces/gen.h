/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gen.h - making traces from descriptions: JSON specs, fio job files, memtier command lines
 * (internal).
 *
 * A generator says through the sink (gen_sink.c) what threads do; the sink numbers the objects,
 * writes the records and counts. Errors are sticky: after the first one nothing is written any
 * more, so a generator checks gen_failed() once a step and not after every call.
 *
 * Several threads are tasks (gen_task.c) with clocks of their own; the one whose clock is least
 * goes on for some steps. These clocks only decide how the threads' records are interleaved in
 * the file: the simulator has its own time.
 */
#ifndef TRACES_GEN_H
#define TRACES_GEN_H

#include <jansson.h>

#include <reclaimsim/generate.h>
#include <reclaimsim/policy.h>

#include "sim/base/rng.h"

#define GEN_MAX_THREADS 4096u
#define GEN_MAX_PAGES (UINT64_C(1) << 30) /* of one file or region: 4 TiB */
#define GEN_MAX_RECORDS (UINT64_C(1) << 36)
#define GEN_MAX_MEMORY (UINT64_C(2) << 30)

/* ---- sets of pages (gen_pages.c) ---- */

struct gen_pages {
	GHashTable *chunks; /* object and page / 32768 -> bits */
	uint64_t last_key, *last, *overflow, nr;
};
void gen_pages_init(struct gen_pages *);
void gen_pages_done(struct gen_pages *);
void gen_pages_add(struct gen_pages *, uint32_t object, uint64_t page, uint64_t count);

/* ---- sink (gen_sink.c) ---- */

struct gen_counts {
	uint64_t records, reads, writes; /* calls and touches */
	uint64_t load_pages, store_pages, read_pages, write_pages;
	uint64_t processes, threads, forks, execs;
};

struct gen {
	const struct rs_generate_options *options;
	uint64_t seed;
	struct rs_trace_writer *out; /* NULL: count only */
	GError *error;
	GString *warnings;
	GHashTable *names[RS_NAME_PROCESS + 1]; /* without a writer: name -> number + 1 */
	uint32_t thread;			/* whose records follow */
	bool alive;				/* it has not exited */
	struct gen_counts counts;
	struct gen_pages file_pages, map_pages;
	uint64_t limit; /* of records, and of steps, which need not make any */
	uint64_t steps, reserved, memory_limit;
};

static inline bool gen_failed(const struct gen *g)
{
	return g->error != NULL;
}
/* Set the sticky error. */
void gen_fail(struct gen *, enum rs_error, const char *format, ...) G_GNUC_PRINTF(3, 4);
void gen_warn(struct gen *, const char *format, ...) G_GNUC_PRINTF(2, 3);
/* Ask before allocating what the description decides about. False: too much, the generator fails.
 */
bool gen_reserve(struct gen *, uint64_t bytes);
/* VALUE of KEY=VALUE among the options, or NULL. */
const char *gen_with(const struct gen *, const char *key);
/* The same as a number; def if it was not given. */
uint64_t gen_with_number(struct gen *, const char *key, uint64_t def, uint64_t min, uint64_t max);

/* A thread begins in a process (which begins, too, if it is new) and is the current one. */
uint32_t gen_thread(struct gen *, const char *thread, const char *process);
void gen_switch(struct gen *, uint32_t thread);
/* The current thread forks a process; the current thread stays. */
uint32_t gen_fork(struct gen *, const char *thread, const char *process);
void gen_exec(struct gen *);
void gen_exit(struct gen *); /* gen_switch() or gen_thread() must follow */
void gen_wait(struct gen *, uint32_t thread);
void gen_memcg(struct gen *, const char *path);

uint32_t gen_file(struct gen *, const char *name, uint64_t pages, bool is_new);
/* file RS_MAP_FILE_NONE: anonymous. prot: enum rs_vm_flag. */
uint32_t gen_map(struct gen *, const char *name, uint32_t file, uint32_t prot, uint64_t pages,
		 uint64_t pgoff);
void gen_unmap(struct gen *, uint32_t region);
void gen_protect(struct gen *, uint32_t region, uint64_t page, uint64_t count, uint32_t prot);
void gen_load(struct gen *, uint32_t region, uint64_t page, uint64_t count);
void gen_store(struct gen *, uint32_t region, uint64_t page, uint64_t count);
void gen_read(struct gen *, uint32_t file, unsigned open_file, uint64_t page, uint64_t count);
void gen_write(struct gen *, uint32_t file, unsigned open_file, uint64_t page, uint64_t count);
void gen_fadvise(struct gen *, uint32_t file, unsigned open_file, enum rs_advice, uint64_t page,
		 uint64_t count);
/* The file is opened under that number, which may have belonged to an earlier open. */
void gen_open(struct gen *, uint32_t file, unsigned open_file);
/* gen_map() of an open file other than 0. */
uint32_t gen_map_open(struct gen *, const char *name, uint32_t file, unsigned open_file,
		      uint32_t prot, uint64_t pages, uint64_t pgoff);
void gen_madvise(struct gen *, uint32_t region, enum rs_advice);
void gen_fsync(struct gen *, uint32_t file);
void gen_truncate(struct gen *, uint32_t file, uint64_t pages);
void gen_mark(struct gen *, const char *name);
void gen_cpu(struct gen *, ns_t);
void gen_sleep(struct gen *, ns_t);
void gen_time(struct gen *, ns_t since_start);

/* ---- tasks (gen_task.c) ---- */

struct gen_task {
	ns_t now;
	uint32_t thread;
	/* Emit a little and move now on. False: this task is finished. */
	bool (*step)(struct gen *, struct gen_task *);
	void *arg;
};
/*
 * Run until all are finished. A task keeps its turn until it is quantum ahead of the next one.
 * Equal clocks: the first in the array.
 */
void gen_run_tasks(struct gen *, struct gen_task **tasks, uint32_t nr, ns_t quantum);

/* ---- readers of specs (gen_json.c): typed members, unknown ones refused by name ---- */

/* Object being read; path is its place from the root ("processes[1].regions"). */
struct gen_object {
	struct gen *g;
	const char *file;
	char *path;
	json_t *object;
	GHashTable *used;
};
/* All of these fail the generator with file, path and what would be valid. */
bool gen_object_init(struct gen_object *, struct gen *, const char *file, const char *path,
		     json_t *);
void gen_object_done(struct gen_object *);		  /* refuses members nobody asked for */
json_t *gen_member(struct gen_object *, const char *key); /* NULL if absent */
uint64_t gen_int(struct gen_object *, const char *key, uint64_t def, uint64_t min, uint64_t max);
double gen_real(struct gen_object *, const char *key, double def, double min, double max);
bool gen_flag(struct gen_object *, const char *key, bool def);
const char *gen_string(struct gen_object *, const char *key,
		       const char *def); /* NULL def: needed */
/* Pages of a size ("64M", "100p", bytes as a number), rounded up. def UINT64_MAX: needed. */
uint64_t gen_size_pages(struct gen_object *, const char *key, uint64_t def);
uint64_t gen_bytes(struct gen_object *, const char *key, uint64_t def);
ns_t gen_duration(struct gen_object *, const char *key, ns_t def);
/* "key" in the path of an object: g_free(). */
char *gen_path(const struct gen_object *, const char *key, int index); /* index -1: none */
void gen_object_fail(struct gen_object *, const char *key, const char *format, ...)
	G_GNUC_PRINTF(3, 4);

/* ---- the generators ---- */
typedef json_t *gen_json_fn(struct gen *, struct gen_object *root);
gen_json_fn gen_mix, gen_kbuild, gen_ycsb, gen_apps, gen_launch;
json_t *gen_fio(struct gen *, const char *text, size_t size, const char *name);
json_t *gen_memtier(struct gen *, const char *text, size_t size, const char *name);
json_t *gen_memtier_words(struct gen *, const char *const *words);
bool gen_memtier_probe(const char *text, size_t size);
bool gen_fio_probe(const char *text, size_t size);

#endif
