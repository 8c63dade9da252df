/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * region.h - regions of a process: mapped, in pieces, shared with a forked child until changed.
 */
#ifndef TRACES_REGION_H
#define TRACES_REGION_H

#include "traces/state.h"

#define REGION_UNMAP UINT32_MAX /* instead of a protection: take the pages away */

enum region_verdict { REGION_FINE, REGION_HOLE, REGION_PROTECTED };

struct process *process_new(void);
struct process *process_fork(const struct process *);
void process_clear(struct process *); /* as exec: an empty address space */
void process_free(struct process *);  /* NULL is fine */

const struct region_state *process_region(const struct process *,
					  uint32_t id); /* NULL: not mapped */
void process_map(struct process *, uint32_t id, const struct region_state *);
/* Set prot of pages, or unmap them; false: too many pieces. */
bool process_change(struct process *, uint32_t id, uint32_t page, uint32_t count, uint32_t prot,
		    uint32_t file_pages);
/* Recompute the limits of mappings of a file; true if some mapping reaches past its end. */
bool process_file_resized(struct process *, uint32_t file, uint32_t file_pages);

void region_set_limits(struct region_state *, uint32_t file_pages);
enum region_verdict region_access(const struct region_state *, uint32_t page, uint32_t count,
				  bool store);

#endif
