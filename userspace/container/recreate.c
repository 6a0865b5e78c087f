/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "container/container.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/file.h"

#define CALL_MS	       15000
#define STOP_DEFAULT_S 10
#define STOP_MAX_S     120

static const char *id_of(const json_t *inspect)
{
	return davy_definition_text(inspect, "Id");
}

static int say(struct davy_container *c, int error, const char *what)
{
	snprintf(c->api->why, sizeof(c->api->why), "%s", what);
	return error;
}

/* One request about a container, by its id: a name may be another container's meanwhile. */
static int call(struct davy_container *c, const char *method, const json_t *which,
		const char *action, json_t *body, uint32_t timeout_ms)
{
	char path[256];

	snprintf(path, sizeof(path), "/containers/%.64s%s", id_of(which), action);
	return davy_runtime_call(c->api, method, path, body, timeout_ms, NULL);
}

int davy_container_start(struct davy_container *c, const json_t *which)
{
	return call(c, "POST", which, "/start", NULL, CALL_MS);
}

static uint32_t stop_ms(const json_t *which)
{
	const json_t *limit = json_object_get(json_object_get(which, "Config"), "StopTimeout");
	json_int_t seconds = json_is_integer(limit) ? json_integer_value(limit) : STOP_DEFAULT_S;

	if (seconds < 0 || seconds > STOP_MAX_S)
		seconds = STOP_MAX_S;
	return (uint32_t)seconds * 1000 + CALL_MS;
}

int davy_container_stop(struct davy_container *c, const json_t *which)
{
	return call(c, "POST", which, "/stop", NULL, stop_ms(which));
}

int davy_container_restart(struct davy_container *c, const json_t *which)
{
	return call(c, "POST", which, "/restart", NULL, stop_ms(which));
}

static int rename_to(struct davy_container *c, const json_t *which, const char *suffix)
{
	char action[160];

	snprintf(action, sizeof(action), "/rename?name=%s%s", c->name, suffix);
	return call(c, "POST", which, action, NULL, CALL_MS);
}

static int remove_one(struct davy_container *c, const json_t *which)
{
	int err = call(c, "DELETE", which, "?force=true", NULL, CALL_MS);

	return err == -ENOENT ? 0 : err;
}

/* "policy" as the runtime describes it, as JSON; NULL: never start it again. */
static int set_policy(struct davy_container *c, const json_t *which, const char *policy)
{
	json_t *value = policy ? json_loads(policy, 0, NULL) : NULL;

	if (c->api->fixed_policy) {
		json_decref(value);
		return 0;
	}
	if (!value)
		value = json_pack("{s:s}", "Name", "no");
	return call(c, "POST", which, "/update", json_pack("{s:o}", "RestartPolicy", value),
		    CALL_MS);
}

/* The owner's policy, as kept in the replacement. */
static const char *kept_policy(const json_t *ours)
{
	return json_string_value(davy_definition_label(ours, DAVY_LABEL_RESTART));
}

static bool has_policy(const json_t *which)
{
	const char *name = davy_definition_text(
		json_object_get(json_object_get(which, "HostConfig"), "RestartPolicy"), "Name");

	return name[0] && strcmp(name, "no") != 0;
}

static bool wants_policy(const json_t *ours)
{
	const char *text = kept_policy(ours);
	json_t *policy = text ? json_loads(text, 0, NULL) : NULL;
	const char *name = davy_definition_text(policy, "Name");
	bool wants = name[0] && strcmp(name, "no") != 0;

	json_decref(policy);
	return wants;
}

/* The owner's definition, should the owner remove the container that is kept. */
static int keep_definition(struct davy_container *c, const json_t *original)
{
	char path[PATH_MAX];
	char *text = json_dumps(original, JSON_INDENT(1));
	int err = -ENOMEM;

	if (text &&
	    snprintf(path, sizeof(path), "%s/%s.json", c->dir, c->full_name) < (int)sizeof(path))
		err = davy_replace_file(path, text, strlen(text), 0600);
	free(text);
	return err ? say(c, err, "its definition cannot be saved") : 0;
}

static void forget_definition(const struct davy_container *c)
{
	char path[PATH_MAX];

	if (snprintf(path, sizeof(path), "%s/%s.json", c->dir, c->full_name) < (int)sizeof(path))
		unlink(path);
}

/*
 * From here no replacement has the name. Stops it, starts the owner's container with its own
 * name and policy, and removes the replacement last: its label has the policy until then.
 */
static int finish_back(struct davy_container *c)
{
	int err = c->next && davy_container_runs(c->next) ? davy_container_stop(c, c->next) : 0;

	if (!err && c->next && c->before && wants_policy(c->next))
		err = set_policy(c, c->before, kept_policy(c->next));
	if (!err && c->before && !c->now)
		err = rename_to(c, c->before, "");
	if (!err && c->before && !c->now)
		err = davy_container_start(c, c->before);
	if (!err && c->next)
		err = remove_one(c, c->next);
	if (err)
		return err;
	if (c->now && c->before)
		snprintf(c->note, sizeof(c->note),
			 "its owner has made another container of that name; the previous one is "
			 "kept as '%s" DAVY_CONTAINER_BEFORE "'",
			 c->name);
	else
		forget_definition(c);
	return davy_container_look(c);
}

int davy_container_back(struct davy_container *c)
{
	int err = 0;

	if (!davy_container_is_ours(c->now))
		return 0;
	if (!c->before)
		return say(c, -ENOENT,
			   "its previous container was removed; only its owner can make it again. "
			   "Its definition is in davylamp's state directory");
	if (c->next)
		err = remove_one(c, c->next);
	if (!err && has_policy(c->now))
		err = set_policy(c, c->now, NULL);
	if (!err)
		err = rename_to(c, c->now, DAVY_CONTAINER_NEXT);
	if (err)
		return err;
	json_decref(c->next);
	c->next = c->now;
	c->now = NULL;
	return finish_back(c);
}

/* Texts in UTC: they sort by time. */
static bool stopped_after(const json_t *which, const json_t *made)
{
	const json_t *state = json_object_get(which, "State");

	return strcmp(davy_definition_text(state, "FinishedAt"),
		      davy_definition_text(made, "Created")) > 0;
}

/*
 * A replacement that is not in use yet: the owner's container was stopped for it, or still runs.
 */
static int recover_next(struct davy_container *c)
{
	int err = 0;

	if (!davy_container_runs(c->now) && stopped_after(c->now, c->next))
		err = davy_container_start(c, c->now);
	if (!err)
		err = remove_one(c, c->next);
	return err ? err : davy_container_look(c);
}

static int recover_ours(struct davy_container *c)
{
	const char *status = davy_definition_text(json_object_get(c->now, "State"), "Status");
	/* The restart policy is the last step; without it a restarted runtime starts none. */
	bool interrupted =
		!strcmp(status, "created") || (!has_policy(c->now) && wants_policy(c->now));
	int err = 0;

	if (!c->before) {
		snprintf(c->note, sizeof(c->note),
			 "its previous container was removed; its definition is in davylamp's "
			 "state directory");
		return 0;
	}
	/* A runtime that was restarted has started the owner's, or the name was about to change. */
	if (!davy_container_runs(c->now) && (c->next || davy_container_runs(c->before)))
		return davy_container_back(c);
	if (!interrupted && !c->next)
		return 0;
	if (c->next)
		err = remove_one(c, c->next);
	if (!err && interrupted && !davy_container_runs(c->now))
		err = davy_container_start(c, c->now);
	if (!err && interrupted && wants_policy(c->now))
		err = set_policy(c, c->now, kept_policy(c->now));
	return err ? err : davy_container_look(c);
}

int davy_container_recover(struct davy_container *c)
{
	if (c->next && !davy_container_is_ours(c->next)) {
		snprintf(c->note, sizeof(c->note),
			 "a container of another owner has the name '%s" DAVY_CONTAINER_NEXT "'",
			 c->name);
		return 0;
	}
	if (davy_container_is_ours(c->now))
		return recover_ours(c);
	if (!c->now && c->before && c->next)
		return finish_back(c);
	if (c->now && c->next)
		return recover_next(c);
	if (c->next) { /* the owner has removed the other two */
		int err = remove_one(c, c->next);

		forget_definition(c);
		return err ? err : davy_container_look(c);
	}
	/* No step removes both others: the owner has removed the replacement, or made his own. */
	if (!c->before)
		forget_definition(c);
	else
		snprintf(c->note, sizeof(c->note),
			 "'%s" DAVY_CONTAINER_BEFORE "' is kept from a change of davylamp that its "
			 "owner has ended; rename and start it, or remove it",
			 c->name);
	return 0;
}

/* Containers that share a namespace of this one end with it, and would not follow. */
static int check_shared(struct davy_container *c, const json_t *original)
{
	char needle[80];
	json_t *list;
	int err =
		davy_runtime_call(c->api, "GET", "/containers/json?all=true", NULL, CALL_MS, &list);

	if (err)
		return err;
	snprintf(needle, sizeof(needle), "container:%.64s", id_of(original));
	for (size_t i = 0; i < json_array_size(list); i++) {
		const json_t *host = json_object_get(json_array_get(list, i), "HostConfig");

		if (!strcmp(davy_definition_text(host, "NetworkMode"), needle))
			err = -ENOTSUP;
	}
	json_decref(list);
	return err ? say(c, err, "another container uses its network and would lose it") : 0;
}

/* By its name, if that is still the same image. */
static int image_of(struct davy_container *c, const json_t *original, char *image, size_t size)
{
	const char *name = davy_definition_text(json_object_get(original, "Config"), "Image");
	const char *id = davy_definition_text(original, "Image");
	char path[512];
	json_t *found = NULL;
	int err = -ENOENT;

	if (name[0] && strlen(name) < 256 && !strpbrk(name, "?#% \t\r\n")) {
		snprintf(path, sizeof(path), "/images/%s/json", name);
		err = davy_runtime_call(c->api, "GET", path, NULL, CALL_MS, &found);
	}
	if (err && err != -ENOENT)
		return err;
	snprintf(image, size, "%s", strcmp(davy_definition_text(found, "Id"), id) ? id : name);
	json_decref(found);
	return 0;
}

static int connect_networks(struct davy_container *c, const json_t *original, const json_t *made)
{
	json_t *networks = davy_definition_networks(original), *endpoint;
	const char *name;
	char path[256];
	int err = 0;

	json_object_foreach(networks, name, endpoint)
	{
		if (err || strlen(name) > 128 || strpbrk(name, "/?#% \t\r\n"))
			continue;
		snprintf(path, sizeof(path), "/networks/%s/connect", name);
		err = davy_runtime_call(c->api, "POST", path,
					json_pack("{s:s, s:O}", "Container", id_of(made),
						  "EndpointConfig", endpoint),
					CALL_MS, NULL);
	}
	json_decref(networks);
	return err;
}

/* Compares what the runtime has made with the request. */
static int check_made(struct davy_container *c, const json_t *original, const json_t *body)
{
	char names[200], why[DAVY_RUNTIME_WHY_LEN];
	int err = davy_container_look(c);

	if (err)
		return err;
	if (!c->next)
		return say(c, -ECANCELED, "the new container was removed by another program");
	err = davy_definition_check(original, body, c->next, names, sizeof(names));
	if (!err)
		return 0;
	snprintf(why, sizeof(why), "%s would make the new container differently: %s", c->api->name,
		 names);
	return say(c, err, why);
}

static int make_next(struct davy_container *c, const struct davy_definition_change *change,
		     const char *image)
{
	json_t *original = json_incref(davy_container_original(c));
	json_t *body = davy_definition_make(original, change, image), *made = NULL;
	char path[160];
	int err = body ? 0 : -ENOMEM;

	snprintf(path, sizeof(path), "/containers/create?name=%s" DAVY_CONTAINER_NEXT, c->name);
	if (!err)
		err = davy_runtime_call(c->api, "POST", path, json_incref(body), CALL_MS, &made);
	if (!err)
		err = connect_networks(c, original, made);
	if (!err)
		err = check_made(c, original, body);
	if (err && made) {
		char why[DAVY_RUNTIME_WHY_LEN];

		memcpy(why, c->api->why, sizeof(why));
		remove_one(c, made);
		say(c, err, why);
	}
	json_decref(made);
	json_decref(body);
	json_decref(original);
	return err;
}

/* Whether somebody has started the owner's container meanwhile. */
static int check_stopped(struct davy_container *c)
{
	int err = davy_container_look(c);

	if (err)
		return err;
	if (!c->now || !davy_container_is_ours(c->now))
		return say(c, -ECANCELED, "its owner has removed or made a container of this name");
	if (!c->before)
		return say(c, -ECANCELED, "its owner has removed it meanwhile");
	return davy_container_runs(c->before)
		       ? say(c, -ECANCELED, "its owner has started it meanwhile")
		       : 0;
}

/* Until the name is free. */
static int make_room(struct davy_container *c)
{
	int err;

	if (!davy_container_is_ours(c->now)) {
		err = davy_container_stop(c, c->now);
		if (!err && c->api->unchanged && davy_container_runs(c->now)) {
			remove_one(c, c->next); /* its owner's stop stays */
			return say(c, -ECANCELED, "its owner has stopped it meanwhile");
		}
		return err ? err : rename_to(c, c->now, DAVY_CONTAINER_BEFORE);
	}
	err = has_policy(c->now) ? set_policy(c, c->now, NULL) : 0;
	if (!err)
		err = davy_container_stop(c, c->now);
	return err ? err : remove_one(c, c->now);
}

static int take_over(struct davy_container *c)
{
	int err = make_room(c);

	if (!err)
		err = rename_to(c, c->next, "");
	if (!err)
		err = davy_container_look(c);
	if (!err && c->before && has_policy(c->before))
		err = set_policy(c, c->before, NULL);
	if (!err)
		err = check_stopped(c);
	if (!err)
		err = davy_container_start(c, c->now);
	if (!err && wants_policy(c->now))
		err = set_policy(c, c->now, kept_policy(c->now));
	return err == -ENOENT ? -ECANCELED : err;
}

/* After a failure: the owner's container again, with the reason of the failure. */
static int take_back(struct davy_container *c, int error)
{
	char why[DAVY_RUNTIME_WHY_LEN];

	memcpy(why, c->api->why, sizeof(why));
	if (davy_container_look(c) ||
	    (davy_container_is_ours(c->now) ? davy_container_back(c) : davy_container_recover(c)))
		snprintf(c->note, sizeof(c->note), "and it cannot be restored now: %.300s",
			 c->api->why);
	return say(c, error, why);
}

static int check_possible(struct davy_container *c, const json_t *original)
{
	char why[DAVY_RUNTIME_WHY_LEN];

	if (!original)
		return say(c, -ENOENT, "there is no such container");
	if (davy_definition_refusal(original, c->api->fixed_policy, why, sizeof(why)))
		return say(c, -ENOTSUP, why);
	return check_shared(c, original);
}

/* What runs is what is wanted: a restart is enough. */
static bool has_change(const struct davy_container *c, const json_t *original,
		       const struct davy_definition_change *change, const char *image)
{
	json_t *body;
	char why[200];
	bool has;

	if (!davy_container_is_ours(c->now))
		return false;
	body = davy_definition_make(original, change, image);
	json_object_del(json_object_get(body, "HostConfig"), "RestartPolicy");
	has = body && !davy_definition_check(original, body, c->now, why, sizeof(why));
	json_decref(body);
	return has;
}

int davy_container_change(struct davy_container *c, const struct davy_definition_change *change)
{
	struct davy_definition_change whole = *change;
	json_t *original = davy_container_original(c);
	bool ours = davy_container_is_ours(c->now);
	char image[256];
	int err = check_possible(c, original);

	if (!err)
		err = image_of(c, original, image, sizeof(image));
	if (err)
		return err;
	whole.keep_policy = c->api->fixed_policy;
	whole.restart = ours ? kept_policy(c->now) : NULL; /* the original has none meanwhile */
	if (has_change(c, original, &whole, image)) {
		err = davy_container_restart(c, c->now);
		return err ? err : davy_container_look(c);
	}
	err = ours ? 0 : keep_definition(c, original);
	if (!err)
		err = make_next(c, &whole, image);
	if (err)
		return err;
	err = take_over(c);
	return err ? take_back(c, err) : davy_container_look(c);
}
