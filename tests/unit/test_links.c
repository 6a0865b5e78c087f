/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Places at the agent's sockets, and the rule of one agent. As root the clients of
 * other users are real: the kernel tells the agent who connects.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "root.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/agent.h"
#include "lib/lock.h"
#include "lib/message.h"

#define USER	 65534
#define MANY	 48
#define ROUNDS	 4096 /* of the loop, at most, until nothing is to be done */
#define STATUS_Q "{\"op\":\"status\"}"

static struct davy_agent *agent;
static char state_dir[256], socket_path[DAVY_SOCKET_PATH_MAX], root_path[DAVY_SOCKET_PATH_MAX];

static struct davy_agent *make_agent(void)
{
	struct davy_agent *a = calloc(1, sizeof(*a));

	assert_non_null(a);
	a->options = (struct davy_agent_options){ .mode = -1,
						  .state_dir = state_dir,
						  .socket_path = socket_path };
	a->sockets.lock_fd[0] = a->sockets.lock_fd[1] = -1;
	a->hooks = &davy_agent_hooks;
	a->terminal = true; /* its messages are kept, not printed */
	davy_core_init(&a->core);
	assert_true(sd_event_new(&a->loop) >= 0);
	return a;
}

static void close_links(void)
{
	davy_links_close(agent);
	davy_links_unlock(agent);
}

static int begin(void **state)
{
	if (make_root(state))
		return -1;
	davy_root_set("");
	umask(022);
	assert_int_equal(chmod(root, 0755), 0);
	snprintf(state_dir, sizeof(state_dir), "%s/state", root);
	snprintf(socket_path, sizeof(socket_path), "%s/sock", root);
	assert_int_equal(davy_message_root_path(socket_path, root_path), 0);
	agent = make_agent();
	return 0;
}

static int end(void **state)
{
	close_links();
	sd_event_unref(agent->loop);
	free(agent);
	return remove_root(state);
}

/* Until the loop has nothing more to do. */
static void turn(void)
{
	for (int i = 0; i < ROUNDS && sd_event_run(agent->loop, 0) > 0; i++)
		;
}

static void tick(uint64_t now_ns)
{
	davy_links_tick(agent, now_ns);
	turn();
}

/* -errno as by a client that does not wait. */
static int call(const char *path, uid_t uid)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	int err, fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	assert_true(fd >= 0);
	memcpy(addr.sun_path, path, strlen(path));
	if (uid)
		assert_int_equal(seteuid(uid), 0);
	err = connect(fd, (struct sockaddr *)&addr, sizeof(addr)) ? -errno : 0;
	assert_int_equal(seteuid(0), 0);
	if (err)
		close(fd);
	return err ? err : fd;
}

static int meet(const char *path, uid_t uid)
{
	int fd = call(path, uid);

	assert_true(fd >= 0);
	turn();
	return fd;
}

/* "" while nothing was answered. */
static const char *answer(int fd, json_t **ret_message)
{
	*ret_message = NULL;
	return davy_message_receive(fd, ret_message) ? "" : davy_message_text(*ret_message, "op");
}

static bool says(int fd, const char *op)
{
	json_t *message;
	bool same = !strcmp(answer(fd, &message), op);

	json_decref(message);
	return same;
}

static bool is_served(int fd)
{
	assert_true(send(fd, STATUS_Q, strlen(STATUS_Q), MSG_NOSIGNAL) > 0);
	turn();
	return says(fd, "status");
}

static void open_sockets(void)
{
	assert_int_equal(davy_links_open(agent) < 0, 0);
}

static void roots_socket_is_closed_to_others(void **state)
{
	struct stat st;
	int fd;

	(void)state;
	if (geteuid())
		skip();
	open_sockets();
	assert_int_equal(stat(root_path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	assert_int_equal(stat(socket_path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0666);
	assert_int_equal(call(root_path, USER), -EACCES);
	fd = meet(root_path, 0);
	assert_true(is_served(fd));
	close(fd);
}

static void a_full_queue_of_users_does_not_delay_root(void **state)
{
	int fd, waiting[MANY * 2], count = 0;

	(void)state;
	if (geteuid())
		skip();
	open_sockets();
	/* The agent does not run: what connects waits in the queue. */
	while (count < MANY * 2 && (waiting[count] = call(socket_path, USER)) >= 0)
		count++;
	assert_in_range(count, 1, MANY * 2 - 1);
	assert_int_equal(waiting[count], -EAGAIN);
	fd = davy_message_connect(socket_path, 0); /* as root's clients do it */
	assert_true(fd >= 0);
	assert_true(is_served(fd));
	close(fd);
	while (count)
		close(waiting[--count]);
}

static void one_user_has_four_places(void **state)
{
	int fd[MANY], other;
	json_t *status;

	(void)state;
	if (geteuid())
		skip();
	open_sockets();
	for (int i = 0; i < MANY; i++) {
		fd[i] = call(socket_path, USER);
		assert_true(fd[i] >= 0);
		if (i % DAVY_LINKS_CONNECTS == DAVY_LINKS_CONNECTS - 1)
			tick(davy_boot_ns());
	}
	tick(davy_boot_ns());
	for (int i = 0; i < DAVY_LINKS_UID; i++)
		assert_true(is_served(fd[i]));
	for (int i = DAVY_LINKS_UID; i < MANY; i++)
		assert_true(says(fd[i], "busy"));
	other = meet(socket_path, USER - 1);
	assert_true(is_served(other));
	status = davy_links_status(agent);
	assert_int_equal(davy_message_number(status, "users", 0), DAVY_LINKS_UID + 1);
	assert_int_equal(davy_message_number(json_object_get(status, "refused"), "user_full", 0),
			 MANY - DAVY_LINKS_UID);
	json_decref(status);
	close(other);
	for (int i = 0; i < MANY; i++)
		close(fd[i]);
}

static void many_users_leave_half_to_root(void **state)
{
	int fd[DAVY_LINKS_MAX], refused = 0, served = 0;

	(void)state;
	if (geteuid())
		skip();
	open_sockets();
	for (int i = 0; i < DAVY_LINKS_MAX; i++) {
		fd[i] = meet(socket_path, (uid_t)(2000 + i));
		tick(davy_boot_ns());
		refused += says(fd[i], "busy");
	}
	assert_int_equal(refused, DAVY_LINKS_MAX - DAVY_LINKS_USERS);
	for (int i = 0; i < DAVY_LINKS_MAX; i++)
		close(fd[i]);
	turn();
	tick(davy_boot_ns()); /* those that were refused have no place to give back */
	for (int i = 0; i < DAVY_LINKS_MAX; i++) {
		fd[i] = meet(root_path, 0);
		served += is_served(fd[i]);
	}
	assert_int_equal(served, DAVY_LINKS_MAX);
	served = meet(root_path, 0);
	assert_true(says(served, "busy"));
	close(served);
	assert_int_equal(agent->sockets.refused[DAVY_LINK_ALL_FULL], 1);
	for (int i = 0; i < DAVY_LINKS_MAX; i++)
		close(fd[i]);
}

static void a_silent_user_loses_the_place_and_root_does_not(void **state)
{
	uint64_t now = davy_boot_ns();
	int silent, speaks, roots;

	(void)state;
	if (geteuid())
		skip();
	open_sockets();
	silent = meet(socket_path, USER);
	speaks = meet(socket_path, USER);
	roots = meet(root_path, 0);
	tick(now + DAVY_LINKS_SILENT_NS / 2);
	assert_true(says(silent, ""));
	assert_true(is_served(speaks));
	for (size_t i = 0; i < DAVY_LINKS_MAX; i++)
		if (agent->links[i].messages) /* that was at half time, by the clock of the test */
			agent->links[i].heard_ns = now + DAVY_LINKS_SILENT_NS / 2;
	tick(now + DAVY_LINKS_SILENT_NS + DAVY_NS_PER_S);
	assert_true(says(silent, "busy"));
	assert_true(is_served(speaks));
	assert_true(is_served(roots));
	assert_int_equal(agent->sockets.refused[DAVY_LINK_SILENT], 1);
	close(silent);
	close(speaks);
	close(roots);
}

static void a_user_with_constant_requests_waits_for_the_next_tick(void **state)
{
	int fd, answers = 0;

	(void)state;
	if (geteuid())
		skip();
	open_sockets();
	fd = meet(socket_path, USER);
	for (int i = 0; i < DAVY_LINKS_MESSAGES + 2; i++)
		assert_true(send(fd, STATUS_Q, strlen(STATUS_Q), MSG_NOSIGNAL) > 0);
	turn();
	while (says(fd, "status"))
		answers++;
	assert_int_equal(answers, DAVY_LINKS_MESSAGES);
	tick(davy_boot_ns());
	while (says(fd, "status"))
		answers++;
	assert_int_equal(answers, DAVY_LINKS_MESSAGES + 2);
	close(fd);
}

/* Another process: the lock is its, and ends with it, whatever children it leaves. */
static pid_t holder_of(const char *path, int *ret_hold)
{
	int ready[2], hold[2];
	char byte;
	pid_t pid;

	assert_int_equal(pipe(ready), 0);
	assert_int_equal(pipe(hold), 0);
	pid = fork();
	if (!pid) {
		pid_t holder;

		close(hold[1]);
		if (davy_lock_take(path, &holder) < 0)
			_exit(1);
		if (!fork()) { /* inherits the descriptor, and not the lock */
			close(ready[1]);
			_exit(read(hold[0], &byte, 1) != 0);
		}
		if (write(ready[1], "x", 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	close(ready[1]);
	close(hold[0]);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	*ret_hold = hold[1];
	return pid;
}

static void a_lock_names_its_holder_and_ends_with_it(void **state)
{
	char path[512];
	pid_t pid, reported = 0;
	struct stat st;
	int fd, hold;

	(void)state;
	snprintf(path, sizeof(path), "%s/lock", root);
	pid = holder_of(path, &hold);
	assert_int_equal(davy_lock_take(path, &reported), -EWOULDBLOCK);
	assert_int_equal(reported, pid);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	fd = davy_lock_take(path, &reported); /* the lock's child runs */
	assert_true(fd >= 0);
	close(fd);
	close(hold);
}

static void a_second_agent_is_kept_out_by_either_lock(void **state)
{
	char path[512];
	int hold;
	pid_t pid;

	(void)state;
	assert_int_equal(mkdir(state_dir, 0755), 0);
	for (int i = 0; i < 2; i++) {
		snprintf(path, sizeof(path), i ? "%s.lock" : "%s/agent.lock",
			 i ? socket_path : state_dir);
		pid = holder_of(path, &hold);
		assert_int_equal(davy_links_lock(agent), -EADDRINUSE);
		kill(pid, SIGKILL);
		assert_int_equal(waitpid(pid, NULL, 0), pid);
		close(hold);
		davy_links_unlock(agent);
	}
	assert_int_equal(davy_links_lock(agent), 0);
}

static int somebodys_socket(const char *path, int type)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, type | SOCK_CLOEXEC, 0);

	memcpy(addr.sun_path, path, strlen(path));
	assert_int_equal(bind(fd, (struct sockaddr *)&addr, sizeof(addr)), 0);
	if (type != SOCK_DGRAM)
		assert_int_equal(listen(fd, 0), 0);
	return fd;
}

static void only_an_unused_socket_is_removed(void **state)
{
	static const int types[] = { SOCK_SEQPACKET, SOCK_STREAM, SOCK_DGRAM };
	int fd, first, second;
	struct stat st;

	(void)state;
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		fd = somebodys_socket(socket_path, types[i]);
		assert_int_equal(davy_links_open(agent), -EADDRINUSE);
		close_links();
		assert_int_equal(lstat(socket_path, &st), 0);
		close(fd);
		unlink(socket_path);
	}
	fd = somebodys_socket(socket_path, SOCK_SEQPACKET);
	first = call(socket_path, 0);
	second = call(socket_path, 0); /* its queue is full */
	assert_int_equal(second, -EAGAIN);
	assert_int_equal(davy_links_open(agent), -EADDRINUSE);
	close_links();
	close(first);
	close(fd);
	open_sockets(); /* over what is dead */
	close_links();
	assert_int_equal(lstat(socket_path, &st), -1);
	assert_int_equal(lstat(root_path, &st), -1);
	PUT("/sock", "a file");
	assert_int_equal(davy_links_open(agent), -EEXIST);
	close_links();
	assert_int_equal(lstat(socket_path, &st), 0); /* a file stays */
}

static void another_agents_socket_is_not_removed(void **state)
{
	struct stat st;
	int fd;

	(void)state;
	open_sockets();
	assert_int_equal(unlink(socket_path), 0);
	fd = somebodys_socket(socket_path, SOCK_SEQPACKET);
	close_links();
	assert_int_equal(lstat(socket_path, &st), 0);
	assert_int_equal(lstat(root_path, &st), -1);
	close(fd);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
	const struct CMUnitTest tests[] = {
		TEST(roots_socket_is_closed_to_others),
		TEST(a_full_queue_of_users_does_not_delay_root),
		TEST(one_user_has_four_places),
		TEST(many_users_leave_half_to_root),
		TEST(a_silent_user_loses_the_place_and_root_does_not),
		TEST(a_user_with_constant_requests_waits_for_the_next_tick),
		TEST(a_lock_names_its_holder_and_ends_with_it),
		TEST(a_second_agent_is_kept_out_by_either_lock),
		TEST(only_an_unused_socket_is_removed),
		TEST(another_agents_socket_is_not_removed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
