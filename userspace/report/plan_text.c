/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plan_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "../lib/text.h"

#define WHO_SIZE 400

static void who(const struct dl_plan *p, char *buf, size_t size)
{
	char comm[4 * DL_COMM_LEN], device[4 * DL_DEVICE_LEN], model[256];
	size_t used;

	dl_text_safe(comm, sizeof(comm), p->comm[0] ? p->comm : "process");
	dl_text_safe(device, sizeof(device), p->device);
	dl_text_safe(model, sizeof(model), p->model);
	used = (size_t)snprintf(buf, size, "%s[%u]", comm, p->pid);
	if (device[0] && used < size)
		used += (size_t)snprintf(buf + used, size - used, " on %s", device);
	if (p->engine != DL_ENGINE_NONE && used < size)
		used += (size_t)snprintf(buf + used, size - used, " (%s, %s",
					 dl_engine_name(p->engine), dl_backend_name(p->backend));
	if (p->engine != DL_ENGINE_NONE && used < size)
		snprintf(buf + used, size - used, "%s%s)", model[0] ? ", model " : "", model);
}

static uint64_t ms_between(uint64_t from_ns, uint64_t to_ns)
{
	return to_ns > from_ns ? (to_ns - from_ns) / DL_NS_PER_MS : 0;
}

static void hazard_text(const struct dl_plan *p, const char *subject, const char *because,
			char *buf, size_t size)
{
	if (p->rung == DL_RUNG_CLEAR) {
		snprintf(buf, size, "cleared  %s: %s", dl_hazard_name(p->hazard), subject);
		return;
	}
	snprintf(buf, size, "HAZARD   %s level %u: %s %s", dl_hazard_name(p->hazard), p->level,
		 subject, because);
}

static void breaker_text(const struct dl_plan *p, const char *because, char *buf, size_t size)
{
	char device[4 * DL_DEVICE_LEN], model[256];
	const char *backend = dl_backend_name(p->backend);

	dl_text_safe(device, sizeof(device), p->device[0] ? p->device : "any device");
	dl_text_safe(model, sizeof(model), p->model);
	if (p->breaker_state == DL_BREAKER_OPEN)
		snprintf(buf, size,
			 "policy   breaker open: %s on %s for model %s, probation in %" PRIu64
			 " s, because %s %s",
			 backend, device, model, ms_between(p->at_ns, p->until_ns) / 1000,
			 dl_hazard_name(p->hazard), because);
	else
		snprintf(buf, size, "policy   breaker %s: %s on %s for model %s%s",
			 dl_breaker_state_name(p->breaker_state), backend, device, model,
			 p->breaker_state == DL_BREAKER_HALF_OPEN ? ", one start may try it" : "");
}

static void outcome_text(const struct dl_plan *p, const char *subject, char *buf, size_t size)
{
	uint64_t stop_ms = ms_between(p->first_sign_ns, p->stopped_ns);

	if (p->result)
		snprintf(buf, size, "outcome  %s failed (%s): %s", dl_rung_name(p->level),
			 strerrordesc_np(-p->result) ? strerrordesc_np(-p->result)
						     : "unknown error",
			 subject);
	else
		snprintf(buf, size,
			 "outcome  %s done: %s; fault to stop %" PRIu64
			 " ms, fault to first token %" PRIu64 " ms",
			 dl_rung_name(p->level), subject, stop_ms,
			 ms_between(p->first_sign_ns, p->at_ns));
}

static void act_text(const struct dl_plan *p, const char *subject, const char *because, char *buf,
		     size_t size)
{
	char refusal[128] = "";

	if (p->verdict == DL_VERDICT_REFUSED)
		snprintf(refusal, sizeof(refusal), ", %s", dl_refusal_name(p->refusal));
	if (p->verdict == DL_VERDICT_REFUSED && p->refusal == DL_REFUSED_BACKOFF)
		snprintf(refusal, sizeof(refusal), ", backing off for %" PRIu64 " ms",
			 ms_between(p->at_ns, p->until_ns));
	snprintf(buf, size, "PLAN     %s (%s%s): %s, because %s: %s; first sign %" PRIu64 " ms ago",
		 dl_rung_name(p->rung), dl_verdict_name(p->verdict), refusal, subject,
		 dl_hazard_name(p->hazard), because, ms_between(p->first_sign_ns, p->at_ns));
}

void dl_plan_text(const struct dl_plan *p, char *buf, size_t size)
{
	char subject[WHO_SIZE], because[320], body[DL_PLAN_TEXT_SIZE];

	who(p, subject, sizeof(subject));
	dl_because_text(p, because, sizeof(because));
	switch (p->rung) {
	case DL_RUNG_NOTE:
	case DL_RUNG_CLEAR:
		hazard_text(p, subject, because, body, sizeof(body));
		break;
	case DL_RUNG_CHECK:
		snprintf(body, sizeof(body), "CHECK    asks for one token on port %u: %s %s",
			 p->port, subject, because);
		break;
	case DL_RUNG_BREAKER:
		breaker_text(p, because, body, sizeof(body));
		break;
	case DL_RUNG_OUTCOME:
		outcome_text(p, subject, body, sizeof(body));
		break;
	default:
		act_text(p, subject, because, body, sizeof(body));
		break;
	}
	snprintf(buf, size, "%6" PRIu64 ".%03" PRIu64 "  %s", p->at_ns / DL_NS_PER_S,
		 p->at_ns % DL_NS_PER_S / DL_NS_PER_MS, body);
}
