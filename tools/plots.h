/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * plots.h - the kinds of pictures. Each is a function from results to a figure.
 */
#ifndef TOOLS_PLOTS_H
#define TOOLS_PLOTS_H

#include "tools/gnuplot.h"
#include "tools/plot_input.h"

struct plot_options {
	const char *counter; /* NULL: the kind's own choice */
	const char *axis;    /* setting on the x axis of curves; NULL: memory.max */
	const char *by;	     /* setting whose values are lines of their own; NULL: none */
	const char *title;   /* NULL: none */
	const char *lru;     /* trace whose exact LRU curve is drawn as well; NULL: none */
};

/* A counter against memory (or another setting), one line a policy, 95 % band over seeds. */
struct figure *plot_curve(GPtrArray *results, const struct plot_options *, GError **);
/* Counters side by side, one bar a policy, whiskers over seeds. */
struct figure *plot_bars(GPtrArray *results, const struct plot_options *, GError **);
/* Over time: memory by kind, refaults a second, pressure. One result. */
struct figure *plot_series(GPtrArray *results, const struct plot_options *, GError **);
/* Sizes of MGLRU's generations over time, stacked. One result. */
struct figure *plot_generations(GPtrArray *results, const struct plot_options *, GError **);
/* What comes back of what MGLRU evicted or protected, by tier, over time. One result. */
struct figure *plot_tiers(GPtrArray *results, const struct plot_options *, GError **);
/* Waiting for locks against the number of threads, one line a policy and lock. */
struct figure *plot_locks(GPtrArray *results, const struct plot_options *, GError **);
/* Accesses a second of simulated time against the number of threads, one line a policy. */
struct figure *plot_throughput(GPtrArray *results, const struct plot_options *, GError **);
/* Accesses by page and time; from a trace, not from results. */
struct figure *plot_heatmap(const char *trace, const struct plot_options *, GError **);

/* Numbers of an axis that goes up to max: no digit lost, none too many. */
void plot_number_format(struct figure *figure, const char *axis, double max);
/* Lines shared by all: grid, key, title. */
void plot_begin(struct figure *figure, const struct plot_options *options);

#endif
