/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pagewalk.c - follows mappings, forks and discards. Objects of the page map: file f is 2f,
 * anonymous memory number a is 2a + 1. Each mmap call begins an anonymous object, which the copies
 * of a fork share; it is counted by reference, and partial unmapping discards pages only when there
 * is one user left.
 */
#include "traces/pagewalk.h"

#include <reclaimsim/policy.h>
#include <string.h>

struct anon_object {
	uint32_t number, users;
	uint32_t nr_pages; /* that have begun and were not discarded with all of it */
};

struct mapping {
	struct anon_object *anon;
	uint32_t file; /* RS_MAP_FILE_NONE = anonymous memory only */
	uint32_t pgoff, pages;
	bool shared;
};

static int by_number(gconstpointer a, gconstpointer b)
{
	guint x = GPOINTER_TO_UINT(a), y = GPOINTER_TO_UINT(b);

	return x < y ? -1 : x > y;
}

static void forget_anon(struct pagewalk *w, const struct anon_object *anon, uint32_t page,
			uint32_t count)
{
	if (anon->nr_pages)
		pagemap_forget(&w->map, 2 * anon->number + 1, page, count, w->discard, w->arg);
}

static void mapping_free(void *data)
{
	struct mapping *m = data;

	if (--m->anon->users == 0)
		g_free(m->anon);
	g_free(m);
}

/* exec and exit: what nobody else shares is gone. By region, so that the order is repeatable. */
static void discard_all(struct pagewalk *w, GHashTable *space)
{
	g_autoptr(GList) regions = g_list_sort(g_hash_table_get_keys(space), by_number);

	for (GList *r = regions; r; r = r->next) {
		const struct mapping *m = g_hash_table_lookup(space, r->data);

		if (m->anon->users == 1)
			forget_anon(w, m->anon, 0, m->pages);
	}
	g_hash_table_remove_all(space);
}

static GHashTable *address_space(void)
{
	return g_hash_table_new_full(NULL, NULL, NULL, mapping_free);
}

void pagewalk_init(struct pagewalk *w, void (*touch)(void *, uint32_t, enum touch),
		   void (*discard)(void *, uint32_t), void *arg)
{
	uint32_t zero = 0, one = 1;

	memset(w, 0, sizeof(*w));
	pagemap_init(&w->map);
	w->file_pages = g_array_new(FALSE, TRUE, sizeof(uint32_t));
	w->processes = g_ptr_array_new();
	w->threads = g_array_new(FALSE, TRUE, sizeof(uint32_t));
	w->nr_threads = g_array_new(FALSE, TRUE, sizeof(uint32_t));
	w->current = address_space();
	g_ptr_array_add(w->processes, w->current);
	g_array_append_val(w->threads, zero);
	g_array_append_val(w->nr_threads, one);
	w->touch = touch;
	w->discard = discard;
	w->arg = arg;
}

void pagewalk_done(struct pagewalk *w)
{
	for (uint32_t i = 0; i < w->processes->len; i++)
		if (w->processes->pdata[i])
			g_hash_table_destroy(w->processes->pdata[i]);
	g_ptr_array_free(w->processes, TRUE);
	g_array_free(w->threads, TRUE);
	g_array_free(w->nr_threads, TRUE);
	g_array_free(w->file_pages, TRUE);
	pagemap_done(&w->map);
}

static struct mapping *mapping_of(struct pagewalk *w, uint32_t region)
{
	if (!w->last || w->last_region != region) {
		w->last = g_hash_table_lookup(w->current, GUINT_TO_POINTER(region));
		w->last_region = region;
	}
	return w->last;
}

static void touch_file(struct pagewalk *w, uint32_t file, uint32_t page, enum touch touch)
{
	uint32_t *id = pagemap_at(&w->map, 2 * file, page);

	if (*id == PAGE_NONE)
		*id = w->nr_pages++;
	w->touch(w->arg, *id, touch);
}

static void touch_mapped(struct pagewalk *w, const struct mapping *m, uint32_t page, bool store)
{
	uint32_t object = 2 * m->anon->number + 1;
	bool file = m->file != RS_MAP_FILE_NONE;

	if (file && m->shared) {
		touch_file(w, m->file, m->pgoff + page, TOUCH_FILE_MAPPED);
		return;
	}
	uint32_t id = pagemap_get(&w->map, object, page);
	if (id != PAGE_NONE) {
		w->touch(w->arg, id, TOUCH_ANON);
		return;
	}
	if (file) /* also before the copy of the first store */
		touch_file(w, m->file, m->pgoff + page, TOUCH_FILE_MAPPED);
	if (store || (!file && m->shared)) {
		*pagemap_at(&w->map, object, page) = w->nr_pages;
		m->anon->nr_pages++;
		w->touch(w->arg, w->nr_pages++, TOUCH_FIRST);
	} else if (!file) {
		w->nr_zero_loads++;
	}
}

static void walk_mmap(struct pagewalk *w, uint32_t region, const struct rs_map *map)
{
	struct mapping *m = g_new(struct mapping, 1);

	*m = (struct mapping){ .anon = g_new(struct anon_object, 1),
			       .file = map->file,
			       .pgoff = map->pgoff,
			       .pages = map->pages,
			       .shared = map->prot & VM_SHARED };
	*m->anon = (struct anon_object){ w->nr_anon_objects++, 1, 0 };
	g_hash_table_replace(w->current, GUINT_TO_POINTER(region), m);
	w->last = NULL;
}

/* munmap() and advice that discards. A part may be unmapped in pieces: the rest stays mapped. */
static void walk_discard(struct pagewalk *w, const struct rs_record *r)
{
	struct mapping *m = mapping_of(w, r->object);

	if (!m) /* unmapped whole before, in pieces */
		return;
	uint32_t count = r->count ? r->count : m->pages;
	bool unmap = r->op == RS_OP_MUNMAP;

	if (m->anon->users == 1 && (unmap || !m->shared))
		forget_anon(w, m->anon, r->page, count);
	if (unmap && count == m->pages) {
		g_hash_table_remove(w->current, GUINT_TO_POINTER(r->object));
		w->last = NULL;
	}
}

static void walk_resize(struct pagewalk *w, const struct rs_record *r)
{
	if (r->object >= w->file_pages->len)
		g_array_set_size(w->file_pages, r->object + 1);
	uint32_t *pages = &g_array_index(w->file_pages, uint32_t, r->object);
	uint64_t size = r->op == RS_OP_FILE	  ? r->value
			: r->op == RS_OP_TRUNCATE ? r->page
						  : MAX(*pages, (uint64_t)r->page + r->count);
	if (size < *pages)
		pagemap_forget(&w->map, 2 * r->object, size, *pages - size, w->discard, w->arg);
	*pages = size;
}

static void begin_process(struct pagewalk *w, uint32_t process, const GHashTable *parent)
{
	GHashTableIter iter;
	gpointer region, mapping;
	GHashTable *space = address_space();

	if (parent) {
		g_hash_table_iter_init(&iter, (GHashTable *)parent);
		while (g_hash_table_iter_next(&iter, &region, &mapping)) {
			struct mapping *m = g_memdup2(mapping, sizeof(*m));

			m->anon->users++;
			g_hash_table_insert(space, region, m);
		}
	}
	if (process >= w->processes->len) {
		g_ptr_array_set_size(w->processes, process + 1);
		g_array_set_size(w->nr_threads, process + 1);
	}
	w->processes->pdata[process] = space;
}

/* arg means something only if the thread is not alive: then its process is PAGE_NONE. */
static void walk_thread(struct pagewalk *w, const struct rs_record *r)
{
	bool known = r->object < w->threads->len &&
		     g_array_index(w->threads, uint32_t, r->object) != PAGE_NONE;

	if (!known) {
		while (w->threads->len <= r->object) {
			uint32_t none = PAGE_NONE;

			g_array_append_val(w->threads, none);
		}
		g_array_index(w->threads, uint32_t, r->object) = r->arg;
		if (r->op == RS_OP_FORK)
			begin_process(w, r->arg, w->current);
		else if (r->arg >= w->processes->len || !w->processes->pdata[r->arg])
			begin_process(w, r->arg, NULL);
		g_array_index(w->nr_threads, uint32_t, r->arg)++;
	}
	if (r->op == RS_OP_FORK)
		return;
	w->thread = r->object;
	w->current = w->processes->pdata[g_array_index(w->threads, uint32_t, r->object)];
	w->last = NULL;
}

static void walk_exit(struct pagewalk *w)
{
	uint32_t *process = &g_array_index(w->threads, uint32_t, w->thread);

	if (--g_array_index(w->nr_threads, uint32_t, *process) == 0) {
		discard_all(w, w->current);
		g_hash_table_destroy(w->current);
		w->processes->pdata[*process] = NULL;
	}
	*process = PAGE_NONE;
	w->current = NULL;
	w->last = NULL;
}

static void walk_access(struct pagewalk *w, const struct rs_record *r)
{
	bool mapped = r->op == RS_OP_LOAD || r->op == RS_OP_STORE;
	enum touch touch = r->op == RS_OP_WRITE ? TOUCH_WRITE : TOUCH_FILE_CALL;

	if (r->op == RS_OP_WRITE)
		walk_resize(w, r);
	for (uint32_t i = 0; i < r->count && w->nr_pages < PAGEWALK_MAX_PAGES; i++) {
		if (mapped)
			touch_mapped(w, mapping_of(w, r->object), r->page + i,
				     r->op == RS_OP_STORE);
		else
			touch_file(w, r->object, r->page + i, touch);
	}
}

bool pagewalk_record(struct pagewalk *w, const struct rs_record *r, const struct rs_map *maps)
{
	switch (r->op) {
	case RS_OP_LOAD:
	case RS_OP_STORE:
	case RS_OP_READ:
	case RS_OP_WRITE:
		walk_access(w, r);
		break;
	case RS_OP_FILE:
	case RS_OP_TRUNCATE:
		walk_resize(w, r);
		break;
	case RS_OP_MMAP:
		walk_mmap(w, r->object, &maps[r->value]);
		break;
	case RS_OP_MADVISE:
		if (r->arg != RS_ADV_DONTNEED && r->arg != RS_ADV_FREE)
			break;
		/* fall through */
	case RS_OP_MUNMAP:
		walk_discard(w, r);
		break;
	case RS_OP_THREAD:
	case RS_OP_FORK:
		walk_thread(w, r);
		break;
	case RS_OP_EXEC:
		discard_all(w, w->current);
		w->last = NULL;
		break;
	case RS_OP_EXIT:
		walk_exit(w);
		break;
	}
	return w->nr_pages < PAGEWALK_MAX_PAGES;
}
