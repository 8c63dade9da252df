/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * text_generator.c - "text_generator lackey|blkparse BYTES": that much text of the format, made
 * like real logs: instruction runs with jumps, loads and stores that mostly stay near each other;
 * block requests of several processes with four actions each.
 */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t state = 88172645463325252u;

static uint64_t next(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

static int lackey_line(char *line, uint64_t n)
{
	static uint64_t pc = 0x401000, stack = 0x1ffefff000, heap = 0x4a00000;

	if (n % 10 < 7) {
		int length = (int)(next() % 7) + 1, done;

		done = sprintf(line, "I  %08" PRIx64 ",%d\n", pc, length);
		pc = next() % 12 ? pc + (uint64_t)length : 0x401000 + next() % (4u << 20);
		return done;
	}
	if (next() % 3)
		return sprintf(line, " %c %08" PRIx64 ",8\n", "LSM"[next() % 3],
			       stack - next() % 512 * 8);
	if (!(next() % 64))
		heap = 0x4a00000 + next() % (256u << 20);
	return sprintf(line, " %c %08" PRIx64 ",8\n", "LS"[next() % 2], heap + next() % 512 * 8);
}

static int blkparse_line(char *line, uint64_t n)
{
	static uint64_t sector, count, pid;

	if (n % 4 == 0) {
		sector = next() % (UINT64_C(1) << 31) & ~7u;
		count = 8u << next() % 6;
		pid = 1000 + next() % 50;
	}
	return sprintf(line,
		       "  8,16 %3d %8" PRIu64 " %5" PRIu64 ".%09" PRIu64 " %5" PRIu64
		       "  %c  %s %" PRIu64 " + %" PRIu64 " [fio]\n",
		       (int)(n % 3), n + 1, n / 50000, n % 50000 * 20000, pid, "QGDC"[n % 4],
		       pid % 3 ? "R" : "WS", sector, count);
}

int main(int argc, char **argv)
{
	uint64_t bytes = argc > 2 ? strtoull(argv[2], NULL, 10) : 0, done = 0;
	char line[256];

	for (uint64_t n = 0; done < bytes; n++) {
		int got = strcmp(argv[1], "lackey") ? blkparse_line(line, n) : lackey_line(line, n);

		if (fwrite(line, 1, (size_t)got, stdout) != (size_t)got)
			return 1;
		done += (uint64_t)got;
	}
	return fflush(stdout) ? 1 : 0;
}
