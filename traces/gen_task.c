/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gen_task.c - several generating threads, interleaved by their clocks.
 */
#include "traces/gen.h"

/* Index of the task with the least clock, other than skip; nr if there is none. */
static uint32_t least(struct gen_task **tasks, uint32_t nr, uint32_t skip)
{
	uint32_t best = nr;

	for (uint32_t i = 0; i < nr; i++)
		if (i != skip && tasks[i] && (best == nr || tasks[i]->now < tasks[best]->now))
			best = i;
	return best;
}

void gen_run_tasks(struct gen *g, struct gen_task **tasks, uint32_t nr, ns_t quantum)
{
	uint32_t i, next;

	while (!gen_failed(g) && (i = least(tasks, nr, nr)) < nr) {
		ns_t until = G_MAXUINT64;

		next = least(tasks, nr, i);
		if (next < nr)
			until = tasks[next]->now + quantum;
		gen_switch(g, tasks[i]->thread);
		do {
			if (++g->steps > g->limit)
				gen_fail(g, RS_ERROR_INPUT, "more than %" G_GUINT64_FORMAT " steps",
					 g->limit);
			if (!tasks[i]->step(g, tasks[i])) {
				tasks[i] = NULL;
				break;
			}
		} while (tasks[i]->now < until && !gen_failed(g));
	}
}
