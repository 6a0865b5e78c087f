/* SPDX-License-Identifier: GPL-2.0-or-later */
/* 'davylamp policy adopt' and 'release': let the agent control a service or container. */
#include "agent/agent.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "act/container_unit.h"
#include "lib/file.h"
#include "lib/log.h"
#include "lib/message.h"
#include "agent/act/units.h"

#define RESTART_MS 60000

/* The client. The descriptor is a copy, since the link may be closed before the reply. */
struct request {
	struct davy_agent *agent;
	int fd;
	char unit[DAVY_UNIT_LEN];
	json_t *kept; /* renamed files */
	bool restart; /* its process has settings of the agent */
	bool start;   /* the agent stopped it */
};

/* "fd": of the client, -1: none asks. */
static struct request *new_request(struct davy_agent *a, int fd, const char *unit)
{
	struct request *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	r->agent = a;
	r->fd = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, 3);
	r->kept = json_array();
	davy_copy_name(r->unit, sizeof(r->unit), unit);
	return r;
}

static void unit_adopt_answer(struct request *r, json_t *message)
{
	if (r->fd >= 0) {
		davy_message_send(r->fd, message);
		close(r->fd);
	} else {
		davy_log("%s: its label wants it to be adopted: %s", r->unit,
			 json_is_string(json_object_get(message, "why"))
				 ? davy_message_text(message, "why")
				 : "done");
		json_decref(message);
	}
	json_decref(r->kept);
	free(r);
}

static void unit_adopt_refuse(struct request *r, const char *why)
{
	unit_adopt_answer(r, json_pack("{s:s, s:s}", "op", "error", "why", why));
}

/* Removes everything of a failed adoption. */
static void unit_adopt_take_back(struct request *r)
{
	struct davy_agent *a = r->agent;
	struct davy_adopted_unit *of = davy_adopted_find(&a->units->adopted, r->unit);

	if (of)
		davy_unit_files_remove(a, of, r->kept);
	davy_adopted_remove(&a->units->adopted, r->unit);
}

static void on_adopted(void *arg, const struct davy_unit_answer *said)
{
	struct request *r = arg;
	struct davy_agent *a = r->agent;
	struct davy_service *u = NULL;
	const char *why = said->why;
	int err;

	if (!said->error) {
		err = davy_units_save(a);
		u = err ? NULL : davy_unit_add(a, r->unit);
		why = err ? strerror(-err) : "too many units are adopted";
	}
	if (!u) {
		unit_adopt_take_back(r);
		unit_adopt_refuse(r, why);
		return;
	}
	davy_unit_look(u);
	unit_adopt_answer(r, json_pack("{s:s, s:s, s:I}", "op", "adopted", "unit", r->unit,
				       "workload", (json_int_t)u->workload));
}

static const char *not_adoptable(const struct request *r, const struct davy_unit_state *s)
{
	if (davy_container_unit(r->unit))
		return NULL; /* davylamp-container refuses */
	if (!strcmp(s->load, "not-found"))
		return "no such unit";
	if (!strcmp(s->load, "masked"))
		return "the unit is masked";
	if (strcmp(s->load, "loaded") != 0)
		return "systemd cannot load the unit; see 'systemctl status'";
	if (strcmp(s->id, r->unit) != 0)
		return "the name is an alias; use the name that 'systemctl status' shows";
	if (s->main_pid == (uint32_t)getpid())
		return "the unit is this agent";
	return NULL;
}

static void on_asked(void *arg, const struct davy_unit_answer *said)
{
	struct request *r = arg;
	struct davy_agent *a = r->agent;
	struct davy_adopted_unit *of = NULL;
	const char *why = said->error ? said->why : not_adoptable(r, said->state);
	int err;

	if (!why && davy_adopted_find(&a->units->adopted, r->unit))
		why = "already adopted";
	if (!why) {
		of = davy_adopted_add(&a->units->adopted, r->unit);
		why = of ? NULL : "too many units are adopted";
	}
	if (why) {
		unit_adopt_refuse(r, why);
		return;
	}
	err = davy_unit_files_make(a, of);
	if (!err && davy_container_unit(r->unit))
		err = davy_unit_job(a->units->systemd, "AdoptUnit", r->unit, RESTART_MS, on_adopted,
				    r);
	else if (!err)
		err = davy_systemd_reload(a->units->systemd, on_adopted, r);
	if (!err)
		return;
	unit_adopt_take_back(r);
	unit_adopt_refuse(r, err == -EEXIST
				     ? "a file of another owner has that name; see the agent's log"
				     : strerror(-err));
}

static const char *ask_systemd(struct request *r, davy_unit_done done)
{
	int err = davy_unit_ask(r->agent->units->systemd, r->unit, done, r);

	if (!err)
		return NULL;
	close(r->fd);
	json_decref(r->kept);
	free(r);
	if (err == -ENOENT || err == -ECONNREFUSED)
		return "systemd does not run on this host; start the engine under 'davylamp exec'";
	return "cannot connect to systemd";
}

static const char *unit_adopt_begin(struct davy_agent *a, int fd, const char *unit)
{
	struct request *r;

	if (!davy_unit_name_valid(unit))
		return "not a name of a service or container; examples are 'ollama.service' and "
		       "'docker:ollama'";
	if (!a->units || strpbrk(a->units->dir, "% \t\n\"'\\") || a->units->dir[0] != '/')
		return "the state directory's path has characters that a unit file cannot contain";
	if (a->units->unread && davy_units_read(a))
		return "the list of adopted units cannot be read, and stays unchanged; see the "
		       "agent's log";
	if (davy_adopted_find(&a->units->adopted, unit))
		return "already adopted";
	if (davy_container_unit(unit) && davy_make_dirs(a->units->dir))
		return "the state directory cannot be written";
	r = new_request(a, fd, unit);
	return r ? ask_systemd(r, on_asked) : "out of memory";
}

const char *davy_unit_adopt(struct davy_link *link, const json_t *message)
{
	return unit_adopt_begin(link->agent, link->fd, davy_message_text(message, "unit"));
}

void davy_unit_adopt_by_label(struct davy_agent *a, const char *unit)
{
	const char *why =
		davy_adopted_find(&a->units->adopted, unit) ? NULL : unit_adopt_begin(a, -1, unit);

	if (why)
		davy_log("%s: its label cannot be followed: %s", unit, why);
}

static void unit_adopt_released(struct request *r)
{
	unit_adopt_answer(r,
			  json_pack("{s:s, s:s, s:b, s:O}", "op", "released_unit", "unit", r->unit,
				    "restarted", r->restart || r->start, "kept", r->kept));
}

static void on_restarted(void *arg, const struct davy_unit_answer *said)
{
	struct request *r = arg;

	if (said->error)
		davy_log("%s is released, but: %s; see 'systemctl status %s'", r->unit, said->why,
			 r->unit);
	r->restart = r->restart && !said->error;
	r->start = r->start && !said->error;
	unit_adopt_released(r);
}

static void on_reloaded(void *arg, const struct davy_unit_answer *said)
{
	struct request *r = arg;
	int err = -ENODATA;

	if (said->error)
		davy_log("%s is released, but systemd did not reload its unit files: %s", r->unit,
			 said->why);
	else if (r->restart || r->start)
		err = davy_unit_job(r->agent->units->systemd,
				    r->start ? "StartUnit" : "RestartUnit", r->unit, RESTART_MS,
				    on_restarted, r);
	if (!err)
		return;
	r->restart = r->start = false;
	unit_adopt_released(r);
}

static bool runs(const struct davy_unit_state *s)
{
	return !strcmp(s->active, "active") || !strcmp(s->active, "activating") ||
	       !strcmp(s->active, "reloading");
}

static void unit_adopt_let_go(struct request *r, struct davy_adopted_unit *of)
{
	struct davy_agent *a = r->agent;
	struct davy_service *u = davy_unit_named(a, r->unit);
	int err = davy_unit_files_remove(a, of, r->kept);

	if (err) {
		unit_adopt_refuse(r, strerror(-err));
		return;
	}
	davy_unit_uncap(a, of);
	if (u)
		davy_unit_forget(u);
	davy_adopted_remove(&a->units->adopted, r->unit);
	davy_units_save(a);
	if (davy_container_unit(r->unit)) {
		err = r->start ? davy_unit_job(a->units->systemd, "StartUnit", r->unit, RESTART_MS,
					       on_restarted, r)
			       : -ENODATA;
		if (err)
			unit_adopt_released(r);
		return;
	}
	err = davy_systemd_reload(a->units->systemd, on_reloaded, r);
	if (err)
		unit_adopt_refuse(
			r, "released, but systemd cannot be reached to reload its unit files");
}

static void on_container_released(void *arg, const struct davy_unit_answer *said)
{
	struct request *r = arg;
	struct davy_adopted_unit *of = davy_adopted_find(&r->agent->units->adopted, r->unit);
	struct davy_service *u = davy_unit_named(r->agent, r->unit);

	if (u)
		u->releasing = false;
	if (said->error || !of)
		unit_adopt_refuse(r, said->error ? said->why : "not adopted");
	else
		unit_adopt_let_go(r, of);
}

/* A container is as its owner made it before it is released. */
static void release_container(struct request *r)
{
	struct davy_service *u = davy_unit_named(r->agent, r->unit);
	int err = davy_unit_job(r->agent->units->systemd, "ReleaseUnit", r->unit, RESTART_MS,
				on_container_released, r);

	if (u)
		u->releasing = !err;
	if (err)
		unit_adopt_refuse(r, strerror(-err));
}

static void on_restored(void *arg, bool good)
{
	struct request *r = arg;
	struct davy_adopted_unit *of = davy_adopted_find(&r->agent->units->adopted, r->unit);

	if (good && of)
		unit_adopt_let_go(r, of);
	else
		unit_adopt_refuse(
			r, "its model's parameters could not be restored; see the agent's log");
}

static void unit_adopt_on_looked(void *arg, const struct davy_unit_answer *said)
{
	struct request *r = arg;
	struct davy_agent *a = r->agent;
	struct davy_adopted_unit *of = davy_adopted_find(&a->units->adopted, r->unit);
	struct davy_service *u = davy_unit_named(a, r->unit);
	bool container = davy_container_unit(r->unit);

	if ((said->error && !container) || !of || (u && u->act.plan)) {
		unit_adopt_refuse(r, said->error && !container ? said->why
				     : of ? "an action on the unit is in progress; try again"
					  : "not adopted");
		return;
	}
	if (said->error) { /* for example, its name is another container's today */
		release_container(r);
		return;
	}
	if (of->backend != DAVY_BACKEND_UNKNOWN || !davy_start_settings_none(&of->settings))
		r->restart = runs(said->state);
	r->start = of->stopped && !runs(said->state);
	if (!of->derived[0] && container)
		release_container(r);
	else if (!of->derived[0])
		unit_adopt_let_go(r, of);
	else if (!u || !runs(said->state) || !davy_models_restore(u, of->derived, on_restored, r))
		unit_adopt_refuse(
			r,
			"one of its models has temporary parameters; start the unit, so that the "
			"agent can restore them");
}

const char *davy_unit_release(struct davy_link *link, const json_t *message)
{
	const char *unit = davy_message_text(message, "unit");
	struct davy_agent *a = link->agent;
	struct request *r;

	if (a->units && a->units->unread && davy_units_read(a))
		return "the list of adopted units cannot be read, and stays unchanged; see the "
		       "agent's log";
	if (!a->units || !davy_adopted_find(&a->units->adopted, unit))
		return "not adopted; see 'davylamp policy adopted'";
	r = new_request(a, link->fd, unit);
	return r ? ask_systemd(r, unit_adopt_on_looked) : "out of memory";
}

json_t *davy_units_list(const struct davy_agent *a)
{
	json_t *list = json_array();

	for (size_t i = 0; a->units && i < DAVY_ADOPTED_MAX; i++) {
		const struct davy_service *u = &a->units->unit[i];
		const struct davy_adopted_unit *of =
			u->name[0] ? davy_adopted_find(&a->units->adopted, u->name) : NULL;

		if (!of)
			continue;
		json_array_append_new(
			list,
			json_pack(
				"{s:s, s:I, s:s, s:s, s:i, s:s, s:s, s:I, s:I, s:I, s:I, s:I, s:b}",
				"unit", u->name, "workload", (json_int_t)u->workload, "state",
				u->state.active, "engine", davy_engine_name(u->engine), "pid",
				(int)u->pid, "cgroup", u->cgroup, "told_backend",
				davy_backend_name(of->backend), "told_ubatch",
				(json_int_t)of->settings.ubatch, "told_context",
				(json_int_t)of->settings.context, "told_parallel",
				(json_int_t)of->settings.parallel, "told_by_rules",
				(json_int_t)u->rules_count, "version", (json_int_t)of->version,
				"stopped_by_us", of->stopped));
	}
	return list;
}
