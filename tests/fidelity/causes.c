/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * causes.c - an array of {"variant", "trace", "kernel", "policy", "counter", "cause"}; all but the
 * cause are globs and may be left out.
 */
#include "causes.h"

#include "sim/base/json.h"

struct causes {
	struct rs_json *json;
};

struct causes *causes_read(const char *path, GError **error)
{
	struct rs_json *json = rs_json_load(path, error);
	struct causes *causes;

	if (!json)
		return NULL;
	causes = g_new0(struct causes, 1);
	causes->json = json;
	return causes;
}

void causes_free(struct causes *causes)
{
	if (!causes)
		return;
	rs_json_free(causes->json);
	g_free(causes);
}

static bool fits(const json_t *entry, const char *key, const char *value)
{
	const char *glob = json_string_value(json_object_get(entry, key));

	return !glob || g_pattern_match_simple(glob, value);
}

const char *causes_find(const struct causes *causes, const struct truth_case *c,
			const char *counter)
{
	const json_t *entry;
	size_t i;

	json_array_foreach(causes->json->root, i, entry)
	{
		if (fits(entry, "variant", c->variant) && fits(entry, "trace", c->trace) &&
		    fits(entry, "kernel", c->kernel) && fits(entry, "policy", c->lru) &&
		    fits(entry, "counter", counter))
			return json_string_value(json_object_get(entry, "cause"));
	}
	return NULL;
}
