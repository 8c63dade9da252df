/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * units.c - strict parsers for numbers, sizes, times and truth values; nearest words.
 */
#include "sim/base/units.h"

#include <string.h>

/* Digits at the start of text; false if there are none or they do not fit. */
static bool take_digits(const char **text, uint64_t *ret, GError **error)
{
	const char *p = *text;
	uint64_t value = 0;

	if (!g_ascii_isdigit(*p)) {
		g_set_error(error, RS_ERROR, RS_ERROR_USAGE, "\"%s\" is not a number", *text);
		return false;
	}
	for (; g_ascii_isdigit(*p); p++) {
		if (!g_uint64_checked_mul(&value, value, 10) ||
		    !g_uint64_checked_add(&value, value, (uint64_t)(*p - '0'))) {
			g_set_error(error, RS_ERROR, RS_ERROR_USAGE, "\"%s\" is too large a number",
				    *text);
			return false;
		}
	}
	*text = p;
	*ret = value;
	return true;
}

bool rs_parse_u64(const char *text, uint64_t *ret, GError **error)
{
	const char *end = text;
	uint64_t value;

	if (!take_digits(&end, &value, error))
		return false;
	if (*end) {
		g_set_error(error, RS_ERROR, RS_ERROR_USAGE, "\"%s\" is not a whole number", text);
		return false;
	}
	*ret = value;
	return true;
}

bool rs_parse_int(const char *text, int64_t min, int64_t max, int64_t *ret, GError **error)
{
	bool negative = *text == '-' && min < 0;
	uint64_t value;
	int64_t result;

	if (!rs_parse_u64(text + negative, &value, error))
		return false;
	if (value > INT64_MAX)
		value = INT64_MAX;
	result = negative ? -(int64_t)value : (int64_t)value;
	if (result < min || result > max) {
		g_set_error(error, RS_ERROR, RS_ERROR_USAGE,
			    "%s is out of range (%" PRId64 " to %" PRId64 ")", text, min, max);
		return false;
	}
	*ret = result;
	return true;
}

struct unit {
	const char *name;
	uint64_t factor;
};

static const struct unit *find_unit(const struct unit *units, const char *name)
{
	for (; units->name; units++) {
		if (!strcmp(units->name, name))
			return units;
	}
	return NULL;
}

static bool parse_scaled(const char *text, const struct unit *units, const char *valid,
			 uint64_t *ret, GError **error)
{
	const char *end = text;
	const struct unit *unit;
	uint64_t value;

	if (!take_digits(&end, &value, error)) {
		g_prefix_error(error, "%s: ", valid);
		return false;
	}
	unit = find_unit(units, end);
	if (!unit) {
		bool decimal = strlen(end) == 2 && strchr("kKMGT", end[0]) && end[1] == 'B';

		if (decimal)
			g_set_error(error, RS_ERROR, RS_ERROR_USAGE,
				    "\"%s\" is ambiguous: write %.*s%c for powers of 1024", text,
				    (int)(end - text), text, g_ascii_toupper(end[0]));
		else
			g_set_error(error, RS_ERROR, RS_ERROR_USAGE, "\"%s\": unknown unit, %s",
				    text, valid);
		return false;
	}
	if (!g_uint64_checked_mul(&value, value, unit->factor)) {
		g_set_error(error, RS_ERROR, RS_ERROR_USAGE, "\"%s\" is too large", text);
		return false;
	}
	*ret = value;
	return true;
}

bool rs_parse_size(const char *text, uint64_t *ret, GError **error)
{
	static const struct unit units[] = {
		{ "", 1 },
		{ "K", UINT64_C(1) << 10 },
		{ "k", UINT64_C(1) << 10 },
		{ "M", UINT64_C(1) << 20 },
		{ "m", UINT64_C(1) << 20 },
		{ "G", UINT64_C(1) << 30 },
		{ "g", UINT64_C(1) << 30 },
		{ "T", UINT64_C(1) << 40 },
		{ "t", UINT64_C(1) << 40 },
		{ "KiB", UINT64_C(1) << 10 },
		{ "MiB", UINT64_C(1) << 20 },
		{ "GiB", UINT64_C(1) << 30 },
		{ "TiB", UINT64_C(1) << 40 },
		{ "p", RS_PAGE_SIZE },
		{ NULL, 0 },
	};

	return parse_scaled(text, units, "a size is a number with K, M, G, T or p (pages)", ret,
			    error);
}

bool rs_parse_pages(const char *text, uint64_t *ret, GError **error)
{
	size_t length = strlen(text);
	uint64_t bytes;

	if (length && g_ascii_isdigit(text[length - 1]))
		return rs_parse_u64(text, ret, error);
	if (!rs_parse_size(text, &bytes, error))
		return false;
	*ret = bytes >> RS_PAGE_SHIFT;
	return true;
}

bool rs_parse_time(const char *text, ns_t *ret, GError **error)
{
	static const struct unit units[] = {
		{ "", 1 },	   { "ns", 1 },		{ "us", 1000 },
		{ "ms", 1000000 }, { "s", 1000000000 }, { "min", 60000000000 },
		{ NULL, 0 },
	};

	return parse_scaled(text, units, "a time is a number with ns, us, ms, s or min", ret,
			    error);
}

bool rs_parse_bool(const char *text, bool *ret, GError **error)
{
	static const char *const no[] = { "0", "false", "off", "no", NULL };
	static const char *const yes[] = { "1", "true", "on", "yes", NULL };

	if (g_strv_contains(no, text)) {
		*ret = false;
		return true;
	}
	if (g_strv_contains(yes, text)) {
		*ret = true;
		return true;
	}
	g_set_error(error, RS_ERROR, RS_ERROR_USAGE, "\"%s\" is neither 0 nor 1", text);
	return false;
}

char *rs_format_size(uint64_t bytes)
{
	static const char suffixes[] = "TGMK";

	for (unsigned i = 0; bytes && suffixes[i]; i++) {
		uint64_t unit = UINT64_C(1) << (40 - 10 * i);

		if (bytes % unit == 0)
			return g_strdup_printf("%" PRIu64 "%c", bytes / unit, suffixes[i]);
	}
	return g_strdup_printf("%" PRIu64, bytes);
}

/* Levenshtein distance; words longer than the row count as far away. */
static unsigned distance(const char *a, const char *b)
{
	unsigned row[64];
	size_t length = strlen(b);

	if (length + 1 > G_N_ELEMENTS(row))
		return UINT_MAX;
	for (unsigned j = 0; j <= length; j++)
		row[j] = j;
	for (unsigned i = 1; *a; a++, i++) {
		unsigned diagonal = row[0];

		row[0] = i;
		for (unsigned j = 1; j <= length; j++) {
			unsigned substituted = diagonal + (*a != b[j - 1]);

			diagonal = row[j];
			row[j] = MIN(substituted, MIN(row[j], row[j - 1]) + 1);
		}
	}
	return row[length];
}

const char *rs_nearest(const char *word, const char *const *words)
{
	unsigned best = (unsigned)MIN(strlen(word) / 2 + 1, 6);
	const char *nearest = NULL;

	for (; *words; words++) {
		unsigned d = distance(word, *words);
		/* A word that continues or ends with what was typed is near as well. */
		bool part = strlen(word) >= 3 && strstr(*words, word);

		if (part && d >= best)
			d = best - 1;
		if (d < best) {
			best = d;
			nearest = *words;
		}
	}
	return nearest;
}
