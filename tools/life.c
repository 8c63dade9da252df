/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * life.c - what happens to a watched folio, in words. The words are those of mm/vmscan.c and its
 * comments.
 */
#include "tools/observe.h"

#include <inttypes.h>

static const char *const list_name[RS_NR_LRU] = { "inactive anon", "active anon", "inactive file",
						  "active file" };

static const char *const why_kept[RS_NR_WHYS] = {
	[RS_WHY_LOCKED] = "it is locked",
	[RS_WHY_UNEVICTABLE] = "it is mlocked",
	[RS_WHY_MAPPED] = "it is mapped and this reclaim does not unmap",
	[RS_WHY_YOUNG_MEANWHILE] = "found young by a walk or look-around since it was isolated",
	[RS_WHY_WRITEBACK] = "it is under writeback",
	[RS_WHY_REFERENCED] = "it was referenced",
	[RS_WHY_NO_SWAP] = "no room in swap, or no I/O allowed",
	[RS_WHY_UNMAP] = "it could not be unmapped",
	[RS_WHY_DIRTY] = "it is dirty",
	[RS_WHY_BEING_WRITTEN] = "its write is under way",
	[RS_WHY_HELD] = "somebody holds it",
};

static const char *const reclaimer[] = {
	[RS_BY_KSWAPD] = "kswapd",
	[RS_BY_DIRECT] = "direct reclaim",
	[RS_BY_LIMIT] = "reclaim at the limit",
	[RS_BY_PROACTIVE] = "proactive reclaim",
};

static void describe_verdict(const struct rs_folio_note *n, GString *s)
{
	const char *why = n->b > 0 && n->b < RS_NR_WHYS ? why_kept[n->b] : NULL;

	g_string_append_printf(s, "%s: %s", n->a == RS_OUTCOME_KEPT ? "kept" : "activated",
			       why ? why : "no reason given");
}

static void describe_refault(const struct rs_folio_note *n, GString *s)
{
	g_string_append_printf(
		s, "refault: distance %" PRId64 " %s workingset of %" PRId64 " pages%s", n->a,
		n->a <= n->b ? "within" : "beyond", n->b, n->a <= n->b ? "" : ", not activated");
}

/* Notes of the engine. False: it is one of a policy. */
static bool describe_engine(const struct rs_folio_note *n, GString *s)
{
	static const char *const plain[RS_NR_NOTES] = {
		[RS_NOTE_NEW] = "faulted in: new anonymous page",
		[RS_NOTE_MAPPED] = "mapped by a fault",
		[RS_NOTE_ACCESSED] = "marked accessed",
		[RS_NOTE_ISOLATED] = "isolated: off its list",
		[RS_NOTE_PAGEOUT] = "its write begins",
		[RS_NOTE_WRITTEN] = "its write has ended",
		[RS_NOTE_ROTATED] = "rotated to the old end: written, may go at once",
		[RS_NOTE_ACTIVATED] = "activated from a batch",
		[RS_NOTE_DEACTIVATED] = "deactivated: advised to go",
		[RS_NOTE_FREED] = "freed: nobody uses it any more",
		[RS_NOTE_DEMOTED] = "demoted to a slower node",
		[RS_NOTE_MIGRATED] = "migrated to the node of its user",
	};

	if (n->what < RS_NR_NOTES && plain[n->what]) {
		g_string_append(s, plain[n->what]);
		return true;
	}
	switch (n->what) {
	case RS_NOTE_CACHED:
		g_string_append(s, n->a ? "read into the page cache, where its shadow is"
					: "added to the page cache");
		return true;
	case RS_NOTE_SWAPIN:
		g_string_append_printf(s, "read from swap slot %" PRId64, n->a);
		return true;
	case RS_NOTE_SWAP_SLOT:
		g_string_append_printf(s, "to be swapped out: slot %" PRId64, n->a);
		return true;
	case RS_NOTE_REFERENCED:
		if (n->a > 0)
			g_string_append_printf(s,
					       "rmap walk: young in %" PRId64 " mapping%s, cleared",
					       n->a, n->a == 1 ? "" : "s");
		else
			g_string_append(s, n->a ? "rmap walk: lock contended"
						: "rmap walk: no young PTE");
		return true;
	case RS_NOTE_VERDICT:
		describe_verdict(n, s);
		return true;
	case RS_NOTE_EVICTED:
		g_string_append_printf(s, "EVICTED by %s, priority %" PRId64, reclaimer[n->a],
				       n->b);
		return true;
	default:
		return false;
	}
}

static void describe_policy(const struct rs_folio_note *n, GString *s)
{
	switch (n->what) {
	case RS_NOTE_LIST:
		g_string_append_printf(s, "on the %s list", list_name[n->a]);
		break;
	case RS_NOTE_GENERATION:
		g_string_append_printf(s, "in generation %" PRId64 " (youngest: %" PRId64 ")", n->a,
				       n->b);
		break;
	case RS_NOTE_AGED:
		g_string_append_printf(s, "aged: generation %" PRId64 ", youngest is now %" PRId64,
				       n->a, n->b);
		break;
	case RS_NOTE_YOUNG_WALK:
		g_string_append(s, "page-table walk: young PTE, cleared");
		break;
	case RS_NOTE_YOUNG_LOOK:
		g_string_append(s, "look-around of a neighbour: young PTE, cleared");
		break;
	case RS_NOTE_MARKED:
		g_string_append(s, "first touch: marked referenced, stays where it is");
		break;
	case RS_NOTE_PROMOTED:
		g_string_append_printf(s, "promoted from generation %" PRId64 " to %" PRId64, n->a,
				       n->b);
		break;
	case RS_NOTE_PROTECTED:
		g_string_append_printf(
			s, "protected: tier %" PRId64 ", only up to %" PRId64 " goes", n->a, n->b);
		break;
	case RS_NOTE_SPARED:
		g_string_append_printf(
			s, "spared by the scan: promoted to generation %" PRId64 " before", n->a);
		break;
	case RS_NOTE_SORTED:
		g_string_append_printf(s, "moved on from generation %" PRId64 " to %" PRId64, n->a,
				       n->b);
		break;
	case RS_NOTE_REFAULT:
		describe_refault(n, s);
		break;
	case RS_NOTE_REFAULT_GEN:
	case RS_NOTE_NOT_RECENT:
		g_string_append_printf(s,
				       "refault: evicted from generation %" PRId64
				       ", oldest is now %" PRId64 ": %s",
				       n->a, n->b,
				       n->what == RS_NOTE_REFAULT_GEN ? "recent"
								      : "too long ago to count");
		break;
	default:
		g_string_append_printf(s, "note %d", n->what);
		break;
	}
}

void life_describe(const struct rs_folio_note *n, GString *s)
{
	if (!describe_engine(n, s))
		describe_policy(n, s);
}
