/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The reason of a plan: what its hazard has observed, and other known facts. */
#include "report/plan_text.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/core.h"
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

static void reason_failure(const struct davy_plan *p, char *buf, size_t size)
{
	const char *class = davy_log_class_name(p->failure_class);
	char lead_time[DAVY_DURATION_TEXT_SIZE];

	if (p->hazard == DAVY_HZ_NONE) {
		snprintf(buf, size, "%s%s%s, no precursor was seen", class,
			 p->device[0] ? " on " : "", p->device);
		return;
	}
	davy_duration_text(p->lead_time_ns, lead_time, sizeof(lead_time));
	snprintf(buf, size, "%s%s%s, foreseen %s before by %s", class, p->device[0] ? " on " : "",
		 p->device, lead_time, davy_hazard_name(p->hazard));
}

/* For plans without an observation; false: it is another plan. */
static bool reason_quiet(const struct davy_plan *p, char *buf, size_t size)
{
	char quiet[32];

	davy_duration_text(p->observed, quiet, sizeof(quiet));
	if (p->action == DAVY_ACTION_UNDO)
		snprintf(buf, size, "no such hazard for %s", quiet);
	else if (p->action == DAVY_ACTION_THROTTLE && !p->level)
		snprintf(buf, size, "the hazard returned soon after the end of the throttle");
	else
		return false;
	return true;
}

struct text {
	struct davy_clause clause;
	char *buf;
	size_t size;
	char type[DAVY_TYPE_NAME_LEN];
};

static __attribute__((format(printf, 2, 3))) void reason_say(struct davy_clause *c,
							     const char *format, ...)
{
	struct text *text = (struct text *)c;
	size_t used = strlen(text->buf);
	va_list args;

	va_start(args, format);
	vsnprintf(text->buf + used, text->size - used, format, args);
	va_end(args);
}

static const char *say_type(struct davy_clause *c, const char *mangled)
{
	struct text *text = (struct text *)c;

	davy_type_text(mangled, text->type, sizeof(text->type));
	return text->type;
}

static const char *say_signal(int number)
{
	const char *name = sigabbrev_np(number);

	return name ? name : "?";
}

static void reason_of(const struct davy_plan *p, char *buf, size_t size)
{
	struct text text = { .clause = { reason_say, say_type, say_signal },
			     .buf = buf,
			     .size = size };

	buf[0] = 0;
	if (p->kind == DAVY_PLAN_FAILURE)
		reason_failure(p, buf, size);
	else if (p->hazard == DAVY_HZ_NONE)
		snprintf(buf, size, "%s",
			 p->kind == DAVY_PLAN_ACTION ? "ordered by an operator" : "");
	else if (!reason_quiet(p, buf, size))
		davy_hazard_reason(p, &text.clause);
}

/* For a reader who knows the device's clients by their numbers. */
static void add_culprit(const struct davy_plan *p, char *buf, size_t size)
{
	size_t used = strlen(buf);

	for (size_t i = 0; i < p->usage_count && i < DAVY_PLAN_USAGES; i++) {
		const struct davy_usage *s = &p->usages[i];

		if (p->culprit_pid && s->pid == p->culprit_pid)
			snprintf(buf + used, size - used,
				 "; but pid %u has %u %% of the clients' memory and %u %% of their "
				 "engine time",
				 s->pid, s->memory_permille / 10u, s->engine_permille / 10u);
	}
}

static void add_tuning(const struct davy_plan *p, char *buf, size_t size)
{
	char text[DAVY_TUNER_TEXT_SIZE];
	size_t used = p->action == DAVY_ACTION_UNDO ? 0 : strlen(buf);

	if (p->tuning.why == DAVY_TUNER_AS_CONFIGURED)
		return;
	davy_tuner_text(&p->tuning, text);
	snprintf(buf + used, size - used, "%s%s", used ? "; " : "", text);
}

/* Contains untrusted names; sanitized once, at the end. */
void davy_reason_text(const struct davy_plan *p, char *buf, size_t size)
{
	char raw[512];

	reason_of(p, raw, sizeof(raw));
	add_tuning(p, raw, sizeof(raw));
	add_culprit(p, raw, sizeof(raw));
	davy_text_shown(buf, size, raw);
}
