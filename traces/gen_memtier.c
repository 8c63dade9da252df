/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gen_memtier.c - memtier_benchmark command lines as the memory accesses of the server they drive.
 *
 * The lines of a file are runs one after the other against the same server, each ended by a mark.
 * Every client has its own place in its sequence of keys; without --distinct-client-seed or
 * --randomize all clients draw the same random keys, as memtier does. Clients take turns of
 * --pipeline requests.
 *
 * What a command line does not say is a --with setting: server=redis|memcached (default by
 * --protocol), rate=100000 requests a second (decides the length of --test-time and when keys
 * expire), memory=0 (memcached -m in MiB, 0 unlimited), server_threads=1 (redis) or 4 (memcached),
 * line=0 (one line of the file only).
 */
#include "traces/gen_memtier.h"

#include <string.h>

#include "traces/gen_dist.h"
#include "traces/gen_kv.h"

#define MAX_LINES 10000u

struct client {
	struct rs_rng keys, sizes;
	double spare; /* of the normal distribution */
	bool has_spare;
	uint64_t done, left_in_ratio;
	uint64_t next[MEMTIER_MAX_COMMANDS]; /* sequential patterns */
	unsigned command;
	uint64_t first, last; /* keys of pattern P */
};

struct run {
	struct gen *g;
	struct memtier *m;
	struct gen_kv *kv;
	struct client *clients;
	uint64_t nr_clients, requests;
	struct gen_dist zipf, normal;
	ns_t per_request, start;
	const uint32_t *workers;
	unsigned nr_workers, prefix_len;
};

/* First line that is not blank or a comment. */
bool gen_memtier_probe(const char *text, size_t size)
{
	g_autofree char *copy = g_strndup(text, MIN(size, 65536));
	g_auto(GStrv) lines = g_strsplit(copy, "\n", 0);

	for (unsigned i = 0; lines[i]; i++) {
		char *line = g_strstrip(lines[i]), *end;

		if (!*line || *line == '#')
			continue;
		end = strpbrk(line, " \t");
		if (end)
			*end = '\0';
		return g_str_has_suffix(line, "memtier_benchmark");
	}
	return false;
}

/* ---- keys and sizes ---- */

static unsigned digits(uint64_t n)
{
	unsigned d = 1;

	while (n /= 10)
		d++;
	return d;
}

static uint64_t sequential(struct client *c, unsigned command, uint64_t first, uint64_t last)
{
	uint64_t *next = &c->next[command], key;

	if (*next < first || *next > last)
		*next = first;
	key = (*next)++;
	return key;
}

static uint64_t next_key(struct run *r, struct client *c)
{
	const struct memtier *m = r->m;
	uint64_t n = memtier_nr_keys(m), rank;

	switch (m->commands[c->command].pattern) {
	case 'S':
		return sequential(c, c->command, m->key_min, m->key_max);
	case 'P':
		return sequential(c, c->command, c->first, c->last);
	case 'Z':
		return m->key_min + gen_dist_next(&r->zipf, &c->keys);
	case 'G':
		r->normal.spare = c->spare;
		r->normal.has_spare = c->has_spare;
		rank = gen_dist_next(&r->normal, &c->keys);
		c->spare = r->normal.spare;
		c->has_spare = r->normal.has_spare;
		return m->key_min + rank;
	default:
		return m->key_min + rs_rng_below(&c->keys, n);
	}
}

static uint64_t next_size(struct run *r, struct client *c, uint64_t key)
{
	const struct memtier *m = r->m;
	uint64_t x;

	if (m->size_list_sum) {
		x = rs_rng_below(&c->sizes, m->size_list_sum);
		for (unsigned i = 0; i < m->size_list->len; i++) {
			const struct memtier_size *s =
				&g_array_index(m->size_list, struct memtier_size, i);

			if (x < s->weight)
				return s->bytes;
			x -= s->weight;
		}
	}
	if (!m->size_max)
		return m->size;
	if (m->size_by_key)
		return m->size_min +
		       (uint64_t)((unsigned __int128)(m->size_max - m->size_min) *
				  (key - m->key_min) / MAX(m->key_max - m->key_min, 1));
	return m->size_min + rs_rng_below(&c->sizes, m->size_max - m->size_min + 1);
}

/* ---- requests ---- */

/* memtier does each command ratio times, then the next one. */
static void next_command(struct run *r, struct client *c)
{
	while (!c->left_in_ratio) {
		c->command = (c->command + 1) % r->m->nr_commands;
		c->left_in_ratio = r->m->commands[c->command].ratio;
	}
	c->left_in_ratio--;
}

static void one_request(struct run *r, struct client *c)
{
	const struct memtier *m = r->m;
	uint64_t key;

	next_command(r, c);
	key = next_key(r, c);
	r->kv->now = r->start + r->requests * r->per_request;
	if (m->commands[c->command].set) {
		ns_t expires = 0;

		if (m->expiry_max) {
			uint64_t span =
				m->expiry_max > m->expiry_min ? m->expiry_max - m->expiry_min : 0;

			expires = r->kv->now +
				  (m->expiry_min + rs_rng_below(&c->sizes, span + 1)) * 1000000000;
		}
		gen_kv_set(r->kv, key, r->prefix_len + digits(key), next_size(r, c, key), expires);
	} else {
		gen_kv_get(r->kv, key);
	}
	c->done++;
	r->requests++;
}

static void start_clients(struct run *r)
{
	const struct memtier *m = r->m;
	uint64_t n = memtier_nr_keys(m);

	r->nr_clients = m->clients * m->threads;
	if (!gen_reserve(r->g, r->nr_clients * sizeof(struct client)))
		r->nr_clients = 0;
	r->clients = g_new0(struct client, MAX(r->nr_clients, 1));
	for (uint64_t i = 0; i < r->nr_clients; i++) {
		struct client *c = &r->clients[i];
		g_autofree char *stream =
			g_strdup_printf("memtier.%" G_GUINT64_FORMAT, m->distinct_seed ? i : 0);

		rs_rng_init(&c->keys, r->g->seed, stream);
		c->sizes = c->keys;
		rs_rng_next(&c->sizes);
		c->first = m->key_min + n / r->nr_clients * i + MIN(i, n % r->nr_clients);
		c->last = m->key_min + n / r->nr_clients * (i + 1) + MIN(i + 1, n % r->nr_clients) -
			  1;
		if (c->last < c->first || c->last > m->key_max) /* more clients than keys */
			c->first = c->last = m->key_min + i % n;
		c->command = m->nr_commands - 1;
	}
}

/*
 * Rounds over the clients, those of one worker thread together. A client with P never does more
 * than its keys when all keys are asked for.
 */
static void do_requests(struct run *r)
{
	const struct memtier *m = r->m;
	uint64_t each = memtier_per_client(m), end = UINT64_MAX;
	bool parallel =
		m->all_keys && m->commands[0].pattern == 'P' && m->commands[1].pattern == 'P';
	bool more = true;

	if (each == UINT64_MAX)
		end = m->test_time * 1000000000 / r->per_request;
	while (more && !gen_failed(r->g)) {
		more = false;
		for (unsigned w = 0; w < r->nr_workers; w++) {
			for (uint64_t i = w; i < r->nr_clients; i += r->nr_workers) {
				struct client *c = &r->clients[i];
				uint64_t limit =
					parallel ? MIN(each, c->last - c->first + 1) : each;

				for (uint64_t p = 0; p < m->pipeline && c->done < limit &&
						     r->requests < end && !gen_failed(r->g);
				     p++) {
					gen_switch(r->g, r->workers[w]);
					one_request(r, c);
					more = true;
				}
			}
		}
	}
}

static json_t *number_or_real(double x)
{
	return x == (double)(int64_t)x ? json_integer((json_int_t)x) : json_real(x);
}

static json_t *line_summary(const struct memtier *m)
{
	uint64_t each = memtier_per_client(m), total = each * m->clients * m->threads;
	json_t *o = json_object();
	const char set[2] = { m->commands[0].pattern }, get[2] = { m->commands[1].pattern };

	if (m->all_keys && m->commands[0].pattern == 'P' && m->commands[1].pattern == 'P')
		total = MIN(total, memtier_nr_keys(m));
	json_object_set_new(o, "line", json_integer(m->line));
	json_object_set_new(o, "set_pattern", json_string(set));
	json_object_set_new(o, "get_pattern", json_string(get));
	json_object_set_new(o, "keys", json_integer((json_int_t)memtier_nr_keys(m)));
	json_object_set_new(o, "clients", json_integer((json_int_t)(m->clients * m->threads)));
	json_object_set_new(o, "sets", json_integer((json_int_t)m->commands[0].ratio));
	json_object_set_new(o, "gets", json_integer((json_int_t)m->commands[1].ratio));
	if (m->size_max) {
		json_object_set_new(o, "data_size_min", json_integer((json_int_t)m->size_min));
		json_object_set_new(o, "data_size_max", json_integer((json_int_t)m->size_max));
	} else if (!m->size_list_sum) {
		json_object_set_new(o, "data_size", json_integer((json_int_t)m->size));
	}
	json_object_set_new(o, "requests_per_client",
			    m->test_time  ? json_null()
			    : m->all_keys ? json_string("allkeys")
					  : json_integer((json_int_t)m->requests));
	json_object_set_new(o, "total_requests",
			    m->test_time ? json_null() : json_integer((json_int_t)total));
	json_object_set_new(o, "time_limit",
			    m->test_time ? json_integer((json_int_t)m->test_time) : json_null());
	json_object_set_new(o, "pipeline", json_integer((json_int_t)m->pipeline));
	json_object_set_new(o, "key_prefix", json_string(m->key_prefix));
	if (set[0] == 'G' || get[0] == 'G') {
		double range = (double)(m->key_max - m->key_min);

		json_object_set_new(o, "stddev", number_or_real(m->stddev ? m->stddev : range / 6));
		json_object_set_new(o, "median",
				    number_or_real(m->median
							   ? m->median
							   : range / 2 + (double)m->key_min + 0.5));
	}
	if (set[0] == 'Z' || get[0] == 'Z')
		json_object_set_new(o, "zipf_exponent", number_or_real(m->zipf));
	return o;
}

static void run_line(struct run *r)
{
	const struct memtier *m = r->m;
	uint64_t n = memtier_nr_keys(m);
	double range = (double)(m->key_max - m->key_min);
	g_autofree char *mark = g_strdup_printf("line%u", m->line);

	gen_dist_zipf(&r->zipf, n, m->zipf);
	gen_dist_normal(&r->normal, n, m->median ? m->median - (double)m->key_min : range / 2 + 0.5,
			m->stddev ? m->stddev : range / 6);
	r->prefix_len = (unsigned)strlen(m->key_prefix);
	r->requests = 0;
	if (m->rate_limit)
		r->per_request = MAX(1000000000 / (m->rate_limit * m->clients * m->threads), 1);
	start_clients(r);
	do_requests(r);
	r->start += r->requests * r->per_request;
	g_free(r->clients);
	gen_switch(r->g, r->workers[0]);
	gen_mark(r->g, mark);
}

/* ---- front ---- */

static void memtier_free(gpointer data)
{
	memtier_clear(data);
	g_free(data);
}

static bool add_line(struct gen *g, GPtrArray *lines, const char *const *words, const char *name,
		     unsigned number)
{
	struct memtier *m = g_new0(struct memtier, 1);

	g_ptr_array_add(lines, m);
	return memtier_parse(g, m, words, name, number);
}

static bool parse_lines(struct gen *g, GPtrArray *lines, const char *text, size_t size,
			const char *name)
{
	g_autofree char *copy = g_strndup(text, size);
	g_auto(GStrv) line = g_strsplit(copy, "\n", 0);
	uint64_t only = gen_with_number(g, "line", 0, 0, MAX_LINES);

	for (unsigned i = 0; line[i] && !gen_failed(g); i++) {
		g_auto(GStrv) words = NULL;
		g_autoptr(GError) error = NULL;

		g_strstrip(line[i]);
		if (!*line[i] || *line[i] == '#' || (only && i + 1 != only))
			continue;
		if (!g_shell_parse_argv(line[i], NULL, &words, &error))
			gen_fail(g, RS_ERROR_INPUT, "%s:%u: %s", name, i + 1, error->message);
		else if (!g_str_has_suffix(words[0], "memtier_benchmark"))
			gen_fail(g, RS_ERROR_INPUT,
				 "%s:%u: a memtier_benchmark command line is needed", name, i + 1);
		else if (lines->len >= MAX_LINES)
			gen_fail(g, RS_ERROR_INPUT, "%s: more than %u lines", name, MAX_LINES);
		else
			add_line(g, lines, (const char *const *)words, name, i + 1);
	}
	if (!lines->len && !gen_failed(g))
		gen_fail(g, RS_ERROR_INPUT, "%s: no command line%s", name,
			 only ? " of that number" : "");
	return !gen_failed(g);
}

static bool is_memcached(struct gen *g, const GPtrArray *lines)
{
	const char *server = gen_with(g, "server");

	if (!server)
		return ((const struct memtier *)g_ptr_array_index(lines, 0))->memcached;
	if (strcmp(server, "redis") && strcmp(server, "memcached"))
		gen_fail(g, RS_ERROR_USAGE, "--with server=%s: valid are redis, memcached", server);
	return !strcmp(server, "memcached");
}

static uint64_t most_keys(const GPtrArray *lines)
{
	uint64_t most = 0;

	for (unsigned i = 0; i < lines->len; i++)
		most = MAX(most, memtier_nr_keys(g_ptr_array_index(lines, i)));
	return most;
}

static uint64_t largest_value(const GPtrArray *lines)
{
	uint64_t largest = 0;

	for (unsigned i = 0; i < lines->len; i++) {
		const struct memtier *m = g_ptr_array_index(lines, i);

		largest = MAX(largest, MAX(m->size, m->size_max));
		for (unsigned k = 0; k < m->size_list->len; k++)
			largest = MAX(largest,
				      g_array_index(m->size_list, struct memtier_size, k).bytes);
	}
	return largest;
}

static void run_lines(struct gen *g, GPtrArray *lines, json_t *summary)
{
	bool memcached = is_memcached(g, lines);
	uint64_t rate = gen_with_number(g, "rate", 100000, 1, 1000000000);
	uint64_t mib = gen_with_number(g, "memory", 0, 0, 1 << 20);
	struct run r = { .g = g, .per_request = 1000000000 / rate };
	struct gen_kv kv;
	uint32_t workers[256] = { g->thread };

	r.nr_workers = (unsigned)gen_with_number(g, "server_threads", memcached ? 4 : 1, 1, 256);
	r.workers = workers;
	r.kv = &kv;
	gen_kv_init(&kv, g, memcached, mib << 20, most_keys(lines), largest_value(lines));
	for (unsigned w = 1; w < r.nr_workers; w++) {
		g_autofree char *name = g_strdup_printf("worker%u", w);

		workers[w] = gen_thread(g, name, "0");
	}
	for (unsigned i = 0; i < lines->len && !gen_failed(g); i++) {
		r.m = g_ptr_array_index(lines, i);
		run_line(&r);
	}
	json_object_set_new(summary, "assumed_rate", json_integer((json_int_t)rate));
	json_object_set_new(summary, "memory_model", gen_kv_report(&kv));
	gen_kv_done(&kv);
}

static json_t *generate(struct gen *g, GPtrArray *lines)
{
	json_t *summary =
		json_pack("{ss, sI}", "format", "memtier", "records", (json_int_t)lines->len);
	json_t *array = json_array();

	for (unsigned i = 0; i < lines->len; i++)
		json_array_append_new(array, line_summary(g_ptr_array_index(lines, i)));
	json_object_set_new(summary, "lines", array);
	/* What the lines ask for is known without doing it. */
	if (g->out)
		run_lines(g, lines, summary);
	return summary;
}

json_t *gen_memtier(struct gen *g, const char *text, size_t size, const char *name)
{
	g_autoptr(GPtrArray) lines = g_ptr_array_new_with_free_func(memtier_free);

	return parse_lines(g, lines, text, size, name) ? generate(g, lines) : NULL;
}

json_t *gen_memtier_words(struct gen *g, const char *const *words)
{
	g_autoptr(GPtrArray) lines = g_ptr_array_new_with_free_func(memtier_free);

	return add_line(g, lines, words, "command line", 1) ? generate(g, lines) : NULL;
}
