/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * import_libcachesim.c - formats of cache research: csv with object ids, txt, oracleGeneral, vscsi.
 *
 * An object is one page of the file "objects", numbered in order of first appearance, and a request
 * is a call through a descriptor (--with pages=size: as many pages as the size it first had). vscsi
 * requests are ranges of the file "disk".
 */
#include "traces/import_objects.h"
#include "traces/import_text.h"

#define MAX_COLUMNS 32

struct cachesim {
	struct objects objects;
	GArray *pages; /* with pages=size: struct extent by object number */
	bool by_size;
	uint64_t next_page;
	struct tally *ops;
	uint64_t object_bytes, zero_size, never_again, bytes;
	uint32_t file;
	bool have_file;
	/* csv */
	int time, id, size, op; /* columns from 0, -1 = none */
	bool columns_known;
	uint64_t time_ns;
	/* vscsi */
	unsigned version;
};

struct extent {
	uint64_t page;
	uint32_t count;
};

static bool cachesim_begin(struct import *im, GError **error)
{
	struct cachesim *c = im->priv;
	const char *pages = import_with(im, "pages");

	c->ops = tally_new();
	c->pages = g_array_new(FALSE, TRUE, sizeof(struct extent));
	c->by_size = pages && !strcmp(pages, "size");
	return true;
}

static void cachesim_end(struct import *im)
{
	struct cachesim *c = im->priv;

	tally_free(c->ops);
	objects_clear(&c->objects);
	if (c->pages)
		g_array_free(c->pages, TRUE);
}

static bool object_access(struct import *im, uint64_t hash, uint64_t size, bool write)
{
	struct cachesim *c = im->priv;
	uint32_t number;
	struct extent extent;

	if (!c->have_file) {
		import_thread(im, 0, 0);
		c->file = import_file(im, "objects", 7);
		c->have_file = true;
	}
	number = objects_number(im, &c->objects, hash);
	if (number == OBJECTS_NONE)
		return true;
	extent = (struct extent){ number, 1 };
	if (c->by_size) {
		if (number >= c->pages->len) {
			extent.page = c->next_page;
			extent.count = (uint32_t)CLAMP((size + 4095) / 4096, 1, 1u << 18);
			c->next_page += extent.count;
			g_array_append_val(c->pages, extent);
		}
		extent = g_array_index(c->pages, struct extent, number);
	}
	/* Counted by hand: what was asked for is an object, not a byte range. */
	if (write) {
		im->c.writes++;
		im->c.bytes_written += size;
	} else {
		im->c.reads++;
		im->c.bytes_read += size;
	}
	im->c.page_accesses += extent.count;
	pageset_add(&im->pages, 0, extent.page, extent.count);
	import_io_record(im, c->file, write, extent.page << 12, (uint64_t)extent.count << 12);
	c->object_bytes += size;
	c->zero_size += !size;
	im->c.records++;
	return true;
}

static void cachesim_report(struct import *im, json_t *o)
{
	struct cachesim *c = im->priv;

	json_object_set_new(o, "distinct_objects", json_integer(c->objects.used));
	json_object_set_new(o, "object_bytes", json_integer((json_int_t)c->object_bytes));
	json_object_set_new(o, "zero_size", json_integer((json_int_t)c->zero_size));
	json_object_set_new(o, "ops", tally_object(c->ops));
}

/* ---- csv ---- */

struct fields {
	unsigned n;
	const char *at[MAX_COLUMNS], *end[MAX_COLUMNS];
};

static void split(const char *p, const char *end, struct fields *f)
{
	char separator = memchr(p, ',', (size_t)(end - p))   ? ','
			 : memchr(p, ';', (size_t)(end - p)) ? ';'
							     : '\t';

	for (f->n = 0; f->n < MAX_COLUMNS;) {
		const char *stop = memchr(p, separator, (size_t)(end - p));
		const char *last = stop ? stop : end;

		while (p < last && *p == ' ')
			p++;
		f->at[f->n] = p;
		while (last > p && last[-1] == ' ')
			last--;
		f->end[f->n++] = last;
		if (!stop)
			return;
		p = stop + 1;
	}
}

/* Which column a heading names: t, i, s, o or 0. */
static char role_of(const char *s, size_t n)
{
	static const struct {
		const char *word;
		char role;
	} words[] = {
		{ "time", 't' },   { "timestamp", 't' },   { "clock", 't' },
		{ "id", 'i' },	   { "obj", 'i' },	   { "object", 'i' },
		{ "obj_id", 'i' }, { "object_id", 'i' },   { "key", 'i' },
		{ "lbn", 'i' },	   { "lba", 'i' },	   { "block", 'i' },
		{ "size", 's' },   { "obj_size", 's' },	   { "length", 's' },
		{ "bytes", 's' },  { "object_size", 's' }, { "op", 'o' },
		{ "opcode", 'o' }, { "operation", 'o' },   { "cmd", 'o' },
	};

	for (unsigned i = 0; i < G_N_ELEMENTS(words); i++)
		if (n >= strlen(words[i].word) &&
		    !g_ascii_strncasecmp(s, words[i].word, strlen(words[i].word)) &&
		    (n == strlen(words[i].word) || s[strlen(words[i].word)] == ' '))
			return words[i].role;
	return 0;
}

/* Headings in the first line or in a comment; an id and one more column make it one. */
static bool read_headings(struct cachesim *c, const char *s, const char *end)
{
	struct fields f;
	int found[4] = { -1, -1, -1, -1 };
	static const char roles[] = "tiso";
	unsigned n = 0;

	split(s, end, &f);
	for (unsigned i = 0; i < f.n; i++) {
		char role = role_of(f.at[i], (size_t)(f.end[i] - f.at[i]));

		if (role && found[strchr(roles, role) - roles] < 0) {
			found[strchr(roles, role) - roles] = (int)i;
			n++;
		}
	}
	if (found[1] < 0 || n < 2)
		return false;
	c->time = found[0];
	c->id = found[1];
	c->size = found[2];
	c->op = found[3];
	c->columns_known = true;
	return true;
}

/* --with columns=time:2,id:5,size:4,op:3 */
static bool read_columns(struct cachesim *c, const char *text, GError **error)
{
	char **parts = g_strsplit(text, ",", 0);
	bool fine = true;

	c->time = c->id = c->size = c->op = -1;
	for (unsigned i = 0; parts[i] && fine; i++) {
		const char *colon = strchr(parts[i], ':');
		guint64 value = 0;
		int *place = NULL;

		if (colon)
			switch (role_of(parts[i], (size_t)(colon - parts[i]))) {
			case 't':
				place = &c->time;
				break;
			case 'i':
				place = &c->id;
				break;
			case 's':
				place = &c->size;
				break;
			case 'o':
				place = &c->op;
				break;
			}
		fine = place &&
		       g_ascii_string_to_unsigned(colon + 1, 10, 1, MAX_COLUMNS, &value, NULL);
		if (fine)
			*place = (int)value - 1;
	}
	g_strfreev(parts);
	c->columns_known = fine && c->id >= 0;
	if (!c->columns_known)
		g_set_error(error, RS_ERROR, RS_ERROR_USAGE,
			    "--with columns=%s: valid is id:N[,time:N][,size:N][,op:N], columns "
			    "from 1",
			    text);
	return c->columns_known;
}

static bool csv_begin(struct import *im, GError **error)
{
	static const struct {
		const char *name;
		uint64_t ns;
	} units[] = { { "s", 1000000000 }, { "ms", 1000000 }, { "us", 1000 }, { "ns", 1 } };
	struct cachesim *c = im->priv;
	const char *columns = import_with(im, "columns"), *unit = import_with(im, "time_unit");

	if (!cachesim_begin(im, error))
		return false;
	for (unsigned i = 0; i < G_N_ELEMENTS(units); i++)
		if (!strcmp(unit ? unit : "s", units[i].name))
			c->time_ns = units[i].ns;
	if (!c->time_ns) {
		g_set_error(error, RS_ERROR, RS_ERROR_USAGE,
			    "--with time_unit=%s: valid are s, ms, us, ns", unit);
		return false;
	}
	return !columns || read_columns(c, columns, error);
}

/* Without any hint: id; time,id; time,id,size; time,op,id,size. */
static void guess_columns(struct cachesim *c, const struct fields *f)
{
	c->time = f->n > 1 ? 0 : -1;
	c->op = f->n > 3 ? 1 : -1;
	c->id = f->n > 3 ? 2 : f->n > 1 ? 1 : 0;
	c->size = f->n > 3 ? 3 : f->n > 2 ? 2 : -1;
	c->columns_known = true;
}

static bool is_write(const char *s, size_t n)
{
	static const char *const writes[] = { "w",   "write",  "set",	  "add",    "replace",
					      "cas", "append", "prepend", "update", "2a",
					      "0a",  "8a",     "aa",	  "incr",   "decr",
					      "3",   "4",      "5",	  "6",	    "7",
					      "8",   "13",     "14" };

	for (unsigned i = 0; i < G_N_ELEMENTS(writes); i++)
		if (strlen(writes[i]) == n && !g_ascii_strncasecmp(s, writes[i], n))
			return true;
	return false;
}

static bool csv_line(struct import *im, const char *s, size_t n)
{
	struct cachesim *c = im->priv;
	const char *end = s + n, *p;
	struct fields f;
	uint64_t size = 0, ns = 0;
	bool write = false;

	if (*s == '#') {
		im->c.comment_lines++;
		if (!c->columns_known)
			read_headings(c, s + 1, end);
		return true;
	}
	if (im->line_no == 1 && !import_with(im, "columns") && read_headings(c, s, end)) {
		im->c.header_lines++;
		return true;
	}
	split(s, end, &f);
	if (!c->columns_known)
		guess_columns(c, &f);
	if (c->id >= (int)f.n || c->size >= (int)f.n || c->time >= (int)f.n || c->op >= (int)f.n)
		return import_bad(im, "too few columns");
	if (f.end[c->id] == f.at[c->id])
		return import_bad(im, "no object id");
	if (c->size >= 0) {
		p = f.at[c->size];
		if (!text_u64(&p, f.end[c->size], &size) || p != f.end[c->size] ||
		    size > IMPORT_MAX_IO)
			return import_bad(im, "the size is no number, or too large");
	}
	if (c->time >= 0) {
		p = f.at[c->time];
		if (!text_seconds(&p, f.end[c->time], &ns) || p != f.end[c->time])
			return import_bad(im, "the time is no number");
		import_time(im, f.at[c->time], (size_t)(p - f.at[c->time]),
			    ns / (1000000000 / c->time_ns));
	}
	if (c->op >= 0) {
		size_t len = (size_t)(f.end[c->op] - f.at[c->op]);

		write = is_write(f.at[c->op], len);
		(*tally_at(c->ops, f.at[c->op], len))++;
	}
	return object_access(im, objects_hash(f.at[c->id], (size_t)(f.end[c->id] - f.at[c->id]), 0),
			     size, write);
}

static bool printable(const char *head, size_t n)
{
	for (size_t i = 0; i < MIN(n, 4096); i++)
		if ((unsigned char)head[i] < ' ' && !strchr("\t\n\r", head[i]))
			return false;
	return n && !memchr(head, 0, MIN(n, 4096));
}

static bool csv_look(const char *s, const char *end)
{
	return memchr(s, ',', (size_t)(end - s)) && !memchr(s, '(', (size_t)(end - s));
}

static unsigned csv_probe(const char *head, size_t n)
{
	return printable(head, n) && text_probe(head, n, 40, csv_look) >= 95 ? 10 : 0;
}

const struct rs_importer import_csv = {
	.name = "csv",
	.summary = "object ids in columns (libCacheSim csv); headings, or --with "
		   "columns=time:2,id:5,size:4,op:3; --with time_unit=s|ms|us|ns",
	.valid = "TIME,OP,ID,SIZE, or as the headings or --with columns say",
	.time_unit = "as --with time_unit says (seconds)",
	.priv_size = sizeof(struct cachesim),
	.probe = csv_probe,
	.begin = csv_begin,
	.line = csv_line,
	.report = cachesim_report,
	.end = cachesim_end,
};

/* ---- txt: an id a line ---- */

static bool txt_line(struct import *im, const char *s, size_t n)
{
	while (n && (s[n - 1] == ' ' || s[n - 1] == '\t'))
		n--;
	while (n && (*s == ' ' || *s == '\t')) {
		s++;
		n--;
	}
	if (!n || memchr(s, 0, n) || memchr(s, ' ', n) || memchr(s, '\t', n))
		return import_bad(im, "not one object id");
	return object_access(im, objects_hash(s, n, 0), 0, false);
}

static bool txt_look(const char *s, const char *end)
{
	while (s < end && g_ascii_isalnum(*s))
		s++;
	return s == end;
}

static unsigned txt_probe(const char *head, size_t n)
{
	return printable(head, n) && text_probe(head, n, 40, txt_look) >= 95 ? 15 : 0;
}

static void txt_report(struct import *im, json_t *o)
{
	struct cachesim *c = im->priv;

	json_object_set_new(o, "distinct_objects", json_integer(c->objects.used));
}

const struct rs_importer import_txt = {
	.name = "txt",
	.summary = "one object id a line",
	.valid = "one id without blanks",
	.hash_comments = true,
	.priv_size = sizeof(struct cachesim),
	.probe = txt_probe,
	.begin = cachesim_begin,
	.line = txt_line,
	.report = txt_report,
	.end = cachesim_end,
};
