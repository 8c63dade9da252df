/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * test_trace_text.c - the trace text: what is read, what is refused and with which message.
 */
#include "lib/cm.h"

#include <reclaimsim/policy.h>
#include <stdio.h>
#include <unistd.h>
#include <zstd.h>

#include "lib/trace_file.h"

/* Whole text in, canonical text out. */
static char *canonical(const char *text)
{
	char *path = trace_file_text(text), *out = NULL;
	GError *error = NULL;

	trace_file_read(path, NULL, &out, &error);
	assert_no_error(error);
	trace_file_remove(path);
	return out;
}

static void assert_reads_as(const char *text, const char *expected)
{
	g_autofree char *out = canonical(text);

	assert_string_equal(out, expected);
}

static void assert_refused_bytes(const void *bytes, size_t size, const char *message)
{
	char *path = trace_file_bytes(bytes, size);
	GError *error = NULL;

	assert_false(trace_file_read(path, NULL, NULL, &error));
	assert_non_null(error);
	assert_true(g_error_matches(error, RS_ERROR, RS_ERROR_INPUT));
	assert_null(strchr(error->message, '\n'));
	if (!g_str_has_prefix(error->message, path))
		fail_msg("\"%s\" does not begin with the file", error->message);
	assert_error(&error, message);
	trace_file_remove(path);
}

static void assert_refused(const char *text, const char *message)
{
	assert_refused_bytes(text, strlen(text), message);
}

static void the_grammar_of_the_truth_runs_is_read(void **state)
{
	static const char text[] =
		"# a comment\nregion 0 anon 100\nregion c file lib 20 x\nfile data 50\n"
		"s 0 5\nl 0 5\nr data 0 4\nw data 4 1\nf data\nu 0\nm fill\n";
	char *path = trace_file_text(text);
	GError *error = NULL;
	struct rs_trace *t = rs_trace_open(path, &error);
	struct rs_batch b;

	assert_int_equal(rs_trace_next(t, &b, &error), 1);
	static const uint8_t ops[] = { RS_OP_MMAP,  RS_OP_FILE,	  RS_OP_MMAP, RS_OP_FILE,
				       RS_OP_STORE, RS_OP_LOAD,	  RS_OP_READ, RS_OP_WRITE,
				       RS_OP_FSYNC, RS_OP_MUNMAP, RS_OP_MARK };
	assert_int_equal(b.nr_records, G_N_ELEMENTS(ops));
	for (uint32_t i = 0; i < b.nr_records; i++)
		assert_int_equal(b.records[i].op, ops[i]);
	assert_int_equal(b.line, 2);
	assert_int_equal(b.nr_maps, 2);
	assert_int_equal(b.maps[0].file, RS_MAP_FILE_NONE);
	assert_int_equal(b.maps[0].prot, VM_READ | VM_WRITE);
	assert_int_equal(b.maps[1].prot, VM_READ | VM_EXEC);
	assert_int_equal(b.records[1].value, 20);
	assert_int_equal(b.records[2].value, 1);
	assert_int_equal(b.records[6].count, 4);
	assert_string_equal(rs_trace_name(t, RS_NAME_MARK, b.records[10].object), "fill");
	assert_null(rs_trace_digest(t));
	assert_int_equal(rs_trace_next(t, &b, &error), 0);
	assert_int_equal(strlen(rs_trace_digest(t)), 64);
	rs_trace_free(t);
	trace_file_remove(path);
}

static void every_operation_is_written_as_it_was_read(void **state)
{
	g_autofree char *text = NULL;

	assert_true(g_file_get_contents(RS_SOURCE_DIR "/tests/data/traces/all_operations.trace",
					&text, NULL, NULL));
	assert_reads_as(text, text);
}

static void line_ends_blanks_and_byte_order_mark_do_not_matter(void **state)
{
	assert_reads_as("\xef\xbb\xbf"
			"region a anon 9\r\n\r\n\n  # comment\r\n\tl   a\t1 \r\n#!/bin/sh\n",
			"region a anon 9\nl a 1\n");
}

static void names_with_blanks_are_escaped(void **state)
{
	assert_reads_as("file /a%20b%0A%25 3\nr /a%20b%0A%25 0 1\n",
			"file /a%20b%0A%25 3\nr /a%20b%0A%25 0 1\n");
	assert_reads_as("file 100% 3\nfile 100%41 4\nfile 100A 5\n",
			"file 100%25 3\nfile 100A 4\nfile 100A 5\n");
}

static void a_file_is_as_large_as_its_largest_definition(void **state)
{
	assert_reads_as("file f 5\nfile f 3\nregion a file f 4\nregion b file f 9 +1\nr f 9 1\n",
			"file f 5\nregion a file f 4\nfile f 10\nregion b file f 9 +1\nr f 9 1\n");
}

static void a_write_makes_its_file_longer_and_a_read_does_not(void **state)
{
	assert_reads_as("file f 5\nw f 5 3\nr f 7 1\n", "file f 5\nw f 5 3\nr f 7 1\n");
	assert_refused("file f 5\nr f 4 2\n",
		       ":2: page 5 is past the end of file \"f\", which has 5 pages");
}

static void pages_behind_a_truncated_end_are_gone_from_mappings(void **state)
{
	assert_refused("region a file f 8\nl a 7\ntruncate f 6\nl a 5\nl a 6\n",
		       ":5: page 6 of region \"a\"");
	assert_reads_as("region a file f 8\ntruncate f 6\nw f 6 1\nl a 6\n",
			"file f 8\nregion a file f 8\ntruncate f 6\nw f 6 1\nl a 6\n");
}

static void mistakes_are_told_with_their_line(void **state)
{
	static const struct {
		const char *text, *message;
	} cases[] = {
		{ "l heap 1\n", ":1: region \"heap\" is unknown; a line that maps it" },
		{ "region a anon 5\nregion a anon 5\n", ":2: region \"a\" is mapped already" },
		{ "region a anon 5\nu a\nu a\n", ":3: region \"a\" is not mapped" },
		{ "region a anon 5\nu a\nl a 1\n", ":3: region \"a\" is not mapped" },
		{ "region a anon 5\nl a 100\n",
		  ":2: page 100 is outside region \"a\", which has pages 0 to 4" },
		{ "region a anon 5\nl a 1 100\n", "outside region \"a\"" },
		{ "region a anon 5\nl a\n",
		  ":2: PAGE is missing; valid is \"l REGION PAGE [COUNT]\"" },
		{ "region a anon 5\nl a -1\n", "\"-1\" is no PAGE" },
		{ "region a anon 5\nl a +1\n", "\"+1\" is no PAGE" },
		{ "region a anon 5\nl a 0x1\n", "\"0x1\" is no PAGE" },
		{ "region a anon 5\nl a 1 0\n", "a count of 0 pages" },
		{ "region a anon 5\nl a 1 1 1\n", "\"1\" is no part of this line" },
		{ "region a anon 5\nl a 4294967296\n", "PAGE 4294967296 is too large" },
		{ "region a anon 5\nl a 99999999999999999999999\n", "is no PAGE" },
		{ "region a anon 0\n", "a mapping of 0 pages" },
		{ "region a anon 5000000000\n", "PAGES 5000000000 is too large" },
		{ "region a heap 5\n", "\"heap\" is no kind of region" },
		{ "region a anon 5 @0x1001\n", "no multiple of 4096" },
		{ "region a anon 5 rwz-\n", "\"rwz-\" is no part of this line" },
		{ "region c file f 5 x\ns c 1\n", "region \"c\" is not writable" },
		{ "region a anon 5 ---p\nl a 1\n", "region \"a\" is not readable" },
		{ "r nofile 0 1\n", "file \"nofile\" is unknown" },
		{ "file f 5\nr f 0 1 #70000\n", "#HANDLE 70000 is too large" },
		{ "file f 5 new\nfile f 6 new\n", "has 5 pages already" },
		{ "x 1 2\n", ":1: unknown operation \"x\"; valid are l s r w" },
		{ "region a anon 5\nmprotect a rw\n", "\"rw\" is no protection" },
		{ "region a anon 5\nmadvise a noreuse\n", "advice 10 is unknown to madvise()" },
		{ "region a anon 5\nmadvise a sometimes\n", "\"sometimes\" is no ADVICE" },
		{ "file f 5\nfadvise f pageout\n", "is unknown to fadvise()" },
		{ "region a anon 5\nu a 1 0\n", "a COUNT of 0" },
		{ "region a anon 5\nu a 1 5\n", "outside region" },
		{ "region a anon 5\nmbind a bind\n", "a memory policy needs nodes" },
		{ "cpu 9999999999999999999\n", "NS 9999999999999999999 is too large" },
		{ "wait 0\n", "it is the one that would wait" },
		{ "wait 5\n", "thread \"5\" is unknown" },
		{ "exit\ncpu 1\n", ":2: the current thread has exited" },
		{ "t 1 0\nexec\n", "exec while the process has 2 threads" },
		{ "fork 1\nfork 1\n", "thread \"1\" exists; fork needs a new one" },
		{ "fork 1\nt 1 0\n", "belongs to another process" },
		{ "fork 1 0\n", "process \"0\" is alive and cannot be forked" },
		{ "region a anon 5\nl a 1",
		  ":2: truncated: the last line does not end in a newline" },
	};

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++)
		assert_refused(cases[i].text, cases[i].message);
}

static void what_is_no_text_is_refused(void **state)
{
	g_autofree char *lines = g_strnfill(300000, 'x');

	assert_refused_bytes("", 0, "empty");
	assert_refused_bytes("l a\0 1\n", 7, "NUL byte");
	assert_refused_bytes("\x1f\x8b\x08\0\0\0", 6, "packed by gzip");
	assert_refused_bytes("\x7f"
			     "ELF\x02\x01\n",
			     7, "unknown operation \"\\177ELF\\002\\001\"");
	assert_refused_bytes(lines, 300000, ":1: a line of more than 131072 bytes");
}

static char *compressed(const char *text, size_t *ret_size)
{
	size_t room = ZSTD_compressBound(strlen(text));
	char *to = g_malloc(room);

	*ret_size = ZSTD_compress(to, room, text, strlen(text), 3);
	return to;
}

static void zstd_is_told_from_the_content_and_frames_may_follow_each_other(void **state)
{
	size_t n, m;
	g_autofree char *a = compressed("region a anon 9\n", &n), *b = compressed("l a 1\n", &m);
	g_autofree char *both = g_malloc(n + m), *text = NULL;
	GError *error = NULL;

	memcpy(both, a, n);
	memcpy(both + n, b, m);
	char *path = trace_file_bytes(both, n + m);
	assert_true(trace_file_read(path, NULL, &text, &error));
	assert_string_equal(text, "region a anon 9\nl a 1\n");
	trace_file_remove(path);
	for (size_t cut = 4; cut < n; cut++)
		assert_refused_bytes(a, cut, "truncated: the zstd data ends in mid-frame");
	for (size_t cut = n + 1; cut < n + m; cut++)
		assert_refused_bytes(both, cut, "truncated: the zstd data ends in mid-frame");
	both[6] ^= 0x55;
	assert_refused_bytes(both, n + m, "zstd");
}

static void standard_input_is_read(void **state)
{
	int ends[2], saved = dup(STDIN_FILENO);
	static const char text[] = "region a anon 9\nl a 1\n";
	g_autofree char *out = NULL;
	GError *error = NULL;

	assert_int_equal(pipe(ends), 0);
	assert_int_equal(write(ends[1], text, strlen(text)), strlen(text));
	close(ends[1]);
	dup2(ends[0], STDIN_FILENO);
	assert_true(trace_file_read("-", NULL, &out, &error));
	assert_string_equal(out, text);
	dup2(saved, STDIN_FILENO);
	close(saved);
	close(ends[0]);
}

static void a_forked_process_has_mappings_of_its_own(void **state)
{
	assert_reads_as("region a anon 9\nfork 1\nt 1\nu a\nt 0\nl a 1\n",
			"region a anon 9\nfork 1\nt 1\nu a\nt 0\nl a 1\n");
	assert_refused("region a anon 9\nfork 1\nt 0\nu a\nt 1\nl a 1\nt 0\nl a 1\n",
		       ":8: region \"a\" is not mapped");
	assert_refused("region a anon 9\nt 1 other\nl a 1\n", ":3: region \"a\" is not mapped");
	assert_refused("region a anon 9\nexec\nl a 1\n", ":3: region \"a\" is not mapped");
}

static void a_thread_number_may_begin_anew_after_its_end(void **state)
{
	static const char text[] = "fork 7\nt 7\nexit\nt 0\nfork 7\nt 7\nregion a anon 4\nl a 0\n";

	assert_reads_as(text, text);
}

static void parts_of_a_region_are_unmapped_and_protected(void **state)
{
	static const char text[] =
		"region a anon 10\nu a 4 2\nl a 3\nl a 6 4\nmprotect a r-- 0 2\ns a 2 2\nl a 0 4\n";

	assert_reads_as(text, text);
	assert_refused("region a anon 10\nu a 4 2\nl a 3 2\n",
		       "a page of region \"a\" is unmapped in page 3 + 2");
	assert_refused("region a anon 10\nmprotect a r-- 4 2\ns a 5\n",
		       "region \"a\" is not writable");
	assert_refused("region a anon 10\nu a 4 2\nmprotect a r-- 5 2\n", "is unmapped");
	/* All of it, in pieces: unmapped, and may be mapped again. */
	assert_reads_as("region a anon 4\nu a 2 2\nu a 0 2\nregion a anon 9\nl a 8\n",
			"region a anon 4\nu a 2 2\nu a 0 2\nregion a anon 9\nl a 8\n");
	/* Protected back: whole again. */
	assert_reads_as("region a anon 4\nmprotect a --- 1 2\nmprotect a rw- 1 2\ns a 0 4\n",
			"region a anon 4\nmprotect a --- 1 2\nmprotect a rw- 1 2\ns a 0 4\n");
}

static void the_replayers_pages_above_the_first_region_are_no_accesses(void **state)
{
	char *path =
		trace_file_text("region a anon 4\nl a 1\nl a 4\ns a 67\nregion b anon 4\nl b 3\n");
	GError *error = NULL;
	struct rs_trace *t = rs_trace_open(path, &error);
	struct rs_batch b;
	uint64_t line;

	assert_int_equal(rs_trace_next(t, &b, &error), 1);
	assert_int_equal(b.nr_records, 4);
	assert_int_equal(rs_trace_nr_skipped(t, &line), 2);
	assert_int_equal(line, 3);
	rs_trace_free(t);
	trace_file_remove(path);
	assert_refused("region a anon 4\nl a 68\n", "outside region");
	assert_refused("region a anon 4\nregion b anon 4\nl b 4\n", "outside region");
}

static void provenance_is_kept(void **state)
{
	char *path =
		trace_file_text("#! source a log\n#! tool x y  z\nregion a anon 4\n#! lines 5\n");
	GError *error = NULL;
	struct rs_trace *t = rs_trace_open(path, &error);
	struct rs_batch b;

	while (rs_trace_next(t, &b, &error) > 0)
		;
	assert_string_equal(rs_trace_provenance(t, "source"), "a log");
	assert_string_equal(rs_trace_provenance(t, "tool"), "x y  z");
	assert_string_equal(rs_trace_provenance(t, "lines"), "5");
	assert_null(rs_trace_provenance(t, "none"));
	assert_int_equal(rs_trace_nr_head_provenance(t), 2);
	assert_string_equal(rs_trace_provenance_key(t, 2), "lines");
	rs_trace_free(t);
	trace_file_remove(path);
}

static void what_cannot_be_opened_is_told(void **state)
{
	GError *error = NULL;

	assert_null(rs_trace_open("/nonexistent/trace", &error));
	assert_error(&error, "/nonexistent/trace: cannot open: No such file");
	assert_null(rs_trace_open("/", &error));
	assert_error(&error, "/: cannot read: Is a directory");
}

static void truth_traces_are_read_and_come_back(void **state)
{
	static const char *const names[] = { "anon-loop", "write-mix", "exec-cached" };

	for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
		g_autofree char *path = g_strdup_printf("%s/tests/data/traces/%s.trace.zst",
							RS_SOURCE_DIR, names[i]);
		g_autofree char *text = NULL, *again = NULL, *digest = NULL, *other = NULL;
		GError *error = NULL;

		assert_true(trace_file_read(path, &digest, &text, &error));
		char *plain = trace_file_text(text);
		assert_true(trace_file_read(plain, &other, &again, &error));
		assert_string_equal(text, again);
		assert_string_equal(digest, other);
		trace_file_remove(plain);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_grammar_of_the_truth_runs_is_read),
		cmocka_unit_test(every_operation_is_written_as_it_was_read),
		cmocka_unit_test(line_ends_blanks_and_byte_order_mark_do_not_matter),
		cmocka_unit_test(names_with_blanks_are_escaped),
		cmocka_unit_test(a_file_is_as_large_as_its_largest_definition),
		cmocka_unit_test(a_write_makes_its_file_longer_and_a_read_does_not),
		cmocka_unit_test(pages_behind_a_truncated_end_are_gone_from_mappings),
		cmocka_unit_test(mistakes_are_told_with_their_line),
		cmocka_unit_test(what_is_no_text_is_refused),
		cmocka_unit_test(zstd_is_told_from_the_content_and_frames_may_follow_each_other),
		cmocka_unit_test(standard_input_is_read),
		cmocka_unit_test(a_forked_process_has_mappings_of_its_own),
		cmocka_unit_test(a_thread_number_may_begin_anew_after_its_end),
		cmocka_unit_test(parts_of_a_region_are_unmapped_and_protected),
		cmocka_unit_test(the_replayers_pages_above_the_first_region_are_no_accesses),
		cmocka_unit_test(provenance_is_kept),
		cmocka_unit_test(what_cannot_be_opened_is_told),
		cmocka_unit_test(truth_traces_are_read_and_come_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
