// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * flood SOCKET COUNT: keeps COUNT connections to the agent open, repeatedly requests the status on
 * each and reads no answer, and replaces those that the agent closes, until it is ended. It
 * prints "flooding" after the first round over all connections.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define COUNT_MAX 900

static int flood_connect(const struct sockaddr_un *addr)
{
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	if (fd >= 0 && connect(fd, (const struct sockaddr *)addr, sizeof(*addr))) {
		close(fd);
		fd = -1;
	}
	return fd;
}

int main(int argc, char **argv)
{
	static const char ask[] = "{\"op\":\"status\"}";
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	int fds[COUNT_MAX], count = argc == 3 ? atoi(argv[2]) : 0;

	if (count <= 0 || count > COUNT_MAX || strlen(argv[1]) >= sizeof(addr.sun_path))
		return 2;
	strcpy(addr.sun_path, argv[1]);
	for (int i = 0; i < count; i++)
		fds[i] = -1;
	for (int round = 0;; round++) {
		for (int i = 0; i < count; i++) {
			if (fds[i] < 0)
				fds[i] = flood_connect(&addr);
			if (fds[i] >= 0 &&
			    send(fds[i], ask, sizeof(ask) - 1, MSG_NOSIGNAL | MSG_DONTWAIT) < 0 &&
			    errno != EAGAIN) {
				close(fds[i]);
				fds[i] = -1;
			}
		}
		if (!round) {
			puts("flooding");
			fflush(stdout);
		}
		usleep(2000);
	}
}
