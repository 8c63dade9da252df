/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * provenance.h - where a trace came from: keys and values in the order they were given.
 */
#ifndef TRACES_PROVENANCE_H
#define TRACES_PROVENANCE_H

#include <reclaimsim/types.h>

#define PROVENANCE_MAX 4096u	/* entries */
#define PROVENANCE_BYTES 32768u /* of a value */

struct provenance {
	GPtrArray *keys, *values;
};

void provenance_init(struct provenance *);
void provenance_done(struct provenance *);
/* A later value of a key replaces the earlier one. False: too many or too long. */
bool provenance_set(struct provenance *, const char *key, const char *value);
const char *provenance_get(const struct provenance *, const char *key);

#endif
