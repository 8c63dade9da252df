/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cmd_list.c - what can be chosen: policies, settings, counters, formats, generators.
 */
#include "tools/metric.h"
#include "tools/table.h"
#include "tools/tools.h"

#include <reclaimsim/generate.h>
#include <reclaimsim/import.h>

#include <jansson.h>
#include <string.h>

static gboolean as_json;
static char *kernel_name;

static const GOptionEntry options[] = {
	{ "json", 0, 0, G_OPTION_ARG_NONE, &as_json, "print JSON", NULL },
	{ "kernel", 'k', 0, G_OPTION_ARG_STRING, &kernel_name,
	  "kernel whose defaults are listed (default 6.12)", "K" },
	{ 0 },
};

static void set_text(json_t *row, const char *key, const char *value)
{
	json_object_set_new(row, key, value ? json_string(value) : json_null());
}

static void add(json_t *list, const char *name, const char *doc)
{
	json_t *row = json_object();

	set_text(row, "name", name);
	set_text(row, "doc", doc);
	json_array_append_new(list, row);
}

static json_t *params_json(const struct rs_param *param)
{
	json_t *list = json_array();

	for (; param && param->name; param++) {
		json_t *row = json_object();

		set_text(row, "name", param->name);
		json_object_set_new(row, "default", json_integer(param->def));
		json_object_set_new(row, "min", json_integer(param->min));
		json_object_set_new(row, "max", json_integer(param->max));
		set_text(row, "doc", param->doc);
		json_array_append_new(list, row);
	}
	return list;
}

static json_t *list_policies(enum rs_kernel kernel)
{
	const struct rs_policy_ops *ops;
	json_t *list = json_array();

	for (unsigned i = 0; (ops = rs_policy_builtin(i)); i++) {
		add(list, ops->name, ops->summary);
		json_object_set_new(json_array_get(list, i), "params", params_json(ops->params));
	}
	add(list, "opt", "clairvoyant lower bound of demand misses (Belady), no policy");
	return list;
}

static json_t *list_settings(enum rs_kernel kernel)
{
	struct rs_setting_info *info;
	json_t *list = json_array();

	for (unsigned i = 0; (info = rs_setting_describe(i, kernel)); i++) {
		json_t *row = json_object();

		set_text(row, "name", info->name);
		set_text(row, "default", info->def);
		set_text(row, "range", info->range);
		set_text(row, "doc", info->doc);
		json_array_append_new(list, row);
		rs_setting_info_free(info);
	}
	return list;
}

static json_t *list_counters(enum rs_kernel kernel)
{
	static const struct {
		const char *name, *where, *doc;
	} events[] = {
#define RS_EVENT(id, name, where, doc) { name, #where, doc },
#include <reclaimsim/vmstat.def>
#undef RS_EVENT
	};
	const struct rs_policy_ops *ops;
	json_t *list = json_array();

	for (unsigned i = 0; i < G_N_ELEMENTS(events); i++) {
		add(list, events[i].name, events[i].doc);
		set_text(json_array_get(list, i), "where",
			 strcmp(events[i].where, "VM") ? "vmstat" : "vmstat, memory.stat");
	}
	for (unsigned i = 0; (ops = rs_policy_builtin(i)); i++) {
		for (const struct rs_counter *c = ops->counters; c && c->name; c++) {
			char *name = g_str_has_prefix(c->name, "sim_")
					     ? g_strdup(c->name)
					     : g_strconcat("sim_", c->name, NULL);

			add(list, name, c->doc);
			set_text(json_array_get(list, json_array_size(list) - 1), "where",
				 ops->name);
			g_free(name);
		}
	}
	return list;
}

static json_t *list_formats(enum rs_kernel kernel)
{
	struct rs_import_format format;
	json_t *list = json_array();

	for (unsigned i = 0; rs_import_format(i, &format); i++)
		add(list, format.name, format.summary);
	return list;
}

static json_t *list_generators(enum rs_kernel kernel)
{
	json_t *list = json_array();

	for (unsigned i = 0; rs_generators[i].name; i++)
		add(list, rs_generators[i].name, rs_generators[i].summary);
	return list;
}

static const struct topic {
	const char *name;
	json_t *(*list)(enum rs_kernel);
	const char *columns[4];
} topics[] = {
	{ "policies", list_policies, { "name", "doc" } },
	{ "settings", list_settings, { "name", "default", "range", "doc" } },
	{ "counters", list_counters, { "name", "where", "doc" } },
	{ "formats", list_formats, { "name", "doc" } },
	{ "generators", list_generators, { "name", "doc" } },
};

static void print_params(json_t *params)
{
	json_t *row;
	size_t i;

	json_array_foreach(params, i, row)
		printf("    %s=%" JSON_INTEGER_FORMAT "  (%" JSON_INTEGER_FORMAT
		       " to %" JSON_INTEGER_FORMAT ")  %s\n",
		       json_string_value(json_object_get(row, "name")),
		       json_integer_value(json_object_get(row, "default")),
		       json_integer_value(json_object_get(row, "min")),
		       json_integer_value(json_object_get(row, "max")),
		       json_string_value(json_object_get(row, "doc")));
}

static void print_one(const struct topic *topic, json_t *row)
{
	for (unsigned c = 0; c < G_N_ELEMENTS(topic->columns) && topic->columns[c]; c++) {
		const char *text = json_string_value(json_object_get(row, topic->columns[c]));

		printf("%-8s %s\n", topic->columns[c], text ? text : "");
	}
	print_params(json_object_get(row, "params"));
}

static void print_list(const struct topic *topic, json_t *list)
{
	unsigned nr_columns = 0;
	struct table *table;
	json_t *row;
	size_t i;

	while (nr_columns < G_N_ELEMENTS(topic->columns) && topic->columns[nr_columns])
		nr_columns++;
	table = table_new(nr_columns);
	for (unsigned c = 0; c < nr_columns; c++) {
		table_add(table, g_strdup(topic->columns[c]));
		table_align_left(table, c);
	}
	json_array_foreach(list, i, row)
	{
		for (unsigned c = 0; c < nr_columns; c++) {
			const char *text =
				json_string_value(json_object_get(row, topic->columns[c]));

			table_add(table, g_strdup(text ? text : ""));
		}
	}
	table_print(table, TABLE_TEXT, stdout);
	table_free(table);
}

static bool is_named(json_t *row, const char *name)
{
	const char *own = json_string_value(json_object_get(row, "name"));

	return own && !strcmp(own, name);
}

static int print_topic(const struct topic *topic, json_t *list, const char *name)
{
	json_t *row = NULL;

	for (size_t i = 0; name && i < json_array_size(list); i++) {
		if (is_named(json_array_get(list, i), name))
			row = json_array_get(list, i);
	}
	if (name && !row)
		return command_usage("no \"%s\" among the %s, see \"reclaimsim list %s\"", name,
				     topic->name, topic->name);
	if (as_json) {
		char *text = json_dumps(row ? row : list, JSON_INDENT(2));

		puts(text);
		free(text);
	} else if (row) {
		print_one(topic, row);
	} else {
		print_list(topic, list);
	}
	return EXIT_FINE;
}

static bool find_kernel(enum rs_kernel *ret)
{
	*ret = RS_KERNEL_6_12;
	for (unsigned k = 0; kernel_name; k++) {
		if (k == RS_NR_KERNELS)
			return false;
		if (!strcmp(rs_kernel_name(k), kernel_name)) {
			*ret = k;
			break;
		}
	}
	return true;
}

static int run(int argc, char **argv)
{
	enum rs_kernel kernel;
	json_t *list;
	int code;

	if (!find_kernel(&kernel))
		return command_usage("\"%s\" is none of 5.18, 6.1, 6.12, 6.14, 7.2", kernel_name);
	for (unsigned i = 0; argc > 1 && argc < 4 && i < G_N_ELEMENTS(topics); i++) {
		if (strcmp(topics[i].name, argv[1]) != 0)
			continue;
		list = topics[i].list(kernel);
		code = print_topic(&topics[i], list, argv[2]);
		json_decref(list);
		return code;
	}
	return command_usage("list what? policies, settings, counters, formats or generators");
}

const struct rs_command cmd_list = {
	.name = "list",
	.arguments = "policies|settings|counters|formats|generators [NAME] [OPTION...]",
	.summary = "print what can be chosen, with defaults and meaning",
	.example = "  reclaimsim list settings memory.max\n"
		   "  reclaimsim list policies mglru\n"
		   "  reclaimsim list counters --json",
	.options = options,
	.run = run,
};
