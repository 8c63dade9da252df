/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * import_redis_monitor.c - redis-cli MONITOR, through the memory model of import_kv.c.
 *
 * SECONDS.usec [DB CLIENT] "CMD" "ARG" ...; also the forms before 2.6 (no bracket, or "(db N)") and
 * the prefix "[ proxy ] " of Redis Enterprise. Commands of a script follow it as lines of their own
 * ("lua"), so EVAL itself is no access.
 *
 * Two shorter forms, as people keep them of long runs, are read as well:
 *   SECONDS.usec "CMD" "KEY" LENGTH    MONITOR without clients and values: LENGTH of the value with
 *                                      its quotes, 0 for commands without one
 *   KEY BYTES; GET KEY; SET KEY        requests: a key stored with so many bytes, read, stored
 * again with the size it has. A number as key is "key:" and six digits. The mark "load" stands
 * where the first phase ends.
 *
 * A key that is read but was never written in the log is a
 * miss unless --with value_size=BYTES says how large such values are.
 */
#include "traces/import_kv.h"
#include "traces/import_text.h"

enum effect { E_NONE, E_READ, E_SET, E_GROW, E_TOUCH, E_DELETE };

/* Keys at first, first + step, ... to last (negative: from the end); value: its argument, or 0. */
static const struct command {
	const char *name;
	enum effect effect;
	int8_t first, last, step, value;
} commands[] = {
	{ "GET", E_READ, 1, 1, 1, 0 },	     { "SET", E_SET, 1, 1, 1, 2 },
	{ "MGET", E_READ, 1, -1, 1, 0 },     { "MSET", E_SET, 1, -1, 2, 1 },
	{ "MSETNX", E_SET, 1, -1, 2, 1 },    { "SETEX", E_SET, 1, 1, 1, 3 },
	{ "PSETEX", E_SET, 1, 1, 1, 3 },     { "SETNX", E_SET, 1, 1, 1, 2 },
	{ "GETSET", E_SET, 1, 1, 1, 2 },     { "GETDEL", E_DELETE, 1, 1, 1, 0 },
	{ "GETEX", E_READ, 1, 1, 1, 0 },     { "DEL", E_DELETE, 1, -1, 1, 0 },
	{ "UNLINK", E_DELETE, 1, -1, 1, 0 }, { "EXISTS", E_READ, 1, -1, 1, 0 },
	{ "TOUCH", E_READ, 1, -1, 1, 0 },    { "STRLEN", E_READ, 1, 1, 1, 0 },
	{ "GETRANGE", E_READ, 1, 1, 1, 0 },  { "SUBSTR", E_READ, 1, 1, 1, 0 },
	{ "GETBIT", E_READ, 1, 1, 1, 0 },    { "BITCOUNT", E_READ, 1, 1, 1, 0 },
	{ "TTL", E_READ, 1, 1, 1, 0 },	     { "PTTL", E_READ, 1, 1, 1, 0 },
	{ "TYPE", E_READ, 1, 1, 1, 0 },	     { "DUMP", E_READ, 1, 1, 1, 0 },
	{ "SETRANGE", E_GROW, 1, 1, 1, 0 },  { "APPEND", E_GROW, 1, 1, 1, 0 },
	{ "SETBIT", E_TOUCH, 1, 1, 1, 0 },   { "INCR", E_TOUCH, 1, 1, 1, 0 },
	{ "DECR", E_TOUCH, 1, 1, 1, 0 },     { "INCRBY", E_TOUCH, 1, 1, 1, 0 },
	{ "DECRBY", E_TOUCH, 1, 1, 1, 0 },   { "INCRBYFLOAT", E_TOUCH, 1, 1, 1, 0 },
	{ "EXPIRE", E_TOUCH, 1, 1, 1, 0 },   { "PEXPIRE", E_TOUCH, 1, 1, 1, 0 },
	{ "EXPIREAT", E_TOUCH, 1, 1, 1, 0 }, { "PERSIST", E_TOUCH, 1, 1, 1, 0 },
	{ "HGET", E_READ, 1, 1, 1, 0 },	     { "HMGET", E_READ, 1, 1, 1, 0 },
	{ "HGETALL", E_READ, 1, 1, 1, 0 },   { "HEXISTS", E_READ, 1, 1, 1, 0 },
	{ "HLEN", E_READ, 1, 1, 1, 0 },	     { "HKEYS", E_READ, 1, 1, 1, 0 },
	{ "HVALS", E_READ, 1, 1, 1, 0 },     { "HSCAN", E_READ, 1, 1, 1, 0 },
	{ "HSET", E_GROW, 1, 1, 1, 0 },	     { "HMSET", E_GROW, 1, 1, 1, 0 },
	{ "HSETNX", E_GROW, 1, 1, 1, 0 },    { "HINCRBY", E_TOUCH, 1, 1, 1, 0 },
	{ "HDEL", E_TOUCH, 1, 1, 1, 0 },     { "LPUSH", E_GROW, 1, 1, 1, 0 },
	{ "RPUSH", E_GROW, 1, 1, 1, 0 },     { "LPUSHX", E_GROW, 1, 1, 1, 0 },
	{ "RPUSHX", E_GROW, 1, 1, 1, 0 },    { "LPOP", E_TOUCH, 1, 1, 1, 0 },
	{ "RPOP", E_TOUCH, 1, 1, 1, 0 },     { "LRANGE", E_READ, 1, 1, 1, 0 },
	{ "LINDEX", E_READ, 1, 1, 1, 0 },    { "LLEN", E_READ, 1, 1, 1, 0 },
	{ "LSET", E_TOUCH, 1, 1, 1, 0 },     { "LTRIM", E_TOUCH, 1, 1, 1, 0 },
	{ "LREM", E_TOUCH, 1, 1, 1, 0 },     { "SADD", E_GROW, 1, 1, 1, 0 },
	{ "SREM", E_TOUCH, 1, 1, 1, 0 },     { "SPOP", E_TOUCH, 1, 1, 1, 0 },
	{ "SMEMBERS", E_READ, 1, 1, 1, 0 },  { "SISMEMBER", E_READ, 1, 1, 1, 0 },
	{ "SCARD", E_READ, 1, 1, 1, 0 },     { "SRANDMEMBER", E_READ, 1, 1, 1, 0 },
	{ "SSCAN", E_READ, 1, 1, 1, 0 },     { "SINTER", E_READ, 1, -1, 1, 0 },
	{ "SUNION", E_READ, 1, -1, 1, 0 },   { "SDIFF", E_READ, 1, -1, 1, 0 },
	{ "ZADD", E_GROW, 1, 1, 1, 0 },	     { "ZINCRBY", E_GROW, 1, 1, 1, 0 },
	{ "ZREM", E_TOUCH, 1, 1, 1, 0 },     { "ZPOPMIN", E_TOUCH, 1, 1, 1, 0 },
	{ "ZPOPMAX", E_TOUCH, 1, 1, 1, 0 },  { "ZSCORE", E_READ, 1, 1, 1, 0 },
	{ "ZCARD", E_READ, 1, 1, 1, 0 },     { "ZRANGE", E_READ, 1, 1, 1, 0 },
	{ "ZREVRANGE", E_READ, 1, 1, 1, 0 }, { "ZRANGEBYSCORE", E_READ, 1, 1, 1, 0 },
	{ "ZRANK", E_READ, 1, 1, 1, 0 },     { "ZCOUNT", E_READ, 1, 1, 1, 0 },
	{ "PFADD", E_TOUCH, 1, 1, 1, 0 },    { "PFCOUNT", E_READ, 1, -1, 1, 0 },
	{ "XADD", E_GROW, 1, 1, 1, 0 },	     { "XLEN", E_READ, 1, 1, 1, 0 },
	{ "XRANGE", E_READ, 1, 1, 1, 0 },    { "RENAME", E_TOUCH, 1, 2, 1, 0 },
	{ "GEOADD", E_GROW, 1, 1, 1, 0 },
};

struct redis {
	struct kv *kv;
	GHashTable *by_name;
	struct tally *commands;
	GString *text; /* the arguments, escapes undone, one behind the other */
	GArray *args;  /* struct arg */
	uint64_t ok_lines, from_lua, key_reads, key_writes, set_value_bytes, db;
	uint64_t value_length; /* of the short form of MONITOR; 0 = the value is there */
	bool loading;	       /* the last line was KEY BYTES */
	uint8_t databases[64]; /* bit set of those seen, up to 511 */
};

struct arg {
	size_t at, n;
};

static bool redis_begin(struct import *im, GError **error)
{
	struct redis *r = im->priv;

	r->kv = kv_new(im, KV_REDIS);
	r->commands = tally_new();
	r->text = g_string_new(NULL);
	r->args = g_array_new(FALSE, FALSE, sizeof(struct arg));
	r->by_name = g_hash_table_new(g_str_hash, g_str_equal);
	for (unsigned i = 0; i < G_N_ELEMENTS(commands); i++)
		g_hash_table_insert(r->by_name, (char *)commands[i].name, (void *)&commands[i]);
	return true;
}

static void redis_end(struct import *im)
{
	struct redis *r = im->priv;

	if (!r->text)
		return;
	kv_free(r->kv);
	tally_free(r->commands);
	g_string_free(r->text, TRUE);
	g_array_free(r->args, TRUE);
	g_hash_table_destroy(r->by_name);
}

/* One quoted argument; p stands on the quote. */
static bool take_arg(struct redis *r, const char **p, const char *end)
{
	static const char plain[] = "nrtab", value[] = "\n\r\t\a\b";
	struct arg arg = { .at = r->text->len };
	const char *s = *p;

	if (!text_char(&s, end, '"'))
		return false;
	while (s < end && *s != '"') {
		const char *special;
		int high, low;

		if (*s != '\\') {
			g_string_append_c(r->text, *s++);
			continue;
		}
		if (end - s < 2)
			return false;
		special = memchr(plain, s[1], sizeof(plain) - 1);
		if (s[1] == 'x' && end - s >= 4 && (high = text_hex_digit(s[2])) >= 0 &&
		    (low = text_hex_digit(s[3])) >= 0) {
			g_string_append_c(r->text, (char)(high << 4 | low));
			s += 4;
		} else if (s[1] == '"' || s[1] == '\\' || special) {
			g_string_append_c(r->text, special ? value[special - plain] : s[1]);
			s += 2;
		} else {
			return false;
		}
	}
	if (!text_char(&s, end, '"'))
		return false;
	arg.n = r->text->len - arg.at;
	g_array_append_val(r->args, arg);
	*p = s;
	return true;
}

/* [DB CLIENT], (db N) or nothing; *lua: the client is a script. */
static bool take_client(const char **p, const char *end, uint64_t *db, bool *lua)
{
	const char *close;

	*lua = false;
	*db = 0;
	if (text_word(p, end, "(db ")) {
		return text_u64(p, end, db) && text_word(p, end, ") ");
	}
	if (!text_char(p, end, '['))
		return *p < end && **p == '"';
	if (!text_u64(p, end, db) || !text_char(p, end, ' ') || !text_find(*p, end, "] ", &close))
		return false;
	*lua = close - *p == 3 && !memcmp(*p, "lua", 3);
	*p = close + 2;
	return true;
}

static bool parse(struct redis *r, const char *p, const char *end, const char **stamp,
		  size_t *stamp_n, uint64_t *ns, bool *lua)
{
	g_string_truncate(r->text, 0);
	g_array_set_size(r->args, 0);
	if (text_word(&p, end, "[ ") &&
	    (!text_find(p, end, " ] ", &p) || !text_word(&p, end, " ] ")))
		return false;
	*stamp = p;
	if (!text_seconds(&p, end, ns))
		return false;
	*stamp_n = (size_t)(p - *stamp);
	if (!text_char(&p, end, ' ') || !take_client(&p, end, &r->db, lua))
		return false;
	r->value_length = 0;
	while (p < end && *p == '"') {
		if (!take_arg(r, &p, end) || (p < end && !text_char(&p, end, ' ')))
			return false;
	}
	return r->args->len > 0 && (p == end || (text_u64(&p, end, &r->value_length) && p == end));
}

static const char *arg_text(const struct redis *r, unsigned i, size_t *n)
{
	const struct arg *arg = &g_array_index(r->args, struct arg, i);

	*n = arg->n;
	return r->text->str + arg->at;
}

static bool is_integer(const char *s, size_t n)
{
	if (n && *s == '-') {
		s++;
		n--;
	}
	if (!n || n > 18)
		return false;
	while (n && g_ascii_isdigit(*s)) {
		s++;
		n--;
	}
	return !n;
}

static void grow(struct redis *r, const struct command *c, uint64_t hash, size_t key_len)
{
	uint64_t at_least = 0, more = 0;
	size_t n;

	if (!strcmp(c->name, "SETRANGE") && r->args->len > 3) {
		const char *p = arg_text(r, 2, &n), *end = p + n;
		uint64_t offset = 0;

		if (text_u64(&p, end, &offset) && offset < 512u << 20) {
			arg_text(r, 3, &n);
			at_least = offset + n;
		}
	} else {
		for (unsigned i = 2; i < r->args->len; i++) {
			arg_text(r, i, &n);
			more += n + 2;
		}
	}
	kv_grow(r->kv, hash, key_len, at_least, more);
}

static void one_key(struct redis *r, const struct command *c, unsigned at)
{
	size_t n, value_n = 0;
	const char *key = arg_text(r, at, &n), *value = NULL;
	uint64_t hash = objects_hash(key, n, r->db);

	if (c->effect == E_READ)
		r->key_reads++;
	else
		r->key_writes++;
	switch (c->effect) {
	case E_READ:
		kv_get(r->kv, hash, n, UINT64_MAX);
		break;
	case E_SET:
		at += c->step == 2 ? 1 : c->value - c->first;
		if (at < r->args->len)
			value = arg_text(r, at, &value_n);
		else if (r->value_length > 2)
			value_n = MIN(r->value_length - 2, 512u << 20);
		r->set_value_bytes += value_n;
		kv_set(r->kv, hash, n, value_n, value && is_integer(value, value_n));
		break;
	case E_GROW:
		grow(r, c, hash, n);
		break;
	case E_TOUCH:
		kv_touch(r->kv, hash, n);
		break;
	case E_DELETE:
		kv_delete(r->kv, hash);
		break;
	case E_NONE:
		break;
	}
}

/* ---- requests: KEY BYTES, GET KEY, SET KEY ---- */

static bool request_split(const char *s, const char *end, const char **first, size_t *first_n,
			  const char **second, size_t *second_n)
{
	const char *blank = memchr(s, ' ', (size_t)(end - s));

	if (!blank || blank == s || blank + 1 == end ||
	    memchr(blank + 1, ' ', (size_t)(end - blank - 1)))
		return false;
	*first = s;
	*first_n = (size_t)(blank - s);
	*second = blank + 1;
	*second_n = (size_t)(end - blank - 1);
	return true;
}

static bool is_verb(const char *s, size_t n)
{
	return n == 3 && (!g_ascii_strncasecmp(s, "GET", 3) || !g_ascii_strncasecmp(s, "SET", 3));
}

static uint64_t request_key(const char *s, size_t n, size_t *len)
{
	const char *p = s;
	char name[32];
	uint64_t number;

	if (text_u64(&p, s + n, &number) && p == s + n) {
		g_snprintf(name, sizeof(name), "key:%06" G_GUINT64_FORMAT, number);
		*len = strlen(name);
		return objects_hash(name, *len, 0);
	}
	*len = n;
	return objects_hash(s, n, 0);
}

static bool request_line(struct import *im, const char *s, const char *end)
{
	struct redis *r = im->priv;
	struct rs_record mark = { .op = RS_OP_MARK };
	const char *first, *second;
	size_t first_n, second_n, len;
	uint64_t hash, bytes;

	if (!request_split(s, end, &first, &first_n, &second, &second_n))
		return false;
	import_thread(im, 0, 0);
	if (!is_verb(first, first_n)) {
		if (!text_u64(&second, end, &bytes) || second != end || bytes > 512u << 20)
			return false;
		hash = request_key(first, first_n, &len);
		r->loading = true;
		r->key_writes++;
		r->set_value_bytes += bytes;
		kv_set(r->kv, hash, len, bytes, false);
		(*tally_at(r->commands, "SET", 3))++;
		return true;
	}
	if (r->loading) {
		mark.object = rs_trace_intern(im->out, RS_NAME_MARK, "load");
		import_put(im, &mark, NULL);
	}
	r->loading = false;
	hash = request_key(second, second_n, &len);
	if ((*first | 0x20) == 'g') {
		r->key_reads++;
		kv_get(r->kv, hash, len, UINT64_MAX);
		(*tally_at(r->commands, "GET", 3))++;
	} else {
		r->key_writes++;
		kv_rewrite(r->kv, hash, len);
		(*tally_at(r->commands, "SET", 3))++;
	}
	return true;
}

static bool redis_line(struct import *im, const char *s, size_t n)
{
	struct redis *r = im->priv;
	const char *stamp;
	size_t stamp_n, len;
	uint64_t ns;
	bool lua;
	char *name;
	const struct command *c;
	int last;

	if (n >= 2 && !memcmp(s, "OK", 2) && (n == 2 || s[2] == ' ')) {
		r->ok_lines++;
		return true;
	}
	if (request_line(im, s, s + n)) {
		im->c.records++;
		return true;
	}
	if (!parse(r, s, s + n, &stamp, &stamp_n, &ns, &lua))
		return import_bad(im, "not a line of MONITOR");
	import_thread(im, 0, 0);
	import_time(im, stamp, stamp_n, ns);
	name = (char *)arg_text(r, 0, &len);
	name = g_ascii_strup(name, (gssize)MIN(len, 64));
	(*tally_at(r->commands, name, strlen(name)))++;
	r->from_lua += lua;
	if (r->db < 512)
		r->databases[r->db / 8] |= (uint8_t)(1u << r->db % 8);
	if (!strcmp(name, "FLUSHALL") || !strcmp(name, "FLUSHDB"))
		kv_flush(r->kv);
	c = g_hash_table_lookup(r->by_name, name);
	g_free(name);
	last = c ? (c->last < 0 ? (int)r->args->len + c->last : c->last) : -1;
	for (int i = c ? c->first : 0; i <= last && i < (int)r->args->len; i += c->step)
		one_key(r, c, (unsigned)i);
	im->c.records++;
	return true;
}

static bool redis_look(const char *s, const char *end)
{
	const char *p = s;
	uint64_t ns, db;
	bool lua;

	if (end - s >= 2 && !memcmp(s, "OK", 2))
		return true;
	if (text_word(&p, end, "[ ") &&
	    (!text_find(p, end, " ] ", &p) || !text_word(&p, end, " ] ")))
		return false;
	return text_seconds(&p, end, &ns) && text_char(&p, end, ' ') &&
	       take_client(&p, end, &db, &lua) && p < end && *p == '"';
}

static bool request_look(const char *s, const char *end)
{
	const char *first, *second;
	size_t first_n, second_n;
	uint64_t number;

	if (!request_split(s, end, &first, &first_n, &second, &second_n))
		return false;
	return is_verb(first, first_n) ||
	       (text_u64(&first, first + first_n, &number) && *first == ' ' &&
		text_u64(&second, end, &number) && second == end);
}

static unsigned redis_probe(const char *head, size_t n)
{
	if (text_probe(head, n, 200, request_look) >= 99)
		return 30;
	return text_probe(head, n, 40, redis_look) >= 60 ? 90 : 0;
}

static void redis_report(struct import *im, json_t *o)
{
	struct redis *r = im->priv;
	json_t *databases = json_array();

	for (unsigned i = 0; i < 512; i++)
		if (r->databases[i / 8] & 1u << i % 8)
			json_array_append_new(databases, json_integer(i));
	json_object_set_new(o, "commands", tally_object(r->commands));
	json_object_set_new(o, "ok_lines", json_integer((json_int_t)r->ok_lines));
	json_object_set_new(o, "from_lua", json_integer((json_int_t)r->from_lua));
	json_object_set_new(o, "databases", databases);
	json_object_set_new(o, "key_reads", json_integer((json_int_t)r->key_reads));
	json_object_set_new(o, "key_writes", json_integer((json_int_t)r->key_writes));
	json_object_set_new(o, "distinct_keys", json_integer((json_int_t)kv_distinct_keys(r->kv)));
	json_object_set_new(o, "set_value_bytes", json_integer((json_int_t)r->set_value_bytes));
	kv_report(r->kv, o);
}

const struct rs_importer import_redis_monitor = {
	.name = "redis_monitor",
	.summary = "redis-cli MONITOR, through a model of redis' memory (--with value_size=BYTES)",
	.valid = "SECONDS.MICROSECONDS [DB CLIENT] \"COMMAND\" \"ARGUMENT\" ...",
	.time_unit = "seconds since 1970 (decimal, 6 places)",
	.direct = true,
	.priv_size = sizeof(struct redis),
	.probe = redis_probe,
	.begin = redis_begin,
	.line = redis_line,
	.report = redis_report,
	.end = redis_end,
};
