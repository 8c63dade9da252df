/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ref_readahead.c - file read-ahead for reads and for faults. Kernel: mm/readahead.c.
 *
 * The readahead flag of a folio is the reclaim flag: they are one bit. 6.1 decides in one
 * function, ondemand_readahead(); 6.12 has it in two, with smaller differences.
 */
#include "ref.h"

#define MMAP_LOTSAMISS 100

static uint64_t next_size(uint64_t cur, uint64_t max)
{
	if (cur < max / 16)
		return 4 * cur;
	return cur <= max / 2 ? 2 * cur : max;
}

static uint64_t init_size(uint64_t request, uint64_t max)
{
	uint64_t size = 1;

	while (size < request)
		size *= 2;
	if (size <= max / 32)
		return size * 4;
	return size <= max / 4 ? size * 2 : max;
}

/* The reads of the pages gathered so far are issued and done. Kernel: read_pages(). */
static void issue(struct ref_machine *m, GPtrArray *pending)
{
	for (unsigned int i = 0; i < pending->len; i++) {
		struct ref_folio *folio = g_ptr_array_index(pending, i);

		folio->locked = false;
		ref_folio_put(m, folio);
	}
	g_ptr_array_set_size(pending, 0);
}

/*
 * Kernel: page_cache_ra_unbounded(). Pages that are there are left alone; the new ones stay locked
 * until such a page or the end.
 */
static void read_in(struct ref_machine *m, struct ref_file *file, uint64_t start, uint64_t nr,
		    uint64_t async)
{
	GPtrArray *pending = g_ptr_array_new();

	for (uint64_t i = 0; i < nr && start + i < file->nr_pages && !m->oom; i++) {
		struct ref_folio *folio;

		if (ref_cached(file, start + i)) {
			issue(m, pending);
			continue;
		}
		folio = ref_add_to_cache(m, file, start + i, false);
		if (!folio)
			break;
		folio->locked = true;
		ref_folio_get(folio);
		g_ptr_array_add(pending, folio);
		if (i == nr - async)
			folio->reclaim = true;
	}
	issue(m, pending);
	g_ptr_array_free(pending, true);
}

/* Kernel: do_page_cache_ra() clips before the marker is placed. */
static void do_read_in(struct ref_machine *m, struct ref_file *file, uint64_t start, uint64_t nr,
		       uint64_t async)
{
	if (start < file->nr_pages)
		read_in(m, file, start, MIN(nr, file->nr_pages - start), async);
}

static void read_window(struct ref_machine *m, struct ref_file *file, uint64_t index)
{
	const uint64_t max = m->opt.ra_pages;

	if (!m->opt.v612 && index == file->ra_start && file->ra_size == file->ra_async) {
		uint64_t add = next_size(file->ra_size, max);

		if (file->ra_size + add <= max) {
			file->ra_async = add;
			file->ra_size += add;
		} else {
			file->ra_size = max;
			file->ra_async = max / 2;
		}
	}
	do_read_in(m, file, file->ra_start, file->ra_size, file->ra_async);
}

static void next_window(struct ref_machine *m, struct ref_file *file, uint64_t index)
{
	file->ra_start += file->ra_size;
	file->ra_size = MAX(file->ra_size, next_size(file->ra_size, m->opt.ra_pages));
	file->ra_async = file->ra_size;
	read_window(m, file, index);
}

/*
 * Cached pages right before the index, at most max. Kernel: page_cache_prev_miss(); that of 6.1
 * returns the last page it looked at when none is missing, which is one short.
 */
static uint64_t history(const struct ref_machine *m, struct ref_file *file, uint64_t index,
			uint64_t max)
{
	uint64_t nr = 0;

	while (nr < max && nr < index && ref_cached(file, index - 1 - nr))
		nr++;
	return nr == max && !m->opt.v612 ? max - 1 : nr;
}

/* A read misses: req pages are wanted from the index on. */
void ref_readahead_sync(struct ref_machine *m, struct ref_file *file, uint64_t index, uint64_t req)
{
	const uint64_t max = m->opt.ra_pages;
	const uint64_t prev = file->prev_page + 1; /* page of prev_pos */
	bool begins = !index || req > max || index - prev <= 1;
	uint64_t seen;

	if (!max) {
		do_read_in(m, file, index, 1, 0);
		return;
	}
	if (!m->opt.v612 && index &&
	    (index == file->ra_start + file->ra_size - file->ra_async ||
	     index == file->ra_start + file->ra_size)) {
		next_window(m, file, index);
		return;
	}
	if (file->prev_page == UINT64_MAX)
		begins = !index || req > max;
	if (begins) {
		file->ra_start = index;
		file->ra_size = init_size(req, max);
		if (file->ra_size > req)
			file->ra_async = file->ra_size - req;
		else
			file->ra_async = m->opt.v612 ? file->ra_size / 2 : file->ra_size;
		read_window(m, file, index);
		return;
	}
	seen = history(m, file, index, max);
	if (seen <= req) {
		do_read_in(m, file, index, req, 0);
		return;
	}
	if (seen >= index)
		seen *= 2;
	file->ra_start = index;
	file->ra_size = MIN(seen + req, max);
	file->ra_async = 1;
	read_window(m, file, index);
}

/* A page with the readahead flag is used. Kernel: page_cache_async_ra(). */
void ref_readahead_async(struct ref_machine *m, struct ref_folio *folio, uint64_t req)
{
	struct ref_file *file = folio->file;
	const uint64_t index = folio->index, max = m->opt.ra_pages;
	uint64_t start = index + 1;

	if (!max || folio->writeback)
		return;
	folio->reclaim = false;
	if (index == file->ra_start + file->ra_size - file->ra_async ||
	    (!m->opt.v612 && index == file->ra_start + file->ra_size)) {
		next_window(m, file, index);
		return;
	}
	while (start - index <= max && ref_cached(file, start))
		start++;
	if (start - index > max) {
		if (m->opt.v612)
			return;
		start = index + max; /* as in history() */
	}
	file->ra_start = start;
	file->ra_size = next_size(start - index + req, max);
	file->ra_async = file->ra_size;
	read_window(m, file, index);
}

/* A fault misses. Kernel: mm/filemap.c do_sync_mmap_readahead(). */
void ref_readahead_fault(struct ref_machine *m, struct ref_file *file, uint64_t index)
{
	const uint64_t max = m->opt.ra_pages;

	if (!max)
		return;
	if (file->mmap_miss < MMAP_LOTSAMISS * 10)
		file->mmap_miss++;
	if (file->mmap_miss > MMAP_LOTSAMISS)
		return;
	file->ra_start = index > max / 2 ? index - max / 2 : 0;
	file->ra_size = max;
	file->ra_async = max / 4;
	do_read_in(m, file, file->ra_start, file->ra_size, file->ra_async);
}
