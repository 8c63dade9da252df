/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * metric.c - numbers of a result by name, and which of them a table shows.
 */
#include "tools/metric.h"
#include "sim/base/units.h"

#include <string.h>

json_t *metric_snapshot(json_t *result, const char *name)
{
	json_t *snapshots = json_object_get(result, "snapshots");
	size_t n = json_array_size(snapshots);

	if (!name)
		return n ? json_array_get(snapshots, n - 1) : NULL;
	for (size_t i = n; i > 0; i--) {
		json_t *snapshot = json_array_get(snapshots, i - 1);
		const char *own = json_string_value(json_object_get(snapshot, "name"));

		if (own && !strcmp(own, name))
			return snapshot;
	}
	return NULL;
}

static bool from_json(const json_t *value, struct metric *ret)
{
	if (!json_is_number(value))
		return false;
	ret->integer = json_is_integer(value);
	ret->count = ret->integer ? json_integer_value(value) : 0;
	ret->value = json_number_value(value);
	return true;
}

static void set_count(struct metric *ret, int64_t count)
{
	ret->integer = true;
	ret->count = count;
	ret->value = (double)count;
}

/*
 * "locks.mmap_lock.wait_ns" from object. Keys may hold dots themselves ("memory.max"), so the
 * longest key that fits is taken at each step.
 */
static json_t *by_path(json_t *object, const char *path)
{
	json_t *value = json_object_get(object, path);

	for (const char *dot = strrchr(path, '.'); !value && dot;) {
		char *head = g_strndup(path, (gsize)(dot - path));
		json_t *inner = json_object_get(object, head);

		if (json_is_object(inner))
			value = by_path(inner, dot + 1);
		dot = strrchr(head, '.') ? path + (strrchr(head, '.') - head) : NULL;
		g_free(head);
	}
	return value;
}

static bool sum(json_t *result, const char *snapshot, const char *a, const char *b,
		struct metric *ret)
{
	struct metric x, y;

	if (!metric_value(result, snapshot, a, &x) || !metric_value(result, snapshot, b, &y))
		return false;
	set_count(ret, x.count + y.count);
	return true;
}

static bool steal_per_scan(json_t *result, const char *snapshot, struct metric *ret)
{
	struct metric scan, steal;

	if (!metric_value(result, snapshot, "pgscan", &scan) || !scan.count ||
	    !metric_value(result, snapshot, "pgsteal", &steal))
		return false;
	ret->integer = false;
	ret->count = 0;
	ret->value = 100.0 * steal.value / scan.value;
	return true;
}

static bool derived(json_t *result, const char *snapshot, const char *name, struct metric *ret)
{
	if (!strcmp(name, "pgscan"))
		return sum(result, snapshot, "pgscan_anon", "pgscan_file", ret);
	if (!strcmp(name, "pgsteal"))
		return sum(result, snapshot, "pgsteal_anon", "pgsteal_file", ret);
	if (!strcmp(name, "workingset_refault"))
		return sum(result, snapshot, "workingset_refault_anon", "workingset_refault_file",
			   ret);
	if (!strcmp(name, "steal/scan"))
		return steal_per_scan(result, snapshot, ret);
	if (!strcmp(name, "elapsed_ns"))
		return from_json(by_path(result, "time.elapsed_ns"), ret);
	if (!strcmp(name, "reclaim_cpu_ns"))
		return from_json(by_path(result, "cost.reclaim_cpu_ns"), ret);
	return false;
}

/* "cost.rmap_walk", "cost.rmap_walk.calls" */
static bool cost(json_t *result, const char *name, struct metric *ret)
{
	json_t *activities = by_path(result, "cost.by_activity");
	const char *field = "ns", *dot;
	char *activity;
	bool ok;

	if (!g_str_has_prefix(name, "cost."))
		return false;
	name += strlen("cost.");
	dot = strchr(name, '.');
	if (dot)
		field = dot + 1;
	activity = dot ? g_strndup(name, (gsize)(dot - name)) : g_strdup(name);
	ok = from_json(json_object_get(json_object_get(activities, activity), field), ret);
	g_free(activity);
	return ok;
}

/*
 * The clairvoyant bound counts every page that must be read, the kernel's pgmajfault only those met
 * in a page fault. Where the trace reads through descriptors the two are not the same thing.
 */
static bool comparable(json_t *shot, const char *name)
{
	json_t *calls = json_object_get(json_object_get(shot, "policy"), "sim_opt_file_call");

	return strcmp(name, "pgmajfault") != 0 || json_integer_value(calls) == 0;
}

bool metric_value(json_t *result, const char *snapshot, const char *name, struct metric *ret)
{
	static const char *const sections[] = { "vmstat_delta", "policy", "memcg", "vmstat_now" };
	json_t *shot = metric_snapshot(result, snapshot);

	if (!shot || !comparable(shot, name))
		return false;
	if (derived(result, snapshot, name, ret) || cost(result, name, ret))
		return true;
	for (unsigned i = 0; i < G_N_ELEMENTS(sections); i++) {
		if (from_json(json_object_get(json_object_get(shot, sections[i]), name), ret))
			return true;
	}
	return strchr(name, '.') &&
	       (from_json(by_path(shot, name), ret) || from_json(by_path(result, name), ret));
}

/* ---- choice of rows ---- */

/* One set of rows; members end in NULL and may be patterns. */
static const struct group {
	const char *name, *doc;
	const char *members[20];
} groups[] = {
	{ "main",
	  "main       what a cover letter shows (the default)",
	  { "pgmajfault",
	    "pgpgin",
	    "workingset_refault_anon",
	    "workingset_refault_file",
	    "workingset_activate_anon",
	    "workingset_activate_file",
	    "workingset_restore_anon",
	    "workingset_restore_file",
	    "pswpin",
	    "pswpout",
	    "pgscan",
	    "pgsteal",
	    "steal/scan",
	    "pgscan_kswapd",
	    "pgscan_direct",
	    "pgactivate",
	    "pgdeactivate",
	    "pgrefill",
	    "pgrotated",
	    "oom_kill" } },
	{ "brief",
	  "brief      the few of main that fit a picture",
	  { "pgmajfault", "pgpgin", "workingset_refault_anon", "workingset_refault_file", "pswpin",
	    "pswpout", "pgscan", "pgsteal" } },
	{ "fault",
	  "fault      page faults and what they read",
	  { "pgfault", "pgmajfault", "pgreuse", "pgpgin" } },
	{ "refault", "refault    workingset_*", { "workingset_*" } },
	{ "swap", "swap       pswpin, pswpout, swap_ra*", { "pswpin", "pswpout", "swap_ra*" } },
	{ "scan", "scan       pgscan*, pgsteal*", { "pgscan*", "pgsteal*", "steal/scan" } },
	{ "lru",
	  "lru        movements between lists",
	  { "pgactivate", "pgdeactivate", "pgrefill", "pgrotated", "pglazyfree*",
	    "unevictable_*" } },
	{ "numa",
	  "numa       pgdemote*, pgpromote*, numa_*",
	  { "pgdemote_*", "pgpromote_*", "numa_*" } },
	{ "policy", "policy     the policies' own counters (sim_*)", { "sim_*" } },
	{ "vma", "vma        vma_lock_*", { "vma_lock_*" } },
	{ "psi",
	  "psi        time under pressure of the machine: memory, I/O, CPUs",
	  { "psi.some.total", "psi.full.total", "psi.io.some.total", "psi.io.full.total",
	    "psi.cpu.some.total" } },
	{ "latency",
	  "latency    99 % of faults, calls, waits and reclaim are not longer",
	  { "latency.fault_minor.p99_ns", "latency.fault_major.p99_ns", "latency.read.p99_ns",
	    "latency.page_wait.p99_ns", "latency.alloc_stall.p99_ns",
	    "latency.direct_reclaim.p99_ns", "latency.memcg_reclaim.p99_ns",
	    "latency.mmap_lock.p99_ns", "latency.vma_lock.p99_ns", "latency.lru_lock.p99_ns" } },
	{ "all", "all        everything in /proc/vmstat, and sim_*", { "*" } },
};

const char *metric_group_doc(unsigned i)
{
	return i < G_N_ELEMENTS(groups) ? groups[i].doc : NULL;
}

static void add_once(GPtrArray *names, const char *name)
{
	if (!g_ptr_array_find_with_equal_func(names, name, g_str_equal, NULL))
		g_ptr_array_add(names, g_strdup(name));
}

/* Keys of a section of the last snapshot that match; true if there was one. */
static bool add_matching(GPtrArray *names, json_t *result, const char *section, const char *pattern)
{
	json_t *object = json_object_get(metric_snapshot(result, NULL), section), *value;
	const char *key;
	bool found = false;

	json_object_foreach(object, key, value)
	{
		if (g_pattern_match_simple(pattern, key)) {
			add_once(names, key);
			found = true;
		}
	}
	return found;
}

static bool add_name(GPtrArray *names, json_t *const *results, unsigned nr, const char *name)
{
	bool found = false;
	struct metric metric;

	for (unsigned i = 0; i < nr; i++) {
		if (strpbrk(name, "*?")) {
			found |= add_matching(names, results[i], "vmstat_delta", name);
			found |= add_matching(names, results[i], "policy", name);
		} else if (metric_value(results[i], NULL, name, &metric)) {
			add_once(names, name);
			found = true;
		}
	}
	return found;
}

static const struct group *find_group(const char *name)
{
	for (unsigned i = 0; i < G_N_ELEMENTS(groups); i++) {
		if (!strcmp(groups[i].name, name))
			return &groups[i];
	}
	return NULL;
}

static bool unknown_name(json_t *const *results, unsigned nr, const char *name, GError **error)
{
	GPtrArray *all = g_ptr_array_new_with_free_func(g_free);
	const char *nearest;

	for (unsigned i = 0; i < G_N_ELEMENTS(groups); i++)
		add_once(all, groups[i].name);
	add_name(all, results, nr, "*");
	g_ptr_array_add(all, NULL);
	nearest = rs_nearest(name, (const char *const *)all->pdata);
	g_set_error(error, RS_ERROR, RS_ERROR_USAGE, "no result has a counter \"%s\"%s%s%s", name,
		    nearest ? ", did you mean \"" : "", nearest ? nearest : "",
		    nearest ? "\"?" : "");
	g_ptr_array_unref(all);
	return false;
}

GPtrArray *metric_select(json_t *const *results, unsigned nr, const char *choice, GError **error)
{
	GPtrArray *names = g_ptr_array_new_with_free_func(g_free);
	char **words = g_strsplit(choice ? choice : "main", ",", -1);
	bool ok = true;

	for (unsigned i = 0; words[i] && ok; i++) {
		const struct group *group = find_group(words[i]);

		if (!group) {
			ok = add_name(names, results, nr, words[i]) ||
			     unknown_name(results, nr, words[i], error);
			continue;
		}
		for (unsigned m = 0; m < G_N_ELEMENTS(group->members) && group->members[m]; m++)
			add_name(names, results, nr, group->members[m]);
	}
	g_strfreev(words);
	if (!ok) {
		g_ptr_array_unref(names);
		return NULL;
	}
	return names;
}

const char *metric_unit(const char *name)
{
	if (g_str_has_suffix(name, "_ns") ||
	    (g_str_has_prefix(name, "cost.") && !g_str_has_suffix(name, ".calls")))
		return "ns";
	if (g_str_has_prefix(name, "psi.") && g_str_has_suffix(name, ".total"))
		return "us";
	if (!strcmp(name, "steal/scan"))
		return "%";
	if (g_str_has_prefix(name, "pgpgin") || g_str_has_prefix(name, "pgpgout"))
		return "KiB";
	return "";
}
