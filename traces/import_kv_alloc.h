/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * import_kv_alloc.h - addresses as jemalloc or memcached's slabs would give them (internal).
 */
#ifndef TRACES_IMPORT_KV_ALLOC_H
#define TRACES_IMPORT_KV_ALLOC_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#define KV_MAX_CLASSES 160

/* Free places of one size: a binary heap (lowest first) or a stack. */
struct kv_class {
	uint64_t size, slab; /* bytes of an object, of a slab */
	uint64_t *free;
	uint32_t nr_free, cap;
	uint64_t at, end; /* untouched rest of the newest slab */
};

struct kv_heap {
	bool slabs; /* memcached; else jemalloc */
	uint64_t start, end;
	uint64_t allocated; /* bytes in use, rounded to their classes */
	unsigned nr_classes;
	struct kv_class classes[KV_MAX_CLASSES];
};

void kv_heap_init(struct kv_heap *, bool slabs);
void kv_heap_clear(struct kv_heap *);
uint64_t kv_alloc(struct kv_heap *, uint64_t bytes);
void kv_release(struct kv_heap *, uint64_t address, uint64_t bytes);

#endif
