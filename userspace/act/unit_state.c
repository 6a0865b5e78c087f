/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Properties of org.freedesktop.systemd1.Unit and .Service: org.freedesktop.systemd1(5). */
#include "act/unit_state.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#define PROPERTY(text, kind, field)                                                                \
	{                                                                                          \
		text, kind, offsetof(struct davy_unit_state, field),                               \
			sizeof(((struct davy_unit_state *)0)->field)                               \
	}

static const struct property {
	const char *name;
	/*
	 * s: text, truncated; u, i: 32 bits; t: 64 bits; j: first member of a job (uo); e:
	 * null-terminated texts; x: those of the first command
	 */
	char type;
	size_t offset;
	size_t size;
} properties[] = {
	PROPERTY("Id", 's', id),
	PROPERTY("LoadState", 's', load),
	PROPERTY("ActiveState", 's', active),
	PROPERTY("SubState", 's', sub),
	PROPERTY("Result", 's', result),
	PROPERTY("Type", 's', type),
	PROPERTY("ControlGroup", 's', cgroup),
	PROPERTY("MainPID", 'u', main_pid),
	PROPERTY("ExecMainCode", 'i', exit_code),
	PROPERTY("ExecMainStatus", 'i', exit_status),
	PROPERTY("MemoryHigh", 't', memory_high),
	PROPERTY("CPUQuotaPerSecUSec", 't', cpu_quota),
	PROPERTY("Job", 'j', job),
	PROPERTY("Environment", 'e', environment),
	PROPERTY("ExecStart", 'x', command),
};

static int unit_state_take_number(sd_bus_message *m, const struct property *p, void *field)
{
	char type[2] = { p->type, 0 };

	return sd_bus_message_read(m, "v", type, field);
}

static int unit_state_take_text(sd_bus_message *m, const struct property *p, char *field)
{
	const char *text;
	int err = sd_bus_message_read(m, "v", "s", &text);

	if (err < 0)
		return err;
	if (strlen(text) < p->size) /* longer texts are never ours */
		memcpy(field, text, strlen(text) + 1);
	return 0;
}

static int take_job(sd_bus_message *m, uint32_t *field)
{
	const char *path;

	return sd_bus_message_read(m, "v", "(uo)", field, &path);
}

/* False: no room. */
static bool unit_state_put_text(char *field, size_t size, size_t *used, const char *text)
{
	size_t len = strlen(text);

	if (!len || *used + len + 2 > size)
		return false;
	memcpy(field + *used, text, len + 1);
	*used += len + 1;
	field[*used] = 0;
	return true;
}

static int take_texts(sd_bus_message *m, const struct property *p, char *field)
{
	size_t used = 0;
	const char *text;
	int err = sd_bus_message_enter_container(m, 'v', "as");

	if (err >= 0)
		err = sd_bus_message_enter_container(m, 'a', "s");
	while (err >= 0 && (err = sd_bus_message_read(m, "s", &text)) > 0)
		unit_state_put_text(field, p->size, &used, text);
	if (err >= 0)
		err = sd_bus_message_exit_container(m);
	return err < 0 ? err : sd_bus_message_exit_container(m);
}

/* Takes all words of a command, or none. */
static int unit_state_take_words(sd_bus_message *m, const struct property *p, char *field)
{
	size_t used = 0;
	const char *text;
	bool whole = true;
	int err = sd_bus_message_enter_container(m, 'a', "s");

	while (err >= 0 && (err = sd_bus_message_read(m, "s", &text)) > 0)
		whole = unit_state_put_text(field, p->size, &used, text) && whole;
	if (!whole)
		field[0] = field[1] = 0;
	return err < 0 ? err : sd_bus_message_exit_container(m);
}

#define COMMAND "sasbttttuii" /* path, words, result */

static int take_command(sd_bus_message *m, const struct property *p, char *field)
{
	bool first = true;
	int err = sd_bus_message_enter_container(m, 'v', "a(" COMMAND ")");

	if (err >= 0)
		err = sd_bus_message_enter_container(m, 'a', "(" COMMAND ")");
	while (err >= 0 && (err = sd_bus_message_enter_container(m, 'r', COMMAND)) > 0) {
		err = sd_bus_message_skip(m, "s");
		if (err >= 0)
			err = first ? unit_state_take_words(m, p, field)
				    : sd_bus_message_skip(m, "as");
		if (err >= 0)
			err = sd_bus_message_skip(m, &COMMAND[3]);
		if (err >= 0)
			err = sd_bus_message_exit_container(m);
		first = false;
	}
	if (err >= 0)
		err = sd_bus_message_exit_container(m);
	return err < 0 ? err : sd_bus_message_exit_container(m);
}

static int take_property(sd_bus_message *m, const char *name, struct davy_unit_state *state)
{
	for (size_t i = 0; i < sizeof(properties) / sizeof(properties[0]); i++) {
		const struct property *p = &properties[i];
		void *field = (char *)state + p->offset;

		if (strcmp(name, p->name) != 0)
			continue;
		if (p->type == 's')
			return unit_state_take_text(m, p, field);
		if (p->type == 'j')
			return take_job(m, field);
		if (p->type == 'e')
			return take_texts(m, p, field);
		if (p->type == 'x')
			return take_command(m, p, field);
		return unit_state_take_number(m, p, field);
	}
	return sd_bus_message_skip(m, "v");
}

int davy_unit_state_take(sd_bus_message *m, struct davy_unit_state *state)
{
	int err = sd_bus_message_enter_container(m, 'a', "{sv}");

	while (err >= 0 && (err = sd_bus_message_enter_container(m, 'e', "sv")) > 0) {
		const char *name;

		err = sd_bus_message_read(m, "s", &name);
		if (err >= 0)
			err = take_property(m, name, state);
		if (err >= 0)
			err = sd_bus_message_exit_container(m);
	}
	return err < 0 ? -EBADMSG : 0;
}
