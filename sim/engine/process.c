/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * process.c - threads and processes of the trace: start, fork, exec, exit, moves between groups.
 */
#include "sim/engine/psi.h"

struct mm *mm_create(struct rs_ctx *ctx, uint16_t memcg)
{
	struct mm *mm = mm_new(&ctx->m, memcg);

	if (ctx->ops->mm_size)
		mm->pub.priv = g_malloc0(ctx->ops->mm_size);
	if (ctx->ops->mm_add)
		ctx->ops->mm_add(ctx, &mm->pub);
	return mm;
}

/* Everything it maps goes. Kernel: exit_mmap(). */
void mm_destroy(struct rs_ctx *ctx, struct mm *mm)
{
	mmap_write_lock(ctx, mm, LOCK_EXIT); /* a walk may still be inside */
	mm->pub.exiting = true;
	if (ctx->ops->mm_del)
		ctx->ops->mm_del(ctx, &mm->pub);
	rs_lru_add_drain(ctx);
	zap_range(ctx, mm, 0, UINT64_MAX);
	while (mm->pub.nr_vmas) {
		struct rs_vma *vma = mm->pub.vmas[mm->pub.nr_vmas - 1];
		uint64_t start = vma->start, end = vma->end;

		mm_remove_vmas(&ctx->m, mm, start, end);
		mm_free_tables(&ctx->m, mm, start, end);
	}
	mmap_write_unlock(ctx, mm, LOCK_EXIT);
	mmap_lock_free(mm);
	mm_free(&ctx->m, mm);
}

/* ---- fork ---- */

/* One PTE to the child. Kernel: mm/memory.c copy_present_pte(), copy_nonpresent_pte(). */
static void copy_pte(struct rs_ctx *ctx, struct mm *to, struct rs_vma *vma, uint64_t vpn,
		     uint32_t *pte)
{
	uint32_t word = *pte, table;

	if (pte_is_swap(word)) {
		ctx->m.swap.slot[pte_slot(word)].count++;
		*pte = word & ~PTE_SWP_EXCLUSIVE;
		table = mm_table_alloc(&ctx->m, to, vpn);
		pte_set(&ctx->m, table, table_ptes(&ctx->m, table) + (vpn & 511), *pte);
		to->nr_swap_ptes++;
		return;
	}
	if (!(vma->flags & VM_SHARED)) {
		*pte = word & ~RS_PTE_WRITE;
		if (rs_pte_pfn(word))
			ctx->m.folios[rs_pfn_head(ctx, rs_pte_pfn(word))].flags &=
				~(uint32_t)PG_anon_exclusive;
	}
	map_page(ctx, to, vma, vpn, rs_pte_pfn(word), (*pte & ~RS_PTE_YOUNG & 31u) | RS_PTE_YOUNG);
}

/* File pages are not copied: the child faults them in. Kernel: vma_needs_copy(). */
static void copy_vma_pages(struct rs_ctx *ctx, struct mm *from, struct mm *to,
			   const struct rs_vma *vma, struct rs_vma *new)
{
	if (!vma->has_object || (!(vma->flags & VM_ANON) && !vma->cow_anon_vma))
		return;
	for (uint64_t vpn = vma->start; vpn < vma->end; vpn++) {
		uint32_t table = mm_table(&ctx->m, from, vpn), *pte;

		if (!table) {
			vpn |= 511;
			continue;
		}
		if (ctx->m.pmd[table] & RS_PMD_LEAF)
			split_huge_pmd(ctx, from, table);
		pte = table_ptes(&ctx->m, table) + (vpn & 511);
		if (*pte)
			copy_pte(ctx, to, new, vpn, pte);
	}
}

/* The first thread of the child, and those that the trace has given it already. */
static void start_child(struct rs_ctx *ctx, struct task *child, struct mm *mm)
{
	start_thread(ctx, child, mm, ctx->cur->now);
	for (uint32_t i = child->id + 1; i < ctx->nr_tasks; i++) {
		struct task *t = ctx->tasks[i];

		if (t->class == CLASS_APP && t->state == TASK_UNBORN && !t->by_fork &&
		    t->process == child->process)
			start_thread(ctx, t, mm, ctx->cur->now);
	}
}

bool op_fork(struct rs_ctx *ctx, struct task *t, uint32_t thread)
{
	struct mm *from = t->mm, *to;

	to = mm_create(ctx, from->pub.memcg);
	mmap_write_lock(ctx, from, LOCK_FORK);
	for (uint32_t i = 0; i < from->pub.nr_vmas; i++) {
		struct rs_vma *vma = from->pub.vmas[i], *new;

		vma_start_write(ctx, from, vma, LOCK_FORK);
		new = mm_copy_vma(&ctx->m, to, vma);
		/* mlock() is not inherited. */
		new->flags &= ~(uint32_t)VM_LOCKED;
		charge(ctx, RS_COST_MMAP_WRITE_HOLD, 1);
		copy_vma_pages(ctx, from, to, vma, new);
	}
	for (uint32_t i = 0; i < from->nr_regions; i++) {
		const struct region *r = &from->regions[i];

		if (r->mapped)
			region_set(mm_region(to, i), r->start, r->pages);
	}
	mmap_write_unlock(ctx, from, LOCK_FORK);
	start_child(ctx, g_queue_pop_head(&ctx->thread[thread].unborn), to);
	return true;
}

void op_exec(struct rs_ctx *ctx, struct task *t)
{
	struct mm *old = t->mm, *mm = mm_create(ctx, old->pub.memcg);

	t->mm = mm;
	mm->users = 1;
	ctx->process[t->process] = mm;
	if (ctx->ops->mm_switch)
		ctx->ops->mm_switch(ctx, &mm->pub);
	if (--old->users == 0)
		mm_destroy(ctx, old);
}

static void wake_waiters(struct rs_ctx *ctx, const struct task *dead, ns_t now)
{
	for (uint32_t i = 0; i < ctx->nr_tasks; i++)
		if (ctx->tasks[i]->wait_thread == dead && ctx->tasks[i]->state == TASK_WAITING)
			task_wake(ctx, ctx->tasks[i], now);
}

/*
 * Records of a thread that was killed never run: children they would have forked are never born,
 * nor are those children's. Whoever waits for one goes on.
 */
void abandon_records(struct rs_ctx *ctx, const struct rs_record *r, uint32_t n)
{
	for (const struct rs_record *end = r + n; r < end; r++) {
		struct task *child = r->op == RS_OP_FORK
					     ? g_queue_pop_head(&ctx->thread[r->object].unborn)
					     : NULL;

		if (!child)
			continue;
		child->state = TASK_DEAD;
		wake_waiters(ctx, child, ctx->cur ? ctx->cur->now : ctx->now);
		for (GList *l = child->segments.head; l; l = l->next) {
			const struct segment *s = l->data;

			abandon_records(ctx, s->records + s->pos, s->n - s->pos);
		}
	}
}

/* Marks are all that may stand behind a thread's end, up to the next thread's records. */
void late_marks(struct rs_ctx *ctx, const struct rs_record *r, uint32_t n)
{
	for (const struct rs_record *end = r + n; r < end; r++) {
		if (r->op != RS_OP_MARK)
			continue;
		ctx->nr_ops++;
		take_mark(ctx, r);
	}
}

/* What is left of the trace's records for a thread that is over. */
static void leave_records(struct rs_ctx *ctx, const struct task *t)
{
	for (GList *l = t->segments.head; l; l = l->next) {
		const struct segment *s = l->data;

		if (t->killed)
			abandon_records(ctx, s->records + s->pos, s->n - s->pos);
		else
			late_marks(ctx, s->records + s->pos, s->n - s->pos);
	}
}

void op_exit(struct rs_ctx *ctx, struct task *t)
{
	struct mm *mm = t->mm;

	t->mm = NULL;
	if (--mm->users == 0) {
		if (ctx->process[t->process] == mm)
			ctx->process[t->process] = NULL;
		mm_destroy(ctx, mm);
	}
	leave_records(ctx, t);
	wake_waiters(ctx, t, t->now);
	task_exit(ctx);
}

/* Kernel: cgroup_attach_task(). Pages stay charged where they are. */
bool op_memcg(struct rs_ctx *ctx, struct task *t, const char *path)
{
	uint32_t before = ctx->m.nr_memcgs;
	uint16_t old = t->mm->pub.memcg, id = memcg_create(&ctx->m, path, &ctx->error);

	if (id == RS_MEMCG_NONE)
		return false;
	lruvecs_online(ctx, before);
	if (id == old)
		return true;
	ctx->m.memcg[old].nr_procs--;
	ctx->m.memcg[id].nr_procs++;
	t->mm->pub.memcg = id;
	for (uint32_t i = 0; i < ctx->nr_tasks; i++)
		if (ctx->tasks[i]->mm == t->mm)
			psi_task_move(ctx, ctx->tasks[i], id, t->now);
	if (ctx->ops->mm_migrate)
		ctx->ops->mm_migrate(ctx, &t->mm->pub, old);
	return true;
}
