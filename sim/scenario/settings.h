/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * settings.h - the table of settings and what is done with a row of it.
 *
 * Every setting is one row: where it lies in struct rs_config (or in the group, node or zone that
 * its name picks), its type, default, range and meaning. Parsing, the echo in the result and
 * `list settings` all read this table and nothing else.
 */
#ifndef SIM_SCENARIO_SETTINGS_H
#define SIM_SCENARIO_SETTINGS_H

#include "sim/base/config.h"

#include <jansson.h>

enum setting_type {
	SET_INT,       /* int64_t; min to max */
	SET_U32,       /* uint32_t */
	SET_U64,       /* uint64_t, any */
	SET_BOOL,      /* bool */
	SET_INTBOOL,   /* int64_t, 0 or 1 */
	SET_MASK,      /* int64_t, decimal or 0x... */
	SET_SIZE,      /* uint64_t, bytes */
	SET_LIMIT,     /* uint64_t, bytes or "max" */
	SET_KIB,       /* uint64_t in bytes, written in KiB */
	SET_PAGES,     /* int64_t, pages; a unit may follow */
	SET_RATE,      /* int64_t, bytes a second */
	SET_TIME,      /* ns_t */
	SET_NS,	       /* int64_t, nanoseconds */
	SET_ENUM,      /* an enum, one of choices */
	SET_ENUM_BOOL, /* bool, one of two choices */
};

enum setting_scope {
	SCOPE_MACHINE,
	SCOPE_MEMCG,	/* struct memcg_config */
	SCOPE_NODE,	/* struct node_config */
	SCOPE_ZONE,	/* struct zone_config */
	SCOPE_DISTANCE, /* int64_t of a pair of nodes */
};

struct setting {
	const char *name; /* without "memcg:/path.", "nodeN." and "nodeN.zone.ZONE." */
	enum setting_scope scope;
	enum setting_type type;
	size_t offset;
	int64_t def;		    /* for SET_LIMIT -1 is "max"; where automatic -1 is "auto" */
	int64_t min, max;	    /* of the stored value; SET_SIZE: bytes */
	bool automatic;		    /* "auto": derived from the machine or the device's kind */
	const int64_t *by_kernel;   /* RS_NR_KERNELS defaults instead of def; or NULL */
	const char *const *choices; /* enums; "" is no choice, ended by NULL */
	const char *doc;
};

/* All rows, the costs last. */
const struct setting *setting_row(unsigned i);
/* Default under a kernel. */
int64_t setting_default(const struct setting *, enum rs_kernel);

/* A setting of one object: the row and where its value lies. */
struct setting_place {
	const struct setting *setting;
	void *field;
	char key[160]; /* canonical name, for bookkeeping */
};

/*
 * Find the place of a key ("vm.swappiness", "memcg:/a.memory.low", "node0.zone.DMA32.managed").
 * Groups are made as they are named. The place is good until the next group is made.
 */
bool setting_find(struct rs_config *, const char *key, struct setting_place *ret, GError **);

bool setting_parse(const struct setting *, const char *text, void *field, GError **);
void setting_store_default(const struct setting *, enum rs_kernel, void *field);
json_t *setting_json(const struct setting *, const void *field);
char *setting_range(const struct setting *);

/* Set up a group's, a node's settings. */
void memcg_config_init(struct memcg_config *, const char *path, enum rs_kernel);
void node_config_init(struct node_config *, unsigned nid, enum rs_kernel);

struct rs_scenario {
	struct rs_config config;
	GHashTable *set; /* keys the user has set: the others follow the kernel */
};

extern const char *const setting_zone_names[RS_NR_ZONES + 1];
extern const char *const setting_kernel_names[RS_NR_KERNELS + 1];

#endif
