/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bench_replay.c - replay speed of the whole simulator against the two yardsticks, in one run: a
 * trace of zipf 1.0 accesses over a million pages, nearly all of them hits.
 *
 * bench_replay [--accesses N] [--check]: with --check the exit status is 1 below the least ratios.
 */
#include "tests/bench/yardstick.h"

#include <reclaimsim/sim.h>

#include <glib/gstdio.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PAGES (1u << 20)
#define LEAST_OF_MEMORY 0.15
#define LEAST_OF_DECODE 0.25
#define REPEATS 5u

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static struct rs_sim *new_sim(const char *policy, const char *limit)
{
	g_autoptr(GError) error = NULL;
	struct rs_scenario *scenario = rs_scenario_new();
	struct rs_sim *sim = NULL;

	if (rs_scenario_set(scenario, "node0.memory", "8G", &error) &&
	    rs_scenario_set(scenario, "memory.max", limit, &error) &&
	    rs_scenario_set(scenario, "swap", "null", &error))
		sim = rs_sim_new(scenario, policy, &error);
	if (error)
		fprintf(stderr, "bench_replay: %s\n", error->message);
	rs_scenario_free(scenario);
	return sim;
}

/* Seconds of one run from the file; negative: failed. */
static double from_file(const char *path, const char *policy, const char *limit)
{
	struct rs_sim *sim = new_sim(policy, limit);
	struct rs_trace *trace = rs_trace_open(path, NULL);
	struct rs_result *result = NULL;
	double start = bench_seconds(), seconds = -1;

	if (sim && trace && rs_sim_run(sim, trace, &result, NULL))
		seconds = bench_seconds() - start;
	rs_result_free(result);
	rs_trace_free(trace);
	rs_sim_free(sim);
	return seconds;
}

/*
 * Seconds an access of the second half of the trace, whose records were decoded before: as
 * yardstick 1, which has its page numbers in memory. The first half filled the memory.
 */
static double from_memory(const char *path, const char *policy, const char *limit)
{
	struct rs_sim *sim = new_sim(policy, limit);
	struct rs_trace *trace = rs_trace_open(path, NULL);
	struct rs_batch batch;
	GArray *records = g_array_new(FALSE, FALSE, sizeof(struct rs_record));
	uint64_t fed = 0;
	double start, seconds = -1;
	bool ok = sim && trace;

	while (ok && rs_trace_next(trace, &batch, NULL) > 0) {
		if (fed < 2ull * PAGES)
			ok = rs_sim_feed(sim, trace, &batch, NULL);
		else
			g_array_append_vals(records, batch.records, batch.nr_records);
		fed += batch.nr_records;
	}
	start = bench_seconds();
	for (guint i = 0; ok && i < records->len; i += 65536) {
		batch = (struct rs_batch){ .records = &g_array_index(records, struct rs_record, i),
					   .nr_records = MIN(65536, records->len - i) };
		ok = rs_sim_feed(sim, trace, &batch, NULL);
	}
	if (ok && records->len)
		seconds = (bench_seconds() - start) / records->len;
	g_array_unref(records);
	rs_trace_free(trace);
	rs_sim_free(sim);
	return seconds;
}

/* Median of the repeats. */
static double median(double (*run)(const char *, const char *, const char *), const char *path,
		     const char *policy, const char *limit)
{
	double seconds[REPEATS];

	for (unsigned i = 0; i < REPEATS; i++) {
		seconds[i] = run(path, policy, limit);
		if (seconds[i] < 0)
			exit(2);
	}
	qsort(seconds, REPEATS, sizeof(*seconds), by_value);
	return seconds[REPEATS / 2];
}

static bool report(const char *path, const char *policy, const char *limit, uint64_t accesses,
		   double memory, double decode)
{
	double hits = median(from_memory, path, policy, limit);
	double file = median(from_file, path, policy, limit);

	printf("%-8s memory.max %-4s from memory %8.1f M accesses/s, %.3f of yardstick 1;"
	       " from the file %8.1f M/s, %.3f of yardstick 2\n",
	       policy, limit, 1e-6 / hits, memory / accesses / hits, accesses / file / 1e6,
	       decode / file);
	return memory / accesses / hits >= LEAST_OF_MEMORY && decode / file >= LEAST_OF_DECODE;
}

int main(int argc, char **argv)
{
	uint32_t accesses = 32u << 20;
	bool check = false, ok = true;
	g_autofree char *dir = NULL, *path = NULL;
	struct bench_speed memory, decode;

	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--check"))
			check = true;
		else if (!strcmp(argv[i], "--accesses") && i + 1 < argc)
			accesses = strtoul(argv[++i], NULL, 10);
	}
	dir = g_dir_make_tmp("reclaimsim-bench-XXXXXX", NULL);
	path = dir ? g_build_filename(dir, "zipf.rst", NULL) : NULL;
	if (!path || !bench_write_zipf(path, PAGES, accesses, 1.0))
		return 2;
	if (!yardstick_memory(path, REPEATS, &memory) || !yardstick_decode(path, REPEATS, &decode))
		return 2;
	printf("yardstick 1, page numbers in memory: %8.1f M accesses/s\n",
	       memory.accesses / memory.seconds / 1e6);
	printf("yardstick 2, decode and the same:    %8.1f M accesses/s\n",
	       decode.accesses / decode.seconds / 1e6);
	ok &= report(path, "classic", "5G", memory.accesses, memory.seconds, decode.seconds);
	ok &= report(path, "mglru", "5G", memory.accesses, memory.seconds, decode.seconds);
	/* Miss-heavy, for information: memory for three quarters of the pages. */
	report(path, "classic", "3G", memory.accesses, memory.seconds, decode.seconds);
	report(path, "mglru", "3G", memory.accesses, memory.seconds, decode.seconds);
	g_unlink(path);
	g_rmdir(dir);
	return check && !ok;
}
