/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * verdict.c - counts rows by kernel and policy and holds them against what the rule asks.
 */
#include "verdict.h"

#include <string.h>

static char *group_of(const struct truth_case *c)
{
	if (!strcmp(c->variant, "base"))
		return g_strdup_printf("%s %s", c->kernel, c->lru);
	return g_strdup_printf("%s %s %s", c->variant, c->kernel, c->lru);
}

static struct tally *tally_of(GArray *tallies, const struct tolerance *tolerance, const char *group,
			      double need)
{
	struct tally fresh = { .tolerance = tolerance, .need = need };

	for (guint i = 0; i < tallies->len; i++) {
		struct tally *tally = &g_array_index(tallies, struct tally, i);

		if (tally->tolerance == tolerance && !strcmp(tally->group, group))
			return tally;
	}
	fresh.group = g_strdup(group);
	g_array_append_val(tallies, fresh);
	return &g_array_index(tallies, struct tally, tallies->len - 1);
}

static int by_group(gconstpointer a, gconstpointer b)
{
	const struct tally *x = a, *y = b;
	bool x_total = !strcmp(x->group, "total"), y_total = !strcmp(y->group, "total");

	if (x->tolerance != y->tolerance)
		return x->tolerance < y->tolerance ? -1 : 1;
	if (x_total != y_total)
		return x_total - y_total;
	return strcmp(x->group, y->group);
}

static void count(struct tally *tally, bool right)
{
	tally->nr++;
	tally->right += right;
}

GArray *verdict_of(const GArray *rows, const struct rule *rule, bool end_only)
{
	GArray *tallies = g_array_new(FALSE, TRUE, sizeof(struct tally));

	for (guint i = 0; i < rows->len; i++) {
		const struct row *row = &g_array_index(rows, struct row, i);
		g_autofree char *group = group_of(row->c);
		bool right = row->badness <= 1;

		if (end_only && !row->at_end)
			continue;
		count(tally_of(tallies, row->tolerance, group, row->tolerance->need_each), right);
		count(tally_of(tallies, row->tolerance, "total", row->tolerance->need_total),
		      right);
	}
	for (guint i = 0; i < tallies->len; i++) {
		struct tally *tally = &g_array_index(tallies, struct tally, i);

		tally->enough = tally->right * 100.0 >= tally->need * tally->nr;
	}
	g_array_sort(tallies, by_group);
	return tallies;
}

void verdict_free(GArray *tallies)
{
	for (guint i = 0; i < tallies->len; i++)
		g_free(g_array_index(tallies, struct tally, i).group);
	g_array_unref(tallies);
}

bool verdict_enough(const GArray *tallies)
{
	for (guint i = 0; i < tallies->len; i++) {
		if (!g_array_index(tallies, struct tally, i).enough)
			return false;
	}
	return tallies->len;
}

bool differences_enough(const GArray *differences, const struct rule *rule)
{
	unsigned right = 0;

	for (guint i = 0; i < differences->len; i++) {
		const struct difference_row *row =
			&g_array_index(differences, struct difference_row, i);

		if (row->sign_wrong)
			return false;
		right += !row->size_wrong;
	}
	return right * 100.0 >= rule->need_difference * differences->len;
}
