/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * import_strace.c - lines of strace: [PID ]TIME NAME(ARGS) = RESULT.
 *
 * Strings may hold anything, so a line is scanned with its quotes, never searched from the back.
 * A call that others interrupted (<unfinished ...>, <... NAME resumed>) is put together by pid and
 * counts where it ends. On stderr "strace: Process N attached" lands inside lines.
 */
#include "traces/import_strace.h"
#include "traces/import_text.h"

#define UNFINISHED "<unfinished ...>"
#define DAY_NS 86400000000000ull

/* ---- one call ---- */

/* Past a string, or the <...> behind a descriptor; p stands on its first character. */
static const char *skip_string(const char *p, const char *end)
{
	for (p++; p < end && *p != '"'; p++)
		if (*p == '\\')
			p++;
	return p < end ? p + 1 : NULL;
}

static bool descriptor_path(const char *start, const char *p)
{
	return p > start && (g_ascii_isalnum(p[-1]) || p[-1] == '_');
}

/* The arguments up to the bracket that closes the call; NULL if there is none. */
static const char *split_args(struct scall *c, const char *p, const char *end)
{
	const char *start = p, *close;
	unsigned depth = 0;

	c->nr_args = 0;
	while (p < end) {
		if (*p == '"') {
			p = skip_string(p, end);
			if (!p)
				return NULL;
			continue;
		}
		if (*p == '<' && descriptor_path(start, p) &&
		    (close = memchr(p, '>', (size_t)(end - p))))
			p = close;
		else if (*p == '/' && end - p > 2 && p[1] == '*' &&
			 text_find(p + 2, end, "*/", &close))
			p = close + 1;
		else if (*p == '(' || *p == '[' || *p == '{')
			depth++;
		else if ((*p == ']' || *p == '}' || *p == ')') && depth)
			depth--;
		else if (!depth && (*p == ',' || *p == ')')) {
			if (c->nr_args < STRACE_MAX_ARGS) {
				c->arg[c->nr_args] = start;
				c->arg_end[c->nr_args++] = p;
			}
			if (*p == ')')
				return p + 1;
			for (start = p + 1; start < end && *start == ' '; start++)
				;
			p = start;
			continue;
		}
		p++;
	}
	return NULL;
}

static bool split_result(struct scall *c, const char *p, const char *end)
{
	text_blanks(&p, end);
	if (!text_char(&p, end, '='))
		return false;
	text_blanks(&p, end);
	c->failed = c->unknown = false;
	c->path = NULL;
	if (text_char(&p, end, '?')) {
		c->unknown = true;
		return true;
	}
	if (text_char(&p, end, '-')) {
		c->failed = true;
		return text_number(&p, end, &c->result);
	}
	if (!text_number(&p, end, &c->result))
		return false;
	if (p < end && *p == '<') {
		c->path = p + 1;
		c->path_end = memrchr(p, '>', (size_t)(end - p));
		if (!c->path_end || c->path_end < c->path)
			c->path = NULL;
	}
	return true;
}

/* NAME( at p; returns what stands behind the bracket. */
static const char *split_name(const char *p, const char *end, const char **name, size_t *n)
{
	*name = p;
	while (p < end && (g_ascii_isalnum(*p) || *p == '_'))
		p++;
	*n = (size_t)(p - *name);
	return *n && p < end && *p == '(' ? p + 1 : NULL;
}

bool scall_number(const struct scall *c, unsigned i, uint64_t *ret)
{
	const char *p;

	if (i >= c->nr_args)
		return false;
	p = c->arg[i];
	if (text_is(p, (size_t)(c->arg_end[i] - p), "NULL")) {
		*ret = 0;
		return true;
	}
	return text_number(&p, c->arg_end[i], ret);
}

bool scall_has(const struct scall *c, unsigned i, const char *word)
{
	size_t n = strlen(word);
	const char *p;

	if (i >= c->nr_args)
		return false;
	for (p = c->arg[i]; (p = memmem(p, (size_t)(c->arg_end[i] - p), word, n)); p += n) {
		bool left = p == c->arg[i] || !(g_ascii_isalnum(p[-1]) || p[-1] == '_');
		bool right = p + n == c->arg_end[i] || !(g_ascii_isalnum(p[n]) || p[n] == '_');

		if (left && right)
			return true;
	}
	return false;
}

/* ---- tasks ---- */

static void task_free(void *data)
{
	struct stask *task = data;

	if (task->pending)
		g_string_free(task->pending, TRUE);
	g_free(task->cwd);
	g_free(task);
}

/* A pid that was not seen: the child of a fork that has not returned yet, or the first one. */
static struct stask *task_new(struct import *im, uint64_t pid)
{
	struct strace *st = im->priv;
	struct stask *task, *parent = NULL, *other;
	GHashTableIter iter;
	uint64_t *key;

	if (g_hash_table_size(st->tasks) >= STRACE_MAX_TASKS) {
		if (!im->error)
			g_set_error(&im->error, RS_ERROR, RS_ERROR_INPUT,
				    "%s:%" G_GUINT64_FORMAT ": more than %u processes at a time; "
				    "this is the limit of one import",
				    im->path, im->line_no, STRACE_MAX_TASKS);
		return NULL;
	}
	/* Of several that wait in a fork the one with the greatest pid below: no order of hashing.
	 */
	g_hash_table_iter_init(&iter, st->tasks);
	while (g_hash_table_iter_next(&iter, NULL, (void **)&other))
		if (other->pending_fork && !other->has_child && other->pid != pid &&
		    (!parent || other->pid > parent->pid))
			parent = other;
	task = g_new0(struct stask, 1);
	task->pid = pid;
	key = g_memdup2(&pid, sizeof(pid));
	g_hash_table_insert(st->tasks, key, task);
	if (parent) {
		parent->has_child = true;
		parent->child = pid;
		strace_fork(im, parent, task, parent->fork_flags);
		g_hash_table_add(st->adopted, g_memdup2(&pid, sizeof(pid)));
	} else {
		task->mm = strace_mm_new(pid);
		task->fds = strace_fds_new();
	}
	return task;
}

struct stask *strace_task(struct import *im, uint64_t pid)
{
	struct strace *st = im->priv;
	struct stask *task = g_hash_table_lookup(st->tasks, &pid);

	if (!task)
		task = task_new(im, pid);
	if (task)
		objects_number(im, &st->pids, objects_hash(&pid, sizeof(pid), 0));
	return task;
}

/* ---- counting and effect of a whole call ---- */

static bool finish_call(struct import *im, struct stask *task, const char *p, const char *end)
{
	struct strace *st = im->priv;
	struct scall c = { 0 };
	const char *rest = split_name(p, end, &c.name, &c.name_n);

	if (rest)
		rest = split_args(&c, rest, end);
	if (!rest || !split_result(&c, rest, end))
		return import_bad(im, "no NAME(ARGUMENTS) = RESULT");
	st->calls++;
	im->c.records++;
	(*tally_at(st->by_name, c.name, c.name_n))++;
	if (c.failed)
		(*tally_at(st->failed, c.name, c.name_n))++;
	strace_call(im, task, &c);
	task->pending_fork = task->has_child = false;
	return true;
}

static void drop_pending(struct strace *st, struct stask *task)
{
	if (!task->pending)
		return;
	st->pending_bytes -= task->pending->len;
	g_string_free(task->pending, TRUE);
	task->pending = NULL;
	task->pending_fork = task->has_child = false;
}

static bool begin_pending(struct import *im, struct stask *task, const char *p, const char *end)
{
	struct strace *st = im->priv;
	struct scall c = { 0 };
	const char *rest = split_name(p, end, &c.name, &c.name_n);

	if (!rest)
		return import_bad(im, "no NAME( before <unfinished ...>");
	st->unfinished++;
	if (task->pending) {
		st->never_resumed++;
		drop_pending(st, task);
	}
	if (st->pending_bytes + (size_t)(end - p) > STRACE_MAX_PENDING) {
		import_skip(im, "interrupted calls that take too much memory");
		return true;
	}
	st->pending_bytes += (size_t)(end - p);
	task->pending = g_string_new_len(p, end - p);
	c.arg[0] = rest;
	c.arg_end[0] = end;
	c.nr_args = 1;
	task->pending_fork = scall_is(&c, "fork") || scall_is(&c, "vfork") ||
			     scall_is(&c, "clone") || scall_is(&c, "clone3");
	task->fork_flags = strace_fork_flags(&c);
	return true;
}

/* <... NAME resumed>REST */
static bool resume(struct import *im, struct stask *task, const char *p, const char *end)
{
	struct strace *st = im->priv;
	const char *mark;

	if (!text_find(p, end, " resumed>", &mark))
		return import_bad(im, "no \"resumed>\"");
	st->resumed++;
	p = mark + strlen(" resumed>");
	if (!task->pending) {
		st->resumed_without_begin++;
		return true;
	}
	g_string_assign(st->text, task->pending->str);
	g_string_append_len(st->text, p, end - p);
	st->pending_bytes -= task->pending->len;
	g_string_free(task->pending, TRUE);
	task->pending = NULL;
	return finish_call(im, task, st->text->str, st->text->str + st->text->len);
}

/* ---- the front of a line ---- */

/* HH:MM:SS[.us] */
static bool clock_time(const char **p, const char *end, uint64_t *ns)
{
	const char *s = *p;
	uint64_t hours, minutes, seconds;

	if (!text_u64(&s, end, &hours) || !text_char(&s, end, ':') ||
	    !text_u64(&s, end, &minutes) || !text_char(&s, end, ':') ||
	    !text_seconds(&s, end, &seconds) || hours > 23 || minutes > 59)
		return false;
	*ns = (hours * 60 + minutes) * 60000000000ull + seconds;
	*p = s;
	return true;
}

/* Time of day passes midnight; numbers below 10^8 s are times since the line before (-r). */
static void note_time(struct import *im, const char *text, size_t n, uint64_t ns, bool of_day)
{
	struct strace *st = im->priv;

	if (of_day && st->have_last && ns + DAY_NS / 2 < st->last_ns)
		st->day_ns += DAY_NS;
	st->last_ns = ns;
	st->have_last = true;
	if (!of_day && ns < 100000000000000000ull) {
		st->sum_ns = MIN(st->sum_ns + ns, 1ull << 62);
		ns = st->sum_ns;
	}
	import_time(im, text, n, ns + st->day_ns);
	if (st->no_time)
		im->clock.running = false;
}

static bool looks_like_time(const char *p, const char *end)
{
	while (p < end && g_ascii_isdigit(*p))
		p++;
	return p < end && (*p == ':' || *p == '.');
}

/*
 * On stderr lines have no pid while there is one process. When others are there, the pid that was
 * not attached is the first one's.
 */
static uint64_t real_pid(struct strace *st, uint64_t pid)
{
	if (!st->main_pid && !g_hash_table_contains(st->attached, &pid) &&
	    g_hash_table_contains(st->tasks, &st->default_pid) &&
	    !g_hash_table_contains(st->tasks, &pid))
		st->main_pid = pid;
	return st->main_pid == pid ? st->default_pid : pid;
}

/* [pid N], PID, or none; then a time or none. */
static const char *split_front(struct import *im, const char *p, const char *end, uint64_t *pid)
{
	struct strace *st = im->priv;
	const char *stamp;
	uint64_t ns;

	*pid = st->default_pid;
	text_blanks(&p, end);
	if (text_word(&p, end, "[pid ")) {
		text_blanks(&p, end);
		if (!text_u64(&p, end, pid) || !text_char(&p, end, ']'))
			return NULL;
		*pid = real_pid(st, *pid);
		text_blanks(&p, end);
	} else if (p < end && g_ascii_isdigit(*p) && !looks_like_time(p, end)) {
		if (!text_u64(&p, end, pid) || p == end || *p != ' ')
			return NULL;
		text_blanks(&p, end);
	}
	if (p < end && g_ascii_isdigit(*p)) {
		bool of_day;

		stamp = p;
		of_day = clock_time(&p, end, &ns);
		if (!of_day && !text_seconds(&p, end, &ns))
			return NULL;
		if (p == end || *p != ' ')
			return NULL;
		note_time(im, stamp, (size_t)(p - stamp), ns, of_day);
		text_blanks(&p, end);
	}
	return p;
}

static bool one_line(struct import *im, const char *s, const char *end)
{
	struct strace *st = im->priv;
	struct stask *task;
	uint64_t pid;
	const char *p = split_front(im, s, end, &pid);
	size_t n = strlen(UNFINISHED);
	struct scall c = { 0 };

	if (!p || p == end)
		return import_bad(im, "no pid, time and call");
	task = strace_task(im, pid);
	if (!task)
		return true;
	if (text_word(&p, end, "+++ ")) {
		st->exits += !text_find(p, end, "superseded", NULL);
		if (task->pending) {
			st->never_resumed++;
			drop_pending(st, task);
		}
		strace_exit(im, task);
		return true;
	}
	if (text_word(&p, end, "--- ")) {
		st->signals++;
		return true;
	}
	if (text_word(&p, end, "<... "))
		return resume(im, task, p, end);
	/* The mark at the end, and not inside a string. */
	if ((size_t)(end - p) > n && !memcmp(end - n, UNFINISHED, n)) {
		const char *rest = split_name(p, end, &c.name, &c.name_n);

		if (rest && !split_args(&c, rest, end - n))
			return begin_pending(im, task, p, end - n);
	}
	return finish_call(im, task, p, end);
}

static bool strace_line(struct import *im, const char *s, size_t n)
{
	struct strace *st = im->priv;
	const char *end = s + n, *at, *p;
	uint64_t pid;
	bool fine;

	st->lines++;
	if (text_find(s, end, "strace: Process ", &at)) {
		p = at + strlen("strace: Process ");
		if (text_u64(&p, end, &pid) && text_word(&p, end, " attached") && p == end) {
			if (g_hash_table_size(st->attached) < 1u << 20)
				g_hash_table_add(st->attached, g_memdup2(&pid, sizeof(pid)));
			/* Alone, or in the middle of a line whose rest comes next. */
			if (at == s)
				im->c.other_lines++;
			else if (!st->held->len)
				g_string_append_len(st->held, s, at - s);
			return true;
		}
	}
	if (!st->held->len)
		return one_line(im, s, end);
	st->joined++;
	g_string_append_len(st->held, s, (gssize)n);
	fine = one_line(im, st->held->str, st->held->str + st->held->len);
	g_string_truncate(st->held, 0);
	return fine;
}

/* ---- life ---- */

static bool strace_begin(struct import *im, GError **error)
{
	struct strace *st = im->priv;
	const char *touched = import_with(im, "touched"), *time = import_with(im, "time");

	st->tasks = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, task_free);
	st->by_name = tally_new();
	st->failed = tally_new();
	st->held = g_string_new(NULL);
	st->text = g_string_new(NULL);
	st->default_pid = 1;
	st->paths = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	st->files = g_array_new(FALSE, TRUE, sizeof(struct sfile));
	st->adopted = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
	st->attached = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
	st->ended = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
	st->region_refs = g_array_new(FALSE, TRUE, sizeof(uint32_t));
	st->free_regions = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	st->no_time = time && !strcmp(time, "0");
	return !touched || strace_read_touched(im, touched, error);
}

static void strace_end(struct import *im)
{
	struct strace *st = im->priv;
	GHashTableIter iter;
	struct stask *task;

	if (!st->tasks)
		return;
	g_hash_table_iter_init(&iter, st->tasks);
	while (g_hash_table_iter_next(&iter, NULL, (void **)&task)) {
		strace_mm_put(st, task->mm);
		strace_fds_put(task->fds);
	}
	g_hash_table_destroy(st->tasks);
	g_hash_table_destroy(st->adopted);
	g_hash_table_destroy(st->ended);
	g_hash_table_destroy(st->attached);
	tally_free(st->by_name);
	tally_free(st->failed);
	g_string_free(st->held, TRUE);
	g_string_free(st->text, TRUE);
	g_hash_table_destroy(st->paths);
	for (guint i = 0; i < st->files->len; i++)
		if (strace_file(st, i)->free_numbers)
			g_array_free(strace_file(st, i)->free_numbers, TRUE);
	g_array_free(st->files, TRUE);
	if (st->touched)
		g_hash_table_destroy(st->touched);
	g_array_free(st->region_refs, TRUE);
	g_array_free(st->free_regions, TRUE);
	objects_clear(&st->opened);
	objects_clear(&st->pids);
}

/* Between inputs (strace -ff): no call goes on in another file. */
static void strace_input_end(struct import *im)
{
	struct strace *st = im->priv;
	GHashTableIter iter;
	struct stask *task;

	g_hash_table_iter_init(&iter, st->tasks);
	while (g_hash_table_iter_next(&iter, NULL, (void **)&task)) {
		st->never_resumed += task->pending != NULL;
		drop_pending(st, task);
	}
	g_string_truncate(st->held, 0);
	st->have_last = false;
	st->day_ns = 0;
	st->default_pid++;
	st->main_pid = 0;
	g_hash_table_remove_all(st->attached);
}

static bool strace_look(const char *s, const char *end)
{
	const char *p = s, *name;
	uint64_t number;
	size_t n;

	if (text_word(&p, end, "[pid ")) {
		text_blanks(&p, end);
		if (!text_u64(&p, end, &number) || !text_word(&p, end, "] "))
			return false;
	}
	while (p < end && (g_ascii_isdigit(*p) || *p == '.' || *p == ':' || *p == ' '))
		p++;
	if (end - p > 4 &&
	    (!memcmp(p, "+++ ", 4) || !memcmp(p, "--- ", 4) || !memcmp(p, "<...", 4)))
		return true;
	return split_name(p, end, &name, &n) && n > 1 && g_ascii_islower(*name) &&
	       (text_find(p, end, ") = ", NULL) || text_find(p, end, ")  ", NULL) ||
		text_find(p, end, UNFINISHED, NULL));
}

static unsigned strace_probe(const char *head, size_t n)
{
	return text_probe(head, n, 40, strace_look) >= 60 ? 80 : 0;
}

static void set(json_t *o, const char *key, uint64_t value)
{
	json_object_set_new(o, key, json_integer((json_int_t)value));
}

static void strace_report(struct import *im, json_t *o)
{
	struct strace *st = im->priv;

	set(o, "lines", st->lines);
	set(o, "lines_joined_around_attach_messages", st->joined);
	set(o, "calls", st->calls);
	json_object_set_new(o, "calls_by_name", tally_object(st->by_name));
	json_object_set_new(o, "failed_by_name", tally_object(st->failed));
	set(o, "execs", st->execs);
	set(o, "opens", st->opens);
	set(o, "distinct_opened_paths", st->opened.used);
	set(o, "mmaps", st->mmaps);
	set(o, "mmap_file", st->mmap_file);
	set(o, "mmap_anon", st->mmap_anon);
	set(o, "mmap_file_pages", st->mmap_file_pages);
	set(o, "mmap_anon_pages", st->mmap_anon_pages);
	set(o, "bytes_read", st->bytes_read);
	set(o, "bytes_written", st->bytes_written);
	set(o, "forks", st->forks);
	set(o, "processes", st->pids.used);
	set(o, "exits", st->exits);
	set(o, "signals", st->signals);
	set(o, "unfinished", st->unfinished);
	set(o, "resumed", st->resumed);
	set(o, "resumed_without_begin", st->resumed_without_begin);
	set(o, "never_resumed", st->never_resumed);
}

const struct rs_importer import_strace = {
	.name = "strace",
	.summary = "strace -f -ttt -y of a program and its children; touches of mapped memory are "
		   "modelled (--with touched=FILE, --with time=0)",
	.valid = "[PID ][TIME ]NAME(ARGUMENTS) = RESULT",
	.time_unit = "as strace's -t options wrote it",
	.priv_size = sizeof(struct strace),
	.probe = strace_probe,
	.begin = strace_begin,
	.line = strace_line,
	.input_end = strace_input_end,
	.report = strace_report,
	.end = strace_end,
};
