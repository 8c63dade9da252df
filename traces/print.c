/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * print.c - the canonical form: what can be left out is left out, one blank between words.
 */
#include "traces/print.h"

#include <reclaimsim/policy.h>
#include <string.h>

#include "traces/record.h"
#include "traces/trace_internal.h"

const char *const advice_names[RS_NR_ADVICE] = {
	[RS_ADV_NORMAL] = "normal",
	[RS_ADV_RANDOM] = "random",
	[RS_ADV_SEQUENTIAL] = "sequential",
	[RS_ADV_WILLNEED] = "willneed",
	[RS_ADV_DONTNEED] = "dontneed",
	[RS_ADV_FREE] = "free",
	[RS_ADV_COLD] = "cold",
	[RS_ADV_PAGEOUT] = "pageout",
	[RS_ADV_HUGEPAGE] = "hugepage",
	[RS_ADV_NOHUGEPAGE] = "nohugepage",
	[RS_ADV_NOREUSE] = "noreuse",
};

const char *const mempolicy_names[RS_MPOL_PREFERRED + 1] = {
	[RS_MPOL_DEFAULT] = "default",
	[RS_MPOL_BIND] = "bind",
	[RS_MPOL_INTERLEAVE] = "interleave",
	[RS_MPOL_PREFERRED] = "preferred",
};

static void print_escaped(GString *out, const char *name, bool blanks)
{
	for (const guchar *c = (const guchar *)name; *c; c++) {
		if ((*c <= ' ' && (blanks || *c != ' ')) || *c == '%' || *c == 0x7f)
			g_string_append_printf(out, "%%%02X", *c);
		else
			g_string_append_c(out, *c);
	}
}

void print_name(GString *out, const char *name)
{
	print_escaped(out, name, true);
}

void unescape_name(char *name)
{
	char *to = name;

	if (!strchr(name, '%'))
		return;
	for (const char *c = name; *c; c++) {
		if (*c == '%' && g_ascii_isxdigit(c[1]) && g_ascii_isxdigit(c[2]) &&
		    (c[1] != '0' || c[2] != '0')) {
			*to++ = g_ascii_xdigit_value(c[1]) << 4 | g_ascii_xdigit_value(c[2]);
			c += 2;
		} else {
			*to++ = *c;
		}
	}
	*to = '\0';
}

void rs_provenance_print(GString *out, const char *key, const char *value)
{
	g_string_append(out, "#! ");
	print_escaped(out, key, true);
	if (*value)
		g_string_append_c(out, ' ');
	print_escaped(out, value, false);
	g_string_append_c(out, '\n');
}

static void number(GString *out, uint64_t n)
{
	char digits[24], *c = digits + sizeof(digits);

	do
		*--c = '0' + n % 10;
	while (n /= 10);
	*--c = ' ';
	g_string_append_len(out, c, digits + sizeof(digits) - c);
}

static void word(GString *out, const char *text)
{
	g_string_append_c(out, ' ');
	g_string_append(out, text);
}

static void name(GString *out, const struct trace_state *s, enum rs_name_kind kind, uint32_t id)
{
	g_string_append_c(out, ' ');
	print_name(out, names_get(&s->names[kind], id));
}

static void print_prot(GString *out, uint32_t prot)
{
	g_string_append_c(out, ' ');
	g_string_append_c(out, prot & VM_READ ? 'r' : '-');
	g_string_append_c(out, prot & VM_WRITE ? 'w' : '-');
	g_string_append_c(out, prot & VM_EXEC ? 'x' : '-');
}

static void print_map(GString *out, const struct trace_state *s, const struct rs_map *map)
{
	uint32_t prot = map->prot & (VM_READ | VM_WRITE | VM_EXEC | VM_SHARED);
	bool anon = map->file == RS_MAP_FILE_NONE;

	word(out, anon ? "anon" : "file");
	if (!anon)
		name(out, s, RS_NAME_FILE, map->file);
	number(out, map->pages);
	if (!anon && prot == (VM_READ | VM_EXEC)) {
		word(out, "x");
	} else if (prot != (VM_READ | VM_WRITE | (anon ? 0 : VM_SHARED))) {
		print_prot(out, prot);
		g_string_append_c(out, prot & VM_SHARED ? 's' : 'p');
	}
	if (map->prot & VM_STACK)
		word(out, "stack");
	if (map->pgoff)
		g_string_append_printf(out, " +%" G_GUINT64_FORMAT, map->pgoff);
	if (map->address)
		g_string_append_printf(out, " @0x%" G_GINT64_MODIFIER "x",
				       map->address << RS_PAGE_SHIFT);
}

/* "WORD OBJECT" and, unless the record means all pages, "PAGE COUNT". */
static void print_range(GString *out, const struct rs_record *r)
{
	if (!r->count)
		return;
	number(out, r->page);
	number(out, r->count);
}

static void print_thread(GString *out, const struct trace_state *s, const struct rs_record *r,
			 bool begins)
{
	const char *process = names_get(&s->names[RS_NAME_PROCESS], r->arg);

	g_string_append(out, r->op == RS_OP_FORK ? "fork" : "t");
	name(out, s, RS_NAME_THREAD, r->object);
	if (begins && strcmp(process, names_get(&s->names[RS_NAME_THREAD], r->object)))
		name(out, s, RS_NAME_PROCESS, r->arg);
}

static const char *const keywords[RS_NR_OPS] = {
	[RS_OP_LOAD] = "l",	     [RS_OP_STORE] = "s",	    [RS_OP_READ] = "r",
	[RS_OP_WRITE] = "w",	     [RS_OP_FILE] = "file",	    [RS_OP_MMAP] = "region",
	[RS_OP_MUNMAP] = "u",	     [RS_OP_MPROTECT] = "mprotect", [RS_OP_MADVISE] = "madvise",
	[RS_OP_FADVISE] = "fadvise", [RS_OP_FSYNC] = "f",	    [RS_OP_TRUNCATE] = "truncate",
	[RS_OP_MARK] = "m",	     [RS_OP_EXEC] = "exec",	    [RS_OP_EXIT] = "exit",
	[RS_OP_MEMCG] = "memcg",     [RS_OP_CPU] = "cpu",	    [RS_OP_SLEEP] = "sleep",
	[RS_OP_TIME] = "time",	     [RS_OP_MBIND] = "mbind",	    [RS_OP_WAIT] = "wait",
	[RS_OP_OPEN] = "open",
};

/* Open file 0 is what is meant without a word. */
static void print_handle(GString *out, unsigned handle)
{
	if (handle)
		g_string_append_printf(out, " #%u", handle);
}

static void print_operands(GString *out, const struct trace_state *s, const struct rs_record *r,
			   const struct rs_map *map)
{
	switch (r->op) {
	case RS_OP_LOAD:
	case RS_OP_STORE:
		number(out, r->page);
		if (r->count != 1)
			number(out, r->count);
		break;
	case RS_OP_READ:
	case RS_OP_WRITE:
		print_range(out, r);
		print_handle(out, r->arg);
		break;
	case RS_OP_FILE:
		number(out, r->value);
		if (r->arg)
			word(out, "new");
		break;
	case RS_OP_MMAP:
		print_map(out, s, map);
		print_handle(out, r->arg);
		break;
	case RS_OP_OPEN:
		print_handle(out, r->arg);
		break;
	case RS_OP_MPROTECT:
		print_prot(out, r->arg);
		print_range(out, r);
		break;
	case RS_OP_MADVISE:
		word(out, advice_names[r->arg]);
		print_range(out, r);
		break;
	case RS_OP_FADVISE:
		word(out, advice_names[RS_FADVISE_ADVICE(r->arg)]);
		print_range(out, r);
		print_handle(out, RS_FADVISE_HANDLE(r->arg));
		break;
	case RS_OP_MUNMAP:
	case RS_OP_MLOCK:
		print_range(out, r);
		break;
	case RS_OP_TRUNCATE:
		number(out, r->page);
		break;
	case RS_OP_MBIND:
		word(out, mempolicy_names[r->arg]);
		if (r->value)
			g_string_append_printf(out, " 0x%" G_GINT64_MODIFIER "x", r->value);
		break;
	case RS_OP_CPU:
	case RS_OP_SLEEP:
	case RS_OP_TIME:
		number(out, r->value);
		break;
	}
}

static void print(GString *out, const struct trace_state *s, const struct rs_record *r,
		  const struct rs_map *map, bool begins)
{
	int kind = rs_record_object_kind(r->op);

	if (r->op == RS_OP_THREAD || r->op == RS_OP_FORK) {
		print_thread(out, s, r, begins);
	} else {
		g_string_append(out, r->op == RS_OP_MLOCK ? r->arg ? "mlock" : "munlock"
							  : keywords[r->op]);
		if (kind >= 0)
			name(out, s, kind, r->object);
		print_operands(out, s, r, map);
	}
	g_string_append_c(out, '\n');
}

void print_record(GString *out, const struct trace_state *s, const struct rs_record *r,
		  const struct rs_map *map)
{
	print(out, s, r, map, !state_thread_alive(s, r->object));
}

void rs_record_print(GString *out, const struct rs_trace *trace, const struct rs_record *r,
		     const struct rs_map *map, bool begins)
{
	print(out, &trace->state, r, map, begins);
}
