/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The tree of groups: charges, order, protection, statistics that lag behind.
 */
#include "tests/lib/bare.h"

static void a_group_is_made_with_its_ancestors(void **state)
{
	struct bare *b = bare_new("6.12", NULL);
	uint16_t c = bare_memcg(b, "/a/b/c"), a = memcg_find(&b->m, "/a"),
		 ab = memcg_find(&b->m, "/a/b");

	assert_int_equal(b->m.memcg[c].parent, ab);
	assert_int_equal(b->m.memcg[ab].parent, a);
	assert_int_equal(b->m.memcg[a].parent, 0);
	assert_int_equal(b->m.memcg[0].parent, RS_MEMCG_NONE);
	assert_int_equal(bare_memcg(b, "/a/b/c"), c);
	assert_int_equal(memcg_find(&b->m, "/a/x"), RS_MEMCG_NONE);
	bare_free(b);
}

static void a_bad_path_is_refused_with_the_rule(void **state)
{
	struct bare *b = bare_new("6.12", NULL);
	GError *error = NULL;

	assert_int_equal(memcg_create(&b->m, "a", &error), RS_MEMCG_NONE);
	assert_error(&error, "'a': it begins with /");
	assert_int_equal(memcg_create(&b->m, "/a/", &error), RS_MEMCG_NONE);
	assert_error(&error, "ends without one");
	bare_free(b);
}

static void groups_are_visited_parents_first_in_order_of_creation(void **state)
{
	static const char *const path[] = { "/b", "/a", "/b/2", "/b/1", "/a/x" };
	static const char *const order[] = { "/", "/b", "/b/2", "/b/1", "/a", "/a/x" };
	struct bare *b = bare_new("6.12", NULL);
	uint16_t i = RS_MEMCG_NONE;

	for (unsigned k = 0; k < G_N_ELEMENTS(path); k++)
		bare_memcg(b, path[k]);
	for (unsigned k = 0; k < G_N_ELEMENTS(order); k++) {
		i = memcg_next(&b->m, 0, i);
		assert_string_equal(b->m.memcg[i].path, order[k]);
	}
	assert_int_equal(memcg_next(&b->m, 0, i), RS_MEMCG_NONE);
	/* A subtree ends with itself. */
	i = memcg_next(&b->m, memcg_find(&b->m, "/b"), memcg_find(&b->m, "/b/1"));
	assert_int_equal(i, RS_MEMCG_NONE);
	bare_free(b);
}

static void a_group_is_its_own_descendant(void **state)
{
	struct bare *b = bare_new("6.12", NULL);
	uint16_t ab = bare_memcg(b, "/a/b"), a = memcg_find(&b->m, "/a"), c = bare_memcg(b, "/c");

	assert_true(memcg_is_descendant(&b->m, ab, ab));
	assert_true(memcg_is_descendant(&b->m, ab, a));
	assert_true(memcg_is_descendant(&b->m, ab, 0));
	assert_false(memcg_is_descendant(&b->m, a, ab));
	assert_false(memcg_is_descendant(&b->m, c, a));
	bare_free(b);
}

static void a_charge_counts_in_every_ancestor_or_nowhere(void **state)
{
	struct bare *b = bare_new(
		"6.12", SETTINGS("memcg:/a.memory.max", "100p", "memcg:/a/b.memory.max", "80p"));
	uint16_t ab = bare_memcg(b, "/a/b"), a = memcg_find(&b->m, "/a"), over = 0;

	assert_true(memcg_try_charge(&b->m, ab, 80, &over));
	assert_int_equal(b->m.memcg[ab].usage, 80);
	assert_int_equal(b->m.memcg[a].usage, 80);
	assert_int_equal(b->m.memcg[0].usage, 80);
	assert_false(memcg_try_charge(&b->m, ab, 1, &over));
	assert_int_equal(over, ab);
	assert_true(memcg_try_charge(&b->m, a, 20, &over));
	assert_false(memcg_try_charge(&b->m, a, 1, &over));
	assert_int_equal(over, a);
	assert_int_equal(b->m.memcg[0].usage, 100);
	assert_int_equal(memcg_margin(&b->m, a), 0);
	assert_int_equal(memcg_margin(&b->m, 0), RS_UNLIMITED);
	memcg_uncharge(&b->m, ab, 30);
	assert_int_equal(memcg_margin(&b->m, ab), 30);
	assert_int_equal(memcg_margin(&b->m, a), 30);
	/* Over the limit by force: no margin, and the peak stays. */
	memcg_force_charge(&b->m, ab, 50);
	assert_int_equal(memcg_margin(&b->m, ab), 0);
	memcg_uncharge(&b->m, ab, 100);
	assert_int_equal(b->m.memcg[ab].peak, 100);
	bare_free(b);
}

/* A parent's 100 pages go to claims of 80 and 40 as 66 and 33. */
static void claims_beyond_the_parents_protection_share_it(void **state)
{
	struct bare *b = bare_new(
		"6.12", SETTINGS("memcg:/p.memory.low", "100p", "memcg:/p/a.memory.low", "80p",
				 "memcg:/p/b.memory.low", "80p", "memcg:/p/a.memory.min", "10p"));
	uint16_t a = bare_memcg(b, "/p/a"), c = bare_memcg(b, "/p/b"), p = memcg_find(&b->m, "/p");

	memcg_force_charge(&b->m, a, 100);
	memcg_force_charge(&b->m, c, 40);
	memcg_update_protection(&b->m, 0);
	assert_int_equal(b->m.memcg[p].effective_low, 100);
	assert_int_equal(b->m.memcg[a].effective_low, 66);
	assert_int_equal(b->m.memcg[c].effective_low, 33);
	/* No protection flows to a child from a parent that has none. */
	assert_int_equal(b->m.memcg[a].effective_min, 0);
	/* Reclaim for the parent's own limit: its children's settings count in full. */
	memcg_update_protection(&b->m, p);
	assert_int_equal(b->m.memcg[p].effective_low, 0);
	assert_int_equal(b->m.memcg[a].effective_low, 80);
	assert_int_equal(b->m.memcg[a].effective_min, 10);
	bare_free(b);
}

static void claims_within_the_parents_protection_are_met(void **state)
{
	struct bare *b =
		bare_new("6.12", SETTINGS("memcg:/p.memory.min", "100p", "memcg:/p/a.memory.min",
					  "60p", "memcg:/p/b.memory.min", "60p"));
	uint16_t a = bare_memcg(b, "/p/a"), c = bare_memcg(b, "/p/b");

	memcg_force_charge(&b->m, a, 50);
	memcg_force_charge(&b->m, c, 50);
	memcg_update_protection(&b->m, 0);
	assert_int_equal(b->m.memcg[a].effective_min, 50);
	assert_int_equal(b->m.memcg[c].effective_min, 50);
	bare_free(b);
}

static void list_sizes_of_a_group_hold_its_descendants_and_lag(void **state)
{
	struct bare *b = bare_new("6.12", NULL);
	uint16_t ab = bare_memcg(b, "/a/b"), a = memcg_find(&b->m, "/a");
	struct lruvec *parent = lruvec_of(&b->m, a, 0), *child = lruvec_of(&b->m, ab, 0);

	lruvec_size_add(&b->m, child, RS_INACTIVE_FILE, RS_ZONE_DMA32, 7);
	lruvec_size_add(&b->m, parent, RS_INACTIVE_FILE, RS_ZONE_DMA, 3);
	assert_int_equal(child->lru[RS_INACTIVE_FILE], 7);
	assert_int_equal(parent->lru[RS_INACTIVE_FILE], 10);
	assert_int_equal(parent->size[RS_ZONE_DMA32][RS_INACTIVE_FILE], 0);
	assert_int_equal(b->m.node[0].zone[RS_ZONE_DMA32].nr_lru[RS_INACTIVE_FILE], 7);
	assert_int_equal(parent->lru_flushed[RS_INACTIVE_FILE], 0);
	memcg_flush_stats(&b->m);
	assert_int_equal(parent->lru_flushed[RS_INACTIVE_FILE], 10);
	bare_free(b);
}

/* A unit goes to the threshold for every 64 updates that have gathered. */
static void pending_updates_are_counted_in_units_of_64(void **state)
{
	struct bare *b = bare_new("6.1", NULL);

	memcg_stat_updated(&b->m, 64);
	assert_int_equal(b->m.stat_threshold, 0);
	memcg_stat_updated(&b->m, 1);
	assert_int_equal(b->m.stat_threshold, 1);
	memcg_stat_updated(&b->m, 200);
	assert_int_equal(b->m.stat_threshold, 4);
	/* Beyond the number of CPUs there is no need to count. */
	memcg_stat_updated(&b->m, 200);
	assert_int_equal(b->m.stat_threshold, 4);
	memcg_flush_stats(&b->m);
	assert_int_equal(b->m.stat_threshold, 0);
	bare_free(b);
}

static void events_count_where_the_kernel_shows_them(void **state)
{
	struct bare *b = bare_new("6.1", NULL);
	uint16_t a = bare_memcg(b, "/a");

	lruvec_count(&b->m, lruvec_of(&b->m, a, 0), RS_PGACTIVATE, 5);
	assert_int_equal(b->m.vmstat[RS_PGACTIVATE], 5);
	assert_int_equal(b->m.memcg[a].event[RS_PGACTIVATE], 5);
	assert_int_equal(b->m.memcg[0].event[RS_PGACTIVATE], 5);
	/* Swap traffic stands in memory.stat since 6.14. */
	assert_false(event_is_memcg(&b->m, RS_PSWPIN));
	bare_free(b);
	b = bare_new("6.14", NULL);
	assert_true(event_is_memcg(&b->m, RS_PSWPIN));
	bare_free(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_group_is_made_with_its_ancestors),
		cmocka_unit_test(a_bad_path_is_refused_with_the_rule),
		cmocka_unit_test(groups_are_visited_parents_first_in_order_of_creation),
		cmocka_unit_test(a_group_is_its_own_descendant),
		cmocka_unit_test(a_charge_counts_in_every_ancestor_or_nowhere),
		cmocka_unit_test(claims_beyond_the_parents_protection_share_it),
		cmocka_unit_test(claims_within_the_parents_protection_are_met),
		cmocka_unit_test(list_sizes_of_a_group_hold_its_descendants_and_lag),
		cmocka_unit_test(pending_updates_are_counted_in_units_of_64),
		cmocka_unit_test(events_count_where_the_kernel_shows_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
