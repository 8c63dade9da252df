/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * trace_random.c - small random traces for the differential test.
 *
 * Every anonymous page is stored to before it is loaded, since a first load would map the zero
 * page: the anonymous region grows by one page whenever a draw falls beyond what is there.
 */
#include "trace_random.h"

struct state {
	const struct trace_shape *shape;
	GString *text;
	uint64_t random;
	uint32_t filled; /* anonymous pages stored to since the region was mapped */
};

/* Marsaglia's xorshift64*. */
static uint32_t below(struct state *s, uint32_t n)
{
	s->random ^= s->random >> 12;
	s->random ^= s->random << 25;
	s->random ^= s->random >> 27;
	return ((s->random * UINT64_C(2685821657736338717)) >> 32) % n;
}

static uint32_t draw_page(struct state *s, uint32_t n)
{
	uint32_t page = below(s, n);

	for (uint32_t i = 1; i < s->shape->skew; i++) {
		uint32_t other = below(s, n);

		page = MIN(page, other);
	}
	/* Spread the popular pages. */
	return (page * UINT64_C(2654435761)) % n;
}

static void anon_access(struct state *s)
{
	uint32_t page = draw_page(s, s->shape->anon);

	if (page >= s->filled)
		g_string_append_printf(s->text, "s heap %u\n", s->filled++);
	else
		g_string_append_printf(s->text, "%c heap %u\n",
				       below(s, 100) < s->shape->store_share ? 's' : 'l', page);
}

static void operation(struct state *s)
{
	const struct trace_shape *shape = s->shape;
	uint32_t x = below(s, 100);

	if (x < shape->map_share) {
		g_string_append_printf(s->text, "l map %u\n", draw_page(s, shape->mapped));
		return;
	}
	x -= shape->map_share;
	if (x < shape->exec_share) {
		g_string_append_printf(s->text, "l exe %u\n", draw_page(s, shape->exec));
		return;
	}
	x -= shape->exec_share;
	if (x < shape->read_share + shape->write_share) {
		uint32_t n = 1 + below(s, shape->max_read);
		uint32_t page = draw_page(s, shape->data - n);

		g_string_append_printf(s->text, "%c data %u %u\n",
				       x < shape->read_share ? 'r' : 'w', page, n);
		return;
	}
	anon_access(s);
}

GString *trace_random(const struct trace_shape *shape, uint64_t seed)
{
	struct state s = { .shape = shape, .text = g_string_new(NULL), .random = seed * 2 + 1 };

	if (shape->data)
		g_string_append_printf(s.text, "file data %u\n", shape->data);
	if (shape->mapped)
		g_string_append_printf(s.text, "region map file lib %u%s\n", shape->mapped,
				       shape->place ? " @0x10000000000" : "");
	if (shape->exec)
		g_string_append_printf(s.text, "region exe file bin %u x%s\n", shape->exec,
				       shape->place ? " @0x10040000000" : "");
	if (shape->anon)
		g_string_append_printf(s.text, "region heap anon %u%s\n", shape->anon,
				       shape->place ? " @0x10080000000" : "");
	for (uint32_t i = 1; i <= shape->nr_ops; i++) {
		operation(&s);
		if (shape->unmap_every && i % shape->unmap_every == 0) {
			g_string_append_printf(s.text, "u heap\nregion heap anon %u\n",
					       shape->anon);
			s.filled = 0;
		}
		if (shape->sync_every && i % shape->sync_every == 0)
			g_string_append(s.text, "f data\n");
		if (i % (shape->nr_ops / 4) == 0)
			g_string_append_printf(s.text, "m q%u\n", i / (shape->nr_ops / 4));
	}
	return s.text;
}
