/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * keep.h - the simulator's values in a file, so that several checks share one set of runs.
 */
#ifndef FIDELITY_KEEP_H
#define FIDELITY_KEEP_H

#include "truth.h"

bool keep_write(const GPtrArray *cases, const char *path, GError **error);
/* Fills case.sim where the file has the case. */
bool keep_read(GPtrArray *cases, const char *path, GError **error);

#endif
