/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * test_plot.c - every kind of picture from small made-up results: it has data and axis labels, and
 * gnuplot has nothing to say about it (figure_draw() fails on any warning).
 */
#include "lib/cm.h"
#include "tools/plots.h"

#include <reclaimsim/types.h>

#include <glib/gstdio.h>
#include <unistd.h>

static char *folder;
static GError *error;

static int make_folder(void **state)
{
	/* Kept for a look when RS_KEEP_PLOTS names a folder. */
	const char *keep = g_getenv("RS_KEEP_PLOTS");

	folder = keep ? g_strdup(keep) : g_dir_make_tmp("rs-plot-XXXXXX", NULL);
	return 0;
}

static int remove_folder(void **state)
{
	char *command = g_strdup_printf("rm -rf '%s'", folder);
	int code = g_getenv("RS_KEEP_PLOTS") ? 0 : system(command);

	g_free(command);
	g_free(folder);
	return code;
}

static json_t *snapshot(const char *name, double t, int faults)
{
	return json_pack("{s:s, s:I, s:i, s:{s:i, s:i, s:i, s:i, s:i, s:i},"
			 " s:{s:i, s:i, s:i, s:i, s:i},"
			 " s:{s:{s:i}, s:{s:i}, s:{s:{s:i}, s:{s:i}}},"
			 " s:[[i,i,i,i],[i,i,i,i],[i,i,i,i],[i,i,i,i]]}",
			 "name", name, "time_ns", (json_int_t)(t * 1e9), "accesses", (int)(t * 1e5),
			 "vmstat_delta", "pgmajfault", faults, "pswpin", faults / 2, "pswpout",
			 faults / 3, "workingset_refault_anon", faults / 2,
			 "workingset_refault_file", faults / 4, "pgscan_anon", faults * 3,
			 "vmstat_now", "nr_free_pages", 20000 - (int)(t * 1500), "nr_inactive_anon",
			 3000, "nr_active_anon", (int)(2000 + t * 400), "nr_inactive_file", 5000,
			 "nr_active_file", 1000, "psi", "some", "total", (int)(t * t * 30000),
			 "full", "total", (int)(t * t * 10000), "io", "some", "total",
			 (int)(t * 60000), "full", "total", (int)(t * 20000), "lru_gen", 3, 900,
			 (int)(t * 300), 500, 4, 600, 2000, 900, 5, 300, 1500, (int)(400 + t * 100),
			 6, 10, 700, 50);
}

static json_t *result(const char *policy, int memory, int threads, int faults)
{
	json_t *json =
		json_pack("{s:s, s:{s:I}, s:[], s:{s:[]}, s:{s:{s:i, s:I}, s:{s:i, s:I}}}",
			  "policy", policy, "settings", "memory.max", (json_int_t)memory << 20,
			  "snapshots", "time", "per_thread", "locks", "mmap_lock", "acquired", 10,
			  "wait_ns", (json_int_t)threads * threads * 1000000, "lru_lock",
			  "acquired", 20, "wait_ns", (json_int_t)threads * 700000);

	assert_non_null(json);
	for (int i = 0; i < threads; i++)
		json_array_append_new(json_object_get(json_object_get(json, "time"), "per_thread"),
				      json_pack("{s:i}", "accesses", 1));
	for (int i = 1; i < 10; i++)
		json_array_append_new(json_object_get(json, "snapshots"),
				      snapshot(i < 9 ? "mark" : "end", i, faults * i / 9));
	return json;
}

static void add(GPtrArray *results, json_t *json)
{
	struct plot_result *entry = g_new0(struct plot_result, 1);

	entry->label = g_strdup(json_string_value(json_object_get(json, "policy")));
	entry->json = json;
	g_ptr_array_add(results, entry);
}

static GPtrArray *sweep(void)
{
	static const char *const policies[] = { "classic", "mglru", "it's `odd` _{x}" };
	GPtrArray *results = plot_input_new();

	for (int p = 0; p < 3; p++) {
		for (int m = 32; m <= 1024; m *= 2) {
			for (int seed = 0; seed < 5; seed++)
				add(results,
				    result(policies[p], m, m / 16,
					   (4000000 / m) * (10 - p) / 10 + seed * 3000 * (p + 1)));
		}
	}
	return results;
}

/* Draw as PNG, SVG and text; the script must label both axes, the data must not be empty. */
static void draw(const char *name, struct figure *figure)
{
	static const char *const suffixes[] = { "png", "svg", "txt" };

	assert_no_error(error);
	assert_non_null(figure);
	assert_non_null(strstr(figure->script->str, "set xlabel '"));
	assert_non_null(strstr(figure->script->str, "set ylabel '"));
	assert_true(figure->data->len > 20);
	for (unsigned i = 0; i < G_N_ELEMENTS(suffixes); i++) {
		char *path = g_strdup_printf("%s/%s.%s", folder, name, suffixes[i]);
		struct figure_options options = { .output = path };
		char *bytes = NULL;
		gsize size;

		figure_draw(figure, &options, &error);
		assert_no_error(error);
		assert_true(g_file_get_contents(path, &bytes, &size, NULL));
		assert_true(size > 500);
		g_free(bytes);
		g_free(path);
	}
	figure_free(figure);
}

static void a_curve_has_a_line_and_a_band_for_each_policy(void **state)
{
	struct plot_options options = { .title = "made up: it's `echo hi` _{x}" };
	GPtrArray *results = sweep();
	struct figure *figure = plot_curve(results, &options, &error);

	assert_non_null(strstr(figure->script->str, "filledcurves"));
	assert_non_null(strstr(figure->script->str, "'it''s `odd` _{x}'"));
	draw("curve", figure);
	g_ptr_array_unref(results);
}

static void bars_are_shares_of_the_first_policy(void **state)
{
	struct plot_options options = { 0 };
	GPtrArray *results = plot_input_new();

	for (int seed = 0; seed < 5; seed++) {
		add(results, result("classic", 64, 1, 10000 + seed * 300));
		add(results, result("mglru", 64, 1, 8000 + seed * 200));
		add(results, result("opt", 64, 1, 5000));
	}
	draw("bars", plot_bars(results, &options, &error));
	options.counter = "pgmajfault";
	draw("bars-one", plot_bars(results, &options, &error));
	g_ptr_array_unref(results);
}

static void series_and_generations_run_over_time(void **state)
{
	struct plot_options options = { 0 };
	GPtrArray *results = plot_input_new();

	add(results, result("mglru", 64, 1, 90000));
	draw("series", plot_series(results, &options, &error));
	draw("generations", plot_generations(results, &options, &error));
	g_ptr_array_unref(results);
}

static void a_run_without_refaults_or_stalls_can_be_drawn(void **state)
{
	struct plot_options options = { 0 };
	GPtrArray *results = plot_input_new();
	json_t *calm = result("mglru", 64, 1, 0), *point;
	size_t i;

	json_array_foreach(json_object_get(calm, "snapshots"), i, point)
	{
		json_object_del(point, "psi");
		json_object_del(point, "accesses");
	}
	add(results, calm);
	draw("calm", plot_series(results, &options, &error));
	g_ptr_array_unref(results);
}

static void lock_waits_stand_against_threads(void **state)
{
	struct plot_options options = { 0 };
	GPtrArray *results = sweep();

	g_ptr_array_set_size(results, 60); /* two policies */
	draw("locks", plot_locks(results, &options, &error));
	g_ptr_array_unref(results);
}

static void a_heat_map_shows_the_accesses_of_a_trace(void **state)
{
	char *path = g_build_filename(folder, "heat.trace", NULL);
	struct plot_options options = { 0 };
	GString *text = g_string_new("region heap anon 2000\nfile log 1000\n");

	for (unsigned i = 0; i < 20000; i++) {
		g_string_append_printf(text, "s heap %u\n", (i * i / 7) % (200 + i / 12));
		if (i % 10 == 0)
			g_string_append_printf(text, "r log %u 1\n", i / 20);
	}
	assert_true(g_file_set_contents(path, text->str, -1, NULL));
	draw("heatmap", plot_heatmap(path, &options, &error));
	g_string_free(text, TRUE);
	g_unlink(path);
	g_free(path);
}

static void gnuplot_warnings_and_missing_data_are_errors(void **state)
{
	char *path = g_strdup_printf("%s/bad.png", folder);
	struct figure_options options = { .output = path };
	struct plot_options plot = { .counter = "nosuch" };
	struct figure *figure = figure_new(100, 100);
	GPtrArray *results = sweep();

	g_string_assign(figure->script, "plot 'plot.dat'\n");
	assert_false(figure_draw(figure, &options, &error));
	assert_error(&error, "gnuplot: ");
	assert_int_not_equal(access(path, F_OK), 0);
	options.output = "x.webp";
	assert_false(figure_draw(figure, &options, &error));
	assert_error(&error, "ends in .png");
	assert_null(plot_curve(results, &plot, &error));
	assert_error(&error, "a counter nosuch");
	assert_null(plot_series(results, &plot, &error));
	assert_error(&error, "takes one result");
	figure_free(figure);
	g_ptr_array_unref(results);
	g_free(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_curve_has_a_line_and_a_band_for_each_policy),
		cmocka_unit_test(bars_are_shares_of_the_first_policy),
		cmocka_unit_test(series_and_generations_run_over_time),
		cmocka_unit_test(a_run_without_refaults_or_stalls_can_be_drawn),
		cmocka_unit_test(lock_waits_stand_against_threads),
		cmocka_unit_test(a_heat_map_shows_the_accesses_of_a_trace),
		cmocka_unit_test(gnuplot_warnings_and_missing_data_are_errors),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
