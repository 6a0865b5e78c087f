/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table of known processes: allocation, eviction, and the state of their probes. */
#include "agent/agent.h"

#include <stdio.h>
#include <string.h>

#include "sensors/proc/process_account.h"
#include "agent/sense/tracker.h"

#define TALLY_MAX ((size_t)2 * DAVY_TRACKED_MAX) /* a power of two */

#define CHECK_NS (30 * DAVY_NS_PER_S) /* interval for processes that wait for a probe */

/* Number of processes of each user in the table, without workloads. */
struct tally {
	struct {
		uint32_t uid;
		uint32_t count; /* 0: empty */
	} user[TALLY_MAX];
};

static uint32_t *tally_of(struct tally *tally, uint32_t uid)
{
	size_t at = (size_t)uid * 2654435761u & (TALLY_MAX - 1);

	while (tally->user[at].count && tally->user[at].uid != uid)
		at = (at + 1) & (TALLY_MAX - 1);
	tally->user[at].uid = uid;
	return &tally->user[at].count;
}

struct davy_tracked *davy_tracked_of(struct davy_agent *a, uint32_t pid)
{
	for (size_t i = 0; pid && i < DAVY_TRACKED_MAX; i++)
		if (a->tracked[i].pid == pid)
			return &a->tracked[i];
	return NULL;
}

void davy_tracked_used(struct davy_agent *a, uint32_t pid)
{
	struct davy_tracked *t = davy_tracked_of(a, pid);

	if (t && t->reported.engine != DAVY_ENGINE_NONE)
		t->inspect_ns = davy_boot_ns();
}

static int tracked_worth(const struct davy_tracked *t)
{
	if (t->reported.engine == DAVY_ENGINE_NONE)
		return 1;
	return t->reported.backend == DAVY_BACKEND_UNKNOWN ? 2 : 3;
}

/* Whether "a" is evicted before "b"; the counts are those of their users. */
static bool tracked_goes_before(const struct davy_tracked *a, uint32_t a_count,
				const struct davy_tracked *b, uint32_t b_count)
{
	if (a_count != b_count)
		return a_count > b_count;
	if (tracked_worth(a) != tracked_worth(b))
		return tracked_worth(a) < tracked_worth(b);
	return a->used_ns < b->used_ns;
}

/*
 * An empty entry, or one of the user with the most processes, including the new one: a user who
 * starts hundreds of engines evicts only their own. Workloads stay; if there is nothing else, the
 * oldest entry is evicted.
 */
static struct davy_tracked *tracked_room(struct davy_agent *a, uint32_t uid)
{
	static struct tally tally;
	struct davy_tracked *victim = NULL, *oldest = &a->tracked[0];
	uint32_t victim_count = 0;

	memset(&tally, 0, sizeof(tally));
	for (size_t i = 0; i < DAVY_TRACKED_MAX; i++) {
		const struct davy_tracked *t = &a->tracked[i];

		if (!t->pid)
			return &a->tracked[i];
		if (!t->workload)
			++*tally_of(&tally, t->uid);
	}
	++*tally_of(&tally, uid);
	for (size_t i = 0; i < DAVY_TRACKED_MAX; i++) {
		struct davy_tracked *t = &a->tracked[i];
		uint32_t count = t->workload ? 0 : *tally_of(&tally, t->uid);

		oldest = t->used_ns < oldest->used_ns ? t : oldest;
		if (t->workload || (victim && !tracked_goes_before(t, count, victim, victim_count)))
			continue;
		victim = t;
		victim_count = count;
	}
	return victim ? victim : oldest;
}

void davy_tracked_forget(struct davy_agent *a, struct davy_tracked *t)
{
	if (a->bpf)
		davy_bpf_owner_gone(a->bpf, t->pid);
	memset(t, 0, sizeof(*t));
}

struct davy_tracked *davy_tracked_new(struct davy_agent *a, uint32_t pid)
{
	uint32_t uid = davy_process_account(pid);
	struct davy_tracked *t = tracked_room(a, uid);

	if (t->pid) {
		a->tracked_evicted++;
		a->tracked_evicted_uid = t->uid;
		davy_tracked_forget(a, t);
	}
	t->pid = pid;
	t->uid = uid;
	return t;
}

static void tracked_report(struct davy_agent *a, uint64_t now_ns)
{
	struct davy_event ev = davy_agent_event(DAVY_EV_SENSOR, 0);

	if (a->tracked_evicted == a->tracked_evicted_reported ||
	    now_ns - a->tracked_reported_ns < DAVY_NS_PER_S)
		return;
	a->tracked_evicted_reported = ev.sensor.count = a->tracked_evicted;
	a->tracked_reported_ns = now_ns;
	ev.sensor.state = DAVY_SENSOR_LOST;
	davy_copy_name(ev.sensor.name, sizeof(ev.sensor.name), "processes");
	snprintf(ev.sensor.reason, sizeof(ev.sensor.reason),
		 "user %u has too many processes that look like engines: not all are tracked",
		 a->tracked_evicted_uid);
	davy_agent_feed(a, &ev);
}

/* The status must not show a probe that was detached; it is attached again. */
static void tracked_check_probes(struct davy_agent *a, struct davy_tracked *t, uint64_t now_ns)
{
	t->cxx_attached &= davy_bpf_probed(a->bpf, t->pid, "throw");
	t->ggml_attached &= davy_bpf_probed(a->bpf, t->pid, "synchronize") &&
			    davy_bpf_probed(a->bpf, t->pid, "compute");
	t->llama_attached &= davy_bpf_probed(a->bpf, t->pid, "ubatch") ||
			     davy_bpf_probed(a->bpf, t->pid, "decode");
	if (!t->inspect_ns && davy_bpf_probe_lost(a->bpf, t->pid))
		t->inspect_ns = now_ns + DAVY_NS_PER_S;
}

void davy_tracked_tick(struct davy_agent *a, uint64_t now_ns)
{
	struct davy_bpf_probes probes;

	tracked_report(a, now_ns);
	if (!a->bpf)
		return;
	davy_bpf_probes(a->bpf, &probes);
	if (probes.change_count == a->probes_changed && now_ns - a->probes_checked_ns < CHECK_NS)
		return;
	a->probes_changed = probes.change_count;
	a->probes_checked_ns = now_ns;
	for (size_t i = 0; i < DAVY_TRACKED_MAX; i++)
		if (a->tracked[i].pid && a->tracked[i].reported.engine != DAVY_ENGINE_NONE)
			tracked_check_probes(a, &a->tracked[i], now_ns);
}
