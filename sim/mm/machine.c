/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * machine.c - every array of the machine, sized once from the settings. The big ones are reserved
 * address space: the host gives memory to the parts that are touched.
 */
#include "sim/mm/machine.h"

#include <string.h>
#include <sys/mman.h>

void *reserve_array(size_t nr, size_t size)
{
	void *p = mmap(NULL, nr * size, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (p == MAP_FAILED)
		return NULL;
	/* Random accesses to these arrays are what replay is made of: spare the host's TLB. */
	madvise(p, nr * size, MADV_HUGEPAGE);
	return p;
}

void release_array(void *p, size_t nr, size_t size)
{
	if (p)
		munmap(p, nr * size);
}

pfn_t machine_new_heads(struct machine *m, uint32_t n)
{
	pfn_t head = m->next_head;

	g_assert(m->max_head - head >= n);
	m->next_head += n;
	for (uint32_t i = 0; i < n; i++)
		rs_list_init(m->folios, head + i);
	return head;
}

static bool reserve_all(struct machine *m)
{
	m->folios = reserve_array(m->max_head, sizeof(*m->folios));
	m->max_tables = 1u << 22; /* 8 TiB of address space in use at a time */
	m->pte = reserve_array((size_t)m->max_tables << 9, sizeof(*m->pte));
	m->pmd = reserve_array(m->max_tables, sizeof(*m->pmd));
	m->table = reserve_array(m->max_tables, sizeof(*m->table));
	m->nr_tables = 1;
	return m->folios && m->pte && m->pmd && m->table;
}

bool machine_init(struct machine *m, const struct rs_config *cfg, uint32_t nr_lists, GError **error)
{
	uint64_t frames = machine_total_frames(cfg) + 1;
	uint64_t heads = (uint64_t)MAX_MEMCGS * cfg->nr_nodes * (nr_lists + 1) +
			 RS_MAX_NODES * RS_NR_ZONES * (MAX_ORDER + 1);

	memset(m, 0, sizeof(*m));
	m->cfg = cfg;
	m->kernel = cfg->kernel;
	m->nr_lists = nr_lists;
	m->nr_nodes = cfg->nr_nodes;
	if (frames + heads >= (1u << (32 - RS_PTE_PFN_SHIFT))) {
		g_set_error(error, RS_ERROR, RS_ERROR_USAGE,
			    "the nodes' memory is too large: at most 511G in all can be simulated");
		return false;
	}
	m->nr_frames = frames;
	m->next_head = frames;
	m->max_head = frames + heads;
	m->memcg = g_new0(struct memcg, MAX_MEMCGS);
	m->lruvec = g_new0(struct lruvec *, (size_t)MAX_MEMCGS * m->nr_nodes);
	if (!reserve_all(m) || !swap_init(m)) {
		g_set_error(error, RS_ERROR, RS_ERROR_USAGE,
			    "cannot reserve address space for the simulated machine (ulimit -v?)");
		return false;
	}
	nodes_init(m);
	zram_init(m);
	return true;
}

static void free_file(struct file *f)
{
	for (uint64_t i = 0; i < f->nr_chunks; i++)
		g_free(f->chunk[i]);
	g_free(f->chunk);
	g_free(f->open);
	g_free(f->vmas.vma);
}

void machine_clear(struct machine *m)
{
	for (uint32_t i = 0; i < m->nr_mms; i++)
		if (m->mm[i])
			mm_free(m, m->mm[i]);
	g_free(m->mm);
	for (uint32_t i = 0; i < m->nr_files; i++)
		free_file(&m->file[i]);
	g_free(m->file);
	for (uint32_t i = 0; i < m->nr_anon_vmas; i++)
		g_free(m->anon_vma[i].vmas.vma);
	g_free(m->anon_vma);
	for (uint32_t i = 0; i < m->nr_memcgs; i++)
		g_free(m->memcg[i].path);
	for (uint32_t i = 0; m->lruvec && i < m->nr_memcgs * m->nr_nodes; i++) {
		g_free(m->lruvec[i]->pub.priv);
		g_free(m->lruvec[i]);
	}
	g_free(m->lruvec);
	g_free(m->memcg);
	release_array(m->folios, m->max_head, sizeof(*m->folios));
	release_array(m->pte, (size_t)m->max_tables << 9, sizeof(*m->pte));
	release_array(m->pmd, m->max_tables, sizeof(*m->pmd));
	release_array(m->table, m->max_tables, sizeof(*m->table));
	release_array(m->swap.slot, m->swap.nr_slots, sizeof(*m->swap.slot));
	release_array(m->swap.slot_of, m->nr_frames, sizeof(*m->swap.slot_of));
	g_free(m->swap.cluster_free);
	g_free(m->swap.cluster_link);
	zram_clear(m);
	memset(m, 0, sizeof(*m));
}
