/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * app.c - a thread of the trace: the hit loop, and everything else its records ask for.
 *
 * A hit touches the PTE word and the PMD byte and nothing more; its time is added up and given to
 * the clock when the run of hits ends.
 */
#include "sim/engine/timeline.h"

/* Hits at their local price. */
static void advance(struct rs_ctx *ctx, struct task *t, uint64_t hits)
{
	t->now += hits * ctx->hit_ns;
	t->accesses += hits;
	ctx->nr_accesses += hits;
	ctx->activity_calls[RS_COST_HIT] += hits;
	ctx->activity_ns[RS_COST_HIT] += hits * ctx->cfg.cost[RS_COST_HIT];
}

static struct region *no_region(struct rs_ctx *ctx)
{
	sched_fail(ctx, RS_ERROR_INPUT, "%s: access to a region that is not mapped there",
		   trace_place(ctx));
	return NULL;
}

/* Where the region lies for this thread, or NULL. */
static struct region *find_region(struct mm *mm, const struct rs_record *r)
{
	struct region *region = r->object < mm->nr_regions ? &mm->regions[r->object] : NULL;

	return region && region->mapped && (uint64_t)r->page + r->count <= region->pages ? region
											 : NULL;
}

/* The region of the records at hand, ready for the loop: word = table[(base + page) >> 9] ... */
struct view {
	uint32_t object;
	uint64_t base, pages;
	const uint32_t *table;
};

static bool view_set(struct view *v, struct mm *mm, const struct rs_record *r)
{
	const struct region *region = find_region(mm, r);

	if (!region)
		return false;
	*v = (struct view){ r->object, region->start & 511, region->pages, region->table };
	return true;
}

static inline size_t view_word(const struct view *v, uint64_t page)
{
	return (size_t)v->table[(v->base + page) >> 9] << 9 | ((v->base + page) & 511);
}

/* Hits the clock allows before something else is due. */
static uint64_t hits_to_limit(const struct rs_ctx *ctx, const struct task *t)
{
	if (t->now >= t->limit)
		return 0;
	return ctx->hit_ns ? (t->limit - t->now + ctx->hit_ns - 1) / ctx->hit_ns : UINT64_MAX;
}

/* What the hits of a run leave to do, and how many went to which node. */
struct hits {
	uint64_t left; /* the clock allows; with several nodes nanoseconds */
	uint64_t to[RS_MAX_NODES];
};

/* With several nodes a hit's price depends on where the page is. */
static void hit_on_node(struct rs_ctx *ctx, const struct task *t, struct hits *h, uint32_t pte)
{
	uint8_t nid = pfn_to_nid(&ctx->m, rs_pte_pfn(pte));
	ns_t ns = ctx->hit_ns + ctx->remote_ns[t->nid][nid];

	h->to[nid]++;
	h->left -= MIN(h->left, ns);
}

static void advance_nodes(struct rs_ctx *ctx, struct task *t, const struct hits *h)
{
	for (uint32_t nid = 0; nid < ctx->m.nr_nodes; nid++) {
		ns_t ns = h->to[nid] * ctx->remote_ns[t->nid][nid];

		advance(ctx, t, h->to[nid]);
		if (!ns)
			continue;
		t->now += ns;
		ctx->activity_calls[RS_COST_REMOTE_ACCESS] += h->to[nid];
		ctx->activity_ns[RS_COST_REMOTE_ACCESS] += ns;
	}
}

/*
 * Run loads and stores until another kind of record, a miss or the limit. Returns true on a miss;
 * the record at pos, page sub of it, is then to be faulted in. The words of records to come are
 * prefetched as long as they are of the same region. Compiled twice, so that a machine of one node
 * does not pay for the question where a page is.
 */
#define PREFETCH 24
static inline __attribute__((always_inline)) bool
hit_loop(struct rs_ctx *ctx, struct task *t, struct segment *s, struct hits *hits, const bool numa)
{
	uint32_t *const ptes = ctx->m.pte;
	uint8_t *const pmds = ctx->m.pmd;
	uint64_t left = hits->left;
	const struct rs_record *const first = s->records + s->pos, *const end = s->records + s->n;
	const struct rs_record *r = first, *const ahead = s->n - s->pos > PREFETCH ? end - PREFETCH
										   : first;
	struct view view = { .object = UINT32_MAX };
	uint32_t sub = s->sub;
	bool miss = false;

	for (; r < end && (uint8_t)(r->op - RS_OP_LOAD) <= RS_OP_STORE - RS_OP_LOAD; r++, sub = 0) {
		const uint32_t store = r->op - RS_OP_LOAD;
		const uint32_t need = RS_PTE_PRESENT | store * RS_PTE_WRITE;
		const uint32_t set = RS_PTE_YOUNG | store * RS_PTE_DIRTY;

		if (r < ahead && r[PREFETCH].object == view.object && r[PREFETCH].page < view.pages)
			__builtin_prefetch(&ptes[view_word(&view, r[PREFETCH].page)]);
		if ((r->object != view.object || (uint64_t)r->page + r->count > view.pages) &&
		    !view_set(&view, t->mm, r)) {
			no_region(ctx);
			break;
		}
		for (; sub < r->count && left; sub++) {
			const size_t i = view_word(&view, (uint64_t)r->page + sub);

			if ((ptes[i] & (need | RS_PTE_PROTNONE)) != need) {
				miss = true;
				break;
			}
			ptes[i] |= set;
			pmds[i >> 9] |= RS_PMD_YOUNG;
			if (numa) {
				hits->left = left;
				hit_on_node(ctx, t, hits, ptes[i]);
				left = hits->left;
			} else {
				left--;
			}
		}
		if (sub < r->count)
			break;
	}
	hits->left = left;
	ctx->nr_ops += r - first;
	s->pos += r - first;
	s->sub = sub;
	return miss;
}

static bool run_hits(struct rs_ctx *ctx, struct task *t, struct segment *s)
{
	struct hits hits = { .left = hits_to_limit(ctx, t) };
	uint64_t budget = hits.left;
	bool miss;

	if (ctx->m.nr_nodes == 1) {
		miss = hit_loop(ctx, t, s, &hits, false);
		advance(ctx, t, budget - hits.left);
		return miss;
	}
	hits.left = t->now < t->limit ? t->limit - t->now : 0;
	miss = hit_loop(ctx, t, s, &hits, true);
	advance_nodes(ctx, t, &hits);
	return miss;
}

/*
 * Below a memory.high that is smaller than what an access needs, reclaim on the way back to user
 * mode may take the page before the access is repeated, again and again. Differs: after so many
 * faults the access is taken as done, so that every run ends.
 */
#define MAX_SAME_FAULTS 16u
static bool same_fault_again(struct task *t, uint64_t record, uint32_t sub)
{
	if (t->fault_record != record || t->fault_sub != sub)
		t->nr_same_faults = 0;
	t->fault_record = record;
	t->fault_sub = sub;
	return ++t->nr_same_faults >= MAX_SAME_FAULTS;
}

static void fault_record(struct rs_ctx *ctx, struct task *t, struct segment *s)
{
	/* The records may move while the fault sleeps. */
	const struct rs_record r = s->records[s->pos];
	bool done = same_fault_again(t, s->line + s->pos, s->sub);

	if (!find_region(t->mm, &r)) {
		no_region(ctx);
		return;
	}
	/* A huge mapping serves the access itself; otherwise the hit loop tries again. */
	if (!handle_fault(ctx, r.object, (uint64_t)r.page + s->sub, r.op == RS_OP_STORE) && !done)
		return;
	advance(ctx, t, 1);
	if (++s->sub == r.count) {
		s->sub = 0;
		s->pos++;
		ctx->nr_ops++;
	}
}

static void sleep_until(struct rs_ctx *ctx, ns_t when)
{
	if (when <= ctx->cur->now)
		return;
	ctx->cur->killable = true;
	task_sleep(ctx, when - ctx->cur->now, WAIT_SLEEP, "its time");
	ctx->cur->killable = false;
}

static void wait_thread(struct rs_ctx *ctx, struct task *t, uint32_t thread)
{
	struct task *other = thread < ctx->nr_threads ? ctx->thread[thread].task : NULL;

	t->killable = true;
	while (other && other != t && other->state != TASK_DEAD && !t->killed) {
		t->wait_thread = other;
		task_wait(ctx, WAIT_THREAD, "another thread");
		t->wait_thread = NULL;
	}
	t->killable = false;
}

static void io_record(struct rs_ctx *ctx, struct task *t, const struct rs_record *r)
{
	ns_t from = t->now;

	t->accesses += r->count;
	ctx->nr_accesses += r->count;
	if (r->op == RS_OP_READ) {
		file_read(ctx, r->object, r->arg, r->page, r->count);
		note_latency(ctx, RS_LATENCY_READ, from);
	} else {
		file_write(ctx, r->object, r->arg, r->page, r->count);
	}
}

static void compute(struct rs_ctx *ctx, struct task *t, ns_t ns)
{
	while (ns && !ctx->error) {
		ns_t step = MIN(ns, t->now < t->limit ? t->limit - t->now : 1);

		t->busy_until = t->now + ns;
		t->now += step;
		ns -= step;
		task_checkpoint(ctx);
	}
}

/* r and map are copies: where they came from may go while the call sleeps. */
static void other_record(struct rs_ctx *ctx, struct task *t, const struct rs_record *r,
			 const struct rs_map *map)
{
	switch (r->op) {
	case RS_OP_READ:
	case RS_OP_WRITE:
		io_record(ctx, t, r);
		break;
	case RS_OP_MMAP:
		op_mmap(ctx, t, r->object, map, r->arg);
		break;
	case RS_OP_MUNMAP:
		op_munmap(ctx, t, r->object, r->page, r->count);
		break;
	case RS_OP_MPROTECT:
		op_mprotect(ctx, t, r);
		break;
	case RS_OP_MADVISE:
		op_madvise(ctx, t, r);
		break;
	case RS_OP_MLOCK:
		op_mlock(ctx, t, r);
		break;
	case RS_OP_MBIND:
		op_mbind(ctx, t, r);
		break;
	case RS_OP_FADVISE:
		op_fadvise(ctx, r);
		break;
	case RS_OP_OPEN:
		file_reopen(&ctx->m.file[r->object], r->arg);
		break;
	case RS_OP_FSYNC:
		file_fsync(ctx, r->object);
		break;
	case RS_OP_TRUNCATE:
		file_truncate(ctx, r->object, r->page);
		break;
	case RS_OP_MARK:
		take_mark(ctx, r);
		break;
	case RS_OP_FORK:
		op_fork(ctx, t, r->object);
		break;
	case RS_OP_EXEC:
		op_exec(ctx, t);
		break;
	case RS_OP_EXIT:
		op_exit(ctx, t);
		break;
	case RS_OP_MEMCG:
		op_memcg(ctx, t, rs_trace_name(ctx->trace, RS_NAME_MEMCG, r->object));
		break;
	case RS_OP_CPU:
		compute(ctx, t, r->value);
		break;
	case RS_OP_SLEEP:
		sleep_until(ctx, t->now + r->value);
		break;
	case RS_OP_TIME:
		sleep_until(ctx, r->value);
		break;
	case RS_OP_WAIT:
		wait_thread(ctx, t, r->object);
		break;
	default: /* files are defined when they are fed */
		break;
	}
}

/* The next segment with something to do; waits for input. The trace ends with threads waiting so.
 */
static struct segment *next_segment(struct rs_ctx *ctx, struct task *t)
{
	for (;;) {
		struct segment *s = g_queue_peek_head(&t->segments);

		if (s && s->pos < s->n)
			return s;
		if (s) {
			segment_free(g_queue_pop_head(&t->segments));
			continue;
		}
		task_starve(ctx);
		if (t->killed)
			op_exit(ctx, t);
	}
}

void app_main(struct task *t)
{
	struct rs_ctx *ctx = t->ctx;

	for (;;) {
		struct segment *s = next_segment(ctx, t);
		uint8_t op = s->records[s->pos].op;

		if (op == RS_OP_LOAD || op == RS_OP_STORE) {
			if (run_hits(ctx, t, s))
				fault_record(ctx, t, s);
		} else {
			if (op != RS_OP_FILE)
				ctx->nr_ops++;
			struct rs_record r = s->records[s->pos];
			struct rs_map map = { 0 };

			if (op == RS_OP_MMAP)
				map = s->maps[r.value];
			if (TIMELINE(ctx) && timeline_op(op))
				timeline_begin(ctx, "call", timeline_op(op));
			other_record(ctx, t, &r, &map);
			if (TIMELINE(ctx) && timeline_op(op))
				timeline_end(ctx, NULL, 0);
			s->pos++;
			return_to_user(ctx);
		}
		if (t->numa.work)
			task_numa_work(ctx);
		task_checkpoint(ctx);
	}
}

const char *trace_place(struct rs_ctx *ctx)
{
	struct segment *s = ctx->cur ? g_queue_peek_head(&ctx->cur->segments) : NULL;

	g_free(ctx->place);
	ctx->place = s ? g_strdup_printf("record %" PRIu64, s->line + s->pos) : g_strdup("trace");
	return ctx->place;
}
