/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lab/random.h"

#include <assert.h>

#include "lib/hash.h"

static uint64_t splitmix(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15ULL;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
	return z ^ z >> 31;
}

void davy_random_seed(struct davy_random *r, const char *name, uint64_t seed)
{
	uint64_t state = davy_fnv_text(DAVY_FNV_START, name);

	state ^= splitmix(&seed);
	for (int i = 0; i < 4; i++)
		r->s[i] = splitmix(&state);
}

static uint64_t rotated(uint64_t x, int by)
{
	return x << by | x >> (64 - by);
}

uint64_t davy_random_u64(struct davy_random *r)
{
	uint64_t result = rotated(r->s[1] * 5, 7) * 9, t = r->s[1] << 17;

	r->s[2] ^= r->s[0];
	r->s[3] ^= r->s[1];
	r->s[1] ^= r->s[2];
	r->s[0] ^= r->s[3];
	r->s[2] ^= t;
	r->s[3] = rotated(r->s[3], 45);
	return result;
}

uint64_t davy_random_between(struct davy_random *r, uint64_t least, uint64_t most)
{
	uint64_t values = most - least + 1; /* 0: all 2^64 */

	assert(least <= most);
	if (!values)
		return davy_random_u64(r);
	return least + (uint64_t)((unsigned __int128)davy_random_u64(r) * values >> 64);
}

uint64_t davy_random_around(struct davy_random *r, uint64_t value)
{
	if (davy_random_u64(r) >> 63)
		return davy_random_between(r, value, value * 2);
	return davy_random_between(r, value / 2, value);
}

uint64_t davy_random_near(struct davy_random *r, uint64_t value, uint32_t permille)
{
	uint64_t by = value / 1000 * permille + value % 1000 * permille / 1000;

	assert(permille <= 1000);
	return davy_random_between(r, value - by, value + by);
}

bool davy_random_chance(struct davy_random *r, uint32_t permille)
{
	return davy_random_between(r, 0, 999) < permille;
}
