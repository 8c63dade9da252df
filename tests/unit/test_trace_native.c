/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * test_trace_native.c - the native format: what is written is read, and what is damaged is refused.
 */
#include "lib/cm.h"

#include <glib/gstdio.h>
#include <reclaimsim/policy.h>
#include <unistd.h>
#include <zstd.h>

#include "lib/trace_file.h"
#include "sim/base/rng.h"

#define ALL_OPERATIONS RS_SOURCE_DIR "/tests/data/traces/all_operations.trace"

static char *native_of(const char *path)
{
	char *native = trace_file_name();
	GError *error = NULL;

	trace_file_convert(path, native, RS_TRACE_NATIVE, &error);
	assert_no_error(error);
	return native;
}

static GBytes *contents(const char *path)
{
	char *bytes;
	gsize size;

	assert_true(g_file_get_contents(path, &bytes, &size, NULL));
	return g_bytes_new_take(bytes, size);
}

static void assert_same_file(const char *a, const char *b)
{
	GBytes *x = contents(a), *y = contents(b);

	assert_true(g_bytes_equal(x, y));
	g_bytes_unref(x);
	g_bytes_unref(y);
}

static char *digest_of(const char *path)
{
	char *digest = NULL;
	GError *error = NULL;

	trace_file_read(path, &digest, NULL, &error);
	assert_no_error(error);
	return digest;
}

/* native -> text -> native gives the same bytes, and all have one digest. */
static void assert_comes_back(const char *native)
{
	char *text = trace_file_name();
	GError *error = NULL;

	assert_true(trace_file_convert(native, text, RS_TRACE_TEXT, &error));
	char *again = native_of(text);
	assert_same_file(native, again);
	g_autofree char *a = digest_of(native), *b = digest_of(text);
	assert_string_equal(a, b);
	trace_file_remove(text);
	trace_file_remove(again);
}

static void every_operation_comes_back(void **state)
{
	char *native = native_of(ALL_OPERATIONS);
	g_autofree char *text = NULL, *expected = NULL;
	GError *error = NULL;

	assert_true(trace_file_read(native, NULL, &text, &error));
	assert_true(g_file_get_contents(ALL_OPERATIONS, &expected, NULL, NULL));
	assert_string_equal(text, expected);
	assert_comes_back(native);
	trace_file_remove(native);
}

static void a_native_trace_may_be_compressed_again(void **state)
{
	char *native = native_of(ALL_OPERATIONS);
	GBytes *bytes = contents(native);
	size_t size = g_bytes_get_size(bytes), room = ZSTD_compressBound(size);
	g_autofree char *packed = g_malloc(room);
	size_t n = ZSTD_compress(packed, room, g_bytes_get_data(bytes, NULL), size, 1);
	char *path = trace_file_bytes(packed, n);
	g_autofree char *a = digest_of(native), *b = digest_of(path);

	assert_string_equal(a, b);
	g_bytes_unref(bytes);
	trace_file_remove(native);
	trace_file_remove(path);
}

static void every_truncation_is_told(void **state)
{
	char *native = native_of(ALL_OPERATIONS);
	GBytes *bytes = contents(native);

	for (size_t size = 8; size < g_bytes_get_size(bytes); size++) {
		char *cut = trace_file_bytes(g_bytes_get_data(bytes, NULL), size);
		GError *error = NULL;

		assert_false(trace_file_read(cut, NULL, NULL, &error));
		assert_error(&error, "truncated at byte");
		trace_file_remove(cut);
	}
	g_bytes_unref(bytes);
	trace_file_remove(native);
}

static void every_damaged_byte_is_told(void **state)
{
	char *native = native_of(ALL_OPERATIONS);
	GBytes *bytes = contents(native);
	gsize size;
	const uint8_t *data = g_bytes_get_data(bytes, &size);
	g_autofree uint8_t *damaged = g_memdup2(data, size);
	g_autofree char *expected = NULL;
	size_t harmless = 0;

	assert_true(g_file_get_contents(ALL_OPERATIONS, &expected, NULL, NULL));
	for (size_t i = 0; i < size; i++) {
		for (int bit = i % 2; bit < 8; bit += 2) {
			damaged[i] ^= 1u << bit;
			char *path = trace_file_bytes(damaged, size);
			g_autofree char *text = NULL;
			GError *error = NULL;

			if (trace_file_read(path, NULL, &text, &error)) {
				assert_string_equal(text, expected);
				harmless++;
			} else {
				assert_true(error->domain == RS_ERROR);
				g_clear_error(&error);
			}
			damaged[i] = data[i];
			trace_file_remove(path);
		}
	}
	/* Some bits of the heads of zstd frames and blocks mean nothing. */
	assert_true(harmless < size / 50);
	g_bytes_unref(bytes);
	trace_file_remove(native);
}

static void damage_and_versions_have_clear_messages(void **state)
{
	static const struct {
		int at; /* negative: from the end */
		const char *message;
	} cases[] = {
		{ 8, "native format of version" },
		{ 16, "no valid chunk begins here" },
		{ 60, "" },
		{ -1, "bad foot" },
	};
	char *native = native_of(ALL_OPERATIONS);
	GBytes *bytes = contents(native);
	gsize size;
	const uint8_t *data = g_bytes_get_data(bytes, &size);

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_autofree uint8_t *damaged = g_memdup2(data, size);
		GError *error = NULL;

		damaged[cases[i].at < 0 ? (gsize)(size + cases[i].at) : (gsize)cases[i].at] ^= 2;
		char *path = trace_file_bytes(damaged, size);
		assert_false(trace_file_read(path, NULL, NULL, &error));
		assert_true(g_str_has_prefix(error->message, path));
		assert_error(&error, cases[i].message);
		trace_file_remove(path);
	}
	g_autofree uint8_t *longer = g_malloc0(size + 1);
	memcpy(longer, data, size);
	char *path = trace_file_bytes(longer, size + 1);
	GError *error = NULL;
	assert_false(trace_file_read(path, NULL, NULL, &error));
	assert_error(&error, "data behind the end");
	trace_file_remove(path);
	g_bytes_unref(bytes);
	trace_file_remove(native);
}

static struct rs_trace_writer *create(const char *path)
{
	GError *error = NULL;
	struct rs_trace_writer *w = rs_trace_create(path, RS_TRACE_NATIVE, &error);

	assert_no_error(error);
	return w;
}

static void put(struct rs_trace_writer *w, struct rs_record r)
{
	GError *error = NULL;

	rs_trace_put(w, &r, NULL, &error);
	assert_no_error(error);
}

static uint32_t put_region(struct rs_trace_writer *w, const char *name, uint64_t pages)
{
	const struct rs_map map = { .file = RS_MAP_FILE_NONE,
				    .prot = VM_READ | VM_WRITE,
				    .pages = pages };
	struct rs_record r = { .op = RS_OP_MMAP,
			       .object = rs_trace_intern(w, RS_NAME_REGION, name) };
	GError *error = NULL;

	rs_trace_put(w, &r, &map, &error);
	assert_no_error(error);
	return r.object;
}

static void close_writer(struct rs_trace_writer *w)
{
	GError *error = NULL;

	rs_trace_writer_close(w, &error);
	assert_no_error(error);
}

static void numbers_follow_the_records_and_not_the_order_of_naming(void **state)
{
	char *path = trace_file_name();
	struct rs_trace_writer *w = create(path);
	GError *error = NULL;
	struct rs_batch b;

	rs_trace_intern(w, RS_NAME_REGION, "unused");
	rs_trace_intern(w, RS_NAME_REGION, "second");
	put_region(w, "first", 4);
	put_region(w, "second", 4);
	close_writer(w);
	struct rs_trace *t = rs_trace_open(path, &error);
	assert_int_equal(rs_trace_next(t, &b, &error), 1);
	assert_int_equal(b.records[0].object, 0);
	assert_string_equal(rs_trace_name(t, RS_NAME_REGION, 0), "first");
	assert_string_equal(rs_trace_name(t, RS_NAME_REGION, 1), "second");
	assert_null(rs_trace_name(t, RS_NAME_REGION, 2));
	rs_trace_free(t);
	trace_file_remove(path);
}

static void a_refused_record_leaves_the_writer_usable(void **state)
{
	char *path = trace_file_name();
	struct rs_trace_writer *w = create(path);
	uint32_t never = rs_trace_intern(w, RS_NAME_REGION, "never");
	struct rs_record r = { .op = RS_OP_LOAD, .object = never, .count = 1 };
	struct rs_map map = { .file = RS_MAP_FILE_NONE, .prot = VM_READ };
	GError *error = NULL;

	assert_false(rs_trace_put(w, &r, NULL, &error));
	assert_error(&error, "region \"never\" is used before it is mapped");
	r.op = RS_OP_MMAP;
	assert_false(rs_trace_put(w, &r, &map, &error)); /* 0 pages */
	assert_error(&error, "0 pages");
	uint32_t a = put_region(w, "a", 4);
	put(w, (struct rs_record){ .op = RS_OP_LOAD, .object = a, .page = 3, .count = 1 });
	close_writer(w);
	g_autofree char *text = NULL;
	assert_true(trace_file_read(path, NULL, &text, &error));
	assert_string_equal(text, "region a anon 4\nl a 3\n");
	trace_file_remove(path);
}

/* Blocks end after 65536 records, and before the 16385th template. */
static void long_traces_and_many_objects_are_split_into_blocks(void **state)
{
	char *path = trace_file_name();
	struct rs_trace_writer *w = create(path);
	struct rs_rng rng;
	GError *error = NULL;
	struct rs_batch b;
	uint64_t records = 0, n = 0;
	int batches = 0, r;

	rs_rng_init(&rng, 1, "blocks");
	uint32_t region = put_region(w, "a", UINT32_MAX);
	for (int i = 0; i < 200000; i++)
		put(w, (struct rs_record){ .op = RS_OP_LOAD,
					   .object = region,
					   .page = rs_rng_next(&rng) >> 33,
					   .count = 1 + (i < 100000 ? i % 40000 : 0) });
	close_writer(w);
	struct rs_trace *t = rs_trace_open(path, &error);
	while ((r = rs_trace_next(t, &b, &error)) > 0) {
		assert_in_range(b.nr_records, 1, 65536);
		assert_int_equal(b.line, records);
		records += b.nr_records;
		for (uint32_t i = 0; i < b.nr_records; i++, n++)
			if (n && n <= 100000)
				assert_int_equal(b.records[i].count, 1 + (n - 1) % 40000);
		batches++;
	}
	assert_no_error(error);
	assert_int_equal(records, 200001);
	assert_true(batches > 6);
	rs_trace_free(t);
	assert_comes_back(path);
	trace_file_remove(path);
}

static void scans_take_hardly_any_space(void **state)
{
	char *path = trace_file_name();
	struct rs_trace_writer *w = create(path);
	uint32_t region = put_region(w, "a", 1000000);

	for (uint32_t i = 0; i < 1000000; i++)
		put(w, (struct rs_record){
			       .op = RS_OP_STORE, .object = region, .page = i, .count = 1 });
	close_writer(w);
	GBytes *bytes = contents(path);
	assert_true(g_bytes_get_size(bytes) < 10000);
	g_bytes_unref(bytes);
	trace_file_remove(path);
}

/* A record of any type with operands that are often, but not always, valid. */
static bool put_random(struct rs_trace_writer *w, struct rs_rng *rng)
{
	struct rs_record r = { .op = 1 + rs_rng_below(rng, RS_NR_OPS - 1) };
	struct rs_map map = { .file = RS_MAP_FILE_NONE,
			      .prot = rs_rng_below(rng, 16),
			      .pages = 1 + rs_rng_below(rng, 50) };
	int kind = rs_record_object_kind(r.op);
	char name[16];
	GError *error = NULL;

	g_snprintf(name, sizeof(name), "n%u", (unsigned)rs_rng_below(rng, 6));
	if (kind >= 0)
		r.object = rs_trace_intern(w, kind, name);
	r.page = rs_rng_below(rng, 20);
	r.count = rs_rng_below(rng, 6);
	switch (r.op) {
	case RS_OP_MMAP:
		if (rs_rng_below(rng, 2))
			map.file = rs_trace_intern(w, RS_NAME_FILE, "n1");
		if (map.file != RS_MAP_FILE_NONE)
			r.arg = rs_rng_below(rng, 3);
		map.address = rs_rng_below(rng, 3) ? 0 : rs_rng_below(rng, 100000);
		break;
	case RS_OP_THREAD:
	case RS_OP_FORK:
		r.value = 0;
		r.arg = rs_trace_intern(w, RS_NAME_PROCESS, name);
		break;
	case RS_OP_FILE:
	case RS_OP_CPU:
	case RS_OP_SLEEP:
	case RS_OP_TIME:
		r.value = rs_rng_next(rng) >> (4 + rs_rng_below(rng, 60));
		break;
	case RS_OP_EXIT:
	case RS_OP_EXEC:
		r.value = 0;
		if (rs_rng_below(rng, 4))
			return false;
		break;
	case RS_OP_TRUNCATE:
	case RS_OP_MARK:
	case RS_OP_MEMCG:
	case RS_OP_WAIT:
	case RS_OP_FSYNC:
		r.value = r.op == RS_OP_TRUNCATE ? r.page : 0;
		break;
	case RS_OP_OPEN:
		r.value = 0;
		r.arg = rs_rng_below(rng, 3);
		break;
	case RS_OP_FADVISE:
		r.arg = RS_FADVISE_ARG(rs_rng_below(rng, 4), rs_rng_below(rng, 3));
		break;
	case RS_OP_MBIND:
		r.arg = rs_rng_below(rng, 4);
		r.value = r.arg ? 1 + rs_rng_below(rng, 255) : 0;
		break;
	default:
		r.arg = rs_rng_below(rng, r.op <= RS_OP_STORE ? 1 : 4);
	}
	bool fine = rs_trace_put(w, &r, r.op == RS_OP_MMAP ? &map : NULL, &error);
	g_clear_error(&error);
	return fine;
}

static void random_traces_come_back(void **state)
{
	uint32_t accepted[2] = { 0 };

	for (int seed = 0; seed < 60; seed++) {
		char *path = trace_file_name();
		struct rs_trace_writer *w = create(path);
		struct rs_rng rng;

		rs_rng_init(&rng, seed, "random traces");
		for (int i = 0; i < 3000; i++)
			accepted[put_random(w, &rng)]++;
		close_writer(w);
		assert_comes_back(path);
		trace_file_remove(path);
	}
	/* The test would say nothing if nearly all records were refused. */
	assert_true(accepted[1] > 60 * 500);
}

static void a_full_disk_is_told(void **state)
{
	GError *error = NULL;

	if (access("/dev/full", W_OK))
		skip();
	assert_false(trace_file_convert(ALL_OPERATIONS, "/dev/full", RS_TRACE_NATIVE, &error));
	assert_true(g_error_matches(error, RS_ERROR, RS_ERROR_OUTPUT));
	assert_error(&error, "/dev/full: cannot write: No space left on device");
	assert_false(trace_file_convert(ALL_OPERATIONS, "/dev/full", RS_TRACE_TEXT, &error));
	assert_error(&error, "No space left");
	assert_null(rs_trace_create("/nonexistent/x", RS_TRACE_NATIVE, &error));
	assert_error(&error, "/nonexistent/x: cannot create");
}

static void a_target_appears_only_when_it_is_complete(void **state)
{
	char *path = trace_file_text("old");
	g_autofree char *folder = g_path_get_dirname(path), *now = NULL;
	struct rs_trace_writer *w = create(path);
	GError *error = NULL;

	put_region(w, "a", 4);
	assert_true(g_file_get_contents(path, &now, NULL, NULL));
	assert_string_equal(now, "old");
	rs_trace_writer_abort(w);
	GDir *dir = g_dir_open(folder, 0, NULL);
	assert_string_equal(g_dir_read_name(dir), "trace");
	assert_null(g_dir_read_name(dir));
	g_dir_close(dir);
	w = create(path);
	put_region(w, "a", 4);
	close_writer(w);
	assert_true(trace_file_read(path, NULL, NULL, &error));
	trace_file_remove(path);
}

static void the_digest_tells_traces_apart(void **state)
{
	static const char *const texts[] = {
		"region a anon 4\nl a 1\nl a 2\n",
		"region a anon 4\nl a 2\nl a 1\n",
		"region a anon 4\nl a 1\ns a 2\n",
		"region b anon 4\nl b 1\nl b 2\n",
		"region a anon 5\nl a 1\nl a 2\n",
		"region a anon 4\nl a 1 2\n",
		"region a anon 4\nl a 1\n",
		"region a anon 4 rw-s\nl a 1\nl a 2\n",
		"region a anon 4\nl a 1\nl a 2\nl a 2\n",
	};
	GHashTable *seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);

	for (size_t i = 0; i < G_N_ELEMENTS(texts); i++) {
		char *path = trace_file_text(texts[i]);

		assert_true(g_hash_table_add(seen, digest_of(path)));
		trace_file_remove(path);
	}
	/* Comments, provenance and the form of lines are no part of it. */
	char *path = trace_file_text("#! tool x\n# c\nregion a anon 4\nl  a 1\r\nl a 2 1\n");
	assert_false(g_hash_table_add(seen, digest_of(path)));
	trace_file_remove(path);
	g_hash_table_destroy(seen);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_operation_comes_back),
		cmocka_unit_test(a_native_trace_may_be_compressed_again),
		cmocka_unit_test(every_truncation_is_told),
		cmocka_unit_test(every_damaged_byte_is_told),
		cmocka_unit_test(damage_and_versions_have_clear_messages),
		cmocka_unit_test(numbers_follow_the_records_and_not_the_order_of_naming),
		cmocka_unit_test(a_refused_record_leaves_the_writer_usable),
		cmocka_unit_test(long_traces_and_many_objects_are_split_into_blocks),
		cmocka_unit_test(scans_take_hardly_any_space),
		cmocka_unit_test(random_traces_come_back),
		cmocka_unit_test(a_full_disk_is_told),
		cmocka_unit_test(a_target_appears_only_when_it_is_complete),
		cmocka_unit_test(the_digest_tells_traces_apart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
