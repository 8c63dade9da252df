/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * main.c - the command table of reclaimsim.
 */
#include "tools/tools.h"

#include <locale.h>

extern const struct rs_command cmd_run, cmd_compare, cmd_sweep, cmd_plot, cmd_check, cmd_trace,
	cmd_list, cmd_man, cmd_complete;

const struct rs_command *const rs_commands[] = {
	&cmd_run,   &cmd_compare, &cmd_sweep, &cmd_plot,     &cmd_check,
	&cmd_trace, &cmd_list,	  &cmd_man,   &cmd_complete, NULL,
};

int main(int argc, char **argv)
{
	setlocale(LC_CTYPE, "");
	return command_dispatch(rs_commands, "", argc, argv);
}
