/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "doctor/who.h"

#include <ctype.h>
#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/file.h"
#include "lib/number.h"
#include "doctor/read.h"

extern char **environ;

static void name_user(struct davy_doctor_service *s)
{
	const struct passwd *pw = getpwuid(s->uid);

	if (pw)
		davy_copy_name(s->user, sizeof(s->user), pw->pw_name);
	else
		snprintf(s->user, sizeof(s->user), "%u", s->uid);
}

/* "Uid:\t0\t0\t0\t0": the number at "index" after the name; false: none. */
static bool who_status_number(const char *text, const char *name, size_t index, uint32_t *ret_value)
{
	const char *at = strstr(text, name);
	char *end;
	size_t i = 0;

	if (!at)
		return false;
	for (at += strlen(name); *at && *at != '\n'; at = end, i++) {
		unsigned long value = strtoul(at, &end, 10);

		if (end == at)
			return false;
		if (i == index) {
			*ret_value = (uint32_t)value;
			return true;
		}
	}
	return false;
}

static int read_credentials(uint32_t pid, struct davy_doctor_service *s)
{
	char path[64], text[8192];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%u/status", pid);
	n = davy_read_file(path, text, sizeof(text));
	if (n < 0)
		return (int)n;
	if (!who_status_number(text, "\nUid:", 1, &s->uid) ||
	    !who_status_number(text, "\nGid:", 1, &s->gid))
		return -EBADMSG;
	s->group_count = 0;
	while (s->group_count < DAVY_DOCTOR_GROUPS &&
	       who_status_number(text, "\nGroups:", s->group_count, &s->groups[s->group_count]))
		s->group_count++;
	return 0;
}

static int who_read_process(struct davy_who *who, uint32_t pid, char why[DAVY_DOCTOR_WHY])
{
	struct davy_doctor_service *s = who->service;
	int err = read_credentials(pid, s);

	if (err) {
		snprintf(why, DAVY_DOCTOR_WHY, "process %u: %s", pid, strerror(-err));
		return err;
	}
	s->pid = pid;
	s->known = true;
	name_user(s);
	davy_who_place(who, pid);
	who->start = davy_process_start_read(pid);
	if (who->start && who->start->envp[0]) {
		s->environment_known = true;
		for (size_t i = 0; i < DAVY_WHO_ENV_MAX && who->start->envp[i]; i++)
			who->envp[i] = who->start->envp[i];
	}
	return 0;
}

static void groups_of(struct davy_doctor_service *s, const char *name)
{
	gid_t list[DAVY_DOCTOR_GROUPS];
	int count = DAVY_DOCTOR_GROUPS;

	if (getgrouplist(name, s->gid, list, &count) < 0)
		count = DAVY_DOCTOR_GROUPS;
	s->group_count = 0;
	for (int i = 0; i < count; i++)
		if (list[i] != s->gid)
			s->groups[s->group_count++] = list[i];
}

/* "UID:GID:GROUP,GROUP"; the later parts may be missing. */
static bool read_numbers(struct davy_doctor_service *s, const char *text)
{
	char *end;
	unsigned long value = strtoul(text, &end, 10);

	s->uid = s->gid = (uint32_t)value;
	if (*end == ':') {
		text = end + 1;
		s->gid = (uint32_t)strtoul(text, &end, 10);
		if (end == text)
			return false;
	}
	while ((*end == ':' || *end == ',') && s->group_count < DAVY_DOCTOR_GROUPS) {
		text = end + 1;
		s->groups[s->group_count++] = (uint32_t)strtoul(text, &end, 10);
		if (end == text)
			return false;
	}
	return !*end && value < UINT32_MAX;
}

static int read_user(struct davy_who *who, const char *text, char why[DAVY_DOCTOR_WHY])
{
	struct davy_doctor_service *s = who->service;
	const struct passwd *pw = getpwnam(text);

	if (pw) {
		s->uid = pw->pw_uid;
		s->gid = pw->pw_gid;
		groups_of(s, text);
	} else if (!isdigit((unsigned char)text[0]) || !read_numbers(s, text)) {
		snprintf(why, DAVY_DOCTOR_WHY, "no user '%s'", text);
		return -ENOENT;
	}
	name_user(s);
	s->known = true;
	return 0;
}

/* The pid of the only running engine; 0: none or several. */
static uint32_t who_find_engine(void)
{
	struct davy_doctor_running found[2];

	return davy_running_find(found, 2) == 1 ? found[0].pid : 0;
}

static void take_caller(struct davy_who *who)
{
	struct davy_doctor_service *s = who->service;
	gid_t list[DAVY_DOCTOR_GROUPS];
	int count = getgroups(DAVY_DOCTOR_GROUPS, list);

	s->uid = geteuid();
	s->gid = getegid();
	for (int i = 0; i < count; i++)
		s->groups[s->group_count++] = list[i];
	name_user(s);
	s->known = s->uid != 0;
	if (!s->known)
		snprintf(s->why, sizeof(s->why),
			 "no service, user or process was given, and no engine runs: tried as %s",
			 s->user);
}

static void take_own_environment(struct davy_who *who)
{
	size_t i;

	for (i = 0; i < DAVY_WHO_ENV_MAX && environ[i]; i++)
		who->envp[i] = environ[i];
	who->envp[i] = NULL;
	who->service->environment_known = true;
}

static int parse_pid(const char *text, uint32_t *ret_pid, char why[DAVY_DOCTOR_WHY])
{
	uint64_t value;

	if (!davy_number(text, INT32_MAX, &value) || !value) {
		snprintf(why, DAVY_DOCTOR_WHY, "'%s' is not a pid", text);
		return -EINVAL;
	}
	*ret_pid = (uint32_t)value;
	return 0;
}

static void who_take_name(struct davy_doctor_service *s, const struct davy_who_asked *asked)
{
	if (asked->unit)
		snprintf(s->as, sizeof(s->as), "--unit %.79s", asked->unit);
	else if (asked->pid)
		snprintf(s->as, sizeof(s->as), "--pid %.10s", asked->pid);
	else if (asked->user)
		snprintf(s->as, sizeof(s->as), "--user %.79s", asked->user);
	else if (s->pid)
		snprintf(s->as, sizeof(s->as), "--pid %u", s->pid);
	else
		snprintf(s->as, sizeof(s->as), "--user %.63s", s->user);
}

int davy_who_read(const struct davy_who_asked *asked, struct davy_doctor_service *service,
		  struct davy_who **ret_who, char why[DAVY_DOCTOR_WHY])
{
	struct davy_who *who = calloc(1, sizeof(*who));
	uint32_t pid = 0;
	int err = 0;

	why[0] = 0;
	*ret_who = who;
	if (!who)
		return -ENOMEM;
	who->service = service;
	who->mounts_fd = who->root_fd = who->cgroup_fd[0] = who->cgroup_fd[1] = -1;
	if (asked->pid)
		err = parse_pid(asked->pid, &pid, why);
	if (!err && asked->unit) {
		davy_copy_name(service->unit, sizeof(service->unit), asked->unit);
		err = davy_who_ask_systemd(who, asked->unit, why);
		pid = service->pid;
	}
	if (!err && asked->user)
		err = read_user(who, asked->user, why);
	else if (!err && !asked->unit && !pid)
		pid = who_find_engine();
	if (!err && pid)
		err = who_read_process(who, pid, why);
	if (!err && !service->known && !asked->unit)
		take_caller(who);
	if (!err && !service->environment_known && !asked->unit && !pid)
		take_own_environment(who);
	who_take_name(service, asked);
	return err;
}

void davy_who_free(struct davy_who *who)
{
	if (!who)
		return;
	if (who->mounts_fd >= 0)
		close(who->mounts_fd);
	if (who->root_fd >= 0)
		close(who->root_fd);
	for (size_t i = 0; i < 2; i++)
		if (who->cgroup_fd[i] >= 0)
			close(who->cgroup_fd[i]);
	free(who->start);
	free(who);
}

const char *davy_who_variable(const struct davy_who *who, const char *name)
{
	size_t len = strlen(name);

	for (size_t i = 0; who->envp[i]; i++)
		if (!strncmp(who->envp[i], name, len) && who->envp[i][len] == '=')
			return who->envp[i] + len + 1;
	return NULL;
}
