/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * trace.c - reading of traces: tells the format from the content and hands out batches.
 */
#include "traces/trace_internal.h"

#include <string.h>

struct rs_trace *rs_trace_open(const char *path, GError **error)
{
	struct rs_trace *t = g_new0(struct rs_trace, 1);
	const uint8_t *first;

	state_init(&t->state);
	digest_init(&t->digest);
	provenance_init(&t->provenance);
	t->records = g_new(struct rs_record, BATCH_RECORDS);
	t->maps = g_array_new(FALSE, FALSE, sizeof(struct rs_map));
	t->map_places = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	t->in = input_open(path, error);
	int n = t->in ? input_peek(t->in, &first, error) : -1;
	if (n >= 0 && native_magic(first, n))
		t->native = native_open(t, error);
	else if (n >= 0)
		t->text = text_open(t, error);
	if (t->native || t->text)
		return t;
	rs_trace_free(t);
	return NULL;
}

/* The records of a batch enter the digest with a value of 0, then get their index. */
static void number_maps(struct rs_trace *t)
{
	digest_add(&t->digest, t->records, t->nr_records, (void *)t->maps->data, t->maps->len);
	for (uint32_t i = 0; i < t->map_places->len; i++)
		t->records[g_array_index(t->map_places, uint32_t, i)].value = i;
}

int rs_trace_next(struct rs_trace *t, struct rs_batch *ret, GError **error)
{
	if (t->hex)
		return 0;
	if (t->failed) {
		g_set_error(error, RS_ERROR, RS_ERROR_INPUT, "%s: read after an error",
			    input_name(t->in));
		return -1;
	}
	t->nr_records = 0;
	g_array_set_size(t->maps, 0);
	g_array_set_size(t->map_places, 0);
	int r = t->native ? native_next(t, error) : text_next(t, error);
	t->failed = r < 0;
	if (r == 0 && !t->hex)
		t->hex = digest_finish(&t->digest, &t->state);
	if (r <= 0)
		return r;
	number_maps(t);
	*ret = (struct rs_batch){ t->records, t->nr_records, (void *)t->maps->data, t->maps->len,
				  t->line };
	return 1;
}

const char *rs_trace_name(const struct rs_trace *t, enum rs_name_kind kind, uint32_t id)
{
	return kind < NR_NAME_KINDS ? names_get(&t->state.names[kind], id) : NULL;
}

const char *rs_trace_digest(const struct rs_trace *t)
{
	return t->hex;
}

const char *rs_trace_provenance(const struct rs_trace *t, const char *key)
{
	return provenance_get(&t->provenance, key);
}

const char *rs_trace_provenance_key(const struct rs_trace *t, uint32_t i)
{
	return i < t->provenance.keys->len ? g_ptr_array_index(t->provenance.keys, i) : NULL;
}

uint32_t rs_trace_nr_head_provenance(const struct rs_trace *t)
{
	return t->nr_head_provenance;
}

bool rs_trace_is_native(const struct rs_trace *t)
{
	return t->native;
}

uint64_t rs_trace_nr_skipped(const struct rs_trace *t, uint64_t *ret_first_line)
{
	*ret_first_line = t->first_skipped;
	return t->nr_skipped;
}

void rs_trace_free(struct rs_trace *t)
{
	if (!t)
		return;
	text_free(t->text);
	native_free(t->native);
	input_free(t->in);
	state_done(&t->state);
	digest_done(&t->digest);
	provenance_done(&t->provenance);
	g_array_free(t->maps, TRUE);
	g_array_free(t->map_places, TRUE);
	g_free(t->records);
	g_free(t->hex);
	g_free(t);
}
