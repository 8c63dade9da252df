/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * print.c - rows, worst first, and the verdict below them.
 */
#include "print.h"

#include "tools/table.h"

#include <string.h>

char *print_case_name(const struct truth_case *c)
{
	g_autofree char *variant =
		strcmp(c->variant, "base") ? g_strconcat(c->variant, " ", NULL) : g_strdup("");

	return g_strdup_printf("%s%s %s %s %" G_GINT64_FORMAT "p %" G_GINT64_FORMAT, variant,
			       c->trace, c->kernel, c->lru, c->limit_pages, c->swappiness);
}

static void add_head(struct table *table, const char *const *names)
{
	for (; *names; names++)
		table_add(table, g_strdup(*names));
}

static void add_row(struct table *table, const struct row *row)
{
	table_add(table, print_case_name(row->c));
	table_add(table, g_strdup(row->snapshot));
	table_add(table, g_strdup(obs_counters[row->counter].name));
	table_add(table, g_strdup_printf("%.1f", row->kernel.mean));
	table_add(table, g_strdup_printf("%.1f", row->kernel.half_range));
	table_add(table, format_count(row->sim));
	table_add(table, format_change(row->kernel.mean, row->sim));
	table_add(table, g_strdup_printf("%.2f", row->badness));
	table_add(table, g_strdup(row->badness <= 1 ? "" : "off"));
}

void print_rows(const GArray *rows, guint show, FILE *stream)
{
	static const char *const head[] = { "case",	 "at",	  "counter",	"kernel", "+-",
					    "simulator", "error", "of allowed", "",	  NULL };
	struct table *table = table_new(9);

	table_align_left(table, 1);
	table_align_left(table, 2);
	add_head(table, head);
	for (guint i = 0; i < MIN(show, rows->len); i++)
		add_row(table, &g_array_index(rows, struct row, i));
	table_print(table, TABLE_TEXT, stream);
	table_free(table);
}

static void add_difference(struct table *table, const struct difference_row *row)
{
	table_add(table, print_case_name(row->other));
	table_add(table, g_strdup(obs_counters[row->counter].name));
	table_add(table, g_strdup_printf("%+.1f", row->kernel));
	table_add(table, g_strdup_printf("%.1f", row->spread));
	table_add(table, g_strdup_printf("%+.1f", row->sim));
	table_add(table, g_strdup(row->sign_wrong ? "sign" : "size"));
}

void print_differences(const GArray *differences, const struct rule *rule, guint show, FILE *stream)
{
	static const char *const head[] = { "policy against its baseline, per cent",
					    "counter",
					    "kernel",
					    "+-",
					    "simulator",
					    "wrong",
					    NULL };
	struct table *table = table_new(6);
	unsigned signs = 0, sizes = 0;

	table_align_left(table, 1);
	add_head(table, head);
	for (guint i = 0; i < differences->len; i++) {
		const struct difference_row *row =
			&g_array_index(differences, struct difference_row, i);

		signs += row->sign_wrong;
		sizes += row->size_wrong;
		if ((row->sign_wrong || row->size_wrong) && signs + sizes <= show)
			add_difference(table, row);
	}
	if (signs + sizes) {
		fputc('\n', stream);
		table_print(table, TABLE_TEXT, stream);
	}
	table_free(table);
	fprintf(stream, "\n%u differences of policies over %g %%: %u with a wrong sign",
		differences->len, rule->difference_percent, signs);
	if (rule->difference_points)
		fprintf(stream, ", %u off by more than %g points (%.1f %% right)", sizes,
			rule->difference_points,
			100.0 * (differences->len - sizes) / MAX(differences->len, 1));
	fputc('\n', stream);
}

void print_verdict(const char *title, const GArray *tallies, FILE *stream)
{
	static const char *const head[] = { "",		"group", "values", "right",
					    "per cent", "asked", "",	   NULL };
	struct table *table = table_new(7);

	table_align_left(table, 1);
	add_head(table, head);
	for (guint i = 0; i < tallies->len; i++) {
		const struct tally *tally = &g_array_index(tallies, struct tally, i);

		table_add(table, g_strdup(tally->tolerance->title));
		table_add(table, g_strdup(tally->group));
		table_add(table, g_strdup_printf("%u", tally->nr));
		table_add(table, g_strdup_printf("%u", tally->right));
		table_add(table, g_strdup_printf("%.1f", 100.0 * tally->right / tally->nr));
		table_add(table,
			  tally->need > 0 ? g_strdup_printf("%g", tally->need) : g_strdup(""));
		table_add(table, g_strdup(tally->enough ? "" : "TOO FEW"));
	}
	fprintf(stream, "\n%s\n", title);
	table_print(table, TABLE_TEXT, stream);
	table_free(table);
}

void print_failures(const GPtrArray *cases, FILE *stream)
{
	for (guint i = 0; i < cases->len; i++) {
		const struct truth_case *c = cases->pdata[i];
		g_autofree char *name = print_case_name(c);

		if (!c->sim)
			fprintf(stream, "fidelity: %s: %s\n", name,
				c->error ? c->error : "not run");
	}
}
