/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * plot_input.c - finding the results in files and folders.
 */
#include "tools/plot_input.h"
#include "tools/sweep.h"
#include "sim/base/config.h"
#include "sim/base/json.h"

#include <string.h>

static void result_free(void *data)
{
	struct plot_result *result = data;

	g_free(result->label);
	json_decref(result->json);
	g_free(result);
}

GPtrArray *plot_input_new(void)
{
	return g_ptr_array_new_with_free_func(result_free);
}

GPtrArray *plot_input_labels(const GPtrArray *results)
{
	GPtrArray *labels = g_ptr_array_new();

	for (guint i = 0; i < results->len; i++) {
		const struct plot_result *result = g_ptr_array_index(results, i);

		if (!g_ptr_array_find_with_equal_func(labels, result->label, g_str_equal, NULL))
			g_ptr_array_add(labels, result->label);
	}
	return labels;
}

bool plot_input_by(GPtrArray *results, const char *setting, GError **error)
{
	for (guint i = 0; i < results->len; i++) {
		struct plot_result *result = g_ptr_array_index(results, i);
		json_t *value = json_object_get(json_object_get(result->json, "settings"), setting);
		g_autofree char *text = NULL, *old = result->label;

		if (!value) {
			g_set_error(error, RS_ERROR, RS_ERROR_USAGE,
				    "--by %s: the results have no such setting, see \"reclaimsim "
				    "list settings\"",
				    setting);
			old = NULL;
			return false;
		}
		text = json_is_string(value) ? g_strdup(json_string_value(value))
					     : g_strdup_printf("%" JSON_INTEGER_FORMAT,
							       json_integer_value(value));
		result->label = g_strdup_printf("%s %s=%s", old, setting, text);
	}
	return true;
}

static bool add(GPtrArray *results, const char *label, json_t *json)
{
	struct plot_result *result;

	if (!json_is_array(json_object_get(json, "snapshots")))
		return false;
	if (!label)
		label = json_string_value(json_object_get(json, "policy"));
	result = g_new0(struct plot_result, 1);
	result->label = g_strdup(label ? label : "?");
	result->json = json_incref(json);
	g_ptr_array_add(results, result);
	return true;
}

static bool add_comparison(GPtrArray *results, json_t *json)
{
	json_t *columns = json_object_get(json, "columns"),
	       *list = json_object_get(json, "results");
	json_int_t seeds = json_integer_value(json_object_get(json, "seeds"));
	size_t n = json_array_size(list);

	if (seeds < 1 || n != json_array_size(columns) * (size_t)seeds)
		return false;
	for (size_t i = 0; i < n; i++) {
		if (!add(results, json_string_value(json_array_get(columns, i / (size_t)seeds)),
			 json_array_get(list, i)))
			return false;
	}
	return true;
}

/* Any of the forms; false: none of them. */
static bool add_any(GPtrArray *results, json_t *json)
{
	if (json_is_array(json_object_get(json, "results")))
		return add_comparison(results, json);
	if (json_is_object(json_object_get(json, "result")))
		return add(results, NULL, json_object_get(json, "result"));
	return add(results, NULL, json);
}

/* A line is an object. */
static bool load_lines(GPtrArray *results, const char *path, GError **error)
{
	FILE *file = fopen(path, "r");
	char *line = NULL;
	size_t size = 0;
	unsigned number = 0;
	bool ok = file != NULL;

	while (ok && getline(&line, &size, file) > 0) {
		json_t *json = json_loads(line, 0, NULL);

		number++;
		ok = add_any(results, json);
		if (!ok)
			g_set_error(error, RS_ERROR, RS_ERROR_INPUT, "%s:%u: not a result", path,
				    number);
		json_decref(json);
	}
	free(line);
	if (file)
		fclose(file);
	return ok;
}

static bool load_sweep(GPtrArray *results, const char *dir, GError **error)
{
	struct sweep_plan *plan = sweep_plan_load(dir, error);
	bool ok = plan != NULL;

	for (uint64_t i = 0; ok && i < plan->nr_cells; i++) {
		struct sweep_cell cell;
		json_t *json;
		char *path;

		if (!sweep_cell_init(plan, i, &cell, error)) {
			ok = false;
			break;
		}
		path = sweep_cell_path(dir, cell.id, "json");
		json = sweep_cell_done(dir, cell.id) ? json_load_file(path, 0, NULL) : NULL;
		if (json)
			add(results, NULL, json);
		json_decref(json);
		g_free(path);
		sweep_cell_clear(&cell);
	}
	sweep_plan_free(plan);
	return ok;
}

bool plot_input_load(GPtrArray *results, const char *path, GError **error)
{
	static const char *const nowhere[] = { NULL };
	struct rs_json *json;
	bool ok;

	if (g_file_test(path, G_FILE_TEST_IS_DIR))
		return load_sweep(results, path, error);
	if (g_str_has_suffix(path, ".jsonl"))
		return load_lines(results, path, error);
	json = rs_json_load(path, error);
	if (!json)
		return false;
	ok = add_any(results, json->root);
	if (!ok)
		rs_json_error(json, error, nowhere,
			      "neither a result nor a comparison (run --json, compare --json)");
	rs_json_free(json);
	return ok;
}
