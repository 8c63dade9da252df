/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unpack.h - a whole file in memory, unpacked if it is compressed.
 */
#ifndef FIDELITY_UNPACK_H
#define FIDELITY_UNPACK_H

#include <glib.h>

/* NULL: error is set. Files that unpack to more than 256 MiB are refused. */
char *unpack_file(const char *path, gsize *length, GError **error);

#endif
