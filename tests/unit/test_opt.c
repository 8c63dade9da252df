/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * test_opt.c - the clairvoyant bound against an exhaustive search, and what counts as a miss; reuse
 * distances against a plain LRU list.
 */
#include "lib/cm.h"

#include <reclaimsim/opt.h>
#include <reclaimsim/trace_stats.h>

#include "lib/trace_file.h"
#include "sim/base/rng.h"

static struct rs_opt_result bound(const char *text, uint64_t capacity)
{
	char *path = trace_file_text(text);
	GError *error = NULL;
	struct rs_trace *t = rs_trace_open(path, &error);
	struct rs_opt_result r = { 0 };

	assert_no_error(error);
	assert_true(rs_opt_bound(t, capacity, &r, &error));
	assert_no_error(error);
	rs_trace_free(t);
	trace_file_remove(path);
	return r;
}

static void assert_misses(const char *text, uint64_t capacity, uint64_t anon, uint64_t mapped,
			  uint64_t call)
{
	struct rs_opt_result r = bound(text, capacity);

	assert_int_equal(r.end.anon, anon);
	assert_int_equal(r.end.file_mapped, mapped);
	assert_int_equal(r.end.file_call, call);
	rs_opt_result_clear(&r);
}

static void first_touches_of_anonymous_pages_are_free(void **state)
{
	assert_misses("region a anon 9\ns a 0 3\n", 9, 0, 0, 0);
	assert_misses("region a anon 9\ns a 0 3\nl a 0 3\n", 2, 1, 0, 0);
}

static void file_pages_cost_their_first_read(void **state)
{
	assert_misses("file f 9\nr f 0 3\nr f 0 3\n", 9, 0, 0, 3);
	assert_misses("region a file f 9\nl a 0 3\n", 9, 0, 3, 0);
}

static void a_file_page_is_one_page_however_it_is_reached(void **state)
{
	assert_misses("region a file f 9\nregion b file f 4 +2\nl a 2\nl b 0\nr f 2 1\nfork 1\nt "
		      "1\nl a 2\n",
		      9, 0, 1, 0);
}

static void whole_page_writes_read_nothing(void **state)
{
	assert_misses("file f 9\nw f 0 4\nr f 0 4\n", 9, 0, 0, 0);
	/* Page 0 goes out for page 1; that it is overwritten again costs nothing. */
	assert_misses("file f 9\nw f 0 1\nw f 1 1\nw f 0 1\n", 1, 0, 0, 0);
}

static void loads_of_untouched_anonymous_pages_take_no_memory(void **state)
{
	assert_misses("region a anon 9\ns a 0\nl a 1 8\nl a 0\n", 1, 0, 0, 0);
	/* Shared memory has no zero page. */
	assert_misses("region a anon 9 rw-s\ns a 0\nl a 1\nl a 0\n", 1, 1, 0, 0);
}

static void discarded_pages_begin_anew(void **state)
{
	assert_misses("region a anon 9\ns a 0\ns a 1\nmadvise a dontneed 0 1\ns a 0\n", 1, 0, 0, 0);
	assert_misses("region a anon 9\ns a 0\nu a\nregion a anon 9\ns a 0\n", 1, 0, 0, 0);
	assert_misses("region a anon 9\ns a 0\nexec\nregion a anon 9\ns a 0\n", 1, 0, 0, 0);
}

static void a_forked_family_shares_pages_until_the_last_is_gone(void **state)
{
	assert_misses("region a anon 9\ns a 0\nfork 1\nt 1\nl a 0\nexit\nt 0\nl a 0\n", 1, 0, 0, 0);
}

static void a_private_mapping_copies_at_the_first_store(void **state)
{
	/* The store reads page 0 of the file and begins an anonymous page; both need memory. */
	assert_misses("region a file f 9 rw-p\ns a 0\nl a 0\n", 2, 0, 1, 0);
	assert_misses("region a file f 9 rw-p\ns a 0\nl a 0\nr f 0 1\n", 1, 0, 1, 1);
}

static void marks_tell_what_was_missed_before_them(void **state)
{
	struct rs_opt_result r = bound("file f 9\nm start\nr f 0 3\nm half\nr f 3 2\n", 9);

	assert_int_equal(r.nr_marks, 2);
	assert_int_equal(r.marks[0].op, 0);
	assert_int_equal(rs_opt_misses(&r.marks[0].counts), 0);
	assert_int_equal(r.marks[1].op, 2);
	assert_int_equal(rs_opt_misses(&r.marks[1].counts), 3);
	assert_int_equal(rs_opt_misses(&r.end), 5);
	rs_opt_result_clear(&r);
}

static void memory_of_nothing_is_refused(void **state)
{
	char *path = trace_file_text("file f 9\n");
	GError *error = NULL;
	struct rs_trace *t = rs_trace_open(path, &error);
	struct rs_opt_result r;

	assert_false(rs_opt_bound(t, 0, &r, &error));
	assert_error(&error, "at least 1 page");
	rs_trace_free(t);
	trace_file_remove(path);
}

/* ---- exhaustive search ---- */

#define PAGES 6
#define LENGTH 14

struct step {
	int page;
	bool costs;
};

/* Fewest misses from step i on, with the pages of the set in memory. */
static unsigned search(const struct step *s, int i, unsigned set, unsigned capacity,
		       int8_t memo[][1 << PAGES])
{
	if (i == LENGTH)
		return 0;
	if (memo[i][set] >= 0)
		return memo[i][set];
	unsigned bit = 1u << s[i].page, best = UINT32_MAX;
	if (set & bit) {
		best = search(s, i + 1, set, capacity, memo);
	} else if ((unsigned)__builtin_popcount(set) < capacity) {
		best = s[i].costs + search(s, i + 1, set | bit, capacity, memo);
	} else {
		for (unsigned victim = 1; victim < 1 << PAGES; victim <<= 1)
			if (set & victim)
				best = MIN(best,
					   s[i].costs + search(s, i + 1, (set & ~victim) | bit,
							       capacity, memo));
	}
	memo[i][set] = best;
	return best;
}

static void no_choice_of_victims_misses_less(void **state)
{
	static int8_t memo[LENGTH][1 << PAGES];
	struct rs_rng rng;

	rs_rng_init(&rng, 1, "opt");
	for (int round = 0; round < 400; round++) {
		g_autoptr(GString) text =
			g_string_new("file f 3\nregion m file f 3\nregion a anon 3\n");
		struct step steps[LENGTH];
		bool begun[PAGES] = { false };

		/* Pages 0 to 2 are of the file, 3 to 5 anonymous. */
		for (int i = 0; i < LENGTH; i++) {
			int page = rs_rng_below(&rng, PAGES), how = rs_rng_below(&rng, 4);
			bool file = page < 3;

			steps[i] = (struct step){ page, file ? how != 0 : begun[page] };
			g_string_append_printf(text,
					       file ? how == 0	  ? "w f %d 1\n"
						       : how == 1 ? "l m %d\n"
								  : "r f %d 1\n"
						    : "s a %d\n",
					       page % 3);
			begun[page] = true;
		}
		for (unsigned capacity = 1; capacity <= 4; capacity++) {
			struct rs_opt_result r = bound(text->str, capacity);

			memset(memo, -1, sizeof(memo));
			if (rs_opt_misses(&r.end) != search(steps, 0, 0, capacity, memo))
				fail_msg("capacity %u, not minimal:\n%s", capacity, text->str);
			rs_opt_result_clear(&r);
		}
	}
}

/* ---- LRU ---- */

#define LRU_PAGES 40

/* A plain LRU of the size over the steps; -1 - p discards page p. */
static uint64_t lru_misses(const int *step, int n, unsigned capacity)
{
	int list[LRU_PAGES + 1];
	unsigned used = 0;
	uint64_t misses = 0;
	bool begun[LRU_PAGES] = { false };

	for (int i = 0; i < n; i++) {
		int page = step[i] < 0 ? -1 - step[i] : step[i];
		unsigned at = 0;

		while (at < used && list[at] != page)
			at++;
		bool hit = at < used;
		if (hit)
			memmove(list + at, list + at + 1, (--used - at) * sizeof(*list));
		if (step[i] < 0) {
			begun[page] = false;
			continue;
		}
		misses += !hit && begun[page];
		begun[page] = true;
		if (used == capacity)
			memmove(list, list + 1, --used * sizeof(*list));
		list[used++] = page;
	}
	return misses;
}

static void the_miss_ratio_curve_is_that_of_lru(void **state)
{
	enum { STEPS = 6000 };
	static int step[STEPS];
	struct rs_trace_stats s;
	struct rs_rng rng;
	GError *error = NULL;
	g_autoptr(GString) text = g_string_new(NULL);

	rs_rng_init(&rng, 1, "lru");
	g_string_printf(text, "region a anon %d\n", LRU_PAGES);
	for (int i = 0; i < STEPS; i++) {
		int page = MIN(rs_rng_below(&rng, LRU_PAGES), rs_rng_below(&rng, LRU_PAGES));
		bool discard = !rs_rng_below(&rng, 12);

		step[i] = discard ? -1 - page : page;
		g_string_append_printf(text, discard ? "madvise a dontneed %d 1\n" : "s a %d\n",
				       page);
	}
	char *path = trace_file_text(text->str);
	struct rs_trace *t = rs_trace_open(path, &error);
	assert_true(rs_trace_stats(t, 1, &s, &error));
	for (unsigned capacity = 1; capacity <= LRU_PAGES; capacity++)
		assert_int_equal(rs_trace_lru_misses(&s, capacity),
				 lru_misses(step, STEPS, capacity));
	rs_trace_stats_clear(&s);
	rs_trace_free(t);
	trace_file_remove(path);
}

static void lru_never_misses_less_than_the_bound(void **state)
{
	static const char *const names[] = { "anon-loop", "write-mix", "exec-cached" };

	for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
		g_autofree char *path = g_strdup_printf("%s/tests/data/traces/%s.trace.zst",
							RS_SOURCE_DIR, names[i]);
		struct rs_trace_stats s;
		GError *error = NULL;
		struct rs_trace *t = rs_trace_open(path, &error);

		assert_true(rs_trace_stats(t, 1, &s, &error));
		rs_trace_free(t);
		for (uint64_t capacity = 1000; capacity < 64000; capacity *= 2) {
			struct rs_opt_result r;

			t = rs_trace_open(path, &error);
			assert_true(rs_opt_bound(t, capacity, &r, &error));
			assert_true(rs_opt_misses(&r.end) <= rs_trace_lru_misses(&s, capacity));
			/* With all of it in memory both are the cold misses. */
			if (capacity > s.all.pages)
				assert_int_equal(rs_opt_misses(&r.end), s.cold_misses);
			rs_opt_result_clear(&r);
			rs_trace_free(t);
		}
		rs_trace_stats_clear(&s);
	}
}

static void a_sampled_curve_is_near_the_exact_one(void **state)
{
	struct rs_trace_stats exact, sampled;
	GError *error = NULL;
	struct rs_trace *t;

	t = rs_trace_open(RS_SOURCE_DIR "/tests/data/traces/write-mix.trace.zst", &error);
	assert_true(rs_trace_stats(t, 1, &exact, &error));
	rs_trace_free(t);
	t = rs_trace_open(RS_SOURCE_DIR "/tests/data/traces/write-mix.trace.zst", &error);
	assert_true(rs_trace_stats(t, 10, &sampled, &error));
	rs_trace_free(t);
	for (uint64_t pages = 1000; pages < 20000; pages += 1000) {
		double a = rs_trace_lru_misses(&exact, pages),
		       b = rs_trace_lru_misses(&sampled, pages);

		assert_true(b > 0.9 * a && b < 1.1 * a);
	}
	rs_trace_stats_clear(&exact);
	rs_trace_stats_clear(&sampled);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(first_touches_of_anonymous_pages_are_free),
		cmocka_unit_test(file_pages_cost_their_first_read),
		cmocka_unit_test(a_file_page_is_one_page_however_it_is_reached),
		cmocka_unit_test(whole_page_writes_read_nothing),
		cmocka_unit_test(loads_of_untouched_anonymous_pages_take_no_memory),
		cmocka_unit_test(discarded_pages_begin_anew),
		cmocka_unit_test(a_forked_family_shares_pages_until_the_last_is_gone),
		cmocka_unit_test(a_private_mapping_copies_at_the_first_store),
		cmocka_unit_test(marks_tell_what_was_missed_before_them),
		cmocka_unit_test(memory_of_nothing_is_refused),
		cmocka_unit_test(no_choice_of_victims_misses_less),
		cmocka_unit_test(the_miss_ratio_curve_is_that_of_lru),
		cmocka_unit_test(lru_never_misses_less_than_the_bound),
		cmocka_unit_test(a_sampled_curve_is_near_the_exact_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
