/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * opt.c - Belady's MIN over a whole trace.
 *
 * The accesses become an array of page numbers; a pass backwards gives each the time of the page's
 * next access that would cost something, or never. Then memory is filled, and when it is full the
 * page whose next costly access lies farthest ahead goes: keeping it would save one miss at most,
 * like any other, and occupy memory longest. A page that costs nothing when it comes back (it was
 * discarded, or will be overwritten whole) is as good as never used again. The choice is also
 * optimal for every shorter piece of the trace, so the counts at the marks are bounds as well.
 */
#include <reclaimsim/opt.h>

#include <string.h>

#include "traces/pagewalk.h"

#define NEVER UINT32_MAX
#define MAX_ACCESSES (UINT32_C(1) << 31)
#define TOUCH_SHIFT                                                                                \
	29 /* page numbers are below PAGEWALK_MAX_PAGES; the touch stands above them               \
	    */
#define PAGE_MASK (PAGEWALK_MAX_PAGES - 1)

struct mark {
	uint32_t name, at; /* index of the first access behind it */
	uint64_t op;
};

struct sequence {
	struct pagewalk walk;
	GArray *accesses; /* uint32_t: touch and page */
	GArray *marks;
	uint64_t op;
};

static void add_access(void *arg, uint32_t page, enum touch touch)
{
	struct sequence *s = arg;
	uint32_t access = (uint32_t)touch << TOUCH_SHIFT | page;

	if (s->accesses->len < MAX_ACCESSES)
		g_array_append_val(s->accesses, access);
}

static bool too_long(GError **error)
{
	g_set_error(
		error, RS_ERROR, RS_ERROR_INPUT,
		"the trace is too long for the opt bound; valid are up to %u accesses and %u pages",
		MAX_ACCESSES - 1, PAGEWALK_MAX_PAGES - 1);
	return false;
}

static bool read_batch(struct sequence *s, const struct rs_batch *batch)
{
	for (uint32_t i = 0; i < batch->nr_records; i++) {
		const struct rs_record *r = &batch->records[i];

		if (r->op == RS_OP_MARK) {
			struct mark mark = { r->object, s->accesses->len, s->op };

			g_array_append_val(s->marks, mark);
		}
		s->op += r->op != RS_OP_FILE;
		if (!pagewalk_record(&s->walk, r, batch->maps) || s->accesses->len >= MAX_ACCESSES)
			return false;
	}
	return true;
}

static bool read_sequence(struct sequence *s, struct rs_trace *trace, GError **error)
{
	struct rs_batch batch;
	int r;

	pagewalk_init(&s->walk, add_access, NULL, s);
	s->accesses = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	s->marks = g_array_new(FALSE, FALSE, sizeof(struct mark));
	s->op = 0;
	while ((r = rs_trace_next(trace, &batch, error)) > 0)
		if (!read_batch(s, &batch))
			return too_long(error);
	return r == 0;
}

static enum touch touch_of(uint32_t access)
{
	return access >> TOUCH_SHIFT;
}

static bool costs(uint32_t access)
{
	return touch_of(access) <= TOUCH_FILE_CALL;
}

/* next[i] = the next access of the same page if that one costs something. */
static uint32_t *next_uses(const uint32_t *access, uint32_t n, uint32_t nr_pages)
{
	uint32_t *next = g_new(uint32_t, n ? n : 1),
		 *seen = g_new(uint32_t, nr_pages ? nr_pages : 1);

	for (uint32_t i = 0; i < nr_pages; i++)
		seen[i] = NEVER;
	for (uint32_t i = n; i-- > 0;) {
		uint32_t page = access[i] & PAGE_MASK;

		next[i] = seen[page];
		seen[page] = costs(access[i]) ? i : NEVER;
	}
	g_free(seen);
	return next;
}

/* ---- memory: which pages are in it, and the one needed last ---- */

struct entry {
	uint32_t next, page;
};

struct memory {
	uint64_t capacity, used;
	uint32_t nr_pages;
	uint32_t *next;	  /* of each page: its next use */
	uint8_t *present; /* of each page */
	GArray *heap;	  /* struct entry, the farthest on top; may hold outdated ones */
};

static bool farther(const struct entry *a, const struct entry *b)
{
	return a->next != b->next ? a->next > b->next : a->page > b->page;
}

static void sift_up(struct entry *heap, uint32_t i)
{
	struct entry e = heap[i];

	for (; i && farther(&e, &heap[(i - 1) / 2]); i = (i - 1) / 2)
		heap[i] = heap[(i - 1) / 2];
	heap[i] = e;
}

static void sift_down(struct entry *heap, uint32_t n, uint32_t i)
{
	struct entry e = heap[i];

	while (2 * i + 1 < n) {
		uint32_t child = 2 * i + 1;

		if (child + 1 < n && farther(&heap[child + 1], &heap[child]))
			child++;
		if (!farther(&heap[child], &e))
			break;
		heap[i] = heap[child];
		i = child;
	}
	heap[i] = e;
}

static bool current(const struct memory *m, const struct entry *e)
{
	return m->present[e->page] && m->next[e->page] == e->next;
}

/* Outdated entries sink and stay: drop them when they are the majority. */
static void compact(struct memory *m)
{
	struct entry *heap = (void *)m->heap->data;
	uint32_t n = 0;

	for (uint32_t i = 0; i < m->heap->len; i++) {
		if (current(m, &heap[i]))
			heap[n++] = heap[i];
	}
	g_array_set_size(m->heap, n);
	for (uint32_t i = n / 2; i-- > 0;)
		sift_down(heap, n, i);
}

/* The heap never holds the same entry twice, so at least half of it goes in a compaction. */
static void note_use(struct memory *m, uint32_t page, uint32_t next, bool new)
{
	struct entry e = { next, page };

	if (!new && m->next[page] == next)
		return;
	m->next[page] = next;
	if (m->heap->len > 2 * m->used + 1024)
		compact(m);
	g_array_append_val(m->heap, e);
	sift_up((void *)m->heap->data, m->heap->len - 1);
}

static void evict(struct memory *m)
{
	struct entry *heap = (void *)m->heap->data, top;

	do {
		top = heap[0];
		heap[0] = heap[m->heap->len - 1];
		g_array_set_size(m->heap, m->heap->len - 1);
		if (m->heap->len)
			sift_down(heap, m->heap->len, 0);
	} while (!current(m, &top));
	m->present[top.page] = 0;
	m->used--;
}

static void count(struct rs_opt_counts *c, enum touch touch, bool missing)
{
	c->accesses++;
	c->anon += missing && touch == TOUCH_ANON;
	c->file_mapped += missing && touch == TOUCH_FILE_MAPPED;
	c->file_call += missing && touch == TOUCH_FILE_CALL;
	c->first_touches += touch == TOUCH_FIRST;
}

static void access_page(struct memory *m, uint32_t access, uint32_t next,
			struct rs_opt_counts *counts)
{
	uint32_t page = access & PAGE_MASK;
	bool missing = !m->present[page];

	count(counts, touch_of(access), missing);
	if (missing) {
		if (m->used == m->capacity)
			evict(m);
		m->present[page] = 1;
		m->used++;
	}
	note_use(m, page, next, missing);
}

static void run_min(const struct sequence *s, uint64_t capacity, struct rs_opt_result *ret)
{
	const uint32_t *access = (void *)s->accesses->data;
	const struct mark *marks = (void *)s->marks->data;
	uint32_t n = s->accesses->len, nr_marks = s->marks->len, at = 0;
	g_autofree uint32_t *next = next_uses(access, n, s->walk.nr_pages);
	struct memory m = { .capacity = capacity, .nr_pages = s->walk.nr_pages };

	m.next = g_new0(uint32_t, m.nr_pages + 1);
	m.present = g_new0(uint8_t, m.nr_pages + 1);
	m.heap = g_array_new(FALSE, FALSE, sizeof(struct entry));
	memset(ret, 0, sizeof(*ret));
	ret->marks = g_new0(struct rs_opt_mark, nr_marks + 1);
	for (uint32_t i = 0; i <= nr_marks; i++) {
		for (uint32_t end = i < nr_marks ? marks[i].at : n; at < end; at++)
			access_page(&m, access[at], next[at], &ret->end);
		if (i < nr_marks)
			ret->marks[i] =
				(struct rs_opt_mark){ marks[i].name, marks[i].op, ret->end };
	}
	ret->nr_marks = nr_marks;
	g_free(m.next);
	g_free(m.present);
	g_array_free(m.heap, TRUE);
}

bool rs_opt_bound(struct rs_trace *trace, uint64_t capacity_pages, struct rs_opt_result *ret,
		  GError **error)
{
	struct sequence s;

	if (!capacity_pages) {
		g_set_error(error, RS_ERROR, RS_ERROR_USAGE,
			    "the opt bound needs memory of at least 1 page (memory.max)");
		return false;
	}
	bool fine = read_sequence(&s, trace, error);
	if (fine) {
		run_min(&s, capacity_pages, ret);
		ret->ops = s.op;
	}
	pagewalk_done(&s.walk);
	g_array_free(s.accesses, TRUE);
	g_array_free(s.marks, TRUE);
	return fine;
}

void rs_opt_result_clear(struct rs_opt_result *r)
{
	g_free(r->marks);
	memset(r, 0, sizeof(*r));
}
