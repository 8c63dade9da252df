/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gen_fio_ini.c - the text of a fio job file: sections, comments, includes, ${VARIABLES}.
 *
 * As fio: a line that begins with ; or # is a comment, and so is what follows either character in
 * any line; options without a value are switches; [global] holds for the sections behind it. More
 * tolerant than fio: blanks around = do no harm.
 */
#include "traces/gen_fio.h"

#include <string.h>

#define MAX_INCLUDE_DEPTH 8
#define MAX_SECTIONS 4096u
#define MAX_JOB_FILE (16u << 20)

struct ini {
	struct gen *g;
	GPtrArray *sections;
	unsigned depth;
};

static void line_free(gpointer data)
{
	struct fio_line *l = data;

	g_free(l->key);
	g_free(l->value);
	g_free(l->file);
	g_free(l);
}

static void section_free(gpointer data)
{
	struct fio_section *s = data;

	g_free(s->name);
	g_free(s->file);
	g_ptr_array_unref(s->lines);
	g_free(s);
}

void fio_fail(struct gen *g, const struct fio_line *l, const char *format, ...)
{
	va_list args;
	g_autofree char *text = NULL;

	va_start(args, format);
	text = g_strdup_vprintf(format, args);
	va_end(args);
	gen_fail(g, RS_ERROR_INPUT, "%s:%u: %s", l->file, l->line, text);
}

/* Replace ${NAME} by the environment's value. NULL: it is not set. */
static char *expand(struct gen *g, const struct fio_line *at, const char *text)
{
	GString *out = g_string_new(NULL);
	const char *open, *close;

	while ((open = strstr(text, "${")) && (close = strchr(open, '}'))) {
		g_autofree char *name = g_strndup(open + 2, close - open - 2);
		const char *value = g_getenv(name);

		if (!value) {
			fio_fail(g, at, "${%s} is not set in the environment", name);
			g_string_free(out, TRUE);
			return NULL;
		}
		g_string_append_len(out, text, open - text);
		g_string_append(out, value);
		text = close + 1;
	}
	g_string_append(out, text);
	return g_string_free(out, FALSE);
}

static bool add_section(struct ini *ini, char *text, const struct fio_line *at)
{
	size_t n = strlen(text);
	struct fio_section *s;

	if (n < 3 || text[n - 1] != ']') {
		fio_fail(ini->g, at, "\"%s\" is no section header; valid is [name]", text);
		return false;
	}
	if (ini->sections->len >= MAX_SECTIONS) {
		fio_fail(ini->g, at, "more than %u sections", MAX_SECTIONS);
		return false;
	}
	s = g_new0(struct fio_section, 1);
	s->name = g_strndup(text + 1, n - 2);
	s->global = g_str_has_prefix(s->name, "global");
	s->file = g_strdup(at->file);
	s->line = at->line;
	s->lines = g_ptr_array_new_with_free_func(line_free);
	g_ptr_array_add(ini->sections, s);
	return true;
}

static bool add_option(struct ini *ini, const char *text, const struct fio_line *at)
{
	struct fio_section *s;
	struct fio_line *l;
	g_autofree char *whole = expand(ini->g, at, text);
	char *value;

	if (!whole)
		return false;
	s = g_ptr_array_index(ini->sections, ini->sections->len - 1);
	l = g_new0(struct fio_line, 1);
	value = strchr(whole, '=');
	if (value) {
		*value++ = '\0';
		l->value = g_strdup(g_strstrip(value));
	}
	l->key = g_strdup(g_strstrip(whole));
	l->file = g_strdup(at->file);
	l->line = at->line;
	g_ptr_array_add(s->lines, l);
	return true;
}

static bool read_text(struct ini *, const char *text, size_t size, const char *name);

static bool include(struct ini *ini, const char *target, const struct fio_line *at)
{
	g_autofree char *dir = g_path_get_dirname(at->file);
	g_autofree char *beside = g_build_filename(dir, target, NULL);
	g_autofree char *text = NULL;
	g_autoptr(GError) error = NULL;
	const char *path = g_file_test(target, G_FILE_TEST_EXISTS) ? target : beside;
	gsize size;
	bool ok;

	if (ini->depth >= MAX_INCLUDE_DEPTH) {
		fio_fail(ini->g, at, "more than %u includes inside one another", MAX_INCLUDE_DEPTH);
		return false;
	}
	if (!g_file_test(path, G_FILE_TEST_IS_REGULAR) ||
	    !g_file_get_contents(path, &text, &size, &error)) {
		fio_fail(ini->g, at, "cannot include \"%s\": %s", target,
			 error ? error->message : "there is no such file");
		return false;
	}
	ini->depth++;
	ok = read_text(ini, text, size, path);
	ini->depth--;
	return ok;
}

static bool read_line(struct ini *ini, char *text, const struct fio_line *at)
{
	char *cut;

	g_strchug(text);
	if (!*text || *text == ';' || *text == '#')
		return true;
	cut = strpbrk(text, ";#");
	if (cut)
		*cut = '\0';
	g_strchomp(text);
	if (*text == '[') {
		if (ini->depth) {
			fio_fail(ini->g, at,
				 "a section in an included file; only options are valid there");
			return false;
		}
		return add_section(ini, text, at);
	}
	if (!ini->sections->len) {
		fio_fail(ini->g, at, "option \"%s\" stands before the first [section]", text);
		return false;
	}
	if (g_str_has_prefix(text, "include") && g_ascii_isspace(text[7]))
		return include(ini, g_strchug(text + 8), at);
	return add_option(ini, text, at);
}

static bool read_text(struct ini *ini, const char *text, size_t size, const char *name)
{
	struct fio_line at = { .file = (char *)name };
	const char *end = text + size;

	if (size > MAX_JOB_FILE) {
		gen_fail(ini->g, RS_ERROR_INPUT, "%s: a job file of more than 16 MiB", name);
		return false;
	}
	if (size >= 3 && !memcmp(text, "\xef\xbb\xbf", 3))
		text += 3;
	while (text < end) {
		const char *stop = memchr(text, '\n', end - text);
		g_autofree char *line = g_strndup(text, (stop ? stop : end) - text);

		at.line++;
		if (!read_line(ini, line, &at))
			return false;
		text = stop ? stop + 1 : end;
	}
	return true;
}

GPtrArray *fio_ini_read(struct gen *g, const char *text, size_t size, const char *name)
{
	struct ini ini = { .g = g, .sections = g_ptr_array_new_with_free_func(section_free) };

	if (read_text(&ini, text, size, name))
		return ini.sections;
	g_ptr_array_unref(ini.sections);
	return NULL;
}
