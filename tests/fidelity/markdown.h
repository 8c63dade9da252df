/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * markdown.h - the committed table: tests/fidelity/README.md.
 */
#ifndef FIDELITY_MARKDOWN_H
#define FIDELITY_MARKDOWN_H

#include "causes.h"
#include "compare.h"

/* The whole text; free with g_free(). */
char *markdown_of(const GPtrArray *cases, const struct causes *causes);

#endif
