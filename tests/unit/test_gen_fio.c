/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * test_gen_fio.c - fio job files mean here what they mean to fio 3.33.
 */
#include "lib/gentrace.h"

#define JOB "[j]\nfilename=/f\nsize=64k\nbs=4k\n"
static const char *const no_own[] = { "own_pages=0", NULL };

static char *data(const char *name)
{
	g_autofree char *path = g_strdup_printf("%s/tests/data/gen/%s", RS_SOURCE_DIR, name);
	char *text = NULL;

	if (!g_file_get_contents(path, &text, NULL, NULL))
		fail_msg("cannot read %s", path);
	return text;
}

/* Everything the expected object says must stand in the other one. */
static void assert_covers(json_t *got, json_t *expected, const char *where)
{
	const char *key;
	json_t *value;

	json_object_foreach(expected, key, value) if (!json_equal(json_object_get(got, key), value))
		fail_msg("%s: %s differs", where, key);
}

static void samples_have_the_values_fio_had(void **state)
{
	static const char *const names[] = { "mmap_numjobs.fio", "seq_stonewall.fio", "units.fio",
					     "zipf_buffered.fio" };

	for (unsigned i = 0; i < G_N_ELEMENTS(names); i++) {
		g_autofree char *text = data(names[i]);
		g_autofree char *name = g_strdup_printf("%s.expect.json", names[i]);
		g_autofree char *expect = data(name);
		json_t *expected = json_loads(expect, 0, NULL), *jobs, *job;
		struct gentrace *t = gentrace(text);
		size_t k;

		jobs = json_object_get(expected, "jobs");
		assert_int_equal(json_array_size(jobs),
				 json_array_size(json_object_get(t->summary, "jobs")));
		json_array_foreach(jobs, k, job) assert_covers(
			json_array_get(json_object_get(t->summary, "jobs"), k), job, names[i]);
		json_decref(expected);
		gentrace_free(t);
	}
}

/* The first offsets of zipf_buffered.fio and of [scan] as fio logged them. */
static void random_offsets_are_those_of_fio(void **state)
{
	static const uint32_t zipf[] = { 84, 3078, 1176, 3266, 2243, 3266, 2263, 276 };
	static const uint32_t scan[] = { 521, 372, 1230, 80, 927, 1263, 1424, 582 };
	g_autofree char *text = data("zipf_buffered.fio"), *text2 = data("seq_stonewall.fio");
	struct gentrace *t = gentrace(text), *t2 = gentrace(text2);
	unsigned n = 0, n2 = 0;

	for (unsigned i = 0; n < G_N_ELEMENTS(zipf); i++)
		if (gentrace_at(t, i)->op == RS_OP_READ)
			assert_int_equal(gentrace_at(t, i)->page, zipf[n++]);
	for (unsigned i = 0; n2 < G_N_ELEMENTS(scan); i++)
		if (gentrace_at(t2, i)->op == RS_OP_READ)
			assert_int_equal(gentrace_at(t2, i)->page, scan[n2++]);
	gentrace_free(t);
	gentrace_free(t2);
}

static void sequential_reads_go_from_start_to_end(void **state)
{
	struct gentrace *t = gentrace_with(JOB "rw=read\noffset=16k\n", no_own);
	uint32_t page = 4;

	for (unsigned i = 0; i < t->records->len; i++)
		if (gentrace_at(t, i)->op == RS_OP_READ)
			assert_int_equal(gentrace_at(t, i)->page, page++);
	assert_int_equal(page, 20);
	gentrace_free(t);
}

static void random_map_meets_every_block_once(void **state)
{
	struct gentrace *t = gentrace(JOB "rw=randread\n");
	json_t *job = json_array_get(json_object_get(t->summary, "jobs"), 0);

	assert_int_equal(json_integer_value(json_object_get(job, "reads")), 16);
	assert_int_equal(json_integer_value(json_object_get(job, "distinct_pages")), 16);
	gentrace_free(t);
}

static void mmap_engine_touches_through_the_page_table(void **state)
{
	struct gentrace *t = gentrace_with(JOB "rw=randwrite\nioengine=mmap\n", no_own);

	assert_int_equal(gentrace_count(t, RS_OP_READ) + gentrace_count(t, RS_OP_WRITE), 0);
	assert_int_equal(gentrace_pages(t, RS_OP_STORE), 16);
	assert_int_equal(gentrace_count(t, RS_OP_MADVISE), 1);
	assert_int_equal(g_array_index(t->maps, struct rs_map, 0).prot, VM_WRITE | VM_SHARED);
	gentrace_free(t);
}

static void direct_io_is_counted_but_touches_nothing(void **state)
{
	struct gentrace *t = gentrace(JOB "direct=1\n");
	json_t *job = json_array_get(json_object_get(t->summary, "jobs"), 0);

	assert_int_equal(json_integer_value(json_object_get(job, "reads")), 16);
	assert_int_equal(gentrace_count(t, RS_OP_READ), 0);
	assert_non_null(strstr(t->warnings, "bypasses the page cache"));
	gentrace_free(t);
}

/* invalidate=1 and the hint are fio's defaults at every open; laps open again. */
static void opening_drops_and_advises(void **state)
{
	struct gentrace *t = gentrace_with(JOB "io_size=192k\n", no_own);
	unsigned dropped = 0, sequential = 0;

	for (unsigned i = 0; i < t->records->len; i++) {
		const struct rs_record *r = gentrace_at(t, i);

		dropped += r->op == RS_OP_FADVISE && r->arg == RS_ADV_DONTNEED && r->count == 16;
		sequential += r->op == RS_OP_FADVISE && r->arg == RS_ADV_SEQUENTIAL;
	}
	assert_int_equal(dropped, 3);
	assert_int_equal(sequential, 3);
	assert_int_equal(gentrace_count(t, RS_OP_READ), 48);
	gentrace_free(t);
	t = gentrace_with(JOB "io_size=192k\ninvalidate=0\nfadvise_hint=0\n", no_own);
	assert_int_equal(gentrace_count(t, RS_OP_FADVISE), 0);
	gentrace_free(t);
}

/* Two jobs on one file open it each; a hint is for the job's own open file. */
static void jobs_on_one_file_have_a_hint_each(void **state)
{
	struct gentrace *t = gentrace_with("[global]\nfilename=/f\nsize=64k\nbs=4k\ninvalidate=0\n"
					   "[a]\nrw=read\n[b]\nrw=randread\n",
					   no_own);
	unsigned first = 0, second = 0;

	for (unsigned i = 0; i < t->records->len; i++) {
		const struct rs_record *r = gentrace_at(t, i);

		first += r->op == RS_OP_FADVISE && r->arg == RS_FADVISE_ARG(RS_ADV_SEQUENTIAL, 0);
		second += r->op == RS_OP_FADVISE && r->arg == RS_FADVISE_ARG(RS_ADV_RANDOM, 1);
	}
	assert_int_equal(first, 1);
	assert_int_equal(second, 1);
	gentrace_free(t);
}

static void jobs_are_processes_and_thread_jobs_are_not(void **state)
{
	struct gentrace *t = gentrace("[global]\nsize=16k\nbs=4k\n[a]\nnumjobs=3\n[b]\nthread\n");

	assert_int_equal(gentrace_count(t, RS_OP_FORK), 3);
	assert_int_equal(gentrace_int(t, "threads"), 5);
	assert_int_equal(gentrace_int(t, "processes"), 4);
	assert_int_equal(gentrace_count(t, RS_OP_WAIT), 4);
	/* Each clone has a file of its own. */
	assert_int_equal(gentrace_count(t, RS_OP_FILE), 4);
	gentrace_free(t);
}

static void stonewall_waits_for_all_before_it(void **state)
{
	struct gentrace *t = gentrace_with(
		"[global]\nsize=16k\nbs=4k\nfilename=/f\n[a]\n[b]\nstonewall\n", no_own);
	int waits = 0, forks = 0;

	for (unsigned i = 0; i < t->records->len; i++) {
		waits += gentrace_at(t, i)->op == RS_OP_WAIT;
		forks += gentrace_at(t, i)->op == RS_OP_FORK;
		assert_true(forks <= waits + 1);
	}
	assert_int_equal(gentrace_count(t, RS_OP_MARK), 2);
	gentrace_free(t);
}

static void mixed_jobs_have_their_share_of_reads(void **state)
{
	struct gentrace *t = gentrace("[j]\nfilename=/f\nsize=16m\nrw=randrw\nrwmixread=80\n");
	double reads = (double)gentrace_count(t, RS_OP_READ),
	       all = reads + (double)gentrace_count(t, RS_OP_WRITE);

	assert_int_equal(all, 4096);
	assert_true(reads / all > 0.78 && reads / all < 0.82);
	gentrace_free(t);
}

static void rate_and_thinktime_pass_time(void **state)
{
	struct gentrace *t = gentrace_with(JOB "rate_iops=1000\n", no_own);
	uint64_t last = 0;

	for (unsigned i = 0; i < t->records->len; i++)
		if (gentrace_at(t, i)->op == RS_OP_TIME)
			last = gentrace_at(t, i)->value;
	assert_int_equal(last, 16000000);
	gentrace_free(t);
	t = gentrace_with(JOB "thinktime=100\nthinktime_blocks=4\nthinktime_spin=30\n", no_own);
	assert_int_equal(gentrace_count(t, RS_OP_SLEEP), 4);
	assert_int_equal(gentrace_count(t, RS_OP_CPU), 4);
	gentrace_free(t);
}

static void a_run_by_time_takes_the_assumed_rate(void **state)
{
	static const char *const slow[] = { "own_pages=0", "iops=100", NULL };
	struct gentrace *t = gentrace_with(JOB "rw=randread\nruntime=2\ntime_based\n", slow);

	assert_int_equal(gentrace_count(t, RS_OP_READ), 200);
	gentrace_free(t);
}

static void global_options_hold_for_the_sections_behind(void **state)
{
	struct gentrace *t = gentrace("[global]\nsize=8k\n[a]\n[global]\nsize=16k\n[b]\n");
	json_t *jobs = json_object_get(t->summary, "jobs");

	assert_int_equal(json_integer_value(json_object_get(json_array_get(jobs, 0), "bytes_read")),
			 8192);
	assert_int_equal(json_integer_value(json_object_get(json_array_get(jobs, 1), "bytes_read")),
			 16384);
	gentrace_free(t);
}

static void includes_and_variables_are_replaced(void **state)
{
	g_autofree char *path = NULL;
	int fd = g_file_open_tmp("include-XXXXXX", &path, NULL);
	g_autofree char *text = g_strdup_printf("[j]\nfilename=/f\ninclude %s\n", path);
	struct gentrace *t;

	assert_int_equal(write(fd, "size=${GEN_SIZE}\nbs=4k\n", 23), 23);
	close(fd);
	g_setenv("GEN_SIZE", "32k", TRUE);
	t = gentrace_with(text, no_own);
	assert_int_equal(gentrace_count(t, RS_OP_READ), 8);
	gentrace_free(t);
	g_unsetenv("GEN_SIZE");
	assert_generate_error(text, "${GEN_SIZE} is not set");
	g_unlink(path);
}

static void mistakes_are_named_with_their_place(void **state)
{
	static const char *const cases[][2] = {
		{ "[j]\nsize=1m\nbogus=1\n", "spec:3: unknown option \"bogus\"" },
		{ "[j]\nsize=1m\nverify=md5\n",
		  "spec:3: option \"verify\" is not supported: reading back" },
		{ "[j]\nsize=1m\nrw=randtrim\n", "discards of block devices" },
		{ "[j]\nsize=1m\nioengine=rdma\n", "ioengine=rdma is not modelled; valid are" },
		{ "[j]\nbs=4k\n", "size= (or filesize=) is needed" },
		{ "size=1m\n[j]\n", "neither a JSON spec" },
		{ "[j]\nsize=x\n", "spec:2: size=x: a number of bytes is needed" },
		{ "[j]\nsize=9999999999t\n", "more than 2^63 bytes" },
		{ "[j]\nsize=1m\nrandom_distribution=zipf:1\n", "theta other than 1" },
		{ "[j]\nsize=1m\nrandom_distribution= # zipf\n",
		  "option \"random_distribution\" needs a value" },
		{ "[j]\nsize=1m\nruntime=x\n", "a time is needed" },
		{ "[j]\nsize=1m\nread_iolog=x\n", "import the iolog instead" },
		{ "[j]\nsize=1m\nnumjobs=0\n", "numjobs; valid are" },
		{ "[j]\ninclude /does/not/exist\n", "cannot include" },
		{ "[global]\nsize=1m\n", "no job section" },
		{ "[j]\nsize=1k\n", "the block size is larger than the data" },
	};

	for (unsigned i = 0; i < G_N_ELEMENTS(cases); i++)
		assert_generate_error(cases[i][0], cases[i][1]);
}

static void crlf_blanks_and_comments_are_fine(void **state)
{
	struct gentrace *t =
		gentrace_with("\xef\xbb\xbf; c\r\n# c\r\n[ my job ]  ; c\r\n  filename = /f\r\n"
			      "size=64k # c\r\n\r\nbs=4k\r\nrw = read",
			      no_own);

	assert_int_equal(gentrace_count(t, RS_OP_READ), 16);
	gentrace_free(t);
}

static void the_same_job_gives_the_same_bytes(void **state)
{
	struct gentrace *a = gentrace("[j]\nsize=4m\nrw=randrw\nrandrepeat=0\nnumjobs=2\n");
	struct gentrace *b = gentrace("[j]\nsize=4m\nrw=randrw\nrandrepeat=0\nnumjobs=2\n");

	assert_string_equal(rs_trace_digest(a->trace), rs_trace_digest(b->trace));
	gentrace_free(a);
	gentrace_free(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(samples_have_the_values_fio_had),
		cmocka_unit_test(random_offsets_are_those_of_fio),
		cmocka_unit_test(sequential_reads_go_from_start_to_end),
		cmocka_unit_test(random_map_meets_every_block_once),
		cmocka_unit_test(mmap_engine_touches_through_the_page_table),
		cmocka_unit_test(direct_io_is_counted_but_touches_nothing),
		cmocka_unit_test(opening_drops_and_advises),
		cmocka_unit_test(jobs_on_one_file_have_a_hint_each),
		cmocka_unit_test(jobs_are_processes_and_thread_jobs_are_not),
		cmocka_unit_test(stonewall_waits_for_all_before_it),
		cmocka_unit_test(mixed_jobs_have_their_share_of_reads),
		cmocka_unit_test(rate_and_thinktime_pass_time),
		cmocka_unit_test(a_run_by_time_takes_the_assumed_rate),
		cmocka_unit_test(global_options_hold_for_the_sections_behind),
		cmocka_unit_test(includes_and_variables_are_replaced),
		cmocka_unit_test(mistakes_are_named_with_their_place),
		cmocka_unit_test(crlf_blanks_and_comments_are_fine),
		cmocka_unit_test(the_same_job_gives_the_same_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
