/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * liar SOCKET FILE: a runtime that answers each request but /_ping with the bytes of FILE, which
 * may be anything. A FILE of "-" never answers, not even to /_ping.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static const char ping[] =
	"HTTP/1.1 200 OK\r\nApi-Version: 1.41\r\nContent-Length: 2\r\nConnection: close\r\n\r\nOK";

static void answer(int client, const char *path)
{
	char request[65536] = "", buf[65536];
	ssize_t n = read(client, request, sizeof(request) - 1);
	FILE *in;

	if (n <= 0)
		return;
	if (!strncmp(request, "GET /_ping", 10)) {
		(void)!write(client, ping, sizeof(ping) - 1);
		return;
	}
	in = fopen(path, "r");
	while (in && (n = (ssize_t)fread(buf, 1, sizeof(buf), in)) > 0)
		if (write(client, buf, (size_t)n) != n)
			break;
	if (in)
		fclose(in);
}

int main(int argc, char **argv)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (argc != 3 || strlen(argv[1]) >= sizeof(a.sun_path))
		return 2;
	signal(SIGPIPE, SIG_IGN);
	strcpy(a.sun_path, argv[1]);
	unlink(argv[1]);
	if (bind(listener, (struct sockaddr *)&a, sizeof(a)) || listen(listener, 64))
		return 1;
	for (;;) {
		int client = accept(listener, NULL, NULL);

		if (client < 0)
			return 1;
		if (!strcmp(argv[2], "-"))
			continue; /* held open */
		answer(client, argv[2]);
		shutdown(client, SHUT_RDWR);
		close(client);
	}
}
