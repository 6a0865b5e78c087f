/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The clause that says what was observed, per hazard. */
#include "report/plan_text.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/text.h"
#include "report/tuner_text.h"

void davy_type_text(const char *mangled, char *buf, size_t size)
{
	const char *at = mangled;
	size_t used = 0;

	buf[0] = 0;
	if (*at++ != 'N') {
		snprintf(buf, size, "%s", mangled);
		return;
	}
	while (isdigit((unsigned char)*at)) {
		char *end;
		unsigned long len = strtoul(at, &end, 10);
		int n;

		if (!len || len > strnlen(end, DAVY_TYPE_NAME_LEN))
			break;
		n = snprintf(buf + used, size - used, "%s%.*s", used ? "::" : "", (int)len, end);
		if (n < 0 || (size_t)n >= size - used)
			break;
		used += (size_t)n;
		at = end + len;
	}
	if (strcmp(at, "E") != 0)
		snprintf(buf, size, "%s", mangled);
}

void davy_duration_text(uint64_t ns, char *buf, size_t size)
{
	uint64_t ms = ns / DAVY_NS_PER_MS, s = ns / DAVY_NS_PER_S;

	if (s < 1)
		snprintf(buf, size, "%" PRIu64 " ms", ms);
	else if (s < 120)
		snprintf(buf, size, "%" PRIu64 ".%" PRIu64 " s", s, ms % 1000 / 100);
	else if (s < 7200)
		snprintf(buf, size, "%" PRIu64 " min", s / 60);
	else
		snprintf(buf, size, "%" PRIu64 " h", s / 3600);
}

static void because_exception(const struct davy_plan *p, char *buf, size_t size)
{
	char type[DAVY_TYPE_NAME_LEN];

	davy_type_text(p->detail, type, sizeof(type));
	snprintf(buf, size, "threw %s", type);
}

static void because_wedged(const struct davy_plan *p, char *buf, size_t size)
{
	char type[DAVY_TYPE_NAME_LEN], sign[160];

	davy_type_text(p->detail, type, sizeof(type));
	if (p->unit == DAVY_UNIT_NS && !strcmp(p->detail, DAVY_DETAIL_SILENT))
		snprintf(sign, sizeof(sign),
			 "busy, and no token, job or graph came of it for %" PRIu64
			 " ms (limit %" PRIu64 " ms)",
			 p->observed / DAVY_NS_PER_MS, p->threshold / DAVY_NS_PER_MS);
	else if (p->unit == DAVY_UNIT_NS)
		snprintf(sign, sizeof(sign),
			 "graph entered %" PRIu64 " ms ago and not left (limit %" PRIu64 " ms)",
			 p->observed / DAVY_NS_PER_MS, p->threshold / DAVY_NS_PER_MS);
	else
		snprintf(sign, sizeof(sign), "lives on after %s",
			 type[0] ? type : "a device failure");
	if (p->rung == DAVY_RUNG_CHECK || (!p->health_status && !p->completion_status))
		snprintf(buf, size, "%s", sign);
	else if (!p->completion_status)
		snprintf(buf, size, "%s; no token in time, while /health said %u", sign,
			 p->health_status);
	else
		snprintf(buf, size, "%s; one-token completion got HTTP %u, while /health said %u",
			 sign, p->completion_status, p->health_status);
}

static void because_crash(const struct davy_plan *p, char *buf, size_t size)
{
	int status = (int)p->observed, sig = status & 0x7f;
	const char *name = sig ? sigabbrev_np(sig) : NULL;
	char type[DAVY_TYPE_NAME_LEN], how[64];

	if (p->evidence[0].kind == DAVY_EV_FINDING)
		type[0] = 0;
	else
		davy_type_text(p->detail, type, sizeof(type));
	if (sig)
		snprintf(how, sizeof(how), "ended by SIG%s", name ? name : "?");
	else
		snprintf(how, sizeof(how), "exited with %d", (status >> 8) & 0xff);
	if (p->evidence[0].kind == DAVY_EV_FINDING)
		snprintf(buf, size, "its start %s at the stage %s", how, p->detail);
	else
		snprintf(buf, size, "%s%s%s", how, type[0] ? " after " : "", type);
}

static void because_stall(const struct davy_plan *p, char *buf, size_t size)
{
	snprintf(buf, size,
		 "oldest job on ring %s has used %" PRIu64 ".%" PRIu64 " %% of the lockup timeout "
		 "(threshold %" PRIu64 ".%" PRIu64 " %%)",
		 p->ring, p->observed / 10, p->observed % 10, p->threshold / 10, p->threshold % 10);
}

static void because_eviction(const struct davy_plan *p, char *buf, size_t size)
{
	snprintf(buf, size, "moved %" PRIu64 " MiB out of VRAM (threshold %" PRIu64 " MiB)%s",
		 p->observed >> 20, p->threshold >> 20,
		 p->level == 3 ? " and back in: thrash" : "");
	if (p->victim_pid) {
		size_t used = strlen(buf);

		snprintf(buf + used, size - used, ", owned by pid %u", p->victim_pid);
	}
}

static void because_alloc(const struct davy_plan *p, char *buf, size_t size)
{
	static const char *const what[] = { "", "finds a heap full again and again",
					    "got no memory even after evicting",
					    "was told by its ioctl that there is no memory" };

	char asked[48] = "";

	if (p->unit == DAVY_UNIT_COUNT) {
		snprintf(buf, size, "the kernel's log says %s, %" PRIu64 " times of late",
			 p->detail, p->observed);
		return;
	}
	if (p->observed)
		snprintf(asked, sizeof(asked), ", %" PRIu64 " MiB asked for", p->observed >> 20);
	snprintf(buf, size, "%s (%s%s)", what[p->level < 4 ? p->level : 0],
		 p->result == -28 ? "-ENOSPC" : "-ENOMEM", asked);
}

static bool has_evidence(const struct davy_plan *p, enum davy_event_kind kind)
{
	for (size_t i = 0; i < p->evidence_count && i < DAVY_PLAN_EVIDENCE; i++)
		if (p->evidence[i].kind == kind)
			return true;
	return false;
}

static void because_reset(const struct davy_plan *p, char *buf, size_t size)
{
	char result[24] = "";

	if (p->unit == DAVY_UNIT_NS) {
		snprintf(buf, size, "the driver timed out its job on ring %s after %" PRIu64 " ms",
			 p->ring, p->observed / DAVY_NS_PER_MS);
		return;
	}
	if (p->result || has_evidence(p, DAVY_EV_RESET))
		snprintf(result, sizeof(result), " (%d)", p->result);
	snprintf(buf, size, "%s%s%s%s%s%s", p->detail, p->ring[0] ? " of ring " : "", p->ring,
		 result, p->observed > 1 ? ", the second of late" : "",
		 has_evidence(p, DAVY_EV_JOB_TIMEOUT) ? " after its job had timed out" : "");
}

static void because_faults(const struct davy_plan *p, char *buf, size_t size)
{
	char said[96] = "";

	if (!strcmp(p->detail, "retry"))
		snprintf(said, sizeof(said), " that were served");
	else if (p->detail[0])
		snprintf(said, sizeof(said), ", as the kernel's log says: %s", p->detail);
	snprintf(buf, size, "%" PRIu64 " GPU faults%s (threshold %" PRIu64 ")", p->observed, said,
		 p->threshold);
}

/* When and at which depth a job would take the whole timeout; "" where it is not foreseen. */
static void foreseen_text(const struct davy_plan *p, char *buf, size_t size)
{
	char depth[40] = "", when[40] = "";

	if (p->predicted_depth)
		snprintf(depth, sizeof(depth), " at a depth of %u", p->predicted_depth);
	if (p->until_ns > p->at_ns)
		snprintf(when, sizeof(when), " in %" PRIu64 " s",
			 (p->until_ns - p->at_ns) / DAVY_NS_PER_S);
	buf[0] = 0;
	if (depth[0] || when[0])
		snprintf(buf, size, ", and would use all of it%s%s", depth, when);
}

static void because_headroom(const struct davy_plan *p, char *buf, size_t size)
{
	char limit[48] = "", foreseen[128], fit[48] = "";

	if (p->observed >= p->threshold)
		snprintf(limit, sizeof(limit), " (threshold %" PRIu64 ".%" PRIu64 " %%)",
			 p->threshold / 10, p->threshold % 10);
	if (p->fitting_ubatch)
		snprintf(fit, sizeof(fit), "; would fit with ubatch %u", p->fitting_ubatch);
	foreseen_text(p, foreseen, sizeof(foreseen));
	snprintf(buf, size,
		 "jobs on ring %s use %" PRIu64 ".%" PRIu64 " %% of the lockup timeout%s%s%s",
		 p->detail, p->observed / 10, p->observed % 10, limit, foreseen, fit);
}

static void because_restore(const struct davy_plan *p, char *buf, size_t size)
{
	static const char retried[] = "restore_retried";

	if (!strcmp(p->detail, retried))
		snprintf(buf, size,
			 "its memory found no way back %" PRIu64
			 " times in a row (threshold %" PRIu64 ")",
			 p->observed, p->threshold);
	else
		snprintf(buf, size,
			 "the kernel's log says %s, count %" PRIu64 " (threshold %" PRIu64 ")",
			 p->detail, p->observed, p->threshold);
}

static void because_thrash(const struct davy_plan *p, char *buf, size_t size)
{
	size_t used;

	if (p->unit == DAVY_UNIT_PERMILLE)
		snprintf(buf, size,
			 "compute queues stood still for %" PRIu64 ".%" PRIu64
			 " %% of the time (threshold %" PRIu64 ".%" PRIu64 " %%)",
			 p->observed / 10, p->observed % 10, p->threshold / 10, p->threshold % 10);
	else
		snprintf(buf, size,
			 "compute queues were stopped %" PRIu64
			 " times within the window (threshold %" PRIu64 ")",
			 p->observed, p->threshold);
	used = strlen(buf);
	if (p->victim_pid)
		snprintf(buf + used, size - used, ": those of pid %u, whose memory it takes",
			 p->victim_pid);
}

static void because_failure(const struct davy_plan *p, char *buf, size_t size)
{
	char lead[DAVY_DURATION_TEXT_SIZE];

	if (p->hazard == DAVY_HZ_NONE) {
		snprintf(buf, size, "%s%s%s, no sign preceded it", p->detail,
			 p->device[0] ? " on " : "", p->device);
		return;
	}
	davy_duration_text(p->observed, lead, sizeof(lead));
	snprintf(buf, size, "%s%s%s, foreseen %s before by %s", p->detail,
		 p->device[0] ? " on " : "", p->device, lead, davy_hazard_name(p->hazard));
}

static void because_exhaustion(const struct davy_plan *p, char *buf, size_t size)
{
	static const char *const heaps[][2] = {
		{ "vram", "VRAM" },
		{ "gtt", "GTT" },
		{ "host", "the host's memory" },
		{ "cgroup", "the device memory of its cgroup " },
	};
	bool slow = p->rate < 10 << 20;
	const char *heap = p->ring;

	for (size_t i = 0; i < sizeof(heaps) / sizeof(heaps[0]); i++)
		if (!strcmp(p->ring, heaps[i][0]))
			heap = heaps[i][1];
	if (p->unit == DAVY_UNIT_BYTES)
		snprintf(buf, size,
			 "has loaded, and %" PRIu64 " MiB of %s are left (threshold %" PRIu64
			 " MiB)",
			 p->observed >> 20, heap, p->threshold >> 20);
	else
		snprintf(buf, size,
			 "fills %s%s at %" PRIu64 " %s/s: full in %" PRIu64 ".%" PRIu64
			 " s (threshold %" PRIu64 " s)",
			 heap, p->detail, slow ? p->rate >> 10 : p->rate >> 20,
			 slow ? "KiB" : "MiB", p->observed / DAVY_NS_PER_S,
			 p->observed % DAVY_NS_PER_S / (100 * DAVY_NS_PER_MS),
			 p->threshold / DAVY_NS_PER_S);
}

static void because_spill(const struct davy_plan *p, char *buf, size_t size)
{
	if (p->unit == DAVY_UNIT_BYTES)
		snprintf(buf, size,
			 "has %" PRIu64 " MiB in GTT that do not fit into VRAM (threshold %" PRIu64
			 " MiB)",
			 p->observed >> 20, p->threshold >> 20);
	else
		snprintf(buf, size,
			 "VRAM spills into GTT and pid %u works at %" PRIu64
			 " %% of its usual pace (threshold %" PRIu64 " %%)",
			 p->victim_pid ? p->victim_pid : p->pid, p->observed / 10,
			 p->threshold / 10);
}

static void because_pressure(const struct davy_plan *p, char *buf, size_t size)
{
	if (p->unit == DAVY_UNIT_PERMILLE)
		snprintf(buf, size,
			 "all tasks wait for memory %" PRIu64 ".%" PRIu64
			 " %% of the time (threshold %" PRIu64 " %%)",
			 p->observed / 10, p->observed % 10, p->threshold / 10);
	else if (!strcmp(p->detail, "suspend"))
		snprintf(buf, size,
			 "%" PRIu64 " MiB of VRAM are in use, and a suspend at run time would find "
			 "room for %" PRIu64 " MiB (power/control is auto)",
			 p->observed >> 20, p->threshold >> 20);
	else
		snprintf(buf, size,
			 "%" PRIu64 " MiB of the memory it shares with the host are available "
			 "(threshold %" PRIu64 " MiB)",
			 p->observed >> 20, p->threshold >> 20);
}

static void because_silent_cpu(const struct davy_plan *p, char *buf, size_t size)
{
	if (!strcmp(p->detail, DAVY_DETAIL_REFUSED)) {
		snprintf(buf, size, "was not allowed to open the GPU it was asked to use");
		return;
	}
	snprintf(buf, size, "has run for %" PRIu64 " s without the GPU it was asked to use (%s)",
		 p->observed / DAVY_NS_PER_S,
		 strcmp(p->detail, "layers") != 0 ? p->detail : "its arguments name GPU layers");
}

static void because_hardware(const struct davy_plan *p, char *buf, size_t size)
{
	if (!strcmp(p->detail, "xid") || !strcmp(p->detail, "sxid"))
		snprintf(buf, size, "reported %s %" PRIu64, p->detail[0] == 'x' ? "Xid" : "SXid",
			 p->observed);
	else if (p->threshold > 1)
		snprintf(buf, size, "reported %s %" PRIu64 " times (threshold %" PRIu64 ")",
			 p->detail, p->observed, p->threshold);
	else
		snprintf(buf, size, "reported %s", p->detail);
}

/* Built of names from outside as they are; made fit to be shown in one place, at the end. */
/* Plans for which nothing is observed any more; false: it is another. */
static bool because_quiet(const struct davy_plan *p, char *buf, size_t size)
{
	char quiet[32];

	davy_duration_text(p->observed, quiet, sizeof(quiet));
	if (p->rung == DAVY_RUNG_UNDO)
		snprintf(buf, size, "nothing of it for %s", quiet);
	else if (p->rung == DAVY_RUNG_THROTTLE && !p->threshold)
		snprintf(buf, size, "%s", "it came back soon after it was let go");
	else
		return false;
	return true;
}

static void because(const struct davy_plan *p, char *buf, size_t size)
{
	if (p->rung == DAVY_RUNG_FAILURE) {
		because_failure(p, buf, size);
		return;
	}
	if (p->hazard != DAVY_HZ_NONE && because_quiet(p, buf, size))
		return;
	switch (p->hazard) {
	case DAVY_HZ_NONE:
		snprintf(buf, size, "%s", davy_rung_acts(p->rung) ? "an operator ordered it" : "");
		break;
	case DAVY_HZ_ENGINE_EXCEPTION:
		because_exception(p, buf, size);
		break;
	case DAVY_HZ_ENGINE_WEDGED:
		because_wedged(p, buf, size);
		break;
	case DAVY_HZ_RUNNER_CRASH:
		because_crash(p, buf, size);
		break;
	case DAVY_HZ_JOB_STALL:
		because_stall(p, buf, size);
		break;
	case DAVY_HZ_FAULT_STORM:
		because_faults(p, buf, size);
		break;
	case DAVY_HZ_EVICTION_STORM:
		because_eviction(p, buf, size);
		break;
	case DAVY_HZ_RESET:
		because_reset(p, buf, size);
		break;
	case DAVY_HZ_ALLOC_FAILURE:
		because_alloc(p, buf, size);
		break;
	case DAVY_HZ_EXHAUSTION:
		because_exhaustion(p, buf, size);
		break;
	case DAVY_HZ_SILENT_SPILL:
		because_spill(p, buf, size);
		break;
	case DAVY_HZ_HOST_PRESSURE:
		because_pressure(p, buf, size);
		break;
	case DAVY_HZ_SILENT_CPU:
		because_silent_cpu(p, buf, size);
		break;
	case DAVY_HZ_HARDWARE:
		because_hardware(p, buf, size);
		break;
	case DAVY_HZ_DRIVER_WARNING:
		snprintf(buf, size, "the kernel's log says %s", p->detail);
		break;
	case DAVY_HZ_JOB_HEADROOM:
		because_headroom(p, buf, size);
		break;
	case DAVY_HZ_RESTORE_HOG:
		because_restore(p, buf, size);
		break;
	case DAVY_HZ_QUEUE_THRASH:
		because_thrash(p, buf, size);
		break;
	default:
		snprintf(buf, size, "%s", "its time has come");
		break;
	}
}

/* A reader who knows the device's clients by their numbers sees at once who it was. */
static void add_culprit(const struct davy_plan *p, char *buf, size_t size)
{
	size_t used = strlen(buf);

	for (size_t i = 0; i < p->share_count && i < DAVY_PLAN_SHARES; i++) {
		const struct davy_share *s = &p->shares[i];

		if (p->culprit_pid && s->pid == p->culprit_pid)
			snprintf(buf + used, size - used,
				 "; but pid %u has %u %% of the clients' memory and %u %% of their "
				 "engine time",
				 s->pid, s->memory_permille / 10, s->engine_permille / 10);
	}
}

static void add_tuning(const struct davy_plan *p, char *buf, size_t size)
{
	char text[DAVY_TUNER_TEXT_SIZE];
	size_t used = p->rung == DAVY_RUNG_UNDO ? 0 : strlen(buf);

	if (p->tuning.why == DAVY_TUNER_AS_TOLD)
		return;
	davy_tuner_text(&p->tuning, text);
	snprintf(buf + used, size - used, "%s%s", used ? "; " : "", text);
}

void davy_because_text(const struct davy_plan *p, char *buf, size_t size)
{
	char raw[512];

	because(p, raw, sizeof(raw));
	add_tuning(p, raw, sizeof(raw));
	add_culprit(p, raw, sizeof(raw));
	davy_text_shown(buf, size, raw);
}
