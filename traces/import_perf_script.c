/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * import_perf_script.c - text of perf script: page faults, filemap events, memory samples.
 *
 * COMM PID[/TID] [CPU] SECONDS.usec: [PERIOD] GROUP:EVENT: text, by -F without CPU or time. COMM is
 * right-justified and may hold blanks, colons and brackets, so the line is taken apart from the
 * time leftwards. Call chains (lines that begin with a tab) and blank lines are passed over.
 */
#include "traces/import_events.h"
#include "traces/import_text.h"

struct perf {
	struct events events;
	uint64_t stack_lines;
};

static const char *skip_back(const char *s, const char *end)
{
	while (end > s && (end[-1] == ' ' || end[-1] == '\t'))
		end--;
	return end;
}

/* COMM PID[/TID] [CPU], of which end is the end. */
static bool split_task(const char *s, const char *end, struct kevent *k)
{
	const char *p, *q;

	end = skip_back(s, end);
	if (end > s && end[-1] == ']') {
		q = end - 1;
		while (q > s && g_ascii_isdigit(q[-1]))
			q--;
		if (q > s && q[-1] == '[')
			end = skip_back(s, q - 1);
	}
	p = end;
	while (p > s && p[-1] != ' ')
		p--;
	k->comm = s;
	text_blanks(&k->comm, p);
	q = skip_back(k->comm, p);
	k->comm_n = (size_t)(q - k->comm);
	if (text_is(p, (size_t)(end - p), "-1")) {
		k->pid = k->tid = UINT64_MAX;
		return true;
	}
	if (!text_u64(&p, end, &k->pid))
		return false;
	k->tid = k->pid;
	if (text_char(&p, end, '/') && !text_u64(&p, end, &k->tid))
		return false;
	return p == end;
}

/* [PERIOD] GROUP:EVENT: text */
static bool split_event(const char *p, const char *end, struct kevent *k)
{
	const char *q = p, *group;
	uint64_t period;

	text_blanks(&p, end);
	q = p;
	if (text_u64(&q, end, &period) && q < end && *q == ' ') {
		text_blanks(&q, end);
		p = q;
	}
	for (q = p; q < end && *q != ' ' && *q != '\t'; q++)
		;
	if (q == p || q[-1] != ':') {
		/* A memory sample without the event: -F comm,pid,tid,time,addr,data_src. */
		if (!text_find(p, end, "|OP ", NULL))
			return false;
		k->full = k->name = "mem";
		k->full_n = k->name_n = 3;
		k->text = p;
		k->end = end;
		return true;
	}
	k->full = p;
	k->full_n = (size_t)(q - 1 - p);
	group = memrchr(p, ':', k->full_n);
	k->name = group ? group + 1 : p;
	k->name_n = (size_t)(q - 1 - k->name);
	k->text = q;
	k->end = end;
	return true;
}

/* Without a time: the event is the first word that looks like GROUP:EVENT: */
static const char *find_event(const char *s, const char *end)
{
	for (const char *p = s; p < end;) {
		const char *q = p;

		while (q < end && *q != ' ')
			q++;
		if (q - p > 3 && q[-1] == ':' && g_ascii_isalpha(*p) &&
		    memchr(p, ':', (size_t)(q - p - 1)))
			return p;
		for (p = q; p < end && *p == ' '; p++)
			;
	}
	return NULL;
}

static bool split(const char *s, const char *end, struct kevent *k)
{
	const char *colon, *p;

	k->stamp = events_find_time(s, end, &colon);
	if (k->stamp) {
		p = k->stamp;
		if (!text_seconds(&p, end, &k->ns) || p != colon)
			return false;
		k->stamp_n = (size_t)(colon - k->stamp);
		return split_task(s, k->stamp, k) && split_event(colon + 1, end, k);
	}
	p = find_event(s, end);
	return p && split_task(s, p, k) && split_event(p, end, k);
}

static bool perf_begin(struct import *im, GError **error)
{
	events_init(&((struct perf *)im->priv)->events);
	return true;
}

static void perf_end(struct import *im)
{
	events_done(&((struct perf *)im->priv)->events);
}

static bool perf_line(struct import *im, const char *s, size_t n)
{
	struct perf *perf = im->priv;
	struct kevent k;

	if (*s == '\t') {
		perf->stack_lines++;
		return true;
	}
	if (!split(s, s + n, &k))
		return import_bad(im, "no task, time and event as perf script prints them");
	return events_take(im, &perf->events, &k);
}

static bool perf_look(const char *s, const char *end)
{
	struct kevent k;

	return *s == '\t' || split(s, end, &k);
}

static unsigned perf_probe(const char *head, size_t n)
{
	return text_probe(head, n, 40, perf_look) >= 60 ? 70 : 0;
}

static void perf_report(struct import *im, json_t *o)
{
	struct perf *perf = im->priv;

	events_report(im, &perf->events, o);
	json_object_set_new(o, "stack_or_blank_lines",
			    json_integer((json_int_t)(perf->stack_lines + im->c.blank_lines)));
}

const struct rs_importer import_perf_script = {
	.name = "perf_script",
	.summary = "text of perf script: page faults, filemap events, memory samples",
	.valid = "COMM PID [CPU] SECONDS.MICROSECONDS: GROUP:EVENT: text",
	.time_unit = "seconds (machine uptime clock, decimal)",
	.hash_comments = true,
	.priv_size = sizeof(struct perf),
	.probe = perf_probe,
	.begin = perf_begin,
	.line = perf_line,
	.report = perf_report,
	.end = perf_end,
};
