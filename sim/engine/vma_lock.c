/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * vma_lock.c - per-VMA locks: a fault that needs nothing but its VMA does not take mmap_lock.
 * Kernel: include/linux/mmap_lock.h, mm/memory.c lock_vma_under_rcu() (6.4 and newer).
 *
 * A VMA has a count of the faults inside it and a mark. The writer, who holds mmap_lock for
 * writing, waits until the count is 0 and sets the mark to the sequence number of the address
 * space. The end of the write section, or its downgrade, moves the number on: all marks are gone.
 * A reader that finds the VMA marked, or a writer waiting for its readers, goes to mmap_lock.
 *
 * Differs: looking a VMA up and locking it is one step, so it is never detached in between and
 * vma_lock_miss stays 0.
 */
#include "sim/engine/mmap_lock.h"

/* What becomes of a fault: served under the VMA lock, not even begun, or begun in vain. */
enum rule { SERVE, ABORT, RETRY, TRYLOCK };

/* kernel-patches.md section 3.2. TRYLOCK: mmap_lock is tried inside, the VMA lock is kept. */
static const uint8_t rules[PVL_NR][NR_VMA_FAULTS] = {
	/*             anon   first    file   swap */
	[PVL_OFF] = { ABORT, ABORT, ABORT, ABORT },
	[PVL_6_4] = { SERVE, ABORT, ABORT, RETRY },
	[PVL_6_6] = { SERVE, ABORT, RETRY, SERVE },
	[PVL_6_7] = { SERVE, ABORT, SERVE, SERVE },
	[PVL_6_10] = { SERVE, TRYLOCK, SERVE, SERVE },
	[PVL_6_15] = { SERVE, TRYLOCK, SERVE, SERVE },
};

static enum rule rule(const struct rs_ctx *ctx, enum vma_lock_kind kind)
{
	return rules[ctx->cfg.per_vma_lock][kind];
}

/* Whether the kind of the VMA allows to begin at all. */
static bool eligible(const struct rs_ctx *ctx, const struct rs_vma *vma)
{
	if (!(vma->flags & VM_ANON))
		return rule(ctx, VMA_FAULT_FILE) != ABORT;
	return vma->has_object || rule(ctx, VMA_FAULT_ANON_FIRST) != ABORT;
}

/* Kernel: vma_start_read(). */
static bool start_read(struct mm *mm, struct rs_vma *vma)
{
	const struct mmap_lock *s = mmap_lock(mm);

	if (vma->vm_lock_seq == s->seq || s->drain_vma == vma)
		return false;
	vma->vm_lock_readers++;
	return true;
}

struct rs_vma *vma_lock_fault(struct rs_ctx *ctx, struct mm *mm, uint64_t vpn)
{
	struct rs_vma *vma = mm_find_vma(mm, vpn);

	if (vma && eligible(ctx, vma) && start_read(mm, vma)) {
		ctx->lock_vma[LOCK_FAULT].acquired++;
		ctx->cur->vma_since = ctx->cur->now;
		return vma;
	}
	ctx->m.vmstat[RS_VMA_LOCK_ABORT]++;
	charge(ctx, RS_COST_VMA_LOCK_ABORT, 1);
	return NULL;
}

bool vma_lock_suffices(struct rs_ctx *ctx, enum vma_lock_kind kind)
{
	struct task *t = ctx->cur;

	if (!t->vma_lock)
		return true;
	switch (rule(ctx, kind)) {
	case SERVE:
		return true;
	case TRYLOCK:
		/* Only to make the anon_vma: it is given back before the page is allocated. */
		if (!mmap_read_trylock(ctx, t->mm, LOCK_FAULT))
			return false;
		mmap_lock(t->mm)->readers--;
		return true;
	default:
		return false;
	}
}

void vma_end_read(struct rs_ctx *ctx, struct mm *mm, struct rs_vma *vma)
{
	struct mmap_lock *s = mmap_lock(mm);

	task_sync(ctx);
	g_assert(vma->vm_lock_readers);
	ctx->lock_vma[LOCK_FAULT].hold_ns += ctx->cur->now - ctx->cur->vma_since;
	if (!--vma->vm_lock_readers && s->drain_vma == vma)
		task_wake(ctx, s->drain, ctx->cur->now);
}

void vma_start_write(struct rs_ctx *ctx, struct mm *mm, struct rs_vma *vma, enum lock_op op)
{
	struct mmap_lock *s = mmap_lock(mm);
	ns_t from = ctx->cur->now;
	bool spun = false;

	if (ctx->cfg.per_vma_lock == PVL_OFF || vma->vm_lock_seq == s->seq)
		return;
	ctx->lock_vma[op].acquired++;
	if (vma->vm_lock_readers) {
		ctx->lock_vma[op].contended++;
		s->drain = ctx->cur;
		s->drain_vma = vma;
		while (vma->vm_lock_readers)
			spun = task_spin(ctx, WAIT_VMA_LOCK, "faults inside a VMA", NULL);
		s->drain = NULL;
		s->drain_vma = NULL;
		charge(ctx, spun ? RS_COST_LOCK_TRANSFER : RS_COST_RWSEM_WAKE, 1);
		ctx->lock_vma[op].wait_ns += ctx->cur->now - from;
		note_latency(ctx, RS_LATENCY_VMA_LOCK, from);
	}
	vma->vm_lock_seq = s->seq;
}

void vma_start_write_range(struct rs_ctx *ctx, struct mm *mm, uint64_t start, uint64_t end,
			   enum lock_op op)
{
	for (uint32_t i = mm_vma_index(mm, start);
	     i < mm->pub.nr_vmas && mm->pub.vmas[i]->start < end; i++)
		vma_start_write(ctx, mm, mm->pub.vmas[i], op);
}
