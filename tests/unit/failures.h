/* SPDX-License-Identifier: GPL-2.0-or-later */
/* For tests of foresight: signs and failures of an engine, pid 60, on GPU. */
#ifndef DAVY_TEST_FAILURES_H
#define DAVY_TEST_FAILURES_H

#include "record.h"

#define OTHER_GPU "0000:04:00.0"
#define COMPUTE	  "comp_1.0.0"

static void ring_on(const char *device, uint64_t permille, uint64_t seqno, uint32_t pid)
{
	struct davy_event ev = event(DAVY_EV_RING, pid);

	davy_copy_name(ev.ring.device, sizeof(ev.ring.device), device);
	davy_copy_name(ev.ring.ring, sizeof(ev.ring.ring), COMPUTE);
	ev.ring.timeout_ns = 2 * S;
	ev.ring.age_ns = permille * 2 * MS;
	ev.ring.fence_seqno = seqno;
	tell(&ev);
}

static void timeout_on(const char *device, uint32_t pid)
{
	struct davy_event ev = event(DAVY_EV_JOB_TIMEOUT, pid);

	davy_copy_name(ev.job_timeout.device, sizeof(ev.job_timeout.device), device);
	davy_copy_name(ev.job_timeout.ring, sizeof(ev.job_timeout.ring), COMPUTE);
	ev.job_timeout.age_ns = 2 * S;
	tell(&ev);
}

static void reset(bool begun, int result)
{
	struct davy_event ev = event(DAVY_EV_RESET, 0);

	davy_copy_name(ev.reset.device, sizeof(ev.reset.device), GPU);
	ev.reset.begun = begun;
	ev.reset.result = result;
	tell(&ev);
}

static inline void fact(enum davy_fact number, uint32_t pid, uint32_t detail, int error)
{
	struct davy_event ev = event(DAVY_EV_FACT, pid);

	ev.fact.fact = number;
	ev.fact.detail = detail;
	ev.fact.error = error;
	ev.fact.what = DAVY_IOCTL_MATTERS;
	if (number != DAVY_FACT_OOM_VICTIM)
		davy_copy_name(ev.fact.device, sizeof(ev.fact.device), GPU);
	tell(&ev);
}

static void watched_engine(void)
{
	begin_history();
	process(60, 0, DAVY_ENGINE_LLAMA_SERVER, DAVY_BACKEND_VULKAN);
}

static inline size_t failures(void)
{
	size_t count = 0;

	for (size_t i = 0; i < kept_count; i++)
		count += kept[i].kind == DAVY_PLAN_FAILURE;
	return count;
}

static inline const struct davy_plan *last_failure(void)
{
	for (size_t i = kept_count; i-- > 0;)
		if (kept[i].kind == DAVY_PLAN_FAILURE)
			return &kept[i];
	fail_msg("no failure was reported");
	return NULL;
}

static const struct davy_hazard_score *score(enum davy_hazard hazard)
{
	return &core.foresight.hazard[hazard];
}

#endif
