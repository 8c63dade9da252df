/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * import_strace_work.c - what a program touches while it works, as an strace log cannot say it.
 *
 * The model: a step of work is a load of a page of its code and an access to a page of its
 * anonymous memory, half of them stores. STRACE_WORK_PER_PAGE steps go with each new page of memory
 * and STRACE_WORK_PER_CALL with each system call. The first figure is measured: valgrind's lackey
 * on cc1 of gcc 12 -O1 with a small source shows, from one new page of memory to the 64th after it,
 * 138 different pages of code and 111 of older memory. Code pages are drawn with a skew of u^2 over
 * all executable pages in use (--with touched=FILE: the listed ones; else one in 64 KiB), scattered
 * over the file by a multiplication; memory with the same skew from the youngest mapping back. The
 * random stream of a process starts from its number, so the same log gives the same trace.
 */
#include "traces/import_strace.h"

#define WINDOW 16u
#define SCATTER 2654435761u /* prime, greater than any number of pages here */
#define MAX_TEXT (1u << 20)

struct text_page {
	uint32_t vma, page; /* index of the mapping, page from its start */
};

struct anon_run {
	uint32_t vma;
	uint64_t before; /* pages of the runs before it */
};

static void add_text(struct smm *mm, uint32_t vma, uint64_t page)
{
	struct text_page t = { vma, (uint32_t)page };

	if (mm->text->len < MAX_TEXT)
		g_array_append_val(mm->text, t);
}

static void list_text(struct import *im, struct smm *mm, uint32_t i)
{
	struct strace *st = im->priv;
	const struct svma *vma = &g_array_index(mm->vmas, struct svma, i);
	const struct import_file *file = import_file_at(im, vma->file);
	const GArray *ranges = strace_listed(st, file->name);
	uint64_t first = vma->pgoff + (vma->start - vma->base);
	uint64_t pages = vma->end - vma->start;

	for (uint64_t page = 0; !ranges && page < pages; page += WINDOW)
		add_text(mm, i, page);
	for (guint k = 0; ranges && k < ranges->len; k++) {
		const struct srange *r = &g_array_index(ranges, struct srange, k);
		uint64_t from = MAX(first, r->first),
			 to = MIN(first + pages, (uint64_t)r->last + 1);

		for (; from < to; from++)
			add_text(mm, i, from - first);
	}
}

/* Mappings changed: lists the code and the memory anew. */
static void refresh(struct import *im, struct smm *mm)
{
	if (!mm->text) {
		mm->text = g_array_new(FALSE, FALSE, sizeof(struct text_page));
		mm->anon = g_array_new(FALSE, FALSE, sizeof(struct anon_run));
		mm->random = mm->leader * 0x9e3779b97f4a7c15u + 1;
	}
	g_array_set_size(mm->text, 0);
	g_array_set_size(mm->anon, 0);
	mm->anon_pages = 0;
	mm->work_stale = false;
	for (guint i = 0; i < mm->vmas->len; i++) {
		const struct svma *vma = &g_array_index(mm->vmas, struct svma, i);
		struct anon_run run = { i, mm->anon_pages };

		if (vma->file != STRACE_NO_FILE && vma->prot & VM_EXEC && vma->prot & VM_READ)
			list_text(im, mm, i);
		/* Memory that is still being touched for the first time is not worked on yet. */
		if (vma->file != STRACE_NO_FILE || vma->untouched || !(vma->prot & VM_WRITE) ||
		    vma->end - vma->start > 8192)
			continue;
		g_array_append_val(mm->anon, run);
		mm->anon_pages += vma->end - vma->start;
	}
}

static uint64_t draw(struct smm *mm)
{
	mm->random ^= mm->random << 13;
	mm->random ^= mm->random >> 7;
	mm->random ^= mm->random << 17;
	return mm->random;
}

/* 0..n-1, small ones more often: n * u^2. */
static uint64_t skewed(struct smm *mm, uint64_t n)
{
	uint64_t u = draw(mm) >> 32;

	return (u * u >> 32) * n >> 32;
}

static void work_on_text(struct import *im, struct smm *mm)
{
	const struct text_page *t;
	const struct svma *vma;
	uint64_t i;

	if (!mm->text->len)
		return;
	i = skewed(mm, mm->text->len) * SCATTER % mm->text->len;
	t = &g_array_index(mm->text, struct text_page, i);
	vma = &g_array_index(mm->vmas, struct svma, t->vma);
	strace_touch_pages(im, vma, vma->start + t->page, vma->start + t->page + 1, false);
}

static void work_on_memory(struct import *im, struct smm *mm)
{
	uint64_t page;
	guint low = 0, high = mm->anon->len;
	const struct anon_run *run;
	const struct svma *vma;

	if (!mm->anon_pages)
		return;
	page = mm->anon_pages - 1 - skewed(mm, mm->anon_pages);
	while (high - low > 1) {
		guint middle = (low + high) / 2;

		if (g_array_index(mm->anon, struct anon_run, middle).before <= page)
			low = middle;
		else
			high = middle;
	}
	run = &g_array_index(mm->anon, struct anon_run, low);
	vma = &g_array_index(mm->vmas, struct svma, run->vma);
	page += vma->start - run->before;
	strace_touch_pages(im, vma, page, page + 1, draw(mm) & 1);
}

void strace_work(struct import *im, struct stask *task, unsigned steps)
{
	struct smm *mm = task->mm;

	if (mm->work_stale || !mm->text)
		refresh(im, mm);
	while (steps-- && !im->error) {
		work_on_text(im, mm);
		work_on_memory(im, mm);
	}
}

void strace_work_done(struct smm *mm)
{
	if (!mm->text)
		return;
	g_array_free(mm->text, TRUE);
	g_array_free(mm->anon, TRUE);
}
