/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gen_mix.c - runs a spec of the generator "mix": every thread of every process goes through the
 * phases of its process with positions and random numbers of its own.
 *
 * The first access to an anonymous page is a store whatever the spec says, since a load would map
 * the zero page, which reclaim never sees.
 */
#include "traces/gen_mix.h"

/* Where a thread stands in a stream. */
struct place {
	uint64_t at;   /* units done, or grown */
	uint64_t base; /* start of the current round, for shift and stride */
	bool through;
	struct gen_scatter scatter;
	struct gen_dist dist;
};

/* An address space: the regions' numbers and which anonymous pages have contents. */
struct space {
	const struct mix_process *p;
	uint32_t *regions;
	bool *mapped;
	struct gen_pages touched;
};

struct worker {
	struct gen_task task;
	struct mix *x;
	struct space *space;
	struct rs_rng rng;
	unsigned phase;
	uint64_t round, done;
	ns_t phase_start;
	struct place *places;
	bool marks; /* the first thread of the first process */
};

static void start_phase(struct gen *g, struct worker *w, bool first_round)
{
	const struct mix_phase *ph = &w->space->p->phases[w->phase];

	w->done = 0;
	w->phase_start = w->task.now;
	if (first_round) {
		g_free(w->places);
		w->places = g_new0(struct place, ph->nr_streams);
	}
	for (unsigned i = 0; i < ph->nr_streams; i++) {
		struct place *pl = &w->places[i];
		const struct mix_stream *s = &ph->streams[i];

		if (first_round) {
			pl->dist = s->dist;
			gen_scatter_init(&pl->scatter, s->pages / s->unit, &w->rng);
		} else {
			pl->base = (pl->base + s->shift) % s->pages;
		}
		pl->through = false;
		if (s->pattern == MIX_SCAN)
			pl->at = 0;
	}
}

/* Unit number of the next access; *write may be set or cleared by growing. */
static uint64_t next_unit(struct worker *w, const struct mix_stream *s, struct place *pl,
			  bool *write)
{
	uint64_t n = s->pages / s->unit, unit, rank;

	switch (s->pattern) {
	case MIX_DIST:
		rank = gen_dist_next(&pl->dist, &w->rng);
		return s->scatter ? gen_scatter(&pl->scatter, rank) : rank;
	case MIX_SCAN:
	case MIX_LOOP:
		unit = pl->at++ % n;
		pl->through = s->pattern == MIX_SCAN && pl->at >= n;
		return unit;
	case MIX_STRIDE:
		/* Each round over the part begins one unit further on. */
		unit = pl->at;
		pl->at += MAX(s->stride / s->unit, 1);
		if (pl->at >= n)
			pl->at = (unit % MAX(s->stride / s->unit, 1) + 1) % n;
		return unit;
	case MIX_CHASE:
		return gen_scatter(&pl->scatter, pl->at++ % n);
	case MIX_GROW:
		if (!pl->at || *write) {
			*write = true;
			unit = MIN(pl->at, n - 1);
			pl->at++;
			pl->through = pl->at >= n;
			return unit;
		}
		return rs_rng_below(&w->rng, MIN(pl->at, n));
	}
	return 0;
}

static bool is_touched(struct space *sp, uint32_t region, uint64_t page, uint64_t count)
{
	uint64_t before = sp->touched.nr;

	gen_pages_add(&sp->touched, region, page, count);
	return sp->touched.nr == before;
}

static void access_region(struct gen *g, struct worker *w, int region, uint64_t page,
			  uint64_t count, bool write)
{
	struct space *sp = w->space;

	if (!sp->mapped[region]) {
		gen_fail(g, RS_ERROR_INPUT, "region \"%s\" is used after a phase has unmapped it",
			 sp->p->regions[region].name);
		return;
	}
	if (!write && sp->p->regions[region].file < 0 &&
	    !is_touched(sp, (uint32_t)region, page, count))
		write = true;
	else if (write && sp->p->regions[region].file < 0)
		is_touched(sp, (uint32_t)region, page, count);
	if (write)
		gen_store(g, sp->regions[region], page, count);
	else
		gen_load(g, sp->regions[region], page, count);
}

static void one_access(struct gen *g, struct worker *w, const struct mix_stream *s,
		       struct place *pl)
{
	bool write = s->write > 0 && rs_rng_double(&w->rng) < s->write;
	uint64_t page = next_unit(w, s, pl, &write) * s->unit;

	page = s->first + (page + pl->base) % s->pages;
	page = MIN(page, s->first + s->pages - s->unit);
	if (s->region >= 0)
		access_region(g, w, s->region, page, s->unit, write);
	else if (write)
		gen_write(g, w->x->files[s->file].id, 0, page, s->unit);
	else
		gen_read(g, w->x->files[s->file].id, 0, page, s->unit);
}

/* A stream by its weight among those that have any left. False: all are through. */
static bool choose(struct worker *w, const struct mix_phase *ph, unsigned *ret)
{
	double sum = 0, x;
	unsigned last = ph->nr_streams;

	for (unsigned i = 0; i < ph->nr_streams; i++)
		if (!w->places[i].through && ph->streams[i].weight > 0) {
			sum += ph->streams[i].weight;
			last = i;
		}
	if (last == ph->nr_streams)
		return false;
	x = ph->nr_streams > 1 ? rs_rng_double(&w->rng) * sum : 0;
	for (*ret = 0; *ret < last; ++*ret) {
		if (w->places[*ret].through || !(ph->streams[*ret].weight > 0))
			continue;
		if (x < ph->streams[*ret].weight)
			return true;
		x -= ph->streams[*ret].weight;
	}
	return true;
}

static void end_phase(struct gen *g, struct worker *w)
{
	const struct mix_phase *ph = &w->space->p->phases[w->phase];

	if (ph->fsync >= 0)
		gen_fsync(g, w->x->files[ph->fsync].id);
	for (unsigned i = 0; i < ph->nr_unmap; i++)
		if (w->space->mapped[ph->unmap[i]]) {
			gen_unmap(g, w->space->regions[ph->unmap[i]]);
			w->space->mapped[ph->unmap[i]] = false;
		}
	if (ph->mark && w->marks)
		gen_mark(g, ph->name);
	gen_sleep(g, ph->sleep);
	w->task.now += ph->sleep;
}

/* False: that was the last phase. */
static bool next_phase(struct gen *g, struct worker *w)
{
	const struct mix_phase *ph = &w->space->p->phases[w->phase];
	bool repeat = ++w->round < ph->repeat;

	if (!repeat) {
		end_phase(g, w);
		w->phase++;
		w->round = 0;
		if (w->phase == w->space->p->nr_phases) {
			gen_exit(g);
			return false;
		}
	}
	start_phase(g, w, !repeat);
	return true;
}

static bool mix_step(struct gen *g, struct gen_task *task)
{
	struct worker *w = task->arg;
	const struct mix_phase *ph = &w->space->p->phases[w->phase];
	unsigned i;

	if (w->done >= ph->accesses ||
	    (ph->duration && task->now - w->phase_start >= ph->duration) || !choose(w, ph, &i))
		return next_phase(g, w);
	one_access(g, w, &ph->streams[i], &w->places[i]);
	gen_cpu(g, ph->think);
	task->now += ph->cost * ph->streams[i].unit + ph->think;
	w->done++;
	return true;
}

/* ---- set-up ---- */

static void populate(struct gen *g, struct space *sp)
{
	for (unsigned i = 0; i < sp->p->nr_regions; i++) {
		const struct mix_region *r = &sp->p->regions[i];

		if (!r->populate)
			continue;
		if (r->file < 0) {
			gen_store(g, sp->regions[i], 0, r->pages);
			gen_pages_add(&sp->touched, i, 0, r->pages);
		} else {
			gen_load(g, sp->regions[i], 0, r->pages);
		}
	}
}

static void map_regions(struct gen *g, struct mix *x, struct space *sp, const char *process)
{
	for (unsigned i = 0; i < sp->p->nr_regions; i++) {
		const struct mix_region *r = &sp->p->regions[i];
		g_autofree char *name = g_strdup_printf("%s.%s", process, r->name);

		sp->regions[i] =
			gen_map(g, name, r->file < 0 ? RS_MAP_FILE_NONE : x->files[r->file].id,
				r->prot, r->pages, r->pgoff);
		sp->mapped[i] = true;
		if (r->advice >= 0)
			gen_madvise(g, sp->regions[i], (enum rs_advice)r->advice);
	}
	populate(g, sp);
}

/* The first thread maps; the others begin when that is done. */
static ns_t start_of(const struct mix_process *p, uint64_t thread)
{
	return p->start + (thread ? 100000 + p->nr_regions * UINT64_C(20000) : 0);
}

static void space_free(gpointer data)
{
	struct space *sp = data;

	gen_pages_done(&sp->touched);
	g_free(sp->regions);
	g_free(sp->mapped);
	g_free(sp);
}

static void worker_free(gpointer data)
{
	struct worker *w = data;

	g_free(w->places);
	g_free(w);
}

/* One instance of a process with its threads. */
static void start_process(struct gen *g, struct mix *x, const struct mix_process *p,
			  const char *process, GPtrArray *spaces, GPtrArray *workers)
{
	struct space *sp = g_new0(struct space, 1);

	sp->p = p;
	sp->regions = g_new0(uint32_t, p->nr_regions + 1);
	sp->mapped = g_new0(bool, p->nr_regions + 1);
	gen_pages_init(&sp->touched);
	g_ptr_array_add(spaces, sp);
	for (uint64_t t = 0; t < p->threads; t++) {
		struct worker *w = g_new0(struct worker, 1);
		g_autofree char *name = g_strdup_printf("%s.t%" G_GUINT64_FORMAT, process, t);

		g_ptr_array_add(workers, w);
		w->x = x;
		w->space = sp;
		w->marks = workers->len == 1;
		rs_rng_init(&w->rng, g->seed, name);
		w->task = (struct gen_task){ .now = start_of(p, t), .step = mix_step, .arg = w };
		w->task.thread = gen_thread(g, name, process);
		if (!t) {
			g->counts.processes++;
			if (p->memcg)
				gen_memcg(g, p->memcg);
			map_regions(g, x, sp, process);
		}
		if (start_of(p, t))
			gen_time(g, start_of(p, t));
		start_phase(g, w, true);
	}
}

static void run(struct gen *g, struct mix *x)
{
	g_autoptr(GPtrArray) spaces = g_ptr_array_new_with_free_func(space_free);
	g_autoptr(GPtrArray) workers = g_ptr_array_new_with_free_func(worker_free);
	g_autofree struct gen_task **tasks = NULL;

	g->counts.processes = g->counts.threads = 0; /* thread 0 does nothing */
	for (unsigned i = 0; i < x->nr_files; i++)
		x->files[i].id =
			gen_file(g, x->files[i].name, x->files[i].pages, x->files[i].is_new);
	for (unsigned i = 0; i < x->nr_processes; i++)
		for (uint64_t k = 0; k < x->processes[i].count; k++) {
			const struct mix_process *p = &x->processes[i];
			g_autofree char *name =
				p->count == 1 ? g_strdup(p->name)
					      : g_strdup_printf("%s%" G_GUINT64_FORMAT, p->name, k);

			start_process(g, x, p, name, spaces, workers);
		}
	tasks = g_new0(struct gen_task *, workers->len);
	for (unsigned i = 0; i < workers->len; i++)
		tasks[i] = &((struct worker *)g_ptr_array_index(workers, i))->task;
	gen_run_tasks(g, tasks, workers->len, x->quantum);
}

json_t *gen_mix(struct gen *g, struct gen_object *root)
{
	struct mix x;

	if (mix_parse(g, &x, root))
		run(g, &x);
	mix_clear(&x);
	return json_pack("{ss, ss}", "format", "spec", "generator", "mix");
}
