/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * numa_balancing.c - pages go where they are used: scans make PTEs inaccessible, the faults that
 * follow (hint faults) tell which node uses a page, and how soon.
 *
 * In mode 1 a page moves to the node of its user. In mode 2 (memory tiering) only pages of slow
 * nodes are scanned, and one that faults within the hot threshold is promoted, up to a rate limit.
 * numa_stamp says of each frame who used it last, or (slow nodes in mode 2) when it was scanned.
 *
 * Kernel: kernel/sched/fair.c task_tick_numa(), task_numa_work(), task_numa_fault(),
 * should_numa_migrate_memory(); mm/mprotect.c change_pte_range(); mm/memory.c do_numa_page().
 * Differs: threads are not moved to their memory and form no numa_group; huge mappings are not
 * scanned; 6.12's filter of VMAs by the threads that have used them is not modelled.
 */
#include "sim/engine/engine.h"

#define MS 1000000ull
#define JIFFY_MS 4u /* HZ = 250 */
#define PAGES_PER_MB 256u
#define MAX_SCAN_WINDOW 2560u /* MB a second */
#define VIRTUAL_PAGES 8u      /* of address space looked at for each page to update */
#define PERIOD_SLOTS 10
#define PERIOD_THRESHOLD 7
#define THRESHOLD_STEPS 16u

/* A use: valid, number of the thread (8 bits as in a cpupid), node. */
#define STAMP_USE(task, nid) (1u << 31 | ((task)->id & 0xff) << 8 | (nid))
/* A time: valid, milliseconds. */
#define STAMP_TIME(ms) (1u << 31 | (uint32_t)(ms))

void numa_balancing_init(struct rs_ctx *ctx)
{
	if (ctx->cfg.numa_balancing && ctx->m.nr_nodes > 1)
		ctx->numa_stamp = reserve_array(ctx->m.nr_frames, sizeof(*ctx->numa_stamp));
}

static bool tiering(const struct rs_ctx *ctx)
{
	return ctx->cfg.numa_balancing & NUMA_BALANCING_TIERING;
}

/* Kernel: folio_use_access_time(). */
static bool has_access_time(const struct rs_ctx *ctx, uint8_t nid)
{
	return tiering(ctx) && !node_is_toptier(ctx, nid);
}

/* The last user stays known, unless the stamp is a time on one side. */
void numa_stamp_moved(struct rs_ctx *ctx, pfn_t from, pfn_t to)
{
	if (!ctx->numa_stamp)
		return;
	ctx->numa_stamp[to] = has_access_time(ctx, pfn_to_nid(&ctx->m, from)) ==
					      has_access_time(ctx, pfn_to_nid(&ctx->m, to))
				      ? ctx->numa_stamp[from]
				      : 0;
	ctx->numa_stamp[from] = 0;
}

static uint64_t jiffies_ms(ns_t now)
{
	return now / MS / JIFFY_MS * JIFFY_MS;
}

/* ---- how often ---- */

static uint32_t scan_windows(const struct rs_ctx *ctx, const struct mm *mm)
{
	uint64_t window = (uint64_t)ctx->cfg.numa_scan_size_mb * PAGES_PER_MB;
	uint64_t rss = mm->pub.rss[RS_ANON] + mm->pub.rss[RS_FILE];

	return rss ? (rss + window - 1) / window : 1;
}

static uint32_t scan_min_ms(const struct rs_ctx *ctx, const struct mm *mm)
{
	uint32_t windows = MAX(MAX_SCAN_WINDOW / ctx->cfg.numa_scan_size_mb, 1);

	return MAX(1000 / windows, ctx->cfg.numa_scan_period_min_ms / scan_windows(ctx, mm));
}

static uint32_t scan_max_ms(const struct rs_ctx *ctx, const struct mm *mm)
{
	return MAX(scan_min_ms(ctx, mm), ctx->cfg.numa_scan_period_max_ms / scan_windows(ctx, mm));
}

/* Many private or local faults: slower; else faster. Kernel: update_task_scan_period(). */
static void update_scan_period(struct rs_ctx *ctx, struct task *t)
{
	struct numa_task *n = &t->numa;
	int slot = (n->scan_period_ms + PERIOD_SLOTS - 1) / PERIOD_SLOTS, diff;
	int64_t lr, ps, period;

	if (n->local + n->shared == 0 || n->failed) {
		n->scan_period_ms = MIN(scan_max_ms(ctx, t->mm), n->scan_period_ms * 2);
		t->mm->numa_next_scan = t->now + n->scan_period_ms * MS;
		return;
	}
	lr = n->local * PERIOD_SLOTS / (n->local + n->remote);
	ps = n->private * PERIOD_SLOTS / (n->private + n->shared);
	if (ps >= PERIOD_THRESHOLD)
		diff = MAX(ps - PERIOD_THRESHOLD, 1) * slot;
	else if (lr >= PERIOD_THRESHOLD)
		diff = MAX(lr - PERIOD_THRESHOLD, 1) * slot;
	else
		diff = -(PERIOD_THRESHOLD - MAX(lr, ps)) * slot;
	period = (int64_t)n->scan_period_ms + diff;
	n->scan_period_ms =
		CLAMP(period, (int64_t)scan_min_ms(ctx, t->mm), (int64_t)scan_max_ms(ctx, t->mm));
}

/* Once a round of scans: the node with the most faults. Kernel: task_numa_placement(). */
static void task_numa_placement(struct rs_ctx *ctx, struct task *t)
{
	struct numa_task *n = &t->numa;
	uint64_t most = 0;

	if (n->scan_seq == t->mm->numa_scan_seq)
		return;
	n->scan_seq = t->mm->numa_scan_seq;
	for (uint32_t nid = 0; nid < ctx->m.nr_nodes; nid++) {
		n->faults[nid] = n->faults[nid] / 2 + n->new_faults[nid];
		n->new_faults[nid] = 0;
		if (n->faults[nid] > most) {
			most = n->faults[nid];
			n->preferred = nid + 1;
		}
	}
	update_scan_period(ctx, t);
	n->remote = n->local = n->failed = n->shared = n->private = 0;
}

/* ---- scans ---- */

static ns_t cpu_time(const struct task *t)
{
	return t->run_ns + (t->now - t->started_at);
}

void task_tick_numa(struct rs_ctx *ctx, struct task *t)
{
	struct numa_task *n = &t->numa;
	ns_t period;

	if (!n->scan_period_ms)
		n->scan_period_ms = ctx->cfg.numa_scan_delay_ms;
	if (!t->mm->numa_next_scan)
		t->mm->numa_next_scan = t->born_at + ctx->cfg.numa_scan_delay_ms * MS;
	period = n->scan_period_ms * MS;
	if (cpu_time(t) <= n->node_stamp + period)
		return;
	if (!n->node_stamp)
		n->scan_period_ms = scan_min_ms(ctx, t->mm);
	n->node_stamp += period;
	if (t->now >= t->mm->numa_next_scan)
		n->work = true;
}

/* Kernel: change_pte_range() with MM_CP_PROT_NUMA. */
static bool make_inaccessible(struct rs_ctx *ctx, const struct rs_vma *vma, uint32_t *pte,
			      int target)
{
	const struct folio *f;
	pfn_t pfn;

	if (!(*pte & RS_PTE_PRESENT) || (*pte & RS_PTE_PROTNONE) || !rs_pte_pfn(*pte))
		return false;
	pfn = rs_pfn_head(ctx, rs_pte_pfn(*pte));
	f = &ctx->m.folios[pfn];
	if (!(vma->flags & VM_SHARED) && (vma->flags & VM_WRITE) && f->mapcount > 1 && !f->order)
		return false; /* shared by copy on write */
	if (folio_lru_type(f) == RS_FILE && (f->flags & PG_dirty))
		return false;
	if (f->nid == target ||
	    (!(ctx->cfg.numa_balancing & NUMA_BALANCING_NORMAL) && node_is_toptier(ctx, f->nid)))
		return false;
	if (has_access_time(ctx, f->nid))
		ctx->numa_stamp[pfn] = STAMP_TIME(jiffies_ms(ctx->cur->now));
	*pte |= RS_PTE_PROTNONE;
	return true;
}

/* [start, end) of one VMA. Kernel: change_prot_numa(). */
static uint64_t scan_range(struct rs_ctx *ctx, struct mm *mm, const struct rs_vma *vma,
			   uint64_t start, uint64_t end)
{
	/* Private memory of a single thread that is where the thread runs is left alone. */
	int target = !(vma->flags & VM_SHARED) && mm->users == 1 ? ctx->cur->nid : -1;
	uint64_t updated = 0;

	for (uint64_t vpn = start; vpn < end;) {
		uint64_t next = MIN((vpn | 511) + 1, end);
		uint32_t table = mm_table(&ctx->m, mm, vpn);

		if (table && !(ctx->m.pmd[table] & RS_PMD_LEAF)) {
			charge(ctx, RS_COST_PTE_TABLE_FIXED, 1);
			charge(ctx, RS_COST_PTE_SCAN, next - vpn);
			for (; vpn < next; vpn++)
				updated += make_inaccessible(
					ctx, vma, table_ptes(&ctx->m, table) + (vpn & 511), target);
		}
		vpn = next;
	}
	if (updated) {
		charge(ctx, ctx->nr_cpus > 1 ? RS_COST_TLB_FLUSH_BATCH : RS_COST_TLB_FLUSH_LOCAL,
		       1);
		ctx->m.vmstat[RS_NUMA_PTE_UPDATES] += updated;
	}
	return updated;
}

/* Kernel: vma_migratable(), vma_policy_mof(): an explicit policy is not overruled. */
static bool worth_scanning(const struct rs_vma *vma)
{
	if (vma->policy != RS_MPOL_DEFAULT || !(vma->flags & (VM_READ | VM_WRITE | VM_EXEC)))
		return false;
	/* Read-only file mappings are libraries mostly. */
	return (vma->flags & VM_ANON) || (vma->flags & (VM_READ | VM_WRITE)) != VM_READ;
}

/* One window of the address space; the next scan goes on behind it. */
static void scan_window(struct rs_ctx *ctx, struct mm *mm)
{
	int64_t pages = ctx->cfg.numa_scan_size_mb * PAGES_PER_MB;
	int64_t virtual = pages * VIRTUAL_PAGES;
	uint64_t start = mm->numa_scan_offset;
	uint32_t i = mm_vma_index(mm, start);

	if (i == mm->pub.nr_vmas) {
		mm->numa_scan_seq++;
		start = i = 0;
	}
	for (; i < mm->pub.nr_vmas; i++) {
		const struct rs_vma *vma = mm->pub.vmas[i];

		if (!worth_scanning(vma))
			continue;
		for (start = MAX(start, vma->start); start < vma->end;) {
			uint64_t end = MIN((start + pages + 511) & ~(uint64_t)511, vma->end);

			if (scan_range(ctx, mm, vma, start, end))
				pages -= end - start;
			virtual -= end - start;
			start = end;
			if (pages <= 0 || virtual <= 0) {
				mm->numa_scan_offset = start;
				return;
			}
		}
	}
	mm->numa_scan_seq++;
	mm->numa_scan_offset = 0;
}

void task_numa_work(struct rs_ctx *ctx)
{
	struct task *t = ctx->cur;
	struct numa_task *n = &t->numa;
	ns_t from = t->now;

	n->work = false;
	if (!t->mm || t->now < t->mm->numa_next_scan)
		return; /* another thread has done it */
	t->mm->numa_next_scan = t->now + n->scan_period_ms * MS;
	n->node_stamp += 2 * ctx->cfg.tick_ns;
	if (!mmap_read_trylock(ctx, t->mm, LOCK_WALK))
		return;
	t->mmap_since = t->now;
	scan_window(ctx, t->mm);
	mmap_read_unlock(ctx, t->mm, LOCK_WALK);
	/* Scans take 3 % of the CPU time at most. */
	n->node_stamp += 32 * (t->now - from);
}

/* ---- hint faults ---- */

/* Kernel: pgdat_free_space_enough(). */
static bool free_space_enough(const struct rs_ctx *ctx, uint8_t nid)
{
	uint64_t present = 0, enough;

	for (unsigned z = 0; z < RS_NR_ZONES; z++)
		present += ctx->m.node[nid].zone[z].managed;
	enough = MAX(UINT64_C(1) << (30 - RS_PAGE_SHIFT), present >> 4);
	for (unsigned z = RS_NR_ZONES; z-- > 0;) {
		const struct zone *zone = &ctx->m.node[nid].zone[z];

		if (zone->managed &&
		    zone_watermark_ok(&ctx->m, nid, z, 0, zone->wmark[RS_WMARK_PROMO] + enough,
				      RS_ZONE_NORMAL))
			return true;
	}
	return false;
}

/*
 * More candidates than the limit lets through: fewer pages count as hot, and the other way round.
 * Kernel: numa_promotion_adjust_threshold().
 */
static void adjust_threshold(struct rs_ctx *ctx, uint8_t nid, uint64_t rate_limit, uint64_t now)
{
	uint64_t period = ctx->cfg.numa_scan_period_max_ms, wanted, got, step, threshold;
	uint64_t def = ctx->cfg.numa_hot_threshold_ms;

	if (now - ctx->promotion[nid].th_start_ms <= period)
		return;
	ctx->promotion[nid].th_start_ms = now;
	wanted = rate_limit * period / 1000;
	got = ctx->promotion[nid].nr_candidates - ctx->promotion[nid].th_nr_cand;
	step = def * 2 / THRESHOLD_STEPS;
	threshold = ctx->promotion[nid].threshold_ms ? ctx->promotion[nid].threshold_ms : def;
	if (got > wanted * 11 / 10)
		threshold = MAX(threshold > step ? threshold - step : 0, step);
	else if (got < wanted * 9 / 10)
		threshold = MIN(threshold + step, def * 2);
	ctx->promotion[nid].th_nr_cand = ctx->promotion[nid].nr_candidates;
	ctx->promotion[nid].threshold_ms = threshold;
}

/* True: enough have gone this second. Kernel: numa_promotion_rate_limit(). */
static bool over_rate_limit(struct rs_ctx *ctx, uint8_t nid, uint64_t rate_limit, uint64_t now)
{
	ctx->m.vmstat[RS_PGPROMOTE_CANDIDATE]++;
	ctx->promotion[nid].nr_candidates++;
	if (now - ctx->promotion[nid].rl_start_ms > 1000) {
		ctx->promotion[nid].rl_start_ms = now;
		ctx->promotion[nid].rl_nr_cand = ctx->promotion[nid].nr_candidates;
	}
	return ctx->promotion[nid].nr_candidates - ctx->promotion[nid].rl_nr_cand >= rate_limit;
}

/* A page of a slow node: used soon after its scan? */
static bool should_promote(struct rs_ctx *ctx, pfn_t pfn, uint8_t nid)
{
	uint64_t rate_limit = (uint64_t)ctx->cfg.numa_promote_rate_limit_mbps * PAGES_PER_MB;
	uint64_t now = jiffies_ms(ctx->cur->now), threshold;
	uint32_t latency;

	if (free_space_enough(ctx, nid)) {
		ctx->promotion[nid].threshold_ms = 0; /* the load has changed */
		return true;
	}
	adjust_threshold(ctx, nid, rate_limit, now);
	threshold = ctx->promotion[nid].threshold_ms ? ctx->promotion[nid].threshold_ms
						     : (uint64_t)ctx->cfg.numa_hot_threshold_ms;
	latency = (STAMP_TIME(now) - ctx->numa_stamp[pfn]) & INT32_MAX;
	ctx->numa_stamp[pfn] = STAMP_TIME(now);
	return latency < threshold && !over_rate_limit(ctx, nid, rate_limit, now);
}

static bool same_thread(const struct task *t, uint32_t stamp)
{
	return (stamp >> 8 & 0xff) == (t->id & 0xff);
}

/* Kernel: should_numa_migrate_memory(). */
static bool should_migrate(struct rs_ctx *ctx, pfn_t pfn, uint8_t from, uint8_t to)
{
	struct task *t = ctx->cur;
	uint32_t last;

	if (has_access_time(ctx, from))
		return should_promote(ctx, pfn, to);
	last = ctx->numa_stamp[pfn];
	ctx->numa_stamp[pfn] = STAMP_USE(t, to);
	if (!tiering(ctx) && !node_is_toptier(ctx, from) && !last)
		return false;
	/* Early on, and pages that one thread uses. */
	if ((!t->numa.preferred || t->numa.scan_seq <= 4) && (!last || same_thread(t, last)))
		return true;
	/* Two faults in a row from that node. */
	return !last || (last & 0xff) == to;
}

/* Kernel: task_numa_fault(). */
static void note_fault(struct rs_ctx *ctx, uint32_t last, uint8_t nid, bool local, bool migrated,
		       bool failed)
{
	struct task *t = ctx->cur;

	if (has_access_time(ctx, nid) && !migrated)
		return;
	task_numa_placement(ctx, t);
	*(local ? &t->numa.local : &t->numa.remote) += 1;
	*(!last || same_thread(t, last) ? &t->numa.private : &t->numa.shared) += 1;
	t->numa.failed += failed;
	t->numa.new_faults[nid]++;
}

/* The PTE is accessible again; the page may have moved. */
void do_numa_page(struct rs_ctx *ctx, struct mm *mm, struct rs_vma *vma, uint64_t vpn)
{
	uint32_t *pte = mm_pte(&ctx->m, mm, vpn), last;
	pfn_t pfn = rs_pfn_head(ctx, rs_pte_pfn(*pte));
	uint8_t nid = ctx->m.folios[pfn].nid, here = ctx->cur->nid;
	bool local = nid == here, moved = false, wanted;

	charge(ctx, RS_COST_NUMA_HINT_FAULT, 1);
	*pte = (*pte & ~RS_PTE_PROTNONE) | RS_PTE_YOUNG;
	ctx->m.vmstat[RS_NUMA_HINT_FAULTS]++;
	ctx->m.vmstat[RS_NUMA_HINT_FAULTS_LOCAL] += local;
	if (!ctx->numa_stamp)
		return;
	last = has_access_time(ctx, nid) ? 0 : ctx->numa_stamp[pfn];
	wanted = vma->policy == RS_MPOL_DEFAULT && should_migrate(ctx, pfn, nid, here) && !local;
	if (wanted && migrate_misplaced(ctx, vma, pfn, here)) {
		moved = true;
		nid = here;
	}
	note_fault(ctx, last, nid, local, moved, wanted && !moved);
}
