/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * format.c - provenance as bytes.
 */
#include "traces/format.h"

static void put_string(GByteArray *to, const char *text)
{
	size_t len = strlen(text);

	put_varint(to, len);
	g_byte_array_append(to, (const uint8_t *)text, len);
}

void format_put_provenance(GByteArray *to, const struct provenance *p, uint32_t first)
{
	put_varint(to, p->keys->len - first);
	for (uint32_t i = first; i < p->keys->len; i++) {
		put_string(to, g_ptr_array_index(p->keys, i));
		put_string(to, g_ptr_array_index(p->values, i));
	}
}

static char *get_string(struct cursor *c)
{
	uint64_t len;

	if (!get_varint(c, PROVENANCE_BYTES, &len) || len > (size_t)(c->end - c->at) ||
	    memchr(c->at, '\0', len))
		return NULL;
	c->at += len;
	return g_strndup((const char *)c->at - len, len);
}

bool format_get_provenance(struct cursor *c, struct provenance *p)
{
	uint64_t n;

	if (!get_varint(c, PROVENANCE_MAX, &n))
		return false;
	while (n--) {
		g_autofree char *key = get_string(c);
		g_autofree char *value = key ? get_string(c) : NULL;

		if (!value || provenance_get(p, key) || !provenance_set(p, key, value))
			return false;
	}
	return true;
}
