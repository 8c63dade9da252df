/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * mutation.c - mutations.json names, for each mechanism, the row that must fail without it and why;
 * each is run with and without.
 */
#include "mutation.h"

#include "compare.h"
#include "sim/base/json.h"

#include <inttypes.h>
#include <string.h>

static const char *text(const json_t *entry, const char *key)
{
	const char *value = json_string_value(json_object_get(entry, key));

	return value ? value : "";
}

/* The only case of the entry, in an array of its own. */
static GPtrArray *read_case(const json_t *entry, const char *data, GError **error)
{
	char *variants[] = { "base", NULL };
	struct truth_filter filter = { .variants = variants,
				       .trace = text(entry, "trace"),
				       .kernel = text(entry, "kernel"),
				       .lru = text(entry, "policy") };
	GPtrArray *cases = truth_read(data, &filter, error);

	for (guint i = cases ? cases->len : 0; i > 0; i--) {
		const struct truth_case *c = cases->pdata[i - 1];

		if (c->limit_pages != json_integer_value(json_object_get(entry, "limit_pages")) ||
		    c->swappiness != json_integer_value(json_object_get(entry, "swappiness")))
			g_ptr_array_remove_index(cases, i - 1);
	}
	if (cases && cases->len != 1) {
		g_set_error(error, RS_ERROR, RS_ERROR_INPUT, "mutation %s: %u cases instead of one",
			    text(entry, "mechanism"), cases->len);
		g_clear_pointer(&cases, g_ptr_array_unref);
	}
	return cases;
}

/* The row of the entry's counter at the end of one run; its badness is right up to 1. */
static bool run(const json_t *entry, const struct simulate_options *options, struct row *ret,
		GError **error)
{
	g_autoptr(GPtrArray) cases = read_case(entry, options->data, error);
	const struct truth_case *c;
	GArray *rows;
	bool found = false;

	if (!cases || !simulate_all(cases, options, error))
		return false;
	c = cases->pdata[0];
	rows = compare_rows(cases, rule_find("strict"));
	for (guint i = 0; i < rows->len && !found; i++) {
		*ret = g_array_index(rows, struct row, i);
		found = ret->at_end &&
			!strcmp(obs_counters[ret->counter].name, text(entry, "counter"));
	}
	g_array_unref(rows);
	if (!found)
		g_set_error(error, RS_ERROR, RS_ERROR_INPUT, "mutation %s: %s",
			    text(entry, "mechanism"), c->error ? c->error : "no such counter");
	return found;
}

static bool check_one(const json_t *entry, const struct simulate_options *options, FILE *stream,
		      GError **error)
{
	g_autofree char *disable = g_strconcat("model.disable=", text(entry, "mechanism"), NULL);
	char *settings[] = { disable, NULL };
	struct simulate_options without_it = *options;
	struct row with, without;
	bool noticed;

	without_it.settings = settings;
	if (!run(entry, options, &with, error) || !run(entry, &without_it, &without, error))
		return false;
	noticed = with.badness <= 1 && without.badness > 1;
	fprintf(stream, "%-17s %s %s %s %s: kernel %.1f, with %" PRId64 ", without %" PRId64 "%s\n",
		text(entry, "mechanism"), text(entry, "trace"), text(entry, "kernel"),
		text(entry, "policy"), text(entry, "counter"), with.kernel.mean, with.sim,
		without.sim,
		noticed		   ? ""
		: with.badness > 1 ? "  WRONG EVEN WITH IT"
				   : "  NOT NOTICED");
	return noticed;
}

bool mutation_check(const char *path, const struct simulate_options *options, FILE *stream,
		    GError **error)
{
	struct rs_json *json = rs_json_load(path, error);
	const json_t *entry;
	bool all = true;
	size_t i;

	if (!json)
		return false;
	json_array_foreach(json->root, i, entry)
	{
		all &= check_one(entry, options, stream, error);
		if (*error)
			break;
	}
	rs_json_free(json);
	return all && !*error;
}
