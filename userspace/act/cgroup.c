/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "act/cgroup.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "lib/clock.h"
#include "lib/file.h"

#define KILL_MS 3000 /* a process in the driver may not end at all */
#define STEP_NS 2000000L
#define BESIDE	"davylamp-supervisor" /* a supervisor moves here to empty its group */

/* The first cgroup2 mount; hybrid hosts also have v1 hierarchies. */
int davy_cgroup_mount(char *ret_mount, size_t size)
{
	char path[PATH_MAX], line[PATH_MAX], type[64], where[PATH_MAX];
	DAVY_FILE file = NULL;

	if (davy_root_path(path, sizeof(path), "/proc/self/mounts"))
		return -ENAMETOOLONG;
	file = fopen(path, "re");
	while (file && fgets(line, sizeof(line), file)) {
		if (sscanf(line, "%*s %4095s %63s", where, type) != 2 ||
		    strcmp(type, "cgroup2") != 0)
			continue;
		return snprintf(ret_mount, size, "%s", where) < (int)size ? 0 : -ENAMETOOLONG;
	}
	return -ENOTSUP;
}

static int own_path(char *ret_path, size_t size)
{
	char text[8192], *at;
	ssize_t n = davy_read_file("/proc/self/cgroup", text, sizeof(text));

	if (n < 0)
		return (int)n;
	at = !strncmp(text, "0::", 3) ? text + 3 : strstr(text, "\n0::");
	if (!at)
		return -ENOTSUP;
	at += *at == '\n' ? 4 : 0;
	at[strcspn(at, "\n")] = 0;
	return snprintf(ret_path, size, "%s", strcmp(at, "/") ? at : "") < (int)size
		       ? 0
		       : -ENAMETOOLONG;
}

int davy_cgroup_make(const char *name, struct davy_cgroup *ret_cgroup)
{
	char mount[PATH_MAX], own[PATH_MAX];
	int err = davy_cgroup_mount(mount, sizeof(mount));

	memset(ret_cgroup, 0, sizeof(*ret_cgroup));
	if (!err)
		err = own_path(own, sizeof(own));
	if (err)
		return err;
	if (snprintf(ret_cgroup->path, PATH_MAX, "%s/%s", own, name) >= PATH_MAX ||
	    snprintf(ret_cgroup->dir, PATH_MAX, "%s%s", mount, ret_cgroup->path) >= PATH_MAX)
		err = -ENAMETOOLONG;
	if (!err && mkdir(ret_cgroup->dir, 0755) && errno != EEXIST)
		err = -errno;
	if (err)
		memset(ret_cgroup, 0, sizeof(*ret_cgroup));
	return err;
}

int davy_cgroup_dir(const char *path, char *ret_dir, size_t size)
{
	char mount[PATH_MAX], own[PATH_MAX];
	size_t length = strlen(path);
	int err = davy_cgroup_mount(mount, sizeof(mount));

	if (!err)
		err = own_path(own, sizeof(own));
	if (err)
		return err;
	if (path[0] != '/' || length < 2 || strstr(path, "/../") ||
	    (length > 2 && !strcmp(path + length - 3, "/..")))
		return -EINVAL;
	if (!strncmp(own, path, length) && (!own[length] || own[length] == '/'))
		return -EDEADLK;
	return snprintf(ret_dir, size, "%s%s", mount, path) < (int)size ? 0 : -ENAMETOOLONG;
}

int davy_cgroup_open(const char *path)
{
	char dir[PATH_MAX];
	int fd, err = davy_cgroup_dir(path, dir, sizeof(dir));

	if (err)
		return err;
	fd = open(dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

void davy_cgroup_make_below(const struct davy_cgroup *above, const char *name,
			    struct davy_cgroup *ret_cgroup)
{
	struct davy_cgroup c = { 0 };

	memset(ret_cgroup, 0, sizeof(*ret_cgroup));
	if (!above->dir[0] || snprintf(c.dir, PATH_MAX, "%s/%s", above->dir, name) >= PATH_MAX ||
	    snprintf(c.path, PATH_MAX, "%s/%s", above->path, name) >= PATH_MAX)
		return;
	if (!mkdir(c.dir, 0755) || errno == EEXIST)
		*ret_cgroup = c;
}

bool davy_cgroup_holds(const char *group, const char *path)
{
	size_t len = strlen(group);

	return len > 1 && !strncmp(path, group, len) && (!path[len] || path[len] == '/');
}

int davy_cgroup_enter(const struct davy_cgroup *cgroup)
{
	char path[PATH_MAX + 16];

	if (!cgroup->dir[0])
		return 0;
	snprintf(path, sizeof(path), "%s/cgroup.procs", cgroup->dir);
	return davy_write_file(path, "0");
}

/* Enables the memory controller for the groups in "above". -EBUSY: it contains processes. */
static int turn_on(const char *above)
{
	char path[PATH_MAX + 32], text[512];

	snprintf(path, sizeof(path), "%s/cgroup.controllers", above);
	if (davy_read_file(path, text, sizeof(text)) < 0 || !strstr(text, "memory"))
		return -ENOTSUP;
	snprintf(path, sizeof(path), "%s/cgroup.subtree_control", above);
	return davy_write_file(path, "+memory");
}

/* Moves this process from "above" to a group beside the engine's, if it is alone there. */
static int cgroup_make_room(const char *above)
{
	char path[PATH_MAX + 64], text[64], own[16];
	struct davy_cgroup beside = { 0 };

	snprintf(path, sizeof(path), "%s/cgroup.procs", above);
	snprintf(own, sizeof(own), "%d\n", (int)getpid());
	if (davy_read_file(path, text, sizeof(text)) < 0 || strcmp(text, own) != 0)
		return -EBUSY;
	if (snprintf(beside.dir, sizeof(beside.dir), "%s/" BESIDE, above) >= PATH_MAX)
		return -ENAMETOOLONG;
	if (mkdir(beside.dir, 0755) && errno != EEXIST)
		return -errno;
	return davy_cgroup_enter(&beside);
}

int davy_cgroup_memory_max(const struct davy_cgroup *cgroup, uint64_t bytes)
{
	char above[PATH_MAX], path[PATH_MAX + 16], text[32], *slash;
	int err = 0;

	snprintf(above, sizeof(above), "%s", cgroup->dir);
	slash = strrchr(above, '/');
	if (!slash)
		return -ENOTSUP;
	*slash = 0;
	snprintf(path, sizeof(path), "%s/memory.max", cgroup->dir);
	snprintf(text, sizeof(text), "%llu", (unsigned long long)bytes);
	if (access(path, F_OK))
		err = turn_on(above);
	if (err == -EBUSY)
		err = cgroup_make_room(above);
	if (!err && access(path, F_OK))
		err = turn_on(above);
	return err ? err : davy_write_file(path, text);
}

static bool cgroup_is_empty(const struct davy_cgroup *cgroup)
{
	char path[PATH_MAX + 16], text[128];

	snprintf(path, sizeof(path), "%s/cgroup.events", cgroup->dir);
	return davy_read_file(path, text, sizeof(text)) < 0 || !strstr(text, "populated 1");
}

void davy_cgroup_kill(const struct davy_cgroup *cgroup)
{
	uint64_t end_ms = davy_now_ms() + KILL_MS;
	char path[PATH_MAX + 16];

	if (!cgroup->dir[0])
		return;
	snprintf(path, sizeof(path), "%s/cgroup.kill", cgroup->dir);
	davy_write_file(path, "1");
	while (!cgroup_is_empty(cgroup) && davy_now_ms() < end_ms)
		nanosleep(&(struct timespec){ .tv_nsec = STEP_NS }, NULL);
}

void davy_cgroup_remove(struct davy_cgroup *cgroup)
{
	if (cgroup->dir[0])
		rmdir(cgroup->dir); /* -EBUSY: it has processes; removed later */
	cgroup->dir[0] = 0;
}

#define PRUNE_DEPTH 8 /* an engine may be a script that calls davylamp exec again */
#define ENTRIES_MAX 4096

static bool is_supervisors(const char *name)
{
	const char *digits = name;

	if (!strcmp(name, BESIDE))
		return true;
	if (!strncmp(name, DAVY_CGROUP_EXEC, strlen(DAVY_CGROUP_EXEC)))
		digits += strlen(DAVY_CGROUP_EXEC);
	return digits[0] && !digits[strspn(digits, "0123456789")];
}

/* rmdir(2) refuses a group with processes. */
static int prune_at(int above_fd, const char *name, int depth)
{
	int fd = openat(above_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;

	if (fd >= 0 && !dir)
		close(fd);
	for (int i = 0; dir && i < ENTRIES_MAX && depth < PRUNE_DEPTH && (entry = readdir(dir));
	     i++)
		if (entry->d_type == DT_DIR && is_supervisors(entry->d_name))
			prune_at(fd, entry->d_name, depth + 1);
	if (dir)
		closedir(dir);
	return unlinkat(above_fd, name, AT_REMOVEDIR) && errno != ENOENT ? -errno : 0;
}

int davy_cgroup_prune(const char *dir)
{
	char above[PATH_MAX], *slash;
	int err;

	snprintf(above, sizeof(above), "%s", dir);
	slash = strrchr(above, '/');
	if (!slash || !is_supervisors(slash + 1))
		return -EINVAL;
	*slash = 0;
	DAVY_FD fd = open(above, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return errno == ENOENT ? 0 : -errno;
	err = prune_at(fd, slash + 1, 0);
	if (!err)
		unlinkat(fd, BESIDE, AT_REMOVEDIR); /* see cgroup_make_room() */
	return err;
}

static bool supervisor_is_gone(const char *name)
{
	long pid;

	if (strncmp(name, DAVY_CGROUP_EXEC, strlen(DAVY_CGROUP_EXEC)) != 0 || !is_supervisors(name))
		return false;
	pid = strtol(name + strlen(DAVY_CGROUP_EXEC), NULL, 10);
	return pid > 0 && pid < INT32_MAX && kill((pid_t)pid, 0) && errno == ESRCH;
}

void davy_cgroup_sweep(void)
{
	char mount[PATH_MAX], own[PATH_MAX], path[2 * PATH_MAX];
	struct dirent *entry;
	DIR *dir;

	if (davy_cgroup_mount(mount, sizeof(mount)) || own_path(own, sizeof(own)))
		return;
	snprintf(path, sizeof(path), "%s%s", mount, own);
	dir = opendir(path);
	for (int i = 0; dir && i < ENTRIES_MAX && (entry = readdir(dir)); i++)
		if (entry->d_type == DT_DIR && supervisor_is_gone(entry->d_name))
			prune_at(dirfd(dir), entry->d_name, 0);
	if (dir)
		closedir(dir);
}
