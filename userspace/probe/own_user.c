/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The user of a probe: "davylamp-probe" if it exists (policies/davylamp.sysusers), else a uid that
 * no other process has. Reads only /etc/passwd: a name service may hang. RLIMIT_NPROC also counts
 * the threads that a named user already has.
 */
#include <dirent.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "probe/probe_confine.h"

/* Unused by accounts and systemd (docs/UIDS-GIDS), mapped in containers with 65536 uids. */
#define OWN_UID_MIN   60578
#define OWN_UID_COUNT 606

/* Whether the file has a user of that name. Increments *free_uid if it is taken. */
static bool look_up(FILE *file, const char *name, uid_t *free_uid, struct davy_confine *c)
{
	const struct passwd *pw;

	rewind(file);
	while ((pw = fgetpwent(file))) {
		if (!strcmp(pw->pw_name, name) && pw->pw_uid) {
			c->uid = pw->pw_uid;
			c->gid = pw->pw_gid;
			return true;
		}
		if (pw->pw_uid == *free_uid)
			*free_uid = OWN_UID_MIN + (*free_uid + 1 - OWN_UID_MIN) % OWN_UID_COUNT;
	}
	return false;
}

void davy_confine_own_user(struct davy_confine *c)
{
	uid_t uid = OWN_UID_MIN + (uid_t)getpid() % OWN_UID_COUNT;
	FILE *file = fopen("/etc/passwd", "re");
	bool found = file && look_up(file, "davylamp-probe", &uid, c);

	if (file)
		fclose(file);
	if (!found)
		c->uid = c->gid = uid;
}

/* "Threads:" of a process of that user; 0: another user's, or ended. */
static uint32_t threads_of(int proc, const char *name, uid_t uid)
{
	char path[300], text[2048] = "";
	const char *at;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "%s/status", name);
	fd = openat(proc, path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	text[n > 0 ? n : 0] = 0;
	at = strstr(text, "\nUid:");
	if (!at || strtoul(at + 5, NULL, 10) != uid)
		return 0;
	at = strstr(at, "\nThreads:");
	return at ? (uint32_t)strtoul(at + 9, NULL, 10) : 1;
}

uint32_t davy_confine_threads_of(uid_t uid)
{
	DIR *dir = opendir("/proc");
	const struct dirent *entry;
	uint32_t count = 0;

	while (dir && (entry = readdir(dir)))
		if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9')
			count += threads_of(dirfd(dir), entry->d_name, uid);
	if (dir)
		closedir(dir);
	return count;
}
