/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * command.c - finding a command, its options and its help; messages to the user.
 */
#include "tools/tools.h"
#include "sim/base/units.h"

#include <stdarg.h>
#include <string.h>
#include <unistd.h>

/* For messages: the name of the command that runs. */
static char current[64] = "";
char **command_rest;

const char *command_name(void)
{
	return current;
}

static void print_message(const char *kind, const char *text)
{
	if (*current)
		fprintf(stderr, "reclaimsim: %s: %s%s\n", current, kind, text);
	else
		fprintf(stderr, "reclaimsim: %s%s\n", kind, text);
}

int command_fail(GError *error)
{
	bool stalled = g_error_matches(error, RS_ERROR, RS_ERROR_STALLED);

	print_message("", error->message);
	g_error_free(error);
	return stalled ? EXIT_UNFINISHED : EXIT_BAD_USE;
}

int command_usage(const char *format, ...)
{
	va_list args;
	char *text;

	va_start(args, format);
	text = g_strdup_vprintf(format, args);
	va_end(args);
	print_message("", text);
	g_free(text);
	return EXIT_BAD_USE;
}

void command_warn(const char *format, ...)
{
	va_list args;
	char *text;

	va_start(args, format);
	text = g_strdup_vprintf(format, args);
	va_end(args);
	print_message("warning: ", text);
	g_free(text);
}

bool command_color(const char *when, bool *ret, GError **error)
{
	const char *no_color = g_getenv("NO_COLOR");

	*ret = !g_strcmp0(when, "always");
	if (*ret || !g_strcmp0(when, "never"))
		return true;
	if (when && strcmp(when, "auto")) {
		g_set_error(error, RS_ERROR, RS_ERROR_USAGE, "--color %s: auto, always or never",
			    when);
		return false;
	}
	*ret = isatty(STDOUT_FILENO) && !(no_color && *no_color) &&
	       g_strcmp0(g_getenv("TERM"), "dumb");
	return true;
}

static void print_table(const struct rs_command *const *table)
{
	size_t width = 0;

	for (unsigned i = 0; table[i]; i++) {
		if (!table[i]->hidden)
			width = MAX(width, strlen(table[i]->name));
	}
	for (unsigned i = 0; table[i]; i++) {
		if (!table[i]->hidden)
			printf("  %-*s  %s\n", (int)width, table[i]->name, table[i]->summary);
	}
}

/* One option: "  -o, --output=FILE      text" with the text at column 26, or on the next line. */
static void print_option(const GOptionEntry *option)
{
	GString *line = g_string_new("  ");

	if (option->flags & G_OPTION_FLAG_HIDDEN) {
		g_string_free(line, TRUE);
		return;
	}
	if (option->short_name)
		g_string_append_printf(line, "-%c, ", option->short_name);
	g_string_append_printf(line, "--%s", option->long_name);
	if (option->arg_description)
		g_string_append_printf(line, "=%s", option->arg_description);
	if (line->len > 24)
		printf("%s\n%26s%s\n", line->str, "", option->description);
	else
		printf("%-26s%s\n", line->str, option->description);
	g_string_free(line, TRUE);
}

void command_help(const struct rs_command *command, const char *prefix)
{
	printf("Usage: reclaimsim %s%s %s\n\n%s\n", prefix, command->name, command->arguments,
	       command->summary);
	if (command->about)
		printf("\n%s\n", command->about);
	if (command->subcommands) {
		printf("\nCommands:\n");
		print_table(command->subcommands);
	}
	if (command->options) {
		printf("\nOptions:\n");
		for (const GOptionEntry *o = command->options; o->long_name; o++)
			print_option(o);
		printf("%-26s%s\n", "  -h, --help", "this text");
	}
	if (command->example)
		printf("\nExample:\n%s\n", command->example);
}

static void help_all(void)
{
	printf("Usage: reclaimsim COMMAND [OPTION...] [ARGUMENT...]\n\n"
	       "Replays an access trace on a modelled Linux machine under interchangeable page\n"
	       "reclaim policies and reports the kernel's counters.\n\nCommands:\n");
	print_table(rs_commands);
	printf("\n\"reclaimsim help COMMAND\" or \"reclaimsim COMMAND --help\" says more.\n\n"
	       "Example:\n"
	       "  reclaimsim compare build.trace --policy classic --policy mglru \\\n"
	       "      --set memory.max=64M\n\n"
	       "Exit codes: 0 fine, 1 \"no\" (a check failed), 2 bad usage, input or output,\n"
	       "3 not finished.\n");
}

/* The first error of anything written to standard output ends up here. */
static int flush_stdout(int code)
{
	if (fflush(stdout) == 0 && !ferror(stdout))
		return code;
	return command_usage("cannot write to standard output: %s", g_strerror(errno));
}

static const GOptionEntry *short_option(const GOptionEntry *options, char name)
{
	for (; options && options->long_name; options++)
		if (options->short_name == name)
			return options;
	return NULL;
}

/*
 * "-j4" is "-j 4": GLib wants the value of a short option as a word of its own. The new words
 * live as long as the program, like those they replace.
 */
static GPtrArray *split_words;
static void split_short(const GOptionEntry *options, int *argc, char ***argv)
{
	GPtrArray *words = g_ptr_array_new();
	bool value = false, over = false;

	for (int i = 0; i < *argc; i++) {
		char *word = (*argv)[i];
		bool option = i && !over && !value && word[0] == '-' && word[1] && word[1] != '-';
		const GOptionEntry *o = option ? short_option(options, word[1]) : NULL;
		bool takes = o && o->arg != G_OPTION_ARG_NONE;

		over = over || !strcmp(word, "--");
		/* The word behind an option that takes a value is no option itself. */
		value = takes && !word[2];
		if (takes && word[2]) {
			const char pair[] = { word[0], word[1], '\0' };

			g_ptr_array_add(words, (char *)g_intern_string(pair));
			word += 2;
		}
		g_ptr_array_add(words, word);
	}
	*argc = (int)words->len;
	g_ptr_array_add(words, NULL);
	*argv = (char **)words->pdata;
	split_words = words;
}

static bool parse_options(const struct rs_command *command, int *argc, char ***argv, GError **error)
{
	GOptionContext *context = g_option_context_new(NULL);
	GError *problem = NULL;
	bool ok;

	g_option_context_set_help_enabled(context, FALSE);
	if (command->options)
		g_option_context_add_main_entries(context, command->options, NULL);
	split_short(command->options, argc, argv);
	ok = g_option_context_parse(context, argc, argv, &problem);
	g_option_context_free(context);
	if (!ok) {
		g_set_error(error, RS_ERROR, RS_ERROR_USAGE, "%s, see \"reclaimsim %s --help\"",
			    problem->message, current);
		g_error_free(problem);
	}
	return ok;
}

static bool wants_help(int argc, char **argv)
{
	for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
		if (!strcmp(argv[i], "-h") || !strcmp(argv[i], "--help"))
			return true;
	}
	return false;
}

static const struct rs_command *find(const struct rs_command *const *table, const char *name)
{
	for (; *table; table++) {
		if (!strcmp((*table)->name, name))
			return *table;
	}
	return NULL;
}

static int unknown_command(const struct rs_command *const *table, const char *name)
{
	GPtrArray *names = g_ptr_array_new();
	const char *nearest;
	int code;

	for (unsigned i = 0; table[i]; i++) {
		if (!table[i]->hidden)
			g_ptr_array_add(names, (char *)table[i]->name);
	}
	g_ptr_array_add(names, NULL);
	nearest = rs_nearest(name, (const char *const *)names->pdata);
	if (nearest)
		code = command_usage("unknown command \"%s\", did you mean \"%s\"?", name, nearest);
	else
		code = command_usage("unknown command \"%s\", see \"reclaimsim --help\"", name);
	g_ptr_array_unref(names);
	return code;
}

/* Cut argv at "--". */
static void take_rest(int *argc, char **argv)
{
	for (int i = 1; i < *argc; i++) {
		if (strcmp(argv[i], "--") != 0)
			continue;
		command_rest = &argv[i + 1];
		argv[i] = NULL;
		*argc = i;
		return;
	}
}

static bool goes_deeper(const struct rs_command *command, int argc, char **argv)
{
	if (!command->subcommands)
		return false;
	return !command->run || (argc > 1 && find(command->subcommands, argv[1]));
}

static int run_command(const struct rs_command *command, const char *prefix, int argc, char **argv)
{
	GError *error = NULL;
	int code;

	g_snprintf(current, sizeof(current), "%s%s", prefix, command->name);
	if (command->own_options)
		return flush_stdout(command->run(argc, argv));
	if (wants_help(goes_deeper(command, argc, argv) ? MIN(argc, 2) : argc, argv)) {
		command_help(command, prefix);
		return flush_stdout(EXIT_FINE);
	}
	if (goes_deeper(command, argc, argv)) {
		char *deeper = g_strdup_printf("%s ", current);

		code = command_dispatch(command->subcommands, deeper, argc, argv);
		g_free(deeper);
		return code;
	}
	if (command->takes_rest)
		take_rest(&argc, argv);
	if (!parse_options(command, &argc, &argv, &error))
		return command_fail(error);
	return flush_stdout(command->run(argc, argv));
}

/* "help", "help run", "help trace import" */
static int help_command(int argc, char **argv)
{
	const struct rs_command *const *table = rs_commands;
	const struct rs_command *command = NULL;
	GString *prefix = g_string_new(NULL);

	for (int i = 2; i < argc && table; i++) {
		if (command)
			g_string_append_printf(prefix, "%s ", command->name);
		command = find(table, argv[i]);
		if (!command) {
			g_string_free(prefix, TRUE);
			return unknown_command(table, argv[i]);
		}
		table = command->subcommands;
	}
	if (command)
		command_help(command, prefix->str);
	else
		help_all();
	g_string_free(prefix, TRUE);
	return flush_stdout(EXIT_FINE);
}

int command_dispatch(const struct rs_command *const *table, const char *prefix, int argc,
		     char **argv)
{
	const struct rs_command *command;
	const char *name = argc > 1 ? argv[1] : NULL;

	if (!name)
		return command_usage("a command is missing, see \"reclaimsim %s--help\"", prefix);
	if (!*prefix) {
		if (!strcmp(name, "--help") || !strcmp(name, "-h") || !strcmp(name, "help"))
			return help_command(argc, argv);
		if (!strcmp(name, "--version")) {
			printf("reclaimsim %s\n", RS_VERSION);
			return flush_stdout(EXIT_FINE);
		}
	}
	command = find(table, name);
	if (!command)
		return unknown_command(table, name);
	return run_command(command, prefix, argc - 1, argv + 1);
}
