/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * trace_fit_kbuild.c - "trace fit-kbuild": parameters of the kernel-build generator from a recorded
 * build (an imported strace log).
 *
 * Processes are told apart by the program they execute: the file of their first executable mapping
 * (cc1, as, ld, anything else is a driver). Sizes are means over the processes or files of a kind;
 * the exponent of the headers' popularity is the one of greatest likelihood.
 */
#include <jansson.h>
#include <math.h>
#include <string.h>

#include <reclaimsim/policy.h>

#include "tools/trace_commands.h"

enum kind { DRIVER, COMPILER, ASSEMBLER, LINKER, NR_KINDS };

struct process {
	enum kind kind;
	bool alive, known;
	uint64_t anon, headers;
};

struct region {
	uint32_t file;
	GArray *touched; /* one byte a page, as far as it was touched; anonymous memory only */
};

struct seen_file {
	uint64_t pages, reads; /* its size; times read by a compiler from the start */
	uint64_t mapped;       /* largest page an executable mapping reaches */
	bool written, executed[NR_KINDS];
};

struct fit {
	struct rs_trace *trace;
	GArray *files, *regions, *processes, *threads; /* by number; threads: process numbers */
	uint32_t process;
	uint64_t units, alive, most_alive, anon_sum, links, link_anon, assemblers, assembler_anon;
	double anon_squares;
	uint64_t headers_read;
};

static void *at(GArray *array, uint32_t i)
{
	if (i >= array->len)
		g_array_set_size(array, i + 1);
	return array->data + (size_t)i * g_array_get_element_size(array);
}

static struct process *current(struct fit *f)
{
	return at(f->processes, f->process);
}

static enum kind kind_of(const char *path)
{
	g_autofree char *base = g_path_get_basename(path);

	if (!strcmp(base, "cc1") || !strcmp(base, "cc1plus"))
		return COMPILER;
	if (!strcmp(base, "as") || g_str_has_suffix(base, "-as"))
		return ASSEMBLER;
	if (!strcmp(base, "ld") || g_strrstr(base, "-ld") || !strcmp(base, "ld.bfd"))
		return LINKER;
	return DRIVER;
}

static const char *file_name(const struct fit *f, uint32_t file)
{
	const char *name = rs_trace_name(f->trace, RS_NAME_FILE, file);

	return name ? name : "";
}

static bool is_header(const char *name)
{
	return g_str_has_suffix(name, ".h") || g_str_has_suffix(name, ".hpp") ||
	       g_str_has_suffix(name, ".inc") || g_str_has_suffix(name, ".def");
}

/* ---- reading ---- */

static void map(struct fit *f, const struct rs_record *r, const struct rs_map *m)
{
	struct region *region = at(f->regions, r->object);
	struct process *p = current(f);
	struct seen_file *file;

	g_clear_pointer(&region->touched, g_array_unref);
	region->file = m->file;
	if (m->file == RS_MAP_FILE_NONE || !(m->prot & VM_EXEC))
		return;
	if (!p->known) {
		p->known = true;
		p->kind = kind_of(file_name(f, m->file));
		f->units += p->kind == COMPILER;
		f->links += p->kind == LINKER;
		f->assemblers += p->kind == ASSEMBLER;
	}
	file = at(f->files, m->file);
	file->executed[p->kind] = true;
	file->mapped = MAX(file->mapped, m->pgoff + m->pages);
}

/* Pages of anonymous memory that the process touches for the first time. */
static void store(struct fit *f, const struct rs_record *r)
{
	struct region *region = at(f->regions, r->object);

	if (region->file != RS_MAP_FILE_NONE)
		return;
	if (!region->touched)
		region->touched = g_array_new(FALSE, TRUE, 1);
	if (region->touched->len < r->page + r->count)
		g_array_set_size(region->touched, r->page + r->count);
	for (uint32_t i = r->page; i < r->page + r->count; i++) {
		current(f)->anon += !region->touched->data[i];
		region->touched->data[i] = 1;
	}
}

/* The process ends, or becomes another program. */
static void end_program(struct fit *f, struct process *p)
{
	if (p->known && p->kind == COMPILER) {
		f->anon_sum += p->anon;
		f->anon_squares += (double)p->anon * (double)p->anon;
		f->headers_read += p->headers;
	} else if (p->known && p->kind == LINKER) {
		f->link_anon += p->anon;
	} else if (p->known && p->kind == ASSEMBLER) {
		f->assembler_anon += p->anon;
	}
	if (p->known && p->kind == COMPILER)
		f->alive--;
	*p = (struct process){ .alive = p->alive };
}

static void read_file(struct fit *f, const struct rs_record *r)
{
	struct seen_file *file = at(f->files, r->object);
	struct process *p = current(f);

	file->pages = MAX(file->pages, (uint64_t)r->page + r->count);
	if (!p->known || p->kind != COMPILER || r->page)
		return;
	file->reads++;
	p->headers += is_header(file_name(f, r->object));
}

static void record(struct fit *f, const struct rs_record *r, const struct rs_map *m)
{
	bool was = current(f)->known && current(f)->kind == COMPILER;

	switch (r->op) {
	case RS_OP_THREAD:
		/* A thread met again keeps the process it began in. */
		if (r->arg || r->object >= f->threads->len)
			*(uint32_t *)at(f->threads, r->object) = r->arg;
		f->process = *(uint32_t *)at(f->threads, r->object);
		current(f)->alive = true;
		break;
	case RS_OP_FORK:
		*(uint32_t *)at(f->threads, r->object) = r->arg;
		break;
	case RS_OP_EXEC:
	case RS_OP_EXIT:
		end_program(f, current(f));
		break;
	case RS_OP_FILE:
		((struct seen_file *)at(f->files, r->object))->pages = r->value;
		break;
	case RS_OP_MMAP:
		map(f, r, m);
		f->alive += !was && current(f)->known && current(f)->kind == COMPILER;
		f->most_alive = MAX(f->most_alive, f->alive);
		break;
	case RS_OP_STORE:
		store(f, r);
		break;
	case RS_OP_READ:
		read_file(f, r);
		break;
	case RS_OP_WRITE:
		((struct seen_file *)at(f->files, r->object))->written = true;
		break;
	}
}

static bool read_trace(struct fit *f, const char *path, GError **error)
{
	struct rs_batch batch;
	int got;

	f->trace = rs_trace_open(path, error);
	if (!f->trace)
		return false;
	while ((got = rs_trace_next(f->trace, &batch, error)) == 1)
		for (uint32_t i = 0; i < batch.nr_records; i++) {
			const struct rs_record *r = &batch.records[i];

			record(f, r, r->op == RS_OP_MMAP ? &batch.maps[r->value] : NULL);
		}
	return got == 0;
}

/* ---- fitting ---- */

static int descending(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x > y ? -1 : x < y;
}

/* Exponent of greatest likelihood for counts sorted by rank, in steps of 0.01. */
static double fit_theta(const GArray *counts)
{
	double best = 0, best_likelihood = -INFINITY, total = 0;

	for (unsigned k = 0; k < counts->len; k++)
		total += (double)g_array_index(counts, uint64_t, k);
	for (unsigned step = 0; step <= 200 && counts->len > 1; step++) {
		double theta = step / 100.0, sum = 0, likelihood = 0;

		for (unsigned k = 0; k < counts->len; k++) {
			sum += pow(k + 1, -theta);
			likelihood -=
				theta * log(k + 1) * (double)g_array_index(counts, uint64_t, k);
		}
		likelihood -= total * log(sum);
		if (likelihood > best_likelihood) {
			best_likelihood = likelihood;
			best = theta;
		}
	}
	return best;
}

struct mean {
	uint64_t sum, n;
};

static void add(struct mean *m, uint64_t x)
{
	m->sum += x;
	m->n++;
}

static void set_pages(json_t *spec, const char *key, uint64_t pages)
{
	g_autofree char *text = g_strdup_printf("%" G_GUINT64_FORMAT "p", MAX(pages, 1));

	json_object_set_new(spec, key, json_string(text));
}

static void set_mean(json_t *spec, const char *key, const struct mean *m)
{
	if (m->n)
		set_pages(spec, key, (m->sum + m->n / 2) / m->n);
}

/* Sizes of programs, sources, objects; the headers' popularity. */
static void fit_files(struct fit *f, json_t *spec)
{
	static const char *const keys[NR_KINDS] = { "driver", "compiler", "assembler", "linker" };
	struct mean header = { 0 }, source = { 0 }, object = { 0 }, temporary = { 0 };
	uint64_t program[NR_KINDS] = { 0 }, libraries = 0, objects = 0;
	g_autoptr(GArray) counts = g_array_new(FALSE, FALSE, sizeof(uint64_t));

	for (uint32_t i = 0; i < f->files->len; i++) {
		const struct seen_file *s = at(f->files, i);
		const char *name = file_name(f, i);

		if (s->mapped && strstr(name, ".so")) {
			libraries += s->executed[COMPILER] ? s->mapped : 0;
			continue;
		}
		for (unsigned k = 0; k < NR_KINDS; k++)
			if (s->executed[k] && kind_of(name) == (enum kind)k)
				program[k] = MAX(program[k], s->mapped);
		if (s->reads && is_header(name)) {
			add(&header, s->pages);
			g_array_append_val(counts, s->reads);
		} else if (s->reads && g_str_has_suffix(name, ".c")) {
			add(&source, s->pages);
		} else if (s->written && g_str_has_suffix(name, ".o")) {
			add(&object, s->pages);
			objects += s->pages;
		} else if (s->written && g_str_has_suffix(name, ".s")) {
			add(&temporary, s->pages);
		}
	}
	g_array_sort(counts, descending);
	if (counts->len) {
		json_object_set_new(spec, "headers", json_integer(counts->len));
		json_object_set_new(spec, "headers_per_unit",
				    json_integer((json_int_t)MAX(f->headers_read / f->units, 1)));
		json_object_set_new(spec, "header_theta", json_real(fit_theta(counts)));
	}
	set_mean(spec, "header_size", &header);
	set_mean(spec, "source_size", &source);
	set_mean(spec, "object_size", &object);
	set_mean(spec, "temporary_size", &temporary);
	for (unsigned k = 0; k < NR_KINDS; k++)
		if (program[k])
			set_pages(spec, keys[k], program[k]);
	if (libraries)
		set_pages(spec, "libraries", libraries);
	if (f->links && objects)
		json_object_set_new(spec, "link_anon",
				    json_real(MIN((double)f->link_anon / (double)objects, 100)));
}

/* The spread of a uniform distribution with the same variance, as a share of the mean. */
static void fit_anon(const struct fit *f, json_t *spec)
{
	double mean = (double)f->anon_sum / (double)f->units;
	double variance = f->anon_squares / (double)f->units - mean * mean;

	set_pages(spec, "anon", (uint64_t)(mean + 0.5));
	if (mean > 0)
		json_object_set_new(spec, "anon_deviation",
				    json_real(MIN(sqrt(MAX(variance, 0) * 3) / mean, 1)));
	if (f->assemblers)
		set_pages(spec, "assembler_anon", f->assembler_anon / f->assemblers);
}

static json_t *spec_of(struct fit *f, const char *path)
{
	g_autofree char *base = g_path_get_basename(path);
	g_autofree char *text =
		g_strdup_printf("fitted to %s by reclaimsim trace fit-kbuild", base);
	json_t *spec =
		json_pack("{ss, ss, sI, sI}", "description", text, "generator", "kernel-build",
			  "jobs", (json_int_t)MAX(f->most_alive, 1), "units", (json_int_t)f->units);

	fit_files(f, spec);
	fit_anon(f, spec);
	return spec;
}

static char *out;

static int run(int argc, char **argv)
{
	struct fit f = { 0 };
	GError *error = NULL;
	int code = EXIT_FINE;

	if (argc != 2)
		return command_usage("one trace of a build is needed: reclaimsim trace fit-kbuild "
				     "TRACE [-o SPEC]");
	f.files = g_array_new(FALSE, TRUE, sizeof(struct seen_file));
	f.regions = g_array_new(FALSE, TRUE, sizeof(struct region));
	f.processes = g_array_new(FALSE, TRUE, sizeof(struct process));
	f.threads = g_array_new(FALSE, TRUE, sizeof(uint32_t));
	if (!read_trace(&f, argv[1], &error)) {
		code = command_fail(error);
	} else if (!f.units) {
		code = command_usage(
			"%s: no process runs cc1; a trace of a C build is needed, imported from "
			"strace",
			argv[1]);
	} else {
		json_t *spec = spec_of(&f, argv[1]);
		char *dumped = json_dumps(spec, JSON_INDENT(2) | JSON_REAL_PRECISION(4));
		g_autofree char *text = g_strdup_printf("%s\n", dumped);

		if (!output_write(out, text, &error))
			code = command_fail(error);
		free(dumped);
		json_decref(spec);
	}
	for (uint32_t i = 0; i < f.regions->len; i++)
		g_clear_pointer(&((struct region *)at(f.regions, i))->touched, g_array_unref);
	rs_trace_free(f.trace);
	g_array_unref(f.files);
	g_array_unref(f.regions);
	g_array_unref(f.processes);
	g_array_unref(f.threads);
	return code;
}

static const GOptionEntry options[] = {
	{ "output", 'o', 0, G_OPTION_ARG_FILENAME, &out, "spec to write (default: standard output)",
	  "SPEC" },
	{ NULL, 0, 0, 0, NULL, NULL, NULL },
};

const struct rs_command trace_fit_kbuild = {
	.name = "fit-kbuild",
	.arguments = "TRACE [-o SPEC]",
	.summary = "fit the kernel-build generator to a recorded build",
	.about = "TRACE is an imported strace log of a make run. The result is a spec for trace "
		 "gen.",
	.example = "reclaimsim trace import build.strace -o build.trace\n"
		   "reclaimsim trace fit-kbuild build.trace -o build.json\n",
	.options = options,
	.run = run,
};
