/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * random_ops.c - random traces of every operation on random small machines.
 *
 * Operations are drawn without a look at what is valid: the trace writer checks every record as the
 * readers do, and what it refuses is left out.
 */
#include "random_ops.h"

#include "sim/base/rng.h"
#include "tests/lib/cm.h"
#include "tests/lib/trace_file.h"

enum {
	NR_REGIONS = 6,
	NR_FILES = 3,
	NR_THREADS = 5,
	NR_GROUPS = 3,
	MAX_PAGES = 300,
	MAX_COUNT = 40,
};

struct gen {
	struct rs_trace_writer *w;
	struct rs_rng rng;
	bool shared_mm; /* threads share address spaces two by two */
	uint32_t pages; /* of the largest region and file: small ones collide more */
};

static uint32_t below(struct gen *g, uint32_t n)
{
	return rs_rng_next(&g->rng) % n;
}

static uint32_t name(struct gen *g, enum rs_name_kind kind, uint32_t nr)
{
	static const char *const form[] = {
		[RS_NAME_REGION] = "r%u", [RS_NAME_FILE] = "f%u",   [RS_NAME_MARK] = "m%u",
		[RS_NAME_THREAD] = "%u",  [RS_NAME_MEMCG] = "/g%u", [RS_NAME_PROCESS] = "%u",
	};
	g_autofree char *text = NULL;

	/* Group 2 is below group 1. */
	if (kind == RS_NAME_MEMCG && nr == 2)
		text = g_strdup("/g1/sub");
	else
		text = g_strdup_printf(form[kind], nr);
	return rs_trace_intern(g->w, kind, text);
}

static void put(struct gen *g, struct rs_record r, const struct rs_map *map)
{
	rs_trace_put(g->w, &r, map, NULL);
}

static void put_map(struct gen *g)
{
	static const uint32_t prot[] = { VM_READ | VM_WRITE, VM_READ, VM_READ | VM_EXEC,
					 VM_READ | VM_WRITE | VM_STACK };
	struct rs_map map = { .file = RS_MAP_FILE_NONE, .pages = 1 + below(g, g->pages) };
	struct rs_record r = { .op = RS_OP_MMAP };

	r.object = name(g, RS_NAME_REGION, below(g, NR_REGIONS));
	if (below(g, 2)) {
		map.file = name(g, RS_NAME_FILE, below(g, NR_FILES));
		map.pgoff = below(g, 4) ? 0 : below(g, g->pages);
		map.prot = prot[below(g, 3)] | (below(g, 2) ? VM_SHARED : 0);
	} else {
		map.prot = prot[below(g, 4) & below(g, 4)];
		if (!below(g, 5))
			map.prot = VM_READ | VM_WRITE | VM_SHARED;
		/* Large enough and aligned for huge pages. */
		if (!below(g, 4)) {
			map.pages = 512 * (1 + below(g, 3));
			map.address = (UINT64_C(1) << 28) + 4096 * below(g, 64);
		}
	}
	put(g, r, &map);
}

static void put_thread(struct gen *g)
{
	uint32_t thread = below(g, NR_THREADS);
	struct rs_record r = { .op = RS_OP_THREAD };

	r.object = name(g, RS_NAME_THREAD, thread);
	r.arg = name(g, RS_NAME_PROCESS, g->shared_mm ? thread / 2 : thread);
	put(g, r, NULL);
}

static void put_fork(struct gen *g)
{
	uint32_t thread = below(g, NR_THREADS);
	struct rs_record r = { .op = RS_OP_FORK };

	r.object = name(g, RS_NAME_THREAD, thread);
	r.arg = name(g, RS_NAME_PROCESS, thread);
	put(g, r, NULL);
}

/* Loads, stores and descriptor calls: most of a trace. */
static void put_access(struct gen *g)
{
	static const uint8_t ops[] = { RS_OP_LOAD, RS_OP_STORE, RS_OP_STORE, RS_OP_READ,
				       RS_OP_WRITE };
	struct rs_record r = { .op = ops[below(g, G_N_ELEMENTS(ops))] };

	if (r.op == RS_OP_READ || r.op == RS_OP_WRITE) {
		r.object = name(g, RS_NAME_FILE, below(g, NR_FILES));
		r.arg = below(g, 3) ? 0 : 1 + below(g, 2);
	} else {
		r.object = name(g, RS_NAME_REGION, below(g, NR_REGIONS));
	}
	r.page = below(g, below(g, 3) ? g->pages : 1 + g->pages / 4);
	r.count = below(g, 4) ? 1 : 1 + below(g, MAX_COUNT);
	if (!below(g, 20))
		r.page = below(g, 1536);
	put(g, r, NULL);
}

/* Calls on a part of a region or file, or all of it. */
static void put_range(struct gen *g)
{
	static const uint8_t ops[] = { RS_OP_MUNMAP,  RS_OP_MPROTECT, RS_OP_MADVISE, RS_OP_MADVISE,
				       RS_OP_MADVISE, RS_OP_MLOCK,    RS_OP_MLOCK,   RS_OP_FADVISE,
				       RS_OP_FSYNC,   RS_OP_TRUNCATE };
	struct rs_record r = { .op = ops[below(g, G_N_ELEMENTS(ops))] };

	r.object =
		name(g, rs_record_object_kind(r.op),
		     below(g, rs_record_object_kind(r.op) == RS_NAME_FILE ? NR_FILES : NR_REGIONS));
	if (r.op == RS_OP_FSYNC) {
		put(g, r, NULL);
		return;
	}
	r.page = below(g, g->pages);
	if (r.op != RS_OP_TRUNCATE && below(g, 3))
		r.count = 1 + below(g, MAX_COUNT);
	else if (r.op != RS_OP_TRUNCATE)
		r.page = 0;
	if (r.op == RS_OP_MADVISE || r.op == RS_OP_FADVISE)
		r.arg = below(g, RS_NR_ADVICE);
	if (r.op == RS_OP_MPROTECT)
		r.arg = VM_READ | below(g, 8);
	if (r.op == RS_OP_MLOCK)
		r.arg = below(g, 2);
	put(g, r, NULL);
}

static void put_rare(struct gen *g)
{
	static const uint8_t ops[] = { RS_OP_EXEC, RS_OP_EXIT,	RS_OP_MEMCG, RS_OP_MEMCG,
				       RS_OP_CPU,  RS_OP_SLEEP, RS_OP_TIME,  RS_OP_MBIND,
				       RS_OP_WAIT, RS_OP_MARK,	RS_OP_FILE };
	struct rs_record r = { .op = ops[below(g, G_N_ELEMENTS(ops))] };

	switch (r.op) {
	case RS_OP_MEMCG:
	case RS_OP_MARK:
		r.object = name(g, rs_record_object_kind(r.op), below(g, NR_GROUPS));
		break;
	case RS_OP_WAIT:
		r.object = name(g, RS_NAME_THREAD, below(g, NR_THREADS));
		break;
	case RS_OP_MBIND:
		r.object = name(g, RS_NAME_REGION, below(g, NR_REGIONS));
		r.arg = below(g, 4);
		r.value = r.arg ? 1 + below(g, 3) : 0;
		break;
	case RS_OP_FILE:
		r.object = name(g, RS_NAME_FILE, below(g, NR_FILES));
		r.value = below(g, g->pages);
		break;
	case RS_OP_CPU:
	case RS_OP_SLEEP:
	case RS_OP_TIME:
		r.value = below(g, 3) ? below(g, 100000) : below(g, 3000000000u);
	}
	put(g, r, NULL);
}

static void put_any(struct gen *g)
{
	uint32_t x = below(g, 100);

	if (x < 70)
		put_access(g);
	else if (x < 76)
		put_map(g);
	else if (x < 84)
		put_thread(g);
	else if (x < 86)
		put_fork(g);
	else if (x < 95)
		put_range(g);
	else
		put_rare(g);
}

static char *make_trace(struct rs_rng *rng)
{
	struct gen g = { .rng = *rng };
	char *path = trace_file_name();
	GError *error = NULL;
	uint32_t nr;

	g.w = rs_trace_create(path, RS_TRACE_TEXT, &error);
	assert_no_error(error);
	g.pages = 8 + below(&g, MAX_PAGES);
	g.shared_mm = !below(&g, 4);
	nr = 1 + below(&g, 3000);
	for (uint32_t i = 0; i < NR_FILES; i++)
		put(&g,
		    (struct rs_record){ .op = RS_OP_FILE,
					.object = name(&g, RS_NAME_FILE, i),
					.arg = below(&g, 2),
					.value = 1 + below(&g, g.pages) },
		    NULL);
	for (uint32_t i = 0; i < NR_REGIONS; i++)
		put_map(&g);
	for (uint32_t i = 0; i < nr; i++)
		put_any(&g);
	rs_trace_writer_close(g.w, &error);
	assert_no_error(error);
	*rng = g.rng;
	return path;
}

/* ---- machines ---- */

static uint32_t draw(struct rs_rng *rng, uint32_t n)
{
	return rs_rng_next(rng) % n;
}

static void set(struct random_case *c, const char *key, const char *value)
{
	GError *error = NULL;

	g_string_append_printf(c->settings, " --set %s=%s", key, value);
	if (!rs_scenario_set(c->scenario, key, value, &error))
		assert_no_error(error);
}

/* One of the values, ended by NULL. */
#define ONE_OF(c, rng, key, ...)                                                                   \
	do {                                                                                       \
		const char *const values_[] = { __VA_ARGS__ };                                     \
		set(c, key, values_[draw(rng, G_N_ELEMENTS(values_))]);                            \
	} while (0)

static void set_groups(struct random_case *c, struct rs_rng *rng)
{
	if (draw(rng, 4))
		ONE_OF(c, rng, "memory.max", "0", "1p", "20p", "64p", "100p", "200p", "300p",
		       "600p");
	if (!draw(rng, 4))
		ONE_OF(c, rng, "memory.high", "20p", "64p", "150p");
	if (!draw(rng, 4))
		ONE_OF(c, rng, "memory.low", "20p", "200p");
	if (!draw(rng, 4))
		ONE_OF(c, rng, "memory.min", "20p", "200p");
	if (!draw(rng, 4))
		ONE_OF(c, rng, "memory.swap.max", "0", "1p", "50p");
	if (!draw(rng, 3))
		ONE_OF(c, rng, "memcg:/g1.memory.max", "30p", "200p");
	if (!draw(rng, 3))
		ONE_OF(c, rng, "memcg:/g1/sub.memory.max", "10p", "100p");
	if (!draw(rng, 3))
		ONE_OF(c, rng, "memcg:/g0.memory.low", "30p", "200p");
}

static void set_machine(struct random_case *c, struct rs_rng *rng)
{
	/* The second form leaves little more than what the watermarks need. */
	ONE_OF(c, rng, "node0.memory", "16M", "4M", "8M");
	if (!draw(rng, 3)) {
		set(c, "numa.nodes", "2");
		ONE_OF(c, rng, "node1.memory", "16M", "4M");
		if (!draw(rng, 2))
			set(c, "node1.cpus", "0");
		ONE_OF(c, rng, "kernel.numa_balancing", "0", "1", "2", "3");
		ONE_OF(c, rng, "numa.demotion_enabled", "0", "1");
	}
	ONE_OF(c, rng, "cpus", "1", "2", "4");
	ONE_OF(c, rng, "swap", "none", "null", "zram", "nvme", "hdd");
	ONE_OF(c, rng, "swap.size", "16M", "256K", "1M", "64M");
	ONE_OF(c, rng, "disk", "null", "nvme", "virtio", "hdd");
	ONE_OF(c, rng, "vm.swappiness", "60", "0", "1", "100", "200");
	ONE_OF(c, rng, "vm.page-cluster", "0", "3", "5");
	ONE_OF(c, rng, "read_ahead_kb", "0", "16", "128", "4096");
	ONE_OF(c, rng, "fault_around_bytes", "4096", "65536", "2M");
	ONE_OF(c, rng, "transparent_hugepage", "never", "always");
	ONE_OF(c, rng, "lru_gen.enabled", "7", "1", "3", "5");
	ONE_OF(c, rng, "lru_gen.min_ttl_ms", "0", "0", "1000");
	ONE_OF(c, rng, "vm.dirty_background_ratio", "10", "0");
	ONE_OF(c, rng, "quantum_ns", "500", "0", "1000000");
}

static void choose_policy(struct random_case *c, struct rs_rng *rng)
{
	static const char *const kernels[] = { "6.1", "6.12", "6.14", "7.2", "5.18" };
	static const char *const policies[] = { "classic", "mglru",	"mglru",
						"fifo",	   "hitshield", "exec-promote" };
	GError *error = NULL;

	c->kernel = kernels[draw(rng, G_N_ELEMENTS(kernels))];
	c->policy = policies[draw(rng, G_N_ELEMENTS(policies))];
	if (!strcmp(c->kernel, "5.18") && !strcmp(c->policy, "hitshield"))
		c->policy = "mglru";
	rs_scenario_set_kernel(c->scenario, c->kernel, &error);
	assert_no_error(error);
}

void random_case_make(struct random_case *c, uint64_t seed)
{
	struct rs_rng rng;

	rs_rng_init(&rng, seed, "property");
	c->scenario = rs_scenario_new();
	c->settings = g_string_new(NULL);
	choose_policy(c, &rng);
	set_groups(c, &rng);
	set_machine(c, &rng);
	c->trace = make_trace(&rng);
}

void random_case_clear(struct random_case *c)
{
	trace_file_remove(c->trace);
	rs_scenario_free(c->scenario);
	g_string_free(c->settings, TRUE);
}
