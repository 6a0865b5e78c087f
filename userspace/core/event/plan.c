/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "core/event/plan.h"

#include <assert.h>
#include <string.h>

const char *dl_hazard_name(enum dl_hazard hazard)
{
	static const char *const names[DL_HZ_COUNT] = {
		[DL_HZ_NONE] = "none",
		[DL_HZ_ENGINE_EXCEPTION] = "engine_exception",
		[DL_HZ_ENGINE_WEDGED] = "engine_wedged",
		[DL_HZ_RUNNER_CRASH] = "runner_crash",
		[DL_HZ_JOB_STALL] = "job_stall",
		[DL_HZ_FAULT_STORM] = "fault_storm",
		[DL_HZ_EVICTION_STORM] = "eviction_storm",
		[DL_HZ_RESET] = "reset",
		[DL_HZ_ALLOC_FAILURE] = "alloc_failure",
		[DL_HZ_EXHAUSTION] = "exhaustion",
		[DL_HZ_SILENT_SPILL] = "silent_spill",
		[DL_HZ_HOST_PRESSURE] = "host_pressure",
		[DL_HZ_SILENT_CPU] = "silent_cpu",
		[DL_HZ_HARDWARE] = "hardware",
		[DL_HZ_DRIVER_WARNING] = "driver_warning",
		[DL_HZ_JOB_HEADROOM] = "job_headroom",
		[DL_HZ_RESTORE_HOG] = "restore_hog",
		[DL_HZ_QUEUE_THRASH] = "queue_thrash",
	};

	assert(hazard < DL_HZ_COUNT);
	return names[hazard];
}

int dl_hazard_from_name(const char *name)
{
	for (int i = 0; i < DL_HZ_COUNT; i++)
		if (!strcmp(name, dl_hazard_name((enum dl_hazard)i)))
			return i;
	return -1;
}

const char *dl_rung_name(enum dl_rung rung)
{
	static const char *const names[DL_RUNG_COUNT] = {
		[DL_RUNG_NOTE] = "note",       [DL_RUNG_CHECK] = "check",
		[DL_RUNG_RESTART] = "restart", [DL_RUNG_MIGRATE_CPU] = "migrate_cpu",
		[DL_RUNG_CLEAR] = "clear",     [DL_RUNG_BREAKER] = "breaker",
		[DL_RUNG_OUTCOME] = "outcome", [DL_RUNG_FAILURE] = "failure",
		[DL_RUNG_PAUSE] = "pause",     [DL_RUNG_THROTTLE] = "throttle",
		[DL_RUNG_SHRINK] = "shrink",   [DL_RUNG_CAP] = "cap",
		[DL_RUNG_UNLOAD] = "unload",   [DL_RUNG_SWITCH] = "switch",
		[DL_RUNG_STOP] = "stop",       [DL_RUNG_QUARANTINE] = "quarantine",
		[DL_RUNG_UNDO] = "undo",       [DL_RUNG_AWAKE] = "awake",
	};

	assert(rung < DL_RUNG_COUNT);
	return names[rung];
}

bool dl_rung_acts(uint32_t rung)
{
	return rung == DL_RUNG_RESTART || rung == DL_RUNG_MIGRATE_CPU ||
	       (rung >= DL_RUNG_PAUSE && rung < DL_RUNG_COUNT);
}

const char *dl_verdict_name(enum dl_verdict verdict)
{
	static const char *const names[DL_VERDICT_COUNT] = {
		[DL_VERDICT_GO] = "go",
		[DL_VERDICT_ADVISED] = "advised",
		[DL_VERDICT_REFUSED] = "refused",
	};

	assert(verdict < DL_VERDICT_COUNT);
	return names[verdict];
}

const char *dl_refusal_name(enum dl_refusal refusal)
{
	static const char *const names[DL_REFUSED_COUNT] = {
		[DL_REFUSED_NOT] = "",
		[DL_REFUSED_MODE] = "mode is observe",
		[DL_REFUSED_NOT_ADOPTED] = "workload is not adopted",
		[DL_REFUSED_BUSY] = "an act on this workload is under way",
		[DL_REFUSED_BACKOFF] = "backing off",
		[DL_REFUSED_BUDGET] = "budget of acts is used up",
		[DL_REFUSED_RIVAL] = "somebody else controls the workload",
		[DL_REFUSED_UNABLE] = "the workload cannot do that",
		[DL_REFUSED_HOST_BUDGET] = "the host's budget of acts is used up",
		[DL_REFUSED_PINNED] = "workload is pinned",
	};

	assert(refusal < DL_REFUSED_COUNT);
	return names[refusal];
}

const char *dl_breaker_state_name(enum dl_breaker_state state)
{
	static const char *const names[DL_BREAKER_STATE_COUNT] = {
		[DL_BREAKER_CLOSED] = "closed",
		[DL_BREAKER_OPEN] = "open",
		[DL_BREAKER_HALF_OPEN] = "half-open",
	};

	assert(state < DL_BREAKER_STATE_COUNT);
	return names[state];
}
