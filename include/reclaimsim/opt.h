/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * opt.h - the clairvoyant lower bound of demand misses (Belady's MIN).
 *
 * What counts: a page is read from its file or from swap because it is needed and not in memory.
 * One page is one page whoever uses it: a file page mapped by several regions or read through a
 * descriptor, and an anonymous page shared by a forked family (until the last of them is gone).
 * Free are the first touch of an anonymous page, a write() (whole pages: nothing is read), and
 * everything that was discarded (munmap, exec, exit, MADV_DONTNEED, MADV_FREE, truncate). A load of
 * an anonymous page that nobody has stored to meets the zero page and takes no memory.
 * No read-ahead; memory holds a fixed number of pages.
 */
#ifndef RECLAIMSIM_OPT_H
#define RECLAIMSIM_OPT_H

#include <reclaimsim/trace.h>

struct rs_opt_counts {
	uint64_t accesses;	/* pages touched, each time */
	uint64_t anon;		/* misses: page back from swap */
	uint64_t file_mapped;	/* misses: file page, through a mapping */
	uint64_t file_call;	/* misses: file page, through read() */
	uint64_t first_touches; /* anonymous pages that began; no misses */
};

struct rs_opt_mark {
	uint32_t name; /* of RS_NAME_MARK */
	uint64_t op;   /* records before it, RS_OP_FILE not counted */
	struct rs_opt_counts counts;
};

struct rs_opt_result {
	struct rs_opt_counts end;
	uint64_t ops;		   /* records of the whole trace, RS_OP_FILE not counted */
	struct rs_opt_mark *marks; /* what MIN has missed up to each mark: minimal there, too */
	uint32_t nr_marks;
};

/* The number that no policy without read-ahead can get below. */
static inline uint64_t rs_opt_misses(const struct rs_opt_counts *c)
{
	return c->anon + c->file_mapped + c->file_call;
}

/*
 * Read the trace to its end. Takes 8 bytes of memory an access, and is limited to 2^31 of those.
 * The sum of misses is minimal; how it divides into kinds is one way of several.
 */
bool rs_opt_bound(struct rs_trace *, uint64_t capacity_pages, struct rs_opt_result *ret, GError **);
void rs_opt_result_clear(struct rs_opt_result *);

#endif
