/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * observe.c - which folios are watched, and where their pages are now.
 *
 * A watched page gets an entry when it first comes into being. The entry is found by page frame
 * while the page is in memory and by swap slot while it is not; a huge folio carries the entries of
 * all its pages. Entries are reported in the order they were made, never in that of a hash table.
 */
#include "sim/engine/observe.h"
#include "sim/engine/timeline.h"

struct entry {
	const struct rs_watch *watch;
	uint64_t page;
	uint32_t space;
	pfn_t pfn;	    /* RS_PFN_NONE: not in memory */
	struct entry *next; /* of the same folio */
	int64_t seq;	    /* generation, -1: none known */
	bool evicted;
};

/* A region or a part of a file that a watch means; pages of the file begin at base. */
struct match {
	uint32_t object;
	const struct rs_watch *watch;
	bool file;
	uint64_t base;
};

struct observation {
	struct rs_observer to;
	const struct rs_watch *watch;
	unsigned nr_watches;
	bool *matched;
	GArray *matches;
	GHashTable *files_seen; /* file numbers whose name has been compared */
	GPtrArray *entries;
	GHashTable *by_page, *by_pfn, *by_slot;
};

void rs_sim_observe(struct rs_sim *sim, const struct rs_observer *to, const struct rs_watch *watch,
		    unsigned n, bool *matched)
{
	struct rs_ctx *ctx = (struct rs_ctx *)sim;
	struct observation *o = g_new0(struct observation, 1);

	o->to = *to;
	o->watch = watch;
	o->nr_watches = to->folio ? n : 0;
	o->matched = matched;
	o->matches = g_array_new(FALSE, FALSE, sizeof(struct match));
	o->files_seen = g_hash_table_new(NULL, NULL);
	o->entries = g_ptr_array_new_with_free_func(g_free);
	o->by_page = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
	o->by_pfn = g_hash_table_new(NULL, NULL);
	o->by_slot = g_hash_table_new(NULL, NULL);
	ctx->observer = o;
}

void observe_free(struct observation *o)
{
	if (!o)
		return;
	g_array_unref(o->matches);
	g_hash_table_destroy(o->files_seen);
	g_hash_table_destroy(o->by_page);
	g_hash_table_destroy(o->by_pfn);
	g_hash_table_destroy(o->by_slot);
	g_ptr_array_unref(o->entries);
	g_free(o);
}

const struct rs_observer *observe_to(const struct rs_ctx *ctx)
{
	return &ctx->observer->to;
}

/* ---- who ---- */

static const char *const kswapd_name[RS_MAX_NODES] = { "kswapd0", "kswapd1", "kswapd2", "kswapd3",
						       "kswapd4", "kswapd5", "kswapd6", "kswapd7" };

struct rs_doer observe_doer(const struct rs_ctx *ctx)
{
	const struct task *t = ctx->cur;
	struct rs_doer by = { .time = ctx->now, .comm = "<idle>" };

	if (!t)
		return by;
	by.time = t->now;
	by.pid = t->id + 1;
	by.cpu = t->cpu;
	by.comm = t->class == CLASS_KSWAPD    ? kswapd_name[t->nid]
		  : t->class == CLASS_FLUSHER ? "flusher"
					      : "trace";
	return by;
}

/* ---- entries ---- */

/* Differs for address spaces of different numbers up to 2^20 and pages up to 2^36. */
static int64_t page_key(const struct observation *o, const struct rs_watch *watch, uint32_t space,
			uint64_t page)
{
	return (int64_t)((uint64_t)(watch - o->watch) << 56 | (uint64_t)(space & 0xfffff) << 36 |
			 page);
}

static struct entry *get_entry(struct observation *o, const struct rs_watch *watch, uint32_t space,
			       uint64_t page)
{
	int64_t key = page_key(o, watch, space, page);
	struct entry *e = g_hash_table_lookup(o->by_page, &key);

	if (e)
		return e;
	e = g_new0(struct entry, 1);
	e->watch = watch;
	e->page = page;
	e->space = space;
	e->seq = -1;
	g_ptr_array_add(o->entries, e);
	g_hash_table_insert(o->by_page, g_memdup2(&key, sizeof(key)), e);
	return e;
}

static struct entry *find(const struct observation *o, pfn_t pfn)
{
	return g_hash_table_lookup(o->by_pfn, GUINT_TO_POINTER(pfn));
}

static void unbind(struct observation *o, struct entry *e)
{
	struct entry *head = find(o, e->pfn), **link = &head;

	while (*link && *link != e)
		link = &(*link)->next;
	if (*link)
		*link = e->next;
	if (head)
		g_hash_table_insert(o->by_pfn, GUINT_TO_POINTER(e->pfn), head);
	else
		g_hash_table_remove(o->by_pfn, GUINT_TO_POINTER(e->pfn));
	e->pfn = RS_PFN_NONE;
	e->next = NULL;
}

/* False: it was there already. */
static bool bind(struct observation *o, struct entry *e, pfn_t pfn)
{
	if (e->pfn == pfn)
		return false;
	if (e->pfn != RS_PFN_NONE)
		unbind(o, e);
	e->pfn = pfn;
	e->seq = -1;
	e->evicted = false;
	e->next = find(o, pfn);
	g_hash_table_insert(o->by_pfn, GUINT_TO_POINTER(pfn), e);
	return true;
}

static void report(struct rs_ctx *ctx, const struct entry *e, enum rs_note what, int64_t a,
		   int64_t b)
{
	struct rs_folio_note n = { .by = observe_doer(ctx),
				   .watch = e->watch,
				   .page = e->page,
				   .space = e->space,
				   .pfn = e->pfn,
				   .what = what,
				   .a = a,
				   .b = b };

	ctx->observer->to.folio(ctx->observer->to.arg, &n);
}

/* What the observer itself has to know of a note. */
static void learn(struct observation *o, struct entry *e, enum rs_note what, int64_t a, int64_t b)
{
	switch (what) {
	case RS_NOTE_GENERATION:
		e->seq = a;
		break;
	case RS_NOTE_PROMOTED:
	case RS_NOTE_SORTED:
		e->seq = b;
		break;
	case RS_NOTE_ISOLATED:
	case RS_NOTE_LIST:
		e->seq = -1;
		break;
	case RS_NOTE_EVICTED:
		e->evicted = true;
		break;
	case RS_NOTE_SWAP_SLOT:
		g_hash_table_insert(o->by_slot, GUINT_TO_POINTER((guint)a), e);
		break;
	default:
		break;
	}
}

void observe_note(struct rs_ctx *ctx, pfn_t pfn, enum rs_note what, int64_t a, int64_t b)
{
	struct observation *o = ctx->observer;
	struct entry *next;

	/* The slot has a new owner, watched or not. */
	if (what == RS_NOTE_SWAP_SLOT)
		g_hash_table_remove(o->by_slot, GUINT_TO_POINTER((guint)a));
	for (struct entry *e = find(o, pfn); e; e = next) {
		next = e->next;
		if (what != RS_NOTE_FREED || !e->evicted)
			report(ctx, e, what, a, b);
		learn(o, e, what, a, b);
		if (what == RS_NOTE_FREED)
			unbind(o, e);
	}
}

/* ---- a page comes ---- */

static bool is_match(const struct observation *o, uint32_t object, const struct rs_watch *watch,
		     bool file, uint64_t base)
{
	for (guint i = 0; i < o->matches->len; i++) {
		const struct match *m = &g_array_index(o->matches, struct match, i);

		if (m->object == object && m->watch == watch && m->file == file && m->base == base)
			return true;
	}
	return false;
}

static void add_match(struct observation *o, uint32_t object, const struct rs_watch *watch,
		      bool file, uint64_t base)
{
	struct match m = { .object = object, .watch = watch, .file = file, .base = base };

	if (!is_match(o, object, watch, file, base))
		g_array_append_val(o->matches, m);
	o->matched[watch - o->watch] = true;
}

/* The watched pages of a region that maps a file are pages of that file, too. */
void observe_mmap(struct rs_ctx *ctx, const struct mm *mm, uint32_t region,
		  const struct rs_map *map)
{
	struct observation *o = ctx->observer;
	const char *name = rs_trace_name(ctx->trace, RS_NAME_REGION, region);

	for (unsigned i = 0; i < o->nr_watches; i++) {
		const struct rs_watch *w = &o->watch[i];

		if (w->file || g_strcmp0(w->name, name) || w->first >= map->pages)
			continue;
		add_match(o, region, w, false, 0);
		if (map->file != RS_MAP_FILE_NONE)
			add_match(o, map->file, w, true, map->pgoff);
	}
}

/* Names of files are compared when their first page comes. */
static void match_file(struct rs_ctx *ctx, struct observation *o, uint32_t file)
{
	const char *name;

	if (!g_hash_table_add(o->files_seen, GUINT_TO_POINTER(file)))
		return;
	name = rs_trace_name(ctx->trace, RS_NAME_FILE, file);
	for (unsigned i = 0; i < o->nr_watches; i++)
		if (o->watch[i].file && !g_strcmp0(o->watch[i].name, name))
			add_match(o, file, &o->watch[i], true, 0);
}

void observe_cache_add(struct rs_ctx *ctx, pfn_t pfn, bool shadow)
{
	struct observation *o = ctx->observer;
	const struct folio *f = &ctx->m.folios[pfn];

	trace_page_cache(ctx, pfn, true);
	match_file(ctx, o, f->object);
	for (guint i = 0; i < o->matches->len; i++) {
		const struct match *m = &g_array_index(o->matches, struct match, i);
		uint64_t page = (uint64_t)f->index - m->base;

		if (!m->file || m->object != f->object || f->index < m->base ||
		    page < m->watch->first || page > m->watch->last)
			continue;
		bind(o, get_entry(o, m->watch, 0, page), pfn);
	}
	observe_note(ctx, pfn, RS_NOTE_CACHED, shadow, 0);
}

/* The pages of one region of one address space that a new or returning anonymous folio holds. */
static void anon_pages(struct rs_ctx *ctx, const struct match *m, const struct mm *mm, pfn_t pfn,
		       uint64_t vpn, enum rs_note what)
{
	struct observation *o = ctx->observer;
	const struct region *r = m->object < mm->nr_regions ? &mm->regions[m->object] : NULL;
	uint64_t nr = folio_nr_pages(&ctx->m.folios[pfn]);

	if (!r || !r->mapped)
		return;
	for (uint64_t v = MAX(vpn, r->start); v < vpn + nr && v < r->start + r->pages; v++) {
		struct entry *e;

		if (v - r->start < m->watch->first || v - r->start > m->watch->last)
			continue;
		e = get_entry(o, m->watch, mm->pub.id, v - r->start);
		bind(o, e, pfn);
		report(ctx, e, what, 0, 0);
	}
}

void observe_anon(struct rs_ctx *ctx, pfn_t pfn, const struct rs_vma *vma, uint64_t vpn)
{
	const struct observation *o = ctx->observer;
	const struct mm *mm = ctx->m.mm[vma->mm];
	bool known = ctx->m.folios[pfn].flags & (PG_lru | PG_in_batch | PG_isolated);

	for (guint i = 0; i < o->matches->len; i++) {
		const struct match *m = &g_array_index(o->matches, struct match, i);

		if (!m->file)
			anon_pages(ctx, m, mm, pfn, vpn, known ? RS_NOTE_MAPPED : RS_NOTE_NEW);
	}
}

void observe_swapin(struct rs_ctx *ctx, pfn_t pfn, uint32_t slot)
{
	struct observation *o = ctx->observer;
	struct entry *e = g_hash_table_lookup(o->by_slot, GUINT_TO_POINTER(slot));

	if (!e)
		return;
	bind(o, e, pfn);
	report(ctx, e, RS_NOTE_SWAPIN, slot, 0);
}

/* ---- a folio changes its frame ---- */

void observe_moved(struct rs_ctx *ctx, pfn_t from, pfn_t to, enum rs_note what)
{
	struct observation *o = ctx->observer;
	struct entry *e;

	while ((e = find(o, from)) != NULL) {
		bind(o, e, to);
		report(ctx, e, what, 0, 0);
	}
}

/* Every page of the huge folio is one of its own from now on. */
void observe_split(struct rs_ctx *ctx, pfn_t head)
{
	struct observation *o = ctx->observer;
	struct entry *next;

	for (struct entry *e = find(o, head); e; e = next) {
		const struct region *r = NULL;
		const struct mm *mm = ctx->m.mm[e->space];

		next = e->next;
		for (guint i = 0; i < o->matches->len && mm; i++) {
			const struct match *m = &g_array_index(o->matches, struct match, i);

			if (!m->file && m->watch == e->watch && m->object < mm->nr_regions)
				r = &mm->regions[m->object];
		}
		/* Huge folios are aligned to their size in the address space. */
		if (r && ((r->start + e->page) & 511))
			bind(o, e, head + (pfn_t)((r->start + e->page) & 511));
	}
}

/* ---- services ---- */

void rs_note(struct rs_ctx *ctx, pfn_t pfn, enum rs_note what, int64_t a, int64_t b)
{
	note(ctx, pfn, what, a, b);
}

bool rs_observed(struct rs_ctx *ctx)
{
	return OBSERVED(ctx);
}

void rs_note_aged(struct rs_ctx *ctx, const struct rs_lruvec *l, uint64_t max_seq)
{
	const struct observation *o = ctx->observer;

	if (TIMELINE(ctx))
		timeline_instant(ctx, "aging", "new generation", max_seq);
	for (guint i = 0; o && i < o->entries->len; i++) {
		const struct entry *e = g_ptr_array_index(o->entries, i);

		if (e->pfn != RS_PFN_NONE && e->seq >= 0 &&
		    ctx->m.folios[e->pfn].memcg == l->memcg && ctx->m.folios[e->pfn].nid == l->nid)
			report(ctx, e, RS_NOTE_AGED, e->seq, (int64_t)max_seq);
	}
}
