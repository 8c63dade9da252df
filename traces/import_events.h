/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * import_events.h - kernel trace events, whoever printed them (perf script, ftrace, trace-cmd).
 *
 *  filemap:mm_filemap_get_pages   a lookup of read(), hits included: a call through a descriptor
 *  filemap:mm_filemap_fault       a file fault: a load through a mapping of the file
 *  filemap:mm_filemap_add_to_...  a page-cache miss (2^order pages): a read, unless the record has
 *                                 get_pages or fault events, of which misses are the consequence
 *  exceptions:page_fault_*        the first touch of a page: load or store of anonymous memory
 *  page-faults, memory samples    likewise, at the address given
 *
 * map_pages is what fault-around did, not an access. Other events are counted only; those of
 * vmscan are summed, as they are the truth to compare a simulation with.
 */
#ifndef TRACES_IMPORT_EVENTS_H
#define TRACES_IMPORT_EVENTS_H

#include "traces/import.h"

/* One line, taken apart. */
struct kevent {
	const char *comm, *stamp, *name, *text, *end; /* text .. end */
	size_t comm_n, stamp_n, name_n;		      /* name: without the group */
	const char *full;			      /* GROUP:NAME */
	size_t full_n;
	uint64_t pid, tid, ns;
};

struct events {
	struct tally *by_name, *comms, *pids, *lru;
	GHashTable *mappings; /* (space, file, chunk) -> region + 1 */
	struct pageset added;
	uint64_t faults, fault_writes, fault_instruction, fault_reads;
	uint64_t pages_added, pages_deleted, lookups;
	uint64_t inactive_scanned, inactive_reclaimed, active_deactivated, reclaim_end_total;
	GHashTable *added_files;
	bool short_names; /* count names without the group */
};

void events_init(struct events *);
void events_done(struct events *);
/* Counts it and makes records of it. False: malformed. */
bool events_take(struct import *, struct events *, const struct kevent *);
void events_report(struct import *, const struct events *, json_t *);

/* " SECONDS.FRACTION:" and a blank behind it, the first in s; returns its start, or NULL. */
const char *events_find_time(const char *s, const char *end, const char **colon);

#endif
