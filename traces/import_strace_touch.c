/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * import_strace_touch.c - what a program touches of its mappings, which an strace log cannot say.
 *
 * The model, the same for every log:
 *  - anonymous memory (mmap, brk, a reserve that mprotect opens): each page is stored to once, in
 *    order, when the program goes on after mapping it; of a mapping above 32 MiB the first MiB;
 * with each new page the program works (import_strace_work.c);
 *  - private writable mappings of files (data, relocations): each page stored to, up to 1 MiB;
 *  - other mappings of files, unless they are code: one load in each 64 KiB, which is what
 * fault-around maps at a fault;
 *  - with --with touched=FILE, instead: exactly the pages of the file that are listed there.
 */
#include "traces/import_strace.h"
#include "traces/import_text.h"

#define WINDOW 16u
#define ANON_ALL 8192u /* pages */
#define ANON_SOME 256u
#define DATA_MAX 256u

struct touched {
	uint64_t pages; /* size of the file */
	GArray *ranges; /* struct srange */
};

/* "PAGES RESIDENT FIRST-LAST,FIRST,... PATH" */
static bool touched_line(struct strace *st, const char *p, const char *end)
{
	uint64_t number, size, first, last;
	struct touched *touched;
	GArray *ranges;
	struct srange range;

	if (!text_u64(&p, end, &size) || !text_char(&p, end, ' ') || !text_u64(&p, end, &number) ||
	    !text_char(&p, end, ' '))
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
		range = (struct srange){ (uint32_t)first, (uint32_t)last };
		g_array_append_val(ranges, range);
		text_char(&p, end, ',');
	}
	if (!text_char(&p, end, ' ') || p == end) {
		g_array_free(ranges, TRUE);
		return false;
	}
	touched = g_new(struct touched, 1);
	touched->pages = MIN(size, UINT32_MAX - 1);
	touched->ranges = ranges;
	g_hash_table_replace(st->touched, g_strndup(p, (gsize)(end - p)), touched);
	return true;
}

static void touched_free(void *data)
{
	struct touched *touched = data;

	g_array_free(touched->ranges, TRUE);
	g_free(touched);
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

	st->touched = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, touched_free);
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
void strace_touch_pages(struct import *im, const struct svma *vma, uint64_t from, uint64_t to,
			bool store)
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
		const struct srange *r = &g_array_index(ranges, struct srange, i);
		uint64_t from = MAX(first, r->first), to = MIN(last, (uint64_t)r->last + 1);

		if (from < to)
			strace_touch_pages(im, vma, vma->start + (from - first),
					   vma->start + (to - first), store);
	}
}

const GArray *strace_listed(const struct strace *st, const char *name)
{
	const struct touched *touched = st->touched ? g_hash_table_lookup(st->touched, name) : NULL;

	return touched ? touched->ranges : NULL;
}

/* "as" is called "x86_64-linux-gnu-as", "gcc" "x86_64-linux-gnu-gcc-12", "ld" "...-ld.bfd". */
static bool is_alias(const char *listed, const char *name)
{
	size_t n = strlen(name);

	for (const char *at = listed; (at = strstr(at, name)); at += n)
		if ((at == listed ? !at[n] : at[-1] == '-') &&
		    (!at[n] || at[n] == '.' || at[n] == '-'))
			return true;
	return false;
}

const char *strace_listed_program(const struct strace *st, const char *path, uint64_t *ret_pages)
{
	const char *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path, *best = NULL;
	const struct touched *touched = NULL, *value;
	GHashTableIter iter;
	const char *key;
	bool best_exact = false;

	if (!st->touched || !*name)
		return NULL;
	g_hash_table_iter_init(&iter, st->touched);
	while (g_hash_table_iter_next(&iter, (void **)&key, (void **)&value)) {
		const char *base = strrchr(key, '/') ? strrchr(key, '/') + 1 : key;
		bool exact = !strcmp(base, name);

		if (!strcmp(key, path)) {
			*ret_pages = value->pages;
			return key;
		}
		if ((!exact && !is_alias(base, name)) || (best_exact && !exact))
			continue;
		/* The first by name, not by hash. */
		if (!best || (exact && !best_exact) || strcmp(key, best) < 0) {
			best = key;
			touched = value;
			best_exact = exact;
		}
	}
	if (best)
		*ret_pages = touched->pages;
	return best;
}

static void touch_file(struct import *im, const struct svma *vma)
{
	struct strace *st = im->priv;
	const struct import_file *file = import_file_at(im, vma->file);
	uint64_t size = file->resized ? file->now : file->pages;
	uint64_t first = vma->pgoff + (vma->start - vma->base);
	uint64_t end = first >= size ? vma->start : MIN(vma->end, vma->start + (size - first));
	bool store = vma->prot & VM_WRITE && !vma->shared;
	const GArray *ranges = strace_listed(st, file->name);

	if (!(vma->prot & VM_READ) || vma->prot & VM_EXEC)
		return;
	if (ranges) {
		listed(im, vma, ranges, end, store);
		return;
	}
	if (store) {
		strace_touch_pages(im, vma, vma->start, MIN(end, vma->start + DATA_MAX), true);
		return;
	}
	for (uint64_t page = vma->start; page < end; page += WINDOW)
		strace_touch_pages(im, vma, page, page + 1, false);
}

/* Memory is used as it is got: a page, some work, the next. */
static void touch_anon(struct import *im, struct stask *task, const struct svma *vma)
{
	uint64_t pages = vma->end - vma->start, end = vma->end;

	if (!(vma->prot & VM_WRITE))
		return;
	if (pages > ANON_ALL)
		end = vma->start + ANON_SOME;
	for (uint64_t page = vma->start; page < end && !im->error; page++) {
		strace_touch_pages(im, vma, page, page + 1, true);
		strace_work(im, task, STRACE_WORK_PER_PAGE);
	}
}

void strace_touch(struct import *im, struct stask *task)
{
	struct smm *mm = task->mm;

	mm->some_untouched = false;
	if (!strace_switch(im, task))
		return;
	for (guint i = 0; i < mm->vmas->len; i++) {
		struct svma *vma = &g_array_index(mm->vmas, struct svma, i);

		if (!vma->untouched)
			continue;
		vma->untouched = false;
		if (vma->file != STRACE_NO_FILE)
			touch_file(im, vma);
		else
			touch_anon(im, task, vma);
	}
}
