/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * test_sweep.c - specs, plans, the identity of cells. Running them is tests/sweep.
 */
#include "lib/cm.h"
#include "sim/base/config.h"
#include "tools/sweep.h"

#include <glib/gstdio.h>

static char *folder;
static GError *error;

static int make_folder(void **state)
{
	char *trace;

	folder = g_dir_make_tmp("rs-sweep-XXXXXX", NULL);
	trace = g_build_filename(folder, "a.trace", NULL);
	g_file_set_contents(trace, "region a anon 4\ns a 0\ns a 1\ns a 2\ns a 3\n", -1, NULL);
	g_free(trace);
	return 0;
}

static int remove_folder(void **state)
{
	char *command = g_strdup_printf("rm -rf '%s'", folder);
	int code = system(command);

	g_free(command);
	g_free(folder);
	return code;
}

static struct sweep_plan *plan(const char *text)
{
	char *path = g_build_filename(folder, "spec.json", NULL);
	struct sweep_plan *result;

	assert_true(g_file_set_contents(path, text, -1, NULL));
	result = sweep_plan_from_spec(path, &error);
	g_free(path);
	return result;
}

#define SPEC(more)                                                                                 \
	"{\"sweep\": \"s\", \"traces\": [\"a.trace\"],\n\"policies\": [\"classic\", "              \
	"\"mglru\"]" more "}"

static struct sweep_cell cell(const struct sweep_plan *p, uint64_t index)
{
	struct sweep_cell result;

	if (!sweep_cell_init(p, index, &result, &error))
		fail_msg("%s", error->message);
	return result;
}

static void the_cells_are_the_product_of_the_axes(void **state)
{
	struct sweep_plan *p = plan(SPEC(", \"axes\": {\"memory\": \"64M..512M*2\",\n"
					 "\"vm.swappiness\": [10, 60, 100]}, \"seeds\": 5"));
	struct sweep_cell c;

	assert_no_error(error);
	assert_int_equal(p->nr_cells, 2 * 4 * 3 * 5);
	c = cell(p, 0);
	assert_string_equal(c.policy, "classic");
	assert_int_equal(rs_scenario_config(c.scenario)->memcgs[0].max, 64 << 20);
	assert_int_equal(rs_scenario_config(c.scenario)->seed, 1);
	sweep_cell_clear(&c);
	c = cell(p, 119); /* the last one: every axis at its end */
	assert_string_equal(c.policy, "mglru");
	assert_int_equal(rs_scenario_config(c.scenario)->memcgs[0].max, 512 << 20);
	assert_int_equal(rs_scenario_config(c.scenario)->swappiness, 100);
	assert_int_equal(rs_scenario_config(c.scenario)->seed, 5);
	sweep_cell_clear(&c);
	sweep_plan_free(p);
}

static void ids_differ_and_say_what_decides_the_result(void **state)
{
	struct sweep_plan *p = plan(SPEC(", \"axes\": {\"memory.max\": [\"64M\", \"128M\"]}"));
	struct sweep_plan *q = plan(SPEC(", \"axes\": {\"memory.max\": [\"65536K\"]}"));
	struct sweep_cell a = cell(p, 0), b = cell(p, 1), c = cell(p, 2), d = cell(q, 0);

	assert_string_not_equal(a.id, b.id);
	assert_string_not_equal(a.id, c.id);
	/* The same limit in other words is the same cell. */
	assert_string_equal(a.id, d.id);
	sweep_cell_clear(&a);
	sweep_cell_clear(&b);
	sweep_cell_clear(&c);
	sweep_cell_clear(&d);
	sweep_plan_free(p);
	sweep_plan_free(q);
}

static void ranges_are_geometric_or_linear(void **state)
{
	struct sweep_plan *p = plan(SPEC(", \"axes\": {\"memory\": \"1000p..3000p+1000p\","
					 "\"vm.swappiness\": \"0..200+50\"}"));
	const struct sweep_axis *memory, *swappiness;

	assert_no_error(error);
	memory = g_ptr_array_index(p->axes, 2);
	swappiness = g_ptr_array_index(p->axes, 3);
	assert_int_equal(memory->values->len, 3);
	assert_string_equal(g_ptr_array_index(memory->values, 2), "3000p");
	assert_int_equal(swappiness->values->len, 5);
	assert_string_equal(g_ptr_array_index(swappiness->values, 4), "200");
	sweep_plan_free(p);
}

/* The trace of 4 pages, as the plan's file and a cell's setting show. */
static void shares_are_of_each_traces_footprint(void **state)
{
	struct sweep_plan *p = plan(SPEC(", \"axes\": {\"memory\": \"25%..75%+25%\"}")), *read;
	char *dir = g_build_filename(folder, "shares", NULL), *settings;
	struct sweep_cell cell;

	assert_no_error(error);
	assert_true(sweep_plan_save(p, dir, &error));
	read = sweep_plan_load(dir, &error);
	assert_no_error(error);
	assert_true(sweep_cell_init(read, 2, &cell, &error));
	settings = rs_scenario_settings_json(cell.scenario);
	assert_non_null(strstr(settings, "\"memory.max\":12288,"));
	g_free(settings);
	sweep_cell_clear(&cell);
	sweep_plan_free(p);
	sweep_plan_free(read);
	g_free(dir);
}

static void plans_read_back_and_refuse_another_folder(void **state)
{
	struct sweep_plan *p = plan(SPEC(", \"set\": {\"swap\": \"null\"}, \"seeds\": [3, 9]"));
	struct sweep_plan *other = plan(SPEC(", \"seeds\": [3]")), *read;
	char *dir = g_build_filename(folder, "sweep", NULL);
	struct sweep_cell a, b;

	assert_true(sweep_plan_save(p, dir, &error));
	assert_true(sweep_plan_save(p, dir, &error));
	assert_false(sweep_plan_save(other, dir, &error));
	assert_error(&error, "holds another sweep");
	read = sweep_plan_load(dir, &error);
	assert_no_error(error);
	assert_int_equal(read->nr_cells, p->nr_cells);
	for (uint64_t i = 0; i < p->nr_cells; i++) {
		a = cell(p, i);
		b = cell(read, i);
		assert_string_equal(a.id, b.id);
		sweep_cell_clear(&a);
		sweep_cell_clear(&b);
	}
	sweep_plan_free(p);
	sweep_plan_free(other);
	sweep_plan_free(read);
	g_free(dir);
}

static void a_cell_is_done_only_when_its_result_is_whole(void **state)
{
	char *path = sweep_cell_path(folder, "abcdef", "json");
	char *parent = g_path_get_dirname(path);

	g_mkdir_with_parents(parent, 0777);
	assert_false(sweep_cell_done(folder, "abcdef"));
	g_file_set_contents(path, "{\"a\": 1", -1, NULL);
	assert_false(sweep_cell_done(folder, "abcdef"));
	g_file_set_contents(path, "{\"a\": 1}\n", -1, NULL);
	assert_true(sweep_cell_done(folder, "abcdef"));
	g_free(parent);
	g_free(path);
}

static void mistakes_in_specs_have_their_place(void **state)
{
	static const struct {
		const char *text, *part;
	} table[] = {
		{ "{}", "spec.json:1:1: a sweep is an object" },
		{ SPEC(", \"axis\": {}"), "spec.json:2:35: unknown member \"axis\"" },
		{ SPEC(", \"axes\": {\"memory.mx\": [1]}"),
		  ":2:44: unknown setting \"memory.mx\"" },
		{ SPEC(", \"axes\": {\"vm.swappiness\": [10, 999]}"), "999 is out of range" },
		{ SPEC(", \"axes\": {\"memory\": \"1G..64M*2\"}"), "a range is A..B*FACTOR" },
		{ SPEC(", \"axes\": {\"memory\": [\"x%\"]}"), "a share of the footprint" },
		{ SPEC(", \"axes\": {\"swap.size\": [\"50%\"]}"), "unknown unit" },
		{ SPEC(", \"axes\": {\"memory\": \"64M..1G*1\"}"), "a range is A..B*FACTOR" },
		{ SPEC(", \"axes\": {\"memory\": \"0..1G*2\"}"), "a range is A..B*FACTOR" },
		{ SPEC(", \"axes\": {\"memory\": \"0..1T+1\"}"), "more than 100000 values" },
		{ SPEC(", \"axes\": {\"memory\": []}"), "a list of values" },
		{ SPEC(", \"axes\": {\"memory\": [1, 1]}"), "stands there twice" },
		{ SPEC(", \"seeds\": 0"), "\"seeds\" is 1 to" },
		{ SPEC(", \"set\": {\"swap\": []}"), "swap: a string or an integer" },
		{ "{\"sweep\": \"s\", \"traces\": [\"nosuch\"], \"policies\": [\"a\"]}",
		  "cannot read" },
		{ SPEC(", \"axes\": {\"cost.hit\": \"0..9999+1\", \"think_ns\": \"0..9999+1\"}"),
		  "more than 10000000 cells" },
	};

	for (unsigned i = 0; i < G_N_ELEMENTS(table); i++) {
		assert_null(plan(table[i].text));
		assert_error(&error, table[i].part);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_cells_are_the_product_of_the_axes),
		cmocka_unit_test(ids_differ_and_say_what_decides_the_result),
		cmocka_unit_test(ranges_are_geometric_or_linear),
		cmocka_unit_test(shares_are_of_each_traces_footprint),
		cmocka_unit_test(plans_read_back_and_refuse_another_folder),
		cmocka_unit_test(a_cell_is_done_only_when_its_result_is_whole),
		cmocka_unit_test(mistakes_in_specs_have_their_place),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
