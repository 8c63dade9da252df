/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * test_gen_spec.c - JSON specs: the traces have the processes, sizes and shares they ask for.
 */
#include "lib/gentrace.h"

#define ONE(region, phase)                                                                         \
	"{\"processes\": [{\"name\": \"p\", \"regions\": {\"r\": " region "}, \"phases\": [" phase \
	"]}]}"

static void a_scan_touches_each_page_once_in_order(void **state)
{
	struct gentrace *t = gentrace(ONE(
		"{\"anon\": \"100p\"}", "{\"mix\": [{\"region\": \"r\", \"pattern\": \"scan\"}]}"));
	uint32_t page = 0;

	for (unsigned i = 0; i < t->records->len; i++)
		if (gentrace_at(t, i)->op == RS_OP_STORE)
			assert_int_equal(gentrace_at(t, i)->page, page++);
	assert_int_equal(page, 100); /* the first access to an anonymous page is a store */
	gentrace_free(t);
}

static void loads_follow_the_first_store(void **state)
{
	struct gentrace *t = gentrace(ONE("{\"anon\": \"10p\"}",
					  "{\"accesses\": 50, \"mix\": [{\"region\": \"r\", "
					  "\"pattern\": \"loop\"}]}"));

	assert_int_equal(gentrace_pages(t, RS_OP_STORE), 10);
	assert_int_equal(gentrace_pages(t, RS_OP_LOAD), 40);
	gentrace_free(t);
}

static void stride_and_chase_reach_every_page(void **state)
{
	static const char *const patterns[] = { "\"stride\", \"stride\": \"7p\"", "\"chase\"" };

	for (unsigned k = 0; k < 2; k++) {
		g_autofree char *text = g_strdup_printf(
			ONE("{\"anon\": \"50p\"}", "{\"accesses\": 50, \"mix\": [{\"region\": "
						   "\"r\", \"write\": 1, \"pattern\": %s}]}"),
			patterns[k]);
		struct gentrace *t = gentrace(text);

		assert_int_equal(gentrace_int(t, "distinct_mapped_pages"), 50);
		gentrace_free(t);
	}
}

static void growing_adds_pages_at_the_end(void **state)
{
	struct gentrace *t =
		gentrace(ONE("{\"anon\": \"200p\"}", "{\"mix\": [{\"region\": \"r\", \"pattern\": "
						     "\"grow\", \"write\": 0.5}]}"));
	uint32_t next = 0;

	for (unsigned i = 0; i < t->records->len; i++) {
		if (gentrace_at(t, i)->op == RS_OP_STORE)
			assert_int_equal(gentrace_at(t, i)->page, next++);
		else if (gentrace_at(t, i)->op == RS_OP_LOAD)
			assert_true(gentrace_at(t, i)->page < next);
	}
	assert_int_equal(next, 200);
	assert_true(gentrace_pages(t, RS_OP_LOAD) > 150 && gentrace_pages(t, RS_OP_LOAD) < 260);
	gentrace_free(t);
}

static void weights_and_writes_have_their_shares(void **state)
{
	struct gentrace *t = gentrace("{\"files\": {\"f\": {\"size\": \"1M\"}}, \"processes\": "
				      "[{\"name\": \"p\", \"regions\": {\"r\": "
				      "{\"file\": \"f\"}}, \"phases\": [{\"accesses\": 20000, "
				      "\"mix\": [{\"region\": \"r\", \"weight\": 3, "
				      "\"write\": 0.25}, {\"file\": \"f\", \"write\": 1}]}]}]}");
	double load = (double)gentrace_pages(t, RS_OP_LOAD),
	       store = (double)gentrace_pages(t, RS_OP_STORE);
	double written = (double)gentrace_pages(t, RS_OP_WRITE);

	assert_int_equal(load + store + written, 20000);
	assert_true(written > 4800 && written < 5200);
	assert_true(store / (store + load) > 0.235 && store / (store + load) < 0.265);
	gentrace_free(t);
}

static void processes_have_memory_of_their_own(void **state)
{
	struct gentrace *t = gentrace("{\"processes\": [{\"name\": \"p\", \"count\": 3, "
				      "\"threads\": 2, \"memcg\": \"/a\", \"regions\": {\"r\": "
				      "{\"anon\": \"64p\", \"populate\": true}}, \"phases\": "
				      "[{\"accesses\": 10, \"mix\": [{\"region\": "
				      "\"r\"}]}]}]}");

	assert_int_equal(gentrace_int(t, "processes"), 3);
	assert_int_equal(gentrace_int(t, "threads"), 6);
	assert_int_equal(gentrace_count(t, RS_OP_MMAP), 3);
	assert_int_equal(gentrace_count(t, RS_OP_MEMCG), 3);
	assert_int_equal(gentrace_count(t, RS_OP_EXIT), 6);
	assert_int_equal(gentrace_int(t, "distinct_mapped_pages"), 192);
	gentrace_free(t);
}

static void a_hot_set_moves_by_its_shift(void **state)
{
	struct gentrace *t = gentrace(
		ONE("{\"anon\": \"100p\", \"populate\": true}",
		    "{\"accesses\": 500, \"repeat\": 2, \"mix\": [{\"region\": \"r\", \"pattern\": "
		    "\"hotset\", \"hot\": 0.1, \"share\": 1, \"shift\": \"50p\"}]}"));
	unsigned n = 0;

	for (unsigned i = 0; i < t->records->len; i++) {
		const struct rs_record *r = gentrace_at(t, i);

		if (r->op != RS_OP_LOAD)
			continue;
		assert_int_equal(r->page / 10, n < 500 ? 0 : 5);
		n++;
	}
	assert_int_equal(n, 1000);
	gentrace_free(t);
}

static void a_build_runs_a_compiler_and_an_assembler_for_each_file(void **state)
{
	struct gentrace *t = gentrace(
		"{\"generator\": \"kernel-build\", \"units\": 20, \"jobs\": 3, \"headers\": 50, "
		"\"headers_per_unit\": 10, \"compiler\": \"1M\", \"anon\": \"1M\"}");
	int64_t alive = 0, most = 0;

	/* cc, cc1 and as for each, and the linker. */
	assert_int_equal(gentrace_count(t, RS_OP_FORK), 61);
	assert_int_equal(gentrace_count(t, RS_OP_EXEC), 61);
	assert_int_equal(gentrace_count(t, RS_OP_EXIT), 61);
	assert_int_equal(gentrace_count(t, RS_OP_TRUNCATE), 20);
	for (unsigned i = 0; i < t->records->len; i++) {
		alive += gentrace_at(t, i)->op == RS_OP_FORK;
		alive -= gentrace_at(t, i)->op == RS_OP_EXIT;
		most = MAX(most, alive);
	}
	assert_int_equal(alive, 0);
	assert_int_equal(most, 6); /* three drivers with a child each */
	gentrace_free(t);
}

static void ycsb_workloads_have_their_mix(void **state)
{
	struct gentrace *t = gentrace(
		"{\"generator\": \"ycsb\", \"records\": 2000, \"operations\": 4000, \"workloads\": "
		"[\"load\", \"B\", \"D\"]}");
	json_t *model = json_object_get(t->summary, "memory_model");
	int64_t sets = json_integer_value(json_object_get(model, "sets"));
	int64_t present = json_integer_value(json_object_get(model, "keys_present"));

	assert_int_equal(json_integer_value(json_object_get(model, "misses")), 0);
	assert_true(present > 2120 && present < 2280);
	assert_true(sets > 2300 && sets < 2500);
	assert_int_equal(gentrace_count(t, RS_OP_MARK), 3);
	gentrace_free(t);
}

static void threads_map_and_unmap_areas(void **state)
{
	struct gentrace *t = gentrace(
		"{\"generator\": \"launch-threads\", \"threads\": 5, \"rounds\": 20, \"areas\": "
		"[2, 2], \"pages\": [30, 60], \"area\": \"64p\"}");

	assert_int_equal(gentrace_count(t, RS_OP_MMAP), 200);
	assert_int_equal(gentrace_count(t, RS_OP_MUNMAP), 200);
	assert_int_equal(gentrace_count(t, RS_OP_MPROTECT), 200);
	assert_true(gentrace_pages(t, RS_OP_STORE) >= 3000 &&
		    gentrace_pages(t, RS_OP_STORE) <= 6000);
	gentrace_free(t);
}

static void apps_are_forked_from_one_parent(void **state)
{
	struct gentrace *t = gentrace(
		"{\"generator\": \"app-switch\", \"apps\": 4, \"switches\": 9, \"heap\": \"1M\", "
		"\"heap_start\": \"512K\", \"package\": \"256K\", \"framework\": \"1M\", "
		"\"zygote_heap\": \"256K\", \"touches\": 100}");

	assert_int_equal(gentrace_count(t, RS_OP_FORK), 4);
	assert_int_equal(gentrace_count(t, RS_OP_SLEEP), 9);
	assert_int_equal(gentrace_pages(t, RS_OP_READ), 256);
	gentrace_free(t);
}

static void seeds_decide_and_repeat(void **state)
{
	const char *spec =
		ONE("{\"anon\": \"1000p\"}", "{\"accesses\": 100, \"mix\": [{\"region\": \"r\"}]}");
	const char *seven =
		"{\"seed\": 7, \"processes\": [{\"name\": \"p\", \"regions\": {\"r\": {\"anon\": "
		"\"1000p\"}}, \"phases\": [{\"accesses\": 100, \"mix\": [{\"region\": \"r\"}]}]}]}";
	struct gentrace *a = gentrace(spec), *b = gentrace(spec), *c = gentrace(seven);

	assert_string_equal(rs_trace_digest(a->trace), rs_trace_digest(b->trace));
	assert_string_not_equal(rs_trace_digest(a->trace), rs_trace_digest(c->trace));
	gentrace_free(a);
	gentrace_free(b);
	gentrace_free(c);
}

static void shipped_specs_generate(void **state)
{
	g_autofree char *folder = g_build_filename(RS_SOURCE_DIR, "traces/samples", NULL);
	GDir *dir = g_dir_open(folder, 0, NULL);
	const char *name;
	unsigned n = 0;

	assert_non_null(dir);
	while ((name = g_dir_read_name(dir))) {
		g_autofree char *path = g_build_filename(folder, name, NULL);
		struct rs_generate_options options = { .path = path };
		GError *error = NULL;

		if (!g_str_has_suffix(name, ".json") && !g_str_has_suffix(name, ".fio") &&
		    !g_str_has_suffix(name, ".memtier"))
			continue;
		rs_generate(&options, NULL, NULL, NULL, &error);
		assert_no_error(error);
		n++;
	}
	g_dir_close(dir);
	assert_true(n >= 9);
}

static void mistakes_are_named_with_their_place(void **state)
{
	static const char *const cases[][2] = {
		{ "{\"generator\": \"x\"}", "unknown generator \"x\"" },
		{ "{", "spec:1:" },
		{ "{}", "processes: an array of 1 to" },
		{ "{\"procesess\": 1, \"processes\": [{\"name\": \"p\", \"phases\": "
		  "[{\"accesses\": 1, \"mix\": "
		  "[{\"file\": \"f\"}]}]}], \"files\": {\"f\": {\"size\": \"1M\"}}}",
		  "procesess: unknown member" },
		{ ONE("{\"anon\": \"1MB\"}", ""), "MB" },
		{ ONE("{\"anon\": \"9p\"}",
		      "{\"mix\": [{\"region\": \"r\", \"pattern\": \"spiral\"}]}"),
		  "processes[0].phases[0].mix[0].pattern: unknown pattern" },
		{ ONE("{\"anon\": \"9p\"}", "{\"mix\": [{\"region\": \"q\"}]}"), "is needed" },
		{ ONE("{\"anon\": \"9p\"}", "{\"mix\": [{\"region\": \"r\"}]}"),
		  "\"accesses\" or \"duration\"" },
		{ ONE("{\"anon\": \"9p\"}", "{\"accesses\": 0, \"mix\": [{\"region\": \"r\"}]}"),
		  "whole numbers from 1" },
		{ ONE("{\"file\": \"f\"}", ""), "is not among the files" },
		{ "{\"a\": 1, \"a\": 2}", "duplicate" },
		{ "{\"generator\": \"ycsb\", \"workloads\": [\"A\"]}", "begins with \"load\"" },
		{ "{\"generator\": \"launch-threads\", \"areas\": [5, 3]}", "[MIN, MAX]" },
	};

	for (unsigned i = 0; i < G_N_ELEMENTS(cases); i++)
		assert_generate_error(cases[i][0], cases[i][1]);
}

static void a_limit_on_records_is_kept(void **state)
{
	static const char *const few[] = { "max_records=100", NULL };
	g_autofree char *message = generate_error("{\"generator\": \"launch-threads\"}", few);

	assert_non_null(strstr(message, "more than 100 records"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_scan_touches_each_page_once_in_order),
		cmocka_unit_test(loads_follow_the_first_store),
		cmocka_unit_test(stride_and_chase_reach_every_page),
		cmocka_unit_test(growing_adds_pages_at_the_end),
		cmocka_unit_test(weights_and_writes_have_their_shares),
		cmocka_unit_test(processes_have_memory_of_their_own),
		cmocka_unit_test(a_hot_set_moves_by_its_shift),
		cmocka_unit_test(a_build_runs_a_compiler_and_an_assembler_for_each_file),
		cmocka_unit_test(ycsb_workloads_have_their_mix),
		cmocka_unit_test(threads_map_and_unmap_areas),
		cmocka_unit_test(apps_are_forked_from_one_parent),
		cmocka_unit_test(seeds_decide_and_repeat),
		cmocka_unit_test(shipped_specs_generate),
		cmocka_unit_test(mistakes_are_named_with_their_place),
		cmocka_unit_test(a_limit_on_records_is_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
