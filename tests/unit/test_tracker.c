/* SPDX-License-Identifier: GPL-2.0-or-later */
/* When the agent inspects a process again: a test agent with a test /proc. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "root.h"

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "agent/agent.h"
#include "agent/sense/tracker.h"

#define MANY 400

static struct davy_agent agent;

/* With readers of this build, which look below "root" as this test does. */
static int new_agent(void **state)
{
	(void)state;
	memset(&agent, 0, sizeof(agent));
	agent.terminal = true; /* its messages are kept, not printed */
	agent.hooks = &davy_agent_hooks;
	davy_core_init(&agent.core);
	agent.readers.given = true;
	if (davy_program_path("../san/davylamp-reader", agent.readers.path,
			      sizeof(agent.readers.path)))
		return -1;
	if (sd_event_new(&agent.loop))
		return -1;
	davy_readers_open(&agent);
	return 0;
}

static int end_agent(void **state)
{
	(void)state;
	davy_readers_close(&agent);
	sd_event_unref(agent.loop);
	return 0;
}

static bool reads(void)
{
	for (size_t i = 0; i < DAVY_READERS; i++)
		if (agent.readers.at[i].begun_ns)
			return true;
	return agent.readers.queue.count > 0;
}

/* Until all that was submitted has been answered; ends by a reader's deadline at the latest. */
static void settle(void)
{
	while (reads()) {
		agent.readers.patience_ns = DAVY_NS_PER_S;
		for (size_t i = 0; i < DAVY_READERS; i++)
			if (agent.readers.at[i].begun_ns)
				davy_reader_wait(&agent, agent.readers.at[i].job.pid, 1000);
		davy_readers_tick(&agent, davy_boot_ns());
	}
}

static void know(uint32_t pid)
{
	davy_tracker_know(&agent, pid);
	settle();
}

static void tick(void)
{
	davy_tracker_tick(&agent, davy_boot_ns());
	settle();
}

static void put_engine(unsigned int pid)
{
	static const char command[] = "llama-server\0-m\0x.gguf\0--port\0"
				      "1";
	char name[64], text[128];
	int n;

	snprintf(name, sizeof(name), "/proc/%u/stat", pid);
	n = snprintf(text, sizeof(text), "%u (x) S 1 1 1 0 -1 1 1 2 3 4 5 6 7 8 20 0 1 0 %u 1 2\n",
		     pid, pid * 10);
	put(name, text, (size_t)n);
	snprintf(name, sizeof(name), "/proc/%u/cmdline", pid);
	put(name, command, sizeof(command));
}

static void open_gpus(unsigned int pid)
{
	char path[512], target[512];

	for (unsigned int i = 0; i < 2; i++) {
		snprintf(target, sizeof(target), "%s/gpu-%u", root, i);
		if (mknod(target, S_IFCHR | 0600, makedev(226, 128 + i)) && errno != EEXIST)
			skip(); /* not root */
		snprintf(path, sizeof(path), "%s/proc/%u/fd", root, pid);
		davy_make_dirs(path);
		snprintf(path, sizeof(path), "%s/proc/%u/fd/%u", root, pid, 5 + i);
		assert_int_equal(symlink(target, path), 0);
		snprintf(path, sizeof(path), "%s/sys/dev/char/226:%u", root, 128 + i);
		davy_make_dirs(path);
		strcat(path, "/device");
		snprintf(target, sizeof(target), "../0000:0%u:00.0", 3 + i);
		(void)!symlink(target, path);
	}
}

static struct davy_tracked *tracked(uint32_t pid)
{
	for (size_t i = 0; i < DAVY_TRACKED_MAX; i++)
		if (agent.tracked[i].pid == pid)
			return &agent.tracked[i];
	return NULL;
}

static void events_do_not_use_up_the_looks(void **state)
{
	(void)state;
	put_engine(200);
	know(200);
	assert_non_null(tracked(200));
	assert_int_equal(tracked(200)->reported.engine, DAVY_ENGINE_LLAMA_SERVER);
	tracked(200)->inspect_ns += 60 * DAVY_NS_PER_S; /* due in a minute */
	for (int i = 0; i < 1000; i++)
		know(200);
	assert_int_equal(tracked(200)->attempts, 1);
	tracked(200)->inspect_ns = 1; /* now */
	know(200);
	assert_int_equal(tracked(200)->attempts, 2);
}

/* Vulkan opens every device long before a model is loaded into one of them. */
static void the_device_is_the_one_that_holds_memory(void **state)
{
	struct davy_gpu_client *client = &agent.gpus.client[3];
	struct davy_tracked *t;

	(void)state;
	put_engine(201);
	PUT("/proc/201/maps", "1-2 r-xp 0 08:01 5 /usr/lib/libggml-vulkan.so\n");
	open_gpus(201);
	know(201);
	t = tracked(201);
	t->cxx_attached = t->ggml_attached = true;
	t->inspect_ns = 1;
	tick();
	assert_int_equal(t->reported.backend, DAVY_BACKEND_VULKAN);
	assert_true(t->reported.device[0] && t->reported.more_devices[0][0]);
	assert_int_not_equal(t->inspect_ns, 0); /* open is not in use: it is looked at again */
	t->inspect_ns = 0;
	client->pid = 201;
	client->info.vram = 3ULL << 30;
	davy_copy_name(client->info.device, sizeof(client->info.device), "0000:04:00.0");
	davy_tracked_used(&agent, 201);
	tick();
	assert_string_equal(t->reported.device, "0000:04:00.0");
	assert_string_equal(t->reported.more_devices[0], "");
	assert_int_equal(t->inspect_ns, 0); /* settled */
	client[1] = client[0];		    /* the model does not fit into one */
	davy_copy_name(client[1].info.device, sizeof(client[1].info.device), "0000:03:00.0");
	client[2] = client[1];
	davy_tracked_used(&agent, 201);
	tick();
	assert_string_equal(t->reported.device, "0000:03:00.0"); /* two clients, the most memory */
	assert_string_equal(t->reported.more_devices[0], "0000:04:00.0");
}

/* A library that is not mapped yet would make another version of it. */
static void a_version_is_read_when_the_libraries_are_there(void **state)
{
	struct davy_tracked *t;
	char text[65536];
	ssize_t n = davy_read_file("/proc/self/mountinfo", text, sizeof(text));

	(void)state;
	put_engine(202);
	put("/proc/202/mountinfo", text, n > 0 ? (size_t)n : 0);
	PUT("/proc/202/root/usr/lib/libllama.so.0.0.8681", "a library");
	PUT("/proc/202/root/usr/lib/libllama.so.0.0.9000", "a later one");
	know(202);
	t = tracked(202);
	assert_false(t->engine_known);
	assert_string_equal(t->engine, "");
	PUT("/proc/202/maps", "1-2 r-xp 0 08:01 5 /usr/lib/libllama.so.0.0.8681\n");
	t->inspect_ns = 1;
	tick();
	assert_false(t->engine_known); /* the loader is at work */
	PUT("/proc/202/maps", "1-2 r-xp 0 08:01 5 /usr/lib/libllama.so.0.0.8681\n"
			      "3-4 r-xp 0 08:01 5 /usr/lib/libggml-base.so.0.9.11\n");
	t->inspect_ns = 1;
	tick();
	assert_true(t->engine_known);
	assert_non_null(strstr(t->engine, "llama-server, llama 0.0.8681, ggml 0.9.11, build "));
	PUT("/proc/202/maps", "1-2 r-xp 0 08:01 5 /usr/lib/libllama.so.0.0.9000\n"
			      "3-4 r-xp 0 08:01 5 /usr/lib/libggml-base.so.0.9.11\n");
	davy_tracker_exec(&agent, 202); /* another program in it */
	settle();
	assert_non_null(strstr(t->engine, "llama-server, llama 0.0.9000, ggml 0.9.11, build "));
}

static void an_engine_without_a_library_has_an_empty_version(void **state)
{
	struct davy_tracked *t;

	(void)state;
	put_engine(203);
	know(203);
	t = tracked(203);
	assert_false(t->engine_known);
	t->met_ns -= 5 * DAVY_NS_PER_S;
	t->inspect_ns = 1;
	tick();
	assert_true(t->engine_known);
	assert_string_equal(t->engine, ""); /* there is nothing to tell it by */
}

/* Any user may start hundreds of processes with an engine's name. */
static void a_tick_only_submits_and_no_process_is_lost(void **state)
{
	(void)state;
	for (unsigned int pid = 1000; pid < 1000 + MANY; pid++) {
		put_engine(pid);
		davy_tracker_exec(&agent, pid);
	}
	assert_int_equal(agent.readers.queue.evicted_count, 0);
	settle();
	for (unsigned int pid = 1000; pid < 1000 + MANY; pid++) {
		assert_non_null(tracked(pid));
		assert_int_equal(tracked(pid)->reported.engine, DAVY_ENGINE_LLAMA_SERVER);
		tracked(pid)->inspect_ns = 1;
	}
	davy_tracker_tick(&agent, davy_boot_ns());
	assert_true(agent.readers.queue.count >= MANY - DAVY_READERS);
	settle();
	for (unsigned int pid = 1000; pid < 1000 + MANY; pid++)
		assert_int_equal(tracked(pid)->attempts, 2);
}

static void an_exec_of_a_process_twice_is_one_look(void **state)
{
	(void)state;
	put_engine(300);
	for (unsigned int i = 0; i < 1000; i++)
		davy_tracker_exec(&agent, 300);
	assert_true(agent.readers.queue.count <= 1);
	settle();
	assert_int_equal(tracked(300)->reported.engine, DAVY_ENGINE_LLAMA_SERVER);
}

/* Only its end is as its owner likes: a reader that was stopped is one that hangs. */
static void a_reader_that_hangs_is_replaced_and_its_process_waits(void **state)
{
	const uint64_t deadline_ns = 2 * DAVY_NS_PER_S;
	struct davy_reader *hung = NULL;
	pid_t pid;

	(void)state;
	put_engine(301);
	put_engine(302);
	for (size_t i = 0; i < DAVY_READERS; i++)
		kill(agent.readers.at[i].worker.child.pid, SIGSTOP);
	davy_tracker_exec(&agent, 301);
	for (size_t i = 0; i < DAVY_READERS; i++)
		if (agent.readers.at[i].begun_ns)
			hung = &agent.readers.at[i];
	assert_non_null(hung);
	pid = hung->worker.child.pid;
	for (size_t i = 0; i < DAVY_READERS; i++)
		if (&agent.readers.at[i] != hung)
			kill(agent.readers.at[i].worker.child.pid, SIGCONT);
	hung->answered = true; /* it worked before */
	hung->begun_ns -= deadline_ns;
	davy_readers_tick(&agent, davy_boot_ns());
	assert_int_equal(agent.readers.lost_count, 1);
	assert_int_not_equal(hung->worker.child.pid, pid); /* another one */
	assert_true(hung->worker.fd >= 0);
	davy_tracker_exec(&agent, 302); /* others are looked at meanwhile */
	while (!tracked(302)) {
		agent.readers.patience_ns = DAVY_NS_PER_S;
		davy_reader_wait(&agent, 302, 1000);
	}
	assert_int_equal(tracked(302)->reported.engine, DAVY_ENGINE_LLAMA_SERVER);
	assert_null(tracked(301));
	assert_int_equal(agent.readers.queue.count, 1); /* it waits for its penalty's end */
	for (size_t i = 0; i < DAVY_PENALTIES_MAX; i++)
		if (agent.readers.penalties.at[i].until_ns)
			agent.readers.penalties.at[i].until_ns = 1;
	davy_readers_tick(&agent, davy_boot_ns());
	settle();
	assert_non_null(tracked(301));
}

static void a_reader_that_dies_is_replaced(void **state)
{
	(void)state;
	put_engine(303);
	for (size_t i = 0; i < DAVY_READERS; i++) {
		kill(agent.readers.at[i].worker.child.pid, SIGKILL);
		davy_child_wait(&agent.readers.at[i].worker.child, 10000, NULL);
	}
	davy_tracker_exec(&agent, 303);
	for (int i = 0; i < 100 && !tracked(303); i++) {
		agent.readers.retry_ns = 0;
		settle();
	}
	assert_int_equal(tracked(303)->reported.engine, DAVY_ENGINE_LLAMA_SERVER);
}

/* The start of a process comes whole, and once. */
static void the_way_of_a_process_start_is_reported(void **state)
{
	struct davy_process_start *start = NULL;
	int err = -EAGAIN;

	(void)state;
	put_engine(304);
	PUT("/proc/304/environ", "A=1\0LLAMA_ARG_PORT=2");
	for (int i = 0; i < 100 && err == -EAGAIN; i++) {
		err = davy_reader_start(&agent, 304, &start);
		settle();
	}
	assert_int_equal(err, 0);
	assert_string_equal(start->argv[0], "llama-server");
	assert_true(davy_process_start_has(start, "LLAMA_ARG_PORT", "2"));
	free(start);
	assert_int_equal(davy_reader_start(&agent, 305, &start), -ESRCH);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(events_do_not_use_up_the_looks, new_agent,
						end_agent),
		cmocka_unit_test_setup_teardown(the_device_is_the_one_that_holds_memory, new_agent,
						end_agent),
		cmocka_unit_test_setup_teardown(a_version_is_read_when_the_libraries_are_there,
						new_agent, end_agent),
		cmocka_unit_test_setup_teardown(an_engine_without_a_library_has_an_empty_version,
						new_agent, end_agent),
		cmocka_unit_test_setup_teardown(a_tick_only_submits_and_no_process_is_lost,
						new_agent, end_agent),
		cmocka_unit_test_setup_teardown(an_exec_of_a_process_twice_is_one_look, new_agent,
						end_agent),
		cmocka_unit_test_setup_teardown(
			a_reader_that_hangs_is_replaced_and_its_process_waits, new_agent,
			end_agent),
		cmocka_unit_test_setup_teardown(a_reader_that_dies_is_replaced, new_agent,
						end_agent),
		cmocka_unit_test_setup_teardown(the_way_of_a_process_start_is_reported, new_agent,
						end_agent),
	};

	return cmocka_run_group_tests(tests, make_root, remove_root);
}
