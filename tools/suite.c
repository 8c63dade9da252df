/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * suite.c - reading a suite, with the place of every mistake.
 */
#include "tools/suite.h"
#include "tools/scenario_options.h"
#include "sim/base/units.h"

#include <string.h>

#define MAX_SEEDS 1000

/* Where in the file: scenarios, index, member, index. */
struct reader {
	struct suite *suite;
	char *folder;
	char numbers[2][16];
	const char *where[6];
	GError **error;
};

static void at(struct reader *r, int scenario, const char *member, int index)
{
	g_snprintf(r->numbers[0], sizeof(r->numbers[0]), "%d", scenario);
	g_snprintf(r->numbers[1], sizeof(r->numbers[1]), "%d", index);
	r->where[0] = "scenarios";
	r->where[1] = scenario >= 0 ? r->numbers[0] : NULL;
	r->where[2] = scenario >= 0 ? member : NULL;
	r->where[3] = index >= 0 ? r->numbers[1] : NULL;
	r->where[4] = NULL;
}

/* Error at the present place; false. */
static bool wrong(struct reader *r, const char *format, ...) G_GNUC_PRINTF(2, 3);
static bool wrong(struct reader *r, const char *format, ...)
{
	va_list args;
	char *text;

	va_start(args, format);
	text = g_strdup_vprintf(format, args);
	va_end(args);
	g_clear_error(r->error); /* the last word is the most general one */
	rs_json_error(r->suite->json, r->error, r->where, "%s", text);
	g_free(text);
	return false;
}

/* Pass on the message of an inner error with the present place. */
static bool wrong_because(struct reader *r, GError *problem)
{
	wrong(r, "%s", problem->message);
	g_error_free(problem);
	return false;
}

static void column_free(void *data)
{
	struct suite_column *column = data;

	for (unsigned i = 0; column->scenarios && column->scenarios[i]; i++)
		rs_scenario_free(column->scenarios[i]);
	g_free(column->scenarios);
	g_free(column->name);
	g_free(column->policy);
	g_free(column);
}

static void assertion_free(void *data)
{
	struct suite_assertion *assertion = data;

	expr_free(assertion->expr);
	g_free(assertion->text);
	g_free(assertion);
}

static void metric_free(void *data)
{
	struct suite_metric *metric = data;

	g_free(metric->name);
	g_free(metric);
}

static void scenario_free(void *data)
{
	struct suite_scenario *scenario = data;

	g_ptr_array_unref(scenario->columns);
	g_ptr_array_unref(scenario->assertions);
	g_ptr_array_unref(scenario->metrics);
	g_free(scenario->name);
	g_free(scenario->trace);
	g_free(scenario);
}

void suite_free(struct suite *suite)
{
	if (!suite)
		return;
	g_ptr_array_unref(suite->scenarios);
	rs_json_free(suite->json);
	g_free(suite->name);
	g_free(suite->baseline);
	g_free(suite);
}

static char *relative_path(const struct reader *r, const char *path)
{
	return g_path_is_absolute(path) ? g_strdup(path) : g_build_filename(r->folder, path, NULL);
}

/* Only these members may stand in an object. */
static bool check_members(struct reader *r, json_t *object, const char *const *allowed)
{
	const char *key, *nearest;
	json_t *value;

	json_object_foreach(object, key, value)
	{
		if (g_strv_contains(allowed, key) || !strcmp(key, "comment") ||
		    !strcmp(key, "$schema"))
			continue;
		nearest = rs_nearest(key, allowed);
		return wrong(r, "unknown member \"%s\"%s%s%s", key,
			     nearest ? ", did you mean \"" : "", nearest ? nearest : "",
			     nearest ? "\"?" : "");
	}
	return true;
}

/* Settings of an object "set" into the scenario. */
static bool apply_settings(struct reader *r, struct rs_scenario *scenario, json_t *set)
{
	GError *problem = NULL;
	const char *key;
	json_t *value;

	if (set && !json_is_object(set))
		return wrong(r, "\"set\" is an object of settings");
	json_object_foreach(set, key, value)
	{
		char *text = json_is_string(value)    ? g_strdup(json_string_value(value))
			     : json_is_integer(value) ? g_strdup_printf("%" JSON_INTEGER_FORMAT,
									json_integer_value(value))
						      : NULL;
		bool ok = text && rs_scenario_set(scenario, key, text, &problem);
		bool is_text = text != NULL;

		g_free(text);
		if (ok)
			continue;
		return is_text ? wrong_because(r, problem)
			       : wrong(r, "%s: a string or an integer is needed", key);
	}
	return true;
}

/* Machine file, settings and kernel of a scenario. */
static struct rs_scenario *base_scenario(struct reader *r, json_t *object)
{
	struct rs_scenario *scenario = rs_scenario_new();
	json_t *machine = json_object_get(object, "machine");
	json_t *kernel = json_object_get(object, "kernel");
	GError *problem = NULL;
	bool ok = true;

	if (machine && !json_is_string(machine)) {
		ok = wrong(r, "\"machine\" is the path of a machine file");
	} else if (machine) {
		char *path = relative_path(r, json_string_value(machine));

		ok = rs_scenario_load(scenario, path, &problem);
		g_free(path);
	}
	if (ok && !problem && kernel) {
		if (json_is_string(kernel))
			ok = rs_scenario_set_kernel(scenario, json_string_value(kernel), &problem);
		else
			ok = wrong(r, "\"kernel\" is a string such as \"6.12\"");
	}
	if (problem)
		ok = wrong_because(r, problem);
	if (ok && apply_settings(r, scenario, json_object_get(object, "set")))
		return scenario;
	rs_scenario_free(scenario);
	return NULL;
}

static char *column_name(const char *policy)
{
	char *name = g_strndup(policy, strcspn(policy, ":"));

	return g_strdelimit(name, "-./ ", '_');
}

/* The column's scenarios: base, its own settings, and a seed each. */
static bool set_column_scenarios(struct reader *r, struct suite_column *column, unsigned nr_seeds,
				 const struct rs_scenario *base, json_t *set)
{
	GError *problem = NULL;

	column->scenarios = g_new0(struct rs_scenario *, nr_seeds + 1);
	for (unsigned s = 0; s < nr_seeds; s++) {
		struct rs_scenario *scenario = rs_scenario_copy(base);
		char seed[16];

		column->scenarios[s] = scenario;
		if (!apply_settings(r, scenario, set))
			return false;
		g_snprintf(seed, sizeof(seed), "%u", s + 1);
		if (nr_seeds > 1)
			rs_scenario_set(scenario, "seed", seed, NULL);
		if (!rs_scenario_check(scenario, &problem))
			return wrong_because(r, problem);
	}
	return true;
}

/* "mglru", or {"name": ..., "policy": ..., "set": {...}} */
static bool read_column(struct reader *r, struct suite_scenario *scenario,
			const struct rs_scenario *base, json_t *value)
{
	static const char *const members[] = { "name", "policy", "set", NULL };
	struct suite_column *column = g_new0(struct suite_column, 1);
	const char *policy = json_string_value(value), *name = NULL;

	g_ptr_array_add(scenario->columns, column);
	if (json_is_object(value)) {
		policy = json_string_value(json_object_get(value, "policy"));
		name = json_string_value(json_object_get(value, "name"));
		if (!check_members(r, value, members))
			return false;
	}
	if (!policy)
		return wrong(r, "a policy is \"NAME\" or {\"name\": ..., \"policy\": ...}");
	column->policy = g_strdup(policy);
	column->name = name ? g_strdup(name) : column_name(policy);
	for (guint i = 0; i + 1 < scenario->columns->len; i++) {
		const struct suite_column *other = g_ptr_array_index(scenario->columns, i);

		if (!strcmp(other->name, column->name))
			return wrong(r, "two policies are called \"%s\": give them a \"name\"",
				     column->name);
	}
	return set_column_scenarios(r, column, scenario->nr_seeds, base,
				    json_object_get(value, "set"));
}

static bool read_columns(struct reader *r, int number, struct suite_scenario *scenario,
			 json_t *object)
{
	json_t *policies = json_object_get(object, "policies"), *value;
	struct rs_scenario *base;
	size_t i;
	bool ok = true;

	at(r, number, "policies", -1);
	if (!json_is_array(policies) || !json_array_size(policies))
		return wrong(r, "\"policies\" is a list of at least one policy");
	at(r, number, NULL, -1);
	base = base_scenario(r, object);
	if (!base)
		return false;
	json_array_foreach(policies, i, value)
	{
		at(r, number, "policies", (int)i);
		ok = ok && read_column(r, scenario, base, value);
	}
	rs_scenario_free(base);
	return ok;
}

static bool read_assertions(struct reader *r, int number, struct suite_scenario *scenario,
			    json_t *checks)
{
	json_t *value;
	size_t i;

	at(r, number, "checks", -1);
	if (checks && !json_is_array(checks))
		return wrong(r, "\"checks\" is a list of assertions");
	json_array_foreach(checks, i, value)
	{
		struct suite_assertion *assertion = g_new0(struct suite_assertion, 1);
		GError *problem = NULL;

		g_ptr_array_add(scenario->assertions, assertion);
		at(r, number, "checks", (int)i);
		if (!json_is_string(value))
			return wrong(r, "an assertion is a string such as "
					"\"mglru.pswpin <= classic.pswpin\"");
		assertion->text = g_strdup(json_string_value(value));
		assertion->expr = expr_parse(assertion->text, &problem);
		if (!assertion->expr)
			return wrong_because(r, problem);
	}
	return true;
}

static bool read_direction(struct reader *r, json_t *value, enum suite_direction *ret)
{
	static const char *const names[] = { "either", "lower", "higher", NULL };

	for (int i = 0; value && names[i]; i++) {
		if (json_is_string(value) && !strcmp(json_string_value(value), names[i])) {
			*ret = (enum suite_direction)i;
			return true;
		}
	}
	return !value || wrong(r, "\"direction\" is lower, higher or either");
}

/* {"pgmajfault": {"rel": 0.02, "abs": 10, "direction": "lower"}, ...} */
static bool read_metrics(struct reader *r, int number, struct suite_scenario *scenario,
			 json_t *metrics)
{
	static const char *const members[] = { "rel", "abs", "direction", NULL };
	const char *key;
	json_t *value;

	at(r, number, "metrics", -1);
	if (metrics && !json_is_object(metrics))
		return wrong(r, "\"metrics\" is an object of counters and tolerances");
	json_object_foreach(metrics, key, value)
	{
		struct suite_metric *metric = g_new0(struct suite_metric, 1);
		json_t *rel = json_object_get(value, "rel"), *abs = json_object_get(value, "abs");

		g_ptr_array_add(scenario->metrics, metric);
		metric->name = g_strdup(key);
		r->where[3] = key;
		r->where[4] = NULL;
		if (!json_is_object(value) || !check_members(r, value, members) ||
		    (rel && !json_is_number(rel)) || (abs && !json_is_number(abs)))
			return wrong(r, "a tolerance is {\"rel\": 0.02, \"abs\": 10}, with "
					"\"direction\" if need be");
		metric->relative = json_number_value(rel);
		metric->absolute = json_number_value(abs);
		if (metric->relative < 0 || metric->absolute < 0)
			return wrong(r, "a tolerance is not negative");
		if (!read_direction(r, json_object_get(value, "direction"), &metric->direction))
			return false;
	}
	return true;
}

static bool read_seeds(struct reader *r, int number, json_t *seeds, unsigned *ret)
{
	at(r, number, "seeds", -1);
	if (seeds && (!json_is_integer(seeds) || json_integer_value(seeds) < 1 ||
		      json_integer_value(seeds) > MAX_SEEDS))
		return wrong(r, "\"seeds\" is 1 to %d", MAX_SEEDS);
	*ret = seeds ? (unsigned)json_integer_value(seeds) : 1;
	return true;
}

static bool read_scenario(struct reader *r, int number, json_t *object)
{
	static const char *const members[] = { "name",	   "trace", "kernel", "machine", "set",
					       "policies", "seeds", "checks", "metrics", NULL };
	struct suite_scenario *scenario = g_new0(struct suite_scenario, 1);
	const char *name = json_string_value(json_object_get(object, "name"));
	const char *trace = json_string_value(json_object_get(object, "trace"));

	scenario->columns = g_ptr_array_new_with_free_func(column_free);
	scenario->assertions = g_ptr_array_new_with_free_func(assertion_free);
	scenario->metrics = g_ptr_array_new_with_free_func(metric_free);
	g_ptr_array_add(r->suite->scenarios, scenario);
	at(r, number, NULL, -1);
	if (!json_is_object(object) || !name || !*name || !trace)
		return wrong(r, "a scenario is an object with at least \"name\", \"trace\" and "
				"\"policies\"");
	if (!check_members(r, object, members))
		return false;
	scenario->name = g_strdup(name);
	scenario->trace = relative_path(r, trace);
	return read_seeds(r, number, json_object_get(object, "seeds"), &scenario->nr_seeds) &&
	       read_columns(r, number, scenario, object) &&
	       read_assertions(r, number, scenario, json_object_get(object, "checks")) &&
	       read_metrics(r, number, scenario, json_object_get(object, "metrics"));
}

static bool read_suite(struct reader *r)
{
	static const char *const members[] = { "suite", "baseline", "scenarios", NULL };
	json_t *root = r->suite->json->root, *scenarios = json_object_get(root, "scenarios"),
	       *value;
	const char *name = json_string_value(json_object_get(root, "suite"));
	const char *baseline = json_string_value(json_object_get(root, "baseline"));
	size_t i;

	if (!json_is_object(root) || !name || !json_is_array(scenarios) ||
	    !json_array_size(scenarios))
		return wrong(r, "a suite is an object with \"suite\" (its name) and \"scenarios\"");
	if (!check_members(r, root, members))
		return false;
	r->suite->name = g_strdup(name);
	r->suite->baseline = baseline ? relative_path(r, baseline) : NULL;
	json_array_foreach(scenarios, i, value)
	{
		if (!read_scenario(r, (int)i, value))
			return false;
	}
	return true;
}

struct suite *suite_load(const char *path, GError **error)
{
	struct suite *suite = g_new0(struct suite, 1);
	GError *problem = NULL;
	struct reader reader = { .suite = suite, .error = &problem };

	suite->scenarios = g_ptr_array_new_with_free_func(scenario_free);
	suite->json = rs_json_load(path, error);
	if (!suite->json) {
		suite_free(suite);
		return NULL;
	}
	reader.folder = g_path_get_dirname(path);
	if (!read_suite(&reader)) {
		g_propagate_error(error, problem);
		suite_free(suite);
		suite = NULL;
	}
	g_free(reader.folder);
	return suite;
}
