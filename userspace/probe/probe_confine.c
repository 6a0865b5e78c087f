/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "probe/probe_confine.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <grp.h>
#include <linux/capability.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define CPU_SPARE_S 2 /* SIGXCPU says what happened; SIGKILL, at the hard limit, says nothing */

/*
 * Root could raise a limit that it inherited; a probe never does. "spare" lies between the soft
 * limit and the hard one.
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

static int become(const struct davy_confine *c)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = { 0 };

	if (!geteuid() && (setgroups(c->group_count, c->groups) ||
			   setresgid(c->gid, c->gid, c->gid) || setresuid(c->uid, c->uid, c->uid)))
		return -errno;
	prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	return syscall(SYS_capset, &header, none) ? -errno : 0;
}

/* The agent's unit protects itself from the OOM killer; its probes are the first to go. */
static void offer_to_oom_killer(void)
{
	int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	if (write(fd, "1000", 4) < 0)
		errno = 0; /* it stays as it was */
	close(fd);
}

int davy_confine(const struct davy_confine *c, pid_t parent, int *ret_landlock_abi)
{
	int err, abi;

	offer_to_oom_killer();
	err = become(c);
	if (err)
		return err;
	/* After the change of user, which clears it; it may also have come too late. */
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_PDEATHSIG, SIGKILL))
		return -errno;
	if (getppid() != parent)
		return -ESRCH;
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
	static const char *const patterns[] = { "/dev/dri/renderD*", "/dev/kfd", "/dev/nvidia*" };
	struct stat st;
	glob_t found;

	for (size_t p = 0; p < sizeof(patterns) / sizeof(patterns[0]); p++) {
		if (glob(patterns[p], GLOB_NOSORT, NULL, &found))
			continue;
		for (size_t i = 0; i < found.gl_pathc; i++)
			if (!stat(found.gl_pathv[i], &st) && S_ISCHR(st.st_mode) &&
			    st.st_mode & S_IWGRP)
				add_group(c, st.st_gid);
		globfree(&found);
	}
}
