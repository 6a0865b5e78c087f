/* SPDX-License-Identifier: GPL-2.0-or-later */
/* For tests of the guard: a real guard, our own cgroups, processes that count while running. */
#ifndef TESTS_UNIT_GUARD_LAB_H
#define TESTS_UNIT_GUARD_LAB_H

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "act/cgroup.h"
#include "act/guard_order.h"
#include "core/event/types.h"
#include "guard/guard.h"
#include "sensors/proc/process_info.h"

#define COUNTERS 64

static struct davy_guard guard = { -1, -1, 0 };
static volatile uint64_t *counters; /* shared with the workers */
static struct davy_cgroup lab_cgroup;
static int lab_dir = -1;
static char program[PATH_MAX];
static pid_t lab_pid;

static inline uint64_t lab_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_BOOTTIME, &t);
	return (uint64_t)t.tv_sec * DAVY_NS_PER_S + (uint64_t)t.tv_nsec;
}

static inline void lab_sleep_ms(unsigned int ms)
{
	usleep(ms * 1000);
}

static inline bool lab_has_cgroups(void)
{
	return lab_dir >= 0;
}

static inline void lab_start(void)
{
	assert_int_equal(davy_guard_start(&guard, program), 0);
}

static inline int lab_open(void **state)
{
	char name[64];

	(void)state;
	lab_pid = getpid();
	assert_true(readlink("/proc/self/exe", program, sizeof(program) - 1) > 0);
	counters = mmap(NULL, COUNTERS * sizeof(*counters), PROT_READ | PROT_WRITE,
			MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	snprintf(name, sizeof(name), "davylamp-test-%d", (int)getpid());
	if (!davy_cgroup_make(name, &lab_cgroup))
		lab_dir = open(lab_cgroup.dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	lab_start();
	return 0;
}

static inline int lab_close(void **state)
{
	(void)state;
	davy_guard_stop(&guard);
	davy_cgroup_kill(&lab_cgroup);
	lab_sleep_ms(20);
	davy_cgroup_remove(&lab_cgroup);
	return 0;
}

/* Counts in its counter a thousand times a second until the test ends. */
static inline _Noreturn void lab_count(int slot)
{
	close(STDOUT_FILENO); /* a reader of the test's output must not wait for workers */
	close(STDERR_FILENO);
	while (!kill(lab_pid, 0)) {
		counters[slot]++;
		usleep(1000);
	}
	_exit(0);
}

static inline pid_t lab_worker(int slot, const struct davy_cgroup *cgroup)
{
	uint64_t was = counters[slot];
	pid_t pid = fork();

	assert_true(pid >= 0);
	for (int i = 0; pid && i < 10000 && counters[slot] == was; i++) /* until it has begun */
		lab_sleep_ms(1);
	if (pid)
		return pid;
	if (cgroup && davy_cgroup_enter(cgroup))
		_exit(9);
	lab_count(slot);
}

static inline bool lab_runs(int slot)
{
	uint64_t was = counters[slot];

	for (int i = 0; i < 30000 && counters[slot] == was; i++) /* the host may be busy */
		lab_sleep_ms(1);
	return counters[slot] != was;
}

static inline bool lab_stands(int slot)
{
	uint64_t was;

	lab_sleep_ms(5);
	was = counters[slot];
	lab_sleep_ms(40);
	return counters[slot] == was;
}

static inline void lab_end(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/* The next answer; stage 0: none within "ms". */
static inline struct davy_guard_answer lab_answer(int ms)
{
	struct pollfd wait = { .fd = guard.fd, .events = POLLIN };
	struct davy_guard_answer answer = { 0 };

	if (poll(&wait, 1, ms) == 1 && davy_guard_receive(&guard, &answer))
		answer.stage = 0;
	return answer;
}

static inline struct davy_guard_order lab_order(uint32_t id, uint32_t on_permille,
						uint64_t lease_ms)
{
	return (struct davy_guard_order){ .op = DAVY_GUARD_FREEZE,
					  .id = id,
					  .plan = 100 + id,
					  .lease_ns = lease_ms * DAVY_NS_PER_MS,
					  .period_ns = DAVY_GUARD_PERIOD_NS,
					  .on_permille = on_permille };
}

static inline void lab_hold(struct davy_guard_order order)
{
	assert_int_equal(davy_guard_send(&guard, &order, lab_dir), 0);
}

static inline void lab_hold_tree(struct davy_guard_order order, pid_t pid)
{
	order.pid = (uint32_t)pid;
	order.start_ticks = davy_process_start((uint32_t)pid);
	assert_int_equal(davy_guard_send(&guard, &order, -1), 0);
}

static inline void lab_release(uint32_t id)
{
	const struct davy_guard_order order = { .op = DAVY_GUARD_RELEASE, .id = id };

	assert_int_equal(davy_guard_send(&guard, &order, -1), 0);
}

static inline void lab_expect(int stage, uint32_t id, int result)
{
	struct davy_guard_answer answer = lab_answer(3000);

	assert_int_equal(answer.stage, stage);
	assert_int_equal(answer.id, id);
	assert_int_equal(answer.plan, 100 + id);
	assert_int_equal(answer.result, result);
}

#define LAB_NEEDS_CGROUPS()                                                                        \
	if (!lab_has_cgroups())                                                                    \
	skip()

#endif
