/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unmapped_area.c - the address mmap() chooses: top-down, the highest hole that fits, large
 * mappings aligned to 2 MiB where the kernel does that.
 */
#include "sim/mm/machine.h"

/* x86-64: 128 MiB below the top of user space. Kernel: mmap_base(). Differs: no randomisation. */
#define MMAP_BASE (0x7ffff7fff000ull >> RS_PAGE_SHIFT)
#define MMAP_MIN 16ull

/* Start of the highest hole of that many pages, or 0. Kernel: vm_unmapped_area(). */
static uint64_t highest_hole(const struct machine *m, const struct mm *mm, uint64_t pages)
{
	uint64_t top = MMAP_BASE - m->cfg->mmap_base_offset;
	uint32_t i = mm_vma_index(mm, top - 1);

	/* A VMA across the base or above it (placed by hand) does not count as a lower border. */
	if (i < mm->pub.nr_vmas && mm->pub.vmas[i]->start < top)
		top = mm->pub.vmas[i]->start;
	for (;;) {
		uint64_t low = i ? mm->pub.vmas[i - 1]->end : MMAP_MIN;

		if (top >= low && top - low >= pages)
			return top - pages;
		if (!i)
			return 0;
		i--;
		top = MIN(top, mm->pub.vmas[i]->start);
	}
}

/* Kernel: mm/huge_memory.c __thp_get_unmapped_area(). */
static uint64_t aligned_hole(const struct machine *m, const struct mm *mm, const struct rs_map *map)
{
	uint64_t off_end = map->pgoff + map->pages, off_align = (map->pgoff + 511) & ~511ull, at,
		 sub;

	if (off_end <= off_align || off_end - off_align < 512)
		return 0;
	at = highest_hole(m, mm, map->pages + 512);
	if (!at)
		return 0;
	sub = (map->pgoff - at) & 511;
	if (!sub && m->kernel >= RS_KERNEL_6_12)
		return at + 512;
	return at + sub;
}

uint64_t mm_unmapped_area(const struct machine *m, const struct mm *mm, const struct rs_map *map)
{
	uint64_t at = 0;

	/* ext4 and xfs files since 5.18; anonymous multiples of 2 MiB since 6.7. */
	if (map->file != RS_MAP_FILE_NONE)
		at = aligned_hole(m, mm, map);
	else if (m->kernel >= RS_KERNEL_6_12 && map->pages % 512 == 0)
		at = aligned_hole(m, mm,
				  &(struct rs_map){ .file = map->file, .pages = map->pages });
	return at ? at : highest_hole(m, mm, map->pages);
}
