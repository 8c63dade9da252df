/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gen_mix_parse.c - reads a spec of the generator "mix"; spec.schema.json describes it.
 */
#include "traces/gen_mix.h"

#include <string.h>

#define MIX_MAX_PARTS 4096u

static const char *const advice_words[] = { "normal",	"random",    "sequential", "willneed",
					    "dontneed", "free",	     "cold",	   "pageout",
					    "hugepage", "nohugepage" };

static int file_index(const struct mix *x, const char *name)
{
	for (unsigned i = 0; i < x->nr_files; i++)
		if (!strcmp(x->files[i].name, name))
			return (int)i;
	return -1;
}

static int region_index(const struct mix_process *p, const char *name)
{
	for (unsigned i = 0; i < p->nr_regions; i++)
		if (!strcmp(p->regions[i].name, name))
			return (int)i;
	return -1;
}

/* An array of at most MIX_MAX_PARTS; NULL after an error or if it is absent and not needed. */
static json_t *array_of(struct gen_object *o, const char *key, bool needed)
{
	json_t *a = gen_member(o, key);

	if (!a && !needed)
		return NULL;
	if (json_is_array(a) && json_array_size(a) >= 1 && json_array_size(a) <= MIX_MAX_PARTS)
		return a;
	gen_object_fail(o, key, "an array of 1 to %u entries is needed", MIX_MAX_PARTS);
	return NULL;
}

/* Members of an object in the order of the file. */
static json_t *object_of(struct gen_object *o, const char *key, bool needed)
{
	json_t *m = gen_member(o, key);

	if (!m && !needed)
		return NULL;
	if (json_is_object(m) && json_object_size(m) <= MIX_MAX_PARTS)
		return m;
	gen_object_fail(o, key, "an object of up to %u named entries is needed", MIX_MAX_PARTS);
	return NULL;
}

static void parse_files(struct gen *g, struct mix *x, struct gen_object *root)
{
	json_t *files = object_of(root, "files", false), *value;
	g_autofree char *path = gen_path(root, "files", -1);
	const char *name;

	if (!files)
		return;
	x->files = g_new0(struct mix_file, json_object_size(files) + 1);
	json_object_foreach(files, name, value)
	{
		g_autofree char *at = g_strdup_printf("%s.%s", path, name);
		struct mix_file *f = &x->files[x->nr_files++];
		struct gen_object o;

		f->name = g_strdup(name);
		gen_object_init(&o, g, root->file, at, value);
		f->pages = gen_size_pages(&o, "size", UINT64_MAX);
		f->is_new = gen_flag(&o, "new", false);
		gen_object_done(&o);
	}
}

static uint32_t parse_prot(struct gen_object *o, bool anon)
{
	const char *prot = gen_string(o, "prot", "rw");
	bool shared = gen_flag(o, "shared", !anon && !strchr(prot, 'x'));
	uint32_t bits = shared ? VM_SHARED : 0;

	for (const char *c = prot; *c; c++) {
		if (!strchr("rwx", *c))
			gen_object_fail(o, "prot", "valid are letters of rwx");
		bits |= *c == 'r' ? VM_READ : *c == 'w' ? VM_WRITE : VM_EXEC;
	}
	return bits;
}

static int parse_advice(struct gen_object *o)
{
	const char *word = gen_string(o, "madvise", "none");

	if (!strcmp(word, "none"))
		return -1;
	for (unsigned i = 0; i < G_N_ELEMENTS(advice_words); i++)
		if (!strcmp(word, advice_words[i]))
			return (int)i;
	gen_object_fail(o, "madvise", "unknown advice \"%s\"", word);
	return -1;
}

static void parse_region(struct mix *x, struct mix_region *r, struct gen_object *o)
{
	const char *file = gen_string(o, "file", "-");

	r->file = -1;
	if (strcmp(file, "-")) {
		r->file = file_index(x, file);
		if (r->file < 0)
			gen_object_fail(o, "file", "\"%s\" is not among the files", file);
	}
	r->pages = gen_size_pages(o, "anon", 0);
	if ((r->file < 0) == !r->pages && !gen_failed(o->g))
		gen_object_fail(o, NULL, "a size \"anon\" or a \"file\" is needed, and not both");
	if (r->file >= 0 && !gen_failed(o->g)) {
		const struct mix_file *f = &x->files[r->file];

		r->pgoff = gen_size_pages(o, "offset", 0);
		r->pages = gen_size_pages(o, "size", f->pages > r->pgoff ? f->pages - r->pgoff : 0);
		if (!r->pages || r->pgoff + r->pages > f->pages)
			gen_object_fail(o, NULL, "the mapping lies outside the file");
	}
	r->prot = parse_prot(o, r->file < 0);
	r->populate = gen_flag(o, "populate", false);
	r->advice = parse_advice(o);
}

static void parse_regions(struct gen *g, struct mix *x, struct mix_process *p,
			  struct gen_object *po)
{
	json_t *regions = object_of(po, "regions", false), *value;
	g_autofree char *path = gen_path(po, "regions", -1);
	const char *name;

	if (!regions)
		return;
	p->regions = g_new0(struct mix_region, json_object_size(regions) + 1);
	json_object_foreach(regions, name, value)
	{
		g_autofree char *at = g_strdup_printf("%s.%s", path, name);
		struct mix_region *r = &p->regions[p->nr_regions++];
		struct gen_object o;

		r->name = g_strdup(name);
		gen_object_init(&o, g, po->file, at, value);
		parse_region(x, r, &o);
		gen_object_done(&o);
	}
}

/* ---- streams ---- */

static void parse_pattern(struct mix_stream *s, struct gen_object *o)
{
	static const char *const words[] = { "scan", "loop", "stride", "chase", "grow" };
	const char *word = gen_string(o, "pattern", "uniform");
	uint64_t n = s->pages / s->unit;
	double deviation, mean;

	for (unsigned i = 0; i < G_N_ELEMENTS(words); i++)
		if (!strcmp(word, words[i])) {
			s->pattern = MIX_SCAN + i;
			s->stride = gen_size_pages(o, "stride", s->unit);
			if (!s->stride)
				gen_object_fail(o, "stride", "a stride of 0");
			return;
		}
	s->pattern = MIX_DIST;
	s->scatter = gen_flag(o, "scatter", !strcmp(word, "zipf") || !strcmp(word, "pareto"));
	if (!strcmp(word, "uniform")) {
		gen_dist_uniform(&s->dist, n);
	} else if (!strcmp(word, "zipf")) {
		gen_dist_zipf(&s->dist, n, gen_real(o, "theta", 0.99, 0, 20));
	} else if (!strcmp(word, "pareto")) {
		gen_dist_pareto(&s->dist, n, gen_real(o, "h", 0.2, 1e-6, 1 - 1e-6));
	} else if (!strcmp(word, "normal")) {
		mean = gen_real(o, "mean", 0.5, 0, 1) * (double)n;
		deviation = gen_real(o, "deviation", 1.0 / 6, 1e-9, 10) * (double)n;
		gen_dist_normal(&s->dist, n, mean, deviation);
	} else if (!strcmp(word, "hotset")) {
		uint64_t hot = (uint64_t)(gen_real(o, "hot", 0.2, 0, 1) * (double)n);

		gen_dist_hotset(&s->dist, n, hot, gen_real(o, "share", 0.8, 0, 1));
	} else {
		gen_object_fail(o, "pattern",
				"unknown pattern \"%s\"; valid are uniform zipf pareto normal "
				"hotset scan loop stride chase grow",
				word);
	}
}

static void parse_stream(struct mix *x, struct mix_process *p, struct mix_stream *s,
			 struct gen_object *o)
{
	const char *region = gen_string(o, "region", "-"), *file = gen_string(o, "file", "-");
	uint64_t whole;

	s->region = region_index(p, region);
	s->file = file_index(x, file);
	if ((s->region < 0) == (s->file < 0)) {
		gen_object_fail(
			o, NULL,
			"the name of a \"region\" of this process (mapped) or of a \"file\" "
			"(read and write) is needed");
		return;
	}
	whole = s->region >= 0 ? p->regions[s->region].pages : x->files[s->file].pages;
	s->first = gen_size_pages(o, "from", 0);
	s->pages = gen_size_pages(o, "size", whole > s->first ? whole - s->first : 0);
	s->unit = gen_size_pages(o, "unit", 1);
	s->shift = gen_size_pages(o, "shift", 0);
	s->weight = gen_real(o, "weight", 1, 0, 1e9);
	if (!s->pages || s->first + s->pages > whole)
		gen_object_fail(o, NULL,
				"from and size lie outside the region or file of %" G_GUINT64_FORMAT
				" pages",
				whole);
	else if (!s->unit || s->unit > s->pages)
		gen_object_fail(o, "unit", "valid are 1 page up to the whole part");
	if (gen_failed(o->g))
		return;
	parse_pattern(s, o);
	s->write = gen_real(o, "write", s->pattern == MIX_GROW ? 1 : 0, 0, 1);
	if (s->region >= 0 && s->write > 0 && !(p->regions[s->region].prot & VM_WRITE))
		gen_object_fail(o, "write", "the region is not writable");
}

static void parse_streams(struct gen *g, struct mix *x, struct mix_process *p, struct mix_phase *ph,
			  struct gen_object *po)
{
	json_t *mix = array_of(po, "mix", true), *value;
	size_t i;

	if (!mix)
		return;
	ph->streams = g_new0(struct mix_stream, json_array_size(mix));
	json_array_foreach(mix, i, value)
	{
		g_autofree char *at = gen_path(po, "mix", (int)i);
		struct gen_object o;

		if (gen_failed(g))
			return;
		gen_object_init(&o, g, po->file, at, value);
		parse_stream(x, p, &ph->streams[ph->nr_streams++], &o);
		ph->weights += ph->streams[i].weight;
		gen_object_done(&o);
	}
	if (!(ph->weights > 0))
		gen_object_fail(po, "mix", "the weights add up to 0");
}

/* ---- phases and processes ---- */

static void parse_unmap(struct mix_process *p, struct mix_phase *ph, struct gen_object *o)
{
	json_t *names = array_of(o, "unmap", false), *value;
	size_t i;

	if (!names)
		return;
	if (p->threads > 1)
		gen_object_fail(o, "unmap",
				"only a process of one thread can unmap: others might be behind");
	ph->unmap = g_new0(int, json_array_size(names));
	json_array_foreach(names, i, value)
	{
		int r = json_is_string(value) ? region_index(p, json_string_value(value)) : -1;

		if (r < 0)
			gen_object_fail(o, "unmap", "names of regions of this process are needed");
		ph->unmap[ph->nr_unmap++] = r;
	}
}

static bool ends_by_itself(const struct mix_phase *ph)
{
	for (unsigned i = 0; i < ph->nr_streams; i++)
		if (ph->streams[i].pattern != MIX_SCAN && ph->streams[i].pattern != MIX_GROW)
			return false;
	return true;
}

static void parse_phase(struct gen *g, struct mix *x, struct mix_process *p, struct mix_phase *ph,
			struct gen_object *o)
{
	const char *file;

	ph->name = g_strdup(gen_string(o, "name", "phase"));
	parse_streams(g, x, p, ph, o);
	ph->accesses = gen_int(o, "accesses", UINT64_MAX, 1, GEN_MAX_RECORDS);
	ph->duration = gen_duration(o, "duration", 0);
	ph->repeat = gen_int(o, "repeat", 1, 1, 1000000);
	ph->think = gen_duration(o, "think", 0);
	ph->sleep = gen_duration(o, "sleep", 0);
	ph->cost = MAX(gen_duration(o, "cost", 200), 1);
	ph->mark = gen_flag(o, "mark", false);
	parse_unmap(p, ph, o);
	file = gen_string(o, "fsync", "-");
	ph->fsync = file_index(x, file);
	if (ph->fsync < 0 && strcmp(file, "-"))
		gen_object_fail(o, "fsync", "\"%s\" is not among the files", file);
	if (ph->accesses == UINT64_MAX && !ph->duration && !ends_by_itself(ph) && !gen_failed(g))
		gen_object_fail(
			o, NULL,
			"\"accesses\" or \"duration\" is needed, as not all its streams end by "
			"themselves (scan, grow)");
}

static void parse_phases(struct gen *g, struct mix *x, struct mix_process *p, struct gen_object *po)
{
	json_t *phases = array_of(po, "phases", true), *value;
	size_t i;

	if (!phases)
		return;
	p->phases = g_new0(struct mix_phase, json_array_size(phases));
	json_array_foreach(phases, i, value)
	{
		g_autofree char *at = gen_path(po, "phases", (int)i);
		struct gen_object o;

		if (gen_failed(g))
			return;
		gen_object_init(&o, g, po->file, at, value);
		parse_phase(g, x, p, &p->phases[p->nr_phases++], &o);
		gen_object_done(&o);
	}
}

static void parse_process(struct gen *g, struct mix *x, struct mix_process *p, struct gen_object *o)
{
	const char *memcg;

	p->name = g_strdup(gen_string(o, "name", "process"));
	memcg = gen_string(o, "memcg", "-");
	p->memcg = strcmp(memcg, "-") ? g_strdup(memcg) : NULL;
	p->count = gen_int(o, "count", 1, 1, GEN_MAX_THREADS);
	p->threads = gen_int(o, "threads", 1, 1, GEN_MAX_THREADS);
	p->start = gen_duration(o, "start", 0);
	parse_regions(g, x, p, o);
	if (!gen_failed(g))
		parse_phases(g, x, p, o);
}

bool mix_parse(struct gen *g, struct mix *x, struct gen_object *root)
{
	json_t *processes, *value;
	uint64_t threads = 0;
	size_t i;

	*x = (struct mix){ .quantum = gen_duration(root, "quantum", 50000) };
	parse_files(g, x, root);
	processes = gen_failed(g) ? NULL : array_of(root, "processes", true);
	if (!processes)
		return false;
	x->processes = g_new0(struct mix_process, json_array_size(processes));
	json_array_foreach(processes, i, value)
	{
		g_autofree char *at = gen_path(root, "processes", (int)i);
		struct mix_process *p = &x->processes[x->nr_processes++];
		struct gen_object o;

		gen_object_init(&o, g, root->file, at, value);
		parse_process(g, x, p, &o);
		gen_object_done(&o);
		threads += p->count * p->threads;
		if (gen_failed(g))
			return false;
	}
	if (threads > GEN_MAX_THREADS)
		gen_object_fail(root, "processes", "more than %u threads in all", GEN_MAX_THREADS);
	return !gen_failed(g);
}

void mix_clear(struct mix *x)
{
	for (unsigned i = 0; i < x->nr_files; i++)
		g_free(x->files[i].name);
	for (unsigned i = 0; i < x->nr_processes; i++) {
		struct mix_process *p = &x->processes[i];

		for (unsigned k = 0; k < p->nr_regions; k++)
			g_free(p->regions[k].name);
		for (unsigned k = 0; k < p->nr_phases; k++) {
			g_free(p->phases[k].name);
			g_free(p->phases[k].streams);
			g_free(p->phases[k].unmap);
		}
		g_free(p->regions);
		g_free(p->phases);
		g_free(p->name);
		g_free(p->memcg);
	}
	g_free(x->files);
	g_free(x->processes);
}
