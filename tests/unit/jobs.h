/* SPDX-License-Identifier: GPL-2.0-or-later */
/* For tests: the jobs of one process on one ring, as reported by the sensors. */
#ifndef DAVY_TESTS_JOBS_H
#define DAVY_TESTS_JOBS_H

#include "record.h"

#define RING "comp_1.0.0"

static struct davy_ev_job_times times;

static inline void tell_times(uint32_t pid)
{
	struct davy_event ev = event(DAVY_EV_JOB_TIMES, pid);

	ev.job_times = times;
	tell(&ev);
}

/* Restarts the counters of a ring; the first report contains earlier jobs. */
static inline void begin_jobs(uint32_t pid, const char *ring)
{
	memset(&times, 0, sizeof(times));
	davy_copy_name(times.device, sizeof(times.device), GPU);
	davy_copy_name(times.ring, sizeof(times.ring), ring);
	tell_times(pid);
}

static inline void add_job(uint64_t ns)
{
	size_t slot = 0;

	while (slot < DAVY_TIME_SLOTS - 1 && ns >= DAVY_TIME_SLOT_NS << (slot + 1))
		slot++;
	times.slot[slot]++;
	times.count++;
	times.sum_ns += ns;
	if (ns > times.max_ns)
		times.max_ns = ns;
}

/* A job of that length ends and is reported a moment later. */
static inline void job(uint32_t pid, uint64_t ns)
{
	now += ns;
	add_job(ns);
	tell_times(pid);
}

static inline void lockup(const char *queue, uint64_t timeout_ns)
{
	struct davy_event ev = event(DAVY_EV_LOCKUP, 0);

	davy_copy_name(ev.lockup.device, sizeof(ev.lockup.device), GPU);
	davy_copy_name(ev.lockup.queue, sizeof(ev.lockup.queue), queue);
	ev.lockup.timeout_ns = timeout_ns;
	ev.lockup.origin = DAVY_LOCKUP_PARAMETER;
	tell(&ev);
}

static inline void ring_runs(uint32_t pid, const char *ring, uint64_t age_ns, uint64_t timeout_ns,
			     uint64_t seqno)
{
	struct davy_event ev = event(DAVY_EV_RING, pid);

	davy_copy_name(ev.ring.device, sizeof(ev.ring.device), GPU);
	davy_copy_name(ev.ring.ring, sizeof(ev.ring.ring), ring);
	ev.ring.age_ns = age_ns;
	ev.ring.timeout_ns = timeout_ns;
	ev.ring.fence_context = age_ns ? 7 : 0;
	ev.ring.fence_seqno = age_ns ? seqno : 0;
	ev.ring.running_count = age_ns != 0;
	tell(&ev);
}

static inline void progress(uint32_t pid, uint32_t depth, uint64_t generated, uint32_t busy)
{
	struct davy_event ev = event(DAVY_EV_PROGRESS, pid);

	ev.progress.depth = depth;
	ev.progress.generated_count = generated;
	ev.progress.context_size = 131072;
	ev.progress.busy_slots = busy;
	ev.progress.slots = 1;
	tell(&ev);
}

/* llama-server on Vulkan without a workload, with an ubatch; pid 60. */
static inline void engine(uint32_t ubatch, const char *model)
{
	struct davy_event ev = event(DAVY_EV_PROCESS, 60);

	ev.process.start_ticks = 600;
	ev.process.engine = DAVY_ENGINE_LLAMA_SERVER;
	ev.process.backend = DAVY_BACKEND_VULKAN;
	ev.process.ubatch = ubatch;
	ev.process.context_size = 131072;
	ev.process.parallel = 1;
	davy_copy_name(ev.process.comm, sizeof(ev.process.comm), "llama-server");
	davy_copy_name(ev.process.device, sizeof(ev.process.device), GPU);
	davy_copy_name(ev.process.model, sizeof(ev.process.model), model);
	tell(&ev);
}

#endif
