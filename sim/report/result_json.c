/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * result_json.c - the result as the JSON object of the contract: keys in a fixed order, integers
 * exact, sizes in bytes, counters under the kernel's names.
 */
#include "sim/report/result.h"

#include <jansson.h>
#include <string.h>

static void set_count(json_t *object, const char *key, uint64_t value)
{
	json_object_set_new(object, key, json_integer((json_int_t)value));
}

/* Names come from traces and may hold any bytes; JSON is UTF-8. */
static json_t *text_json(const char *value)
{
	char *valid = g_utf8_make_valid(value, -1);
	json_t *text = json_string(valid);

	g_free(valid);
	return text;
}

static void set_text(json_t *object, const char *key, const char *value)
{
	json_object_set_new(object, key, value ? text_json(value) : json_null());
}

/* A key that is a name. */
static void set_named(json_t *object, const char *name, json_t *value)
{
	char *valid = g_utf8_make_valid(name, -1);

	json_object_set_new(object, valid, value);
	g_free(valid);
}

static json_t *psi_line(ns_t total, const uint32_t avg[3])
{
	static const char *const keys[3] = { "avg10", "avg60", "avg300" };
	json_t *line = json_object();

	for (unsigned i = 0; i < 3; i++)
		json_object_set_new(line, keys[i], json_real(avg[i] / 100.0));
	set_count(line, "total", total / 1000);
	return line;
}

static json_t *psi_resource_json(const struct rs_psi_stat *psi)
{
	json_t *object = json_object();

	json_object_set_new(object, "some", psi_line(psi->some_total, psi->some_avg));
	json_object_set_new(object, "full", psi_line(psi->full_total, psi->full_avg));
	return object;
}

/* Pressure on memory, and beside it that on I/O and on the CPUs. */
static json_t *psi_json(const struct rs_psi_stat psi[RS_NR_PSI])
{
	json_t *object = psi_resource_json(&psi[RS_PSI_MEMORY]);

	json_object_set_new(object, "io", psi_resource_json(&psi[RS_PSI_IO]));
	json_object_set_new(object, "cpu", psi_resource_json(&psi[RS_PSI_CPU]));
	return object;
}

/* memory.stat: sizes, then events, with the sums the kernel prints. */
static json_t *memcg_json(const struct rs_result *result, const struct rs_group_stat *group)
{
	static const char *const sizes[] = {
#define RS_SIZE(id, name) name,
		RS_MEMCG_SIZES(RS_SIZE)
#undef RS_SIZE
	};
	const uint64_t *events = group->events;
	json_t *object = json_object();

	for (unsigned i = 0; i < RS_NR_MEMCG_SIZES; i++)
		set_count(object, sizes[i], group->sizes[i]);
	set_count(object, "pgscan",
		  events[RS_PGSCAN_KSWAPD] + events[RS_PGSCAN_DIRECT] +
			  events[RS_PGSCAN_PROACTIVE]);
	set_count(object, "pgsteal",
		  events[RS_PGSTEAL_KSWAPD] + events[RS_PGSTEAL_DIRECT] +
			  events[RS_PGSTEAL_PROACTIVE]);
	for (unsigned e = 0; e < RS_NR_EVENTS; e++) {
		if (result->memcg_has_event[e])
			set_count(object, rs_event_name(e), events[e]);
	}
	return object;
}

static json_t *memcg_events_json(const struct rs_group_stat *group)
{
	json_t *object = json_object();

	set_count(object, "low", group->low);
	set_count(object, "high", group->high);
	set_count(object, "max", group->max);
	set_count(object, "oom", group->oom);
	set_count(object, "oom_kill", group->oom_kill);
	set_count(object, "oom_group_kill", group->oom_group_kill);
	return object;
}

static json_t *memcgs_json(const struct rs_result *result, const struct rs_snapshot *snapshot)
{
	json_t *object = json_object();

	for (guint i = 0; i < snapshot->groups->len; i++) {
		const struct rs_group_stat *group = g_ptr_array_index(snapshot->groups, i);
		json_t *stat = memcg_json(result, group);

		set_count(stat, "memory.current", group->current);
		set_count(stat, "memory.swap.current", group->swap_current);
		json_object_set_new(stat, "memory.events", memcg_events_json(group));
		json_object_set_new(stat, "memory.pressure",
				    psi_resource_json(&group->psi[RS_PSI_MEMORY]));
		json_object_set_new(stat, "io.pressure", psi_resource_json(&group->psi[RS_PSI_IO]));
		json_object_set_new(stat, "cpu.pressure",
				    psi_resource_json(&group->psi[RS_PSI_CPU]));
		set_named(object, group->path, stat);
	}
	return object;
}

static json_t *vmstat_json(const struct rs_result *result, const struct rs_snapshot *snapshot)
{
	json_t *object = json_object();

	for (unsigned e = 0; e < RS_NR_EVENTS; e++) {
		if (result->has_event[e])
			set_count(object, rs_event_name(e), snapshot->vmstat[e]);
	}
	return object;
}

static json_t *gauges_json(const struct rs_snapshot *snapshot)
{
	static const char *const names[] = {
#define RS_GAUGE(id, name) name,
		RS_GAUGES(RS_GAUGE)
#undef RS_GAUGE
	};
	json_t *object = json_object();

	for (unsigned i = 0; i < RS_NR_GAUGES; i++)
		set_count(object, names[i], snapshot->gauges[i]);
	return object;
}

static json_t *lru_gen_json(const struct rs_snapshot *snapshot)
{
	json_t *rows = json_array();

	for (guint i = 0; i < snapshot->lru_gen->len; i++) {
		const struct rs_lru_gen_row *row =
			&g_array_index(snapshot->lru_gen, struct rs_lru_gen_row, i);

		json_array_append_new(rows, json_pack("[I, I, I, I]", (json_int_t)row->seq,
						      (json_int_t)row->age_ms,
						      (json_int_t)row->nr_pages[RS_ANON],
						      (json_int_t)row->nr_pages[RS_FILE]));
	}
	return rows;
}

static json_t *own_json(const struct rs_result *result, const struct rs_snapshot *snapshot)
{
	json_t *object = json_object();

	for (uint32_t i = 0; i < result->nr_own; i++)
		set_count(object, result->own_names[i], snapshot->own[i]);
	return object;
}

static json_t *snapshot_json(const struct rs_result *result, const struct rs_snapshot *snapshot)
{
	json_t *object = json_object();

	set_text(object, "name", snapshot->name);
	set_count(object, "op", snapshot->op);
	set_count(object, "time_ns", snapshot->time_ns);
	if (!result->bound)
		set_count(object, "accesses", snapshot->accesses);
	if (snapshot->groups->len) {
		const struct rs_group_stat *own = g_ptr_array_index(snapshot->groups, 0);

		json_object_set_new(object, "memcg", memcg_json(result, own));
		set_count(object, "memcg_current", own->current);
		set_count(object, "memcg_swap_current", own->swap_current);
		json_object_set_new(object, "memcg_events", memcg_events_json(own));
		if (!result->bound)
			json_object_set_new(object, "memcg_psi", psi_json(own->psi));
	}
	if (snapshot->groups->len > 1)
		json_object_set_new(object, "memcgs", memcgs_json(result, snapshot));
	json_object_set_new(object, "vmstat_delta", vmstat_json(result, snapshot));
	if (!result->bound) {
		json_object_set_new(object, "vmstat_now", gauges_json(snapshot));
		json_object_set_new(object, "psi", psi_json(snapshot->psi));
	}
	if (result->has_lru_gen)
		json_object_set_new(object, "lru_gen", lru_gen_json(snapshot));
	if (result->nr_own)
		json_object_set_new(object, "policy", own_json(result, snapshot));
	return object;
}

static json_t *snapshots_json(const struct rs_result *result, bool samples)
{
	json_t *array = json_array();

	for (guint i = 0; i < result->snapshots->len; i++) {
		const struct rs_snapshot *snapshot = g_ptr_array_index(result->snapshots, i);

		if (snapshot->is_sample == samples)
			json_array_append_new(array, snapshot_json(result, snapshot));
	}
	return array;
}

/* Sums of calls and time under each heading of cost.def, in the order of that file. */
static json_t *cost_json(const struct rs_result *result)
{
	static const char *const activities[RS_NR_COSTS] = {
#define RS_COST(id, name, def, cls, activity, doc) [RS_COST_##id] = activity,
#include <reclaimsim/cost.def>
#undef RS_COST
	};
	json_t *by_activity = json_object(), *object = json_object();

	for (unsigned c = 0; c < RS_NR_COSTS; c++) {
		json_t *sum = json_object_get(by_activity, activities[c]);
		json_int_t calls = (json_int_t)result->cost_calls[c];
		json_int_t ns = (json_int_t)result->cost_ns[c];

		if (sum) {
			calls += json_integer_value(json_object_get(sum, "calls"));
			ns += json_integer_value(json_object_get(sum, "ns"));
		}
		json_object_set_new(by_activity, activities[c],
				    json_pack("{s:I, s:I}", "calls", calls, "ns", ns));
	}
	set_count(object, "reclaim_cpu_ns", result->reclaim_cpu_ns);
	set_count(object, "kswapd_cpu_ns", result->kswapd_cpu_ns);
	json_object_set_new(object, "by_activity", by_activity);
	return object;
}

static json_t *time_json(const struct rs_result *result)
{
	json_t *object = json_object(), *threads = json_array();

	for (guint i = 0; i < result->threads->len; i++) {
		const struct rs_thread_stat *thread = g_ptr_array_index(result->threads, i);
		json_t *row = json_object();

		set_text(row, "name", thread->name);
		set_count(row, "mm", thread->mm);
		set_count(row, "accesses", thread->accesses);
		set_count(row, "faults", thread->faults);
		set_count(row, "major_faults", thread->major_faults);
		set_count(row, "start_ns", thread->start_ns);
		set_count(row, "end_ns", thread->end_ns);
		set_count(row, "cpu_ns", thread->cpu_ns);
		set_count(row, "reclaim_ns", thread->reclaim_ns);
		set_count(row, "io_wait_ns", thread->io_wait_ns);
		set_count(row, "lock_wait_ns", thread->lock_wait_ns);
		set_count(row, "throttle_ns", thread->throttle_ns);
		set_count(row, "run_wait_ns", thread->run_wait_ns);
		set_count(row, "sleep_ns", thread->sleep_ns);
		set_count(row, "idle_ns", thread->idle_ns);
		set_count(row, "spin_ns", thread->spin_ns);
		json_array_append_new(threads, row);
	}
	set_count(object, "elapsed_ns", result->elapsed_ns);
	set_count(object, "accesses", result->accesses);
	set_count(object, "cpu_busy_ns", result->cpu_busy_ns);
	set_count(object, "steps", result->steps);
	set_count(object, "step_overruns", result->overruns);
	set_count(object, "longest_overrun_ns", result->longest_overrun_ns);
	json_object_set_new(object, "per_thread", threads);
	return object;
}

static json_t *lock_ops_json(const struct rs_lock_stat *lock)
{
	json_t *object = json_object();

	for (uint32_t i = 0; i < lock->nr_ops; i++) {
		const struct rs_lock_op_stat *op = &lock->op[i];
		json_t *row = json_object();

		set_count(row, "acquired", op->acquired);
		set_count(row, "contended", op->contended);
		set_count(row, "wait_ns", op->wait_ns);
		set_count(row, "hold_ns", op->hold_ns);
		json_object_set_new(object, op->name, row);
	}
	return object;
}

static json_t *locks_json(const struct rs_result *result)
{
	json_t *object = json_object();

	for (guint i = 0; i < result->locks->len; i++) {
		const struct rs_lock_stat *lock = g_ptr_array_index(result->locks, i);
		json_t *row = json_object();

		set_count(row, "acquired", lock->acquired);
		set_count(row, "contended", lock->contended);
		set_count(row, "wait_ns", lock->wait_ns);
		set_count(row, "hold_ns", lock->hold_ns);
		if (lock->nr_ops)
			json_object_set_new(row, "by_operation", lock_ops_json(lock));
		json_object_set_new(object, lock->name, row);
	}
	return object;
}

/* One row for each bucket that has something in it: first and last value, count. */
static json_t *buckets_json(const struct rs_hist *hist)
{
	json_t *buckets = json_array();

	for (unsigned b = 0; b < RS_HIST_BUCKETS; b++) {
		if (hist->count[b])
			json_array_append_new(buckets,
					      json_pack("[I, I, I]", (json_int_t)rs_hist_first(b),
							(json_int_t)rs_hist_last(b),
							(json_int_t)hist->count[b]));
	}
	return buckets;
}

static json_t *latency_json(const struct rs_result *result)
{
	static const char *const names[] = {
#define RS_LATENCY(id, name) name,
		RS_LATENCIES(RS_LATENCY)
#undef RS_LATENCY
	};
	json_t *object = json_object();

	for (unsigned i = 0; i < RS_NR_LATENCIES; i++) {
		const struct rs_hist *hist = &result->latency[i];
		json_t *row;

		if (!hist->n)
			continue;
		row = json_object();
		set_count(row, "count", hist->n);
		set_count(row, "sum_ns", hist->sum);
		set_count(row, "min_ns", hist->min);
		set_count(row, "p50_ns", rs_hist_percentile(hist, 500));
		set_count(row, "p90_ns", rs_hist_percentile(hist, 900));
		set_count(row, "p99_ns", rs_hist_percentile(hist, 990));
		set_count(row, "p999_ns", rs_hist_percentile(hist, 999));
		set_count(row, "max_ns", hist->max);
		json_object_set_new(row, "buckets", buckets_json(hist));
		json_object_set_new(object, names[i], row);
	}
	return object;
}

/* The first columns of /sys/block/zram0/mm_stat, bytes. */
static json_t *mm_stat_json(const struct rs_device_stat *device)
{
	json_t *object = json_object();

	set_count(object, "orig_data_size", device->orig_data_size);
	set_count(object, "compr_data_size", device->compr_data_size);
	set_count(object, "mem_used_total", device->mem_used_total);
	set_count(object, "mem_used_max", device->mem_used_max);
	return object;
}

static json_t *devices_json(const struct rs_result *result)
{
	json_t *object = json_object();

	for (guint i = 0; i < result->devices->len; i++) {
		const struct rs_device_stat *device = g_ptr_array_index(result->devices, i);
		json_t *row = json_object();

		set_text(row, "kind", device->kind);
		set_count(row, "reads", device->reads);
		set_count(row, "writes", device->writes);
		set_count(row, "read_bytes", device->read_bytes);
		set_count(row, "written_bytes", device->written_bytes);
		set_count(row, "busy_ns", device->busy_ns);
		set_count(row, "wait_ns", device->wait_ns);
		set_count(row, "max_queue", device->max_queue);
		if (device->is_zram)
			json_object_set_new(row, "mm_stat", mm_stat_json(device));
		set_named(object, device->name, row);
	}
	return object;
}

static json_t *zones_json(const struct rs_node_stat *node)
{
	json_t *zones = json_array();

	for (uint32_t z = 0; z < node->nr_zones; z++) {
		const struct rs_zone_stat *zone = &node->zone[z];
		json_t *row = json_object();

		set_text(row, "name", zone->name);
		set_count(row, "managed", zone->managed);
		set_count(row, "free", zone->free);
		set_count(row, "min", zone->min);
		set_count(row, "low", zone->low);
		set_count(row, "high", zone->high);
		json_array_append_new(zones, row);
	}
	return zones;
}

static json_t *numastat_json(const struct rs_node_stat *node)
{
	static const char *const names[RS_NR_NUMASTATS] = {
#define RS_NUMASTAT(name) #name,
		RS_NUMASTATS(RS_NUMASTAT)
#undef RS_NUMASTAT
	};
	json_t *object = json_object();

	for (unsigned i = 0; i < RS_NR_NUMASTATS; i++)
		set_count(object, names[i], node->numastat[i]);
	return object;
}

static json_t *nodes_json(const struct rs_result *result)
{
	json_t *nodes = json_array();

	for (guint i = 0; i < result->nodes->len; i++) {
		const struct rs_node_stat *node = g_ptr_array_index(result->nodes, i);
		json_t *row = json_object();

		set_count(row, "nid", node->nid);
		json_object_set_new(row, "zones", zones_json(node));
		set_count(row, "kswapd_wakeups", node->kswapd_wakeups);
		set_count(row, "kswapd_cpu_ns", node->kswapd_cpu_ns);
		json_object_set_new(row, "numastat", numastat_json(node));
		json_array_append_new(nodes, row);
	}
	return nodes;
}

static json_t *trace_json(const struct rs_result *result)
{
	json_t *object = json_object(), *provenance = json_object();

	set_text(object, "sha256", result->trace_digest);
	set_count(object, "records", result->trace_records);
	for (guint i = 0; i + 1 < result->provenance->len; i += 2)
		set_text(provenance, g_ptr_array_index(result->provenance, i),
			 g_ptr_array_index(result->provenance, i + 1));
	json_object_set_new(object, "provenance", provenance);
	return object;
}

static json_t *warnings_json(const struct rs_result *result)
{
	json_t *warnings = json_array();

	for (guint i = 0; i < result->warnings->len; i++)
		json_array_append_new(warnings, text_json(g_ptr_array_index(result->warnings, i)));
	return warnings;
}

/* What only a simulated run has; the clairvoyant bound leaves it out. */
static void add_run_totals(json_t *object, const struct rs_result *result)
{
	const struct rs_snapshot *last = NULL;

	if (result->snapshots->len)
		last = g_ptr_array_index(result->snapshots, result->snapshots->len - 1);
	json_object_set_new(object, "cost", cost_json(result));
	json_object_set_new(object, "time", time_json(result));
	json_object_set_new(object, "locks", locks_json(result));
	if (last)
		json_object_set_new(object, "psi", psi_json(last->psi));
	json_object_set_new(object, "devices", devices_json(result));
	json_object_set_new(object, "nodes", nodes_json(result));
	json_object_set_new(object, "latency", latency_json(result));
}

char *rs_result_json(const struct rs_result *result)
{
	json_t *object = json_object(), *samples = snapshots_json(result, true);
	char *dump, *text;

	set_text(object, "schema", "reclaimsim.result/1");
	set_text(object, "version", RS_VERSION);
	json_object_set_new(object, "trace", trace_json(result));
	set_text(object, "policy", result->policy);
	set_text(object, "kernel", rs_kernel_name(result->kernel));
	json_object_set_new(object, "settings", json_loads(result->settings, 0, NULL));
	json_object_set_new(object, "snapshots", snapshots_json(result, false));
	if (json_array_size(samples))
		json_object_set(object, "samples", samples);
	json_decref(samples);
	if (!result->bound)
		add_run_totals(object, result);
	if (result->oom)
		set_text(object, "oom", result->oom);
	json_object_set_new(object, "warnings", warnings_json(result));
	dump = json_dumps(object, JSON_REAL_PRECISION(6));
	text = g_strconcat(dump, "\n", NULL);
	free(dump);
	json_decref(object);
	return text;
}
