/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "container/container.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define LOOK_MS 10000

bool davy_container_name_valid(const char *name)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "0123456789_.-";
	size_t len = strlen(name);

	return len && len <= DAVY_CONTAINER_NAME_MAX && strspn(name, letters) == len &&
	       name[0] != '.' && name[0] != '-' && name[0] != '_' && !strstr(name, ".davylamp-");
}

/* The runtime finds a container by its name or by the first digits of its id. */
static bool is_meant(const struct davy_container *c, const json_t *found, const char *name)
{
	const char *has = davy_definition_text(found, "Name");

	if (c->by_id)
		return !strncmp(davy_definition_text(found, "Id"), c->name, strlen(c->name));
	return !strcmp(has, name) || !strcmp(has, name + 1);
}

static int look_at(struct davy_container *c, const char *suffix, json_t **ret_inspect)
{
	char path[160], name[128];
	json_t *found = NULL;
	int err;

	snprintf(name, sizeof(name), "/%s%s", c->name, suffix);
	snprintf(path, sizeof(path), "/containers/%s%s/json?size=%d", c->name, suffix,
		 c->with_size && !suffix[0]);
	err = davy_runtime_call(c->api, "GET", path, NULL, LOOK_MS, &found);
	if (err == -ENOENT)
		return 0;
	if (err)
		return err;
	if (!is_meant(c, found, name)) {
		json_decref(found);
		return 0;
	}
	if (!davy_definition_text(found, "Id")[0] ||
	    !json_is_object(json_object_get(found, "State"))) {
		json_decref(found);
		snprintf(c->api->why, sizeof(c->api->why),
			 "%s: its description of a container is incomplete", c->api->name);
		return -EBADMSG;
	}
	*ret_inspect = found;
	return 0;
}

void davy_container_free(struct davy_container *c)
{
	json_decref(c->now);
	json_decref(c->before);
	json_decref(c->next);
	c->now = c->before = c->next = NULL;
}

int davy_container_look(struct davy_container *c)
{
	int err;

	davy_container_free(c);
	err = look_at(c, "", &c->now);
	if (!err)
		err = look_at(c, DAVY_CONTAINER_BEFORE, &c->before);
	if (!err)
		err = look_at(c, DAVY_CONTAINER_NEXT, &c->next);
	return err;
}

static bool replaces(const json_t *which, const json_t *original)
{
	const char *of = json_string_value(davy_definition_label(which, DAVY_LABEL_OF));

	return of && original && !strcmp(of, davy_definition_text(original, "Id"));
}

bool davy_container_replaced(const struct davy_container *c)
{
	return c->now && replaces(c->now, c->before);
}

bool davy_container_next_is_ours(const struct davy_container *c)
{
	return c->next && replaces(c->next, c->before ? c->before : c->now);
}

json_t *davy_container_original(const struct davy_container *c)
{
	return c->now && !davy_container_replaced(c) ? c->now : c->before;
}

bool davy_container_runs(const json_t *inspect)
{
	const json_t *state = json_object_get(inspect, "State");

	return json_is_true(json_object_get(state, "Running")) ||
	       json_is_true(json_object_get(state, "Restarting"));
}
