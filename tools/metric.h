/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * metric.h - numbers of a result by name, from the JSON object that `run --json` prints.
 *
 * run, compare, check and plot all look numbers up here, so that a name means the same everywhere.
 * A name is looked for in vmstat_delta, the policy's own counters, memory.stat of the trace's
 * group, the gauges; some names are sums or ratios (see metric_value()). A name with dots is a path
 * from the root of the result or of the snapshot.
 */
#ifndef TOOLS_METRIC_H
#define TOOLS_METRIC_H

#include <reclaimsim/types.h>

#include <jansson.h>

struct metric {
	bool integer;
	int64_t count; /* if integer */
	double value;  /* always */
};

/* Snapshot of that name (NULL: "end", the last); NULL if there is none. */
json_t *metric_snapshot(json_t *result, const char *name);
/*
 * False: the result has no such number (policies and machines differ), or one that does not
 * compare with the kernel's of that name (the bound's pgmajfault). Sums: pgscan and pgsteal
 * (anon + file), workingset_refault (anon + file). Ratios: steal/scan. Of the run: elapsed_ns,
 * reclaim_cpu_ns, cost.ACTIVITY (ns), cost.ACTIVITY.calls, locks.NAME.wait_ns, time.accesses, ...
 */
bool metric_value(json_t *result, const char *snapshot, const char *name, struct metric *ret);

/* Names chosen by --counters: names, groups and patterns with * ? of what the results have. */
GPtrArray *metric_select(json_t *const *results, unsigned nr, const char *choice, GError **error);
/* Unit for people: "pages", "ns", "". */
const char *metric_unit(const char *name);
/* One line about each group, for help: "fault   pgfault, ..."; NULL behind the last. */
const char *metric_group_doc(unsigned i);

#endif
