/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sweep_plan.c - the plan of a sweep: axes, cells, their ids, and the file it is kept in.
 */
#include "tools/sweep_plan.h"
#include "tools/footprint.h"
#include "tools/tools.h"
#include "sim/base/json.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

static void axis_free(void *data)
{
	struct sweep_axis *axis = data;

	g_ptr_array_unref(axis->values);
	g_free(axis->key);
	g_free(axis);
}

static void trace_free(void *data)
{
	struct sweep_trace *trace = data;

	g_free(trace->path);
	g_free(trace->digest);
	g_free(trace);
}

struct sweep_plan *sweep_plan_new(void)
{
	struct sweep_plan *plan = g_new0(struct sweep_plan, 1);

	plan->base = rs_scenario_new();
	plan->base_settings = json_object();
	plan->axes = g_ptr_array_new_with_free_func(axis_free);
	plan->traces = g_ptr_array_new_with_free_func(trace_free);
	return plan;
}

void sweep_plan_free(struct sweep_plan *plan)
{
	if (!plan)
		return;
	rs_scenario_free(plan->base);
	json_decref(plan->base_settings);
	g_ptr_array_unref(plan->axes);
	g_ptr_array_unref(plan->traces);
	g_free(plan->name);
	g_free(plan);
}

struct sweep_axis *sweep_axis_add(struct sweep_plan *plan, const char *key)
{
	struct sweep_axis *axis = g_new0(struct sweep_axis, 1);

	axis->key = g_strdup(key);
	axis->values = g_ptr_array_new_with_free_func(g_free);
	g_ptr_array_add(plan->axes, axis);
	return axis;
}

static char *digest_file(const char *path, GError **error)
{
	GChecksum *sum = g_checksum_new(G_CHECKSUM_SHA256);
	FILE *file = fopen(path, "rb");
	unsigned char buffer[65536];
	char *digest = NULL;
	size_t n;

	while (file && (n = fread(buffer, 1, sizeof(buffer), file)) > 0)
		g_checksum_update(sum, buffer, (gssize)n);
	if (!file || ferror(file))
		g_set_error(error, RS_ERROR, RS_ERROR_INPUT, "%s: cannot read: %s", path,
			    g_strerror(errno));
	else
		digest = g_strdup(g_checksum_get_string(sum));
	if (file)
		fclose(file);
	g_checksum_free(sum);
	return digest;
}

bool sweep_trace_add(struct sweep_plan *plan, const char *path, const char *digest, GError **error)
{
	struct sweep_trace *trace;
	char *own = digest ? g_strdup(digest) : digest_file(path, error);

	if (!own)
		return false;
	trace = g_new0(struct sweep_trace, 1);
	trace->path = g_strdup(path);
	trace->digest = own;
	g_ptr_array_add(plan->traces, trace);
	return true;
}

static bool has_shares(const struct sweep_plan *plan)
{
	for (guint a = 0; a < plan->axes->len; a++) {
		const struct sweep_axis *axis = g_ptr_array_index(plan->axes, a);

		for (guint v = 0; v < axis->values->len; v++)
			if (footprint_is_share(axis->key, g_ptr_array_index(axis->values, v)))
				return true;
	}
	return false;
}

bool sweep_plan_footprints(struct sweep_plan *plan, GError **error)
{
	bool ok = true;

	for (guint t = 0; has_shares(plan) && ok && t < plan->traces->len; t++) {
		struct sweep_trace *trace = g_ptr_array_index(plan->traces, t);

		ok = footprint_count(trace->path, plan->base, &trace->footprint, error);
	}
	return ok;
}

bool sweep_base_set(struct sweep_plan *plan, const char *key, const char *value, GError **error)
{
	if (!rs_scenario_set(plan->base, key, value, error))
		return false;
	json_object_set_new(plan->base_settings, key, json_string(value));
	return true;
}

/* What the file changes is remembered, not the file: a plan stands alone. */
bool sweep_base_machine(struct sweep_plan *plan, const char *path, GError **error)
{
	char *before = rs_scenario_settings_json(plan->base), *after;
	json_t *old = json_loads(before, 0, NULL), *fresh, *value;
	const char *key;
	bool ok = rs_scenario_load(plan->base, path, error);

	g_free(before);
	after = rs_scenario_settings_json(plan->base);
	fresh = json_loads(after, 0, NULL);
	json_object_foreach(fresh, key, value)
	{
		json_t *text = json_is_string(value) ? json_incref(value)
						     : json_sprintf("%" JSON_INTEGER_FORMAT,
								    json_integer_value(value));

		if (ok && !json_equal(value, json_object_get(old, key)))
			json_object_set(plan->base_settings, key, text);
		json_decref(text);
	}
	json_decref(old);
	json_decref(fresh);
	g_free(after);
	return ok;
}

bool sweep_plan_count(struct sweep_plan *plan, GError **error)
{
	plan->nr_cells = 1;
	for (guint a = 0; a < plan->axes->len; a++) {
		const struct sweep_axis *axis = g_ptr_array_index(plan->axes, a);

		plan->nr_cells *= axis->values->len;
		if (plan->nr_cells > SWEEP_MAX_CELLS) {
			g_set_error(error, RS_ERROR, RS_ERROR_INPUT,
				    "the sweep has more than %" PRIu64 " cells", SWEEP_MAX_CELLS);
			return false;
		}
	}
	return true;
}

/* ---- cells ---- */

/* The value's number on each axis. */
static guint place_on_axis(const struct sweep_plan *plan, uint64_t index, guint axis)
{
	for (guint a = plan->axes->len - 1; a > axis; a--)
		index /= ((const struct sweep_axis *)g_ptr_array_index(plan->axes, a))->values->len;
	return (guint)(index % ((const struct sweep_axis *)g_ptr_array_index(plan->axes, axis))
				       ->values->len);
}

static const char *value_on_axis(const struct sweep_plan *plan, uint64_t index, guint axis)
{
	const struct sweep_axis *a = g_ptr_array_index(plan->axes, axis);

	return g_ptr_array_index(a->values, place_on_axis(plan, index, axis));
}

json_t *sweep_cell_axes(const struct sweep_plan *plan, uint64_t index)
{
	json_t *object = json_object();

	for (guint a = 0; a < plan->axes->len; a++) {
		const struct sweep_axis *axis = g_ptr_array_index(plan->axes, a);

		json_object_set_new(object, axis->key, json_string(value_on_axis(plan, index, a)));
	}
	return object;
}

/* Trace, policy, every setting in force, version of the model: what decides the result. */
static void make_id(struct sweep_cell *cell, const char *digest)
{
	GChecksum *sum = g_checksum_new(G_CHECKSUM_SHA256);
	char *settings = rs_scenario_settings_json(cell->scenario);
	const char *const parts[] = { RS_VERSION, digest, cell->policy, settings };

	for (unsigned i = 0; i < G_N_ELEMENTS(parts); i++)
		g_checksum_update(sum, (const guchar *)parts[i], (gssize)strlen(parts[i]) + 1);
	g_strlcpy(cell->id, g_checksum_get_string(sum), sizeof(cell->id));
	g_free(settings);
	g_checksum_free(sum);
}

static bool set_axis(struct rs_scenario *scenario, const struct sweep_trace *trace, const char *key,
		     const char *value, GError **error)
{
	g_autofree char *pages = NULL;

	if (!footprint_is_share(key, value))
		return rs_scenario_set(scenario, key, value, error);
	pages = footprint_share(trace->footprint, value, error);
	return pages && rs_scenario_set(scenario, key, pages, error);
}

bool sweep_cell_init(const struct sweep_plan *plan, uint64_t index, struct sweep_cell *ret,
		     GError **error)
{
	const struct sweep_trace *trace =
		g_ptr_array_index(plan->traces, place_on_axis(plan, index, 0));
	struct sweep_cell cell = { .index = index, .trace = trace->path };

	cell.policy = value_on_axis(plan, index, 1);
	cell.scenario = rs_scenario_copy(plan->base);
	for (guint a = 2; a < plan->axes->len; a++) {
		const struct sweep_axis *axis = g_ptr_array_index(plan->axes, a);

		if (!set_axis(cell.scenario, trace, axis->key, value_on_axis(plan, index, a),
			      error))
			goto fail;
	}
	if (!rs_scenario_check(cell.scenario, error))
		goto fail;
	make_id(&cell, trace->digest);
	*ret = cell;
	return true;
fail:
	rs_scenario_free(cell.scenario);
	return false;
}

void sweep_cell_clear(struct sweep_cell *cell)
{
	rs_scenario_free(cell->scenario);
	cell->scenario = NULL;
}

char *sweep_cell_path(const char *dir, const char *id, const char *suffix)
{
	return g_strdup_printf("%s/results/%.2s/%s.%s", dir, id, id, suffix);
}

/* Results are renamed into place when complete; a look at both ends costs little. */
bool sweep_cell_done(const char *dir, const char *id)
{
	char *path = sweep_cell_path(dir, id, "json");
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	char first = 0, last = 0;
	off_t size = fd >= 0 ? lseek(fd, 0, SEEK_END) : 0;
	bool done = size > 2 && pread(fd, &first, 1, 0) == 1 && first == '{' &&
		    pread(fd, &last, 1, size - 1) == 1 && last == '\n';

	if (fd >= 0)
		close(fd);
	g_free(path);
	return done;
}

/* ---- plan.json ---- */

static char *plan_text(const struct sweep_plan *plan)
{
	json_t *object = json_object(), *axes = json_array(), *traces = json_array();
	char *dump, *text;

	for (guint a = 0; a < plan->axes->len; a++) {
		const struct sweep_axis *axis = g_ptr_array_index(plan->axes, a);
		json_t *values = json_array();

		for (guint v = 0; v < axis->values->len; v++)
			json_array_append_new(values,
					      json_string(g_ptr_array_index(axis->values, v)));
		json_array_append_new(axes,
				      json_pack("{s:s, s:o}", "key", axis->key, "values", values));
	}
	for (guint t = 0; t < plan->traces->len; t++) {
		const struct sweep_trace *trace = g_ptr_array_index(plan->traces, t);

		json_t *row = json_pack("{s:s, s:s}", "path", trace->path, "sha256", trace->digest);

		if (trace->footprint)
			json_object_set_new(row, "footprint_pages",
					    json_integer((json_int_t)trace->footprint));
		json_array_append_new(traces, row);
	}
	json_object_set_new(object, "schema", json_string("reclaimsim.plan/1"));
	json_object_set_new(object, "version", json_string(RS_VERSION));
	json_object_set_new(object, "sweep", json_string(plan->name));
	json_object_set_new(object, "cells", json_integer((json_int_t)plan->nr_cells));
	json_object_set_new(object, "traces", traces);
	json_object_set(object, "set", plan->base_settings);
	json_object_set_new(object, "axes", axes);
	dump = json_dumps(object, JSON_INDENT(1));
	text = g_strconcat(dump, "\n", NULL);
	free(dump);
	json_decref(object);
	return text;
}

bool sweep_plan_save(const struct sweep_plan *plan, const char *dir, GError **error)
{
	char *path = g_build_filename(dir, "plan.json", NULL), *text = plan_text(plan), *old = NULL;
	bool ok;

	if (g_mkdir_with_parents(dir, 0777) != 0) {
		g_set_error(error, RS_ERROR, RS_ERROR_OUTPUT, "cannot make %s: %s", dir,
			    g_strerror(errno));
		ok = false;
	} else if (g_file_get_contents(path, &old, NULL, NULL)) {
		ok = !strcmp(old, text);
		if (!ok)
			g_set_error(error, RS_ERROR, RS_ERROR_USAGE,
				    "%s holds another sweep; take a new folder", dir);
	} else {
		ok = output_write(path, text, error);
	}
	g_free(old);
	g_free(text);
	g_free(path);
	return ok;
}

static bool read_plan(struct sweep_plan *plan, json_t *root, GError **error)
{
	json_t *axes = json_object_get(root, "axes"), *traces = json_object_get(root, "traces");
	json_t *set = json_object_get(root, "set"), *value, *inner;
	const char *key;
	size_t i, j;

	plan->name = g_strdup(json_string_value(json_object_get(root, "sweep")));
	json_array_foreach(traces, i, value)
	{
		const char *path = json_string_value(json_object_get(value, "path"));
		const char *digest = json_string_value(json_object_get(value, "sha256"));

		if (!path || !digest || !sweep_trace_add(plan, path, digest, error))
			return false;
		((struct sweep_trace *)g_ptr_array_index(plan->traces, i))->footprint =
			(uint64_t)json_integer_value(json_object_get(value, "footprint_pages"));
	}
	json_object_foreach(set, key, value)
	{
		if (!json_is_string(value) ||
		    !sweep_base_set(plan, key, json_string_value(value), error))
			return false;
	}
	json_array_foreach(axes, i, value)
	{
		const char *name = json_string_value(json_object_get(value, "key"));
		struct sweep_axis *axis = name ? sweep_axis_add(plan, name) : NULL;

		json_array_foreach(json_object_get(value, "values"), j, inner)
		{
			if (axis && json_is_string(inner))
				g_ptr_array_add(axis->values, g_strdup(json_string_value(inner)));
		}
		if (!axis || !axis->values->len)
			return false;
	}
	return plan->name && plan->axes->len >= 2 && sweep_plan_count(plan, error) &&
	       ((struct sweep_axis *)g_ptr_array_index(plan->axes, 0))->values->len ==
		       plan->traces->len;
}

struct sweep_plan *sweep_plan_load(const char *dir, GError **error)
{
	char *path = g_build_filename(dir, "plan.json", NULL);
	struct rs_json *json = rs_json_load(path, error);
	struct sweep_plan *plan = NULL;
	GError *problem = NULL;

	if (json) {
		plan = sweep_plan_new();
		if (!read_plan(plan, json->root, &problem)) {
			g_set_error(error, RS_ERROR, RS_ERROR_INPUT, "%s: not a plan%s%s", path,
				    problem ? ": " : "", problem ? problem->message : "");
			g_clear_error(&problem);
			sweep_plan_free(plan);
			plan = NULL;
		}
	}
	rs_json_free(json);
	g_free(path);
	return plan;
}
