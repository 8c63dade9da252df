/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * test_trace_commands.c - "reclaimsim trace" convert, cat, cut, merge, scale, info: each run in a
 * process of its own, since options are static.
 */
#include "lib/cm.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/trace_file.h"
#include "tools/tools.h"

extern const struct rs_command cmd_trace;
const struct rs_command *const rs_commands[] = { &cmd_trace, NULL };

static char *last_error; /* what the last command said on standard error */

static char *contents(const char *path)
{
	char *text;

	assert_true(g_file_get_contents(path, &text, NULL, NULL));
	return text;
}

/* Run "reclaimsim trace ..." (words, %s = paths); what it printed, or NULL with *ret_code != 0. */
static char *run(int *ret_code, const char *format, ...) G_GNUC_PRINTF(2, 3);
static char *run(int *ret_code, const char *format, ...)
{
	char *out = trace_file_name(), *err = trace_file_name(), *text;
	va_list args;
	int status;

	va_start(args, format);
	g_autofree char *line = g_strdup_vprintf(format, args);
	va_end(args);
	g_autofree char *all = g_strchomp(g_strconcat("reclaimsim trace ", line, NULL));
	g_auto(GStrv) argv = g_strsplit(all, " ", -1);
	fflush(NULL);
	pid_t pid = fork();
	if (!pid) {
		if (!freopen(out, "w", stdout) || !freopen(err, "w", stderr))
			_exit(99);
		int code = command_dispatch(rs_commands, "", g_strv_length(argv), argv);

		fflush(NULL);
		_exit(code);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	*ret_code = WEXITSTATUS(status);
	text = contents(out);
	g_free(last_error);
	last_error = contents(err);
	trace_file_remove(out);
	trace_file_remove(err);
	return text;
}

/* The command fails with 2 and one line that has the part. */
static void assert_run_refused(const char *line, const char *part)
{
	int code;
	g_autofree char *out = run(&code, "%s", line);

	assert_int_equal(code, 2);
	assert_string_equal(out, "");
	if (!strstr(last_error, part))
		fail_msg("\"%s\" says \"%s\"", line, last_error);
	assert_ptr_equal(strchr(last_error, '\n'), last_error + strlen(last_error) - 1);
}

static const char family[] =
	"region heap anon 100\nfile f 50\ns heap 0 4\nr f 0 2\nfork 7\nt 7\ns heap 1\nw f 49 3\n"
	"time 1000\nm half\nregion own anon 8\ns own 0 8\nr f 50 1\ntime 3000\nl heap 2\nt 0\n"
	"wait 7\nt 7\nu own\nexit\nt 0\nl heap 3\n";

/* line holds one %s for the trace. */
static char *run_on(const char *trace, const char *before, const char *after)
{
	char *path = trace_file_text(trace);
	int code;
	char *out = run(&code, "%s %s %s", before, path, after);

	if (code)
		fail_msg("%s %s: exit code %d: %s", before, after, code, last_error);
	trace_file_remove(path);
	return out;
}

static void convert_goes_both_ways(void **state)
{
	g_autofree char *text = run_on(family, "convert --to text", "-");
	char *path = trace_file_text(family), *native = trace_file_name();
	int code;

	assert_string_equal(text, family);
	g_free(run(&code, "convert %s %s", path, native));
	assert_int_equal(code, 0);
	g_autofree char *back = run(&code, "convert %s -", native);
	assert_string_equal(back, family);
	trace_file_remove(path);
	trace_file_remove(native);
}

static void bad_use_is_told_in_one_line(void **state)
{
	assert_run_refused("convert", "valid is: reclaimsim trace convert IN OUT");
	assert_run_refused("convert /nonexistent /dev/null", "/nonexistent: cannot open");
	assert_run_refused("convert " RS_SOURCE_DIR
			   "/tests/data/traces/all_operations.trace /dev/null --to csv",
			   "--to csv is unknown; valid are native and text");
	assert_run_refused("convert " RS_SOURCE_DIR
			   "/tests/data/traces/all_operations.trace /dev/full",
			   "No space left");
	assert_run_refused("cat x --from -1", "--from -1: valid is a whole number");
	assert_run_refused("cut x y --from 5 --to 5", "--to must be behind --from");
	assert_run_refused("cut " RS_SOURCE_DIR
			   "/tests/data/traces/all_operations.trace /dev/null --from 999",
			   "--from 999 is behind the end of the trace, which has 60 records");
	assert_run_refused("scale x y", "--factor F");
	assert_run_refused("scale x y --factor 0.5", "--factor 0.5: valid are 1 to 1000000");
	assert_run_refused("scale x y --factor 2.5.5", "--factor 2.5.5: valid are");
	assert_run_refused("merge x", "valid is: reclaimsim trace merge TRACE... -o OUT");
	assert_run_refused("merge x -o y --by chance", "--by chance: valid are turns and time");
	assert_run_refused("info x --sample 0", "--sample 0: valid are");
	assert_run_refused("peek", "unknown command");
}

static void cat_chooses_records(void **state)
{
	g_autofree char *all = run_on(family, "cat", ""), *file = run_on(family, "cat", "--file f");
	g_autofree char *thread = run_on(family, "cat", "--thread 7 --region heap");
	g_autofree char *range = run_on(family, "cat", "--from 2 --to 4");
	g_autofree char *time =
		run_on(family, "cat", "--from-time 1000 --to-time 3000 --process 7");

	assert_string_equal(all, family);
	assert_string_equal(file, "file f 50\nr f 0 2\nw f 49 3\nr f 50 1\n");
	assert_string_equal(thread, "s heap 1\nl heap 2\n");
	assert_string_equal(range, "s heap 0 4\nr f 0 2\n");
	assert_string_equal(time, "time 1000\nm half\nregion own anon 8\ns own 0 8\nr f 50 1\n");
}

static void a_cut_keeps_what_its_records_need(void **state)
{
	g_autofree char *cut = run_on(family, "cut --text --from 11 --to 17", "-");

	/* The file is as long as the write before made it, times begin with the part, and the
	 * thread that is waited for ends with it. */
	assert_string_equal(
		cut, "region heap anon 100\nfile f 50\nfork 7\nt 7\nfile f 52\nregion own anon 8\n"
		     "s own 0 8\nr f 50 1\ntime 2000\nl heap 2\nt 0\nwait 7\nt 7\nexit\n");
	g_autofree char *again = run_on(cut, "cut --text", "-");
	assert_string_equal(again, cut);
}

static void merged_traces_are_processes_side_by_side(void **state)
{
	char *a = trace_file_text("region r anon 4\nfile f 9\ns r 0\nr f 0 1\nm end\n");
	char *b = trace_file_text("file f 5\nr f 1 1\nr f 2 1\n");
	int code;
	g_autofree char *own = run(&code, "merge %s %s -o - --text --turn 2", a, b);

	assert_int_equal(code, 0);
	assert_string_equal(
		own, "t 1:0\nregion 1:r anon 4\nfile 1:f 9\nt 2:0\nfile 2:f 5\nr 2:f 1 1\nt 1:0\n"
		     "s 1:r 0\nr 1:f 0 1\nt 2:0\nr 2:f 2 1\nt 1:0\nm 1:end\n");
	g_autofree char *shared =
		run(&code, "merge %s %s -o - --text --turn 9 --share-files", a, b);
	assert_string_equal(shared,
			    "t 1:0\nregion 1:r anon 4\nfile f 9\ns 1:r 0\nr f 0 1\nm 1:end\nt 2:0\n"
			    "r f 1 1\nr f 2 1\n");
	trace_file_remove(a);
	trace_file_remove(b);
}

static void traces_merge_by_time(void **state)
{
	char *a = trace_file_text("file f 9\ntime 10\nr f 1 1\ntime 30\nr f 3 1\n");
	char *b = trace_file_text("file f 9\ntime 20\nr f 2 1\ntime 40\nr f 4 1\n");
	int code;
	g_autofree char *text = run(&code, "merge %s %s -o - --text --by time --share-files", a, b);

	assert_int_equal(code, 0);
	int order[] = { 1, 2, 3, 4 };
	const char *at = text;
	for (size_t i = 0; i < G_N_ELEMENTS(order); i++) {
		g_autofree char *read = g_strdup_printf("r f %d 1\n", order[i]);

		at = strstr(at, read);
		assert_non_null(at);
	}
	trace_file_remove(a);
	trace_file_remove(b);
}

static void forks_of_merged_traces_keep_apart(void **state)
{
	char *a = trace_file_text(family);
	int code;
	g_autofree char *text = run(&code, "merge %s %s -o - --text --turn 1", a, a);

	assert_int_equal(code, 0);
	char *merged = trace_file_text(text);
	g_autofree char *again = NULL;
	GError *error = NULL;
	assert_true(trace_file_read(merged, NULL, &again, &error));
	assert_string_equal(text, again);
	trace_file_remove(a);
	trace_file_remove(merged);
}

static void scaling_keeps_one_of_so_many_pages(void **state)
{
	g_autofree char *half = run_on(
		"region a anon 10\nfile f 9\ns a 0 10\nl a 0\nl a 1\nr f 8 1\nw f 9 4\nr f 0 13\n"
		"u a 2 4\nu a\n",
		"scale --text --factor 2", "-");

	assert_string_equal(half, "#! scale 2\nregion a anon 5\nfile f 5\ns a 0 5\nl a 0\nfile f "
				  "7\nw f 4 2\nr f 0 6\n"
				  "u a 1 2\nu a\n");
}

static json_t *info(const char *path, const char *options)
{
	int code;
	g_autofree char *text = run(&code, "info %s --json%s", path, options);
	json_t *o = json_loads(text, 0, NULL);

	assert_int_equal(code, 0);
	assert_non_null(o);
	return o;
}

static json_int_t at(const json_t *o, const char *key)
{
	assert_true(json_is_integer(json_object_get(o, key)));
	return json_integer_value(json_object_get(o, key));
}

static void info_counts_what_the_trace_holds(void **state)
{
	char *path = trace_file_text(family);
	json_t *o = info(path, "");
	const json_t *all = json_object_get(o, "accesses");
	const json_t *heap = json_array_get(json_object_get(o, "regions"), 0);

	assert_int_equal(at(o, "records"), 22);
	assert_int_equal(at(all, "loads"), 2);
	assert_int_equal(at(all, "stores"), 13);
	assert_int_equal(at(all, "read_calls"), 2);
	assert_int_equal(at(all, "read_pages"), 3);
	assert_int_equal(at(all, "written_pages"), 3);
	/* 4 of heap, 8 of own; pages 0, 1, 49, 50, 51 of the file. */
	assert_int_equal(at(o, "anon_pages"), 12);
	assert_int_equal(at(o, "file_pages"), 5);
	assert_int_equal(at(o, "threads"), 2);
	assert_int_equal(at(o, "time_ns"), 3000);
	assert_int_equal(at(heap, "distinct_pages"), 4);
	assert_int_equal(at(json_array_get(json_object_get(o, "marks"), 0), "op"), 8);
	assert_int_equal(at(json_array_get(json_object_get(o, "processes"), 1), "stores"), 9);
	assert_int_equal(strlen(json_string_value(json_object_get(o, "digest"))), 64);
	json_decref(o);
	trace_file_remove(path);
}

static void the_curve_of_a_loop_falls_at_its_length(void **state)
{
	g_autoptr(GString) text = g_string_new("region a anon 64\n");

	for (int i = 0; i < 5; i++)
		g_string_append(text, "s a 0 64\n");
	char *path = trace_file_text(text->str);
	json_t *o = info(path, ""), *curve = json_object_get(o, "lru");
	size_t i;
	json_t *point;

	assert_true(json_array_size(curve) > 20);
	json_array_foreach(curve, i, point)
		assert_int_equal(at(point, "misses"), at(point, "pages") < 64 ? 4 * 64 : 0);
	json_decref(o);
	trace_file_remove(path);
}

static void left_out_accesses_are_warned_of(void **state)
{
	g_autofree char *text = run_on("region a anon 4\nl a 4\n", "cat", "");

	assert_string_equal(text, "region a anon 4\n");
	assert_non_null(strstr(last_error, "1 accesses right behind the first region"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(convert_goes_both_ways),
		cmocka_unit_test(bad_use_is_told_in_one_line),
		cmocka_unit_test(cat_chooses_records),
		cmocka_unit_test(a_cut_keeps_what_its_records_need),
		cmocka_unit_test(merged_traces_are_processes_side_by_side),
		cmocka_unit_test(traces_merge_by_time),
		cmocka_unit_test(forks_of_merged_traces_keep_apart),
		cmocka_unit_test(scaling_keeps_one_of_so_many_pages),
		cmocka_unit_test(info_counts_what_the_trace_holds),
		cmocka_unit_test(the_curve_of_a_loop_falls_at_its_length),
		cmocka_unit_test(left_out_accesses_are_warned_of),
	};
	int failed = cmocka_run_group_tests(tests, NULL, NULL);

	g_free(last_error);
	return failed;
}
