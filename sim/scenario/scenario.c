/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * scenario.c - a configuration with the memory of what the user has set, so that the rest can
 * follow the kernel whatever the order of the options.
 */
#include "sim/scenario/settings.h"
#include "sim/base/units.h"

#include <string.h>

void memcg_config_init(struct memcg_config *memcg, const char *path, enum rs_kernel kernel)
{
	const struct setting *row;

	memset(memcg, 0, sizeof(*memcg));
	memcg->path = g_strdup(path);
	for (unsigned i = 0; (row = setting_row(i)); i++) {
		if (row->scope == SCOPE_MEMCG)
			setting_store_default(row, kernel, (char *)memcg + row->offset);
	}
}

void node_config_init(struct node_config *node, unsigned nid, enum rs_kernel kernel)
{
	const struct setting *row;

	memset(node, 0, sizeof(*node));
	for (unsigned i = 0; (row = setting_row(i)); i++) {
		if (row->scope == SCOPE_NODE)
			setting_store_default(row, kernel, (char *)node + row->offset);
		for (unsigned z = 0; z < RS_NR_ZONES && row->scope == SCOPE_ZONE; z++)
			setting_store_default(row, kernel, (char *)&node->zone[z] + row->offset);
		for (unsigned n = 0; n < RS_MAX_NODES && row->scope == SCOPE_DISTANCE; n++)
			node->distance[n] = n == nid ? 10 : setting_default(row, kernel);
	}
}

void rs_config_init(struct rs_config *config)
{
	const struct setting *row;

	memset(config, 0, sizeof(*config));
	config->kernel = RS_KERNEL_6_12;
	for (unsigned i = 0; (row = setting_row(i)); i++) {
		if (row->scope == SCOPE_MACHINE)
			setting_store_default(row, config->kernel, (char *)config + row->offset);
	}
	for (unsigned nid = 0; nid < RS_MAX_NODES; nid++)
		node_config_init(&config->node[nid], nid, config->kernel);
	config->memcgs = g_new(struct memcg_config, 1);
	config->nr_memcgs = 1;
	memcg_config_init(&config->memcgs[0], "", config->kernel);
}

void rs_config_copy(struct rs_config *to, const struct rs_config *from)
{
	*to = *from;
	to->memcgs = g_new(struct memcg_config, from->nr_memcgs);
	for (uint32_t i = 0; i < from->nr_memcgs; i++) {
		to->memcgs[i] = from->memcgs[i];
		to->memcgs[i].path = g_strdup(from->memcgs[i].path);
	}
}

void rs_config_clear(struct rs_config *config)
{
	for (uint32_t i = 0; i < config->nr_memcgs; i++)
		g_free(config->memcgs[i].path);
	g_free(config->memcgs);
	memset(config, 0, sizeof(*config));
}

struct rs_scenario *rs_scenario_new(void)
{
	struct rs_scenario *scenario = g_new0(struct rs_scenario, 1);

	rs_config_init(&scenario->config);
	scenario->set = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	return scenario;
}

struct rs_scenario *rs_scenario_copy(const struct rs_scenario *from)
{
	struct rs_scenario *scenario = g_new0(struct rs_scenario, 1);
	GHashTableIter iter;
	void *key;

	rs_config_copy(&scenario->config, &from->config);
	scenario->set = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	g_hash_table_iter_init(&iter, from->set);
	while (g_hash_table_iter_next(&iter, &key, NULL))
		g_hash_table_add(scenario->set, g_strdup(key));
	return scenario;
}

void rs_scenario_free(struct rs_scenario *scenario)
{
	if (!scenario)
		return;
	rs_config_clear(&scenario->config);
	g_hash_table_unref(scenario->set);
	g_free(scenario);
}

const struct rs_config *rs_scenario_config(const struct rs_scenario *scenario)
{
	return &scenario->config;
}

/* Settings the user has left alone take the defaults of the kernel now chosen. */
static void follow_kernel(struct rs_scenario *scenario)
{
	struct rs_config *config = &scenario->config;
	const struct setting *row;

	for (unsigned i = 0; (row = setting_row(i)); i++) {
		if (row->by_kernel && !g_hash_table_contains(scenario->set, row->name))
			setting_store_default(row, config->kernel, (char *)config + row->offset);
	}
}

bool rs_scenario_set(struct rs_scenario *scenario, const char *key, const char *value,
		     GError **error)
{
	struct setting_place place;

	if (!setting_find(&scenario->config, key, &place, error))
		return false;
	if (!setting_parse(place.setting, value, place.field, error)) {
		g_prefix_error(error, "%s: ", key);
		return false;
	}
	g_hash_table_add(scenario->set, g_strdup(place.key));
	if (!strcmp(key, "kernel"))
		follow_kernel(scenario);
	return true;
}

bool rs_scenario_set_kernel(struct rs_scenario *scenario, const char *name, GError **error)
{
	return rs_scenario_set(scenario, "kernel", name, error);
}

bool rs_scenario_check(const struct rs_scenario *scenario, GError **error)
{
	const struct rs_config *config = &scenario->config;
	GHashTableIter iter;
	void *key;

	/* Of several such settings the first by name, whatever the order of the table. */
	const char *bad = NULL;

	g_hash_table_iter_init(&iter, scenario->set);
	while (g_hash_table_iter_next(&iter, &key, NULL)) {
		const char *name = key;

		if (g_str_has_prefix(name, "node") && g_ascii_isdigit(name[4]) &&
		    (uint32_t)(name[4] - '0') >= config->nr_nodes &&
		    (!bad || strcmp(name, bad) < 0))
			bad = name;
	}
	if (bad) {
		g_set_error(error, RS_ERROR, RS_ERROR_USAGE,
			    "%s: there are only %u nodes, set numa.nodes", bad, config->nr_nodes);
		return false;
	}
	return true;
}

static void add_json(json_t *object, const struct setting *row, const char *prefix,
		     const void *field)
{
	char *key = g_strconcat(prefix, row->name, NULL);

	json_object_set_new(object, key, setting_json(row, field));
	g_free(key);
}

static void add_memcgs(json_t *object, const struct rs_config *config)
{
	const struct setting *row;

	for (uint32_t g = 0; g < config->nr_memcgs; g++) {
		const struct memcg_config *memcg = &config->memcgs[g];
		char *prefix =
			*memcg->path ? g_strdup_printf("memcg:%s.", memcg->path) : g_strdup("");

		for (unsigned i = 0; (row = setting_row(i)); i++) {
			if (row->scope == SCOPE_MEMCG)
				add_json(object, row, prefix, (const char *)memcg + row->offset);
		}
		g_free(prefix);
	}
}

/* Zones only where something was said about them: the rest is derived. */
static void add_zones(json_t *object, const struct node_config *node, unsigned nid)
{
	const struct setting *row;

	for (unsigned z = 0; z < RS_NR_ZONES; z++) {
		char *prefix = g_strdup_printf("node%u.zone.%s.", nid, setting_zone_names[z]);

		for (unsigned i = 0; (row = setting_row(i)); i++) {
			const int64_t *field =
				(const void *)((const char *)&node->zone[z] + row->offset);

			if (row->scope == SCOPE_ZONE && *field != -1)
				add_json(object, row, prefix, field);
		}
		g_free(prefix);
	}
}

static void add_nodes(json_t *object, const struct rs_config *config)
{
	const struct setting *row;

	for (unsigned nid = 0; nid < config->nr_nodes; nid++) {
		const struct node_config *node = &config->node[nid];
		char *prefix = g_strdup_printf("node%u.", nid);

		for (unsigned i = 0; (row = setting_row(i)); i++) {
			if (row->scope == SCOPE_NODE)
				add_json(object, row, prefix, (const char *)node + row->offset);
		}
		for (unsigned n = 0; n < config->nr_nodes && config->nr_nodes > 1; n++) {
			char *key = g_strdup_printf("%sdistance.%u", prefix, n);

			json_object_set_new(object, key, json_integer(node->distance[n]));
			g_free(key);
		}
		g_free(prefix);
		add_zones(object, node, nid);
	}
}

char *rs_scenario_settings_json(const struct rs_scenario *scenario)
{
	const struct rs_config *config = &scenario->config;
	json_t *object = json_object();
	const struct setting *row;
	char *dump, *text;

	add_memcgs(object, config);
	for (unsigned i = 0; (row = setting_row(i)); i++) {
		if (row->scope == SCOPE_MACHINE)
			add_json(object, row, "", (const char *)config + row->offset);
	}
	add_nodes(object, config);
	dump = json_dumps(object, JSON_COMPACT);
	text = g_strdup(dump);
	free(dump);
	json_decref(object);
	return text;
}

struct rs_setting_info *rs_setting_describe(unsigned i, enum rs_kernel kernel)
{
	static const char *const prefixes[] = {
		[SCOPE_MACHINE] = "",	     [SCOPE_MEMCG] = "",
		[SCOPE_NODE] = "nodeN.",     [SCOPE_ZONE] = "nodeN.zone.ZONE.",
		[SCOPE_DISTANCE] = "nodeN.",
	};
	const struct setting *row = setting_row(i);
	struct rs_setting_info *info;
	uint64_t field = 0;
	json_t *def;

	if (!row)
		return NULL;
	info = g_new0(struct rs_setting_info, 1);
	info->name = g_strconcat(prefixes[row->scope], row->name,
				 row->scope == SCOPE_DISTANCE ? ".M" : NULL, NULL);
	setting_store_default(row, kernel, &field);
	def = setting_json(row, &field);
	if (row->type == SET_SIZE)
		info->def = rs_format_size((uint64_t)json_integer_value(def));
	else if (json_is_string(def))
		info->def = g_strdup(json_string_value(def));
	else
		info->def = g_strdup_printf("%" JSON_INTEGER_FORMAT, json_integer_value(def));
	json_decref(def);
	info->range = setting_range(row);
	info->doc = g_strdup(row->doc);
	return info;
}

void rs_setting_info_free(struct rs_setting_info *info)
{
	if (!info)
		return;
	g_free(info->name);
	g_free(info->def);
	g_free(info->range);
	g_free(info->doc);
	g_free(info);
}
