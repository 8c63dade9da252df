/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * check.c - bounds of a single record, whatever came before it.
 */
#include <reclaimsim/policy.h>
#include <reclaimsim/trace.h>

#include "traces/record.h"

#define PROT_BITS (VM_READ | VM_WRITE | VM_EXEC)
#define ADDRESS_PAGES (UINT64_C(1) << (47 - RS_PAGE_SHIFT)) /* user space of x86-64 */

static bool bad(GError **error, const char *format, ...) G_GNUC_PRINTF(2, 3);
static bool bad(GError **error, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	g_autofree char *text = g_strdup_vprintf(format, args);
	va_end(args);
	g_set_error_literal(error, RS_ERROR, RS_ERROR_INPUT, text);
	return false;
}

static bool check_range(const struct rs_record *r, bool whole, GError **error)
{
	if (!r->count && !whole)
		return bad(error, "a count of 0 pages; at least 1 is valid");
	if (!r->count && r->page)
		return bad(error, "a count of 0 means all pages and needs page 0, not %u", r->page);
	if ((uint64_t)r->page + r->count > TRACE_MAX_PAGES)
		return bad(error, "page %u + %u is past the last page %u", r->page, r->count,
			   TRACE_MAX_PAGES - 1);
	return true;
}

static bool check_map(const struct rs_map *map, uint16_t handle, GError **error)
{
	bool anon = map->file == RS_MAP_FILE_NONE;

	if (!map->pages || map->pages > TRACE_MAX_PAGES || map->pgoff > TRACE_MAX_PAGES ||
	    map->pages + map->pgoff > TRACE_MAX_PAGES)
		return bad(error,
			   "a mapping of %" G_GUINT64_FORMAT " pages at %" G_GUINT64_FORMAT
			   "; valid are 1 to %u in all",
			   map->pages, map->pgoff, TRACE_MAX_PAGES);
	if (anon && (map->pgoff || handle))
		return bad(error, "an anonymous mapping with an offset or an open file");
	if (map->prot & ~(PROT_BITS | VM_SHARED | VM_STACK) || (!anon && map->prot & VM_STACK))
		return bad(error, "unknown mapping flags %#x", map->prot);
	if (map->address >= ADDRESS_PAGES || map->address + map->pages > ADDRESS_PAGES)
		return bad(error,
			   "address %#" G_GINT64_MODIFIER "x is outside the 47 bits of user space",
			   map->address << RS_PAGE_SHIFT);
	return true;
}

/* Advice of madvise() and of fadvise(), one bit for each. */
#define BIT(x) (1u << (x))
#define COMMON_ADVICE                                                                              \
	(BIT(RS_ADV_NORMAL) | BIT(RS_ADV_RANDOM) | BIT(RS_ADV_SEQUENTIAL) | BIT(RS_ADV_WILLNEED) | \
	 BIT(RS_ADV_DONTNEED))
#define MADVISE (BIT(RS_NR_ADVICE) - 1 - BIT(RS_ADV_NOREUSE))
#define FADVISE (COMMON_ADVICE | BIT(RS_ADV_NOREUSE))

static bool check_arg(const struct rs_record *r, GError **error)
{
	uint32_t max = 0;

	switch (r->op) {
	case RS_OP_MADVISE:
		if (r->arg < RS_NR_ADVICE && MADVISE & BIT(r->arg))
			return true;
		return bad(error, "advice %u is unknown to madvise()", r->arg);
	case RS_OP_FADVISE:
		if (FADVISE & BIT(RS_FADVISE_ADVICE(r->arg)))
			return true;
		return bad(error, "advice %u is unknown to fadvise()", RS_FADVISE_ADVICE(r->arg));
	case RS_OP_READ:
	case RS_OP_WRITE:
	case RS_OP_MMAP:
	case RS_OP_OPEN:
	case RS_OP_THREAD:
	case RS_OP_FORK:
		return true;
	case RS_OP_MPROTECT:
		max = PROT_BITS;
		break;
	case RS_OP_FILE:
	case RS_OP_MLOCK:
		max = 1;
		break;
	case RS_OP_MBIND:
		max = RS_MPOL_PREFERRED;
		break;
	}
	if (r->arg > max)
		return bad(error, "argument %u of record type %u; valid are 0 to %u", r->arg, r->op,
			   max);
	return true;
}

static bool check_value(const struct rs_record *r, GError **error)
{
	switch (r->op) {
	case RS_OP_FILE:
		if (r->value <= TRACE_MAX_PAGES)
			return true;
		return bad(error, "a file of %" G_GUINT64_FORMAT " pages; valid are up to %u",
			   r->value, TRACE_MAX_PAGES);
	case RS_OP_TRUNCATE:
		if (!r->count && r->page <= TRACE_MAX_PAGES)
			return true;
		return bad(error, "a file of %u pages; valid are up to %u", r->page,
			   TRACE_MAX_PAGES);
	case RS_OP_MBIND:
		if ((r->arg == RS_MPOL_DEFAULT) == (r->value == 0))
			return true;
		return bad(error, "a memory policy needs nodes, and the default one has none");
	case RS_OP_CPU:
	case RS_OP_SLEEP:
	case RS_OP_TIME:
		if (r->value <= TRACE_MAX_NS)
			return true;
		return bad(error, "%" G_GUINT64_FORMAT " ns; valid are up to %" G_GUINT64_FORMAT,
			   r->value, TRACE_MAX_NS);
	case RS_OP_MMAP:
		return true;
	default:
		if (!r->value)
			return true;
		return bad(error, "a record of type %u carries no value", r->op);
	}
}

static bool check_object(const struct rs_record *r, GError **error)
{
	bool none = r->op == RS_OP_EXEC || r->op == RS_OP_EXIT || r->op == RS_OP_CPU ||
		    r->op == RS_OP_SLEEP || r->op == RS_OP_TIME;

	if (none ? r->object == 0 : r->object < TRACE_MAX_OBJECTS)
		return true;
	return bad(error, "object %u of record type %u is out of range", r->object, r->op);
}

bool rs_record_check(const struct rs_record *r, const struct rs_map *map, GError **error)
{
	if (r->op == RS_OP_NONE || r->op >= RS_NR_OPS)
		return bad(error, "unknown record type %u; valid are 1 to %u", r->op,
			   RS_NR_OPS - 1);
	if (r->flags)
		return bad(error, "reserved flags %#x are set", r->flags);
	if ((r->op == RS_OP_MMAP) != (map != NULL))
		return bad(error, "a mapping belongs to records of type %u only", RS_OP_MMAP);
	if (!check_object(r, error) || !check_arg(r, error))
		return false;
	switch (r->op) {
	case RS_OP_LOAD:
	case RS_OP_STORE:
	case RS_OP_READ:
	case RS_OP_WRITE:
		return check_range(r, false, error);
	case RS_OP_MUNMAP:
	case RS_OP_MPROTECT:
	case RS_OP_MADVISE:
	case RS_OP_MLOCK:
	case RS_OP_FADVISE:
		return check_range(r, true, error);
	default:
		return check_value(r, error) && (!map || check_map(map, r->arg, error));
	}
}
