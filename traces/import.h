/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * import.h - turning the records of other tools into a trace (internal).
 *
 * An importer is a const struct rs_importer: it takes one line (or one binary record) at a time,
 * counts it and calls the sink below, which knows about threads, files and address spaces and
 * makes trace records of what it is told. The driver (import.c) reads, decompresses, splits,
 * detects the format, counts what is malformed and prints the summary.
 *
 * Records that name files pass through a spool (a temporary file), because a file's size must stand
 * before its first use and is known only at the end; address traces go straight to the writer.
 */
#ifndef TRACES_IMPORT_H
#define TRACES_IMPORT_H

#include <jansson.h>

#include <reclaimsim/import.h>
#include <reclaimsim/policy.h>
#include <reclaimsim/trace.h>

#define IMPORT_MAX_LINE (1u << 20)    /* bytes; longer lines are malformed */
#define IMPORT_MAX_LISTED 20u	      /* malformed lines that are shown */
#define IMPORT_MAX_REGIONS (1u << 19) /* of 2 MiB: 1 TiB of touched address space */
#define IMPORT_MAX_FILES (1u << 20)
#define IMPORT_MAX_PROCESSES 65535u /* RS_OP_THREAD has 16 bits for them */
#define IMPORT_MAX_THREADS (1u << 20)
#define IMPORT_MAX_IO (4ull << 30)	       /* bytes of one call: Linux does 2 GiB at most */
#define IMPORT_MAX_PAGE ((uint64_t)UINT32_MAX) /* of a file: records have 32 bits for it */
#define IMPORT_MAX_ADDRESS (1ull << 47)	       /* user half of x86-64 */
#define IMPORT_MAX_NS (1ull << 60)	       /* of a trace */

struct import;

struct rs_importer {
	const char *name, *summary;
	const char *valid;     /* what a good line looks like, for messages */
	const char *time_unit; /* NULL: the format has no time */
	bool number_time;      /* first_time and last_time are integers in the summary */
	bool hash_comments;    /* lines that begin with # are comments */
	bool direct;	       /* no files: records go straight to the writer */
	size_t priv_size;

	/* How sure the first bytes (cut anywhere) look like this format: 0 not at all .. 100. */
	unsigned (*probe)(const char *head, size_t n);
	bool (*begin)(struct import *, GError **); /* may be NULL */
	/* One line without its end. False: malformed, im->why says how. */
	bool (*line)(struct import *, const char *s, size_t n);
	/* Or binary: bytes used of n, 0 = more are needed (at the end: left over). */
	size_t (*record)(struct import *, const uint8_t *p, size_t n);
	void (*input_end)(struct import *); /* after each input file; may be NULL */
	void (*report)(struct import *, json_t *summary);
	void (*end)(struct import *); /* frees what hangs on priv; may be NULL */
};

/* ---- counts that most formats share; names as in the summary ---- */
struct import_counts {
	uint64_t records, reads, writes, bytes_read, bytes_written, page_accesses, zero_length;
	uint64_t highest_byte, header_lines, comment_lines, blank_lines, other_lines;
	uint64_t malformed, malformed_lines[IMPORT_MAX_LISTED];
	uint64_t time_goes_back, left_over_bytes;
};

#define IMPORT_TIME_TEXT 48
struct import_clock {
	char first[IMPORT_TIME_TEXT], last[IMPORT_TIME_TEXT]; /* as written */
	uint64_t base, now, greatest, last_ns;		      /* ns; last_ns as given */
	bool any;					      /* the format gave a time */
	bool running; /* now is meant: RS_OP_TIME records are made */
};

/* Distinct (space, page) pairs; see import_pageset.c. */
struct pageset {
	struct pageset_part {
		struct pageset_word *words;
		uint32_t slots, used;
	} parts[64];
	uint64_t pages;
	bool full; /* the cap was hit: pages is a lower bound */
};

/* 2 MiB of an address space that was touched. */
struct import_chunk {
	uint64_t key; /* space << 43 | address >> 21 */
	uint32_t region;
	bool special; /* not representable: counted, no records */
	uint64_t touched[8], data[8];
};

struct import_file {
	const char *name; /* owned by the table of names */
	uint64_t pages;
	uint32_t id;  /* number at the writer */
	uint32_t key; /* number in the page set */
	bool created, used;
	bool resized; /* it was made or truncated by the trace; now is its size */
	uint64_t now;
};
/*
 * What is known at the end of the input only, put in by import_sink_finish():
 *  - RS_OP_FADVISE with this advice: the open file's hint (import_hint()); RS_OP_MADVISE: that of
 *    file "page", open file "count";
 *  - RS_OP_MMAP of a file with 0 pages: all of the file.
 */
#define IMPORT_ADV_HINT 15u

struct import_thread {
	uint32_t id;
	uint16_t process;
	uint32_t space;
};

struct import_skip {
	const char *reason; /* a literal */
	uint64_t count;
};

struct import {
	const struct rs_importer *ops;
	void *priv;
	struct import_counts c;
	struct import_clock clock;
	const char *why;  /* of the last malformed line */
	GError *error;	  /* sticky: nothing goes on after it */
	const char *path; /* input being read, for messages */
	uint32_t input;	  /* its number, from 0 */
	uint64_t line_no, byte_no;
	GString *listed; /* the first malformed lines, for people */
	struct import_skip skips[16];
	unsigned nr_skips;
	GHashTable *with; /* --with KEY=VALUE */

	/* sink */
	struct rs_trace_writer *out;
	struct import_spool *spool;
	GPtrArray *spools;	/* one an input */
	GHashTable *file_names; /* name -> index + 1 */
	GArray *files;		/* struct import_file */
	GHashTable *hints;	/* file id << 12 | open file -> enum rs_advice + 1 */
	GHashTable *thread_keys, *process_keys;
	GArray *threads; /* struct import_thread */
	uint32_t nr_processes, thread;
	uint64_t thread_pid, thread_tid;
	bool have_thread, time_due;
	uint16_t open_file; /* of import_io(): which open of the file */
	bool one_spool;	    /* inputs follow one another instead of being merged */
	bool mark;	    /* import_io_record() marks what it makes ... */
	bool drop_marked;   /* ... and finish() leaves marked records out: better ones were found */
	uint64_t time_written;
	struct pageset pages;
	struct import_chunk *chunks;
	uint32_t nr_chunks, cap_chunks;
	uint32_t *chunk_index, chunk_slots;
	uint32_t chunk_cache[64];
	uint32_t nr_regions;
};

/* ---- sink (import_sink.c) ---- */
bool import_sink_open(struct import *, struct rs_trace_writer *);
void import_sink_next_input(struct import *); /* before each input */
bool import_sink_finish(struct import *);     /* spools -> writer */
void import_sink_free(struct import *);

/* Number of a file, made on first use; UINT32_MAX after an error. */
uint32_t import_file(struct import *, const char *name, size_t len);
static inline struct import_file *import_file_at(const struct import *im, uint32_t i)
{
	return &g_array_index(im->files, struct import_file, i);
}
/* Who does what follows. Keys are the recorder's numbers (pid, tid). */
void import_thread(struct import *, uint64_t pid, uint64_t tid);
uint32_t import_space(const struct import *); /* address space of the current thread */
/* The current thread's process forks; pid and tid are the child's. */
void import_fork(struct import *, uint64_t pid, uint64_t tid);
void import_exit(struct import *);			       /* of the current thread */
void import_wait(struct import *, uint64_t pid, uint64_t tid); /* the current one, for that one */
/* Any record of the current thread; map for RS_OP_MMAP. */
void import_put(struct import *, const struct rs_record *, const struct rs_map *);
void import_put_timed(struct import *, const struct rs_record *, const struct rs_map *);
uint32_t import_region(struct import *); /* number of a new region */

/* What IMPORT_ADV_HINT becomes for this open file; NORMAL if nothing was said. */
void import_hint(struct import *, uint32_t file, uint16_t handle, enum rs_advice);

/* A read or write through a descriptor: counted and recorded. False: malformed, why is set. */
bool import_io(struct import *, uint32_t file, bool write, uint64_t offset, uint64_t length);
/* The two halves of it: counted only, recorded only. */
bool import_io_count(struct import *, uint32_t file, bool write, uint64_t offset, uint64_t length);
void import_io_record(struct import *, uint32_t file, bool write, uint64_t offset, uint64_t length);
/* The file has at least so many pages; write: because this call makes them. */
void import_file_reaches(struct import *, uint32_t file, uint64_t pages, bool write);
void import_truncate(struct import *, uint32_t file, uint64_t bytes);
/* A range whose cached pages die (discard, trim). */
void import_discard(struct import *, uint32_t file, uint64_t offset, uint64_t length);

enum import_touch { TOUCH_READ, TOUCH_WRITE, TOUCH_EXEC };
/* An access to memory of the current thread's space. False: malformed. */
bool import_touch(struct import *, uint64_t address, uint64_t length, enum import_touch kind);
/* Distinct pages over all chunks; data: without those only executed. */
uint64_t import_touched_pages(const struct import *, bool data);

/* ---- time and counts (import.c) ---- */
/* Time stamp of the record: text as written and value in ns. */
void import_time(struct import *, const char *text, size_t n, uint64_t ns);
/* Formats without stamps that say how long was waited: time of what follows, ns from the start. */
void import_time_at(struct import *, uint64_t ns);
void import_skip(struct import *, const char *literal_reason);
const char *import_with(const struct import *, const char *key); /* NULL if not given */
/* A whole number up to max; def if it is not given. */
bool import_with_number(const struct import *, const char *key, uint64_t def, uint64_t max,
			uint64_t *ret, GError **);
static inline bool import_bad(struct import *im, const char *why)
{
	im->why = why;
	return false;
}

/* ---- page set (import_pageset.c) ---- */
void pageset_add(struct pageset *, uint32_t space, uint64_t page, uint64_t count);
void pageset_clear(struct pageset *);

/* ---- counting by name (import_tally.c): small tables of strings, sorted in the summary ---- */
struct tally; /* name -> count */
struct tally *tally_new(void);
void tally_free(struct tally *);
uint64_t *tally_at(struct tally *, const char *name, size_t n); /* the count; made on first use */
unsigned tally_size(const struct tally *);
json_t *tally_object(const struct tally *); /* {"name": count} */
json_t *tally_array(const struct tally *);  /* ["name", ...] */

/* ---- input (import_input.c) ---- */
struct import_input;
struct import_input *import_open(const char *path,
				 GError **); /* "-" = standard input; decompresses */
struct import_input *import_memory(const void *data, size_t n); /* as it is */
/* Up to n bytes, fewer only at the end; -1 = error. */
ssize_t import_read(struct import_input *, void *buffer, size_t n, GError **);
void import_close(struct import_input *);

/* ---- the whole thing (import.c) ---- */
extern const struct rs_importer *const rs_importers[]; /* ends with NULL */
const struct rs_importer *rs_importer_find(const char *name);

#endif
