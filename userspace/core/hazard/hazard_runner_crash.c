/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Signal: an engine process was killed by an unexpected signal, or failed after its device ran out
 *   of memory, after an Xid 13 or 31 of this process, or after an allocation was refused while it
 *   loaded; or its start did not get past a stage; or runners end with an error.
 * Threshold: one. It is a device failure if the process threw a vk:: exception before. A runner
 *   with a model that exits with an error (Ollama's own one with 2 after a panic) counts from
 *   "exits" within "window" on. Level 3 if one of them computed. Otherwise level 2, without an
 *   action: a model file that cannot be loaded ends each runner. Level 1 for SIGKILL that the OOM
 *   killer did not send, to an engine that is not adopted: a user or a script ended it.
 * False alarms: an end by SIGTERM, SIGINT or SIGHUP, exit 0, an end caused by an action of
 *   davylamp, a child that Ollama's discovery kills by design (it has no model), a runner that got
 *   SIGKILL while its manager runs (Ollama unloads a model so) and that the OOM killer did not
 *   choose, a plain failure exit of a server (llama-server exits with 1 on a wrong option: a
 *   restart would loop), a single one of a runner.
 * Test: tests/unit/test_runner_crash.c, tests/e2e crash.
 */
#include "core/hazard/hazards.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

#define XID_NS (60 * DAVY_NS_PER_S) /* CUDA reports the fault with the next call */

#define SIG_HUP	 1
#define SIG_INT	 2
#define SIG_KILL 9
#define SIG_TERM 15

static bool runner_crash_asked_for(int sig)
{
	return sig == SIG_TERM || sig == SIG_INT || sig == SIG_HUP;
}

static bool runner_crash_killed_by_manager(struct davy_step *s, const struct davy_process *p)
{
	const struct davy_process *manager =
		p->ppid ? davy_world_process(&s->core->world, p->ppid) : NULL;

	if (!p->model[0])
		return true; /* discovery children are killed by design */
	return p->role == DAVY_ROLE_RUNNER && manager && manager->engine != DAVY_ENGINE_NONE &&
	       !p->oom_killed_ns;
}

static bool runner_crash_after_xid(const struct davy_step *s, const struct davy_process *p)
{
	return p->xid_ns && s->now_ns - p->xid_ns <= XID_NS;
}

static bool runner_crash_crashed(struct davy_step *s, const struct davy_process *p, int32_t status)
{
	int sig = status & 0x7f;

	if (sig == SIG_KILL && runner_crash_killed_by_manager(s, p))
		return false;
	if (sig)
		return !runner_crash_asked_for(sig);
	return status != 0 &&
	       (p->out_of_memory_ns || davy_load_refused(s, p) || runner_crash_after_xid(s, p));
}

static uint8_t runner_crash_level(const struct davy_process *p, int32_t status)
{
	bool ordered = (status & 0x7f) == SIG_KILL && !p->oom_killed_ns;

	return ordered && !p->workload ? 1 : 3;
}

/* The failed ends of a manager's runners; without a known manager, of the model's. */
static struct davy_tally *runner_crash_ends(struct davy_step *s, const struct davy_process *p,
					    enum davy_tally_kind kind)
{
	const struct davy_process *manager = davy_world_process(&s->core->world, p->ppid);
	uint32_t of = davy_model_key(p);
	struct davy_tally *t;

	if (manager && manager->engine != DAVY_ENGINE_NONE)
		of = manager->pid;
	t = davy_world_tally(&s->core->world, kind, "", of, s->now_ns,
			     davy_threshold_ns(s, DAVY_CFG_CRASH_WINDOW_MS, p->device, p));
	t->count++;
	return t;
}

/*
 * Counts the failed exits of runners: the level, 0: too few. "first" of the tally is 1 once a
 * runner that had computed is among them.
 */
static uint8_t runner_crash_exits(struct davy_step *s, const struct davy_process *p, int32_t status,
				  struct davy_plan *note)
{
	struct davy_tally *t;

	if (!(status >> 8 & 0xff) || status & 0x7f || p->role != DAVY_ROLE_RUNNER || !p->model[0])
		return 0;
	t = runner_crash_ends(s, p, DAVY_TALLY_EXIT);
	t->first |= p->worked_ns != 0;
	note->threshold = t->count;
	if (t->count < davy_threshold(s, DAVY_CFG_CRASH_EXITS, p->device, p))
		return 0;
	note->form = DAVY_FORM_REPEATED;
	return t->first ? 3 : 2;
}

/* The level of an end by a signal. A second one before the first graph will not be the last. */
static uint8_t runner_crash_signal(struct davy_step *s, const struct davy_process *p,
				   int32_t status, struct davy_plan *note)
{
	uint8_t level = runner_crash_level(p, status);

	if (level > 1 && !p->graph.graph_count &&
	    runner_crash_ends(s, p, DAVY_TALLY_CRASH)->count > 1)
		note->form = DAVY_FORM_REPEATED;
	return level;
}

/* A start that failed, and who started it: there is no process to act on. */
static void runner_crash_found(struct davy_step *s)
{
	const struct davy_ev_finding *f = &s->ev->finding;
	struct davy_plan note = davy_plan_about(s, DAVY_HZ_RUNNER_CRASH, NULL);

	note.level = f->adopted ? 3 : 2;
	note.unit = DAVY_UNIT_STATUS;
	note.observed = (uint32_t)f->status;
	note.device_class = 1;
	note.engine = f->engine;
	note.backend = f->backend;
	davy_copy_name(note.device, sizeof(note.device), f->device);
	davy_copy_name(note.model, sizeof(note.model), f->model);
	davy_copy_name(note.detail, sizeof(note.detail), f->where);
	if (davy_alarm_raise(s, &note) && f->adopted)
		davy_breaker_found(s, &note);
}

static void runner_crash_look(struct davy_step *s)
{
	const struct davy_ev_process_exit *gone = &s->ev->process_exit;
	struct davy_process *p = davy_world_process(&s->core->world, s->ev->pid);
	struct davy_workload *w;
	struct davy_plan note;

	if (s->ev->kind == DAVY_EV_FINDING)
		runner_crash_found(s);
	if (s->ev->kind == DAVY_EV_FINDING || !p || p->engine == DAVY_ENGINE_NONE)
		return;
	if (gone->start_ticks && gone->start_ticks != p->start_ticks)
		return;
	if (davy_ended_by_us(s, p))
		return;
	note = davy_plan_about(s, DAVY_HZ_RUNNER_CRASH, p);
	note.level = runner_crash_crashed(s, p, gone->status)
			     ? runner_crash_signal(s, p, gone->status, &note)
			     : runner_crash_exits(s, p, gone->status, &note);
	if (!note.level)
		return;
	w = davy_world_workload(&s->core->world, p->workload);
	note.unit = DAVY_UNIT_STATUS;
	note.observed = (uint32_t)gone->status;
	note.device_class = p->exception_ns || p->out_of_memory_ns || davy_load_refused(s, p) ||
			    runner_crash_after_xid(s, p);
	if (runner_crash_after_xid(s, p))
		davy_plan_evidence(&note, p->xid_ns, DAVY_EV_LOG, 1);
	if (p->exception_ns)
		davy_plan_evidence(&note, p->exception_ns, DAVY_EV_THROW, 1);
	else if (p->out_of_memory_ns)
		davy_plan_evidence(&note, p->out_of_memory_ns, DAVY_EV_THROW, 1);
	if (p->vram_refused_ns && davy_load_refused(s, p))
		davy_plan_evidence(&note, p->vram_refused_ns,
				   p->vram_limit ? DAVY_EV_VRAM : DAVY_EV_ALLOC_FAILED, 1);
	davy_copy_name(note.detail, sizeof(note.detail), p->exception);
	if (!davy_alarm_raise(s, &note) || note.level < 3)
		return;
	if (w && w->act_plan)
		davy_breaker_failure(s, p, &note); /* the end of the action decides what follows */
	else
		davy_decide_failure(s, p, &note);
}

static bool runner_crash_has(const struct davy_plan *p, enum davy_event_kind kind)
{
	for (size_t i = 0; i < p->evidence_count; i++)
		if (p->evidence[i].kind == kind)
			return true;
	return false;
}

static void runner_crash_reason(const struct davy_plan *p, struct davy_clause *c)
{
	int status = (int)p->observed, sig = status & 0x7f;
	bool found = p->evidence[0].kind == DAVY_EV_FINDING;
	const char *type = c->type(c, p->detail);

	if (found)
		c->say(c, "start failed: ");
	if (p->unit != DAVY_UNIT_STATUS)
		c->say(c, "its process ended");
	else if (sig)
		c->say(c, "ended by SIG%s", c->signal(sig));
	else
		c->say(c, "exited with %d", (status >> 8) & 0xff);
	if (found)
		c->say(c, " at the stage %s", p->detail);
	else if (type[0])
		c->say(c, " after %s", type);
	if (runner_crash_has(p, DAVY_EV_VRAM))
		c->say(c, "; its quota of VRAM refused an allocation");
	else if (runner_crash_has(p, DAVY_EV_ALLOC_FAILED))
		c->say(c, "; the driver refused an allocation");
	else if (!sig && runner_crash_has(p, DAVY_EV_LOG))
		c->say(c, " after a fault on the GPU (Xid)");
	if (p->threshold)
		c->say(c, " (%" PRIu64 " such runners recently)", p->threshold);
}

const struct davy_hazard_row davy_hazard_runner_crash = {
	.sees = DAVY_SEES(DAVY_EV_PROCESS_EXIT) | DAVY_SEES(DAVY_EV_FINDING),
	.look = runner_crash_look,
	.reason = runner_crash_reason,
	.precursor.seen_in_events = true,
	.precursor.leads = DAVY_CAN_RUNNER_CRASH_INIT,
	.precursor.forms = 1 << DAVY_FORM_REPEATED,
	.precursor.horizon = DAVY_CFG_FORESIGHT_HORIZON_MS,
	.of_failed_engine = true,
};
