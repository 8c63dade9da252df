/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * trace_import.c - "trace import": traces of other tools into the project's format.
 */
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include <reclaimsim/import.h>
#include <reclaimsim/trace.h>

int trace_import(int argc, char **argv);

struct arguments {
	char *format, *out;
	char **with, **paths;
	gboolean json, strict, text, list;
};

static int fail(GError *error)
{
	fprintf(stderr, "reclaimsim trace import: %s\n", error->message);
	g_error_free(error);
	return 2;
}

/* "import", the options as given, the file names without their folders. */
static char *command_line(int argc, char **argv)
{
	GString *text = g_string_new("reclaimsim trace");

	for (int i = 0; i < argc; i++) {
		char *base = *argv[i] == '-' ? g_strdup(argv[i]) : g_path_get_basename(argv[i]);

		g_string_append_printf(text, " %s", base);
		g_free(base);
	}
	return g_string_free(text, FALSE);
}

static void list_formats(void)
{
	struct rs_import_format format;

	for (unsigned i = 0; rs_import_format(i, &format); i++)
		printf("%-14s %s\n", format.name, format.summary);
}

static void print_value(const char *key, const json_t *value)
{
	char *text;

	if (json_is_string(value)) {
		printf("%-28s %s\n", key, json_string_value(value));
		return;
	}
	text = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);
	printf("%-28s %s\n", key, text);
	free(text);
}

/* For people: what says something, one a line. */
static void print_summary(json_t *summary)
{
	const char *key;
	json_t *value;

	json_object_foreach(summary, key, value)
	{
		bool nothing = json_is_null(value) ||
			       (json_is_integer(value) && !json_integer_value(value)) ||
			       (json_is_object(value) && !json_object_size(value)) ||
			       (json_is_array(value) && !json_array_size(value));

		if (!nothing || !strcmp(key, "records") || !strcmp(key, "malformed"))
			print_value(key, value);
	}
}

/* Without -o the summary is all that is asked for. */
static struct rs_trace_writer *create(const struct arguments *a, GError **error)
{
	return rs_trace_create(a->out ? a->out : "/dev/null",
			       a->text ? RS_TRACE_TEXT : RS_TRACE_NATIVE, error);
}

static int run(const struct arguments *a, const char *command)
{
	struct import_options options = {
		.format = a->format,
		.paths = (const char *const *)a->paths,
		.with = (const char *const *)a->with,
		.command = command,
		.strict = a->strict,
	};
	bool to_stdout = a->out && !strcmp(a->out, "-");
	GError *error = NULL;
	json_t *summary = NULL;
	char *notes = NULL, *text;
	struct rs_trace_writer *out = create(a, &error);

	if (!out)
		return fail(error);
	if (!rs_import(&options, out, &summary, &notes, &error)) {
		fputs(notes, stderr);
		g_free(notes);
		rs_trace_writer_abort(out);
		return fail(error);
	}
	fputs(notes, stderr);
	g_free(notes);
	if (!rs_trace_writer_close(out, &error)) {
		json_decref(summary);
		return fail(error);
	}
	if (json_integer_value(json_object_get(summary, "malformed")))
		fprintf(stderr,
			"reclaimsim trace import: %" JSON_INTEGER_FORMAT " malformed lines or "
			"records were skipped (--strict makes the first an error)\n",
			json_integer_value(json_object_get(summary, "malformed")));
	if (a->json) {
		text = json_dumps(summary, JSON_INDENT(1));
		fprintf(to_stdout ? stderr : stdout, "%s\n", text);
		free(text);
	} else if (!to_stdout) {
		print_summary(summary);
	}
	json_decref(summary);
	return ferror(stdout) || fflush(stdout) ? 2 : 0;
}

int trace_import(int argc, char **argv)
{
	struct arguments a = { 0 };
	const GOptionEntry entries[] = {
		{ "format", 'f', 0, G_OPTION_ARG_STRING, &a.format,
		  "format of the input (default: told from its content)", "F" },
		{ "output", 'o', 0, G_OPTION_ARG_FILENAME, &a.out,
		  "trace to write, - for standard output (default: only the summary)", "OUT" },
		{ "text", 0, 0, G_OPTION_ARG_NONE, &a.text, "write trace text, not native format",
		  NULL },
		{ "json", 0, 0, G_OPTION_ARG_NONE, &a.json, "summary as JSON", NULL },
		{ "strict", 0, 0, G_OPTION_ARG_NONE, &a.strict,
		  "the first malformed line is an error", NULL },
		{ "with", 'w', 0, G_OPTION_ARG_STRING_ARRAY, &a.with,
		  "setting of the format, see --list-formats", "KEY=VALUE" },
		{ "list-formats", 0, 0, G_OPTION_ARG_NONE, &a.list, "list the formats", NULL },
		{ G_OPTION_REMAINING, 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &a.paths, NULL,
		  "FILE..." },
		{ NULL, 0, 0, 0, NULL, NULL, NULL },
	};
	char *command = command_line(argc, argv);
	GOptionContext *context = g_option_context_new(NULL);
	GError *error = NULL;
	int rc;

	g_option_context_set_summary(
		context, "Turns a trace of another tool into one of this project. FILE may be "
			 "compressed (gzip, bzip2, xz, zstd, lz4); - is standard input.");
	g_option_context_add_main_entries(context, entries, NULL);
	g_set_prgname("reclaimsim trace import");
	if (!g_option_context_parse(context, &argc, &argv, &error)) {
		rc = fail(error);
	} else if (a.list) {
		list_formats();
		rc = 0;
	} else if (!a.paths) {
		fprintf(stderr, "reclaimsim trace import: no input; valid is: reclaimsim trace "
				"import [--format F] FILE... [-o OUT] [--json] [--strict]\n");
		rc = 2;
	} else {
		rc = run(&a, command);
	}
	g_option_context_free(context);
	g_free(command);
	g_free(a.format);
	g_free(a.out);
	g_strfreev(a.with);
	g_strfreev(a.paths);
	return rc;
}
