/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * import_blktrace.c - the binary stream of blktrace, version 7, either byte order.
 *
 * One file a CPU as blktrace leaves them, or merged (blkparse -d): several inputs are merged by
 * time. As with blkparse one action is counted, Q unless --with action=D or C.
 */
#include "traces/import.h"
#include "traces/import_text.h"

#define BLK_MAGIC 0x65617400u
#define BLK_VERSION 7u
#define BLK_HEADER 48u
#define BLK_READ 1u /* categories: upper half of the action */
#define BLK_WRITE 2u
#define BLK_NOTIFY 0x400u
#define BLK_DISCARD 0x2000u

static const char *const action_names[] = { "?", "Q", "M",  "F", "G", "S", "R", "D",	 "C",
					    "P", "U", "UT", "I", "X", "B", "A", "abort", "m" };

struct blktrace {
	bool swapped;
	struct tally *actions, *devices;
	json_t *process_names;
	unsigned counted;
	uint64_t bytes, notify, discards, discard_bytes, bad_before;
};

static uint32_t swap32(uint32_t v, bool swap)
{
	return swap ? GUINT32_SWAP_LE_BE(v) : v;
}

static uint32_t u32_at(const uint8_t *p, bool swapped)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return swap32(GUINT32_FROM_LE(v), swapped);
}

static uint64_t u64_at(const uint8_t *p, bool swapped)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	v = GUINT64_FROM_LE(v);
	return swapped ? GUINT64_SWAP_LE_BE(v) : v;
}

static uint32_t u16_at(const uint8_t *p, bool swapped)
{
	return swapped ? (uint32_t)p[0] << 8 | p[1] : (uint32_t)p[1] << 8 | p[0];
}

static unsigned blktrace_probe(const char *head, size_t n)
{
	uint32_t magic;

	if (n < 4)
		return 0;
	magic = u32_at((const uint8_t *)head, false) & ~0xffu;
	return magic == BLK_MAGIC || (u32_at((const uint8_t *)head, true) & ~0xffu) == BLK_MAGIC
		       ? 100
		       : 0;
}

static bool blktrace_begin(struct import *im, GError **error)
{
	struct blktrace *b = im->priv;
	const char *action = import_with(im, "action");

	b->actions = tally_new();
	b->devices = tally_new();
	b->process_names = json_object();
	for (b->counted = 1; action && b->counted < G_N_ELEMENTS(action_names); b->counted++)
		if (!strcmp(action_names[b->counted], action))
			break;
	if (b->counted < G_N_ELEMENTS(action_names))
		return true;
	g_set_error(error, RS_ERROR, RS_ERROR_USAGE,
		    "--with action=%s: not an action of blktrace such as Q, D or C", action);
	return false;
}

static void notify(struct blktrace *b, uint32_t what, uint32_t pid, const uint8_t *p, size_t n)
{
	char key[16];
	char *name, *valid;

	b->notify++;
	if (what || json_object_size(b->process_names) >= 4096)
		return;
	name = g_strndup((const char *)p, n);
	valid = g_utf8_make_valid(name, -1);
	g_snprintf(key, sizeof(key), "%u", pid);
	json_object_set_new(b->process_names, key, json_string(valid));
	g_free(name);
	g_free(valid);
}

static void access_record(struct import *im, uint32_t file, const uint8_t *p)
{
	struct blktrace *b = im->priv;
	uint64_t sector = u64_at(p + 16, b->swapped);
	uint32_t bytes = u32_at(p + 24, b->swapped);
	uint32_t category = u32_at(p + 28, b->swapped) >> 16;
	uint32_t pid = u32_at(p + 32, b->swapped);

	if (!bytes) {
		im->c.zero_length++;
		return;
	}
	if (sector >= 1ull << 54) {
		import_skip(im, "a sector that is too large");
		return;
	}
	import_thread(im, pid, pid);
	if (category & BLK_DISCARD) {
		b->discards++;
		b->discard_bytes += bytes;
		import_discard(im, file, sector << 9, bytes);
	} else if (category & (BLK_READ | BLK_WRITE)) {
		if (!import_io(im, file, category & BLK_WRITE, sector << 9, bytes))
			import_skip(im, im->why);
	}
}

static bool version_ok(struct import *im, uint32_t magic)
{
	if ((magic & 0xff) == BLK_VERSION)
		return true;
	g_set_error(&im->error, RS_ERROR, RS_ERROR_INPUT,
		    "%s: byte %" G_GUINT64_FORMAT
		    ": blktrace version %u is not supported; valid is "
		    "%u",
		    im->path, im->byte_no, magic & 0xff, BLK_VERSION);
	return false;
}

/* No record here: on to the next magic number, or all but three bytes. */
static size_t resync(struct import *im, const uint8_t *p, size_t n)
{
	struct blktrace *b = im->priv;
	size_t at = 1;

	while (at + 4 <= n && (u32_at(p + at, b->swapped) & ~0xffu) != BLK_MAGIC)
		at++;
	im->c.malformed++;
	import_skip(im, "bytes that are no record of blktrace");
	return at;
}

static size_t blktrace_record(struct import *im, const uint8_t *p, size_t n)
{
	struct blktrace *b = im->priv;
	uint32_t magic, action, what, device, pid;
	uint64_t ns;
	size_t size;
	char text[32];
	uint32_t file;

	if (n < BLK_HEADER)
		return 0;
	if (!im->byte_no)
		b->swapped = (u32_at(p, false) & ~0xffu) != BLK_MAGIC;
	magic = u32_at(p, b->swapped);
	if ((magic & ~0xffu) != BLK_MAGIC)
		return resync(im, p, n);
	if (!version_ok(im, magic))
		return n;
	size = BLK_HEADER + u16_at(p + 46, b->swapped);
	if (n < size)
		return 0;
	b->bytes += size;
	im->c.records++;
	action = u32_at(p + 28, b->swapped);
	pid = u32_at(p + 32, b->swapped);
	what = action & 0xff;
	if (action >> 16 & BLK_NOTIFY) {
		notify(b, action & 0xffff, pid, p + BLK_HEADER, size - BLK_HEADER);
		return size;
	}
	ns = u64_at(p + 8, b->swapped);
	g_snprintf(text, sizeof(text), "%" G_GUINT64_FORMAT, ns);
	import_time(im, text, strlen(text), ns);
	if (what >= G_N_ELEMENTS(action_names))
		what = 0;
	(*tally_at(b->actions, action_names[what], strlen(action_names[what])))++;
	device = u32_at(p + 36, b->swapped);
	g_snprintf(text, sizeof(text), "%u,%u", device >> 20, device & 0xfffff);
	(*tally_at(b->devices, text, strlen(text)))++;
	if (what == b->counted) {
		file = import_file(im, text, strlen(text));
		if (file != UINT32_MAX)
			access_record(im, file, p);
	}
	return size;
}

static void blktrace_report(struct import *im, json_t *o)
{
	struct blktrace *b = im->priv;

	json_object_set_new(o, "byte_order", json_string(b->swapped ? "big" : "little"));
	json_object_set_new(o, "version", json_integer(BLK_VERSION));
	json_object_set_new(o, "bytes",
			    json_integer((json_int_t)(b->bytes + im->c.left_over_bytes)));
	json_object_set_new(o, "notify_records", json_integer((json_int_t)b->notify));
	json_object_set_new(o, "actions", tally_object(b->actions));
	json_object_set_new(o, "counted_action", json_string(action_names[b->counted]));
	json_object_set_new(o, "discards", json_integer((json_int_t)b->discards));
	json_object_set_new(o, "discard_bytes", json_integer((json_int_t)b->discard_bytes));
	json_object_set_new(o, "devices", tally_array(b->devices));
	json_object_set(o, "process_names", b->process_names);
}

static void blktrace_end(struct import *im)
{
	struct blktrace *b = im->priv;

	tally_free(b->actions);
	tally_free(b->devices);
	json_decref(b->process_names);
}

const struct rs_importer import_blktrace = {
	.name = "blktrace",
	.summary = "binary stream of blktrace; several files (one a CPU) are merged by time",
	.valid = "records of 48 bytes and more that begin with the magic number 0x65617407",
	.time_unit = "nanoseconds (clock of the recorder)",
	.number_time = true,
	.priv_size = sizeof(struct blktrace),
	.probe = blktrace_probe,
	.begin = blktrace_begin,
	.record = blktrace_record,
	.report = blktrace_report,
	.end = blktrace_end,
};
