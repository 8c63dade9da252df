/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The heap of events: by time, equal times in the order of their making.
 */
#include "tests/lib/cm.h"
#include "tests/lib/rig.h"

#define MANY 2000u

struct log {
	uint64_t value[MANY];
	ns_t when[MANY];
	unsigned n;
};

static void note(struct rs_ctx *ctx, void *arg, uint64_t value)
{
	struct log *log = arg;

	assert_in_range(log->n, 0, MANY - 1);
	log->when[log->n] = ctx->now;
	log->value[log->n++] = value;
}

/* A rig whose own timers are out of the way. */
static struct rig *start(void)
{
	struct rig *r = rig_new("6.12", "classic", NULL);

	g_array_set_size(r->ctx->events, 0);
	return r;
}

static void an_empty_heap_has_nothing_to_see(void **state)
{
	struct rig *r = start();
	ns_t when = 77;

	assert_false(event_peek(r->ctx, &when));
	assert_int_equal(when, 77);
	rig_free(r);
}

static void events_run_in_order_of_time(void **state)
{
	struct rig *r = start();
	g_autofree struct log *log = g_new0(struct log, 1);
	ns_t when;

	for (unsigned i = 0; i < MANY; i++)
		event_add(r->ctx, 1000 + i * 1103 % MANY, note, log, i);
	while (event_peek(r->ctx, &when)) {
		event_run_next(r->ctx);
		assert_int_equal(r->ctx->now, when);
	}
	assert_int_equal(log->n, MANY);
	for (unsigned i = 0; i < MANY; i++) {
		assert_int_equal(log->when[i], 1000 + i);
		assert_int_equal(log->value[i] * 1103 % MANY, i);
	}
	rig_free(r);
}

static void equal_times_run_in_the_order_of_their_making(void **state)
{
	struct rig *r = start();
	g_autofree struct log *log = g_new0(struct log, 1);
	ns_t when;

	for (unsigned i = 0; i < 300; i++)
		event_add(r->ctx, 5 + i % 3, note, log, i);
	while (event_peek(r->ctx, &when))
		event_run_next(r->ctx);
	for (unsigned i = 0; i < 300; i++)
		assert_int_equal(log->value[i], i % 100 * 3 + i / 100);
	rig_free(r);
}

static void the_clock_does_not_go_back_to_a_late_event(void **state)
{
	struct rig *r = start();
	g_autofree struct log *log = g_new0(struct log, 1);

	r->ctx->now = 500;
	event_add(r->ctx, 100, note, log, 0);
	event_run_next(r->ctx);
	assert_int_equal(log->when[0], 500);
	rig_free(r);
}

static void a_running_task_stops_at_an_event_made_meanwhile(void **state)
{
	struct rig *r = start();
	g_autofree struct log *log = g_new0(struct log, 1);

	rig_map_anon(r, 0, 1); /* thread 0 is there */
	rig_enter(r);
	r->ctx->cur->limit = 1000000;
	event_add(r->ctx, 2000000, note, log, 0);
	assert_int_equal(r->ctx->cur->limit, 1000000);
	event_add(r->ctx, 300, note, log, 0);
	assert_int_equal(r->ctx->cur->limit, 300);
	rig_leave(r);
	rig_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_empty_heap_has_nothing_to_see),
		cmocka_unit_test(events_run_in_order_of_time),
		cmocka_unit_test(equal_times_run_in_the_order_of_their_making),
		cmocka_unit_test(the_clock_does_not_go_back_to_a_late_event),
		cmocka_unit_test(a_running_task_stops_at_an_event_made_meanwhile),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
