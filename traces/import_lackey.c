/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * import_lackey.c - valgrind --tool=lackey --trace-mem=yes.
 *
 * One process, accesses through the page table, no time and no mappings: memory is anonymous (see
 * import_sink.c). A modify (M) is one store. Several logs are several processes.
 */
#include "traces/import.h"
#include "traces/import_text.h"

#define LACKEY_MAX_SIZE (1u << 20) /* no instruction touches more */

struct lackey {
	uint64_t instr, loads, stores, modifies, data_page_accesses, crossing;
};

/* "I  ADDR,SIZE" or " L ADDR,SIZE"; ADDR at least 8 lower-case hex digits without 0x. */
static inline bool split(const char *s, const char *end, uint64_t *address, uint64_t *size)
{
	const char *p = s + 3;
	uint64_t a = 0;

	if (end - s < 13)
		return false;
	if (s[0] == 'I' ? s[1] != ' ' : s[0] != ' ' || (s[1] != 'L' && s[1] != 'S' && s[1] != 'M'))
		return false;
	if (s[2] != ' ')
		return false;
	for (; p < end && *p != ','; p++) {
		unsigned digit = (unsigned char)*p - '0';

		if (digit > 9) {
			digit = (unsigned char)*p - 'a';
			if (digit > 5)
				return false;
			digit += 10;
		}
		if (a >> 60)
			return false;
		a = a << 4 | digit;
	}
	if (p - s < 3 + 8 || p == end)
		return false;
	p++;
	if (!text_u64(&p, end, size) || p != end || *size > LACKEY_MAX_SIZE)
		return false;
	*address = a;
	return true;
}

static bool lackey_look(const char *s, const char *end)
{
	uint64_t address, size;

	return split(s, end, &address, &size) || (end - s > 4 && s[0] == '=' && s[1] == '=');
}

static unsigned lackey_probe(const char *head, size_t n)
{
	unsigned share = text_probe(head, n, 60, lackey_look);
	const char *end = head + n;

	/* Other tools of valgrind print banners, too. */
	if (share < 50 || !(memmem(head, n, "Lackey", 6) || text_find(head, end, "\nI  ", NULL) ||
			    text_find(head, end, " S ", NULL) ||
			    text_find(head, end, " L ", NULL) || *head == 'I'))
		return 0;
	return 90;
}

static bool lackey_line(struct import *im, const char *s, size_t n)
{
	struct lackey *l = im->priv;
	uint64_t address, size, before = im->c.page_accesses;
	char kind;

	if (!split(s, s + n, &address, &size)) {
		if (n >= 2 && s[0] == '=' && s[1] == '=') {
			im->c.other_lines++;
			return true;
		}
		return import_bad(im, "not a line of lackey");
	}
	kind = *s == 'I' ? 'I' : s[1];
	import_thread(im, im->input, im->input);
	if (!import_touch(im, address, size,
			  kind == 'I'	? TOUCH_EXEC
			  : kind == 'L' ? TOUCH_READ
					: TOUCH_WRITE))
		return false;
	im->c.records++;
	before = im->c.page_accesses - before;
	l->crossing += before > 1;
	if (kind == 'I') {
		l->instr++;
		return true;
	}
	l->data_page_accesses += before;
	if (kind == 'L')
		l->loads++;
	else if (kind == 'S')
		l->stores++;
	else
		l->modifies++;
	return true;
}

static void lackey_report(struct import *im, json_t *o)
{
	struct lackey *l = im->priv;
	uint64_t data = import_touched_pages(im, true);

	json_object_set_new(o, "instr", json_integer((json_int_t)l->instr));
	json_object_set_new(o, "loads", json_integer((json_int_t)l->loads));
	json_object_set_new(o, "stores", json_integer((json_int_t)l->stores));
	json_object_set_new(o, "modifies", json_integer((json_int_t)l->modifies));
	json_object_set_new(o, "reads", json_integer((json_int_t)(l->instr + l->loads)));
	json_object_set_new(o, "writes", json_integer((json_int_t)(l->stores + l->modifies)));
	json_object_set_new(o, "data_page_accesses",
			    json_integer((json_int_t)l->data_page_accesses));
	json_object_set_new(o, "distinct_data_pages", json_integer((json_int_t)data));
	json_object_set_new(o, "page_crossing_records", json_integer((json_int_t)l->crossing));
}

const struct rs_importer import_lackey = {
	.name = "lackey",
	.summary = "valgrind --tool=lackey --trace-mem=yes",
	.valid =
		"\"I  ADDRESS,SIZE\", \" L ADDRESS,SIZE\", \" S ...\", \" M ...\" (hex without 0x)",
	.direct = true,
	.priv_size = sizeof(struct lackey),
	.probe = lackey_probe,
	.line = lackey_line,
	.report = lackey_report,
};
