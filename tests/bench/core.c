/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How many events a second the core judges: a mix of rings, faults, moves, graphs and ticks. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "../../userspace/core/core.h"

#define EVENTS 5000000

static struct dl_core core;

static double now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static struct dl_event make(size_t i)
{
	static const enum dl_event_kind kinds[] = { DL_EV_RING, DL_EV_FAULT, DL_EV_BO_MOVED,
						    DL_EV_GRAPH };
	struct dl_event ev;

	memset(&ev, 0, sizeof(ev));
	ev.at_ns = i * 100000;
	ev.kind = i % 1000 ? kinds[i % 4] : DL_EV_TICK;
	ev.pid = 100 + (uint32_t)(i % 40);
	if (ev.kind == DL_EV_RING) {
		strcpy(ev.ring.device, "0000:03:00.0");
		strcpy(ev.ring.ring, "gfx_0.0.0");
		ev.ring.timeout_ns = 2000000000;
		ev.ring.age_ns = 1 + i % 600000000;
	} else if (ev.kind == DL_EV_FAULT) {
		ev.fault.pasid = 1 + (uint32_t)(i % 100);
		ev.fault.fault_class = DL_FAULT_VM_RETRY;
		ev.fault.fresh = 1;
	} else if (ev.kind == DL_EV_BO_MOVED) {
		strcpy(ev.bo_moved.device, "0000:03:00.0");
		ev.bo_moved.out_bytes = i * 4096;
	}
	return ev;
}

int main(void)
{
	struct dl_plan plans[DL_PLANS_MAX];
	size_t decisions = 0;
	double began;

	dl_core_init(&core);
	began = now_s();
	for (size_t i = 1; i <= EVENTS; i++) {
		struct dl_event ev = make(i);

		decisions += dl_core_step(&core, &ev, plans, DL_PLANS_MAX);
	}
	printf("%.1f %zu\n", EVENTS / (now_s() - began) / 1e6, decisions);
	return 0;
}
