/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Estimates how fast a heap fills, from samples of its use. Memory use is a saw tooth: a model load
 * is fast and stops, requests allocate and free, drivers and allocators take blocks. Therefore
 * three scales of sub-windows are used; each sub-window stores its minimum. The rate of a scale is
 * the median of slopes over half of its window (Theil's incomplete method). It counts only while
 * most sub-windows grow and the latest ones still do.
 */
#ifndef DAVY_FORECAST_H
#define DAVY_FORECAST_H

#include "core/event/types.h"

#define DAVY_FORECAST_POINTS 16
#define DAVY_FORECAST_SCALES 3
#define DAVY_FORECAST_PEAKS  6

struct davy_forecast_scale {
	uint64_t at_ns[DAVY_FORECAST_POINTS]; /* oldest first */
	uint64_t used[DAVY_FORECAST_POINTS];
	uint64_t since_ns; /* start of the current growth; all points are later */
	uint64_t from;	   /* use at that time */
	uint64_t top;	   /* the highest use in the hour before */
	uint64_t rate;	   /* bytes per second, 0: no trend */
	uint64_t fall;	   /* largest drop between two samples since then, finest scale only */
	uint32_t count;
	uint32_t pad;
};

struct davy_forecast {
	struct davy_forecast_scale scale[DAVY_FORECAST_SCALES];
	uint64_t last_ns; /* latest sample; 0: none */
	uint64_t last_used;
	uint64_t step; /* rate between the latest two samples, bytes per second */
	uint64_t low;  /* minimum and maximum since the last large drop */
	uint64_t high;
	uint64_t peak;	 /* maximum before the last large drop */
	uint64_t margin; /* expected overshoot above the peak: one eighth of the last rise */
	uint64_t peak_ns;
	uint64_t high_ns; /* time of the maximum since the last large drop */
	uint64_t top;	  /* the highest use of the last hour */
	uint64_t top_ns;
	uint64_t peaks[DAVY_FORECAST_PEAKS];	/* of a saw tooth that rises from peak to peak, */
	uint64_t peaks_ns[DAVY_FORECAST_PEAKS]; /* oldest first */
	uint32_t peak_count;
	uint32_t pad;
};

struct davy_outlook {
	uint64_t rate;		/* bytes per second; 0: no growth */
	uint64_t since_ns;	/* start of the growth */
	uint64_t step;		/* rate of the newest sample alone: low if a load has just ended */
	uint64_t good_until_ns; /* the outlook expires then if no sample arrives */
	bool seen_before; /* it reached this level before, or nearly, and did not fill the heap */
	bool of_peaks;
	uint64_t peaks_left; /* peaks that will find room */
	uint64_t period_ns;  /* between two of them */
};

/* Adds a sample. "at_ns" never decreases. Missing samples mean that the value is unchanged. */
void davy_forecast_add(struct davy_forecast *f, uint64_t at_ns, uint64_t used);

/*
 * Evaluates the samples of a heap of "total" bytes. Ignores growth that is younger than "age_ns".
 */
struct davy_outlook davy_forecast_look(const struct davy_forecast *f, uint64_t total,
				       uint64_t age_ns);

/*
 * For a use that falls after each peak, and whose peaks rise. Rate 0: there are not enough peaks of
 * a size that matters for a heap of "total" bytes, or one was not higher than the peak before it.
 */
struct davy_outlook davy_forecast_peaks(const struct davy_forecast *f, uint64_t total);

/* Milliseconds until "left" bytes are filled; UINT64_MAX if the rate is 0. */
uint64_t davy_forecast_left_ms(uint64_t left, uint64_t rate);

#endif
