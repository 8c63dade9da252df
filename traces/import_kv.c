/* SPDX-License-Identifier: GPL-2.0-or-later */
/* import_kv.c - the memory model of key-value servers; see import_kv.h for what it says. */
#include "traces/import_kv.h"

#include <string.h>

#include "traces/import_kv_alloc.h"

#define REDIS_ENTRY 24u
#define REDIS_ROBJ 16u
#define REDIS_EMBSTR_MAX 44u
#define REDIS_FIRST_BUCKETS 4u
#define MEMCACHED_ITEM 56u
#define MEMCACHED_FIRST_BUCKETS (1u << 16)

struct kv_item {
	uint64_t entry, key, head, value; /* addresses; memcached has only head */
	uint64_t size;			  /* of the value */
	uint32_t key_len;
	bool present, raw; /* raw: redis value outside its robj */
};

struct kv_table {
	uint64_t address, buckets;
};

struct kv {
	struct import *im;
	enum kv_kind kind;
	struct objects keys;
	GArray *items; /* struct kv_item by key number */
	struct kv_heap heap;
	struct kv_table table, next; /* next: being rehashed into */
	uint64_t rehash_at;
	uint64_t nr_present, unknown_reads, assumed, value_size;
	bool have_value_size;
};

static void touch(struct kv *kv, uint64_t address, uint64_t length, bool write)
{
	import_touch(kv->im, address, length, write ? TOUCH_WRITE : TOUCH_READ);
}

struct kv *kv_new(struct import *im, enum kv_kind kind)
{
	struct kv *kv = g_new0(struct kv, 1);
	const char *size = import_with(im, "value_size");
	guint64 value = 0;

	kv->im = im;
	kv->kind = kind;
	kv->items = g_array_new(FALSE, TRUE, sizeof(struct kv_item));
	kv_heap_init(&kv->heap, kind == KV_MEMCACHED);
	kv->table.buckets = kind == KV_REDIS ? REDIS_FIRST_BUCKETS : MEMCACHED_FIRST_BUCKETS;
	kv->table.address = kv_alloc(&kv->heap, kv->table.buckets * 8);
	if (size && g_ascii_string_to_unsigned(size, 10, 0, 512u << 20, &value, NULL)) {
		kv->have_value_size = true;
		kv->value_size = value;
	}
	return kv;
}

void kv_free(struct kv *kv)
{
	if (!kv)
		return;
	objects_clear(&kv->keys);
	g_array_free(kv->items, TRUE);
	kv_heap_clear(&kv->heap);
	g_free(kv);
}

/* ---- the hash table ---- */

/* One bucket of the old table moves to the new one: its entries go to one of two places. */
static void rehash_step(struct kv *kv)
{
	uint64_t i = kv->rehash_at++;

	if (!kv->next.buckets)
		return;
	touch(kv, kv->table.address + i * 8, 8, true);
	touch(kv, kv->next.address + i * 8, 8, true);
	touch(kv, kv->next.address + (i + kv->table.buckets) * 8, 8, true);
	if (kv->rehash_at < kv->table.buckets)
		return;
	kv_release(&kv->heap, kv->table.address, kv->table.buckets * 8);
	kv->table = kv->next;
	kv->next.buckets = 0;
}

static void lookup(struct kv *kv, uint64_t hash, bool write)
{
	uint64_t bucket = hash & (kv->table.buckets - 1);

	if (kv->kind == KV_REDIS)
		rehash_step(kv);
	if (kv->next.buckets && bucket < kv->rehash_at)
		touch(kv, kv->next.address + (hash & (kv->next.buckets - 1)) * 8, 8, write);
	else
		touch(kv, kv->table.address + (hash & (kv->table.buckets - 1)) * 8, 8, write);
}

static void table_check(struct kv *kv)
{
	uint64_t limit = kv->table.buckets + (kv->kind == KV_MEMCACHED ? kv->table.buckets / 2 : 0);

	if (kv->next.buckets || kv->nr_present < limit || kv->table.buckets >= 1ull << 28)
		return;
	kv->next.buckets = kv->table.buckets * 2;
	kv->next.address = kv_alloc(&kv->heap, kv->next.buckets * 8);
	kv->rehash_at = 0;
	/* memcached's maintenance thread does it at once. */
	while (kv->kind == KV_MEMCACHED && kv->next.buckets)
		rehash_step(kv);
}

/* ---- values ---- */

static struct kv_item *item_of(struct kv *kv, uint64_t hash)
{
	uint32_t number = objects_number(kv->im, &kv->keys, hash);

	if (number == OBJECTS_NONE)
		return NULL;
	if (number >= kv->items->len)
		g_array_set_size(kv->items, number + 1);
	return &g_array_index(kv->items, struct kv_item, number);
}

static uint64_t sds_bytes(uint64_t n)
{
	return n + 1 + (n < 32 ? 3 : n < 256 ? 3 : n < 65536 ? 5 : 9);
}

static uint64_t item_bytes(const struct kv_item *item)
{
	return MEMCACHED_ITEM + item->key_len + 1 + item->size + 2;
}

static void value_release(struct kv *kv, const struct kv_item *item)
{
	if (kv->kind == KV_MEMCACHED) {
		touch(kv, item->head, MEMCACHED_ITEM, true);
		kv_release(&kv->heap, item->head, item_bytes(item));
		return;
	}
	if (item->value && item->raw)
		kv_release(&kv->heap, item->value, sds_bytes(item->size));
	kv_release(&kv->heap, item->head,
		   REDIS_ROBJ + (item->value && !item->raw ? 4 + item->size : 0));
}

/* A new value is built before the old one goes. */
static void value_store(struct kv *kv, struct kv_item *item, uint64_t size, bool integer)
{
	struct kv_item old = *item;

	item->size = size;
	if (kv->kind == KV_MEMCACHED) {
		item->head = kv_alloc(&kv->heap, item_bytes(item));
		touch(kv, item->head, item_bytes(item), true);
	} else if (integer) {
		item->head = kv_alloc(&kv->heap, REDIS_ROBJ);
		item->value = 0;
		touch(kv, item->head, REDIS_ROBJ, true);
	} else if (size <= REDIS_EMBSTR_MAX) {
		item->raw = false;
		item->head = kv_alloc(&kv->heap, REDIS_ROBJ + 4 + size);
		item->value = item->head + REDIS_ROBJ;
		touch(kv, item->head, REDIS_ROBJ + 4 + size, true);
	} else {
		item->raw = true;
		item->head = kv_alloc(&kv->heap, REDIS_ROBJ);
		item->value = kv_alloc(&kv->heap, sds_bytes(size));
		touch(kv, item->head, REDIS_ROBJ, true);
		touch(kv, item->value, sds_bytes(size), true);
	}
	if (old.present)
		value_release(kv, &old);
}

/* A key that was not there: its own parts. */
static void key_store(struct kv *kv, struct kv_item *item, uint64_t hash, size_t key_len)
{
	item->key_len = (uint32_t)MIN(key_len, 1u << 20);
	if (kv->kind == KV_REDIS) {
		item->key = kv_alloc(&kv->heap, sds_bytes(item->key_len));
		touch(kv, item->key, sds_bytes(item->key_len), true);
		item->entry = kv_alloc(&kv->heap, REDIS_ENTRY);
		touch(kv, item->entry, REDIS_ENTRY, true);
	}
	lookup(kv, hash, true);
}

/* Bucket, entry, key: what every command on a present key reads. */
static void key_read(struct kv *kv, const struct kv_item *item, uint64_t hash)
{
	lookup(kv, hash, false);
	if (!item->present || kv->kind == KV_MEMCACHED)
		return;
	touch(kv, item->entry, REDIS_ENTRY, false);
	touch(kv, item->key, sds_bytes(item->key_len), false);
}

/* ---- commands ---- */

void kv_set(struct kv *kv, uint64_t hash, size_t key_len, uint64_t size, bool integer)
{
	struct kv_item *item = item_of(kv, hash);
	bool was;

	if (!item)
		return;
	size = MIN(size, 512u << 20);
	was = item->present;
	if (was)
		key_read(kv, item, hash);
	else
		key_store(kv, item, hash, key_len);
	value_store(kv, item, size, integer);
	item->present = true;
	if (kv->kind == KV_REDIS)
		touch(kv, item->entry, REDIS_ENTRY, true);
	else
		lookup(kv, hash, true);
	if (!was) {
		kv->nr_present++;
		table_check(kv);
	}
}

void kv_get(struct kv *kv, uint64_t hash, size_t key_len, uint64_t known_size)
{
	struct kv_item *item = item_of(kv, hash);

	if (!item)
		return;
	if (!item->present && known_size == UINT64_MAX && kv->have_value_size)
		known_size = kv->value_size;
	if (!item->present) {
		if (known_size == UINT64_MAX) {
			kv->unknown_reads++;
			lookup(kv, hash, false);
			return;
		}
		/* It was stored before the record began. */
		kv->assumed++;
		kv_set(kv, hash, key_len, known_size, false);
		return;
	}
	key_read(kv, item, hash);
	if (kv->kind == KV_MEMCACHED) {
		touch(kv, item->head, MEMCACHED_ITEM, true);
		touch(kv, item->head, item_bytes(item), false);
		return;
	}
	touch(kv, item->head, REDIS_ROBJ, true);
	if (item->value && item->raw)
		touch(kv, item->value, sds_bytes(item->size), false);
}

void kv_grow(struct kv *kv, uint64_t hash, size_t key_len, uint64_t at_least, uint64_t grow)
{
	struct kv_item *item = item_of(kv, hash);
	uint64_t size;

	if (!item)
		return;
	at_least = MIN(at_least, 512u << 20);
	grow = MIN(grow, 512u << 20);
	size = MAX(item->present ? item->size + grow : grow, at_least);
	if (item->present && size == item->size)
		kv_touch(kv, hash, key_len);
	else
		kv_set(kv, hash, key_len, size, false);
}

void kv_rewrite(struct kv *kv, uint64_t hash, size_t key_len)
{
	struct kv_item *item = item_of(kv, hash);

	if (item)
		kv_set(kv, hash, key_len, item->size, false);
}

void kv_touch(struct kv *kv, uint64_t hash, size_t key_len)
{
	struct kv_item *item = item_of(kv, hash);

	if (!item)
		return;
	if (!item->present) {
		lookup(kv, hash, false);
		return;
	}
	key_read(kv, item, hash);
	touch(kv, item->head, kv->kind == KV_REDIS ? REDIS_ROBJ : MEMCACHED_ITEM, true);
}

static void drop(struct kv *kv, struct kv_item *item)
{
	value_release(kv, item);
	if (kv->kind == KV_REDIS) {
		kv_release(&kv->heap, item->key, sds_bytes(item->key_len));
		kv_release(&kv->heap, item->entry, REDIS_ENTRY);
	}
	memset(item, 0, sizeof(*item));
	kv->nr_present--;
}

void kv_delete(struct kv *kv, uint64_t hash)
{
	struct kv_item *item = item_of(kv, hash);

	if (!item)
		return;
	key_read(kv, item, hash);
	if (!item->present)
		return;
	lookup(kv, hash, true);
	drop(kv, item);
}

void kv_flush(struct kv *kv)
{
	for (guint i = 0; i < kv->items->len; i++) {
		struct kv_item *item = &g_array_index(kv->items, struct kv_item, i);

		if (item->present)
			drop(kv, item);
	}
}

uint64_t kv_distinct_keys(const struct kv *kv)
{
	return kv->keys.used;
}

void kv_report(const struct kv *kv, json_t *summary)
{
	json_t *o = json_object();

	json_object_set_new(o, "server", json_string(kv->kind == KV_REDIS ? "redis" : "memcached"));
	json_object_set_new(
		o, "placement",
		json_string(kv->kind == KV_REDIS
				    ? "jemalloc size classes, lowest address first"
				    : "slab classes of factor 1.25, last in first out"));
	json_object_set_new(o, "keys_present", json_integer((json_int_t)kv->nr_present));
	json_object_set_new(o, "allocated_bytes", json_integer((json_int_t)kv->heap.allocated));
	/* What redis calls used_memory_dataset: without table, dictEntry and robj. */
	if (kv->kind == KV_REDIS)
		json_object_set_new(
			o, "dataset_bytes",
			json_integer((json_int_t)(kv->heap.allocated -
						  kv->nr_present * (REDIS_ENTRY + REDIS_ROBJ) -
						  (kv->table.buckets + kv->next.buckets) * 8)));
	json_object_set_new(o, "heap_bytes",
			    json_integer((json_int_t)(kv->heap.end - kv->heap.start)));
	json_object_set_new(o, "hash_table_bytes",
			    json_integer((json_int_t)((kv->table.buckets + kv->next.buckets) * 8)));
	json_object_set_new(o, "stored_before_the_record", json_integer((json_int_t)kv->assumed));
	json_object_set_new(o, "reads_of_unknown_keys",
			    json_integer((json_int_t)kv->unknown_reads));
	json_object_set_new(summary, "memory_model", o);
}
