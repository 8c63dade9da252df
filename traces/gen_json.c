/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gen_json.c - members of a spec's objects, by type and range. A member that no reader asked for
 * is refused by name, so a misspelt one does not pass silently.
 */
#include "traces/gen.h"

#include <math.h>

#include "sim/base/units.h"

char *gen_path(const struct gen_object *o, const char *key, int index)
{
	g_autofree char *path = g_strdup_printf("%s%s%s", o->path, *o->path ? "." : "", key);

	return index < 0 ? g_steal_pointer(&path) : g_strdup_printf("%s[%d]", path, index);
}

void gen_object_fail(struct gen_object *o, const char *key, const char *format, ...)
{
	va_list args;
	g_autofree char *text = NULL, *path = key ? gen_path(o, key, -1) : g_strdup(o->path);

	va_start(args, format);
	text = g_strdup_vprintf(format, args);
	va_end(args);
	gen_fail(o->g, RS_ERROR_INPUT, "%s: %s: %s", o->file, *path ? path : "top level", text);
}

bool gen_object_init(struct gen_object *o, struct gen *g, const char *file, const char *path,
		     json_t *object)
{
	*o = (struct gen_object){ .g = g, .file = file, .path = g_strdup(path), .object = object };
	o->used = g_hash_table_new(g_str_hash, g_str_equal);
	if (json_is_object(object))
		return true;
	gen_object_fail(o, NULL, "an object { ... } is needed");
	o->object = NULL;
	return false;
}

void gen_object_done(struct gen_object *o)
{
	const char *key;
	json_t *value;

	if (o->object && !gen_failed(o->g)) {
		json_object_foreach(o->object, key, value)
		{
			if (!g_hash_table_contains(o->used, key) && *key != '$') {
				gen_object_fail(o, key, "unknown member");
				break;
			}
		}
	}
	g_hash_table_unref(o->used);
	g_free(o->path);
}

json_t *gen_member(struct gen_object *o, const char *key)
{
	g_hash_table_add(o->used, (gpointer)key);
	return o->object ? json_object_get(o->object, key) : NULL;
}

uint64_t gen_int(struct gen_object *o, const char *key, uint64_t def, uint64_t min, uint64_t max)
{
	json_t *m = gen_member(o, key);

	if (!m)
		return def;
	if (!json_is_integer(m) || json_integer_value(m) < 0 ||
	    (uint64_t)json_integer_value(m) < min || (uint64_t)json_integer_value(m) > max) {
		gen_object_fail(o, key,
				"valid are whole numbers from %" G_GUINT64_FORMAT
				" to %" G_GUINT64_FORMAT,
				min, max);
		return def;
	}
	return (uint64_t)json_integer_value(m);
}

double gen_real(struct gen_object *o, const char *key, double def, double min, double max)
{
	json_t *m = gen_member(o, key);

	if (!m)
		return def;
	if (!json_is_number(m) || !(json_number_value(m) >= min && json_number_value(m) <= max)) {
		gen_object_fail(o, key, "valid are numbers from %g to %g", min, max);
		return def;
	}
	return json_number_value(m);
}

bool gen_flag(struct gen_object *o, const char *key, bool def)
{
	json_t *m = gen_member(o, key);

	if (!m)
		return def;
	if (!json_is_boolean(m))
		gen_object_fail(o, key, "valid are true and false");
	return json_is_true(m);
}

const char *gen_string(struct gen_object *o, const char *key, const char *def)
{
	json_t *m = gen_member(o, key);

	if (!m && def)
		return def;
	if (!m || !json_is_string(m) || !*json_string_value(m)) {
		gen_object_fail(o, key,
				m ? "a string that is not empty is needed"
				  : "this member is needed");
		return def ? def : "";
	}
	return json_string_value(m);
}

uint64_t gen_bytes(struct gen_object *o, const char *key, uint64_t def)
{
	json_t *m = gen_member(o, key);
	g_autoptr(GError) error = NULL;
	uint64_t bytes = 0;

	if (!m && def != UINT64_MAX)
		return def;
	if (!m) {
		gen_object_fail(o, key, "this size is needed, such as \"64M\" or \"1000p\"");
		return 0;
	}
	if (json_is_integer(m) && json_integer_value(m) >= 0)
		bytes = (uint64_t)json_integer_value(m);
	else if (!json_is_string(m) || !rs_parse_size(json_string_value(m), &bytes, &error))
		gen_object_fail(
			o, key, "%s",
			error ? error->message
			      : "a size is needed: bytes as a number, or \"64M\", \"1000p\"");
	if (bytes > GEN_MAX_PAGES * RS_PAGE_SIZE) {
		gen_object_fail(o, key, "more than 4 TiB");
		return 0;
	}
	return bytes;
}

uint64_t gen_size_pages(struct gen_object *o, const char *key, uint64_t def)
{
	uint64_t bytes;

	if (def != UINT64_MAX && !gen_member(o, key))
		return def;
	bytes = gen_bytes(o, key, UINT64_MAX);
	return (bytes + RS_PAGE_SIZE - 1) >> RS_PAGE_SHIFT;
}

ns_t gen_duration(struct gen_object *o, const char *key, ns_t def)
{
	json_t *m = gen_member(o, key);
	g_autoptr(GError) error = NULL;
	ns_t ns = 0;

	if (!m)
		return def;
	if (json_is_integer(m) && json_integer_value(m) >= 0)
		ns = (ns_t)json_integer_value(m);
	else if (!json_is_string(m) || !rs_parse_time(json_string_value(m), &ns, &error))
		gen_object_fail(
			o, key, "%s",
			error ? error->message
			      : "a time is needed: nanoseconds as a number, or \"10us\", \"2s\"");
	if (ns > (UINT64_C(1) << 59)) {
		gen_object_fail(o, key, "more than 18 years");
		return 0;
	}
	return ns;
}
