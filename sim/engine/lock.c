/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lock.c - mmap_lock as a fair reader/writer semaphore, and the LRU lock as a busy-until time.
 * Kernel: kernel/locking/rwsem.c. Differs: no optimistic spinning and no writer stealing.
 */
#include "sim/engine/engine.h"

static struct rwsem *mmap_lock(struct mm *mm)
{
	if (!mm->lock) {
		struct rwsem *s = g_new0(struct rwsem, 1);

		g_queue_init(&s->waiters);
		mm->lock = s;
	}
	return mm->lock;
}

static void queue_up(struct rs_ctx *ctx, struct rwsem *s, bool write)
{
	struct rwsem_waiter w = { ctx->cur, write };
	ns_t from = ctx->cur->now;

	ctx->lock_mmap.contended++;
	g_queue_push_tail(&s->waiters, &w);
	task_wait(ctx, WAIT_MMAP_LOCK, write ? "mmap_lock (write)" : "mmap_lock (read)");
	charge(ctx, RS_COST_RWSEM_WAKE, 1);
	ctx->lock_mmap.wait_ns += ctx->cur->now - from;
}

/* Hand over: one writer, or all readers up to the next writer. */
static void grant(struct rs_ctx *ctx, struct rwsem *s)
{
	struct rwsem_waiter *w;

	while ((w = g_queue_peek_head(&s->waiters))) {
		if (s->writer || (w->write && s->readers))
			return;
		g_queue_pop_head(&s->waiters);
		if (w->write)
			s->writer = w->task;
		else
			s->readers++;
		task_wake(ctx, w->task, ctx->cur->now);
	}
}

void mmap_read_lock(struct rs_ctx *ctx, struct mm *mm)
{
	struct rwsem *s = mmap_lock(mm);

	ctx->lock_mmap.acquired++;
	if (s->writer || !g_queue_is_empty(&s->waiters))
		queue_up(ctx, s, false);
	else
		s->readers++;
}

bool mmap_read_trylock(struct rs_ctx *ctx, struct mm *mm)
{
	struct rwsem *s = mmap_lock(mm);

	if (s->writer || !g_queue_is_empty(&s->waiters))
		return false;
	ctx->lock_mmap.acquired++;
	s->readers++;
	return true;
}

void mmap_read_unlock(struct rs_ctx *ctx, struct mm *mm)
{
	struct rwsem *s = mmap_lock(mm);

	g_assert(s->readers > 0);
	if (!--s->readers)
		grant(ctx, s);
}

void mmap_write_lock(struct rs_ctx *ctx, struct mm *mm)
{
	struct rwsem *s = mmap_lock(mm);

	ctx->lock_mmap.acquired++;
	if (s->writer || s->readers || !g_queue_is_empty(&s->waiters))
		queue_up(ctx, s, true);
	else
		s->writer = ctx->cur;
}

void mmap_write_unlock(struct rs_ctx *ctx, struct mm *mm)
{
	struct rwsem *s = mmap_lock(mm);

	g_assert(s->writer == ctx->cur);
	s->writer = NULL;
	grant(ctx, s);
}

void mmap_write_downgrade(struct rs_ctx *ctx, struct mm *mm)
{
	struct rwsem *s = mmap_lock(mm);

	g_assert(s->writer == ctx->cur);
	s->writer = NULL;
	s->readers = 1;
	grant(ctx, s);
}

void rs_lru_lock(struct rs_ctx *ctx, struct rs_lruvec *l)
{
	struct lru_lock *lock = &ctx->lru_locks[l->id];
	ns_t now = ctx->cur ? ctx->cur->now : ctx->now;

	ctx->lock_lru.acquired++;
	if (lock->free_at > now && ctx->cur) {
		ctx->lock_lru.contended++;
		ctx->lock_lru.wait_ns += lock->free_at - now;
		ctx->cur->now = lock->free_at;
		charge(ctx, RS_COST_LOCK_TRANSFER, 1);
	}
}

void rs_lru_unlock(struct rs_ctx *ctx, struct rs_lruvec *l, uint64_t nr_pages)
{
	charge(ctx, RS_COST_LRU_LOCK_FIXED, 1);
	charge(ctx, RS_COST_LRU_LOCK_PER_PAGE, nr_pages);
	if (ctx->cur)
		ctx->lru_locks[l->id].free_at = ctx->cur->now;
}
