/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * observe.h - the engine's side of <reclaimsim/observe.h>: hooks of one line. A page is known by
 * what it holds - (address space, region page) or (file, index) - so that it is the same before
 * and after an eviction; in between its swap slot or its place in the file stands for it.
 */
#ifndef SIM_ENGINE_OBSERVE_H
#define SIM_ENGINE_OBSERVE_H

#include <reclaimsim/observe.h>

#include "sim/engine/engine.h"

/* observe.c; all of them only with ctx->observer. */
void observe_note(struct rs_ctx *, pfn_t, enum rs_note, int64_t a, int64_t b);
void observe_mmap(struct rs_ctx *, const struct mm *, uint32_t region, const struct rs_map *);
void observe_anon(struct rs_ctx *, pfn_t, const struct rs_vma *, uint64_t vpn);
void observe_cache_add(struct rs_ctx *, pfn_t, bool shadow);
void observe_swapin(struct rs_ctx *, pfn_t, uint32_t slot);
void observe_moved(struct rs_ctx *, pfn_t from, pfn_t to, enum rs_note);
void observe_split(struct rs_ctx *, pfn_t head);
void observe_free(struct observation *);
struct rs_doer observe_doer(const struct rs_ctx *);
const struct rs_observer *observe_to(const struct rs_ctx *);

/* tracepoint.c */
void observe_event(struct rs_ctx *, const char *name, const char *fmt, ...) G_GNUC_PRINTF(3, 4);
void trace_page_cache(struct rs_ctx *, pfn_t, bool add);
void trace_write_folio(struct rs_ctx *, pfn_t);
void trace_throttled(struct rs_ctx *, uint8_t nid, ns_t, const char *reason);
void trace_reclaim_begin(struct rs_ctx *, const struct rs_scan *);
void trace_reclaim_end(struct rs_ctx *, const struct rs_scan *, uint64_t nr_reclaimed);

#define OBSERVED(ctx) G_UNLIKELY((ctx)->observer != NULL)

static inline void note(struct rs_ctx *ctx, pfn_t pfn, enum rs_note what, int64_t a, int64_t b)
{
	if (OBSERVED(ctx))
		observe_note(ctx, pfn, what, a, b);
}

#endif
