/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * measure_codec.c - compression and decompression of single pages by the libraries whose
 * algorithms zram uses: zstd always, lz4 and lzo where the program was built with them. lzo-rle
 * exists in the kernel only.
 */
#include "tools/measure.h"

#include <string.h>
#include <zstd.h>
#ifdef RS_HAVE_LZ4
#include <lz4.h>
#endif
#ifdef RS_HAVE_LZO
#include <lzo/lzo1x.h>
#endif

#define PAGE 4096u
#define ROOM (2 * PAGE)
#define ZSTD_LEVEL 3 /* Kernel: crypto/zstd.c ZSTD_DEF_LEVEL */

/* Both return the size of the result, 0: failed. */
struct codec {
	const char *name;
	size_t (*compress)(const uint8_t *page, uint8_t *out);
	size_t (*decompress)(const uint8_t *in, size_t size, uint8_t *page);
};

static size_t zstd_compress(const uint8_t *page, uint8_t *out)
{
	static ZSTD_CCtx *ctx;
	size_t n;

	if (!ctx)
		ctx = ZSTD_createCCtx();
	n = ctx ? ZSTD_compressCCtx(ctx, out, ROOM, page, PAGE, ZSTD_LEVEL) : 0;
	return ZSTD_isError(n) ? 0 : n;
}

static size_t zstd_decompress(const uint8_t *in, size_t size, uint8_t *page)
{
	static ZSTD_DCtx *ctx;
	size_t n;

	if (!ctx)
		ctx = ZSTD_createDCtx();
	n = ctx ? ZSTD_decompressDCtx(ctx, page, PAGE, in, size) : 0;
	return ZSTD_isError(n) ? 0 : n;
}

static const struct codec zstd = { "zstd", zstd_compress, zstd_decompress };

#ifdef RS_HAVE_LZ4
static size_t lz4_compress(const uint8_t *page, uint8_t *out)
{
	int n = LZ4_compress_default((const char *)page, (char *)out, PAGE, ROOM);

	return n > 0 ? (size_t)n : 0;
}

static size_t lz4_decompress(const uint8_t *in, size_t size, uint8_t *page)
{
	int n = LZ4_decompress_safe((const char *)in, (char *)page, (int)size, PAGE);

	return n > 0 ? (size_t)n : 0;
}

static const struct codec lz4 = { "lz4", lz4_compress, lz4_decompress };
#endif

#ifdef RS_HAVE_LZO
static size_t lzo_compress(const uint8_t *page, uint8_t *out)
{
	static uint64_t work[LZO1X_1_MEM_COMPRESS / 8 + 1];
	lzo_uint n = ROOM;

	return lzo1x_1_compress(page, PAGE, out, &n, work) == LZO_E_OK ? n : 0;
}

static size_t lzo_decompress(const uint8_t *in, size_t size, uint8_t *page)
{
	lzo_uint n = PAGE;

	return lzo1x_decompress_safe(in, size, page, &n, NULL) == LZO_E_OK ? n : 0;
}

static const struct codec lzo = { "lzo", lzo_compress, lzo_decompress };
#endif

static const struct codec *const codecs[] = {
	&zstd,
#ifdef RS_HAVE_LZ4
	&lz4,
#endif
#ifdef RS_HAVE_LZO
	&lzo,
#endif
};

/* Nanoseconds a page. */
static double compress_all(const struct codec *codec, const struct measure_data *d)
{
	uint8_t out[ROOM];
	double start = measure_now();

	for (uint32_t i = 0; i < d->nr_pages; i++)
		if (!codec->compress(d->bytes + (size_t)i * PAGE, out))
			return -1;
	return d->nr_pages ? (measure_now() - start) * 1e9 / d->nr_pages : -1;
}

/* What comes out has to be what went in. */
static double decompress_all(const struct codec *codec, const struct measure_data *d)
{
	uint8_t *store = g_malloc((size_t)d->nr_pages * ROOM + 1);
	uint8_t *pages = g_malloc0((size_t)d->nr_pages * PAGE + 1);
	size_t *size = g_new0(size_t, d->nr_pages + 1);
	double seconds;
	bool ok = d->nr_pages;

	for (uint32_t i = 0; i < d->nr_pages; i++)
		size[i] = codec->compress(d->bytes + (size_t)i * PAGE, store + (size_t)i * ROOM);
	seconds = measure_now();
	for (uint32_t i = 0; ok && i < d->nr_pages; i++)
		ok = codec->decompress(store + (size_t)i * ROOM, size[i],
				       pages + (size_t)i * PAGE) == PAGE;
	seconds = measure_now() - seconds;
	ok = ok && !memcmp(pages, d->bytes, (size_t)d->nr_pages * PAGE);
	g_free(store);
	g_free(pages);
	g_free(size);
	return ok ? seconds * 1e9 / d->nr_pages : -1;
}

double measure_compressed_bytes(const char *algorithm, const struct measure_data *d)
{
	uint8_t out[ROOM];
	uint64_t sum = 0;

	for (unsigned c = 0; c < G_N_ELEMENTS(codecs); c++) {
		if (strcmp(codecs[c]->name, algorithm) != 0)
			continue;
		for (uint32_t i = 0; i < d->nr_pages; i++)
			sum += MIN(codecs[c]->compress(d->bytes + (size_t)i * PAGE, out), PAGE);
	}
	return d->nr_pages ? (double)sum / d->nr_pages : 0;
}

#define PAIR(codec)                                                                                \
	static double codec##_in(const struct measure_data *d)                                     \
	{                                                                                          \
		return compress_all(&codec, d);                                                    \
	}                                                                                          \
	static double codec##_out(const struct measure_data *d)                                    \
	{                                                                                          \
		return decompress_all(&codec, d);                                                  \
	}
#define ROWS(codec)                                                                                \
	{ "zram." #codec ".compress_ns", "compression of one page by " #codec, codec##_in },       \
	{                                                                                          \
		"zram." #codec ".decompress_ns", "decompression of one page by " #codec,           \
			codec##_out                                                                \
	}

PAIR(zstd)
#ifdef RS_HAVE_LZ4
PAIR(lz4)
#endif
#ifdef RS_HAVE_LZO
PAIR(lzo)
#endif

const struct measure measure_codecs[] = {
	ROWS(zstd),
#ifdef RS_HAVE_LZ4
	ROWS(lz4),
#endif
#ifdef RS_HAVE_LZO
	ROWS(lzo),
#endif
};
const unsigned measure_nr_codecs = G_N_ELEMENTS(measure_codecs);
