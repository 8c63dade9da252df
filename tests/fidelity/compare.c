/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * compare.c - cases to rows: the kernel's mean and spread beside the simulator's value.
 */
#include "compare.h"

#include <math.h>
#include <string.h>

static int64_t value_at(const GArray *run, guint snapshot, unsigned counter)
{
	return g_array_index(run, struct obs_snapshot, snapshot).value[counter];
}

struct spread spread_of(const struct truth_case *c, guint snapshot, unsigned counter)
{
	struct spread spread = { .min = INT64_MAX, .max = INT64_MIN, .present = c->repeats->len };
	double sum = 0;

	for (guint i = 0; i < c->repeats->len; i++) {
		int64_t value = value_at(c->repeats->pdata[i], snapshot, counter);

		if (value == OBS_ABSENT)
			spread.present = false;
		spread.min = MIN(spread.min, value);
		spread.max = MAX(spread.max, value);
		sum += value;
	}
	if (spread.present) {
		spread.mean = sum / c->repeats->len;
		spread.half_range = (spread.max - spread.min) / 2.0;
	}
	return spread;
}

static const struct tolerance *tolerance_for(const struct rule *rule, enum obs_class class)
{
	for (unsigned i = 0; i < G_N_ELEMENTS(rule->tolerance); i++) {
		if (rule->tolerance[i].classes & class)
			return &rule->tolerance[i];
	}
	return NULL;
}

/* max_seq counts ageing runs, of which there are few: to be right it must hit to about one. */
static double allowed(const struct row *row)
{
	double percent = row->tolerance->percent / 100 * row->kernel.mean;
	double floor = row->tolerance->floor;

	if (!strcmp(obs_counters[row->counter].name, "lru_gen.max_seq"))
		floor = 1;
	return fmax(fmax(percent, 1.5 * row->kernel.half_range), floor);
}

static void add_row(GArray *rows, const struct truth_case *c, guint snapshot, unsigned counter,
		    const struct rule *rule)
{
	const struct obs_snapshot *at = &g_array_index(c->sim, struct obs_snapshot, snapshot);
	struct row row = { .c = c, .snapshot = at->name, .counter = counter };
	bool is_seq = !strcmp(obs_counters[counter].name, "lru_gen.max_seq");

	row.tolerance = tolerance_for(rule, obs_counters[counter].class);
	row.kernel = spread_of(c, snapshot, counter);
	row.sim = at->value[counter];
	row.at_end = snapshot == c->sim->len - 1;
	if (!row.tolerance || !row.kernel.present || row.sim == OBS_ABSENT)
		return;
	if (!is_seq && row.kernel.mean <= rule->min_events && row.sim <= rule->min_events)
		return;
	row.badness = fabs(row.sim - row.kernel.mean) / fmax(allowed(&row), 1e-9);
	g_array_append_val(rows, row);
}

/* A mark on the last line of a trace is the end once more. */
static bool counts(const GArray *run, guint snapshot, const struct rule *rule)
{
	const struct obs_snapshot *at = &g_array_index(run, struct obs_snapshot, snapshot);
	const struct obs_snapshot *end = &g_array_index(run, struct obs_snapshot, run->len - 1);

	return at == end || (rule->marks && at->op != end->op);
}

static int worst_first(gconstpointer a, gconstpointer b)
{
	const struct row *x = a, *y = b;

	if (x->badness != y->badness)
		return x->badness < y->badness ? 1 : -1;
	if (x->c != y->c)
		return strcmp(x->c->key, y->c->key);
	if (x->counter != y->counter)
		return x->counter < y->counter ? -1 : 1;
	return strcmp(x->snapshot, y->snapshot);
}

GArray *compare_rows(const GPtrArray *cases, const struct rule *rule)
{
	GArray *rows = g_array_new(FALSE, TRUE, sizeof(struct row));

	for (guint i = 0; i < cases->len; i++) {
		const struct truth_case *c = cases->pdata[i];

		for (guint s = 0; c->sim && s < c->sim->len; s++) {
			if (!counts(c->sim, s, rule))
				continue;
			for (unsigned counter = 0; counter < obs_nr_counters; counter++)
				add_row(rows, c, s, counter, rule);
		}
	}
	g_array_sort(rows, worst_first);
	return rows;
}
