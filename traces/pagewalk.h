/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pagewalk.h - which page of memory each access of a trace means, by a dense number.
 *
 * A file page has one number however it is reached. An anonymous page gets one when it is first
 * stored to, shares it with a forked child, and loses it when it is discarded. A private mapping
 * means the file's pages until it stores to them.
 */
#ifndef TRACES_PAGEWALK_H
#define TRACES_PAGEWALK_H

#include "traces/pagemap.h"

#include <reclaimsim/trace.h>

#define PAGEWALK_MAX_PAGES (UINT32_C(1) << 29)

enum touch {
	TOUCH_ANON,	   /* content is in memory or in swap */
	TOUCH_FILE_MAPPED, /* content is in memory or in the file */
	TOUCH_FILE_CALL,
	TOUCH_FIRST, /* an anonymous page begins: nothing is read */
	TOUCH_WRITE, /* a whole page of a file is overwritten: nothing is read */
	NR_TOUCHES
};

struct pagewalk {
	struct pagemap map;
	uint32_t nr_pages;
	uint64_t nr_zero_loads; /* loads of anonymous pages nobody stored to */
	uint32_t nr_anon_objects;
	GArray *file_pages;   /* size of each file, for truncate */
	GPtrArray *processes; /* GHashTable of mappings by region; NULL = not alive */
	GArray *threads;      /* process of each thread */
	GArray *nr_threads;   /* of each process */
	uint32_t thread;
	GHashTable *current;
	uint32_t last_region; /* and its mapping: mostly met again */
	struct mapping *last;
	/* Called for each page of an access, in order. */
	void (*touch)(void *arg, uint32_t page, enum touch);
	void (*discard)(void *arg,
			uint32_t page); /* the number will not be touched again; may be NULL */
	void *arg;
};

void pagewalk_init(struct pagewalk *, void (*touch)(void *, uint32_t, enum touch),
		   void (*discard)(void *, uint32_t), void *arg);
/* The record must be valid (come from a reader). False: too many pages. */
bool pagewalk_record(struct pagewalk *, const struct rs_record *, const struct rs_map *maps);
void pagewalk_done(struct pagewalk *);

#endif
