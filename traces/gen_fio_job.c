/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gen_fio_job.c - one fio job: its files and their sizes, its seeds, its rounds over the files,
 * and which file is next. The offsets are in gen_fio_offset.c.
 *
 * A round ends when no file has anything left (or, if the engine queues I/O, when size bytes were
 * issued). If io_size or loops ask for more, the files are closed, the generators seeded again and
 * another round begins.
 */
#include "traces/gen_fio.h"

#include <string.h>

/* Where fio's list of seeds has what. */
enum seed {
	SEED_SIZE_READ,
	SEED_SIZE_WRITE,
	SEED_SIZE_TRIM,
	SEED_MIX = 4,
	SEED_FILE,
	SEED_BLOCK,
	SEED_FILE_SIZE,
	SEED_SEQ = 10,
	SEED_ZONE = 16,
	NR_SEEDS = 20
};

/* ---- seeds ---- */

static void seed_file_service(struct fio_job *j)
{
	uint64_t ranks = (uint64_t)j->nr_files << 10;

	if (j->o.service == FIO_RANDOM_FILE)
		fio_rand_init(&j->next_file, j->seeds[SEED_FILE],
			      j->o.generator == FIO_TAUSWORTHE64);
	if (j->o.service != FIO_FILE_DIST)
		return;
	fio_dist_init(&j->file_dist, j->o.service_kind, ranks, j->o.service_value,
		      j->o.service_center, (uint32_t)j->seeds[SEED_FILE]);
	j->file_dist.no_hash = true;
}

static void seed_streams(struct fio_job *j, bool repeat)
{
	bool use64 = j->o.generator == FIO_TAUSWORTHE64;

	if (j->o.allrandrepeat)
		for (unsigned i = 0; i < NR_SEEDS; i++)
			j->seeds[i] = FIO_SEED * j->number + i;
	for (unsigned d = 0; d < FIO_NR_DIRS; d++)
		fio_rand_init(&j->size[d], j->seeds[SEED_SIZE_READ + d], use64);
	fio_rand_init(&j->mix, j->seeds[SEED_MIX], false);
	seed_file_service(j);
	fio_rand_init(&j->file_size, j->seeds[SEED_FILE_SIZE], use64);
	fio_rand_init(&j->zone, j->seeds[SEED_ZONE], false);
	if (!j->o.random)
		return;
	if (repeat)
		j->seeds[SEED_BLOCK] = FIO_SEED * j->number;
	fio_rand_init(&j->block, j->seeds[SEED_BLOCK], use64);
	for (unsigned d = 0; d < FIO_NR_DIRS; d++)
		fio_rand_init(&j->seq[d], j->seeds[SEED_SEQ], false);
}

void fio_job_seed(struct fio_job *j)
{
	uint64_t seed = j->o.randseed;
	/* fio drops randrepeat when randseed is set, but only after the first job of a section. */
	bool repeat = j->o.randrepeat && !(j->o.randseed_set && j->sub);

	if (!repeat && !j->o.randseed_set) {
		struct rs_rng rng;
		g_autofree char *stream = g_strdup_printf("fio.job%u", j->number);

		rs_rng_init(&rng, j->g->seed, stream);
		for (unsigned i = 0; i < NR_SEEDS; i++)
			j->seeds[i] = rs_rng_next(&rng);
	} else {
		for (int i = 0; i < 4; i++)
			seed *= 0x9e370001u;
		for (unsigned i = 0; i < NR_SEEDS; i++) {
			j->seeds[i] = seed * j->number + i;
			seed *= 0x9e370001u;
		}
	}
	seed_streams(j, repeat);
	j->o.randrepeat = j->o.randrepeat && !j->o.randseed_set;
}

/* ---- options that follow from others ---- */

static bool job_fail(struct fio_job *j, const char *text)
{
	gen_fail(j->g, RS_ERROR_INPUT, "%s:%u: job \"%s\": %s", j->o.file, j->o.line, j->o.name,
		 text);
	return false;
}

static uint64_t least_bs(const struct fio_opts *o)
{
	return MIN(o->min_bs[0], MIN(o->min_bs[1], o->min_bs[2]));
}

static bool complete_options(struct fio_job *j)
{
	struct fio_opts *o = &j->o;
	bool aligned = true;

	for (unsigned d = 0; d < FIO_NR_DIRS; d++) {
		if (!o->min_bs[d])
			o->min_bs[d] = o->bs[d];
		if (!o->max_bs[d])
			o->max_bs[d] = o->bs[d];
		if (!o->align[d] || !o->random)
			o->align[d] = o->min_bs[d];
		if (!o->min_bs[d] || o->max_bs[d] > UINT64_C(1) << 33)
			return job_fail(j, "a block size of 0 or more than 8 GiB");
		aligned &= o->align[d] == o->min_bs[d];
	}
	/* A map has no use for blocks at other places, nor for blocks drawn unevenly. */
	if (!aligned || o->dist != FIO_DIST_RANDOM)
		o->norandommap = true;
	if (!o->open_files || o->open_files > j->nr_files)
		o->open_files = j->nr_files;
	if (o->time_based && !o->runtime_us)
		return job_fail(j, "time_based needs runtime=");
	if (!o->loops)
		o->loops = 1;
	if (o->dir[FIO_READ])
		o->overwrite = true;
	if (o->pre_read)
		o->invalidate = false;
	return true;
}

/* ---- sizes ---- */

uint64_t fio_start_offset(const struct fio_job *j, const struct fio_file *f)
{
	const struct fio_opts *o = &j->o;
	uint64_t increment = o->increment, offset = o->offset, unit;

	if (o->file_append)
		return f->real_size;
	if (o->increment_percent)
		increment = f->real_size / 100 * o->increment_percent +
			    f->real_size % 100 * o->increment_percent / 100;
	if (o->offset_percent)
		offset = f->real_size / 100 * o->offset_percent +
			 f->real_size % 100 * o->offset_percent / 100;
	offset += j->sub * increment;
	if (!o->increment_percent && !o->offset_percent)
		return offset;
	unit = o->offset_align ? o->offset_align : least_bs(o);
	return (offset + unit - 1) / unit * unit;
}

static uint64_t random_file_size(struct fio_job *j)
{
	uint64_t n =
		fio_rand_scaled(&j->file_size, (double)(j->o.filesize_high - j->o.filesize_low));

	n += j->o.filesize_low;
	return n - n % least_bs(&j->o);
}

/* The part of the file that I/O goes to: from offset, io_size bytes. */
static bool range_of_file(struct fio_job *j, struct fio_file *f, uint64_t share)
{
	const struct fio_opts *o = &j->o;
	uint64_t end;

	f->offset = fio_start_offset(j, f);
	if (!o->filesize_low && share) {
		f->io_size = share;
	} else {
		end = f->real_size;
		if (o->filesize_low && (end < o->filesize_low || end > o->filesize_high))
			end = o->filesize_low == o->filesize_high ? o->filesize_low
								  : random_file_size(j);
		if (f->offset > end)
			return job_fail(j, "offset= lies behind the end of the file");
		f->io_size = end - f->offset;
	}
	if (o->size_percent && o->size_percent != 100) {
		uint64_t whole = f->io_size + f->offset;

		f->io_size =
			MIN(whole / 100 * o->size_percent + whole % 100 * o->size_percent / 100,
			    whole - f->offset);
		f->io_size -= f->io_size % least_bs(o);
	}
	if (f->offset > GEN_MAX_PAGES * 4096 || f->io_size > GEN_MAX_PAGES * 4096)
		return job_fail(j, "a file of more than 4 TiB");
	return true;
}

bool fio_job_setup(struct fio_job *j, GHashTable *sizes)
{
	struct fio_opts *o = &j->o;
	uint64_t total = 0, share, extra = 0;
	bool any_size = o->size || o->filesize_low;

	if (!complete_options(j))
		return false;
	for (unsigned i = 0; i < j->nr_files; i++) {
		uint64_t *known = g_hash_table_lookup(sizes, j->files[i].name);

		j->files[i].real_size = known ? *known : 0;
		any_size |= j->files[i].real_size > 0;
	}
	if (!any_size)
		return job_fail(
			j, "size= (or filesize=) is needed, since no job makes the file before");
	share = o->size / j->nr_files;
	if (!o->filesize_low && share * j->nr_files < o->size)
		extra = (o->size - share * j->nr_files) / least_bs(o);
	for (unsigned i = 0; i < j->nr_files; i++) {
		struct fio_file *f = &j->files[i];
		uint64_t bytes;

		if (!range_of_file(j, f, share + (extra ? least_bs(o) : 0)))
			return false;
		extra -= extra > 0;
		bytes = f->io_size;
		if (o->io_size_percent && o->io_size_percent != 100)
			bytes = bytes / 100 * o->io_size_percent;
		total += bytes;
		f->real_size = MAX(f->real_size, f->offset + f->io_size);
		g_hash_table_insert(sizes, g_strdup(f->name), g_memdup2(&f->real_size, 8));
	}
	j->total_size = !o->size || o->size > total ? total : o->size;
	if (j->total_size < least_bs(o))
		return job_fail(j, "the block size is larger than the data");
	if (!fio_init_distributions(j))
		return false;
	j->loops_left = o->loops;
	j->seq_left = 1;
	return true;
}

void fio_job_done(struct fio_job *j)
{
	for (unsigned i = 0; i < j->nr_files; i++) {
		g_free(j->files[i].name);
		fio_map_free(j->files[i].map);
	}
	g_free(j->files);
	fio_opts_done(&j->o);
	if (j->pages.chunks)
		gen_pages_done(&j->pages);
}

/* ---- rounds ---- */

static uint64_t byte_limit(const struct fio_job *j)
{
	return j->o.io_size ? j->o.io_size : j->total_size;
}

static bool ios_exceeded(const struct fio_job *j)
{
	return j->o.number_ios && j->issues[0] + j->issues[1] >= j->o.number_ios * j->o.loops;
}

static bool bytes_exceeded(const struct fio_job *j)
{
	return j->bytes[0] + j->bytes[1] >= byte_limit(j) * j->o.loops || ios_exceeded(j);
}

static bool all_done(const struct fio_job *j)
{
	for (unsigned i = 0; i < j->nr_files; i++)
		if (!j->files[i].done)
			return false;
	return true;
}

static bool another_round(struct fio_job *j)
{
	uint64_t done = j->bytes[0] + j->bytes[1];
	uint64_t largest = MAX(j->o.max_bs[0], MAX(j->o.max_bs[1], j->o.max_bs[2]));

	if (j->finished)
		return false;
	if (j->o.time_based)
		return true;
	if (j->loops_left) {
		j->loops_left--;
		return true;
	}
	if (ios_exceeded(j) || done >= byte_limit(j) || byte_limit(j) - done < largest)
		return false;
	return !all_done(j) || j->o.io_size;
}

static void close_file(struct fio_job *j, struct fio_file *f)
{
	if (!f->open)
		return;
	f->open = false;
	j->nr_open--;
	fio_job_closed(j, f);
}

static void begin_round(struct fio_job *j)
{
	j->in_round = true;
	j->round_bytes = j->round_ios = 0;
	if (!j->started) {
		j->started = true;
		return;
	}
	j->last_was_sync = false;
	j->mix_until = 0;
	j->nr_done = 0;
	for (unsigned i = 0; i < j->nr_files; i++) {
		close_file(j, &j->files[i]);
		j->files[i].done = false;
		j->files[i].offset = fio_start_offset(j, &j->files[i]);
	}
	if (j->o.randrepeat)
		seed_streams(j, true);
}

static void end_round(struct fio_job *j)
{
	j->in_round = false;
	fio_job_round_end(j);
	if (!j->round_ios)
		j->finished = true;
}

/* Engines that do I/O at once end a round only where the files end. */
static bool round_over(const struct fio_job *j)
{
	uint64_t total = j->o.async ? j->total_size : UINT64_MAX;

	if (j->o.dir[FIO_WRITE] && j->o.random && j->o.norandommap)
		total = MAX(total, j->o.io_size);
	return !j->o.time_based && (bytes_exceeded(j) || j->round_bytes >= total);
}

/* ---- the next file ---- */

static bool usable(struct fio_job *j, struct fio_file *f)
{
	if (f->done)
		return false;
	if (f->open)
		return true;
	if (j->nr_open >= j->o.open_files)
		return false;
	f->open = true;
	j->nr_open++;
	fio_file_reset(f);
	fio_job_opened(j, f);
	return true;
}

static struct fio_file *next_in_turn(struct fio_job *j)
{
	for (unsigned i = 0; i < j->nr_files; i++) {
		struct fio_file *f = &j->files[j->next];

		j->next = (j->next + 1) % j->nr_files;
		if (usable(j, f))
			return f;
	}
	return NULL;
}

static struct fio_file *next_at_random(struct fio_job *j)
{
	/* A drawn file that is done, or may not be opened yet, is drawn again. */
	for (unsigned tries = 0; tries < 1000000; tries++) {
		uint64_t n = j->o.service == FIO_RANDOM_FILE
				     ? fio_rand_scaled(&j->next_file, j->nr_files)
				     : fio_dist_next(&j->file_dist) >> 10;

		if (n < j->nr_files && usable(j, &j->files[n]))
			return &j->files[n];
	}
	return next_in_turn(j);
}

static struct fio_file *next_file(struct fio_job *j)
{
	struct fio_file *f = j->current;

	if (j->nr_done >= j->nr_files)
		return NULL;
	if (f && f->open) {
		if (j->o.service == FIO_SEQUENTIAL)
			return f;
		if (j->current_left) {
			j->current_left--;
			return f;
		}
	}
	f = j->o.service == FIO_ROUND_ROBIN || j->o.service == FIO_SEQUENTIAL ? next_in_turn(j)
									      : next_at_random(j);
	j->current = f;
	j->current_left = j->o.service_nr ? j->o.service_nr - 1 : 0;
	return f;
}

/* A file and a place in it. False: no file has any left. */
static bool next_place(struct fio_job *j, struct fio_io *io)
{
	while ((io->file = next_file(j))) {
		if (fio_fill(j, io))
			return true;
		close_file(j, io->file);
		if (j->o.service == FIO_FILE_DIST) {
			fio_file_reset(io->file);
		} else {
			io->file->done = true;
			j->nr_done++;
		}
	}
	return false;
}

static enum fio_event account(struct fio_job *j, const struct fio_io *io)
{
	if (io->dir > FIO_WRITE) {
		j->last_was_sync = true;
		return FIO_SYNC;
	}
	j->last_was_sync = false;
	io->file->last_start[io->dir] = io->offset;
	io->file->last_pos[io->dir] = io->offset + io->length;
	j->issues[io->dir]++;
	j->bytes[io->dir] += io->length;
	j->round_bytes += io->length;
	j->round_ios++;
	return FIO_IO;
}

enum fio_event fio_job_next(struct fio_job *j, struct fio_io *io)
{
	while (!j->finished) {
		if (!j->in_round) {
			if (!another_round(j))
				break;
			begin_round(j);
		}
		if (j->o.runtime_us && j->task.now - j->start >= j->o.runtime_us * 1000) {
			j->finished = true;
			end_round(j);
			break;
		}
		if (!round_over(j) && next_place(j, io))
			return account(j, io);
		end_round(j);
	}
	for (unsigned i = 0; i < j->nr_files; i++)
		close_file(j, &j->files[i]);
	return FIO_END;
}
