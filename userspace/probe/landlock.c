/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Landlock by raw system calls (glibc has no wrappers; Debian 12's header ends at ABI 2). Features
 * that the kernel lacks are omitted. include/uapi/linux/landlock.h: ABI 1 in 5.13, 2 (refer) in
 * 5.19, 3 (truncate) in 6.2, 4 (TCP) in 6.7, 5 (device ioctl) in 6.10, 6 (scopes) in 6.12.
 */
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <linux/landlock.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "probe/probe_confine.h"

#define FS_ABI1	     ((1ULL << 13) - 1) /* EXECUTE to MAKE_SYM */
#define FS_REFER     (1ULL << 13)
#define FS_TRUNCATE  (1ULL << 14)
#define FS_IOCTL_DEV (1ULL << 15)
#define NET_ANY	     3ULL /* bind, connect */
#define NET_BIND     1ULL
#define NET_CONNECT  2ULL
#define SCOPE_ANY    3ULL /* abstract unix sockets, signals */
#define RULE_NET     2

#define READ_ONLY                                                                                  \
	(LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR)

struct ruleset {
	uint64_t files;
	uint64_t network;
	uint64_t scopes;
};

struct port_rule {
	uint64_t access;
	uint64_t port;
};

static int allow_path(int set, const char *path, uint64_t access)
{
	struct landlock_path_beneath_attr rule = { .allowed_access = access };
	int err = 0;

	rule.parent_fd = open(path, O_PATH | O_CLOEXEC);
	if (rule.parent_fd < 0)
		return -errno;
	if (syscall(SYS_landlock_add_rule, set, LANDLOCK_RULE_PATH_BENEATH, &rule, 0))
		err = -errno;
	close(rule.parent_fd);
	return err;
}

static int allow_port(int set, uint64_t access, uint16_t port)
{
	struct port_rule rule = { access, port };

	return syscall(SYS_landlock_add_rule, set, RULE_NET, &rule, 0) ? -errno : 0;
}

static struct ruleset known_to(int abi)
{
	struct ruleset r = { .files = FS_ABI1 };

	if (abi >= 2)
		r.files |= FS_REFER;
	if (abi >= 3)
		r.files |= FS_TRUNCATE;
	if (abi >= 4)
		r.network = NET_ANY;
	if (abi >= 5)
		r.files |= FS_IOCTL_DEV;
	if (abi >= 6)
		r.scopes = SCOPE_ANY;
	return r;
}

/* The kernel rejects non-zero bytes beyond its own struct. */
static size_t size_for(int abi)
{
	if (abi < 4)
		return sizeof(uint64_t);
	return abi < 6 ? 2 * sizeof(uint64_t) : sizeof(struct ruleset);
}

/* Device files that appear later stay read-only. */
static int allow_devices(int set, const char *pattern, uint64_t files)
{
	uint64_t access = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_WRITE_FILE |
			  (files & FS_IOCTL_DEV);
	struct stat st;
	glob_t found;
	int err = 0;

	if (glob(pattern, GLOB_NOSORT, NULL, &found))
		return 0; /* a root file system without devices */
	for (size_t i = 0; !err && i < found.gl_pathc; i++)
		if (!stat(found.gl_pathv[i], &st))
			err = allow_path(set, found.gl_pathv[i],
					 S_ISDIR(st.st_mode) ? access | READ_ONLY : access);
	globfree(&found);
	return err;
}

int davy_landlock(const char *devices, uint16_t tcp_port, uint16_t from_port)
{
	int abi =
		(int)syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
	struct ruleset r = known_to(abi);
	int set, err;

	if (abi < 1)
		return abi < 0 ? -errno : -ENOSYS;
	set = (int)syscall(SYS_landlock_create_ruleset, &r, size_for(abi), 0);
	if (set < 0)
		return -errno;
	err = allow_path(set, "/", READ_ONLY);
	if (!err && devices)
		err = allow_devices(set, devices, r.files);
	if (!err && tcp_port && r.network)
		err = allow_port(set, NET_CONNECT, tcp_port);
	if (!err && from_port && r.network)
		err = allow_port(set, NET_BIND, from_port);
	if (!err && syscall(SYS_landlock_restrict_self, set, 0))
		err = -errno;
	close(set);
	return err ? err : abi;
}
