/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * timeline.c - see timeline.h. A thread's track has what it does, nested, and at the leaves what it
 * waits for; when it had a CPU stands on the CPU's track. Sums of the leaves are the waiting times
 * of the result, sums of a CPU's track its busy time.
 */
#include "sim/engine/timeline.h"

#define COUNTERS_EVERY_NS 100000u
#define NR_COUNTERS 5u

struct timeline {
	rs_timeline_fn *fn;
	void *arg;
	GHashTable *known; /* tracks that have been told of */
	ns_t next_counters;
	uint64_t told[NR_COUNTERS]; /* last value and 1; 0: none yet */
};

void rs_sim_timeline(struct rs_sim *sim, rs_timeline_fn *fn, void *arg)
{
	struct rs_ctx *ctx = (struct rs_ctx *)sim;

	ctx->timeline = g_new0(struct timeline, 1);
	ctx->timeline->fn = fn;
	ctx->timeline->arg = arg;
	ctx->timeline->known = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
}

void timeline_free(struct rs_ctx *ctx)
{
	if (ctx->timeline)
		g_hash_table_destroy(ctx->timeline->known);
	g_free(ctx->timeline);
}

/* ---- tracks ---- */

static bool is_new(struct timeline *tl, uint32_t group, uint32_t track)
{
	gint64 key = (gint64)((uint64_t)group << 32 | track);

	return g_hash_table_add(tl->known, g_memdup2(&key, sizeof(key)));
}

static char *task_name(const struct rs_ctx *ctx, const struct task *t)
{
	const char *name;

	if (t->class == CLASS_KSWAPD)
		return g_strdup_printf("kswapd%u", t->nid);
	if (t->class == CLASS_FLUSHER)
		return g_strdup("flusher");
	name = ctx->trace ? rs_trace_name(ctx->trace, RS_NAME_THREAD, t->tid) : NULL;
	return name && *name ? g_strdup_printf("thread %s", name)
			     : g_strdup_printf("thread %u", t->tid);
}

static void introduce(struct rs_ctx *ctx, uint32_t group, uint32_t track, const char *name,
		      const char *group_name)
{
	struct rs_timeline_event e = { .kind = RS_TIMELINE_TRACK,
				       .group = group,
				       .track = track,
				       .name = name,
				       .group_name = group_name };

	ctx->timeline->fn(ctx->timeline->arg, &e);
}

static uint32_t task_group(struct rs_ctx *ctx, const struct task *t)
{
	uint32_t group = t->class == CLASS_APP ? RS_TRACK_PROCESSES + t->process : RS_TRACK_KERNEL;

	if (is_new(ctx->timeline, group, t->id)) {
		g_autofree char *name = task_name(ctx, t);
		g_autofree char *process = t->class == CLASS_APP
						   ? g_strdup_printf("process %u", t->process)
						   : g_strdup("kernel threads");

		introduce(ctx, group, t->id, name, process);
	}
	return group;
}

static void numbered_track(struct rs_ctx *ctx, uint32_t group, uint32_t track, const char *what,
			   const char *group_name)
{
	g_autofree char *name = NULL;

	if (!is_new(ctx->timeline, group, track))
		return;
	name = g_strdup_printf("%s %u", what, track);
	introduce(ctx, group, track, name, group_name);
}

/* ---- spans ---- */

static void tell(struct rs_ctx *ctx, const struct task *t, enum rs_timeline_kind kind, ns_t time,
		 ns_t duration, const char *category, const char *name,
		 const struct rs_timeline_value *value)
{
	struct rs_timeline_event e = { .kind = kind,
				       .group = task_group(ctx, t),
				       .track = t->id,
				       .time = time,
				       .duration = duration,
				       .name = name,
				       .category = category,
				       .values = value,
				       .nr_values = value && value->name };

	ctx->timeline->fn(ctx->timeline->arg, &e);
}

void timeline_begin(struct rs_ctx *ctx, const char *category, const char *name)
{
	struct task *t = ctx->cur;

	if (!t)
		return;
	t->open_spans++;
	tell(ctx, t, RS_TIMELINE_BEGIN, t->now, 0, category, name, NULL);
}

void timeline_end(struct rs_ctx *ctx, const char *name, uint64_t value)
{
	const struct rs_timeline_value v = { name, value };
	struct task *t = ctx->cur;

	if (!t || !t->open_spans)
		return;
	t->open_spans--;
	tell(ctx, t, RS_TIMELINE_END, t->now, 0, NULL, NULL, &v);
}

void timeline_instant(struct rs_ctx *ctx, const char *category, const char *name, uint64_t value)
{
	const struct rs_timeline_value v = { "value", value };

	if (ctx->cur)
		tell(ctx, ctx->cur, RS_TIMELINE_INSTANT, ctx->cur->now, 0, category, name, &v);
}

void timeline_wait(struct rs_ctx *ctx, struct task *t, enum wait_kind kind, const char *what,
		   ns_t from, ns_t to)
{
	static const char *const category[NR_WAITS] = {
		[WAIT_CPU] = "wait.cpu",	   [WAIT_IO] = "wait.io",
		[WAIT_MMAP_LOCK] = "wait.lock",	   [WAIT_VMA_LOCK] = "wait.lock",
		[WAIT_THROTTLE] = "wait.throttle", [WAIT_SLEEP] = "wait.sleep",
		[WAIT_DIRTY] = "wait.throttle",	   [WAIT_THREAD] = "wait.sleep",
	};

	if (to > from)
		tell(ctx, t, RS_TIMELINE_WHOLE, from, to - from, category[kind], what, NULL);
}

void timeline_spin(struct rs_ctx *ctx, const char *what, ns_t from, ns_t to)
{
	if (to > from)
		tell(ctx, ctx->cur, RS_TIMELINE_WHOLE, from, to - from, "spin", what, NULL);
}

void timeline_close(struct rs_ctx *ctx, struct task *t)
{
	for (; t->open_spans; t->open_spans--)
		tell(ctx, t, RS_TIMELINE_END, t->now, 0, NULL, NULL, NULL);
}

/* ---- CPUs, devices, counters ---- */

void timeline_ran(struct rs_ctx *ctx, const struct task *t)
{
	struct rs_timeline_event e = { .kind = RS_TIMELINE_WHOLE,
				       .group = RS_TRACK_CPUS,
				       .track = t->cpu,
				       .time = t->started_at,
				       .duration = t->now - t->started_at,
				       .category = "run" };
	const struct rs_timeline_value v = { "task", t->id };
	g_autofree char *name = NULL;

	if (!e.duration)
		return;
	numbered_track(ctx, RS_TRACK_CPUS, t->cpu, "CPU", "CPUs");
	name = task_name(ctx, t);
	e.name = name;
	e.values = &v;
	e.nr_values = 1;
	ctx->timeline->fn(ctx->timeline->arg, &e);
}

void timeline_io(struct rs_ctx *ctx, const struct device *d, uint32_t channel, bool write,
		 uint64_t bytes, ns_t from, ns_t to)
{
	const struct rs_timeline_value v = { "bytes", bytes };
	const uint32_t group = d == &ctx->swap_dev ? RS_TRACK_SWAP : RS_TRACK_DISK;
	struct rs_timeline_event e = { .kind = RS_TIMELINE_WHOLE,
				       .group = group,
				       .track = channel,
				       .time = from,
				       .duration = to - from,
				       .category = "io",
				       .name = write ? "write" : "read",
				       .values = &v,
				       .nr_values = 1 };

	numbered_track(ctx, group, channel, "channel",
		       d == &ctx->swap_dev ? "swap device" : "disk");
	ctx->timeline->fn(ctx->timeline->arg, &e);
}

static uint64_t free_pages(const struct rs_ctx *ctx)
{
	uint64_t n = 0;

	for (uint32_t nid = 0; nid < ctx->m.nr_nodes; nid++)
		for (unsigned z = 0; z < RS_NR_ZONES; z++)
			n += ctx->m.node[nid].zone[z].free;
	return n;
}

enum { COUNT_FREE, COUNT_MEMCG, COUNT_DIRTY, COUNT_WRITEBACK, COUNT_STEAL };

/* Told if it has changed. */
static void counter(struct rs_ctx *ctx, ns_t now, unsigned which, uint64_t value)
{
	static const char *const names[NR_COUNTERS] = { "nr_free_pages", "memory.current",
							"nr_dirty", "nr_writeback", "pgsteal" };
	const struct rs_timeline_value v = { "pages", value };
	struct rs_timeline_event e = { .kind = RS_TIMELINE_COUNTER,
				       .group = RS_TRACK_MACHINE,
				       .time = now,
				       .name = names[which],
				       .values = &v,
				       .nr_values = 1 };

	if (ctx->timeline->told[which] == value + 1)
		return;
	ctx->timeline->told[which] = value + 1;
	ctx->timeline->fn(ctx->timeline->arg, &e);
}

/* At most every COUNTERS_EVERY_NS: where a CPU changes hands, and after reclaim. */
void timeline_counters(struct rs_ctx *ctx, ns_t now)
{
	struct timeline *tl = ctx->timeline;

	if (now < tl->next_counters)
		return;
	tl->next_counters = now + COUNTERS_EVERY_NS;
	if (is_new(tl, RS_TRACK_MACHINE, 0))
		introduce(ctx, RS_TRACK_MACHINE, 0, "counters", "machine");
	counter(ctx, now, COUNT_FREE, free_pages(ctx));
	if (ctx->m.trace_memcg)
		counter(ctx, now, COUNT_MEMCG, ctx->m.memcg[ctx->m.trace_memcg].usage);
	counter(ctx, now, COUNT_DIRTY, ctx->m.nr_dirty);
	counter(ctx, now, COUNT_WRITEBACK, ctx->m.nr_writeback);
	counter(ctx, now, COUNT_STEAL,
		ctx->m.vmstat[RS_PGSTEAL_ANON] + ctx->m.vmstat[RS_PGSTEAL_FILE]);
}

void timeline_finish(struct rs_ctx *ctx)
{
	for (uint32_t i = 0; i < ctx->nr_cpus; i++)
		if (ctx->cpus[i].cur)
			timeline_ran(ctx, ctx->cpus[i].cur);
	for (uint32_t i = 0; i < ctx->nr_tasks; i++)
		timeline_close(ctx, ctx->tasks[i]);
	ctx->timeline->next_counters = 0;
	timeline_counters(ctx, rs_now(ctx));
}

/* Calls of the trace that show; loads and stores do by their faults. */
const char *timeline_op(enum rs_op op)
{
	switch (op) {
	case RS_OP_READ:
		return "read";
	case RS_OP_WRITE:
		return "write";
	case RS_OP_FSYNC:
		return "fsync";
	case RS_OP_TRUNCATE:
		return "truncate";
	case RS_OP_MMAP:
		return "mmap";
	case RS_OP_MUNMAP:
		return "munmap";
	case RS_OP_MPROTECT:
		return "mprotect";
	case RS_OP_MADVISE:
		return "madvise";
	case RS_OP_MLOCK:
		return "mlock";
	case RS_OP_FORK:
		return "fork";
	case RS_OP_EXEC:
		return "exec";
	case RS_OP_EXIT:
		return "exit";
	default:
		return NULL;
	}
}
