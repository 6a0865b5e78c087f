/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Properties of a service, read from systemd's private socket as systemctl does for root. */
#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <systemd/sd-bus.h>
#include <unistd.h>

#include "act/unit.h"
#include "doctor/who.h"

#define SYSTEMD	    "org.freedesktop.systemd1"
#define SERVICE	    SYSTEMD ".Service"
#define MANAGER_AT  "/org/freedesktop/systemd1"
#define PRIVATE_BUS "unix:path=/run/systemd/private"
#define LIMIT_US    5000000

struct asking {
	sd_bus *bus;
	char *path; /* the unit's object path */
};

static int open_bus(sd_bus **ret_bus)
{
	sd_bus *bus = NULL;
	int err;

	if (geteuid())
		err = sd_bus_open_system(&bus);
	else
		err = sd_bus_new(&bus);
	if (err >= 0 && !geteuid())
		err = sd_bus_set_address(bus, PRIVATE_BUS);
	if (err >= 0 && !geteuid())
		err = sd_bus_start(bus);
	if (err < 0) {
		sd_bus_unref(bus);
		return err;
	}
	sd_bus_set_method_call_timeout(bus, LIMIT_US);
	*ret_bus = bus;
	return 0;
}

static int load_unit(struct asking *a, const char *unit)
{
	sd_bus_message *answer = NULL;
	const char *path;
	int err = sd_bus_call_method(a->bus, SYSTEMD, MANAGER_AT, SYSTEMD ".Manager", "LoadUnit",
				     NULL, &answer, "s", unit);

	if (err >= 0)
		err = sd_bus_message_read(answer, "o", &path);
	if (err >= 0) {
		a->path = strdup(path);
		err = a->path ? 0 : -ENOMEM;
	}
	sd_bus_message_unref(answer);
	return err;
}

static char *who_systemd_text_of(const struct asking *a, const char *interface,
				 const char *property)
{
	char *text = NULL;

	return sd_bus_get_property_string(a->bus, SYSTEMD, a->path, interface, property, NULL,
					  &text) < 0
		       ? NULL
		       : text;
}

static uint32_t group_number(const char *text, uint32_t otherwise)
{
	const struct group *gr = getgrnam(text);
	char *end;
	unsigned long value = strtoul(text, &end, 10);

	if (gr)
		return gr->gr_gid;
	return *text && !*end ? (uint32_t)value : otherwise;
}

/* User= and Group= of a service that does not run; default root. */
static void take_user(const struct asking *a, struct davy_doctor_service *s)
{
	char *user = who_systemd_text_of(a, SERVICE, "User"),
	     *group = who_systemd_text_of(a, SERVICE, "Group");
	const struct passwd *pw = user && *user ? getpwnam(user) : getpwuid(0);
	gid_t list[DAVY_DOCTOR_GROUPS];
	int count = DAVY_DOCTOR_GROUPS;

	if (pw) {
		s->uid = pw->pw_uid;
		s->gid = pw->pw_gid;
		davy_copy_name(s->user, sizeof(s->user), pw->pw_name);
		if (getgrouplist(pw->pw_name, pw->pw_gid, list, &count) < 0)
			count = 0;
		for (int i = 0; i < count; i++)
			if (list[i] != s->gid)
				s->groups[s->group_count++] = list[i];
		s->known = true;
	} else {
		snprintf(s->why, sizeof(s->why), "the user '%s' of its unit does not exist", user);
	}
	if (group && *group)
		s->gid = group_number(group, s->gid);
	free(user);
	free(group);
}

static void who_systemd_take_groups(const struct asking *a, struct davy_doctor_service *s)
{
	char **list = NULL;

	if (sd_bus_get_property_strv(a->bus, SYSTEMD, a->path, SERVICE, "SupplementaryGroups", NULL,
				     &list) < 0)
		return;
	for (char **at = list; at && *at; at++) {
		if (s->group_count < DAVY_DOCTOR_GROUPS)
			s->groups[s->group_count++] = group_number(*at, s->gid);
		free(*at);
	}
	free(list);
}

/* Without EnvironmentFile= and systemd's own variables; those of a process are better. */
static void take_environment(const struct asking *a, struct davy_who *who)
{
	char **list = NULL;
	size_t used = 0, count = 0;

	if (sd_bus_get_property_strv(a->bus, SYSTEMD, a->path, SERVICE, "Environment", NULL,
				     &list) < 0)
		return;
	for (char **at = list; at && *at; at++) {
		size_t size = strlen(*at) + 1;

		if (used + size <= sizeof(who->text) && count < DAVY_WHO_ENV_MAX) {
			memcpy(who->text + used, *at, size);
			who->envp[count++] = who->text + used;
			used += size;
		}
		free(*at);
	}
	free(list);
	who->service->environment_known = true;
}

/* The first path of ExecStart=: a(sasbttttuii). */
static void take_program(const struct asking *a, struct davy_who *who)
{
	sd_bus_message *m = NULL;
	const char *path;

	if (sd_bus_get_property(a->bus, SYSTEMD, a->path, SERVICE, "ExecStart", NULL, &m,
				"a(sasbttttuii)") >= 0 &&
	    sd_bus_message_enter_container(m, 'a', "(sasbttttuii)") > 0 &&
	    sd_bus_message_enter_container(m, 'r', "sasbttttuii") > 0 &&
	    sd_bus_message_read(m, "s", &path) > 0)
		davy_copy_name(who->exec, sizeof(who->exec), path);
	sd_bus_message_unref(m);
}

static void take_properties(const struct asking *a, struct davy_who *who)
{
	struct davy_doctor_service *s = who->service;
	char *policy = who_systemd_text_of(a, SERVICE, "DevicePolicy");
	int private = 0;
	uint32_t pid = 0;

	if (policy)
		davy_copy_name(s->device_policy, sizeof(s->device_policy), policy);
	free(policy);
	if (sd_bus_get_property_trivial(a->bus, SYSTEMD, a->path, SERVICE, "PrivateDevices", NULL,
					'b', &private) >= 0)
		s->private_devices = private;
	if (sd_bus_get_property_trivial(a->bus, SYSTEMD, a->path, SERVICE, "MainPID", NULL, 'u',
					&pid) >= 0)
		s->pid = pid;
	take_program(a, who);
	if (s->pid)
		return;
	take_user(a, s);
	who_systemd_take_groups(a, s);
	take_environment(a, who);
}

int davy_who_ask_systemd(struct davy_who *who, const char *unit, char why[DAVY_DOCTOR_WHY])
{
	struct asking a = { 0 };
	char *load = NULL;
	int err;

	if (!davy_unit_name_valid(unit)) {
		snprintf(why, DAVY_DOCTOR_WHY, "'%.80s' is not a service name", unit);
		return -EINVAL;
	}
	err = open_bus(&a.bus);
	if (err >= 0)
		err = load_unit(&a, unit);
	if (err >= 0)
		load = who_systemd_text_of(&a, SYSTEMD ".Unit", "LoadState");
	if (err >= 0 && load && !strcmp(load, "loaded")) {
		take_properties(&a, who);
	} else if (err >= 0) {
		snprintf(why, DAVY_DOCTOR_WHY, "systemd knows no unit '%.80s'", unit);
		err = -ENOENT;
	} else {
		snprintf(why, DAVY_DOCTOR_WHY, "systemd: %s", strerror(-err));
	}
	free(load);
	free(a.path);
	sd_bus_flush_close_unref(a.bus);
	return err < 0 ? err : 0;
}
