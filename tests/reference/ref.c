/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ref.c - replays a trace on the reference machine and prints its counters at every mark.
 *
 *   ref TRACE --limit PAGES [--kernel 6.1|6.12] [--policy classic|fifo] [--swappiness N]
 *             [--swap null|zram|none] [--swap-pages N] [--cluster N] [--stat-flush-ops N]
 *             [--page-cluster N] [--read-ahead PAGES] [--fault-around PAGES]
 */
#include "ref.h"

#include <stdio.h>
#include <string.h>

static const char *const event_name[NR_EVENT] = {
	[PGFAULT] = "pgfault",
	[PGMAJFAULT] = "pgmajfault",
	[PSWPIN] = "pswpin",
	[PSWPOUT] = "pswpout",
	[PGSCAN_ANON] = "pgscan_anon",
	[PGSCAN_FILE] = "pgscan_file",
	[PGSTEAL_ANON] = "pgsteal_anon",
	[PGSTEAL_FILE] = "pgsteal_file",
	[PGREFILL] = "pgrefill",
	[PGACTIVATE] = "pgactivate",
	[PGDEACTIVATE] = "pgdeactivate",
	[PGROTATED] = "pgrotated",
	[PGREUSE] = "pgreuse",
	[REFAULT_ANON] = "workingset_refault_anon",
	[REFAULT_FILE] = "workingset_refault_file",
	[ACTIVATE_ANON] = "workingset_activate_anon",
	[ACTIVATE_FILE] = "workingset_activate_file",
	[RESTORE_ANON] = "workingset_restore_anon",
	[RESTORE_FILE] = "workingset_restore_file",
	[VMSCAN_WRITE] = "nr_vmscan_write",
	[VMSCAN_IMMEDIATE] = "nr_vmscan_immediate_reclaim",
	[MEMCG_MAX] = "max",
	[OOM_KILL] = "oom_kill",
};

static void snapshot(const struct ref_machine *m, const char *name, uint64_t op, bool first)
{
	static const char *const lru_name[NR_LRU] = { "inactive_anon", "active_anon",
						      "inactive_file", "active_file" };

	printf("%s\n  {\"name\": \"%s\", \"op\": %" G_GUINT64_FORMAT, first ? "" : ",", name, op);
	for (int i = 0; i < NR_EVENT; i++)
		printf(", \"%s\": %" G_GUINT64_FORMAT, event_name[i], m->ev[i]);
	for (int lru = 0; lru < NR_LRU; lru++)
		printf(", \"%s\": %u", lru_name[lru], m->list[lru].length);
	printf(", \"current\": %" G_GUINT64_FORMAT ", \"swap_current\": %" G_GUINT64_FORMAT
	       ", \"anon_cost\": %" G_GUINT64_FORMAT ", \"file_cost\": %" G_GUINT64_FORMAT "}",
	       m->usage, m->swap_used, m->cost[0], m->cost[1]);
}

static void replay(struct ref_machine *m, const GArray *ops)
{
	uint64_t done = 0;
	bool first = true;

	printf("{\"snapshots\": [");
	for (guint i = 0; i < ops->len && !m->oom; i++) {
		const struct ref_op *op = &g_array_index(ops, struct ref_op, i);

		if (op->kind == 'm') {
			snapshot(m, op->id, done, first);
			first = false;
		}
		ref_machine_run(m, op);
		done++;
	}
	snapshot(m, "end", done, first);
	printf("]}\n");
}

int main(int argc, char **argv)
{
	struct ref_options opt = { 0 };
	char *kernel = "6.12", *policy = "classic", *swap = "null";
	gint64 limit = 0, swappiness = 60, swap_pages = 524287, cluster = 512, flush_ops = 0,
	       read_ahead = 0, fault_around = 1, page_cluster = 0;
	const GOptionEntry entries[] = {
		{ "limit", 'l', 0, G_OPTION_ARG_INT64, &limit, "memory.max in pages", "N" },
		{ "kernel", 'k', 0, G_OPTION_ARG_STRING, &kernel, "6.1 or 6.12", "K" },
		{ "policy", 'p', 0, G_OPTION_ARG_STRING, &policy, "classic or fifo", "P" },
		{ "swappiness", 's', 0, G_OPTION_ARG_INT64, &swappiness, "0 to 200", "N" },
		{ "swap", 'w', 0, G_OPTION_ARG_STRING, &swap, "null, zram or none", "S" },
		{ "swap-pages", 'n', 0, G_OPTION_ARG_INT64, &swap_pages, "size of swap", "N" },
		{ "cluster", 'c', 0, G_OPTION_ARG_INT64, &cluster, "slots of a swap cluster", "N" },
		{ "page-cluster", 'g', 0, G_OPTION_ARG_INT64, &page_cluster,
		  "swap read-ahead, 0 to 5", "N" },
		{ "read-ahead", 'r', 0, G_OPTION_ARG_INT64, &read_ahead,
		  "pages of the largest window", "N" },
		{ "fault-around", 'a', 0, G_OPTION_ARG_INT64, &fault_around,
		  "pages, 1 turns it off", "N" },
		{ "stat-flush-ops", 'f', 0, G_OPTION_ARG_INT64, &flush_ops,
		  "6.12: flush the memcg statistics every N operations", "N" },
		{ NULL, 0, 0, 0, NULL, NULL, NULL },
	};
	GOptionContext *context = g_option_context_new("TRACE");
	GHashTable *files = g_hash_table_new(g_str_hash, g_str_equal);
	GError *error = NULL;
	GArray *ops = NULL;

	g_option_context_add_main_entries(context, entries, NULL);
	if (g_option_context_parse(context, &argc, &argv, &error) && argc == 2 && limit > 0)
		ops = ref_trace_read(argv[1], files, &error);
	if (!ops) {
		fprintf(stderr, "ref: %s\n",
			error ? error->message : "needs TRACE and --limit PAGES");
		return 2;
	}
	opt.v612 = strcmp(kernel, "6.1") != 0;
	opt.fifo = !strcmp(policy, "fifo");
	opt.sync_swap = !strcmp(swap, "zram");
	opt.no_swap = !strcmp(swap, "none");
	opt.limit = limit;
	opt.swappiness = swappiness;
	opt.swap_pages = swap_pages;
	opt.cluster_slots = MAX(cluster, 1);
	opt.swap_window = 1u << CLAMP(page_cluster, 0, 5);
	opt.ra_pages = read_ahead;
	opt.fault_around = MAX(fault_around, 1);
	opt.stat_flush_ops = flush_ops;
	replay(ref_machine_new(&opt, files), ops);
	return 0;
}
