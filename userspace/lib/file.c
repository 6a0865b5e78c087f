/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lib/file.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static char root[PATH_MAX];

void davy_root_set(const char *path)
{
	snprintf(root, sizeof(root), "%s", path);
}

int davy_root_path(char *buf, size_t size, const char *format, ...)
{
	size_t used = strlen(root);
	va_list args;
	int n;

	if (used >= size)
		return -ENAMETOOLONG;
	memcpy(buf, root, used + 1);
	va_start(args, format);
	n = vsnprintf(buf + used, size - used, format, args);
	va_end(args);
	return n < 0 || (size_t)n >= size - used ? -ENAMETOOLONG : 0;
}

int davy_program_path(const char *name, char *buf, size_t size)
{
	char path[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);
	char *slash;

	path[n > 0 ? n : 0] = 0;
	slash = strrchr(path, '/');
	if (!slash)
		return -ENOENT; /* no /proc; never run a program from the current directory */
	slash[1] = 0;
	if ((size_t)snprintf(buf, size, "%s%s", path, name) >= size)
		return -ENAMETOOLONG;
	return access(buf, X_OK) ? -errno : 0;
}

static int spare = -1; /* open only to be closed */

int davy_spare_fd_keep(void)
{
	if (spare < 0)
		spare = open("/dev/null", O_RDONLY | O_CLOEXEC);
	return spare < 0 ? -errno : 0;
}

ssize_t davy_read_file(const char *path, char *buf, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	bool lent = fd < 0 && (errno == EMFILE || errno == ENFILE) && spare >= 0;
	ssize_t n;

	if (lent) {
		close(spare);
		spare = -1;
		fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	}
	n = fd < 0 ? -errno : davy_read_fd(fd, buf, size);
	if (fd >= 0)
		close(fd);
	if (lent)
		davy_spare_fd_keep();
	return n;
}

ssize_t davy_read_fd(int fd, char *buf, size_t size)
{
	size_t used = 0;
	ssize_t n;

	while (used < size - 1) {
		n = read(fd, buf + used, size - 1 - used);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			break;
		used += (size_t)n;
	}
	buf[used] = 0;
	return (ssize_t)used;
}

ssize_t davy_read_whole(const char *path, char *buf, size_t size)
{
	DAVY_FD fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	ssize_t n = fd < 0 ? -errno : davy_read_fd(fd, buf, size), more;
	char next;

	if (n < 0 || (size_t)n < size - 1)
		return n;
	do
		more = read(fd, &next, 1);
	while (more < 0 && errno == EINTR);
	if (!more)
		return n;
	buf[0] = 0;
	return more < 0 ? -errno : -EFBIG;
}

int davy_read_number(const char *path, uint64_t *ret_value)
{
	char text[64] = "", *end;
	ssize_t n = davy_read_file(path, text, sizeof(text));
	uint64_t value;

	if (n <= 0)
		return n ? (int)n : -ENODATA;
	if (!isdigit((unsigned char)text[0])) /* strtoull converts "-1" to the largest value */
		return -EBADMSG;
	errno = 0;
	value = strtoull(text, &end, 0);
	if (errno || (*end && !isspace((unsigned char)*end)))
		return -EBADMSG;
	*ret_value = value;
	return 0;
}

int davy_write_all(int fd, const void *data, size_t size)
{
	const char *at = data;
	ssize_t n;

	while (size) {
		n = write(fd, at, size);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		at += n;
		size -= (size_t)n;
	}
	return 0;
}

int davy_write_file(const char *path, const char *text)
{
	DAVY_FD fd = open(path, O_WRONLY | O_CLOEXEC);

	return fd < 0 ? -errno : davy_write_all(fd, text, strlen(text));
}

static int file_sync_dir_of(const char *path)
{
	char dir[PATH_MAX];
	char *slash;

	snprintf(dir, sizeof(dir), "%s", path);
	slash = strrchr(dir, '/');
	if (!slash)
		snprintf(dir, sizeof(dir), ".");
	else
		slash[slash == dir] = 0;
	DAVY_FD fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return fd < 0 || fsync(fd) ? -errno : 0;
}

static int file_write_synced(int fd, const void *data, size_t size, mode_t mode)
{
	int err = davy_write_all(fd, data, size);

	if (err)
		return err;
	if (fchmod(fd, mode) || fsync(fd))
		return -errno;
	return 0;
}

int davy_replace_file(const char *path, const void *data, size_t size, mode_t mode)
{
	char temp[PATH_MAX];
	int fd, err;

	if (snprintf(temp, sizeof(temp), "%s.XXXXXX", path) >= (int)sizeof(temp))
		return -ENAMETOOLONG;
	fd = mkostemp(temp, O_CLOEXEC);
	if (fd < 0)
		return -errno;
	err = file_write_synced(fd, data, size, mode);
	if (close(fd) && !err)
		err = -errno;
	if (!err && rename(temp, path))
		err = -errno;
	if (err) {
		unlink(temp);
		return err;
	}
	return file_sync_dir_of(path);
}

int davy_make_dir(const char *path)
{
	mode_t mask = umask(022);
	int err = mkdir(path, 0755) ? -errno : 0;

	umask(mask);
	return err;
}

int davy_make_dirs(const char *path)
{
	char dir[PATH_MAX];
	int err;

	if (snprintf(dir, sizeof(dir), "%s", path) >= (int)sizeof(dir))
		return -ENAMETOOLONG;
	for (char *at = dir + 1;; at++) {
		char kept = *at;

		if (kept && kept != '/')
			continue;
		*at = 0;
		err = davy_make_dir(dir);
		if (err && err != -EEXIST)
			return err;
		*at = kept;
		if (!kept)
			return 0;
	}
}
