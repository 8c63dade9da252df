/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ref_swap.c - swap slots, the swap cache and the way of a written page through the block layer.
 *
 * Slots come from free clusters; two clusters taken after each other are never neighbours (Kernel:
 * mm/swapfile.c, columns of SWAP_CLUSTER_COLS), so numbers leave a gap at each boundary. The 2 GiB
 * device is never reused within a run of this size. Writes gather in the plug of shrink_lruvec().
 * The RAM disk takes requests of at most 31 pages, which never reach the 128 KiB at which a plug is
 * flushed: only the 33rd request or the end of the plug does that. It has no I/O scheduler, so
 * a flush issues the requests as the plug holds them: newest first on 6.1, oldest first on 6.12. A
 * request completes while it is issued.
 */
#include "ref.h"

#define PLUG_REQUESTS 32
#define REQUEST_MAX_PAGES 31 /* BLK_SAFE_MAX_SECTORS in whole 4 KiB blocks */
#define SLOT_CACHE 64

bool ref_swap_device(const struct ref_machine *m)
{
	return !m->opt.no_swap;
}

bool ref_swap_left(const struct ref_machine *m)
{
	return !m->opt.no_swap && m->swap_used < m->opt.swap_pages;
}

/* Kernel: vm_swap_full(). */
bool ref_swap_half_full(const struct ref_machine *m)
{
	return (m->opt.swap_pages - m->swap_used) * 2 < m->opt.swap_pages;
}

void ref_swap_cache_add(struct ref_machine *m, struct ref_slot *slot, struct ref_folio *folio)
{
	slot->folio = folio;
	folio->slot = slot;
	ref_folio_get(folio);
	ref_stat(m, STAT_OTHER, 1);
}

/* A slot that nothing holds goes to the per-CPU return cache, which is emptied when full. */
void ref_slot_put(struct ref_machine *m, struct ref_slot *slot)
{
	if (slot->count || slot->folio)
		return;
	if (m->free_slots_cached == SLOT_CACHE) {
		for (int i = 0; i < SLOT_CACHE; i++)
			ref_stat(m, STAT_OTHER, -1);
		m->swap_used -= SLOT_CACHE;
		m->free_slots_cached = 0;
	}
	m->free_slots_cached++;
	g_free(slot);
}

void ref_swap_cache_del(struct ref_machine *m, struct ref_folio *folio)
{
	struct ref_slot *slot = folio->slot;

	slot->folio = NULL;
	folio->slot = NULL;
	ref_stat(m, STAT_OTHER, -1);
	ref_slot_put(m, slot);
	ref_folio_put(m, folio);
}

/* Kernel: add_to_swap(), folio_alloc_swap(). */
bool ref_add_to_swap(struct ref_machine *m, struct ref_folio *folio)
{
	struct ref_slot *slot;

	if (!ref_swap_left(m))
		return false;
	slot = g_new0(struct ref_slot, 1);
	slot->nr = m->next_slot++;
	if (m->next_slot % m->opt.cluster_slots == 0)
		m->next_slot += m->opt.cluster_slots;
	m->swap_used++;
	ref_stat(m, STAT_OTHER, 1);
	ref_swap_cache_add(m, slot, folio);
	folio->dirty = true;
	return true;
}

/* Kernel: folio_free_swap(). */
bool ref_folio_free_swap(struct ref_machine *m, struct ref_folio *folio)
{
	if (!folio->slot || folio->writeback || folio->slot->count)
		return false;
	ref_swap_cache_del(m, folio);
	folio->dirty = true;
	return true;
}

/* Kernel: mm/filemap.c folio_end_writeback(). */
void ref_end_writeback(struct ref_machine *m, struct ref_folio *folio)
{
	if (folio->reclaim) {
		folio->reclaim = false;
		ref_rotate_reclaimable(m, folio);
	}
	folio->writeback = false;
	ref_stat(m, STAT_OTHER, -1);
}

static void complete(struct ref_machine *m, struct ref_request *rq)
{
	for (unsigned int i = 0; i < rq->folios->len; i++) {
		struct ref_folio *folio = g_ptr_array_index(rq->folios, i);

		if (rq->read)
			folio->locked = false;
		else
			ref_end_writeback(m, folio);
	}
	g_ptr_array_free(rq->folios, true);
	g_free(rq);
}

static void plug_flush(struct ref_machine *m)
{
	GPtrArray *requests = m->plug;

	m->plug = g_ptr_array_new();
	for (unsigned int i = 0; i < requests->len; i++)
		complete(m, g_ptr_array_index(requests, m->opt.v612 ? i : requests->len - 1 - i));
	g_ptr_array_free(requests, true);
}

/* A plug inside another one does nothing. */
void ref_plug_start(struct ref_machine *m)
{
	if (!m->plug_depth++)
		m->plug = g_ptr_array_new();
}

void ref_plug_finish(struct ref_machine *m)
{
	if (--m->plug_depth)
		return;
	plug_flush(m);
	g_ptr_array_free(m->plug, true);
	m->plug = NULL;
}

static uint64_t slot_at(const struct ref_request *rq, unsigned int i)
{
	const struct ref_folio *folio = g_ptr_array_index(rq->folios, i);

	return folio->slot->nr;
}

/* Kernel: block/blk-mq.c blk_mq_submit_bio(), blk_add_rq_to_plug(). */
static void submit(struct ref_machine *m, struct ref_folio *folio, bool read)
{
	struct ref_request *last = NULL;

	if (m->plug->len)
		last = g_ptr_array_index(m->plug, m->plug->len - 1);
	if (last && last->read == read && last->folios->len < REQUEST_MAX_PAGES) {
		if (slot_at(last, last->folios->len - 1) + 1 == folio->slot->nr) {
			g_ptr_array_add(last->folios, folio);
			return;
		}
		if (slot_at(last, 0) == folio->slot->nr + 1) {
			g_ptr_array_insert(last->folios, 0, folio);
			return;
		}
	}
	if (m->plug->len >= PLUG_REQUESTS)
		plug_flush(m);
	last = g_new0(struct ref_request, 1);
	last->read = read;
	last->folios = g_ptr_array_new();
	g_ptr_array_add(last->folios, folio);
	g_ptr_array_add(m->plug, last);
}

/* Kernel: pageout(), swap_writepage(). A synchronous device is done on return. */
void ref_swap_write(struct ref_machine *m, struct ref_folio *folio)
{
	folio->dirty = false;
	folio->reclaim = true;
	m->ev[PSWPOUT]++;
	m->ev[VMSCAN_WRITE]++;
	ref_stat(m, STAT_OTHER, 1);
	if (m->opt.sync_swap) {
		folio->reclaim = false;
		ref_stat(m, STAT_OTHER, -1);
		return;
	}
	folio->writeback = true;
	submit(m, folio, false);
}

/* Only read-ahead reads in a plug; other reads are done when this returns. */
void ref_swap_read(struct ref_machine *m, struct ref_folio *folio)
{
	if (!m->plug)
		return;
	folio->locked = true;
	submit(m, folio, true);
}
