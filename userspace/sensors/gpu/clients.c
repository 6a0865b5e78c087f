/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sensors/gpu/clients.h"

#include <errno.h>
#include <linux/capability.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lib/child.h"
#include "lib/rights.h"
#include "sensors/gpu/clients_reader.h"

#define PATIENCE_NS (2 * DAVY_NS_PER_S)
#define END_MS	    1000
#define LEFT_MAX    4 /* limit of abandoned readers */

struct davy_clients {
	struct davy_clients_hooks hooks;
	struct davy_clients_place *place; /* shared with the reader: its current process */
	struct davy_child reader;
	int left_fd[LEFT_MAX]; /* pidfds; -1: free */
	int fd;
	uint32_t start_count;
	uint64_t asked_ns; /* 0: no request pending */
};

/* fdinfo of other users needs the same rights as their memory (fs/proc/fd.c). */
static int clients_run(void *arg)
{
	const struct davy_rights rights = { .capabilities = 1ULL << CAP_SYS_PTRACE |
							    1ULL << CAP_DAC_READ_SEARCH };

	if (davy_rights_keep(&rights, getppid()))
		return 1;
	davy_clients_serve(STDIN_FILENO, arg);
	return 0;
}

static int clients_start(struct davy_clients *c)
{
	struct davy_child_spec spec = { .run = clients_run,
					.arg = c->place,
					.death_signal = SIGKILL,
					.name = "davylamp-fdinfo" };
	int pair[2], err;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
		return -errno;
	c->place->pid = 0;
	spec.stdio[STDIN_FILENO] = pair[1];
	err = davy_child_start(&spec, &c->reader);
	close(pair[1]);
	if (err) {
		close(pair[0]);
		return err;
	}
	c->start_count++;
	c->fd = pair[0];
	c->asked_ns = 0;
	return 0;
}

int davy_clients_new(const struct davy_clients_hooks *hooks, struct davy_clients **ret_clients)
{
	struct davy_clients *c = calloc(1, sizeof(*c));
	int err;

	if (!c)
		return -ENOMEM;
	c->hooks = *hooks;
	c->fd = -1;
	for (size_t i = 0; i < LEFT_MAX; i++)
		c->left_fd[i] = -1;
	c->place = mmap(NULL, sizeof(*c->place), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
			-1, 0);
	err = c->place == MAP_FAILED ? -errno : clients_start(c);
	if (err) {
		if (c->place != MAP_FAILED)
			munmap(c->place, sizeof(*c->place));
		free(c);
		return err;
	}
	*ret_clients = c;
	return 0;
}

/* Closes the socket and kills the reader, which ends unless it is blocked in the kernel. */
static void clients_stop(struct davy_clients *c)
{
	if (c->fd >= 0)
		close(c->fd);
	c->fd = -1;
	davy_child_kill(&c->reader, SIGKILL);
}

void davy_clients_free(struct davy_clients *c)
{
	if (!c)
		return;
	clients_stop(c);
	davy_child_end(&c->reader, c->asked_ns ? 0 : END_MS);
	for (size_t i = 0; i < LEFT_MAX; i++)
		if (c->left_fd[i] >= 0)
			close(c->left_fd[i]);
	munmap(c->place, sizeof(*c->place));
	free(c);
}

int davy_clients_fd(const struct davy_clients *c)
{
	return c->fd;
}

uint32_t davy_clients_start_count(const struct davy_clients *c)
{
	return c->start_count;
}

int davy_clients_ask(struct davy_clients *c, const uint32_t *pids, size_t count, uint64_t now_ns)
{
	if (c->asked_ns || c->fd < 0)
		return -EBUSY;
	if (count > DAVY_CLIENTS_PIDS)
		count = DAVY_CLIENTS_PIDS;
	/* An empty packet would look like the end of the socket. */
	if (send(c->fd, count ? (const void *)pids : "", count ? count * sizeof(*pids) : 1,
		 MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
		return -errno;
	c->asked_ns = now_ns;
	return 0;
}

void davy_clients_read(struct davy_clients *c)
{
	struct davy_clients_answer a;
	ssize_t n;

	while (c->fd >= 0 && (n = recv(c->fd, &a, sizeof(a), MSG_DONTWAIT)) >= 0) {
		if (n == sizeof(a)) {
			c->hooks.client(c->hooks.arg, a.pid, &a.info);
			continue;
		}
		if (!n) { /* the reader has ended or is ending */
			clients_stop(c);
			davy_child_leave(&c->reader);
			return;
		}
		c->asked_ns = 0;
		c->hooks.done(c->hooks.arg);
	}
}

static bool clients_has_ended(int pidfd)
{
	struct pollfd end = { .fd = pidfd, .events = POLLIN };

	return poll(&end, 1, 0) > 0;
}

/* Abandons the reader; the agent's tick reaps it when the kernel lets it end. False: too many. */
static bool clients_abandon(struct davy_clients *c)
{
	clients_stop(c);
	for (size_t i = 0; i < LEFT_MAX; i++) {
		if (c->left_fd[i] >= 0 && !clients_has_ended(c->left_fd[i]))
			continue;
		if (c->left_fd[i] >= 0)
			close(c->left_fd[i]);
		c->left_fd[i] = davy_child_take_pidfd(&c->reader);
		davy_child_leave(&c->reader);
		return true;
	}
	return false;
}

uint32_t davy_clients_blocked(struct davy_clients *c, uint64_t now_ns)
{
	uint32_t pid = c->place->pid;

	if (c->fd >= 0 && (!c->asked_ns || now_ns < c->asked_ns + PATIENCE_NS))
		return 0;
	/* Without a reader no request is possible; retry on the next call. */
	if (!c->reader.pid || clients_abandon(c))
		clients_start(c);
	return pid;
}
