/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * test_differential.c - the simulator and the reference must give equal counters.
 *
 * Runs both on small random traces (fixed seeds) and on every ground-truth trace of the directory
 * that RS_TRUTH names, and compares the counters at every mark. The periodic flush of the memcg
 * statistics is put out of reach, since the reference has no clock.
 */
#include "lib/cm.h"
#include "trace_random.h"

#include <glib/gstdio.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdbool.h>

static const char *const counters[] = {
	"pgmajfault",
	"pswpin",
	"pswpout",
	"pgscan_anon",
	"pgscan_file",
	"pgsteal_anon",
	"pgsteal_file",
	"pgactivate",
	"pgdeactivate",
	"pgrotated",
	"workingset_refault_anon",
	"workingset_refault_file",
	"workingset_activate_anon",
	"workingset_activate_file",
	"workingset_restore_anon",
	"workingset_restore_file",
	"nr_vmscan_write",
	"nr_vmscan_immediate_reclaim",
};
static const char *const sizes[] = { "inactive_anon", "active_anon", "inactive_file",
				     "active_file" };

struct run {
	const char *policy, *kernel, *swap;
	uint32_t limit, swappiness;
	bool read_ahead; /* page-cluster 3, windows of 128 KiB, fault-around of 64 KiB */
};

static json_t *output_of(char **argv)
{
	char *out = NULL, *err = NULL;
	int status = -1;
	GError *error = NULL;
	json_error_t why;
	json_t *json;

	if (!g_spawn_sync(NULL, argv, NULL, 0, NULL, NULL, &out, &err, &status, &error))
		fail_msg("%s: %s", argv[0], error->message);
	if (status)
		fail_msg("%s: status %d: %s", argv[0], status, err);
	json = json_loads(out, 0, &why);
	if (!json)
		fail_msg("%s: %s", argv[0], why.text);
	g_free(out);
	g_free(err);
	return json;
}

static json_t *run_reference(const char *trace, const struct run *run)
{
	char *limit = g_strdup_printf("%u", run->limit);
	char *swappiness = g_strdup_printf("%u", run->swappiness);
	char *argv[] = { REF_BINARY,
			 (char *)trace,
			 "--limit",
			 limit,
			 "--swappiness",
			 swappiness,
			 "--kernel",
			 (char *)run->kernel,
			 "--policy",
			 (char *)run->policy,
			 "--swap",
			 (char *)run->swap,
			 run->read_ahead ? "--page-cluster=3" : NULL,
			 "--read-ahead=32",
			 "--fault-around=16",
			 NULL };
	json_t *json = output_of(argv);

	g_free(limit);
	g_free(swappiness);
	return json;
}

static json_t *run_simulator(const char *trace, const struct run *run)
{
	GPtrArray *argv = g_ptr_array_new_with_free_func(g_free);
	json_t *json;

	g_ptr_array_add(argv, g_strdup(RS_BINARY));
	g_ptr_array_add(argv, g_strdup("run"));
	g_ptr_array_add(argv, g_strdup(trace));
	g_ptr_array_add(argv, g_strdup_printf("--policy=%s", run->policy));
	g_ptr_array_add(argv, g_strdup_printf("--kernel=%s", run->kernel));
	g_ptr_array_add(argv, g_strdup("--json"));
	g_ptr_array_add(argv, g_strdup_printf("--set=memory.max=%up", run->limit));
	g_ptr_array_add(argv, g_strdup_printf("--set=vm.swappiness=%u", run->swappiness));
	g_ptr_array_add(argv, g_strdup_printf("--set=swap=%s", run->swap));
	g_ptr_array_add(argv, g_strdup("--set=disk=null"));
	g_ptr_array_add(argv, g_strdup_printf("--set=vm.page-cluster=%d", run->read_ahead ? 3 : 0));
	g_ptr_array_add(argv, g_strdup_printf("--set=read_ahead_kb=%d", run->read_ahead ? 128 : 0));
	g_ptr_array_add(argv, g_strdup_printf("--set=fault_around_bytes=%d",
					      run->read_ahead ? 65536 : 4096));
	g_ptr_array_add(argv, g_strdup("--set=memcg.stat_flush_phase_ns=1000s"));
	g_ptr_array_add(argv, NULL);
	json = output_of((char **)argv->pdata);
	g_ptr_array_free(argv, true);
	return json;
}

static int64_t value(const json_t *object, const char *key)
{
	return json_integer_value(json_object_get(object, key));
}

/* Says every difference of one snapshot; true when there is none. */
static bool snapshots_agree(const char *what, const json_t *ref, const json_t *sim)
{
	const json_t *vmstat = json_object_get(sim, "vmstat_delta");
	const json_t *memcg = json_object_get(sim, "memcg");
	const char *name = json_string_value(json_object_get(ref, "name"));
	bool same = true;

	for (size_t i = 0; i < G_N_ELEMENTS(counters); i++) {
		int64_t want = value(ref, counters[i]), got = value(vmstat, counters[i]);

		if (want != got)
			print_message("%s at %s: %s is %" PRId64 ", reference %" PRId64 "\n", what,
				      name, counters[i], got, want);
		same &= want == got;
	}
	for (size_t i = 0; i < G_N_ELEMENTS(sizes); i++) {
		int64_t want = value(ref, sizes[i]), got = value(memcg, sizes[i]) / 4096;

		if (want != got)
			print_message("%s at %s: %s is %" PRId64 " pages, reference %" PRId64 "\n",
				      what, name, sizes[i], got, want);
		same &= want == got;
	}
	return same;
}

/* Compares mark by mark and stops at the first mark that differs. */
static bool runs_agree(const char *trace, const struct run *run, const char *what)
{
	json_t *ref = run_reference(trace, run), *sim = run_simulator(trace, run);
	const json_t *want = json_object_get(ref, "snapshots");
	const json_t *got = json_object_get(sim, "snapshots");
	bool same = json_array_size(want) == json_array_size(got);

	if (!same)
		print_message("%s: %zu snapshots, reference %zu\n", what, json_array_size(got),
			      json_array_size(want));
	for (size_t i = 0; same && i < json_array_size(want); i++)
		same = snapshots_agree(what, json_array_get(want, i), json_array_get(got, i));
	json_decref(ref);
	json_decref(sim);
	return same;
}

static bool random_trace_agrees(const struct trace_shape *shape, const struct run *run,
				uint64_t seed)
{
	GString *text = trace_random(shape, seed);
	char *what = g_strdup_printf("%s, kernel %s, %u pages, swappiness %u, swap %s, %s, seed %u",
				     run->policy, run->kernel, run->limit, run->swappiness,
				     run->swap, run->read_ahead ? "read-ahead" : "no read-ahead",
				     (unsigned int)seed);
	GError *error = NULL;
	char *path = NULL;
	bool same;
	int fd = g_file_open_tmp("differential-XXXXXX.trace", &path, &error);

	if (fd < 0 || !g_file_set_contents(path, text->str, text->len, &error))
		fail_msg("%s", error->message);
	g_close(fd, NULL);
	same = runs_agree(path, run, what);
	if (same)
		g_remove(path);
	else
		print_message("trace kept: %s\n", path);
	g_free(path);
	g_free(what);
	g_string_free(text, true);
	return same;
}

/* Three seeds, both kernels, two limits; all runs are made before the test fails. */
static void shape_agrees_with(const struct trace_shape *shape, const char *policy, const char *swap,
			      uint32_t swappiness, uint32_t limit, bool read_ahead)
{
	static const char *const kernels[] = { "6.1", "6.12" };
	bool same = true;

	for (size_t k = 0; k < G_N_ELEMENTS(kernels); k++)
		for (uint64_t seed = 1; seed <= 3; seed++)
			for (uint32_t part = 1; part <= 2; part++) {
				const struct run run = { "classic",    kernels[k], swap,
							 limit / part, swappiness, read_ahead };

				same &= random_trace_agrees(shape, &run, seed);
			}
	assert_true(same);
}

static void shape_agrees(const struct trace_shape *shape, const char *swap, uint32_t swappiness,
			 uint32_t limit)
{
	shape_agrees_with(shape, "classic", swap, swappiness, limit, false);
}

static void anonymous_memory_agrees(void **state)
{
	const struct trace_shape shape = {
		.anon = 4000, .store_share = 30, .skew = 2, .nr_ops = 20000
	};

	shape_agrees(&shape, "null", 60, 3000);
}

static void anonymous_memory_with_synchronous_swap_agrees(void **state)
{
	const struct trace_shape shape = {
		.anon = 4000, .store_share = 30, .skew = 2, .nr_ops = 20000
	};

	shape_agrees(&shape, "zram", 60, 3000);
}

static void reads_agree(void **state)
{
	const struct trace_shape shape = {
		.data = 6000, .read_share = 100, .max_read = 4, .skew = 2, .nr_ops = 20000
	};

	shape_agrees(&shape, "null", 60, 3000);
}

static void mapped_files_agree(void **state)
{
	const struct trace_shape shape = { .mapped = 5000,
					   .exec = 1000,
					   .map_share = 80,
					   .exec_share = 20,
					   .skew = 2,
					   .nr_ops = 30000 };

	shape_agrees(&shape, "null", 60, 3000);
}

static void mixed_memory_agrees(void **state)
{
	const struct trace_shape shape = { .anon = 2500,
					   .mapped = 1500,
					   .exec = 500,
					   .data = 3000,
					   .map_share = 20,
					   .exec_share = 10,
					   .read_share = 30,
					   .store_share = 30,
					   .max_read = 2,
					   .skew = 2,
					   .nr_ops = 30000 };

	shape_agrees(&shape, "null", 60, 3000);
	shape_agrees(&shape, "null", 1, 3000);
	shape_agrees(&shape, "null", 200, 3000);
}

static void memory_without_swap_agrees(void **state)
{
	const struct trace_shape shape = { .anon = 1000,
					   .mapped = 1500,
					   .data = 3000,
					   .map_share = 30,
					   .read_share = 40,
					   .store_share = 30,
					   .max_read = 2,
					   .skew = 2,
					   .nr_ops = 20000 };

	shape_agrees(&shape, "none", 60, 3000);
}

static void short_lived_memory_agrees(void **state)
{
	const struct trace_shape shape = { .anon = 1500,
					   .mapped = 1500,
					   .data = 2000,
					   .map_share = 20,
					   .read_share = 20,
					   .store_share = 30,
					   .max_read = 2,
					   .skew = 2,
					   .unmap_every = 6000,
					   .nr_ops = 30000 };

	shape_agrees(&shape, "null", 60, 2000);
}

/* Few dirty pages at a time, so that only fdatasync writes. */
static void written_files_agree(void **state)
{
	const struct trace_shape shape = { .data = 5000,
					   .read_share = 90,
					   .write_share = 10,
					   .max_read = 2,
					   .skew = 2,
					   .sync_every = 1,
					   .nr_ops = 20000 };

	shape_agrees(&shape, "null", 60, 3000);
}

static void fifo_agrees(void **state)
{
	const struct trace_shape anon = {
		.anon = 4000, .store_share = 30, .skew = 2, .nr_ops = 20000
	};
	const struct trace_shape mixed = { .anon = 2500,
					   .mapped = 1500,
					   .exec = 500,
					   .data = 3000,
					   .map_share = 20,
					   .exec_share = 10,
					   .read_share = 30,
					   .store_share = 30,
					   .max_read = 2,
					   .skew = 2,
					   .nr_ops = 20000 };

	shape_agrees_with(&anon, "fifo", "null", 60, 3000, false);
	shape_agrees_with(&anon, "fifo", "zram", 60, 3000, false);
	shape_agrees_with(&mixed, "fifo", "null", 60, 3000, false);
	shape_agrees_with(&mixed, "fifo", "none", 60, 6000, false);
}

/* Regions begin with a page table, so that blocks and windows are cut alike. */
static void read_ahead_agrees(void **state)
{
	const struct trace_shape reads = { .data = 6000,
					   .read_share = 100,
					   .max_read = 8,
					   .skew = 2,
					   .place = true,
					   .nr_ops = 20000 };
	const struct trace_shape mapped = {
		.mapped = 5120, .map_share = 100, .skew = 2, .place = true, .nr_ops = 30000
	};
	const struct trace_shape anon = {
		.anon = 4096, .store_share = 30, .skew = 2, .place = true, .nr_ops = 20000
	};

	shape_agrees_with(&reads, "classic", "null", 60, 3000, true);
	shape_agrees_with(&mapped, "classic", "null", 60, 3000, true);
	shape_agrees_with(&anon, "classic", "null", 60, 3000, true);
}

/* Every base run of the ground truth, when the data is at hand. */
static void ground_truth_runs_agree(void **state)
{
	static const struct {
		const char *name;
		uint32_t limit, swappiness;
	} runs[] = {
		{ "anon-loop", 18000, 60 },	  { "anon-uniform", 10000, 60 },
		{ "anon-zipf", 16000, 60 },	  { "filemap-uniform", 15000, 60 },
		{ "filemap-retouch", 12000, 60 }, { "read-retouch", 12000, 60 },
		{ "exec-cached", 4500, 60 },	  { "mixed-zipf", 20000, 60 },
		{ "mixed-zipf", 20000, 200 },	  { "mixed-heap", 20000, 60 },
	};
	const char *folder = g_getenv("RS_TRUTH");
	bool same = true;

	if (!folder)
		skip();
	for (size_t i = 0; i < G_N_ELEMENTS(runs); i++) {
		char *path = g_strdup_printf("%s/traces/%s.trace.zst", folder, runs[i].name);

		for (int v612 = 0; v612 < 2; v612++) {
			const struct run run = { "classic",	v612 ? "6.12" : "6.1", "null",
						 runs[i].limit, runs[i].swappiness,    false };
			char *what = g_strdup_printf("%s on %s", runs[i].name, run.kernel);

			same &= runs_agree(path, &run, what);
			g_free(what);
		}
		g_free(path);
	}
	assert_true(same);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(anonymous_memory_agrees),
		cmocka_unit_test(anonymous_memory_with_synchronous_swap_agrees),
		cmocka_unit_test(reads_agree),
		cmocka_unit_test(mapped_files_agree),
		cmocka_unit_test(mixed_memory_agrees),
		cmocka_unit_test(memory_without_swap_agrees),
		cmocka_unit_test(short_lived_memory_agrees),
		cmocka_unit_test(written_files_agree),
		cmocka_unit_test(fifo_agrees),
		cmocka_unit_test(read_ahead_agrees),
		cmocka_unit_test(ground_truth_runs_agree),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
