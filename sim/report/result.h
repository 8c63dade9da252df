/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * result.h - what a run leaves behind, as plain numbers that the engine fills in.
 *
 * The engine makes one with rs_result_new(), adds a snapshot at every mark and at the end, and
 * fills in the totals before it hands the result out. Nothing here computes: result_json.c only
 * prints, in a fixed order, what stands here. Counters that the kernel, the machine or the policy
 * does not have are switched off in has_event[] and are then absent from the output.
 */
#ifndef SIM_REPORT_RESULT_H
#define SIM_REPORT_RESULT_H

#include <reclaimsim/sim.h>

#include "sim/base/hist.h"

/*
 * Sizes of memory.stat in its own order.
 * RS_SIZE(id, name)
 */
#define RS_MEMCG_SIZES(RS_SIZE)                                                                    \
	RS_SIZE(ANON, "anon")                                                                      \
	RS_SIZE(FILE, "file")                                                                      \
	RS_SIZE(SHMEM, "shmem")                                                                    \
	RS_SIZE(FILE_MAPPED, "file_mapped")                                                        \
	RS_SIZE(FILE_DIRTY, "file_dirty")                                                          \
	RS_SIZE(FILE_WRITEBACK, "file_writeback")                                                  \
	RS_SIZE(SWAPCACHED, "swapcached")                                                          \
	RS_SIZE(ANON_THP, "anon_thp")                                                              \
	RS_SIZE(INACTIVE_ANON, "inactive_anon")                                                    \
	RS_SIZE(ACTIVE_ANON, "active_anon")                                                        \
	RS_SIZE(INACTIVE_FILE, "inactive_file")                                                    \
	RS_SIZE(ACTIVE_FILE, "active_file")                                                        \
	RS_SIZE(UNEVICTABLE, "unevictable")

enum rs_memcg_size {
#define RS_SIZE(id, name) RS_MEMCG_##id,
	RS_MEMCG_SIZES(RS_SIZE)
#undef RS_SIZE
		RS_NR_MEMCG_SIZES
};

/* Gauges of /proc/vmstat, in pages. RS_GAUGE(id, name) */
#define RS_GAUGES(RS_GAUGE)                                                                        \
	RS_GAUGE(FREE_PAGES, "nr_free_pages")                                                      \
	RS_GAUGE(INACTIVE_ANON, "nr_inactive_anon")                                                \
	RS_GAUGE(ACTIVE_ANON, "nr_active_anon")                                                    \
	RS_GAUGE(INACTIVE_FILE, "nr_inactive_file")                                                \
	RS_GAUGE(ACTIVE_FILE, "nr_active_file")                                                    \
	RS_GAUGE(UNEVICTABLE, "nr_unevictable")                                                    \
	RS_GAUGE(MLOCK, "nr_mlock")                                                                \
	RS_GAUGE(ANON_PAGES, "nr_anon_pages")                                                      \
	RS_GAUGE(MAPPED, "nr_mapped")                                                              \
	RS_GAUGE(FILE_PAGES, "nr_file_pages")                                                      \
	RS_GAUGE(DIRTY, "nr_dirty")                                                                \
	RS_GAUGE(WRITEBACK, "nr_writeback")                                                        \
	RS_GAUGE(SWAPCACHED, "nr_swapcached")

enum rs_gauge {
#define RS_GAUGE(id, name) RS_GAUGE_##id,
	RS_GAUGES(RS_GAUGE)
#undef RS_GAUGE
		RS_NR_GAUGES
};

/*
 * Durations that are kept one by one. Waits for locks only where there was one.
 * RS_LATENCY(id, name)
 */
#define RS_LATENCIES(RS_LATENCY)                                                                   \
	RS_LATENCY(FAULT_MINOR, "fault_minor")                                                     \
	RS_LATENCY(FAULT_MAJOR, "fault_major")                                                     \
	RS_LATENCY(READ, "read")	       /* a call */                                        \
	RS_LATENCY(PAGE_WAIT, "page_wait")     /* for a page's read or write */                    \
	RS_LATENCY(ALLOC_STALL, "alloc_stall") /* an allocation that had to reclaim */             \
	RS_LATENCY(DIRECT_RECLAIM, "direct_reclaim")                                               \
	RS_LATENCY(MEMCG_RECLAIM, "memcg_reclaim") /* at a group's limit */                        \
	RS_LATENCY(MMAP_LOCK, "mmap_lock")                                                         \
	RS_LATENCY(VMA_LOCK, "vma_lock")                                                           \
	RS_LATENCY(LRU_LOCK, "lru_lock")

enum rs_latency {
#define RS_LATENCY(id, name) RS_LATENCY_##id,
	RS_LATENCIES(RS_LATENCY)
#undef RS_LATENCY
		RS_NR_LATENCIES
};

/* Pressure so far. total is in nanoseconds here, in microseconds in the output (as in the kernel).
 */
enum rs_psi_resource { RS_PSI_IO, RS_PSI_MEMORY, RS_PSI_CPU, RS_NR_PSI };
struct rs_psi_stat {
	ns_t some_total, full_total;
	/* Moving averages in hundredths of a per cent: over 10, 60 and 300 s. */
	uint32_t some_avg[3], full_avg[3];
};

/* One group at one snapshot: memory.stat, memory.current, memory.events, memory.pressure. */
struct rs_group_stat {
	char *path;
	uint64_t events[RS_NR_EVENTS];	   /* only those with M in vmstat.def are printed */
	uint64_t sizes[RS_NR_MEMCG_SIZES]; /* bytes */
	uint64_t current, swap_current;	   /* bytes */
	uint64_t low, high, max, oom, oom_kill, oom_group_kill; /* memory.events */
	struct rs_psi_stat psi[RS_NR_PSI];
};

/*
 * The state at a mark, at the end ("end"), or at a sampling time. Counters run since the start of
 * the trace.
 */
struct rs_snapshot {
	char *name;
	uint64_t op; /* records replayed so far, counted as truth runs count lines (see trace.h) */
	ns_t time_ns;
	uint64_t accesses;		   /* done so far */
	uint64_t vmstat[RS_NR_EVENTS];	   /* only those with V in vmstat.def are printed */
	uint64_t gauges[RS_NR_GAUGES];	   /* pages */
	struct rs_psi_stat psi[RS_NR_PSI]; /* of the machine */
	GPtrArray *groups;		   /* struct rs_group_stat; the first is the trace's own */
	GArray *lru_gen; /* struct rs_lru_gen_row; empty unless the policy has generations */
	uint64_t *own;	 /* the policy's counters, result->nr_own of them */
	bool is_sample;	 /* taken by time: printed under "samples" */
};

struct rs_thread_stat {
	char *name;
	uint32_t mm; /* number of its process */
	uint64_t accesses, faults, major_faults;
	/* cpu: everything it ran; reclaim: of that, in direct reclaim */
	ns_t end_ns, cpu_ns, reclaim_ns, io_wait_ns, lock_wait_ns, throttle_ns, run_wait_ns,
		sleep_ns;
	/* start: when it began; idle: before that and after its end; spin: of cpu_ns, for locks */
	ns_t start_ns, idle_ns, spin_ns;
};

/* One kind of operation that takes the lock: "fault", "munmap", ...; static. */
struct rs_lock_op_stat {
	const char *name;
	uint64_t acquired, contended;
	ns_t wait_ns, hold_ns;
};

struct rs_lock_stat {
	const char *name; /* "mmap_lock", "vma_lock", "lru_lock", "i_mmap_rwsem", ...; static */
	uint64_t acquired, contended;
	ns_t wait_ns, hold_ns;
	struct rs_lock_op_stat op[16];
	uint32_t nr_ops;
};

struct rs_device_stat {
	char *name;		/* "swap", "disk" */
	const char *kind;	/* "null", "virtio", ...; static */
	uint64_t reads, writes; /* requests */
	uint64_t read_bytes, written_bytes;
	ns_t busy_ns, wait_ns; /* wait: from submission to start of service */
	uint64_t max_queue;    /* most requests waiting at once */
	bool is_zram;
	uint64_t orig_data_size, compr_data_size, mem_used_total, mem_used_max; /* its mm_stat */
};

struct rs_zone_stat {
	const char *name;			/* "DMA", "DMA32", "Normal"; static */
	uint64_t managed, free, min, low, high; /* pages */
};

/* numastat of a node in sysfs. RS_NUMASTAT(name), in the order of enum numastat */
#define RS_NUMASTATS(RS_NUMASTAT)                                                                  \
	RS_NUMASTAT(numa_hit)                                                                      \
	RS_NUMASTAT(numa_miss)                                                                     \
	RS_NUMASTAT(numa_foreign)                                                                  \
	RS_NUMASTAT(interleave_hit)                                                                \
	RS_NUMASTAT(local_node)                                                                    \
	RS_NUMASTAT(other_node)
#define RS_NR_NUMASTATS 6

struct rs_node_stat {
	uint32_t nid;
	struct rs_zone_stat zone[RS_NR_ZONES];
	uint32_t nr_zones;
	uint64_t kswapd_wakeups;
	ns_t kswapd_cpu_ns;
	uint64_t numastat[RS_NR_NUMASTATS];
};

struct rs_result {
	/* --- from rs_result_new() --- */
	char *policy;	   /* as the user wrote it */
	char *policy_name; /* name of the ops */
	enum rs_kernel kernel;
	char *settings;			    /* JSON object of every setting in force */
	bool has_event[RS_NR_EVENTS];	    /* in vmstat_delta; defaults by kernel and machine */
	bool memcg_has_event[RS_NR_EVENTS]; /* in memory.stat */
	bool has_lru_gen;
	bool bound;	  /* clairvoyant bound: only pgmajfault means anything */
	char **own_names; /* the policy's counters, with the prefix sim_ */
	uint32_t nr_own;

	/* --- filled in while running --- */
	GPtrArray *snapshots; /* struct rs_snapshot, marks and "end" and samples in order of time */
	GPtrArray *threads;   /* struct rs_thread_stat */
	GPtrArray *locks;     /* struct rs_lock_stat, in order of rs_result_lock() */
	GPtrArray *devices;   /* struct rs_device_stat */
	GPtrArray *nodes;     /* struct rs_node_stat */
	GPtrArray *warnings;  /* char * */

	char *trace_digest;    /* SHA-256, hex; NULL: not known */
	GPtrArray *provenance; /* char *: key, value, key, value, ... */
	uint64_t trace_records;

	struct rs_hist latency[RS_NR_LATENCIES]; /* ns */

	uint64_t cost_calls[RS_NR_COSTS];
	ns_t cost_ns[RS_NR_COSTS];
	ns_t reclaim_cpu_ns; /* CPU time inside reclaim: direct, at limits, kswapd, proactive */
	ns_t kswapd_cpu_ns;  /* of that, kswapd's */
	uint64_t steps, overruns; /* of tasks; those that passed others by more than the quantum */
	ns_t longest_overrun_ns;

	ns_t cpu_busy_ns; /* of all CPUs */
	ns_t elapsed_ns;  /* when the last thread ended */
	uint64_t accesses;
	char *oom; /* one line about the first OOM kill; NULL: none */
};

/*
 * An empty result for this scenario: echoes the settings and sets has_event[] to what the kernel
 * and the machine have. ops may be NULL (clairvoyant bound).
 */
struct rs_result *rs_result_new(const struct rs_scenario *, const char *policy,
				const struct rs_policy_ops *ops);

/* Each returns a zeroed structure that belongs to the result and stays where it is. */
struct rs_snapshot *rs_result_add_snapshot(struct rs_result *, const char *name, uint64_t op,
					   ns_t now);
struct rs_snapshot *rs_result_add_sample(struct rs_result *, uint64_t op, ns_t now);
struct rs_group_stat *rs_snapshot_add_group(struct rs_snapshot *, const char *path);
void rs_snapshot_add_gen(struct rs_snapshot *, const struct rs_lru_gen_row *);
struct rs_thread_stat *rs_result_add_thread(struct rs_result *, const char *name);
/* The lock class of that name, made on first use. name must be static. */
struct rs_lock_stat *rs_result_lock(struct rs_result *, const char *name);
struct rs_lock_op_stat *rs_lock_stat_add_op(struct rs_lock_stat *, const char *name);
struct rs_device_stat *rs_result_add_device(struct rs_result *, const char *name, const char *kind);
struct rs_node_stat *rs_result_add_node(struct rs_result *, uint32_t nid);

/* Digest and provenance of the trace; after its last batch. records: how many were replayed. */
void rs_result_set_trace(struct rs_result *, const struct rs_trace *, uint64_t records);
/* A warning for the user, each text once. */
void rs_result_warn(struct rs_result *, const char *format, ...) G_GNUC_PRINTF(2, 3);

/* Name and presence of an event: "pgscan_kswapd"; does vmstat.def say it stands there? */
const char *rs_event_name(enum rs_event);
bool rs_event_in_vmstat(enum rs_event);
bool rs_event_in_memcg(enum rs_event);

#endif
