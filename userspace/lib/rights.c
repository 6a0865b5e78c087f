/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lib/rights.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

typedef struct __user_cap_data_struct cap_data[_LINUX_CAPABILITY_U32S_3];

static struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };

/* The bounding set can only be cut while CAP_SETPCAP is there: before the user id changes. */
static void rights_cut_bounding_set(uint64_t keep)
{
	for (int cap = 0; prctl(PR_CAPBSET_READ, cap, 0, 0, 0) >= 0; cap++)
		if (!(keep >> cap & 1))
			prctl(PR_CAPBSET_DROP, cap, 0, 0, 0);
	prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
}

static int rights_keep(uint64_t keep)
{
	cap_data now;

	if (syscall(SYS_capget, &header, now))
		return -errno;
	for (size_t i = 0; i < _LINUX_CAPABILITY_U32S_3; i++) {
		now[i].permitted &= (uint32_t)(keep >> 32 * i);
		now[i].effective = now[i].permitted;
		now[i].inheritable = 0;
	}
	return syscall(SYS_capset, &header, now) ? -errno : 0;
}

/* In a user namespace without that id, and without root's rights, it stays who it is. */
static int rights_change_user(void)
{
	if (geteuid())
		return 0;
	if (prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0))
		return -errno;
	if (setgroups(0, NULL) || setresgid(DAVY_READER_UID, DAVY_READER_UID, DAVY_READER_UID) ||
	    setresuid(DAVY_READER_UID, DAVY_READER_UID, DAVY_READER_UID))
		return errno == EINVAL || errno == EPERM ? 0 : -errno;
	return 0;
}

/* The agent's unit protects the agent from the OOM killer; a reader is replaced. */
static void rights_drop_oom_protection(void)
{
	int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	if (write(fd, "0", 1) < 0)
		errno = 0; /* it stays as it is */
	close(fd);
}

int davy_rights_keep(const struct davy_rights *rights, pid_t parent)
{
	int err = 0;

	rights_drop_oom_protection();
	rights_cut_bounding_set(rights->capabilities);
	if (!rights->stays_root)
		err = rights_change_user();
	if (!err)
		err = rights_keep(rights->capabilities);
	if (err)
		return err;
	/* After the change of user, which clears the death signal. */
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_PDEATHSIG, SIGKILL))
		return -errno;
	if (getppid() != parent)
		return -ESRCH;
	return davy_rights_calls(rights->devices);
}
