/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gen_fio_opts.c - the options of a fio job: one table of those that decide which pages are
 * touched, one list of those that do not, one of those that are refused and why.
 */
#include "traces/gen_fio.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

enum kind {
	OPT_BOOL, /* switch, or 0 or 1 */
	OPT_UINT,
	OPT_BYTES,
	OPT_BYTES3, /* read,write,trim; a missing one is the last given */
	OPT_UINT3,
	OPT_SECONDS, /* microseconds; a plain number is seconds */
	OPT_MICROS,
	OPT_STRING,
	OPT_CALL,
};

typedef bool option_fn(struct gen *, struct fio_opts *, const struct fio_line *);
static option_fn set_rw, set_bsrange, set_size, set_io_size, set_filesize, set_offset,
	set_increment, set_filename, set_directory, set_service, set_distribution, set_generator,
	set_engine, set_buffered, set_fadvise, set_rwmixread, set_rwmixwrite, set_sequencer,
	set_sequential, set_randseed;

struct option {
	const char *name;
	enum kind kind;
	size_t offset;
	option_fn *call;
};
#define AT(field) offsetof(struct fio_opts, field)

static const struct option options[] = {
	{ "allrandrepeat", OPT_BOOL, AT(allrandrepeat), NULL },
	{ "ba", OPT_BYTES3, AT(align), NULL },
	{ "blockalign", OPT_BYTES3, AT(align), NULL },
	{ "blocksize", OPT_BYTES3, AT(bs), NULL },
	{ "blocksize_range", OPT_CALL, 0, set_bsrange },
	{ "blocksize_unaligned", OPT_BOOL, AT(bs_unaligned), NULL },
	{ "bs", OPT_BYTES3, AT(bs), NULL },
	{ "bs_is_seq_rand", OPT_BOOL, AT(bs_is_seq_rand), NULL },
	{ "bs_unaligned", OPT_BOOL, AT(bs_unaligned), NULL },
	{ "bsrange", OPT_CALL, 0, set_bsrange },
	{ "bssplit", OPT_CALL, 0, fio_parse_bssplit },
	{ "buffered", OPT_CALL, 0, set_buffered },
	{ "create_on_open", OPT_BOOL, AT(create_on_open), NULL },
	{ "direct", OPT_BOOL, AT(direct), NULL },
	{ "directory", OPT_CALL, 0, set_directory },
	{ "end_fsync", OPT_BOOL, AT(end_fsync), NULL },
	{ "fadvise_hint", OPT_CALL, 0, set_fadvise },
	{ "fdatasync", OPT_UINT, AT(fdatasync), NULL },
	{ "file_append", OPT_BOOL, AT(file_append), NULL },
	{ "file_service_type", OPT_CALL, 0, set_service },
	{ "filename", OPT_CALL, 0, set_filename },
	{ "filename_format", OPT_STRING, AT(filename_format), NULL },
	{ "fileoffset", OPT_CALL, 0, set_offset },
	{ "filesize", OPT_CALL, 0, set_filesize },
	{ "fsync", OPT_UINT, AT(fsync), NULL },
	{ "fsync_on_close", OPT_BOOL, AT(fsync_on_close), NULL },
	{ "invalidate", OPT_BOOL, AT(invalidate), NULL },
	{ "io_limit", OPT_CALL, 0, set_io_size },
	{ "io_size", OPT_CALL, 0, set_io_size },
	{ "iodepth", OPT_UINT, AT(iodepth), NULL },
	{ "ioengine", OPT_CALL, 0, set_engine },
	{ "kb_base", OPT_UINT, AT(kb_base), NULL },
	{ "loops", OPT_UINT, AT(loops), NULL },
	{ "norandommap", OPT_BOOL, AT(norandommap), NULL },
	{ "nr_files", OPT_UINT, AT(nr_files), NULL },
	{ "nrfiles", OPT_UINT, AT(nr_files), NULL },
	{ "number_ios", OPT_UINT, AT(number_ios), NULL },
	{ "numjobs", OPT_UINT, AT(numjobs), NULL },
	{ "offset", OPT_CALL, 0, set_offset },
	{ "offset_align", OPT_BYTES, AT(offset_align), NULL },
	{ "offset_increment", OPT_CALL, 0, set_increment },
	{ "openfiles", OPT_UINT, AT(open_files), NULL },
	{ "overwrite", OPT_BOOL, AT(overwrite), NULL },
	{ "percentage_random", OPT_UINT3, AT(percent_random), NULL },
	{ "percentage_sequential", OPT_CALL, 0, set_sequential },
	{ "pre_read", OPT_BOOL, AT(pre_read), NULL },
	{ "random_distribution", OPT_CALL, 0, set_distribution },
	{ "random_generator", OPT_CALL, 0, set_generator },
	{ "randrepeat", OPT_BOOL, AT(randrepeat), NULL },
	{ "randseed", OPT_CALL, 0, set_randseed },
	{ "rate", OPT_BYTES3, AT(rate), NULL },
	{ "rate_iops", OPT_UINT3, AT(rate_iops), NULL },
	{ "readwrite", OPT_CALL, 0, set_rw },
	{ "runtime", OPT_SECONDS, AT(runtime_us), NULL },
	{ "rw", OPT_CALL, 0, set_rw },
	{ "rw_sequencer", OPT_CALL, 0, set_sequencer },
	{ "rwmixread", OPT_CALL, 0, set_rwmixread },
	{ "rwmixwrite", OPT_CALL, 0, set_rwmixwrite },
	{ "size", OPT_CALL, 0, set_size },
	{ "startdelay", OPT_SECONDS, AT(startdelay_us), NULL },
	{ "stonewall", OPT_BOOL, AT(stonewall), NULL },
	{ "thinktime", OPT_MICROS, AT(thinktime_us), NULL },
	{ "thinktime_blocks", OPT_UINT, AT(thinktime_blocks), NULL },
	{ "thinktime_spin", OPT_MICROS, AT(thinktime_spin_us), NULL },
	{ "thread", OPT_BOOL, AT(thread), NULL },
	{ "time_based", OPT_BOOL, AT(time_based), NULL },
	{ "timeout", OPT_SECONDS, AT(runtime_us), NULL },
	{ "unlink", OPT_BOOL, AT(unlink), NULL },
	{ "wait_for", OPT_STRING, AT(wait_for), NULL },
	{ "wait_for_previous", OPT_BOOL, AT(stonewall), NULL },
};

/* Options of fio that change how it measures, prints or submits, but no page that is touched. */
static const char *const ignored[] = {
	"allow_file_create",
	"allow_mounted_write",
	"block_error_percentiles",
	"buffer_compress_chunk",
	"buffer_compress_percentage",
	"buffer_pattern",
	"bwavgtime",
	"clat_percentiles",
	"clocksource",
	"cmdprio",
	"cmdprio_percentage",
	"continue_on_error",
	"cpumask",
	"cpus_allowed",
	"cpus_allowed_policy",
	"create_fsync",
	"create_only",
	"create_serialize",
	"dedupe_global",
	"dedupe_mode",
	"dedupe_percentage",
	"dedupe_working_set_percentage",
	"description",
	"disable_bw",
	"disable_bw_measurement",
	"disable_clat",
	"disable_lat",
	"disable_slat",
	"disk_util",
	"do_verify",
	"error_dump",
	"exec_postrun",
	"exec_prerun",
	"exit_what",
	"exitall",
	"exitall_on_error",
	"fallocate",
	"fixedbufs",
	"gid",
	"group_reporting",
	"gtod_cpu",
	"gtod_reduce",
	"hipri",
	"hugepage-size",
	"ignore_error",
	"io_submit_mode",
	"iodepth_batch",
	"iodepth_batch_complete",
	"iodepth_batch_complete_max",
	"iodepth_batch_complete_min",
	"iodepth_batch_submit",
	"iodepth_low",
	"iomem",
	"iomem_align",
	"iopsavgtime",
	"ioscheduler",
	"lat_percentiles",
	"latency_percentile",
	"lockfile",
	"log_alternate_epoch",
	"log_alternate_epoch_clock_id",
	"log_avg_msec",
	"log_compression",
	"log_compression_cpus",
	"log_entries",
	"log_hist_coarseness",
	"log_hist_msec",
	"log_max_value",
	"log_offset",
	"log_prio",
	"log_store_compressed",
	"log_unix_epoch",
	"max_latency",
	"mem",
	"mem_align",
	"name",
	"new_group",
	"nice",
	"nonvectored",
	"nowait",
	"per_job_logs",
	"percentile_list",
	"prio",
	"prioclass",
	"ramp_time",
	"rate_cycle",
	"rate_ignore_thinktime",
	"rate_iops_min",
	"rate_min",
	"ratecycle",
	"ratemin",
	"refill_buffers",
	"registerfiles",
	"scramble_buffers",
	"serialize_overlap",
	"significant_figures",
	"slat_percentiles",
	"softrandommap",
	"sqthread_poll",
	"sqthread_poll_cpu",
	"stats",
	"steadystate",
	"steadystate_duration",
	"steadystate_ramp_time",
	"uid",
	"uncached",
	"unified_rw_reporting",
	"unique_filename",
	"unit_base",
	"unlink_each_loop",
	"userspace_reap",
	"verify_dump",
	"verify_fatal",
	"write_bw_log",
	"write_hint",
	"write_hist_log",
	"write_iolog",
	"write_iops_log",
	"write_lat_log",
	"zero_buffers",
};

static const struct refusal {
	const char *name, *why;
} refused[] = {
	{ "atomic", "atomic writes bypass the page cache by a flag of few file systems" },
	{ "cgroup", "say with the run's settings which group the trace runs in" },
	{ "cgroup_nodelete", "say with the run's settings which group the trace runs in" },
	{ "cgroup_weight", "CPU weights of groups are not modelled" },
	{ "experimental_verify", "reading back to verify is not modelled" },
	{ "fill_device", "it ends when a device is full, and no device size is known; give size=" },
	{ "fill_fs", "it ends when a file system is full, and no size is known; give size=" },
	{ "flow", "ratios between jobs that depend on their speed are not modelled" },
	{ "flow_id", "ratios between jobs that depend on their speed are not modelled" },
	{ "flow_sleep", "ratios between jobs that depend on their speed are not modelled" },
	{ "flow_watermark", "ratios between jobs that depend on their speed are not modelled" },
	{ "latency_run", "a queue depth that follows measured latency is not modelled" },
	{ "latency_target", "a queue depth that follows measured latency is not modelled" },
	{ "latency_window", "a queue depth that follows measured latency is not modelled" },
	{ "lockmem", "memory locked by fio is a machine setting: make the machine smaller" },
	{ "merge_blktrace_file", "import the block trace instead (trace import)" },
	{ "numa_cpu_nodes", "placement on nodes belongs to the machine file" },
	{ "numa_mem_policy", "placement on nodes belongs to the machine file" },
	{ "opendir", "files of a host's folder are not known; name them with filename=" },
	{ "profile", "built-in profiles are not modelled" },
	{ "rate_process", "only the linear rate is modelled" },
	{ "read_iolog", "import the iolog instead (trace import --format fio_iolog)" },
	{ "replay_redirect", "import the iolog instead (trace import --format fio_iolog)" },
	{ "rwmixcycle", "fio has dropped it" },
	{ "sync", "synchronous writes (O_SYNC) are not modelled; fsync=1 comes close" },
	{ "sync_file_range", "writing back a part of a file is not modelled; fsync= is" },
	{ "thinktime_blocks_type", "it differs from the default only in asynchronous engines" },
	{ "thinktime_iotime", "bursts by time depend on speed; thinktime_blocks= is modelled" },
	{ "trim_backlog", "discards of block devices are not modelled" },
	{ "trim_percentage", "discards of block devices are not modelled" },
	{ "verify", "reading back to verify is not modelled" },
	{ "verify_backlog", "reading back to verify is not modelled" },
	{ "verify_only", "reading back to verify is not modelled" },
	{ "write_barrier", "barriers of block devices are not modelled" },
	{ "zonemode", "zoned devices and strided zones are not modelled" },
	{ "zonerange", "zoned devices and strided zones are not modelled" },
	{ "zonesize", "zoned devices and strided zones are not modelled" },
	{ "zoneskip", "zoned devices and strided zones are not modelled" },
};

/* ---- numbers ---- */

static unsigned power_of_suffix(const char *s, uint64_t kb_base, uint64_t *base)
{
	static const char letters[] = "kmgtp";
	const char *letter = *s ? strchr(letters, g_ascii_tolower(*s)) : NULL;

	*base = kb_base;
	if (!letter)
		return 0;
	/* The binary suffix means the other base: 1MiB is 10^6 bytes unless kb_base is 1000. */
	if (g_ascii_tolower(s[1]) == 'i' && g_ascii_tolower(s[2]) == 'b')
		*base = kb_base == 1000 ? 1024 : 1000;
	return (unsigned)(letter - letters) + 1;
}

bool fio_bytes(struct gen *g, const struct fio_line *l, const char *text, uint64_t kb_base,
	       int64_t *ret, bool *percent)
{
	bool hex = strstr(text, "0x") || strstr(text, "0X");
	uint64_t base;
	char *end;
	int64_t n;
	unsigned power;

	errno = 0;
	n = g_ascii_strtoll(text, &end, hex ? 16 : 10);
	if (end == text || errno) {
		fio_fail(g, l, "%s=%s: a number of bytes is needed, such as 4096, 4k, 16m, 0x1000",
			 l->key, text);
		return false;
	}
	*percent = *end == '%';
	power = hex ? 0 : power_of_suffix(end, kb_base, &base);
	for (; power; power--)
		if (__builtin_mul_overflow(n, (int64_t)base, &n)) {
			fio_fail(g, l, "%s=%s: more than 2^63 bytes", l->key, text);
			return false;
		}
	if (*end && !*percent && !strchr("kmgtpbi,:/-", g_ascii_tolower(*end)))
		gen_warn(g, "%s:%u: %s=%s: fio takes the number before \"%s\" and ignores the rest",
			 l->file, l->line, l->key, text, end);
	*ret = n;
	return true;
}

static bool positive_bytes(struct gen *g, const struct fio_opts *o, const struct fio_line *l,
			   const char *text, uint64_t *ret)
{
	int64_t n;
	bool percent;

	if (!fio_bytes(g, l, text, o->kb_base, &n, &percent))
		return false;
	if (n < 0 || percent) {
		fio_fail(g, l, "%s=%s: a number of bytes that is not negative is needed", l->key,
			 text);
		return false;
	}
	*ret = (uint64_t)n;
	return true;
}

/* Bytes or percent: one of the two is set, the other cleared. */
static bool bytes_or_percent(struct gen *g, const struct fio_opts *o, const struct fio_line *l,
			     uint64_t *bytes, uint64_t *percent)
{
	int64_t n;
	bool is_percent;

	if (!fio_bytes(g, l, l->value, o->kb_base, &n, &is_percent))
		return false;
	if (n < 0 || (is_percent && n > 100)) {
		fio_fail(g, l, "%s=%s: valid are bytes or 0%% to 100%%", l->key, l->value);
		return false;
	}
	*bytes = is_percent ? 0 : (uint64_t)n;
	*percent = is_percent ? (uint64_t)n : 0;
	return true;
}

static bool parse_uint(struct gen *g, const struct fio_line *l, const char *text, uint64_t *ret)
{
	char *end;
	uint64_t base, n;
	unsigned power;

	errno = 0;
	n = g_ascii_strtoull(text, &end, g_str_has_prefix(text, "0x") ? 16 : 10);
	if (!g_ascii_isdigit(*text) || errno) {
		fio_fail(g, l, "%s=%s: a whole number is needed", l->key, text);
		return false;
	}
	for (power = power_of_suffix(end, 1024, &base); power; power--)
		if (__builtin_mul_overflow(n, base, &n))
			n = UINT64_MAX;
	*ret = n;
	return true;
}

static bool parse_time(struct gen *g, const struct fio_line *l, bool seconds, uint64_t *ret)
{
	static const struct {
		const char *unit;
		uint64_t us;
	} units[] = {
		{ "usec", 1 },	  { "us", 1 },	     { "msec", 1000 },	  { "ms", 1000 },
		{ "s", 1000000 }, { "m", 60000000 }, { "h", 3600000000 }, { "d", 86400000000 }
	};
	char *end;
	uint64_t n;

	errno = 0;
	n = g_ascii_strtoull(l->value, &end, 10);
	if (g_ascii_isdigit(*l->value) && !errno) {
		for (unsigned i = 0; i < G_N_ELEMENTS(units); i++)
			if (!g_ascii_strcasecmp(end, units[i].unit) &&
			    !__builtin_mul_overflow(n, units[i].us, ret))
				return true;
		if (!*end && !__builtin_mul_overflow(n, seconds ? 1000000u : 1u, ret))
			return true;
	}
	fio_fail(g, l, "%s=%s: a time is needed: a number (of %s) and perhaps us, ms, s, m, h or d",
		 l->key, l->value, seconds ? "seconds" : "microseconds");
	return false;
}

static bool parse_bool(struct gen *g, const struct fio_line *l, bool *ret)
{
	uint64_t n = 1;

	if (l->value && !parse_uint(g, l, l->value, &n))
		return false;
	*ret = n != 0;
	return true;
}

/* "a,b,c" for read, write and trim. */
static bool parse_three(struct gen *g, struct fio_opts *o, const struct fio_line *l, bool bytes,
			uint64_t *to)
{
	g_auto(GStrv) part = g_strsplit(l->value, ",", 0);
	unsigned n = g_strv_length(part);

	if (n < 1 || n > FIO_NR_DIRS) {
		fio_fail(g, l, "%s=%s: one value, or up to three for read,write,trim", l->key,
			 l->value);
		return false;
	}
	for (unsigned i = 0; i < FIO_NR_DIRS; i++) {
		const char *text = g_strstrip(part[MIN(i, n - 1)]);

		if (!*text)
			continue; /* "4k,,8k" leaves write as it was */
		if (bytes ? !positive_bytes(g, o, l, text, &to[i])
			  : !parse_uint(g, l, text, &to[i]))
			return false;
	}
	return true;
}

/* ---- options of their own kind ---- */

static bool set_rw(struct gen *g, struct fio_opts *o, const struct fio_line *l)
{
	static const struct {
		const char *name;
		bool read, write, random;
	} modes[] = { { "read", true, false, false },	 { "write", false, true, false },
		      { "randread", true, false, true }, { "randwrite", false, true, true },
		      { "rw", true, true, false },	 { "readwrite", true, true, false },
		      { "randrw", true, true, true } };
	g_auto(GStrv) part = g_strsplit(l->value, ":", 2);
	const char *mode = part[0] ? g_strstrip(part[0]) : "";
	bool percent;

	if (strstr(mode, "trim")) {
		fio_fail(g, l, "%s=%s: discards of block devices are not modelled", l->key, mode);
		return false;
	}
	for (unsigned i = 0; i < G_N_ELEMENTS(modes); i++) {
		if (strcmp(mode, modes[i].name))
			continue;
		o->dir[FIO_READ] = modes[i].read;
		o->dir[FIO_WRITE] = modes[i].write;
		o->random = modes[i].random;
		o->every = 1;
		o->hole = 0;
		if (!part[1])
			return true;
		return o->random ? parse_uint(g, l, g_strstrip(part[1]), &o->every)
				 : fio_bytes(g, l, g_strstrip(part[1]), o->kb_base, &o->hole,
					     &percent);
	}
	fio_fail(g, l, "%s=%s: valid are read write randread randwrite rw readwrite randrw", l->key,
		 l->value);
	return false;
}

static bool set_sequencer(struct gen *g, struct fio_opts *o, const struct fio_line *l)
{
	o->rw_identical = !strcmp(l->value, "identical");
	if (o->rw_identical || !strcmp(l->value, "sequential"))
		return true;
	fio_fail(g, l, "rw_sequencer=%s: valid are sequential, identical", l->value);
	return false;
}

static bool set_bsrange(struct gen *g, struct fio_opts *o, const struct fio_line *l)
{
	g_auto(GStrv) range = g_strsplit(l->value, ",", FIO_NR_DIRS);
	unsigned n = g_strv_length(range);

	for (unsigned i = 0; i < FIO_NR_DIRS && n; i++) {
		g_auto(GStrv) end = g_strsplit_set(range[MIN(i, n - 1)], "-:", 2);
		uint64_t a, b;

		if (g_strv_length(end) != 2) {
			fio_fail(g, l, "%s=%s: valid is MIN-MAX, such as 1k-4k", l->key, l->value);
			return false;
		}
		if (!positive_bytes(g, o, l, g_strstrip(end[0]), &a) ||
		    !positive_bytes(g, o, l, g_strstrip(end[1]), &b))
			return false;
		o->min_bs[i] = MIN(a, b);
		o->max_bs[i] = MAX(a, b);
	}
	return true;
}

static bool set_size(struct gen *g, struct fio_opts *o, const struct fio_line *l)
{
	return bytes_or_percent(g, o, l, &o->size, &o->size_percent);
}

static bool set_io_size(struct gen *g, struct fio_opts *o, const struct fio_line *l)
{
	return bytes_or_percent(g, o, l, &o->io_size, &o->io_size_percent);
}

static bool set_offset(struct gen *g, struct fio_opts *o, const struct fio_line *l)
{
	return bytes_or_percent(g, o, l, &o->offset, &o->offset_percent);
}

static bool set_increment(struct gen *g, struct fio_opts *o, const struct fio_line *l)
{
	return bytes_or_percent(g, o, l, &o->increment, &o->increment_percent);
}

static bool set_filesize(struct gen *g, struct fio_opts *o, const struct fio_line *l)
{
	g_auto(GStrv) end = g_strsplit_set(l->value, "-:", 2);

	if (!end[0] || !positive_bytes(g, o, l, end[0], &o->filesize_low))
		return false;
	o->filesize_high = o->filesize_low;
	return !end[1] || positive_bytes(g, o, l, end[1], &o->filesize_high);
}

/* Split at ':' that is not escaped by a backslash. */
static GPtrArray *split_names(const char *text)
{
	GPtrArray *names = g_ptr_array_new_with_free_func(g_free);
	GString *name = g_string_new(NULL);

	for (; *text; text++) {
		if (*text == '\\' && text[1] == ':') {
			g_string_append_c(name, *++text);
		} else if (*text == ':') {
			g_ptr_array_add(names, g_string_free(name, FALSE));
			name = g_string_new(NULL);
		} else {
			g_string_append_c(name, *text);
		}
	}
	g_ptr_array_add(names, g_string_free(name, FALSE));
	return names;
}

static bool set_directory(struct gen *g, struct fio_opts *o, const struct fio_line *l)
{
	g_ptr_array_unref(o->directories);
	o->directories = split_names(l->value);
	return true;
}

/* Names add to those that [global] gave, as in fio; directory= is applied before. */
static bool set_filename(struct gen *g, struct fio_opts *o, const struct fio_line *l)
{
	g_autoptr(GPtrArray) names = split_names(l->value);

	for (unsigned i = 0; i < names->len; i++) {
		const char *name = g_ptr_array_index(names, i);

		if (!*name)
			break;
		if (o->filenames->len >= FIO_MAX_FILES) {
			fio_fail(g, l, "more than %u files", FIO_MAX_FILES);
			return false;
		}
		g_ptr_array_add(
			o->filenames,
			o->directories->len
				? g_strconcat(g_ptr_array_index(o->directories, 0), "/", name, NULL)
				: g_strdup(name));
	}
	return true;
}

static bool parse_real(struct gen *g, const struct fio_line *l, const char *text, double low,
		       double high, double *ret)
{
	char *end;
	double x = g_ascii_strtod(text, &end);

	if (end == text || *end || !(x >= low && x <= high)) {
		fio_fail(g, l, "%s=%s: \"%s\" is no number from %g to %g", l->key, l->value, text,
			 low, high);
		return false;
	}
	*ret = x;
	return true;
}

/* "KIND[:VALUE[:CENTER]]" of zipf, pareto and normal. */
static bool parse_dist(struct gen *g, const struct fio_line *l, char **part,
		       enum fio_dist_kind *kind, double *value, double *center)
{
	static const struct {
		const char *name;
		enum fio_dist_kind kind;
		double def, low, high;
	} dists[] = { { "zipf", FIO_DIST_ZIPF, 1.1, 0, 100 },
		      { "pareto", FIO_DIST_PARETO, 0.2, 1e-9, 1 - 1e-9 },
		      { "normal", FIO_DIST_NORMAL, 0, 0, 99.999999 },
		      { "gauss", FIO_DIST_NORMAL, 0, 0, 99.999999 } };

	for (unsigned i = 0; i < G_N_ELEMENTS(dists); i++) {
		if (strcmp(part[0], dists[i].name))
			continue;
		*kind = dists[i].kind;
		*value = dists[i].def;
		*center = -1;
		if (part[1] && (!parse_real(g, l, part[1], dists[i].low, dists[i].high, value) ||
				(part[2] && !parse_real(g, l, part[2], 0, 1, center))))
			return false;
		if (*kind == FIO_DIST_ZIPF && *value == 1) {
			fio_fail(g, l, "%s=%s: fio's zipf needs a theta other than 1", l->key,
				 l->value);
			return false;
		}
		return true;
	}
	return false;
}

static bool set_distribution(struct gen *g, struct fio_opts *o, const struct fio_line *l)
{
	g_auto(GStrv) part = g_strsplit(l->value, ":", 3);

	if (!strcmp(part[0], "random")) {
		o->dist = FIO_DIST_RANDOM;
		return true;
	}
	if (g_str_has_prefix(part[0], "zoned")) {
		o->dist = strcmp(part[0], "zoned") ? FIO_DIST_ZONED_ABS : FIO_DIST_ZONED;
		return fio_parse_zones(g, o, l, part[1] ? strchr(l->value, ':') + 1 : "");
	}
	if (parse_dist(g, l, part, &o->dist, &o->dist_value, &o->dist_center))
		return true;
	if (!gen_failed(g))
		fio_fail(g, l,
			 "%s=%s: valid are random, zipf:THETA, pareto:H, normal:PERCENT (each "
			 "with :CENTER), zoned:..., zoned_abs:...",
			 l->key, l->value);
	return false;
}

static bool set_service(struct gen *g, struct fio_opts *o, const struct fio_line *l)
{
	g_auto(GStrv) part = g_strsplit(l->value, ":", 3);

	o->service_nr = 1;
	o->service = !strcmp(part[0], "roundrobin")   ? FIO_ROUND_ROBIN
		     : !strcmp(part[0], "sequential") ? FIO_SEQUENTIAL
		     : !strcmp(part[0], "random")     ? FIO_RANDOM_FILE
						      : FIO_FILE_DIST;
	if (o->service != FIO_FILE_DIST)
		return !part[1] || parse_uint(g, l, part[1], &o->service_nr);
	if (parse_dist(g, l, part, &o->service_kind, &o->service_value, &o->service_center))
		return true;
	if (!gen_failed(g))
		fio_fail(g, l,
			 "%s=%s: valid are roundrobin, sequential, random (each with :NUMBER), "
			 "zipf, pareto, normal",
			 l->key, l->value);
	return false;
}

static bool set_generator(struct gen *g, struct fio_opts *o, const struct fio_line *l)
{
	static const char *const names[] = { "tausworthe", "tausworthe64", "lfsr" };

	for (unsigned i = 0; i < G_N_ELEMENTS(names); i++)
		if (!strcmp(l->value, names[i])) {
			o->generator = (enum fio_generator)i;
			o->generator_set = true;
			return true;
		}
	fio_fail(g, l, "random_generator=%s: valid are tausworthe, tausworthe64, lfsr", l->value);
	return false;
}

static bool set_randseed(struct gen *g, struct fio_opts *o, const struct fio_line *l)
{
	o->randseed_set = true;
	return parse_uint(g, l, l->value, &o->randseed);
}

static bool set_engine(struct gen *g, struct fio_opts *o, const struct fio_line *l)
{
	static const char *const descriptor[] = { "sync",   "psync",	"vsync",
						  "pvsync", "pvsync2",	"splice",
						  "libaio", "posixaio", "io_uring" };

	o->engine = FIO_DESCRIPTOR;
	for (unsigned i = 0; i < G_N_ELEMENTS(descriptor); i++)
		if (!strcmp(l->value, descriptor[i])) {
			o->async = i >= 6;
			return true;
		}
	o->async = false;
	if (!strcmp(l->value, "mmap")) {
		o->engine = FIO_MMAP;
		return true;
	}
	if (!strcmp(l->value, "null")) {
		o->engine = FIO_NULL_ENGINE;
		return true;
	}
	fio_fail(g, l,
		 "ioengine=%s is not modelled; valid are sync psync vsync pvsync pvsync2 libaio "
		 "posixaio io_uring splice mmap null",
		 l->value);
	return false;
}

static bool set_buffered(struct gen *g, struct fio_opts *o, const struct fio_line *l)
{
	bool buffered;

	if (!parse_bool(g, l, &buffered))
		return false;
	o->direct = !buffered;
	return true;
}

static bool set_fadvise(struct gen *g, struct fio_opts *o, const struct fio_line *l)
{
	if (!strcmp(l->value, "0"))
		o->fadvise = 0;
	else if (!strcmp(l->value, "1"))
		o->fadvise = -1;
	else if (!strcmp(l->value, "random"))
		o->fadvise = RS_ADV_RANDOM;
	else if (!strcmp(l->value, "sequential"))
		o->fadvise = RS_ADV_SEQUENTIAL;
	else {
		fio_fail(g, l, "fadvise_hint=%s: valid are 0, 1, random, sequential", l->value);
		return false;
	}
	return true;
}

static bool set_share(struct gen *g, const struct fio_line *l, uint64_t *ret)
{
	if (!parse_uint(g, l, l->value, ret))
		return false;
	if (*ret <= 100)
		return true;
	fio_fail(g, l, "%s=%s: valid are 0 to 100", l->key, l->value);
	return false;
}

static bool set_rwmixread(struct gen *g, struct fio_opts *o, const struct fio_line *l)
{
	return set_share(g, l, &o->rwmixread);
}

static bool set_rwmixwrite(struct gen *g, struct fio_opts *o, const struct fio_line *l)
{
	uint64_t share;

	if (!set_share(g, l, &share))
		return false;
	o->rwmixread = 100 - share;
	return true;
}

static bool set_sequential(struct gen *g, struct fio_opts *o, const struct fio_line *l)
{
	uint64_t share;

	if (!set_share(g, l, &share))
		return false;
	for (unsigned i = 0; i < FIO_NR_DIRS; i++)
		o->percent_random[i] = 100 - share;
	return true;
}

/* ---- applying a section ---- */

static const struct option *find(const char *key)
{
	for (unsigned i = 0; i < G_N_ELEMENTS(options); i++)
		if (!strcmp(options[i].name, key))
			return &options[i];
	return NULL;
}

/* An option that is not in the table: fine, refused or unknown. */
static bool other_option(struct gen *g, const struct fio_line *l)
{
	for (unsigned i = 0; i < G_N_ELEMENTS(ignored); i++)
		if (!strcmp(ignored[i], l->key))
			return true;
	for (unsigned i = 0; i < G_N_ELEMENTS(refused); i++)
		if (!strcmp(refused[i].name, l->key)) {
			/* Switched off is what is modelled. */
			if (l->value && (!strcmp(l->value, "0") || !strcmp(l->value, "none")))
				return true;
			fio_fail(g, l, "option \"%s\" is not supported: %s", l->key,
				 refused[i].why);
			return false;
		}
	fio_fail(g, l, "unknown option \"%s\"; valid are the job options of fio 3.33", l->key);
	return false;
}

static bool apply(struct gen *g, struct fio_opts *o, const struct fio_line *l)
{
	const struct option *opt = find(l->key);
	void *field;

	if (!opt)
		return other_option(g, l);
	field = (char *)o + opt->offset;
	if ((!l->value || !*l->value) && (l->value || opt->kind != OPT_BOOL)) {
		fio_fail(g, l, "option \"%s\" needs a value", l->key);
		return false;
	}
	switch (opt->kind) {
	case OPT_BOOL:
		return parse_bool(g, l, field);
	case OPT_UINT:
		return parse_uint(g, l, l->value, field);
	case OPT_BYTES:
		return positive_bytes(g, o, l, l->value, field);
	case OPT_BYTES3:
	case OPT_UINT3:
		return parse_three(g, o, l, opt->kind == OPT_BYTES3, field);
	case OPT_SECONDS:
	case OPT_MICROS:
		return parse_time(g, l, opt->kind == OPT_SECONDS, field);
	case OPT_STRING:
		g_free(*(char **)field);
		*(char **)field = g_strdup(l->value);
		return true;
	case OPT_CALL:
		return opt->call(g, o, l);
	}
	return false;
}

/* fio reads kb_base and directory before the options that depend on them. */
static bool is_early(const struct fio_line *l)
{
	return !strcmp(l->key, "kb_base") || !strcmp(l->key, "directory");
}

bool fio_opts_apply(struct gen *g, struct fio_opts *o, const struct fio_section *s)
{
	for (int early = 1; early >= 0; early--)
		for (unsigned i = 0; i < s->lines->len; i++) {
			const struct fio_line *l = g_ptr_array_index(s->lines, i);

			if (is_early(l) != early)
				continue;
			if (!apply(g, o, l))
				return false;
			if (early && o->kb_base != 1000 && o->kb_base != 1024) {
				fio_fail(g, l, "kb_base=%s: valid are 1000, 1024", l->value);
				return false;
			}
		}
	return true;
}

void fio_opts_init(struct fio_opts *o)
{
	memset(o, 0, sizeof(*o));
	o->dir[FIO_READ] = true;
	o->every = 1;
	o->kb_base = 1024;
	o->loops = o->numjobs = o->nr_files = o->iodepth = o->thinktime_blocks = o->service_nr = 1;
	o->randseed = 0x89;
	o->randrepeat = o->invalidate = true;
	o->dist_center = o->service_center = -1;
	o->rwmixread = 50;
	o->fadvise = -1;
	for (unsigned i = 0; i < FIO_NR_DIRS; i++) {
		o->bs[i] = 4096;
		o->percent_random[i] = 100;
	}
	o->directories = g_ptr_array_new_with_free_func(g_free);
	o->filenames = g_ptr_array_new_with_free_func(g_free);
}

static gpointer copy_string(gconstpointer s, gpointer data)
{
	return g_strdup(s);
}

void fio_opts_copy(struct fio_opts *to, const struct fio_opts *from)
{
	*to = *from;
	to->name = g_strdup(from->name);
	to->file = g_strdup(from->file);
	to->filename_format = g_strdup(from->filename_format);
	to->wait_for = g_strdup(from->wait_for);
	to->directories = g_ptr_array_copy(from->directories, copy_string, NULL);
	to->filenames = g_ptr_array_copy(from->filenames, copy_string, NULL);
	g_ptr_array_set_free_func(to->directories, g_free);
	g_ptr_array_set_free_func(to->filenames, g_free);
}

void fio_opts_done(struct fio_opts *o)
{
	g_free(o->name);
	g_free(o->file);
	g_free(o->filename_format);
	g_free(o->wait_for);
	g_clear_pointer(&o->directories, g_ptr_array_unref);
	g_clear_pointer(&o->filenames, g_ptr_array_unref);
}
