/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * timeline.h - the engine's side of <reclaimsim/timeline.h>: hooks of one line.
 */
#ifndef SIM_ENGINE_TIMELINE_H
#define SIM_ENGINE_TIMELINE_H

#include <reclaimsim/timeline.h>

#include "sim/engine/engine.h"

#define TIMELINE(ctx) G_UNLIKELY((ctx)->timeline != NULL)

/* timeline.c; all of them only with ctx->timeline. */
void timeline_begin(struct rs_ctx *, const char *category, const char *name);
void timeline_end(struct rs_ctx *, const char *name, uint64_t value); /* name may be NULL */
void timeline_instant(struct rs_ctx *, const char *category, const char *name, uint64_t value);
void timeline_wait(struct rs_ctx *, struct task *, enum wait_kind, const char *what, ns_t from,
		   ns_t to);
void timeline_spin(struct rs_ctx *, const char *what, ns_t from, ns_t to);
/* It has had the CPU since started_at. */
void timeline_ran(struct rs_ctx *, const struct task *);
/* One request of n pages on a channel of the device. */
void timeline_io(struct rs_ctx *, const struct device *, uint32_t channel, bool write,
		 uint64_t bytes, ns_t from, ns_t to);
void timeline_counters(struct rs_ctx *, ns_t now);
void timeline_close(struct rs_ctx *, struct task *); /* its open spans end with it */
void timeline_finish(struct rs_ctx *);
void timeline_free(struct rs_ctx *);
const char *timeline_op(enum rs_op); /* NULL: not worth a span */

static inline void span_begin(struct rs_ctx *ctx, const char *category, const char *name)
{
	if (TIMELINE(ctx))
		timeline_begin(ctx, category, name);
}

static inline void span_end(struct rs_ctx *ctx, const char *name, uint64_t value)
{
	if (TIMELINE(ctx))
		timeline_end(ctx, name, value);
}

#endif
