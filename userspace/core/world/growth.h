/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Estimates how a value grows along an axis, with bounded memory and integers. Stores the maximum
 * of each of at most 16 bins; the bin width doubles as the axis gets longer. The trend is a line
 * that is robust against a few outliers (Theil and Sen: the median of the slopes between all
 * pairs).
 */
#ifndef DAVY_GROWTH_H
#define DAVY_GROWTH_H

#include "core/event/types.h"

#define DAVY_GROWTH_BINS  16
#define DAVY_GROWTH_X_MAX (1u << 22) /* product of x and slope fits 63 bits */
#define DAVY_GROWTH_Y_MAX (1u << 20)

struct davy_growth {
	uint32_t width; /* width of a bin in units of the axis; 0: not begun */
	uint32_t pass;	/* a newer pass overwrites the bins of older ones */
	uint32_t x[DAVY_GROWTH_BINS];
	uint32_t y[DAVY_GROWTH_BINS]; /* 0: empty bin */
	uint32_t of_pass[DAVY_GROWTH_BINS];
};

struct davy_trend {
	int64_t slope_q20; /* slope of y per 2^20 of x */
	int64_t y;	   /* value of the line at x */
	uint32_t x;	   /* x of the last point */
	uint32_t points;
	bool steady; /* the rise is much larger than the deviation of the points */
};

/* Resets. "width" is the initial bin width, not 0. */
void davy_growth_begin(struct davy_growth *g, uint32_t width);

/* Clamps values to DAVY_GROWTH_X_MAX and DAVY_GROWTH_Y_MAX. */
void davy_growth_add(struct davy_growth *g, uint64_t x, uint64_t y);

/* True if "x" starts a new bin and the previous bin is below a quarter of the maximum. */
bool davy_growth_fell(const struct davy_growth *g, uint64_t x);

/* False with fewer than eight points. */
bool davy_growth_trend(const struct davy_growth *g, struct davy_trend *ret_trend);

/* Value of the line at "x", at least 0. */
uint64_t davy_trend_at(const struct davy_trend *t, uint64_t x);

/* The x where the line reaches "y"; UINT64_MAX if it does not rise, t->x if already reached. */
uint64_t davy_trend_reach(const struct davy_trend *t, uint64_t y);

#endif
