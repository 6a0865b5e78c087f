/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "core/world/growth.h"

#include <assert.h>
#include <string.h>

#define POINTS_MIN  8
#define PAIRS_MAX   (DAVY_GROWTH_BINS * (DAVY_GROWTH_BINS - 1) / 2)
#define Q20	    (1 << 20)
#define NOISE_TIMES 8 /* one in 100 sets of eight points of pure noise looks steady */

struct points {
	uint32_t count;
	uint32_t x[DAVY_GROWTH_BINS];
	uint32_t y[DAVY_GROWTH_BINS];
};

void davy_growth_begin(struct davy_growth *g, uint32_t width)
{
	assert(width);
	memset(g, 0, sizeof(*g));
	g->width = width;
}

static void growth_put(struct davy_growth *g, size_t bin, uint32_t x, uint32_t y, uint32_t pass)
{
	if (g->y[bin] && pass == g->of_pass[bin] && y <= g->y[bin])
		return;
	if (g->y[bin] && pass < g->of_pass[bin])
		return;
	g->x[bin] = x;
	g->y[bin] = y;
	g->of_pass[bin] = pass;
}

/* Merges pairs of bins; half of the bins become free. */
static void growth_widen(struct davy_growth *g)
{
	struct davy_growth old = *g;

	davy_growth_begin(g, old.width * 2);
	g->pass = old.pass;
	for (size_t i = 0; i < DAVY_GROWTH_BINS; i++)
		if (old.y[i])
			growth_put(g, i / 2, old.x[i], old.y[i], old.of_pass[i]);
}

void davy_growth_add(struct davy_growth *g, uint64_t x, uint64_t y)
{
	uint32_t at = x < DAVY_GROWTH_X_MAX ? (uint32_t)x : DAVY_GROWTH_X_MAX;

	assert(g->width);
	if (!y)
		return;
	while (at / g->width >= DAVY_GROWTH_BINS) /* at most 22 times per object */
		growth_widen(g);
	growth_put(g, at / g->width, at, y < DAVY_GROWTH_Y_MAX ? (uint32_t)y : DAVY_GROWTH_Y_MAX,
		   g->pass);
}

bool davy_growth_fell(const struct davy_growth *g, uint64_t x)
{
	uint32_t highest = 0, last = 0;
	size_t last_bin = 0;

	for (size_t i = 0; i < DAVY_GROWTH_BINS; i++) {
		if (!g->y[i])
			continue;
		last = g->y[i];
		last_bin = i;
		if (last > highest)
			highest = last;
	}
	return x / g->width > last_bin && last < highest / 4;
}

static struct points growth_points(const struct davy_growth *g)
{
	struct points p = { 0 };

	for (size_t i = 0; i < DAVY_GROWTH_BINS; i++) {
		if (!g->y[i])
			continue;
		p.x[p.count] = g->x[i];
		p.y[p.count++] = g->y[i];
	}
	return p;
}

/* Sorts in place; at most 120 values. */
static int64_t growth_median(int64_t *v, size_t count)
{
	for (size_t i = 1; i < count; i++) {
		int64_t moving = v[i];
		size_t at = i;

		for (; at && v[at - 1] > moving; at--)
			v[at] = v[at - 1];
		v[at] = moving;
	}
	return v[count / 2];
}

static int64_t growth_along(int64_t slope_q20, int64_t dx)
{
	return slope_q20 * dx / Q20;
}

static int64_t growth_slope(const struct points *p)
{
	int64_t slopes[PAIRS_MAX];
	size_t pairs = 0;

	for (uint32_t i = 0; i < p->count; i++) {
		for (uint32_t j = i + 1; j < p->count; j++) {
			int64_t dy = (int64_t)p->y[j] - p->y[i];

			slopes[pairs++] = dy * Q20 / ((int64_t)p->x[j] - p->x[i]);
		}
	}
	return growth_median(slopes, pairs);
}

bool davy_growth_trend(const struct davy_growth *g, struct davy_trend *ret_trend)
{
	struct points p = growth_points(g);
	int64_t level[DAVY_GROWTH_BINS], off[DAVY_GROWTH_BINS];
	uint32_t last;
	int64_t rise;

	if (p.count < POINTS_MIN)
		return false;
	last = p.x[p.count - 1];
	ret_trend->slope_q20 = growth_slope(&p);
	for (uint32_t i = 0; i < p.count; i++)
		level[i] = p.y[i] + growth_along(ret_trend->slope_q20, (int64_t)last - p.x[i]);
	ret_trend->y = growth_median(level, p.count);
	ret_trend->x = last;
	ret_trend->points = p.count;
	for (uint32_t i = 0; i < p.count; i++)
		off[i] =
			level[i] < ret_trend->y ? ret_trend->y - level[i] : level[i] - ret_trend->y;
	rise = growth_along(ret_trend->slope_q20, (int64_t)last - p.x[0]);
	ret_trend->steady = rise > NOISE_TIMES * growth_median(off, p.count);
	return true;
}

uint64_t davy_trend_at(const struct davy_trend *t, uint64_t x)
{
	int64_t to = (int64_t)(x < DAVY_GROWTH_X_MAX ? x : DAVY_GROWTH_X_MAX);
	int64_t y = t->y + growth_along(t->slope_q20, to - t->x);

	return y > 0 ? (uint64_t)y : 0;
}

uint64_t davy_trend_reach(const struct davy_trend *t, uint64_t y)
{
	int64_t missing = (int64_t)(y < DAVY_GROWTH_Y_MAX ? y : DAVY_GROWTH_Y_MAX) - t->y;

	if (missing <= 0)
		return t->x;
	if (t->slope_q20 <= 0)
		return UINT64_MAX;
	return t->x + (uint64_t)(missing * Q20 / t->slope_q20);
}
