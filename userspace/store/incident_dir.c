/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "store/incident_dir.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "lib/file.h"

#define CHUNK 65536

static int64_t incident_dir_copy(int from, int to)
{
	static char chunk[CHUNK];
	int64_t kept = 0;

	while (kept < DAVY_INCIDENT_BYTES) {
		ssize_t n = read(from, chunk, sizeof(chunk));
		int err;

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : kept;
		if (n > (int64_t)DAVY_INCIDENT_BYTES - kept)
			n = (int64_t)DAVY_INCIDENT_BYTES - kept;
		err = davy_write_all(to, chunk, (size_t)n);
		if (err)
			return err;
		kept += n;
	}
	return kept;
}

static int incident_dir_by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static int incident_dir_is_ours(const struct dirent *entry)
{
	return entry->d_name[0] == '2'; /* a year */
}

/* Names begin with the time: the first ones are the oldest. */
static void incident_dir_make_room(const char *folder)
{
	struct dirent **list = NULL;
	int count = scandir(folder, &list, incident_dir_is_ours, incident_dir_by_name);

	for (int i = 0; i < count; i++) {
		char path[PATH_MAX];

		if (count - i >= DAVY_INCIDENTS_MAX &&
		    snprintf(path, sizeof(path), "%s/%s", folder, list[i]->d_name) < PATH_MAX)
			unlink(path);
		free(list[i]);
	}
	free(list);
}

int64_t davy_incident_keep(const char *state_dir, const char *from, const char *prefix,
			   char *ret_name, size_t size)
{
	char folder[PATH_MAX - 128], path[PATH_MAX], stamp[32];
	time_t now = time(NULL);
	struct tm tm;
	int64_t kept;
	DAVY_FD in = -1, out = -1;

	snprintf(folder, sizeof(folder), "%s/incidents", state_dir);
	kept = davy_make_dirs(folder);
	if (kept)
		return kept;
	incident_dir_make_room(folder);
	gmtime_r(&now, &tm);
	strftime(stamp, sizeof(stamp), "%Y%m%dT%H%M%SZ", &tm);
	snprintf(ret_name, size, "%s-%s", stamp, prefix);
	snprintf(path, sizeof(path), "%s/%s", folder, ret_name);
	in = open(from, O_RDONLY | O_CLOEXEC);
	if (in < 0)
		return -errno;
	out = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (out < 0)
		return -errno;
	kept = incident_dir_copy(in, out);
	if (kept < 0)
		unlink(path);
	return kept;
}
