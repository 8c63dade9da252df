/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * import_strace.h - processes, descriptors and mappings as an strace log tells them (internal).
 *
 *   import_strace.c       lines: split, put together what was interrupted, count
 *   import_strace_call.c  system calls and what they change
 *   import_strace_file.c  descriptors, paths, sizes
 *   import_strace_mm.c    address spaces
 *   import_strace_touch.c the model of what of them is touched when they are made,
 *   import_strace_work.c  and while the program works
 *
 * What a log does not say is modelled (docs of each part); --with touched=FILE ("PAGES RESIDENT
 * RANGES PATH" a line, as mincore() tells after a run) replaces the guess which pages of mapped
 * files are used.
 */
#ifndef TRACES_IMPORT_STRACE_H
#define TRACES_IMPORT_STRACE_H

#include <string.h>

#include "traces/import_objects.h"

#define STRACE_MAX_ARGS 10u
#define STRACE_MAX_FDS 65536u
#define STRACE_MAX_TASKS 65536u
#define STRACE_MAX_PENDING (64u << 20) /* bytes of interrupted calls, in all */
#define STRACE_NO_FILE UINT32_MAX

/* One finished call. Arguments point into the line (or the joined text of two). */
struct scall {
	const char *name;
	size_t name_n;
	const char *arg[STRACE_MAX_ARGS], *arg_end[STRACE_MAX_ARGS];
	unsigned nr_args;
	bool failed, unknown; /* -1, ? */
	uint64_t result;
	const char *path, *path_end; /* of "= 3</path>" (-y), or NULL */
};

struct svma {
	uint64_t start, end; /* pages */
	uint64_t base;	     /* page of the region's page 0 */
	uint64_t pgoff;	     /* file page at base */
	uint32_t region, file;
	struct sofd *ofd; /* what was mapped; NULL: anonymous */
	uint8_t prot;
	bool shared, untouched; /* untouched: the model has yet to touch it */
};

struct smm {
	unsigned refs;
	uint64_t leader; /* pid that the trace's process is named after */
	bool begun;	 /* the trace has the process */
	unsigned nr_threads;
	GArray *vmas; /* by address */
	bool some_untouched;
	/* import_strace_work.c: what it works on, made anew when the mappings changed */
	bool work_stale;
	GArray *text, *anon;
	uint64_t anon_pages, random;
	uint64_t brk_start, brk; /* bytes; 0 = not known */
};

/* Open file description: what dup() and fork() share. */
struct sofd {
	unsigned refs;
	uint32_t file; /* STRACE_NO_FILE: a pipe, a socket, a device, /proc, ... */
	uint64_t offset;
	uint16_t number; /* rs_record.arg: one a description */
	bool append, direct;
	bool stale; /* its number belonged to another one, and the trace does not know */
	struct strace *st;
};

struct sfd {
	struct sofd *ofd;
	bool cloexec;
};

struct sfds {
	unsigned refs;
	GHashTable *table; /* fd -> struct sfd */
};

struct stask {
	uint64_t pid;
	struct smm *mm;
	struct sfds *fds;
	char *cwd;	  /* NULL = not known */
	GString *pending; /* text of an interrupted call up to <unfinished ...> */
	bool pending_fork, has_child, vforked, begun, exited;
	uint64_t parent; /* pid */
	uint64_t child;	 /* that began before the call that made it returned */
	uint64_t fork_flags;
};

struct sfile {
	uint64_t size; /* bytes, when a stat call said so */
	bool known;
	unsigned nr_maps;
	unsigned nr_numbers;  /* of open files, given out so far */
	GArray *free_numbers; /* uint16_t, of those that were closed; NULL = none */
};

struct strace {
	GHashTable *tasks;     /* pid -> struct stask */
	struct objects opened; /* distinct paths */
	struct tally *by_name, *failed;
	uint64_t lines, calls, execs, opens, mmaps, mmap_file, mmap_anon, mmap_file_pages;
	uint64_t mmap_anon_pages, bytes_read, bytes_written, forks, exits, signals, unfinished;
	uint64_t resumed, resumed_without_begin, never_resumed, joined;
	uint64_t pending_bytes;
	struct objects pids;
	GHashTable *adopted;  /* children that ran before their fork returned */
	GHashTable *ended;    /* whose RS_OP_EXIT was written and who were not waited for */
	GString *held, *text; /* a line cut by an attach message; a call put together */
	uint64_t default_pid;
	uint64_t main_pid; /* what lines without a pid turn out to be, on stderr; 0 = not known */
	GHashTable *attached;		  /* pids of "strace: Process N attached" */
	uint64_t day_ns, last_ns, sum_ns; /* midnight; -r */
	bool have_last, no_time;
	/* files */
	GHashTable *paths;   /* canonical path -> file number + 1 */
	GArray *files;	     /* struct sfile */
	GHashTable *touched; /* path -> GArray of page ranges; NULL without --with touched */
	uint32_t renamed;    /* files that were made under a name that was taken */
	/* regions */
	GArray *region_refs, *free_regions;
};

static inline struct sfile *strace_file(struct strace *st, uint32_t i)
{
	if (i >= st->files->len)
		g_array_set_size(st->files, i + 1);
	return &g_array_index(st->files, struct sfile, i);
}

/* ---- import_strace.c ---- */
struct stask *strace_task(struct import *, uint64_t pid);
static inline bool scall_is(const struct scall *c, const char *name)
{
	return strlen(name) == c->name_n && !memcmp(c->name, name, c->name_n);
}
bool scall_number(const struct scall *, unsigned i, uint64_t *ret);
bool scall_has(const struct scall *, unsigned i, const char *word); /* FLAG in A|B|C */

/* ---- import_strace_call.c ---- */
void strace_call(struct import *, struct stask *, const struct scall *);
void strace_exit(struct import *, struct stask *);
void strace_fork(struct import *, struct stask *parent, struct stask *child, uint64_t flags);
uint64_t strace_fork_flags(const struct scall *);
/* The record's thread is the task; false if the trace does not have it (vfork before exec). */
bool strace_switch(struct import *, struct stask *);
#define S_CLONE_VM 1u
#define S_CLONE_FILES 2u
#define S_CLONE_THREAD 4u
#define S_CLONE_VFORK 8u

/* ---- import_strace_file.c ---- */
void strace_files_call(struct import *, struct stask *, const struct scall *);
uint32_t strace_path_file(struct import *, const struct stask *, const char *path, size_t n);
struct sofd *strace_fd(struct import *, const struct stask *, const struct scall *, unsigned arg);
/* A new open file description, without a reference. */
struct sofd *strace_ofd_new(struct import *, uint32_t file);
void strace_ofd_put(struct sofd *);
/* rs_record.arg of what is done through it. The trace's thread is the task's. */
uint16_t strace_ofd_number(struct import *, struct sofd *);
void strace_fds_exec(struct sfds *);
struct sfds *strace_fds_new(void);
struct sfds *strace_fds_copy(const struct sfds *);
void strace_fds_put(struct sfds *);
/* The string of an argument, escapes undone; NULL if it is none. g_free(). */
char *strace_string(const struct scall *, unsigned arg, size_t *n);

/* ---- import_strace_touch.c ---- */
bool strace_read_touched(struct import *, const char *path, GError **);
/* What a program uses of its mappings that were not touched so far. */
void strace_touch(struct import *, struct stask *);

/* Pages from..to of a mapping, counted and recorded. */
void strace_touch_pages(struct import *, const struct svma *, uint64_t from, uint64_t to,
			bool store);
/* The pages of first..last (of the file) that are listed as touched; NULL: nothing is known. */
const GArray *strace_listed(const struct strace *, const char *name);
/* A program as it is listed: names may be links, which the log does not resolve. NULL: not listed.
 */
const char *strace_listed_program(const struct strace *, const char *path, uint64_t *ret_pages);
struct srange {
	uint32_t first, last;
};

/* ---- import_strace_work.c ---- */
#define STRACE_WORK_PER_PAGE 3u
#define STRACE_WORK_PER_CALL 4u
/* So many steps of work: a code page and a page of its own memory each. */
void strace_work(struct import *, struct stask *, unsigned steps);
void strace_work_done(struct smm *);

/* ---- import_strace_mm.c ---- */
void strace_mm_call(struct import *, struct stask *, const struct scall *);
struct smm *strace_mm_new(uint64_t leader);
struct smm *strace_mm_copy(struct strace *, const struct smm *, uint64_t leader);
void strace_mm_put(struct strace *, struct smm *);
void strace_mm_clear(struct strace *, struct smm *);
/* A fresh address space of a program: its file, the dynamic linker, a stack. */
void strace_mm_exec(struct import *, struct stask *, uint32_t file);

#endif
