/* SPDX-License-Identifier: GPL-2.0-or-later */
/* FNV-1a, 64 bits. Not collision-resistant against deliberate input. */
#ifndef DAVY_HASH_H
#define DAVY_HASH_H

#include <stddef.h>
#include <stdint.h>

#define DAVY_FNV_START 0xcbf29ce484222325ULL

static inline uint64_t davy_fnv(uint64_t hash, const void *data, size_t size)
{
	const unsigned char *at = data;

	for (size_t i = 0; i < size; i++)
		hash = (hash ^ at[i]) * 0x100000001b3ULL;
	return hash;
}

/* Hashes a string without its NUL. */
static inline uint64_t davy_fnv_text(uint64_t hash, const char *text)
{
	for (; *text; text++)
		hash = davy_fnv(hash, text, 1);
	return hash;
}

#endif
