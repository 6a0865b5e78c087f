/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Requests of clients: supervisors (davylamp exec) register workloads, report, and receive orders;
 * operators ask for the status and for the release of a module. Every message is untrusted.
 */
#include "agent/control/control.h"

#include <errno.h>
#include <string.h>

#include "agent/agent.h"
#include "act/caps.h"
#include "act/cgroup.h"
#include "act/watch.h"
#include "engines/environment.h"
#include "lib/log.h"
#include "lib/message.h"
#include "agent/act/acting.h"
#include "agent/act/units.h"
#include "agent/policy/agent_policy.h"
#include "agent/sense/tracker.h"

#define ANCESTORS_MAX 8 /* sudo, timeout, a script in a script */

static uint8_t can(const struct davy_link *link)
{
	unsigned int can = DAVY_CAN_FREEZE;

	if (link->variables)
		can |= davy_engine_service_can(link->engine, DAVY_ROLE_UNKNOWN) &
		       ~(unsigned int)DAVY_CAN_UNLOAD;
	else
		can |= davy_engine_can(link->engine);
	if (!link->keeps)
		can &= ~(unsigned int)DAVY_CAN_KEEP;
	can |= davy_caps_possible(link->cgroup);
	if (link->cgroup[0] && davy_agent_vram_possible(link->agent))
		can |= DAVY_CAN_CAP;
	return (uint8_t)can;
}

static void control_feed_workload(struct davy_link *link, enum davy_workload_op op)
{
	struct davy_event ev = davy_agent_event(DAVY_EV_WORKLOAD, link->pid);

	ev.workload.workload = link->workload;
	ev.workload.op = (uint8_t)op;
	ev.workload.adopted = 1; /* starting an engine under davylamp exec adopts it */
	ev.workload.movable = link->variables ? link->movable : davy_engine_movable(link->engine);
	ev.workload.can = can(link);
	ev.workload.engine = (uint8_t)link->engine;
	ev.workload.backend = (uint8_t)link->backend;
	ev.workload.port = link->port;
	davy_copy_name(ev.workload.model, sizeof(ev.workload.model), link->model);
	davy_agent_feed(link->agent, &ev);
}

static void control_refuse(struct davy_link *link, const char *why)
{
	davy_message_send(link->fd, json_pack("{s:s, s:s}", "op", "error", "why", why));
}

/* A client may only report about its own child, and about descendants: a script's engine. */
static bool may_speak_for(const struct davy_link *link, uint32_t pid)
{
	for (int i = 0; pid > 1 && i < ANCESTORS_MAX; i++) {
		pid = davy_process_parent(pid);
		if (pid && pid == link->peer_pid)
			return true;
	}
	return false;
}

static uint32_t pid_in(const json_t *message)
{
	json_int_t pid = davy_message_number(message, "pid", 0);

	return pid > 0 && pid < INT32_MAX ? (uint32_t)pid : 0;
}

static void control_take_engine(struct davy_link *link, const json_t *message)
{
	int backend = davy_backend_from_name(davy_message_text(message, "backend"));
	json_int_t port = davy_message_number(message, "port", 0);
	json_int_t role = davy_message_number(message, "role", 0);
	json_int_t engine = davy_message_number(message, "engine", 0);

	link->backend = backend < 0 ? DAVY_BACKEND_UNKNOWN : (enum davy_backend)backend;
	link->port = port > 0 && port <= UINT16_MAX ? (uint16_t)port : 0;
	link->engine = engine > 0 && engine < DAVY_ENGINE_COUNT ? (enum davy_engine)engine
								: DAVY_ENGINE_GENERIC;
	link->role = role > 0 && role < DAVY_ROLE_COUNT ? (enum davy_role)role : DAVY_ROLE_UNKNOWN;
	link->keeps = json_is_true(json_object_get(message, "keeps"));
	link->variables = json_is_true(json_object_get(message, "variables"));
	link->movable = json_is_true(json_object_get(message, "movable")) &&
			davy_engine_service_movable(link->engine);
	davy_copy_name(link->model, sizeof(link->model), davy_message_text(message, "model"));
	davy_api_key_take(link->api_key, davy_message_text(message, "api_key"));
}

/* Accepts only a group that the supervisor made for its own engine. */
static void take_cgroup(struct davy_link *link, const json_t *message)
{
	const char *group = davy_message_text(message, "cgroup"), *name = strrchr(group, '/');
	char own[DAVY_CGROUP_LEN];

	davy_process_cgroup(link->pid, own);
	if (name && !strncmp(name + 1, DAVY_CGROUP_EXEC, strlen(DAVY_CGROUP_EXEC)) &&
	    strlen(group) < DAVY_CGROUP_LEN && davy_cgroup_holds(group, own))
		davy_copy_name(link->cgroup, sizeof(link->cgroup), group);
}

static void on_register(struct davy_link *link, const json_t *message)
{
	struct davy_agent *a = link->agent;
	uint32_t pid = pid_in(message);
	uint64_t start_ticks;

	if (link->workload) {
		control_refuse(link, "this connection already has a workload");
		return;
	}
	start_ticks = davy_process_start(pid);
	if (!start_ticks || !may_speak_for(link, pid)) {
		control_refuse(link, "the process is not your child");
		return;
	}
	link->workload = ++a->workload_count;
	link->pid = pid;
	link->start_ticks = start_ticks;
	take_cgroup(link, message);
	if (davy_message_number(message, "vram_max", 0) > 0)
		link->vram_max = (uint64_t)davy_message_number(message, "vram_max", 0);
	control_take_engine(link, message);
	control_feed_workload(link, DAVY_WORKLOAD_REGISTERED);
	davy_restored_by_supervisor(link, message);
	davy_tracker_exec(a, pid);
	davy_agent_vram_tick(a, davy_boot_ns()); /* the engine waits for the answer */
	davy_message_send(
		link->fd,
		json_pack("{s:s, s:I, s:s}", "op", "registered", "workload",
			  (json_int_t)link->workload, "mode",
			  davy_mode_name((enum davy_mode)a->core.config.value[DAVY_CFG_MODE])));
}

static void feed_stage(struct davy_link *link, enum davy_act_stage stage, int result)
{
	struct davy_event ev = davy_agent_event(DAVY_EV_ACT, link->pid);

	ev.act.plan = link->act_plan;
	ev.act.workload = link->workload;
	ev.act.stage = (uint8_t)stage;
	ev.act.result = result;
	davy_agent_feed(link->agent, &ev);
}

static void on_started(struct davy_link *link, const json_t *message)
{
	struct davy_agent *a = link->agent;
	json_int_t token_ms = davy_message_number(message, "token_ms", 0);
	uint32_t pid = pid_in(message);
	uint64_t start_ticks;

	if (!link->act_plan || link->verifying) {
		control_refuse(link, "no action was ordered");
		return;
	}
	start_ticks = davy_process_start(pid);
	if (!start_ticks || !may_speak_for(link, pid)) {
		control_refuse(link, "the process is not your child, or has exited");
		feed_stage(link, DAVY_ACT_FAILED, -ESRCH);
		return;
	}
	link->pid = pid;
	link->awaits = false;
	link->start_ticks = start_ticks;
	control_take_engine(link, message);
	control_feed_workload(link, DAVY_WORKLOAD_STARTED);
	davy_tracker_exec(a, pid);
	feed_stage(link, DAVY_ACT_STARTED, 0);
	davy_agent_started(link, json_is_true(json_object_get(message, "verified")),
			   token_ms > 0 && token_ms < INT32_MAX ? (uint32_t)token_ms : 0);
}

/* The command was a script: now its engine runs. */
static void on_became(struct davy_link *link, const json_t *message)
{
	uint32_t pid = pid_in(message);
	uint64_t start_ticks = davy_process_start(pid);

	if (!start_ticks || !may_speak_for(link, pid)) {
		control_refuse(link, "the process is not your child, or has exited");
		return;
	}
	link->pid = pid;
	link->start_ticks = start_ticks;
	control_take_engine(link, message);
	control_feed_workload(link, DAVY_WORKLOAD_STARTED);
	davy_tracker_exec(link->agent, pid);
}

static void on_confirmed(struct davy_link *link, const json_t *message)
{
	json_int_t error = davy_message_number(message, "error", EIO);

	davy_agent_confirmed(link, error >= 0 && error < 4096 ? (int)-error : -EIO);
}

/* An order follows, perhaps after a back-off that is longer than the supervisor's patience. */
static void control_announce_order(struct davy_link *link)
{
	if (davy_core_workload_busy(&link->agent->core, link->workload))
		davy_message_send(link->fd, json_pack("{s:s}", "op", "hold"));
}

static void on_failed(struct davy_link *link, const json_t *message)
{
	json_int_t error = davy_message_number(message, "error", EIO);

	link->awaits = true;
	feed_stage(link, DAVY_ACT_FAILED, error > 0 && error < 4096 ? (int)-error : -EIO);
	control_announce_order(link);
}

static void on_exited(struct davy_link *link, const json_t *message)
{
	struct davy_agent *a = link->agent;
	struct davy_event ev = davy_agent_event(DAVY_EV_PROCESS_EXIT, link->pid);

	ev.process_exit.status = (int32_t)davy_message_number(message, "status", 0);
	ev.process_exit.start_ticks = link->start_ticks;
	if (a->bpf)
		davy_bpf_read(a->bpf); /* feeds earlier events first, above all a C++ exception */
	davy_agent_feed(a, &ev);
	link->awaits = true;
	control_announce_order(link);
	davy_control_tick(a);
}

/* Releases a supervisor whose engine has exited, unless an act is pending. */
void davy_control_tick(struct davy_agent *a)
{
	for (size_t i = 0; i < DAVY_LINKS_MAX; i++) {
		struct davy_link *link = &a->links[i];

		if (!link->source || !link->awaits ||
		    davy_core_workload_busy(&a->core, link->workload))
			continue;
		link->awaits = false;
		davy_message_send(link->fd, json_pack("{s:s}", "op", "let_go"));
	}
}

static void on_release(struct davy_link *link, const json_t *message)
{
	struct davy_agent *a = link->agent;
	const char *module = davy_message_text(message, "module");
	int count = a->bpf ? davy_bpf_release(a->bpf, module, davy_boot_ns()) : 0;

	count += davy_agent_kfd_release(a, module);
	davy_message_send(link->fd, json_pack("{s:s, s:i}", "op", "released", "sensors", count));
}

static void on_release_all(struct davy_link *link, const json_t *message)
{
	(void)message;
	davy_message_send(link->fd, davy_agent_release_all(link->agent));
}

static void on_probe(struct davy_link *link, const json_t *message)
{
	const char *why = davy_agent_probe(link, message);

	if (why)
		control_refuse(link, why);
}

static void control_on_order(struct davy_link *link, const json_t *message)
{
	const char *why = davy_agent_order(link, message);

	if (why)
		control_refuse(link, why);
}

static void on_reload(struct davy_link *link, const json_t *message)
{
	char error[DAVY_CONFIG_ERROR_LEN] = "";
	int err = davy_policy_reload(link->agent, error);

	(void)message;
	davy_message_send(link->fd,
			  json_pack("{s:s, s:b, s:s}", "op", "reloaded", "ok", !err, "why", error));
}

static void on_adopt(struct davy_link *link, const json_t *message)
{
	const char *why = davy_unit_adopt(link, message);

	if (why)
		control_refuse(link, why);
}

static void on_release_unit(struct davy_link *link, const json_t *message)
{
	const char *why = davy_unit_release(link, message);

	if (why)
		control_refuse(link, why);
}

static void on_layer(struct davy_link *link, const json_t *message)
{
	const char *why = davy_agent_layer_change(link, message);

	if (why)
		control_refuse(link, why);
}

static void on_policy_of(struct davy_link *link, const json_t *message)
{
	const char *why = davy_agent_policy_of(link, message);

	if (why)
		control_refuse(link, why);
}

static void control_on_finding(struct davy_link *link, const json_t *message)
{
	struct davy_agent *a = link->agent;
	const char *unit = davy_message_text(message, "unit");
	bool adopted = unit[0] && a->units && davy_adopted_find(&a->units->adopted, unit);
	const char *why = davy_agent_finding(a, message, adopted);

	if (why)
		control_refuse(link, why);
	else
		davy_message_send(link->fd, json_pack("{s:s}", "op", "noted"));
}

static const struct {
	const char *op;
	bool root_only;
	bool needs_workload;
	void (*handle)(struct davy_link *link, const json_t *message);
} operations[] = {
	{ "register", true, false, on_register },
	{ "started", false, true, on_started },
	{ "became", false, true, on_became },
	{ "confirmed", false, true, on_confirmed },
	{ "failed", false, true, on_failed },
	{ "exited", false, true, on_exited },
	{ "release", true, false, on_release },
	{ "probe", true, false, on_probe },
	{ "reload", true, false, on_reload },
	{ "order", true, false, control_on_order },
	{ "adopt", true, false, on_adopt },
	{ "release_unit", true, false, on_release_unit },
	{ "release_all", true, false, on_release_all },
	{ "policy_of", true, false, on_policy_of },
	{ "finding", true, false, control_on_finding },
	{ "policy_rollback", true, false, on_layer },
	{ "policy_import", true, false, on_layer },
	{ "policy_forget", true, false, on_layer },
};

static uint64_t control_number(const json_t *message, const char *key)
{
	json_int_t number = davy_message_number(message, key, 0);

	return number > 0 ? (uint64_t)number : 0;
}

/*
 * Any user may read the decisions, as in the status. Events are for root: they contain lines of the
 * kernel log, which kernel.dmesg_restrict may hide from users.
 */
static void control_send_recent(struct davy_link *link, const json_t *message)
{
	const struct davy_agent *a = link->agent;
	uint64_t plan = control_number(message, "decision");
	uint64_t event = control_number(message, "event");
	json_t *plans = davy_recent_plans(&a->recent, &plan);
	json_t *events = link->uid ? json_array() : davy_recent_events(&a->recent, &event);

	davy_message_send(link->fd,
			  json_pack("{s:s, s:I, s:o, s:o, s:I, s:I}", "op", "recent", "started_ns",
				    (json_int_t)a->started_ns, "decisions", plans, "events", events,
				    "decision", (json_int_t)plan, "event", (json_int_t)event));
}

static void control_dispatch(struct davy_link *link, const json_t *message)
{
	const char *op = davy_message_text(message, "op");

	if (!strcmp(op, "status")) {
		davy_message_send(link->fd, davy_view_fit(davy_agent_status(link->agent)));
		return;
	}
	if (!strcmp(op, "sensors")) {
		davy_message_send(link->fd, davy_agent_sensors(link->agent));
		return;
	}
	if (!strcmp(op, "recent")) {
		control_send_recent(link, message);
		return;
	}
	if (!strcmp(op, "administrator_rules")) {
		davy_message_send(link->fd, davy_policy_administrator_rules(link->agent));
		return;
	}
	if (!strcmp(op, "adopted")) {
		davy_message_send(link->fd, json_pack("{s:s, s:o}", "op", "adopted", "units",
						      davy_units_list(link->agent)));
		return;
	}
	if (!strcmp(op, "stopped") && link->workload) {
		davy_agent_stopped(link);
		return;
	}
	for (size_t i = 0; i < sizeof(operations) / sizeof(operations[0]); i++) {
		if (strcmp(op, operations[i].op) != 0)
			continue;
		if (operations[i].root_only && link->uid)
			control_refuse(link, "only root may request this");
		else if (operations[i].needs_workload && !link->workload)
			control_refuse(link, "register a workload first");
		else
			operations[i].handle(link, message);
		return;
	}
	control_refuse(link, "unknown operation");
}

/* The supervisor has exited, or the agent has closed its connection. */
void davy_control_gone(struct davy_link *link)
{
	if (!link->workload)
		return;
	davy_agent_freeze_drop(link->agent, link->workload);
	davy_agent_caps_drop(link->agent, link->workload);
	control_feed_workload(link, DAVY_WORKLOAD_GONE);
	davy_groups_orphaned(link->agent, link);
}

int davy_control_take(struct davy_link *link)
{
	json_t *message = NULL;
	int err = davy_message_receive(link->fd, &message);

	if (!err)
		control_dispatch(link, message);
	else if (err == -EBADMSG)
		control_refuse(link,
			       "invalid message: expected one JSON object with an 'op' per packet");
	json_decref(message);
	return err;
}
