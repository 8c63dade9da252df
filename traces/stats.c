/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stats.c - counts over a trace. Sampling is by page, as in SHARDS: all touches of a page are
 * followed or none, so that distances among the followed pages, times the rate, are those of all.
 */
#include <reclaimsim/trace_stats.h>

#include <string.h>

#include "traces/pagewalk.h"
#include "traces/reuse.h"

struct collect {
	struct pagewalk walk;
	struct reuse reuse;
	struct pagemap seen; /* pages of regions (2r + 1) and of files (2f) that were counted */
	struct rs_trace_stats *stats;
	uint32_t nr_known; /* page numbers met */
	uint64_t op;
};

static bool followed(const struct rs_trace_stats *s, uint32_t page)
{
	return s->sample == 1 || (page * UINT64_C(0x9e3779b97f4a7c15) >> 32) % s->sample == 0;
}

static void add_distance(GArray *to, uint32_t distance, uint64_t n)
{
	if (distance >= to->len)
		g_array_set_size(to, distance + 1);
	g_array_index(to, uint64_t, distance) += n;
}

static void touch(void *arg, uint32_t page, enum touch touch)
{
	struct collect *c = arg;
	struct rs_trace_stats *s = c->stats;
	bool costs = touch <= TOUCH_FILE_CALL;

	s->touches++;
	s->first_touches += touch == TOUCH_FIRST;
	if (page == c->nr_known) {
		c->nr_known++;
		s->anon_pages += touch == TOUCH_FIRST;
		s->file_pages += touch != TOUCH_FIRST;
	}
	if (!followed(s, page))
		return;
	uint32_t distance = reuse_touch(&c->reuse, page);
	if (distance == REUSE_COLD)
		s->cold_misses += costs ? s->sample : 0;
	else
		add_distance(costs ? s->distances : s->free_distances, distance, s->sample);
}

static void discard(void *arg, uint32_t page)
{
	struct collect *c = arg;

	if (followed(c->stats, page))
		reuse_discard(&c->reuse, page);
}

static struct rs_trace_use *use_of(GArray *uses, uint32_t id)
{
	if (id >= uses->len)
		g_array_set_size(uses, id + 1);
	return &g_array_index(uses, struct rs_trace_use, id);
}

static void add_use(struct rs_trace_use *use, const struct rs_record *r)
{
	switch (r->op) {
	case RS_OP_LOAD:
		use->loads += r->count;
		break;
	case RS_OP_STORE:
		use->stores += r->count;
		break;
	case RS_OP_READ:
		use->read_calls++;
		use->read_pages += r->count;
		break;
	case RS_OP_WRITE:
		use->write_calls++;
		use->written_pages += r->count;
		break;
	}
}

static void count_access(struct collect *c, const struct rs_record *r)
{
	struct rs_trace_stats *s = c->stats;
	bool region = rs_record_object_kind(r->op) == RS_NAME_REGION;
	struct rs_trace_use *use = use_of(region ? s->regions : s->files, r->object);
	uint32_t process = g_array_index(c->walk.threads, uint32_t, c->walk.thread);

	add_use(use, r);
	add_use(&s->all, r);
	add_use(use_of(s->processes, process), r);
	for (uint32_t i = 0; i < r->count; i++) {
		uint32_t *seen = pagemap_at(&c->seen, 2 * r->object + region, r->page + i);

		use->pages += *seen == PAGE_NONE;
		*seen = 0;
	}
}

static bool collect_record(struct collect *c, const struct rs_record *r, const struct rs_map *maps)
{
	struct rs_trace_stats *s = c->stats;

	s->records[r->op]++;
	s->nr_records++;
	switch (r->op) {
	case RS_OP_LOAD:
	case RS_OP_STORE:
	case RS_OP_READ:
	case RS_OP_WRITE:
		count_access(c, r);
		break;
	case RS_OP_MARK: {
		struct rs_trace_mark mark = { r->object, c->op };

		g_array_append_val(s->marks, mark);
		break;
	}
	case RS_OP_TIME:
		s->time_ns = MAX(s->time_ns, r->value);
		break;
	}
	c->op += r->op != RS_OP_FILE;
	return pagewalk_record(&c->walk, r, maps);
}

static bool collect_all(struct collect *c, struct rs_trace *trace, GError **error)
{
	struct rs_batch batch;
	int r;

	while ((r = rs_trace_next(trace, &batch, error)) > 0) {
		for (uint32_t i = 0; i < batch.nr_records; i++) {
			if (collect_record(c, &batch.records[i], batch.maps))
				continue;
			g_set_error(error, RS_ERROR, RS_ERROR_INPUT,
				    "the trace touches too many pages; valid are up to %u",
				    PAGEWALK_MAX_PAGES - 1);
			return false;
		}
	}
	return r == 0;
}

static void stats_init(struct rs_trace_stats *s, uint32_t sample)
{
	memset(s, 0, sizeof(*s));
	s->sample = sample;
	s->regions = g_array_new(FALSE, TRUE, sizeof(struct rs_trace_use));
	s->files = g_array_new(FALSE, TRUE, sizeof(struct rs_trace_use));
	s->processes = g_array_new(FALSE, TRUE, sizeof(struct rs_trace_use));
	s->marks = g_array_new(FALSE, FALSE, sizeof(struct rs_trace_mark));
	s->distances = g_array_new(FALSE, TRUE, sizeof(uint64_t));
	s->free_distances = g_array_new(FALSE, TRUE, sizeof(uint64_t));
}

bool rs_trace_stats(struct rs_trace *trace, uint32_t sample, struct rs_trace_stats *ret,
		    GError **error)
{
	struct collect c = { .stats = ret };

	stats_init(ret, sample ? sample : 1);
	pagewalk_init(&c.walk, touch, discard, &c);
	reuse_init(&c.reuse);
	pagemap_init(&c.seen);
	bool fine = collect_all(&c, trace, error);
	ret->all.pages = ret->anon_pages + ret->file_pages;
	ret->zero_loads = c.walk.nr_zero_loads;
	ret->nr_threads = c.walk.threads->len;
	pagewalk_done(&c.walk);
	reuse_done(&c.reuse);
	pagemap_done(&c.seen);
	if (!fine)
		rs_trace_stats_clear(ret);
	return fine;
}

uint64_t rs_trace_lru_misses(const struct rs_trace_stats *s, uint64_t pages)
{
	uint64_t misses = s->cold_misses;

	/* A distance among followed pages stands for one that is sample times as large. */
	for (uint64_t d = (pages + s->sample - 1) / s->sample; d < s->distances->len; d++)
		misses += g_array_index(s->distances, uint64_t, d);
	return misses;
}

void rs_trace_stats_clear(struct rs_trace_stats *s)
{
	if (!s->regions)
		return;
	g_array_free(s->regions, TRUE);
	g_array_free(s->files, TRUE);
	g_array_free(s->processes, TRUE);
	g_array_free(s->marks, TRUE);
	g_array_free(s->distances, TRUE);
	g_array_free(s->free_distances, TRUE);
	memset(s, 0, sizeof(*s));
}
