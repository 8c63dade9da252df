/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * names.c - dense numbers for names. Names live in one string chunk, so a million of them cost
 * little more than their bytes.
 */
#include "traces/names.h"

void names_init(struct names *n)
{
	n->ids = g_hash_table_new(g_str_hash, g_str_equal);
	n->names = g_ptr_array_new();
	n->chunk = g_string_chunk_new(4096);
}

void names_done(struct names *n)
{
	if (!n->ids)
		return;
	g_hash_table_destroy(n->ids);
	g_ptr_array_free(n->names, TRUE);
	g_string_chunk_free(n->chunk);
	n->ids = NULL;
}

uint32_t names_find(const struct names *n, const char *name)
{
	return GPOINTER_TO_UINT(g_hash_table_lookup(n->ids, name)) - 1;
}

uint32_t names_add(struct names *n, const char *name)
{
	uint32_t id = names_find(n, name);

	if (id != NAME_NONE)
		return id;
	id = n->names->len;
	char *own = g_string_chunk_insert(n->chunk, name);
	g_ptr_array_add(n->names, own);
	g_hash_table_insert(n->ids, own, GUINT_TO_POINTER(id + 1));
	return id;
}

void names_truncate(struct names *n, uint32_t nr)
{
	while (n->names->len > nr) {
		guint last = n->names->len - 1;

		g_hash_table_remove(n->ids, g_ptr_array_index(n->names, last));
		g_ptr_array_set_size(n->names, last);
	}
}

const char *names_get(const struct names *n, uint32_t id)
{
	return id < n->names->len ? g_ptr_array_index(n->names, id) : NULL;
}
