/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * phases.h - does the simulator's spread over boots cover the kernel's spread?
 */
#ifndef FIDELITY_PHASES_H
#define FIDELITY_PHASES_H

#include "truth.h"

#include <stdio.h>

/* Prints the values that are not covered, worst first, and how many are; per cent covered. */
double phases_print(const GPtrArray *cases, guint show, FILE *stream);

#endif
