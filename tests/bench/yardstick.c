/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * yardstick.c - see yardstick.h. Host clock and floating point are fine here: nothing of it enters
 * a result.
 */
#include "bench/yardstick.h"

#include <math.h>
#include <stdio.h>
#include <time.h>

#include "sim/base/rng.h"

#define REGION_PAGES_MAX (UINT32_C(1) << 28)

double bench_seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

static bool failed(GError *error)
{
	fprintf(stderr, "%s\n", error->message);
	g_error_free(error);
	return false;
}

/* Page of each rank: a shuffle, so that popular pages do not lie together. */
static uint32_t *shuffled(struct rs_rng *rng, uint32_t n)
{
	uint32_t *page = g_new(uint32_t, n);

	for (uint32_t i = 0; i < n; i++)
		page[i] = i;
	for (uint32_t i = n - 1; i > 0; i--) {
		uint32_t j = rs_rng_below(rng, i + 1), swap = page[i];

		page[i] = page[j];
		page[j] = swap;
	}
	return page;
}

static double *cumulated(uint32_t n, double exponent)
{
	double *sum = g_new(double, n), all = 0;

	for (uint32_t i = 0; i < n; i++)
		sum[i] = all += pow(i + 1, -exponent);
	return sum;
}

static uint32_t rank_of(const double *sum, uint32_t n, double u)
{
	uint32_t low = 0, high = n - 1;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (sum[middle] < u)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool put_accesses(struct rs_trace_writer *w, uint32_t pages, uint32_t nr_accesses,
			 double exponent, GError **error)
{
	struct rs_rng rng;
	rs_rng_init(&rng, 1, "bench");
	g_autofree uint32_t *page = shuffled(&rng, pages);
	g_autofree double *sum = cumulated(pages, exponent);
	struct rs_record r = { .count = 1 };
	bool fine = true;

	for (uint32_t i = 0; fine && i < pages; i++) {
		r.op = RS_OP_STORE;
		r.page = i;
		fine = rs_trace_put(w, &r, NULL, error);
	}
	for (uint32_t i = 0; fine && i < nr_accesses; i++) {
		double u = rs_rng_double(&rng);

		r.page = page[rank_of(sum, pages, u * sum[pages - 1])];
		r.op = rs_rng_below(&rng, 10) < 3 ? RS_OP_STORE : RS_OP_LOAD;
		fine = rs_trace_put(w, &r, NULL, error);
	}
	return fine;
}

bool bench_write_zipf(const char *path, uint32_t pages, uint32_t nr_accesses, double exponent)
{
	const struct rs_map map = { .file = RS_MAP_FILE_NONE, .prot = 3, .pages = pages };
	GError *error = NULL;
	struct rs_trace_writer *w = rs_trace_create(path, RS_TRACE_NATIVE, &error);

	if (!w)
		return failed(error);
	struct rs_record r = { .op = RS_OP_MMAP,
			       .object = rs_trace_intern(w, RS_NAME_REGION, "heap") };
	if (!rs_trace_put(w, &r, &map, &error) ||
	    !put_accesses(w, pages, nr_accesses, exponent, &error)) {
		rs_trace_writer_abort(w);
		return failed(error);
	}
	return rs_trace_writer_close(w, &error) || failed(error);
}

static inline bool is_access(const struct rs_record *r)
{
	return r->op == RS_OP_LOAD || r->op == RS_OP_STORE;
}

/* Every access of the trace sets a bit. */
static bool decode_once(const char *path, uint8_t *bits, uint64_t *ret_accesses)
{
	GError *error = NULL;
	struct rs_trace *t = rs_trace_open(path, &error);
	struct rs_batch batch;
	uint64_t n = 0;
	int r = -1;

	while (t && (r = rs_trace_next(t, &batch, &error)) > 0) {
		for (uint32_t i = 0; i < batch.nr_records; i++) {
			const struct rs_record *rec = &batch.records[i];

			if (is_access(rec)) {
				bits[rec->page % REGION_PAGES_MAX] |= 1;
				n++;
			}
		}
	}
	rs_trace_free(t);
	*ret_accesses = n;
	return r == 0 || failed(error);
}

bool yardstick_decode(const char *path, unsigned repeats, struct bench_speed *ret)
{
	g_autofree uint8_t *bits = g_malloc0(REGION_PAGES_MAX);
	struct bench_speed best = { .seconds = INFINITY };

	while (repeats--) {
		double start = bench_seconds();

		if (!decode_once(path, bits, &best.accesses))
			return false;
		best.seconds = MIN(best.seconds, bench_seconds() - start);
	}
	*ret = best;
	return true;
}

static GArray *read_pages(const char *path)
{
	GArray *pages = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	GError *error = NULL;
	struct rs_trace *t = rs_trace_open(path, &error);
	struct rs_batch batch;
	int r = -1;

	while (t && (r = rs_trace_next(t, &batch, &error)) > 0)
		for (uint32_t i = 0; i < batch.nr_records; i++)
			if (is_access(&batch.records[i]))
				g_array_append_val(pages, batch.records[i].page);
	rs_trace_free(t);
	if (r == 0)
		return pages;
	failed(error);
	g_array_free(pages, TRUE);
	return NULL;
}

bool yardstick_memory(const char *path, unsigned repeats, struct bench_speed *ret)
{
	GArray *pages = read_pages(path);
	struct bench_speed best = { .seconds = INFINITY };

	if (!pages)
		return false;
	g_autofree uint8_t *bits = g_malloc0(REGION_PAGES_MAX);
	const uint32_t *page = (void *)pages->data;
	best.accesses = pages->len;
	while (repeats--) {
		double start = bench_seconds();

		for (uint32_t i = 0; i < pages->len; i++)
			bits[page[i] % REGION_PAGES_MAX] |= 1;
		best.seconds = MIN(best.seconds, bench_seconds() - start);
	}
	g_array_free(pages, TRUE);
	*ret = best;
	return true;
}
