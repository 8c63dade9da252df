/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * result.c - building a result: allocation, which counters exist, look-up by name.
 */
#include "sim/report/result.h"
#include "sim/base/config.h"

#include <stdarg.h>
#include <string.h>

static const struct {
	const char *name, *where;
} events[RS_NR_EVENTS] = {
#define RS_EVENT(id, name, where, doc) [RS_##id] = { name, #where },
#include <reclaimsim/vmstat.def>
#undef RS_EVENT
};

const char *rs_event_name(enum rs_event event)
{
	return events[event].name;
}

bool rs_event_in_vmstat(enum rs_event event)
{
	return strchr(events[event].where, 'V') != NULL;
}

bool rs_event_in_memcg(enum rs_event event)
{
	return strchr(events[event].where, 'M') != NULL;
}

/* Does the modelled machine have the counter in /proc/vmstat? */
static bool vmstat_has(enum rs_event event, const struct rs_config *config)
{
	switch (event) {
	case RS_PGSCAN_PROACTIVE:
	case RS_PGSTEAL_PROACTIVE:
		return config->kernel >= RS_KERNEL_7_2;
	case RS_PGDEMOTE_KSWAPD:
	case RS_PGDEMOTE_DIRECT:
	case RS_PGPROMOTE_SUCCESS:
	case RS_NUMA_HIT:
	case RS_NUMA_MISS:
	case RS_NUMA_FOREIGN:
	case RS_NUMA_INTERLEAVE_HIT:
	case RS_NUMA_LOCAL:
	case RS_NUMA_OTHER:
	case RS_PGPROMOTE_CANDIDATE:
	case RS_NUMA_PTE_UPDATES:
	case RS_NUMA_HINT_FAULTS:
	case RS_NUMA_HINT_FAULTS_LOCAL:
	case RS_NUMA_PAGES_MIGRATED:
	case RS_PGMIGRATE_SUCCESS:
	case RS_PGMIGRATE_FAIL:
		return config->nr_nodes > 1;
	case RS_VMA_LOCK_SUCCESS:
	case RS_VMA_LOCK_ABORT:
	case RS_VMA_LOCK_RETRY:
	case RS_VMA_LOCK_MISS:
		return config->per_vma_lock != PVL_OFF;
	case RS_PSWPIN:
	case RS_PSWPOUT:
	case RS_SWAP_RA:
	case RS_SWAP_RA_HIT:
		return config->swap != DEV_NONE;
	default:
		return true;
	}
}

/* Does the kernel print the counter in memory.stat? */
static bool memcg_has(enum rs_event event, const struct rs_config *config)
{
	switch (event) {
	case RS_PSWPIN:
	case RS_PSWPOUT:
		return config->kernel >= RS_KERNEL_6_14 && config->swap != DEV_NONE;
	case RS_PGDEMOTE_KSWAPD:
	case RS_PGDEMOTE_DIRECT:
	case RS_PGPROMOTE_SUCCESS:
		return config->kernel >= RS_KERNEL_6_12 && config->nr_nodes > 1;
	case RS_OOM_KILL: /* stands in memory.events */
		return false;
	default:
		return vmstat_has(event, config);
	}
}

static void group_free(void *data)
{
	struct rs_group_stat *group = data;

	g_free(group->path);
	g_free(group);
}

static void snapshot_free(void *data)
{
	struct rs_snapshot *snapshot = data;

	g_free(snapshot->name);
	g_ptr_array_unref(snapshot->groups);
	g_array_unref(snapshot->lru_gen);
	g_free(snapshot->own);
	g_free(snapshot);
}

static void thread_free(void *data)
{
	struct rs_thread_stat *thread = data;

	g_free(thread->name);
	g_free(thread);
}

static void device_free(void *data)
{
	struct rs_device_stat *device = data;

	g_free(device->name);
	g_free(device);
}

static void copy_own_counters(struct rs_result *result, const struct rs_counter *own)
{
	GPtrArray *names = g_ptr_array_new();

	for (; own && own->name; own++)
		g_ptr_array_add(names, g_str_has_prefix(own->name, "sim_")
					       ? g_strdup(own->name)
					       : g_strconcat("sim_", own->name, NULL));
	result->nr_own = names->len;
	g_ptr_array_add(names, NULL);
	result->own_names = (char **)g_ptr_array_free(names, FALSE);
}

struct rs_result *rs_result_new(const struct rs_scenario *scenario, const char *policy,
				const struct rs_policy_ops *ops)
{
	const struct rs_config *config = rs_scenario_config(scenario);
	struct rs_result *result = g_new0(struct rs_result, 1);

	result->policy = g_strdup(policy);
	result->policy_name = g_strdup(ops ? ops->name : policy);
	result->kernel = config->kernel;
	result->settings = rs_scenario_settings_json(scenario);
	for (unsigned e = 0; e < RS_NR_EVENTS; e++) {
		result->has_event[e] = rs_event_in_vmstat(e) && vmstat_has(e, config);
		result->memcg_has_event[e] = rs_event_in_memcg(e) && memcg_has(e, config);
	}
	result->has_lru_gen = ops && ops->lru_gen;
	copy_own_counters(result, ops ? ops->counters : NULL);
	result->snapshots = g_ptr_array_new_with_free_func(snapshot_free);
	result->threads = g_ptr_array_new_with_free_func(thread_free);
	result->locks = g_ptr_array_new_with_free_func(g_free);
	result->devices = g_ptr_array_new_with_free_func(device_free);
	result->nodes = g_ptr_array_new_with_free_func(g_free);
	result->warnings = g_ptr_array_new_with_free_func(g_free);
	result->provenance = g_ptr_array_new_with_free_func(g_free);
	return result;
}

void rs_result_free(struct rs_result *result)
{
	if (!result)
		return;
	g_ptr_array_unref(result->snapshots);
	g_ptr_array_unref(result->threads);
	g_ptr_array_unref(result->locks);
	g_ptr_array_unref(result->devices);
	g_ptr_array_unref(result->nodes);
	g_ptr_array_unref(result->warnings);
	g_ptr_array_unref(result->provenance);
	g_strfreev(result->own_names);
	g_free(result->trace_digest);
	g_free(result->settings);
	g_free(result->policy_name);
	g_free(result->policy);
	g_free(result->oom);
	g_free(result);
}

struct rs_snapshot *rs_result_add_snapshot(struct rs_result *result, const char *name, uint64_t op,
					   ns_t now)
{
	struct rs_snapshot *snapshot = g_new0(struct rs_snapshot, 1);

	snapshot->name = g_strdup(name);
	snapshot->op = op;
	snapshot->time_ns = now;
	snapshot->groups = g_ptr_array_new_with_free_func(group_free);
	snapshot->lru_gen = g_array_new(FALSE, TRUE, sizeof(struct rs_lru_gen_row));
	snapshot->own = g_new0(uint64_t, MAX(result->nr_own, 1));
	g_ptr_array_add(result->snapshots, snapshot);
	return snapshot;
}

struct rs_snapshot *rs_result_add_sample(struct rs_result *result, uint64_t op, ns_t now)
{
	struct rs_snapshot *snapshot = rs_result_add_snapshot(result, "sample", op, now);

	snapshot->is_sample = true;
	return snapshot;
}

struct rs_group_stat *rs_snapshot_add_group(struct rs_snapshot *snapshot, const char *path)
{
	struct rs_group_stat *group = g_new0(struct rs_group_stat, 1);

	group->path = g_strdup(path);
	g_ptr_array_add(snapshot->groups, group);
	return group;
}

void rs_snapshot_add_gen(struct rs_snapshot *snapshot, const struct rs_lru_gen_row *row)
{
	g_array_append_val(snapshot->lru_gen, *row);
}

struct rs_thread_stat *rs_result_add_thread(struct rs_result *result, const char *name)
{
	struct rs_thread_stat *thread = g_new0(struct rs_thread_stat, 1);

	thread->name = g_strdup(name);
	g_ptr_array_add(result->threads, thread);
	return thread;
}

struct rs_lock_stat *rs_result_lock(struct rs_result *result, const char *name)
{
	struct rs_lock_stat *lock;

	for (guint i = 0; i < result->locks->len; i++) {
		lock = g_ptr_array_index(result->locks, i);
		if (!strcmp(lock->name, name))
			return lock;
	}
	lock = g_new0(struct rs_lock_stat, 1);
	lock->name = name;
	g_ptr_array_add(result->locks, lock);
	return lock;
}

struct rs_lock_op_stat *rs_lock_stat_add_op(struct rs_lock_stat *lock, const char *name)
{
	struct rs_lock_op_stat *op = &lock->op[lock->nr_ops];

	g_assert(lock->nr_ops < G_N_ELEMENTS(lock->op));
	lock->nr_ops++;
	op->name = name;
	return op;
}

struct rs_device_stat *rs_result_add_device(struct rs_result *result, const char *name,
					    const char *kind)
{
	struct rs_device_stat *device = g_new0(struct rs_device_stat, 1);

	device->name = g_strdup(name);
	device->kind = kind;
	g_ptr_array_add(result->devices, device);
	return device;
}

struct rs_node_stat *rs_result_add_node(struct rs_result *result, uint32_t nid)
{
	struct rs_node_stat *node = g_new0(struct rs_node_stat, 1);

	node->nid = nid;
	g_ptr_array_add(result->nodes, node);
	return node;
}

void rs_result_warn(struct rs_result *result, const char *format, ...)
{
	va_list args;
	char *text;

	va_start(args, format);
	text = g_strdup_vprintf(format, args);
	va_end(args);
	for (guint i = 0; i < result->warnings->len; i++) {
		if (!strcmp(g_ptr_array_index(result->warnings, i), text)) {
			g_free(text);
			return;
		}
	}
	g_ptr_array_add(result->warnings, text);
}

static const struct rs_snapshot *last_snapshot(const struct rs_result *result)
{
	for (guint i = result->snapshots->len; i > 0; i--) {
		const struct rs_snapshot *snapshot = g_ptr_array_index(result->snapshots, i - 1);

		if (!snapshot->is_sample)
			return snapshot;
	}
	return NULL;
}

/* The group of that path; NULL path: the trace's own. */
static const struct rs_group_stat *find_group(const struct rs_snapshot *snapshot, const char *path)
{
	for (guint i = 0; i < snapshot->groups->len; i++) {
		const struct rs_group_stat *group = g_ptr_array_index(snapshot->groups, i);

		if (!path || !strcmp(group->path, path))
			return group;
	}
	return NULL;
}

static bool find_event(const char *name, const bool *has, unsigned *ret)
{
	for (unsigned e = 0; e < RS_NR_EVENTS; e++) {
		if (has[e] && !strcmp(events[e].name, name)) {
			*ret = e;
			return true;
		}
	}
	return false;
}

static bool group_counter(const struct rs_result *result, const struct rs_group_stat *group,
			  const char *name, int64_t *ret)
{
	static const char *const sizes[] = {
#define RS_SIZE(id, name) name,
		RS_MEMCG_SIZES(RS_SIZE)
#undef RS_SIZE
	};
	unsigned event;

	for (unsigned i = 0; i < RS_NR_MEMCG_SIZES; i++) {
		if (!strcmp(sizes[i], name)) {
			*ret = (int64_t)group->sizes[i];
			return true;
		}
	}
	if (!find_event(name, result->memcg_has_event, &event))
		return false;
	*ret = (int64_t)group->events[event];
	return true;
}

bool rs_result_counter(const struct rs_result *result, const char *scope, const char *name,
		       int64_t *ret)
{
	const struct rs_snapshot *snapshot = last_snapshot(result);
	const struct rs_group_stat *group;
	unsigned event;

	if (!snapshot)
		return false;
	if (!strcmp(scope, "vmstat")) {
		if (!find_event(name, result->has_event, &event))
			return false;
		*ret = (int64_t)snapshot->vmstat[event];
		return true;
	}
	if (strcmp(scope, "memcg") != 0 && !g_str_has_prefix(scope, "memcg:"))
		return false;
	group = find_group(snapshot, scope[5] == ':' ? scope + 6 : NULL);
	return group && group_counter(result, group, name, ret);
}
