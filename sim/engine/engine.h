/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * engine.h - what happens, and when: tasks with their clocks, the fault path, reclaim, devices.
 *
 * A task is a simulated thread on a stack of its own (fiber), so that the fault and reclaim paths
 * read like the kernel's: they block in the middle and go on. Only one fiber runs at a time; the
 * scheduler picks the one with the lowest clock, so everything that interacts happens in order of
 * simulated time. Departure from architecture.md section 5 (rows of step functions): direct
 * reclaim sleeps deep inside a fault, and a stack is the state that step functions would have to
 * spell out. A task still shows where it waits (task.waiting_for), for dumps.
 */
#ifndef SIM_ENGINE_ENGINE_H
#define SIM_ENGINE_ENGINE_H

#include <reclaimsim/observe.h>
#include <reclaimsim/sim.h>

#include <gmodule.h>

#include "sim/base/rng.h"
#include "sim/mm/machine.h"
#include "sim/report/result.h"

/* ---- tasks (task.c, sched.c) ---- */

/* Also the order of equal times: device completions and timers come before all of them. */
enum task_class { CLASS_KSWAPD, CLASS_FLUSHER, CLASS_APP };
enum task_state {
	TASK_UNBORN,
	TASK_READY,
	TASK_RUNNING,
	TASK_SPINNING,
	TASK_WAITING,
	TASK_STARVING,
	TASK_DEAD
};
enum wait_kind {
	WAIT_CPU,
	WAIT_IO,
	WAIT_MMAP_LOCK,
	WAIT_VMA_LOCK,
	WAIT_THROTTLE,
	WAIT_SLEEP,
	WAIT_DIRTY,
	WAIT_THREAD,
	NR_WAITS
};

/* Records of a thread that have not run yet. */
struct segment {
	const struct rs_record *records;
	uint32_t pos, n, sub; /* sub: pages of records[pos] already done */
	const struct rs_map *maps;
	uint64_t line;
	struct rs_record *owned; /* copies, freed with the segment */
	struct rs_map *owned_maps;
};

/* Swap writes held back: requests of consecutive slots. */
#define PLUG_FOLIOS 1024u
struct plug {
	uint32_t nr_requests, n;
	uint32_t last_slot, last_pages;
	uint32_t start[34]; /* first folio of each request */
	bool read[34];	    /* else a write */
	pfn_t pfn[PLUG_FOLIOS];
};

/* NUMA balancing of a thread (numa_balancing.c). Kernel: the numa_* fields of task_struct. */
struct numa_task {
	ns_t node_stamp; /* CPU time up to which ticks have been looked at */
	uint32_t scan_period_ms, scan_seq;
	bool work; /* a scan is due on the way back to user mode */
	uint64_t remote, local, failed, shared, private; /* hint faults since the last placement */
	uint64_t faults[RS_MAX_NODES], new_faults[RS_MAX_NODES];
	uint8_t preferred; /* node + 1; 0: none yet */
};

struct task {
	struct rs_ctx *ctx;
	uint32_t id, tid; /* tid: thread number of the trace */
	enum task_class class;
	enum task_state state;
	struct fiber *fiber;
	void (*main)(struct task *);
	ns_t now, limit;
	ns_t busy_until; /* computes at least as long, while it has the CPU */
	ns_t others;	 /* nothing else happens before: see task_sync() */
	ns_t ready_at, slice_end, started_at;
	ns_t preempt_at; /* when it may take the CPU of a running application */
	uint32_t cpu;
	const char *waiting_for; /* for dumps */
	pfn_t wait_pfn;
	struct task *wait_thread;
	enum wait_kind wait_kind;
	uint32_t process, cpu_hint;
	bool by_fork; /* born by a fork record */
	struct mm *mm;
	GQueue segments;

	bool memalloc;			/* PF_MEMALLOC: in reclaim */
	const struct rs_vma *fault_vma; /* in a page fault of this VMA */
	struct rs_vma *vma_lock;	/* VMA that the fault has locked for reading */
	bool in_fault;
	bool parking;	       /* goes to sleep: must not wait for anything else */
	uint64_t fault_record; /* the last access that faulted, and how often in a row */
	uint32_t fault_sub, nr_same_faults;
	bool killed, killable;
	uint32_t nr_pages_over_high;
	struct plug *plug, *shrink_plug; /* in force; that of the lruvec being shrunk */
	uint64_t sc_depth;
	uint8_t nid;

	ns_t run_ns, wait_ns[NR_WAITS];
	struct task *const *spin_on;
	ns_t spin_from, wait_from;
	uint64_t nr_spins;
	ns_t born_at, end_at, idle_ns, spin_ns, mmap_since, vma_since, walk_since, lru_since;
	uint64_t accesses;
	ns_t reclaim_ns;
	uint64_t majflt, minflt, nr_dirtied;

	/* psi.c */
	bool in_memstall;
	uint32_t psi_flags, psi_cpu;
	uint16_t psi_memcg;

	uint32_t open_spans;			      /* timeline.c */
	uint64_t nr_dirtied_pause, dirty_paused_when; /* pages; jiffies */
	struct numa_task numa;
};

/* ---- events (event.c) ---- */

typedef void event_fn(struct rs_ctx *, void *arg, uint64_t value);
struct event {
	ns_t when;
	uint64_t seq;
	event_fn *fn;
	void *arg;
	uint64_t value;
};

/* ---- CPUs ---- */

#define BATCH_MAX 31u
struct folio_batch {
	uint32_t n;
	pfn_t pfn[BATCH_MAX];
};
struct cpu {
	struct task *cur;
	ns_t free_at, busy_ns;
	struct folio_batch add, rotate, deactivate_file, deactivate, lazyfree, activate;
	uint16_t stock_memcg;
	uint32_t stock;
	uint32_t nr_slots, next_slot, slot[SLOTS_CACHE];
	struct task *last_user;
	uint8_t nid;
};

/* ---- devices (device.c) ---- */

struct device {
	enum rs_device_kind kind;
	const char *name;
	bool sync; /* done in the caller's time, no swap cache life (zram) */
	bool free; /* asynchronous, completes at submission */
	uint32_t nr_channels;
	uint32_t max_pages; /* of one request */
	ns_t *channel_free; /* by channel */
	uint32_t nr_requests, in_flight, writes_in_flight, max_waiting;
	bool throttle_writes;
	ns_t last_read; /* when a read has ended last */
	GQueue waiters; /* tasks without a request */
	/* A rotating disk (disk.c): where its arm is, in pages, and who waits for it. */
	bool has_arm, arm_busy;
	uint64_t arm;
	uint32_t starved;
	GPtrArray *pending; /* struct io */
	ns_t read_ns, write_ns;
	uint64_t bandwidth; /* bytes a second, 0 = no limit */
	ns_t bus_free;
	uint64_t nr_reads, nr_writes, bytes_read, bytes_written;
	ns_t busy_ns, wait_ns;
};

struct io {
	struct device *dev;
	bool write;
	uint64_t place, bytes; /* place: page of the device */
	ns_t submitted;
	uint32_t n;
	pfn_t pfn[];
};

/* Who takes mmap_lock or the lock of a VMA. */
enum lock_op {
	LOCK_FAULT,
	LOCK_MMAP,
	LOCK_MUNMAP,
	LOCK_MPROTECT,
	LOCK_MADVISE,
	LOCK_MLOCK,
	LOCK_MBIND,
	LOCK_FORK,
	LOCK_WALK,
	LOCK_EXIT,
	NR_LOCK_OPS
};
struct lock_stat {
	uint64_t acquired, contended;
	ns_t wait_ns, hold_ns;
};

/* Held from..free_at: a step that began earlier does not find it held. */
struct lru_lock {
	ns_t from, free_at;
};

/* A thread number of the trace and the task that it means at this point. */
struct thread_slot {
	struct task *task;
	bool open;
	GQueue unborn; /* tasks whose fork has been fed but has not run, oldest first */
};

struct rs_ctx {
	struct machine m; /* first */
	struct rs_config cfg;
	const struct rs_policy_ops *ops;
	GModule *module;
	char *policy_spec;
	struct rs_tunables tun;
	void *policy_priv, *params, *folio_priv;

	struct task **tasks;
	uint32_t nr_tasks;
	struct thread_slot *thread; /* by thread number of the trace */
	struct mm **process;	    /* by process number; NULL: none now */
	uint32_t *process_threads;  /* threads it has at this point of the trace */
	uint32_t nr_threads, nr_processes, nr_live_apps, nr_starving, feed_thread;
	ns_t last_app_ns; /* when an application last ran */
	ns_t hit_ns;
	ns_t remote_ns[RS_MAX_NODES][RS_MAX_NODES]; /* [CPU's node][page's]: see numa.c */
	char *place;
	struct task *cur;
	struct task *kswapd[RS_MAX_NODES], *flusher;
	struct cpu *cpus;
	uint32_t nr_cpus;
	GQueue ready;	/* struct task *, by (ready_at, class, id) */
	GArray *events; /* heap of struct event */
	uint64_t event_seq;
	ns_t now; /* time of the event being handled, or of the last task that ran */
	bool trace_over, started, policy_ready, freeing_list;
	GError *error; /* ends the run */
	const struct rs_trace *trace;

	struct device swap_dev, disk_dev;
	struct lru_lock *lru_locks; /* by lruvec id */
	struct lock_stat lock_mmap[NR_LOCK_OPS], lock_vma[NR_LOCK_OPS], lock_lru;

	/* kswapd, per node */
	struct {
		int order, highest_zoneidx, failures;
		bool asleep;
		uint64_t wakeups;
		bool wb_flag, dirty_flag; /* PGDAT_WRITEBACK, PGDAT_DIRTY */
	} pgdat[RS_MAX_NODES];
	/* Promotion to the node. Kernel: the nbp_* fields of pglist_data. */
	struct {
		uint64_t nr_candidates; /* PGPROMOTE_CANDIDATE of the node */
		uint64_t rl_nr_cand, th_nr_cand;
		uint64_t rl_start_ms, th_start_ms, threshold_ms; /* 0: the default */
	} promotion[RS_MAX_NODES];
	uint32_t *numa_stamp; /* by pfn, see numa_balancing.c; NULL: no NUMA balancing */
	bool flusher_wanted;
	/* Estimates of the disk, pages a second, and the totals they were made from (dirty.c). */
	struct {
		uint64_t write_bandwidth, avg_write_bandwidth, ratelimit, balanced_ratelimit;
		uint64_t stamp, dirtied_stamp, written_stamp; /* stamp: jiffies */
		uint64_t written;			      /* file pages */
		bool exceeded;
	} dirty;
	ns_t dirty_sleep; /* when a writer was held back last. Kernel: wb->dirty_sleep */
	uint64_t flusher_timer, flusher_timers; /* number of the one that runs, or 0; of all */
	GQueue throttled;			/* tasks in throttle_direct_reclaim() */

	/* swap read-ahead */
	uint32_t swap_ra_hits;
	uint64_t swap_ra_prev, swap_ra_win;

	uint64_t nr_ops, nr_accesses, nr_reclaims;
	uint64_t nr_steps, nr_overruns; /* of tasks between two looks at the others */
	ns_t longest_overrun_ns;
	ns_t activity_ns[RS_NR_COSTS];
	uint64_t activity_calls[RS_NR_COSTS];
	ns_t reclaim_ns;
	uint64_t own_counter[64];
	struct rs_result *result;
	struct rs_rng policy_rng;
	ns_t last_flush;
	struct observation *observer; /* NULL: nobody looks, see observe.h */
	struct timeline *timeline;    /* NULL: nobody looks, see timeline.h */
	struct psi_group **psi;	      /* by group, NULL: nobody has run in it; see psi.h */
};

/* task.c: fibers */
struct task *task_new(struct rs_ctx *, enum task_class, void (*main)(struct task *));
void task_free(struct task *);
void task_switch_in(struct task *); /* host -> fiber, returns when it yields */
void task_yield(struct task *);	    /* fiber -> host */

/* sched.c */
void sched_run(struct rs_ctx *); /* until input is needed, the end, or an error */
void task_wake(struct rs_ctx *, struct task *, ns_t when);
void task_wait(struct rs_ctx *, enum wait_kind, const char *what); /* until woken */
/*
 * Keeps its CPU for a while, and longer while *owner runs, if nobody else wants it. True: it was
 * woken before it slept.
 */
bool task_spin(struct rs_ctx *, enum wait_kind, const char *what, struct task *const *owner);
void task_sleep(struct rs_ctx *, ns_t ns, enum wait_kind, const char *what);
void task_checkpoint(struct rs_ctx *); /* let others go first whose time has come */
/* Before others can see what comes next: let those go first whose clocks are behind. */
void task_sync(struct rs_ctx *);
void task_exit(struct rs_ctx *);		/* of the running task; never returns */
void task_starve(struct rs_ctx *);		/* until there are records again */
void task_feed(struct rs_ctx *, struct task *); /* there are */
void sched_no_more_input(struct rs_ctx *);
char *sched_dump(struct rs_ctx *); /* who waits for what; g_free() */
void sched_fail(struct rs_ctx *, enum rs_error, const char *fmt, ...) G_GNUC_PRINTF(3, 4);

/* A duration of that kind has ended, now. */
static inline void note_latency(struct rs_ctx *ctx, enum rs_latency kind, ns_t from)
{
	rs_hist_add(&ctx->result->latency[kind], ctx->cur->now - from);
}

/* event.c */
void event_add(struct rs_ctx *, ns_t when, event_fn *, void *arg, uint64_t value);
bool event_peek(struct rs_ctx *, ns_t *ret_when);
void event_run_next(struct rs_ctx *);

/* cost.c */
static inline struct cpu *this_cpu(struct rs_ctx *ctx)
{
	return &ctx->cpus[ctx->cur ? ctx->cur->cpu : 0];
}
void charge(struct rs_ctx *, enum rs_cost, uint64_t n);

/* numa.c */
void numa_init(struct rs_ctx *);
uint8_t numa_node_id(const struct rs_ctx *); /* of the CPU that runs */
void numa_count(struct rs_ctx *, uint8_t nid, enum numastat);
/* n accesses to the frame by the running task: what they take longer than local ones. */
void charge_remote(struct rs_ctx *, pfn_t, uint64_t n);

bool node_is_toptier(const struct rs_ctx *, uint8_t nid);

/* numa_balancing.c */
void numa_balancing_init(struct rs_ctx *);
void task_tick_numa(struct rs_ctx *, struct task *);
void task_numa_work(struct rs_ctx *);
void do_numa_page(struct rs_ctx *, struct mm *, struct rs_vma *, uint64_t vpn);
void numa_stamp_moved(struct rs_ctx *, pfn_t from, pfn_t to);
static inline void numa_stamp_reset(struct rs_ctx *ctx, pfn_t pfn)
{
	if (ctx->numa_stamp)
		ctx->numa_stamp[pfn] = 0;
}

/* migrate.c */
pfn_t migrate_folio(struct rs_ctx *, pfn_t, uint8_t nid, enum rs_note);
pfn_t migrate_misplaced(struct rs_ctx *, const struct rs_vma *, pfn_t, uint8_t nid);

/* app.c */
void app_main(struct task *);

/* fault.c: the access of a region's page that the hit loop cannot serve. */
enum fault_result { FAULT_DONE, FAULT_OOM, FAULT_RETRY };
/* True: a huge mapping has served the access; else it is to be tried again. */
bool handle_fault(struct rs_ctx *, uint32_t region, uint64_t page, bool write);
void return_to_user(struct rs_ctx *); /* memory.high, signals, other tasks */
void count_fault(struct rs_ctx *, struct mm *, enum rs_event);
/* One PTE of vma maps the page frame; its folio's first mapping is accounted. */
void map_page(struct rs_ctx *, struct mm *, struct rs_vma *, uint64_t vpn, pfn_t, uint32_t bits);
void add_and_map(struct rs_ctx *, struct mm *, struct rs_vma *, uint64_t vpn, pfn_t);
/*
 * An anonymous page is about to come to the VMA. False: its anon_vma cannot be made under the lock
 * of the VMA alone.
 */
bool anon_vma_prepare(struct rs_ctx *, struct mm *, struct rs_vma *);
/* A new anonymous folio belongs at vpn of vma. */
void set_anon_rmap(struct rs_ctx *, pfn_t, struct rs_vma *, uint64_t vpn);
/* Drops the lock while it waits; the lock of a VMA is then gone. The fault is tried again. */
void fault_wait_folio(struct rs_ctx *, struct mm *, pfn_t);

/* fault_anon.c, fault_swap.c, fault_file.c, huge.c */
enum fault_result do_anonymous_page(struct rs_ctx *, struct mm *, struct rs_vma *, uint64_t vpn,
				    bool write);
enum fault_result do_wp_page(struct rs_ctx *, struct mm *, struct rs_vma *, uint64_t vpn);
enum fault_result do_swap_page(struct rs_ctx *, struct mm *, struct rs_vma *, uint64_t vpn,
			       bool write);
enum fault_result do_file_fault(struct rs_ctx *, struct mm *, struct rs_vma *, uint64_t vpn,
				bool write, bool tried);
enum fault_result do_huge_anonymous(struct rs_ctx *, struct mm *, struct rs_vma *, uint64_t vpn);
bool leaf_access(struct rs_ctx *, struct mm *, uint64_t vpn, bool write);
void split_huge_pmd(struct rs_ctx *, struct mm *, uint32_t table);
void split_huge_range(struct rs_ctx *, struct mm *, uint64_t start, uint64_t end);
void split_vmas(struct rs_ctx *, struct mm *, uint64_t start, uint64_t end);
void zap_huge(struct rs_ctx *, struct mm *, uint32_t table);
bool split_folio(struct rs_ctx *, pfn_t);

/* fileio.c, readahead.c */
void file_read(struct rs_ctx *, uint32_t file, uint32_t handle, uint64_t page, uint32_t n);
void file_write(struct rs_ctx *, uint32_t file, uint32_t handle, uint64_t page, uint32_t n);
void file_fsync(struct rs_ctx *, uint32_t file);
void file_truncate(struct rs_ctx *, uint32_t file, uint64_t pages);
void file_drop(struct rs_ctx *, uint32_t file, uint64_t from, uint64_t to, bool truncate);
pfn_t file_add_page(struct rs_ctx *, uint32_t file, uint64_t index, bool for_write);
void file_read_pages(struct rs_ctx *, uint32_t file, uint64_t start, uint64_t n, uint64_t marker);
void file_remove_page(struct rs_ctx *, pfn_t, uint64_t shadow);
void page_cache_sync_ra(struct rs_ctx *, uint32_t file, struct open_file *, uint64_t index,
			uint64_t req);
void page_cache_async_ra(struct rs_ctx *, uint32_t file, struct open_file *, uint64_t index,
			 uint64_t req, pfn_t marked);
void mmap_sync_ra(struct rs_ctx *, uint32_t file, struct rs_vma *, uint64_t index);
bool mmap_async_ra(struct rs_ctx *, uint32_t file, struct rs_vma *, uint64_t index, pfn_t);
void folio_wait_locked(struct rs_ctx *, pfn_t); /* killable */
void folio_lock_wait(struct rs_ctx *, pfn_t);
void folio_wait_writeback(struct rs_ctx *, pfn_t);

/* swapio.c */
pfn_t swapin_readahead(struct rs_ctx *, struct mm *, struct rs_vma *, uint64_t vpn, uint32_t slot);
pfn_t swap_cache_lookup(struct rs_ctx *, struct rs_vma *, uint64_t vpn, uint32_t slot);
bool add_to_swap(struct rs_ctx *, pfn_t);
bool folio_free_swap(struct rs_ctx *, pfn_t);
void swap_writepage(struct rs_ctx *, pfn_t);
void swap_free_entry(struct rs_ctx *, uint32_t slot); /* swap_free() of one PTE */
void plug_start(struct rs_ctx *, struct plug *);
void plug_finish(struct rs_ctx *, struct plug *);
void plug_flush(struct rs_ctx *);

/* device.c */
void devices_init(struct rs_ctx *);
void devices_clear(struct rs_ctx *);
event_fn io_done;
void event_discard(struct event *); /* at the end: what nobody waits for any more */
void device_read(struct rs_ctx *, struct device *, const pfn_t *, uint32_t n);
bool zram_reserve(struct rs_ctx *, pfn_t);
void device_write(struct rs_ctx *, struct device *, const pfn_t *, uint32_t n);

/* disk.c */
void disk_init(struct device *);
void disk_clear(struct device *);
ns_t disk_position_ns(const struct device *, uint64_t place);
void disk_submit(struct rs_ctx *, struct device *, struct io *, ns_t now);
void disk_next(struct rs_ctx *, struct device *, const struct io *over);

/* alloc.c, charge.c */
pfn_t alloc_folio(struct rs_ctx *, unsigned order, const struct rs_vma *, uint64_t vpn);
pfn_t alloc_on_node(struct rs_ctx *, uint8_t nid, bool wake);
bool charge_folio(struct rs_ctx *, pfn_t, uint16_t memcg);
void uncharge_folio(struct rs_ctx *, pfn_t);
void drain_stock(struct rs_ctx *, struct cpu *);
bool wakeup_kswapd(struct rs_ctx *, uint8_t nid, unsigned order, enum rs_zone highest);
bool oom_kill(struct rs_ctx *, uint16_t memcg);
void note_oom(struct rs_ctx *, const struct mm *victim, uint16_t memcg);
void handle_memory_high(struct rs_ctx *);

/* folio.c */
void folio_free(struct rs_ctx *, pfn_t);
void folio_put(struct rs_ctx *, pfn_t); /* a pin goes; frees what nobody uses any more */
bool folio_in_use(struct rs_ctx *, pfn_t);
void folio_free_if_unused(struct rs_ctx *, pfn_t);
void folio_remove_rmap(struct rs_ctx *, pfn_t);
void folio_mark_dirty(struct rs_ctx *, pfn_t);
void folio_clear_dirty(struct rs_ctx *, pfn_t);
void folio_start_writeback(struct rs_ctx *, pfn_t);
void folio_end_writeback(struct rs_ctx *, pfn_t);
void folio_mark_accessed(struct rs_ctx *, pfn_t);
void workingset_refault(struct rs_ctx *, pfn_t, uint64_t shadow);
bool folio_evictable(const struct folio *);
void folio_unlock(struct rs_ctx *, pfn_t);

/* batch.c */
void folio_add_lru(struct rs_ctx *, pfn_t);
void folio_rotate_reclaimable(struct rs_ctx *, pfn_t);
void folio_deactivate(struct rs_ctx *, pfn_t);
void folio_deactivate_file(struct rs_ctx *, pfn_t);
void folio_mark_lazyfree(struct rs_ctx *, pfn_t);
void folio_mlock(struct rs_ctx *, pfn_t, bool lock);
void lru_add_drain_cpu(struct rs_ctx *, struct cpu *);
void lru_del(struct rs_ctx *, pfn_t); /* off its list, PG_lru cleared */
void lru_add(struct rs_ctx *, pfn_t, bool tail);

/* unmap.c */
bool try_to_unmap(struct rs_ctx *, pfn_t);
void unmap_file_page(struct rs_ctx *, pfn_t);
void clean_ptes(struct rs_ctx *, pfn_t); /* write-protects: the next store is a fault */

/* reclaim.c, kswapd.c, evict.c, writeback.c */
uint64_t try_to_free_pages(struct rs_ctx *, uint8_t nid, unsigned order, enum rs_zone highest);
uint64_t try_to_free_mem_cgroup_pages(struct rs_ctx *, uint16_t memcg, uint64_t nr, bool may_swap,
				      bool proactive);
void shrink_node(struct rs_ctx *, uint8_t nid, struct rs_scan *);
void kswapd_main(struct task *);
bool allow_direct_reclaim(struct rs_ctx *, uint8_t nid);
void wake_throttled(struct rs_ctx *);
void reclaim_check(struct rs_ctx *); /* debug builds: whole machine */
uint32_t reclaim_folio_list(struct rs_ctx *, struct rs_isolated *); /* MADV_PAGEOUT */
void flusher_main(struct task *);
void wakeup_flusher(struct rs_ctx *);
void start_flusher_timer(struct rs_ctx *, ns_t now);

/* dirty.c */
void dirty_init(struct rs_ctx *);
uint64_t dirty_pos_polynom(uint64_t setpoint, uint64_t dirty, uint64_t limit);
void balance_dirty_pages(struct rs_ctx *);
void writeback_file(struct rs_ctx *, uint32_t file, uint64_t max);
void dirty_thresholds(struct rs_ctx *, uint64_t *ret_background, uint64_t *ret_limit);
void flush_stats_reader(struct rs_ctx *);

/* demote.c */
bool demote_folio(struct rs_ctx *, uint8_t nid, pfn_t, struct rs_scan *);

/* mapops.c, process.c */
bool op_mmap(struct rs_ctx *, struct task *, uint32_t region, const struct rs_map *,
	     uint16_t handle);
bool op_munmap(struct rs_ctx *, struct task *, uint32_t region, uint64_t page, uint64_t n);
bool op_mprotect(struct rs_ctx *, struct task *, const struct rs_record *);
bool op_madvise(struct rs_ctx *, struct task *, const struct rs_record *);
void op_fadvise(struct rs_ctx *, const struct rs_record *);
bool op_mbind(struct rs_ctx *, struct task *, const struct rs_record *);
bool op_mlock(struct rs_ctx *, struct task *, const struct rs_record *);
void mmap_write_unlock_merged(struct rs_ctx *, struct mm *, uint64_t start, uint64_t end,
			      enum lock_op);
void zap_range(struct rs_ctx *, struct mm *, uint64_t start, uint64_t end);
bool op_fork(struct rs_ctx *, struct task *, uint32_t thread);
void op_exec(struct rs_ctx *, struct task *);
void op_exit(struct rs_ctx *, struct task *);
bool op_memcg(struct rs_ctx *, struct task *, const char *path);
void mm_destroy(struct rs_ctx *, struct mm *);
struct mm *mm_create(struct rs_ctx *, uint16_t memcg);

/* feed.c */
bool feed(struct rs_ctx *, const struct rs_batch *);
void segment_free(struct segment *);
/* What a killed thread would have forked is never born. */
void abandon_records(struct rs_ctx *, const struct rs_record *, uint32_t n);
void late_marks(struct rs_ctx *, const struct rs_record *, uint32_t n);
void start_thread(struct rs_ctx *, struct task *, struct mm *, ns_t when);
void lruvecs_online(struct rs_ctx *,
		    uint32_t first_memcg); /* sim.c: the policy's part of new ones */

/* lock.c */
void mmap_read_lock(struct rs_ctx *, struct mm *, enum lock_op);
bool mmap_read_trylock(struct rs_ctx *, struct mm *, enum lock_op);
void mmap_read_unlock(struct rs_ctx *, struct mm *, enum lock_op);
void mmap_write_lock(struct rs_ctx *, struct mm *, enum lock_op);
void mmap_write_unlock(struct rs_ctx *, struct mm *, enum lock_op);
void mmap_write_downgrade(struct rs_ctx *, struct mm *, enum lock_op);
void mmap_lock_free(struct mm *);
const char *lock_op_name(enum lock_op);

/* vma_lock.c */
enum vma_lock_kind {
	VMA_FAULT_ANON,
	VMA_FAULT_ANON_FIRST,
	VMA_FAULT_FILE,
	VMA_FAULT_SWAP,
	NR_VMA_FAULTS
};
/* The VMA locked for the fault, or NULL: it has to be served under mmap_lock. */
struct rs_vma *vma_lock_fault(struct rs_ctx *, struct mm *, uint64_t vpn);
/* False: a fault of that kind, met under the VMA lock, has to be tried again under mmap_lock. */
bool vma_lock_suffices(struct rs_ctx *, enum vma_lock_kind);
void vma_end_read(struct rs_ctx *, struct mm *, struct rs_vma *);
/* With mmap_lock held for writing: no fault is inside these VMAs, and none gets in till its end. */
void vma_start_write(struct rs_ctx *, struct mm *, struct rs_vma *, enum lock_op);
void vma_start_write_range(struct rs_ctx *, struct mm *, uint64_t start, uint64_t end,
			   enum lock_op);

/* policy_load.c */
bool policy_load(struct rs_ctx *, const char *spec, GError **);
void policy_unload(struct rs_ctx *);

/* snapshot.c */
const char *trace_place(struct rs_ctx *); /* "line 12" of the record that runs */
void take_snapshot(struct rs_ctx *, const char *name);
void take_mark(struct rs_ctx *, const struct rs_record *);
#define MAX_SAMPLES 100000u
void sample_event(struct rs_ctx *, void *arg, uint64_t nr); /* takes one and asks for the next */
void finish_result(struct rs_ctx *);

#endif
