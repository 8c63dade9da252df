/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * task.c - simulated threads as fibers: a stack and a place to go on at.
 */
#include "sim/engine/engine.h"

#include <sys/mman.h>
#include <ucontext.h>

#if defined(__SANITIZE_ADDRESS__)
#define FIBER_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define FIBER_ASAN 1
#endif
#endif
#ifdef FIBER_ASAN
#include <sanitizer/common_interface_defs.h>
#endif

#define STACK_SIZE (256u << 10)

struct fiber {
	ucontext_t self, host;
	void *stack;
	void *host_fake, *fiber_fake; /* sanitizer's view of the two stacks */
	const void *host_bottom;
	size_t host_size;
};

static void leave_host(struct fiber *f)
{
#ifdef FIBER_ASAN
	__sanitizer_start_switch_fiber(&f->host_fake, f->stack, STACK_SIZE);
#endif
	swapcontext(&f->host, &f->self);
#ifdef FIBER_ASAN
	__sanitizer_finish_switch_fiber(f->host_fake, NULL, NULL);
#endif
}

static void entry(unsigned lo, unsigned hi)
{
	struct task *t = (struct task *)((uintptr_t)lo | (uintptr_t)hi << 32);

#ifdef FIBER_ASAN
	__sanitizer_finish_switch_fiber(NULL, &t->fiber->host_bottom, &t->fiber->host_size);
#endif
	t->main(t);
	g_assert_not_reached();
}

struct task *task_new(struct rs_ctx *ctx, enum task_class class, void (*main)(struct task *))
{
	struct task *t = g_new0(struct task, 1);
	struct fiber *f = g_new0(struct fiber, 1);
	uintptr_t p = (uintptr_t)t;

	t->ctx = ctx;
	t->class = class;
	t->main = main;
	t->fiber = f;
	t->id = ctx->nr_tasks;
	g_queue_init(&t->segments);
	f->stack = mmap(NULL, STACK_SIZE, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
	g_assert(f->stack != MAP_FAILED);
	getcontext(&f->self);
	f->self.uc_stack.ss_sp = f->stack;
	f->self.uc_stack.ss_size = STACK_SIZE;
	makecontext(&f->self, (void (*)(void))entry, 2, (unsigned)p, (unsigned)(p >> 32));
	ctx->tasks = g_renew(struct task *, ctx->tasks, ctx->nr_tasks + 1);
	ctx->tasks[ctx->nr_tasks++] = t;
	return t;
}

void task_free(struct task *t)
{
	g_queue_clear_full(&t->segments, (GDestroyNotify)segment_free);
	munmap(t->fiber->stack, STACK_SIZE);
	g_free(t->fiber);
	g_free(t);
}

void task_switch_in(struct task *t)
{
	t->ctx->cur = t;
	leave_host(t->fiber);
	t->ctx->now = t->now;
	t->ctx->cur = NULL;
}

void task_yield(struct task *t)
{
	struct fiber *f = t->fiber;

#ifdef FIBER_ASAN
	__sanitizer_start_switch_fiber(&f->fiber_fake, f->host_bottom, f->host_size);
#endif
	swapcontext(&f->self, &f->host);
#ifdef FIBER_ASAN
	__sanitizer_finish_switch_fiber(f->fiber_fake, &f->host_bottom, &f->host_size);
#endif
}
