/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cmd_complete.c - hidden command "__complete": candidates for the shells' completion.
 *
 * The scripts in tools/completion pass the words typed so far; what may follow comes from the same
 * tables as parsing and help.
 */
#include "tools/tools.h"

#include <string.h>

/* Words of a list that option or command takes. */
struct candidates {
	const char *option; /* long name, or NULL: positional of command */
	const char *command;
	const char *words; /* parted by blanks */
};

static const struct candidates fixed[] = {
	{ "kernel", NULL, "5.18 6.1 6.12 6.14 7.2" },
	{ "executor", NULL, "local parallel slurm" },
	{ "format", NULL, "text markdown csv json" },
	{ "terminal", NULL, "png svg pdf dumb" },
	{ NULL, "list", "policies settings counters formats generators" },
	{ NULL, "plot", "curve bars series generations locks heatmap" },
};

static void print_words(const char *words)
{
	for (; *words; words++)
		putchar(*words == ' ' ? '\n' : *words);
	putchar('\n');
}

static void print_policies(void)
{
	const struct rs_policy_ops *ops;

	for (unsigned i = 0; (ops = rs_policy_builtin(i)); i++)
		puts(ops->name);
	puts("opt");
}

static void print_settings(void)
{
	struct rs_setting_info *info;

	for (unsigned i = 0; (info = rs_setting_describe(i, RS_KERNEL_6_12)); i++) {
		printf("%s=\n", info->name);
		rs_setting_info_free(info);
	}
}

static void print_options(const GOptionEntry *option)
{
	for (; option && option->long_name; option++)
		printf("--%s\n", option->long_name);
	puts("--help");
}

static void print_names(const struct rs_command *const *table)
{
	for (; table && *table; table++) {
		if (!(*table)->hidden)
			puts((*table)->name);
	}
}

static const struct rs_command *find(const struct rs_command *const *table, const char *name)
{
	for (; table && *table; table++) {
		if (!strcmp((*table)->name, name))
			return *table;
	}
	return NULL;
}

/* The option that takes a value and stands last, "--policy" or "-p"; NULL if none. */
static const GOptionEntry *open_option(const struct rs_command *command, const char *word)
{
	for (const GOptionEntry *o = command->options; o && o->long_name; o++) {
		bool named =
			g_str_has_prefix(word, "--")
				? !strcmp(word + 2, o->long_name)
				: word[0] == '-' && word[1] && word[1] == o->short_name && !word[2];

		if (named && o->arg != G_OPTION_ARG_NONE)
			return o;
	}
	return NULL;
}

/* Values of an option; what is not known here is a file or free text. */
static void print_values(const char *option)
{
	if (!strcmp(option, "policy"))
		print_policies();
	else if (!strcmp(option, "set"))
		print_settings();
	for (unsigned i = 0; i < G_N_ELEMENTS(fixed); i++) {
		if (fixed[i].option && !strcmp(fixed[i].option, option))
			print_words(fixed[i].words);
	}
}

/* argv: __complete, then the words behind "reclaimsim"; the last one is being typed. */
static int run(int argc, char **argv)
{
	const struct rs_command *command = NULL;
	const struct rs_command *const *table = rs_commands;
	const GOptionEntry *option = NULL;
	int i = 1;

	for (; i < argc - 1 && find(table, argv[i]); i++) {
		command = find(table, argv[i]);
		table = command->subcommands;
	}
	if (!command) {
		print_names(rs_commands);
		print_words("help --help --version");
		return EXIT_FINE;
	}
	if (argc >= 3)
		option = open_option(command, argv[argc - 2]);
	if (option) {
		print_values(option->long_name);
		return EXIT_FINE;
	}
	if (argc > 1 && argv[argc - 1][0] == '-') {
		print_options(command->options);
		return EXIT_FINE;
	}
	print_names(command->subcommands);
	for (unsigned n = 0; n < G_N_ELEMENTS(fixed) && i == argc - 1; n++) {
		if (fixed[n].command && !strcmp(fixed[n].command, command->name))
			print_words(fixed[n].words);
	}
	return EXIT_FINE;
}

const struct rs_command cmd_complete = {
	.name = "__complete",
	.arguments = "WORD...",
	.summary = "candidates for completion",
	.own_options = true,
	.hidden = true,
	.run = run,
};
