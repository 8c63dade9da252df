/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ref_lru.c - the four lists and the folio batches of the one CPU in front of them.
 *
 * A batch entry holds a reference on its folio. Kernel: mm/swap.c.
 */
#include "ref.h"

static int lru_of(const struct ref_folio *folio)
{
	return (folio->anon ? INACTIVE_ANON : INACTIVE_FILE) + folio->active;
}

void ref_list_add(struct ref_machine *m, struct ref_folio *folio, bool tail)
{
	g_assert(folio->on_list < 0);
	folio->on_list = lru_of(folio);
	if (tail)
		g_queue_push_tail_link(&m->list[folio->on_list], &folio->lru);
	else
		g_queue_push_head_link(&m->list[folio->on_list], &folio->lru);
	ref_stat(m, folio->on_list, 1);
}

void ref_list_del(struct ref_machine *m, struct ref_folio *folio)
{
	g_assert(folio->on_list >= 0);
	g_queue_unlink(&m->list[folio->on_list], &folio->lru);
	ref_stat(m, folio->on_list, -1);
	folio->on_list = -1;
}

static void move_add(struct ref_machine *m, struct ref_folio *folio)
{
	ref_list_add(m, folio, false);
}

static void move_tail(struct ref_machine *m, struct ref_folio *folio)
{
	ref_list_del(m, folio);
	folio->active = false;
	ref_list_add(m, folio, true);
	m->ev[PGROTATED]++;
}

static void move_activate(struct ref_machine *m, struct ref_folio *folio)
{
	if (folio->active)
		return;
	ref_list_del(m, folio);
	folio->active = true;
	ref_list_add(m, folio, false);
	m->ev[PGACTIVATE]++;
	ref_stat(m, STAT_OTHER, 1);
}

typedef void (*move_fn)(struct ref_machine *m, struct ref_folio *folio);

/* Kernel: folio_batch_move_lru(). References are dropped after the last move. */
static void batch_flush(struct ref_machine *m, struct ref_batch *batch, move_fn move)
{
	for (unsigned int i = 0; i < batch->nr; i++) {
		struct ref_folio *folio = batch->folio[i];

		if (move != move_add && !folio->pg_lru)
			continue;
		move(m, folio);
		folio->pg_lru = true;
	}
	for (unsigned int i = 0; i < batch->nr; i++)
		ref_folio_put(m, batch->folio[i]);
	batch->nr = 0;
}

static void batch_add(struct ref_machine *m, struct ref_batch *batch, struct ref_folio *folio,
		      move_fn move)
{
	ref_folio_get(folio);
	batch->folio[batch->nr++] = folio;
	if (batch->nr == m->batch_size)
		batch_flush(m, batch, move);
}

void ref_lru_add(struct ref_machine *m, struct ref_folio *folio)
{
	batch_add(m, &m->lru_add, folio, move_add);
}

/* Kernel: folio_rotate_reclaimable(). No folio is locked when a write ends in this model. */
void ref_rotate_reclaimable(struct ref_machine *m, struct ref_folio *folio)
{
	if (!folio->dirty && folio->pg_lru)
		batch_add(m, &m->rotate, folio, move_tail);
}

/* Kernel: lru_add_drain_cpu(). */
void ref_lru_add_drain(struct ref_machine *m)
{
	batch_flush(m, &m->lru_add, move_add);
	batch_flush(m, &m->rotate, move_tail);
	batch_flush(m, &m->activate, move_activate);
}

/* Kernel: folio_mark_accessed(), __lru_cache_activate_folio(). */
void ref_mark_accessed(struct ref_machine *m, struct ref_folio *folio)
{
	if (m->opt.fifo)
		return;
	if (!folio->referenced) {
		folio->referenced = true;
		return;
	}
	if (folio->active)
		return;
	if (folio->pg_lru) {
		batch_add(m, &m->activate, folio, move_activate);
	} else {
		for (unsigned int i = 0; i < m->lru_add.nr; i++)
			if (m->lru_add.folio[i] == folio)
				folio->active = true;
	}
	folio->referenced = false;
	m->age++;
}
