/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * clients SOCKET COUNT: so many clients of the agent, until it is killed. Of them one asks and
 * never reads, one sends garbage, one sends the largest packet that the socket takes. The
 * others ask for the status without a pause. One that is refused or closed comes back. Prints the
 * number of answers each second.
 */
#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define CLIENTS_MAX 512
#define MIB	    (1 << 20)

static char packet[MIB];

static int client_open(const struct sockaddr_un *addr)
{
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0), size = 2 * MIB;

	setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof(size));
	if (!connect(fd, (const struct sockaddr *)addr, sizeof(*addr)))
		return fd;
	close(fd);
	return -1;
}

/* False: the connection is lost. */
static bool client_send(int fd, int role)
{
	static const char ask[] = "{\"op\":\"status\"}";
	size_t size = sizeof(packet);
	ssize_t n;

	if (role == 1)
		n = send(fd, packet, 1000, MSG_NOSIGNAL);
	else if (role == 2)
		while ((n = send(fd, packet, size, MSG_NOSIGNAL)) < 0 && errno == EMSGSIZE)
			size /= 2;
	else
		n = send(fd, ask, sizeof(ask) - 1, MSG_NOSIGNAL);
	return n >= 0 || errno == EAGAIN;
}

int main(int argc, char **argv)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	static char answer[1 << 17];
	struct pollfd client[CLIENTS_MAX];
	int count = argc == 3 ? atoi(argv[2]) : 0;
	unsigned long answers = 0;
	time_t said = time(NULL);

	if (count < 4 || count > CLIENTS_MAX || strlen(argv[1]) >= sizeof(addr.sun_path))
		return 2;
	strcpy(addr.sun_path, argv[1]);
	memset(packet, '{', sizeof(packet));
	for (int i = 0; i < count; i++)
		client[i].fd = -1;
	for (;;) {
		for (int i = 0; i < count; i++) {
			bool is_new = client[i].fd < 0;

			if (is_new)
				client[i].fd = client_open(&addr);
			client[i].events = i ? POLLIN : 0; /* the first one never reads */
			if (client[i].fd >= 0 && (is_new || i < 3) &&
			    !client_send(client[i].fd, i)) {
				close(client[i].fd);
				client[i].fd = -1;
			}
		}
		poll(client, (nfds_t)count, 10);
		for (int i = 0; i < count; i++) {
			ssize_t n = 1;

			if (client[i].revents & POLLIN) {
				n = recv(client[i].fd, answer, sizeof(answer), 0);
				answers += n > 0;
			}
			if (client[i].fd >= 0 &&
			    (n == 0 || client[i].revents & (POLLERR | POLLHUP) ||
			     (client[i].revents & POLLIN && !client_send(client[i].fd, i)))) {
				close(client[i].fd);
				client[i].fd = -1;
			}
			client[i].revents = 0;
		}
		if (time(NULL) != said) {
			said = time(NULL);
			printf("%lu\n", answers);
			fflush(stdout);
			answers = 0;
		}
	}
}
