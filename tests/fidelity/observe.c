/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * observe.c - reads the compared values out of a snapshot.
 */
#include "observe.h"

#include <string.h>

#define PAGE_BYTES 4096

const struct obs_counter obs_counters[] = {
	{ "pgmajfault", OBS_CORE },
	{ "pswpin", OBS_CORE },
	{ "pswpout", OBS_CORE },
	{ "pgsteal", OBS_CORE },
	{ "workingset_refault_anon", OBS_CORE },
	{ "workingset_refault_file", OBS_CORE },
	{ "workingset_activate_anon", OBS_ACTIVATE },
	{ "workingset_activate_file", OBS_ACTIVATE },
	{ "pgactivate", OBS_ACTIVATE },
	{ "pgscan", OBS_SCAN },
	{ "pgrefill", OBS_SCAN },
	{ "pgdeactivate", OBS_EXTRA },
	{ "pgrotated", OBS_EXTRA },
	{ "inactive_anon", OBS_LIST },
	{ "active_anon", OBS_LIST },
	{ "inactive_file", OBS_LIST },
	{ "active_file", OBS_LIST },
	{ "lru_gen.max_seq", OBS_GEN },
	{ "lru_gen.0.anon", OBS_GEN },
	{ "lru_gen.0.file", OBS_GEN },
	{ "lru_gen.1.anon", OBS_GEN },
	{ "lru_gen.1.file", OBS_GEN },
	{ "lru_gen.2.anon", OBS_GEN },
	{ "lru_gen.2.file", OBS_GEN },
	{ "lru_gen.3.anon", OBS_GEN },
	{ "lru_gen.3.file", OBS_GEN },
};
const unsigned obs_nr_counters = G_N_ELEMENTS(obs_counters);
G_STATIC_ASSERT(G_N_ELEMENTS(obs_counters) <= OBS_MAX);

static int64_t get(const json_t *object, const char *key)
{
	return json_integer_value(json_object_get(object, key));
}

/* A sum over both types; zero entries are left out of a kernel's result. */
static int64_t sum_of_types(const json_t *vmstat, const char *name)
{
	g_autofree char *anon = g_strdup_printf("%s_anon", name);
	g_autofree char *file = g_strdup_printf("%s_file", name);

	return get(vmstat, anon) + get(vmstat, file);
}

/*
 * vmstat's pgrefill leaves out limit reclaim, memory.stat's does not, and a group exists in memcg
 * mode only.
 */
static int64_t read_event(const json_t *snapshot, const char *name, bool memcg_mode)
{
	const json_t *vmstat = json_object_get(snapshot, "vmstat_delta");

	if (!strcmp(name, "pgsteal") || !strcmp(name, "pgscan"))
		return sum_of_types(vmstat, name);
	if (!strcmp(name, "pgrefill") && memcg_mode)
		return get(json_object_get(snapshot, "memcg"), name);
	return get(vmstat, name);
}

static int64_t read_list(const json_t *snapshot, const char *name, bool memcg_mode)
{
	if (!memcg_mode)
		return OBS_ABSENT;
	return get(json_object_get(snapshot, "memcg"), name) / PAGE_BYTES;
}

static const json_t *generation(const json_t *snapshot, size_t age)
{
	const json_t *rows = json_object_get(snapshot, "lru_gen");
	size_t nr = json_array_size(rows);

	return age < nr ? json_array_get(rows, nr - 1 - age) : NULL;
}

/* "lru_gen.max_seq", "lru_gen.AGE.TYPE"; a generation that does not exist holds no page. */
static int64_t read_generation(const json_t *snapshot, const char *name)
{
	const char *field = name + strlen("lru_gen.");

	if (!json_array_size(json_object_get(snapshot, "lru_gen")))
		return OBS_ABSENT;
	if (!strcmp(field, "max_seq"))
		return json_integer_value(json_array_get(generation(snapshot, 0), 0));
	return json_integer_value(json_array_get(generation(snapshot, field[0] - '0'),
						 strstr(field, "anon") ? 2 : 3));
}

static int64_t read_value(const json_t *snapshot, const struct obs_counter *counter,
			  bool memcg_mode)
{
	if (counter->class == OBS_LIST)
		return read_list(snapshot, counter->name, memcg_mode);
	if (counter->class == OBS_GEN)
		return read_generation(snapshot, counter->name);
	return read_event(snapshot, counter->name, memcg_mode);
}

static void clear_snapshot(gpointer snapshot)
{
	g_free(((struct obs_snapshot *)snapshot)->name);
}

static GArray *new_snapshots(void)
{
	GArray *snapshots = g_array_new(FALSE, TRUE, sizeof(struct obs_snapshot));

	g_array_set_clear_func(snapshots, clear_snapshot);
	return snapshots;
}

GArray *obs_read(const json_t *list, bool memcg_mode)
{
	GArray *snapshots = new_snapshots();
	const json_t *entry;
	size_t i;

	json_array_foreach(list, i, entry)
	{
		struct obs_snapshot snapshot = { 0 };

		snapshot.name = g_strdup(json_string_value(json_object_get(entry, "name")));
		snapshot.op = get(entry, "op");
		for (unsigned c = 0; c < obs_nr_counters; c++)
			snapshot.value[c] = read_value(entry, &obs_counters[c], memcg_mode);
		g_array_append_val(snapshots, snapshot);
	}
	return snapshots;
}

json_t *obs_save(const GArray *snapshots)
{
	json_t *list = json_array();

	for (guint i = 0; i < snapshots->len; i++) {
		const struct obs_snapshot *from = &g_array_index(snapshots, struct obs_snapshot, i);
		json_t *values = json_object();

		for (unsigned c = 0; c < obs_nr_counters; c++) {
			if (from->value[c] != OBS_ABSENT)
				json_object_set_new(values, obs_counters[c].name,
						    json_integer(from->value[c]));
		}
		json_array_append_new(list, json_pack("{s:s,s:I,s:o}", "name", from->name, "op",
						      (json_int_t)from->op, "values", values));
	}
	return list;
}

GArray *obs_load(const json_t *saved)
{
	GArray *snapshots = new_snapshots();
	const json_t *entry;
	size_t i;

	json_array_foreach(saved, i, entry)
	{
		const json_t *values = json_object_get(entry, "values");
		struct obs_snapshot snapshot = { 0 };

		snapshot.name = g_strdup(json_string_value(json_object_get(entry, "name")));
		snapshot.op = get(entry, "op");
		for (unsigned c = 0; c < obs_nr_counters; c++) {
			const json_t *value = json_object_get(values, obs_counters[c].name);

			snapshot.value[c] = value ? json_integer_value(value) : OBS_ABSENT;
		}
		g_array_append_val(snapshots, snapshot);
	}
	return snapshots;
}
