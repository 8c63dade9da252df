/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * shadow.c - packing of shadow entries: 36 bits of token, group, node, workingset, and the bit
 * that tells a shadow from a folio. Kernel: mm/workingset.c pack_shadow(), with NODES_SHIFT 10.
 */
#include "sim/mm/machine.h"

uint64_t shadow_pack(const struct rs_shadow *s)
{
	uint64_t v = s->token & ((1ull << RS_SHADOW_TOKEN_BITS) - 1);

	v = v << 16 | s->memcg;
	v = v << 10 | s->nid;
	return v << 2 | (uint64_t)s->workingset << 1 | 1;
}

struct rs_shadow shadow_unpack(uint64_t v)
{
	return (struct rs_shadow){ .workingset = v >> 1 & 1,
				   .nid = v >> 2 & 1023,
				   .memcg = v >> 12 & 0xffff,
				   .token = v >> 28 };
}
