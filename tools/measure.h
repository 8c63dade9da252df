/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * measure.h - what activities of the cost model take on this host.
 */
#ifndef TOOLS_MEASURE_H
#define TOOLS_MEASURE_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#define MEASURE_MAX_REPEATS 99u

/* Pages whose compression is measured. */
struct measure_data {
	const uint8_t *bytes;
	uint32_t nr_pages;
};

struct measure {
	const char *setting; /* name of the setting that takes the value */
	const char *doc;
	/* Nanoseconds of one; negative: not possible here. */
	double (*run)(const struct measure_data *);
};

/* All of them; those of codecs that the program was built without are not there. */
const struct measure *measures(unsigned *ret_n);

struct measured {
	double min, median;
};
/* False: not possible here. */
bool measure_run(const struct measure *, const struct measure_data *, unsigned repeats,
		 struct measured *ret);

/* Compressed bytes per page of the data by that algorithm; 0: not in this program. */
double measure_compressed_bytes(const char *algorithm, const struct measure_data *);

/* measure_codec.c */
extern const struct measure measure_codecs[];
extern const unsigned measure_nr_codecs;

/* Seconds of CPU time: others on the host do not count. */
double measure_now(void);

#endif
