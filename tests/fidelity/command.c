/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * command.c - the arguments of one run.
 */
#include "command.h"

#include <string.h>

#define I64 "%" G_GINT64_FORMAT

static void set(GPtrArray *argv, const char *format, ...) G_GNUC_PRINTF(2, 3);

static void set(GPtrArray *argv, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	g_ptr_array_add(argv, g_strdup("--set"));
	g_ptr_array_add(argv, g_strdup_vprintf(format, args));
	va_end(args);
}

static const char *policy_of(const struct truth_case *c)
{
	if (!strcmp(c->variant, "own-hitshield"))
		return "hitshield";
	if (!strcmp(c->variant, "own-exec"))
		return "exec-promote";
	return !strcmp(c->lru, "classic") ? "classic" : "mglru";
}

/* A global run starts from the guest's zones as they were when the trace began. */
static void set_zones(GPtrArray *argv, json_t *zones)
{
	static const char *const fields[] = { "managed", "free", "min", "low", "high" };
	const char *name;
	json_t *zone;

	json_object_foreach(zones, name, zone)
	{
		for (unsigned i = 0; i < G_N_ELEMENTS(fields); i++)
			set(argv, "node0.zone.%s.%s=%" JSON_INTEGER_FORMAT, name, fields[i],
			    json_integer_value(json_object_get(zone, fields[i])));
	}
}

static void set_memory(GPtrArray *argv, const struct truth_case *c)
{
	set(argv, "node0.memory=" I64 "M", c->mem_mb);
	if (c->memcg_mode)
		set(argv, "memory.max=" I64 "p", c->limit_pages);
	else
		set_zones(argv, c->zones);
}

static void set_reading(GPtrArray *argv, const struct truth_case *c)
{
	set(argv, "vm.swappiness=" I64, c->swappiness);
	set(argv, "vm.page-cluster=" I64, c->page_cluster);
	set(argv, "read_ahead_kb=" I64, c->ra_kb);
	set(argv, "fault_around_bytes=" I64, c->fault_around);
	set(argv, "swap=%s", c->swap);
	set(argv, "disk=%s", c->disk);
}

/*
 * Kernels built without THP have no swap clusters of a huge page's size. One boot replayed a trace
 * under classic first and the multi-gen LRU next, with one swap area: what the first had used is
 * free again, but behind the rest. How much it was makes no difference.
 */
static void set_own_swap(GPtrArray *argv, const struct truth_case *c)
{
	set(argv, "swap.cluster=256");
	if (strcmp(c->lru, "classic"))
		set(argv, "swap.used_clusters=128");
}

/*
 * Per cent of the machine file's costs at which simulated time passes as the guest's did: the
 * median of wall_s over simulated time. The machine file is of the Debian kernels. 6.1 flushes its
 * statistics whenever it needs them, so its time decides nothing.
 */
static unsigned guest_speed(const struct truth_case *c)
{
	static const struct {
		const char *kernel;
		unsigned percent;
	} own[] = { { "6.14", 57 }, { "7.2", 105 } };

	for (unsigned i = 0; g_str_has_prefix(c->variant, "own") && i < G_N_ELEMENTS(own); i++)
		if (!strcmp(c->kernel, own[i].kernel))
			return own[i].percent;
	return 100;
}

char **command_of_case(const struct truth_case *c, const struct simulate_options *options,
		       struct boot boot, const char *output)
{
	GPtrArray *argv = g_ptr_array_new();
	const char *const head[] = { "run",	 NULL,	    "--policy",	 policy_of(c),
				     "--kernel", c->kernel, "--machine", options->machine,
				     "--json",	 "-o",	    output };

	g_ptr_array_add(argv, g_strdup(options->binary));
	for (unsigned i = 0; i < G_N_ELEMENTS(head); i++)
		g_ptr_array_add(argv, head[i] ? g_strdup(head[i])
					      : g_strdup_printf("%s/traces/%s.trace.zst",
								options->data, c->trace));
	set_memory(argv, c);
	set_reading(argv, c);
	if (!strcmp(c->lru, "mglru1"))
		set(argv, "lru_gen.enabled=1");
	if (g_str_has_prefix(c->variant, "own"))
		set_own_swap(argv, c);
	if (boot.phase_ns >= 0)
		set(argv, "memcg.stat_flush_phase_ns=" I64, boot.phase_ns);
	if (boot.layout_pages)
		set(argv, "mm.mmap_base_offset=" I64, boot.layout_pages);
	set(argv, "cost_scale_percent=%u",
	    guest_speed(c) * (boot.slow_percent ? boot.slow_percent : 100) / 100);
	for (char **more = options->settings; more && *more; more++)
		set(argv, "%s", *more);
	g_ptr_array_add(argv, NULL);
	return (char **)g_ptr_array_free(argv, FALSE);
}
