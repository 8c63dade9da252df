/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * import_kv.h - where a key-value server keeps its keys: a model of its memory (internal).
 *
 * A key log names keys; page reclaim sees pages. The model places what the server would allocate
 * and turns each command into accesses through the page table:
 *
 *  redis      jemalloc's size classes, slabs of a class filled lowest address first; per key an sds
 *             string, a dictEntry (24 bytes), an robj (16) and the value's sds (in one piece up to
 *             44 bytes); a hash table of 8-byte buckets that doubles at load 1 and is rehashed one
 *             bucket an operation. A read writes the robj (its LRU clock).
 *  memcached  slab classes (96 bytes, factor 1.25, pages of 1 MiB, free chunks last in first out);
 *             per key one item of 56 bytes + key + 1 + value + 2; a hash table of 2^16 buckets that
 *             doubles at load 1.5. A read writes the item's header (its reference count).
 *
 * Left out: query and reply buffers, expiry and eviction by the server's own limits, allocator
 * caches, active defragmentation.
 */
#ifndef TRACES_IMPORT_KV_H
#define TRACES_IMPORT_KV_H

#include "traces/import_objects.h"

enum kv_kind { KV_REDIS, KV_MEMCACHED };

struct kv;
struct kv *kv_new(struct import *, enum kv_kind);
void kv_free(struct kv *);
/* known_size: of the value if the log says the key is there, else UINT64_MAX. */
void kv_get(struct kv *, uint64_t hash, size_t key_len, uint64_t known_size);
/* integer: redis keeps small numbers without a string. */
void kv_set(struct kv *, uint64_t hash, size_t key_len, uint64_t size, bool integer);
void kv_rewrite(struct kv *, uint64_t hash, size_t key_len); /* with the size it has */
/* At least size bytes, or as much more as grow: SETRANGE, APPEND, list and hash commands. */
void kv_grow(struct kv *, uint64_t hash, size_t key_len, uint64_t at_least, uint64_t grow);
void kv_touch(struct kv *, uint64_t hash, size_t key_len); /* a change without a new size */
void kv_delete(struct kv *, uint64_t hash);
void kv_flush(struct kv *); /* all keys go */
uint64_t kv_distinct_keys(const struct kv *);
void kv_report(const struct kv *, json_t *summary); /* "memory_model": {...} */

#endif
