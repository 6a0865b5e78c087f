/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Orders to end the engine, or to end it and start it otherwise. */
#include <errno.h>
#include <string.h>
#include <time.h>

#include "act/strict.h"
#include "lib/clock.h"
#include "lib/log.h"
#include "lib/message.h"
#include "cli/supervisor.h"

/* What is out of its range is not set. */
static struct dl_knobs knobs_of(const json_t *said)
{
	struct dl_knobs k = { 0 }, next;

	for (uint32_t i = 0; i < DL_TUNER_KNOBS; i++) {
		json_int_t value = dl_message_number(said, dl_knob_name(i), 0);

		next = k;
		if (value > 0 && dl_knob_set(&next, i, (uint64_t)value))
			k = next;
	}
	return k;
}

/*
 * What an order does not speak of stays. "command" is the backend of the user's own command,
 * "before" the one that it had before it was moved to the CPU.
 */
static struct dl_engine_wish wish_of(const struct dl_supervisor *s, const json_t *order)
{
	struct dl_engine_wish wish = s->engine.wish;
	const json_t *knobs = json_object_get(order, "knobs");
	const char *name = dl_message_text(order, "backend");
	int backend = dl_backend_from_name(name);

	if (!strcmp(name, "command"))
		wish.backend = DL_BACKEND_UNKNOWN;
	else if (!strcmp(name, "before"))
		wish.backend = s->before;
	else if (strcmp(name, "same") != 0 && backend > 0)
		wish.backend = (enum dl_backend)backend;
	if (json_is_object(knobs))
		wish.knobs = knobs_of(knobs);
	return wish;
}

static void take_why(struct dl_supervisor_why *why, const json_t *order)
{
	dl_copy_name(why->hazard, sizeof(why->hazard), dl_message_text(order, "hazard"));
	dl_copy_name(why->backend, sizeof(why->backend), dl_message_text(order, "from"));
	dl_copy_name(why->device, sizeof(why->device), dl_message_text(order, "device"));
}

/* Of what is in force at the end; what was taken back is not told. */
static void remember_why(struct dl_supervisor *s, const json_t *order,
			 const struct dl_engine_wish *wish)
{
	const struct dl_engine_wish *is = &s->engine.wish;

	if (memcmp(&wish->knobs, &is->knobs, sizeof(is->knobs)) != 0)
		take_why(&s->shrunk, order);
	if (wish->backend != is->backend)
		take_why(&s->moved, order);
}

static json_t *left(const char *rung, const struct dl_supervisor_why *why)
{
	return json_pack("{s:s, s:s, s:s, s:s}", "rung", rung, "hazard", why->hazard, "backend",
			 why->backend, "device", why->device);
}

json_t *dl_supervisor_left(const struct dl_supervisor *s)
{
	const struct dl_engine_wish *is = &s->engine.wish;
	json_t *all = json_array(), *one;

	if (!dl_knobs_none(&is->knobs)) {
		one = left("shrink", &s->shrunk);
		for (uint32_t i = 0; i < DL_TUNER_KNOBS; i++)
			json_object_set_new(one, dl_knob_name(i),
					    json_integer(dl_knob_get(&is->knobs, i)));
		json_array_append_new(all, one);
	}
	/* One that its command, or the policy, started there was not moved. */
	if (is->backend != DL_BACKEND_UNKNOWN && s->moved.hazard[0])
		json_array_append_new(
			all,
			left(is->backend == DL_BACKEND_CPU ? "migrate_cpu" : "switch", &s->moved));
	return all;
}

/* Whether the order can be carried out, before anything is stopped for it. */
static int may(const struct dl_supervisor *s, const json_t *order)
{
	json_int_t pid = dl_message_number(order, "pid", 0);

	if (s->ending)
		return -ECANCELED;
	if (s->handover.stage)
		return -EBUSY;
	if (s->engine.pid && pid && pid == s->previous_pid)
		return -ESTALE; /* about an engine that is gone already */
	return 0;
}

/* An engine that lacks the other backend would end at once, and the old one would be gone. */
static int has_backend(const struct dl_supervisor *s, enum dl_backend backend)
{
	const char *library = dl_engine_library(s->launch->facts.engine, backend);

	if (backend == s->engine.wish.backend || !library || !s->engine.pid)
		return 0;
	return dl_maps_file(s->engine.pid, library) ? 0 : -EOPNOTSUPP;
}

int dl_supervisor_restart(struct dl_supervisor *s, const struct dl_engine_wish *wish)
{
	pid_t pid = s->engine.pid;
	int err = dl_launched_stop(&s->engine, &s->status);

	if (err) {
		dl_log("the engine (pid %d) does not end, not even by SIGKILL: its driver holds it",
		       s->engine.pid);
		return err;
	}
	s->previous_pid = pid ? pid : s->previous_pid;
	dl_supervisor_say(s, json_pack("{s:s}", "op", "stopped"));
	err = dl_launch_start(s->launch, wish, &s->engine);
	s->started_ms = dl_now_ms();
	if (err)
		dl_log("the engine cannot be started again: %s", strerror(-err));
	return err;
}

static void say_why(const json_t *order, const struct dl_engine_wish *wish,
		    const struct dl_engine_wish *was)
{
	const char *what = "restarting the engine";

	if (wish->backend != was->backend)
		what = wish->backend == DL_BACKEND_CPU ? "moving the engine to the CPU"
		       : wish->backend == DL_BACKEND_UNKNOWN
			       ? "moving the engine back to where its command says"
			       : "moving the engine to another backend";
	else if (memcmp(&wish->knobs, &was->knobs, sizeof(was->knobs)) != 0)
		what = "restarting the engine with other settings";
	dl_log("%s: %s; %s", dl_message_text(order, "hazard"), dl_message_text(order, "because"),
	       what);
}

/* An engine that was told no port listens on its default, which changes between versions. */
static void learn_port(struct dl_supervisor *s)
{
	struct dl_engine_facts *facts = &s->launch->facts;
	uint16_t port = 0;

	if (facts->port && !facts->port_given && s->engine.pid)
		port = dl_listening_port(s->engine.pid);
	if (port)
		facts->port = port;
}

void dl_supervisor_replace(struct dl_supervisor *s, const json_t *order)
{
	struct dl_engine_wish wish = wish_of(s, order);
	int err = may(s, order);

	s->held = false;
	learn_port(s);
	if (!err)
		err = dl_launch_possible(s->launch, &wish);
	if (!err)
		err = has_backend(s, wish.backend);
	if (err) {
		dl_supervisor_failed(s, err);
		return;
	}
	say_why(order, &wish, &s->engine.wish);
	if (wish.backend == DL_BACKEND_CPU && s->engine.wish.backend != DL_BACKEND_CPU)
		s->before = s->engine.wish.backend;
	remember_why(s, order, &wish);
	if (json_is_true(json_object_get(order, "keeps")) && s->engine.pid &&
	    !dl_handover_begin(s, &wish, (uint32_t)dl_message_number(order, "patience_ms", 0)))
		return; /* it tells the agent how it went */
	err = dl_supervisor_restart(s, &wish);
	if (err)
		dl_supervisor_failed(s, err);
	else
		dl_supervisor_say(s, dl_supervisor_engine(s, "started"));
}

/* Stopped for good, or "stay": started again only by another order. */
void dl_supervisor_stop(struct dl_supervisor *s, const json_t *order)
{
	pid_t pid = s->engine.pid;
	int err = s->handover.stage ? -EBUSY : may(s, order);

	if (!err) {
		dl_log("%s: %s; stopping the engine", dl_message_text(order, "hazard"),
		       dl_message_text(order, "because"));
		err = dl_launched_stop(&s->engine, &s->status);
	}
	if (err) {
		dl_supervisor_failed(s, err);
		return;
	}
	s->previous_pid = pid ? pid : s->previous_pid;
	s->held = json_is_true(json_object_get(order, "stay"));
	s->let_go = !s->held;
	dl_supervisor_say(s, json_pack("{s:s}", "op", "stopped"));
}
