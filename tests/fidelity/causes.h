/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * causes.h - why a value is off, in one line, as causes.json tells it.
 */
#ifndef FIDELITY_CAUSES_H
#define FIDELITY_CAUSES_H

#include "truth.h"

struct causes;
struct causes *causes_read(const char *path, GError **error);
void causes_free(struct causes *causes);
/* The first entry whose globs fit; NULL: none. */
const char *causes_find(const struct causes *causes, const struct truth_case *c,
			const char *counter);

#endif
