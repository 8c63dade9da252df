/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * record.h - limits of the values in records, and which fields a record type uses.
 */
#ifndef TRACES_RECORD_H
#define TRACES_RECORD_H

#include <reclaimsim/trace.h>

#define TRACE_MAX_PAGES UINT32_MAX		/* pages of one object: 16 TiB */
#define TRACE_MAX_OBJECTS (UINT32_C(1) << 30)	/* of one kind */
#define TRACE_MAX_NS (UINT64_C(1) << 60)	/* 36 years */
#define TRACE_MAX_PROCESSES (UINT32_C(1) << 16) /* numbers fit into rs_record.arg */
#define TRACE_MAX_SEGMENTS 65536u		/* pieces of one region, as vm.max_map_count */

/* Whether the record's union holds page and count (true) or one 64-bit value. */
static inline bool record_has_pages(uint8_t op)
{
	switch (op) {
	case RS_OP_LOAD:
	case RS_OP_STORE:
	case RS_OP_READ:
	case RS_OP_WRITE:
	case RS_OP_MUNMAP:
	case RS_OP_MPROTECT:
	case RS_OP_MADVISE:
	case RS_OP_MLOCK:
	case RS_OP_FADVISE:
	case RS_OP_TRUNCATE:
		return true;
	default:
		return false;
	}
}

/* Whether the record has the 64-bit value (RS_OP_MMAP's is an index and is not kept). */
static inline bool record_has_value(uint8_t op)
{
	return op == RS_OP_FILE || op == RS_OP_CPU || op == RS_OP_SLEEP || op == RS_OP_TIME ||
	       op == RS_OP_MBIND;
}

#endif
