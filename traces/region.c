/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * region.c - the regions of an address space by number, in chunks of 256. A fork copies the array
 * of chunk pointers only; a chunk is copied when one of its users changes it.
 */
#include "traces/region.h"

#include <reclaimsim/policy.h>
#include <string.h>

#include "traces/record.h"

struct process *process_new(void)
{
	return g_new0(struct process, 1);
}

static void chunk_unref(struct region_chunk *c)
{
	if (!c || --c->refs)
		return;
	for (uint32_t i = 0; i < REGION_CHUNK; i++)
		if (c->region[i].segments)
			g_array_unref(c->region[i].segments);
	g_free(c);
}

/* The chunk of a region, made if needed, and this process's own. */
static struct region_chunk *own_chunk(struct process *p, uint32_t id)
{
	uint32_t at = id >> REGION_CHUNK_SHIFT;

	if (at >= p->nr_chunks) {
		p->chunks = g_renew(struct region_chunk *, p->chunks, at + 1);
		memset(p->chunks + p->nr_chunks, 0, (at + 1 - p->nr_chunks) * sizeof(*p->chunks));
		p->nr_chunks = at + 1;
	}
	struct region_chunk *c = p->chunks[at];
	if (!c) {
		c = g_new0(struct region_chunk, 1);
	} else if (c->refs > 1) {
		c = g_memdup2(c, sizeof(*c));
		for (uint32_t i = 0; i < REGION_CHUNK; i++)
			if (c->region[i].segments)
				g_array_ref(c->region[i].segments);
		p->chunks[at]->refs--;
	} else {
		return c;
	}
	c->refs = 1;
	return p->chunks[at] = c;
}

struct process *process_fork(const struct process *parent)
{
	struct process *p = process_new();

	p->nr_chunks = parent->nr_chunks;
	p->chunks = g_memdup2(parent->chunks, parent->nr_chunks * sizeof(*p->chunks));
	for (uint32_t i = 0; i < p->nr_chunks; i++)
		if (p->chunks[i])
			p->chunks[i]->refs++;
	return p;
}

void process_clear(struct process *p)
{
	for (uint32_t i = 0; i < p->nr_chunks; i++)
		chunk_unref(p->chunks[i]);
	g_free(p->chunks);
	p->chunks = NULL;
	p->nr_chunks = 0;
}

void process_free(struct process *p)
{
	if (!p)
		return;
	process_clear(p);
	g_free(p);
}

const struct region_state *process_region(const struct process *p, uint32_t id)
{
	uint32_t at = id >> REGION_CHUNK_SHIFT;

	if (at >= p->nr_chunks || !p->chunks[at])
		return NULL;
	const struct region_state *r = &p->chunks[at]->region[id & (REGION_CHUNK - 1)];
	return r->pages ? r : NULL;
}

void process_map(struct process *p, uint32_t id, const struct region_state *r)
{
	struct region_chunk *c = own_chunk(p, id);

	c->region[id & (REGION_CHUNK - 1)] = *r;
	c->nr_mapped++;
}

/* Free the chunk with its last region, and shrink the array behind the last chunk. */
static void unmap(struct process *p, uint32_t id)
{
	uint32_t at = id >> REGION_CHUNK_SHIFT;
	struct region_chunk *c = own_chunk(p, id);
	struct region_state *r = &c->region[id & (REGION_CHUNK - 1)];

	if (r->segments)
		g_array_unref(r->segments);
	memset(r, 0, sizeof(*r));
	if (--c->nr_mapped)
		return;
	chunk_unref(c);
	p->chunks[at] = NULL;
	while (p->nr_chunks && !p->chunks[p->nr_chunks - 1])
		p->nr_chunks--;
}

void region_set_limits(struct region_state *r, uint32_t file_pages)
{
	uint32_t pages = r->pages;

	if (r->file != RS_MAP_FILE_NONE)
		pages = file_pages > r->pgoff ? MIN(pages, file_pages - r->pgoff) : 0;
	r->limit[0] = r->segments || !r->prot ? 0 : pages;
	r->limit[1] = r->segments || !(r->prot & VM_WRITE) ? 0 : pages;
}

static void append(GArray *to, uint32_t start, uint32_t end, uint32_t prot)
{
	struct segment s = { start, end, prot };

	if (start >= end)
		return;
	if (to->len) {
		struct segment *last = &g_array_index(to, struct segment, to->len - 1);

		if (last->end == start && last->prot == prot) {
			last->end = end;
			return;
		}
	}
	g_array_append_val(to, s);
}

/* The pieces of a region after a change of pages start..end-1. */
static GArray *changed_segments(const struct region_state *r, uint32_t start, uint32_t end,
				uint32_t prot)
{
	GArray *to = g_array_new(FALSE, FALSE, sizeof(struct segment));
	struct segment whole = { 0, r->pages, r->prot };
	const struct segment *from = r->segments ? (void *)r->segments->data : &whole;
	uint32_t n = r->segments ? r->segments->len : 1;

	for (uint32_t i = 0; i < n; i++) {
		const struct segment *s = &from[i];

		append(to, s->start, MIN(s->end, start), s->prot);
		if (prot != REGION_UNMAP)
			append(to, MAX(s->start, start), MIN(s->end, end), prot);
		append(to, MAX(s->start, end), s->end, s->prot);
	}
	return to;
}

bool process_change(struct process *p, uint32_t id, uint32_t page, uint32_t count, uint32_t prot,
		    uint32_t file_pages)
{
	struct region_state *r = &own_chunk(p, id)->region[id & (REGION_CHUNK - 1)];
	g_autoptr(GArray) to = NULL;

	if (count == r->pages && prot == REGION_UNMAP) {
		unmap(p, id);
		return true;
	}
	to = changed_segments(r, page, page + count, prot);
	if (to->len > TRACE_MAX_SEGMENTS)
		return false;
	if (!to->len) {
		unmap(p, id);
		return true;
	}
	const struct segment *first = (void *)to->data;
	bool whole = first->start == 0 && first->end == r->pages;
	if (r->segments)
		g_array_unref(r->segments);
	r->segments = whole ? NULL : g_steal_pointer(&to);
	if (whole)
		r->prot = first->prot;
	region_set_limits(r, file_pages);
	return true;
}

bool process_file_resized(struct process *p, uint32_t file, uint32_t file_pages)
{
	bool clipped = false;

	for (uint32_t i = 0; i < p->nr_chunks; i++) {
		struct region_chunk *c = p->chunks[i];

		for (uint32_t j = 0; c && j < REGION_CHUNK; j++) {
			struct region_state *r = &c->region[j];

			if (!r->pages || r->file != file)
				continue;
			region_set_limits(r, file_pages);
			clipped |= (uint64_t)r->pgoff + r->pages > file_pages;
		}
	}
	return clipped;
}

enum region_verdict region_access(const struct region_state *r, uint32_t page, uint32_t count,
				  bool store)
{
	struct segment whole = { 0, r->pages, r->prot };
	const struct segment *s = r->segments ? (void *)r->segments->data : &whole;
	uint32_t n = r->segments ? r->segments->len : 1, end = page + count;
	uint32_t low = 0, high = n;

	/* The first piece that ends behind page. */
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (s[middle].end <= page)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < n && page < end; low++) {
		if (s[low].start > page)
			return REGION_HOLE;
		if (store ? !(s[low].prot & VM_WRITE) : !s[low].prot)
			return REGION_PROTECTED;
		page = MIN(s[low].end, end);
	}
	return page < end ? REGION_HOLE : REGION_FINE;
}
