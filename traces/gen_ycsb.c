/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gen_ycsb.c - YCSB's core workloads on the memory model of a key-value server.
 *
 * load inserts all records in order. A: half reads, half updates; B: 95 % reads; C: reads only;
 * D: 95 % reads of recent records, 5 % inserts; E: 95 % scans of 1 to 100 records, 5 % inserts; F:
 * half reads, half read-modify-writes. Keys by scrambled zipf (theta 0.99), D by zipf from the
 * newest. Source: B. Cooper et al., "Benchmarking cloud serving systems with YCSB" (2010). A scan
 * reads records with successive numbers, which lie wherever the server put them.
 */
#include "traces/gen_dist.h"
#include "traces/gen_kv.h"

#include <string.h>

#define KEY_LEN 23u /* "user" and 19 digits */
#define MAX_SCAN 100u

struct ycsb {
	struct gen *g;
	struct gen_kv kv;
	struct rs_rng rng;
	struct gen_dist zipf, recent;
	struct gen_scatter scatter;
	uint64_t records, inserted, operations, size;
	bool uniform;
	uint32_t *threads;
	uint64_t nr_threads, switch_every;
};

static const struct workload {
	const char *name;
	unsigned read, update, insert, scan, modify; /* percent */
	bool latest;
} workloads[] = {
	{ "A", 50, 50, 0, 0, 0, false }, { "B", 95, 5, 0, 0, 0, false },
	{ "C", 100, 0, 0, 0, 0, false }, { "D", 95, 0, 5, 0, 0, true },
	{ "E", 0, 0, 5, 95, 0, false },	 { "F", 50, 0, 0, 0, 50, false },
};

static void set_key(struct ycsb *y, uint64_t key)
{
	gen_kv_set(&y->kv, key, KEY_LEN, y->size, 0);
}

static uint64_t pick(struct ycsb *y, const struct workload *w)
{
	if (w->latest)
		return y->inserted - 1 - gen_dist_next(&y->recent, &y->rng) % y->inserted;
	if (y->uniform)
		return rs_rng_below(&y->rng, y->inserted);
	return gen_scatter(&y->scatter, gen_dist_next(&y->zipf, &y->rng));
}

static void scan(struct ycsb *y, uint64_t first)
{
	uint64_t n = 1 + rs_rng_below(&y->rng, MAX_SCAN);

	for (uint64_t i = 0; i < n && first + i < y->inserted && !gen_failed(y->g); i++)
		gen_kv_get(&y->kv, first + i);
}

static void operation(struct ycsb *y, const struct workload *w)
{
	unsigned x = (unsigned)rs_rng_below(&y->rng, 100);
	uint64_t key;

	if (x < w->insert) {
		set_key(y, y->inserted++);
		return;
	}
	x -= w->insert;
	key = pick(y, w);
	if (x < w->read) {
		gen_kv_get(&y->kv, key);
	} else if (x < w->read + w->update) {
		set_key(y, key);
	} else if (x < w->read + w->update + w->scan) {
		scan(y, key);
	} else {
		gen_kv_get(&y->kv, key);
		set_key(y, key);
	}
}

/* Server threads take turns; a turn is some operations long to keep the trace small. */
static void take_turn(struct ycsb *y, uint64_t i)
{
	gen_switch(y->g, y->threads[i / y->switch_every % y->nr_threads]);
}

static void run_workload(struct ycsb *y, const char *name)
{
	g_autofree char *mark = g_strdup_printf("ycsb-%s", name);
	const struct workload *w = NULL;

	if (!strcmp(name, "load")) {
		for (; y->inserted < y->records && !gen_failed(y->g); y->inserted++) {
			take_turn(y, y->inserted);
			set_key(y, y->inserted);
		}
	} else {
		for (unsigned i = 0; i < G_N_ELEMENTS(workloads); i++)
			if (!strcmp(name, workloads[i].name))
				w = &workloads[i];
		for (uint64_t i = 0; i < y->operations && !gen_failed(y->g); i++) {
			take_turn(y, i);
			operation(y, w);
		}
	}
	gen_mark(y->g, mark);
}

static bool valid_name(const char *name)
{
	for (unsigned i = 0; i < G_N_ELEMENTS(workloads); i++)
		if (!strcmp(name, workloads[i].name))
			return true;
	return !strcmp(name, "load");
}

/* "workloads": names in order; load must be the first, as the others need its records. */
static json_t *workload_list(struct gen_object *o)
{
	json_t *list = gen_member(o, "workloads"), *name;
	size_t i;
	bool ok = json_is_array(list) && json_array_size(list) >= 1 && json_array_size(list) <= 100;

	if (ok)
		json_array_foreach(list, i, name) ok &=
			json_is_string(name) && valid_name(json_string_value(name)) &&
			(i > 0 || !strcmp(json_string_value(name), "load"));
	if (!ok)
		gen_object_fail(o, "workloads",
				"an array is needed that begins with \"load\", then any of A B C "
				"D E F");
	return ok ? list : NULL;
}

static void start(struct ycsb *y, bool memcached, uint64_t memory)
{
	/* D and E insert a twentieth more with each operation. */
	gen_kv_init(&y->kv, y->g, memcached, memory, y->records + y->operations / 10, y->size);
	rs_rng_init(&y->rng, y->g->seed, "ycsb");
	gen_dist_zipf(&y->zipf, y->records, 0.99);
	gen_dist_zipf(&y->recent, y->records, 0.99);
	gen_scatter_init(&y->scatter, y->records, &y->rng);
	y->threads = g_new0(uint32_t, y->nr_threads);
	y->threads[0] = y->g->thread;
	for (uint64_t i = 1; i < y->nr_threads; i++) {
		g_autofree char *name = g_strdup_printf("worker%" G_GUINT64_FORMAT, i);

		y->threads[i] = gen_thread(y->g, name, "0");
	}
}

json_t *gen_ycsb(struct gen *g, struct gen_object *root)
{
	struct ycsb y = { .g = g, .switch_every = 16 };
	const char *server = gen_string(root, "server", "redis");
	json_t *list = workload_list(root), *name, *summary = NULL;
	uint64_t memory;
	size_t i;

	y.records = gen_int(root, "records", 100000, 1, GEN_KV_MAX_KEYS);
	y.operations = gen_int(root, "operations", y.records, 1, GEN_MAX_RECORDS);
	y.size = gen_int(root, "fields", 10, 1, 10000) *
		 gen_int(root, "field_length", 100, 1, 1 << 16);
	y.nr_threads = gen_int(root, "server_threads", 1, 1, 256);
	y.uniform = !strcmp(gen_string(root, "distribution", "zipfian"), "uniform");
	memory = gen_bytes(root, "memory", 0);
	if (strcmp(server, "redis") && strcmp(server, "memcached"))
		gen_object_fail(root, "server", "valid are redis, memcached");
	if (gen_failed(g))
		return NULL;
	start(&y, !strcmp(server, "memcached"), memory);
	json_array_foreach(list, i, name) run_workload(&y, json_string_value(name));
	summary = json_pack("{ss, ss, so}", "format", "spec", "generator", "ycsb", "memory_model",
			    gen_kv_report(&y.kv));
	gen_kv_done(&y.kv);
	g_free(y.threads);
	return summary;
}
