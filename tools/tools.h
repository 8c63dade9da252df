/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tools.h - what the commands share: the command table, options, messages, output.
 *
 * One command = one file cmd_NAME.c that exports a const struct rs_command, listed in main.c. Its
 * table of options serves parsing, --help, the man page and completion.
 */
#ifndef TOOLS_TOOLS_H
#define TOOLS_TOOLS_H

#include <reclaimsim/sim.h>

#include <stdio.h>

enum rs_exit {
	EXIT_FINE = 0,
	EXIT_NO = 1,	     /* a check failed, a difference was found that was asked for */
	EXIT_BAD_USE = 2,    /* usage, input, output */
	EXIT_UNFINISHED = 3, /* internal error, stalled model, cells missing */
};

struct rs_command {
	const char *name; /* "run" */
	const char
		*arguments;  /* behind the name in the usage line: "TRACE --policy P [OPTION...]" */
	const char *summary; /* one line */
	const char *about;   /* paragraphs for --help and the man page; may be NULL */
	const char *example; /* lines, each a command or its explanation behind # */
	const GOptionEntry *options; /* ends in an empty row; NULL: none */
	/* ended by NULL; run(), if there is one, takes what is no subcommand */
	const struct rs_command *const *subcommands;
	bool takes_rest;  /* words behind "--" are left in command_rest */
	bool hidden;	  /* not in lists and help */
	bool own_options; /* run() parses its options itself, --help included */
	/* argv[0] is the command; options have been parsed into their variables and taken out. */
	int (*run)(int argc, char **argv);
};

/* The table of main.c, ended by NULL. */
extern const struct rs_command *const rs_commands[];

/* Find and run a command of the table: help, nearest name, options. "prefix" is what stands before.
 */
int command_dispatch(const struct rs_command *const *table, const char *prefix, int argc,
		     char **argv);
/* Usage, options and examples on standard output. */
void command_help(const struct rs_command *command, const char *prefix);

/* "reclaimsim: run: message" on standard error; frees the error; its exit code. */
int command_fail(GError *error);
/* The same for a message of one's own: bad usage. */
int command_usage(const char *format, ...) G_GNUC_PRINTF(1, 2);
/* A warning on standard error; silent with --quiet. */
void command_warn(const char *format, ...) G_GNUC_PRINTF(1, 2);
/* What stood behind "--", ended by NULL; NULL if nothing did. */
extern char **command_rest;
/* The running command's name for messages: "run", "trace import". */
const char *command_name(void);

/*
 * --color WHEN for text on standard output. auto (or NULL): a terminal that is not "dumb", unless
 * NO_COLOR is set and not empty.
 */
bool command_color(const char *when, bool *ret, GError **error);

/* ---- output: standard output, or a file that appears only when it is complete ---- */
struct output;
/* path NULL or "-": standard output. */
struct output *output_open(const char *path, GError **error);
FILE *output_stream(struct output *output);
/* Flush, sync, rename; false if anything could not be written. Frees. */
bool output_close(struct output *output, GError **error);
/* Removes what was written. NULL is fine. */
void output_abort(struct output *output);
/* text to path in one go. */
bool output_write(const char *path, const char *text, GError **error);

#endif
