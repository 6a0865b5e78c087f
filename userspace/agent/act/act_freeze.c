/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Pause and throttle: converts plans to orders for the guard, and its replies to results of acts.
 */
#include "agent/agent.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "act/cgroup.h"
#include "lib/log.h"
#include "lib/text.h"
#include "agent/act/units.h"

/* The process must be the one of the decision. Its cgroup is used if the process is in it. */
static int find_target(struct davy_agent *a, const struct davy_plan *plan, struct davy_frozen *h)
{
	struct davy_place place;
	char cgroup[DAVY_CGROUP_LEN];

	if (!davy_workload_place(a, plan->workload, &place))
		return -ENOTCONN;
	if (plan->pid && plan->pid != place.pid)
		return -ESTALE; /* another process has replaced it */
	if (!place.pid || davy_process_start(place.pid) != place.start_ticks)
		return -ESRCH;
	h->pid = place.pid;
	h->start_ticks = place.start_ticks;
	davy_process_cgroup(h->pid, cgroup);
	if (davy_cgroup_holds(place.cgroup, cgroup))
		h->dir_fd = davy_cgroup_open(place.cgroup);
	return 0;
}

static int send_order(struct davy_agent *a, struct davy_frozen *h)
{
	h->order.op = DAVY_GUARD_FREEZE;
	h->order.id = h->id;
	h->order.plan = h->plan;
	h->order.pid = h->pid;
	h->order.start_ticks = h->start_ticks;
	return davy_guard_send(&a->freezes.guard, &h->order, h->dir_fd);
}

static void act_freeze_release(struct davy_agent *a, const struct davy_frozen *h)
{
	const struct davy_guard_order order = { .op = DAVY_GUARD_RELEASE, .id = h->id };
	int err = davy_guard_send(&a->freezes.guard, &order, -1);

	if (err)
		davy_log("guard: cannot send the order to release workload %u (%s); the guard "
			 "releases it at the end of the lease",
			 h->workload, strerror(-err));
}

static bool same_target(const struct davy_frozen *a, const struct davy_frozen *b)
{
	return a->pid == b->pid && a->start_ticks == b->start_ticks &&
	       (a->dir_fd < 0) == (b->dir_fd < 0);
}

/* The entry for the plan: that of the freeze which it renews, or an empty one. */
static struct davy_frozen *act_freeze_place_for(struct davy_agent *a, struct davy_frozen *target)
{
	struct davy_frozen *h = davy_freezes_of(a, target->workload);

	if (h && same_target(h, target)) {
		target->id = h->id;
		return h;
	}
	if (h) { /* its process was replaced */
		h->plan = h->undo_plan = 0;
		act_freeze_release(a, h);
	}
	target->id = ++a->freezes.id_count;
	return davy_freezes_find(a, 0);
}

void davy_agent_freeze(struct davy_agent *a, const struct davy_plan *plan)
{
	struct davy_frozen target = { .workload = plan->workload, .plan = plan->id, .dir_fd = -1 };
	struct davy_frozen *h = NULL;
	int err = find_target(a, plan, &target);

	target.order.lease_ns = plan->lease_ns;
	target.order.on_permille = plan->action == DAVY_ACTION_THROTTLE ? plan->on_permille : 0;
	target.order.period_ns = DAVY_GUARD_PERIOD_NS;
	if (!err && plan->action == DAVY_ACTION_THROTTLE && !plan->on_permille)
		err = -EINVAL; /* would never run */
	if (!err) {
		h = act_freeze_place_for(a, &target);
		err = h ? 0 : -ENOSPC;
	}
	if (!err)
		err = send_order(a, &target);
	if (err) {
		davy_freezes_end(a, &target, DAVY_ACT_FAILED, err);
		return;
	}
	if (h->dir_fd >= 0)
		close(h->dir_fd);
	*h = target;
}

void davy_agent_freeze_undo(struct davy_agent *a, const struct davy_plan *plan)
{
	struct davy_frozen *h = davy_freezes_of(a, plan->workload);

	if (h) {
		h->undo_plan = plan->id;
		act_freeze_release(a, h);
	} else { /* it has already ended */
		davy_agent_acted(a, plan->id, plan->workload, DAVY_ACT_RELEASED, 0, 0);
	}
}

void davy_agent_freeze_drop(struct davy_agent *a, uint32_t workload)
{
	const struct davy_frozen *h = davy_freezes_of(a, workload);

	if (h)
		act_freeze_release(a, h);
}

/* For a cgroup that was removed, or that has no freezer. */
static bool tries_the_tree(struct davy_agent *a, struct davy_frozen *h, int result)
{
	if (h->dir_fd < 0 || (result != -ENOENT && result != -ENODEV && result != -ENOTSUP))
		return false;
	close(h->dir_fd);
	h->dir_fd = -1;
	return !send_order(a, h);
}

void davy_freezes_answer(struct davy_agent *a, const struct davy_guard_answer *said)
{
	struct davy_frozen *h = said->id ? davy_freezes_find(a, said->id) : NULL;

	a->freezes.start_count = 0;
	if (!h || (said->stage == DAVY_GUARD_FAILED && tries_the_tree(a, h, said->result)))
		return;
	if (said->stage == DAVY_GUARD_FROZEN) {
		if (said->plan == h->plan && !h->undo_plan)
			davy_agent_acted(a, h->plan, h->workload, DAVY_ACT_IN_FORCE, 0, 0);
		return;
	}
	if (said->result && said->result != -ETIME)
		davy_log("workload %u: %s: %s", h->workload,
			 said->stage == DAVY_GUARD_FAILED ? "cannot be frozen"
							  : "is no longer frozen",
			 davy_error_text(said->result));
	if (said->stage == DAVY_GUARD_FAILED)
		act_freeze_release(a, h); /* after a failed renewal the old terms may still apply */
	if (said->stage == DAVY_GUARD_FAILED && !h->undo_plan)
		davy_freezes_end(a, h, DAVY_ACT_FAILED, said->result);
	else
		davy_freezes_end(a, h, DAVY_ACT_RELEASED,
				 said->result == -ETIME ? 0 : said->result);
}
