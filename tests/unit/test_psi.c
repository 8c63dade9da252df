/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * test_psi.c - pressure: states of tasks by hand against values computed by hand, and whole runs
 * against what the threads say they waited.
 */
#include "sim/engine/psi.h"
#include "tests/lib/cm.h"
#include "tests/lib/rig.h"

#define S 1000000000ull

/* Tasks of the test, in the rig's group; nothing else runs in it. */
static struct rig *two_cpus(void)
{
	static const char *const settings[] = { "cpus", "2", NULL };

	return rig_new("6.12", "classic", settings);
}

static struct task task_on(const struct rig *r, uint32_t cpu)
{
	return (struct task){ .ctx = r->ctx, .psi_memcg = r->memcg, .cpu = cpu };
}

static void set_state(struct task *t, enum task_state state, ns_t now)
{
	t->state = state;
	t->now = now;
	psi_task_change(t->ctx, t, now);
}

static void wait_for(struct task *t, enum wait_kind kind, ns_t now)
{
	t->wait_kind = kind;
	set_state(t, TASK_WAITING, now);
}

static struct rs_psi_stat pressure(struct rig *r, enum rs_psi_resource res, ns_t now)
{
	struct rs_psi_stat out[RS_NR_PSI];

	psi_read(r->ctx, r->memcg, PSI_MARKS, now, out);
	return out[res];
}

static void assert_total(struct rig *r, enum rs_psi_resource res, ns_t now, ns_t some, ns_t full)
{
	struct rs_psi_stat p = pressure(r, res, now);

	assert_int_equal(p.some_total, some);
	assert_int_equal(p.full_total, full);
}

/* 204800 = 100 % in units of 1/2048; (0 * 1677 + 204800 * 371 + 2047) / 2048 = 37100. */
static void one_period_under_full_pressure_gives_the_kernels_averages(void **state)
{
	uint64_t avg[3] = { 0 };

	psi_calc_avgs(avg, 0, PSI_PERIOD_NS, PSI_PERIOD_NS);
	assert_int_equal(avg[0], 37100);
	assert_int_equal(avg[1], 6700);
	assert_int_equal(avg[2], 1400);
	psi_calc_avgs(avg, 0, 0, PSI_PERIOD_NS);
	assert_int_equal(avg[0], 30379);
	assert_int_equal(avg[1], 6480);
	assert_int_equal(avg[2], 1390);
}

/* 1677^3 in fixed point is 1124; 37100 * 1124 / 2048 = 20361, and once more by 1677: 16672. */
static void periods_that_were_missed_decay_at_once(void **state)
{
	uint64_t avg[3] = { 37100, 0, 0 };

	psi_calc_avgs(avg, 3, 0, PSI_PERIOD_NS);
	assert_int_equal(avg[0], 16672);
}

static void a_sample_is_a_whole_per_cent(void **state)
{
	uint64_t avg[3] = { 0 };

	psi_calc_avgs(avg, 0, PSI_PERIOD_NS / 1000 * 19, PSI_PERIOD_NS); /* 1.9 % */
	assert_int_equal(avg[0], (1 * 2048 * 371 + 2047) / 2048);
}

static void what_exceeds_a_period_is_left_for_the_next(void **state)
{
	struct psi_avgs a = { .next_update = PSI_PERIOD_NS };
	uint64_t total[NR_PSI_STATES] = { [PSI_MEM_SOME] = PSI_PERIOD_NS + S };

	psi_update_averages(&a, total, PSI_PERIOD_NS);
	assert_int_equal(a.total[PSI_MEM_SOME], PSI_PERIOD_NS);
	assert_int_equal(a.avg[PSI_MEM_SOME][0], 37100);
	psi_update_averages(&a, total, 2 * PSI_PERIOD_NS);
	assert_int_equal(a.total[PSI_MEM_SOME], PSI_PERIOD_NS + S);
}

static void waiting_for_io_alone_is_a_full_stall_and_beside_work_a_partial_one(void **state)
{
	struct rig *r = two_cpus();
	struct task a = task_on(r, 0), b = task_on(r, 0);

	set_state(&a, TASK_RUNNING, 0);
	wait_for(&a, WAIT_IO, 1 * S);
	set_state(&b, TASK_RUNNING, 3 * S);
	assert_total(r, RS_PSI_IO, 4 * S, 3 * S, 2 * S);
	set_state(&a, TASK_READY, 4 * S);
	assert_total(r, RS_PSI_IO, 5 * S, 3 * S, 2 * S);
	assert_total(r, RS_PSI_MEMORY, 5 * S, 0, 0);
	rig_free(r);
}

static void a_pause_for_dirty_pages_is_io_and_a_sleep_is_none(void **state)
{
	struct rig *r = two_cpus();
	struct task a = task_on(r, 0);

	wait_for(&a, WAIT_DIRTY, 0);
	wait_for(&a, WAIT_SLEEP, 1 * S);
	wait_for(&a, WAIT_MMAP_LOCK, 2 * S);
	assert_total(r, RS_PSI_IO, 3 * S, 1 * S, 1 * S);
	rig_free(r);
}

static void ready_without_a_cpu_is_pressure_on_cpus(void **state)
{
	struct rig *r = two_cpus();
	struct task a = task_on(r, 0), b = task_on(r, 0);

	set_state(&a, TASK_RUNNING, 0);
	set_state(&b, TASK_READY, 1 * S);
	assert_total(r, RS_PSI_CPU, 3 * S, 2 * S, 0);
	/* Now somebody else's task has the CPU. */
	wait_for(&a, WAIT_SLEEP, 3 * S);
	assert_total(r, RS_PSI_CPU, 4 * S, 3 * S, 1 * S);
	rig_free(r);
}

static void a_cpu_that_reclaims_is_fully_stalled_even_if_others_are_ready(void **state)
{
	struct rig *r = two_cpus();
	struct task a = task_on(r, 0), b = task_on(r, 0);
	bool outer, inner;

	set_state(&a, TASK_RUNNING, 0);
	set_state(&b, TASK_READY, 0);
	r->ctx->cur = &a;
	a.now = 1 * S;
	outer = psi_memstall_enter(r->ctx);
	inner = psi_memstall_enter(r->ctx);
	assert_false(outer);
	assert_true(inner);
	psi_memstall_leave(r->ctx, inner);
	assert_true(a.in_memstall);
	/* It loses the CPU to the other one: no longer full. */
	set_state(&a, TASK_READY, 3 * S);
	set_state(&b, TASK_RUNNING, 3 * S);
	assert_total(r, RS_PSI_MEMORY, 4 * S, 3 * S, 2 * S);
	set_state(&b, TASK_READY, 4 * S);
	set_state(&a, TASK_RUNNING, 4 * S);
	a.now = 5 * S;
	psi_memstall_leave(r->ctx, outer);
	assert_total(r, RS_PSI_MEMORY, 6 * S, 4 * S, 3 * S);
	r->ctx->cur = NULL;
	rig_free(r);
}

/* CPU 0 is not idle for 1 s and stalls all the time; CPU 1 works for 0.25 s: 1 * 1 / 1.25. */
static void cpus_are_weighed_by_the_time_they_are_not_idle(void **state)
{
	struct rig *r = two_cpus();
	struct task a = task_on(r, 0), b = task_on(r, 1);

	wait_for(&a, WAIT_IO, 0);
	set_state(&b, TASK_RUNNING, 0);
	wait_for(&b, WAIT_SLEEP, S / 4);
	assert_total(r, RS_PSI_IO, 1 * S, S * 4 / 5, S * 4 / 5);
	rig_free(r);
}

static void a_task_that_moves_to_another_cpu_takes_its_state_along(void **state)
{
	struct rig *r = two_cpus();
	struct task a = task_on(r, 0);

	wait_for(&a, WAIT_IO, 0);
	a.cpu = 1;
	set_state(&a, TASK_RUNNING, 1 * S);
	assert_total(r, RS_PSI_IO, 1 * S, 1 * S, 1 * S);
	/* Had it stayed on CPU 0, that would go on waiting. */
	assert_total(r, RS_PSI_IO, 3 * S, 1 * S, 1 * S);
	rig_free(r);
}

static void a_task_that_moves_to_another_group_stalls_there_from_then_on(void **state)
{
	struct rig *r = two_cpus();
	struct task a = task_on(r, 0);
	struct rs_psi_stat other[RS_NR_PSI];
	GError *error = NULL;
	uint16_t child = memcg_create(&r->ctx->m, "/trace/child", &error);

	wait_for(&a, WAIT_IO, 0);
	psi_task_move(r->ctx, &a, child, 1 * S);
	psi_read(r->ctx, child, PSI_MARKS, 2 * S, other);
	assert_int_equal(other[RS_PSI_IO].some_total, 1 * S);
	assert_total(r, RS_PSI_IO, 2 * S, 2 * S, 2 * S); /* its parent */
	rig_free(r);
}

static void averages_follow_every_two_seconds(void **state)
{
	struct rig *r = two_cpus();
	struct task a = task_on(r, 0);
	struct rs_psi_stat p;

	wait_for(&a, WAIT_IO, 0);
	p = pressure(r, RS_PSI_IO, PSI_PERIOD_NS - 1);
	assert_int_equal(p.some_avg[0], 0);
	p = pressure(r, RS_PSI_IO, PSI_PERIOD_NS);
	assert_int_equal(p.some_avg[0], 1811);
	assert_int_equal(p.some_avg[1], 327);
	assert_int_equal(p.some_avg[2], 68);
	p = pressure(r, RS_PSI_IO, 400 * S);
	assert_in_range(p.some_avg[0], 9990, 10000);
	/* 199 periods: 1 - (2034 / 2048)^199 = 74.5 %, a little more than 1 - exp(-400 / 300). */
	assert_in_range(p.some_avg[2], 7440, 7460);
	set_state(&a, TASK_DEAD, 400 * S);
	p = pressure(r, RS_PSI_IO, 500 * S);
	assert_in_range(p.some_avg[0], 0, 1);
	rig_free(r);
}

static void samples_do_not_change_what_marks_read(void **state)
{
	struct rig *r = two_cpus();
	struct task a = task_on(r, 0), b = task_on(r, 1);
	struct rs_psi_stat out[RS_NR_PSI], last[RS_NR_PSI] = { 0 };

	for (unsigned i = 0; i < 30; i++) {
		wait_for(&a, WAIT_IO, i * S / 10);
		if (i == 7) {
			set_state(&b, TASK_RUNNING, i * S / 10);
			wait_for(&b, WAIT_SLEEP, i * S / 10 + S / 4);
		}
		psi_read(r->ctx, r->memcg, PSI_SAMPLES, i * S / 10 + S / 20, out);
		assert_true(out[RS_PSI_IO].some_total >= last[RS_PSI_IO].some_total);
		memcpy(last, out, sizeof(last));
	}
	/* Three seconds in two parts: 2.004 s beside 0.25 s on the other CPU, and the rest. */
	assert_total(r, RS_PSI_IO, 3 * S,
		     (ns_t)((__uint128_t)PSI_PERIOD_NS * PSI_PERIOD_NS / (PSI_PERIOD_NS + S / 4)) +
			     (3 * S - PSI_PERIOD_NS),
		     (ns_t)((__uint128_t)PSI_PERIOD_NS * PSI_PERIOD_NS / (PSI_PERIOD_NS + S / 4)) +
			     (3 * S - PSI_PERIOD_NS));
	rig_free(r);
}

/* ---- whole runs ---- */

static void one_thread_waits_what_its_group_is_stalled(void **state)
{
	static const char *const settings[] = { "memory.max", "4000p", "swap", "nvme",
						"disk",	      "ssd",   NULL };
	static const char *const policies[] = { "classic", "mglru" };

	for (unsigned p = 0; p < 2; p++) {
		struct rig *r = rig_new("6.12", policies[p], settings);
		struct rs_psi_stat out[RS_NR_PSI];
		const struct task *t;

		rig_map_anon(r, 1, 6000);
		for (unsigned i = 0; i < 4; i++) {
			rig_store(r, 1, 0, 2500);
			rig_store(r, 1, 500, 4000);
		}
		t = rig_task(r);
		psi_read(r->ctx, r->memcg, PSI_MARKS, t->now, out);
		assert_true(t->wait_ns[WAIT_IO] > 0);
		assert_int_equal(out[RS_PSI_IO].some_total,
				 t->wait_ns[WAIT_IO] + t->wait_ns[WAIT_DIRTY]);
		assert_int_equal(out[RS_PSI_IO].full_total, out[RS_PSI_IO].some_total);
		assert_int_equal(out[RS_PSI_CPU].some_total, t->wait_ns[WAIT_CPU]);
		/* Reclaim, and reading back what should have stayed. */
		assert_true(t->reclaim_ns > 0);
		assert_true(out[RS_PSI_MEMORY].some_total >= t->reclaim_ns);
		assert_true(out[RS_PSI_MEMORY].some_total <=
			    t->reclaim_ns + t->wait_ns[WAIT_IO] +
				    r->ctx->activity_ns[RS_COST_SUBMIT_IO]);
		assert_int_equal(out[RS_PSI_MEMORY].full_total, out[RS_PSI_MEMORY].some_total);
		rig_free(r);
	}
}

/* kswapd's runs are stalls of the machine and of no group. */
static void kswapd_puts_pressure_on_the_machine_alone(void **state)
{
	static const char *const settings[] = { "memory.low", "1M",	    "node0.memory",
						"96M",	      "memory.max", "max",
						"swap",	      "nvme",	    "cpus",
						"1",	      NULL };
	struct rig *r = rig_new("6.12", "classic", settings);
	struct rs_psi_stat machine[RS_NR_PSI], group[RS_NR_PSI];
	const struct task *kswapd = r->ctx->kswapd[0], *t;

	rig_map_anon(r, 1, 30000);
	for (unsigned i = 0; i < 2; i++)
		rig_store(r, 1, 0, 26000);
	t = rig_task(r);
	psi_read(r->ctx, 0, PSI_MARKS, t->now, machine);
	psi_read(r->ctx, r->memcg, PSI_MARKS, t->now, group);
	assert_int_not_equal(r->memcg, 0);
	assert_true(kswapd->reclaim_ns > t->reclaim_ns);
	assert_true(machine[RS_PSI_MEMORY].some_total >= kswapd->reclaim_ns);
	assert_true(group[RS_PSI_MEMORY].some_total <
		    t->reclaim_ns + t->wait_ns[WAIT_IO] + r->ctx->activity_ns[RS_COST_SUBMIT_IO]);
	assert_true(group[RS_PSI_MEMORY].some_total < machine[RS_PSI_MEMORY].some_total);
	rig_free(r);
}

static void a_group_in_which_nobody_has_run_has_no_pressure(void **state)
{
	struct rig *r = two_cpus();
	struct rs_psi_stat out[RS_NR_PSI];
	GError *error = NULL;
	uint16_t idle = memcg_create(&r->ctx->m, "/idle", &error);

	psi_read(r->ctx, idle, PSI_MARKS, 100 * S, out);
	for (unsigned i = 0; i < RS_NR_PSI; i++) {
		assert_int_equal(out[i].some_total, 0);
		assert_int_equal(out[i].some_avg[0], 0);
	}
	rig_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_period_under_full_pressure_gives_the_kernels_averages),
		cmocka_unit_test(periods_that_were_missed_decay_at_once),
		cmocka_unit_test(a_sample_is_a_whole_per_cent),
		cmocka_unit_test(what_exceeds_a_period_is_left_for_the_next),
		cmocka_unit_test(
			waiting_for_io_alone_is_a_full_stall_and_beside_work_a_partial_one),
		cmocka_unit_test(a_pause_for_dirty_pages_is_io_and_a_sleep_is_none),
		cmocka_unit_test(ready_without_a_cpu_is_pressure_on_cpus),
		cmocka_unit_test(a_cpu_that_reclaims_is_fully_stalled_even_if_others_are_ready),
		cmocka_unit_test(cpus_are_weighed_by_the_time_they_are_not_idle),
		cmocka_unit_test(a_task_that_moves_to_another_cpu_takes_its_state_along),
		cmocka_unit_test(a_task_that_moves_to_another_group_stalls_there_from_then_on),
		cmocka_unit_test(averages_follow_every_two_seconds),
		cmocka_unit_test(samples_do_not_change_what_marks_read),
		cmocka_unit_test(kswapd_puts_pressure_on_the_machine_alone),
		cmocka_unit_test(a_group_in_which_nobody_has_run_has_no_pressure),
		cmocka_unit_test(one_thread_waits_what_its_group_is_stalled),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
