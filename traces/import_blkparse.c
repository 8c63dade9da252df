/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * import_blkparse.c - text of blkparse in its default layout.
 *
 * A request appears once an action; one action is counted as the access: Q, what the file system
 * asked for (--with action=D: what the device got, after merging). The device is the file, the
 * calls go through a descriptor. Note that the block layer sees what the page cache let through:
 * misses and writeback. Discards drop cached pages and are no access; flushes are none either.
 */
#include "traces/import.h"
#include "traces/import_text.h"

struct blkparse {
	uint64_t actions[128][2]; /* by first letter; [1]: with a T behind it (UT) */
	struct tally *others, *devices, *processes;
	char action[4];
	uint64_t discards, discard_bytes, flush_only, empty, summary_lines, blank_before;
	bool in_summary;
	char device[24];
	size_t device_len;
	uint32_t file;
};

static bool blkparse_begin(struct import *im, GError **error)
{
	struct blkparse *b = im->priv;
	const char *action = import_with(im, "action");

	b->others = tally_new();
	b->devices = tally_new();
	b->processes = tally_new();
	if (action && (!*action || strlen(action) > 2)) {
		g_set_error(error, RS_ERROR, RS_ERROR_USAGE,
			    "--with action=%s: not an action of blkparse such as Q, D or C",
			    action);
		return false;
	}
	g_strlcpy(b->action, action ? action : "Q", sizeof(b->action));
	return true;
}

struct event {
	const char *device, *stamp, *action, *rwbs, *rest;
	size_t device_n, stamp_n, action_n, rwbs_n;
	uint64_t pid, ns;
};

static inline size_t word_length(const char *p, const char *end)
{
	const char *s = p;

	while (p < end && *p != ' ')
		p++;
	return (size_t)(p - s);
}

static inline bool split(const char *p, const char *end, struct event *e)
{
	uint64_t number;

	text_blanks(&p, end);
	e->device = p;
	if (!text_u64(&p, end, &number) || !text_char(&p, end, ',') || !text_u64(&p, end, &number))
		return false;
	e->device_n = (size_t)(p - e->device);
	text_blanks(&p, end);
	if (!text_u64(&p, end, &number)) /* CPU */
		return false;
	text_blanks(&p, end);
	if (!text_u64(&p, end, &number)) /* sequence */
		return false;
	text_blanks(&p, end);
	e->stamp = p;
	if (!text_seconds(&p, end, &e->ns) || p == end || *p != ' ')
		return false;
	e->stamp_n = (size_t)(p - e->stamp);
	text_blanks(&p, end);
	if (!text_u64(&p, end, &e->pid))
		return false;
	text_blanks(&p, end);
	e->action = p;
	e->action_n = word_length(p, end);
	p += e->action_n;
	text_blanks(&p, end);
	e->rwbs = p;
	e->rwbs_n = word_length(p, end);
	p += e->rwbs_n;
	text_blanks(&p, end);
	e->rest = p;
	return e->action_n && e->action_n <= 2 && e->rwbs_n && e->rwbs_n <= 8 &&
	       g_ascii_isalpha(*e->action) && g_ascii_isalpha(*e->rwbs);
}

static bool blkparse_look(const char *s, const char *end)
{
	struct event e;

	return split(s, end, &e);
}

static unsigned blkparse_probe(const char *head, size_t n)
{
	return text_probe(head, n, 20, blkparse_look) >= 50 ? 95 : 0;
}

static void note_process(struct blkparse *b, const struct event *e, const char *end)
{
	const char *open = memchr(e->rest, '[', (size_t)(end - e->rest));
	const char *close = end;

	if (!open || *e->action == 'C' || *e->action == 'm' || *e->action == 'A')
		return;
	while (close > open && close[-1] != ']')
		close--;
	if (close > open + 1)
		(*tally_at(b->processes, open + 1, (size_t)(close - open - 2)))++;
}

static void note_device(struct import *im, struct blkparse *b, const struct event *e)
{
	if (e->device_n == b->device_len && !memcmp(b->device, e->device, e->device_n))
		return;
	(*tally_at(b->devices, e->device, e->device_n))++;
	b->file = import_file(im, e->device, e->device_n);
	b->device_len = MIN(e->device_n, sizeof(b->device));
	memcpy(b->device, e->device, b->device_len);
}

/* The counted action: sector + count. */
static bool access_line(struct import *im, const struct event *e, const char *end)
{
	struct blkparse *b = im->priv;
	const char *p = e->rest;
	uint64_t sector = 0, sectors = 0;
	bool flush = memchr(e->rwbs, 'F', e->rwbs_n);

	if (text_u64(&p, end, &sector)) {
		text_blanks(&p, end);
		if (!text_char(&p, end, '+'))
			return import_bad(im, "no \"SECTOR + COUNT\"");
		text_blanks(&p, end);
		if (!text_u64(&p, end, &sectors) || (p < end && *p != ' '))
			return import_bad(im, "no \"SECTOR + COUNT\"");
	}
	if (sector > (1ull << 54) - 1 || sectors > (1ull << 53))
		return import_bad(im, "a sector that is too large");
	if (!sectors) {
		b->empty++;
		b->flush_only += flush;
		return true;
	}
	import_thread(im, e->pid, e->pid);
	if (memchr(e->rwbs, 'D', e->rwbs_n)) {
		b->discards++;
		b->discard_bytes += sectors << 9;
		import_discard(im, b->file, sector << 9, sectors << 9);
		return true;
	}
	if (memchr(e->rwbs, 'R', e->rwbs_n))
		return import_io(im, b->file, false, sector << 9, sectors << 9);
	if (memchr(e->rwbs, 'W', e->rwbs_n))
		return import_io(im, b->file, true, sector << 9, sectors << 9);
	return true;
}

static bool summary_begins(const char *s, const char *end)
{
	const char *p = s;

	return (text_word(&p, end, "CPU") || text_word(&p, end, "Total (")) && end[-1] == ':';
}

static bool blkparse_line(struct import *im, const char *s, size_t n)
{
	struct blkparse *b = im->priv;
	const char *end = s + n;
	struct event e;

	if (!split(s, end, &e)) {
		if (!b->in_summary && summary_begins(s, end)) {
			b->in_summary = true;
			b->blank_before = im->c.blank_lines;
		}
		if (!b->in_summary)
			return import_bad(im, "not an event of blkparse's default layout");
		b->summary_lines++;
		return true;
	}
	note_device(im, b, &e);
	import_time(im, e.stamp, e.stamp_n, e.ns);
	if (e.action_n == strlen(b->action) && !memcmp(e.action, b->action, e.action_n) &&
	    !access_line(im, &e, end))
		return false;
	note_process(b, &e, end);
	if (e.action_n == 1)
		b->actions[*e.action & 127][0]++;
	else if (e.action[1] == 'T')
		b->actions[*e.action & 127][1]++;
	else
		(*tally_at(b->others, e.action, e.action_n))++;
	im->c.records++;
	return true;
}

static void blkparse_report(struct import *im, json_t *o)
{
	struct blkparse *b = im->priv;
	uint64_t blank = b->in_summary ? im->c.blank_lines - b->blank_before : 0;

	for (unsigned c = 0; c < 128; c++) {
		char name[3] = { (char)c, 0, 0 };

		if (b->actions[c][0])
			*tally_at(b->others, name, 1) += b->actions[c][0];
		name[1] = 'T';
		if (b->actions[c][1])
			*tally_at(b->others, name, 2) += b->actions[c][1];
	}
	json_object_set_new(o, "actions", tally_object(b->others));
	json_object_set_new(o, "counted_action", json_string(b->action));
	json_object_set_new(o, "discards", json_integer((json_int_t)b->discards));
	json_object_set_new(o, "discard_bytes", json_integer((json_int_t)b->discard_bytes));
	json_object_set_new(o, "flush_only", json_integer((json_int_t)b->flush_only));
	json_object_set_new(o, "zero_or_missing_sector", json_integer((json_int_t)b->empty));
	json_object_set_new(o, "devices", tally_array(b->devices));
	json_object_set_new(o, "processes", tally_array(b->processes));
	json_object_set_new(o, "summary_lines",
			    json_integer((json_int_t)(b->summary_lines + blank)));
}

static void blkparse_end(struct import *im)
{
	struct blkparse *b = im->priv;

	tally_free(b->others);
	tally_free(b->devices);
	tally_free(b->processes);
}

const struct rs_importer import_blkparse = {
	.name = "blkparse",
	.summary = "text of blkparse (default layout); counts action Q, or --with action=D",
	.valid = "MAJOR,MINOR CPU SEQUENCE SECONDS PID ACTION RWBS SECTOR + COUNT [PROCESS]",
	.time_unit = "seconds since the first event (decimal, 9 places)",
	.priv_size = sizeof(struct blkparse),
	.probe = blkparse_probe,
	.begin = blkparse_begin,
	.line = blkparse_line,
	.report = blkparse_report,
	.end = blkparse_end,
};
