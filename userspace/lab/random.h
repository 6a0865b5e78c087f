/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Numbers that look random and are the same on every machine: xoshiro256** by Blackman and Vigna,
 * seeded by splitmix64. Integers only.
 */
#ifndef DAVY_RANDOM_H
#define DAVY_RANDOM_H

#include <stdbool.h>
#include <stdint.h>

struct davy_random {
	uint64_t s[4];
};

/* "name" makes another sequence of the same seed. */
void davy_random_seed(struct davy_random *r, const char *name, uint64_t seed);
uint64_t davy_random_u64(struct davy_random *r);

/* Both ends may come; "most" is not below "least". */
uint64_t davy_random_between(struct davy_random *r, uint64_t least, uint64_t most);

/* Half of "value" to twice of it, as often below as above. */
uint64_t davy_random_around(struct davy_random *r, uint64_t value);

/* "value" more or less "permille" of it. */
uint64_t davy_random_near(struct davy_random *r, uint64_t value, uint32_t permille);
bool davy_random_chance(struct davy_random *r, uint32_t permille);

#endif
