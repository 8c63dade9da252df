/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * feed.c - records from the trace to the threads they belong to. A batch is used in place; what a
 * thread has not run when the next one comes is copied.
 */
#include "sim/engine/engine.h"

#define MAX_QUEUED (64u << 20) /* records, 1 GiB */

void segment_free(struct segment *s)
{
	if (!s)
		return;
	g_free(s->owned);
	g_free(s->owned_maps);
	g_free(s);
}

static struct thread_slot *thread_slot(struct rs_ctx *ctx, uint32_t thread)
{
	if (thread >= ctx->nr_threads) {
		uint32_t n = MAX(thread + 1, ctx->nr_threads * 2);

		ctx->thread = g_renew(struct thread_slot, ctx->thread, n);
		for (uint32_t i = ctx->nr_threads; i < n; i++)
			ctx->thread[i] = (struct thread_slot){ 0 };
		ctx->nr_threads = n;
	}
	return &ctx->thread[thread];
}

static struct mm **process_slot(struct rs_ctx *ctx, uint32_t process)
{
	if (process >= ctx->nr_processes) {
		uint32_t n = MAX(process + 1, ctx->nr_processes * 2);

		ctx->process = g_renew(struct mm *, ctx->process, n);
		ctx->process_threads = g_renew(uint32_t, ctx->process_threads, n);
		for (uint32_t i = ctx->nr_processes; i < n; i++) {
			ctx->process[i] = NULL;
			ctx->process_threads[i] = 0;
		}
		ctx->nr_processes = n;
	}
	return &ctx->process[process];
}

/* A thread begins in the order of the trace; its task may still have to be born by a fork. */
static struct task *open_thread(struct rs_ctx *ctx, uint32_t thread, uint32_t process)
{
	struct thread_slot *slot = thread_slot(ctx, thread);
	struct task *t = task_new(ctx, CLASS_APP, app_main);

	t->tid = thread;
	t->state = TASK_UNBORN;
	t->process = process;
	t->cpu_hint = thread % ctx->nr_cpus;
	slot->task = t;
	slot->open = true;
	process_slot(ctx, process);
	ctx->process_threads[process]++;
	return t;
}

void start_thread(struct rs_ctx *ctx, struct task *t, struct mm *mm, ns_t when)
{
	t->mm = mm;
	t->nid = ctx->cpus[t->cpu_hint].nid;
	mm->users++;
	ctx->process[t->process] = mm;
	ctx->nr_live_apps++;
	t->born_at = MAX(when, t->now);
	task_wake(ctx, t, when);
}

/* RS_OP_THREAD: go on with that thread, or begin it. */
static void switch_thread(struct rs_ctx *ctx, const struct rs_record *r)
{
	struct thread_slot *slot = thread_slot(ctx, r->object);
	struct mm **mm;

	if (!slot->open) {
		struct task *t;

		mm = process_slot(ctx, r->arg);
		if (!ctx->process_threads[r->arg]) /* the last one of that number is over, in the
						      trace at least */
			*mm = mm_create(ctx, ctx->m.trace_memcg);
		t = open_thread(ctx, r->object, r->arg);
		/* Without an address space its process is still to be forked: it begins with that.
		 */
		mm = process_slot(ctx, r->arg);
		if (*mm)
			start_thread(ctx, t, *mm, ctx->now);
	}
	ctx->feed_thread = r->object;
}

static void push_segment(struct rs_ctx *ctx, const struct rs_batch *b, uint32_t from, uint32_t to)
{
	struct task *t;
	struct segment *s;

	if (from == to)
		return;
	t = ctx->thread[ctx->feed_thread].task;
	if (t->state == TASK_DEAD && t->killed) {
		abandon_records(ctx, b->records + from, to - from);
		return;
	}
	if (t->state == TASK_DEAD) {
		late_marks(ctx, b->records + from, to - from);
		return;
	}
	s = g_new0(struct segment, 1);
	s->records = b->records + from;
	s->n = to - from;
	s->maps = b->maps;
	s->line = b->line + from;
	g_queue_push_tail(&t->segments, s);
	task_feed(ctx, t);
}

static bool define_file(struct rs_ctx *ctx, const struct rs_record *r)
{
	return machine_define_file(&ctx->m, r->object, r->value, !(r->arg & 1), &ctx->error);
}

static inline bool plain_accesses(const struct rs_record *r)
{
	uint8_t highest = 0;

	for (unsigned k = 0; k < 8; k++)
		highest = MAX(highest, r[k].op);
	return highest <= RS_OP_WRITE;
}

/* The child's number may still mean a process that is over. */
static void fork_thread(struct rs_ctx *ctx, const struct rs_record *r)
{
	struct mm **mm = process_slot(ctx, r->arg);
	struct task *child;

	if (!ctx->process_threads[r->arg])
		*mm = NULL;
	child = open_thread(ctx, r->object, r->arg);
	child->by_fork = true;
	g_queue_push_tail(&ctx->thread[r->object].unborn, child);
}

/* What decides whose records these are is done here, in the order of the trace. */
static bool distribute(struct rs_ctx *ctx, const struct rs_batch *b)
{
	uint32_t from = 0;

	for (uint32_t i = 0; i < b->nr_records; i++) {
		const struct rs_record *r = &b->records[i];

		/* Nearly all are accesses: pass over eight at a time. */
		while (i + 8 < b->nr_records && plain_accesses(r)) {
			i += 8;
			r += 8;
		}
		if (r->op <= RS_OP_WRITE)
			continue;
		if (r->op == RS_OP_FILE && !define_file(ctx, r))
			return false;
		if (r->op == RS_OP_FORK)
			fork_thread(ctx, r);
		if (r->op == RS_OP_THREAD) {
			push_segment(ctx, b, from, i);
			switch_thread(ctx, r);
			from = i + 1;
		}
		if (r->op == RS_OP_EXIT) {
			struct thread_slot *slot = &ctx->thread[ctx->feed_thread];

			slot->open = false;
			ctx->process_threads[slot->task->process]--;
		}
	}
	push_segment(ctx, b, from, b->nr_records);
	return true;
}

/* Copies of the records that have not run, and of the maps that they mean, numbered anew. */
static void own_rest(struct segment *s)
{
	GArray *maps = g_array_new(FALSE, FALSE, sizeof(struct rs_map));

	s->line += s->pos;
	s->n -= s->pos;
	s->owned = g_memdup2(s->records + s->pos, s->n * sizeof(*s->records));
	s->pos = 0;
	for (uint32_t i = 0; i < s->n; i++) {
		struct rs_record *r = &s->owned[i];

		if (r->op != RS_OP_MMAP)
			continue;
		g_array_append_val(maps, s->maps[r->value]);
		r->value = maps->len - 1;
	}
	s->owned_maps = (struct rs_map *)g_array_free(maps, FALSE);
	s->records = s->owned;
	s->maps = s->owned_maps;
}

/* The batch is about to go: keep what has not run yet. */
static bool keep_rest(struct rs_ctx *ctx)
{
	uint64_t kept = 0;

	for (uint32_t i = 0; i < ctx->nr_threads; i++) {
		struct task *t = ctx->thread[i].task;

		for (GList *l = t && t->state != TASK_DEAD ? t->segments.head : NULL; l;
		     l = l->next) {
			struct segment *s = l->data;

			kept += s->n - s->pos;
			if (!s->owned)
				own_rest(s);
		}
	}
	if (kept <= MAX_QUEUED)
		return true;
	g_set_error(&ctx->error, RS_ERROR, RS_ERROR_INPUT,
		    "threads lie too far apart in the trace: more than %u records wait for the one "
		    "that is "
		    "behind; end threads with 'exit'",
		    MAX_QUEUED);
	return false;
}

bool feed(struct rs_ctx *ctx, const struct rs_batch *b)
{
	if (!distribute(ctx, b))
		return false;
	sched_run(ctx);
	return !ctx->error && keep_rest(ctx);
}
