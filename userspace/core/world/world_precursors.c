/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "core/world/world.h"

#include <assert.h>
#include <string.h>

static size_t world_precursors_set_of(uint32_t key, size_t sets)
{
	assert(sets && !(sets & (sets - 1)));
	return (size_t)((key * 2654435761u) >> 16) & (sets - 1);
}

#define NEW_LINE_NS (12ULL * 3600 * DAVY_NS_PER_S)

struct davy_tally *davy_world_tally(struct davy_world *w, enum davy_tally_kind kind,
				    const char *device, uint32_t pid, uint64_t now_ns,
				    uint64_t window_ns)
{
	struct davy_tally *set =
		w->precursors
			.tallies[world_precursors_set_of(pid * 16 + kind, DAVY_WORLD_TALLY_SETS)];
	struct davy_tally *t = NULL, *victim = &set[0];

	for (size_t i = 0; i < DAVY_WORLD_TALLY_WAYS && !t; i++) {
		if (set[i].used_ns && set[i].pid == pid && set[i].kind == kind &&
		    davy_same_name(set[i].device, device))
			t = &set[i];
		else if (set[i].used_ns < victim->used_ns)
			victim = &set[i];
	}
	if (!t) {
		t = victim;
		w->evicted_count += t->used_ns != 0;
		memset(t, 0, sizeof(*t));
		davy_copy_name(t->device, sizeof(t->device), device);
		t->pid = pid;
		t->kind = kind;
	}
	if (!t->used_ns || now_ns - t->window_ns > window_ns) {
		t->window_ns = now_ns;
		t->count = t->first = 0;
	}
	t->used_ns = now_ns ? now_ns : 1;
	return t;
}

void davy_world_report(struct davy_world *w, const char *device, enum davy_report_kind what,
		       enum davy_reporter reporter, uint32_t level, uint64_t now_ns)
{
	struct davy_device_state *d = davy_world_device_get(w, device, now_ns);
	struct davy_report *report = &d->reports[what][reporter];

	if (now_ns - report->at_ns > DAVY_REPORT_DELAY_NS || level > report->level)
		report->level = level;
	report->at_ns = now_ns ? now_ns : 1;
}

bool davy_world_reported(const struct davy_world *w, const char *device, enum davy_report_kind what,
			 enum davy_reporter reporter, uint32_t level, uint64_t now_ns)
{
	for (size_t i = 0; i < DAVY_WORLD_DEVICES; i++) {
		const struct davy_device_state *d = &w->devices[i];

		if (!d->used_ns ||
		    (device[0] && d->device[0] && !davy_same_name(d->device, device)))
			continue;
		for (int by = 0; by < (int)reporter; by++)
			if (d->reports[what][by].at_ns && d->reports[what][by].level >= level &&
			    now_ns - d->reports[what][by].at_ns <= DAVY_REPORT_DELAY_NS)
				return true;
	}
	return false;
}

static struct davy_kfd_state *signs_kfd_set(struct davy_world *w, uint32_t pid)
{
	return w->precursors.kfd[world_precursors_set_of(pid, DAVY_WORLD_KFD_SETS)];
}

struct davy_kfd_state *davy_world_kfd_get(struct davy_world *w, const char *device, uint32_t pid,
					  uint64_t now_ns)
{
	struct davy_kfd_state *set = signs_kfd_set(w, pid), *victim = &set[0];

	for (size_t i = 0; i < DAVY_WORLD_KFD_WAYS; i++) {
		if (set[i].used_ns && set[i].pid == pid && davy_same_name(set[i].device, device)) {
			set[i].used_ns = now_ns;
			return &set[i];
		}
		if (set[i].used_ns < victim->used_ns)
			victim = &set[i];
	}
	w->evicted_count += victim->used_ns != 0;
	memset(victim, 0, sizeof(*victim));
	davy_copy_name(victim->device, sizeof(victim->device), device);
	victim->pid = pid;
	victim->used_ns = now_ns ? now_ns : 1;
	return victim;
}

struct davy_kfd_state *davy_world_kfd(struct davy_world *w, uint32_t pid)
{
	struct davy_kfd_state *set = signs_kfd_set(w, pid), *latest = NULL;

	for (size_t i = 0; pid && i < DAVY_WORLD_KFD_WAYS; i++)
		if (set[i].used_ns && set[i].pid == pid &&
		    (!latest || set[i].used_ns > latest->used_ns))
			latest = &set[i];
	return latest;
}

uint32_t davy_world_kfd_only(const struct davy_world *w, const char *device)
{
	uint32_t only = 0;

	for (size_t i = 0; i < (size_t)DAVY_WORLD_KFD_SETS * DAVY_WORLD_KFD_WAYS; i++) {
		const struct davy_kfd_state *k =
			&w->precursors.kfd[i / DAVY_WORLD_KFD_WAYS][i % DAVY_WORLD_KFD_WAYS];

		if (!k->used_ns || !k->queue_count || k->pid == only ||
		    (device[0] && !davy_same_name(k->device, device)))
			continue;
		if (only)
			return 0;
		only = k->pid;
	}
	return only;
}

void davy_precursors_apply_kfd_use(struct davy_world *w, const struct davy_event *ev)
{
	const struct davy_ev_kfd_use *in = &ev->kfd_use;
	struct davy_kfd_state *k = davy_world_kfd_get(w, in->device, ev->pid, ev->at_ns);

	k->queue_count = in->gone ? 0 : in->queue_count;
	if (in->pages_out > k->pages_out)
		k->paged_ns = ev->at_ns;
	k->pages_out = in->pages_out;
}

void davy_precursors_forget(struct davy_world *w, uint32_t pid)
{
	struct davy_kfd_state *set = signs_kfd_set(w, pid);

	for (size_t i = 0; i < DAVY_WORLD_KFD_WAYS; i++)
		if (set[i].pid == pid)
			memset(&set[i], 0, sizeof(set[i]));
}

bool davy_world_line_is_new(struct davy_world *w, uint16_t kind, uint64_t now_ns)
{
	uint64_t last_ns = kind < DAVY_LOG_KIND_COUNT ? w->precursors.line_ns[kind] : now_ns;

	if (kind < DAVY_LOG_KIND_COUNT)
		w->precursors.line_ns[kind] = now_ns;
	return !last_ns || now_ns - last_ns > NEW_LINE_NS;
}
