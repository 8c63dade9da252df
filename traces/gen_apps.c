/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gen_apps.c - a phone: apps are launched, switched to and left in the background.
 *
 * A parent process (the zygote) holds the framework's code and heap; every app is forked from it,
 * maps a package file of its own, grows a heap at its cold start and, whenever it comes to the
 * front, touches its working set: a fixed hot part of heap and package, some of the rest and some
 * new memory. Which app is next follows a zipf distribution. Background apps wake up now and then
 * for a few pages.
 */
#include "traces/gen.h"
#include "traces/gen_dist.h"

struct apps_spec {
	uint64_t nr_apps, switches, heap, heap_start, package, framework, zygote_heap, used;
	double hot, theta, write, wake;
	ns_t foreground;
};

struct app {
	bool running;
	uint32_t thread, heap, package;
	uint64_t grown; /* pages of the heap in use */
	struct gen_scatter heap_order, package_order;
};

struct phone {
	struct gen *g;
	const struct apps_spec *s;
	struct rs_rng rng;
	struct app *apps;
	uint32_t zygote, framework, zygote_heap, framework_file;
};

static void start_phone(struct phone *p)
{
	struct gen *g = p->g;

	p->framework_file = gen_file(g, "framework", p->s->framework, false);
	p->zygote = g->thread;
	p->framework =
		gen_map(g, "framework", p->framework_file, VM_READ | VM_EXEC, p->s->framework, 0);
	p->zygote_heap = gen_map(g, "zygote.heap", RS_MAP_FILE_NONE, VM_READ | VM_WRITE,
				 p->s->zygote_heap, 0);
	gen_load(g, p->framework, 0, p->s->framework);
	gen_store(g, p->zygote_heap, 0, p->s->zygote_heap);
}

static void cold_start(struct phone *p, uint64_t i)
{
	struct app *a = &p->apps[i];
	struct gen *g = p->g;
	g_autofree char *name = g_strdup_printf("app%" G_GUINT64_FORMAT, i);
	g_autofree char *heap = g_strdup_printf("%s.heap", name);
	g_autofree char *file = g_strdup_printf("%s.apk", name);
	uint32_t id = gen_file(g, file, p->s->package, false);

	gen_switch(g, p->zygote);
	a->thread = gen_fork(g, name, name);
	gen_switch(g, a->thread);
	a->package = gen_map(g, file, id, VM_READ | VM_EXEC, p->s->package, 0);
	a->heap = gen_map(g, heap, RS_MAP_FILE_NONE, VM_READ | VM_WRITE, p->s->heap, 0);
	gen_scatter_init(&a->heap_order, p->s->heap_start, &p->rng);
	gen_scatter_init(&a->package_order, p->s->package, &p->rng);
	a->running = true;
	a->grown = p->s->heap_start;
	gen_store(g, a->heap, 0, p->s->heap_start);
	/* The dex file is read once from end to end when it is verified. */
	gen_read(g, id, 0, 0, p->s->package);
}

static void touch_heap(struct phone *p, struct app *a, uint64_t page)
{
	if (rs_rng_double(&p->rng) < p->s->write)
		gen_store(p->g, a->heap, page, 1);
	else
		gen_load(p->g, a->heap, page, 1);
}

/* A page of the app or the framework: mostly of the hot part. */
static void one_touch(struct phone *p, struct app *a)
{
	uint64_t kind = rs_rng_below(&p->rng, 10), hot, n;
	bool is_hot = rs_rng_double(&p->rng) < 0.9;

	if (kind < 5) {
		hot = MAX((uint64_t)((double)p->s->heap_start * p->s->hot), 1);
		if (is_hot)
			touch_heap(p, a, gen_scatter(&a->heap_order, rs_rng_below(&p->rng, hot)));
		else
			touch_heap(p, a, rs_rng_below(&p->rng, a->grown));
	} else {
		uint32_t region = kind < 8 ? a->package : p->framework;
		uint64_t page;

		n = kind < 8 ? p->s->package : p->s->framework;
		hot = MAX((uint64_t)((double)n * p->s->hot), 1);
		page = rs_rng_below(&p->rng, is_hot ? hot : n);
		gen_load(p->g, region, kind < 8 ? gen_scatter(&a->package_order, page) : page, 1);
	}
}

static void use_app(struct phone *p, uint64_t i)
{
	struct app *a = &p->apps[i];
	uint64_t room = p->s->heap - a->grown;
	uint64_t grow = MIN(room, p->s->heap_start / 50 + 1);

	gen_switch(p->g, a->thread);
	if (grow) {
		gen_store(p->g, a->heap, a->grown, grow);
		a->grown += grow;
	}
	for (uint64_t k = 0; k < p->s->used && !gen_failed(p->g); k++)
		one_touch(p, a);
	gen_sleep(p->g, p->s->foreground);
}

static void wake_background(struct phone *p, uint64_t front)
{
	for (uint64_t i = 0; i < p->s->nr_apps; i++) {
		if (i == front || !p->apps[i].running || rs_rng_double(&p->rng) >= p->s->wake)
			continue;
		gen_switch(p->g, p->apps[i].thread);
		for (unsigned k = 0; k < 50 && !gen_failed(p->g); k++)
			one_touch(p, &p->apps[i]);
	}
}

static void run(struct phone *p)
{
	struct gen_dist order;

	rs_rng_init(&p->rng, p->g->seed, "apps");
	p->apps = g_new0(struct app, p->s->nr_apps);
	gen_dist_zipf(&order, p->s->nr_apps, p->s->theta);
	start_phone(p);
	for (uint64_t k = 0; k < p->s->switches && !gen_failed(p->g); k++) {
		/* First each app once, then by popularity. */
		uint64_t i = k < p->s->nr_apps ? k : gen_dist_next(&order, &p->rng);
		g_autofree char *mark = g_strdup_printf("switch%" G_GUINT64_FORMAT, k);

		if (!p->apps[i].running)
			cold_start(p, i);
		use_app(p, i);
		wake_background(p, i);
		if (k % 10 == 9 || k + 1 == p->s->switches)
			gen_mark(p->g, mark);
	}
	g_free(p->apps);
}

json_t *gen_apps(struct gen *g, struct gen_object *root)
{
	struct apps_spec s = { 0 };
	struct phone p = { .g = g, .s = &s };

	s.nr_apps = gen_int(root, "apps", 12, 1, 1000);
	s.switches = gen_int(root, "switches", 60, 1, 1000000);
	s.heap = MAX(gen_size_pages(root, "heap", 25600), 1);
	s.heap_start = MIN(MAX(gen_size_pages(root, "heap_start", 12800), 1), s.heap);
	s.package = MAX(gen_size_pages(root, "package", 7680), 1);
	s.framework = MAX(gen_size_pages(root, "framework", 15360), 1);
	s.zygote_heap = MAX(gen_size_pages(root, "zygote_heap", 5120), 1);
	s.used = gen_int(root, "touches", 20000, 1, 1000000000);
	s.hot = gen_real(root, "hot", 0.3, 0, 1);
	s.theta = gen_real(root, "theta", 0.8, 0, 10);
	s.write = gen_real(root, "write", 0.4, 0, 1);
	s.wake = gen_real(root, "wake", 0.1, 0, 1);
	s.foreground = gen_duration(root, "foreground", 1000000000);
	if (!gen_failed(g))
		run(&p);
	return json_pack("{ss, ss}", "format", "spec", "generator", "app-switch");
}
