/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sensors/proc/cgroup_name.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define PART_LEN  256 /* NAME_MAX + 1 */
#define PARTS_MAX 64
#define ID_DIGITS 64

/* Scopes of systemd's cgroup driver, and of podman's split mode: PREFIX + id [+ ".scope"]. */
static const struct {
	const char *prefix;
	enum davy_runtime runtime;
} id_prefixes[] = {
	{ "docker-", DAVY_RUNTIME_DOCKER },	 { "libpod-payload-", DAVY_RUNTIME_PODMAN },
	{ "libpod-", DAVY_RUNTIME_PODMAN },	 { "cri-containerd-", DAVY_RUNTIME_CONTAINERD },
	{ "nerdctl-", DAVY_RUNTIME_CONTAINERD }, { "crio-", DAVY_RUNTIME_CRIO },
};

static bool cgroup_name_is_id(const char *text, size_t len)
{
	if (len != ID_DIGITS)
		return false;
	for (size_t i = 0; i < len; i++)
		if (!isxdigit((unsigned char)text[i]))
			return false;
	return true;
}

static bool cgroup_name_ends_with(const char *text, const char *end)
{
	size_t len = strlen(text), end_len = strlen(end);

	return len > end_len && !strcmp(text + len - end_len, end);
}

static size_t cgroup_name_stem_len(const char *part)
{
	return strlen(part) - (cgroup_name_ends_with(part, ".scope") ? 6 : 0);
}

static void cgroup_name_set_container(struct davy_cgroup_name *n, enum davy_runtime runtime,
				      const char *text, size_t len)
{
	char name[PART_LEN];

	snprintf(name, sizeof(name), "%.*s", (int)len, text);
	n->runtime = runtime;
	n->unit[0] = 0; /* the outer unit belongs to the runtime */
	davy_copy_name(n->container, sizeof(n->container), name);
}

/* systemd writes '-' in a name as \x2d. */
static void cgroup_name_unescape(char *text)
{
	char *out = text;

	for (const char *at = text; *at; out++) {
		unsigned int value;

		if (at[0] == '\\' && at[1] == 'x' && isxdigit((unsigned char)at[2]) &&
		    isxdigit((unsigned char)at[3]) && sscanf(at + 2, "%2x", &value) == 1 && value) {
			*out = (char)value;
			at += 4;
		} else {
			*out = *at++;
		}
	}
	*out = 0;
}

static bool cgroup_name_see_scope(const char *part, struct davy_cgroup_name *n)
{
	size_t len = cgroup_name_stem_len(part);

	for (size_t i = 0; i < sizeof(id_prefixes) / sizeof(id_prefixes[0]); i++) {
		size_t skip = strlen(id_prefixes[i].prefix);
		char unit[DAVY_UNIT_LEN];

		if (strncmp(part, id_prefixes[i].prefix, skip) != 0 || len < skip ||
		    !cgroup_name_is_id(part + skip, len - skip))
			continue;
		davy_copy_name(unit, sizeof(unit), n->unit);
		cgroup_name_set_container(n, id_prefixes[i].runtime, part + skip, len - skip);
		if (strstr(id_prefixes[i].prefix, "payload")) /* a unit that runs its container */
			davy_copy_name(n->unit, sizeof(n->unit), unit);
		return true;
	}
	return false;
}

/* cgroupfs driver: only the id, below a directory that names the runtime. */
static bool cgroup_name_see_bare_id(const char *part, const char *above, struct davy_cgroup_name *n)
{
	enum davy_runtime runtime = n->pod[0] ? DAVY_RUNTIME_CONTAINERD : DAVY_RUNTIME_OTHER;

	if (!cgroup_name_is_id(part, strlen(part)))
		return false;
	if (!strcmp(above, "docker"))
		runtime = DAVY_RUNTIME_DOCKER;
	else if (!strcmp(above, "libpod_parent"))
		runtime = DAVY_RUNTIME_PODMAN;
	cgroup_name_set_container(n, runtime, part, strlen(part));
	return true;
}

/* "kubepods-burstable-pod8f2b_....slice", "pod8f2b-...": the uid, with dashes. */
static bool cgroup_name_see_pod(const char *part, bool in_kubepods, struct davy_cgroup_name *n)
{
	const char *at = strstr(part, "-pod");
	size_t len;

	if (!strncmp(part, "kubepods", 8) && at)
		at += 4;
	else if (in_kubepods && !strncmp(part, "pod", 3))
		at = part + 3;
	else
		return false;
	len = strlen(at) - (cgroup_name_ends_with(at, ".slice") ? 6 : 0);
	if (len < 8 || len >= sizeof(n->pod))
		return false;
	snprintf(n->pod, sizeof(n->pod), "%.*s", (int)len, at);
	for (char *c = n->pod; *c; c++)
		if (*c == '_')
			*c = '-';
	return true;
}

static bool cgroup_name_see_machine(const char *part, const char *above, struct davy_cgroup_name *n)
{
	if (!strncmp(part, "lxc.payload.", 12) && part[12])
		cgroup_name_set_container(n, DAVY_RUNTIME_LXC, part + 12, strlen(part + 12));
	else if (!strcmp(above, "lxc"))
		cgroup_name_set_container(n, DAVY_RUNTIME_LXC, part, strlen(part));
	else if (!strncmp(part, "machine-", 8) && cgroup_name_ends_with(part, ".scope") &&
		 strncmp(part, "machine-qemu", 12) != 0)
		cgroup_name_set_container(n, DAVY_RUNTIME_NSPAWN, part + 8, strlen(part) - 8 - 6);
	else if (!strncmp(part, "systemd-nspawn@", 15) && cgroup_name_ends_with(part, ".service"))
		cgroup_name_set_container(n, DAVY_RUNTIME_NSPAWN, part + 15, strlen(part) - 15 - 8);
	else
		return false;
	cgroup_name_unescape(n->container);
	return true;
}

static void cgroup_name_see_unit(const char *part, struct davy_cgroup_name *n)
{
	if (!cgroup_name_ends_with(part, ".service") && !cgroup_name_ends_with(part, ".scope"))
		return;
	if (!strncmp(part, "user@", 5))
		n->user_unit = true;
	else if (strstr(n->unit, ".service") && !strcmp(part, "init.scope"))
		return;
	davy_copy_name(n->unit, sizeof(n->unit), part);
}

/*
 * Length up to the next '/'. containerd and runc with the wrong cgroup driver combine three parts:
 * "kubepods-pod8f2b....slice:cri-containerd:<id>"; elsewhere ':' is part of a unit's name.
 */
static size_t cgroup_name_part_len(const char *path)
{
	size_t len = strcspn(path, "/");

	if (len > ID_DIGITS && path[len - ID_DIGITS - 1] == ':' &&
	    cgroup_name_is_id(path + len - ID_DIGITS, ID_DIGITS))
		return strcspn(path, ":");
	return len;
}

void davy_cgroup_name_of(const char *path, struct davy_cgroup_name *ret_name)
{
	struct davy_cgroup_name n = { 0 };
	char part[PART_LEN], above[PART_LEN] = "";
	bool in_kubepods = false;

	for (int i = 0; *path && i < PARTS_MAX; i++) {
		size_t len = cgroup_name_part_len(path);

		snprintf(part, sizeof(part), "%.*s", (int)(len < PART_LEN ? len : PART_LEN), path);
		path += len + (path[len] != 0);
		if (!len)
			continue;
		in_kubepods |= !strncmp(part, "kubepods", 8);
		if (!cgroup_name_see_scope(part, &n) && !cgroup_name_see_bare_id(part, above, &n) &&
		    !cgroup_name_see_pod(part, in_kubepods, &n) &&
		    !cgroup_name_see_machine(part, above, &n))
			cgroup_name_see_unit(part, &n);
		memcpy(above, part, sizeof(above));
	}
	*ret_name = n;
}

static int cgroup_name_worth(const struct davy_cgroup_name *n)
{
	return (n->container[0] ? 2 : 0) + (n->unit[0] ? 1 : 0);
}

void davy_cgroup_name_read(const char *text, struct davy_cgroup_name *ret_name)
{
	struct davy_cgroup_name best = { 0 }, n;
	char path[4096];

	for (int i = 0; *text && i < PARTS_MAX; i++) {
		size_t len = strcspn(text, "\n");
		const char *at = memchr(text, ':', len);

		at = at ? memchr(at + 1, ':', len - (size_t)(at + 1 - text)) : NULL;
		if (at) {
			snprintf(path, sizeof(path), "%.*s", (int)(len - (size_t)(at + 1 - text)),
				 at + 1);
			davy_cgroup_name_of(path, &n);
			/* v2 is the last line; it wins if both are equally informative */
			if (cgroup_name_worth(&n) > cgroup_name_worth(&best) ||
			    (cgroup_name_worth(&n) == cgroup_name_worth(&best) &&
			     !strncmp(text, "0::", 3)))
				best = n;
		}
		text += len + (text[len] == '\n');
	}
	*ret_name = best;
}
