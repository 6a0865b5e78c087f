/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The KV cache size in llama.cpp 0.7.0 (llama-kv-cache.cpp): for each layer and token, the keys and
 * values of its KV heads in the cache's type; with multi-head latent attention, one compressed row
 * instead. The result is a lower bound, because a refusal is based on it.
 */
#include <string.h>

#include "engines/gguf.h"

#define BLOCK 32 /* elements per block, for all types here */

/* Bytes of a block; unknown types count as the smallest. */
static uint32_t gguf_block_bytes(const char *type)
{
	static const struct {
		const char *name;
		uint32_t bytes;
	} rows[] = {
		{ "f32", 128 }, { "f16", 64 },	{ "bf16", 64 }, { "q8_0", 34 },
		{ "q5_1", 24 }, { "q5_0", 22 }, { "q4_1", 20 }, { "q4_0", 18 },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (!strcmp(rows[i].name, type))
			return rows[i].bytes;
	return 18;
}

static uint64_t gguf_times(uint64_t a, uint64_t b)
{
	return b && a > UINT64_MAX / b ? UINT64_MAX : a * b;
}

static uint64_t gguf_plus(uint64_t a, uint64_t b)
{
	return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

/* Sum of all layers; 0: unknown. */
static uint64_t gguf_heads(const struct davy_gguf *g)
{
	uint32_t heads = g->head_count_kv ? g->head_count_kv : g->head_count;

	return g->kv_heads ? g->kv_heads : gguf_times(heads, g->block_count);
}

static uint64_t gguf_bytes_of(uint64_t elements, const char *type)
{
	return gguf_times(elements, gguf_block_bytes(type)) / BLOCK;
}

uint64_t davy_gguf_cache_bytes(const struct davy_gguf *g, uint32_t tokens, const char *type_k,
			       const char *type_v)
{
	uint32_t head = g->head_count ? g->embedding_length / g->head_count : 0;
	uint32_t key = g->key_length ? g->key_length : head;
	uint32_t value = g->value_length ? g->value_length : head;
	uint64_t token;

	if (g->state_size)
		return 0; /* the header does not say which layers have a cache */
	if (g->sliding_window && g->sliding_window < tokens)
		tokens = g->sliding_window;
	if (g->kv_lora_rank)
		token = gguf_bytes_of(gguf_times(g->kv_lora_rank, g->block_count), type_k);
	else
		token = gguf_plus(gguf_bytes_of(gguf_times(gguf_heads(g), key), type_k),
				  gguf_bytes_of(gguf_times(gguf_heads(g), value), type_v));
	return gguf_times(token, tokens);
}
