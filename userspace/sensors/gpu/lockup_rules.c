/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sensors/gpu/lockup_rules.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define DESCRIBED_MAX_MS 1000000000ULL /* eleven days: a larger number is no timeout */

static const char *const kind_names[DAVY_LOCKUP_KINDS] = { "gfx", "compute", "sdma", "video" };

static bool lockup_begins(const char *text, const char *with)
{
	return !strncmp(text, with, strlen(with));
}

static void lockup_set_all(struct davy_lockup_defaults *d, uint64_t ms)
{
	for (int i = 0; i < DAVY_LOCKUP_KINDS; i++)
		d->ms[i] = ms;
}

/* The text after a number in the description decides its meaning. */
static void lockup_see_number(struct davy_lockup_defaults *d, uint64_t ms, const char *behind,
			      bool *known)
{
	behind += strspn(behind, " ");
	if (lockup_begins(behind, "in sriov"))
		return;
	if (lockup_begins(behind, "for non-compute")) {
		d->ms[DAVY_LOCKUP_GFX] = d->ms[DAVY_LOCKUP_SDMA] = d->ms[DAVY_LOCKUP_VIDEO] = ms;
	} else if (lockup_begins(behind, "for compute")) {
		d->ms[DAVY_LOCKUP_COMPUTE] = ms;
	} else {
		if (*known) /* "10000 = 10 seconds, 0 = disable" */
			return;
		lockup_set_all(d, ms);
	}
	*known = true;
}

/* The clause about the default on bare metal, up to the next full stop. */
static bool lockup_see_clause(struct davy_lockup_defaults *d, const char *at)
{
	const char *end = at + strcspn(at, ".;)");
	const char *never = strstr(at, "no timeout for compute");
	bool known = false;

	while (at < end) {
		unsigned long long ms;
		char *behind;

		if (!isdigit((unsigned char)*at)) {
			at++;
			continue;
		}
		errno = 0;
		ms = strtoull(at, &behind, 10);
		if (!errno && ms <= DESCRIBED_MAX_MS)
			lockup_see_number(d, ms, behind, &known);
		at = behind;
	}
	if (known && never && never < end)
		d->ms[DAVY_LOCKUP_COMPUTE] = 0;
	return known;
}

bool davy_lockup_defaults_parse(const char *description, struct davy_lockup_defaults *ret_defaults)
{
	const char *at = strstr(description, "default");
	struct davy_lockup_defaults d = { 0 };

	lockup_set_all(&d, DAVY_LOCKUP_UNREPORTED);
	if (!at || !lockup_see_clause(&d, at))
		return false;
	d.one_for_all = strstr(description, "[single value for all]") != NULL;
	d.one_for_all_guest = strstr(description, "sriov [all jobs]") != NULL;
	*ret_defaults = d;
	return true;
}

struct values {
	uint64_t ms[DAVY_LOCKUP_KINDS];
	size_t count; /* as counted by the driver: includes values left at their default */
};

/* Follows kstrtol (base by prefix, sign) and msecs_to_jiffies (2^31 ms and more is never). */
static int lockup_parse_ms(const char *text, size_t len, uint64_t *ret_ms)
{
	const char *digits = text + (len && (*text == '-' || *text == '+'));
	char copy[32], *end;
	long long ms;

	if (!len || len >= sizeof(copy) || !isdigit((unsigned char)*digits))
		return -EBADMSG;
	memcpy(copy, text, len);
	copy[len] = 0;
	errno = 0;
	ms = strtoll(copy, &end, 0);
	if (errno || *end)
		return -EBADMSG;
	*ret_ms = ms < 0 || ms > INT32_MAX ? 0 : ms ? (uint64_t)ms : DAVY_LOCKUP_UNREPORTED;
	return 0;
}

/* Splits like strsep and kstrtol: an empty part ends the list, 0 keeps the default of a kind. */
static int lockup_parse_values(const char *text, struct values *ret_values)
{
	struct values v = { .count = 0 };
	size_t left = strcspn(text, "\n");

	for (int i = 0; i < DAVY_LOCKUP_KINDS; i++)
		v.ms[i] = DAVY_LOCKUP_UNREPORTED;
	while (left) {
		size_t len = strcspn(text, ",\n");
		uint64_t ms;
		int err;

		if (!len)
			break;
		err = lockup_parse_ms(text, len, &ms);
		if (err)
			return err;
		if (v.count < DAVY_LOCKUP_KINDS)
			v.ms[v.count] = ms;
		v.count++;
		text += len < left ? len + 1 : len;
		left -= len < left ? len + 1 : len;
	}
	*ret_values = v;
	return 0;
}

/* True if the value without its newline is the beginning of the configured one, up to a comma. */
static bool lockup_was_cut(const char *value, const char *configured)
{
	size_t len = strcspn(value, "\n");

	return len && !memchr(value, ',', len) && !strncmp(value, configured, len) &&
	       configured[len] == ',';
}

static void lockup_spread_single(struct values *v, const struct davy_lockup_defaults *d, bool guest)
{
	v->ms[DAVY_LOCKUP_SDMA] = v->ms[DAVY_LOCKUP_VIDEO] = v->ms[DAVY_LOCKUP_GFX];
	if (d ? d->one_for_all || (guest && d->one_for_all_guest) : guest)
		v->ms[DAVY_LOCKUP_COMPUTE] = v->ms[DAVY_LOCKUP_GFX];
}

void davy_lockup_amdgpu(const char *value, const char *configured,
			const struct davy_lockup_defaults *defaults, bool guest,
			struct davy_lockups *ret_lockups)
{
	bool compute_unsure = false;
	struct values v;
	int err = lockup_parse_values(lockup_was_cut(value, configured) ? configured : value, &v);

	ret_lockups->count = 0;
	if (!err && v.count == 1) {
		lockup_spread_single(&v, defaults, guest);
		compute_unsure = !defaults;
	}
	for (int i = 0; i < DAVY_LOCKUP_KINDS; i++) {
		bool unsure = err || (i == DAVY_LOCKUP_COMPUTE && compute_unsure);

		if (!err && v.ms[i] != DAVY_LOCKUP_UNREPORTED)
			davy_lockups_add(ret_lockups, kind_names[i], v.ms[i],
					 DAVY_LOCKUP_PARAMETER);
		else
			davy_lockups_add(ret_lockups, kind_names[i],
					 defaults && !unsure ? defaults->ms[i]
							     : DAVY_LOCKUP_UNREPORTED,
					 DAVY_LOCKUP_DEFAULT);
	}
}

void davy_lockup_radeon(const char *value, const struct davy_lockup_defaults *defaults,
			struct davy_lockups *ret_lockups)
{
	uint64_t ms, usual = defaults ? defaults->ms[DAVY_LOCKUP_GFX] : DAVY_LOCKUP_UNREPORTED;

	ret_lockups->count = 0;
	if (lockup_parse_ms(value, strcspn(value, "\n"), &ms)) {
		davy_lockups_add(ret_lockups, "all", usual, DAVY_LOCKUP_DEFAULT);
		return;
	}
	if (ms == DAVY_LOCKUP_UNREPORTED)
		ms = 0;
	davy_lockups_add(ret_lockups, "all", ms,
			 ms == usual ? DAVY_LOCKUP_DEFAULT : DAVY_LOCKUP_PARAMETER);
}

uint64_t davy_lockup_i915_ms(uint64_t heartbeat_ms, uint64_t preempt_ms, uint64_t request_ms)
{
	uint64_t ms = 0;

	if (heartbeat_ms > DESCRIBED_MAX_MS)
		heartbeat_ms = 0;
	if (heartbeat_ms)
		ms = 4 * heartbeat_ms;
	if (heartbeat_ms && preempt_ms && preempt_ms < 2 * heartbeat_ms)
		ms = 2 * heartbeat_ms + preempt_ms;
	return request_ms && (!ms || request_ms < ms) ? request_ms : ms;
}

void davy_lockup_queue_of(const char *driver, const char *ring, char *ret_queue, size_t size)
{
	static const struct {
		const char *begin;
		enum davy_lockup_kind kind;
	} rows[] = {
		{ "gfx", DAVY_LOCKUP_GFX },
		{ "comp", DAVY_LOCKUP_COMPUTE },
		{ "sdma", DAVY_LOCKUP_SDMA },
		{ "page", DAVY_LOCKUP_SDMA },
	};
	enum davy_lockup_kind kind =
		DAVY_LOCKUP_VIDEO; /* uvd, vce, vcn, jpeg, vpe and later ones */
	char stem[DAVY_RING_NAME_LEN];

	if (!strcmp(driver, "amdgpu")) {
		for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
			if (lockup_begins(ring, rows[i].begin))
				kind = rows[i].kind;
		davy_copy_name(ret_queue, size, kind_names[kind]);
		return;
	}
	davy_copy_name(stem, sizeof(stem), ring);
	stem[strcspn(stem, "0123456789")] = 0;
	davy_copy_name(ret_queue, size, !strcmp(driver, "xe") && stem[0] ? stem : "all");
}

void davy_lockups_add(struct davy_lockups *l, const char *queue, uint64_t ms, uint32_t origin)
{
	struct davy_lockup *new = &l->at[l->count];

	if (l->count == DAVY_LOCKUPS_MAX)
		return;
	davy_copy_name(new->queue, sizeof(new->queue), queue);
	new->timeout_ns = ms == DAVY_LOCKUP_UNREPORTED || ms > UINT64_MAX / DAVY_NS_PER_MS
				  ? 0
				  : ms *DAVY_NS_PER_MS;
	new->origin = ms == DAVY_LOCKUP_UNREPORTED ? DAVY_LOCKUP_UNKNOWN : origin;
	l->count++;
}

struct davy_lockup *davy_lockups_find(struct davy_lockups *l, const char *queue)
{
	for (size_t i = 0; i < l->count; i++)
		if (!strcmp(l->at[i].queue, queue))
			return &l->at[i];
	return NULL;
}

static int lockup_worth(const struct davy_lockup *l)
{
	return l->origin == DAVY_LOCKUP_SYSFS ? 2 : l->origin == DAVY_LOCKUP_SCHEDULER ? 1 : 0;
}

bool davy_lockups_update(struct davy_lockups *l, const struct davy_lockup *now)
{
	struct davy_lockup *known = davy_lockups_find(l, now->queue);

	if (!known) {
		if (l->count == DAVY_LOCKUPS_MAX)
			return false;
		l->at[l->count++] = *now;
		return true;
	}
	if (lockup_worth(now) < lockup_worth(known))
		return false;
	if (known->timeout_ns == now->timeout_ns && known->origin == now->origin)
		return false;
	if (known->origin == DAVY_LOCKUP_SCHEDULER && now->origin == DAVY_LOCKUP_SCHEDULER &&
	    (!now->timeout_ns || (known->timeout_ns && known->timeout_ns < now->timeout_ns)))
		return false;
	*known = *now;
	return true;
}
