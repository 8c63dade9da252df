/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * event.c - the heap of things that happen at a time by themselves: I/O completions, timers.
 * Equal times go in the order of their making.
 * Differs: what one step of a task passes over happens when the step ends, not in its middle.
 */
#include "sim/engine/engine.h"

static bool earlier(const struct event *a, const struct event *b)
{
	return a->when != b->when ? a->when < b->when : a->seq < b->seq;
}

static struct event *at(struct rs_ctx *ctx, guint i)
{
	return &g_array_index(ctx->events, struct event, i);
}

void event_add(struct rs_ctx *ctx, ns_t when, event_fn *fn, void *arg, uint64_t value)
{
	struct event e = { when, ctx->event_seq++, fn, arg, value };
	guint i = ctx->events->len;

	g_array_append_val(ctx->events, e);
	while (i && earlier(&e, at(ctx, (i - 1) / 4))) {
		*at(ctx, i) = *at(ctx, (i - 1) / 4);
		i = (i - 1) / 4;
	}
	*at(ctx, i) = e;
	/* Whoever runs now must not run past it. */
	if (ctx->cur && when < ctx->cur->limit)
		ctx->cur->limit = when;
	if (ctx->cur && when < ctx->cur->others)
		ctx->cur->others = when;
}

bool event_peek(struct rs_ctx *ctx, ns_t *ret_when)
{
	if (!ctx->events->len)
		return false;
	*ret_when = at(ctx, 0)->when;
	return true;
}

void event_run_next(struct rs_ctx *ctx)
{
	struct event first = *at(ctx, 0), last;
	guint n, i = 0;

	last = *at(ctx, ctx->events->len - 1);
	g_array_set_size(ctx->events, ctx->events->len - 1);
	n = ctx->events->len;
	while (n) {
		guint best = i, c;

		for (c = i * 4 + 1; c <= i * 4 + 4 && c < n; c++)
			if (earlier(at(ctx, c), best == i ? &last : at(ctx, best)))
				best = c;
		if (best == i)
			break;
		*at(ctx, i) = *at(ctx, best);
		i = best;
	}
	if (n)
		*at(ctx, i) = last;
	ctx->now = MAX(ctx->now, first.when);
	first.fn(ctx, first.arg, first.value);
}
