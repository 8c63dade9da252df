/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * input.h - bytes of a trace file or pipe, unpacked if they are zstd-compressed.
 */
#ifndef TRACES_INPUT_H
#define TRACES_INPUT_H

#include <reclaimsim/types.h>

struct input;
struct input *input_open(const char *path, GError **); /* "-" = standard input */
const char *input_name(const struct input *);	       /* for messages */
/* The first bytes without consuming them; at most 64, fewer at the end. -1 = error. */
int input_peek(struct input *, const uint8_t **ret, GError **);
/* Up to size bytes; 0 = end, -1 = error. Never short of size but at the end. */
gssize input_read(struct input *, void *to, size_t size, GError **);
void input_free(struct input *);

#endif
