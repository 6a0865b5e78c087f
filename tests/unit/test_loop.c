/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The agent's loop and children with copies of watched descriptors: epoll removes a
 * descriptor only when the last copy is closed, and sd-event aborts when epoll returns a
 * source that is freed ("Code should not be reached at sd-event.c, process_epoll()").
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/agent.h"
#include "lib/child.h"
#include "root.h"
#include "agent/sense/tracker.h"
#include "report/event_text.h"

#define LONG_US 60000000

static struct davy_agent agent;
static pid_t lingering;

static int new_agent(void **state)
{
	static char dir[80];

	memset(&agent, 0, sizeof(agent));
	if (make_root(state))
		return -1;
	snprintf(dir, sizeof(dir), "%s/state", root);
	agent.hooks = &davy_agent_hooks;
	agent.out.fd = -1; /* prints nothing */
	agent.options.state_dir = dir;
	davy_core_init(&agent.core);
	return sd_event_new(&agent.loop) < 0;
}

static int end_agent(void **state)
{
	sd_event_unref(agent.loop);
	if (lingering > 0) {
		kill(lingering, SIGKILL);
		waitpid(lingering, NULL, 0);
	}
	lingering = 0;
	while (davy_child_reap_left())
		usleep(1000);
	return remove_root(state);
}

/* A child that was forked without an exec and holds copies of all descriptors there are now. */
static void fork_lingering(void)
{
	int ready[2];
	char byte;

	assert_int_equal(pipe(ready), 0);
	lingering = fork();
	if (!lingering) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		(void)!write(ready[1], "", 1);
		for (;;)
			pause();
	}
	assert_int_equal(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	close(ready[1]);
}

/* What epoll watches for the loop, as the kernel tells it. */
static size_t watched_count(void)
{
	char path[64], line[256];
	size_t count = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", sd_event_get_fd(agent.loop));
	file = fopen(path, "r");
	assert_non_null(file);
	while (fgets(line, sizeof(line), file))
		count += !strncmp(line, "tfd:", 4);
	fclose(file);
	return count;
}

static void run_until_only(size_t wanted)
{
	int events = 1;

	while (events > 0 && watched_count() > wanted)
		events = sd_event_run(agent.loop, LONG_US);
	for (int i = 0; i < 5; i++) /* aborts if epoll names a freed source */
		assert_true(sd_event_run(agent.loop, 0) >= 0);
	assert_int_equal(watched_count(), wanted);
}

static void put_gpu(const char *driver)
{
	agent.gpus.count = 1;
	davy_copy_name(agent.gpus.gpu[0].gpu.device, DAVY_DEVICE_LEN, "0000:03:00.0");
	davy_copy_name(agent.gpus.gpu[0].gpu.driver, sizeof(agent.gpus.gpu[0].gpu.driver), driver);
	agent.gpus.gpu[0].next_ns = UINT64_MAX;
	agent.gpus.listed_ns = davy_boot_ns();
}

static void a_modules_answer_is_unwatched_while_a_child_holds_a_copy_of_its_pipe(void **state)
{
	(void)state;
	put_gpu("radeon");
	davy_agent_lockups_tick(&agent, DAVY_NS_PER_S);
	assert_int_equal(watched_count(), 1);
	fork_lingering();
	while (agent.modules[0].source)
		assert_true(sd_event_run(agent.loop, LONG_US) > 0);
	run_until_only(0);
	assert_true(agent.modules[0].settled);
	davy_agent_lockups_close(&agent);
}

static void a_question_to_a_module_is_unwatched_when_the_agent_ends(void **state)
{
	(void)state;
	put_gpu("radeon");
	davy_agent_lockups_tick(&agent, DAVY_NS_PER_S);
	fork_lingering();
	davy_agent_lockups_close(&agent);
	run_until_only(0);
}

#ifndef BEFORE_COREDUMP_C /* to run the others on the code before that file */
static void a_kept_coredump_is_unwatched_while_a_child_holds_a_copy_of_its_pipe(void **state)
{
	char text[DAVY_EVENT_TEXT_SIZE];
	struct davy_event ev;

	(void)state;
	PUT("/sys/class/devcoredump/devcd1/data", "what the GPU was doing");
	assert_int_equal(davy_make_dirs(agent.options.state_dir), 0);
	davy_agent_coredump(&agent, "devcd1", "0000:03:00.0", davy_boot_ns());
	assert_int_equal(watched_count(), 1);
	fork_lingering();
	while (!agent.event_count)
		assert_true(sd_event_run(agent.loop, LONG_US) > 0);
	run_until_only(0);
	ev = davy_agent_event(DAVY_EV_TICK, 0);
	davy_agent_feed(&agent, &ev);
	assert_true(davy_event_text(&agent.recent.event[0], text, sizeof(text)));
	assert_non_null(strstr(text, "coredump"));
}
#endif

/* The one child of ours: the reader of fdinfo. */
static pid_t reader_pid(void)
{
	char text[64] = "";

	assert_true(davy_read_file("/proc/thread-self/children", text, sizeof(text)) > 0);
	return (pid_t)strtol(text, NULL, 10);
}

/* Asks, and has the loop take the answer. */
static void ask_reader(uint64_t now_ns)
{
	struct pollfd answer = { .events = POLLIN };
	uint32_t round = agent.gpus.round;

	agent.gpus.listed_ns = now_ns;
	davy_agent_gpus_tick(&agent, now_ns);
	assert_int_equal(agent.gpus.round, round + 1);
	answer.fd = davy_clients_fd(agent.gpus.reader);
	assert_int_equal(poll(&answer, 1, LONG_US / 1000), 1);
	assert_true(sd_event_run(agent.loop, LONG_US) > 0);
	assert_int_equal(poll(&answer, 1, 0), 0); /* it was read */
}

static void a_replaced_reader_is_listened_to_although_its_number_is_the_same(void **state)
{
	uint64_t now_ns = 100 * DAVY_NS_PER_S;
	pid_t first;
	int fd;

	(void)state;
	put_gpu("amdgpu");
	PUT("/proc/none", "");
	assert_int_equal(davy_agent_gpus_open(&agent), 0);
	ask_reader(now_ns);
	first = reader_pid();
	fd = davy_clients_fd(agent.gpus.reader);
	kill(first, SIGKILL);
	while (davy_clients_fd(agent.gpus.reader) >= 0)
		assert_true(sd_event_run(agent.loop, LONG_US) > 0);
	ask_reader(now_ns += 10 * DAVY_NS_PER_S);
	assert_int_equal(davy_clients_fd(agent.gpus.reader), fd);
	ask_reader(now_ns += 10 * DAVY_NS_PER_S);
	davy_agent_gpus_close(&agent);
	assert_int_equal(watched_count(), 0);
}

static void a_dead_reader_is_unwatched_while_a_child_holds_a_copy_of_its_socket(void **state)
{
	uint64_t now_ns = 100 * DAVY_NS_PER_S;

	(void)state;
	put_gpu("amdgpu");
	PUT("/proc/none", "");
	assert_int_equal(davy_agent_gpus_open(&agent), 0);
	ask_reader(now_ns);
	assert_int_equal(watched_count(), 1);
	kill(reader_pid(), SIGKILL);
	fork_lingering();
	while (davy_clients_fd(agent.gpus.reader) >= 0)
		assert_true(sd_event_run(agent.loop, LONG_US) > 0);
	ask_reader(now_ns + 10 * DAVY_NS_PER_S);
	run_until_only(1);
	davy_agent_gpus_close(&agent);
	assert_int_equal(watched_count(), 0);
}

static void a_killed_reader_is_no_zombie_where_no_gpu_asks_for_another(void **state)
{
	int i = 0;

	(void)state;
	put_gpu("amdgpu");
	PUT("/proc/none", "");
	assert_int_equal(davy_agent_gpus_open(&agent), 0);
	kill(reader_pid(), SIGKILL);
	while (davy_clients_fd(agent.gpus.reader) >= 0)
		assert_true(sd_event_run(agent.loop, LONG_US) > 0);
	while (davy_child_reap_left() && i++ < 1000) /* what the agent's tick does */
		usleep(10000);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
	davy_agent_gpus_close(&agent);
}

static void a_reader_that_is_slow_is_no_zombie_after_it_was_replaced(void **state)
{
	uint64_t now_ns = 100 * DAVY_NS_PER_S;
	pid_t slow;
	int i = 0;

	(void)state;
	put_gpu("amdgpu");
	PUT("/proc/none", "");
	assert_int_equal(davy_agent_gpus_open(&agent), 0);
	slow = reader_pid();
	kill(slow, SIGSTOP);
	for (int tick = 0; tick < 2; tick++) { /* the first asks, the second replaces it */
		agent.gpus.listed_ns = now_ns;
		davy_agent_gpus_tick(&agent, now_ns);
		now_ns += 10 * DAVY_NS_PER_S;
	}
	assert_int_equal(davy_clients_start_count(agent.gpus.reader), 2);
	while (davy_child_reap_left() && i++ < 1000) /* what the agent's tick does */
		usleep(10000);
	assert_int_equal(kill(slow, 0), -1);
	assert_int_equal(errno, ESRCH);
	davy_agent_gpus_close(&agent);
}

#define CHECK(name) cmocka_unit_test_setup_teardown(name, new_agent, end_agent)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CHECK(a_modules_answer_is_unwatched_while_a_child_holds_a_copy_of_its_pipe),
		CHECK(a_question_to_a_module_is_unwatched_when_the_agent_ends),
#ifndef BEFORE_COREDUMP_C
		CHECK(a_kept_coredump_is_unwatched_while_a_child_holds_a_copy_of_its_pipe),
#endif
		CHECK(a_replaced_reader_is_listened_to_although_its_number_is_the_same),
		CHECK(a_dead_reader_is_unwatched_while_a_child_holds_a_copy_of_its_socket),
		CHECK(a_killed_reader_is_no_zombie_where_no_gpu_asks_for_another),
		CHECK(a_reader_that_is_slow_is_no_zombie_after_it_was_replaced),
	};

	return cmocka_run_group_tests_name("loop", tests, NULL, NULL);
}
