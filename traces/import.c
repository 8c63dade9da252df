/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * import.c - the driver of all importers: formats, lines, malformed input, times, summary.
 *
 * Lenient imports skip and count what is malformed; strict ones stop at the first. An input with
 * content of which nothing is a record is an error either way, so that a wrong format cannot pass
 * for an empty but successful import.
 */
#include "traces/import.h"

#include <string.h>

#include "traces/import_text.h"

#define BUFFER_SIZE (IMPORT_MAX_LINE + (256u << 10))
#define PROBE_SIZE (64u << 10)

extern const struct rs_importer import_fio_iolog, import_blkparse, import_blktrace, import_lackey,
	import_pin, import_drmemtrace, import_drmemtrace_text, import_strace, import_perf_script,
	import_ftrace, import_damon, import_damon_json, import_redis_monitor, import_memcached,
	import_twitter, import_oracle_general, import_vscsi, import_csv, import_txt, import_msr,
	import_spc, import_alibaba, import_tencent, import_systor17;

/* Equal probes: the first wins. A name may have several readers (text and binary). */
const struct rs_importer *const rs_importers[] = {
	&import_fio_iolog,
	&import_blkparse,
	&import_blktrace,
	&import_lackey,
	&import_drmemtrace,
	&import_drmemtrace_text,
	&import_strace,
	&import_damon,
	&import_damon_json,
	&import_perf_script,
	&import_ftrace,
	&import_redis_monitor,
	&import_memcached,
	&import_twitter,
	&import_vscsi,
	&import_oracle_general,
	&import_msr,
	&import_spc,
	&import_alibaba,
	&import_tencent,
	&import_systor17,
	&import_pin,
	&import_txt,
	&import_csv,
	NULL,
};

const struct rs_importer *rs_importer_find(const char *name)
{
	for (unsigned i = 0; rs_importers[i]; i++)
		if (!strcmp(rs_importers[i]->name, name))
			return rs_importers[i];
	return NULL;
}

/* Of several importers with one name (old and new versions) the first counts. */
bool rs_import_format(unsigned i, struct rs_import_format *ret)
{
	for (unsigned n = 0; rs_importers[n]; n++) {
		if (rs_importer_find(rs_importers[n]->name) != rs_importers[n] || i--)
			continue;
		ret->name = rs_importers[n]->name;
		ret->summary = rs_importers[n]->summary;
		return true;
	}
	return false;
}

/* The reader of the content; with a name only among the readers of that name. */
static const struct rs_importer *detect(const char *name, const char *head, size_t n)
{
	const struct rs_importer *best = NULL;
	unsigned sure = 0;

	for (unsigned i = 0; rs_importers[i]; i++) {
		const struct rs_importer *ops = rs_importers[i];
		unsigned level;

		if (name && strcmp(ops->name, name))
			continue;
		level = ops->probe(head, n);
		if (level > sure) {
			best = ops;
			sure = level;
		}
	}
	return best ? best : name ? rs_importer_find(name) : NULL;
}

/* ---- services for importers ---- */

void import_time(struct import *im, const char *text, size_t n, uint64_t ns)
{
	struct import_clock *clock = &im->clock;

	n = MIN(n, IMPORT_TIME_TEXT - 1);
	memcpy(clock->last, text, n);
	clock->last[n] = 0;
	if (!clock->any) {
		memcpy(clock->first, clock->last, sizeof(clock->first));
		clock->base = ns;
		clock->any = clock->running = true;
	}
	if (ns < clock->last_ns)
		im->c.time_goes_back++;
	clock->last_ns = ns;
	ns = MIN(ns > clock->base ? ns - clock->base : 0, IMPORT_MAX_NS);
	clock->now = ns;
	clock->greatest = MAX(clock->greatest, ns);
}

void import_time_at(struct import *im, uint64_t ns)
{
	ns = MIN(ns, IMPORT_MAX_NS);
	im->clock.running = true;
	im->clock.now = ns;
	im->clock.greatest = MAX(im->clock.greatest, ns);
}

void import_skip(struct import *im, const char *reason)
{
	unsigned i;

	for (i = 0; i < im->nr_skips; i++)
		if (im->skips[i].reason == reason)
			break;
	if (i == G_N_ELEMENTS(im->skips))
		return;
	if (i == im->nr_skips)
		im->skips[im->nr_skips++].reason = reason;
	im->skips[i].count++;
}

const char *import_with(const struct import *im, const char *key)
{
	return im->with ? g_hash_table_lookup(im->with, key) : NULL;
}

bool import_with_number(const struct import *im, const char *key, uint64_t def, uint64_t max,
			uint64_t *ret, GError **error)
{
	const char *text = import_with(im, key);
	guint64 value = def;

	if (text && !g_ascii_string_to_unsigned(text, 10, 0, max, &value, NULL)) {
		g_set_error(error, RS_ERROR, RS_ERROR_USAGE,
			    "--with %s=%s: valid are whole numbers from 0 to %" G_GUINT64_FORMAT,
			    key, text, max);
		return false;
	}
	*ret = value;
	return true;
}

/* ---- malformed lines ---- */

static char *excerpt(const char *s, size_t n)
{
	char *text = g_strndup(s, MIN(n, 80)), *escaped;

	escaped = g_strescape(text, NULL);
	g_free(text);
	return escaped;
}

static void malformed(struct import *im, const char *s, size_t n, bool strict)
{
	char *shown = excerpt(s, n);
	const char *why = im->why ? im->why : "not a line of this format";

	if (strict)
		g_set_error(&im->error, RS_ERROR, RS_ERROR_INPUT,
			    "%s:%" G_GUINT64_FORMAT ": %s: \"%s\"; valid is: %s", im->path,
			    im->line_no, why, shown, im->ops->valid);
	if (im->c.malformed < IMPORT_MAX_LISTED) {
		im->c.malformed_lines[im->c.malformed] = im->line_no;
		if (im->c.malformed < 5)
			g_string_append_printf(im->listed,
					       "%s:%" G_GUINT64_FORMAT ": skipped, %s: \"%s\"\n",
					       im->path, im->line_no, why, shown);
	}
	im->c.malformed++;
	import_skip(im, why);
	g_free(shown);
}

/* ---- lines ---- */

struct lines {
	struct import_input *input;
	char *buffer;
	size_t start, end;
	bool eof, cut; /* cut: the compressed data ended early */
};

/* Makes room and reads on; false at the end of the data. */
static bool refill(struct import *im, struct lines *in, bool strict)
{
	GError *error = NULL;
	ssize_t got;

	if (in->eof)
		return false;
	memmove(in->buffer, in->buffer + in->start, in->end - in->start);
	in->end -= in->start;
	in->start = 0;
	got = import_read(in->input, in->buffer + in->end, BUFFER_SIZE - in->end, &error);
	if (got < 0) {
		if (strict || (!im->c.records && !im->line_no && !im->byte_no)) {
			im->error = error;
		} else {
			g_string_append_printf(im->listed, "%s\n", error->message);
			g_error_free(error);
			import_skip(im, "the input ends early or is damaged");
			in->cut = true;
		}
	}
	if (got <= 0) {
		in->eof = true;
		return false;
	}
	in->end += (size_t)got;
	return true;
}

static void one_line(struct import *im, const char *s, size_t n, bool strict)
{
	if (n && s[n - 1] == '\r')
		n--;
	if (!n) {
		im->c.blank_lines++;
		return;
	}
	if (im->ops->hash_comments && *s == '#') {
		im->c.comment_lines++;
		return;
	}
	im->why = NULL;
	if (!im->ops->line(im, s, n) && !im->error)
		malformed(im, s, n, strict);
}

/* Skips the rest of a line that does not fit into the buffer. */
static void long_line(struct import *im, struct lines *in, bool strict)
{
	im->why = "the line is longer than 1 MiB";
	malformed(im, in->buffer + in->start, in->end - in->start, strict);
	for (;;) {
		char *nl = memchr(in->buffer + in->start, '\n', in->end - in->start);

		if (nl) {
			in->start = (size_t)(nl - in->buffer) + 1;
			return;
		}
		in->start = in->end;
		if (!refill(im, in, strict))
			return;
	}
}

static void read_lines(struct import *im, struct lines *in, bool strict)
{
	size_t looked = 0; /* bytes behind start that hold no newline */

	while (!im->error) {
		char *s = in->buffer + in->start;
		char *nl = memchr(s + looked, '\n', in->end - in->start - looked);

		if (nl) {
			im->line_no++;
			in->start += (size_t)(nl - s) + 1;
			looked = 0;
			one_line(im, s, (size_t)(nl - s), strict);
			continue;
		}
		looked = in->end - in->start;
		if (looked >= IMPORT_MAX_LINE) {
			im->line_no++;
			long_line(im, in, strict);
			looked = 0;
			continue;
		}
		if (refill(im, in, strict))
			continue;
		/* A number that was cut still parses, so an unended last line is not trusted. */
		s = in->buffer + in->start;
		if (im->error || in->start == in->end)
			return;
		im->line_no++;
		if (im->line_no == 1 && !in->cut) {
			one_line(im, s, in->end - in->start, strict);
		} else {
			im->why = "no newline at the end: the line may be cut";
			malformed(im, s, in->end - in->start, strict);
		}
		return;
	}
}

static void read_records(struct import *im, struct lines *in, bool strict)
{
	while (!im->error) {
		size_t n = in->end - in->start, used = 0;

		if (n)
			used = im->ops->record(im, (uint8_t *)in->buffer + in->start, n);
		if (used) {
			in->start += used;
			im->byte_no += used;
			continue;
		}
		if (n == BUFFER_SIZE || !refill(im, in, strict))
			break;
	}
	im->c.left_over_bytes += in->end - in->start;
	if (in->end > in->start && strict && !im->error)
		g_set_error(&im->error, RS_ERROR, RS_ERROR_INPUT,
			    "%s: byte %" G_GUINT64_FORMAT ": %zu bytes are left over; valid is: %s",
			    im->path, im->byte_no, in->end - in->start, im->ops->valid);
}

/* ---- one import ---- */

/* Before the first record it goes into the header of the trace, later to its end. */
static void provenance(struct import *im, const struct import_options *o)
{
	GString *source = g_string_new(NULL);

	for (const char *const *p = o->paths; p && *p; p++) {
		char *base = g_path_get_basename(*p);

		g_string_append_printf(source, "%s%s", source->len ? " " : "",
				       strcmp(*p, "-") ? base : "standard input");
		g_free(base);
	}
	rs_trace_set_provenance(im->out, "source", source->str);
	rs_trace_set_provenance(im->out, "format", im->ops->name);
	rs_trace_set_provenance(im->out, "importer", "reclaimsim " RS_VERSION);
	if (o->command)
		rs_trace_set_provenance(im->out, "command", o->command);
	g_string_free(source, TRUE);
}

static void provenance_end(struct import *im)
{
	char *bad = g_strdup_printf("%" G_GUINT64_FORMAT, im->c.malformed);

	rs_trace_set_provenance(im->out, "malformed", bad);
	if (im->clock.any) {
		rs_trace_set_provenance(im->out, "first_time", im->clock.first);
		rs_trace_set_provenance(im->out, "time_unit", im->ops->time_unit);
	}
	g_free(bad);
}

static char *format_names(void)
{
	GString *text = g_string_new(NULL);

	for (unsigned i = 0; rs_importers[i]; i++)
		if (rs_importer_find(rs_importers[i]->name) == rs_importers[i])
			g_string_append_printf(text, "%s%s", text->len ? " " : "",
					       rs_importers[i]->name);
	return g_string_free(text, FALSE);
}

static bool set_with(struct import *im, const char *const *with, GError **error)
{
	im->with = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
	for (; with && *with; with++) {
		const char *sign = strchr(*with, '=');

		if (!sign || sign == *with) {
			g_set_error(error, RS_ERROR, RS_ERROR_USAGE, "--with %s: not KEY=VALUE",
				    *with);
			return false;
		}
		g_hash_table_replace(im->with, g_strndup(*with, (size_t)(sign - *with)),
				     g_strdup(sign + 1));
	}
	return true;
}

/* Binary files whose text form is what is read here. */
static const char *advice_for(const char *head, size_t n)
{
	static const struct {
		const char *magic, *advice;
	} known[] = {
		{ "PERFILE2", "a perf.data file; import the output of \"perf script\"" },
		{ "\x17\x08\x44tracing",
		  "a trace-cmd file; import the output of \"trace-cmd report\"" },
		{ "damon_recfmt_ver", "DAMON's old binary record; convert it with damo" },
		{ "REDIS", "a redis dump; import what \"redis-cli MONITOR\" prints" },
	};

	for (unsigned i = 0; i < G_N_ELEMENTS(known); i++)
		if (n >= strlen(known[i].magic) &&
		    !memcmp(head, known[i].magic, strlen(known[i].magic)))
			return known[i].advice;
	return NULL;
}

/* The first input decides the format; the others must be of the same. */
static bool choose(struct import *im, const char *format, struct lines *in, GError **error)
{
	const struct rs_importer *ops;
	char *names;

	while (in->end < PROBE_SIZE && refill(im, in, false))
		;
	if (im->error) {
		g_propagate_error(error, im->error);
		im->error = NULL;
		return false;
	}
	if (advice_for(in->buffer, in->end)) {
		g_set_error(error, RS_ERROR, RS_ERROR_INPUT, "%s: this is %s", im->path,
			    advice_for(in->buffer, in->end));
		return false;
	}
	if (in->end - in->start >= 3 && !memcmp(in->buffer, "\xef\xbb\xbf", 3))
		in->start = 3;
	ops = detect(im->ops ? im->ops->name : format, in->buffer + in->start,
		     MIN(in->end - in->start, PROBE_SIZE));
	if (im->ops) {
		if (ops && ops->record && im->ops->record != ops->record)
			g_set_error(error, RS_ERROR, RS_ERROR_INPUT,
				    "%s: not the same kind of %s file as the one before", im->path,
				    ops->name);
		return !(ops && ops->record && im->ops->record != ops->record);
	}
	if (ops) {
		im->ops = ops;
		im->priv = ops->priv_size ? g_malloc0(ops->priv_size) : NULL;
		return !ops->begin || ops->begin(im, error);
	}
	names = format_names();
	g_set_error(error, RS_ERROR, RS_ERROR_INPUT,
		    "%s: the content is of no known format; give --format, one of: %s", im->path,
		    names);
	g_free(names);
	return false;
}

static bool one_input(struct import *im, const struct import_options *o, GError **error)
{
	struct lines in = { .buffer = NULL };
	uint64_t records = im->c.records, bad = im->c.malformed + im->c.left_over_bytes;
	bool fine;

	in.input =
		o->memory ? import_memory(o->memory, o->memory_size) : import_open(im->path, error);
	if (!in.input)
		return false;
	in.buffer = g_malloc(BUFFER_SIZE);
	im->line_no = im->byte_no = 0;
	fine = choose(im, o->format, &in, error);
	if (fine) {
		if (!im->input)
			provenance(im, o);
		import_sink_next_input(im);
		if (im->ops->record)
			read_records(im, &in, o->strict);
		else
			read_lines(im, &in, o->strict);
		if (im->ops->input_end && !im->error)
			im->ops->input_end(im);
		if (!im->error && im->c.records == records &&
		    im->c.malformed + im->c.left_over_bytes > bad)
			g_set_error(&im->error, RS_ERROR, RS_ERROR_INPUT,
				    "%s: nothing in it is a record of format %s; valid is: %s",
				    im->path, im->ops->name, im->ops->valid);
	}
	g_free(in.buffer);
	import_close(in.input);
	return fine && !im->error;
}

/* ---- summary ---- */

static json_t *time_value(const struct import *im, const char *text)
{
	const char *p = text;
	uint64_t value;

	if (!im->clock.any)
		return json_null();
	if (im->ops->number_time && text_u64(&p, text + strlen(text), &value) && !*p)
		return json_integer((json_int_t)value);
	return json_string(text);
}

static void set_count(json_t *object, const char *key, uint64_t value)
{
	json_object_set_new(object, key, json_integer((json_int_t)value));
}

static json_t *summary(struct import *im)
{
	const struct import_counts *c = &im->c;
	json_t *o = json_object(), *lines = json_array(), *skips = json_object();
	const struct {
		const char *key;
		uint64_t value;
	} counts[] = {
		{ "records", c->records },
		{ "reads", c->reads },
		{ "writes", c->writes },
		{ "bytes_read", c->bytes_read },
		{ "bytes_written", c->bytes_written },
		{ "page_accesses", c->page_accesses },
		{ "distinct_pages", im->pages.pages + import_touched_pages(im, false) },
		{ "zero_length", c->zero_length },
		{ "highest_byte", c->highest_byte },
		{ "header_lines", c->header_lines },
		{ "comment_lines", c->comment_lines },
		{ "other_lines", c->other_lines },
		{ "threads", im->threads->len },
		{ "processes", im->nr_processes },
		{ "time_goes_back", c->time_goes_back },
		{ "time_span_ns", im->clock.greatest },
		{ "left_over_bytes", c->left_over_bytes },
		{ "malformed", c->malformed },
	};

	json_object_set_new(o, "format", json_string(im->ops->name));
	for (unsigned i = 0; i < G_N_ELEMENTS(counts); i++)
		set_count(o, counts[i].key, counts[i].value);
	if (im->pages.full)
		json_object_set_new(o, "distinct_pages_at_least", json_true());
	json_object_set_new(o, "first_time", time_value(im, im->clock.first));
	json_object_set_new(o, "last_time", time_value(im, im->clock.last));
	json_object_set_new(o, "time_unit",
			    im->clock.any ? json_string(im->ops->time_unit) : json_null());
	for (unsigned i = 0; i < MIN(c->malformed, IMPORT_MAX_LISTED); i++)
		json_array_append_new(lines, json_integer((json_int_t)c->malformed_lines[i]));
	json_object_set_new(o, "malformed_lines", lines);
	for (unsigned i = 0; i < im->nr_skips; i++)
		set_count(skips, im->skips[i].reason, im->skips[i].count);
	json_object_set_new(o, "skipped", skips);
	if (im->ops->report)
		im->ops->report(im, o);
	return o;
}

static bool import_all(struct import *im, const struct import_options *o, GError **error)
{
	static const char *const memory[] = { "memory", NULL };
	const char *const *paths = o->memory ? memory : o->paths;

	if (!set_with(im, o->with, error))
		return false;
	if (o->format && !rs_importer_find(o->format)) {
		char *names = format_names();

		g_set_error(error, RS_ERROR, RS_ERROR_USAGE,
			    "--format %s: no such input format; valid are: %s", o->format, names);
		g_free(names);
		return false;
	}
	for (im->input = 0; paths[im->input]; im->input++) {
		im->path = paths[im->input];
		if (!one_input(im, o, error))
			return false;
	}
	provenance_end(im);
	return import_sink_finish(im);
}

bool rs_import(const struct import_options *options, struct rs_trace_writer *out,
	       json_t **ret_summary, char **ret_notes, GError **error)
{
	struct import im = { .listed = g_string_new(NULL) };
	bool fine = import_sink_open(&im, out) && import_all(&im, options, error);

	if (fine && ret_summary)
		*ret_summary = summary(&im);
	if (im.error) {
		g_clear_error(error);
		g_propagate_error(error, im.error);
		fine = false;
	}
	if (im.ops && im.ops->end)
		im.ops->end(&im);
	g_free(im.priv);
	import_sink_free(&im);
	if (im.with)
		g_hash_table_destroy(im.with);
	if (ret_notes)
		*ret_notes = g_string_free(im.listed, FALSE);
	else
		g_string_free(im.listed, TRUE);
	return fine;
}
