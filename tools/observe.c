/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * observe.c - see observe.h. Lives are told while they happen; a sum for each page stands at their
 * end, in the order in which the pages came into being.
 */
#include "tools/observe.h"

#include "sim/base/config.h"
#include "sim/base/units.h"
#include "tools/tools.h"

#include <inttypes.h>
#include <string.h>

/* What has become of one page. */
struct sum {
	const struct rs_watch *watch;
	uint64_t page, evicted, swapped_in, refaults, promoted, young;
	uint32_t space;
	bool in_memory;
};

struct observing {
	struct rs_observer to;
	struct rs_watch *watch;
	unsigned n;
	bool *matched, told;
	FILE *lives;
	struct output *events;
	GPtrArray *sums;
	GHashTable *sum_of; /* by name */
	GString *line;
};

/* ---- what to watch ---- */

static bool parse_pages(const char *text, struct rs_watch *w, GError **error)
{
	char *dash = strchr(text, '-');
	g_autofree char *first = dash ? g_strndup(text, (gsize)(dash - text)) : g_strdup(text);
	int64_t from, to;

	if (!rs_parse_int(first, 0, (int64_t)1 << 35, &from, error))
		return false;
	to = from;
	if (dash && !rs_parse_int(dash + 1, from, (int64_t)1 << 35, &to, error))
		return false;
	w->first = (uint64_t)from;
	w->last = (uint64_t)to;
	return true;
}

static bool parse_watch(const char *text, struct rs_watch *w, GError **error)
{
	const char *colon = strrchr(text, ':'), *name = text;

	if (g_str_has_prefix(text, "file:") && colon > text + 5) {
		w->file = true;
		name = text + 5;
	}
	if (!colon || colon == name) {
		g_set_error(error, RS_ERROR, RS_ERROR_USAGE,
			    "--watch \"%s\": write REGION:PAGE[-PAGE] or file:NAME:PAGE[-PAGE]",
			    text);
		return false;
	}
	if (!parse_pages(colon + 1, w, error)) {
		g_prefix_error(error, "--watch \"%s\": ", text);
		return false;
	}
	w->name = g_strndup(name, (gsize)(colon - name));
	return true;
}

/* ---- while it runs ---- */

static char *page_name(const struct rs_folio_note *n)
{
	/* The first address space goes without saying. */
	if (n->space > 1)
		return g_strdup_printf("%s:%" PRIu64 "@%u", n->watch->name, n->page, n->space);
	return g_strdup_printf("%s:%" PRIu64, n->watch->name, n->page);
}

static void add_up(struct observing *o, const char *name, const struct rs_folio_note *n)
{
	struct sum *s = g_hash_table_lookup(o->sum_of, name);

	if (!s) {
		s = g_new0(struct sum, 1);
		s->watch = n->watch;
		s->page = n->page;
		s->space = n->space;
		g_ptr_array_add(o->sums, s);
		g_hash_table_insert(o->sum_of, g_strdup(name), s);
	}
	s->in_memory = n->what != RS_NOTE_EVICTED && n->what != RS_NOTE_FREED;
	s->evicted += n->what == RS_NOTE_EVICTED;
	s->swapped_in += n->what == RS_NOTE_SWAPIN || n->what == RS_NOTE_CACHED;
	s->refaults += n->what == RS_NOTE_REFAULT || n->what == RS_NOTE_REFAULT_GEN ||
		       n->what == RS_NOTE_NOT_RECENT;
	s->promoted += n->what == RS_NOTE_PROMOTED || n->what == RS_NOTE_ACTIVATED ||
		       (n->what == RS_NOTE_VERDICT && n->a == RS_OUTCOME_ACTIVATED);
	s->young += n->what == RS_NOTE_YOUNG_WALK || n->what == RS_NOTE_YOUNG_LOOK ||
		    (n->what == RS_NOTE_REFERENCED && n->a > 0);
}

static void tell(void *arg, const struct rs_folio_note *n)
{
	struct observing *o = arg;
	g_autofree char *name = page_name(n);

	if (!o->told)
		fprintf(o->lives, "%12s  %-12s %-9s %s\n", "ms", "page", "by", "what");
	o->told = true;
	g_string_truncate(o->line, 0);
	life_describe(n, o->line);
	fprintf(o->lives, "%8" PRIu64 ".%03" PRIu64 "  %-12s %-9s %s\n", n->by.time / 1000000,
		n->by.time / 1000 % 1000, name, n->by.comm, o->line->str);
	add_up(o, name, n);
}

static void write_event(void *arg, const struct rs_trace_event *e)
{
	struct observing *o = arg;

	fprintf(output_stream(o->events),
		"%16s-%-7u [%03u] ..... %5" PRIu64 ".%06" PRIu64 ": %s: %s\n", e->by.comm,
		e->by.pid, e->by.cpu, e->by.time / 1000000000, e->by.time / 1000 % 1000000, e->name,
		e->text);
}

static void write_head(FILE *stream)
{
	fputs("# tracer: nop\n"
	      "#\n"
	      "#                                _-----=> irqs-off/BH-disabled\n"
	      "#                               / _----=> need-resched\n"
	      "#                              | / _---=> hardirq/softirq\n"
	      "#                              || / _--=> preempt-depth\n"
	      "#                              ||| / _-=> migrate-disable\n"
	      "#                              |||| /     delay\n"
	      "#           TASK-PID     CPU#  |||||  TIMESTAMP  FUNCTION\n"
	      "#              | |         |   |||||     |         |\n",
	      stream);
}

struct observing *observing_new(char **watches, FILE *lives, const char *events, GError **error)
{
	struct observing *o = g_new0(struct observing, 1);
	unsigned n = watches ? g_strv_length(watches) : 0;

	o->watch = g_new0(struct rs_watch, n + 1);
	o->matched = g_new0(bool, n + 1);
	o->n = n;
	o->lives = lives;
	o->sums = g_ptr_array_new_with_free_func(g_free);
	o->sum_of = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	o->line = g_string_new(NULL);
	o->to.arg = o;
	if (n > 127)
		g_set_error(error, RS_ERROR, RS_ERROR_USAGE, "%u times --watch: at most 127", n);
	for (unsigned i = 0; i < n && n <= 127; i++)
		if (!parse_watch(watches[i], &o->watch[i], error))
			goto fail;
	if (n > 127)
		goto fail;
	if (n)
		o->to.folio = tell;
	if (events) {
		o->events = output_open(events, error);
		if (!o->events)
			goto fail;
		o->to.event = write_event;
		write_head(output_stream(o->events));
	}
	return o;
fail:
	observing_free(o);
	return NULL;
}

void observing_start(struct observing *o, struct rs_sim *sim)
{
	rs_sim_observe(sim, &o->to, o->watch, o->n, o->matched);
}

/* ---- afterwards ---- */

static void print_sums(const struct observing *o)
{
	fputc('\n', o->lives);
	for (guint i = 0; i < o->sums->len; i++) {
		const struct sum *s = g_ptr_array_index(o->sums, i);
		struct rs_folio_note n = { .watch = s->watch, .page = s->page, .space = s->space };
		g_autofree char *name = page_name(&n);

		fprintf(o->lives,
			"%s: evicted %" PRIu64 ", read %" PRIu64 ", refaults %" PRIu64
			", found young %" PRIu64 ", promoted %" PRIu64 "; at the end %s\n",
			name, s->evicted, s->swapped_in, s->refaults, s->young, s->promoted,
			s->in_memory ? "in memory" : "not in memory");
	}
}

bool observing_finish(struct observing *o, GError **error)
{
	for (unsigned i = 0; i < o->n; i++) {
		if (o->matched[i])
			continue;
		g_set_error(error, RS_ERROR, RS_ERROR_INPUT,
			    "--watch %s%s:%" PRIu64
			    ": the trace has no %s of that name with such a page, "
			    "see \"reclaimsim trace cat\"",
			    o->watch[i].file ? "file:" : "", o->watch[i].name, o->watch[i].first,
			    o->watch[i].file ? "file" : "region");
		return false;
	}
	if (o->n && !o->told)
		fputs("nothing has happened to the pages that are watched\n", o->lives);
	else if (o->n)
		print_sums(o);
	if (o->events) {
		struct output *events = g_steal_pointer(&o->events);

		return output_close(events, error);
	}
	return true;
}

void observing_free(struct observing *o)
{
	if (!o)
		return;
	if (o->events)
		output_abort(o->events);
	for (unsigned i = 0; i < o->n; i++)
		g_free((char *)o->watch[i].name);
	g_free(o->watch);
	g_free(o->matched);
	g_ptr_array_unref(o->sums);
	g_hash_table_destroy(o->sum_of);
	g_string_free(o->line, TRUE);
	g_free(o);
}
