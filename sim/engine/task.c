/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * task.c - simulated threads as fibers: a stack and a place to go on at.
 */
#include "sim/engine/engine.h"

#include <sys/mman.h>

#if defined(__SANITIZE_ADDRESS__)
#define FIBER_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define FIBER_ASAN 1
#endif
#endif
#ifdef FIBER_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

#define STACK_SIZE (256u << 10)

struct fiber {
	void *sp, *host_sp; /* where each side goes on */
	void *stack;
	void *host_fake, *fiber_fake; /* sanitizer's view of the two stacks */
	const void *host_bottom;
	size_t host_size;
};

static void entry(struct task *t)
{
#ifdef FIBER_ASAN
	__sanitizer_finish_switch_fiber(NULL, &t->fiber->host_bottom, &t->fiber->host_size);
#endif
	t->main(t);
	g_assert_not_reached();
}

#ifdef __x86_64__
/*
 * Save what a call preserves, exchange the stack pointers, restore. A few nanoseconds; the C
 * library's swapcontext() asks the host's kernel for the signal mask each time.
 */
void rs_fiber_switch(void **save, void *load) __attribute__((visibility("hidden")));
void rs_fiber_first(void) __attribute__((visibility("hidden")));
__asm__(".text\n"
	".hidden rs_fiber_switch\n"
	".globl rs_fiber_switch\n"
	".type rs_fiber_switch, @function\n"
	"rs_fiber_switch:\n"
	"	pushq %rbp\n	pushq %rbx\n	pushq %r12\n	pushq %r13\n	pushq %r14\n	"
	"pushq %r15\n"
	"	movq %rsp, (%rdi)\n"
	"	movq %rsi, %rsp\n"
	"	popq %r15\n	popq %r14\n	popq %r13\n	popq %r12\n	popq %rbx\n	"
	"popq %rbp\n"
	"	ret\n"
	".size rs_fiber_switch, .-rs_fiber_switch\n"
	".hidden rs_fiber_first\n"
	".globl rs_fiber_first\n"
	".type rs_fiber_first, @function\n"
	"rs_fiber_first:\n"
	"	movq %r12, %rdi\n"
	"	callq *%r13\n"
	"	ud2\n"
	".size rs_fiber_first, .-rs_fiber_first\n");

/* The first switch pops these and returns into rs_fiber_first(). */
static void fiber_prepare(struct fiber *f, struct task *t)
{
	void **top = (void **)((char *)f->stack + STACK_SIZE);

	*--top = NULL; /* two words, so that the stack is aligned at the call */
	*--top = NULL;
	*--top = (void *)rs_fiber_first;
	*--top = NULL;		/* rbp */
	*--top = NULL;		/* rbx */
	*--top = t;		/* r12 */
	*--top = (void *)entry; /* r13 */
	*--top = NULL;		/* r14 */
	*--top = NULL;		/* r15 */
	f->sp = top;
}
#else
#include <ucontext.h>

/* Elsewhere: the C library's contexts, kept at the upper end of the fiber's stack. */
static void rs_fiber_switch(void **save, void *load)
{
	ucontext_t self;

	*save = &self;
	swapcontext(&self, load);
}

static void enter_words(unsigned lo, unsigned hi)
{
	entry((struct task *)((uintptr_t)lo | (uintptr_t)hi << 32));
}

static void fiber_prepare(struct fiber *f, struct task *t)
{
	ucontext_t *c = (ucontext_t *)((char *)f->stack + STACK_SIZE - 4096);
	uintptr_t p = (uintptr_t)t;

	getcontext(c);
	c->uc_stack.ss_sp = f->stack;
	c->uc_stack.ss_size = STACK_SIZE - 4096;
	makecontext(c, (void (*)(void))enter_words, 2, (unsigned)p, (unsigned)((uint64_t)p >> 32));
	f->sp = c;
}
#endif

static void leave_host(struct fiber *f)
{
#ifdef FIBER_ASAN
	__sanitizer_start_switch_fiber(&f->host_fake, f->stack, STACK_SIZE);
#endif
	rs_fiber_switch(&f->host_sp, f->sp);
#ifdef FIBER_ASAN
	__sanitizer_finish_switch_fiber(f->host_fake, NULL, NULL);
#endif
}

struct task *task_new(struct rs_ctx *ctx, enum task_class class, void (*main)(struct task *))
{
	struct task *t = g_new0(struct task, 1);
	struct fiber *f = g_new0(struct fiber, 1);

	t->ctx = ctx;
	t->class = class;
	t->main = main;
	t->fiber = f;
	t->id = ctx->nr_tasks;
	g_queue_init(&t->segments);
	f->stack = mmap(NULL, STACK_SIZE, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
	g_assert(f->stack != MAP_FAILED);
	fiber_prepare(f, t);
	ctx->tasks = g_renew(struct task *, ctx->tasks, ctx->nr_tasks + 1);
	ctx->tasks[ctx->nr_tasks++] = t;
	return t;
}

void task_free(struct task *t)
{
	g_queue_clear_full(&t->segments, (GDestroyNotify)segment_free);
#ifdef FIBER_ASAN
	/* Frames that never returned left marks; the next owner of the address must not meet them.
	 */
	__asan_unpoison_memory_region(t->fiber->stack, STACK_SIZE);
#endif
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
	rs_fiber_switch(&f->sp, f->host_sp);
#ifdef FIBER_ASAN
	__sanitizer_finish_switch_fiber(f->fiber_fake, &f->host_bottom, &f->host_size);
#endif
}
