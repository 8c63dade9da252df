/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bare.h - a machine without an engine: the state of sim/mm alone, with the root group.
 */
#ifndef TESTS_LIB_BARE_H
#define TESTS_LIB_BARE_H

#include "tests/lib/cm.h"

#include "sim/mm/machine.h"

struct bare {
	struct machine m;
	struct rs_scenario *scenario;
};

/* settings: pairs of key and value, ended by NULL; over one node of 256M. */
struct bare *bare_new(const char *kernel, const char *const *settings);
void bare_free(struct bare *);
uint16_t bare_memcg(struct bare *, const char *path);
struct rs_vma *bare_map(struct bare *, struct mm *, uint64_t start, uint64_t pages, uint32_t prot);

#define SETTINGS(...) ((const char *const[]){ __VA_ARGS__, NULL })

#endif
