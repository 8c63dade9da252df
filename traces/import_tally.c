/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * import_tally.c - counts by name: actions, events, commands, devices.
 *
 * The number of tally is bounded; what comes later is counted under "(other)".
 */
#include "traces/import.h"

#include <string.h>

#define TALLY_MAX 4096u
#define TALLY_MAX_LENGTH 256u

struct tally {
	GHashTable *table; /* char * -> uint64_t * */
	char last[TALLY_MAX_LENGTH];
	size_t last_n;
	uint64_t *last_count;
};

struct tally *tally_new(void)
{
	struct tally *tally = g_new0(struct tally, 1);

	tally->table = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
	return tally;
}

void tally_free(struct tally *tally)
{
	if (!tally)
		return;
	g_hash_table_destroy(tally->table);
	g_free(tally);
}

/* JSON strings must be UTF-8 without NUL. */
static char *printable(const char *name, size_t n)
{
	char *text = g_strndup(name, n);
	char *valid = g_utf8_make_valid(text, -1);

	g_free(text);
	return valid;
}

uint64_t *tally_at(struct tally *tally, const char *name, size_t n)
{
	uint64_t *count;
	char *key;

	if (n >= TALLY_MAX_LENGTH)
		n = TALLY_MAX_LENGTH - 1;
	if (tally->last_count && n == tally->last_n && !memcmp(tally->last, name, n))
		return tally->last_count;
	key = printable(name, n);
	count = g_hash_table_lookup(tally->table, key);
	if (!count) {
		if (g_hash_table_size(tally->table) >= TALLY_MAX) {
			g_free(key);
			key = g_strdup("(other)");
			count = g_hash_table_lookup(tally->table, key);
		}
		if (!count) {
			count = g_new0(uint64_t, 1);
			g_hash_table_insert(tally->table, g_strdup(key), count);
		}
	}
	g_free(key);
	memcpy(tally->last, name, n);
	tally->last_n = n;
	tally->last_count = count;
	return count;
}

unsigned tally_size(const struct tally *tally)
{
	return g_hash_table_size(tally->table);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static char **sorted(const struct tally *tally)
{
	guint n;
	char **keys = (char **)g_hash_table_get_keys_as_array(tally->table, &n);

	qsort(keys, n, sizeof(*keys), by_name);
	return keys;
}

json_t *tally_object(const struct tally *tally)
{
	json_t *object = json_object();
	char **keys = sorted(tally);

	for (unsigned i = 0; keys[i]; i++) {
		uint64_t *count = g_hash_table_lookup(tally->table, keys[i]);

		json_object_set_new(object, keys[i], json_integer((json_int_t)*count));
	}
	g_free(keys);
	return object;
}

json_t *tally_array(const struct tally *tally)
{
	json_t *array = json_array();
	char **keys = sorted(tally);

	for (unsigned i = 0; keys[i]; i++)
		json_array_append_new(array, json_string(keys[i]));
	g_free(keys);
	return array;
}
