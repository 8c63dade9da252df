/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * value.c - one value of a setting: text to field, field to JSON, and what is valid.
 */
#include "sim/scenario/settings.h"
#include "sim/base/units.h"

#include <string.h>

_Static_assert(sizeof(enum rs_kernel) == sizeof(int), "enums are stored as int");

/* A field is an int64_t or uint64_t, a uint32_t, an enum or a bool, as its type says. */
static void store(const struct setting *setting, int64_t value, void *field)
{
	switch (setting->type) {
	case SET_U32:
		*(uint32_t *)field = (uint32_t)value;
		break;
	case SET_BOOL:
	case SET_ENUM_BOOL:
		*(bool *)field = value != 0;
		break;
	case SET_ENUM:
		*(int *)field = (int)value;
		break;
	default:
		*(int64_t *)field = value; /* uint64_t has the same representation */
	}
}

static int64_t fetch(const struct setting *setting, const void *field)
{
	switch (setting->type) {
	case SET_U32:
		return *(const uint32_t *)field;
	case SET_BOOL:
	case SET_ENUM_BOOL:
		return *(const bool *)field;
	case SET_ENUM:
		return *(const int *)field;
	default:
		return *(const int64_t *)field;
	}
}

void setting_store_default(const struct setting *setting, enum rs_kernel kernel, void *field)
{
	store(setting, setting_default(setting, kernel), field);
}

static bool parse_enum(const struct setting *setting, const char *text, int64_t *ret,
		       GError **error)
{
	char *range;

	for (int i = 0; setting->choices[i]; i++) {
		if (*text && !strcmp(setting->choices[i], text)) {
			*ret = i;
			return true;
		}
	}
	range = setting_range(setting);
	g_set_error(error, RS_ERROR, RS_ERROR_USAGE, "\"%s\" is none of %s", text, range);
	g_free(range);
	return false;
}

/* Decimal or, as sysfs prints it, 0x0007. */
static bool parse_mask(const char *text, int64_t *ret, GError **error)
{
	char *end;
	guint64 value;

	if (!g_str_has_prefix(text, "0x"))
		return rs_parse_int(text, 0, INT64_MAX, ret, error);
	value = g_ascii_strtoull(text + 2, &end, 16);
	if (!g_ascii_isxdigit(text[2]) || *end || value > INT64_MAX) {
		g_set_error(error, RS_ERROR, RS_ERROR_USAGE, "\"%s\" is not a bit mask", text);
		return false;
	}
	*ret = (int64_t)value;
	return true;
}

static bool parse_number(const struct setting *setting, const char *text, int64_t *ret,
			 GError **error)
{
	uint64_t value = 0;
	bool boolean, ok;

	switch (setting->type) {
	case SET_BOOL:
	case SET_INTBOOL:
		ok = rs_parse_bool(text, &boolean, error);
		value = ok && boolean;
		break;
	case SET_SIZE:
	case SET_LIMIT:
	case SET_RATE:
		ok = rs_parse_size(text, &value, error);
		break;
	case SET_PAGES:
		ok = rs_parse_pages(text, &value, error);
		break;
	case SET_TIME:
	case SET_NS:
		ok = rs_parse_time(text, &value, error);
		break;
	case SET_KIB:
		ok = rs_parse_u64(text, &value, error);
		value = value > (uint64_t)setting->max / 1024 ? UINT64_MAX : value * 1024;
		break;
	default:
		ok = rs_parse_u64(text, &value, error);
	}
	/* What does not fit is out of every range below. */
	*ret = value > INT64_MAX ? INT64_MAX : (int64_t)value;
	return ok;
}

static bool check_range(const struct setting *setting, const char *text, int64_t value,
			GError **error)
{
	char *range;

	if (value >= setting->min && value <= setting->max) {
		if (setting->offset != offsetof(struct rs_config, fault_around_bytes) ||
		    setting->scope != SCOPE_MACHINE || (value & (value - 1)) == 0)
			return true;
		g_set_error(error, RS_ERROR, RS_ERROR_USAGE, "%s is not a power of two", text);
		return false;
	}
	range = setting_range(setting);
	g_set_error(error, RS_ERROR, RS_ERROR_USAGE, "%s is out of range (%s)", text, range);
	g_free(range);
	return false;
}

bool setting_parse(const struct setting *setting, const char *text, void *field, GError **error)
{
	int64_t value;

	if (setting->automatic && !strcmp(text, "auto")) {
		store(setting, -1, field);
		return true;
	}
	switch (setting->type) {
	case SET_ENUM:
	case SET_ENUM_BOOL:
		if (!parse_enum(setting, text, &value, error))
			return false;
		break;
	case SET_MASK:
		if (!parse_mask(text, &value, error) || !check_range(setting, text, value, error))
			return false;
		break;
	case SET_LIMIT:
		if (!strcmp(text, "max")) {
			value = -1; /* RS_UNLIMITED */
			break;
		}
		/* fall through */
	default:
		if (!parse_number(setting, text, &value, error) ||
		    !check_range(setting, text, value, error))
			return false;
	}
	store(setting, value, field);
	return true;
}

json_t *setting_json(const struct setting *setting, const void *field)
{
	int64_t value = fetch(setting, field);

	if (setting->automatic && value == -1)
		return json_string("auto");
	switch (setting->type) {
	case SET_LIMIT:
		return value == -1 ? json_string("max") : json_integer(value);
	case SET_ENUM:
	case SET_ENUM_BOOL:
		return json_string(setting->choices[value]);
	case SET_BOOL:
	case SET_INTBOOL:
		return json_integer(value != 0);
	case SET_KIB:
		return json_integer(value / 1024);
	default:
		return json_integer(value);
	}
}

static char *enum_range(const struct setting *setting)
{
	GString *range = g_string_new(NULL);

	for (unsigned i = 0; setting->choices[i]; i++) {
		if (*setting->choices[i])
			g_string_append_printf(range, "%s%s", range->len ? ", " : "",
					       setting->choices[i]);
	}
	return g_string_free(range, FALSE);
}

/* "0 to 200", "4K to 2M", "0 to max". */
char *setting_range(const struct setting *setting)
{
	const char *tail = setting->automatic ? ", auto" : "";
	char *low, *high, *range;

	switch (setting->type) {
	case SET_ENUM:
	case SET_ENUM_BOOL:
		return enum_range(setting);
	case SET_BOOL:
	case SET_INTBOOL:
		return g_strdup("0 or 1");
	case SET_LIMIT:
		return g_strdup("size or max");
	case SET_SIZE:
	case SET_RATE:
		low = rs_format_size((uint64_t)setting->min);
		high = rs_format_size((uint64_t)setting->max);
		range = g_strdup_printf("%s to %s%s", low, high, tail);
		g_free(low);
		g_free(high);
		return range;
	case SET_KIB:
		return g_strdup_printf("%" PRId64 " to %" PRId64 " KiB", setting->min / 1024,
				       setting->max / 1024);
	case SET_PAGES:
		return g_strdup_printf("pages%s", tail);
	case SET_TIME:
	case SET_NS:
		return g_strdup_printf("%" PRId64 " to %" PRId64 " ns%s", setting->min,
				       setting->max, tail);
	case SET_U64:
		return g_strdup("0 to 2^63-1");
	default:
		return g_strdup_printf("%" PRId64 " to %" PRId64 "%s", setting->min, setting->max,
				       tail);
	}
}
