/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How something grows along an axis, in bounded room and integers: the largest value of each of at
 * most 16 bins whose width doubles as the axis gets longer, and a line through them that one or a
 * few outliers do not bend (Theil and Sen: the median of the slopes between all pairs).
 */
#ifndef DAVY_GROWTH_H
#define DAVY_GROWTH_H

#include "core/event/types.h"

#define DAVY_GROWTH_BINS  16
#define DAVY_GROWTH_X_MAX (1u << 22) /* products of an x and a slope fit 63 bits */
#define DAVY_GROWTH_Y_MAX (1u << 20)

struct davy_growth {
	uint32_t width; /* of a bin, in the axis's unit; 0: not begun */
	uint32_t pass;	/* a later pass replaces what an earlier one left in a bin */
	uint32_t x[DAVY_GROWTH_BINS];
	uint32_t y[DAVY_GROWTH_BINS]; /* 0: the bin is empty */
	uint32_t of_pass[DAVY_GROWTH_BINS];
};

struct davy_trend {
	int64_t slope_q20; /* of y, for 2^20 of x */
	int64_t y;	   /* of the line, at x */
	uint32_t x;	   /* of the last point */
	uint32_t points;
	bool steady; /* it rises by far more than the points lie off it */
};

/* Forgets all; "width" is that of a bin at first, not 0. */
void davy_growth_begin(struct davy_growth *g, uint32_t width);

/* Larger values than DAVY_GROWTH_X_MAX and _Y_MAX count as those. */
void davy_growth_add(struct davy_growth *g, uint64_t x, uint64_t y);

/* Whether "x" begins a bin after one that came to less than a quarter of the highest. */
bool davy_growth_fell(const struct davy_growth *g, uint64_t x);

/* False when there are fewer than eight points. */
bool davy_growth_trend(const struct davy_growth *g, struct davy_trend *ret_trend);

/* The line at "x", not below 0. */
uint64_t davy_trend_at(const struct davy_trend *t, uint64_t x);

/* Where the line reaches "y"; UINT64_MAX when it does not rise, t->x when it has. */
uint64_t davy_trend_reach(const struct davy_trend *t, uint64_t y);

#endif
