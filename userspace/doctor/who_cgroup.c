/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which cgroups our children may enter. They enter as root, and the owner of a cgroup can freeze it
 * or limit it to nothing. So it must be a systemd unit below system.slice or another slice of root,
 * and root must own all its directories and files. Refused: everything below user.slice, a unit
 * with Delegate= and its own user, a frozen cgroup, and one whose memory limit is nearly reached:
 * a child could cause the engine's end.
 */
#include "doctor/who_cgroup.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/file.h"

#define ROOM_BYTES (1ULL << 30) /* a Vulkan driver with its shader compiler needs about 0.3 GiB */

static bool who_cgroup_ends_with(const char *text, size_t len, const char *end)
{
	return len > strlen(end) && !memcmp(text + len - strlen(end), end, strlen(end));
}

/* "/system.slice/ollama.service", "/system.slice/docker-0a.scope/x" */
static bool names_a_unit(const char *path)
{
	if (!strncmp(path, "/user.slice", 11))
		return false;
	for (const char *at = path; *at == '/';) {
		size_t len = strcspn(++at, "/");

		if (who_cgroup_ends_with(at, len, ".service") ||
		    who_cgroup_ends_with(at, len, ".scope"))
			return true;
		at += len;
	}
	return false;
}

static bool is_roots(int dir, const char *name)
{
	struct stat st;

	if (fstatat(dir, name, &st, AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW))
		return name[0] && errno == ENOENT; /* a controller may be off */
	return !st.st_uid && !(st.st_mode & 022);
}

static bool is_roots_with_files(int dir)
{
	static const char *const names[] = {
		"",	      "cgroup.procs", "cgroup.threads", "cgroup.freeze", "cgroup.kill",
		"memory.max", "memory.high",  "pids.max",	"cpu.max",	 "devices.deny",
		"tasks",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!is_roots(dir, names[i]))
			return false;
	return true;
}

static bool number_in(int dir, const char *name, uint64_t *ret_value)
{
	char text[64], *end;
	DAVY_FD fd = openat(dir, name, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || davy_read_fd(fd, text, sizeof(text)) <= 0)
		return false;
	*ret_value = strtoull(text, &end, 10);
	return end != text;
}

/* memory.max is "max" without a limit; the root cgroup does not have it. */
static bool has_room(int dir)
{
	uint64_t most, used;

	return !number_in(dir, "memory.max", &most) || !number_in(dir, "memory.current", &used) ||
	       (used < most && most - used >= ROOM_BYTES);
}

static bool is_frozen(int dir)
{
	uint64_t frozen;

	return number_in(dir, "cgroup.freeze", &frozen) && frozen;
}

/* Walks from the top: another user cannot replace a directory that was checked. */
struct walk {
	int fd;
	enum davy_who_cgroup found;
};

static void walk_look(struct walk *w)
{
	if (is_frozen(w->fd))
		w->found = DAVY_WHO_CGROUP_FROZEN;
	else if (w->found == DAVY_WHO_CGROUP_OURS && !is_roots_with_files(w->fd))
		w->found = DAVY_WHO_CGROUP_STRANGERS;
	else if (w->found == DAVY_WHO_CGROUP_OURS && !has_room(w->fd))
		w->found = DAVY_WHO_CGROUP_FULL;
}

static void walk_step(struct walk *w, const char *name, size_t len)
{
	char part[NAME_MAX + 1];
	int fd = -1;

	if (len <= NAME_MAX) {
		snprintf(part, sizeof(part), "%.*s", (int)len, name);
		fd = openat(w->fd, part, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	}
	close(w->fd);
	w->fd = fd;
	if (fd < 0)
		w->found = DAVY_WHO_CGROUP_GONE;
	else
		walk_look(w);
}

enum davy_who_cgroup davy_who_cgroup_open(const char *mount, const char *path, int *ret_fd)
{
	struct walk w = { .fd = open(mount, O_RDONLY | O_DIRECTORY | O_CLOEXEC) };

	*ret_fd = -1;
	if (path[0] != '/' || strstr(path, "/..") || w.fd < 0) {
		if (w.fd >= 0)
			close(w.fd);
		return DAVY_WHO_CGROUP_GONE;
	}
	if (!names_a_unit(path))
		w.found = DAVY_WHO_CGROUP_STRANGERS;
	for (const char *at = path; *at == '/' && w.fd >= 0;) {
		size_t len = strcspn(++at, "/");

		if (len)
			walk_step(&w, at, len);
		at += len;
	}
	if (w.found == DAVY_WHO_CGROUP_OURS)
		*ret_fd = openat(w.fd, "cgroup.procs", O_WRONLY | O_CLOEXEC);
	if (w.fd >= 0)
		close(w.fd);
	return w.found;
}
