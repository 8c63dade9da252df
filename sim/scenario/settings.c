/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * settings.c - the table of every setting: name, place, type, default, range, meaning.
 */
#include "sim/scenario/settings.h"

#define MACHINE(member) SCOPE_MACHINE, offsetof(struct rs_config, member)
#define MEMCG(member) SCOPE_MEMCG, offsetof(struct memcg_config, member)
#define NODE(member) SCOPE_NODE, offsetof(struct node_config, member)
#define ZONE(member) SCOPE_ZONE, offsetof(struct zone_config, member)
#define DISTANCE SCOPE_DISTANCE, 0

#define KIB (INT64_C(1) << 10)
#define MIB (INT64_C(1) << 20)
#define GIB (INT64_C(1) << 30)
#define TIB (INT64_C(1) << 40)
#define SECOND INT64_C(1000000000)
/* pfn_t and the words of page tables have room for 2^27 frames. */
#define MAX_PAGES (INT64_C(1) << 27)

const char *const setting_kernel_names[] = { "5.18", "6.1", "6.12", "6.14", "7.2", NULL };
const char *const setting_zone_names[] = { "DMA", "DMA32", "Normal", NULL };
static const char *const device_names[] = { "none", "null", "virtio", "zram",
					    "ssd",  "nvme", "hdd",    NULL };
/* Neither a disk that is not there nor a compressed one. */
static const char *const disk_names[] = { "", "null", "virtio", "", "ssd", "nvme", "hdd", NULL };
static const char *const per_vma_lock_names[] = {
	"off", "6.4", "6.6", "6.7", "6.10", "6.15", NULL
};
static const char *const zram_names[] = { "lz4", "lzo-rle", "lzo", "zstd", NULL };
static const char *const mechanism_names[] = { "none",
					       "tier_protection",
					       "pid",
					       "bloom",
					       "look_around",
					       "batches",
					       "refault_distance",
					       "cost_balancing",
					       "swap_cache_reuse",
					       NULL };
static const char *const arch_names[] = { "x86", "arm64", NULL };
static const char *const thp_names[] = { "never", "always", NULL };

static const int64_t per_vma_lock_by_kernel[RS_NR_KERNELS] = {
	[RS_KERNEL_5_18] = PVL_OFF,  [RS_KERNEL_6_1] = PVL_OFF,	 [RS_KERNEL_6_12] = PVL_6_10,
	[RS_KERNEL_6_14] = PVL_6_10, [RS_KERNEL_7_2] = PVL_6_15,
};
static const int64_t sort_dirty_by_kernel[RS_NR_KERNELS] = { 1, 1, 1, 1, 0 };
/* The minimal MGLRU of 5.18 has neither page-table walks nor non-leaf accessed bits. */
static const int64_t lru_gen_by_kernel[RS_NR_KERNELS] = { 1, 7, 7, 7, 7 };

#define S(name_, place, type_, def_, min_, max_, doc_, ...)                                        \
	{                                                                                          \
		.name = name_, SCOPE_AND_OFFSET(place), .type = type_, .def = def_, .min = min_,   \
		.max = max_, .doc = doc_, ##__VA_ARGS__                                            \
	}
#define SCOPE_AND_OFFSET(...) SCOPE_AND_OFFSET_(__VA_ARGS__)
#define SCOPE_AND_OFFSET_(scope_, offset_) .scope = scope_, .offset = offset_

static const struct setting table[] = {
	/* --- the kernel --- */
	S("kernel", MACHINE(kernel), SET_ENUM, RS_KERNEL_6_12, 0, 0,
	  "kernel whose behaviour is modelled", .choices = setting_kernel_names),

	/* --- limits of a group --- */
	S("memory.max", MEMCG(max), SET_LIMIT, -1, 0, INT64_MAX,
	  "hard limit of the group's memory; 0 lets nothing be charged"),
	S("memory.high", MEMCG(high), SET_LIMIT, -1, 0, INT64_MAX,
	  "limit above which the group is throttled and reclaimed"),
	S("memory.min", MEMCG(min), SET_LIMIT, 0, 0, INT64_MAX,
	  "memory that reclaim never takes from the group"),
	S("memory.low", MEMCG(low), SET_LIMIT, 0, 0, INT64_MAX,
	  "memory that reclaim takes only when nothing else is left"),
	S("memory.swap.max", MEMCG(swap_max), SET_LIMIT, -1, 0, INT64_MAX,
	  "limit of the group's swap"),
	S("memory.swappiness", MEMCG(swappiness), SET_INT, -1, 0, 200,
	  "swappiness of the group (cgroup v1); auto: vm.swappiness", .automatic = true),

	/* --- /proc/sys/vm --- */
	S("vm.swappiness", MACHINE(swappiness), SET_INT, 60, 0, 200,
	  "weight of anonymous memory against file memory"),
	S("vm.page-cluster", MACHINE(page_cluster), SET_INT, 3, 0, 31,
	  "swap read-ahead of at most 2^N pages; 0 turns it off"),
	S("vm.watermark_scale_factor", MACHINE(watermark_scale_factor), SET_INT, 10, 1, 3000,
	  "distance of the watermarks in 1/10000 of a zone"),
	S("vm.min_free_kbytes", MACHINE(min_free_kbytes), SET_INT, -1, 0, INT64_C(1) << 32,
	  "KiB kept free; auto: the kernel's square-root rule", .automatic = true),
	S("vm.dirty_ratio", MACHINE(dirty_ratio), SET_INT, 20, 0, 100,
	  "per cent of dirtyable memory at which writers are held back"),
	S("vm.dirty_background_ratio", MACHINE(dirty_background_ratio), SET_INT, 10, 0, 100,
	  "per cent of dirtyable memory at which the flusher starts"),
	S("vm.dirty_writeback_centisecs", MACHINE(dirty_writeback_centisecs), SET_INT, 500, 0,
	  1000000, "period of the flusher in 1/100 s"),
	S("vm.dirty_expire_centisecs", MACHINE(dirty_expire_centisecs), SET_INT, 3000, 0, 10000000,
	  "age in 1/100 s at which dirty data is written"),

	/* --- files and huge pages --- */
	S("read_ahead_kb", MACHINE(read_ahead_bytes), SET_KIB, 128 * KIB, 0, GIB,
	  "file read-ahead window of the disk in KiB; 0 turns it off"),
	S("fault_around_bytes", MACHINE(fault_around_bytes), SET_SIZE, 64 * KIB, 4 * KIB, 2 * MIB,
	  "cached file pages mapped by one fault; a power of two, 4096 turns it off"),
	S("transparent_hugepage", MACHINE(thp_always), SET_ENUM_BOOL, 0, 0, 0,
	  "anonymous huge pages", .choices = thp_names),

	/* --- MGLRU --- */
	S("lru_gen.enabled", MACHINE(lru_gen_enabled), SET_MASK, 7, 0, 7,
	  "bit 0: on, 1: page-table walks clear accessed bits, 2: non-leaf accessed bits",
	  .by_kernel = lru_gen_by_kernel),
	S("lru_gen.min_ttl_ms", MACHINE(lru_gen_min_ttl_ms), SET_INT, 0, 0, 1000000000,
	  "working set of this many ms is protected, by OOM kills if need be"),
	S("lru_gen.sort_dirty", MACHINE(sort_dirty), SET_INTBOOL, 1, 0, 1,
	  "dirty and writeback folios are sorted to the next generation at the tail",
	  .by_kernel = sort_dirty_by_kernel),
	S("arch", MACHINE(arch_arm64), SET_ENUM_BOOL, 0, 0, 0,
	  "arm64: prefaulted entries start old", .choices = arch_names),

	/* --- the machine --- */
	S("cpus", MACHINE(cpus), SET_U32, 1, 1, 4096, "number of CPUs"),
	S("numa.nodes", MACHINE(nr_nodes), SET_U32, 1, 1, RS_MAX_NODES, "number of nodes"),
	S("kernel.numa_balancing", MACHINE(numa_balancing), SET_INT, 0, 0, 3,
	  "1: hint faults migrate pages, 2: memory tiering promotes them"),
	S("kernel.numa_balancing_promote_rate_limit_MBps", MACHINE(numa_promote_rate_limit_mbps),
	  SET_INT, 65536, 0, INT64_C(1) << 31, "MiB a second that are promoted to a node at most"),
	S("numa_balancing.scan_delay_ms", MACHINE(numa_scan_delay_ms), SET_INT, 1000, 0, 1000000000,
	  "age of an address space before it is scanned for hint faults"),
	S("numa_balancing.scan_period_min_ms", MACHINE(numa_scan_period_min_ms), SET_INT, 1000, 1,
	  1000000000, "least CPU time of a thread between two scans"),
	S("numa_balancing.scan_period_max_ms", MACHINE(numa_scan_period_max_ms), SET_INT, 60000, 1,
	  1000000000, "most CPU time between two scans"),
	S("numa_balancing.scan_size_mb", MACHINE(numa_scan_size_mb), SET_INT, 256, 1, 1 << 20,
	  "MiB of address space a scan"),
	S("numa_balancing.hot_threshold_ms", MACHINE(numa_hot_threshold_ms), SET_INT, 1000, 0,
	  1000000000, "a page used within this time after its scan is hot and is promoted"),
	S("numa.demotion_enabled", MACHINE(demotion_enabled), SET_BOOL, 0, 0, 1,
	  "reclaim moves pages to a slower node before it swaps"),
	S("memory", NODE(memory), SET_SIZE, 1536 * MIB, 0, 1 * TIB / 2, "memory of the node"),
	S("managed", NODE(managed), SET_PAGES, -1, 0, MAX_PAGES,
	  "managed pages of the node; auto: its memory", .automatic = true),
	S("free", NODE(free), SET_PAGES, -1, 0, MAX_PAGES,
	  "pages free at the start; auto: all managed ones", .automatic = true),
	S("cpus", NODE(cpus), SET_INT, -1, 0, 4096,
	  "CPUs of the node, 0 for slow memory; auto: an equal share", .automatic = true),
	S("distance", DISTANCE, SET_INT, 20, 10, 255,
	  "distance to another node as firmware tells it; 10 to itself"),
	S("managed", ZONE(managed), SET_PAGES, -1, 0, MAX_PAGES, "managed pages of the zone",
	  .automatic = true),
	S("free", ZONE(free), SET_PAGES, -1, 0, MAX_PAGES, "pages of the zone free at the start",
	  .automatic = true),
	S("min", ZONE(min), SET_PAGES, -1, 0, MAX_PAGES, "min watermark of the zone",
	  .automatic = true),
	S("low", ZONE(low), SET_PAGES, -1, 0, MAX_PAGES, "low watermark of the zone",
	  .automatic = true),
	S("high", ZONE(high), SET_PAGES, -1, 0, MAX_PAGES, "high watermark of the zone",
	  .automatic = true),

/* --- devices --- */
#define DEVICE(prefix, dev)                                                                        \
	S(prefix ".channels", MACHINE(dev.channels), SET_INT, -1, 1, 4096,                         \
	  "requests served at once; auto: by kind", .automatic = true),                            \
		S(prefix ".nr_requests", MACHINE(dev.nr_requests), SET_INT, -1, 1, 65536,          \
		  "requests submitted at once; who has more waits; auto: by kind",                 \
		  .automatic = true),                                                              \
		S(prefix ".wbt_lat_usec", MACHINE(dev.wbt_lat_usec), SET_INT, -1, 0, 100000000,    \
		  "0: no writeback throttling; else, and by default, it limits the writes in "     \
		  "flight",                                                                        \
		  .automatic = true),                                                              \
		S(prefix ".read_ns", MACHINE(dev.read_ns), SET_NS, -1, 0, 100 * SECOND,            \
		  "latency of a read; auto: by kind", .automatic = true),                          \
		S(prefix ".write_ns", MACHINE(dev.write_ns), SET_NS, -1, 0, 100 * SECOND,          \
		  "latency of a write; auto: by kind", .automatic = true),                         \
		S(prefix ".bandwidth", MACHINE(dev.bandwidth), SET_RATE, -1, 1, TIB,               \
		  "bytes a second; auto: by kind", .automatic = true)
	S("swap", MACHINE(swap), SET_ENUM, DEV_NVME, 0, 0,
	  "swap device; null: asynchronous and free", .choices = device_names),
	S("swap.size", MACHINE(swap_size), SET_SIZE, 2 * GIB, 0, TIB / 2, "size of swap"),
	DEVICE("swap", swap_dev),
	S("swap.cluster", MACHINE(swap_cluster), SET_U32, 512, 64, 4096,
	  "slots of a swap cluster: 512 in kernels with THP swap, 256 without"),
	S("swap.used_clusters", MACHINE(swap_used_clusters), SET_U32, 0, 0, 1 << 20,
	  "clusters taken and given back before the trace: free ones are taken from behind them"),
	S("mm.mmap_base_offset", MACHINE(mmap_base_offset), SET_INT, 0, 0, 1 << 20,
	  "pages that are mapped above the trace's regions before it starts"),
	S("zram.algorithm", MACHINE(zram_algorithm), SET_ENUM, ZRAM_LZO_RLE, 0, 0,
	  "compression of swap=zram", .choices = zram_names),
	S("zram.compressed_bytes", MACHINE(zram_compressed_bytes), SET_INT, -1, 1, 4096,
	  "compressed size of a page; auto: by algorithm", .automatic = true),
#define ZRAM_TIMES(name, id)                                                                       \
	S("zram." name ".compress_ns", MACHINE(zram_compress_ns[id]), SET_NS, -1, 0, SECOND,       \
	  "compression of one page; auto: cost.compress by the algorithm's factor",                \
	  .automatic = true),                                                                      \
		S("zram." name ".decompress_ns", MACHINE(zram_decompress_ns[id]), SET_NS, -1, 0,   \
		  SECOND, "decompression of one page; auto: cost.decompress by its factor",        \
		  .automatic = true)
	ZRAM_TIMES("lz4", ZRAM_LZ4),
	ZRAM_TIMES("lzo-rle", ZRAM_LZO_RLE),
	ZRAM_TIMES("lzo", ZRAM_LZO),
	ZRAM_TIMES("zstd", ZRAM_ZSTD),
#undef ZRAM_TIMES
	S("disk", MACHINE(disk), SET_ENUM, DEV_NVME, 0, 0, "device of the files",
	  .choices = disk_names),
	DEVICE("disk", disk_dev),
#undef DEVICE

	/* --- locks, time --- */
	S("mm.per_vma_lock", MACHINE(per_vma_lock), SET_ENUM, PVL_6_10, 0, 0,
	  "per-VMA locks in the form of which kernel", .choices = per_vma_lock_names,
	  .by_kernel = per_vma_lock_by_kernel),
	S("quantum_ns", MACHINE(quantum_ns), SET_TIME, 500, 0, SECOND,
	  "how far one thread may run ahead of others; 0: exact lock step"),
	S("tick_ns", MACHINE(tick_ns), SET_TIME, 4000000, 1000, 10 * SECOND, "period of the tick"),
	S("timeslice_ns", MACHINE(timeslice_ns), SET_TIME, 3000000, 1000, 10 * SECOND,
	  "time after which a CPU goes to the next waiting task"),
	S("think_ns", MACHINE(think_ns), SET_TIME, 0, 0, 10 * SECOND,
	  "computing before each access of a trace without times"),
	S("sample_ns", MACHINE(sample_ns), SET_TIME, 0, 0, 1000 * SECOND,
	  "period at which counters go into the result (\"samples\"), for plots over time; 0: "
	  "never"),
	S("memcg.stat_flush_period_ns", MACHINE(stat_flush_period_ns), SET_TIME, 2 * SECOND, 1000,
	  1000 * SECOND, "period of the worker that flushes memcg statistics"),
	S("memcg.stat_flush_phase_ns", MACHINE(stat_flush_phase_ns), SET_TIME, 2 * SECOND, 0,
	  1000 * SECOND, "when that worker first falls due"),
	S("model.disable", MACHINE(disabled), SET_ENUM, RS_MECH_NONE, 0, 0,
	  "one mechanism that is left out, to test that its loss would be noticed",
	  .choices = mechanism_names),
	S("seed", MACHINE(seed), SET_U64, 1, 0, INT64_MAX,
	  "seed of everything random in the model"),
	S("cost_scale_percent", MACHINE(cost_scale_percent), SET_INT, 100, 0, 100000,
	  "every cost.* times this per cent"),

/* --- costs --- */
#define RS_COST(id, name, def, cls, activity, doc)                                                 \
	S("cost." name, MACHINE(cost[RS_COST_##id]), SET_TIME, def, 0, 1000 * SECOND,              \
	  doc " (class " #cls ")"),
#include <reclaimsim/cost.def>
#undef RS_COST
};

const struct setting *setting_row(unsigned i)
{
	return i < G_N_ELEMENTS(table) ? &table[i] : NULL;
}

int64_t setting_default(const struct setting *setting, enum rs_kernel kernel)
{
	return setting->by_kernel ? setting->by_kernel[kernel] : setting->def;
}
