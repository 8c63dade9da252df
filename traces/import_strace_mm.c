/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * import_strace_mm.c - address spaces of an strace log: mmap, munmap, mprotect, mremap, brk, exec.
 *
 * Every mapping is a region at its true address. What is mapped over goes away first, in part or
 * whole, as with MAP_FIXED. Numbers of regions that are gone everywhere are used again.
 */
#include "traces/import_strace.h"
#include "traces/import_text.h"

#define MAX_VMAS 65536u /* of a process, vm.max_map_count */
#define MAX_PAGE (1ull << 35)
#define EXEC_PAGE 0x555555554u /* where a program is put */
#define LINKER_PAGE 0x555540000u
#define STACK_END 0x7ffffffffu
#define STACK_PAGES 33u
#define UNKNOWN_EXEC_PAGES 64u
#define DATA_SHARE 16u /* data and bss: one page for so many of the program's file */

static void region_get(struct strace *st, uint32_t region)
{
	if (region >= st->region_refs->len)
		g_array_set_size(st->region_refs, region + 1);
	g_array_index(st->region_refs, uint32_t, region)++;
}

static void region_put(struct strace *st, uint32_t region)
{
	if (!--g_array_index(st->region_refs, uint32_t, region))
		g_array_append_val(st->free_regions, region);
}

static uint32_t region_new(struct import *im)
{
	struct strace *st = im->priv;
	uint32_t region;

	if (!st->free_regions->len)
		return import_region(im);
	region = g_array_index(st->free_regions, uint32_t, st->free_regions->len - 1);
	g_array_set_size(st->free_regions, st->free_regions->len - 1);
	return region;
}

static struct svma *vma_at(const struct smm *mm, guint i)
{
	return &g_array_index(mm->vmas, struct svma, i);
}

static void vma_drop(struct strace *st, const struct svma *vma)
{
	region_put(st, vma->region);
	if (vma->file == STRACE_NO_FILE)
		return;
	strace_file(st, vma->file)->nr_maps--;
	strace_ofd_put(vma->ofd);
}

static void vma_keep(struct strace *st, const struct svma *vma)
{
	region_get(st, vma->region);
	if (vma->file == STRACE_NO_FILE)
		return;
	strace_file(st, vma->file)->nr_maps++;
	vma->ofd->refs++;
}

struct smm *strace_mm_new(uint64_t leader)
{
	struct smm *mm = g_new0(struct smm, 1);

	mm->refs = 1;
	mm->leader = leader;
	mm->vmas = g_array_new(FALSE, TRUE, sizeof(struct svma));
	return mm;
}

struct smm *strace_mm_copy(struct strace *st, const struct smm *from, uint64_t leader)
{
	struct smm *mm = strace_mm_new(leader);

	mm->brk_start = from->brk_start;
	mm->brk = from->brk;
	g_array_append_vals(mm->vmas, from->vmas->data, from->vmas->len);
	for (guint i = 0; i < mm->vmas->len; i++)
		vma_keep(st, vma_at(mm, i));
	return mm;
}

void strace_mm_clear(struct strace *st, struct smm *mm)
{
	for (guint i = 0; i < mm->vmas->len; i++)
		vma_drop(st, vma_at(mm, i));
	g_array_set_size(mm->vmas, 0);
	mm->brk = mm->brk_start = 0;
	mm->some_untouched = false;
	mm->work_stale = true;
}

void strace_mm_put(struct strace *st, struct smm *mm)
{
	if (!mm || --mm->refs)
		return;
	strace_mm_clear(st, mm);
	g_array_free(mm->vmas, TRUE);
	strace_work_done(mm);
	g_free(mm);
}

/* First mapping that ends behind the page. */
static guint vma_search(const struct smm *mm, uint64_t page)
{
	guint low = 0, high = mm->vmas->len;

	while (low < high) {
		guint middle = (low + high) / 2;

		if (vma_at(mm, middle)->end <= page)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void put_range(struct import *im, uint8_t op, uint16_t arg, const struct svma *vma,
		      uint64_t start, uint64_t end)
{
	struct rs_record record = { .op = op,
				    .arg = arg,
				    .object = vma->region,
				    .page = (uint32_t)(start - vma->base),
				    .count = (uint32_t)(end - start) };

	import_put_timed(im, &record, NULL);
}

static void mm_unmap(struct import *im, struct smm *mm, uint64_t start, uint64_t end)
{
	struct strace *st = im->priv;
	guint i = vma_search(mm, start);

	mm->work_stale = true;
	while (i < mm->vmas->len && vma_at(mm, i)->start < end) {
		struct svma *vma = vma_at(mm, i), rest = *vma;
		uint64_t from = MAX(start, vma->start), to = MIN(end, vma->end);

		put_range(im, RS_OP_MUNMAP, 0, vma, from, to);
		if (from == vma->start && to == vma->end) {
			vma_drop(st, vma);
			g_array_remove_index(mm->vmas, i);
			continue;
		}
		if (from == vma->start) {
			vma->start = to;
		} else if (to == vma->end) {
			vma->end = from;
		} else {
			vma->end = from;
			rest.start = to;
			vma_keep(st, &rest);
			g_array_insert_val(mm->vmas, i + 1, rest);
		}
		i++;
	}
}

struct request {
	uint64_t start, pages, pgoff;
	uint32_t file;
	struct sofd *ofd; /* of the file */
	uint8_t prot;
	bool shared, stack, touch;
};

/*
 * Pages of the request that the file has. A loader maps libraries past their ends, to cover them
 * with other mappings later; a trace's mappings end with the file.
 */
static uint64_t pages_in_file(struct import *im, const struct request *r)
{
	const struct import_file *file = import_file_at(im, r->file);
	uint64_t size;

	if (!strace_file(im->priv, r->file)->known)
		import_file_reaches(im, r->file, r->pgoff + r->pages, false);
	size = file->resized ? file->now : file->pages;
	return r->pgoff < size ? MIN(r->pages, size - r->pgoff) : 0;
}

/* The trace's thread is the task (strace_switch()). */
static struct svma *mm_map(struct import *im, struct smm *mm, const struct request *r)
{
	struct strace *st = im->priv;
	struct svma vma = { .start = r->start,
			    .end = r->start + r->pages,
			    .base = r->start,
			    .pgoff = r->pgoff,
			    .file = r->file,
			    .ofd = r->ofd,
			    .prot = r->prot,
			    .shared = r->shared,
			    .untouched = r->touch };
	struct rs_record record = { .op = RS_OP_MMAP };
	struct rs_map map = { .file = RS_MAP_FILE_NONE,
			      .prot = r->prot | (r->shared ? VM_SHARED : 0) |
				      (r->stack ? VM_STACK : 0),
			      .pages = r->pages,
			      .pgoff = r->pgoff,
			      .address = r->start };
	guint i;

	if (!r->start || !r->pages || r->start >= MAX_PAGE || r->pages >= MAX_PAGE - r->start ||
	    r->pages >= UINT32_MAX || r->pgoff >= UINT32_MAX - r->pages)
		return NULL;
	mm_unmap(im, mm, vma.start, vma.end);
	if (mm->vmas->len >= MAX_VMAS) {
		import_skip(im, "mappings of a process that has 65536 of them");
		return NULL;
	}
	if (r->file != STRACE_NO_FILE) {
		map.pages = pages_in_file(im, r);
		if (!map.pages)
			return NULL;
		vma.end = r->start + map.pages;
		import_file_at(im, r->file)->used = true;
		map.file = import_file_at(im, r->file)->id;
		record.arg = strace_ofd_number(im, r->ofd);
	}
	vma.region = region_new(im);
	vma_keep(st, &vma);
	record.object = vma.region;
	import_put_timed(im, &record, &map);
	i = vma_search(mm, vma.start);
	g_array_insert_val(mm->vmas, i, vma);
	mm->some_untouched |= r->touch;
	return vma_at(mm, i);
}

static uint8_t prot_of(const struct scall *c, unsigned arg)
{
	return (scall_has(c, arg, "PROT_READ") ? VM_READ : 0) |
	       (scall_has(c, arg, "PROT_WRITE") ? VM_WRITE : 0) |
	       (scall_has(c, arg, "PROT_EXEC") ? VM_EXEC : 0);
}

static uint64_t pages_of(uint64_t bytes)
{
	return bytes / RS_PAGE_SIZE + (bytes % RS_PAGE_SIZE != 0);
}

static void mapped(struct import *im, struct stask *task, const struct scall *c)
{
	struct strace *st = im->priv;
	uint64_t length = 0, offset = 0;
	struct sofd *ofd = NULL;
	bool anon = scall_has(c, 3, "MAP_ANONYMOUS") || scall_has(c, 3, "MAP_ANON");
	struct request r = { .start = c->result >> RS_PAGE_SHIFT,
			     .file = STRACE_NO_FILE,
			     .prot = prot_of(c, 2),
			     .touch = true };

	if (!scall_number(c, 1, &length))
		return;
	r.pages = pages_of(length);
	st->mmaps++;
	if (anon) {
		st->mmap_anon++;
		st->mmap_anon_pages += r.pages;
	} else {
		st->mmap_file++;
		st->mmap_file_pages += r.pages;
		ofd = strace_fd(im, task, c, 4);
		scall_number(c, 5, &offset);
		r.pgoff = scall_is(c, "mmap2") ? offset : offset >> RS_PAGE_SHIFT;
		if (!ofd || ofd->file == STRACE_NO_FILE) {
			import_skip(im, "mappings of descriptors of unknown origin or of devices");
			return;
		}
		r.file = ofd->file;
		r.ofd = ofd;
	}
	r.shared = scall_has(c, 3, "MAP_SHARED") || scall_has(c, 3, "MAP_SHARED_VALIDATE");
	/* Shared anonymous memory and stacks of threads are only partly used. */
	r.stack = false;
	if (scall_has(c, 3, "MAP_STACK") && r.pages > 16) {
		struct svma *vma;

		r.touch = false;
		if (strace_switch(im, task) && (vma = mm_map(im, task->mm, &r)) &&
		    r.prot & VM_WRITE)
			put_range(im, RS_OP_STORE, 0, vma, vma->end - 8, vma->end);
		return;
	}
	if (strace_switch(im, task))
		mm_map(im, task->mm, &r);
}

static void unmapped(struct import *im, struct stask *task, const struct scall *c)
{
	uint64_t start, length;

	if (!scall_number(c, 0, &start) || !scall_number(c, 1, &length) || length > 1ull << 47 ||
	    start > 1ull << 47 || !strace_switch(im, task))
		return;
	mm_unmap(im, task->mm, start >> RS_PAGE_SHIFT, (start >> RS_PAGE_SHIFT) + pages_of(length));
}

/* Pages of a reserve that become writable (malloc arenas) are about to be used. */
static void protected(struct import *im, struct stask *task, const struct scall *c)
{
	struct smm *mm = task->mm;
	uint8_t prot = prot_of(c, 2);
	uint64_t start, length, end;

	if (!scall_number(c, 0, &start) || !scall_number(c, 1, &length) || length > 1ull << 47 ||
	    start > 1ull << 47 || !strace_switch(im, task))
		return;
	start >>= RS_PAGE_SHIFT;
	end = start + pages_of(length);
	for (guint i = vma_search(mm, start); i < mm->vmas->len && vma_at(mm, i)->start < end;
	     i++) {
		struct svma *vma = vma_at(mm, i), whole = *vma;
		uint64_t from = MAX(start, vma->start), to = MIN(end, vma->end);
		struct request r = { .start = from,
				     .pages = to - from,
				     .pgoff = whole.pgoff + (from - whole.base),
				     .file = whole.file,
				     .ofd = whole.ofd,
				     .prot = prot,
				     .shared = whole.shared };

		if (whole.prot == prot)
			continue;
		if (!whole.prot && whole.file == STRACE_NO_FILE && prot & VM_WRITE) {
			/* A reserve had no pages: the piece is a mapping of its own from now on. */
			r.touch = true;
			r.pgoff = 0;
			mm_map(im, mm, &r);
			i = vma_search(mm, from);
			continue;
		}
		if (from == whole.start && to == whole.end)
			vma->prot = prot;
		put_range(im, RS_OP_MPROTECT, prot, &whole, from, to);
	}
}

static void remapped(struct import *im, struct stask *task, const struct scall *c)
{
	struct smm *mm = task->mm;
	uint64_t start, old_length, length;
	struct request r = { .start = c->result >> RS_PAGE_SHIFT,
			     .file = STRACE_NO_FILE,
			     .prot = VM_READ | VM_WRITE,
			     .touch = true };
	guint i;

	if (!scall_number(c, 0, &start) || !scall_number(c, 1, &old_length) ||
	    !scall_number(c, 2, &length) || length > 1ull << 47 || old_length > 1ull << 47 ||
	    start > 1ull << 47 || !strace_switch(im, task))
		return;
	start >>= RS_PAGE_SHIFT;
	r.pages = pages_of(length);
	i = vma_search(mm, start);
	if (i < mm->vmas->len && vma_at(mm, i)->start <= start) {
		const struct svma *vma = vma_at(mm, i);

		r.file = vma->file;
		r.ofd = vma->ofd;
		r.pgoff = vma->file == STRACE_NO_FILE ? 0 : vma->pgoff + (start - vma->base);
		r.prot = vma->prot;
		r.shared = vma->shared;
	}
	/* In place: only what is new, or less. */
	if (r.start == start && length >= old_length) {
		r.start += pages_of(old_length);
		r.pgoff += r.file == STRACE_NO_FILE ? 0 : pages_of(old_length);
		r.pages -= pages_of(old_length);
	} else if (r.start == start) {
		mm_unmap(im, mm, start + r.pages, start + pages_of(old_length));
		return;
	} else {
		/* The mapping that moves may be the last that holds the open file. */
		if (r.ofd)
			r.ofd->refs++;
		mm_unmap(im, mm, start, start + pages_of(old_length));
		mm_map(im, mm, &r);
		if (r.ofd)
			strace_ofd_put(r.ofd);
		return;
	}
	if (r.pages)
		mm_map(im, mm, &r);
}

static void broken(struct import *im, struct stask *task, const struct scall *c)
{
	struct smm *mm = task->mm;
	uint64_t old = pages_of(mm->brk), now = pages_of(c->result);
	struct request r = { .start = old,
			     .pages = now - old,
			     .file = STRACE_NO_FILE,
			     .prot = VM_READ | VM_WRITE,
			     .touch = true };

	if (c->result >= IMPORT_MAX_ADDRESS)
		return;
	if (!mm->brk) {
		mm->brk_start = mm->brk = c->result;
		return;
	}
	mm->brk = c->result;
	if (old == now || !strace_switch(im, task))
		return;
	if (now > old)
		mm_map(im, mm, &r);
	else
		mm_unmap(im, mm, now, old);
}

static void advised(struct import *im, struct stask *task, const struct scall *c)
{
	static const struct {
		const char *name;
		uint16_t advice;
	} advices[] = { { "MADV_NORMAL", RS_ADV_NORMAL },
			{ "MADV_RANDOM", RS_ADV_RANDOM },
			{ "MADV_SEQUENTIAL", RS_ADV_SEQUENTIAL },
			{ "MADV_DONTNEED", RS_ADV_DONTNEED },
			{ "MADV_WILLNEED", RS_ADV_WILLNEED },
			{ "MADV_FREE", RS_ADV_FREE },
			{ "MADV_COLD", RS_ADV_COLD },
			{ "MADV_PAGEOUT", RS_ADV_PAGEOUT },
			{ "MADV_HUGEPAGE", RS_ADV_HUGEPAGE },
			{ "MADV_NOHUGEPAGE", RS_ADV_NOHUGEPAGE } };
	struct smm *mm = task->mm;
	uint64_t start, length, end;

	if (!scall_number(c, 0, &start) || !scall_number(c, 1, &length) || length > 1ull << 47 ||
	    start > 1ull << 47)
		return;
	start >>= RS_PAGE_SHIFT;
	end = start + pages_of(length);
	for (unsigned a = 0; a < G_N_ELEMENTS(advices); a++) {
		if (!scall_has(c, 2, advices[a].name) || !strace_switch(im, task))
			continue;
		for (guint i = vma_search(mm, start);
		     i < mm->vmas->len && vma_at(mm, i)->start < end; i++) {
			struct svma *vma = vma_at(mm, i);

			put_range(im, RS_OP_MADVISE, advices[a].advice, vma, MAX(start, vma->start),
				  MIN(end, vma->end));
		}
	}
}

void strace_mm_call(struct import *im, struct stask *task, const struct scall *c)
{
	bool layout = scall_is(c, "mmap") || scall_is(c, "mmap2") || scall_is(c, "mprotect") ||
		      scall_is(c, "munmap");

	/* A loader maps a library in pieces over each other: only what is left is used. */
	if (!layout && task->mm->some_untouched)
		strace_touch(im, task);
	if (!layout && strace_switch(im, task))
		strace_work(im, task, STRACE_WORK_PER_CALL);
	if (c->failed || c->unknown)
		return;
	if (scall_is(c, "mmap") || scall_is(c, "mmap2"))
		mapped(im, task, c);
	else if (scall_is(c, "munmap"))
		unmapped(im, task, c);
	else if (scall_is(c, "mprotect"))
	protected(im, task, c);
	else if (scall_is(c, "mremap")) remapped(im, task, c);
	else if (scall_is(c, "brk")) broken(im, task, c);
	else if (scall_is(c, "madvise")) advised(im, task, c);
}

/* exec() opens the file anew, so faults of each process begin with fresh read-ahead state. */
static uint64_t map_program(struct import *im, struct smm *mm, uint32_t file, uint64_t start)
{
	struct request r = { .start = start,
			     .pages = import_file_at(im, file)->pages,
			     .file = file,
			     .prot = VM_READ | VM_EXEC,
			     .touch = true };

	if (!r.pages)
		r.pages = UNKNOWN_EXEC_PAGES;
	r.ofd = strace_ofd_new(im, file);
	r.ofd->refs++;
	mm_map(im, mm, &r);
	strace_ofd_put(r.ofd);
	return r.pages;
}

/*
 * The program's file is executable and private; behind it lie its data and bss, of which the log
 * says nothing: a sixteenth of the file's size (cc1 of gcc 12 has 5 %, make 10 %).
 */
void strace_mm_exec(struct import *im, struct stask *task, uint32_t file)
{
	struct smm *mm = task->mm;
	const char *linker = "/lib64/ld-linux-x86-64.so.2";
	struct request r = { .start = STACK_END - STACK_PAGES,
			     .pages = STACK_PAGES,
			     .file = STRACE_NO_FILE,
			     .prot = VM_READ | VM_WRITE,
			     .stack = true };
	struct svma *stack = mm_map(im, mm, &r);
	uint64_t pages;

	if (stack)
		put_range(im, RS_OP_STORE, 0, stack, stack->end - 6, stack->end);
	if (file == STRACE_NO_FILE)
		return;
	pages = map_program(im, mm, file, EXEC_PAGE);
	r = (struct request){ .start = EXEC_PAGE + pages,
			      .pages = (pages + DATA_SHARE - 1) / DATA_SHARE,
			      .file = STRACE_NO_FILE,
			      .prot = VM_READ | VM_WRITE,
			      .touch = true };
	mm_map(im, mm, &r);
	file = strace_path_file(im, task, linker, strlen(linker));
	if (file != STRACE_NO_FILE)
		map_program(im, mm, file, LINKER_PAGE);
}
