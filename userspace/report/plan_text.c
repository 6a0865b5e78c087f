/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/plan_text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "lib/text.h"

#define WHO_SIZE 400

static void who(const struct davy_plan *p, bool where, char *buf, size_t size)
{
	char comm[4 * DAVY_COMM_LEN], device[4 * DAVY_DEVICE_LEN], model[256];
	size_t used;

	davy_text_safe(comm, sizeof(comm), p->comm[0] ? p->comm : "process");
	davy_text_safe(device, sizeof(device), p->device);
	davy_text_shown(model, sizeof(model), p->model);
	if (!p->pid && !p->comm[0]) { /* of the device or of the host: no process */
		snprintf(buf, size, "%s", device[0] ? device : "host");
		return;
	}
	if (p->pid)
		used = (size_t)snprintf(buf, size, "%s[%u]", comm, p->pid);
	else /* named by a line of the kernel's log, and gone */
		used = (size_t)snprintf(buf, size, "%s", comm);
	if (where && device[0] && used < size)
		used += (size_t)snprintf(buf + used, size - used, " on %s", device);
	if (p->engine != DAVY_ENGINE_NONE && used < size)
		used += (size_t)snprintf(buf + used, size - used, " (%s, %s",
					 davy_engine_name(p->engine),
					 davy_backend_name(p->backend));
	if (p->engine != DAVY_ENGINE_NONE && used < size)
		snprintf(buf + used, size - used, "%s%s)", model[0] ? ", model " : "", model);
}

static uint64_t ms_between(uint64_t from_ns, uint64_t to_ns)
{
	return to_ns > from_ns ? (to_ns - from_ns) / DAVY_NS_PER_MS : 0;
}

static void hazard_text(const struct davy_plan *p, const char *subject, const char *reason,
			char *buf, size_t size)
{
	char probability[48] = "";

	if (p->kind == DAVY_PLAN_CLEAR) {
		snprintf(buf, size, "cleared  %s: %s", davy_hazard_name(p->hazard), subject);
		return;
	}
	if (p->probability_permille)
		snprintf(probability, sizeof(probability), "; probability of a failure: %u %%",
			 (p->probability_permille + 5u) / 10);
	snprintf(buf, size, "HAZARD   %s level %u: %s: %s%s", davy_hazard_name(p->hazard), p->level,
		 subject, reason, probability);
}

static void breaker_text(const struct davy_plan *p, const char *reason, char *buf, size_t size)
{
	char device[4 * DAVY_DEVICE_LEN], model[256];
	const char *backend = davy_backend_name(p->backend);

	davy_text_safe(device, sizeof(device), p->device[0] ? p->device : "any device");
	davy_text_shown(model, sizeof(model), p->model);
	if (p->breaker_state == DAVY_BREAKER_OPEN)
		snprintf(buf, size,
			 "policy   breaker open: %s on %s for model %s, probation in %" PRIu64
			 " s, because %s: %s",
			 backend, device, model, ms_between(p->at_ns, p->until_ns) / 1000,
			 davy_hazard_name(p->hazard), reason);
	else
		snprintf(buf, size, "policy   breaker %s: %s on %s for model %s%s",
			 davy_breaker_state_name(p->breaker_state), backend, device, model,
			 p->breaker_state == DAVY_BREAKER_HALF_OPEN ? ", one start is allowed"
								    : "");
}

const char *davy_act_error_text(int result)
{
	return result == -ECHILD ? "its process ended" : davy_error_text(result);
}

/* The exit event says how the process of a failed action ended; the agent's report does not. */
static void outcome_error(const struct davy_plan *p, char *buf, size_t size)
{
	int status = (int)p->observed;

	if (p->result != -ECHILD || p->unit != DAVY_UNIT_STATUS)
		snprintf(buf, size, "%s", davy_act_error_text(p->result));
	else if (WIFSIGNALED(status))
		snprintf(buf, size, "its process ended by SIG%s",
			 sigabbrev_np(WTERMSIG(status)) ?: "?");
	else
		snprintf(buf, size, "its process exited with %d", WEXITSTATUS(status));
}

static void outcome_text(const struct davy_plan *p, const char *subject, char *buf, size_t size)
{
	uint64_t stop_ms = ms_between(p->first_precursor_ns, p->stopped_ns);
	char error[80];

	outcome_error(p, error, sizeof(error));
	if (p->result)
		snprintf(buf, size, "outcome  %s failed (%s): %s", davy_action_name(p->action),
			 error, subject);
	else if (p->hazard == DAVY_HZ_NONE) /* ordered */
		snprintf(buf, size, "outcome  %s done: %s", davy_action_name(p->action), subject);
	else if (p->action != DAVY_ACTION_RESTART && p->action != DAVY_ACTION_MIGRATE_CPU)
		snprintf(buf, size,
			 "outcome  %s done: %s; %" PRIu64 " ms after the first precursor",
			 davy_action_name(p->action), subject,
			 ms_between(p->first_precursor_ns, p->at_ns));
	else
		snprintf(buf, size,
			 "outcome  %s done: %s; fault to stop %" PRIu64
			 " ms, fault to first token %" PRIu64 " ms",
			 davy_action_name(p->action), subject, stop_ms,
			 ms_between(p->first_precursor_ns, p->at_ns));
}

static void settings_text(const struct davy_start_settings *k, char *buf, size_t size)
{
	size_t used = 0;

	buf[0] = 0;
	for (uint32_t i = 0; i < DAVY_TUNER_SETTINGS && used < size; i++) {
		const char *name =
			i == DAVY_TUNER_LAYERS ? "layers off the GPU" : davy_start_setting_name(i);
		uint32_t value = davy_start_setting_get(k, i);

		if (value && i == DAVY_TUNER_CACHE_TYPE)
			used += (size_t)snprintf(buf + used, size - used, ", %s %s", name,
						 davy_cache_name(value));
		else if (value)
			used += (size_t)snprintf(buf + used, size - used, ", %s %u", name, value);
	}
}

/* The measure of an action, as " to ..."; each function leaves "buf" empty if the plan has none. */
static void undo_text(const struct davy_plan *p, char *buf, size_t size)
{
	const char *undone = davy_action_name((enum davy_action)p->undone);
	char settings[128];

	settings_text(&p->settings, settings, sizeof(settings));
	snprintf(buf, size, "%s%s%s", undone[0] ? " of " : "", undone, settings);
}

static void shrink_text(const struct davy_plan *p, char *buf, size_t size)
{
	char settings[128];

	settings_text(&p->settings, settings, sizeof(settings));
	if (settings[0])
		snprintf(buf, size, " to%s", settings + 1);
}

static void throttle_text(const struct davy_plan *p, char *buf, size_t size)
{
	char lease[DAVY_DURATION_TEXT_SIZE];

	davy_duration_text(p->lease_ns, lease, sizeof(lease));
	if (p->on_permille)
		snprintf(buf, size, " to %u %% for %s", p->on_permille / 10u, lease);
}

static void pause_text(const struct davy_plan *p, char *buf, size_t size)
{
	char lease[DAVY_DURATION_TEXT_SIZE];

	davy_duration_text(p->lease_ns, lease, sizeof(lease));
	if (p->lease_ns)
		snprintf(buf, size, " for %s", lease);
}

static void cap_text(const struct davy_plan *p, char *buf, size_t size)
{
	if (p->cap_bytes)
		snprintf(buf, size, " at %" PRIu64 " MiB", p->cap_bytes >> 20);
}

static void switch_text(const struct davy_plan *p, char *buf, size_t size)
{
	if (p->to_backend)
		snprintf(buf, size, " to %s", davy_backend_name(p->to_backend));
}

/* NULL: the name of the action suffices. */
static void (*const measure_text[DAVY_ACTION_COUNT])(const struct davy_plan *p, char *buf,
						     size_t size) = {
	[DAVY_ACTION_UNDO] = undo_text,	  [DAVY_ACTION_SHRINK] = shrink_text,
	[DAVY_ACTION_PAUSE] = pause_text, [DAVY_ACTION_THROTTLE] = throttle_text,
	[DAVY_ACTION_CAP] = cap_text,	  [DAVY_ACTION_SWITCH] = switch_text,
};

/* The less destructive action before it, and why that was not enough. */
static void passed_text(const struct davy_plan *p, char *buf, size_t size)
{
	buf[0] = 0;
	if (p->passed_action != DAVY_ACTION_NONE)
		snprintf(buf, size, "; after %s: %s", davy_action_name(p->passed_action),
			 p->passed_refusal ? davy_refusal_name(p->passed_refusal)
					   : "the hazard persists");
}

static void plan_text_refusal(const struct davy_plan *p, char *buf, size_t size)
{
	const char *name = davy_refusal_name(p->refusal);

	if (p->refusal == DAVY_REFUSED_UNABLE && p->action == DAVY_ACTION_MIGRATE_CPU)
		name = "the engine has no option for the CPU";
	if (p->refusal == DAVY_REFUSED_BACKOFF)
		snprintf(buf, size, ", backing off for %" PRIu64 " ms",
			 ms_between(p->at_ns, p->until_ns));
	else if (p->refusal == DAVY_REFUSED_PRICE)
		snprintf(buf, size,
			 ", its %.1f s without service are more than the failure's %.1f s",
			 p->price_ms / 1000.0, p->harm_ms / 1000.0);
	else
		snprintf(buf, size, ", %s", name);
}

static void plan_text_act_text(const struct davy_plan *p, const char *subject, const char *reason,
			       char *buf, size_t size)
{
	char refusal[128] = "", deed[160] = "", passed[96];

	if (davy_action_known(p->action) && measure_text[p->action])
		measure_text[p->action](p, deed, sizeof(deed));
	passed_text(p, passed, sizeof(passed));

	if (p->verdict == DAVY_VERDICT_REFUSED)
		plan_text_refusal(p, refusal, sizeof(refusal));
	if (p->hazard == DAVY_HZ_NONE) {
		snprintf(buf, size, "PLAN     %s%s (%s%s): %s, because %s",
			 davy_action_name(p->action), deed, davy_verdict_name(p->verdict), refusal,
			 subject, reason);
		return;
	}
	snprintf(buf, size,
		 "PLAN     %s%s (%s%s): %s, because %s: %s; first precursor %" PRIu64 " ms ago%s",
		 davy_action_name(p->action), deed, davy_verdict_name(p->verdict), refusal, subject,
		 davy_hazard_name(p->hazard), reason, ms_between(p->first_precursor_ns, p->at_ns),
		 passed);
}

void davy_plan_text(const struct davy_plan *p, char *buf, size_t size)
{
	char subject[WHO_SIZE], reason[320], body[DAVY_PLAN_TEXT_SIZE];

	who(p, p->kind != DAVY_PLAN_FAILURE, subject, sizeof(subject));
	davy_reason_text(p, reason, sizeof(reason));
	switch (p->kind) {
	case DAVY_PLAN_NOTE:
	case DAVY_PLAN_CLEAR:
		hazard_text(p, subject, reason, body, sizeof(body));
		break;
	case DAVY_PLAN_CHECK:
		snprintf(body, sizeof(body), "CHECK    requests one token on port %u: %s: %s",
			 p->port, subject, reason);
		break;
	case DAVY_PLAN_BREAKER:
		breaker_text(p, reason, body, sizeof(body));
		break;
	case DAVY_PLAN_FAILURE:
		snprintf(body, sizeof(body), "FAILURE  %s%s%s", reason, p->pid ? "; " : "",
			 p->pid ? subject : "");
		break;
	case DAVY_PLAN_OUTCOME:
		outcome_text(p, subject, body, sizeof(body));
		break;
	default:
		plan_text_act_text(p, subject, reason, body, sizeof(body));
		break;
	}
	snprintf(buf, size, "%6" PRIu64 ".%03" PRIu64 "  %s", p->at_ns / DAVY_NS_PER_S,
		 p->at_ns % DAVY_NS_PER_S / DAVY_NS_PER_MS, body);
}
