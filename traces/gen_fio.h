/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gen_fio.h - a fio job file in memory, and the state of one of its jobs (internal).
 *
 * Meaning after fio 3.33 (its HOWTO and its behaviour). Directions: 0 read, 1 write, 2 trim; trim
 * is never done but its block size takes part in fio's minimum.
 */
#ifndef TRACES_GEN_FIO_H
#define TRACES_GEN_FIO_H

#include "traces/gen.h"
#include "traces/gen_fio_rand.h"

#define FIO_READ 0
#define FIO_WRITE 1
#define FIO_NR_DIRS 3
#define FIO_MAX_SPLITS 64
#define FIO_MAX_FILES 65536u		   /* of all jobs */
#define FIO_MAX_BLOCKS (UINT64_C(1) << 31) /* of a random map: 256 MiB of bits */
#define FIO_NONE UINT64_MAX
#define FIO_SEED UINT64_C(0xb1899bed)

/* ---- text (gen_fio_ini.c) ---- */

struct fio_line {
	char *key, *value; /* value NULL: an option without one */
	char *file;
	unsigned line;
};
struct fio_section {
	char *name;
	bool global;
	char *file;
	unsigned line;
	GPtrArray *lines; /* struct fio_line */
};
/* Sections in order, NULL after an error. Included files are read from disk. */
GPtrArray *fio_ini_read(struct gen *, const char *text, size_t size, const char *name);

/* ---- options (gen_fio_opts.c) ---- */

enum fio_engine { FIO_DESCRIPTOR, FIO_MMAP, FIO_NULL_ENGINE };
enum fio_service { FIO_ROUND_ROBIN, FIO_SEQUENTIAL, FIO_RANDOM_FILE, FIO_FILE_DIST };
enum fio_generator { FIO_TAUSWORTHE, FIO_TAUSWORTHE64, FIO_LFSR };

struct fio_split {
	uint64_t value; /* block size, or share of the accesses */
	uint64_t share; /* percent; zoned_abs: bytes */
};

struct fio_opts {
	char *name, *file; /* of the section; place for messages */
	unsigned line;

	bool dir[2], random, rw_identical;
	uint64_t every; /* rw=rand...:N, else 1 */
	int64_t hole;	/* rw=read:SIZE */
	uint64_t bs[FIO_NR_DIRS], min_bs[FIO_NR_DIRS], max_bs[FIO_NR_DIRS], align[FIO_NR_DIRS];
	struct fio_split bssplit[FIO_NR_DIRS][FIO_MAX_SPLITS];
	unsigned nr_bssplit[FIO_NR_DIRS];
	bool bs_unaligned, bs_is_seq_rand;
	uint64_t kb_base;

	uint64_t size, size_percent, io_size, io_size_percent, filesize_low, filesize_high;
	uint64_t offset, offset_percent, offset_align, increment, increment_percent;
	uint64_t number_ios, loops, numjobs;
	bool file_append;

	GPtrArray *directories, *filenames; /* char *; filenames with their directory */
	char *filename_format;
	uint64_t nr_files, open_files, opendir_set;
	enum fio_service service;
	enum fio_dist_kind service_kind;
	double service_value, service_center;
	uint64_t service_nr;

	bool randrepeat, randseed_set, allrandrepeat, norandommap, generator_set;
	uint64_t randseed;
	enum fio_generator generator;
	enum fio_dist_kind dist;
	double dist_value, dist_center;
	struct fio_split zones[FIO_NR_DIRS][FIO_MAX_SPLITS];
	unsigned nr_zones[FIO_NR_DIRS];
	uint64_t percent_random[FIO_NR_DIRS], rwmixread;

	enum fio_engine engine;
	bool async; /* the engine queues I/O */
	bool direct, invalidate, pre_read, overwrite, create_on_open, time_based, stonewall, thread;
	bool end_fsync, fsync_on_close, unlink;
	int fadvise; /* -1: by direction; 0 none; else enum rs_advice */
	uint64_t fsync, fdatasync;
	uint64_t runtime_us, startdelay_us, thinktime_us, thinktime_spin_us, thinktime_blocks;
	uint64_t rate[FIO_NR_DIRS], rate_iops[FIO_NR_DIRS], iodepth;
	char *wait_for;
};

void fio_opts_init(struct fio_opts *);
void fio_opts_copy(struct fio_opts *to, const struct fio_opts *from);
void fio_opts_done(struct fio_opts *);
/* Apply a section's lines. False: the generator has failed. */
bool fio_opts_apply(struct gen *, struct fio_opts *, const struct fio_section *);
/* Bytes as fio reads them; percent: "50%" gives the number and sets it. */
bool fio_bytes(struct gen *, const struct fio_line *, const char *text, uint64_t kb_base,
	       int64_t *ret, bool *percent);
void fio_fail(struct gen *, const struct fio_line *, const char *format, ...) G_GNUC_PRINTF(3, 4);

/* ---- option values that are lists (gen_fio_lists.c) ---- */
bool fio_parse_bssplit(struct gen *, struct fio_opts *, const struct fio_line *);
bool fio_parse_zones(struct gen *, struct fio_opts *, const struct fio_line *, const char *text);

/* ---- a job (gen_fio_job.c) ---- */

struct fio_file {
	char *name;
	uint32_t id, region;
	unsigned open_file, laps, opens;
	uint64_t real_size, io_size, offset;
	uint64_t last_pos[2], last_start[2];
	struct fio_map *map;
	struct fio_lfsr lfsr;
	bool has_lfsr;
	struct fio_dist dist;
	bool open, done;
};

struct fio_job {
	struct gen_task task;
	struct gen *g;
	struct fio_opts o;
	unsigned number, sub, group; /* thread_number from 1, subjob_number */
	struct fio_file *files;
	unsigned nr_files;

	/* random streams by use; fio seeds each apart */
	struct fio_rand block, mix, size[FIO_NR_DIRS], seq[FIO_NR_DIRS], next_file, zone, file_size;
	uint64_t seeds[20];
	struct fio_dist file_dist;

	uint64_t total_size; /* fio's size, cut to what the files hold */
	uint64_t seq_left, loops_left, nr_done, nr_open, round_bytes, round_ios;
	uint64_t mix_until;
	unsigned mix_dir, next;
	struct fio_file *current;
	uint64_t current_left;
	bool last_was_sync, started, finished, in_round;
	uint64_t issues[2], bytes[2];
	uint64_t thought; /* I/Os at the last thinktime */

	/* what it touches beside its files */
	uint32_t own_region, buffer; /* fio's own memory, the job's I/O buffer */
	uint64_t own_pages, buffer_pages, ios_since_touch;
	ns_t start, io_ns;
	struct gen_pages pages;
	uint64_t page_accesses;
};

enum fio_event { FIO_IO, FIO_SYNC, FIO_AGAIN, FIO_END };
struct fio_io {
	struct fio_file *file;
	unsigned dir;
	uint64_t offset, length;
};

/* Sizes and ranges of the files; sizes: name -> struct of the layout so far. */
bool fio_job_setup(struct fio_job *, GHashTable *sizes);
/* Differs from the file's offset once a percentage is of a file that has grown. */
uint64_t fio_start_offset(const struct fio_job *, const struct fio_file *);
void fio_job_seed(struct fio_job *);
enum fio_event fio_job_next(struct fio_job *, struct fio_io *);
void fio_job_done(struct fio_job *);
/* What a job does beside I/O, said to the sink (gen_fio.c). */
void fio_job_opened(struct fio_job *, struct fio_file *);
void fio_job_closed(struct fio_job *, struct fio_file *);
void fio_job_round_end(struct fio_job *);

/* gen_fio_offset.c */
void fio_file_reset(struct fio_file *);
/* Fill offset and length. False: this file has no more in this pass. */
bool fio_fill(struct fio_job *, struct fio_io *);
bool fio_init_distributions(struct fio_job *);

#endif
