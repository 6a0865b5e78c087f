/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "probe/probe_confine.h"

#include <errno.h>
#include <glob.h>
#include <grp.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/rights.h"

#define CPU_SPARE_S 2 /* SIGXCPU names the cause; SIGKILL (hard limit) does not */

/*
 * Never raises an inherited limit, which root could do. "spare": difference of hard and soft limit.
 */
static int probe_confine_limit(int what, rlim_t value, rlim_t spare)
{
	struct rlimit r;

	if (getrlimit((__rlimit_resource_t)what, &r))
		return -errno;
	if (r.rlim_max > value + spare)
		r.rlim_max = value + spare;
	if (r.rlim_max >= spare && r.rlim_cur > r.rlim_max - spare)
		r.rlim_cur = r.rlim_max - spare;
	return setrlimit((__rlimit_resource_t)what, &r) ? -errno : 0;
}

static int set_limits(const struct davy_confine *c)
{
	int err = probe_confine_limit(RLIMIT_NOFILE, c->file_count, 0);

	if (!err)
		err = probe_confine_limit(RLIMIT_CPU, c->cpu_s, CPU_SPARE_S);
	if (!err)
		err = probe_confine_limit(RLIMIT_CORE, 0, 0);
	if (!err)
		err = probe_confine_limit(RLIMIT_NPROC, c->process_count, 0);
	if (!err)
		err = probe_confine_limit(RLIMIT_RTPRIO, 0, 0);
	if (!err)
		err = probe_confine_limit(RLIMIT_MSGQUEUE, 0, 0);
	if (!err)
		err = probe_confine_limit(RLIMIT_DATA, c->data_bytes, 0);
	if (!err)
		err = probe_confine_limit(RLIMIT_AS, c->memory_bytes, 0);
	return err;
}

static int probe_confine_become(const struct davy_confine *c)
{
	if (!geteuid() && (setgroups(c->group_count, c->groups) ||
			   setresgid(c->gid, c->gid, c->gid) || setresuid(c->uid, c->uid, c->uid)))
		return -errno;
	return davy_rights_cap(0);
}

int davy_confine(const struct davy_confine *c, pid_t parent, int *ret_landlock_abi)
{
	int err, abi;

	davy_rights_oom_score("1000"); /* the agent is protected; probes are killed first */
	err = probe_confine_become(c);
	if (!err)
		err = davy_rights_seal(parent);
	if (err)
		return err;
	abi = davy_landlock(c->devices, c->tcp_port, c->from_port);
	if (abi < 0 && abi != -ENOSYS && abi != -EOPNOTSUPP)
		return abi;
	err = set_limits(c);
	if (!err)
		err = davy_seccomp(c->tcp_port != 0, c->programs);
	if (err)
		return err;
	*ret_landlock_abi = abi > 0 ? abi : 0;
	return 0;
}

static void add_group(struct davy_confine *c, gid_t gid)
{
	for (size_t i = 0; i < c->group_count; i++)
		if (c->groups[i] == gid)
			return;
	if (gid && c->group_count < DAVY_GROUPS_MAX)
		c->groups[c->group_count++] = gid;
}

void davy_confine_add_gpu_groups(struct davy_confine *c)
{
	static const char *const patterns[] = { "/dev/dri/renderD*", "/dev/kfd",
						DAVY_DEVICES_NVIDIA };
	struct stat st;
	glob_t found;

	for (size_t p = 0; p < sizeof(patterns) / sizeof(patterns[0]); p++) {
		if (strcmp(c->devices, DAVY_DEVICES_ALL) != 0 &&
		    strcmp(c->devices, patterns[p]) != 0)
			continue;
		if (glob(patterns[p], GLOB_NOSORT, NULL, &found))
			continue;
		for (size_t i = 0; i < found.gl_pathc; i++)
			if (!stat(found.gl_pathv[i], &st) && S_ISCHR(st.st_mode) &&
			    st.st_mode & S_IWGRP)
				add_group(c, st.st_gid);
		globfree(&found);
	}
}
