/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * trace_internal.h - what the readers of both formats share.
 */
#ifndef TRACES_TRACE_INTERNAL_H
#define TRACES_TRACE_INTERNAL_H

#include "traces/digest.h"
#include "traces/input.h"
#include "traces/provenance.h"
#include "traces/state.h"

#define BATCH_RECORDS 65536u

struct text_reader;
struct native_reader;

struct rs_trace {
	struct input *in;
	struct trace_state state;
	struct digest digest;
	struct provenance provenance;
	uint32_t nr_head_provenance;
	struct text_reader *text; /* one of the two */
	struct native_reader *native;
	struct rs_record *records; /* BATCH_RECORDS of them */
	uint32_t nr_records;
	GArray *maps;	    /* struct rs_map of the batch */
	GArray *map_places; /* uint32_t: index of their records */
	uint64_t line;	    /* of records[0]: line or record number */
	uint64_t nr_skipped, first_skipped;
	char *hex; /* digest, once the end was met */
	bool failed;
};

/* Fill records, maps and line for the next batch: 1, 0 at the end, -1 on error. */
struct text_reader *text_open(struct rs_trace *, GError **);
int text_next(struct rs_trace *, GError **);
void text_free(struct text_reader *);

bool native_magic(const uint8_t *bytes, size_t n);
struct native_reader *native_open(struct rs_trace *, GError **);
int native_next(struct rs_trace *, GError **);
void native_free(struct native_reader *);

#endif
