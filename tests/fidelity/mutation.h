/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * mutation.h - would the suite notice if a mechanism of the model were missing?
 */
#ifndef FIDELITY_MUTATION_H
#define FIDELITY_MUTATION_H

#include "simulate.h"

#include <stdio.h>

/*
 * For each entry of the file: the named counter of the named case is right under the strict rule,
 * and wrong with the mechanism switched off (setting model.disable). True: all are. False with
 * error: the file or a run is bad.
 */
bool mutation_check(const char *path, const struct simulate_options *options, FILE *stream,
		    GError **error);

#endif
