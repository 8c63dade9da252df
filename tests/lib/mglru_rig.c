/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * mglru_rig.c - the rig with the multi-gen LRU in a known state.
 */
#include "tests/lib/mglru_rig.h"

#include "tests/lib/cm.h"

struct rig *mglru_rig(enum column column, const char *policy, const char *const *settings)
{
	static const char *const kernel[NR_COLUMNS] = { "6.1", "6.12", "6.12", "6.14", "7.2" };
	struct rig *r = rig_new(kernel[column], policy, settings);
	struct mglru_lruvec *v = mglru_lruvec(rig_lruvec(r));

	r->ctx->tun.sort_dirty = column != K_6_12_117 && column != K_7_2;
	mglru(r->ctx)->d = mglru_dialect(r->ctx->tun.kernel, r->ctx->tun.sort_dirty);
	v->max_seq = 10;
	v->min_seq[RS_ANON] = v->min_seq[RS_FILE] = 8;
	v->mm_state.seq = 9;
	return r;
}

void reopen(struct rig *r)
{
	struct mglru_lruvec *v = mglru_lruvec(rig_lruvec(r));

	v->min_seq[RS_ANON] = v->min_seq[RS_FILE] = v->max_seq - MIN_NR_GENS;
}

uint64_t seq_of(const struct rig *r, pfn_t pfn)
{
	const struct mglru_lruvec *v = mglru_lruvec(rig_lruvec(r));
	int gen = folio_gen(&r->ctx->m.folios[pfn]);

	assert_true(gen >= 0);
	return v->max_seq - (v->max_seq - (unsigned)gen) % MAX_NR_GENS;
}

unsigned refs_of(const struct rig *r, pfn_t pfn)
{
	return mglru_refs(mglru(r->ctx), &r->ctx->m.folios[pfn]);
}

uint32_t marks_of(const struct rig *r, pfn_t pfn)
{
	return r->ctx->m.folios[pfn].flags & (PG_referenced | PG_workingset);
}

void set_marks(struct rig *r, pfn_t pfn, uint32_t marks)
{
	struct folio *f = &r->ctx->m.folios[pfn];

	f->flags = (f->flags & ~(uint32_t)(PG_referenced | PG_workingset)) | marks;
	folio_set_ref_bits(f, 0);
}

void place(struct rig *r, pfn_t pfn, uint64_t seq)
{
	struct folio *f = &r->ctx->m.folios[pfn];
	int old_gen = folio_gen(f);
	unsigned gen = gen_from_seq(seq);

	rig_enter(r);
	mglru_update_size(r->ctx, rig_lruvec(r), f, old_gen, (int)gen);
	folio_set_gen(f, (int)gen);
	mglru_move(r->ctx, rig_lruvec(r), pfn, gen, true);
	rig_leave(r);
}

void make_old(struct rig *r, uint32_t region, uint32_t page)
{
	*rig_pte(r, region, page) &= ~RS_PTE_YOUNG;
}

void anchor(struct rig *r, enum rs_type type, uint64_t seq)
{
	if (type == RS_FILE) {
		rig_file(r, ANCHOR_ID, ANCHORS);
		rig_read(r, ANCHOR_ID, 0, ANCHORS);
	} else {
		rig_map_anon(r, ANCHOR_ID, ANCHORS);
		rig_store(r, ANCHOR_ID, 0, ANCHORS);
	}
	rig_drain(r);
	for (uint32_t page = 0; page < ANCHORS; page++) {
		pfn_t pfn = type == RS_FILE ? rig_file_page(r, ANCHOR_ID, page)
					    : rig_page(r, ANCHOR_ID, page);

		set_marks(r, pfn, 0);
		place(r, pfn, seq);
		if (type == RS_ANON)
			make_old(r, ANCHOR_ID, page);
	}
}

uint64_t evict_with(struct rig *r, struct rs_scan *sc, uint64_t nr_to_scan)
{
	struct mglru_walk storage;
	struct plug plug;

	rig_enter(r);
	mglru_scan_begin(r->ctx, 0, sc, &storage);
	plug_start(r->ctx, &plug);
	mglru_evict_folios(r->ctx, rig_lruvec(r), sc, 60, nr_to_scan, NULL);
	plug_finish(r->ctx, &plug);
	mglru_scan_end(sc);
	rs_lru_add_drain(r->ctx);
	rig_leave(r);
	rig_check(r);
	return sc->nr_reclaimed;
}

uint64_t evict(struct rig *r)
{
	struct rs_scan sc = rig_limit_scan(r);

	return evict_with(r, &sc, MIN_LRU_BATCH);
}

void age(struct rig *r)
{
	struct rs_scan sc = rig_limit_scan(r);
	struct mglru_walk storage;

	rig_enter(r);
	mglru_mm_switch(r->ctx, rig_mm(r));
	mglru_scan_begin(r->ctx, 0, &sc, &storage);
	assert_true(mglru_try_to_inc_max_seq(r->ctx, rig_lruvec(r), &sc,
					     mglru_lruvec(rig_lruvec(r))->max_seq, 60));
	mglru_scan_end(&sc);
	rig_leave(r);
	rig_check(r);
}
