/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * import_csv.c - block traces in comma-separated columns, by one reader and a table of layouts:
 * MSR Cambridge, SPC, Alibaba, Tencent, SYSTOR 17.
 *
 * The device (volume, LUN, host and disk) is the file, requests are calls through a descriptor.
 * These are requests that missed the page cache of the machine they were recorded on.
 */
#include "traces/import.h"
#include "traces/import_text.h"

#define CSV_MAX_FIELDS 16

enum csv_op {
	OP_RW, /* R r W w, also as the first letter of a word */
	OP_01, /* 0 read, 1 write */
};

struct csv_layout {
	const char *prefix;						/* of the device's name */
	uint8_t time, op, offset, length, device, device_parts, fields; /* columns from 0 */
	uint8_t more_fields;						/* as many may follow */
	enum csv_op op_kind;
	uint64_t time_ns;		   /* of one unit; 0: decimal seconds */
	uint16_t offset_unit, length_unit; /* bytes */
};

/* Indexed by what the importer's priv begins with; see CSV_IMPORTER below. */
static const struct csv_layout msr = { "", 0, 3, 4, 5, 1, 2, 7, 0, OP_RW, 100, 1, 1 };
static const struct csv_layout spc = { "asu", 4, 3, 1, 2, 0, 1, 5, 8, OP_RW, 0, 512, 1 };
static const struct csv_layout alibaba = { "device", 4, 1, 2, 3, 0, 1, 5, 0, OP_RW, 1000, 1, 1 };
static const struct csv_layout tencent = { "volume", 0, 3,     1,	   2,	4,  1,
					   5,	     0, OP_01, 1000000000, 512, 512 };
static const struct csv_layout systor17 = { "lun", 0, 2, 4, 5, 3, 1, 6, 0, OP_RW, 0, 1, 1 };

struct csv {
	const struct csv_layout *layout;
	char device[64];
	size_t device_n;
	uint32_t file;
};

struct fields {
	unsigned n;
	const char *at[CSV_MAX_FIELDS], *end[CSV_MAX_FIELDS];
};

static void split(const char *p, const char *end, struct fields *f)
{
	f->n = 0;
	while (f->n < CSV_MAX_FIELDS) {
		const char *comma = memchr(p, ',', (size_t)(end - p));
		const char *stop = comma ? comma : end;
		const char *first = p, *last = stop;

		while (first < last && *first == ' ')
			first++;
		while (last > first && last[-1] == ' ')
			last--;
		f->at[f->n] = first;
		f->end[f->n++] = last;
		if (!comma)
			return;
		p = comma + 1;
	}
	f->n++; /* too many */
}

struct request {
	bool write;
	uint64_t ns, offset, length;
};

static bool whole(const struct fields *f, unsigned i, uint64_t unit, uint64_t *ret)
{
	const char *p = f->at[i];

	if (!text_u64(&p, f->end[i], ret) || p != f->end[i] || *ret > UINT64_MAX / unit)
		return false;
	*ret *= unit;
	return true;
}

static bool take_op(const struct fields *f, unsigned i, enum csv_op kind, bool *write)
{
	size_t n = (size_t)(f->end[i] - f->at[i]);
	char c = n ? *f->at[i] : 0;

	if (kind == OP_01) {
		*write = c == '1';
		return n == 1 && (c == '0' || c == '1');
	}
	*write = (c | 0x20) == 'w';
	return (n == 1 && ((c | 0x20) == 'r' || (c | 0x20) == 'w')) ||
	       (n == 4 && !g_ascii_strncasecmp(f->at[i], "read", 4)) ||
	       (n == 5 && !g_ascii_strncasecmp(f->at[i], "write", 5));
}

/* NULL: fine; else what is wrong. */
static const char *take(const struct csv_layout *l, const struct fields *f, struct request *r)
{
	const char *p;

	if (f->n < l->fields || f->n > (unsigned)l->fields + l->more_fields)
		return "not the number of columns of this format";
	p = f->at[l->time];
	if (l->time_ns ? !whole(f, l->time, 1, &r->ns)
		       : !text_seconds(&p, f->end[l->time], &r->ns) || p != f->end[l->time])
		return "the time is no number";
	if (!take_op(f, l->op, l->op_kind, &r->write))
		return "neither a read nor a write";
	if (!whole(f, l->offset, l->offset_unit, &r->offset))
		return "the offset is no number, or too large";
	if (!whole(f, l->length, l->length_unit, &r->length))
		return "the length is no number, or too large";
	if (f->end[l->device] == f->at[l->device])
		return "no device";
	/* FILETIME counts 100 ns since 1601: only differences fit into 64 bits of ns. */
	if (l->time_ns == 100)
		r->ns -= 116444736000000000u;
	r->ns *= l->time_ns ? l->time_ns : 1;
	return NULL;
}

static bool is_header(const struct fields *f)
{
	for (unsigned i = 0; i < MIN(f->n, CSV_MAX_FIELDS); i++)
		if (f->at[i] == f->end[i] || !g_ascii_isalpha(*f->at[i]))
			return false;
	return f->n > 1;
}

static void find_device(struct import *im, struct csv *csv, const char *s, size_t n)
{
	char name[128];

	if (csv->device_n == n && !memcmp(csv->device, s, n))
		return;
	g_snprintf(name, sizeof(name), "%s%.*s", csv->layout->prefix, (int)MIN(n, 64), s);
	csv->file = import_file(im, name, strlen(name));
	csv->device_n = n <= sizeof(csv->device) ? n : 0;
	memcpy(csv->device, s, csv->device_n);
}

static bool csv_line(struct import *im, const char *s, size_t n)
{
	struct csv *csv = im->priv;
	const struct csv_layout *l = csv->layout;
	struct fields f;
	struct request r;
	const char *why, *device, *device_end;

	split(s, s + n, &f);
	why = take(l, &f, &r);
	if (why) {
		if (im->line_no == 1 && is_header(&f)) {
			im->c.header_lines++;
			return true;
		}
		return import_bad(im, why);
	}
	device = f.at[l->device];
	device_end = f.end[l->device + l->device_parts - 1];
	import_thread(im, 0, 0);
	find_device(im, csv, device, (size_t)(device_end - device));
	if (r.length > IMPORT_MAX_IO || r.offset > (1ull << 62))
		return import_bad(im, "an offset or a length that no request has");
	import_time(im, f.at[l->time], (size_t)(f.end[l->time] - f.at[l->time]), r.ns);
	if (!import_io(im, csv->file, r.write, r.offset, r.length))
		return false;
	im->c.records++;
	return true;
}

static unsigned probe(const struct csv_layout *l, const char *head, size_t n, unsigned sure)
{
	const char *s = head, *end = head + n;
	unsigned lines = 0, good = 0;

	while (s < end && lines < 40) {
		const char *nl = memchr(s, '\n', (size_t)(end - s));
		const char *stop = nl ? nl : end;
		struct fields f;
		struct request r;

		if (!nl && lines)
			break;
		if (stop > s && stop[-1] == '\r')
			stop--;
		split(s, stop, &f);
		if (stop > s && *s != '#' && !(s == head && is_header(&f))) {
			lines++;
			good += !take(l, &f, &r);
		}
		s = nl ? nl + 1 : end;
	}
	return lines && good * 100 >= lines * 80 ? sure : 0;
}

#define CSV_IMPORTER(kind, about, columns, unit, number, sure)                                     \
	static unsigned kind##_probe(const char *head, size_t n)                                   \
	{                                                                                          \
		return probe(&kind, head, n, sure);                                                \
	}                                                                                          \
	static bool kind##_begin(struct import *im, GError **error)                                \
	{                                                                                          \
		((struct csv *)im->priv)->layout = &kind;                                          \
		return true;                                                                       \
	}                                                                                          \
	const struct rs_importer import_##kind = {                                                 \
		.name = #kind,                                                                     \
		.summary = about,                                                                  \
		.valid = columns,                                                                  \
		.time_unit = unit,                                                                 \
		.number_time = number,                                                             \
		.hash_comments = true,                                                             \
		.priv_size = sizeof(struct csv),                                                   \
		.probe = kind##_probe,                                                             \
		.begin = kind##_begin,                                                             \
		.line = csv_line,                                                                  \
	}

CSV_IMPORTER(msr, "MSR Cambridge block traces (SNIA IOTTA 388)",
	     "FILETIME,HOST,DISK,Read|Write,OFFSET,SIZE,RESPONSE (bytes)",
	     "Windows FILETIME, 100 ns since 1601", true, 80);
CSV_IMPORTER(spc, "SPC traces of the UMass repository",
	     "ASU,LBA,SIZE,R|W,SECONDS (LBA in 512 bytes, SIZE in bytes)",
	     "seconds since the start", false, 70);
CSV_IMPORTER(alibaba, "Alibaba block traces", "DEVICE,R|W,OFFSET,LENGTH,MICROSECONDS (bytes)",
	     "microseconds since 1970", true, 75);
CSV_IMPORTER(tencent, "Tencent CBS block traces (SNIA IOTTA 27917)",
	     "SECONDS,OFFSET,SIZE,0|1,VOLUME (512-byte sectors; 1 = write)", "seconds since 1970",
	     true, 60);
CSV_IMPORTER(systor17, "SYSTOR 17 block traces (SNIA IOTTA 4928)",
	     "Timestamp,Response,IOType,LUN,Offset,Size (seconds, bytes)",
	     "seconds since 1970 (decimal)", false, 80);
