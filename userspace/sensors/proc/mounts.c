/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sensors/proc/mounts.h"

#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/file.h"

#define TEXT_MAX   ((size_t)4 << 20) /* a container's line may have 4 KiB of layers */
#define MOUNTS_MAX 16384

struct mount {
	uint64_t id;
	unsigned int dev_major, dev_minor;
	const char *point; /* with escapes such as \040 */
	const char *type;
	char *options; /* of the file system */
};

struct mounts {
	char *text;
	struct mount *at;
	size_t count;
};

static const char *const local_types[] = {
	"ext2",	    "ext3",  "ext4",  "xfs",	"btrfs", "f2fs",     "zfs",
	"bcachefs", "jfs",   "vfat",  "exfat",	"ntfs3", "nilfs2",   "udf",
	"iso9660",  "tmpfs", "ramfs", "rootfs", "erofs", "squashfs",
};

static bool mounts_type_is_local(const struct mount *m)
{
	for (size_t i = 0; i < sizeof(local_types) / sizeof(local_types[0]); i++)
		if (!strcmp(m->type, local_types[i]))
			return true;
	return false;
}

/* "36 35 98:0 /root /point rw,noatime master:1 - ext4 /dev/sda1 rw,errors=continue" */
static bool mounts_parse(char *line, struct mount *m)
{
	char *rest = strstr(line, " - ");
	int used = 0;

	if (!rest ||
	    sscanf(line, "%" SCNu64 " %*u %u:%u %*s %n", &m->id, &m->dev_major, &m->dev_minor,
		   &used) != 3 ||
	    !used || line + used > rest)
		return false;
	*rest = 0;
	rest += 3;
	m->point = line + used;
	line[used + (int)strcspn(m->point, " ")] = 0;
	m->type = strsep(&rest, " ");
	strsep(&rest, " ");
	m->options = rest ? rest : (char *)"";
	return true;
}

static void mounts_read(const char *path, struct mounts *ret_mounts)
{
	struct mounts m = { .text = malloc(TEXT_MAX) };
	ssize_t size = m.text ? davy_read_file(path, m.text, TEXT_MAX) : -1;
	char *rest = size > 0 ? m.text : NULL, *line;

	m.at = rest ? calloc(MOUNTS_MAX, sizeof(*m.at)) : NULL;
	while (m.at && m.count < MOUNTS_MAX && (line = strsep(&rest, "\n")))
		m.count += mounts_parse(line, &m.at[m.count]);
	*ret_mounts = m;
}

static void mounts_done(struct mounts *m)
{
	free(m->at);
	free(m->text);
}

/* The mount with the longest mount point; of equal ones the last, which is on top. */
static const struct mount *mounts_of_path(const struct mounts *m, const char *path)
{
	const struct mount *best = NULL;
	size_t best_len = 0;

	for (size_t i = 0; i < m->count; i++) {
		size_t len = strlen(m->at[i].point);

		len = len == 1 ? 0 : len; /* "/" */
		if (len >= best_len && !strncmp(path, m->at[i].point, len) &&
		    (!path[len] || path[len] == '/')) {
			best = &m->at[i];
			best_len = len;
		}
	}
	return best;
}

static bool mounts_layer_is_local(const struct mounts *host, const struct mount *overlay,
				  const char *layer)
{
	const char *slash = strrchr(overlay->point, '/');
	const struct mount *below;
	char path[PATH_MAX];
	int n = snprintf(path, sizeof(path), "%.*s%s%s",
			 layer[0] == '/' ? 0 : (int)(slash - overlay->point), overlay->point,
			 layer[0] == '/' ? "" : "/", layer);

	if (n < 0 || n >= (int)sizeof(path) || strchr(path, '\\'))
		return false;
	below = mounts_of_path(host, path);
	return below && mounts_type_is_local(below);
}

/*
 * If the options get too long, Docker names layers relative to the directory above the mount point.
 */
static bool mounts_layers_are_local(const struct mounts *host, const struct mount *overlay)
{
	static const char *const names[] = { "lowerdir", "lowerdir+", "datadir+", "upperdir" };
	char *rest = overlay->options, *option, *value, *layer;
	size_t count = 0;

	while ((option = strsep(&rest, ","))) {
		value = strchr(option, '=');
		for (size_t i = 0; value && i < sizeof(names) / sizeof(names[0]); i++) {
			if (strlen(names[i]) != (size_t)(value - option) ||
			    strncmp(option, names[i], (size_t)(value - option)) != 0)
				continue;
			for (value++; (layer = strsep(&value, ":"));) {
				if (*layer && !mounts_layer_is_local(host, overlay, layer))
					return false;
				count += *layer != 0;
			}
			break;
		}
	}
	return count > 0;
}

static bool mounts_overlay_is_local(const struct mount *m)
{
	struct mounts host = { 0 };
	const struct mount *same = NULL;
	char path[PATH_MAX];
	struct statx st;
	bool local;

	/* our root is on it, so we depend on it anyway */
	if (!statx(AT_FDCWD, "/", AT_STATX_DONT_SYNC, STATX_INO, &st) &&
	    st.stx_dev_major == m->dev_major && st.stx_dev_minor == m->dev_minor)
		return true;
	if (!davy_root_path(path, sizeof(path), "/proc/1/mountinfo"))
		mounts_read(path, &host);
	for (size_t i = 0; i < host.count && !same; i++)
		if (host.at[i].dev_major == m->dev_major && host.at[i].dev_minor == m->dev_minor)
			same = &host.at[i];
	local = same && !strcmp(same->type, "overlay") && mounts_layers_are_local(&host, same);
	mounts_done(&host);
	return local;
}

static bool mounts_is_local(const struct mount *m)
{
	return mounts_type_is_local(m) ||
	       (!strcmp(m->type, "overlay") && mounts_overlay_is_local(m));
}

/* 1: local; 0: not local; -1: not in the list. */
static int mounts_judge(const char *path, uint64_t mount_id)
{
	struct mounts list;
	int judgement = -1;

	mounts_read(path, &list);
	for (size_t i = 0; i < list.count && judgement < 0; i++)
		if (list.at[i].id == mount_id)
			judgement = mounts_is_local(&list.at[i]);
	mounts_done(&list);
	return judgement;
}

/* In a chroot, the list does not contain the mount of our own root, on which we depend anyway. */
static bool mounts_is_own_root(uint64_t mount_id)
{
	struct statx st;

	return !statx(AT_FDCWD, "/", AT_STATX_DONT_SYNC, STATX_MNT_ID, &st) &&
	       st.stx_mnt_id == mount_id;
}

bool davy_file_is_local(uint32_t pid, int fd)
{
	char path[PATH_MAX];
	int judgement = -1;
	struct statx st;

	if (statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_MNT_ID, &st))
		return false;
	if (!davy_root_path(path, sizeof(path), "/proc/%u/mountinfo", pid))
		judgement = mounts_judge(path, st.stx_mnt_id);
	/* the list of a chrooted process lacks the mount of its root */
	if (judgement < 0)
		judgement = mounts_judge("/proc/self/mountinfo", st.stx_mnt_id);
	/* so does ours if the agent's unit has its own mount namespace */
	if (judgement < 0)
		judgement = mounts_judge("/proc/1/mountinfo", st.stx_mnt_id);
	return judgement < 0 ? mounts_is_own_root(st.stx_mnt_id) : judgement != 0;
}
