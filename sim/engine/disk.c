/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * disk.c - a rotating disk: one arm, which has to be moved to a request's place and to wait there
 * until the data comes round. Requests are sorted: reads before writes, unless these have been
 * passed over twice; each kind in ascending order from where the arm is, then from the start again.
 * Kernel: block/mq-deadline.c. Differs: no deadlines and no batches.
 *
 * Figures of a 7200 rpm disk of 1 TB, from data sheets: 1 ms to the next track, 8.5 ms on average,
 * which is a third of the way, and half a revolution of 8.33 ms. In between the time goes with the
 * root of the distance (Ruemmler and Wilkes, "An introduction to disk drive modeling", 1994).
 */
#include "sim/engine/timeline.h"

#define SPAN_PAGES (UINT64_C(1) << 28)
#define TRACK_NS 1000000u
#define AVERAGE_SEEK_NS 8500000u
#define ROTATION_NS 4166667u
#define WRITES_STARVED 2u

static uint64_t root(uint64_t n)
{
	uint64_t low = 0, high = UINT64_C(1) << 31;

	while (low < high) {
		uint64_t middle = (low + high + 1) / 2;

		if (middle * middle <= n)
			low = middle;
		else
			high = middle - 1;
	}
	return low;
}

void disk_init(struct device *d)
{
	d->has_arm = true;
	d->nr_channels = 1;
	d->arm = SPAN_PAGES / 2;
	d->pending = g_ptr_array_new();
}

void disk_clear(struct device *d)
{
	if (!d->pending)
		return;
	for (guint i = 0; i < d->pending->len; i++)
		g_free(g_ptr_array_index(d->pending, i));
	g_ptr_array_unref(d->pending);
}

/* Nothing if the arm is there already: data in a row come with the rotation. */
ns_t disk_position_ns(const struct device *d, uint64_t place)
{
	uint64_t distance = place > d->arm ? place - d->arm : d->arm - place;
	uint64_t share = MIN(distance, SPAN_PAGES) * 3 * (1u << 20) / SPAN_PAGES;

	if (!distance)
		return 0;
	return TRACK_NS + (AVERAGE_SEEK_NS - TRACK_NS) * root(share) / 1024 + ROTATION_NS;
}

static void start(struct rs_ctx *ctx, struct device *d, struct io *io, ns_t now)
{
	ns_t ns = disk_position_ns(d, io->place) + io->bytes * 1000000000 / d->bandwidth;

	d->wait_ns += now - io->submitted;
	d->busy_ns += ns;
	d->arm_busy = true;
	if (TIMELINE(ctx))
		timeline_io(ctx, d, 0, io->write, io->bytes, now, now + ns);
	event_add(ctx, now + ns, io_done, io, 0);
}

void disk_submit(struct rs_ctx *ctx, struct device *d, struct io *io, ns_t now)
{
	if (d->arm_busy)
		g_ptr_array_add(d->pending, io);
	else
		start(ctx, d, io, now);
}

/* The nearest in front of the arm, else the one nearest the start; -1: none of that kind. */
static int nearest(const struct device *d, bool write)
{
	int ahead = -1, first = -1;

	for (guint i = 0; i < d->pending->len; i++) {
		const struct io *io = g_ptr_array_index(d->pending, i), *a, *f;

		if (io->write != write)
			continue;
		a = ahead < 0 ? NULL : g_ptr_array_index(d->pending, ahead);
		f = first < 0 ? NULL : g_ptr_array_index(d->pending, first);
		if (io->place >= d->arm && (!a || io->place < a->place))
			ahead = i;
		if (!f || io->place < f->place)
			first = i;
	}
	return ahead >= 0 ? ahead : first;
}

/* A request is over: the arm is behind it, and goes to the next. */
void disk_next(struct rs_ctx *ctx, struct device *d, const struct io *over)
{
	int read, write, next;

	if (!d->has_arm)
		return;
	d->arm = over->place + over->bytes / RS_PAGE_SIZE;
	d->arm_busy = false;
	read = nearest(d, false);
	write = nearest(d, true);
	next = read;
	if (write >= 0 && (read < 0 || d->starved >= WRITES_STARVED)) {
		next = write;
		d->starved = 0;
	} else if (write >= 0) {
		d->starved++;
	}
	if (next >= 0)
		start(ctx, d, g_ptr_array_remove_index(d->pending, next), ctx->now);
}
