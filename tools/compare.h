/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * compare.h - results side by side: the first column is the base, the others are judged by it.
 */
#ifndef TOOLS_COMPARE_H
#define TOOLS_COMPARE_H

#include "tools/stats.h"
#include "tools/table.h"

#include <glib.h>
#include <jansson.h>

struct comparison {
	unsigned nr_columns, nr_seeds;
	char **labels;		  /* of the columns */
	json_t **results;	  /* [column * nr_seeds + seed] */
	bool exact;		  /* no difference between seeds: single values, no statistics */
	GPtrArray *rows;	  /* struct row */
	double alpha, min_effect; /* a star needs both */
};

/* One number over columns and seeds. */
struct row {
	char *name;
	const char *label; /* as printed; static or the name */
	double scale;	   /* printed value = value / scale */
	unsigned decimals;
	bool integer, gap_before;
	bool *present;		     /* [column] */
	double *values;		     /* [column * nr_seeds + seed] */
	struct interval *difference; /* [column] against column 0; absolute */
	bool *significant;	     /* [column] */
};

/* Takes the results over. counters: see metric_select(). NULL: bad choice. */
struct comparison *comparison_new(unsigned nr_columns, unsigned nr_seeds, char **labels,
				  json_t **results, const char *counters, GError **error);
void comparison_free(struct comparison *comparison);

/* A cell as people read it: "184,210 +-0.4%"; "-17.0% *". g_free(). */
char *comparison_value_text(const struct comparison *c, const struct row *row, unsigned column);
char *comparison_change_text(const struct comparison *c, const struct row *row, unsigned column);
void comparison_print(const struct comparison *comparison, enum table_format format, FILE *stream);
json_t *comparison_json(const struct comparison *comparison);

#endif
