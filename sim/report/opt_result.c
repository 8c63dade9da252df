/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * opt_result.c - policy "opt": the clairvoyant bound in the form of a result, so that it can stand
 * beside real policies.
 */
#include <reclaimsim/opt.h>

#include "sim/base/config.h"
#include "sim/report/result.h"

static const struct rs_counter counters[] = {
	{ "sim_opt_misses", "demand misses of the clairvoyant bound" },
	{ "sim_opt_anon", "of these: anonymous pages back from swap" },
	{ "sim_opt_file_mapped", "of these: file pages, through a mapping" },
	{ "sim_opt_file_call", "of these: file pages, through read()" },
	{ "sim_opt_first_touches", "first touches of anonymous pages, no misses" },
	{ NULL, NULL },
};
static const struct rs_policy_ops ops = { .name = "opt", .counters = counters };

static void add_snapshot(struct rs_result *result, const char *name, uint64_t op,
			 const struct rs_opt_counts *counts)
{
	struct rs_snapshot *snapshot = rs_result_add_snapshot(result, name, op, 0);

	snapshot->vmstat[RS_PGMAJFAULT] = rs_opt_misses(counts);
	snapshot->vmstat[RS_PGPGIN] = rs_opt_misses(counts) * (RS_PAGE_SIZE / 1024);
	snapshot->own[0] = rs_opt_misses(counts);
	snapshot->own[1] = counts->anon;
	snapshot->own[2] = counts->file_mapped;
	snapshot->own[3] = counts->file_call;
	snapshot->own[4] = counts->first_touches;
}

static struct rs_result *make_result(const struct rs_scenario *scenario,
				     const struct rs_trace *trace, const struct rs_opt_result *opt)
{
	struct rs_result *result = rs_result_new(scenario, "opt", &ops);

	result->bound = true;
	for (unsigned e = 0; e < RS_NR_EVENTS; e++)
		result->has_event[e] = e == RS_PGMAJFAULT || e == RS_PGPGIN;
	for (uint32_t i = 0; i < opt->nr_marks; i++)
		add_snapshot(result, rs_trace_name(trace, RS_NAME_MARK, opt->marks[i].name),
			     opt->marks[i].op, &opt->marks[i].counts);
	add_snapshot(result, "end", opt->ops, &opt->end);
	rs_result_set_trace(result, trace, opt->ops);
	return result;
}

bool rs_opt_run(const struct rs_scenario *scenario, const char *path, struct rs_result **ret,
		GError **error)
{
	uint64_t limit = rs_scenario_config(scenario)->memcgs[0].max;
	uint64_t capacity = limit == RS_UNLIMITED ? UINT64_MAX : limit >> RS_PAGE_SHIFT;
	struct rs_opt_result opt = { 0 };
	struct rs_trace *trace = rs_trace_open(path, error);
	bool ok = trace && rs_opt_bound(trace, capacity, &opt, error);

	if (ok)
		*ret = make_result(scenario, trace, &opt);
	rs_opt_result_clear(&opt);
	rs_trace_free(trace);
	return ok;
}
