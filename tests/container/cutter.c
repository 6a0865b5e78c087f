/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cutter LISTEN SOCKET COUNT_FILE N WHEN [PID]: passes each connection on the unix socket LISTEN
 * to SOCKET, one after the other, and counts the requests that change something (all but GET) in
 * COUNT_FILE. At the Nth of them:
 *
 *   before   kills the client, and does not pass the request on
 *   after    passes it on, waits for the answer, and kills the client
 *   daemon   passes it on, and kills PID without waiting
 */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static int die(const char *what)
{
	perror(what);
	return 1;
}

static int unix_socket(const char *path, struct sockaddr_un *a)
{
	*a = (struct sockaddr_un){ .sun_family = AF_UNIX };
	if (strlen(path) >= sizeof(a->sun_path))
		return -1;
	strcpy(a->sun_path, path);
	return socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
}

static void kill_client(int client)
{
	struct ucred peer;
	socklen_t size = sizeof(peer);

	if (!getsockopt(client, SOL_SOCKET, SO_PEERCRED, &peer, &size))
		kill(peer.pid, SIGKILL);
}

static void write_count(const char *path, int count)
{
	FILE *out = fopen(path, "w");

	if (out) {
		fprintf(out, "%d\n", count);
		fclose(out);
	}
}

/* False: the connection has ended. */
static int copy(int from, int to)
{
	char buf[65536];
	ssize_t n = read(from, buf, sizeof(buf));

	return n > 0 && write(to, buf, (size_t)n) == n;
}

/* Until one side ends. With "cut" the first bytes of an answer kill the client instead. */
static void pass(int client, int server, int cut)
{
	struct pollfd p[2] = { { .fd = client, .events = POLLIN },
			       { .fd = server, .events = POLLIN } };

	while (poll(p, 2, -1) > 0) {
		if (p[1].revents && cut) {
			kill_client(client);
			return;
		}
		if (p[0].revents && !copy(client, server))
			return;
		if (p[1].revents && !copy(server, client))
			return;
	}
}

int main(int argc, char **argv)
{
	struct sockaddr_un at, to;
	int listener, at_request, count = 0;

	if (argc < 6)
		return 2;
	signal(SIGPIPE, SIG_IGN);
	at_request = atoi(argv[4]);
	listener = unix_socket(argv[1], &at);
	unlink(argv[1]);
	if (listener < 0 || bind(listener, (struct sockaddr *)&at, sizeof(at)) ||
	    listen(listener, 16))
		return die(argv[1]);
	write_count(argv[3], 0);
	for (;;) {
		int client = accept(listener, NULL, NULL), server = unix_socket(argv[2], &to);
		char method[8] = "";
		int cut = 0;

		if (client < 0)
			return die("accept");
		if (connect(server, (struct sockaddr *)&to, sizeof(to)) == 0 &&
		    recv(client, method, 4, MSG_PEEK | MSG_WAITALL) == 4) {
			if (strncmp(method, "GET ", 4) != 0) {
				write_count(argv[3], ++count);
				cut = count == at_request;
			}
			if (cut && !strcmp(argv[5], "before")) {
				kill_client(client);
			} else if (cut && !strcmp(argv[5], "daemon") && argc > 6) {
				copy(client, server);
				kill(atoi(argv[6]), SIGKILL);
				pass(client, server, 0);
			} else {
				pass(client, server, cut);
			}
		}
		close(client);
		close(server);
	}
}
