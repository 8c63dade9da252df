/* SPDX-License-Identifier: GPL-2.0-or-later */
/* import_events.c - see import_events.h. */
#include "traces/import_events.h"

#include "traces/import_text.h"

#define MAX_ORDER 20u

void events_init(struct events *e)
{
	e->by_name = tally_new();
	e->comms = tally_new();
	e->pids = tally_new();
	e->lru = tally_new();
	e->mappings = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	e->added_files = g_hash_table_new(NULL, NULL);
}

void events_done(struct events *e)
{
	if (!e->by_name)
		return;
	tally_free(e->by_name);
	tally_free(e->comms);
	tally_free(e->pids);
	tally_free(e->lru);
	g_hash_table_destroy(e->mappings);
	g_hash_table_destroy(e->added_files);
	pageset_clear(&e->added);
}

const char *events_find_time(const char *s, const char *end, const char **colon)
{
	const char *p = s;

	while ((p = memchr(p, ':', (size_t)(end - p)))) {
		const char *q = p;

		while (q > s && g_ascii_isdigit(q[-1]))
			q--;
		if (q < p && q > s && q[-1] == '.') {
			const char *dot = --q;

			while (q > s && g_ascii_isdigit(q[-1]))
				q--;
			if (q < dot && q > s && (q[-1] == ' ' || q[-1] == '\t') &&
			    (p + 1 == end || p[1] == ' ' || p[1] == '\t')) {
				*colon = p;
				return q;
			}
		}
		p++;
	}
	return NULL;
}

/* "dev M:m ino HEX" or "dev=M:m ino=HEX": the file M:m/HEX. */
static bool file_of(struct import *im, const char *s, const char *end, uint32_t *file)
{
	const char *dev, *ino;
	size_t dev_n = 0, ino_n = 0;
	char name[96];

	if (!text_find(s, end, "dev", &dev) || !text_find(s, end, " ino", &ino))
		return false;
	dev += 4;
	ino += 5;
	if (dev >= end || ino >= end)
		return false;
	while (dev + dev_n < end && (g_ascii_isdigit(dev[dev_n]) || dev[dev_n] == ':'))
		dev_n++;
	while (ino + ino_n < end && g_ascii_isxdigit(ino[ino_n]))
		ino_n++;
	if (!dev_n || !ino_n || dev_n > 32 || ino_n > 32)
		return false;
	g_snprintf(name, sizeof(name), "%.*s/%.*s", (int)dev_n, dev, (int)ino_n, ino);
	*file = import_file(im, name, strlen(name));
	return *file != UINT32_MAX;
}

static bool added(struct import *im, struct events *e, const struct kevent *k, bool is_add)
{
	uint64_t offset, order = 0, pages;
	uint32_t file;

	if (!text_field_number(k->text, k->end, "ofs", &offset) || offset > 1ull << 62)
		return import_bad(im, "no ofs=");
	text_field_number(k->text, k->end, "order", &order);
	if (order > MAX_ORDER)
		return import_bad(im, "an order that no folio has");
	if (!file_of(im, k->text, k->end, &file))
		return im->error || import_bad(im, "no dev and ino");
	pages = 1ull << order;
	if (!is_add) {
		e->pages_deleted += pages;
		return true;
	}
	e->pages_added += pages;
	pageset_add(&e->added, file, offset >> RS_PAGE_SHIFT, pages);
	g_hash_table_add(e->added_files, GUINT_TO_POINTER(file + 1));
	import_thread(im, k->pid, k->tid);
	im->mark = true;
	import_io_record(im, file, false, offset, pages << RS_PAGE_SHIFT);
	im->mark = false;
	return true;
}

static bool looked_up(struct import *im, struct events *e, const struct kevent *k)
{
	uint64_t first, last;
	uint32_t file;
	const char *p;

	if (!text_field(k->text, k->end, "ofs", &p) || !text_u64(&p, k->end, &first) ||
	    !text_char(&p, k->end, '-') || !text_u64(&p, k->end, &last) || last < first ||
	    last > 1ull << 62 || last - first >= IMPORT_MAX_IO)
		return import_bad(im, "no ofs=FIRST-LAST");
	if (!file_of(im, k->text, k->end, &file))
		return im->error || import_bad(im, "no dev and ino");
	e->lookups++;
	im->drop_marked = true;
	import_thread(im, k->pid, k->tid);
	return import_io(im, file, false, first, last - first + 1);
}

/* A load through a mapping of 2 MiB of the file, made at its first fault. */
static bool file_fault(struct import *im, struct events *e, const struct kevent *k)
{
	uint64_t offset, page;
	uint32_t i, region;
	struct import_file *file;
	void *found;
	char *key;
	struct rs_record record = { .op = RS_OP_MMAP };
	struct rs_map map = { .prot = VM_READ | VM_EXEC, .pages = RS_PTRS_PER_TABLE };

	if (!text_field_number(k->text, k->end, "ofs", &offset) || offset > 1ull << 62)
		return import_bad(im, "no ofs=");
	if (!file_of(im, k->text, k->end, &i))
		return im->error || import_bad(im, "no dev and ino");
	page = offset >> RS_PAGE_SHIFT;
	e->lookups++;
	im->drop_marked = true;
	if (page >= IMPORT_MAX_PAGE - RS_PTRS_PER_TABLE) {
		import_skip(im, "access above 16 TiB of a file (no record, but counted)");
		return true;
	}
	import_thread(im, k->pid, k->tid);
	im->c.page_accesses++;
	pageset_add(&im->pages, i, page, 1);
	file = import_file_at(im, i);
	file->used = true;
	key = g_strdup_printf("%x/%x/%x", import_space(im), i, (unsigned)(page >> 9));
	found = g_hash_table_lookup(e->mappings, key);
	region = found ? GPOINTER_TO_UINT(found) - 1 : 0;
	if (!found && g_hash_table_size(e->mappings) >= IMPORT_MAX_REGIONS) {
		g_set_error(&im->error, RS_ERROR, RS_ERROR_INPUT,
			    "%s: faults in more than %u different 2 MiB blocks of files; this is "
			    "the limit of one trace",
			    im->path, IMPORT_MAX_REGIONS);
	} else if (!found) {
		region = import_region(im);
		g_hash_table_insert(e->mappings, g_strdup(key), GUINT_TO_POINTER(region + 1));
		map.file = file->id;
		map.pgoff = page & ~(uint64_t)(RS_PTRS_PER_TABLE - 1);
		import_file_reaches(im, i, map.pgoff + RS_PTRS_PER_TABLE, false);
		record.object = region;
		import_put(im, &record, &map);
	}
	g_free(key);
	record = (struct rs_record){ .op = RS_OP_LOAD,
				     .object = region,
				     .page = page & (RS_PTRS_PER_TABLE - 1),
				     .count = 1 };
	import_put(im, &record, NULL);
	return true;
}

static bool page_fault(struct import *im, struct events *e, const struct kevent *k)
{
	uint64_t address, code = 0;
	const char *p;
	enum import_touch kind = TOUCH_READ;

	if (!text_field_number(k->text, k->end, "address", &address))
		return import_bad(im, "no address=0x...");
	/* Before 4.19 the kernel's %pf is left as an f behind the digits. */
	if (address >= IMPORT_MAX_ADDRESS && (address & 15) == 15 &&
	    address >> 4 < IMPORT_MAX_ADDRESS)
		address >>= 4;
	if (text_field(k->text, k->end, "error_code", &p) && !text_number(&p, k->end, &code))
		return import_bad(im, "a damaged error_code");
	e->faults++;
	if (code & 2) {
		e->fault_writes++;
		kind = TOUCH_WRITE;
	} else if (code & 16) {
		e->fault_instruction++;
		kind = TOUCH_EXEC;
	} else {
		e->fault_reads++;
	}
	import_thread(im, k->pid, k->tid);
	return import_touch(im, address, 1, kind);
}

/* page-faults: ADDR ..., and memory samples: ADDR [DATA_SRC] |OP LOAD|... */
static bool sampled(struct import *im, const struct kevent *k, const char *decoded)
{
	const char *p = k->text, *at;
	uint64_t address;
	bool store = decoded && text_find(decoded, k->end, "|OP STORE", &at);

	text_blanks(&p, k->end);
	text_word(&p, k->end, "0x");
	if (!text_hex(&p, k->end, &address))
		return import_bad(im, "no address behind the event");
	import_thread(im, k->pid, k->tid);
	if (store)
		im->c.writes++;
	else
		im->c.reads++;
	return import_touch(im, address, 1, store ? TOUCH_WRITE : TOUCH_READ);
}

static void vmscan(struct events *e, const struct kevent *k)
{
	uint64_t n;
	const char *p, *q;

	if (text_is(k->name, k->name_n, "mm_vmscan_lru_isolate")) {
		if (text_field_number(k->text, k->end, "nr_taken", &n) &&
		    text_field(k->text, k->end, "lru", &p)) {
			for (q = p; q < k->end && *q != ' '; q++)
				;
			*tally_at(e->lru, p, (size_t)(q - p)) += n;
		}
	} else if (text_is(k->name, k->name_n, "mm_vmscan_lru_shrink_inactive")) {
		if (text_field_number(k->text, k->end, "nr_scanned", &n))
			e->inactive_scanned += n;
		if (text_field_number(k->text, k->end, "nr_reclaimed", &n))
			e->inactive_reclaimed += n;
	} else if (text_is(k->name, k->name_n, "mm_vmscan_lru_shrink_active")) {
		if (text_field_number(k->text, k->end, "nr_deactivated", &n))
			e->active_deactivated += n;
	} else if (text_field_number(k->text, k->end, "nr_reclaimed", &n)) {
		e->reclaim_end_total += n;
	}
}

static bool handle(struct import *im, struct events *e, const struct kevent *k)
{
	const char *decoded;

	if (text_is(k->name, k->name_n, "mm_filemap_add_to_page_cache"))
		return added(im, e, k, true);
	if (text_is(k->name, k->name_n, "mm_filemap_delete_from_page_cache"))
		return added(im, e, k, false);
	if (text_is(k->name, k->name_n, "mm_filemap_get_pages"))
		return looked_up(im, e, k);
	if (text_is(k->name, k->name_n, "mm_filemap_fault"))
		return file_fault(im, e, k);
	if (text_is(k->name, k->name_n, "page_fault_user") ||
	    text_is(k->name, k->name_n, "page_fault_kernel"))
		return page_fault(im, e, k);
	if (text_is(k->name, k->name_n, "page-faults"))
		return sampled(im, k, NULL);
	if (text_find(k->text, k->end, "|OP ", &decoded))
		return sampled(im, k, decoded);
	if (k->name_n > 9 && !memcmp(k->name, "mm_vmscan", 9))
		vmscan(e, k);
	if (k->name_n > 4 && !memcmp(k->name, "sys_", 4))
		import_skip(im,
			    "system-call events (files are pointers in them; strace has names)");
	else if (text_is(k->name, k->name_n, "mm_filemap_map_pages"))
		import_skip(im, "map_pages events (what fault-around did, no access)");
	else
		import_skip(im, "events that are no access");
	return true;
}

bool events_take(struct import *im, struct events *e, const struct kevent *k)
{
	char pid[24];

	if (k->stamp)
		import_time(im, k->stamp, k->stamp_n, k->ns);
	if (!handle(im, e, k))
		return false;
	if (e->short_names)
		(*tally_at(e->by_name, k->name, k->name_n))++;
	else
		(*tally_at(e->by_name, k->full, k->full_n))++;
	(*tally_at(e->comms, k->comm, k->comm_n))++;
	g_snprintf(pid, sizeof(pid), "%" G_GUINT64_FORMAT, k->pid);
	(*tally_at(e->pids, pid, strlen(pid)))++;
	im->c.records++;
	return true;
}

static void set(json_t *o, const char *key, uint64_t value)
{
	json_object_set_new(o, key, json_integer((json_int_t)value));
}

void events_report(struct import *im, const struct events *e, json_t *o)
{
	json_object_set_new(o, "events", tally_object(e->by_name));
	json_object_set_new(o, "comms", tally_array(e->comms));
	set(o, "pids", tally_size(e->pids));
	set(o, "faults", e->faults);
	set(o, "fault_writes", e->fault_writes);
	set(o, "fault_instruction", e->fault_instruction);
	set(o, "fault_reads", e->fault_reads);
	set(o, "distinct_pid_pages", import_touched_pages(im, false));
	set(o, "page_cache_pages_added", e->pages_added);
	set(o, "page_cache_pages_deleted", e->pages_deleted);
	set(o, "distinct_file_pages_added", e->added.pages);
	set(o, "files", g_hash_table_size(e->added_files));
	json_object_set_new(o, "isolated_pages", tally_object(e->lru));
	set(o, "inactive_scanned", e->inactive_scanned);
	set(o, "inactive_reclaimed", e->inactive_reclaimed);
	set(o, "active_deactivated", e->active_deactivated);
	set(o, "reclaim_end_total", e->reclaim_end_total);
	if (!im->drop_marked) {
		/* Misses are all there is: they are the accesses of the trace. */
		set(o, "page_accesses", im->c.page_accesses + e->pages_added);
		set(o, "distinct_pages",
		    im->pages.pages + import_touched_pages(im, false) + e->added.pages);
	}
}
