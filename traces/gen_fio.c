/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gen_fio.c - a fio job file as a trace: which jobs there are, what their I/O does to the page
 * cache and to memory, and the summary.
 *
 * What a job file does not say is modelled by defaults, each of them a --with setting: own_pages,
 * shared_pages, hot_pages (fio_memory.h), and iops=100000, I/Os a second of a job without rate: it
 * decides how concurrent jobs interleave and how many I/Os a run of a given time has. Files exist,
 * laid out and not cached, unless only pure writers use them.
 *
 * Differs: with ioengine=mmap and an offset, fio 3.33 maps the file from 0 and touches other pages
 * than the offsets it logs, mapping anew for each I/O; here the logged ones are touched.
 */
#include "traces/gen_fio.h"
#include "traces/fio_memory.h"

#include <string.h>

#define QUANTUM_NS 50000u
#define FIO_MAX_JOBS GEN_MAX_THREADS

struct fio_run {
	struct gen *g;
	GPtrArray *jobs;	  /* struct fio_job */
	GHashTable *sizes;	  /* file name -> uint64_t bytes as laid out so far */
	GHashTable *written_only; /* file name -> 1: no job reads it */
	GHashTable *ids, *users;  /* file name -> number, jobs that opened it so far */
	unsigned nr_files, nr_groups;
	uint32_t own_region;
	uint64_t own_pages, shared_pages, hot_pages, iops;
	ns_t now;
};

bool gen_fio_probe(const char *text, size_t size)
{
	g_autofree char *copy = g_strndup(text, MIN(size, 65536));
	g_auto(GStrv) lines = g_strsplit(copy, "\n", 0);

	for (unsigned i = 0; lines[i]; i++) {
		const char *line = g_strstrip(lines[i]);

		if (*line && *line != ';' && *line != '#')
			return *line == '[' && strchr(line, ']') && !strchr(line, '{') &&
			       !strchr(line, '"');
	}
	return false;
}

/* ---- jobs and their files ---- */

static void job_free(gpointer data)
{
	fio_job_done(data);
	g_free(data);
}

static char *replace_all(char *text, const char *key, const char *value)
{
	g_auto(GStrv) part = g_strsplit(text, key, 0);

	g_free(text);
	return g_strjoinv(value, part);
}

static char *default_name(const struct fio_opts *o, unsigned sub, unsigned i)
{
	g_autofree char *job = g_strdup_printf("%u", sub), *file = g_strdup_printf("%u", i);
	char *name =
		g_strdup(o->filename_format && *o->filename_format ? o->filename_format
								   : "$jobname.$jobnum.$filenum");

	name = replace_all(name, "$jobname", o->name);
	name = replace_all(name, "$jobnum", job);
	name = replace_all(name, "$filenum", file);
	if (o->directories->len) {
		const char *dir = g_ptr_array_index(o->directories, sub % o->directories->len);
		char *path = g_strconcat(dir, "/", name, NULL);

		g_free(name);
		name = path;
	}
	return name;
}

static bool add_files(struct fio_run *run, struct fio_job *j)
{
	bool named = j->o.filenames->len > 0;
	uint64_t n = named ? j->o.filenames->len : j->o.nr_files;

	if (n < 1 || run->nr_files + n > FIO_MAX_FILES) {
		gen_fail(run->g, RS_ERROR_INPUT, "%s:%u: job \"%s\": %s", j->o.file, j->o.line,
			 j->o.name, n < 1 ? "nrfiles=0" : "more than 65536 files in all jobs");
		return false;
	}
	run->nr_files += (unsigned)n;
	j->nr_files = (unsigned)n;
	j->files = g_new0(struct fio_file, n);
	for (unsigned i = 0; i < n; i++)
		j->files[i].name = named ? g_strdup(g_ptr_array_index(j->o.filenames, i))
					 : default_name(&j->o, j->sub, i);
	return true;
}

/* The group a job runs in: all jobs of one end before the next begins. */
static unsigned group_of(struct fio_run *run, const struct fio_opts *o, unsigned sub)
{
	bool waits = o->stonewall && !sub && run->jobs->len;

	for (unsigned i = 0; o->wait_for && !sub && i < run->jobs->len; i++) {
		const struct fio_job *other = g_ptr_array_index(run->jobs, i);

		waits |= other->group == run->nr_groups && !strcmp(other->o.name, o->wait_for);
	}
	run->nr_groups += waits;
	return run->nr_groups;
}

static bool add_job(struct fio_run *run, const struct fio_opts *o, unsigned sub)
{
	struct fio_job *j;

	if (run->jobs->len >= FIO_MAX_JOBS) {
		gen_fail(run->g, RS_ERROR_INPUT, "%s:%u: more than %u jobs", o->file, o->line,
			 FIO_MAX_JOBS);
		return false;
	}
	j = g_new0(struct fio_job, 1);
	j->g = run->g;
	j->group = group_of(run, o, sub);
	fio_opts_copy(&j->o, o);
	j->sub = sub;
	g_ptr_array_add(run->jobs, j);
	j->number = run->jobs->len;
	return add_files(run, j);
}

/* fio makes the first job, then the clones from the highest number down. */
static bool add_section(struct fio_run *run, const struct fio_opts *global,
			const struct fio_section *s)
{
	struct fio_opts o;
	bool ok;

	fio_opts_copy(&o, global);
	o.name = g_strdup(s->name);
	o.file = g_strdup(s->file);
	o.line = s->line;
	ok = fio_opts_apply(run->g, &o, s);
	if (ok && (o.numjobs < 1 || o.numjobs > FIO_MAX_JOBS)) {
		gen_fail(run->g, RS_ERROR_INPUT, "%s:%u: numjobs; valid are 1 to %u", s->file,
			 s->line, FIO_MAX_JOBS);
		ok = false;
	}
	ok = ok && add_job(run, &o, 0);
	for (unsigned sub = (unsigned)o.numjobs - 1; ok && sub >= 1; sub--)
		ok = add_job(run, &o, sub);
	fio_opts_done(&o);
	return ok;
}

static bool read_jobs(struct fio_run *run, const char *text, size_t size, const char *name)
{
	GPtrArray *sections = fio_ini_read(run->g, text, size, name);
	struct fio_opts global;
	bool ok = sections != NULL;

	if (!ok)
		return false;
	fio_opts_init(&global);
	for (unsigned i = 0; ok && i < sections->len; i++) {
		const struct fio_section *s = g_ptr_array_index(sections, i);

		ok = s->global ? fio_opts_apply(run->g, &global, s) : add_section(run, &global, s);
	}
	fio_opts_done(&global);
	g_ptr_array_unref(sections);
	if (ok && !run->jobs->len)
		gen_fail(run->g, RS_ERROR_INPUT, "%s: no job section; a section [name] is needed",
			 name);
	return ok && run->jobs->len;
}

static bool set_up_jobs(struct fio_run *run)
{
	for (unsigned i = 0; i < run->jobs->len; i++) {
		struct fio_job *j = g_ptr_array_index(run->jobs, i);

		fio_job_seed(j);
		if (!fio_job_setup(j, run->sizes))
			return false;
		gen_pages_init(&j->pages);
		j->io_ns = 1000000000 / run->iops;
		for (unsigned f = 0; f < j->nr_files; f++) {
			const char *name = j->files[f].name;
			gpointer known;
			bool fresh = !g_hash_table_lookup_extended(run->written_only, name, NULL,
								   &known) ||
				     known;

			g_hash_table_insert(run->written_only, g_strdup(name),
					    GINT_TO_POINTER(fresh && !j->o.overwrite));
		}
	}
	return true;
}

/* ---- what happens around I/O ---- */

static uint64_t pages_of(uint64_t bytes)
{
	return (bytes + RS_PAGE_SIZE - 1) >> RS_PAGE_SHIFT;
}

static bool uses_cache(const struct fio_job *j)
{
	return j->o.engine == FIO_MMAP || (j->o.engine == FIO_DESCRIPTOR && !j->o.direct);
}

static enum rs_advice advice_of(const struct fio_job *j)
{
	if (j->o.fadvise >= 0)
		return (enum rs_advice)j->o.fadvise;
	return j->o.random ? RS_ADV_RANDOM : RS_ADV_SEQUENTIAL;
}

static void map_file(struct fio_job *j, struct fio_file *f)
{
	uint64_t first = f->offset >> RS_PAGE_SHIFT;
	uint32_t prot = VM_SHARED | (j->o.dir[FIO_READ] ? VM_READ : 0) |
			(j->o.dir[FIO_WRITE] ? VM_WRITE : 0);
	/* fio never unmaps: a file opened again is mapped again. */
	g_autofree char *name =
		g_strdup_printf("%s.%u:%s.%u", j->o.name, j->number, f->name, f->laps++);

	f->region = gen_map_open(j->g, name, f->id, f->open_file, prot,
				 pages_of(f->offset + f->io_size) - first, first);
	if (j->o.fadvise != 0)
		gen_madvise(j->g, f->region, j->o.random ? RS_ADV_RANDOM : RS_ADV_SEQUENTIAL);
}

void fio_job_opened(struct fio_job *j, struct fio_file *f)
{
	uint64_t first = f->offset >> RS_PAGE_SHIFT;
	uint64_t count = pages_of(f->offset + f->io_size) - first;

	if (j->o.engine == FIO_NULL_ENGINE || !count)
		return;
	/* Each open has read-ahead state of its own; the first of its number needs no word. */
	if (f->opens++)
		gen_open(j->g, f->id, f->open_file);
	if (j->o.invalidate)
		gen_fadvise(j->g, f->id, f->open_file, RS_ADV_DONTNEED, first, count);
	if (j->o.fadvise != 0)
		gen_fadvise(j->g, f->id, f->open_file, advice_of(j), first, count);
	if (j->o.engine == FIO_MMAP)
		map_file(j, f);
}

void fio_job_closed(struct fio_job *j, struct fio_file *f)
{
	if (j->o.fsync_on_close && j->o.dir[FIO_WRITE])
		gen_fsync(j->g, f->id);
}

void fio_job_round_end(struct fio_job *j)
{
	if (!j->o.dir[FIO_WRITE] || !j->o.end_fsync || j->last_was_sync)
		return;
	for (unsigned i = 0; i < j->nr_files; i++)
		if (j->files[i].open)
			gen_fsync(j->g, j->files[i].id);
}

static void emit_io(struct fio_job *j, const struct fio_io *io)
{
	struct fio_file *f = io->file;
	uint64_t first = io->offset >> RS_PAGE_SHIFT;
	uint64_t count = pages_of(io->offset + io->length) - first;

	gen_pages_add(&j->pages, f->id, first, count);
	j->page_accesses += count;
	if (!uses_cache(j))
		return;
	if (j->o.engine == FIO_MMAP) {
		uint64_t page = first - (f->offset >> RS_PAGE_SHIFT);

		if (io->dir == FIO_READ)
			gen_load(j->g, f->region, page, count);
		else
			gen_store(j->g, f->region, page, count);
		if (j->o.direct)
			gen_fsync(j->g, f->id);
	} else if (io->dir == FIO_READ) {
		gen_read(j->g, f->id, f->open_file, first, count);
	} else {
		gen_write(j->g, f->id, f->open_file, first, count);
	}
}

/* The process's own memory: the I/O buffer and a few pages of code's data, now and then. */
static void touch_own(struct fio_job *j)
{
	if (j->ios_since_touch++ % FIO_TOUCH_EVERY)
		return;
	if (j->buffer_pages)
		gen_store(j->g, j->buffer, 0, j->buffer_pages);
	if (j->own_pages)
		gen_store(j->g, j->own_region, 0, j->own_pages);
}

/* Time that rate= makes the job wait for its next I/O, and thinktime=. */
static void pass_time(struct fio_job *j, const struct fio_io *io)
{
	const struct fio_opts *o = &j->o;
	uint64_t rate =
		o->rate[io->dir] ? o->rate[io->dir] : o->rate_iops[io->dir] * o->min_bs[io->dir];
	uint64_t ios = j->issues[0] + j->issues[1];

	j->task.now += j->io_ns;
	if (rate) {
		ns_t due =
			j->start + (ns_t)((unsigned __int128)j->bytes[io->dir] * 1000000000 / rate);

		if (due > j->task.now) {
			j->task.now = due;
			gen_time(j->g, due);
		}
	}
	if (o->thinktime_us && ios - j->thought >= MAX(o->thinktime_blocks, 1)) {
		uint64_t spin = MIN(o->thinktime_spin_us, o->thinktime_us);

		j->thought = ios;
		gen_cpu(j->g, spin * 1000);
		gen_sleep(j->g, (o->thinktime_us - spin) * 1000);
		j->task.now += o->thinktime_us * 1000;
	}
}

static void finish_job(struct fio_job *j)
{
	for (unsigned i = 0; j->o.unlink && i < j->nr_files; i++)
		gen_truncate(j->g, j->files[i].id, 0);
	gen_exit(j->g);
}

static bool job_step(struct gen *g, struct gen_task *task)
{
	struct fio_job *j = task->arg;
	struct fio_io io;

	switch (fio_job_next(j, &io)) {
	case FIO_IO:
		touch_own(j);
		emit_io(j, &io);
		pass_time(j, &io);
		return true;
	case FIO_SYNC:
		gen_fsync(g, io.file->id);
		j->task.now += j->io_ns;
		return true;
	default:
		finish_job(j);
		return false;
	}
}

/* ---- the whole run ---- */

static void announce_files(struct fio_run *run)
{
	for (unsigned i = 0; i < run->jobs->len; i++) {
		struct fio_job *j = g_ptr_array_index(run->jobs, i);

		for (unsigned k = 0; k < j->nr_files; k++) {
			struct fio_file *f = &j->files[k];
			unsigned user = GPOINTER_TO_UINT(g_hash_table_lookup(run->users, f->name));

			if (!user) {
				uint64_t *bytes = g_hash_table_lookup(run->sizes, f->name);
				bool fresh =
					g_hash_table_lookup(run->written_only, f->name) != NULL;

				f->id = gen_file(run->g, f->name, pages_of(*bytes), fresh);
				g_hash_table_insert(run->ids, g_strdup(f->name),
						    GUINT_TO_POINTER(f->id));
			}
			f->id = GPOINTER_TO_UINT(g_hash_table_lookup(run->ids, f->name));
			f->open_file = user % (RS_MAX_HANDLE + 1);
			g_hash_table_insert(run->users, g_strdup(f->name),
					    GUINT_TO_POINTER(user + 1));
		}
	}
}

static void pre_read(struct fio_job *j)
{
	for (unsigned i = 0; i < j->nr_files; i++) {
		uint64_t pages = pages_of(j->files[i].real_size);
		uint64_t step = MAX(pages_of(j->o.max_bs[FIO_READ]), 1);

		for (uint64_t page = 0; page < pages && !gen_failed(j->g); page += step)
			gen_read(j->g, j->files[i].id, j->files[i].open_file, page,
				 MIN(step, pages - page));
	}
}

/* A thread, unlike a process, is not begun by a record of the main thread. */
static void wait_for_groups_before(struct fio_run *run, const struct fio_job *j)
{
	for (unsigned i = 0; i < run->jobs->len; i++) {
		const struct fio_job *other = g_ptr_array_index(run->jobs, i);

		if (other->group < j->group)
			gen_wait(run->g, other->task.thread);
	}
}

static void start_job(struct fio_run *run, struct fio_job *j, uint32_t main_thread)
{
	struct gen *g = run->g;
	g_autofree char *name = g_strdup_printf("%s.%u", j->o.name, j->number);
	g_autofree char *buffer = g_strdup_printf("%s.buffer", name);

	if (j->o.thread) {
		j->task.thread = gen_thread(g, name, "0");
		wait_for_groups_before(run, j);
	} else {
		gen_switch(g, main_thread);
		j->task.thread = gen_fork(g, name, name);
		gen_switch(g, j->task.thread);
	}
	j->own_region = run->own_region;
	j->own_pages = MIN(run->hot_pages, run->own_pages);
	j->buffer_pages = run->own_pages
				  ? pages_of(j->o.max_bs[0] > j->o.max_bs[1] ? j->o.max_bs[0]
									     : j->o.max_bs[1])
				  : 0;
	if (j->buffer_pages)
		j->buffer = gen_map(g, buffer, RS_MAP_FILE_NONE, VM_READ | VM_WRITE,
				    j->buffer_pages, 0);
	j->task.now = run->now + j->o.startdelay_us * 1000;
	j->start = j->task.now;
	if (j->o.startdelay_us)
		gen_time(g, j->task.now);
	if (j->o.pre_read && uses_cache(j))
		pre_read(j);
	j->task.step = job_step;
	j->task.arg = j;
}

static void run_group(struct fio_run *run, unsigned group, uint32_t main_thread)
{
	g_autofree struct gen_task **tasks = g_new0(struct gen_task *, run->jobs->len);
	const char *name = NULL;
	unsigned n = 0;

	for (unsigned i = 0; i < run->jobs->len && !gen_failed(run->g); i++) {
		struct fio_job *j = g_ptr_array_index(run->jobs, i);

		if (j->group != group)
			continue;
		name = name ? name : j->o.name;
		start_job(run, j, main_thread);
		tasks[n++] = &j->task;
	}
	gen_run_tasks(run->g, tasks, n, QUANTUM_NS);
	gen_switch(run->g, main_thread);
	for (unsigned i = 0; i < run->jobs->len; i++) {
		struct fio_job *j = g_ptr_array_index(run->jobs, i);

		if (j->group != group)
			continue;
		gen_wait(run->g, j->task.thread);
		run->now = MAX(run->now, j->task.now);
	}
	if (name)
		gen_mark(run->g, name);
}

static json_t *job_summary(const struct fio_job *j)
{
	return json_pack("{ss, sI, sI, sI, sI, sI, sI, sI, sb}", "name", j->o.name, "group",
			 (json_int_t)j->group, "reads", (json_int_t)j->issues[FIO_READ], "writes",
			 (json_int_t)j->issues[FIO_WRITE], "bytes_read",
			 (json_int_t)j->bytes[FIO_READ], "bytes_written",
			 (json_int_t)j->bytes[FIO_WRITE], "page_accesses",
			 (json_int_t)j->page_accesses, "distinct_pages", (json_int_t)j->pages.nr,
			 "page_cache", uses_cache(j));
}

static json_t *run_jobs(struct fio_run *run)
{
	json_t *jobs = json_array();
	uint32_t main_thread = run->g->thread;

	announce_files(run);
	if (run->own_pages) {
		run->own_region = gen_map(run->g, "fio.own", RS_MAP_FILE_NONE, VM_READ | VM_WRITE,
					  run->own_pages, 0);
		gen_store(run->g, run->own_region, 0, run->own_pages);
	}
	if (run->own_pages && run->shared_pages)
		gen_store(run->g,
			  gen_map(run->g, "fio.shared", RS_MAP_FILE_NONE,
				  VM_READ | VM_WRITE | VM_SHARED, run->shared_pages, 0),
			  0, run->shared_pages);
	for (unsigned group = 0; group <= run->nr_groups && !gen_failed(run->g); group++)
		run_group(run, group, main_thread);
	for (unsigned i = 0; i < run->jobs->len; i++) {
		struct fio_job *j = g_ptr_array_index(run->jobs, i);

		if (!uses_cache(j) && !gen_failed(run->g))
			gen_warn(run->g,
				 "job \"%s\" bypasses the page cache: its I/O is counted, but "
				 "touches "
				 "no page",
				 j->o.name);
		json_array_append_new(jobs, job_summary(j));
	}
	return json_pack("{ss, sI, so}", "format", "fio_job", "assumed_iops", (json_int_t)run->iops,
			 "jobs", jobs);
}

json_t *gen_fio(struct gen *g, const char *text, size_t size, const char *name)
{
	struct fio_run run = { .g = g };
	json_t *summary = NULL;

	run.own_pages = gen_with_number(g, "own_pages", FIO_OWN_PAGES, 0, 1 << 20);
	run.shared_pages = gen_with_number(g, "shared_pages", FIO_SHARED_PAGES, 0, 1 << 20);
	run.hot_pages = gen_with_number(g, "hot_pages", FIO_HOT_PAGES, 0, 1 << 20);
	run.iops = gen_with_number(g, "iops", 100000, 1, 1000000000);
	run.jobs = g_ptr_array_new_with_free_func(job_free);
	run.sizes = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
	run.written_only = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	run.ids = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	run.users = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	if (!gen_failed(g) && read_jobs(&run, text, size, name) && set_up_jobs(&run))
		summary = run_jobs(&run);
	g_ptr_array_unref(run.jobs);
	g_hash_table_unref(run.sizes);
	g_hash_table_unref(run.written_only);
	g_hash_table_unref(run.ids);
	g_hash_table_unref(run.users);
	return summary;
}
