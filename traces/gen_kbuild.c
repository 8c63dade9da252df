/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gen_kbuild.c - make -jN: many short-lived compilers that share executables, libraries and
 * headers.
 *
 * make forks a driver for each source file; the driver runs the compiler, waits, runs the
 * assembler, waits, deletes the temporary file and ends. The compiler maps its executable and
 * libraries (private, executable), touches a common hot part of them and a random part of the rest,
 * reads the source and many headers (each popular in its own measure: zipf) while its memory grows,
 * and writes the temporary assembler file. At the end a linker reads all objects and writes the
 * image.
 *
 * Parameters come from the spec; "trace fit-kbuild" makes one from a recorded build. Differs from a
 * real build: no configuration checks, no directory lookups, no precompiled headers, a driver per
 * source even where make would run a shell first.
 */
#include "traces/gen.h"
#include "traces/gen_dist.h"

#include <math.h>

struct kbuild {
	uint64_t jobs, units, headers, per_unit;
	uint64_t driver_pages, compiler_pages, assembler_pages, linker_pages, library_pages;
	uint64_t header_pages, source_pages, object_pages, temporary_pages, anon_pages,
		assembler_anon;
	double theta, hot, rest, anon_deviation, link_anon;
	ns_t read_ns, page_ns;
};

enum program { DRIVER, COMPILER, ASSEMBLER, LINKER, NR_PROGRAMS };

struct build {
	struct gen *g;
	const struct kbuild *k;
	struct rs_rng rng;
	struct gen_dist popularity;
	uint32_t program[NR_PROGRAMS], library, *header, *object;
	uint64_t pages[NR_PROGRAMS], *header_pages, *object_pages;
	uint64_t next_unit, nr_started;
	uint32_t make;
};

/* One of the N job slots, working on a unit in stages. */
enum stage { START, COMPILE, END_COMPILE, ASSEMBLE, FINISH };
struct slot {
	struct gen_task task;
	struct build *b;
	enum stage stage;
	uint64_t unit, anon, anon_done, headers_done, headers, temporary_size;
	uint32_t driver, child, text, lib, heap, temporary;
};

/*
 * Of the given mean, at least 1, up to 9 times the mean: few are large, as with files. 8/9 is the
 * mean of min(1 / sqrt(u) - 1, 8).
 */
static uint64_t skewed(struct rs_rng *rng, uint64_t mean)
{
	double u = (double)(rs_rng_below(rng, 1000) + 1) / 1000;

	return MAX((uint64_t)((double)mean * MIN(1 / sqrt(u) - 1, 8) * 9 / 8 + 0.5), 1);
}

static uint32_t map_program(struct build *b, const char *who, enum program p)
{
	g_autofree char *name = g_strdup_printf("%s.text", who);

	return gen_map(b->g, name, b->program[p], VM_READ | VM_EXEC, b->pages[p], 0);
}

/* The hot pages every run executes, and a random share of the others. */
static void execute(struct build *b, uint32_t region, uint64_t pages)
{
	uint64_t hot = (uint64_t)((double)pages * b->k->hot), page = hot;

	if (hot)
		gen_load(b->g, region, 0, hot);
	for (; page < pages && !gen_failed(b->g); page += 4)
		if (rs_rng_double(&b->rng) < b->k->rest)
			gen_load(b->g, region, page, MIN(4, pages - page));
}

/* A new process of the current thread, with its program and the common library mapped. */
static uint32_t spawn(struct build *b, struct slot *s, const char *kind, enum program p)
{
	/* Names are not used again: a record that waits must know for whom. */
	g_autofree char *name = g_strdup_printf("%s%" G_GUINT64_FORMAT, kind, s->unit);
	g_autofree char *lib = g_strdup_printf("%s.lib", name);
	g_autofree char *heap = g_strdup_printf("%s.heap", name);
	uint32_t thread = gen_fork(b->g, name, name);

	gen_switch(b->g, thread);
	gen_exec(b->g);
	s->text = map_program(b, name, p);
	s->lib = gen_map(b->g, lib, b->library, VM_READ | VM_EXEC, b->k->library_pages, 0);
	s->heap = gen_map(b->g, heap, RS_MAP_FILE_NONE, VM_READ | VM_WRITE, MAX(s->anon, 1), 0);
	execute(b, s->text, b->pages[p]);
	execute(b, s->lib, b->k->library_pages);
	return thread;
}

static void start_unit(struct build *b, struct slot *s)
{
	gen_switch(b->g, b->make);
	s->unit = b->next_unit++;
	s->anon = 64;
	s->driver = spawn(b, s, "cc", DRIVER);
	gen_store(b->g, s->heap, 0, s->anon);
	s->anon =
		(uint64_t)MAX((double)b->k->anon_pages *
				      (1 + b->k->anon_deviation * (2 * rs_rng_double(&b->rng) - 1)),
			      16);
	s->anon_done = s->headers_done = 0;
	s->headers = MAX(b->k->per_unit / 2 + rs_rng_below(&b->rng, b->k->per_unit + 1), 1);
	s->child = spawn(b, s, "cc1-", COMPILER);
}

static void read_source(struct build *b, struct slot *s)
{
	g_autofree char *name = g_strdup_printf("src%" G_GUINT64_FORMAT ".c", s->unit);
	uint64_t pages = skewed(&b->rng, b->k->source_pages);

	gen_read(b->g, gen_file(b->g, name, pages, false), 0, 0, pages);
}

/* A header more, and the memory that parsing it takes. False: all are read. */
static bool compile_some(struct build *b, struct slot *s)
{
	uint64_t h, grow;

	if (s->headers_done == 0)
		read_source(b, s);
	if (s->headers_done >= s->headers)
		return false;
	h = gen_dist_next(&b->popularity, &b->rng);
	gen_read(b->g, b->header[h], 0, 0, b->header_pages[h]);
	s->headers_done++;
	grow = s->anon * s->headers_done / s->headers - s->anon_done;
	if (grow) {
		gen_store(b->g, s->heap, s->anon_done, grow);
		s->anon_done += grow;
	}
	if (s->anon_done > 8) /* earlier trees are walked again */
		gen_load(b->g, s->heap, rs_rng_below(&b->rng, s->anon_done - 4), 4);
	s->task.now += b->k->read_ns + grow * b->k->page_ns;
	return true;
}

static void end_compile(struct build *b, struct slot *s)
{
	g_autofree char *name = g_strdup_printf("tmp%" G_GUINT64_FORMAT ".s", s->unit);

	execute(b, s->text, b->pages[COMPILER]);
	s->temporary_size = skewed(&b->rng, b->k->temporary_pages);
	s->temporary = gen_file(b->g, name, s->temporary_size, true);
	gen_write(b->g, s->temporary, 0, 0, s->temporary_size);
	gen_exit(b->g);
	gen_switch(b->g, s->driver);
	gen_wait(b->g, s->child);
	s->task.now += s->anon * b->k->page_ns;
}

static void assemble(struct build *b, struct slot *s)
{
	g_autofree char *name = g_strdup_printf("obj%" G_GUINT64_FORMAT ".o", s->unit);
	uint64_t pages = skewed(&b->rng, b->k->object_pages);

	s->anon = b->k->assembler_anon;
	s->child = spawn(b, s, "as", ASSEMBLER);
	gen_read(b->g, s->temporary, 0, 0, s->temporary_size);
	if (s->anon)
		gen_store(b->g, s->heap, 0, s->anon);
	b->object[s->unit] = gen_file(b->g, name, pages, true);
	b->object_pages[s->unit] = pages;
	gen_write(b->g, b->object[s->unit], 0, 0, pages);
	gen_exit(b->g);
	s->task.now += pages * b->k->read_ns;
}

/* The driver removes the temporary file and ends; make takes note. */
static void finish_unit(struct build *b, struct slot *s)
{
	gen_switch(b->g, s->driver);
	gen_wait(b->g, s->child);
	gen_truncate(b->g, s->temporary, 0);
	gen_exit(b->g);
	gen_switch(b->g, b->make);
	gen_wait(b->g, s->driver);
}

static bool slot_step(struct gen *g, struct gen_task *task)
{
	struct slot *s = task->arg;
	struct build *b = s->b;

	switch (s->stage) {
	case START:
		if (b->next_unit >= b->k->units)
			return false;
		start_unit(b, s);
		break;
	case COMPILE:
		gen_switch(g, s->child);
		if (compile_some(b, s))
			return true;
		break;
	case END_COMPILE:
		gen_switch(g, s->child);
		end_compile(b, s);
		break;
	case ASSEMBLE:
		gen_switch(g, s->driver);
		assemble(b, s);
		break;
	case FINISH:
		finish_unit(b, s);
		s->stage = START;
		task->thread = b->make;
		return true;
	}
	s->stage++;
	/* The scheduler may switch to the thread of the next stage. */
	task->thread = s->stage == COMPILE || s->stage == END_COMPILE ? s->child : s->driver;
	task->now += 1000;
	return true;
}

static void link_image(struct build *b)
{
	struct slot s = { .b = b };
	uint64_t total = 0, done = 0, anon;
	uint32_t image;

	for (uint64_t i = 0; i < b->k->units; i++)
		total += b->object_pages[i];
	anon = (uint64_t)((double)total * b->k->link_anon);
	s.anon = MAX(anon, 1);
	gen_switch(b->g, b->make);
	s.driver = spawn(b, &s, "ld", LINKER);
	for (uint64_t i = 0; i < b->k->units && !gen_failed(b->g); i++) {
		uint64_t grow = MIN(anon * (i + 1) / b->k->units, s.anon) - done;

		gen_read(b->g, b->object[i], 0, 0, b->object_pages[i]);
		if (grow)
			gen_store(b->g, s.heap, done, grow);
		done += grow;
	}
	image = gen_file(b->g, "image", total, true);
	for (uint64_t page = 0; page < total && !gen_failed(b->g); page += 64)
		gen_write(b->g, image, 0, page, MIN(64, total - page));
	gen_exit(b->g);
	gen_switch(b->g, b->make);
	gen_wait(b->g, s.driver);
	gen_mark(b->g, "link");
}

static void make_files(struct build *b)
{
	static const char *const names[NR_PROGRAMS] = { "cc", "cc1", "as", "ld" };
	const struct kbuild *k = b->k;
	uint64_t pages[NR_PROGRAMS] = { k->driver_pages, k->compiler_pages, k->assembler_pages,
					k->linker_pages };

	for (unsigned i = 0; i < NR_PROGRAMS; i++) {
		b->pages[i] = pages[i];
		b->program[i] = gen_file(b->g, names[i], pages[i], false);
	}
	b->library = gen_file(b->g, "libc", k->library_pages, false);
	for (uint64_t i = 0; i < k->headers; i++) {
		g_autofree char *name = g_strdup_printf("h%" G_GUINT64_FORMAT ".h", i);

		b->header_pages[i] = skewed(&b->rng, k->header_pages);
		b->header[i] = gen_file(b->g, name, b->header_pages[i], false);
	}
}

static void run(struct gen *g, const struct kbuild *k)
{
	struct build b = { .g = g, .k = k, .make = g->thread };
	g_autofree struct slot *slots = g_new0(struct slot, k->jobs);
	g_autofree struct gen_task **tasks = g_new0(struct gen_task *, k->jobs);

	rs_rng_init(&b.rng, g->seed, "kernel-build");
	gen_dist_zipf(&b.popularity, k->headers, k->theta);
	b.header = g_new0(uint32_t, k->headers);
	b.header_pages = g_new0(uint64_t, k->headers);
	b.object = g_new0(uint32_t, k->units);
	b.object_pages = g_new0(uint64_t, k->units);
	make_files(&b);
	for (uint64_t i = 0; i < k->jobs; i++) {
		slots[i] = (struct slot){ .b = &b };
		slots[i].task = (struct gen_task){
			.step = slot_step, .arg = &slots[i], .thread = b.make, .now = i
		};
		tasks[i] = &slots[i].task;
	}
	gen_run_tasks(g, tasks, (uint32_t)k->jobs, 20000);
	if (!gen_failed(g)) {
		gen_switch(g, b.make);
		gen_mark(g, "compiled");
		link_image(&b);
	}
	g_free(b.header);
	g_free(b.header_pages);
	g_free(b.object);
	g_free(b.object_pages);
}

json_t *gen_kbuild(struct gen *g, struct gen_object *o)
{
	struct kbuild k = { 0 };

	k.jobs = gen_int(o, "jobs", 2, 1, 1024);
	k.units = gen_int(o, "units", 200, 1, 21000); /* three processes each */
	k.headers = gen_int(o, "headers", 1500, 1, 1000000);
	k.per_unit = gen_int(o, "headers_per_unit", 200, 1, 100000);
	k.theta = gen_real(o, "header_theta", 0.9, 0, 10);
	k.header_pages = MAX(gen_size_pages(o, "header_size", 2), 1);
	k.source_pages = MAX(gen_size_pages(o, "source_size", 4), 1);
	k.object_pages = MAX(gen_size_pages(o, "object_size", 8), 1);
	k.temporary_pages = MAX(gen_size_pages(o, "temporary_size", 20), 1);
	k.driver_pages = MAX(gen_size_pages(o, "driver", 300), 1);
	k.compiler_pages = MAX(gen_size_pages(o, "compiler", 7500), 1);
	k.assembler_pages = MAX(gen_size_pages(o, "assembler", 200), 1);
	k.linker_pages = MAX(gen_size_pages(o, "linker", 500), 1);
	k.library_pages = MAX(gen_size_pages(o, "libraries", 600), 1);
	k.hot = gen_real(o, "text_hot", 0.25, 0, 1);
	k.rest = gen_real(o, "text_rest", 0.2, 0, 1);
	k.anon_pages = gen_size_pages(o, "anon", 6000);
	k.anon_deviation = gen_real(o, "anon_deviation", 0.5, 0, 1);
	k.assembler_anon = gen_size_pages(o, "assembler_anon", 300);
	k.link_anon = gen_real(o, "link_anon", 1, 0, 100);
	k.read_ns = gen_duration(o, "read_time", 20000);
	k.page_ns = gen_duration(o, "page_time", 2000);
	if (!gen_failed(g))
		run(g, &k);
	return json_pack("{ss, ss}", "format", "spec", "generator", "kernel-build");
}
