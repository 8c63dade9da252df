/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * provenance.c - a short ordered list of keys and values.
 */
#include "traces/provenance.h"

#include <string.h>

void provenance_init(struct provenance *p)
{
	p->keys = g_ptr_array_new_with_free_func(g_free);
	p->values = g_ptr_array_new_with_free_func(g_free);
}

void provenance_done(struct provenance *p)
{
	g_clear_pointer(&p->keys, g_ptr_array_unref);
	g_clear_pointer(&p->values, g_ptr_array_unref);
}

static bool find(const struct provenance *p, const char *key, guint *ret)
{
	return g_ptr_array_find_with_equal_func(p->keys, key, g_str_equal, ret);
}

bool provenance_set(struct provenance *p, const char *key, const char *value)
{
	guint at;

	if (!*key || strlen(key) > PROVENANCE_BYTES || strlen(value) > PROVENANCE_BYTES)
		return false;
	if (find(p, key, &at)) {
		g_free(p->values->pdata[at]);
		p->values->pdata[at] = g_strdup(value);
		return true;
	}
	if (p->keys->len >= PROVENANCE_MAX)
		return false;
	g_ptr_array_add(p->keys, g_strdup(key));
	g_ptr_array_add(p->values, g_strdup(value));
	return true;
}

const char *provenance_get(const struct provenance *p, const char *key)
{
	guint at;

	return find(p, key, &at) ? g_ptr_array_index(p->values, at) : NULL;
}
