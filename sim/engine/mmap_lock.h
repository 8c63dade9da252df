/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * mmap_lock.h - what lock.c and vma_lock.c share: the state of one address space's locks.
 */
#ifndef SIM_ENGINE_MMAP_LOCK_H
#define SIM_ENGINE_MMAP_LOCK_H

#include "sim/engine/engine.h"

struct mmap_lock {
	int32_t readers;
	struct task *writer;
	GQueue waiters;	    /* struct rwsem_waiter *, on the stacks of those who wait */
	uint32_t seq;	    /* a VMA is marked for writing while its vm_lock_seq equals it */
	struct task *drain; /* writer that waits for the readers of drain_vma */
	struct rs_vma *drain_vma;
};

struct mmap_lock *mmap_lock(struct mm *);

#endif
