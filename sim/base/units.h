/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * units.h - numbers with units as users write them, read strictly.
 *
 * Sizes: a plain number is bytes; K M G T (or KiB MiB GiB TiB) are powers of 1024; "p" is 4 KiB
 * pages. MB and the like are refused, as they mean different things to different tools. Times:
 * a plain number is nanoseconds; ns us ms s min. Nothing else may follow, no sign, no fraction.
 */
#ifndef SIM_BASE_UNITS_H
#define SIM_BASE_UNITS_H

#include <reclaimsim/types.h>

/* The whole text is a decimal number in [min, max]; a minus sign only if min is negative. */
bool rs_parse_int(const char *text, int64_t min, int64_t max, int64_t *ret, GError **error);
bool rs_parse_u64(const char *text, uint64_t *ret, GError **error);
/* Bytes. */
bool rs_parse_size(const char *text, uint64_t *ret, GError **error);
/* Pages; here a plain number is pages. */
bool rs_parse_pages(const char *text, uint64_t *ret, GError **error);
/* Nanoseconds. */
bool rs_parse_time(const char *text, ns_t *ret, GError **error);
/* 0 1 false true off on no yes. */
bool rs_parse_bool(const char *text, bool *ret, GError **error);

/* Shortest text that rs_parse_size() reads back to the same number: "64M", "12345"; g_free(). */
char *rs_format_size(uint64_t bytes);

/* Entry of words (ended by NULL) that looks most like word; NULL if none is near. */
const char *rs_nearest(const char *word, const char *const *words);

#endif
