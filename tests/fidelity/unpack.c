/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unpack.c - zstd files whose frame says how long they are, and plain ones.
 */
#include "unpack.h"

#include <reclaimsim/types.h>

#include <zstd.h>

#define UNPACK_MAX (256u << 20)

char *unpack_file(const char *path, gsize *length, GError **error)
{
	g_autofree char *packed = NULL;
	unsigned long long size;
	gsize packed_length;
	char *data;

	if (!g_file_get_contents(path, &packed, &packed_length, error))
		return NULL;
	if (!g_str_has_suffix(path, ".zst")) {
		*length = packed_length;
		return g_steal_pointer(&packed);
	}
	size = ZSTD_getFrameContentSize(packed, packed_length);
	if (size > UNPACK_MAX) { /* unknown and broken are the largest values */
		g_set_error(error, RS_ERROR, RS_ERROR_INPUT, "%s: no zstd frame of at most %u MiB",
			    path, UNPACK_MAX >> 20);
		return NULL;
	}
	data = g_malloc(size + 1);
	*length = ZSTD_decompress(data, size, packed, packed_length);
	if (ZSTD_isError(*length)) {
		g_set_error(error, RS_ERROR, RS_ERROR_INPUT, "%s: %s", path,
			    ZSTD_getErrorName(*length));
		g_free(data);
		return NULL;
	}
	return data;
}
