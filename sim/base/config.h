/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * config.h - every setting of a run as a plain struct. The table that names, bounds and documents
 * them is sim/scenario/settings.c.
 */
#ifndef SIM_BASE_CONFIG_H
#define SIM_BASE_CONFIG_H

#include <reclaimsim/policy.h>
#include <reclaimsim/sim.h>

#define RS_MAX_NODES 8
#define RS_UNLIMITED UINT64_MAX

enum rs_device_kind {
	DEV_NONE,
	DEV_NULL,
	DEV_VIRTIO,
	DEV_ZRAM,
	DEV_SSD,
	DEV_NVME,
	DEV_HDD,
	DEV_NR_KINDS
};
enum rs_per_vma_lock { PVL_OFF, PVL_6_4, PVL_6_6, PVL_6_7, PVL_6_10, PVL_6_15, PVL_NR };
enum rs_zram_algorithm { ZRAM_LZ4, ZRAM_LZO_RLE, ZRAM_LZO, ZRAM_ZSTD, ZRAM_NR };

/* Bits of kernel.numa_balancing. */
enum { NUMA_BALANCING_NORMAL = 1, NUMA_BALANCING_TIERING = 2 };

struct zone_config {
	/* pages; -1: derived from the node's memory and min_free_kbytes */
	int64_t managed, free, min, low, high;
};

struct node_config {
	uint64_t memory; /* bytes */
	int64_t managed,
		free; /* pages; -1: derived. Of the zone that holds them when only one is given */
	struct zone_config zone[RS_NR_ZONES];
	int64_t distance[RS_MAX_NODES]; /* 10 = local, 20 = default remote */
	int64_t cpus; /* CPUs on this node; 0: a memory-only (slow) node; -1: equal share */
};

struct memcg_config {
	char *path;
	uint64_t max, high, min, low, swap_max; /* bytes; RS_UNLIMITED = "max" */
	int64_t swappiness;			/* -1: vm.swappiness */
};

/* -1: by kind. */
struct device_config {
	int64_t channels, nr_requests, read_ns, write_ns, bandwidth, wbt_lat_usec;
};

struct rs_config {
	enum rs_kernel kernel;
	/* memcg of the trace ("" path) first, then those named in settings */
	struct memcg_config *memcgs;
	uint32_t nr_memcgs;

	int64_t swappiness, page_cluster, watermark_scale_factor, min_free_kbytes; /* -1: derived */
	int64_t dirty_ratio, dirty_background_ratio, dirty_writeback_centisecs,
		dirty_expire_centisecs;
	uint64_t read_ahead_bytes, fault_around_bytes;
	int64_t lru_gen_enabled, lru_gen_min_ttl_ms;
	int64_t sort_dirty; /* 0 or 1; its default follows the kernel */
	bool arch_arm64;    /* prefaulted PTEs start old */
	bool thp_always;    /* transparent_hugepage=always */

	uint32_t nr_nodes;
	struct node_config node[RS_MAX_NODES];
	int64_t numa_balancing; /* NUMA_BALANCING_* */
	int64_t numa_promote_rate_limit_mbps;
	int64_t numa_scan_delay_ms, numa_scan_period_min_ms, numa_scan_period_max_ms,
		numa_scan_size_mb, numa_hot_threshold_ms;
	bool demotion_enabled;

	enum rs_device_kind swap, disk;
	uint64_t swap_size;	     /* bytes */
	uint32_t swap_cluster;	     /* slots: 512 with THP swap, 256 without */
	uint32_t swap_used_clusters; /* taken and given back before the trace */
	enum rs_zram_algorithm zram_algorithm;
	int64_t zram_compressed_bytes; /* of one page; -1: by algorithm */
	/* By algorithm; -1: the costs compress and decompress times a factor. */
	int64_t zram_compress_ns[ZRAM_NR], zram_decompress_ns[ZRAM_NR];
	struct device_config swap_dev, disk_dev;

	enum rs_per_vma_lock per_vma_lock; /* its default follows the kernel */
	uint32_t cpus;
	ns_t quantum_ns, tick_ns, timeslice_ns,
		think_ns;	  /* think_ns: between accesses of a trace without times */
	int64_t mmap_base_offset; /* pages mapped above the trace's regions before it starts */
	ns_t sample_ns;		  /* between samples of the counters for the result; 0: none */
	ns_t stat_flush_period_ns,
		stat_flush_phase_ns; /* the 2 s worker; when it first falls due */

	enum rs_mechanism disabled;
	uint64_t seed;
	ns_t cost[RS_NR_COSTS];
	int64_t cost_scale_percent; /* 100 */
};

/* Defaults of the default kernel. */
void rs_config_init(struct rs_config *);
void rs_config_copy(struct rs_config *to, const struct rs_config *from);
void rs_config_clear(struct rs_config *);
const struct rs_config *rs_scenario_config(const struct rs_scenario *);

#endif
