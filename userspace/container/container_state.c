/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A container in the words of a systemd unit: see struct davy_unit_state. */
#include "container/container.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "lib/file.h"
#include "lib/number.h"

#define PORTS_MAX 16
#define TEXTS_MAX ((size_t)4096) /* bytes */

/* The path in the cgroup v2 hierarchy; "": unknown. */
static void read_cgroup(json_int_t pid, char *cgroup, size_t size)
{
	char path[64], text[4096], *at, *end;

	cgroup[0] = 0;
	snprintf(path, sizeof(path), "/proc/%lld/cgroup", (long long)pid);
	if (davy_read_file(path, text, sizeof(text)) <= 0)
		return;
	at = !strncmp(text, "0::", 3) ? text : strstr(text, "\n0::");
	if (!at)
		return;
	at = strchr(at, '/');
	end = at ? strchr(at, '\n') : NULL;
	if (end && (size_t)(end - at) < size)
		snprintf(cgroup, size, "%.*s", (int)(end - at), at);
}

static const char *active_of(const json_t *state)
{
	const char *status = davy_definition_text(state, "Status");
	json_int_t code = json_integer_value(json_object_get(state, "ExitCode"));

	if (!strcmp(status, "running") || !strcmp(status, "paused"))
		return "active";
	if (!strcmp(status, "restarting"))
		return "activating";
	if (strcmp(status, "exited") != 0 && strcmp(status, "stopped") != 0)
		return "inactive";
	/* Docker reports no stop by a user; a status of SIGTERM, SIGKILL or SIGINT suggests one. */
	if (!json_is_true(json_object_get(state, "OOMKilled")) &&
	    (!code || code == 128 + SIGTERM || code == 128 + SIGKILL || code == 128 + SIGINT))
		return "inactive";
	return "failed";
}

/* [[in the container, on this host]...]; of IPv4 and all addresses or loopback. */
static json_t *ports_of(const json_t *inspect)
{
	const json_t *network = json_object_get(inspect, "NetworkSettings");
	json_t *ports = json_object_get(network, "Ports"), *made = json_array(), *list;
	const char *inside;

	json_object_foreach(ports, inside, list)
	{
		for (size_t i = 0; i < json_array_size(list); i++) {
			const json_t *one = json_array_get(list, i);
			const char *host = davy_definition_text(one, "HostIp");
			unsigned int in, out;

			if (json_array_size(made) >= PORTS_MAX ||
			    (host[0] && strcmp(host, "0.0.0.0") != 0 &&
			     strcmp(host, "127.0.0.1") != 0) ||
			    sscanf(inside, "%5u/tcp", &in) != 1 ||
			    sscanf(davy_definition_text(one, "HostPort"), "%5u", &out) != 1)
				continue;
			json_array_append_new(made, json_pack("[ii]", (int)in, (int)out));
		}
	}
	return made;
}

/* Its first address of IPv4, where ports are that it does not publish; "": none. */
static const char *address_of(const json_t *inspect)
{
	json_t *networks = json_object_get(json_object_get(inspect, "NetworkSettings"), "Networks");
	const char *name;
	json_t *network;

	json_object_foreach(networks, name, network)
	{
		if (davy_definition_text(network, "IPAddress")[0])
			return davy_definition_text(network, "IPAddress");
	}
	return "";
}

/* Texts only, up to "size" bytes. */
static void add_texts(json_t *to, const json_t *list, size_t size)
{
	for (size_t i = 0; i < json_array_size(list); i++) {
		const json_t *text = json_array_get(list, i);

		if (!json_is_string(text) || json_string_length(text) >= size)
			continue;
		size -= json_string_length(text) + 1;
		json_array_append(to, (json_t *)text);
	}
}

/* The owner's entry point and arguments. */
static json_t *command_of(const json_t *original)
{
	const json_t *config = json_object_get(original, "Config");
	json_t *words = json_array();

	add_texts(words, json_object_get(config, "Entrypoint"), TEXTS_MAX);
	add_texts(words, json_object_get(config, "Cmd"), TEXTS_MAX);
	return words;
}

static json_t *environment_of(const json_t *original)
{
	json_t *words = json_array();

	add_texts(words, json_object_get(json_object_get(original, "Config"), "Env"), TEXTS_MAX);
	return words;
}

/* Its unit, if its definition asks the agent to adopt it. */
static json_t *consent_of(const struct davy_container *c)
{
	const char *label = json_string_value(davy_definition_label(c->now, DAVY_LABEL_ADOPT));
	const char *name = davy_definition_text(c->now, "Name");

	name += name[0] == '/';
	if (!label || strcmp(label, "enforce") != 0 || !davy_container_name_valid(name))
		return json_string("");
	return json_sprintf("%.*s%s", (int)(c->name - c->full_name), c->full_name, name);
}

/* Of the image's id, "sha256:..."; Podman has no prefix. */
static const char *digits_of(const json_t *inspect)
{
	const char *id = davy_definition_text(inspect, "Image"), *colon = strchr(id, ':');

	return colon ? colon + 1 : id;
}

json_t *davy_container_state(const struct davy_container *c)
{
	const json_t *state = json_object_get(c->now, "State"),
		     *original = davy_container_original(c);
	const json_t *host = json_object_get(c->now, "HostConfig");
	json_int_t pid = json_integer_value(json_object_get(state, "Pid"));
	json_int_t code = json_integer_value(json_object_get(state, "ExitCode"));
	bool signalled = code > 128 && code < 128 + NSIG;
	char cgroup[512] = "";

	if (pid > 0)
		read_cgroup(pid, cgroup, sizeof(cgroup));
	if (!strstr(cgroup, davy_definition_text(c->now, "Id"))) /* another one's: never frozen */
		cgroup[0] = 0;
	if (!c->now)
		return json_pack("{s:s}", "load", "not-found");
	return json_pack(
		"{s:s, s:s, s:s, s:s, s:I, s:i, s:I, s:o, s:o, s:o, s:b, s:s, s:s, s:s, s:o}",
		"load", "loaded", "active", active_of(state), "sub",
		davy_definition_text(state, "Status"), "cgroup", cgroup, "main_pid",
		pid > 0 ? pid : 0, "exit_code", signalled ? CLD_KILLED : CLD_EXITED, "exit_status",
		signalled ? code - 128 : code, "environment", environment_of(original), "command",
		command_of(original), "ports", ports_of(c->now), "own_network",
		strcmp(davy_definition_text(host, "NetworkMode"), "host") != 0, "id",
		davy_definition_text(c->now, "Id"), "address", address_of(c->now), "image",
		digits_of(c->now), "consent", consent_of(c));
}
