/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * charge.c - charging a page to its group: the CPU's stock, the counters, reclaim at the limit,
 * the group's OOM. Kernel: mm/memcontrol.c try_charge_memcg().
 * Differs: a killed task charges by force at once; stocks of other CPUs are drained at once.
 */
#include "sim/engine/psi.h"
#include "sim/engine/timeline.h"

#define MEMCG_CHARGE_BATCH 64u
#define MAX_RECLAIM_RETRIES 16
#define COSTLY_PAGES 8u
#define OOM_WAIT_NS 1000000u

void drain_stock(struct rs_ctx *ctx, struct cpu *cpu)
{
	if (cpu->stock)
		memcg_uncharge(&ctx->m, cpu->stock_memcg, cpu->stock);
	cpu->stock = 0;
}

static bool consume_stock(struct rs_ctx *ctx, uint16_t memcg, uint32_t nr)
{
	struct cpu *cpu = this_cpu(ctx);

	if (cpu->stock_memcg != memcg || cpu->stock < nr)
		return false;
	cpu->stock -= nr;
	charge(ctx, RS_COST_MEMCG_CHARGE_STOCK, 1);
	return true;
}

static void refill_stock(struct rs_ctx *ctx, uint16_t memcg, uint32_t nr)
{
	struct cpu *cpu = this_cpu(ctx);

	if (cpu->stock_memcg != memcg) {
		drain_stock(ctx, cpu);
		cpu->stock_memcg = memcg;
	}
	cpu->stock += nr;
	if (cpu->stock > MEMCG_CHARGE_BATCH)
		drain_stock(ctx, cpu);
}

/* Stocks of the group and its descendants, on all CPUs. */
static void drain_all_stock(struct rs_ctx *ctx, uint16_t root)
{
	for (uint32_t i = 0; i < ctx->nr_cpus; i++)
		if (memcg_is_descendant(&ctx->m, ctx->cpus[i].stock_memcg, root))
			drain_stock(ctx, &ctx->cpus[i]);
}

static void charge_counters(struct rs_ctx *ctx, uint16_t memcg)
{
	for (uint16_t i = memcg; i != RS_MEMCG_NONE; i = ctx->m.memcg[i].parent)
		charge(ctx, RS_COST_MEMCG_CHARGE, 1);
}

/* Over memory.high: reclaim is done on the way back to user mode. */
static void note_high(struct rs_ctx *ctx, uint16_t memcg, uint32_t nr)
{
	for (uint16_t i = memcg; i != RS_MEMCG_NONE; i = ctx->m.memcg[i].parent) {
		const struct memcg *g = &ctx->m.memcg[i];

		if (g->high != RS_UNLIMITED && g->usage > g->high) {
			ctx->cur->nr_pages_over_high += nr;
			return;
		}
	}
}

static bool try_charge(struct rs_ctx *ctx, uint16_t memcg, uint32_t nr)
{
	uint32_t batch = MAX(MEMCG_CHARGE_BATCH, nr);
	int retries = MAX_RECLAIM_RETRIES;
	bool drained = false, was_inside;
	uint64_t reclaimed;
	uint16_t over;

	for (;;) {
		if (consume_stock(ctx, memcg, nr))
			return true;
		charge_counters(ctx, memcg);
		if (memcg_try_charge(&ctx->m, memcg, batch, &over))
			break;
		if (batch > nr) {
			batch = nr;
			continue;
		}
		if (ctx->cur->memalloc || ctx->cur->killed) {
			memcg_force_charge(&ctx->m, memcg, nr);
			return true;
		}
		ctx->m.memcg[over].nr_max_events++;
		was_inside = psi_memstall_enter(ctx);
		reclaimed = try_to_free_mem_cgroup_pages(ctx, over, nr, true, false);
		psi_memstall_leave(ctx, was_inside);
		if (memcg_margin(&ctx->m, over) >= nr)
			continue;
		if (!drained) {
			drain_all_stock(ctx, over);
			drained = true;
			continue;
		}
		if ((reclaimed && nr <= COSTLY_PAGES) || retries-- > 0)
			continue;
		ctx->m.memcg[over].nr_oom_events++;
		if (!oom_kill(ctx, over))
			return false;
		retries = MAX_RECLAIM_RETRIES;
	}
	if (batch > nr)
		refill_stock(ctx, memcg, batch - nr);
	note_high(ctx, memcg, batch);
	return true;
}

bool charge_folio(struct rs_ctx *ctx, pfn_t pfn, uint16_t memcg)
{
	uint32_t nr = folio_nr_pages(&ctx->m.folios[pfn]);

	if (memcg && !try_charge(ctx, memcg, nr))
		return false;
	ctx->m.folios[pfn].memcg = memcg;
	memcg_stat_updated(&ctx->m, 1); /* its PGPGIN */
	return true;
}

void uncharge_folio(struct rs_ctx *ctx, pfn_t pfn)
{
	struct folio *f = &ctx->m.folios[pfn];

	if (f->memcg)
		memcg_uncharge(&ctx->m, f->memcg, folio_nr_pages(f));
	f->memcg = 0;
}

/*
 * Kill the biggest process of the group's subtree. The victim's tasks end when they next return to
 * user mode; its memory is freed then. False: there is nobody to kill.
 * Differs: no oom_score_adj, and the reaper is the victim itself.
 */
bool oom_kill(struct rs_ctx *ctx, uint16_t memcg)
{
	struct mm *victim = NULL;
	uint64_t most = 0;

	for (uint32_t i = 1; i < ctx->m.nr_mms; i++) {
		struct mm *mm = ctx->m.mm[i];
		uint64_t rss;

		if (!mm || !mm->users || !memcg_is_descendant(&ctx->m, mm->pub.memcg, memcg))
			continue;
		if (mm->oom_victim && mm == ctx->cur->mm)
			return false;
		if (mm->oom_victim) { /* already dying: wait for it */
			task_sleep(ctx, OOM_WAIT_NS, WAIT_THROTTLE, "the OOM victim");
			return true;
		}
		rss = mm->pub.rss[RS_ANON] + mm->pub.rss[RS_FILE] + mm->nr_swap_ptes;
		if (!victim || rss > most) {
			victim = mm;
			most = rss;
		}
	}
	if (!victim)
		return false;
	victim->oom_victim = true;
	ctx->m.memcg[victim->pub.memcg].nr_oom_kills++;
	memcg_count(&ctx->m, victim->pub.memcg, RS_OOM_KILL, 1);
	note_oom(ctx, victim, memcg);
	if (TIMELINE(ctx))
		timeline_instant(ctx, "oom", "OOM kill", victim->pub.id);
	for (uint32_t i = 0; i < ctx->nr_tasks; i++) {
		struct task *t = ctx->tasks[i];

		if (t->mm == victim && t->state != TASK_DEAD) {
			t->killed = true;
			if (t->state == TASK_STARVING || (t->state == TASK_WAITING && t->killable))
				task_wake(ctx, t, ctx->cur->now);
		}
	}
	/* A victim that is somebody else must get the chance to die. */
	if (victim != ctx->cur->mm)
		task_sleep(ctx, OOM_WAIT_NS, WAIT_THROTTLE, "the OOM victim");
	return true;
}

/*
 * On the way to user mode: reclaim what was charged above memory.high, then wait in proportion to
 * the excess squared, for the pages charged against a batch of 64.
 * Kernel: mem_cgroup_handle_over_high(), calculate_high_delay(). Assumed: HZ = 250.
 * Differs: no delay for memory.swap.high.
 */
#define HIGH_DELAY_PRECISION_SHIFT 20
#define HIGH_DELAY_SCALING_SHIFT 14
#define HIGH_DELAY_HZ 250u
static uint64_t high_delay_jiffies(struct rs_ctx *ctx, uint16_t memcg, uint32_t nr)
{
	uint64_t worst = 0;
	__uint128_t penalty;

	for (uint16_t i = memcg; i != RS_MEMCG_NONE; i = ctx->m.memcg[i].parent) {
		const struct memcg *g = &ctx->m.memcg[i];

		if (g->high != RS_UNLIMITED && g->usage > g->high)
			worst = MAX(worst, ((g->usage - g->high) << HIGH_DELAY_PRECISION_SHIFT) /
						   MAX(g->high, 1));
	}
	penalty = (__uint128_t)worst * worst * HIGH_DELAY_HZ;
	penalty = (penalty >> HIGH_DELAY_PRECISION_SHIFT >> HIGH_DELAY_SCALING_SHIFT) * nr /
		  MEMCG_CHARGE_BATCH;
	return MIN(penalty, 2 * HIGH_DELAY_HZ);
}

void handle_memory_high(struct rs_ctx *ctx)
{
	struct task *t = ctx->cur;
	uint32_t nr = t->nr_pages_over_high;
	int retries = MAX_RECLAIM_RETRIES;
	bool first = true, was_inside;

	t->nr_pages_over_high = 0;
	for (;;) {
		uint64_t freed = 0;
		uint64_t delay;

		for (uint16_t i = t->mm->pub.memcg; i != RS_MEMCG_NONE;
		     i = ctx->m.memcg[i].parent) {
			struct memcg *g = &ctx->m.memcg[i];

			if (g->high == RS_UNLIMITED || g->usage <= g->high)
				continue;
			g->nr_high_events++;
			was_inside = psi_memstall_enter(ctx);
			freed += try_to_free_mem_cgroup_pages(
				ctx, i, first ? nr : RS_SWAP_CLUSTER_MAX, true, false);
			psi_memstall_leave(ctx, was_inside);
		}
		first = false;
		delay = high_delay_jiffies(ctx, t->mm->pub.memcg, nr);
		if (delay <= HIGH_DELAY_HZ / 100) /* not worth it */
			return;
		if (freed || retries-- > 0)
			continue;
		was_inside = psi_memstall_enter(ctx);
		task_sleep(ctx, delay * (1000000000 / HIGH_DELAY_HZ), WAIT_THROTTLE, "memory.high");
		psi_memstall_leave(ctx, was_inside);
		return;
	}
}
