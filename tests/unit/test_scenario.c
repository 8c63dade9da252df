/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * test_scenario.c - settings by name, defaults by kernel, machine files and their errors.
 */
#include "lib/cm.h"
#include "sim/base/config.h"

#include <glib/gstdio.h>
#include <jansson.h>

static struct rs_scenario *scenario;
static GError *error;

static int set_up(void **state)
{
	scenario = rs_scenario_new();
	return 0;
}

static int tear_down(void **state)
{
	rs_scenario_free(scenario);
	g_clear_error(&error);
	return 0;
}

static const struct rs_config *config(void)
{
	return rs_scenario_config(scenario);
}

static void set(const char *key, const char *value)
{
	if (!rs_scenario_set(scenario, key, value, &error))
		fail_msg("%s=%s: %s", key, value, error->message);
}

static void refused(const char *key, const char *value, const char *part)
{
	assert_false(rs_scenario_set(scenario, key, value, &error));
	assert_error(&error, part);
}

/* Load a machine file with that text. */
static bool load(const char *text)
{
	char *path = NULL;
	int fd = g_file_open_tmp("rs-machine-XXXXXX.json", &path, NULL);
	bool ok;

	assert_true(fd >= 0);
	g_close(fd, NULL);
	assert_true(g_file_set_contents(path, text, -1, NULL));
	ok = rs_scenario_load(scenario, path, &error);
	g_unlink(path);
	g_free(path);
	return ok;
}

static void the_options_of_a_truth_run_are_understood(void **state)
{
	set("memory.max", "16000p");
	set("vm.swappiness", "60");
	set("vm.page-cluster", "0");
	set("read_ahead_kb", "0");
	set("fault_around_bytes", "4096");
	set("swap", "null");
	set("disk", "null");
	set("node0.managed", "24000");
	set("node0.free", "0");
	set("lru_gen.enabled", "0x0001");
	assert_int_equal(config()->memcgs[0].max, 65536000);
	assert_int_equal(config()->page_cluster, 0);
	assert_int_equal(config()->read_ahead_bytes, 0);
	assert_int_equal(config()->fault_around_bytes, 4096);
	assert_int_equal(config()->swap, DEV_NULL);
	assert_int_equal(config()->disk, DEV_NULL);
	assert_int_equal(config()->node[0].managed, 24000);
	assert_int_equal(config()->node[0].free, 0);
	assert_int_equal(config()->lru_gen_enabled, 1);
	assert_int_equal(config()->swap_size, 2ull << 30);
}

static void settings_of_zones_groups_nodes_and_costs_have_names(void **state)
{
	set("node0.zone.DMA32.managed", "22124");
	set("node1.distance.0", "21");
	set("memcg:/a.b/c.memory.low", "64M");
	set("memcg:/a.b/c.memory.swap.max", "max");
	set("cost.rmap_fixed", "1us");
	assert_int_equal(config()->node[0].zone[RS_ZONE_DMA32].managed, 22124);
	assert_int_equal(config()->node[0].zone[RS_ZONE_NORMAL].managed, -1);
	assert_int_equal(config()->node[1].distance[0], 21);
	assert_int_equal(config()->node[1].distance[1], 10);
	assert_int_equal(config()->nr_memcgs, 2);
	assert_string_equal(config()->memcgs[1].path, "/a.b/c");
	assert_int_equal(config()->memcgs[1].low, 64 << 20);
	assert_true(config()->memcgs[1].max == RS_UNLIMITED);
	assert_int_equal(config()->cost[RS_COST_RMAP_FIXED], 1000);
}

static void a_limit_of_zero_is_valid(void **state)
{
	set("memory.max", "0");
	assert_int_equal(config()->memcgs[0].max, 0);
}

static void unknown_settings_name_the_nearest(void **state)
{
	refused("memory.mx", "1", "did you mean \"memory.max\"?");
	refused("swapiness", "1", "did you mean \"vm.swappiness\"?");
	refused("node0.zone.DMA16.managed", "1", "zones are DMA, DMA32 and Normal");
	refused("node9.memory", "1", "node0 to node7");
	refused("memcg:/a.memory.lo", "1", "did you mean \"memory.low\"?");
	refused("memcg:a.memory.low", "1", "memcg:/name");
	refused("", "1", "unknown setting");
	refused("qqqqqqqqqqqqqqq", "1", "list settings");
}

static void bad_values_say_what_is_valid(void **state)
{
	refused("vm.swappiness", "201", "vm.swappiness: 201 is out of range (0 to 200)");
	refused("vm.swappiness", "-1", "not a number");
	refused("memory.max", "1GB", "write 1G");
	refused("swap", "floppy", "none, null, virtio, zram, ssd, nvme, hdd");
	refused("disk", "none", "null, virtio, ssd, nvme, hdd");
	refused("disk", "", "is none of");
	refused("fault_around_bytes", "5000", "power of two");
	refused("fault_around_bytes", "2048", "out of range");
	refused("lru_gen.enabled", "0xg", "bit mask");
	refused("read_ahead_kb", "99999999999999999", "out of range");
	refused("kernel", "2.6", "5.18, 6.1, 6.12, 6.14, 7.2");
	assert_int_equal(config()->swappiness, 60);
}

static void what_the_user_left_alone_follows_the_kernel(void **state)
{
	assert_int_equal(config()->per_vma_lock, PVL_6_10);
	assert_true(rs_scenario_set_kernel(scenario, "6.1", NULL));
	assert_int_equal(config()->per_vma_lock, PVL_OFF);
	assert_int_equal(config()->sort_dirty, 1);
	set("mm.per_vma_lock", "6.4");
	set("kernel", "7.2");
	assert_int_equal(config()->kernel, RS_KERNEL_7_2);
	assert_int_equal(config()->per_vma_lock, PVL_6_4);
	assert_int_equal(config()->sort_dirty, 0);
}

static void a_copy_is_independent(void **state)
{
	struct rs_scenario *copy;

	set("memcg:/a.memory.low", "1M");
	set("mm.per_vma_lock", "off");
	copy = rs_scenario_copy(scenario);
	set("memcg:/a.memory.low", "2M");
	assert_int_equal(rs_scenario_config(copy)->memcgs[1].low, 1 << 20);
	assert_true(rs_scenario_set_kernel(copy, "7.2", NULL));
	assert_int_equal(rs_scenario_config(copy)->per_vma_lock, PVL_OFF);
	rs_scenario_free(copy);
}

static void machine_files_may_nest_and_may_hold_comments(void **state)
{
	assert_true(load(
		"{\"comment\": \"guest\", \"vm\": {\"swappiness\": 10, \"page-cluster\": \"0\"},\n"
		" \"memory.max\": \"64M\", \"numa.demotion_enabled\": true,\n"
		" \"cost\": {\"comment\": \"measured\", \"hit\": \"2ns\"},\n"
		" \"memcg:/a\": {\"memory.low\": \"max\"}}"));
	assert_int_equal(config()->swappiness, 10);
	assert_int_equal(config()->page_cluster, 0);
	assert_int_equal(config()->memcgs[0].max, 64 << 20);
	assert_true(config()->demotion_enabled);
	assert_int_equal(config()->cost[RS_COST_HIT], 2);
	assert_true(config()->memcgs[1].low == RS_UNLIMITED);
}

static void mistakes_in_machine_files_have_their_place(void **state)
{
	assert_false(load("{\"vm\": {\"swappiness\": 10,\n  \"page-clutser\": 0}}"));
	assert_error(&error, ".json:2:3: unknown setting \"vm.page-clutser\"");
	assert_false(load("{\"swap\": \"null\",\n\n \"disk\": \"zram\"}"));
	assert_error(&error, ".json:3:2: disk: ");
	assert_false(load("{\"swap\": \"null\", \"swap\": \"zram\"}"));
	assert_error(&error, ".json:1:23: duplicate object key");
	assert_false(load("{\"swap\": [1]}"));
	assert_error(&error, ".json:1:2: swap: a string, an integer, true or false");
	assert_false(load("{\"swap\": \"null\""));
	assert_error(&error, ".json:1:");
	assert_false(load("[1]"));
	assert_error(&error, "one object of settings");
	assert_false(load(""));
	assert_error(&error, ".json:1:1: ");
	assert_false(rs_scenario_load(scenario, "/nonexistent/x.json", &error));
	assert_error(&error, "cannot open");
}

static void settings_of_a_node_that_is_not_there_are_found(void **state)
{
	set("node1.memory", "1G");
	assert_false(rs_scenario_check(scenario, &error));
	assert_error(&error, "node1.memory: there are only 1 nodes");
	set("numa.nodes", "2");
	assert_true(rs_scenario_check(scenario, NULL));
}

static void the_echo_holds_every_setting_and_reads_back(void **state)
{
	char *first, *second;

	set("memory.max", "16000p");
	set("memcg:/a.memory.low", "1M");
	set("node0.zone.DMA.min", "49");
	set("kernel", "6.1");
	first = rs_scenario_settings_json(scenario);
	assert_non_null(strstr(first, "\"memory.max\":65536000"));
	assert_non_null(strstr(first, "\"memory.high\":\"max\""));
	assert_non_null(strstr(first, "\"memcg:/a.memory.low\":1048576"));
	assert_non_null(strstr(first, "\"node0.zone.DMA.min\":49"));
	assert_non_null(strstr(first, "\"vm.min_free_kbytes\":\"auto\""));
	assert_non_null(strstr(first, "\"kernel\":\"6.1\""));
	assert_non_null(strstr(first, "\"cost.hit\":1"));
	rs_scenario_free(scenario);
	scenario = rs_scenario_new();
	assert_true(load(first));
	second = rs_scenario_settings_json(scenario);
	assert_string_equal(first, second);
	g_free(first);
	g_free(second);
}

static void every_row_is_described_and_its_default_is_valid(void **state)
{
	struct rs_setting_info *info;
	unsigned n = 0;

	for (; (info = rs_setting_describe(n, RS_KERNEL_6_12)); n++) {
		GString *name = g_string_new(info->name);

		assert_true(*info->doc && *info->range && *info->def);
		g_string_replace(name, "nodeN", "node0", 0);
		g_string_replace(name, "ZONE", "DMA", 0);
		g_string_replace(name, ".M", ".1", 0);
		set(name->str, info->def);
		g_string_free(name, TRUE);
		rs_setting_info_free(info);
	}
	assert_true(n > 80);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		T(the_options_of_a_truth_run_are_understood),
		T(settings_of_zones_groups_nodes_and_costs_have_names),
		T(a_limit_of_zero_is_valid),
		T(unknown_settings_name_the_nearest),
		T(bad_values_say_what_is_valid),
		T(what_the_user_left_alone_follows_the_kernel),
		T(a_copy_is_independent),
		T(machine_files_may_nest_and_may_hold_comments),
		T(mistakes_in_machine_files_have_their_place),
		T(settings_of_a_node_that_is_not_there_are_found),
		T(the_echo_holds_every_setting_and_reads_back),
		T(every_row_is_described_and_its_default_is_valid),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
