/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gen_launch.c - threads of one process that come and go: what per-VMA locks are for.
 *
 * Each thread, in every round, maps some areas (a stack, thread-local storage, a signal stack, a
 * table), touches some of their pages and unmaps them. The first stretch of each round maps, which
 * needs the whole address space's lock for writing, while other threads fault. An area begins with
 * a guard, as pthread_create() makes one: without, neighbours would be one VMA.
 */
#include "traces/gen.h"

#define MAX_AREAS 64u

struct launch {
	uint64_t threads, rounds, areas_min, areas_max, pages_min, pages_max, area_pages, guard;
	ns_t think, cost;
};

struct launcher {
	struct gen_task task;
	const struct launch *l;
	struct rs_rng rng;
	unsigned number;
	uint64_t round;
};

static uint64_t between(struct rs_rng *rng, uint64_t min, uint64_t max)
{
	return min + rs_rng_below(rng, max - min + 1);
}

/* One round: map, touch, unmap. Pages are spread over the areas, each from its start. */
static bool launch_step(struct gen *g, struct gen_task *task)
{
	struct launcher *t = task->arg;
	uint64_t areas = between(&t->rng, t->l->areas_min, t->l->areas_max);
	uint64_t left = between(&t->rng, t->l->pages_min, t->l->pages_max), total = left;
	uint32_t region[MAX_AREAS];

	for (uint64_t i = 0; i < areas; i++) {
		g_autofree char *name = g_strdup_printf("t%u.area%" G_GUINT64_FORMAT, t->number, i);

		region[i] = gen_map(g, name, RS_MAP_FILE_NONE, VM_READ | VM_WRITE,
				    t->l->guard + t->l->area_pages, 0);
		if (t->l->guard)
			gen_protect(g, region[i], 0, t->l->guard, 0);
	}
	for (uint64_t i = 0; i < areas && left; i++) {
		uint64_t n = MIN(i + 1 == areas ? left : MAX(left / 2, 1), t->l->area_pages);

		gen_store(g, region[i], t->l->guard, n);
		left -= n;
	}
	gen_cpu(g, t->l->think);
	for (uint64_t i = 0; i < areas; i++)
		gen_unmap(g, region[i]);
	task->now += t->l->think + total * t->l->cost;
	if (++t->round < t->l->rounds)
		return true;
	gen_exit(g);
	return false;
}

static void run(struct gen *g, const struct launch *l)
{
	g_autofree struct launcher *t = g_new0(struct launcher, l->threads);
	g_autofree struct gen_task **tasks = g_new0(struct gen_task *, l->threads);

	for (uint64_t i = 0; i < l->threads; i++) {
		g_autofree char *name = g_strdup_printf("t%" G_GUINT64_FORMAT, i);

		t[i] = (struct launcher){ .l = l, .number = (unsigned)i };
		rs_rng_init(&t[i].rng, g->seed, name);
		t[i].task = (struct gen_task){ .step = launch_step, .arg = &t[i] };
		t[i].task.thread = gen_thread(g, name, "0");
		tasks[i] = &t[i].task;
	}
	gen_run_tasks(g, tasks, (uint32_t)l->threads, 1);
}

static void range(struct gen_object *o, const char *key, uint64_t limit, uint64_t *min,
		  uint64_t *max)
{
	json_t *m = gen_member(o, key);

	if (m && json_is_array(m) && json_array_size(m) == 2 &&
	    json_is_integer(json_array_get(m, 0)) && json_is_integer(json_array_get(m, 1))) {
		json_int_t a = json_integer_value(json_array_get(m, 0));
		json_int_t b = json_integer_value(json_array_get(m, 1));

		if (a >= 1 && b >= a && (uint64_t)b <= limit) {
			*min = (uint64_t)a;
			*max = (uint64_t)b;
			return;
		}
	} else if (!m) {
		return;
	}
	gen_object_fail(o, key, "valid is [MIN, MAX] with 1 <= MIN <= MAX <= %" G_GUINT64_FORMAT,
			limit);
}

json_t *gen_launch(struct gen *g, struct gen_object *root)
{
	struct launch l = { .areas_min = 3, .areas_max = 5, .pages_min = 20, .pages_max = 200 };

	l.threads = gen_int(root, "threads", 8, 1, GEN_MAX_THREADS);
	l.rounds = gen_int(root, "rounds", 100, 1, 1000000000);
	l.area_pages = MAX(gen_size_pages(root, "area", 256), 1);
	l.guard = gen_size_pages(root, "guard", 1);
	range(root, "areas", MAX_AREAS, &l.areas_min, &l.areas_max);
	range(root, "pages", 1 << 20, &l.pages_min, &l.pages_max);
	l.think = gen_duration(root, "think", 20000);
	l.cost = gen_duration(root, "cost", 1000);
	if (!gen_failed(g))
		run(g, &l);
	return json_pack("{ss, ss}", "format", "spec", "generator", "launch-threads");
}
