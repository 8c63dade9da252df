/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sched.c - who runs when: tasks on a given number of CPUs, one clock each.
 *
 * Of all running tasks the one with the lowest clock goes on, up to the next event, the end of its
 * time slice, or the quantum past the next task's clock. At equal times events come first, then
 * kswapd, the flusher, applications, each by number. A ready task gets a CPU in order of the time
 * it became ready; a woken kernel thread asks the CPU for it at the next checkpoint.
 * Differs: no priorities and no migration cost; a time slice is a setting. Who gives way does not
 * look again at what became ready meanwhile before it goes on.
 */
#include "sim/engine/psi.h"
#include "sim/engine/timeline.h"

#include <stdarg.h>

#define STALL_NS 3600000000000ull
#define SPIN_MAX_NS 25000u /* Kernel: rwsem_rspin_threshold() at most */

static gint ready_order(gconstpointer a, gconstpointer b, gpointer unused)
{
	const struct task *x = a, *y = b;

	if (x->class != y->class && (x->class == CLASS_APP || y->class == CLASS_APP))
		return x->class == CLASS_APP ? 1 : -1;
	if (x->ready_at != y->ready_at)
		return x->ready_at < y->ready_at ? -1 : 1;
	return x->id < y->id ? -1 : x->id > y->id;
}

static struct cpu *idle_cpu_on(struct rs_ctx *ctx, uint8_t nid)
{
	for (uint32_t i = 0; i < ctx->nr_cpus; i++)
		if (!ctx->cpus[i].cur && ctx->cpus[i].nid == nid)
			return &ctx->cpus[i];
	return NULL;
}

/* kswapd runs on its node; threads are dealt to the CPUs by number. */
static uint8_t home_node(const struct rs_ctx *ctx, const struct task *t)
{
	return t->class == CLASS_APP ? ctx->cpus[t->cpu_hint].nid : t->nid;
}

static struct cpu *idle_cpu(struct rs_ctx *ctx, const struct task *t)
{
	struct cpu *cpu = idle_cpu_on(ctx, home_node(ctx, t));

	for (uint32_t i = 0; i < ctx->nr_cpus && !cpu; i++)
		if (!ctx->cpus[i].cur)
			cpu = &ctx->cpus[i];
	return cpu;
}

/* Kernel: kernel/sched/core.c context_switch() with lru_gen_use_mm(). */
static void run_on(struct rs_ctx *ctx, struct cpu *cpu, struct task *t, ns_t when)
{
	ns_t from = MAX(MAX(t->ready_at, cpu->free_at), when);

	if (cpu->last_user != t)
		from += ctx->cfg.cost[RS_COST_CONTEXT_SWITCH];
	t->wait_ns[WAIT_CPU] += from - t->ready_at;
	if (TIMELINE(ctx))
		timeline_wait(ctx, t, WAIT_CPU, "run queue", t->ready_at, from);
	t->now = from;
	t->state = TASK_RUNNING;
	t->cpu = cpu - ctx->cpus;
	if (t->class == CLASS_APP)
		t->nid = cpu->nid;
	t->started_at = from;
	t->slice_end = from + ctx->cfg.timeslice_ns;
	psi_task_change(ctx, t, from);
	cpu->cur = t;
	cpu->last_user = t;
	if (ctx->cur)
		ctx->cur->others = MIN(ctx->cur->others, from);
	if (t->mm && ctx->ops->mm_switch)
		ctx->ops->mm_switch(ctx, &t->mm->pub);
}

/* Its time on the CPU ends now. */
static void account_run(struct rs_ctx *ctx, struct cpu *cpu, struct task *t)
{
	if (TIMELINE(ctx)) {
		timeline_ran(ctx, t);
		timeline_counters(ctx, t->now);
	}
	t->run_ns += t->now - t->started_at;
	cpu->busy_ns += t->now - t->started_at;
	cpu->free_at = t->now;
	cpu->cur = NULL;
}

static void release_cpu(struct rs_ctx *ctx, struct task *t)
{
	struct cpu *cpu = &ctx->cpus[t->cpu];
	struct task *next;

	account_run(ctx, cpu, t);
	psi_task_change(ctx, t, t->now);
	next = g_queue_pop_head(&ctx->ready);
	if (next)
		run_on(ctx, cpu, next, cpu->free_at);
}

/*
 * When a woken kernel thread gets the CPU of an application that goes on running. CFS (6.1) lets
 * a thread that has slept go first, at the next checkpoint; EEVDF (6.6 and newer) lets the running
 * task finish its slice, which is looked at in the timer tick. Kernel: kernel/sched/fair.c
 * check_preempt_wakeup(), entity_tick(). Assumed: HZ = 250.
 */
#define TICK_NS 4000000u
static ns_t wakeup_preempts_at(const struct rs_ctx *ctx, ns_t when)
{
	return ctx->m.kernel < RS_KERNEL_6_12 ? when : (when / TICK_NS + 1) * TICK_NS;
}

/* From here on the spinner sleeps. Kernel: need_resched() in rwsem_optimistic_spin(). */
static struct cpu *stop_spinning(struct rs_ctx *ctx, struct task *t, ns_t when)
{
	struct cpu *cpu = &ctx->cpus[t->cpu];

	t->now = t->wait_from = MAX(t->now, when);
	t->spin_ns += t->now - t->spin_from;
	t->state = TASK_WAITING;
	account_run(ctx, cpu, t);
	psi_task_change(ctx, t, t->now);
	return cpu;
}

/* A CPU that nobody needs: idle, or one that spins. */
static struct cpu *spare_cpu(struct rs_ctx *ctx, const struct task *t, ns_t when)
{
	struct cpu *cpu = idle_cpu(ctx, t);

	for (uint32_t i = 0; i < ctx->nr_cpus && !cpu; i++)
		if (ctx->cpus[i].cur->state == TASK_SPINNING)
			cpu = stop_spinning(ctx, ctx->cpus[i].cur, when);
	return cpu;
}

static void make_ready(struct rs_ctx *ctx, struct task *t, ns_t when)
{
	struct cpu *cpu = spare_cpu(ctx, t, when);

	t->ready_at = when;
	t->state = TASK_READY;
	if (cpu)
		t->cpu = cpu - ctx->cpus;
	psi_task_change(ctx, t, when);
	if (cpu) {
		run_on(ctx, cpu, t, when);
		return;
	}
	g_queue_insert_sorted(&ctx->ready, t, ready_order, NULL);
	t->preempt_at = wakeup_preempts_at(ctx, when);
	for (uint32_t i = 0; i < ctx->nr_cpus; i++) {
		struct task *r = ctx->cpus[i].cur;

		r->limit = MIN(r->limit, t->class == CLASS_APP ? r->slice_end : t->preempt_at);
	}
}

void task_wake(struct rs_ctx *ctx, struct task *t, ns_t when)
{
	/* Only a kill wakes a thread whose records are used up. */
	if (t->state == TASK_STARVING) {
		if (!ctx->trace_over)
			return;
		ctx->nr_starving--;
		when = MAX(when, t->end_at);
		t->idle_ns += when - t->end_at;
		make_ready(ctx, t, when);
	}
	if (t->state == TASK_SPINNING) {
		t->now = MAX(when, t->now);
		t->spin_ns += t->now - t->spin_from;
		t->state = TASK_RUNNING;
		if (ctx->cur)
			ctx->cur->others = MIN(ctx->cur->others, t->now);
	}
	if (t->state == TASK_WAITING || t->state == TASK_UNBORN)
		make_ready(ctx, t, MAX(when, t->now));
}

/* Kernel: blk_flush_plug() in schedule(). */
static void flush_before_sleep(struct rs_ctx *ctx)
{
	bool was = ctx->cur->parking;

	ctx->cur->parking = true;
	plug_flush(ctx);
	ctx->cur->parking = was;
}

static void park(struct rs_ctx *ctx, enum task_state state, const char *what)
{
	struct task *t = ctx->cur;

	if (t->plug)
		flush_before_sleep(ctx);
	t->state = state;
	t->waiting_for = what;
	release_cpu(ctx, t);
	task_yield(t);
	t->waiting_for = NULL;
}

void task_wait(struct rs_ctx *ctx, enum wait_kind kind, const char *what)
{
	struct task *t = ctx->cur;
	ns_t from = t->now;

	t->wait_kind = kind;
	park(ctx, TASK_WAITING, what);
	t->wait_ns[kind] += t->ready_at - from;
	if (TIMELINE(ctx))
		timeline_wait(ctx, t, kind, what, from, t->ready_at);
}

static void spun_enough(struct rs_ctx *ctx, void *arg, uint64_t value)
{
	struct task *t = arg, *next;
	struct cpu *cpu;

	if (t->state != TASK_SPINNING || t->nr_spins != value)
		return;
	if (t->spin_on && *t->spin_on && (*t->spin_on)->state == TASK_RUNNING) {
		event_add(ctx, ctx->now + SPIN_MAX_NS, spun_enough, t, value);
		return;
	}
	cpu = stop_spinning(ctx, t, ctx->now);
	next = g_queue_pop_head(&ctx->ready);
	if (next)
		run_on(ctx, cpu, next, cpu->free_at);
}

/*
 * Kernel: rwsem_optimistic_spin(): as long as a writer runs, and a fixed time otherwise. Differs:
 * a spinner keeps its place in the queue.
 */
bool task_spin(struct rs_ctx *ctx, enum wait_kind kind, const char *what, struct task *const *owner)
{
	struct task *t = ctx->cur;

	if (ctx->nr_cpus == 1 || !g_queue_is_empty(&ctx->ready)) {
		task_wait(ctx, kind, what);
		return false;
	}
	if (t->plug)
		flush_before_sleep(ctx);
	t->state = TASK_SPINNING;
	t->wait_kind = kind;
	t->waiting_for = what;
	t->spin_on = owner;
	t->spin_from = t->now;
	t->wait_from = 0;
	event_add(ctx, t->now + SPIN_MAX_NS, spun_enough, t, ++t->nr_spins);
	task_yield(t);
	t->waiting_for = NULL;
	if (!t->wait_from) {
		if (TIMELINE(ctx))
			timeline_spin(ctx, what, t->spin_from, t->now);
		return true;
	}
	t->wait_ns[kind] += t->ready_at - t->wait_from;
	if (TIMELINE(ctx)) {
		timeline_spin(ctx, what, t->spin_from, t->wait_from);
		timeline_wait(ctx, t, kind, what, t->wait_from, t->ready_at);
	}
	return false;
}

static void wake_sleeper(struct rs_ctx *ctx, void *arg, uint64_t value)
{
	struct task *t = arg;

	if (t->sc_depth == value)
		task_wake(ctx, t, ctx->now);
}

/* A sleeper may be woken early; its timer then finds another sleep (sc_depth counts them). */
void task_sleep(struct rs_ctx *ctx, ns_t ns, enum wait_kind kind, const char *what)
{
	struct task *t = ctx->cur;

	event_add(ctx, t->now + ns, wake_sleeper, t, ++t->sc_depth);
	task_wait(ctx, kind, what);
	t->sc_depth++;
}

void task_exit(struct rs_ctx *ctx)
{
	struct task *t = ctx->cur;

	if (TIMELINE(ctx))
		timeline_close(ctx, t);
	t->state = TASK_DEAD;
	t->end_at = t->now;
	if (t->class == CLASS_APP)
		ctx->nr_live_apps--;
	release_cpu(ctx, t);
	task_yield(t);
	g_assert_not_reached();
}

/* Give way if the time of something else has come. Kernel: cond_resched(), return to user mode. */
void task_checkpoint(struct rs_ctx *ctx)
{
	struct task *t = ctx->cur, *next = g_queue_peek_head(&ctx->ready);

	if (t->now < t->limit)
		return;
	if (next &&
	    (t->now >= t->slice_end || (next->class < t->class && t->now >= next->preempt_at))) {
		t->state = TASK_READY;
		t->ready_at = t->now;
		release_cpu(ctx, t);
		if (t->state == TASK_READY)
			g_queue_insert_sorted(&ctx->ready, t, ready_order, NULL);
	} else if (t->now >= t->slice_end) {
		t->slice_end = t->now + ctx->cfg.timeslice_ns;
	}
	task_yield(t);
}

void task_sync(struct rs_ctx *ctx)
{
	struct task *t = ctx->cur;

	if (ctx->nr_cpus > 1 && t->now > t->others)
		task_yield(t);
}

/* The task touches nothing that others see before this time. */
static ns_t acts_at(const struct rs_ctx *ctx, const struct task *t)
{
	const struct task *next = g_queue_peek_head((GQueue *)&ctx->ready);
	ns_t when = t->busy_until;

	if (next)
		when = MIN(when, t->slice_end);
	if (next && next->class < t->class)
		when = MIN(when, next->preempt_at);
	return MAX(when, t->now);
}

static struct task *lowest_clock(struct rs_ctx *ctx, ns_t *ret_next)
{
	struct task *best = NULL;

	*ret_next = UINT64_MAX;
	for (uint32_t i = 0; i < ctx->nr_cpus; i++) {
		struct task *t = ctx->cpus[i].cur;

		if (!t || t->state == TASK_SPINNING)
			continue;
		if (!best || t->now < best->now || (t->now == best->now && t->id < best->id)) {
			if (best)
				*ret_next = MIN(*ret_next, acts_at(ctx, best));
			best = t;
		} else {
			*ret_next = MIN(*ret_next, acts_at(ctx, t));
		}
	}
	return best;
}

static ns_t run_limit(struct rs_ctx *ctx, const struct task *t, ns_t event, ns_t other)
{
	const struct task *next = g_queue_peek_head(&ctx->ready);
	ns_t limit = event;

	if (other != UINT64_MAX)
		limit = MIN(limit, other + ctx->cfg.quantum_ns + 1);
	if (next)
		limit = MIN(limit, next->class < t->class ? MIN(next->preempt_at, t->slice_end)
							  : t->slice_end);
	return limit;
}

/*
 * Timers alone never end: if every application waits, and not because it wants to, for an hour of
 * simulated time, nobody will wake it.
 */
static bool stalled(struct rs_ctx *ctx, const struct task *running, ns_t when)
{
	if (running && running->class == CLASS_APP)
		ctx->last_app_ns = running->now;
	if (when < ctx->last_app_ns + STALL_NS || !ctx->nr_live_apps)
		return false;
	for (uint32_t i = 0; i < ctx->nr_tasks; i++) {
		const struct task *t = ctx->tasks[i];

		if (t->class == CLASS_APP &&
		    (t->state == TASK_RUNNING || t->state == TASK_READY ||
		     (t->state == TASK_WAITING && t->wait_kind == WAIT_SLEEP)))
			return false;
	}
	return true;
}

/*
 * A thread runs on another node only as long as its own has no idle CPU. True: it has moved.
 * Differs: the kernel's load balancer goes by load, and knows no home but the one that NUMA
 * balancing finds.
 */
static bool go_home(struct rs_ctx *ctx, struct task *t)
{
	struct cpu *cpu = NULL;

	if (ctx->m.nr_nodes > 1 && t->class == CLASS_APP && t->nid != home_node(ctx, t))
		cpu = idle_cpu_on(ctx, home_node(ctx, t));
	if (!cpu)
		return false;
	release_cpu(ctx, t);
	t->ready_at = t->now;
	run_on(ctx, cpu, t, t->now);
	return true;
}

/* A stretch of one task; it overran if what others do at the horizon came after more of it. */
static void count_step(struct rs_ctx *ctx, const struct task *t, ns_t horizon)
{
	ctx->nr_steps++;
	if (horizon >= UINT64_MAX - ctx->cfg.quantum_ns || t->now <= horizon + ctx->cfg.quantum_ns)
		return;
	ctx->nr_overruns++;
	ctx->longest_overrun_ns = MAX(ctx->longest_overrun_ns, t->now - horizon);
}

void sched_run(struct rs_ctx *ctx)
{
	while (!ctx->error) {
		ns_t when = UINT64_MAX, other;
		bool event = event_peek(ctx, &when);
		struct task *t = lowest_clock(ctx, &other);

		if (!ctx->trace_over && (ctx->nr_starving || !ctx->nr_live_apps))
			return;
		if (ctx->trace_over && ctx->nr_starving == ctx->nr_live_apps)
			return;
		if (event && (!t || when <= t->now) && !stalled(ctx, t, when)) {
			event_run_next(ctx);
			continue;
		}
		if (!t || when <= t->now) {
			g_autofree char *dump = sched_dump(ctx);

			sched_fail(ctx, RS_ERROR_STALLED, "%s: %s",
				   event ? "stalled, for an hour only timers have run"
					 : "deadlock, every task waits",
				   dump);
			return;
		}
		if (go_home(ctx, t))
			continue;
		t->limit = run_limit(ctx, t, when, other);
		when = t->others = MIN(when, other);
		task_switch_in(t);
		count_step(ctx, t, when);
	}
}

static void retire(struct rs_ctx *ctx, struct task *t)
{
	t->end_at = t->now;
	release_cpu(ctx, t);
}

/*
 * Nobody runs until the thread has records again, so it keeps its CPU: where a batch of the trace
 * ends is not an event.
 */
void task_starve(struct rs_ctx *ctx)
{
	struct task *t = ctx->cur;

	ctx->nr_starving++;
	t->state = TASK_STARVING;
	t->waiting_for = "trace records";
	if (ctx->trace_over)
		retire(ctx, t);
	task_yield(t);
	t->waiting_for = NULL;
}

void task_feed(struct rs_ctx *ctx, struct task *t)
{
	if (t->state != TASK_STARVING)
		return;
	t->state = TASK_RUNNING;
	ctx->nr_starving--;
}

/* The trace is over: whoever has no records left is done and leaves its CPU to the others. */
void sched_no_more_input(struct rs_ctx *ctx)
{
	ctx->trace_over = true;
	for (uint32_t i = 0; i < ctx->nr_tasks; i++) {
		if (ctx->tasks[i]->state != TASK_STARVING)
			continue;
		if (ctx->tasks[i]->killed)
			task_feed(ctx, ctx->tasks[i]); /* it has still to die */
		else
			retire(ctx, ctx->tasks[i]);
	}
}

char *sched_dump(struct rs_ctx *ctx)
{
	GString *s = g_string_new(NULL);
	static const char *const class_name[] = { "kswapd", "flusher", "thread" };

	for (uint32_t i = 0; i < ctx->nr_tasks; i++) {
		const struct task *t = ctx->tasks[i];

		if (t->state == TASK_DEAD || t->state == TASK_UNBORN)
			continue;
		g_string_append_printf(s, "%s%s %u at %" G_GUINT64_FORMAT " ns waits for %s",
				       s->len ? "; " : "", class_name[t->class], t->tid, t->now,
				       t->waiting_for ? t->waiting_for : "a CPU");
	}
	return g_string_free(s, FALSE);
}

void sched_fail(struct rs_ctx *ctx, enum rs_error code, const char *fmt, ...)
{
	va_list ap;

	if (ctx->error)
		return;
	va_start(ap, fmt);
	ctx->error = g_error_new_valist(RS_ERROR, code, fmt, ap);
	va_end(ap);
	if (ctx->cur)
		ctx->cur->limit = 0;
}
