/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bare.c - a machine without an engine.
 */
#include "tests/lib/bare.h"

struct bare *bare_new(const char *kernel, const char *const *settings)
{
	struct bare *b = g_new0(struct bare, 1);
	GError *error = NULL;

	b->scenario = rs_scenario_new();
	rs_scenario_set_kernel(b->scenario, kernel, &error);
	assert_no_error(error);
	rs_scenario_set(b->scenario, "node0.memory", "256M", &error);
	assert_no_error(error);
	for (const char *const *s = settings; s && *s; s += 2) {
		rs_scenario_set(b->scenario, s[0], s[1], &error);
		assert_no_error(error);
	}
	machine_init(&b->m, rs_scenario_config(b->scenario), RS_NR_LRU, &error);
	assert_no_error(error);
	assert_int_equal(bare_memcg(b, "/"), 0);
	return b;
}

void bare_free(struct bare *b)
{
	machine_clear(&b->m);
	rs_scenario_free(b->scenario);
	g_free(b);
}

uint16_t bare_memcg(struct bare *b, const char *path)
{
	GError *error = NULL;
	uint16_t id = memcg_create(&b->m, path, &error);

	assert_no_error(error);
	return id;
}

struct rs_vma *bare_map(struct bare *b, struct mm *mm, uint64_t start, uint64_t pages,
			uint32_t prot)
{
	const struct rs_map map = { .file = RS_MAP_FILE_NONE, .prot = prot, .pages = pages };

	return mm_map(&b->m, mm, start, &map, 0);
}
