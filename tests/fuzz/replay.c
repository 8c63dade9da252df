/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * replay.c - runs a fuzz target without libFuzzer: replay ROUNDS FOLDER. Every file of the folder
 * is tried as it is and with ROUNDS mutations, which are the same each time.
 */
#include <glib.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/rng.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* One to four changes: a byte, a bit, a piece cut out, a piece copied, the end cut off. */
static void mutate(struct rs_rng *rng, GByteArray *a)
{
	for (uint64_t n = 1 + rs_rng_below(rng, 4); n && a->len > 1; n--) {
		uint32_t at = rs_rng_below(rng, a->len),
			 len = rs_rng_below(rng, MIN(a->len - at, 32u)) + 1;

		switch (rs_rng_below(rng, 5)) {
		case 0:
			a->data[at] = rs_rng_next(rng);
			break;
		case 1:
			a->data[at] ^= 1u << rs_rng_below(rng, 8);
			break;
		case 2:
			g_byte_array_remove_range(a, at, MIN(len, a->len - at));
			break;
		case 3: {
			g_autofree uint8_t *piece = g_memdup2(a->data + at, MIN(len, a->len - at));

			g_byte_array_append(a, piece, MIN(len, a->len - at));
			break;
		}
		default:
			g_byte_array_set_size(a, at);
		}
	}
}

static void replay(const char *path, unsigned rounds)
{
	g_autofree char *data = NULL;
	g_autofree char *name = g_path_get_basename(path);
	struct rs_rng rng;
	gsize size;

	if (!g_file_get_contents(path, &data, &size, NULL))
		exit(2);
	LLVMFuzzerTestOneInput((const uint8_t *)data, size);
	rs_rng_init(&rng, 1, name);
	for (unsigned i = 0; i < rounds; i++) {
		GByteArray *a = g_byte_array_new();

		g_byte_array_append(a, (const uint8_t *)data, size);
		mutate(&rng, a);
		LLVMFuzzerTestOneInput(a->data, a->len);
		g_byte_array_unref(a);
	}
}

int main(int argc, char **argv)
{
	unsigned files = 0;
	const char *name;

	if (argc != 3) {
		fprintf(stderr, "usage: %s ROUNDS FOLDER\n", argv[0]);
		return 2;
	}
	GDir *dir = g_dir_open(argv[2], 0, NULL);
	while (dir && (name = g_dir_read_name(dir))) {
		g_autofree char *path = g_build_filename(argv[2], name, NULL);

		replay(path, atoi(argv[1]));
		files++;
	}
	if (dir)
		g_dir_close(dir);
	printf("%u files\n", files);
	return files ? 0 : 1;
}
