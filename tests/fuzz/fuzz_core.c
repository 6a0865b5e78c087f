/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Any bytes as a history: the core must keep its invariants, and two runs must give equal plans and
 * equal state. Each event is taken from the input as a trace would give it.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../../userspace/core/core.h"
#include "../../userspace/report/event_text.h"
#include "../../userspace/report/plan_text.h"

static struct dl_core first, second;

static size_t next_event(const uint8_t *data, size_t size, uint64_t *now, struct dl_event *ev)
{
	size_t payload, take;

	memset(ev, 0, sizeof(*ev));
	if (size < 4)
		return 0;
	ev->kind = data[0] % DL_EV_COUNT;
	ev->pid = data[1] % 8;
	*now += (uint64_t)data[2] << (data[3] % 40);
	ev->at_ns = *now;
	payload = dl_event_payload_size(ev->kind);
	take = size - 4 < payload ? size - 4 : payload;
	memcpy(&ev->config, data + 4, take);
	return 4 + take;
}

static void print_all(const struct dl_event *ev, const struct dl_plan *plans, size_t count)
{
	char text[DL_PLAN_TEXT_SIZE];

	dl_event_text(ev, text, sizeof(text));
	free(dl_event_json(ev));
	for (size_t i = 0; i < count; i++) {
		dl_plan_text(&plans[i], text, sizeof(text));
		if (strchr(text, '\n'))
			abort();
		free(dl_plan_json(&plans[i]));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct dl_plan a[DL_PLANS_MAX], b[DL_PLANS_MAX];
	struct dl_event ev;
	uint64_t now = 0;
	size_t used;

	dl_core_init(&first);
	dl_core_init(&second);
	for (; (used = next_event(data, size, &now, &ev)); data += used, size -= used) {
		size_t count;

		if (!ev.kind || !dl_event_valid(&ev))
			continue;
		count = dl_core_step(&first, &ev, a, DL_PLANS_MAX);
		if (dl_core_step(&second, &ev, b, DL_PLANS_MAX) != count)
			abort();
		if (memcmp(a, b, count * sizeof(a[0])) != 0)
			abort();
		print_all(&ev, a, count);
	}
	if (memcmp(&first, &second, sizeof(first)) != 0)
		abort();
	return 0;
}
