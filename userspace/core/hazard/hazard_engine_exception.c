/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Signal: an engine throws a vk:: exception, caught or not (uprobe on __cxa_throw).
 * Threshold: none for DeviceLostError: a process never recovers its Vulkan device (llama.cpp).
 *   Out-of-memory errors are only level 1: ggml's -fit catches them by design.
 * False alarms: a throw does not prove a failure, so it triggers no action. After the grace period,
 *   a surviving engine is asked for a token (engine_wedged); a dead one is a runner_crash.
 * Test: tests/unit/test_engine_hazards.c, tests/e2e zombie and crash.
 */
#include "core/hazard/hazards.h"

static void engine_exception_look(struct davy_step *s)
{
	struct davy_process *p = davy_world_process(&s->core->world, s->ev->pid);
	const char *type = s->ev->thrown.type;
	bool lost = davy_is_device_lost(type);
	struct davy_plan note;

	if (!p || p->engine == DAVY_ENGINE_NONE || (!lost && !davy_is_out_of_memory(type)))
		return; /* the uprobe is on the library, so it also sees other exceptions */
	note = davy_plan_about(s, DAVY_HZ_ENGINE_EXCEPTION, p);
	note.level = lost ? 3 : 1;
	note.observed = 1;
	note.threshold = 1;
	note.device_class = lost;
	davy_copy_name(note.detail, sizeof(note.detail), type);
	davy_alarm_raise(s, &note);
	if (lost || !p->exception_ns)
		davy_copy_name(p->exception, sizeof(p->exception), type);
	if (!lost) {
		p->out_of_memory_ns = s->now_ns;
		return;
	}
	if (!p->exception_ns) {
		p->exception_ns = s->now_ns;
		p->lost_batch = p->life.batch;
		p->lost_depth = p->life.progress.depth;
	}
	if (!p->check_due_ns)
		p->check_due_ns =
			s->now_ns + davy_threshold_ns(s, DAVY_CFG_EXCEPTION_GRACE_MS, NULL, p);
}

static void engine_exception_reason(const struct davy_plan *p, struct davy_clause *c)
{
	c->say(c, "threw %s", c->type(c, p->detail));
}

const struct davy_hazard_row davy_hazard_engine_exception = {
	.sees = DAVY_SEES(DAVY_EV_THROW),
	.look = engine_exception_look,
	.reason = engine_exception_reason,
	.precursor.leads = DAVY_CAN_DEVICE_LOST | DAVY_CAN_OOM_VRAM | DAVY_CAN_HANG | DAVY_CAN_END,
	.precursor.horizon = DAVY_CFG_FORESIGHT_HORIZON_MS,
	.engine_fails = 3,
};
