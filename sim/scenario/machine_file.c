/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * machine_file.c - settings from a JSON file: flat names, or nested objects joined by dots.
 *
 * "comment" and "$schema" are for people and editors and mean nothing here.
 */
#include "sim/scenario/settings.h"
#include "sim/base/json.h"

#include <string.h>

#define MAX_DEPTH 8

/* The value as one would write it behind --set; NULL: no such value. */
static char *value_text(const json_t *value)
{
	switch (json_typeof(value)) {
	case JSON_STRING:
		return g_strdup(json_string_value(value));
	case JSON_INTEGER:
		return g_strdup_printf("%" JSON_INTEGER_FORMAT, json_integer_value(value));
	case JSON_TRUE:
		return g_strdup("1");
	case JSON_FALSE:
		return g_strdup("0");
	default:
		return NULL;
	}
}

static bool load_one(struct rs_scenario *scenario, const struct rs_json *json,
		     const char *const *where, const char *name, const json_t *value,
		     GError **error)
{
	char *text = value_text(value);
	GError *problem = NULL;

	if (!text) {
		rs_json_error(json, error, where,
			      "%s: a string, an integer, true or false is needed", name);
		return false;
	}
	if (!rs_scenario_set(scenario, name, text, &problem)) {
		rs_json_error(json, error, where, "%s", problem->message);
		g_error_free(problem);
	}
	g_free(text);
	return !problem;
}

static bool load_object(struct rs_scenario *scenario, const struct rs_json *json, json_t *object,
			const char **where, unsigned depth, const char *prefix, GError **error)
{
	const char *key;
	json_t *value;

	json_object_foreach(object, key, value)
	{
		char *name = g_strconcat(prefix, *prefix ? "." : "", key, NULL);
		bool ok = true;

		where[depth] = key;
		where[depth + 1] = NULL;
		if (!strcmp(key, "comment") || !strcmp(key, "$schema"))
			; /* not a setting */
		else if (json_is_object(value) && depth + 2 < MAX_DEPTH)
			ok = load_object(scenario, json, value, where, depth + 1, name, error);
		else
			ok = load_one(scenario, json, where, name, value, error);
		g_free(name);
		if (!ok)
			return false;
	}
	return true;
}

bool rs_scenario_load(struct rs_scenario *scenario, const char *path, GError **error)
{
	const char *where[MAX_DEPTH + 1] = { NULL };
	struct rs_json *json = rs_json_load(path, error);
	bool ok;

	if (!json)
		return false;
	if (json_is_object(json->root)) {
		ok = load_object(scenario, json, json->root, where, 0, "", error);
	} else {
		rs_json_error(json, error, where, "a machine file is one object of settings");
		ok = false;
	}
	rs_json_free(json);
	return ok;
}
