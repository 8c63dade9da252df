/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * input.c - a byte stream from a file or a pipe. Whether it is zstd-compressed is told from its
 * first four bytes; several frames in a row are one stream. Memory is constant: the window of the
 * frames is bounded by libzstd's default limit (128 MiB).
 */
#include "traces/input.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

#define INPUT_BUFFER (128u << 10)
#define INPUT_PEEK 64u

struct input {
	char *name;
	int fd;
	bool eof;
	ZSTD_DCtx *zstd;   /* NULL = the bytes are plain */
	size_t frame_open; /* last answer of libzstd: 0 = between frames */
	ZSTD_inBuffer in;  /* compressed bytes not yet taken, in raw[] */
	uint8_t *raw;
	uint8_t peek[INPUT_PEEK];
	uint32_t peeked, peek_at;
};

static bool input_error(struct input *in, GError **error, const char *what)
{
	g_set_error(error, RS_ERROR, RS_ERROR_INPUT, "%s: %s", in->name, what);
	return false;
}

/* Fill up to size bytes from the descriptor. */
static gssize fd_read(struct input *in, void *to, size_t size, GError **error)
{
	size_t got = 0;

	while (got < size && !in->eof) {
		ssize_t n = read(in->fd, (char *)to + got, size - got);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			g_set_error(error, RS_ERROR, RS_ERROR_INPUT, "%s: cannot read: %s",
				    in->name, g_strerror(errno));
			return -1;
		}
		in->eof = n == 0;
		got += n;
	}
	return got;
}

static bool is_zstd(const uint8_t *b, size_t n)
{
	return n >= 4 && ((b[0] == 0x28 && b[1] == 0xb5 && b[2] == 0x2f && b[3] == 0xfd) ||
			  ((b[0] & 0xf0) == 0x50 && b[1] == 0x2a && b[2] == 0x4d && b[3] == 0x18));
}

/* Packers that are not read, told so that the message names them. */
static const char *other_packer(const uint8_t *b, size_t n)
{
	if (n >= 2 && b[0] == 0x1f && b[1] == 0x8b)
		return "gzip";
	if (n >= 6 && !memcmp(b,
			      "\xfd"
			      "7zXZ",
			      5))
		return "xz";
	if (n >= 3 && !memcmp(b, "BZh", 3))
		return "bzip2";
	if (n >= 4 && !memcmp(b, "PK\3\4", 4))
		return "zip";
	return NULL;
}

static bool input_start(struct input *in, GError **error)
{
	gssize n = fd_read(in, in->raw, INPUT_BUFFER, error);

	if (n < 0)
		return false;
	if (n == 0)
		return input_error(in, error,
				   "empty: a trace in native format or trace text is expected");
	in->in = (ZSTD_inBuffer){ in->raw, n, 0 };
	const char *packer = other_packer(in->raw, n);
	if (packer) {
		g_set_error(error, RS_ERROR, RS_ERROR_INPUT,
			    "%s: packed by %s: unpack it first, only zstd is read directly",
			    in->name, packer);
		return false;
	}
	if (is_zstd(in->raw, n))
		in->zstd = ZSTD_createDCtx();
	return true;
}

struct input *input_open(const char *path, GError **error)
{
	struct input *in = g_new0(struct input, 1);
	bool std = !strcmp(path, "-");

	in->name = g_strdup(std ? "(standard input)" : path);
	in->raw = g_malloc(INPUT_BUFFER);
	in->fd = std ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	if (in->fd < 0) {
		g_set_error(error, RS_ERROR, RS_ERROR_INPUT, "%s: cannot open: %s", path,
			    g_strerror(errno));
		input_free(in);
		return NULL;
	}
	if (!input_start(in, error)) {
		input_free(in);
		return NULL;
	}
	return in;
}

const char *input_name(const struct input *in)
{
	return in->name;
}

/* More raw bytes into in->in when it is used up; false = error. */
static bool refill(struct input *in, GError **error)
{
	if (in->in.pos < in->in.size)
		return true;
	gssize n = fd_read(in, in->raw, INPUT_BUFFER, error);
	if (n < 0)
		return false;
	in->in = (ZSTD_inBuffer){ in->raw, n, 0 };
	return true;
}

static gssize read_plain(struct input *in, uint8_t *to, size_t size, GError **error)
{
	size_t have = in->in.size - in->in.pos, n = MIN(have, size);

	memcpy(to, in->raw + in->in.pos, n);
	in->in.pos += n;
	if (n == size)
		return n;
	gssize more = fd_read(in, to + n, size - n, error);
	return more < 0 ? -1 : (gssize)(n + more);
}

static gssize read_zstd(struct input *in, uint8_t *to, size_t size, GError **error)
{
	ZSTD_outBuffer out = { to, size, 0 };

	while (out.pos < size) {
		size_t before = out.pos;

		if (!refill(in, error))
			return -1;
		bool end = in->in.size == 0;
		if (end && !in->frame_open)
			break;
		size_t r = ZSTD_decompressStream(in->zstd, &out, &in->in);
		if (ZSTD_isError(r)) {
			g_set_error(error, RS_ERROR, RS_ERROR_INPUT, "%s: damaged zstd data: %s",
				    in->name, ZSTD_getErrorName(r));
			return -1;
		}
		in->frame_open = r;
		if (end && r && out.pos == before) {
			input_error(in, error, "truncated: the zstd data ends in mid-frame");
			return -1;
		}
	}
	return out.pos;
}

static gssize read_stream(struct input *in, void *to, size_t size, GError **error)
{
	return in->zstd ? read_zstd(in, to, size, error) : read_plain(in, to, size, error);
}

int input_peek(struct input *in, const uint8_t **ret, GError **error)
{
	if (!in->peeked) {
		gssize n = read_stream(in, in->peek, INPUT_PEEK, error);

		if (n < 0)
			return -1;
		in->peeked = n;
	}
	*ret = in->peek;
	return in->peeked;
}

gssize input_read(struct input *in, void *to, size_t size, GError **error)
{
	size_t n = MIN(size, (size_t)(in->peeked - in->peek_at));

	memcpy(to, in->peek + in->peek_at, n);
	in->peek_at += n;
	if (n == size)
		return n;
	gssize more = read_stream(in, (uint8_t *)to + n, size - n, error);
	return more < 0 ? -1 : (gssize)(n + more);
}

void input_free(struct input *in)
{
	if (!in)
		return;
	if (in->fd > STDIN_FILENO)
		close(in->fd);
	ZSTD_freeDCtx(in->zstd);
	g_free(in->raw);
	g_free(in->name);
	g_free(in);
}
