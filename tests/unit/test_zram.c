/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * zram: how much memory compressed pages take, when it comes and goes, and who pays.
 */
#include "tests/lib/cm.h"
#include "tests/lib/rig.h"

enum { ANON };

static struct zram *pool(const struct rig *r)
{
	return &r->ctx->m.zram;
}

static uint64_t free_pages(const struct rig *r)
{
	uint64_t n = 0;

	for (unsigned z = 0; z < RS_NR_ZONES; z++)
		n += r->ctx->m.node[0].zone[z].free;
	return n;
}

/*
 * lz4: 4096 / 2.63 = 1557 bytes, 1568 with handle and rounding; 13 fit in 5 pages and leave 96
 * bytes. Kernel 6.1 takes four pages at most, and the first of those that waste the least per
 * cent: 5 in 2 pages. lzo-rle: class 1504, 19 in 7 leave 96; lzo: 1488, 11 in 4 leave 16; zstd:
 * 1232, 23 in 7 leave 336.
 */
static void a_size_class_packs_its_zspages(void **state)
{
	static const struct {
		const char *kernel, *algorithm;
		uint32_t bytes, objects, pages;
	} expect[] = {
		{ "6.12", "lz4", 1557, 13, 5 },	    { "6.1", "lz4", 1557, 5, 2 },
		{ "6.12", "lzo-rle", 1494, 19, 7 }, { "6.12", "lzo", 1478, 11, 4 },
		{ "6.12", "zstd", 1215, 23, 7 },
	};

	for (unsigned i = 0; i < G_N_ELEMENTS(expect); i++) {
		const char *const settings[] = { "swap", "zram", "zram.algorithm",
						 expect[i].algorithm, NULL };
		struct rig *r = rig_new(expect[i].kernel, "classic", settings);

		assert_int_equal(pool(r)->page_bytes, expect[i].bytes);
		assert_int_equal(pool(r)->objects_per_zspage, expect[i].objects);
		assert_int_equal(pool(r)->zspage_pages, expect[i].pages);
		rig_free(r);
	}
}

/* What does not compress below 3264 bytes takes a whole page. */
static void a_page_that_does_not_compress_takes_a_page(void **state)
{
	static const char *const settings[] = { "swap", "zram", "zram.compressed_bytes", "3264",
						NULL };
	struct rig *r = rig_new("6.12", "classic", settings);

	assert_int_equal(pool(r)->page_bytes, 4096);
	assert_int_equal(pool(r)->objects_per_zspage, 1);
	assert_int_equal(pool(r)->zspage_pages, 1);
	rig_free(r);
}

/* 1000 pages above a limit of 1000: what is swapped out lies in the machine, not in the group. */
static void compressed_pages_take_memory_outside_of_the_group(void **state)
{
	static const char *const settings[] = { "swap", "zram",	      "zram.algorithm",
						"lz4",	"memory.max", "1000p",
						NULL };
	struct rig *r = rig_new("6.12", "classic", settings);
	uint64_t before = free_pages(r), swapped, used;

	rig_map_anon(r, ANON, 2000);
	rig_store(r, ANON, 0, 2000);
	swapped = pool(r)->nr_objects;
	assert_in_range(swapped, 1000, 1100);
	assert_int_equal(swapped, rig_vmstat(r, RS_PSWPOUT));
	used = (swapped + 12) / 13 * 5;
	assert_int_equal(pool(r)->frames->len, used);
	assert_true(r->ctx->m.memcg[r->memcg].usage <= 1000);
	assert_int_equal(before - free_pages(r), used + 2000 - swapped);
	rig_check(r);
	/* Its end gives everything back, but for the slots that wait for their batch of 64. */
	rig_record(r, (struct rs_record){ .op = RS_OP_MUNMAP, .object = ANON }, NULL);
	rig_drain(r);
	assert_in_range(pool(r)->nr_objects, 0, 64);
	assert_int_equal(before - free_pages(r), pool(r)->frames->len);
	rig_check(r);
	rig_free(r);
}

/* The same load on a machine without limit: zram leaves less free, and swaps more for it. */
static void a_machine_with_zram_has_less_memory(void **state)
{
	static const char *const kind[] = { "null", "zram" };
	uint64_t out[2];

	for (unsigned k = 0; k < 2; k++) {
		const char *const settings[] = { "swap",	 kind[k], "memory.max", "max",
						 "node0.memory", "16M",	  NULL };
		struct rig *r = rig_new("6.12", "classic", settings);

		rig_map_anon(r, ANON, 6000);
		rig_store(r, ANON, 0, 6000);
		out[k] = rig_vmstat(r, RS_PSWPOUT);
		rig_check(r);
		rig_free(r);
	}
	/* 6000 - 4096 have to go; each three that go to zram bring one back. */
	assert_in_range(out[0], 1904, 2300);
	assert_true(out[1] > out[0] * 13 / 10);
}

/* A measured time of the algorithm in use stands for cost and factor. */
static void times_of_an_algorithm_can_be_given(void **state)
{
	static const char *const settings[] = { "swap",
						"zram",
						"zram.algorithm",
						"zstd",
						"zram.zstd.compress_ns",
						"7000",
						"zram.lz4.compress_ns",
						"1",
						"memory.max",
						"1000p",
						NULL };
	struct rig *r = rig_new("6.12", "classic", settings);

	rig_map_anon(r, ANON, 1200);
	rig_store(r, ANON, 0, 1200);
	assert_int_equal(r->ctx->activity_ns[RS_COST_COMPRESS], 7000 * rig_vmstat(r, RS_PSWPOUT));
	rig_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_size_class_packs_its_zspages),
		cmocka_unit_test(a_page_that_does_not_compress_takes_a_page),
		cmocka_unit_test(compressed_pages_take_memory_outside_of_the_group),
		cmocka_unit_test(a_machine_with_zram_has_less_memory),
		cmocka_unit_test(times_of_an_algorithm_can_be_given),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
