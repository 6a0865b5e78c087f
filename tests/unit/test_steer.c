/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Two real processes on one port: which one gets a connection, and the waiting connections. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "act/slots.h"
#include "act/steer.h"

struct server {
	pid_t pid;
	uint16_t port;
	int family;
};

union address {
	struct sockaddr any;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
};

static socklen_t loopback(int family, uint16_t port, union address *a)
{
	memset(a, 0, sizeof(*a));
	a->any.sa_family = (sa_family_t)family;
	if (family == AF_INET) {
		a->v4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
		a->v4.sin_port = htons(port);
		return sizeof(a->v4);
	}
	a->v6.sin6_addr = in6addr_loopback;
	a->v6.sin6_port = htons(port);
	return sizeof(a->v6);
}

/* Sends its letter to each client; 0: accepts no connection. */
static void serve(int fd, char letter)
{
	while (letter) {
		int conn = accept(fd, NULL, NULL);

		if (conn < 0 || send(conn, &letter, 1, MSG_NOSIGNAL) != 1)
			_exit(1);
		close(conn);
	}
	for (;;)
		pause();
}

static struct server start(int family, uint16_t port, int shared, char letter)
{
	struct server s = { .family = family };
	socklen_t size = sizeof(union address);
	union address a;
	int tell[2];

	assert_int_equal(pipe(tell), 0);
	s.pid = fork();
	assert_true(s.pid >= 0);
	if (!s.pid) {
		int fd = socket(family, SOCK_STREAM, 0), on = 1;

		if (shared)
			setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &on, sizeof(on));
		if (bind(fd, &a.any, loopback(family, port, &a)) || listen(fd, 8) ||
		    getsockname(fd, &a.any, &size))
			_exit(1);
		port = ntohs(family == AF_INET ? a.v4.sin_port : a.v6.sin6_port);
		if (write(tell[1], &port, sizeof(port)) != sizeof(port))
			_exit(1);
		serve(fd, letter);
	}
	close(tell[1]);
	assert_int_equal(read(tell[0], &s.port, sizeof(s.port)), sizeof(s.port));
	close(tell[0]);
	return s;
}

static void stop(const struct server *s)
{
	kill(s->pid, SIGKILL);
	waitpid(s->pid, NULL, 0);
}

/* The letter of the process that answered; '-': refused. */
static char ask(const struct server *s, uint16_t from)
{
	const struct linger hard = { .l_onoff = 1 };
	int fd = socket(s->family, SOCK_STREAM, 0), on = 1;
	union address a;
	char letter = '?';

	if (from) {
		setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
		assert_int_equal(bind(fd, &a.any, loopback(s->family, from, &a)), 0);
	}
	setsockopt(fd, SOL_SOCKET, SO_LINGER, &hard, sizeof(hard));
	if (connect(fd, &a.any, loopback(s->family, s->port, &a)))
		letter = '-';
	else
		assert_int_equal(recv(fd, &letter, 1, 0), 1);
	close(fd);
	return letter;
}

static void all_go_to(const struct server *s, char letter)
{
	for (int i = 0; i < 40; i++)
		assert_int_equal(ask(s, 0), letter);
}

static void steering(int family, const char *address)
{
	struct server old = start(family, 0, 1, 'o'), new;
	uint16_t from = 0;
	int held = davy_reserve_port(address, &from);

	assert_true(held >= 0 && from);
	assert_int_equal(davy_listener_count(old.pid, old.port), 1);
	assert_int_equal(davy_steer(old.pid, old.port, from, 1, 0), 0);
	all_go_to(&old, 'o');
	new = start(family, old.port, 1, 'n');
	assert_int_equal(davy_listener_count(old.pid, old.port), 2);
	all_go_to(&old, 'o');
	for (int i = 0; i < 40; i++)
		assert_int_equal(ask(&old, from), 'n');
	assert_int_equal(davy_steer(new.pid, new.port, from, 0, 1), 0);
	all_go_to(&old, 'n');
	assert_int_equal(ask(&old, from), 'o');
	stop(&old); /* the new one takes its index, and index 1 is unused */
	all_go_to(&new, 'n');
	assert_int_equal(davy_steer_end(new.pid, new.port), 0);
	all_go_to(&new, 'n');
	stop(&new);
	assert_int_equal(ask(&new, 0), '-'); /* no duplicate of ours listens */
	close(held);
}

static void the_old_one_serves_until_the_turn(void **state)
{
	(void)state;
	steering(AF_INET, "127.0.0.1");
}

static void also_on_ipv6(void **state)
{
	uint16_t port;
	int fd = davy_reserve_port("::1", &port);

	(void)state;
	if (fd < 0)
		skip();
	close(fd);
	steering(AF_INET6, "::1");
}

static void a_port_that_is_not_shared_cannot_be_steered(void **state)
{
	struct server alone = start(AF_INET, 0, 0, 'a');
	struct davy_listener l = { 0 };

	(void)state;
	assert_int_equal(davy_listener_look(alone.pid, alone.port, &l), -ENOTSUP);
	assert_string_equal(l.address, "127.0.0.1");
	assert_int_equal(davy_steer(alone.pid, alone.port, 1, 1, 0), -ENOTSUP);
	assert_int_equal(davy_listener_look(alone.pid, 1, &l), -ENOENT);
	assert_int_equal(davy_listening_port(alone.pid), alone.port);
	assert_int_equal(davy_listening_port(getpid()), 0);
	assert_int_equal(davy_steer(getpid(), alone.port, 1, 1, 0), -ENOENT);
	stop(&alone);
	assert_int_equal(davy_listener_look(alone.pid, alone.port, &l), -ESRCH);
}

static void waiting_requests_are_counted(void **state)
{
	struct server deaf = start(AF_INET, 0, 1, 0);
	struct davy_listener l = { 0 };
	union address a;
	int fd[3];

	(void)state;
	assert_int_equal(davy_listener_look(deaf.pid, deaf.port, &l), 0);
	assert_int_equal(l.waiting, 0);
	for (size_t i = 0; i < 3; i++) {
		fd[i] = socket(AF_INET, SOCK_STREAM, 0);
		assert_int_equal(connect(fd[i], &a.any, loopback(AF_INET, deaf.port, &a)), 0);
	}
	assert_int_equal(davy_listener_look(deaf.pid, deaf.port, &l), 0);
	assert_int_equal(l.waiting, 3);
	assert_int_equal(l.clients, 0);
	for (size_t i = 0; i < 3; i++)
		close(fd[i]);
	stop(&deaf);
}

static void conversations_of_a_killed_supervisor_go(void **state)
{
	char base[] = "/dev/shm/dl-slots-XXXXXX", dir[128], old[128], file[192], other[128];
	pid_t dead = fork();
	int fd;

	(void)state;
	if (!dead)
		_exit(0);
	waitpid(dead, NULL, 0);
	assert_non_null(mkdtemp(base));
	snprintf(old, sizeof(old), "%s/slots", base);
	assert_int_equal(mkdir(old, 0755), 0);
	snprintf(other, sizeof(other), "%s/slots/%d-b", base, (int)getppid());
	assert_int_equal(mkdir(other, 0700), 0);
	snprintf(old, sizeof(old), "%s/slots/%d-a", base, (int)dead);
	assert_int_equal(mkdir(old, 0700), 0);
	snprintf(file, sizeof(file), "%s/dl-0123-7", old);
	fd = open(file, O_CREAT | O_WRONLY, 0600);
	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(davy_slots_make_dir(base, dir, sizeof(dir)), 0);
	assert_int_equal(access(old, F_OK), -1);
	assert_int_equal(access(other, F_OK), 0);
	assert_int_equal(access(dir, W_OK), 0);
	rmdir(dir);
	rmdir(other);
	snprintf(old, sizeof(old), "%s/slots", base);
	assert_int_equal(rmdir(old), 0);
	rmdir(base);
}

static void the_files_go_when_they_were_read(void **state)
{
	char dir[] = "/dev/shm/dl-slots-XXXXXX", file[160];
	struct davy_slots slots;
	int fd;

	(void)state;
	assert_non_null(mkdtemp(dir));
	assert_int_equal(davy_slots_open(getpid(), "/nowhere", &slots), -ENOENT);
	assert_int_equal(davy_slots_open(getpid(), dir, &slots), 0);
	assert_true(strlen(slots.prefix) > 30);
	snprintf(file, sizeof(file), "%s/%s63", dir, slots.prefix);
	fd = open(file, O_CREAT | O_WRONLY, 0600);
	assert_true(fd >= 0);
	close(fd);
	davy_slots_done(&slots);
	davy_slots_done(&slots);
	assert_int_equal(access(file, F_OK), -1);
	assert_int_equal(rmdir(dir), 0);
}

static void only_slots_with_tokens_are_restored(void **state)
{
	static const char good[] = "{\"slots\":[{\"id\":0,\"status\":200,\"tokens\":0},"
				   "{\"id\":3,\"status\":200,\"tokens\":497},"
				   "{\"id\":5,\"status\":400,\"tokens\":-1},"
				   "{\"id\":63,\"status\":200,\"tokens\":3}]}";
	static const char *const wrong[] = {
		"",
		"{}",
		"{\"slots\":3}",
		"{\"slots\":[{\"id\":64,\"tokens\":1}]}",
		"{\"slots\":[{\"id\":-1,\"tokens\":1}]}",
		"{\"slots\":[{\"id\":1,\"tokens\":99999999999}]}",
	};
	uint64_t slots = 7, tokens = 7;

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		assert_int_equal(davy_slots_parse(wrong[i], strlen(wrong[i]), &slots, &tokens),
				 -EBADMSG);
	assert_int_equal(davy_slots_parse(NULL, 0, &slots, &tokens), -EBADMSG);
	assert_int_equal(slots, 7);
	assert_int_equal(davy_slots_parse(good, sizeof(good) - 1, &slots, &tokens), 0);
	assert_true(slots == ((uint64_t)1 << 63 | 8));
	assert_int_equal(tokens, 500);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_old_one_serves_until_the_turn),
		cmocka_unit_test(also_on_ipv6),
		cmocka_unit_test(a_port_that_is_not_shared_cannot_be_steered),
		cmocka_unit_test(waiting_requests_are_counted),
		cmocka_unit_test(conversations_of_a_killed_supervisor_go),
		cmocka_unit_test(the_files_go_when_they_were_read),
		cmocka_unit_test(only_slots_with_tokens_are_restored),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
