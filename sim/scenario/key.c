/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * key.c - from the name of a setting to its row in the table and its place in the configuration.
 */
#include "sim/scenario/settings.h"
#include "sim/base/units.h"

#include <string.h>

#define MAX_MEMCGS 60000u

static const struct setting *find_row(enum setting_scope scope, const char *name)
{
	const struct setting *row;

	for (unsigned i = 0; (row = setting_row(i)); i++) {
		if (row->scope == scope && !strcmp(row->name, name))
			return row;
	}
	return NULL;
}

/* "unknown setting X (did you mean Y?)" */
static bool unknown(const char *key, GError **error)
{
	GPtrArray *names = g_ptr_array_new();
	const struct setting *row;
	const char *nearest;

	for (unsigned i = 0; (row = setting_row(i)); i++) {
		if (row->scope == SCOPE_MACHINE || row->scope == SCOPE_MEMCG)
			g_ptr_array_add(names, (char *)row->name);
	}
	g_ptr_array_add(names, "node0.memory");
	g_ptr_array_add(names, "node0.managed");
	g_ptr_array_add(names, "node0.free");
	g_ptr_array_add(names, "node0.cpus");
	g_ptr_array_add(names, NULL);
	nearest = rs_nearest(key, (const char *const *)names->pdata);
	if (nearest)
		g_set_error(error, RS_ERROR, RS_ERROR_USAGE,
			    "unknown setting \"%s\", did you mean \"%s\"?", key, nearest);
	else
		g_set_error(error, RS_ERROR, RS_ERROR_USAGE,
			    "unknown setting \"%s\", see \"reclaimsim list settings\"", key);
	g_ptr_array_unref(names);
	return false;
}

/* A small decimal number at *text; false if there is none below limit. */
static bool take_number(const char **text, unsigned limit, unsigned *ret)
{
	const char *p = *text;
	unsigned value = 0;

	if (!g_ascii_isdigit(*p) || (*p == '0' && g_ascii_isdigit(p[1])))
		return false;
	for (; g_ascii_isdigit(*p); p++) {
		value = value * 10 + (unsigned)(*p - '0');
		if (value >= limit)
			return false;
	}
	*text = p;
	*ret = value;
	return true;
}

static struct memcg_config *find_memcg(struct rs_config *config, const char *path, GError **error)
{
	for (uint32_t i = 0; i < config->nr_memcgs; i++) {
		if (!strcmp(config->memcgs[i].path, path))
			return &config->memcgs[i];
	}
	if (config->nr_memcgs >= MAX_MEMCGS) {
		g_set_error(error, RS_ERROR, RS_ERROR_USAGE, "more than %u groups", MAX_MEMCGS);
		return NULL;
	}
	config->memcgs = g_renew(struct memcg_config, config->memcgs, config->nr_memcgs + 1);
	memcg_config_init(&config->memcgs[config->nr_memcgs], path, config->kernel);
	return &config->memcgs[config->nr_memcgs++];
}

static bool check_path(const char *path, GError **error)
{
	size_t length = strlen(path);

	if (path[0] == '/' && length > 1 && length < 128 && path[length - 1] != '/' &&
	    !strstr(path, "//") && !strstr(path, "/../") && !strstr(path, "/./") &&
	    !g_str_has_suffix(path, "/..") && !g_str_has_suffix(path, "/."))
		return true;
	g_set_error(error, RS_ERROR, RS_ERROR_USAGE,
		    "\"%s\" is no group: write memcg:/name or memcg:/name/name", path);
	return false;
}

/* "memcg:/a/b.memory.low": the path may hold dots, so the setting begins at the last ".memory." */
static bool find_memcg_key(struct rs_config *config, const char *key, struct setting_place *ret,
			   GError **error)
{
	const char *tail = g_strrstr(key, ".memory.");
	const struct setting *row;
	struct memcg_config *memcg;
	char *path;
	bool ok;

	row = tail ? find_row(SCOPE_MEMCG, tail + 1) : NULL;
	/* "memory.swap.max" and the like hold a second ".": nothing else to try. */
	if (!row)
		return unknown(tail ? tail + 1 : key, error);
	path = g_strndup(key + strlen("memcg:"), (gsize)(tail - key) - strlen("memcg:"));
	ok = check_path(path, error) && (memcg = find_memcg(config, path, error));
	g_free(path);
	if (!ok)
		return false;
	ret->setting = row;
	ret->field = (char *)memcg + row->offset;
	return true;
}

/* "node0.memory", "node1.distance.0", "node0.zone.DMA32.managed". */
static bool find_node_key(struct rs_config *config, const char *key, struct setting_place *ret,
			  GError **error)
{
	const char *p = key + strlen("node");
	struct node_config *node;
	unsigned nid, other;

	if (!take_number(&p, RS_MAX_NODES, &nid) || *p++ != '.') {
		g_set_error(error, RS_ERROR, RS_ERROR_USAGE, "\"%s\": nodes are node0 to node%u",
			    key, RS_MAX_NODES - 1);
		return false;
	}
	node = &config->node[nid];
	if (g_str_has_prefix(p, "distance.")) {
		p += strlen("distance.");
		if (!take_number(&p, RS_MAX_NODES, &other) || *p)
			return unknown(key, error);
		ret->setting = find_row(SCOPE_DISTANCE, "distance");
		ret->field = &node->distance[other];
		return true;
	}
	if (g_str_has_prefix(p, "zone.")) {
		p += strlen("zone.");
		for (unsigned z = 0; z < RS_NR_ZONES; z++) {
			size_t length = strlen(setting_zone_names[z]);

			if (strncmp(p, setting_zone_names[z], length) != 0 || p[length] != '.')
				continue;
			ret->setting = find_row(SCOPE_ZONE, p + length + 1);
			if (!ret->setting)
				return unknown(key, error);
			ret->field = (char *)&node->zone[z] + ret->setting->offset;
			return true;
		}
		g_set_error(error, RS_ERROR, RS_ERROR_USAGE,
			    "\"%s\": zones are DMA, DMA32 and Normal", key);
		return false;
	}
	ret->setting = find_row(SCOPE_NODE, p);
	if (!ret->setting)
		return unknown(key, error);
	ret->field = (char *)node + ret->setting->offset;
	return true;
}

bool setting_find(struct rs_config *config, const char *key, struct setting_place *ret,
		  GError **error)
{
	if (strlen(key) >= sizeof(ret->key)) {
		g_set_error(error, RS_ERROR, RS_ERROR_USAGE,
			    "name of a setting is too long: %.40s...", key);
		return false;
	}
	g_strlcpy(ret->key, key, sizeof(ret->key));
	if (g_str_has_prefix(key, "memcg:"))
		return find_memcg_key(config, key, ret, error);
	if (g_str_has_prefix(key, "node") && g_ascii_isdigit(key[4]))
		return find_node_key(config, key, ret, error);
	ret->setting = find_row(SCOPE_MACHINE, key);
	if (ret->setting) {
		ret->field = (char *)config + ret->setting->offset;
		return true;
	}
	ret->setting = find_row(SCOPE_MEMCG, key);
	if (ret->setting) {
		ret->field = (char *)&config->memcgs[0] + ret->setting->offset;
		return true;
	}
	return unknown(key, error);
}
