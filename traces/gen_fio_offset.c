/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gen_fio_offset.c - direction, offset and length of the next I/O of a fio job in a given file.
 */
#include "traces/gen_fio.h"

#define DIR_SYNC 3u

void fio_file_reset(struct fio_file *f)
{
	for (unsigned d = 0; d < 2; d++) {
		f->last_pos[d] = f->offset;
		f->last_start[d] = FIO_NONE;
	}
	if (f->map)
		fio_map_reset(f->map);
	else if (f->has_lfsr)
		fio_lfsr_reset(&f->lfsr);
}

/* ---- set-up: distributions and maps ---- */

static bool set_up_map(struct fio_job *j, struct fio_file *f, uint64_t blocks)
{
	if (blocks > FIO_MAX_BLOCKS && !j->o.norandommap) {
		gen_fail(j->g, RS_ERROR_INPUT,
			 "%s:%u: job \"%s\": a random map of more than 2^31 blocks; use "
			 "norandommap, a larger "
			 "bs or a smaller size",
			 j->o.file, j->o.line, j->o.name);
		return false;
	}
	if (blocks > UINT32_MAX && !j->o.generator_set)
		j->o.generator = FIO_TAUSWORTHE64;
	if (j->o.generator == FIO_LFSR) {
		f->has_lfsr = fio_lfsr_init(&f->lfsr, blocks, j->seeds[6]);
		if (!f->has_lfsr)
			gen_fail(j->g, RS_ERROR_INPUT,
				 "%s:%u: job \"%s\": random_generator=lfsr cannot do "
				 "%" G_GUINT64_FORMAT " blocks with this seed",
				 j->o.file, j->o.line, j->o.name, blocks);
		return f->has_lfsr;
	}
	if (!j->o.norandommap) {
		if (!gen_reserve(j->g, blocks / 8))
			return false;
		f->map = fio_map_new(blocks);
	}
	return true;
}

bool fio_init_distributions(struct fio_job *j)
{
	const struct fio_opts *o = &j->o;
	uint64_t unit = MIN(o->min_bs[FIO_READ], o->min_bs[FIO_WRITE]);
	uint64_t least = MIN(unit, o->min_bs[2]);

	if (!o->random)
		return true;
	for (unsigned i = 0; i < j->nr_files; i++) {
		struct fio_file *f = &j->files[i];
		uint64_t size = MIN(f->real_size, f->io_size);
		uint32_t seed =
			o->randrepeat ? fio_name_hash(f->name) * j->number : (uint32_t)j->seeds[6];

		if (o->dist == FIO_DIST_RANDOM || o->dist >= FIO_DIST_ZONED) {
			if (!set_up_map(j, f, size / least))
				return false;
		} else if (size) {
			fio_dist_init(&f->dist, o->dist, (size + unit - 1) / unit, o->dist_value,
				      o->dist_center, seed);
		}
	}
	return true;
}

/* ---- random blocks ---- */

/* Blocks that offsets are drawn from, in units of the alignment. */
static uint64_t block_range(const struct fio_job *j, const struct fio_file *f, unsigned dir)
{
	uint64_t size = MIN(f->io_size, f->real_size);
	uint64_t over = j->o.min_bs[dir] > j->o.align[dir] ? j->o.min_bs[dir] - j->o.align[dir] : 0;

	return size > over ? (size - over) / j->o.align[dir] : 0;
}

static bool uniform_block(struct fio_job *j, struct fio_file *f, uint64_t range, uint64_t *ret)
{
	if (!f->has_lfsr)
		*ret = fio_rand_scaled(&j->block, (double)range);
	else if (!fio_lfsr_next(&f->lfsr, ret))
		return false;
	if (!f->map || j->o.norandommap || !fio_map_done(f->map, *ret))
		return true;
	*ret = fio_map_next_free(f->map, *ret);
	return *ret != FIO_NONE;
}

/* A zone by its share of the accesses, then a block in it. */
static bool zoned_block(struct fio_job *j, struct fio_file *f, unsigned dir, uint64_t range,
			uint64_t *ret)
{
	const struct fio_split *zone = j->o.zones[dir];
	bool absolute = j->o.dist == FIO_DIST_ZONED_ABS;
	uint64_t v = fio_rand_between(&j->zone, 1, 100), sum = 0, start = 0, first, last;
	unsigned i;

	for (i = 0; i + 1 < j->o.nr_zones[dir] && sum + zone[i].value < v; i++) {
		sum += zone[i].value;
		start += zone[i].share;
	}
	if (absolute) {
		first = start / j->o.align[dir];
		last = (start + zone[i].share) / j->o.align[dir];
		if (last > range) {
			gen_fail(j->g, RS_ERROR_INPUT,
				 "%s:%u: job \"%s\": zoned_abs sizes exceed the file", j->o.file,
				 j->o.line, j->o.name);
			return false;
		}
		range = last - first;
	} else {
		first = start * range / 100;
		range = range * zone[i].share / 100;
	}
	if (!uniform_block(j, f, range, ret))
		return false;
	*ret += first;
	return true;
}

static bool random_block(struct fio_job *j, struct fio_file *f, unsigned dir, uint64_t *ret)
{
	uint64_t range;

	if (j->o.dist != FIO_DIST_RANDOM && j->o.dist < FIO_DIST_ZONED) {
		if (!f->dist.n)
			return false;
		*ret = fio_dist_next(&f->dist);
		return true;
	}
	range = block_range(j, f, dir);
	if (!range)
		return false;
	if (j->o.dist == FIO_DIST_RANDOM || !j->o.nr_zones[dir])
		return uniform_block(j, f, range, ret);
	return zoned_block(j, f, dir, range, ret);
}

/* A job that goes on by time, or draws its files, begins anew when all blocks were done. */
static bool random_block_again(struct fio_job *j, struct fio_file *f, unsigned dir, uint64_t *ret)
{
	if (random_block(j, f, dir, ret))
		return true;
	if (gen_failed(j->g) || (!j->o.time_based && j->o.service != FIO_FILE_DIST))
		return false;
	fio_file_reset(f);
	return random_block(j, f, dir, ret);
}

/* ---- sequential offsets ---- */

static uint64_t skip_hole(const struct fio_job *j, const struct fio_file *f, uint64_t pos)
{
	pos += (uint64_t)j->o.hole;
	if (pos < f->real_size)
		return pos;
	if (j->o.hole > 0)
		return f->offset;
	return MIN(f->real_size, f->io_size) + (uint64_t)j->o.hole;
}

/* Relative to the file's start offset. */
static bool sequential_offset(struct fio_job *j, struct fio_file *f, unsigned dir, uint64_t *ret)
{
	uint64_t end = f->io_size + fio_start_offset(j, f), pos;

	if (f->last_pos[dir] >= end && j->o.time_based && j->nr_files == 1)
		f->last_pos[dir] = f->offset;
	if (f->last_pos[dir] >= f->real_size)
		return false;
	if (f->last_pos[dir] == f->offset && f->offset && j->o.hole < 0)
		f->last_pos[dir] = MIN(f->real_size, f->io_size);
	pos = f->last_pos[dir] - f->offset;
	if (pos && j->o.hole)
		pos = skip_hole(j, f, pos);
	*ret = pos;
	return true;
}

/* ---- one I/O ---- */

static unsigned next_dir(struct fio_job *j)
{
	const struct fio_opts *o = &j->o;
	uint64_t writes = j->issues[FIO_WRITE];
	unsigned dir;

	if (o->dir[FIO_WRITE] && !j->last_was_sync && writes &&
	    ((o->fsync && writes % o->fsync == 0) || (o->fdatasync && writes % o->fdatasync == 0)))
		return DIR_SYNC;
	if (!o->dir[FIO_READ] || !o->dir[FIO_WRITE])
		return j->mix_dir = o->dir[FIO_READ] ? FIO_READ : FIO_WRITE;
	/* Runs of one direction end after as many I/Os as the mix asks of it. */
	if (j->issues[j->mix_dir] >= j->mix_until) {
		dir = fio_rand_between(&j->mix, 1, 100) <= o->rwmixread ? FIO_READ : FIO_WRITE;
		if (dir != j->mix_dir) {
			uint64_t other = j->mix_dir == FIO_READ ? 100 - o->rwmixread : o->rwmixread;

			j->mix_until = j->issues[j->mix_dir] * other / 100;
		}
		j->mix_dir = dir;
	}
	return j->mix_dir;
}

static bool draw_is_random(struct fio_job *j, unsigned dir)
{
	return j->o.percent_random[dir] == 100 ||
	       fio_rand_between(&j->seq[dir], 1, 100) <= j->o.percent_random[dir];
}

/* Offset relative to the start offset; marks: the map takes part. */
static bool next_offset(struct fio_job *j, struct fio_io *io, bool *is_random, bool *marks)
{
	struct fio_file *f = io->file;
	bool hit = j->o.every && !--j->seq_left;
	uint64_t block;

	if (hit)
		j->seq_left = j->o.every;
	*is_random = false;
	*marks = true;
	if (!hit) {
		*marks = false;
		if (j->o.rw_identical) {
			io->offset = f->last_start[io->dir] == FIO_NONE
					     ? 0
					     : f->last_start[io->dir] - f->offset;
			return true;
		}
		if (sequential_offset(j, f, io->dir, &io->offset))
			return true;
	} else if (!j->o.random) {
		return sequential_offset(j, f, io->dir, &io->offset);
	} else if (draw_is_random(j, io->dir)) {
		*is_random = true;
	} else {
		*marks = false;
		if (sequential_offset(j, f, io->dir, &io->offset))
			return true;
	}
	if (!random_block_again(j, f, io->dir, &block))
		return false;
	io->offset = block * j->o.align[io->dir];
	return true;
}

static bool fits(const struct fio_job *j, const struct fio_io *io, uint64_t length)
{
	return io->offset + length <= io->file->io_size + fio_start_offset(j, io->file);
}

static uint64_t split_length(const struct fio_job *j, const struct fio_io *io, unsigned dir,
			     uint64_t r, uint64_t r_max)
{
	uint64_t length = 0, sum = 0;

	for (unsigned i = 0; i < j->o.nr_bssplit[dir]; i++) {
		const struct fio_split *s = &j->o.bssplit[dir][i];

		if (!s->share)
			continue;
		length = s->value;
		sum += s->share;
		if (r / sum <= r_max / 100 && fits(j, io, length))
			break;
	}
	return length;
}

/* 0: the smallest block does not fit behind this offset. */
static uint64_t next_length(struct fio_job *j, const struct fio_io *io, bool is_random)
{
	unsigned dir = j->o.bs_is_seq_rand ? (is_random ? FIO_WRITE : FIO_READ) : io->dir;
	uint64_t min = j->o.min_bs[dir], max = j->o.max_bs[dir], length, r;
	double range = j->size[dir].use64 ? 18446744073709551616.0 : 4294967296.0;
	unsigned tries = 0;

	if (min == max)
		return min;
	if (!fits(j, io, min))
		return 0;
	do {
		r = fio_rand_next(&j->size[dir]);
		if (j->o.nr_bssplit[dir])
			length = split_length(j, io, dir, r,
					      j->size[dir].use64 ? UINT64_MAX : UINT32_MAX);
		else
			length = min + (uint64_t)((double)max * ((double)r / range));
		if (!j->o.bs_unaligned)
			length -= length % min;
		length = MIN(length, max);
	} while (!fits(j, io, length) && ++tries < 100000);
	return fits(j, io, length) ? length : min;
}

bool fio_fill(struct fio_job *j, struct fio_io *io)
{
	struct fio_file *f = io->file;
	bool is_random, marks;

	io->dir = next_dir(j);
	io->offset = io->length = 0;
	if (io->dir == DIR_SYNC)
		return true;
	if (!next_offset(j, io, &is_random, &marks) || io->offset >= f->io_size)
		return false;
	io->offset += f->offset;
	if (io->offset >= f->real_size)
		return false;
	io->length = next_length(j, io, is_random);
	if (!io->length || io->offset + io->length > f->real_size)
		return false;
	if (j->o.random && f->map && !j->o.norandommap && marks) {
		uint64_t unit = j->o.min_bs[io->dir];
		uint64_t n = fio_map_mark(f->map, (io->offset - f->offset) / unit,
					  (io->length + unit - 1) / unit);

		if (!n)
			return false; /* only with block sizes that differ by direction */
		io->length = MIN(io->length, n * unit);
	}
	return true;
}
