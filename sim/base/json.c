/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * json.c - loading of JSON files and places of values in them.
 *
 * jansson keeps no positions, so they are looked up when they are needed: the text has been
 * parsed before and is valid JSON, which makes the walk below short.
 */
#include "sim/base/json.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static char *read_all(const char *path, size_t *ret_length, GError **error)
{
	FILE *file = strcmp(path, "-") ? fopen(path, "rb") : stdin;
	GString *text;
	char buffer[65536];
	size_t n;
	bool failed;

	if (!file) {
		g_set_error(error, RS_ERROR, RS_ERROR_INPUT, "%s: cannot open: %s", path,
			    g_strerror(errno));
		return NULL;
	}
	text = g_string_new(NULL);
	while ((n = fread(buffer, 1, sizeof(buffer), file)) > 0 && text->len <= RS_JSON_MAX)
		g_string_append_len(text, buffer, (gssize)n);
	failed = ferror(file);
	if (failed)
		g_set_error(error, RS_ERROR, RS_ERROR_INPUT, "%s: cannot read: %s", path,
			    g_strerror(errno));
	else if (text->len > RS_JSON_MAX)
		g_set_error(error, RS_ERROR, RS_ERROR_INPUT, "%s: larger than %u MiB", path,
			    RS_JSON_MAX >> 20);
	if (file != stdin)
		fclose(file);
	if (failed || text->len > RS_JSON_MAX) {
		g_string_free(text, TRUE);
		return NULL;
	}
	*ret_length = text->len;
	return g_string_free(text, FALSE);
}

struct rs_json *rs_json_load(const char *path, GError **error)
{
	json_error_t problem;
	struct rs_json *json;
	size_t length;
	char *text = read_all(path, &length, error);
	json_t *root;

	if (!text)
		return NULL;
	root = json_loadb(text, length, JSON_REJECT_DUPLICATES, &problem);
	if (!root) {
		g_set_error(error, RS_ERROR, RS_ERROR_INPUT, "%s:%d:%d: %s", path,
			    MAX(problem.line, 1), MAX(problem.column, 1), problem.text);
		g_free(text);
		return NULL;
	}
	json = g_new0(struct rs_json, 1);
	json->path = g_strdup(path);
	json->text = text;
	json->root = root;
	return json;
}

void rs_json_free(struct rs_json *json)
{
	if (!json)
		return;
	json_decref(json->root);
	g_free(json->text);
	g_free(json->path);
	g_free(json);
}

static const char *skip_space(const char *p)
{
	return p + strspn(p, " \t\r\n");
}

/* Behind the string that starts at p. */
static const char *skip_string(const char *p)
{
	for (p++; *p && *p != '"'; p++) {
		if (*p == '\\' && p[1])
			p++;
	}
	return *p ? p + 1 : p;
}

/* Behind the value that starts at p. */
static const char *skip_value(const char *p)
{
	unsigned depth = 0;

	do {
		p = skip_space(p);
		if (*p == '"') {
			p = skip_string(p);
			continue;
		}
		if (*p == '{' || *p == '[')
			depth++;
		if ((*p == '}' || *p == ']') && depth)
			depth--;
		if (strchr("{}[],:", *p))
			p += *p != '\0';
		else
			p += strcspn(p, " \t\r\n{}[],:\"");
	} while (depth && *p);
	return p;
}

/* The string at p is spelled key (escapes decoded by jansson). */
static bool string_is(const char *p, const char *key)
{
	const char *end = skip_string(p);
	json_t *string = json_loadb(p, (size_t)(end - p), JSON_DECODE_ANY, NULL);
	bool same = string && !strcmp(json_string_value(string), key);

	json_decref(string);
	return same;
}

/* Of the object or array at p: its member key (place of the key) and in *ret the member's value. */
static const char *find_member(const char *p, const char *key, const char **ret)
{
	bool object = *p == '{';
	uint64_t wanted = object ? 0 : g_ascii_strtoull(key, NULL, 10);

	if (*p != '{' && *p != '[')
		return NULL;
	p = skip_space(p + 1);
	for (uint64_t i = 0; *p && *p != '}' && *p != ']'; i++) {
		const char *start = p, *value = p;

		if (object) {
			value = skip_space(skip_string(p));
			value = skip_space(value + (*value == ':'));
		}
		if (object ? string_is(start, key) : i == wanted) {
			*ret = value;
			return start;
		}
		p = skip_space(skip_value(value));
		if (*p == ',')
			p = skip_space(p + 1);
	}
	return NULL;
}

static const char *locate(const char *text, const char *const *where)
{
	const char *value = skip_space(text), *place = value;

	for (; *where; where++) {
		const char *found = find_member(value, *where, &value);

		if (!found)
			break;
		place = found;
	}
	return place;
}

void rs_json_error(const struct rs_json *json, GError **error, const char *const *where,
		   const char *format, ...)
{
	const char *place = locate(json->text, where), *line_start = json->text;
	unsigned line = 1;
	va_list args;
	char *message;

	for (const char *p = json->text; p < place; p++) {
		if (*p == '\n') {
			line++;
			line_start = p + 1;
		}
	}
	va_start(args, format);
	message = g_strdup_vprintf(format, args);
	va_end(args);
	g_set_error(error, RS_ERROR, RS_ERROR_INPUT, "%s:%u:%u: %s", json->path, line,
		    (unsigned)(place - line_start) + 1, message);
	g_free(message);
}
