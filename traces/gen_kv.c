/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gen_kv.c - see gen_kv.h.
 */
#include "traces/gen_kv.h"

#define CHUNK 4096u
#define REGION_PAGES 16384u /* beyond what was expected the heap is mapped 64 MiB at a time */
#define REDIS_ENTRY 24u
#define REDIS_ROBJ 16u
#define REDIS_EMBSTR_MAX 44u
#define MEMCACHED_ITEM 56u

/* ---- touching the heap ---- */

/* Map the next piece of the heap; the first one is large enough for what is expected. */
static void map_piece(struct gen_kv *kv)
{
	g_autofree char *name = g_strdup_printf("heap%u", kv->regions->len);
	uint32_t region = gen_map(kv->g, name, RS_MAP_FILE_NONE, VM_READ | VM_WRITE,
				  kv->regions->len ? REGION_PAGES : kv->first_pages, 0);

	g_array_append_val(kv->regions, region);
}

/* Region of a page of the heap, the page's place in it and how many follow there. */
static uint32_t piece_of(struct gen_kv *kv, uint64_t page, uint64_t *ret_page, uint64_t *ret_left)
{
	uint64_t behind = page - MIN(page, kv->first_pages);
	uint64_t piece = page < kv->first_pages ? 0 : 1 + behind / REGION_PAGES;

	while (piece >= kv->regions->len && !gen_failed(kv->g))
		map_piece(kv);
	*ret_page = piece ? behind % REGION_PAGES : page;
	*ret_left = (piece ? REGION_PAGES : kv->first_pages) - *ret_page;
	return gen_failed(kv->g) ? 0 : g_array_index(kv->regions, uint32_t, piece);
}

static void touch(struct gen_kv *kv, uint64_t address, uint64_t length, bool write)
{
	uint64_t page = (address - kv->heap.start) >> RS_PAGE_SHIFT;
	uint64_t end = (address - kv->heap.start + length - 1) >> RS_PAGE_SHIFT;

	while (page <= end && !gen_failed(kv->g)) {
		uint64_t at, left;
		uint32_t region = piece_of(kv, page, &at, &left);
		uint64_t n = MIN(end + 1 - page, left);

		if (write)
			gen_store(kv->g, region, at, n);
		else
			gen_load(kv->g, region, at, n);
		page += n;
	}
}

/* ---- keys ---- */

static struct gen_kv_item *item_of(struct gen_kv *kv, uint64_t key)
{
	uint64_t number = key / CHUNK;
	struct gen_kv_item *chunk = g_hash_table_lookup(kv->chunks, &number);

	if (!chunk) {
		/* After an error one spare chunk serves all. */
		gen_reserve(kv->g, CHUNK * sizeof(*chunk));
		if (gen_failed(kv->g))
			number = UINT64_MAX;
		chunk = g_new0(struct gen_kv_item, CHUNK);
		g_hash_table_insert(kv->chunks, g_memdup2(&number, sizeof(number)), chunk);
	}
	return &chunk[key % CHUNK];
}

static uint64_t hash_of(uint64_t key)
{
	return rs_splitmix64(&key);
}

void gen_kv_init(struct gen_kv *kv, struct gen *g, bool memcached, uint64_t max_bytes,
		 uint64_t nr_keys, uint64_t value_bytes)
{
	/* Classes waste up to a quarter, a value is built before the old one goes, tables double.
	 */
	uint64_t bytes = MIN(nr_keys, GEN_KV_MAX_KEYS) * ((value_bytes + 160) * 5 / 4 + 40);

	*kv = (struct gen_kv){ .g = g, .memcached = memcached, .max_bytes = max_bytes };
	kv_heap_init(&kv->heap, memcached);
	kv->chunks = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, g_free);
	kv->regions = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	g_queue_init(&kv->order);
	kv->buckets = memcached ? 65536 : 4;
	kv->table = kv_alloc(&kv->heap, kv->buckets * 8);
	if (max_bytes)
		bytes = MIN(bytes, max_bytes * 2);
	kv->first_pages = MIN((bytes >> RS_PAGE_SHIFT) + 32768, GEN_MAX_PAGES);
	map_piece(kv);
}

void gen_kv_done(struct gen_kv *kv)
{
	g_queue_clear_full(&kv->order, g_free);
	g_hash_table_unref(kv->chunks);
	g_array_unref(kv->regions);
	kv_heap_clear(&kv->heap);
}

/* ---- hash table ---- */

static void rehash_step(struct gen_kv *kv)
{
	uint64_t i = kv->rehash_at++;

	if (!kv->next_buckets)
		return;
	touch(kv, kv->table + i * 8, 8, true);
	touch(kv, kv->next_table + i * 8, 8, true);
	touch(kv, kv->next_table + (i + kv->buckets) * 8, 8, true);
	if (kv->rehash_at < kv->buckets)
		return;
	kv_release(&kv->heap, kv->table, kv->buckets * 8);
	kv->table = kv->next_table;
	kv->buckets = kv->next_buckets;
	kv->next_buckets = 0;
}

static void touch_bucket(struct gen_kv *kv, uint64_t hash, bool write)
{
	if (!kv->memcached)
		rehash_step(kv);
	if (kv->next_buckets && (hash & (kv->buckets - 1)) < kv->rehash_at)
		touch(kv, kv->next_table + (hash & (kv->next_buckets - 1)) * 8, 8, write);
	else
		touch(kv, kv->table + (hash & (kv->buckets - 1)) * 8, 8, write);
}

static void grow_table(struct gen_kv *kv)
{
	uint64_t limit = kv->buckets + (kv->memcached ? kv->buckets / 2 : 0);

	if (kv->next_buckets || kv->nr_present < limit)
		return;
	kv->next_buckets = kv->buckets * 2;
	kv->next_table = kv_alloc(&kv->heap, kv->next_buckets * 8);
	kv->rehash_at = 0;
	/* memcached's maintenance thread does it at once. */
	while (kv->memcached && kv->next_buckets && !gen_failed(kv->g))
		rehash_step(kv);
}

/* ---- items ---- */

static uint64_t sds_bytes(uint64_t n)
{
	return n + 1 + (n < 256 ? 3 : n < 65536 ? 5 : 9);
}

static uint64_t item_bytes(const struct gen_kv_item *item)
{
	return MEMCACHED_ITEM + item->key_len + 1 + item->size + 2;
}

/* Header and, if it is small, the string behind it. */
static uint64_t robj_bytes(const struct gen_kv_item *item)
{
	return REDIS_ROBJ + (item->size <= REDIS_EMBSTR_MAX ? 4 + item->size : 0);
}

static void place_value(struct gen_kv *kv, struct gen_kv_item *item)
{
	if (kv->memcached) {
		item->head = kv_alloc(&kv->heap, item_bytes(item));
		touch(kv, item->head, item_bytes(item), true);
		return;
	}
	item->head = kv_alloc(&kv->heap, robj_bytes(item));
	touch(kv, item->head, robj_bytes(item), true);
	if (item->size <= REDIS_EMBSTR_MAX)
		return;
	item->value = kv_alloc(&kv->heap, sds_bytes(item->size));
	touch(kv, item->value, sds_bytes(item->size), true);
}

static void release_value(struct gen_kv *kv, const struct gen_kv_item *item)
{
	if (kv->memcached) {
		touch(kv, item->head, MEMCACHED_ITEM, true);
		kv_release(&kv->heap, item->head, item_bytes(item));
		return;
	}
	kv_release(&kv->heap, item->head, robj_bytes(item));
	if (item->size > REDIS_EMBSTR_MAX)
		kv_release(&kv->heap, item->value, sds_bytes(item->size));
}

static void place_key(struct gen_kv *kv, struct gen_kv_item *item)
{
	if (kv->memcached)
		return;
	item->key = kv_alloc(&kv->heap, sds_bytes(item->key_len));
	touch(kv, item->key, sds_bytes(item->key_len), true);
	item->entry = kv_alloc(&kv->heap, REDIS_ENTRY);
	touch(kv, item->entry, REDIS_ENTRY, true);
}

static void drop(struct gen_kv *kv, uint64_t key, struct gen_kv_item *item)
{
	touch_bucket(kv, hash_of(key), true);
	release_value(kv, item);
	if (!kv->memcached) {
		kv_release(&kv->heap, item->key, sds_bytes(item->key_len));
		kv_release(&kv->heap, item->entry, REDIS_ENTRY);
	}
	*item = (struct gen_kv_item){ 0 };
	kv->nr_present--;
}

/* memcached's limit: the items set first go. Differs: its LRU has segments and a crawler. */
static void evict(struct gen_kv *kv)
{
	while (kv->max_bytes && kv->heap.allocated > kv->max_bytes && !gen_failed(kv->g)) {
		uint64_t *key = g_queue_pop_head(&kv->order);
		struct gen_kv_item *item;

		if (!key)
			return;
		item = item_of(kv, *key);
		if (item->present) {
			drop(kv, *key, item);
			kv->evicted++;
		}
		g_free(key);
	}
}

void gen_kv_set(struct gen_kv *kv, uint64_t key, unsigned key_len, uint64_t size, ns_t expires)
{
	struct gen_kv_item *item = item_of(kv, key), old = *item;

	kv->sets++;
	if (!old.present && kv->nr_present >= GEN_KV_MAX_KEYS) {
		gen_fail(kv->g, RS_ERROR_INPUT,
			 "more than %" G_GUINT64_FORMAT " keys in the server's memory",
			 GEN_KV_MAX_KEYS);
		return;
	}
	touch_bucket(kv, hash_of(key), !old.present || kv->memcached);
	item->key_len = (uint8_t)MIN(key_len, 250);
	item->size = (uint32_t)MIN(size, 512u << 20);
	item->expires = expires;
	if (!old.present) {
		place_key(kv, item);
	} else if (!kv->memcached) {
		touch(kv, item->key, sds_bytes(item->key_len), false);
		touch(kv, item->entry, REDIS_ENTRY, true);
	}
	place_value(kv, item);
	item->present = true;
	if (old.present) {
		release_value(kv, &old);
		return;
	}
	kv->nr_present++;
	if (kv->max_bytes)
		g_queue_push_tail(&kv->order, g_memdup2(&key, sizeof(key)));
	evict(kv);
	grow_table(kv);
}

bool gen_kv_get(struct gen_kv *kv, uint64_t key)
{
	struct gen_kv_item *item = item_of(kv, key);

	touch_bucket(kv, hash_of(key), false);
	if (item->present && item->expires && item->expires <= kv->now)
		drop(kv, key, item);
	if (!item->present) {
		kv->misses++;
		return false;
	}
	kv->hits++;
	if (kv->memcached) {
		touch(kv, item->head, MEMCACHED_ITEM, true);
		touch(kv, item->head, item_bytes(item), false);
		return true;
	}
	touch(kv, item->entry, REDIS_ENTRY, false);
	touch(kv, item->key, sds_bytes(item->key_len), false);
	touch(kv, item->head, REDIS_ROBJ, true); /* its LRU clock */
	if (item->size > REDIS_EMBSTR_MAX)
		touch(kv, item->value, sds_bytes(item->size), false);
	return true;
}

json_t *gen_kv_report(const struct gen_kv *kv)
{
	return json_pack("{ss, sI, sI, sI, sI, sI, sI, sI}", "server",
			 kv->memcached ? "memcached" : "redis", "keys_present",
			 (json_int_t)kv->nr_present, "allocated_bytes",
			 (json_int_t)kv->heap.allocated, "heap_bytes",
			 (json_int_t)(kv->heap.end - kv->heap.start), "sets", (json_int_t)kv->sets,
			 "hits", (json_int_t)kv->hits, "misses", (json_int_t)kv->misses, "evicted",
			 (json_int_t)kv->evicted);
}
