/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "guard/guard_wait.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define SECOND_NS (1000 * DAVY_GUARD_MS_NS)
#define SLEEP_NS  (100 * DAVY_GUARD_MS_NS) /* polling interval if poll() fails */
#define LEAST_NS  (DAVY_GUARD_MS_NS / 20)  /* shortest wait, also for times in the past */
#define MOST_NS	  (500 * DAVY_GUARD_MS_NS) /* longest wait: poll() does not count suspend time */

static volatile sig_atomic_t asked_to_end;
static sigset_t while_waiting; /* the mask of signals during a wait */

uint64_t davy_guard_now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_BOOTTIME, &t);
	return (uint64_t)t.tv_sec * SECOND_NS + (uint64_t)t.tv_nsec;
}

static void signal_end(int sig)
{
	(void)sig;
	asked_to_end = 1;
}

static void signal_wake(int sig)
{
	(void)sig;
}

/*
 * RLIMIT_RTTIME: a second of CPU time without a wait. Drop the real-time priority, so that other
 * work can run. By system call: musl has no sched_setscheduler().
 */
static void signal_give_way(int sig)
{
	const struct sched_param none = { .sched_priority = 0 };

	(void)sig;
	syscall(SYS_sched_setscheduler, 0, SCHED_OTHER, &none);
}

int davy_guard_signals_open(void)
{
	static const struct {
		int sig;
		void (*handler)(int);
	} table[] = { { SIGTERM, signal_end },	{ SIGINT, signal_end },
		      { SIGHUP, signal_end },	{ SIGCHLD, signal_wake },
		      { SIGUSR1, signal_wake }, { SIGXCPU, signal_give_way } };
	sigset_t blocked;

	sigemptyset(&blocked);
	sigemptyset(&while_waiting);
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		struct sigaction action = { .sa_handler = table[i].handler };

		if (table[i].sig != SIGXCPU)
			sigaddset(&blocked, table[i].sig);
		if (sigaction(table[i].sig, &action, NULL))
			return -errno;
	}
	return sigprocmask(SIG_SETMASK, &blocked, NULL) ? -errno : 0;
}

int davy_guard_end_requested(void)
{
	return asked_to_end;
}

static struct timespec wait_time(uint64_t ns)
{
	return (struct timespec){ .tv_sec = (time_t)(ns / SECOND_NS),
				  .tv_nsec = (long)(ns % SECOND_NS) };
}

/* Sleeps without poll(). A signal that came before is handled first and does not end the sleep. */
static int wait_blindly(uint64_t ns)
{
	const struct timespec t = wait_time(ns);
	sigset_t blocked;
	int err;

	if (ppoll(NULL, 0, &t, &while_waiting) >= 0 || errno == EINTR)
		return 0;
	sigprocmask(SIG_SETMASK, &while_waiting, &blocked);
	err = nanosleep(&t, NULL) && errno != EINTR ? -errno : 0;
	sigprocmask(SIG_SETMASK, &blocked, NULL);
	return err;
}

int davy_guard_wait(struct pollfd *fds, size_t count, uint64_t until_ns)
{
	uint64_t now_ns = davy_guard_now_ns(), ns = until_ns > now_ns ? until_ns - now_ns : 0;
	struct timespec t;
	int n;

	ns = ns < LEAST_NS ? LEAST_NS : ns < MOST_NS ? ns : MOST_NS;
	t = wait_time(ns);
	n = ppoll(fds, count, until_ns == DAVY_GUARD_NEVER ? NULL : &t, &while_waiting);
	if (n >= 0)
		return n;
	n = errno;
	for (size_t i = 0; i < count; i++)
		fds[i].revents = 0;
	return n == EINTR ? 0 : wait_blindly(ns < SLEEP_NS ? ns : SLEEP_NS);
}
