/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tracepoint.c - the kernel's trace events: names, fields and their order as the format files of
 * tracefs have them. Kernel: include/trace/events/vmscan.h, filemap.h.
 */
#include "sim/engine/observe.h"

/* What the kernel shows of a page of memory that a process asked for. */
#define GFP "GFP_HIGHUSER_MOVABLE"

void observe_event(struct rs_ctx *ctx, const char *name, const char *fmt, ...)
{
	const struct rs_observer *to = observe_to(ctx);
	struct rs_trace_event event = { .name = name };
	char *text;
	va_list ap;

	if (!to->event)
		return;
	va_start(ap, fmt);
	text = g_strdup_vprintf(fmt, ap);
	va_end(ap);
	event.by = observe_doer(ctx);
	event.text = text;
	to->event(to->arg, &event);
	g_free(text);
}

static const char *reclaim_flags(bool file)
{
	return file ? "RECLAIM_WB_FILE|RECLAIM_WB_ASYNC" : "RECLAIM_WB_ANON|RECLAIM_WB_ASYNC";
}

/* One device holds all files; a file's inode is its number in the trace, counted from 1. */
void trace_page_cache(struct rs_ctx *ctx, pfn_t pfn, bool add)
{
	const struct folio *f = &ctx->m.folios[pfn];

	observe_event(ctx,
		      add ? "mm_filemap_add_to_page_cache" : "mm_filemap_delete_from_page_cache",
		      "dev 254:0 ino %x pfn=0x%x ofs=%" PRIu64 " order=%u", f->object + 1, pfn,
		      (uint64_t)f->index << RS_PAGE_SHIFT, (unsigned)f->order);
}

/* Differs: the address of struct page is that of a flat array of 64-byte entries. */
void trace_write_folio(struct rs_ctx *ctx, pfn_t pfn)
{
	observe_event(ctx, "mm_vmscan_write_folio", "page=%016" PRIx64 " pfn=0x%x flags=%s",
		      0xffffea0000000000u + (uint64_t)pfn * 64, pfn,
		      reclaim_flags(folio_lru_type(&ctx->m.folios[pfn]) == RS_FILE));
}

void trace_reclaim_begin(struct rs_ctx *ctx, const struct rs_scan *sc)
{
	observe_event(ctx,
		      sc->cgroup_reclaim ? "mm_vmscan_memcg_reclaim_begin"
					 : "mm_vmscan_direct_reclaim_begin",
		      "order=%d gfp_flags=" GFP, sc->order);
}

void trace_reclaim_end(struct rs_ctx *ctx, const struct rs_scan *sc, uint64_t nr_reclaimed)
{
	observe_event(ctx,
		      sc->cgroup_reclaim ? "mm_vmscan_memcg_reclaim_end"
					 : "mm_vmscan_direct_reclaim_end",
		      "nr_reclaimed=%" PRIu64, nr_reclaimed);
}

/* Differs: the model always waits its time. */
void trace_throttled(struct rs_ctx *ctx, uint8_t nid, ns_t ns, const char *reason)
{
	g_autofree char *upper = g_ascii_strup(reason, -1);

	observe_event(ctx, "mm_vmscan_throttled",
		      "nid=%d usec_timeout=%" PRIu64 " usect_delayed=%" PRIu64
		      " reason=VMSCAN_THROTTLE_%s",
		      nid, ns / 1000, ns / 1000, upper);
}

/* ---- reported by policies ---- */

static const char *const lru_name[RS_NR_LRU] = { "inactive_anon", "active_anon", "inactive_file",
						 "active_file" };

void rs_trace_lru_isolate(struct rs_ctx *ctx, const struct rs_scan *sc, uint64_t requested,
			  uint64_t scanned, uint64_t skipped, uint64_t taken, enum rs_lru lru)
{
	if (!OBSERVED(ctx))
		return;
	observe_event(ctx, "mm_vmscan_lru_isolate",
		      "%sclasszone=%d order=%d nr_requested=%" PRIu64 " nr_scanned=%" PRIu64
		      " nr_skipped=%" PRIu64 " nr_taken=%" PRIu64 " lru=%s",
		      ctx->m.kernel < RS_KERNEL_6_12 ? "isolate_mode=0 " : "", sc->reclaim_idx,
		      sc->order, requested, scanned, skipped, taken, lru_name[lru]);
}

void rs_trace_lru_shrink_inactive(struct rs_ctx *ctx, uint8_t nid, uint64_t scanned,
				  uint64_t reclaimed, const struct rs_reclaim_stat *s,
				  const struct rs_scan *sc, enum rs_type type)
{
	if (!OBSERVED(ctx))
		return;
	observe_event(
		ctx, "mm_vmscan_lru_shrink_inactive",
		"nid=%d nr_scanned=%" PRIu64 " nr_reclaimed=%" PRIu64 " nr_dirty=%u nr_writeback=%u"
		" nr_congested=%u nr_immediate=%u nr_activate_anon=%u nr_activate_file=%u"
		" nr_ref_keep=%u nr_unmap_fail=%u priority=%d flags=%s",
		nid, scanned, reclaimed, s->nr_dirty, s->nr_writeback, s->nr_congested,
		s->nr_immediate, s->nr_activate[RS_ANON], s->nr_activate[RS_FILE], s->nr_ref_keep,
		s->nr_unmap_fail, sc->priority, reclaim_flags(type == RS_FILE));
}

void rs_trace_lru_shrink_active(struct rs_ctx *ctx, uint8_t nid, uint64_t taken, uint64_t active,
				uint64_t deactivated, uint64_t referenced, const struct rs_scan *sc,
				enum rs_type type)
{
	if (!OBSERVED(ctx))
		return;
	observe_event(ctx, "mm_vmscan_lru_shrink_active",
		      "nid=%d nr_taken=%" PRIu64 " nr_active=%" PRIu64 " nr_deactivated=%" PRIu64
		      " nr_referenced=%" PRIu64 " priority=%d flags=%s",
		      nid, taken, active, deactivated, referenced, sc->priority,
		      reclaim_flags(type == RS_FILE));
}
