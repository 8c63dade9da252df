/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gnuplot.h - a picture as a script and its data, drawn by gnuplot.
 *
 * Texts from traces and users reach gnuplot only in single quotes (in double quotes it would run
 * what stands between back-quotes), and with enhanced text off.
 */
#ifndef TOOLS_GNUPLOT_H
#define TOOLS_GNUPLOT_H

#include <glib.h>
#include <stdbool.h>

struct figure {
	GString *script;	/* gnuplot commands, without terminal and output */
	GString *data;		/* becomes plot.dat; blocks are parted by two empty lines */
	unsigned width, height; /* pixels */
};

struct figure_options {
	const char *output;   /* .png, .svg, .pdf, .txt */
	const char *terminal; /* NULL: by the name of output; "dumb" */
	const char *keep;     /* folder for plot.gp and plot.dat; NULL: none */
	const char *prologue; /* file of gnuplot commands to put first; NULL: none */
	bool data_only;	      /* write script and data, draw nothing */
};

struct figure *figure_new(unsigned width, unsigned height);
void figure_free(struct figure *figure);
/* 'text' with quotes doubled; g_free(). */
char *figure_quote(const char *text);
/* Colour, dash and point of line i: three marks, so that no line depends on colour alone. */
char *figure_line_style(unsigned i);
/* End the present block of data. */
void figure_end_block(struct figure *figure);
/* Draw. gnuplot's warnings are errors: a picture with a warning is a wrong picture. */
bool figure_draw(const struct figure *figure, const struct figure_options *options, GError **error);

#endif
