/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Mounts, root and cgroup of a service; a child enters them and changes to its user. */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "act/cgroup.h"
#include "lib/child.h"
#include "lib/file.h"
#include "sensors/proc/process_info.h"
#include "doctor/who.h"
#include "doctor/who_cgroup.h"

#define ENTER_MS 1000

static bool who_place_same_file(uint32_t pid, const char *what)
{
	char path[64], own[64];
	struct stat a, b;

	snprintf(path, sizeof(path), "/proc/%u/%s", pid, what);
	snprintf(own, sizeof(own), "/proc/self/%s", what);
	return stat(path, &a) || stat(own, &b) || (a.st_dev == b.st_dev && a.st_ino == b.st_ino);
}

/* The mount point of cgroup v1's devices hierarchy; false: none. */
static bool devices_mount(char *ret_mount, size_t size)
{
	char line[PATH_MAX + 256], where[PATH_MAX], type[64], options[256];
	DAVY_FILE file = fopen("/proc/self/mounts", "re");

	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "%*s %4095s %63s %255s", where, type, options) == 3 &&
		    !strcmp(type, "cgroup") && strstr(options, ",devices") &&
		    !strstr(options, ",freezer") &&
		    snprintf(ret_mount, size, "%s", where) < (int)size)
			return true;
	return false;
}

/* "5:devices:/docker/..." of /proc/PID/cgroup: its device rules apply to a child in it. */
static int open_devices_cgroup(uint32_t pid)
{
	char path[PATH_MAX], mount[PATH_MAX / 4], text[8192];
	const char *at, *colon;
	int fd;

	snprintf(path, sizeof(path), "/proc/%u/cgroup", pid);
	if (!devices_mount(mount, sizeof(mount)) || davy_read_file(path, text, sizeof(text)) <= 0)
		return -1;
	at = strstr(text, ":devices:");
	colon = at ? strchr(at + 1, ':') : NULL;
	if (!colon)
		return -1;
	snprintf(path, sizeof(path), "%.*s", (int)strcspn(colon + 1, "\n"), colon + 1);
	davy_who_cgroup_open(mount, path, &fd);
	return fd;
}

/* Cgroup v2. Our own is not entered. */
static int who_place_open_cgroup(struct davy_doctor_service *s)
{
	char dir[PATH_MAX], mount[PATH_MAX];
	enum davy_who_cgroup found;
	int fd;

	if (!s->cgroup[0] || davy_cgroup_dir(s->cgroup, dir, sizeof(dir)) ||
	    davy_cgroup_mount(mount, sizeof(mount)))
		return -1;
	found = davy_who_cgroup_open(mount, s->cgroup, &fd);
	s->frozen = found == DAVY_WHO_CGROUP_FROZEN;
	s->cgroup_strangers = found == DAVY_WHO_CGROUP_STRANGERS;
	s->cgroup_full = found == DAVY_WHO_CGROUP_FULL;
	return fd;
}

static int place_enter(void *arg)
{
	return write(*(const int *)arg, "0", 1) != 1;
}

/* Tries to enter: a cgroup with children, a full or a frozen one refuses. */
static int keep_if_open_to_us(int fd)
{
	const struct davy_child_spec spec = {
		.run = place_enter, .arg = &fd, .fds = &fd, .fd_count = 1
	};
	struct davy_child child = DAVY_CHILD_NONE;
	int status = -1;

	if (fd < 0)
		return -1;
	if (!davy_child_start(&spec, &child))
		davy_child_wait(&child, ENTER_MS, &status);
	davy_child_end(&child, ENTER_MS);
	if (!status)
		return fd;
	close(fd);
	return -1;
}

void davy_who_place(struct davy_who *who, uint32_t pid)
{
	struct davy_doctor_service *s = who->service;
	char path[PATH_MAX];

	s->own_mounts = !who_place_same_file(pid, "ns/mnt");
	s->own_root = !who_place_same_file(pid, "root");
	snprintf(path, sizeof(path), "/proc/%u/ns/mnt", pid);
	if (s->own_mounts)
		who->mounts_fd = open(path, O_RDONLY | O_CLOEXEC);
	snprintf(path, sizeof(path), "/proc/%u/root", pid);
	if (s->own_root)
		who->root_fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	davy_process_cgroup(pid, s->cgroup);
	if (geteuid())
		return;
	who->cgroup_fd[0] = who_place_open_cgroup(s);
	who->cgroup_fd[1] = open_devices_cgroup(pid);
	for (size_t i = 0; i < 2; i++)
		who->cgroup_fd[i] = keep_if_open_to_us(who->cgroup_fd[i]);
	s->joined = who->cgroup_fd[0] >= 0 || who->cgroup_fd[1] >= 0;
}

bool davy_who_possible(const struct davy_who *who)
{
	return !geteuid() || geteuid() == who->service->uid;
}

bool davy_who_may_run(const struct davy_who *who, const char **ret_why)
{
	*ret_why = "only root can run programs as another user";
	if (!davy_who_possible(who))
		return false;
	*ret_why = "it is root in a container: run 'davylamp doctor' inside the container";
	return who->service->uid || !who->service->own_root;
}

size_t davy_who_fds(const struct davy_who *who, int *ret_fds)
{
	const int fds[DAVY_WHO_FDS_MAX] = { who->mounts_fd, who->root_fd, who->cgroup_fd[0],
					    who->cgroup_fd[1] };
	size_t count = 0;

	for (size_t i = 0; i < DAVY_WHO_FDS_MAX; i++)
		if (fds[i] >= 0)
			ret_fds[count++] = fds[i];
	return count;
}

int davy_who_become(const struct davy_who *who)
{
	const struct davy_doctor_service *s = who->service;
	gid_t list[DAVY_DOCTOR_GROUPS];

	if (!davy_who_possible(who))
		return -EPERM;
	for (size_t i = 0; i < 2; i++)
		if (who->cgroup_fd[i] >= 0 && write(who->cgroup_fd[i], "0", 1) < 0)
			return -errno;
	if (who->mounts_fd >= 0 && setns(who->mounts_fd, CLONE_NEWNS))
		return -errno;
	if (who->root_fd >= 0 && (fchdir(who->root_fd) || chroot(".") || chdir("/")))
		return -errno;
	for (size_t i = 0; i < s->group_count; i++)
		list[i] = s->groups[i];
	if (!geteuid() && (setgroups(s->group_count, list) || setresgid(s->gid, s->gid, s->gid) ||
			   setresuid(s->uid, s->uid, s->uid)))
		return -errno;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_PDEATHSIG, SIGKILL))
		return -errno;
	return 0;
}
