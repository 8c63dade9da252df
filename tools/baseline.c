/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * baseline.c - reading and writing stored numbers.
 */
#include "tools/baseline.h"
#include "tools/tools.h"
#include "sim/base/json.h"

#include <math.h>
#include <string.h>

struct baseline *baseline_new(void)
{
	struct baseline *baseline = g_new0(struct baseline, 1);

	baseline->cases = json_object();
	return baseline;
}

void baseline_free(struct baseline *baseline)
{
	if (!baseline)
		return;
	json_decref(baseline->cases);
	g_free(baseline);
}

struct baseline *baseline_load(const char *path, GError **error)
{
	static const char *const nowhere[] = { NULL };
	struct baseline *baseline = baseline_new();
	struct rs_json *json;
	json_t *cases;

	if (!g_file_test(path, G_FILE_TEST_EXISTS))
		return baseline;
	json = rs_json_load(path, error);
	if (!json) {
		baseline_free(baseline);
		return NULL;
	}
	cases = json_object_get(json->root, "cases");
	if (!json_is_object(cases)) {
		rs_json_error(json, error, nowhere, "a baseline is an object with \"cases\"");
		baseline_free(baseline);
		baseline = NULL;
	} else {
		json_decref(baseline->cases);
		baseline->cases = json_incref(cases);
	}
	rs_json_free(json);
	return baseline;
}

bool baseline_get(const struct baseline *baseline, const char *name, const char *counter,
		  double *ret, const char **ret_trace)
{
	json_t *entry = json_object_get(baseline->cases, name);
	json_t *value = json_object_get(json_object_get(entry, "counters"), counter);

	*ret_trace = json_string_value(json_object_get(entry, "trace"));
	if (!json_is_number(value))
		return false;
	*ret = json_number_value(value);
	return true;
}

void baseline_set(struct baseline *baseline, const char *name, const char *trace,
		  const char *counter, double value)
{
	json_t *entry = json_object_get(baseline->cases, name);

	if (!entry) {
		entry = json_pack("{s:s, s:{}}", "trace", trace ? trace : "", "counters");
		json_object_set_new(baseline->cases, name, entry);
	}
	json_object_set_new(json_object_get(entry, "counters"), counter,
			    value == floor(value) && fabs(value) < 9e15
				    ? json_integer((json_int_t)value)
				    : json_real(value));
}

bool baseline_save(const struct baseline *baseline, const char *path, GError **error)
{
	json_t *object = json_object();
	char *dump, *text;
	bool ok;

	json_object_set_new(object, "schema", json_string("reclaimsim.baseline/1"));
	json_object_set(object, "cases", baseline->cases);
	dump = json_dumps(object, JSON_INDENT(2) | JSON_SORT_KEYS | JSON_REAL_PRECISION(9));
	text = g_strconcat(dump, "\n", NULL);
	ok = output_write(path, text, error);
	g_free(text);
	free(dump);
	json_decref(object);
	return ok;
}
