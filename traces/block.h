/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * block.h - records of one block as columns of bytes. Byte-exact description: FORMAT.md.
 */
#ifndef TRACES_BLOCK_H
#define TRACES_BLOCK_H

#include "traces/names.h"
#include "traces/state.h"

#define BLOCK_RECORDS 65536u
#define BLOCK_TEMPLATES 16384u	    /* 14 bits of a head */
#define BLOCK_BY_DIFFERENCE 0x80u   /* bit of an object's kind */
#define BLOCK_NAME_BYTES (1u << 20) /* a block ends when its new names reach this */
#define BLOCK_MAX_RAW (8u << 20)
#define BLOCK_PADDING (4 * BLOCK_RECORDS + 8)

/* Encoder: collects records, then gives the bytes. */
struct block_encoder;
struct block_encoder *block_encoder_new(void);
void block_encoder_free(struct block_encoder *);
uint32_t block_nr_records(const struct block_encoder *);
/* A name that appears in the block for the first time. */
void block_add_name(struct block_encoder *, enum rs_name_kind, const char *name);
/* False: the block is full and must be finished first. */
bool block_add(struct block_encoder *, const struct rs_record *, const struct rs_map *);
/* Append the bytes and start anew. */
void block_finish(struct block_encoder *, GByteArray *to);

/* Decoder. Its tables are kept from block to block. */
struct block_decoder;
struct block_decoder *block_decoder_new(void);
void block_decoder_free(struct block_decoder *);
/*
 * Decode n records (<= BLOCK_RECORDS) and check each; new names go to the state, mappings to maps,
 * the index of their records to map_places. On error *ret_record is that in the block. The bytes
 * must be followed by BLOCK_PADDING readable ones, so that a damaged block reads no further.
 */
bool block_decode(struct block_decoder *, const uint8_t *bytes, size_t size, uint32_t n,
		  struct trace_state *, struct rs_record *ret, GArray *maps, GArray *map_places,
		  uint32_t *ret_record, GError **);

#endif
