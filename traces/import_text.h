/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * import_text.h - numbers and words out of lines that need not end in NUL (internal).
 *
 * Parsers by hand: they must not take signs, blanks or overflow, must not look behind the line,
 * and must reach several hundred MB/s. All move *p past what they took and leave it alone if
 * they take nothing.
 */
#ifndef TRACES_IMPORT_TEXT_H
#define TRACES_IMPORT_TEXT_H

#include <string.h>

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

static inline bool text_u64(const char **p, const char *end, uint64_t *ret)
{
	const char *s = *p;
	uint64_t v = 0;

	while (s < end && (unsigned char)(*s - '0') <= 9) {
		unsigned digit = (unsigned)(*s - '0');

		if (v > UINT64_MAX / 10 || (v == UINT64_MAX / 10 && digit > UINT64_MAX % 10))
			return false;
		v = v * 10 + digit;
		s++;
	}
	if (s == *p)
		return false;
	*p = s;
	*ret = v;
	return true;
}

static inline int text_hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

static inline bool text_hex(const char **p, const char *end, uint64_t *ret)
{
	const char *s = *p;
	uint64_t v = 0;
	int digit;

	while (s < end && (digit = text_hex_digit(*s)) >= 0) {
		if (v >> 60)
			return false;
		v = v << 4 | (unsigned)digit;
		s++;
	}
	if (s == *p)
		return false;
	*p = s;
	*ret = v;
	return true;
}

static inline bool text_word(const char **p, const char *end, const char *word)
{
	size_t n = strlen(word);

	if ((size_t)(end - *p) < n || memcmp(*p, word, n))
		return false;
	*p += n;
	return true;
}

static inline bool text_char(const char **p, const char *end, char c)
{
	if (*p >= end || **p != c)
		return false;
	(*p)++;
	return true;
}

/* 0x and hex digits, or decimal. */
static inline bool text_number(const char **p, const char *end, uint64_t *ret)
{
	const char *s = *p;

	if (end - s > 2 && s[0] == '0' && (s[1] == 'x' || s[1] == 'X')) {
		s += 2;
		if (!text_hex(&s, end, ret))
			return false;
		*p = s;
		return true;
	}
	return text_u64(p, end, ret);
}

static inline void text_blanks(const char **p, const char *end)
{
	while (*p < end && (**p == ' ' || **p == '\t'))
		(*p)++;
}

/* SECONDS[.FRACTION] in ns; more than nine digits of the fraction are cut. */
static inline bool text_seconds(const char **p, const char *end, uint64_t *ret_ns)
{
	const char *s = *p;
	uint64_t seconds, fraction = 0, unit = 100000000;

	if (!text_u64(&s, end, &seconds) || seconds > UINT64_MAX / 1000000000u - 1)
		return false;
	if (s + 1 < end && *s == '.' && (unsigned char)(s[1] - '0') <= 9) {
		for (s++; s < end && (unsigned char)(*s - '0') <= 9; s++) {
			fraction += (unsigned)(*s - '0') * unit;
			unit /= 10;
		}
	}
	*p = s;
	*ret_ns = seconds * 1000000000u + fraction;
	return true;
}

static inline bool text_is(const char *s, size_t n, const char *word)
{
	return strlen(word) == n && !memcmp(s, word, n);
}

static inline bool text_find(const char *s, const char *end, const char *what, const char **ret)
{
	const char *at = memmem(s, (size_t)(end - s), what, strlen(what));

	if (at && ret)
		*ret = at;
	return at;
}

/* key=VALUE somewhere in s: points behind the sign. */
static inline bool text_field(const char *s, const char *end, const char *key, const char **ret)
{
	size_t n = strlen(key);
	const char *at = s;

	while ((at = memmem(at, (size_t)(end - at), key, n))) {
		if ((at == s || at[-1] == ' ' || at[-1] == '\t') && at + n < end && at[n] == '=') {
			*ret = at + n + 1;
			return true;
		}
		at += n;
	}
	return false;
}

static inline bool text_field_number(const char *s, const char *end, const char *key, uint64_t *ret)
{
	return text_field(s, end, key, &s) && text_number(&s, end, ret);
}

/*
 * For probes: calls look() with each whole line of head that is not blank and not a # comment, at
 * most max of them; returns the share in percent that it accepts (0 without lines).
 */
static inline unsigned text_probe(const char *head, size_t n, unsigned max,
				  bool (*look)(const char *s, const char *end))
{
	const char *s = head, *end = head + n;
	unsigned lines = 0, good = 0;

	while (s < end && lines < max) {
		const char *nl = memchr(s, '\n', (size_t)(end - s));
		const char *stop = nl ? nl : end;

		if (!nl && lines)
			break; /* may be cut by the end of head */
		if (stop > s && stop[-1] == '\r')
			stop--;
		if (stop > s && *s != '#') {
			lines++;
			good += look(s, stop);
		}
		s = nl ? nl + 1 : end;
	}
	return lines ? good * 100 / lines : 0;
}

#endif
