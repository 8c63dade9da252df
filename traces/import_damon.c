/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * import_damon.c - DAMON in text: perf script or ftrace of damon_aggregated, and "damo report raw".
 * See import_damon.h for how regions become accesses; JSON is in import_damon_json.c.
 */
#include "traces/import_damon.h"

#include "traces/import_events.h"
#include "traces/import_text.h"

static uint64_t mix(uint64_t x)
{
	x ^= x >> 31;
	x *= 0x7fb5d329728ea185u;
	x ^= x >> 27;
	x *= 0x81dadef4bc2dd44du;
	return x ^ x >> 33;
}

bool damon_begin(struct import *im, GError **error)
{
	struct damon *d = im->priv;
	const char *samples = import_with(im, "samples");
	guint64 value = 20;

	d->targets = tally_new();
	d->lowest = UINT64_MAX;
	if (samples && !g_ascii_string_to_unsigned(samples, 10, 1, 1000000, &value, NULL)) {
		g_set_error(error, RS_ERROR, RS_ERROR_USAGE,
			    "--with samples=%s: valid is the number of sampling intervals in an "
			    "aggregation interval (20)",
			    samples);
		return false;
	}
	d->samples = value;
	return true;
}

void damon_end(struct import *im)
{
	struct damon *d = im->priv;

	tally_free(d->targets);
	g_free(d->json);
}

bool damon_region(struct import *im, uint64_t target, uint64_t start, uint64_t end, uint64_t n)
{
	struct damon *d = im->priv;
	uint64_t first = start >> RS_PAGE_SHIFT, pages, touched = 0;
	char name[24];

	if (end < start || n > 1000000)
		return import_bad(im, "a region that ends before it starts, or too many accesses");
	pages = (end - start) >> RS_PAGE_SHIFT;
	g_snprintf(name, sizeof(name), "%" G_GUINT64_FORMAT, target);
	(*tally_at(d->targets, name, strlen(name)))++;
	d->nr_accesses_sum += n;
	d->nr_accesses_max = MAX(d->nr_accesses_max, n);
	d->lowest = MIN(d->lowest, start);
	d->highest = MAX(d->highest, end);
	im->c.records++;
	if (!n)
		return true;
	d->pages += pages;
	import_thread(im, target, target);
	for (uint64_t i = 0; i < pages && !im->error; i++) {
		if (mix((first + i) * 0x9e3779b97f4a7c15u ^ im->clock.now) % d->samples >= n)
			continue;
		if (touched++ >= DAMON_MAX_TOUCHES || i >= 64ull * DAMON_MAX_TOUCHES) {
			import_skip(im, "the rest of a region that is too large to touch at once");
			break;
		}
		im->c.reads++;
		if (!import_touch(im, (first + i) << RS_PAGE_SHIFT, 1, TOUCH_READ))
			return false;
	}
	return true;
}

/* ---- perf script, ftrace ---- */

static bool aggregated(struct import *im, const char *p, const char *end)
{
	struct damon *d = im->priv;
	uint64_t target, start, stop, n, age;
	const char *at;

	if (!text_field_number(p, end, "target_id", &target) ||
	    !text_field(p, end, "nr_regions", &at) || !text_u64(&at, end, &n))
		return import_bad(im, "no target_id= and nr_regions=");
	text_blanks(&at, end);
	if (!text_u64(&at, end, &start) || !text_char(&at, end, '-') ||
	    !text_u64(&at, end, &stop) || !text_word(&at, end, ": "))
		return import_bad(im, "no START-END:");
	/* damo closes its conversions with an empty region of -1 samples. */
	if (*at == '-') {
		d->fake++;
		return true;
	}
	if (!text_u64(&at, end, &n))
		return import_bad(im, "no number of accesses");
	text_blanks(&at, end);
	if (at == end)
		d->without_age++;
	else if (!text_u64(&at, end, &age) || at != end)
		return import_bad(im, "a damaged age");
	return damon_region(im, target, start, stop, n);
}

static bool event_line(struct import *im, const char *s, const char *end, const char *event)
{
	const char *colon, *p, *stamp = events_find_time(s, end, &colon);
	uint64_t ns;

	if (!stamp || stamp > event)
		return import_bad(im, "no time stamp");
	p = stamp;
	if (!text_seconds(&p, end, &ns) || p != colon)
		return import_bad(im, "a damaged time stamp");
	p = event + strlen("damon_aggregated:");
	/* The fake last one has a made-up time. */
	if (!text_find(p, end, ": -1", NULL))
		import_time(im, stamp, (size_t)(colon - stamp), ns);
	return aggregated(im, p, end);
}

/* ---- damo report raw ---- */

/* "8 m 59.809 s", "104.599 ms", "0 ns": sums; units of damo. */
static bool damo_time(const char *p, const char *end, uint64_t *ret)
{
	static const struct {
		const char *unit;
		uint64_t ns;
	} units[] = { { "ns", 1 },
		      { "us", 1000 },
		      { "ms", 1000000 },
		      { "s", 1000000000 },
		      { "m", 60000000000 },
		      { "h", 3600000000000 },
		      { "d", 86400000000000 } };
	uint64_t total = 0, value;
	unsigned i;

	for (text_blanks(&p, end); p < end; text_blanks(&p, end)) {
		size_t n = 0;

		if (!text_seconds(&p, end, &value)) /* in 10^-9 of the unit */
			return false;
		text_blanks(&p, end);
		while (p + n < end && g_ascii_isalpha(p[n]))
			n++;
		for (i = 0; i < G_N_ELEMENTS(units); i++)
			if (text_is(p, n, units[i].unit))
				break;
		if (i == G_N_ELEMENTS(units) || value / 1000000000 > (1ull << 62) / units[i].ns)
			return false;
		total += value / 1000000000 * units[i].ns +
			 value % 1000000000 * MIN(units[i].ns, 1000000000) / 1000000000;
		p += n;
	}
	*ret = total;
	return true;
}

static void close_snapshot(struct damon *d)
{
	if (d->announced && d->announced != d->seen)
		d->wrong_counts++;
	d->announced = d->seen = 0;
}

static bool raw_header(struct import *im, const char *s, const char *end)
{
	struct damon *d = im->priv;
	const char *p = s;
	uint64_t ns;

	if (text_word(&p, end, "base_time_absolute: ")) {
		g_strlcpy(d->base_time, p, MIN(sizeof(d->base_time), (size_t)(end - p) + 1));
	} else if (text_word(&p, end, "monitoring_start:")) {
		close_snapshot(d);
		d->snapshots++;
	} else if (text_word(&p, end, "monitoring_end:")) {
		if (!damo_time(p, end, &ns))
			return import_bad(im, "a damaged time");
		import_time_at(im, ns);
	} else if (text_word(&p, end, "target_id:")) {
		text_blanks(&p, end);
		if (!text_u64(&p, end, &d->target))
			return import_bad(im, "a damaged target_id");
	} else if (text_word(&p, end, "nr_regions:")) {
		text_blanks(&p, end);
		if (!text_u64(&p, end, &d->announced))
			return import_bad(im, "a damaged nr_regions");
	} else if (!text_word(&p, end, "data source:") &&
		   !text_word(&p, end, "monitoring_duration:")) {
		return import_bad(im, "neither a region nor a heading of damo report raw");
	}
	im->c.header_lines++;
	return true;
}

static bool raw_region(struct import *im, const char *s, const char *end)
{
	struct damon *d = im->priv;
	uint64_t start, stop, n;
	const char *p = s;

	if (!text_hex(&p, end, &start) || !text_char(&p, end, '-') || !text_hex(&p, end, &stop))
		return raw_header(im, s, end);
	text_blanks(&p, end);
	if (!text_char(&p, end, '(') || !(p = memchr(p, ')', (size_t)(end - p))))
		return import_bad(im, "no length in brackets");
	p++;
	text_blanks(&p, end);
	if (!text_u64(&p, end, &n))
		return import_bad(im, "no number of accesses");
	d->seen++;
	return damon_region(im, d->target, start, stop, n);
}

static bool damon_line(struct import *im, const char *s, size_t n)
{
	const char *end = s + n, *event, *colon;

	if (text_find(s, end, "damon_aggregated:", &event))
		return event_line(im, s, end, event);
	/* Another event among them (damos_before_apply). */
	if (events_find_time(s, end, &colon)) {
		im->c.other_lines++;
		return true;
	}
	return raw_region(im, s, end);
}

static void damon_input_end(struct import *im)
{
	close_snapshot(im->priv);
}

static bool damon_look(const char *s, const char *end)
{
	const char *p = s;

	return text_find(s, end, "damon_aggregated:", NULL) || text_word(&p, end, "monitoring_") ||
	       text_word(&p, end, "base_time_absolute:");
}

static unsigned damon_probe(const char *head, size_t n)
{
	const char *p = head;

	if (text_word(&p, head + n, "base_time_absolute:"))
		return 95;
	return text_probe(head, n, 40, damon_look) >= 60 ? 92 : 0;
}

void damon_report(struct import *im, json_t *o)
{
	struct damon *d = im->priv;
	char text[24];

	json_object_set_new(o, "synthetic", json_true());
	json_object_set_new(o, "targets", tally_array(d->targets));
	json_object_set_new(o, "nr_accesses_sum", json_integer((json_int_t)d->nr_accesses_sum));
	json_object_set_new(o, "nr_accesses_max", json_integer((json_int_t)d->nr_accesses_max));
	json_object_set_new(o, "pages_in_accessed_regions", json_integer((json_int_t)d->pages));
	json_object_set_new(o, "without_age", json_integer((json_int_t)d->without_age));
	json_object_set_new(o, "fake_regions", json_integer((json_int_t)d->fake));
	json_object_set_new(o, "snapshots", json_integer((json_int_t)d->snapshots));
	json_object_set_new(o, "snapshots_with_wrong_region_count",
			    json_integer((json_int_t)d->wrong_counts));
	g_snprintf(text, sizeof(text), "0x%" G_GINT64_MODIFIER "x", im->c.records ? d->lowest : 0);
	json_object_set_new(o, "lowest_address", json_string(text));
	g_snprintf(text, sizeof(text), "0x%" G_GINT64_MODIFIER "x", d->highest);
	json_object_set_new(o, "highest_address", json_string(text));
	if (*d->base_time) {
		char *valid = g_utf8_make_valid(d->base_time, -1);

		json_object_set_new(o, "base_time_absolute", json_string(valid));
		g_free(valid);
	}
}

const struct rs_importer import_damon = {
	.name = "damon",
	.summary = "DAMON: perf script or ftrace of damon_aggregated, damo report raw, damo JSON; "
		   "sampled, so the accesses are synthetic (--with samples=N)",
	.valid = "... damon_aggregated: target_id=T nr_regions=N START-END: ACCESSES [AGE], or "
		 "START-END (LENGTH) ACCESSES AGE",
	.time_unit = "seconds (decimal)",
	.hash_comments = true,
	.direct = true,
	.priv_size = sizeof(struct damon),
	.probe = damon_probe,
	.begin = damon_begin,
	.line = damon_line,
	.input_end = damon_input_end,
	.report = damon_report,
	.end = damon_end,
};
