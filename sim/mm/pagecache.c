/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pagecache.c - files: (file, index) -> folio or shadow, in place, in chunks of 512 pages.
 *
 * A private mapping's copied page is anonymous; its object is then a family of its own, see
 * fault.c.
 */
#include "sim/mm/machine.h"

#include <string.h>

uint64_t file_slot(const struct file *f, uint64_t index)
{
	struct cache_chunk *c =
		index / CACHE_CHUNK < f->nr_chunks ? f->chunk[index / CACHE_CHUNK] : NULL;

	return c ? c->slot[index % CACHE_CHUNK] : 0;
}

pfn_t file_page(const struct file *f, uint64_t index)
{
	uint64_t slot = file_slot(f, index);

	return SLOT_IS_SHADOW(slot) ? RS_PFN_NONE : slot >> 1;
}

void file_set_slot(struct file *f, uint64_t index, uint64_t slot)
{
	struct cache_chunk **c = &f->chunk[index / CACHE_CHUNK];

	/* Not f->pages: a page may be added, or dropped, behind an end that has just moved. */
	g_assert(index / CACHE_CHUNK < f->nr_chunks);
	if (!*c) {
		if (!slot)
			return;
		*c = g_new0(struct cache_chunk, 1);
	}
	(*c)->slot[index % CACHE_CHUNK] = slot;
}

void file_grow(struct file *f, uint64_t pages)
{
	uint64_t chunks = (pages + CACHE_CHUNK - 1) / CACHE_CHUNK;

	if (pages <= f->pages)
		return;
	f->pages = pages;
	if (chunks > f->nr_chunks) {
		uint64_t cap = MAX(chunks, f->nr_chunks + f->nr_chunks / 2);

		f->chunk = g_renew(struct cache_chunk *, f->chunk, cap);
		memset(f->chunk + f->nr_chunks, 0, (cap - f->nr_chunks) * sizeof(*f->chunk));
		f->nr_chunks = cap;
	}
}

struct open_file *file_handle(struct file *f, uint32_t handle)
{
	if (handle >= f->nr_open) {
		f->open = g_renew(struct open_file, f->open, handle + 1);
		for (uint32_t i = f->nr_open; i <= handle; i++)
			f->open[i] = (struct open_file){ .ra.prev_index = UINT64_MAX };
		f->nr_open = handle + 1;
	}
	return &f->open[handle];
}

/* Kernel: file_ra_state_init(). */
void file_reopen(struct file *f, uint32_t handle)
{
	*file_handle(f, handle) = (struct open_file){ .ra.prev_index = UINT64_MAX };
}

bool machine_define_file(struct machine *m, uint32_t id, uint64_t pages, bool on_disk,
			 GError **error)
{
	struct file *f;

	if (id >= (1u << 24) || pages > UINT32_MAX) {
		g_set_error(error, RS_ERROR, RS_ERROR_INPUT,
			    "file %u of %" G_GUINT64_FORMAT " pages: at most 16 M files of 16 TiB",
			    id, pages);
		return false;
	}
	if (id >= m->nr_files) {
		uint32_t n = MAX(id + 1, m->nr_files + m->nr_files / 2);

		m->file = g_renew(struct file, m->file, n);
		memset(m->file + m->nr_files, 0, (n - m->nr_files) * sizeof(*m->file));
		m->nr_files = n;
	}
	f = &m->file[id];
	if (!f->defined) {
		f->disk_start = m->disk_end;
		m->disk_end += pages;
	}
	f->defined = true;
	file_grow(f, pages);
	if (on_disk)
		f->disk_pages = MAX(f->disk_pages, pages);
	file_handle(f, 0);
	return true;
}
