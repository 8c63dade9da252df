/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * import_memcached.c - what memcached prints with -vv, and what its "watch" command sends; and the
 * csv of Twitter's caches. All go through the memory model of import_kv.c.
 */
#include "traces/import_kv.h"
#include "traces/import_text.h"

struct memcached {
	struct kv *kv;
	struct tally *commands, *types, *status, *connections;
	uint64_t key_reads, key_writes, value_bytes, hits_sent, skipped_events, zero_value;
	uint64_t first_us, last_us;
	bool watch, any;
};

static bool memcached_begin(struct import *im, GError **error)
{
	struct memcached *m = im->priv;

	m->kv = kv_new(im, KV_MEMCACHED);
	m->commands = tally_new();
	m->types = tally_new();
	m->status = tally_new();
	m->connections = tally_new();
	return true;
}

static void memcached_end(struct import *im)
{
	struct memcached *m = im->priv;

	kv_free(m->kv);
	tally_free(m->commands);
	tally_free(m->types);
	tally_free(m->status);
	tally_free(m->connections);
}

static size_t word_length(const char *p, const char *end)
{
	const char *s = p;

	while (p < end && *p != ' ')
		p++;
	return (size_t)(p - s);
}

/* ---- -vv: "<FD COMMAND KEY ...", ">FD ..." ---- */

static const char *const storage[] = { "set", "add", "replace", "append", "prepend", "cas" };
static const char *const retrieval[] = { "get", "gets", "gat", "gats" };
static const char *const others[] = { "delete", "incr", "decr", "touch" };

static bool one_of(const char *const *words, unsigned n, const char *s, size_t len)
{
	for (unsigned i = 0; i < n; i++)
		if (text_is(s, len, words[i]))
			return true;
	return false;
}

static void vv_storage(struct memcached *m, const char *p, const char *end)
{
	size_t n = word_length(p, end);
	uint64_t hash = objects_hash(p, n, 0), flags, expiry, bytes = 0;

	p += n;
	text_blanks(&p, end);
	if (text_u64(&p, end, &flags)) {
		text_blanks(&p, end);
		text_char(&p, end, '-');
		if (text_u64(&p, end, &expiry)) {
			text_blanks(&p, end);
			if (!text_u64(&p, end, &bytes))
				bytes = 0;
		}
	}
	bytes = MIN(bytes, 1u << 30);
	m->value_bytes += bytes;
	m->key_writes++;
	kv_set(m->kv, hash, n, bytes, false);
}

static bool vv_command(struct import *im, const char *p, const char *end)
{
	struct memcached *m = im->priv;
	size_t n = word_length(p, end);
	const char *command = p;

	p += n;
	text_blanks(&p, end);
	if (p == end)
		return false;
	import_thread(im, 0, 0);
	if (one_of(storage, G_N_ELEMENTS(storage), command, n)) {
		vv_storage(m, p, end);
	} else if (one_of(retrieval, G_N_ELEMENTS(retrieval), command, n)) {
		if (command[1] == 'a') { /* gat EXPTIME KEY... */
			p += word_length(p, end);
			text_blanks(&p, end);
		}
		while (p < end) {
			size_t len = word_length(p, end);

			m->key_reads++;
			kv_get(m->kv, objects_hash(p, len, 0), len, UINT64_MAX);
			p += len;
			text_blanks(&p, end);
		}
	} else if (one_of(others, G_N_ELEMENTS(others), command, n)) {
		size_t len = word_length(p, end);

		m->key_writes++;
		if (*command == 'd' && command[2] == 'l')
			kv_delete(m->kv, objects_hash(p, len, 0));
		else
			kv_touch(m->kv, objects_hash(p, len, 0), len);
	} else {
		return false;
	}
	(*tally_at(m->commands, command, n))++;
	return true;
}

static bool vv_line(struct import *im, const char *s, size_t n)
{
	struct memcached *m = im->priv;
	const char *p = s, *end = s + n, *connection;
	uint64_t fd;
	bool asked = text_char(&p, end, '<'), answered = !asked && text_char(&p, end, '>');

	connection = p;
	if ((asked || answered) && text_u64(&p, end, &fd) && text_char(&p, end, ' ')) {
		if (asked && vv_command(im, p, end)) {
			(*tally_at(m->connections, connection, (size_t)(p - 1 - connection)))++;
			im->c.records++;
			return true;
		}
		if (answered && text_word(&p, end, "sending key")) {
			m->hits_sent++;
			return true;
		}
	}
	/* Slab table, connections, answers: -vv prints much that is no command. */
	im->c.other_lines++;
	return true;
}

/* ---- watch: ts=S.US gid=N type=T key=K ... ---- */

static uint64_t percent_hash(const char *p, size_t n, size_t *len)
{
	char plain[256];
	size_t used = 0;

	for (size_t i = 0; i < n && used < sizeof(plain); i++) {
		int high, low;

		if (p[i] == '%' && i + 2 < n && (high = text_hex_digit(p[i + 1])) >= 0 &&
		    (low = text_hex_digit(p[i + 2])) >= 0) {
			plain[used++] = (char)(high << 4 | low);
			i += 2;
		} else {
			plain[used++] = p[i];
		}
	}
	*len = used;
	return objects_hash(plain, used, 0);
}

/* The part behind the point counts microseconds and has no leading zeros. */
static bool watch_time(struct import *im, const char *p, const char *end)
{
	struct memcached *m = im->priv;
	const char *stamp = p;
	uint64_t seconds, us;

	if (!text_u64(&p, end, &seconds) || !text_char(&p, end, '.') || !text_u64(&p, end, &us) ||
	    us > 999999 || seconds > 1ull << 33)
		return false;
	us += seconds * 1000000;
	if (!m->any)
		m->first_us = us;
	m->last_us = us;
	m->any = true;
	import_time(im, stamp, (size_t)(p - stamp), us * 1000);
	return true;
}

static void watch_event(struct memcached *m, const char *type, size_t type_n, const char *s,
			const char *end)
{
	const char *key = NULL, *status = "";
	size_t key_n = 0, status_n = 0;
	uint64_t hash, size = 0;

	if (!text_field(s, end, "key", &key))
		return;
	hash = percent_hash(key, word_length(key, end), &key_n);
	if (text_field(s, end, "status", &status))
		status_n = word_length(status, end);
	if (!text_field_number(s, end, "size", &size) || size > 1u << 30)
		size = 0;
	if (text_is(type, type_n, "item_get")) {
		m->key_reads++;
		kv_get(m->kv, hash, key_n, text_is(status, status_n, "found") ? size : UINT64_MAX);
	} else if (text_is(type, type_n, "item_store")) {
		m->key_writes++;
		m->value_bytes += size;
		if (text_is(status, status_n, "stored"))
			kv_set(m->kv, hash, key_n, size, false);
	} else if (text_is(type, type_n, "eviction") || text_is(type, type_n, "deleted") ||
		   text_is(type, type_n, "item_delete")) {
		kv_delete(m->kv, hash);
	}
}

static bool watch_line(struct import *im, const char *s, size_t n)
{
	struct memcached *m = im->priv;
	const char *end = s + n, *stamp, *type, *status;
	uint64_t count;

	if (text_field_number(s, end, "skipped", &count)) {
		m->skipped_events += count;
		import_skip(im, "events the server left out (its watcher was too slow)");
		return true;
	}
	if (!text_field(s, end, "ts", &stamp) || !text_field(s, end, "type", &type))
		return import_bad(im, "no ts= and type=");
	import_thread(im, 0, 0);
	if (!watch_time(im, stamp, end))
		return import_bad(im, "a damaged time stamp");
	(*tally_at(m->types, type, word_length(type, end)))++;
	if (text_field(s, end, "status", &status))
		(*tally_at(m->status, status, word_length(status, end)))++;
	watch_event(m, type, word_length(type, end), s, end);
	im->c.records++;
	return true;
}

static bool memcached_line(struct import *im, const char *s, size_t n)
{
	struct memcached *m = im->priv;

	if (n > 3 && !memcmp(s, "ts=", 3))
		m->watch = true;
	return m->watch ? watch_line(im, s, n) : vv_line(im, s, n);
}

static bool memcached_look(const char *s, const char *end)
{
	const char *p = s, *type;
	uint64_t fd;

	if (text_word(&p, end, "slab class ") ||
	    (text_word(&p, end, "ts=") && text_field(s, end, "type", &type)))
		return true;
	return (text_char(&p, end, '<') || text_char(&p, end, '>')) && text_u64(&p, end, &fd) &&
	       p < end && *p == ' ';
}

static unsigned memcached_probe(const char *head, size_t n)
{
	return text_probe(head, n, 100, memcached_look) >= 60 ? 85 : 0;
}

static void memcached_report(struct import *im, json_t *o)
{
	struct memcached *m = im->priv;

	json_object_set_new(o, "key_reads", json_integer((json_int_t)m->key_reads));
	json_object_set_new(o, "key_writes", json_integer((json_int_t)m->key_writes));
	json_object_set_new(o, "distinct_keys", json_integer((json_int_t)kv_distinct_keys(m->kv)));
	if (m->watch) {
		json_object_set_new(o, "types", tally_object(m->types));
		json_object_set_new(o, "status", tally_object(m->status));
		json_object_set_new(o, "stored_bytes", json_integer((json_int_t)m->value_bytes));
		json_object_set_new(o, "skipped_events",
				    json_integer((json_int_t)m->skipped_events));
		json_object_set_new(o, "first_time_microseconds",
				    json_integer((json_int_t)m->first_us));
		json_object_set_new(o, "last_time_microseconds",
				    json_integer((json_int_t)m->last_us));
	} else {
		json_object_set_new(o, "commands", tally_object(m->commands));
		json_object_set_new(o, "connections", json_integer(tally_size(m->connections)));
		json_object_set_new(o, "set_value_bytes", json_integer((json_int_t)m->value_bytes));
		json_object_set_new(o, "hits_sent", json_integer((json_int_t)m->hits_sent));
	}
	kv_report(m->kv, o);
}

const struct rs_importer import_memcached = {
	.name = "memcached",
	.summary = "memcached -vv, or its \"watch fetchers mutations evictions\"",
	.valid = "<FD COMMAND KEY ..., or ts=SECONDS.MICROSECONDS gid=N type=T key=K ...",
	.time_unit = "seconds since 1970, a point, and microseconds WITHOUT leading zeros",
	.direct = true,
	.priv_size = sizeof(struct memcached),
	.probe = memcached_probe,
	.begin = memcached_begin,
	.line = memcached_line,
	.report = memcached_report,
	.end = memcached_end,
};

/* ---- Twitter: time,key,key size,value size,client,operation,TTL; keys may hold commas ---- */

struct twitter {
	const char *stamp, *key, *op;
	size_t stamp_n, key_n, op_n;
	uint64_t ns, value;
};

static bool twitter_split(const char *s, const char *end, struct twitter *t)
{
	static const char *const ops[] = { "get",    "gets",	"set",	  "add",  "replace", "cas",
					   "append", "prepend", "delete", "incr", "decr" };
	const char *p = s, *field[5], *stop[5];
	uint64_t number;

	t->stamp = s;
	if (!text_seconds(&p, end, &t->ns))
		return false;
	t->stamp_n = (size_t)(p - s);
	if (!text_char(&p, end, ','))
		return false;
	t->key = p;
	for (int i = 4; i >= 0; i--) {
		const char *comma = memrchr(p, ',', (size_t)(end - p));

		if (!comma)
			return false;
		field[i] = comma + 1;
		stop[i] = end;
		end = comma;
	}
	t->key_n = (size_t)(end - p);
	t->op = field[3];
	t->op_n = (size_t)(stop[3] - field[3]);
	for (unsigned i = 0; i < 5; i++) {
		const char *at = field[i];

		if (i == 3)
			continue;
		if (!text_u64(&at, stop[i], &number) || at != stop[i])
			return false;
		if (i == 1)
			t->value = number;
	}
	return t->value <= 1u << 30 && one_of(ops, G_N_ELEMENTS(ops), t->op, t->op_n);
}

static bool twitter_line(struct import *im, const char *s, size_t n)
{
	struct memcached *m = im->priv;
	struct twitter t;
	uint64_t hash;

	if (!twitter_split(s, s + n, &t))
		return import_bad(im, "not seven columns of a Twitter trace");
	import_thread(im, 0, 0);
	import_time(im, t.stamp, t.stamp_n, t.ns);
	hash = objects_hash(t.key, t.key_n, 0);
	(*tally_at(m->commands, t.op, t.op_n))++;
	m->value_bytes += t.value;
	m->zero_value += !t.value;
	if (*t.op == 'g') {
		m->key_reads++;
		kv_get(m->kv, hash, t.key_n, t.value ? t.value : UINT64_MAX);
	} else {
		m->key_writes++;
		if (text_is(t.op, t.op_n, "delete"))
			kv_delete(m->kv, hash);
		else if (text_is(t.op, t.op_n, "incr") || text_is(t.op, t.op_n, "decr"))
			kv_touch(m->kv, hash, t.key_n);
		else
			kv_set(m->kv, hash, t.key_n, t.value, false);
	}
	im->c.records++;
	return true;
}

static bool twitter_look(const char *s, const char *end)
{
	struct twitter t;

	return twitter_split(s, end, &t);
}

static unsigned twitter_probe(const char *head, size_t n)
{
	return text_probe(head, n, 40, twitter_look) >= 80 ? 85 : 0;
}

static void twitter_report(struct import *im, json_t *o)
{
	struct memcached *m = im->priv;

	json_object_set_new(o, "commands", tally_object(m->commands));
	json_object_set_new(o, "key_reads", json_integer((json_int_t)m->key_reads));
	json_object_set_new(o, "key_writes", json_integer((json_int_t)m->key_writes));
	json_object_set_new(o, "distinct_keys", json_integer((json_int_t)kv_distinct_keys(m->kv)));
	json_object_set_new(o, "value_bytes", json_integer((json_int_t)m->value_bytes));
	json_object_set_new(o, "zero_value", json_integer((json_int_t)m->zero_value));
	kv_report(m->kv, o);
}

const struct rs_importer import_twitter = {
	.name = "twitter",
	.summary = "csv of Twitter's cache clusters (twitter/cache-trace)",
	.valid = "TIME,KEY,KEYSIZE,VALUESIZE,CLIENT,OPERATION,TTL",
	.time_unit = "seconds",
	.hash_comments = true,
	.direct = true,
	.priv_size = sizeof(struct memcached),
	.probe = twitter_probe,
	.begin = memcached_begin,
	.line = twitter_line,
	.report = twitter_report,
	.end = memcached_end,
};
