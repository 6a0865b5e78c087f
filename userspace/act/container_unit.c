/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "act/container_unit.h"

#include <arpa/inet.h>
#include <errno.h>
#include <jansson.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "act/probe_run.h"
#include "lib/file.h"
#include "lib/message.h"
#include "lib/text.h"

struct container_request {
	char unit[DAVY_UNIT_LEN];
	davy_unit_done done;
	void *arg;
};

size_t davy_container_unit(const char *unit)
{
	if (!strncmp(unit, "docker:", 7) || !strncmp(unit, "podman:", 7))
		return 7;
	return strncmp(unit, "pod:", 4) ? 0 : 4;
}

static void take_text(const json_t *o, const char *key, char *field, size_t size)
{
	const char *text = davy_message_text(o, key);

	if (strlen(text) < size)
		memcpy(field, text, strlen(text) + 1);
}

/* Texts with a terminating 0 each, and one more 0; those without room are left out. */
static void take_texts(const json_t *list, char *field, size_t size)
{
	size_t used = 0;

	for (size_t i = 0; i < json_array_size(list); i++) {
		const json_t *text = json_array_get(list, i);
		size_t len = json_string_length(text);

		if (!len || used + len + 2 > size || strlen(json_string_value(text)) != len)
			continue;
		memcpy(field + used, json_string_value(text), len + 1);
		used += len + 1;
		field[used] = 0;
	}
}

static void take_ports(const json_t *list, struct davy_unit_state *s)
{
	for (size_t i = 0; i < json_array_size(list) && s->port_count < DAVY_UNIT_PORTS; i++) {
		const json_t *pair = json_array_get(list, i);
		json_int_t in = json_integer_value(json_array_get(pair, 0));
		json_int_t out = json_integer_value(json_array_get(pair, 1));

		if (in < 1 || in > UINT16_MAX || out < 1 || out > UINT16_MAX)
			continue;
		s->port[s->port_count][0] = (uint16_t)in;
		s->port[s->port_count++][1] = (uint16_t)out;
	}
}

static void take_state(const json_t *o, const char *unit, struct davy_unit_state *s)
{
	json_int_t pid = davy_message_number(o, "main_pid", 0);
	struct in_addr address;

	davy_copy_name(s->id, sizeof(s->id), unit);
	take_text(o, "load", s->load, sizeof(s->load));
	take_text(o, "active", s->active, sizeof(s->active));
	take_text(o, "sub", s->sub, sizeof(s->sub));
	take_text(o, "cgroup", s->cgroup, sizeof(s->cgroup));
	take_texts(json_object_get(o, "environment"), s->environment, sizeof(s->environment));
	take_texts(json_object_get(o, "command"), s->command, sizeof(s->command));
	if (strspn(davy_message_text(o, "image"), "0123456789abcdef") >= DAVY_UNIT_DIGITS)
		snprintf(s->image, sizeof(s->image), "%.*s", DAVY_UNIT_DIGITS,
			 davy_message_text(o, "image"));
	if (inet_pton(AF_INET, davy_message_text(o, "address"), &address) == 1)
		take_text(o, "address", s->address, sizeof(s->address));
	take_text(o, "consent", s->consent, sizeof(s->consent));
	take_ports(json_object_get(o, "ports"), s);
	s->own_network = json_is_true(json_object_get(o, "own_network"));
	s->main_pid = pid > 0 && pid <= INT_MAX ? (uint32_t)pid : 0;
	s->exit_code = (int32_t)davy_message_number(o, "exit_code", 0);
	s->exit_status = (int32_t)davy_message_number(o, "exit_status", 0);
	s->memory_high = s->cpu_quota = UINT64_MAX;
}

static void container_answered(void *arg, const struct davy_probe_finding *f)
{
	struct container_request *r = arg;
	struct davy_unit_state *state = calloc(1, sizeof(*state));
	json_t *o = f->answer ? json_loadb(f->answer, f->answer_size, 0, NULL) : NULL;
	json_int_t error = davy_message_number(o, "error", 0);
	struct davy_unit_answer answer = { .why = "" };
	char why[DAVY_UNIT_WHY_LEN];

	davy_text_shown(why, sizeof(why), o ? davy_message_text(o, "why") : f->text);
	if (!state || !o || f->kind > DAVY_PROBE_REPORTED)
		answer.error = f->kind == DAVY_PROBE_TIMEOUT ? -ETIMEDOUT : -EIO;
	else if (error)
		answer.error = error < 0 && error > -4096 ? (int)error : -EIO;
	if (answer.error)
		answer.why = why[0] ? why : "davylamp-container failed";
	if (!answer.error) {
		take_state(json_object_get(o, "state"), r->unit, state);
		davy_text_shown(state->note, sizeof(state->note), davy_message_text(o, "note"));
		answer.state = state;
	}
	r->done(r->arg, &answer);
	json_decref(o);
	free(state);
	free(r);
}

int davy_container_request(sd_event *loop, const char *dir, const char *operation, const char *unit,
			   uint32_t limit_ms, davy_unit_done done, void *arg)
{
	const char *const arguments[] = { operation, unit, "--dir", dir, NULL };
	struct container_request *r = calloc(1, sizeof(*r));
	char path[PATH_MAX];
	int err = r ? davy_program_path("davylamp-container", path, sizeof(path)) : -ENOMEM;

	if (!err) {
		const struct davy_probe_request run = { .program = path,
							.arguments = arguments,
							.limit_ms = limit_ms,
							.done = container_answered,
							.arg = r };

		davy_copy_name(r->unit, sizeof(r->unit), unit);
		r->done = done;
		r->arg = arg;
		err = davy_probe_start(loop, &run);
	}
	if (err)
		free(r);
	return err;
}
