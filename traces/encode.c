/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * encode.c - writes the columns of a block.
 *
 * A record is a template (type, argument, object, count) and a page. Few templates occur in a
 * block, so a record is a head of one or two bytes and its page. The pages of an object are written
 * as they are, or as differences to where the last record on it ended (nothing but zeros for a
 * scan), whichever is clearly shorter.
 */
#include <string.h>

#include "traces/block.h"
#include "traces/record.h"
#include "traces/varint.h"

#define TABLE_SIZE (2 * BLOCK_TEMPLATES) /* of both hash tables: at most half full */

struct template
{
	uint8_t op;
	uint16_t arg;
	uint32_t object, count;
	uint16_t slot; /* index of the object; 0 if there is none */
};

struct slot {
	uint32_t kind, object;
	uint32_t base;			/* page behind the last record on it */
	uint64_t bits, difference_bits; /* in all its pages and their differences */
};

struct block_encoder {
	struct template templates[BLOCK_TEMPLATES];
	struct slot slots[BLOCK_TEMPLATES];
	uint16_t template_table[TABLE_SIZE], slot_table[TABLE_SIZE]; /* index + 1 */
	uint16_t heads[BLOCK_RECORDS];				     /* template << 2 */
	uint32_t pages[BLOCK_RECORDS];
	uint32_t nr_templates, nr_slots, nr_records, nr_names, nr_maps, last;
	uint64_t last_time;
	GByteArray *names, *maps, *values;
};

struct block_encoder *block_encoder_new(void)
{
	struct block_encoder *e = g_new0(struct block_encoder, 1);

	e->names = g_byte_array_new();
	e->maps = g_byte_array_new();
	e->values = g_byte_array_new();
	return e;
}

void block_encoder_free(struct block_encoder *e)
{
	if (!e)
		return;
	g_byte_array_unref(e->names);
	g_byte_array_unref(e->maps);
	g_byte_array_unref(e->values);
	g_free(e);
}

uint32_t block_nr_records(const struct block_encoder *e)
{
	return e->nr_records;
}

void block_add_name(struct block_encoder *e, enum rs_name_kind kind, const char *name)
{
	size_t len = strlen(name);
	uint8_t byte = kind;

	g_byte_array_append(e->names, &byte, 1);
	put_varint(e->names, len);
	g_byte_array_append(e->names, (const uint8_t *)name, len);
	e->nr_names++;
}

static uint32_t hash(uint64_t a, uint64_t b)
{
	a = (a ^ b * UINT64_C(0x9e3779b97f4a7c15)) * UINT64_C(0xc2b2ae3d27d4eb4f);
	return a >> 40;
}

static uint16_t find_slot(struct block_encoder *e, uint32_t kind, uint32_t object)
{
	uint32_t i = hash(object, kind) % TABLE_SIZE;

	for (; e->slot_table[i]; i = (i + 1) % TABLE_SIZE) {
		const struct slot *s = &e->slots[e->slot_table[i] - 1];

		if (s->kind == kind && s->object == object)
			return e->slot_table[i] - 1;
	}
	e->slots[e->nr_slots] = (struct slot){ .kind = kind, .object = object };
	e->slot_table[i] = ++e->nr_slots;
	return e->nr_slots - 1;
}

static bool same_template(const struct template *t, const struct rs_record *r, uint32_t count)
{
	return t->op == r->op && t->arg == r->arg && t->object == r->object && t->count == count;
}

/* Index of the record's template; BLOCK_TEMPLATES = there is no room for one more. */
static uint32_t find_template(struct block_encoder *e, const struct rs_record *r, uint32_t count)
{
	int kind = rs_record_object_kind(r->op);

	if (e->nr_templates && same_template(&e->templates[e->last], r, count))
		return e->last;
	uint32_t i =
		hash((uint64_t)r->object << 32 | count, (uint32_t)r->arg << 8 | r->op) % TABLE_SIZE;
	for (; e->template_table[i]; i = (i + 1) % TABLE_SIZE)
		if (same_template(&e->templates[e->template_table[i] - 1], r, count))
			return e->template_table[i] - 1;
	if (e->nr_templates == BLOCK_TEMPLATES)
		return BLOCK_TEMPLATES;
	e->templates[e->nr_templates] =
		(struct template){ r->op, r->arg, r->object, count,
				   kind < 0 ? 0 : find_slot(e, kind, r->object) };
	e->template_table[i] = ++e->nr_templates;
	return e->nr_templates - 1;
}

static uint32_t bits_of(uint32_t n)
{
	return n ? 32 - __builtin_clz(n) : 0;
}

static void note_page(struct slot *s, const struct rs_record *r)
{
	s->bits += bits_of(r->page);
	s->difference_bits += bits_of(fold32(r->page - s->base));
	s->base = r->page + r->count;
}

static void put_map(struct block_encoder *e, const struct rs_map *map)
{
	put_varint(e->maps, map->file == RS_MAP_FILE_NONE ? 0 : (uint64_t)map->file + 1);
	put_varint(e->maps, map->prot);
	put_varint(e->maps, map->pages);
	put_varint(e->maps, map->pgoff);
	put_varint(e->maps, map->address);
	e->nr_maps++;
}

bool block_add(struct block_encoder *e, const struct rs_record *r, const struct rs_map *map)
{
	bool pages = record_has_pages(r->op);

	if (e->nr_records == BLOCK_RECORDS || e->names->len >= BLOCK_NAME_BYTES)
		return false;
	uint32_t at = find_template(e, r, pages ? r->count : 0);
	if (at == BLOCK_TEMPLATES)
		return false;
	e->last = at;
	if (pages)
		note_page(&e->slots[e->templates[at].slot], r);
	e->pages[e->nr_records] = r->page;
	e->heads[e->nr_records++] = at << 2;
	if (map)
		put_map(e, map);
	if (!record_has_value(r->op))
		return true;
	if (r->op == RS_OP_TIME) {
		put_varint(e->values, fold64(r->value - e->last_time));
		e->last_time = r->value;
	} else {
		put_varint(e->values, r->value);
	}
	return true;
}

static bool by_difference(const struct slot *s)
{
	return 4 * s->difference_bits < 3 * s->bits;
}

/* The pages' bytes; their lengths, less one, go into the heads. */
static void put_pages(struct block_encoder *e, GByteArray *to)
{
	for (uint32_t i = 0; i < e->nr_slots; i++)
		e->slots[i].base = 0;
	for (uint32_t i = 0; i < e->nr_records; i++) {
		const struct template *t = &e->templates[e->heads[i] >> 2];
		struct slot *s = &e->slots[t->slot];
		uint32_t n = e->pages[i], len = 1;

		if (!record_has_pages(t->op))
			continue;
		if (by_difference(s)) {
			n = fold32(n - s->base);
			s->base = e->pages[i] + t->count;
		}
		uint8_t bytes[4] = { n, n >> 8, n >> 16, n >> 24 };
		while (len < 4 && n >> (8 * len))
			len++;
		g_byte_array_append(to, bytes, len);
		e->heads[i] |= len - 1;
	}
}

static void put_tables(const struct block_encoder *e, GByteArray *to)
{
	put_varint(to, e->nr_slots);
	for (uint32_t i = 0; i < e->nr_slots; i++) {
		uint8_t kind =
			e->slots[i].kind | (by_difference(&e->slots[i]) ? BLOCK_BY_DIFFERENCE : 0);

		g_byte_array_append(to, &kind, 1);
		put_varint(to, e->slots[i].object);
	}
	put_varint(to, e->nr_templates);
	for (uint32_t i = 0; i < e->nr_templates; i++) {
		const struct template *t = &e->templates[i];

		g_byte_array_append(to, &t->op, 1);
		put_varint(to, t->arg);
		if (rs_record_object_kind(t->op) >= 0)
			put_varint(to, t->slot);
		if (record_has_pages(t->op))
			put_varint(to, t->count);
	}
}

static void put_heads(const struct block_encoder *e, GByteArray *to)
{
	uint32_t width = e->nr_templates <= 64 ? 1 : 2, at = to->len;

	g_byte_array_set_size(to, at + e->nr_records * width);
	for (uint32_t i = 0; i < e->nr_records; i++) {
		to->data[at++] = e->heads[i];
		if (width == 2)
			to->data[at++] = e->heads[i] >> 8;
	}
}

void block_finish(struct block_encoder *e, GByteArray *to)
{
	g_autoptr(GByteArray) pages = g_byte_array_sized_new(4 * e->nr_records);

	put_pages(e, pages);
	put_varint(to, e->nr_names);
	g_byte_array_append(to, e->names->data, e->names->len);
	put_varint(to, e->nr_maps);
	g_byte_array_append(to, e->maps->data, e->maps->len);
	put_tables(e, to);
	put_heads(e, to);
	put_varint(to, e->values->len);
	g_byte_array_append(to, e->values->data, e->values->len);
	g_byte_array_append(to, pages->data, pages->len);
	g_byte_array_set_size(e->names, 0);
	g_byte_array_set_size(e->maps, 0);
	g_byte_array_set_size(e->values, 0);
	memset(e->template_table, 0, sizeof(e->template_table));
	memset(e->slot_table, 0, sizeof(e->slot_table));
	e->nr_templates = e->nr_slots = e->nr_records = e->nr_names = e->nr_maps = e->last = 0;
	e->last_time = 0;
}
