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
#define WAIT_MS	       2000
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
	int err = call(c, "POST", which, "/start", NULL, CALL_MS);
	const char *name = davy_definition_text(which, "Name");
	size_t used = strlen(c->api->why);

	/* Docker that was killed may keep the port of a container that has ended (20.10). */
	if (err && strstr(c->api->why, "port is already allocated"))
		snprintf(c->api->why + used, sizeof(c->api->why) - used,
			 "; if nothing else uses it, type: systemctl restart docker && "
			 "docker start %.80s",
			 name + (name[0] == '/'));
	return err;
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
 * From here no replacement has the name. Stops it, starts the owner's container with its own name
 * and policy, and removes the replacement last: its label has the policy until then.
 */
static int finish_back(struct davy_container *c, bool start)
{
	int err = c->next && has_policy(c->next) ? set_policy(c, c->next, NULL) : 0;

	if (!err && c->next && davy_container_runs(c->next))
		err = davy_container_stop(c, c->next);
	if (!err && c->next && c->before && wants_policy(c->next))
		err = set_policy(c, c->before, kept_policy(c->next));
	if (!err && c->before && !c->now)
		err = rename_to(c, c->before, "");
	if (!err && c->before && !c->now && start)
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

/* What was written into the replacement ends with it. */
static int check_layer(struct davy_container *c)
{
	json_int_t size = json_integer_value(json_object_get(c->now, "SizeRw"));

	if (size <= DAVY_DEFINITION_LAYER_MAX)
		return 0;
	return say(c, -ENOTSUP,
		   "the container that replaces it has files of more than 64 MiB in its own layer; "
		   "move them into a volume");
}

static int go_back(struct davy_container *c, bool start)
{
	int err = 0;

	if (c->next && !davy_container_next_is_ours(c))
		return say(c, -EEXIST,
			   "another container has the name that ends in "
			   "'" DAVY_CONTAINER_NEXT "'");
	if (c->next)
		err = remove_one(c, c->next);
	if (!err)
		err = rename_to(c, c->now, DAVY_CONTAINER_NEXT);
	if (err)
		return err;
	json_decref(c->next);
	c->next = c->now;
	c->now = NULL;
	return finish_back(c, start);
}

int davy_container_back(struct davy_container *c)
{
	int err;

	if (!davy_container_replaced(c))
		return 0;
	err = check_layer(c);
	return err ? err : go_back(c, davy_container_runs(c->now));
}

/* Texts in UTC: they sort by time. */
static bool stopped_after(const json_t *which, const json_t *made)
{
	const json_t *state = json_object_get(which, "State");

	return strcmp(davy_definition_text(state, "FinishedAt"),
		      davy_definition_text(made, "Created")) > 0;
}

/*
 * A replacement that is not in use yet: the owner's container was stopped for it, is being stopped
 * by a request whose sender has died, or still runs.
 */
static int recover_next(struct davy_container *c)
{
	json_t *made = json_incref(c->next);
	int err = call(c, "POST", c->now, "/wait?condition=not-running", NULL,
		       stop_ms(c->now) - CALL_MS + WAIT_MS);

	if (!err || err == -ETIMEDOUT)
		err = davy_container_look(c);
	if (!err && c->now && !davy_container_runs(c->now) && stopped_after(c->now, made))
		err = davy_container_start(c, c->now);
	if (!err && c->next)
		err = remove_one(c, c->next);
	json_decref(made);
	return err ? err : davy_container_look(c);
}

static int recover_replaced(struct davy_container *c)
{
	const char *status = davy_definition_text(json_object_get(c->now, "State"), "Status");
	bool runs = davy_container_runs(c->now), made = !strcmp(status, "created");
	int err = 0;

	/* A runtime that was restarted, or another program, has started the owner's. */
	if (davy_container_runs(c->before) || (c->next && !runs))
		return go_back(c, true);
	if (!made && !c->next)
		return 0;
	if (c->next)
		err = remove_one(c, c->next);
	if (!err && has_policy(c->before))
		err = set_policy(c, c->before, NULL);
	if (!err && made && wants_policy(c->now))
		err = set_policy(c, c->now, kept_policy(c->now));
	if (!err && made)
		err = davy_container_start(c, c->now);
	return err ? err : davy_container_look(c);
}

/* A layout that no step leaves: the owner has removed one of the containers, or made his own. */
static void note_layout(struct davy_container *c)
{
	if (!c->before)
		forget_definition(c);
	if (!c->before && davy_definition_label(c->now, DAVY_LABEL_OF))
		snprintf(c->note, sizeof(c->note),
			 "the container that it replaced was removed; it has settings of davylamp");
	else if (c->before)
		snprintf(c->note, sizeof(c->note),
			 "'%s" DAVY_CONTAINER_BEFORE "' is kept from a change of davylamp that its "
			 "owner has ended; rename and start it, or remove it",
			 c->name);
}

int davy_container_recover(struct davy_container *c)
{
	bool ours = davy_container_next_is_ours(c);

	if (c->next && !ours && (c->now || c->before)) {
		snprintf(c->note, sizeof(c->note),
			 "a container of another owner has the name '%s" DAVY_CONTAINER_NEXT "'",
			 c->name);
		return 0;
	}
	if (davy_container_replaced(c))
		return recover_replaced(c);
	if (!c->now && c->before && ours)
		return finish_back(c, true);
	if (c->now && ours)
		return recover_next(c);
	if (c->next && davy_definition_label(c->next, DAVY_LABEL_OF)) {
		int err = remove_one(c, c->next); /* the owner has removed the other two */

		forget_definition(c);
		return err ? err : davy_container_look(c);
	}
	note_layout(c);
	return 0;
}

static bool shares(const json_t *inspect, const char *id)
{
	static const char *const modes[] = { "NetworkMode", "PidMode", "IpcMode" };
	const json_t *host = json_object_get(inspect, "HostConfig");
	static const char prefix[] = "container:";

	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
		const char *mode = davy_definition_text(host, modes[i]);

		if (!strncmp(mode, prefix, sizeof(prefix) - 1) &&
		    !strcmp(mode + sizeof(prefix) - 1, id))
			return true;
	}
	return false;
}

/* Containers that share a namespace of this one end with it, and would not follow. */
static int check_shared(struct davy_container *c, const json_t *original)
{
	json_t *list = NULL, *other = NULL;
	bool shared = false;
	int err = davy_runtime_call(c->api, "GET", "/containers/json", NULL, CALL_MS, &list);

	for (size_t i = 0; !err && !shared && i < json_array_size(list); i++) {
		const char *id = id_of(json_array_get(list, i));
		char path[128];

		snprintf(path, sizeof(path), "/containers/%.64s/json", id);
		if (!id[0] || strpbrk(id, "/?#% ") ||
		    davy_runtime_call(c->api, "GET", path, NULL, CALL_MS, &other))
			continue; /* it has ended meanwhile */
		shared = shares(other, id_of(original)) || shares(other, id_of(c->now));
		json_decref(other);
	}
	json_decref(list);
	if (shared)
		return say(c, -ENOTSUP,
			   "another container uses a namespace of it and would lose it");
	return err;
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

/* -ECANCELED: the owner has started, removed or replaced the container during the change. */
static int check_stopped(struct davy_container *c)
{
	int err = davy_container_look(c);

	if (err)
		return err;
	if (!davy_container_replaced(c) && c->before)
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

	if (!davy_container_replaced(c)) {
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
	if (!err && c->now && wants_policy(c->now))
		err = set_policy(c, c->now, kept_policy(c->now));
	if (!err)
		err = check_stopped(c);
	if (!err)
		err = davy_container_start(c, c->now);
	return err == -ENOENT ? -ECANCELED : err;
}

/* After a failure: the owner's container again, with the reason of the failure. */
static int take_back(struct davy_container *c, int error)
{
	char why[DAVY_RUNTIME_WHY_LEN];

	memcpy(why, c->api->why, sizeof(why));
	if (davy_container_look(c) ||
	    (davy_container_replaced(c) ? go_back(c, true) : davy_container_recover(c)))
		snprintf(c->note, sizeof(c->note), "and it cannot be restored now: %.300s",
			 c->api->why);
	return say(c, error, why);
}

/* What Podman's own API describes and its Engine API neither shows nor takes. */
static int check_podman(struct davy_container *c, const json_t *original)
{
	json_t *own = NULL;
	char path[128];
	bool more;
	int err;

	snprintf(path, sizeof(path), "/libpod/containers/%.64s/json", id_of(original));
	err = davy_runtime_call(c->api, "GET", path, NULL, CALL_MS, &own);
	if (err)
		return err;
	more = davy_definition_text(own, "Pod")[0] ||
	       json_is_object(json_object_get(own, "IDMappings")) ||
	       json_array_size(json_object_get(json_object_get(own, "Config"), "Secrets"));
	json_decref(own);
	return more ? say(c, -ENOTSUP,
			  "it has a pod, secrets or a user namespace, which Podman's Engine "
			  "API does not carry over")
		    : 0;
}

static int check_possible(struct davy_container *c, const json_t *original)
{
	char why[DAVY_RUNTIME_WHY_LEN];

	if (!original)
		return say(c, -ENOENT, "there is no such container");
	if (c->next || (c->before && !davy_container_replaced(c)))
		return say(c, -EEXIST, "a container of an earlier change is left; remove it first");
	if (davy_definition_refusal(original, c->api->fixed_policy, why, sizeof(why)))
		return say(c, -ENOTSUP, why);
	if (davy_container_replaced(c) && check_layer(c))
		return -ENOTSUP;
	if (c->api->fixed_policy) {
		int err = check_podman(c, original);

		if (err)
			return err;
	}
	return check_shared(c, original);
}

/* What runs is what is wanted: a restart is enough. */
static bool has_change(const struct davy_container *c, const json_t *original,
		       const struct davy_definition_change *change, const char *image)
{
	json_t *body;
	char why[200];
	bool has;

	if (davy_compose_is(original))
		return davy_compose_has(original, change);
	if (!davy_container_replaced(c))
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
	bool ours = davy_container_replaced(c);
	char image[256];
	int err = check_possible(c, original);

	if (!err)
		err = image_of(c, original, image, sizeof(image));
	if (err)
		return err;
	whole.keep_policy = c->api->fixed_policy;
	whole.restart = ours ? kept_policy(c->now) : NULL; /* the original has none meanwhile */
	if (has_change(c, original, &whole, image)) {
		if (!change->apply)
			err = davy_container_restart(c, c->now);
		else if (!davy_container_runs(c->now))
			err = davy_container_start(c, c->now);
		return err ? err : davy_container_look(c);
	}
	if (davy_compose_is(original)) /* "apply" ends a refused action: the file stays */
		return change->apply ? 0 : davy_compose_refuse(c, original, change);
	err = ours ? 0 : keep_definition(c, original);
	if (!err)
		err = make_next(c, &whole, image);
	if (err)
		return err;
	err = take_over(c);
	return err ? take_back(c, err) : davy_container_look(c);
}
