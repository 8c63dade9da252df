/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * table.c - tables for terminals, mails, Markdown and spreadsheets.
 */
#include "tools/table.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#define MAX_COLUMNS 64u

struct table {
	unsigned nr_columns;
	bool left[MAX_COLUMNS];
	GPtrArray *cells;
	GArray *gaps; /* guint: a gap before this row */
};

struct table *table_new(unsigned nr_columns)
{
	struct table *table = g_new0(struct table, 1);

	table->nr_columns = MIN(nr_columns, MAX_COLUMNS);
	table->left[0] = true;
	table->cells = g_ptr_array_new_with_free_func(g_free);
	table->gaps = g_array_new(FALSE, FALSE, sizeof(guint));
	return table;
}

void table_free(struct table *table)
{
	g_ptr_array_unref(table->cells);
	g_array_unref(table->gaps);
	g_free(table);
}

void table_add(struct table *table, char *text)
{
	g_ptr_array_add(table->cells, text);
}

void table_gap(struct table *table)
{
	guint row = table->cells->len / table->nr_columns;

	g_array_append_val(table->gaps, row);
}

void table_align_left(struct table *table, unsigned column)
{
	table->left[column] = true;
}

static bool gap_before(const struct table *table, guint row)
{
	for (guint i = 0; i < table->gaps->len; i++) {
		if (g_array_index(table->gaps, guint, i) == row)
			return true;
	}
	return false;
}

static const char *cell(const struct table *table, guint row, unsigned column)
{
	return g_ptr_array_index(table->cells, row * table->nr_columns + column);
}

/* Columns on a screen; names are UTF-8. */
static unsigned width_of(const char *text)
{
	return (unsigned)g_utf8_strlen(text, -1);
}

static void print_text(const struct table *table, guint nr_rows, FILE *stream)
{
	unsigned width[MAX_COLUMNS] = { 0 };

	for (guint row = 0; row < nr_rows; row++) {
		for (unsigned c = 0; c < table->nr_columns; c++)
			width[c] = MAX(width[c], width_of(cell(table, row, c)));
	}
	for (guint row = 0; row < nr_rows; row++) {
		GString *line = g_string_new(NULL);

		if (gap_before(table, row))
			fputc('\n', stream);
		for (unsigned c = 0; c < table->nr_columns; c++) {
			const char *text = cell(table, row, c);
			unsigned pad = width[c] - width_of(text);

			if (c)
				g_string_append(line, "  ");
			if (!table->left[c])
				g_string_append_printf(line, "%*s", (int)pad, "");
			g_string_append(line, text);
			if (table->left[c])
				g_string_append_printf(line, "%*s", (int)pad, "");
		}
		while (line->len && line->str[line->len - 1] == ' ')
			g_string_truncate(line, line->len - 1);
		fprintf(stream, "%s\n", line->str);
		g_string_free(line, TRUE);
	}
}

/* | and ` would end a cell or begin code. */
static void print_escaped(const char *text, FILE *stream)
{
	for (; *text; text++) {
		if (strchr("|`\\*_", *text))
			fputc('\\', stream);
		fputc(*text == '\n' ? ' ' : *text, stream);
	}
}

static void print_markdown(const struct table *table, guint nr_rows, FILE *stream)
{
	for (guint row = 0; row < nr_rows; row++) {
		for (unsigned c = 0; c < table->nr_columns; c++) {
			fputs("| ", stream);
			print_escaped(cell(table, row, c), stream);
			fputc(' ', stream);
		}
		fputs("|\n", stream);
		if (row > 0)
			continue;
		for (unsigned c = 0; c < table->nr_columns; c++)
			fputs(table->left[c] ? "| :-- " : "| --: ", stream);
		fputs("|\n", stream);
	}
}

static void print_csv(const struct table *table, guint nr_rows, FILE *stream)
{
	for (guint row = 0; row < nr_rows; row++) {
		for (unsigned c = 0; c < table->nr_columns; c++) {
			const char *text = cell(table, row, c);
			bool quote = strpbrk(text, ",\"\n\r") != NULL;

			fputs(c ? "," : "", stream);
			if (quote)
				fputc('"', stream);
			for (; *text; text++) {
				if (*text == '"')
					fputc('"', stream);
				fputc(*text, stream);
			}
			if (quote)
				fputc('"', stream);
		}
		fputc('\n', stream);
	}
}

void table_print(const struct table *table, enum table_format format, FILE *stream)
{
	guint nr_rows = table->cells->len / table->nr_columns;

	if (format == TABLE_MARKDOWN)
		print_markdown(table, nr_rows, stream);
	else if (format == TABLE_CSV)
		print_csv(table, nr_rows, stream);
	else
		print_text(table, nr_rows, stream);
}

char *format_count(int64_t value)
{
	char digits[32];
	GString *text = g_string_new(NULL);
	size_t length;

	g_snprintf(digits, sizeof(digits), "%" PRId64, value);
	length = strlen(digits);
	for (size_t i = 0; i < length; i++) {
		size_t rest = length - i;

		if (i && rest % 3 == 0 && digits[i - 1] != '-')
			g_string_append_c(text, ',');
		g_string_append_c(text, digits[i]);
	}
	return g_string_free(text, FALSE);
}

char *format_change(double base, double other)
{
	double change;

	if (base == other)
		return g_strdup("0.0%");
	if (base == 0)
		return g_strdup("new");
	change = 100.0 * (other - base) / fabs(base);
	if (fabs(change) >= 1000)
		return g_strdup_printf("x%.1f", other / base);
	return g_strdup_printf("%+.1f%%", change);
}
