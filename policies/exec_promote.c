/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * exec_promote.c - the multi-gen LRU with exec promotion: the first young PTE of an executable
 * mapping promotes a file folio at once.
 *
 * Only kernels whose first young PTE merely sets PG_referenced (6.14 and newer) have something to
 * skip; on older ones this is the plain multi-gen LRU.
 */
#include "mglru.h"

static bool exec_file(struct rs_ctx *ctx, pfn_t pfn, uint32_t vm_flags)
{
	return (vm_flags & VM_EXEC) && folio_lru_type(&rs_folios(ctx)[pfn]) == RS_FILE;
}

static const struct mglru_hooks hooks = {
	.first_use = exec_file,
};

static bool init(struct rs_ctx *ctx, GError **error)
{
	if (rs_tunables(ctx)->kernel < RS_KERNEL_6_14)
		rs_warn(ctx, "exec-promote: kernels before 6.14 have no first use to skip; this is "
			     "plain mglru");
	return mglru_setup(ctx, &hooks, error);
}

const struct rs_policy_ops exec_promote_policy = {
	MGLRU_OPS,
	.name = "exec-promote",
	.summary = "multi-gen LRU with exec promotion (an effect from kernel 6.14 on)",
	.init = init,
	.counters = mglru_counters,
};
