/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How fast a heap fills, from samples of how full it is. Memory grows in saw teeth: a model load is
 * fast and stops, requests take and give back, drivers and allocators take blocks. So growth is
 * looked at in three scales of sub-windows, each kept as its lowest point; the rate of a scale is
 * the median of slopes over half of its window (Theil's incomplete method), and counts only while
 * most sub-windows grew and the latest still do.
 */
#ifndef DAVY_FORECAST_H
#define DAVY_FORECAST_H

#include "core/event/types.h"

#define DAVY_FORECAST_POINTS 16
#define DAVY_FORECAST_SCALES 3

struct davy_forecast_scale {
	uint64_t at_ns[DAVY_FORECAST_POINTS]; /* oldest first */
	uint64_t used[DAVY_FORECAST_POINTS];
	uint64_t since_ns; /* when this growth began: nothing before it is in the points */
	uint64_t from;	   /* how much was used then */
	uint64_t rate;	   /* bytes a second, 0: no trend */
	uint64_t fall;	   /* the deepest between two samples since then, finest scale */
	uint32_t count;
	uint32_t pad;
};

struct davy_forecast {
	struct davy_forecast_scale scale[DAVY_FORECAST_SCALES];
	uint64_t last_ns; /* latest sample; 0: none yet */
	uint64_t last_used;
	uint64_t low; /* lowest and highest since it last fell far */
	uint64_t high;
	uint64_t peak;	 /* from where it last fell far */
	uint64_t margin; /* above it, that is no news: an eighth of what it had risen */
	uint64_t peak_ns;
};

struct davy_outlook {
	uint64_t rate;		/* bytes a second; 0: it does not grow */
	uint64_t since_ns;	/* when the growth began */
	uint64_t good_until_ns; /* without another sample the growth has ended then */
	bool seen_before;	/* it was as full a moment ago, and there was room */
};

/* A sample; "at_ns" never goes back. No sample for a while means: unchanged. */
void davy_forecast_add(struct davy_forecast *f, uint64_t at_ns, uint64_t used);

/* What the samples say of a heap of "total" bytes; a growth younger than "age_ns" is none. */
struct davy_outlook davy_forecast_look(const struct davy_forecast *f, uint64_t total,
				       uint64_t age_ns);

/* Until "left" bytes are filled, ms; UINT64_MAX at rate 0. */
uint64_t davy_forecast_left_ms(uint64_t left, uint64_t rate);

#endif
