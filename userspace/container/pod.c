/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "container/pod.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/file.h"

#define LOGS   "/var/log/pods"
#define LINKS  "/var/log/containers"
#define ID_LEN ((size_t)64)
/* kubelet.slice/kubelet-kubepods.slice/...-burstable.slice/...-podUID.slice/ID, and one more */
#define DEPTH_MAX   6
#define ENTRIES_MAX 65536 /* of all directories together */

/* A label or subdomain of DNS; "dots": a subdomain. */
static bool pod_take_name(char *field, size_t size, const char *from, size_t len, bool dots)
{
	if (!len || len >= size || from[0] == '-' || from[0] == '.')
		return false;
	for (size_t i = 0; i < len; i++)
		if (!islower((unsigned char)from[i]) && !isdigit((unsigned char)from[i]) &&
		    from[i] != '-' && (from[i] != '.' || !dots))
			return false;
	memcpy(field, from, len);
	field[len] = 0;
	return true;
}

bool davy_pod_parse(struct davy_pod *p, const char *name)
{
	size_t namespace = strcspn(name, "/");
	const char *pod = name + namespace + (name[namespace] == '/');
	size_t len = strcspn(pod, "/");
	const char *container = pod + len + (pod[len] == '/');

	p->container[0] = 0;
	return pod_take_name(p->namespace, sizeof(p->namespace), name, namespace, false) &&
	       pod_take_name(p->name, sizeof(p->name), pod, len, true) &&
	       (!pod[len] || pod_take_name(p->container, sizeof(p->container), container,
					   strlen(container), false));
}

/* A directory of root's, read entry by entry; entries of all of them together are bounded. */
struct walk {
	size_t entries;
};

static DIR *walk_open(const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;
	DIR *dir;

	if (fd < 0)
		return NULL;
	dir = fstat(fd, &st) || st.st_uid ? NULL : fdopendir(fd);
	if (!dir)
		close(fd);
	return dir;
}

static const char *walk_next(struct walk *w, DIR *dir)
{
	const struct dirent *e;

	while (w->entries < ENTRIES_MAX && (e = readdir(dir))) {
		if (e->d_name[0] == '.' || (e->d_type != DT_DIR && e->d_type != DT_LNK))
			continue; /* control files of a cgroup */
		w->entries++;
		return e->d_name;
	}
	return NULL;
}

static bool is_uid(const char *text)
{
	size_t len = strspn(text, "0123456789abcdef-");

	return len >= 8 && len < sizeof(((struct davy_pod *)0)->uid) && !text[len];
}

/* The uids of the pods that had the name, up to "max". */
static size_t find_uids(const struct davy_pod *p, struct walk *w, char uids[][40], size_t max)
{
	char prefix[sizeof(p->namespace) + sizeof(p->name) + 2];
	DIR *dir = walk_open(LOGS);
	const char *name;
	size_t count = 0, len;

	len = (size_t)snprintf(prefix, sizeof(prefix), "%s_%s_", p->namespace, p->name);
	while (dir && count < max && (name = walk_next(w, dir)))
		if (!strncmp(name, prefix, len) && is_uid(name + len))
			snprintf(uids[count++], sizeof(uids[0]), "%s", name + len);
	if (dir)
		closedir(dir);
	return count;
}

/* The directory's name ends in "pod<uid>" or "pod<uid>.slice", where systemd has "_" for "-". */
static bool is_pod_group(const char *name, const char *uid)
{
	const char *at = strstr(name, "pod");

	while (at) {
		size_t i = 0;

		while (uid[i] && (at[3 + i] == uid[i] || (uid[i] == '-' && at[3 + i] == '_')))
			i++;
		if (!uid[i] && (!at[3 + i] || !strcmp(at + 3 + i, ".slice")))
			return true;
		at = strstr(at + 1, "pod");
	}
	return false;
}

/* Of any pod: there is no other one below it. */
static bool is_some_pod(const char *name)
{
	const char *at = strstr(name, "-pod");

	return !strncmp(name, "pod", 3) || (at && strlen(at) > sizeof("-pod"));
}

/* The pod's own cgroup below "path", which it completes. */
static bool find_group(struct walk *w, const char *uid, char *path, size_t size, int depth)
{
	size_t len = strlen(path);
	DIR *dir = walk_open(path);
	bool found = false;
	const char *name;

	while (dir && !found && (name = walk_next(w, dir))) {
		if (depth == 0 && strncmp(name, "kube", 4) != 0)
			continue; /* a user's own groups are elsewhere */
		if (snprintf(path + len, size - len, "/%s", name) >= (int)(size - len))
			continue;
		found = is_pod_group(name, uid) || (depth < DEPTH_MAX && !is_some_pod(name) &&
						    find_group(w, uid, path, size, depth + 1));
	}
	if (dir)
		closedir(dir);
	if (!found)
		path[len] = 0;
	return found;
}

/* Of "cri-containerd-<id>.scope", "crio-<id>.scope", "docker-<id>.scope" or "<id>"; NULL: none. */
static const char *id_in(const char *name)
{
	const char *dash = strrchr(name, '-'), *id = dash ? dash + 1 : name;
	size_t len = strspn(id, "0123456789abcdef");

	if (len != ID_LEN || (id[len] && strcmp(id + len, ".scope") != 0) ||
	    !strncmp(name, "crio-conmon-", 12))
		return NULL;
	return id;
}

/* The container's name, by kubelet's link to its log: POD_NAMESPACE_CONTAINER-ID.log. */
static bool container_of(const struct davy_pod *p, struct walk *w, const char *id, char *name,
			 size_t size)
{
	char prefix[sizeof(p->namespace) + sizeof(p->name) + 2];
	DIR *dir = walk_open(LINKS);
	const char *entry;
	bool found = false;
	size_t len;

	len = (size_t)snprintf(prefix, sizeof(prefix), "%s_%s_", p->name, p->namespace);
	while (dir && !found && (entry = walk_next(w, dir))) {
		size_t all = strlen(entry);

		found = !strncmp(entry, prefix, len) && all > len + 1 + ID_LEN + 4 &&
			entry[all - ID_LEN - 5] == '-' &&
			!strncmp(entry + all - ID_LEN - 4, id, ID_LEN) &&
			pod_take_name(name, size, entry + len, all - ID_LEN - 5 - len, false);
	}
	if (dir)
		closedir(dir);
	return found;
}

/* The process with number 1 in its pid namespace, else the smallest number; 0: there is none. */
static json_int_t first_process_in(const char *group, const char *below)
{
	char path[PATH_MAX + 32], text[4096], status[4096], *at = text;
	json_int_t smallest = 0;

	snprintf(path, sizeof(path), "%s%s/cgroup.procs", group, below);
	if (davy_read_file(path, text, sizeof(text)) <= 0)
		return 0;
	while (*at) {
		json_int_t pid = strtoll(at, &at, 10);
		const char *in;

		at += strcspn(at, "\n");
		at += *at == '\n';
		if (pid <= 0)
			continue;
		smallest = smallest && smallest < pid ? smallest : pid;
		snprintf(path, sizeof(path), "/proc/%lld/status", (long long)pid);
		if (davy_read_file(path, status, sizeof(status)) <= 0)
			continue;
		in = strstr(status, "\nNSpid:");
		if (in && !strncmp(in + strcspn(in + 1, "\n") - 1, "\t1", 2))
			return pid;
	}
	return smallest;
}

/* crun has the processes in a group below the container's (libcrun/cgroup-systemd.c, 1.8). */
static json_int_t first_process(const char *group)
{
	json_int_t pid = first_process_in(group, "");

	return pid ? pid : first_process_in(group, "/container");
}

/* Its containers that run, except for the one that holds the pod's namespaces, which has no log. */
static int find_container(struct davy_pod *p, struct walk *w, const char *tree, char *group,
			  size_t size)
{
	size_t len = strlen(group), count = 0, used = 0;
	char names[160] = "", name[64];
	DIR *dir = walk_open(group);
	const char *entry;

	while (dir && (entry = walk_next(w, dir))) {
		const char *id = id_in(entry);

		if (!id || !container_of(p, w, id, name, sizeof(name)) ||
		    (p->container[0] && strcmp(name, p->container) != 0) ||
		    snprintf(group + len, size - len, "/%s", entry) >= (int)(size - len))
			continue;
		if (used < sizeof(names))
			used += (size_t)snprintf(names + used, sizeof(names) - used, "%s%s",
						 count ? ", " : "", name);
		count++;
		snprintf(p->id, sizeof(p->id), "%.*s", (int)ID_LEN, id);
		snprintf(p->cgroup, sizeof(p->cgroup), "%s", group + strlen(tree));
		p->pid = first_process(group);
	}
	if (dir)
		closedir(dir);
	if (count < 2)
		return 0;
	p->cgroup[0] = p->id[0] = 0;
	p->pid = 0;
	snprintf(p->api->why, sizeof(p->api->why),
		 "the pod has several containers; name one of them: pod:%s/%.60s/CONTAINER, of %s",
		 p->namespace, p->name, names);
	return -ENOTUNIQ;
}

int davy_pod_look(struct davy_pod *p)
{
	static const char *const trees[] = { "/sys/fs/cgroup", "/sys/fs/cgroup/unified" };
	char uids[8][40], group[PATH_MAX];
	struct walk w = { 0 };
	size_t count = find_uids(p, &w, uids, 8);

	p->uid[0] = p->id[0] = p->cgroup[0] = 0;
	p->pid = 0;
	if (count)
		snprintf(p->uid, sizeof(p->uid), "%s", uids[0]);
	for (size_t t = 0; t < sizeof(trees) / sizeof(trees[0]); t++) {
		for (size_t i = 0; i < count && !p->cgroup[0]; i++) {
			int err;

			snprintf(group, sizeof(group), "%s", trees[t]);
			if (!find_group(&w, uids[i], group, sizeof(group), 0))
				continue;
			snprintf(p->uid, sizeof(p->uid), "%s", uids[i]);
			err = find_container(p, &w, trees[t], group, sizeof(group));
			if (err)
				return err;
		}
	}
	if (w.entries < ENTRIES_MAX)
		return 0;
	snprintf(p->api->why, sizeof(p->api->why), "there are more than %d pods' directories",
		 ENTRIES_MAX);
	return -E2BIG;
}

json_t *davy_pod_state(const struct davy_pod *p)
{
	if (!p->uid[0])
		return json_pack("{s:s}", "load", "not-found");
	return json_pack("{s:s, s:s, s:s, s:s, s:I, s:b, s:s, s:s}", "load", "loaded", "active",
			 p->pid ? "active" : "inactive", "sub", p->pid ? "running" : "dead",
			 "cgroup", p->cgroup, "main_pid", p->pid, "own_network", 1, "id", p->id,
			 "uid", p->uid);
}
