/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sim.c - build the machine from the scenario, feed it the trace, take it down.
 */
#include "sim/engine/observe.h"
#include "sim/engine/psi.h"
#include "sim/engine/timeline.h"

#include <string.h>

/* ---- building ---- */

static void fill_tunables(struct rs_ctx *ctx)
{
	ctx->tun = (struct rs_tunables){
		.kernel = ctx->cfg.kernel,
		.lru_gen_enabled = ctx->cfg.lru_gen_enabled,
		.lru_gen_min_ttl_ns = ctx->cfg.lru_gen_min_ttl_ms * 1000000ull,
		.batch_size = ctx->cfg.disabled == RS_MECH_BATCHES ? 1
			      : ctx->cfg.kernel >= RS_KERNEL_6_12  ? 31
								   : 15,
		.exec_prefault_young = !ctx->cfg.arch_arm64,
		.sort_dirty = ctx->cfg.sort_dirty,
		.memory_tiering = ctx->cfg.numa_balancing & 2,
		.nr_nodes = ctx->cfg.nr_nodes,
		.disabled = ctx->cfg.disabled,
	};
}

static void scale_costs(struct rs_ctx *ctx)
{
	for (unsigned i = 0; i < RS_NR_COSTS; i++)
		ctx->cfg.cost[i] = ctx->cfg.cost[i] * ctx->cfg.cost_scale_percent / 100;
	ctx->hit_ns = ctx->cfg.cost[RS_COST_HIT] + ctx->cfg.think_ns;
}

/* New groups get the policy's private area and its blessing. */
void lruvecs_online(struct rs_ctx *ctx, uint32_t first)
{
	for (uint32_t g = first; g < ctx->m.nr_memcgs; g++) {
		for (uint32_t n = 0; n < ctx->m.nr_nodes; n++) {
			struct lruvec *l = lruvec_of(&ctx->m, g, n);

			l->pub.priv = g_malloc0(MAX(ctx->ops->lruvec_size, 1));
			if (ctx->ops->lruvec_init)
				ctx->ops->lruvec_init(ctx, &l->pub);
		}
		if (ctx->ops->memcg_online)
			ctx->ops->memcg_online(ctx, g);
	}
}

/* Without a limit of its own the trace runs in the root group, as a process outside of cgroups. */
static bool has_own_group(const struct rs_config *c)
{
	for (uint32_t i = 0; i < c->nr_memcgs; i++) {
		const struct memcg_config *g = &c->memcgs[i];

		if (!g->path[0])
			return g->max != RS_UNLIMITED || g->high != RS_UNLIMITED || g->min ||
			       g->low || g->swap_max != RS_UNLIMITED || g->swappiness >= 0;
	}
	return false;
}

#define TRACE_GROUP "/trace"
static bool create_groups(struct rs_ctx *ctx, GError **error)
{
	if (memcg_create(&ctx->m, "/", error) == RS_MEMCG_NONE)
		return false;
	for (uint32_t i = 0; i < ctx->cfg.nr_memcgs; i++) {
		struct memcg_config *g = &ctx->cfg.memcgs[i];

		if (!g->path[0]) {
			g_free(g->path);
			g->path = g_strdup(TRACE_GROUP);
			continue;
		}
		if (memcg_create(&ctx->m, g->path, error) == RS_MEMCG_NONE)
			return false;
	}
	return true;
}

static void make_cpus(struct rs_ctx *ctx)
{
	uint32_t next = 0, given = 0;

	ctx->nr_cpus = MAX(ctx->cfg.cpus, 1);
	ctx->cpus = g_new0(struct cpu, ctx->nr_cpus);
	/* Nodes with a number of CPUs first, the others share what is left. */
	for (uint32_t n = 0; n < ctx->cfg.nr_nodes; n++) {
		int64_t want = ctx->cfg.node[n].cpus;

		for (int64_t i = 0; i < want && next < ctx->nr_cpus; i++)
			ctx->cpus[next++].nid = n;
	}
	while (next < ctx->nr_cpus) {
		uint32_t n = given++ % ctx->cfg.nr_nodes;

		if (ctx->cfg.node[n].cpus < 0)
			ctx->cpus[next++].nid = n;
		else if (given > 2 * ctx->cfg.nr_nodes && next == 0)
			break;
		else if (given > 64 * ctx->nr_cpus)
			break;
	}
	for (uint32_t i = 0; i < ctx->nr_cpus; i++)
		ctx->cpus[i].stock_memcg = 0;
}

static struct task *kernel_thread(struct rs_ctx *ctx, enum task_class class,
				  void (*main)(struct task *), uint8_t nid)
{
	struct task *t = task_new(ctx, class, main);

	t->nid = nid;
	t->tid = nid;
	t->state = TASK_UNBORN;
	return t;
}

/* kswapd and the flusher sleep until they are needed: they start when they are first run. */
static void make_kernel_threads(struct rs_ctx *ctx)
{
	for (uint32_t n = 0; n < ctx->m.nr_nodes; n++) {
		ctx->kswapd[n] = kernel_thread(ctx, CLASS_KSWAPD, kswapd_main, n);
		task_wake(ctx, ctx->kswapd[n], 0);
	}
	ctx->flusher = kernel_thread(ctx, CLASS_FLUSHER, flusher_main, 0);
	task_wake(ctx, ctx->flusher, 0);
}

/* The worker that flushes memcg statistics. Kernel: flush_memcg_stats_dwork(). */
static void stat_flush_event(struct rs_ctx *ctx, void *arg, uint64_t value)
{
	memcg_flush_stats(&ctx->m);
	ctx->last_flush = ctx->now;
	event_add(ctx, ctx->now + ctx->cfg.stat_flush_period_ns, stat_flush_event, NULL, 0);
}

/* Reading memory.stat flushes if enough is pending. Kernel: mem_cgroup_flush_stats(). */
void flush_stats_reader(struct rs_ctx *ctx)
{
	if (ctx->m.stat_threshold > ctx->nr_cpus)
		memcg_flush_stats(&ctx->m);
}

/* Kernel threads run now and then; when they are done the user's address space is switched to. */
static void tick_event(struct rs_ctx *ctx, void *arg, uint64_t value)
{
	for (uint32_t i = 0; i < ctx->nr_cpus; i++) {
		struct task *t = ctx->cpus[i].cur;

		if (t && t->mm && ctx->ops->mm_switch)
			ctx->ops->mm_switch(ctx, &t->mm->pub);
		if (t && t->mm && ctx->numa_stamp)
			task_tick_numa(ctx, t);
	}
	event_add(ctx, ctx->now + ctx->cfg.tick_ns, tick_event, NULL, 0);
}

static bool build(struct rs_ctx *ctx, const struct rs_scenario *scenario, GError **error)
{
	if (!machine_init(&ctx->m, &ctx->cfg, ctx->ops->nr_lists, error))
		return false;
	ctx->events = g_array_new(FALSE, FALSE, sizeof(struct event));
	ctx->policy_priv = g_malloc0(MAX(ctx->ops->policy_size, 1));
	ctx->folio_priv =
		ctx->ops->folio_size ? reserve_array(ctx->m.nr_frames, ctx->ops->folio_size) : NULL;
	ctx->lru_locks = g_new0(struct lru_lock, (size_t)MAX_MEMCGS * ctx->m.nr_nodes);
	rs_rng_init(&ctx->policy_rng, ctx->cfg.seed, "policy");
	make_cpus(ctx);
	numa_init(ctx);
	numa_balancing_init(ctx);
	devices_init(ctx);
	dirty_init(ctx);
	ctx->result = rs_result_new(scenario, ctx->policy_spec, ctx->ops);
	if (!create_groups(ctx, error))
		return false;
	if (has_own_group(rs_scenario_config(scenario))) {
		ctx->m.trace_memcg = memcg_create(&ctx->m, TRACE_GROUP, error);
		if (ctx->m.trace_memcg == RS_MEMCG_NONE)
			return false;
	}
	if (ctx->ops->init && !ctx->ops->init(ctx, error))
		return false;
	ctx->policy_ready = true;
	lruvecs_online(ctx, 0);
	make_kernel_threads(ctx);
	if (ctx->cfg.stat_flush_period_ns)
		event_add(ctx, ctx->cfg.stat_flush_phase_ns, stat_flush_event, NULL, 0);
	if (ctx->cfg.tick_ns)
		event_add(ctx, ctx->cfg.tick_ns, tick_event, NULL, 0);
	if (ctx->cfg.sample_ns)
		event_add(ctx, ctx->cfg.sample_ns, sample_event, NULL, 0);
	return true;
}

struct rs_sim *rs_sim_new(const struct rs_scenario *scenario, const char *policy, GError **error)
{
	struct rs_ctx *ctx = g_new0(struct rs_ctx, 1);

	g_queue_init(&ctx->ready);
	g_queue_init(&ctx->throttled);
	psi_init(ctx);
	rs_config_copy(&ctx->cfg, rs_scenario_config(scenario));
	ctx->policy_spec = g_strdup(policy);
	scale_costs(ctx);
	fill_tunables(ctx);
	if (!policy_load(ctx, policy, error) || !build(ctx, scenario, error)) {
		rs_sim_free((struct rs_sim *)ctx);
		return NULL;
	}
	return (struct rs_sim *)ctx;
}

/* ---- running ---- */

static bool pass_error(struct rs_ctx *ctx, GError **error)
{
	if (!ctx->error)
		return true;
	g_propagate_error(error, g_steal_pointer(&ctx->error));
	return false;
}

/* Thread 0 of process 0 is there from the start. */
static void start_first_thread(struct rs_ctx *ctx)
{
	const struct rs_record first = { .op = RS_OP_THREAD };
	const struct rs_batch b = { .records = &first, .nr_records = 1 };

	ctx->started = true;
	feed(ctx, &b);
}

bool rs_sim_feed(struct rs_sim *sim, const struct rs_trace *trace, const struct rs_batch *batch,
		 GError **error)
{
	struct rs_ctx *ctx = (struct rs_ctx *)sim;

	ctx->trace = trace;
	if (!ctx->started)
		start_first_thread(ctx);
	feed(ctx, batch);
	return pass_error(ctx, error);
}

bool rs_sim_finish(struct rs_sim *sim, const struct rs_trace *trace, struct rs_result **ret,
		   GError **error)
{
	struct rs_ctx *ctx = (struct rs_ctx *)sim;

	ctx->trace = trace;
	if (!ctx->started)
		start_first_thread(ctx);
	sched_no_more_input(ctx);
	sched_run(ctx);
	if (!pass_error(ctx, error))
		return false;
	flush_stats_reader(ctx);
	take_snapshot(ctx, "end");
	if (TIMELINE(ctx))
		timeline_finish(ctx);
	finish_result(ctx);
	*ret = g_steal_pointer(&ctx->result);
	return true;
}

bool rs_sim_run(struct rs_sim *sim, struct rs_trace *trace, struct rs_result **ret, GError **error)
{
	struct rs_batch batch;
	int got;

	while ((got = rs_trace_next(trace, &batch, error)) > 0)
		if (!rs_sim_feed(sim, trace, &batch, error))
			return false;
	return got == 0 && rs_sim_finish(sim, trace, ret, error);
}

/* ---- teardown ---- */

static void free_locks(struct rs_ctx *ctx)
{
	for (uint32_t i = 0; i < ctx->m.nr_mms; i++)
		if (ctx->m.mm[i])
			mmap_lock_free(ctx->m.mm[i]);
}

static void free_pending_io(struct rs_ctx *ctx)
{
	for (guint i = 0; ctx->events && i < ctx->events->len; i++)
		event_discard(&g_array_index(ctx->events, struct event, i));
}

void rs_sim_free(struct rs_sim *sim)
{
	struct rs_ctx *ctx = (struct rs_ctx *)sim;

	if (!ctx)
		return;
	if (ctx->policy_ready && ctx->ops->exit)
		ctx->ops->exit(ctx);
	free_pending_io(ctx);
	for (uint32_t i = 0; i < ctx->nr_tasks; i++)
		task_free(ctx->tasks[i]);
	free_locks(ctx);
	psi_free(ctx);
	timeline_free(ctx);
	release_array(ctx->numa_stamp, ctx->m.nr_frames, sizeof(*ctx->numa_stamp));
	release_array(ctx->folio_priv, ctx->m.nr_frames, ctx->ops ? ctx->ops->folio_size : 0);
	if (ctx->m.cfg)
		machine_clear(&ctx->m);
	policy_unload(ctx);
	if (ctx->events)
		g_array_unref(ctx->events);
	g_queue_clear(&ctx->ready);
	g_queue_clear(&ctx->throttled);
	g_clear_error(&ctx->error);
	rs_result_free(ctx->result);
	observe_free(ctx->observer);
	rs_config_clear(&ctx->cfg);
	devices_clear(ctx);
	g_free(ctx->lru_locks);
	g_free(ctx->cpus);
	g_free(ctx->tasks);
	for (uint32_t i = 0; i < ctx->nr_threads; i++)
		g_queue_clear(&ctx->thread[i].unborn);
	g_free(ctx->thread);
	g_free(ctx->process);
	g_free(ctx->process_threads);
	g_free(ctx->policy_spec);
	g_free(ctx->place);
	g_free(ctx);
}
