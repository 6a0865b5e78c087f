/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How many events a second the core judges: a mix of all that engines, drivers and the log say. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "core/core.h"

#define EVENTS 5000000
#define GPU    "0000:03:00.0"

static struct davy_core core;

static double now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void fill_jobs(struct davy_event *ev, size_t i)
{
	if (ev->kind == DAVY_EV_RING) {
		strcpy(ev->ring.device, GPU);
		strcpy(ev->ring.ring, "gfx_0.0.0");
		ev->ring.timeout_ns = 2000000000;
		ev->ring.age_ns = 1 + i % 600000000;
	} else if (ev->kind == DAVY_EV_JOB_TIMES) {
		strcpy(ev->job_times.device, GPU);
		strcpy(ev->job_times.ring, "gfx_0.0.0");
		ev->job_times.count = i;
		ev->job_times.sum_ns = i * 300000000;
		ev->job_times.max_ns = 500000000;
		ev->job_times.slot[12] = (uint32_t)i;
	} else if (ev->kind == DAVY_EV_PROGRESS) {
		ev->progress.busy_slots = 1;
		ev->progress.depth = (uint32_t)(i % 100000);
	} else if (ev->kind == DAVY_EV_CLIENT) {
		strcpy(ev->client.device, GPU);
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
		strcpy(ev->bo_moved.device, GPU);
		ev->bo_moved.out_bytes = i * 4096;
	} else if (ev->kind == DAVY_EV_KFD) {
		strcpy(ev->kfd.device, GPU);
		ev->kfd.event = 1 + (uint32_t)(i / 10 % (DAVY_KFD_EVENT_COUNT - 1));
	} else if (ev->kind == DAVY_EV_LOG) {
		strcpy(ev->log.device, GPU);
		ev->log.kind = (uint16_t)(i / 10 % DAVY_LOG_KIND_COUNT);
		ev->log.role = davy_log_meaning(ev->log.kind)->role;
	} else if (ev->kind == DAVY_EV_FACT) {
		strcpy(ev->fact.device, GPU);
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

	memset(&ev, 0, sizeof(ev));
	ev.at_ns = i * 100000;
	ev.kind = i % 1000 ? kinds[i % 10] : DAVY_EV_TICK;
	ev.pid = 100 + (uint32_t)(i % 40);
	fill_jobs(&ev, i);
	fill_signs(&ev, i);
	if (i > 40)
		return ev;
	ev.kind = DAVY_EV_PROCESS;
	memset(&ev.process, 0, sizeof(ev.process));
	ev.process.engine = DAVY_ENGINE_LLAMA_SERVER;
	ev.process.backend = DAVY_BACKEND_VULKAN;
	ev.process.ubatch = 512;
	strcpy(ev.process.model, "qwen3-30b-a3b-q4_k_m.gguf");
	return ev;
}

int main(void)
{
	struct davy_plan plans[DAVY_PLANS_MAX];
	size_t decisions = 0;
	double began;

	davy_core_init(&core);
	began = now_s();
	for (size_t i = 1; i <= EVENTS; i++) {
		struct davy_event ev = make(i);

		decisions += davy_core_step(&core, &ev, plans, DAVY_PLANS_MAX);
	}
	printf("%.1f %zu\n", EVENTS / (now_s() - began) / 1e6, decisions);
	return 0;
}
