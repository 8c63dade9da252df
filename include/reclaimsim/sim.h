/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sim.h - build a machine, run a trace on it under a policy, get the result.
 */
#ifndef RECLAIMSIM_SIM_H
#define RECLAIMSIM_SIM_H

#include <reclaimsim/policy.h>
#include <reclaimsim/trace.h>

/* ---- scenario: every setting, with the machine file's and --set's overrides applied ---- */
struct rs_scenario;
struct rs_scenario *rs_scenario_new(void); /* defaults */
struct rs_scenario *rs_scenario_copy(const struct rs_scenario *);
void rs_scenario_free(struct rs_scenario *);
/* JSON object of settings: flat "key": value, or nested objects joined by dots. */
bool rs_scenario_load(struct rs_scenario *, const char *path, GError **);
/* "memory.max", "16000p"; "memcg:/a.memory.low", "64M". */
bool rs_scenario_set(struct rs_scenario *, const char *key, const char *value, GError **);
bool rs_scenario_set_kernel(struct rs_scenario *, const char *name, GError **);
/* Settings that contradict each other; each alone was checked when it was set. */
bool rs_scenario_check(const struct rs_scenario *, GError **);
/* Every setting in force as a JSON object on one line, in the table's order; g_free(). */
char *rs_scenario_settings_json(const struct rs_scenario *);

/* One row of the table of settings, for lists, help and completion. */
struct rs_setting_info {
	char *name;  /* "memory.max", "nodeN.zone.ZONE.managed", "cost.hit" */
	char *def;   /* default under that kernel, as one would write it */
	char *range; /* what is valid */
	char *doc;
};
/* Row i, or NULL behind the last; rs_setting_info_free(). */
struct rs_setting_info *rs_setting_describe(unsigned i, enum rs_kernel);
void rs_setting_info_free(struct rs_setting_info *);

/* ---- policies ---- */
/* Built-in policies by index; NULL behind the last. */
const struct rs_policy_ops *rs_policy_builtin(unsigned i);
const char *rs_kernel_name(enum rs_kernel); /* "6.12" */

/* ---- run ---- */
struct rs_sim;
struct rs_result;
/* policy: "NAME[:param=value,...]", or the path of a plug-in. */
struct rs_sim *rs_sim_new(const struct rs_scenario *, const char *policy, GError **);
/* Feed a batch: the simulation proceeds as far as it goes. last ends the trace. */
bool rs_sim_feed(struct rs_sim *, const struct rs_trace *, const struct rs_batch *, GError **);
bool rs_sim_finish(struct rs_sim *, const struct rs_trace *, struct rs_result **ret, GError **);
/* The whole trace: rs_trace_next(), feed, finish. */
bool rs_sim_run(struct rs_sim *, struct rs_trace *, struct rs_result **ret, GError **);
void rs_sim_free(struct rs_sim *);

/*
 * Policy "opt", which is no policy but a bound: the fewest demand misses any policy could have with
 * memory.max pages, nothing read ahead (Belady). pgmajfault of the result is that number.
 */
bool rs_opt_run(const struct rs_scenario *, const char *trace, struct rs_result **ret, GError **);

/* ---- result ---- */
char *
rs_result_json(const struct rs_result *); /* the contract's object, one line + newline; g_free() */
/* scope "vmstat", "memcg" or "memcg:/path"; of the last snapshot. False if absent. */
bool rs_result_counter(const struct rs_result *, const char *scope, const char *name, int64_t *ret);
void rs_result_free(struct rs_result *);

#endif
