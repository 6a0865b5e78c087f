/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Orders to stop the engine, or to restart it with other settings. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "lib/clock.h"
#include "lib/log.h"
#include "lib/message.h"
#include "sensors/gpu/cpu_only.h"
#include "sensors/proc/engine_parts.h"
#include "exec/supervisor.h"

/* Values out of range stay unset. */
static struct davy_start_settings supervise_replace_settings_of(const json_t *said)
{
	struct davy_start_settings k = { 0 }, next;

	for (uint32_t i = 0; i < DAVY_TUNER_SETTINGS; i++) {
		json_int_t value = davy_message_number(said, davy_start_setting_name(i), 0);

		next = k;
		if (value > 0 && davy_start_setting_set(&next, i, (uint64_t)value))
			k = next;
	}
	return k;
}

/*
 * Fields that the order lacks stay unchanged. "command" is the backend of the user's command,
 * "before" the one in use before the move to the CPU.
 */
static struct davy_engine_override override_of(const struct davy_supervisor *s, const json_t *order)
{
	struct davy_engine_override override = s->engine.override;
	const json_t *settings = json_object_get(order, "knobs");
	const char *name = davy_message_text(order, "backend");
	json_int_t layers = davy_message_number(settings, "layers", 0);
	int backend = davy_backend_from_name(name);

	if (!strcmp(name, "command"))
		override.backend = DAVY_BACKEND_UNKNOWN;
	else if (!strcmp(name, "before"))
		override.backend = s->before;
	else if (strcmp(name, "same") != 0 && backend > 0)
		override.backend = (enum davy_backend)backend;
	if (json_is_object(settings))
		override.settings = supervise_replace_settings_of(settings);
	if (!override.layers && layers > 0 && layers < UINT16_MAX)
		override.layers = (uint32_t)layers;
	return override;
}

static void take_why(struct davy_supervisor_why *why, const json_t *order)
{
	davy_copy_name(why->hazard, sizeof(why->hazard), davy_message_text(order, "hazard"));
	davy_copy_name(why->backend, sizeof(why->backend), davy_message_text(order, "from"));
	davy_copy_name(why->device, sizeof(why->device), davy_message_text(order, "device"));
}

/* Records the reason for each effect in force; clears that of an undone one. */
static void remember_why(struct davy_supervisor *s, const json_t *order,
			 const struct davy_engine_override *override)
{
	const struct davy_engine_override *is = &s->engine.override;

	if (memcmp(&override->settings, &is->settings, sizeof(is->settings)) != 0)
		take_why(&s->shrunk, order);
	if (override->backend != is->backend)
		take_why(&s->moved, order);
}

static json_t *supervise_replace_effects(const char *action, const struct davy_supervisor_why *why)
{
	return json_pack("{s:s, s:s, s:s, s:s}", "rung", action, "hazard", why->hazard, "backend",
			 why->backend, "device", why->device);
}

json_t *davy_supervisor_effects(const struct davy_supervisor *s)
{
	const struct davy_engine_override *is = &s->engine.override;
	json_t *all = json_array(), *one;

	if (!davy_start_settings_none(&is->settings)) {
		one = supervise_replace_effects("shrink", &s->shrunk);
		for (uint32_t i = 0; i < DAVY_TUNER_SETTINGS; i++)
			json_object_set_new(one, davy_start_setting_name(i),
					    json_integer(davy_start_setting_get(&is->settings, i)));
		json_array_append_new(all, one);
	}
	/* If the command or the policy chose the CPU, the engine was not moved. */
	if (is->backend != DAVY_BACKEND_UNKNOWN && s->moved.hazard[0])
		json_array_append_new(all, supervise_replace_effects(is->backend == DAVY_BACKEND_CPU
									     ? "migrate_cpu"
									     : "switch",
								     &s->moved));
	return all;
}

/* Checks the order before anything is stopped for it. */
static int supervise_replace_may(const struct davy_supervisor *s, const json_t *order)
{
	json_int_t pid = davy_message_number(order, "pid", 0);

	if (s->ending)
		return -ECANCELED;
	if (s->handover.stage)
		return -EBUSY;
	if (s->engine.pid && pid && pid == s->previous_pid)
		return -ESTALE; /* about an engine that has ended */
	return 0;
}

/* Backends installed with the engine: one on the CPU has unloaded those without a driver. */
static bool supervise_replace_installed(const struct davy_supervisor *s, enum davy_backend backend)
{
	char link[64], program[PATH_MAX];
	uint32_t parts;
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/%d/exe", (int)davy_launched_engine(&s->engine));
	n = readlink(link, program, sizeof(program) - 1);
	if (n <= 0)
		return true;
	program[n] = 0;
	parts = davy_engine_parts(s->launch->facts.engine, program);
	return !parts || parts & 1u << backend;
}

/* An engine without the backend would end at once, after the old one was stopped. */
static int has_backend(const struct davy_supervisor *s, enum davy_backend backend)
{
	const char *library = davy_engine_library(s->launch->facts.engine, backend);

	if (backend == s->engine.override.backend || !library || !s->engine.pid)
		return 0;
	if (davy_maps_file(davy_launched_engine(&s->engine), library) ||
	    (s->engine.override.backend == DAVY_BACKEND_CPU &&
	     supervise_replace_installed(s, backend)))
		return 0;
	return -EOPNOTSUPP;
}

int davy_supervisor_restart(struct davy_supervisor *s, const struct davy_engine_override *override)
{
	pid_t pid = davy_launched_engine(&s->engine);
	int err = davy_launched_stop(&s->engine, &s->status);

	if (err) {
		davy_log("the engine (pid %d) does not end after SIGKILL: blocked in the driver",
			 s->engine.pid);
		return err;
	}
	s->previous_pid = pid ? pid : s->previous_pid;
	davy_supervisor_say(s, json_pack("{s:s}", "op", "stopped"));
	err = davy_launch_start(s->launch, override, &s->engine);
	s->started_ms = davy_now_ms();
	if (err)
		davy_log("the engine cannot be started again: %s", strerror(-err));
	return err;
}

static void say_why(const json_t *order, const struct davy_engine_override *override,
		    const struct davy_engine_override *was)
{
	const char *what = "restarting the engine";

	if (override->backend != was->backend)
		what = override->backend == DAVY_BACKEND_CPU ? "moving the engine to the CPU"
		       : override->backend == DAVY_BACKEND_UNKNOWN
			       ? "moving the engine back to the backend of its command"
			       : "moving the engine to another backend";
	else if (memcmp(&override->settings, &was->settings, sizeof(was->settings)) != 0)
		what = "restarting the engine with other settings";
	davy_log("%s: %s; %s", davy_message_text(order, "hazard"),
		 davy_message_text(order, "because"), what);
}

/* Without an option the port is the default, which depends on the version. */
static void learn_port(struct davy_supervisor *s)
{
	struct davy_engine_facts *facts = &s->launch->facts;
	uint16_t port = 0;

	if (facts->port && !facts->port_given && s->engine.pid)
		port = davy_listening_port(davy_launched_engine(&s->engine));
	if (port)
		facts->port = port;
}

void davy_supervisor_replace(struct davy_supervisor *s, const json_t *order)
{
	struct davy_engine_override override = override_of(s, order);
	int err = supervise_replace_may(s, order);
	char why[DAVY_ENVIRONMENT_WHY_LEN] = "";

	s->awaits_order = false;
	learn_port(s);
	if (!err)
		err = davy_launch_possible(s->launch, &override, why);
	if (!err)
		err = has_backend(s, override.backend);
	if (err) {
		if (why[0])
			davy_log("the engine cannot be changed: %s", why);
		davy_supervisor_failed(s, err);
		return;
	}
	say_why(order, &override, &s->engine.override);
	if (override.backend == DAVY_BACKEND_CPU && s->engine.override.backend != DAVY_BACKEND_CPU)
		s->before = s->engine.override.backend;
	remember_why(s, order, &override);
	if (json_is_true(json_object_get(order, "keeps")) && s->engine.pid &&
	    !davy_handover_begin(s, &override,
				 (uint32_t)davy_message_number(order, "patience_ms", 0)))
		return; /* the handover reports to the agent */
	err = davy_supervisor_restart(s, &override);
	if (err)
		davy_supervisor_failed(s, err);
	else
		davy_supervisor_say(s, davy_supervisor_engine(s, "started"));
}

/* Stops the engine; with "stay", a later order may start it again. */
void davy_supervisor_stop(struct davy_supervisor *s, const json_t *order)
{
	pid_t pid = davy_launched_engine(&s->engine);
	int err = s->handover.stage ? -EBUSY : supervise_replace_may(s, order);

	if (!err) {
		davy_log("%s: %s; stopping the engine", davy_message_text(order, "hazard"),
			 davy_message_text(order, "because"));
		err = davy_launched_stop(&s->engine, &s->status);
	}
	if (err) {
		davy_supervisor_failed(s, err);
		return;
	}
	s->previous_pid = pid ? pid : s->previous_pid;
	s->awaits_order = json_is_true(json_object_get(order, "stay"));
	s->released = !s->awaits_order;
	davy_supervisor_say(s, json_pack("{s:s}", "op", "stopped"));
}

/* Variables may lack effect: a script can set its own. False: it certainly uses a GPU. */
static bool supervise_replace_on_cpu(pid_t engine, char *ret_where, size_t size)
{
	struct davy_process_start *start = davy_process_start_read((uint32_t)engine);
	enum davy_backend backend = DAVY_BACKEND_UNKNOWN;
	struct davy_engine_facts facts;
	struct davy_engine_look look;
	char path[64];

	if (start) {
		look = davy_process_start_look(start);
		davy_engine_identify(&look, &facts);
		backend = facts.backend;
	}
	free(start);
	if (backend != DAVY_BACKEND_UNKNOWN && backend != DAVY_BACKEND_CPU) {
		snprintf(ret_where, size, "is started for %s", davy_backend_name(backend));
		return false;
	}
	if (davy_keeps_to_cpu(engine, path, sizeof(path)))
		return true;
	snprintf(ret_where, size, "has '%s' open", path);
	return false;
}

void davy_supervisor_confirm(struct davy_supervisor *s)
{
	pid_t engine = davy_launched_engine(&s->engine);
	bool wants = s->engine.override.backend == DAVY_BACKEND_CPU && engine;
	char where[96];
	int err = 0;

	if (wants && !supervise_replace_on_cpu(engine, where, sizeof(where))) {
		davy_log("the engine must use only the CPU, but %s: its script or its unit "
			 "overrides the variables; pass the script's arguments on to the engine",
			 where);
		err = EXDEV;
	}
	davy_supervisor_say(s, json_pack("{s:s, s:i}", "op", "confirmed", "error", err));
}
