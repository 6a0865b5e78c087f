/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "act/unit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <systemd/sd-bus.h>

#include "act/container_unit.h"
#include "lib/file.h"
#include "lib/text.h"
#include "act/unit_state.h"

#define SOCKET		 "/run/systemd/private"
#define SERVICE		 "org.freedesktop.systemd1"
#define OBJECT		 "/org/freedesktop/systemd1"
#define UNITS		 OBJECT "/unit"
#define MANAGER		 SERVICE ".Manager"
#define CALL_MS		 5000
#define RELOAD_MS	 20000 /* a reload runs generators and reads all unit files */
#define CONTAINER_ASK_MS 30000 /* it may complete an interrupted change */

struct operation {
	struct davy_systemd *systemd;
	struct operation *next;
	sd_bus_slot *slot; /* of the call, until the answer */
	sd_event_source *timer;
	davy_unit_done done;
	void *arg;
	bool reload;
	bool waits; /* a reload that waits for the current one */
	uint32_t limit_ms;
	uint32_t job;
	char job_path[96]; /* "": not answered yet */
};

struct davy_systemd {
	sd_event *loop;
	sd_bus *bus; /* NULL: not connected */
	bool lost;
	struct davy_unit_hooks hooks;
	struct operation *operations;
};

bool davy_unit_name_valid(const char *name)
{
	static const char letters[] = "/abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "0123456789-_.:\\@";
	static const char suffix[] = ".service";
	size_t len = strlen(name), end = sizeof(suffix) - 1, kind = davy_container_unit(name);

	if (kind) /* davylamp-container refuses others */
		return len > kind && len < DAVY_UNIT_LEN && name[kind] != '.' &&
		       strspn(name + kind, letters) == len - kind &&
		       !strpbrk(name + kind, kind == strlen("pod:") ? ":\\@" : "/:\\@");
	return len > end && len < DAVY_UNIT_LEN && name[0] != '.' && name[0] != '@' &&
	       strspn(name, letters + 1) == len && !strcmp(name + len - end, suffix) &&
	       name[len - end - 1] != '@';
}

static void unit_release(struct operation *o)
{
	sd_bus_slot_unref(o->slot);
	sd_event_source_disable_unref(o->timer);
	free(o);
}

static void unit_forget(struct operation *o)
{
	struct operation **at = &o->systemd->operations;

	while (*at != o)
		at = &(*at)->next;
	*at = o->next;
	unit_release(o);
}

static void unit_drop(struct davy_systemd *s)
{
	s->lost = false;
	s->bus = sd_bus_close_unref(s->bus);
}

/* Calls "done" and frees the operation. */
static void unit_finish(struct operation *o, int error, const char *why,
			struct davy_unit_state *state)
{
	struct davy_unit_answer answer = { error, why, state };
	davy_unit_done done = o->done;
	void *arg = o->arg;

	unit_forget(o);
	done(arg, &answer);
}

static void unit_fail(struct operation *o, int error, const sd_bus_error *bus_error)
{
	char why[DAVY_UNIT_WHY_LEN] = "";
	const char *said = bus_error && bus_error->message ? bus_error->message : NULL;

	if (error == -ETIMEDOUT)
		snprintf(why, sizeof(why), "systemd does not answer");
	else
		davy_text_safe(why, sizeof(why), said ? said : strerror(-error));
	unit_finish(o, error, why, NULL);
}

static int begin_reload(struct operation *o);

/* Requests that came during a reload share the next one. */
static void reload_ended(struct davy_systemd *s)
{
	struct operation *next;

	for (struct operation *o = s->operations; o; o = next) {
		int err;

		next = o->next;
		if (!o->waits)
			continue;
		o->waits = false;
		err = begin_reload(o);
		if (err)
			unit_fail(o, err, NULL);
		return; /* shared by the others */
	}
}

static void answer_reload(struct operation *o, int error, const sd_bus_error *bus_error)
{
	struct davy_systemd *s = o->systemd;

	if (error)
		unit_fail(o, error, bus_error);
	else
		unit_finish(o, 0, "", NULL);
	reload_ended(s);
}

static int unit_on_limit(sd_event_source *source, uint64_t usec, void *arg)
{
	struct operation *o = arg;
	struct davy_systemd *s = o->systemd;

	(void)source;
	(void)usec;
	if (o->job_path[0]) { /* systemd answers, but the job does not end */
		sd_bus_call_method_async(s->bus, NULL, SERVICE, OBJECT, MANAGER, "CancelJob", NULL,
					 NULL, "u", o->job);
		unit_finish(o, -ETIMEDOUT, "its job did not end in time and was cancelled", NULL);
		return 0;
	}
	s->lost = true;
	if (o->reload)
		answer_reload(o, -ETIMEDOUT, NULL);
	else
		unit_fail(o, -ETIMEDOUT, NULL);
	return 0;
}

static int unit_on_state(sd_bus_message *m, void *arg, sd_bus_error *error)
{
	struct davy_unit_state state = { 0 };
	struct operation *o = arg;
	int err;

	(void)error;
	if (sd_bus_message_is_method_error(m, NULL)) {
		unit_fail(o, -sd_bus_message_get_errno(m), sd_bus_message_get_error(m));
		return 0;
	}
	err = davy_unit_state_take(m, &state);
	if (err)
		unit_finish(o, -EBADMSG, "systemd's answer is not valid", NULL);
	else
		unit_finish(o, 0, "", &state);
	return 0;
}

static int unit_on_job(sd_bus_message *m, void *arg, sd_bus_error *error)
{
	struct operation *o = arg;
	const char *path = "", *number;

	(void)error;
	if (sd_bus_message_is_method_error(m, NULL)) {
		unit_fail(o, -sd_bus_message_get_errno(m), sd_bus_message_get_error(m));
		return 0;
	}
	sd_bus_message_read(m, "o", &path);
	number = strrchr(path, '/');
	if (!number || strlen(path) >= sizeof(o->job_path)) {
		unit_finish(o, -EBADMSG, "systemd's answer is not valid", NULL);
		return 0;
	}
	o->slot = sd_bus_slot_unref(o->slot);
	o->job = (uint32_t)strtoul(number + 1, NULL, 10);
	snprintf(o->job_path, sizeof(o->job_path), "%s", path);
	sd_event_source_set_time_relative(o->timer, (uint64_t)o->limit_ms * 1000);
	return 0;
}

static void unit_end_job(struct operation *o, const char *result)
{
	char why[DAVY_UNIT_WHY_LEN], safe[64];

	if (!strcmp(result, "done")) {
		unit_finish(o, 0, "", NULL);
		return;
	}
	snprintf(why, sizeof(why), "systemd's job ended with result '%s'",
		 davy_text_safe(safe, sizeof(safe), result));
	unit_finish(o, !strcmp(result, "canceled") ? -ECANCELED : -EIO, why, NULL);
}

static int on_job_removed(sd_bus_message *m, void *arg, sd_bus_error *error)
{
	struct davy_systemd *s = arg;
	const char *path, *unit, *result;
	uint32_t id;

	(void)error;
	if (sd_bus_message_read(m, "uoss", &id, &path, &unit, &result) < 0)
		return 0;
	for (struct operation *o = s->operations; o; o = o->next) {
		if (!o->job_path[0] || strcmp(o->job_path, path) != 0)
			continue;
		unit_end_job(o, result);
		break;
	}
	return 0;
}

static int on_properties(sd_bus_message *m, void *arg, sd_bus_error *error)
{
	struct davy_systemd *s = arg;
	char *unit = NULL;

	(void)error;
	if (s->hooks.changed && sd_bus_path_decode(sd_bus_message_get_path(m), UNITS, &unit) > 0)
		s->hooks.changed(s->hooks.arg, unit);
	free(unit);
	return 0;
}

/* systemd ended, re-executes, or does not answer. */
static int on_disconnected(sd_bus_message *m, void *arg, sd_bus_error *error)
{
	struct davy_systemd *s = arg;
	struct operation *next;

	(void)m;
	(void)error;
	s->lost = true;
	for (struct operation *o = s->operations; o; o = next) {
		next = o->next;
		if (o->job_path[0] || o->waits)
			unit_finish(o, -ECONNRESET, "the connection to systemd was lost", NULL);
	}
	if (s->hooks.lost)
		s->hooks.lost(s->hooks.arg);
	return 0;
}

static int add_matches(struct davy_systemd *s)
{
	int err = sd_bus_match_signal(s->bus, NULL, NULL, OBJECT, MANAGER, "JobRemoved",
				      on_job_removed, s);

	if (err >= 0)
		err = sd_bus_match_signal(s->bus, NULL, NULL, NULL,
					  "org.freedesktop.DBus.Properties", "PropertiesChanged",
					  on_properties, s);
	if (err >= 0)
		err = sd_bus_match_signal(s->bus, NULL, NULL, "/org/freedesktop/DBus/Local",
					  "org.freedesktop.DBus.Local", "Disconnected",
					  on_disconnected, s);
	return err;
}

static int connect_bus(struct davy_systemd *s)
{
	char path[256], address[512];
	int err;

	if (s->lost)
		unit_drop(s);
	if (s->bus)
		return 0;
	err = davy_root_path(path, sizeof(path), SOCKET);
	if (err)
		return err;
	snprintf(address, sizeof(address), "unix:path=%s", path);
	err = sd_bus_new(&s->bus);
	if (err >= 0)
		err = sd_bus_set_address(s->bus, address);
	if (err >= 0)
		err = sd_bus_start(s->bus);
	if (err >= 0)
		err = add_matches(s);
	if (err >= 0)
		err = sd_bus_attach_event(s->bus, s->loop, SD_EVENT_PRIORITY_NORMAL);
	if (err < 0)
		s->bus = sd_bus_unref(s->bus);
	return err < 0 ? err : 0;
}

static struct operation *new_operation(struct davy_systemd *s, uint32_t limit_ms,
				       davy_unit_done done, void *arg)
{
	struct operation *o = calloc(1, sizeof(*o));

	if (!o)
		return NULL;
	o->systemd = s;
	o->done = done;
	o->arg = arg;
	if (sd_event_add_time_relative(s->loop, &o->timer, CLOCK_MONOTONIC,
				       (uint64_t)limit_ms * 1000, 1000, unit_on_limit, o) < 0) {
		free(o);
		return NULL;
	}
	o->next = s->operations;
	s->operations = o;
	return o;
}

int davy_unit_ask(struct davy_systemd *s, const char *unit, davy_unit_done done, void *arg)
{
	struct operation *o;
	char *path = NULL;
	int err;

	if (davy_container_unit(unit))
		return davy_container_request(s->loop, s->hooks.dir, "state", unit,
					      CONTAINER_ASK_MS, done, arg);
	err = connect_bus(s);
	if (err)
		return err;
	if (sd_bus_path_encode(UNITS, unit, &path) < 0)
		return -EINVAL;
	o = new_operation(s, CALL_MS, done, arg);
	err = -ENOMEM;
	if (o)
		err = sd_bus_call_method_async(s->bus, &o->slot, SERVICE, path,
					       "org.freedesktop.DBus.Properties", "GetAll",
					       unit_on_state, o, "s", "");
	free(path);
	if (o && err < 0)
		unit_forget(o);
	return err < 0 ? err : 0;
}

/* NULL: a container has none such. */
static const char *container_operation(const char *method)
{
	static const char *const names[][2] = {
		{ "StartUnit", "start" }, { "StopUnit", "stop" },   { "RestartUnit", "restart" },
		{ "ApplyUnit", "apply" }, { "AdoptUnit", "adopt" }, { "ReleaseUnit", "release" }
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(names[i][0], method))
			return names[i][1];
	return NULL;
}

int davy_unit_job(struct davy_systemd *s, const char *method, const char *unit, uint32_t limit_ms,
		  davy_unit_done done, void *arg)
{
	struct operation *o;
	int err;

	if (davy_container_unit(unit))
		return davy_container_request(s->loop, s->hooks.dir, container_operation(method),
					      unit, limit_ms, done, arg);
	err = connect_bus(s);

	if (err)
		return err;
	o = new_operation(s, CALL_MS, done, arg);
	if (!o)
		return -ENOMEM;
	o->limit_ms = limit_ms;
	err = sd_bus_call_method_async(s->bus, &o->slot, SERVICE, OBJECT, MANAGER, method,
				       unit_on_job, o, "ss", unit, "replace");
	if (err < 0)
		unit_forget(o);
	return err < 0 ? err : 0;
}

static int unit_on_done(sd_bus_message *m, void *arg, sd_bus_error *error)
{
	const sd_bus_error *said = sd_bus_message_get_error(m);

	(void)error;
	if (said)
		unit_fail(arg, -sd_bus_message_get_errno(m), said);
	else
		unit_finish(arg, 0, "", NULL);
	return 0;
}

int davy_unit_limit(struct davy_systemd *s, const char *unit, const char *property, uint64_t value,
		    davy_unit_done done, void *arg)
{
	struct operation *o;
	int err = davy_container_unit(unit) ? -EOPNOTSUPP : connect_bus(s);

	if (err)
		return err;
	o = new_operation(s, CALL_MS, done, arg);
	if (!o)
		return -ENOMEM;
	err = sd_bus_call_method_async(s->bus, &o->slot, SERVICE, OBJECT, MANAGER,
				       "SetUnitProperties", unit_on_done, o, "sba(sv)", unit, 1, 1,
				       property, "t", value);
	if (err < 0)
		unit_forget(o);
	return err < 0 ? err : 0;
}

int davy_unit_limits(struct davy_systemd *s, const char *unit, uint64_t memory_high,
		     uint64_t cpu_quota, davy_unit_done done, void *arg)
{
	int err = davy_unit_limit(s, unit, "MemoryHigh", memory_high, done, arg);
	int other = davy_unit_limit(s, unit, "CPUQuotaPerSecUSec", cpu_quota, done, arg);

	return err ? err : other;
}

/* Gives the same answer to all who share the reload. */
static int on_shared_reload(sd_bus_message *m, void *arg, sd_bus_error *error)
{
	const sd_bus_error *said = sd_bus_message_get_error(m);
	int err = said ? -sd_bus_message_get_errno(m) : 0;
	struct operation *o = arg, *next;

	(void)error;
	for (struct operation *at = o->systemd->operations; at; at = next) {
		next = at->next;
		if (at == o || !at->reload || at->waits)
			continue;
		if (err)
			unit_fail(at, err, said);
		else
			unit_finish(at, 0, "", NULL);
	}
	answer_reload(o, err, said);
	return 0;
}

static int begin_reload(struct operation *o)
{
	struct davy_systemd *s = o->systemd;
	int err = connect_bus(s);

	if (err)
		return err;
	for (struct operation *at = s->operations; at; at = at->next)
		if (at->waits) /* requested before this one begins */
			at->waits = false;
	err = sd_bus_call_method_async(s->bus, &o->slot, SERVICE, OBJECT, MANAGER, "Reload",
				       on_shared_reload, o, "");
	return err < 0 ? err : 0;
}

int davy_systemd_reload(struct davy_systemd *s, davy_unit_done done, void *arg)
{
	bool under_way = false;
	struct operation *o;
	int err = connect_bus(s);

	if (err)
		return err;
	for (o = s->operations; o; o = o->next)
		under_way |= o->reload;
	o = new_operation(s, under_way ? 2 * RELOAD_MS : RELOAD_MS, done, arg);
	if (!o)
		return -ENOMEM;
	o->reload = true;
	o->waits = under_way;
	err = under_way ? 0 : begin_reload(o);
	if (err)
		unit_forget(o);
	return err;
}

int davy_systemd_new(sd_event *loop, const struct davy_unit_hooks *hooks,
		     struct davy_systemd **ret_s)
{
	struct davy_systemd *s = calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	s->loop = loop;
	s->hooks = *hooks;
	*ret_s = s;
	return 0;
}

void davy_systemd_free(struct davy_systemd *s)
{
	if (!s)
		return;
	for (struct operation *o = s->operations, *next; o; o = next) {
		next = o->next;
		unit_release(o);
	}
	unit_drop(s);
	free(s);
}
