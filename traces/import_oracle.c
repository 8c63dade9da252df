/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * import_oracle.c - binary traces of cache research: oracleGeneral of libCacheSim (24 bytes a
 * record) and vscsi of CloudPhysics (32 bytes, version 1, or 40, version 2).
 *
 * An object of oracleGeneral is one page of the file "objects", numbered in order of first
 * appearance; a vscsi request is a range of the file "disk". Both are calls through a descriptor.
 */
#include "traces/import_objects.h"
#include "traces/import_text.h"

#define ORACLE_RECORD 24u

struct oracle {
	struct objects objects;
	uint64_t object_bytes, zero_size, never_again;
	uint32_t file;
	/* vscsi */
	struct tally *opcodes;
	unsigned version, size;
};

static uint64_t le(const uint8_t *p, unsigned bytes)
{
	uint64_t v = 0;

	while (bytes--)
		v = v << 8 | p[bytes];
	return v;
}

static void stamp(struct import *im, uint64_t value, uint64_t unit_ns)
{
	char text[24];

	g_snprintf(text, sizeof(text), "%" G_GUINT64_FORMAT, value);
	import_time(im, text, strlen(text), value > UINT64_MAX / unit_ns ? 0 : value * unit_ns);
}

/* Time does not fall far, sizes are sane, next accesses lie ahead. */
static unsigned oracle_probe(const char *head, size_t n)
{
	const uint8_t *p = (const uint8_t *)head;
	uint64_t before = 0;
	size_t i;

	for (i = 0; i < 256 && (i + 1) * ORACLE_RECORD <= n; i++, p += ORACLE_RECORD) {
		uint64_t time = le(p, 4), size = le(p + 12, 4), next = le(p + 16, 8);

		if (size > 1u << 30 || (next < UINT64_MAX / 2 && (next > 1ull << 40 || next < i)) ||
		    (next > UINT64_MAX / 2 && next != UINT64_MAX) || time + 3600 < before)
			return 0;
		before = time;
	}
	return i > 1 && memchr(head, 0, n) ? 50 : 0;
}

static size_t oracle_record(struct import *im, const uint8_t *p, size_t n)
{
	struct oracle *c = im->priv;
	uint64_t size, next;
	uint32_t number;

	if (n < ORACLE_RECORD)
		return 0;
	if (!im->c.records) {
		import_thread(im, 0, 0);
		c->file = import_file(im, "objects", 7);
	}
	size = le(p + 12, 4);
	next = le(p + 16, 8);
	stamp(im, le(p, 4), 1000000000);
	number = objects_number(im, &c->objects, objects_hash(p + 4, 8, 0));
	if (number == OBJECTS_NONE || c->file == UINT32_MAX)
		return n;
	im->c.reads++;
	im->c.bytes_read += size;
	im->c.page_accesses++;
	pageset_add(&im->pages, 0, number, 1);
	import_io_record(im, c->file, false, (uint64_t)number << 12, RS_PAGE_SIZE);
	c->object_bytes += size;
	c->zero_size += !size;
	c->never_again += next >= INT64_MAX;
	im->c.records++;
	return ORACLE_RECORD;
}

static void oracle_report(struct import *im, json_t *o)
{
	struct oracle *c = im->priv;
	uint64_t bytes = im->c.records * ORACLE_RECORD + im->c.left_over_bytes;

	json_object_set_new(o, "record_bytes", json_integer(ORACLE_RECORD));
	json_object_set_new(o, "bytes", json_integer((json_int_t)bytes));
	json_object_set_new(o, "distinct_objects", json_integer(c->objects.used));
	json_object_set_new(o, "object_bytes", json_integer((json_int_t)c->object_bytes));
	json_object_set_new(o, "zero_size", json_integer((json_int_t)c->zero_size));
	json_object_set_new(o, "never_again", json_integer((json_int_t)c->never_again));
}

static void oracle_end(struct import *im)
{
	struct oracle *c = im->priv;

	objects_clear(&c->objects);
	tally_free(c->opcodes);
}

const struct rs_importer import_oracle_general = {
	.name = "oracleGeneral",
	.summary = "libCacheSim's binary oracleGeneral",
	.valid = "records of 24 bytes: u32 time, u64 object, u32 size, i64 next access",
	.time_unit = "seconds",
	.number_time = true,
	.priv_size = sizeof(struct oracle),
	.probe = oracle_probe,
	.record = oracle_record,
	.report = oracle_report,
	.end = oracle_end,
};

/* ---- vscsi ---- */

static unsigned vscsi_version(const uint8_t *p, size_t n)
{
	if (n >= 32 && le(p + 14, 2) == 0x0100 && (n < 64 || le(p + 32 + 14, 2) == 0x0100))
		return 1;
	if (n >= 40 && le(p + 2, 2) == 0x0200 && (n < 80 || le(p + 40 + 2, 2) == 0x0200))
		return 2;
	return 0;
}

static unsigned vscsi_probe(const char *head, size_t n)
{
	return vscsi_version((const uint8_t *)head, n) ? 70 : 0;
}

static bool vscsi_begin(struct import *im, GError **error)
{
	((struct oracle *)im->priv)->opcodes = tally_new();
	return true;
}

static bool is_read(unsigned op)
{
	return op == 0x08 || op == 0x28 || op == 0x88 || op == 0xa8;
}

static bool is_write(unsigned op)
{
	return op == 0x0a || op == 0x2a || op == 0x8a || op == 0xaa;
}

static void vscsi_access(struct import *im, unsigned op, uint64_t lbn, uint64_t bytes)
{
	struct oracle *c = im->priv;
	char text[16];

	g_snprintf(text, sizeof(text), "0x%02x", op);
	(*tally_at(c->opcodes, text, strlen(text)))++;
	if (!is_read(op) && !is_write(op))
		import_skip(im, "a SCSI command that is no read or write");
	else if (lbn >= 1ull << 54)
		import_skip(im, "a block number that is too large");
	else if (!import_io(im, c->file, is_write(op), lbn << 9, bytes))
		import_skip(im, im->why);
}

static size_t vscsi_record(struct import *im, const uint8_t *p, size_t n)
{
	struct oracle *c = im->priv;

	if (!c->version) {
		c->version = vscsi_version(p, n);
		if (!c->version) {
			if (n < 80)
				return 0;
			g_set_error(&im->error, RS_ERROR, RS_ERROR_INPUT,
				    "%s: no version field of vscsi 1 (0x0100 at byte 14) or 2 "
				    "(0x0200 at byte 2) in the first records",
				    im->path);
			return n;
		}
		c->size = c->version == 1 ? 32 : 40;
		import_thread(im, 0, 0);
		c->file = import_file(im, "disk", 4);
	}
	if (n < c->size)
		return 0;
	if (c->version == 1) {
		stamp(im, le(p + 24, 8), 1000);
		vscsi_access(im, (unsigned)le(p + 12, 2), le(p + 16, 8), le(p + 4, 4));
	} else {
		stamp(im, le(p + 24, 8), 1000);
		vscsi_access(im, (unsigned)le(p, 2), le(p + 16, 8), le(p + 8, 4));
	}
	im->c.records++;
	return c->size;
}

static void vscsi_report(struct import *im, json_t *o)
{
	struct oracle *c = im->priv;

	json_object_set_new(o, "version", json_integer(c->version));
	json_object_set_new(o, "record_bytes", json_integer(c->size));
	json_object_set_new(
		o, "bytes",
		json_integer((json_int_t)(im->c.records * c->size + im->c.left_over_bytes)));
	json_object_set_new(o, "scsi_opcodes", tally_object(c->opcodes));
}

const struct rs_importer import_vscsi = {
	.name = "vscsi",
	.summary = "CloudPhysics vscsi block traces, versions 1 and 2",
	.valid = "records of 32 bytes (version 1) or 40 (version 2), little endian",
	.time_unit = "microseconds",
	.number_time = true,
	.priv_size = sizeof(struct oracle),
	.probe = vscsi_probe,
	.begin = vscsi_begin,
	.record = vscsi_record,
	.report = vscsi_report,
	.end = oracle_end,
};
