/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What clients ask: supervisors (davylamp exec) register workloads, report and receive orders;
 * operators ask for the status and for the release of a module. Every message is outside input.
 */
#include "agent/agent.h"

#include <errno.h>
#include <string.h>

#include "act/caps.h"
#include "act/cgroup.h"
#include "act/watch.h"
#include "engines/engine.h"
#include "lib/log.h"
#include "lib/message.h"

struct dl_link *dl_link_of_workload(struct dl_agent *a, uint32_t workload)
{
	for (size_t i = 0; workload && i < DL_LINKS_MAX; i++)
		if (a->links[i].source && a->links[i].workload == workload)
			return &a->links[i];
	return NULL;
}

static uint8_t can(const struct dl_link *link)
{
	unsigned int can = DL_CAN_HOLD | dl_engine_can(link->engine);

	if (!link->keeps)
		can &= ~(unsigned int)DL_CAN_KEEP;
	can |= dl_caps_possible(link->cgroup);
	return (uint8_t)can;
}

static void feed_workload(struct dl_link *link, enum dl_workload_op op)
{
	struct dl_event ev = dl_agent_event(DL_EV_WORKLOAD, link->pid);

	ev.workload.workload = link->workload;
	ev.workload.op = (uint8_t)op;
	ev.workload.adopted = 1; /* whoever starts an engine under davylamp exec consents */
	ev.workload.movable = dl_engine_movable(link->engine);
	ev.workload.can = can(link);
	ev.workload.engine = (uint8_t)link->engine;
	ev.workload.backend = (uint8_t)link->backend;
	ev.workload.port = link->port;
	dl_copy_name(ev.workload.model, sizeof(ev.workload.model), link->model);
	dl_agent_feed(link->agent, &ev);
}

static void refuse(struct dl_link *link, const char *why)
{
	dl_message_send(link->fd, json_pack("{s:s, s:s}", "op", "error", "why", why));
}

/* Nobody speaks for a process that is not his own child. */
static bool may_speak_for(const struct dl_link *link, uint32_t pid)
{
	return pid && dl_process_parent(pid) == link->peer_pid;
}

static uint32_t pid_in(const json_t *message)
{
	json_int_t pid = dl_message_number(message, "pid", 0);

	return pid > 0 && pid < INT32_MAX ? (uint32_t)pid : 0;
}

static void take_engine(struct dl_link *link, const json_t *message)
{
	int backend = dl_backend_from_name(dl_message_text(message, "backend"));
	json_int_t port = dl_message_number(message, "port", 0);
	json_int_t engine = dl_message_number(message, "engine", 0);

	link->backend = backend < 0 ? DL_BACKEND_UNKNOWN : (enum dl_backend)backend;
	link->port = port > 0 && port <= UINT16_MAX ? (uint16_t)port : 0;
	link->engine =
		engine > 0 && engine < DL_ENGINE_COUNT ? (enum dl_engine)engine : DL_ENGINE_GENERIC;
	link->keeps = json_is_true(json_object_get(message, "keeps"));
	dl_copy_name(link->model, sizeof(link->model), dl_message_text(message, "model"));
}

/* The group that its supervisor made, for this engine and those that follow it; nobody else's. */
static void take_cgroup(struct dl_link *link, const json_t *message)
{
	const char *group = dl_message_text(message, "cgroup"), *name = strrchr(group, '/');
	char own[DL_CGROUP_LEN];

	dl_process_cgroup(link->pid, own);
	if (name && !strncmp(name + 1, DL_CGROUP_EXEC, strlen(DL_CGROUP_EXEC)) &&
	    strlen(group) < DL_CGROUP_LEN && dl_cgroup_holds(group, own))
		dl_copy_name(link->cgroup, sizeof(link->cgroup), group);
}

static void on_register(struct dl_link *link, const json_t *message)
{
	struct dl_agent *a = link->agent;
	uint32_t pid = pid_in(message);
	uint64_t start_ticks;

	if (link->workload) {
		refuse(link, "this connection has a workload already");
		return;
	}
	start_ticks = dl_process_start(pid);
	if (!start_ticks || !may_speak_for(link, pid)) {
		refuse(link, "the process is not a child of yours");
		return;
	}
	link->workload = ++a->workload_count;
	link->pid = pid;
	link->start_ticks = start_ticks;
	take_cgroup(link, message);
	take_engine(link, message);
	feed_workload(link, DL_WORKLOAD_REGISTERED);
	dl_left_by_supervisor(link, message);
	dl_tracker_exec(a, pid);
	dl_message_send(link->fd,
			json_pack("{s:s, s:I, s:s}", "op", "registered", "workload",
				  (json_int_t)link->workload, "mode",
				  dl_mode_name((enum dl_mode)a->core.config.value[DL_CFG_MODE])));
}

static void feed_stage(struct dl_link *link, enum dl_act_stage stage, int result)
{
	struct dl_event ev = dl_agent_event(DL_EV_ACT, link->pid);

	ev.act.plan = link->act_plan;
	ev.act.workload = link->workload;
	ev.act.stage = (uint8_t)stage;
	ev.act.result = result;
	dl_agent_feed(link->agent, &ev);
}

static void on_started(struct dl_link *link, const json_t *message)
{
	struct dl_agent *a = link->agent;
	json_int_t token_ms = dl_message_number(message, "token_ms", 0);
	uint32_t pid = pid_in(message);
	uint64_t start_ticks;

	if (!link->act_plan || link->verifying) {
		refuse(link, "nothing was ordered");
		return;
	}
	start_ticks = dl_process_start(pid);
	if (!start_ticks || !may_speak_for(link, pid)) {
		refuse(link, "the process is not a child of yours, or is gone already");
		feed_stage(link, DL_ACT_FAILED, -ESRCH);
		return;
	}
	link->pid = pid;
	link->awaits = false;
	link->start_ticks = start_ticks;
	take_engine(link, message);
	feed_workload(link, DL_WORKLOAD_STARTED);
	dl_tracker_exec(a, pid);
	feed_stage(link, DL_ACT_STARTED, 0);
	dl_agent_started(link, json_is_true(json_object_get(message, "verified")),
			 token_ms > 0 && token_ms < INT32_MAX ? (uint32_t)token_ms : 0);
}

static void on_failed(struct dl_link *link, const json_t *message)
{
	json_int_t error = dl_message_number(message, "error", EIO);

	link->awaits = true;
	feed_stage(link, DL_ACT_FAILED, error > 0 && error < 4096 ? (int)-error : -EIO);
}

static void on_exited(struct dl_link *link, const json_t *message)
{
	struct dl_agent *a = link->agent;
	struct dl_event ev = dl_agent_event(DL_EV_PROCESS_EXIT, link->pid);

	ev.process_exit.status = (int32_t)dl_message_number(message, "status", 0);
	ev.process_exit.start_ticks = link->start_ticks;
	if (a->bpf)
		dl_bpf_read(a->bpf); /* what came before it, the exception above all, is fed before
					it */
	dl_agent_feed(a, &ev);
	link->awaits = true;
	if (dl_core_workload_busy(&a->core, link->workload))
		dl_message_send(link->fd, json_pack("{s:s}", "op", "hold"));
	dl_control_tick(a);
}

/* A supervisor whose engine is gone ends with it, unless something is still to come. */
void dl_control_tick(struct dl_agent *a)
{
	for (size_t i = 0; i < DL_LINKS_MAX; i++) {
		struct dl_link *link = &a->links[i];

		if (!link->source || !link->awaits ||
		    dl_core_workload_busy(&a->core, link->workload))
			continue;
		link->awaits = false;
		dl_message_send(link->fd, json_pack("{s:s}", "op", "let_go"));
	}
}

static void on_release(struct dl_link *link, const json_t *message)
{
	struct dl_agent *a = link->agent;
	const char *module = dl_message_text(message, "module");
	int count = a->bpf ? dl_bpf_release(a->bpf, module, dl_boot_ns()) : 0;

	count += dl_agent_kfd_release(a, module);
	dl_message_send(link->fd, json_pack("{s:s, s:i}", "op", "released", "sensors", count));
}

static void on_release_all(struct dl_link *link, const json_t *message)
{
	(void)message;
	dl_message_send(link->fd, dl_agent_release_all(link->agent));
}

static void on_probe(struct dl_link *link, const json_t *message)
{
	const char *why = dl_agent_probe(link, message);

	if (why)
		refuse(link, why);
}

static void on_order(struct dl_link *link, const json_t *message)
{
	const char *why = dl_agent_order(link, message);

	if (why)
		refuse(link, why);
}

static void on_reload(struct dl_link *link, const json_t *message)
{
	char error[DL_CONFIG_ERROR_LEN] = "";
	int err = dl_policy_reload(link->agent, error);

	(void)message;
	dl_message_send(link->fd,
			json_pack("{s:s, s:b, s:s}", "op", "reloaded", "ok", !err, "why", error));
}

static void on_adopt(struct dl_link *link, const json_t *message)
{
	const char *why = dl_unit_adopt(link, message);

	if (why)
		refuse(link, why);
}

static void on_release_unit(struct dl_link *link, const json_t *message)
{
	const char *why = dl_unit_release(link, message);

	if (why)
		refuse(link, why);
}

static void on_layer(struct dl_link *link, const json_t *message)
{
	const char *why = dl_agent_layer_change(link, message);

	if (why)
		refuse(link, why);
}

static void on_policy_of(struct dl_link *link, const json_t *message)
{
	const char *why = dl_agent_policy_of(link, message);

	if (why)
		refuse(link, why);
}

static void on_finding(struct dl_link *link, const json_t *message)
{
	const char *why = dl_agent_finding(link->agent, message);

	if (why)
		refuse(link, why);
	else
		dl_message_send(link->fd, json_pack("{s:s}", "op", "noted"));
}

static const struct {
	const char *op;
	bool root_only;
	bool needs_workload;
	void (*handle)(struct dl_link *link, const json_t *message);
} operations[] = {
	{ "register", true, false, on_register },
	{ "started", false, true, on_started },
	{ "failed", false, true, on_failed },
	{ "exited", false, true, on_exited },
	{ "release", true, false, on_release },
	{ "probe", true, false, on_probe },
	{ "reload", true, false, on_reload },
	{ "order", true, false, on_order },
	{ "adopt", true, false, on_adopt },
	{ "release_unit", true, false, on_release_unit },
	{ "release_all", true, false, on_release_all },
	{ "policy_of", true, false, on_policy_of },
	{ "finding", true, false, on_finding },
	{ "policy_rollback", true, false, on_layer },
	{ "policy_import", true, false, on_layer },
	{ "policy_forget", true, false, on_layer },
};

static void dispatch(struct dl_link *link, const json_t *message)
{
	const char *op = dl_message_text(message, "op");

	if (!strcmp(op, "status")) {
		dl_message_send(link->fd, dl_agent_status(link->agent));
		return;
	}
	if (!strcmp(op, "sensors")) {
		dl_message_send(link->fd, dl_agent_sensors(link->agent));
		return;
	}
	if (!strcmp(op, "people_rules")) {
		dl_message_send(link->fd, dl_policy_people_rules(link->agent));
		return;
	}
	if (!strcmp(op, "adopted")) {
		dl_message_send(link->fd, json_pack("{s:s, s:o}", "op", "adopted", "units",
						    dl_units_list(link->agent)));
		return;
	}
	if (!strcmp(op, "stopped") && link->workload) {
		dl_agent_stopped(link);
		return;
	}
	for (size_t i = 0; i < sizeof(operations) / sizeof(operations[0]); i++) {
		if (strcmp(op, operations[i].op) != 0)
			continue;
		if (operations[i].root_only && link->uid)
			refuse(link, "only root may ask for this");
		else if (operations[i].needs_workload && !link->workload)
			refuse(link, "register a workload first");
		else
			operations[i].handle(link, message);
		return;
	}
	refuse(link, "unknown operation");
}

/* The supervisor has ended, or lost its place. */
void dl_control_gone(struct dl_link *link)
{
	if (!link->workload)
		return;
	dl_agent_hold_drop(link->agent, link->workload);
	dl_agent_caps_drop(link->agent, link->workload);
	feed_workload(link, DL_WORKLOAD_GONE);
}

int dl_control_take(struct dl_link *link)
{
	json_t *message = NULL;
	int err = dl_message_receive(link->fd, &message);

	if (!err)
		dispatch(link, message);
	else if (err == -EBADMSG)
		refuse(link, "not understood: one JSON object with an 'op' per packet");
	json_decref(message);
	return err;
}
