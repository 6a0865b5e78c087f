/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Limits of a workload's cgroup, and keeping a device awake. Both take effect at once and are
 * verified.
 */
#include "agent/agent.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "act/awake.h"
#include "act/caps.h"
#include "lib/log.h"
#include "sensors/gpu/dmem.h"
#include "agent/act/units.h"

#define WANTS_MAX DAVY_DMEM_REGIONS

struct want {
	enum davy_cap cap;
	uint64_t amount;
	char region[DAVY_INTENT_KEY];
	char device[DAVY_DEVICE_LEN]; /* of the region; "": unknown */
	uint64_t counted;	      /* bytes of the region that the controller knows */
};

static void act_cap_failed(struct davy_agent *a, const struct davy_plan *plan, int err,
			   const char *why)
{
	davy_log("workload %u: %s: %s", plan->workload,
		 davy_action_name((enum davy_action)plan->action), why[0] ? why : strerror(-err));
	davy_agent_acted(a, plan->id, plan->workload, DAVY_ACT_FAILED, 0, err);
}

static void start_intent(const struct davy_plan *plan, const struct davy_place *where,
			 struct davy_intent *intent)
{
	memset(intent, 0, sizeof(*intent));
	intent->plan = plan->id;
	intent->workload = plan->workload;
	intent->action = plan->action;
	intent->pid = where->pid;
	intent->start_ticks = where->start_ticks;
	davy_copy_name(intent->unit, sizeof(intent->unit), where->unit);
	if (strlen(where->cgroup) < sizeof(intent->cgroup))
		davy_copy_name(intent->cgroup, sizeof(intent->cgroup), where->cgroup);
	snprintf(intent->text, sizeof(intent->text), "%s", davy_hazard_name(plan->hazard));
}

/*
 * The VRAM limits for the plan's device. Without an amount, the limit is the current use: a
 * maximum, or a protected minimum if the workload is the victim.
 */
static size_t want_regions(const struct davy_plan *plan, const char *cgroup, struct want *wants)
{
	bool victim = plan->victim_pid && plan->victim_pid == plan->pid;
	struct davy_ev_dmem regions[DAVY_DMEM_REGIONS];
	size_t found = davy_dmem_read(cgroup, regions, DAVY_DMEM_REGIONS), count = 0;

	for (size_t i = 0; i < found; i++) {
		const struct davy_ev_dmem *r = &regions[i];
		struct want *w = &wants[count];

		if (plan->device[0] ? strcmp(plan->device, r->device) != 0 : !r->current)
			continue;
		w->cap = victim ? DAVY_CAP_DMEM_LOW : DAVY_CAP_DMEM_MAX;
		w->amount = plan->cap_bytes ? plan->cap_bytes : r->current;
		snprintf(w->region, sizeof(w->region), "drm/%.31s/%.15s", r->device, r->region);
		davy_copy_name(w->device, sizeof(w->device), r->device);
		w->counted = r->current;
		count += w->amount != 0;
	}
	return count;
}

/*
 * Converts the plan to limits: a part of the time limits the processor. A memory limit applies to
 * VRAM if there is a dmem controller, unless the host's memory is short.
 */
static size_t find_wants(const struct davy_plan *plan, const char *cgroup, struct want *wants)
{
	bool host = plan->heap == DAVY_OF_HOST || plan->heap == DAVY_OF_CGROUP ||
		    plan->heap == DAVY_OF_GTT;
	size_t count;

	memset(wants, 0, sizeof(*wants) * WANTS_MAX);
	if (plan->on_permille) {
		wants->cap = DAVY_CAP_CPU_MAX;
		wants->amount = plan->on_permille;
		return 1;
	}
	count = host ? 0 : want_regions(plan, cgroup, wants);
	if (count)
		return count;
	wants->amount = plan->cap_bytes;
	wants->cap = plan->heap == DAVY_OF_VRAM ? DAVY_CAP_DMEM_MAX : DAVY_CAP_MEMORY_HIGH;
	if (wants->cap == DAVY_CAP_DMEM_MAX) { /* davy_cap_plan() then says what is missing */
		wants->amount = wants->amount ? wants->amount : 1;
		snprintf(wants->region, sizeof(wants->region), "drm/%.31s/vram", plan->device);
	}
	return 1;
}

/* VRAM from before the controller was enabled would stay free of the limit. */
static bool act_cap_uncounted(const struct davy_agent *a, uint32_t pid, const struct want *w)
{
	const struct davy_memory_client *c;

	if (w->cap != DAVY_CAP_DMEM_MAX || !w->device[0] || w->counted)
		return false;
	c = davy_memory_client_of(&a->core.world.memory, pid, w->device);
	return c && c->bytes;
}

/* 0: set. 1: a stricter limit is already in force. Otherwise -errno. */
static int set_one(struct davy_agent *a, const struct davy_plan *plan,
		   const struct davy_place *where, const struct want *w, char why[DAVY_REASON_LEN])
{
	struct davy_intent intent, *effect;
	int err;

	if (act_cap_uncounted(a, where->pid, w)) {
		snprintf(why, DAVY_REASON_LEN,
			 "its VRAM is older than the dmem controller of its cgroup");
		return -ENOTSUP;
	}
	start_intent(plan, where, &intent);
	err = davy_cap_plan(where->cgroup, w->cap, w->region, w->amount, &intent, why);
	if (err)
		return err == -EALREADY ? 1 : err;
	effect = davy_agent_intend_value(a, &intent);
	if (!effect)
		return -EROFS;
	err = davy_value_set(effect);
	if (err)
		davy_agent_intent_undo(a, effect);
	return err;
}

/* VRAM that dmem cannot limit: a quota by BPF LSM. False: not by it. */
static bool capped_by_lsm(struct davy_agent *a, const struct davy_plan *plan, int err)
{
	if ((err != -ENOTSUP && err != -ENOENT) || plan->heap != DAVY_OF_VRAM || !plan->cap_bytes)
		return false;
	return !davy_agent_vram_cap(a, plan->workload, plan->cap_bytes);
}

/* Takes back the values of one plan, or of one action of a workload (plan 0). */
static struct davy_undone act_cap_take_back(struct davy_agent *a, uint32_t workload,
					    uint32_t action, uint32_t plan)
{
	struct davy_undone undone = { 0 };

	if ((!action || action == DAVY_ACTION_CAP) && !plan)
		undone.undone += davy_agent_vram_uncap(a, workload);
	for (size_t i = 0; i < DAVY_IN_FORCE_MAX; i++) {
		struct davy_intent *effect = &a->in_force.open[i];
		int err;

		if (!effect->file[0] || davy_intent_is_rule(effect) ||
		    (workload && effect->workload != workload) ||
		    (action && effect->action != action) || (plan && effect->plan != plan))
			continue;
		err = davy_agent_intent_undo(a, effect);
		undone.undone += err == 0;
		undone.idle += err == 1;
		undone.failed += err < 0;
	}
	return undone;
}

void davy_agent_cap(struct davy_agent *a, const struct davy_plan *plan)
{
	struct want wants[WANTS_MAX];
	char why[DAVY_REASON_LEN] = "";
	struct davy_place where;
	size_t count;
	int err = 0;

	if (!davy_workload_place(a, plan->workload, &where) || !where.pid)
		return act_cap_failed(a, plan, -ESRCH, "it is not running");
	if (!where.cgroup[0])
		return act_cap_failed(a, plan, -ENOTSUP,
				      "it has no cgroup of its own that could be limited");
	if (plan->pid && plan->pid != where.pid)
		return act_cap_failed(a, plan, -ESTALE, "another process has replaced it");
	count = find_wants(plan, where.cgroup, wants);
	for (size_t i = 0; i < count && err >= 0; i++)
		err = set_one(a, plan, &where, &wants[i], why);
	if (err < 0 && !capped_by_lsm(a, plan, err)) {
		act_cap_take_back(a, plan->workload, DAVY_ACTION_CAP, plan->id);
		return act_cap_failed(a, plan, err, why);
	}
	davy_agent_acted(a, plan->id, plan->workload, DAVY_ACT_IN_FORCE, 0, 0);
}

void davy_agent_awake(struct davy_agent *a, const struct davy_plan *plan)
{
	struct davy_place where = { .cgroup = "", .unit = "" };
	struct davy_intent intent, *effect;
	int err;

	davy_workload_place(a, plan->workload, &where);
	start_intent(plan, &where, &intent);
	err = davy_awake_plan(plan->device, &intent);
	if (err && err != -EALREADY)
		return act_cap_failed(a, plan, err, err == -EINVAL ? "it uses no PCI device" : "");
	effect = err ? NULL : davy_agent_intend_value(a, &intent);
	if (!err && !effect)
		return act_cap_failed(a, plan, -EROFS, "");
	err = effect ? davy_value_set(effect) : 0;
	if (err) {
		davy_agent_intent_undo(a, effect);
		return act_cap_failed(a, plan, err, "");
	}
	davy_agent_acted(a, plan->id, plan->workload, DAVY_ACT_IN_FORCE, 0, 0);
}

void davy_agent_cap_undo(struct davy_agent *a, const struct davy_plan *plan)
{
	struct davy_undone undone;

	a->in_force.value_undo = plan->id;
	undone = act_cap_take_back(a, plan->workload, plan->undone, 0);
	if (undone.failed)
		act_cap_failed(a, plan, -EIO, "");
	else
		davy_agent_acted(a, plan->id, plan->workload, DAVY_ACT_RELEASED, 0, 0);
}

struct davy_undone davy_agent_caps_drop(struct davy_agent *a, uint32_t workload)
{
	return act_cap_take_back(a, workload, 0, 0);
}
