/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who runs when: tasks of the test's own, each with a script of sleeps and computing, write down
 * what they do.
 */
#include "tests/lib/cm.h"
#include "tests/lib/rig.h"

struct entry {
	char name;
	ns_t now;
};
static struct entry entries[4096];
static unsigned nr_entries;

static void note(struct task *t, char name)
{
	assert_in_range(nr_entries, 0, G_N_ELEMENTS(entries) - 1);
	entries[nr_entries++] = (struct entry){ name, t->now };
}

static char name_of(const struct task *t)
{
	return (char)t->tid;
}

/* The names in order, repetitions once. */
static void assert_order(const char *expected)
{
	g_autoptr(GString) s = g_string_new(NULL);

	for (unsigned i = 0; i < nr_entries; i++)
		if (!s->len || s->str[s->len - 1] != entries[i].name)
			g_string_append_c(s, entries[i].name);
	assert_string_equal(s->str, expected);
}

static struct rig *start(const char *cpus, const char *quantum)
{
	const char *const settings[] = {
		"cpus", cpus,		"quantum_ns", quantum, "cost.context_switch",
		"0",	"timeslice_ns", "1000000",    NULL
	};
	struct rig *r = rig_new("6.1", "classic", settings);

	g_array_set_size(r->ctx->events, 0);
	nr_entries = 0;
	return r;
}

static void wake(struct rs_ctx *ctx, void *arg, uint64_t unused)
{
	task_wake(ctx, arg, ctx->now);
}

/* A task that is woken at that time. */
static struct task *spawn(struct rig *r, enum task_class class, char name,
			  void (*main)(struct task *), ns_t when)
{
	struct task *t = task_new(r->ctx, class, main);

	t->tid = (uint32_t)name;
	if (class == CLASS_APP)
		r->ctx->nr_live_apps++;
	event_add(r->ctx, when, wake, t, 0);
	return t;
}

static void run(struct rig *r)
{
	r->ctx->trace_over = true;
	sched_run(r->ctx);
	assert_null(r->ctx->error);
}

/* ---- scripts ---- */

static void once(struct task *t)
{
	note(t, name_of(t));
	task_exit(t->ctx);
}

static void compute_steps(struct task *t, unsigned n)
{
	for (unsigned i = 1; i <= n; i++) {
		note(t, name_of(t));
		t->now += 100000;
		if (i < n)
			task_checkpoint(t->ctx);
	}
	task_exit(t->ctx);
}

/* 3 ms in steps of 100 us. */
static void compute(struct task *t)
{
	compute_steps(t, 30);
}

static void compute_6_ms(struct task *t)
{
	compute_steps(t, 60);
}

static void nap(struct task *t)
{
	note(t, name_of(t));
	task_sleep(t->ctx, 5000, WAIT_SLEEP, "a nap");
	note(t, name_of(t));
	task_exit(t->ctx);
}

static void wait_once(struct task *t)
{
	task_wait(t->ctx, WAIT_SLEEP, "somebody");
	note(t, name_of(t));
	task_exit(t->ctx);
}

static void wait_for_device(struct task *t)
{
	task_wait(t->ctx, WAIT_IO, "a device");
	task_exit(t->ctx);
}

/* ---- order ---- */

static void tasks_that_are_ready_together_run_by_class_then_number(void **state)
{
	struct rig *r = start("1", "0");

	spawn(r, CLASS_APP, 'x', compute, 0); /* has the CPU while the others come */
	spawn(r, CLASS_APP, 'a', once, 100);
	spawn(r, CLASS_APP, 'b', once, 100);
	spawn(r, CLASS_FLUSHER, 'f', once, 100);
	spawn(r, CLASS_KSWAPD, 'k', once, 100);
	run(r);
	/* Kernel threads in order of their numbers take the CPU at the first checkpoint. */
	assert_order("xfkabx");
	rig_free(r);
}

static void ready_applications_run_in_order_of_their_wake_up(void **state)
{
	struct rig *r = start("1", "0");

	spawn(r, CLASS_APP, 'x', compute, 0);
	spawn(r, CLASS_APP, 'a', once, 350000);
	spawn(r, CLASS_APP, 'b', once, 250000);
	spawn(r, CLASS_APP, 'c', once, 150000);
	run(r);
	assert_order("xcbax");
	rig_free(r);
}

static void a_slice_ends_when_somebody_waits(void **state)
{
	struct rig *r = start("1", "0");
	struct task *a, *b;

	a = spawn(r, CLASS_APP, 'a', compute, 0);
	b = spawn(r, CLASS_APP, 'b', compute, 0);
	run(r);
	/* 1 ms each, in turn. */
	assert_order("ababab");
	assert_int_equal(a->now, 5000000);
	assert_int_equal(b->now, 6000000);
	assert_int_equal(a->wait_ns[WAIT_CPU], 2000000);
	assert_int_equal(a->run_ns, 3000000);
	rig_free(r);
}

static void nobody_waits_so_the_slice_goes_on(void **state)
{
	struct rig *r = start("1", "0");
	struct task *a = spawn(r, CLASS_APP, 'a', compute, 0);

	run(r);
	assert_int_equal(a->now, 3000000);
	assert_int_equal(a->wait_ns[WAIT_CPU], 0);
	rig_free(r);
}

static void on_two_cpus_the_lower_clock_goes_on(void **state)
{
	struct rig *r = start("2", "0");

	spawn(r, CLASS_APP, 'a', compute, 0);
	spawn(r, CLASS_APP, 'b', compute, 50000);
	run(r);
	for (unsigned i = 1; i < nr_entries; i++)
		assert_true(entries[i - 1].now <= entries[i].now);
	assert_int_equal(nr_entries, 60);
	rig_free(r);
}

/* With a quantum of 1 ms one runs that far ahead, no further than a step. */
static void the_quantum_bounds_how_far_one_runs_ahead(void **state)
{
	struct rig *r = start("2", "1000000");
	ns_t most = 0;

	spawn(r, CLASS_APP, 'a', compute, 0);
	spawn(r, CLASS_APP, 'b', compute, 0);
	run(r);
	for (unsigned i = 1; i < nr_entries; i++)
		if (entries[i - 1].now > entries[i].now)
			most = MAX(most, entries[i - 1].now - entries[i].now);
	assert_in_range(most, 500000, 1100000);
	rig_free(r);
}

/* ---- wake-ups ---- */

static void a_sleeper_comes_back_when_its_time_is_up(void **state)
{
	struct rig *r = start("1", "0");
	struct task *a = spawn(r, CLASS_APP, 'a', nap, 0);

	run(r);
	assert_int_equal(nr_entries, 2);
	assert_int_equal(entries[1].now, 5000);
	assert_int_equal(a->wait_ns[WAIT_SLEEP], 5000);
	rig_free(r);
}

static void two_naps(struct task *t)
{
	task_sleep(t->ctx, 5000, WAIT_SLEEP, "a nap that is cut short");
	note(t, name_of(t));
	task_sleep(t->ctx, 20000, WAIT_SLEEP, "a second nap");
	note(t, name_of(t));
	task_exit(t->ctx);
}

/* The timer of the first nap rings in the second one and must not end it. */
static void a_timer_does_not_end_another_sleep(void **state)
{
	struct rig *r = start("1", "0");
	struct task *a = spawn(r, CLASS_APP, 'a', two_naps, 0);

	event_add(r->ctx, 1000, wake, a, 0);
	run(r);
	assert_int_equal(entries[0].now, 1000);
	assert_int_equal(entries[1].now, 21000);
	rig_free(r);
}

static void waking_who_runs_does_nothing(void **state)
{
	struct rig *r = start("1", "0");
	struct task *a = spawn(r, CLASS_APP, 'a', compute, 0);

	event_add(r->ctx, 150000, wake, a, 0);
	run(r);
	assert_int_equal(nr_entries, 30);
	rig_free(r);
}

static void an_event_comes_before_tasks_of_its_time(void **state)
{
	struct rig *r = start("2", "0");
	struct task *w = spawn(r, CLASS_APP, 'w', wait_once, 0);

	spawn(r, CLASS_APP, 'a', compute, 0);
	event_add(r->ctx, 200000, wake, w, 0);
	run(r);
	/* At 200 us: the event wakes w, which then runs beside a's third step. */
	for (unsigned i = 0; i < nr_entries; i++)
		if (entries[i].name == 'w')
			assert_int_equal(entries[i].now, 200000);
	rig_free(r);
}

static void a_context_switch_costs_unless_it_is_the_same_task(void **state)
{
	static const char *const settings[] = { "cost.context_switch", "7000", NULL };
	struct rig *r = rig_new("6.1", "classic", settings);
	struct task *a, *b;

	g_array_set_size(r->ctx->events, 0);
	nr_entries = 0;
	a = spawn(r, CLASS_APP, 'a', nap, 0);
	run(r);
	/* kswapd and the flusher went to sleep first. */
	assert_int_equal(entries[1].now - entries[0].now, 5000);
	b = spawn(r, CLASS_APP, 'b', once, a->now);
	run(r);
	assert_int_equal(b->now, a->now + 7000);
	rig_free(r);
}

static void waiting_for_nobody_is_reported_as_a_deadlock(void **state)
{
	struct rig *r = start("1", "0");

	spawn(r, CLASS_APP, 'w', wait_once, 0);
	r->ctx->trace_over = true;
	sched_run(r->ctx);
	assert_non_null(r->ctx->error);
	assert_int_equal(r->ctx->error->code, RS_ERROR_STALLED);
	assert_non_null(strstr(r->ctx->error->message, "deadlock, every task waits"));
	assert_non_null(strstr(r->ctx->error->message, "waits for somebody"));
	rig_free(r);
}

/* A device that never answers, while some timer goes on: seen after an hour of simulated time. */
static void tick(struct rs_ctx *ctx, void *arg, uint64_t value)
{
	event_add(ctx, ctx->now + 1000000000, tick, arg, value);
}

static void timers_alone_are_reported_as_a_stall(void **state)
{
	struct rig *r = start("1", "0");

	spawn(r, CLASS_APP, 'w', wait_for_device, 0);
	r->ctx->trace_over = true;
	event_add(r->ctx, 0, tick, NULL, 0);
	sched_run(r->ctx);
	assert_non_null(r->ctx->error);
	assert_int_equal(r->ctx->error->code, RS_ERROR_STALLED);
	assert_non_null(
		strstr(r->ctx->error->message, "stalled, for an hour only timers have run"));
	assert_non_null(strstr(r->ctx->error->message, "waits for a device"));
	assert_in_range(r->ctx->now, 3598000000000, 3601000000000);
	rig_free(r);
}

/*
 * 6.1: at the next checkpoint; that of 600 us lets the wake-up happen. 6.6 and newer: at the tick
 * behind it, every 4 ms.
 */
static void a_woken_kernel_thread_takes_the_cpu_when_its_scheduler_lets_it(void **state)
{
	static const char *const kernel[] = { "6.1", "6.12" };
	static const ns_t when[] = { 700000, 4000000 };

	for (unsigned k = 0; k < 2; k++) {
		static const char *const settings[] = { "cost.context_switch", "0", "timeslice_ns",
							"100000000", NULL };
		struct rig *r = rig_new(kernel[k], "classic", settings);
		struct task *t;

		g_array_set_size(r->ctx->events, 0);
		nr_entries = 0;
		spawn(r, CLASS_APP, 'a', compute_6_ms, 0);
		spawn(r, CLASS_APP, 'b', compute_6_ms, 0);
		t = spawn(r, CLASS_KSWAPD, 'k', wait_once, 0);
		event_add(r->ctx, 550000, wake, t, 0);
		run(r);
		for (unsigned i = 0; i < nr_entries; i++)
			if (entries[i].name == 'k')
				assert_int_equal(entries[i].now, when[k]);
		rig_free(r);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tasks_that_are_ready_together_run_by_class_then_number),
		cmocka_unit_test(ready_applications_run_in_order_of_their_wake_up),
		cmocka_unit_test(a_slice_ends_when_somebody_waits),
		cmocka_unit_test(nobody_waits_so_the_slice_goes_on),
		cmocka_unit_test(on_two_cpus_the_lower_clock_goes_on),
		cmocka_unit_test(the_quantum_bounds_how_far_one_runs_ahead),
		cmocka_unit_test(a_sleeper_comes_back_when_its_time_is_up),
		cmocka_unit_test(a_timer_does_not_end_another_sleep),
		cmocka_unit_test(waking_who_runs_does_nothing),
		cmocka_unit_test(an_event_comes_before_tasks_of_its_time),
		cmocka_unit_test(a_context_switch_costs_unless_it_is_the_same_task),
		cmocka_unit_test(waiting_for_nobody_is_reported_as_a_deadlock),
		cmocka_unit_test(timers_alone_are_reported_as_a_stall),
		cmocka_unit_test(a_woken_kernel_thread_takes_the_cpu_when_its_scheduler_lets_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
