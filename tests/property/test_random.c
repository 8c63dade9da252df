/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * test_random.c - whatever a trace does on whatever machine: the simulation ends, the machine and
 * the policy stay sound, and a second run gives the same bytes.
 *
 * RS_SEED=n runs case n alone, RS_CASES=n that many (without the limit of time), RS_KEEP=FILE
 * copies the trace of the last case there. Debug builds look at the machine after every reclaim.
 */
#include "random_ops.h"

#include "sim/engine/engine.h"
#include "tests/lib/cm.h"
#include "tests/lib/trace_file.h"

#include <inttypes.h>
#include <stdlib.h>

enum { FIRST_SEED = 1, NR_CASES = 400, SECONDS = 7 };

static void check_sound(struct rs_ctx *ctx, uint64_t seed)
{
	g_autoptr(GString) why = g_string_new(NULL);
	bool ok = machine_check(&ctx->m, why);

	for (uint32_t i = 0; ok && ctx->ops->check && i < ctx->m.nr_memcgs * ctx->m.nr_nodes; i++)
		ok = ctx->ops->check(ctx, &ctx->m.lruvec[i]->pub, why);
	if (!ok)
		fail_msg("case %" PRIu64 ": %s", seed, why->str);
}

/* Only the run can tell: where regions lie, and in which order threads get there. */
static bool is_fault_of_trace(const char *message)
{
	static const char *const faults[] = {
		"that is not mapped there",	     "is mapped already",
		"mapped without permission",	     "the region is not mapped or not that long",
		"behind the end of the mapped file", "waits for another thread"
	};

	for (size_t i = 0; i < G_N_ELEMENTS(faults); i++)
		if (strstr(message, faults[i]))
			return true;
	return false;
}

/*
 * The result, or what is wrong with the trace: threads of one address space that do not wait for
 * each other may meet an munmap() or truncation that stands behind their access in the trace, and
 * may wait for each other.
 */
static char *run(const struct random_case *c, uint64_t seed)
{
	GError *error = NULL;
	struct rs_trace *trace = rs_trace_open(c->trace, &error);
	struct rs_result *result = NULL;
	struct rs_sim *sim;
	char *json = NULL;

	assert_no_error(error);
	sim = rs_sim_new(c->scenario, c->policy, &error);
	assert_no_error(error);
	if (rs_sim_run(sim, trace, &result, &error))
		json = rs_result_json(result);
	else if (is_fault_of_trace(error->message))
		json = g_strdup(error->message);
	else
		fail_msg("case %" PRIu64 ": %s", seed, error->message);
	g_clear_error(&error);
	check_sound((struct rs_ctx *)sim, seed);
	rs_result_free(result);
	rs_sim_free(sim);
	rs_trace_free(trace);
	return json;
}

static void keep(const struct random_case *c)
{
	const char *path = g_getenv("RS_KEEP");
	GError *error = NULL;

	if (!path)
		return;
	trace_file_convert(c->trace, path, RS_TRACE_TEXT, &error);
	assert_no_error(error);
}

static void run_case(uint64_t seed)
{
	struct random_case c;
	char *first, *second;

	random_case_make(&c, seed);
	keep(&c);
	/* Said before: a crash tells no more. */
	print_message("RS_SEED=%" PRIu64 " --policy %s --kernel %s%s\n", seed, c.policy, c.kernel,
		      c.settings->str);
	first = run(&c, seed);
	second = run(&c, seed);
	if (strcmp(first, second))
		fail_msg("case %" PRIu64 ": two runs, two results", seed);
	g_free(first);
	g_free(second);
	random_case_clear(&c);
}

/* Cases that once hung, were refused or lost a mark. */
static void cases_that_failed_once_pass(void **state)
{
	static const uint64_t seeds[] = { 16, 35, 41, 55, 85, 93, 155, 234, 388, 425, 820 };

	for (size_t i = 0; i < G_N_ELEMENTS(seeds) && !g_getenv("RS_SEED"); i++)
		run_case(seeds[i]);
}

static void random_operations_leave_a_sound_machine(void **state)
{
	const char *seed = g_getenv("RS_SEED"), *cases = g_getenv("RS_CASES");
	uint64_t first = seed ? g_ascii_strtoull(seed, NULL, 10) : FIRST_SEED;
	uint64_t nr = cases ? g_ascii_strtoull(cases, NULL, 10) : seed ? 1 : NR_CASES;
	int64_t end = g_get_monotonic_time() + SECONDS * G_USEC_PER_SEC;
	uint64_t done = 0;

	for (; done < nr && (cases || g_get_monotonic_time() < end); done++)
		run_case(first + done);
	assert_true(done > 0);
	print_message("%" PRIu64 " cases\n", done);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cases_that_failed_once_pass),
		cmocka_unit_test(random_operations_leave_a_sound_machine),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
