/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * run_corpus.c - a main for fuzz targets that runs every file of the folders given, once.
 */
#include <glib.h>
#include <stdio.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int main(int argc, char **argv)
{
	unsigned files = 0;

	for (int i = 1; i < argc; i++) {
		GDir *dir = g_dir_open(argv[i], 0, NULL);
		const char *name;

		while (dir && (name = g_dir_read_name(dir))) {
			char *path = g_build_filename(argv[i], name, NULL), *text;
			gsize size;

			if (g_file_get_contents(path, &text, &size, NULL)) {
				LLVMFuzzerTestOneInput((const uint8_t *)text, size);
				g_free(text);
				files++;
			}
			g_free(path);
		}
		if (dir)
			g_dir_close(dir);
	}
	printf("%u inputs\n", files);
	return files ? 0 : 1;
}
