/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * phases.c - what differs between two boots of a kernel differs between its repeats: 6.12 and
 * newer flush memcg statistics by a worker every 2 s, and classic reclaim decides by them; the
 * multi-gen LRU walks page tables, and address space randomisation decides which pages share one.
 * The simulator is run over many such boots. A kernel's repeats are covered when all lie between
 * the least and the largest value over the boots, give or take 3 % of the kernel's mean or 64
 * events.
 */
#include "phases.h"

#include "print.h"

#include <inttypes.h>
#include <math.h>

#define MIN_EVENTS 64
#define MARGIN_PERCENT 3
#define MARGIN_EVENTS 64

struct cover {
	const struct truth_case *c;
	unsigned counter;
	struct spread kernel;
	int64_t min, max;
	double outside; /* events of the kernel's range beyond the margin */
};

static int by_outside(gconstpointer a, gconstpointer b)
{
	const struct cover *x = a, *y = b;
	double p = x->outside / x->kernel.mean, q = y->outside / y->kernel.mean;

	return p < q ? 1 : p > q ? -1 : 0;
}

static void add_cover(GArray *covers, const struct truth_case *c, unsigned counter)
{
	struct cover cover = { .c = c, .counter = counter, .min = INT64_MAX, .max = INT64_MIN };
	double margin;

	for (guint i = 0; i < c->phases->len; i++) {
		const GArray *run = c->phases->pdata[i];
		int64_t value =
			g_array_index(run, struct obs_snapshot, run->len - 1).value[counter];

		cover.min = MIN(cover.min, value);
		cover.max = MAX(cover.max, value);
	}
	cover.kernel = spread_of(c, ((GArray *)c->repeats->pdata[0])->len - 1, counter);
	if (cover.kernel.mean <= MIN_EVENTS && cover.max <= MIN_EVENTS)
		return;
	margin = fmax(cover.kernel.mean * MARGIN_PERCENT / 100, MARGIN_EVENTS);
	cover.outside =
		fmax(cover.min - margin - cover.kernel.min, cover.kernel.max - margin - cover.max);
	cover.outside = fmax(cover.outside, 0);
	g_array_append_val(covers, cover);
}

static void print_cover(const struct cover *cover, FILE *stream)
{
	g_autofree char *name = print_case_name(cover->c);

	fprintf(stream,
		"%-34s %-24s kernel %" PRId64 " to %" PRId64 ", simulator %" PRId64 " to %" PRId64
		"\n",
		name, obs_counters[cover->counter].name, cover->kernel.min, cover->kernel.max,
		cover->min, cover->max);
}

double phases_print(const GPtrArray *cases, guint show, FILE *stream)
{
	GArray *covers = g_array_new(FALSE, TRUE, sizeof(struct cover));
	unsigned covered = 0, nr;

	for (guint i = 0; i < cases->len; i++) {
		const struct truth_case *c = cases->pdata[i];

		for (unsigned counter = 0; c->phases && c->phases->len && counter < obs_nr_counters;
		     counter++) {
			if (obs_counters[counter].class & (OBS_CORE | OBS_ACTIVATE | OBS_SCAN))
				add_cover(covers, c, counter);
		}
	}
	g_array_sort(covers, by_outside);
	nr = covers->len;
	for (guint i = 0; i < nr; i++) {
		const struct cover *cover = &g_array_index(covers, struct cover, i);

		covered += cover->outside <= 0;
		if (cover->outside > 0 && i < show)
			print_cover(cover, stream);
	}
	g_array_unref(covers);
	fprintf(stream,
		"%u of %u values: the kernel's repeats lie within the simulator's boots (%.1f "
		"%%)\n",
		covered, nr, 100.0 * covered / MAX(nr, 1));
	return 100.0 * covered / MAX(nr, 1);
}
