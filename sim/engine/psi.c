/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * psi.c - pressure stall information. Kernel: kernel/sched/psi.c.
 *
 * Tasks are counted by group and CPU in four states; a group is under pressure on a CPU as
 * test_states() says. Time in a state is summed up by CPU, and every two seconds the CPUs are
 * averaged, each with its time that was not idle as its weight, into the totals of the group, and
 * these into averages over 10, 60 and 300 s.
 *
 * The worker that averages is not an event of the simulation, which it could disturb: what it would
 * have done is caught up on when the group next changes or is read.
 *
 * Differs: weights are exact, not in jiffies. A task that is ready and has no CPU yet counts where
 * it ran last. CPUs run ahead of each other by a quantum at most, and a change that comes late by
 * that much counts from the latest one on.
 */
#include "sim/engine/psi.h"

#include <string.h>

#define FSHIFT 11
#define FIXED_1 (1u << FSHIFT)

struct psi_cpu {
	uint32_t tasks[NR_PSI_COUNTS];
	bool oncpu, reclaiming; /* a task of the group has the CPU; and it is in a memory stall */
	uint32_t mask;		/* of enum psi_state */
	ns_t since;
	uint64_t times[NR_PSI_STATES + 1];
	uint64_t prev[NR_PSI_READERS][NR_PSI_STATES + 1];
};

struct psi_group {
	struct psi_cpu *cpu;
	uint64_t total[NR_PSI_READERS][NR_PSI_STATES];
	struct psi_avgs avgs;
	bool work_pending;
	ns_t work_at;
};

/* ---- averages ---- */

/* Kernel: include/linux/sched/loadavg.h calc_load(). */
static uint64_t calc_load(uint64_t load, uint64_t exp, uint64_t active)
{
	uint64_t sum = load * exp + active * (FIXED_1 - exp);

	if (active >= load)
		sum += FIXED_1 - 1;
	return sum >> FSHIFT;
}

/* x to the power of n. Kernel: kernel/sched/loadavg.c fixed_power_int(). */
static uint64_t fixed_power(uint64_t x, uint64_t n)
{
	uint64_t result = FIXED_1;

	for (; n; n >>= 1) {
		if (n & 1)
			result = (result * x + FIXED_1 / 2) >> FSHIFT;
		x = (x * x + FIXED_1 / 2) >> FSHIFT;
	}
	return result;
}

/* Kernel: calc_avgs() with EXP_10s, EXP_60s and EXP_300s. A sample is a whole per cent. */
void psi_calc_avgs(uint64_t avg[3], uint64_t missed_periods, ns_t time, ns_t period)
{
	static const uint64_t exp[3] = { 1677, 1981, 2034 };
	uint64_t pct = period ? time * 100 / period * FIXED_1 : 0;

	for (unsigned i = 0; i < 3; i++) {
		if (missed_periods)
			avg[i] = calc_load(avg[i], fixed_power(exp[i], missed_periods), 0);
		avg[i] = calc_load(avg[i], exp[i], pct);
	}
}

/* Kernel: update_averages(). Returns when the next one is due. */
ns_t psi_update_averages(struct psi_avgs *a, const uint64_t *total, ns_t now)
{
	uint64_t missed = 0;
	ns_t period;

	if (now - a->next_update >= PSI_PERIOD_NS)
		missed = (now - a->next_update) / PSI_PERIOD_NS;
	period = now - (a->last_update + missed * PSI_PERIOD_NS);
	a->next_update += (1 + missed) * PSI_PERIOD_NS;
	a->last_update = now;
	for (unsigned s = 0; s < NR_PSI_STATES; s++) {
		/* What is over a whole period is left for the next one. */
		uint64_t sample = MIN(total[s] - a->total[s], period);

		a->total[s] += sample;
		psi_calc_avgs(a->avg[s], missed, sample, period);
	}
	return a->next_update;
}

/* ---- a group ---- */

static struct psi_group *psi_group(struct rs_ctx *ctx, uint16_t memcg, ns_t now)
{
	struct psi_group *g = ctx->psi[memcg];

	if (!g) {
		g = ctx->psi[memcg] = g_new0(struct psi_group, 1);
		g->cpu = g_new0(struct psi_cpu, ctx->nr_cpus);
		for (uint32_t i = 0; i < ctx->nr_cpus; i++)
			g->cpu[i].since = now;
		g->avgs.last_update = now;
		g->avgs.next_update = now + PSI_PERIOD_NS;
	}
	return g;
}

/* True: somebody was not idle since the last time. Kernel: collect_percpu_times(). */
static bool collect(const struct rs_ctx *ctx, struct psi_group *g, enum psi_reader reader, ns_t now)
{
	__uint128_t sum[NR_PSI_STATES] = { 0 };
	uint64_t nonidle_total = 0;

	for (uint32_t i = 0; i < ctx->nr_cpus; i++) {
		struct psi_cpu *c = &g->cpu[i];
		uint64_t delta[NR_PSI_STATES + 1];

		for (unsigned s = 0; s <= PSI_NONIDLE; s++) {
			uint64_t time = c->times[s];

			if (c->mask & 1u << s && now > c->since)
				time += now - c->since;
			time = MAX(time, c->prev[reader][s]);
			delta[s] = time - c->prev[reader][s];
			c->prev[reader][s] = time;
		}
		nonidle_total += delta[PSI_NONIDLE];
		for (unsigned s = 0; s < NR_PSI_STATES; s++)
			sum[s] += (__uint128_t)delta[s] * delta[PSI_NONIDLE];
	}
	for (unsigned s = 0; s < NR_PSI_STATES && nonidle_total; s++)
		g->total[reader][s] += (uint64_t)(sum[s] / nonidle_total);
	return nonidle_total != 0;
}

/* What the worker has done until now; it stops when all is idle. Kernel: psi_avgs_work(). */
static void catch_up(const struct rs_ctx *ctx, struct psi_group *g, ns_t now)
{
	while (g->work_pending && g->work_at <= now) {
		ns_t at = g->work_at;
		bool busy = collect(ctx, g, PSI_MARKS, at);

		if (at >= g->avgs.next_update)
			psi_update_averages(&g->avgs, g->total[PSI_MARKS], at);
		g->work_pending = busy;
		g->work_at = at + ((g->avgs.next_update - at) / PSI_JIFFY_NS + 1) * PSI_JIFFY_NS;
	}
}

/* Kernel: test_states(), and the rule of psi_group_change() for a CPU that reclaims. */
static uint32_t test_states(const struct psi_cpu *c)
{
	const uint32_t iowait = c->tasks[0], memstall = c->tasks[1], running = c->tasks[2];
	uint32_t mask = 0;

	if (iowait)
		mask |= 1u << PSI_IO_SOME | (running ? 0 : 1u << PSI_IO_FULL);
	if (memstall)
		mask |= 1u << PSI_MEM_SOME;
	if ((memstall && running == c->tasks[3]) || c->reclaiming)
		mask |= 1u << PSI_MEM_FULL;
	if (running > c->oncpu)
		mask |= 1u << PSI_CPU_SOME;
	if (running && !c->oncpu)
		mask |= 1u << PSI_CPU_FULL;
	if (iowait || memstall || running)
		mask |= 1u << PSI_NONIDLE;
	return mask;
}

/* Kernel: psi_group_change(), record_times(). */
static void group_change(const struct rs_ctx *ctx, struct psi_group *g, uint32_t cpu,
			 uint32_t clear, uint32_t set, ns_t now)
{
	struct psi_cpu *c = &g->cpu[cpu];

	catch_up(ctx, g, now);
	for (unsigned s = 0; s <= PSI_NONIDLE && now > c->since; s++)
		if (c->mask & 1u << s)
			c->times[s] += now - c->since;
	c->since = MAX(c->since, now);
	for (unsigned t = 0; t < NR_PSI_COUNTS; t++) {
		g_assert(!(clear & 1u << t) || c->tasks[t]);
		c->tasks[t] += !!(set & 1u << t) - !!(clear & 1u << t);
	}
	if ((clear | set) & TSK_ONCPU)
		c->oncpu = set & TSK_ONCPU;
	c->mask = test_states(c);
	if (!g->work_pending) {
		g->work_pending = true;
		g->work_at = now + PSI_PERIOD_NS;
	}
}

/* ---- tasks ---- */

static uint32_t state_flags(const struct task *t)
{
	uint32_t flags = t->in_memstall ? TSK_MEMSTALL : 0;

	switch (t->state) {
	case TASK_RUNNING:
	case TASK_SPINNING:
		flags |= TSK_RUNNING | TSK_ONCPU;
		break;
	case TASK_READY:
		flags |= TSK_RUNNING;
		break;
	case TASK_WAITING:
		/* Kernel: io_schedule(), and io_schedule_timeout() in balance_dirty_pages(). */
		return flags |
		       (t->wait_kind == WAIT_IO || t->wait_kind == WAIT_DIRTY ? TSK_IOWAIT : 0);
	default:
		return 0;
	}
	return flags | (t->in_memstall ? TSK_MEMSTALL_RUNNING : 0);
}

/* Kernel: psi_task_change(). The group and every ancestor; 0 is the machine. */
static void set_flags(struct rs_ctx *ctx, struct task *t, uint32_t flags, ns_t now)
{
	const uint32_t clear = t->psi_flags & ~flags, set = flags & ~t->psi_flags;

	t->psi_flags = flags;
	for (uint16_t i = t->psi_memcg; i != RS_MEMCG_NONE; i = ctx->m.memcg[i].parent) {
		struct psi_group *g = psi_group(ctx, i, now);

		if ((clear | set) & (TSK_ONCPU | TSK_MEMSTALL))
			g->cpu[t->psi_cpu].reclaiming =
				(flags & TSK_ONCPU) && (flags & TSK_MEMSTALL);
		group_change(ctx, g, t->psi_cpu, clear, set, now);
	}
}

void psi_task_change(struct rs_ctx *ctx, struct task *t, ns_t now)
{
	uint32_t flags = state_flags(t);

	if (t->psi_cpu != t->cpu) {
		if (t->psi_flags)
			set_flags(ctx, t, 0, now);
		t->psi_cpu = t->cpu;
	}
	if (!t->psi_flags && t->mm)
		t->psi_memcg = t->mm->pub.memcg;
	if (flags != t->psi_flags)
		set_flags(ctx, t, flags, now);
}

void psi_task_move(struct rs_ctx *ctx, struct task *t, uint16_t memcg, ns_t now)
{
	uint32_t flags = t->psi_flags;

	if (flags)
		set_flags(ctx, t, 0, now);
	t->psi_memcg = memcg;
	if (flags)
		set_flags(ctx, t, flags, now);
}

bool psi_memstall_enter(struct rs_ctx *ctx)
{
	struct task *t = ctx->cur;

	if (!t || t->in_memstall)
		return true;
	t->in_memstall = true;
	psi_task_change(ctx, t, t->now);
	return false;
}

void psi_memstall_leave(struct rs_ctx *ctx, bool was_inside)
{
	if (was_inside)
		return;
	ctx->cur->in_memstall = false;
	psi_task_change(ctx, ctx->cur, ctx->cur->now);
}

/* ---- reading ---- */

/* Kernel: psi_show(). Averages in hundredths of a per cent, as it prints them. */
void psi_read(struct rs_ctx *ctx, uint16_t memcg, enum psi_reader reader, ns_t now,
	      struct rs_psi_stat *out)
{
	struct psi_group *g = ctx->psi[memcg];
	struct psi_avgs *avgs, copy;

	memset(out, 0, RS_NR_PSI * sizeof(*out));
	if (!g)
		return; /* nobody has run in it */
	avgs = &g->avgs;
	catch_up(ctx, g, now);
	if (reader == PSI_SAMPLES) {
		copy = *avgs;
		avgs = &copy;
	}
	collect(ctx, g, reader, now);
	if (now >= avgs->next_update)
		psi_update_averages(avgs, g->total[PSI_MARKS], now);
	for (unsigned r = 0; r < RS_NR_PSI; r++) {
		/* Nobody else is there for whom the CPU of the whole machine would be needed. */
		bool undefined = r == RS_PSI_CPU && !memcg;

		out[r].some_total = g->total[reader][2 * r];
		out[r].full_total = undefined ? 0 : g->total[reader][2 * r + 1];
		for (unsigned i = 0; i < 3; i++) {
			uint64_t some = avgs->avg[2 * r][i];
			uint64_t full = undefined ? 0 : avgs->avg[2 * r + 1][i];

			out[r].some_avg[i] = (uint32_t)(some * 100 >> FSHIFT);
			out[r].full_avg[i] = (uint32_t)(full * 100 >> FSHIFT);
		}
	}
}

void psi_init(struct rs_ctx *ctx)
{
	ctx->psi = g_new0(struct psi_group *, MAX_MEMCGS);
}

void psi_free(struct rs_ctx *ctx)
{
	for (uint32_t i = 0; ctx->psi && i < ctx->m.nr_memcgs; i++) {
		if (ctx->psi[i])
			g_free(ctx->psi[i]->cpu);
		g_free(ctx->psi[i]);
	}
	g_free(ctx->psi);
}
