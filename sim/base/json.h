/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * json.h - JSON files that people write, with the place of every mistake.
 *
 * jansson parses (duplicate keys refused); for mistakes it cannot know, rs_json_error() finds the
 * line and column of a value by its path from the root.
 */
#ifndef SIM_BASE_JSON_H
#define SIM_BASE_JSON_H

#include <reclaimsim/types.h>

#include <jansson.h>

struct rs_json {
	char *path; /* as given; "-" is standard input */
	char *text;
	json_t *root; /* object or array */
};

/* Files larger than RS_JSON_MAX are refused. */
#define RS_JSON_MAX (256u << 20)
struct rs_json *rs_json_load(const char *path, GError **error);
void rs_json_free(struct rs_json *json); /* NULL is fine */

/*
 * Set error to "path:line:column: message". where: keys and array indices (as decimal numbers)
 * from the root, ended by NULL; an unknown path gives the nearest place above it.
 */
void rs_json_error(const struct rs_json *json, GError **error, const char *const *where,
		   const char *format, ...) G_GNUC_PRINTF(4, 5);

#endif
