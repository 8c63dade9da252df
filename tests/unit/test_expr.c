/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * test_expr.c - assertions of suites: what they mean and what is wrong with wrong ones.
 */
#include "lib/cm.h"
#include "tools/expr.h"

#include <reclaimsim/types.h>

/* a.x = 10, a.x at mark fill = 4, b.x = 20; nothing else. */
static bool lookup(void *arg, const char *column, const char *metric, const char *snapshot,
		   double *ret, GError **error)
{
	if (!strcmp(metric, "x") || !strcmp(metric, "cost.rmap_walk.calls")) {
		*ret = snapshot ? 4 : *column == 'a' ? 10 : 20;
		return true;
	}
	g_set_error(error, RS_ERROR, RS_ERROR_INPUT, "%s has no %s", column, metric);
	return false;
}

static bool holds(const char *text)
{
	struct expr_sides sides;
	GError *error = NULL;
	struct expr *expr = expr_parse(text, &error);
	bool result;

	assert_no_error(error);
	assert_true(expr_evaluate(expr, lookup, NULL, &sides, &error));
	result = expr_holds(expr, sides.left - sides.right, sides.left - sides.right,
			    sides.tolerance);
	expr_free(expr);
	return result;
}

static void relations_hold_or_not(void **state)
{
	assert_true(holds("a.x <= b.x"));
	assert_false(holds("b.x<=a.x"));
	assert_true(holds("a.x < 10.5"));
	assert_false(holds("a.x < 10"));
	assert_true(holds("a.x >= 10"));
	assert_false(holds("a.x > 10"));
	assert_true(holds("a.x == 10"));
	assert_true(holds("a.x != b.x"));
	assert_true(holds("a.x@fill == 4"));
	assert_true(holds("a.cost.rmap_walk.calls == 10"));
}

static void arithmetic_has_the_usual_precedence(void **state)
{
	assert_true(holds("a.x + 2 * b.x == 50"));
	assert_true(holds("(a.x + 2) * b.x == 240"));
	assert_true(holds("b.x - a.x - 5 == 5"));
	assert_true(holds("b.x / a.x / 2 == 1"));
	assert_true(holds("-a.x == 0 - 10"));
	assert_true(holds("a.x <= 0.9 * b.x"));
}

static void near_takes_a_relative_or_absolute_tolerance(void **state)
{
	assert_true(holds("a.x ~ 10.1 +- 2%"));
	assert_false(holds("a.x ~ 11 +- 2%"));
	assert_true(holds("a.x ~ 12 +- 2"));
	assert_false(holds("a.x ~ 12.5 +- 2"));
}

static void an_interval_must_lie_wholly_on_the_right_side(void **state)
{
	struct expr *le = expr_parse("a.x <= b.x", NULL), *ne = expr_parse("a.x != 1", NULL);
	struct expr *near = expr_parse("a.x ~ 1 +- 1", NULL);

	assert_true(expr_holds(le, -5, -1, 0));
	assert_false(expr_holds(le, -5, 1, 0));
	assert_true(expr_holds(ne, 1, 2, 0));
	assert_false(expr_holds(ne, -1, 2, 0));
	assert_true(expr_holds(near, -1, 1, 1));
	assert_false(expr_holds(near, -2, 1, 1));
	expr_free(le);
	expr_free(ne);
	expr_free(near);
}

static void mistakes_name_the_character(void **state)
{
	static const struct {
		const char *text, *part;
	} table[] = {
		{ "", "a value expected at character 1" },
		{ "a.x", "<=, <, >=, >, ==, != or ~ expected at character 4" },
		{ "a <= 1", "\".\" and a counter expected at character 2" },
		{ "a. <= 1", "name of a counter expected at character 3" },
		{ "a.x@ <= 1", "name of a mark" },
		{ "a.x ~ 1", "\"+-\" and a tolerance" },
		{ "a.x ~ 1 +- b", "a number expected" },
		{ "a.x <= (1", "\")\" expected" },
		{ "a.x <= 1 2", "the end expected at character 10" },
		{ "a.x <= 1 +", "a value expected" },
	};

	for (unsigned i = 0; i < G_N_ELEMENTS(table); i++) {
		GError *error = NULL;

		assert_null(expr_parse(table[i].text, &error));
		assert_error(&error, table[i].part);
	}
}

static void endless_nesting_is_refused(void **state)
{
	GString *text = g_string_new(NULL);
	GError *error = NULL;

	for (unsigned i = 0; i < 100000; i++)
		g_string_append_c(text, i & 1 ? '(' : '-');
	assert_null(expr_parse(text->str, &error));
	assert_error(&error, "less nesting");
	g_string_free(text, TRUE);
}

static void unknown_counters_and_division_by_zero_are_errors(void **state)
{
	struct expr *expr = expr_parse("a.y <= 1", NULL);
	struct expr_sides sides;
	GError *error = NULL;

	assert_false(expr_evaluate(expr, lookup, NULL, &sides, &error));
	assert_error(&error, "a has no y");
	expr_free(expr);
	expr = expr_parse("a.x / (b.x - 20) <= 1", NULL);
	assert_false(expr_evaluate(expr, lookup, NULL, &sides, &error));
	assert_error(&error, "division by zero");
	expr_free(expr);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(relations_hold_or_not),
		cmocka_unit_test(arithmetic_has_the_usual_precedence),
		cmocka_unit_test(near_takes_a_relative_or_absolute_tolerance),
		cmocka_unit_test(an_interval_must_lie_wholly_on_the_right_side),
		cmocka_unit_test(mistakes_name_the_character),
		cmocka_unit_test(endless_nesting_is_refused),
		cmocka_unit_test(unknown_counters_and_division_by_zero_are_errors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
