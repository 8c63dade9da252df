/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the importers do with odd input, and which records they make: text in, trace text out.
 */
#include "lib/cm.h"

#include <archive.h>
#include <archive_entry.h>
#include <glib/gstdio.h>
#include <stdio.h>
#include <unistd.h>

#include "traces/import.h"

struct outcome {
	char *text; /* the trace without its #! lines */
	json_t *summary;
	char *notes;
	GError *error;
};

static void outcome_done(struct outcome *o)
{
	g_free(o->text);
	g_free(o->notes);
	json_decref(o->summary);
	g_clear_error(&o->error);
}

static char *temp_path(void)
{
	char *path = NULL;
	int fd = g_file_open_tmp("test-import-XXXXXX", &path, NULL);

	assert_true(fd >= 0);
	close(fd);
	return path;
}

static char *without_header(const char *path)
{
	GString *kept = g_string_new(NULL);
	char *text, *p, *next;

	assert_true(g_file_get_contents(path, &text, NULL, NULL));
	for (p = text; *p; p = next) {
		next = strchr(p, '\n') + 1;
		if (*p != '#')
			g_string_append_len(kept, p, next - p);
	}
	g_free(text);
	return g_string_free(kept, FALSE);
}

static struct outcome import_options_run(const struct import_options *options)
{
	struct outcome o = { 0 };
	char *path = temp_path();
	struct rs_trace_writer *out = rs_trace_create(path, RS_TRACE_TEXT, &o.error);

	assert_no_error(o.error);
	if (rs_import(options, out, &o.summary, &o.notes, &o.error)) {
		GError *error = NULL;

		if (!rs_trace_writer_close(out, &error))
			fail_msg("%s", error->message);
		o.text = without_header(path);
	} else {
		rs_trace_writer_abort(out);
	}
	g_unlink(path);
	g_free(path);
	return o;
}

static struct outcome import_bytes(const char *format, const char *data, size_t n, bool strict)
{
	struct import_options options = {
		.format = format, .memory = data, .memory_size = n, .strict = strict
	};

	return import_options_run(&options);
}

static struct outcome import_text(const char *format, const char *text)
{
	return import_bytes(format, text, strlen(text), false);
}

static long count(const struct outcome *o, const char *key)
{
	assert_no_error(o->error);
	return (long)json_integer_value(json_object_get(o->summary, key));
}

static void crlf_byte_order_mark_blank_and_comment_lines_are_no_records(void **state)
{
	struct outcome o = import_text("spc", "\xef\xbb\xbf# comment\r\n\r\n0,8,4096,R,1.5\r\n"
					      "0,16,4096,w,2.5\r\n");

	assert_int_equal(count(&o, "records"), 2);
	assert_int_equal(count(&o, "comment_lines"), 1);
	assert_int_equal(count(&o, "malformed"), 0);
	assert_string_equal(o.text,
			    "file asu0 3\nt 0\ntime 0\nr asu0 1 1\ntime 1000000000\nw asu0 2 1\n");
	outcome_done(&o);
}

static void a_last_line_without_newline_is_malformed_unless_it_is_the_only_one(void **state)
{
	struct outcome o = import_text("spc", "0,8,4096,R,1.5\n0,16,4096,R,2.5");

	assert_int_equal(count(&o, "records"), 1);
	assert_int_equal(count(&o, "malformed"), 1);
	outcome_done(&o);
	o = import_text("spc", "0,8,4096,R,1.5");
	assert_int_equal(count(&o, "records"), 1);
	outcome_done(&o);
}

static void an_empty_input_of_a_given_format_is_an_empty_trace(void **state)
{
	struct outcome o = import_bytes("lackey", "", 0, false);

	assert_int_equal(count(&o, "records"), 0);
	outcome_done(&o);
	o = import_bytes(NULL, "", 0, false);
	assert_error(&o.error, "no known format");
	outcome_done(&o);
}

static void a_wrong_format_is_an_error_not_an_empty_success(void **state)
{
	struct outcome o = import_text("blkparse", "hello\nworld\n");

	assert_error(&o.error, "nothing in it is a record of format blkparse");
	outcome_done(&o);
}

static void strict_stops_at_the_first_malformed_line_and_names_it(void **state)
{
	const char *text = "fio version 3 iolog\n1 /f add\n2 /f open\n3 /f read x 4096\n";
	struct outcome o = import_bytes(NULL, text, strlen(text), true);

	assert_error(&o.error, "memory:4: no offset and length: \"3 /f read x 4096\"; valid is");
	outcome_done(&o);
	o = import_bytes(NULL, text, strlen(text), false);
	assert_int_equal(count(&o, "malformed"), 1);
	assert_non_null(strstr(o.notes, "memory:4: skipped"));
	outcome_done(&o);
}

static void signs_and_numbers_past_64_bits_are_refused(void **state)
{
	struct outcome o = import_text("alibaba", "1,R,-1,4096,5\n1,R,+1,4096,5\n"
						  "1,R,18446744073709551616,4096,5\n"
						  "1,R,9223372036854775807,4096,5\n1,R,0,4096,5\n");

	assert_int_equal(count(&o, "records"), 1);
	assert_int_equal(count(&o, "malformed"), 4);
	outcome_done(&o);
}

static void accesses_above_16_tib_are_counted_but_make_no_record(void **state)
{
	struct outcome o = import_text("alibaba", "1,R,17592186044416,4096,5\n1,R,0,0,5\n");

	assert_int_equal(count(&o, "records"), 2);
	assert_int_equal(count(&o, "page_accesses"), 1);
	assert_int_equal(count(&o, "zero_length"), 1);
	assert_null(strstr(o.text, "r device1"));
	outcome_done(&o);
}

static void a_line_of_two_megabytes_is_malformed_and_the_next_is_not(void **state)
{
	GString *text = g_string_new(NULL);
	struct outcome o;

	for (unsigned i = 0; i < 2u << 20; i++)
		g_string_append_c(text, 'x');
	g_string_append(text, "\n0,8,4096,R,1.5\n");
	o = import_bytes("spc", text->str, text->len, false);
	assert_int_equal(count(&o, "records"), 1);
	assert_int_equal(count(&o, "malformed"), 1);
	g_string_free(text, TRUE);
	outcome_done(&o);
}

static void a_nul_byte_does_not_end_the_input(void **state)
{
	static const char text[] = "0,8,4096,R,1.5\n0,\0,\n0,8,4096,R,1.5\n";
	struct outcome o = import_bytes("spc", text, sizeof(text) - 1, false);

	assert_int_equal(count(&o, "records"), 2);
	assert_int_equal(count(&o, "malformed"), 1);
	outcome_done(&o);
}

static void the_first_access_to_a_page_of_an_address_trace_is_a_store(void **state)
{
	struct outcome o = import_text("lackey", "I  00401ffe,5\n L 00500000,4\n L 00500000,4\n"
						 " S 10000000000,8\n");

	assert_string_equal(o.text, "t 0\nregion 0 anon 512 rwxp @0x400000\ns 0 1\ns 0 2\n"
				    "s 0 256\nl 0 256\nregion 1 anon 512 @0x10000000000\ns 1 0\n");
	assert_int_equal(count(&o, "distinct_pages"), 4);
	outcome_done(&o);
}

static void addresses_of_the_kernel_half_are_counted_but_make_no_record(void **state)
{
	struct outcome o = import_text("lackey", " L ffffffffff600000,8\n S 00401000,8\n");

	assert_int_equal(count(&o, "page_accesses"), 2);
	assert_int_equal(count(&o, "distinct_pages"), 2);
	assert_string_equal(o.text, "t 0\nregion 0 anon 512 @0x400000\ns 0 1\n");
	outcome_done(&o);
}

static void too_many_blocks_of_addresses_are_a_clear_error(void **state)
{
	GString *text = g_string_new(NULL);
	struct outcome o;

	for (unsigned long i = 1; i < IMPORT_MAX_REGIONS + 2; i++)
		g_string_append_printf(text, " S %08lx,1\n", i << 21);
	o = import_bytes("lackey", text->str, text->len, false);
	assert_error(&o.error, "2 MiB blocks; this is the limit");
	g_string_free(text, TRUE);
	outcome_done(&o);
}

static char *write_temp(const char *text)
{
	char *path = temp_path();

	assert_true(g_file_set_contents(path, text, -1, NULL));
	return path;
}

static void two_iologs_are_two_processes_merged_by_time(void **state)
{
	static const char *const with[] = { "own_pages=0", "invalidate=0", "fadvise_hint=0", NULL };
	char *a = write_temp("fio version 3 iolog\n1 /a add\n1 /a open\n5 /a read 0 4096\n"
			     "9 /a read 8192 4096\n");
	char *b = write_temp("fio version 3 iolog\n1 /b add\n1 /b open\n7 /b write 0 4096\n");
	const char *paths[] = { a, b, NULL };
	struct import_options options = { .paths = paths, .with = with };
	struct outcome o = import_options_run(&options);

	assert_no_error(o.error);
	assert_string_equal(o.text, "file /a 3\nfile /b 1\nt 0\nt 1.1 1\nt 0\ntime 4000\nr /a 0 1\n"
				    "t 1.1\ntime 6000\nw /b 0 1\nt 0\ntime 8000\nr /a 2 1\n");
	g_unlink(a);
	g_unlink(b);
	g_free(a);
	g_free(b);
	outcome_done(&o);
}

static void two_iologs_of_one_file_have_a_hint_each(void **state)
{
	static const char *const with[] = { "own_pages=0", "invalidate=0", NULL };
	char *a = write_temp("fio version 3 iolog\n1 /f add\n1 /f open\n5 /f read 0 4096\n"
			     "9 /f read 4096 4096\n");
	char *b = write_temp("fio version 3 iolog\n1 /f add\n1 /f open\n7 /f read 40960 4096\n"
			     "8 /f read 8192 4096\n");
	const char *paths[] = { a, b, NULL };
	struct import_options options = { .paths = paths, .with = with };
	struct outcome o = import_options_run(&options);

	assert_no_error(o.error);
	assert_non_null(strstr(o.text, "fadvise /f sequential\n"));
	assert_non_null(strstr(o.text, "fadvise /f random #1\n"));
	assert_non_null(strstr(o.text, "r /f 0 1\n"));
	assert_non_null(strstr(o.text, "r /f 10 1 #1\n"));
	g_unlink(a);
	g_unlink(b);
	g_free(a);
	g_free(b);
	outcome_done(&o);
}

static void strace_opens_a_file_anew_under_a_number_that_is_free(void **state)
{
	static const char *const with[] = { "time=0", NULL };
	const char *text = "10 openat(AT_FDCWD, \"/f\", O_RDONLY) = 3\n"
			   "10 openat(AT_FDCWD, \"/f\", O_RDONLY) = 4\n"
			   "10 fadvise64(4, 0, 0, POSIX_FADV_RANDOM) = 0\n"
			   "10 read(4, \"x\", 4096) = 4096\n"
			   "10 read(3, \"x\", 4096) = 4096\n"
			   "10 close(4) = 0\n"
			   "10 openat(AT_FDCWD, \"/f\", O_RDONLY) = 4\n"
			   "10 read(4, \"x\", 4096) = 4096\n";
	struct import_options options = { .memory = text,
					  .memory_size = strlen(text),
					  .with = with };
	struct outcome o = import_options_run(&options);

	assert_no_error(o.error);
	assert_string_equal(o.text, "file /f 1\nt 10.10 10\nfadvise /f random #1\nr /f 0 1 #1\n"
				    "r /f 0 1\nopen /f #1\nr /f 0 1 #1\n");
	outcome_done(&o);
}

static void strace_follows_offsets_forks_and_truncation(void **state)
{
	static const char *const with[] = { "time=0", NULL };
	const char *text = "10 openat(AT_FDCWD, \"/f\", O_RDONLY) = 3\n"
			   "10 read(3, \"x\", 4096) = 4096\n"
			   "10 clone(child_stack=NULL, flags=SIGCHLD) = 11\n"
			   "11 read(3, \"x\", 4096) = 100\n"
			   "11 openat(AT_FDCWD, \"/n\", O_WRONLY|O_CREAT|O_TRUNC, 0666) = 4\n"
			   "11 write(4, \"x\", 5000) = 5000\n"
			   "11 unlink(\"/n\") = 0\n"
			   "11 +++ exited with 0 +++\n"
			   "10 wait4(-1, NULL, 0, NULL) = 11\n"
			   "10 pread64(3, \"x\", 10, 0) = 10\n";
	struct import_options options = { .memory = text,
					  .memory_size = strlen(text),
					  .with = with };
	struct outcome o = import_options_run(&options);

	assert_no_error(o.error);
	assert_string_equal(o.text,
			    "file /f 2\nfile /n 0 new\nt 10.10 10\nr /f 0 1\nfork 11.11 11\n"
			    "t 11.11\nr /f 1 1\nw /n 0 2\ntruncate /n 0\nexit\n"
			    "t 10.10\nwait 11.11\nr /f 0 1\n");
	outcome_done(&o);
}

static void strace_joins_lines_around_attach_messages(void **state)
{
	struct outcome o = import_text("strace", "vfork(strace: Process 245 attached\n"
						 " <unfinished ...>\n"
						 "[pid 245] close(3) = 0\n"
						 "[pid 240] <... vfork resumed>) = 245\n"
						 "[pid 240] close(3) = 0\n");

	assert_int_equal(count(&o, "processes"), 2);
	assert_int_equal(count(&o, "lines_joined_around_attach_messages"), 1);
	assert_int_equal(count(&o, "forks"), 1);
	assert_int_equal(count(&o, "calls"), 3);
	assert_int_equal(count(&o, "malformed"), 0);
	outcome_done(&o);
}

static void strace_time_of_day_passes_midnight(void **state)
{
	struct outcome o = import_text("strace", "1 23:59:59.900000 close(3) = 0\n"
						 "1 00:00:00.100000 close(3) = 0\n");

	assert_int_equal(count(&o, "time_goes_back"), 0);
	assert_int_equal(count(&o, "time_span_ns"), 200000000);
	outcome_done(&o);
}

/* ---- compression ---- */

static char *packed(int (*filter)(struct archive *), const char *text, size_t cut)
{
	char *path = temp_path(), *data;
	struct archive *a = archive_write_new();
	struct archive_entry *entry = archive_entry_new();
	gsize n;

	assert_int_equal(filter(a), ARCHIVE_OK);
	archive_write_set_format_raw(a);
	assert_int_equal(archive_write_open_filename(a, path), ARCHIVE_OK);
	archive_entry_set_pathname(entry, "x");
	archive_entry_set_filetype(entry, AE_IFREG);
	archive_entry_set_size(entry, (la_int64_t)strlen(text));
	archive_write_header(a, entry);
	archive_write_data(a, text, strlen(text));
	archive_entry_free(entry);
	archive_write_free(a);
	assert_true(g_file_get_contents(path, &data, &n, NULL));
	assert_true(g_file_set_contents(path, data, (gssize)(n - cut), NULL));
	g_free(data);
	return path;
}

static void compressed_input_is_undone(void **state)
{
	int (*const filters[])(
		struct archive *) = { archive_write_add_filter_gzip, archive_write_add_filter_bzip2,
				      archive_write_add_filter_xz, archive_write_add_filter_zstd };

	for (unsigned i = 0; i < G_N_ELEMENTS(filters); i++) {
		char *path = packed(filters[i], "0,8,4096,R,1.5\n0,16,4096,w,2.5\n", 0);
		const char *paths[] = { path, NULL };
		struct import_options options = { .paths = paths };
		struct outcome o = import_options_run(&options);

		assert_int_equal(count(&o, "records"), 2);
		assert_string_equal(json_string_value(json_object_get(o.summary, "format")), "spc");
		g_unlink(path);
		g_free(path);
		outcome_done(&o);
	}
}

static void cut_compressed_input_is_never_a_silent_success(void **state)
{
	GString *text = g_string_new(NULL);
	char *path;
	const char *paths[2] = { NULL };
	struct import_options options = { .paths = paths };
	struct outcome o;

	for (unsigned i = 0; i < 200000; i++)
		g_string_append_printf(text, "0,%u,4096,R,%u.5\n", i * 2654435761u % 99991 * 8, i);
	path = packed(archive_write_add_filter_gzip, text->str, 100000);
	paths[0] = path;
	o = import_options_run(&options);
	assert_true(count(&o, "records") > 1000);
	assert_non_null(strstr(o.notes, path));
	assert_true(json_object_size(json_object_get(o.summary, "skipped")) > 0);
	outcome_done(&o);
	options.strict = true;
	o = import_options_run(&options);
	assert_error(&o.error, path);
	outcome_done(&o);
	g_unlink(path);
	g_free(path);
	g_string_free(text, TRUE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(crlf_byte_order_mark_blank_and_comment_lines_are_no_records),
		cmocka_unit_test(
			a_last_line_without_newline_is_malformed_unless_it_is_the_only_one),
		cmocka_unit_test(an_empty_input_of_a_given_format_is_an_empty_trace),
		cmocka_unit_test(a_wrong_format_is_an_error_not_an_empty_success),
		cmocka_unit_test(strict_stops_at_the_first_malformed_line_and_names_it),
		cmocka_unit_test(signs_and_numbers_past_64_bits_are_refused),
		cmocka_unit_test(accesses_above_16_tib_are_counted_but_make_no_record),
		cmocka_unit_test(a_line_of_two_megabytes_is_malformed_and_the_next_is_not),
		cmocka_unit_test(a_nul_byte_does_not_end_the_input),
		cmocka_unit_test(the_first_access_to_a_page_of_an_address_trace_is_a_store),
		cmocka_unit_test(addresses_of_the_kernel_half_are_counted_but_make_no_record),
		cmocka_unit_test(too_many_blocks_of_addresses_are_a_clear_error),
		cmocka_unit_test(two_iologs_are_two_processes_merged_by_time),
		cmocka_unit_test(two_iologs_of_one_file_have_a_hint_each),
		cmocka_unit_test(strace_opens_a_file_anew_under_a_number_that_is_free),
		cmocka_unit_test(strace_follows_offsets_forks_and_truncation),
		cmocka_unit_test(strace_joins_lines_around_attach_messages),
		cmocka_unit_test(strace_time_of_day_passes_midnight),
		cmocka_unit_test(compressed_input_is_undone),
		cmocka_unit_test(cut_compressed_input_is_never_a_silent_success),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
