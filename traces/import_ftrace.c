/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * import_ftrace.c - text of tracefs' trace file and of trace-cmd report.
 *
 * COMM-PID [(TGID)] [CPU] [FLAGS] SECONDS.usec: EVENT: text. Columns differ between versions, so
 * the time is found by its shape, the PID behind the last dash before [CPU]; a name may hold
 * dashes, blanks and brackets.
 */
#include "traces/import_events.h"
#include "traces/import_text.h"

struct ftrace {
	struct events events;
	uint64_t lost_markers, lost_events;
};

static const char *skip_back(const char *s, const char *end)
{
	while (end > s && (end[-1] == ' ' || end[-1] == '\t'))
		end--;
	return end;
}

/* The last "[DIGITS]" of s..end; returns its start. */
static const char *find_cpu(const char *s, const char *end)
{
	for (const char *p = end; p > s; p--) {
		const char *q = p - 1;

		if (p[-1] != ']')
			continue;
		while (q > s && g_ascii_isdigit(q[-1]))
			q--;
		if (q < p - 1 && q > s && q[-1] == '[')
			return q - 1;
	}
	return NULL;
}

static bool split(const char *s, const char *end, struct kevent *k)
{
	const char *colon, *p, *left, *cpu, *q;
	uint64_t tgid = 0;
	bool have_tgid = false;

	k->stamp = events_find_time(s, end, &colon);
	if (!k->stamp)
		return false;
	p = k->stamp;
	if (!text_seconds(&p, end, &k->ns) || p != colon)
		return false;
	k->stamp_n = (size_t)(colon - k->stamp);
	cpu = find_cpu(s, k->stamp);
	if (!cpu)
		return false;
	left = skip_back(s, cpu);
	if (left > s && left[-1] == ')') {
		const char *open = left;

		while (open > s && *open != '(')
			open--;
		q = open + 1;
		text_blanks(&q, left);
		have_tgid = text_u64(&q, left, &tgid);
		left = skip_back(s, open);
	}
	q = left;
	while (q > s && g_ascii_isdigit(q[-1]))
		q--;
	if (q == left || q == s || q[-1] != '-')
		return false;
	p = q;
	if (!text_u64(&p, left, &k->tid))
		return false;
	k->pid = have_tgid ? tgid : k->tid;
	k->comm = s;
	text_blanks(&k->comm, q);
	k->comm_n = k->comm < q ? (size_t)(q - 1 - k->comm) : 0;
	p = colon + 1;
	text_blanks(&p, end);
	k->name = k->full = p;
	while (p < end && *p != ':' && *p != ' ')
		p++;
	k->name_n = k->full_n = (size_t)(p - k->name);
	if (!k->name_n || !text_char(&p, end, ':'))
		return false;
	k->text = p;
	k->end = end;
	return true;
}

/* "CPU:1 [LOST 4611 EVENTS]", "CPU 1: 4611 EVENTS DROPPED" */
static bool lost(struct ftrace *f, const char *s, const char *end)
{
	const char *p, *at;
	uint64_t n;

	p = s;
	if (!text_word(&p, end, "CPU"))
		return false;
	if (text_find(p, end, "LOST ", &at))
		p = at + 5;
	else if (text_find(p, end, "EVENTS DROPPED", &at)) {
		p = skip_back(s, at);
		while (p > s && g_ascii_isdigit(p[-1]))
			p--;
	} else {
		return false;
	}
	if (!text_u64(&p, end, &n))
		return false;
	f->lost_markers++;
	f->lost_events += n;
	return true;
}

static bool ftrace_begin(struct import *im, GError **error)
{
	struct ftrace *f = im->priv;

	events_init(&f->events);
	f->events.short_names = true;
	return true;
}

static void ftrace_end(struct import *im)
{
	events_done(&((struct ftrace *)im->priv)->events);
}

static bool ftrace_line(struct import *im, const char *s, size_t n)
{
	struct ftrace *f = im->priv;
	const char *end = s + n, *p = s;
	struct kevent k;
	uint64_t number;

	if (split(s, end, &k))
		return events_take(im, &f->events, &k);
	if (lost(f, s, end)) {
		import_skip(im, "events lost by the recorder");
		return true;
	}
	/* trace-cmd: "cpus=4", "version = 7", "CPU 2 is empty" */
	if (text_word(&p, end, "cpus=") || text_word(&p, end, "version = ") ||
	    (text_word(&p, end, "CPU ") && text_u64(&p, end, &number) &&
	     text_word(&p, end, " is empty"))) {
		im->c.comment_lines++;
		return true;
	}
	return import_bad(im, "not an event line");
}

static bool ftrace_look(const char *s, const char *end)
{
	struct ftrace unused = { .lost_markers = 0 };
	struct kevent k;

	return split(s, end, &k) || lost(&unused, s, end);
}

static unsigned ftrace_probe(const char *head, size_t n)
{
	const char *p = head;

	if (text_word(&p, head + n, "# tracer:"))
		return 90;
	return text_probe(head, n, 40, ftrace_look) >= 60 ? 75 : 0;
}

static void ftrace_report(struct import *im, json_t *o)
{
	struct ftrace *f = im->priv;

	events_report(im, &f->events, o);
	json_object_set_new(o, "lost_markers", json_integer((json_int_t)f->lost_markers));
	json_object_set_new(o, "lost_events", json_integer((json_int_t)f->lost_events));
}

const struct rs_importer import_ftrace = {
	.name = "ftrace",
	.summary = "text of tracefs' trace or of trace-cmd report: filemap, page faults, vmscan",
	.valid = "COMM-PID [CPU] FLAGS SECONDS.MICROSECONDS: EVENT: text",
	.time_unit = "seconds (trace clock, decimal)",
	.hash_comments = true,
	.priv_size = sizeof(struct ftrace),
	.probe = ftrace_probe,
	.begin = ftrace_begin,
	.line = ftrace_line,
	.report = ftrace_report,
	.end = ftrace_end,
};
