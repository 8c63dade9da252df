/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bench_decode.c - how fast a native trace is decoded. Usage: bench_decode [TRACE]
 */
#include <glib/gstdio.h>
#include <stdio.h>

#include "bench/yardstick.h"

#define PAGES (1u << 20)
#define ACCESSES (16u << 20)
#define REPEATS 7

static void print_speed(const char *what, const struct bench_speed *s)
{
	printf("%-48s %8.1f M accesses/s\n", what, s->accesses / s->seconds / 1e6);
}

int main(int argc, char **argv)
{
	const char *path = argc > 1 ? argv[1] : "bench_decode.rst";
	struct bench_speed memory, decode;
	GStatBuf st;

	if (argc == 1 && !bench_write_zipf(path, PAGES, ACCESSES, 1.0))
		return 2;
	if (!yardstick_memory(path, REPEATS, &memory) || !yardstick_decode(path, REPEATS, &decode))
		return 2;
	if (!g_stat(path, &st))
		printf("%-48s %8.2f bytes/access\n", "size of the trace",
		       (double)st.st_size / memory.accesses);
	print_speed("set a bit from page numbers in memory", &memory);
	print_speed("decode the native trace and set a bit", &decode);
	if (argc == 1)
		g_unlink(path);
	return 0;
}
