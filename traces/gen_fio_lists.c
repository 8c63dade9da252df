/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gen_fio_lists.c - bssplit= and the zones of random_distribution=: lists of value/percent pairs
 * joined by ':', one list for all directions or one each, joined by ','.
 */
#include "traces/gen_fio.h"

#include <string.h>

#define SHARE_MISSING UINT64_MAX

static bool parse_pair(struct gen *g, struct fio_opts *o, const struct fio_line *l, char *text,
		       bool bytes_share, struct fio_split *ret)
{
	char *slash = strchr(text, '/');
	int64_t n;
	bool percent;

	ret->share = bytes_share ? 0 : SHARE_MISSING;
	if (slash) {
		*slash++ = '\0';
		if (!fio_bytes(g, l, slash, o->kb_base, &n, &percent))
			return false;
		if (n < 0) {
			fio_fail(g, l, "%s: a negative share in \"%s\"", l->key, l->value);
			return false;
		}
		ret->share = (uint64_t)n;
		if (!bytes_share)
			ret->share = n ? MIN((uint64_t)n, 100) : SHARE_MISSING;
	}
	if (!fio_bytes(g, l, text, o->kb_base, &n, &percent))
		return false;
	if (n < 0) {
		fio_fail(g, l, "%s: a negative number in \"%s\"", l->key, l->value);
		return false;
	}
	ret->value = (uint64_t)n;
	return true;
}

static bool parse_pairs(struct gen *g, struct fio_opts *o, const struct fio_line *l,
			const char *text, bool bytes_share, struct fio_split *to, unsigned *ret_n)
{
	g_auto(GStrv) part = g_strsplit(text, ":", 0);
	unsigned n = 0;

	for (; part[n] && *part[n]; n++) {
		if (n == FIO_MAX_SPLITS) {
			fio_fail(g, l, "%s: more than %u parts", l->key, FIO_MAX_SPLITS);
			return false;
		}
		if (!parse_pair(g, o, l, g_strstrip(part[n]), bytes_share, &to[n]))
			return false;
	}
	if (!n)
		fio_fail(g, l, "%s=%s: VALUE/PERCENT pairs joined by ':' are needed", l->key,
			 l->value);
	*ret_n = n;
	return n > 0;
}

/* Parts without a share divide what is left of 100 among them. False: more than 100. */
static bool fill_shares(struct fio_split *s, unsigned n)
{
	uint64_t sum = 0, missing = 0;

	for (unsigned i = 0; i < n; i++) {
		if (s[i].share == SHARE_MISSING)
			missing++;
		else
			sum += s[i].share;
	}
	if (sum > 100)
		return false;
	for (unsigned i = 0; i < n; i++)
		if (s[i].share == SHARE_MISSING)
			s[i].share = n == 1 ? 0 : (100 - sum) / missing;
	return true;
}

/* By share, as fio sorts them; equal ones keep their order. */
static void sort_by_share(struct fio_split *s, unsigned n)
{
	for (unsigned i = 1; i < n; i++)
		for (unsigned j = i; j && s[j - 1].share > s[j].share; j--) {
			struct fio_split t = s[j];

			s[j] = s[j - 1];
			s[j - 1] = t;
		}
}

bool fio_parse_bssplit(struct gen *g, struct fio_opts *o, const struct fio_line *l)
{
	g_auto(GStrv) list = g_strsplit(l->value, ",", FIO_NR_DIRS);
	unsigned n = g_strv_length(list);

	for (unsigned d = 0; d < FIO_NR_DIRS && n; d++) {
		struct fio_split *s = o->bssplit[d];

		if (!parse_pairs(g, o, l, list[MIN(d, n - 1)], false, s, &o->nr_bssplit[d]))
			return false;
		if (!fill_shares(s, o->nr_bssplit[d])) {
			fio_fail(g, l, "bssplit=%s: the shares add up to more than 100", l->value);
			return false;
		}
		sort_by_share(s, o->nr_bssplit[d]);
		o->min_bs[d] = UINT64_MAX;
		o->max_bs[d] = 0;
		for (unsigned i = 0; i < o->nr_bssplit[d]; i++) {
			o->min_bs[d] = MIN(o->min_bs[d], s[i].value);
			o->max_bs[d] = MAX(o->max_bs[d], s[i].value);
		}
	}
	return true;
}

bool fio_parse_zones(struct gen *g, struct fio_opts *o, const struct fio_line *l, const char *text)
{
	bool bytes = o->dist == FIO_DIST_ZONED_ABS;
	g_auto(GStrv) list = g_strsplit(text, ",", FIO_NR_DIRS);
	unsigned n = g_strv_length(list);

	if (!n) {
		fio_fail(g, l, "%s=%s: zones ACCESS%%/SIZE joined by ':' are needed", l->key,
			 l->value);
		return false;
	}
	for (unsigned d = 0; d < FIO_NR_DIRS; d++) {
		uint64_t sum = 0;

		if (!parse_pairs(g, o, l, list[MIN(d, n - 1)], bytes, o->zones[d], &o->nr_zones[d]))
			return false;
		for (unsigned i = 0; i < o->nr_zones[d]; i++)
			sum += MIN(o->zones[d][i].value, 101);
		if (sum != 100 || (!bytes && !fill_shares(o->zones[d], o->nr_zones[d]))) {
			fio_fail(g, l, "%s=%s: accesses must add up to 100 %% and sizes to no more",
				 l->key, l->value);
			return false;
		}
	}
	return true;
}
