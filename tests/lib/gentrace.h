/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gentrace.h - generate a trace from a text and read it back, for tests.
 */
#ifndef TESTS_LIB_GENTRACE_H
#define TESTS_LIB_GENTRACE_H

#include "lib/cm.h"

#include <glib/gstdio.h>
#include <reclaimsim/generate.h>
#include <reclaimsim/policy.h>
#include <unistd.h>

struct gentrace {
	char *path;
	json_t *summary;
	char *warnings;
	GArray *records;	/* struct rs_record, maps appended to maps */
	GArray *maps;		/* struct rs_map */
	struct rs_trace *trace; /* read to the end, for names */
};

static inline bool generate_to(const char *path, const char *text, const char *const *with,
			       json_t **summary, char **warnings, GError **error)
{
	struct rs_generate_options options = { .with = with };
	struct rs_trace_writer *out = rs_trace_create(path, RS_TRACE_NATIVE, error);

	if (!out)
		return false;
	if (!rs_generate_text(text, strlen(text), "spec", &options, out, summary, warnings,
			      error)) {
		rs_trace_writer_abort(out);
		return false;
	}
	return rs_trace_writer_close(out, error);
}

/* The message of the failure that a text leads to; g_free(). */
static inline char *generate_error(const char *text, const char *const *with)
{
	struct rs_generate_options options = { .with = with };
	GError *error = NULL;
	char *message;

	if (rs_generate_text(text, strlen(text), "spec", &options, NULL, NULL, NULL, &error))
		fail_msg("no error from:\n%s", text);
	assert_int_equal(error->domain, RS_ERROR);
	message = g_strdup(error->message);
	g_error_free(error);
	return message;
}

static inline void assert_generate_error(const char *text, const char *part)
{
	g_autofree char *message = generate_error(text, NULL);

	if (!strstr(message, part))
		fail_msg("error \"%s\" does not contain \"%s\"", message, part);
}

static inline struct gentrace *gentrace_with(const char *text, const char *const *with)
{
	struct gentrace *t = g_new0(struct gentrace, 1);
	struct rs_batch batch;
	GError *error = NULL;
	int fd = g_file_open_tmp("gentrace-XXXXXX", &t->path, NULL), got;

	close(fd);
	if (!generate_to(t->path, text, with, &t->summary, &t->warnings, &error))
		fail_msg("unexpected error: %s", error->message);
	t->records = g_array_new(FALSE, FALSE, sizeof(struct rs_record));
	t->maps = g_array_new(FALSE, FALSE, sizeof(struct rs_map));
	t->trace = rs_trace_open(t->path, &error);
	assert_no_error(error);
	while ((got = rs_trace_next(t->trace, &batch, &error)) == 1) {
		for (uint32_t i = 0; i < batch.nr_records; i++) {
			struct rs_record r = batch.records[i];

			if (r.op == RS_OP_MMAP) {
				g_array_append_val(t->maps, batch.maps[r.value]);
				r.value = t->maps->len - 1;
			}
			g_array_append_val(t->records, r);
		}
	}
	assert_no_error(error);
	assert_int_equal(got, 0);
	return t;
}

static inline struct gentrace *gentrace(const char *text)
{
	return gentrace_with(text, NULL);
}

static inline const struct rs_record *gentrace_at(const struct gentrace *t, unsigned i)
{
	return &g_array_index(t->records, struct rs_record, i);
}

static inline uint64_t gentrace_count(const struct gentrace *t, enum rs_op op)
{
	uint64_t n = 0;

	for (unsigned i = 0; i < t->records->len; i++)
		n += gentrace_at(t, i)->op == op;
	return n;
}

/* Pages of all records of an operation. */
static inline uint64_t gentrace_pages(const struct gentrace *t, enum rs_op op)
{
	uint64_t n = 0;

	for (unsigned i = 0; i < t->records->len; i++)
		n += gentrace_at(t, i)->op == op ? gentrace_at(t, i)->count : 0;
	return n;
}

static inline int64_t gentrace_int(const struct gentrace *t, const char *key)
{
	json_t *v = json_object_get(t->summary, key);

	assert_true(json_is_integer(v));
	return json_integer_value(v);
}

static inline void gentrace_free(struct gentrace *t)
{
	g_unlink(t->path);
	g_free(t->path);
	g_free(t->warnings);
	json_decref(t->summary);
	g_array_unref(t->records);
	g_array_unref(t->maps);
	rs_trace_free(t->trace);
	g_free(t);
}

#endif
