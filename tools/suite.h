/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * suite.h - suites of `check`: scenarios, what they assert, what they compare with a baseline.
 * The file's form: tools/schemas/suite.schema.json.
 */
#ifndef TOOLS_SUITE_H
#define TOOLS_SUITE_H

#include "sim/base/json.h"
#include "tools/expr.h"

#include <reclaimsim/sim.h>

/* A policy under one machine: what assertions call COLUMN. */
struct suite_column {
	char *name, *policy;
	struct rs_scenario **scenarios; /* one a seed */
};

enum suite_direction { DIRECTION_EITHER, DIRECTION_LOWER, DIRECTION_HIGHER };

/* A counter held against the baseline, for every column. */
struct suite_metric {
	char *name;
	double relative, absolute;	/* tolerance: the larger of the two */
	enum suite_direction direction; /* which way is better; either: any change fails */
};

struct suite_assertion {
	char *text;
	struct expr *expr;
};

struct suite_scenario {
	char *name, *trace;
	unsigned nr_seeds;
	GPtrArray *columns;    /* struct suite_column */
	GPtrArray *assertions; /* struct suite_assertion */
	GPtrArray *metrics;    /* struct suite_metric */
};

struct suite {
	struct rs_json *json;
	char *name, *baseline; /* path of the baseline; NULL: none */
	GPtrArray *scenarios;  /* struct suite_scenario */
};

/* Paths inside are relative to the suite's file. */
struct suite *suite_load(const char *path, GError **error);
void suite_free(struct suite *suite); /* NULL is fine */

#endif
