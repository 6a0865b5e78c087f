/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sensors/proc/container_path.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "lib/file.h"
#include "sensors/proc/mounts.h"

#define STEPS_MAX 256
#define LINKS_MAX 40 /* as in the kernel */

static bool container_path_absolute(uint32_t pid, const char *path, char *ret_path)
{
	char link[PATH_MAX], root[PATH_MAX], cwd[PATH_MAX];
	const char *container_path = cwd;
	ssize_t n;

	if (path[0] == '/')
		return snprintf(ret_path, PATH_MAX, "%s", path) < PATH_MAX;
	if (davy_root_path(link, sizeof(link), "/proc/%u/root", pid))
		return false;
	n = readlink(link, root, sizeof(root) - 1);
	root[n > 0 ? n : 0] = 0;
	if (davy_root_path(link, sizeof(link), "/proc/%u/cwd", pid))
		return false;
	n = readlink(link, cwd, sizeof(cwd) - 1);
	if (n <= 0)
		return false;
	cwd[n] = 0;
	n = (ssize_t)strlen(root);
	if (n > 1 && !strncmp(cwd, root, (size_t)n) && (!cwd[n] || cwd[n] == '/'))
		container_path += n;
	return snprintf(ret_path, PATH_MAX, "%s/%s", container_path, path) < PATH_MAX;
}

static int container_path_open_name(int dir, const char *name, uint64_t flags, uint64_t resolve)
{
	struct open_how how = { .flags = O_PATH | O_CLOEXEC | flags,
				.resolve = RESOLVE_NO_MAGICLINKS | resolve };
	long fd = syscall(SYS_openat2, dir, name, &how, sizeof(how));

	return fd < 0 ? -errno : (int)fd;
}

/* The directory must be on a local file system; a mount point in it is checked separately. */
static int container_path_step(uint32_t pid, int dir, const char *name)
{
	int fd = container_path_open_name(dir, name, O_NOFOLLOW, RESOLVE_CACHED | RESOLVE_BENEATH);

	if (fd != -EAGAIN || !davy_file_is_local(pid, dir))
		return fd;
	fd = container_path_open_name(dir, name, O_NOFOLLOW, RESOLVE_NO_XDEV | RESOLVE_BENEATH);
	if (fd == -EXDEV)
		fd = container_path_open_name(dir, name, O_NOFOLLOW,
					      RESOLVE_CACHED | RESOLVE_BENEATH);
	return fd;
}

/* The state of a path walk: "at" and the rest of the path. */
struct walk {
	uint32_t pid;
	int root;
	int at;
	int link_count;
	char done[PATH_MAX]; /* "/a/b", without links */
	char rest[PATH_MAX];
};

static int container_path_put_before(struct walk *w, const char *path)
{
	char rest[PATH_MAX];

	if (snprintf(rest, sizeof(rest), "%s/%s", path, w->rest) >= (int)sizeof(rest))
		return -ENAMETOOLONG;
	memcpy(w->rest, rest, sizeof(rest));
	return 0;
}

static int container_path_back_to_root(struct walk *w)
{
	close(w->at);
	w->done[0] = 0;
	w->at = fcntl(w->root, F_DUPFD_CLOEXEC, 0);
	return w->at < 0 ? -errno : 0;
}

static int container_path_go_up(struct walk *w)
{
	char *slash = strrchr(w->done, '/');
	int err;

	if (slash)
		*slash = 0;
	err = container_path_put_before(w, w->done);
	return err ? err : container_path_back_to_root(w);
}

static int container_path_follow(struct walk *w, int link)
{
	char target[PATH_MAX];
	ssize_t n;
	int err;

	if (++w->link_count > LINKS_MAX)
		return -ELOOP;
	if (!davy_file_is_local(w->pid, link))
		return -EAGAIN;
	n = readlinkat(link, "", target, sizeof(target) - 1);
	if (n <= 0)
		return n ? -errno : -ENOENT;
	target[n] = 0;
	err = container_path_put_before(w, target);
	return err || target[0] != '/' ? err : container_path_back_to_root(w);
}

static int container_path_go_down(struct walk *w, const char *name)
{
	size_t len = strlen(w->done);
	struct statx st;
	int fd = container_path_step(w->pid, w->at, name), err = 0;

	if (fd < 0)
		return fd;
	if (statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_TYPE, &st))
		err = -errno;
	else if (S_ISLNK(st.stx_mode))
		err = container_path_follow(w, fd);
	else if (snprintf(w->done + len, sizeof(w->done) - len, "/%s", name) >=
		 (int)(sizeof(w->done) - len))
		err = -ENAMETOOLONG;
	if (err || S_ISLNK(st.stx_mode)) {
		close(fd);
		return err;
	}
	close(w->at);
	w->at = fd;
	return 0;
}

/* One component at a time, in case not all of them are cached. */
static int container_path_walk(struct walk *w)
{
	char name[NAME_MAX + 1];
	int err = 0;

	for (int i = 0; i < STEPS_MAX && !err; i++) {
		const char *from = w->rest + strspn(w->rest, "/");
		size_t len = strcspn(from, "/");

		if (!len)
			return 0;
		if (len > NAME_MAX)
			return -ENAMETOOLONG;
		memcpy(name, from, len);
		name[len] = 0;
		memmove(w->rest, from + len, strlen(from + len) + 1);
		if (!strcmp(name, ".."))
			err = container_path_go_up(w);
		else if (strcmp(name, ".") != 0)
			err = container_path_go_down(w, name);
	}
	return err ? err : -ELOOP;
}

int davy_walk_in_root(uint32_t pid, int root, const char *path)
{
	struct walk w = { .pid = pid, .root = root };
	int err;

	if (snprintf(w.rest, sizeof(w.rest), "%s", path) >= (int)sizeof(w.rest))
		return -ENAMETOOLONG;
	w.at = fcntl(root, F_DUPFD_CLOEXEC, 0);
	if (w.at < 0)
		return -errno;
	err = container_path_walk(&w);
	if (!err)
		return w.at;
	if (w.at >= 0)
		close(w.at);
	return err;
}

int davy_open_in_root(uint32_t pid, const char *path)
{
	char root[PATH_MAX], container_path[PATH_MAX];
	DAVY_FD dir = -1;
	int fd;

	if (!container_path_absolute(pid, path, container_path) ||
	    davy_root_path(root, sizeof(root), "/proc/%u/root", pid))
		return -ENAMETOOLONG;
	dir = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0)
		return -errno;
	/* The process has opened the file, so its path is usually cached and nothing blocks. */
	fd = container_path_open_name(dir, container_path, 0, RESOLVE_IN_ROOT | RESOLVE_CACHED);
	return fd == -EAGAIN ? davy_walk_in_root(pid, dir, container_path) : fd;
}

int davy_open_mapped(uint32_t pid, const char *path)
{
	char root[PATH_MAX];
	int fd;

	if (davy_root_path(root, sizeof(root), "/proc/%u/root/", pid))
		return -ENAMETOOLONG;
	if (!strncmp(path, root, strlen(root)))
		return davy_open_in_root(pid, path + strlen(root) - 1);
	fd = open(path, O_PATH | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

bool davy_is_regular(int fd)
{
	struct statx st;

	return !statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_TYPE, &st) &&
	       S_ISREG(st.stx_mode);
}

int davy_local_file(uint32_t pid, int fd)
{
	if (!davy_file_is_local(pid, fd))
		return -EAGAIN;
	return davy_is_regular(fd) ? 0 : -EACCES;
}

const char *davy_self_fd(int fd, char ret_path[DAVY_SELF_FD_SIZE])
{
	snprintf(ret_path, DAVY_SELF_FD_SIZE, "/proc/self/fd/%d", fd);
	return ret_path;
}

int davy_reopen(int fd)
{
	char self[DAVY_SELF_FD_SIZE];
	int file = open(davy_self_fd(fd, self), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

	return file < 0 ? -errno : file;
}
