/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * import_strace_touch.c - what a program touches of its mappings, which an strace log cannot say.
 *
 * The model, the same for every log:
 *  - anonymous memory (mmap, brk, a reserve that mprotect opens): each page is stored to once, in
 *    order, when the program goes on after mapping it; of a mapping above 32 MiB the first MiB;
 *  - private writable mappings of files (data, relocations): each page stored to, up to 1 MiB;
 *  - other mappings of files: one load in each 64 KiB, which is what fault-around maps at a fault;
 *  - with --with touched=FILE, instead: exactly the pages of the file that are listed there.
 */
#include "traces/import_strace.h"
#include "traces/import_text.h"

#define WINDOW 16u
#define ANON_ALL 8192u /* pages */
#define ANON_SOME 256u
#define DATA_MAX 256u

struct range {
	uint32_t first, last;
};

/* "PAGES RESIDENT FIRST-LAST,FIRST,... PATH" */
static bool touched_line(struct strace *st, const char *p, const char *end)
{
	uint64_t number, first, last;
	GArray *ranges;
	struct range range;

	if (!text_u64(&p, end, &number) || !text_char(&p, end, ' ') ||
	    !text_u64(&p, end, &number) || !text_char(&p, end, ' '))
		return false;
	ranges = g_array_new(FALSE, FALSE, sizeof(range));
	while (p < end && *p != ' ') {
		if (!text_u64(&p, end, &first))
			break;
		last = first;
		if (text_char(&p, end, '-') && !text_u64(&p, end, &last))
			break;
		if (last < first || last >= UINT32_MAX)
			break;
		range = (struct range){ (uint32_t)first, (uint32_t)last };
		g_array_append_val(ranges, range);
		text_char(&p, end, ',');
	}
	if (!text_char(&p, end, ' ') || p == end) {
		g_array_free(ranges, TRUE);
		return false;
	}
	g_hash_table_replace(st->touched, g_strndup(p, (gsize)(end - p)), ranges);
	return true;
}

static void ranges_free(void *data)
{
	g_array_free(data, TRUE);
}

bool strace_read_touched(struct import *im, const char *path, GError **error)
{
	struct strace *st = im->priv;
	struct import_input *in = import_open(path, error);
	GString *text = g_string_new(NULL);
	char buffer[16384];
	ssize_t got;
	unsigned line = 0;
	bool fine = in;

	st->touched = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, ranges_free);
	while (fine && (got = import_read(in, buffer, sizeof(buffer), error)) > 0 &&
	       text->len < 64u << 20)
		g_string_append_len(text, buffer, got);
	fine = fine && got >= 0;
	for (const char *p = text->str, *nl; fine && (nl = strchr(p, '\n')); p = nl + 1) {
		line++;
		if (nl == p || touched_line(st, p, nl))
			continue;
		g_set_error(error, RS_ERROR, RS_ERROR_INPUT,
			    "%s:%u: not \"PAGES RESIDENT FIRST-LAST,... PATH\"", path, line);
		fine = false;
	}
	g_string_free(text, TRUE);
	import_close(in);
	return fine;
}

/* Pages from..to of the mapping. */
static void touch_pages(struct import *im, const struct svma *vma, uint64_t from, uint64_t to, bool store)
{
	struct rs_record record = { .op = store ? RS_OP_STORE : RS_OP_LOAD,
				    .object = vma->region,
				    .page = (uint32_t)(from - vma->base),
				    .count = (uint32_t)(to - from) };

	if (from >= to)
		return;
	im->c.page_accesses += record.count;
	if (vma->file != STRACE_NO_FILE)
		pageset_add(&im->pages, vma->file, vma->pgoff + record.page, record.count);
	else
		pageset_add(&im->pages, import_space(im), 1ull << 49 | from, record.count);
	import_put_timed(im, &record, NULL);
}

static void listed(struct import *im, const struct svma *vma, const GArray *ranges, uint64_t end,
		   bool store)
{
	uint64_t first = vma->pgoff + (vma->start - vma->base), last = first + (end - vma->start);

	for (guint i = 0; i < ranges->len; i++) {
		const struct range *r = &g_array_index(ranges, struct range, i);
		uint64_t from = MAX(first, r->first), to = MIN(last, (uint64_t)r->last + 1);

		if (from < to)
			touch_pages(im, vma, vma->start + (from - first), vma->start + (to - first),
			       store);
	}
}

static void touch_file(struct import *im, const struct svma *vma)
{
	struct strace *st = im->priv;
	const struct import_file *file = import_file_at(im, vma->file);
	uint64_t size = file->resized ? file->now : file->pages;
	uint64_t first = vma->pgoff + (vma->start - vma->base);
	uint64_t end = first >= size ? vma->start : MIN(vma->end, vma->start + (size - first));
	bool store = vma->prot & VM_WRITE && !vma->shared;
	GArray *ranges = st->touched ? g_hash_table_lookup(st->touched, file->name) : NULL;

	if (!(vma->prot & VM_READ))
		return;
	if (ranges) {
		listed(im, vma, ranges, end, store);
		return;
	}
	if (store) {
		touch_pages(im, vma, vma->start, MIN(end, vma->start + DATA_MAX), true);
		return;
	}
	for (uint64_t page = vma->start; page < end; page += WINDOW)
		touch_pages(im, vma, page, page + 1, false);
}

static void touch_vma(struct import *im, const struct svma *vma)
{
	uint64_t pages = vma->end - vma->start;

	if (vma->file != STRACE_NO_FILE)
		touch_file(im, vma);
	else if (vma->prot & VM_WRITE)
		touch_pages(im, vma, vma->start,
		       vma->start + (pages > ANON_ALL ? ANON_SOME : pages), true);
}

void strace_touch(struct import *im, struct stask *task)
{
	struct smm *mm = task->mm;

	mm->some_untouched = false;
	if (!strace_switch(im, task))
		return;
	for (guint i = 0; i < mm->vmas->len; i++) {
		struct svma *vma = &g_array_index(mm->vmas, struct svma, i);

		if (vma->untouched)
			touch_vma(im, vma);
		vma->untouched = false;
	}
}
