/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "guard/guard_standby.h"

#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "guard/guard_wait.h"

#define LATE_NS                                                                                    \
	(500 * DAVY_GUARD_MS_NS) /* after the end of a lease; the guard needs microseconds */
#define END_NS	   (500 * DAVY_GUARD_MS_NS) /* after the agent's end; the guard needs 400 ms */
#define PAUSE_NS   (10 * DAVY_GUARD_MS_NS)  /* before a restart; doubles up to: */
#define PAUSE_MOST (10000 * DAVY_GUARD_MS_NS)

/* Thaws all, or those past their lease; returns the time of the next check. */
static uint64_t standby_thaw(const struct davy_freeze *freezes, bool all)
{
	uint64_t now_ns = davy_guard_now_ns(), next_ns = DAVY_GUARD_NEVER;

	for (size_t i = 0; i < DAVY_GUARD_FREEZES; i++) {
		uint64_t late_ns = freezes[i].lease_ns + LATE_NS;

		if (__atomic_load_n(&freezes[i].state, __ATOMIC_SEQ_CST) == DAVY_FREEZE_FREE)
			continue;
		if (all || now_ns >= late_ns) {
			davy_freeze_thaw(&freezes[i]);
			late_ns = now_ns + LATE_NS;
		}
		next_ns = late_ns < next_ns ? late_ns : next_ns;
	}
	return next_ns;
}

/* Kills a guard that has outlived its agent. */
static void standby_end_guard(const struct davy_standby *s)
{
	standby_thaw(s->freezes, true);
	if (s->guard_pidfd < 0 || syscall(SYS_pidfd_send_signal, s->guard_pidfd, SIGKILL, NULL, 0))
		kill(s->guard, SIGKILL); /* still our parent */
}

static void standby_live(const struct davy_standby *s)
{
	struct pollfd waits[] = { { .fd = s->guard_pidfd, .events = POLLIN },
				  { .fd = s->agent_pidfd, .events = POLLIN } };
	uint64_t end_ns = DAVY_GUARD_NEVER, next_ns;

	while (getppid() == s->guard) {
		next_ns = standby_thaw(s->freezes, false);
		if (davy_guard_wait(waits, 2, end_ns < next_ns ? end_ns : next_ns) < 0)
			break;
		if (waits[0].revents)
			break;
		if (waits[1].revents) {
			waits[1].fd = -1;
			end_ns = davy_guard_now_ns() + END_NS;
		}
		if (davy_guard_now_ns() >= end_ns) {
			standby_end_guard(s);
			end_ns = davy_guard_now_ns() + END_NS;
		}
	}
	standby_thaw(s->freezes, true);
}

/* Restarts at once after a long life, else with a growing back-off. */
static void standby_plan(struct davy_standby *s, uint64_t now_ns)
{
	s->pid = 0;
	if (now_ns - s->start_ns > PAUSE_MOST)
		s->pause_ns = 0;
	s->again_ns = now_ns + s->pause_ns;
	s->pause_ns = s->pause_ns ? 2 * s->pause_ns : PAUSE_NS;
	s->pause_ns = s->pause_ns < PAUSE_MOST ? s->pause_ns : PAUSE_MOST;
}

static void standby_start(struct davy_standby *s, uint64_t now_ns)
{
	long pid = syscall(SYS_clone, CLONE_FILES | SIGCHLD, NULL, NULL, NULL, 0);

	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGTERM);   /* before its first getppid() */
		mlockall(MCL_CURRENT | MCL_FUTURE); /* not inherited by fork */
		standby_live(s);
		_exit(0);
	}
	s->start_ns = now_ns;
	s->again_ns = DAVY_GUARD_NEVER;
	s->pid = (pid_t)pid;
	if (pid < 0)
		standby_plan(s, now_ns);
}

void davy_standby_open(struct davy_standby *s, const struct davy_freeze *freezes, int agent_pidfd)
{
	s->freezes = freezes;
	s->agent_pidfd = agent_pidfd;
	s->guard = getpid();
	s->guard_pidfd = (int)syscall(SYS_pidfd_open, s->guard, 0);
	s->again_ns = 0;
}

void davy_standby_tend(struct davy_standby *s, uint64_t now_ns)
{
	if (s->pid && waitpid(s->pid, NULL, WNOHANG))
		standby_plan(s, now_ns);
	if (!s->pid && now_ns >= s->again_ns)
		standby_start(s, now_ns);
}

void davy_standby_poke(const struct davy_standby *s)
{
	if (s->pid)
		kill(s->pid, SIGUSR1);
}
