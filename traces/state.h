/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * state.h - what a trace has defined so far, and whether a record is valid after it.
 *
 * Readers and the writer send every record through here, so nothing behind them meets an access
 * to a region that is not mapped or a page that does not exist.
 */
#ifndef TRACES_STATE_H
#define TRACES_STATE_H

#include "traces/names.h"

#define NR_NAME_KINDS (RS_NAME_PROCESS + 1)
#define REGION_CHUNK_SHIFT 8
#define REGION_CHUNK (1u << REGION_CHUNK_SHIFT)

/* A mapped piece of a region of which parts were unmapped or protected: pages start..end-1. */
struct segment {
	uint32_t start, end, prot;
};

/*
 * limit[0] and limit[1] are the first pages that a load and a store may not touch, so that an
 * access is checked with one comparison. They are 0 where only state_apply() can tell: the
 * region is in pieces, or the access is an error.
 */
struct region_state {
	uint32_t limit[2];
	uint32_t pages; /* 0 = not mapped */
	uint32_t prot;
	uint32_t file, pgoff;
	GArray *segments; /* NULL = all of it, with prot */
};

/* Regions are kept in chunks that a fork shares with the parent until either changes one. */
struct region_chunk {
	uint32_t refs, nr_mapped;
	struct region_state region[REGION_CHUNK];
};

struct process {
	struct region_chunk **chunks;
	uint32_t nr_chunks, nr_threads; /* a process lives as long as it has threads */
};

struct thread_state {
	uint32_t process;
	bool alive;
};

struct file_state {
	uint32_t pages;
	bool mapped;  /* some region has mapped it */
	bool clipped; /* some mapping reaches past its end */
};

struct trace_state {
	struct names names[NR_NAME_KINDS];
	uint32_t nr_seen[NR_NAME_KINDS]; /* objects that have appeared in a record */
	GPtrArray *processes;		 /* struct process, NULL = not alive */
	GArray *threads, *files;
	struct process *current; /* NULL: the current thread has exited */
	uint32_t thread, process;
};

void state_init(struct trace_state *);
void state_done(struct trace_state *);

/* A load or store that needs no closer look. */
static inline bool state_access_ok(const struct trace_state *s, const struct rs_record *r)
{
	uint32_t chunk = r->object >> REGION_CHUNK_SHIFT;

	if (!s->current || chunk >= s->current->nr_chunks || !s->current->chunks[chunk])
		return false;
	const struct region_state *region =
		&s->current->chunks[chunk]->region[r->object & (REGION_CHUNK - 1)];
	return r->count && (uint64_t)r->page + r->count <= region->limit[r->op == RS_OP_STORE];
}

/* Check the record and note what it changes; map only with RS_OP_MMAP. */
bool state_apply(struct trace_state *, const struct rs_record *, const struct rs_map *, GError **);

bool state_thread_alive(const struct trace_state *, uint32_t id);

/* The state of a region in the current process; NULL if it is not mapped there. */
const struct region_state *state_region(const struct trace_state *, uint32_t id);

#endif
