/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Pseudo-random numbers, identical on all machines: xoshiro256** by Blackman and Vigna, seeded by
 * splitmix64. Integers only.
 */
#ifndef DAVY_RANDOM_H
#define DAVY_RANDOM_H

#include <stdbool.h>
#include <stdint.h>

struct davy_random {
	uint64_t s[4];
};

/* A different "name" gives a different sequence for the same seed. */
void davy_random_seed(struct davy_random *r, const char *name, uint64_t seed);
uint64_t davy_random_u64(struct davy_random *r);

/* Includes both ends; least <= most. */
uint64_t davy_random_between(struct davy_random *r, uint64_t least, uint64_t most);

/* Half to twice "value", with equal chance below and above. */
uint64_t davy_random_around(struct davy_random *r, uint64_t value);

/* "value" plus or minus up to "permille" of it. */
uint64_t davy_random_near(struct davy_random *r, uint64_t value, uint32_t permille);
bool davy_random_chance(struct davy_random *r, uint32_t permille);

#endif
