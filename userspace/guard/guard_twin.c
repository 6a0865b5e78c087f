/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "guard_twin.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../core/types.h"
#include "../lib/file.h"

#define LATE_NS (500 * DL_NS_PER_MS) /* after a lease's end: the guard itself needs microseconds */

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_BOOTTIME, &t);
	return (uint64_t)t.tv_sec * DL_NS_PER_S + (uint64_t)t.tv_nsec;
}

static uint32_t state_of(const struct dl_hold *h)
{
	return __atomic_load_n(&h->state, __ATOMIC_SEQ_CST);
}

/* Thaws those that are late, or all; returns in how many ms to look again, -1: when poked. */
static int thaw_late(const struct dl_hold *holds, bool all)
{
	uint64_t now = now_ns(), next_ns = UINT64_MAX;

	for (size_t i = 0; i < DL_GUARD_HOLDS; i++) {
		uint64_t late_ns = holds[i].lease_ns + LATE_NS;

		if (state_of(&holds[i]) == DL_HOLD_FREE)
			continue;
		if (all || now >= late_ns) {
			dl_hold_thaw(&holds[i]);
			late_ns = now + LATE_NS;
		}
		next_ns = late_ns < next_ns ? late_ns : next_ns;
	}
	return next_ns == UINT64_MAX ? -1 : (int)((next_ns - now) / DL_NS_PER_MS) + 1;
}

static _Noreturn void live(const struct dl_hold *holds, int guard_pidfd, int poke_fd)
{
	struct pollfd waits[] = { { .fd = guard_pidfd, .events = POLLIN },
				  { .fd = poke_fd, .events = POLLIN } };
	uint64_t count;

	dl_write_file("/proc/self/oom_score_adj", "-1000");
	mlockall(MCL_CURRENT | MCL_FUTURE); /* a child does not inherit it */
	for (;;) {
		if (poll(waits, 2, thaw_late(holds, false)) < 0 && errno != EINTR)
			break;
		if (waits[0].revents)
			break;
		if (waits[1].revents)
			(void)!read(poke_fd, &count, sizeof(count));
	}
	thaw_late(holds, true);
	_exit(0);
}

/* Once for all twins: they have the guard's table of descriptors. */
static int open_files(struct dl_twin *twin)
{
	twin->guard_pidfd = (int)syscall(SYS_pidfd_open, getpid(), 0);
	twin->poke_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	return twin->guard_pidfd < 0 || twin->poke_fd < 0 ? -errno : 0;
}

int dl_twin_start(struct dl_twin *twin, const struct dl_hold *holds)
{
	int err = twin->poke_fd ? 0 : open_files(twin);
	long pid;

	if (err)
		return err;
	pid = syscall(SYS_clone, CLONE_FILES | SIGCHLD, NULL, NULL, NULL, 0);
	if (pid < 0)
		return -errno;
	if (!pid)
		live(holds, twin->guard_pidfd, twin->poke_fd);
	twin->pid = (pid_t)pid;
	return 0;
}

void dl_twin_poke(const struct dl_twin *twin)
{
	const uint64_t one = 1;

	(void)!write(twin->poke_fd, &one, sizeof(one));
}

bool dl_twin_reap(struct dl_twin *twin)
{
	if (!twin->pid || waitpid(twin->pid, NULL, WNOHANG) != twin->pid)
		return false;
	twin->pid = 0;
	return true;
}
