/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Any bytes as events of a model, within any bounds, from any valid state: the
 * answer is within the bounds and the same when asked again, and the state stays valid. The first
 * byte selects a stored state; then bounds, then one byte for each event
 * and its arguments.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/tuner/tuner.h"

struct input {
	const uint8_t *data;
	size_t size;
};

static void take(struct input *in, void *to, size_t size)
{
	size_t n = in->size < size ? in->size : size;

	memset(to, 0, size);
	memcpy(to, in->data, n);
	in->data += n;
	in->size -= n;
}

static void require(bool holds)
{
	if (!holds)
		abort();
}

/* Small numbers are more likely to be equal. */
static uint32_t number(struct input *in)
{
	struct {
		uint16_t value;
		uint8_t shift;
	} n;

	take(in, &n, sizeof(n));
	return (uint32_t)n.value << n.shift % 17;
}

static void take_bounds(struct input *in, struct davy_tuner_bounds *bounds)
{
	memset(bounds, 0, sizeof(*bounds));
	for (size_t i = 0; i < DAVY_TUNER_SETTINGS; i++) {
		bounds->range[i].floor = number(in);
		bounds->range[i].ceiling = number(in);
		bounds->range[i].step = number(in);
	}
	bounds->times = davy_tuner_times;
	take(in, bounds->backends, 4);
	for (size_t i = 0; i < DAVY_BACKEND_COUNT; i++)
		bounds->backends[i] %= DAVY_BACKEND_COUNT;
	if (!(bounds->backends[0] & 1))
		return; /* as shipped */
	bounds->times.soak_s = number(in);
	bounds->times.lasted_s = number(in);
	bounds->times.at_once_s = number(in);
	bounds->times.backoff_s = number(in);
	bounds->times.backoff_max_s = number(in);
	bounds->times.bad_s = number(in);
	bounds->times.bad_max_s = number(in);
}

static void check(const struct davy_tuner *t, const struct davy_tuner_bounds *bounds,
		  const struct davy_tuner_setting *setting, const struct davy_tuner_reason *reason)
{
	bool listed = !bounds->backends[0] && !setting->backend;

	require(davy_tuner_valid(t) && reason->why < DAVY_TUNER_WHY_COUNT);
	require(reason->setting <= DAVY_TUNER_SETTINGS && reason->class < DAVY_CLASS_COUNT);
	for (size_t i = 0; i < DAVY_TUNER_SETTINGS; i++) {
		const struct davy_tuner_range *r = &bounds->range[i];

		require(!setting->size[i] ||
			(setting->size[i] >= r->floor && setting->size[i] < r->ceiling));
		require(davy_tuner_steps(r) >= 1);
	}
	for (size_t i = 0; i < DAVY_BACKEND_COUNT && bounds->backends[i]; i++)
		listed = listed || setting->backend == bounds->backends[i];
	require(listed);
}

static void ask(struct davy_tuner *t, uint64_t now_s, const struct davy_tuner_bounds *bounds)
{
	struct davy_tuner_setting first, second;
	struct davy_tuner_reason reason;

	davy_tuner_next(t, now_s, bounds, &first, &reason);
	check(t, bounds, &first, &reason);
	davy_tuner_setting(t, bounds, &second);
	require(!memcmp(&first, &second, sizeof(first)));
	davy_tuner_next(t, now_s, bounds, &second, &reason);
	check(t, bounds, &second, &reason);
	require(!memcmp(&first, &second, sizeof(first)) || !bounds->times.soak_s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = { data, size };
	struct davy_tuner_bounds bounds;
	static struct davy_tuner t;
	uint64_t now_s = 1000000;
	uint8_t op;

	take(&in, &op, 1);
	memset(&t, 0, sizeof(t));
	if (op & 1)
		take(&in, &t, sizeof(t));
	if (!davy_tuner_valid(&t))
		return 0;
	take_bounds(&in, &bounds);
	while (in.size) {
		take(&in, &op, 1);
		now_s += op & 0x80 ? number(&in) : 0;
		if (op % 8 == 0)
			take_bounds(&in, &bounds);
		else if (op % 8 == 1)
			davy_tuner_environment(&t, number(&in));
		else if (op % 8 == 2)
			now_s -= now_s < 4000000 ? 0 : number(&in) % 3000000;
		else if (op % 8 < 5)
			davy_tuner_trouble(&t, now_s, number(&in), op / 8 % 16);
		else
			davy_tuner_soak(&t, now_s, (uint64_t)number(&in) << op / 8 % 8,
					number(&in));
		if (op % 8 != 2 || op & 0x40)
			ask(&t, now_s, &bounds);
	}
	return 0;
}
