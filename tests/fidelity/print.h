/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * print.h - the comparison for a terminal.
 */
#ifndef FIDELITY_PRINT_H
#define FIDELITY_PRINT_H

#include "verdict.h"

#include <stdio.h>

void print_rows(const GArray *rows, guint show, FILE *stream);
void print_differences(const GArray *differences, const struct rule *rule, guint show,
		       FILE *stream);
void print_verdict(const char *title, const GArray *tallies, FILE *stream);
void print_failures(const GPtrArray *cases, FILE *stream);

/* "anon-zipf 6.12 mglru 16000p 60": what tells a case from others of its variant. */
char *print_case_name(const struct truth_case *c);

#endif
