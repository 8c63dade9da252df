/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ref_machine.c - page tables, page cache, the faults of one task and its reads and writes.
 *
 * Order inside a fault or read, which decides the counters: count the fault, charge (this may
 * reclaim), insert into the cache, test the shadow, put on the lru_add batch, read, map.
 */
#include "ref.h"

#define PTRS_PER_PTE 512

struct ref_folio *ref_folio_new(void)
{
	struct ref_folio *folio = g_new0(struct ref_folio, 1);

	folio->lru.data = folio;
	folio->on_list = -1;
	folio->refs = 1;
	folio->ptes = g_ptr_array_new();
	return folio;
}

void ref_folio_get(struct ref_folio *folio)
{
	folio->refs++;
}

void ref_uncharge(struct ref_machine *m, uint64_t nr)
{
	m->usage -= nr;
	ref_stat(m, STAT_OTHER, nr);
}

/* Frees a folio that nothing refers to; the caller has uncharged it or will do so. */
static void folio_free(struct ref_machine *m, struct ref_folio *folio)
{
	g_assert(!folio->ptes->len && !folio->slot && !folio->file);
	if (folio->on_list >= 0)
		ref_list_del(m, folio);
	g_ptr_array_free(folio->ptes, true);
	g_free(folio);
}

void ref_folio_put(struct ref_machine *m, struct ref_folio *folio)
{
	g_assert(folio->refs > 0);
	if (--folio->refs)
		return;
	folio_free(m, folio);
	ref_uncharge(m, 1);
}

/* Drops the last reference of every folio in the queue. Kernel: mem_cgroup_uncharge_list(). */
void ref_folio_free_all(struct ref_machine *m, GQueue *folios)
{
	const guint nr = folios->length;
	GList *link;

	while ((link = g_queue_pop_head_link(folios))) {
		struct ref_folio *folio = link->data;

		g_assert(folio->refs == 1);
		folio_free(m, folio);
	}
	if (nr)
		ref_uncharge(m, nr);
}

static void free_cache(gpointer data)
{
	g_free(data);
}

struct ref_machine *ref_machine_new(const struct ref_options *opt, GHashTable *file_sizes)
{
	struct ref_machine *m = g_new0(struct ref_machine, 1);
	GHashTableIter it;
	gpointer name, pages;

	m->opt = *opt;
	m->batch_size = opt->v612 ? 31 : 15;
	m->next_slot = opt->cluster_slots;
	for (int lru = 0; lru < NR_LRU; lru++)
		g_queue_init(&m->list[lru]);
	m->files = g_hash_table_new(g_str_hash, g_str_equal);
	m->regions = g_hash_table_new(g_str_hash, g_str_equal);
	g_hash_table_iter_init(&it, file_sizes);
	while (g_hash_table_iter_next(&it, &name, &pages)) {
		struct ref_file *file = g_new0(struct ref_file, 1);

		file->name = name;
		file->nr_pages = *(uint64_t *)pages;
		file->pages =
			g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, free_cache);
		file->prev_page = UINT64_MAX;
		g_hash_table_insert(m->files, name, file);
	}
	return m;
}

/* Kernel: mm/memcontrol.c try_charge_memcg(), consume_stock(), refill_stock(). */
bool ref_charge(struct ref_machine *m)
{
	uint64_t batch = 64;
	int retries = 16;
	bool drained = false;

	for (;;) {
		uint64_t reclaimed;

		if (m->stock) {
			m->stock--;
			return true;
		}
		if (m->usage + batch <= m->opt.limit) {
			m->usage += batch;
			m->stock += batch - 1;
			return true;
		}
		if (batch > 1) {
			batch = 1;
			continue;
		}
		m->ev[MEMCG_MAX]++;
		reclaimed = ref_reclaim(m, 1);
		if (m->usage < m->opt.limit)
			continue;
		if (!drained) {
			m->usage -= m->stock;
			m->stock = 0;
			drained = true;
			continue;
		}
		if (!reclaimed && !retries--)
			return false;
	}
}

/* A charged folio, or NULL when the group is out of memory. */
static struct ref_folio *charged_folio(struct ref_machine *m, bool anon)
{
	struct ref_folio *folio;

	if (!ref_charge(m)) {
		m->ev[OOM_KILL]++;
		m->oom = true;
		return NULL;
	}
	ref_stat(m, STAT_OTHER, 1);
	folio = ref_folio_new();
	folio->anon = anon;
	return folio;
}

static void map(struct ref_machine *m, struct ref_pte *pte, struct ref_folio *folio)
{
	pte->folio = folio;
	pte->zero = false;
	pte->young = true;
	ref_folio_get(folio);
	g_ptr_array_add(folio->ptes, pte);
	if (folio->ptes->len == 1)
		ref_stat(m, STAT_OTHER, 1);
}

/* Kernel: try_to_unmap_one(), and the zap of a PTE; the caller decides about references. */
void ref_unmap(struct ref_machine *m, struct ref_pte *pte)
{
	struct ref_folio *folio = pte->folio;

	if (pte->dirty)
		folio->dirty = true;
	pte->folio = NULL;
	pte->young = pte->dirty = pte->write = false;
	g_ptr_array_remove(folio->ptes, pte);
	if (!folio->ptes->len)
		ref_stat(m, STAT_OTHER, -1);
}

static struct ref_pte *pte_of(struct ref_region *region, uint64_t page)
{
	struct ref_pte *pte = g_hash_table_lookup(region->ptes, &page);

	if (!pte) {
		pte = g_new0(struct ref_pte, 1);
		pte->region = region;
		g_hash_table_insert(region->ptes, g_memdup2(&page, sizeof(page)), pte);
	}
	return pte;
}

static struct ref_cache *cache_of(struct ref_file *file, uint64_t page)
{
	struct ref_cache *cache = g_hash_table_lookup(file->pages, &page);

	if (!cache) {
		cache = g_new0(struct ref_cache, 1);
		g_hash_table_insert(file->pages, g_memdup2(&page, sizeof(page)), cache);
	}
	return cache;
}

struct ref_folio *ref_cached(struct ref_file *file, uint64_t page)
{
	const struct ref_cache *cache = g_hash_table_lookup(file->pages, &page);

	return cache ? cache->folio : NULL;
}

/* Kernel: mm/filemap.c filemap_add_folio(). A page made for a write is no refault. */
struct ref_folio *ref_add_to_cache(struct ref_machine *m, struct ref_file *file, uint64_t page,
				   bool for_write)
{
	struct ref_folio *folio = charged_folio(m, false);
	struct ref_cache *cache = cache_of(file, page);
	struct ref_shadow shadow = cache->shadow;

	if (!folio)
		return NULL;
	folio->file = file;
	folio->index = page;
	cache->folio = folio;
	cache->shadow.valid = false;
	ref_stat(m, STAT_OTHER, 1);
	if (!for_write && shadow.valid)
		ref_refault(m, folio, &shadow);
	ref_lru_add(m, folio);
	return folio;
}

static void fault(struct ref_machine *m)
{
	m->ev[PGFAULT]++;
	ref_stat(m, STAT_OTHER, 1);
}

static void major_fault(struct ref_machine *m)
{
	m->ev[PGMAJFAULT]++;
	ref_stat(m, STAT_OTHER, 1);
}

/* Kernel: __read_swap_cache_async(), and do_swap_page()'s way past the swap cache. */
static struct ref_folio *swap_in(struct ref_machine *m, struct ref_slot *slot)
{
	struct ref_folio *folio = charged_folio(m, true);
	struct ref_shadow shadow = slot->shadow;

	if (!folio)
		return NULL;
	if (!m->opt.sync_swap) {
		slot->shadow.valid = false;
		ref_swap_cache_add(m, slot, folio);
	}
	if (shadow.valid)
		ref_refault(m, folio, &shadow);
	ref_lru_add(m, folio);
	m->ev[PSWPIN]++;
	ref_swap_read(m, folio);
	return folio;
}

/* How many pages to read. Kernel: mm/swap_state.c __swapin_nr_pages(). */
static uint64_t swap_window(const struct ref_machine *m, const struct ref_region *region,
			    uint64_t page)
{
	const uint64_t hits = region->swap_ra_hits, last = region->swap_ra_page;
	uint64_t nr = 4;

	if (!hits) {
		nr = page == last + 1 || page + 1 == last ? 2 : 1;
	} else {
		while (nr < hits + 2)
			nr *= 2;
	}
	nr = MIN(nr, m->opt.swap_window);
	return MAX(nr, region->swap_ra_win / 2);
}

/*
 * Reads a page and its neighbours. Reclaim for their charges runs inside the plug of this loop, so
 * what it writes is not done before the end. Kernel: swap_vma_readahead(). The window is cut at
 * the ends of the page table, as if the region began with one.
 */
static struct ref_folio *swap_readahead(struct ref_machine *m, struct ref_pte *pte, uint64_t page)
{
	struct ref_region *region = pte->region;
	const uint64_t last = region->swap_ra_page, win = swap_window(m, region, page);
	uint64_t start = page - MIN(page, (win - 1) / 2), end;
	struct ref_folio *wanted = NULL;

	end = page + win - (win - 1) / 2;
	if (page == last + 1) {
		start = page;
		end = page + win;
	} else if (last == page + 1) {
		start = page + 1 - MIN(page + 1, win);
		end = page + 1;
	}
	start = MAX(start, page - page % PTRS_PER_PTE);
	end = MIN(end, page - page % PTRS_PER_PTE + PTRS_PER_PTE);
	region->swap_ra_page = page;
	region->swap_ra_win = win;
	region->swap_ra_hits = 0;
	if (win == 1)
		return swap_in(m, pte->slot);
	ref_plug_start(m);
	for (uint64_t at = start; at < MIN(end, region->nr_pages) && !m->oom; at++) {
		struct ref_pte *other = pte_of(region, at);
		struct ref_folio *folio;

		if (!other->slot || other->slot->folio)
			continue;
		folio = swap_in(m, other->slot);
		if (folio && at == page) {
			wanted = folio;
			continue;
		}
		if (folio) {
			folio->reclaim = true;
			ref_folio_put(m, folio);
		}
	}
	ref_plug_finish(m);
	ref_lru_add_drain(m);
	return wanted;
}

/* The page is in the swap cache. Kernel: swap_cache_get_folio(). */
static void swap_cache_hit(struct ref_region *region, struct ref_folio *folio, uint64_t page)
{
	ref_folio_get(folio);
	if (folio->reclaim)
		region->swap_ra_hits = MIN(region->swap_ra_hits + 1, 63);
	folio->reclaim = false;
	region->swap_ra_page = page;
}

/* Kernel: mm/memory.c do_swap_page(). */
static void swap_fault(struct ref_machine *m, struct ref_pte *pte, uint64_t page, bool store)
{
	struct ref_slot *slot = pte->slot;
	struct ref_folio *folio = slot->folio;
	bool cached;

	if (folio) {
		swap_cache_hit(pte->region, folio, page);
	} else {
		if (m->opt.sync_swap || m->opt.swap_window == 1)
			folio = swap_in(m, slot);
		else
			folio = swap_readahead(m, pte, page);
		if (!folio)
			return;
		major_fault(m);
	}
	cached = folio->slot;
	if (store && cached && !folio->pg_lru)
		ref_lru_add_drain(m);
	pte->slot = NULL;
	slot->count--;
	if (!cached)
		ref_slot_put(m, slot);
	else if (ref_swap_half_full(m) || (store && folio->refs == 2))
		ref_folio_free_swap(m, folio);
	map(m, pte, folio);
	pte->dirty = store;
	pte->write = store || m->opt.v612;
	ref_folio_put(m, folio);
}

/* Kernel: do_anonymous_page(). A load maps the zero page, which is no folio. */
static void anon_fault(struct ref_machine *m, struct ref_pte *pte, bool store)
{
	struct ref_folio *folio;

	if (!store) {
		pte->zero = true;
		return;
	}
	folio = charged_folio(m, true);
	if (!folio)
		return;
	map(m, pte, folio);
	ref_lru_add(m, folio);
	pte->dirty = pte->write = true;
	ref_folio_put(m, folio);
}

static void set_dirty(struct ref_machine *m, struct ref_folio *folio)
{
	if (folio->dirty)
		return;
	folio->dirty = true;
	ref_stat(m, STAT_FILE_DIRTY, 1);
	m->nr_dirtied++;
	ref_folio_get(folio);
	g_queue_push_tail(&m->dirty, folio);
}

/*
 * Maps what is cached around a load that faults, in the aligned block of the region (which is
 * taken to begin at a multiple of it); true when the page itself was among it.
 * Kernel: do_fault_around(), filemap_map_pages().
 */
static bool fault_around(struct ref_machine *m, struct ref_region *region, uint64_t page)
{
	struct ref_file *file = region->file;
	const uint64_t first = page - page % m->opt.fault_around;
	const uint64_t end = MIN(first + m->opt.fault_around, region->nr_pages);
	bool mapped = false;

	for (uint64_t at = first; at < end && m->opt.fault_around > 1; at++) {
		struct ref_folio *folio = ref_cached(file, at);
		struct ref_pte *pte;

		if (!folio || folio->reclaim)
			continue;
		if (file->mmap_miss && !(m->opt.v612 && folio->workingset))
			file->mmap_miss--;
		pte = pte_of(region, at);
		if (pte->folio)
			continue;
		map(m, pte, folio);
		mapped |= at == page;
	}
	return mapped;
}

/*
 * Kernel: filemap_fault(), the first time round: the folio of a page that fault_around() did not
 * map, NULL when out of memory. Sets ret_retry when the mmap lock was dropped for I/O.
 */
static struct ref_folio *fault_page(struct ref_machine *m, struct ref_file *file, uint64_t page,
				    bool *ret_retry)
{
	struct ref_folio *folio = ref_cached(file, page);

	if (!folio) {
		*ret_retry = true;
		major_fault(m);
		ref_readahead_fault(m, file, page);
		folio = ref_cached(file, page);
		return folio ? folio : ref_add_to_cache(m, file, page, false);
	}
	if (!m->opt.ra_pages)
		return folio;
	if (file->mmap_miss)
		file->mmap_miss--;
	if (folio->reclaim) {
		*ret_retry = true;
		ref_folio_get(folio);
		ref_readahead_async(m, folio, m->opt.ra_pages);
		ref_folio_put(m, folio);
	}
	return folio;
}

/*
 * Kernel: do_read_fault(), do_shared_fault(). A fault that waited for a read, or started one, comes
 * back with VM_FAULT_RETRY and begins anew; 6.1 counts it again.
 */
static void file_fault(struct ref_machine *m, struct ref_pte *pte, uint64_t page, bool store)
{
	struct ref_file *file = pte->region->file;
	struct ref_folio *folio;
	bool retry = false;

	if (!store && fault_around(m, pte->region, page))
		return;
	folio = fault_page(m, file, page, &retry);
	if (!folio)
		return;
	if (retry) {
		if (!m->opt.v612)
			fault(m);
		if (!store && fault_around(m, pte->region, page))
			return;
	}
	map(m, pte, folio);
	if (store) {
		set_dirty(m, folio);
		pte->dirty = pte->write = true;
	}
}

static void access(struct ref_machine *m, const struct ref_op *op)
{
	struct ref_region *region = g_hash_table_lookup(m->regions, op->id);
	const bool store = op->kind == 's';
	struct ref_pte *pte;

	/* One truth trace runs past a region, into memory of the replayer's own. */
	if (op->page >= region->nr_pages)
		return;
	pte = pte_of(region, op->page);
	if (pte->folio && (!store || pte->write)) {
		pte->young = true;
		pte->dirty |= store;
		return;
	}
	if (pte->zero && !store)
		return;
	fault(m);
	if (pte->folio) { /* write protected */
		pte->young = pte->dirty = pte->write = true;
		if (region->file)
			set_dirty(m, pte->folio);
		else
			m->ev[PGREUSE]++;
	} else if (pte->slot) {
		swap_fault(m, pte, op->page, store);
	} else if (region->file) {
		file_fault(m, pte, op->page, store);
	} else {
		anon_fault(m, pte, store);
	}
}

/*
 * The cached pages from page on, up to the first with the readahead flag, each with a reference.
 * Kernel: filemap_get_read_batch().
 */
static GPtrArray *read_batch(struct ref_machine *m, struct ref_file *file, uint64_t page,
			     uint64_t end)
{
	GPtrArray *batch = g_ptr_array_new();
	struct ref_folio *folio;

	while (page < end && batch->len < m->batch_size && (folio = ref_cached(file, page++))) {
		ref_folio_get(folio);
		g_ptr_array_add(batch, folio);
		if (folio->reclaim)
			break;
	}
	return batch;
}

/* Kernel: filemap_get_pages(). Empty when the group is out of memory. */
static GPtrArray *get_pages(struct ref_machine *m, struct ref_file *file, uint64_t page,
			    uint64_t end)
{
	GPtrArray *batch = read_batch(m, file, page, end);
	struct ref_folio *last;

	if (!batch->len) {
		g_ptr_array_free(batch, true);
		ref_readahead_sync(m, file, page, end - page);
		batch = read_batch(m, file, page, end);
	}
	if (!batch->len) { /* evicted again by the rest of its window */
		last = ref_add_to_cache(m, file, page, false);
		if (last) {
			ref_folio_get(last);
			g_ptr_array_add(batch, last);
		}
		return batch;
	}
	last = g_ptr_array_index(batch, batch->len - 1);
	if (last->reclaim)
		ref_readahead_async(m, last, end - last->index);
	return batch;
}

/* Kernel: filemap_read(). */
static void read_pages(struct ref_machine *m, const struct ref_op *op)
{
	struct ref_file *file = g_hash_table_lookup(m->files, op->id);
	const uint64_t end = MIN(op->page + op->n, file->nr_pages);

	for (uint64_t page = op->page; page < end && !m->oom;) {
		GPtrArray *batch = get_pages(m, file, page, end);

		for (unsigned int i = 0; i < batch->len; i++) {
			struct ref_folio *folio = g_ptr_array_index(batch, i);

			if (i || page != file->prev_page)
				ref_mark_accessed(m, folio);
			file->prev_page = page++;
		}
		for (unsigned int i = 0; i < batch->len; i++)
			ref_folio_put(m, g_ptr_array_index(batch, i));
		g_ptr_array_free(batch, true);
	}
}

/*
 * The flusher, seen from outside: it takes no time and writes every dirty page of the file, or of
 * all files. A mapped page is write protected before it is written.
 */
static void write_back(struct ref_machine *m, const struct ref_file *file)
{
	for (guint left = m->dirty.length; left; left--) {
		struct ref_folio *folio = g_queue_pop_head(&m->dirty);

		if (file && folio->file != file) {
			g_queue_push_tail(&m->dirty, folio);
			continue;
		}
		for (unsigned int i = 0; i < folio->ptes->len; i++) {
			struct ref_pte *pte = g_ptr_array_index(folio->ptes, i);

			pte->dirty = pte->write = false;
		}
		folio->dirty = false;
		ref_stat(m, STAT_FILE_DIRTY, -1);
		ref_stat(m, STAT_OTHER, 1);
		ref_end_writeback(m, folio);
		ref_folio_put(m, folio);
	}
}

/*
 * Kernel: mm/page-writeback.c balance_dirty_pages(). The group's limits are 10 and 20 % of what it
 * could dirty; background writing starts half way between them (the global limits are out of
 * reach). All numbers are those last flushed. Below, the next look comes after the root of the
 * pages that are left (dirty_poll_interval()); above, the pages of one look take less than a jiffy
 * at the rate of a disk without cost, so the task is not paused and looks the later.
 */
static void balance_dirty_pages(struct ref_machine *m)
{
	uint64_t avail, dirty, limit, poll = m->dirty_poll ? m->dirty_poll : 32;

	if (m->nr_dirtied < poll)
		return;
	if (!m->opt.v612)
		ref_stat_flush_pending(m);
	avail = m->flushed[INACTIVE_FILE] + m->flushed[ACTIVE_FILE] + (m->opt.limit - m->usage);
	dirty = m->flushed[STAT_FILE_DIRTY];
	limit = avail / 5;
	if (dirty > (avail / 10 + limit) / 2) {
		write_back(m, NULL);
		m->dirty_poll = poll + (poll <= m->nr_dirtied ? m->nr_dirtied : 0);
		return;
	}
	m->nr_dirtied = 0;
	m->dirty_poll = 1;
	while (m->dirty_poll * m->dirty_poll * 4 <= limit - dirty)
		m->dirty_poll *= 2;
}

static void write_pages(struct ref_machine *m, const struct ref_op *op)
{
	struct ref_file *file = g_hash_table_lookup(m->files, op->id);

	for (uint64_t page = op->page; page < op->page + op->n && !m->oom; page++) {
		struct ref_folio *folio = cache_of(file, page)->folio;

		if (!folio)
			folio = ref_add_to_cache(m, file, page, true);
		if (folio)
			set_dirty(m, folio);
		balance_dirty_pages(m);
	}
}

static void map_region(struct ref_machine *m, const struct ref_op *op)
{
	struct ref_region *region = g_new0(struct ref_region, 1);

	region->file = op->file ? g_hash_table_lookup(m->files, op->file) : NULL;
	region->nr_pages = op->page;
	region->exec = op->exec;
	region->swap_ra_hits = 4;
	region->swap_ra_page = UINT64_MAX / 2;
	region->ptes = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, g_free);
	g_hash_table_insert(m->regions, op->id, region);
}

/* Kernel: zap_pte_range(), free_pages_and_swap_cache(), free_swap_and_cache(). */
static void zap(struct ref_machine *m, struct ref_pte *pte)
{
	struct ref_folio *folio = pte->folio;
	struct ref_slot *slot = pte->slot;

	if (folio) {
		if (!folio->anon && pte->young)
			ref_mark_accessed(m, folio);
		ref_unmap(m, pte);
		if (folio->anon && folio->slot && !folio->ptes->len)
			ref_folio_free_swap(m, folio);
		ref_folio_put(m, folio);
	} else if (slot) {
		pte->slot = NULL;
		slot->count--;
		folio = slot->folio;
		if (!folio) {
			ref_slot_put(m, slot);
			return;
		}
		ref_folio_get(folio);
		ref_folio_free_swap(m, folio);
		ref_folio_put(m, folio);
	}
}

static void unmap_region(struct ref_machine *m, const struct ref_op *op)
{
	struct ref_region *region = g_hash_table_lookup(m->regions, op->id);

	ref_lru_add_drain(m);
	for (uint64_t page = 0; page < region->nr_pages; page++) {
		struct ref_pte *pte = g_hash_table_lookup(region->ptes, &page);

		if (pte)
			zap(m, pte);
	}
	ref_lru_add_drain(m);
	g_hash_table_remove(m->regions, op->id);
	g_hash_table_destroy(region->ptes);
	g_free(region);
}

void ref_machine_run(struct ref_machine *m, const struct ref_op *op)
{
	switch (op->kind) {
	case 'R':
		map_region(m, op);
		break;
	case 'l':
	case 's':
		access(m, op);
		break;
	case 'r':
		read_pages(m, op);
		break;
	case 'w':
		write_pages(m, op);
		break;
	case 'u':
		unmap_region(m, op);
		break;
	case 'f':
		write_back(m, g_hash_table_lookup(m->files, op->id));
		break;
	case 'm':
		ref_stat_flush_pending(m);
		break;
	}
	if (m->flusher_woken) {
		m->flusher_woken = false;
		write_back(m, NULL);
	}
	if (m->opt.v612 && m->opt.stat_flush_ops && ++m->nr_ops % m->opt.stat_flush_ops == 0)
		ref_stat_flush(m);
}
