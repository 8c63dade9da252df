/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * expr.h - assertions of a suite: "mglru.pswpin <= 0.9 * classic.pswpin", "a.pgfault ~ 1200 +- 2%".
 *
 *   assertion:  sum OP sum            OP is one of <= < >= > == !=
 *               sum ~ sum +- number [%]
 *   sum:        product {+ product | - product}
 *   product:    value {* value | / value}
 *   value:      number | COLUMN.METRIC[@SNAPSHOT] | ( sum ) | - value
 */
#ifndef TOOLS_EXPR_H
#define TOOLS_EXPR_H

#include <glib.h>
#include <stdbool.h>

struct expr;

/* NULL: the message says what was expected at which character. */
struct expr *expr_parse(const char *text, GError **error);
void expr_free(struct expr *expr);

/* The number column.metric at the snapshot (NULL: the end); false with an error if there is none.
 */
typedef bool (*expr_lookup)(void *arg, const char *column, const char *metric, const char *snapshot,
			    double *ret, GError **error);

struct expr_sides {
	double left, right;
	double tolerance; /* absolute; of "~" only */
};
bool expr_evaluate(const struct expr *expr, expr_lookup lookup, void *arg, struct expr_sides *ret,
		   GError **error);
/*
 * Does the assertion hold for every difference left - right between low and high, at that
 * tolerance? With one run low == high.
 */
bool expr_holds(const struct expr *expr, double low, double high, double tolerance);

#endif
