/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * import_objects.h - numbers for object ids and keys of any kind (internal).
 *
 * Ids are known by a 64-bit hash of their bytes: with 16 million of them the chance of one
 * collision is below 10^-5.
 */
#ifndef TRACES_IMPORT_OBJECTS_H
#define TRACES_IMPORT_OBJECTS_H

#include "traces/import.h"

#define OBJECTS_MAX (16u << 20)
#define OBJECTS_NONE UINT32_MAX

struct objects {
	uint64_t *hashes; /* 0 = empty slot */
	uint32_t *numbers;
	uint32_t slots, used;
};

uint64_t objects_hash(const void *data, size_t n, uint64_t seed); /* never 0 */
/* Number of the id, in order of first appearance; OBJECTS_NONE after an error (limit). */
uint32_t objects_number(struct import *, struct objects *, uint64_t hash);
void objects_clear(struct objects *);

#endif
