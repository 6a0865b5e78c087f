/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which processes the agent follows when there are too many, and which user counts for a
 * process.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "root.h"

#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/agent.h"
#include "sensors/proc/process_account.h"
#include "agent/sense/tracker.h"

#define MALLORY 1000
#define ADOPTED 1
#define OTHERS	2

static struct davy_agent agent;

static struct davy_tracked *follow(uint32_t pid, uint32_t uid, uint32_t workload)
{
	char name[64], text[64];
	struct davy_tracked *t;
	int n = snprintf(text, sizeof(text), "Name:\tx\nUid:\t%u\t0\t0\t0\n", uid);

	snprintf(name, sizeof(name), "/proc/%u/status", pid);
	put(name, text, (size_t)n);
	t = davy_tracked_new(&agent, pid);
	assert_int_equal(t->uid, uid);
	t->workload = t->reported.workload = workload;
	t->reported.engine = DAVY_ENGINE_LLAMA_SERVER;
	t->used_ns = pid;
	return t;
}

static bool is_followed(uint32_t pid)
{
	for (size_t i = 0; i < DAVY_TRACKED_MAX; i++)
		if (agent.tracked[i].pid == pid)
			return true;
	return false;
}

static void a_user_pushes_out_his_own_processes(void **state)
{
	(void)state;
	follow(ADOPTED, MALLORY, 3);
	follow(OTHERS, 7, 0);
	for (uint32_t pid = 10; pid < 10 + 600; pid++) /* of more worth: their backend is known */
		follow(pid, MALLORY, 0)->reported.backend = DAVY_BACKEND_VULKAN;
	assert_true(is_followed(ADOPTED));
	assert_true(is_followed(OTHERS));
	assert_false(is_followed(10));
	assert_true(is_followed(10 + 599));
	assert_int_equal(agent.tracked_evicted, 600 + 2 - DAVY_TRACKED_MAX);
	assert_int_equal(agent.tracked_evicted_uid, MALLORY);
	follow(5, 8, 0); /* another user finds room at his cost */
	assert_true(is_followed(OTHERS));
	assert_int_equal(agent.tracked_evicted_uid, MALLORY);
}

/* A user namespace in another, root in both. */
static bool become_root_of_its_own(uid_t uid)
{
	char map[32];

	if (setresgid(uid, uid, uid) || setresuid(uid, uid, uid) || prctl(PR_SET_DUMPABLE, 1) ||
	    unshare(CLONE_NEWUSER))
		return false;
	snprintf(map, sizeof(map), "0 %u 1", uid);
	return !davy_write_file("/proc/self/uid_map", map) &&
	       !davy_write_file("/proc/self/setgroups", "deny") &&
	       !davy_write_file("/proc/self/gid_map", map) && !unshare(CLONE_NEWUSER);
}

/* A process that sleeps so; 0 where that is not allowed. */
static pid_t root_of_its_own(uid_t uid)
{
	int ready[2];
	char answer = 0;
	pid_t pid;

	assert_int_equal(pipe(ready), 0);
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		answer = become_root_of_its_own(uid) ? 'y' : 'n';
		(void)!write(ready[1], &answer, 1);
		for (;;)
			pause();
	}
	close(ready[1]);
	(void)!read(ready[0], &answer, 1);
	close(ready[0]);
	if (answer == 'y')
		return pid;
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	return 0;
}

static void a_user_namespace_is_its_makers(void **state)
{
	uint32_t account;
	pid_t pid;

	(void)state;
	if (geteuid())
		skip();
	pid = root_of_its_own(65533);
	if (!pid)
		skip();
	davy_root_set("");
	account = davy_process_account((uint32_t)pid);
	davy_root_set(root);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	assert_int_equal(account, 65533);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_user_pushes_out_his_own_processes),
		cmocka_unit_test(a_user_namespace_is_its_makers),
	};

	return cmocka_run_group_tests(tests, make_root, remove_root);
}
