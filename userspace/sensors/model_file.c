/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "../engines/gguf.h"
#include "../lib/file.h"
#include "../lib/text.h"
#include "ollama_name.h"

#define KNOWN_MAX  16
#define MOUNTS_MAX 20000
#define NAME_TRIES 3 /* its manifest may be written after it */
#define DIGEST_LEN 64

/* What was read of an inode, and that it could not be read. */
struct known {
	uint64_t used; /* 0: empty */
	uint32_t dev_major, dev_minor;
	uint64_t ino, size;
	int64_t changed_s;
	uint32_t changed_ns;
	int err; /* 1: not read yet */
	int name_tries;
	struct dl_model_facts facts;
};

static bool absolute_path(uint32_t pid, const char *path, char *ret_path)
{
	char link[PATH_MAX], root[PATH_MAX], cwd[PATH_MAX];
	const char *inside = cwd;
	ssize_t n;

	if (path[0] == '/')
		return snprintf(ret_path, PATH_MAX, "%s", path) < PATH_MAX;
	if (dl_root_path(link, sizeof(link), "/proc/%u/root", pid))
		return false;
	n = readlink(link, root, sizeof(root) - 1);
	root[n > 0 ? n : 0] = 0;
	if (dl_root_path(link, sizeof(link), "/proc/%u/cwd", pid))
		return false;
	n = readlink(link, cwd, sizeof(cwd) - 1);
	if (n <= 0)
		return false;
	cwd[n] = 0;
	n = (ssize_t)strlen(root);
	if (n > 1 && !strncmp(cwd, root, (size_t)n) && (!cwd[n] || cwd[n] == '/'))
		inside += n;
	return snprintf(ret_path, PATH_MAX, "%s/%s", inside, path) < PATH_MAX;
}

/* Of a mount's type in mountinfo: "... - fuse.sshfs user@host rw". fuseblk is a block device's. */
static bool is_fuse(const char *line)
{
	const char *type = strstr(line, " - ");

	return type && !strncmp(type + 3, "fuse", 4) && strncmp(type + 3, "fuseblk ", 8) != 0;
}

#define ANY_MOUNT UINT64_MAX

/* 1: the mount, or any, is served by a user; 0: not; -ENOENT: it is not in the list. */
static int served_in(const char *path, uint64_t mount_id)
{
	char *line = NULL;
	int served = mount_id == ANY_MOUNT ? 0 : -ENOENT;
	size_t size = 0;
	DL_FILE file = fopen(path, "re");

	if (!file)
		return -ENOENT;
	for (int i = 0; i < MOUNTS_MAX && getline(&line, &size, file) > 0; i++) {
		if (mount_id == ANY_MOUNT)
			served |= is_fuse(line);
		else if (strtoull(line, NULL, 10) == mount_id)
			served = is_fuse(line);
	}
	free(line);
	return served;
}

static bool is_own_root(uint64_t mount_id)
{
	struct statx st;

	return !statx(AT_FDCWD, "/", AT_STATX_DONT_SYNC, STATX_MNT_ID, &st) &&
	       st.stx_mnt_id == mount_id;
}

/* A chrooted process does not see the mount its root lies on; then we may. Asks no file system. */
static bool is_served(uint32_t pid, uint64_t mount_id)
{
	char path[PATH_MAX];
	int served = -ENOENT;

	if (!dl_root_path(path, sizeof(path), "/proc/%u/mountinfo", pid))
		served = served_in(path, mount_id);
	if (served < 0)
		served = served_in("/proc/self/mountinfo", mount_id);
	/*
	 * An agent in a chroot does not see its own root's mount either; on that it lives
	 * already.
	 */
	return served < 0 ? !is_own_root(mount_id) : served != 0;
}

bool dl_file_may_wait(uint32_t pid, int fd)
{
	struct statx st;

	return statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_MNT_ID, &st) != 0 ||
	       is_served(pid, st.stx_mnt_id);
}

int dl_open_in_root(uint32_t pid, const char *path)
{
	struct open_how how = { .flags = O_PATH | O_CLOEXEC,
				.resolve =
					RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS | RESOLVE_CACHED };
	char root[PATH_MAX], inside[PATH_MAX];
	DL_FD dir = -1;
	long fd;

	if (!absolute_path(pid, path, inside) ||
	    dl_root_path(root, sizeof(root), "/proc/%u/root", pid))
		return -ENAMETOOLONG;
	dir = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0)
		return -errno;
	/* The process has opened it: its names are in memory, and nobody is waited for. */
	fd = syscall(SYS_openat2, dir, inside, &how, sizeof(how));
	if (fd < 0 && errno == EAGAIN && !dl_file_may_wait(pid, dir) &&
	    !is_served(pid, ANY_MOUNT)) {
		how.resolve &= ~(__u64)RESOLVE_CACHED;
		fd = syscall(SYS_openat2, dir, inside, &how, sizeof(how));
	}
	return fd < 0 ? -errno : (int)fd;
}

static int look_at(int fd, struct statx *st)
{
	if (statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_BASIC_STATS | STATX_MNT_ID, st))
		return -errno;
	return S_ISREG(st->stx_mode) ? 0 : -EACCES;
}

static int read_head(int path_fd, uint64_t size, struct dl_model_facts *f)
{
	char self[64];
	struct dl_gguf g;
	DL_FD fd = -1;
	int err;

	snprintf(self, sizeof(self), "/proc/self/fd/%d", path_fd);
	fd = open(self, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return -errno;
	f->bytes = size;
	err = dl_gguf_read(fd, size, &g);
	if (err)
		return err;
	dl_text_safe(f->architecture, sizeof(f->architecture), g.architecture);
	dl_copy_name(f->quantisation, sizeof(f->quantisation), dl_gguf_quantisation(g.file_type));
	f->layer_count = g.block_count;
	f->trained_context = g.context_length;
	return 0;
}

static struct known *find(const struct statx *st)
{
	static struct known table[KNOWN_MAX]; /* one thread */
	static uint64_t uses;
	struct known *victim = &table[0];

	for (size_t i = 0; i < KNOWN_MAX; i++) {
		struct known *k = &table[i];

		if (k->used && k->ino == st->stx_ino && k->size == st->stx_size &&
		    k->dev_major == st->stx_dev_major && k->dev_minor == st->stx_dev_minor &&
		    k->changed_s == st->stx_ctime.tv_sec &&
		    k->changed_ns == st->stx_ctime.tv_nsec) {
			k->used = ++uses;
			return k;
		}
		if (k->used < victim->used)
			victim = k;
	}
	*victim = (struct known){ .dev_major = st->stx_dev_major,
				  .dev_minor = st->stx_dev_minor,
				  .ino = st->stx_ino,
				  .size = st->stx_size,
				  .changed_s = st->stx_ctime.tv_sec,
				  .changed_ns = st->stx_ctime.tv_nsec,
				  .err = 1 };
	victim->used = ++uses;
	return victim;
}

/* ".../models/blobs/sha256-<64 digits>": the models folder is two above it, unless it was told. */
static void name_blob(const struct dl_model_where *w, struct dl_model_facts *f)
{
	const char *blob = w->path ? strstr(w->path, "/blobs/sha256-") : NULL;
	char dir[PATH_MAX];

	if (!blob || strlen(blob + 14) != DIGEST_LEN)
		return;
	snprintf(dir, sizeof(dir), "%.*s", (int)(blob - w->path), w->path);
	if (dl_ollama_name(w->pid, dir, blob + 14, f->name, sizeof(f->name)) && w->models_dir)
		dl_ollama_name(w->pid, w->models_dir, blob + 14, f->name, sizeof(f->name));
}

int dl_model_file_read(const struct dl_model_where *where, struct dl_model_facts *ret_facts)
{
	DL_FD fd = where->mapped[0] ? open(where->mapped, O_PATH | O_CLOEXEC) : -1;
	struct known *k;
	struct statx st;
	int err;

	if (fd < 0 && where->path)
		fd = dl_open_in_root(where->pid, where->path);
	if (fd < 0)
		return where->path ? fd : -ENOENT;
	err = look_at(fd, &st);
	if (err)
		return err;
	if (is_served(where->pid, st.stx_mnt_id))
		return -EAGAIN;
	k = find(&st);
	if (k->err == 1)
		k->err = read_head(fd, st.stx_size, &k->facts);
	if (!k->facts.name[0] && k->name_tries < NAME_TRIES) {
		k->name_tries++;
		name_blob(where, &k->facts);
	}
	*ret_facts = k->facts;
	return k->err;
}
