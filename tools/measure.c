/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * measure.c - microbenchmarks in user space that stand for what the kernel does: a linear scan of
 * page table entries, moving list entries that no cache holds, faults, reads of cached pages.
 * Nothing is changed on the host.
 */
#include "tools/measure.h"
#include "sim/base/rng.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define PAGE 4096u
#define NR_PTES (1u << 23)  /* 64 MiB: more than a second-level cache */
#define NR_NODES (1u << 19) /* of 64 bytes: 32 MiB */
#define NR_PAGES (1u << 13) /* 32 MiB */
#define PRESENT 1u
#define YOUNG 2u
#define YOUNG_EVERY 7u

double measure_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return (double)ts.tv_sec + 1e-9 * (double)ts.tv_nsec;
}

/* What a loop has found goes here, so that no compiler leaves the loop out. */
static volatile uint64_t sink;

struct node {
	struct node *next, *prev;
	uint64_t flags, rest[5];
};

/* A young entry is made old and the folio, somewhere in memory, is told. */
static double scan_seconds(uint64_t *pte, struct node *folio)
{
	double start = measure_now();
	uint64_t young = 0;

	for (uint32_t i = 0; i < NR_PTES; i++) {
		uint64_t word = __atomic_load_n(&pte[i], __ATOMIC_RELAXED);

		if (!(word & PRESENT) || !(word & YOUNG))
			continue;
		__atomic_fetch_and(&pte[i], ~(uint64_t)YOUNG, __ATOMIC_SEQ_CST);
		__atomic_fetch_or(&folio[i * 2654435761u % NR_NODES].flags, YOUNG,
				  __ATOMIC_SEQ_CST);
		young++;
	}
	sink = young;
	return measure_now() - start;
}

/* Two scans of the same table: with accessed bits here and there, and, those cleared, without. */
static bool scan_twice(double *ret_young, double *ret_old)
{
	uint64_t *pte = malloc(NR_PTES * sizeof(*pte));
	struct node *folio = malloc(NR_NODES * sizeof(*folio));
	bool ok = pte && folio;

	for (uint32_t i = 0; ok && i < NR_NODES; i++)
		folio[i].flags = i;
	for (uint32_t i = 0; ok && i < NR_PTES; i++)
		pte[i] = (uint64_t)i << 12 | PRESENT | (i % YOUNG_EVERY ? 0 : YOUNG);
	if (ok) {
		*ret_young = scan_seconds(pte, folio);
		*ret_old = scan_seconds(pte, folio);
	}
	free(pte);
	free(folio);
	return ok;
}

static double pte_scan(const struct measure_data *unused)
{
	double young, old;

	return scan_twice(&young, &old) ? old * 1e9 / NR_PTES : -1;
}

static double pte_young(const struct measure_data *unused)
{
	double young, old;

	return scan_twice(&young, &old) ? MAX(young - old, 0) * 1e9 / (NR_PTES / YOUNG_EVERY) : -1;
}

static void node_add(struct node *head, struct node *n)
{
	n->next = head->next;
	n->prev = head;
	head->next->prev = n;
	head->next = n;
}

/* Every node from one list to another, in random order. */
static double list_move(const struct measure_data *unused)
{
	struct node *node = malloc(NR_NODES * sizeof(*node)), a, b;
	uint32_t *order = malloc(NR_NODES * sizeof(*order));
	struct rs_rng rng;
	double start;

	if (!node || !order) {
		free(node);
		free(order);
		return -1;
	}
	rs_rng_init(&rng, 1, "measure");
	a.next = a.prev = &a;
	b.next = b.prev = &b;
	for (uint32_t i = 0; i < NR_NODES; i++) {
		uint32_t j = rs_rng_below(&rng, i + 1);

		node_add(&a, &node[i]);
		order[i] = order[j];
		order[j] = i;
	}
	start = measure_now();
	for (uint32_t i = 0; i < NR_NODES; i++) {
		struct node *n = &node[order[i]];

		n->prev->next = n->next;
		n->next->prev = n->prev;
		node_add(&b, n);
	}
	start = measure_now() - start;
	free(node);
	free(order);
	return start * 1e9 / NR_NODES;
}

/* Touching new anonymous memory page by page, and unmapping it. */
static bool fault_and_unmap(double *ret_fault, double *ret_zap)
{
	uint8_t *p = mmap(NULL, (size_t)NR_PAGES * PAGE, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	double start, middle;

	if (p == MAP_FAILED)
		return false;
	madvise(p, (size_t)NR_PAGES * PAGE, MADV_NOHUGEPAGE);
	start = measure_now();
	for (uint32_t i = 0; i < NR_PAGES; i++)
		*(volatile uint8_t *)(p + (size_t)i * PAGE) = 1;
	middle = measure_now();
	munmap(p, (size_t)NR_PAGES * PAGE);
	*ret_fault = (middle - start) * 1e9 / NR_PAGES;
	*ret_zap = (measure_now() - middle) * 1e9 / NR_PAGES;
	return true;
}

static double fault_minor_anon(const struct measure_data *unused)
{
	double fault, zap;

	return fault_and_unmap(&fault, &zap) ? fault : -1;
}

static double zap_page(const struct measure_data *unused)
{
	double fault, zap;

	return fault_and_unmap(&fault, &zap) ? zap : -1;
}

/* pread() of cached pages of a temporary file, in random order. */
static double read_page(const struct measure_data *unused)
{
	g_autofree char *name = NULL;
	uint8_t page[PAGE] = { 0 };
	struct rs_rng rng;
	int fd = g_file_open_tmp("reclaimsim-XXXXXX", &name, NULL);
	double start;
	bool ok = fd >= 0;

	if (ok)
		unlink(name);
	for (uint32_t i = 0; ok && i < NR_PAGES; i++)
		ok = pwrite(fd, page, PAGE, (off_t)i * PAGE) == PAGE;
	rs_rng_init(&rng, 1, "measure");
	start = measure_now();
	for (uint32_t i = 0; ok && i < NR_PAGES; i++)
		ok = pread(fd, page, PAGE, (off_t)rs_rng_below(&rng, NR_PAGES) * PAGE) == PAGE;
	start = measure_now() - start;
	if (fd >= 0)
		close(fd);
	return ok ? start * 1e9 / NR_PAGES : -1;
}

static const struct measure of_memory[] = {
	{ "cost.pte_scan", "one entry of a linear scan of 8 million words", pte_scan },
	{ "cost.pte_young", "clearing one bit of seven in that scan and marking its folio",
	  pte_young },
	{ "cost.list_move", "moving an entry of 32 MiB of list nodes in random order", list_move },
	{ "cost.fault_minor_anon", "first touch of a page of new anonymous memory",
	  fault_minor_anon },
	{ "cost.zap_page", "unmapping one page that was touched", zap_page },
	{ "cost.read_page", "pread() of 4 KiB of a cached file", read_page },
};

const struct measure *measures(unsigned *ret_n)
{
	static struct measure *all;
	unsigned n = G_N_ELEMENTS(of_memory);

	*ret_n = n + measure_nr_codecs;
	if (!all) {
		all = g_new(struct measure, *ret_n);
		for (unsigned i = 0; i < *ret_n; i++)
			all[i] = i < n ? of_memory[i] : measure_codecs[i - n];
	}
	return all;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

bool measure_run(const struct measure *m, const struct measure_data *data, unsigned repeats,
		 struct measured *ret)
{
	double ns[MEASURE_MAX_REPEATS];

	for (unsigned i = 0; i < repeats; i++) {
		ns[i] = m->run(data);
		if (ns[i] < 0)
			return false;
	}
	qsort(ns, repeats, sizeof(*ns), by_value);
	*ret = (struct measured){ .min = ns[0], .median = ns[repeats / 2] };
	return true;
}
