/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Pause and throttle: plans to orders for the guard, its answers to results of acts. */
#include "agent/agent.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "act/cgroup.h"
#include "lib/log.h"
#include "lib/text.h"

/* Its process must still be who it was at the decision; its cgroup is used if it is in there. */
static int find_target(struct dl_agent *a, const struct dl_plan *plan, struct dl_held *h)
{
	struct dl_place place;
	char cgroup[DL_CGROUP_LEN];

	if (!dl_workload_place(a, plan->workload, &place))
		return -ENOTCONN;
	if (plan->pid && plan->pid != place.pid)
		return -ESTALE; /* another one runs by now */
	if (!place.pid || dl_process_start(place.pid) != place.start_ticks)
		return -ESRCH;
	h->pid = place.pid;
	h->start_ticks = place.start_ticks;
	dl_process_cgroup(h->pid, cgroup);
	if (dl_cgroup_holds(place.cgroup, cgroup))
		h->dir_fd = dl_cgroup_open(place.cgroup);
	return 0;
}

static int send_order(struct dl_agent *a, struct dl_held *h)
{
	h->order.op = DL_GUARD_HOLD;
	h->order.id = h->id;
	h->order.plan = h->plan;
	h->order.pid = h->pid;
	h->order.start_ticks = h->start_ticks;
	return dl_guard_send(&a->holds.guard, &h->order, h->dir_fd);
}

static void release(struct dl_agent *a, const struct dl_held *h)
{
	const struct dl_guard_order order = { .op = DL_GUARD_RELEASE, .id = h->id };
	int err = dl_guard_send(&a->holds.guard, &order, -1);

	if (err)
		dl_log("guard: does not take the order to release workload %u (%s); it does so at "
		       "the end of the lease",
		       h->workload, strerror(-err));
}

static bool same_target(const struct dl_held *a, const struct dl_held *b)
{
	return a->pid == b->pid && a->start_ticks == b->start_ticks &&
	       (a->dir_fd < 0) == (b->dir_fd < 0);
}

/* The place for the plan: the one of the hold that it renews, or an empty one. */
static struct dl_held *place_for(struct dl_agent *a, struct dl_held *target)
{
	struct dl_held *h = dl_holds_of(a, target->workload);

	if (h && same_target(h, target)) {
		target->id = h->id;
		return h;
	}
	if (h) { /* its process was replaced */
		h->plan = h->undo_plan = 0;
		release(a, h);
	}
	target->id = ++a->holds.id_count;
	return dl_holds_find(a, 0);
}

void dl_agent_hold(struct dl_agent *a, const struct dl_plan *plan)
{
	struct dl_held target = { .workload = plan->workload, .plan = plan->id, .dir_fd = -1 };
	struct dl_held *h = NULL;
	int err = find_target(a, plan, &target);

	target.order.lease_ns = plan->lease_ns;
	target.order.on_permille = plan->rung == DL_RUNG_THROTTLE ? plan->on_permille : 0;
	target.order.period_ns = DL_GUARD_PERIOD_NS;
	if (!err && plan->rung == DL_RUNG_THROTTLE && !plan->on_permille)
		err = -EINVAL; /* that would be a pause */
	if (!err) {
		h = place_for(a, &target);
		err = h ? 0 : -ENOSPC;
	}
	if (!err)
		err = send_order(a, &target);
	if (err) {
		dl_holds_end(a, &target, DL_ACT_FAILED, err);
		return;
	}
	if (h->dir_fd >= 0)
		close(h->dir_fd);
	*h = target;
}

bool dl_agent_hold_undo(struct dl_agent *a, const struct dl_plan *plan)
{
	struct dl_held *h = dl_holds_of(a, plan->workload);
	bool ours = plan->level == DL_RUNG_PAUSE || plan->level == DL_RUNG_THROTTLE;

	if (!ours && (plan->level || !h))
		return false;
	if (h) {
		h->undo_plan = plan->id;
		release(a, h);
	} else { /* it has ended by itself */
		dl_agent_acted(a, plan->id, plan->workload, DL_ACT_RELEASED, 0, 0);
	}
	return true;
}

void dl_agent_hold_drop(struct dl_agent *a, uint32_t workload)
{
	const struct dl_held *h = dl_holds_of(a, workload);

	if (h)
		release(a, h);
}

/* Where there is no such cgroup any more, or one without a freezer. */
static bool tries_the_tree(struct dl_agent *a, struct dl_held *h, int result)
{
	if (h->dir_fd < 0 || (result != -ENOENT && result != -ENODEV && result != -ENOTSUP))
		return false;
	close(h->dir_fd);
	h->dir_fd = -1;
	return !send_order(a, h);
}

void dl_holds_answer(struct dl_agent *a, const struct dl_guard_answer *said)
{
	struct dl_held *h = said->id ? dl_holds_find(a, said->id) : NULL;

	a->holds.start_count = 0;
	if (!h || (said->stage == DL_GUARD_FAILED && tries_the_tree(a, h, said->result)))
		return;
	if (said->stage == DL_GUARD_HELD) {
		if (said->plan == h->plan && !h->undo_plan)
			dl_agent_acted(a, h->plan, h->workload, DL_ACT_HELD, 0, 0);
		return;
	}
	if (said->result && said->result != -ETIME)
		dl_log("workload %u: %s: %s", h->workload,
		       said->stage == DL_GUARD_FAILED ? "cannot be held" : "is not held any more",
		       dl_error_text(said->result));
	if (said->stage == DL_GUARD_FAILED)
		release(a, h); /* of one that was to be renewed the former terms may still stand */
	if (said->stage == DL_GUARD_FAILED && !h->undo_plan)
		dl_holds_end(a, h, DL_ACT_FAILED, said->result);
	else
		dl_holds_end(a, h, DL_ACT_RELEASED, said->result == -ETIME ? 0 : said->result);
}
