/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The clause that says what was observed, per hazard. */
#include "plan_text.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../lib/text.h"

void dl_type_text(const char *mangled, char *buf, size_t size)
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

		if (!len || len > strnlen(end, DL_TYPE_NAME_LEN))
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

static void because_exception(const struct dl_plan *p, char *buf, size_t size)
{
	char type[DL_TYPE_NAME_LEN];

	dl_type_text(p->detail, type, sizeof(type));
	snprintf(buf, size, "threw %s", type);
}

static void because_wedged(const struct dl_plan *p, char *buf, size_t size)
{
	char type[DL_TYPE_NAME_LEN], sign[160];

	dl_type_text(p->detail, type, sizeof(type));
	if (p->unit == DL_UNIT_NS)
		snprintf(sign, sizeof(sign),
			 "graph entered %" PRIu64 " ms ago and not left (limit %" PRIu64 " ms)",
			 p->observed / DL_NS_PER_MS, p->threshold / DL_NS_PER_MS);
	else
		snprintf(sign, sizeof(sign), "lives on after %s",
			 type[0] ? type : "a device failure");
	if (p->rung == DL_RUNG_CHECK || (!p->health_status && !p->completion_status))
		snprintf(buf, size, "%s", sign);
	else if (!p->completion_status)
		snprintf(buf, size, "%s; no token in time, while /health said %u", sign,
			 p->health_status);
	else
		snprintf(buf, size, "%s; one-token completion got HTTP %u, while /health said %u",
			 sign, p->completion_status, p->health_status);
}

static void because_crash(const struct dl_plan *p, char *buf, size_t size)
{
	int status = (int)p->observed, sig = status & 0x7f;
	const char *name = sig ? sigabbrev_np(sig) : NULL;
	char type[DL_TYPE_NAME_LEN], how[64];

	dl_type_text(p->detail, type, sizeof(type));
	if (sig)
		snprintf(how, sizeof(how), "ended by SIG%s", name ? name : "?");
	else
		snprintf(how, sizeof(how), "exited with %d", (status >> 8) & 0xff);
	snprintf(buf, size, "%s%s%s", how, type[0] ? " after " : "", type);
}

static void because_stall(const struct dl_plan *p, char *buf, size_t size)
{
	snprintf(buf, size,
		 "oldest job on ring %s has used %" PRIu64 ".%" PRIu64 " %% of the lockup timeout "
		 "(threshold %" PRIu64 ".%" PRIu64 " %%)",
		 p->ring, p->observed / 10, p->observed % 10, p->threshold / 10, p->threshold % 10);
}

static void because_eviction(const struct dl_plan *p, char *buf, size_t size)
{
	snprintf(buf, size, "moved %" PRIu64 " MiB out of VRAM (threshold %" PRIu64 " MiB)%s",
		 p->observed >> 20, p->threshold >> 20,
		 p->level == 3 ? " and back in: thrash" : "");
	if (p->victim_pid) {
		size_t used = strlen(buf);

		snprintf(buf + used, size - used, ", owned by pid %u", p->victim_pid);
	}
}

static void because_alloc(const struct dl_plan *p, char *buf, size_t size)
{
	static const char *const what[] = { "", "finds a heap full again and again",
					    "got no memory even after evicting",
					    "was told by its ioctl that there is no memory" };

	char asked[48] = "";

	if (p->observed)
		snprintf(asked, sizeof(asked), ", %" PRIu64 " MiB asked for", p->observed >> 20);
	snprintf(buf, size, "%s (%s%s)", what[p->level < 4 ? p->level : 0],
		 p->result == -28 ? "-ENOSPC" : "-ENOMEM", asked);
}

static void because_reset(const struct dl_plan *p, char *buf, size_t size)
{
	if (p->unit == DL_UNIT_NS)
		snprintf(buf, size, "the driver timed out its job on ring %s after %" PRIu64 " ms",
			 p->ring, p->observed / DL_NS_PER_MS);
	else
		snprintf(buf, size, "%s (%d) after its job had timed out", p->detail, p->result);
}

/* Built of names from outside as they are; made fit to be shown in one place, at the end. */
static void because(const struct dl_plan *p, char *buf, size_t size)
{
	switch (p->hazard) {
	case DL_HZ_ENGINE_EXCEPTION:
		because_exception(p, buf, size);
		break;
	case DL_HZ_ENGINE_WEDGED:
		because_wedged(p, buf, size);
		break;
	case DL_HZ_RUNNER_CRASH:
		because_crash(p, buf, size);
		break;
	case DL_HZ_JOB_STALL:
		because_stall(p, buf, size);
		break;
	case DL_HZ_FAULT_STORM:
		snprintf(buf, size, "%" PRIu64 " GPU faults (threshold %" PRIu64 ")", p->observed,
			 p->threshold);
		break;
	case DL_HZ_EVICTION_STORM:
		because_eviction(p, buf, size);
		break;
	case DL_HZ_RESET:
		because_reset(p, buf, size);
		break;
	case DL_HZ_ALLOC_FAILURE:
		because_alloc(p, buf, size);
		break;
	default:
		snprintf(buf, size, "%s", "its time has come");
		break;
	}
}

void dl_because_text(const struct dl_plan *p, char *buf, size_t size)
{
	char raw[512];

	because(p, raw, sizeof(raw));
	dl_text_safe(buf, size, raw);
}
