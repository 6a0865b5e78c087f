/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The KV cache's size as llama.cpp 0.7.0 makes it (llama-kv-cache.cpp): for each layer and token
 * the keys and values of its KV heads, in the cache's type; with multi-head latent attention one
 * compressed row instead. Only a lower bound is wanted: it is what a refusal rests on.
 */
#include <string.h>

#include "engines/gguf.h"

#define BLOCK 32 /* elements; all types here have blocks of it */

/* Bytes of a block; of a type that is not known the smallest. */
static uint32_t block_bytes(const char *type)
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

static uint64_t times(uint64_t a, uint64_t b)
{
	return b && a > UINT64_MAX / b ? UINT64_MAX : a * b;
}

static uint64_t gguf_cache_plus(uint64_t a, uint64_t b)
{
	return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

/* Of all layers together; 0: not told. */
static uint64_t heads_of(const struct davy_gguf *g)
{
	uint32_t heads = g->head_count_kv ? g->head_count_kv : g->head_count;

	return g->kv_heads ? g->kv_heads : times(heads, g->block_count);
}

static uint64_t elements_of(uint64_t elements, const char *type)
{
	return times(elements, block_bytes(type)) / BLOCK;
}

uint64_t davy_gguf_cache_bytes(const struct davy_gguf *g, uint32_t tokens, const char *type_k,
			       const char *type_v)
{
	uint32_t head = g->head_count ? g->embedding_length / g->head_count : 0;
	uint32_t key = g->key_length ? g->key_length : head;
	uint32_t value = g->value_length ? g->value_length : head;
	uint64_t token;

	if (g->state_size)
		return 0; /* which layers have a cache is not told in the head */
	if (g->sliding_window && g->sliding_window < tokens)
		tokens = g->sliding_window;
	if (g->kv_lora_rank)
		token = elements_of(times(g->kv_lora_rank, g->block_count), type_k);
	else
		token = gguf_cache_plus(elements_of(times(heads_of(g), key), type_k),
					elements_of(times(heads_of(g), value), type_v));
	return times(token, tokens);
}
