/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sensors/proc/process_account.h"

#include <fcntl.h>
#include <limits.h>
#include <linux/nsfs.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/file.h"

#define NESTED_MAX 33 /* the kernel allows 32 levels */

/* The Name line before it has its newlines escaped. */
static uint32_t account_real_uid(uint32_t pid)
{
	char path[PATH_MAX], text[4096];
	const char *line = NULL;
	unsigned int uid = 0;

	if (!davy_root_path(path, sizeof(path), "/proc/%u/status", pid) &&
	    davy_read_file(path, text, sizeof(text)) > 0)
		line = strstr(text, "\nUid:");
	if (line)
		(void)sscanf(line, "\nUid: %u", &uid);
	return uid;
}

static bool account_same_file(int fd, const struct stat *own)
{
	struct stat st;

	return !fstat(fd, &st) && st.st_dev == own->st_dev && st.st_ino == own->st_ino;
}

/* 1: *ret_uid owns the outermost user namespace of the process below ours; 0: it is in ours. */
static int account_namespace_owner(uint32_t pid, uint32_t *ret_uid)
{
	char path[PATH_MAX];
	struct stat own;
	uid_t uid;
	DAVY_FD at = -1;

	if (davy_root_path(path, sizeof(path), "/proc/%u/ns/user", pid) ||
	    stat("/proc/self/ns/user", &own))
		return 0;
	at = open(path, O_RDONLY | O_CLOEXEC);
	if (at < 0 || account_same_file(at, &own))
		return 0;
	for (int i = 0; i < NESTED_MAX; i++) {
		int parent = ioctl(at, NS_GET_PARENT);
		bool top = parent < 0 || account_same_file(parent, &own);

		if (parent >= 0)
			close(top ? parent : at);
		if (top)
			break;
		at = parent;
	}
	if (ioctl(at, NS_GET_OWNER_UID, &uid))
		return 0;
	*ret_uid = uid;
	return 1;
}

uint32_t davy_process_account(uint32_t pid)
{
	uint32_t uid;

	return account_namespace_owner(pid, &uid) ? uid : account_real_uid(pid);
}
