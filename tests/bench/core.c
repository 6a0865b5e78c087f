/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * core DEVICES PROCESSES ROUNDS: what an event costs the core, a mix of all that engines, drivers
 * and the log report, and what a tick costs when none of it happens any more. A line "EVENT_NS
 * TICK_NS" for each round.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/core.h"

#define EVENTS 200000
#define TICKS  2000

static struct davy_core core;
static size_t devices, processes;
static char gpu[DAVY_DEVICE_LEN];

static double now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void fill_jobs(struct davy_event *ev, size_t i)
{
	if (ev->kind == DAVY_EV_RING) {
		strcpy(ev->ring.device, gpu);
		strcpy(ev->ring.ring, "gfx_0.0.0");
		ev->ring.timeout_ns = 2000000000;
		ev->ring.age_ns = 1 + i % 600000000;
	} else if (ev->kind == DAVY_EV_JOB_TIMES) {
		strcpy(ev->job_times.device, gpu);
		strcpy(ev->job_times.ring, "gfx_0.0.0");
		ev->job_times.count = i;
		ev->job_times.sum_ns = i * 300000000;
		ev->job_times.max_ns = 500000000;
		ev->job_times.slot[12] = (uint32_t)i;
	} else if (ev->kind == DAVY_EV_PROGRESS) {
		ev->progress.busy_slots = 1;
		ev->progress.depth = (uint32_t)(i % 100000);
	} else if (ev->kind == DAVY_EV_CLIENT) {
		strcpy(ev->client.device, gpu);
		ev->client.busy_ns = i * 50000;
	}
}

static void fill_signs(struct davy_event *ev, size_t i)
{
	if (ev->kind == DAVY_EV_FAULT) {
		ev->fault.pasid = 1 + (uint32_t)(i % 100);
		ev->fault.fault_class = DAVY_FAULT_VM_RETRY;
		ev->fault.fresh = 1;
	} else if (ev->kind == DAVY_EV_BO_MOVED) {
		strcpy(ev->bo_moved.device, gpu);
		ev->bo_moved.out_bytes = i * 4096;
	} else if (ev->kind == DAVY_EV_KFD) {
		strcpy(ev->kfd.device, gpu);
		ev->kfd.event = 1 + (uint32_t)(i / 10 % (DAVY_KFD_EVENT_COUNT - 1));
	} else if (ev->kind == DAVY_EV_LOG) {
		strcpy(ev->log.device, gpu);
		ev->log.kind = (uint16_t)(i / 10 % DAVY_LOG_KIND_COUNT);
		ev->log.role = davy_log_meaning(ev->log.kind)->role;
	} else if (ev->kind == DAVY_EV_FACT) {
		strcpy(ev->fact.device, gpu);
		ev->fact.fact = DAVY_FACT_KFD_PAGE_FAULT;
		ev->fact.fresh = 1;
	}
}

static struct davy_event make(size_t i)
{
	static const enum davy_event_kind kinds[] = {
		DAVY_EV_RING,	   DAVY_EV_FAULT,    DAVY_EV_BO_MOVED, DAVY_EV_GRAPH,
		DAVY_EV_JOB_TIMES, DAVY_EV_PROGRESS, DAVY_EV_CLIENT,   DAVY_EV_KFD,
		DAVY_EV_LOG,	   DAVY_EV_FACT,
	};
	struct davy_event ev;

	snprintf(gpu, sizeof(gpu), "0000:%02x:00.0", (unsigned int)(i / 10 % devices) & 0xff);
	memset(&ev, 0, sizeof(ev));
	ev.at_ns = i * 100000;
	ev.kind = kinds[i % 10];
	ev.pid = 100 + (uint32_t)(i / 10 % processes);
	fill_jobs(&ev, i);
	fill_signs(&ev, i);
	return ev;
}

static struct davy_event make_process(size_t i)
{
	struct davy_event ev;

	memset(&ev, 0, sizeof(ev));
	ev.at_ns = i;
	ev.kind = DAVY_EV_PROCESS;
	ev.pid = 100 + (uint32_t)i;
	ev.process.engine = DAVY_ENGINE_LLAMA_SERVER;
	ev.process.backend = DAVY_BACKEND_VULKAN;
	ev.process.ubatch = 512;
	strcpy(ev.process.model, "qwen3-30b-a3b-q4_k_m.gguf");
	return ev;
}

static size_t feed(const struct davy_event *ev)
{
	struct davy_plan plans[DAVY_PLANS_MAX];

	return davy_core_step(&core, ev, plans, DAVY_PLANS_MAX);
}

/* Events at 10,000 a second, with a tick every 100 ms; then ticks alone, for 200 s. */
static size_t measure(void)
{
	double began, events_ns;
	size_t decisions = 0;
	uint64_t last_ns;

	davy_core_init(&core);
	for (size_t i = 0; i < processes; i++) {
		struct davy_event ev = make_process(i);

		feed(&ev);
	}
	began = now_ns();
	for (size_t i = 1; i <= EVENTS; i++) {
		struct davy_event ev = make(i);

		if (i % 1000 == 0)
			ev = (struct davy_event){ .at_ns = ev.at_ns, .kind = DAVY_EV_TICK };
		decisions += feed(&ev);
		last_ns = ev.at_ns;
	}
	events_ns = (now_ns() - began) / EVENTS;
	began = now_ns();
	for (size_t i = 1; i <= TICKS; i++) {
		struct davy_event ev = { .at_ns = last_ns + i * 100000000, .kind = DAVY_EV_TICK };

		decisions += feed(&ev);
	}
	printf("%.1f %.1f\n", events_ns, (now_ns() - began) / TICKS);
	return decisions;
}

int main(int argc, char **argv)
{
	size_t decisions = 0;

	devices = argc == 4 ? strtoul(argv[1], NULL, 10) : 0;
	processes = argc == 4 ? strtoul(argv[2], NULL, 10) : 0;
	if (!devices || !processes) {
		fputs("usage: core DEVICES PROCESSES ROUNDS\n", stderr);
		return 2;
	}
	for (unsigned long round = strtoul(argv[3], NULL, 10); round; round--)
		decisions += measure();
	return decisions ? 0 : 1; /* otherwise nothing was judged */
}
