/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * flood SOCKET COUNT [hold]: a client that takes all places. Keeps up to COUNT connections open and
 * sends nothing on them; prints "full" when the queue is full, and every answer. Opens a closed
 * connection again, unless "hold" is given. Ends with its stdin.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define COUNT_MAX 512
#define PAUSE_MS  5

static struct pollfd conns[COUNT_MAX + 1]; /* the first is stdin */
static struct sockaddr_un addr = { .sun_family = AF_UNIX };

static int call(void)
{
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0);

	if (fd >= 0 && connect(fd, (struct sockaddr *)&addr, sizeof(addr))) {
		int err = errno;

		close(fd);
		errno = err;
		return -1;
	}
	return fd;
}

static void listen_to(struct pollfd *c)
{
	char text[512];
	ssize_t n = recv(c->fd, text, sizeof(text), MSG_DONTWAIT);

	if (n > 0)
		printf("%.*s\n", (int)n, text);
	if (n > 0 || (n < 0 && errno == EAGAIN))
		return;
	close(c->fd);
	c->fd = -1;
}

int main(int argc, char **argv)
{
	int count = argc > 2 ? atoi(argv[2]) : 0, full = 0, opened = 0;
	int hold = argc > 3;

	if (count < 1 || count > COUNT_MAX || strlen(argv[1]) >= sizeof(addr.sun_path))
		return 2;
	memcpy(addr.sun_path, argv[1], strlen(argv[1]));
	setvbuf(stdout, NULL, _IOLBF, 0);
	conns[0] = (struct pollfd){ .fd = STDIN_FILENO, .events = POLLIN };
	for (int i = 1; i <= count; i++)
		conns[i] = (struct pollfd){ .fd = -1, .events = POLLIN };
	while (!conns[0].revents) {
		for (int i = 1; i <= count && (!hold || opened < count); i++) {
			if (conns[i].fd >= 0)
				continue;
			conns[i].fd = call();
			opened += conns[i].fd >= 0;
			if (conns[i].fd < 0 && errno == EAGAIN && !full++)
				printf("full\n");
			if (conns[i].fd < 0)
				break;
		}
		if (poll(conns, (nfds_t)count + 1, PAUSE_MS) < 0)
			return 1;
		for (int i = 1; i <= count; i++)
			if (conns[i].fd >= 0 && conns[i].revents)
				listen_to(&conns[i]);
	}
	return 0;
}
