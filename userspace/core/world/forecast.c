/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "core/world/forecast.h"

#include <assert.h>
#include <string.h>

#define NOISE	     (128u << 10)	   /* bytes; smaller changes are neither growth nor drop */
#define BYTES_MAX    (1ULL << 53)	   /* product with 1000 fits 64 bits; exceeds all devices */
#define PEAK_NS	     (160 * DAVY_NS_PER_S) /* how long a peak is remembered: ten requests of 16 s */
#define PEAKS_STALE  3			   /* periods without a new peak: the row has ended */
#define PEAK_BYTES   (64ULL << 20)	   /* a smaller fall does not end a peak of a request */
#define BRIM	     1024 /* fraction of the total: with less left the heap was already full */
#define TOP_NS	     (3600 * DAVY_NS_PER_S)
#define NEWS	     4 /* growth is news when it has covered so much of the room above the top */
#define FRESH_NS     (1500 * DAVY_NS_PER_MS)
#define FRESH_MAX_NS (60 * DAVY_NS_PER_S)

/*
 * Width of a sub-window, and the time without change after which the growth has ended. Samples
 * arrive every 0.2 to 5 s. The widest scale detects blocks that are allocated up to one minute
 * apart.
 */
static const struct {
	uint64_t width_ns;
	uint64_t patience_ns;
	uint32_t points; /* needed for a trend; eight random points rise once in 200 times */
} scales[DAVY_FORECAST_SCALES] = {
	{ 500 * DAVY_NS_PER_MS, 6 * DAVY_NS_PER_S, 5 }, /* the caller's age_ns requires more */
	{ 2500 * DAVY_NS_PER_MS, 15 * DAVY_NS_PER_S, 8 },
	{ 12500 * DAVY_NS_PER_MS, 60 * DAVY_NS_PER_S, 8 },
};

uint64_t davy_forecast_left_ms(uint64_t left, uint64_t rate)
{
	if (!rate)
		return UINT64_MAX;
	return (left < BYTES_MAX ? left : BYTES_MAX) * 1000 / rate;
}

/* Bytes per second; 0 without a rise. */
static uint64_t forecast_slope(uint64_t from_ns, uint64_t from, uint64_t to_ns, uint64_t to)
{
	uint64_t ms = (to_ns - from_ns) / DAVY_NS_PER_MS;

	return to > from ? (to - from) * 1000 / (ms ? ms : 1) : 0;
}

static void forecast_begin(struct davy_forecast_scale *c, uint64_t at_ns, uint64_t used,
			   uint64_t top)
{
	memset(c, 0, sizeof(*c));
	c->at_ns[0] = c->since_ns = at_ns;
	c->used[0] = c->from = used;
	c->top = top;
	c->count = 1;
}

/* After a drop of more than half of the rise, a new growth begins at the newest point. */
static void forecast_restart_at_drop(struct davy_forecast_scale *c, uint64_t at_top)
{
	uint64_t newest = c->used[c->count - 1], top = newest;

	if (c->count < 2 || newest >= c->used[c->count - 2])
		return;
	for (uint32_t i = 0; i < c->count; i++)
		if (c->used[i] > top)
			top = c->used[i];
	if (top - newest > NOISE && (top - newest) * 2 > top - c->used[0])
		forecast_begin(c, c->at_ns[c->count - 1], newest, at_top);
}

/* Three of four steps rise, and the total rise is more than twice the largest drop. */
static bool forecast_grows(const struct davy_forecast_scale *c)
{
	uint64_t first = c->used[0], last = c->used[c->count - 1], top = first, fall = c->fall;
	uint32_t grown = 0;

	for (uint32_t i = 1; i < c->count; i++) {
		grown += c->used[i] > c->used[i - 1] + NOISE;
		if (c->used[i] > top)
			top = c->used[i];
		else if (top - c->used[i] > fall)
			fall = top - c->used[i];
	}
	return last > first && (last - first) / 2 > fall && grown * 4 >= (c->count - 1) * 3;
}

static uint64_t forecast_median(const struct davy_forecast_scale *c)
{
	uint64_t sorted[DAVY_FORECAST_POINTS] = { 0 };
	uint32_t half = c->count / 2, count = c->count - half;

	for (uint32_t i = 0; i < count; i++) {
		uint64_t v = forecast_slope(c->at_ns[i], c->used[i], c->at_ns[i + half],
					    c->used[i + half]);
		uint32_t at = i;

		for (; at && sorted[at - 1] > v; at--)
			sorted[at] = sorted[at - 1];
		sorted[at] = v;
	}
	return sorted[(count - 1) / 2];
}

static void forecast_push(struct davy_forecast_scale *c, uint64_t at_ns, uint64_t used)
{
	if (c->count == DAVY_FORECAST_POINTS) {
		c->count--;
		memmove(c->at_ns, c->at_ns + 1, c->count * sizeof(c->at_ns[0]));
		memmove(c->used, c->used + 1, c->count * sizeof(c->used[0]));
	}
	c->at_ns[c->count] = at_ns;
	c->used[c->count++] = used;
}

static void forecast_add(struct davy_forecast *f, int scale, uint64_t at_ns, uint64_t used)
{
	struct davy_forecast_scale *c = &f->scale[scale];
	uint32_t newest;

	forecast_restart_at_drop(c, f->top);
	newest = c->count - 1;
	if (at_ns - c->at_ns[newest] < scales[scale].width_ns) {
		if (used < c->used[newest]) {
			c->at_ns[newest] = at_ns;
			c->used[newest] = used;
		}
		return;
	}
	if (used <= c->used[0] + NOISE) { /* no growth since the first point */
		forecast_begin(c, at_ns, used, f->top);
		return;
	}
	forecast_push(c, at_ns, used);
	c->rate = c->count >= scales[scale].points && forecast_grows(c) ? forecast_median(c) : 0;
}

static void forecast_note_drop(struct davy_forecast *f, uint64_t at_ns, uint64_t used)
{
	struct davy_forecast_scale *c = &f->scale[0];

	if (c->since_ns != at_ns && used < f->last_used && f->last_used - used > c->fall)
		c->fall = f->last_used - used;
}

/* A peak that is not higher than the last one begins a new row of peaks. */
static void forecast_push_peak(struct davy_forecast *f)
{
	uint32_t last = f->peak_count - 1;

	if (f->peak_count && f->high <= f->peaks[last] + NOISE)
		f->peak_count = 0;
	if (f->peak_count == DAVY_FORECAST_PEAKS) {
		f->peak_count--;
		memmove(f->peaks, f->peaks + 1, f->peak_count * sizeof(f->peaks[0]));
		memmove(f->peaks_ns, f->peaks_ns + 1, f->peak_count * sizeof(f->peaks_ns[0]));
	}
	f->peaks[f->peak_count] = f->high;
	f->peaks_ns[f->peak_count++] = f->high_ns;
}

static void forecast_note_peaks(struct davy_forecast *f, uint64_t at_ns, uint64_t used)
{
	uint64_t fallen = f->high > used ? f->high - used : 0;

	if (fallen > NOISE && fallen * 2 > f->high - f->low) {
		if (fallen > PEAK_BYTES)
			forecast_push_peak(f);
		if (f->high >= f->peak || at_ns - f->peak_ns > PEAK_NS) {
			f->peak = f->high;
			f->margin = (f->high - f->low) / 8;
			f->peak_ns = at_ns;
		}
		f->high = f->low = used;
		f->high_ns = at_ns;
	}
	if (used > f->high) {
		f->high = used;
		f->high_ns = at_ns;
	}
	f->low = used < f->low ? used : f->low;
}

void davy_forecast_add(struct davy_forecast *f, uint64_t at_ns, uint64_t used)
{
	used = used < BYTES_MAX ? used : BYTES_MAX;
	if (!f->scale[0].count)
		f->low = f->high = used;
	else
		assert(at_ns >= f->last_ns);
	for (int i = 0; i < DAVY_FORECAST_SCALES; i++) {
		struct davy_forecast_scale *c = &f->scale[i];

		if (!c->count || at_ns - f->last_ns > scales[i].patience_ns)
			forecast_begin(c, at_ns, used, f->top);
		else
			forecast_add(f, i, at_ns, used);
	}
	f->step = f->last_ns ? forecast_slope(f->last_ns, f->last_used, at_ns, used) : 0;
	forecast_note_drop(f, at_ns, used);
	forecast_note_peaks(f, at_ns, used);
	if (used >= f->top || at_ns - f->top_ns > TOP_NS) {
		f->top = used;
		f->top_ns = at_ns;
	}
	f->last_ns = at_ns;
	f->last_used = used;
}

/* Rate of the latest three sub-windows; UINT64_MAX if they are too few or too short. */
static uint64_t forecast_latest(const struct davy_forecast *f, const struct davy_forecast_scale *c)
{
	uint32_t from = c->count > 3 ? c->count - 4 : 0;

	if (f->last_ns - c->at_ns[from] < DAVY_NS_PER_S)
		return UINT64_MAX;
	return forecast_slope(c->at_ns[from], c->used[from], f->last_ns, f->last_used);
}

/* Minimum of the trend, its latest rate and the finest latest rate: 0 if growth has ended. */
static uint64_t forecast_rate(const struct davy_forecast *f, const struct davy_forecast_scale *c,
			      uint64_t total, uint64_t age_ns)
{
	uint64_t latest, finest;

	if (!c->rate || f->last_ns - c->since_ns < age_ns || c->from > total - total / BRIM)
		return 0;
	latest = forecast_latest(f, c);
	finest = c == f->scale ? latest : forecast_latest(f, f->scale);
	latest = finest < latest ? finest : latest;
	return latest < c->rate ? latest : c->rate;
}

/* True if samples arrived and were constant for at least one second. */
static bool forecast_is_flat(const struct davy_forecast *f)
{
	const struct davy_forecast_scale *c = &f->scale[0];
	uint32_t from = c->count > 2 ? c->count - 3 : 0;

	return f->last_ns - c->at_ns[from] >= DAVY_NS_PER_S && f->last_used >= c->used[from] &&
	       f->last_used - c->used[from] <= NOISE;
}

static uint64_t forecast_until(const struct davy_forecast *f, const struct davy_forecast_scale *c)
{
	uint64_t ns = (c->at_ns[c->count - 1] - c->at_ns[0]) / (c->count - 1) * 3;

	ns = ns < FRESH_NS ? FRESH_NS : ns;
	return f->last_ns + (ns < FRESH_MAX_NS ? ns : FRESH_MAX_NS);
}

/* True if this level was reached recently. Not if the heap was full then and a process failed. */
static bool forecast_seen_before(const struct davy_forecast *f, uint64_t total)
{
	return f->last_used < f->peak + f->margin && f->last_ns - f->peak_ns < PEAK_NS &&
	       (f->peak < total - total / 50 || f->margin < total / 400);
}

/*
 * True if the heap had been nearly as full in the hour before this growth, and had room. Use that
 * wanders in a band below the brim rises to a new top at times, by little.
 */
static bool forecast_is_no_news(const struct davy_forecast_scale *c, uint64_t used, uint64_t total)
{
	uint64_t news = used > c->top ? used - c->top : 0;

	return c->top > c->from + NOISE && c->top > total - total / 4 &&
	       c->top < total - total / 128 && used < total && news < (total - used) / NEWS;
}

struct davy_outlook davy_forecast_look(const struct davy_forecast *f, uint64_t total,
				       uint64_t age_ns)
{
	struct davy_outlook o = { 0 };

	for (int i = 0; i < DAVY_FORECAST_SCALES; i++) {
		const struct davy_forecast_scale *c = &f->scale[i];
		uint64_t rate = forecast_rate(f, c, total, age_ns);

		if (rate <= o.rate)
			continue;
		o.rate = rate;
		o.step = f->step;
		o.since_ns = c->since_ns;
		o.good_until_ns = forecast_until(f, c);
		o.seen_before = (c->since_ns >= f->peak_ns && forecast_seen_before(f, total)) ||
				forecast_is_no_news(c, f->last_used, total);
	}
	if (o.rate && forecast_is_flat(f))
		memset(&o, 0, sizeof(o));
	return o;
}

struct davy_outlook davy_forecast_peaks(const struct davy_forecast *f, uint64_t total)
{
	uint32_t last = f->peak_count - 1, half = DAVY_FORECAST_PEAKS / 2;
	struct davy_outlook o = { 0 };
	uint64_t whole, latest, by, period_ns;

	if (f->peak_count < DAVY_FORECAST_PEAKS || f->peaks[last] - f->peaks[0] < total / 128)
		return o;
	period_ns = (f->peaks_ns[last] - f->peaks_ns[0]) / last;
	if (!period_ns || f->last_ns - f->peaks_ns[last] > PEAKS_STALE * period_ns)
		return o;
	whole = (f->peaks[last] - f->peaks[0]) / last;
	latest = (f->peaks[last] - f->peaks[half]) / (last - half);
	by = whole < latest ? whole : latest;
	if (!by)
		return o;
	o.of_peaks = true;
	o.peaks_left = f->peaks[last] < total ? (total - f->peaks[last]) / by : 0;
	o.period_ns = period_ns;
	o.rate = forecast_slope(0, 0, period_ns, by);
	o.since_ns = f->peaks_ns[0];
	o.good_until_ns = f->peaks_ns[last] + PEAKS_STALE * period_ns;
	return o;
}
