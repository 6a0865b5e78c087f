/* SPDX-License-Identifier: GPL-2.0-or-later */
/* 'davylamp policy adopt' and 'release': people put a service into our care, and take it back. */
#include "agent/agent.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/log.h"
#include "lib/message.h"
#include "agent/act/units.h"

#define RESTART_MS 60000

/* Who asked; the descriptor is our own copy, since the link may be gone when the answer comes. */
struct request {
	struct dl_agent *agent;
	int fd;
	char unit[DL_UNIT_LEN];
	json_t *kept; /* files put aside */
	bool restart; /* it runs with what we told it */
	bool start;   /* it was stopped by us */
};

static struct request *new_request(struct dl_link *link, const char *unit)
{
	struct request *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	r->agent = link->agent;
	r->fd = fcntl(link->fd, F_DUPFD_CLOEXEC, 3);
	r->kept = json_array();
	dl_copy_name(r->unit, sizeof(r->unit), unit);
	return r;
}

static void answer(struct request *r, json_t *message)
{
	dl_message_send(r->fd, message);
	close(r->fd);
	json_decref(r->kept);
	free(r);
}

static void refuse(struct request *r, const char *why)
{
	answer(r, json_pack("{s:s, s:s}", "op", "error", "why", why));
}

/* Nothing of a failed adoption stays. */
static void take_back(struct request *r)
{
	struct dl_agent *a = r->agent;
	struct dl_adopted_unit *of = dl_adopted_find(&a->units->adopted, r->unit);

	if (of)
		dl_unit_files_remove(a, of, r->kept);
	dl_adopted_remove(&a->units->adopted, r->unit);
}

static void on_adopted(void *arg, const struct dl_unit_answer *said)
{
	struct request *r = arg;
	struct dl_agent *a = r->agent;
	struct dl_service *u = NULL;
	const char *why = said->why;
	int err;

	if (!said->error) {
		err = dl_units_save(a);
		u = err ? NULL : dl_unit_add(a, r->unit);
		why = err ? strerror(-err) : "too many units are adopted";
	}
	if (!u) {
		take_back(r);
		refuse(r, why);
		return;
	}
	dl_unit_look(u);
	answer(r, json_pack("{s:s, s:s, s:I}", "op", "adopted", "unit", r->unit, "workload",
			    (json_int_t)u->workload));
}

static const char *not_adoptable(const struct request *r, const struct dl_unit_state *s)
{
	if (!strcmp(s->load, "not-found"))
		return "there is no such unit";
	if (!strcmp(s->load, "masked"))
		return "it is masked";
	if (strcmp(s->load, "loaded") != 0)
		return "systemd cannot load it; see 'systemctl status'";
	if (strcmp(s->id, r->unit) != 0)
		return "that is an alias; adopt the unit itself, as 'systemctl status' names it";
	if (s->main_pid == (uint32_t)getpid())
		return "that is this agent";
	return NULL;
}

static void on_asked(void *arg, const struct dl_unit_answer *said)
{
	struct request *r = arg;
	struct dl_agent *a = r->agent;
	struct dl_adopted_unit *of = NULL;
	const char *why = said->error ? said->why : not_adoptable(r, said->state);
	int err;

	if (!why && dl_adopted_find(&a->units->adopted, r->unit))
		why = "it is adopted already";
	if (!why) {
		of = dl_adopted_add(&a->units->adopted, r->unit);
		why = of ? NULL : "too many units are adopted";
	}
	if (why) {
		refuse(r, why);
		return;
	}
	err = dl_unit_files_make(a, of);
	if (!err)
		err = dl_systemd_reload(a->units->systemd, on_adopted, r);
	if (!err)
		return;
	take_back(r);
	refuse(r, err == -EEXIST ? "a file of another owner is in the way; see the agent's log"
				 : strerror(-err));
}

static const char *ask_systemd(struct request *r, dl_unit_done done)
{
	int err = dl_unit_ask(r->agent->units->systemd, r->unit, done, r);

	if (!err)
		return NULL;
	close(r->fd);
	json_decref(r->kept);
	free(r);
	if (err == -ENOENT || err == -ECONNREFUSED)
		return "this host is not run by systemd; start the engine under 'davylamp exec'";
	return "systemd cannot be reached";
}

const char *dl_unit_adopt(struct dl_link *link, const json_t *message)
{
	const char *unit = dl_message_text(message, "unit");
	struct dl_agent *a = link->agent;
	struct request *r;

	if (!dl_unit_name_valid(unit))
		return "that is no service's name; 'ollama.service' is one";
	if (!a->units || strpbrk(a->units->dir, "% \t\n\"'\\") || a->units->dir[0] != '/')
		return "the state directory has a name that no unit file may hold";
	if (a->units->unread && dl_units_read(a))
		return "the list of adopted units cannot be read, and stays as it is; see the "
		       "agent's log";
	if (dl_adopted_find(&a->units->adopted, unit))
		return "it is adopted already";
	r = new_request(link, unit);
	return r ? ask_systemd(r, on_asked) : "out of memory";
}

static void released(struct request *r)
{
	answer(r, json_pack("{s:s, s:s, s:b, s:O}", "op", "released_unit", "unit", r->unit,
			    "restarted", r->restart || r->start, "kept", r->kept));
}

static void on_restarted(void *arg, const struct dl_unit_answer *said)
{
	struct request *r = arg;

	if (said->error)
		dl_log("%s is released, but: %s; see 'systemctl status %s'", r->unit, said->why,
		       r->unit);
	r->restart = r->restart && !said->error;
	r->start = r->start && !said->error;
	released(r);
}

static void on_reloaded(void *arg, const struct dl_unit_answer *said)
{
	struct request *r = arg;
	int err = -ENODATA;

	if (said->error)
		dl_log("%s is released, but systemd did not reload: %s", r->unit, said->why);
	else if (r->restart || r->start)
		err = dl_unit_job(r->agent->units->systemd, r->start ? "StartUnit" : "RestartUnit",
				  r->unit, RESTART_MS, on_restarted, r);
	if (!err)
		return;
	r->restart = r->start = false;
	released(r);
}

static bool runs(const struct dl_unit_state *s)
{
	return !strcmp(s->active, "active") || !strcmp(s->active, "activating") ||
	       !strcmp(s->active, "reloading");
}

static void let_go(struct request *r, struct dl_adopted_unit *of)
{
	struct dl_agent *a = r->agent;
	struct dl_service *u = dl_unit_named(a, r->unit);
	int err = dl_unit_files_remove(a, of, r->kept);

	if (err) {
		refuse(r, strerror(-err));
		return;
	}
	dl_unit_uncap(a, of);
	if (u)
		dl_unit_forget(u);
	dl_adopted_remove(&a->units->adopted, r->unit);
	dl_units_save(a);
	err = dl_systemd_reload(a->units->systemd, on_reloaded, r);
	if (err)
		refuse(r, "released, but systemd cannot be reached to reload");
}

static void on_restored(void *arg, bool good)
{
	struct request *r = arg;
	struct dl_adopted_unit *of = dl_adopted_find(&r->agent->units->adopted, r->unit);

	if (good && of)
		let_go(r, of);
	else
		refuse(r, "its model's parameters could not be restored; see the agent's log");
}

static void on_looked(void *arg, const struct dl_unit_answer *said)
{
	struct request *r = arg;
	struct dl_agent *a = r->agent;
	struct dl_adopted_unit *of = dl_adopted_find(&a->units->adopted, r->unit);
	struct dl_service *u = dl_unit_named(a, r->unit);

	if (said->error || !of || (u && u->act.plan)) {
		refuse(r, said->error ? said->why
			  : of	      ? "an act on it is under way; try again"
				      : "it is not adopted");
		return;
	}
	if (of->backend != DL_BACKEND_UNKNOWN || !dl_knobs_none(&of->knobs))
		r->restart = runs(said->state);
	r->start = of->stopped && !runs(said->state);
	if (!of->derived[0])
		let_go(r, of);
	else if (!u || !runs(said->state) || !dl_models_restore(u, of->derived, on_restored, r))
		refuse(r, "a model of it has other parameters for the time being; start it, so "
			  "that they can be restored");
}

const char *dl_unit_release(struct dl_link *link, const json_t *message)
{
	const char *unit = dl_message_text(message, "unit");
	struct dl_agent *a = link->agent;
	struct request *r;

	if (a->units && a->units->unread && dl_units_read(a))
		return "the list of adopted units cannot be read, and stays as it is; see the "
		       "agent's log";
	if (!a->units || !dl_adopted_find(&a->units->adopted, unit))
		return "it is not adopted; see 'davylamp policy adopted'";
	r = new_request(link, unit);
	return r ? ask_systemd(r, on_looked) : "out of memory";
}

json_t *dl_units_list(const struct dl_agent *a)
{
	json_t *list = json_array();

	for (size_t i = 0; a->units && i < DL_ADOPTED_MAX; i++) {
		const struct dl_service *u = &a->units->unit[i];
		const struct dl_adopted_unit *of =
			u->name[0] ? dl_adopted_find(&a->units->adopted, u->name) : NULL;

		if (!of)
			continue;
		json_array_append_new(
			list,
			json_pack(
				"{s:s, s:I, s:s, s:s, s:i, s:s, s:s, s:I, s:I, s:I, s:I, s:I, s:b}",
				"unit", u->name, "workload", (json_int_t)u->workload, "state",
				u->state.active, "engine", dl_engine_name(u->engine), "pid",
				(int)u->pid, "cgroup", u->cgroup, "told_backend",
				dl_backend_name(of->backend), "told_ubatch",
				(json_int_t)of->knobs.ubatch, "told_context",
				(json_int_t)of->knobs.context, "told_parallel",
				(json_int_t)of->knobs.parallel, "told_by_rules",
				(json_int_t)u->rules_count, "version", (json_int_t)of->version,
				"stopped_by_us", of->stopped));
	}
	return list;
}
