/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * test_reference.c - the reference must give the counters that Linux 6.1 gave.
 *
 * Needs the ground-truth data in the directory that RS_TRUTH names. A counter may take any value
 * between the least and the greatest of the repeats; in nearly all runs these are equal. Left out
 * are the runs whose counters hang on time: those with a flusher at work, and mixed-heap, where
 * the block layer throttles swap writes by what it measured before.
 */
#include "lib/cm.h"

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
};

static int64_t value(const json_t *object, const char *key)
{
	return json_integer_value(json_object_get(object, key));
}

static const char *text(const json_t *object, const char *key)
{
	const char *word = json_string_value(json_object_get(object, key));

	return word ? word : "";
}

static json_t *load(const char *folder, const char *name)
{
	char *path = g_strdup_printf("%s/results/%s.json", folder, name);
	json_error_t why;
	json_t *json = json_load_file(path, 0, &why);

	if (!json)
		fail_msg("%s: %s", path, why.text);
	g_free(path);
	return json;
}

static json_t *reference(const char *folder, const char *name, int64_t limit, int64_t swappiness,
			 const char *swap)
{
	char *command = g_strdup_printf("%s %s/traces/%s.trace.zst --kernel 6.1 --limit %" PRId64
					" --swappiness %" PRId64 " --swap %s",
					REF_BINARY, folder, name, limit, swappiness, swap);
	char *out = NULL;
	int status = -1;
	json_t *json;

	if (!g_spawn_command_line_sync(command, &out, NULL, &status, NULL) || status)
		fail_msg("%s: status %d", command, status);
	json = json_loads(out, 0, NULL);
	assert_non_null(json);
	g_free(out);
	g_free(command);
	return json;
}

/* A classic run of Linux 6.1 with the base settings, or with a synchronous swap device. */
static bool wanted(const json_t *run, int64_t limit, int64_t swappiness, const char *swap)
{
	const char *variant = text(run, "variant");

	return !strcmp(text(run, "lru"), "classic") &&
	       g_str_has_prefix(text(run, "kernel"), "6.1.") &&
	       (!strcmp(variant, "base") || !strcmp(variant, "zram")) &&
	       !strcmp(text(run, "swap"), swap) && value(run, "limit_pages") == limit &&
	       value(run, "swappiness") == swappiness;
}

static const json_t *counters_at(const json_t *run, size_t mark)
{
	return json_object_get(json_array_get(json_object_get(run, "snapshots"), mark),
			       "vmstat_delta");
}

/* Compares one counter at one mark with all repeats. */
static bool counter_agrees(const GPtrArray *repeats, size_t mark, const char *counter, int64_t got,
			   const char *what)
{
	int64_t least = INT64_MAX, most = INT64_MIN;

	for (guint i = 0; i < repeats->len; i++) {
		int64_t n = value(counters_at(g_ptr_array_index(repeats, i), mark), counter);

		least = MIN(least, n);
		most = MAX(most, n);
	}
	if (got >= least && got <= most)
		return true;
	print_message("%s, mark %zu: %s is %" PRId64 ", kernel %" PRId64 " to %" PRId64 "\n", what,
		      mark, counter, got, least, most);
	return false;
}

static bool run_agrees(const char *folder, const char *name, int64_t limit, int64_t swappiness,
		       const char *kernel_swap)
{
	const char *swap = strcmp(kernel_swap, "ram") ? kernel_swap : "null";
	json_t *truth = load(folder, name);
	json_t *ref = reference(folder, name, limit, swappiness, swap);
	const json_t *snapshots = json_object_get(ref, "snapshots");
	GPtrArray *repeats = g_ptr_array_new();
	bool same = true;
	json_t *run;
	size_t i;

	json_array_foreach(json_object_get(truth, "runs"), i,
			   run) if (wanted(run, limit, swappiness, kernel_swap))
		g_ptr_array_add(repeats, run);
	assert_int_not_equal(repeats->len, 0);
	for (size_t mark = 0; mark < json_array_size(snapshots); mark++)
		for (size_t c = 0; c < G_N_ELEMENTS(counters); c++)
			same &= counter_agrees(repeats, mark, counters[c],
					       value(json_array_get(snapshots, mark), counters[c]),
					       name);
	g_ptr_array_free(repeats, true);
	json_decref(ref);
	json_decref(truth);
	return same;
}

static void the_kernel_gave_the_same_counters(void **state)
{
	static const struct {
		const char *name, *swap;
		int64_t limit, swappiness;
	} runs[] = {
		{ "anon-hotscan", "ram", 16000, 60 },	   { "anon-loop", "ram", 18000, 60 },
		{ "anon-phase", "ram", 14000, 60 },	   { "anon-threefreq", "ram", 15000, 60 },
		{ "anon-uniform", "ram", 10000, 60 },	   { "anon-uniform", "ram", 15000, 60 },
		{ "anon-zipf", "ram", 16000, 60 },	   { "anon-zipf", "zram", 16000, 60 },
		{ "exec-cached", "ram", 4500, 60 },	   { "exec-cached", "ram", 6000, 60 },
		{ "filemap-hotstream", "ram", 14000, 60 }, { "filemap-retouch", "ram", 12000, 60 },
		{ "filemap-uniform", "ram", 15000, 60 },   { "mixed-zipf", "ram", 20000, 1 },
		{ "mixed-zipf", "ram", 20000, 10 },	   { "mixed-zipf", "ram", 20000, 60 },
		{ "mixed-zipf", "ram", 20000, 100 },	   { "mixed-zipf", "ram", 20000, 200 },
		{ "read-retouch", "ram", 12000, 60 },	   { "read-zipf", "ram", 16000, 60 },
		{ "ycsb-load", "ram", 16000, 60 },
	};
	const char *folder = g_getenv("RS_TRUTH");
	bool same = true;

	if (!folder)
		skip();
	for (size_t i = 0; i < G_N_ELEMENTS(runs); i++)
		same &= run_agrees(folder, runs[i].name, runs[i].limit, runs[i].swappiness,
				   runs[i].swap);
	assert_true(same);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_kernel_gave_the_same_counters),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
