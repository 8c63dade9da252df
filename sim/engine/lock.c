/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lock.c - mmap_lock as a fair reader/writer semaphore, and the LRU lock as a busy-until time.
 * Kernel: kernel/locking/rwsem.c. Differs: who spins keeps its place in the queue and passes only
 * sleepers that are still on their way.
 *
 * Taking and giving back mmap_lock happens in the order of time (task_sync()), so that whoever
 * comes while it is held finds it held. What a policy's walk holds is given back by an event: the
 * walk itself does not stop in the middle.
 */
#include "sim/engine/mmap_lock.h"
#include "sim/engine/timeline.h"

#define HANDOFF_NS 4000000u /* RWSEM_WAIT_TIMEOUT */

struct rwsem_waiter {
	struct task *task;
	ns_t since;
	bool write;
	bool woken; /* a writer that slept: on its way, the lock is not its own yet */
	bool granted;
};

const char *lock_op_name(enum lock_op op)
{
	static const char *const names[NR_LOCK_OPS] = { "fault",   "mmap",  "munmap", "mprotect",
							"madvise", "mlock", "mbind",  "fork",
							"walk",	   "exit" };

	return names[op];
}

struct mmap_lock *mmap_lock(struct mm *mm)
{
	if (!mm->lock) {
		struct mmap_lock *s = g_new0(struct mmap_lock, 1);

		g_queue_init(&s->waiters);
		s->seq = 1; /* no VMA is marked */
		mm->lock = s;
	}
	return mm->lock;
}

void mmap_lock_free(struct mm *mm)
{
	g_free(mm->lock);
	mm->lock = NULL;
}

/* A writer that slept must get here first, unless it has waited for too long. */
static bool may_pass(const struct mmap_lock *s, ns_t now)
{
	const struct rwsem_waiter *head = g_queue_peek_head((GQueue *)&s->waiters);

	return !head || (head->woken && now - head->since < HANDOFF_NS);
}

static bool is_free(const struct mmap_lock *s)
{
	return !s->writer && !s->readers;
}

/* What the waiter was woken for: to take the lock if it is still free. Kernel:
 * rwsem_try_write_lock(). */
static bool take_or_wait(struct rs_ctx *ctx, struct mmap_lock *s, struct rwsem_waiter *w)
{
	task_sync(ctx);
	if (w->granted)
		return true;
	w->woken = false;
	if (!is_free(s) || g_queue_peek_head(&s->waiters) != w)
		return false;
	g_queue_pop_head(&s->waiters);
	s->writer = ctx->cur;
	return true;
}

static void queue_up(struct rs_ctx *ctx, struct mmap_lock *s, bool write, struct lock_stat *stat)
{
	struct rwsem_waiter w = { .task = ctx->cur, .write = write, .since = ctx->cur->now };

	stat->contended++;
	g_queue_push_tail(&s->waiters, &w);
	if (!write) {
		task_wait(ctx, WAIT_MMAP_LOCK, "mmap_lock (read)");
		charge(ctx, RS_COST_RWSEM_WAKE, 1);
	}
	while (write) {
		bool spun = task_spin(ctx, WAIT_MMAP_LOCK, "mmap_lock (write)", &s->writer);

		charge(ctx, spun ? RS_COST_LOCK_TRANSFER : RS_COST_RWSEM_WAKE, 1);
		if (w.granted || take_or_wait(ctx, s, &w))
			break;
	}
	stat->wait_ns += ctx->cur->now - w.since;
	note_latency(ctx, RS_LATENCY_MMAP_LOCK, w.since);
}

static void grant_writer(struct rs_ctx *ctx, struct mmap_lock *s, struct rwsem_waiter *w)
{
	g_queue_remove(&s->waiters, w);
	s->writer = w->task;
	w->granted = true;
	task_wake(ctx, w->task, rs_now(ctx));
}

/*
 * The lock is free for a writer. One that slept is woken, and takes the lock when it gets there; in
 * the meantime a spinning one may have it. Kernel: rwsem_mark_wake(),
 * rwsem_try_write_lock_unqueued().
 */
static void wake_writer(struct rs_ctx *ctx, struct mmap_lock *s, struct rwsem_waiter *head)
{
	if (head->task->state == TASK_SPINNING || rs_now(ctx) - head->since >= HANDOFF_NS) {
		grant_writer(ctx, s, head);
		return;
	}
	if (!head->woken) {
		head->woken = true;
		task_wake(ctx, head->task, rs_now(ctx));
	}
	for (GList *l = s->waiters.head; l; l = l->next) {
		struct rwsem_waiter *w = l->data;

		if (w->write && w->task->state == TASK_SPINNING) {
			grant_writer(ctx, s, w);
			return;
		}
	}
}

/* Hand over: one writer, or all readers up to the next writer. */
static void grant(struct rs_ctx *ctx, struct mmap_lock *s)
{
	struct rwsem_waiter *w;

	while ((w = g_queue_peek_head(&s->waiters)) && !s->writer) {
		if (w->write) {
			if (!s->readers)
				wake_writer(ctx, s, w);
			return;
		}
		g_queue_pop_head(&s->waiters);
		s->readers++;
		task_wake(ctx, w->task, rs_now(ctx));
	}
}

void mmap_read_lock(struct rs_ctx *ctx, struct mm *mm, enum lock_op op)
{
	struct mmap_lock *s = mmap_lock(mm);

	task_sync(ctx);
	ctx->lock_mmap[op].acquired++;
	if (s->writer ||
	    !(g_queue_is_empty(&s->waiters) || (is_free(s) && may_pass(s, ctx->cur->now))))
		queue_up(ctx, s, false, &ctx->lock_mmap[op]);
	else
		s->readers++;
	ctx->cur->mmap_since = ctx->cur->now;
}

bool mmap_read_trylock(struct rs_ctx *ctx, struct mm *mm, enum lock_op op)
{
	struct mmap_lock *s = mmap_lock(mm);

	if (s->writer || !g_queue_is_empty(&s->waiters)) {
		ctx->lock_mmap[op].contended++;
		return false;
	}
	ctx->lock_mmap[op].acquired++;
	s->readers++;
	return true;
}

static void read_release(struct rs_ctx *ctx, void *arg, uint64_t unused)
{
	struct mmap_lock *s = arg;

	g_assert(s->readers > 0);
	if (!--s->readers)
		grant(ctx, s);
}

void mmap_read_unlock(struct rs_ctx *ctx, struct mm *mm, enum lock_op op)
{
	task_sync(ctx);
	ctx->lock_mmap[op].hold_ns += ctx->cur->now - ctx->cur->mmap_since;
	read_release(ctx, mmap_lock(mm), 0);
}

bool rs_mmap_read_trylock(struct rs_ctx *ctx, struct rs_mm *mm)
{
	if (!mmap_read_trylock(ctx, (struct mm *)mm, LOCK_WALK))
		return false;
	if (ctx->cur)
		ctx->cur->walk_since = ctx->cur->now;
	span_begin(ctx, "aging", "page-table walk");
	return true;
}

void rs_mmap_read_unlock(struct rs_ctx *ctx, struct rs_mm *mm)
{
	struct mmap_lock *s = mmap_lock((struct mm *)mm);

	span_end(ctx, NULL, 0);
	if (ctx->cur)
		ctx->lock_mmap[LOCK_WALK].hold_ns += ctx->cur->now - ctx->cur->walk_since;
	if (ctx->cur && ctx->nr_cpus > 1)
		event_add(ctx, ctx->cur->now, read_release, s, 0);
	else
		read_release(ctx, s, 0);
}

void mmap_write_lock(struct rs_ctx *ctx, struct mm *mm, enum lock_op op)
{
	struct mmap_lock *s = mmap_lock(mm);

	task_sync(ctx);
	ctx->lock_mmap[op].acquired++;
	if (!is_free(s) || !may_pass(s, ctx->cur->now))
		queue_up(ctx, s, true, &ctx->lock_mmap[op]);
	else
		s->writer = ctx->cur;
	ctx->cur->mmap_since = ctx->cur->now;
}

/* The end of a write section takes the marks off all VMAs. Kernel: vma_end_write_all(). */
static struct mmap_lock *end_write(struct rs_ctx *ctx, struct mm *mm, enum lock_op op)
{
	struct mmap_lock *s = mmap_lock(mm);

	task_sync(ctx);
	g_assert(s->writer == ctx->cur);
	ctx->lock_mmap[op].hold_ns += ctx->cur->now - ctx->cur->mmap_since;
	ctx->cur->mmap_since = ctx->cur->now;
	s->writer = NULL;
	s->seq++;
	return s;
}

void mmap_write_unlock(struct rs_ctx *ctx, struct mm *mm, enum lock_op op)
{
	grant(ctx, end_write(ctx, mm, op));
}

void mmap_write_downgrade(struct rs_ctx *ctx, struct mm *mm, enum lock_op op)
{
	struct mmap_lock *s = end_write(ctx, mm, op);

	s->readers = 1;
	grant(ctx, s);
}

/* ---- LRU lock ---- */

void rs_lru_lock(struct rs_ctx *ctx, struct rs_lruvec *l)
{
	struct lru_lock *lock = &ctx->lru_locks[l->id];
	struct task *t = ctx->cur;

	ctx->lock_lru.acquired++;
	if (!t)
		return;
	if (t->now >= lock->from && t->now < lock->free_at) {
		ctx->lock_lru.contended++;
		ctx->lock_lru.wait_ns += lock->free_at - t->now;
		t->spin_ns += lock->free_at - t->now;
		rs_hist_add(&ctx->result->latency[RS_LATENCY_LRU_LOCK], lock->free_at - t->now);
		if (TIMELINE(ctx))
			timeline_spin(ctx, "lru_lock", t->now, lock->free_at);
		t->now = lock->free_at;
		charge(ctx, RS_COST_LOCK_TRANSFER, 1);
	}
	t->lru_since = t->now;
}

void rs_lru_unlock(struct rs_ctx *ctx, struct rs_lruvec *l, uint64_t nr_pages)
{
	struct lru_lock *lock = &ctx->lru_locks[l->id];
	struct task *t = ctx->cur;

	charge(ctx, RS_COST_LRU_LOCK_FIXED, 1);
	charge(ctx, RS_COST_LRU_LOCK_PER_PAGE, nr_pages);
	if (!t)
		return;
	ctx->lock_lru.hold_ns += t->now - t->lru_since;
	if (t->now > lock->free_at) {
		lock->from = t->lru_since;
		lock->free_at = t->now;
	}
}
