/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * timeline.c - see timeline.h. "Trace Event Format", JSON object form: metadata (M), spans that
 * nest (B and E), spans without others inside (X), instants (i) and counters (C); times in
 * microseconds with three decimals, which are nanoseconds. Written as it comes, so that a long run
 * needs no memory; what would be too much for a viewer is left out, with a warning.
 */
#include "tools/timeline.h"

#include "sim/base/config.h"
#include "tools/tools.h"

#include <inttypes.h>
#include <jansson.h>

/* About half a gigabyte of text; more no viewer opens. */
#define MAX_EVENTS 5000000u

/* Spans of a track that are open: written ones, and behind them those that came too late. */
struct open_spans {
	uint64_t written, skipped;
};

struct timeline_file {
	struct output *output;
	FILE *stream;
	uint64_t nr_events, nr_skipped;
	GHashTable *open;   /* of struct open_spans, by track */
	GHashTable *groups; /* that have been named */
};

/* Names hold any bytes. */
static void put_text(FILE *stream, const char *text)
{
	char *valid = g_utf8_make_valid(text, -1);
	json_t *json = json_string(valid);
	char *quoted = json_dumps(json, JSON_ENCODE_ANY);

	fputs(quoted, stream);
	free(quoted);
	json_decref(json);
	g_free(valid);
}

static void put_time(FILE *stream, const char *key, ns_t ns)
{
	fprintf(stream, ",\"%s\":%" PRIu64 ".%03" PRIu64, key, ns / 1000, ns % 1000);
}

/* Numbers of processes begin with 1: some viewers take 0 for "none". */
static void put_head(struct timeline_file *f, const char *phase, uint32_t group, uint32_t track)
{
	fprintf(f->stream, "%s{\"ph\":\"%s\",\"pid\":%" PRIu64 ",\"tid\":%" PRIu64,
		f->nr_events++ ? ",\n" : "\n", phase, (uint64_t)group + 1, (uint64_t)track + 1);
}

static void put_name(struct timeline_file *f, const struct rs_timeline_event *e, const char *what,
		     const char *name)
{
	put_head(f, "M", e->group, e->track);
	fprintf(f->stream, ",\"name\":\"%s\",\"args\":{\"name\":", what);
	put_text(f->stream, name);
	fputs("}}", f->stream);
}

static void put_track(struct timeline_file *f, const struct rs_timeline_event *e)
{
	if (g_hash_table_add(f->groups, GUINT_TO_POINTER(e->group))) {
		put_name(f, e, "process_name", e->group_name);
		put_head(f, "M", e->group, e->track);
		fprintf(f->stream, ",\"name\":\"process_sort_index\",\"args\":{\"sort_index\":%u}}",
			e->group);
	}
	put_name(f, e, "thread_name", e->name);
}

static void put_event(struct timeline_file *f, const struct rs_timeline_event *e)
{
	static const char *const phase[] = {
		[RS_TIMELINE_BEGIN] = "B",   [RS_TIMELINE_END] = "E",	  [RS_TIMELINE_WHOLE] = "X",
		[RS_TIMELINE_INSTANT] = "i", [RS_TIMELINE_COUNTER] = "C",
	};

	put_head(f, phase[e->kind], e->group, e->track);
	put_time(f->stream, "ts", e->time);
	if (e->kind == RS_TIMELINE_WHOLE)
		put_time(f->stream, "dur", e->duration);
	if (e->kind == RS_TIMELINE_INSTANT)
		fputs(",\"s\":\"t\"", f->stream);
	if (e->name) {
		fputs(",\"name\":", f->stream);
		put_text(f->stream, e->name);
	}
	if (e->category)
		fprintf(f->stream, ",\"cat\":\"%s\"", e->category);
	for (unsigned i = 0; i < e->nr_values; i++)
		fprintf(f->stream, "%s\"%s\":%" PRIu64, i ? "," : ",\"args\":{", e->values[i].name,
			e->values[i].value);
	fputs(e->nr_values ? "}}" : "}", f->stream);
}

static struct open_spans *open_spans(struct timeline_file *f, const struct rs_timeline_event *e)
{
	gint64 key = (gint64)((uint64_t)e->group << 32 | e->track);
	struct open_spans *o = g_hash_table_lookup(f->open, &key);

	if (!o) {
		o = g_new0(struct open_spans, 1);
		g_hash_table_insert(f->open, g_memdup2(&key, sizeof(key)), o);
	}
	return o;
}

/* False: too much by now. What has begun in the file ends in it. */
static bool has_room(struct timeline_file *f, const struct rs_timeline_event *e)
{
	bool room = f->nr_events < MAX_EVENTS;
	struct open_spans *o;

	if (e->kind == RS_TIMELINE_BEGIN) {
		o = open_spans(f, e);
		*(room ? &o->written : &o->skipped) += 1;
	} else if (e->kind == RS_TIMELINE_END) {
		o = open_spans(f, e);
		room = !o->skipped;
		*(room ? &o->written : &o->skipped) -= 1;
	}
	return room;
}

static void tell(void *arg, const struct rs_timeline_event *e)
{
	struct timeline_file *f = arg;

	if (e->kind == RS_TIMELINE_TRACK)
		put_track(f, e);
	else if (has_room(f, e))
		put_event(f, e);
	else
		f->nr_skipped++;
}

static void put_about(FILE *stream, const char *key, const char *text)
{
	fprintf(stream, ",\"%s\":", key);
	put_text(stream, text);
}

struct timeline_file *timeline_file_new(const char *path, const char *trace, const char *policy,
					const struct rs_scenario *scenario, GError **error)
{
	struct output *output = output_open(path, error);
	struct timeline_file *f;

	if (!output)
		return NULL;
	f = g_new0(struct timeline_file, 1);
	f->output = output;
	f->stream = output_stream(output);
	f->open = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, g_free);
	f->groups = g_hash_table_new(NULL, NULL);
	fputs("{\"displayTimeUnit\":\"ns\",\"otherData\":{\"program\":\"reclaimsim\"", f->stream);
	put_about(f->stream, "version", RS_VERSION);
	put_about(f->stream, "trace", trace);
	put_about(f->stream, "policy", policy);
	put_about(f->stream, "kernel", rs_kernel_name(rs_scenario_config(scenario)->kernel));
	fputs("},\"traceEvents\":[", f->stream);
	return f;
}

void timeline_file_start(struct timeline_file *f, struct rs_sim *sim)
{
	rs_sim_timeline(sim, tell, f);
}

static void free_file(struct timeline_file *f)
{
	g_hash_table_destroy(f->open);
	g_hash_table_destroy(f->groups);
	g_free(f);
}

bool timeline_file_finish(struct timeline_file *f, GError **error)
{
	struct output *output = f->output;

	fputs("\n]}\n", f->stream);
	if (f->nr_skipped)
		command_warn("--timeline: the first %u events are written, %" PRIu64
			     " more are not: take a shorter trace",
			     MAX_EVENTS, f->nr_skipped);
	free_file(f);
	return output_close(output, error);
}

void timeline_file_abort(struct timeline_file *f)
{
	if (!f)
		return;
	output_abort(f->output);
	free_file(f);
}
