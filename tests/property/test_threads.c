/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Random programs of several threads and processes on random machines: time is conserved, the
 * machine stays sound, the same inputs give the same result, and counters converge with the
 * quantum. RS_SEED=n replays one round.
 */
#include "lib/cm.h"

#include <stdlib.h>
#include <string.h>

#include "sim/base/rng.h"
#include "sim/engine/engine.h"

#define SHARED_ANON 0u
#define SHARED_FILE 1u
#define NR_SHARED 2u
#define OWN(thread) (NR_SHARED + (thread)*2)
#define SHARED_PAGES 900u
#define OWN_PAGES 300u

struct program {
	struct rs_rng rng;
	GArray *records, *maps;
	uint32_t nr_threads, cur;
	bool open[64], mapped[64];
};

static uint32_t below(struct program *p, uint32_t n)
{
	return rs_rng_next(&p->rng) % n;
}

static void put(struct program *p, struct rs_record r)
{
	g_array_append_val(p->records, r);
}

static void put_map(struct program *p, uint32_t region, uint32_t file, uint32_t prot,
		    uint64_t pages)
{
	struct rs_map map = { .file = file, .prot = prot, .pages = pages };

	put(p, (struct rs_record){ .op = RS_OP_MMAP, .object = region, .value = p->maps->len });
	g_array_append_val(p->maps, map);
}

static void access_some(struct program *p, uint32_t region, uint32_t pages)
{
	uint32_t page = below(p, pages), n = 1 + below(p, MIN(pages - page, 60));

	put(p, (struct rs_record){ .op = below(p, 2) ? RS_OP_LOAD : RS_OP_STORE,
				   .object = region,
				   .page = page,
				   .count = n });
}

static void advise(struct program *p, uint32_t region)
{
	static const uint8_t advice[] = { RS_ADV_DONTNEED, RS_ADV_FREE,	    RS_ADV_COLD,
					  RS_ADV_PAGEOUT,  RS_ADV_WILLNEED, RS_ADV_RANDOM,
					  RS_ADV_NORMAL };

	put(p, (struct rs_record){ .op = RS_OP_MADVISE,
				   .object = region,
				   .page = below(p, 100),
				   .count = 1 + below(p, 200),
				   .arg = advice[below(p, sizeof(advice))] });
}

static void own_region(struct program *p, uint32_t t)
{
	if (!p->mapped[t]) {
		put_map(p, OWN(t), RS_MAP_FILE_NONE, VM_READ | VM_WRITE, OWN_PAGES);
		p->mapped[t] = true;
		return;
	}
	switch (below(p, 6)) {
	case 0:
		put(p, (struct rs_record){ .op = RS_OP_MUNMAP, .object = OWN(t) });
		p->mapped[t] = false;
		break;
	case 1:
		advise(p, OWN(t));
		break;
	case 2:
		put(p, (struct rs_record){ .op = RS_OP_MLOCK,
					   .object = OWN(t),
					   .page = below(p, 200),
					   .count = 1 + below(p, 8),
					   .arg = below(p, 2) });
		break;
	default:
		access_some(p, OWN(t), OWN_PAGES);
	}
}

static void one_step(struct program *p, uint32_t t)
{
	switch (below(p, 12)) {
	case 0:
		put(p, (struct rs_record){ .op = RS_OP_CPU, .value = 1 + below(p, 20000) });
		break;
	case 1:
		put(p, (struct rs_record){ .op = RS_OP_SLEEP, .value = 1 + below(p, 50000) });
		break;
	case 2:
		put(p, (struct rs_record){ .op = below(p, 3) ? RS_OP_READ : RS_OP_WRITE,
					   .object = 1,
					   .page = below(p, 500),
					   .count = 1 + below(p, 40) });
		break;
	case 3:
		advise(p, SHARED_ANON);
		break;
	case 4:
		if (!below(p, 8))
			put(p, (struct rs_record){ .op = RS_OP_FSYNC, .object = 1 });
		break;
	case 5:
		access_some(p, SHARED_FILE, 600);
		break;
	case 6:
	case 7:
		access_some(p, SHARED_ANON, SHARED_PAGES);
		break;
	default:
		own_region(p, t);
	}
}

/* Thread 0 maps what all share; children of its process inherit it. */
static void prologue(struct program *p)
{
	put(p, (struct rs_record){ .op = RS_OP_FILE, .object = 0, .value = 600 });
	put(p, (struct rs_record){ .op = RS_OP_FILE, .object = 1, .value = 500 });
	put_map(p, SHARED_ANON, RS_MAP_FILE_NONE, VM_READ | VM_WRITE, SHARED_PAGES);
	put_map(p, SHARED_FILE, 0, VM_READ | VM_WRITE | (below(p, 2) ? VM_SHARED : 0), 600);
	p->open[0] = true;
	p->cur = 0;
}

static void body(struct program *p, uint32_t steps)
{
	for (uint32_t i = 0; i < steps; i++) {
		uint32_t t = below(p, p->nr_threads), process = t % 4 == 3;

		/* The second process is the child of thread 0. */
		if (process && !p->open[t] && !p->open[3]) {
			put(p, (struct rs_record){ .op = RS_OP_THREAD, .object = 0 });
			put(p, (struct rs_record){ .op = RS_OP_FORK, .object = 3, .arg = 1 });
			p->open[3] = true;
			t = 3;
		}
		put(p, (struct rs_record){ .op = RS_OP_THREAD, .object = t, .arg = process });
		p->open[t] = true;
		for (uint32_t n = 1 + below(p, 12); n; n--)
			one_step(p, t);
	}
	for (uint32_t t = 0; t < p->nr_threads; t++) {
		if (!p->open[t] || below(p, 3) == 0)
			continue;
		put(p, (struct rs_record){ .op = RS_OP_THREAD, .object = t, .arg = t % 4 == 3 });
		put(p, (struct rs_record){ .op = RS_OP_EXIT });
	}
}

static void set(struct rs_scenario *s, const char *key, const char *value)
{
	GError *error = NULL;

	if (!rs_scenario_set(s, key, value, &error))
		fail_msg("%s", error->message);
}

static const char *pick(struct program *p, const char *const *choices)
{
	return choices[below(p, g_strv_length((char **)choices))];
}

static struct rs_scenario *random_scenario(struct program *p, const char **ret_policy)
{
	static const char *const kernels[] = { "6.1", "6.12", "6.14", "7.2", NULL };
	static const char *const policies[] = { "classic", "mglru", "fifo", NULL };
	static const char *const devices[] = { "null", "virtio", "zram", "ssd", "nvme", NULL };
	static const char *const disks[] = { "null", "virtio", "ssd", "nvme", NULL };
	static const char *const locks[] = { "off", "6.4", "6.6", "6.7", "6.10", "6.15", NULL };
	static const char *const cpus[] = { "1", "2", "3", "8", NULL };
	static const char *const limits[] = { "600p", "1200p", "max", NULL };
	static const char *const quanta[] = { "0", "500", "5000", NULL };
	struct rs_scenario *s = rs_scenario_new();
	GError *error = NULL;

	rs_scenario_set_kernel(s, pick(p, kernels), &error);
	assert_no_error(error);
	set(s, "node0.memory", "16M");
	set(s, "swap", pick(p, devices));
	set(s, "disk", pick(p, disks));
	set(s, "mm.per_vma_lock", pick(p, locks));
	set(s, "cpus", pick(p, cpus));
	set(s, "memory.max", pick(p, limits));
	set(s, "quantum_ns", pick(p, quanta));
	set(s, "timeslice_ns", below(p, 2) ? "3000000" : "20000");
	*ret_policy = pick(p, policies);
	return s;
}

static struct rs_batch batch_of(const struct program *p, uint32_t from, uint32_t to)
{
	return (struct rs_batch){ .records = (const struct rs_record *)p->records->data + from,
				  .nr_records = to - from,
				  .maps = (const struct rs_map *)p->maps->data,
				  .nr_maps = p->maps->len,
				  .line = from + 1 };
}

/* Time that is accounted for, up to the clock of a task that is at rest. */
static ns_t accounted(const struct task *t)
{
	ns_t sum = t->born_at + t->idle_ns + t->run_ns;

	for (unsigned w = 0; w < NR_WAITS; w++)
		sum += t->wait_ns[w];
	if (t->state == TASK_STARVING && t->end_at != t->now)
		sum += t->now - t->started_at; /* it has kept its CPU */
	return sum;
}

static uint64_t kernel_threads; /* looked at that had run */

static void check_time(struct rs_ctx *ctx)
{
	ns_t last = 0, busy = 0;

	for (uint32_t i = 0; i < ctx->nr_tasks; i++) {
		const struct task *t = ctx->tasks[i];

		last = MAX(last, t->now);
		/* Kernel threads wait for work at the end; what they wait for now comes later. */
		if (t->state == TASK_DEAD || t->state == TASK_STARVING ||
		    (t->class != CLASS_APP && t->state == TASK_WAITING)) {
			assert_int_equal(accounted(t), t->now);
			kernel_threads += t->class != CLASS_APP && t->run_ns;
		}
	}
	for (uint32_t i = 0; i < ctx->nr_cpus; i++) {
		const struct cpu *cpu = &ctx->cpus[i];
		ns_t own = cpu->busy_ns + (cpu->cur ? cpu->cur->now - cpu->cur->started_at : 0);

		assert_true(own <= last);
		busy += own;
	}
	assert_true(busy <= last * ctx->nr_cpus);
}

static void check_machine(struct rs_ctx *ctx)
{
	g_autoptr(GString) why = g_string_new(NULL);

	if (!machine_check(&ctx->m, why))
		fail_msg("%s", why->str);
}

/* Nobody is stalled longer than all threads together have waited. */
static void check_pressure(const struct rs_result *result)
{
	const struct rs_snapshot *end =
		g_ptr_array_index(result->snapshots, result->snapshots->len - 1);
	const struct rs_group_stat *own = g_ptr_array_index(end->groups, 0);
	ns_t io = 0, memory = 0;

	for (guint i = 0; i < result->threads->len; i++) {
		const struct rs_thread_stat *t = g_ptr_array_index(result->threads, i);

		io += t->io_wait_ns + t->throttle_ns;
		memory += t->io_wait_ns + t->throttle_ns + t->run_wait_ns + t->cpu_ns;
	}
	for (unsigned r = 0; r < RS_NR_PSI; r++) {
		assert_true(own->psi[r].full_total <= own->psi[r].some_total);
		assert_true(end->psi[r].full_total <= end->psi[r].some_total);
		assert_true(end->psi[r].some_total <= end->time_ns);
	}
	if (strcmp(own->path, "/")) {
		assert_true(own->psi[RS_PSI_IO].some_total <= io);
		assert_true(own->psi[RS_PSI_MEMORY].some_total <= memory);
	}
}

/* What is kept one by one is what is summed up. */
static void check_latencies(const struct rs_result *result)
{
	static const struct {
		const char *lock;
		enum rs_latency kind;
	} locks[] = { { "mmap_lock", RS_LATENCY_MMAP_LOCK },
		      { "vma_lock", RS_LATENCY_VMA_LOCK },
		      { "lru_lock", RS_LATENCY_LRU_LOCK } };
	const struct rs_hist *h = result->latency;
	ns_t reclaim = 0;

	for (unsigned i = 0; i < G_N_ELEMENTS(locks); i++)
		assert_int_equal(
			h[locks[i].kind].sum,
			rs_result_lock((struct rs_result *)result, locks[i].lock)->wait_ns);
	for (guint i = 0; i < result->threads->len; i++) {
		const struct rs_thread_stat *t = g_ptr_array_index(result->threads, i);

		reclaim += t->reclaim_ns;
	}
	assert_int_equal(h[RS_LATENCY_DIRECT_RECLAIM].sum + h[RS_LATENCY_MEMCG_RECLAIM].sum,
			 reclaim);
	for (unsigned i = 0; i < RS_NR_LATENCIES; i++)
		assert_true(rs_hist_percentile(&h[i], 500) <= h[i].max && h[i].min <= h[i].max);
}

static void check_result(const struct rs_result *result)
{
	check_pressure(result);
	check_latencies(result);
	for (guint i = 0; i < result->threads->len; i++) {
		const struct rs_thread_stat *t = g_ptr_array_index(result->threads, i);

		assert_int_equal(t->cpu_ns + t->io_wait_ns + t->lock_wait_ns + t->throttle_ns +
					 t->run_wait_ns + t->sleep_ns + t->idle_ns,
				 result->elapsed_ns);
	}
}

/* The result as text; NULL when the run ended with an error (a random program may run out of
 * memory). */
static char *run(struct program *p, const struct rs_scenario *s, const char *policy, uint32_t step)
{
	GError *error = NULL;
	struct rs_sim *sim = rs_sim_new(s, policy, &error);
	struct rs_ctx *ctx = (struct rs_ctx *)sim;
	struct rs_result *result = NULL;
	char *text;

	assert_no_error(error);
	for (uint32_t from = 0; from < p->records->len; from += step) {
		struct rs_batch b = batch_of(p, from, MIN(from + step, p->records->len));

		if (!rs_sim_feed(sim, NULL, &b, &error))
			fail_msg("%s", error->message);
		check_machine(ctx);
		check_time(ctx);
	}
	if (!rs_sim_finish(sim, NULL, &result, &error))
		fail_msg("%s", error->message);
	check_machine(ctx);
	check_time(ctx);
	check_result(result);
	text = rs_result_json(result);
	rs_result_free(result);
	rs_sim_free(sim);
	return text;
}

static struct program *program_new(uint64_t seed, uint32_t threads, uint32_t steps)
{
	struct program *p = g_new0(struct program, 1);

	rs_rng_init(&p->rng, seed, "threads");
	p->records = g_array_new(FALSE, FALSE, sizeof(struct rs_record));
	p->maps = g_array_new(FALSE, FALSE, sizeof(struct rs_map));
	p->nr_threads = threads;
	prologue(p);
	body(p, steps);
	return p;
}

static void program_free(struct program *p)
{
	g_array_unref(p->records);
	g_array_unref(p->maps);
	g_free(p);
}

static void round_of(uint64_t seed)
{
	struct program *p = program_new(seed, 2 + seed % 13, 120);
	const char *policy;
	struct rs_scenario *s = random_scenario(p, &policy);
	g_autofree char *first = run(p, s, policy, 500), *second = run(p, s, policy, 500);

	assert_string_equal(first, second);
	rs_scenario_free(s);
	program_free(p);
}

static uint64_t number(const char *name, uint64_t def)
{
	const char *text = g_getenv(name);

	return text ? g_ascii_strtoull(text, NULL, 10) : def;
}

static void time_is_conserved_and_runs_repeat(void **state)
{
	uint64_t seed = number("RS_SEED", 0), rounds = number("RS_ROUNDS", 60);

	if (seed) {
		round_of(seed);
		return;
	}
	for (uint64_t i = 1; i <= rounds; i++) {
		print_message("RS_SEED=%" PRIu64 "\n", i);
		round_of(i);
	}
	assert_true(kernel_threads > rounds);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(time_is_conserved_and_runs_repeat),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
