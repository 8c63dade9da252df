/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * import_kv_alloc.c - see import_kv_alloc.h.
 *
 * jemalloc 5: classes of 8, 16, 32, 48, ..., 128 and four to a doubling from there; up to 14 KiB a
 * class has slabs of whole pages, filled from the lowest free place; larger ones are extents of
 * their own. memcached: classes from 96 bytes by 1.25 to 512 KiB, rounded to 8, in pages of 1 MiB
 * given to a class for good; larger objects are extents, too.
 */
#include "traces/import_kv_alloc.h"

#include <string.h>

#define HEAP_START 0x7f0000000000u
#define JE_SMALL_MAX (14u << 10)
#define MC_SLAB (1u << 20)
#define MC_CHUNK_MAX (512u << 10)
#define LARGE_MAX (1ull << 34)

static void add_class(struct kv_heap *heap, uint64_t size, uint64_t slab)
{
	if (heap->nr_classes < KV_MAX_CLASSES)
		heap->classes[heap->nr_classes++] = (struct kv_class){ .size = size, .slab = slab };
}

/* As many pages as make the rest small: the first multiple that divides without one, at most 8. */
static uint64_t je_slab(uint64_t size)
{
	uint64_t slab = 4096;

	if (size > JE_SMALL_MAX)
		return (size + 4095) & ~4095ull;
	while (slab % size && slab < 8 * 4096)
		slab += 4096;
	return MAX(slab, (size + 4095) & ~4095ull);
}

static void je_classes(struct kv_heap *heap)
{
	add_class(heap, 8, 4096);
	for (uint64_t size = 16; size <= 128; size += 16)
		add_class(heap, size, je_slab(size));
	for (uint64_t base = 128; base < LARGE_MAX; base *= 2)
		for (unsigned step = 1; step <= 4; step++)
			add_class(heap, base + base / 4 * step, je_slab(base + base / 4 * step));
}

static void mc_classes(struct kv_heap *heap)
{
	for (uint64_t size = 96; size < MC_CHUNK_MAX; size = (size + size / 4 + 7) & ~7ull)
		add_class(heap, size, MC_SLAB);
	for (uint64_t size = MC_CHUNK_MAX; size < LARGE_MAX; size *= 2)
		add_class(heap, size, MAX(size, MC_SLAB));
}

void kv_heap_init(struct kv_heap *heap, bool slabs)
{
	memset(heap, 0, sizeof(*heap));
	heap->slabs = slabs;
	heap->start = heap->end = HEAP_START;
	if (slabs)
		mc_classes(heap);
	else
		je_classes(heap);
}

void kv_heap_clear(struct kv_heap *heap)
{
	for (unsigned i = 0; i < heap->nr_classes; i++)
		g_free(heap->classes[i].free);
}

static struct kv_class *class_of(struct kv_heap *heap, uint64_t bytes)
{
	unsigned low = 0, high = heap->nr_classes - 1;

	while (low < high) {
		unsigned middle = (low + high) / 2;

		if (heap->classes[middle].size < bytes)
			low = middle + 1;
		else
			high = middle;
	}
	return &heap->classes[low];
}

static uint64_t take_lowest(struct kv_class *c)
{
	uint64_t result = c->free[0], moved = c->free[--c->nr_free];
	uint32_t at = 0, child;

	while ((child = 2 * at + 1) < c->nr_free) {
		if (child + 1 < c->nr_free && c->free[child + 1] < c->free[child])
			child++;
		if (moved <= c->free[child])
			break;
		c->free[at] = c->free[child];
		at = child;
	}
	if (c->nr_free)
		c->free[at] = moved;
	return result;
}

uint64_t kv_alloc(struct kv_heap *heap, uint64_t bytes)
{
	struct kv_class *c = class_of(heap, bytes);
	uint64_t address;

	heap->allocated += c->size;
	if (c->nr_free)
		return heap->slabs ? c->free[--c->nr_free] : take_lowest(c);
	if (c->at + c->size > c->end) {
		c->at = heap->end;
		c->end = heap->end + c->slab;
		heap->end = c->end;
	}
	address = c->at;
	c->at += c->size;
	return address;
}

void kv_release(struct kv_heap *heap, uint64_t address, uint64_t bytes)
{
	struct kv_class *c = class_of(heap, bytes);
	uint32_t at;

	heap->allocated -= c->size;
	if (c->nr_free == c->cap) {
		c->cap = c->cap ? c->cap * 2 : 64;
		c->free = g_renew(uint64_t, c->free, c->cap);
	}
	at = c->nr_free++;
	while (!heap->slabs && at && c->free[(at - 1) / 2] > address) {
		c->free[at] = c->free[(at - 1) / 2];
		at = (at - 1) / 2;
	}
	c->free[at] = address;
}
