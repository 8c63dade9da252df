/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gen_memtier_args.c - the options of memtier_benchmark 2.1.
 */
#include "traces/gen_memtier.h"

#include <errno.h>
#include <string.h>

enum option_id {
	OPT_IGNORED,
	OPT_IGNORED_VALUE,
	OPT_REFUSED,
	OPT_PROTOCOL,
	OPT_REQUESTS,
	OPT_CLIENTS,
	OPT_THREADS,
	OPT_TEST_TIME,
	OPT_RATIO,
	OPT_PIPELINE,
	OPT_SIZE,
	OPT_SIZE_RANGE,
	OPT_SIZE_LIST,
	OPT_SIZE_PATTERN,
	OPT_EXPIRY,
	OPT_PREFIX,
	OPT_MIN,
	OPT_MAX,
	OPT_PATTERN,
	OPT_STDDEV,
	OPT_MEDIAN,
	OPT_ZIPF,
	OPT_DISTINCT,
	OPT_COMMAND,
	OPT_COMMAND_RATIO,
	OPT_COMMAND_PATTERN,
	OPT_RATE,
	OPT_URI,
};

struct arg {
	struct gen *g;
	struct memtier *m;
	const char *name; /* of the file */
	const char *option, *value;
};

static const struct option {
	const char *name;
	char letter;
	enum option_id id;
} options[] = {
	{ "authenticate", 'a', OPT_IGNORED_VALUE },
	{ "cacert", 0, OPT_IGNORED_VALUE },
	{ "cert", 0, OPT_IGNORED_VALUE },
	{ "client-stats", 0, OPT_IGNORED_VALUE },
	{ "clients", 'c', OPT_CLIENTS },
	{ "cluster-mode", 0, OPT_IGNORED },
	{ "command", 0, OPT_COMMAND },
	{ "command-key-pattern", 0, OPT_COMMAND_PATTERN },
	{ "command-ratio", 0, OPT_COMMAND_RATIO },
	{ "connection-timeout", 0, OPT_IGNORED_VALUE },
	{ "data-import", 0, OPT_REFUSED },
	{ "data-offset", 0, OPT_REFUSED },
	{ "data-size", 'd', OPT_SIZE },
	{ "data-size-list", 0, OPT_SIZE_LIST },
	{ "data-size-pattern", 0, OPT_SIZE_PATTERN },
	{ "data-size-range", 0, OPT_SIZE_RANGE },
	{ "data-verify", 0, OPT_IGNORED },
	{ "debug", 'D', OPT_IGNORED },
	{ "distinct-client-seed", 0, OPT_DISTINCT },
	{ "expiry-range", 0, OPT_EXPIRY },
	{ "generate-keys", 0, OPT_IGNORED },
	{ "hdr-file-prefix", 0, OPT_IGNORED_VALUE },
	{ "hide-histogram", 0, OPT_IGNORED },
	{ "host", 'h', OPT_IGNORED_VALUE },
	{ "ipv4", '4', OPT_IGNORED },
	{ "ipv6", '6', OPT_IGNORED },
	{ "json-out-file", 0, OPT_IGNORED_VALUE },
	{ "key", 0, OPT_IGNORED_VALUE },
	{ "key-maximum", 0, OPT_MAX },
	{ "key-median", 0, OPT_MEDIAN },
	{ "key-minimum", 0, OPT_MIN },
	{ "key-pattern", 0, OPT_PATTERN },
	{ "key-prefix", 0, OPT_PREFIX },
	{ "key-stddev", 0, OPT_STDDEV },
	{ "key-zipf-exp", 0, OPT_ZIPF },
	{ "monitor-input", 0, OPT_REFUSED },
	{ "multi-key-get", 0, OPT_REFUSED },
	{ "no-expiry", 0, OPT_IGNORED },
	{ "num-slaves", 0, OPT_IGNORED_VALUE },
	{ "out-file", 'o', OPT_IGNORED_VALUE },
	{ "pipeline", 0, OPT_PIPELINE },
	{ "port", 'p', OPT_IGNORED_VALUE },
	{ "print-all-runs", 0, OPT_IGNORED },
	{ "print-percentiles", 0, OPT_IGNORED_VALUE },
	{ "protocol", 'P', OPT_PROTOCOL },
	{ "random-data", 'R', OPT_IGNORED },
	{ "randomize", 0, OPT_DISTINCT },
	{ "rate-limiting", 0, OPT_RATE },
	{ "ratio", 0, OPT_RATIO },
	{ "reconnect-interval", 0, OPT_IGNORED_VALUE },
	{ "reconnect-on-error", 0, OPT_IGNORED },
	{ "requests", 'n', OPT_REQUESTS },
	{ "run-count", 'x', OPT_IGNORED_VALUE },
	{ "select-db", 0, OPT_IGNORED_VALUE },
	{ "server", 's', OPT_IGNORED_VALUE },
	{ "show-config", 0, OPT_IGNORED },
	{ "sni", 0, OPT_IGNORED_VALUE },
	{ "test-time", 0, OPT_TEST_TIME },
	{ "threads", 't', OPT_THREADS },
	{ "tls", 0, OPT_IGNORED },
	{ "tls-protocols", 0, OPT_IGNORED_VALUE },
	{ "tls-skip-verify", 0, OPT_IGNORED },
	{ "unix-socket", 'S', OPT_IGNORED_VALUE },
	{ "uri", 'u', OPT_IGNORED_VALUE },
	{ "verify-only", 0, OPT_REFUSED },
	{ "wait-ratio", 0, OPT_REFUSED },
	{ "wait-timeout", 0, OPT_IGNORED_VALUE },
};

static bool arg_fail(const struct arg *a, const char *format, ...) G_GNUC_PRINTF(2, 3);
static bool arg_fail(const struct arg *a, const char *format, ...)
{
	va_list args;
	g_autofree char *text = NULL;

	va_start(args, format);
	text = g_strdup_vprintf(format, args);
	va_end(args);
	gen_fail(a->g, RS_ERROR_INPUT, "%s:%u: %s", a->name, a->m->line, text);
	return false;
}

static bool number(const struct arg *a, uint64_t min, uint64_t max, uint64_t *ret)
{
	char *end;
	uint64_t n;

	errno = 0;
	n = g_ascii_strtoull(a->value, &end, 10);
	if (!g_ascii_isdigit(*a->value) || *end || errno || n < min || n > max)
		return arg_fail(a,
				"%s %s: valid are whole numbers from %" G_GUINT64_FORMAT
				" to %" G_GUINT64_FORMAT,
				a->option, a->value, min, max);
	*ret = n;
	return true;
}

static bool real(const struct arg *a, double min, double max, double *ret)
{
	char *end;
	double x = g_ascii_strtod(a->value, &end);

	if (end == a->value || *end || !(x >= min && x <= max))
		return arg_fail(a, "%s %s: valid are numbers from %g to %g", a->option, a->value,
				min, max);
	*ret = x;
	return true;
}

/* "A-B" or "A:B" of two numbers. */
static bool two_numbers(const struct arg *a, char between, uint64_t max, uint64_t *x, uint64_t *y)
{
	char *end, *end2;

	errno = 0;
	*x = g_ascii_strtoull(a->value, &end, 10);
	if (g_ascii_isdigit(*a->value) && *end == between && g_ascii_isdigit(end[1])) {
		*y = g_ascii_strtoull(end + 1, &end2, 10);
		if (!*end2 && !errno && *x <= max && *y <= max)
			return true;
	}
	return arg_fail(a, "%s %s: valid are two numbers A%cB up to %" G_GUINT64_FORMAT, a->option,
			a->value, between, max);
}

static bool size_list(const struct arg *a)
{
	g_auto(GStrv) part = g_strsplit(a->value, ",", 0);

	g_array_set_size(a->m->size_list, 0);
	a->m->size_list_sum = 0;
	for (unsigned i = 0; part[i]; i++) {
		struct arg one = *a;
		struct memtier_size s;

		one.value = part[i];
		if (!two_numbers(&one, ':', 512u << 20, &s.bytes, &s.weight))
			return false;
		g_array_append_val(a->m->size_list, s);
		a->m->size_list_sum += s.weight;
	}
	if (!a->m->size_list_sum)
		return arg_fail(a, "%s %s: valid is SIZE:WEIGHT,... with a weight above 0",
				a->option, a->value);
	return true;
}

static bool key_pattern(const struct arg *a)
{
	const char *v = a->value;
	static const char valid[] = "GRSPZ";

	if (strlen(v) != 3 || v[1] != ':' || !strchr(valid, v[0]) || !strchr(valid, v[2]))
		return arg_fail(a, "%s %s: valid is SET:GET, each of G R S P Z", a->option, v);
	a->m->commands[0].pattern = v[0];
	a->m->commands[1].pattern = v[2];
	return true;
}

static bool protocol(const struct arg *a)
{
	static const char *const redis[] = { "redis", "resp2", "resp3" };

	for (unsigned i = 0; i < G_N_ELEMENTS(redis); i++)
		if (!strcmp(a->value, redis[i])) {
			a->m->memcached = false;
			return true;
		}
	a->m->memcached = g_str_has_prefix(a->value, "memcache_");
	if (a->m->memcached)
		return true;
	return arg_fail(a, "%s %s: valid are redis resp2 resp3 memcache_text memcache_binary",
			a->option, a->value);
}

/* --command: only the ones whose effect on memory is that of SET or GET. */
static bool command(const struct arg *a)
{
	static const char *const sets[] = { "SET", "SETEX", "SETNX", "PSETEX", "GETSET" };
	static const char *const gets[] = { "GET", "GETRANGE", "STRLEN", "EXISTS" };
	g_auto(GStrv) word = g_strsplit_set(a->value, " ", 2);
	struct memtier *m = a->m;
	bool set = false, get = false;

	if (!m->own_commands)
		m->nr_commands = 0;
	m->own_commands = true;
	for (unsigned i = 0; word[0] && i < G_N_ELEMENTS(sets); i++)
		set |= !g_ascii_strcasecmp(word[0], sets[i]);
	for (unsigned i = 0; word[0] && i < G_N_ELEMENTS(gets); i++)
		get |= !g_ascii_strcasecmp(word[0], gets[i]);
	if (!set && !get)
		return arg_fail(a,
				"%s \"%s\": only commands that set or get one string are modelled",
				a->option, a->value);
	if (m->nr_commands >= MEMTIER_MAX_COMMANDS)
		return arg_fail(a, "more than %u commands", MEMTIER_MAX_COMMANDS);
	m->commands[m->nr_commands++] =
		(struct memtier_command){ .set = set, .ratio = 1, .pattern = 'R' };
	return true;
}

static bool command_detail(const struct arg *a, bool ratio)
{
	struct memtier_command *c;

	if (!a->m->own_commands || !a->m->nr_commands)
		return arg_fail(a, "%s stands before the --command it belongs to", a->option);
	c = &a->m->commands[a->m->nr_commands - 1];
	if (ratio)
		return number(a, 1, 1000000, &c->ratio);
	if (strlen(a->value) != 1 || !strchr("GRSPZ", *a->value))
		return arg_fail(a, "%s %s: valid are G R S P Z", a->option, a->value);
	c->pattern = *a->value;
	return true;
}

static bool requests(const struct arg *a)
{
	a->m->requests_given = true;
	a->m->all_keys = !strcmp(a->value, "allkeys");
	return a->m->all_keys || number(a, 1, UINT32_MAX, &a->m->requests);
}

static bool refuse(const struct arg *a)
{
	static const char *const why[][2] = {
		{ "data-import", "the file with the data is not part of the command line" },
		{ "data-offset", "writing parts of values is not modelled" },
		{ "monitor-input",
		  "import the file itself instead (trace import --format redis_monitor)" },
		{ "multi-key-get", "gets of several keys at once are not modelled" },
		{ "verify-only", "a verifying run reads keys of an import" },
		{ "wait-ratio", "waiting for replicas is not modelled" },
	};

	for (unsigned i = 0; i < G_N_ELEMENTS(why); i++)
		if (!strcmp(a->option + 2, why[i][0]))
			return arg_fail(a, "option %s is not supported: %s", a->option, why[i][1]);
	return arg_fail(a, "option %s is not supported", a->option);
}

static bool ratio(const struct arg *a)
{
	struct memtier *m = a->m;

	if (!two_numbers(a, ':', 1000000000, &m->commands[0].ratio, &m->commands[1].ratio))
		return false;
	if (!m->commands[0].ratio && !m->commands[1].ratio)
		return arg_fail(a, "%s 0:0 asks for nothing", a->option);
	return true;
}

static bool apply(const struct arg *a, enum option_id id)
{
	struct memtier *m = a->m;

	switch (id) {
	case OPT_IGNORED:
	case OPT_IGNORED_VALUE:
	case OPT_URI:
		return true;
	case OPT_REFUSED:
		return refuse(a);
	case OPT_PROTOCOL:
		return protocol(a);
	case OPT_REQUESTS:
		return requests(a);
	case OPT_CLIENTS:
		return number(a, 1, 65535, &m->clients);
	case OPT_THREADS:
		return number(a, 1, 4096, &m->threads);
	case OPT_TEST_TIME:
		return number(a, 1, 1000000, &m->test_time);
	case OPT_RATIO:
		return ratio(a);
	case OPT_PIPELINE:
		m->pipeline_given = true;
		return number(a, 1, 1000000, &m->pipeline);
	case OPT_SIZE:
		return number(a, 0, 512u << 20, &m->size);
	case OPT_SIZE_RANGE:
		if (!two_numbers(a, '-', 512u << 20, &m->size_min, &m->size_max))
			return false;
		return m->size_min <= m->size_max ||
		       arg_fail(a, "%s %s: the first size is the smaller one", a->option, a->value);
	case OPT_SIZE_LIST:
		return size_list(a);
	case OPT_SIZE_PATTERN:
		m->size_by_key = !strcmp(a->value, "S");
		return m->size_by_key || !strcmp(a->value, "R") ||
		       arg_fail(a, "%s %s: valid are R, S", a->option, a->value);
	case OPT_EXPIRY:
		return two_numbers(a, '-', 1u << 30, &m->expiry_min, &m->expiry_max);
	case OPT_PREFIX:
		g_free(m->key_prefix);
		m->key_prefix = g_strdup(a->value);
		return strlen(a->value) < 250 || arg_fail(a, "a key prefix of 250 bytes or more");
	case OPT_MIN:
		return number(a, 0, UINT64_C(1) << 40, &m->key_min);
	case OPT_MAX:
		return number(a, 1, UINT64_C(1) << 40, &m->key_max);
	case OPT_PATTERN:
		return key_pattern(a);
	case OPT_STDDEV:
		return real(a, 1e-9, 1e15, &m->stddev);
	case OPT_MEDIAN:
		return real(a, 0, 1e15, &m->median);
	case OPT_ZIPF:
		return real(a, 0, 5, &m->zipf);
	case OPT_DISTINCT:
		m->distinct_seed = true;
		return true;
	case OPT_COMMAND:
		return command(a);
	case OPT_COMMAND_RATIO:
		return command_detail(a, true);
	case OPT_COMMAND_PATTERN:
		return command_detail(a, false);
	case OPT_RATE:
		return number(a, 1, 1000000000, &m->rate_limit);
	}
	return false;
}

static bool takes_value(enum option_id id)
{
	return id != OPT_IGNORED && id != OPT_DISTINCT;
}

/* As getopt: the full name, or a beginning that only one option has. */
static const struct option *find_long(const char *name, size_t n)
{
	const struct option *found = NULL;

	for (unsigned i = 0; i < G_N_ELEMENTS(options); i++) {
		if (strncmp(options[i].name, name, n))
			continue;
		if (strlen(options[i].name) == n)
			return &options[i];
		if (found)
			return NULL;
		found = &options[i];
	}
	return found;
}

static const struct option *find_short(char letter)
{
	for (unsigned i = 0; i < G_N_ELEMENTS(options); i++)
		if (options[i].letter == letter)
			return &options[i];
	return NULL;
}

/* One option at word[i], its value perhaps in the next word. Returns words used, 0 on error. */
static unsigned one_option(struct arg *a, const char *const *word)
{
	const char *text = word[0], *equals = strchr(text, '=');
	bool is_long = g_str_has_prefix(text, "--") && text[2];
	const struct option *o = NULL;
	g_autofree char *shown = NULL;
	unsigned used = 1;

	if (is_long)
		o = find_long(text + 2, equals ? (size_t)(equals - text - 2) : strlen(text + 2));
	else if (text[0] == '-' && text[1] && text[1] != '-')
		o = find_short(text[1]);
	if (!o)
		return (unsigned)arg_fail(
			a, "unknown option \"%s\"; valid are those of memtier_benchmark 2.1", text);
	shown = is_long ? g_strdup_printf("--%s", o->name) : g_strndup(text, 2);
	a->option = shown;
	a->value = "";
	if (takes_value(o->id)) {
		a->value = is_long ? (equals ? equals + 1 : NULL) : (text[2] ? text + 2 : NULL);
		if (!a->value && word[1]) {
			a->value = word[1];
			used = 2;
		}
		if (!a->value)
			return (unsigned)arg_fail(a, "option %s needs a value", shown);
	}
	return apply(a, o->id) ? used : 0;
}

static bool check(const struct arg *a)
{
	struct memtier *m = a->m;
	bool zipf = false, gauss = false;

	for (unsigned i = 0; i < m->nr_commands; i++) {
		zipf |= m->commands[i].pattern == 'Z';
		gauss |= m->commands[i].pattern == 'G';
	}
	if (zipf && !m->key_min)
		m->key_min = 1;
	if (m->key_max < m->key_min)
		return arg_fail(a,
				"--key-maximum %" G_GUINT64_FORMAT
				" is below --key-minimum %" G_GUINT64_FORMAT,
				m->key_max, m->key_min);
	if (gauss && m->median &&
	    (m->median < (double)m->key_min || m->median > (double)m->key_max))
		return arg_fail(a, "--key-median is not between the minimum and maximum key");
	if (m->clients * m->threads > 1000000)
		return arg_fail(a, "more than a million clients");
	if (m->test_time && m->requests_given)
		return arg_fail(a, "--test-time and --requests exclude one another");
	return true;
}

bool memtier_parse(struct gen *g, struct memtier *m, const char *const *words, const char *name,
		   unsigned line)
{
	struct arg a = { .g = g, .m = m, .name = name };

	*m = (struct memtier){ .line = line,
			       .key_max = 10000000,
			       .clients = 50,
			       .threads = 4,
			       .requests = 10000,
			       .pipeline = 1,
			       .zipf = 1,
			       .size = 32,
			       .nr_commands = 2 };
	m->commands[0] = (struct memtier_command){ .set = true, .ratio = 1, .pattern = 'R' };
	m->commands[1] = (struct memtier_command){ .set = false, .ratio = 10, .pattern = 'R' };
	m->key_prefix = g_strdup("memtier-");
	m->size_list = g_array_new(FALSE, FALSE, sizeof(struct memtier_size));
	for (unsigned i = 1; words[i];) {
		unsigned used = one_option(&a, words + i);

		if (!used)
			return false;
		i += used;
	}
	return check(&a);
}

void memtier_clear(struct memtier *m)
{
	g_clear_pointer(&m->key_prefix, g_free);
	g_clear_pointer(&m->size_list, g_array_unref);
}

uint64_t memtier_nr_keys(const struct memtier *m)
{
	return m->key_max - m->key_min + 1;
}

uint64_t memtier_per_client(const struct memtier *m)
{
	uint64_t range = m->key_max - m->key_min;

	if (m->test_time)
		return UINT64_MAX;
	if (!m->all_keys)
		return m->requests;
	/* Only with P for both do the clients share the keys. */
	if (m->commands[0].pattern == 'P' && (m->nr_commands < 2 || m->commands[1].pattern == 'P'))
		return range / (m->clients * m->threads) + 1;
	return MAX(range, 1);
}
