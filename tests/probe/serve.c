/* SPDX-License-Identifier: GPL-2.0-or-later */
/* serve PORT FILE: a server on 127.0.0.1 that answers every request with status 200 and FILE. */
#include <arpa/inet.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static void answer(int fd, const char *path)
{
	static const char head[] = "HTTP/1.0 200 OK\r\n\r\n";
	char buf[65536];
	ssize_t n = read(fd, buf, sizeof(buf)); /* a request of the probe arrives in one piece */
	int file = open(path, O_RDONLY | O_CLOEXEC);

	if (n > 0 && write(fd, head, sizeof(head) - 1) > 0)
		while ((n = read(file, buf, sizeof(buf))) > 0 && write(fd, buf, (size_t)n) == n)
			;
	close(file);
	shutdown(fd, SHUT_WR);
	while (read(fd, buf, sizeof(buf)) > 0)
		;
	close(fd);
}

int main(int argc, char **argv)
{
	struct sockaddr_in addr = { .sin_family = AF_INET };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1, conn;

	if (argc != 3)
		return 2;
	signal(SIGPIPE, SIG_IGN);
	addr.sin_port = htons((uint16_t)atoi(argv[1]));
	addr.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (bind(fd, (struct sockaddr *)&addr, sizeof(addr)) || listen(fd, 8))
		return 1;
	while ((conn = accept(fd, NULL, NULL)) >= 0)
		answer(conn, argv[2]);
	return 1;
}
