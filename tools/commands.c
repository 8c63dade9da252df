/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * commands.c - the command table of reclaimsim.
 */
#include "tools/tools.h"

extern const struct rs_command cmd_run, cmd_compare, cmd_sweep, cmd_plot, cmd_check, cmd_trace,
	cmd_list, cmd_measure, cmd_man, cmd_complete;

const struct rs_command *const rs_commands[] = {
	&cmd_run,  &cmd_compare, &cmd_sweep, &cmd_plot,	    &cmd_check, &cmd_trace,
	&cmd_list, &cmd_measure, &cmd_man,   &cmd_complete, NULL,
};
