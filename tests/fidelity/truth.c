/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * truth.c - reads result files as the harness writes them, plain or compressed.
 */
#include "truth.h"

#include "sim/base/json.h"
#include "unpack.h"

#include <string.h>

static void case_free(gpointer data)
{
	struct truth_case *c = data;

	g_free(c->key);
	g_free(c->trace);
	g_free(c->kernel);
	g_free(c->lru);
	g_free(c->variant);
	g_free(c->swap);
	g_free(c->disk);
	g_free(c->error);
	json_decref(c->zones);
	g_ptr_array_unref(c->repeats);
	g_clear_pointer(&c->sim, g_array_unref);
	g_clear_pointer(&c->phases, g_ptr_array_unref);
	g_free(c);
}

static const char *text(const json_t *run, const char *key)
{
	const char *value = json_string_value(json_object_get(run, key));

	return value ? value : "";
}

/* "6.12.113+deb12-cloud-amd64" is modelled as kernel 6.12. */
static char *model_of(const char *release)
{
	const char *end = strchr(release, '.');

	end = end ? end + 1 + strspn(end + 1, "0123456789") : release + strlen(release);
	return g_strndup(release, end - release);
}

/* The results call the RAM disk "ram"; the setting is "null" (contract, section 5). */
static char *device_of(const char *name)
{
	return g_strdup(!strcmp(name, "ram") ? "null" : name);
}

/* Runs with page-table walks off stand among the base runs as a policy; here they are a variant. */
static const char *variant_of(const json_t *run)
{
	bool base = !strcmp(text(run, "variant"), "base");

	return base && !strcmp(text(run, "lru"), "mglru1") ? "mglru1" : text(run, "variant");
}

static struct truth_case *case_new(const json_t *run)
{
	struct truth_case *c = g_new0(struct truth_case, 1);

	c->trace = g_strdup(text(run, "trace"));
	c->kernel = model_of(text(run, "kernel"));
	c->lru = g_strdup(text(run, "lru"));
	c->variant = g_strdup(variant_of(run));
	c->memcg_mode = !strcmp(text(run, "mode"), "memcg");
	c->limit_pages = json_integer_value(json_object_get(run, "limit_pages"));
	c->swappiness = json_integer_value(json_object_get(run, "swappiness"));
	c->page_cluster = json_integer_value(json_object_get(run, "page_cluster"));
	c->ra_kb = json_integer_value(json_object_get(run, "ra_kb"));
	c->fault_around = json_integer_value(json_object_get(run, "fault_around"));
	c->mem_mb = json_integer_value(json_object_get(run, "mem_mb"));
	c->swap = device_of(text(run, "swap"));
	c->disk = device_of(text(run, "fs"));
	c->zones = json_incref(json_object_get(run, "zones_start"));
	c->repeats = g_ptr_array_new_with_free_func((GDestroyNotify)g_array_unref);
	c->key = g_strdup_printf("%s/%s/%s/%s/%" G_GINT64_FORMAT "/%" G_GINT64_FORMAT "/%s/%s",
				 c->variant, c->trace, c->kernel, c->lru, c->limit_pages,
				 c->swappiness, c->swap, c->disk);
	return c;
}

/* What the model does not have: kernel memory in groups, and other handling of accessed bits. */
static bool is_modelled(const char *variant)
{
	static const char *const left_out[] = { "kmem", "pti-off", "tlbflush", NULL };

	return !g_strv_contains(left_out, variant);
}

static bool passes(const struct truth_case *c, const struct truth_filter *filter)
{
	if (filter->variants ? !g_strv_contains((const char *const *)filter->variants, c->variant)
			     : !is_modelled(c->variant))
		return false;
	if (filter->trace && !g_pattern_match_simple(filter->trace, c->trace))
		return false;
	if (filter->kernel && !g_pattern_match_simple(filter->kernel, c->kernel))
		return false;
	return !filter->lru || g_pattern_match_simple(filter->lru, c->lru);
}

static void add_run(const json_t *run, const struct truth_filter *filter, GHashTable *by_key)
{
	struct truth_case *c = case_new(run);
	struct truth_case *known = g_hash_table_lookup(by_key, c->key);

	if (!passes(c, filter)) {
		case_free(c);
		return;
	}
	if (known) {
		case_free(c);
		c = known;
	} else {
		g_hash_table_insert(by_key, c->key, c);
	}
	g_ptr_array_add(c->repeats, obs_read(json_object_get(run, "snapshots"), c->memcg_mode));
}

static bool read_file(const char *path, const struct truth_filter *filter, GHashTable *by_key,
		      GError **error)
{
	g_autofree char *data = NULL;
	json_error_t where;
	size_t length, i;
	json_t *root, *run;

	data = unpack_file(path, &length, error);
	if (!data)
		return false;
	root = json_loadb(data, length, 0, &where);
	if (!root) {
		g_set_error(error, RS_ERROR, RS_ERROR_INPUT, "%s:%d: %s", path, where.line,
			    where.text);
		return false;
	}
	json_array_foreach(json_object_get(root, "runs"), i, run) add_run(run, filter, by_key);
	json_decref(root);
	return true;
}

static int by_key_order(gconstpointer a, gconstpointer b)
{
	const struct truth_case *const *x = a, *const *y = b;

	return strcmp((*x)->key, (*y)->key);
}

GPtrArray *truth_read(const char *dir, const struct truth_filter *filter, GError **error)
{
	g_autofree char *folder = g_build_filename(dir, "results", NULL);
	g_autoptr(GHashTable) by_key = g_hash_table_new(g_str_hash, g_str_equal);
	GPtrArray *cases = g_ptr_array_new_with_free_func(case_free);
	GDir *files = g_dir_open(folder, 0, error);
	GHashTableIter iter;
	const char *name;
	gpointer c;
	bool ok = files;

	while (ok && (name = g_dir_read_name(files))) {
		g_autofree char *path = g_build_filename(folder, name, NULL);

		if (g_str_has_suffix(name, ".json") || g_str_has_suffix(name, ".json.zst"))
			ok = read_file(path, filter, by_key, error);
	}
	if (files)
		g_dir_close(files);
	g_hash_table_iter_init(&iter, by_key);
	while (g_hash_table_iter_next(&iter, NULL, &c))
		g_ptr_array_add(cases, c);
	g_ptr_array_sort(cases, by_key_order);
	if (ok)
		return cases;
	g_ptr_array_unref(cases);
	return NULL;
}

const struct truth_case *truth_partner(const GPtrArray *cases, const struct truth_case *of,
				       const char *variant, const char *lru)
{
	for (guint i = 0; i < cases->len; i++) {
		const struct truth_case *c = cases->pdata[i];

		if (!strcmp(c->trace, of->trace) && !strcmp(c->kernel, of->kernel) &&
		    !strcmp(c->variant, variant) && !strcmp(c->lru, lru) &&
		    c->limit_pages == of->limit_pages && c->swappiness == of->swappiness)
			return c;
	}
	return NULL;
}
