/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * snapshot.c - the counters at a mark and the totals at the end, into the result.
 */
#include "sim/engine/psi.h"

static void fill_sizes(struct rs_ctx *ctx, uint16_t memcg, uint64_t *bytes)
{
	static const unsigned lru_size[NR_LISTS_LRU] = {
		RS_MEMCG_INACTIVE_ANON, RS_MEMCG_ACTIVE_ANON, RS_MEMCG_INACTIVE_FILE,
		RS_MEMCG_ACTIVE_FILE, RS_MEMCG_UNEVICTABLE
	};
	static const unsigned gauge_size[NR_GAUGES] = {
		RS_MEMCG_ANON,	     RS_MEMCG_FILE,	      RS_MEMCG_FILE_MAPPED,
		RS_MEMCG_FILE_DIRTY, RS_MEMCG_FILE_WRITEBACK, RS_MEMCG_SWAPCACHED
	};

	for (unsigned i = 0; i < NR_GAUGES; i++)
		bytes[gauge_size[i]] =
			(uint64_t)MAX(ctx->m.memcg[memcg].gauge[i], 0) * RS_PAGE_SIZE;
	for (unsigned i = 0; i < NR_LISTS_LRU; i++)
		for (uint32_t n = 0; n < ctx->m.nr_nodes; n++)
			bytes[lru_size[i]] +=
				(uint64_t)MAX(lruvec_of(&ctx->m, memcg, n)->lru[i], 0) *
				RS_PAGE_SIZE;
}

static void fill_group(struct rs_ctx *ctx, struct rs_snapshot *s, uint16_t memcg)
{
	const struct memcg *g = &ctx->m.memcg[memcg];
	struct rs_group_stat *out = rs_snapshot_add_group(s, g->path);

	for (unsigned e = 0; e < RS_NR_EVENTS; e++)
		out->events[e] = g->event[e];
	fill_sizes(ctx, memcg, out->sizes);
	out->current = g->usage * RS_PAGE_SIZE;
	out->swap_current = g->swap_usage * RS_PAGE_SIZE;
	out->high = g->nr_high_events;
	out->max = g->nr_max_events;
	out->oom = g->nr_oom_events;
	out->oom_kill = g->nr_oom_kills;
	psi_read(ctx, memcg, s->is_sample ? PSI_SAMPLES : PSI_MARKS, s->time_ns, out->psi);
}

static void fill_gauges(struct rs_ctx *ctx, uint64_t *gauge)
{
	static const unsigned by_lru[NR_LISTS_LRU] = { RS_GAUGE_INACTIVE_ANON, RS_GAUGE_ACTIVE_ANON,
						       RS_GAUGE_INACTIVE_FILE, RS_GAUGE_ACTIVE_FILE,
						       RS_GAUGE_UNEVICTABLE };

	for (uint32_t n = 0; n < ctx->m.nr_nodes; n++) {
		for (unsigned z = 0; z < RS_NR_ZONES; z++) {
			gauge[RS_GAUGE_FREE_PAGES] += ctx->m.node[n].zone[z].free;
			for (unsigned i = 0; i < NR_LISTS_LRU; i++)
				gauge[by_lru[i]] += MAX(ctx->m.node[n].zone[z].nr_lru[i], 0);
		}
	}
	gauge[RS_GAUGE_MLOCK] = gauge[RS_GAUGE_UNEVICTABLE];
	gauge[RS_GAUGE_ANON_PAGES] = ctx->m.nr_anon_mapped;
	gauge[RS_GAUGE_MAPPED] = ctx->m.nr_file_mapped;
	gauge[RS_GAUGE_FILE_PAGES] = ctx->m.nr_file_pages + ctx->m.nr_swapcached;
	gauge[RS_GAUGE_DIRTY] = ctx->m.nr_dirty;
	gauge[RS_GAUGE_WRITEBACK] = ctx->m.nr_writeback;
	gauge[RS_GAUGE_SWAPCACHED] = ctx->m.nr_swapcached;
}

static void fill_lru_gen(struct rs_ctx *ctx, struct rs_snapshot *s)
{
	struct rs_lru_gen_row row[16];
	unsigned n;

	if (!ctx->ops->lru_gen)
		return;
	n = ctx->ops->lru_gen(ctx, &lruvec_of(&ctx->m, ctx->m.trace_memcg, 0)->pub,
			      G_N_ELEMENTS(row), row);
	for (unsigned i = 0; i < n; i++)
		rs_snapshot_add_gen(s, &row[i]);
}

static void fill_snapshot(struct rs_ctx *ctx, struct rs_snapshot *s)
{
	s->accesses = ctx->nr_accesses;
	for (unsigned e = 0; e < RS_NR_EVENTS; e++)
		s->vmstat[e] = ctx->m.vmstat[e];
	fill_gauges(ctx, s->gauges);
	psi_read(ctx, 0, s->is_sample ? PSI_SAMPLES : PSI_MARKS, s->time_ns, s->psi);
	fill_group(ctx, s, ctx->m.trace_memcg);
	for (uint32_t i = 0; i < ctx->m.nr_memcgs; i++)
		if (i != ctx->m.trace_memcg && i && ctx->m.memcg[i].online)
			fill_group(ctx, s, i);
	fill_lru_gen(ctx, s);
	for (uint32_t i = 0; i < ctx->result->nr_own; i++)
		s->own[i] = ctx->own_counter[i];
}

void take_snapshot(struct rs_ctx *ctx, const char *name)
{
	fill_snapshot(ctx, rs_result_add_snapshot(ctx->result, name, ctx->nr_ops, rs_now(ctx)));
}

void take_mark(struct rs_ctx *ctx, const struct rs_record *r)
{
	flush_stats_reader(ctx);
	take_snapshot(ctx, rs_trace_name(ctx->trace, RS_NAME_MARK, r->object));
}

/* Looks only: a sampled run counts the same as one that is not. */
void sample_event(struct rs_ctx *ctx, void *arg, uint64_t nr)
{
	if (nr == MAX_SAMPLES) {
		rs_result_warn(ctx->result,
			       "only the first %u samples were taken: set sample_ns higher",
			       MAX_SAMPLES);
		return;
	}
	fill_snapshot(ctx, rs_result_add_sample(ctx->result, ctx->nr_ops, ctx->now));
	event_add(ctx, ctx->now + ctx->cfg.sample_ns, sample_event, NULL, nr + 1);
}

/* ---- totals ---- */

static void fill_thread(struct rs_ctx *ctx, const struct task *t)
{
	g_autofree char *number = g_strdup_printf("%u", t->tid);
	const char *name = ctx->trace ? rs_trace_name(ctx->trace, RS_NAME_THREAD, t->tid) : NULL;
	struct rs_thread_stat *out = rs_result_add_thread(ctx->result, name ? name : number);

	out->mm = t->process;
	out->accesses = t->accesses;
	out->faults = t->minflt;
	out->major_faults = t->majflt;
	out->start_ns = t->born_at;
	out->end_ns = t->now;
	out->spin_ns = t->spin_ns;
	out->cpu_ns = t->run_ns;
	out->reclaim_ns = t->reclaim_ns;
	out->io_wait_ns = t->wait_ns[WAIT_IO];
	out->lock_wait_ns = t->wait_ns[WAIT_MMAP_LOCK] + t->wait_ns[WAIT_VMA_LOCK];
	out->throttle_ns = t->wait_ns[WAIT_THROTTLE] + t->wait_ns[WAIT_DIRTY];
	out->run_wait_ns = t->wait_ns[WAIT_CPU];
	out->sleep_ns = t->wait_ns[WAIT_SLEEP] + t->wait_ns[WAIT_THREAD];
	out->idle_ns = t->born_at + t->idle_ns + (ctx->result->elapsed_ns - t->now);
}

static void fill_lock(struct rs_ctx *ctx, const char *name, const struct lock_stat *l)
{
	struct rs_lock_stat *out = rs_result_lock(ctx->result, name);

	out->acquired = l->acquired;
	out->contended = l->contended;
	out->wait_ns = l->wait_ns;
	out->hold_ns = l->hold_ns;
}

/* The sum, and each kind of operation that took the lock. */
static void fill_lock_by_op(struct rs_ctx *ctx, const char *name, const struct lock_stat *l)
{
	struct lock_stat sum = { 0 };

	for (unsigned op = 0; op < NR_LOCK_OPS; op++) {
		sum.acquired += l[op].acquired;
		sum.contended += l[op].contended;
		sum.wait_ns += l[op].wait_ns;
		sum.hold_ns += l[op].hold_ns;
	}
	fill_lock(ctx, name, &sum);
	for (unsigned op = 0; op < NR_LOCK_OPS; op++) {
		struct rs_lock_op_stat *out;

		if (!l[op].acquired && !l[op].contended)
			continue;
		out = rs_lock_stat_add_op(rs_result_lock(ctx->result, name), lock_op_name(op));
		out->acquired = l[op].acquired;
		out->contended = l[op].contended;
		out->wait_ns = l[op].wait_ns;
		out->hold_ns = l[op].hold_ns;
	}
}

static void fill_device(struct rs_ctx *ctx, const struct device *d)
{
	static const char *const kind[DEV_NR_KINDS] = { "none", "null", "virtio", "zram",
							"ssd",	"nvme", "hdd" };
	struct rs_device_stat *out = rs_result_add_device(ctx->result, d->name, kind[d->kind]);

	out->reads = d->nr_reads;
	out->writes = d->nr_writes;
	out->read_bytes = d->bytes_read;
	out->written_bytes = d->bytes_written;
	out->busy_ns = d->busy_ns;
	out->wait_ns = d->wait_ns;
	out->max_queue = d->max_waiting;
	if (d->kind != DEV_ZRAM)
		return;
	out->is_zram = true;
	out->orig_data_size = ctx->m.zram.nr_objects * RS_PAGE_SIZE;
	out->compr_data_size = ctx->m.zram.nr_objects * ctx->m.zram.page_bytes;
	out->mem_used_total = (uint64_t)ctx->m.zram.frames->len * RS_PAGE_SIZE;
	out->mem_used_max = ctx->m.zram.max_frames * RS_PAGE_SIZE;
}

static void fill_node(struct rs_ctx *ctx, uint32_t nid)
{
	static const char *const names[RS_NR_ZONES] = { "DMA", "DMA32", "Normal" };
	struct rs_node_stat *out = rs_result_add_node(ctx->result, nid);

	for (unsigned z = 0; z < RS_NR_ZONES; z++) {
		const struct zone *zone = &ctx->m.node[nid].zone[z];

		if (!zone->managed)
			continue;
		out->zone[out->nr_zones++] = (struct rs_zone_stat){ names[z],
								    zone->managed,
								    zone->free,
								    zone->wmark[RS_WMARK_MIN],
								    zone->wmark[RS_WMARK_LOW],
								    zone->wmark[RS_WMARK_HIGH] };
	}
	for (unsigned i = 0; i < NR_NUMASTATS; i++)
		out->numastat[i] = ctx->m.node[nid].numastat[i];
	out->kswapd_wakeups = ctx->pgdat[nid].wakeups;
	out->kswapd_cpu_ns = ctx->kswapd[nid]->run_ns;
}

void finish_result(struct rs_ctx *ctx)
{
	struct rs_result *r = ctx->result;

	for (unsigned c = 0; c < RS_NR_COSTS; c++) {
		r->cost_calls[c] = ctx->activity_calls[c];
		r->cost_ns[c] = ctx->activity_ns[c];
	}
	r->reclaim_cpu_ns = ctx->reclaim_ns;
	r->accesses = ctx->nr_accesses;
	r->steps = ctx->nr_steps;
	r->overruns = ctx->nr_overruns;
	r->longest_overrun_ns = ctx->longest_overrun_ns;
	for (uint32_t i = 0; i < ctx->nr_tasks; i++) {
		const struct task *t = ctx->tasks[i];

		if (t->class != CLASS_APP || t->state == TASK_UNBORN)
			continue;
		r->elapsed_ns = MAX(r->elapsed_ns, t->now);
	}
	for (uint32_t i = 0; i < ctx->nr_tasks; i++)
		if (ctx->tasks[i]->class == CLASS_APP && ctx->tasks[i]->state != TASK_UNBORN)
			fill_thread(ctx, ctx->tasks[i]);
	for (uint32_t i = 0; i < ctx->nr_cpus; i++) {
		const struct cpu *cpu = &ctx->cpus[i];

		r->cpu_busy_ns +=
			cpu->busy_ns + (cpu->cur ? cpu->cur->now - cpu->cur->started_at : 0);
	}
	fill_lock_by_op(ctx, "mmap_lock", ctx->lock_mmap);
	fill_lock_by_op(ctx, "vma_lock", ctx->lock_vma);
	fill_lock(ctx, "lru_lock", &ctx->lock_lru);
	fill_device(ctx, &ctx->swap_dev);
	fill_device(ctx, &ctx->disk_dev);
	for (uint32_t n = 0; n < ctx->m.nr_nodes; n++) {
		fill_node(ctx, n);
		r->kswapd_cpu_ns += ctx->kswapd[n]->reclaim_ns;
	}
	if (ctx->trace)
		rs_result_set_trace(r, ctx->trace, ctx->nr_ops);
}

void note_oom(struct rs_ctx *ctx, const struct mm *victim, uint16_t memcg)
{
	/* kswapd kills for one reason only. */
	const char *why = ctx->cur->class == CLASS_KSWAPD
				  ? ", for kswapd met nothing older than lru_gen.min_ttl_ms"
				  : "";

	if (ctx->result->oom)
		return;
	ctx->result->oom =
		g_strdup_printf("process %u of group %s killed at %" PRIu64 " ns: %" PRIu64
				" anonymous and %" PRIu64 " file pages%s",
				victim->pub.id, ctx->m.memcg[memcg].path, rs_now(ctx),
				victim->pub.rss[RS_ANON], victim->pub.rss[RS_FILE], why);
}
