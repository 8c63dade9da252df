/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * verdict.h - what `check` found, and how it is told: text, TAP, Markdown, JUnit XML, JSON.
 */
#ifndef TOOLS_VERDICT_H
#define TOOLS_VERDICT_H

#include <glib.h>
#include <stdbool.h>
#include <stdio.h>

enum verdict_kind {
	VERDICT_PASS,
	VERDICT_IMPROVED, /* beyond the tolerance, the good way */
	VERDICT_FAIL,
	VERDICT_NEW,   /* nothing in the baseline to compare with */
	VERDICT_ERROR, /* could not be decided */
};

struct verdict {
	enum verdict_kind kind;
	char *scenario;
	char *what;   /* assertion, or COLUMN.COUNTER against the baseline */
	char *detail; /* "1,043, expected 1,000 +- 1.0% (+4.3%)" */
};

struct verdict *verdict_new(GPtrArray *verdicts, enum verdict_kind kind, const char *scenario,
			    const char *what, char *detail);
void verdict_free(void *verdict);
unsigned verdict_count(const GPtrArray *verdicts, enum verdict_kind kind);

enum verdict_format {
	VERDICTS_TEXT,
	VERDICTS_TAP,
	VERDICTS_MARKDOWN,
	VERDICTS_JUNIT,
	VERDICTS_JSON
};
extern bool verdicts_color; /* of VERDICTS_TEXT */
void verdicts_print(const GPtrArray *verdicts, const char *suite, enum verdict_format format,
		    FILE *stream);

#endif
