/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * expr.c - a recursive-descent parser and evaluator for assertions.
 */
#include "tools/expr.h"

#include <math.h>
#include <reclaimsim/types.h>
#include <string.h>

/* Deeper nesting than anybody writes; keeps recursion bounded. */
#define MAX_DEPTH 100u

enum node_kind { NODE_NUMBER, NODE_METRIC, NODE_ADD, NODE_SUBTRACT, NODE_MULTIPLY, NODE_DIVIDE };

struct node {
	enum node_kind kind;
	double number;
	char *column, *metric, *snapshot;
	struct node *left, *right;
};

enum relation { REL_LE, REL_LT, REL_GE, REL_GT, REL_EQ, REL_NE, REL_NEAR };

struct expr {
	struct node *left, *right;
	enum relation relation;
	double tolerance;
	bool relative; /* tolerance is a fraction of the right side */
};

struct parser {
	const char *text, *p;
	unsigned depth;
	GError **error;
};

static struct node *parse_sum(struct parser *parser);

static void node_free(struct node *node)
{
	if (!node)
		return;
	node_free(node->left);
	node_free(node->right);
	g_free(node->column);
	g_free(node->metric);
	g_free(node->snapshot);
	g_free(node);
}

static void *expected(struct parser *parser, const char *what)
{
	g_set_error(parser->error, RS_ERROR, RS_ERROR_INPUT, "\"%s\": %s expected at character %u",
		    parser->text, what, (unsigned)(parser->p - parser->text) + 1);
	return NULL;
}

static void skip_space(struct parser *parser)
{
	parser->p += strspn(parser->p, " \t\n");
}

/* A character that may stand in a name; / and - would be operators. */
static bool in_name(char c)
{
	return g_ascii_isalnum(c) || c == '_' || c == ':' || c == '=';
}

static char *take_name(struct parser *parser, bool dots)
{
	const char *start = parser->p;

	while (in_name(*parser->p) || (dots && *parser->p == '.' && in_name(parser->p[1])))
		parser->p++;
	return parser->p > start ? g_strndup(start, (gsize)(parser->p - start)) : NULL;
}

/* Names of marks are free; here up to what ends a value. */
static char *take_mark(struct parser *parser)
{
	size_t length = strcspn(parser->p, " \t\n()<>=!~*+/");
	char *name = length ? g_strndup(parser->p, length) : NULL;

	parser->p += length;
	return name;
}

static struct node *parse_metric(struct parser *parser)
{
	struct node *node = g_new0(struct node, 1);

	node->kind = NODE_METRIC;
	node->column = take_name(parser, false);
	if (!node->column || *parser->p != '.') {
		bool named = node->column != NULL;

		node_free(node);
		return expected(parser, named ? "\".\" and a counter" : "a value");
	}
	parser->p++;
	node->metric = take_name(parser, true);
	if (!node->metric) {
		node_free(node);
		return expected(parser, "the name of a counter");
	}
	if (*parser->p == '@') {
		parser->p++;
		node->snapshot = take_mark(parser);
		if (!node->snapshot) {
			node_free(node);
			return expected(parser, "the name of a mark");
		}
	}
	return node;
}

static struct node *parse_number(struct parser *parser)
{
	struct node *node = g_new0(struct node, 1);
	char *end;

	node->kind = NODE_NUMBER;
	node->number = g_ascii_strtod(parser->p, &end);
	parser->p = end;
	return node;
}

static struct node *binary(enum node_kind kind, struct node *left, struct node *right)
{
	struct node *node;

	if (!right) {
		node_free(left);
		return NULL;
	}
	node = g_new0(struct node, 1);
	node->kind = kind;
	node->left = left;
	node->right = right;
	return node;
}

static struct node *parse_value(struct parser *parser)
{
	struct node *node;

	skip_space(parser);
	if (parser->depth >= MAX_DEPTH)
		return expected(parser, "less nesting");
	if (g_ascii_isdigit(*parser->p))
		return parse_number(parser);
	if (*parser->p == '-') {
		struct node *zero = g_new0(struct node, 1);

		zero->kind = NODE_NUMBER;
		parser->p++;
		parser->depth++;
		node = binary(NODE_SUBTRACT, zero, parse_value(parser));
		parser->depth--;
		return node;
	}
	if (*parser->p != '(')
		return parse_metric(parser);
	parser->p++;
	parser->depth++;
	node = parse_sum(parser);
	parser->depth--;
	skip_space(parser);
	if (node && *parser->p != ')') {
		node_free(node);
		return expected(parser, "\")\"");
	}
	parser->p += node != NULL;
	return node;
}

static struct node *parse_product(struct parser *parser)
{
	struct node *node = parse_value(parser);

	while (node) {
		skip_space(parser);
		if (*parser->p != '*' && *parser->p != '/')
			break;
		enum node_kind kind = *parser->p++ == '*' ? NODE_MULTIPLY : NODE_DIVIDE;

		node = binary(kind, node, parse_value(parser));
	}
	return node;
}

static struct node *parse_sum(struct parser *parser)
{
	struct node *node = parse_product(parser);

	while (node) {
		skip_space(parser);
		if ((*parser->p != '+' && *parser->p != '-') || parser->p[1] == '-')
			break; /* "+-" begins the tolerance */
		enum node_kind kind = *parser->p++ == '+' ? NODE_ADD : NODE_SUBTRACT;

		node = binary(kind, node, parse_product(parser));
	}
	return node;
}

static bool parse_relation(struct parser *parser, enum relation *ret)
{
	static const struct {
		const char *text;
		enum relation relation;
	} table[] = { { "<=", REL_LE }, { ">=", REL_GE }, { "==", REL_EQ }, { "!=", REL_NE },
		      { "<", REL_LT },	{ ">", REL_GT },  { "~", REL_NEAR } };

	skip_space(parser);
	for (unsigned i = 0; i < G_N_ELEMENTS(table); i++) {
		if (g_str_has_prefix(parser->p, table[i].text)) {
			parser->p += strlen(table[i].text);
			*ret = table[i].relation;
			return true;
		}
	}
	expected(parser, "<=, <, >=, >, ==, != or ~");
	return false;
}

/* "+- 2%" or "+- 30" */
static bool parse_tolerance(struct parser *parser, struct expr *expr)
{
	char *end;

	skip_space(parser);
	if (!g_str_has_prefix(parser->p, "+-")) {
		expected(parser, "\"+-\" and a tolerance");
		return false;
	}
	parser->p += 2;
	skip_space(parser);
	if (!g_ascii_isdigit(*parser->p)) {
		expected(parser, "a number");
		return false;
	}
	expr->tolerance = g_ascii_strtod(parser->p, &end);
	parser->p = end;
	skip_space(parser);
	if (*parser->p == '%') {
		parser->p++;
		expr->relative = true;
		expr->tolerance /= 100;
	}
	return true;
}

struct expr *expr_parse(const char *text, GError **error)
{
	struct parser parser = { .text = text, .p = text, .error = error };
	struct expr *expr = g_new0(struct expr, 1);

	expr->left = parse_sum(&parser);
	if (!expr->left || !parse_relation(&parser, &expr->relation))
		goto fail;
	expr->right = parse_sum(&parser);
	if (!expr->right || (expr->relation == REL_NEAR && !parse_tolerance(&parser, expr)))
		goto fail;
	skip_space(&parser);
	if (!*parser.p)
		return expr;
	expected(&parser, "the end");
fail:
	expr_free(expr);
	return NULL;
}

void expr_free(struct expr *expr)
{
	if (!expr)
		return;
	node_free(expr->left);
	node_free(expr->right);
	g_free(expr);
}

static bool evaluate(const struct node *node, expr_lookup lookup, void *arg, double *ret,
		     GError **error)
{
	double left, right;

	if (node->kind == NODE_NUMBER) {
		*ret = node->number;
		return true;
	}
	if (node->kind == NODE_METRIC)
		return lookup(arg, node->column, node->metric, node->snapshot, ret, error);
	if (!evaluate(node->left, lookup, arg, &left, error) ||
	    !evaluate(node->right, lookup, arg, &right, error))
		return false;
	if (node->kind == NODE_DIVIDE && right == 0) {
		g_set_error(error, RS_ERROR, RS_ERROR_INPUT, "division by zero");
		return false;
	}
	*ret = node->kind == NODE_ADD	     ? left + right
	       : node->kind == NODE_SUBTRACT ? left - right
	       : node->kind == NODE_MULTIPLY ? left * right
					     : left / right;
	return true;
}

bool expr_evaluate(const struct expr *expr, expr_lookup lookup, void *arg, struct expr_sides *ret,
		   GError **error)
{
	struct expr_sides sides = { 0 };

	if (!evaluate(expr->left, lookup, arg, &sides.left, error) ||
	    !evaluate(expr->right, lookup, arg, &sides.right, error))
		return false;
	sides.tolerance = expr->relative ? expr->tolerance * fabs(sides.right) : expr->tolerance;
	*ret = sides;
	return true;
}

bool expr_holds(const struct expr *expr, double low, double high, double tolerance)
{
	switch (expr->relation) {
	case REL_LE:
		return high <= 0;
	case REL_LT:
		return high < 0;
	case REL_GE:
		return low >= 0;
	case REL_GT:
		return low > 0;
	case REL_EQ:
		return low == 0 && high == 0;
	case REL_NE:
		return low > 0 || high < 0;
	default:
		return low >= -tolerance && high <= tolerance;
	}
}
