/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gnuplot.c - running gnuplot on a script and its data.
 */
#include "tools/gnuplot.h"

#include <errno.h>
#include <glib/gstdio.h>
#include <reclaimsim/types.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct figure *figure_new(unsigned width, unsigned height)
{
	struct figure *figure = g_new0(struct figure, 1);

	figure->script = g_string_new(NULL);
	figure->data = g_string_new(NULL);
	figure->width = width;
	figure->height = height;
	return figure;
}

void figure_free(struct figure *figure)
{
	if (!figure)
		return;
	g_string_free(figure->script, TRUE);
	g_string_free(figure->data, TRUE);
	g_free(figure);
}

char *figure_quote(const char *text)
{
	GString *quoted = g_string_new("'");

	for (; *text; text++) {
		if (*text == '\'')
			g_string_append_c(quoted, '\'');
		g_string_append_c(quoted, (unsigned char)*text < 0x20 ? ' ' : *text);
	}
	g_string_append_c(quoted, '\'');
	return g_string_free(quoted, FALSE);
}

/* Okabe and Ito's colours, dark ones first. */
static const char *const colours[] = { "#0072B2", "#D55E00", "#009E73", "#CC79A7",
				       "#E69F00", "#56B4E9", "#000000", "#777777" };
static const unsigned points[] = { 7, 5, 9, 13, 6, 4, 8, 12 };

char *figure_line_style(unsigned i)
{
	unsigned n = G_N_ELEMENTS(colours);

	return g_strdup_printf("lc rgb '%s' dt %u lw 2 pt %u ps 0.9", colours[i % n], 1 + i % 5,
			       points[i % n]);
}

void figure_end_block(struct figure *figure)
{
	g_string_append(figure->data, "\n\n");
}

static const char *terminal_for(const struct figure_options *options, GError **error)
{
	static const struct {
		const char *suffix, *terminal;
	} table[] = {
		{ ".png", "pngcairo noenhanced font 'DejaVu Sans,11' background rgb 'white'" },
		{ ".svg", "svg noenhanced font 'DejaVu Sans,13' background rgb 'white'" },
		{ ".pdf", "pdfcairo noenhanced font 'DejaVu Sans,11'" },
		{ ".txt", "dumb noenhanced" },
	};

	for (unsigned i = 0; i < G_N_ELEMENTS(table); i++) {
		if (options->terminal ? !strcmp(options->terminal, table[i].suffix + 1) ||
						(i == 3 && !strcmp(options->terminal, "dumb"))
				      : g_str_has_suffix(options->output, table[i].suffix))
			return table[i].terminal;
	}
	g_set_error(error, RS_ERROR, RS_ERROR_USAGE,
		    "%s: the name of a picture ends in .png, .svg, .pdf or .txt", options->output);
	return NULL;
}

/* Pixels; inches for PDF; characters for text. */
static char *size_for(const struct figure *figure, const char *terminal)
{
	if (g_str_has_prefix(terminal, "pdf"))
		return g_strdup_printf("size %.1fin,%.1fin", figure->width / 100.0,
				       figure->height / 100.0);
	/* One screen of text, and more of them for what is drawn on top of each other. */
	if (g_str_has_prefix(terminal, "dumb"))
		return g_strdup_printf("size 79,%u", MAX(24, figure->height / 15));
	return g_strdup_printf("size %u,%u", figure->width, figure->height);
}

static char *full_script(const struct figure *figure, const struct figure_options *options,
			 const char *picture, GError **error)
{
	const char *terminal = terminal_for(options, error);
	char *prologue = NULL, *size, *name, *text;

	if (!terminal)
		return NULL;
	if (options->prologue && !g_file_get_contents(options->prologue, &prologue, NULL, error)) {
		g_prefix_error(error, "--gnuplot-prologue: ");
		return NULL;
	}
	size = size_for(figure, terminal);
	name = figure_quote(picture);
	text = g_strdup_printf("set terminal %s %s\nset output %s\n%s%s", terminal, size, name,
			       prologue ? prologue : "", figure->script->str);
	g_free(name);
	g_free(size);
	g_free(prologue);
	return text;
}

static bool run_gnuplot(const char *folder, GError **error)
{
	char *argv[] = { (char *)"gnuplot", (char *)"plot.gp", NULL };
	char *err = NULL;
	GError *problem = NULL;
	int status = 0;
	bool ok;

	if (!g_spawn_sync(folder, argv, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, NULL, &err, &status,
			  &problem)) {
		bool missing = g_error_matches(problem, G_SPAWN_ERROR, G_SPAWN_ERROR_NOENT);

		g_set_error(error, RS_ERROR, RS_ERROR_USAGE, "gnuplot: %s%s", problem->message,
			    missing ? " (Debian package gnuplot-nox; --data-only needs none)" : "");
		g_error_free(problem);
		return false;
	}
	g_strstrip(err);
	ok = WIFEXITED(status) && WEXITSTATUS(status) == 0 && !*err;
	if (!ok)
		g_set_error(error, RS_ERROR, RS_ERROR_STALLED, "gnuplot: %s",
			    *err ? g_strdelimit(err, "\n", ' ') : "failed");
	g_free(err);
	return ok;
}

/* Across file systems too; the target appears whole. */
static bool move_file(const char *from, const char *to, GError **error)
{
	char *bytes = NULL;
	gsize size;
	GError *problem = NULL;
	bool ok = g_file_get_contents(from, &bytes, &size, &problem);

	if (ok && g_file_test(to, G_FILE_TEST_EXISTS) && !g_file_test(to, G_FILE_TEST_IS_REGULAR)) {
		FILE *stream = fopen(to, "wb");

		ok = stream && fwrite(bytes, 1, size, stream) == size && fclose(stream) == 0;
	} else if (ok) {
		ok = g_file_set_contents(to, bytes, (gssize)size, &problem);
	}
	if (!ok)
		g_set_error(error, RS_ERROR, RS_ERROR_OUTPUT, "cannot write %s: %s", to,
			    problem ? problem->message : g_strerror(errno));
	g_clear_error(&problem);
	g_free(bytes);
	return ok;
}

static bool write_text(const char *folder, const char *name, const char *text, GError **error)
{
	char *path = g_build_filename(folder, name, NULL);
	bool ok = g_file_set_contents(path, text, -1, error);

	g_free(path);
	return ok;
}

static void remove_folder(const char *folder)
{
	static const char *const names[] = { "plot.gp", "plot.dat", "picture" };

	for (unsigned i = 0; i < G_N_ELEMENTS(names); i++) {
		char *path = g_build_filename(folder, names[i], NULL);

		g_unlink(path);
		g_free(path);
	}
	g_rmdir(folder);
}

static bool keep_files(const struct figure *figure, const struct figure_options *options,
		       GError **error)
{
	char *base = g_path_get_basename(options->output);
	char *script = full_script(figure, options, base, error);
	bool ok = script != NULL;

	if (ok && g_mkdir_with_parents(options->keep, 0777) != 0) {
		g_set_error(error, RS_ERROR, RS_ERROR_OUTPUT, "cannot make %s: %s", options->keep,
			    g_strerror(errno));
		ok = false;
	}
	ok = ok && write_text(options->keep, "plot.gp", script, error) &&
	     write_text(options->keep, "plot.dat", figure->data->str, error);
	g_free(script);
	g_free(base);
	return ok;
}

bool figure_draw(const struct figure *figure, const struct figure_options *options, GError **error)
{
	char *folder, *picture, *script;
	bool ok;

	if (options->keep && !keep_files(figure, options, error))
		return false;
	if (options->data_only)
		return true;
	script = full_script(figure, options, "picture", error);
	if (!script)
		return false;
	folder = g_dir_make_tmp("reclaimsim-plot-XXXXXX", error);
	if (!folder) {
		g_free(script);
		return false;
	}
	picture = g_build_filename(folder, "picture", NULL);
	ok = write_text(folder, "plot.gp", script, error) &&
	     write_text(folder, "plot.dat", figure->data->str, error) &&
	     run_gnuplot(folder, error) && move_file(picture, options->output, error);
	remove_folder(folder);
	g_free(picture);
	g_free(folder);
	g_free(script);
	return ok;
}
