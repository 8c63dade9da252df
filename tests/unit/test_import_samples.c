/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Every sample file imports, without being told its format, with exactly the values of its
 * .expect.json. Samples: tests/data/import, and the folder of all samples if it is found
 * (RS_SAMPLES, or ../shared/samples near the source); without it a note says that it was left out.
 */
#include "lib/cm.h"

#include <stdio.h>
#include <unistd.h>

#include "traces/import.h"

/* Fields that describe the sample, and those that name the folder's format. */
static const char *const not_compared[] = { "format",	 "file", "source",
					    "made_with", "note", "time_unit" };

/* Formats whose values are compared elsewhere (generators), or which are no input. */
static bool left_out(const char *format, const char *file)
{
	return !strcmp(format, "memtier") || !strcmp(format, "lru_gen") ||
	       g_str_has_suffix(file, ".fio");
}

static bool compared(const char *key)
{
	for (unsigned i = 0; i < G_N_ELEMENTS(not_compared); i++)
		if (!strcmp(not_compared[i], key))
			return false;
	return true;
}

static json_t *import_file_summary(const char *path)
{
	const char *paths[] = { path, NULL };
	struct import_options options = { .paths = paths };
	GError *error = NULL;
	json_t *summary = NULL;
	struct rs_trace_writer *out = rs_trace_create("/dev/null", RS_TRACE_TEXT, &error);

	assert_no_error(error);
	if (!rs_import(&options, out, &summary, NULL, &error))
		fail_msg("%s: %s", path, error->message);
	if (!rs_trace_writer_close(out, &error))
		fail_msg("%s: %s", path, error->message);
	return summary;
}

static unsigned compare(const char *path, json_t *expected, json_t *summary)
{
	const char *key;
	json_t *value;
	unsigned differ = 0;

	json_object_foreach(expected, key, value)
	{
		json_t *found = json_object_get(summary, key);
		char *want, *have;

		if (!compared(key) || (found && json_equal(found, value)))
			continue;
		want = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);
		have = found ? json_dumps(found, JSON_ENCODE_ANY | JSON_COMPACT) : NULL;
		print_error("%s: %s is %s, expected %s\n", path, key, have ? have : "absent", want);
		free(want);
		free(have);
		differ++;
	}
	return differ;
}

static void check_sample(const char *expect_path, unsigned *checked, unsigned *differ)
{
	json_error_t why;
	json_t *expected = json_load_file(expect_path, 0, &why);
	char *path = g_strndup(expect_path, strlen(expect_path) - strlen(".expect.json"));
	const char *format;
	json_t *summary;

	if (!expected)
		fail_msg("%s: %s", expect_path, why.text);
	format = json_string_value(json_object_get(expected, "format"));
	if (!left_out(format, path)) {
		summary = import_file_summary(path);
		*differ += compare(path, expected, summary);
		(*checked)++;
		json_decref(summary);
	}
	json_decref(expected);
	g_free(path);
}

static void walk(const char *folder, unsigned *checked, unsigned *differ)
{
	GDir *dir = g_dir_open(folder, 0, NULL);
	const char *name;

	if (!dir)
		return;
	while ((name = g_dir_read_name(dir))) {
		char *path = g_build_filename(folder, name, NULL);

		if (g_file_test(path, G_FILE_TEST_IS_DIR))
			walk(path, checked, differ);
		else if (g_str_has_suffix(name, ".expect.json"))
			check_sample(path, checked, differ);
		g_free(path);
	}
	g_dir_close(dir);
}

static void own_samples_have_their_expected_values(void **state)
{
	unsigned checked = 0, differ = 0;

	walk(RS_SOURCE_DIR "/tests/data/import", &checked, &differ);
	assert_true(checked >= 15);
	assert_int_equal(differ, 0);
}

static char *samples_folder(void)
{
	static const char *const places[] = { RS_SOURCE_DIR "/../shared/samples",
					      RS_SOURCE_DIR "/../../shared/samples" };
	const char *given = g_getenv("RS_SAMPLES");

	if (given)
		return g_strdup(given);
	for (unsigned i = 0; i < G_N_ELEMENTS(places); i++)
		if (g_file_test(places[i], G_FILE_TEST_IS_DIR))
			return g_strdup(places[i]);
	return NULL;
}

static void all_samples_have_their_expected_values(void **state)
{
	unsigned checked = 0, differ = 0;
	char *folder = samples_folder();

	if (!folder) {
		print_message("SKIP: no folder of samples; set RS_SAMPLES\n");
		skip();
	}
	walk(folder, &checked, &differ);
	print_message("%u samples compared\n", checked);
	g_free(folder);
	assert_true(checked >= 45);
	assert_int_equal(differ, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(own_samples_have_their_expected_values),
		cmocka_unit_test(all_samples_have_their_expected_values),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
