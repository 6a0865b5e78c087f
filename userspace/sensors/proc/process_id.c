/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sensors/proc/process_id.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/event/types.h"
#include "lib/file.h"

static ssize_t process_id_read_proc(uint32_t pid, const char *name, char *buf, size_t size)
{
	char path[PATH_MAX];
	int err = davy_root_path(path, sizeof(path), "/proc/%u/%s", pid, name);

	return err ? err : davy_read_file(path, buf, size);
}

/* comm may contain blanks and brackets: the fields begin after the last bracket (proc(5)). */
int davy_process_stat(uint32_t pid, uint32_t *ret_ppid, uint64_t *ret_start)
{
	char text[1024], *at;
	ssize_t n = process_id_read_proc(pid, "stat", text, sizeof(text));
	unsigned long long start;
	unsigned int ppid;

	if (n < 0)
		return -ESRCH;
	at = strrchr(text, ')');
	if (!at || sscanf(at + 1,
			  " %*c %u %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d "
			  "%*d %llu",
			  &ppid, &start) != 2)
		return -EBADMSG;
	*ret_ppid = ppid;
	*ret_start = start;
	return 0;
}

char davy_process_state(uint32_t pid)
{
	char text[1024], *at;

	if (process_id_read_proc(pid, "stat", text, sizeof(text)) <= 0)
		return 0;
	at = strrchr(text, ')');
	return at && at[1] == ' ' ? at[2] : '\0';
}

uint64_t davy_process_start(uint32_t pid)
{
	uint64_t start = 0;
	uint32_t ppid;

	return davy_process_stat(pid, &ppid, &start) ? 0 : start;
}

/* The last number after "name" in /proc/PID/status; 0 if missing. */
static uint32_t process_id_status_number(uint32_t pid, const char *name)
{
	char text[16384], key[32], *at;
	unsigned long value = 0;

	if (process_id_read_proc(pid, "status", text, sizeof(text)) <= 0)
		return 0;
	snprintf(key, sizeof(key), "\n%s:", name); /* names here contain no newline */
	at = strstr(text, key);
	if (!at)
		return 0;
	for (at += strlen(key); (*at == '\t' || *at == ' ') && at[1] >= '0' && at[1] <= '9';)
		value = strtoul(at, &at, 10);
	return (uint32_t)value;
}

uint32_t davy_process_of_thread(uint32_t tid)
{
	return process_id_status_number(tid, "Tgid");
}

uint32_t davy_process_inner_pid(uint32_t pid)
{
	return process_id_status_number(pid, "NSpid");
}

void davy_process_cgroup_take(char *text, char path[DAVY_CGROUP_LEN])
{
	char *at = !strncmp(text, "0::", 3) ? text : strstr(text, "\n0::");

	if (!at)
		return;
	at += *at == '\n' ? 4 : 3;
	at[strcspn(at, "\n")] = 0;
	davy_copy_name(path, DAVY_CGROUP_LEN, at);
}

void davy_process_cgroup(uint32_t pid, char ret_path[DAVY_CGROUP_LEN])
{
	char text[8192] = "";

	ret_path[0] = 0;
	if (process_id_read_proc(pid, "cgroup", text, sizeof(text)) > 0)
		davy_process_cgroup_take(text, ret_path);
}

uint32_t davy_process_uid(uint32_t pid)
{
	char path[PATH_MAX];
	struct stat st;

	if (davy_root_path(path, sizeof(path), "/proc/%u", pid) || stat(path, &st))
		return UINT32_MAX;
	return st.st_uid;
}

uint32_t davy_process_parent(uint32_t pid)
{
	uint64_t start;
	uint32_t ppid = 0;

	return davy_process_stat(pid, &ppid, &start) ? 0 : ppid;
}
