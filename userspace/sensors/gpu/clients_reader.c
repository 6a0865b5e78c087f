/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sensors/gpu/clients_reader.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lib/file.h"
#include "sensors/gpu/clients.h"

#define FDS_MAX	 4096 /* per process */
#define SEEN_MAX 1024 /* clients per answer */

struct serving {
	int fd;
	struct davy_clients_place *place;
	struct {
		uint64_t client_id;
		char device[DAVY_DEVICE_LEN];
	} seen[SEEN_MAX];
	size_t seen_count;
};

/* A file that is shared or duplicated is one client. */
static bool clients_reader_seen_before(struct serving *s, const struct davy_fdinfo *info)
{
	for (size_t i = 0; i < s->seen_count; i++)
		if (s->seen[i].client_id == info->client_id &&
		    !strcmp(s->seen[i].device, info->device))
			return true;
	if (s->seen_count < SEEN_MAX) {
		s->seen[s->seen_count].client_id = info->client_id;
		memcpy(s->seen[s->seen_count].device, info->device, sizeof(info->device));
		s->seen_count++;
	}
	return false;
}

static bool clients_reader_is_drm(uint32_t pid, const char *fd)
{
	char path[PATH_MAX], target[64];
	ssize_t n;

	if (davy_root_path(path, sizeof(path), "/proc/%u/fd/%s", pid, fd))
		return false;
	n = readlink(path, target, sizeof(target) - 1);
	if (n <= 0)
		return false;
	target[n] = 0;
	return !strncmp(target, "/dev/dri/", 9);
}

static void clients_reader_read_file(struct serving *s, uint32_t pid, const char *fd)
{
	struct davy_clients_answer a;
	char path[PATH_MAX], text[8192] = "";

	if (davy_root_path(path, sizeof(path), "/proc/%u/fdinfo/%s", pid, fd) ||
	    davy_read_file(path, text, sizeof(text)) <= 0)
		return;
	memset(&a, 0, sizeof(a));
	a.pid = pid;
	if (davy_fdinfo_parse(text, &a.info) && !clients_reader_seen_before(s, &a.info))
		send(s->fd, &a, sizeof(a), MSG_NOSIGNAL);
}

static void clients_reader_read_process(struct serving *s, uint32_t pid)
{
	char path[PATH_MAX];
	struct dirent *entry;
	DIR *dir;

	if (davy_root_path(path, sizeof(path), "/proc/%u/fd", pid))
		return;
	s->place->pid = pid;
	dir = opendir(path);
	for (int i = 0; dir && i < FDS_MAX && (entry = readdir(dir)); i++)
		if (isdigit((unsigned char)entry->d_name[0]) &&
		    clients_reader_is_drm(pid, entry->d_name))
			clients_reader_read_file(s, pid, entry->d_name);
	if (dir)
		closedir(dir);
	s->place->pid = 0;
}

static void clients_reader_read_all(struct serving *s)
{
	char path[PATH_MAX];
	struct dirent *entry;
	DIR *dir;

	if (davy_root_path(path, sizeof(path), "/proc"))
		return;
	dir = opendir(path);
	while (dir && (entry = readdir(dir)))
		if (isdigit((unsigned char)entry->d_name[0]))
			clients_reader_read_process(s, (uint32_t)strtoul(entry->d_name, NULL, 10));
	if (dir)
		closedir(dir);
}

void davy_clients_serve(int fd, struct davy_clients_place *place)
{
	static struct serving s;
	uint32_t pids[DAVY_CLIENTS_PIDS];
	ssize_t n;

	s.fd = fd;
	s.place = place;
	while ((n = recv(s.fd, pids, sizeof(pids), 0)) > 0) {
		s.seen_count = 0;
		for (size_t i = 0; i < (size_t)n / sizeof(pids[0]); i++)
			clients_reader_read_process(&s, pids[i]);
		if ((size_t)n < sizeof(pids[0]))
			clients_reader_read_all(&s);
		if (send(s.fd, "", 1, MSG_NOSIGNAL) < 0)
			break;
	}
}
