/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * import_pin.c - pinatrace of Intel Pin, and the changed copies of it that people write.
 *
 * "IP: R ADDRESS" with 0x, or "R ADDRESS" in hex or decimal, with or without a size behind it.
 * Words are split at blanks, tabs, commas and colons; the first one that is R or W (L, S, M, too)
 * is the operation, the number behind it the address, the next one the size. --with radix=16
 * reads numbers without 0x as hex; --with columns=OP,ADDRESS[,SIZE[,THREAD]] (from 1) says
 * where the words are.
 */
#include "traces/import.h"
#include "traces/import_text.h"

#define PIN_MAX_WORDS 16

struct pin {
	bool hex;
	unsigned op, address, size, thread; /* columns from 1; 0: found by shape, or absent */
};

struct words {
	unsigned n;
	const char *at[PIN_MAX_WORDS], *end[PIN_MAX_WORDS];
};

static bool separates(char c)
{
	return c == ' ' || c == '\t' || c == ',' || c == ':';
}

static void split(const char *p, const char *end, struct words *w)
{
	w->n = 0;
	while (w->n < PIN_MAX_WORDS) {
		while (p < end && separates(*p))
			p++;
		if (p == end)
			return;
		w->at[w->n] = p;
		while (p < end && !separates(*p))
			p++;
		w->end[w->n++] = p;
	}
}

static bool number(const struct pin *pin, const char *p, const char *end, uint64_t *ret)
{
	bool prefixed = end - p > 2 && p[0] == '0' && (p[1] == 'x' || p[1] == 'X');

	if (pin->hex && !prefixed)
		return text_hex(&p, end, ret) && p == end;
	return text_number(&p, end, ret) && p == end;
}

static int op_of(const char *p, const char *end)
{
	if (end - p != 1)
		return -1;
	switch (*p | 0x20) {
	case 'r':
	case 'l':
		return TOUCH_READ;
	case 'w':
	case 's':
	case 'm':
		return TOUCH_WRITE;
	case 'i':
		return TOUCH_EXEC;
	}
	return -1;
}

static bool take(const struct pin *pin, const char *s, const char *end, int *op, uint64_t *address,
		 uint64_t *size, uint64_t *thread)
{
	struct words w;
	unsigned at;

	split(s, end, &w);
	*size = 1;
	*thread = 0;
	if (pin->op) {
		if (MAX(pin->op, pin->address) > w.n || MAX(pin->size, pin->thread) > w.n)
			return false;
		*op = op_of(w.at[pin->op - 1], w.end[pin->op - 1]);
		return *op >= 0 &&
		       number(pin, w.at[pin->address - 1], w.end[pin->address - 1], address) &&
		       (!pin->size ||
			number(pin, w.at[pin->size - 1], w.end[pin->size - 1], size)) &&
		       (!pin->thread ||
			number(pin, w.at[pin->thread - 1], w.end[pin->thread - 1], thread));
	}
	for (at = 0; at < w.n && (*op = op_of(w.at[at], w.end[at])) < 0; at++)
		;
	if (at + 1 >= w.n || !number(pin, w.at[at + 1], w.end[at + 1], address))
		return false;
	if (at + 2 < w.n && (!number(pin, w.at[at + 2], w.end[at + 2], size) || *size > 4096))
		*size = 1;
	return true;
}

static bool pin_look(const char *s, const char *end)
{
	static const struct pin plain;
	uint64_t address, size, thread;
	int op;

	return take(&plain, s, end, &op, &address, &size, &thread);
}

static unsigned pin_probe(const char *head, size_t n)
{
	return text_probe(head, n, 40, pin_look) >= 90 ? 40 : 0;
}

static bool pin_begin(struct import *im, GError **error)
{
	struct pin *pin = im->priv;
	const char *radix = import_with(im, "radix"), *columns = import_with(im, "columns");
	unsigned *const places[] = { &pin->op, &pin->address, &pin->size, &pin->thread };
	char **parts;
	bool fine = true;

	pin->hex = radix && !strcmp(radix, "16");
	if (!columns)
		return true;
	parts = g_strsplit(columns, ",", 5);
	for (unsigned i = 0; parts[i]; i++) {
		guint64 value = 0;

		fine &= i < 4 &&
			g_ascii_string_to_unsigned(parts[i], 10, 1, PIN_MAX_WORDS, &value, NULL);
		if (fine)
			*places[i] = (unsigned)value;
	}
	g_strfreev(parts);
	if (fine && pin->op && pin->address)
		return true;
	g_set_error(error, RS_ERROR, RS_ERROR_USAGE,
		    "--with columns=%s: valid is OP,ADDRESS[,SIZE[,THREAD]], numbers from 1",
		    columns);
	return false;
}

static bool pin_line(struct import *im, const char *s, size_t n)
{
	struct pin *pin = im->priv;
	uint64_t address, size, thread;
	int op;

	if (!take(pin, s, s + n, &op, &address, &size, &thread))
		return import_bad(im, "no R or W with an address behind it");
	if (size > IMPORT_MAX_LINE)
		return import_bad(im, "a size that no instruction has");
	import_thread(im, im->input, thread);
	if (!import_touch(im, address, size, (enum import_touch)op))
		return false;
	im->c.records++;
	if (op == TOUCH_WRITE)
		im->c.writes++;
	else
		im->c.reads++;
	return true;
}

const struct rs_importer import_pin = {
	.name = "pin",
	.summary = "pinatrace of Intel Pin and its variants (--with radix=16, --with columns=...)",
	.valid = "IP: R|W ADDRESS, or R|W ADDRESS [SIZE] (0x and hex, or decimal)",
	.hash_comments = true,
	.direct = true,
	.priv_size = sizeof(struct pin),
	.probe = pin_probe,
	.begin = pin_begin,
	.line = pin_line,
};
