/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * dirty.c - writers are held back so that dirty memory stays near the middle between the freerun
 * ceiling and the limit: each pauses as long as its dirty pages take at the rate that is estimated
 * for it from the bandwidth of the disk (dirty_ratelimit), scaled by how far dirty memory is from
 * its place (pos_ratio).
 * Kernel: mm/page-writeback.c balance_dirty_pages(), wb_position_ratio(),
 * wb_update_dirty_ratelimit(), wb_update_write_bandwidth(), wb_min_pause().
 * Differs: all files lie on one disk, whose share is the whole limit; the limit follows memory at
 * once (dom->dirty_limit); a memcg's writers share the disk's estimates; pages dirtied by tasks
 * that have ended are not charged to others.
 */
#include "sim/engine/engine.h"

#define HZ 250u
#define JIFFY_NS (1000000000u / HZ)
#define MAX_PAUSE (HZ / 5)
#define BANDWIDTH_INTERVAL (HZ / 5)
#define BANDWIDTH_PERIOD 1024u /* roundup_pow_of_two(3 * HZ) */
#define HZ_POW2 256u	       /* roundup_pow_of_two(HZ) */
#define EIGHTH_POW2 32u	       /* roundup_pow_of_two(1 + HZ / 8) */
#define POLL_PAGES 32u	       /* DIRTY_POLL_THRESH, and nr_dirtied_pause at first */
#define EXCEEDED_PAGES 8u      /* between two looks while the limit is exceeded */
#define INIT_BW 25600u	       /* pages a second: 100 MiB */
#define RATELIMIT_SHIFT 10
#define RATELIMIT_ONE (1u << RATELIMIT_SHIFT)

/* Dirty pages and limits as one domain sees them: the machine, or a group. */
struct dirty_domain {
	uint64_t dirty, background, limit;
	uint64_t pos_ratio; /* RATELIMIT_ONE = 1 */
};

static void global_domain(struct rs_ctx *ctx, struct dirty_domain *d)
{
	dirty_thresholds(ctx, &d->background, &d->limit);
	d->dirty = ctx->m.nr_dirty + ctx->m.nr_writeback;
}

/*
 * A group may have dirty its share of what it holds in files and has left to its limit; sizes are
 * those of the last flush of the statistics. Kernel: mem_cgroup_wb_stats(), mdtc_calc_avail().
 */
static bool memcg_domain(struct rs_ctx *ctx, uint16_t memcg, struct dirty_domain *d)
{
	const struct lruvec *l;
	uint64_t avail = 0, headroom = UINT64_MAX;

	for (uint16_t i = memcg; i != RS_MEMCG_NONE; i = ctx->m.memcg[i].parent) {
		const struct memcg *g = &ctx->m.memcg[i];
		uint64_t ceiling = MIN(g->max, g->high);

		if (ceiling != RS_UNLIMITED)
			headroom = MIN(headroom, ceiling > g->usage ? ceiling - g->usage : 0);
	}
	if (headroom == UINT64_MAX)
		return false;
	for (uint32_t n = 0; n < ctx->m.nr_nodes; n++) {
		l = lruvec_of(&ctx->m, memcg, n);
		avail += MAX(l->lru_flushed[RS_INACTIVE_FILE] + l->lru_flushed[RS_ACTIVE_FILE], 0);
	}
	avail += headroom;
	d->limit = avail * ctx->cfg.dirty_ratio / 100;
	d->background = avail * ctx->cfg.dirty_background_ratio / 100;
	d->dirty = MAX(ctx->m.memcg[memcg].gauge_flushed[GAUGE_FILE_DIRTY] +
			       ctx->m.memcg[memcg].gauge_flushed[GAUGE_FILE_WRITEBACK],
		       0);
	return true;
}

static uint64_t freerun(const struct dirty_domain *d)
{
	return (d->background + d->limit) / 2;
}

/* How many pages until the next look. Kernel: dirty_poll_interval(). */
static uint64_t poll_interval(const struct dirty_domain *d)
{
	return d->limit > d->dirty ? UINT64_C(1) << (g_bit_storage(d->limit - d->dirty) - 1) / 2
				   : 1;
}

/* 1 at the setpoint, 0 at the limit, 2 at most. Kernel: pos_ratio_polynom(). */
uint64_t dirty_pos_polynom(uint64_t setpoint, uint64_t dirty, uint64_t limit)
{
	int64_t x = ((int64_t)setpoint - (int64_t)dirty) * RATELIMIT_ONE /
		    (int64_t)((limit - setpoint) | 1);
	int64_t ratio = ((x * x >> RATELIMIT_SHIFT) * x >> RATELIMIT_SHIFT) + RATELIMIT_ONE;

	return CLAMP(ratio, 0, 2 * RATELIMIT_ONE);
}

/* Kernel: wb_position_ratio(), for a disk that has the whole limit. */
static void position_ratio(struct rs_ctx *ctx, struct dirty_domain *d)
{
	uint64_t setpoint = (freerun(d) + d->limit) / 2;
	uint64_t span = 8 * ctx->dirty.avg_write_bandwidth;
	uint64_t intercept = setpoint + span, ratio;

	d->pos_ratio = 0;
	if (d->dirty >= d->limit)
		return;
	ratio = dirty_pos_polynom(setpoint, d->dirty, d->limit);
	if (d->dirty < intercept - span / 4)
		ratio = ratio * (intercept - d->dirty) / ((intercept - setpoint) | 1);
	else
		ratio /= 4;
	intercept = d->limit / 2;
	if (d->dirty < intercept)
		ratio = d->dirty > intercept / 8 ? ratio * intercept / d->dirty : ratio * 8;
	d->pos_ratio = ratio;
}

/* ---- estimates ---- */

void dirty_init(struct rs_ctx *ctx)
{
	ctx->dirty.write_bandwidth = ctx->dirty.avg_write_bandwidth = INIT_BW;
	ctx->dirty.ratelimit = ctx->dirty.balanced_ratelimit = INIT_BW;
}

static void update_write_bandwidth(struct rs_ctx *ctx, uint64_t elapsed, uint64_t written)
{
	uint64_t avg = ctx->dirty.avg_write_bandwidth, old = ctx->dirty.write_bandwidth;
	uint64_t bw = written * HZ;

	if (elapsed > BANDWIDTH_PERIOD) {
		bw /= elapsed;
		avg = bw;
	} else {
		bw = (bw + old * (BANDWIDTH_PERIOD - elapsed)) / BANDWIDTH_PERIOD;
		if (avg > old && old >= bw)
			avg -= (avg - old) >> 3;
		if (avg < old && old <= bw)
			avg += (old - avg) >> 3;
	}
	ctx->dirty.write_bandwidth = bw;
	ctx->dirty.avg_write_bandwidth = MAX(avg, 1);
}

/* Follows the balanced rate only if dirty memory is on the side that wants it too. */
static void update_ratelimit(struct rs_ctx *ctx, const struct dirty_domain *d, uint64_t elapsed,
			     uint64_t dirtied)
{
	uint64_t rate = ctx->dirty.ratelimit, bw = ctx->dirty.avg_write_bandwidth;
	uint64_t task_rate = (rate * d->pos_ratio >> RATELIMIT_SHIFT) + 1;
	uint64_t balanced = MIN(task_rate * bw / (dirtied * HZ / elapsed | 1), bw);
	uint64_t step = 0, shift, x;

	if (d->dirty < (freerun(d) + d->limit) / 2) {
		x = MIN(MIN(ctx->dirty.balanced_ratelimit, balanced), task_rate);
		step = rate < x ? x - rate : 0;
	} else {
		x = MAX(MAX(ctx->dirty.balanced_ratelimit, balanced), task_rate);
		step = rate > x ? rate - x : 0;
	}
	shift = rate / (2 * step + 1);
	step = shift < 64 ? ((step >> shift) + 7) / 8 : 0;
	rate = rate < balanced ? rate + step : rate - MIN(step, rate);
	ctx->dirty.ratelimit = MAX(rate, 1);
	ctx->dirty.balanced_ratelimit = balanced;
}

/* Kernel: __wb_update_bandwidth(). */
static void update_bandwidth(struct rs_ctx *ctx, const struct dirty_domain *d)
{
	uint64_t now = ctx->cur->now / JIFFY_NS, elapsed = now - ctx->dirty.stamp;
	uint64_t dirtied = ctx->m.vmstat[RS_NR_DIRTIED], written = ctx->dirty.written;

	if (elapsed <= BANDWIDTH_INTERVAL)
		return;
	update_ratelimit(ctx, d, elapsed, dirtied - ctx->dirty.dirtied_stamp);
	update_write_bandwidth(ctx, elapsed, written - ctx->dirty.written_stamp);
	ctx->dirty.dirtied_stamp = dirtied;
	ctx->dirty.written_stamp = written;
	ctx->dirty.stamp = now;
}

/* ---- pauses ---- */

static unsigned ilog2(uint64_t n)
{
	return g_bit_storage(MAX(n, 1)) - 1;
}

static uint64_t max_pause(const struct rs_ctx *ctx, const struct dirty_domain *d)
{
	uint64_t t = d->dirty / (1 + ctx->dirty.avg_write_bandwidth / EIGHTH_POW2) + 1;

	return MIN(t, MAX_PAUSE);
}

/* The least pause worth taking, and the pages to the next look. Kernel: wb_min_pause(). */
static uint64_t min_pause(const struct rs_ctx *ctx, uint64_t most, uint64_t task_rate,
			  uint64_t *ret_pages)
{
	uint64_t rate = ctx->dirty.ratelimit, t = MAX(1, HZ / 100), pages;
	unsigned hi = ilog2(ctx->dirty.avg_write_bandwidth), lo = ilog2(rate);

	if (hi > lo)
		t += (hi - lo) * (10 * HZ) / 1024;
	t = MIN(t, 1 + most / 2);
	pages = rate * t / HZ_POW2;
	if (pages < POLL_PAGES) {
		t = most;
		pages = rate * t / HZ_POW2;
		if (pages > POLL_PAGES) {
			pages = POLL_PAGES;
			t = HZ * POLL_PAGES / rate;
		}
	}
	if (HZ * pages / (task_rate + 1) > most) {
		t = most;
		pages = task_rate * t / HZ_POW2;
	}
	*ret_pages = pages;
	return pages >= POLL_PAGES ? 1 + t / 2 : t;
}

static void pause_writer(struct rs_ctx *ctx, uint64_t jiffies)
{
	ctx->dirty_sleep = ctx->cur->now;
	ctx->cur->killable = true;
	task_sleep(ctx, jiffies * JIFFY_NS, WAIT_DIRTY, "dirty pages to be written");
	ctx->cur->killable = false;
}

/*
 * One round above the freerun ceiling. True: the task may go on. Its time between two pauses
 * counts: paused_when is where its next period begins.
 */
static bool throttle(struct rs_ctx *ctx, const struct dirty_domain *d)
{
	struct task *t = ctx->cur;
	uint64_t rate = ctx->dirty.ratelimit * d->pos_ratio >> RATELIMIT_SHIFT, pages;
	uint64_t most = max_pause(ctx, d), least = min_pause(ctx, most, rate, &pages);
	uint64_t now = t->now / JIFFY_NS;
	int64_t period = most, pause = most;

	if (rate) {
		period = HZ * t->nr_dirtied / rate;
		pause = period - (t->dirty_paused_when ? (int64_t)(now - t->dirty_paused_when) : 0);
		if (pause < (int64_t)least) {
			if (pause < -(int64_t)HZ)
				t->dirty_paused_when = now;
			else if (period)
				t->dirty_paused_when += period;
			if (period || pause < -(int64_t)HZ)
				t->nr_dirtied = 0;
			else if (t->nr_dirtied_pause <= t->nr_dirtied)
				t->nr_dirtied_pause += t->nr_dirtied;
			return true;
		}
		if (pause > (int64_t)most) {
			now += MIN(pause - most, most);
			pause = most;
		}
	}
	pause_writer(ctx, pause);
	t->dirty_paused_when = now + pause;
	t->nr_dirtied = 0;
	t->nr_dirtied_pause = pages;
	return rate || t->killed || ctx->error;
}

static void run_free(struct rs_ctx *ctx, const struct dirty_domain *d)
{
	ctx->cur->dirty_paused_when = ctx->cur->now / JIFFY_NS;
	ctx->cur->nr_dirtied = 0;
	ctx->cur->nr_dirtied_pause = poll_interval(d);
}

/* Kernel: balance_dirty_pages_ratelimited(). */
static bool looks(const struct rs_ctx *ctx)
{
	const struct task *t = ctx->cur;
	uint64_t pages = t->nr_dirtied_pause ? t->nr_dirtied_pause : POLL_PAGES;

	return t->nr_dirtied >= (ctx->dirty.exceeded ? MIN(pages, EXCEEDED_PAGES) : pages);
}

void balance_dirty_pages(struct rs_ctx *ctx)
{
	struct dirty_domain global, group;
	bool in_group, done = false;

	start_flusher_timer(ctx, ctx->cur->now);
	if (!looks(ctx))
		return;
	while (!done) {
		const struct dirty_domain *d = &global;

		rs_flush_stats_ratelimited(ctx);
		global_domain(ctx, &global);
		in_group = memcg_domain(ctx, ctx->cur->mm->pub.memcg, &group);
		if (global.dirty > global.background)
			wakeup_flusher(ctx);
		if (global.dirty <= freerun(&global) &&
		    (!in_group || group.dirty <= freerun(&group))) {
			run_free(ctx, &global);
			if (in_group)
				ctx->cur->nr_dirtied_pause =
					MIN(ctx->cur->nr_dirtied_pause, poll_interval(&group));
			ctx->dirty.exceeded = false;
			return;
		}
		wakeup_flusher(ctx);
		position_ratio(ctx, &global);
		if (in_group)
			position_ratio(ctx, &group);
		if (in_group && group.pos_ratio < global.pos_ratio)
			d = &group;
		ctx->dirty.exceeded =
			global.dirty > global.limit || (in_group && group.dirty > group.limit);
		update_bandwidth(ctx, &global);
		done = throttle(ctx, d);
	}
}
