/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * difference.c - what people run a simulator for: how two policies differ.
 *
 * Judged where the kernel's difference is larger than the rule's per cent and than the spread of
 * the repeats of both. The spread of the difference is the sum of both half ranges, as a part of
 * the baseline; repeats agree on a sign when their ranges do not overlap.
 */
#include "compare.h"

#include <math.h>
#include <string.h>

/* Repeats of own builds share one boot; this is the least that two boots differ, per cent. */
#define OWN_SPREAD_PERCENT 3

static double end_value(const struct truth_case *c, unsigned counter)
{
	return g_array_index(c->sim, struct obs_snapshot, c->sim->len - 1).value[counter];
}

static double percent_of(double base, double other)
{
	return base > 0 ? (other - base) / base * 100 : other > 0 ? INFINITY : 0;
}

static bool is_wrong_size(const struct difference_row *row, const struct rule *rule)
{
	double allowed = fmax(rule->difference_points, row->spread);

	if (!rule->difference_points || (isinf(row->kernel) && isinf(row->sim)))
		return false;
	return !(fabs(row->sim - row->kernel) <= allowed);
}

static void add_difference(GArray *rows, const struct truth_case *base,
			   const struct truth_case *other, unsigned counter,
			   const struct rule *rule)
{
	guint end = base->sim->len - 1;
	struct spread a = spread_of(base, end, counter), b = spread_of(other, end, counter);
	struct difference_row row = { .base = base, .other = other, .counter = counter };
	double least = g_str_has_prefix(base->variant, "own") ? OWN_SPREAD_PERCENT : 0;

	if (fmax(a.mean, b.mean) <= rule->min_events)
		return;
	row.kernel = percent_of(a.mean, b.mean);
	row.sim = percent_of(end_value(base, counter), end_value(other, counter));
	row.spread = a.mean > 0 ? (a.half_range + b.half_range) / a.mean * 100 : 0;
	row.spread = fmax(row.spread, least);
	if (fabs(row.kernel) <= rule->difference_percent || fabs(row.kernel) <= row.spread ||
	    (a.min <= b.max && b.min <= a.max))
		return;
	row.sign_wrong = row.kernel * row.sim <= 0;
	row.size_wrong = is_wrong_size(&row, rule);
	g_array_append_val(rows, row);
}

static const struct truth_case *baseline_of(const GPtrArray *cases, const struct truth_case *c)
{
	if (g_str_has_prefix(c->variant, "own-"))
		return truth_partner(cases, c, "own", c->lru);
	if (!strcmp(c->lru, "mglru"))
		return truth_partner(cases, c, c->variant, "classic");
	return NULL;
}

GArray *compare_differences(const GPtrArray *cases, const struct rule *rule)
{
	GArray *rows = g_array_new(FALSE, TRUE, sizeof(struct difference_row));

	for (guint i = 0; i < cases->len; i++) {
		const struct truth_case *c = cases->pdata[i], *base = baseline_of(cases, c);

		if (!base || !base->sim || !c->sim || base->sim->len != c->sim->len)
			continue;
		for (unsigned counter = 0; counter < obs_nr_counters; counter++) {
			if (obs_counters[counter].class == OBS_CORE)
				add_difference(rows, base, c, counter, rule);
		}
	}
	return rows;
}
