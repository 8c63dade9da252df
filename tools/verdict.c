/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * verdict.c - printing what `check` found.
 */
#include "tools/verdict.h"

#include <jansson.h>
#include <string.h>

/* Rows of the Markdown table before the rest is folded away. */
#define MARKDOWN_ROWS 50u

static const char *const words[] = {
	[VERDICT_PASS] = "PASS", [VERDICT_IMPROVED] = "BETTER", [VERDICT_FAIL] = "FAIL",
	[VERDICT_NEW] = "NEW",	 [VERDICT_ERROR] = "ERROR",
};

/* Green, yellow, red; the word says the same. */
static const char *const colors[] = {
	[VERDICT_PASS] = "\033[32m", [VERDICT_IMPROVED] = "\033[32m", [VERDICT_FAIL] = "\033[31m",
	[VERDICT_NEW] = "\033[33m",  [VERDICT_ERROR] = "\033[31m",
};
bool verdicts_color;

struct verdict *verdict_new(GPtrArray *verdicts, enum verdict_kind kind, const char *scenario,
			    const char *what, char *detail)
{
	struct verdict *verdict = g_new0(struct verdict, 1);

	verdict->kind = kind;
	verdict->scenario = g_strdup(scenario);
	verdict->what = g_strdup(what);
	verdict->detail = detail;
	g_ptr_array_add(verdicts, verdict);
	return verdict;
}

void verdict_free(void *data)
{
	struct verdict *verdict = data;

	g_free(verdict->scenario);
	g_free(verdict->what);
	g_free(verdict->detail);
	g_free(verdict);
}

unsigned verdict_count(const GPtrArray *verdicts, enum verdict_kind kind)
{
	unsigned n = 0;

	for (guint i = 0; i < verdicts->len; i++)
		n += ((const struct verdict *)g_ptr_array_index(verdicts, i))->kind == kind;
	return n;
}

static void print_summary(const GPtrArray *verdicts, FILE *stream)
{
	const char *comma = "";

	for (unsigned kind = 0; kind < G_N_ELEMENTS(words); kind++) {
		unsigned n = verdict_count(verdicts, kind);
		char *word = g_ascii_strdown(words[kind], -1);

		if (n)
			fprintf(stream, "%s%u %s", comma, n, word);
		comma = n ? ", " : comma;
		g_free(word);
	}
	fputc('\n', stream);
}

static void print_text(const GPtrArray *verdicts, FILE *stream)
{
	for (guint i = 0; i < verdicts->len; i++) {
		const struct verdict *v = g_ptr_array_index(verdicts, i);

		fprintf(stream, "%s%-6s%s %s: %s\n", verdicts_color ? colors[v->kind] : "",
			words[v->kind], verdicts_color ? "\033[0m" : "", v->scenario, v->what);
		if (v->kind != VERDICT_PASS)
			fprintf(stream, "       %s\n", v->detail);
	}
	print_summary(verdicts, stream);
}

static void print_tap(const GPtrArray *verdicts, FILE *stream)
{
	fprintf(stream, "TAP version 13\n1..%u\n", verdicts->len);
	for (guint i = 0; i < verdicts->len; i++) {
		const struct verdict *v = g_ptr_array_index(verdicts, i);
		bool ok = v->kind == VERDICT_PASS || v->kind == VERDICT_IMPROVED ||
			  v->kind == VERDICT_NEW;

		/* A # would begin a directive. */
		fprintf(stream, "%sok %u - %s: ", ok ? "" : "not ", i + 1, v->scenario);
		for (const char *p = v->what; *p; p++)
			fputc(*p == '#' ? ' ' : *p, stream);
		fprintf(stream, "%s\n", v->kind == VERDICT_NEW ? " # SKIP no baseline" : "");
		if (!ok)
			fprintf(stream, "# %s\n", v->detail);
	}
}

static void print_markdown_cell(const char *text, FILE *stream)
{
	for (; *text; text++) {
		if (strchr("|`\\*_<>", *text))
			fputc('\\', stream);
		fputc(*text == '\n' ? ' ' : *text, stream);
	}
}

static void print_markdown_rows(const GPtrArray *verdicts, bool failures, FILE *stream)
{
	for (guint i = 0; i < verdicts->len; i++) {
		const struct verdict *v = g_ptr_array_index(verdicts, i);

		if ((v->kind != VERDICT_PASS) != failures)
			continue;
		fprintf(stream, "| %s | ", words[v->kind]);
		print_markdown_cell(v->scenario, stream);
		fputs(" | ", stream);
		print_markdown_cell(v->what, stream);
		fputs(" | ", stream);
		print_markdown_cell(v->detail, stream);
		fputs(" |\n", stream);
	}
}

static void print_markdown(const GPtrArray *verdicts, const char *suite, FILE *stream)
{
	static const char head[] = "| | scenario | check | found |\n| :-- | :-- | :-- | :-- |\n";
	unsigned passed = verdict_count(verdicts, VERDICT_PASS);
	bool fold = passed > MARKDOWN_ROWS;

	fprintf(stream, "### reclaimsim check: %s\n\n", suite);
	print_summary(verdicts, stream);
	fprintf(stream, "\n%s", head);
	print_markdown_rows(verdicts, true, stream);
	if (fold)
		fprintf(stream, "\n<details><summary>%u passed</summary>\n\n%s", passed, head);
	print_markdown_rows(verdicts, false, stream);
	if (fold)
		fputs("\n</details>\n", stream);
}

/* Attribute or text: characters XML does not allow become '?'. */
static void print_xml(const char *text, FILE *stream)
{
	char *valid = g_utf8_make_valid(text, -1);
	char *escaped;

	for (char *p = valid; *p; p++) {
		if ((unsigned char)*p < 0x20 && !strchr("\t\n", *p))
			*p = '?';
	}
	escaped = g_markup_escape_text(valid, -1);
	fputs(escaped, stream);
	g_free(escaped);
	g_free(valid);
}

static void print_junit_case(const struct verdict *v, FILE *stream)
{
	static const char *const elements[] = {
		[VERDICT_FAIL] = "failure",
		[VERDICT_NEW] = "skipped",
		[VERDICT_ERROR] = "error",
	};
	const char *element = v->kind < G_N_ELEMENTS(elements) ? elements[v->kind] : NULL;

	fputs("    <testcase classname=\"", stream);
	print_xml(v->scenario, stream);
	fputs("\" name=\"", stream);
	print_xml(v->what, stream);
	fputs("\" time=\"0\"", stream);
	if (!element) {
		fputs("/>\n", stream);
		return;
	}
	fprintf(stream, ">\n      <%s message=\"", element);
	print_xml(v->detail, stream);
	fputs("\"/>\n    </testcase>\n", stream);
}

/* One <testsuite> a scenario; verdicts of a scenario stand together. */
static void print_junit(const GPtrArray *verdicts, const char *suite, FILE *stream)
{
	fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"", stream);
	print_xml(suite, stream);
	fputs("\">\n", stream);
	for (guint i = 0; i < verdicts->len;) {
		const struct verdict *first = g_ptr_array_index(verdicts, i);
		GPtrArray *group = g_ptr_array_new();

		for (; i < verdicts->len; i++) {
			struct verdict *v = g_ptr_array_index(verdicts, i);

			if (strcmp(v->scenario, first->scenario) != 0)
				break;
			g_ptr_array_add(group, v);
		}
		fputs("  <testsuite name=\"", stream);
		print_xml(first->scenario, stream);
		fprintf(stream, "\" tests=\"%u\" failures=\"%u\" errors=\"%u\" skipped=\"%u\">\n",
			group->len, verdict_count(group, VERDICT_FAIL),
			verdict_count(group, VERDICT_ERROR), verdict_count(group, VERDICT_NEW));
		for (guint j = 0; j < group->len; j++)
			print_junit_case(g_ptr_array_index(group, j), stream);
		fputs("  </testsuite>\n", stream);
		g_ptr_array_unref(group);
	}
	fputs("</testsuites>\n", stream);
}

static void print_json(const GPtrArray *verdicts, const char *suite, FILE *stream)
{
	json_t *object = json_object(), *list = json_array();
	char *text;

	for (guint i = 0; i < verdicts->len; i++) {
		const struct verdict *v = g_ptr_array_index(verdicts, i);
		char *word = g_ascii_strdown(words[v->kind], -1);

		json_array_append_new(list,
				      json_pack("{s:s, s:s, s:s, s:s}", "verdict", word, "scenario",
						v->scenario, "check", v->what, "found", v->detail));
		g_free(word);
	}
	json_object_set_new(object, "schema", json_string("reclaimsim.check/1"));
	json_object_set_new(object, "version", json_string(RS_VERSION));
	json_object_set_new(object, "suite", json_string(suite));
	json_object_set_new(object, "verdicts", list);
	text = json_dumps(object, 0);
	fprintf(stream, "%s\n", text);
	free(text);
	json_decref(object);
}

void verdicts_print(const GPtrArray *verdicts, const char *suite, enum verdict_format format,
		    FILE *stream)
{
	switch (format) {
	case VERDICTS_TAP:
		print_tap(verdicts, stream);
		break;
	case VERDICTS_MARKDOWN:
		print_markdown(verdicts, suite, stream);
		break;
	case VERDICTS_JUNIT:
		print_junit(verdicts, suite, stream);
		break;
	case VERDICTS_JSON:
		print_json(verdicts, suite, stream);
		break;
	default:
		print_text(verdicts, stream);
	}
}
