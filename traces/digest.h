/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * digest.h - the identity of a trace, whatever container it comes in. FORMAT.md, "Digest".
 */
#ifndef TRACES_DIGEST_H
#define TRACES_DIGEST_H

#include "traces/state.h"

struct digest {
	uint64_t lane[4];
	uint64_t nr_records;
	GChecksum *maps;
};

void digest_init(struct digest *);
/* Records with the value of RS_OP_MMAP as 0, and the mappings among them in their order. */
void digest_add(struct digest *, const struct rs_record *, uint32_t n, const struct rs_map *,
		uint32_t nr_maps);
char *digest_finish(struct digest *, const struct trace_state *); /* hex; g_free() */
void digest_done(struct digest *);

#endif
