/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Actions on an adopted unit: read its state, write its environment, let systemd restart it, find
 * the new process, verify its environment, and request a token. On a failure, the previous
 * environment is restored and the unit restarted. A unit that an operator has stopped is not
 * started.
 */
#include "agent/agent.h"

#include <errno.h>
#include <string.h>

#include "act/check.h"
#include "act/container_unit.h"
#include "lib/clock.h"
#include "lib/log.h"
#include "report/plan_text.h"
#include "agent/act/units.h"

#define READS		  50	/* one a tick, while the process is in an exec */
#define VERIFY_TIMEOUT_MS 60000 /* the first token may follow a cold load */
#define VERIFY_ROUND_MS	  5000	/* then check the process and its state again */

static void act_unit_end(struct davy_service *u, enum davy_act_stage stage, int result)
{
	uint32_t plan = u->act.plan;

	memset(&u->act, 0, sizeof(u->act));
	davy_agent_acted(u->agent, plan, u->workload, stage, 0, result);
	davy_unit_look(u);
}

static uint32_t patience_ms(const struct davy_service *u)
{
	return (uint32_t)u->agent->core.config.value[DAVY_CFG_ACT_TIMEOUT_MS];
}

static void on_gone_back(void *arg, const struct davy_unit_answer *said)
{
	struct davy_service *u = arg;

	if (said->error)
		davy_log("%s: the previous environment is restored, but: %s", u->name, said->why);
	act_unit_end(u, DAVY_ACT_FAILED, u->act.result);
}

/* Restores the previous environment, and restarts the unit if "restart" is set. */
static void act_unit_go_back(struct davy_service *u, int result, bool restart)
{
	struct davy_adopted_unit *of = davy_unit_adopted(u);
	struct davy_environment e;
	uint32_t version;
	int err = 0;

	u->act.result = result;
	if (!u->act.written || !of) {
		act_unit_end(u, DAVY_ACT_FAILED, result);
		return;
	}
	version = of->version;
	*of = u->act.before;
	of->version = version;
	if (!davy_unit_environment(u, of, &e))
		err = davy_unit_files_write(u->agent, of, &e);
	davy_units_save(u->agent);
	if (!err && restart)
		err = davy_unit_job(u->agent->units->systemd,
				    davy_container_unit(u->name) ? "ApplyUnit" : "RestartUnit",
				    u->name, patience_ms(u), on_gone_back, u);
	if (err || !restart)
		act_unit_end(u, DAVY_ACT_FAILED, result);
}

static void verify(struct davy_service *u);
static void ended_at_once(struct davy_service *u, const struct davy_unit_state *state);

static bool is_gone(const struct davy_service *u)
{
	return !u->pid || davy_process_start(u->pid) != u->start_ticks;
}

/* Settings that led to a crash are not kept, even if something has restarted the unit since. */
static void on_gone(void *arg, const struct davy_unit_answer *said)
{
	struct davy_service *u = arg;

	if (!said->error && davy_unit_stopped_by_hand(said->state))
		ended_at_once(u, said->state);
	else
		act_unit_go_back(u, -EIO, true);
}

/* The process exited during the check: ask systemd whether the stop was intended. */
static void ask_who_wanted_it(struct davy_service *u)
{
	int err = davy_unit_ask(u->agent->units->systemd, u->name, on_gone, u);

	if (err)
		act_unit_go_back(u, err, true);
}

static void act_unit_on_checked(void *arg, const struct davy_check_result *result)
{
	struct davy_service *u = arg;
	bool serving = davy_check_serving(result) &&
		       (result->completion_status != DAVY_PROBE_ALIVE || !is_gone(u));

	if (result->error)
		davy_log("%s: davylamp-probe: %s; this counts as no reply", u->name, result->why);
	if (serving) {
		davy_unit_prove(u);
		act_unit_end(u, DAVY_ACT_SERVING, 0);
	} else if (is_gone(u)) {
		ask_who_wanted_it(u);
	} else if (!result->error && result->health_status != 200 &&
		   davy_now_ms() < u->act.verify_end_ms) {
		verify(u);
	} else {
		act_unit_go_back(u, -EIO, true);
	}
}

static void verify(struct davy_service *u)
{
	struct davy_check_request request;
	char key[DAVY_API_KEY_LEN];
	uint64_t now_ms = davy_now_ms(), left_ms;
	int err = -EDESTADDRREQ;

	if (!u->act.verify_end_ms)
		u->act.verify_end_ms = now_ms + patience_ms(u);
	left_ms = u->act.verify_end_ms > now_ms ? u->act.verify_end_ms - now_ms : 0;
	davy_unit_look_again(u);
	request = (struct davy_check_request){ .host = davy_unit_host(u),
					       .port = u->port,
					       .api = davy_engine_api(u->engine, u->role),
					       .model = u->model,
					       .api_key = davy_unit_api_key(u, key),
					       .wait_ms = left_ms < VERIFY_ROUND_MS
								  ? (uint32_t)left_ms
								  : VERIFY_ROUND_MS,
					       .timeout_ms = VERIFY_TIMEOUT_MS,
					       .alive_ms = DAVY_CHECK_ALIVE_MS,
					       .done = act_unit_on_checked,
					       .arg = u };
	if (u->port)
		err = davy_check_start(u->agent->loop, u->agent->probe_path, &request);
	if (err)
		act_unit_go_back(u, err, true);
}

static void ended_at_once(struct davy_service *u, const struct davy_unit_state *state)
{
	bool by_hand = state && davy_unit_stopped_by_hand(state);

	davy_log("%s: %s", u->name,
		 by_hand ? "was stopped by an operator meanwhile; it is not started again"
			 : "its process exited immediately");
	act_unit_go_back(u, by_hand ? -ECANCELED : -ECHILD, !by_hand);
}

static void on_seen(void *arg, const struct davy_unit_answer *said)
{
	struct davy_service *u = arg;

	if (said->error) {
		act_unit_go_back(u, said->error, true);
		return;
	}
	davy_unit_take(u, said->state);
	u->act.awaits = u->pid != 0;
	if (u->pid)
		davy_unit_act_tick(u);
	else
		ended_at_once(u, said->state);
}

static void act_unit_see(struct davy_service *u);

void davy_unit_act_tick(struct davy_service *u)
{
	int has;

	if (u->pid && !u->met)
		return;
	u->act.awaits = false;
	if (!u->pid) { /* ask systemd whether the stop was intended */
		act_unit_see(u);
		return;
	}
	has = davy_unit_applied(u, &u->act.applied, true);
	if ((has == -EINPROGRESS || (has == -EAGAIN && u->act.read_count++ < READS)) &&
	    davy_process_start(u->pid) == u->start_ticks) {
		u->act.awaits = true; /* look again with the next tick */
		return;
	}
	davy_agent_acted(u->agent, u->act.plan, u->workload, DAVY_ACT_STARTED, u->pid, 0);
	if (has > 0)
		verify(u);
	else
		act_unit_go_back(u, -EPERM, true);
}

static void act_unit_see(struct davy_service *u)
{
	int err = davy_unit_ask(u->agent->units->systemd, u->name, on_seen, u);

	if (err)
		act_unit_go_back(u, err, true);
}

static void act_unit_on_job(void *arg, const struct davy_unit_answer *said)
{
	struct davy_service *u = arg;

	if (said->error)
		davy_log("%s: %s", u->name, said->why);
	if (said->error == -ECANCELED) { /* another job has replaced it */
		act_unit_go_back(u, said->error, false);
		return;
	}
	if (said->error) { /* an interrupted change of a container may be completed later */
		act_unit_go_back(u, said->error,
				 said->error != -ETIMEDOUT || davy_container_unit(u->name));
		return;
	}
	if (!u->act.stopped_reported)
		davy_agent_acted(u->agent, u->act.plan, u->workload, DAVY_ACT_STOPPED, 0, 0);
	u->act.stopped_reported = true;
	act_unit_see(u);
}

static void on_stopped(void *arg, const struct davy_unit_answer *said)
{
	struct davy_service *u = arg;
	struct davy_adopted_unit *of = davy_unit_adopted(u);

	if (said->error) {
		davy_log("%s: %s", u->name, said->why);
		act_unit_end(u, DAVY_ACT_FAILED, said->error);
		return;
	}
	if (of)
		of->stopped = true;
	davy_units_save(u->agent);
	davy_agent_acted(u->agent, u->act.plan, u->workload, DAVY_ACT_STOPPED, 0, 0);
	act_unit_end(u, DAVY_ACT_SERVING, 0);
}

static void job(struct davy_service *u, const char *method, davy_unit_done done)
{
	int err = davy_unit_job(u->agent->units->systemd, method, u->name, patience_ms(u), done, u);

	if (err)
		act_unit_go_back(u, err, false);
}

static void take_settings(struct davy_start_settings *to, const struct davy_start_settings *from)
{
	for (uint32_t i = 0; i < DAVY_TUNER_SETTINGS; i++)
		if (davy_start_setting_get(from, i))
			davy_start_setting_set(to, i, davy_start_setting_get(from, i));
}

static void move(const struct davy_service *u, struct davy_adopted_unit *of, enum davy_backend to)
{
	of->backend = to;
	of->moved_for = (enum davy_hazard)u->act.hazard;
	of->moved_from = u->backend;
	davy_copy_name(of->moved_off, sizeof(of->moved_off), u->act.device);
}

/* Sets in "of" what the action changes. */
static void act_unit_want(const struct davy_service *u, struct davy_adopted_unit *of)
{
	const struct davy_unit_act *act = &u->act;

	if (act->tuned)
		of->settings = act->settings;
	switch (act->action) {
	case DAVY_ACTION_MIGRATE_CPU:
		of->before_cpu = of->backend;
		move(u, of, DAVY_BACKEND_CPU);
		break;
	case DAVY_ACTION_SWITCH:
		move(u, of, act->to_backend);
		break;
	case DAVY_ACTION_SHRINK:
		if (!act->tuned)
			take_settings(&of->settings, &act->settings);
		of->shrunk_for = (enum davy_hazard)act->hazard;
		break;
	case DAVY_ACTION_UNDO:
		if (act->undone == DAVY_ACTION_SHRINK)
			of->settings = act->settings;
		else
			of->backend = act->undone == DAVY_ACTION_MIGRATE_CPU ? of->before_cpu
									     : DAVY_BACKEND_UNKNOWN;
		break;
	default:
		break;
	}
}

/* 0: written or unchanged. -errno: not written; the reason was logged or is in "applied.why". */
static int write_override(struct davy_service *u, struct davy_adopted_unit *of)
{
	struct davy_adopted_unit wanted = *of;
	int err;

	u->act.before = *of;
	act_unit_want(u, &wanted);
	if (wanted.backend == of->backend &&
	    !memcmp(&wanted.settings, &of->settings, sizeof(wanted.settings)))
		return 0;
	err = davy_unit_environment(u, &wanted, &u->act.applied);
	if (err == -EOPNOTSUPP)
		davy_log("%s: %s", u->name, u->act.applied.why);
	if (!err)
		err = davy_unit_files_check(u->agent, of);
	if (err)
		return err;
	/* Save the list first: after a crash, the next start finds what to undo. */
	wanted.was_backend = of->backend;
	wanted.was_settings = of->settings;
	*of = wanted;
	of->unproven = u->act.written = true;
	err = davy_units_save(u->agent);
	return err ? err : davy_unit_files_write(u->agent, of, &u->act.applied);
}

static bool undoes_stop(const struct davy_unit_act *act)
{
	return act->action == DAVY_ACTION_UNDO && davy_action_has(act->undone, DAVY_ACTS_ENDS);
}

/* systemd has already restarted it by its own rule: no restart is needed. */
static bool runs_anew(const struct davy_service *u, const struct davy_unit_state *s)
{
	return u->act.action == DAVY_ACTION_RESTART && !strcmp(s->active, "active") &&
	       s->main_pid && s->main_pid != u->pid;
}

static void act_unit_on_looked(void *arg, const struct davy_unit_answer *said)
{
	struct davy_service *u = arg;
	struct davy_adopted_unit *of = davy_unit_adopted(u);
	const struct davy_unit_state *s = said->state;
	int err;

	if (said->error || !of) {
		davy_log("%s: %s", u->name, said->error ? said->why : "is no longer adopted");
		act_unit_end(u, DAVY_ACT_FAILED, said->error ? said->error : -ENOENT);
		return;
	}
	if (davy_action_has(u->act.action, DAVY_ACTS_ENDS)) {
		job(u, "StopUnit", on_stopped);
		return;
	}
	if (undoes_stop(&u->act) ? !of->stopped : davy_unit_stopped_by_hand(s)) {
		davy_log("%s: was stopped by an operator; it is not started", u->name);
		act_unit_end(u, DAVY_ACT_FAILED, -ECANCELED);
		return;
	}
	of->stopped = false;
	err = write_override(u, of);
	if (err)
		act_unit_go_back(u, err, false);
	else if (runs_anew(u, s))
		act_unit_see(u);
	else
		job(u, undoes_stop(&u->act) ? "StartUnit" : "RestartUnit", act_unit_on_job);
}

bool davy_unit_act(struct davy_service *u, const struct davy_plan *plan)
{
	int err = u->act.plan || u->releasing ? -EBUSY : 0;

	if (!err) {
		u->act =
			(struct davy_unit_act){ .plan = plan->id,
						.action = plan->action,
						.undone = plan->undone,
						.hazard = plan->hazard,
						.settings = plan->settings,
						.tuned = plan->tuning.why !=
							 DAVY_TUNER_AS_CONFIGURED,
						.to_backend = (enum davy_backend)plan->to_backend };
		memcpy(u->act.device, plan->device, sizeof(u->act.device));
		err = davy_unit_ask(u->agent->units->systemd, u->name, act_unit_on_looked, u);
		if (err)
			davy_log("%s: systemd: %s", u->name, strerror(-err));
	}
	if (!err)
		return true;
	if (err != -EBUSY)
		memset(&u->act, 0, sizeof(u->act));
	davy_agent_acted(u->agent, plan->id, u->workload, DAVY_ACT_FAILED, 0, err);
	return true;
}
