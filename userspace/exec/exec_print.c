/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/text.h"
#include "report/choice_text.h"
#include "exec/exec_case.h"

static void print_word(const char *before, const char *word)
{
	char *text = davy_text_shell(word);

	printf("%s%s", before, text ? text : "?");
	free(text);
}

static void print_variable(const char *name, const char *value)
{
	if (!value) {
		printf("would unset: %s\n", name);
		return;
	}
	printf("would set: %s=", name);
	print_word("", value);
	putchar('\n');
}

static void exec_print_devices(const struct davy_exec_case *c)
{
	for (size_t i = 0; i < c->device_count; i++) {
		const struct davy_host_device *d = &c->devices[i];
		char text[32] = "unknown";

		if (d->free_bytes != DAVY_FIT_UNKNOWN)
			davy_bytes_text(d->free_bytes, text, sizeof(text));
		printf("     GPU %zu: %s%s%s%s%s, free memory: %s%s", i, d->gpu.device,
		       d->gpu.driver[0] ? ", " : "", d->gpu.driver, d->name[0] ? ", " : "", d->name,
		       text, d->shared ? " (the host's)" : "");
		for (int b = DAVY_BACKEND_VULKAN; b < DAVY_BACKEND_COUNT; b++)
			if (d->index[b] >= 0)
				printf(", %s %d", davy_backend_name((enum davy_backend)b),
				       d->index[b]);
		printf("%s\n", d == c->device ? "  <- this one" : "");
	}
	if (c->vulkan_why[0])
		printf("     Vulkan's devices could not be listed: %s\n", c->vulkan_why);
}

static void exec_print_text(const struct davy_exec_case *c, const struct davy_args *args)
{
	struct davy_environment_variable list[DAVY_LAUNCH_VARIABLES];
	size_t count = davy_launch_environment(&c->launch, &c->override, list);
	char limit[32];

	if (c->options.explain) {
		exec_print_devices(c);
		davy_choice_print(stdout, &c->choice);
	}
	if (c->choice.refused)
		return;
	for (size_t i = 0; i < c->variable_count; i++)
		print_variable(c->variables[i].name, c->variables[i].value);
	for (size_t i = 0; i < count; i++)
		print_variable(list[i].name, list[i].value);
	if (c->options.memory_max != DAVY_FIT_UNKNOWN) {
		davy_bytes_text(c->options.memory_max, limit, sizeof(limit));
		printf("would limit: memory.max to %s\n", limit);
	}
	if (c->options.vram_max) {
		davy_bytes_text(c->options.vram_max, limit, sizeof(limit));
		printf("would limit: VRAM to %s\n", limit);
	}
	printf("would start:");
	for (size_t i = 0; i < args->count; i++)
		print_word(" ", args->at[i]);
	putchar('\n');
}

/* Allocates: a word has no length limit. */
static json_t *safe_text(const char *text)
{
	size_t size = 4 * strlen(text) + 1;
	char *safe = malloc(size);
	json_t *string = safe ? json_string(davy_text_shown(safe, size, text)) : json_null();

	free(safe);
	return string;
}

static void add_variable(json_t *list, const char *name, const char *value,
			 const struct davy_policy_value *of)
{
	json_t *o = json_object();

	json_object_set_new(o, "name", safe_text(name));
	json_object_set_new(o, "value", value ? safe_text(value) : json_null());
	if (of)
		json_object_set_new(o, "evidence", davy_policy_value_json(of));
	json_array_append_new(list, o);
}

static json_t *exec_print_environment_json(const struct davy_exec_case *c)
{
	struct davy_environment_variable changes[DAVY_LAUNCH_VARIABLES];
	size_t count = davy_launch_environment(&c->launch, &c->override, changes);
	json_t *list = json_array();

	for (size_t i = 0; i < c->variable_count; i++)
		add_variable(list, c->variables[i].name, c->variables[i].value,
			     c->variables[i].value_of);
	for (size_t i = 0; i < count; i++)
		add_variable(list, changes[i].name, changes[i].value, NULL);
	return list;
}

static json_t *device_json(const struct davy_exec_case *c, size_t number)
{
	const struct davy_host_device *d = &c->devices[number];
	json_t *o = json_pack("{s:i, s:s, s:b, s:b}", "number", (int)number, "device",
			      d->gpu.device, "shared", d->shared, "chosen", d == c->device);
	json_t *counted = json_object();

	if (d->gpu.driver[0])
		json_object_set_new(o, "driver", safe_text(d->gpu.driver));
	if (d->name[0])
		json_object_set_new(o, "name", json_string(d->name));
	if (d->free_bytes != DAVY_FIT_UNKNOWN)
		json_object_set_new(o, "free_bytes", json_integer((json_int_t)d->free_bytes));
	for (int b = DAVY_BACKEND_VULKAN; b < DAVY_BACKEND_COUNT; b++)
		if (d->index[b] >= 0)
			json_object_set_new(counted, davy_backend_name((enum davy_backend)b),
					    json_integer(d->index[b]));
	json_object_set_new(o, "index", counted);
	return o;
}

static void exec_print_json(const struct davy_exec_case *c, const struct davy_args *args)
{
	json_t *o = davy_choice_json(&c->choice), *argv = json_array(), *devices = json_array();
	bool refused = c->choice.refused;

	for (size_t i = 0; i < args->count; i++)
		json_array_append_new(argv, safe_text(args->at[i]));
	for (size_t i = 0; i < c->device_count; i++)
		json_array_append_new(devices, device_json(c, i));
	json_object_set_new(o, "engine",
			    c->launch.facts.engine
				    ? json_string(davy_engine_name(c->launch.facts.engine))
				    : json_null());
	json_object_set_new(o, "model", safe_text(c->question.subject.model));
	json_object_set_new(o, "devices", devices);
	json_object_set_new(o, "environment",
			    refused ? json_array() : exec_print_environment_json(c));
	json_object_set_new(o, "argv", argv);
	if (c->options.memory_max != DAVY_FIT_UNKNOWN)
		json_object_set_new(o, "memory_max",
				    json_integer((json_int_t)c->options.memory_max));
	if (c->options.vram_max)
		json_object_set_new(o, "vram_max", json_integer((json_int_t)c->options.vram_max));
	json_dumpf(o, stdout, JSON_COMPACT);
	putchar('\n');
	json_decref(o);
}

void davy_exec_print(const struct davy_exec_case *c, const struct davy_args *args)
{
	if (c->options.json)
		exec_print_json(c, args);
	else
		exec_print_text(c, args);
}
