/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * import_drmemtrace.c - DynamoRIO's offline memory traces: text of the view tool, and the binary
 * records of 12 bytes (plain, gzip, or the chunks of a zip).
 *
 * The binary layer grows with each release; kinds that are not known are counted and passed over.
 * The text is the form its authors keep stable.
 */
#include "traces/import.h"
#include "traces/import_text.h"

enum {
	DR_READ = 0,
	DR_WRITE = 1,
	DR_THREAD = 22,
	DR_THREAD_EXIT = 23,
	DR_PID = 24,
	DR_HEADER = 25,
	DR_MARKER = 28
};
#define DR_MARKER_TIMESTAMP 2
#define DR_ENTRY 12u
#define DR_TYPES 64u

struct dr {
	uint64_t entries, types[DR_TYPES], instr, markers;
	uint64_t version, pid, tid;
	bool have_version;
};

static bool is_instr(unsigned type)
{
	return (type >= 10 && type <= 16) || type == 30 || type == 31 || type == 48 || type == 49;
}

static bool touch(struct import *im, uint64_t address, uint64_t size, enum import_touch kind)
{
	struct dr *d = im->priv;

	import_thread(im, d->pid, d->tid);
	if (!import_touch(im, address, size, kind))
		return false;
	im->c.records++;
	if (kind == TOUCH_EXEC)
		d->instr++;
	else if (kind == TOUCH_READ)
		im->c.reads++;
	else
		im->c.writes++;
	return true;
}

/* ---- binary ---- */

static uint64_t u64_le(const uint8_t *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return GUINT64_FROM_LE(v);
}

/* A header entry, or one that names a version, comes first. */
static unsigned dr_probe(const char *head, size_t n)
{
	const uint8_t *p = (const uint8_t *)head;

	if (n < DR_ENTRY || p[1] || p[0] != DR_HEADER)
		return 0;
	return u64_le(p + 4) < 1000 ? 90 : 0;
}

static size_t dr_record(struct import *im, const uint8_t *p, size_t n)
{
	struct dr *d = im->priv;
	unsigned type, size;
	uint64_t address;
	char text[24];

	if (n < DR_ENTRY)
		return 0;
	type = p[0] | (unsigned)p[1] << 8;
	size = p[2] | (unsigned)p[3] << 8;
	address = u64_le(p + 4);
	d->entries++;
	d->types[MIN(type, DR_TYPES - 1)]++;
	if (type == DR_HEADER) {
		d->version = address;
		d->have_version = true;
	} else if (type == DR_THREAD) {
		d->tid = address;
	} else if (type == DR_PID) {
		d->pid = address;
	} else if (type == DR_MARKER) {
		d->markers++;
		if (size == DR_MARKER_TIMESTAMP && address < UINT64_MAX / 1000) {
			g_snprintf(text, sizeof(text), "%" G_GUINT64_FORMAT, address);
			import_time(im, text, strlen(text), address * 1000);
		}
	} else if (type == DR_READ || type == DR_WRITE || is_instr(type)) {
		if (!touch(im, address, size,
			   type == DR_READ    ? TOUCH_READ
			   : type == DR_WRITE ? TOUCH_WRITE
					      : TOUCH_EXEC))
			import_skip(im, im->why);
	}
	return DR_ENTRY;
}

static void dr_report(struct import *im, json_t *o)
{
	struct dr *d = im->priv;
	json_t *types = json_object();
	char key[16];

	for (unsigned i = 0; i < DR_TYPES; i++) {
		g_snprintf(key, sizeof(key), "%u", i);
		if (d->types[i])
			json_object_set_new(types, key, json_integer((json_int_t)d->types[i]));
	}
	json_object_set_new(o, "record_bytes", json_integer(DR_ENTRY));
	json_object_set_new(
		o, "bytes",
		json_integer((json_int_t)(d->entries * DR_ENTRY + im->c.left_over_bytes)));
	json_object_set_new(o, "entries", json_integer((json_int_t)d->entries));
	if (d->have_version)
		json_object_set_new(o, "version", json_integer((json_int_t)d->version));
	json_object_set_new(o, "types", types);
	json_object_set_new(o, "instr", json_integer((json_int_t)d->instr));
}

const struct rs_importer import_drmemtrace = {
	.name = "drmemtrace",
	.summary = "DynamoRIO offline memory trace (12-byte records), or text of its view tool",
	.valid = "12-byte records beginning with a header entry; newer traces: drrun -t drmemtrace "
		 "-tool view",
	.time_unit = "microseconds (marker)",
	.number_time = true,
	.direct = true,
	.priv_size = sizeof(struct dr),
	.probe = dr_probe,
	.record = dr_record,
	.report = dr_report,
};

/* ---- text of the view tool ---- */

/* "RECORD INSTR: Wn.Tn REST" or, until 2022, "RECORD: Tn REST". */
static bool prefix(const char **p, const char *end, uint64_t *work, uint64_t *tid)
{
	const char *s = *p;
	uint64_t number;

	text_blanks(&s, end);
	if (!text_u64(&s, end, &number))
		return false;
	if (s < end && *s == ' ') {
		text_blanks(&s, end);
		if (!text_u64(&s, end, &number))
			return false;
	}
	if (!text_char(&s, end, ':'))
		return false;
	text_blanks(&s, end);
	*work = 0;
	if (text_char(&s, end, 'W') && (!text_u64(&s, end, work) || !text_char(&s, end, '.')))
		return false;
	if (!text_char(&s, end, 'T') || !text_u64(&s, end, tid) || !text_char(&s, end, ' '))
		return false;
	text_blanks(&s, end);
	*p = s;
	return true;
}

/* "N byte(s) @ 0xADDRESS" */
static bool place(const char **p, const char *end, uint64_t *size, uint64_t *address)
{
	text_blanks(p, end);
	return text_u64(p, end, size) && text_word(p, end, " byte(s)") &&
	       (text_word(p, end, " @ ") || *p == end || **p == ' ') &&
	       (!address || text_number(p, end, address));
}

static bool view_access(struct import *im, const char *p, const char *end)
{
	static const struct {
		const char *word;
		enum import_touch kind;
	} kinds[] = { { "ifetch", TOUCH_EXEC }, { "read", TOUCH_READ }, { "write", TOUCH_WRITE } };
	uint64_t size, address;

	for (unsigned i = 0; i < G_N_ELEMENTS(kinds); i++) {
		if (!text_word(&p, end, kinds[i].word))
			continue;
		if (!place(&p, end, &size, &address) || size > IMPORT_MAX_LINE)
			return import_bad(im, "no \"N byte(s) @ 0xADDRESS\"");
		return touch(im, address, size, kinds[i].kind);
	}
	/* 0xPC non-branch N byte(s), 0xPC indirect jump N byte(s) */
	if (!text_number(&p, end, &address))
		return import_bad(im, "not a record of the view tool");
	while (p < end && (*p == ' ' || *p == '-' || g_ascii_isalpha(*p)))
		p++;
	if (!place(&p, end, &size, NULL) || size > IMPORT_MAX_LINE)
		return import_bad(im, "no \"N byte(s)\"");
	return touch(im, address, size, TOUCH_EXEC);
}

static bool view_line(struct import *im, const char *s, size_t n)
{
	struct dr *d = im->priv;
	const char *p = s, *end = s + n, *stamp;
	uint64_t work, us;

	if (!prefix(&p, end, &work, &d->tid)) {
		/* Headings, rulers, results at the end. */
		im->c.other_lines++;
		return true;
	}
	d->pid = work;
	if (!text_char(&p, end, '<'))
		return view_access(im, p, end);
	d->markers++;
	if (text_word(&p, end, "marker: timestamp ")) {
		stamp = p;
		if (!text_u64(&p, end, &us) || us >= UINT64_MAX / 1000)
			return import_bad(im, "a damaged time stamp");
		import_time(im, stamp, (size_t)(p - stamp), us * 1000);
	}
	return true;
}

static bool view_look(const char *s, const char *end)
{
	uint64_t work, tid;

	return prefix(&s, end, &work, &tid) && s < end;
}

static unsigned view_probe(const char *head, size_t n)
{
	return text_probe(head, n, 40, view_look) >= 30 ? 90 : 0;
}

static void view_report(struct import *im, json_t *o)
{
	struct dr *d = im->priv;

	json_object_set_new(o, "ifetch", json_integer((json_int_t)d->instr));
	json_object_set_new(o, "markers", json_integer((json_int_t)d->markers));
}

const struct rs_importer import_drmemtrace_text = {
	.name = "drmemtrace",
	.summary = "DynamoRIO: text of drrun -t drmemtrace -tool view",
	.valid = "RECORD INSTR: Wn.Tn ifetch|read|write N byte(s) @ 0xADDRESS ...",
	.time_unit = "microseconds (marker)",
	.number_time = true,
	.direct = true,
	.priv_size = sizeof(struct dr),
	.probe = view_probe,
	.line = view_line,
	.report = view_report,
};
