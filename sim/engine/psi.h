/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * psi.h - pressure: the time in which tasks of a group wait for memory, I/O or a CPU, as
 * kernel/sched/psi.c accounts for it. Looks at tasks and never changes what they do.
 */
#ifndef SIM_ENGINE_PSI_H
#define SIM_ENGINE_PSI_H

#include "sim/engine/engine.h"

enum psi_state {
	PSI_IO_SOME,
	PSI_IO_FULL,
	PSI_MEM_SOME,
	PSI_MEM_FULL,
	PSI_CPU_SOME,
	PSI_CPU_FULL,
	NR_PSI_STATES,
	PSI_NONIDLE = NR_PSI_STATES /* only by CPU: its weight */
};

/* Samples have totals of their own, so that taking them does not change what marks read. */
enum psi_reader { PSI_MARKS, PSI_SAMPLES, NR_PSI_READERS };

/* Bits of task.psi_flags; the first four are counted by group and CPU. */
enum {
	TSK_IOWAIT = 1 << 0,
	TSK_MEMSTALL = 1 << 1,
	TSK_RUNNING = 1 << 2,
	TSK_MEMSTALL_RUNNING = 1 << 3,
	TSK_ONCPU = 1 << 4,
};
#define NR_PSI_COUNTS 4u

/* Kernel: PSI_FREQ, (2 * HZ + 1) jiffies. Assumed: HZ = 250. */
#define PSI_JIFFY_NS 4000000u
#define PSI_PERIOD_NS (501ull * PSI_JIFFY_NS)

struct psi_avgs {
	uint64_t total[NR_PSI_STATES];	/* of it, what the averages know */
	uint64_t avg[NR_PSI_STATES][3]; /* per cent in units of 1/2048: over 10, 60, 300 s */
	ns_t last_update, next_update;
};

/* The task's state has changed, or its CPU. */
void psi_task_change(struct rs_ctx *, struct task *, ns_t now);
/* Its process is in another group from now on. Kernel: cgroup_move_task(). */
void psi_task_move(struct rs_ctx *, struct task *, uint16_t memcg, ns_t now);
/* The running task waits for memory: it reclaims, or reads back what should not have gone. */
bool psi_memstall_enter(struct rs_ctx *);
void psi_memstall_leave(struct rs_ctx *, bool was_inside); /* what _enter() said */

/* By enum rs_psi_resource. */
void psi_read(struct rs_ctx *, uint16_t memcg, enum psi_reader, ns_t now, struct rs_psi_stat *);
void psi_init(struct rs_ctx *);
void psi_free(struct rs_ctx *);

/* For tests: one period of the three averages. */
void psi_calc_avgs(uint64_t avg[3], uint64_t missed_periods, ns_t time, ns_t period);
ns_t psi_update_averages(struct psi_avgs *, const uint64_t *total, ns_t now);

#endif
