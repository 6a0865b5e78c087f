// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The time from an event to what a program says or does about it, in microseconds, one a line.
 *
 * react crash ENGINE COUNT HOLD_MS READY SAID <OUTPUT
 *     ENGINE crashes; until a line of OUTPUT has all parts of SAID. It crashes when a line has all
 *     parts of READY, or after HOLD_MS if READY is empty. Parts are separated by "&", "%" is its
 *     pid. "missed": no such line within 5 s.
 * react freeze SOCKET COUNT EVENTS
 *     from an order to the agent, to its answer that the workload 1 is paused. The kernel's file
 *     cgroup.events must say so, too: "lied" otherwise.
 * react idle COUNT
 *     the machine itself: how late a thread wakes up from a sleep of 1 ms
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MISSED_MS 5000

static char text[1 << 17];
static size_t text_len;

static int64_t now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000LL + t.tv_nsec / 1000;
}

static void sleep_us(int64_t us)
{
	struct timespec t = { us / 1000000, us % 1000000 * 1000 };

	nanosleep(&t, NULL);
}

static bool line_has(const char *line, const char *parts, pid_t pid)
{
	char part[128], number[16];
	size_t n = 0;

	snprintf(number, sizeof(number), "%d", pid);
	for (const char *c = parts;; c++) {
		if (*c && *c != '&') {
			n += (size_t)snprintf(part + n, sizeof(part) - n, "%.*s",
					      *c == '%' ? (int)strlen(number) : 1,
					      *c == '%' ? number : c);
			continue;
		}
		part[n] = 0;
		n = 0;
		if (!strstr(line, part))
			return false;
		if (!*c)
			return true;
	}
}

/* Reads what is there; whether a complete line of it has the parts. */
static bool saw(const char *parts, pid_t pid, int wait_ms)
{
	struct pollfd in = { .fd = STDIN_FILENO, .events = POLLIN };
	bool found = false;
	char *end;
	ssize_t n;

	if (poll(&in, 1, wait_ms) != 1)
		return false;
	n = read(STDIN_FILENO, text + text_len, sizeof(text) - 1 - text_len);
	if (n <= 0) {
		fputs("react: the program's output ended\n", stderr);
		exit(1);
	}
	text_len += (size_t)n;
	text[text_len] = 0;
	for (char *line = text; (end = strchr(line, '\n')); line = text) {
		*end = 0;
		found |= line_has(line, parts, pid);
		text_len -= (size_t)(end + 1 - text);
		memmove(text, end + 1, text_len + 1);
	}
	if (text_len == sizeof(text) - 1)
		text_len = 0; /* a line without an end: not one that is meant */
	return found;
}

static bool wait_for(const char *parts, pid_t pid, int64_t until_us)
{
	int64_t left;

	while ((left = until_us - now_us()) > 0)
		if (saw(parts, pid, (int)(left / 1000) + 1))
			return true;
	return false;
}

static pid_t engine_start(const char *engine)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	execl(engine, engine, "-m", "/models/x.gguf", NULL);
	_exit(127);
}

static void crash_once(const char *engine, int64_t hold_ms, const char *ready, const char *said)
{
	pid_t pid = engine_start(engine);
	int64_t began = now_us();

	if (*ready && !wait_for(ready, pid, began + MISSED_MS * 1000)) {
		puts("missed");
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
		return;
	}
	if (!*ready)
		sleep_us(hold_ms * 1000);
	while (saw("nothing at all", 0, 0)) /* what came before does not count */
		continue;
	began = now_us();
	kill(pid, SIGSEGV);
	if (waitpid(pid, NULL, 0) == pid && wait_for(said, pid, began + MISSED_MS * 1000))
		printf("%ld\n", (long)(now_us() - began));
	else
		puts("missed");
}

static int agent_open(const char *path)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_SEQPACKET, 0);

	snprintf(addr.sun_path, sizeof(addr.sun_path), "%s", path);
	if (connect(fd, (struct sockaddr *)&addr, sizeof(addr))) {
		fprintf(stderr, "react: no agent at '%s': %s\n", path, strerror(errno));
		exit(1);
	}
	return fd;
}

/* Its answer is in "text". */
static void order(const char *socket, const char *words)
{
	int fd = agent_open(socket);
	ssize_t n;

	if (send(fd, words, strlen(words), MSG_NOSIGNAL) < 0)
		exit(1);
	n = recv(fd, text, sizeof(text) - 1, 0);
	text[n > 0 ? n : 0] = 0;
	close(fd);
}

static bool is_frozen(const char *events)
{
	FILE *f = fopen(events, "re");
	bool frozen = false;
	char line[64];

	while (f && fgets(line, sizeof(line), f))
		frozen |= !strcmp(line, "frozen 1\n");
	if (f)
		fclose(f);
	return frozen;
}

static void freeze_once(const char *socket, const char *events)
{
	int64_t began = now_us(), us;

	order(socket, "{\"op\":\"order\",\"rung\":\"pause\",\"workload\":1,"
		      "\"lease_ns\":2000000000}");
	us = now_us() - began;
	if ((strstr(text, "\"failed\":false") || strstr(text, "\"failed\": false")) &&
	    is_frozen(events))
		printf("%ld\n", (long)us);
	else
		puts("lied");
	order(socket, "{\"op\":\"order\",\"rung\":\"undo\",\"workload\":1}");
	sleep_us(5000);
}

int main(int argc, char **argv)
{
	bool crash = argc == 7 && !strcmp(argv[1], "crash"),
	     freeze = argc == 5 && !strcmp(argv[1], "freeze"),
	     idle = argc == 3 && !strcmp(argv[1], "idle");
	long count = crash || freeze ? strtol(argv[3], NULL, 10) : 0;

	if (idle)
		count = strtol(argv[2], NULL, 10);
	if (!count) {
		fputs("usage: react crash|freeze|idle ...\n", stderr);
		return 2;
	}
	for (long i = 0; i < count; i++) {
		if (crash)
			crash_once(argv[2], strtol(argv[4], NULL, 10), argv[5], argv[6]);
		if (freeze)
			freeze_once(argv[2], argv[4]);
		if (idle) {
			int64_t began = now_us();

			sleep_us(1000);
			printf("%ld\n", (long)(now_us() - began - 1000));
		}
		fflush(stdout);
	}
	return 0;
}
