/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * import_strace_call.c - processes of an strace log: fork, exec, exit, wait.
 *
 * fork and clone without CLONE_VM copy the address space (RS_OP_FORK). A child that shares it until
 * execve (vfork, CLONE_VM | CLONE_VFORK, as make, gcc and posix_spawn use) begins in the trace at
 * its execve: forked by its parent there, so that it does not run before the parent has come so
 * far, and with an empty address space at once. CLONE_THREAD makes a thread.
 */
#include "traces/import_strace.h"
#include "traces/import_text.h"

#include <stdlib.h>

uint64_t strace_fork_flags(const struct scall *c)
{
	uint64_t flags = 0;

	if (scall_is(c, "vfork"))
		return S_CLONE_VM | S_CLONE_VFORK;
	for (unsigned i = 0; i < c->nr_args; i++) {
		if (scall_has(c, i, "CLONE_VM"))
			flags |= S_CLONE_VM;
		if (scall_has(c, i, "CLONE_FILES"))
			flags |= S_CLONE_FILES;
		if (scall_has(c, i, "CLONE_THREAD"))
			flags |= S_CLONE_THREAD;
		if (scall_has(c, i, "CLONE_VFORK"))
			flags |= S_CLONE_VFORK;
	}
	return flags;
}

bool strace_switch(struct import *im, struct stask *task)
{
	if (task->vforked || task->exited)
		return false;
	import_thread(im, task->mm->leader, task->pid);
	if (!task->begun)
		task->mm->nr_threads++;
	task->begun = task->mm->begun = true;
	return !im->error;
}

/* Gives a new task its address space and descriptors. */
void strace_fork(struct import *im, struct stask *parent, struct stask *child, uint64_t flags)
{
	struct strace *st = im->priv;

	child->cwd = g_strdup(parent->cwd);
	child->parent = parent->pid;
	if (flags & S_CLONE_FILES) {
		child->fds = parent->fds;
		child->fds->refs++;
	} else {
		child->fds = strace_fds_copy(parent->fds);
	}
	if (flags & (S_CLONE_VM | S_CLONE_THREAD)) {
		child->mm = parent->mm;
		child->mm->refs++;
		child->vforked = parent->vforked || !(flags & S_CLONE_THREAD);
		return;
	}
	/* A parent that the trace does not have yet: the child begins by itself. */
	child->mm = strace_mm_copy(st, parent->mm, child->pid);
	if (!strace_switch(im, parent)) {
		strace_mm_clear(st, child->mm);
		return;
	}
	import_fork(im, child->pid, child->pid);
	child->begun = child->mm->begun = true;
	child->mm->nr_threads = 1;
}

static void forked(struct import *im, struct stask *parent, const struct scall *c)
{
	struct strace *st = im->priv;
	struct stask *child;

	if (c->failed || c->unknown || !c->result)
		return;
	st->forks++;
	if (g_hash_table_remove(st->adopted, &c->result) ||
	    g_hash_table_contains(st->tasks, &c->result) ||
	    g_hash_table_size(st->tasks) >= STRACE_MAX_TASKS)
		return;
	child = g_new0(struct stask, 1);
	child->pid = c->result;
	g_hash_table_insert(st->tasks, g_memdup2(&c->result, sizeof(c->result)), child);
	strace_fork(im, parent, child, strace_fork_flags(c));
}

static int by_pid(const void *a, const void *b)
{
	const struct stask *x = *(struct stask *const *)a, *y = *(struct stask *const *)b;

	return x->pid < y->pid ? -1 : x->pid > y->pid;
}

/* exec ends the other threads of the process. */
static void end_other_threads(struct import *im, struct stask *task)
{
	struct strace *st = im->priv;
	GPtrArray *others = g_ptr_array_new();
	GHashTableIter iter;
	struct stask *other;

	g_hash_table_iter_init(&iter, st->tasks);
	while (g_hash_table_iter_next(&iter, NULL, (void **)&other))
		if (other != task && other->mm == task->mm && other->begun && !other->exited)
			g_ptr_array_add(others, other);
	if (others->len)
		qsort(others->pdata, others->len, sizeof(void *), by_pid);
	for (guint i = 0; i < others->len; i++) {
		other = others->pdata[i];
		if (strace_switch(im, other))
			import_exit(im);
		other->exited = true;
		other->mm->nr_threads--;
	}
	g_ptr_array_free(others, TRUE);
}

/* A child of vfork() becomes a process of its own. */
static void begin_vforked(struct import *im, struct stask *task)
{
	struct strace *st = im->priv;
	struct stask *parent = g_hash_table_lookup(st->tasks, &task->parent);

	if (!parent || parent == task || !parent->begun || !strace_switch(im, parent))
		return;
	import_fork(im, task->pid, task->pid);
	task->begun = true;
}

static void executed(struct import *im, struct stask *task, const struct scall *c)
{
	struct strace *st = im->priv;
	struct rs_record record = { .op = RS_OP_EXEC };
	uint64_t leader = task->vforked ? task->pid : task->mm->leader;
	bool fresh;
	size_t n;
	char *path = strace_string(c, 0, &n);
	uint32_t file = path ? strace_path_file(im, task, path, n) : STRACE_NO_FILE;

	g_free(path);
	st->execs++;
	if (task->vforked)
		begin_vforked(im, task);
	else
		end_other_threads(im, task);
	fresh = !task->begun;
	if (task->mm->refs > 1) {
		struct smm *mm = strace_mm_new(leader);

		mm->nr_threads = task->begun;
		strace_mm_put(st, task->mm);
		task->mm = mm;
	} else {
		strace_mm_clear(st, task->mm);
	}
	task->vforked = false;
	strace_fds_exec(task->fds);
	if (!strace_switch(im, task))
		return;
	if (!fresh)
		import_put_timed(im, &record, NULL);
	strace_mm_exec(im, task, file);
}

static void waited(struct import *im, struct stask *task, const struct scall *c)
{
	struct strace *st = im->priv;

	if (!c->failed && !c->unknown && c->result && g_hash_table_remove(st->ended, &c->result) &&
	    strace_switch(im, task))
		import_wait(im, c->result, c->result);
}

void strace_call(struct import *im, struct stask *task, const struct scall *c)
{
	bool fork = scall_is(c, "fork") || scall_is(c, "vfork") || scall_is(c, "clone") ||
		    scall_is(c, "clone3");

	if (task->exited)
		return;
	if (fork)
		forked(im, task, c);
	else if (scall_is(c, "execve") || scall_is(c, "execveat")) {
		if (!c->failed && !c->unknown)
			executed(im, task, c);
	} else if (scall_is(c, "wait4") || scall_is(c, "waitpid")) {
		waited(im, task, c);
	} else {
		strace_files_call(im, task, c);
		strace_mm_call(im, task, c);
	}
}

void strace_exit(struct import *im, struct stask *task)
{
	struct strace *st = im->priv;

	if (task->begun && !task->exited && strace_switch(im, task)) {
		import_exit(im);
		task->mm->nr_threads--;
		if (task->pid == task->mm->leader && g_hash_table_size(st->ended) < 65536)
			g_hash_table_add(st->ended, g_memdup2(&task->pid, sizeof(task->pid)));
	}
	strace_mm_put(st, task->mm);
	strace_fds_put(task->fds);
	g_hash_table_remove(st->tasks, &task->pid);
}
