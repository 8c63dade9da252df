/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * names.h - names of regions, files, marks, threads, groups and processes, numbered densely in
 * order of first appearance.
 */
#ifndef TRACES_NAMES_H
#define TRACES_NAMES_H

#include <reclaimsim/trace.h>

#define NAME_NONE UINT32_MAX
#define NAME_MAX_BYTES 4096u

struct names {
	GHashTable *ids;     /* name -> number + 1 */
	GPtrArray *names;    /* number -> name */
	GStringChunk *chunk; /* owns the names */
};

void names_init(struct names *);
void names_done(struct names *);
uint32_t names_find(const struct names *, const char *name); /* NAME_NONE if unknown */
uint32_t names_add(struct names *, const char *name);	     /* finds or adds */
void names_truncate(struct names *, uint32_t nr);	     /* forget those from nr on */
const char *names_get(const struct names *, uint32_t id);    /* NULL if unknown */

#endif
