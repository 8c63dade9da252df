/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gen_kv.h - the memory of a key-value server, for load generators (internal).
 *
 * The placement is that of import_kv.h: jemalloc's size classes with entry, key, object header and
 * value for redis; slab classes with one item for memcached; a hash table that doubles. Keys are
 * numbers here. Left out as there: query and reply buffers, allocator caches.
 */
#ifndef TRACES_GEN_KV_H
#define TRACES_GEN_KV_H

#include "traces/gen.h"
#include "traces/import_kv_alloc.h"

#define GEN_KV_MAX_KEYS (UINT64_C(1) << 24) /* present at a time */

struct gen_kv_item {
	uint64_t head, value, key, entry; /* addresses; memcached has only head */
	uint64_t expires;		  /* ns; 0 never */
	uint32_t size;			  /* of the value */
	uint8_t key_len;
	bool present;
};

struct gen_kv {
	struct gen *g;
	bool memcached;
	uint64_t max_bytes; /* memcached -m: then the oldest items go; 0 unlimited */
	struct kv_heap heap;
	GHashTable *chunks;   /* key / 4096 -> 4096 items */
	uint64_t first_pages; /* size of the first region */
	GArray *regions;      /* mapped pieces of the heap */
	uint64_t table, buckets, next_table, next_buckets, rehash_at;
	uint64_t nr_present, hits, misses, sets, evicted;
	GQueue order; /* memcached: keys by age, to evict */
	ns_t now;
};

/*
 * nr_keys of value_bytes are expected at most. The heap for them is mapped at once, before other
 * threads begin: a thread must not touch what another one maps later.
 */
void gen_kv_init(struct gen_kv *, struct gen *, bool memcached, uint64_t max_bytes,
		 uint64_t nr_keys, uint64_t value_bytes);
void gen_kv_done(struct gen_kv *);
void gen_kv_set(struct gen_kv *, uint64_t key, unsigned key_len, uint64_t size, ns_t expires);
/* False: a miss. */
bool gen_kv_get(struct gen_kv *, uint64_t key);
json_t *gen_kv_report(const struct gen_kv *);

#endif
