/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * plot_input.h - results to draw, from whatever file holds them.
 *
 * A result (run --json), a comparison (compare --json), collected cells (sweep collect), or the
 * folder of a sweep.
 */
#ifndef TOOLS_PLOT_INPUT_H
#define TOOLS_PLOT_INPUT_H

#include <glib.h>
#include <jansson.h>
#include <stdbool.h>

struct plot_result {
	char *label; /* policy, or column of the comparison */
	json_t *json;
};

/* Append to a list of struct plot_result. */
bool plot_input_load(GPtrArray *results, const char *path, GError **error);
GPtrArray *plot_input_new(void);
/* A line for each value of the setting: its value goes to the labels. False: nothing has it. */
bool plot_input_by(GPtrArray *results, const char *setting, GError **error);
/* Labels in order of first appearance; the strings belong to the results. */
GPtrArray *plot_input_labels(const GPtrArray *results);

#endif
