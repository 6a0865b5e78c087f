/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A container of a project of Docker Compose: Compose takes a second container of the service for
 * its own, so that only Compose may make another one. The change becomes an override file.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "container/container.h"
#include "store/generated.h"

#define LABEL	    "com.docker.compose."
#define COMMAND_LEN ((size_t)120)
#define WORD_CHARS  "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/_.-"

static const char *compose_label(const json_t *original, const char *name)
{
	char key[64];
	const char *text;

	snprintf(key, sizeof(key), LABEL "%s", name);
	text = json_string_value(davy_definition_label(original, key));
	return text ? text : "";
}

/* Anybody's text that needs no quotes in YAML or a shell. */
static bool is_word(const char *text, const char *letters)
{
	return text[0] && text[0] != '-' && !text[strspn(text, letters)];
}

bool davy_compose_is(const json_t *original)
{
	return compose_label(original, "project")[0];
}

static bool compose_has_variable(const json_t *original, const char *variable)
{
	const json_t *env = json_object_get(json_object_get(original, "Config"), "Env");

	for (size_t i = 0; i < json_array_size(env); i++)
		if (json_is_string(json_array_get(env, i)) &&
		    !strcmp(json_string_value(json_array_get(env, i)), variable))
			return true;
	return false;
}

bool davy_compose_has(const json_t *original, const struct davy_definition_change *change)
{
	for (size_t i = 0; i < change->env_count; i++)
		if (!compose_has_variable(original, change->env[i]))
			return false;
	return true;
}

int davy_compose_path(const struct davy_container *c, char *path, size_t size)
{
	return snprintf(path, size, "%s/%s.compose.yaml", c->dir, c->full_name) < (int)size
		       ? 0
		       : -ENAMETOOLONG;
}

/* -EINVAL: a value cannot be written between double quotes. */
static int write_override(FILE *out, const char *service,
			  const struct davy_definition_change *change)
{
	fprintf(out, "services:\n  %s:\n", service);
	if (change->cpu_only)
		fputs("    # without its GPUs, Compose 2.24 or later: devices: !reset []\n", out);
	fputs("    environment:\n", out);
	for (size_t i = 0; i < change->env_count; i++) {
		const char *equals = strchr(change->env[i], '=');

		if (strpbrk(equals, "\"\\$"))
			return -EINVAL;
		fprintf(out, "      %.*s: \"%s\"\n", (int)(equals - change->env[i]), change->env[i],
			equals + 1);
	}
	return 0;
}

static int keep_override(const struct davy_container *c, const char *service,
			 const struct davy_definition_change *change, char *path, size_t size)
{
	int err = davy_compose_path(c, path, size), done;
	uint32_t version = 0;
	size_t length = 0;
	char *body = NULL;
	FILE *out = err ? NULL : open_memstream(&body, &length);

	if (!out)
		return err ? err : -ENOMEM;
	err = write_override(out, service, change);
	if (fclose(out) && !err)
		err = -ENOMEM;
	done = err ? err : davy_generated_renew(path, DAVY_GENERATED_COMMENT, body, &version);
	free(body);
	return done == -EALREADY || done > 0 ? 0 : done;
}

/* The files that the project was started with, and not yet "path"; too many: "command" stays. */
static void compose_command(const char *files, const char *path, char command[COMMAND_LEN])
{
	char made[COMMAND_LEN] = "";
	size_t used = 0, length;

	for (const char *at = files; *at; at += length + (at[length] == ',')) {
		length = strcspn(at, ",");
		if (length == strlen(path) && !strncmp(at, path, length))
			continue;
		used += (size_t)snprintf(made + used, sizeof(made) - used, "%s-f %.*s",
					 used ? " " : "", (int)length, at);
		if (used >= sizeof(made))
			return;
	}
	if (used)
		memcpy(command, made, used + 1);
}

int davy_compose_refuse(struct davy_container *c, const json_t *original,
			const struct davy_definition_change *change)
{
	const char *service = compose_label(original, "service");
	const char *files = compose_label(original, "project.config_files");
	const char *project = compose_label(original, "project");
	char path[PATH_MAX], command[COMMAND_LEN] = "-f THE_PROJECT'S_FILE";
	int err = is_word(service, WORD_CHARS)
			  ? keep_override(c, service, change, path, sizeof(path))
			  : -EINVAL;

	if (err) {
		snprintf(c->api->why, sizeof(c->api->why),
			 "only Compose may change a container of its project, and no override file "
			 "can be written: %s",
			 err == -EINVAL ? "a name or value needs quotes" : strerror(-err));
		return -ENOTSUP;
	}
	if (is_word(files, WORD_CHARS ",:"))
		compose_command(files, path, command);
	snprintf(c->api->why, sizeof(c->api->why),
		 "only Compose may change a container of its project; type: "
		 "docker compose -p %.40s %s -f %.120s up -d %.40s",
		 is_word(project, WORD_CHARS) ? project : "THE_PROJECT", command, path, service);
	return -ENOTSUP;
}
