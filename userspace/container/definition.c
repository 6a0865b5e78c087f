/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "container/definition.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/text.h"

#define NO_NVIDIA "NVIDIA_VISIBLE_DEVICES=void"
#define SHORT_ID  12

const char *davy_definition_text(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text ? text : "";
}

static const json_t *config_of(const json_t *inspect)
{
	return json_object_get(inspect, "Config");
}

static const json_t *host_config_of(const json_t *inspect)
{
	return json_object_get(inspect, "HostConfig");
}

const json_t *davy_definition_label(const json_t *inspect, const char *name)
{
	return json_object_get(json_object_get(config_of(inspect), "Labels"), name);
}

/* The injected nodes are listed, and the hooks and mounts are not. */
static bool has_gpu_of_cdi(const json_t *host)
{
	const json_t *devices = json_object_get(host, "Devices");

	for (size_t i = 0; i < json_array_size(devices); i++)
		if (!strncmp(davy_definition_text(json_array_get(devices, i), "PathInContainer"),
			     "/dev/nvidia", 11))
			return true;
	return false;
}

const char *davy_definition_refusal(const json_t *inspect, bool fixed_policy, char *why,
				    size_t size)
{
	const json_t *host = host_config_of(inspect), *layer = json_object_get(inspect, "SizeRw");

	if (!json_is_object(config_of(inspect)) || !json_is_object(host) ||
	    !davy_definition_text(inspect, "Id")[0] || !davy_definition_text(inspect, "Image")[0])
		snprintf(why, size, "the runtime's description of it is incomplete");
	else if (json_is_true(json_object_get(host, "AutoRemove")))
		snprintf(why, size,
			 "it was started with --rm: its runtime deletes it when it is stopped");
	else if (fixed_policy &&
		 !strcmp(davy_definition_text(json_object_get(host, "RestartPolicy"), "Name"),
			 "always"))
		snprintf(
			why, size,
			"it has the restart policy 'always', which this runtime cannot change: the "
			"next boot would start two; use 'unless-stopped' or a unit");
	else if (davy_definition_label(inspect, "PODMAN_SYSTEMD_UNIT"))
		snprintf(why, size, "a unit of systemd runs it; adopt that unit");
	else if (fixed_policy && has_gpu_of_cdi(host))
		snprintf(why, size, "it has a GPU by CDI, which Podman's API does not describe");
	else if (davy_definition_label(inspect, "com.docker.swarm.service.id"))
		snprintf(why, size, "it belongs to a swarm service, which would replace it");
	else if (davy_definition_label(inspect, "io.kubernetes.pod.uid"))
		snprintf(why, size, "it belongs to a pod, which its cluster would restore");
	else if (json_integer_value(layer) > DAVY_DEFINITION_LAYER_MAX)
		snprintf(why, size,
			 "it has %lld MiB of files in its own layer, which a new container would "
			 "lose; put them into a volume",
			 (long long)(json_integer_value(layer) / 1048576));
	else
		return NULL;
	return why;
}

/* "NAME=VALUE" and "NAME" name the same variable. */
static bool same_variable(const char *a, const char *b)
{
	size_t len = strcspn(a, "=");

	return len == strcspn(b, "=") && !strncmp(a, b, len);
}

static json_t *make_environment(const json_t *original, const struct davy_definition_change *change)
{
	const json_t *env = json_object_get(config_of(original), "Env");
	json_t *made = json_array();

	for (size_t i = 0; i < json_array_size(env); i++) {
		const char *has = json_string_value(json_array_get(env, i));
		bool replaced = false;

		for (size_t j = 0; has && j < change->env_count; j++)
			replaced |= same_variable(has, change->env[j]);
		replaced |= has && change->cpu_only && same_variable(has, NO_NVIDIA);
		if (has && !replaced)
			json_array_append_new(made, json_string(has));
	}
	for (size_t j = 0; j < change->env_count; j++)
		json_array_append_new(made, json_string(change->env[j]));
	if (change->cpu_only) /* the default runtime may add GPUs */
		json_array_append_new(made, json_string(NO_NVIDIA));
	return made;
}

/* The runtime makes a host name and aliases from the first digits of the id. */
static bool is_short_id(const json_t *inspect, const char *name)
{
	const char *id = davy_definition_text(inspect, "Id");

	return strlen(name) == SHORT_ID && strlen(id) > SHORT_ID && !memcmp(name, id, SHORT_ID);
}

static json_t *make_config(const json_t *original, const struct davy_definition_change *change,
			   const char *image)
{
	json_t *config = json_deep_copy(config_of(original)), *labels;
	char *restart = json_dumps(json_object_get(host_config_of(original), "RestartPolicy"),
				   JSON_COMPACT | JSON_ENCODE_ANY | JSON_SORT_KEYS);

	labels = json_object_get(config, "Labels");
	if (!json_is_object(labels)) {
		labels = json_object();
		json_object_set_new(config, "Labels", labels);
	}
	json_object_set_new(labels, DAVY_LABEL_OF,
			    json_string(davy_definition_text(original, "Id")));
	json_object_set_new(labels, DAVY_LABEL_RESTART,
			    json_string(change->restart ? change->restart
					: restart	? restart
							: "null"));
	json_object_set_new(config, "Image", json_string(image));
	json_object_set_new(config, "Env", make_environment(original, change));
	if (is_short_id(original, davy_definition_text(config, "Hostname")))
		json_object_del(config, "Hostname");
	free(restart);
	return config;
}

static bool mounted_by(const json_t *binds, const char *destination)
{
	size_t len = strlen(destination);

	for (size_t i = 0; i < json_array_size(binds); i++) {
		const char *bind = json_string_value(json_array_get(binds, i));
		const char *at = bind ? strchr(bind, ':') : NULL;

		if (at && !strncmp(at + 1, destination, len) &&
		    (!at[1 + len] || at[1 + len] == ':'))
			return true;
	}
	return false;
}

static bool mounted_by_mount(const json_t *mounts, const char *destination)
{
	for (size_t i = 0; i < json_array_size(mounts); i++)
		if (!strcmp(davy_definition_text(json_array_get(mounts, i), "Target"), destination))
			return true;
	return false;
}

/*
 * Anonymous volumes are only in the list of mounts: by name, so that the new container has the
 * same ones.
 */
static void add_volumes(const json_t *original, json_t *host)
{
	const json_t *mounts = json_object_get(original, "Mounts");
	json_t *binds = json_object_get(host, "Binds");

	if (!json_is_array(binds)) {
		binds = json_array();
		json_object_set_new(host, "Binds", binds);
	}
	for (size_t i = 0; i < json_array_size(mounts); i++) {
		const json_t *mount = json_array_get(mounts, i);
		const char *to = davy_definition_text(mount, "Destination");
		bool writable = json_is_true(json_object_get(mount, "RW"));

		if (strcmp(davy_definition_text(mount, "Type"), "volume") != 0 ||
		    mounted_by(binds, to) || mounted_by_mount(json_object_get(host, "Mounts"), to))
			continue;
		json_array_append_new(binds,
				      json_sprintf("%s:%s%s", davy_definition_text(mount, "Name"),
						   to, writable ? "" : ":ro"));
	}
}

static bool is_gpu_path(const char *path)
{
	return !strncmp(path, "/dev/dri", 8) || !strncmp(path, "/dev/kfd", 8) ||
	       !strncmp(path, "/dev/nvidia", 11) || !strncmp(path, "/dev/accel", 10);
}

static bool is_gpu(const json_t *device)
{
	return is_gpu_path(davy_definition_text(device, "PathOnHost")) ||
	       is_gpu_path(davy_definition_text(device, "PathInContainer"));
}

static bool is_gpu_request(const json_t *request)
{
	const json_t *list = json_object_get(request, "Capabilities");

	for (size_t i = 0; i < json_array_size(list); i++)
		for (size_t j = 0; j < json_array_size(json_array_get(list, i)); j++) {
			const char *one =
				json_string_value(json_array_get(json_array_get(list, i), j));

			if (one && !strcmp(one, "gpu"))
				return true;
		}
	return !strcmp(davy_definition_text(request, "Driver"), "cdi");
}

static void leave_out(json_t *list, bool (*is)(const json_t *item))
{
	for (size_t i = json_array_size(list); i-- > 0;)
		if (is(json_array_get(list, i)))
			json_array_remove(list, i);
}

/* Podman (4.3, compat API) describes "RLIMIT_NOFILE" and accepts "nofile" only. */
static void name_limits(json_t *limits)
{
	static const char prefix[] = "RLIMIT_";
	size_t skip = sizeof(prefix) - 1;

	for (size_t i = 0; i < json_array_size(limits); i++) {
		json_t *limit = json_array_get(limits, i);
		const char *name = davy_definition_text(limit, "Name");
		char lower[32] = "";

		if (strncmp(name, prefix, skip) != 0 || strlen(name) - skip >= sizeof(lower))
			continue;
		for (size_t j = 0; name[skip + j]; j++)
			lower[j] = (char)tolower((unsigned char)name[skip + j]);
		json_object_set_new(limit, "Name", json_string(lower));
	}
}

static json_t *make_host_config(const json_t *original, const struct davy_definition_change *change)
{
	json_t *host = json_deep_copy(host_config_of(original));

	if (!change->keep_policy)
		json_object_set_new(host, "RestartPolicy", json_pack("{s:s}", "Name", "no"));
	name_limits(json_object_get(host, "Ulimits"));
	add_volumes(original, host);
	if (!change->cpu_only)
		return host;
	leave_out(json_object_get(host, "Devices"), is_gpu);
	leave_out(json_object_get(host, "DeviceRequests"), is_gpu_request);
	if (!strcmp(davy_definition_text(host, "Runtime"), "nvidia"))
		json_object_del(host, "Runtime"); /* it needs a driver that may have failed */
	return host;
}

/* What the owner has set; the rest of an endpoint is the runtime's. */
static json_t *make_endpoint(const json_t *original, const json_t *endpoint)
{
	static const char *const kept[] = { "IPAMConfig", "Links", "DriverOpts", "GwPriority" };
	const json_t *aliases = json_object_get(endpoint, "Aliases");
	json_t *made = json_object(), *names = json_array();

	for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++)
		if (json_object_get(endpoint, kept[i]))
			json_object_set(made, kept[i], json_object_get(endpoint, kept[i]));
	for (size_t i = 0; i < json_array_size(aliases); i++) {
		const char *name = json_string_value(json_array_get(aliases, i));

		if (name && !is_short_id(original, name))
			json_array_append_new(names, json_string(name));
	}
	if (json_array_size(names))
		json_object_set(made, "Aliases", names);
	json_decref(names);
	return made;
}

static json_t *networks_of(const json_t *inspect)
{
	return json_object_get(json_object_get(inspect, "NetworkSettings"), "Networks");
}

static const char *first_network(const json_t *original)
{
	const char *mode = davy_definition_text(host_config_of(original), "NetworkMode");

	/* "default" is the network "bridge" of Docker. */
	return !strcmp(mode, "default") || !mode[0] ? "bridge" : mode;
}

/* Before version 1.44 of the API a request can name one network only. */
json_t *davy_definition_make(const json_t *original, const struct davy_definition_change *change,
			     const char *image)
{
	json_t *body = make_config(original, change, image);
	const json_t *endpoint = json_object_get(networks_of(original), first_network(original));
	json_t *endpoints = json_object();

	if (endpoint)
		json_object_set_new(endpoints, first_network(original),
				    make_endpoint(original, endpoint));
	json_object_set_new(body, "HostConfig", make_host_config(original, change));
	json_object_set_new(body, "NetworkingConfig",
			    json_pack("{s:o}", "EndpointsConfig", endpoints));
	return body;
}

json_t *davy_definition_networks(const json_t *original)
{
	json_t *others = json_object(), *networks = networks_of(original), *endpoint;
	const char *name;

	json_object_foreach(networks, name, endpoint)
	{
		if (strcmp(name, first_network(original)) != 0)
			json_object_set_new(others, name, make_endpoint(original, endpoint));
	}
	return others;
}

static bool means_nothing(const json_t *value)
{
	return !value || json_is_null(value) || json_is_false(value) ||
	       (json_is_array(value) && !json_array_size(value)) ||
	       (json_is_object(value) && !json_object_size(value)) ||
	       (json_is_string(value) && !json_string_length(value)) ||
	       (json_is_integer(value) && !json_integer_value(value));
}

static bool same_value(const json_t *a, const json_t *b)
{
	const char *key;
	json_t *value;

	if (means_nothing(a) || means_nothing(b))
		return means_nothing(a) && means_nothing(b);
	if (!json_is_object(a) || !json_is_object(b))
		return json_equal(a, b);
	json_object_foreach((json_t *)a, key, value)
	{
		if (!same_value(value, json_object_get(b, key)))
			return false;
	}
	json_object_foreach((json_t *)b, key, value)
	{
		if (!json_object_get(a, key) && !means_nothing(value))
			return false;
	}
	return true;
}

static void add_difference(char *why, size_t size, const char *name)
{
	size_t used = strlen(why);
	char safe[64];

	snprintf(why + used, size - used, "%s%s", used ? ", " : "",
		 davy_text_safe(safe, sizeof(safe), name));
}

static bool list_has(const json_t *list, const json_t *item)
{
	for (size_t i = 0; i < json_array_size(list); i++)
		if (json_equal(json_array_get(list, i), item))
			return true;
	return false;
}

/* Podman sorts them. */
static bool same_environment(const json_t *a, const json_t *b)
{
	if (json_array_size(a) != json_array_size(b))
		return false;
	for (size_t i = 0; i < json_array_size(a); i++)
		if (!list_has(b, json_array_get(a, i)))
			return false;
	return true;
}

/*
 * Each member of "asked" is in "made"; the lists of the runtime's own defaults are not compared.
 */
static void compare_members(const json_t *asked, const json_t *made, char *why, size_t size)
{
	json_t *value;
	const char *key;

	json_object_foreach((json_t *)asked, key, value)
	{
		const json_t *other = json_object_get(made, key);

		if (!strcmp(key, "HostConfig") || !strcmp(key, "NetworkingConfig"))
			continue;
		if (!strcmp(key, "Env") ? !same_environment(value, other)
					: !same_value(value, other))
			add_difference(why, size, key);
	}
}

/* Mounts have no order. */
static bool mount_is_in(const json_t *mount, const json_t *list)
{
	static const char *const keys[] = { "Type", "Name", "Source", "Destination" };

	for (size_t i = 0; i < json_array_size(list); i++) {
		const json_t *other = json_array_get(list, i);
		bool same = json_is_true(json_object_get(mount, "RW")) ==
			    json_is_true(json_object_get(other, "RW"));

		for (size_t j = 0; same && j < sizeof(keys) / sizeof(keys[0]); j++)
			same = !strcmp(davy_definition_text(mount, keys[j]),
				       davy_definition_text(other, keys[j]));
		if (same)
			return true;
	}
	return false;
}

int davy_definition_check(const json_t *original, const json_t *body, const json_t *made, char *why,
			  size_t size)
{
	json_t *described = json_deep_copy(host_config_of(made));
	const json_t *had = json_object_get(original, "Mounts"),
		     *has = json_object_get(made, "Mounts");
	json_t *networks = networks_of(original), *endpoint;
	const char *name;

	why[0] = 0;
	compare_members(body, config_of(made), why, size);
	name_limits(json_object_get(described, "Ulimits"));
	compare_members(json_object_get(body, "HostConfig"), described, why, size);
	json_decref(described);
	if (strcmp(davy_definition_text(original, "Image"), davy_definition_text(made, "Image")) !=
	    0)
		add_difference(why, size, "Image");
	if (json_array_size(had) != json_array_size(has))
		add_difference(why, size, "Mounts");
	for (size_t i = 0; i < json_array_size(had); i++)
		if (!mount_is_in(json_array_get(had, i), has))
			add_difference(why, size, "Mounts");
	json_object_foreach(networks, name, endpoint)
	{
		if (!json_object_get(networks_of(made), name))
			add_difference(why, size, name);
	}
	return why[0] ? -ENOTSUP : 0;
}
