/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cmd_trace.c - "reclaimsim trace": table of its subcommands, and what they share.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/trace_commands.h"

static const struct trace_command commands[] = {
	{"info", "what a trace holds: records, footprint, miss-ratio curve", trace_info},
	{"cat", "print records as trace text, all or some", trace_cat},
	{"convert", "between native format and trace text", trace_convert},
	{"cut", "a part of a trace that is a valid trace again", trace_cut},
	{"merge", "several traces as processes that run side by side", trace_merge},
	{"scale", "the same trace with a smaller footprint", trace_scale},
};

int cmd_trace(int argc, char **argv);

static void print_commands(FILE *to)
{
	fprintf(to, "usage: reclaimsim trace COMMAND [OPTIONS] ...\n\ncommands:\n");
	for (guint i = 0; i < G_N_ELEMENTS(commands); i++)
		fprintf(to, "  %-10s %s\n", commands[i].name, commands[i].summary);
	fprintf(to, "\n\"reclaimsim trace COMMAND --help\" tells more.\n");
}

/* argv[0] = "trace". */
int cmd_trace(int argc, char **argv)
{
	if (argc < 2) {
		print_commands(stderr);
		return 2;
	}
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "help")) {
		print_commands(stdout);
		return 0;
	}
	for (guint i = 0; i < G_N_ELEMENTS(commands); i++)
		if (!strcmp(argv[1], commands[i].name))
			return commands[i].run(argc - 1, argv + 1);
	fprintf(stderr, "reclaimsim trace: unknown command \"%s\"; valid are", argv[1]);
	for (guint i = 0; i < G_N_ELEMENTS(commands); i++)
		fprintf(stderr, " %s", commands[i].name);
	fprintf(stderr, "\n");
	return 2;
}

bool trace_options(const char *command, const char *operands, const char *description,
		   const GOptionEntry *entries, int *argc, char ***argv, int min, int max)
{
	g_autoptr(GOptionContext) context = g_option_context_new(operands);
	g_autofree char *name = g_strdup_printf("reclaimsim trace %s", command);
	GError *error = NULL;

	g_option_context_set_summary(context, description);
	g_option_context_add_main_entries(context, entries, NULL);
	g_set_prgname(name);
	if (!g_option_context_parse(context, argc, argv, &error)) {
		trace_fail(command, error);
		return false;
	}
	/* "--" ends the options and stays in argv. */
	if (*argc > 1 && !strcmp((*argv)[1], "--")) {
		memmove(*argv + 1, *argv + 2, (*argc - 2) * sizeof(**argv));
		--*argc;
	}
	if (*argc - 1 >= min && *argc - 1 <= max)
		return true;
	trace_usage(command, "%s operands; valid is: reclaimsim trace %s [OPTIONS] %s",
		    *argc - 1 < min ? "too few" : "too many", command, operands);
	return false;
}

int trace_fail(const char *command, GError *error)
{
	fprintf(stderr, "reclaimsim trace %s: %s\n", command, error->message);
	g_error_free(error);
	return 2;
}

int trace_usage(const char *command, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	fprintf(stderr, "reclaimsim trace %s: ", command);
	vfprintf(stderr, format, args);
	fputc('\n', stderr);
	va_end(args);
	return 2;
}

bool trace_number(const char *text, uint64_t *ret)
{
	char *end;

	if (!g_ascii_isdigit(*text))
		return false;
	errno = 0;
	*ret = g_ascii_strtoull(text, &end, 10);
	return !*end && !errno;
}
