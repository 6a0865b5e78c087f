/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The parts of mkmodel share this header: mkmodel.c is the command line, model.c the layout of the
 * file (GGUF v3), vocab.c the tokens, weights.c the numbers.
 */
#ifndef MKMODEL_H
#define MKMODEL_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "GGUF is written as it lies in memory");

enum ggml_type {
	GGML_F32 = 0,
	GGML_F16 = 1
};
enum token_type {
	TOKEN_NORMAL = 1,
	TOKEN_UNKNOWN = 2,
	TOKEN_CONTROL = 3,
	TOKEN_BYTE = 6
};

#define TOKEN_COUNT 1024 /* of every model */
#define TOKEN_MAX   16	 /* bytes of a token's text, with its end */
#define TENSOR_MAX  1024
#define COLS_MAX    8192 /* of a matrix row */

struct shape {
	uint32_t embd, ff, heads, layers;
	enum ggml_type type; /* of the matrices; vectors are always F32 */
};

struct tensor {
	char name[48];
	uint64_t cols, rows;
	enum ggml_type type;
	uint64_t offset;
};

struct model {
	const char *name;
	uint64_t seed;
	struct shape shape;
	size_t tensor_count;
	struct tensor tensor[TENSOR_MAX];
	FILE *out;
};

/* Writes the whole model to m->out; errors are sticky there. */
void model_write(struct model *m);

void token_text(uint32_t id, char text[TOKEN_MAX]);
enum token_type token_type(uint32_t id);

/* The numbers of one tensor: norm vectors are ones, matrices random by the seed. */
void weights_write(const struct tensor *t, uint64_t seed, FILE *out);

#endif
