// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdlib.h>
#include <string.h>

#include "mkmodel.h"

/* Value types and the alignment of GGUF v3 (ggml's docs/gguf.md). */
enum gguf_type {
	GGUF_U32 = 4,
	GGUF_I32 = 5,
	GGUF_F32 = 6,
	GGUF_BOOL = 7,
	GGUF_STR = 8,
	GGUF_ARR = 9
};
#define GGUF_ALIGN     32
#define CONTEXT_LENGTH 65536

static void put(struct model *m, const void *data, size_t size)
{
	/* Errors are sticky in the stream and looked for once, at the end. */
	fwrite(data, 1, size, m->out);
}

static void put_u32(struct model *m, uint32_t v)
{
	put(m, &v, sizeof(v));
}

static void put_u64(struct model *m, uint64_t v)
{
	put(m, &v, sizeof(v));
}

static void put_str(struct model *m, const char *s)
{
	put_u64(m, strlen(s));
	put(m, s, strlen(s));
}

static void put_key(struct model *m, const char *key, enum gguf_type type)
{
	put_str(m, key);
	put_u32(m, type);
}

static void put_key_u32(struct model *m, const char *key, uint32_t v)
{
	put_key(m, key, GGUF_U32);
	put_u32(m, v);
}

static void put_key_str(struct model *m, const char *key, const char *s)
{
	put_key(m, key, GGUF_STR);
	put_str(m, s);
}

static void put_key_array(struct model *m, const char *key, enum gguf_type type, uint64_t count)
{
	put_key(m, key, GGUF_ARR);
	put_u32(m, type);
	put_u64(m, count);
}

static void put_tokenizer(struct model *m)
{
	char text[TOKEN_MAX];
	uint32_t id;

	put_key_str(m, "tokenizer.ggml.model", "llama");
	put_key_str(m, "tokenizer.ggml.pre", "default");
	put_key_array(m, "tokenizer.ggml.tokens", GGUF_STR, TOKEN_COUNT);
	for (id = 0; id < TOKEN_COUNT; id++) {
		token_text(id, text);
		put_str(m, text);
	}
	put_key_array(m, "tokenizer.ggml.scores", GGUF_F32, TOKEN_COUNT);
	for (id = 0; id < TOKEN_COUNT; id++) {
		float score = token_type(id) == TOKEN_NORMAL ? -(float)id : 0.0f;

		put(m, &score, sizeof(score));
	}
	put_key_array(m, "tokenizer.ggml.token_type", GGUF_I32, TOKEN_COUNT);
	for (id = 0; id < TOKEN_COUNT; id++)
		put_u32(m, token_type(id));
	put_key_u32(m, "tokenizer.ggml.unknown_token_id", 0);
	put_key_u32(m, "tokenizer.ggml.bos_token_id", 1);
	put_key_u32(m, "tokenizer.ggml.eos_token_id", 2);
	put_key(m, "tokenizer.ggml.add_bos_token", GGUF_BOOL);
	put(m, &(uint8_t){ 1 }, 1);
}

#define KEY_COUNT (12 + 9) /* of put_metadata() and of put_tokenizer() */

static void put_metadata(struct model *m)
{
	const struct shape *s = &m->shape;
	const float epsilon = 1e-5f;

	put_key_str(m, "general.architecture", "llama");
	put_key_str(m, "general.name", m->name);
	put_key_u32(m, "general.file_type", s->type);
	put_key_u32(m, "llama.vocab_size", TOKEN_COUNT);
	put_key_u32(m, "llama.context_length", CONTEXT_LENGTH);
	put_key_u32(m, "llama.embedding_length", s->embd);
	put_key_u32(m, "llama.block_count", s->layers);
	put_key_u32(m, "llama.feed_forward_length", s->ff);
	put_key_u32(m, "llama.attention.head_count", s->heads);
	put_key_u32(m, "llama.attention.head_count_kv", s->heads);
	put_key_u32(m, "llama.rope.dimension_count", s->embd / s->heads);
	put_key(m, "llama.attention.layer_norm_rms_epsilon", GGUF_F32);
	put(m, &epsilon, sizeof(epsilon));
	put_tokenizer(m);
}

static uint64_t tensor_bytes(const struct tensor *t)
{
	return t->cols * t->rows * (t->type == GGML_F32 ? 4 : 2);
}

/* "layer" below zero: a tensor that belongs to no layer. A vector is a tensor of one row. */
static void add_tensor(struct model *m, int layer, const char *name, uint64_t cols, uint64_t rows)
{
	struct tensor *t = &m->tensor[m->tensor_count];
	const struct tensor *last = m->tensor_count ? t - 1 : NULL;

	if (m->tensor_count++ == TENSOR_MAX)
		abort();
	if (layer < 0)
		snprintf(t->name, sizeof(t->name), "%s.weight", name);
	else
		snprintf(t->name, sizeof(t->name), "blk.%d.%s.weight", layer, name);
	t->cols = cols;
	t->rows = rows;
	t->type = rows == 1 ? GGML_F32 : m->shape.type;
	t->offset = last ? last->offset + tensor_bytes(last) : 0;
	t->offset += -t->offset % GGUF_ALIGN;
}

static void lay_out(struct model *m)
{
	const struct shape *s = &m->shape;
	int i;

	add_tensor(m, -1, "token_embd", s->embd, TOKEN_COUNT);
	for (i = 0; i < (int)s->layers; i++) {
		add_tensor(m, i, "attn_norm", s->embd, 1);
		add_tensor(m, i, "attn_q", s->embd, s->embd);
		add_tensor(m, i, "attn_k", s->embd, s->embd);
		add_tensor(m, i, "attn_v", s->embd, s->embd);
		add_tensor(m, i, "attn_output", s->embd, s->embd);
		add_tensor(m, i, "ffn_norm", s->embd, 1);
		add_tensor(m, i, "ffn_gate", s->embd, s->ff);
		add_tensor(m, i, "ffn_up", s->embd, s->ff);
		add_tensor(m, i, "ffn_down", s->ff, s->embd);
	}
	add_tensor(m, -1, "output_norm", s->embd, 1);
	add_tensor(m, -1, "output", s->embd, TOKEN_COUNT);
}

static void put_header(struct model *m)
{
	size_t i;

	put(m, "GGUF", 4);
	put_u32(m, 3);
	put_u64(m, m->tensor_count);
	put_u64(m, KEY_COUNT);
	put_metadata(m);
	for (i = 0; i < m->tensor_count; i++) {
		const struct tensor *t = &m->tensor[i];

		put_str(m, t->name);
		put_u32(m, t->rows == 1 ? 1 : 2);
		put_u64(m, t->cols);
		if (t->rows != 1)
			put_u64(m, t->rows);
		put_u32(m, t->type);
		put_u64(m, t->offset);
	}
}

static void put_padding(struct model *m, uint64_t position)
{
	static const char zero[GGUF_ALIGN];

	put(m, zero, -position % GGUF_ALIGN);
}

void model_write(struct model *m)
{
	size_t i;

	lay_out(m);
	put_header(m);
	put_padding(m, (uint64_t)ftello(m->out));
	for (i = 0; i < m->tensor_count; i++) {
		const struct tensor *t = &m->tensor[i];

		weights_write(t, m->seed, m->out);
		put_padding(m, t->offset + tensor_bytes(t));
	}
}
