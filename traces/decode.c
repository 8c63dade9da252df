/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * decode.c - reads the columns of a block. The loop over the records has few branches, and those
 * nearly always go the same way: most records end below the limit of their template, which is the
 * size of the object as far as all of it is mapped. The others take the careful path.
 */
#include <string.h>

#include "traces/block.h"
#include "traces/record.h"
#include "traces/varint.h"

/* What the loop needs of a record besides its page. */
struct template
{
	struct rs_record record; /* with page 0 */
	uint32_t limit;		 /* pages from here on need the careful path; valid in its epoch */
	uint32_t epoch;
	uint16_t slot;
	uint8_t has_page; /* 0xff = it has a page in the column, 0 = none: always careful */
	bool difference;  /* that page is a difference */
	bool always_careful;
	bool remaps; /* limits of objects may change with it */
};
_Static_assert(sizeof(struct template) == 32, "two templates a cache line");

struct slot {
	uint32_t object;
	uint8_t kind;
	bool difference;
	uint32_t base; /* page behind the last record on it */
};

struct block_decoder {
	struct template templates[BLOCK_TEMPLATES];
	struct slot slots[BLOCK_TEMPLATES];
	uint32_t nr_slots, nr_templates;
	uint32_t epoch; /* grows when a limit may have changed; starts at 1 in a block */
	uint64_t last_time;
};

struct block_decoder *block_decoder_new(void)
{
	return g_new0(struct block_decoder, 1);
}

void block_decoder_free(struct block_decoder *d)
{
	g_free(d);
}

static bool damaged(GError **error, const char *what)
{
	g_set_error(error, RS_ERROR, RS_ERROR_INPUT, "damaged block: bad %s", what);
	return false;
}

static bool read_names(struct cursor *c, struct trace_state *s, GError **error)
{
	char name[NAME_MAX_BYTES + 1];
	uint64_t n, len;

	if (!get_varint(c, UINT32_MAX, &n))
		return damaged(error, "number of names");
	while (n--) {
		if (c->at == c->end || *c->at >= NR_NAME_KINDS)
			return damaged(error, "kind of name");
		struct names *names = &s->names[*c->at++];

		if (!get_varint(c, NAME_MAX_BYTES, &len) || !len || len > (size_t)(c->end - c->at))
			return damaged(error, "length of a name");
		memcpy(name, c->at, len);
		name[len] = '\0';
		c->at += len;
		if (memchr(name, '\0', len) || names_find(names, name) != NAME_NONE)
			return damaged(error, "name");
		names_add(names, name);
	}
	return true;
}

static bool read_maps(struct cursor *c, GArray *maps, uint32_t nr_records, GError **error)
{
	uint64_t n, file, prot;

	if (!get_varint(c, nr_records, &n))
		return damaged(error, "number of mappings");
	while (n--) {
		struct rs_map map;

		if (!get_varint(c, UINT32_MAX, &file) || !get_varint(c, UINT32_MAX, &prot) ||
		    !get_varint(c, UINT64_MAX, &map.pages) ||
		    !get_varint(c, UINT64_MAX, &map.pgoff) ||
		    !get_varint(c, UINT64_MAX, &map.address))
			return damaged(error, "mapping");
		map.file = file - 1;
		map.prot = prot;
		g_array_append_val(maps, map);
	}
	return true;
}

static bool read_slots(struct cursor *c, struct block_decoder *d, GError **error)
{
	uint64_t n, object;

	if (!get_varint(c, BLOCK_TEMPLATES, &n))
		return damaged(error, "number of objects");
	d->nr_slots = n;
	for (uint32_t i = 0; i < n; i++) {
		struct slot *s = &d->slots[i];

		if (c->at == c->end || (*c->at & ~BLOCK_BY_DIFFERENCE) >= NR_NAME_KINDS)
			return damaged(error, "kind of object");
		s->base = 0;
		s->difference = *c->at & BLOCK_BY_DIFFERENCE;
		s->kind = *c->at++ & ~BLOCK_BY_DIFFERENCE;
		if (!get_varint(c, TRACE_MAX_OBJECTS, &object))
			return damaged(error, "object");
		s->object = object;
	}
	return true;
}

static bool changes_limits(uint8_t op)
{
	switch (op) {
	case RS_OP_WRITE: /* met only where it grows its file */
	case RS_OP_FILE:
	case RS_OP_MMAP:
	case RS_OP_MUNMAP:
	case RS_OP_MPROTECT:
	case RS_OP_TRUNCATE:
	case RS_OP_THREAD:
	case RS_OP_EXEC:
	case RS_OP_EXIT:
		return true;
	default:
		return false;
	}
}

/* Records that no limit lets pass. */
static bool needs_care(const struct rs_record *r)
{
	switch (r->op) {
	case RS_OP_LOAD:
	case RS_OP_STORE:
		return r->arg || !r->count;
	case RS_OP_READ:
	case RS_OP_WRITE:
		return !r->count;
	default:
		return true;
	}
}

static bool read_template(struct cursor *c, struct block_decoder *d, struct template *t)
{
	uint64_t arg, slot = 0, count = 0;

	if (c->at == c->end)
		return false;
	memset(t, 0, sizeof(*t));
	uint8_t op = *c->at++;
	int kind = rs_record_object_kind(op);
	if (op == RS_OP_NONE || op >= RS_NR_OPS || !get_varint(c, UINT16_MAX, &arg))
		return false;
	if (kind >= 0) {
		if (!get_varint(c, BLOCK_TEMPLATES, &slot) || slot >= d->nr_slots ||
		    d->slots[slot].kind != (uint32_t)kind)
			return false;
		t->record.object = d->slots[slot].object;
	}
	t->has_page = record_has_pages(op) ? 0xff : 0;
	if (t->has_page && !get_varint(c, UINT32_MAX, &count))
		return false;
	t->record.op = op;
	t->record.arg = arg;
	t->record.count = count;
	t->slot = slot;
	t->always_careful = needs_care(&t->record);
	t->remaps = changes_limits(op);
	t->difference = t->has_page && d->slots[slot].difference;
	return true;
}

static bool read_templates(struct cursor *c, struct block_decoder *d, GError **error)
{
	uint64_t n;

	if (!get_varint(c, BLOCK_TEMPLATES, &n))
		return damaged(error, "number of templates");
	/* A head without template meets one of record type 0, which is an error. */
	if (d->nr_templates > n)
		memset(d->templates + n, 0, (d->nr_templates - n) * sizeof(*d->templates));
	d->nr_templates = n;
	for (uint32_t i = 0; i < n; i++)
		if (!read_template(c, d, &d->templates[i]))
			return damaged(error, "template");
	return true;
}

/* The limit of the template's object as it is now. */
static uint32_t limit_now(const struct template *t, const struct trace_state *state)
{
	const struct rs_record *r = &t->record;

	if (t->always_careful || !state->current)
		return 0;
	if (r->op == RS_OP_LOAD || r->op == RS_OP_STORE) {
		const struct region_state *region = state_region(state, r->object);

		return region ? region->limit[r->op == RS_OP_STORE] : 0;
	}
	return r->object < state->files->len
		       ? g_array_index(state->files, struct file_state, r->object).pages
		       : 0;
}

/* What the loop works on. */
struct run {
	const uint8_t *heads, *pages;
	uint32_t width, n;
	struct cursor values;
	struct trace_state *state;
	struct rs_record *records;
	GArray *maps, *map_places;
};

static bool get_value(struct block_decoder *d, struct run *run, struct rs_record *r)
{
	uint64_t value;

	if (!get_varint(&run->values, UINT64_MAX, &value))
		return false;
	if (r->op == RS_OP_TIME)
		value = d->last_time += unfold64(value);
	r->value = value;
	return true;
}

/* A record that the limits do not let pass: it has a value, changes something, or is an error. */
static bool careful(struct block_decoder *d, struct run *run, const struct template *t, uint32_t i,
		    GError **error)
{
	struct rs_record *r = &run->records[i];
	const struct rs_map *map = NULL;

	if (!t->has_page)
		r->value = 0;
	if (t->record.op == RS_OP_MMAP) {
		if (run->map_places->len == run->maps->len)
			return damaged(error, "number of mappings");
		map = &g_array_index(run->maps, struct rs_map, run->map_places->len);
		g_array_append_val(run->map_places, i);
	} else if (record_has_value(t->record.op) && !get_value(d, run, r)) {
		return damaged(error, "value");
	}
	if (!state_apply(run->state, r, map, error))
		return false;
	if (t->remaps)
		d->epoch++;
	return true;
}

/* Returns the number of records done: n, or the index of the bad one. */
static inline __attribute__((always_inline)) uint32_t
decode_records(struct block_decoder *d, struct run *run, uint32_t width, GError **error)
{
	static const uint32_t mask[4] = { 0xff, 0xffff, 0xffffff, 0xffffffff };
	const uint8_t *heads = run->heads, *pages = run->pages;
	struct rs_record *records = run->records;
	uint32_t n = run->n;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t head = heads[width * i], page;
		if (width == 2)
			head |= (uint32_t)heads[2 * i + 1] << 8;
		struct template *t = &d->templates[head >> 2];

		memcpy(&page, pages, 4);
		page = GUINT32_FROM_LE(page) & mask[head & 3];
		pages += ((head & 3) + 1) & t->has_page;
		if (t->difference) {
			struct slot *s = &d->slots[t->slot];

			page = s->base + unfold32(page);
			s->base = page + t->record.count;
		}
		records[i] = t->record;
		records[i].page = page;
		if (G_UNLIKELY(t->epoch != d->epoch)) {
			t->epoch = d->epoch;
			t->limit = limit_now(t, run->state);
		}
		/* Less 1, so that a count of 0 and a limit of 0 never pass. */
		if (G_LIKELY((uint64_t)page + t->record.count - 1 < t->limit))
			continue;
		if (!careful(d, run, t, i, error))
			return i;
	}
	run->pages = pages;
	return n;
}

static bool all_names_appeared(const struct trace_state *s)
{
	for (int i = 0; i < NR_NAME_KINDS; i++)
		if (s->names[i].names->len != s->nr_seen[i])
			return false;
	return true;
}

bool block_decode(struct block_decoder *d, const uint8_t *bytes, size_t size, uint32_t n,
		  struct trace_state *state, struct rs_record *ret, GArray *maps,
		  GArray *map_places, uint32_t *ret_record, GError **error)
{
	struct cursor c = { bytes, bytes + size };
	struct run run = {
		.n = n, .state = state, .records = ret, .maps = maps, .map_places = map_places
	};
	uint64_t values;

	*ret_record = 0;
	d->epoch = 1; /* templates are read with 0 */
	d->last_time = 0;
	if (!read_names(&c, state, error) || !read_maps(&c, maps, n, error) ||
	    !read_slots(&c, d, error) || !read_templates(&c, d, error))
		return false;
	run.width = d->nr_templates <= 64 ? 1 : 2;
	run.heads = c.at;
	if ((size_t)(c.end - c.at) < (size_t)n * run.width)
		return damaged(error, "length of the heads");
	c.at += (size_t)n * run.width;
	if (!get_varint(&c, c.end - c.at, &values) || values > (size_t)(c.end - c.at))
		return damaged(error, "length of the values");
	run.values = (struct cursor){ c.at, c.at + values };
	run.pages = c.at + values;
	*ret_record = run.width == 1 ? decode_records(d, &run, 1, error)
				     : decode_records(d, &run, 2, error);
	if (*ret_record < n)
		return false;
	if (run.pages != c.end || run.values.at != run.values.end || map_places->len != maps->len ||
	    !all_names_appeared(state))
		return damaged(error, "columns: they do not end with the records");
	return true;
}
