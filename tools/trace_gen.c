/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * trace_gen.c - "trace gen": a trace from a description of a workload.
 */
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include <reclaimsim/generate.h>

#include "tools/trace_commands.h"

static char *out;
static char **with;
static gboolean json, text, list;
static char *seed;

static const GOptionEntry options[] = {
	{ "output", 'o', 0, G_OPTION_ARG_FILENAME, &out,
	  "trace to write, - for standard output (default: only the summary)", "OUT" },
	{ "text", 0, 0, G_OPTION_ARG_NONE, &text, "write trace text, not native format", NULL },
	{ "seed", 0, 0, G_OPTION_ARG_STRING, &seed,
	  "of all random choices (default: the spec's, or 1)", "N" },
	{ "with", 'w', 0, G_OPTION_ARG_STRING_ARRAY, &with,
	  "setting of a front end: own_pages, shared_pages, hot_pages, iops (fio); server, rate, "
	  "memory, line "
	  "(memtier); max_records",
	  "KEY=VALUE" },
	{ "json", 0, 0, G_OPTION_ARG_NONE, &json, "summary as JSON", NULL },
	{ "list", 0, 0, G_OPTION_ARG_NONE, &list, "list the generators", NULL },
	{ NULL, 0, 0, 0, NULL, NULL, NULL },
};

static int list_generators(void)
{
	for (const struct rs_generator *k = rs_generators; k->name; k++)
		printf("%-16s %s\n", k->name, k->summary);
	return EXIT_FINE;
}

/* For people: what is not nested, one a line. */
static void print_summary(json_t *summary)
{
	const char *key;
	json_t *value;

	json_object_foreach(summary, key, value)
	{
		g_autofree char *shown =
			json_is_string(value) ? g_strdup(json_string_value(value)) : NULL;
		char *dumped = shown ? NULL : json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);

		printf("%-24s %s\n", key, shown ? shown : dumped);
		free(dumped);
	}
}

static void set_provenance(struct rs_trace_writer *writer, const struct rs_generate_options *o)
{
	g_autofree char *source =
		o->path ? g_path_get_basename(o->path) : g_strjoinv(" ", (char **)o->words);
	g_autofree char *command =
		g_strdup_printf("reclaimsim trace gen%s%s", o->seed_given ? " --seed " : "",
				o->seed_given ? seed : "");

	rs_trace_set_provenance(writer, "source", source);
	rs_trace_set_provenance(writer, "command", command);
}

static int generate(const struct rs_generate_options *o)
{
	bool to_stdout = out && !strcmp(out, "-");
	GError *error = NULL;
	json_t *summary = NULL;
	g_autofree char *warnings = NULL;
	struct rs_trace_writer *writer = NULL;

	if (out) {
		writer = rs_trace_create(out, text ? RS_TRACE_TEXT : RS_TRACE_NATIVE, &error);
		if (!writer)
			return command_fail(error);
		set_provenance(writer, o);
	}
	if (!rs_generate(o, writer, &summary, &warnings, &error)) {
		if (writer)
			rs_trace_writer_abort(writer);
		return command_fail(error);
	}
	if (writer && !rs_trace_writer_close(writer, &error)) {
		json_decref(summary);
		return command_fail(error);
	}
	if (*warnings)
		command_warn("%s", g_strchomp(warnings));
	if (json) {
		char *dumped = json_dumps(summary, JSON_INDENT(1));

		fprintf(to_stdout ? stderr : stdout, "%s\n", dumped);
		free(dumped);
	} else if (!to_stdout) {
		print_summary(summary);
	}
	json_decref(summary);
	return ferror(stdout) || fflush(stdout) ? EXIT_BAD_USE : EXIT_FINE;
}

static int run(int argc, char **argv)
{
	struct rs_generate_options o = { .with = (const char *const *)with,
					 .seed_given = seed != NULL };
	int first = 1;

	if (list)
		return list_generators();
	if (!trace_number("seed", seed, &o.seed))
		return EXIT_BAD_USE;
	if (first < argc && !strcmp(argv[first], "--"))
		first++;
	if (first >= argc)
		return command_usage(
			"no description; valid is: reclaimsim trace gen SPEC [-o OUT] [--seed N] "
			"[--json], or -- memtier_benchmark OPTIONS");
	if (argc - first == 1 && !g_str_has_suffix(argv[first], "memtier_benchmark"))
		o.path = argv[first];
	else if (g_str_has_suffix(argv[first], "memtier_benchmark"))
		o.words = (const char *const *)argv + first;
	else
		return command_usage(
			"more than one description; one SPEC is valid, or -- memtier_benchmark "
			"OPTIONS");
	return generate(&o);
}

const struct rs_command trace_gen = {
	.name = "gen",
	.arguments = "SPEC [-o OUT] [OPTION...]",
	.summary = "make a trace from a description of a workload",
	.about = "SPEC is a JSON spec (traces/spec.schema.json, examples in traces/samples), a fio "
		 "job "
		 "file or a file of memtier_benchmark command lines; - is standard input. What it "
		 "is is told "
		 "from its content.",
	.example = "reclaimsim trace gen job.fio -o job.trace\n"
		   "reclaimsim trace gen --json -- memtier_benchmark -n 1000 -d 512\n",
	.options = options,
	.run = run,
};
