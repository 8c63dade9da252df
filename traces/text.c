/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * text.c - reader of trace text: one line, one record, except that a region line may define its
 * file too. Streams with constant memory. Grammar: FORMAT.md.
 */
#include <reclaimsim/policy.h>
#include <string.h>

#include "traces/print.h"
#include "traces/record.h"
#include "traces/trace_internal.h"

#define LINE_MAX_BYTES (128u << 10)
#define TEXT_BUFFER (2 * LINE_MAX_BYTES)

struct text_reader {
	struct rs_trace *trace;
	char *buffer; /* TEXT_BUFFER bytes and room for a NUL */
	size_t at, end;
	bool eof, begun; /* begun: a record was met, which cannot be a mere access */
	uint64_t line;
	char *words; /* rest of the line that is being parsed */
	const char *usage;
	struct rs_record record;
	struct rs_map map;
	/* The name met last of each kind and its number: mostly met again. */
	uint32_t last[NR_NAME_KINDS];
};

static bool fail(struct text_reader *t, GError **error, const char *format, ...)
	G_GNUC_PRINTF(3, 4);
static bool fail(struct text_reader *t, GError **error, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	g_autofree char *text = g_strdup_vprintf(format, args);
	va_end(args);
	g_set_error(error, RS_ERROR, RS_ERROR_INPUT, "%s:%" G_GUINT64_FORMAT ": %s",
		    input_name(t->trace->in), t->line, text);
	return false;
}

/* A word of the line is not what it should be. */
static bool bad_word(struct text_reader *t, const char *word, const char *what, GError **error)
{
	if (!word)
		return fail(t, error, "%s is missing; valid is \"%s\"", what, t->usage);
	g_autofree char *cut = g_strndup(word, 60);
	g_autofree char *shown = g_strescape(cut, NULL);
	return fail(t, error, "\"%s\" is no %s; valid is \"%s\"", shown, what, t->usage);
}

/* The next word, ended by a NUL in place; NULL at the end of the line. */
static inline char *next_word(struct text_reader *t)
{
	char *c = t->words;

	while (*c == ' ' || *c == '\t')
		c++;
	if (!*c) {
		t->words = c;
		return NULL;
	}
	char *start = c;
	while (*c && *c != ' ' && *c != '\t')
		c++;
	t->words = *c ? c + 1 : c;
	*c = '\0';
	return start;
}

static inline bool parse_decimal(const char *c, uint64_t *ret)
{
	uint64_t n = 0;

	if (!*c)
		return false;
	for (; *c; c++) {
		uint32_t digit = (uint8_t)*c - '0';

		if (digit > 9 || n > (UINT64_MAX - digit) / 10)
			return false;
		n = n * 10 + digit;
	}
	*ret = n;
	return true;
}

static bool parse_hex(const char *c, uint64_t *ret)
{
	uint64_t n = 0;

	if (c[0] != '0' || c[1] != 'x' || !c[2] || strlen(c) > 18)
		return false;
	for (c += 2; *c; c++) {
		if (!g_ascii_isxdigit(*c))
			return false;
		n = n << 4 | g_ascii_xdigit_value(*c);
	}
	*ret = n;
	return true;
}

static bool number_in(struct text_reader *t, const char *word, const char *what, uint64_t max,
		      uint64_t *ret, GError **error)
{
	if (!word || !parse_decimal(word, ret))
		return bad_word(t, word, what, error);
	if (*ret <= max)
		return true;
	return fail(t, error, "%s %s is too large; valid are up to %" G_GUINT64_FORMAT, what, word,
		    max);
}

static bool next_page(struct text_reader *t, const char *what, uint32_t *ret, GError **error)
{
	uint64_t n;

	if (!number_in(t, next_word(t), what, TRACE_MAX_PAGES, &n, error))
		return false;
	*ret = n;
	return true;
}

static bool line_ends(struct text_reader *t, GError **error)
{
	const char *word = next_word(t);

	return !word || bad_word(t, word, "part of this line", error);
}

/* A name that is known already or, with define, becomes known. */
static bool object(struct text_reader *t, enum rs_name_kind kind, char *word, bool define,
		   uint32_t *ret, GError **error)
{
	static const char *const what[NR_NAME_KINDS] = { "region", "file",  "mark",
							 "thread", "memcg", "process" };
	struct names *names = &t->trace->state.names[kind];
	const char *last = names_get(names, t->last[kind]);

	if (!word)
		return bad_word(t, word, what[kind], error);
	unescape_name(word);
	if (last && !strcmp(last, word)) {
		*ret = t->last[kind];
		return true;
	}
	if (strlen(word) > NAME_MAX_BYTES)
		return fail(t, error, "a name of more than %u bytes", NAME_MAX_BYTES);
	uint32_t id = define ? names_add(names, word) : names_find(names, word);
	if (id == NAME_NONE) {
		g_autofree char *shown = g_strescape(word, NULL);

		return fail(t, error, "%s \"%.80s\" is unknown; a line that %s must come first",
			    what[kind], shown,
			    kind == RS_NAME_REGION ? "maps it (region)"
			    : kind == RS_NAME_FILE ? "defines it (file)"
						   : "begins it (t, fork)");
	}
	t->last[kind] = id;
	*ret = id;
	return true;
}

/* Check the record and append it to the batch, which has room. */
static bool emit(struct text_reader *t, const struct rs_map *map, GError **error)
{
	struct rs_trace *trace = t->trace;
	GError *why = NULL;

	if (!t->begun) {
		t->begun = true;
		trace->nr_head_provenance = trace->provenance.keys->len;
	}
	if (!state_apply(&trace->state, &t->record, map, &why)) {
		fail(t, error, "%s", why->message);
		g_error_free(why);
		return false;
	}
	if (map) {
		g_array_append_val(trace->map_places, trace->nr_records);
		g_array_append_val(trace->maps, *map);
	}
	trace->records[trace->nr_records++] = t->record;
	return true;
}

/*
 * The replayer of the truth runs keeps FLUSH_PAGES locked pages of its own right above the region
 * that it maps first. One truth trace runs a page past its end, which was an access to those: no
 * part of the workload.
 */
#define FLUSH_PAGES 64u

static bool hits_the_replayer(const struct trace_state *s, const struct rs_record *r)
{
	const struct region_state *first = r->object || s->process ? NULL : state_region(s, 0);

	return first && r->page >= first->pages &&
	       (uint64_t)r->page + r->count <= (uint64_t)first->pages + FLUSH_PAGES;
}

static bool parse_access(struct text_reader *t, GError **error)
{
	struct rs_record *r = &t->record;
	uint64_t count;

	if (!object(t, RS_NAME_REGION, next_word(t), false, &r->object, error) ||
	    !next_page(t, "PAGE", &r->page, error))
		return false;
	r->count = 1;
	char *word = next_word(t);
	if (word) {
		if (!number_in(t, word, "COUNT", TRACE_MAX_PAGES, &count, error) ||
		    !line_ends(t, error))
			return false;
		r->count = count;
	}
	if (state_access_ok(&t->trace->state, r)) {
		t->trace->records[t->trace->nr_records++] = *r;
		return true;
	}
	if (!hits_the_replayer(&t->trace->state, r))
		return emit(t, NULL, error);
	if (!t->trace->nr_skipped++)
		t->trace->first_skipped = t->line;
	return true;
}

/* The rest of a line: nothing (open file 0), or #HANDLE. */
static bool parse_handle(struct text_reader *t, uint64_t max, uint16_t *ret, GError **error)
{
	char *word = next_word(t);
	uint64_t handle = 0;

	if (word && *word != '#')
		return bad_word(t, word, "#HANDLE", error);
	if (word &&
	    (!number_in(t, word + 1, "#HANDLE", max, &handle, error) || !line_ends(t, error)))
		return false;
	*ret = handle;
	return true;
}

static bool parse_call(struct text_reader *t, GError **error)
{
	struct rs_record *r = &t->record;

	if (!object(t, RS_NAME_FILE, next_word(t), false, &r->object, error) ||
	    !next_page(t, "PAGE", &r->page, error) || !next_page(t, "COUNT", &r->count, error))
		return false;
	return parse_handle(t, UINT16_MAX, &r->arg, error) && emit(t, NULL, error);
}

static bool parse_open(struct text_reader *t, GError **error)
{
	return object(t, RS_NAME_FILE, next_word(t), false, &t->record.object, error) &&
	       parse_handle(t, UINT16_MAX, &t->record.arg, error) && emit(t, NULL, error);
}

/* File id gets at least this size; a smaller definition changes nothing. */
static bool grow_file(struct text_reader *t, uint32_t id, uint64_t pages, uint32_t arg,
		      GError **error)
{
	const GArray *files = t->trace->state.files;

	if (id < files->len && !arg && pages <= g_array_index(files, struct file_state, id).pages)
		return true;
	t->record = (struct rs_record){ .op = RS_OP_FILE, .arg = arg, .object = id };
	t->record.value = pages;
	return emit(t, NULL, error);
}

static bool parse_file(struct text_reader *t, GError **error)
{
	uint64_t pages;
	uint32_t id;

	if (!object(t, RS_NAME_FILE, next_word(t), true, &id, error) ||
	    !number_in(t, next_word(t), "PAGES", TRACE_MAX_PAGES, &pages, error))
		return false;
	char *word = next_word(t);
	if (word && strcmp(word, "new"))
		return bad_word(t, word, "part of this line", error);
	return line_ends(t, error) && grow_file(t, id, pages, word != NULL, error);
}

/* "rw-", with shared "rw-s" or "rw-p". */
static bool parse_prot(const char *word, bool with_shared, uint32_t *ret)
{
	static const char letters[] = "rwx";
	static const uint32_t bits[] = { VM_READ, VM_WRITE, VM_EXEC };

	if (strlen(word) != (with_shared ? 4 : 3))
		return false;
	*ret = 0;
	for (int i = 0; i < 3; i++) {
		if (word[i] == letters[i])
			*ret |= bits[i];
		else if (word[i] != '-')
			return false;
	}
	if (!with_shared)
		return true;
	if (word[3] == 's')
		*ret |= VM_SHARED;
	return word[3] == 's' || word[3] == 'p';
}

static bool parse_map_option(struct text_reader *t, const char *word, GError **error)
{
	struct rs_map *map = &t->map;
	bool anon = map->file == RS_MAP_FILE_NONE;
	uint32_t prot;
	uint64_t n;

	if (!anon && !strcmp(word, "x")) {
		map->prot = VM_READ | VM_EXEC;
	} else if (anon && !strcmp(word, "stack")) {
		map->prot |= VM_STACK;
	} else if (!anon && *word == '+') {
		return number_in(t, word + 1, "+OFFSET", TRACE_MAX_PAGES, &map->pgoff, error);
	} else if (!anon && *word == '#') {
		if (!number_in(t, word + 1, "#HANDLE", UINT16_MAX, &n, error))
			return false;
		t->record.arg = n;
	} else if (*word == '@') {
		if (!parse_decimal(word + 1, &n) && !parse_hex(word + 1, &n))
			return bad_word(t, word, "@ADDRESS", error);
		if (n % RS_PAGE_SIZE || !n)
			return fail(t, error, "address %s is no multiple of %u above 0", word + 1,
				    RS_PAGE_SIZE);
		map->address = n >> RS_PAGE_SHIFT;
	} else if (parse_prot(word, true, &prot)) {
		map->prot = prot | (map->prot & VM_STACK);
	} else {
		return bad_word(t, word, "part of this line", error);
	}
	return true;
}

static bool parse_region(struct text_reader *t, GError **error)
{
	char *name = next_word(t), *kind = next_word(t), *file = NULL, *word;
	uint32_t id;

	if (!name)
		return bad_word(t, name, "REGION", error);
	if (!kind || (strcmp(kind, "anon") && strcmp(kind, "file")))
		return bad_word(t, kind, "kind of region", error);
	t->map = (struct rs_map){ .file = RS_MAP_FILE_NONE, .prot = VM_READ | VM_WRITE };
	if (*kind == 'f') {
		file = next_word(t);
		if (!file)
			return bad_word(t, file, "FILE", error);
		t->map.prot |= VM_SHARED;
		if (!object(t, RS_NAME_FILE, file, true, &t->map.file, error))
			return false;
	}
	if (!number_in(t, next_word(t), "PAGES", TRACE_MAX_PAGES, &t->map.pages, error))
		return false;
	while ((word = next_word(t)))
		if (!parse_map_option(t, word, error))
			return false;
	uint16_t handle = t->record.arg;
	if (file &&
	    !grow_file(t, t->map.file, MIN(t->map.pages + t->map.pgoff, TRACE_MAX_PAGES), 0, error))
		return false;
	if (!object(t, RS_NAME_REGION, name, true, &id, error))
		return false;
	t->record = (struct rs_record){ .op = RS_OP_MMAP, .arg = handle, .object = id };
	return emit(t, &t->map, error);
}

/* The rest of a line: nothing (all pages), or PAGE COUNT. */
static bool parse_range(struct text_reader *t, GError **error)
{
	char *word = next_word(t);
	uint64_t page;

	if (!word)
		return emit(t, NULL, error);
	if (!number_in(t, word, "PAGE", TRACE_MAX_PAGES, &page, error) ||
	    !next_page(t, "COUNT", &t->record.count, error) || !line_ends(t, error))
		return false;
	if (!t->record.count)
		return fail(t, error,
			    "a COUNT of 0; valid is 1 and more, or neither PAGE nor COUNT");
	t->record.page = page;
	return emit(t, NULL, error);
}

static bool parse_on_object(struct text_reader *t, GError **error)
{
	int kind = rs_record_object_kind(t->record.op);
	bool define = kind == RS_NAME_MARK || kind == RS_NAME_MEMCG;
	char *word = next_word(t);

	if (!object(t, kind, word, define, &t->record.object, error))
		return false;
	switch (t->record.op) {
	case RS_OP_MUNMAP:
	case RS_OP_MLOCK:
		return parse_range(t, error);
	case RS_OP_TRUNCATE:
		if (!next_page(t, "PAGES", &t->record.page, error))
			return false;
	}
	return line_ends(t, error) && emit(t, NULL, error);
}

static bool parse_mprotect(struct text_reader *t, GError **error)
{
	uint32_t prot;

	if (!object(t, RS_NAME_REGION, next_word(t), false, &t->record.object, error))
		return false;
	char *word = next_word(t);
	if (!word || !parse_prot(word, false, &prot))
		return bad_word(t, word, "protection such as rw-", error);
	t->record.arg = prot;
	return parse_range(t, error);
}

static bool has_advice(struct text_reader *t, char *word, GError **error)
{
	for (int i = 0; word && i < RS_NR_ADVICE; i++) {
		if (strcmp(word, advice_names[i]))
			continue;
		t->record.arg = i;
		return true;
	}
	return bad_word(t, word, "ADVICE", error);
}

/* FILE ADVICE [PAGE COUNT] [#HANDLE] */
static bool parse_fadvise(struct text_reader *t, GError **error)
{
	struct rs_record *r = &t->record;
	uint16_t handle;
	uint64_t page;
	char *word;

	if (!object(t, RS_NAME_FILE, next_word(t), false, &r->object, error) ||
	    !has_advice(t, next_word(t), error))
		return false;
	while (*t->words == ' ' || *t->words == '\t')
		t->words++;
	if (*t->words && *t->words != '#') {
		word = next_word(t);
		if (!number_in(t, word, "PAGE", TRACE_MAX_PAGES, &page, error) ||
		    !next_page(t, "COUNT", &r->count, error))
			return false;
		if (!r->count)
			return fail(t, error,
				    "a COUNT of 0; valid is 1 and more, or neither PAGE "
				    "nor COUNT");
		r->page = page;
	}
	if (!parse_handle(t, RS_MAX_HANDLE, &handle, error))
		return false;
	r->arg = RS_FADVISE_ARG(r->arg, handle);
	return emit(t, NULL, error);
}

static bool parse_advice(struct text_reader *t, GError **error)
{
	if (!object(t, rs_record_object_kind(t->record.op), next_word(t), false, &t->record.object,
		    error))
		return false;
	return has_advice(t, next_word(t), error) && parse_range(t, error);
}

static bool parse_mbind(struct text_reader *t, GError **error)
{
	if (!object(t, RS_NAME_REGION, next_word(t), false, &t->record.object, error))
		return false;
	char *word = next_word(t);
	uint32_t i = 0;
	while (word && i <= RS_MPOL_PREFERRED && strcmp(word, mempolicy_names[i]))
		i++;
	if (!word || i > RS_MPOL_PREFERRED)
		return bad_word(t, word, "memory policy", error);
	t->record.arg = i;
	word = next_word(t);
	if (word && !parse_hex(word, &t->record.value) && !parse_decimal(word, &t->record.value))
		return bad_word(t, word, "bit mask of nodes", error);
	return line_ends(t, error) && emit(t, NULL, error);
}

static bool parse_thread(struct text_reader *t, GError **error)
{
	const GArray *threads = t->trace->state.threads;
	char *word = next_word(t), *process = next_word(t);
	uint32_t id, mm;

	if (!line_ends(t, error) ||
	    !object(t, RS_NAME_THREAD, word, true, &t->record.object, error))
		return false;
	id = t->record.object;
	bool alive = state_thread_alive(&t->trace->state, id);
	if (alive && !process)
		return emit(t, NULL, error);
	if (!object(t, RS_NAME_PROCESS, process ? process : word, !alive, &mm, error))
		return false;
	if (alive && mm != g_array_index(threads, struct thread_state, id).process)
		return fail(t, error, "thread \"%.80s\" belongs to another process than \"%.80s\"",
			    word, process);
	if (mm >= TRACE_MAX_PROCESSES)
		return fail(t, error, "more than %u names of processes", TRACE_MAX_PROCESSES);
	t->record.arg = alive ? 0 : mm;
	return emit(t, NULL, error);
}

static bool parse_time(struct text_reader *t, GError **error)
{
	uint64_t value;

	if (!number_in(t, next_word(t), "NS", TRACE_MAX_NS, &value, error))
		return false;
	t->record.value = value;
	return line_ends(t, error) && emit(t, NULL, error);
}

static bool parse_plain(struct text_reader *t, GError **error)
{
	return line_ends(t, error) && emit(t, NULL, error);
}

static const struct keyword {
	const char *word;
	uint8_t op, arg;
	bool (*parse)(struct text_reader *, GError **);
	const char *usage;
} keywords[] = {
	{ "l", RS_OP_LOAD, 0, parse_access, "l REGION PAGE [COUNT]" },
	{ "s", RS_OP_STORE, 0, parse_access, "s REGION PAGE [COUNT]" },
	{ "r", RS_OP_READ, 0, parse_call, "r FILE PAGE COUNT [#HANDLE]" },
	{ "w", RS_OP_WRITE, 0, parse_call, "w FILE PAGE COUNT [#HANDLE]" },
	{ "t", RS_OP_THREAD, 0, parse_thread, "t THREAD [PROCESS]" },
	{ "u", RS_OP_MUNMAP, 0, parse_on_object, "u REGION [PAGE COUNT]" },
	{ "f", RS_OP_FSYNC, 0, parse_on_object, "f FILE" },
	{ "m", RS_OP_MARK, 0, parse_on_object, "m NAME" },
	{ "cpu", RS_OP_CPU, 0, parse_time, "cpu NS" },
	{ "sleep", RS_OP_SLEEP, 0, parse_time, "sleep NS" },
	{ "time", RS_OP_TIME, 0, parse_time, "time NS" },
	{ "file", RS_OP_FILE, 0, parse_file, "file FILE PAGES [new]" },
	{ "region", RS_OP_MMAP, 0, parse_region,
	  "region REGION anon PAGES [rwxs] [stack] [@ADDRESS] or region REGION file FILE PAGES "
	  "[x|rwxs] "
	  "[+OFFSET] [@ADDRESS] [#HANDLE]" },
	{ "mprotect", RS_OP_MPROTECT, 0, parse_mprotect, "mprotect REGION rwx [PAGE COUNT]" },
	{ "madvise", RS_OP_MADVISE, 0, parse_advice,
	  "madvise REGION "
	  "normal|random|sequential|willneed|dontneed|free|cold|pageout|hugepage|nohugepage "
	  "[PAGE COUNT]" },
	{ "fadvise", RS_OP_FADVISE, 0, parse_fadvise,
	  "fadvise FILE normal|random|sequential|willneed|dontneed|noreuse [PAGE COUNT] "
	  "[#HANDLE]" },
	{ "open", RS_OP_OPEN, 0, parse_open, "open FILE [#HANDLE]" },
	{ "mlock", RS_OP_MLOCK, 1, parse_on_object, "mlock REGION [PAGE COUNT]" },
	{ "munlock", RS_OP_MLOCK, 0, parse_on_object, "munlock REGION [PAGE COUNT]" },
	{ "truncate", RS_OP_TRUNCATE, 0, parse_on_object, "truncate FILE PAGES" },
	{ "mbind", RS_OP_MBIND, 0, parse_mbind,
	  "mbind REGION default|bind|interleave|preferred [0xNODES]" },
	{ "fork", RS_OP_FORK, 0, parse_thread, "fork THREAD [PROCESS]" },
	{ "exec", RS_OP_EXEC, 0, parse_plain, "exec" },
	{ "exit", RS_OP_EXIT, 0, parse_plain, "exit" },
	{ "wait", RS_OP_WAIT, 0, parse_on_object, "wait THREAD" },
	{ "memcg", RS_OP_MEMCG, 0, parse_on_object, "memcg PATH" },
};

static bool unknown_word(struct text_reader *t, const char *word, GError **error)
{
	GString *valid = g_string_new(NULL);
	g_autofree char *cut = g_strndup(word, 40);
	g_autofree char *shown = g_strescape(cut, NULL);

	for (uint32_t i = 0; i < G_N_ELEMENTS(keywords); i++)
		g_string_append_printf(valid, "%s%s", i ? " " : "", keywords[i].word);
	fail(t, error, "unknown operation \"%s\"; valid are %s", shown, valid->str);
	g_string_free(valid, TRUE);
	return false;
}

/* "#! key value" behind "#!". Other "#!" lines, such as "#!/bin/sh", are comments. */
static bool parse_provenance(struct text_reader *t, GError **error)
{
	char *key = next_word(t);
	if (!key)
		return true;
	char *value = t->words;
	unescape_name(key);
	unescape_name(value);
	if (provenance_set(&t->trace->provenance, key, value))
		return true;
	return fail(t, error, "more than %u provenance lines, or one of more than %u bytes",
		    PROVENANCE_MAX, PROVENANCE_BYTES);
}

static bool parse_line(struct text_reader *t, char *line, GError **error)
{
	t->words = line;
	char *word = next_word(t);

	if (!word)
		return true;
	if (*word == '#')
		return strcmp(word, "#!") ? true : parse_provenance(t, error);
	for (uint32_t i = 0; i < G_N_ELEMENTS(keywords); i++) {
		if (strcmp(word, keywords[i].word))
			continue;
		t->record = (struct rs_record){ .op = keywords[i].op, .arg = keywords[i].arg };
		t->usage = keywords[i].usage;
		return keywords[i].parse(t, error);
	}
	return unknown_word(t, word, error);
}

/* The next line, without its end; NULL at the end of the trace or on error. */
static char *next_line(struct text_reader *t, GError **error)
{
	char *newline;

	while (!(newline = memchr(t->buffer + t->at, '\n', t->end - t->at))) {
		if (t->end - t->at > LINE_MAX_BYTES) {
			t->line++;
			fail(t, error, "a line of more than %u bytes", LINE_MAX_BYTES);
			return NULL;
		}
		if (t->eof) {
			if (t->at == t->end)
				return NULL;
			t->line++;
			fail(t, error, "truncated: the last line does not end in a newline");
			return NULL;
		}
		memmove(t->buffer, t->buffer + t->at, t->end - t->at);
		t->end -= t->at;
		t->at = 0;
		gssize n =
			input_read(t->trace->in, t->buffer + t->end, TEXT_BUFFER - t->end, error);
		if (n < 0)
			return NULL;
		t->eof = (size_t)n < TEXT_BUFFER - t->end;
		t->end += n;
	}
	char *line = t->buffer + t->at;
	t->at = newline + 1 - t->buffer;
	t->line++;
	if (newline > line && newline[-1] == '\r')
		newline--;
	*newline = '\0';
	if (memchr(line, '\0', newline - line)) {
		fail(t, error, "a NUL byte: this is no trace text");
		return NULL;
	}
	return line;
}

/* A batch ends while there is room for the two records that one line may make. */
int text_next(struct rs_trace *trace, GError **error)
{
	struct text_reader *t = trace->text;
	GError *why = NULL;

	while (trace->nr_records + 2 <= BATCH_RECORDS) {
		char *line = next_line(t, &why);

		if (!line && why) {
			g_propagate_error(error, why);
			return -1;
		}
		if (!line)
			break;
		if (!trace->nr_records)
			trace->line = t->line;
		if (!parse_line(t, line, error))
			return -1;
	}
	if (!t->begun)
		trace->nr_head_provenance = trace->provenance.keys->len;
	return trace->nr_records > 0;
}

struct text_reader *text_open(struct rs_trace *trace, GError **error)
{
	struct text_reader *t = g_new0(struct text_reader, 1);
	const uint8_t *first;

	t->trace = trace;
	t->buffer = g_malloc(TEXT_BUFFER + 1);
	if (input_peek(trace->in, &first, NULL) >= 3 && !memcmp(first, "\xef\xbb\xbf", 3)) {
		if (input_read(trace->in, t->buffer, 3, error) != 3) {
			text_free(t);
			return NULL;
		}
	}
	return t;
}

void text_free(struct text_reader *t)
{
	if (!t)
		return;
	g_free(t->buffer);
	g_free(t);
}
