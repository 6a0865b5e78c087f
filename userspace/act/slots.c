/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "act/slots.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "lib/file.h"

static void remove_dir(int parent, const char *name)
{
	int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;

	while (dir && (entry = readdir(dir)))
		if (!strncmp(entry->d_name, "dl-", 3))
			unlinkat(dirfd(dir), entry->d_name, 0);
	if (dir)
		closedir(dir);
	unlinkat(parent, name, AT_REMOVEDIR);
}

/* A folder's name begins with the pid of its supervisor. */
static void slots_sweep(const char *path)
{
	DIR *dir = opendir(path);
	struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		long pid = strtol(entry->d_name, NULL, 10);

		if (pid > 0 && pid <= INT32_MAX && kill((pid_t)pid, 0) && errno == ESRCH)
			remove_dir(dirfd(dir), entry->d_name);
	}
	if (dir)
		closedir(dir);
}

int davy_slots_make_dir(const char *base, char *ret_dir, size_t size)
{
	const char *tmp = getenv("TMPDIR");
	char path[PATH_MAX];

	if (snprintf(path, sizeof(path), "%s/slots", base) < (int)sizeof(path) &&
	    !davy_make_dirs(path))
		slots_sweep(path);
	if (snprintf(ret_dir, size, "%s/slots/%d-XXXXXX", base, (int)getpid()) < (int)size &&
	    mkdtemp(ret_dir))
		return 0;
	if (snprintf(ret_dir, size, "%s/davylamp-XXXXXX", tmp && *tmp ? tmp : "/tmp") < (int)size &&
	    mkdtemp(ret_dir))
		return 0;
	ret_dir[0] = 0;
	return -errno;
}

int davy_slots_open(pid_t pid, const char *dir, struct davy_slots *ret_slots)
{
	struct davy_slots slots = { .dir = -1 };
	char path[PATH_MAX];
	uint64_t name[2];

	if (snprintf(path, sizeof(path), "/proc/%d/%s/%s", (int)pid, dir[0] == '/' ? "root" : "cwd",
		     dir) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	if (getrandom(name, sizeof(name), GRND_NONBLOCK) != sizeof(name))
		return -EAGAIN;
	slots.dir = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (slots.dir < 0)
		return -errno;
	snprintf(slots.prefix, sizeof(slots.prefix), "dl-%016llx%016llx-",
		 (unsigned long long)name[0], (unsigned long long)name[1]);
	*ret_slots = slots;
	return 0;
}

void davy_slots_done(struct davy_slots *slots)
{
	char name[64];

	for (unsigned int i = 0; slots->dir >= 0 && i < DAVY_SLOTS_MAX; i++) {
		snprintf(name, sizeof(name), "%s%u", slots->prefix, i);
		unlinkat(slots->dir, name, 0);
	}
	if (slots->dir >= 0)
		close(slots->dir);
	*slots = (struct davy_slots){ .dir = -1 };
}

int davy_slots_parse(const char *text, size_t size, uint64_t *ret_slots, uint64_t *ret_tokens)
{
	json_t *object = text ? json_loadb(text, size, JSON_REJECT_DUPLICATES, NULL) : NULL;
	const json_t *list = json_object_get(object, "slots");
	uint64_t slots = 0, tokens = 0;
	int err = json_is_array(list) ? 0 : -EBADMSG;

	for (size_t i = 0; !err && i < json_array_size(list) && i < DAVY_SLOTS_MAX; i++) {
		const json_t *slot = json_array_get(list, i);
		json_int_t id = json_integer_value(json_object_get(slot, "id"));
		json_int_t count = json_integer_value(json_object_get(slot, "tokens"));

		if (id < 0 || id >= DAVY_SLOTS_MAX || count > UINT32_MAX) {
			err = -EBADMSG;
		} else if (count > 0) {
			slots |= (uint64_t)1 << id;
			tokens += (uint64_t)count;
		}
	}
	json_decref(object);
	if (err)
		return err;
	*ret_slots = slots;
	*ret_tokens = tokens;
	return 0;
}
