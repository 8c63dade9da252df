/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * trace_copy.c - translation of object numbers by name, remembered by number.
 */
#include "tools/trace_copy.h"

void trace_copy_init(struct trace_copy *c, struct rs_trace *from, struct rs_trace_writer *to)
{
	*c = (struct trace_copy){ .from = from, .to = to };
	for (int i = 0; i <= RS_NAME_PROCESS; i++)
		c->number[i] = g_array_new(FALSE, TRUE, sizeof(uint32_t));
}

void trace_copy_done(struct trace_copy *c)
{
	for (int i = 0; i <= RS_NAME_PROCESS; i++)
		g_array_free(c->number[i], TRUE);
}

static char *prefixed(const struct trace_copy *c, enum rs_name_kind kind, const char *name)
{
	const char *prefix = NULL;

	if (kind == RS_NAME_FILE)
		prefix = c->file_prefix;
	else if (kind != RS_NAME_MEMCG)
		prefix = c->prefix;
	return g_strconcat(prefix ? prefix : "", name, NULL);
}

uint32_t trace_copy_number(struct trace_copy *c, enum rs_name_kind kind, uint32_t id)
{
	if (id >= c->number[kind]->len)
		g_array_set_size(c->number[kind], id + 1);
	uint32_t *number = &g_array_index(c->number[kind], uint32_t, id);
	if (!*number) {
		g_autofree char *name = prefixed(c, kind, rs_trace_name(c->from, kind, id));

		*number = rs_trace_intern(c->to, kind, name) + 1;
	}
	return *number - 1;
}

void trace_copy_translate(struct trace_copy *c, struct rs_record *r, struct rs_map *map)
{
	int kind = rs_record_object_kind(r->op);

	if (kind >= 0)
		r->object = trace_copy_number(c, kind, r->object);
	if (r->op == RS_OP_THREAD || r->op == RS_OP_FORK)
		r->arg = trace_copy_number(c, RS_NAME_PROCESS, r->arg);
	if (map && map->file != RS_MAP_FILE_NONE)
		map->file = trace_copy_number(c, RS_NAME_FILE, map->file);
}

bool trace_copy_record(struct trace_copy *c, const struct rs_batch *batch, uint32_t i,
		       GError **error)
{
	struct rs_record r = batch->records[i];
	struct rs_map map;

	if (r.op != RS_OP_MMAP) {
		trace_copy_translate(c, &r, NULL);
		return rs_trace_put(c->to, &r, NULL, error);
	}
	map = batch->maps[r.value];
	trace_copy_translate(c, &r, &map);
	return rs_trace_put(c->to, &r, &map, error);
}

void trace_copy_provenance(struct trace_copy *c, bool all)
{
	uint32_t nr = all ? UINT32_MAX : rs_trace_nr_head_provenance(c->from);
	const char *key;

	for (; c->nr_provenance < nr; c->nr_provenance++) {
		key = rs_trace_provenance_key(c->from, c->nr_provenance);
		if (!key)
			break;
		rs_trace_set_provenance(c->to, key, rs_trace_provenance(c->from, key));
	}
}
