/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cost.c - every activity's price goes to the clock of the task that does it.
 */
#include "sim/engine/engine.h"

void charge(struct rs_ctx *ctx, enum rs_cost cost, uint64_t n)
{
	ns_t ns = ctx->cfg.cost[cost] * n;

	ctx->activity_calls[cost] += n;
	ctx->activity_ns[cost] += ns;
	if (ctx->cur)
		ctx->cur->now += ns;
}

void rs_charge(struct rs_ctx *ctx, enum rs_cost cost, uint64_t n)
{
	charge(ctx, cost, n);
}
