/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cmd_man.c - hidden command "__man": the man page, from the same tables as parsing and help.
 */
#include "tools/metric.h"
#include "tools/tools.h"

#include <string.h>

/* Text for roff: backslashes, hyphens, and dots and quotes at the start of a line. */
static void put(const char *text)
{
	bool start = true;

	for (; *text; text++) {
		if (start && (*text == '.' || *text == '\''))
			fputs("\\&", stdout);
		if (*text == '\\')
			fputs("\\e", stdout);
		else if (*text == '-')
			fputs("\\-", stdout);
		else
			putchar(*text);
		start = *text == '\n';
	}
}

static void put_option(const GOptionEntry *option)
{
	if (option->flags & G_OPTION_FLAG_HIDDEN)
		return;
	fputs(".TP\n\\fB", stdout);
	if (option->short_name)
		printf("\\-%c\\fR, \\fB", option->short_name);
	put("--");
	put(option->long_name);
	fputs("\\fR", stdout);
	if (option->arg_description) {
		fputs("=\\fI", stdout);
		put(option->arg_description);
		fputs("\\fR", stdout);
	}
	putchar('\n');
	put(option->description);
	putchar('\n');
}

static void put_command(const struct rs_command *command, const char *prefix)
{
	char *deeper = g_strdup_printf("%s%s ", prefix, command->name);

	fputs(".SS \"reclaimsim ", stdout);
	put(deeper);
	/* A quote inside a quoted argument is written twice; none of ours has one. */
	put(command->arguments);
	fputs("\"\n", stdout);
	put(command->summary);
	fputs(".\n", stdout);
	if (command->about) {
		fputs(".PP\n.nf\n", stdout);
		put(command->about);
		fputs("\n.fi\n", stdout);
	}
	for (const GOptionEntry *o = command->options; o && o->long_name; o++)
		put_option(o);
	if (command->example) {
		fputs(".PP\nExample:\n.PP\n.nf\n", stdout);
		put(command->example);
		fputs("\n.fi\n", stdout);
	}
	for (const struct rs_command *const *sub = command->subcommands; sub && *sub; sub++)
		put_command(*sub, deeper);
	g_free(deeper);
}

static void put_item(const char *name, const char *text)
{
	fputs(".TP\n.B ", stdout);
	put(name);
	putchar('\n');
	put(text);
	putchar('\n');
}

static void put_policies(void)
{
	const struct rs_policy_ops *ops;

	puts(".SH POLICIES\nWritten as NAME[:PARAM=VALUE,...].");
	for (unsigned i = 0; (ops = rs_policy_builtin(i)); i++) {
		put_item(ops->name, ops->summary);
		for (const struct rs_param *p = ops->params; p && p->name; p++) {
			printf(".RS\n");
			put_item(p->name, p->doc);
			printf("Default %" PRId64 ", range %" PRId64 " to %" PRId64 ".\n.RE\n",
			       p->def, p->min, p->max);
		}
	}
	put_item("opt", "clairvoyant lower bound of demand misses (Belady); no policy");
}

static void put_settings(void)
{
	struct rs_setting_info *info;

	puts(".SH SETTINGS\nFor \\-\\-set and machine files. Sizes: bytes, or with K, M, G, T "
	     "(powers of 1024) or p (pages). Settings of a group carry its path: "
	     "memcg:/a.memory.low.");
	for (unsigned i = 0; (info = rs_setting_describe(i, RS_KERNEL_6_12)); i++) {
		char *text =
			g_strdup_printf("%s. Default %s; %s.", info->doc, info->def, info->range);

		put_item(info->name, text);
		g_free(text);
		rs_setting_info_free(info);
	}
}

static void put_groups(void)
{
	const char *doc;

	puts(".SH COUNTERS\nNames are those of /proc/vmstat and memory.stat; \"reclaimsim list "
	     "counters\" lists them. Groups for \\-\\-counters:\n.PP\n.nf");
	for (unsigned i = 0; (doc = metric_group_doc(i)); i++) {
		put(doc);
		putchar('\n');
	}
	puts(".fi");
}

static int run(int argc, char **argv)
{
	puts(".TH RECLAIMSIM 1 \"\" \"reclaimsim " RS_VERSION "\" \"User Commands\"\n.SH NAME\n"
	     "reclaimsim \\- simulate Linux page reclaim on access traces\n.SH SYNOPSIS\n"
	     ".B reclaimsim\n.I COMMAND\n[\\fIOPTION\\fR...] [\\fIARGUMENT\\fR...]\n.SH "
	     "DESCRIPTION\n"
	     "Replays an access trace on a modelled machine under interchangeable page reclaim "
	     "policies and reports the kernel's counters.\n.SH COMMANDS");
	for (unsigned i = 0; rs_commands[i]; i++) {
		if (!rs_commands[i]->hidden)
			put_command(rs_commands[i], "");
	}
	put_policies();
	put_settings();
	put_groups();
	puts(".SH \"EXIT STATUS\"");
	put_item("0", "fine; an OOM kill is an outcome of the model, counted in the result");
	put_item("1", "no: a check failed, or a difference was found that was asked for");
	put_item("2", "bad usage, input or output, with one line that says what, where and what "
		      "would be valid");
	put_item("3", "not finished: internal error, stalled model, cells of a sweep missing");
	return EXIT_FINE;
}

const struct rs_command cmd_man = {
	.name = "__man",
	.arguments = "",
	.summary = "the man page as roff",
	.hidden = true,
	.run = run,
};
