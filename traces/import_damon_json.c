/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * import_damon_json.c - records of damo in JSON, plain or zlib-compressed.
 *
 * [ { target_id, snapshots: [ { start_time, end_time, regions: [ { start, end, nr_accesses, age } ]
 * } ] } ]. Files reach gigabytes, so this is a scanner that holds one value at a time instead of
 * a tree; keys are told by name and depth. Numbers may be strings with thousands separators;
 * nr_accesses and age may be objects (samples, percent; usec, aggr_intervals).
 */
#include "traces/import_damon.h"
#include "traces/import_text.h"

#define JSON_MAX_DEPTH 32
#define JSON_MAX_TEXT 64

struct damon_json {
	char key[JSON_MAX_DEPTH + 1][JSON_MAX_TEXT]; /* of the value now read, by depth */
	char open[JSON_MAX_DEPTH + 1];		     /* { or [ */
	unsigned depth;
	bool expect_value; /* a colon was seen */
	bool in_string, escaped;
	char text[JSON_MAX_TEXT]; /* string or number being read */
	unsigned text_n;
	/* the region, the snapshot */
	uint64_t start, end, n, target, snapshot_start;
	bool have_start, have_end, have_n;
};

static bool json_number(const char *text, uint64_t *ret)
{
	char plain[JSON_MAX_TEXT];
	unsigned n = 0;
	const char *p = plain;

	for (const char *c = text; *c; c++)
		if (*c != ',')
			plain[n++] = *c;
	plain[n] = 0;
	return text_u64(&p, plain + n, ret) && (!*p || *p == '.');
}

static void time_value(struct import *im, const char *text, uint64_t ns)
{
	char plain[JSON_MAX_TEXT];

	g_snprintf(plain, sizeof(plain), "%" G_GUINT64_FORMAT, ns);
	import_time(im, plain, strlen(plain), ns);
}

/* A number or string ended; its key is that of the current depth. */
static void scalar(struct import *im, struct damon_json *j)
{
	struct damon *d = im->priv;
	const char *key = j->key[j->depth], *parent = j->depth ? j->key[j->depth - 1] : "";
	uint64_t value;

	if (!json_number(j->text, &value))
		return;
	if (!strcmp(key, "start")) {
		j->start = value;
		j->have_start = true;
	} else if (!strcmp(key, "end")) {
		j->end = value;
		j->have_end = true;
	} else if (!strcmp(key, "nr_accesses") ||
		   (!strcmp(key, "samples") && !strcmp(parent, "nr_accesses"))) {
		j->n = value;
		j->have_n = true;
	} else if (!strcmp(key, "target_id")) {
		j->target = value;
		d->record_objects++;
	} else if (!strcmp(key, "start_time")) {
		d->snapshots++;
		time_value(im, j->text, value);
	} else if (!strcmp(key, "end_time")) {
		time_value(im, j->text, value);
	}
}

static void close_level(struct import *im, struct damon_json *j)
{
	if (j->depth)
		j->depth--;
	/* The object behind "regions": [ */
	if (!j->have_start || !j->have_end || !j->have_n || strcmp(j->key[j->depth], "regions"))
		return;
	j->have_start = j->have_end = j->have_n = false;
	if (!damon_region(im, j->target, j->start, j->end, j->n)) {
		im->c.malformed++;
		import_skip(im, im->why);
	}
}

static void open_level(struct import *im, struct damon_json *j, char c)
{
	if (j->depth >= JSON_MAX_DEPTH) {
		g_set_error(&im->error, RS_ERROR, RS_ERROR_INPUT,
			    "%s: byte %" G_GUINT64_FORMAT ": JSON nested deeper than %d", im->path,
			    im->byte_no, JSON_MAX_DEPTH);
		return;
	}
	j->open[++j->depth] = c;
	/* Elements of a list are known by the list's key. */
	if (c == '[')
		memmove(j->key[j->depth], j->key[j->depth - 1], JSON_MAX_TEXT);
	else
		*j->key[j->depth] = 0;
	j->expect_value = false;
}

static void end_text(struct import *im, struct damon_json *j, bool string)
{
	j->text[MIN(j->text_n, JSON_MAX_TEXT - 1)] = 0;
	if (string && j->open[j->depth] == '{' && !j->expect_value)
		memcpy(j->key[j->depth], j->text, JSON_MAX_TEXT);
	else if (j->text_n && j->text_n < JSON_MAX_TEXT)
		scalar(im, j);
	if (j->expect_value && j->open[j->depth] == '{')
		j->expect_value = false;
	j->text_n = 0;
}

static void add_text(struct damon_json *j, char c)
{
	if (j->text_n < JSON_MAX_TEXT)
		j->text[j->text_n++] = c;
}

static void one_char(struct import *im, struct damon_json *j, char c)
{
	if (j->in_string) {
		if (j->escaped || c == '\\') {
			j->escaped = !j->escaped;
			add_text(j, c);
		} else if (c == '"') {
			j->in_string = false;
			end_text(im, j, true);
		} else {
			add_text(j, c);
		}
		return;
	}
	if (g_ascii_isalnum(c) || c == '.' || c == '-' || c == '+') {
		add_text(j, c);
		return;
	}
	if (j->text_n)
		end_text(im, j, false);
	if (c == '"')
		j->in_string = true;
	else if (c == '{' || c == '[')
		open_level(im, j, c);
	else if (c == '}' || c == ']')
		close_level(im, j);
	else if (c == ':')
		j->expect_value = true;
}

static size_t damon_json_record(struct import *im, const uint8_t *p, size_t n)
{
	struct damon *d = im->priv;

	if (!d->json)
		d->json = g_new0(struct damon_json, 1);
	n = MIN(n, 65536);
	for (size_t i = 0; i < n && !im->error; i++)
		one_char(im, d->json, (char)p[i]);
	d->bytes += n;
	return n;
}

/* The last value may be in the buffer, and the brackets tell whether the file is whole. */
static void damon_json_end(struct import *im)
{
	struct damon *d = im->priv;

	if (!d->json || (!d->json->depth && !d->json->in_string))
		return;
	im->c.malformed++;
	import_skip(im, "the JSON text ends early");
	memset(d->json, 0, sizeof(*d->json));
}

static unsigned damon_json_probe(const char *head, size_t n)
{
	const char *p = head, *end = head + n;

	while (p < end && g_ascii_isspace(*p))
		p++;
	if (p == end || (*p != '[' && *p != '{'))
		return 0;
	return text_find(p, end, "\"nr_accesses\"", NULL) ||
			       (text_find(p, end, "\"regions\"", NULL) &&
				text_find(p, end, "\"snapshots\"", NULL))
		       ? 95
		       : 0;
}

static void damon_json_report(struct import *im, json_t *o)
{
	struct damon *d = im->priv;

	damon_report(im, o);
	json_object_set_new(o, "uncompressed_bytes", json_integer((json_int_t)d->bytes));
	json_object_set_new(o, "record_objects", json_integer((json_int_t)d->record_objects));
}

const struct rs_importer import_damon_json = {
	.name = "damon",
	.summary = "DAMON: JSON of damo record",
	.valid = "[{target_id, snapshots: [{start_time, end_time, regions: [{start, end, "
		 "nr_accesses, age}]}]}]",
	.time_unit = "nanoseconds",
	.number_time = true,
	.direct = true,
	.priv_size = sizeof(struct damon),
	.probe = damon_json_probe,
	.begin = damon_begin,
	.record = damon_json_record,
	.input_end = damon_json_end,
	.report = damon_json_report,
	.end = damon_end,
};
