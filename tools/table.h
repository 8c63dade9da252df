/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * table.h - a table of texts, printed aligned, as Markdown or as CSV.
 */
#ifndef TOOLS_TABLE_H
#define TOOLS_TABLE_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum table_format { TABLE_TEXT, TABLE_MARKDOWN, TABLE_CSV };

struct table;
/* Columns; the first is left-aligned, the others right-aligned. */
struct table *table_new(unsigned nr_columns);
void table_free(struct table *table);
/* Next cell, from left to right, row after row; takes the text over. The first row is the head. */
void table_add(struct table *table, char *text);
/* Empty line (text), nothing elsewhere; between rows only. */
void table_gap(struct table *table);
void table_align_left(struct table *table, unsigned column);
void table_print(const struct table *table, enum table_format format, FILE *stream);

/* "1,234,567" */
char *format_count(int64_t value);
/* "-17.0%", "~0" as "0.0%", "+inf%" where the base is 0 and the other not. */
char *format_change(double base, double other);

#endif
