/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Limits of a workload's cgroup, and a device kept awake: done at once, and seen to be done. */
#include "agent/agent.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "act/awake.h"
#include "act/caps.h"
#include "lib/log.h"
#include "sensors/gpu/dmem.h"

#define WANTS_MAX DL_DMEM_REGIONS

/* One value to be set. */
struct want {
	enum dl_cap cap;
	uint64_t amount;
	char region[DL_INTENT_KEY];
};

static void failed(struct dl_agent *a, const struct dl_plan *plan, int err, const char *why)
{
	dl_log("workload %u: %s: %s", plan->workload, dl_rung_name((enum dl_rung)plan->rung),
	       why[0] ? why : strerror(-err));
	dl_agent_acted(a, plan->id, plan->workload, DL_ACT_FAILED, 0, err);
}

static void start_intent(const struct dl_plan *plan, const struct dl_place *where,
			 struct dl_intent *intent)
{
	memset(intent, 0, sizeof(*intent));
	intent->plan = plan->id;
	intent->workload = plan->workload;
	intent->rung = plan->rung;
	intent->pid = where->pid;
	intent->start_ticks = where->start_ticks;
	dl_copy_name(intent->unit, sizeof(intent->unit), where->unit);
	if (strlen(where->cgroup) < sizeof(intent->cgroup))
		dl_copy_name(intent->cgroup, sizeof(intent->cgroup), where->cgroup);
	snprintf(intent->text, sizeof(intent->text), "%s", dl_hazard_name(plan->hazard));
}

/* The VRAM of the plan's device; without a number no more (or, protected, no less) than now. */
static size_t want_regions(const struct dl_plan *plan, const char *cgroup, struct want *wants)
{
	bool victim = plan->victim_pid && plan->victim_pid == plan->pid;
	struct dl_ev_dmem regions[DL_DMEM_REGIONS];
	size_t found = dl_dmem_read(cgroup, regions, DL_DMEM_REGIONS), count = 0;

	for (size_t i = 0; i < found; i++) {
		const struct dl_ev_dmem *r = &regions[i];
		struct want *w = &wants[count];

		if (plan->device[0] ? strcmp(plan->device, r->device) != 0 : !r->current)
			continue;
		w->cap = victim ? DL_CAP_DMEM_LOW : DL_CAP_DMEM_MAX;
		w->amount = plan->cap_bytes ? plan->cap_bytes : r->current;
		snprintf(w->region, sizeof(w->region), "drm/%.31s/%.15s", r->device, r->region);
		count += w->amount != 0;
	}
	return count;
}

/*
 * What the plan means: a share of the time is the processor's; VRAM where there is a dmem
 * controller, unless what is short is the host's memory.
 */
static size_t find_wants(const struct dl_plan *plan, const char *cgroup, struct want *wants)
{
	bool host = !strcmp(plan->ring, "host") || !strcmp(plan->ring, "cgroup") ||
		    !strcmp(plan->ring, "gtt");
	size_t count;

	memset(wants, 0, sizeof(*wants) * WANTS_MAX);
	if (plan->on_permille) {
		wants->cap = DL_CAP_CPU_MAX;
		wants->amount = plan->on_permille;
		return 1;
	}
	count = host ? 0 : want_regions(plan, cgroup, wants);
	if (count)
		return count;
	wants->amount = plan->cap_bytes;
	wants->cap = strcmp(plan->ring, "vram") ? DL_CAP_MEMORY_HIGH : DL_CAP_DMEM_MAX;
	if (wants->cap == DL_CAP_DMEM_MAX) { /* it will say what is missing */
		wants->amount = wants->amount ? wants->amount : 1;
		snprintf(wants->region, sizeof(wants->region), "drm/%.31s/vram", plan->device);
	}
	return 1;
}

/* 0, 1 when a stricter one stands already, or -errno. */
static int set_one(struct dl_agent *a, const struct dl_plan *plan, const struct dl_place *where,
		   const struct want *w, char why[DL_REASON_LEN])
{
	struct dl_intent intent, *standing;
	int err;

	start_intent(plan, where, &intent);
	err = dl_cap_plan(where->cgroup, w->cap, w->region, w->amount, &intent, why);
	if (err)
		return err == -EALREADY ? 1 : err;
	standing = dl_agent_intend_value(a, &intent);
	if (!standing)
		return -EROFS;
	err = dl_value_set(standing);
	if (err)
		dl_agent_intent_undo(a, standing);
	return err;
}

/* Those of one plan, or of a workload's rung (plan 0). */
static struct dl_undone take_back(struct dl_agent *a, uint32_t workload, uint32_t rung,
				  uint32_t plan)
{
	struct dl_undone undone = { 0 };

	for (size_t i = 0; i < DL_STANDING_MAX; i++) {
		struct dl_intent *standing = &a->standing.open[i];
		int err;

		if (!standing->file[0] || (workload && standing->workload != workload) ||
		    (rung && standing->rung != rung) || (plan && standing->plan != plan))
			continue;
		err = dl_agent_intent_undo(a, standing);
		undone.undone += err == 0;
		undone.idle += err == 1;
		undone.failed += err < 0;
	}
	return undone;
}

void dl_agent_cap(struct dl_agent *a, const struct dl_plan *plan)
{
	struct want wants[WANTS_MAX];
	char why[DL_REASON_LEN] = "";
	struct dl_place where;
	size_t count;
	int err = 0;

	if (!dl_workload_place(a, plan->workload, &where) || !where.pid)
		return failed(a, plan, -ESRCH, "it does not run");
	if (!where.cgroup[0])
		return failed(a, plan, -ENOTSUP, "it has no cgroup of its own to limit");
	if (plan->pid && plan->pid != where.pid)
		return failed(a, plan, -ESTALE, "another process runs by now");
	count = find_wants(plan, where.cgroup, wants);
	for (size_t i = 0; i < count && err >= 0; i++)
		err = set_one(a, plan, &where, &wants[i], why);
	if (err < 0) {
		take_back(a, plan->workload, DL_RUNG_CAP, plan->id);
		return failed(a, plan, err, why);
	}
	dl_agent_acted(a, plan->id, plan->workload, DL_ACT_HELD, 0, 0);
}

void dl_agent_awake(struct dl_agent *a, const struct dl_plan *plan)
{
	struct dl_place where = { .cgroup = "", .unit = "" };
	struct dl_intent intent, *standing;
	int err;

	dl_workload_place(a, plan->workload, &where);
	start_intent(plan, &where, &intent);
	err = dl_awake_plan(plan->device, &intent);
	if (err && err != -EALREADY)
		return failed(a, plan, err, err == -EINVAL ? "it is on no PCI device" : "");
	standing = err ? NULL : dl_agent_intend_value(a, &intent);
	if (!err && !standing)
		return failed(a, plan, -EROFS, "");
	err = standing ? dl_value_set(standing) : 0;
	if (err) {
		dl_agent_intent_undo(a, standing);
		return failed(a, plan, err, "");
	}
	dl_agent_acted(a, plan->id, plan->workload, DL_ACT_HELD, 0, 0);
}

bool dl_agent_cap_undo(struct dl_agent *a, const struct dl_plan *plan)
{
	struct dl_undone undone;

	if (plan->level != DL_RUNG_CAP && plan->level != DL_RUNG_AWAKE)
		return false;
	a->standing.value_undo = plan->id;
	undone = take_back(a, plan->workload, plan->level, 0);
	if (undone.failed)
		failed(a, plan, -EIO, "");
	else
		dl_agent_acted(a, plan->id, plan->workload, DL_ACT_RELEASED, 0, 0);
	return true;
}

struct dl_undone dl_agent_caps_drop(struct dl_agent *a, uint32_t workload)
{
	return take_back(a, workload, 0, 0);
}
