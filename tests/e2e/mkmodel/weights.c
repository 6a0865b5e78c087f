// SPDX-License-Identifier: GPL-2.0-or-later
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "mkmodel.h"

/* One step of splitmix64: good enough for weights, and the same everywhere. */
static uint64_t random_next(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15u;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

/* Each tensor has a separate stream, so that its weights do not depend on its neighbours. */
static uint64_t stream_seed(uint64_t seed, const char *name)
{
	uint64_t hash = 0xcbf29ce484222325u ^ seed;

	for (; *name; name++)
		hash = (hash ^ (unsigned char)*name) * 0x100000001b3u;
	return random_next(&hash);
}

/* For |f| < 65504. Results below the smallest normal half become zero. */
static uint16_t half_from_float(float f)
{
	uint32_t bits, precursor;
	int32_t exponent;

	memcpy(&bits, &f, sizeof(bits));
	precursor = bits >> 16 & 0x8000;
	exponent = (int32_t)(bits >> 23 & 0xff) - 127 + 15;
	if (exponent <= 0)
		return (uint16_t)precursor;
	return (uint16_t)(precursor | (uint32_t)exponent << 10 | (bits >> 13 & 0x3ff));
}

/* A random number chooses among 4096 weights made before: fast enough for models of gigabytes. */
#define WEIGHT_BITS 12

static void make_weights(double scale, float weight[1 << WEIGHT_BITS])
{
	int i;

	for (i = 0; i < 1 << WEIGHT_BITS; i++)
		weight[i] = (float)(scale * (2.0 * i / ((1 << WEIGHT_BITS) - 1) - 1.0));
}

static void write_matrix(const struct tensor *t, uint64_t seed, FILE *out)
{
	/* Variance 1/cols keeps the activations near 1 whatever the width. */
	const bool is_output = strncmp(t->name, "output.", 7) == 0;
	static float weight[1 << WEIGHT_BITS], row[COLS_MAX];
	static uint16_t half[COLS_MAX];
	uint64_t state = stream_seed(seed, t->name), bits = 0, r, c;

	make_weights(sqrt(3.0 / (double)t->cols), weight);
	for (r = 0; r < t->rows; r++) {
		bool is_zero = is_output && token_type((uint32_t)r) != TOKEN_NORMAL;

		for (c = 0; c < t->cols; c++) {
			bits = c % 5 ? bits >> WEIGHT_BITS : random_next(&state);
			row[c] = is_zero ? 0.0f : weight[bits & ((1 << WEIGHT_BITS) - 1)];
		}
		if (t->type == GGML_F32) {
			fwrite(row, sizeof(row[0]), t->cols, out);
			continue;
		}
		for (c = 0; c < t->cols; c++)
			half[c] = half_from_float(row[c]);
		fwrite(half, sizeof(half[0]), t->cols, out);
	}
}

static void write_ones(const struct tensor *t, FILE *out)
{
	const float one = 1.0f;
	uint64_t i;

	for (i = 0; i < t->cols; i++)
		fwrite(&one, sizeof(one), 1, out);
}

void weights_write(const struct tensor *t, uint64_t seed, FILE *out)
{
	if (t->rows == 1)
		write_ones(t, out);
	else
		write_matrix(t, seed, out);
}
