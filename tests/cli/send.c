/* SPDX-License-Identifier: GPL-2.0-or-later */
/* send SOCKET [MS]: sends stdin as one packet to the agent, prints its answers for MS ms. */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	static char packet[1 << 17];
	int fd = socket(AF_UNIX, SOCK_SEQPACKET, 0);
	struct pollfd wait = { .fd = fd, .events = POLLIN };
	ssize_t n;

	if (argc < 2 || strlen(argv[1]) >= sizeof(addr.sun_path))
		return 2;
	strcpy(addr.sun_path, argv[1]);
	n = read(STDIN_FILENO, packet, sizeof(packet));
	if (connect(fd, (struct sockaddr *)&addr, sizeof(addr)) || n < 0)
		return 1;
	if (send(fd, packet, (size_t)n, MSG_NOSIGNAL) < 0 ||
	    poll(&wait, 1, argc > 2 ? atoi(argv[2]) : 2000) != 1)
		return 0;
	n = recv(fd, packet, sizeof(packet), 0);
	if (n > 0)
		printf("%.*s\n", (int)n, packet);
	return 0;
}
