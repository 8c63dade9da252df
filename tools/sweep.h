/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sweep.h - many runs that differ in policy, settings, trace and seed.
 *
 * A sweep lives in a folder that all hosts share; there is no server and no lock:
 *
 *   plan.json            axes and their values; the cells are their product
 *   results/ab/ID.json   result of the cell ID (abcd...), renamed into place when complete
 *   results/ab/ID.failed why the last try of a cell failed; gone when a later one succeeds
 *   job.sh, log/         what submit hands to the engine, and its output
 *
 * ID is a hash of everything that decides the result, so a cell is the same in every plan.
 */
#ifndef TOOLS_SWEEP_H
#define TOOLS_SWEEP_H

#include <reclaimsim/sim.h>

#include <glib.h>
#include <jansson.h>

#define SWEEP_MAX_CELLS UINT64_C(10000000)

/* One axis: "trace", "policy", or the name of a setting. The last axis varies fastest. */
struct sweep_axis {
	char *key;
	GPtrArray *values; /* char * */
};

struct sweep_trace {
	char *path, *digest; /* SHA-256 of the file */
	uint64_t footprint;  /* pages; 0: no axis has shares of it */
};

struct sweep_plan {
	char *name;
	struct rs_scenario *base; /* machine file and "set" applied */
	json_t *base_settings;	  /* key: value, in order, to build the base again */
	GPtrArray *axes;	  /* struct sweep_axis; trace and policy first */
	GPtrArray *traces;	  /* struct sweep_trace, as the values of axis "trace" */
	uint64_t nr_cells;
};

/* One cell, resolved. */
struct sweep_cell {
	uint64_t index;
	char id[33];
	const char *trace, *policy; /* owned by the plan */
	struct rs_scenario *scenario;
};

/* From a spec that a user wrote. */
struct sweep_plan *sweep_plan_from_spec(const char *path, GError **error);
/* From DIR/plan.json. */
struct sweep_plan *sweep_plan_load(const char *dir, GError **error);
/* Write DIR/plan.json; if there is one already it must be equal. */
bool sweep_plan_save(const struct sweep_plan *plan, const char *dir, GError **error);
void sweep_plan_free(struct sweep_plan *plan); /* NULL is fine */

bool sweep_cell_init(const struct sweep_plan *plan, uint64_t index, struct sweep_cell *ret,
		     GError **error);
void sweep_cell_clear(struct sweep_cell *cell);
/* The cell's value on every axis: {"trace": ..., "policy": ..., "memory.max": "64M", ...} */
json_t *sweep_cell_axes(const struct sweep_plan *plan, uint64_t index);
/* Path of "json" or "failed"; g_free(). */
char *sweep_cell_path(const char *dir, const char *id, const char *suffix);
/* A complete result is there. */
bool sweep_cell_done(const char *dir, const char *id);

/*
 * Run the cells index % of == chunk that have no result, parallel at once. Counts of cells of the
 * chunk that are done and that failed now.
 */
bool sweep_exec(const struct sweep_plan *plan, const char *dir, uint64_t chunk, uint64_t of,
		unsigned parallel, bool progress, uint64_t *ret_done, uint64_t *ret_failed,
		GError **error);

struct sweep_counts {
	uint64_t done, failed, missing;
};
bool sweep_status(const struct sweep_plan *plan, const char *dir, struct sweep_counts *ret,
		  GError **error);

/* ---- engines ---- */
enum sweep_executor { SWEEP_LOCAL, SWEEP_PARALLEL, SWEEP_SLURM };
struct sweep_submission {
	enum sweep_executor executor;
	unsigned jobs;	 /* slots; 0: one a CPU (local, parallel), the engine's limit (slurm) */
	uint64_t chunks; /* 0: chosen */
	char **engine_options; /* passed on unchanged; may be NULL */
	bool dry_run, detach, quiet;
};
bool sweep_parse_executor(const char *text, enum sweep_executor *ret, GError **error);
/* Hand the unfinished cells over and, unless detached, wait for them. False: not handed over. */
bool sweep_submit(const struct sweep_plan *plan, const char *dir,
		  const struct sweep_submission *submission, GError **error);

#endif
