/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sweep_spec.c - the spec a user writes (tools/schemas/sweep.schema.json) made into a plan.
 */
#include "tools/sweep.h"
#include "tools/sweep_plan.h"
#include "tools/footprint.h"
#include "sim/base/json.h"
#include "sim/base/units.h"

#include <string.h>

#define MAX_RANGE 100000u

struct reader {
	const struct rs_json *json;
	struct sweep_plan *plan;
	char *folder;
	const char *where[4];
	char number[16];
	GError **error;
};

static bool wrong(struct reader *r, const char *format, ...) G_GNUC_PRINTF(2, 3);
static bool wrong(struct reader *r, const char *format, ...)
{
	va_list args;
	char *text;

	va_start(args, format);
	text = g_strdup_vprintf(format, args);
	va_end(args);
	rs_json_error(r->json, r->error, r->where, "%s", text);
	g_free(text);
	return false;
}

static bool wrong_because(struct reader *r, GError *problem)
{
	wrong(r, "%s", problem->message);
	g_error_free(problem);
	return false;
}

static void at(struct reader *r, const char *member, const char *inner, int index)
{
	g_snprintf(r->number, sizeof(r->number), "%d", index);
	r->where[0] = member;
	r->where[1] = inner ? inner : index >= 0 ? r->number : NULL;
	r->where[2] = inner && index >= 0 ? r->number : NULL;
	r->where[3] = NULL;
}

static char *relative_path(const struct reader *r, const char *path)
{
	char *joined =
		g_path_is_absolute(path) ? g_strdup(path) : g_build_filename(r->folder, path, NULL);
	char *canonical = g_canonicalize_filename(joined, NULL);

	g_free(joined);
	return canonical;
}

/* A value of an axis as one would write it behind --set; NULL: no such value. */
static char *value_text(const json_t *value)
{
	if (json_is_string(value))
		return g_strdup(json_string_value(value));
	if (json_is_integer(value))
		return g_strdup_printf("%" JSON_INTEGER_FORMAT, json_integer_value(value));
	return NULL;
}

static bool without_percent(char *text)
{
	if (!g_str_has_suffix(text, "%"))
		return false;
	text[strlen(text) - 1] = 0;
	return true;
}

/* "256M..4G*2" or "0..200+20": the values in between, ends included. */
static bool add_range(struct reader *r, struct sweep_axis *axis, const char *text)
{
	const char *dots = strstr(text, ".."), *step = strpbrk(dots + 2, "*+");
	char *first, *last, *by_text;
	uint64_t low, high, by;
	const char *unit;
	bool pages, plain, ok;

	if (!step || dots == text)
		return wrong(r, "\"%s\": a range is A..B*FACTOR or A..B+STEP", text);
	first = g_strndup(text, (gsize)(dots - text));
	last = g_strndup(dots + 2, (gsize)(step - dots - 2));
	by_text = g_strdup(step + 1);
	/* Values are written as the ends are: 0, 50, 100; 1000p; 64M; 20%. */
	pages = g_str_has_suffix(first, "p");
	unit = without_percent(first) && without_percent(last) ? "%" : "";
	if (*step == '+' && *unit)
		without_percent(by_text);
	plain = *unit || (g_ascii_isdigit(dots[-1]) && g_ascii_isdigit(step[-1]));
	ok = rs_parse_size(first, &low, NULL) && rs_parse_size(last, &high, NULL) &&
	     rs_parse_size(by_text, &by, NULL) && low <= high && by > (*step == '*' ? 1 : 0) &&
	     (*step == '+' || low > 0);
	g_free(first);
	g_free(last);
	g_free(by_text);
	if (!ok)
		return wrong(r, "\"%s\": a range is A..B*FACTOR or A..B+STEP", text);
	for (uint64_t value = low; value <= high;) {
		char *formatted = plain ? g_strdup_printf("%" PRIu64 "%s", value, unit)
				  : pages && value % RS_PAGE_SIZE == 0
					  ? g_strdup_printf("%" PRIu64 "p", value / RS_PAGE_SIZE)
					  : rs_format_size(value);

		g_ptr_array_add(axis->values, formatted);
		if (axis->values->len > MAX_RANGE)
			return wrong(r, "\"%s\" has more than %u values", text, MAX_RANGE);
		if (*step == '*' ? value > high / by : value > high - MIN(by, high))
			break;
		value = *step == '*' ? value * by : value + by;
	}
	return true;
}

static bool add_values(struct reader *r, const char *member, const char *inner, const char *key,
		       json_t *list)
{
	struct sweep_axis *axis = sweep_axis_add(r->plan, key);
	json_t *value;
	size_t i;

	at(r, member, inner, -1);
	if (json_is_string(list) && strstr(json_string_value(list), ".."))
		return add_range(r, axis, json_string_value(list));
	if (!json_is_array(list) || !json_array_size(list))
		return wrong(r, "%s: a list of values, or a range \"A..B*2\"", key);
	json_array_foreach(list, i, value)
	{
		char *text = value_text(value);

		at(r, member, inner, (int)i);
		if (!text)
			return wrong(r, "%s: a string or an integer is needed", key);
		for (guint j = 0; j < axis->values->len; j++) {
			if (!strcmp(g_ptr_array_index(axis->values, j), text)) {
				wrong(r, "%s: %s stands there twice", key, text);
				g_free(text);
				return false;
			}
		}
		g_ptr_array_add(axis->values, text);
	}
	return true;
}

static bool read_traces(struct reader *r, json_t *list)
{
	struct sweep_axis *axis;

	if (!add_values(r, "traces", NULL, "trace", list))
		return false;
	axis = g_ptr_array_index(r->plan->axes, 0);
	for (guint i = 0; i < axis->values->len; i++) {
		char *path = relative_path(r, g_ptr_array_index(axis->values, i));
		GError *problem = NULL;

		at(r, "traces", NULL, (int)i);
		if (!sweep_trace_add(r->plan, path, NULL, &problem)) {
			g_free(path);
			return wrong_because(r, problem);
		}
		g_free(path);
	}
	return true;
}

/* seeds: 5 (1 to 5) or a list */
static bool read_seeds(struct reader *r, json_t *seeds)
{
	struct sweep_axis *axis;

	if (!seeds)
		return true;
	if (!json_is_integer(seeds))
		return add_values(r, "seeds", NULL, "seed", seeds);
	at(r, "seeds", NULL, -1);
	if (json_integer_value(seeds) < 1 || json_integer_value(seeds) > MAX_RANGE)
		return wrong(r, "\"seeds\" is 1 to %u, or a list", MAX_RANGE);
	axis = sweep_axis_add(r->plan, "seed");
	for (json_int_t s = 1; s <= json_integer_value(seeds); s++)
		g_ptr_array_add(axis->values, g_strdup_printf("%" JSON_INTEGER_FORMAT, s));
	return true;
}

static bool read_axes(struct reader *r, json_t *axes)
{
	const char *key;
	json_t *value;

	at(r, "axes", NULL, -1);
	if (axes && !json_is_object(axes))
		return wrong(r, "\"axes\" is an object: setting to list of values");
	json_object_foreach(axes, key, value)
	{
		if (!add_values(r, "axes", key, strcmp(key, "memory") ? key : "memory.max", value))
			return false;
	}
	return true;
}

/* Settings of the machine file and of "set", remembered one by one. */
static bool read_base(struct reader *r, json_t *root)
{
	json_t *machine = json_object_get(root, "machine"), *set = json_object_get(root, "set");
	GError *problem = NULL;
	const char *key;
	json_t *value;

	at(r, "machine", NULL, -1);
	if (machine && !json_is_string(machine))
		return wrong(r, "\"machine\" is the path of a machine file");
	if (machine) {
		char *path = relative_path(r, json_string_value(machine));
		bool ok = sweep_base_machine(r->plan, path, &problem);

		g_free(path);
		if (!ok)
			return wrong_because(r, problem);
	}
	at(r, "set", NULL, -1);
	if (set && !json_is_object(set))
		return wrong(r, "\"set\" is an object of settings");
	json_object_foreach(set, key, value)
	{
		char *text = value_text(value);
		bool is_text = text != NULL;
		bool ok = text && sweep_base_set(r->plan, key, text, &problem);

		at(r, "set", key, -1);
		g_free(text);
		if (!ok)
			return is_text ? wrong_because(r, problem)
				       : wrong(r, "%s: a string or an integer is needed", key);
	}
	return true;
}

static bool check_members(struct reader *r, json_t *root)
{
	static const char *const members[] = { "sweep", "traces",  "policies", "axes",
					       "seeds", "machine", "set",      NULL };
	const char *key;
	json_t *value;

	json_object_foreach(root, key, value)
	{
		if (g_strv_contains(members, key) || !strcmp(key, "comment") ||
		    !strcmp(key, "$schema"))
			continue;
		at(r, key, NULL, -1);
		return wrong(r,
			     "unknown member \"%s\"; a sweep has sweep, traces, policies, axes, "
			     "seeds, machine and set",
			     key);
	}
	return true;
}

/* Every value of every axis must be valid by itself: better now than in cell 90,000. */
static bool try_values(struct reader *r)
{
	for (guint a = 0; a < r->plan->axes->len; a++) {
		const struct sweep_axis *axis = g_ptr_array_index(r->plan->axes, a);
		bool seeds = !strcmp(axis->key, "seed");

		if (!strcmp(axis->key, "trace") || !strcmp(axis->key, "policy"))
			continue;
		at(r, seeds ? "seeds" : "axes", seeds ? NULL : axis->key, -1);
		for (guint v = 0; v < axis->values->len; v++) {
			struct rs_scenario *scenario = rs_scenario_copy(r->plan->base);
			const char *value = g_ptr_array_index(axis->values, v);
			g_autofree char *pages = NULL;
			GError *problem = NULL;
			bool ok;

			if (footprint_is_share(axis->key, value))
				value = pages = footprint_share(1, value, &problem);
			ok = value && rs_scenario_set(scenario, axis->key, value, &problem);
			rs_scenario_free(scenario);
			if (!ok)
				return wrong_because(r, problem);
		}
	}
	return true;
}

static bool count_footprints(struct reader *r)
{
	GError *problem = NULL;

	at(r, "traces", NULL, -1);
	return sweep_plan_footprints(r->plan, &problem) || wrong_because(r, problem);
}

static bool read_spec(struct reader *r)
{
	json_t *root = r->json->root;
	const char *name = json_string_value(json_object_get(root, "sweep"));

	if (!json_is_object(root) || !name)
		return wrong(r, "a sweep is an object with \"sweep\" (its name), \"traces\", "
				"\"policies\" and \"axes\"");
	r->plan->name = g_strdup(name);
	return check_members(r, root) && read_traces(r, json_object_get(root, "traces")) &&
	       add_values(r, "policies", NULL, "policy", json_object_get(root, "policies")) &&
	       read_base(r, root) && read_axes(r, json_object_get(root, "axes")) &&
	       read_seeds(r, json_object_get(root, "seeds")) && try_values(r) &&
	       count_footprints(r);
}

struct sweep_plan *sweep_plan_from_spec(const char *path, GError **error)
{
	struct rs_json *json = rs_json_load(path, error);
	GError *problem = NULL;
	struct reader reader = { .json = json, .error = &problem };

	if (!json)
		return NULL;
	reader.plan = sweep_plan_new();
	reader.folder = g_path_get_dirname(path);
	if (!read_spec(&reader) || !sweep_plan_count(reader.plan, &problem)) {
		g_propagate_error(error, problem);
		sweep_plan_free(reader.plan);
		reader.plan = NULL;
	}
	g_free(reader.folder);
	rs_json_free(json);
	return reader.plan;
}
