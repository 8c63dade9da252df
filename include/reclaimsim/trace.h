/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * trace.h - what an access trace says, and how it is read and written.
 *
 * A trace is a sequence of records in program order of each thread. RS_OP_THREAD says whose
 * records follow; before the first one thread 0 of process 0 runs. Native format and trace text
 * carry the same things, one for one (traces/FORMAT.md).
 */
#ifndef RECLAIMSIM_TRACE_H
#define RECLAIMSIM_TRACE_H

#include <reclaimsim/types.h>

/*
 * The ids of regions, files and threads are dense numbers given by the reader in order of first
 * appearance (regions and threads: trace-wide; a region id may be mapped again after RS_OP_MUNMAP,
 * and a forked process has its own copy of its parent's). Names: rs_trace_name(). Processes are
 * numbered likewise; a thread or process that ended may begin anew under its number.
 */
enum rs_op {
	RS_OP_NONE,
	/* object = region, page.. page+count-1 in ascending order, one access each */
	RS_OP_LOAD,
	RS_OP_STORE,
	/* object = file, arg = open file (0 = the one every file has), page, count: one call */
	RS_OP_READ,
	RS_OP_WRITE,
	RS_OP_FILE, /* object = file, value = size in pages; arg & 1: not on disk yet */
	/* object = region, value = index into batch->maps, arg = open file that was mapped */
	RS_OP_MMAP,
	RS_OP_MUNMAP,	/* object = region, page, count: part of it; count 0 = all */
	RS_OP_MPROTECT, /* object = region, arg = enum rs_vm_flag R|W|X, page, count (0 = all) */
	RS_OP_MADVISE,	/* object = region, arg = enum rs_advice, page, count (0 = all) */
	RS_OP_MLOCK,	/* object = region, page, count (0 = all); arg 0 = munlock, 1 = mlock */
	RS_OP_FADVISE,	/* object = file, arg = RS_FADVISE_ARG(), page, count (0 = all) */
	RS_OP_FSYNC,	/* object = file */
	RS_OP_TRUNCATE, /* object = file, page = new size; page cache beyond it is dropped */
	RS_OP_MARK,	/* object = name number: a snapshot is taken here */
	/*
	 * object = thread that the following records belong to. If it is not alive it begins, in
	 * process arg, which begins with an empty address space if it is not alive; else arg = 0.
	 */
	RS_OP_THREAD,
	RS_OP_FORK, /* object = new thread of new process arg, a copy of the current one */
	RS_OP_EXEC, /* the current process gets an empty address space */
	RS_OP_EXIT, /* the current thread ends; the last one of a process frees the address space */
	RS_OP_MEMCG, /* object = name number of a group path: the current process moves there */
	RS_OP_CPU,   /* value = ns of computing */
	RS_OP_SLEEP, /* value = ns of sleeping */
	RS_OP_TIME,  /* value = ns since the start: the thread does not go on before */
	RS_OP_MBIND, /* object = region, arg = enum rs_mempolicy, value = bit mask of nodes */
	RS_OP_WAIT,  /* object = thread: the current one does not go on before that one ended */
	RS_OP_OPEN,  /* object = file, arg = open file, which starts afresh: no read-ahead state */
	RS_NR_OPS
};

enum rs_advice {
	RS_ADV_NORMAL,
	RS_ADV_RANDOM,
	RS_ADV_SEQUENTIAL,
	RS_ADV_WILLNEED,
	RS_ADV_DONTNEED,
	RS_ADV_FREE,
	RS_ADV_COLD,
	RS_ADV_PAGEOUT,
	RS_ADV_HUGEPAGE,
	RS_ADV_NOHUGEPAGE,
	RS_ADV_NOREUSE,
	RS_NR_ADVICE
};
/* Of RS_OP_FADVISE: the advice in the low 4 bits, the open file that it is for above them. */
#define RS_FADVISE_ARG(advice, handle) ((uint16_t)((advice) | (handle) << 4))
#define RS_FADVISE_ADVICE(arg) ((arg)&15u)
#define RS_FADVISE_HANDLE(arg) ((uint16_t)((arg) >> 4))
#define RS_MAX_HANDLE 4095u /* highest number of an open file that advice can be given for */
enum rs_mempolicy { RS_MPOL_DEFAULT, RS_MPOL_BIND, RS_MPOL_INTERLEAVE, RS_MPOL_PREFERRED };

/* One record, 16 bytes. value shares the place of page and count. */
struct rs_record {
	uint8_t op;
	uint8_t flags; /* reserved, 0 */
	uint16_t arg;
	uint32_t object;
	union {
		struct {
			uint32_t page, count;
		};
		uint64_t value;
	};
};
_Static_assert(sizeof(struct rs_record) == 16, "four records a cache line");

/* The mmap call of RS_OP_MMAP. */
#define RS_MAP_FILE_NONE UINT32_MAX
struct rs_map {
	uint32_t file; /* RS_MAP_FILE_NONE = anonymous */
	uint32_t prot; /* enum rs_vm_flag: VM_READ VM_WRITE VM_EXEC VM_SHARED VM_STACK */
	uint64_t pages, pgoff;
	uint64_t address; /* page number of a fixed place; 0 = where mmap puts it */
};

/* A run of records. Everything is valid until the next rs_trace_next() of the same trace. */
struct rs_batch {
	const struct rs_record *records;
	uint32_t nr_records;
	const struct rs_map *maps; /* all mappings of this batch */
	uint32_t nr_maps;
	uint64_t line; /* place for messages: line (text) or record number (native) of records[0] */
};

enum rs_name_kind {
	RS_NAME_REGION,
	RS_NAME_FILE,
	RS_NAME_MARK,
	RS_NAME_THREAD,
	RS_NAME_MEMCG,
	RS_NAME_PROCESS
};

/* enum rs_name_kind of a record's object; -1 = it has none. */
static inline int rs_record_object_kind(uint8_t op)
{
	switch (op) {
	case RS_OP_LOAD:
	case RS_OP_STORE:
	case RS_OP_MMAP:
	case RS_OP_MUNMAP:
	case RS_OP_MPROTECT:
	case RS_OP_MADVISE:
	case RS_OP_MLOCK:
	case RS_OP_MBIND:
		return RS_NAME_REGION;
	case RS_OP_READ:
	case RS_OP_WRITE:
	case RS_OP_FILE:
	case RS_OP_FADVISE:
	case RS_OP_FSYNC:
	case RS_OP_TRUNCATE:
	case RS_OP_OPEN:
		return RS_NAME_FILE;
	case RS_OP_MARK:
		return RS_NAME_MARK;
	case RS_OP_MEMCG:
		return RS_NAME_MEMCG;
	case RS_OP_THREAD:
	case RS_OP_FORK:
	case RS_OP_WAIT:
		return RS_NAME_THREAD;
	default:
		return -1;
	}
}

/* Reader. The format (native or text, zstd or not) is told from the content. */
struct rs_trace;
struct rs_trace *rs_trace_open(const char *path, GError **); /* "-" = standard input */
/* 1 = a batch, 0 = end, -1 = error. Lines or bytes that are no valid record are errors. */
int rs_trace_next(struct rs_trace *, struct rs_batch *ret, GError **);
/* Name of an object met so far; NULL if unknown. Owned by the trace. */
const char *rs_trace_name(const struct rs_trace *, enum rs_name_kind, uint32_t id);
/* SHA-256 over the records (hex); known after the last batch. NULL before. */
const char *rs_trace_digest(const struct rs_trace *);
/* Key and value of the header ("source", "command", ...) or NULL. */
const char *rs_trace_provenance(const struct rs_trace *, const char *key);
/* The i-th key in the order of the trace; NULL behind the last. */
const char *rs_trace_provenance_key(const struct rs_trace *, uint32_t i);
/* How many of the keys stand before the first record; known after the first batch. */
uint32_t rs_trace_nr_head_provenance(const struct rs_trace *);
bool rs_trace_is_native(const struct rs_trace *);
/* Accesses left out so far (FORMAT.md, "Pages"), and the line of the first; worth a warning. */
uint64_t rs_trace_nr_skipped(const struct rs_trace *, uint64_t *ret_first_line);
void rs_trace_free(struct rs_trace *); /* NULL is fine */

/*
 * Writer. Objects are named: the writer gives the numbers. Thread 0 and process 0 exist and are
 * named "0". Provenance set before the first record stands in the header, later one at the end.
 * Every record is checked as the readers do; arg of RS_OP_THREAD is ignored if the thread is
 * alive, and RS_OP_FILE if it makes a file no larger. The target appears (rename) only when
 * rs_trace_writer_close() succeeds; "-" is standard output.
 */
enum rs_trace_format { RS_TRACE_NATIVE, RS_TRACE_TEXT };
struct rs_trace_writer;
struct rs_trace_writer *rs_trace_create(const char *path, enum rs_trace_format, GError **);
void rs_trace_set_provenance(struct rs_trace_writer *, const char *key, const char *value);
/* Number of a name, made on first use. */
uint32_t rs_trace_intern(struct rs_trace_writer *, enum rs_name_kind, const char *name);
/* Append one record; map only for RS_OP_MMAP (value is filled in by the writer). */
bool rs_trace_put(struct rs_trace_writer *, const struct rs_record *, const struct rs_map *,
		  GError **);
bool rs_trace_writer_close(struct rs_trace_writer *, GError **); /* also frees it */
void rs_trace_writer_abort(struct rs_trace_writer *);		 /* removes what was written */

/*
 * Append the record as a line of trace text; map only for RS_OP_MMAP. begins: the thread of
 * RS_OP_THREAD was not alive. The numbers are those of the trace.
 */
void rs_record_print(GString *, const struct rs_trace *, const struct rs_record *,
		     const struct rs_map *, bool begins);
void rs_provenance_print(GString *, const char *key, const char *value);

/* Check a record against the machine's limits (ids in range, count > 0, no overflow). */
bool rs_record_check(const struct rs_record *, const struct rs_map *, GError **);

#endif
