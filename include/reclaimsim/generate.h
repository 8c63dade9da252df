/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * generate.h - make a trace from a description: a JSON spec, a fio job file, a memtier_benchmark
 * command line. Which it is is told from the content.
 */
#ifndef RECLAIMSIM_GENERATE_H
#define RECLAIMSIM_GENERATE_H

#include <jansson.h>

#include <reclaimsim/trace.h>

struct rs_generate_options {
	const char *path;	  /* description; "-" = standard input; NULL: words */
	const char *const *words; /* a memtier_benchmark command line, NULL-terminated */
	bool seed_given;	  /* else the spec's, else 1 */
	uint64_t seed;
	const char *const *with; /* KEY=VALUE settings of a front end, NULL-terminated or NULL */
};

struct rs_generator {
	const char *name, *summary;
};
extern const struct rs_generator rs_generators[]; /* ends with a row without name */

/*
 * Generate into a writer, which is left open; without one the summary alone is computed, which
 * takes as long. summary: {"format": ..., ...}; warnings: lines for people, g_free(). Either may be
 * NULL.
 */
bool rs_generate(const struct rs_generate_options *, struct rs_trace_writer *, json_t **ret_summary,
		 char **ret_warnings, GError **);
/* The same from a text in memory; name is for messages. */
bool rs_generate_text(const char *text, size_t size, const char *name,
		      const struct rs_generate_options *, struct rs_trace_writer *,
		      json_t **ret_summary, char **ret_warnings, GError **);

#endif
