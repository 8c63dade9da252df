/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * readahead.c - windows of file read-ahead, for read() and for mapped files.
 * Kernel: mm/readahead.c ondemand_readahead() (6.1), page_cache_sync_ra(), page_cache_async_ra()
 * (6.12); mm/filemap.c do_sync_mmap_readahead(). Differs: order-0 folios only; a read larger than
 * the window does not widen it to the device's optimal size.
 */
#include "sim/engine/engine.h"

#define MMAP_LOTSAMISS 100u

static uint64_t ra_pages(const struct rs_ctx *ctx, const struct open_file *of)
{
	uint64_t n = ctx->cfg.read_ahead_bytes >> RS_PAGE_SHIFT;

	return of->advice == RS_ADV_SEQUENTIAL ? n * 2 : n;
}

static uint64_t roundup_pow2(uint64_t n)
{
	uint64_t p = 1;

	while (p < n)
		p <<= 1;
	return p;
}

static uint64_t init_window(uint64_t req, uint64_t max)
{
	uint64_t n = roundup_pow2(req);

	if (n <= max / 32)
		return n * 4;
	return n <= max / 4 ? n * 2 : max;
}

static uint64_t next_window(uint64_t cur, uint64_t max)
{
	if (cur < max / 16)
		return 4 * cur;
	return cur <= max / 2 ? 2 * cur : max;
}

/* Read the window; its asynchronous tail begins with the marker. Kernel: do_page_cache_ra(). */
static void submit(struct rs_ctx *ctx, uint32_t id, const struct file_ra *ra)
{
	uint64_t pages = ctx->m.file[id].pages, size, marker = UINT64_MAX;

	if (ra->start >= pages)
		return;
	/* Cut at the end of the file before the marker is placed. */
	size = MIN(ra->size, pages - ra->start);
	if (ra->async_size && ra->async_size <= size)
		marker = ra->start + size - ra->async_size;
	file_read_pages(ctx, id, ra->start, size, marker);
}

/* Contiguous cached pages that end before index, at most max. */
static uint64_t count_history(const struct file *f, uint64_t index, uint64_t max)
{
	uint64_t n = 0;

	while (n < max && n < index && file_page(f, index - 1 - n))
		n++;
	return n;
}

/* Several readers on one file: a run of cached pages before index speaks for a sequential one. */
static bool context_window(struct rs_ctx *ctx, uint32_t id, struct file_ra *ra, uint64_t index,
			   uint64_t req, uint64_t max)
{
	/* 6.1 looks at max pages but counts the last one as the hole. */
	uint64_t most = ctx->m.kernel < RS_KERNEL_6_12 ? max - 1 : max;
	uint64_t size = count_history(&ctx->m.file[id], index, most);

	if (size <= req)
		return false;
	if (size >= index)
		size *= 2;
	ra->start = index;
	ra->size = MIN(size + req, max);
	ra->async_size = 1;
	return true;
}

/* A window that begins at the miss and is all marker grows at once (6.1). */
static void grow_at_start(const struct rs_ctx *ctx, struct file_ra *ra, uint64_t index,
			  uint64_t max)
{
	uint64_t add;

	if (ctx->m.kernel >= RS_KERNEL_6_12 || index != ra->start || ra->size != ra->async_size)
		return;
	add = next_window(ra->size, max);
	if (ra->size + add <= max) {
		ra->async_size = add;
		ra->size += add;
	} else {
		ra->size = max;
		ra->async_size = max / 2;
	}
}

static void initial_window(const struct rs_ctx *ctx, struct file_ra *ra, uint64_t index,
			   uint64_t req, uint64_t max)
{
	ra->start = index;
	ra->size = init_window(req, max);
	if (ra->size > req)
		ra->async_size = ra->size - req;
	else
		ra->async_size = ctx->m.kernel >= RS_KERNEL_6_12 ? ra->size / 2 : ra->size;
}

void page_cache_sync_ra(struct rs_ctx *ctx, uint32_t id, struct open_file *of, uint64_t index,
			uint64_t req)
{
	struct file_ra *ra = &of->ra, window;
	uint64_t max = ra_pages(ctx, of), prev = ra->prev_index;

	if (!max || of->advice == RS_ADV_RANDOM) {
		file_read_pages(ctx, id, index, max ? req : 1, UINT64_MAX);
		return;
	}
	/* 6.1: at the marker or at the end of the window the sequence goes on. */
	if (ctx->m.kernel < RS_KERNEL_6_12 && ra->size && index &&
	    (index == ra->start + ra->size - ra->async_size || index == ra->start + ra->size)) {
		ra->start += ra->size;
		ra->size = next_window(ra->size, max);
		ra->async_size = ra->size;
	} else if (!index || req > max || (prev != UINT64_MAX && index - (prev + 1) <= 1)) {
		initial_window(ctx, ra, index, req, max);
	} else if (!context_window(ctx, id, ra, index, req, max)) {
		/* Random: read it and leave the state alone. */
		file_read_pages(ctx, id, index, req, UINT64_MAX);
		return;
	}
	grow_at_start(ctx, ra, index, max);
	/* The array of open files may move while reading sleeps. */
	window = *ra;
	submit(ctx, id, &window);
}

/* First page behind index that is not cached, looking at most max pages far; 0: none. */
static uint64_t next_hole(const struct file *f, uint64_t index, uint64_t max)
{
	for (uint64_t i = index + 1; i <= index + max; i++)
		if (i >= f->pages || !file_page(f, i))
			return i;
	return 0;
}

void page_cache_async_ra(struct rs_ctx *ctx, uint32_t id, struct open_file *of, uint64_t index,
			 uint64_t req, pfn_t marked)
{
	struct file_ra *ra = &of->ra, window;
	uint64_t max = ra_pages(ctx, of);

	if (!max || (ctx->m.folios[marked].flags & PG_writeback))
		return;
	ctx->m.folios[marked].flags &= ~(uint32_t)PG_readahead;
	if (ra->size && (index == ra->start + ra->size - ra->async_size ||
			 (ctx->m.kernel < RS_KERNEL_6_12 && index == ra->start + ra->size))) {
		ra->start += ra->size;
		ra->size = next_window(ra->size, max);
		ra->async_size = ra->size;
	} else {
		uint64_t start = next_hole(&ctx->m.file[id], index, max);

		/* 6.1 takes the last page it looked at when there is no hole. */
		if (!start && ctx->m.kernel < RS_KERNEL_6_12)
			start = index + max;
		if (!start)
			return;
		ra->start = start;
		ra->size = start - index + req;
		ra->size = next_window(ra->size, max);
		ra->async_size = ra->size;
	}
	grow_at_start(ctx, ra, index, max);
	window = *ra;
	submit(ctx, id, &window);
}

/* 7.2: an executable mapping reads forward inside the VMA, whatever mmap_miss says. */
static bool exec_window(struct rs_ctx *ctx, struct rs_vma *vma, uint64_t index, struct file_ra *ra,
			uint64_t max)
{
	if (ctx->m.kernel < RS_KERNEL_7_2 || !(vma->flags & VM_EXEC))
		return false;
	ra->start = index;
	ra->size = MIN(max, vma->pgoff + (vma->end - vma->start) - index);
	ra->async_size = 0;
	return true;
}

/* Kernel: do_sync_mmap_readahead(). */
void mmap_sync_ra(struct rs_ctx *ctx, uint32_t id, struct rs_vma *vma, uint64_t index)
{
	struct open_file *of = file_handle(&ctx->m.file[id], vma->handle);
	struct file_ra *ra = &of->ra, window;
	uint64_t max = ra_pages(ctx, of);

	if (!max)
		return;
	if (exec_window(ctx, vma, index, ra, max)) {
		window = *ra;
		submit(ctx, id, &window);
		return;
	}
	if (vma->flags & VM_RAND_READ)
		return;
	if (vma->flags & VM_SEQ_READ) {
		page_cache_sync_ra(ctx, id, of, index, max);
		return;
	}
	if (ra->mmap_miss < MMAP_LOTSAMISS * 10)
		ra->mmap_miss++;
	if (ra->mmap_miss > MMAP_LOTSAMISS)
		return;
	ra->start = index > max / 2 ? index - max / 2 : 0;
	ra->size = max;
	ra->async_size = max / 4;
	window = *ra;
	submit(ctx, id, &window);
}

/*
 * The fault found its page. True: read-ahead was started, which drops the lock.
 * Kernel: do_async_mmap_readahead().
 */
bool mmap_async_ra(struct rs_ctx *ctx, uint32_t id, struct rs_vma *vma, uint64_t index, pfn_t pfn)
{
	struct open_file *of = file_handle(&ctx->m.file[id], vma->handle);
	bool forgive = ctx->m.kernel < RS_KERNEL_7_2 || !(vma->flags & (VM_SEQ_READ | VM_EXEC) ||
							  ctx->m.folios[pfn].flags & PG_locked);

	if ((vma->flags & VM_RAND_READ) || !ra_pages(ctx, of))
		return false;
	if (of->ra.mmap_miss && forgive)
		of->ra.mmap_miss--;
	if (!(ctx->m.folios[pfn].flags & PG_readahead))
		return false;
	page_cache_async_ra(ctx, id, of, index, ra_pages(ctx, of), pfn);
	return true;
}
