/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * compare.c - rows of a comparison: values, differences from the base, what may be claimed.
 */
#include "tools/compare.h"
#include "tools/metric.h"

#include <math.h>
#include <string.h>

/* Below this many seeds nothing is starred. */
#define MIN_SEEDS 5u

static void row_free(void *data)
{
	struct row *row = data;

	g_free(row->name);
	g_free(row->present);
	g_free(row->values);
	g_free(row->difference);
	g_free(row->significant);
	g_free(row);
}

static struct row *row_new(const struct comparison *c, const char *name)
{
	struct row *row = g_new0(struct row, 1);

	row->name = g_strdup(name);
	row->label = row->name;
	row->scale = 1;
	row->integer = true;
	row->present = g_new0(bool, c->nr_columns);
	row->values = g_new0(double, c->nr_columns * c->nr_seeds);
	row->difference = g_new0(struct interval, c->nr_columns);
	row->significant = g_new0(bool, c->nr_columns);
	return row;
}

static void fill(const struct comparison *c, struct row *row)
{
	for (unsigned column = 0; column < c->nr_columns; column++) {
		row->present[column] = true;
		for (unsigned s = 0; s < c->nr_seeds; s++) {
			unsigned place = column * c->nr_seeds + s;
			struct metric metric;

			if (!metric_value(c->results[place], NULL, row->name, &metric)) {
				row->present[column] = false;
				continue;
			}
			row->integer = row->integer && metric.integer;
			row->values[place] = metric.value;
		}
	}
}

static bool is_empty(const struct comparison *c, const struct row *row)
{
	for (unsigned i = 0; i < c->nr_columns * c->nr_seeds; i++) {
		if (row->present[i / c->nr_seeds] && row->values[i] != 0)
			return false;
	}
	return true;
}

static struct row *add_row(struct comparison *c, const char *name, bool keep_empty)
{
	struct row *row = row_new(c, name);

	fill(c, row);
	if (!keep_empty && is_empty(c, row)) {
		row_free(row);
		return NULL;
	}
	if (!row->integer)
		row->decimals = 1;
	g_ptr_array_add(c->rows, row);
	return row;
}

/* A time in ns, printed in ms. */
static struct row *add_time_row(struct comparison *c, const char *name, const char *label)
{
	struct row *row = add_row(c, name, false);

	if (row) {
		row->label = label;
		row->scale = 1e6;
		row->decimals = 3;
		row->integer = false;
	}
	return row;
}

/* Who waits for what: time under pressure, and how long the slowest faults take. */
static void add_stall_rows(struct comparison *c)
{
	static const struct {
		const char *name, *label;
		double scale;
	} stalls[] = {
		{ "psi.some.total", "memory PSI some (ms)", 1e3 },
		{ "psi.full.total", "memory PSI full (ms)", 1e3 },
		{ "psi.io.some.total", "I/O PSI some (ms)", 1e3 },
		{ "latency.fault_major.p99_ns", "major fault p99 (us)", 1e3 },
	};

	for (unsigned i = 0; i < G_N_ELEMENTS(stalls); i++) {
		struct row *row = add_time_row(c, stalls[i].name, stalls[i].label);

		if (row)
			row->scale = stalls[i].scale;
	}
}

static void add_cost_rows(struct comparison *c)
{
	static const struct {
		const char *name, *label;
	} costs[] = {
#define RS_COST(id, name, def, cls, activity, doc) { "cost." activity, "cost." activity " (ms)" },
#include <reclaimsim/cost.def>
#undef RS_COST
	};
	GHashTable *done = g_hash_table_new(g_str_hash, g_str_equal);
	bool first = true;

	for (unsigned i = 0; i < G_N_ELEMENTS(costs); i++) {
		struct row *row;

		if (!g_hash_table_add(done, (char *)costs[i].name))
			continue;
		row = add_time_row(c, costs[i].name, costs[i].label);
		if (row)
			row->gap_before = first;
		first = first && !row;
	}
	g_hash_table_unref(done);
}

/*
 * Pages read against those of the clairvoyant bound, when that is one of the columns. pgpgin counts
 * what devices were asked for, so read() misses are in it as well as major faults.
 */
static void add_opt_row(struct comparison *c)
{
	struct row *row, *reads = row_new(c, "pgpgin");
	int bound = -1;

	for (unsigned i = 0; i < c->nr_columns; i++) {
		if (!strcmp(c->labels[i], "opt") || g_str_has_prefix(c->labels[i], "opt "))
			bound = (int)i;
	}
	fill(c, reads);
	if (bound >= 0 && c->nr_columns > 1 && reads->present[bound]) {
		row = row_new(c, "pgpgin/opt");
		row->label = "pages read / opt";
		row->integer = false;
		row->decimals = 2;
		for (unsigned i = 0; i < c->nr_columns * c->nr_seeds; i++) {
			double opt = reads->values[(unsigned)bound * c->nr_seeds + i % c->nr_seeds];

			row->present[i / c->nr_seeds] = reads->present[i / c->nr_seeds] && opt > 0;
			row->values[i] = opt > 0 ? reads->values[i] / opt : 0;
		}
		g_ptr_array_add(c->rows, row);
	}
	row_free(reads);
}

static void differences(const struct comparison *c, struct row *row)
{
	double *difference = g_new(double, c->nr_seeds);

	for (unsigned column = 1; column < c->nr_columns; column++) {
		if (!row->present[0] || !row->present[column])
			continue;
		for (unsigned s = 0; s < c->nr_seeds; s++)
			difference[s] = row->values[column * c->nr_seeds + s] - row->values[s];
		if (c->exact)
			row->difference[column].mean = difference[0];
		else
			row->difference[column] = stats_bootstrap(difference, c->nr_seeds);
	}
	g_free(difference);
}

/* Stars of one column: Holm over its rows, and an effect worth mentioning. */
static void judge_column(const struct comparison *c, unsigned column)
{
	double *p = g_new(double, c->rows->len + 1);
	bool *holds = g_new0(bool, c->rows->len + 1);

	for (guint r = 0; r < c->rows->len; r++) {
		const struct row *row = g_ptr_array_index(c->rows, r);

		p[r] = row->present[0] && row->present[column] ? row->difference[column].p : 1;
	}
	stats_holm(p, holds, c->rows->len, c->alpha);
	for (guint r = 0; r < c->rows->len; r++) {
		struct row *row = g_ptr_array_index(c->rows, r);
		double base = fabs(stats_mean(row->values, c->nr_seeds));

		row->significant[column] =
			c->nr_seeds >= MIN_SEEDS && holds[r] &&
			fabs(row->difference[column].mean) >= c->min_effect * base;
	}
	g_free(p);
	g_free(holds);
}

static bool all_seeds_equal(const struct comparison *c)
{
	for (unsigned column = 0; column < c->nr_columns; column++) {
		json_t *first = metric_snapshot(c->results[column * c->nr_seeds], NULL);

		for (unsigned s = 1; s < c->nr_seeds; s++) {
			if (!json_equal(first, metric_snapshot(c->results[column * c->nr_seeds + s],
							       NULL)))
				return false;
		}
	}
	return true;
}

struct comparison *comparison_new(unsigned nr_columns, unsigned nr_seeds, char **labels,
				  json_t **results, const char *counters, GError **error)
{
	struct comparison *c = g_new0(struct comparison, 1);
	GPtrArray *names = metric_select(results, nr_columns * nr_seeds, counters, error);

	c->nr_columns = nr_columns;
	c->nr_seeds = nr_seeds;
	c->labels = labels;
	c->results = results;
	c->alpha = 0.05;
	c->min_effect = 0.01;
	c->rows = g_ptr_array_new_with_free_func(row_free);
	if (!names) {
		comparison_free(c);
		return NULL;
	}
	c->exact = all_seeds_equal(c);
	for (guint i = 0; i < names->len; i++)
		add_row(c, g_ptr_array_index(names, i), counters != NULL);
	g_ptr_array_unref(names);
	add_opt_row(c);
	if (!counters) {
		struct row *time = add_time_row(c, "elapsed_ns", "simulated time (ms)");

		if (time)
			time->gap_before = true;
		add_time_row(c, "reclaim_cpu_ns", "reclaim CPU time (ms)");
		add_stall_rows(c);
		add_cost_rows(c);
	}
	for (guint r = 0; r < c->rows->len; r++)
		differences(c, g_ptr_array_index(c->rows, r));
	for (unsigned column = 1; column < nr_columns && !c->exact; column++)
		judge_column(c, column);
	return c;
}

void comparison_free(struct comparison *c)
{
	if (!c)
		return;
	for (unsigned i = 0; i < c->nr_columns * c->nr_seeds; i++)
		json_decref(c->results[i]);
	g_free(c->results);
	g_strfreev(c->labels);
	g_ptr_array_unref(c->rows);
	g_free(c);
}

/* "184,210" or "184,210 +-0.4%" (half of the 95 % interval of the mean, relative). */
char *comparison_value_text(const struct comparison *c, const struct row *row, unsigned column)
{
	const double *values = &row->values[column * c->nr_seeds];
	double mean = stats_mean(values, c->nr_seeds);
	struct interval interval;
	char *text, *full;

	if (!row->present[column])
		return g_strdup("-");
	text = row->integer ? format_count(llround(mean))
			    : g_strdup_printf("%.*f", (int)row->decimals, mean / row->scale);
	if (c->exact || mean == 0)
		return text;
	interval = stats_bootstrap(values, c->nr_seeds);
	full = g_strdup_printf("%s +-%.1f%%", text,
			       50.0 * (interval.high - interval.low) / fabs(mean));
	g_free(text);
	return full;
}

char *comparison_change_text(const struct comparison *c, const struct row *row, unsigned column)
{
	double base = stats_mean(row->values, c->nr_seeds);
	double other = stats_mean(&row->values[column * c->nr_seeds], c->nr_seeds);
	char *change, *text;

	if (!row->present[0] || !row->present[column])
		return g_strdup("");
	if (!c->exact && !row->significant[column])
		return g_strdup("~");
	change = format_change(base, other);
	if (c->exact)
		return change;
	text = g_strconcat(change, " *", NULL);
	g_free(change);
	return text;
}

void comparison_print(const struct comparison *c, enum table_format format, FILE *stream)
{
	struct table *table = table_new(2 * c->nr_columns);

	table_add(table, g_strdup(""));
	table_add(table, g_strdup(c->labels[0]));
	for (unsigned column = 1; column < c->nr_columns; column++) {
		table_add(table, g_strdup(c->labels[column]));
		table_add(table, g_strdup("change"));
	}
	for (guint r = 0; r < c->rows->len; r++) {
		const struct row *row = g_ptr_array_index(c->rows, r);

		if (row->gap_before)
			table_gap(table);
		table_add(table, g_strdup(row->label));
		table_add(table, comparison_value_text(c, row, 0));
		for (unsigned column = 1; column < c->nr_columns; column++) {
			table_add(table, comparison_value_text(c, row, column));
			table_add(table, comparison_change_text(c, row, column));
		}
	}
	table_print(table, format, stream);
	table_free(table);
}

static json_t *interval_json(const struct interval *interval)
{
	return json_pack("[f, f]", interval->low, interval->high);
}

static json_t *row_json(const struct comparison *c, const struct row *row)
{
	json_t *object = json_object(), *columns = json_array();

	for (unsigned column = 0; column < c->nr_columns; column++) {
		json_t *entry = json_object(), *values = json_array();

		for (unsigned s = 0; s < c->nr_seeds && row->present[column]; s++) {
			double value = row->values[column * c->nr_seeds + s];

			json_array_append_new(values, value == floor(value) && fabs(value) < 9e15
							      ? json_integer((json_int_t)value)
							      : json_real(value));
		}
		json_object_set_new(entry, "values", values);
		if (column && row->present[0] && row->present[column]) {
			json_object_set_new(entry, "difference",
					    json_real(row->difference[column].mean));
			if (!c->exact) {
				json_object_set_new(entry, "ci95",
						    interval_json(&row->difference[column]));
				json_object_set_new(entry, "p",
						    json_real(row->difference[column].p));
				json_object_set_new(entry, "significant",
						    json_boolean(row->significant[column]));
			}
		}
		json_array_append_new(columns, entry);
	}
	json_object_set_new(object, "name", json_string(row->name));
	json_object_set_new(object, "columns", columns);
	return object;
}

json_t *comparison_json(const struct comparison *c)
{
	json_t *object = json_object(), *labels = json_array(), *rows = json_array();
	json_t *results = json_array();

	for (unsigned column = 0; column < c->nr_columns; column++)
		json_array_append_new(labels, json_string(c->labels[column]));
	for (guint r = 0; r < c->rows->len; r++)
		json_array_append_new(rows, row_json(c, g_ptr_array_index(c->rows, r)));
	for (unsigned i = 0; i < c->nr_columns * c->nr_seeds; i++)
		json_array_append(results, c->results[i]);
	json_object_set_new(object, "schema", json_string("reclaimsim.compare/1"));
	json_object_set_new(object, "version", json_string(RS_VERSION));
	json_object_set_new(object, "columns", labels);
	json_object_set_new(object, "seeds", json_integer(c->nr_seeds));
	json_object_set_new(object, "exact", json_boolean(c->exact));
	json_object_set_new(object, "rows", rows);
	json_object_set_new(object, "results", results);
	return object;
}
