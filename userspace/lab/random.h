/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Numbers that look random and are the same on every machine: xoshiro256** by Blackman and Vigna,
 * seeded by splitmix64. Integers only.
 */
#ifndef DL_TUNE_RANDOM_H
#define DL_TUNE_RANDOM_H

#include <stdbool.h>
#include <stdint.h>

struct dl_random {
	uint64_t s[4];
};

/* "name" makes another sequence of the same seed. */
void dl_random_seed(struct dl_random *r, const char *name, uint64_t seed);
uint64_t dl_random_u64(struct dl_random *r);

/* Both ends may come; "most" is not below "least". */
uint64_t dl_random_between(struct dl_random *r, uint64_t least, uint64_t most);

/* Half of "value" to twice of it, as often below as above. */
uint64_t dl_random_around(struct dl_random *r, uint64_t value);

/* "value" more or less "permille" of it. */
uint64_t dl_random_near(struct dl_random *r, uint64_t value, uint32_t permille);
bool dl_random_chance(struct dl_random *r, uint32_t permille);

#endif
