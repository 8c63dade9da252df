/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * command.h - how a run on a kernel maps to a command of the simulator (contract, section 5).
 */
#ifndef FIDELITY_COMMAND_H
#define FIDELITY_COMMAND_H

#include "simulate.h"

/* NULL-terminated, to be freed with g_strfreev(). */
char **command_of_case(const struct truth_case *c, const struct simulate_options *options,
		       struct boot boot, const char *output);

#endif
