/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * observe.h - to look at a simulation from inside while it runs: the lives of chosen folios, and
 * the kernel's trace events. Nothing here changes what the simulation does. Without an observer
 * every report is one test of a pointer.
 */
#ifndef RECLAIMSIM_OBSERVE_H
#define RECLAIMSIM_OBSERVE_H

#include <reclaimsim/policy.h>

struct rs_sim;

/* What happens to a folio; a and b of the note in brackets. */
enum rs_note {
	/* The engine's. */
	RS_NOTE_NEW,	     /* an anonymous page comes into being */
	RS_NOTE_CACHED,	     /* a file's page enters the page cache [1: it left a shadow] */
	RS_NOTE_SWAPIN,	     /* read from swap [slot] */
	RS_NOTE_MAPPED,	     /* a fault maps what was read or cached */
	RS_NOTE_ACCESSED,    /* used through a descriptor, or young when unmapped */
	RS_NOTE_ISOLATED,    /* taken off its list */
	RS_NOTE_REFERENCED,  /* a reverse map walk has looked for young PTEs [areas with one] */
	RS_NOTE_VERDICT,     /* reclaim has tried it [enum rs_outcome, enum rs_why] */
	RS_NOTE_SWAP_SLOT,   /* room in swap is found [slot] */
	RS_NOTE_PAGEOUT,     /* its write begins */
	RS_NOTE_WRITTEN,     /* its write has ended */
	RS_NOTE_ROTATED,     /* to the old end of its lists: written, it can go at once */
	RS_NOTE_ACTIVATED,   /* to the active lists or the youngest generation, from a batch */
	RS_NOTE_DEACTIVATED, /* to the inactive lists: madvise(), fadvise() */
	RS_NOTE_EVICTED,     /* [enum rs_reclaimer, priority] */
	RS_NOTE_FREED,	     /* nobody uses it any more */
	RS_NOTE_DEMOTED,     /* to a slower node */
	RS_NOTE_MIGRATED,    /* to the node of its user */
	/* The policies'. */
	RS_NOTE_LIST,	    /* it now stands on a list [enum rs_lru] */
	RS_NOTE_GENERATION, /* it now stands in a generation [its number, the youngest's] */
	RS_NOTE_AGED,	    /* a younger generation has been opened [its number, the youngest's] */
	RS_NOTE_YOUNG_WALK, /* the page-table walk has found and cleared a young PTE */
	RS_NOTE_YOUNG_LOOK, /* look-around of a neighbour has */
	RS_NOTE_MARKED,	    /* first touch: only marked referenced (6.14 and newer) */
	RS_NOTE_PROMOTED,   /* to the youngest generation [from, to] */
	RS_NOTE_PROTECTED,  /* its tier refaults more than the first [tier, highest that goes] */
	RS_NOTE_SPARED,	 /* met in the oldest generation's list, but promoted since [its number] */
	RS_NOTE_SORTED,	 /* not evictable now: one generation on [from, to] */
	RS_NOTE_REFAULT, /* [refault distance, pages it is compared with] */
	RS_NOTE_REFAULT_GEN, /* [oldest generation at eviction, oldest now] */
	RS_NOTE_NOT_RECENT,  /* refault, but too long ago to count [the same] */
	RS_NR_NOTES
};

/* RS_NOTE_VERDICT. */
enum rs_outcome { RS_OUTCOME_KEPT, RS_OUTCOME_ACTIVATED };
enum rs_why {
	RS_WHY_NONE,
	RS_WHY_LOCKED,
	RS_WHY_UNEVICTABLE,
	RS_WHY_MAPPED,
	RS_WHY_YOUNG_MEANWHILE,
	RS_WHY_WRITEBACK,
	RS_WHY_REFERENCED,
	RS_WHY_NO_SWAP,
	RS_WHY_UNMAP,
	RS_WHY_DIRTY,
	RS_WHY_BEING_WRITTEN,
	RS_WHY_HELD,
	RS_NR_WHYS
};
/* RS_NOTE_EVICTED. */
enum rs_reclaimer { RS_BY_KSWAPD, RS_BY_DIRECT, RS_BY_LIMIT, RS_BY_PROACTIVE };

/* ---- for who watches ---- */

/* Pages first..last of a region (of every process that has it), or of a file. */
struct rs_watch {
	const char *name; /* of the region or file in the trace */
	bool file;
	uint64_t first, last;
};

/* Who did it, and when. */
struct rs_doer {
	ns_t time;
	const char *comm; /* "kswapd0", "flusher", "trace", "<idle>" for a device */
	uint32_t pid, cpu;
};

struct rs_folio_note {
	struct rs_doer by;
	const struct rs_watch *watch;
	uint64_t page;
	uint32_t space; /* address space, 0 for a file's page */
	pfn_t pfn;
	enum rs_note what;
	int64_t a, b;
};

struct rs_trace_event {
	struct rs_doer by;
	const char *name, *text; /* the kernel's name and fields */
};

struct rs_observer {
	void *arg;
	void (*folio)(void *arg, const struct rs_folio_note *);	 /* may be NULL */
	void (*event)(void *arg, const struct rs_trace_event *); /* may be NULL */
};

/*
 * Before the first batch. Both arrays live as long as the simulation. matched[i] becomes true when
 * watch i has met its region or file.
 */
void rs_sim_observe(struct rs_sim *, const struct rs_observer *, const struct rs_watch *,
		    unsigned n, bool *matched);

/* ---- for policies ---- */

void rs_note(struct rs_ctx *, pfn_t, enum rs_note, int64_t a, int64_t b);
bool rs_observed(struct rs_ctx *); /* is anybody watching? For notes that cost something to make */
/* A new youngest generation of that lruvec. */
void rs_note_aged(struct rs_ctx *, const struct rs_lruvec *, uint64_t max_seq);
/* Kernel: include/trace/events/vmscan.h, under the same names. */
void rs_trace_lru_isolate(struct rs_ctx *, const struct rs_scan *, uint64_t requested,
			  uint64_t scanned, uint64_t skipped, uint64_t taken, enum rs_lru);
void rs_trace_lru_shrink_inactive(struct rs_ctx *, uint8_t nid, uint64_t scanned,
				  uint64_t reclaimed, const struct rs_reclaim_stat *,
				  const struct rs_scan *, enum rs_type);
void rs_trace_lru_shrink_active(struct rs_ctx *, uint8_t nid, uint64_t taken, uint64_t active,
				uint64_t deactivated, uint64_t referenced, const struct rs_scan *,
				enum rs_type);

#endif
