/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Looking around as somebody else: what a service's user may read, in its mounts. Files of theirs
 * may lie on a file system that never answers; that holds up a child, and not us.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../lib/clock.h"
#include "../lib/log.h"
#include "who.h"

#define LIMIT_MS 10000
#define TOLD_MS	 2000
#define FAILED	 99 /* exit status: it could not become it */

struct dl_doctor_facts *dl_facts_new(void)
{
	void *at = mmap(NULL, sizeof(struct dl_doctor_facts), PROT_READ | PROT_WRITE,
			MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	return at == MAP_FAILED ? NULL : at;
}

void dl_facts_free(struct dl_doctor_facts *facts)
{
	if (facts)
		munmap(facts, sizeof(*facts));
}

/* 0 once it has ended by itself. */
static int wait_for(pid_t pid, const char *what)
{
	uint64_t began = dl_now_ms();
	bool told = false;
	siginfo_t info = { 0 };
	int fd = (int)syscall(SYS_pidfd_open, pid, 0);
	struct pollfd wait = { .fd = fd, .events = POLLIN };

	while (fd >= 0 && dl_now_ms() - began < LIMIT_MS) {
		if (poll(&wait, 1, 200) > 0)
			break;
		if (!told && dl_now_ms() - began > TOLD_MS) {
			told = true;
			dl_log("doctor: waiting for %s, at most %d s", what, LIMIT_MS / 1000);
		}
	}
	if (fd >= 0)
		close(fd);
	if (!waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG) && info.si_pid == pid)
		return info.si_code == CLD_EXITED && !info.si_status ? 0 : -ECHILD;
	kill(pid, SIGKILL);
	usleep(100000); /* what it sits in may let it go */
	waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG);
	return -ETIMEDOUT;
}

int dl_who_do(const struct dl_who *who, struct dl_doctor_facts *facts, const char *what,
	      void (*work)(struct dl_doctor_facts *facts, const struct dl_who *who))
{
	pid_t pid;

	if (!dl_who_possible(who))
		return -EPERM;
	pid = fork();
	if (pid < 0)
		return -errno;
	if (!pid) {
		if (dl_who_become(who))
			_exit(FAILED);
		work(facts, who);
		_exit(0);
	}
	return wait_for(pid, what);
}
