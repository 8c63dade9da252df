/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * scenario_options.h - the options that describe machine and settings, shared by run, compare, ...
 */
#ifndef TOOLS_SCENARIO_OPTIONS_H
#define TOOLS_SCENARIO_OPTIONS_H

#include <reclaimsim/sim.h>

struct scenario_options {
	char *kernel, *memory;
	char **machines, **settings;
};
extern struct scenario_options scenario_options;

/* Rows for a command's table of options. */
#define SCENARIO_OPTIONS                                                                           \
	{ "kernel",                                                                                \
	  'k',                                                                                     \
	  0,                                                                                       \
	  G_OPTION_ARG_STRING,                                                                     \
	  &scenario_options.kernel,                                                                \
	  "kernel to model: 5.18, 6.1, 6.12 (default), 6.14, 7.2",                                 \
	  "K" },                                                                                   \
		{ "machine",                                                                       \
		  0,                                                                               \
		  0,                                                                               \
		  G_OPTION_ARG_FILENAME_ARRAY,                                                     \
		  &scenario_options.machines,                                                      \
		  "JSON file of settings; may be repeated",                                        \
		  "FILE" },                                                                        \
		{ "set",                                                                           \
		  's',                                                                             \
		  0,                                                                               \
		  G_OPTION_ARG_STRING_ARRAY,                                                       \
		  &scenario_options.settings,                                                      \
		  "a setting, over the machine file; may be repeated",                             \
		  "KEY=VALUE" },                                                                   \
	{                                                                                          \
		"memory", 'm', 0, G_OPTION_ARG_STRING, &scenario_options.memory,                   \
			"short for --set memory.max=SIZE; 50% is half of the trace's footprint",   \
			"SIZE"                                                                     \
	}

/*
 * What the options say, checked: over the user's configuration file, if there is one. "50%" of a
 * group's limit is a share of the trace's footprint; trace may be NULL or "-", then it is refused.
 */
struct rs_scenario *scenario_from_options(const char *trace, GError **error);
/* Apply "KEY=VALUE". */
bool scenario_apply(struct rs_scenario *scenario, const char *assignment, GError **error);

#endif
