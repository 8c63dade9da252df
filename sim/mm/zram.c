/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * zram.c - compressed pages take memory of the machine: objects of one size class lie in zspages
 * of a few frames each, which are charged to no group.
 * Kernel: drivers/block/zram/zram_drv.c, mm/zsmalloc.c. Differs: every page compresses to the same
 * size and none is filled with one value, since a trace knows no contents; the pool is always
 * compact.
 */
#include "sim/mm/machine.h"

#define HANDLE_BYTES 8u	  /* ZS_HANDLE_SIZE */
#define CLASS_BYTES 16u	  /* ZS_SIZE_CLASS_DELTA */
#define HUGE_OBJECT 3264u /* from here on a page is stored as it is (huge_class_size) */

/* cost-model.md section 2: lz4 2.63, lzo-rle 2.74, lzo 2.77, zstd 3.37. */
static const uint32_t ratio_percent[ZRAM_NR] = { 263, 274, 277, 337 };

/*
 * Frames of a zspage: so that least is wasted. Kernel: calculate_zspage_chain_size(); before 6.2
 * get_pages_per_zspage(), which knows no more than four.
 */
static uint32_t chain_size(uint32_t class, bool before_6_2)
{
	uint32_t best = 1, least = UINT32_MAX;

	for (uint32_t n = 1; n <= (before_6_2 ? 4 : 8); n++) {
		uint32_t size = n * RS_PAGE_SIZE, waste = size % class;

		/* Per cent of the zspage then, bytes since. */
		if (before_6_2)
			waste = 100 - (size - waste) * 100 / size;
		if (waste < least) {
			least = waste;
			best = n;
		}
	}
	return best;
}

void zram_init(struct machine *m)
{
	struct zram *z = &m->zram;
	uint32_t class;

	if (m->cfg->swap != DEV_ZRAM)
		return;
	z->page_bytes = m->cfg->zram_compressed_bytes > 0
				? (uint32_t)m->cfg->zram_compressed_bytes
				: RS_PAGE_SIZE * 100 / ratio_percent[m->cfg->zram_algorithm];
	if (z->page_bytes >= HUGE_OBJECT)
		z->page_bytes = RS_PAGE_SIZE;
	class = MIN((z->page_bytes + HANDLE_BYTES + CLASS_BYTES - 1) / CLASS_BYTES * CLASS_BYTES,
		    RS_PAGE_SIZE);
	z->zspage_pages = chain_size(class, m->kernel < RS_KERNEL_6_12);
	z->objects_per_zspage = z->zspage_pages * RS_PAGE_SIZE / class;
	z->frames = g_array_new(FALSE, FALSE, sizeof(pfn_t));
}

void zram_clear(struct machine *m)
{
	if (m->zram.frames)
		g_array_unref(m->zram.frames);
}

static uint64_t frames_for(const struct zram *z, uint64_t objects)
{
	return (objects + z->objects_per_zspage - 1) / z->objects_per_zspage * z->zspage_pages;
}

uint32_t zram_frames_wanted(const struct machine *m, uint32_t slot)
{
	const struct zram *z = &m->zram;
	uint64_t want = frames_for(z, z->nr_objects + !m->swap.slot[slot].stored);

	return want > z->frames->len ? want - z->frames->len : 0;
}

void zram_add_frame(struct machine *m, pfn_t pfn)
{
	g_array_append_val(m->zram.frames, pfn);
	m->zram.max_frames = MAX(m->zram.max_frames, m->zram.frames->len);
}

void zram_store(struct machine *m, uint32_t slot)
{
	g_assert(!zram_frames_wanted(m, slot));
	m->zram.nr_objects += !m->swap.slot[slot].stored;
	m->swap.slot[slot].stored = true;
}

/* Kernel: zram_slot_free_notify(). */
void zram_free(struct machine *m, uint32_t slot)
{
	struct zram *z = &m->zram;

	if (!m->swap.slot[slot].stored)
		return;
	m->swap.slot[slot].stored = false;
	z->nr_objects--;
	while (z->frames->len > frames_for(z, z->nr_objects)) {
		zone_free(m, g_array_index(z->frames, pfn_t, z->frames->len - 1), 0);
		m->vmstat[RS_PGFREE]++;
		g_array_set_size(z->frames, z->frames->len - 1);
	}
}
