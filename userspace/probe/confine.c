/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "probe.h"

#include <errno.h>
#include <grp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#define NOBODY	     65534
#define MEMORY_LIMIT (512UL << 20)
#define FILES_LIMIT  64
#define CPU_SECONDS  30

static int limit(int what, rlim_t value)
{
	struct rlimit r = { value, value };

	return setrlimit((__rlimit_resource_t)what, &r) ? -errno : 0;
}

int dl_probe_confine(void)
{
	int err = limit(RLIMIT_AS, MEMORY_LIMIT);

	if (!err)
		err = limit(RLIMIT_NOFILE, FILES_LIMIT);
	if (!err)
		err = limit(RLIMIT_CPU, CPU_SECONDS);
	if (!err)
		err = limit(RLIMIT_CORE, 0);
	if (err)
		return err;
	if (!geteuid() && (setgroups(0, NULL) || setresgid(NOBODY, NOBODY, NOBODY) ||
			   setresuid(NOBODY, NOBODY, NOBODY)))
		return -errno;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_PDEATHSIG, 9))
		return -errno;
	return 0;
}
