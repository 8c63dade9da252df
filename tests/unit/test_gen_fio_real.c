/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * test_gen_fio_real.c - job files through real fio (write_iolog) and through the generator: same
 * distinct pages, popularity by rank and sequentiality within 2 %; with fio 3.33 the very same
 * sequence. Skipped where fio is not installed.
 */
#include "lib/gentrace.h"

#include <stdlib.h>

struct io {
	bool write;
	uint64_t page, count;
};

struct run {
	char *folder;
	GArray *real, *model; /* struct io */
};

static const char *const jobs[] = {
	/* a hot set through the page cache, several files */
	"rw=randread\nrandom_distribution=zipf:1.1\nsize=24m\nnrfiles=3\nio_size=48m\n",
	/* mixed sizes and directions with the random map, two laps */
	"rw=randrw\nrwmixread=70\nbssplit=4k/50:16k/30:64k/20\nsize=16m\nio_size=32m\n",
	/* partly sequential */
	"rw=randread\npercentage_random=40\nnorandommap\nsize=12m\nbs=8k\n",
	/* pareto, mapped */
	"rw=randread\nioengine=mmap\nrandom_distribution=pareto:0.3\nsize=16m\n",
	/* normal */
	"rw=randwrite\nrandom_distribution=normal:15\nsize=8m\n",
};

static bool have_fio(void)
{
	g_autofree char *path = g_find_program_in_path("fio");

	return path != NULL;
}

static void add_io(GArray *to, bool write, uint64_t page, uint64_t count)
{
	struct io io = { .write = write, .page = page, .count = count };

	g_array_append_val(to, io);
}

/* Files are told apart by their number in the name: FOLDER/j.0.N. */
static void run_fio(struct run *r, const char *job)
{
	g_autofree char *path = g_build_filename(r->folder, "job.fio", NULL);
	g_autofree char *log = g_build_filename(r->folder, "log", NULL);
	g_autofree char *text = g_strdup_printf("%swrite_iolog=%s\n", job, log);
	g_autofree char *iolog = NULL;
	char *argv[] = { "fio", path, NULL };
	g_auto(GStrv) lines = NULL;
	GError *error = NULL;
	int status;

	assert_true(g_file_set_contents(path, text, -1, NULL));
	g_spawn_sync(NULL, argv, NULL,
		     G_SPAWN_SEARCH_PATH | G_SPAWN_STDOUT_TO_DEV_NULL | G_SPAWN_STDERR_TO_DEV_NULL,
		     NULL, NULL, NULL, NULL, &status, &error);
	assert_no_error(error);
	assert_int_equal(status, 0);
	assert_true(g_file_get_contents(log, &iolog, NULL, NULL));
	lines = g_strsplit(iolog, "\n", 0);
	for (unsigned i = 0; lines[i]; i++) {
		g_auto(GStrv) word = g_strsplit(lines[i], " ", 0);
		bool write;
		uint64_t offset, length, file;

		/* Version 3 has a time in front, version 2 has not. */
		char **w = g_strv_length(word) == 5 ? word + 1 : word;

		if (g_strv_length(w) != 4)
			continue;
		write = !strcmp(w[1], "write");
		if (!write && strcmp(w[1], "read"))
			continue;
		offset = g_ascii_strtoull(w[2], NULL, 10);
		length = g_ascii_strtoull(w[3], NULL, 10);
		file = (uint64_t)atoi(strrchr(w[0], '.') + 1);
		add_io(r->real, write, file << 32 | offset / 4096,
		       (offset + length + 4095) / 4096 - offset / 4096);
	}
}

static void run_model(struct run *r, const char *job)
{
	static const char *const no_own[] = { "own_pages=0", NULL };
	struct gentrace *t = gentrace_with(job, no_own);

	for (unsigned i = 0; i < t->records->len; i++) {
		const struct rs_record *rec = gentrace_at(t, i);
		bool mapped = rec->op == RS_OP_LOAD || rec->op == RS_OP_STORE;
		uint64_t page = rec->page;
		uint32_t file = rec->object;

		if (!mapped && rec->op != RS_OP_READ && rec->op != RS_OP_WRITE)
			continue;
		if (mapped)
			file = g_array_index(t->maps, struct rs_map, rec->object).file;
		file = (uint32_t)atoi(strrchr(rs_trace_name(t->trace, RS_NAME_FILE, file), '.') +
				      1);
		add_io(r->model, rec->op == RS_OP_WRITE || rec->op == RS_OP_STORE,
		       (uint64_t)file << 32 | page, rec->count);
	}
	gentrace_free(t);
}

static int by_count(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x > y ? -1 : x < y;
}

/* How often each page was touched, most popular first. */
static GArray *popularity(const GArray *ios)
{
	g_autoptr(GHashTable) seen =
		g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
	GArray *counts = g_array_new(FALSE, FALSE, sizeof(uint64_t));
	GHashTableIter iter;
	gpointer value;

	for (unsigned i = 0; i < ios->len; i++) {
		const struct io *io = &g_array_index(ios, struct io, i);

		for (uint64_t k = 0; k < io->count; k++) {
			uint64_t page = io->page + k;
			guint n = GPOINTER_TO_UINT(g_hash_table_lookup(seen, &page));

			g_hash_table_insert(seen, g_memdup2(&page, sizeof(page)),
					    GUINT_TO_POINTER(n + 1));
		}
	}
	g_hash_table_iter_init(&iter, seen);
	while (g_hash_table_iter_next(&iter, NULL, &value)) {
		uint64_t n = GPOINTER_TO_UINT(value);

		g_array_append_val(counts, n);
	}
	g_array_sort(counts, by_count);
	return counts;
}

/* Share of the I/Os that begin where the one before ended. */
static double sequentiality(const GArray *ios)
{
	unsigned n = 0;

	for (unsigned i = 1; i < ios->len; i++) {
		const struct io *a = &g_array_index(ios, struct io, i - 1), *b = a + 1;

		n += b->page == a->page + a->count;
	}
	return (double)n / MAX(ios->len, 1);
}

static void assert_near(double a, double b, const char *what, const char *job)
{
	if (a > b * 1.02 + 1e-9 || b > a * 1.02 + 1e-9)
		fail_msg("%s: %g against fio's %g in\n%s", what, b, a, job);
}

/* Cumulated touches of the most popular pages, at twenty ranks. */
static void compare_popularity(const GArray *real, const GArray *model, const char *job)
{
	uint64_t a = 0, b = 0;

	assert_near(real->len, model->len, "distinct pages", job);
	for (unsigned i = 0; i < MIN(real->len, model->len); i++) {
		a += g_array_index(real, uint64_t, i);
		b += g_array_index(model, uint64_t, i);
		if (i % (real->len / 20 + 1) == 0)
			assert_near((double)a, (double)b, "popularity", job);
	}
}

static bool same_io(const struct io *a, const struct io *b)
{
	return a->write == b->write && a->page == b->page && a->count == b->count;
}

static bool version_is(const char *version)
{
	g_autofree char *out = NULL;

	return g_spawn_command_line_sync("fio --version", &out, NULL, NULL, NULL) &&
	       g_str_has_prefix(out, version);
}

static void compare(const char *options)
{
	struct run r = { .folder = g_dir_make_tmp("gen-fio-XXXXXX", NULL) };
	g_autofree char *job =
		g_strdup_printf("[j]\ndirectory=%s\nfallocate=none\n%s", r.folder, options);
	g_autofree char *remove = g_strdup_printf("rm -rf %s", r.folder);
	GArray *a, *b;

	r.real = g_array_new(FALSE, FALSE, sizeof(struct io));
	r.model = g_array_new(FALSE, FALSE, sizeof(struct io));
	run_fio(&r, job);
	run_model(&r, job);
	assert_true(r.real->len > 100);
	a = popularity(r.real);
	b = popularity(r.model);
	compare_popularity(a, b, job);
	assert_near(sequentiality(r.real), sequentiality(r.model), "sequentiality", job);
	if (version_is("fio-3.33")) {
		assert_int_equal(r.real->len, r.model->len);
		for (unsigned i = 0; i < r.real->len; i++)
			if (!same_io(&g_array_index(r.real, struct io, i),
				     &g_array_index(r.model, struct io, i)))
				fail_msg("I/O %u differs in\n%s", i, job);
	}
	assert_int_equal(system(remove), 0);
	g_array_unref(a);
	g_array_unref(b);
	g_array_unref(r.real);
	g_array_unref(r.model);
	g_free(r.folder);
}

static void job_files_give_the_offsets_that_fio_gives(void **state)
{
	if (!have_fio()) {
		print_message("skipped: fio is not installed\n");
		skip();
	}
	for (unsigned i = 0; i < G_N_ELEMENTS(jobs); i++)
		compare(jobs[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(job_files_give_the_offsets_that_fio_gives),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
